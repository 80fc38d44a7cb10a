"""Plug-in rules, histograms, nearest neighbours and CART: the claims of the source, checked."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes

from learnable.ensembles import CARTRegressor
from learnable.foundations import KNN, Regressogram
from learnable.foundations.voting import PartitionRule


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_claim_03_cell_constants_minimise_the_empirical_loss(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (30, 1)).astype(float)
    y = rng.integers(0, 3, 30)
    L = rng.uniform(0, 2, (3, 3)) * (1 - np.eye(3))
    k = len(np.unique(y))
    for loss in ("0-1", L[:k, :k]):
        rule = PartitionRule(lambda X: X[:, 0], loss=loss).fit(X, y)
        matrix = 1 - np.eye(k) if isinstance(loss, str) else loss
        codes = np.unique(y, return_inverse=True)[1]
        for cell in np.unique(X):
            inside = codes[X[:, 0] == cell]
            costs = [matrix[inside, j].sum() for j in range(k)]
            said = np.searchsorted(rule.classes_, rule.predict([[cell]])[0])
            assert costs[said] == pytest.approx(min(costs))
    target = rng.normal(size=30)
    mean = PartitionRule(lambda X: X[:, 0], loss="squared").fit(X, target)
    median = PartitionRule(lambda X: X[:, 0], loss="absolute").fit(X, target)
    for cell in np.unique(X):
        inside = target[X[:, 0] == cell]
        assert mean.predict([[cell]])[0] == pytest.approx(inside.mean())
        m = median.predict([[cell]])[0]
        assert np.abs(inside - m).sum() <= min(np.abs(inside - m - e).sum() for e in (-0.01, 0.01)) + 1e-12


def test_claim_05_training_error_of_nearest_neighbours():
    X, y = load_breast_cancer(return_X_y=True)
    errors = [np.mean(KNN(k=k).fit(X, y).predict(X) != y) for k in (1, 3, 15, 101)]
    assert errors[0] == 0 and errors[0] < errors[1] < errors[2] < errors[3]


def test_claim_13_ties():
    X = np.array([[0.0], [0.0], [0.0], [1.0], [1.0]])
    y = np.array([1, 0, 0, 1, 0])
    assert KNN(k=1).fit(X, y).predict([[0.0], [1.0]]).tolist() == [1, 1]
    reverse = KNN(k=1).fit(X[::-1], y[::-1])
    assert reverse.predict([[0.0], [1.0]]).tolist() == [0, 0]
    # With a random extra coordinate each of the tied points is nearest equally often, in any order of the rows.
    for rows in (np.arange(5), np.arange(5)[::-1]):
        votes = [
            KNN(k=1, ties="randomise", random_state=seed).fit(X[rows], y[rows]).predict([[0.0]])[0]
            for seed in range(300)
        ]
        assert np.mean(votes) == pytest.approx(1 / 3, abs=4 * math.sqrt(2 / 9 / 300))


def test_regression_tree_and_regressogram():
    rng = np.random.default_rng(17)
    x = rng.uniform(0, 6, 400)
    y = np.sin(x) + 0.3 * rng.normal(size=400)
    fresh = rng.uniform(0.2, 5.8, 2000)[:, None]
    truth = np.sin(fresh[:, 0])
    full = CARTRegressor(min_samples_split=2).fit(x[:, None], y)
    rough = np.mean((full.predict(fresh) - truth) ** 2)
    full.prune_by_cross_validation(x[:, None], y, cv=5, random_state=0)
    pruned = np.mean((full.predict(fresh) - truth) ** 2)
    cells = np.mean((Regressogram(c=3.0).fit(x[:, None], y).predict(fresh) - truth) ** 2)
    assert pruned < 0.5 * rough and cells < 0.05
    X, y = load_diabetes(return_X_y=True)
    assert CARTRegressor().fit(X, y).prune(5e4).score(X, y) > 0.2


@pytest.mark.parametrize("cell_id", [lambda X: 0.5, lambda X: X[1:, 0], lambda X: None])
def test_cells_for_other_than_each_row_are_refused(cell_id):
    X, y = np.arange(6.0)[:, None], [0, 1] * 3
    with pytest.raises(ValueError, match="cell_id must return one cell for each of the 6 rows"):
        PartitionRule(cell_id).fit(X, y)
