"""What the tests of this chapter need besides the package: minimisers, bounds and worked cases of the source."""

import itertools
import math

import numpy as np
from numba import njit

from learnable.chapters.vc_theory.patterns import _pack, _unpack, dichotomies
from learnable.chapters.vc_theory.theory import _costs, classification_loss, empirical_risk, erm
from learnable.foundations.erm import KIntervalERM, _BinaryRule, _inside, interval_path
from learnable.foundations.tail_bounds import TailBound
from learnable.validation import check_rng


class FiniteSetClass:
    """A class of subsets of finitely many ground points, given as a boolean matrix (sets × points)."""

    def __init__(self, M):
        M = np.asarray(M, bool)  # one word holds a set, so that there are at most 62 points
        self.n_points = M.shape[1]
        self._sets = np.unique(_pack(M)[:, 0])

    @classmethod
    def _from_words(cls, words, n_points):
        made = cls.__new__(cls)
        made.n_points, made._sets = n_points, np.unique(words)
        return made

    def __len__(self):
        return len(self._sets)

    @property
    def matrix(self):
        """The distinct sets as rows of booleans."""
        return _unpack(self._sets[:, None], self.n_points)

    def patterns(self, subset):
        """Number of distinct traces on the ground points with these indices."""
        mask = np.uint64(sum(1 << int(i) for i in subset))
        return len(np.unique(self._sets & mask))

    def shatter(self, n):
        """Shatter coefficient: the largest number of traces on n ground points. Cost C(g, n) · m log m."""
        most, ceiling = 0, min(2**n, len(self))
        for subset in itertools.combinations(range(self.n_points), n):
            most = max(most, self.patterns(subset))
            if most == ceiling:
                break
        return most

    def vc(self):
        """VC dimension. Sizes are tried upwards; by monotonicity the first that is not shattered ends the search."""
        best = 0
        for n in range(1, min(self.n_points, int(math.log2(len(self)))) + 1):
            if self.shatter(n) < 2**n:
                break
            best = n
        return best

    def union(self, other):
        """The class of all sets of either class."""
        return self._from_words(np.concatenate([self._sets, other._sets]), self.n_points)

    def complement(self):
        """The class of complements."""
        everything = np.uint64((1 << self.n_points) - 1)
        return self._from_words(self._sets ^ everything, self.n_points)

    def intersections(self, other):
        """The class of all A ∩ B."""
        return self._from_words((self._sets[:, None] & other._sets[None, :]).ravel(), self.n_points)

    def unions(self, other):
        """The class of all A ∪ B."""
        return self._from_words((self._sets[:, None] | other._sets[None, :]).ravel(), self.n_points)

    def product(self, other):
        """The class of all A × B on pairs of ground points."""
        left, right = self.matrix, other.matrix
        both = left[:, None, :, None] & right[None, :, None, :]
        return FiniteSetClass(both.reshape(len(left) * len(right), -1))

    def error_sets(self, labels):
        """The class of error sets {i : 1_A(i) ≠ labels_i}; it has the same shatter coefficients."""
        flip = np.uint64(sum(1 << i for i in np.flatnonzero(labels)))
        return self._from_words(self._sets ^ flip, self.n_points)


class ThresholdERM(_BinaryRule):
    """Best half-line rule on one feature: 1 on x > threshold, or (``both_sides``) on x ≤ threshold. O(n log n)."""

    def __init__(self, both_sides=True, feature=0):
        self.both_sides = both_sides
        self.feature = feature

    def fit(self, X, y):
        X, codes = self._prepare(X, y)
        values, zeros, ones = _groups(X[:, self.feature], codes)
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


def _groups(x, codes):
    """Distinct values in rising order with their counts of zeros and ones."""
    values, where = np.unique(x, return_inverse=True)
    ones = np.bincount(where, weights=codes, minlength=len(values)).astype(np.int64)
    return values, np.bincount(where, minlength=len(values)) - ones, ones


class RectangleERM(_BinaryRule):
    """Best axis-parallel rectangle in the plane, exactly. O(n² log n)."""

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
    """Best gain of a box and its ends along x: a segment tree over y keeps the best run as points are added."""
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
    """Empirical risk minimisation over finitely many given rules, each with a penalty of its own if asked for."""

    def __init__(self, rules=(), complexities=None):
        self.rules = rules
        self.complexities = complexities

    def fit(self, X, y):
        X, codes = self._prepare(X, y)
        if self.complexities is None:
            _, self.index_, self.train_risk_ = erm(classification_loss, self.rules, X, codes)
            return self
        complexities = self.complexities(len(codes)) if callable(self.complexities) else self.complexities
        risks = np.array([empirical_risk(classification_loss, rule, X, codes) for rule in self.rules])
        self.index_ = int(np.argmin(risks + np.asarray(complexities)))
        self.train_risk_ = float(risks[self.index_])
        return self

    def predict(self, X):
        X = self._points(X)
        return self._decode(np.asarray(self.rules[self.index_](X)).astype(bool))


