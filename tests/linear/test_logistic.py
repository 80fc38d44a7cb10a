"""Linear discrimination against brute force, mixed-integer programmes, scikit-learn and closed forms."""

import math
import warnings

import numpy as np
import pytest
from scipy import optimize
from scipy.special import expit
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from learnable.linear import (
    LogisticDiscriminant,
    linear_separation,
)
from learnable.linear.logistic import SeparationWarning


@pytest.mark.parametrize("k", [2, 3, 5])
def test_logistic_solves_the_score_equations(k):
    rng = np.random.default_rng(20 + k)
    X = rng.normal(size=(600, 4)) * [1, 10, 0.1, 1] + [0, 50, 0, -3]
    y = (rng.random((600, k)) + 0.3 * ((X - X.mean(axis=0)) / X.std(axis=0)) @ rng.normal(size=(4, k))).argmax(axis=1)
    rule = LogisticDiscriminant().fit(X, y)
    design = np.column_stack([(X - X.mean(axis=0)) / X.std(axis=0), np.ones(600)])
    score = (np.eye(k)[y] - rule.predict_proba(X)).T @ design / 600
    assert np.linalg.norm(score) <= 1e-8 * math.sqrt(2)
    assert rule.separation_ == "overlap" and rule.gradient_norm_ <= 1e-8
    assert rule.n_iter_ <= 8  # Newton squares the error at each step; a wrong Hessian takes dozens
    peer = LogisticRegression(C=np.inf, solver="lbfgs", tol=1e-10, max_iter=5000).fit(design[:, :4], y)
    np.testing.assert_allclose(rule.predict_proba(X), peer.predict_proba(design[:, :4]), atol=1e-5)
    ridge = LogisticDiscriminant(alpha=3.0).fit(X, y)
    if k == 2:
        peer = LogisticRegression(C=1 / 3, solver="newton-cholesky", tol=1e-10).fit(X, y)
        np.testing.assert_allclose(ridge.coef_, peer.coef_, rtol=1e-5, atol=1e-7)
    else:
        assert (rule.coef_[-1] == 0).all() and rule.intercept_[-1] == 0


def test_logistic_reports_separation():
    x = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0])[:, None]
    for y, kind in (([0, 0, 0, 1, 1, 1], "complete"), ([0, 1, 0, 1, 0, 1], "overlap")):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            rule = LogisticDiscriminant().fit(x, y)
        assert rule.separation_ == kind == linear_separation(x, y)
        assert [w.category for w in caught] == ([SeparationWarning] if kind == "complete" else [])
    quasi = np.array([0.0, 1.0, 1.0, 2.0])[:, None]
    with pytest.warns(SeparationWarning, match="quasi"):
        assert LogisticDiscriminant().fit(quasi, [0, 0, 1, 1]).separation_ == "quasi"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert LogisticDiscriminant(alpha=1.0).fit(x, [0, 0, 0, 1, 1, 1]).separation_ == "not checked"
    X, y = load_iris(return_X_y=True)
    with pytest.warns(SeparationWarning):
        # Class 0 is separated from the others, classes 1 and 2 are not from each other.
        assert LogisticDiscriminant().fit(X, y).separation_ == "quasi"
    assert linear_separation(X, y) == "quasi" and linear_separation(X, y == 0) == "complete"
    assert linear_separation(X[50:], y[50:]) == "overlap"


def test_logistic_survives_collinear_columns_and_units():
    rng = np.random.default_rng(22)
    X = rng.normal(size=(200, 2))
    y = (X[:, 0] + rng.logistic(size=200) > 0).astype(int)
    plain = LogisticDiscriminant().fit(X, y)
    twice = np.column_stack([X, X[:, 0], np.full(200, 3.0)])
    np.testing.assert_allclose(
        LogisticDiscriminant().fit(twice, y).decision_function(twice), plain.decision_function(X), atol=1e-6
    )
    np.testing.assert_allclose(LogisticDiscriminant().fit(1e6 * X + 1e8, y).coef_ * 1e6, plain.coef_, rtol=1e-6)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        LogisticDiscriminant(max_iter=1).fit(X, y)


def test_logistic_ridge_for_many_classes_solves_its_equations():
    X, y = load_iris(return_X_y=True)
    X = X + 10.0
    rule = LogisticDiscriminant(alpha=2.0).fit(X, y)
    residual = np.eye(3)[y] - rule.predict_proba(X)
    # The reference class is fixed at zero; the constants are free of the penalty.
    np.testing.assert_allclose((residual.T @ X)[:2], 2.0 * rule.coef_[:2], atol=1e-4)
    np.testing.assert_allclose(residual.sum(axis=0), 0.0, atol=1e-5)
    assert rule.loglik_ == pytest.approx(np.log(rule.predict_proba(X)[np.arange(150), y]).sum())


def test_logistic_steps_are_halved_when_they_overshoot():
    # Newton's first steps from zero run away here: a single far point of the wrong class.
    x = np.concatenate([np.linspace(-1, 1, 40), [60.0]])[:, None]
    y = np.concatenate([np.linspace(-1, 1, 40) > 0, [False]]).astype(int)
    y[18] = 1
    rule = LogisticDiscriminant().fit(x, y)
    score = y - rule.predict_proba(x)[:, 1]
    assert abs(score.sum()) < 1e-6 and abs(score @ x[:, 0]) < 1e-4
    logit = x[:, 0] * rule.coef_.item() + rule.intercept_.item()
    assert rule.loglik_ == pytest.approx((y * logit - np.logaddexp(0, logit)).sum())


def test_separation_at_a_distance():
    # Separated by a gap that is small beside the spread of the data.
    x = np.array([-1000.0, 0.0, 0.01, 1000.0])[:, None]
    assert linear_separation(x, [0, 0, 1, 1]) == "complete"
    assert linear_separation(x, [0, 1, 0, 1]) == "overlap"
    rng = np.random.default_rng(30)
    X = rng.normal(size=(200, 3))
    assert linear_separation(X, X @ [1.0, -2.0, 0.5] > 0.3) == "complete"


def test_erratum_squared_sigmoid_is_not_likelihood():
    rng = np.random.default_rng(25)
    x = rng.normal(size=400)
    y = (x + 2 * rng.logistic(size=400) > 0.5).astype(int)
    ml = LogisticDiscriminant().fit(x[:, None], y)

    def square(t):
        return np.mean((y - expit(t[0] * x + t[1])) ** 2)

    smooth = optimize.minimize(square, [ml.coef_.item(), ml.intercept_.item()], method="BFGS", options={"gtol": 1e-9})
    assert abs(smooth.x[0] - ml.coef_.item()) > 1e-3 and smooth.fun < square([ml.coef_.item(), ml.intercept_.item()])
