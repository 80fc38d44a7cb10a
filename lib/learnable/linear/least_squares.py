"""Least squares on indicator labels, with its closed forms for two classes.

Source: Lember 2012, Sec. 3.6.1.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg, sparse

from learnable.linear._sparse import sparse_least_squares, sparse_moments
from learnable.linear.rules import LinearRule, solve_symmetric
from learnable.validation import check_scalar

__all__ = ["LeastSquaresClassifier"]


class LeastSquaresClassifier(LinearRule):
    """Regress the indicator of each class on x and take the largest fit. O(n d²).

    For two classes class 1 is chosen where f_1(x) ≥ ½, so that ``intercept_`` is a − ½. Sparse tables stay sparse.

    Parameters
    ----------
    alpha : float, default=0
        Penalty ridge ‖w‖² beside the *sum* of squares; the intercept is free. Without it a singular problem gets the
        solution of least norm.

    Attributes
    ----------
    w_ : ndarray of shape (k, d)
        Slopes of the k regressions; they sum to zero.
    a_ : ndarray of shape (k,)
        Their constants; they sum to one.
    coef_, intercept_ : ndarrays
        What the decision needs: one row for two classes, else (w_, a_).

    Examples
    --------
    >>> rule = LeastSquaresClassifier().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> rule.w_.round(3).tolist(), rule.a_.round(3).tolist()
    ([[-0.4], [0.4]], [1.1, -0.1])
    """

    _binary = False
    _sparse = "csr"

    def __init__(self, alpha=0.0):
        self.alpha = alpha

    def fit(self, X, y, sample_weight=None):
        ridge = check_scalar(self.alpha, "alpha", low=0)
        X, codes, weights = self._prepare(X, y, sample_weight)
        total = weights.sum()
        targets = (codes[:, None] == np.arange(len(self.classes_))).astype(float)
        target_mean = weights @ targets / total
        if sparse.issparse(X):
            W, mean = self._sparse_slopes(X, targets - target_mean, weights, ridge)
            return self._keep(W, mean, target_mean)
        mean = weights @ X / total
        root = np.sqrt(weights)[:, None]
        Z, T = (X - mean) * root, (targets - target_mean) * root
        if ridge > 0:
            W = solve_symmetric(Z.T @ Z + ridge * np.eye(X.shape[1]), Z.T @ T)
        else:
            # In units of each column's spread, so that the rank does not depend on units.
            spread = np.sqrt((Z**2).sum(axis=0))
            spread[spread <= 1e-14 * (np.abs(mean) * np.sqrt(total))] = np.inf
            W = linalg.lstsq(Z / spread, T, cond=1e-11, lapack_driver="gelsy")[0] / spread[:, None]
        return self._keep(W, mean, target_mean)

    def _sparse_slopes(self, X, targets, weights, ridge):
        if ridge > 0:
            return sparse_least_squares(X, targets, weights, ridge)
        mean, spread = sparse_moments(X, weights)
        spread[spread <= 1e-14 * np.abs(mean)] = np.inf
        return sparse_least_squares(X, targets, weights, 0.0, spread)[0] / spread[:, None], mean

    def _keep(self, W, mean, target_mean):
        self.w_ = W.T
        self.a_ = target_mean - self.w_ @ mean
        if len(self.classes_) == 2:
            return self._store(self.w_[1], self.a_[1] - 0.5)
        return self._store(self.w_, self.a_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags
