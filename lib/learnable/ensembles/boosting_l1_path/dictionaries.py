"""Dictionaries of functions to boost over."""

from __future__ import annotations

from itertools import combinations_with_replacement
from math import comb

import numpy as np

from learnable.ensembles.weak_learners import stump_outputs
from learnable.validation import check_finite_array, check_scalar

__all__ = ["monomials", "scale_columns"]


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


def scale_columns(H):
    """Divide every column by its largest absolute value; returns (scaled, scales), with scale 1 for a zero column.

    Parameters
    ----------
    H : array-like of shape (n, J)
        Dictionary: one column for each rule.

    Examples
    --------
    >>> scale_columns([[2.0, 0.0], [-4.0, 0.0]])[0].tolist()
    [[0.5, 0.0], [-1.0, 0.0]]
    """
    H = check_finite_array(H, "H", ndim=2)
    scales = np.abs(H).max(axis=0)
    scales = np.where(scales > 0.0, scales, 1.0)
    return H / scales, scales


def stump_dictionary(X):
    """Outputs of all one-cut rules on the sample, closed under negation, each pattern once.

    Examples
    --------
    >>> stump_dictionary([[0.0], [1.0], [2.0]]).shape
    (3, 6)
    """
    return stump_outputs(X)
