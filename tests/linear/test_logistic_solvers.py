"""Quasi-Newton and Newton steps end at the same maximum, which the gradient certifies."""

import warnings

import numpy as np
import pytest

from learnable.linear import LogisticDiscriminant
from learnable.linear import _quasi_newton as solvers
from learnable.linear import logistic as module
from learnable.linear._quasi_newton import logistic_terms, moments, quasi_newton, worthwhile
from learnable.linear.logistic import SeparationWarning


def data(n=4000, d=30, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ (np.eye(d) + 0.5 * rng.normal(size=(d, d)) / np.sqrt(d))
    return X, (X @ rng.normal(size=d) / np.sqrt(d) + rng.logistic(size=n) > 0).astype(int)


def by_newton(X, y, monkeypatch, weights=None, **options):
    with monkeypatch.context() as patch:
        patch.setattr(module, "worthwhile", lambda *a: False)
        return LogisticDiscriminant(**options).fit(X, y, weights)


def scores(rule, X, y, weights):
    """Norm of the gradient of the mean log-likelihood in standardised columns, by the definition."""
    mean = weights @ X / weights.sum()
    spread = np.sqrt(weights @ (X - mean) ** 2 / weights.sum())
    Z = np.column_stack([(X - mean) / spread, np.ones(len(X))])
    gap = y - rule.predict_proba(X)[:, 1]
    penalty = np.append(rule.alpha * rule.coef_[0] / spread, 0.0)
    return np.linalg.norm(Z.T @ (weights * gap) - penalty) / weights.sum()


@pytest.mark.parametrize("alpha", [0.0, 3.0])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("move", [(1.0, 0.0), (1e-9, 0.0), (1e7, 3e8), (1.0, 1e6)])
def test_quasi_newton_finds_the_maximum_of_newton(monkeypatch, alpha, weighted, move):
    X, y = data()
    weights = np.random.default_rng(1).uniform(0.2, 3.0, len(y)) if weighted else np.ones(len(y))
    unit, shift = move
    X = X * unit * np.linspace(0.5, 20, X.shape[1]) + shift
    alpha = alpha * unit**2
    rule = LogisticDiscriminant(alpha=alpha).fit(X, y, weights if weighted else None)
    other = by_newton(X, y, monkeypatch, weights if weighted else None, alpha=alpha)
    np.testing.assert_allclose(rule.coef_ * unit, other.coef_ * unit, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(rule.loglik_, other.loglik_, rtol=1e-9)
    assert rule.gradient_norm_ <= 1e-8 and rule.separation_ == other.separation_
    if shift == 0:
        np.testing.assert_allclose(rule.gradient_norm_, scores(rule, X, y, weights), atol=2e-9)


def test_the_choice_of_the_solver():
    one, zero = np.ones(50), np.zeros(50)
    assert worthwhile(10_000, 51, zero, one) and not worthwhile(500, 51, zero, one)
    assert not worthwhile(10_000, 51, 1e4 * one, one)  # the mean would cancel
    assert not worthwhile(50_000, 3, zero[:2], one[:2])


def test_it_ends_early_and_says_so():
    X, y = data()
    mean, spread = moments(X, np.ones(len(y)))
    sign = 2.0 * y - 1
    end = quasi_newton(X, sign, np.ones(len(y)), mean, spread, np.zeros(X.shape[1] + 1), 1e-8, 3)
    assert end.steps == 3 and not end.settled
    apart = np.where(X @ np.ones(X.shape[1]) > 0, 1.0, -1.0)
    end = quasi_newton(X, apart, np.ones(len(y)), mean, spread, np.zeros(X.shape[1] + 1), 1e-8, 100)
    assert not end.settled
    with pytest.warns(SeparationWarning):
        assert LogisticDiscriminant().fit(X, apart).separation_ == "complete"


def test_a_column_without_variance_gets_no_weight(monkeypatch):
    X, y = data(d=40)
    X[:, 3] = 7.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rule = LogisticDiscriminant().fit(X, y)
    assert rule.coef_[0, 3] == 0.0
    np.testing.assert_allclose(rule.coef_, by_newton(X, y, monkeypatch).coef_, atol=1e-7)


def test_equal_columns_share_a_weight():
    X, y = data()
    rule = LogisticDiscriminant().fit(np.column_stack([X, X[:, :2]]), y)
    assert rule.gradient_norm_ <= 1e-8
    plain = LogisticDiscriminant().fit(X, y)
    np.testing.assert_allclose(
        rule.decision_function(np.column_stack([X, X[:, :2]])), plain.decision_function(X), atol=1e-5
    )


def test_moments_in_one_pass():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(500, 4)) * [1.0, 1e-6, 1e5, 0.0] + [0.0, 1e3, -1e7, 5.0]
    X[::8] += 100.0 * np.array([1.0, 1e-6, 1e5, 0.0])  # rows that mislead a look at every eighth
    weights = rng.uniform(0.0, 2.0, 500)
    mean, spread = moments(X, weights)
    expected = np.average(X, axis=0, weights=weights)
    np.testing.assert_allclose(mean, expected, rtol=1e-13)
    np.testing.assert_allclose(
        spread, np.sqrt(np.average((X - expected) ** 2, axis=0, weights=weights)), rtol=1e-6, atol=1e-13
    )


@pytest.mark.parametrize("equal", [True, False])
def test_blocks_add_up_and_keep_the_extremes(equal):
    """One block after another: likelihood and residuals are sums, margin and |eta| the extremes of all blocks."""
    rng = np.random.default_rng(3)
    sign, weights = rng.choice([-1.0, 1.0], 300), np.full(300, 0.5) if equal else rng.uniform(0.2, 3.0, 300)
    eta = rng.normal(size=300) * np.repeat([4.0, 0.1], 150)  # both extremes lie in the first block
    residual, sums = np.empty(300), np.array([0.0, 0.0, np.inf, 0.0, 0.0])[:4]
    for part in (slice(0, 150), slice(150, 300)):
        logistic_terms(eta[part], sign[part], weights[part], equal, residual[part], sums)
    margins = sign * eta
    np.testing.assert_allclose(residual, sign * weights / (1 + np.exp(margins)), rtol=1e-12)
    expected = [-weights @ np.logaddexp(0.0, -margins), residual.sum(), margins.min(), np.abs(eta).max()]
    np.testing.assert_allclose(sums, expected, rtol=1e-12)


def test_whole_steps_come_first(monkeypatch):
    """Near the maximum the whole step is right, so that a step costs one look at the data, seldom more."""
    X, y = data()
    looks = []
    original = solvers._Loss.__call__
    monkeypatch.setattr(solvers._Loss, "__call__", lambda self, theta: looks.append(theta) or original(self, theta))
    mean, spread = moments(X, np.ones(len(y)))
    end = quasi_newton(X, 2.0 * y - 1, np.ones(len(y)), mean, spread, np.zeros(X.shape[1] + 1), 1e-8, 100)
    assert end.settled and len(looks) <= 1.2 * end.steps + 1


def test_the_curvature_from_all_rows_is_the_hessian():
    """Nothing is shrunk where no row is left out; from a part of the rows the products off the diagonal shrink."""
    X, y = data(n=600, d=5)
    rng = np.random.default_rng(4)
    weights, penalty = rng.uniform(0.2, 3.0, len(y)), np.array([0.5, 0.0, 2.0, 1.0, 0.0, 0.0])
    mean, spread = moments(X, weights)
    loss, theta = solvers._Loss(X, 2.0 * y - 1, weights, mean, spread, penalty), rng.normal(size=6)
    loss(theta)
    Z = np.column_stack([(X - mean) / spread, np.ones(len(y))])
    p = 1 / (1 + np.exp(-Z @ theta))
    expected = ((Z.T * (weights * p * (1 - p))) @ Z + np.diag(penalty)) / weights.sum()
    for size in (600, 5000):
        lower = np.tril(loss.curvature(size)[0])
        np.testing.assert_allclose(lower @ lower.T, expected, rtol=1e-8, atol=1e-10)
    rows = np.linspace(0, 599, 60).astype(int)
    share = (weights * p * (1 - p))[rows] / weights[rows].sum()
    part = (Z[rows].T * share) @ Z[rows] + np.diag(penalty) / weights.sum()
    lower = np.tril(loss.curvature(60)[0])
    kept = (lower @ lower.T) / part
    np.testing.assert_allclose(np.diag(kept), 1.0)
    factors = kept[~np.eye(6, dtype=bool)]
    np.testing.assert_allclose(factors, factors[0])
    assert 0.0 < factors[0] < 0.95


def test_steps_that_are_left_follow_from_the_rate():
    """Three digits in two steps: six more digits take four."""
    assert solvers._steps_left(1e-3, 1.0, 2, 1e-9) == pytest.approx(4.0)
    assert solvers._steps_left(1e-3, 1e-3, 5, 1e-9) == pytest.approx(np.log(1e6) / 1e-3)  # no progress at all


def test_a_matrix_that_is_singular_to_rounding_has_the_shortest_step():
    hessian = np.array([[1.0, 1.0], [1.0, 1.0 + 1e-15]])  # its Cholesky factor exists, with a last pivot of 3e-8
    np.testing.assert_allclose(module._solve(hessian, np.array([2.0, 2.0])), [1.0, 1.0], atol=1e-6)
    np.testing.assert_allclose(module._solve(hessian, np.array([2.0, 2.2])), [1.05, 1.05], atol=1e-6)
    regular = np.array([[2.0, 1.0], [1.0, 3.0]])
    np.testing.assert_allclose(module._solve(regular, np.array([1.0, 0.0])), [0.6, -0.2], rtol=1e-12)
