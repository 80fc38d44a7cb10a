"""Conditional mutual information maximization (Fleuret 2004, Sec. 2.3 and 4): the function and the transformer.

A candidate is scored by the information about the class that it adds to the chosen column that makes it most
superfluous,

    s(n) = min( I(Y; X_n),  min over chosen m of I(Y; X_n | X_m) ),

and the largest score is chosen next. A score can only fall while columns are chosen. So an old score is an upper bound,
and a candidate whose bound does not beat a score that is up to date need not be looked at.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from learnable.features.cmim_selection import _lazy as lazy
from learnable.features.discretization import code_for_classes
from learnable.features.information import CodedColumns
from learnable.features.selectors import DiscreteSelector
from learnable.validation import check_choice, check_scalar, check_weights

METHODS = {"heap": lazy.heap_order, "scan": lazy.scan_order, "naive": lazy.naive_order}


@dataclass(frozen=True, eq=False)
class CMIMSelection:
    """What `cmim` returns.

    Attributes
    ----------
    order : ndarray of int64
        Places of the chosen columns, first choice first. Shorter than asked for if nothing informative was left.
    scores : ndarray of float
        Score of each choice when it was made, in nats; they do not increase.
    n_calls : int
        Number of conditional informations that were computed.
    calls_per_step : ndarray of int64
        The same, for each choice.
    calls_per_column : ndarray of int64 of shape (n_features,)
        The same, for each column: with how many of the chosen ones it has been compared.
    """

    order: np.ndarray
    scores: np.ndarray
    n_calls: int
    calls_per_step: np.ndarray
    calls_per_column: np.ndarray

    @property
    def share_of_calls(self):
        """Calls made, as a share of the N (K - 1) that bring every score up to date."""
        possible = len(self.calls_per_column) * (len(self.order) - 1)
        return self.n_calls / possible if possible > 0 else 0.0


def cmim(X, y, k, *, method="heap", include_marginal=True, sample_weight=None):
    """Choose k columns by conditional mutual information maximization (Fleuret 2004, Alg. 1 and 2).

    Parameters
    ----------
    X : array-like or DataFrame of shape (n, d), or CodedColumns
        Discrete columns of any kind; fastest if none has more than two values. Continuous ones are cut as
        `MDLDiscretizer` does. Columns that were coded before (by `code_columns`) are not coded again.
    y : array-like of shape (n,)
        Class labels, two or more.
    k : int
        How many columns to choose at most.
    method : {"heap", "scan", "naive"}, default="heap"
        Order in which scores are brought up to date. "naive" is Algorithm 1, "scan" is Algorithm 2, "heap" always takes
        the largest partial score next. All give the same answer; they differ in the number of calls.
    include_marginal : bool, default=True
        Whether a score is also bounded by the information without any condition, as in the source's algorithms; False
        for its equation (2), which can choose a column that is informative only in company.
    sample_weight : array-like of shape (n,), optional
        Weight of each row; rounded to 36 bits of the total.

    Returns
    -------
    CMIMSelection
        The choice, scores and counts of calls. Ties go to the lower place.

    Notes
    -----
    Cost of one call n / 64 steps of the processor for each class with columns of two values, n with others. At most
    d (k - 1) calls; usually one in a hundred is made. Memory n d / 8 bytes.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, (300, 6))
    >>> X[:, 3] = X[:, 0]
    >>> y = 2 * X[:, 0] + X[:, 1] + rng.integers(0, 2, 300) > 1
    >>> cmim(X, y, 2).order
    array([0, 1])
    """
    method = check_choice(method, "method", tuple(METHODS))
    k = check_scalar(k, "k", low=1, integer=True)
    columns = X if isinstance(X, CodedColumns) else code_for_classes(X, y)
    reference = columns.reference(y)
    if sample_weight is not None:
        sample_weight = check_weights(sample_weight, columns.n_samples)
    return _choose(columns, reference, k, METHODS[method], bool(include_marginal), sample_weight)


class CMIMSelector(DiscreteSelector):
    """Choose columns that are informative about the class, and not made superfluous by one chosen before.

    A scikit-learn transformer for discrete columns. Continuous ones are cut as `MDLDiscretizer` does while they are
    compared; `ThresholdFeatures` before it makes several binary columns of each.

    Parameters
    ----------
    k : int, default=10
        How many columns to choose at most; fewer if nothing informative is left.
    method : {"heap", "scan", "naive"}, default="heap"
        As in `cmim`; the answer does not depend on it.
    include_marginal : bool, default=True
        As in `cmim`.

    Attributes
    ----------
    order_ : ndarray of int64
        The chosen columns, first choice first. (`transform` keeps the order of the table.)
    scores_ : ndarray of float
        Score of each choice in nats.
    n_cmi_calls_ : int
        Number of conditional informations computed.
    support_ : ndarray of bool
        Which columns are kept.
    classes_ : ndarray
        The labels.

    Examples
    --------
    >>> X = [[0, 0, 1], [0, 0, 0], [1, 1, 1], [1, 1, 0], [1, 1, 1], [0, 0, 0]]
    >>> CMIMSelector(k=2).fit(X, [0, 0, 1, 1, 1, 0]).order_
    array([0])
    """

    def __init__(self, k=10, *, method="heap", include_marginal=True):
        self.k = k
        self.method = method
        self.include_marginal = include_marginal

    def fit(self, X, y, sample_weight=None):
        """Choose the columns.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Discrete columns; missing values are a value of their own.
        y : array-like of shape (n,)
            Class labels.
        sample_weight : array-like of shape (n,), optional
            Weight of each row.

        Returns
        -------
        CMIMSelector
            Itself.
        """
        k = check_scalar(self.k, "k", low=1, integer=True)
        method = check_choice(self.method, "method", tuple(METHODS))
        columns, reference = self._discrete(X, y)
        if sample_weight is not None:
            sample_weight = check_weights(sample_weight, columns.n_samples)
        found = _choose(columns, reference, k, METHODS[method], bool(self.include_marginal), sample_weight)
        self.order_, self.scores_, self.n_cmi_calls_ = found.order, found.scores, found.n_calls
        self.support_ = np.zeros(columns.n_features, dtype=bool)
        self.support_[found.order] = True
        return self


def _choose(columns, reference, k, run, marginal, sample_weight):
    k = min(k, columns.n_features)
    data, nats = _table(columns, reference, sample_weight)
    scores = lazy.start_scores(data)
    n_kept, coded = max(k - 1, 1), data.kind == lazy.CODED
    n_classes, n_words = data.class_words.shape
    picks = lazy.Picks(
        np.zeros((n_kept, n_classes, n_words), dtype=np.uint64),
        np.zeros((n_kept, n_classes), dtype=np.int64),
        np.zeros((n_kept, columns.n_samples if coded else 0), dtype=np.int64),
        np.zeros((n_kept, columns.n_samples if coded else 0), dtype=np.int64),
        np.zeros(n_kept, dtype=np.int64),
    )
    order, values, calls, seen = run(data, picks, scores, k, marginal)
    return CMIMSelection(order, values * nats, int(calls.sum()), calls, seen)


def _table(columns, reference, sample_weight):
    """The arrays of the kernels, and what one unit is in nats."""
    n = columns.n_samples
    packed = columns.words is not None
    weights, table, nats = np.ones(n, dtype=np.int64), columns.table, columns.unit / n
    if sample_weight is not None:
        weights = np.rint(sample_weight / sample_weight.sum() * 2.0**36).astype(np.int64)
        table, nats = np.empty(0, dtype=np.int64), 1.0 / (lazy.SCALE * weights.sum())
    words = columns.words if packed else np.zeros((0, 0), dtype=np.uint64)
    class_words = reference.words if packed else np.zeros((reference.n_states, 0), dtype=np.uint64)
    lookup = np.zeros((0, 256), dtype=np.int64)
    kind = lazy.PACKED if packed else lazy.CODED
    if packed and sample_weight is not None:
        kind, lookup = lazy.WEIGHTED, lazy.weighted_lookup(weights, words.shape[1])
    sizes = np.zeros(reference.n_states, dtype=np.int64)
    np.add.at(sizes, reference.codes, weights)
    ones = np.zeros((0, reference.n_states), dtype=np.int64)
    if packed:
        ones = lazy.count_classes(kind, words, class_words, lookup)
    codes = np.zeros((0, 0), dtype=np.int32) if packed else columns.codes.astype(np.int32)
    return lazy.Table(
        kind, words, codes, columns.n_states, class_words, reference.codes, sizes, ones, weights, lookup, table
    ), nats
