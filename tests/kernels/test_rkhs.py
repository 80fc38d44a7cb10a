"""Kernels and kernel regression against explicit features, brute force, quadratic programmes and scikit-learn."""

import numpy as np
import pytest

from learnable.kernels import (
    EpsilonSVR,
    Gaussian,
    smo,
)
from learnable.kernels.rkhs import RKHSFunction, _Loss, representer_solve


def sinc_data(n, seed=0, noise=0.1):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-3, 3, n)
    return x[:, None], np.sinc(x) + noise * rng.normal(size=n)


def test_claim_04_rkhs_axioms():
    rng = np.random.default_rng(3)
    K = Gaussian(0.8)
    P, Q = rng.normal(size=(6, 2)), rng.normal(size=(5, 2))
    f, g = RKHSFunction(K, P, rng.normal(size=6)), RKHSFunction(K, Q, rng.normal(size=5))
    X = rng.normal(size=(7, 2))
    for x in X:
        section = RKHSFunction.section(K, x)
        assert f.inner(section) == pytest.approx(f(x[None])[0], abs=1e-10)
        assert f(x[None])[0] ** 2 <= section.norm**2 * f.norm**2
    assert abs(f.inner(g)) <= f.norm * g.norm
    assert f.inner(g) == pytest.approx(g.inner(f), abs=1e-12)
    h = 2.0 * f - g
    assert h.inner(f) == pytest.approx(2 * f.inner(f) - g.inner(f), abs=1e-10)
    np.testing.assert_allclose(h(X), 2 * f(X) - g(X), atol=1e-12)
    halves = RKHSFunction(K, np.vstack([P, P]), np.concatenate([0.3 * f.coef, 0.7 * f.coef]))
    assert halves.same_as(f)
    assert halves.inner(g) == pytest.approx(f.inner(g), abs=1e-10)
    assert not f.same_as(g)
    line = RKHSFunction("linear", [[1.0, 1.0]], [1.0])
    axes = RKHSFunction("linear", [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]], [1.0, 1.0, 9.0])
    assert line.same_as(axes)
    assert axes.norm == pytest.approx(np.sqrt(2))
    x, z = X[:1], X[1:2]
    difference = RKHSFunction.section(K, x) - RKHSFunction.section(K, z)
    assert difference.norm**2 == pytest.approx(2 - 2 * K(x, z)[0, 0], abs=1e-10)
    with pytest.raises(ValueError, match="one kernel"):
        f.inner(line)
    with pytest.raises(ValueError, match="one entry"):
        RKHSFunction(K, P, [1.0])


def test_claim_05_vectors_are_functions_but_square_integrable_functions_are_not_evaluated():
    def delta(X, Y):
        return (np.asarray(X)[:, :1] == np.asarray(Y)[:, 0]).astype(float)

    places = np.arange(1.0, 5.0)[:, None]
    v, w = np.array([3.0, -1.0, 2.0, 0.5]), np.array([1.0, 1.0, 0.0, 4.0])
    f, g = RKHSFunction(delta, places, v), RKHSFunction(delta, places, w)
    g.kernel = f.kernel
    np.testing.assert_allclose(f(places), v)
    assert f.inner(g) == pytest.approx(v @ w)
    heights = []
    for width in (1e-1, 1e-2, 1e-3):
        grid = np.linspace(0, 1, 200_001)
        bump = np.where(np.abs(grid - 0.5) < width / 2, 1 / np.sqrt(width), 0.0)
        assert np.trapezoid(bump**2, grid) == pytest.approx(1.0, abs=0.02)
        heights.append(bump[100_000])
    assert heights[2] > 3 * heights[1] > 9 * heights[0]


def test_claim_07_svm_in_coefficient_form():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(20, 2))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=20) > 0, 1.0, -1.0)
    X, y = np.vstack([X, X[:5]]), np.concatenate([y, y[:5]])
    K = Gaussian(1.0)(X)
    C = 2.0
    dual = smo.classification(K, y, C, tol=1e-10)
    u = dual.beta
    c = representer_solve(K, y, "hinge", 0.5, weight=C)
    np.testing.assert_allclose(K @ (c.coef - u), 0.0, atol=1e-5)
    assert np.abs(c.coef - u).max() > 1e-3
    assert (c.coef - u) @ K @ (c.coef - u) < 1e-8
    assert c.objective == pytest.approx(dual.dual, rel=1e-6)


@pytest.mark.parametrize(("loss", "model"), [("epsilon", EpsilonSVR)])
def test_representer_solver_of_kinked_losses(loss, model):
    X, y = sinc_data(50)
    K = Gaussian(0.5)(X)
    median = representer_solve(K, y, "quantile", 0.1, quantile=0.5, weight=2.0)
    absolute = EpsilonSVR(Gaussian(0.5), 0.1, 0.0, tol=1e-9).fit(X, y)
    assert median.objective == pytest.approx(absolute.objective_, rel=1e-6)
    high = representer_solve(K, y, "quantile", 0.1, quantile=0.9)
    assert np.mean(y <= high.values + 1e-6) >= 0.88


def test_newton_ends_where_the_representer_is_exact():
    """With squared hinges lam c_i = y_i (1 - y_i f_i)_+, and these sum to zero: both to rounding error."""
    x, values = sinc_data(40)
    y, K, lam = np.where(values > 0.3, 1.0, -1.0), Gaussian(0.5)(x), 1e-3
    answer = representer_solve(K, y, "hinge", lam, power=2)
    slack = y * np.maximum(1.0 - y * answer.values, 0.0)
    np.testing.assert_allclose(K @ answer.coef, K @ slack / lam, atol=1e-9)  # quasi-Newton steps alone: 1e-6
    assert abs(slack.sum()) < 1e-12


@pytest.mark.parametrize("loss", ["hinge", "epsilon", "quantile"])
def test_smoothed_losses_have_their_gradients(loss):
    """By differences, at points on both sides of the kink and inside the smooth piece."""
    f = np.linspace(-2.0, 2.0, 41) + 0.013
    y = np.where(np.arange(41) % 2, 1.0, -1.0)
    terms = _Loss(loss, y, 1, 0.1, 0.3, 2.0)
    _, gradient, _ = terms(f, 0.4)
    for i in range(0, 41, 4):
        move = 1e-6 * (np.arange(41) == i)
        assert (terms(f + move, 0.4)[0] - terms(f - move, 0.4)[0]) / 2e-6 == pytest.approx(gradient[i], abs=1e-6)
