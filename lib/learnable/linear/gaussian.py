"""Gaussian classes and Fisher's discriminant: rules from means and covariances.

Source: Lember 2012, Sec. 3.4 and 3.6.3, with the sign of the prior term corrected.
"""

from __future__ import annotations

import contextlib

import numpy as np
from scipy import linalg
from scipy.special import softmax
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from learnable.linear.exact import _best_split
from learnable.linear.moments import _scatter
from learnable.linear.rules import LinearRule, solve_symmetric
from learnable.validation import check_choice, check_magnitude, check_probability_vector, check_scalar

__all__ = ["FisherLDA", "GaussianBayes"]

FAR = 100.0  # a mean so many standard deviations from the origin costs two digits
BLOCK = 16_384  # numbers that are worked on at a time


def _factor(S, name):
    """Cholesky factor of a covariance; whether it is singular is asked of the correlations, which know no units."""
    spread = np.sqrt(np.diag(S))
    L = np.zeros((1, 1))
    if spread.min() > 0:
        with contextlib.suppress(linalg.LinAlgError):
            L = linalg.cholesky(S / spread / spread[:, None], lower=True)
    if np.diag(L).min() <= 1e-8:
        raise ValueError(f"the covariance of class {name!r} is singular; use shrinkage > 0 or fewer features")
    return spread[:, None] * L


def _discriminants(X, means, factors, priors):
    scores = np.empty((len(X), len(means)))
    with np.errstate(divide="ignore"):
        log_priors = np.log(priors)
    for i, (m, L) in enumerate(zip(means, factors, strict=True)):
        whiten = linalg.solve_triangular(L, np.eye(len(m)), lower=True, check_finite=False).T
        constant = log_priors[i] - np.log(np.diag(L)).sum()
        for rows in _blocks(*X.shape):
            z = (X[rows] - m) @ whiten
            scores[rows, i] = constant - 0.5 * np.einsum("ij,ij->i", z, z)
    return scores


