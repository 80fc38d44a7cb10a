"""The compiled walk along the path, from event to event.

With theta_i = y_i alpha_i, g = K theta and the multiplier a0 = lambda * intercept, the optimality conditions at
lambda are y_i (g_i + a0) = lambda on the elbow E, at most lambda on L (alpha = 1) and at least lambda on R (alpha = 0).
Between events only theta_E and a0 move, linearly in lambda. `sense` is +1 when lambda falls and -1 when it grows; per
unit of the walk, K_EE d + c = -sense y_E and sum(d) = 0.

The Cholesky factor of K_EE + kappa is kept and updated when a point joins or leaves the elbow (adding a constant to the
kernel changes neither d nor the conditions, as the sum of d is zero, and makes room for one more point).
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from learnable._inner import inner
from learnable._simd import fmax, fmin
from learnable.linalg.growing_cholesky import append, backward, delete, extend, forward

R, E, L, P = 0, 1, 2, 3  # P: inside the box, but tied to the elbow by linear dependence; rests
ENDED, TIE, EMPTY, SINGULAR, FULL, SEPARATED, FOREVER, LOST, PAUSE = 0, 1, 2, 3, 4, 5, 6, 7, 8
TO_R, TO_L, FROM_L, FROM_R = 1, 2, 3, 4
TOGETHER = 4e-15  # multipliers this near to a bound have reached it
DEPENDENT = 2e-15  # what is left of a kernel value, relatively, where a point depends on those of the elbow
REFRESH = 50  # events after which the caller computes K theta from scratch


class Problem(NamedTuple):
    """What stays as it is during a walk; ``size`` is the largest entry of the kernel's diagonal."""

    K: np.ndarray
    y: np.ndarray
    intercept: bool
    sense: int
    kappa: float
    target: float
    eps: float
    size: float


class Place(NamedTuple):
    """Where the walk is: ``state`` holds lambda and a0, ``status`` the set of each point."""

    alpha: np.ndarray
    g: np.ndarray
    state: np.ndarray
    status: np.ndarray


class Elbow(NamedTuple):
    """The points on the margin that move, the factor of their kernel, and its forward solutions ``Z`` for 1 and y."""

    members: np.ndarray
    factor: np.ndarray
    Z: np.ndarray


class Record(NamedTuple):
    """What has happened: for each event lambda, a0, its kind and point, errors, slack and norm.

    Event k moved the multipliers ``moved[starts[k]:starts[k + 1]]`` to ``after[...]``, so that those that come to rest
    at a bound are there exactly. How much of elbow, events and entries is in use stands in an array of its own.
    """

    lams: np.ndarray
    offsets: np.ndarray
    kinds: np.ndarray
    points: np.ndarray
    facts: np.ndarray
    starts: np.ndarray
    moved: np.ndarray
    after: np.ndarray


@njit(cache=True)
def rebuild(K, y, elbow, m, kappa):
    """Factorise from scratch; returns the number of points that could be appended (m if all)."""
    for k in range(m):
        if not _append(K, y, elbow, k, kappa, elbow.members[k]):
            return k
    return m


@inner
def _append(K, y, elbow, m, kappa, who):
    """Enlarge the factor by a point; False if its kernel depends on those there."""
    column = np.empty(m)
    for k in range(m):
        column[k] = K[who, elbow.members[k]] + kappa
    if not append(elbow.factor, m, column, K[who, who] + kappa, DEPENDENT):
        return False
    extend(elbow.factor, m, elbow.Z[0], 1.0)
    extend(elbow.factor, m, elbow.Z[1], y[who])
    return True


@inner
def _solution(elbow, m, z):
    """Solve for the right-hand side whose forward solution is z."""
    out = np.empty(m)
    for i in range(m):
        out[i] = z[i]
    backward(elbow.factor, m, out)
    return out


