"""The path of the support vector machine against LIBSVM, its optimality conditions and linear programs."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier

from learnable.chapters.svm_regularization_path import experiments
from learnable.chapters.svm_regularization_path.baselines import (
    angle_to,
    effective_rank,
    logistic_path,
    regularised_lda_path,
    rotate_wide,
)
from learnable.datasets.classification import make_mixture_means
from learnable.kernels import OneVersusRestPath, SVMPath, cv_path
from learnable.kernels.functions import Gaussian, as_kernel
from learnable.problems.zoo import two_gaussians


def parzen_classifier(X, y, kernel="rbf", **params):
    """The rule sign(sum of y_j K(x, x_j)): class densities by Parzen windows, weighted by the class shares."""
    kernel = as_kernel(kernel, **params)
    return lambda points: np.where(kernel(points, X) @ y >= 0.0, 1, -1)


def mixture(n=120, seed=0, plus=None):
    """The mixture of Hastie et al. with labels -1, +1; `plus` keeps that many of the positive points."""
    X, y = make_mixture_means(n, random_state=seed, return_X_y=True)
    y = 2 * y - 1
    if plus is not None:
        keep = np.concatenate([np.flatnonzero(y > 0)[:plus], np.flatnonzero(y < 0)])
        X, y = X[keep], y[keep]
    return X, y


def wide(seed=0, n=40, p=50):
    rng = np.random.default_rng(seed)
    y = np.repeat([1, -1], n // 2)
    X = rng.normal(size=(n, p))
    X[:, 0] += 2 * y
    return X, y


def separable(seed=0, n=40):
    rng = np.random.default_rng(seed)
    y = np.repeat([1, -1], n // 2)
    return rng.normal(size=(n, 2)) + 3.0 * y[:, None], y


def test_claim_06_logistic_regression_turns_to_the_hard_margin():
    X, y = separable()
    target = SVMPath("linear").fit(X, y).coef_path(1e-9)
    coefs, _ = logistic_path(X, y, 10.0 ** -np.arange(1, 12, 2))
    angles = [angle_to(b, target) for b in coefs]
    assert np.all(np.diff(angles) < 0) and angles[-1] < 0.55 * angles[0]


@pytest.mark.parametrize("plus", [None, 20])
def test_claim_09_without_intercept_the_regularised_end_is_the_parzen_rule(plus):
    X, y = mixture(100, 1, plus=plus)
    new = np.random.default_rng(0).normal(size=(200, 2))
    for gamma in (0.5, 5.0):
        path = SVMPath(gamma=gamma, fit_intercept=False).fit(X, y)
        rule = parzen_classifier(X, y, gamma=gamma)
        for factor in (1, 3, 50):
            np.testing.assert_array_equal(path.predict(new, factor * path.lambdas_[0]), rule(new))
        shares = [np.mean(y == c) for c in (1, -1)]
        densities = [Gaussian.from_gamma(gamma)(new, X[y == c]).mean(axis=1) for c in (1, -1)]
        np.testing.assert_array_equal(rule(new), np.where(shares[0] * densities[0] >= shares[1] * densities[1], 1, -1))


def test_claim_09_narrow_kernels_become_the_nearest_neighbour():
    X, y = mixture(100, 1)
    new = X + 0.3 * np.random.default_rng(0).normal(size=X.shape)
    nearest = KNeighborsClassifier(1).fit(X, y).predict(new)
    assert np.mean(parzen_classifier(X, y, gamma=200.0)(new) == nearest) > 0.98
    assert np.mean(parzen_classifier(X, y, gamma=1.0)(new) == nearest) < 0.95


def test_claim_09_linear_kernel_without_intercept():
    X, y = mixture(100, 1)
    path = SVMPath("linear", fit_intercept=False).fit(X, y)
    assert angle_to(path.coef_path(path.lambdas_[0]), y @ X) < 1e-5
    centred = X - X.mean(axis=0)
    path = SVMPath("linear", fit_intercept=False).fit(centred, y)
    means = np.array([centred[y == c].mean(axis=0) for c in (-1, 1)])
    nearest = ((centred[:, None] - means) ** 2).sum(axis=2).argmin(axis=1) * 2 - 1
    np.testing.assert_array_equal(path.predict(centred, 2 * path.lambdas_[0]), nearest)


def test_claim_10_rotating_wide_data_leaves_the_path_alone():
    X, y = wide(seed=3)
    R, V = rotate_wide(X)
    assert R.shape == (40, 40)
    first, second = SVMPath("linear").fit(X, y), SVMPath("linear").fit(R, y)
    np.testing.assert_allclose(first.lambdas_, second.lambdas_, rtol=1e-8)
    new = np.random.default_rng(0).normal(size=(30, 50))
    np.testing.assert_allclose(first.decision_function(new, 50.0), second.decision_function(new @ V, 50.0), atol=1e-8)
    np.testing.assert_allclose(first.coef_path(50.0), V @ second.coef_path(50.0), atol=1e-10)


def test_regularised_discriminants_solve_their_equations():
    for X, y in (wide(1), mixture(60, 1)):
        lams = np.array([100.0, 1.0])
        coefs, intercepts = regularised_lda_path(X, y, lams)
        means = [X[y == c].mean(axis=0) for c in (-1, 1)]
        scatter = sum((X[y == c] - m).T @ (X[y == c] - m) for c, m in zip((-1, 1), means, strict=True))
        for lam, coef, b in zip(lams, coefs, intercepts, strict=True):
            expected = np.linalg.solve(scatter + lam * np.eye(X.shape[1]), means[1] - means[0])
            np.testing.assert_allclose(coef, expected, atol=1e-10)
            assert b == pytest.approx(-expected @ (means[0] + means[1]) / 2, abs=1e-10)


def test_logistic_path_is_stationary():
    X, y = wide(2)
    coefs, intercepts = logistic_path(X, y, [50.0, 5.0])
    for lam, coef, b in zip((50.0, 5.0), coefs, intercepts, strict=True):
        weight = -y / (1 + np.exp(y * (X @ coef + b)))
        np.testing.assert_allclose(weight @ X + lam * coef, 0, atol=1e-5)
        assert abs(weight.sum()) < 1e-5


def test_multinomial_path_is_stationary():
    X, y = load_iris(return_X_y=True)
    coefs, intercepts = logistic_path(X, y, [1.0])
    f = X @ coefs[0].T + intercepts[0]
    p = np.exp(f - f.max(axis=1, keepdims=True))
    residual = p / p.sum(axis=1, keepdims=True) - np.eye(3)[y]
    np.testing.assert_allclose(residual.T @ X + coefs[0], 0, atol=1e-3)
    assert coefs.shape == (1, 3, 4) and intercepts.shape == (1, 3)


def test_effective_rank_uses_an_absolute_threshold():
    K = np.diag([1.0, 1e-11, 1e-13])
    assert effective_rank(K) == 2 and effective_rank(1e3 * K) == 3 and effective_rank(K, tol=0.1) == 1


def test_erratum_bayes_risk_of_the_wide_example():
    """N(±2, 1) in one informative coordinate: the Bayes risk is 0.0228, not 0.0107."""
    assert float(two_gaussians(-2.0, 2.0).bayes_risk()) == pytest.approx(0.0228, abs=5e-5)


def test_erratum_two_numbers_of_steps():
    # One path, cut twice: 623 breakpoints of the authors' points lie above 1e-4; ten steps further 632 steps are done.
    stored = experiments.published_draw.stored
    assert stored.mean("change_points", gamma=1.0, stop=1e-4) == 623
    assert stored.mean("steps", gamma=1.0, stop=8.05e-5) == 632


def test_bad_inputs():
    X, y = mixture(20)
    with pytest.raises(ValueError, match="two classes"):
        SVMPath().fit(X, np.ones(20))
    with pytest.raises(ValueError, match="binary"):
        SVMPath().fit(X, np.arange(20) % 3)
    with pytest.raises(ValueError, match="vanishes"):
        SVMPath("linear").fit(np.zeros((4, 1)), [0, 1, 0, 1])
    path = SVMPath().fit(X, y)
    for lam in (0.0, -1.0, np.nan, "x"):
        with pytest.raises(ValueError, match="lam"):
            path.alpha_at(lam)
    with pytest.raises(ValueError, match="linear kernel only"):
        path.coef_path(1.0)
    with pytest.raises(ValueError, match="walk must"):
        SVMPath().from_solution(X, y, 1.0, walk="sideways")
    with pytest.raises(ValueError, match="between 0 and 1"):
        SVMPath().from_solution(X, y, 1.0, np.full(20, 2.0))
    with pytest.raises(ValueError, match="balanced"):
        SVMPath().from_solution(X, y, 1.0, (y > 0).astype(float))
    with pytest.raises(ValueError, match="at least two classes"):
        OneVersusRestPath().fit(X, np.ones(20))
    with pytest.raises(ValueError, match="cv"):
        cv_path(X, y, 1)
    with pytest.raises(ValueError, match="at least one split"):
        cv_path(X, y, [])
    with pytest.raises(ValueError, match="one label for each"):
        cv_path(X, y[:5], 2)
