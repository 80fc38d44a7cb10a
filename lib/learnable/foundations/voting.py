"""Voting rules: partitions, histograms and nearest neighbours, with their exact large-sample risks.

Source: Lember 2012, Sec. 6.2.
"""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from learnable.foundations.prototypes import condense, edit
from learnable.neighbors import NeighborIndex
from learnable.problems.tables import check_loss_matrix
from learnable.validation import check_choice, check_class_labels, check_rng, check_scalar
from learnable.validation.tags import ONE_DISTANCE, unit_facts

__all__ = ["KNN", "HistogramRule", "PartitionRule", "Regressogram"]


def _cells(cell_id, X):
    """Cells of the rows as integers 0…m−1, and a table from a cell's key to its integer."""
    keys = [_key(value) for value in cell_id(X)]
    table = {}
    return np.array([table.setdefault(key, len(table)) for key in keys]), table


def _key(value):
    return value.tobytes() if isinstance(value, np.ndarray) else value


def cube_numbers(X, width, name):
    """The cube of edge `width` of each row, as whole numbers in floats: exact at every size that a float can divide."""
    with np.errstate(over="ignore"):
        cubes = np.floor(X / width) + 0.0  # −0 and 0 are the same cube
    if not np.isfinite(cubes).all():
        raise ValueError(f"X must be less than 1.8e308 edges {name} = {width:g} from 0, got {np.abs(X).max():g}")
    return cubes


