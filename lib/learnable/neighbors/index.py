"""Exact nearest neighbours with a stated order: by distance, and among equal distances by index.

Most libraries leave the order of ties open. Here every distance that decides is computed in one fixed order of
summation, whether it was found by a k-d tree, among all rows, or in a sorted array (one feature).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numba import njit

from learnable.neighbors._blocks import lay_out, scan_blocks
from learnable.neighbors._tree import plant, search_tree
from learnable.neighbors._vectors import LEAF
from learnable.validation import check_choice, check_finite_array, check_magnitude, check_scalar

__all__ = ["NeighborIndex"]

_PILOT = 16  # queries by which the cost of a tree is judged


class NeighborIndex:
    """Search structure over the rows of X.

    Parameters
    ----------
    X : array (n, d)
    method : {"auto", "tree", "brute", "line"}
        ``line``: sorted array, for d = 1; ``tree``: k-d tree; ``brute``: all distances. ``auto``: the sorted array for
        d = 1, else whichever costs less for the queries at hand, judged by how many leaves of the tree a few of them
        visit. The answer is the same whatever the method.

    Notes
    -----
    A query costs O(d log n) with a tree in few dimensions, and at most O(n d).

    Examples
    --------
    >>> index = NeighborIndex([[0.0], [2.0], [2.0], [3.0]])
    >>> distances, neighbours = index.query([[2.0]], 3)
    >>> neighbours, distances
    (array([[1, 2, 3]]), array([[0., 0., 1.]]))
    >>> points = np.arange(200.0).reshape(100, 2)
    >>> [NeighborIndex(points, method).query([[50.0, 51.0]], 2)[1].tolist() for method in ("tree", "brute")]
    [[[25, 24]], [[25, 24]]]
    """

    def __init__(self, X, method="auto"):
        X = check_finite_array(X, "X", ndim=2)
        if 0 in X.shape:
            raise ValueError(f"X must have at least one row and one column, got shape {X.shape}")
        check_magnitude(X, "X")
        check_choice(method, "method", ("auto", "tree", "brute", "line"))
        self._X = np.ascontiguousarray(X, dtype=np.float64)
        d = X.shape[1]
        if method == "line" and d != 1:
            raise ValueError(f"method 'line' is for one feature, got {d}")
        self.method = "line" if method == "auto" and d == 1 else method
        if self.method == "line":
            self._order = np.argsort(self._X[:, 0], kind="stable")
            self._sorted = self._X[self._order, 0]

    @cached_property
    def _tree(self):
        return plant(self._X)

    @cached_property
    def _blocks(self):
        return lay_out(self._X)

    def query(self, Q, k, exclude=None):
        """The k nearest rows of X for each row of Q.

        Parameters
        ----------
        Q : array (m, d)
        k : int
        exclude : array (m,) of int, optional
            An index that is not a neighbour of each query (itself, for leave-one-out).

        Returns
        -------
        distances : array (m, k)
            Squared distances, rising.
        neighbours : array (m, k) of int
            Ties in rising order of the index.
        """
        Q = check_finite_array(Q, "Q", ndim=2)
        n, d = self._X.shape
        if Q.shape[1] != d:
            raise ValueError(f"Q must have {d} columns, got {Q.shape[1]}")
        check_magnitude(Q, "Q", smallest=0.0)
        room = n if exclude is None else n - 1
        k = check_scalar(k, "k", low=1, high=room, integer=True)
        Q = np.ascontiguousarray(Q, dtype=np.float64)
        hidden = np.full(len(Q), -1) if exclude is None else np.asarray(exclude)
        if hidden.shape != (len(Q),) or hidden.dtype.kind not in "iu":
            raise ValueError(f"exclude must hold one index for each of the {len(Q)} rows of Q")
        hidden = hidden.astype(np.int64)
        if self.method == "line":
            return _query_line(self._sorted, self._order, Q[:, 0], k, hidden)
        distances = np.empty((len(Q), k))
        neighbours = np.empty((len(Q), k), np.int64)
        rows = np.arange(len(Q))
        use_tree = self.method == "tree"
        if self.method == "auto" and self._worth_planting(len(Q), k):
            pilot = rows[:: max(1, len(rows) // _PILOT)]
            visits = search_tree(self._tree, Q, pilot, hidden, distances, neighbours)
            use_tree = _tree_cost(visits / len(pilot), d, k) < _brute_cost(n, d, k)
            rows = np.setdiff1d(rows, pilot, assume_unique=True)
        if use_tree:
            search_tree(self._tree, Q, rows, hidden, distances, neighbours)
        elif len(rows):
            scan_blocks(self._X, self._blocks, Q, rows, hidden, distances, neighbours)
        return distances, neighbours

    def _worth_planting(self, m, k):
        """Whether a tree is likely to help with m queries, or costs so little beside them that a trial is in order."""
        n, d = self._X.shape
        if "_tree" in self.__dict__:
            return True
        planting, brute = _planting_cost(n, d), m * _brute_cost(n, d, k)
        likely = min(n / LEAF, 1.72 ** min(d, 60))  # leaves that a query visits among normal points
        return planting + m * _tree_cost(likely, d, k) < brute or 16 * planting < brute


# Costs in nanoseconds, measured on one core with vectors of 512 bits. Only their ratios count, and where they are off
# the answer is the same, a little later.
def _planting_cost(n, d):
    return n * (13.0 * np.log2(max(n / LEAF, 2.0)) + 8.0 * d)


def _tree_cost(visits, d, k):
    return 150.0 + 25.0 * k + visits * (45.0 + 3.2 * d)


def _brute_cost(n, d, k):
    return 800.0 + 170.0 * k + n * (0.1 + 0.022 * d)


@njit(cache=True)
def _insert(best, who, size, k, value, index):
    """Insert into a list sorted by (value, index); return its new size."""
    if size == k and (value > best[k - 1] or (value == best[k - 1] and index > who[k - 1])):
        return size
    at = size if size < k else k - 1
    while at > 0 and (best[at - 1] > value or (best[at - 1] == value and who[at - 1] > index)):
        best[at] = best[at - 1]
        who[at] = who[at - 1]
        at -= 1
    best[at] = value
    who[at] = index
    return min(size + 1, k)


@njit(cache=True)
def _query_line(values, order, queries, k, hidden):
    """One feature: grow a window around the query, then settle ties at its border by index."""
    n, m = len(values), len(queries)
    distances = np.empty((m, k))
    neighbours = np.empty((m, k), np.int64)
    for i in range(m):
        q = queries[i]
        hi = np.searchsorted(values, q)
        lo = hi - 1
        size = 0
        while lo >= 0 or hi < n:
            below = q - values[lo] if lo >= 0 else np.inf
            above = values[hi] - q if hi < n else np.inf
            nearest = min(below, above)
            if size == k and nearest * nearest > distances[i, k - 1]:
                break
            if below <= above:
                j = order[lo]
                lo -= 1
            else:
                j = order[hi]
                hi += 1
            if j != hidden[i]:
                size = _insert(distances[i], neighbours[i], size, k, nearest * nearest, j)
    return distances, neighbours
