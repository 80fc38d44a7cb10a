"""Properties of a local table that make every active path a dependence (Chickering et al. 2004, App. C).

A table has one axis for each parent and a last axis for the child. State 0 of every variable is *distinguished*: it is
the greatest, and all other states count as equal in order. What matters is f(parents) = p(child = 0 | parents).
Tables may hold floats, compared up to `tol`, or `fractions.Fraction` objects, compared exactly.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np

from learnable.validation import check_finite_array


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
    """Whether states other than 0 are interchangeable, for the child and for every parent (Definition 39)."""
    values = check_table(table)
    if distinguished_only:
        values = values[..., :1]
    for axis in range(values.ndim):
        others = np.moveaxis(values, axis, 0)[1:]
        if len(others) and not _equal(others, others[:1], tol).all():
            return False
    return True


def is_lattice(table, *, tol=1e-12):
    """Whether p(0 | parents) grows strictly when one parent goes to state 0 (Definitions 25 and 37)."""
    f = check_table(table)[..., 0]
    return all(_greater(np.moveaxis(f, axis, 0)[:1], np.moveaxis(f, axis, 0)[1:], tol).all() for axis in range(f.ndim))


def is_totally_strictly_positive(table, *, tol=1e-12):
    """Whether f(0, 0) f(x, y) > f(0, y) f(x, 0) for every two parents, the others fixed (Definitions 27 and 38)."""
    f = check_table(table)[..., 0]
    for i, j in itertools.combinations(range(f.ndim), 2):
        g = np.moveaxis(f, (i, j), (0, 1))
        if not _greater(g[:1, :1] * g[1:, 1:], g[:1, 1:] * g[1:, :1], tol).all():
            return False
    return True


def is_bll(table, *, distinguished_only=False, tol=1e-12):
    """Whether a table is binary-like and lattice (Definition 40): the influence of each parent, alone."""
    return is_binary_like(table, distinguished_only=distinguished_only, tol=tol) and is_lattice(table, tol=tol)


def is_bltsp(table, *, distinguished_only=False, tol=1e-12):
    """Whether a table is binary-like and totally strictly positive (Definition 41): the parents' influences
    together.
    """
    binary = is_binary_like(table, distinguished_only=distinguished_only, tol=tol)
    return binary and is_totally_strictly_positive(table, tol=tol)


def _equal(a, b, tol):
    if a.dtype == object:
        return a == b
    return np.abs(a - b) <= tol * np.maximum(np.abs(a), np.abs(b))


def _greater(a, b, tol):
    if a.dtype == object:
        return a > b
    return a - b > tol * np.maximum(np.abs(a), np.abs(b))
