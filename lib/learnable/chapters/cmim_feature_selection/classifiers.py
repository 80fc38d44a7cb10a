"""The classifiers that the chosen columns are tried with (Fleuret 2004, Sec. 3.1, 3.2), and how to compare errors.

The perceptron and the Gaussian support vector machine are scikit-learn's. Naive Bayes differs from `BernoulliNB` in its
bias, which is chosen on the training rows; the neighbours weigh the positive class, and choose number and weight by
leaving one row out.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from sklearn.utils.validation import check_is_fitted, validate_data

from learnable.chapters.cmim_feature_selection.boosting import TwoClasses, two_classes
from learnable.validation import check_class_labels, check_magnitude, check_scalar


class NaiveBayesThreshold(TwoClasses):
    """Naive Bayes for binary columns with a bias chosen on the training rows (Fleuret 2004, Sec. 3.1.2, 4.1)."""

    def __init__(self, smoothing=0.5, *, balanced=True, binarize=0.0):
        self.smoothing = smoothing
        self.balanced = balanced
        self.binarize = binarize

    def fit(self, X, y):
        """Count, and choose the bias."""
        smoothing = check_scalar(self.smoothing, "smoothing", low=0, closed="neither")
        cut = check_scalar(self.binarize, "binarize")
        X, y = validate_data(self, X, y)
        check_class_labels(y)
        self.classes_, codes = two_classes(y)
        on = (X > cut).astype(float)
        sizes = np.bincount(codes, minlength=2)
        ones = np.stack([on[codes == c].sum(axis=0) for c in (0, 1)])
        odds = np.log(ones + smoothing) - np.log(sizes[:, None] - ones + smoothing)
        # Rounded to 2^-30, so that rows with the same columns have the same score in whatever order it is summed.
        self.coef_ = np.ldexp(np.rint(np.ldexp(odds[1] - odds[0], 30)), -30)
        self.intercept_ = best_bias(on @ self.coef_, codes, balanced=bool(self.balanced))
        return self

    def decision_function(self, X):
        """The weighted sum of the columns plus bias."""
        check_is_fitted(self, "coef_")
        X = validate_data(self, X, reset=False)
        return (X > self.binarize).astype(float) @ self.coef_ + self.intercept_


class WeightedNeighbors(TwoClasses):
    """Nearest neighbours that weigh the positive class (Fleuret 2004, Sec. 3.2)."""

    def __init__(self, max_neighbors=15, *, n_weights=9):
        self.max_neighbors = max_neighbors
        self.n_weights = n_weights

    def fit(self, X, y):
        """Remember the rows; choose k and alpha."""
        largest = check_scalar(self.max_neighbors, "max_neighbors", low=1, integer=True)
        n_weights = check_scalar(self.n_weights, "n_weights", low=1, integer=True)
        X, y = validate_data(self, X, y)
        check_class_labels(y)
        self.classes_, codes = two_classes(y)
        self._rows, self._codes = check_magnitude(X.astype(float), "X", smallest=0.0), codes
        ks = np.arange(1, max(min(largest, len(X) - 1), 1) + 1, 2)
        distance = self._squared(self._rows)
        np.fill_diagonal(distance, np.inf)
        positive = self._positive_among(distance, ks[-1])
        sizes = np.bincount(codes, minlength=2)
        weights = np.arange(1, n_weights + 1) / (n_weights + 1)
        best = (np.inf, 0.0, 0, 0.0)
        for k in ks:
            for alpha in weights:
                said = alpha * positive[:, k - 1] > (1 - alpha) * (k - positive[:, k - 1])
                error = np.mean([(said & (codes == 0)).sum() / sizes[0], (~said & (codes == 1)).sum() / sizes[1]])
                # Among equal errors the weight nearest to one half, and then the smaller k.
                best = min(best, (round(float(error), 12), round(abs(alpha - 0.5), 12), int(k), float(alpha)))
        self.n_neighbors_, self.positive_weight_ = best[2], best[3]
        return self

    def decision_function(self, X):
        """Weight of the positive neighbours minus that of the negative ones."""
        check_is_fitted(self, "n_neighbors_")
        X = check_magnitude(validate_data(self, X, reset=False).astype(float), "X", smallest=0.0)
        positive = self._positive_among(self._squared(X), self.n_neighbors_)[:, -1]
        return self.positive_weight_ * positive - (1 - self.positive_weight_) * (self.n_neighbors_ - positive)

    def _squared(self, X):
        square = (X**2).sum(axis=1)[:, None] + (self._rows**2).sum(axis=1) - 2 * X @ self._rows.T
        return np.maximum(square, 0.0)

    def _positive_among(self, distance, k):
        """Number of positive rows among the 1, ..., k nearest."""
        nearest = np.argsort(distance, axis=1, kind="stable")[:, :k]
        return np.cumsum(self._codes[nearest], axis=1)


def error_z_score(error, reference, n, *, n_rounds=1):
    """Difference of an error rate from a reference, over its standard deviation (Fleuret 2004, Sec. 6.1)."""
    error = check_scalar(error, "error", low=0, high=1)
    reference = check_scalar(reference, "reference", low=0, high=1)
    total = check_scalar(n, "n", low=1, integer=True) * check_scalar(n_rounds, "n_rounds", low=1, integer=True)
    variance = (error * (1 - error) + reference * (1 - reference)) / total
    return 0.0 if error == reference else float((error - reference) / np.sqrt(variance))


def best_bias(scores, codes, *, balanced=True):
    """Minus the threshold of smallest training error, in the middle of a gap; of equal ones that nearest the median."""
    order = np.argsort(scores, kind="stable")
    sizes = np.bincount(codes, minlength=2).astype(float)
    weights = 1.0 / sizes if balanced else np.ones(2)
    cuts, errors = _cut_errors(scores[order], codes[order], weights, sizes)
    best = np.flatnonzero(errors <= errors.min() * (1 + 1e-12))
    return -float(cuts[best[np.argmin(np.abs(best - (len(cuts) - 1) / 2))]])


@njit(cache=True)
def _cut_errors(scores, codes, weights, sizes):
    """Thresholds between distinct scores (and outside), and the error of each."""
    n = len(scores)
    cuts, errors = np.empty(n + 1), np.empty(n + 1)
    wrong = sizes[0] * weights[0]  # everything above the threshold: all of class 0 is wrong
    cuts[0], errors[0], count = scores[0] - 1.0, wrong, 1
    for i in range(n):
        wrong += weights[1] if codes[i] == 1 else -weights[0]
        if i == n - 1 or scores[i + 1] > scores[i]:
            cuts[count] = 0.5 * (scores[i] + scores[i + 1]) if i < n - 1 else scores[i] + 1.0
            errors[count] = max(wrong, 0.0)
            count += 1
    return cuts[:count], errors[:count]
