"""The compiled walk along the path, from event to event.

With theta_i = y_i alpha_i, g = K theta and the multiplier a0 = lambda * intercept, the optimality conditions at
lambda are y_i (g_i + a0) = lambda on the elbow E, at most lambda on L (alpha = 1) and at least lambda on R (alpha = 0).
Between events only theta_E and a0 move, linearly in lambda. `sense` is +1 when lambda falls and -1 when it grows; per
unit of the walk, K_EE d + c = -sense y_E and sum(d) = 0.

The Cholesky factor of K_EE + kappa is kept and updated when a point joins or leaves the elbow (adding a constant to the
kernel changes neither d nor the conditions, as the sum of d is zero, and makes room for one more point).
"""

import numpy as np
from numba import njit

R, E, L, P = 0, 1, 2, 3  # P: inside the box, but tied to the elbow by linear dependence; rests
ENDED, TIE, EMPTY, SINGULAR, FULL, SEPARATED, FOREVER, LOST = 0, 1, 2, 3, 4, 5, 6, 7
TO_R, TO_L, FROM_L, FROM_R = 1, 2, 3, 4
TOGETHER = 4e-15  # multipliers this near to a bound have reached it
REFRESH = 50  # events between two computations of K theta from scratch


@njit(cache=True)
def append(factor, m, column, own, z_one, z_y, label, tiny):
    """Enlarge the factor by a point with kernel values `column`, `own`; False if it depends on those there."""
    row = factor[m]
    for i in range(m):
        row[i] = (column[i] - np.dot(factor[i, :i], row[:i])) / factor[i, i]
    left = own - np.dot(row[:m], row[:m])
    if left <= tiny * own:
        return False
    row[m] = np.sqrt(left)
    z_one[m] = (1.0 - np.dot(row[:m], z_one[:m])) / row[m]
    z_y[m] = (label - np.dot(row[:m], z_y[:m])) / row[m]
    return True


@njit(cache=True)
def delete(factor, m, p, z_one, z_y):
    """Remove the point at position p: shift the rows below and rotate them back to triangular form."""
    for i in range(p, m - 1):
        factor[i, : i + 2] = factor[i + 1, : i + 2]
    for k in range(p, m - 1):
        a, b = factor[k, k], factor[k, k + 1]
        r = np.sqrt(a * a + b * b)
        c, s = a / r, b / r
        factor[k, k] = r
        factor[k, k + 1] = 0.0
        for i in range(k + 1, m - 1):
            x, y = factor[i, k], factor[i, k + 1]
            factor[i, k] = c * x + s * y
            factor[i, k + 1] = c * y - s * x
        x, y = z_one[k], z_one[k + 1]
        z_one[k], z_one[k + 1] = c * x + s * y, c * y - s * x
        x, y = z_y[k], z_y[k + 1]
        z_y[k], z_y[k + 1] = c * x + s * y, c * y - s * x


@njit(cache=True)
def _forward(factor, m, right):
    out = np.empty(m)
    for i in range(m):
        out[i] = (right[i] - np.dot(factor[i, :i], out[:i])) / factor[i, i]
    return out


@njit(cache=True)
def _backward(factor, m, z):
    out = z[:m].copy()
    for i in range(m - 1, -1, -1):
        out[i] /= factor[i, i]
        value = out[i]
        for j in range(i):
            out[j] -= value * factor[i, j]
    return out


@njit(cache=True)
def rebuild(K, y, elbow, m, kappa, factor, z_one, z_y, tiny):
    """Factorise from scratch; returns the number of points that could be appended (m if all)."""
    column = np.empty(m)
    for k in range(m):
        j = elbow[k]
        for i in range(k):
            column[i] = K[j, elbow[i]] + kappa
        if not append(factor, k, column, K[j, j] + kappa, z_one, z_y, y[j], tiny):
            return k
    return m


