"""Boosting against brute force, closed forms, linear programmes and scikit-learn."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import optimize
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.linear_model import LinearRegression, LogisticRegression, lars_path
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from learnable.ensembles import (
    AdaBoost,
    GradientBoost,
    GradientBoostedTrees,
    L2Boost,
    LogitBoost,
    StagewiseRegressor,
    losses,
)
from learnable.ensembles.stagewise import stagewise_path


@parametrize_with_checks(
    [
        AdaBoost(n_rounds=20),
        AdaBoost(base=2, n_rounds=10),
        GradientBoost(n_rounds=15),
        LogitBoost(variant=2, n_rounds=15),
        GradientBoostedTrees(n_rounds=15),
        L2Boost(n_rounds=30),
        StagewiseRegressor(base="linear", loss="absolute", n_rounds=30),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def noisy_sample(seed=0, n=200, d=4, noise=0.15):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where((X[:, 0] > 0.2) ^ (X[:, -2] + X[:, -1] > 0.5), 1, -1)
    return X, np.where(rng.random(n) < noise, -y, y)


def test_claim_10_linear_directions_reach_logistic_regression():
    X, y = noisy_sample(16, n=150)
    X = X - X.mean(axis=0)
    steps = StagewiseRegressor("linear", n_rounds=700, loss=losses.logistic, shrinkage=0.5).fit(X, y)
    exact = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10).fit(X, y)
    assert steps.coef_ == pytest.approx(exact.coef_[0], abs=1e-4)
    assert (np.diff(steps.losses_) <= 1e-12).all()


def test_claim_12_componentwise_boosting_reaches_least_squares():
    X, y = load_diabetes(return_X_y=True)
    X = X / np.linalg.norm(X, axis=0)
    model = L2Boost("linear", n_rounds=10_000).fit(X, y)
    exact = LinearRegression().fit(X, y)
    assert model.losses_[-1] == pytest.approx(np.mean((y - exact.predict(X)) ** 2), rel=1e-6)
    assert model.coef_ == pytest.approx(exact.coef_, abs=2.0)
    assert (np.diff(model.losses_) <= 1e-9).all()


@pytest.mark.parametrize("base", ["stump", "linear", "spline", 3])
def test_claim_12_steps_and_losses(base):
    X, y = make_friedman1(120, random_state=0)
    model = L2Boost(base, n_rounds=25).fit(X, y)
    assert (np.diff(model.losses_) <= 1e-9).all()
    f = np.full(120, y.mean())
    for alpha, rule in zip(model.alphas_, model.rules_, strict=True):
        h = rule.predict(X)
        assert alpha == pytest.approx((y - f) @ h / (h @ h), rel=1e-6)
        f += alpha * h
    assert model.predict(X) == pytest.approx(f)
    assert model.staged_predict(X)[-1] == pytest.approx(f)
    assert model.losses_[-1] == pytest.approx(np.mean((y - f) ** 2))


def test_absolute_loss_steps_are_medians():
    X, y = make_friedman1(100, random_state=1)
    y[::10] += 40
    model = StagewiseRegressor(base=2, loss="absolute", n_rounds=20).fit(X, y)
    f = np.full(100, np.median(y))
    for alpha, rule in zip(model.alphas_[:5], model.rules_[:5], strict=True):
        h = rule.predict(X)
        best = optimize.minimize_scalar(lambda a, f=f, h=h: np.abs(y - f - a * h).sum(), bounds=(-50, 50)).fun
        assert np.abs(y - f - alpha * h).sum() <= best + 1e-6
        f = f + alpha * h
    assert (np.diff(model.losses_) <= 1e-9).all()


def test_absolute_loss_fits_the_signs_of_the_residuals():
    """The negative gradient of |y - f| is sgn(y - f); half steps, so that no residual is zero."""
    X, y = make_friedman1(90, random_state=2)
    model = StagewiseRegressor("stump", loss="absolute", n_rounds=4, shrinkage=0.5).fit(X, y)
    f = np.full(90, np.median(y))
    for alpha, rule in zip(model.alphas_, model.rules_, strict=True):
        signs, h = np.sign(y - f), rule.predict(X)
        peer = DecisionTreeRegressor(max_depth=1).fit(X, signs).predict(X)
        assert np.unique(h).size == 2
        assert np.sum((signs - h) ** 2) == pytest.approx(np.sum((signs - peer) ** 2), rel=1e-10)
        f += alpha * h


def test_claim_13_orthonormal_design_soft_thresholds():
    rng = np.random.default_rng(21)
    Q, _ = np.linalg.qr(rng.normal(size=(50, 6)))
    b = np.array([5.0, -3.0, 2.0, 1.0, -0.5, 0.2])
    eps = 0.01
    path = stagewise_path(Q, Q @ b, eps, 900)
    assert len(path) == 901
    for beta in path[::50]:
        norm = np.abs(beta).sum()
        shift = optimize.brentq(lambda s, norm=norm: np.maximum(np.abs(b) - s, 0).sum() - norm, 0, 5.0)
        assert np.abs(beta - np.sign(b) * np.maximum(np.abs(b) - shift, 0)).max() <= eps


def test_stagewise_path_picks_the_best_single_fit():
    rng = np.random.default_rng(22)
    X, y = rng.normal(size=(40, 5)) * [1, 2, 5, 0.3, 1], rng.normal(size=40)
    path = stagewise_path(X, y, 0.01, 60)
    assert len(path) == 61 and path[-1, 0] != 0
    for before, after in pairwise(path):
        r = y - X @ before
        left = [np.sum((r - X[:, k] * (r @ X[:, k]) / (X[:, k] @ X[:, k])) ** 2) for k in range(5)]
        moved = np.flatnonzero(before != after)
        assert moved.tolist() == [int(np.argmin(left))]
        assert np.sign((after - before)[moved[0]]) == np.sign(r @ X[:, moved[0]])
    # A residual that no feature sees ends the path.
    assert len(stagewise_path(np.eye(3)[:, :1], [0.0, 1.0, 1.0], 0.1, 50)) == 1
    # So does one that three steps have reduced to a rounding error, in any unit of the target.
    assert 0.3 - 0.1 - 0.1 - 0.1 != 0.0
    for unit in (1e-6, 1.0, 1e6):
        np.testing.assert_allclose(stagewise_path([[1.0]], [0.3 * unit], 0.1 * unit, 50)[-1], 0.3 * unit, rtol=1e-12)
        assert len(stagewise_path([[1.0]], [0.3 * unit], 0.1 * unit, 50)) == 4


def test_stagewise_follows_the_lasso_until_a_coefficient_turns():
    X, y = load_diabetes(return_X_y=True)
    X = (X - X.mean(axis=0)) / np.linalg.norm(X - X.mean(axis=0), axis=0)
    y = y - y.mean()
    _, _, lasso = lars_path(X, y, method="lasso")
    knots = np.abs(lasso).sum(axis=0)
    for eps, allowed in ((1.0, 0.7), (0.2, 0.2)):
        path = stagewise_path(X, y, eps, int(2800 / eps))
        norms = np.abs(path).sum(axis=1)
        same = np.array([np.interp(norms, knots, row) for row in lasso]).T
        gap = np.abs(path - same).max(axis=1)
        assert max(gap[np.argmin(np.abs(norms - at))] for at in range(100, 1901, 100)) <= allowed
        assert gap[norms <= 1900].max() <= 1.2 * eps
        assert gap[(norms > 2000) & (norms < 2700)].max() > 20
