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
def walk(
    K, y, intercept, sense, kappa, alpha, g, state, status, elbow, factor, z_one, z_y, target, eps,
    lams, offsets, kinds, points, starts, moved, change, used,
):  # fmt: skip
    """Follow the path until it ends or needs help.

    state = [lambda, a0]; the sizes of elbow, record and moved list are in `used` = [m, records, entries].
    Returns a code.
    """
    n = y.size
    h = np.empty(n)
    size = 0.0
    for i in range(n):
        size = max(size, abs(K[i, i]))
    column = np.empty(elbow.size)
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
        if used[1] + 2 >= lams.size or used[2] + 3 * m + 2 >= moved.size:
            return FULL

        # How the elbow moves.
        w = _backward(factor, m, z_y)
        c = 0.0
        if intercept:
            u = _backward(factor, m, z_one)
            total = u.sum()
            c = -sense * w.sum() / total
            d = -sense * w - c * u
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
            for k in range(m):
                i = elbow[k]
                new = min(max(alpha[i] + y[i] * fix[k], 0.0), 1.0)
                value = y[i] * (new - alpha[i])
                alpha[i] = new
                moved[used[2]], change[used[2]] = i, value
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
            if not ended and k == who and kind == TO_R:
                new = 0.0
            elif not ended and k == who and kind == TO_L:
                new = 1.0
            else:
                new = min(max(new, 0.0), 1.0)
            moved[entries] = i
            change[entries] = y[i] * (new - alpha[i])
            value = change[entries]
            entries += 1
            row = K[i]
            for t in range(n):
                g[t] += value * row[t]
            alpha[i] = new
        a0 += best * c
        lam = target if ended else lam - sense * best
        state[0], state[1] = lam, a0
        lams[records], offsets[records] = lam, a0
        kinds[records] = 0 if ended else kind
        points[records] = -1 if ended else (elbow[who] if kind <= TO_L else who)
        starts[records + 1] = entries
        used[1], used[2] = records + 1, entries
        if ended:
            return ENDED

        # Change the sets.
        if kind <= TO_L:
            i = elbow[who]
            status[i] = R if kind == TO_R else L
            delete(factor, m, who, z_one, z_y)
            for k in range(who, m - 1):
                elbow[k] = elbow[k + 1]
            used[0] = m - 1
        else:
            for k in range(m):
                column[k] = K[who, elbow[k]] + kappa
            if not append(factor, m, column, K[who, who] + kappa, z_one, z_y, y[who], 2e-15):
                return SINGULAR
            elbow[m] = who
            status[who] = E
            used[0] = m + 1
