"""Claims of the source, checked: randomized_variable_elimination."""

import math
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from scipy.stats import hypergeom
from sklearn.exceptions import ConvergenceWarning
from sklearn.naive_bayes import CategoricalNB
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from learnable.chapters.randomized_variable_elimination.perceptron import ThermalPerceptron, _anneal, _anneal_gram
from learnable.chapters.randomized_variable_elimination.theory import OracleSubsets, cost_bound, p_success
from learnable.datasets.rules import make_led, make_m_of_n
from learnable.features import (
    RVE,
    RVErS,
    backward_elimination,
    filter_selection,
    forward_selection,
    gain_ratio,
    rve,
    rve_schedule,
    rvers,
)
from learnable.features.subsets import EstimatorSubsets, NaiveBayesSubsets, SubsetEvaluator
from learnable.features.variable_elimination import expected_failures, fixed_schedule, training_cost


def updates(n):
    return 1897000 * (n + 1)


class Always(SubsetEvaluator):
    """An evaluator that lets everything go, or nothing."""

    def __init__(self, n_features, rises):
        super().__init__(n_features)
        self.rises = rises

    def _error(self, columns):
        return float(self.n_features - len(columns)) if self.rises else 0.0


class Creeping(SubsetEvaluator):
    """The error rises by 0.001 with every column that is removed."""

    def _error(self, columns):
        return 0.001 * (self.n_features - len(columns))


@pytest.mark.parametrize("n, r, k", [(4, 2, 1), (100, 10, 9), (1000, 100, 7), (300, 120, 90), (10**6, 10, 10**5)])
def test_claim_p_success_is_the_hypergeometric_probability_of_no_hit(n, r, k):
    assert p_success(n, r, k) == pytest.approx(hypergeom(n, r, k).pmf(0), rel=1e-8)
    assert expected_failures(n, r, k) == pytest.approx(1 / hypergeom(n, r, k).pmf(0) - 1, rel=1e-7)


def test_p_success_is_the_product_of_the_formula():
    for n, r, k in ((9, 4, 3), (30, 2, 28), (200, 90, 70)):
        product = math.prod((n - r - i) / (n - i) for i in range(k))
        assert p_success(n, r, k) == pytest.approx(product, rel=1e-10)


def test_impossible_batches_have_probability_zero_and_large_numbers_do_not_overflow():
    assert p_success(5, 3, 3) == 0 and expected_failures(5, 3, 3) == math.inf
    assert p_success(7, 0, 7) == 1 and expected_failures(7, 0, 3) == 0
    assert p_success(10**12, 10, 10**11) == pytest.approx(0.9**10, rel=1e-9)
    assert 0 < p_success(10**6, 1000, 1000) == pytest.approx(math.exp(-1.0005), rel=1e-3)


@pytest.mark.parametrize("cost", ["constant", "log", "linear", "quadratic"])
def test_pruning_of_the_table_changes_nothing(cost):
    """The table without the early end, in plain Python."""
    n_features, r = 80, 5
    M, total, batch = training_cost(cost, n_features), np.zeros(81), np.zeros(81, int)
    for n in range(r + 1, n_features + 1):
        values = [M[n - k] / p_success(n, r, k) + total[n - k] for k in range(1, n - r + 1)]
        total[n], batch[n] = min(values), 1 + int(np.argmin(values))
    schedule = rve_schedule(n_features, r, cost)
    np.testing.assert_allclose(schedule.cost_to_go, total, rtol=1e-10)
    np.testing.assert_array_equal(schedule.batch, batch)


def test_claim_bound_of_the_source_holds():
    for cost in ("linear", "quadratic", updates, "constant"):
        for n, r in ((100, 10), (60, 3), (1000, 30)):
            assert rve_schedule(n, r, cost).expected_cost <= cost_bound(n, r, cost)
    assert cost_bound(100, 10, lambda m: m) < 11 * 9 * 100  # (r + 1) times the whole geometric series
    assert cost_bound(4, 2, lambda m: np.ones_like(m)) == 15  # five terms of three


def test_claim_calls_of_an_oracle_match_the_expectation():
    calls = [rve(OracleSubsets(60, range(6)), 6, random_state=seed).n_calls - 1 for seed in range(500)]
    # The standard deviation is about 14, so that 2 % of 55 are two standard errors; the seeds are fixed.
    assert np.mean(calls) == pytest.approx(rve_schedule(60, 6).expected_calls, rel=0.02)


@pytest.mark.parametrize("rule", ["optimal", "ratio", "single"])
def test_claim_an_oracle_gives_the_relevant_columns(rule):
    relevant = [3, 17, 29, 44]
    found = rve(OracleSubsets(50, relevant), 4, rule=rule, random_state=1)
    np.testing.assert_array_equal(found.kept, relevant)
    assert found.converged and found.error == 0


