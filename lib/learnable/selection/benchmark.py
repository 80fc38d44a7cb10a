"""The protocol of a large comparison: prepared inputs, partitions that all classifiers share, and the score of a cell.

One cell is one classifier on one data set (Fernandez-Delgado et al. 2014, Sec. 2.1 and 3). Its parameters are chosen on
one half of the data, after a fit on the other half; with them it is fitted on each of four folds, and the four test
accuracies are averaged. The partitions belong to the data set, not to the classifier.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, confusion_matrix
from sklearn.model_selection import ParameterGrid, StratifiedKFold
from sklearn.utils import _safe_indexing

from learnable.validation import (
    Result,
    check_choice,
    check_finite_array,
    check_has,
    check_magnitude,
    check_rng,
    check_scalar,
    encode_labels,
)

__all__ = ["CellScore", "Partitions", "cohen_kappa", "evaluate", "make_partitions"]

PROTOCOLS = ("paper", "nested")


@dataclass(frozen=True, eq=False)
class Partitions(Result):
    """What `make_partitions` returns: the index pairs of one data set, the same for every classifier.

    Attributes
    ----------
    tuning : tuple of ndarray
        ``(train, test)`` for the choice of parameters, half of every class in each.
    folds : tuple of tuple of ndarray
        ``(train, test)`` pairs for the score: four folds, or the one pair that the donor of the data set fixed.
    """

    tuning: tuple
    folds: tuple


@dataclass(frozen=True, eq=False)
class CellScore(Result):
    """What `evaluate` returns: one classifier on one data set.

    Attributes
    ----------
    accuracy, kappa : float
        Means over the folds; NaN if the cell failed.
    fold_accuracy, fold_kappa : ndarray of shape (n_folds,)
        One value for each fold.
    params : tuple of dict
        The chosen parameters: one dictionary under protocol "paper", one for each fold under "nested".
    error : str or None
        The message of the exception that ended the cell.
    fit_seconds : float
        Mean time of a fit on a fold's training rows; NaN if the cell failed.
    """

    accuracy: float
    kappa: float
    fold_accuracy: np.ndarray
    fold_kappa: np.ndarray
    params: tuple
    error: str | None
    fit_seconds: float


def make_partitions(y, *, n_splits=4, split=None, random_state=None):
    """Draw the partitions of one data set, to be shared by all classifiers (Fernandez-Delgado et al. 2014, Sec. 3).

    Cost O(n log n).

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels.
    n_splits : int, default=4
        Folds of the cross-validation; they are stratified.
    split : array-like of shape (n,), optional
        0 for the training and 1 for the test rows of a data set that comes with such a pair. Parameters are then
        chosen within the training rows, and there is one fold.
    random_state : None, int or Generator
        What the halves and the folds are drawn with.

    Returns
    -------
    Partitions
        Every class has as many training as test rows in ``tuning``, up to one. The row of a class that has only one
        is for training.

    Examples
    --------
    >>> halves, folds = vars(make_partitions([0, 0, 0, 0, 1, 1, 1, 1], random_state=0)).values()
    >>> [len(part) for part in halves], [len(test) for _, test in folds]
    ([4, 4], [2, 2, 2, 2])
    """
    n_splits = check_scalar(n_splits, "n_splits", low=2, integer=True)
    rng = check_rng(random_state)
    labels, codes = encode_labels(y)
    if split is None:
        counts = np.bincount(codes)
        if len(labels) < 2 or counts.min() < n_splits:
            told = dict(zip(labels.tolist(), counts.tolist(), strict=True))
            raise ValueError(f"y must have two classes with at least n_splits = {n_splits} rows each, got {told}")
        folds = StratifiedKFold(n_splits, shuffle=True, random_state=int(rng.integers(2**31)))
        pairs = tuple(folds.split(np.zeros((len(codes), 1)), codes))
        return Partitions(_halves(np.arange(len(codes)), codes, rng), pairs)
    split = check_finite_array(split, "split", ndim=1)
    if len(split) != len(codes) or set(np.unique(split)) != {0.0, 1.0}:
        raise ValueError("split must hold a 0 or a 1 for each label of y, and both of them")
    train, test = (np.flatnonzero(split == part) for part in (0, 1))
    return Partitions(_halves(train, codes, rng), ((train, test),))


def _halves(rows, codes, rng):
    """Half of every class on each side; the odd rows of the classes go to the two sides in turn."""
    sides, turn = ([], []), 0
    for code in np.unique(codes[rows]):
        drawn = rng.permutation(rows[codes[rows] == code])
        half = len(drawn) // 2
        if len(drawn) == 1:  # a test row of a class that was never shown would only tell about the draw
            half, turn = 1, 1
        elif len(drawn) % 2:
            half, turn = half + (turn == 0), 1 - turn
        sides[0].append(drawn[:half])
        sides[1].append(drawn[half:])
    return tuple(np.sort(np.concatenate(side)) for side in sides)


def evaluate(estimator, X, y, partitions, *, grid=None, protocol="paper", max_seconds=None):
    """Score one classifier on one data set: choose its parameters, then average over the folds.

    Cost: one fit for each point of the grid, and one for each fold; under "nested" the grid is tried in every fold.

    Parameters
    ----------
    estimator : classifier
        It is cloned, never fitted itself.
    X : array-like or DataFrame of shape (n, d)
        Inputs; what the estimator accepts.
    y : array-like of shape (n,)
        Labels.
    partitions : Partitions
        Of this data set: every row is in the training or the test part of each fold.
    grid : dict, optional
        Lists of parameter values, as for scikit-learn's ``ParameterGrid``. The first of equally good points is taken.
    protocol : {"paper", "nested"}, default="paper"
        "paper" chooses the parameters once, on halves of *all* rows, so that test rows of the folds take part in the
        choice (Fernandez-Delgado et al. 2014, Sec. 3). "nested" chooses them anew on halves of the training rows of
        each fold.
    max_seconds : float, optional
        Processor seconds after which no further fit begins: the cell is an error, "TimeoutError". A fit that has begun
        ends. With a limit the result may depend on the machine; by default there is none.

    Returns
    -------
    CellScore
        An exception of the estimator does not end a comparison: it is kept in ``error``, and the scores are NaN.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> shared = make_partitions(y, random_state=0)
    >>> cell = evaluate(KNeighborsClassifier(), X, y, shared, grid={"n_neighbors": [1, 5, 9]})
    >>> cell.accuracy > 0.9, cell.error
    (True, None)
    """
    check_has(estimator, "estimator", "fit predict get_params", "a classifier")
    check_choice(protocol, "protocol", PROTOCOLS)
    if not isinstance(partitions, Partitions):
        raise TypeError(f"partitions must come from make_partitions, got {type(partitions).__name__}")
    if grid:
        ParameterGrid(grid)  # refuses what is no grid: that is no failure of the classifier
    labels, codes = encode_labels(y)
    X = X if hasattr(X, "shape") else np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"X must have rows and columns, got {X.ndim} dimensions")
    if X.shape[0] != len(codes):
        raise ValueError(f"y must have one label for each row of X, got {len(codes)} for {X.shape[0]}")
    last = max(int(part.max(initial=-1)) for pair in (partitions.tuning, *partitions.folds) for part in pair)
    if last >= len(codes):
        raise ValueError(f"partitions name row {last}, but y has {len(codes)} rows")
    covered = {len(train) + len(test) for train, test in partitions.folds}
    if covered != {len(codes)}:
        raise ValueError(f"partitions must be those of y, with its {len(codes)} rows, got some of {min(covered)} rows")
    if max_seconds is not None:
        check_scalar(max_seconds, "max_seconds", low=0, closed="neither")
    n_folds, y = len(partitions.folds), labels[codes]
    clock = _Clock(max_seconds)
    try:
        with warnings.catch_warnings():
            for kind in (ConvergenceWarning, UserWarning, RuntimeWarning):
                warnings.simplefilter("ignore", kind)
            params = _choose_all(estimator, X, y, codes, partitions, grid, protocol, clock)
            scores = [
                _score(clock, estimator, p, X, y, *pair) for p, pair in zip(params, partitions.folds, strict=True)
            ]
    except Exception as trouble:  # whatever a classifier may raise is a result of the comparison
        absent = np.full(n_folds, np.nan)
        return CellScore(np.nan, np.nan, absent, absent.copy(), (), f"{type(trouble).__name__}: {trouble}", np.nan)
    accuracy, kappa, seconds = np.array(scores).T
    told = params if protocol == "nested" else params[:1]
    means = float(accuracy.mean()), float(kappa.mean())
    return CellScore(*means, accuracy, kappa, tuple(told), None, float(seconds.mean()))


class _Clock:
    """Raises when the processor has been at it for too long."""

    def __init__(self, limit):
        self.limit, self.started = limit, time.process_time()

    def check(self):
        if self.limit is not None and time.process_time() - self.started > self.limit:
            raise TimeoutError(f"more than {self.limit:g} s of processor time")


def _choose_all(estimator, X, y, codes, partitions, grid, protocol, clock):
    """Parameters for each fold."""
    if not grid:
        return [{} for _ in partitions.folds]
    if protocol == "paper":
        return [_choose(clock, estimator, X, y, grid, partitions.tuning)] * len(partitions.folds)
    # The halves of a fold follow from the fold: another classifier gets the same ones.
    rngs = (np.random.default_rng([number, len(train)]) for number, (train, _) in enumerate(partitions.folds))
    halves = [_halves(train, codes, rng) for (train, _), rng in zip(partitions.folds, rngs, strict=True)]
    return [_choose(clock, estimator, X, y, grid, pair) for pair in halves]


def _choose(clock, estimator, X, y, grid, pair):
    """The grid point with the best accuracy on the test half; the first among equals. Points that fail lose."""
    best, chosen, trouble = -np.inf, None, None
    for params in ParameterGrid(grid):
        try:
            accuracy, *_ = _score(clock, estimator, params, X, y, *pair)
        except TimeoutError:
            raise
        except Exception as raised:  # this point loses; if all do, the cell has no score
            trouble = raised
        else:
            if accuracy > best:
                best, chosen = accuracy, params
    if chosen is None:
        raise trouble
    return chosen


def _score(clock, estimator, params, X, y, train, test):
    clock.check()
    model = clone(estimator).set_params(**params)
    before = time.perf_counter()
    model.fit(_safe_indexing(X, train), y[train])
    seconds = time.perf_counter() - before
    said, truth = model.predict(_safe_indexing(X, test)), y[test]
    return accuracy_score(truth, said), cohen_kappa(confusion_matrix(truth, said)), seconds


def cohen_kappa(table):
    """Cohen's kappa of a confusion table: (p_o - p_e) / (1 - p_e). Cost O(k^2).

    p_o is the share of agreements, p_e what two raters with these margins would agree on by chance.

    Parameters
    ----------
    table : array-like of shape (k, k)
        Counts of true class (rows) and predicted class (columns).

    Returns
    -------
    float
        0 where p_e = 1: then truth and prediction are one and the same class. (scikit-learn's ``cohen_kappa_score``
        gives NaN there.)

    Examples
    --------
    >>> round(cohen_kappa([[40, 10], [20, 30]]), 12)
    0.4
    >>> cohen_kappa([[70, 0], [30, 0]])
    0.0
    """
    table = check_magnitude(check_finite_array(table, "table", ndim=2), "table")
    n = table.sum()
    if table.shape[0] != table.shape[1] or (table < 0).any() or n == 0:
        raise ValueError("table must be a square table of counts that are not all zero")
    expected = float(table.sum(axis=1) @ table.sum(axis=0)) / float(n) ** 2
    if 1 - expected < 1e-14:
        return 0.0
    return float((np.trace(table) / n - expected) / (1 - expected))
