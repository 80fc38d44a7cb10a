"""Compiled loops of QUIC: the scan of a matrix, the direction from a diagonal, and coordinate descent on the model.

A free set is a symmetric pattern in compressed rows: the free columns of row i are ``cols[starts[i]:starts[i + 1]]``,
in increasing order.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from learnable.optim.proximal import soft

# Rows handled together by `descend`: as many as numbers in a line of memory.
LINE = 8


class Model(NamedTuple):
    """The quadratic model at an iterate X with inverse W."""

    S: np.ndarray
    W: np.ndarray
    X: np.ndarray
    Lam: np.ndarray


@njit(cache=True)
def scan(S, W, X, Lam):
    """One pass over the matrices at an iterate with W = X^-1.

    Returns the free set {X_ij != 0 or |S_ij - W_ij| > lam_ij} (Hsieh et al. 2014, (33)) as compressed rows, the number
    of nonzeros of X, the 1-norm and the largest entry of the minimum-norm subgradient, the 1-norm of X, and a lower
    bound of the duality gap of the clipped W (see `duality_gap`): log det is concave, so
    log det W' <= log det W + tr(X (W' - W)).
    """
    p = len(S)
    starts, cols = np.zeros(p + 1, dtype=np.int64), np.empty(p * p, dtype=np.int64)  # touched only where it is filled
    free, nonzero = 0, 0
    total, largest, norm, bound = 0.0, 0.0, 0.0, 0.0
    for i in range(p):
        for j in range(p):
            g, x, lam = S[i, j] - W[i, j], X[i, j], Lam[i, j]
            if x == 0.0 and abs(g) <= lam:
                continue
            cols[free] = j
            free += 1
            if x != 0.0:
                sub = abs(g + lam if x > 0.0 else g - lam)
                clipped = min(max(g, -lam), lam)
                nonzero += 1
                norm += abs(x)
                # W' - W = S - W - clipped, and tr(SX) + |X| - tr(WX) - tr(X (W' - W)) = |X| + tr(X clipped).
                bound += lam * abs(x) + x * clipped
            else:
                sub = abs(g) - lam
            total += sub
            largest = max(largest, sub)
        starts[i + 1] = free
    return (starts, cols[:free]), nonzero, total, largest, norm, bound


@njit(cache=True)
def curvature_of_gap(S, W, X, Lam, free):
    """tr(XEXE), where E takes W to the box |W + E - S| <= Lam, and the largest row sum of |XE|.

    Both matrices live on the free set. O(p^2) and the sum of squared degrees.
    """
    starts, cols = free
    p = len(S)
    E, row, total, radius = np.empty(cols.size), np.zeros(p), 0.0, 0.0
    for i in range(p):
        for place in range(starts[i], starts[i + 1]):
            j = cols[place]
            g, lam = S[i, j] - W[i, j], Lam[i, j]
            E[place] = g - min(max(g, -lam), lam)
    for i in range(p):
        row[:] = 0.0  # row i of XE
        for place in range(starts[i], starts[i + 1]):
            k = cols[place]
            x = X[i, k]
            if x != 0.0:
                for other in range(starts[k], starts[k + 1]):
                    row[cols[other]] += x * E[other]
        radius = max(radius, np.abs(row).sum())
        for place in range(starts[i], starts[i + 1]):
            if E[place] != 0.0:
                j = cols[place]
                for other in range(starts[j], starts[j + 1]):
                    total += E[place] * row[cols[other]] * X[j, cols[other]]
    return total, radius


@njit(cache=True)
def clip_lower(W, S, Lam):
    """The lower triangle of W projected onto the box |W - S| <= Lam; nothing in the other."""
    out = np.empty_like(W)
    for i in range(len(W)):
        for j in range(i + 1):
            out[i, j] = min(max(W[i, j], S[i, j] - Lam[i, j]), S[i, j] + Lam[i, j])
    return out


@njit(cache=True)
def diagonal_direction(S, X, Lam):
    """The exact Newton direction at a diagonal X (Hsieh et al. 2014, (19)), all of it in O(p^2)."""
    p = len(S)
    D = np.empty((p, p))
    for i in range(p):
        for j in range(p):
            if i == j:
                x = X[i, i]
                D[i, i] = -x + soft(x - (S[i, i] - 1.0 / x) * x * x, Lam[i, i] * x * x)
            else:
                D[i, j] = soft(-S[i, j], Lam[i, j]) * (X[i, i] * X[j, j])  # in this order it is exactly symmetric
    return D


@njit(cache=True)
def move(S, W, X, Lam, D, i, j, wdw):
    """Solve the one-variable problem (15) of Hsieh et al. 2014, given wdw = w_i' D w_j.

    Returns the curvature a, the new value of D_ij and its change mu. The value is formed from that of X_ij + D_ij, so
    that zeros come out exact.
    """
    a = W[i, i] * W[j, j]
    if i != j:
        a += W[i, j] * W[i, j]
    b = S[i, j] - W[i, j] + wdw
    c = X[i, j] + D[i, j]
    value = soft(c - b / a, Lam[i, j] / a)
    return a, value - X[i, j], value - c


@njit(cache=True)
def descend(model, free, D, U, sweeps, enough):
    """Sweeps of coordinate descent as Hsieh et al. 2014 write them, with the whole of U = D W kept up to date.

    The update of (i, j) needs column i of U. The columns of eight rows, one line of memory each, are copied together,
    and their copies are kept up to date by two numbers for each row and each step. O(p |free|) a sweep.

    Stops before `sweeps` when no step of a sweep changed its partial derivative by more than `enough`. Returns the
    number of sweeps.
    """
    S, W, X, Lam = model
    starts, cols = free
    p = len(S)
    Z = np.empty((LINE, p))
    for sweep in range(sweeps):
        largest = 0.0
        for i0 in range(0, p, LINE):
            size = min(LINE, p - i0)
            for k in range(p):
                for c in range(size):
                    Z[c, k] = U[k, i0 + c]
            for c in range(size):
                i = i0 + c
                for place in range(starts[i], starts[i + 1]):
                    j = cols[place]
                    if j < i:
                        continue
                    a, d, mu = move(S, W, X, Lam, D, i, j, np.dot(Z[c], W[j]))
                    if mu == 0.0:
                        continue
                    largest = max(largest, a * abs(mu))
                    D[i, j] = D[j, i] = d
                    row, other, up, down = W[j], W[i], U[i], U[j]
                    for e in range(c, size):
                        Z[e, i] += mu * row[i0 + e]
                    if i == j:
                        for k in range(p):
                            up[k] += mu * row[k]
                        continue
                    for e in range(c, size):
                        Z[e, j] += mu * other[i0 + e]
                    for k in range(p):
                        up[k] += mu * row[k]
                        down[k] += mu * other[k]
        if largest <= enough:
            return sweep + 1
    return sweeps


@njit(cache=True)
def slopes(S, W, X, Lam, D, starts, cols):
    """tr(SD), tr(WD), |X|_{1, Lam}, |X + D|_{1, Lam} - |X|_{1, Lam} and |D|_1 over a pattern that holds X and D."""
    trace_s, trace_w, norm, change, size = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(len(S)):
        for place in range(starts[i], starts[i + 1]):
            j = cols[place]
            d, x = D[i, j], X[i, j]
            size += abs(d)
            trace_s += S[i, j] * d
            trace_w += W[i, j] * d
            norm += Lam[i, j] * abs(x)
            change += Lam[i, j] * (abs(x + d) - abs(x))
    return trace_s, trace_w, norm, change, size


@njit(cache=True)
def penalty_along(X, D, Lam, alpha, starts, cols):
    """|X + alpha D|_{1, Lam} over a pattern that holds X and D."""
    total = 0.0
    for i in range(len(X)):
        for place in range(starts[i], starts[i + 1]):
            j = cols[place]
            total += Lam[i, j] * abs(X[i, j] + alpha * D[i, j])
    return total


@njit(cache=True)
def move_along(X, D, alpha, starts, cols):
    """Add alpha D, which lives on a pattern, to X."""
    for i in range(len(X)):
        for place in range(starts[i], starts[i + 1]):
            X[i, cols[place]] += alpha * D[i, cols[place]]


@njit(cache=True)
def block_of(A, chosen):
    """A[chosen][:, chosen]."""
    out = np.empty((chosen.size, chosen.size))
    for a in range(chosen.size):
        row = A[chosen[a]]
        for b in range(chosen.size):
            out[a, b] = row[chosen[b]]
    return out


@njit(cache=True)
def set_block(A, chosen, block):
    """A[chosen][:, chosen] = block."""
    for a in range(chosen.size):
        row = A[chosen[a]]
        for b in range(chosen.size):
            row[chosen[b]] = block[a, b]
