"""Growing binary trees with exact best splits.

Each feature is sorted once; a split partitions the sorted index arrays stably, so a level of the tree costs O(n d).
The impurity of both sides follows by running counts: Gini through sums of squares, entropy through a table of i ln i,
squared error through running sums of centred targets.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
from numba import njit

from learnable.trees._scans import (
    categories_by_share,
    constant,
    node_cost,
    scan_any,
    scan_entropy,
    scan_gini,
    scan_squared,
    scan_uneven,
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
        categories = np.zeros((self.n_nodes, 0), np.bool_) if self.categories is None else self.categories
        arrays = self.feature, self.threshold, self.left, self.right, self.weight
        return _apply(np.ascontiguousarray(X), *arrays, categories)

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
        order, new = _reachable(self.left, self.right, keep)
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
        would have made.
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
    X = check_finite_array(X, "X", ndim=2)
    n, d = X.shape
    if n == 0 or d == 0:
        raise ValueError(f"X must have at least one row and one column, got shape {X.shape}")
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
    columns = np.ascontiguousarray(X.T)
    order = presort(columns) if presorted is None else np.array(presorted, dtype=np.int32)
    if order.shape != (d, n) or order.min() < 0 or order.max() >= n:
        raise ValueError(f"presorted must hold {d} rows with the indices 0…{n - 1}, got shape {order.shape}")
    arrays = _grow(
        columns,
        order,
        codes,
        target - origin,
        weight,
        k,
        CRITERIA.index(criterion),
        limit,
        min_samples_split,
        min_samples_leaf,
        _xlogx(n, weight),
        sizes,
    )
    if origin:
        arrays[5][:] += origin
    tree = Tree(*arrays[:-1], categories=arrays[-1] if sizes.any() else None)
    if max_leaf_nodes is None:
        return tree
    return tree.best_first(check_scalar(max_leaf_nodes, "max_leaf_nodes", low=1, integer=True))


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


def presort(columns):
    """Stable order of each row of a (d, n) array, as int32: what `grow` accepts as ``presorted``."""
    return np.argsort(columns, axis=1, kind="stable").astype(np.int32)


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


def _xlogx(n, weight):
    """Table of i ln i where all weights are 1; empty otherwise."""
    if not (weight == 1.0).all():
        return np.zeros(0)
    i = np.arange(1, n + 1, dtype=np.float64)
    return np.concatenate([[0.0], i * np.log(i)])


@njit(cache=True)
def _apply(X, feature, threshold, left, right, weight, categories):
    out = np.empty(len(X), np.int64)
    q = categories.shape[1]
    for i in range(len(X)):
        node = 0
        while feature[node] >= 0:
            x = X[i, feature[node]]
            if q == 0 or not np.isnan(threshold[node]):
                first = x <= threshold[node]
            elif 0.0 <= x < q:
                first = categories[node, int(x)]
            else:
                first = weight[left[node]] >= weight[right[node]]
            node = left[node] if first else right[node]
        out[i] = node
    return out


@njit(cache=True)
def _reachable(left, right, keep):
    """Nodes that stay, in order, and their new numbers."""
    m = len(left)
    alive = np.zeros(m, np.bool_)
    alive[0] = True
    new = np.full(m, -1, np.int64)
    count = 0
    for node in range(m):
        if alive[node]:
            new[node] = count
            count += 1
            if keep[node]:
                alive[left[node]] = True
                alive[right[node]] = True
    return np.flatnonzero(alive), new


@njit(cache=True)
def _grow(columns, order, codes, target, weight, k, criterion, limit, min_split, min_leaf, table, sizes):
    d, n = columns.shape
    room = 2 * n
    feature = np.full(room, -1, np.int64)
    threshold = np.full(room, np.nan)
    left = np.full(room, -1, np.int64)
    right = np.full(room, -1, np.int64)
    total = np.zeros(room)
    value = np.zeros((room, k))
    cost = np.zeros(room)
    depth = np.zeros(room, np.int64)
    begin = np.zeros(room, np.int64)
    end = np.zeros(room, np.int64)
    end[0] = n
    m = 1
    categories = np.zeros((room if sizes.max() > 0 else 0, sizes.max()), np.bool_)
    shade, shadow = np.empty(n), np.empty(n, np.int32)
    goes_left = np.zeros(n, np.bool_)
    spare = np.empty(n, np.int32)
    counts = np.zeros(k)
    on_left = np.zeros(k)
    regression = criterion == 3
    # With weights of very different size the running sums of squares lose all digits; then class sums are squared anew.
    uneven = weight.max() > 1e4 * weight[weight > 0.0].min()
    node = 0
    while node < m:
        lo, hi = begin[node], end[node]
        # Weighted class counts, or weight, mean and squared error.
        counts[:] = 0.0
        w_all = 0.0
        mean = 0.0
        if regression:
            for p in range(lo, hi):
                i = order[0, p]
                w_all += weight[i]
                mean += weight[i] * target[i]
            mean = mean / w_all if w_all > 0 else 0.0
            spread = 0.0
            for p in range(lo, hi):
                i = order[0, p]
                spread += weight[i] * (target[i] - mean) ** 2
            value[node, 0] = mean
            cost[node] = spread
        else:
            for p in range(lo, hi):
                i = order[0, p]
                counts[codes[i]] += weight[i]
            for c in range(k):
                w_all += counts[c]
                value[node, c] = counts[c]
            cost[node] = node_cost(counts, w_all, k, criterion)
        total[node] = w_all
        pure = cost[node] <= 1e-12 * max(w_all, 1e-300) if not regression else constant(order, target, lo, hi)
        if pure or depth[node] >= limit or hi - lo < min_split or hi - lo < 2 * min_leaf:
            node += 1
            continue
        best, best_feature, best_place, best_class = np.inf, -1, -1, -1
        # Scores of two features that differ by less are a tie: rounding errors are relative to this node's own size.
        slack = 1e-12 * (cost[node] if regression else w_all)
        for j in range(d):
            # A categorical feature is scanned in the order of the shares of each class, of which two have one.
            first_class = -1 if regression or sizes[j] == 0 else (1 if k == 2 else 0)
            for chosen in range(first_class, max(k, first_class + 1) if first_class >= 0 else first_class + 1):
                row, column = order[j], columns[j]
                if sizes[j] > 0:
                    rank = np.empty(sizes[j], np.int64)
                    categories_by_share(column, row, lo, hi, codes, target, weight, chosen, rank, shade, shadow)
                    row, column = shadow, shade
                if column[row[lo]] == column[row[hi - 1]]:
                    continue
                if regression:
                    found, place = scan_squared(column, row, lo, hi, target, weight, mean, w_all, min_leaf)
                elif criterion == 0 and uneven:
                    found, place = scan_uneven(column, row, lo, hi, codes, weight, counts, on_left, w_all, min_leaf, k)
                elif criterion == 0:
                    found, place = scan_gini(column, row, lo, hi, codes, weight, counts, on_left, w_all, min_leaf, k)
                elif criterion == 1 and len(table) > 0:
                    found, place = scan_entropy(column, row, lo, hi, codes, counts, on_left, table, min_leaf, k)
                else:
                    found, place = scan_any(
                        column, row, lo, hi, codes, weight, counts, on_left, w_all, min_leaf, k, criterion
                    )
                if place >= 0 and found < best - slack:
                    best, best_feature, best_place, best_class = found, j, place, chosen
        if best_feature < 0:
            node += 1
            continue
        row = order[best_feature]
        if sizes[best_feature] > 0:
            rank = np.empty(sizes[best_feature], np.int64)
            column = columns[best_feature]
            categories_by_share(column, row, lo, hi, codes, target, weight, best_class, rank, shade, shadow)
            last_left = shade[shadow[best_place]]
            for p in range(lo, hi):
                goes_left[row[p]] = shade[row[p]] <= last_left
            w_left = 0.0
            for p in range(lo, hi):
                w_left += weight[row[p]] if goes_left[row[p]] else 0.0
            for c in range(categories.shape[1]):
                seen = c < sizes[best_feature] and rank[c] >= 0
                categories[node, c] = rank[c] <= last_left if seen else 2.0 * w_left >= w_all
        else:
            a = columns[best_feature, row[best_place]]
            b = columns[best_feature, row[best_place + 1]]
            cut = 0.5 * (a + b)
            threshold[node] = cut if a <= cut < b else a
            for p in range(lo, hi):
                goes_left[row[p]] = p <= best_place
        middle = best_place + 1
        for j in range(d):
            if j == best_feature and sizes[j] == 0:
                continue
            row = order[j]
            put, kept = lo, 0
            for p in range(lo, hi):
                i = row[p]
                if goes_left[i]:
                    row[put] = i
                    put += 1
                else:
                    spare[kept] = i
                    kept += 1
            for p in range(kept):
                row[put + p] = spare[p]
        feature[node] = best_feature
        left[node] = m
        right[node] = m + 1
        for child in (m, m + 1):
            depth[child] = depth[node] + 1
        begin[m], end[m] = lo, middle
        begin[m + 1], end[m + 1] = middle, hi
        m += 2
        node += 1
    return (
        feature[:m].copy(),
        threshold[:m].copy(),
        left[:m].copy(),
        right[:m].copy(),
        total[:m].copy(),
        value[:m].copy(),
        cost[:m].copy(),
        depth[:m].copy(),
        categories[:m].copy(),
    )