class PartitionRule(ClassifierMixin, BaseEstimator):
    """In each cell of a partition, the constant with the smallest empirical loss (6.2.1).

    Parameters
    ----------
    cell_id : callable
        Maps X to one hashable cell (or array row) a sample.
    loss : {"0-1", "squared", "absolute"} or matrix
        ``0-1`` votes, ties to the first class; a matrix ``L[truth, decision]`` weighs; ``squared`` and ``absolute``
        give the mean and the median of numeric targets.
    empty : {"first", "global"}
        What an unseen cell says: the first class (0 for numbers), or the best constant for the whole sample.

    Examples
    --------
    >>> rule = PartitionRule(lambda X: np.floor(X[:, 0])).fit([[0.1], [0.2], [1.5]], [1, 1, 0])
    >>> rule.predict([[0.9], [1.1], [7.0]]).tolist()
    [1, 0, 0]
    """

    _depends_on_units = unit_facts(columns="the cells are given in one unit")

    def __init__(self, cell_id=None, loss="0-1", empty="first"):
        self.cell_id = cell_id
        self.loss = loss
        self.empty = empty

    def _set_up(self, X):
        """What a subclass needs to know about the sample before it cuts."""

    def _partition(self, X):
        if self.cell_id is None:
            return np.zeros(len(X))
        cells = self.cell_id(X)
        if np.ndim(cells) == 0 or len(cells) != len(X):
            raise ValueError(f"cell_id must return one cell for each of the {len(X)} rows, got shape {np.shape(cells)}")
        return cells

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags

    def fit(self, X, y):
        X, y = validate_data(self, X, y, dtype=np.float64)
        if self.cell_id is not None and not callable(self.cell_id):
            raise ValueError(f"cell_id must be a function of X or None, got {self.cell_id!r}")
        check_choice(self.empty, "empty", ("first", "global"))
        self._set_up(X)
        where, self._table = _cells(self._partition, X)
        m = len(self._table)
        numeric = isinstance(self.loss, str) and self.loss in ("squared", "absolute")
        if numeric:
            y = y.astype(float)
            if self.loss == "squared":
                self.values_ = np.bincount(where, weights=y) / np.bincount(where)
                whole = y.mean()
            else:
                order = np.lexsort((y, where))
                start = np.searchsorted(where[order], np.arange(m))
                size = np.bincount(where)
                low, high = y[order][start + (size - 1) // 2], y[order][start + size // 2]
                self.values_, whole = 0.5 * (low + high), np.median(y)
            self._default = whole if self.empty == "global" else 0.0
            return self
        check_class_labels(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        k = len(self.classes_)
        if isinstance(self.loss, str) and self.loss != "0-1":
            raise ValueError(f"loss must be '0-1', 'squared', 'absolute' or a matrix, got {self.loss!r}")
        L = check_loss_matrix(None if isinstance(self.loss, str) else self.loss, k)
        counts = np.zeros((m, k))
        np.add.at(counts, (where, codes), 1.0)
        best = (counts @ L).argmin(axis=1)
        self.values_ = self.classes_[best]
        whole = self.classes_[(counts.sum(axis=0) @ L).argmin()]
        self._default = whole if self.empty == "global" else self.classes_[0]
        return self

    def predict(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        found = np.array([self._table.get(_key(value), -1) for value in self._partition(X)], int)
        out = np.full(len(X), self._default, dtype=self.values_.dtype)
        out[found >= 0] = self.values_[found[found >= 0]]
        return out


class HistogramRule(PartitionRule):
    """Votes in the cubes ∏[k_i h, (k_i + 1) h); only cells with data are stored.

    Parameters
    ----------
    h : float or callable, optional
        Edge, or n → edge; by default ``c n^(−1/(d+2))``.
    c : float
    loss, empty : see `PartitionRule`

    Examples
    --------
    >>> HistogramRule(h=1.0).fit([[-0.5], [0.5]], [1, 0]).predict([[-0.1], [0.0]]).tolist()
    [1, 0]
    """

    _depends_on_units = unit_facts(origin="the cubes start at 0", columns="cubes have equal edges")

    def __init__(self, h=None, c=1.0, loss="0-1", empty="first"):
        super().__init__(cell_id=None, loss=loss, empty=empty)
        self.h = h
        self.c = c

    def _set_up(self, X):
        n, d = X.shape
        if self.h is None:
            width = check_scalar(self.c, "c", low=0, closed="neither") * n ** (-1.0 / (d + 2))
        else:
            width = self.h(n) if callable(self.h) else self.h
        self.h_ = check_scalar(width, "h", low=0, closed="neither")

    def _partition(self, X):
        return cube_numbers(X, self.h_, "h")


class Regressogram(RegressorMixin, HistogramRule):
    """Means in cubes: the regression version of `HistogramRule`.

    Parameters
    ----------
    h : float, optional
        Width of the cubes; by default c n^(-1/(d + 2)).
    c : float, default=1.0
    loss : str, default="squared"
        As in `HistogramRule`.
    empty : {"first", "global"}, default="global"
        What an empty cube answers.

    Examples
    --------
    >>> Regressogram(h=1.0).fit([[0.1], [0.9], [1.5]], [1.0, 2.0, 7.0]).predict([[0.5], [1.2]])
    array([1.5, 7. ])
    """

    _depends_on_units = unit_facts(origin="the cubes start at 0", columns="cubes have equal edges")

    def __init__(self, h=None, c=1.0, loss="squared", empty="global"):
        super().__init__(h=h, c=c, loss=loss, empty=empty)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.estimator_type = "regressor"
        tags.classifier_tags = None
        return tags


class KNN(ClassifierMixin, BaseEstimator):
    """k nearest neighbours with exact ties.

    Parameters
    ----------
    k : int or callable
        Or n → k, for schedules such as ``lambda n: int(n ** 0.5)``.
    weights : array (k,) or callable, optional
        Weight of the i-th neighbour; by default equal for odd k, and (3, 2, …, 2) for even k, where the nearest one
        breaks ties.
    ties : {"index", "randomise"}
        Equal distances: the smaller index first, or by an extra uniform coordinate of every point.
    method : {"auto", "tree", "brute", "line"}
    random_state : int or Generator, optional
        For ``randomise``.
    reduce : {None, "condensed", "edited"}
        Keep all points; those that the nearest-neighbour rule, k = 1, needs (`condense`); or those that the vote of
        their own k neighbours gets right (`edit`), of which the nearest one then decides.

    Attributes
    ----------
    kept_ : array of int
        Rows of the training sample that are in use.

    Notes
    -----
    Equal votes go to the first class. Cost of a prediction: O(log n) in few dimensions, O(nd) in many.

    Examples
    --------
    >>> KNN(k=1).fit([[0.0], [2.0]], ["a", "b"]).predict([[1.0], [1.1]]).tolist()
    ['a', 'b']
    >>> KNN(k=1, reduce="condensed").fit([[0.0], [1.0], [2.0], [8.0]], ["a", "a", "a", "b"]).kept_
    array([0, 3])
    """

    _depends_on_units = ONE_DISTANCE

    def __init__(self, k=1, weights=None, ties="index", method="auto", random_state=None, reduce=None):
        self.k = k
        self.weights = weights
        self.ties = ties
        self.method = method
        self.random_state = random_state
        self.reduce = reduce

    def fit(self, X, y):
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_class_labels(y)
        check_choice(self.ties, "ties", ("index", "randomise"))
        check_choice(self.reduce, "reduce", (None, "condensed", "edited"))
        self.classes_, self._codes = np.unique(y, return_inverse=True)
        self.kept_ = np.arange(len(X))
        if self.reduce is not None:
            self.kept_ = self._reduced(X, y)
            X, self._codes = X[self.kept_], self._codes[self.kept_]
        self._X = X
        self.k_ = 1 if self.reduce is not None else self._neighbours(len(X))
        self.weights_ = self._weights(self.k_)
        self._index = NeighborIndex(X, self.method)
        if self.ties == "randomise":
            self._rng = check_rng(self.random_state)
            self._coordinate = self._rng.random(len(X))
        return self

    def _neighbours(self, n, others=0):
        k = check_scalar(self.k(n) if callable(self.k) else self.k, "k", low=1, integer=True)
        if k > n - others:
            raise ValueError(f"k = {k} neighbours of n_samples={n}: k must not exceed the sample")
        return k

    def _reduced(self, X, y):
        """Rows that stay."""
        if self.weights is not None:
            raise ValueError("weights and reduce do not go together")
        k = self._neighbours(len(X), others=int(self.reduce == "edited"))
        if self.reduce == "condensed":
            if k != 1:
                raise ValueError(f"k must be 1 for condensed neighbours, got {k}")
            return condense(X, y)
        kept = edit(X, y, k)
        if kept.size == 0:
            raise ValueError(f"no point is left: the {k} neighbours of every point say another class; raise k")
        return kept

    def _weights(self, k):
        if self.weights is None:
            weights = np.full(k, 2.0)
            weights[0] = 3.0 if k % 2 == 0 else 2.0
            return weights
        weights = np.asarray(self.weights(k) if callable(self.weights) else self.weights, float)
        if weights.shape != (k,) or not np.isfinite(weights).all() or weights.min() < 0 or weights.sum() == 0:
            raise ValueError(f"weights must be {k} numbers, none negative, not all zero")
        return weights

    def kneighbors(self, X):
        """Indices of the neighbours in their order."""
        X = self._points(X)
        if self.ties == "index":
            return self._index.query(X, self.k_)[1]
        return self._randomised(X)

    def _randomised(self, X):
        """Order by (distance, |u − u_i|): collect everything at the border's distance, then sort."""
        out = np.empty((len(X), self.k_), np.int64)
        distances, _ = self._index.query(X, self.k_)
        mine = self._rng.random(len(X))
        for i, row in enumerate(X):
            gaps = ((self._X - row) ** 2).sum(axis=1)
            near = np.flatnonzero(gaps <= distances[i, -1] * (1 + 1e-12))
            order = np.lexsort((np.abs(self._coordinate[near] - mine[i]), gaps[near]))
            out[i] = near[order[: self.k_]]
        return out

    def _points(self, X):
        check_is_fitted(self)
        return validate_data(self, X, reset=False, dtype=np.float64)

    def _votes(self, neighbours):
        votes = np.zeros((len(neighbours), len(self.classes_)))
        rows = np.arange(len(neighbours))
        for rank in range(neighbours.shape[1]):
            votes[rows, self._codes[neighbours[:, rank]]] += self.weights_[rank]
        return votes

    def predict_proba(self, X):
        neighbours = self.kneighbors(X)
        votes = self._votes(neighbours)
        return votes / votes.sum(axis=1, keepdims=True)

    def predict(self, X):
        neighbours = self.kneighbors(X)
        return self.classes_[self._votes(neighbours).argmax(axis=1)]

    def leave_one_out_error(self):
        """Share of training points that the other points misclassify (needs n > k)."""
        check_is_fitted(self)
        n = len(self._X)
        _, neighbours = self._index.query(self._X, self.k_, exclude=np.arange(n))
        return float(np.mean(self._votes(neighbours).argmax(axis=1) != self._codes))
