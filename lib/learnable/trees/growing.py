"""Growing binary trees with exact best splits.

Each feature is sorted once; a split partitions the sorted index arrays stably, so a level of the tree costs O(n d).
The impurity of both sides follows by running counts: Gini through sums of squares, entropy through a table of i ln i,
squared error through running sums of centred targets.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from learnable.validation import check_choice, check_finite_array, check_scalar

__all__ = ["CRITERIA", "Tree", "grow"]

CRITERIA = ("gini", "entropy", "error", "squared")
_LEAF = -1
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
    """

    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    weight: np.ndarray
    value: np.ndarray
    cost: np.ndarray
    depth: np.ndarray

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
        return _apply(np.ascontiguousarray(X), self.feature, self.threshold, self.left, self.right)

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
        )


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
    presorted : array (d, n), optional
        Row j sorts feature j (stable); sort once when many trees share X (see `presort`).

    Returns
    -------
    Tree

    Notes
    -----
    A threshold lies half-way between two neighbouring distinct values. Of equally good splits the first feature and the
    smallest threshold win. A node is split as long as it is impure and any split is allowed, also when no split gains
    anything: pruning decides later. O(d n log n) to sort and O(d n) for each level.

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
    )
    if origin:
        arrays[5][:] += origin
    return Tree(*arrays)


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
def _apply(X, feature, threshold, left, right):
    out = np.empty(len(X), np.int64)
    for i in range(len(X)):
        node = 0
        while feature[node] >= 0:
            node = left[node] if X[i, feature[node]] <= threshold[node] else right[node]
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
def _grow(columns, order, codes, target, weight, k, criterion, limit, min_split, min_leaf, table):
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
            cost[node] = _node_cost(counts, w_all, k, criterion)
        total[node] = w_all
        pure = cost[node] <= 1e-12 * max(w_all, 1e-300) if not regression else _constant(order, target, lo, hi)
        if pure or depth[node] >= limit or hi - lo < min_split or hi - lo < 2 * min_leaf:
            node += 1
            continue
        best, best_feature, best_place, best_cut = np.inf, -1, -1, 0.0
        # Scores of two features that differ by less are a tie: rounding errors are relative to this node's own size.
        slack = 1e-12 * (cost[node] if regression else w_all)
        for j in range(d):
            row = order[j]
            column = columns[j]
            first = column[row[lo]]
            last = column[row[hi - 1]]
            if first == last:
                continue
            if regression:
                found, place = _scan_squared(column, row, lo, hi, target, weight, mean, w_all, min_leaf)
            elif criterion == 0:
                if uneven:
                    found, place = _scan_uneven(column, row, lo, hi, codes, weight, counts, on_left, w_all, min_leaf, k)
                else:
                    found, place = _scan_gini(column, row, lo, hi, codes, weight, counts, on_left, w_all, min_leaf, k)
            elif criterion == 1 and len(table) > 0:
                found, place = _scan_entropy(column, row, lo, hi, codes, counts, on_left, table, min_leaf, k)
            else:
                found, place = _scan_any(
                    column, row, lo, hi, codes, weight, counts, on_left, w_all, min_leaf, k, criterion
                )
            if place >= 0 and found < best - slack:
                best, best_feature, best_place = found, j, place
        if best_feature < 0:
            node += 1
            continue
        row = order[best_feature]
        a = columns[best_feature, row[best_place]]
        b = columns[best_feature, row[best_place + 1]]
        best_cut = 0.5 * (a + b)
        if not (a <= best_cut < b):
            best_cut = a
        for p in range(lo, hi):
            goes_left[row[p]] = p <= best_place
        middle = best_place + 1
        for j in range(d):
            if j == best_feature:
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
        threshold[node] = best_cut
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
    )


@njit(cache=True)
def _constant(order, target, lo, hi):
    first = target[order[0, lo]]
    for p in range(lo + 1, hi):
        if target[order[0, p]] != first:
            return False
    return True


@njit(cache=True)
def _node_cost(counts, total, k, criterion):
    """total × impurity of a node, with an error relative to the cost itself, however pure the node."""
    if criterion == 2:
        return _impurity(counts, total, k, criterion)
    out = 0.0
    for c in range(k):
        if counts[c] > 0.0:
            others = max((total - counts[c]) / total, 0.0)
            if criterion == 0:
                out += counts[c] * others
            elif others < 0.5:
                out -= counts[c] * np.log1p(-others)
            else:
                out += counts[c] * np.log(total / counts[c])
    return out


@njit(cache=True)
def _impurity(counts, total, k, criterion):
    """total × impurity of a vector of class weights, for comparing cuts: its error is relative to the total."""
    if total <= 0.0:
        return 0.0
    if criterion == 0:
        squares = 0.0
        for c in range(k):
            squares += counts[c] * counts[c]
        return total - squares / total
    if criterion == 1:
        out = total * np.log(total)
        for c in range(k):
            if counts[c] > 0.0:
                out -= counts[c] * np.log(counts[c])
        return max(out, 0.0)
    largest = 0.0
    for c in range(k):
        largest = max(largest, counts[c])
    return total - largest


