"""Least-squares trees with a given number of leaves, grown best leaf first.

A tree of given *depth* splits every leaf of a level; a tree of given *size* splits, again and again, the one leaf where
a cut gains most. The values of every feature are numbered once, so that the search in a leaf is a histogram of weights
over these numbers: exact, and no sorting when many trees share their features, as in boosting.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from learnable._inner import cut_between, inner
from learnable.trees._features import PreparedFeatures, check_table
from learnable.trees._nodes import Nodes, add_children, constant, divide, moments
from learnable.trees.growing import Tree
from learnable.validation import check_scalar

__all__ = ["NumberedFeatures", "grow_best_first"]


class _Places(NamedTuple):
    """Every distinct value of every feature has a place; `begin` says where a feature's places start.

    A row lists the places of its values, except those of a feature's most frequent value (`usual`): what that one
    weighs is what the others leave over. On sparse data most of the work disappears.
    """

    values: np.ndarray
    begin: np.ndarray
    usual: np.ndarray
    first: np.ndarray
    listed: np.ndarray
    columns: np.ndarray


class NumberedFeatures(PreparedFeatures):
    """The distinct values of every feature, numbered once. O(n d log n).

    Parameters
    ----------
    X : array (n, d)

    Examples
    --------
    >>> NumberedFeatures([[0.5], [2.0], [0.5]]).places.values
    array([0.5, 2. ])
    """

    def __init__(self, X):
        X = check_table(X)
        self.shape = X.shape
        found = [np.unique(column, return_inverse=True, return_counts=True) for column in X.T]
        begin = np.concatenate([[0], np.cumsum([len(values) for values, _, _ in found])]).astype(np.int64)
        usual = begin[:-1] + [int(np.argmax(counts)) for _, _, counts in found]
        place = np.stack([codes for _, codes, _ in found], axis=1) + begin[:-1]
        rare = place != usual
        first = np.concatenate([[0], np.cumsum(rare.sum(axis=1))]).astype(np.int64)
        values = np.concatenate([values for values, _, _ in found])
        self.places = _Places(values, begin, usual, first, place[rare].astype(np.int64), np.ascontiguousarray(X.T))


def grow_best_first(features, target, weight, max_leaf_nodes, *, max_depth=None, min_samples_split=2, min_gain=None):
    """Grow a least-squares tree by splitting, again and again, the leaf where a cut gains most.

    Parameters
    ----------
    features : NumberedFeatures
    target, weight : array (n,)
        The weights positive.
    max_leaf_nodes : int
    max_depth : int, optional
    min_samples_split : int, default=2
    min_gain : float, optional
        End where no cut gains more than this share of the total weight. By default a leaf is split as long as its
        targets differ, also where that gains nothing.

    Returns
    -------
    tree : Tree
        Nodes in the order in which they were made.
    leaf : array (n,) of int
        The leaf of each row.

    Notes
    -----
    O(n d) for each level of the tree, and one pass over the distinct values of the features for each leaf. Thresholds
    lie half-way between neighbouring values of the node; of equally good cuts the first feature and the smallest
    threshold win.

    Examples
    --------
    >>> X = NumberedFeatures([[0.0], [1.0], [2.0], [3.0]])
    >>> tree, leaf = grow_best_first(X, [1.0, 5.0, 6.0, 0.0], np.ones(4), 3)
    >>> tree.threshold[~tree.is_leaf].tolist(), leaf.tolist()
    ([2.5, 0.5], [3, 4, 4, 2])
    """
    n = features.shape[0]
    target, weight = (np.ascontiguousarray(part, dtype=np.float64) for part in (target, weight))
    if target.shape != (n,) or weight.shape != (n,) or not weight.min() >= 0 or not weight.sum() > 0:
        raise ValueError(f"target and weight must hold {n} numbers, the weights not negative and not all zero")
    leaves = min(check_scalar(max_leaf_nodes, "max_leaf_nodes", low=1, integer=True), n)
    depth = n if max_depth is None else check_scalar(max_depth, "max_depth", low=0, integer=True)
    least = -1.0 if min_gain is None else check_scalar(min_gain, "min_gain", low=0.0) * weight.sum()
    most = 2 * leaves - 1
    nodes = Nodes.room(most, n)
    room = _Room(np.arange(n), np.empty(n, np.int64), *np.empty((2, len(features.places.values))))
    best = _Best(np.full(most, -1.0), np.full(most, -1), np.zeros(most))
    count = _grow(features.places, (target, weight), nodes, best, room, (leaves, depth, min_samples_split, least))
    tree = Tree(*nodes.tree(count))
    leaf = np.empty(n, np.int64)
    for node in np.flatnonzero(tree.is_leaf):
        leaf[room.rows[nodes.begin[node] : nodes.end[node]]] = node
    return tree, leaf


class _Best(NamedTuple):
    """The best cut of each leaf: what it gains, −1 if there is none, and where it is."""

    gain: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray


class _Room(NamedTuple):
    """The rows, those of a node side by side; `w` and `s` are room for sums over all places."""

    rows: np.ndarray
    spare: np.ndarray
    w: np.ndarray
    s: np.ndarray


@inner
def _look(places, data, nodes, found, room, node, open_to_split):
    """Fill in weight, mean and cost of a node, and the best cut of its rows if it may be split."""
    mine = room.rows[nodes.begin[node] : nodes.end[node]]
    target, weight = data
    total, mean, spread = moments(mine, target, weight)
    nodes.weight[node], nodes.value[node, 0], nodes.cost[node] = total, mean, spread
    if not open_to_split or constant(mine, target):
        return
    w, s = room.w, room.s
    for k in range(len(w)):
        w[k], s[k] = 0.0, 0.0
    for i in mine:
        apart = weight[i] * (target[i] - mean)
        for k in range(places.first[i], places.first[i + 1]):
            w[places.listed[k]] += weight[i]
            s[places.listed[k]] += apart
    # Sums below these are rounding: of the weights, and of the gain.
    best, least, slack = -1.0, 1e-13 * total, 1e-12 * spread
    for j in range(len(places.usual)):
        begin, end, usual = places.begin[j], places.begin[j + 1], places.usual[j]
        w_sum, s_sum = 0.0, 0.0
        for k in range(begin, end):
            w_sum += w[k]
            s_sum += s[k]
        # Deviations from the mean add up to zero, so that those of the usual value are what the others leave over.
        w[usual], s[usual] = total - w_sum, -s_sum
        if w[usual] <= least:
            w[usual] = 0.0
        left_w, left_s, before = 0.0, 0.0, -1
        for k in range(begin, end):
            if w[k] <= 0.0:
                continue
            if left_w > least and total - left_w > least:
                gain = left_s * left_s * total / (left_w * (total - left_w))
                if gain > best + slack or best < 0.0:
                    best, found.feature[node] = gain, j
                    found.threshold[node] = cut_between(places.values[before], places.values[k])
            left_w += w[k]
            left_s += s[k]
            before = k
    found.gain[node] = best


@njit(cache=True)
def _grow(places, data, nodes, best, room, limits):
    """Fill in the nodes in the order in which they are made; return how many there are."""
    leaves, depth, min_split, least = limits
    count, fresh = 1, 0
    while True:
        for node in range(fresh, count):
            size = nodes.end[node] - nodes.begin[node]
            _look(places, data, nodes, best, room, node, nodes.depth[node] < depth and size >= min_split)
        fresh = count
        node = 0
        for other in range(1, count):
            if best.gain[other] > best.gain[node]:
                node = other
        if count >= 2 * leaves - 1 or best.gain[node] < 0.0 or best.gain[node] <= least:
            return count
        j, threshold = best.feature[node], best.threshold[node]
        mine = room.rows[nodes.begin[node] : nodes.end[node]]
        middle = nodes.begin[node] + divide(mine, room.spare, places.columns[j], threshold)
        nodes.feature[node], nodes.threshold[node], best.gain[node] = j, threshold, -1.0
        add_children(nodes, node, count, middle)
        count += 2
