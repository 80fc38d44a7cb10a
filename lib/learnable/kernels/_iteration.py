"""The compiled loops of :mod:`learnable.kernels.smo`.

The problem, in signed variables beta (see :func:`learnable.kernels.smo.solve`):

    minimise  1/2 beta' K beta + q' beta + sum_k r_k(beta_k)   subject to   sum of beta over each group fixed,

    r_k(t) = 1/2 d_k t^2 + e_k |t| + 1/2 c_k (|t| - m_k)_+^2   on   [lo_k, hi_k],   infinite elsewhere.

:class:`Terms` holds the r_k, :class:`State` where the iteration is, :class:`Columns` the stored part of K. One
iteration touches two variables and costs three vectorised passes over the active ones.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from learnable._simd import fmax, fmin

DONE, NEED, BUDGET, UNBOUNDED, INDEFINITE = 0, 1, 2, 3, 4
_BLOCK = 512
_FLAT = 1e-12


class Terms(NamedTuple):
    """The separable terms r_k: d (ridge), e (ell), m (knee) and c (beyond), the bounds, and the group of each k."""

    lo: np.ndarray
    hi: np.ndarray
    d: np.ndarray
    e: np.ndarray
    m: np.ndarray
    c: np.ndarray
    group: np.ndarray


class State(NamedTuple):
    """Where the iteration is.

    `v` is minus the gradient of all smooth terms. What the kink of e|t| and the bounds add is kept as shifts, one row a
    group: v + up is the rate of descent when a variable grows (-inf at its upper bound), v + low the one when it falls,
    with the sign turned (+inf at its lower bound). `curve_up` and `curve_low` hold K_kk plus the curvature of r_k in
    that direction; `diagonal` is K_kk + d_k.
    """

    v: np.ndarray
    beta: np.ndarray
    up: np.ndarray
    low: np.ndarray
    curve_up: np.ndarray
    curve_low: np.ndarray
    diagonal: np.ndarray


class Columns(NamedTuple):
    """Stored columns of K as rows of `store`: that of k in row slot[k] (-1: nowhere), last used at stamp[slot[k]]."""

    store: np.ndarray
    slot: np.ndarray
    stamp: np.ndarray


class Stop(NamedTuple):
    """Why and where a loop stopped.

    With the code NEED, i is the column needed and j one to keep; `decrease` is that of the objective, in total.
    """

    code: int
    i: int
    j: int
    steps: int
    violation: float
    clock: int
    decrease: float


@njit(cache=True)
def _refresh(k, state, terms):
    """Recompute shifts and curvatures of variable k after its value has changed."""
    t, g, e, m, c = state.beta[k], terms.group[k], terms.e[k], terms.m[k], terms.c[k]
    if t >= terms.hi[k]:
        state.up[g, k] = -np.inf
    else:
        state.up[g, k] = -e if t >= 0.0 else e
    if t <= terms.lo[k]:
        state.low[g, k] = np.inf
    else:
        state.low[g, k] = -e if t > 0.0 else e
    state.curve_up[k] = state.diagonal[k]
    state.curve_low[k] = state.diagonal[k]
    if c > 0.0:
        if t >= m or t < -m:
            state.curve_up[k] += c
        if t > m or t <= -m:
            state.curve_low[k] += c


@njit(cache=True)
def prepare(state, terms):
    """Fill the shifts and curvatures of all variables."""
    state.up[:] = -np.inf
    state.low[:] = np.inf
    for k in range(state.beta.size):
        _refresh(k, state, terms)


@njit(cache=True)
def _room_up(t, k, terms):
    """The end of the piece that variable k, now at t, may grow to within its bounds."""
    end, m = terms.hi[k], terms.m[k]
    if t < 0.0 and terms.e[k] > 0.0 and end > 0.0:
        end = 0.0
    if terms.c[k] > 0.0:
        if t < -m and -m < end:
            end = -m
        elif t < m and m < end:
            end = m
    return end


@njit(cache=True)
def _room_down(t, k, terms):
    end, m = terms.lo[k], terms.m[k]
    if t > 0.0 and terms.e[k] > 0.0 and end < 0.0:
        end = 0.0
    if terms.c[k] > 0.0:
        if t > m and m > end:
            end = m
        elif t > -m and -m > end:
            end = -m
    return end


@njit(cache=True)
def _largest(v, up):
    """Index and value of the largest entry of v + up (first one on ties)."""
    best = -np.inf
    where = 0
    for start in range(0, v.size, _BLOCK):
        stop = min(start + _BLOCK, v.size)
        m = -np.inf
        for k in range(start, stop):
            m = fmax(m, v[k] + up[k])
        if m > best:
            best = m
            where = start
    if best == -np.inf:
        return -1, best
    while v[where] + up[where] != best:
        where += 1
    return where, best


@njit(cache=True)
def _smallest(v, low):
    m = np.inf
    for k in range(v.size):
        m = fmin(m, v[k] + low[k])
    return m


@njit(cache=True)
def _partner(v, low, curve_low, column, top, curvature):
    """The variable that falls: largest decrease of the objective together with the one that grows."""
    best = 0.0
    where = -1
    smallest = np.inf
    for start in range(0, v.size, _BLOCK):
        stop = min(start + _BLOCK, v.size)
        m = 0.0
        for k in range(start, stop):
            value = v[k] + low[k]
            smallest = fmin(smallest, value)
            gap = fmax(top - value, 0.0)
            bend = fmax(curvature + curve_low[k] - 2.0 * column[k], _FLAT)
            m = fmax(m, gap * gap / bend)
        if m > best:
            best = m
            where = start
    if where < 0:
        return -1, smallest
    while True:
        gap = fmax(top - (v[where] + low[where]), 0.0)
        bend = fmax(curvature + curve_low[where] - 2.0 * column[where], _FLAT)
        if gap * gap / bend == best:
            return where, smallest
        where += 1


@njit(cache=True)
def _descend(v, first, second, step):
    for k in range(v.size):
        v[k] -= step * (first[k] - second[k])


@njit(cache=True)
def _steepest(state, tol):
    """The group whose pair violates the conditions most, its variable that grows, how steeply, and the violation.

    With one group the violation is left to the search for a partner, which passes over all variables anyway.
    """
    if state.up.shape[0] == 1:
        i, top = _largest(state.v, state.up[0])
        return 0 if i >= 0 else -1, i, top, np.inf if i >= 0 else 0.0
    group, i, top, worst = -1, -1, 0.0, 0.0
    for h in range(state.up.shape[0]):
        candidate, value = _largest(state.v, state.up[h])
        if candidate >= 0:
            excess = value - _smallest(state.v, state.low[h])
            if excess > worst:
                worst = excess
                group, i, top = h, candidate, value
    return group if worst > tol else -1, i, top, worst


@njit(cache=True)
def iterate(state, terms, columns, clock, tol, budget):
    """Take up to `budget` steps in pairs, until no pair violates the conditions by more than `tol`."""
    v, beta, low = state.v, state.beta, state.low
    store, slot, stamp = columns
    steps = 0
    decrease = 0.0
    violation = np.inf
    while True:
        g, i, top, worst = _steepest(state, tol)
        if g < 0:
            return Stop(DONE, -1, -1, steps, worst, clock, decrease)
        if low.shape[0] > 1:
            violation = worst
        if slot[i] < 0:
            return Stop(NEED, i, -1, steps, violation, clock, decrease)
        first = store[slot[i]]
        j, bottom = _partner(v, low[g], state.curve_low, first, top, state.curve_up[i])
        violation = top - bottom
        if j < 0 or violation <= tol:
            return Stop(DONE, -1, -1, steps, max(violation, 0.0), clock, decrease)
        if slot[j] < 0:
            return Stop(NEED, j, i, steps, violation, clock, decrease)
        if steps >= budget:
            return Stop(BUDGET, -1, -1, steps, violation, clock, decrease)
        second = store[slot[j]]
        stamp[slot[i]] = clock
        stamp[slot[j]] = clock
        clock += 1
        curvature = state.curve_up[i] + state.curve_low[j]
        bend = curvature - 2.0 * first[j]
        if bend < -1e-5 * curvature:
            return Stop(INDEFINITE, i, j, steps, violation, clock, decrease)
        flat = bend <= _FLAT
        if flat:
            bend = _FLAT
        slope = top - (v[j] + low[g, j])
        step = slope / bend
        end_i, end_j = _room_up(beta[i], i, terms), _room_down(beta[j], j, terms)
        room = min(end_i - beta[i], beta[j] - end_j)
        if room < step:
            step = room
        elif flat and end_i == np.inf and end_j == -np.inf:
            # Without curvature and without a bound the objective falls for ever.
            return Stop(UNBOUNDED, i, j, steps, violation, clock, decrease)
        decrease += step * (slope - 0.5 * bend * step)
        new_i = end_i if step == end_i - beta[i] else beta[i] + step
        new_j = end_j if step == beta[j] - end_j else beta[j] - step
        _descend(v, first, second, step)
        _move(i, new_i, state, terms)
        _move(j, new_j, state, terms)
        steps += 1


@njit(cache=True)
def _move(k, new, state, terms):
    """Set variable k, and what follows from its own terms: the kernel's part of v is up to date."""
    d, m, c = terms.d[k], terms.m[k], terms.c[k]
    state.v[k] += _slope(state.beta[k], d, m, c) - _slope(new, d, m, c)
    state.beta[k] = new
    _refresh(k, state, terms)


