"""RVE and RVErS as scikit-learn selectors: they wrap an estimator and stand before it in a pipeline."""

from __future__ import annotations

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.validation import validate_data

from learnable.features.selectors import ColumnSelector
from learnable.features.subsets import EstimatorSubsets, NaiveBayesSubsets
from learnable.features.variable_elimination.search import rve, rvers
from learnable.validation import check_class_labels, check_has


class _Randomised(ColumnSelector):
    def _evaluator(self, X, y):
        """The evaluator of subsets; checks the learner, the table and the labels."""
        if self.estimator is not None:
            check_has(self.estimator, "estimator", "fit predict get_params", "an estimator in scikit-learn's protocol")
        frame = X if hasattr(X, "iloc") and hasattr(X, "dtypes") else None
        X, y = validate_data(self, X, y, dtype=None, ensure_all_finite=False, ensure_min_samples=2)
        if X.dtype.kind == "f" and np.isinf(X).any():
            raise ValueError("X: infinite values are not accepted")
        if X.dtype.kind == "c":
            raise ValueError("X: Complex data not supported, values of columns are expected")
        table = X if frame is None else frame
        if self.estimator is not None:
            return EstimatorSubsets(self.estimator, table, y, cv=self.cv, scoring=self.scoring)
        check_class_labels(y)
        return NaiveBayesSubsets(table, y, cv=self.cv)

    def _finish(self, found):
        self.search_ = found
        self.support_ = np.zeros(found.n_features, dtype=bool)
        self.support_[found.kept] = True
        self.n_iter_ = found.n_iter
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        own = tags.input_tags
        if not hasattr(self.estimator, "__sklearn_tags__"):
            own.allow_nan = own.string = own.categorical = True
        else:
            inner = get_tags(self.estimator).input_tags
            own.allow_nan, own.string, own.categorical = inner.allow_nan, inner.string, inner.categorical
        return tags


class RVE(_Randomised):
    """Keep a known number of columns, by removing random batches (Stracuzzi and Utgoff 2004, Table 2).

    Parameters
    ----------
    estimator : estimator, optional
        The learner that judges subsets, cloned and cross-validated for each; naive Bayes for discrete columns by
        default, which needs no refitting and takes a fraction of a millisecond.
    n_relevant : int or float, default=0.5
        How many columns to keep, or which share of them.
    tol : float, default=0.002
        By how much the cross-validated error may rise at a step.
    cost : {"constant", "log", "linear", "quadratic"}, callable, or array-like, default="linear"
        How the cost of training grows with the number of columns.
    rule : {"optimal", "ratio", "single"}, default="optimal"
        Sizes of batches: by dynamic programming, n // r, or one column at a time.
    compare_to : {"previous", "best"}, default="previous"
        What the error is compared with.
    cv : int or scikit-learn splitter, default=5
        The folds inside the training data.
    scoring : str or callable, optional
        What is cross-validated; the estimator's own score by default.
    max_calls : int, optional
        Give up after so many training runs.
    random_state : None, int or Generator
        For the batches.

    Attributes
    ----------
    support_ : ndarray of bool of shape (n_features,)
        Which columns are kept.
    search_ : Elimination
        The account of the search: errors, sizes, calls.
    n_iter_ : int
        Number of training runs, each with all its folds.

    Examples
    --------
    >>> from learnable.datasets import make_led
    >>> X, y = make_led(500, n_irrelevant=40, flip=0, random_state=0, return_X_y=True)
    >>> RVE(n_relevant=7, tol=0.02, random_state=0).fit(X, y).get_support(indices=True).shape
    (7,)
    """

    def __init__(
        self,
        estimator=None,
        n_relevant=0.5,
        *,
        tol=0.002,
        cost="linear",
        rule="optimal",
        compare_to="previous",
        cv=5,
        scoring=None,
        max_calls=None,
        random_state=None,
    ):
        self.estimator = estimator
        self.n_relevant = n_relevant
        self.tol = tol
        self.cost = cost
        self.rule = rule
        self.compare_to = compare_to
        self.cv = cv
        self.scoring = scoring
        self.max_calls = max_calls
        self.random_state = random_state

    def fit(self, X, y):
        """Search for the columns.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Columns.
        y : array-like of shape (n,)
            Labels, or responses if the estimator is a regressor.

        Returns
        -------
        RVE
            Itself.
        """
        evaluator = self._evaluator(X, y)
        wanted = self.n_relevant
        if isinstance(wanted, float) and 0 < wanted < 1:
            wanted = max(1, round(wanted * evaluator.n_features))
        return self._finish(
            rve(
                evaluator,
                wanted,
                cost=self.cost,
                rule=self.rule,
                tol=self.tol,
                compare_to=self.compare_to,
                max_calls=self.max_calls,
                random_state=self.random_state,
            )
        )