def hoeffding():
    """One fixed set, 2 exp(−2nε²), (2.7.1); with Massart's sharp constant it holds for all half-lines at once (DKW)."""
    return TailBound(np.log(2.0), 0.0, 2.0)


def finite_class(size):
    """A class of ``size`` sets: 2|A| exp(−2nε²), (2.7.2)."""
    return TailBound(np.log(2.0) + np.log(size), 0.0, 2.0)


def vapnik_tail(V):
    """Vapnik's variant: 4 S(2n) exp(−n(ε − 1/n)²), (2.7.17), with S(2n) ≤ (2n+1)^V; for ε > 1/n."""
    return TailBound(np.log(4.0), V, 1.0, shift=1.0, samples=2.0)


def zero_error_tail(V):
    """Where some classifier of the class never errs: 2 S(2n) 2^(−nε/2), with S(2n) ≤ (2n+1)^V. Linear in ε."""
    return TailBound(np.log(2.0), V, 0.5 * np.log(2.0), samples=2.0, power=1.0)


class SieveERM(_BinaryRule):
    """Empirical risk minimisation in a class that grows with n: by default unions of k(n) intervals."""

    def __init__(self, k_of_n=None, member=None):
        self.k_of_n = k_of_n
        self.member = member

    def fit(self, X, y):
        X, codes = self._prepare(X, y)
        k = (self.k_of_n or (lambda n: int(np.ceil(round(n ** (1 / 3), 9)))))(len(codes))
        if self.member is not None:
            self.k_, self.estimator_ = k, self.member(k).fit(X, codes)
            return self
        self.k_ = min(k, (len(codes) + 1) // 2 or 1)  # more intervals than that change nothing
        self.estimator_ = KIntervalERM(self.k_).fit(X, codes)
        self.intervals_ = self.estimator_.intervals_
        return self

    def predict(self, X):
        X = self._points(X)
        return self._decode(np.asarray(self.estimator_.predict(X)) == 1)


def penalised_minimum(x, y, k_max, rule="lugosi", **options):
    """SRM as one minimisation over the union of all classes: (2.8.6), by giving each set its own penalty."""
    path = interval_path(x, y, k_max)
    k = np.arange(1, k_max + 1)
    cost = _costs(rule, 2.0 * k, len(x), k, **options)
    best = (np.inf, None, None)
    for limit in k:
        intervals = path.intervals(int(limit))
        used = max(len(intervals), 1)  # the smallest class that holds this set
        value = float(np.mean(_inside(x, intervals) != (np.asarray(y) == 1)) + cost[used - 1])
        if value < best[0]:
            best = (value, used, intervals)
    return best[1], best[2], best[0]


_ON_THE_LINE = ("half_lines", "intervals", "k_intervals")


def vc_dimension(family, d=1, k=None):
    """The size of the largest set that a family shatters; for balls the exact d + 1 (the source quotes d + 2)."""
    if family == "k_intervals":
        return 2 * k
    values = {"half_lines": 1, "intervals": 2, "orthants": d, "rectangles": 2 * d, "halfspaces": d + 1, "balls": d + 1}
    return math.inf if family == "polygons" else values[family]


def find_shattered_set(family, n, d=1, k=None, n_restarts=200, random_state=None):
    """Look for n points that the family shatters: first the textbook's arrangement, then random ones."""
    rng = check_rng(random_state)
    if family in _ON_THE_LINE:
        d = 1
    for points in itertools.chain(_arrangements(family, n, d), (rng.normal(size=(n, d)) for _ in range(n_restarts))):
        if len(dichotomies(points, family, k)) == 2**n:
            return points
    return None


def _arrangements(family, n, d):
    if family in _ON_THE_LINE:
        yield np.arange(n, dtype=float)[:, None]
    elif family == "orthants" and n <= d:
        yield np.eye(d)[:n]
    elif family == "rectangles" and n <= 2 * d:
        yield np.concatenate([np.eye(d), -np.eye(d)])[:n]
    elif family in ("halfspaces", "balls") and n <= d + 1:
        yield np.concatenate([np.eye(d), np.full((1, d), -0.3)])[:n]
    elif family == "polygons":
        angle = 2 * np.pi * (np.arange(n) + 0.1) / n
        yield np.column_stack([np.cos(angle), np.sin(angle)])