@njit(cache=True)
def _slope(t, d, m, c):
    """Derivative of the smooth separable terms at t."""
    slope = d * t
    if c > 0.0:
        if t > m:
            slope += c * (t - m)
        elif t < -m:
            slope += c * (t + m)
    return slope


@njit(cache=True)
def slopes(beta, terms):
    """:func:`_slope` for all variables."""
    out = np.empty(beta.size)
    for k in range(beta.size):
        out[k] = _slope(beta[k], terms.d[k], terms.m[k], terms.c[k])
    return out


@njit(cache=True)
def _best_single(v, up, low, curve_up, curve_low):
    """The one variable whose move decreases the objective most, and the largest violation."""
    best = 0.0
    where = -1
    violation = 0.0
    for start in range(0, v.size, _BLOCK):
        stop = min(start + _BLOCK, v.size)
        m = 0.0
        for k in range(start, stop):
            grow = fmax(v[k] + up[k], 0.0)
            fall = fmax(-(v[k] + low[k]), 0.0)
            violation = fmax(violation, fmax(grow, fall))
            m = fmax(m, fmax(grow * grow / fmax(curve_up[k], _FLAT), fall * fall / fmax(curve_low[k], _FLAT)))
        if m > best:
            best = m
            where = start
    if where < 0:
        return -1, violation
    while True:
        grow = fmax(v[where] + up[where], 0.0)
        fall = fmax(-(v[where] + low[where]), 0.0)
        gain = fmax(grow * grow / fmax(curve_up[where], _FLAT), fall * fall / fmax(curve_low[where], _FLAT))
        if gain == best:
            return where, violation
        where += 1


