"""One dynamic program for every alignment: the best path for scores of steps and states, and of transitions.

It maximises ``start[s_0] + sum_t score[t, s_t] + sum_t step[s_t, s_(t+1)]``; -inf forbids. Scores come as up to three
(n, K) tables with weights and are added block by block, a table with weight zero being left out (0 * -inf = 0).
Transitions come as *arcs* (:func:`learnable.latent.hmm._kernels.arcs`): dense rows, or lists of possible predecessors.
"""

import numpy as np
from numba import njit

from learnable._simd import fmax

_BLOCK = 4096
_NOTHING = np.empty((0, 0))


def best_path(start, net, scores):
    """The best path and its value; ties go to the smaller state. O(nK²) or O(n arcs); nK bytes for back-pointers.

    `scores` is a list of (weight, table) pairs.
    """
    weights, tables = _padded(scores)
    n, k = scores[0][1].shape
    path = np.empty(n, dtype=np.int64)
    pointer = np.empty((n, k), dtype=np.uint8 if k <= 256 else np.uint16)
    value = _best_path(start, net, weights, *tables, pointer, path)
    return path, float(value)


def best_values(start, net, scores):
    """Value of the best path to each state at each time."""
    out = sum(weight * table for weight, table in scores)
    _best_values(start, net, out)
    return out


def tied_paths(values, net, max_ties, tol):
    """Yield every path whose value is within ``tol (1 + |best|)`` of the best, at most `max_ties` of them.

    `values` come from :func:`best_values`, and one of the last row is finite.
    """
    matrix, (n, k) = net[0], values.shape
    slack = tol * (1 + abs(values[-1].max()))
    path = np.empty(n, dtype=np.int64)
    loss = values[-1].max() - values[-1]
    stack = [(n - 1, int(j), slack - loss[j]) for j in np.flatnonzero(loss <= slack)[::-1]]
    found = 0
    while stack and found < max_ties:
        t, j, left = stack.pop()
        path[t] = j
        if t == 0:
            found += 1
            yield path.copy()
            continue
        into = values[t - 1] + matrix[:k, j]
        loss = into.max() - into
        stack.extend((t - 1, int(i), left - loss[i]) for i in np.flatnonzero(loss <= left)[::-1])


def _padded(scores):
    scores = [*scores, *[(0.0, _NOTHING)] * (3 - len(scores))]
    return np.array([float(w) for w, _ in scores]), [np.ascontiguousarray(t) for _, t in scores]


@njit(cache=True)
def _add(weights, a, b, c, first, score):
    """The scores of the rows from `first` on."""
    rows, k = score.shape
    flat, size, offset = score.ravel(), rows * k, first * k
    for p in range(size):
        flat[p] = 0.0
    if weights[0] != 0.0:
        w, table = weights[0], a.ravel()
        for p in range(size):
            flat[p] += w * table[offset + p]
    if weights[1] != 0.0:
        w, table = weights[1], b.ravel()
        for p in range(size):
            flat[p] += w * table[offset + p]
    if weights[2] != 0.0:
        w, table = weights[2], c.ravel()
        for p in range(size):
            flat[p] += w * table[offset + p]


@njit(cache=True)
def _best_path(start, net, weights, a, b, c, pointer, path):
    """delta_t(j) = max_i (delta_(t-1)(i) + matrix_ij) + score_t(j), forwards, then the pointers backwards."""
    matrix, ptr, idx, val, sparse = net
    n, k = pointer.shape
    delta, best, arg = np.empty(k), np.empty(k), np.zeros(k)
    whole = k - k % 4
    step = min(n, max(1, _BLOCK // k))
    score = np.empty((step, k))
    for t in range(n):
        row = t % step
        if row == 0:  # scores are made for a block of times that stays in the cache
            _add(weights, a, b, c, t, score[: min(step, n - t)])
        if t == 0:
            for j in range(k):
                delta[j] = start[j] + score[0, j]
            continue
        if sparse:
            for j in range(k):
                top, where = -np.inf, 0
                for p in range(ptr[j], ptr[j + 1]):
                    value = delta[idx[p]] + val[p]
                    if value > top:
                        top, where = value, idx[p]
                best[j] = top
                pointer[t, j] = where
            for j in range(k):
                delta[j] = best[j] + score[row, j]
            continue
        for j in range(k):
            best[j] = -np.inf
            arg[j] = 0.0
        # Four states i at once, j innermost: rows of the matrix are read in order, without branches, so that the loop
        # vectorises; the place of the maximum is a float for the same reason.
        for i in range(0, whole, 4):
            d0, d1, d2, d3 = delta[i], delta[i + 1], delta[i + 2], delta[i + 3]
            a0, a1, a2, a3 = float(i), i + 1.0, i + 2.0, i + 3.0
            for j in range(k):
                top, where = best[j], arg[j]
                value = d0 + matrix[i, j]
                where = a0 if value > top else where
                top = value if value > top else top
                value = d1 + matrix[i + 1, j]
                where = a1 if value > top else where
                top = value if value > top else top
                value = d2 + matrix[i + 2, j]
                where = a2 if value > top else where
                top = value if value > top else top
                value = d3 + matrix[i + 3, j]
                where = a3 if value > top else where
                top = value if value > top else top
                best[j] = top
                arg[j] = where
        for i in range(whole, k):
            d0, a0 = delta[i], float(i)
            for j in range(k):
                value = d0 + matrix[i, j]
                arg[j] = a0 if value > best[j] else arg[j]
                best[j] = value if value > best[j] else best[j]
        for j in range(k):
            delta[j] = best[j] + score[row, j]
            pointer[t, j] = int(arg[j])
    state = 0
    for j in range(1, k):
        if delta[j] > delta[state]:
            state = j
    value = delta[state]
    path[n - 1] = state
    for t in range(n - 1, 0, -1):
        state = int(pointer[t, state])
        path[t - 1] = state
    return value


@njit(cache=True)
def _best_values(start, net, out):
    """Scores become values, in place."""
    matrix, ptr, idx, val, sparse = net
    n, k = out.shape
    for j in range(k):
        out[0, j] += start[j]
    for t in range(1, n):
        for j in range(k):
            best = -np.inf
            if sparse:
                for p in range(ptr[j], ptr[j + 1]):
                    best = fmax(best, out[t - 1, idx[p]] + val[p])
            else:
                for i in range(k):
                    best = fmax(best, out[t - 1, i] + matrix[i, j])
            out[t, j] += best
