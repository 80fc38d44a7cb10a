"""Classical rules: units, sizes and priors, and what is refused before it reaches compiled code."""

import numpy as np
import pytest
from scipy import stats
from sklearn.dummy import DummyRegressor
from sklearn.model_selection import StratifiedKFold

from learnable.foundations.classical_rules import (
    KNN,
    CARTClassifier,
    CARTRegressor,
    HistogramRule,
    MedianTree,
    ParametricPlugIn,
    PartitionRule,
    PlugIn,
    PlugInDensity,
    PlugInPair,
    Regressogram,
    exact_risk_1d,
    knn_limit_risk,
    knn_regions_1d,
)
from learnable.foundations.classical_rules.voting import VoronoiCells, weighted_limit_risk
from learnable.neighbors import NeighborIndex, squared_distances


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
        with pytest.raises(ValueError, match="X must have"):
            squared_distances(X, X)


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
    "MedianTree": MedianTree(max_depth=3),
    "PlugInPair": PlugInPair(),
    "gaussian": PlugInDensity(),
    "kde": PlugInDensity("kde"),
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


@pytest.mark.parametrize("name", ["CARTClassifier", "MedianTree", "PlugInPair", "gaussian"])
def test_columns_with_units_of_their_own_change_no_decision(name):
    """These look at one column at a time, or through the covariance; nearest neighbours and kernels do not."""
    X, y, Q = sample(5)
    units = np.array([1e8, 1e-8])
    rule = INVARIANT[name]
    assert rule.fit(units * X, y).predict(units * Q).tolist() == rule.fit(X, y).predict(Q).tolist()


@pytest.mark.parametrize("unit", [1e-200, 1e-160, 1e160, 1e307])
def test_only_ratios_of_weights_count(unit):
    """Three equal votes err with 3 eta^2 (1 - eta) + eta^3 or its mirror image, whatever a vote is worth."""
    eta = np.array([0.1, 0.2, 0.45])
    one = 3 * eta**2 * (1 - eta) + eta**3
    expected = eta * (1 - one) + (1 - eta) * one
    np.testing.assert_allclose(weighted_limit_risk(eta, unit * np.ones(3)), expected, rtol=1e-12)


@pytest.mark.parametrize("unit", [1e-100, 1e-8, 1e8, 1e100])
def test_histograms_scale_with_their_width(unit):
    X, y, Q = sample(6)
    for make in (lambda h: HistogramRule(h=h), lambda h: PlugInDensity("histogram", h)):
        expected = make(0.5).fit(X, y).predict(Q).tolist()
        assert make(0.5 * unit).fit(unit * X, y).predict(unit * Q).tolist() == expected
    means = Regressogram(h=0.5).fit(X, X[:, 1]).predict(Q)
    scaled = Regressogram(h=0.5 * unit).fit(unit * X, unit * X[:, 1]).predict(unit * Q)
    np.testing.assert_allclose(scaled, unit * means, rtol=1e-12)


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
        np.testing.assert_allclose(rule.cv_errors_[-1], np.mean(rule.cv_errors_[-1:]))
    assert leaves[0] == leaves[1] == leaves[2] > 1


def test_far_cells_are_cells_and_too_far_ones_are_refused():
    rule = HistogramRule(h=1.0).fit([[1e150], [-1e150], [0.5]], [1, 0, 1])
    assert rule.predict([[1e150], [-1e150], [0.2], [-0.2]]).tolist() == [1, 0, 1, 0]
    with pytest.raises(ValueError, match="X must be less than"):
        HistogramRule(h=1e-200).fit([[1e150], [2e150]], [0, 1])


def test_a_constant_class_and_tiny_data_are_told_apart():
    x = np.r_[np.linspace(1, 2, 20), np.linspace(4, 5, 20)][:, None] * 1e-149
    y = np.repeat([0, 1], 20)
    for rule in (ParametricPlugIn(), PlugInDensity(), PlugInDensity("kde"), PlugInDensity("histogram")):
        assert rule.fit(x, y).score(x, y) == 1.0
    with pytest.raises(ValueError, match="X must have a largest"):
        PlugInDensity().fit(x * 1e-10, y)


# --- what the estimates are made of: mutants of these lines must not survive -----------------------------------------


def uneven(n_zero, n_one, seed=0):
    rng = np.random.default_rng(seed)
    X = np.r_[rng.normal(0, 1, n_zero), rng.normal(1.5, 1, n_one)][:, None]
    return X, np.repeat([0, 1], [n_zero, n_one])


@pytest.mark.parametrize("density", ["gaussian", "kde", "histogram"])
def test_density_plug_ins_weigh_with_the_priors(density):
    X, y = uneven(300, 60)
    rule = PlugInDensity(density).fit(X, y)
    np.testing.assert_allclose(rule.log_priors_, np.log([300 / 360, 60 / 360]))
    grid = np.linspace(-3, 5, 161)[:, None]
    zero, one = (np.asarray(f(grid)) for f in rule.densities_)
    expected = one + np.log(60) > zero + np.log(300)
    assert rule.predict(grid).tolist() == expected.astype(int).tolist()
    assert (expected != (one > zero)).any()  # the priors matter here


