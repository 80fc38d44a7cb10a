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

from learnable._inner import inner
from learnable._simd import fmax, fmin

DONE, NEED, BUDGET, UNBOUNDED, INDEFINITE = 0, 1, 2, 3, 4
_BLOCK = 128
# A curvature below this share of the largest is none.
FLAT = 1e-12


# Rows of Terms.rows, by the letters of the formula, and of State.rows.
LO, HI, D, E, M, C = range(6)
V, BETA, CURVE_UP, CURVE_LOW, DIAGONAL = range(5)


class Terms(NamedTuple):
    """The separable terms: bounds, d (ridge), e (ell), m (knee) and c (beyond) as rows, and the group of each variable.

    Few arrays, because each costs time whenever compiled code is called.
    """

    rows: np.ndarray
    group: np.ndarray

    def of(self, chosen):
        """Those of some variables, as arrays of their own."""
        return Terms(self.rows[:, chosen], self.group[chosen])


class State(NamedTuple):
    """Where the iteration is.

    Row V holds minus the gradient of all smooth terms, row BETA the variables. What the kink of e|t| and the bounds add
    is kept as shifts, one row a group: v + up is the rate of descent when a variable grows (-inf at its upper bound),
    v + low the one when it falls, with the sign turned (+inf at its lower bound). CURVE_UP and CURVE_LOW hold K_kk plus
    the curvature of r_k in that direction; DIAGONAL is K_kk + d_k.
    """

    rows: np.ndarray
    up: np.ndarray
    low: np.ndarray

    @property
    def v(self):
        return self.rows[V]

    @property
    def beta(self):
        return self.rows[BETA]


class Columns(NamedTuple):
    """Stored columns of K as rows of `store`: that of k in row slot[k] (-1: nowhere), last used at stamp[slot[k]]."""

    store: np.ndarray
    slot: np.ndarray
    stamp: np.ndarray


class Stop(NamedTuple):
    """Why and where a loop stopped, as the loops return it.

    With the code NEED, i is the column needed and j one to keep; `decrease` is that of the objective, in total.
    """

    code: int
    i: int
    j: int
    steps: int
    violation: float
    clock: int
    decrease: float


@inner
def _refresh(k, state, terms):
    """Recompute shifts and curvatures of variable k after its value has changed."""
    t, g, e, m, c = state.rows[BETA, k], terms.group[k], terms.rows[E, k], terms.rows[M, k], terms.rows[C, k]
    if t >= terms.rows[HI, k]:
        state.up[g, k] = -np.inf
    else:
        state.up[g, k] = -e if t >= 0.0 else e
    if t <= terms.rows[LO, k]:
        state.low[g, k] = np.inf
    else:
        state.low[g, k] = -e if t > 0.0 else e
    curve_up = curve_low = state.rows[DIAGONAL, k]
    if c > 0.0:
        if t >= m or t < -m:
            curve_up += c
        if t > m or t <= -m:
            curve_low += c
    state.rows[CURVE_UP, k] = curve_up
    state.rows[CURVE_LOW, k] = curve_low


@njit(cache=True)
def prepare(state, terms):
    """Fill the shifts and curvatures of all variables."""
    state.up[:] = -np.inf
    state.low[:] = np.inf
    for k in range(state.rows.shape[1]):
        _refresh(k, state, terms)


@inner
def _room_up(t, k, terms):
    """The end of the piece that variable k, now at t, may grow to within its bounds."""
    end, m = terms.rows[HI, k], terms.rows[M, k]
    if t < 0.0 and terms.rows[E, k] > 0.0 and end > 0.0:
        end = 0.0
    if terms.rows[C, k] > 0.0:
        if t < -m and -m < end:
            end = -m
        elif t < m and m < end:
            end = m
    return end


@inner
def _room_down(t, k, terms):
    end, m = terms.rows[LO, k], terms.rows[M, k]
    if t > 0.0 and terms.rows[E, k] > 0.0 and end < 0.0:
        end = 0.0
    if terms.rows[C, k] > 0.0:
        if t > m and m > end:
            end = m
        elif t > -m and -m > end:
            end = -m
    return end


