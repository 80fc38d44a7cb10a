"""Validation curves that are exact functions of lambda, and the path for many classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.validation import check_is_fitted, validate_data

from learnable.kernels.svm_path.path import SVMPath
from learnable.validation import check_class_labels, check_finite_array, check_scalar, check_seed, check_symmetric
from learnable.validation.tags import ONE_DISTANCE


@dataclass(frozen=True)
class StepCurve:
    """A step function of lambda: `values[k]` on (edges[k+1], edges[k]], edges decreasing, edges[0] = inf.

    Called with lambda (a number or an array) it returns the value there.
    """

    edges: np.ndarray
    values: np.ndarray

    def __post_init__(self):
        edges, values = np.shape(self.edges), np.shape(self.values)
        if len(values) != 1 or values[0] < 1 or edges != (values[0] + 1,):
            raise ValueError(
                f"edges must have one entry more than values, and values at least one; got shapes {edges} and {values}"
            )

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


def _scaled(path, X, least):
    """Knots (decreasing) from far above the first breakpoint down to `least`, and lambda f(x) at each of them.

    Between two knots lambda f(x) is linear in lambda for every x.
    """
    values = path.path_decision(X)
    lams = path.lambdas_
    g = values[0] * lams[0] - path._offsets[0]
    above = path._knots_above(float(np.abs(g).max(initial=0.0)))[:-1]
    top = [g + path._offset_above(lam) for lam in above]
    knots = np.concatenate([above, lams])
    scaled = np.vstack([*top, values * lams[:, None]]) if above else values * lams[:, None]
    if path.separable_ and least < lams[-1]:
        # Below its last breakpoint a path that separates stands still: lambda f is proportional to lambda.
        knots, scaled = np.append(knots, least), np.vstack([scaled, values[-1] * least])
    return knots, scaled


def _flips(high, low, upper, lower, labels):
    """Where between `high` and `low` points become right (-1) or wrong (+1), each class linear in between.

    `upper` and `lower` hold one row a class. The largest of several lines changes hands from line to line; a line that
    is the largest at both ends is so everywhere between them.
    """
    found = []
    first, last = upper.argmax(axis=0), lower.argmax(axis=0)
    for i in np.flatnonzero(first != last):
        now, at = first[i], 0.0
        while now != last[i]:
            gap = upper[now, i] - upper[:, i]
            closing = gap - (lower[now, i] - lower[:, i])
            with np.errstate(divide="ignore", invalid="ignore"):
                when = np.where(closing > 0.0, gap / closing, np.inf)
            when[now] = np.inf
            then = int(np.argmin(when)) if np.isfinite(when.min()) else int(last[i])
            at = float(np.clip(max(when[then], at), 0.0, 1.0)) if np.isfinite(when[then]) else 1.0
            if (now == labels[i]) != (then == labels[i]):
                found.append((high + at * (low - high), 1 if now == labels[i] else -1))
            if then == now:
                break
            now = then
    return found


def error_crossings(paths, X, labels, least):
    """All lambda > `least` at which a prediction changes from right to wrong or back, and the errors between them.

    Parameters
    ----------
    paths : list of SVMPath
        One for two classes, otherwise one for each class.
    X : array (m, d)
    labels : array of int (m,)
        Index of the class.

    Returns
    -------
    edges, counts : ndarrays
        `counts[k]` errors on (edges[k+1], edges[k]], edges[0] = inf.
    """
    tables = [_scaled(path, X, least) for path in paths]
    far = max(knots[0] for knots, _ in tables)
    knots = np.unique(np.concatenate([[far], *[k for k, _ in tables]]))[::-1]
    knots = knots[knots >= least]
    lines = []
    for path, (own, scaled) in zip(paths, tables, strict=True):
        if own[0] < far:
            # Far above its first breakpoint the offset of a path is known at any lambda.
            extra = scaled[0] - path._offset_above(own[0]) + path._offset_above(far)
            own, scaled = np.append(far, own), np.vstack([extra, scaled])
        lines.append(_interpolate(knots, own, scaled))
    values = np.stack([np.zeros_like(lines[0]), lines[0]] if len(paths) == 1 else lines, axis=1)
    if len(paths) == 1:
        # f >= 0 is the second class: a tie goes to it.
        values[:, 0] = np.where(values[:, 1] == 0.0, -1e-300, 0.0)
    errors = int(np.count_nonzero(values[0].argmax(axis=0) != labels))
    edges, counts = [np.inf], [errors]
    flips = []
    for k in range(knots.size - 1):
        flips += _flips(knots[k], knots[k + 1], values[k], values[k + 1], labels)
    flips.sort(key=lambda item: -item[0])
    for at, change in flips:
        errors += change
        if edges[-1] == at:
            counts[-1] = errors
        else:
            edges.append(at)
            counts.append(errors)
    return np.array(edges), np.array(counts)


def _interpolate(knots, own, values):
    """Linear interpolation of all columns at decreasing knots."""
    k = np.clip(np.searchsorted(-own, -knots, side="right") - 1, 0, max(own.size - 2, 0))
    if own.size == 1:
        return np.repeat(values, knots.size, axis=0)
    gap = own[k] - own[k + 1]
    share = np.where(gap > 0.0, (own[k] - knots) / np.where(gap > 0.0, gap, 1.0), 0.0)
    return values[k] + share[:, None] * (values[k + 1] - values[k])


def cv_path(X, y, cv=5, *, path=None, random_state=0):
    """Cross-validation error as an exact step function of lambda.

    One path a fold; between breakpoints predictions change where a linear function vanishes, so the error of a fold is
    a step function with known edges, and the mean over folds is one on the merged edges.

    Parameters
    ----------
    X, y : arrays
    cv : int or iterable of (train, test), default=5
        A number asks for stratified folds.
    path : SVMPath or OneVersusRestPath, optional
        Which path to fit.
    random_state : None, int or Generator, default=0
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
    X = check_finite_array(X, "X", ndim=2)
    y = np.asarray(y)
    if y.shape != (X.shape[0],):
        raise ValueError(f"y must hold one label for each of the {X.shape[0]} rows of X, got shape {y.shape}")
    path = SVMPath() if path is None else path
    if not isinstance(path, (SVMPath, OneVersusRestPath)):
        raise TypeError(f"path must be an SVMPath or a OneVersusRestPath, got {type(path).__name__}")
    if isinstance(cv, int | np.integer):
        count = check_scalar(cv, "cv", low=2, integer=True)
        cv = StratifiedKFold(count, shuffle=True, random_state=check_seed(random_state)).split(X, y)
    kernel = path.kernel if isinstance(path, SVMPath) else getattr(path.path, "kernel", None)
    pairwise = isinstance(kernel, str) and kernel == "precomputed"
    if pairwise:
        X = check_symmetric(X, "X")
    fits, total, least = [], 0, 0.0
    for train, test in cv:
        inner = X[np.ix_(train, train)] if pairwise else X[train]
        outer = X[np.ix_(test, train)] if pairwise else X[test]
        fitted = clone(path).fit(inner, y[train])
        members = [fitted] if isinstance(fitted, SVMPath) else fitted._members()
        labels = np.searchsorted(fitted.classes_, y[test])
        known = labels < fitted.classes_.size
        labels[known] = np.where(fitted.classes_[labels[known]] == y[test][known], labels[known], -1)
        labels[~known] = -1  # a class that the fold has not seen: always an error
        fits.append((members, outer, labels))
        total += len(test)
        least = max([least] + [p.lambdas_[-1] for p in members if not p.separable_])
    if not fits:
        raise ValueError("folds must hold at least one split")
    if least == 0.0:
        # Every path has come to its end: nothing changes below the last of the ends.
        least = 0.5 * min(p.lambdas_[-1] for members, _, _ in fits for p in members)
    return _merge([error_crossings(*fit, least) for fit in fits], total, least)


