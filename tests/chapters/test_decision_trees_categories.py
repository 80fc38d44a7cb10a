"""Decision trees: categorical splits, several classes, and growing by the largest gain first."""

import itertools

import numpy as np
import pytest

from learnable.trees import grow


def brute_categorical(column, y, cost):
    """Least cost over all splits of the categories into two sets."""
    present = np.unique(column)
    best = np.inf
    for size in range(1, len(present)):
        for chosen in itertools.combinations(present, size):
            left = np.isin(column, chosen)
            best = min(best, cost(y[left]) + cost(y[~left]))
    return best


def gini(y):
    share = np.bincount(y) / len(y)
    return len(y) * (share * (1 - share)).sum()


def entropy(y):
    share = np.bincount(y) / len(y)
    return -len(y) * (share[share > 0] * np.log(share[share > 0])).sum()


def squares(y):
    return ((y - y.mean()) ** 2).sum()


@pytest.mark.parametrize("seed", range(6))
def test_categorical_splits_are_the_best_of_all_subsets(seed):
    """Breiman's theorem: for two classes and squared error the order by mean response holds the best subset."""
    rng = np.random.default_rng(seed)
    column = rng.integers(0, 7, 60).astype(float)
    y = (rng.random(60) < np.array([0.2, 0.9, 0.5, 0.1, 0.7, 0.4, 0.6])[column.astype(int)]).astype(int)
    z = y + rng.normal(size=60)
    X = np.column_stack([rng.normal(size=60), column])[:, 1:]
    for criterion, target, cost in (("gini", y, gini), ("entropy", y, entropy), ("squared", z, squares)):
        tree = grow(X, target, criterion, max_depth=1, categorical_features=[0])
        assert tree.cost[1] + tree.cost[2] == pytest.approx(brute_categorical(column, target, cost), rel=1e-9)
        # what the tree does is what it costs
        leaf = tree.apply(X)
        assert cost(target[leaf == 1]) + cost(target[leaf == 2]) == pytest.approx(tree.cost[1] + tree.cost[2])


def test_more_classes_are_split_by_the_share_of_one_class():
    column = np.repeat(np.arange(6.0), 10)
    y = np.repeat([0, 1, 2, 0, 1, 2], 10)
    tree = grow(column[:, None], y, "gini", categorical_features=[0])
    assert tree.n_leaves == 3 and (tree.value.max(axis=1) == tree.value.sum(axis=1))[tree.is_leaf].all()


def test_best_first_growing_takes_the_largest_gains():
    """The same tree as scikit-learn's best-first builder, and as growing by hand."""
    from sklearn.tree import DecisionTreeRegressor

    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    z = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * rng.normal(size=150)
    for leaves in (1, 2, 5, 12):
        tree = grow(X, z, "squared", max_leaf_nodes=leaves)
        assert tree.n_leaves == leaves
        if leaves > 1:
            other = DecisionTreeRegressor(max_leaf_nodes=leaves, random_state=0).fit(X, z)
            np.testing.assert_allclose(tree.value[tree.apply(X), 0], other.predict(X))
    assert grow(X, z, "squared", max_leaf_nodes=10**6).n_leaves == grow(X, z, "squared").n_leaves
