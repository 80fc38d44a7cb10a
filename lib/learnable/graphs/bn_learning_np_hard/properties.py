"""Properties of a local table that make every active path a dependence (Chickering et al. 2004, App. C).

A table has one axis for each parent and a last axis for the child. State 0 of every variable is *distinguished*: it is
the greatest, and all other states count as equal in order. What matters is f(parents) = p(child = 0 | parents).
Tables may hold floats, compared up to `tol`, or `fractions.Fraction` objects, compared exactly.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np

from learnable.validation import check_finite_array, check_scalar

__all__ = ["is_binary_like", "is_bll", "is_bltsp", "is_lattice", "is_totally_strictly_positive"]


def check_table(table, name="table"):
    """A table of conditional probabilities as an array, floats or Fractions, whose last axis sums to one."""
    values = np.asarray(table)
    if values.dtype == object and values.size and all(isinstance(v, Fraction) for v in values.flat):
        sums, slack = values.sum(axis=-1), 0
    else:
        values = check_finite_array(table, name)
        sums, slack = values.sum(axis=-1) if values.ndim else None, 1e-8
    if values.ndim == 0 or min(values.shape) < 1:
        raise ValueError(f"{name} must have an axis for each parent and a last one for the child, none of them empty")
    if np.any(values < 0) or np.any(abs(sums - 1) > slack):
        raise ValueError(f"{name} must hold probabilities that sum to one along the last axis")
    return values


def is_binary_like(table, *, distinguished_only=False, tol=1e-12):
    """Whether states other than 0 are interchangeable, for the child and for every parent (Definition 39).

    Parameters
    ----------
    table : array-like of shape (parents..., child)
        Conditional probabilities, the child along the last axis; floats or Fractions.
    distinguished_only : bool, default=False
        Ask for state 0 of the child alone: "binary-like with respect to state 0".
    tol : float, default=1e-12
        Floats whose difference is at most `tol` times the larger are equal.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_binary_like([[0.5, 0.25, 0.25], [0.2, 0.4, 0.4], [0.2, 0.4, 0.4]])
    True
    >>> is_binary_like([[0.5, 0.25, 0.25], [0.2, 0.4, 0.4], [0.1, 0.45, 0.45]])
    False
    """
    values, tol = check_table(table), _tolerance(tol)
    if distinguished_only:
        values = values[..., :1]
    for axis in range(values.ndim):
        others = np.moveaxis(values, axis, 0)[1:]
        if len(others) and not _equal(others, others[:1], tol).all():
            return False
    return True


def is_lattice(table, *, tol=1e-12):
    """Whether p(0 | parents) grows strictly when one parent goes to state 0 (Definitions 25 and 37).

    Parameters
    ----------
    table : array-like of shape (parents..., child)
        Conditional probabilities, the child along the last axis; floats or Fractions.
    tol : float, default=1e-12
        What floats must exceed each other by, relative to the larger.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_lattice([[0.5, 0.5], [0.2, 0.8]]), is_lattice([[0.5, 0.5], [0.5, 0.5]])
    (True, False)
    """
    f, tol = check_table(table)[..., 0], _tolerance(tol)
    return all(_greater(np.moveaxis(f, axis, 0)[:1], np.moveaxis(f, axis, 0)[1:], tol).all() for axis in range(f.ndim))


def is_totally_strictly_positive(table, *, tol=1e-12):
    """Whether f(0, 0) f(x, y) > f(0, y) f(x, 0) for every two parents, the others fixed (Definitions 27 and 38).

    It says that a parent raises p(child = 0) by the larger factor the more of the other parents are 0: their
    influences strengthen each other. Cost: one pass over the table for each pair of parents.

    Parameters
    ----------
    table : array-like of shape (parents..., child)
        Conditional probabilities, the child along the last axis; floats or Fractions.
    tol : float, default=1e-12
        What floats must exceed each other by, relative to the larger.

    Returns
    -------
    bool

    Examples
    --------
    >>> f = np.array([[1 / 16, 1 / 64], [1 / 64, 1 / 128]])
    >>> is_totally_strictly_positive(np.stack([f, 1 - f], axis=-1))
    True
    >>> f = np.outer([0.5, 0.2], [0.5, 0.2])  # independent causes: equality
    >>> is_totally_strictly_positive(np.stack([f, 1 - f], axis=-1))
    False
    """
    f, tol = check_table(table)[..., 0], _tolerance(tol)
    for i, j in itertools.combinations(range(f.ndim), 2):
        g = np.moveaxis(f, (i, j), (0, 1))
        if not _greater(g[:1, :1] * g[1:, 1:], g[:1, 1:] * g[1:, :1], tol).all():
            return False
    return True


def is_bll(table, *, distinguished_only=False, tol=1e-12):
    """Whether a table is binary-like and lattice (Definition 40): the influence of each parent, alone.

    Parameters
    ----------
    table : array-like of shape (parents..., child)
        Conditional probabilities, the child along the last axis; floats or Fractions.
    distinguished_only : bool, default=False
        Ask for state 0 of the child alone.
    tol : float, default=1e-12
        For floats, relative.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_bll([[0.5, 0.5], [0.2, 0.8]])
    True
    """
    return is_binary_like(table, distinguished_only=distinguished_only, tol=tol) and is_lattice(table, tol=tol)


def is_bltsp(table, *, distinguished_only=False, tol=1e-12):
    """Whether a table is binary-like and totally strictly positive (Definition 41): the parents' influences together.

    Parameters
    ----------
    table : array-like of shape (parents..., child)
        Conditional probabilities, the child along the last axis; floats or Fractions.
    distinguished_only : bool, default=False
        Ask for state 0 of the child alone.
    tol : float, default=1e-12
        For floats, relative.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_bltsp([[0.2, 0.8], [0.5, 0.5]])  # one parent: there is no pair to ask for
    True
    """
    binary = is_binary_like(table, distinguished_only=distinguished_only, tol=tol)
    return binary and is_totally_strictly_positive(table, tol=tol)


def _tolerance(tol):
    return check_scalar(tol, "tol", low=0, high=1, closed="left")


def _equal(a, b, tol):
    if a.dtype == object:
        return a == b
    return np.abs(a - b) <= tol * np.maximum(np.abs(a), np.abs(b))


def _greater(a, b, tol):
    if a.dtype == object:
        return a > b
    return a - b > tol * np.maximum(np.abs(a), np.abs(b))
