"""Weak learners for regression: least-squares trees level by level, one linear term, one spline term.

``prepare(X)`` sorts or factorises the features once; the bound learner's ``fit(residuals)`` answers with a rule that
has ``predict(X)`` and its values on the sample (``outputs``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from scipy import linalg
from scipy.interpolate import BSpline

from learnable.trees.binning import BinnedFeatures, bins_wanted
from learnable.trees.histogram import grow_binned
from learnable.trees.levels import LevelTree, grow_levels
from learnable.trees.sorted_features import SortedFeatures
from learnable.validation import check_finite_array, check_scalar

__all__ = ["ComponentwiseLinear", "ComponentwiseSpline", "RegressionTree"]

_SHALLOW = 8


@dataclass(frozen=True)
class RegressionTree:
    """Least-squares regression trees of a given depth (depth 1: stumps), all levels from one presort.

    The exact search grows level by level (`learnable.trees.levels`), in O(n d) for each. With many rows the search is
    over histograms instead (`learnable.trees.histogram`).

    Parameters
    ----------
    max_depth : int
    min_samples_leaf : int
    max_bins : {"auto"}, int or None
        None tries every cut. A number from 2 to 256 bins the features first: thresholds lie on the edges of bins, and a
        feature with at most so many different values loses nothing. ``"auto"`` is 256 from 2,500 rows on, for trees of
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
            return _BoundBins(features, self.max_depth, self.min_samples_leaf)
        return _BoundLevels(
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


class _BoundLevels:
    """`RegressionTree` with its sorted features."""

    def __init__(self, features, max_depth, min_samples_leaf):
        self.features, self.max_depth, self.min_samples_leaf = features, max_depth, min_samples_leaf

    def split(self, target):
        """Grow a tree; return features and thresholds in heap order, and each sample's leaf."""
        limits = {"max_depth": self.max_depth, "min_samples_leaf": self.min_samples_leaf}
        return grow_levels(self.features, target, **limits)

    def fit(self, residuals):
        """Grow a tree whose leaves hold the means of the residuals."""
        residuals = self.features.check_length(residuals, "residuals")
        feature, threshold, leaf = self.split(residuals)
        count = np.bincount(leaf, minlength=len(feature))
        value = np.bincount(leaf, weights=residuals, minlength=len(feature)) / np.maximum(count, 1)
        return LevelTree(feature, threshold, value, value[leaf])


class _BoundBins(_BoundLevels):
    """`RegressionTree` with its binned features."""

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
class _LinearRule:
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
        return _LinearRule(j, float(slope), slope * self.X[:, j])


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
class _SplineRule:
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
                best, answer = left, _SplineRule(j, smoother, smoother.vectors @ inner, outputs)
        return answer
