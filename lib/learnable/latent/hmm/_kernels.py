"""The recursions of a hidden Markov model, compiled: they know nothing of emissions or estimators.

A transition matrix comes as *arcs*: the matrix itself (at least eight columns wide, the rest empty), and for each
column the list of its rows with a non-zero entry (``ptr, idx, val``), with a flag that says which of the two to use.
Dense steps add whole rows, four at a time, so that the inner loop runs along contiguous memory and becomes vector
instructions; with fewer than eight states a row is eight numbers in registers; sparse steps follow the lists.
What the unrolled loops compute stands as a formula in ``tests/latent/test_hmm_kernels.py``.
"""

import numpy as np
from numba import njit

from learnable._inner import assign
from learnable._simd import exp_in_place, fmax, fmin

# In the scaled recursions every positive probability stays above TINY, every positive density (relative to the largest
# of its row) above SMALL_DENSITY, every transition probability above SMALL_STEP. Their products are then normal
# numbers, so that zero means impossible. Where that fails the caller goes over to logarithms.
TINY, SMALL_DENSITY, SMALL_STEP = 1e-150, 1e-130, 1e-20
# What is carried from step to step is normalised only when its sum falls below _AT_ONCE, so that sum and division do
# not stand in the way of the next product: TINY * SMALL_DENSITY * SMALL_STEP * _AT_ONCE is still a normal number. The
# sums never grow, since densities are relative to the largest of their row.
_AT_ONCE = 1e-5
# Estimation needs posteriors to rounding only. If every prediction p_t(j | x^(t-1)) and the mass of every step stay
# above _ENOUGH, what underflows (less than 1e-300 at a time) changes each prediction by a relative 1e-200 at most; such
# relative errors never grow, since the recursion is linear with positive terms, and no posterior is off by 1e-90. A
# prediction of zero is no loss where the chain cannot be in that state, as in a left-right chain; zeros are known to be
# of that kind (`exact`) if no density and no parameter is small, for then no product of positive numbers underflows.
# A state that a left-right chain has left for good may fall below any bound. The whole mass then decides: densities are
# at most one and rows of transitions sum to one, so that what underflows at one time never becomes more, and if the
# mass of the whole sequence stays above exp(_DEEP) = 1e-200, all that was lost is less than 1e-90 of it.
_ENOUGH, _DEEP = 1e-100, -460.0
_LOG_SMALL = np.log(SMALL_DENSITY)
_BLOCK, _ROWS = 4096, 256
_NONE, _EMPTY = np.zeros(0, np.int64), np.zeros(0)


def arcs(matrix, missing=0.0):
    """A square matrix with its column lists; entries equal to `missing` are no arcs. Sparse below a sixth of K²."""
    k = len(matrix)
    wide = np.full((k, max(k, 8)), missing)
    wide[:, :k] = matrix
    columns, rows = np.nonzero(matrix.T != missing)
    ptr = np.zeros(k + 1, dtype=np.int64)
    np.cumsum(np.bincount(columns, minlength=k), out=ptr[1:])
    return wide, ptr, rows.astype(np.int64), wide[rows, columns], bool(6 * len(rows) < k * k)


def step_arcs(matrix):
    """The same for the scaled recursions alone, which follow the lists only where the matrix is sparse."""
    k = len(matrix)
    if 6 * np.count_nonzero(matrix) < k * k:
        return arcs(matrix)
    wide = np.zeros((k, max(k, 8)))
    wide[:, :k] = matrix
    return wide, _NONE, _NONE, _EMPTY, False


@njit(cache=True)
def _times(a, net, out):
    """out = a' M."""
    matrix, ptr, idx, val, sparse = net
    k = len(out)
    if sparse:
        for j in range(k):
            total = 0.0
            for p in range(ptr[j], ptr[j + 1]):
                total += a[idx[p]] * val[p]
            out[j] = total
        return
    for j in range(k):
        out[j] = 0.0
    whole = k - k % 4
    # out is read and written once for four rows; the two brackets do not wait for each other.
    for i in range(0, whole, 4):
        a0, a1, a2, a3 = a[i], a[i + 1], a[i + 2], a[i + 3]
        for j in range(k):
            out[j] += (a0 * matrix[i, j] + a1 * matrix[i + 1, j]) + (a2 * matrix[i + 2, j] + a3 * matrix[i + 3, j])
    for i in range(whole, k):
        a0 = a[i]
        for j in range(k):
            out[j] += a0 * matrix[i, j]


