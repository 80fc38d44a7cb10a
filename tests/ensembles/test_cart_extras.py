"""Classical rules: categorical splits, condensed and edited neighbours, and histograms in two dimensions."""

import numpy as np
import pytest

from learnable.ensembles import CARTClassifier, CARTRegressor
from learnable.trees import grow


def gini(y):
    share = np.bincount(y) / len(y)
    return len(y) * (share * (1 - share)).sum()


def test_categorical_splits_below_the_root_and_beside_ordered_columns():
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.normal(size=300), rng.integers(0, 5, 300), rng.normal(size=300)])
    y = np.where(X[:, 0] > 0, np.isin(X[:, 1], (1, 4)), np.isin(X[:, 1], (0, 2, 3))).astype(int)
    rule = CARTClassifier(min_samples_split=2, categorical_features=[1]).fit(X, y)
    assert rule.score(X, y) == 1.0
    plain = CARTClassifier(min_samples_split=2).fit(X, y)
    assert plain.score(X, y) == 1.0 and rule.get_n_leaves() < plain.get_n_leaves()
    leaf = rule.full_tree_.apply(X)
    for node in np.unique(leaf):
        inside = np.bincount(y[leaf == node], minlength=2)
        np.testing.assert_array_equal(rule.full_tree_.value[node], inside)
    # Pruning carries the sets of categories along.
    assert rule.prune(100.0).get_n_leaves() < 4
    assert rule.score(X, y) > 0.5


def test_categories_in_another_coding_give_the_same_tree():
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 8, 200)
    y = (rng.random(200) < 0.2 + 0.6 * (codes % 3 == 1)).astype(int)
    z = codes % 3 + 0.1 * rng.normal(size=200)
    other = rng.permutation(8)[codes]
    for model, target in (
        (CARTClassifier(max_depth=3, categorical_features=[0]), y),
        (CARTRegressor(max_depth=3, categorical_features=[0]), z),
    ):
        said = model.fit(codes[:, None], target).predict(codes[:, None])
        np.testing.assert_allclose(model.fit(other[:, None], target).predict(other[:, None]), said)
    assert CARTRegressor(categorical_features=[0]).fit(codes[:, None], z).score(codes[:, None], z) > 0.96


def test_unseen_categories_go_to_the_heavier_child():
    column = np.array([0.0] * 10 + [1.0] * 4)
    rule = CARTClassifier(min_samples_split=2, categorical_features=[0]).fit(column[:, None], [0] * 10 + [1] * 4)
    assert rule.predict([[0], [1], [2], [900]]).tolist() == [0, 1, 0, 0]
    # A category that the sample has, but not this node.
    X = np.array([[0, 0], [0, 1], [0, 1], [0, 1], [1, 2], [1, 2]], float)
    tree = grow(X, np.array([0, 1, 1, 1, 2, 2]), "gini", categorical_features=[1])
    assert tree.value[tree.apply([[0.0, 5.0]])[0]].argmax() in (0, 1, 2)


@pytest.mark.parametrize("bad", [[[0.5], [1.0]], [[-1.0], [1.0]], [[0.0], [5000.0]]])
def test_what_is_no_category_is_refused(bad):
    with pytest.raises(ValueError, match="categories coded 0"):
        CARTClassifier(categorical_features=[0]).fit(bad, [0, 1])
    with pytest.raises(ValueError, match="categorical_features must be an integer"):
        CARTClassifier(categorical_features=[1]).fit(np.abs(np.round(bad)), [0, 1])
