"""Checks of probabilities and of vectors of them."""

import numpy as np

from learnable.validation.arrays import check_finite_array

__all__ = ["check_probabilities", "check_probability_vector", "probability_tolerance"]


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
