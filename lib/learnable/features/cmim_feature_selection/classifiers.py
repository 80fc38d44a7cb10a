"""The classifiers that the chosen columns are tried with (Fleuret 2004, Sec. 3.1, 3.2), and how to compare errors.

The perceptron and the Gaussian support vector machine are scikit-learn's. Naive Bayes differs from `BernoulliNB` in its
bias, which is chosen on the training rows; the neighbours weigh the positive class, and choose number and weight by
leaving one row out.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from learnable.features.cmim_feature_selection.boosting import two_classes
from learnable.validation import check_class_labels, check_magnitude, check_scalar

__all__ = ["NaiveBayesThreshold", "WeightedNeighbors", "error_z_score"]


class _TwoClasses(ClassifierMixin, BaseEstimator):
    def predict(self, X):
        """The class on whose side the decision lies.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Columns as in `fit`.

        Returns
        -------
        ndarray of shape (n,)
            Labels.
        """
        second = self.decision_function(X) > 0
        return self.classes_[second.astype(int)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class NaiveBayesThreshold(_TwoClasses):
    """Naive Bayes for binary columns with a bias chosen on the training rows (Fleuret 2004, Sec. 3.1.2, 4.1).

    The weight of a column is its log odds ratio, log c00 + log c11 - log c10 - log c01, with c the smoothed counts of
    value and class; the bias makes the training error smallest.

    Parameters
    ----------
    smoothing : float, default=0.5
        Added to each count: without it a column that never fires in one class has an infinite weight.
    balanced : bool, default=True
        Whether the bias minimises the mean of the two classes' error rates, or the plain error rate.
    binarize : float, default=0.0
        A column is "on" where it is larger.

    Attributes
    ----------
    coef_ : ndarray of shape (d,)
        Weights.
    intercept_ : float
        The bias.
    classes_ : ndarray of shape (2,)
        The labels.
    n_features_in_ : int
        Number of columns seen in `fit`.

    Notes
    -----
    Cost O(n d + n log n).

    Examples
    --------
    >>> X = [[0, 1], [0, 0], [1, 1], [1, 0]]
    >>> NaiveBayesThreshold().fit(X, [0, 0, 1, 1]).predict([[1, 0], [0, 1]])
    array([1, 0])
    """

    def __init__(self, smoothing=0.5, *, balanced=True, binarize=0.0):
        self.smoothing = smoothing
        self.balanced = balanced
        self.binarize = binarize

    def fit(self, X, y):
        """Count, and choose the bias.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Binary columns.
        y : array-like of shape (n,)
            Labels of two classes.

        Returns
        -------
        NaiveBayesThreshold
            Itself.
        """
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
        """The weighted sum of the columns plus bias.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Binary columns.

        Returns
        -------
        ndarray of shape (n,)
            Positive for the second class.
        """
        check_is_fitted(self, "coef_")
        X = validate_data(self, X, reset=False)
        return (X > self.binarize).astype(float) @ self.coef_ + self.intercept_


class WeightedNeighbors(_TwoClasses):
    """Nearest neighbours that weigh the positive class (Fleuret 2004, Sec. 3.2).

    Among the k nearest rows a positive one counts alpha and a negative one 1 - alpha; k and alpha minimise the mean of
    the two classes' error rates when each training row is classified by the others.

    Parameters
    ----------
    max_neighbors : int, default=15
        The largest k that is tried; odd numbers only.
    n_weights : int, default=9
        Number of weights alpha that are tried, equally spaced inside (0, 1).

    Attributes
    ----------
    n_neighbors_ : int
        The chosen k.
    positive_weight_ : float
        The chosen alpha.
    classes_ : ndarray of shape (2,)
        The labels; the second one is the positive class.
    n_features_in_ : int
        Number of columns seen in `fit`.

    Notes
    -----
    The distance is Euclidean; its square counts the columns in which binary rows differ. Ties go to the row that was
    seen first. Cost O(n^2 d) for `fit`, by one matrix product.

    Examples
    --------
    >>> X = [[0, 0], [0, 0], [1, 1], [1, 1], [1, 1]]
    >>> WeightedNeighbors(max_neighbors=1).fit(X, [0, 0, 1, 1, 1]).predict([[0, 0], [1, 1]])
    array([0, 1])
    """

    def __init__(self, max_neighbors=15, *, n_weights=9):
        self.max_neighbors = max_neighbors
        self.n_weights = n_weights

    def fit(self, X, y):
        """Remember the rows; choose k and alpha.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Columns.
        y : array-like of shape (n,)
            Labels of two classes.

        Returns
        -------
        WeightedNeighbors
            Itself.
        """
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
        """Weight of the positive neighbours minus that of the negative ones.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Columns.

        Returns
        -------
        ndarray of shape (n,)
            Positive for the second class.
        """
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
    """Difference of an error rate from a reference, over its standard deviation (Fleuret 2004, Sec. 6.1).

    Parameters
    ----------
    error, reference : float
        Error rates in [0, 1].
    n : int
        Test rows behind each in a round.
    n_rounds : int, default=1
        Rounds that were averaged.

    Returns
    -------
    float
        (error - reference) / sqrt(sum of the Bernoulli variances): positive if the error is larger than the reference.
        Both are treated as independent, which they are not when they come from the same test rows.

    Examples
    --------
    >>> round(error_z_score(0.0228, 0.0152, 500, n_rounds=25), 1)
    4.4
    """
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
