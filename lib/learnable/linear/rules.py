"""What the linear rules of this chapter share: hyperplanes, validation, weighted data, symmetric solves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg, sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from learnable.validation import (
    check_binary,
    check_class_labels,
    check_finite_array,
    check_magnitude,
    check_scalar,
    check_weights,
)

__all__ = ["Hyperplane"]


@dataclass(frozen=True)
class Hyperplane:
    """The set {x : w'x + w0 = 0}; the rule says 1 where w'x + w0 ≥ 0 (Lember 2012, Sec. 3.1.1).

    Parameters
    ----------
    w : array-like of shape (d,)
        Normal vector, not zero.
    w0 : float

    Examples
    --------
    >>> plane = Hyperplane([3.0, 4.0], -5.0)
    >>> plane.distance([[0.0, 0.0], [3.0, 4.0]]).tolist()
    [1.0, 4.0]
    >>> plane.project([[3.0, 4.0]]).round(2).tolist()
    [[0.6, 0.8]]
    """

    w: np.ndarray
    w0: float

    def __post_init__(self):
        w = check_finite_array(self.w, "w", ndim=1)
        if not w.any():
            raise ValueError("w must not be zero: it is the normal of the hyperplane")
        object.__setattr__(self, "w", w.copy())
        object.__setattr__(self, "w0", check_scalar(self.w0, "w0"))

    def signed(self, x):
        """Signed distances (w'x + w0)/‖w‖ of the rows of x, positive on the side of class 1."""
        x = check_finite_array(x, "x")
        if x.shape[-1:] != self.w.shape:
            raise ValueError(f"x must have {self.w.size} columns, got shape {x.shape}")
        return (x @ self.w + self.w0) / np.linalg.norm(self.w)

    def distance(self, x):
        """Distances |w'x + w0|/‖w‖."""
        return np.abs(self.signed(x))

    def project(self, x):
        """The nearest points of the hyperplane."""
        signed = self.signed(x)
        return np.asarray(x, float) - signed[..., None] * self.w / np.linalg.norm(self.w)

    def normalise(self):
        """The same hyperplane with ‖w‖ = 1."""
        norm = np.linalg.norm(self.w)
        return Hyperplane(self.w / norm, self.w0 / norm)

    def predict(self, x):
        """1 where w'x + w0 ≥ 0, else 0."""
        return (self.signed(x) >= 0).astype(np.int64)


class LinearRule(ClassifierMixin, BaseEstimator):
    """Validation of weighted data, and decisions from ``coef_`` and ``intercept_``."""

    _binary = True
    _sparse = False  # or the scipy format that `fit` takes besides tables

    def _prepare(self, X, y, sample_weight):
        """Checked X, codes 0…k−1 and weights, without the rows of weight zero."""
        X, y = validate_data(self, X, y, dtype=np.float64, accept_sparse=self._sparse)
        if sparse.issparse(X) and not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        check_class_labels(y)
        check_magnitude(np.array([X.min(), X.max()]), "X")
        weights = check_weights(sample_weight, len(y))
        if weights is None:
            weights = np.ones(len(y))
        elif (weights == 0).any():
            X, y, weights = X[weights > 0], y[weights > 0], weights[weights > 0]
        self.classes_, codes = _coded(y)
        if self._binary:
            check_binary(self.classes_)
        if len(self.classes_) < 2:
            raise ValueError("y must contain at least two classes, got one class")
        return X, codes, weights

    def decision_function(self, X):
        """h(x) = w'x + w0: for two classes one column, class 1 where it is not negative; else one for each class."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64, accept_sparse=self._sparse)
        scores = X @ self.coef_.T + self.intercept_
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X):
        """The class on whose side each row lies."""
        scores = self.decision_function(X)
        return self.classes_[(scores >= 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]

    def _store(self, w, w0):
        self.coef_ = np.atleast_2d(np.asarray(w, float))
        self.intercept_ = np.atleast_1d(np.asarray(w0, float))
        return self

    @property
    def hyperplane_(self):
        """The decision boundary, for two classes."""
        check_is_fitted(self)
        if len(self.classes_) != 2:
            raise ValueError(f"hyperplane_ is defined for two classes, here are {len(self.classes_)}")
        return Hyperplane(self.coef_[0], self.intercept_[0])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = not self._binary
        tags.input_tags.sparse = bool(self._sparse)
        return tags


def _coded(y):
    """Classes in rising order, and the place of each label among them; small integers without a sort."""
    if y.dtype.kind in "iu" and y.size:
        low, high = int(y.min()), int(y.max())
        if high - low <= 2 * y.size:
            wide = y if y.dtype.kind == "u" else y.astype(np.int64)  # the difference of two short integers wraps
            least = wide.dtype.type(low)
            offsets = (wide - least).astype(np.int64)
            seen = np.bincount(offsets, minlength=high - low + 1) > 0
            classes = np.flatnonzero(seen).astype(wide.dtype) + least
            return classes.astype(y.dtype), (np.cumsum(seen) - 1)[offsets]
    return np.unique(y, return_inverse=True)


def solve_symmetric(S, B):
    """Solve S Z = B for a positive semidefinite S: by Cholesky, or with least norm where S is singular."""
    scale = np.sqrt(np.maximum(np.diag(S), 0.0))
    scale[scale == 0] = 1.0
    unit = S / np.outer(scale, scale)
    right = (B.T / scale).T
    try:
        factor = linalg.cho_factor(unit, lower=True)
        if np.diag(factor[0]).min() > 1e-7:
            return (linalg.cho_solve(factor, right).T / scale).T
    except linalg.LinAlgError:
        pass
    values, vectors = linalg.eigh(unit)
    keep = values > 1e-12 * max(values[-1], 1e-300)
    inverse = vectors[:, keep] / values[keep]
    return ((inverse @ (vectors[:, keep].T @ right)).T / scale).T


def check_mean(m, name, size=None):
    """Return m as a vector; a number becomes a vector of length one."""
    m = np.atleast_1d(check_finite_array(m, name))
    if m.ndim != 1 or (size is not None and m.size != size):
        raise ValueError(f"{name} must be a vector{'' if size is None else f' of length {size}'}, got shape {m.shape}")
    return m
