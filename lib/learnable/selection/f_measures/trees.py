"""Decision trees that split for the F-measure (Waegeman et al. 2014, Section 7.1.2), one and many.

A split is as good as the F of the best constant prediction on either side, weighted by the sizes of the sides. Moving
an example from right to left changes only the entries of Delta of its labels, so a scan along a sorted feature updates
two matrices and selects again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from learnable._inner import cut_between, inner
from learnable.selection.f_measures.distributions import GroupDecisions
from learnable.selection.f_measures.general import size_weights, top_sums
from learnable.selection.f_measures.learners import LabelSetClassifier
from learnable.trees._nodes import Nodes, add_children, route
from learnable.validation import check_rng, check_scalar


class _Leaves(NamedTuple):
    """The leaf's number of each node; for each leaf: examples by (label, size), examples, examples without a label."""

    number: np.ndarray
    counts: np.ndarray
    totals: np.ndarray
    empty: np.ndarray


class FMeasureTree(LabelSetClassifier):
    """A binary tree whose splits maximise the F-measure of the best constant predictions of the two sides.

    Cost of a node with n examples: O(d n (log n + c m)) for the scans, c labels for each example, and
    O(d q m^2) for q thresholds of each feature.

    Parameters
    ----------
    max_depth : int, default=None
        None grows until leaves are pure or small.
    min_samples_leaf : int, default=10
    max_thresholds : int, default=32
        Thresholds tried for each feature, at about equal numbers of examples between them.
    allow_empty : bool or "auto", default="auto"
        Whether no label at all may be predicted; "auto" allows it if a training instance has no label.

    Attributes
    ----------
    sizes_ : ndarray of shape (S,)
        Numbers of labels that occur in the training set.
    n_leaves_ : int
    n_labels_ : int

    Examples
    --------
    >>> from learnable.datasets import load
    >>> X, Y = load("emotions", return_X_y=True)
    >>> tree = FMeasureTree(min_samples_leaf=20).fit(X[:391], Y[:391])
    >>> tree.n_leaves_ > 5, round(tree.score(X[391:], Y[391:]), 2)
    (True, 0.57)
    """

    def __init__(self, max_depth=None, min_samples_leaf=10, max_thresholds=32, allow_empty="auto"):
        self.allow_empty = allow_empty
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.max_thresholds = max_thresholds

    def _check_parameters(self):
        super()._check_parameters()
        _check_tree(self)

    def _fit(self, X, Y):
        self._tree, self._leaves = _grown(self, X, Y, np.arange(len(X)), None)
        self.sizes_ = _sizes_seen(Y)
        self.n_leaves_ = len(self._leaves.totals)

    def _size_probabilities(self, X):
        return _pooled([(self._tree, self._leaves)], X)


class BaggedFMeasureTree(LabelSetClassifier):
    """Trees on bootstrap samples; the examples in the leaves that x reaches are pooled, and `gfm` decides once.

    Parameters
    ----------
    n_estimators : int, default=25
    max_depth : int, default=None
    min_samples_leaf : int, default=5
    max_thresholds : int, default=16
    max_features : float, default=0.3
        Share of the features, drawn anew in each node.
    allow_empty : bool or "auto", default="auto"
        As in `FMeasureTree`.
    random_state : None, int or numpy.random.Generator, default=None

    Attributes
    ----------
    sizes_ : ndarray of shape (S,)
        Numbers of labels that occur in the training set.
    n_labels_ : int

    Examples
    --------
    >>> from learnable.datasets import load
    >>> X, Y = load("emotions", return_X_y=True)
    >>> model = BaggedFMeasureTree(n_estimators=10, random_state=0).fit(X[:391], Y[:391])
    >>> 0.6 < model.score(X[391:], Y[391:]) < 0.75
    True
    """

    def __init__(
        self,
        n_estimators=25,
        max_depth=None,
        min_samples_leaf=5,
        max_thresholds=16,
        max_features=0.3,
        allow_empty="auto",
        random_state=None,
    ):
        self.allow_empty = allow_empty
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.max_thresholds = max_thresholds
        self.max_features = max_features
        self.random_state = random_state

    def _check_parameters(self):
        super()._check_parameters()
        _check_tree(self)
        check_scalar(self.n_estimators, "n_estimators", low=1, integer=True)
        check_scalar(self.max_features, "max_features", low=0, high=1, closed="right")

    def _fit(self, X, Y):
        rng = check_rng(self.random_state)
        self._trees = [
            _grown(self, X, Y, np.sort(rng.integers(len(X), size=len(X))), rng) for _ in range(self.n_estimators)
        ]
        self.sizes_ = _sizes_seen(Y)

    def _size_probabilities(self, X):
        return _pooled(self._trees, X)


def _check_tree(model):
    if model.max_depth is not None:
        check_scalar(model.max_depth, "max_depth", low=1, integer=True)
    check_scalar(model.min_samples_leaf, "min_samples_leaf", low=1, integer=True)
    check_scalar(model.max_thresholds, "max_thresholds", low=1, integer=True)


