"""Checks of whole numbers in arrays: codes of states, column numbers, permutations."""

import numpy as np

from learnable.validation.arrays import check_finite_array

__all__ = ["check_codes", "check_permutation"]


def check_codes(codes, name, *, size=None, ndim=1, distinct=False, strict=False):
    """Return whole numbers 0, 1, ... as int64: codes of states or classes, column numbers, nodes.

    Parameters
    ----------
    codes : array-like of int
        Floats are accepted where they are whole numbers, booleans as 0 and 1.
    name : str
        The argument's name, for the message.
    size : int, optional
        How many codes there are: all must be below it.
    ndim : int, default=1
        Required number of dimensions.
    distinct : bool, default=False
        Refuse a code that occurs twice.
    strict : bool, default=False
        Refuse floats and booleans, for indices: a mask of True and False is not meant to be the columns 1 and 0.

    Returns
    -------
    ndarray of int64

    Examples
    --------
    >>> check_codes([2, 0], "columns", size=3)
    array([2, 0])
    >>> check_codes([2, 0], "columns", size=2)
    Traceback (most recent call last):
    ...
    ValueError: columns must hold whole numbers from 0 to 1, got 2
    """
    array = np.asarray(codes)
    if strict and array.size and array.dtype.kind not in "iu":
        raise ValueError(f"{name} must hold integers, got {array.dtype}")
    if array.dtype.kind == "b":
        array = array.astype(np.int64)
    elif array.dtype.kind not in "iu":
        array = check_finite_array(codes, name)
    if array.ndim != ndim:
        raise ValueError(f"{name} must have {ndim} dimension(s), got shape {array.shape}")
    limit = 2**63 if size is None else size
    wrong = (array < 0) | (array >= limit) | (array != np.floor(array))
    if wrong.any():
        accepted = "whole numbers 0, 1, ..." if size is None else f"whole numbers from 0 to {size - 1}"
        raise ValueError(f"{name} must hold {accepted}, got {array[wrong][0]}")
    array = array.astype(np.int64)
    if distinct and array.size:
        values, counts = np.unique(array, return_counts=True)
        if counts.max() > 1:
            raise ValueError(f"{name} must hold different numbers, got {values[counts.argmax()]} twice")
    return array


def check_permutation(order, name, size):
    """Return a permutation of 0, ..., size - 1 as int64.

    Parameters
    ----------
    order : array-like of int of shape (size,)
    name : str
        The argument's name, for the message.
    size : int

    Returns
    -------
    ndarray of int64 of shape (size,)

    Examples
    --------
    >>> check_permutation([2, 0, 1], "order", 3)
    array([2, 0, 1])
    >>> check_permutation([2, 0, 2], "order", 3)
    Traceback (most recent call last):
    ...
    ValueError: order must be a permutation of 0, ..., 2
    """
    array = np.asarray(order)
    if array.dtype.kind not in "iu" or array.shape != (size,) or not np.array_equal(np.sort(array), np.arange(size)):
        raise ValueError(f"{name} must be a permutation of 0, ..., {size - 1}")
    return array.astype(np.int64)
