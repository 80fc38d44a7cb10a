"""Classical rules: categorical splits, condensed and edited neighbours, and histograms in two dimensions."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from learnable.foundations import KNN
from learnable.foundations.prototypes import condense, edit


@pytest.mark.parametrize("seed", range(4))
def test_a_condensed_sample_repeats_all_labels(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    kept = condense(X, y)
    assert 2 <= len(kept) < 80 and (np.diff(kept) > 0).all()
    assert (KNN(1).fit(X[kept], y[kept]).predict(X) == y).all()
    rule = KNN(1, reduce="condensed").fit(X, y)
    np.testing.assert_array_equal(rule.kept_, kept)
    assert (rule.predict(X) == y).all()


def hart(X, y):
    """Hart's algorithm as it is written: runs over the sample, a distance to every point of the store."""
    store, changed = [0], True
    while changed:
        changed = False
        for i in range(len(X)):
            gaps = [((X[i] - X[s]) ** 2).sum() for s in store]
            nearest = min(range(len(store)), key=lambda p: (gaps[p], store[p]))
            if i not in store and y[store[nearest]] != y[i]:
                store.append(i)
                changed = True
    return sorted(store)


def test_condensing_is_harts_algorithm():
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(0, 6, (40, 2)).astype(float), rng.integers(0, 3, 40)
        assert condense(X, y).tolist() == hart(X, y)


def test_condensing_keeps_few_of_the_digits():
    X, y = load_digits(return_X_y=True)
    kept = condense(X[:800], y[:800])
    assert len(kept) < 150
    assert np.mean(KNN(1).fit(X[kept], y[kept]).predict(X[800:]) != y[800:]) < 0.12


def test_editing_removes_what_the_neighbours_get_wrong():
    rng = np.random.default_rng(1)
    X = rng.random((300, 1))
    clean = (X[:, 0] > 0.5).astype(int)
    y = np.where(rng.random(300) < 0.15, 1 - clean, clean)
    kept = edit(X, y, 3)
    by_hand = []
    for i in range(300):
        gaps = np.abs(X[:, 0] - X[i, 0])
        gaps[i] = np.inf
        by_hand.append(np.bincount(y[np.argsort(gaps, kind="stable")[:3]], minlength=2).argmax() == y[i])
    np.testing.assert_array_equal(kept, np.flatnonzero(by_hand))
    points = rng.random((500, 1))
    truth = (points[:, 0] > 0.5).astype(int)
    plain = np.mean(KNN(1).fit(X, y).predict(points) != truth)
    edited = np.mean(KNN(1).fit(X[kept], y[kept]).predict(points) != truth)
    assert edited < 0.5 * plain
    np.testing.assert_array_equal((rule := KNN(3, reduce="edited").fit(X, y)).kept_, kept)
    assert rule.k_ == 1 and np.mean(rule.predict(points) != truth) == edited


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: condense([[1.0], [2.0]], [1]), "y must hold one label"),
        (lambda: condense([[1e200], [2.0]], [0, 1]), "X must have a largest"),
        (lambda: edit([[1.0], [2.0]], [0, 1], k=2), "k must be an integer"),
        (lambda: KNN(3, reduce="condensed").fit([[1.0], [2.0], [3.0]], [0, 1, 1]), "k must be 1"),
        (lambda: KNN(1, reduce="edited").fit([[1.0], [2.0]], [0, 1]), "no point is left"),
        (lambda: KNN(1, weights=[1.0], reduce="edited").fit([[1.0], [2.0]], [0, 0]), "weights and reduce"),
        (lambda: KNN(reduce="both").fit([[1.0], [2.0]], [0, 1]), "reduce must be"),
    ],
)
def test_bad_prototypes_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
