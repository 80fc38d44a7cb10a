"""The lasso for compressed columns: working sets, passes that keep the residual, and extrapolation of the passes.

A column of a sparse table has few entries, so that a pass over a working set, with the residual kept up to date, costs
far less than one on its Gram matrix. After every five passes the differences between them are combined so that their
sum becomes smallest (Anderson acceleration; Bertrand and Massias 2021), and the combination is kept if it lowers the
objective. Along a path the next solution is predicted on the line through the last two, because between two changes of
the support the solution is linear in the penalty.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from learnable._inner import assign

__all__ = ["Columns", "Rules", "solve_compressed", "square_norms"]

# Passes between two extrapolations.
_MEMORY = 5
# The working set may always grow by this many columns.
_ROOM = 64


class Columns(NamedTuple):
    """Compressed columns: values and rows of column j lie at starts[j] : starts[j + 1]; norms are squared and centred.

    The means are zero where nothing is centred.
    """

    values: np.ndarray
    rows: np.ndarray
    starts: np.ndarray
    means: np.ndarray
    norms: np.ndarray


class Rules(NamedTuple):
    """What does not change along a path: the ridge, the gap to reach (absolute), passes for each penalty at most.

    A pass that moves no fitted vector by more than the square root of `still` is rounding.
    """

    l2: float
    tol: float
    max_iter: int
    still: float


@njit(cache=True)
def square_norms(values, starts, means, n):
    """Squared norms of the centred columns."""
    norms = np.empty(means.size)
    for j in range(means.size):
        total = 0.0
        for t in range(starts[j], starts[j + 1]):
            total += values[t] * values[t]
        # Cancels for a nearly constant column; a sparse one is far from that, since most of its entries are zero.
        norms[j] = max(total - n * means[j] * means[j], 0.0)
    return norms


@njit(cache=True)
def solve_compressed(X, y, weights, thresholds, rules, coefs):
    """Minimise 1/2 |y - Xb|^2 + threshold sum_j weights_j |b_j| + l2/2 |b|^2 for each of decreasing thresholds.

    A threshold is n times the lasso's alpha.

    The answers are the rows of `coefs`, whose first one holds the start; a coefficient of infinite weight stays zero.
    Returns the gaps and the numbers of passes.
    """
    b, before = coefs[0].copy(), coefs[0].copy()
    gaps, passes = np.empty(thresholds.size), np.zeros(thresholds.size, dtype=np.int64)
    allowed = np.flatnonzero(weights < np.inf)
    corr = np.zeros(b.size)
    _correlate(X, _residual(X, y, b), allowed, corr)
    for q in range(thresholds.size):
        # The sequential strong rule: a correlation changes by no more than the penalty does, as a rule.
        strong = max(2.0 * thresholds[q] - thresholds[q - 1], 0.5 * thresholds[q]) if q else thresholds[q]
        if q > 1 and thresholds[q - 1] < thresholds[q - 2]:
            step = (thresholds[q] - thresholds[q - 1]) / (thresholds[q - 1] - thresholds[q - 2])
            _predict(b, before, min(step, 2.0))
        else:
            assign(before, b)
        gaps[q], passes[q] = _solve_one(X, y, weights, (thresholds[q], strong), rules, b, corr, allowed)
        for j in allowed:
            coefs[q, j] = b[j]
    return gaps, passes


@njit(cache=True)
def _solve_one(X, y, weights, levels, rules, b, corr, allowed):
    penalty, strong = levels
    inside = np.zeros(b.size, dtype=np.bool_)
    members = _grow(np.empty(0, dtype=np.int64), inside, b, corr, strong * weights, allowed)
    w = penalty * weights
    kept = allowed
    goal = 0.9 * rules.tol  # a little less than asked for: the gap of the whole problem is computed from another sum
    passes = 0
    while True:
        r = _residual(X, y, b)
        moved = False
        if members.size:
            Z, part = _pack(X, members), b[members]
            used, moved = _solve_set(Z, r, part, w[members], rules, goal, rules.max_iter - passes)
            passes += used
            for k in range(members.size):
                b[members[k]] = part[k]
            r = _residual(X, y, b)
        _correlate(X, r, kept, corr)
        gap, scale = _gap(corr, r, b, w, rules.l2, kept)
        if gap <= rules.tol or passes >= rules.max_iter:
            break
        kept = _screen(X, corr, b, w, rules.l2, kept, (scale, gap))
        size = members.size
        members = _grow(members, inside, b, corr, w, kept)
        # Columns are missing: no use in solving the set to the end. None are: the set alone keeps the gap open.
        if members.size > size:
            goal = max(0.9 * rules.tol, 0.05 * gap)
        elif moved:
            goal = min(0.9 * rules.tol, 0.3 * goal)
        else:
            break
    return gap, passes


@njit(cache=True)
def _solve_set(X, r, b, w, rules, goal, limit):
    """Bring the gap of the problem on these columns below `goal`; returns the passes and whether anything moved."""
    m, l2 = b.size, rules.l2
    every, corr = np.arange(m), np.empty(m)
    history = np.empty((_MEMORY + 1, m))
    passes, ever = 0, False
    while True:
        _correlate(X, r, every, corr)
        gap, _ = _gap(corr, r, b, w, l2, every)
        if gap <= goal or passes >= limit:
            return passes, ever
        history[0] = b
        offset, moved = 0.0, 0.0
        for q in range(_MEMORY):
            offset, moved = _sweep(X, r, b, w, l2, offset, q > 0)
            history[q + 1] = b
            passes += 1
            if moved <= rules.still and q == 0:  # only the first pass visits all coefficients
                return passes, ever
        ever = True
        if offset != 0.0:
            r += offset
        _extrapolate(X, r, b, w, l2, history)


@njit(cache=True)
def _sweep(X, r, b, w, l2, offset, active):
    """One pass over all coefficients, or over those that are not zero; the residual is r + offset."""
    moved = 0.0
    for k in range(b.size):
        old = b[k]
        curvature = X.norms[k] + l2
        if (active and old == 0.0) or curvature <= 0.0:
            continue
        begin, end = X.starts[k], X.starts[k + 1]
        # x_k'(r + offset): the mean of x_k drops out, since a centred residual sums to zero. An update touches stored
        # entries only; what centring adds to all of them alike goes into `offset`.
        z = X.norms[k] * old + offset * r.size * X.means[k]
        for t in range(begin, end):
            z += X.values[t] * r[X.rows[t]]
        new = 0.0
        if z > w[k]:
            new = (z - w[k]) / curvature
        elif z < -w[k]:
            new = (z + w[k]) / curvature
        if new != old:
            step = new - old
            b[k] = new
            for t in range(begin, end):
                r[X.rows[t]] -= step * X.values[t]
            offset += step * X.means[k]
            moved = max(moved, step * step * curvature)
    return offset, moved


@njit(cache=True)
def _extrapolate(X, r, b, w, l2, history):
    """Replace b by the combination of passes whose combined difference is smallest, if that lowers the objective."""
    steps = history[1:] - history[:-1]
    products = steps @ steps.T
    # Differences become parallel as the passes converge: without the ridge the system is singular just when it helps.
    ridge = 1e-14 * np.trace(products)
    for i in range(_MEMORY):
        products[i, i] += ridge
    if not ridge > 1e-290:
        return
    mix = np.linalg.solve(products, np.ones(_MEMORY))
    total = mix.sum()
    if not np.isfinite(total) or total == 0.0:
        return
    # Weights of sum one, so that a fixed point stays one. They may be negative: the trial may lie beyond the last pass.
    trial = (mix / total) @ history[1:]
    there = r.copy()
    offset = 0.0
    for k in range(b.size):
        step = trial[k] - b[k]
        if step != 0.0:
            for t in range(X.starts[k], X.starts[k + 1]):
                there[X.rows[t]] -= step * X.values[t]
            offset += step * X.means[k]
    if offset != 0.0:
        there += offset
    change = 0.5 * (np.dot(there, there) - np.dot(r, r))
    for k in range(b.size):
        change += w[k] * (abs(trial[k]) - abs(b[k])) + 0.5 * l2 * (trial[k] ** 2 - b[k] ** 2)
    if change < 0.0:
        assign(b, trial)
        assign(r, there)


@njit(cache=True)
def _gap(corr, r, b, w, l2, kept):
    """The duality gap on the columns `kept`, and the factor that makes the residual feasible for the dual."""
    largest = norm = square = inner = 0.0
    for j in kept:
        c = corr[j] - l2 * b[j]
        largest = max(largest, abs(c) / w[j])
        norm += w[j] * abs(b[j])
        square += b[j] * b[j]
        inner += c * b[j]
    rr = np.dot(r, r) + l2 * square
    if rr == 0.0:
        return norm, 1.0
    yr = rr + inner
    scale = yr / rr
    if largest > 0.0:
        scale = min(1.0 / largest, scale)  # feasible, and not beyond the maximum of the dual on this ray
    return 0.5 * rr + norm - scale * yr + 0.5 * scale * scale * rr, scale


@njit(cache=True)
def _screen(X, corr, b, w, l2, kept, sphere):
    """The columns that may be non-zero in a solution: those that the sphere of the gap does not rule out."""
    # The dual's maximiser lies in this ball around the scaled residual (gap-safe rule; Ndiaye et al. 2017).
    scale, radius = sphere[0], np.sqrt(2.0 * max(sphere[1], 0.0))
    out = np.empty_like(kept)
    left = 0
    for j in kept:
        size = scale * abs(corr[j] - l2 * b[j]) + radius * np.sqrt(X.norms[j] + l2)
        if b[j] != 0.0 or size >= w[j]:
            out[left] = j
            left += 1
    return out[:left]


@njit(cache=True)
def _grow(members, inside, b, corr, bound, kept):
    """The set with the support and with columns whose correlation exceeds the bound; if these are many, the worst."""
    room = max(_ROOM, members.size, 2 * np.count_nonzero(b))
    new = np.empty(kept.size, dtype=np.int64)
    excess = np.empty(kept.size)
    size = 0
    for j in kept:
        if not inside[j] and (b[j] != 0.0 or abs(corr[j]) > bound[j]):
            new[size] = j
            # Prediction and start may have put coefficients outside the set: they come first.
            excess[size] = np.inf if b[j] != 0.0 else abs(corr[j]) / bound[j]
            size += 1
    least = 0.0
    if size > room:
        least = np.partition(excess[:size], size - room)[size - room]
    out = np.empty(members.size + size, dtype=np.int64)
    assign(out[: members.size], members)
    total = members.size
    for k in range(size):
        if excess[k] >= least:
            out[total] = new[k]
            inside[new[k]] = True
            total += 1
    return out[:total]


@njit(cache=True)
def _predict(b, before, step):
    """Go on along the line through the last two solutions, but not through zero."""
    for j in range(b.size):
        old = b[j]
        if old != 0.0:
            new = old + step * (old - before[j])
            b[j] = new if new * old > 0.0 else 0.0
        before[j] = old


@njit(cache=True)
def _correlate(X, r, kept, out):
    """out = X'r on the columns `kept`; two sums, because a single one waits for each addition before the next."""
    for j in kept:
        even = odd = 0.0
        t, end = X.starts[j], X.starts[j + 1]
        while t + 1 < end:
            even += X.values[t] * r[X.rows[t]]
            odd += X.values[t + 1] * r[X.rows[t + 1]]
            t += 2
        if t < end:
            even += X.values[t] * r[X.rows[t]]
        out[j] = even + odd


@njit(cache=True)
def _residual(X, y, b):
    """y - Xb, free of the rounding of many updates."""
    r = y.copy()
    offset = 0.0
    for j in range(b.size):
        if b[j] != 0.0:
            for t in range(X.starts[j], X.starts[j + 1]):
                r[X.rows[t]] -= b[j] * X.values[t]
            offset += b[j] * X.means[j]
    return r + offset


@njit(cache=True)
def _pack(X, members):
    """The columns `members` one behind the other, so that a pass reads memory in order."""
    starts = np.zeros(members.size + 1, dtype=X.starts.dtype)
    for k in range(members.size):
        starts[k + 1] = starts[k] + X.starts[members[k] + 1] - X.starts[members[k]]
    values, rows = np.empty(starts[-1]), np.empty(starts[-1], dtype=X.rows.dtype)
    for k in range(members.size):
        begin = X.starts[members[k]]
        for t in range(starts[k], starts[k + 1]):
            values[t] = X.values[begin + t - starts[k]]
            rows[t] = X.rows[begin + t - starts[k]]
    return Columns(values, rows, starts, X.means[members], X.norms[members])
