"""Kernels and kernel regression against explicit features, brute force, quadratic programmes and scikit-learn."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge as SklearnKernelRidge

from learnable.kernels import (
    EpsilonRidge,
    EpsilonSVR,
    Gaussian,
    KernelRidge,
    Linear,
    center_gram,
    kernel_ridge_path,
)
from learnable.linear import Ridge


def sinc_data(n, seed=0, noise=0.1):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-3, 3, n)
    return x[:, None], np.sinc(x) + noise * rng.normal(size=n)


def linear_data(n, d, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + rng.normal(size=d)
    return X, X @ rng.normal(size=d) + 2.0 + rng.normal(size=n)


def test_claim_12_all_solutions_give_one_function_and_small_penalties_interpolate():
    X, y = sinc_data(30)
    X = np.vstack([X, X[:3]])
    y = np.append(y, y[:3] + 0.1)
    kernel, lam = Gaussian(0.5), 0.2
    K0 = center_gram(kernel(X))
    model = KernelRidge(kernel, lam).fit(X, y)
    null = np.zeros(33)
    null[[0, 30]] = [1.0, -1.0]
    np.testing.assert_allclose(K0 @ null, 0.0, atol=1e-14)
    other = model.dual_coef_ + 5.0 * null
    np.testing.assert_allclose(K0 @ ((K0 + lam * np.eye(33)) @ other - (y - y.mean())), 0.0, atol=1e-10)
    grid = np.linspace(-3, 3, 20)[:, None]
    np.testing.assert_allclose(kernel(grid, X) @ other, kernel(grid, X) @ model.dual_coef_, atol=1e-12)
    distinct, target = np.linspace(-3, 3, 30)[:, None], sinc_data(30)[1]
    sharp = Gaussian(0.2)
    assert np.linalg.matrix_rank(center_gram(sharp(distinct))) == 29
    assert np.abs(KernelRidge(sharp, 1e-9).fit(distinct, target).predict(distinct) - target).max() < 1e-7


def test_kernel_ridge_equals_scikit_learn_on_the_centred_kernel():
    X, y = linear_data(30, 3)
    kernel = Gaussian(2.0)
    K0 = center_gram(kernel(X))
    peer = SklearnKernelRidge(alpha=0.5, kernel="precomputed").fit(K0, y - y.mean())
    model = KernelRidge(kernel, 0.5).fit(X, y)
    np.testing.assert_allclose(model.predict(X), peer.predict(K0) + y.mean(), atol=1e-9)
    linear = KernelRidge("linear", 0.5).fit(X, y)
    np.testing.assert_allclose(linear.predict(X), Ridge(0.5).fit(X, y).predict(X), atol=1e-9)
    precomputed = KernelRidge("precomputed", 0.5).fit(kernel(X), y)
    np.testing.assert_allclose(precomputed.predict(kernel(X[:4], X)), model.predict(X[:4]), atol=1e-10)


@pytest.mark.parametrize(
    ("kernel", "case"), [(Gaussian(1.0), "low rank"), (Gaussian(0.02), "full rank"), (Linear(), "line")]
)
def test_kernel_ridge_path_matches_fits_and_brute_force(kernel, case):
    X, y = sinc_data(60)
    K = kernel(X)
    lams = [1e-4, 0.1, 10.0]
    path = kernel_ridge_path(K, y, lams)
    assert (path.rank < 30) == (case != "full rank")
    for k, lam in enumerate(lams):
        model = KernelRidge(kernel, lam).fit(X, y)
        np.testing.assert_allclose(path.dual_coefs[k], model.dual_coef_, atol=1e-7 / lam)
        np.testing.assert_allclose(path.fitted[k], model.predict(X), atol=1e-7)
        assert path.intercepts[k] == pytest.approx(model.intercept_, abs=1e-6)
        K0 = center_gram(K)
        H = K0 @ np.linalg.inv(K0 + lam * np.eye(60)) + 1 / 60
        assert path.df[k] == pytest.approx(np.trace(H), rel=1e-6)
        rss = ((y - path.fitted[k]) ** 2).sum()
        assert path.gcv[k] == pytest.approx(60 * rss / (60 - np.trace(H)) ** 2, rel=1e-5)
        for i in range(0, 60, 11):
            rest = np.arange(60) != i
            left = y[i] - KernelRidge(kernel, lam).fit(X[rest], y[rest]).predict(X[i : i + 1])[0]
            assert path.loo_residuals[k, i] == pytest.approx(left, rel=1e-5, abs=1e-7)
    assert path.loo_mse[path.best] == path.loo_mse.min()


def test_large_problems_by_conjugate_gradients_without_the_gram_matrix(monkeypatch):
    X, y = sinc_data(150)
    exact = KernelRidge(Gaussian(0.5), 0.1).fit(X, y)
    monkeypatch.setattr("learnable.kernels.ridge.LARGEST_GRAM", 100)
    blocks = KernelRidge(Gaussian(0.5), 0.1, solver="cg").fit(X, y)
    np.testing.assert_allclose(blocks.dual_coef_, exact.dual_coef_, atol=1e-6)
    with pytest.raises(RuntimeError, match="max_iter"):
        KernelRidge(Gaussian(0.5), 1e-6, solver="cg", max_iter=2).fit(X, y)


def test_claim_13_tube_with_squares():
    X, y = sinc_data(80)
    lam, eps = 0.2, 0.1
    fit = EpsilonRidge(Gaussian(0.5), lam, eps, tol=1e-11).fit(X, y)
    residual = y - fit.predict(X)
    outside = np.maximum(np.abs(residual) - eps, 0.0)
    np.testing.assert_allclose(outside, np.abs(fit.gamma_) / 2, atol=1e-8)
    S = fit.support_
    each = y[S] - Gaussian(0.5)(X)[S] @ fit.dual_coef_ - fit.gamma_[S] / 2 - eps * np.sign(fit.gamma_[S])
    assert np.ptp(each) < 1e-8
    assert fit.intercept_ == pytest.approx(each.mean(), abs=1e-8)
    assert 0 < S.size < 80
    ridge = KernelRidge(Gaussian(0.5), lam).fit(X, y)
    flat = EpsilonRidge(Gaussian(0.5), lam, 0.0, tol=1e-11).fit(X, y)
    np.testing.assert_allclose(flat.predict(X), ridge.predict(X), atol=1e-8)


def test_experiment_1_sparsity_follows_the_noise():
    rng = np.random.default_rng(0)
    x = rng.uniform(-3, 3, 200)
    y = np.sinc(x) + 0.1 * rng.normal(size=200)
    shares = [
        EpsilonSVR(Gaussian(0.5), 0.1, eps).fit(x[:, None], y).support_.size / 200 for eps in (0.0, 0.05, 0.1, 0.2)
    ]
    assert (np.diff(shares) < 0).all()
    assert shares[0] > 0.98
    assert abs(shares[2] - 0.317) < 0.12
    assert KernelRidge(Gaussian(0.5), 0.1).fit(x[:, None], y).support_.size == 200


def test_erratum_sign_in_the_intercept():
    X, y = sinc_data(12)
    K = Gaussian(0.5)(X)
    shifted = KernelRidge(Gaussian(0.5), 0.1).fit(X, y).dual_coef_ + 0.3
    # <sum alpha Phi0, Phi_S> for coefficients that do not sum to zero.
    direct = shifted @ (K.mean(axis=1) - K.mean())
    right = K.mean(axis=0) @ shifted - shifted.sum() * K.mean()
    printed = K.mean(axis=0) @ shifted + shifted.sum() * K.mean()
    assert direct == pytest.approx(right)
    assert abs(printed - direct) > 0.1


def test_gcv_has_a_limit_where_the_penalty_vanishes():
    """Interpolation: residuals and n - df vanish together, and n sum r^2 / (n - df)^2 tends to n sum d^2 / (tr G)^2."""
    K, y = np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([0.0, 4.0])
    small, limit = kernel_ridge_path(K, y, [1e-300, 1e-9]).gcv
    assert small == pytest.approx(limit, rel=1e-8) and np.isfinite(small)


@pytest.mark.parametrize("width", [0.05, 2.0])  # full rank by the tridiagonal form, low rank by the spectrum
def test_several_responses_and_no_intercept(width):
    rng = np.random.default_rng(0)
    X, Y = rng.uniform(-3, 3, size=(80, 1)), rng.normal(size=(80, 3))
    K, alphas = Gaussian(width)(X), np.array([0.01, 1.0])
    plain = kernel_ridge_path(K, Y, alphas, fit_intercept=False)
    for k, alpha in enumerate(alphas):
        inverse = np.linalg.inv(K + alpha * np.eye(80))
        np.testing.assert_allclose(plain.dual_coefs[k], inverse @ Y, atol=1e-8)
        np.testing.assert_allclose(plain.loo_residuals[k], (inverse @ Y) / np.diagonal(inverse)[:, None], atol=1e-8)
        assert plain.df[k] == pytest.approx(80 - alpha * np.trace(inverse))
    assert not plain.intercepts.any()
    several = kernel_ridge_path(K, Y, alphas)
    for t in range(3):
        one = kernel_ridge_path(K, Y[:, t], alphas)
        for name in ("dual_coefs", "intercepts", "fitted", "loo_residuals", "loo_mse", "gcv"):
            np.testing.assert_allclose(getattr(several, name)[..., t], getattr(one, name), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(several.df, one.df)