def test_claim_bookkeeping_of_rve():
    evaluator = OracleSubsets(50, [3, 17, 29])
    schedule = rve_schedule(50, 3)
    found = rve(evaluator, schedule, random_state=0)
    assert found.n_calls == evaluator.n_calls == found.accepted.sum() + (~found.accepted).sum()
    assert found.accepted[0] and found.sizes[0] == 50 and found.accepted.sum() == 1 + len(schedule.steps)
    np.testing.assert_array_equal(found.remaining[found.accepted], found.sizes[found.accepted])
    assert [50, *found.sizes[found.accepted][1:]] == list(50 - np.cumsum([0, *schedule.steps]))
    before = np.concatenate([[50], found.remaining[:-1]])
    np.testing.assert_array_equal(before[1:] - found.sizes[1:], schedule.batch[before[1:]])
    assert found.cumulative_cost("constant")[-1] == found.n_calls
    assert found.cumulative_cost(lambda n: n)[-1] == found.sizes.sum()


def test_claim_rejected_batches_are_put_back_whole():
    found = rve(OracleSubsets(40, [1, 2]), 2, random_state=3)
    for call in range(found.n_calls):
        subset = found.subset_after(call)
        assert len(subset) == found.remaining[call] and {1, 2} <= set(subset)
        if call and not found.accepted[call]:
            np.testing.assert_array_equal(subset, found.subset_after(call - 1))
    np.testing.assert_array_equal(found.subset_after(found.n_calls - 1), found.kept)


def test_erratum_the_search_goes_on_until_the_interval_has_closed():
    """The printed condition "until r_min < r_max and fail <= c1 E" would end after one step."""
    found = rvers(OracleSubsets(100, range(10)), r_max=20, tol=0.0, random_state=0)
    low, _, high = found.brackets.T
    assert found.n_calls > 30 and (low < high)[:5].all() and low[-1] == high[-1]


def test_claim_oracle_gives_the_printed_inputs_and_calls_that_rise_with_r_max():
    """Table 4, for a learner without noise: ten inputs whatever r_max is, and the more calls the larger it is."""
    inputs, calls = [], []
    for r_max in (20, 40, 60, 80, 100):
        draws = [np.random.default_rng(seed).choice(100, 10, replace=False) for seed in range(60)]
        found = [rvers(OracleSubsets(100, draw), r_max=r_max, random_state=s) for s, draw in enumerate(draws)]
        assert all(set(draw) <= set(f.kept) for f, draw in zip(found, draws, strict=True))
        inputs.append(np.mean([len(f.kept) for f in found]))
        calls.append(np.mean([f.n_calls for f in found]))
    np.testing.assert_allclose(inputs, 10, atol=0.5)
    assert (np.diff(calls) > 0).all() and calls[0] < 130 and calls[-1] > 165


def test_claim_an_interval_that_closed_too_low_ends_no_search():
    """Five or six of twelve are believed relevant; single removals then find the other eighteen columns."""
    for seed in range(20):
        found = rvers(OracleSubsets(30, range(12)), r_min=5, r_max=6, c1=8, tol=0.0, random_state=seed)
        np.testing.assert_array_equal(found.kept, range(12))
        assert found.remaining[np.flatnonzero(found.brackets[:, 0] == found.brackets[:, 2])[0]] > 20
    ends = [rvers(OracleSubsets(100, [4, 40, 80]), r_max=20, random_state=seed) for seed in range(40)]
    closed = [f.remaining[np.flatnonzero(f.brackets[:, 0] == f.brackets[:, 2])[0]] for f in ends]
    assert np.mean([len(f.kept) == 3 for f in ends]) > 0.8 > 0.6 > np.mean(np.array(closed) == 3)


def test_claim_a_single_irrelevant_column_is_missed_with_probability_exp_minus_c1():
    """n - 1 of n columns matter: c1 (n - 1) failures in a row have probability (1 - 1/n)^(c1 (n - 1))."""
    for c1, trials in ((1.5, 400), (3.0, 400)):
        ends = [rvers(OracleSubsets(12, range(11)), r_min=10, r_max=11, c1=c1, random_state=s) for s in range(trials)]
        missed = np.mean([len(found.kept) == 12 for found in ends])
        expected = (1 - 1 / 12) ** math.ceil(c1 * 11)
        assert missed == pytest.approx(expected, abs=4 * math.sqrt(expected / trials))


def test_return_best_gives_the_smallest_subset_within_the_tolerance():
    found = rvers(Creeping(40), tol=0.0025, rule="single", return_best=True, random_state=0)
    assert len(found.kept) == 38 and found.error == pytest.approx(0.002)
    noisy = OracleSubsets(60, range(5), noise=0.05, random_state=1)
    best = rvers(noisy, tol=0.05, return_best=True, random_state=1)
    assert best.error <= best.errors[best.accepted].min() + 0.05
    assert noisy.error(best.kept) == best.error


