"""Classical rules: units, sizes and priors, and what is refused before it reaches compiled code."""

import numpy as np
import pytest
from scipy import stats

from learnable.foundations import ParametricPlugIn

from .classical_rules_cases import PlugInDensity


def sample(seed=0, n=80, d=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X[:, 0] + 0.5 * rng.normal(size=n) > 0).astype(int)
    return X, y, rng.normal(size=(60, d))


"""Rules whose decisions may depend neither on the unit of X nor on its origin."""


def test_a_constant_class_and_tiny_data_are_told_apart():
    x = np.r_[np.linspace(1, 2, 20), np.linspace(4, 5, 20)][:, None] * 1e-149
    y = np.repeat([0, 1], 20)
    for rule in (ParametricPlugIn(), PlugInDensity(), PlugInDensity("kde"), PlugInDensity("histogram")):
        assert rule.fit(x, y).score(x, y) == 1.0
    with pytest.raises(ValueError, match="X must have a largest"):
        PlugInDensity().fit(x * 1e-10, y)


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


def test_default_widths_are_those_of_the_docstring():
    X, y, _ = sample(10, d=2)
    n, spread = np.bincount(y), [X[y == c].std(axis=0).mean() for c in (0, 1)]
    kde = PlugInDensity("kde").fit(X, y)
    widths = [f.__self__.bandwidth for f in kde.densities_]
    np.testing.assert_allclose(widths, [s * m ** (-1 / 6) for s, m in zip(spread, n, strict=True)])
    histogram = PlugInDensity("histogram").fit(X, y)
    widths = [f.width for f in histogram.densities_]
    np.testing.assert_allclose(widths, [3.5 * s * m ** (-1 / 4) for s, m in zip(spread, n, strict=True)])


def test_the_trap_of_consistent_estimates_costs_three_quarters():
    """Every one is missed, and the zeros in [−θ̂, 0] are taken for ones: ½ + ¼ (the docstring of the rule)."""
    rng = np.random.default_rng(12)
    y = rng.integers(0, 2, 20_000)
    X = np.where(y == 1, rng.random(20_000), -2 * rng.random(20_000))[:, None]
    rule = ParametricPlugIn("weird_uniform", "weird_uniform").fit(X, y)
    error = np.mean(rule.predict(X) != y)
    assert error == pytest.approx(0.75, abs=4 * np.sqrt(0.75 * 0.25 / 20_000))


@pytest.mark.parametrize("unit", [1e-100, 1e-8, 1e8, 1e100])
def test_histogram_densities_scale_with_their_width(unit):
    X, y, Q = sample(6)
    expected = PlugInDensity("histogram", 0.5).fit(X, y).predict(Q).tolist()
    assert PlugInDensity("histogram", 0.5 * unit).fit(unit * X, y).predict(unit * Q).tolist() == expected


def test_minus_zero_lies_in_the_cell_of_zero():
    density = PlugInDensity("histogram", 1.0).fit([[-0.0], [0.4], [3.0]], [1, 1, 0]).densities_[1]
    np.testing.assert_allclose(np.exp(density(np.array([[0.7], [-0.0], [0.0]]))), 1.0)
