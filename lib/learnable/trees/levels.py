"""Least-squares trees level by level, from features that are sorted once.

One pass over every sorted feature serves all nodes of a level, each with its own running sum: no array of rows is ever
moved, as `learnable.trees.grow` does for weights, classes and unbounded depth. For trees of bounded depth on many
targets, as in boosting, that takes a third of the time.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numba import njit

from learnable._inner import cut_between
from learnable.trees._nodes import route

__all__ = ["LevelTree", "grow_levels"]


@dataclass(frozen=True)
class LevelTree:
    """A tree of bounded depth in heap order: the children of node v are 2v + 1 and 2v + 2; feature −1 marks a leaf.

    Examples
    --------
    >>> import numpy as np
    >>> tree = LevelTree(np.array([0, -1, -1]), np.array([1.5, 0.0, 0.0]), np.array([0.0, 1.0, 5.0]))
    >>> tree.predict([[0.0], [2.0]])
    array([1., 5.])
    """

    feature: np.ndarray
    threshold: np.ndarray
    value: np.ndarray
    outputs: np.ndarray | None = field(default=None, repr=False, compare=False)

    def apply(self, X):
        """Leaf of each row of X."""
        X = np.asarray(X)
        if X.dtype.kind == "c":
            raise ValueError("X must be an array of real numbers")
        X = np.ascontiguousarray(X, dtype=np.float64)
        needed = int(self.feature.max(initial=-1)) + 1
        if X.ndim != 2 or X.shape[1] < needed:
            raise ValueError(f"X must have at least {needed} columns, the tree asks for them, got shape {X.shape}")
        return route(X, self.feature, self.threshold)

    def predict(self, X):
        """The value of each row's leaf."""
        return self.value[self.apply(X)]


def grow_levels(features, target, *, max_depth=1, min_samples_leaf=1):
    """Grow a least-squares tree of bounded depth. O(n d) for each level.

    Parameters
    ----------
    features : SortedFeatures
    target : array (n,)
    max_depth : int, default=1
        At most 16.
    min_samples_leaf : int, default=1

    Returns
    -------
    feature, threshold : array (2^(max_depth + 1) − 1,)
        In heap order, as in `LevelTree`.
    leaf : array (n,) of int32
        The leaf of each row.

    Notes
    -----
    A threshold lies half-way between two neighbouring values of the node. Of equally good cuts the first feature and
    the smallest threshold win.

    Examples
    --------
    >>> from learnable.trees.sorted_features import SortedFeatures
    >>> feature, threshold, leaf = grow_levels(SortedFeatures([[0.0], [1.0], [2.0]]), [1.0, 1.0, 4.0])
    >>> feature.tolist(), float(threshold[0]), leaf.tolist()
    ([0, -1, -1], 1.5, [1, 1, 2])
    """
    target = features.check_length(target, "target")
    arrays = features.columns, features.order, features.values
    return _grow(*arrays, target, max_depth, min_samples_leaf, features.inverse)


@njit(cache=True)
def _grow(columns, order, values, target, depth, min_leaf, inverse):
    """Level by level; a row knows its open node (`slot`), so that nothing is sorted or moved."""
    d, n = columns.shape
    size = 2 ** (depth + 1) - 1
    feature = np.full(size, -1, np.int64)
    threshold = np.full(size, np.nan)
    leaf = np.zeros(n, np.int32)
    slot = np.zeros(n, np.int32)  # place among the open nodes of this level, −1 when closed
    centred = np.empty(n)
    open_nodes = np.zeros(1, np.int64)
    for _ in range(depth):
        m = len(open_nodes)
        count = np.zeros(m, np.int64)
        mean = np.zeros(m)
        spread = np.zeros(m)
        size_of = np.zeros(m)
        for i in range(n):
            v = slot[i]
            if v >= 0:
                count[v] += 1
                mean[v] += target[i]
        for v in range(m):
            mean[v] *= inverse[count[v]]
        for i in range(n):
            v = slot[i]
            if v >= 0:
                centred[i] = target[i] - mean[v]
                spread[v] += centred[i] * centred[i]
                size_of[v] += target[i] * target[i]
        # A constant target leaves rounding noise only: such a node, or a small one, is a leaf.
        for v in range(m):
            if count[v] < 2 * min_leaf or spread[v] <= 1e-28 * size_of[v]:
                count[v] = 0
        best = np.full(m, -1.0)
        best_feature = np.full(m, -1, np.int64)
        best_cut = np.zeros(m)
        for j in range(d):
            if values[j, 0] == values[j, n - 1]:
                continue
            if m == 1:
                _scan_root(
                    order[j], values[j], centred, slot, count, min_leaf, inverse, j, best, best_feature, best_cut
                )
            else:
                _scan_level(
                    order[j], values[j], centred, slot, count, min_leaf, inverse, j, best, best_feature, best_cut
                )
        fresh = np.empty(2 * m, np.int64)
        place = np.full(m, -1, np.int32)  # of the left child among the open nodes of the next level
        used = 0
        for v in range(m):
            if best_feature[v] >= 0:
                node = open_nodes[v]
                feature[node] = best_feature[v]
                threshold[node] = best_cut[v]
                fresh[used], fresh[used + 1] = 2 * node + 1, 2 * node + 2
                place[v] = used
                used += 2
        for i in range(n):
            v = slot[i]
            if v >= 0:
                if place[v] < 0:
                    slot[i] = -1
                else:
                    right = columns[best_feature[v], i] > best_cut[v]
                    slot[i] = place[v] + 1 if right else place[v]
                    leaf[i] = fresh[slot[i]]
        if used == 0:
            break
        open_nodes = fresh[:used].copy()
    return feature, threshold, leaf


# With S the sum of k of c centred targets the gain of a cut is S² (1/k + 1/(c − k)): `inverse` is a table of 1/k, since
# divisions would take most of the time. Arrays come one by one: grouped in a NamedTuple they cost 5 % of a tree.


@njit(cache=True)
def _scan_root(row, values, centred, slot, count, min_leaf, inverse, j, best, best_feature, best_cut):
    """`_scan_level` where all rows are in one node: no look at the slot of each."""
    n = len(row)
    if count[0] == 0 or slot[row[0]] < 0:
        return
    running, top, at = 0.0, best[0] * (1.0 + 1e-12), -1
    for p in range(n - 1):
        running += centred[row[p]]
        if values[p] != values[p + 1]:
            gain = running * running * (inverse[p + 1] + inverse[n - p - 1])
            if gain > top and p + 1 >= min_leaf and n - p - 1 >= min_leaf:
                top, at = gain, p
    if at >= 0:
        best[0], best_feature[0] = top, j
        best_cut[0] = cut_between(values[at], values[at + 1])


@njit(cache=True)
def _scan_level(row, values, centred, slot, count, min_leaf, inverse, j, best, best_feature, best_cut):
    """One pass over a sorted feature for all open nodes at once."""
    m = len(count)
    running = np.zeros(m)
    done = np.zeros(m, np.int64)
    last = np.zeros(m)
    for p in range(len(row)):
        i = row[p]
        v = slot[i]
        if v < 0 or count[v] == 0:
            continue
        x = values[p]
        k = done[v]
        if k > 0 and x != last[v]:
            total = running[v]
            gain = total * total * (inverse[k] + inverse[count[v] - k])
            if gain > best[v] * (1.0 + 1e-12) and k >= min_leaf and count[v] - k >= min_leaf:
                best[v], best_feature[v] = gain, j
                best_cut[v] = cut_between(last[v], x)
        running[v] += centred[i]
        done[v] = k + 1
        last[v] = x
