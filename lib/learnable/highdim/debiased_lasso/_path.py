"""The exact path of one row of M as mu falls: where it leads, and the proof where it ends.

The minimiser of the dual, 1/2 b'Sb - b_i + mu |b|_1, is piecewise linear in mu. On a face, where the nonzero
coefficients A and their signs s stay the same, it moves along S_AA^-1 s while mu falls, until one more coefficient
joins or one leaves. Where the column that joins depends on those of A, the minimiser is not unique: it slides along
their null vector d until a coefficient meets zero. If none does, then d_i = mu |d|_1, and below this mu no row exists,
because every feasible m would have

    0 = d'Sm >= d_i - mu |d|_1 > 0 .

Any null vector of S proves as much for its own d_i / |d|_1. One is at hand before the path ends: what of the
minimiser lies in the null space.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from learnable._inner import dot, inner
from learnable.linalg.growing_cholesky import backward, delete, extend, forward, project

# A combination of columns is zero if its variance is less than this part of what it would be without correlation.
DEPENDENT = 1e-11
# Steps between two looks for a proof: one look costs about as much as two steps.
LOOK = 24
REACHED, REFUTED, UNDECIDED, LOST = 0, 1, 2, 3


class NullSpace(NamedTuple):
    """The rank of S, and an orthonormal basis (p, rank) of its range; a regular S needs no basis."""

    basis: np.ndarray
    rank: int


class Face(NamedTuple):
    """Nonzero coefficients in order of `active`, signs (zero elsewhere), LL' = S_AA and Z = L^-1 s, one row."""

    active: np.ndarray
    sign: np.ndarray
    factor: np.ndarray
    Z: np.ndarray


@njit(cache=True, nogil=True)
def walk(S, null, i, b, start, stop, max_steps):
    """Follow the minimiser from the one at `start`, in `b`, down to `stop`; `b` becomes the last one reached.

    Returns the status (REACHED, REFUTED, UNDECIDED for want of steps, LOST if `b` was no minimiser or rounding has
    the last word), the steps, and a proven lower bound on the feasible mu (zero if there is none).
    """
    p, cap = b.size, null.rank + 1
    face = Face(np.empty(cap, dtype=np.int64), np.zeros(p), np.empty((cap, cap)), np.empty((1, cap)))
    q, a, x, w, d = np.zeros(p), np.empty(p), np.empty(cap), np.empty(cap), np.zeros(p)
    size = _enter(S, null, i, b, start, face, x, q)
    if size < 0:
        return LOST, 0, 0.0
    mu, left = start, 0.0
    for step in range(1, max_steps + 1):
        _direction(S, face, size, w, a)
        length, place, j = _next_event(face, size, mu, mu - stop, b, q, w, a, left)
        mu -= length
        for k in range(size):
            b[face.active[k]] += length * w[k]
        for t in range(p):
            q[t] -= length * a[t]
        left = 0.0
        if place >= 0:
            left = _remove(face, size, place, b)
            size -= 1
        elif j >= 0:
            s = 1.0 if q[j] > 0.0 else -1.0
            pivot = _project(S, face, size, j, x)
            if size >= null.rank or pivot <= DEPENDENT * S[j, j]:
                place = _slide(S, face, size, j, s, b, x, d)
                if place < 0:
                    floor = _floor(S, i, d)
                    return (REFUTED if floor > stop else LOST), step, floor
                left = _remove(face, size, place, b)
                size -= 1
                pivot = _project(S, face, size, j, x)
                if pivot <= 0.0:
                    return LOST, step, 0.0
            _append(face, size, j, s, pivot)
            size += 1
        else:
            _refine(S, face, size, i, b, stop, x)
            return REACHED, step, 0.0
        if null.rank < p and step % LOOK == 0:
            norm = _null_part(null.basis, b, d)
            if d[i] > stop * norm:
                floor = _floor(S, i, d)
                if floor > stop:
                    return REFUTED, step, floor
    return UNDECIDED, max_steps, 0.0


@inner
def _enter(S, null, i, b, mu, face, x, q):
    """Set up the face of `b` and solve on it; returns its size, or -1 if the solution has other signs."""
    size = 0
    for j in range(b.size):
        if b[j] != 0.0:
            pivot = _project(S, face, size, j, x) if size < null.rank else 0.0
            if pivot <= DEPENDENT * S[j, j]:
                return -1
            _append(face, size, j, np.sign(b[j]), pivot)
            size += 1
    _refine(S, face, size, i, b, mu, x)
    q[i] = 1.0
    for k in range(size):
        j = face.active[k]
        if b[j] * face.sign[j] <= 0.0:
            return -1
        row = S[j]
        for t in range(q.size):
            q[t] -= b[j] * row[t]
    return size


@inner
def _refine(S, face, size, i, b, mu, x):
    """Add to `b` the solution of the equations of the face, S_AA b_A = e_A - mu s_A, for what they are off by."""
    for k in range(size):
        j = face.active[k]
        row = S[j]
        x[k] = (1.0 if j == i else 0.0) - mu * face.sign[j]
        for t in range(size):
            x[k] -= row[face.active[t]] * b[face.active[t]]
    forward(face.factor, size, x)
    backward(face.factor, size, x)
    for k in range(size):
        b[face.active[k]] += x[k]


