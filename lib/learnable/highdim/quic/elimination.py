"""Factor and inverse of a sparse precision matrix: variables with few neighbours one by one, the rest by LAPACK.

Removing variable v from X leaves the Schur complement X_uw - X_uv X_vw / X_vv on its neighbours, so that a variable
with d neighbours costs O(d^2), whatever p is. The variable with the fewest neighbours goes first, which keeps the
neighbourhoods of the others small; when those that are left have so many that a Cholesky factor of what remains (the
core) is cheaper, LAPACK takes over. The inverse comes back in the opposite order: with l_u = X_uv / X_vv,

    W_vj = -sum_u l_u W_uj   for j != v,     W_vv = 1 / X_vv - sum_u l_u W_uv,

one pass over a row for each neighbour (the recursion of Takahashi et al. 1973, for all entries).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from learnable.linalg.precision import factor, factor_inverse, factor_logdet

# Nanoseconds: of an entry of a Schur complement, of an entry of a row of the inverse for each neighbour and once, and
# what LAPACK saves when a core of c variables loses one, RATE c^2 + CALL c.
SCHUR, AXPY, MIRROR, RATE, CALL = 1.5, 0.4, 2.0, 0.09, 32.0
# So large a share of the variables must go before it pays to leave the dense path.
WORTH = 0.3


class Plan(NamedTuple):
    """Who goes when: ``order[k]``, with the neighbours ``links[starts[k]:starts[k + 1]]`` that it has then."""

    order: np.ndarray
    starts: np.ndarray
    links: np.ndarray
    core: np.ndarray


class Elimination:
    """Factors of matrices that live on one pattern, in compressed rows with the diagonal."""

    def __init__(self, starts, cols):
        self.pattern = starts, cols
        self.plan = Plan(*_plan(starts, cols))
        self._scratch = None

    @property
    def worthwhile(self):
        """Whether enough variables are eliminated."""
        return self.plan.order.size >= WORTH * (self.pattern[0].size - 1)

    def holds(self, starts, cols):
        """Whether another pattern lies within this one, so that the order serves it too."""
        return _within(starts, cols, *self.pattern)

    def factor(self, X, D, alpha):
        """The factor of X + alpha D and its log-determinant; None where it is not positive definite."""
        order, _, links, core = self.plan
        if self._scratch is None:
            self._scratch = np.empty_like(X)
        ratios, pivots, rest = np.empty(links.size), np.empty(order.size), np.empty((core.size, core.size))
        logdet = _eliminate(X, D, alpha, self.plan, self._scratch, (ratios, pivots, rest))
        if np.isnan(logdet):
            return None
        if core.size:
            rest = factor(rest, overwrite=True)
            if rest is None:
                return None
            logdet += factor_logdet(rest)
        return (ratios, pivots, rest), logdet

    def inverse(self, found):
        """The inverse, exactly symmetric, from :meth:`factor`."""
        ratios, pivots, L = found
        return _complete(self.plan, ratios, pivots, factor_inverse(L) if L.size else L)


@njit(cache=True)
def _plan(starts, cols):
    """Repeatedly the variable with the fewest neighbours, until the rest is cheaper by LAPACK. O(p^2 + fill)."""
    p = starts.size - 1
    near, degree = np.zeros((p, p), dtype=np.bool_), np.zeros(p, dtype=np.int64)
    for i in range(p):
        for place in range(starts[i], starts[i + 1]):
            if cols[place] != i:
                near[i, cols[place]] = True
                degree[i] += 1
    order, heads = np.empty(p, dtype=np.int64), np.zeros(p + 1, dtype=np.int64)
    links = np.empty(p * p, dtype=np.int64)  # touched only as far as it is filled
    count, n, left = 0, 0, p
    while left > 0:
        v = np.argmin(degree)
        d = degree[v]
        if SCHUR * d * d + p * (AXPY * d + MIRROR) > left * (RATE * left + CALL):
            break
        first = n
        for u in range(p):
            if near[v, u]:
                links[n] = u
                n += 1
        for a in range(first, n):
            u = links[a]
            near[u, v] = False
            for b in range(first, a):
                w = links[b]
                if not near[u, w]:
                    near[u, w] = near[w, u] = True
                    degree[u] += 1
                    degree[w] += 1
            degree[u] -= 1
        degree[v] = 2 * p
        order[count] = v
        count += 1
        heads[count] = n
        left -= 1
    core = np.flatnonzero(degree < 2 * p)
    return order[:count].copy(), heads[: count + 1].copy(), links[:n].copy(), core


@njit(cache=True)
def _within(starts, cols, outer_starts, outer_cols):
    for i in range(starts.size - 1):
        at, end = outer_starts[i], outer_starts[i + 1]
        for place in range(starts[i], starts[i + 1]):
            while at < end and outer_cols[at] < cols[place]:
                at += 1
            if at == end or outer_cols[at] != cols[place]:
                return False
    return True


@njit(cache=True)
def _eliminate(X, D, alpha, plan, A, out):
    """Schur complements of X + alpha D, in A; only entries that the plan names are written and read there.

    Fills the ratios l, the pivots and the lower triangle of the core's complement. Returns the log-determinant of what
    is eliminated, NaN where X + alpha D is not positive definite.
    """
    order, starts, links, core = plan
    ratios, pivots, rest = out
    logdet = 0.0
    for k in range(order.size):
        v = order[k]
        A[v, v] = X[v, v] + alpha * D[v, v]
        for a in range(starts[k], starts[k + 1]):
            u = links[a]
            A[v, u] = A[u, v] = X[v, u] + alpha * D[v, u]
    for a in range(core.size):
        for b in range(a + 1):
            u, w = core[a], core[b]
            A[u, w] = A[w, u] = X[u, w] + alpha * D[u, w]
    for k in range(order.size):
        row = A[order[k]]
        pivot = row[order[k]]
        if not pivot > 0.0:
            return np.nan
        pivots[k] = pivot
        logdet += np.log(pivot)
        for a in range(starts[k], starts[k + 1]):
            u = links[a]
            ratio = row[u] / pivot
            ratios[a] = ratio
            for b in range(starts[k], a + 1):
                w = links[b]
                A[u, w] -= ratio * row[w]
                A[w, u] = A[u, w]
    for a in range(core.size):
        row = A[core[a]]
        for b in range(a + 1):
            rest[a, b] = row[core[b]]
    return logdet


@njit(cache=True)
def _complete(plan, ratios, pivots, inner):
    """The inverse of the whole from that of the core."""
    order, starts, links, core = plan
    p = order.size + core.size
    W = np.zeros((p, p))
    for a in range(core.size):
        for b in range(core.size):
            W[core[a], core[b]] = inner[a, b]
    for k in range(order.size - 1, -1, -1):
        v = order[k]
        row = W[v]
        for a in range(starts[k], starts[k + 1]):
            other, ratio = W[links[a]], ratios[a]
            for j in range(p):
                row[j] -= ratio * other[j]
        own = 1.0 / pivots[k]
        for a in range(starts[k], starts[k + 1]):
            own -= ratios[a] * row[links[a]]
        for j in range(p):
            if row[j] != 0.0:  # zero where it is not known yet
                W[j, v] = row[j]
        row[v] = own
    return W
