"""Exact empirical risk minimisers for classes with known VC dimension, and the principle itself.

`KIntervalERM` is the workhorse: the best union of at most k intervals, for every number up to k at once, by one dynamic
programme after one sort. Source: Lember 2012, Sec. 2.4–2.5.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from learnable.validation import check_binary, check_class_labels, check_finite_array, check_real_array, check_scalar

__all__ = [
    "FiniteERM",
    "KIntervalERM",
    "Memoriser",
    "RectangleERM",
    "ThresholdERM",
    "density_loss",
    "erm",
    "interval_path",
]


def classification_loss(y, prediction):
    """1 where the prediction is wrong."""
    return (np.asarray(y) != np.asarray(prediction)).astype(float)


def squared_loss(y, prediction):
    """(y − prediction)²: empirical risk minimisation becomes least squares, the population optimum is E[Y | x].

    Examples
    --------
    >>> squared_loss([1, 0], [0.5, 0.5])
    array([0.25, 0.25])
    """
    return (np.asarray(y, float) - np.asarray(prediction, float)) ** 2


def density_loss(y, density):
    """−ln density: empirical risk minimisation becomes maximum likelihood; y is ignored.

    Parameters
    ----------
    y : array-like of shape (n,)
        Ignored.
    density : array-like
        Values of the density at the points.

    Examples
    --------
    >>> density_loss(None, [1.0, 0.5]).round(4).tolist()
    [-0.0, 0.6931]
    """
    density = check_real_array(density, "density")
    if np.isnan(density).any() or (density < 0).any():
        raise ValueError("a density must not be negative")
    with np.errstate(divide="ignore"):
        return -np.log(density)


def empirical_risk(loss, g, X, y=None):
    """Average loss of g on the sample, R_n(g): (2.4.2).

    Parameters
    ----------
    loss : callable
        ``loss(y, g(X))`` gives one value a sample.
    g : callable
    X : array (n, ...)
    y : array (n,), optional
        Left out for density estimation.

    Examples
    --------
    >>> empirical_risk(classification_loss, lambda x: x > 0, [-1.0, 2.0, 3.0], [0, 1, 0])
    0.3333333333333333
    """
    X = np.asarray(X)
    if len(X) == 0:
        raise ValueError("X must hold at least one sample")
    values = np.asarray(loss(y, g(X)), float)
    if values.shape != (len(X),):
        raise ValueError(f"loss must give one value a sample, shape ({len(X)},); got {values.shape}")
    if np.isnan(values).any():
        raise ValueError("loss is NaN for some sample")
    return float(values.mean())


def erm(loss, candidates, X, y=None):
    """The candidate with the smallest empirical risk, its index and its risk; the first of several minimisers.

    Parameters
    ----------
    loss : callable
        ``loss(y, prediction)`` for each point.
    candidates : sequence of callables
        Rules, each maps X to predictions.
    X : array-like of shape (n, d)
    y : array-like of shape (n,), optional

    Examples
    --------
    >>> rules = [lambda x, a=a: x > a for a in (-1.0, 0.0, 1.0)]
    >>> _, index, risk = erm(classification_loss, rules, [-2.0, -0.5, 0.5, 2.0], [0, 0, 1, 1])
    >>> index, risk
    (1, 0.0)
    """
    candidates = list(candidates)
    if not candidates:
        raise ValueError("candidates must not be empty")
    risks = [empirical_risk(loss, g, X, y) for g in candidates]
    index = int(np.argmin(risks))
    return candidates[index], index, risks[index]


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


class ThresholdERM(_BinaryRule):
    """Best half-line rule on one feature: 1 on x > threshold, or (``both_sides``) on x ≤ threshold. O(n log n).

    Parameters
    ----------
    both_sides : bool
        Also try the rules that decide 1 to the left.
    feature : int
        Which column of X to use.

    Attributes
    ----------
    threshold_ : float
    side_ : {1, -1}
        1 if class 1 lies above the threshold.
    train_risk_ : float

    Examples
    --------
    >>> rule = ThresholdERM().fit([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> float(rule.threshold_), rule.train_risk_
    (2.5, 0.0)
    """

    def __init__(self, both_sides=True, feature=0):
        self.both_sides = both_sides
        self.feature = feature

    def fit(self, X, y):
        X, codes = self._prepare(X, y)
        feature = check_scalar(self.feature, "feature", low=0, high=X.shape[1] - 1, integer=True)
        values, zeros, ones = _groups(X[:, feature], codes)
        n1, n0 = ones.sum(), zeros.sum()
        left_ones, left_zeros = np.append(0, ones.cumsum()), np.append(0, zeros.cumsum())
        above = left_ones + (n0 - left_zeros)
        below = left_zeros + (n1 - left_ones)
        cuts = np.concatenate([[-np.inf], 0.5 * values[1:] + 0.5 * values[:-1], [np.inf]])
        best_above, best_below = int(np.argmin(above)), int(np.argmin(below))
        if self.both_sides and below[best_below] < above[best_above]:
            self.side_, self.threshold_, errors = -1, cuts[best_below], below[best_below]
        else:
            self.side_, self.threshold_, errors = 1, cuts[best_above], above[best_above]
        self.train_risk_ = float(errors / len(codes))
        return self

    def predict(self, X):
        x = self._points(X)[:, self.feature]
        return self._decode(x > self.threshold_ if self.side_ == 1 else x <= self.threshold_)


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


def _groups(x, codes):
    """Distinct values in rising order with their counts of zeros and ones."""
    values, where = np.unique(x, return_inverse=True)
    ones = np.bincount(where, weights=codes, minlength=len(values)).astype(np.int64)
    return values, np.bincount(where, minlength=len(values)) - ones, ones


class RectangleERM(_BinaryRule):
    """Best axis-parallel rectangle in the plane, exactly. O(n² log n).

    For each left edge the right edge moves over the points; a tree over the y-order keeps the interval of y with the
    most ones in excess of zeros.

    Attributes
    ----------
    low_, high_ : array (2,)
        Corners of the closed rectangle of class 1; infinite or empty (low above high) where that is best.
    train_risk_ : float

    Examples
    --------
    >>> rule = RectangleERM().fit([[0, 0], [1, 1], [2, 2], [1, 2]], [0, 1, 0, 0])
    >>> rule.train_risk_, rule.predict([[1.1, 0.9]]).tolist()
    (0.0, [1])
    """

    _n_features = 2

    def fit(self, X, y):
        X, codes = self._prepare(X, y)
        if len(self.classes_) == 1:
            codes = np.ones_like(codes)
        order = np.argsort(X[:, 0], kind="stable")
        xs = X[order, 0]
        ys, y_rank = np.unique(X[order, 1], return_inverse=True)
        weight = np.where(codes[order] == 1, 1, -1)
        gain, left, right = _best_box(xs, y_rank, weight, len(ys))
        self.train_risk_ = float((codes.sum() - gain) / len(codes))
        if gain <= 0:
            self.low_, self.high_ = np.array([np.inf, np.inf]), np.array([-np.inf, -np.inf])
            return self
        column = np.bincount(y_rank[left : right + 1], weights=weight[left : right + 1], minlength=len(ys))
        bottom, top = _best_run(column)
        self.low_ = np.array([_between(xs, left - 1, left), _between(ys, bottom - 1, bottom)])
        self.high_ = np.array([_between(xs, right, right + 1), _between(ys, top, top + 1)])
        return self

    def predict(self, X):
        X = self._points(X)
        return self._decode(((self.low_ <= X) & (self.high_ >= X)).all(axis=1))


def _between(values, i, j):
    if i < 0:
        return -np.inf
    if j >= len(values):
        return np.inf
    return 0.5 * values[i] + 0.5 * values[j]


@njit(cache=True)
def _best_box(xs, y_rank, weight, n_rows):
    n = len(xs)
    size = 1
    while size < n_rows:
        size *= 2
    total = np.zeros(2 * size, np.int64)
    head = np.zeros(2 * size, np.int64)
    tail = np.zeros(2 * size, np.int64)
    best = np.zeros(2 * size, np.int64)
    record, left, right = np.int64(0), 0, -1
    for i in range(n):
        if i > 0 and xs[i] == xs[i - 1]:
            continue
        total[:] = 0
        head[:] = 0
        tail[:] = 0
        best[:] = 0
        for j in range(i, n):
            node = size + y_rank[j]
            total[node] += weight[j]
            top = max(total[node], 0)
            head[node] = top
            tail[node] = top
            best[node] = top
            node //= 2
            while node >= 1:
                a, b = 2 * node, 2 * node + 1
                total[node] = total[a] + total[b]
                head[node] = max(head[a], total[a] + head[b])
                tail[node] = max(tail[b], total[b] + tail[a])
                best[node] = max(best[a], best[b], tail[a] + head[b])
                node //= 2
            if (j == n - 1 or xs[j + 1] != xs[j]) and best[1] > record:
                record, left, right = best[1], i, j
    return record, left, right


def _best_run(column):
    """Ends of the run with the largest sum (Kadane)."""
    best, start, stop, current, begin = -np.inf, 0, 0, 0.0, 0
    for i, value in enumerate(column):
        if current <= 0:
            current, begin = 0.0, i
        current += value
        if current > best:
            best, start, stop = current, begin, i
    return start, stop


class FiniteERM(_BinaryRule):
    """Empirical risk minimisation over finitely many given rules, each with a penalty of its own if asked for.

    With penalties C(g, n) it minimises R_n(g) + C(g, n), (2.8.12). Those that obey Kraft's inequality, such as
    √(L(g)/2n) with Σ e^(−L(g)) ≤ 1, hold for countably many rules at once.

    Parameters
    ----------
    rules : sequence of callables
        Each maps X to 0 and 1.
    complexities : array-like of shape (number of rules,) or callable, optional
        C(g, n) of each rule, or n → those numbers. The first of several minimisers is taken.

    Attributes
    ----------
    index_ : int
        The rule that was chosen.
    train_risk_ : float
        Its training error, without the penalty.

    Examples
    --------
    >>> FiniteERM([lambda X: X[:, 0] > 0, lambda X: X[:, 0] > 2]).fit([[1.0], [3.0]], [0, 1]).index_
    1
    >>> rules = [lambda X: X[:, 0] > 9, lambda X: X[:, 0] > 2]
    >>> FiniteERM(rules, complexities=[0.0, 0.6]).fit([[1.0], [3.0]], [0, 1]).index_
    0
    """

    def __init__(self, rules=(), complexities=None):
        self.rules = rules
        self.complexities = complexities

    def fit(self, X, y):
        X, codes = self._prepare(X, y)
        if self.complexities is None:
            _, self.index_, self.train_risk_ = erm(classification_loss, self.rules, X, codes)
            return self
        complexities = self.complexities(len(codes)) if callable(self.complexities) else self.complexities
        complexities = check_finite_array(complexities, "complexities", ndim=1)
        if len(complexities) != len(self.rules) or len(complexities) == 0:
            raise ValueError(f"complexities must hold one number for each of the {len(self.rules)} rules")
        risks = np.array([empirical_risk(classification_loss, rule, X, codes) for rule in self.rules])
        self.index_ = int(np.argmin(risks + complexities))
        self.train_risk_ = float(risks[self.index_])
        return self

    def predict(self, X):
        X = self._points(X)
        return self._decode(np.asarray(self.rules[self.index_](X)).astype(bool))


class Memoriser(_BinaryRule):
    """Repeats the training labels and says ``classes_[0]`` elsewhere: no training error, nothing learned.

    Where a point occurs with both labels, the more frequent one is kept (the lower class on a tie).

    Examples
    --------
    >>> rule = Memoriser().fit([[0.1], [0.2]], [0, 1])
    >>> rule.predict([[0.2], [0.3]]).tolist()
    [1, 0]
    """

    def fit(self, X, y):
        X, codes = self._prepare(X, y)
        points, where = np.unique(X, axis=0, return_inverse=True)
        where = where.ravel()
        ones = np.bincount(where, weights=codes)
        self._known = {point.tobytes() for point in points[2 * ones > np.bincount(where)]}
        if len(self.classes_) == 1:
            self._known = set()
        self.train_risk_ = float((self.predict(X) != self.classes_[codes]).mean())
        return self

    def predict(self, X):
        X = np.ascontiguousarray(self._points(X)) + 0.0
        return self._decode(np.array([row.tobytes() in self._known for row in X], bool))