@inner
def _block_largest(v, up):
    # Loops that begin at zero become vector instructions; one from `start` does not, for it might count from the end.
    # Nor does one with a division, unless numpy's rule for a zero divisor holds (below; no divisor is zero there).
    m = -np.inf
    for k in range(v.size):
        m = fmax(m, v[k] + up[k])
    return m


@njit(cache=True)
def _largest(v, up):
    """Index and value of the largest entry of v + up (first one on ties)."""
    best = -np.inf
    where = 0
    for start in range(0, v.size, _BLOCK):
        m = _block_largest(v[start : start + _BLOCK], up[start : start + _BLOCK])
        if m > best:
            best = m
            where = start
    if best == -np.inf:
        return -1, best
    while v[where] + up[where] != best:
        where += 1
    return where, best


@inner
def _smallest(v, low):
    m = np.inf
    for k in range(v.size):
        m = fmin(m, v[k] + low[k])
    return m


@njit(cache=True, error_model="numpy")
def _block_partner(v, low, curve_low, column, pair):
    top, curvature, flat = pair
    m, smallest = 0.0, np.inf
    for k in range(v.size):
        value = v[k] + low[k]
        smallest = fmin(smallest, value)
        gap = fmax(top - value, 0.0)
        bend = fmax(curvature + curve_low[k] - 2.0 * column[k], flat)
        m = fmax(m, gap * gap / bend)
    return m, smallest


@njit(cache=True)
def _partner(v, low, curve_low, column, top, curvature, flat):
    """The variable that falls: largest decrease of the objective together with the one that grows."""
    best = 0.0
    where = -1
    smallest = np.inf
    for start in range(0, v.size, _BLOCK):
        part = slice(start, start + _BLOCK)
        m, value = _block_partner(v[part], low[part], curve_low[part], column[part], (top, curvature, flat))
        smallest = fmin(smallest, value)
        if m > best:
            best = m
            where = start
    if where < 0:
        return -1, smallest
    while True:
        gap = fmax(top - (v[where] + low[where]), 0.0)
        bend = fmax(curvature + curve_low[where] - 2.0 * column[where], flat)
        if gap * gap / bend == best:
            return where, smallest
        where += 1


@inner
def _descend(v, first, second, step):
    for k in range(v.size):
        v[k] -= step * (first[k] - second[k])


@inner
def _steepest(state, tol):
    """The group whose pair violates the conditions most, its variable that grows, how steeply, and the violation.

    With one group the violation is left to the search for a partner, which passes over all variables anyway.
    """
    v = state.rows[V]
    if state.up.shape[0] == 1:
        i, top = _largest(v, state.up[0])
        return 0 if i >= 0 else -1, i, top, np.inf if i >= 0 else 0.0
    group, i, top, worst = -1, -1, 0.0, 0.0
    for h in range(state.up.shape[0]):
        candidate, value = _largest(v, state.up[h])
        if candidate >= 0:
            excess = value - _smallest(v, state.low[h])
            if excess > worst:
                worst = excess
                group, i, top = h, candidate, value
    return group if worst > tol else -1, i, top, worst


@njit(cache=True)
def iterate(state, terms, columns, clock, tol, budget, flat):
    """Take up to `budget` steps in pairs, until no pair violates the conditions by more than `tol`.

    A curvature of at most `flat` counts as none.
    """
    v, beta, curve_up, curve_low = state.rows[V], state.rows[BETA], state.rows[CURVE_UP], state.rows[CURVE_LOW]
    low = state.low
    store, slot, stamp = columns
    steps = 0
    decrease = 0.0
    violation = np.inf
    while True:
        g, i, top, worst = _steepest(state, tol)
        if g < 0:
            return (DONE, -1, -1, steps, worst, clock, decrease)
        if low.shape[0] > 1:
            violation = worst
        if slot[i] < 0:
            return (NEED, i, -1, steps, violation, clock, decrease)
        first = store[slot[i]]
        j, bottom = _partner(v, low[g], curve_low, first, top, curve_up[i], flat)
        violation = top - bottom
        if j < 0 or violation <= tol:
            return (DONE, -1, -1, steps, max(violation, 0.0), clock, decrease)
        if slot[j] < 0:
            return (NEED, j, i, steps, violation, clock, decrease)
        if steps >= budget:
            return (BUDGET, -1, -1, steps, violation, clock, decrease)
        second = store[slot[j]]
        stamp[slot[i]] = clock
        stamp[slot[j]] = clock
        clock += 1
        curvature = curve_up[i] + curve_low[j]
        bend = curvature - 2.0 * first[j]
        if bend < -1e-5 * curvature:
            return (INDEFINITE, i, j, steps, violation, clock, decrease)
        straight = bend <= flat
        if straight:
            bend = flat
        slope = top - (v[j] + low[g, j])
        step = slope / bend
        end_i, end_j = _room_up(beta[i], i, terms), _room_down(beta[j], j, terms)
        room = min(end_i - beta[i], beta[j] - end_j)
        if room < step:
            step = room
        elif straight and end_i == np.inf and end_j == -np.inf:
            # Without curvature and without a bound the objective falls for ever.
            return (UNBOUNDED, i, j, steps, violation, clock, decrease)
        decrease += step * (slope - 0.5 * bend * step)
        new_i = end_i if step == end_i - beta[i] else beta[i] + step
        new_j = end_j if step == beta[j] - end_j else beta[j] - step
        _descend(v, first, second, step)
        _move(i, new_i, state, terms)
        _move(j, new_j, state, terms)
        steps += 1


