"""Running means, and from when on to believe them (Author year, Sec. 1). Replace this example by your method.

Public functions validate and document; the loop that costs time is a compiled kernel below them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from learnable.validation import check_finite_array, check_scalar

__all__ = ["Settling", "running_mean", "settle", "standard_error"]


@dataclass(frozen=True)
class Settling:
    """What `settle` returns: from when on the running mean stays near a value.

    Attributes
    ----------
    index : int
        The first index from which on all means are near; n if the last one is not.
    means : ndarray of shape (n,)
        The running means.
    settled : bool
        Whether the last mean is near.
    """

    index: int
    means: np.ndarray
    settled: bool


def running_mean(x):
    """Mean of the first 1, 2, ..., n values (Author year, (1)). Cost O(n).

    Parameters
    ----------
    x : array-like of shape (n,)
        The values, in the order in which they came.

    Returns
    -------
    ndarray of shape (n,)
        The means.

    Examples
    --------
    >>> running_mean([2.0, 4.0, 6.0])
    array([2., 3., 4.])
    """
    return _running_mean(_vector(x))


def standard_error(x):
    """Standard deviation of the mean of independent values, estimated from them (Author year, (2)). Cost O(n).

    Parameters
    ----------
    x : array-like of shape (n,)
        At least two values.

    Returns
    -------
    float
        The standard error.

    Examples
    --------
    >>> standard_error([0.0, 2.0])
    1.0
    """
    x = _vector(x)
    if len(x) < 2:
        raise ValueError("x must have at least two values")
    return float(x.std(ddof=1) / np.sqrt(len(x)))


def settle(x, centre, *, tol=0.1):
    """Find from when on the running mean stays within `tol` of `centre` (Author year, (3)). Cost O(n).

    Parameters
    ----------
    x : array-like of shape (n,)
        The values.
    centre : float
        Where the mean should be.
    tol : float, default=0.1
        What counts as near.

    Returns
    -------
    Settling
        The index, with the means.

    Examples
    --------
    >>> settle([4.0, 0.0, 2.0], centre=2.0, tol=0.5).index
    1
    """
    tol = check_scalar(tol, "tol", low=0)
    means = running_mean(x)
    outside = np.flatnonzero(np.abs(means - centre) > tol)
    index = int(outside[-1]) + 1 if len(outside) else 0
    return Settling(index, means, index < len(means))


def _vector(x):
    x = check_finite_array(x, "x", ndim=1)
    if len(x) == 0:
        raise ValueError("x must have at least one value")
    return x


@njit(cache=True)
def _running_mean(x):
    out = np.empty_like(x)
    total = 0.0
    for i in range(len(x)):
        total += x[i]
        out[i] = total / (i + 1)
    return out
