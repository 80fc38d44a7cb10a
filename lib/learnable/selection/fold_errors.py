"""Cross-validated errors of any estimator, one for each example (Bengio and Grandvalet 2004, (3)-(6)).

scikit-learn's ``cross_val_score`` returns the means of the folds. What is said about the variance needs the errors
themselves, grouped by fold, so here they are.
"""

from __future__ import annotations

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import _safe_indexing, indexable

from learnable.validation import check_choice, check_finite_array, check_has, check_real_array, check_rng, check_scalar

__all__ = ["cv_errors", "delta_cv_errors"]

LOSSES = {
    "squared": lambda y, predicted: _residuals(y, predicted) ** 2,
    "absolute": lambda y, predicted: np.abs(_residuals(y, predicted)),
    "zero_one": lambda y, predicted: (y != predicted).astype(float),
}


def cv_errors(estimator, X, y, *, n_folds=10, loss="auto", random_state=None):
    """Error of each example when its fold is left out, one row for each fold. Cost: `n_folds` fits.

    Parameters
    ----------
    estimator : estimator
        Anything with ``fit`` and ``predict``; copies of it are fitted.
    X : array-like or frame of shape (n, d)
        The examples. n must be a multiple of `n_folds`, because the theory is about folds of equal size.
    y : array-like of shape (n,)
        Labels or targets.
    n_folds : int, default=10
        K; n for leave-one-out.
    loss : {"auto", "squared", "absolute", "zero_one"} or callable, default="auto"
        Called as ``loss(y, predicted)``, returns one number for each example. "auto" is "zero_one" for classifiers and
        "squared" for others.
    random_state : None, int or numpy.random.Generator, default=None
        Shuffles the examples before they are dealt to the folds.

    Returns
    -------
    ndarray of shape (n_folds, n // n_folds)
        The errors.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import LinearRegression
    >>> X, y = load_diabetes(return_X_y=True)
    >>> errors = cv_errors(LinearRegression(), X[:440], y[:440], random_state=0)
    >>> errors.shape, int(errors.mean())
    ((10, 44), 3040)
    """
    data = _Data(X, y, n_folds, random_state, loss)
    return data.left_out(estimator)


def delta_cv_errors(first, second, X, y, *, n_folds=10, loss="auto", random_state=None):
    """Differences of the errors of two estimators on the same folds (4). Cost: two times `n_folds` fits.

    Parameters
    ----------
    first, second : estimator
        The two to compare.
    X : array-like or frame of shape (n, d)
        The examples; n must be a multiple of `n_folds`.
    y : array-like of shape (n,)
        Labels or targets.
    n_folds : int, default=10
        K.
    loss : {"auto", "squared", "absolute", "zero_one"} or callable, default="auto"
        As in `cv_errors`; "auto" follows the first estimator.
    random_state : None, int or numpy.random.Generator, default=None
        Shuffles the examples.

    Returns
    -------
    ndarray of shape (n_folds, n // n_folds)
        Error of the first minus error of the second.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.dummy import DummyRegressor
    >>> from sklearn.linear_model import LinearRegression
    >>> X, y = load_diabetes(return_X_y=True)
    >>> worse = delta_cv_errors(DummyRegressor(), LinearRegression(), X[:440], y[:440], random_state=0)
    >>> bool(worse.mean() > 0)
    True
    """
    data = _Data(X, y, n_folds, random_state, _chosen(loss, first))
    return data.left_out(first) - data.left_out(second)


def _residuals(y, predicted):
    """Differences in float64: those of unsigned or short integers wrap."""
    return check_real_array(y, "y") - check_real_array(predicted, "the predictions of the estimator")


def _chosen(loss, estimator):
    check_has(estimator, "estimator", "fit predict", "an estimator with fit and predict")
    if callable(loss):
        return loss
    check_choice(loss, "loss", ("auto", *LOSSES), also="or a callable")
    return LOSSES["zero_one" if is_classifier(estimator) else "squared"] if loss == "auto" else LOSSES[loss]


class _Data:
    """Shuffled examples, dealt to folds of equal size."""

    def __init__(self, X, y, n_folds, random_state, loss):
        X, y = indexable(X, y)
        self.n = len(y) if y is not None else 0
        self.n_folds = check_scalar(n_folds, "n_folds", low=2, integer=True)
        if self.n < self.n_folds or self.n % self.n_folds:
            raise ValueError(
                f"n_folds = {self.n_folds} must divide the number of examples, got {self.n}: the folds have one size; "
                f"leave out {self.n % self.n_folds} examples at random or take another number of folds"
            )
        self.fold_size = self.n // self.n_folds
        order = check_rng(random_state).permutation(self.n)
        self.X, self.y, self.loss = _safe_indexing(X, order), np.asarray(_safe_indexing(y, order)), loss

    def left_out(self, estimator):
        loss = _chosen(self.loss, estimator)
        rows = []
        for held in self._folds():
            rule = self._fitted(estimator, np.setdiff1d(np.arange(self.n), held))
            rows.append(self._losses(rule, held, loss))
        return np.array(rows)

    def left_out_twice(self, estimator):
        """Errors of the cross-validation of what remains without each fold, shape (K, K - 1, m)."""
        loss, folds = _chosen(self.loss, estimator), self._folds()
        out = np.empty((self.n_folds, self.n_folds - 1, self.fold_size))
        for a in range(self.n_folds):
            for b in range(a):
                # The rule without folds a and b serves both: as a's inner rule it is tried on b, as b's on a.
                rest = np.setdiff1d(np.arange(self.n), np.concatenate([folds[a], folds[b]]))
                rule = self._fitted(estimator, rest)
                out[a, b] = self._losses(rule, folds[b], loss)
                out[b, a - 1] = self._losses(rule, folds[a], loss)
        return out

    def all_losses(self, estimator):
        """Losses of all examples under each of the K rules, shape (K, n), and under the rule fitted to all."""
        loss = _chosen(self.loss, estimator)
        everyone = np.arange(self.n)
        rules = [self._fitted(estimator, np.setdiff1d(everyone, held)) for held in self._folds()]
        losses = np.array([self._losses(rule, everyone, loss) for rule in rules])
        return losses, self._losses(self._fitted(estimator, everyone), everyone, loss)

    def _folds(self):
        return np.arange(self.n).reshape(self.n_folds, self.fold_size)

    def _fitted(self, estimator, rows):
        return clone(estimator).fit(_safe_indexing(self.X, rows), self.y[rows])

    def _losses(self, rule, rows, loss):
        found = loss(self.y[rows], np.asarray(rule.predict(_safe_indexing(self.X, rows))))
        found = check_finite_array(found, "the values of loss", ndim=1)
        if len(found) != len(rows):
            raise ValueError(f"loss must return one number for each example, got {len(found)} for {len(rows)}")
        return found
