"""The compiled loops of :mod:`learnable.kernels.smo`.

The problem, in signed variables beta (see :func:`learnable.kernels.smo.solve`):

    minimise  1/2 beta' K beta + q' beta + sum_k r_k(beta_k)   subject to   sum of beta over each group fixed,

    r_k(t) = 1/2 d_k t^2 + e_k |t| + 1/2 c_k (|t| - m_k)_+^2   on   [lo_k, hi_k],   infinite elsewhere.

`v` holds minus the gradient of all smooth terms. What the kink of |t| and the bounds add is kept in two arrays of
shifts: v + up is the rate of descent when a variable grows (-inf at its upper bound), v + low the one when it falls,
with the sign turned (+inf at its lower bound). `curve_up` and `curve_low` hold K_kk plus the curvature of r_k in
that direction. One iteration touches two variables and costs three vectorised passes over the active ones.
"""

import numpy as np
from numba import njit

from learnable._simd import fmax, fmin

DONE, NEED, BUDGET, UNBOUNDED, INDEFINITE = 0, 1, 2, 3, 4
_BLOCK = 512
_FLAT = 1e-12


@njit(cache=True, inline="always")
def _refresh(k, beta, up, low, curve_up, curve_low, lo, hi, diagonal, ell, knee, beyond, group):
    """Recompute shifts and curvatures of variable k after its value has changed."""
    t = beta[k]
    g = group[k]
    if t >= hi[k]:
        up[g, k] = -np.inf
    else:
        up[g, k] = -ell[k] if t >= 0.0 else ell[k]
    if t <= lo[k]:
        low[g, k] = np.inf
    else:
        low[g, k] = -ell[k] if t > 0.0 else ell[k]
    curve_up[k] = diagonal[k]
    curve_low[k] = diagonal[k]
    if beyond[k] > 0.0:
        if t >= knee[k] or t < -knee[k]:
            curve_up[k] += beyond[k]
        if t > knee[k] or t <= -knee[k]:
            curve_low[k] += beyond[k]


@njit(cache=True)
def prepare(beta, up, low, curve_up, curve_low, lo, hi, diagonal, ell, knee, beyond, group):
    """Fill the shifts and curvatures of all variables."""
    up[:] = -np.inf
    low[:] = np.inf
    for k in range(beta.size):
        _refresh(k, beta, up, low, curve_up, curve_low, lo, hi, diagonal, ell, knee, beyond, group)


@njit(cache=True, inline="always")
def _room_up(k, beta, hi, ell, knee, beyond):
    """How far variable k may grow within its bounds and its current piece."""
    t = beta[k]
    end = hi[k]
    if t < 0.0 and ell[k] > 0.0 and end > 0.0:
        end = 0.0
    if beyond[k] > 0.0:
        if t < -knee[k] and -knee[k] < end:
            end = -knee[k]
        elif t < knee[k] and knee[k] < end:
            end = knee[k]
    return end


@njit(cache=True, inline="always")
def _room_down(k, beta, lo, ell, knee, beyond):
    t = beta[k]
    end = lo[k]
    if t > 0.0 and ell[k] > 0.0 and end < 0.0:
        end = 0.0
    if beyond[k] > 0.0:
        if t > knee[k] and knee[k] > end:
            end = knee[k]
        elif t > -knee[k] and -knee[k] > end:
            end = -knee[k]
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
def iterate(
    v, beta, up, low, curve_up, curve_low, lo, hi, diagonal, ridge, ell, knee, beyond, group,
    store, slot, stamp, clock, tol, budget,
):  # fmt: skip
    """Take up to `budget` steps in pairs. Returns (code, i, j, steps, violation, clock, decrease).

    With the code NEED, i is the column needed and j one to keep; `decrease` is that of the objective, in total.
    """
    groups = up.shape[0]
    steps = 0
    decrease = 0.0
    violation = np.inf
    while True:
        # The group whose pair violates the optimality conditions most, and its variable that grows.
        if groups == 1:
            i, top = _largest(v, up[0])
            g = 0
            if i < 0:
                return DONE, -1, -1, steps, 0.0, clock, decrease
        else:
            g = -1
            i, top, worst = -1, 0.0, 0.0
            for h in range(groups):
                candidate, value = _largest(v, up[h])
                if candidate >= 0:
                    excess = value - _smallest(v, low[h])
                    if excess > worst:
                        worst = excess
                        i, top, g = candidate, value, h
            violation = worst
            if g < 0 or worst <= tol:
                return DONE, -1, -1, steps, violation, clock, decrease
        if slot[i] < 0:
            return NEED, i, -1, steps, violation, clock, decrease
        first = store[slot[i]]
        j, bottom = _partner(v, low[g], curve_low, first, top, curve_up[i])
        violation = top - bottom
        if j < 0 or violation <= tol:
            return DONE, -1, -1, steps, max(violation, 0.0), clock, decrease
        if slot[j] < 0:
            return NEED, j, i, steps, violation, clock, decrease
        if steps >= budget:
            return BUDGET, -1, -1, steps, violation, clock, decrease
        second = store[slot[j]]
        stamp[slot[i]] = clock
        stamp[slot[j]] = clock
        clock += 1
        bend = curve_up[i] + curve_low[j] - 2.0 * first[j]
        if bend < -1e-5 * (curve_up[i] + curve_low[j]):
            return INDEFINITE, i, j, steps, violation, clock, decrease
        flat = bend <= _FLAT
        if flat:
            bend = _FLAT
        step = (top - (v[j] + low[g, j])) / bend
        end_i = _room_up(i, beta, hi, ell, knee, beyond)
        end_j = _room_down(j, beta, lo, ell, knee, beyond)
        room = min(end_i - beta[i], beta[j] - end_j)
        if room < step:
            step = room
        elif flat:
            # Without curvature and without a bound the objective falls for ever.
            if end_i == np.inf and end_j == -np.inf:
                return UNBOUNDED, i, j, steps, violation, clock, decrease
        new_i = end_i if step == end_i - beta[i] else beta[i] + step
        new_j = end_j if step == beta[j] - end_j else beta[j] - step
        decrease += step * (top - (v[j] + low[g, j]) - 0.5 * bend * step)
        _descend(v, first, second, step)
        v[i] += _bend(beta[i], ridge[i], knee[i], beyond[i]) - _bend(new_i, ridge[i], knee[i], beyond[i])
        v[j] += _bend(beta[j], ridge[j], knee[j], beyond[j]) - _bend(new_j, ridge[j], knee[j], beyond[j])
        beta[i] = new_i
        beta[j] = new_j
        _refresh(i, beta, up, low, curve_up, curve_low, lo, hi, diagonal, ell, knee, beyond, group)
        _refresh(j, beta, up, low, curve_up, curve_low, lo, hi, diagonal, ell, knee, beyond, group)
        steps += 1


