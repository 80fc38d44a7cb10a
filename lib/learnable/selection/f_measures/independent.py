"""The maximiser of the expected F-measure where the labels are independent, and where exactly one label is true.

With independent labels the best prediction with k ones names the k most probable labels (Lewis 1995), so that m + 1
predictions remain; dynamic programming finds the expected F of all of them together in O(m^2) (Ye et al. 2012).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from learnable.selection.f_measures.general import FDecision
from learnable.validation import check_finite_array, check_probabilities


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


def fm_rows(p, allow_empty=True):
    """`fm_independent` for an (N, m) array: predictions and the values of all sizes."""
    p = check_probabilities(p, "p")
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