@njit(cache=True)
def describe(y, alpha, g, lam, a0, out):
    """Training errors, sum of the slacks and norm of beta."""
    errors, slack, square = 0, 0.0, 0.0
    for i in range(y.size):
        f = (g[i] + a0) / lam
        if (f >= 0.0) != (y[i] > 0.0):
            errors += 1
        slack += fmax(1.0 - y[i] * f, 0.0)
        square += y[i] * alpha[i] * g[i]
    out[0], out[1], out[2] = errors, slack, np.sqrt(fmax(square, 0.0)) / lam


@njit(cache=True)
def walk(problem, place, elbow, record, used, limit):
    """Follow the path until it ends or needs help, and return a code that says which.

    Cost: for each event O(n m) for m points on the elbow, and O(m^2) for the factor.
    """
    n = problem.y.size
    h = np.empty(n)
    taken = 0
    while True:
        m = used[0]
        if m == 0:
            return EMPTY
        if problem.sense > 0 and not _contains(place.status, L):
            return SEPARATED
        if used[1] >= limit or used[1] + m + 2 >= record.lams.size or used[2] + 3 * m + 2 >= record.moved.size:
            return FULL
        d, c, u, total = _direction(problem, elbow, m)
        noise = 4e-16 * _sum(place.alpha) * problem.size
        if not _correct(problem, place, elbow, record, used, u, total, noise):
            return LOST
        weight = _rates(problem, elbow, m, d, h)
        if not _on_the_elbow(problem, elbow, m, h, c, weight):
            return LOST
        code, step, who, kind = _first_event(problem, place, elbow, m, d, h, c, noise, weight)
        if code != ENDED:
            return code
        room = (place.state[0] - problem.target) * problem.sense
        if step >= room and room == np.inf:
            return FOREVER
        if step >= room:
            step, kind = room, 0
        taken += 1
        _advance(problem, place, elbow, record, used, d, h, c, step, who, kind)
        if kind == 0:
            return ENDED
        if kind <= TO_L:
            _retire(problem, place, elbow, record, used, d)
        elif not _join(problem, place, elbow, used, who):
            return SINGULAR
        if taken == REFRESH:
            return PAUSE


@inner
def _sum(values):
    """Terms added in their order: numpy adds in pairs, and the last digit shall not depend on that."""
    total = 0.0
    for value in values:
        total += value
    return total


@inner
def _contains(status, kind):
    for s in status:
        if s == kind:
            return True
    return False


@inner
def _direction(problem, elbow, m):
    """How theta_E and a0 move for a unit of the walk: ``d, c``, and what `_correct` needs of the same system."""
    y, sense = problem.y, problem.sense
    w = _solution(elbow, m, elbow.Z[1])
    u = _solution(elbow, m, elbow.Z[0]) if problem.intercept else w
    total = _sum(u) if problem.intercept else 1.0
    c = -sense * _sum(w) / total if problem.intercept else 0.0
    d = np.empty(m)
    for k in range(m):
        d[k] = -sense * w[k] - c * u[k]
    if not problem.intercept:
        return d, c, u, total
    # An elbow of one class alone rests: whatever solving the system leaves of d is rounding error.
    alone = True
    for k in range(1, m):
        if y[elbow.members[k]] != y[elbow.members[0]]:
            alone = False
            break
    if alone:
        for k in range(m):
            d[k] = 0.0
        c = -sense * y[elbow.members[0]]
    return d, c, u, total


