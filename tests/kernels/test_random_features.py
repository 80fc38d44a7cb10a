"""Kernels and kernel regression against explicit features, brute force, quadratic programmes and scikit-learn."""

import numpy as np
from sklearn.utils.estimator_checks import parametrize_with_checks

from learnable.kernels import (
    EpsilonRidge,
    EpsilonSVR,
    Gaussian,
    KernelRidge,
    RandomFourierFeatures,
    RandomFourierRidge,
)
from learnable.linear import Lasso, Ridge


def sinc_data(n, seed=0, noise=0.1):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-3, 3, n)
    return x[:, None], np.sinc(x) + noise * rng.normal(size=n)


def test_claim_14_random_fourier_features():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(300, 5))
    K = Gaussian(2.0)(X)
    errors = []
    for D in (100, 1000, 10_000):
        Z = RandomFourierFeatures(0.125, D, random_state=1).fit_transform(X)
        errors.append(np.abs(Z @ Z.T - K).max())
    assert errors[0] > errors[1] > errors[2]
    for error, reported in zip(errors, (0.39, 0.14, 0.034), strict=True):
        assert reported / 2 < error < 2 * reported
    slope = np.polyfit(np.log([100, 1000, 10_000]), np.log(errors), 1)[0]
    assert -0.65 < slope < -0.35


def test_feature_ridges_approach_kernel_ridge():
    X, y = sinc_data(300)
    exact = KernelRidge(Gaussian(0.5), 0.1).fit(X, y).predict(X)
    fourier = RandomFourierRidge(2.0, 0.1, 2000, random_state=0).fit(X, y).predict(X)
    assert np.abs(fourier - exact).max() < 0.05


def test_erratum_bochner_variance():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    K = Gaussian(2.0)(X)
    right = RandomFourierFeatures(0.125, 4000, random_state=0).fit_transform(X)
    printed = RandomFourierFeatures(2.0, 4000, random_state=0).fit_transform(X)
    assert np.abs(right @ right.T - K).max() < 0.1
    assert np.abs(printed @ printed.T - K).max() > 0.7


@parametrize_with_checks(
    [
        Ridge(),
        Lasso(alpha=0.1),
        KernelRidge(),
        KernelRidge(solver="cg"),
        EpsilonSVR(),
        EpsilonRidge(),
        RandomFourierRidge(gamma=0.02, n_components=50, random_state=0),
        RandomFourierFeatures(n_components=20, random_state=0),
    ]
)
def test_scikit_learn_compatibility(estimator, check):
    check(estimator)
