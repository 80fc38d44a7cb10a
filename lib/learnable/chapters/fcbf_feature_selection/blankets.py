"""Relevance, Markov blankets and redundancy, exactly, for a joint distribution that is known (Yu and Liu 2004, Sec. 2).

A distribution is a table with one axis for each feature and the class on the last axis. "The class does not depend on
feature i given a set" is then an equation between sums of the table, and every definition is checked as it stands:
exponential in the number of features, so for small tables only.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from learnable.validation import check_finite_array, check_scalar, probability_tolerance

CATEGORIES = ("irrelevant", "weakly relevant", "strongly relevant")
LARGEST = 12  # features; the definition of weak relevance looks at every subset of the others


@dataclass(frozen=True)
class Partition:
    """The four parts of a set of features. Together they hold each feature once."""

    irrelevant: tuple
    redundant: tuple
    weak: tuple
    strong: tuple

    @property
    def optimal(self):
        """What is kept, strongly relevant and weakly relevant but not redundant features, in increasing order."""
        return tuple(sorted(self.weak + self.strong))


def relevance_category(joint, feature, *, tol=1e-9):
    """Irrelevant, weakly relevant or strongly relevant."""
    joint, tol = _check_joint(joint), _check_tol(tol)
    feature = _check_feature(joint, feature)
    others = [j for j in range(joint.ndim - 1) if j != feature]
    if _tells(joint, feature, others, tol):
        return CATEGORIES[2]
    for size in range(len(others)):
        if any(_tells(joint, feature, given, tol) for given in combinations(others, size)):
            return CATEGORIES[1]
    return CATEGORIES[0]


def is_markov_blanket(joint, blanket, feature, *, tol=1e-9):
    """Whether a set of features holds all that a feature says about the class and about the remaining features."""
    joint, tol = _check_joint(joint), _check_tol(tol)
    feature = _check_feature(joint, feature)
    blanket = sorted({_check_feature(joint, j, "blanket") for j in blanket})
    rest = [j for j in range(joint.ndim) if j != feature and j not in blanket]
    return not _depends(joint, feature, rest, blanket, tol)


def markov_blanket_filtering(joint, *, order=None, drop_irrelevant=True, tol=1e-9):
    """Backward elimination: remove features that have a blanket among those which are left."""
    joint, tol = _check_joint(joint), _check_tol(tol)
    n = joint.ndim - 1
    order = list(range(n - 1, -1, -1)) if order is None else [_check_feature(joint, j, "order") for j in order]
    left = list(range(n))
    if drop_irrelevant:
        left = [j for j in left if relevance_category(joint, j, tol=tol) != CATEGORIES[0]]
        joint = joint.sum(axis=tuple(j for j in range(n) if j not in left), keepdims=True)
    for j in order:
        if j in left and is_markov_blanket(joint, [i for i in left if i != j], j, tol=tol):
            left.remove(j)
    return tuple(left)


def partition_features(joint, *, order=None, tol=1e-9):
    """Irrelevant, redundant, weakly relevant but not redundant, strongly relevant."""
    joint, tol = _check_joint(joint), _check_tol(tol)
    parts = {name: [] for name in CATEGORIES}
    for j in range(joint.ndim - 1):
        parts[relevance_category(joint, j, tol=tol)].append(j)
    left = markov_blanket_filtering(joint, order=order, tol=tol)
    weak = parts[CATEGORIES[1]]
    return Partition(
        irrelevant=tuple(parts[CATEGORIES[0]]),
        redundant=tuple(j for j in weak if j not in left),
        weak=tuple(j for j in weak if j in left),
        strong=tuple(parts[CATEGORIES[2]]),
    )


def _tells(joint, feature, given, tol):
    """Whether the class depends on a feature given others."""
    return _depends(joint, feature, [joint.ndim - 1], list(given), tol)


def _depends(joint, feature, rest, given, tol):
    """Whether P(feature, rest | given) is not the product of its margins: p(f, r, g) p(g) = p(f, g) p(r, g) fails."""
    axes = [*given, feature, *rest]
    table = joint.sum(axis=tuple(j for j in range(joint.ndim) if j not in axes))
    places = np.argsort(np.argsort(axes))  # where each axis lies after the others are summed out
    sizes = [joint.shape[j] for j in axes]
    split = len(given)
    table = table.transpose(places).reshape(int(np.prod(sizes[:split])), sizes[split], -1)
    whole = table.sum(axis=(1, 2), keepdims=True)
    product = table.sum(axis=2, keepdims=True) * table.sum(axis=1, keepdims=True)
    # Compared as probabilities: divided by p(g), so that rare combinations count as much as common ones.
    gap = np.divide(np.abs(table * whole - product), whole**2, out=np.zeros_like(table), where=whole > tol)
    return bool(gap.max() > tol)


def _check_joint(joint):
    joint = check_finite_array(joint, "joint")
    if not 2 <= joint.ndim <= LARGEST + 1:
        raise ValueError(f"joint: one axis for each of 1 to {LARGEST} features and one for the class is expected")
    if joint.size == 0 or joint.min() < 0 or abs(joint.sum() - 1) > probability_tolerance(joint.dtype) * joint.size:
        raise ValueError("joint: probabilities are not negative and sum to one")
    return joint


def _check_feature(joint, feature, name="feature"):
    return check_scalar(feature, name, low=0, high=joint.ndim - 2, integer=True)


def _check_tol(tol):
    return check_scalar(tol, "tol", low=0)
