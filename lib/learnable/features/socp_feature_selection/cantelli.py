"""What two moments say about a half-space: the one-sided Chebyshev inequality and the law that attains it.

Among all laws of a random vector with mean μ and covariance Σ, the half-space w'x < b has probability at least
s²/(s² + w'Σw), s = max(b - w'μ, 0) (Bhattacharyya 2004, Theorem 1; Marshall and Olkin 1960). The least favourable law
has two points.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from learnable.validation import Result, check_finite_array, check_scalar, check_symmetric

__all__ = ["TwoPointLaw", "cantelli_bound", "cantelli_worst_case", "chebyshev_factor"]

LARGEST_ETA = 1 - 1e-9


@dataclass(frozen=True, eq=False)
class TwoPointLaw(Result):
    """A law on two points: what `cantelli_worst_case` returns.

    Attributes
    ----------
    points : ndarray of shape (2, n)
        The first lies on the boundary of the half-space w'x < b, or beyond it; the second inside.
    weights : ndarray of shape (2,)
        Their probabilities.
    inside : float
        The probability of the open half-space.
    """

    points: np.ndarray
    weights: np.ndarray
    inside: float


def chebyshev_factor(eta):
    """Standard deviations that a hyperplane must keep from the mean so that a fraction `eta` is on the right side.

    κ(η) = √(η / (1 - η)), the inverse of the bound s²/(s² + σ²) ≥ η in s/σ (Bhattacharyya 2004, Sec. 3). Cost O(1).

    Parameters
    ----------
    eta : float in [0, 1)
        The fraction; above 1 - 1e-9 it counts as 1 - 1e-9.

    Returns
    -------
    float
        The factor κ.

    Examples
    --------
    >>> chebyshev_factor(0.5), round(chebyshev_factor(0.9), 6)
    (1.0, 3.0)
    """
    eta = min(check_scalar(eta, "eta", low=0, high=1, closed="left"), LARGEST_ETA)
    return float(np.sqrt(eta / (1 - eta)))


def cantelli_bound(mu, covariance, w, b):
    """Least probability of the half-space w'x < b over all laws with these two moments.

    P(w'X < b) ≥ s² / (s² + w'Σw) with s = max(b - w'μ, 0) (Bhattacharyya 2004, Theorem 1). Cost O(n²).

    Parameters
    ----------
    mu : array-like of shape (n,)
        The mean.
    covariance : array-like of shape (n, n)
        The covariance, perhaps singular.
    w : array-like of shape (n,)
        Normal of the hyperplane, not zero.
    b : float
        Its offset.

    Returns
    -------
    float
        The bound. It is 0 if the mean lies outside, and 1 if it lies inside and the variance along w is zero.

    Examples
    --------
    A hyperplane two standard deviations from the mean leaves at least four fifths on the mean's side:

    >>> round(cantelli_bound([0.0, 0.0], np.eye(2), [1.0, 0.0], 2.0), 6)
    0.8
    """
    mu, variance, w, b = _checked(mu, covariance, w, b)
    return _bound(b - mu @ w, variance)


def cantelli_worst_case(mu, covariance, w, b):
    """The two-point law with these moments along w that attains the bound of `cantelli_bound`.

    With s = b - w'μ > 0 and σ² = w'Σw, one point lies on the hyperplane and has probability σ²/(s² + σ²); the other
    lies σ²/s below the mean. If the mean is outside, both points are, and the bound 0 is attained. The points lie on
    the line through μ in the direction Σw, so that the law has the mean μ and along w the variance σ². Cost O(n²).

    Parameters
    ----------
    mu : array-like of shape (n,)
        The mean.
    covariance : array-like of shape (n, n)
        The covariance.
    w : array-like of shape (n,)
        Normal of the hyperplane.
    b : float
        Its offset.

    Returns
    -------
    TwoPointLaw
        The law; a variance of zero along w gives two equal points.

    Examples
    --------
    >>> law = cantelli_worst_case([0.0], [[1.0]], [1.0], 2.0)
    >>> law.points.ravel().tolist(), law.weights.tolist()
    ([2.0, -0.5], [0.2, 0.8])
    """
    mu, variance, w, b = _checked(mu, covariance, w, b)
    covariance = np.asarray(covariance, dtype=float)
    s = b - mu @ w
    if variance <= 0:
        return TwoPointLaw(np.vstack([mu, mu]), np.array([0.5, 0.5]), float(s > 0))
    direction = covariance @ w / variance  # one step along it moves w'x by one
    if s > 0:  # one point on the hyperplane
        steps = np.array([s, -variance / s])
    elif s < 0:  # the mean is outside: the lower point may stay on the hyperplane
        steps = np.array([variance / -s, s])
    else:  # the mean is on the hyperplane: the bound 0 is a limit, approached by a rare point far inside
        far = 1e8 * np.sqrt(variance)
        steps = np.array([variance / far, -far])
    weights = np.array([-steps[1], steps[0]]) / (steps[0] - steps[1])  # mean zero; the variance is -steps[0] steps[1]
    points = mu + steps[:, None] * direction
    inside = float(weights[1]) if s >= 0 else 0.0
    return TwoPointLaw(points, weights, inside)


def _bound(s, variance):
    s = max(float(s), 0.0)
    return s / (s + variance / s) if s > 0 else 0.0  # written so that squares of small numbers do not vanish


def _checked(mu, covariance, w, b):
    mu = check_finite_array(mu, "mu", ndim=1)
    w = check_finite_array(w, "w", ndim=1)
    b = check_scalar(b, "b")
    covariance = check_symmetric(covariance, "covariance")
    if len(covariance) != len(mu):
        raise ValueError(f"covariance must have the size of mu, {len(mu)}, got {len(covariance)}")
    if len(w) != len(mu):
        raise ValueError(f"w must have the length of mu, {len(mu)}, got {len(w)}")
    if not np.any(w):
        raise ValueError("w must not be zero: it is the normal of a hyperplane")
    variance = float(w @ covariance @ w)
    if variance < -1e-10 * np.abs(covariance).max() * float(w @ w):
        raise ValueError("covariance must be positive semidefinite: its variance along w is negative")
    return mu, max(variance, 0.0), w, b
