"""Classical rules: units, sizes and priors, and what is refused before it reaches compiled code."""

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor

from learnable.ensembles import CARTClassifier
from learnable.foundations import KNN, ParametricPlugIn
from learnable.foundations.voting import PartitionRule
from learnable.neighbors import NeighborIndex

from .classical_rules_cases import PlugInPair, VoronoiCells


def sample(seed=0, n=80, d=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X[:, 0] + 0.5 * rng.normal(size=n) > 0).astype(int)
    return X, y, rng.normal(size=(60, d))


@pytest.mark.parametrize("method", ["brute", "tree", "line"])
@pytest.mark.parametrize("size", [1e154, 1e308, 1e-160])
def test_distances_that_are_no_numbers_are_refused(method, size):
    """At 1e154 squares overflow: the search returned uninitialised indices and ended the interpreter."""
    X = size * (np.arange(1.0, 40.0)[:, None] / 40)
    X = X if method == "line" else np.column_stack([X, X[::-1]])
    with pytest.raises(ValueError, match="X must have a largest absolute value"):
        KNN(k=3, method=method).fit(X, np.arange(39) % 2)
    if size > 1:
        index = NeighborIndex(X / size, method)
        with pytest.raises(ValueError, match="Q must have a largest absolute value"):
            index.query(X, 3)
        with pytest.raises(ValueError, match="Q must have"):
            VoronoiCells(X / size).owner(X)


@pytest.mark.parametrize("method", ["brute", "tree"])
@pytest.mark.parametrize("unit", [2.0**-490, 2.0**490])
def test_neighbours_at_the_border_of_the_accepted_sizes_are_right(method, unit):
    X, _, Q = sample()
    expected = NeighborIndex(X, method).query(Q, 5)
    found = NeighborIndex(unit * X, method).query(unit * Q, 5)
    np.testing.assert_array_equal(found[1], expected[1])
    np.testing.assert_array_equal(found[0], unit**2 * expected[0])


INVARIANT = {
    "KNN": KNN(k=5),
    "CARTClassifier": CARTClassifier(),
    "family": ParametricPlugIn(),
    "uniform": ParametricPlugIn("uniform", "gaussian"),
}
"""Rules whose decisions may depend neither on the unit of X nor on its origin."""


@pytest.mark.parametrize("name", INVARIANT)
@pytest.mark.parametrize("unit", [1e-100, 1e-8, 1e8, 1e100])
def test_the_unit_of_the_features_changes_no_decision(name, unit):
    X, y, Q = sample(3, d=1 if name in ("family", "uniform") else 2)
    rule = INVARIANT[name]
    expected = rule.fit(X, y).predict(Q).tolist()
    assert rule.fit(unit * X, y).predict(unit * Q).tolist() == expected


@pytest.mark.parametrize("name", INVARIANT)
def test_the_origin_of_the_features_changes_no_decision(name):
    X, y, Q = sample(4, d=1 if name in ("family", "uniform") else 2)
    X, Q = np.round(X, 6), np.round(Q, 6)
    rule = INVARIANT[name]
    assert rule.fit(X + 1e4, y).predict(Q + 1e4).tolist() == rule.fit(X, y).predict(Q).tolist()


@pytest.mark.parametrize("name", ["CARTClassifier"])
def test_columns_with_units_of_their_own_change_no_decision(name):
    """These look at one column at a time, or through the covariance; nearest neighbours and kernels do not."""
    X, y, Q = sample(5)
    units = np.array([1e8, 1e-8])
    rule = INVARIANT[name]
    assert rule.fit(units * X, y).predict(units * Q).tolist() == rule.fit(X, y).predict(Q).tolist()


def test_equal_estimates_of_a_pair_go_to_the_first_class():
    rule = PlugInPair(DummyRegressor(), DummyRegressor()).fit([[0.0], [1.0]], ["a", "b"])  # both say one half
    assert rule.predict([[0.0], [5.0]]).tolist() == ["a", "a"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ParametricPlugIn("exponential").fit([[-1.0], [-2.0], [1.0], [2.0]], [0, 0, 1, 1]), "negative"),
        (lambda: PartitionRule("cells").fit([[1.0], [2.0]], [0, 1]), "cell_id"),
        (lambda: NeighborIndex([[1.0], [2.0]]).query([[1.0]], 1, exclude=[0.5]), "exclude"),
        (lambda: NeighborIndex([[1.0], [2.0]]).query([[1.0]], 1, exclude=[0, 1]), "exclude"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
