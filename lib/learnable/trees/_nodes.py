"""What the growers of trees share: the record of nodes, the division of a node's rows, the way of a row to its leaf.

A grower keeps the numbers of all rows in one array, in which the rows of a node lie side by side: a split divides them
in place, and the children get the two parts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from learnable._inner import assign, inner

__all__ = ["Nodes", "add_children", "constant", "divide", "leaf_of", "moments", "route", "xlogx"]


class Nodes(NamedTuple):
    """A tree while it grows: the arrays of `learnable.trees.Tree`, and where the rows of each node begin and end."""

    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    weight: np.ndarray
    value: np.ndarray
    cost: np.ndarray
    depth: np.ndarray
    begin: np.ndarray
    end: np.ndarray

    @classmethod
    def room(cls, most, n, k=1):
        """Room for so many nodes, each with k values; the root has rows 0…n − 1."""
        links, spans = np.full((3, most), -1), np.zeros((3, most), np.int64)
        spans[2, 0] = n
        weight, cost = np.zeros((2, most))
        return cls(links[0], np.full(most, np.nan), *links[1:], weight, np.zeros((most, k)), cost, *spans)

    def tree(self, m):
        """Copies of the first m entries of what a `Tree` holds."""
        return tuple(part[:m].copy() for part in self[:8])


@inner
def add_children(nodes, node, m, middle):
    """Make nodes m and m + 1 the children of a node: its rows before `middle` go left, the others right."""
    nodes.left[node], nodes.right[node] = m, m + 1
    nodes.depth[m] = nodes.depth[m + 1] = nodes.depth[node] + 1
    nodes.begin[m], nodes.end[m] = nodes.begin[node], middle
    nodes.begin[m + 1], nodes.end[m + 1] = middle, nodes.end[node]


@inner
def divide(rows, spare, column, cut):
    """Move the rows with column[i] <= cut to the front, both parts in order; return how many there are.

    Every row is written to both parts, and only the count of the right one moves on: without a branch, which would
    be mispredicted for every second row.
    """
    left, right = 0, 0
    for p in range(len(rows)):
        i = rows[p]
        first = column[i] <= cut
        spare[right] = i
        rows[left] = i
        left += first
        right += not first
    assign(rows[left:], spare)
    return left


@inner
def constant(rows, target):
    """Whether all rows have the same target."""
    first = target[rows[0]]
    for i in rows:
        if target[i] != first:
            return False
    return True


@inner
def moments(rows, target, weight):
    """Weight, mean, and sum of the squared distances from it; the mean first, since squares alone lose digits."""
    total, mean, spread = 0.0, 0.0, 0.0
    for i in rows:
        total += weight[i]
        mean += weight[i] * target[i]
    mean = mean / total if total > 0.0 else 0.0
    for i in rows:
        spread += weight[i] * (target[i] - mean) ** 2
    return total, mean, spread


def xlogx(n):
    """Table of i ln i for i = 0…n: the logarithms of every entropy of counts up to n."""
    i = np.arange(1, n + 1, dtype=np.float64)
    return np.concatenate([[0.0], i * np.log(i)])


@inner
def leaf_of(x, feature, threshold, left, right, categories):
    """The leaf of one row: right where its feature is above the threshold.

    Without `left` and `right` the children of node v are 2v + 1 and 2v + 2. `categories`, or None, are those that go
    left in each node whose threshold is NaN, and whether others do.
    """
    node = 0
    while feature[node] >= 0:
        value = x[feature[node]]
        above = value > threshold[node]
        if categories is not None:
            go_left, others = categories
            if np.isnan(threshold[node]):
                above = not (go_left[node, int(value)] if 0.0 <= value < go_left.shape[1] else others[node])
        if left is None:
            node = 2 * node + 2 if above else 2 * node + 1
        else:
            node = right[node] if above else left[node]
    return node


@njit(cache=True)
def route(X, feature, threshold, left=None, right=None, categories=None):
    """The leaf of each row of X, as `leaf_of` finds it."""
    out = np.empty(len(X), np.int64)
    for i in range(len(X)):
        out[i] = leaf_of(X[i], feature, threshold, left, right, categories)
    return out
