"""Proximal maps: the soft threshold, for arrays and for compiled loops, and that of minus the log-determinant."""

import numpy as np
from numba import njit
from scipy import linalg

from learnable.validation import check_finite_array

__all__ = ["logdet_prox", "soft_threshold"]


def soft_threshold(z, r):
    """sign(z) max(|z| - r, 0), entry by entry: the minimiser of (x - z)^2 / 2 + r |x|.

    Parameters
    ----------
    z : array-like
    r : array-like
        Not negative; a number, or of a shape that broadcasts with `z`.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> soft_threshold([-3.0, 0.5, 2.0], 1.0).tolist()
    [-2.0, 0.0, 1.0]
    """
    z, r = check_finite_array(z, "z"), check_finite_array(r, "r")
    if (r < 0).any():
        raise ValueError(f"r must be non-negative, got {r.min()}")
    return z - np.clip(z, -r, r)


def logdet_prox(A, rho):
    """The positive definite X that minimises -log det X + rho/2 |X - A|^2, by one eigendecomposition. O(p^3).

    Stationarity, rho (X - A) = X^-1, has the eigenvectors of A, and a quadratic equation for each eigenvalue.

    Parameters
    ----------
    A : ndarray of shape (p, p)
        Symmetric.
    rho : float
        Positive.

    Returns
    -------
    ndarray of shape (p, p)

    Examples
    --------
    >>> logdet_prox(np.diag([0.0, 1.5]), 1.0).round(9).tolist()
    [[1.0, 0.0], [0.0, 2.0]]
    """
    values, vectors = linalg.eigh(A, driver="evd", check_finite=False)
    root = np.sqrt(values * values + 4.0 / rho)
    # (d + root)/2 cancels for negative d; the product of the two roots of the quadratic is -1/rho.
    roots = np.where(values > 0, 0.5 * (values + root), (2.0 / rho) / np.where(values > 0, 1.0, root - values))
    vectors *= np.sqrt(roots)
    return vectors @ vectors.T


@njit(cache=True)
def soft(z, r):
    """The soft threshold of one number, for compiled loops.

    Parameters
    ----------
    z, r : float

    Returns
    -------
    float

    Examples
    --------
    >>> soft(-3.0, 1.0), soft(0.5, 1.0)
    (-2.0, 0.0)
    """
    if z > r:
        return z - r
    if z < -r:
        return z + r
    return 0.0