@njit(cache=True, inline="always")
def _bend(t, ridge, knee, beyond):
    """Derivative of the smooth separable terms at t."""
    slope = ridge * t
    if beyond > 0.0:
        if t > knee:
            slope += beyond * (t - knee)
        elif t < -knee:
            slope += beyond * (t + knee)
    return slope


@njit(cache=True)
def slopes(beta, ridge, knee, beyond):
    """:func:`_bend` for all variables."""
    out = np.empty(beta.size)
    for k in range(beta.size):
        out[k] = _bend(beta[k], ridge[k], knee[k], beyond[k])
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
def iterate_single(
    v, beta, up, low, curve_up, curve_low, lo, hi, diagonal, ridge, ell, knee, beyond, group,
    store, slot, stamp, clock, tol, budget,
):  # fmt: skip
    """The same without an equality constraint: one variable at a time."""
    steps = 0
    decrease = 0.0
    while True:
        i, violation = _best_single(v, up[0], low[0], curve_up, curve_low)
        if i < 0 or violation <= tol:
            return DONE, -1, -1, steps, violation, clock, decrease
        if slot[i] < 0:
            return NEED, i, -1, steps, violation, clock, decrease
        if steps >= budget:
            return BUDGET, -1, -1, steps, violation, clock, decrease
        stamp[slot[i]] = clock
        clock += 1
        grow = v[i] + up[0, i] > 0.0
        bend = curve_up[i] if grow else curve_low[i]
        flat = bend <= _FLAT
        if flat:
            bend = _FLAT
        if grow:
            step = (v[i] + up[0, i]) / bend
            end = _room_up(i, beta, hi, ell, knee, beyond)
            clipped = end - beta[i] <= step
        else:
            step = (v[i] + low[0, i]) / bend
            end = _room_down(i, beta, lo, ell, knee, beyond)
            clipped = end - beta[i] >= step
        if clipped:
            step = end - beta[i]
        elif flat and np.isinf(end):
            return UNBOUNDED, i, -1, steps, violation, clock, decrease
        new = end if clipped else beta[i] + step
        decrease += step * (v[i] + (up[0, i] if grow else low[0, i]) - 0.5 * bend * step)
        column = store[slot[i]]
        for k in range(v.size):
            v[k] -= step * column[k]
        v[i] += _bend(beta[i], ridge[i], knee[i], beyond[i]) - _bend(new, ridge[i], knee[i], beyond[i])
        beta[i] = new
        _refresh(i, beta, up, low, curve_up, curve_low, lo, hi, diagonal, ell, knee, beyond, group)
        steps += 1


@njit(cache=True)
def conjugates(z, lo, hi, ridge, ell, knee, beyond):
    """r_k^*(z_k) = sup_t z_k t - r_k(t) for every k (inf where the supremum is)."""
    out = np.empty(z.size)
    for k in range(z.size):
        s = z[k]
        size = abs(s) - ell[k]
        sign = 1.0 if s >= 0.0 else -1.0
        if size <= 0.0:
            t = 0.0
        elif ridge[k] > 0.0 and (beyond[k] == 0.0 or size / ridge[k] <= knee[k]):
            t = sign * size / ridge[k]
        elif beyond[k] > 0.0:
            t = sign * (size + beyond[k] * knee[k]) / (ridge[k] + beyond[k])
        else:
            t = sign * np.inf
        t = min(max(t, lo[k]), hi[k])
        if np.isinf(t):
            out[k] = np.inf
            continue
        out[k] = s * t - ell[k] * abs(t) - 0.5 * ridge[k] * t * t
        if abs(t) > knee[k] and beyond[k] > 0.0:
            out[k] -= 0.5 * beyond[k] * (abs(t) - knee[k]) ** 2
    return out


@njit(cache=True)
def penalties(beta, ridge, ell, knee, beyond):
    """r_k(beta_k) for every k."""
    out = np.empty(beta.size)
    for k in range(beta.size):
        t = abs(beta[k])
        out[k] = ell[k] * t + 0.5 * ridge[k] * t * t
        if t > knee[k] and beyond[k] > 0.0:
            out[k] += 0.5 * beyond[k] * (t - knee[k]) ** 2
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
def urgent(v, up, low, slot, column, count):
    """`column`, then up to `count` - 1 variables without a stored column, those that violate the conditions most."""
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
