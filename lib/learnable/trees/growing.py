"""Growing binary trees with exact best splits.

Each feature is sorted once; a split partitions the sorted index arrays stably, so a level of the tree costs O(n d).
The impurity of both sides follows by running counts: Gini through sums of squares, entropy through a table of i ln i,
squared error through running sums of centred targets.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit

from learnable._inner import cut_between, inner
from learnable.trees._features import check_table, presort
from learnable.trees._nodes import Nodes, add_children, constant, divide, moments, route, xlogx
from learnable.trees._scans import (
    node_cost,
    rank_by_share,
    scan_any,
    scan_entropy,
    scan_gini,
    scan_squared,
    scan_uneven,
    spread_by_rank,
)
from learnable.validation import check_choice, check_finite_array, check_scalar

__all__ = ["CRITERIA", "Tree", "grow"]

CRITERIA = ("gini", "entropy", "error", "squared")
_LEAF = -1
_MOST_CATEGORIES = 1024
_ROOM = 2**31  # numbers in the table of class weights
_SMALLEST = 1e-140  # range of a target whose squared errors, and their differences, do not underflow


@dataclass(frozen=True, eq=False)
class Tree:
    """A binary tree as flat arrays; node 0 is the root, and a child has a larger number than its parent.

    Attributes
    ----------
    feature : array (m,) of int
        Feature of the split, −1 in a leaf.
    threshold : array (m,)
        A sample goes left if its feature is at most this.
    left, right : array (m,) of int
        Children, −1 in a leaf.
    weight : array (m,)
        Total weight of the training samples in the node.
    value : array (m, k)
        Class weights for classification; the mean of the targets (k = 1) for regression.
    cost : array (m,)
        weight × impurity of the node under the growing criterion (the sum of squared errors for regression).
    depth : array (m,) of int
    categories : array (m, q) of bool, optional
        In a node that splits on a categorical feature (its threshold is NaN): the categories that go left.
    """

    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    weight: np.ndarray
    value: np.ndarray
    cost: np.ndarray
    depth: np.ndarray
    categories: np.ndarray | None = None

    @property
    def n_nodes(self):
        return len(self.feature)

    @property
    def is_leaf(self):
        return self.feature < 0

    @property
    def n_leaves(self):
        return int(np.count_nonzero(self.feature < 0))

    def apply(self, X):
        """Number of the leaf of each row of X. O(n · depth)."""
        X = check_finite_array(X, "X", ndim=2)
        used = int(self.feature.max()) + 1
        if X.shape[1] < used:
            raise ValueError(
                f"X must have at least {used} columns, the tree splits on the last of them; got {X.shape[1]}"
            )
        categories = None
        if self.categories is not None:
            categories = self.categories, self.weight[self.left] >= self.weight[self.right]
        return route(np.ascontiguousarray(X), self.feature, self.threshold, self.left, self.right, categories)

    def node_costs(self, criterion):
        """weight × impurity of every node under another criterion; for classification trees."""
        check_choice(criterion, "criterion", ("gini", "entropy", "error"))
        total = self.value.sum(axis=1, keepdims=True)
        if criterion == "error":
            return (total[:, 0] - self.value.max(axis=1)).clip(min=0.0)
        # The share of the other classes instead of 1 − share²: an almost pure node keeps its digits.
        others = ((total - self.value) / total).clip(min=0.0)
        if criterion == "gini":
            return (self.value * others).sum(axis=1)
        share = np.where(self.value > 0, self.value / total, 1.0)
        logs = np.where(others < 0.5, np.log1p(-np.minimum(others, 0.5)), np.log(share))
        return -(self.value * logs).sum(axis=1)

    def subtree(self, keep):
        """The tree in which the internal nodes outside ``keep`` (a mask) have become leaves."""
        keep = np.asarray(keep, bool) & ~self.is_leaf
        alive = np.zeros(self.n_nodes, bool)
        alive[0] = True
        _reach(self.left, self.right, keep, alive)
        order, new = np.flatnonzero(alive), np.cumsum(alive) - 1
        inside = keep[order]
        return Tree(
            feature=np.where(inside, self.feature[order], _LEAF),
            threshold=np.where(inside, self.threshold[order], np.nan),
            left=np.where(inside, new[self.left[order]], _LEAF),
            right=np.where(inside, new[self.right[order]], _LEAF),
            weight=self.weight[order],
            value=self.value[order],
            cost=self.cost[order],
            depth=self.depth[order],
            categories=None if self.categories is None else self.categories[order],
        )

    def best_first(self, max_leaf_nodes):
        """The subtree that splitting the leaf with the largest gain, again and again, reaches with so many leaves.

        Which split a node gets does not depend on when it is split, so that this is the tree that best-first growing
        would have made. `grow` prunes so for criteria and limits that `learnable.trees.best_first` does not have.
        """
        gain = np.where(self.is_leaf, 0.0, self.cost - self.cost[self.left] - self.cost[self.right])
        keep = np.zeros(self.n_nodes, bool)
        leaves, open_nodes = 1, [] if self.is_leaf[0] else [(-gain[0], 0)]
        while open_nodes and leaves < max_leaf_nodes:
            _, node = heapq.heappop(open_nodes)
            keep[node] = True
            leaves += 1
            for child in (int(self.left[node]), int(self.right[node])):
                if not self.is_leaf[child]:
                    heapq.heappush(open_nodes, (-gain[child], child))
        return self.subtree(keep)


def grow(
    X,
    y,
    criterion="gini",
    *,
    n_classes=None,
    sample_weight=None,
    max_depth=None,
    min_samples_split=2,
    min_samples_leaf=1,
    max_leaf_nodes=None,
    categorical_features=(),
    presorted=None,
):
    """Grow a binary tree by exact best splits.

    Parameters
    ----------
    X : array (n, d)
    y : array (n,)
        Class codes 0…k−1 for ``gini``, ``entropy`` (natural logarithm) and ``error``; numbers for ``squared``.
    criterion : {"gini", "entropy", "error", "squared"}
    n_classes : int, optional
    sample_weight : array (n,), optional
        Not negative, not all zero.
    max_depth : int, optional
    min_samples_split : int
        A node with fewer samples is not split.
    min_samples_leaf : int
        Fewest samples on either side of a split.
    max_leaf_nodes : int, optional
        Keep the splits with the largest gains, best first, until the tree has so many leaves.
    categorical_features : sequence of int
        Columns of X that hold categories, coded 0…q−1: they are split into two sets of categories.
    presorted : array (d, n), optional
        Row j sorts feature j (stable); sort once when many trees share X (see `presort`).

    Returns
    -------
    Tree

    Notes
    -----
    A threshold lies half-way between two neighbouring distinct values. Of equally good splits the first feature and the
    smallest threshold win. For two classes and for regression the set of categories is the best of all 2^(q−1) − 1;
    for more classes it is the best cut of the categories in the order of one class's share. A category that a node has
    not seen goes to its heavier child. A node is split as long as it is impure and any split is allowed, also when no
    split gains anything: pruning decides later. O(d n log n) to sort and O(d n) for each level.

    Examples
    --------
    >>> tree = grow([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> tree.threshold[0], tree.n_leaves
    (np.float64(1.5), 2)
    """
    X = check_table(X)
    n, d = X.shape
    check_choice(criterion, "criterion", CRITERIA)
    min_samples_split = check_scalar(min_samples_split, "min_samples_split", low=2, integer=True)
    min_samples_leaf = check_scalar(min_samples_leaf, "min_samples_leaf", low=1, integer=True)
    limit = n if max_depth is None else check_scalar(max_depth, "max_depth", low=0, integer=True)
    weight = np.ones(n) if sample_weight is None else check_finite_array(sample_weight, "sample_weight", ndim=1)
    if weight.shape != (n,) or weight.min() < 0 or not weight.sum() > 0:
        raise ValueError("sample_weight must hold one number a sample, none negative, not all zero")
    target, codes, k = _targets(y, n, criterion, n_classes)
    sizes = _category_counts(X, categorical_features)
    origin = _origin(target)
    if max_leaf_nodes is not None:
        max_leaf_nodes = check_scalar(max_leaf_nodes, "max_leaf_nodes", low=1, integer=True)
        if criterion == "squared" and min_samples_leaf == 1 and not sizes.any() and weight.min() > 0:
            from learnable.trees.best_first import NumberedFeatures, grow_best_first

            tree, _ = grow_best_first(
                NumberedFeatures(X), target - origin, weight, max_leaf_nodes, max_depth=max_depth,
                min_samples_split=min_samples_split,
            )  # fmt: skip
            tree.value[:] += origin
            return tree
    columns = np.ascontiguousarray(X.T)
    order = presort(columns) if presorted is None else np.array(presorted, dtype=np.int32)
    if order.shape != (d, n) or order.min() < 0 or order.max() >= n:
        raise ValueError(f"presorted must hold {d} rows with the indices 0…{n - 1}, got shape {order.shape}")
    classes = chosen = table = None
    if criterion != "squared":
        classes = _Classes(codes, k, CRITERIA.index(criterion))
        # With weights of very different size running sums of squares lose all digits; class sums are squared anew then.
        if criterion != "gini" or weight.max() > 1e4 * weight[weight > 0.0].min():
            table = xlogx(n) if criterion == "entropy" and (weight == 1.0).all() else np.zeros(0)
    if sizes.any():
        rank, sums = np.zeros((2, sizes.max()), np.int64), np.zeros((3, sizes.max()))
        left = np.zeros((2 * n, sizes.max()), np.bool_)
        chosen = _Categories(sizes, left, np.empty(n), np.empty(n, np.int32), *rank, sums)
    nodes = Nodes.room(2 * n, n, k)
    room = _Room(np.zeros(n, np.bool_), np.empty(n, np.int32), np.zeros(k), np.zeros(2 * k))
    numbers = None if classes else target - origin
    limits = _Limits(limit, min_samples_split, min_samples_leaf)
    m = _grow(_Sorted(columns, order, weight), numbers, classes, table, chosen, limits, nodes, room)
    tree = Tree(*nodes.tree(m), None if chosen is None else chosen.left[:m].copy())
    if origin:
        tree.value[:] += origin
    return tree if max_leaf_nodes is None else tree.best_first(max_leaf_nodes)


def _category_counts(X, categorical):
    """The number of categories of each column, 0 for an ordered one."""
    d = X.shape[1]
    sizes = np.zeros(d, np.int64)
    for j in categorical:
        j = check_scalar(j, "categorical_features", low=0, high=d - 1, integer=True)
        column = X[:, j]
        if (column != np.floor(column)).any() or column.min() < 0 or column.max() >= _MOST_CATEGORIES:
            raise ValueError(
                f"column {j} of X must hold categories coded 0…{_MOST_CATEGORIES - 1}, such as OrdinalEncoder gives"
            )
        sizes[j] = int(column.max()) + 1
    return sizes


def _origin(target):
    """A round number near the targets, 0 if they are spread around it: without it means lose the digits that differ.

    It is a multiple of a power of two as large as the range of the targets, so that subtracting it rounds nothing.
    """
    unit = 2.0 ** np.ceil(np.log2(np.ptp(target) or 1.0))
    return float(np.round(target[0] / unit) * unit)


def _targets(y, n, criterion, n_classes):
    if criterion == "squared":
        y = check_finite_array(y, "y", ndim=1).astype(np.float64)
        if y.shape != (n,):
            raise ValueError(f"y must hold one number a sample: {n}, got {len(y)}")
        spread = np.ptp(y)
        if spread > 0 and not _SMALLEST < spread < 1 / _SMALLEST:
            raise ValueError(
                f"y must vary by more than {_SMALLEST} and less than {1 / _SMALLEST}, so that squared errors "
                f"are numbers; got a range of {spread:.3g}: change its unit"
            )
        return y, np.zeros(n, np.int32), 1
    y = np.asarray(y)
    if y.shape != (n,) or not np.issubdtype(y.dtype, np.integer) or y.min() < 0:
        raise ValueError("y must hold class codes 0…k−1, one a sample")
    k = int(y.max()) + 1
    if n_classes is not None:
        if n_classes < k:
            raise ValueError(f"n_classes is {n_classes}, but y holds the code {k - 1}")
        k = int(n_classes)
    if 2 * n * k > _ROOM:
        raise ValueError(
            f"y must hold class codes 0…k−1: {k} classes for {n} samples need a table of {2 * n * k} numbers"
        )
    return np.zeros(1), y.astype(np.int32), k


@njit(cache=True)
def _reach(left, right, keep, alive):
    """Mark what hangs on the root by kept nodes; parents come first."""
    for node in range(len(left)):
        if alive[node] and keep[node]:
            alive[left[node]] = True
            alive[right[node]] = True


class _Sorted(NamedTuple):
    """The features, one a row, the order of each, and the weights of the samples."""

    columns: np.ndarray
    order: np.ndarray
    weight: np.ndarray


class _Classes(NamedTuple):
    codes: np.ndarray
    k: int
    criterion: int


class _Categories(NamedTuple):
    """Sizes of the categorical features, the categories that go left in each node, and room for a feature reordered."""

    sizes: np.ndarray
    left: np.ndarray
    shade: np.ndarray
    shadow: np.ndarray
    rank: np.ndarray
    sequence: np.ndarray
    sums: np.ndarray


class _Limits(NamedTuple):
    depth: int
    min_split: int
    min_leaf: int


class _Room(NamedTuple):
    """Which samples of a node go right, spare places, class weights."""

    goes_right: np.ndarray
    spare: np.ndarray
    counts: np.ndarray
    on_left: np.ndarray


class _Node(NamedTuple):
    """A node while it is split: its samples in every order, its weight, its class weights, its mean."""

    lo: int
    hi: int
    weight: float
    counts: np.ndarray
    mean: float


# An argument that is None takes the code that needs it out of what is compiled: hence the conditions on each of them.
# `table` is None for Gini with weights of similar size, i ln i for entropy with unit weights, and else empty.
# Arrays are made outside, since compiling their constructors takes longer than compiling the loops.


@njit(cache=True)
def _grow(data, target, classes, table, categories, limits, nodes, room):
    """Fill in the nodes, level by level; return how many there are."""
    goes_right = room.goes_right
    m, node = 1, 0
    while node < m:
        lo, hi = nodes.begin[node], nodes.end[node]
        here = _summary(data, target, classes, room.counts, (lo, hi, node), nodes)
        pure, size = False, here.weight
        if target is not None:
            pure, size = constant(data.order[0, lo:hi], target), nodes.cost[node]
        if classes is not None:
            pure = nodes.cost[node] <= 1e-12 * max(size, 1e-300)
        j, place, chosen = -1, -1, -1
        if not (pure or nodes.depth[node] >= limits.depth or hi - lo < max(limits.min_split, 2 * limits.min_leaf)):
            # Scores of features that differ by less are a tie: rounding errors are relative to this node's own size.
            rule = limits.min_leaf, 1e-12 * size, room.on_left
            j, place, chosen = _best_split(data, target, classes, table, categories, here, rule)
        if j >= 0:
            row = data.order[j]
            ordered = True
            if categories is not None:
                ordered = categories.sizes[j] == 0
                if not ordered:
                    _send_categories(data, target, classes, categories, here, (j, place, chosen, node), goes_right)
            if ordered:
                a, b = data.columns[j, row[place]], data.columns[j, row[place + 1]]
                nodes.threshold[node] = cut_between(a, b)
                for p in range(lo, hi):
                    goes_right[row[p]] = p > place
            for other in range(data.order.shape[0]):
                # The order of the feature that is cut is divided already.
                if not ordered or other != j:
                    divide(data.order[other, lo:hi], room.spare, goes_right, False)
            nodes.feature[node] = j
            add_children(nodes, node, m, place + 1)
            m += 2
        node += 1
    return m


@inner
def _summary(data, target, classes, counts, at, nodes):
    """Fill in weight, value and cost of a node: class weights, or mean and squared error."""
    lo, hi, node = at
    samples, weight = data.order[0, lo:hi], data.weight
    w_all, mean = 0.0, 0.0
    if target is not None:
        w_all, mean, spread = moments(samples, target, weight)
        nodes.value[node, 0] = mean
        nodes.cost[node] = spread
    if classes is not None:
        for c in range(classes.k):
            counts[c] = 0.0
        for i in samples:
            counts[classes.codes[i]] += weight[i]
        for c in range(classes.k):
            w_all += counts[c]
            nodes.value[node, c] = counts[c]
        nodes.cost[node] = node_cost(counts, w_all, classes.k, classes.criterion)
    nodes.weight[node] = w_all
    return _Node(lo, hi, w_all, counts, mean)


@inner
def _best_split(data, target, classes, table, categories, here, rule):
    """(feature, last place on the left, class by whose share categories were ordered); feature −1 if there is none."""
    best, best_feature, best_place, best_class = np.inf, -1, -1, -1
    min_leaf, slack, on_left = rule
    for j in range(data.columns.shape[0]):
        first, last = -1, 0
        if categories is not None:
            if classes is not None:
                # A categorical feature is scanned in the order of the shares of each class, of which two have one.
                if categories.sizes[j] > 0:
                    first, last = (1, 2) if classes.k == 2 else (0, classes.k)
        for chosen in range(first, last):
            row, column = data.order[j], data.columns[j]
            if categories is not None:
                if categories.sizes[j] > 0:
                    _by_share(data, target, classes, categories, here, j, chosen)
                    row, column = categories.shadow, categories.shade
            if column[row[here.lo]] == column[row[here.hi - 1]]:
                continue
            found, place = np.inf, -1
            if target is not None:
                found, place = scan_squared(column, row, target, data.weight, here, min_leaf)
            if classes is not None:
                if table is not None:
                    found, place = _scan_classes(column, row, classes, data.weight, here, table, rule)
                else:
                    found, place = scan_gini(column, row, classes, data.weight, here, on_left, min_leaf)
            if place >= 0 and found < best - slack:
                best, best_feature, best_place, best_class = found, j, place, chosen
    return best_feature, best_place, best_class


@inner
def _scan_classes(column, row, classes, weight, here, table, rule):
    """The best cut of a feature by the criterion at hand."""
    min_leaf, _, on_left = rule
    if len(table) > 0:
        return scan_entropy(column, row, classes, here, on_left, table, min_leaf)
    if classes.criterion == 0:
        return scan_uneven(column, row, classes, weight, here, on_left, min_leaf)
    return scan_any(column, row, classes, weight, here, on_left, min_leaf)


@inner
def _by_share(data, target, classes, categories, here, j, chosen):
    """Order the categories of feature j by their shares of a class, or by their mean targets."""
    column, row, weight = data.columns[j], data.order[j], data.weight
    heavy, share, count = categories.sums
    q = categories.sizes[j]
    for c in range(q):
        heavy[c], share[c], count[c] = 0.0, 0.0, 0.0
    for p in range(here.lo, here.hi):
        i = row[p]
        c = int(column[i])
        count[c] += 1.0
        heavy[c] += weight[i]
        if target is not None:
            share[c] += weight[i] * target[i]
        if classes is not None:
            if classes.codes[i] == chosen:
                share[c] += weight[i]
    spread_by_rank(column, row, here, categories, rank_by_share(categories, q))


@inner
def _send_categories(data, target, classes, categories, here, split, goes_right):
    """Mark the samples that go right at a split of a categorical feature, and note their categories."""
    j, place, chosen, node = split
    _by_share(data, target, classes, categories, here, j, chosen)
    rank = categories.rank
    row, last_left = data.order[j], categories.shade[categories.shadow[place]]
    w_left = 0.0
    for p in range(here.lo, here.hi):
        i = row[p]
        goes_right[i] = categories.shade[i] > last_left
        w_left += 0.0 if goes_right[i] else data.weight[i]
    for c in range(categories.left.shape[1]):
        seen = c < categories.sizes[j] and rank[c] >= 0
        categories.left[node, c] = rank[c] <= last_left if seen else 2.0 * w_left >= here.weight
