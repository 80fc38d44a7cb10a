"""Three filters that the fast correlation-based filter is compared with (Yu and Liu 2004, Sec. 5.1).

`ReliefF` ranks columns one by one, by how they differ between near rows of the same and of other classes. `CFS` and
`FOCUS` search: they add, one at a time, the column that improves a measure of the subset most; the measure is a ratio
of mean correlations, or the number of rows that the subset cannot tell apart from rows of another class.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from sklearn.utils.validation import validate_data

from learnable.features.information import code_columns
from learnable.features.selectors import DiscreteSelector
from learnable.validation import check_choice, check_class_labels, check_rng, check_scalar, encode_labels

__all__ = ["CFS", "FOCUS", "ReliefF", "inconsistency"]


class ReliefF(DiscreteSelector):
    """Weights of columns from near hits and near misses of sampled rows.

    For a sampled row the nearest rows of its own class (hits) and of each other class (misses) are found. The weight of
    a column grows by its mean difference to the misses, classes weighted by their share among the other classes, and
    falls by its mean difference to the hits.

    Parameters
    ----------
    n_features_to_select : int, optional
        How many columns are kept, those of the largest weights; by default all of weight above `threshold`.
    threshold : float, default=0.0
        Smallest weight that is not enough.
    n_neighbors : int, default=5
        Hits, and misses of each class.
    n_instances : int, default=30
        Sampled rows; all rows if there are fewer.
    nominal : bool, default=True
        Whether values are names, which are equal or not; otherwise differences of numbers, over their range.
    random_state : None, int or Generator
        Which rows are sampled.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features,)
        In [-1, 1].
    support_ : ndarray of bool of shape (n_features,)
        The kept columns.
    n_features_in_ : int
        Number of columns.

    Notes
    -----
    Robnik-Sikonja and Kononenko 2003; settings of Yu and Liu 2004. Cost O(m n N) for m sampled rows: distances, not
    weights, cost the time. Copies have equal weights, so that redundant columns stay.

    Examples
    --------
    >>> X = np.random.default_rng(0).integers(0, 2, (200, 4))
    >>> ReliefF(n_features_to_select=1, random_state=0).fit(X, X[:, 2]).get_support()
    array([False, False,  True, False])
    """

    def __init__(
        self,
        n_features_to_select=None,
        *,
        threshold=0.0,
        n_neighbors=5,
        n_instances=30,
        nominal=True,
        random_state=None,
    ):
        self.n_features_to_select = n_features_to_select
        self.threshold = threshold
        self.n_neighbors = n_neighbors
        self.n_instances = n_instances
        self.nominal = nominal
        self.random_state = random_state

    def fit(self, X, y):
        """Weigh the columns.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Discrete columns of any kind, or finite numbers if not `nominal`.
        y : array-like of shape (n,)
            Class labels.

        Returns
        -------
        self
            The fitted selector.
        """
        n_neighbors = check_scalar(self.n_neighbors, "n_neighbors", low=1, integer=True)
        n_instances = check_scalar(self.n_instances, "n_instances", low=1, integer=True)
        threshold = check_scalar(self.threshold, "threshold", low=-1, high=1)
        rng = check_rng(self.random_state)
        if self.nominal:
            columns, reference = self._discrete(X, y)
            values, codes = np.ascontiguousarray(columns.codes.T), reference.codes
        else:
            values, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
            check_class_labels(y)
            self.classes_, codes = encode_labels(y)
            values = _over_range(values)
        d = values.shape[1]
        keep = self.n_features_to_select
        if keep is not None:
            keep = check_scalar(keep, "n_features_to_select", low=1, high=d, integer=True)
        chosen = np.sort(rng.permutation(len(values))[:n_instances])
        codes = codes.astype(np.int64)
        self.weights_ = _relief(values, codes, len(self.classes_), chosen, n_neighbors, bool(self.nominal))
        if keep is None:
            self.support_ = self.weights_ > threshold
        else:
            self.support_ = np.zeros(d, dtype=bool)
            self.support_[np.argsort(-self.weights_, kind="stable")[:keep]] = True
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = bool(self.nominal)
        return tags


class CFS(DiscreteSelector):
    """Correlation-based selection, forward: add the column that raises the merit of the subset most.

    The merit of k columns is ``k r_c / sqrt(k + k (k - 1) r_f)``, with r_c the mean symmetrical uncertainty of a column
    and the class and r_f the mean of a pair of columns. The search ends when no column raises it.

    Parameters
    ----------
    max_features : int, optional
        At most so many columns; no limit by default.

    Attributes
    ----------
    selected_ : ndarray of int
        Kept columns in the order in which they were added.
    merits_ : ndarray
        Merit after each step.
    support_ : ndarray of bool of shape (n_features,)
        The kept columns.
    n_evaluations_ : int
        Symmetrical uncertainties computed.
    n_features_in_ : int
        Number of columns.

    Notes
    -----
    Hall 2000, with the sequential forward search of Yu and Liu 2004. Sums over pairs are kept for each column and
    updated by one row of SU in each step: cost O(n N) for each added column, memory O(N), never the matrix of pairs.

    Examples
    --------
    >>> from learnable.datasets import make_corral
    >>> corral = make_corral()
    >>> CFS().fit(corral.data, corral.target).get_feature_names_out(corral.feature_names).tolist()
    ['A0', 'A1', 'B0', 'B1', 'R']
    """

    def __init__(self, max_features=None):
        self.max_features = max_features

    def fit(self, X, y):
        """Search forward.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, n_features)
            Discrete columns of any kind.
        y : array-like of shape (n,)
            Class labels.

        Returns
        -------
        self
            The fitted selector.
        """
        most = np.inf
        if self.max_features is not None:
            most = check_scalar(self.max_features, "max_features", low=1, integer=True)
        columns, reference = self._discrete(X, y)
        relevance = columns.symmetrical_uncertainty(reference)
        pairs = np.zeros(len(relevance))  # sum of SU of each column and those in the subset
        inside, total, among = np.zeros(len(relevance), dtype=bool), 0.0, 0.0
        selected, merits, best = [], [], 0.0
        evaluations = len(relevance)
        while len(selected) < min(most, len(relevance)):
            k = len(selected) + 1
            merit = (total + relevance) / np.sqrt(k + 2 * (among + pairs))
            merit[inside] = -1.0
            j = int(np.argmax(merit))
            if merit[j] <= best * (1 + 1e-12):
                break
            best = merit[j]
            selected.append(j)
            merits.append(best)
            total, among, inside[j] = total + relevance[j], among + pairs[j], True
            left = np.flatnonzero(~inside)
            pairs[left] += columns.symmetrical_uncertainty(columns.column(j), left)
            evaluations += len(left)
        self.selected_, self.merits_ = np.array(selected, dtype=np.int64), np.array(merits)
        self.support_, self.n_evaluations_ = inside, evaluations
        return self


class FOCUS(DiscreteSelector):
    """Consistency, forward: add the column after which fewest rows are indistinguishable from rows of another class.

    Parameters
    ----------
    stop : {"consistent", "no gain"}, default="consistent"
        Go on until the subset is as consistent as all columns together, or only as long as a column helps at once.
        The former is the definition of the source, the latter is what its printed subsets show.

    Attributes
    ----------
    selected_ : ndarray of int
        Kept columns in the order in which they were added.
    inconsistencies_ : ndarray of int
        `inconsistency` after each step, beginning with no column.
    support_ : ndarray of bool of shape (n_features,)
        The kept columns.
    n_features_in_ : int
        Number of columns.

    Notes
    -----
    Almuallim and Dietterich 1994, with the sequential forward search of Yu and Liu 2004. Rows that are already told
    apart from all other classes never matter again and are dropped. Cost O(m N) for each added column, with m the
    other rows. Of equally good columns the first is taken.

    Examples
    --------
    >>> from learnable.datasets import make_corral
    >>> corral = make_corral()
    >>> FOCUS(stop="no gain").fit(corral.data, corral.target).get_feature_names_out(corral.feature_names).tolist()
    ['R']
    """

    def __init__(self, stop="consistent"):
        self.stop = stop

    def fit(self, X, y):
        """Search forward.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, n_features)
            Discrete columns of any kind.
        y : array-like of shape (n,)
            Class labels.

        Returns
        -------
        self
            The fitted selector.
        """
        check_choice(self.stop, "stop", ("consistent", "no gain"))
        columns, reference = self._discrete(X, y)
        codes, labels = columns.codes, reference.codes
        least = _inconsistency(codes, labels) if self.stop == "consistent" else 0
        groups, rows = np.zeros(len(labels), dtype=np.int64), np.arange(len(labels))
        found = [_wrong(groups, labels, reference.n_states)]
        selected, inside = [], np.zeros(len(codes), dtype=bool)
        while found[-1] > least and not inside.all():
            left = np.flatnonzero(~inside)
            after = _refined(codes, columns.n_states, left, groups, labels, rows)
            j = left[np.argmin(after)]
            if self.stop == "no gain" and after.min() >= found[-1]:
                break
            inside[j] = True
            selected.append(j)
            found.append(int(after.min()))
            groups, rows = _impure(groups[rows] * columns.n_states[j] + codes[j, rows], labels, rows)
        self.selected_, self.inconsistencies_ = np.array(selected, dtype=np.int64), np.array(found)
        self.support_ = inside
        return self


def inconsistency(X, y):
    """Rows that no classifier can get right which sees these columns alone.

    Rows with equal values form a group; in each group all rows but those of its most frequent class are counted.

    Parameters
    ----------
    X : array-like or DataFrame of shape (n, N)
        Discrete columns.
    y : array-like of shape (n,)
        Class labels.

    Returns
    -------
    int
        0 if equal rows always have equal labels. Cost O(n N) and a sort of the rows.

    Examples
    --------
    >>> inconsistency([[0, 0], [0, 0], [0, 1]], [0, 1, 1])
    1
    """
    columns = code_columns(X)
    return _inconsistency(columns.codes, columns.reference(y).codes)


def _over_range(X):
    """Columns scaled to [0, 1]; constant ones to 0."""
    low, high = X.min(axis=0) / 2, X.max(axis=0) / 2  # halves: the range of huge values overflows
    spread = high - low
    return np.divide(X / 2 - low, spread, out=np.zeros_like(X), where=spread > 0)


def _inconsistency(codes, labels):
    groups = np.zeros(codes.shape[1], dtype=np.int64)
    for column in codes:
        groups = np.unique(groups * (int(column.max()) + 1) + column, return_inverse=True)[1]
        if groups.max() + 1 == len(groups):
            return 0
    return _wrong(groups, labels, int(labels.max()) + 1)


def _wrong(groups, labels, n_classes):
    counts = np.bincount(groups * n_classes + labels, minlength=(groups.max() + 1) * n_classes)
    return int(len(labels) - counts.reshape(-1, n_classes).max(axis=1).sum())


def _impure(groups, labels, rows):
    """New numbers of the groups that hold several classes, for the rows in them; the array of groups is by row."""
    codes = np.unique(groups, return_inverse=True)[1]
    first = np.full(codes.max() + 1, -1)
    first[codes] = labels[rows]
    mixed = np.zeros(len(first), dtype=bool)
    mixed[codes[first[codes] != labels[rows]]] = True
    stay = mixed[codes]
    out = np.zeros(len(labels), dtype=np.int64)
    out[rows[stay]] = np.unique(codes[stay], return_inverse=True)[1]
    return out, rows[stay]


@njit(cache=True)
def _refined(codes, n_states, columns, groups, labels, rows):
    """Inconsistency after each of some columns has split the groups of the rows that still matter."""
    n_groups = n_classes = 0
    for r in rows:
        n_groups, n_classes = max(n_groups, groups[r] + 1), max(n_classes, labels[r] + 1)
    widest = 0
    for j in columns:
        widest = max(widest, n_states[j])
    counts = np.zeros(n_groups * widest * n_classes, dtype=np.int64)
    start = np.empty(len(rows), dtype=np.int64)
    out = np.empty(len(columns), dtype=np.int64)
    for a in range(len(columns)):
        states = n_states[columns[a]]
        column = codes[columns[a]]
        for b in range(len(rows)):
            r = rows[b]
            start[b] = (groups[r] * states + column[r]) * n_classes
            counts[start[b] + labels[r]] += 1
        right = 0
        for b in range(len(rows)):  # each group is added once, by its first row, and cleared
            most = 0
            for c in range(start[b], start[b] + n_classes):
                most = max(most, counts[c])
                counts[c] = 0
            right += most
        out[a] = len(rows) - right
    return out


@njit(cache=True)
def _difference(a, b, nominal):
    if nominal:
        return 1.0 if a != b else 0.0
    return abs(1.0 * a - b)


@njit(cache=True)
def _relief(X, labels, n_classes, chosen, n_neighbors, nominal):
    """Weights of ReliefF; the values of X are codes of names, or numbers in [0, 1]."""
    n, d = X.shape
    share = np.zeros(n_classes)
    for label in labels:
        share[label] += 1.0 / n
    weights = np.zeros(d)
    distance = np.empty(n)
    for i in chosen:
        for r in range(n):
            total = 0.0
            for j in range(d):
                total += _difference(X[i, j], X[r, j], nominal)
            distance[r] = total
        order = np.argsort(distance, kind="mergesort")
        for c in range(n_classes):
            near, taken = np.empty(n_neighbors, dtype=np.int64), 0
            for r in order:
                if r != i and labels[r] == c and taken < n_neighbors:
                    near[taken] = r
                    taken += 1
            if taken == 0 or share[c] == 1.0:
                continue
            part = -1.0 if c == labels[i] else share[c] / (1 - share[labels[i]])
            for r in near[:taken]:
                for j in range(d):
                    weights[j] += part * _difference(X[i, j], X[r, j], nominal) / (taken * len(chosen))
    return weights
