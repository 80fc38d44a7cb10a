"""A law of the labels as a table of label vectors with weights, and the predictions that it asks for.

A table may be a law (all vectors with their probabilities), a sample, or the neighbours of a point: the rules are the
same. Five of them, by the names of Waegeman et al. (2014): MM takes each label's more probable value, JM the most
frequent vector, FM the F-maximiser as if labels were independent, GFM the exact F-maximiser; "threshold" is the best
set that a threshold on the marginals can give, judged by the law itself.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from learnable.selection.f_measure_maximization.general import FDecision, best_sets, size_weights
from learnable.selection.f_measure_maximization.independent import fm_rows
from learnable.selection.f_measure_maximization.measures import check_label_rows, f_measure
from learnable.validation import check_choice, check_scalar, check_weights

__all__ = ["RULES", "GroupDecisions", "brute_force", "decide", "expected_f", "rule_sets", "size_probabilities"]

RULES = ("MM", "JM", "FM", "GFM", "threshold")
_MOST_LABELS = 16
_CHUNK = 2**22


def expected_f(Y, h, *, sample_weight=None, beta=1.0):
    """Expected F-measure of predictions under a law or a sample. Cost O(n m) for each prediction.

    Parameters
    ----------
    Y : array-like of shape (n, m)
        Label vectors.
    h : array-like of shape (m,) or (r, m)
        One prediction, or several.
    sample_weight : array-like of shape (n,), default=None
        Their probabilities, up to a factor; equal if None.
    beta : float, default=1.0
        F_beta in place of F_1.

    Returns
    -------
    float or ndarray of shape (r,)

    Examples
    --------
    >>> expected_f([[0, 0], [1, 1]], [[0, 0], [1, 1], [1, 0]], sample_weight=[0.5, 0.5]).round(3).tolist()
    [0.5, 0.5, 0.333]
    """
    Y, weights = _law(Y, sample_weight)
    one = np.ndim(h) == 1
    H = check_label_rows(np.atleast_2d(h) if one else h, "h")
    if H.shape[1] != Y.shape[1]:
        raise ValueError(f"h must have {Y.shape[1]} labels, got {H.shape[1]}")
    values = [weights @ f_measure(Y, np.broadcast_to(row, Y.shape), average=None, beta=beta) for row in H]
    return float(values[0]) if one else np.array(values)


def brute_force(Y, *, sample_weight=None, beta=1.0):
    """Find the F-maximiser by looking at all 2^m predictions. Cost O(n 2^m), for m up to 16.

    Parameters
    ----------
    Y : array-like of shape (n, m)
        Label vectors.
    sample_weight : array-like of shape (n,), default=None
        Their probabilities, up to a factor; equal if None.
    beta : float, default=1.0
        F_beta in place of F_1.

    Returns
    -------
    FDecision
        Among equal values the prediction with fewer ones, then the one that names the smaller indices.

    Examples
    --------
    >>> brute_force([[0, 0, 1], [0, 1, 1], [1, 1, 0]]).h.tolist()
    [0, 1, 1]
    """
    Y, weights = _law(Y, sample_weight)
    m = Y.shape[1]
    if m > _MOST_LABELS:
        raise ValueError(f"Y must have at most {_MOST_LABELS} labels for a search of all predictions, got {m}")
    beta = check_scalar(beta, "beta", low=1e-6, high=1e6)
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
    """Count P(y_i = 1, s ones) and P(no label): all that `gfm` needs of a law or a sample. Cost O(n m).

    Parameters
    ----------
    Y : array-like of shape (n, m)
        Label vectors.
    sample_weight : array-like of shape (n,), default=None
        Their probabilities, up to a factor; equal if None.

    Returns
    -------
    P : ndarray of shape (m, m)
        Sizes s = 1, ..., m in columns.
    p0 : float

    Examples
    --------
    >>> P, p0 = size_probabilities([[1, 0], [1, 1], [0, 0], [1, 0]])
    >>> P.tolist(), p0
    ([[0.5, 0.25], [0.0, 0.25]], 0.25)
    """
    Y, weights = _law(Y, sample_weight)
    sizes = Y.sum(axis=1)
    one_hot = np.zeros((len(Y), Y.shape[1] + 1))
    one_hot[np.arange(len(Y)), sizes] = weights
    return np.minimum(Y.T.astype(float) @ one_hot[:, 1:], 1.0), float(min(one_hot[:, 0].sum(), 1.0))


def decide(Y, rule="GFM", *, sample_weight=None):
    """Predict from a law or a sample of label vectors, by one of five rules. Cost O(n m + m^3).

    Parameters
    ----------
    Y : array-like of shape (n, m)
        Label vectors.
    rule : {"MM", "JM", "FM", "GFM", "threshold"}, default="GFM"
        Marginal modes (a probability of exactly one half counts as yes), joint mode (among equally frequent vectors the
        one that comes first in Y), F-maximiser for independent labels, exact F-maximiser, best threshold on marginals.
    sample_weight : array-like of shape (n,), default=None
        Their probabilities, up to a factor; equal if None.

    Returns
    -------
    ndarray of shape (m,)

    Examples
    --------
    Two labels that exclude each other, and sometimes none:

    >>> Y, p = [[1, 0], [0, 1], [0, 0]], [0.45, 0.45, 0.1]
    >>> [decide(Y, rule, sample_weight=p).tolist() for rule in ("MM", "JM", "GFM")]
    [[0, 0], [1, 0], [1, 1]]
    """
    check_choice(rule, "rule", RULES)
    Y, weights = _law(Y, sample_weight)
    groups = GroupDecisions(Y)
    return groups.decide(np.array([0, len(Y)]), np.arange(len(Y)), rule, weights)[0]


class GroupDecisions:
    """Predictions for many groups of the rows of one table: neighbourhoods, leaves, bags."""

    def __init__(self, Y):
        self.Y = Y
        self.sizes = Y.sum(axis=1)
        self.seen, self.column = np.unique(self.sizes[self.sizes > 0], return_inverse=True)
        self._codes = None

    def decide(self, starts, members, rule, weights=None, allow_empty=True):
        """Predictions (N, m) for the groups ``members[starts[i]:starts[i + 1]]``."""
        if rule == "JM":
            return self.Y[self._joint_modes(starts, members, weights)].astype(np.int64)
        n, m = len(starts) - 1, self.Y.shape[1]
        h = np.empty((n, m), dtype=np.int64)
        step = max(1, _CHUNK // (m * max(1, self.seen.size)))
        for first in range(0, n, step):
            last = min(first + step, n)
            P, p0 = self.probabilities(starts[first : last + 1], members, weights)
            h[first:last] = rule_sets(P, p0, self.seen, rule, allow_empty)
        return h

    def probabilities(self, starts, members, weights=None):
        """P (N, m, number of sizes seen) and p0 (N,) of the groups."""
        n, m = len(starts) - 1, self.Y.shape[1]
        P, p0 = np.zeros((n, m, max(1, self.seen.size))), np.zeros(n)
        columns = np.full(len(self.Y), -1)
        columns[self.sizes > 0] = self.column
        weights = np.ones(len(members)) if weights is None else weights
        _count(self.Y, columns, starts, members, weights, P, p0)
        return P, p0

    def _joint_modes(self, starts, members, weights):
        if self._codes is None:
            packed = np.ascontiguousarray(np.packbits(self.Y, axis=1))
            self._codes = np.unique(packed, axis=0, return_inverse=True)[1].ravel().astype(np.int64)
        weights = np.ones(len(members)) if weights is None else weights
        return _modes(self._codes, starts, members, weights)


def rule_sets(P, p0, sizes, rule, allow_empty=True):
    """Predictions (N, m) from P (N, m, S) and p0 by any rule but JM, for checked arrays.

    Without `allow_empty` the rules for F leave the empty prediction out of the comparison.
    """
    m = P.shape[1]
    sizes = sizes if len(sizes) else np.ones(1, dtype=np.int64)
    marginals = np.clip(P.sum(axis=2), 0.0, 1.0)
    if rule == "MM":
        return (marginals >= 0.5 - 1e-12).astype(np.int64)
    if rule == "FM":
        return fm_rows(marginals, allow_empty)[0]
    weights = size_weights(sizes, m)
    p0 = p0 if allow_empty else np.full(len(P), -1.0)
    if rule == "GFM":
        return best_sets(P, p0, weights)[0]
    return _thresholds(P, p0, marginals, weights)


def all_vectors(m):
    """All 2^m rows of zeros and ones, by number of ones, then with ones at small indices first."""
    rows = (np.arange(2**m)[:, None] >> np.arange(m - 1, -1, -1)) & 1
    return rows[np.lexsort([*(-rows.T[::-1]), rows.sum(axis=1)])].astype(float)


def _thresholds(P, p0, marginals, weights):
    """The best of the sets {i: marginal >= t}: labels of equal probability come together."""
    n, m = marginals.shape
    order = np.argsort(-marginals, axis=1, kind="stable")
    ranked = np.take_along_axis(marginals, order, axis=1)
    delta = np.take_along_axis(P @ weights, order[:, :, None], axis=1)
    values = np.einsum("nkk->nk", np.cumsum(delta, axis=1)).copy()
    values[:, :-1][ranked[:, :-1] <= ranked[:, 1:] + 1e-12] = -1.0  # the next label has the same probability
    values = np.column_stack([p0, values])
    named = np.arange(m) < values.argmax(axis=1)[:, None]
    h = np.zeros((n, m), dtype=np.int64)
    np.put_along_axis(h, order, named.astype(np.int64), axis=1)
    return h


def _law(Y, sample_weight):
    Y = check_label_rows(Y)
    weights = check_weights(sample_weight, len(Y))
    if weights is None:
        return Y, np.full(len(Y), 1 / len(Y))
    weights = weights / weights.max()
    return Y, weights / weights.sum()


@njit(cache=True)
def _count(Y, columns, starts, members, weights, P, p0):
    for i in range(len(starts) - 1):
        total = 0.0
        for at in range(starts[i], starts[i + 1]):
            row, weight = members[at], weights[at]
            total += weight
            column = columns[row]
            if column < 0:
                p0[i] += weight
                continue
            for label in range(Y.shape[1]):
                if Y[row, label]:
                    P[i, label, column] += weight
        if total > 0:
            for label in range(P.shape[1]):
                for k in range(P.shape[2]):
                    P[i, label, k] /= total
            p0[i] /= total


@njit(cache=True)
def _modes(codes, starts, members, weights):
    """For each group the row of its most frequent vector; among equals the vector that comes first."""
    found = np.empty(len(starts) - 1, dtype=np.int64)
    counts = np.zeros(codes.max() + 1)
    for i in range(len(starts) - 1):
        for at in range(starts[i], starts[i + 1]):
            counts[codes[members[at]]] += weights[at]
        best = starts[i]
        for at in range(starts[i] + 1, starts[i + 1]):
            if counts[codes[members[at]]] > counts[codes[members[best]]] * (1 + 1e-12):
                best = at
        found[i] = members[best]
        for at in range(starts[i], starts[i + 1]):
            counts[codes[members[at]]] = 0.0
    return found