def test_a_limit_on_the_calls_warns():
    with pytest.warns(ConvergenceWarning, match="raise max_calls"):
        found = rvers(OracleSubsets(100, range(10)), max_calls=20, random_state=0)
    assert found.n_calls == 20 and not found.converged
    with pytest.warns(ConvergenceWarning, match="raise max_calls"):
        rve(Always(20, True), 3, max_calls=50, random_state=0)


def test_edges_of_size():
    assert rve(OracleSubsets(1, [0]), 1, random_state=0).kept.tolist() == [0]
    assert rve(OracleSubsets(5, [0]), 5, random_state=0).n_calls == 1
    assert len(rve(Always(6, False), 0, random_state=0).kept) == 0
    assert rvers(OracleSubsets(1, [0]), random_state=0).kept.tolist() == [0]
    assert rvers(OracleSubsets(2, [0]), random_state=0).n_calls == 1
    assert rvers(OracleSubsets(3, [0]), r_min=1, tol=0.0, random_state=0).kept.tolist() == [0]


def test_the_same_seed_gives_the_same_way():
    first, again = (rvers(OracleSubsets(60, [3, 9]), random_state=5) for _ in range(2))
    np.testing.assert_array_equal(first.sizes, again.sizes)
    np.testing.assert_array_equal(first.removed_by, again.removed_by)
    other = rvers(OracleSubsets(60, [3, 9]), random_state=6)
    assert not np.array_equal(first.removed_by, other.removed_by)


def test_claim_calls_of_the_stepwise_searches():
    """19 steps of forward selection among 180 columns make 3249 evaluations, 33 backward ones and the first 5413."""
    forward = forward_selection(OracleSubsets(180, range(18)))
    assert forward.n_calls == 3249 and forward.n_iter == 19 and len(forward.kept) == 18

    class Falls(SubsetEvaluator):
        def _error(self, columns):
            return float(max(len(columns), 148))

    backward = backward_elimination(Falls(180))
    assert backward.n_calls == 5413 and backward.n_iter == 33 and len(backward.kept) == 148


def test_naive_bayes_of_the_evaluator_is_naive_bayes():
    X, y = make_led(300, n_irrelevant=5, random_state=2, return_X_y=True)
    subsets = NaiveBayesSubsets(X, y)
    refit = EstimatorSubsets(CategoricalNB(min_categories=2), X, y)
    for columns in ([0], [1, 4, 7], range(12), [11]):
        assert subsets.error(columns) == pytest.approx(refit.error(columns))


def test_erratum_printed_errors_belong_to_broken_segments():
    """Sec. 7.2 speaks of corrupted labels, Table 7 prints 26 to 27 % for the best selections."""
    assert make_led(10, flip=0.0, label_noise=0.1, random_state=0).bayes_risk == pytest.approx(0.09)
    made = make_led(4000, flip=0.1, random_state=0)
    assert made.bayes_risk == pytest.approx(0.26, abs=0.001)
    assert NaiveBayesSubsets(made.data, made.target).error(range(7)) == pytest.approx(0.26, abs=0.03)


def test_claim_the_annealing_takes_1897_epochs():
    X, y = make_m_of_n(60, m=2, n_relevant=3, d=5, random_state=0, return_X_y=True)
    assert ThermalPerceptron(random_state=0).fit(X, y).n_iter_ == 1897
    assert sum(2 * 0.999**e >= 0.3 for e in range(3000)) == 1897
    assert ThermalPerceptron(t_end=2.0).fit(X, y).n_iter_ == 1


def test_claim_the_perceptron_learns_seven_of_ten():
    made = make_m_of_n(2000, random_state=0)
    X, y = made.data[:, made.relevant], made.target
    model = ThermalPerceptron(random_state=0).fit(X[:1000], y[:1000])
    assert model.score(X[1000:], y[1000:]) > 0.99


def test_the_perceptron_with_and_without_the_gram_matrix():
    rng = np.random.default_rng(0)
    Z, signs = np.rint(256 * rng.normal(size=(40, 6))) / 256, rng.choice([-1.0, 1.0], 40)
    temperatures = 2 * 0.9 ** np.arange(20)
    # Exactly: the steps amplify what rounding leaves about fiftyfold in every epoch.
    np.testing.assert_array_equal(_anneal_gram(Z @ Z.T, signs, temperatures) @ Z, _anneal(Z, signs, temperatures))
    weights, T = np.zeros(6), 2.0
    for i in range(40):  # the first epoch, by the formula
        value = weights @ Z[i]
        if signs[i] * value <= 0:
            weights += signs[i] * Z[i] * (T / 2.0) * math.exp(-abs(value) / T)
    np.testing.assert_allclose(_anneal(Z, signs, temperatures[:1]), weights, atol=1e-4)
    two = _anneal(Z, signs, temperatures[:2])
    for i in range(40):
        value = weights @ Z[i]
        if signs[i] * value <= 0:
            weights += signs[i] * Z[i] * 0.9 * math.exp(-abs(value) / 1.8)
    np.testing.assert_allclose(two, weights, atol=0.01)  # the rounding of steps to 2^-20, amplified


