"""Kernels and kernel regression against explicit features, brute force, quadratic programmes and scikit-learn."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from learnable.linear import Lasso, Ridge
from learnable.optim.homotopy import lasso_homotopy


def test_claim_11_bias_and_variance():
    rng = np.random.default_rng(7)
    n, d, noise, x0 = 20, 4, 1.0, np.array([1.0, -0.5, 0.3, 0.8])
    X, w = rng.normal(size=(n, d)), np.array([1.0, 2.0, -1.0, 0.5])
    variances, biases = [], []
    for lam in (0.5, 5.0, 50.0):
        y = (X @ w)[:, None] + noise * rng.normal(size=(n, 2000))
        Z = X - X.mean(axis=0)
        coefs = np.linalg.solve(Z.T @ Z + lam * np.eye(d), Z.T @ (y - y.mean(axis=0)))
        np.testing.assert_allclose(coefs[:, 0], Ridge(lam).fit(X, y[:, 0]).coef_, atol=1e-10)
        predictions = y.mean(axis=0) + (x0 - X.mean(axis=0)) @ coefs
        fresh = x0 @ w + noise * rng.normal(size=2000)
        squares = (fresh - predictions) ** 2
        bias, variance = x0 @ w - predictions.mean(), predictions.var()
        total = noise**2 + bias**2 + variance
        assert abs(squares.mean() - total) < 3.5 * squares.std() / np.sqrt(2000)
        variances.append(variance)
        biases.append(bias**2)
    assert (np.diff(variances) < 0).all()
    assert (np.diff(biases) > 0).all()


def test_erratum_the_lasso_path_is_exact():
    X, y = load_diabetes(return_X_y=True)
    path = lasso_homotopy(X, y, center=True)
    middle = 0.5 * (path.alphas[3] + path.alphas[4])
    half_way = 0.5 * (path.coefs[3] + path.coefs[4])
    np.testing.assert_allclose(Lasso(middle, tol=1e-13).fit(X, y).coef_, half_way, atol=1e-4)
    knot = Lasso(path.alphas[4], tol=1e-13).fit(X, y)
    np.testing.assert_allclose(knot.coef_, path.coefs[4], atol=1e-4)


@pytest.mark.parametrize(("n", "d"), [(50, 100), (100, 300)])
def test_without_a_penalty_rounding_is_no_direction_of_the_data(n, d):
    # Centring leaves rank n - 1; the singular value that should be zero is about eps times the largest.
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(n, d)) + 5 * rng.normal(size=d), rng.normal(size=n)
        Z = X - X.mean(axis=0)
        least = np.linalg.pinv(Z, rcond=1e-10) @ (y - y.mean())
        np.testing.assert_allclose(Ridge(alpha=0.0).fit(X, y).coef_, least, atol=1e-10 * np.abs(least).max())
