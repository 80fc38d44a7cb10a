"""Weak learners for regression: least-squares trees level by level, one linear term, one spline term.

``prepare(X)`` sorts or factorises the features once; the bound learner's ``fit(residuals)`` answers with a rule that
has ``predict(X)`` and its values on the sample (``outputs``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numba import njit
from scipy import linalg
from scipy.interpolate import BSpline

from learnable._inner import cut_between
from learnable.ensembles.sorted_features import SortedFeatures
from learnable.trees.binning import BinnedFeatures, bins_wanted
from learnable.trees.histogram import grow_binned
from learnable.validation import check_finite_array, check_scalar

__all__ = ["ComponentwiseLinear", "ComponentwiseSpline", "LevelTree", "RegressionTree"]

_SHALLOW = 8


@dataclass(frozen=True)
class RegressionTree:
    """Least-squares regression trees of a given depth (depth 1: stumps), all levels from one presort.

    The exact search grows level by level: one pass over every sorted feature serves all nodes of a level, each with
    its own running sum. O(n d) a level, and no index array is ever moved. With many rows the search is over histograms
    instead (`learnable.trees.histogram`).

    Parameters
    ----------
    max_depth : int
    min_samples_leaf : int
    max_bins : {"auto"}, int or None
        None tries every cut. A number from 2 to 256 bins the features first: thresholds lie on the edges of bins, and a
        feature with at most so many different values loses nothing. ``"auto"`` is 256 from 10,000 rows on, for trees of
        depth at most 8.

    Examples
    --------
    >>> rule = RegressionTree(max_depth=1).prepare([[0.0], [1.0], [2.0]]).fit(np.array([1.0, 1.0, 4.0]))
    >>> rule.outputs
    array([1., 1., 4.])
    """

    max_depth: int = 1
    min_samples_leaf: int = 1
    max_bins: int | str | None = "auto"

    def prepare(self, X):
        """Sort or bin the features once; prepared `SortedFeatures` or `BinnedFeatures` are used as they are."""
        depth = check_scalar(self.max_depth, "max_depth", low=1, high=16, integer=True)
        check_scalar(self.min_samples_leaf, "min_samples_leaf", low=1, integer=True)
        features = as_bins(X, self.max_bins, depth)
        if features is not None:
            return BoundBinnedTrees(features, self.max_depth, self.min_samples_leaf)
        return BoundRegressionTrees(
            X if isinstance(X, SortedFeatures) else SortedFeatures(X), self.max_depth, self.min_samples_leaf
        )


def as_bins(X, max_bins, depth):
    """X in bins, where `max_bins` asks for them or ``"auto"`` finds them worth it, else None."""
    if isinstance(X, SortedFeatures | BinnedFeatures):
        return X if isinstance(X, BinnedFeatures) else None
    X = check_finite_array(X, "X", ndim=2)
    bins = bins_wanted(max_bins, len(X))
    # A node costs 256 steps for each feature: with many small nodes the exact search is faster.
    if bins is None or (max_bins == "auto" and (depth is None or depth > _SHALLOW)):
        return None
    return BinnedFeatures(X, bins)


@dataclass(frozen=True)
class LevelTree:
    """A tree of bounded depth in heap order: the children of node v are 2v + 1 and 2v + 2; feature −1 marks a leaf.

    Examples
    --------
    >>> import numpy as np
    >>> tree = LevelTree(np.array([0, -1, -1]), np.array([1.5, 0.0, 0.0]), np.array([0.0, 1.0, 5.0]))
    >>> tree.predict([[0.0], [2.0]])
    array([1., 5.])
    """

    feature: np.ndarray
    threshold: np.ndarray
    value: np.ndarray
    outputs: np.ndarray | None = field(default=None, repr=False, compare=False)

    def apply(self, X):
        """Leaf of each row of X."""
        X = np.asarray(X)
        if X.dtype.kind == "c":
            raise ValueError("X must be an array of real numbers")
        X = np.ascontiguousarray(X, dtype=np.float64)
        needed = int(self.feature.max(initial=-1)) + 1
        if X.ndim != 2 or X.shape[1] < needed:
            raise ValueError(f"X must have at least {needed} columns, the tree asks for them, got shape {X.shape}")
        return _apply_heap(X, self.feature, self.threshold)

    def predict(self, X):
        """The value of each row's leaf."""
        return self.value[self.apply(X)]


