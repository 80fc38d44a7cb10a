"""Gradient boosting with least-squares regression trees (Friedman 2001): the modern descendant."""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from learnable._simd import exp_in_place
from learnable.ensembles.weak_learners import RegressionTree
from learnable.trees._nodes import leaf_of
from learnable.trees.missing import MissingColumns
from learnable.validation import check_class_labels, check_scalar, encode_labels

__all__ = ["GradientBoostedTrees"]

_STRETCH = 512  # rows whose losses are summed together: a power of two


class GradientBoostedTrees(ClassifierMixin, BaseEstimator):
    """Additive log-odds from regression trees: fit the gradient, then take one Newton step in every leaf.

    f_0 is the log-odds of the classes. Each round grows a tree on the residuals y − p by least squares, gives its leaf
    the value Σ(y − p)/Σp(1 − p), and adds `shrinkage` times the tree. With K > 2 classes a round grows a tree for each
    class on its residuals, with leaves ((K − 1)/K) Σ(y − p)/Σp(1 − p), and p is the softmax of the K sums.

    A missing value (NaN) goes to the side of each cut where the training rows without a value served best; in a column
    that had none in training it goes to the side of the small values.

    Cost O(n d (log n + depth n_rounds)), times K > 2: features are sorted, or binned, once.

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
    init_ : float, or array (K,)
        f_0.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(8.0)[:, None]
    >>> model = GradientBoostedTrees(n_rounds=20, max_depth=2).fit(X, [0, 0, 1, 1, 1, 0, 0, 0])
    >>> model.predict(X).tolist()
    [0, 0, 1, 1, 1, 0, 0, 0]

    Three classes, one of them told by a missing value:

    >>> X[6:] = np.nan
    >>> model = GradientBoostedTrees(n_rounds=20, max_depth=1).fit(X, ["a", "a", "a", "b", "b", "b", "?", "?"])
    >>> model.predict([[1.0], [4.0], [np.nan]]).tolist()
    ['a', 'b', '?']
    """

    def __init__(self, n_rounds=100, max_depth=3, shrinkage=0.1, min_samples_leaf=1, max_bins="auto"):
        self.n_rounds = n_rounds
        self.max_depth = max_depth
        self.shrinkage = shrinkage
        self.min_samples_leaf = min_samples_leaf
        self.max_bins = max_bins

    def fit(self, X, y):
        """Sort or bin the features once, then T rounds of O(depth · n · d), times K if there are K > 2 classes."""
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_all_finite="allow-nan")
        check_class_labels(y)
        self.classes_, codes = encode_labels(y)
        if len(self.classes_) < 2:
            raise ValueError("y must contain at least two classes, got one class")
        rounds = check_scalar(self.n_rounds, "n_rounds", low=1, integer=True)
        shrinkage = check_scalar(self.shrinkage, "shrinkage", low=0, closed="neither")
        self._missing = MissingColumns.of(X)
        learner = RegressionTree(self.max_depth, self.min_samples_leaf, self.max_bins)
        learner = learner.prepare(self._missing.fill(X))
        fit = self._fit_binary if len(self.classes_) == 2 else self._fit_classes
        fit(learner, codes, rounds, shrinkage)
        return self

    def _fit_binary(self, learner, codes, rounds, shrinkage):
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

    def _fit_classes(self, learner, codes, rounds, shrinkage):
        n, k = len(codes), len(self.classes_)
        share = np.bincount(codes) / n
        self.init_ = np.log(share)
        size = 2 ** (learner.max_depth + 1) - 1
        feature, threshold = np.empty((rounds, k, size), np.int64), np.empty((rounds, k, size))
        value, losses = np.zeros((rounds, k, size)), np.empty(rounds)
        target = np.equal.outer(np.arange(k), codes).astype(np.float64)
        f, p = np.repeat(self.init_[:, None], n, axis=1), np.repeat(share[:, None], n, axis=1)
        for t in range(rounds):
            # All trees of a round see the probabilities from before it.
            for c in range(k):
                residual = target[c] - p[c]
                feature[t, c], threshold[t, c], leaf = learner.split(residual)
                _class_leaves(residual, p[c], leaf, shrinkage * (k - 1) / k, value[t, c], f[c])
            losses[t] = _softmax_columns(f, codes, p)
        self.features_, self.thresholds_, self.values_, self.losses_ = feature, threshold, value, losses

    def decision_function(self, X):
        """Log-odds of the second class; with K > 2 classes their logarithms up to a constant, as an array (n, K)."""
        return self._stages(X, every=False)

    def staged_decision_function(self, X):
        """The same after each round, as an array (rounds, n) or (rounds, n, K)."""
        return self._stages(X, every=True)

    def _stages(self, X, every):
        check_is_fitted(self, "values_")
        X = validate_data(self, X, reset=False, dtype=np.float64, ensure_all_finite="allow-nan")
        X = np.ascontiguousarray(self._missing.fill(X))
        if len(self.classes_) == 2:
            return self._sum(X, self.init_, slice(None), every)
        every_class = [self._sum(X, init, np.s_[:, c], every) for c, init in enumerate(self.init_)]
        return np.stack(every_class, axis=-1)

    def _sum(self, X, init, trees, every):
        arrays = [np.ascontiguousarray(a[trees]) for a in (self.features_, self.thresholds_, self.values_)]
        f = np.full(len(X), init)
        stages = np.empty((len(self.values_) if every else 0, len(X)))
        _add_trees(X, *arrays, f, stages)
        return stages if every else f

    def predict(self, X):
        """The likelier class."""
        f = self.decision_function(X)
        return self.classes_[(f > 0).astype(int) if f.ndim == 1 else f.argmax(axis=1)]

    def predict_proba(self, X):
        """P(class | x)."""
        f = self.decision_function(X)
        if f.ndim == 2:
            return softmax(f, axis=1)
        p = expit(f)
        return np.column_stack([1 - p, p])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


@njit(cache=True)
def _class_leaves(residual, p, leaf, shrinkage, value, f):
    """Fill in the leaves of one class's tree and move its f."""
    top, bottom = np.zeros(len(value)), np.zeros(len(value))
    for i in range(len(leaf)):
        top[leaf[i]] += residual[i]
        bottom[leaf[i]] += p[i] * (1.0 - p[i])
    for v in range(len(value)):
        # As with two classes: nothing is left to gain where all probabilities are 0 or 1 to rounding.
        value[v] = shrinkage * top[v] / bottom[v] if bottom[v] > 1e-150 else 0.0
    for i in range(len(leaf)):
        f[i] += value[leaf[i]]


@njit(cache=True)
def _softmax_columns(f, codes, p):
    """Probabilities of the classes for each column of f; returns the mean −ln p of the true ones."""
    k, n = f.shape
    total = 0.0
    for i in range(n):
        largest = f[0, i]
        for c in range(1, k):
            largest = max(largest, f[c, i])
        mass = 0.0
        for c in range(k):
            p[c, i] = np.exp(f[c, i] - largest)
            mass += p[c, i]
        for c in range(k):
            p[c, i] /= mass
        total += np.log(mass) - (f[codes[i], i] - largest)
    return total / n


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
