"""What two moments say about a half-space: the one-sided Chebyshev inequality and the law that attains it.

Among all laws of a random vector with mean μ and covariance Σ, the half-space w'x < b has probability at least
s²/(s² + w'Σw), s = max(b - w'μ, 0) (Bhattacharyya 2004, Theorem 1; Marshall and Olkin 1960). The least favourable law
has two points.
"""

from __future__ import annotations

import numpy as np

from learnable.validation import check_finite_array, check_scalar, check_symmetric

LARGEST_ETA = 1 - 1e-9


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
