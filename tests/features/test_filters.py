"""Claims of Yu and Liu 2004, checked against brute force, scipy and scikit-learn."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from learnable.datasets import load
from learnable.datasets.rules import make_corral
from learnable.features import (
    CFS,
    FCBF,
    FOCUS,
    MDLDiscretizer,
    ReliefF,
    inconsistency,
    su_matrix,
)

CORRAL = make_corral()


def plain_su(x, y):
    """Symmetrical uncertainty in bits, by the definition."""

    def h(columns):
        p = np.unique(np.column_stack(columns), axis=0, return_counts=True)[1] / len(x)
        return -(p * np.log2(p)).sum()

    both = h([x]) + h([y])
    return 2 * (both - h([x, y])) / both if both > 0 else 0.0


def table(seed, n=60, d=12, levels=2):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, levels, (n, d))
    y = (X[:, 0] + X[:, 1] + rng.integers(0, 2, n)) % 3 % 2
    X[:, d // 2] = X[:, 0] ^ (rng.random(n) < 0.1)
    return X, y


@pytest.mark.parametrize(("name", "counts"), [("splice", (9, 22, 6, 10)), ("promoters", (6, 6, 4, 4))])
def test_counts_of_the_source(name, counts):
    X, y = load(name, return_X_y=True)
    found = [int(s.fit(X, y).get_support().sum()) for s in (FCBF("log"), FCBF(), CFS(), FOCUS())]
    assert tuple(found) == counts


def plain_cfs(X, y):
    r, s = np.array([plain_su(x, y) for x in X.T]), su_matrix(X)

    def merit(subset):
        k, pairs = len(subset), list(combinations(subset, 2))
        mean = np.mean([s[p] for p in pairs]) if pairs else 0.0
        return k * r[list(subset)].mean() / np.sqrt(k + k * (k - 1) * mean)

    kept, best = [], 0.0
    while len(kept) < X.shape[1]:
        j = max((i for i in range(X.shape[1]) if i not in kept), key=lambda i: round(merit([*kept, i]), 12))
        if merit([*kept, j]) <= best + 1e-12:
            return kept, best
        best = merit([*kept, j])
        kept.append(j)
    return kept, best


@pytest.mark.parametrize("seed", range(4))
def test_cfs_equals_brute_force(seed):
    X, y = table(seed, n=150, d=10, levels=3)
    cfs = CFS().fit(X, y)
    kept, best = plain_cfs(X, y)
    assert cfs.selected_.tolist() == kept and cfs.merits_[-1] == pytest.approx(best)
    assert CFS(max_features=2).fit(X, y).selected_.tolist() == kept[:2]
    assert cfs.merits_[0] == pytest.approx(max(plain_su(x, y) for x in X.T))  # k = 1: the relevance


def test_inconsistency_counts_what_majorities_get_wrong():
    X, y = table(0, n=50, d=3)
    groups = {}
    for row, label in zip(map(tuple, X), y, strict=True):
        groups.setdefault(row, []).append(label)
    assert inconsistency(X, y) == sum(len(g) - max(g.count(0), g.count(1)) for g in groups.values()) > 0
    assert inconsistency(np.arange(50)[:, None], y) == 0
    assert inconsistency(np.zeros((50, 1)), y) == min(y.sum(), 50 - y.sum())


@pytest.mark.parametrize("seed", range(3))
def test_focus_equals_brute_force(seed):
    X, y = table(seed, n=80, d=9, levels=3)
    y = (y + X[:, 3]) % 3
    kept = []
    while inconsistency(X[:, kept], y) > inconsistency(X, y) if kept else True:
        left = [i for i in range(9) if i not in kept]
        kept.append(min(left, key=lambda i: inconsistency(X[:, [*kept, i]], y)))
    focus = FOCUS().fit(X, y)
    assert focus.selected_.tolist() == kept
    assert focus.inconsistencies_[-1] == inconsistency(X, y)
    assert focus.inconsistencies_.tolist()[1:] == [inconsistency(X[:, kept[: k + 1]], y) for k in range(len(kept))]


def test_greedy_consistency_stops_at_r():
    stopped = FOCUS("no gain").fit(CORRAL.data, CORRAL.target)
    assert stopped.selected_.tolist() == [5] and stopped.inconsistencies_.tolist() == [56, 32]
    assert FOCUS().fit(CORRAL.data, CORRAL.target).selected_.tolist() == [5, 0, 1, 2, 3]
    with pytest.raises(ValueError, match="stop"):
        FOCUS("never").fit(CORRAL.data, CORRAL.target)


def plain_relief(X, y, rows, k, nominal):
    spread = np.ptp(X, axis=0)
    diff = (lambda a, b: (a != b) * 1.0) if nominal else (lambda a, b: np.abs(a - b) / np.where(spread > 0, spread, 1))
    weights = np.zeros(X.shape[1])
    for i in rows:
        distance = np.array([diff(X[i], x).sum() for x in X])
        for c in np.unique(y):
            near = [r for r in np.argsort(distance, kind="stable") if r != i and y[r] == c][:k]
            mean = np.mean([diff(X[i], X[r]) for r in near], axis=0) / len(rows)
            weights += -mean if c == y[i] else np.mean(y == c) / (1 - np.mean(y == y[i])) * mean
    return weights


@pytest.mark.parametrize("nominal", [True, False])
def test_relief_equals_brute_force(nominal):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (60, 7)).astype(float) if nominal else rng.normal(size=(60, 7))
    y = np.where(X[:, 0] > 1, 0, np.where(X[:, 1] > 0, 1, 2))
    relief = ReliefF(n_instances=60, nominal=nominal, random_state=0).fit(X, y)
    np.testing.assert_allclose(relief.weights_, plain_relief(X, y, range(60), 5, nominal), atol=1e-12)
    assert (relief.support_ == (relief.weights_ > 0)).all()
    top = ReliefF(n_features_to_select=2, n_instances=60, nominal=nominal).fit(X, y)
    assert set(np.flatnonzero(top.support_)) == set(np.argsort(-relief.weights_)[:2])


def test_relief_weights_copies_alike_and_has_no_units():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 4))
    X[:, 3] = X[:, 0]
    y = X[:, 0] > 0
    base = ReliefF(nominal=False, random_state=0).fit(X, y).weights_
    assert base[0] == base[3] > max(base[1], base[2])
    np.testing.assert_allclose(ReliefF(nominal=False, random_state=0).fit(X * 1e8 - 5, y).weights_, base, atol=1e-6)
    with pytest.raises(ValueError, match="n_features_to_select"):
        ReliefF(n_features_to_select=5).fit(X, y)
    with pytest.raises(ValueError, match="n_neighbors"):
        ReliefF(n_neighbors=0).fit(X, y)


@parametrize_with_checks(
    [FCBF(), FCBF(delta="log"), CFS(), FOCUS(), ReliefF(), ReliefF(nominal=False), MDLDiscretizer()]
)
def test_scikit_learn_protocol(estimator, check):
    check(estimator)
