"""Exact nearest neighbours with a stated order: by distance, and among equal distances by index.

Most libraries leave the order of ties open. Here candidates come from a k-d tree (few dimensions), from one matrix
product a block (many), or from a sorted array (one dimension); their distances are then computed again in one fixed
order of summation, and sorted by (distance, index).
"""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy.spatial import cKDTree

from learnable.validation import check_choice, check_finite_array, check_magnitude, check_scalar

__all__ = ["NeighborIndex", "squared_distances"]

_TREE_DIMENSIONS = 15
_MARGIN = 4  # candidates beyond k, so that a tie at the border is noticed
_ROWS, _COLUMNS = 256, 2048  # of a block of products: it stays in the cache while it is scanned


def squared_distances(A, B):
    """All squared Euclidean distances between rows, by differences: exact for equal rows. O(n m d).

    Parameters
    ----------
    A : array-like of shape (n, d)
    B : array-like of shape (m, d)

    Examples
    --------
    >>> squared_distances(np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([[0.0, 0.0]])).tolist()
    [[0.0], [25.0]]
    """
    A, B = check_finite_array(A, "A", ndim=2), check_finite_array(B, "B", ndim=2)
    check_magnitude(A, "A", smallest=0.0), check_magnitude(B, "B", smallest=0.0)
    if A.shape[1] != B.shape[1]:
        raise ValueError(f"A has {A.shape[1]} columns, B has {B.shape[1]}")
    return _all_pairs(np.ascontiguousarray(A, dtype=np.float64), np.ascontiguousarray(B, dtype=np.float64))


class NeighborIndex:
    """Search structure over the rows of X.

    Parameters
    ----------
    X : array (n, d)
    method : {"auto", "tree", "brute", "line"}
        ``auto``: sorted array for d = 1, k-d tree up to d = 15, matrix products beyond.

    Examples
    --------
    >>> index = NeighborIndex([[0.0], [2.0], [2.0], [3.0]])
    >>> distances, neighbours = index.query([[2.0]], 3)
    >>> neighbours, distances
    (array([[1, 2, 3]]), array([[0., 0., 1.]]))
    """

    def __init__(self, X, method="auto"):
        X = check_finite_array(X, "X", ndim=2)
        if 0 in X.shape:
            raise ValueError(f"X must have at least one row and one column, got shape {X.shape}")
        check_magnitude(X, "X")
        check_choice(method, "method", ("auto", "tree", "brute", "line"))
        self._X = np.ascontiguousarray(X, dtype=np.float64)
        d = X.shape[1]
        if method == "auto":
            method = "line" if d == 1 else "tree" if d <= _TREE_DIMENSIONS else "brute"
        if method == "line" and d != 1:
            raise ValueError(f"method 'line' is for one feature, got {d}")
        self.method = method
        if method == "tree":
            self._tree = cKDTree(self._X, leafsize=16)
        elif method == "line":
            self._order = np.argsort(self._X[:, 0], kind="stable")
            self._sorted = self._X[self._order, 0]
        else:
            self._norms = np.einsum("ij,ij->i", self._X, self._X)

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
        wanted = min(n, k + (0 if exclude is None else 1) + _MARGIN)
        distances = np.empty((len(Q), k))
        neighbours = np.empty((len(Q), k), np.int64)
        candidates = self._candidates(Q, wanted)
        _refine(self._X, Q, candidates, k, hidden, distances, neighbours)
        return distances, neighbours

    def _candidates(self, Q, wanted):
        if self.method == "tree":
            _, found = self._tree.query(Q, k=wanted)
            return found.reshape(len(Q), wanted).astype(np.int64)
        found = np.empty((len(Q), wanted), np.int64)
        for start in range(0, len(Q), _ROWS):
            part = Q[start : start + _ROWS]
            keys = np.full((len(part), wanted), np.inf)
            for first in range(0, len(self._X), _COLUMNS):
                products = part @ self._X[first : first + _COLUMNS].T
                _keep_smallest(products, self._norms, first, keys, found[start : start + _ROWS])
        return found


@njit(cache=True)
def _distance(a, b):
    total = 0.0
    for j in range(len(a)):
        gap = a[j] - b[j]
        total += gap * gap
    return total


@njit(cache=True)
def _all_pairs(A, B):
    out = np.empty((len(A), len(B)))
    for i in range(len(A)):
        for j in range(len(B)):
            out[i, j] = _distance(A[i], B[j])
    return out


@njit(cache=True)
def _keep_smallest(products, norms, first, keys, found):
    """Update, row by row, a heap of the smallest |x|² − 2 q'x seen so far with one block of products."""
    m, columns = products.shape
    wanted = keys.shape[1]
    for i in range(m):
        key = keys[i]
        who = found[i]
        worst = key[0]
        for j in range(columns):
            value = norms[first + j] - 2.0 * products[i, j]
            if value < worst:
                at = 0
                while True:
                    child = 2 * at + 1
                    if child >= wanted:
                        break
                    if child + 1 < wanted and key[child + 1] > key[child]:
                        child += 1
                    if key[child] <= value:
                        break
                    key[at] = key[child]
                    who[at] = who[child]
                    at = child
                key[at] = value
                who[at] = first + j
                worst = key[0]


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
def _refine(X, Q, candidates, k, hidden, distances, neighbours):
    """Distances of the candidates in one order of summation; where a tie may reach beyond them, look at all rows."""
    wanted = candidates.shape[1]
    n = len(X)
    for i in range(len(Q)):
        size = 0
        far = 0.0
        for c in range(wanted):
            j = candidates[i, c]
            value = _distance(Q[i], X[j])
            far = max(far, value)
            if j != hidden[i]:
                size = _insert(distances[i], neighbours[i], size, k, value, j)
        scale = _distance(Q[i], np.zeros_like(Q[i])) + far
        if wanted < n and distances[i, k - 1] >= far - 1e-10 * scale:
            size = 0
            for j in range(n):
                if j != hidden[i]:
                    size = _insert(distances[i], neighbours[i], size, k, _distance(Q[i], X[j]), j)


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