@njit(cache=True)
def _scan_gini(column, row, lo, hi, codes, weight, counts, on_left, w_all, min_leaf, k):
    """Best cut by Gini: maximise Σ l_c²/l + Σ r_c²/r, with both sums of squares updated in O(1)."""
    on_left[:] = 0.0
    left_squares, right_squares, w_left = 0.0, 0.0, 0.0
    for c in range(k):
        right_squares += counts[c] * counts[c]
    best, place = -1.0, -1
    value = column[row[lo]]
    for p in range(lo, hi - 1):
        i = row[p]
        c = codes[i]
        w = weight[i]
        l = on_left[c]
        r = counts[c] - l
        left_squares += w * (2.0 * l + w)
        right_squares -= w * (2.0 * r - w)
        on_left[c] = l + w
        w_left += w
        following = column[row[p + 1]]
        if following != value:
            value = following
            if p + 1 - lo >= min_leaf and hi - p - 1 >= min_leaf:
                w_right = w_all - w_left
                if w_left > 0.0 and w_right > 0.0:
                    score = left_squares / w_left + right_squares / w_right
                    if score > best * (1.0 + 1e-14):
                        best, place = score, p
    return w_all - best, place


@njit(cache=True)
def _scan_uneven(column, row, lo, hi, codes, weight, counts, on_left, w_all, min_leaf, k):
    """Best cut by Gini for weights that span many orders of magnitude, O(k) a cut.

    The score of a cut is the sum of l_c(l_c/l) and r_c(r_c/r): shares times class sums, so that an error in a small
    side stays as small as the side. A side below rounding error of the whole has no score.
    """
    on_left[:] = 0.0
    best, place = -1.0, -1
    value = column[row[lo]]
    for p in range(lo, hi - 1):
        i = row[p]
        on_left[codes[i]] += weight[i]
        following = column[row[p + 1]]
        if following != value:
            value = following
            if p + 1 - lo >= min_leaf and hi - p - 1 >= min_leaf:
                w_left, w_right = 0.0, 0.0
                for c in range(k):
                    w_left += on_left[c]
                    w_right += max(counts[c] - on_left[c], 0.0)
                if min(w_left, w_right) > 1e-13 * w_all:
                    score = 0.0
                    for c in range(k):
                        score += on_left[c] * (on_left[c] / w_left)
                        r = max(counts[c] - on_left[c], 0.0)
                        score += r * (r / w_right)
                    if score > best * (1.0 + 1e-14):
                        best, place = score, p
    return w_all - best, place


@njit(cache=True)
def _scan_entropy(column, row, lo, hi, codes, counts, on_left, table, min_leaf, k):
    """Best cut by entropy for unit weights: all logarithms come from a table of i ln i."""
    on_left[:] = 0.0
    left_sum, right_sum = 0.0, 0.0
    for c in range(k):
        right_sum += table[int(counts[c])]
    best, place = np.inf, -1
    value = column[row[lo]]
    size = hi - lo
    slack = 1e-14 * table[size]
    for p in range(lo, hi - 1):
        c = codes[row[p]]
        l = int(on_left[c])
        r = int(counts[c]) - l
        left_sum += table[l + 1] - table[l]
        right_sum += table[r - 1] - table[r]
        on_left[c] = l + 1
        following = column[row[p + 1]]
        if following != value:
            value = following
            done = p + 1 - lo
            if done >= min_leaf and size - done >= min_leaf:
                score = table[done] - left_sum + table[size - done] - right_sum
                if score < best - slack:
                    best, place = score, p
    return best, place


@njit(cache=True)
def _scan_any(column, row, lo, hi, codes, weight, counts, on_left, w_all, min_leaf, k, criterion):
    """Best cut by any class criterion, O(k) a candidate."""
    on_left[:] = 0.0
    on_right = counts.copy()
    w_left = 0.0
    best, place = np.inf, -1
    for p in range(lo, hi - 1):
        i = row[p]
        on_left[codes[i]] += weight[i]
        on_right[codes[i]] -= weight[i]
        w_left += weight[i]
        if column[row[p]] != column[row[p + 1]] and p + 1 - lo >= min_leaf and hi - p - 1 >= min_leaf:
            score = _impurity(on_left, w_left, k, criterion)
            score += _impurity(on_right, w_all - w_left, k, criterion)
            if score < best - 1e-13 * w_all:
                best, place = score, p
    return best, place


@njit(cache=True)
def _scan_squared(column, row, lo, hi, target, weight, mean, w_all, min_leaf):
    """Best cut by squared error: with centred targets only the sum on the left is needed."""
    w_left, sum_left = 0.0, 0.0
    best, place = -1.0, -1
    for p in range(lo, hi - 1):
        i = row[p]
        w_left += weight[i]
        sum_left += weight[i] * (target[i] - mean)
        if column[row[p]] != column[row[p + 1]] and p + 1 - lo >= min_leaf and hi - p - 1 >= min_leaf:
            w_right = w_all - w_left
            if w_left > 0.0 and w_right > 0.0:
                gain = sum_left * sum_left * (1.0 / w_left + 1.0 / w_right)
                if gain > best + 1e-14 * max(best, 0.0):
                    best, place = gain, p
    return -best, place