@njit(cache=True)
def iterate_single(state, terms, columns, clock, tol, budget):
    """The same without an equality constraint: one variable at a time."""
    v, beta, up, low = state.v, state.beta, state.up[0], state.low[0]
    store, slot, stamp = columns
    steps = 0
    decrease = 0.0
    while True:
        i, violation = _best_single(v, up, low, state.curve_up, state.curve_low)
        if i < 0 or violation <= tol:
            return Stop(DONE, -1, -1, steps, violation, clock, decrease)
        if slot[i] < 0:
            return Stop(NEED, i, -1, steps, violation, clock, decrease)
        if steps >= budget:
            return Stop(BUDGET, -1, -1, steps, violation, clock, decrease)
        stamp[slot[i]] = clock
        clock += 1
        grows = v[i] + up[i] > 0.0
        bend = state.curve_up[i] if grows else state.curve_low[i]
        flat = bend <= _FLAT
        if flat:
            bend = _FLAT
        slope = v[i] + (up[i] if grows else low[i])
        step = slope / bend
        end = _room_up(beta[i], i, terms) if grows else _room_down(beta[i], i, terms)
        clipped = end - beta[i] <= step if grows else end - beta[i] >= step
        if clipped:
            step = end - beta[i]
        elif flat and np.isinf(end):
            return Stop(UNBOUNDED, i, -1, steps, violation, clock, decrease)
        new = end if clipped else beta[i] + step
        decrease += step * (slope - 0.5 * bend * step)
        column = store[slot[i]]
        for k in range(v.size):
            v[k] -= step * column[k]
        _move(i, new, state, terms)
        steps += 1