def _blocks(n, d):
    """Slices of rows whose copies stay in the cache of a core."""
    size = max(16, BLOCK // d)
    return (slice(start, start + size) for start in range(0, n, size))


class _CentredRule(LinearRule):
    """A linear rule that far from the origin is evaluated around the mean of the sample, so that nothing cancels."""

    def _store_around(self, parts, w, constant):
        """Keep h(x) = w'(x - mean) + constant, and the same as ``coef_`` and ``intercept_``."""
        far = np.any(np.abs(parts.mean) > FAR * np.sqrt(np.diag(parts.cov_within)))
        self._centre, self._constant = parts.mean if far else None, np.atleast_1d(constant)
        return self._store(w, constant - np.asarray(w) @ parts.mean)

    def decision_function(self, X):
        """h(x) = w'x + w0: for two classes one column, class 1 where it is not negative; else one for each class."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        if self._centre is None:
            scores = X @ self.coef_.T + self.intercept_
        else:
            scores = np.empty((len(X), len(self.coef_)))
            for rows in _blocks(*X.shape):
                np.matmul(X[rows] - self._centre, self.coef_.T, out=scores[rows])
            scores += self._constant
        return scores[:, 0] if len(self.classes_) == 2 else scores


class GaussianBayes(_CentredRule):
    """Plug-in Bayes rule for Gaussian classes: quadratic (QDA), or linear with one covariance (LDA). O(n d² + k d³).

    Parameters
    ----------
    equal_cov : bool, default=False
        Use the covariance within the classes for all of them.
    shrinkage : float in [0, 1], default=0
        The common covariance becomes T = (1 − s) Σ_W + s (tr Σ_W/d) I, and that of a class (1 − s) Σ_i + s T.
    priors : array-like of shape (k,), optional
        By default the shares in the sample.

    Attributes
    ----------
    means_, covariances_, priors_ : ndarrays
    coef_, intercept_ : ndarrays
        Only if `equal_cov`.

    Examples
    --------
    >>> rule = GaussianBayes().fit([[-1.0], [1.0], [7.0], [13.0]], [0, 0, 1, 1])
    >>> rule.predict([[-8.0], [0.0], [4.0]]).tolist()
    [1, 0, 1]
    """

    _binary = False

    def __init__(self, equal_cov=False, shrinkage=0.0, priors=None):
        self.equal_cov = equal_cov
        self.shrinkage = shrinkage
        self.priors = priors

    def fit(self, X, y, sample_weight=None):
        s = check_scalar(self.shrinkage, "shrinkage", low=0, high=1)
        X, codes, weights = self._prepare(X, y, sample_weight)
        parts = _scatter(X, codes, weights, self.classes_)
        k, d = parts.means.shape
        self.means_ = parts.means
        self.priors_ = parts.priors if self.priors is None else check_probability_vector(self.priors, "priors", size=k)
        S = (1 - s) * parts.cov_within + s * np.trace(parts.cov_within) / d * np.eye(d)
        if self.equal_cov:
            L = _factor(S, "all")
            self.covariances_ = np.repeat(S[None], k, axis=0)
            self._factors = [L] * k
            means = self.means_ - parts.mean
            W = linalg.cho_solve((L, True), means.T).T
            with np.errstate(divide="ignore"):
                constants = np.log(self.priors_) - 0.5 * np.einsum("kd,kd->k", W, means)
            if k == 2:
                return self._store_around(parts, W[1] - W[0], constants[1] - constants[0])
            return self._store_around(parts, W, constants)
        self.covariances_ = (1 - s) * parts.covariances + s * S
        self._factors = [_factor(S, label) for S, label in zip(self.covariances_, self.classes_, strict=True)]
        return self

    def _scores(self, X):
        check_is_fitted(self)
        X = check_magnitude(validate_data(self, X, reset=False, dtype=np.float64), "X", smallest=0.0)
        return _discriminants(X, self.means_, self._factors, self.priors_)

    def decision_function(self, X):
        """Discriminants, one for each class; for two classes their difference, the log-odds of class 1."""
        if self.equal_cov:
            return super().decision_function(X)
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict_proba(self, X):
        """Posterior probabilities under the fitted Gaussians."""
        return softmax(self._scores(X), axis=1)


class FisherLDA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _CentredRule):
    """Project on Fisher's direction S_W⁻¹(m1 − m0), then split the line. O(n d² + d³).

    Parameters
    ----------
    final : {"gaussian", "erm", "midpoint"}, default="gaussian"
        How to split: where Gaussian classes with a common variance would, with the sample's priors; where the training
        errors are fewest (two classes only); or half-way between the means.
    n_components : int, optional
        Number of discriminant coordinates of `transform`, at most min(k − 1, d).

    Attributes
    ----------
    coef_, intercept_ : ndarrays
    scalings_ : ndarray of shape (d, n_components)
        Generalised eigenvectors of (S_B, S_W), with unit variance within the classes; the largest entry is positive.
    criterion_ : ndarray
        Their ratios of scatter between the classes to scatter within.

    Examples
    --------
    >>> rule = FisherLDA().fit([[0.0, 0.0], [1.0, 3.0], [4.0, 1.0], [5.0, 2.0]], [0, 0, 1, 1])
    >>> rule.predict([[1.0, 1.0], [4.0, 4.0]]).tolist()
    [0, 1]
    """

    _binary = False

    def __init__(self, final="gaussian", n_components=None):
        self.final = final
        self.n_components = n_components

    def fit(self, X, y, sample_weight=None):
        check_choice(self.final, "final", ("gaussian", "erm", "midpoint"))
        X, codes, weights = self._prepare(X, y, sample_weight)
        parts = _scatter(X, codes, weights, self.classes_)
        k, d = parts.means.shape
        size = min(k - 1, d)
        if self.n_components is not None:
            size = check_scalar(self.n_components, "n_components", low=1, high=size, integer=True)
        if k > 2 and self.final == "erm":
            raise ValueError(f"final='erm' needs two classes, got {k} classes")
        self.mean_ = parts.mean
        self._n_features_out = size
        self.scalings_, self.criterion_ = _fisher_coordinates(parts, size)
        if k == 2:
            w = solve_symmetric(parts.cov_within, parts.means[1] - parts.means[0])
            return self._store_around(parts, *self._cut(w, X, codes, weights, parts))
        means = parts.means - parts.mean
        W = solve_symmetric(parts.cov_within, means.T).T
        constants = -0.5 * np.einsum("kd,kd->k", W, means)
        return self._store_around(parts, W, constants + (np.log(parts.priors) if self.final == "gaussian" else 0.0))

    def _cut(self, w, X, codes, weights, parts):
        """Direction, and the constant at the mean of the sample."""
        middle = 0.5 * w @ (parts.means - parts.mean).sum(axis=0)
        if self.final == "midpoint":
            return w, -middle
        if self.final == "gaussian":
            return w, np.log(parts.counts[1] / parts.counts[0]) - middle
        split, _ = _best_split((X - parts.mean) @ w, codes, weights)
        sign = 1.0 if split.label == 0 else -1.0
        if np.isinf(split.threshold):
            return np.zeros_like(w), sign if split.threshold < 0 else -sign
        return sign * w, -sign * split.threshold

    def transform(self, X):
        """Discriminant coordinates of the rows."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        return (X - self.mean_) @ self.scalings_


def _fisher_coordinates(parts, size):
    # In units of each column's spread, so that the rank does not depend on units.
    spread = np.sqrt(np.diag(parts.cov_within))
    spread[spread == 0] = 1.0
    values, vectors = linalg.eigh(parts.cov_within / spread / spread[:, None])
    keep = values > 1e-12 * max(values[-1], 1e-300)
    whiten = vectors[:, keep] / np.sqrt(values[keep]) / spread[:, None]
    ratio, rotation = linalg.eigh(whiten.T @ parts.cov_between @ whiten)
    scalings = (whiten @ rotation)[:, ::-1][:, :size]
    leading = np.abs(scalings).argmax(axis=0)
    scalings = scalings * np.where(scalings[leading, np.arange(scalings.shape[1])] < 0, -1.0, 1.0)
    return scalings, np.maximum(ratio[::-1][:size], 0.0)
