"""Exact empirical risk minimisers for classes with known VC dimension, and the principle itself.

`KIntervalERM` is the workhorse: the best union of at most k intervals, for every number up to k at once, by one dynamic
programme after one sort. Source: Lember 2012, Sec. 2.4–2.5.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from learnable.validation import check_binary, check_class_labels, check_finite_array, check_scalar

__all__ = ["KIntervalERM", "interval_path"]


class _BinaryRule(ClassifierMixin, BaseEstimator):
    """Two classes in, 0/1 inside; ``classes_[1]`` is the class of the set that is fitted."""

    _n_features = None

    def _prepare(self, X, y):
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_class_labels(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        check_binary(self.classes_)
        if self._n_features is not None and X.shape[1] != self._n_features:
            raise ValueError(f"X must have {self._n_features} feature(s), got {X.shape[1]} features")
        return X, codes.astype(np.uint8)

    def _decode(self, inside):
        return self.classes_[np.where(inside, len(self.classes_) - 1, 0)]

    def _points(self, X):
        check_is_fitted(self)
        return validate_data(self, X, reset=False, dtype=np.float64)

    def risk_exact(self, problem, L=None):
        """Risk under a known law: ``problem.risk`` of the fitted rule (a problem of the first chapter's kind)."""
        check_is_fitted(self)

        def rule(x):
            return np.searchsorted(self.classes_, self.predict(_as_column(x))) if len(x) else np.zeros(0, int)

        return float(problem.risk(rule, L))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True
        return tags


def _as_column(x):
    x = np.asarray(x, float)
    return x[:, None] if x.ndim == 1 else x


class KIntervalERM(_BinaryRule):
    """Best union of at most k intervals on the line; one pass gives the minimiser for every k' ≤ k.

    Points with equal x and different labels cannot be told apart, and are never split. Runs of equal labels are merged
    first; then a programme over 2k + 1 alternating states moves along the runs. O(n log n + mk) with m ≤ n runs.

    Parameters
    ----------
    k : int

    Attributes
    ----------
    intervals_ : array (j, 2)
        Closed intervals [a, b] of class 1, j ≤ k, with ends half-way to the neighbouring points.
    errors_ : array (k + 1,)
        Smallest number of training errors with at most 0, 1, …, k intervals.
    train_risk_ : float

    Examples
    --------
    >>> X = [[1.0], [2.0], [3.0], [4.0], [5.0]]
    >>> rule = KIntervalERM(k=2).fit(X, [1, 0, 1, 1, 0])
    >>> rule.errors_.tolist(), rule.intervals(1).tolist()
    ([3, 1, 0], [[-inf, 4.5]])
    """

    _takes = "one feature"

    _n_features = 1

    def __init__(self, k=1):
        self.k = k

    def fit(self, X, y):
        k = check_scalar(self.k, "k", low=1, integer=True)
        X, codes = self._prepare(X, y)
        if len(self.classes_) == 1:
            codes = np.ones_like(codes)
        self._path = interval_path(X[:, 0], codes, k)
        self.errors_ = self._path.errors
        self.intervals_ = self._path.intervals(k)
        self.train_risk_ = float(self.errors_[k] / len(codes))
        return self

    def intervals(self, k):
        """The minimiser with at most k intervals, for any k up to that of the fit."""
        check_is_fitted(self)
        return self._path.intervals(k)

    def predict(self, X):
        return self._decode(_inside(self._points(X)[:, 0], self.intervals_))


def _inside(x, intervals):
    if len(intervals) == 0:
        return np.zeros(len(x), bool)
    return np.searchsorted(intervals.ravel(), x) % 2 == 1


class interval_path:
    """Training errors and minimisers of unions of 0, 1, …, k intervals: the engine behind `KIntervalERM`.

    Parameters
    ----------
    x : array (n,)
    y : array (n,) of 0 and 1
    k : int

    Attributes
    ----------
    errors : array (k + 1,) of int

    Examples
    --------
    >>> interval_path([1.0, 2.0, 3.0], [1, 0, 1], 2).errors.tolist()
    [2, 1, 0]
    """

    def __init__(self, x, y, k):
        x = check_finite_array(x, "x", ndim=1)
        y = np.asarray(y)
        if y.shape != x.shape or len(x) == 0 or not ((y == 0) | (y == 1)).all():
            raise ValueError("y must hold a 0 or 1 for each x, and x must not be empty")
        k = check_scalar(k, "k", low=1, integer=True)
        order = np.argsort(x)
        self._x = x[order]
        self._end, zeros, ones = _runs(self._x, y.astype(np.uint8)[order])
        costs, self._back = _segment(zeros, ones, 2 * k + 1)
        by_state = np.minimum.accumulate(costs)
        self.errors = by_state[::2].astype(np.int64)
        self._costs = costs
        self.k = k

    def intervals(self, k):
        """The best intervals, at most k of them, as rows [a, b]."""
        k = check_scalar(k, "k", low=0, high=self.k, integer=True)
        state = int(np.argmin(self._costs[: 2 * k + 1]))
        states = _trace(self._back, state)
        inside = states % 2 == 1
        change = np.flatnonzero(np.diff(np.concatenate([[False], inside, [False]]).astype(np.int8)))
        begins, ends = change[::2], change[1::2]
        x, end = self._x, self._end
        low = np.array([-np.inf if b == 0 else 0.5 * x[end[b - 1]] + 0.5 * x[end[b - 1] + 1] for b in begins])
        high = np.array([np.inf if e == len(end) else 0.5 * x[end[e - 1]] + 0.5 * x[end[e - 1] + 1] for e in ends])
        return np.column_stack([low, high]) if len(begins) else np.empty((0, 2))


@njit(cache=True)
def _runs(x, y):
    """Merge sorted points into runs: equal x always together, then neighbours with one and the same label."""
    n = len(x)
    end = np.empty(n, np.int64)
    zeros = np.empty(n, np.int32)
    ones = np.empty(n, np.int32)
    m = -1
    i = 0
    while i < n:
        j = i
        n1 = np.int32(0)
        value = x[i]
        while j < n and x[j] == value:
            n1 += y[j]
            j += 1
        n0 = np.int32(j - i) - n1
        if m >= 0 and ((n0 == 0 and zeros[m] == 0) or (n1 == 0 and ones[m] == 0)):
            zeros[m] += n0
            ones[m] += n1
        else:
            m += 1
            zeros[m] = n0
            ones[m] = n1
        end[m] = j - 1
        i = j
    return end[: m + 1].copy(), zeros[: m + 1].copy(), ones[: m + 1].copy()


@njit(cache=True)
def _segment(zeros, ones, n_states):
    """Least errors to be in state s after each run; odd states are inside an interval. A back-pointer is one bit."""
    m = len(zeros)
    words = (n_states + 31) // 32
    back = np.zeros((m, words), np.uint32)
    big = np.int32(2**30)
    old = np.full(n_states + 1, big, np.int32)
    new = np.full(n_states + 1, big, np.int32)
    moved = np.zeros(n_states + 1, np.uint32)
    bit = np.empty(n_states + 1, np.uint32)
    for s in range(n_states + 1):
        bit[s] = np.uint32(1) << np.uint32(max(s - 1, 0) % 32)
    # Slot s + 1 holds state s; slot 0 is a wall, so that the inner loop has no branch.
    old[1] = 0
    cost = np.empty(n_states + 1, np.int32)
    for r in range(m):
        outside, inside = ones[r], zeros[r]
        for s in range(1, n_states + 1, 2):
            cost[s] = outside
        for s in range(2, n_states + 1, 2):
            cost[s] = inside
        for s in range(1, n_states + 1):
            stay, step = old[s], old[s - 1]
            new[s] = min(stay, step) + cost[s]
            moved[s] = bit[s] if step < stay else np.uint32(0)
        for w in range(words):
            word = np.uint32(0)
            for s in range(1 + 32 * w, min(n_states, 32 * (w + 1)) + 1):
                word |= moved[s]
            back[r, w] = word
        old, new = new, old
        old[0] = big
    return old[1:].copy(), back


@njit(cache=True)
def _trace(back, state):
    m = len(back)
    states = np.empty(m, np.int32)
    for r in range(m - 1, -1, -1):
        states[r] = state
        if back[r, state // 32] >> np.uint32(state % 32) & np.uint32(1):
            state -= 1
    return states
