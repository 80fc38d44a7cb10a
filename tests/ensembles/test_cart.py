"""Plug-in rules, histograms, nearest neighbours and CART: the claims of the source, checked."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from learnable.ensembles import CARTClassifier, CARTRegressor
from learnable.trees import grow
from learnable.trees.pruning import best_subtree as best_subtree_bruteforce


def best_split(X, y, impurity):
    """Feature, threshold and cost of the first split of the engine."""
    tree = grow(X, y, impurity, max_depth=1)
    return tree.feature[0], tree.threshold[0], tree.cost[1] + tree.cost[2]


def test_claim_14_splits_and_gains():
    rng = np.random.default_rng(14)
    for impurity in ("gini", "entropy", "error", "squared"):
        X = rng.integers(0, 6, (30, 3)).astype(float)
        y = rng.normal(size=30) if impurity == "squared" else rng.integers(0, 3, 30)
        feature, cut, cost = best_split(X, y, impurity)
        low = X[:, feature] <= cut
        if impurity == "squared":
            parts = [y[low], y[~low]]
            sse = sum(((p - p.mean()) ** 2).sum() for p in parts)
            assert cost == pytest.approx(sse)
            assert cost == pytest.approx((y**2).sum() - sum(len(p) * p.mean() ** 2 for p in parts))
        model = (CARTRegressor if impurity == "squared" else CARTClassifier)(min_samples_split=2).fit(X, y)
        for costs in (
            [model.full_tree_.cost]
            if impurity == "squared"
            else [model.full_tree_.node_costs(c) for c in ("gini", "entropy", "error")]
        ):
            tree = model.full_tree_
            inside = ~tree.is_leaf
            gain = costs[inside] - costs[tree.left[inside]] - costs[tree.right[inside]]
            assert gain.min() >= -1e-9


def test_claim_15_pruning_is_optimal_and_nested():
    rng = np.random.default_rng(15)
    for seed in range(100):
        X, y = rng.integers(0, 5, (30, 2)).astype(float), rng.integers(0, 2, 30)
        model = CARTClassifier(impurity="gini", prune_impurity="error", min_samples_split=2, max_depth=4).fit(X, y)
        tree, path = model.full_tree_, model.path()
        costs = tree.node_costs("error")
        assert (np.diff(path.penalty) > 0).all()
        for index in range(1, len(path.penalty)):
            assert not (path.keep(index) & ~path.keep(index - 1)).any()
        for penalty in (0.0, 0.25, *path.penalty, path.penalty[-1] + 1):
            _, value, leaves = best_subtree_bruteforce(tree, penalty, costs)
            model.prune(float(penalty))
            mine = model.tree_.node_costs("error")[model.tree_.is_leaf].sum() + penalty * model.get_n_leaves()
            assert mine == pytest.approx(value, abs=1e-9) and model.get_n_leaves() == leaves, seed


def test_claim_15_path_of_scikit_learn():
    rng = np.random.default_rng(16)
    X = rng.normal(size=(300, 3))
    y = (X[:, 0] + 0.7 * rng.normal(size=300) > 0).astype(int)
    theirs = DecisionTreeClassifier(random_state=0, max_depth=5).fit(X, y).cost_complexity_pruning_path(X, y)
    model = CARTClassifier(prune_impurity="gini", min_samples_split=2, max_depth=5).fit(X, y)
    levels = np.unique(np.round(theirs.ccp_alphas * 300, 7))
    np.testing.assert_allclose(model.path().penalty, levels, atol=2e-7)


def test_headline_cart_path_on_breast_cancer():
    X, y = load_breast_cancer(return_X_y=True)
    X_fit, X_test, y_fit, y_test = train_test_split(X, y, test_size=189, random_state=0)
    model = CARTClassifier(prune_impurity="gini", min_samples_split=2).fit(X_fit, y_fit)
    path = model.path()
    assert path.leaves[-1] == 1 and path.penalty[-1] > 80
    errors = model._path_errors(X_test, y_test)
    assert errors[-1] > 0.3 > 0.15 > errors.min()
    model.prune_by_validation(X_test, y_test)
    assert 2 <= model.get_n_leaves() <= path.leaves[0]
    model.prune_by_cross_validation(X_fit, y_fit, cv=5, random_state=0)
    assert 2 <= model.get_n_leaves() < path.leaves[0]