class BoundRegressionTrees:
    """`RegressionTree` with its sorted features.

    Examples
    --------
    >>> import numpy as np
    >>> trees = RegressionTree(max_depth=1).prepare([[0.0], [1.0], [2.0], [3.0]])
    >>> isinstance(trees, BoundRegressionTrees)
    True
    >>> trees.fit(np.array([1.0, 1.0, 5.0, 5.0])).predict(np.array([[0.2], [2.4]]))
    array([1., 5.])
    """

    def __init__(self, features, max_depth, min_samples_leaf):
        self.features, self.max_depth, self.min_samples_leaf = features, max_depth, min_samples_leaf
        n = features.shape[0]
        self._inverse = np.concatenate([[np.inf], 1.0 / np.arange(1, n + 1)])

    def split(self, target):
        """Grow a tree; return features and thresholds in heap order, and each sample's leaf."""
        features = self.features
        return _grow_levels(
            features.columns,
            features.order,
            features.values,
            features.check_length(target, "target"),
            self.max_depth,
            self.min_samples_leaf,
            self._inverse,
        )

    def fit(self, residuals):
        """Grow a tree whose leaves hold the means of the residuals."""
        residuals = self.features.check_length(residuals, "residuals")
        feature, threshold, leaf = self.split(residuals)
        count = np.bincount(leaf, minlength=len(feature))
        value = np.bincount(leaf, weights=residuals, minlength=len(feature)) / np.maximum(count, 1)
        return LevelTree(feature, threshold, value, value[leaf])


class BoundBinnedTrees(BoundRegressionTrees):
    """`RegressionTree` with its binned features.

    Examples
    --------
    >>> import numpy as np
    >>> trees = RegressionTree(max_depth=1, max_bins=2).prepare([[0.0], [1.0], [2.0], [3.0]])
    >>> isinstance(trees, BoundBinnedTrees)
    True
    >>> trees.fit(np.array([1.0, 5.0, 5.0, 5.0])).threshold[0]
    np.float64(1.5)
    """

    def __init__(self, features, max_depth, min_samples_leaf):
        self.features, self.max_depth, self.min_samples_leaf = features, max_depth, min_samples_leaf

    def split(self, target):
        """Grow a tree; return features and thresholds in heap order, and each sample's leaf."""
        limits = {"max_depth": self.max_depth, "min_samples_leaf": self.min_samples_leaf}
        tree = grow_binned(self.features, target, **limits)
        size = 2 ** (self.max_depth + 1) - 1
        feature, threshold = np.full(size, -1), np.full(size, np.nan)
        feature[tree.place], threshold[tree.place] = tree.feature, tree.threshold
        return feature, threshold, tree.leaf


@dataclass(frozen=True)
class ComponentwiseLinear:
    """Least squares on the one feature that reduces the squared error most (no intercept).

    Examples
    --------
    >>> rule = ComponentwiseLinear().prepare([[1.0, 0.0], [0.0, 1.0]]).fit(np.array([1.0, -3.0]))
    >>> rule.feature, float(rule.slope)
    (1, -3.0)
    """

    def prepare(self, X):
        """Norms of the features."""
        X = check_finite_array(X, "X", ndim=2)
        return _BoundLinear(X, np.einsum("ij,ij->j", X, X))


@dataclass(frozen=True)
class LinearRule:
    """slope · x[feature]."""

    feature: int
    slope: float
    outputs: np.ndarray | None = field(default=None, repr=False, compare=False)

    def predict(self, X):
        """slope · x[feature] for each row."""
        return self.slope * np.asarray(X, dtype=float)[:, self.feature]


class _BoundLinear:
    def __init__(self, X, squares):
        self.X, self.squares = X, squares

    def fit(self, residuals):
        products = residuals @ self.X
        with np.errstate(divide="ignore", invalid="ignore"):
            gain = np.where(self.squares > 0, products**2 / self.squares, -1.0)
        j = int(gain.argmax())
        slope = products[j] / self.squares[j] if self.squares[j] > 0 else 0.0
        return LinearRule(j, float(slope), slope * self.X[:, j])


