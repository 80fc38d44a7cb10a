"""The proximal map of the absolute value: the soft threshold, for arrays and for compiled loops."""

import numpy as np
from numba import njit

from learnable.validation import check_finite_array

__all__ = ["soft_threshold"]


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
