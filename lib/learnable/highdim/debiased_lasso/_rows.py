"""The search for one row of M after the other: its mu, and the minimiser of its dual.

Coordinate descent does the work where it is quick. Where it creeps, it says nothing about whether a row exists; the
exact path of `_path` decides that, from the last mu that was solved or from the closed form. How long the descent is
given changes the time, and not the answer. Only the loops are compiled: what chooses between them runs a few times a
row.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from learnable.highdim.debiased_lasso._path import LOST, REACHED, REFUTED, UNDECIDED, walk
from learnable.optim.coordinate_descent.gram import gram_descent

# Passes of the descent before the path takes over: a singular S may have no minimiser for it to find.
PATIENCE, PATIENCE_REGULAR = 100, 500


class Row(NamedTuple):
    """One programme: its index, e_i, the weights of its dual, and the mu where the closed form begins."""

    index: int
    c: np.ndarray
    w: np.ndarray
    closed: float


class Search(NamedTuple):
    """How mu is searched; `sweeps_a_try` is zero where it is not. `max_iter` holds for each descent and each path."""

    factor: float
    n_tries: int
    sweeps_a_try: int
    max_iter: int


def solve_rows(S, null, rows, starts, search, tol):
    """Rows of M with mu, status (REACHED, REFUTED, UNDECIDED), iterations, and bounds below which no mu is feasible."""
    k, p = rows.size, S.shape[0]
    M = np.zeros((k, p))
    mus = starts.copy()
    status = np.zeros(k, dtype=np.int64)
    used = np.zeros(k, dtype=np.int64)
    floors = np.zeros(k)
    c, w = np.zeros(p), np.empty(p)
    for t, i in enumerate(rows):
        c[i] = 1.0
        rho = max(np.abs(S[i, :i]).max(initial=0.0), np.abs(S[i, i + 1 :]).max(initial=0.0)) / S[i, i]
        row = Row(int(i), c, w, rho / (1.0 + rho))
        if search.sweeps_a_try > 0:
            mus[t], status[t], used[t], floors[t] = _search_mu(S, null, row, starts[t], search, M[t], tol)
        else:
            status[t], used[t], floors[t] = _solve(S, null, row, starts[t], M[t], tol, search.max_iter)
        c[i] = 0.0
    return M, mus, status, used, floors


def _solve(S, null, row, mu, b, tol, max_iter):
    """Solve one row at a given mu: by the descent, else along the path from the closed form."""
    solved, used = _descend(S, null, row, mu, b, tol, max_iter)
    if solved:
        return REACHED, used, 0.0
    _set_closed_form(S, row, row.closed, b)
    status, steps, floor = walk(S, null, row.index, b, row.closed, mu, max_iter - used)
    used += steps
    if status == REACHED:
        solved, more = _descend(S, null, row, mu, b, tol, max_iter)
        return (REACHED if solved else UNDECIDED), used + more, floor
    return (REFUTED if status == REFUTED else UNDECIDED), used, floor


def _search_mu(S, null, row, start, search, b, tol):
    """The smallest mu on the grid at which the row exists; leaves that row in `b`.

    Below the start the grid ends after `n_tries` steps, above it where the closed form begins, which always exists.
    """
    last = np.empty(b.size)
    mu, level, solved, used = _sweep_down(S, null, row, start, search, b, last, tol)
    status, floor = LOST, 0.0
    if solved:
        mu, status, more, floor = _walk_down(S, null, row, (start, mu, level), search, b, last)
        used += more
    if status == LOST:  # then from where the row is known for sure: the closed form
        mu, level = start, 0
        if start < row.closed:
            mu = row.closed
            while _on_grid(start, search.factor, level) < row.closed:
                level -= 1
        mu, status, more, floor = _walk_down(S, null, row, (start, mu, level), search, b, last)
        used += more
    solved, more = _descend(S, null, row, mu, b, tol, search.max_iter)
    return mu, (REACHED if solved and status <= REFUTED else UNDECIDED), used + more, floor


def _walk_down(S, null, row, origin, search, b, last):
    """Go down the grid along the exact path, from the row in `b` at mu, until it ends or the grid does."""
    start, mu, level = origin
    status, used, floor = REACHED, 0, 0.0
    while level < search.n_tries and status == REACHED:
        target = _on_grid(start, search.factor, level + 1)
        last[:] = b
        if target < row.closed:
            if mu >= row.closed:
                _set_closed_form(S, row, row.closed, b)
            here = min(mu, row.closed)
            status, more, floor = walk(S, null, row.index, b, here, target, search.max_iter)
            used += more
        if status == REACHED:
            mu = target
            level += 1
        else:
            b[:] = last
    return mu, status, used, floor


def _sweep_down(S, null, row, start, search, b, last, tol):
    """Go down the grid while the descent settles, then solve; returns mu, its level, whether it is solved, passes."""
    level = 0
    settled, used = _attempt(S, null, row, start, search, b)
    if not settled:
        return start, level, False, used
    while level < search.n_tries:
        last[:] = b
        settled, more = _attempt(S, null, row, _on_grid(start, search.factor, level + 1), search, b)
        used += more
        if not settled:
            b[:] = last
            break
        level += 1
    mu = _on_grid(start, search.factor, level)
    solved, more = _descend(S, null, row, mu, b, tol, search.max_iter)
    return mu, level, solved, used + more


def _on_grid(start, factor, level):
    """Divide `start` `level` times by `factor`, or multiply it where `level` is negative."""
    mu = start
    for _ in range(level):
        mu /= factor
    for _ in range(-level):
        mu *= factor
    return mu


def _set_closed_form(S, row, mu, b):
    b[:] = 0.0
    b[row.index] = (1.0 - mu) / S[row.index, row.index]


def _descend(S, null, row, mu, b, tol, max_iter):
    """Solve one row at a given mu from the start `b`, in closed form where that is the solution."""
    if mu >= row.closed:
        _set_closed_form(S, row, mu, b)
        return True, 0
    # The descent wants positive weights; the smallest number stands for zero.
    row.w[:] = max(mu, 1e-300)
    patience = PATIENCE_REGULAR if null.rank == b.size else PATIENCE
    violation, used = gram_descent(S, row.c, row.w, 0.0, b, -1.0, tol, min(patience, max_iter))
    return violation <= tol, used


def _attempt(S, null, row, mu, search, b):
    """Solve a row to within mu / 100 from the start `b`: by plain sweeps, and for a regular S by the full descent."""
    if mu >= row.closed:
        _set_closed_form(S, row, mu, b)
        return True, 0
    if null.rank < b.size:  # a step of the path, which follows, costs no more than a sweep
        used = _sweep(S, row.index, mu, b, (search.sweeps_a_try + 1) // 2)
        return used > 0, abs(used)
    used = _sweep(S, row.index, mu, b, search.sweeps_a_try)
    if used > 0:
        return True, used
    solved, more = _descend(S, null, row, mu, b, 0.01 * mu, search.max_iter)
    return solved, more - used


@njit(cache=True, nogil=True)
def _sweep(S, i, mu, b, limit):
    """Plain coordinate descent with q = e_i - Sb kept; the number of sweeps, negative when they did not suffice."""
    p = b.size
    q = np.zeros(p)
    q[i] = 1.0
    for j in range(p):
        if b[j] != 0.0:
            row = S[j]
            for k in range(p):
                q[k] -= b[j] * row[k]
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