@njit(cache=True)
def conjugates(z, terms):
    """r_k^*(z_k) = sup_t z_k t - r_k(t) for every k (inf where the supremum is)."""
    out = np.empty(z.size)
    for k in range(z.size):
        s, d, m, c = z[k], terms.d[k], terms.m[k], terms.c[k]
        size = abs(s) - terms.e[k]
        sign = 1.0 if s >= 0.0 else -1.0
        if size <= 0.0:
            t = 0.0
        elif d > 0.0 and (c == 0.0 or size / d <= m):
            t = sign * size / d
        elif c > 0.0:
            t = sign * (size + c * m) / (d + c)
        else:
            t = sign * np.inf
        t = min(max(t, terms.lo[k]), terms.hi[k])
        if np.isinf(t):
            out[k] = np.inf
            continue
        out[k] = s * t - terms.e[k] * abs(t) - 0.5 * d * t * t
        if abs(t) > m and c > 0.0:
            out[k] -= 0.5 * c * (abs(t) - m) ** 2
    return out


@njit(cache=True)
def penalties(beta, terms):
    """r_k(beta_k) for every k."""
    out = np.empty(beta.size)
    for k in range(beta.size):
        t = abs(beta[k])
        out[k] = terms.e[k] * t + 0.5 * terms.d[k] * t * t
        if t > terms.m[k] and terms.c[k] > 0.0:
            out[k] += 0.5 * terms.c[k] * (t - terms.m[k]) ** 2
    return out


@njit(cache=True)
def add_rows(store, rows, coefficients, out):
    """out += coefficients @ store[rows], summed in double precision whatever the storage."""
    for r in range(rows.size):
        row = store[rows[r]]
        c = coefficients[r]
        for k in range(out.size):
            out[k] += c * row[k]


@njit(cache=True)
def urgent(state, slot, column, count):
    """`column`, then up to `count` - 1 variables without a stored column, those that violate the conditions most."""
    v, up, low = state.v, state.up, state.low
    groups = up.shape[0]
    top, bottom = -np.inf, np.inf
    for g in range(groups):
        for k in range(v.size):
            top = fmax(top, v[k] + up[g, k])
            bottom = fmin(bottom, v[k] + low[g, k])
    best = np.full(count, -1)
    score = np.zeros(count)
    found = 1
    best[0] = column
    for k in range(v.size):
        if slot[k] >= 0 or k == column:
            continue
        worst = 0.0
        for g in range(groups):
            worst = max(worst, max(v[k] + up[g, k] - bottom, top - v[k] - low[g, k]))
        if worst <= (score[count - 1] if found == count else 0.0):
            continue
        place = min(found, count - 1)
        found = min(found + 1, count)
        while place > 1 and score[place - 1] < worst:
            score[place], best[place] = score[place - 1], best[place - 1]
            place -= 1
        score[place], best[place] = worst, k
    return best[:found]