@inner
def _move(k, new, state, terms):
    """Set variable k, and what follows from its own terms: the kernel's part of v is up to date."""
    d, m, c = terms.rows[D, k], terms.rows[M, k], terms.rows[C, k]
    state.rows[V, k] += _slope(state.rows[BETA, k], d, m, c) - _slope(new, d, m, c)
    state.rows[BETA, k] = new
    _refresh(k, state, terms)


@inner
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
        out[k] = _slope(beta[k], terms.rows[D, k], terms.rows[M, k], terms.rows[C, k])
    return out


@njit(cache=True, error_model="numpy")
def _block_single(v, up, low, curve_up, curve_low, flat):
    m = violation = 0.0
    for k in range(v.size):
        grow = fmax(v[k] + up[k], 0.0)
        fall = fmax(-(v[k] + low[k]), 0.0)
        violation = fmax(violation, fmax(grow, fall))
        m = fmax(m, fmax(grow * grow / fmax(curve_up[k], flat), fall * fall / fmax(curve_low[k], flat)))
    return m, violation


@inner
def _best_single(v, up, low, curve_up, curve_low, flat):
    """The one variable whose move decreases the objective most, and the largest violation."""
    best = 0.0
    where = -1
    violation = 0.0
    for start in range(0, v.size, _BLOCK):
        part = slice(start, start + _BLOCK)
        m, worst = _block_single(v[part], up[part], low[part], curve_up[part], curve_low[part], flat)
        violation = fmax(violation, worst)
        if m > best:
            best = m
            where = start
    if where < 0:
        return -1, violation
    while True:
        grow = fmax(v[where] + up[where], 0.0)
        fall = fmax(-(v[where] + low[where]), 0.0)
        gain = fmax(grow * grow / fmax(curve_up[where], flat), fall * fall / fmax(curve_low[where], flat))
        if gain == best:
            return where, violation
        where += 1


