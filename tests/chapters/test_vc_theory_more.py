"""VC theory: two thousand sets for each class, sieves of other classes, penalties of single rules, mean bounds."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from learnable.chapters.vc_theory.theory import IntervalTruth
from learnable.foundations import KIntervalERM, sample_complexity
from learnable.foundations.tail_bounds import MeanBound, erm_mean, vc_mean

from .vc_theory_cases import FiniteERM, RectangleERM, SieveERM, ThresholdERM, find_shattered_set, vc_dimension


@pytest.mark.parametrize(("family", "d"), [(f, d) for f in ("halfspaces", "balls") for d in (1, 2, 3)])
def test_claim_02_none_of_2000_sets_is_shattered(family, d):
    V = vc_dimension(family, d=d)
    assert find_shattered_set(family, V, d=d, random_state=0) is not None
    assert find_shattered_set(family, V + 1, d=d, n_restarts=2000, random_state=2) is None


class Rectangles:
    """Grows rectangles, then trees: a sieve that has nothing to do with intervals."""

    def __init__(self, k):
        self.rule = RectangleERM() if k == 1 else DecisionTreeClassifier(max_leaf_nodes=2 * k)

    def fit(self, X, y):
        self.rule.fit(X, y)
        return self

    def predict(self, X):
        return self.rule.predict(X)


def test_a_sieve_of_other_classes():
    rng = np.random.default_rng(0)
    X = rng.random((400, 2))
    y = np.where(((X > 0.25) & (X < 0.75)).all(axis=1), "in", "out")
    rule = SieveERM(k_of_n=lambda n: 1, member=Rectangles).fit(X, y)
    assert rule.k_ == 1 and isinstance(rule.estimator_.rule, RectangleERM)
    # The box is the class coded 0, so a rectangle around the ones does not fit it: the larger class does.
    larger = SieveERM(k_of_n=lambda n: 6, member=Rectangles).fit(X, y)
    assert larger.score(X, y) > rule.score(X, y) and set(larger.predict(X)) == {"in", "out"}
    flipped = SieveERM(k_of_n=lambda n: 1, member=Rectangles).fit(X, y == "in")
    assert flipped.score(X, y == "in") == 1.0


def test_a_sieve_of_intervals_is_the_minimiser_in_its_class():
    X, y = IntervalTruth().sample(500, random_state=3)
    sieve, plain = SieveERM(k_of_n=lambda n: 4).fit(X, y), KIntervalERM(4).fit(X, y)
    assert sieve.score(X, y) == plain.score(X, y) > ThresholdERM().fit(X, y).score(X, y)
    given = SieveERM(k_of_n=lambda n: 4, member=KIntervalERM).fit(X, y)
    np.testing.assert_array_equal(given.predict(X), plain.predict(X))


def rules():
    return [lambda X, a=a: X[:, 0] > a for a in np.linspace(0.0, 1.0, 11)]


def test_each_rule_may_have_a_penalty_of_its_own():
    """(2.8.12) by brute force; without penalties, and with equal ones, it is plain minimisation."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        X = rng.random((30, 1))
        y = (rng.random(30) < X[:, 0]).astype(int)
        penalties = 0.5 * rng.random(11)
        risks = np.array([np.mean(rule(X) != y) for rule in rules()])
        found = FiniteERM(rules(), penalties).fit(X, y)
        assert found.index_ == int(np.argmin(risks + penalties))
        assert found.train_risk_ == pytest.approx(risks[found.index_])
        assert FiniteERM(rules(), np.full(11, 0.3)).fit(X, y).index_ == FiniteERM(rules()).fit(X, y).index_
        np.testing.assert_array_equal(found.predict(X), rules()[found.index_](X).astype(int))


def test_penalties_may_depend_on_the_sample_size():
    """A description length of j + 1 nats for rule j: √(L/2n) vanishes, and the best rule wins in the end."""
    rng = np.random.default_rng(2)
    chosen = []
    for n in (10, 100_000):
        X = rng.random((n, 1))
        y = (X[:, 0] > 0.9).astype(int)
        y[0], y[1] = 0, 1
        made = FiniteERM(rules(), lambda n: np.sqrt((np.arange(11) * 20 + 1) / (2 * n))).fit(X, y)
        chosen.append(made.index_)
    assert chosen == [0, 9]


@pytest.mark.parametrize("V", [0, 1, 7, 300])
@pytest.mark.parametrize("eps", [0.5, 0.05, 0.003])
def test_mean_bounds_are_solved_for_each_argument(V, eps):
    for factor, kind, bound in (
        (2.0, "uniform_mean", lambda n: vc_mean(n, V)),
        (4.0, "erm_mean", lambda n: erm_mean(n, V)),
    ):
        n = sample_complexity(eps, None, V, kind)
        assert n == MeanBound(factor).n(eps, V) == int(n)
        assert bound(n) <= eps * (1 + 1e-12)
        assert n == 1 or bound(n - 1) > eps
        assert bound(n) == pytest.approx(factor * np.sqrt((V * np.log(n + 1) + np.log(2)) / n), rel=1e-12)
        exact = MeanBound(factor).V(bound(n), n)
        assert exact == pytest.approx(V, abs=1e-9 * (1 + V))


def test_mean_bounds_ask_for_what_they_need():
    with pytest.raises(ValueError, match="delta must be None"):
        sample_complexity(0.1, 0.05, 3, "erm_mean")
    with pytest.raises(ValueError, match="factor must be"):
        MeanBound(0.0)
    with pytest.raises(ValueError, match="eps must be positive"):
        MeanBound().n(0.0, 1)
