"""Boosting with binary columns and their complements as weak learners (Fleuret 2004, Sec. 3.4).

Each round needs the weighted error of every column. Eight rows are added at once: for each byte of a packed column the
sum of its rows' signed weights is looked up in a table of 256 entries that is made anew in each round.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from learnable._bits import pack_bits
from learnable.validation import check_class_labels, check_scalar, encode_labels


class TwoClasses(ClassifierMixin, BaseEstimator):
    """Two classes, of which the second is where ``decision_function`` is positive: a vote of zero is for the first."""

    def predict(self, X):
        """The class on whose side the decision lies."""
        second = self.decision_function(X) > 0
        return self.classes_[second.astype(int)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class FeatureBoost(TwoClasses):
    """AdaBoost whose weak learners are the columns themselves (Fleuret 2004, Sec. 3.4)."""

    def __init__(self, n_rounds=50, *, binarize=0.0, balanced=False):
        self.n_rounds = n_rounds
        self.binarize = binarize
        self.balanced = balanced

    def fit(self, X, y):
        """Choose and weight columns."""
        n_rounds = check_scalar(self.n_rounds, "n_rounds", low=1, integer=True)
        cut = check_scalar(self.binarize, "binarize")
        X, y = validate_data(self, X, y)
        check_class_labels(y)
        self.classes_, codes = two_classes(y)
        words = pack_bits(np.ascontiguousarray((X > cut).T))
        self.order_, self.weights_ = boosted_columns(words, codes, n_rounds, balanced=bool(self.balanced))
        return self

    def decision_function(self, X):
        """The weighted vote."""
        check_is_fitted(self, "order_")
        X = validate_data(self, X, reset=False)
        return np.where(X[:, self.order_] > self.binarize, 1.0, -1.0) @ self.weights_


def two_classes(y):
    """Labels and codes 0, 1 of two classes; a ValueError for any other number."""
    classes, codes = encode_labels(y)
    if len(classes) != 2:
        raise ValueError(
            f"y: Only binary classification is supported. The target has {len(classes)} class"
            f"{'' if len(classes) == 1 else 'es'}, two are needed"
        )
    return classes, codes.astype(np.int64)


def boosted_columns(words, codes, n_rounds, *, balanced=False):
    """AdaBoost on packed columns."""
    start = 1.0 / np.bincount(codes, minlength=2)[codes] if balanced else np.ones(len(codes))
    return _boost(words, 2.0 * codes - 1.0, start / start.sum(), n_rounds)


@njit(cache=True)
def _boost(words, signs, chance, n_rounds):
    n, n_bytes = len(signs), 8 * words.shape[1]
    order, votes = np.empty(n_rounds, dtype=np.int64), np.empty(n_rounds)
    table = np.empty((n_bytes, 256))
    for step in range(n_rounds):
        balance = 0.0
        for i in range(n):
            balance += chance[i] * signs[i]
        _sums_of_bytes(chance, signs, table)
        # Sum of weight * sign * (+1 where the column is on, -1 elsewhere): the error is (1 - edge) / 2.
        best, edge = -1, 0.0
        for j in range(len(words)):
            value = 2.0 * _total(table, words, j) - balance
            if abs(value) > abs(edge) + 1e-12:
                best, edge = j, value
        if best < 0:
            return order[:step], votes[:step]
        error = max((1.0 - abs(edge)) / 2, 1e-10)
        vote = 0.5 * np.log((1 - error) / error) * np.sign(edge)
        order[step], votes[step] = best, vote
        if error <= 1e-10:
            return order[: step + 1], votes[: step + 1]
        total = 0.0
        for i in range(n):
            on = words[best, i // 64] >> np.uint64(i % 64) & np.uint64(1)
            chance[i] *= np.exp(-vote * signs[i] * (1.0 if on else -1.0))
            total += chance[i]
        chance /= total
    return order, votes


@njit(cache=True)
def _sums_of_bytes(chance, signs, table):
    """table[b, v]: the sum of signed weights over those of the rows 8 b, ..., 8 b + 7 whose bit of v is one."""
    n = len(chance)
    for b in range(len(table)):
        table[b, 0] = 0.0
        for bit in range(8):
            i = 8 * b + bit
            value = chance[i] * signs[i] if i < n else 0.0
            for v in range(1 << bit):
                table[b, v + (1 << bit)] = table[b, v] + value


@njit(cache=True)
def _total(table, words, j):
    total = 0.0
    for w in range(words.shape[1]):
        word = words[j, w]
        for b in range(8):
            total += table[8 * w + b, np.int64(word & np.uint64(255))]
            word >>= np.uint64(8)
    return total
