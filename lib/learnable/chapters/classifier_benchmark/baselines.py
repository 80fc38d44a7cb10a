"""Classifiers of the comparison that scikit-learn lacks: kernel ELM, probabilistic network, RDA, rotation forest.

They follow the descriptions in Fernandez-Delgado et al. (2014, Sec. 2.2), and scikit-learn's protocol.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg
from scipy.special import logsumexp, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from learnable.kernels.functions.points import squared_distances
from learnable.kernels.ridge import kernel_ridge_path
from learnable.validation import (
    check_magnitude,
    check_rng,
    encode_labels,
)


class Contestant(ClassifierMixin, BaseEstimator):
    """What the contestants share: labels in, codes inside, labels out by the largest score."""

    def _start(self, X, y):
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_magnitude(X, "X")
        check_classification_targets(y)
        self.classes_, codes = encode_labels(y)
        if len(self.classes_) < 2:
            raise ValueError(f"y must have two classes or more, got 1 class: {self.classes_.tolist()}")
        return X, codes

    def _standardise(self, X):
        """Remember centre and spread of the inputs; trees of scikit-learn compare in single precision and units."""
        spread = X.std(axis=0)
        self._mean, self._scale = X.mean(axis=0), np.where(spread > 0, spread, 1.0)
        return self._standard(X)

    def _standard(self, X):
        return np.ascontiguousarray((X - self._mean) / self._scale)

    def _points(self, X):
        check_is_fitted(self)
        return check_magnitude(validate_data(self, X, reset=False, dtype=np.float64), "X", smallest=0.0)

    def predict(self, X):
        """Class with the largest score, for each row."""
        best = np.argmax(self._scores(self._points(X)), axis=1)
        return self.classes_[best]


class KernelELM(Contestant):
    """Kernel extreme learning machine: kernel ridge regression on targets -1 and +1. Cost O(n^3), prediction O(n d)."""

    def __init__(self, C=1.0, gamma="scale"):
        self.C = C
        self.gamma = gamma

    def fit(self, X, y):
        X, codes = self._start(X, y)
        spread = X.var()
        self.gamma_ = self.gamma if self.gamma != "scale" else 1 / (X.shape[1] * spread) if spread > 0 else 1.0
        self.X_ = X
        targets = np.where(codes[:, None] == np.arange(len(self.classes_)), 1.0, -1.0)
        K = squared_distances(X, gaussian=self.gamma_)
        K.flat[:: len(K) + 1] += 1 / self.C
        self.weights_ = linalg.solve(K, targets, assume_a="pos", overwrite_a=True, check_finite=False)
        return self

    def _scores(self, X):
        return squared_distances(self.X_, X, gaussian=self.gamma_).T @ self.weights_

    def decision_function(self, X):
        """Scores, one column for each class; for two classes half their difference."""
        scores = self._scores(self._points(X))
        return (scores[:, 1] - scores[:, 0]) / 2 if scores.shape[1] == 2 else scores


def ridge_path(K, targets, C_values):
    """Weights (K + I/C)^-1 T of the kernel ELM for many C, from one decomposition."""
    return kernel_ridge_path(K, targets, 1 / np.asarray(C_values), fit_intercept=False).dual_coefs


class PNN(Contestant):
    """Probabilistic neural network: class score sum exp(-b^2 ||x - x_i||^2) over the class. Prediction O(n d)."""

    def __init__(self, spread=1.0):
        self.spread = spread

    def fit(self, X, y):
        self.X_, self.codes_ = self._start(X, y)
        return self

    def _scores(self, X):
        exponents = -np.log(2) * squared_distances(self.X_, X).T / self.spread**2
        k = len(self.classes_)
        return np.column_stack([logsumexp(exponents[:, self.codes_ == c], axis=1) for c in range(k)])

    def predict_proba(self, X):
        """Shares of the class scores."""
        return softmax(self._scores(self._points(X)), axis=1)


class RDA(Contestant):
    """Regularised discriminant analysis: covariances between QDA and LDA, and towards a sphere."""

    def __init__(self, pooling=0.5, shrinkage=0.1):
        self.pooling = pooling
        self.shrinkage = shrinkage

    def fit(self, X, y):
        p, s = self.pooling, self.shrinkage
        X, codes = self._start(X, y)
        n, d = X.shape
        k = len(self.classes_)
        counts = np.bincount(codes, minlength=k)
        self.priors_ = counts / n
        self.means_ = np.array([X[codes == c].mean(axis=0) for c in range(k)])
        centred = X - self.means_[codes]
        scatter = np.array([centred[codes == c].T @ centred[codes == c] for c in range(k)])
        mixed = (1 - p) * scatter + p * scatter.sum(axis=0)
        mixed /= ((1 - p) * counts + p * n)[:, None, None]
        sizes = np.trace(mixed, axis1=1, axis2=2) / d
        self.covariances_ = (1 - s) * mixed + s * sizes[:, None, None] * np.eye(d)
        values, vectors = np.linalg.eigh(self.covariances_)
        if (values[:, 0] <= 1e-13 * np.maximum(values[:, -1], np.finfo(float).tiny)).any():
            raise ValueError("the covariance of a class is singular; raise shrinkage")
        self._whiten = vectors / np.sqrt(values)[:, None, :]
        self._offsets = np.log(self.priors_) - 0.5 * np.log(values).sum(axis=1)
        return self

    def _scores(self, X):
        return np.column_stack(
            [
                offset - 0.5 * (((X - mean) @ W) ** 2).sum(axis=1)
                for mean, W, offset in zip(self.means_, self._whiten, self._offsets, strict=True)
            ]
        )

    def predict_proba(self, X):
        """Posterior probabilities under the fitted Gaussians."""
        return softmax(self._scores(self._points(X)), axis=1)


class RotationForest(Contestant):
    """Rotation forest: every tree sees the inputs in axes of its own. Cost O(n_estimators (n d^2 + tree))."""

    def __init__(self, n_estimators=10, group_size=3, min_samples_leaf=2, random_state=None):
        self.n_estimators = n_estimators
        self.group_size = group_size
        self.min_samples_leaf = min_samples_leaf
        self.random_state = random_state

    def fit(self, X, y):
        rng = check_rng(self.random_state)
        X, codes = self._start(X, y)
        # Principal axes depend on the units of the inputs, so each input is standardised.
        spread = X.std(axis=0)
        self.mean_, self.scale_ = X.mean(axis=0), np.where(spread > 0, spread, 1.0)
        X = (X - self.mean_) / self.scale_
        self.rotations_ = np.zeros((self.n_estimators, X.shape[1], X.shape[1]))
        self.estimators_ = []
        for R in self.rotations_:
            _fill_rotation(R, X, codes, self.group_size, rng)
            tree = DecisionTreeClassifier(
                criterion="entropy", min_samples_leaf=self.min_samples_leaf, random_state=int(rng.integers(2**31))
            )
            self.estimators_.append(tree.fit(X @ R, codes))
        return self

    def _scores(self, X):
        X = (X - self.mean_) / self.scale_
        pairs = zip(self.rotations_, self.estimators_, strict=True)
        return sum(tree.predict_proba(X @ R) for R, tree in pairs) / len(self.estimators_)

    def predict_proba(self, X):
        """Mean of the trees' class shares."""
        return self._scores(self._points(X))


def _fill_rotation(R, X, codes, size, rng):
    """Write the principal axes of random groups of inputs into the zero matrix R."""
    d = X.shape[1]
    order = rng.permutation(d)
    k = int(codes.max()) + 1
    for start in range(0, d, size):
        group = order[start : start + size]
        classes = rng.permutation(k)[: rng.integers(1, k + 1)]
        rows = np.flatnonzero(np.isin(codes, classes))
        rows = rng.choice(rows, size=max(2, round(0.75 * len(rows))), replace=True)
        part = X[np.ix_(rows, group)]
        part = part - part.mean(axis=0)
        _, axes = np.linalg.eigh(part.T @ part)
        # Signs are free; the largest entry of an axis is positive on every machine.
        axes *= np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(len(group))])
        R[np.ix_(group, group)] = axes
