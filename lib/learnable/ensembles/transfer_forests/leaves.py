"""Leaves without a target row take the histogram of a leaf nearby (Goussies et al. 2014, Sec. 3.1.2).

The leaves of a tree are the vertices of a complete graph. An edge is short where the rows of its two ends, of all
tasks, spread towards each other; a leaf without target rows copies the leaf that it reaches by the shortest path.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from scipy.linalg import blas, lapack

from learnable._inner import inner
from learnable.validation import check_finite_array

METRICS = ("mahalanobis", "printed", "euclidean")
_WIDE = 32  # from as many features on a leaf with more rows is worth a Cholesky factor and calls of its own


@dataclass(frozen=True, eq=False)
class LeafPropagation:
    """What `propagate_leaves` returns.

    Attributes
    ----------
    proba : ndarray of shape (n_leaves, k)
        A histogram for every leaf, rows summing to one.
    origin : ndarray of shape (n_leaves,)
        The leaf that it was copied from: itself for a leaf with rows, -1 where no path leads to one.
    distance : ndarray of shape (n_leaves,)
        Length of the path to it.
    """

    proba: np.ndarray
    origin: np.ndarray
    distance: np.ndarray


def comparable(X, metric):
    """The rows in which leaves are compared: for "mahalanobis" in units of each column's spread.

    Then the covariances are shrunk towards the columns' own variances, and no unit matters. The other two metrics add
    up columns as they are.
    """
    if metric != "mahalanobis":
        return X
    spread = X.std(axis=0)
    return X / np.where(spread > 0, spread, 1.0)


def edges(X, leaves, metric, room, empty):
    """`leaf_graph` of `comparable` rows, without checks; `room` is added to the diagonals of the covariances.

    A shortest path ends at the first leaf with a target row, so that edges between two such leaves are not needed:
    only those with an end among the `empty` leaves are computed.
    """
    order = np.argsort(leaves, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(leaves))])
    dim = X.shape[1]
    apart = (np.diff(starts) > dim) & (dim >= _WIDE) & (metric == "mahalanobis")
    half, means = _quadratics(np.ascontiguousarray(X), order, starts, room, METRICS.index(metric), empty, apart)
    few = np.flatnonzero(empty)
    for i in np.flatnonzero(apart):
        others = slice(None) if empty[i] else few
        half[i, others] = _by_factor(X[order[starts[i] : starts[i + 1]]] - means[i], means[i] - means[others], room)
    graph = 0.5 * (half + half.T)
    np.fill_diagonal(graph, 0.0)
    return graph


def propagate_leaves(graph, counts):
    """Copy to each leaf without rows the histogram of the leaf that the shortest path leads to. O(K^2).

    One run of Dijkstra's algorithm starts from all leaves with rows at once.

    Parameters
    ----------
    graph : array-like of shape (K, K)
        Lengths of the edges, not negative, infinite where there is none; as from `leaf_graph`.
    counts : array-like of shape (K, k)
        Target rows of each class in each leaf.

    Returns
    -------
    LeafPropagation

    Examples
    --------
    >>> graph = np.array([[0.0, 1, 4], [1, 0, 1], [4, 1, 0]])
    >>> done = propagate_leaves(graph, [[3, 1], [0, 0], [0, 0]])
    >>> done.proba[2], done.distance[2]
    (array([0.75, 0.25]), np.float64(2.0))
    """
    counts = check_finite_array(counts, "counts", ndim=2)
    graph = np.ascontiguousarray(graph, dtype=np.float64)
    if graph.shape != (len(counts), len(counts)) or counts.size == 0:
        raise ValueError(f"graph must be square with a row for each of the {len(counts)} leaves, got {graph.shape}")
    if not (graph >= 0).all() or counts.min() < 0:
        raise ValueError("graph and counts must not be negative" if counts.min() < 0 else "graph must not be negative")
    total = counts.sum(axis=1)
    distance, origin = _nearest_labelled(graph, total > 0)
    proba = np.full(counts.shape, 1.0 / counts.shape[1])
    known = origin >= 0
    proba[known] = counts[origin[known]] / total[origin[known], None]
    return LeafPropagation(proba, origin, distance)


def _by_factor(z, d, room):
    """d' inv(z'z / n + room I) d for each row of d as the squared length of inv(L) d: half the work of a solution."""
    s = z.T @ z  # BLAS computes one triangle
    s /= len(z)
    s.flat[:: len(s) + 1] += room
    lower, info = lapack.dpotrf(s.T, lower=1, clean=0)
    if info != 0:  # a shrinkage below rounding
        return np.maximum((np.linalg.solve(s, d.T) * d.T).sum(axis=0), 0.0)
    white = blas.dtrsm(1.0, lower, d.T, lower=1)
    return np.einsum("ij,ij->j", white, white)


@njit(cache=True, nogil=True)
def _quadratics(X, order, starts, room, metric, empty, apart):
    """Q[i, j] = d' M_i d with d the difference of the means of leaves i and j, but for leaves `apart`; and the means.

    `order` lists the rows by leaf.
    """
    k, dim = len(starts) - 1, X.shape[1]
    means, out = np.zeros((k, dim)), np.zeros((k, k))
    for i in range(k):
        for p in range(starts[i], starts[i + 1]):
            for j in range(dim):
                means[i, j] += X[order[p], j]
        for j in range(dim):
            means[i, j] /= starts[i + 1] - starts[i]
    others = np.empty(k, np.int64)
    for i in range(k):
        if apart[i]:
            continue
        m = 0
        for j in range(k):
            if empty[i] or empty[j]:
                others[m] = j
                m += 1
        n = starts[i + 1] - starts[i] if metric != 2 else 0  # no rows are needed for plain distances
        d, z = np.empty((m, dim)), np.empty((n, dim))
        for j in range(dim):
            for o in range(m):
                d[o, j] = means[i, j] - means[others[o], j]
            for p in range(n):
                z[p, j] = X[order[starts[i] + p], j] - means[i, j]
        lengths = _squared_lengths(d, z, room, metric)
        for o in range(m):
            out[i, others[o]] = max(lengths[o], 0.0)
    return out, means


@inner
def _squared_lengths(d, z, room, metric):
    """d' M d for each row of d, with M from the centred rows z of a leaf."""
    n, dim = z.shape
    if metric == 2:
        return _row_products(d, d)
    if metric == 1:
        zd = np.dot(d, z.T)
        return _row_products(zd, zd) / n
    if n > dim:
        s = np.dot(z.T, z) / n
        for j in range(dim):
            s[j, j] += room
        return _row_products(np.linalg.solve(s, np.ascontiguousarray(d.T)).T, d)
    # the inverse of room I + z'z / n by that of a matrix with as many rows as the leaf
    g = np.dot(z, z.T)
    for j in range(n):
        g[j, j] += n * room
    zd = np.dot(d, z.T)
    inside = _row_products(np.linalg.solve(g, np.ascontiguousarray(zd.T)).T, zd)
    return (_row_products(d, d) - inside) / room


@inner
def _row_products(a, b):
    out = np.zeros(len(a))
    for i in range(len(a)):
        for j in range(a.shape[1]):
            out[i] += a[i, j] * b[i, j]
    return out


@njit(cache=True, nogil=True)
def _nearest_labelled(graph, labelled):
    """Dijkstra's algorithm from all labelled leaves at once, on a dense graph: O(k²) without a heap."""
    k = len(graph)
    distance, origin, done = np.full(k, np.inf), np.full(k, -1), np.zeros(k, np.bool_)
    for i in range(k):
        if labelled[i]:
            distance[i], origin[i] = 0.0, i
    for _ in range(k):
        best, nearest = np.inf, -1
        for i in range(k):
            if not done[i] and distance[i] < best:
                best, nearest = distance[i], i
        if nearest < 0:
            break
        done[nearest] = True
        for i in range(k):
            if not done[i] and best + graph[nearest, i] < distance[i]:
                distance[i], origin[i] = best + graph[nearest, i], origin[nearest]
    return distance, origin
