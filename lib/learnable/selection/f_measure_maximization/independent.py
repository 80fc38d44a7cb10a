"""The maximiser of the expected F-measure where the labels are independent, and where exactly one label is true.

With independent labels the best prediction with k ones names the k most probable labels (Lewis 1995), so that m + 1
predictions remain; dynamic programming finds the expected F of all of them together in O(m^2) (Ye et al. 2012).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from learnable.selection.f_measure_maximization.general import FDecision
from learnable.validation import check_choice, check_finite_array, check_probabilities, check_probability_vector

__all__ = ["categorical_f", "fm_independent", "fm_rows", "top_k_values"]


def fm_independent(p):
    """Find the prediction of largest expected F for independent labels (Ye et al. 2012). Cost O(m^2) an instance.

    Parameters
    ----------
    p : array-like of shape (m,) or (N, m)
        Probability of each label.

    Returns
    -------
    FDecision

    Examples
    --------
    A label of probability 0.3 is worth naming, though no label is more probable than one half:

    >>> found = fm_independent([0.5, 0.4, 0.3])
    >>> found.h.tolist(), found.by_size.round(3).tolist()
    ([1, 1, 1], [0.21, 0.393, 0.496, 0.512])
    """
    p = _checked(p)
    h, by_size = fm_rows(np.atleast_2d(p))
    if p.ndim == 1:
        return FDecision(h[0], float(by_size[0].max()), by_size[0])
    return FDecision(h, by_size.max(axis=1), by_size)


def top_k_values(p, *, method="ye"):
    """Expected F of the k most probable of independent labels, for k = 0, ..., m, by one of four roads.

    "ye" shares the work between all k, O(m^2). "chai" runs one recursion for each k, O(m^3) (Chai 2005; its start value
    is I_1(k), printed as I_1(m) in the source). "jansche" sums over pairs (hits, misses), O(m^3) here (Jansche 2007).
    "lewis" puts the expected number of true labels into the ratio, O(m): an approximation.

    Parameters
    ----------
    p : array-like of shape (m,)
        Probability of each label, in any order.
    method : {"ye", "chai", "jansche", "lewis"}, default="ye"

    Returns
    -------
    ndarray of shape (m + 1,)

    Examples
    --------
    >>> [top_k_values([0.5, 0.4, 0.3], method=name)[3].round(3).item() for name in ("ye", "chai", "jansche", "lewis")]
    [0.512, 0.512, 0.512, 0.571]
    """
    check_choice(method, "method", ("ye", "chai", "jansche", "lewis"))
    p = _checked(p)
    if p.ndim != 1:
        raise ValueError(f"p must have 1 dimension, got shape {p.shape}")
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
    """Find the prediction of largest expected F where exactly one label is true (del Coz et al. 2009).

    Name the most probable labels until the sum of those named is at least (1 + k) times the next one. Cost O(m log m).

    Parameters
    ----------
    p : array-like of shape (m,)
        Probability of each class; sums to one.

    Returns
    -------
    ndarray of shape (m,)
        Zeros and ones: a set of classes.

    Examples
    --------
    >>> categorical_f([0.6, 0.2, 0.2]).tolist(), categorical_f([0.5, 0.45, 0.05]).tolist()
    ([1, 0, 0], [1, 1, 0])
    """
    p = check_probability_vector(p, "p")
    order = np.argsort(-p, kind="stable")
    sums, sizes = np.cumsum(p[order])[:-1], np.arange(1, p.size)
    stop = np.flatnonzero(sums >= (1 + sizes) * p[order][1:])
    h = np.zeros(p.size, dtype=np.int64)
    h[order[: (stop[0] + 1 if stop.size else p.size)]] = 1
    return h


def fm_rows(p, allow_empty=True):
    """`fm_independent` for a checked (N, m) array: predictions and the values of all sizes."""
    order = np.argsort(-p, axis=1, kind="stable")
    ranked = np.take_along_axis(p, order, axis=1)
    by_size = np.empty((p.shape[0], p.shape[1] + 1))
    _ye(np.ascontiguousarray(ranked), by_size)
    k = by_size.argmax(axis=1) if allow_empty else 1 + by_size[:, 1:].argmax(axis=1)
    named = np.arange(p.shape[1]) < k[:, None]
    h = np.zeros(p.shape, dtype=np.int64)
    np.put_along_axis(h, order, named.astype(np.int64), axis=1)
    return h, by_size


def _checked(p):
    p = check_probabilities(check_finite_array(p, "p"), "p")
    if p.ndim not in (1, 2) or 0 in p.shape:
        raise ValueError(f"p must have shape (m,) or (N, m), got {p.shape}")
    return p


@njit(cache=True)
def _ye(p, by_size):
    """Rows of p fall. ``hits[k, j]``: P(j of the first k true); ``rest[a]``: E 1 / (a + number true after the k-th)."""
    n, m = p.shape
    hits = np.zeros((m + 1, m + 1))
    rest = np.empty(2 * m + 1)
    for i in range(n):
        hits[0, 0] = 1.0
        for k in range(1, m + 1):
            q = p[i, k - 1]
            hits[k, 0] = (1 - q) * hits[k - 1, 0]
            for j in range(1, k):
                hits[k, j] = (1 - q) * hits[k - 1, j] + q * hits[k - 1, j - 1]
            hits[k, k] = q * hits[k - 1, k - 1]
        for a in range(1, 2 * m + 1):
            rest[a] = 1.0 / a
        by_size[i, 0] = hits[m, 0]
        for k in range(m, 0, -1):
            total = 0.0
            for j in range(1, k + 1):
                total += j * hits[k, j] * rest[k + j]
            by_size[i, k] = 2 * total
            q = p[i, k - 1]
            for a in range(1, 2 * k):
                rest[a] = q * rest[a + 1] + (1 - q) * rest[a]


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
