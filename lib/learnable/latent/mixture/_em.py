"""The engine below the mixtures: one pass over the data for an E- and an M-step, and Lloyd's iteration for k-means.

The data lie feature by feature, `XT` of shape (d, N), so that every inner loop runs over neighbouring observations and
vectorises. A pass takes blocks that stay in the first-level cache: log-densities of the block, posterior
probabilities, and at once their share of the sums that the M-step needs. The N x k posterior probabilities are never
stored while EM runs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from learnable._inner import assign, inner
from learnable._simd import exp_in_place

BLOCK = 512
LOG_2PI = np.log(2 * np.pi)


class Mixture(NamedTuple):
    """Parameters of k Gaussians in d dimensions: weights (k,), means (k, d), covariances (k, d, d)."""

    weights: np.ndarray
    means: np.ndarray
    covariances: np.ndarray


class EMRules(NamedTuple):
    """When EM stops and what it adds: `floor` (d,) is added to every variance, smaller variances delete a cluster."""

    floor: np.ndarray
    tol: float
    max_iter: int


class EMRun(NamedTuple):
    """A finished run: parameters, log-likelihood after every step, the last change."""

    mixture: Mixture
    log_likelihoods: np.ndarray
    change: float


def columns_first(X):
    """The data feature by feature, in one piece of memory."""
    return np.ascontiguousarray(X.T, dtype=np.float64)


@njit(cache=True, nogil=True)
def run_em(XT, mixture, rules):
    """EM from `mixture` until the log-likelihood changes by less than `rules.tol`. Cost O(N k d^2) a step."""
    trace = np.empty(rules.max_iter + 1)
    mixture = lifted(drop_thin(mixture, rules.floor), rules.floor)
    change = np.inf
    steps = 0
    for step in range(rules.max_iter + 1):
        here, moved = em_step(XT, mixture)
        trace[step] = here
        steps = step + 1
        if step > 0:
            change = abs(here - trace[step - 1])
            if change < rules.tol:
                break
        if step == rules.max_iter:
            break
        mixture = lifted(drop_thin(moved, rules.floor), rules.floor)
    return EMRun(mixture, trace[:steps].copy(), change)


@inner
def drop_thin(mixture, floor):
    """Without the clusters whose variance is nowhere above the floor, weights summing to one; at least one stays."""
    k, d = mixture.means.shape
    kept, n_kept, heaviest = np.empty(k, np.int64), 0, 0
    for j in range(k):
        stays = mixture.weights[j] > 1e-12
        for a in range(d):
            stays = stays and mixture.covariances[j, a, a] > floor[a]
        if stays:
            kept[n_kept] = j
            n_kept += 1
        if mixture.weights[j] > mixture.weights[heaviest]:
            heaviest = j
    if n_kept == k:
        return mixture
    if n_kept == 0:
        kept[0], n_kept = heaviest, 1
    left = Mixture(np.empty(n_kept), np.empty((n_kept, d)), np.empty((n_kept, d, d)))
    total = 0.0
    for i in range(n_kept):
        total += mixture.weights[kept[i]]
    for i in range(n_kept):
        left.weights[i] = mixture.weights[kept[i]] / total
        for a in range(d):
            left.means[i, a] = mixture.means[kept[i], a]
            for b in range(d):
                left.covariances[i, a, b] = mixture.covariances[kept[i], a, b]
    return left


@njit(cache=True, nogil=True)
def lifted(mixture, floor):
    """The mixture with `floor` added to the variances."""
    covariances = mixture.covariances.copy()
    for j in range(len(covariances)):
        for a in range(len(floor)):
            covariances[j, a, a] += floor[a]
    return Mixture(mixture.weights, mixture.means, covariances)


@inner
def em_step(XT, mixture):
    """Log-likelihood of `mixture`, and the parameters after one E- and M-step, before anything is added to them."""
    d, n = XT.shape
    k = len(mixture.weights)
    factors = inverse_factors(mixture)
    s0, s1, s2 = np.zeros(k), np.zeros((k, d)), np.zeros((k, d, d))
    dx, y, joint = np.empty((d, BLOCK)), np.empty(BLOCK), np.empty(k * BLOCK)
    total = 0.0
    for start in range(0, n, BLOCK):
        size = min(BLOCK, n - start)
        for j in range(k):
            row = joint[j * size : (j + 1) * size]
            centred(XT, start, mixture.means[j], dx, size)
            log_density(dx, factors, j, y, row)
        total += normalise(joint, k, size)
        for j in range(k):
            z = joint[j * size : (j + 1) * size]
            centred(XT, start, mixture.means[j], dx, size)
            s0[j] += lane_sum(z)
            for a in range(d):
                row = dx[a]
                for i in range(size):
                    y[i] = z[i] * row[i]
                s1[j, a] += lane_sum(y[:size])
                for b in range(a + 1):
                    s2[j, a, b] += np.dot(y[:size], dx[b][:size])
    return total, moved_parameters(mixture, s0, s1, s2, n)


@inner
def moved_parameters(mixture, s0, s1, s2, n):
    """The M-step from sums about the old means: mean shift and covariance about the new mean."""
    k, d = mixture.means.shape
    means, covariances = np.empty((k, d)), np.empty((k, d, d))
    for j in range(k):
        weight = s0[j] if s0[j] > 1e-300 else 1e-300
        for a in range(d):
            means[j, a] = mixture.means[j, a] + s1[j, a] / weight
            for b in range(a + 1):
                value = s2[j, a, b] / weight - s1[j, a] / weight * (s1[j, b] / weight)
                covariances[j, a, b] = value
                covariances[j, b, a] = value
    return Mixture(s0 / n, means, covariances)


@inner
def inverse_factors(mixture):
    """(W, const): inverses of the Cholesky factors, and log weight minus the log of the normalising constant."""
    k, d = mixture.means.shape
    W, const = np.zeros((k, d, d)), np.empty(k)
    for j in range(k):
        half = inverse_factor(mixture.covariances[j], W[j])
        const[j] = np.log(mixture.weights[j]) - half - 0.5 * d * LOG_2PI
    return W, const


@inner
def inverse_factor(covariance, W):
    """Write the inverse of the lower Cholesky factor into W; return half the log-determinant. O(d^3)."""
    d = len(covariance)
    L = np.zeros((d, d))
    half = 0.0
    for a in range(d):
        for b in range(a + 1):
            rest = covariance[a, b]
            for c in range(b):
                rest -= L[a, c] * L[b, c]
            if a == b:
                # rounding may leave a negative pivot where a column repeats another
                L[a, a] = np.sqrt(rest) if rest > 1e-14 * covariance[a, a] else np.sqrt(1e-14 * covariance[a, a])
                half += np.log(L[a, a])
            else:
                L[a, b] = rest / L[b, b]
    for a in range(d):
        W[a, a] = 1.0 / L[a, a]
        for b in range(a):
            rest = 0.0
            for c in range(b, a):
                rest -= L[a, c] * W[c, b]
            W[a, b] = rest / L[a, a]
    return half


@inner
def centred(XT, start, mean, dx, size):
    """The block of the data about a mean."""
    for a in range(len(mean)):
        m, row, out = mean[a], XT[a][start : start + size], dx[a]
        for i in range(size):
            out[i] = row[i] - m


@inner
def log_density(dx, factors, j, y, out):
    """out_i = const_j - |W_j dx_i|^2 / 2."""
    W, const = factors
    size = len(out)
    for i in range(size):
        out[i] = const[j]
    for a in range(len(dx)):
        w, row = W[j, a, 0], dx[0]
        for i in range(size):
            y[i] = w * row[i]
        for b in range(1, a + 1):
            w, row = W[j, a, b], dx[b]
            for i in range(size):
                y[i] += w * row[i]
        for i in range(size):
            out[i] -= 0.5 * y[i] * y[i]


@inner
def normalise(joint, k, size):
    """Turn the logs of pi_j f_j(x_i), stored cluster by cluster, into posteriors; return the log-likelihood."""
    top, sums = np.empty(size), np.zeros(size)
    for i in range(size):
        top[i] = joint[i]
    for j in range(1, k):
        row = joint[j * size : (j + 1) * size]
        for i in range(size):
            top[i] = row[i] if row[i] > top[i] else top[i]
    for j in range(k):
        row = joint[j * size : (j + 1) * size]
        for i in range(size):
            below = row[i] - top[i]
            row[i] = below if below > -300.0 else -300.0  # far below it counts for nothing, and stays a normal number
    exp_in_place(joint[: k * size])
    for j in range(k):
        row = joint[j * size : (j + 1) * size]
        for i in range(size):
            sums[i] += row[i]
    total, product = lane_sum(top), 1.0
    for i in range(size):
        # every sum lies in [1, k]: one logarithm for a product of 16 of them
        product *= sums[i]
        if i % 16 == 15:
            total += np.log(product)
            product = 1.0
        sums[i] = 1.0 / sums[i]
    for j in range(k):
        row = joint[j * size : (j + 1) * size]
        for i in range(size):
            row[i] *= sums[i]
    return total + np.log(product)


@njit(cache=True, nogil=True)
def posteriors(XT, mixture, Z):
    """Write P(cluster j | x_i) into Z (N, k); return the log-likelihood of every observation. O(N k d^2)."""
    d, n = XT.shape
    k = len(mixture.weights)
    factors = inverse_factors(mixture)
    dx, y, joint = np.empty((d, BLOCK)), np.empty(BLOCK), np.empty(k * BLOCK)
    logs = np.empty(n)
    for start in range(0, n, BLOCK):
        size = min(BLOCK, n - start)
        for j in range(k):
            centred(XT, start, mixture.means[j], dx, size)
            log_density(dx, factors, j, y, joint[j * size : (j + 1) * size])
        for i in range(size):
            top = joint[i]
            for j in range(1, k):
                top = max(top, joint[j * size + i])
            total = 0.0
            for j in range(k):
                Z[start + i, j] = np.exp(joint[j * size + i] - top)
                total += Z[start + i, j]
            for j in range(k):
                Z[start + i, j] /= total
            logs[start + i] = top + np.log(total)
    return logs


@njit(cache=True, nogil=True)
def weighted_moments(XT, Z):
    """The M-step from memberships Z (N, k): weights, means and covariances of the clusters, two passes."""
    d, n = XT.shape
    k = Z.shape[1]
    weights, means, covariances = np.empty(k), np.zeros((k, d)), np.zeros((k, d, d))
    z, dx = np.empty(n), np.empty((d, n))
    for j in range(k):
        for i in range(n):
            z[i] = Z[i, j]
        s0 = lane_sum(z)
        weights[j] = s0 / n
        if s0 <= 0.0:
            continue
        for a in range(d):
            means[j, a] = np.dot(z, XT[a]) / s0
            for i in range(n):
                dx[a, i] = XT[a, i] - means[j, a]
        for a in range(d):
            zx = z * dx[a]
            for b in range(a + 1):
                covariances[j, a, b] = covariances[j, b, a] = np.dot(zx, dx[b]) / s0
    return Mixture(weights, means, covariances)


@inner
def lane_sum(x):
    """Sum in eight lanes, which the compiler may put into one register."""
    n = len(x)
    a = b = c = d = e = f = g = h = 0.0
    whole = n - n % 8
    for i in range(0, whole, 8):
        a += x[i]
        b += x[i + 1]
        c += x[i + 2]
        d += x[i + 3]
        e += x[i + 4]
        f += x[i + 5]
        g += x[i + 6]
        h += x[i + 7]
    total = ((a + b) + (c + d)) + ((e + f) + (g + h))
    for i in range(whole, n):
        total += x[i]
    return total


@njit(cache=True, nogil=True)
def nearest(XT, centres, labels, distances):
    """Label of the nearest centre and the squared distance to it, for every observation. O(N k d)."""
    d, n = XT.shape
    for i in range(n):
        distances[i] = np.inf
    current = np.empty(n)
    for j in range(len(centres)):
        for i in range(n):
            current[i] = 0.0
        for a in range(d):
            m, row = centres[j, a], XT[a]
            for i in range(n):
                current[i] += (row[i] - m) * (row[i] - m)
        for i in range(n):
            if current[i] < distances[i]:
                distances[i] = current[i]
                labels[i] = j


@njit(cache=True, nogil=True)
def lloyd(XT, centres, max_iter):
    """k-means from `centres`; an empty cluster moves to the farthest point.

    Returns the centres, the labels, the distortion, the steps, and how many labels the last step changed.
    """
    d, n = XT.shape
    k = len(centres)
    centres = centres.copy()
    labels, before, distances = np.zeros(n, np.int64), np.full(n, -1), np.empty(n)
    steps, changed = 0, n
    for _ in range(max_iter):
        steps += 1
        nearest(XT, centres, labels, distances)
        counts = np.zeros(k)
        for i in range(n):
            counts[labels[i]] += 1
        for j in range(k):
            if counts[j] == 0:
                far = np.argmax(distances)
                counts[labels[far]] -= 1
                labels[far], distances[far], counts[j] = j, 0.0, 1
        changed = 0
        for i in range(n):
            changed += labels[i] != before[i]
        if changed == 0:
            break
        assign(before, labels)
        centres[:] = 0.0
        for a in range(d):
            for i in range(n):
                centres[labels[i], a] += XT[a, i]
        for j in range(k):
            for a in range(d):
                centres[j, a] /= counts[j] if counts[j] > 0 else 1.0
    return centres, labels, distances.sum(), steps, changed