@inner
def _correct(problem, place, elbow, record, used, u, total, noise):
    """Put right what rounding has left of the conditions on the elbow, and of the balance; False if it cannot."""
    K, y = problem.K, problem.y
    alpha, g = place.alpha, place.g
    m, lam, a0 = used[0], place.state[0], place.state[1]
    right = np.empty(m)
    worst = 0.0
    for k in range(m):
        i = elbow.members[k]
        right[k] = lam * y[i] - g[i] - a0
        worst = fmax(worst, abs(right[k]))
    if worst <= 1e-12 * lam + noise:
        return True
    fix = right
    forward(elbow.factor, m, fix)
    backward(elbow.factor, m, fix)
    if problem.intercept:
        lack = 0.0
        for i in range(y.size):
            lack -= y[i] * alpha[i]
        nudge = (_sum(fix) - lack) / total
        for k in range(m):
            fix[k] -= nudge * u[k]
        a0 += nudge + problem.kappa * lack
    # Only as far as all multipliers stay inside: the balance is worth more than the rest of the error.
    part = 1.0
    for k in range(m):
        i = elbow.members[k]
        new = alpha[i] + y[i] * fix[k]
        if new < 0.0:
            part = fmin(part, alpha[i] / (alpha[i] - new))
        elif new > 1.0:
            part = fmin(part, (1.0 - alpha[i]) / (new - alpha[i]))
    a0 = place.state[1] + part * (a0 - place.state[1])
    for k in range(m):
        i = elbow.members[k]
        new = fmin(fmax(alpha[i] + part * y[i] * fix[k], 0.0), 1.0)
        value = y[i] * (new - alpha[i])
        alpha[i] = new
        record.moved[used[2]], record.after[used[2]] = i, new
        used[2] += 1
        row = K[i]
        for t in range(y.size):
            g[t] += value * row[t]
    place.state[1] = a0
    for k in range(m):
        i = elbow.members[k]
        if abs(lam * y[i] - g[i] - a0) > 1e-7 * lam + 20.0 * noise:
            return False
    return True


@inner
def _rates(problem, elbow, m, d, h):
    """Write K d to ``h``, the rate of g; return the sum of the sizes of d."""
    for i in range(h.size):
        h[i] = 0.0
    weight = 0.0
    for k in range(m):
        row = problem.K[elbow.members[k]]
        value = d[k]
        weight += abs(value)
        for i in range(h.size):
            h[i] += value * row[i]
    return weight


@inner
def _on_the_elbow(problem, elbow, m, h, c, weight):
    """Whether the direction keeps the points of the elbow on their margin, up to rounding error."""
    for k in range(m):
        i = elbow.members[k]
        if abs(h[i] + c + problem.sense * problem.y[i]) > 1e-6 + 1e-13 * weight * problem.size:
            return False
    return True


@inner
def _first_event(problem, place, elbow, m, d, h, c, noise, weight):
    """What happens next: ``(code, step, who, kind)``; ``who`` is a place in the elbow, or a point that joins it."""
    y, sense, alpha = problem.y, problem.sense, place.alpha
    lam, a0 = place.state[0], place.state[1]
    # What rounding can do to rates and slacks.
    dtol = 1e-9 + 1e-14 * weight * problem.size
    near = problem.eps * lam + noise
    best, who, kind = np.inf, -1, 0
    for k in range(m):
        i = elbow.members[k]
        speed = y[i] * d[k]
        if speed < 0.0:
            if alpha[i] <= 0.0:
                return TIE, best, who, kind
            if alpha[i] / -speed < best:
                best, who, kind = alpha[i] / -speed, k, TO_R
        elif speed > 0.0:
            if alpha[i] >= 1.0:
                return TIE, best, who, kind
            if (1.0 - alpha[i]) / speed < best:
                best, who, kind = (1.0 - alpha[i]) / speed, k, TO_L
    for i in range(y.size):
        s = place.status[i]
        if s == E:
            continue
        slack = y[i] * (place.g[i] + a0) - lam
        rate = y[i] * (h[i] + c) + sense
        if s == P:
            if abs(rate) > 1e-7 + dtol:
                return TIE, best, who, kind
        elif (slack > 1e-6 * lam + 20.0 * noise and s == L) or (slack < -1e-6 * lam - 20.0 * noise and s == R):
            return LOST, best, who, kind
        elif s == L:
            if rate > dtol:
                if slack >= -near:
                    return TIE, best, who, kind
                if -slack / rate < best:
                    best, who, kind = -slack / rate, i, FROM_L
        elif rate < -dtol:
            if slack <= near:
                return TIE, best, who, kind
            if -slack / rate < best:
                best, who, kind = -slack / rate, i, FROM_R
    return ENDED, best, who, kind


