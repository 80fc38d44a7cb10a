"""Summaries of a table of accuracies, data sets in rows and classifiers in columns.

Ranks, the probability of being the best (PAMA) or nearly so (P95), the percentage of the best accuracy (PMA), and means
that weigh the data sets by a property (Fernandez-Delgado et al. 2014, Sec. 3.1, 3.2 and 3.5). A NaN is a failed cell.
Pandas frames come back as frames or series with their names, arrays as arrays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from learnable.validation import Result, check_choice, check_finite_array, check_real_array, check_scalar

__all__ = ["CoverageCurve", "coverage_curve", "friedman_ranks", "leaderboard", "property_weights", "weighted_accuracy"]

# Accuracies are ratios of counts: closer than this, they are the same.
SAME = 1e-9


@dataclass(frozen=True, eq=False)
class CoverageCurve(Result):
    """What `coverage_curve` returns.

    Attributes
    ----------
    x : ndarray of shape (m,)
        Percentages of the best accuracy, increasing, from 0 to 100.
    share : ndarray of shape (m,)
        Share of data sets on which the classifier exceeds x percent of the best, from x[i] up to x[i + 1].
    area : float
        Area below the curve, both axes scaled to [0, 1]; it equals the mean ratio to the best, PMA / 100.
    """

    x: np.ndarray
    share: np.ndarray
    area: float


def friedman_ranks(accuracy, *, average=True):
    """Rank the classifiers on every data set: 1 for the best, ties share the mean of their ranks. Cost O(N c log c).

    A failed cell (NaN) is ranked as if it had the mean accuracy of the others on that data set (Fernandez-Delgado et
    al. 2014, Sec. 3.1).

    Parameters
    ----------
    accuracy : DataFrame or array-like of shape (n_sets, n_classifiers)
        NaN for a failed cell; every row needs one number.
    average : bool, default=True
        Average over the data sets.

    Returns
    -------
    Series, DataFrame or ndarray
        Mean ranks of shape (n_classifiers,), or all ranks of the shape of `accuracy`.

    Examples
    --------
    >>> friedman_ranks([[0.9, 0.8, 0.8], [0.5, 0.7, float("nan")]])
    array([2.  , 1.75, 2.25])
    """
    import pandas as pd

    table = _table(accuracy)
    ranks = _ranks(table)
    if not average:
        is_frame = isinstance(accuracy, pd.DataFrame)
        return pd.DataFrame(ranks, index=accuracy.index, columns=accuracy.columns) if is_frame else ranks
    return _named(ranks.mean(axis=0), accuracy, "rank")


def _ranks(table):
    filled = np.where(np.isnan(table), np.nanmean(table, axis=1, keepdims=True), table)
    # Rounding keeps ties that the order of additions would break.
    return stats.rankdata(-np.round(filled, 12), axis=1)


def leaderboard(accuracy, *, threshold=0.95, kappa=None):
    """Summaries of every classifier, best rank first. Cost O(N c log c).

    Parameters
    ----------
    accuracy : DataFrame or array-like of shape (n_sets, n_classifiers)
        As fractions or in percent; NaN for a failed cell.
    threshold : float in (0, 1], default=0.95
        For "near": the share of the best accuracy that counts as near.
    kappa : DataFrame or array-like of the same shape, optional
        Cohen's kappa of the same cells.

    Returns
    -------
    DataFrame
        One row for each classifier, with ``rank`` (`friedman_ranks`), ``accuracy`` (mean over the data sets that did
        not fail, in the unit of the table), ``kappa`` if given, and in percent ``pama`` (data sets on which it is the
        best, ties count for all), ``near`` (data sets with at least `threshold` of the best, P95 by default), ``pma``
        (mean percentage of the best accuracy), and the number ``failed``. A failed cell is neither best nor near, and
        is left out of ``pma``.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"a": [0.9, 0.5, 0.8], "b": [0.88, 0.8, 0.8]}, index=["x", "y", "z"])
    >>> leaderboard(table).round(1)
       rank  accuracy  pama   near   pma  failed
    b   1.5       0.8  66.7  100.0  99.3       0
    a   1.5       0.7  66.7   66.7  87.5       0
    """
    import pandas as pd

    table = _table(accuracy)
    threshold = check_scalar(threshold, "threshold", low=0, high=1, closed="right")
    best, ratio = _best(table)
    there = ~np.isnan(table)
    found = {"rank": _ranks(table).mean(axis=0), "accuracy": _mean(table)}
    if kappa is not None:
        kappas = np.asarray(kappa, dtype=float)
        if kappas.shape != table.shape:
            raise ValueError(f"kappa must have the shape of accuracy, {table.shape}, got {kappas.shape}")
        found["kappa"] = _mean(kappas)
    found |= {
        "pama": 100 * (there & (table >= best - SAME)).mean(axis=0),
        "near": 100 * (there & (table >= threshold * best - SAME)).mean(axis=0),
        "pma": 100 * _mean(ratio),
        "failed": (~there).sum(axis=0),
    }
    names = accuracy.columns if isinstance(accuracy, pd.DataFrame) else range(table.shape[1])
    return pd.DataFrame(found, index=names).sort_values(["rank", "pma"], ascending=[True, False], kind="stable")


def coverage_curve(accuracy, classifier):
    """Share of data sets on which a classifier exceeds x percent of the best accuracy, for every x. Cost O(N c).

    Nothing is binned: the curve is a staircase that falls at the ratios A_ij / M_i themselves, so the area below it is
    their mean.

    Parameters
    ----------
    accuracy : DataFrame or array-like of shape (n_sets, n_classifiers)
        NaN for a failed cell; data sets on which this classifier failed are left out.
    classifier : label or int
        Column of a frame by name, of an array by number.

    Returns
    -------
    CoverageCurve

    Examples
    --------
    >>> curve = coverage_curve([[0.9, 0.6], [0.4, 0.8]], 0)
    >>> curve.x, curve.share, curve.area
    (array([  0.,  50., 100.]), array([1. , 0.5, 0. ]), 0.75)
    """
    table = _table(accuracy)
    column = _column(accuracy, table, classifier, "classifier")
    ratio = _best(table)[1][:, column]
    ratio = np.sort(ratio[~np.isnan(ratio)])
    if len(ratio) == 0:
        raise ValueError(f"classifier {classifier!r} failed on every data set")
    x = np.unique(np.concatenate([[0.0], ratio, [1.0]]))
    share = 1 - np.searchsorted(ratio, x, side="right") / len(ratio)
    return CoverageCurve(100 * x, share, float(share[:-1] @ np.diff(x)))


def property_weights(values, *, kind="proportional"):
    """Weights of the data sets by a property; they are not negative and sum to the number of data sets. Cost O(N).

    Parameters
    ----------
    values : array-like of shape (n_sets,)
        Numbers of patterns, of inputs or of classes; for "complexity" the best accuracies as fractions.
    kind : {"proportional", "decreasing", "complexity"}, default="proportional"
        N v_i / sum v, N (v_max - v_i) / (N v_max - sum v), or N (1 - v_i) / (N - sum v) (Fernandez-Delgado et al. 2014,
        Sec. 3.5; the printed denominator of the second, v_max - sum v, is a slip: it is negative).

    Returns
    -------
    ndarray of shape (n_sets,)
        All ones where the formula is 0/0, that is, where all data sets are alike.

    Examples
    --------
    >>> property_weights([100, 300])
    array([0.5, 1.5])
    >>> property_weights([100, 300, 200], kind="decreasing")
    array([2., 0., 1.])
    """
    values = check_finite_array(values, "values", ndim=1)
    check_choice(kind, "kind", ("proportional", "decreasing", "complexity"))
    if len(values) == 0 or (values < 0).any():
        raise ValueError("values must hold a number that is not negative for each data set")
    if kind == "complexity" and values.max() > 1:
        raise ValueError(f"values must be fractions for kind='complexity', got {values.max():g}")
    raw = {"proportional": values, "decreasing": values.max() - values, "complexity": 1 - values}[kind]
    total = raw.sum()
    return len(values) * raw / total if total > 0 else np.ones(len(values))


def weighted_accuracy(accuracy, weights):
    """Mean accuracy of each classifier with weights for the data sets, (1/N) sum_i w_i A_ij. Cost O(N c).

    Parameters
    ----------
    accuracy : DataFrame or array-like of shape (n_sets, n_classifiers)
        Where a cell failed, the weights of the others are scaled up.
    weights : array-like of shape (n_sets,)
        From `property_weights`.

    Returns
    -------
    Series or ndarray of shape (n_classifiers,)

    Examples
    --------
    >>> weighted_accuracy([[0.9, 0.5], [0.7, 0.9]], property_weights([100, 300]))
    array([0.75, 0.8 ])
    """
    table = _table(accuracy)
    weights = check_finite_array(weights, "weights", ndim=1)
    if len(weights) != len(table) or (weights < 0).any() or weights.sum() == 0:
        raise ValueError("weights must hold a number that is not negative for each data set, and not zeros only")
    there = ~np.isnan(table)
    with np.errstate(invalid="ignore"):
        means = (weights @ np.where(there, table, 0.0)) / (weights @ there)
    return _named(means, accuracy, "accuracy")


def _table(accuracy):
    """A float table of its own with NaN where a cell failed."""
    import pandas as pd

    table = check_real_array(accuracy, "accuracy").copy()
    if table.ndim != 2 or 0 in table.shape:
        raise ValueError(
            f"accuracy must have a row for each data set and a column for each classifier, got {table.shape}"
        )
    if (table > 1e150).any() or (table < 0).any():
        raise ValueError("accuracy must hold numbers that are not negative, or NaN for a failed cell")
    lost = np.isnan(table).all(axis=1)
    if lost.any():
        row = accuracy.index[lost.argmax()] if isinstance(accuracy, pd.DataFrame) else int(lost.argmax())
        raise ValueError(f"accuracy has nothing but failed cells for the data set {row!r}")
    return table


def _best(table):
    """The best accuracy of each row, and the ratios to it; where it is 0, everyone has all of it."""
    best = np.nanmax(table, axis=1, keepdims=True)
    ratio = np.where(best > 0, table / np.where(best > 0, best, 1.0), np.where(np.isnan(table), np.nan, 1.0))
    return best, ratio


def _mean(table):
    """Means of the columns over what is there; NaN for a column of which nothing is."""
    there = ~np.isnan(table)
    counts = there.sum(axis=0)
    return np.where(counts > 0, np.where(there, table, 0.0).sum(axis=0) / np.maximum(counts, 1), np.nan)


def _column(accuracy, table, classifier, name):
    import pandas as pd

    if isinstance(accuracy, pd.DataFrame):
        if classifier not in accuracy.columns:
            raise ValueError(f"{name} must be one of {list(accuracy.columns)}, got {classifier!r}")
        return int(accuracy.columns.get_loc(classifier))
    return check_scalar(classifier, name, low=0, high=table.shape[1] - 1, integer=True)


def _named(values, accuracy, name):
    import pandas as pd

    return pd.Series(values, index=accuracy.columns, name=name) if isinstance(accuracy, pd.DataFrame) else values