@dataclass(frozen=True)
class ComponentwiseSpline:
    """A penalised cubic spline in the one feature that reduces the squared error most.

    Each feature gets cubic B-splines with knots at quantiles and a penalty on the squared second derivative, strong
    enough for `df` effective degrees of freedom: a smoothing spline on a reduced set of knots. Beyond the sample's
    range a spline stays at its end value.

    Parameters
    ----------
    df : float
        Trace of the smoother, above 2.
    n_knots : int
        Largest number of inner knots.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 1, 30)[:, None]
    >>> term = ComponentwiseSpline(df=6).prepare(x).fit(np.sin(6 * x[:, 0]))
    >>> bool(np.mean((term.predict(x) - np.sin(6 * x[:, 0])) ** 2) < 0.01)
    True
    """

    df: float = 4.0
    n_knots: int = 20

    def prepare(self, X):
        """Factorise one smoother for each feature (Demmler–Reinsch form)."""
        check_scalar(self.df, "df", low=2, closed="neither")
        check_scalar(self.n_knots, "n_knots", low=2, integer=True)
        X = check_finite_array(X, "X", ndim=2)
        return _BoundSplines(X, [_Smoother(column, self.df, self.n_knots) for column in X.T])


class _Smoother:
    """r ↦ U diag(1/(1 + λ s)) U'r with orthonormal U: the penalised least-squares fit on one feature."""

    def __init__(self, x, df, n_knots):
        levels = np.unique(x)
        inner = np.unique(np.quantile(levels, np.linspace(0, 1, min(n_knots, len(levels)) + 2)[1:-1]))
        self.low, self.high = levels[0], levels[-1]
        self.usable = len(levels) > 3
        if not self.usable:
            return
        inner = inner[(inner > self.low) & (inner < self.high)]
        self.knots = np.concatenate([[self.low] * 4, inner, [self.high] * 4])
        basis = self.design(x)
        penalty = self._penalty()
        gram = basis.T @ basis
        gram[np.diag_indices_from(gram)] += 1e-10 * np.trace(gram) / len(gram)
        strengths, vectors = linalg.eigh(penalty, gram)
        strengths = np.maximum(strengths, 0.0)
        low, high = -40.0, 60.0
        wanted = min(df, len(strengths) - 1e-6)
        for _ in range(100):
            middle = (low + high) / 2
            low, high = (middle, high) if (1 / (1 + np.exp(middle) * strengths)).sum() > wanted else (low, middle)
        self.shrink = 1 / (1 + np.exp(low) * strengths)
        self.vectors = vectors
        self.rotated = basis @ vectors

    def design(self, x):
        return BSpline.design_matrix(np.clip(x, self.low, self.high), self.knots, 3).toarray()

    def _penalty(self):
        """∫ B_i″ B_j″: the second derivatives are linear between knots, so Simpson's rule is exact."""
        edges = np.unique(self.knots)
        size = len(self.knots) - 4
        second = BSpline(self.knots, np.eye(size), 3).derivative(2)
        penalty = np.zeros((size, size))
        for a, b in pairwise(edges):
            inside = np.array([a + 1e-12 * (b - a), (a + b) / 2, b - 1e-12 * (b - a)])
            for weight, row in zip((1, 4, 1), second(inside), strict=True):
                penalty += weight * (b - a) / 6 * np.outer(row, row)
        return penalty


@dataclass(frozen=True)
class SplineRule:
    """A fitted spline in one feature."""

    feature: int
    smoother: _Smoother = field(repr=False)
    coefficients: np.ndarray = field(repr=False)
    outputs: np.ndarray | None = field(default=None, repr=False, compare=False)

    def predict(self, X):
        """The spline at each row's feature."""
        column = np.asarray(X, dtype=float)[:, self.feature]
        return self.smoother.design(column) @ self.coefficients


class _BoundSplines:
    def __init__(self, X, smoothers):
        if not any(s.usable for s in smoothers):
            raise ValueError("X must have a feature with at least four different values")
        self.X, self.smoothers = X, smoothers

    def fit(self, residuals):
        best, answer = np.inf, None
        for j, smoother in enumerate(self.smoothers):
            if not smoother.usable:
                continue
            inner = smoother.shrink * (smoother.rotated.T @ residuals)
            outputs = smoother.rotated @ inner
            left = np.sum((residuals - outputs) ** 2)
            if left < best:
                best, answer = left, SplineRule(j, smoother, smoother.vectors @ inner, outputs)
        return answer


