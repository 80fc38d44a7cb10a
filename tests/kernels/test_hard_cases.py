"""Cases that once went wrong without a word: units, orders of rows, precision, arguments at the edge."""

import itertools

import numpy as np
import pytest

from learnable.chapters.kernels_and_regression.theory import epsilon_objective
from learnable.kernels import (
    EpsilonRidge,
    EpsilonSVR,
    OneVersusRestPath,
    SoftMarginSVM,
    SquaredNuSVM,
    SVMPath,
    cv_path,
    smo,
)


@pytest.mark.parametrize("machine", [EpsilonSVR, EpsilonRidge])
@pytest.mark.parametrize("unit", [1.0, 1e3])
def test_few_points_in_a_small_unit_need_few_steps(machine, unit):
    """Pairs alone crawl here: 24 points times 1000 took more than 10^7 of them."""
    rng = np.random.default_rng(0)
    X = 1e3 * rng.standard_normal((24, 3))
    y = unit * (X @ [1e-3, 2e-3, -1e-3] + 0.1 * rng.standard_normal(24))
    model = machine("linear", max_iter=100_000).fit(X, y)
    assert model.n_iter_ < 50_000
    assert 0 <= model.dual_gap_ + 1e-12 * model.objective_ < 1e-5 * model.objective_


@pytest.mark.parametrize("equality", [True, False])
def test_the_solver_goes_on_in_double_precision(equality):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3)) + 30.0
    y = np.where(X[:, 0] + 0.3 * rng.standard_normal(60) > 30.0, 1, -1)
    cache = smo.ColumnCache("linear", 100.0 * X, dtype=np.float32)
    found = smo.classification(cache, y, 5.0, equality=equality, tol=1e-3)
    exact = smo.classification(1e4 * X @ X.T, y, 5.0, equality=equality, tol=1e-3)
    assert found.converged
    assert found.primal == pytest.approx(exact.primal, rel=1e-3)
    K = 1e4 * X @ X.T
    slack = np.maximum(1 - y * (K @ found.beta + found.offset), 0)
    assert found.primal == pytest.approx(0.5 * found.beta @ K @ found.beta + 5.0 * slack.sum(), rel=1e-6)


@pytest.mark.parametrize("D", [2.0, 0.5])
def test_the_order_of_rows_does_not_decide_whether_a_price_exists(D):
    X, y = np.array([[-1.0], [0.2], [-0.2], [1.0]]), np.array([0, 0, 1, 1])
    for order in itertools.permutations(range(4)):
        with pytest.raises(ValueError, match=r"no price C belongs to a D above 0\.1389"):
            SquaredNuSVM(D=D).fit(X[list(order)], y[list(order)])


def test_the_order_of_rows_does_not_change_the_margin():
    X, y = np.array([[-1.0], [0.2], [-0.2], [1.0]]), np.array([0, 0, 1, 1])
    margins = [
        SquaredNuSVM(D=0.12).fit(X[list(order)], y[list(order)]).margin_ for order in itertools.permutations(range(4))
    ]
    np.testing.assert_allclose(margins, margins[0], rtol=1e-6)


@pytest.mark.parametrize("scale", [1e100, 1e150])
def test_kernel_values_whose_squares_overflow_are_refused(scale):
    rng = np.random.default_rng(0)
    X = scale * rng.standard_normal((20, 2))
    y = np.arange(20) % 3
    path = SVMPath(kernel="linear")
    with pytest.raises(ValueError, match=r"largest absolute value|finite"):
        OneVersusRestPath(path).fit(X, y)
    with pytest.raises(ValueError, match=r"largest absolute value|finite"):
        SoftMarginSVM(tol=1e-8).fit(X, y > 0)


def test_the_width_of_the_data_serves_the_path_in_any_unit():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.standard_normal((15, 2)) + m for m in ([0, 0], [4, 0], [0, 4])])
    y = np.repeat([0, 1, 2], 15)
    expected = OneVersusRestPath().fit(X, y).predict(X)
    for scale in (1e-140, 1e140):
        np.testing.assert_array_equal(OneVersusRestPath().fit(scale * X, y).predict(scale * X), expected)


@pytest.mark.parametrize("shape", [(6, 4), (4, 6)])
def test_a_precomputed_matrix_must_be_square(shape):
    A, y = np.random.default_rng(0).standard_normal(shape), np.arange(shape[0]) % 2
    for model in (SoftMarginSVM(kernel="precomputed"), SVMPath(kernel="precomputed")):
        with pytest.raises(ValueError, match="square"):
            model.fit(A, y)
    with pytest.raises(ValueError, match="square"):
        cv_path(A, y, 2, path=SVMPath(kernel="precomputed"))


@pytest.mark.parametrize("machine", [EpsilonSVR, EpsilonRidge])
def test_the_gap_is_that_of_primal_and_dual_by_hand(machine):
    """At a loose tolerance the gap is far from rounding, and each of its terms counts."""
    rng = np.random.default_rng(4)
    X = rng.standard_normal((40, 2))
    y = X[:, 0] ** 2 + 0.3 * rng.standard_normal(40)
    alpha, epsilon, power = 0.2, 0.15, 1 if machine is EpsilonSVR else 2
    model = machine(gamma=0.5, alpha=alpha, epsilon=epsilon, tol=3e-2).fit(X, y)
    K, c = model.kernel_(X), model.dual_coef_
    primal = epsilon_objective(K, y, c, model.intercept_, alpha, epsilon, power)
    gamma = 2 * alpha * c
    dual = gamma @ y - gamma @ K @ gamma / (4 * alpha) - epsilon * np.abs(gamma).sum()
    dual -= gamma @ gamma / 4 if power == 2 else 0.0
    assert model.objective_ == pytest.approx(primal, rel=1e-6)
    assert model.dual_gap_ == pytest.approx(primal - dual, rel=1e-3)
    assert model.dual_gap_ > 1e-4 * primal
