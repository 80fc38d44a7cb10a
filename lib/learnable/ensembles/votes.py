"""What the boosted classifiers share: ±1 labels, weak learners by name, and votes over rounds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from learnable.ensembles.weak_learners import ColumnRules, Stump, StumpERM, TreeERM
from learnable.validation import BinaryClassifierMixin, check_finite_array, check_has, check_weights, signed_labels

__all__ = ["vote", "weak_learner"]


def weak_learner(base, max_bins="auto"):
    """The weak learner of a name (``"stump"``, ``"columns"``), of a depth (an integer), or the object itself.

    Parameters
    ----------
    base : {"stump", "columns"}, int or weak learner
    max_bins : {"auto"}, int or None, default="auto"
        Of the stumps or trees that a name or a depth stands for, see `StumpERM`.

    Examples
    --------
    >>> weak_learner("stump"), weak_learner(3)
    (StumpERM(), TreeERM(max_depth=3))
    """
    if isinstance(base, str) and base in ("stump", "columns"):
        return StumpERM(max_bins) if base == "stump" else ColumnRules()
    if isinstance(base, (int, np.integer)) and not isinstance(base, bool):
        return StumpERM(max_bins) if base == 1 else TreeERM(int(base), max_bins=max_bins)
    if hasattr(base, "prepare"):
        return base
    raise ValueError(f"base must be 'stump', 'columns', a depth, or a weak learner with prepare(X); got {base!r}")


def bare(rule):
    """The rule without its values on the sample: what a fitted vote of many rules keeps."""
    return replace(rule, outputs=None)


def vote(rules, alphas, X):
    """Σ α_t h_t(x) for each row of X.

    A vote of stumps is a sum of one step function for each feature: its thresholds are sorted, and each row finds its
    place among them. O(n log T) a feature instead of O(n T).

    Parameters
    ----------
    rules : list of rules
        Each with ``predict``.
    alphas : array-like of shape (T,)
        Their coefficients.
    X : array-like of shape (n, d)

    Examples
    --------
    >>> vote([Stump(0, 0.5, 1), Stump(0, 1.5, -1)], [1.0, 0.25], [[0.0], [1.0], [2.0]])
    array([-0.75,  1.25,  0.75])
    """
    X = check_finite_array(X, "X", ndim=2)
    alphas = check_finite_array(alphas, "alphas", ndim=1)
    for rule in rules:
        check_has(rule, "rules", "predict", "a list of rules with predict")
    f = np.zeros(len(X))
    if not all(isinstance(rule, Stump) for rule in rules):
        for alpha, rule in zip(alphas, rules, strict=True):
            f += alpha * rule.predict(X)
        return f
    feature = np.array([rule.feature for rule in rules], dtype=np.int64)
    threshold = np.array([rule.threshold for rule in rules], dtype=float)
    if len(alphas) != len(rules) or feature.max(initial=-1) >= X.shape[1]:
        raise ValueError(
            f"alphas must hold one number for each of the {len(rules)} rules and X the columns that they ask for, "
            f"got {len(alphas)} numbers and shape {X.shape}"
        )
    height = alphas * [rule.sign for rule in rules]
    f += height[feature < 0].sum()
    for j in np.unique(feature[feature >= 0]):
        mine = np.flatnonzero(feature == j)
        mine = mine[np.argsort(threshold[mine], kind="stable")]
        below = np.concatenate([[0.0], np.cumsum(height[mine])])
        # A row above k thresholds gets + from those and − from the rest.
        f += 2.0 * below[np.searchsorted(threshold[mine], X[:, j], side="left")] - below[-1]
    return f


class BinaryBoost(BinaryClassifierMixin, BaseEstimator):
    """A vote f = Σ α_t h_t over two classes; the second class is +1.

    Subclasses fill ``rules_`` and ``alphas_``.
    """

    # P(Y = 1 | x) is estimated by expit(_link · f).
    _link = 1.0

    def _prepare(self, X, y, sample_weight):
        X, signs = self._signed_data(X, y)
        weights = check_weights(sample_weight, signs.size)
        start = np.full(signs.size, 1.0 / signs.size) if weights is None else weights / weights.sum()
        return X, signs, start

    def _checked(self, X):
        check_is_fitted(self, "rules_")
        return validate_data(self, X, reset=False, dtype=np.float64)

    def _staged_scores(self, X):
        f = np.zeros(len(X))
        for alpha, rule in zip(self.alphas_, self.rules_, strict=True):
            f = f + alpha * rule.predict(X)
            yield f

    def decision_function(self, X):
        """f(x) = Σ α_t h_t(x)."""
        X = self._checked(X)
        return vote(self.rules_, self.alphas_, X)

    def staged_decision_function(self, X):
        """f after each round, as an array (rounds, n)."""
        X = self._checked(X)
        return np.array(list(self._staged_scores(X))).reshape(len(self.rules_), len(X))

    def staged_predict(self, X):
        """Predictions after each round, as an array (rounds, n)."""
        return self._decide(self.staged_decision_function(X))

    def staged_error(self, X, y):
        """Share of errors after each round."""
        return np.mean(self.staged_predict(X) != np.asarray(y), axis=1)

    def predict_proba(self, X):
        """P(class | x) through the minimiser of the φ-risk: 1/(1 + e^{−f}) or 1/(1 + e^{−2f})."""
        p = expit(self._link * self.decision_function(X))
        return np.column_stack([1 - p, p])

    def _signs(self, y):
        return signed_labels(y, self.classes_)[1]

    def normalised_margins(self, X, y, *, rounds=None):
        """ρ_i = y_i f(x_i) / Σ|α_t| in [−1, 1], after `rounds` rounds (default all)."""
        X = self._checked(X)
        rounds = len(self.rules_) if rounds is None else rounds
        f = vote(self.rules_[:rounds], self.alphas_[:rounds], X)
        return self._signs(y) * f / np.abs(self.alphas_[:rounds]).sum()
