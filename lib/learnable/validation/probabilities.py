"""Checks of probabilities and of vectors of them."""

import numpy as np

from learnable.validation.arrays import check_finite_array

__all__ = ["check_probabilities", "check_probability_rows", "check_probability_vector", "probability_tolerance"]


def probability_tolerance(dtype):
    """Return how far the sum of a probability vector of this dtype may be from one.

    The square root of the machine epsilon: 1.5e-8 in double and 3.5e-4 in single precision. Integers
    (one-hot rows) are held to double precision.

    Parameters
    ----------
    dtype : numpy.dtype

    Examples
    --------
    >>> f"{probability_tolerance(np.float64):.1e} {probability_tolerance(np.float32):.1e}"
    '1.5e-08 3.5e-04'
    """
    dtype = np.dtype(dtype)
    return float(np.sqrt(np.finfo(dtype if dtype.kind == "f" else np.float64).eps))


def check_probability_vector(p, name, *, size=None):
    """Return `p` as a float64 vector after checking that it is non-negative and sums to one.

    Parameters
    ----------
    p : array-like of shape (m,)
    name : str
        The argument's name, for the message.
    size : int, optional
        Required length.

    Returns
    -------
    ndarray of shape (m,)

    Examples
    --------
    >>> check_probability_vector([0.25, 0.75], "priors")
    array([0.25, 0.75])
    >>> check_probability_vector([0.25, 0.5], "priors")
    Traceback (most recent call last):
    ...
    ValueError: priors must sum to 1, got a sum of 0.75
    """
    tolerance = probability_tolerance(getattr(p, "dtype", np.float64))
    p = check_finite_array(p, name, ndim=1)
    if p.size == 0 or (size is not None and p.size != size):
        raise ValueError(f"{name} must have {size or 'at least one'} entries, got {p.size}")
    if p.min() < 0:
        raise ValueError(f"{name} must be non-negative, got {p.min()} at {p.argmin()}")
    if not abs(p.sum() - 1) <= tolerance:
        raise ValueError(f"{name} must sum to 1, got a sum of {p.sum():.9g}")
    return p


def check_probability_rows(P, name, *, rows=None, columns=None, tol=None):
    """Return `P` as a C-contiguous float64 table whose rows are probabilities: not negative, with sum one.

    Parameters
    ----------
    P : array-like of shape (n, m)
        At least one row and one column.
    name : str
        The argument's name, for the message.
    rows, columns : int, optional
        Required numbers of rows and columns.
    tol : float, optional
        How far a sum may be from one; by default that of :func:`probability_tolerance`.

    Returns
    -------
    ndarray of shape (n, m)

    Examples
    --------
    >>> check_probability_rows([[0.5, 0.5], [0.25, 0.75]], "transmat").shape
    (2, 2)
    >>> check_probability_rows([[0.5, 0.5], [0.25, 0.5]], "transmat")
    Traceback (most recent call last):
    ...
    ValueError: transmat must have rows that sum to 1, got a sum of 0.75 in row 1
    """
    tol = probability_tolerance(getattr(P, "dtype", np.float64)) if tol is None else tol
    P = check_finite_array(P, name, ndim=2)
    wanted = (P.shape[0] if rows is None else rows, P.shape[1] if columns is None else columns)
    if P.shape != wanted:
        shown = ", ".join("any" if n is None else str(n) for n in (rows, columns))
        raise ValueError(f"{name} must have shape ({shown}), got {P.shape}")
    if P.size == 0:
        raise ValueError(f"{name} must have at least one row and one column, got shape {P.shape}")
    if P.min() < 0:
        row = int(np.argwhere(P < 0)[0, 0])
        raise ValueError(f"{name} must be non-negative, got {P[row].min():g} in row {row}")
    sums = P.sum(axis=1)
    off = np.abs(sums - 1) > tol
    if off.any():
        row = int(off.argmax())
        raise ValueError(f"{name} must have rows that sum to 1, got a sum of {sums[row]:.9g} in row {row}")
    return np.ascontiguousarray(P)


def check_probabilities(p, name):
    """Return `p` as a float64 array, of any shape, after checking that it lies in [0, 1].

    Parameters
    ----------
    p : array-like
    name : str
        The argument's name, for the message.

    Examples
    --------
    >>> check_probabilities([0, 0.5], "p1")
    array([0. , 0.5])
    """
    p = check_finite_array(p, name)
    outside = (p < 0) | (p > 1)
    if outside.any():
        raise ValueError(f"{name} must lie in [0, 1], got {p[outside].flat[0]}")
    return p
