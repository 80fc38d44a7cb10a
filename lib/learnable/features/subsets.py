"""What a wrapper asks again and again: the error of a learner on a subset of the columns.

`NaiveBayesSubsets` answers for naive Bayes without refitting. The model of each fold is fitted once; the score of a row
for a class is a sum with one term for each column, so that a subset is a sum of columns, and one that differs from the
subset asked before by k columns costs k columns. The terms are kept as whole numbers (logarithms in units of 2^-32), so
that adding and taking away columns gives exactly what adding them afresh gives. `EstimatorSubsets` refits any
scikit-learn estimator. Both remember what they have answered and count what they have computed.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from sklearn.base import clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv

from learnable.features.discretization import code_for_classes
from learnable.validation import check_scalar, encode_labels

__all__ = ["EstimatorSubsets", "NaiveBayesSubsets", "SubsetEvaluator"]

UNIT = 2.0**-32


class SubsetEvaluator:
    """Base of evaluators: remembers errors of subsets and counts questions and computations.

    Parameters
    ----------
    n_features : int
        Number of columns; subsets are sets of places below it.

    Attributes
    ----------
    n_calls : int
        Questions asked.
    n_evaluations : int
        Subsets for which the learner was really run; the other questions were answered from memory.

    Examples
    --------
    >>> class Missing(SubsetEvaluator):
    ...     def _error(self, columns):
    ...         return 1 - len(set(columns) & {0, 1}) / 2
    >>> oracle = Missing(5)
    >>> oracle.error([0, 3]), oracle.error([3, 0]), oracle.n_calls, oracle.n_evaluations
    (0.5, 0.5, 2, 1)
    """

    def __init__(self, n_features):
        self.n_features = check_scalar(n_features, "n_features", low=1, integer=True)
        self.n_calls = self.n_evaluations = 0
        self._known = {}

    def error(self, columns):
        """The error of the learner with these columns alone.

        Parameters
        ----------
        columns : iterable of int
            Places of columns in any order; none means that the learner knows the classes only.

        Returns
        -------
        float
            The cross-validated error.
        """
        columns = self._places(columns)
        self.n_calls += 1
        key = columns.tobytes()
        if key not in self._known:
            self.n_evaluations += 1
            self._known[key] = float(self._error(columns))
        return self._known[key]

    def _places(self, columns):
        columns = np.unique(columns if isinstance(columns, np.ndarray) else np.array(list(columns)))
        if columns.size == 0:
            return columns.astype(np.int64)
        if columns.dtype.kind not in "biuf" or (columns != np.floor(columns)).any():
            raise ValueError("columns must be whole numbers, the places of columns")
        if columns[0] < 0 or columns[-1] >= self.n_features:
            raise ValueError(f"columns: places lie between 0 and {self.n_features - 1}")
        return columns.astype(np.int64)

    def forget(self):
        """Start anew: no remembered errors, counters at zero."""
        self.n_calls = self.n_evaluations = 0
        self._known.clear()

    def _error(self, columns):
        raise NotImplementedError


class NaiveBayesSubsets(SubsetEvaluator):
    """Cross-validated error of naive Bayes for discrete columns on any subset of them, without refitting.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Discrete columns of any kind; continuous ones are cut as `MDLDiscretizer` does, with all rows.
    y : array-like of shape (n,)
        Class labels.
    cv : int or scikit-learn splitter, default=5
        The folds; a row is counted in each test set in which it stands.
    smoothing : float, default=1.0
        Added to the count of each value in each class, as in `CategoricalNB`.

    Attributes
    ----------
    n_calls, n_evaluations : int
        As for `SubsetEvaluator`.
    classes_ : ndarray
        The labels.

    Notes
    -----
    Equal to refitting `CategoricalNB` with the values of all rows known. Cost: n d once for each fold, then n k c for
    a subset that differs from the last one by k columns, with c classes. Memory n d bytes and the tables of the folds.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, (400, 30))
    >>> nb = NaiveBayesSubsets(X, X[:, 0])
    >>> nb.error([0]), nb.error([1]) > 0.3
    (0.0, True)
    """

    def __init__(self, X, y, *, cv=5, smoothing=1.0):
        columns = code_for_classes(X, y)
        super().__init__(columns.n_features)
        self.classes_, codes = encode_labels(y)
        if len(codes) != columns.n_samples:
            raise ValueError(f"y: {len(codes)} labels for {columns.n_samples} rows")
        smoothing = check_scalar(smoothing, "smoothing", low=0, closed="neither")
        codes = codes.astype(np.int64)
        folds = list(check_cv(cv, codes, classifier=True).split(np.zeros((len(codes), 1)), codes))
        self._rows = np.concatenate([test for _, test in folds])
        self._labels = codes[self._rows]
        self._fold = np.repeat(np.arange(len(folds)), [len(test) for _, test in folds])
        self._codes = np.ascontiguousarray(columns.codes[:, self._rows])
        self._starts = np.concatenate([[0], np.cumsum(columns.n_states)])
        self._terms = np.empty((len(folds), self._starts[-1], len(self.classes_)), dtype=np.int64)
        empty = np.empty((len(folds), len(self.classes_)), dtype=np.int64)
        for f, (train, _) in enumerate(folds):
            members = np.bincount(codes[train], minlength=len(self.classes_))
            counts = _count_values(columns.codes, self._starts, codes, np.asarray(train), len(self.classes_))
            states = np.repeat(columns.n_states, columns.n_states)[:, None]
            probability = (counts + smoothing) / (members + smoothing * states)
            self._terms[f] = np.rint(np.log(probability) / UNIT)
            with np.errstate(divide="ignore"):
                prior = np.log(members / len(train))
            # A class without a row in the training folds is never chosen, whatever the columns say.
            empty[f] = np.rint(np.maximum(prior, -(2.0**29)) / UNIT)
        self._scores = empty[self._fold]
        self._inside = np.zeros(self.n_features, dtype=bool)
        self._empty = self._scores.copy()

    def _error(self, columns):
        wanted = np.zeros(self.n_features, dtype=bool)
        wanted[columns] = True
        if (wanted ^ self._inside).sum() > len(columns):  # nearer to the empty set than to the last subset
            self._scores[:] = self._empty
            self._inside[:] = False
        tables = self._codes, self._starts, self._terms, self._fold
        _add_columns(*tables, np.flatnonzero(wanted & ~self._inside), 1, self._scores)
        _add_columns(*tables, np.flatnonzero(self._inside & ~wanted), -1, self._scores)
        self._inside = wanted
        return np.mean(self._scores.argmax(axis=1) != self._labels)


class EstimatorSubsets(SubsetEvaluator):
    """Cross-validated error of any scikit-learn estimator on subsets of the columns, by refitting.

    Parameters
    ----------
    estimator : estimator
        A classifier or regressor; cloned for each fold.
    X : array-like of shape (n, d)
        Columns.
    y : array-like of shape (n,)
        Labels or responses.
    cv : int or scikit-learn splitter, default=5
        The folds.
    scoring : str or callable, optional
        What is averaged; the error is one minus a score of a classifier, and minus the score of a regressor. By default
        the estimator's own score.

    Attributes
    ----------
    n_calls, n_evaluations : int
        As for `SubsetEvaluator`.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> tree = EstimatorSubsets(DecisionTreeClassifier(max_depth=1, random_state=0), X, X[:, 2] > 0)
    >>> tree.error([2]) < 0.05 < tree.error([0, 1])
    True
    """

    def __init__(self, estimator, X, y, *, cv=5, scoring=None):
        self._frame = X if hasattr(X, "iloc") else np.asarray(X)
        if self._frame.ndim != 2 or len(self._frame) != len(y):
            raise ValueError(f"X: one row for each of the {len(y)} values of y is expected")
        super().__init__(self._frame.shape[1])
        self.estimator, self._y = estimator, np.asarray(y)
        self._scorer = check_scoring(estimator, scoring=scoring)
        self._whole = 1.0 if is_classifier(estimator) else 0.0
        self._folds = list(check_cv(cv, self._y, classifier=is_classifier(estimator)).split(self._frame, self._y))

    def _error(self, columns):
        take = self._frame.iloc[:, columns] if hasattr(self._frame, "iloc") else self._frame[:, columns]
        if not len(columns):
            # scikit-learn refuses a table without columns; a constant column says as little.
            take = np.zeros((len(self._y), 1))
        rows = (lambda index: take.iloc[index]) if hasattr(take, "iloc") else (lambda index: take[index])
        scores = []
        for train, test in self._folds:
            fitted = clone(self.estimator).fit(rows(train), self._y[train])
            scores.append(self._scorer(fitted, rows(test), self._y[test]) * len(test))
        return self._whole - sum(scores) / sum(len(test) for _, test in self._folds)


@njit(cache=True)
def _count_values(codes, starts, labels, train, n_classes):
    """How often each value of each column occurs with each class in the training rows."""
    counts = np.zeros((starts[-1], n_classes), dtype=np.int64)
    for j in range(codes.shape[0]):
        for i in train:
            counts[starts[j] + codes[j, i], labels[i]] += 1
    return counts


@njit(cache=True)
def _add_columns(codes, starts, terms, fold, columns, sign, scores):
    """Add (or take away) the terms of some columns to the scores of every row, in place."""
    n, n_classes = scores.shape
    for j in columns:
        for i in range(n):
            place = starts[j] + codes[j, i]
            for c in range(n_classes):
                scores[i, c] += sign * terms[fold[i], place, c]
