"""Expected F-measures by other ways than the fast one, and all predictions by force."""

from __future__ import annotations

import numpy as np
from numba import njit

from learnable.selection.f_measures.distributions import GroupDecisions
from learnable.selection.f_measures.general import FDecision
from learnable.selection.f_measures.independent import _checked, fm_rows
from learnable.selection.f_measures.measures import f_measure
from learnable.validation import check_probability_vector, check_weights, check_zero_one


def top_k_values(p, *, method="ye"):
    """Expected F of the k most probable of independent labels, for k = 0, ..., m, by one of four roads."""
    p = _checked(p)
    if method == "ye":
        return fm_rows(p[None])[1][0]
    p = np.sort(p)[::-1].copy()
    values = np.empty(p.size + 1)
    values[0] = np.prod(1 - p)
    if method == "lewis":
        sizes = np.arange(1, p.size + 1)
        values[1:] = 2 * np.cumsum(p) / (p.sum() + sizes)
    elif method == "chai":
        _chai(np.clip(p, 1e-12, 1 - 1e-12), values)
    else:
        _jansche(p, values)
    return values


def categorical_f(p):
    """Find the prediction of largest expected F where exactly one label is true (del Coz et al. 2009)."""
    p = check_probability_vector(p, "p")
    order = np.argsort(-p, kind="stable")
    sums, sizes = np.cumsum(p[order])[:-1], np.arange(1, p.size)
    stop = np.flatnonzero(sums >= (1 + sizes) * p[order][1:])
    h = np.zeros(p.size, dtype=np.int64)
    h[order[: (stop[0] + 1 if stop.size else p.size)]] = 1
    return h


@njit(cache=True)
def _chai(p, values):
    """value_k = 2 prod(1 - p) I_1(k); I and J run from the last label to the first, with odds r = p / (1 - p)."""
    m = p.size
    odds = p / (1 - p)
    none = np.exp(np.log1p(-p).sum())
    for k in range(1, m + 1):
        late, early = np.zeros(k + m + 2), np.zeros(k + m + 2)
        for a in range(1, k + m + 2):
            late[a] = 1.0 / a
        for t in range(m, 0, -1):
            r = odds[t - 1]
            for a in range(k, k + t):
                if t <= k:
                    early[a] = early[a] + r * early[a + 1] + r * late[a + 1]
                late[a] = late[a] + r * late[a + 1]
        values[k] = 2 * none * early[k]


@njit(cache=True)
def _jansche(p, values):
    """For each k the laws of the hits among the first k and of the misses among the others, and a double sum."""
    m = p.size
    for k in range(1, m + 1):
        hits, misses = _count_law(p[:k]), _count_law(p[k:])
        total = 0.0
        for j in range(1, k + 1):
            for rest in range(m - k + 1):
                total += 2.0 * j / (j + rest + k) * hits[j] * misses[rest]
        values[k] = total


@njit(cache=True)
def _count_law(p):
    law = np.zeros(p.size + 1)
    law[0] = 1.0
    for t in range(p.size):
        for j in range(t + 1, 0, -1):
            law[j] = (1 - p[t]) * law[j] + p[t] * law[j - 1]
        law[0] *= 1 - p[t]
    return law


def expected_f(Y, h, *, sample_weight=None, beta=1.0):
    """Expected F-measure of predictions under a law or a sample. Cost O(n m) for each prediction."""
    Y, weights = _law(Y, sample_weight)
    one = np.ndim(h) == 1
    H = check_zero_one(np.atleast_2d(h) if one else h, "h")
    values = [weights @ f_measure(Y, np.broadcast_to(row, Y.shape), average=None, beta=beta) for row in H]
    return float(values[0]) if one else np.array(values)


def brute_force(Y, *, sample_weight=None, beta=1.0):
    """Find the F-maximiser by looking at all 2^m predictions. Cost O(n 2^m), for m up to 16."""
    Y, weights = _law(Y, sample_weight)
    m = Y.shape[1]
    H = all_vectors(m)
    sizes, said = Y.sum(axis=1), H.sum(axis=1)
    values = np.zeros(len(H))
    for y, s, weight in zip(Y.astype(float), sizes, weights, strict=True):
        bottom = beta**2 * s + said
        values += weight * np.divide((1 + beta**2) * (H @ y), bottom, out=np.ones(len(H)), where=bottom > 0)
    by_size = np.array([values[said == k].max() for k in range(m + 1)])
    k = int(np.argmax(by_size >= by_size.max() - 1e-14))
    named = np.flatnonzero((said == k) & (values >= by_size[k] - 1e-14))
    return FDecision(H[named[0]].astype(np.int64), float(by_size.max()), by_size)


def size_probabilities(Y, *, sample_weight=None):
    """Count P(y_i = 1, s ones) and P(no label): all that `gfm` needs of a law or a sample. Cost O(n m)."""
    Y, weights = _law(Y, sample_weight)
    sizes = Y.sum(axis=1)
    one_hot = np.zeros((len(Y), Y.shape[1] + 1))
    one_hot[np.arange(len(Y)), sizes] = weights
    return np.minimum(Y.T.astype(float) @ one_hot[:, 1:], 1.0), float(min(one_hot[:, 0].sum(), 1.0))


def decide(Y, rule="GFM", *, sample_weight=None):
    """Predict from a law or a sample of label vectors, by one of five rules. Cost O(n m + m^3)."""
    Y, weights = _law(Y, sample_weight)
    groups = GroupDecisions(Y)
    return groups.decide(np.array([0, len(Y)]), np.arange(len(Y)), rule, weights)[0]


def all_vectors(m):
    """All 2^m rows of zeros and ones, by number of ones, then with ones at small indices first."""
    rows = (np.arange(2**m)[:, None] >> np.arange(m - 1, -1, -1)) & 1
    return rows[np.lexsort([*(-rows.T[::-1]), rows.sum(axis=1)])].astype(float)


def _law(Y, sample_weight):
    Y = check_zero_one(Y, "Y")
    weights = check_weights(sample_weight, len(Y))
    if weights is None:
        return Y, np.full(len(Y), 1 / len(Y))
    weights = weights / weights.max()
    return Y, weights / weights.sum()
