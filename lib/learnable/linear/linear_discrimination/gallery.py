"""Small laws on which classical linear rules fail, solved exactly.

Source: Lember 2012, Sec. 3.3.1 and 3.6.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import optimize
from scipy.special import expit

from learnable.laws.problems import FiniteProblem
from learnable.laws.zoo import gaussian_classes, plateau
from learnable.validation import Result, check_finite_array, check_has, check_probabilities, check_scalar

__all__ = [
    "FourPointAnswer",
    "constant_model_scores",
    "four_point",
    "four_point_flip",
    "four_point_population",
    "masking3",
    "two_model_logistic",
    "weighted_sample",
]


def four_point(eps, m):
    """P(−m, 1) = P(m, 0) = eps and P(1, 1) = P(−1, 0) = ½ − eps: few points far away on the wrong side.

    Parameters
    ----------
    eps : float in (0, ½)
    m : float, positive and not 1

    Returns
    -------
    FiniteProblem

    Examples
    --------
    >>> problem = four_point(0.01, 100.0)
    >>> problem.x_values.tolist(), problem.p_x.tolist(), float(problem.bayes_risk())
    ([-100.0, -1.0, 1.0, 100.0], [0.01, 0.49, 0.49, 0.01], 0.0)
    """
    eps, m = _four_point_arguments(eps, m)
    near = 0.5 - eps
    return FiniteProblem([[0, eps], [near, 0], [0, near], [eps, 0]], x_values=[-m, -1.0, 1.0, m])


@dataclass(frozen=True)
class FourPointAnswer:
    """What each rule does on `four_point`: slopes, and risks of least squares, likelihood and the best linear rule."""

    w_ols: float
    w_logistic: float
    risk_ols: float
    risk_logistic: float
    best: float


def four_point_population(eps, m):
    """Least squares, likelihood and the best linear risk on the population of `four_point`, as a `FourPointAnswer`.

    Least squares has the slope (1 − 2ε(1+m))/(4(m²ε + ½ − ε)) and a = ½; the likelihood is largest at a = 0 and the
    root w of ½ − ε = εm e^{mw}(1 + e^w)/(1 + e^{mw}) (3.6.21). Both change sign at m = (1 − 2ε)/(2ε). The best linear
    risk is min(2ε, ½ − ε) for m > 1.

    Parameters
    ----------
    eps : float
        Mass of each of the two rare points.
    m : float
        Their distance from the origin.

    Examples
    --------
    >>> answer = four_point_population(0.01, 1000.0)
    >>> round(answer.w_logistic, 6), round(answer.risk_ols, 2), answer.best
    (-0.003682, 0.98, 0.02)
    """
    eps, m = _four_point_arguments(eps, m)
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
    """The m = (1 − 2ε)/(2ε) beyond which least squares and likelihood point the wrong way.

    Parameters
    ----------
    eps : float
        Mass of each of the two rare points.

    Examples
    --------
    >>> four_point_flip(0.1)
    4.0
    """
    eps = check_scalar(eps, "eps", low=0, high=0.5, closed="neither")
    return (1 - 2 * eps) / (2 * eps)


def two_model_logistic():
    """P(0,0) = P(1,0) = 2/9, P(0,1) = 1/9, P(1,1) = 4/9 for (x, y): a likelihood that prefers the worse rule.

    Examples
    --------
    >>> round(float(two_model_logistic().bayes_risk()), 4)
    0.3333
    """
    return FiniteProblem(np.array([[2, 1], [2, 4]]) / 9, x_values=[0.0, 1.0])


@dataclass(frozen=True, eq=False)
class ModelScores(Result):
    """Risk, expected log-likelihood and squared error of models, one entry for each."""

    risk: np.ndarray
    loglik: np.ndarray
    squared: np.ndarray


def constant_model_scores(problem, etas):
    """Risk, expected log-likelihood and squared error of the constant models η ≡ eta, for each of `etas`.

    Parameters
    ----------
    problem : FiniteProblem or DensityProblem
    etas : array-like
        Probabilities strictly between 0 and 1.

    Examples
    --------
    >>> scores = constant_model_scores(two_model_logistic(), [0.45, 0.95])
    >>> scores.risk.round(4).tolist(), scores.loglik.round(4).tolist()
    ([0.5556, 0.4444], [-0.7093, -1.3599])
    """
    etas = check_probabilities(np.atleast_1d(check_finite_array(etas, "etas")), "etas")
    check_has(problem, "problem", "priors", "a problem with priors, such as two_model_logistic()")
    if len(problem.priors) != 2:
        raise ValueError(f"problem must have two classes, got {len(problem.priors)}")
    if etas.min() == 0 or etas.max() == 1:
        raise ValueError("etas must lie strictly between 0 and 1")
    pi0, pi1 = problem.priors
    return ModelScores(
        risk=np.where(etas >= 0.5, pi0, pi1),
        loglik=pi1 * np.log(etas) + pi0 * np.log(1 - etas),
        squared=pi1 * (1 - etas) ** 2 + pi0 * etas**2,
    )


def middle_third():
    """X uniform on [0, 1], Y = 0 on the middle third: R* = 0, but the best split has risk 1/3.

    Examples
    --------
    >>> float(middle_third().bayes_risk())
    0.0
    """
    return plateau([1.0, 0.0, 1.0], edges=[0.0, 1 / 3, 2 / 3, 1.0])


def masking3():
    """Three Gaussian classes in a row, N(μ_j, I) with μ = ∓(4, 4)/√2 and 0; Bayes risk (4/3)Φ(−2).

    Examples
    --------
    >>> masking3().priors.round(3).tolist()
    [0.333, 0.333, 0.333]
    """
    step = 4 / np.sqrt(2)
    return gaussian_classes([[-step, -step], [0.0, 0.0], [step, step]], np.eye(2))


def weighted_sample(problem):
    """A finite law as weighted data (X, y, weights): fitting a rule to it solves the population problem.

    Parameters
    ----------
    problem : FiniteProblem or DensityProblem

    Examples
    --------
    >>> X, y, weights = weighted_sample(four_point(0.1, 10.0))
    >>> X.ravel().tolist(), y.tolist(), weights.tolist()
    ([-10.0, -1.0, 1.0, 10.0], [1, 0, 1, 0], [0.1, 0.4, 0.4, 0.1])
    """
    if not isinstance(problem, FiniteProblem):
        raise ValueError("problem must be a FiniteProblem")
    rows, labels = np.nonzero(problem.p_xy)
    X = np.asarray(problem.x_values, float).reshape(len(problem.x_values), -1)
    return X[rows], labels, problem.p_xy[rows, labels]


def _sign_risk(w, eps):
    """Risk of 1{wx ≥ 0}: the near points are right for w > 0, the far ones for w < 0; w = 0 says 1 always."""
    return 2 * eps if w > 0 else 1 - 2 * eps if w < 0 else 0.5


def _four_point_arguments(eps, m):
    eps = check_scalar(eps, "eps", low=0, high=0.5, closed="neither")
    m = check_scalar(m, "m", low=0, high=1e150, closed="right")
    if m == 1:
        raise ValueError("m must not be 1: the four points would be two")
    return eps, m
