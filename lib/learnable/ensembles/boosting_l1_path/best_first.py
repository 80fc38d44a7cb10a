"""Trees with a given number of leaves, grown best leaf first: the weak learner of Rosset et al. 2004, Sec. 6.1.

A tree of given *depth* splits every leaf of a level; a tree of given *size* splits, again and again, the one leaf where
a cut gains most. The values of every feature are numbered once, so that the search in a leaf is a histogram of weights
over these numbers: exact, and no sorting in the rounds of boosting.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numba import njit

from learnable.validation import check_finite_array, check_scalar

__all__ = ["BestFirstTrees"]


@dataclass(frozen=True)
class BestFirstTrees:
    """Trees with leaves -1 and +1 and at most `max_leaf_nodes` of them; the leaf whose cut gains most is split first.

    The gain of a cut is the fall of the weighted Gini impurity. Growth ends early where no cut gains anything.
    O(n d) for each level of the tree, plus one pass over the distinct values of the features for each leaf.

    Parameters
    ----------
    max_leaf_nodes : int, default=10

    Examples
    --------
    >>> learner = BestFirstTrees(3).prepare([[0.0], [1.0], [2.0], [3.0]])
    >>> rule = learner.fit(np.array([0.3, 0.2, 0.2, 0.3]), np.array([1.0, -1.0, -1.0, 1.0]))
    >>> rule.predict([[0.2], [1.5], [2.9]])
    array([ 1., -1.,  1.])
    """

    max_leaf_nodes: int = 10

    def prepare(self, X):
        """Number the distinct values of every feature."""
        return _BoundBestFirst(X, check_scalar(self.max_leaf_nodes, "max_leaf_nodes", low=2, integer=True))


@dataclass(frozen=True)
class BestFirstRule:
    """A tree as arrays: row k has a feature (-1 for a leaf), a threshold, two children, and a sign."""

    feature: np.ndarray
    threshold: np.ndarray
    children: np.ndarray
    sign: np.ndarray
    outputs: np.ndarray | None = field(default=None, repr=False, compare=False)

    @property
    def n_leaves(self):
        """Number of leaves."""
        return int(np.count_nonzero(self.feature < 0))

    def predict(self, X):
        """The sign of the leaf of each row."""
        return _descend(np.asarray(X, dtype=float), self.feature, self.threshold, self.children, self.sign)


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


class _BoundBestFirst:
    def __init__(self, X, max_leaf_nodes):
        X = check_finite_array(X, "X", ndim=2)
        self.leaves = max_leaf_nodes
        found = [np.unique(column, return_inverse=True, return_counts=True) for column in X.T]
        begin = np.concatenate([[0], np.cumsum([len(values) for values, _, _ in found])]).astype(np.int64)
        usual = begin[:-1] + [int(np.argmax(counts)) for _, _, counts in found]
        place = np.stack([codes for _, codes, _ in found], axis=1) + begin[:-1]
        rare = place != usual
        first = np.concatenate([[0], np.cumsum(rare.sum(axis=1))]).astype(np.int64)
        values = np.concatenate([values for values, _, _ in found])
        self.places = _Places(values, begin, usual, first, place[rare].astype(np.int64), np.ascontiguousarray(X.T))

    def fit(self, weights, y):
        """The tree for labels -1 and +1 under the weights."""
        weights = np.ascontiguousarray(weights, dtype=np.float64)
        *tree, outputs = _grow_best_first(self.places, weights, weights * y, self.leaves)
        if weights[outputs != y].sum() > weights.sum() / 2:
            tree[3], outputs = -tree[3], -outputs
        return BestFirstRule(*tree, outputs)


@njit(cache=True)
def _best_cut(places, weight, signed, rows, w, s):
    """(gain, feature, threshold, sign of the leaf) of the best cut of some rows; w and s are scratch of all places."""
    w[:], s[:] = 0.0, 0.0
    total = tilt = 0.0
    for i in rows:
        total += weight[i]
        tilt += signed[i]
        for k in range(places.first[i], places.first[i + 1]):
            w[places.listed[k]] += weight[i]
            s[places.listed[k]] += signed[i]
    best, feature, threshold, least = 0.0, -1, 0.0, 1e-13 * total
    for j in range(places.usual.size):
        low, high, usual = places.begin[j], places.begin[j + 1], places.usual[j]
        w[usual], s[usual] = total - w[low:high].sum(), tilt - s[low:high].sum()
        if w[usual] <= least:
            w[usual] = 0.0
        left_w, left_s, before = 0.0, 0.0, -1
        for k in range(low, high):
            if w[k] <= 0.0:
                continue
            if left_w > least and total - left_w > least:
                gain = left_s * left_s / left_w + (tilt - left_s) ** 2 / (total - left_w) - tilt * tilt / total
                if gain > best:
                    best, feature, threshold = gain, j, 0.5 * (places.values[before] + places.values[k])
            left_w += w[k]
            left_s += s[k]
            before = k
    return best, feature, threshold, 1.0 if tilt >= 0.0 else -1.0


@njit(cache=True)
def _grow_best_first(places, weight, signed, max_leaves):
    n, most = weight.size, 2 * max_leaves - 1
    feature, children = np.full(most, -1), np.zeros((most, 2), np.int64)
    threshold, sign, gain, cut = np.zeros(most), np.ones(most), np.zeros(most), np.full(most, -1)
    start, stop = np.zeros(most, np.int64), np.zeros(most, np.int64)
    rows, spare = np.arange(n), np.empty(n, np.int64)
    w, s = np.empty(places.values.size), np.empty(places.values.size)
    stop[0], count, fresh, all_weight = n, 1, 0, weight.sum()
    for _ in range(max_leaves):
        for node in range(fresh, count):
            mine = rows[start[node] : stop[node]]
            gain[node], cut[node], threshold[node], sign[node] = _best_cut(places, weight, signed, mine, w, s)
        fresh = count
        node = int(np.argmax(gain[:count]))
        if count == most or gain[node] <= 1e-12 * all_weight:
            break
        feature[node], gain[node] = cut[node], 0.0
        column = places.columns[cut[node]]
        low, high = start[node], 0
        for position in range(start[node], stop[node]):
            i = rows[position]
            if column[i] <= threshold[node]:
                rows[low] = i
                low += 1
            else:
                spare[high] = i
                high += 1
        rows[low : stop[node]] = spare[:high]
        children[node, 0], children[node, 1] = count, count + 1
        start[count], stop[count], start[count + 1], stop[count + 1] = start[node], low, low, stop[node]
        count += 2
    outputs = np.empty(n)
    for node in range(count):
        if feature[node] < 0:
            outputs[rows[start[node] : stop[node]]] = sign[node]
    return feature[:count], threshold[:count], children[:count], sign[:count], outputs


@njit(cache=True)
def _descend(X, feature, threshold, children, sign):
    out = np.empty(len(X))
    for i in range(len(X)):
        node = 0
        while feature[node] >= 0:
            node = children[node, 0] if X[i, feature[node]] <= threshold[node] else children[node, 1]
        out[i] = sign[node]
    return out
