"""Classical rules: units, sizes and priors, and what is refused before it reaches compiled code."""

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

from learnable.ensembles import CARTClassifier, CARTRegressor


def sample(seed=0, n=80, d=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X[:, 0] + 0.5 * rng.normal(size=n) > 0).astype(int)
    return X, y, rng.normal(size=(60, d))


"""Rules whose decisions may depend neither on the unit of X nor on its origin."""


@pytest.mark.parametrize("unit", [1e-100, 1e-8, 1e8, 1e100])
@pytest.mark.parametrize("shift", [0.0, 1e4])
def test_regression_trees_follow_the_unit_of_the_target(unit, shift):
    X, _, Q = sample(7)
    y = np.round(np.sin(3 * X[:, 0]), 6)
    expected = CARTRegressor(alpha=0.05).fit(X, y)
    moved = CARTRegressor(alpha=0.05 * unit**2).fit(1e5 * X + 7, unit * (y + shift))
    assert moved.get_n_leaves() == expected.get_n_leaves() > 3
    np.testing.assert_allclose(moved.predict(1e5 * Q + 7) / unit - shift, expected.predict(Q), atol=1e-9)
    full = CARTRegressor(min_samples_split=2).fit(X, unit * (y + shift))
    assert full.get_n_leaves() == len(np.unique(y))


def test_cross_validation_of_the_penalty_has_no_unit():
    X, _, _ = sample(8, n=120)
    y = np.sin(3 * X[:, 0]) + 0.3 * X[:, 1]
    leaves = []
    for unit in (1.0, 1e-6, 1e6):
        rule = CARTRegressor(min_samples_split=2).fit(X, unit * y)
        leaves.append(rule.prune_by_cross_validation(X, unit * y, cv=5, random_state=0).get_n_leaves())
        np.testing.assert_allclose(rule.path_errors_.error[-1], np.mean(rule.path_errors_.error[-1:]))
    assert leaves[0] == leaves[1] == leaves[2] > 1


def test_validation_gives_ties_to_the_smaller_tree():
    X = np.arange(8.0)[:, None]
    rule = CARTClassifier(min_samples_split=2).fit(X, [0, 0, 0, 0, 1, 1, 0, 1])
    errors = rule._path_errors(X[:4], np.zeros(4))
    assert len(errors) == 3 and errors[0] == errors[1] < errors[2] + 1  # the two larger trees tie on these data
    rule.prune_by_validation(X[:4], np.zeros(4, int))
    assert rule.index_ == np.flatnonzero(errors == errors.min()).max()


def test_cross_validation_scales_the_penalty_by_the_share_of_the_fold():
    X, y, _ = sample(11, n=90)
    rule = CARTClassifier(min_samples_split=2).fit(X, y)
    rule.prune_by_cross_validation(X, y, cv=3, random_state=0)
    edges = rule.path_.penalty
    expected = np.zeros(len(edges))
    unscaled = np.zeros(len(edges))
    for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y):
        member = CARTClassifier(min_samples_split=2).fit(X[train], y[train])
        for sums, share in ((expected, 2 / 3), (unscaled, 1.0)):
            penalties = np.append(np.sqrt(edges[1:] * edges[:-1]) * share, 1e9)
            sums += [1 - member.prune(p).score(X[test], y[test]) for p in penalties]
    np.testing.assert_allclose(rule.path_errors_.error, expected / 3)
    assert not np.allclose(expected, unscaled)