@njit(cache=True)
def describe(y, alpha, g, lam, a0, out):
    """Training errors, sum of the slacks and norm of beta."""
    errors, slack, square = 0, 0.0, 0.0
    for i in range(y.size):
        f = (g[i] + a0) / lam
        if (f >= 0.0) != (y[i] > 0.0):
            errors += 1
        slack += max(1.0 - y[i] * f, 0.0)
        square += y[i] * alpha[i] * g[i]
    out[0], out[1], out[2] = errors, slack, np.sqrt(max(square, 0.0)) / lam


@njit(cache=True)
def walk(
    K, y, intercept, sense, kappa, alpha, g, state, status, elbow, factor, z_one, z_y, target, eps, limit,
    lams, offsets, kinds, points, facts, starts, moved, after, used,
):  # fmt: skip
    """Follow the path until it ends or needs help.

    state = [lambda, a0]; the sizes of elbow, record and moved list are in `used` = [m, records, entries]. The record
    says for each event which multipliers moved and where to, so that those that come to rest at a bound are there
    exactly. Returns a code.
    """
    n = y.size
    h = np.empty(n)
    size = 0.0
    for i in range(n):
        size = max(size, abs(K[i, i]))
    column = np.empty(elbow.size)
    taken = 0
    while True:
        m = used[0]
        lam, a0 = state[0], state[1]
        if m == 0:
            return EMPTY
        if sense > 0:
            inside = False
            for i in range(n):
                if status[i] == L:
                    inside = True
                    break
            if not inside:
                return SEPARATED
        if used[1] >= limit or used[1] + m + 2 >= lams.size or used[2] + 3 * m + 2 >= moved.size:
            return FULL

        # How the elbow moves.
        w = _backward(factor, m, z_y)
        c = 0.0
        if intercept:
            u = _backward(factor, m, z_one)
            total = u.sum()
            c = -sense * w.sum() / total
            d = -sense * w - c * u
            # An elbow of one class alone rests: whatever solving the system leaves of d is rounding error.
            alone = True
            for k in range(1, m):
                if y[elbow[k]] != y[elbow[0]]:
                    alone = False
                    break
            if alone:
                d[:] = 0.0
                c = -sense * y[elbow[0]]
        else:
            u, total = w, 1.0
            d = -sense * w
        # What rounding has left of the conditions on the elbow, and of the balance, is put right first.
        right = np.empty(m)
        worst = 0.0
        for k in range(m):
            i = elbow[k]
            right[k] = lam * y[i] - g[i] - a0
            worst = max(worst, abs(right[k]))
        mass = 0.0
        for i in range(n):
            mass += alpha[i]
        noise = 4e-16 * mass * size
        if worst > 1e-12 * lam + noise:
            fix = _backward(factor, m, _forward(factor, m, right))
            if intercept:
                lack = 0.0
                for i in range(n):
                    lack -= y[i] * alpha[i]
                nudge = (fix.sum() - lack) / total
                fix -= nudge * u
                a0 += nudge + kappa * lack
            # Only as far as all multipliers stay inside: the balance is worth more than the rest of the error.
            part = 1.0
            for k in range(m):
                i = elbow[k]
                new = alpha[i] + y[i] * fix[k]
                if new < 0.0:
                    part = min(part, alpha[i] / (alpha[i] - new))
                elif new > 1.0:
                    part = min(part, (1.0 - alpha[i]) / (new - alpha[i]))
            a0 = state[1] + part * (a0 - state[1])
            for k in range(m):
                i = elbow[k]
                new = min(max(alpha[i] + part * y[i] * fix[k], 0.0), 1.0)
                value = y[i] * (new - alpha[i])
                alpha[i] = new
                moved[used[2]], after[used[2]] = i, new
                used[2] += 1
                row = K[i]
                for t in range(n):
                    g[t] += value * row[t]
            state[1] = a0
            for k in range(m):
                i = elbow[k]
                if abs(lam * y[i] - g[i] - a0) > 1e-7 * lam + 20.0 * noise:
                    return LOST
        h[:] = 0.0
        for k in range(m):
            row = K[elbow[k]]
            value = d[k]
            for i in range(n):
                h[i] += value * row[i]

        weight = 0.0
        for k in range(m):
            weight += abs(d[k])
        for k in range(m):
            i = elbow[k]
            if abs(h[i] + c + sense * y[i]) > 1e-6 + 1e-13 * weight * size:
                return LOST

        # What rounding can do to rates and slacks.
        dtol = 1e-9 + 1e-14 * weight * size
        near = eps * lam + noise

        # The first event.
        best, who, kind = np.inf, -1, 0
        for k in range(m):
            i = elbow[k]
            speed = y[i] * d[k]
            if speed < 0.0:
                if alpha[i] <= 0.0:
                    return TIE
                step = alpha[i] / -speed
                if step < best:
                    best, who, kind = step, k, TO_R
            elif speed > 0.0:
                if alpha[i] >= 1.0:
                    return TIE
                step = (1.0 - alpha[i]) / speed
                if step < best:
                    best, who, kind = step, k, TO_L
        for i in range(n):
            s = status[i]
            if s == E:
                continue
            slack = y[i] * (g[i] + a0) - lam
            rate = y[i] * (h[i] + c) + sense
            if s == P:
                if abs(rate) > 1e-7 + dtol:
                    return TIE
            elif (slack > 1e-6 * lam + 20.0 * noise and s == L) or (slack < -1e-6 * lam - 20.0 * noise and s == R):
                return LOST
            elif s == L:
                if rate > dtol:
                    if slack >= -near:
                        return TIE
                    if -slack / rate < best:
                        best, who, kind = -slack / rate, i, FROM_L
            elif rate < -dtol:
                if slack <= near:
                    return TIE
                if -slack / rate < best:
                    best, who, kind = -slack / rate, i, FROM_R
        room = (lam - target) * sense
        if best >= room and room == np.inf:
            return FOREVER
        ended = best >= room
        if ended:
            best = room

        # Go there.
        records, entries = used[1], used[2]
        for k in range(m):
            i = elbow[k]
            new = alpha[i] + y[i] * best * d[k]
            # Two points often come to rest together (the last pair of an elbow must): rounding shall not part them.
            if new <= TOGETHER and y[i] * d[k] < 0.0:
                new = 0.0
            elif new >= 1.0 - TOGETHER and y[i] * d[k] > 0.0:
                new = 1.0
            if not ended and k == who and kind <= TO_L:
                new = 0.0 if kind == TO_R else 1.0
            moved[entries], after[entries] = i, new
            entries += 1
            alpha[i] = new
        taken += 1
        if taken % REFRESH == 0:
            g[:] = np.dot(K, y * alpha)
        else:
            for i in range(n):
                g[i] += best * h[i]
        a0 += best * c
        lam = target if ended else lam - sense * best
        state[0], state[1] = lam, a0
        lams[records], offsets[records] = lam, a0
        kinds[records] = 0 if ended else kind
        points[records] = -1 if ended else (elbow[who] if kind <= TO_L else who)
        describe(y, alpha, g, lam, a0, facts[records])
        starts[records + 1] = entries
        used[1], used[2] = records + 1, entries
        if ended:
            return ENDED

        # Change the sets.
        if kind <= TO_L:
            first = points[records]
            for k in range(m - 1, -1, -1):
                i = elbow[k]
                if not ((alpha[i] <= 0.0 and y[i] * d[k] < 0.0) or (alpha[i] >= 1.0 and y[i] * d[k] > 0.0)):
                    continue
                status[i] = R if alpha[i] <= 0.0 else L
                delete(factor, used[0], k, z_one, z_y)
                used[0] -= 1
                for t in range(k, used[0]):
                    elbow[t] = elbow[t + 1]
                if i != first:
                    at = used[1]
                    lams[at], offsets[at], points[at] = lam, a0, i
                    kinds[at] = TO_R if alpha[i] <= 0.0 else TO_L
                    facts[at] = facts[records]
                    starts[at + 1] = entries
                    used[1] += 1
        else:
            for k in range(m):
                column[k] = K[who, elbow[k]] + kappa
            if not append(factor, m, column, K[who, who] + kappa, z_one, z_y, y[who], 2e-15):
                return SINGULAR
            elbow[m] = who
            status[who] = E
            used[0] = m + 1


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