@njit(cache=True)
def _grow_levels(columns, order, values, target, depth, min_leaf, inverse):
    d, n = columns.shape
    size = 2 ** (depth + 1) - 1
    feature = np.full(size, -1, np.int64)
    threshold = np.full(size, np.nan)
    leaf = np.zeros(n, np.int32)
    slot = np.zeros(n, np.int32)  # place among the open nodes of this level, −1 when closed
    centred = np.empty(n)
    open_nodes = np.zeros(1, np.int64)
    for _ in range(depth):
        m = len(open_nodes)
        count = np.zeros(m, np.int64)
        mean = np.zeros(m)
        spread = np.zeros(m)
        size_of = np.zeros(m)
        for i in range(n):
            v = slot[i]
            if v >= 0:
                count[v] += 1
                mean[v] += target[i]
        for v in range(m):
            mean[v] *= inverse[count[v]]
        for i in range(n):
            v = slot[i]
            if v >= 0:
                centred[i] = target[i] - mean[v]
                spread[v] += centred[i] * centred[i]
                size_of[v] += target[i] * target[i]
        # A constant target leaves rounding noise only: such a node, or a small one, is a leaf.
        for v in range(m):
            if count[v] < 2 * min_leaf or spread[v] <= 1e-28 * size_of[v]:
                count[v] = 0
        best = np.full(m, -1.0)
        best_feature = np.full(m, -1, np.int64)
        best_cut = np.zeros(m)
        for j in range(d):
            if values[j, 0] == values[j, n - 1]:
                continue
            if m == 1:
                _scan_root(
                    order[j], values[j], centred, slot, count, min_leaf, inverse, j, best, best_feature, best_cut
                )
            else:
                _scan_level(
                    order[j], values[j], centred, slot, count, min_leaf, inverse, j, best, best_feature, best_cut
                )
        fresh = np.empty(2 * m, np.int64)
        place = np.full(m, -1, np.int32)
        used = 0
        for v in range(m):
            if best_feature[v] >= 0:
                node = open_nodes[v]
                feature[node] = best_feature[v]
                threshold[node] = best_cut[v]
                fresh[used], fresh[used + 1] = 2 * node + 1, 2 * node + 2
                place[v] = used
                used += 2
        for i in range(n):
            v = slot[i]
            if v >= 0:
                if place[v] < 0:
                    slot[i] = -1
                else:
                    right = columns[best_feature[v], i] > best_cut[v]
                    slot[i] = place[v] + 1 if right else place[v]
                    leaf[i] = fresh[slot[i]]
        if used == 0:
            break
        open_nodes = fresh[:used].copy()
    return feature, threshold, leaf


@njit(cache=True)
def _scan_root(row, values, centred, slot, count, min_leaf, inverse, j, best, best_feature, best_cut):
    n = len(row)
    if count[0] == 0 or slot[row[0]] < 0:
        return
    running, top, at = 0.0, best[0] * (1.0 + 1e-12), -1
    for p in range(n - 1):
        running += centred[row[p]]
        if values[p] != values[p + 1]:
            gain = running * running * (inverse[p + 1] + inverse[n - p - 1])
            if gain > top and p + 1 >= min_leaf and n - p - 1 >= min_leaf:
                top, at = gain, p
    if at >= 0:
        best[0], best_feature[0] = top, j
        best_cut[0] = cut_between(values[at], values[at + 1])


@njit(cache=True)
def _scan_level(row, values, centred, slot, count, min_leaf, inverse, j, best, best_feature, best_cut):
    """One pass over a sorted feature for all open nodes at once."""
    m = len(count)
    running = np.zeros(m)
    done = np.zeros(m, np.int64)
    last = np.zeros(m)
    for p in range(len(row)):
        i = row[p]
        v = slot[i]
        if v < 0 or count[v] == 0:
            continue
        x = values[p]
        k = done[v]
        if k > 0 and x != last[v]:
            total = running[v]
            gain = total * total * (inverse[k] + inverse[count[v] - k])
            if gain > best[v] * (1.0 + 1e-12) and k >= min_leaf and count[v] - k >= min_leaf:
                best[v], best_feature[v] = gain, j
                best_cut[v] = cut_between(last[v], x)
        running[v] += centred[i]
        done[v] = k + 1
        last[v] = x


@njit(cache=True)
def _apply_heap(X, feature, threshold):
    out = np.empty(len(X), np.int64)
    for i in range(len(X)):
        node = 0
        while feature[node] >= 0:
            node = 2 * node + 2 if X[i, feature[node]] > threshold[node] else 2 * node + 1
        out[i] = node
    return out
