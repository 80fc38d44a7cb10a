"""A law of the labels as a table of label vectors with weights, and the predictions that it asks for.

A table may be a law (all vectors with their probabilities), a sample, or the neighbours of a point: the rules are the
same. Five of them, by the names of Waegeman et al. (2014): MM takes each label's more probable value, JM the most
frequent vector, FM the F-maximiser as if labels were independent, GFM the exact F-maximiser; "threshold" is the best
set that a threshold on the marginals can give, judged by the law itself.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from learnable.selection.f_measures.general import best_sets, size_weights
from learnable.selection.f_measures.independent import fm_rows

RULES = ("MM", "JM", "FM", "GFM", "threshold")
_CHUNK = 2**22


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