ORACLE = OracleSubsets(10, [1])


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: p_success(0, 0, 1), "n must"),
        (lambda: p_success(5, 6, 1), "r must"),
        (lambda: p_success(5, 2, 0), "k must"),
        (lambda: expected_failures(5, 2.5, 1), "r must"),
        (lambda: rve_schedule(10, 10), "n_relevant must"),
        (lambda: rve_schedule(10, 2, "cubic"), "cost must"),
        (lambda: rve_schedule(10, 2, lambda n: -n), "cost must"),
        (lambda: rve_schedule(10, 2, np.ones(4)), "cost must have 11"),
        (lambda: rve_schedule(10, 2, np.full(11, np.nan)), "cost"),
        (lambda: fixed_schedule(10, 2, rule="double"), "rule must"),
        (lambda: cost_bound(10, 1), "n_relevant must"),
        (lambda: cost_bound(10, 2, np.ones(11)), "cost must"),
        (lambda: rve(ORACLE, 11), "n_relevant must"),
        (lambda: rve(ORACLE, rve_schedule(9, 2)), "n_relevant: the schedule"),
        (lambda: rve(ORACLE, 2, tol=-1), "tol must"),
        (lambda: rve(ORACLE, 2, compare_to="last"), "compare_to must"),
        (lambda: rve(ORACLE, 2, rule="best"), "rule must"),
        (lambda: rve(ORACLE, 2, max_calls=0), "max_calls must"),
        (lambda: rve(ORACLE, 2, random_state="x"), "random_state"),
        (lambda: rvers(ORACLE, r_min=5, r_max=4), "r_min must"),
        (lambda: rvers(ORACLE, c1=1), "c1 must"),
        (lambda: rvers(ORACLE, c2=0), "c2 must"),
        (lambda: rvers(np.ones(3)), "evaluator must"),
        (lambda: rve(ORACLE, 2, random_state=0).subset_after(10**6), "call must"),
        (lambda: forward_selection(ORACLE, max_features=0), "max_features must"),
        (lambda: forward_selection([1, 2]), "evaluator must"),
        (lambda: backward_elimination(ORACLE, min_features=11), "min_features must"),
        (lambda: filter_selection(ORACLE, np.ones(3)), "relevance must"),
        (lambda: OracleSubsets(5, [5]), "relevant must"),
        (lambda: OracleSubsets(5, []), "relevant must"),
        (lambda: OracleSubsets(5, [1], noise=-1), "noise must"),
        (lambda: gain_ratio([1, 2], [0, 1]), "X: a table"),
        (lambda: ThermalPerceptron(t_end=3).fit([[0.0], [1.0]], [0, 1]), "t_end must"),
        (lambda: ThermalPerceptron(decay=1).fit([[0.0], [1.0]], [0, 1]), "decay must"),
        (lambda: ThermalPerceptron().fit([[np.nan], [1.0]], [0, 1]), "NaN"),
        (lambda: RVErS().fit([[np.inf, 1.0], [1.0, 1.0]], [0, 1]), "infinite values"),
    ],
)
def test_bad_input_is_refused_with_the_name_of_the_argument(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()


def test_nothing_is_asked_before_the_arguments_are_checked():
    evaluator = OracleSubsets(10, [1])
    with pytest.raises(ValueError, match="c1"):
        rvers(evaluator, c1=0.5)
    with pytest.raises(ValueError, match="n_relevant"):
        rve(evaluator, 11)
    assert evaluator.n_calls == 0


def test_results_are_frozen():
    found = rve(OracleSubsets(10, [1]), 1, random_state=0)
    with pytest.raises(FrozenInstanceError):
        found.error = 0.0
    with pytest.raises(FrozenInstanceError):
        rve_schedule(5, 2).n_relevant = 3


@parametrize_with_checks(
    [
        RVErS(cv=2, random_state=0),
        RVErS(DecisionTreeClassifier(max_depth=2, random_state=0), cv=2, r_min=1, random_state=0),
        RVE(cv=2, tol=1.0, random_state=0),
        ThermalPerceptron(decay=0.98, random_state=0),
    ]
)
def test_estimators_follow_scikit_learn(estimator, check):
    check(estimator)