class RVErS(_Randomised):
    """Keep what a learner needs, by removing random batches; how many columns that are is found on the way.

    Stracuzzi and Utgoff 2004, Table 3, with `return_best` and `compare_to` against weaknesses that they report: it may
    keep a subset that was not the best, and let the error creep.

    Parameters
    ----------
    estimator : estimator, optional
        The learner that judges subsets, cloned and cross-validated for each; naive Bayes for discrete columns by
        default, which needs no refitting and takes a fraction of a millisecond.
    r_min, r_max : int, optional
        Bounds on the number of columns that matter: 2 and all columns by default. A small `r_max` is quicker.
    tol : float, default=0.002
        By how much the cross-validated error may rise at a step.
    c1, c2 : float, default=3.0 and 0.3
        Patience with failures and with successes.
    cost : {"constant", "log", "linear", "quadratic"}, callable, or array-like, default="linear"
        How the cost of training grows with the number of columns.
    rule : {"optimal", "ratio", "single"}, default="optimal"
        Sizes of batches: by dynamic programming, n // r, or one column at a time.
    compare_to : {"previous", "best"}, default="best"
        What the error is compared with; the source compares with the previous one.
    return_best : bool, default=True
        Keep the smallest subset within `tol` of the smallest error; the source keeps the last one.
    cv : int or scikit-learn splitter, default=5
        The folds inside the training data.
    scoring : str or callable, optional
        What is cross-validated; the estimator's own score by default.
    max_calls : int, optional
        Give up after so many training runs.
    random_state : None, int or Generator
        For the batches.

    Attributes
    ----------
    support_ : ndarray of bool of shape (n_features,)
        Which columns are kept.
    search_ : Elimination
        The account of the search: errors, sizes, calls, the interval for r.
    n_iter_ : int
        Number of training runs, each with all its folds.

    Examples
    --------
    >>> from learnable.datasets import make_led
    >>> X, y = make_led(500, n_irrelevant=40, flip=0, random_state=0, return_X_y=True)
    >>> selector = RVErS(r_max=20, random_state=0).fit(X, y)
    >>> int(selector.support_[:7].sum()) >= 5, bool(selector.search_.error <= selector.search_.errors[0])
    (True, True)
    """

    def __init__(
        self,
        estimator=None,
        *,
        r_min=2,
        r_max=None,
        tol=0.002,
        c1=3.0,
        c2=0.3,
        cost="linear",
        rule="optimal",
        compare_to="best",
        return_best=True,
        cv=5,
        scoring=None,
        max_calls=None,
        random_state=None,
    ):
        self.estimator = estimator
        self.r_min = r_min
        self.r_max = r_max
        self.tol = tol
        self.c1 = c1
        self.c2 = c2
        self.cost = cost
        self.rule = rule
        self.compare_to = compare_to
        self.return_best = return_best
        self.cv = cv
        self.scoring = scoring
        self.max_calls = max_calls
        self.random_state = random_state

    def fit(self, X, y):
        """Search for the columns.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Columns.
        y : array-like of shape (n,)
            Labels, or responses if the estimator is a regressor.

        Returns
        -------
        RVErS
            Itself.
        """
        names = ("r_min", "r_max", "cost", "rule", "tol", "c1", "c2", "compare_to", "return_best")
        options = {name: getattr(self, name) for name in (*names, "max_calls", "random_state")}
        return self._finish(rvers(self._evaluator(X, y), **options))
