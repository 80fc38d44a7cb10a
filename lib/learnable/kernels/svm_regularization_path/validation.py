"""Validation curves that are exact functions of lambda, and the path for many classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from learnable.kernels.svm_regularization_path.path import SVMPath
from learnable.validation import check_scalar

__all__ = ["OneVersusRestPath", "StepCurve", "cv_path"]


@dataclass(frozen=True)
class StepCurve:
    """A step function of lambda: `values[k]` on (edges[k+1], edges[k]], edges decreasing, edges[0] = inf.

    Called with lambda (a number or an array) it returns the value there.
    """

    edges: np.ndarray
    values: np.ndarray

    def __call__(self, lam):
        lam = np.asarray(lam, dtype=float)
        if np.any(lam <= self.edges[-1]):
            raise ValueError(f"the curve is known for lambda > {self.edges[-1]:g}")
        return self.values[np.searchsorted(-self.edges, -lam, side="right") - 1]

    def best(self):
        """(value, (low, high)): the least value and the longest interval of lambda (in logarithms) that attains it."""
        least = self.values.min()
        hit = np.flatnonzero(self.values == least)
        runs = np.split(hit, np.flatnonzero(np.diff(hit) > 1) + 1)
        spans = []
        for run in runs:
            high, low = self.edges[run[0]], self.edges[run[-1] + 1]
            spans.append((np.log(min(high, 1e300)) - np.log(low), low, high))
        _, low, high = max(spans)
        return float(least), (float(low), float(high))


def error_crossings(path, X, signs):
    """All lambda at which a prediction changes, and the number of errors between them.

    Within a segment lambda f is linear in lambda, so each point changes sides at most once there: exactly where
    the linear function vanishes.
    """
    lams = path.lambdas_
    scaled = path.path_decision(X) * lams[:, None]
    above = path.decision_function(X, lams[0] * 4.0) * lams[0] * 4.0
    edges, counts = [np.inf], []
    # Above the first breakpoint: two values of a linear function of lambda (the multipliers rest).
    tables = [(lams[0] * 4.0, lams[0], above, scaled[0])]
    tables += [(lams[k], lams[k + 1], scaled[k], scaled[k + 1]) for k in range(lams.size - 1)]
    flips = []
    for high, low, a, b in tables:
        changing = np.flatnonzero((a >= 0.0) != (b >= 0.0))
        for i in changing:
            at = high - (high - low) * a[i] / (a[i] - b[i])
            flips.append((float(min(max(at, low), high)), 1 if (b[i] >= 0.0) != (signs[i] > 0) else -1))
    errors = int(np.count_nonzero((above >= 0.0) != (signs > 0)))
    counts.append(errors)
    flips.sort(key=lambda item: -item[0])
    k = 0
    while k < len(flips):
        at = flips[k][0]
        while k < len(flips) and flips[k][0] == at:
            errors += flips[k][1]
            k += 1
        edges.append(at)
        counts.append(errors)
    return np.array(edges), np.array(counts), float(lams[-1])


def cv_path(X, y, folds=5, *, path=None, random_state=0):
    """Cross-validation error as an exact step function of lambda.

    One path a fold; between breakpoints predictions change where a linear function vanishes, so the error of a fold is
    a step function with known edges, and the mean over folds is one on the merged edges.

    Parameters
    ----------
    X, y : arrays
    folds : int or iterable of (train, test), default=5
        A number asks for stratified folds.
    path : SVMPath, optional
        Which path to fit.
    random_state : int, default=0
        Shuffles the folds.

    Returns
    -------
    StepCurve
        Mean error over all points.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2)); y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
    >>> curve = cv_path(X, y, 3, path=SVMPath(gamma=0.5, lam_min=1e-2))
    >>> bool(curve(1.0) >= curve.best()[0])
    True
    """
    X, y = np.asarray(X, dtype=float), np.asarray(y)
    path = SVMPath() if path is None else path
    if isinstance(folds, int | np.integer):
        count = check_scalar(folds, "folds", low=2, integer=True)
        splitter = StratifiedKFold(count, shuffle=True, random_state=random_state)
        folds = list(splitter.split(X, y))
    parts, total, least = [], 0, 0.0
    pairwise = path.kernel == "precomputed"
    for train, test in folds:
        inner = X[np.ix_(train, train)] if pairwise else X[train]
        outer = X[np.ix_(test, train)] if pairwise else X[test]
        fitted = clone(path).fit(inner, y[train])
        edges, counts, end = error_crossings(fitted, outer, np.where(y[test] == fitted.classes_[1], 1, -1))
        parts.append((edges, counts))
        total += len(test)
        least = max(least, 0.0 if fitted.separable_ else end)
    return _merge(parts, total, least)


def _merge(parts, total, least):
    """Sum of step functions on the union of their edges, divided by `total`."""
    if least <= 0.0:
        least = min((edges[np.isfinite(edges)].min(initial=1.0) for edges, _ in parts), default=1.0) * 1e-3
    merged = np.unique(np.concatenate([edges for edges, _ in parts]))[::-1]
    merged = merged[merged > least]
    values = np.zeros(merged.size)
    for edges, counts in parts:
        values += counts[np.searchsorted(-edges, -merged, side="right") - 1]
    return StepCurve(np.append(merged, least), values / total)


class OneVersusRestPath(ClassifierMixin, BaseEstimator):
    """One path a class against all others; the label is the class with the largest f at the same lambda.

    Parameters
    ----------
    path : SVMPath, optional

    Attributes
    ----------
    classes_ : ndarray (k,)
    paths_ : list of SVMPath
    lambdas_ : ndarray
        Union of all breakpoints, decreasing.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(size=(20, 2)) + m for m in ([0, 0], [4, 0], [0, 4])])
    >>> y = np.repeat([0, 1, 2], 20)
    >>> model = OneVersusRestPath(SVMPath(gamma=0.5)).fit(X, y)
    >>> float(np.mean(model.predict(X, 0.1) == y)) > 0.9
    True
    """

    def __init__(self, path=None):
        self.path = path

    def fit(self, X, y):
        """Fit one path for each class."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        if self.classes_.size < 2:
            raise ValueError("y must contain at least two classes, got one class")
        template = SVMPath() if self.path is None else self.path
        self.paths_ = [clone(template).fit(X, (y == c).astype(int)) for c in self.classes_]
        self.lambdas_ = np.unique(np.concatenate([p.lambdas_ for p in self.paths_]))[::-1]
        return self

    def decision_function(self, X, lam=None):
        """One column a class at `lam` (default: the smallest that all paths reach)."""
        check_is_fitted(self)
        if lam is None:
            lam = max(p.lambdas_[-1] for p in self.paths_)
        scores = np.column_stack([p.decision_function(X, lam) for p in self.paths_])
        return scores[:, 1] if self.classes_.size == 2 else scores

    def predict(self, X, lam=None):
        """The class with the largest value."""
        scores = self.decision_function(X, lam)
        if scores.ndim == 1:
            return self.classes_[(scores >= 0.0).astype(int)]
        return self.classes_[scores.argmax(axis=1)]