def _sizes_seen(Y):
    sizes = np.unique(Y.sum(axis=1))
    return sizes[sizes > 0]


def _pooled(trees, X):
    """P and p0 of the examples in all leaves that a row of X reaches."""
    X = np.ascontiguousarray(X)
    found = [(leaves, leaves.number[route(X, *tree)]) for tree, leaves in trees]
    counts, totals, empty = (
        sum(part[at] for part, at in column)
        for column in zip(
            *(((leaves.counts, at), (leaves.totals, at), (leaves.empty, at)) for leaves, at in found), strict=True
        )
    )
    return counts / totals[:, None, None], empty / totals


def _grown(model, X, Y, rows, rng):
    """A tree on the given rows, which may repeat, and what is in its leaves."""
    weights = size_weights(np.arange(1, Y.shape[1] + 1), Y.shape[1])
    sizes, d = Y.sum(axis=1), X.shape[1]
    limit = np.inf if model.max_depth is None else model.max_depth
    n_features = d if rng is None else max(1, round(model.max_features * d))
    nodes, number = Nodes.room(2 * len(rows), len(rows)), np.full(2 * len(rows), -1)
    rows, m, groups, open_nodes = rows.copy(), 1, [], [0]
    while open_nodes:
        node = open_nodes.pop()
        members = rows[nodes.begin[node] : nodes.end[node]]
        columns = np.arange(d) if rng is None else np.sort(rng.choice(d, n_features, replace=False))
        at, cut = -1, 0.0
        if nodes.depth[node] < limit and len(members) >= 2 * model.min_samples_leaf:
            at, cut = _best_split(
                X, Y, sizes, weights, members, columns, (model.min_samples_leaf, model.max_thresholds)
            )
        if at < 0:
            number[node] = len(groups)
            groups.append(members)
            continue
        low = X[members, at] <= cut
        members[:] = np.concatenate([members[low], members[~low]])
        nodes.feature[node], nodes.threshold[node] = at, cut
        add_children(nodes, node, m, nodes.begin[node] + np.count_nonzero(low))
        open_nodes += [m, m + 1]
        m += 2
    feature, threshold, left, right = nodes.tree(m)[:4]
    return (feature, threshold, left, right), _leaf_counts(Y, groups, number[:m].copy())


def _leaf_counts(Y, groups, number):
    decisions = GroupDecisions(Y)
    starts = np.concatenate([[0], np.cumsum([len(group) for group in groups])])
    P, p0 = decisions.probabilities(starts, np.concatenate(groups))
    totals = np.diff(starts).astype(float)
    return _Leaves(number, P * totals[:, None, None], totals, p0 * totals)


@njit(cache=True)
def _best_split(X, Y, sizes, weights, rows, columns, limits):
    """Feature and threshold of the largest sum of both sides' best F, or -1 if none improves on no split."""
    n, m = len(rows), Y.shape[1]
    min_leaf, n_cuts = limits
    total, left, rest = np.zeros((m, m)), np.zeros((m, m)), np.zeros((m, m))
    order_left, order_right, values = np.arange(m), np.arange(m), np.empty(m + 1)
    empty = 0
    for row in rows:
        empty += _add(total, Y[row], sizes[row], weights)
    best = values[_top(total, empty, order_left, values)]
    if best >= n * (1 - 1e-12):
        return -1, 0.0
    margin = 1e-9 * n  # a split must gain more than rounding, which depends on the order of the rows
    at, cut = -1, 0.0
    x = np.empty(n)
    for column in columns:
        for j in range(n):
            x[j] = X[rows[j], column]
        order = np.argsort(x, kind="mergesort")
        left[:] = 0.0
        empty_left, slot = 0, 0
        for j in range(n - min_leaf):
            row = rows[order[j]]
            empty_left += _add(left, Y[row], sizes[row], weights)
            # A threshold is due after each of n_cuts + 1 equal shares of the examples, at the next change of x.
            due = (j + 1) * (n_cuts + 1) // n
            if j + 1 < min_leaf or due == slot or x[order[j]] == x[order[j + 1]]:
                continue
            slot = due
            for k in range(m):
                for label in range(m):
                    rest[k, label] = total[k, label] - left[k, label]
            value = values[_top(left, empty_left, order_left, values)]
            value += values[_top(rest, empty - empty_left, order_right, values)]
            if value > best + margin:
                best, at, cut = value, column, cut_between(x[order[j]], x[order[j + 1]])
    return at, cut


@inner
def _add(delta, y, size, weights):
    """Add an example to Delta (sizes k in rows); returns 1 if it has no label."""
    if size == 0:
        return 1
    for label in range(len(y)):
        if y[label]:
            for k in range(len(delta)):
                delta[k, label] += weights[size - 1, k]
    return 0


@inner
def _top(delta, empty, order, values):
    """Fill in the F of the best set of each size; return the best size."""
    return top_sums(delta, float(empty), order, values)