@inner
def _advance(problem, place, elbow, record, used, d, h, c, step, who, kind):
    """Move by ``step`` and write the record; kind 0 is the end of the walk."""
    y, alpha = problem.y, place.alpha
    at, entries = used[1], used[2]
    for k in range(used[0]):
        i = elbow.members[k]
        new = alpha[i] + y[i] * step * d[k]
        # Two points often come to rest together (the last pair of an elbow must): rounding shall not part them.
        if new <= TOGETHER and y[i] * d[k] < 0.0:
            new = 0.0
        elif new >= 1.0 - TOGETHER and y[i] * d[k] > 0.0:
            new = 1.0
        if k == who and (kind == TO_R or kind == TO_L):
            new = 0.0 if kind == TO_R else 1.0
        record.moved[entries], record.after[entries] = i, new
        entries += 1
        alpha[i] = new
    for i in range(y.size):
        place.g[i] += step * h[i]
    lam = problem.target if kind == 0 else place.state[0] - problem.sense * step
    a0 = place.state[1] + step * c
    place.state[0], place.state[1] = lam, a0
    record.lams[at], record.offsets[at], record.kinds[at] = lam, a0, kind
    record.points[at] = -1 if kind == 0 else (elbow.members[who] if kind <= TO_L else who)
    describe(y, alpha, place.g, lam, a0, record.facts[at])
    record.starts[at + 1] = entries
    used[1], used[2] = at + 1, entries


@inner
def _retire(problem, place, elbow, record, used, d):
    """Take the points that have reached a bound out of the elbow, each with an event of its own."""
    y, alpha = problem.y, place.alpha
    last = used[1] - 1
    for k in range(used[0] - 1, -1, -1):
        i = elbow.members[k]
        if not ((alpha[i] <= 0.0 and y[i] * d[k] < 0.0) or (alpha[i] >= 1.0 and y[i] * d[k] > 0.0)):
            continue
        place.status[i] = R if alpha[i] <= 0.0 else L
        delete(elbow.factor, used[0], k, elbow.Z)
        used[0] -= 1
        for t in range(k, used[0]):
            elbow.members[t] = elbow.members[t + 1]
        if i != record.points[last]:
            at = used[1]
            record.lams[at], record.offsets[at], record.points[at] = place.state[0], place.state[1], i
            record.kinds[at] = TO_R if alpha[i] <= 0.0 else TO_L
            for t in range(record.facts.shape[1]):
                record.facts[at, t] = record.facts[last, t]
            record.starts[at + 1] = used[2]
            used[1] += 1


@inner
def _join(problem, place, elbow, used, who):
    """Put a point on the elbow; False if its kernel depends on those that are there."""
    m = used[0]
    if not _append(problem.K, problem.y, elbow, m, problem.kappa, who):
        return False
    elbow.members[m] = who
    place.status[who] = E
    used[0] = m + 1
    return True


@njit(cache=True)
def replay(first, moved, after, starts):
    """The multipliers that each entry of a record replaced, and how many different ones each event moved."""
    alpha = first.copy()
    before = np.empty(after.size)
    sizes = np.zeros(starts.size, dtype=np.int64)
    seen = np.full(first.size, -1)
    event = 0
    for k in range(after.size):
        while event < starts.size and k >= starts[event]:
            event += 1
        i = moved[k]
        if event < starts.size and seen[i] != event:
            seen[i] = event
            sizes[event] += 1
        before[k] = alpha[i]
        alpha[i] = after[k]
    return before, sizes


@njit(cache=True)
def accumulate(value, columns, moved, change, starts, lams, offsets, out):
    """f at other points at every breakpoint: `columns[j]` holds the kernel of training point j with them."""
    for k in range(lams.size):
        if k:
            for e in range(starts[k - 1], starts[k]):
                row, weight = columns[moved[e]], change[e]
                for t in range(value.size):
                    value[t] += weight * row[t]
        for t in range(value.size):
            out[k, t] = (value[t] + offsets[k]) / lams[k]
