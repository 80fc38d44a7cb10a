"""The exact maximiser of the expected F-measure under any law of the labels (Waegeman et al. 2014, Section 5).

A prediction with k ones scores 2 |y and h| / (s + k) against a truth with s ones, so its expectation is a *sum over
the labels it names*: label i contributes ``Delta[i, k] = sum_s P(y_i = 1, s ones) 2 / (s + k)``. For each k take the k
largest entries of column k, compare the m sums with P(no label), and keep the best.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from learnable.validation import Result, check_finite_array, check_scalar, probability_tolerance

_CHUNK = 2**22  # entries of Delta that are held at once


@dataclass(frozen=True, eq=False)
class FDecision(Result):
    """Predictions that maximise an expected F-measure; made by `gfm`, `fm_independent` and `brute_force`.

    Attributes
    ----------
    h : ndarray of shape (m,) or (N, m)
        The prediction, zeros and ones.
    value : float or ndarray of shape (N,)
        Its expected F.
    by_size : ndarray of shape (m + 1,) or (N, m + 1)
        The best expected F among predictions with k = 0, ..., m ones.
    """

    h: np.ndarray
    value: float | np.ndarray
    by_size: np.ndarray


def gfm(P, p0, *, sizes=None, beta=1.0):
    """Find the prediction of largest expected F from P(y_i = 1, s ones) alone (Waegeman et al. 2014, Alg. 1).

    Cost for each instance O(m^2 S) for the product with the weights (one BLAS call for many instances), and about
    O(m^2) for the selections: the order of the labels hardly changes from one k to the next, so it is repaired by
    insertion instead of sorted anew. Among equal entries the label with the smaller index is taken, among equal sizes
    the smaller one.

    Parameters
    ----------
    P : array-like of shape (m, S) or (N, m, S)
        ``P[i, j]``: probability that label i is true and `sizes[j]` labels are true in all. Rows may come from
        different models and contradict each other; a row must not sum to more than one. Where P and `p0` hold more
        than one in all, the expected F are divided by what they hold, so that they stay in [0, 1].
    p0 : float or array-like of shape (N,)
        Probability that no label is true.
    sizes : array-like of shape (S,), default=None
        Numbers of true labels that the columns stand for; 1, ..., S if None. Sizes that never occur can be left out.
    beta : float, default=1.0
        F_beta in place of F_1.

    Returns
    -------
    FDecision

    Examples
    --------
    Half of the time no label; else label 0 with one of three others. Label 0 has probability one half, and yet:

    >>> found = gfm([[0.0, 0.5], [0.0, 0.2], [0.0, 0.2], [0.0, 0.1]], 0.5)
    >>> found.h.tolist(), found.value
    ([0, 0, 0, 0], 0.5)
    >>> gfm([[0.5], [0.2], [0.2], [0.1]], 0.0).h.tolist()    # the same marginals, always exactly one label
    [1, 0, 0, 0]
    """
    P = check_finite_array(P, "P")
    if P.ndim not in (2, 3) or 0 in P.shape[-2:]:
        raise ValueError(f"P must have shape (m, S) or (N, m, S), got {P.shape}")
    many = P.reshape(-1, *P.shape[-2:])
    p0 = np.atleast_1d(check_finite_array(p0, "p0"))
    if p0.shape != (len(many),):
        raise ValueError(f"p0 must have one probability for each instance, {len(many)}, got shape {p0.shape}")
    m, n_sizes = many.shape[1:]
    sizes = np.arange(1, n_sizes + 1) if sizes is None else _checked_sizes(sizes, n_sizes)
    if sizes.max() > m:
        raise ValueError(f"sizes must lie in 1..{m}, the number of labels, got {sizes.max()}")
    weights = size_weights(sizes, m, beta)
    slack = probability_tolerance(np.float32)
    if (many < -slack).any() or (many.sum(axis=2) > 1 + slack).any():
        raise ValueError("P must hold probabilities, and no row may sum to more than 1")
    if ((p0 < -slack) | (p0 > 1 + slack)).any():
        raise ValueError(f"p0 must lie in [0, 1], got {p0[(p0 < -slack) | (p0 > 1 + slack)][0]:g}")
    h, by_size = best_sets(many, p0, weights)
    # A set of size s holds s labels: P(s ones) is the sum of a column over s, and at least each entry of it.
    held = np.maximum(p0, 0) + np.maximum(many.sum(axis=1) / sizes, many.max(axis=1)).sum(axis=1)
    by_size[held > 1 + slack] /= held[held > 1 + slack, None]
    if P.ndim == 2:
        return FDecision(h[0], float(by_size[0].max()), by_size[0])
    return FDecision(h, by_size.max(axis=1), by_size)


def size_weights(sizes, m, beta=1.0):
    """The matrix W, (1 + beta^2) / (beta^2 s + k), sizes s in rows and k = 1..m in columns."""
    beta = check_scalar(beta, "beta", low=1e-6, high=1e6)
    return (1 + beta**2) / (beta**2 * np.asarray(sizes, dtype=float)[:, None] + np.arange(1, m + 1))


def best_sets(P, p0, weights):
    """`gfm` for checked arrays: predictions (N, m) and the best value for each size (N, m + 1)."""
    n, m = P.shape[:2]
    h, by_size = np.zeros((n, m), dtype=np.int64), np.empty((n, m + 1))
    step = max(1, _CHUNK // (m * m))
    for start in range(0, n, step):
        part = slice(start, start + step)
        delta = np.matmul(weights.T, np.swapaxes(P[part], 1, 2))  # k in rows, so that a selection reads memory in order
        _select_all(delta, np.ascontiguousarray(p0[part]), h[part], by_size[part])
    return h, by_size


def _checked_sizes(sizes, n_sizes):
    found = check_finite_array(sizes, "sizes", ndim=1)
    whole = (found == np.floor(found)) & (found >= 1) & (found < 2**31)
    if found.size != n_sizes or not whole.all() or np.unique(found).size != n_sizes:
        raise ValueError(f"sizes must be {n_sizes} different positive whole numbers, one for each column of P")
    return found.astype(np.int64)


@njit(cache=True)
def _select_all(delta, p0, h, by_size):
    m = delta.shape[1]
    order = np.empty(m, dtype=np.int64)
    for i in range(delta.shape[0]):
        for j in range(m):
            order[j] = j
        k = top_sums(delta[i], p0[i], order, by_size[i])
        if k > 0:
            for j in range(m):
                order[j] = j
            repair(delta[i, k - 1], order)
            for j in range(k):
                h[i, order[j]] = 1


@njit(cache=True)
def top_sums(delta, p0, order, values):
    """Sum of the k largest entries of row k - 1 for each k, P(no label) for k = 0; returns the first best k."""
    m = delta.shape[0]
    values[0] = p0
    best = 0
    for k in range(1, m + 1):
        row = delta[k - 1]
        repair(row, order)
        total = 0.0
        for j in range(k):
            total += row[order[j]]
        values[k] = total
        if total > values[best]:
            best = k
    return best


@njit(cache=True)
def repair(row, order):
    """Sort `order` so that row[order] falls, by insertion: stable, and linear where the order is nearly right."""
    for j in range(1, order.size):
        label = order[j]
        value = row[label]
        i = j - 1
        while i >= 0 and row[order[i]] < value:
            order[i + 1] = order[i]
            i -= 1
        order[i + 1] = label
