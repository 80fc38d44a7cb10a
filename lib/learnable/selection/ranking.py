"""Summaries of a table of accuracies, data sets in rows and classifiers in columns.

Ranks, the probability of being the best (PAMA) or nearly so (P95), the percentage of the best accuracy (PMA), and means
that weigh the data sets by a property (Fernandez-Delgado et al. 2014, Sec. 3.1, 3.2 and 3.5). A NaN is a failed cell.
Pandas is not needed: arrays come back as arrays. Who gives a frame gets frames or series with its names.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
from scipy import stats

from learnable.validation import Result, check_real_array, check_scalar

__all__ = ["Leaderboard", "friedman_ranks", "leaderboard"]

# Accuracies are ratios of counts: closer than this, they are the same.
SAME = 1e-9


@dataclass(frozen=True, eq=False)
class Leaderboard(Result):
    """What `leaderboard` returns: one entry for each classifier, best rank first.

    Attributes
    ----------
    classifiers : list
        Names of the columns, or their numbers.
    rank : ndarray
        Mean ranks (`friedman_ranks`).
    accuracy : ndarray
        Means over the data sets that did not fail, in the unit of the table.
    kappa : ndarray or None
        Means of Cohen's kappa, if it was given.
    pama : ndarray
        Percentage of data sets on which it is the best; ties count for all.
    near : ndarray
        Percentage of data sets with at least `threshold` of the best accuracy (P95 by default).
    pma : ndarray
        Mean percentage of the best accuracy.
    failed : ndarray of int
        Failed cells, which are neither best nor near and are left out of `pma`.
    """

    classifiers: list
    rank: np.ndarray
    accuracy: np.ndarray
    kappa: np.ndarray | None
    pama: np.ndarray
    near: np.ndarray
    pma: np.ndarray
    failed: np.ndarray

    def to_frame(self):
        """A pandas frame with a row for each classifier."""
        return columns_to_frame(self, "classifiers")


def columns_to_frame(result, index):
    """The fields of a result as columns of a frame, those that are None left out; the field `index` names the rows."""
    pd = import_pandas()
    names = [field.name for field in dataclasses.fields(result) if field.name != index]
    columns = {name: getattr(result, name) for name in names if getattr(result, name) is not None}
    return pd.DataFrame(columns, index=getattr(result, index))


def import_pandas():
    """The module pandas; where it is missing, the error says what to install."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("frames need pandas: pip install pandas") from error
    return pandas


def is_frame(table):
    """Whether a table is a data frame, told without importing pandas."""
    return hasattr(table, "columns") and hasattr(table, "iloc")


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
    table = _table(accuracy)
    ranks = _ranks(table)
    if not average:
        framed = is_frame(accuracy)
        return import_pandas().DataFrame(ranks, accuracy.index, accuracy.columns) if framed else ranks
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
    Leaderboard
        Its `to_frame` gives a pandas frame.

    Examples
    --------
    >>> board = leaderboard([[0.9, 0.88], [0.5, 0.8], [0.8, 0.8]])
    >>> board.classifiers, board.rank.tolist(), board.pma.round(1).tolist()
    ([1, 0], [1.5, 1.5], [99.3, 87.5])
    """
    table = _table(accuracy)
    threshold = check_scalar(threshold, "threshold", low=0, high=1, closed="right")
    best, ratio = _best(table)
    there = ~np.isnan(table)
    ranks, pma = _ranks(table).mean(axis=0), 100 * _mean(ratio)
    if kappa is not None:
        kappas = np.asarray(kappa, dtype=float)
        if kappas.shape != table.shape:
            raise ValueError(f"kappa must have the shape of accuracy, {table.shape}, got {kappas.shape}")
    order = np.lexsort((np.where(np.isnan(pma), np.inf, -pma), ranks))
    return Leaderboard(
        [column_names(accuracy, table)[j] for j in order],
        ranks[order],
        _mean(table)[order],
        None if kappa is None else _mean(kappas)[order],
        100 * (there & (table >= best - SAME)).mean(axis=0)[order],
        100 * (there & (table >= threshold * best - SAME)).mean(axis=0)[order],
        pma[order],
        (~there).sum(axis=0)[order],
    )


def column_names(accuracy, table):
    """The names of a frame's columns, or their numbers."""
    return list(accuracy.columns) if is_frame(accuracy) else list(range(table.shape[1]))


def _table(accuracy):
    """A float table of its own with NaN where a cell failed."""
    table = check_real_array(accuracy, "accuracy").copy()
    if table.ndim != 2 or 0 in table.shape:
        raise ValueError(
            f"accuracy must have a row for each data set and a column for each classifier, got {table.shape}"
        )
    if (table > 1e150).any() or (table < 0).any():
        raise ValueError("accuracy must hold numbers that are not negative, or NaN for a failed cell")
    lost = np.isnan(table).all(axis=1)
    if lost.any():
        row = accuracy.index[lost.argmax()] if is_frame(accuracy) else int(lost.argmax())
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
    if is_frame(accuracy):
        if classifier not in accuracy.columns:
            raise ValueError(f"{name} must be one of {list(accuracy.columns)}, got {classifier!r}")
        return int(accuracy.columns.get_loc(classifier))
    return check_scalar(classifier, name, low=0, high=table.shape[1] - 1, integer=True)


def _named(values, accuracy, name):
    return import_pandas().Series(values, accuracy.columns, name=name) if is_frame(accuracy) else values
