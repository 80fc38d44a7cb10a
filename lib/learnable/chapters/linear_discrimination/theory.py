"""Linear rules worked by hand: small laws on which the classical ones fail, Gaussian classes, moments, least squares.

Everything is exact: populations are finite or Gaussian (Lember 2012, Sec. 3.1-3.6).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg, optimize
from scipy.special import expit
from scipy.stats import norm

from learnable.linear.exact import _best_halfplane, _best_split
from learnable.linear.moments import Split, _scatter, max_J, separation_J
from learnable.problems.base import FiniteProblem
from learnable.problems.zoo import gaussian_classes
from learnable.validation import encode_labels


def four_point(eps, m):
    """P(−m, 1) = P(m, 0) = eps and P(1, 1) = P(−1, 0) = ½ − eps: few points far away on the wrong side."""
    near = 0.5 - eps
    return FiniteProblem([[0, eps], [near, 0], [0, near], [eps, 0]], x_values=[-m, -1.0, 1.0, m])


class FourPointAnswer(NamedTuple):
    """What each rule does on `four_point`: slopes, and risks of least squares, likelihood and the best linear rule."""

    w_ols: float
    w_logistic: float
    risk_ols: float
    risk_logistic: float
    best: float


def four_point_population(eps, m):
    """Least squares, likelihood and the best linear risk on the population of `four_point`, as a `FourPointAnswer`."""
    near = 0.5 - eps
    w_ols = (1 - 2 * eps * (1 + m)) / (4 * (m**2 * eps + near))

    def score(w):
        # Half the derivative of the expected log-likelihood at a = 0.
        return near * expit(-w) - eps * m * expit(m * w)

    reach = 1.0
    while score(reach) > 0 or score(-reach) < 0:
        reach *= 2.0
    w_logistic = optimize.brentq(score, -reach, reach, xtol=1e-15, rtol=1e-14)
    best = min(2 * eps, 1 - 2 * eps, near) if m > 1 else 0.0
    if m < 1:
        best = min(2 * eps, 1 - 2 * eps, eps)
    return FourPointAnswer(w_ols, w_logistic, _sign_risk(w_ols, eps), _sign_risk(w_logistic, eps), best)


def four_point_flip(eps):
    """The m = (1 − 2ε)/(2ε) beyond which least squares and likelihood point the wrong way."""
    return (1 - 2 * eps) / (2 * eps)


def two_model_logistic():
    """P(0,0) = P(1,0) = 2/9, P(0,1) = 1/9, P(1,1) = 4/9 for (x, y): a likelihood that prefers the worse rule."""
    return FiniteProblem(np.array([[2, 1], [2, 4]]) / 9, x_values=[0.0, 1.0])


class ModelScores(NamedTuple):
    """Risk, expected log-likelihood and squared error of models, one entry for each."""

    risk: np.ndarray
    loglik: np.ndarray
    squared: np.ndarray


def constant_model_scores(problem, etas):
    """Risk, expected log-likelihood and squared error of the constant models η ≡ eta, for each of `etas`."""
    etas = np.asarray(etas, dtype=float)
    pi0, pi1 = problem.priors
    return ModelScores(
        risk=np.where(etas >= 0.5, pi0, pi1),
        loglik=pi1 * np.log(etas) + pi0 * np.log(1 - etas),
        squared=pi1 * (1 - etas) ** 2 + pi0 * etas**2,
    )


def masking3():
    """Three Gaussian classes in a row, N(μ_j, I) with μ = ∓(4, 4)/√2 and 0; Bayes risk (4/3)Φ(−2)."""
    step = 4 / np.sqrt(2)
    return gaussian_classes([[-step, -step], [0.0, 0.0], [step, step]], np.eye(2))


def weighted_sample(problem):
    """A finite law as weighted data (X, y, weights): fitting a rule to it solves the population problem."""
    rows, labels = np.nonzero(problem.p_xy)
    X = np.asarray(problem.x_values, float).reshape(len(problem.x_values), -1)
    return X[rows], labels, problem.p_xy[rows, labels]


def _sign_risk(w, eps):
    """Risk of 1{wx ≥ 0}: the near points are right for w > 0, the far ones for w < 0; w = 0 says 1 always."""
    return 2 * eps if w > 0 else 1 - 2 * eps if w < 0 else 0.5


def best_split(x, y, sample_weight=None):
    """The split with the smallest training error. O(n log n)."""
    return _best_split(np.asarray(x, dtype=float), np.asarray(y, dtype=np.int64), _weights(sample_weight, len(x)))


def best_halfplane(X, y, sample_weight=None):
    """The half-plane with the fewest training errors, exactly. O(n² log n) time, O(n) memory."""
    return _best_halfplane(np.asarray(X, dtype=float), np.asarray(y, dtype=np.int64), _weights(sample_weight, len(X)))


def scatter(X, y, sample_weight=None):
    """Decompose the scatter of a sample into a part within the classes and a part between them. O(n d²)."""
    classes, codes = encode_labels(y)
    return _scatter(np.asarray(X, dtype=float), codes, _weights(sample_weight, len(X)), classes)


def _weights(sample_weight, n):
    return np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=float)


def _moments(*means, within):
    """Means as vectors and a covariance as a matrix; a number stands for a point of the line, or a multiple of I."""
    means = [np.atleast_1d(np.asarray(m, dtype=float)) for m in means]
    return *means, np.asarray(within, dtype=float) if np.ndim(within) else within * np.eye(means[0].size)


def linear_gaussian_rule(m0, m1, S, pi1=0.5):
    """Bayes rule of two Gaussian classes with a common covariance: w = S⁻¹(m1 − m0) and w0 (3.4.4)."""
    m0, m1, S = _moments(m0, m1, within=S)
    w = linalg.cho_solve(linalg.cho_factor(S), m1 - m0)
    return w, float(np.log(pi1 / (1 - pi1)) - 0.5 * (m0 + m1) @ w)


def linear_gaussian_risk(w, w0, m0, m1, S0, S1=None, pi1=0.5):
    """Exact risk of the rule 1{w'x + w0 ≥ 0} if the classes are Gaussian; S1 defaults to S0."""
    m0, m1, w, S0 = _moments(m0, m1, w, within=S0)
    S1 = S0 if S1 is None else _moments(m1, within=S1)[1]
    s0, s1 = np.sqrt(w @ S0 @ w), np.sqrt(w @ S1 @ w)
    if s0 == 0 or s1 == 0:  # a rule that always says the same
        return float(1 - pi1 if w0 >= 0 else pi1)
    return float((1 - pi1) * norm.cdf((w @ m0 + w0) / s0) + pi1 * norm.cdf(-(w @ m1 + w0) / s1))


class TwoClassOLS(NamedTuple):
    """Population least squares f(x) = w'x + a for labels 0 and 1; w = alpha Σ_W⁻¹(m1 − m0)."""

    w: np.ndarray
    a: float
    alpha: float


def two_class_ols(pi1, m0, m1, SW):
    """Least squares on 0/1 labels from the priors, the means and the covariance within the classes (3.6.11)."""
    m0, m1, SW = _moments(m0, m1, within=SW)
    delta, q = m1 - m0, pi1 * (1 - pi1)
    direction = linalg.cho_solve(linalg.cho_factor(SW), delta)
    alpha = q / (1 + q * float(delta @ direction))
    w = alpha * direction
    return TwoClassOLS(w, float(pi1 - w @ (pi1 * m1 + (1 - pi1) * m0)), float(alpha))


def best_split_population(F0, F1, pi1, *, grid):
    """Best split of a known law on the line, (3.3.2)."""
    grid = np.unique(grid)

    def zero_below(t):
        return pi1 * F1(t) + (1 - pi1) * (1 - F0(t))

    best, split = min(pi1, 1 - pi1), Split(np.inf, int(pi1 > 0.5))
    errors = np.asarray(zero_below(grid), float)
    for label, objective in ((0, errors), (1, 1 - errors)):
        i = int(objective.argmin())
        threshold, value = grid[i], objective[i]
        sign = 1 if label == 0 else -1
        refined = optimize.minimize_scalar(
            lambda t, sign=sign: sign * float(zero_below(t)),
            bounds=(grid[max(i - 1, 0)], grid[min(i + 1, grid.size - 1)]),
            method="bounded",
            options={"xatol": 1e-12},
        )
        candidate = refined.fun if label == 0 else 1 + refined.fun
        if candidate < value:
            threshold, value = refined.x, candidate
        if value < best:
            best, split = value, Split(float(threshold), label)
    return split, float(best)


def moment_bound(m0, m1, S0, S1, w=None):
    """Upper bound (1 + J(w)²)⁻¹ on the risk of the best linear rule, by default with the best w (3.3.4)."""
    J = max_J(m0, m1, S0, S1)[1] if w is None else separation_J(w, m0, m1, S0, S1)
    return float(1.0 / (1.0 + J**2))