def _merge(parts, total, least):
    """Sum of step functions on the union of their edges, divided by `total`."""
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

    _depends_on_units = ONE_DISTANCE

    def __init__(self, path=None):
        self.path = path

    def fit(self, X, y):
        """Fit one path for each class."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_class_labels(y)
        self.classes_ = np.unique(y)
        if self.classes_.size < 2:
            raise ValueError("y must contain at least two classes, got one class")
        template = SVMPath() if self.path is None else self.path
        # With two classes the second path would be the first with its sign turned.
        targets = self.classes_ if self.classes_.size > 2 else self.classes_[1:]
        self.paths_ = [clone(template).fit(X, (y == c).astype(int)) for c in targets]
        self.lambdas_ = np.unique(np.concatenate([p.lambdas_ for p in self.paths_]))[::-1]
        return self

    def _members(self):
        check_is_fitted(self)
        return self.paths_

    def decision_function(self, X, lam=None):
        """One column a class at `lam` (default: the smallest that all paths reach); one value for two classes."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        if lam is None:
            lam = max(p.lambdas_[-1] for p in self.paths_)
        scores = np.column_stack([p.decision_function(X, lam) for p in self.paths_])
        return scores[:, 0] if self.classes_.size == 2 else scores

    def predict(self, X, lam=None):
        """The class with the largest value."""
        return self._choose(self.decision_function(X, lam))

    def path_predict(self, X):
        """Labels at every lambda of the union of breakpoints that all paths reach: (lambdas, labels (s, n_points))."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        least = max([0.0] + [p.lambdas_[-1] for p in self.paths_ if not p.separable_])
        lams = self.lambdas_[self.lambdas_ >= least]
        columns = []
        for path in self.paths_:
            knots, scaled = _scaled(path, X, lams[-1])
            if knots[0] < lams[0]:
                above = scaled[0] - path._offset_above(knots[0]) + path._offset_above(lams[0])
                knots, scaled = np.append(lams[0], knots), np.vstack([above, scaled])
            columns.append(_interpolate(lams, knots, scaled) / lams[:, None])
        scores = columns[0] if self.classes_.size == 2 else np.stack(columns, axis=-1)
        return lams, self._choose(scores)

    def _choose(self, scores):
        if self.classes_.size == 2:
            return self.classes_[(scores >= 0.0).astype(int)]
        return self.classes_[scores.argmax(axis=-1)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        kernel = getattr(self.path, "kernel", None)
        tags.input_tags.pairwise = isinstance(kernel, str) and kernel == "precomputed"
        return tags
