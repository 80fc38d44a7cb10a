"""What the tests of this chapter need besides the package: minimisers, bounds and worked cases of the source."""

import itertools

import numpy as np
from scipy import stats
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KernelDensity
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from learnable.foundations.plug_in import _TwoClassRule
from learnable.foundations.voting import cube_numbers
from learnable.neighbors import NeighborIndex


class PlugIn(_TwoClassRule):
    """Decide 1 where an estimate of η(x) = P(Y = 1 | x), of a classifier or a regressor, exceeds ½, (6.1.1)."""

    def __init__(self, eta_estimator=None):
        self.eta_estimator = eta_estimator

    def fit(self, X, y):
        X, codes = self._prepare(X, y)
        plain = make_pipeline(StandardScaler(), LogisticRegression())
        self.estimator_ = clone(plain if self.eta_estimator is None else self.eta_estimator).fit(X, codes)
        return self

    def eta(self, X):
        """The estimate η_n(x)."""
        X = self._points(X)
        if hasattr(self.estimator_, "predict_proba"):
            return self.estimator_.predict_proba(X)[:, 1]
        return self.estimator_.predict(X)

    def predict(self, X):
        return self._decide(self.eta(X) > 0.5)


class PlugInPair(_TwoClassRule):
    """Decide 1 where η̂₁(x) > η̂₀(x): separate estimates of both posteriors, which need not sum to 1."""

    def __init__(self, eta1=None, eta0=None):
        self.eta1 = eta1
        self.eta0 = eta0

    def fit(self, X, y):
        X, codes = self._prepare(X, y)
        # Least squares on standardised columns: the cut-off for small singular values then knows no units.
        plain = make_pipeline(StandardScaler(), LinearRegression())
        one, zero = (clone(plain if given is None else given) for given in (self.eta1, self.eta0))
        self.one_, self.zero_ = one.fit(X, codes), zero.fit(X, 1 - codes)
        return self

    def predict(self, X):
        X = self._points(X)
        return self._decide(self.one_.predict(X) > self.zero_.predict(X))


class PlugInDensity(_TwoClassRule):
    """Decide 1 where p̂₁ f̂₁(x) > p̂₀ f̂₀(x), densities by class: "gaussian", "kde" or "histogram"."""

    def __init__(self, density="gaussian", width=None):
        self.density = density
        self.width = width

    def fit(self, X, y):
        X, codes = self._prepare(X, y)
        self.log_priors_ = np.log(np.bincount(codes) / len(codes))
        self.densities_ = [self._fit_density(X[codes == c]) for c in (0, 1)]
        return self

    def _fit_density(self, X):
        if self.density == "gaussian":
            return _GaussianDensity(X)
        n, d = X.shape
        if self.width is None:
            scale = max(float(X.std(axis=0).mean()), 1e-12 * (np.abs(X).max() or 1.0))
            width = scale * n ** (-1 / (d + 4)) if self.density == "kde" else 3.5 * scale * n ** (-1 / (d + 2))
        else:
            width = float(self.width)
        if self.density == "kde":
            return KernelDensity(bandwidth=width).fit(X).score_samples
        return _HistogramDensity(X, width)

    def predict(self, X):
        X = self._points(X)
        zero, one = (np.atleast_1d(f(X)) + p for f, p in zip(self.densities_, self.log_priors_, strict=True))
        return self._decide(one > zero)


class _GaussianDensity:
    """Log-density of the normal law with the mean and covariance of X, found in standardised columns.

    So the units of the columns do not matter; a column that does not vary gets a deviation of 10⁻¹² of its size.
    """

    def __init__(self, X):
        n, d = X.shape
        self.mean = X.mean(axis=0)
        spread = X.std(axis=0) if n > 1 else np.ones(d)
        size = np.where(self.mean == 0, np.abs(X).max() or 1.0, np.abs(self.mean))
        self.spread = np.maximum(spread, 1e-12 * size)
        Z = (X - self.mean) / self.spread
        correlation = (Z.T @ Z) / n + 1e-9 * np.eye(d) if n > 1 else np.eye(d)
        self.law = stats.multivariate_normal(np.zeros(d), correlation, allow_singular=True)

    def __call__(self, X):
        return self.law.logpdf((X - self.mean) / self.spread) - np.log(self.spread).sum()


class _HistogramDensity:
    """Log-density of a histogram with cubes of edge `width`: count / (n width^d), −∞ in empty cubes."""

    def __init__(self, X, width):
        n, d = X.shape
        self.width = width
        cells, counts = np.unique(cube_numbers(X, width, "width"), axis=0, return_counts=True)
        heights = np.log(counts / n) - d * np.log(width)
        self.table = {cell.tobytes(): height for cell, height in zip(cells, heights, strict=True)}

    def __call__(self, X):
        return np.array([self.table.get(key.tobytes(), -np.inf) for key in cube_numbers(X, self.width, "width")])


class VoronoiCells:
    """The 1-nearest-neighbour partition: which training point owns each place."""

    def __init__(self, X):
        self._index = NeighborIndex(X)

    def owner(self, points):
        return self._index.query(points, 1)[1][:, 0]


def weighted_limit_risk(eta, weights):
    """Limit risk of a weighted rule by enumeration of the 2^k label vectors; equal votes go to 0."""
    eta, weights, k = np.asarray(eta, float), np.asarray(weights, float), len(weights)
    labels = np.array(list(itertools.product((0, 1), repeat=k)))
    says_one = labels @ weights > 0.5 * weights.sum() * (1 + 1e-14)
    ones = labels.sum(axis=1)
    mass = np.power.outer(eta, ones) * np.power.outer(1 - eta, k - ones)
    one = (mass * says_one).sum(axis=-1)
    return eta * (1 - one) + (1 - eta) * one