@inner
def _direction(S, face, size, w, a):
    """How the minimiser moves as mu falls, w = S_AA^-1 s, and how q = e_i - Sb does, a = S_A w."""
    for k in range(size):
        w[k] = face.Z[0, k]
    backward(face.factor, size, w)
    for t in range(a.size):
        a[t] = 0.0
    k = 0
    while k + 3 < size:  # four rows at a time: `a` is read and written once for all of them
        w0, w1, w2, w3 = w[k], w[k + 1], w[k + 2], w[k + 3]
        r0, r1 = S[face.active[k]], S[face.active[k + 1]]
        r2, r3 = S[face.active[k + 2]], S[face.active[k + 3]]
        for t in range(a.size):
            a[t] += (w0 * r0[t] + w1 * r1[t]) + (w2 * r2[t] + w3 * r3[t])
        k += 4
    while k < size:
        row = S[face.active[k]]
        for t in range(a.size):
            a[t] += w[k] * row[t]
        k += 1


@inner
def _next_event(face, size, mu, limit, b, q, w, a, left):
    """How far mu falls until a coefficient meets zero (its place) or joins (its index), at most `limit`.

    The side that a coefficient has just left, +-(index + 1), is passed over: rounding would call it back.
    """
    place, index = -1, -1
    for k in range(size):
        t = face.active[k]
        if face.sign[t] * w[k] < 0.0 and abs(b[t]) < limit * abs(w[k]):
            limit = abs(b[t] / w[k])
            place = k
    for j in range(q.size):
        if face.sign[j] == 0.0:
            for s in (1.0, -1.0):
                closing = 1.0 - s * a[j]
                if closing > 1e-10 and s * (j + 1) != left and mu - s * q[j] < limit * closing:
                    limit = max((mu - s * q[j]) / closing, 0.0)
                    place, index = -1, j
    return limit, place, index


@inner
def _slide(S, face, size, j, sign, b, x, d):
    """Let column j, which depends on the active ones, join: move `b` along their null vector until one meets zero.

    Returns its place, or -1 if none does: then the dual falls without bound. Row `size` of the factor holds L^-1 S_Aj.
    """
    for k in range(size):
        x[k] = face.factor[size, k]
    backward(face.factor, size, x)
    for t in range(d.size):
        d[t] = 0.0
    d[j] = sign
    length, place = np.inf, -1
    for k in range(size):
        t = face.active[k]
        if x[k] * x[k] * S[t, t] <= 1e-20 * S[j, j]:  # rounding, where the column has no part
            continue
        d[t] = -sign * x[k]
        if face.sign[t] * d[t] < 0.0 and abs(b[t] / d[t]) < length:
            length, place = abs(b[t] / d[t]), k
    if place >= 0:
        for k in range(size):
            b[face.active[k]] += length * d[face.active[k]]
        b[j] = length * sign
    return place


@inner
def _null_part(basis, b, d):
    """Set d to the projection of `b` on the null space of S; returns |d|_1."""
    p, rank = basis.shape
    part = np.zeros(rank)
    norm = 0.0
    for j in range(p):
        if b[j] != 0.0:
            for k in range(rank):
                part[k] += b[j] * basis[j, k]
    for j in range(p):
        d[j] = b[j] - dot(basis[j], part, rank)
        norm += abs(d[j])
    return norm


@inner
def _floor(S, i, d):
    """d_i / |d|_1, below which no mu is feasible; zero if Sd is not."""
    quadratic, plain, norm = 0.0, 0.0, 0.0
    for j in range(d.size):
        if d[j] != 0.0:
            total = 0.0
            row = S[j]
            for k in range(d.size):
                total += row[k] * d[k]
            quadratic += d[j] * total
            plain += d[j] * d[j] * row[j]
            norm += abs(d[j])
    return d[i] / norm if abs(quadratic) <= DEPENDENT * plain else 0.0


@inner
def _project(S, face, size, j, x):
    """Write L^-1 S_Aj to row `size` of the factor; returns what of S_jj the active columns do not explain."""
    row = S[j]
    for k in range(size):
        x[k] = row[face.active[k]]
    return project(face.factor, size, x, row[j])


@inner
def _append(face, size, j, sign, pivot):
    """Let column j join, for which `_project` found `pivot`."""
    face.factor[size, size] = np.sqrt(pivot)
    extend(face.factor, size, face.Z[0], sign)
    face.active[size] = j
    face.sign[j] = sign


@inner
def _remove(face, size, place, b):
    """Take one column out; returns which one that was, as `_next_event` wants to know it."""
    j = face.active[place]
    left = face.sign[j] * (j + 1)
    face.sign[j] = b[j] = 0.0
    for k in range(place, size - 1):
        face.active[k] = face.active[k + 1]
    delete(face.factor, size, place, face.Z)
    return left
