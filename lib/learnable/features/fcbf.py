"""The fast correlation-based filter: a walk down the list of relevant columns (Yu and Liu 2004, Sec. 4).

Columns are ranked by their symmetrical uncertainty SU with the class. The first one is kept and deletes every later
column that it explains at least as well as that column explains the class; then the next one that is left has its turn.
A kept column is called *predominant*. `FCBF` walks over a table of discrete columns and computes each SU when it is
needed; `predominant_features` walks over a given matrix of similarities, of whatever kind.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit
from scipy.stats import chi2

from learnable._bits import count_both
from learnable.features.discretization import code_for_classes
from learnable.features.information import code_columns
from learnable.features.selectors import DiscreteSelector
from learnable.validation import check_finite_array, check_scalar, check_symmetric

__all__ = ["FCBF", "Walk", "joint_redundancy", "predominant_features", "su_matrix"]


@dataclass(frozen=True, eq=False)
class Walk:
    """What a walk down the list has found.

    Attributes
    ----------
    selected : ndarray of int
        Kept columns, the most relevant first.
    dominated_by : ndarray of int of shape (n_features,)
        Which column deleted this one; -1 for kept columns and for those that were never on the list.
    n_evaluations : int
        Similarities looked at: one for each column and the class, and one for each column on the list in each round.
    """

    selected: np.ndarray
    dominated_by: np.ndarray
    n_evaluations: int


class FCBF(DiscreteSelector):
    """Fast correlation-based filter: keep relevant columns that no more relevant kept column explains.

    Column i is on the list if SU(i, class) > `delta`. In the order of falling SU, ties by place, each column that is
    still on the list is kept and deletes every later i with SU(i, j) >= SU(i, class).

    Parameters
    ----------
    delta : float or "log", default=0.0
        Threshold of relevance in [0, 1]; "log" puts the first floor(N / log2 N) columns of the ranking on the list.

    Attributes
    ----------
    support_ : ndarray of bool of shape (n_features,)
        The kept columns.
    selected_ : ndarray of int
        Their places, the most relevant first.
    relevance_ : ndarray of shape (n_features,)
        SU of each column with the class.
    relevant_ : ndarray of bool of shape (n_features,)
        The columns that were on the list.
    dominated_by_ : ndarray of int of shape (n_features,)
        Which column deleted this one, or -1.
    n_evaluations_ : int
        Number of SU computed: N, and in each round as many as were still on the list.
    classes_ : ndarray
        The labels.
    n_features_in_ : int
        Number of columns.

    Notes
    -----
    Yu and Liu 2004, Fig. 4. Every distinct value is a level, also a missing one; continuous columns are cut as
    `MDLDiscretizer` does. Cost O(n N) for the ranking, and O(n) for each column on the list in each round (O(n / 64)
    if all columns have two values): between N and N(N - 1)/2 of them. A column that matters only together with another
    one has SU 0 and is lost.

    Examples
    --------
    >>> from learnable.datasets import make_corral
    >>> corral = make_corral()
    >>> fcbf = FCBF().fit(corral.data, corral.target)
    >>> [corral.feature_names[j] for j in fcbf.selected_]
    ['R', 'A0', 'A1', 'B0', 'B1']
    >>> [corral.feature_names[j] for j in FCBF(delta="log").fit(corral.data, corral.target).selected_]
    ['R', 'A0']
    """

    def __init__(self, delta=0.0):
        self.delta = delta

    def fit(self, X, y):
        """Rank the columns and walk down the list.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, n_features)
            Discrete columns of any kind; missing values are a level.
        y : array-like of shape (n,)
            Class labels.

        Returns
        -------
        self
            The fitted selector.
        """
        delta = _check_delta(self.delta)
        columns, reference = self._discrete(X, y)
        relevance = columns.symmetrical_uncertainty(reference)
        order = _ranked(relevance, delta)
        walk = _walk_columns(columns, relevance, order)
        self.relevance_ = relevance
        self.relevant_ = np.zeros(len(relevance), dtype=bool)
        self.relevant_[order] = True
        self.selected_, self.dominated_by_, self.n_evaluations_ = walk.selected, walk.dominated_by, walk.n_evaluations
        self.support_ = np.zeros(len(relevance), dtype=bool)
        self.support_[walk.selected] = True
        return self


def su_matrix(X, columns=None):
    """Symmetrical uncertainty of each pair of discrete columns.

    Parameters
    ----------
    X : array-like or DataFrame of shape (n, N)
        Discrete columns of any kind.
    columns : array-like of int, optional
        Which columns; all by default.

    Returns
    -------
    ndarray of shape (m, m)
        Symmetric, in [0, 1]; the diagonal is 1 for a column that varies and 0 for a constant one.

    Notes
    -----
    Yu and Liu 2004, Sec. 4.1. Cost O(n m^2); the walk of `FCBF` needs only a small part of it.

    Examples
    --------
    >>> su_matrix([[0, 1, 0], [0, 1, 1], [1, 0, 0], [1, 0, 1]])
    array([[1., 1., 0.],
           [1., 1., 0.],
           [0., 0., 1.]])
    """
    coded = code_columns(X)
    columns = coded._columns(columns)
    return np.array([coded.symmetrical_uncertainty(coded.column(int(j)), columns) for j in columns])


def predominant_features(relevance, similarity, *, delta=0.0):
    """The walk of `FCBF` over given similarities: any measure, such as the absolute linear correlation.

    Parameters
    ----------
    relevance : array-like of shape (N,)
        Similarity of each column and the class, not negative.
    similarity : array-like of shape (N, N)
        Similarity of each pair of columns, symmetric.
    delta : float or "log", default=0.0
        As for `FCBF`.

    Returns
    -------
    Walk
        The kept columns, and who deleted whom. Cost: one similarity for each column on the list in each round.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(500, 3))
    >>> X[:, 1] = X[:, 0] + 0.1 * X[:, 1]
    >>> R = np.abs(np.corrcoef(X.T, X[:, 0] + X[:, 2]))
    >>> walk = predominant_features(R[3, :3], R[:3, :3], delta=0.1)
    >>> sorted(walk.selected.tolist()), walk.dominated_by.tolist()
    ([0, 2], [-1, 0, -1])
    """
    delta = _check_delta(delta)
    relevance, similarity = _check_similarities(relevance, similarity)
    left = _ranked(relevance, delta)
    dominated_by = np.full(len(relevance), -1)
    selected, evaluations = [], len(relevance)
    while len(left):
        j, left = left[0], left[1:]
        selected.append(j)
        evaluations += len(left)
        gone = similarity[j, left] >= relevance[left]
        dominated_by[left[gone]] = j
        left = left[~gone]
    return Walk(np.array(selected, dtype=np.int64), dominated_by, evaluations)


def joint_redundancy(X, y, selected, *, n_given=4, level=0.01):
    """A second look at the kept columns, with blankets of several columns instead of one.

    From the most relevant column to the least: column i goes if, given the `n_given` other kept columns that share
    most information with it, it says nothing significant about the class, by the G test of conditional independence:
    2 n I(i; class | others) against a chi-square law.

    Parameters
    ----------
    X : array-like or DataFrame of shape (n, N)
        Discrete columns.
    y : array-like of shape (n,)
        Class labels.
    selected : array-like of int
        Places of the kept columns, the most relevant first, such as ``FCBF().fit(X, y).selected_``.
    n_given : int, default=4
        Size of the blankets. Their number of states grows like a power: keep the table of counts fuller than n / 5.
    level : float, default=0.01
        Probability above which the information counts as chance.

    Returns
    -------
    ndarray of int
        The columns that stay, in the same order.

    Notes
    -----
    The direction in which Yu and Liu 2004, Sec. 4.3, see room for improvement; the test is ours. Cost O(n m) for each
    of the m kept columns. It begins with the most relevant ones because a column that repeats several others, such as
    R of CorrAL, is more relevant than each of them.

    Examples
    --------
    >>> from learnable.datasets import make_corral
    >>> corral = make_corral()
    >>> kept = FCBF().fit(corral.data, corral.target).selected_
    >>> [corral.feature_names[j] for j in joint_redundancy(corral.data, corral.target, kept)]
    ['A0', 'A1', 'B0', 'B1']
    """
    n_given = check_scalar(n_given, "n_given", low=1, integer=True)
    level = check_scalar(level, "level", low=0, high=1, closed="neither")
    columns = code_for_classes(X, y)
    target = columns.reference(y)
    kept = [int(j) for j in columns._columns(selected)]
    if len(set(kept)) < len(kept):
        raise ValueError("selected: a column is named twice")
    for i in list(kept):
        others = np.array([j for j in kept if j != i], dtype=np.int64)
        if not len(others):
            break
        shared = columns.mutual_information(columns.column(i), others)
        given = None
        for j in others[np.argsort(-shared, kind="stable")[:n_given]]:
            given = columns.column(int(j)) if given is None else columns.both(given, columns.column(int(j)))
        statistic = 2 * columns.n_samples * columns.conditional_information(target, given, [i])[0]
        freedom = (columns.n_states[i] - 1) * (target.n_states - 1) * given.n_states
        if chi2.sf(statistic, max(freedom, 1)) > level:
            kept.remove(i)
    return np.array(kept, dtype=np.int64)


class _List(NamedTuple):
    """Columns on the list, in its order: packed words or codes, states, entropies in nats, terms, relevance."""

    data: np.ndarray
    n_states: np.ndarray
    entropies: np.ndarray
    terms: np.ndarray
    relevance: np.ndarray


def _check_delta(delta):
    if isinstance(delta, str):
        if delta != "log":
            raise ValueError(f'delta: a number in [0, 1] or "log" is expected, not {delta!r}')
        return delta
    return check_scalar(delta, "delta", low=0, high=1)


def _check_similarities(relevance, similarity):
    relevance = check_finite_array(relevance, "relevance", ndim=1)
    similarity = check_symmetric(similarity, "similarity")
    if len(relevance) != len(similarity):
        raise ValueError(f"similarity: {len(similarity)} columns, but relevance has {len(relevance)}")
    if relevance.min() < 0 or similarity.min() < 0:
        name = "relevance" if relevance.min() < 0 else "similarity"
        raise ValueError(f"{name}: similarities are not negative; take absolute values")
    return relevance, similarity


def _ranked(relevance, delta):
    """Places of the columns on the list, the most relevant first, ties by place."""
    order = np.argsort(-relevance, kind="stable")
    n = len(relevance)
    if delta == "log":
        order = order[: int(n / math.log2(n)) if n > 1 else 1]
        delta = 0.0
    return order[relevance[order] > delta]


def _walk_columns(columns, relevance, order):
    packed = columns.words is not None
    data = (columns.words if packed else columns.codes)[order]
    items = _List(
        data,
        columns.n_states[order],
        columns.entropies()[order],
        columns.terms[order],
        np.ascontiguousarray(relevance[order]),
    )
    walk = _walk_packed if packed else _walk_coded
    places, by, evaluations = walk(items, columns.table, columns.unit, columns.n_samples)
    dominated_by = np.full(columns.n_features, -1)
    deleted = by >= 0
    dominated_by[order[deleted]] = order[by[deleted]]
    return Walk(order[places], dominated_by, columns.n_features + evaluations)


@njit(cache=True)
def _uncertainty(joint, i, j, items, table, unit, n):
    """SU of two columns of the list from the sum of c log c over their cells, rounded as `CodedColumns` does."""
    value = joint - items.terms[i] - items.terms[j] + table[n]
    cells = min(items.n_states[i] * items.n_states[j], n) + items.n_states[i] + items.n_states[j]
    if value <= cells:
        return 0.0
    return 2 * (value * unit / n) / (items.entropies[i] + items.entropies[j])


@njit(cache=True)
def _walk_packed(items, table, unit, n):
    """Columns of two values: all four cells follow from the two margins and one count of common ones."""
    m = len(items.relevance)
    ones = np.empty(m, dtype=np.int64)
    for i in range(m):
        ones[i] = count_both(items.data[i], items.data[i])
    left, by = np.arange(m), np.full(m, -1)
    selected = np.empty(m, dtype=np.int64)
    kept, length, evaluations = 0, m, 0
    while length:
        j = left[0]
        selected[kept] = j
        kept += 1
        word, own = items.data[j], ones[j]
        stay = 0
        for a in range(1, length):
            i = left[a]
            both = count_both(items.data[i], word)
            joint = table[both] + table[ones[i] - both] + table[own - both] + table[n - ones[i] - own + both]
            if _uncertainty(joint, i, j, items, table, unit, n) >= items.relevance[i]:
                by[i] = j
            else:
                left[stay] = i
                stay += 1
        evaluations += length - 1
        length = stay
    return selected[:kept], by, evaluations


@njit(cache=True)
def _walk_coded(items, table, unit, n):
    """Columns of any number of values: cells are counted, or sorted where they would outnumber the rows by far."""
    m = len(items.relevance)
    left, by = np.arange(m), np.full(m, -1)
    selected = np.empty(m, dtype=np.int64)
    counts = np.zeros(4 * n + 64, dtype=np.int64)
    pair = np.empty(n, dtype=np.int64)
    kept, length, evaluations = 0, m, 0
    while length:
        j = left[0]
        selected[kept] = j
        kept += 1
        stay = 0
        for a in range(1, length):
            i = left[a]
            joint = _joint_term(items.data[i], items.data[j], items.n_states[i], items.n_states[j], table, counts, pair)
            if _uncertainty(joint, i, j, items, table, unit, n) >= items.relevance[i]:
                by[i] = j
            else:
                left[stay] = i
                stay += 1
        evaluations += length - 1
        length = stay
    return selected[:kept], by, evaluations


@njit(cache=True)
def _joint_term(x, z, x_states, z_states, table, counts, pair):
    """Sum of c log c over the cells of two coded columns, in units; `counts` and `pair` are room to work in."""
    n, cells = len(x), x_states * z_states
    total = np.int64(0)
    if cells <= len(counts):
        counts[:cells] = 0
        for r in range(n):
            counts[np.int64(x[r]) * z_states + z[r]] += 1
        for c in range(cells):
            total += table[counts[c]]
        return total
    for r in range(n):
        pair[r] = np.int64(x[r]) * z_states + z[r]
    pair.sort()
    start = 0
    for r in range(1, n + 1):
        if r == n or pair[r] != pair[start]:
            total += table[r - start]
            start = r
    return total
