"""The compiled search for one row of M after the other: its mu, and the minimiser of its dual."""

from typing import NamedTuple

import numpy as np
from numba import njit

from learnable.optim.coordinate_descent import gram_descent

# A lower bound on the variance of a row beyond this multiple of 1 / Sigma_ii proves it useless: intervals that are
# 10,000 times too long. The bound is infinite exactly when the programme is infeasible.
HOPELESS = 1e8


class Row(NamedTuple):
    """One programme: its index, e_i, the weights and the workspace of its dual, and where the closed form begins."""

    index: int
    c: np.ndarray
    w: np.ndarray
    active: np.ndarray
    closed: float
    regular: bool


class Search(NamedTuple):
    """How mu is searched; `sweeps_a_try` is zero where it is not."""

    factor: float
    n_tries: int
    sweeps_a_try: int
    max_sweeps: int


@njit(cache=True, nogil=True)
def solve_rows(S, rows, starts, search, tol, regular):
    k, p = rows.size, S.shape[0]
    M = np.zeros((k, p))
    mus = starts.copy()
    status = np.zeros(k, dtype=np.int64)
    sweeps = np.zeros(k, dtype=np.int64)
    c, w, q, last = np.zeros(p), np.empty(p), np.empty(p), np.empty(p)
    active = np.empty(p, dtype=np.int64)
    for t in range(k):
        i = rows[t]
        c[i] = 1.0
        rho = 0.0
        for j in range(p):
            if j != i:
                rho = max(rho, abs(S[i, j]))
        rho /= S[i, i]
        row = Row(i, c, w, active, rho / (1.0 + rho), regular)
        if search.sweeps_a_try > 0:
            mus[t], sweeps[t] = _search_mu(S, row, starts[t], search, M[t], q, last)
        status[t], used = _finish(S, row, mus[t], M[t], tol, search.max_sweeps)
        sweeps[t] += used
        while status[t] != 0 and search.sweeps_a_try > 0:
            # Violations of mu / 100 could be reached, but not none: too close to the smallest feasible mu.
            mus[t] = min(mus[t] * search.factor, row.closed)
            M[t] = 0.0
            status[t], used = _finish(S, row, mus[t], M[t], tol, search.max_sweeps)
            sweeps[t] += used
        c[i] = 0.0
    return M, mus, status, sweeps


@njit(cache=True, nogil=True)
def _finish(S, row, mu, b, tol, max_sweeps):
    """Solve one row at a given mu, in closed form where that is the solution."""
    if mu >= row.closed:
        b[:] = 0.0
        b[row.index] = (1.0 - mu) / S[row.index, row.index]
        return 0, 0
    # The descent wants positive weights; the smallest number stands for zero.
    row.w[:] = max(mu, 1e-300)
    return _solve_row(S, row, mu, b, tol, max_sweeps)


@njit(cache=True, nogil=True)
def _solve_row(S, row, mu, b, tol, max_sweeps):
    """Solve one dual problem in place of `b`; 0 = solved, 1 = unbounded (infeasible row), 2 = out of sweeps."""
    i = row.index
    used = 0
    while used < max_sweeps:
        # A regular S has no null vectors and every programme a solution: no need to stop and look.
        chunk = max_sweeps - used if row.regular else min(100, max_sweeps - used)
        violation, passes = gram_descent(S, row.c, row.w, 0.0, b, -1.0, tol, chunk)
        used += passes
        if violation <= tol:
            return 0, used
        if row.regular:
            continue
        if _variance_bound(S, i, mu, b) * S[i, i] > HOPELESS:
            return 1, used
        for _ in range(b.size):
            moved = _recede(S, i, mu, b, row.active)
            if moved == 1:
                return 1, used
            if moved < 0:
                break
    return 2, used


@njit(cache=True, nogil=True)
def _variance_bound(S, i, mu, b):
    """Every b bounds the variance of a feasible row from below: m'Sm >= (b_i - mu |b|_1)^2 / b'Sb."""
    gain = b[i]
    quadratic = 0.0
    for j in range(b.size):
        if b[j] != 0.0:
            gain -= mu * abs(b[j])
            row = S[j]
            total = 0.0
            for k in range(b.size):
                total += row[k] * b[k]
            quadratic += b[j] * total
    if gain <= 0.0:
        return 0.0
    return gain * gain / max(quadratic, 1e-300)


