"""Error bars for cross-validated scores, with what they promise; nested cross-validation; a paired test.

No formula is right for every law (Bengio and Grandvalet 2004, Theorem 6), so an interval says what it rests on.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy import stats

from learnable.selection.fold_errors import _chosen, _Data
from learnable.validation import (
    Result,
    Summary,
    check_choice,
    check_finite_array,
    check_magnitude,
    check_rng,
    check_scalar,
)

__all__ = ["CVInterval", "PairedTest", "cv_interval", "nested_cv_interval", "paired_test_5x2"]

PROMISES = {
    "corrected": "rests on the guess that two fold means are correlated like the share of test examples; tends to be "
    "too long where the rule is stable, too short where outliers move it",
    "fold_means": "right only if the fold means were uncorrelated; as a rule too short",
    "nested": "for the error of a rule trained with all n examples; the spread was measured on the data by leaving "
    "folds out twice, so it holds on average over laws like this one, not by a theorem",
}


@dataclass(frozen=True)
class CVInterval(Result):
    """An interval around a cross-validated score; made by `cv_interval` and `nested_cv_interval`.

    Attributes
    ----------
    mean : float
        The score.
    low, high : float
        Ends of the interval.
    standard_error : float
        Estimated standard deviation of the score.
    level : float
        Nominal level.
    method : str
        How the standard error was estimated.
    promise : str
        What the interval rests on.
    """

    mean: float
    low: float
    high: float
    standard_error: float
    level: float
    method: str
    promise: str

    def summary(self):
        """The score with its interval, and what the interval rests on, as a `Summary` to print."""
        rows = [[f"{self.mean:.4g}", f"{self.standard_error:.3g}", f"{self.low:.4g}", f"{self.high:.4g}"]]
        heads = ["score", "std err", f"[{(1 - self.level) / 2:.3g}", f"{(1 + self.level) / 2:.3g}]"]
        return Summary.table(f"Cross-validated score, {self.method}", heads, rows, [f"{self.promise}."])

    def __str__(self):
        return f"{self.mean:.4g} [{self.low:.4g}, {self.high:.4g}] ({self.level:.0%}, {self.method}: {self.promise})"


@dataclass(frozen=True)
class PairedTest(Result):
    """Result of a paired test; made by `paired_test_5x2`.

    Attributes
    ----------
    difference : float
        Mean difference of the errors, first minus second.
    statistic : float
        Student's t.
    p_value : float
        Two-sided.
    """

    difference: float
    statistic: float
    p_value: float


def cv_interval(scores, *, method="corrected", level=0.95, test_share=None):
    """Put an interval around the output of ``cross_val_score``. Cost O(number of scores).

    The fold scores are positively correlated, and how much cannot be seen in them. "corrected" replaces 1/K in the
    variance of the mean by 1/K + test_share / (1 - test_share) (Nadeau and Bengio 2003). With repeated folds K is the
    number of all scores; repeating makes the first term small and leaves the second.

    Parameters
    ----------
    scores : array-like of shape (K,) or (R, K)
        One score for each fold; a row for each repetition with other folds.
    method : {"corrected", "fold_means"}, default="corrected"
        "fold_means" is what ``scores.std() / sqrt(K)`` gives, for comparison.
    level : float, default=0.95
        Nominal level; quantiles are Student's with one degree of freedom less than there are scores.
    test_share : float, default=None
        Share of the examples in a test set; 1/K if None.

    Returns
    -------
    CVInterval
        The interval. ``print`` shows it with what it promises.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> found = cv_interval(cross_val_score(GaussianNB(), X, y, cv=10))
    >>> print(f"{found.mean:.3f} [{found.low:.3f}, {found.high:.3f}]")
    0.953 [0.907, 1.000]
    >>> naive = cv_interval(cross_val_score(GaussianNB(), X, y, cv=10), method="fold_means")
    >>> round(found.standard_error / naive.standard_error, 3)    # sqrt(1 + 10/9)
    1.453
    """
    scores = check_magnitude(check_finite_array(scores, "scores"), "scores")
    if scores.ndim not in (1, 2) or scores.shape[-1] < 2:
        raise ValueError(f"scores must have shape (K,) or (R, K) with at least 2 folds, got {scores.shape}")
    check_choice(method, "method", ("corrected", "fold_means"))
    level = check_scalar(level, "level", low=0, high=1, closed="neither")
    share = 1 / scores.shape[-1] if test_share is None else test_share
    share = check_scalar(share, "test_share", low=0, high=1, closed="neither")
    count = scores.size
    factor = 1 / count + (share / (1 - share) if method == "corrected" else 0.0)
    if method == "fold_means" and scores.ndim == 2 and len(scores) > 1:
        warnings.warn(
            "repeated folds of one data set are far from independent: the interval shrinks to nothing as repetitions "
            'grow; take method="corrected"',
            UserWarning,
            stacklevel=2,
        )
    error = float(np.sqrt(factor * scores.var(ddof=1)))
    half = float(stats.t(count - 1).ppf(0.5 + level / 2)) * error
    mean = float(scores.mean())
    return CVInterval(mean, mean - half, mean + half, error, level, method, PROMISES[method])


def nested_cv_interval(estimator, X, y, *, n_folds=10, n_repeats=10, loss="auto", level=0.95, random_state=None):
    """Measure the spread of cross-validation by leaving folds out twice (Bates, Hastie and Tibshirani 2024, Alg. 1).

    One fold is held out and the others are cross-validated: the mean of the inner errors and the mean error of the
    outer fold estimate the same thing, and their squared difference, less the part that is due to the finite outer
    fold, is the mean squared error of the inner cross-validation. Cost: about ``n_repeats * n_folds**2 / 2`` fits.

    Parameters
    ----------
    estimator : estimator
        Anything with ``fit`` and ``predict``.
    X : array-like or frame of shape (n, d)
        The examples; n must be a multiple of `n_folds`.
    y : array-like of shape (n,)
        Labels or targets.
    n_folds : int, default=10
        At least 3, because the inner validation has one fold less, and at most n / 2: with one example in a fold the
        part of the difference that is due to the finite fold cannot be told from its spread.
    n_repeats : int, default=10
        Other folds each time. Few repetitions leave the estimate of the spread noisy; the source takes 200.
    loss : {"auto", "squared", "absolute", "zero_one"} or callable, default="auto"
        As in `cv_errors`.
    level : float, default=0.95
        Nominal level.
    random_state : None, int or numpy.random.Generator, default=None
        Folds.

    Returns
    -------
    CVInterval
        The interval for the error of the rule that is trained with all examples.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> X, y = load_diabetes(return_X_y=True)
    >>> found = nested_cv_interval(Ridge(), X[:100], y[:100], n_folds=5, n_repeats=3, random_state=0)
    >>> found.method, bool(found.low < found.mean < found.high)
    ('nested', True)
    """
    n_folds = check_scalar(n_folds, "n_folds", low=3, integer=True)
    n_repeats = check_scalar(n_repeats, "n_repeats", low=1, high=10**6, integer=True)
    level = check_scalar(level, "level", low=0, high=1, closed="neither")
    rng = check_rng(random_state)
    loss = _chosen(loss, estimator)
    outer, inner = [], []
    for _ in range(n_repeats):
        data = _Data(X, y, n_folds, rng, loss)
        if len(y) == n_folds:
            raise ValueError(f"n_folds must leave at least two examples in each fold, got {n_folds} for {len(y)}")
        outer.append(data.left_out(estimator))
        inner.append(data.left_out_twice(estimator))
    found = nested_summary(np.array(outer), np.array(inner))
    half = float(stats.norm.ppf(0.5 + level / 2)) * found[1]
    return CVInterval(found[0], found[0] - half, found[0] + half, found[1], level, "nested", PROMISES["nested"])


def paired_test_5x2(first, second, X, y, *, loss="auto", random_state=None):
    """Compare two estimators by five repetitions of two-fold cross-validation (Dietterich 1998).

    The training sets of the two folds do not overlap, so the two differences of a repetition are nearly uncorrelated
    and their spread is an honest variance; the numerator is the first difference alone. Cost: 20 fits.

    Parameters
    ----------
    first, second : estimator
        The two to compare.
    X : array-like or frame of shape (n, d)
        The examples; n must be even.
    y : array-like of shape (n,)
        Labels or targets.
    loss : {"auto", "squared", "absolute", "zero_one"} or callable, default="auto"
        As in `cv_errors`.
    random_state : None, int or numpy.random.Generator, default=None
        Folds.

    Returns
    -------
    PairedTest
        Student's t with 5 degrees of freedom, and its p-value.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.dummy import DummyRegressor
    >>> from sklearn.linear_model import LinearRegression
    >>> X, y = load_diabetes(return_X_y=True)
    >>> found = paired_test_5x2(DummyRegressor(), LinearRegression(), X, y, random_state=0)
    >>> bool(found.difference > 0), bool(found.p_value < 0.01)
    (True, True)
    """
    rng = check_rng(random_state)
    loss = _chosen(loss, first)
    differences = np.empty((5, 2))
    for i in range(5):
        data = _Data(X, y, 2, rng, loss)
        differences[i] = (data.left_out(first) - data.left_out(second)).mean(axis=1)
    spread = np.mean(((differences - differences.mean(axis=1, keepdims=True)) ** 2).sum(axis=1))
    if spread == 0:
        if differences[0, 0] == 0:
            return PairedTest(float(differences.mean()), 0.0, 1.0)
        return PairedTest(float(differences.mean()), float(np.copysign(np.inf, differences[0, 0])), 0.0)
    statistic = float(differences[0, 0] / np.sqrt(spread))
    return PairedTest(float(differences.mean()), statistic, float(2 * stats.t(5).sf(abs(statistic))))


def nested_summary(outer, inner):
    """Point estimate and standard error from the errors of nested cross-validation.

    Parameters
    ----------
    outer : ndarray of shape (R, K, m)
        Errors of plain cross-validation, one array for each repetition.
    inner : ndarray of shape (R, K, K - 1, m)
        Errors of the cross-validation of what remains without fold k.

    Returns
    -------
    tuple of float
        The estimate with its bias removed, and its standard error.
    """
    n_folds, fold_size = outer.shape[1:]
    inner_means = inner.mean(axis=(2, 3))
    if fold_size < 2:
        raise ValueError("outer must hold at least two errors for each fold")
    finite = outer.var(axis=2, ddof=1) / fold_size
    spread = np.mean((inner_means - outer.mean(axis=2)) ** 2 - finite)
    naive = np.sqrt(np.mean(outer.reshape(len(outer), -1).var(axis=1, ddof=1)) / (n_folds * fold_size))
    # The spread is that of a cross-validation with (K - 1) m examples. Between the naive error and sqrt(K) times it.
    error = np.sqrt(max(spread, 0.0) * (n_folds - 1) / n_folds)
    error = float(np.clip(error, naive, np.sqrt(n_folds) * naive))
    bias = (1 + (n_folds - 2) / n_folds) * (inner_means.mean() - outer.mean())
    return float(inner_means.mean() - bias), error