@njit(cache=True)
def iterate_single(state, terms, columns, clock, tol, budget, flat):
    """The same without an equality constraint: one variable at a time."""
    v, beta, curve_up, curve_low = state.rows[V], state.rows[BETA], state.rows[CURVE_UP], state.rows[CURVE_LOW]
    up, low = state.up[0], state.low[0]
    store, slot, stamp = columns
    steps = 0
    decrease = 0.0
    while True:
        i, violation = _best_single(v, up, low, curve_up, curve_low, flat)
        if i < 0 or violation <= tol:
            return (DONE, -1, -1, steps, violation, clock, decrease)
        if slot[i] < 0:
            return (NEED, i, -1, steps, violation, clock, decrease)
        if steps >= budget:
            return (BUDGET, -1, -1, steps, violation, clock, decrease)
        stamp[slot[i]] = clock
        clock += 1
        grows = v[i] + up[i] > 0.0
        bend = curve_up[i] if grows else curve_low[i]
        straight = bend <= flat
        if straight:
            bend = flat
        slope = v[i] + (up[i] if grows else low[i])
        step = slope / bend
        end = _room_up(beta[i], i, terms) if grows else _room_down(beta[i], i, terms)
        clipped = end - beta[i] <= step if grows else end - beta[i] >= step
        if clipped:
            step = end - beta[i]
        elif straight and np.isinf(end):
            return (UNBOUNDED, i, -1, steps, violation, clock, decrease)
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
        s, d, m, c = z[k], terms.rows[D, k], terms.rows[M, k], terms.rows[C, k]
        size = abs(s) - terms.rows[E, k]
        sign = 1.0 if s >= 0.0 else -1.0
        if size <= 0.0:
            t = 0.0
        elif d > 0.0 and (c == 0.0 or size / d <= m):
            t = sign * size / d
        elif c > 0.0:
            t = sign * (size + c * m) / (d + c)
        else:
            t = sign * np.inf
        t = min(max(t, terms.rows[LO, k]), terms.rows[HI, k])
        if np.isinf(t):
            out[k] = np.inf
            continue
        out[k] = s * t - terms.rows[E, k] * abs(t) - 0.5 * d * t * t
        if abs(t) > m and c > 0.0:
            out[k] -= 0.5 * c * (abs(t) - m) ** 2
    return out


@njit(cache=True)
def penalties(beta, terms):
    """r_k(beta_k) for every k."""
    out = np.empty(beta.size)
    for k in range(beta.size):
        t = abs(beta[k])
        out[k] = terms.rows[E, k] * t + 0.5 * terms.rows[D, k] * t * t
        if t > terms.rows[M, k] and terms.rows[C, k] > 0.0:
            out[k] += 0.5 * terms.rows[C, k] * (t - terms.rows[M, k]) ** 2
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
def take_block(store, rows, columns):
    """store[rows][:, columns], in one pass."""
    out = np.empty((rows.size, columns.size), dtype=store.dtype)
    for r in range(rows.size):
        row = store[rows[r]]
        for k in range(columns.size):
            out[r, k] = row[columns[k]]
    return out


@njit(cache=True)
def urgent(state, slot, column, count):
    """`column`, then up to `count` - 1 variables without a stored column, those that violate the conditions most."""
    v, up, low = state.rows[V], state.up, state.low
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


@njit(cache=True)
def free(state, terms):
    """Which variables are strictly inside their piece (there the objective is quadratic), and how many."""
    n = state.rows.shape[1]
    inside, count = np.zeros(n, dtype=np.bool_), 0
    for k in range(n):
        t, m = state.rows[BETA, k], terms.rows[M, k]
        if terms.rows[LO, k] < t < terms.rows[HI, k] and (terms.rows[E, k] == 0.0 or t != 0.0):
            if terms.rows[C, k] == 0.0 or abs(t) != m:
                inside[k] = True
                count += 1
    return inside, count


@njit(cache=True)
def lasting(state, terms):
    """Which variables could be part of a violating pair at present, and how many; the others may rest."""
    v, up, low = state.rows[V], state.up, state.low
    keep, count = np.zeros(v.size, dtype=np.bool_), 0
    top, bottom = np.full(up.shape[0], -np.inf), np.full(up.shape[0], np.inf)
    for g in range(up.shape[0]):
        top[g], bottom[g] = _block_largest(v, up[g]), _smallest(v, low[g])
    for k in range(v.size):
        g = terms.group[k]
        if v[k] + up[g, k] > bottom[g] or v[k] + low[g, k] < top[g]:
            keep[k] = True
            count += 1
    return keep, count


@njit(cache=True)
def toward(x, low, high, direction):
    """The way along a direction up to its end or the first bound: how far, which bounds are met, and where it leads."""
    length, limit = 1.0, np.empty(x.size)
    for k in range(x.size):
        d = direction[k]
        limit[k] = np.inf if d == 0.0 else ((high[k] if d > 0.0 else low[k]) - x[k]) / d
        length = min(length, limit[k])
    hit, new = np.zeros(x.size, dtype=np.bool_), np.empty(x.size)
    for k in range(x.size):
        d = direction[k]
        hit[k] = limit[k] <= length * (1.0 + 1e-12)
        new[k] = (high[k] if d > 0.0 else low[k]) if hit[k] else x[k] + length * d
    return length, hit, new
