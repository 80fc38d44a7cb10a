"""Plug-in rules and what their error costs, limits of nearest neighbours, exact risks on the line, and a median tree.

Excess risk of any rule is 2 ∫_{g ≠ g*} |η − ½| dF, so a plug-in rule pays only where its estimate is on the wrong side
of ½. Source: Lember 2012, Sec. 6.1–6.3.
"""

from __future__ import annotations

import itertools

import numpy as np
from scipy import stats
from scipy.stats import binom
from sklearn.base import BaseEstimator, ClassifierMixin, clone
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


def excess_risk_exact(problem, g, **options):
    """R(g) − R* = 2 ∫_{g ≠ g*} |η − ½| dF, (6.1.2), on a problem of the first chapter's kind."""

    def wasted(x, post):
        eta = post[:, 1]
        return 2.0 * np.abs(eta - 0.5) * (np.asarray(g(x)) != (eta > 0.5))

    return problem.expect(wasted, label=lambda x, post: np.asarray(g(x)).astype(int), **options)


def plug_in_bounds(problem, eta1, eta0=None, **options):
    """Excess risk of the plug-in rule and the bounds on it: a dictionary of numbers in rising order."""
    if eta0 is None:

        def rule(x):
            return (np.asarray(eta1(x)) > 0.5).astype(int)

        l1 = problem.expect(lambda x, post: np.abs(post[:, 1] - eta1(x)), **options)
        l2 = problem.expect(lambda x, post: (post[:, 1] - eta1(x)) ** 2, **options)
        return {
            "excess": float(excess_risk_exact(problem, rule, **options)),
            "l1": 2.0 * float(l1),
            "l2": 2.0 * float(np.sqrt(l2)),
        }

    def pair_rule(x):
        return (np.asarray(eta1(x)) > np.asarray(eta0(x))).astype(int)

    pair = problem.expect(lambda x, post: np.abs(post[:, 1] - eta1(x)) + np.abs(1.0 - post[:, 1] - eta0(x)), **options)
    return {"excess": float(excess_risk_exact(problem, pair_rule, **options)), "pair": float(pair)}


class VoronoiCells:
    """The 1-nearest-neighbour partition: which training point owns each place."""

    def __init__(self, X):
        self._index = NeighborIndex(X)

    def owner(self, points):
        return self._index.query(points, 1)[1][:, 0]


def knn_limit_risk(eta, k):
    """Limit R_k of the risk of the k-nearest-neighbour rule where P(Y = 1 | x) = η, as n → ∞ (Theorem 6.2.5)."""
    eta = np.asarray(eta, float)
    if k % 2 == 0:
        k -= 1
    half = (k - 1) // 2
    return eta * binom.cdf(half, k, eta) + (1 - eta) * binom.sf(half, k, eta)


def weighted_limit_risk(eta, weights):
    """Limit risk of a weighted rule by enumeration of the 2^k label vectors; equal votes go to 0."""
    eta, weights, k = np.asarray(eta, float), np.asarray(weights, float), len(weights)
    labels = np.array(list(itertools.product((0, 1), repeat=k)))
    says_one = labels @ weights > 0.5 * weights.sum() * (1 + 1e-14)
    ones = labels.sum(axis=1)
    mass = np.power.outer(eta, ones) * np.power.outer(1 - eta, k - ones)
    one = (mass * says_one).sum(axis=-1)
    return eta * (1 - one) + (1 - eta) * one


def cover_hart(bayes_risk):
    """The bracket for R_1: (R*, 2 R* (1 − R*))."""
    return bayes_risk, 2.0 * bayes_risk * (1.0 - bayes_risk)


def two_ball_risk(n, k=1):
    """E R of the k-nearest-neighbour rule for two far-apart balls with equal priors: 2^(−n) Σ_{j ≤ k/2} C(n, j)."""
    return float(binom.cdf(k // 2, n, 0.5))


def knn_regions_1d(x, y, k):
    """Decision regions of the k-nearest-neighbour rule on a line, exactly."""
    n, order = len(x), np.argsort(x)
    x, y = np.asarray(x, float)[order], np.asarray(y)[order]
    # Window i = points i … i+k−1; it is the neighbourhood between the two borders.
    borders = 0.5 * (x[: n - k] + x[k:])
    edges = np.concatenate([[-np.inf], borders, [np.inf]])
    ones = np.concatenate([[0], np.cumsum(y)])
    votes = ones[k:] - ones[: n - k + 1]
    if k % 2 == 1:
        return edges, (2 * votes > k).astype(int)
    # Even k: on a tie the nearest neighbour decides, so its borders matter too.
    nearest = 0.5 * (x[1:] + x[:-1])
    cuts = np.concatenate([[-np.inf], np.unique(np.concatenate([borders, nearest])), [np.inf]])
    middle = np.concatenate([[x[0] - 1], 0.5 * (cuts[1:-2] + cuts[2:-1]), [x[-1] + 1]]) if len(cuts) > 2 else x[:1]
    window = np.searchsorted(borders, middle)
    closest = np.searchsorted(nearest, middle)
    tied = 2 * votes[window] == k
    return cuts, np.where(tied, y[closest], 2 * votes[window] > k).astype(int)


def exact_risk_1d(edges, decisions, joint_cdf):
    """Exact risk of a rule that is constant between edges."""
    zero, one = (np.diff(mass) for mass in joint_cdf(np.asarray(edges, float)))
    return float(np.where(np.asarray(decisions) == 1, zero, one).sum())


def student_joint_cdf(c=1.0):
    """`joint_cdf` of the study-hours problem: X uniform on [0, 4c], P(Y = 1 | x) = x/(c + x)."""

    def joint_cdf(x):
        u = np.clip(np.asarray(x, float) / c, 0.0, 4.0)
        return np.log1p(u) / 4.0, (u - np.log1p(u)) / 4.0

    return joint_cdf


class MedianTree(ClassifierMixin, BaseEstimator):
    """Cuts at medians, coordinate after coordinate, then votes; it never looks at labels, and is consistent."""

    def __init__(self, max_depth=None):
        self.max_depth = max_depth

    def fit(self, X, y):
        X = np.asarray(X, float)
        self.classes_, codes = np.unique(y, return_inverse=True)
        levels = int(0.5 * np.log2(len(X))) if self.max_depth is None else self.max_depth
        self._root = self._grow(X, codes, 0, levels)
        return self

    def _grow(self, X, codes, level, levels):
        if level == levels or len(codes) < 2:
            return np.bincount(codes, minlength=len(self.classes_)).argmax()
        j = level % X.shape[1]
        cut = np.median(X[:, j])
        low = X[:, j] <= cut
        return j, cut, *(self._grow(X[half], codes[half], level + 1, levels) for half in (low, ~low))

    def predict(self, X):
        return self.classes_[self._vote(self._root, np.asarray(X, float))]

    def _vote(self, node, X):
        if not isinstance(node, tuple):
            return np.full(len(X), node)
        j, cut, *halves = node
        low, votes = X[:, j] <= cut, np.empty(len(X), int)
        for half, mask in zip(halves, (low, ~low), strict=True):
            votes[mask] = self._vote(half, X[mask])
        return votes
