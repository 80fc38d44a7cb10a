"""Kernels and kernel regression against explicit features, brute force, quadratic programmes and scikit-learn."""

import numpy as np
import pytest
from scipy import optimize
from sklearn.svm import SVR

from learnable.kernels import (
    EpsilonRidge,
    EpsilonSVR,
    Gaussian,
)
from learnable.kernels.rkhs import representer_solve
from learnable.kernels.svr import epsilon_loss


def sinc_data(n, seed=0, noise=0.1):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-3, 3, n)
    return x[:, None], np.sinc(x) + noise * rng.normal(size=n)


@pytest.mark.parametrize(("loss", "power"), [("squared", 1), ("logistic", 1), ("hinge", 2), ("epsilon", 2)])
def test_claim_06_minimisers_lie_in_the_span_of_the_data(loss, power):
    rng = np.random.default_rng(4)
    n, m = 6, 12
    F = rng.normal(size=(n, m))
    y = np.sign(rng.normal(size=n)) if loss in ("logistic", "hinge") else rng.normal(size=n)
    if loss in ("logistic", "hinge"):
        y[:2] = [1.0, -1.0]
    parts = {
        "squared": lambda f: ((y - f) ** 2).sum(),
        "logistic": lambda f: np.logaddexp(0, -y * f).sum(),
        "hinge": lambda f: (np.maximum(1 - y * f, 0) ** 2).sum(),
        "epsilon": lambda f: epsilon_loss(y - f, 0.1, 2),
    }

    def objective(w, omega=lambda t: t):
        return omega(w @ w) + parts[loss](F @ w)

    free = optimize.minimize(objective, np.zeros(m), method="BFGS", options={"gtol": 1e-9}).x
    projection = np.linalg.pinv(F) @ F
    assert np.linalg.norm(free - projection @ free) < 1e-6 * np.linalg.norm(free)
    answer = representer_solve(F @ F.T, y, loss, 1.0, power=power, intercept=False)
    np.testing.assert_allclose(F.T @ answer.coef, free, atol=1e-5)
    assert answer.objective == pytest.approx(objective(free), abs=1e-8)
    orthogonal = rng.normal(size=m)
    orthogonal -= projection @ orthogonal
    w = F.T @ answer.coef
    assert objective(w + orthogonal) - objective(w) == pytest.approx(orthogonal @ orthogonal, abs=1e-8)
    curved = representer_solve(
        F @ F.T, y, loss, (lambda t: t + t**2, lambda t: 1 + 2 * t), power=power, intercept=False
    )
    other = optimize.minimize(objective, np.zeros(m), args=(lambda t: t + t**2,), method="BFGS", options={"gtol": 1e-9})
    assert curved.objective == pytest.approx(other.fun, abs=1e-7)


def test_claim_13_support_vector_regression():
    X, y = sinc_data(80)
    lam, eps = 0.1, 0.1
    fit = EpsilonSVR(Gaussian(0.5), lam, eps, tol=1e-10).fit(X, y)
    peer = SVR(kernel="rbf", gamma=2.0, C=1 / (2 * lam), epsilon=eps, tol=1e-10).fit(X, y)
    coef = np.zeros(80)
    coef[peer.support_] = peer.dual_coef_[0]
    np.testing.assert_allclose(fit.dual_coef_, coef, atol=1e-4)
    assert fit.intercept_ == pytest.approx(peer.intercept_[0], abs=1e-5)
    residual = y - fit.predict(X)
    size = np.abs(fit.gamma_)
    inside, bound = size == 0, size > 1 - 1e-9
    between = ~inside & ~bound
    assert inside.any() and bound.any() and between.any()
    assert (np.abs(residual[inside]) <= eps + 1e-8).all()
    assert (np.abs(residual[bound]) >= eps - 1e-8).all()
    np.testing.assert_allclose(residual[between], eps * np.sign(fit.gamma_[between]), atol=1e-8)
    assert (size <= 1 + 1e-12).all()


@pytest.mark.parametrize("model", [EpsilonSVR, EpsilonRidge])
def test_claim_13_wide_tubes_fit_a_constant(model):
    X, y = sinc_data(30)
    fit = model(Gaussian(0.5), 0.1, np.ptp(y) / 2 + 0.01).fit(X, y)
    assert not fit.gamma_.any()
    assert np.ptp(fit.predict(X)) == 0.0
    assert fit.objective_ == 0.0
    assert fit.support_.size == 0
    low, high = fit.intercept_interval_
    assert low <= fit.intercept_ <= high


@pytest.mark.parametrize("machine", [EpsilonSVR, EpsilonRidge])
def test_the_tolerance_has_the_unit_of_the_response(machine):
    """In another unit of y the same steps lead to the same function, and the solver stops at the same one."""
    X, y = sinc_data(40)
    alpha, epsilon, unit = 0.1, 0.05, 2.0**20  # a power of two: no digit changes
    plain = machine(gamma=0.5, alpha=alpha, epsilon=epsilon, tol=1e-3).fit(X, y)
    price = alpha / unit if machine is EpsilonSVR else alpha  # the loss has the unit of y or of its square
    scaled = machine(gamma=0.5, alpha=price, epsilon=unit * epsilon, tol=1e-3).fit(X, unit * y)
    assert scaled.n_iter_ == plain.n_iter_ > 20
    np.testing.assert_allclose(scaled.dual_coef_, unit * plain.dual_coef_, rtol=1e-12)
