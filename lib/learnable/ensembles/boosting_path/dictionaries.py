"""Dictionaries of functions to boost over: all monomials up to a degree (Rosset et al. 2004, Sec. 6)."""

from __future__ import annotations

from itertools import combinations_with_replacement
from math import comb

import numpy as np

from learnable.validation import check_finite_array, check_scalar


def monomials(X, degree):
    """All monomials of total degree at most `degree`, the constant first: C(degree + d, d) columns.

    Parameters
    ----------
    X : array-like of shape (n, d)
    degree : int

    Examples
    --------
    >>> monomials([[2.0, 3.0]], 2).tolist()
    [[1.0, 2.0, 3.0, 4.0, 6.0, 9.0]]
    >>> monomials(np.zeros((1, 2)), 8).shape
    (1, 45)
    """
    X = check_finite_array(X, "X", ndim=2)
    degree = check_scalar(degree, "degree", low=0, integer=True)
    if comb(degree + X.shape[1], degree) > 100_000:
        raise ValueError("more than 100,000 monomials; lower the degree")
    largest = 10.0 ** (300 / max(degree, 1))
    if np.abs(X).max(initial=0.0) > largest:
        raise ValueError(f"X must be at most {largest:.3g} in absolute value, so that its powers are numbers")
    columns = [np.ones(X.shape[0])]
    for size in range(1, degree + 1):
        columns += [np.prod(X[:, list(c)], axis=1) for c in combinations_with_replacement(range(X.shape[1]), size)]
    return np.column_stack(columns)