@njit(cache=True)
def prior_marginals(pi, net, out):
    """P(Y_t = j), row by row; once two rows are equal, bit by bit, so are all that follow."""
    k = len(pi)
    now, then = pi.copy(), np.empty(k)
    out[0] = pi
    moving = True
    for t in range(1, len(out)):
        if moving:
            _times(now, net, then)
            moving = False
            for j in range(k):
                moving |= now[j] != then[j]
                now[j] = then[j]
        for j in range(k):
            out[t, j] = now[j]


@njit(cache=True)
def _smallest(flat, start, stop):
    """The smallest positive number of a part of a vector, or 1."""
    lowest = 1.0
    for p in range(start, stop):
        lowest = fmin(lowest, flat[p] if flat[p] > 0.0 else 1.0)
    return lowest


@njit(cache=True)
def relative_densities(log_f, shift):
    """Turn log densities, in place, into densities relative to the largest of their row, which goes to `shift`.

    Returns the first bad row (-1 if there is none), and whether a positive density is so small that the scaled
    recursions may lose it.
    """
    n, k = log_f.shape
    step = max(1, _BLOCK // k)
    lowest = 0.0
    for start in range(0, n, step):
        stop = min(n, start + step)
        for t in range(start, stop):
            top = log_f[t, 0]
            for j in range(1, k):
                top = fmax(top, log_f[t, j])
            shift[t] = top
            if not -np.inf < top < np.inf:
                return t, False
            for j in range(k):
                log_f[t, j] -= top
        # One call for some thousands of numbers that are still in the cache: a row alone is too short for vectors.
        flat = log_f[start:stop].ravel()
        for p in range(flat.size):
            lowest = fmin(lowest, flat[p] if flat[p] > -np.inf else 0.0)
        exp_in_place(flat)
        # exp_in_place ends at 2^-1021, also for -inf: a state that is impossible must come out as zero.
        for p in range(flat.size):
            flat[p] = flat[p] if flat[p] > 1e-300 else 0.0
    return -1, lowest < _LOG_SMALL


@njit(cache=True)
def forward(pi, net, f, filtered, lenient, exact=False):
    """Filtering probabilities, and the sum of the logarithms of p(x_t | x^(t-1)) relative to the shift of f.

    Returns the first time at which the mass vanishes (-1 if it never does), whether a positive number fell below TINY
    (if `lenient`, whether a prediction or the mass fell below _ENOUGH and the mass of the whole below exp(_DEEP); with
    `exact` a prediction of zero is taken for what it is), and that sum. The product of :func:`_times` is written out,
    because handing arrays to a function costs as much as a step of five states.
    """
    matrix, ptr, idx, val, sparse = net
    n, k = f.shape
    now, step = np.zeros(max(k, 8)), np.zeros(max(k, 8))
    assign(step[:k], pi)
    whole = k - k % 4
    flat = filtered.ravel()
    # `now` is alpha_t exp(-log_sum), normalised only now and then, and `total` is its mass. `filtered` is normalised at
    # every time, but no step waits for it.
    log_sum, total, lowest = 0.0, 1.0, 1.0
    for t in range(n):
        if t > 0 and sparse:
            for j in range(k):
                total = 0.0
                for p in range(ptr[j], ptr[j + 1]):
                    total += now[idx[p]] * val[p]
                step[j] = total
        elif t > 0 and k < 8:
            # The columns from k on are zero, and eight sums fit the registers: no loop over columns remains.
            s0, s1, s2, s3, s4, s5, s6, s7 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            for i in range(k):
                a0 = now[i]
                s0 += a0 * matrix[i, 0]
                s1 += a0 * matrix[i, 1]
                s2 += a0 * matrix[i, 2]
                s3 += a0 * matrix[i, 3]
                s4 += a0 * matrix[i, 4]
                s5 += a0 * matrix[i, 5]
                s6 += a0 * matrix[i, 6]
                s7 += a0 * matrix[i, 7]
            step[0], step[1], step[2], step[3] = s0, s1, s2, s3
            step[4], step[5], step[6], step[7] = s4, s5, s6, s7
        elif t > 0:
            for j in range(k):
                step[j] = 0.0
            for i in range(0, whole, 4):
                a0, a1, a2, a3 = now[i], now[i + 1], now[i + 2], now[i + 3]
                for j in range(k):
                    step[j] += (a0 * matrix[i, j] + a1 * matrix[i + 1, j]) + (
                        a2 * matrix[i + 2, j] + a3 * matrix[i + 3, j]
                    )
            for i in range(whole, k):
                a0 = now[i]
                for j in range(k):
                    step[j] += a0 * matrix[i, j]
        total = 0.0
        for j in range(k):
            value = step[j] * f[t, j]
            now[j] = value
            total += value
        if not total > 0.0:
            # Impossible, unless a number has been lost in the rows that have not been looked at yet.
            return t, not lenient and _smallest(flat, (t - t % _ROWS) * k, t * k) < TINY, -np.inf
        if lenient:
            lowest = fmin(lowest, total)
            if exact:
                lowest = fmin(lowest, _smallest(step, 0, k if t > 0 else 0))
            else:
                for j in range(k if t > 0 else 0):
                    lowest = fmin(lowest, step[j])
        factor = 1.0 / total
        for j in range(k):
            filtered[t, j] = now[j] * factor
        if total < _AT_ONCE:
            for j in range(k):
                now[j] *= factor
            log_sum += np.log(total)
            total = 1.0
        # Looking back over rows that are still in the cache is a vector loop; a look at each number as it comes is not.
        if not lenient and (t % _ROWS == _ROWS - 1 or t == n - 1):
            if _smallest(flat, (t - t % _ROWS) * k, (t + 1) * k) < TINY:
                return t, True, -np.inf
    log_sum += np.log(total)
    return -1, lowest < _ENOUGH and log_sum < _DEEP, log_sum


@njit(cache=True)
def forward_each(pi, net, f, filtered, starts, log_sums, narrow):
    """The lenient filter of every sequence of a table; NaN for a sequence that needs the strict one.

    `narrow` says that a density may have underflowed, so that a zero is not known to be one.
    """
    k, zeros, smallest = len(pi), 0, _smallest(pi, 0, len(pi))
    for i in range(k):
        smallest = fmin(smallest, _smallest(net[0][i], 0, k))
        for j in range(k):
            zeros += net[0][i, j] == 0.0
    # In a chain without zeros there is nothing to tell apart.
    exact = zeros > 0 and smallest >= SMALL_STEP and not narrow
    for s in range(len(starts) - 1):
        rows = slice(starts[s], starts[s + 1])
        stop, small, value = forward(pi, net, f[rows], filtered[rows], True, exact)
        log_sums[s] = np.nan if small or stop >= 0 else value


@njit(cache=True)
def backward(net, f, filtered, smoothed, weight, keep, lenient):
    """Smoothing probabilities, backwards from the last filter; `smoothed` may be f itself.

    beta is kept only where the filter is positive: elsewhere nothing depends on it, and it might overflow. Each row is
    normalised by sum alpha beta, which therefore does not drift. With `keep`, weight[t] = f_t beta_t / (its scale),
    from which the expected transitions are filtered' weight * P. Returns whether a positive number fell below TINY,
    which is not looked at if `lenient`.
    """
    matrix, ptr, idx, val, sparse = net
    n, k = f.shape
    ahead, step = np.zeros(max(k, 8)), np.ones(max(k, 8))
    whole = k - k % 4
    flat = smoothed.ravel()
    for t in range(n - 1, -1, -1):
        if t < n - 1 and sparse:
            for j in range(k):
                total = 0.0
                for p in range(ptr[j], ptr[j + 1]):
                    total += ahead[idx[p]] * val[p]
                step[j] = total
        elif t < n - 1 and k < 8:
            s0, s1, s2, s3, s4, s5, s6, s7 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            for i in range(k):
                a0 = ahead[i]
                s0 += a0 * matrix[i, 0]
                s1 += a0 * matrix[i, 1]
                s2 += a0 * matrix[i, 2]
                s3 += a0 * matrix[i, 3]
                s4 += a0 * matrix[i, 4]
                s5 += a0 * matrix[i, 5]
                s6 += a0 * matrix[i, 6]
                s7 += a0 * matrix[i, 7]
            step[0], step[1], step[2], step[3] = s0, s1, s2, s3
            step[4], step[5], step[6], step[7] = s4, s5, s6, s7
        elif t < n - 1:
            for j in range(k):
                step[j] = 0.0
            for i in range(0, whole, 4):
                a0, a1, a2, a3 = ahead[i], ahead[i + 1], ahead[i + 2], ahead[i + 3]
                for j in range(k):
                    step[j] += (a0 * matrix[i, j] + a1 * matrix[i + 1, j]) + (
                        a2 * matrix[i + 2, j] + a3 * matrix[i + 3, j]
                    )
            for i in range(whole, k):
                a0 = ahead[i]
                for j in range(k):
                    step[j] += a0 * matrix[i, j]
        total = 0.0
        for j in range(k):
            beta = step[j] if filtered[t, j] > 0.0 else 0.0
            step[j] = beta
            total += beta * filtered[t, j]
        # total = Σ alpha_t beta_t; divided by it, the terms filtered[t, i] P_ij weight[t + 1, j] sum to one.
        factor = 1.0 / total
        if keep and t < n - 1:
            for j in range(k):
                weight[t + 1, j] = ahead[j] * factor
        if total < _AT_ONCE:
            for j in range(k):
                step[j] *= factor
            factor = 1.0
        for j in range(k):
            ahead[j] = step[j] * f[t, j]
            smoothed[t, j] = (step[j] * factor) * filtered[t, j]
        if not lenient and t % _ROWS == 0 and _smallest(flat, t * k, min(n, t + _ROWS) * k) < TINY:
            return True
    return False


@njit(cache=True)
def backward_each(net, f, filtered, weight, starts, shares):
    """Turn f, in place, into the smoothing probabilities of every sequence times its share, and `weight` likewise.

    A share of zero makes zeros of both. The first row of a sequence has no transition into it: zero in `weight`.
    """
    for s in range(len(starts) - 1):
        rows = slice(starts[s], starts[s + 1])
        if shares[s] > 0.0:
            backward(net, f[rows], filtered[rows], f[rows], weight[rows], True, True)
            if shares[s] != 1.0:
                for t in range(starts[s], starts[s + 1]):
                    for j in range(f.shape[1]):
                        f[t, j] *= shares[s]
                        weight[t, j] *= shares[s]
            weight[starts[s]] = 0.0
        else:
            f[rows] = 0.0
            weight[rows] = 0.0


@njit(cache=True)
def derin(net, net_back, filtered, smoothed):
    """Derin's backward smoother, from filters and predictions only; returns whether a number fell below TINY."""
    # smoothed_t(j) = filtered_t(j) Σ_i P_ji smoothed_{t+1}(i) / predicted_{t+1}(i): no density enters.
    n, k = filtered.shape
    lowest = 1.0
    assign(smoothed[n - 1], filtered[n - 1])
    predicted, ratio, step = np.empty(k), np.empty(k), np.empty(k)
    for t in range(n - 2, -1, -1):
        _times(filtered[t], net, predicted)
        for i in range(k):
            ratio[i] = smoothed[t + 1, i] / predicted[i] if predicted[i] > 0.0 else 0.0
        _times(ratio, net_back, step)
        for j in range(k):
            value = filtered[t, j] * step[j]
            smoothed[t, j] = value
            lowest = fmin(lowest, value if value > 0.0 else 1.0)
    return lowest < TINY


@njit(cache=True)
def _log_times(log_a, net, log_net, scratch, out):
    """out = log sum_i exp(log_a[i] + log M[i, j]).

    One pass in the linear domain, relative to the largest entry; a column whose sum is so small that terms may have
    underflowed is summed again in logarithms, exactly.
    """
    k = len(out)
    top = -np.inf
    for i in range(k):
        top = fmax(top, log_a[i])
    if top == -np.inf:
        for j in range(k):
            out[j] = -np.inf
        return
    for i in range(k):
        scratch[i] = log_a[i] - top
    if k < 16:
        for i in range(k):
            scratch[i] = np.exp(scratch[i])
    else:
        exp_in_place(scratch)
        for i in range(k):
            scratch[i] = scratch[i] if scratch[i] > 1e-300 else 0.0
    _times(scratch, net, out)
    _, ptr, idx, val, _ = log_net
    for j in range(k):
        if out[j] > 1e-280:
            out[j] = np.log(out[j]) + top
            continue
        best = -np.inf
        for p in range(ptr[j], ptr[j + 1]):
            best = max(best, log_a[idx[p]] + val[p])
        total = 0.0
        if best > -np.inf:
            for p in range(ptr[j], ptr[j + 1]):
                total += np.exp(log_a[idx[p]] + val[p] - best)
            best += np.log(total)
        out[j] = best


@njit(cache=True)
def log_sum(v):
    """log sum exp of a vector, -inf if all entries are."""
    top = -np.inf
    for j in range(len(v)):
        top = max(top, v[j])
    if top == -np.inf:
        return top
    total = 0.0
    for j in range(len(v)):
        total += np.exp(v[j] - top)
    return top + np.log(total)


@njit(cache=True)
def log_forward(log_pi, net, log_net, log_f, log_alpha):
    """ln alpha_t(j); returns the first time at which the observations become impossible, or -1."""
    n, k = log_f.shape
    now, step, scratch = np.empty(k), log_pi.copy(), np.empty(k)
    for t in range(n):
        if t > 0:
            _log_times(now, net, log_net, scratch, step)
        top = -np.inf
        for j in range(k):
            now[j] = step[j] + log_f[t, j]
            log_alpha[t, j] = now[j]
            top = fmax(top, now[j])
        if top == -np.inf:
            return t
    return -1


@njit(cache=True)
def log_backward(net, log_net, log_f, log_beta):
    """ln beta_t(j) for every state, reachable or not."""
    n, k = log_f.shape
    ahead, step, scratch = np.empty(k), np.zeros(k), np.empty(k)
    for t in range(n - 1, -1, -1):
        if t < n - 1:
            _log_times(ahead, net, log_net, scratch, step)
        for j in range(k):
            log_beta[t, j] = step[j]
            ahead[j] = step[j] + log_f[t, j]


@njit(cache=True)
def log_transitions(log_alpha, log_P, log_f, log_beta, log_likelihood, out):
    """Add the expected numbers of transitions to `out`, term by term in logarithms."""
    n, k = log_f.shape
    for t in range(n - 1):
        for i in range(k):
            for j in range(k):
                e = log_alpha[t, i] + log_P[i, j] + log_f[t + 1, j] + log_beta[t + 1, j] - log_likelihood
                if e > -745.0:  # below, exp is zero
                    out[i, j] += np.exp(e)


@njit(cache=True)
def gaussian_log_density(x, means, halves, constants, out):
    """Sums over d of -(x_d - mean_dj)² half_dj, plus a constant; means and halves with the state last."""
    n, k = out.shape
    for t in range(n):
        row = out[t]
        for j in range(k):
            row[j] = constants[j]
        for d in range(x.shape[1]):
            value = x[t, d]
            for j in range(k):
                gap = value - means[d, j]
                row[j] -= halves[d, j] * (gap * gap)


@njit(cache=True)
def symbol_mass(x, weight, out):
    """Add the weights of each state to the symbols that occurred: out is (m, K)."""
    for t in range(len(x)):
        for j in range(out.shape[1]):
            out[x[t], j] += weight[t, j]
