"""Missing values in trees: both sides of every cut are tried, and a missing value may tell the class alone."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

from learnable.ensembles import CARTClassifier, CARTRegressor, GradientBoostedTrees
from learnable.trees.missing import MissingColumns


def holes(seed=0, share=0.3):
    X, y = load_breast_cancer(return_X_y=True)
    X[np.random.default_rng(seed).random(X.shape) < share] = np.nan
    return X, y


def best_stump_error(x, y):
    """The fewest errors of one cut with the missing values on either side, or of missing against the rest."""
    gone, best = np.isnan(x), len(y)
    levels = np.unique(x[~gone])
    for cut in [*((levels[1:] + levels[:-1]) / 2), np.inf]:
        for missing_above in (False, True):
            above = np.where(gone, missing_above, x > cut)
            wrong = min(y[above].sum(), (1 - y[above]).sum()) + min(y[~above].sum(), (1 - y[~above]).sum())
            best = min(best, wrong)
    return best


@pytest.mark.parametrize("seed", range(8))
def test_a_stump_tries_missing_values_on_both_sides(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 6, 40).astype(float), rng.integers(0, 2, 40)
    x[rng.random(40) < 0.3] = np.nan
    rule = CARTClassifier("error", min_samples_split=2, max_depth=1).fit(x[:, None], y)
    assert np.sum(rule.predict(x[:, None]) != y) == best_stump_error(x, y)


def test_trees_with_holes_are_as_good_as_those_of_scikit_learn():
    X, y = holes()
    ours = CARTClassifier(min_samples_split=2, max_depth=4).fit(X, y)
    theirs = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y)
    assert ours.score(X, y) >= theirs.score(X, y) - 0.01
    pruned = CARTClassifier().fit(X[::2], y[::2]).prune_by_validation(X[1::2], y[1::2])
    assert pruned.score(X[1::2], y[1::2]) > 0.85
    assert CARTClassifier().fit(X, y).prune_by_cross_validation(X, y, cv=3, random_state=0).get_n_leaves() > 1


def test_boosting_bins_and_searches_holes_alike():
    X, y = holes()
    X = np.round(X, 1)
    X = X[:, [c for c in range(X.shape[1]) if len(np.unique(X[:, c][~np.isnan(X[:, c])])) < 200]]
    exact, binned = (GradientBoostedTrees(30, max_bins=bins).fit(X, y) for bins in (None, 256))
    np.testing.assert_allclose(exact.decision_function(X), binned.decision_function(X), atol=1e-8)
    assert exact.losses_[-1] < 0.35


def test_a_missing_category_is_a_category():
    colour = np.array([0.0, 1.0, np.nan] * 6)[:, None]
    y = np.array([1, 0, 1] * 6)
    rule = CARTClassifier(min_samples_split=2, categorical_features=[0]).fit(colour, y)
    assert rule.predict([[0.0], [1.0], [np.nan]]).tolist() == [1, 0, 1]
    seen = CARTClassifier(min_samples_split=2, categorical_features=[0]).fit([[0], [1], [0], [0]], [1, 0, 1, 1])
    assert seen.predict([[np.nan]]).tolist() == [1]  # with the heavier child


def test_what_was_never_missing_goes_below_and_units_do_not_matter():
    X, y = np.arange(10.0)[:, None], np.arange(10) > 4
    assert GradientBoostedTrees(5).fit(X, y).predict([[np.nan]]).tolist() == [False]
    X, y = holes()
    for scale in (1e-8, 1e8):
        assert (
            CARTRegressor(max_depth=3).fit(scale * X, y).predict(scale * X)
            == CARTRegressor(max_depth=3).fit(X, y).predict(X)
        ).mean() > 0.99
    assert MissingColumns.of(X[:0].reshape(0, 30)).fill(X) is not None
