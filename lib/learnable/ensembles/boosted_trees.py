"""Gradient boosting with least-squares regression trees (Friedman 2001): the modern descendant."""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from learnable._simd import exp_in_place
from learnable.ensembles.weak_learners import RegressionTree
from learnable.trees._nodes import leaf_of
from learnable.validation import BinaryClassifierMixin, binary_codes, check_scalar

__all__ = ["GradientBoostedTrees"]

_STRETCH = 512  # rows whose losses are summed together: a power of two


class GradientBoostedTrees(BinaryClassifierMixin, BaseEstimator):
    """Additive log-odds from regression trees: fit the gradient, then take one Newton step in every leaf.

    f_0 is the log-odds of the classes. Each round grows a tree on the residuals y − p by least squares, gives its leaf
    the value Σ(y − p)/Σp(1 − p), and adds `shrinkage` times the tree.

    Cost O(n d (log n + depth n_rounds)): features are sorted, or binned, once.

    Parameters
    ----------
    n_rounds : int
    max_depth : int
    shrinkage : float
    min_samples_leaf : int
    max_bins : {"auto"}, int or None
        None tries every cut. A number from 2 to 256 bins the features first: thresholds lie on the edges of bins, and a
        feature with at most so many different values loses nothing. ``"auto"`` is 256 from 2,500 rows on, for trees of
        depth at most 8.

    Attributes
    ----------
    losses_ : array (T,)
        Mean logistic loss on the sample after each round.
    init_ : float
        f_0.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(8.0)[:, None]
    >>> model = GradientBoostedTrees(n_rounds=20, max_depth=2).fit(X, [0, 0, 1, 1, 1, 0, 0, 0])
    >>> model.predict(X).tolist()
    [0, 0, 1, 1, 1, 0, 0, 0]
    """

    def __init__(self, n_rounds=100, max_depth=3, shrinkage=0.1, min_samples_leaf=1, max_bins="auto"):
        self.n_rounds = n_rounds
        self.max_depth = max_depth
        self.shrinkage = shrinkage
        self.min_samples_leaf = min_samples_leaf
        self.max_bins = max_bins

    def fit(self, X, y):
        """Sort or bin the features once, then T rounds of O(depth · n · d)."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        self.classes_, codes = binary_codes(y)
        rounds = check_scalar(self.n_rounds, "n_rounds", low=1, integer=True)
        shrinkage = check_scalar(self.shrinkage, "shrinkage", low=0, closed="neither")
        learner = RegressionTree(self.max_depth, self.min_samples_leaf, self.max_bins).prepare(X)
        target = codes.astype(np.float64)
        mean = target.mean()
        self.init_ = float(np.log(mean / (1 - mean)))
        size = 2 ** (learner.max_depth + 1) - 1
        feature, threshold = np.empty((rounds, size), np.int64), np.empty((rounds, size))
        value, losses = np.zeros((rounds, size)), np.empty(rounds)
        f = np.full(len(target), self.init_)
        p = np.full(len(target), mean)
        for t in range(rounds):
            feature[t], threshold[t], leaf = learner.split(target - p)
            losses[t] = _newton_leaves(target, f, p, leaf, shrinkage, value[t])
        self.features_, self.thresholds_, self.values_, self.losses_ = feature, threshold, value, losses
        return self

    def decision_function(self, X):
        """Log-odds of the second class."""
        check_is_fitted(self, "values_")
        X = validate_data(self, X, reset=False, dtype=np.float64)
        f = np.full(len(X), self.init_)
        _add_trees(np.ascontiguousarray(X), self.features_, self.thresholds_, self.values_, f, np.zeros((0, len(X))))
        return f

    def staged_decision_function(self, X):
        """Log-odds after each round, as an array (rounds, n)."""
        check_is_fitted(self, "values_")
        X = validate_data(self, X, reset=False, dtype=np.float64)
        stages = np.empty((len(self.values_), len(X)))
        f = np.full(len(X), self.init_)
        _add_trees(np.ascontiguousarray(X), self.features_, self.thresholds_, self.values_, f, stages)
        return stages

    def predict(self, X):
        """The likelier class."""
        codes = (self.decision_function(X) > 0).astype(int)
        return self.classes_[codes]

    def predict_proba(self, X):
        """P(class | x)."""
        p = expit(self.decision_function(X))
        return np.column_stack([1 - p, p])


@njit(cache=True)
def _newton_leaves(target, f, p, leaf, shrinkage, value):
    """Fill in the leaves, move f, refresh p; return the mean logistic loss."""
    n = len(f)
    # Neighbours are often in the same leaf: four sums side by side do not wait for each other.
    top, bottom = np.zeros((4, len(value))), np.zeros((4, len(value)))
    for i in range(n):
        top[i & 3, leaf[i]] += target[i] - p[i]
        bottom[i & 3, leaf[i]] += p[i] * (1.0 - p[i])
    for v in range(len(value)):
        above = (top[0, v] + top[1, v]) + (top[2, v] + top[3, v])
        below = (bottom[0, v] + bottom[1, v]) + (bottom[2, v] + bottom[3, v])
        # Where all probabilities are 0 or 1 to rounding, there is nothing left to gain.
        value[v] = shrinkage * above / below if below > 1e-150 else 0.0
    total = 0.0
    small, hinge = np.zeros(_STRETCH), np.zeros(_STRETCH)
    for a in range(0, n, _STRETCH):
        b = min(a + _STRETCH, n)
        for i in range(a, b):
            f[i] += value[leaf[i]]
            small[i - a] = -abs(f[i])
        exp_in_place(small)
        for i in range(b - a):
            margin = f[a + i] * (2.0 * target[a + i] - 1.0)
            hinge[i] = 0.0 if margin >= 0.0 else -margin
        for i in range(b - a):
            likely = 1.0 / (1.0 + small[i])
            p[a + i] = likely if f[a + i] >= 0.0 else small[i] * likely
        small[b - a :], hinge[b - a :] = 0.0, 0.0
        total += _sum_of_losses(small, hinge)
    return total / n


@njit(cache=True)
def _sum_of_losses(small, hinge):
    """Σ ln(1 + s_i) + Σ h_i, by halves; overwrites both.

    Two factors (1 + s)(1 + t) = 1 + (s + t + st) become one, so that eight logarithms serve all, and a small s keeps
    its digits.
    """
    half = len(small) // 2
    while half >= 8:
        for i in range(half):
            small[i] = small[i] + small[i + half] + small[i] * small[i + half]
            hinge[i] += hinge[i + half]
        half //= 2
    total = 0.0
    for i in range(8):
        total += np.log1p(small[i]) + hinge[i]
    return total


@njit(cache=True)
def _add_trees(X, feature, threshold, value, f, stages):
    for t in range(len(feature)):
        for i in range(len(X)):
            f[i] += value[t, leaf_of(X[i], feature[t], threshold[t], None, None, None)]
        if len(stages):
            stages[t] = f
