"""Checks of arrays: finite numbers, magnitudes that can be squared, symmetric matrices, weights."""

import numpy as np
from numba import njit

__all__ = [
    "check_finite_array",
    "check_magnitude",
    "check_real_array",
    "check_row_values",
    "check_symmetric",
    "check_weights",
]

# A covariance computed as X'X is symmetric to rounding; anything beyond this relative difference is another matrix.
ASYMMETRY = 1e-8


def check_real_array(values, name):
    """Return `values` as a float64 array, infinite or missing entries included.

    Parameters
    ----------
    values : array-like of numbers
        Complex numbers, texts and integers that no float can hold are refused.
    name : str
        The argument's name, for the message.

    Returns
    -------
    ndarray of float64

    Examples
    --------
    >>> check_real_array([1, float("inf")], "x")
    array([ 1., inf])
    >>> check_real_array(10**400, "x")
    Traceback (most recent call last):
    ...
    ValueError: x must be an array of real numbers that fit into a float
    """
    try:
        array = np.asarray(values)
        if array.dtype.kind == "c":
            raise TypeError("complex")
        return np.asarray(array, dtype=np.float64)
    except OverflowError:
        raise ValueError(f"{name} must be an array of real numbers that fit into a float") from None
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be an array of real numbers") from None


def check_row_values(values, n, name):
    """Return `values` as contiguous numbers, one for each of n rows: compiled code looks them up by row.

    Whether they are finite is not looked at, since loops call this each time that they change.

    Parameters
    ----------
    values : array-like of shape (n,)
    n : int
    name : str
        The argument's name, for the message.

    Returns
    -------
    ndarray of float64

    Examples
    --------
    >>> check_row_values([1, 2], 2, "target")
    array([1., 2.])
    """
    values = np.ascontiguousarray(check_real_array(values, name))
    if values.shape != (n,):
        raise ValueError(f"{name} must hold one number for each of the {n} rows, got {values.shape}")
    return values


def check_finite_array(values, name, *, ndim=None):
    """Return `values` as a float64 array after checking that every entry is finite.

    Parameters
    ----------
    values : array-like of numbers
    name : str
        The argument's name, for the message.
    ndim : int, optional
        Required number of dimensions.

    Returns
    -------
    ndarray of float64

    Examples
    --------
    >>> check_finite_array([1, 2], "x", ndim=1)
    array([1., 2.])
    """
    array = check_real_array(values, name)
    if ndim is not None and array.ndim != ndim:
        raise ValueError(f"{name} must have {ndim} dimension(s), got shape {array.shape}")
    if not np.isfinite(array).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise ValueError(f"{name} must be finite, got {array[where]} at {list(where)}")
    return array


def check_magnitude(values, name, *, smallest=1e-150, largest=1e150):
    """Refuse numbers whose squares overflow, or all underflow, before they enter code that squares them.

    Distances and variances of such data are infinite or zero whatever the data say, so that every comparison of them
    is wrong without a word.

    Parameters
    ----------
    values : ndarray of finite numbers
    name : str
        The argument's name, for the message.
    smallest, largest : float, default=1e-150, 1e150
        The largest absolute value must lie between them, or be 0.

    Returns
    -------
    ndarray
        `values`, unchanged.

    Examples
    --------
    >>> check_magnitude(np.array([0.0, 1e160]), "X")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: X must have a largest absolute value in [1e-150, 1e+150], so that ...
    """
    size = float(np.abs(values).max(initial=0.0))
    if size > 0 and not smallest <= size <= largest:
        raise ValueError(
            f"{name} must have a largest absolute value in [{smallest:g}, {largest:g}], so that its squares are "
            f"numbers; got {size:g}: change its unit"
        )
    return values


def check_symmetric(A, name="A", *, allow_empty=False):
    """Return `A` as a C-contiguous, exactly symmetric float64 matrix; differences at rounding level are averaged out.

    Raises ValueError for anything that is not a finite, square, symmetric matrix. O(p^2).

    Parameters
    ----------
    A : array-like of shape (p, p)
    name : str, default="A"
        The argument's name, for the message.
    allow_empty : bool, default=False
        Accept a matrix without rows.

    Returns
    -------
    ndarray of shape (p, p)

    Examples
    --------
    >>> check_symmetric([[2, 1], [1, 3]])
    array([[2., 1.],
           [1., 3.]])
    >>> check_symmetric([[2, 1], [0, 3]], "S")
    Traceback (most recent call last):
    ...
    ValueError: S must be symmetric, but S[0, 1] = 1 and S[1, 0] = 0
    """
    A = np.ascontiguousarray(check_finite_array(A, name, ndim=2))
    if A.shape[0] != A.shape[1] or (A.size == 0 and not allow_empty):
        least = "" if allow_empty else " with at least one row"
        raise ValueError(f"{name} must be a square matrix{least}, got shape {A.shape}")
    difference, largest, i, j = _asymmetry(A)
    if difference == 0:
        return A
    if difference > ASYMMETRY * largest:
        raise ValueError(
            f"{name} must be symmetric, but {name}[{i}, {j}] = {A[i, j]:g} and {name}[{j}, {i}] = {A[j, i]:g}"
        )
    return 0.5 * (A + A.T)


def check_weights(weights, size, name="sample_weight"):
    """Return `size` non-negative weights that do not all vanish as float64, or None for None.

    Parameters
    ----------
    weights : array-like of shape (size,) or None
    size : int
    name : str, default="sample_weight"
        The argument's name, for the message.

    Examples
    --------
    >>> check_weights([1, 2], 2)
    array([1., 2.])
    """
    if weights is None:
        return None
    weights = check_finite_array(weights, name, ndim=1)
    if weights.size != size:
        raise ValueError(f"{name} must have {size} entries, got {weights.size}")
    if size and (weights.min() < 0 or weights.max() == 0):
        raise ValueError(f"{name} must be non-negative and not all zero")
    return weights


@njit(cache=True)
def _asymmetry(A):
    """Largest difference between mirrored entries and its place, and the largest entry; by tiles, as below."""
    p, tile = A.shape[0], 32
    worst, largest, at_i, at_j = 0.0, 0.0, 0, 0
    for i0 in range(0, p, tile):
        for j0 in range(0, i0 + 1, tile):
            for i in range(i0, min(i0 + tile, p)):
                for j in range(j0, min(j0 + tile, i + 1)):
                    largest = max(largest, abs(A[i, j]), abs(A[j, i]))
                    difference = abs(A[i, j] - A[j, i])
                    if difference > worst:
                        worst, at_i, at_j = difference, j, i
    return worst, largest, at_i, at_j