def test_parametric_plug_ins_weigh_with_the_priors():
    X, y = uneven(300, 60, seed=1)
    rule = ParametricPlugIn().fit(X, y)
    assert rule.pi_ == 60 / 360
    x = np.linspace(-3, 5, 161)
    laws = [stats.norm(X[y == c, 0].mean(), X[y == c, 0].std()) for c in (0, 1)]
    expected = laws[1].pdf(x) * 60 > laws[0].pdf(x) * 300
    assert rule.predict(x[:, None]).tolist() == expected.astype(int).tolist()
    assert (expected != (laws[1].pdf(x) > laws[0].pdf(x))).any()


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("width", [0.5, 2.0])
def test_a_histogram_density_integrates_to_one(width, d):
    """Its height is count / (n width^d)."""
    X, y, _ = sample(9, d=d)
    rule = PlugInDensity("histogram", width).fit(X, y)
    for c in (0, 1):
        cells, counts = np.unique(np.floor(X[y == c] / width), axis=0, return_counts=True)
        heights = np.exp(rule.densities_[c]((cells + 0.5) * width))
        np.testing.assert_allclose(heights, counts / (counts.sum() * width**d))
        assert heights.sum() * width**d == pytest.approx(1.0)


def test_minus_zero_lies_in_the_cube_of_zero():
    rule = HistogramRule(1.0).fit([[-0.0], [-0.5], [-0.3]], [1, 0, 0])
    assert rule.predict([[0.5], [0.0], [-0.0], [-0.2]]).tolist() == [1, 1, 1, 0]
    density = PlugInDensity("histogram", 1.0).fit([[-0.0], [0.4], [3.0]], [1, 1, 0]).densities_[1]
    np.testing.assert_allclose(np.exp(density(np.array([[0.7], [-0.0], [0.0]]))), 1.0)


def test_equal_estimates_of_a_pair_go_to_the_first_class():
    rule = PlugInPair(DummyRegressor(), DummyRegressor()).fit([[0.0], [1.0]], ["a", "b"])  # both say one half
    assert rule.predict([[0.0], [5.0]]).tolist() == ["a", "a"]


def test_default_widths_are_those_of_the_docstring():
    X, y, _ = sample(10, d=2)
    n, spread = np.bincount(y), [X[y == c].std(axis=0).mean() for c in (0, 1)]
    kde = PlugInDensity("kde").fit(X, y)
    widths = [f.__self__.bandwidth for f in kde.densities_]
    np.testing.assert_allclose(widths, [s * m ** (-1 / 6) for s, m in zip(spread, n, strict=True)])
    histogram = PlugInDensity("histogram").fit(X, y)
    widths = [f.width for f in histogram.densities_]
    np.testing.assert_allclose(widths, [3.5 * s * m ** (-1 / 4) for s, m in zip(spread, n, strict=True)])


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
    np.testing.assert_allclose(rule.cv_errors_, expected / 3)
    assert not np.allclose(expected, unscaled)


@pytest.mark.parametrize(("n", "levels"), [(16, 2), (63, 2), (64, 3), (1000, 4)])
def test_the_default_depth_of_a_median_tree_is_half_the_logarithm(n, levels):
    X = np.random.default_rng(n).normal(size=(n, 1))
    y = (np.arange(n) % 2).astype(int)
    cells = MedianTree().fit(X, y)._votes
    assert len(cells) == 2**levels


def test_a_median_tree_deeper_than_the_stack_of_python():
    """Equal rows are never separated, so every level cuts again."""
    rule = MedianTree(max_depth=5000).fit(np.ones((4, 1)), [0, 1, 1, 1])
    assert rule.predict([[1.0], [2.0]]).tolist() == [1, 0]


def test_the_trap_of_consistent_estimates_costs_three_quarters():
    """Every one is missed, and the zeros in [−θ̂, 0] are taken for ones: ½ + ¼ (the docstring of the rule)."""
    rng = np.random.default_rng(12)
    y = rng.integers(0, 2, 20_000)
    X = np.where(y == 1, rng.random(20_000), -2 * rng.random(20_000))[:, None]
    rule = ParametricPlugIn("weird_uniform", "weird_uniform").fit(X, y)
    error = np.mean(rule.predict(X) != y)
    assert error == pytest.approx(0.75, abs=4 * np.sqrt(0.75 * 0.25 / 20_000))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: PlugInDensity("kde", width=0).fit([[1.0], [2.0]], [0, 1]), "width"),
        (lambda: PlugInDensity("histogram", width=0).fit([[1.0], [2.0]], [0, 1]), "width"),
        (lambda: PlugIn().fit([[1e200], [2e200]], [0, 1]), "X must have"),
        (lambda: ParametricPlugIn("exponential").fit([[-1.0], [-2.0], [1.0], [2.0]], [0, 0, 1, 1]), "negative"),
        (lambda: PartitionRule("cells").fit([[1.0], [2.0]], [0, 1]), "cell_id"),
        (lambda: NeighborIndex([[1.0], [2.0]]).query([[1.0]], 1, exclude=[0.5]), "exclude"),
        (lambda: NeighborIndex([[1.0], [2.0]]).query([[1.0]], 1, exclude=[0, 1]), "exclude"),
        (lambda: weighted_limit_risk(0.2, [np.nan]), "weights"),
        (lambda: weighted_limit_risk(1.2, [1.0]), "eta"),
        (lambda: knn_limit_risk("half", 1), "eta"),
        (lambda: knn_regions_1d([1.0, 2.0], [0], 1), "y must hold one label"),
        (lambda: knn_regions_1d([1.0, np.nan], [0, 1], 1), "x must be finite"),
        (lambda: exact_risk_1d([0.0, 1.0], [0, 1], None), "one fewer"),
        (lambda: exact_risk_1d([0.0, 1.0], [2], None), "zeros and ones"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