@njit(cache=True, nogil=True)
def _recede(S, i, mu, b, active):
    """One step along a null vector of S on the nonzero coefficients, downhill, until one of them meets zero.

    Returns 0 after a step, 1 if none meets zero (the dual is unbounded), -1 if there is no null vector.
    """
    size = 0
    for j in range(b.size):
        if b[j] != 0.0:
            active[size] = j
            size += 1
    U = np.empty((size, size))
    for k in range(size):
        for t in range(k, size):
            U[k, t] = S[active[k], active[t]]
    singular = -1
    for k in range(size):
        if U[k, k] <= 1e-10 * S[active[k], active[k]]:
            singular = k
            break
        root = np.sqrt(U[k, k])
        for t in range(k, size):
            U[k, t] /= root
        for s in range(k + 1, size):
            f = U[k, s]
            if f != 0.0:
                for t in range(s, size):
                    U[s, t] -= f * U[k, t]
    if singular < 0:
        return -1
    d = np.zeros(b.size)
    d[active[singular]] = 1.0
    for k in range(singular - 1, -1, -1):
        total = -U[k, singular]
        for t in range(k + 1, singular):
            total -= U[k, t] * d[active[t]]
        d[active[k]] = total / U[k, k]
    slope = -d[i]
    for k in range(size):
        slope += mu * np.sign(b[active[k]]) * d[active[k]]
    if slope > 0.0:
        d = -d
    length = np.inf
    leaving = -1
    for k in range(size):
        j = active[k]
        if b[j] * d[j] < 0.0 and -b[j] / d[j] < length:
            length = -b[j] / d[j]
            leaving = j
    if leaving < 0:
        return 1 if _variance_bound(S, i, mu, d) * S[i, i] > HOPELESS else -1
    for k in range(size):
        b[active[k]] += length * d[active[k]]
    b[leaving] = 0.0
    return 0


@njit(cache=True, nogil=True)
def _search_mu(S, row, start, search, b, q, last):
    """The smallest mu on the grid at which the row has a solution; leaves that solution in `b`.

    Below the start the grid ends after `n_tries` steps, above it where the closed form begins, which always exists.
    """
    mu, total = start, 0
    found, used = _attempt(S, row, mu, search, b, q)
    total += used
    while not found and mu < row.closed:
        mu = min(mu * search.factor, row.closed)
        b[:] = 0.0
        found, used = _attempt(S, row, mu, search, b, q)
        total += used
    if mu > start:
        return mu, total
    for _ in range(search.n_tries):
        last[:] = b
        found, used = _attempt(S, row, mu / search.factor, search, b, q)
        total += used
        if not found:
            b[:] = last
            break
        mu /= search.factor
    return mu, total


@njit(cache=True, nogil=True)
def _attempt(S, row, mu, search, b, q):
    """Solve a row to within mu / 100 from the start `b`: by plain sweeps, and where they creep by the full method."""
    used = 0
    if mu < row.closed:
        _residual(S, row.index, b, q)
        used = _sweep(S, mu, b, q, search.sweeps_a_try)
        if used >= 0:
            return True, used
    # Only a singular S has rows without a solution. To prove that takes long, so that there the patience is less.
    limit = search.max_sweeps if row.regular else min(2 * search.sweeps_a_try, search.max_sweeps)
    status, more = _finish(S, row, mu, b, 0.01 * mu, limit)
    return status == 0, more - used


@njit(cache=True, nogil=True)
def _residual(S, i, b, q):
    """Set q = e_i - Sb."""
    q[:] = 0.0
    q[i] = 1.0
    for j in range(b.size):
        if b[j] != 0.0:
            row = S[j]
            for k in range(b.size):
                q[k] -= b[j] * row[k]


@njit(cache=True, nogil=True)
def _sweep(S, mu, b, q, limit):
    """Plain coordinate descent with q = e_i - Sb kept; the number of sweeps, negative when they did not suffice."""
    p = b.size
    for sweep in range(limit):
        violation = 0.0
        for j in range(p):
            z = q[j] + S[j, j] * b[j]
            new = 0.0
            if z > mu:
                new = (z - mu) / S[j, j]
            elif z < -mu:
                new = (z + mu) / S[j, j]
            step = new - b[j]
            if step != 0.0:
                violation = max(violation, abs(step) * S[j, j])
                b[j] = new
                row = S[j]
                for k in range(p):
                    q[k] -= step * row[k]
        if violation <= 0.01 * mu:
            return sweep + 1
    return -limit
