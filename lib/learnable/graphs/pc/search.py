"""Step 1, the adjacency search: start complete, delete edges by conditioning sets of growing size.

At level l every ordered pair (i, j) that is still adjacent is tried with all sets S of l nodes out of a(i) without j,
in lexicographic order, until one separates i and j. In the original algorithm a(i) are the current neighbours of i, so
that a deletion changes which sets the next pairs get to see; in PC-stable a(i) is frozen at the start of the level, and
the skeleton does not depend on the order of the columns (Colombo and Maathuis 2014, Algorithms 3.2 and 4.1, Theorem 3).

"Order" is always a permutation of the columns; a Gaussian test is searched in compiled code, any other one in Python.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numba import njit

from learnable._inner import assign
from learnable.graphs.independence import GaussianIndependence, _partial, _partial_in
from learnable.validation import Result, check_choice, check_has, check_permutation, check_scalar


class SeparatingSets:
    """The separating set that was found for each pair without an edge.

    Parameters
    ----------
    adjacency : array-like of bool of shape (p, p)
        Pairs with an edge have no separating set.
    sets : dict
        {(i, j): nodes} for pairs whose set is not empty; all other pairs without an edge have the empty set.

    Examples
    --------
    >>> sets = SeparatingSets([[0, 1, 0], [1, 0, 1], [0, 1, 0]], {(0, 2): (1,)})
    >>> sets[2, 0], (0, 1) in sets
    ((1,), False)
    """

    def __init__(self, adjacency, sets):
        self.adjacency = np.array(adjacency, dtype=bool)
        if self.adjacency.ndim != 2 or self.adjacency.shape[0] != self.adjacency.shape[1]:
            raise ValueError(f"adjacency must be a square matrix, got shape {self.adjacency.shape}")
        if not isinstance(sets, dict):
            raise TypeError(f"sets must be a dict from pairs to nodes, got {type(sets).__name__}")
        self._sets = {(min(pair), max(pair)): tuple(sorted(nodes)) for pair, nodes in sets.items()}

    def __contains__(self, pair):
        i, j = pair
        return i != j and not self.adjacency[i, j]

    def __getitem__(self, pair):
        if pair not in self:
            raise KeyError(f"{pair} has an edge, or is no pair: it has no separating set")
        return self._sets.get((min(pair), max(pair)), ())

    def items(self):
        """Pairs and sets, of the pairs whose set is not empty."""
        return self._sets.items()


@dataclass(frozen=True, eq=False)
class AdjacencySearch(Result):
    """What `adjacency_search` returns.

    Attributes
    ----------
    adjacency : ndarray of bool of shape (p, p)
        The skeleton, symmetric.
    sepsets : SeparatingSets
        One for each pair without an edge.
    tests_by_level : tuple of int
        How many tests had 0, 1, 2, ... nodes in the conditioning set.
    n_iter : int
        The number of levels.
    converged : bool
        Whether the search ended because no node had enough neighbours left, and not at `max_level` or for want of
        observations.
    """

    adjacency: np.ndarray
    sepsets: SeparatingSets
    tests_by_level: tuple
    n_iter: int
    converged: bool


def adjacency_search(ci_test, *, method="stable", order=None, max_level=None, tiers=None):
    """Find the skeleton by tests of conditional independence.

    The number of tests is at most of the order p^2 C(d, l) at level l for d neighbours: polynomial for sparse graphs.

    Parameters
    ----------
    ci_test : object with ``n_nodes`` and ``independent(i, j, given)``
        As in :mod:`learnable.graphs.independence`.
    method : {"stable", "original"}, default="stable"
        Whether the neighbours are frozen within a level.
    order : array-like of int of shape (p,), optional
        The order in which columns are considered; 0, 1, ..., p - 1 by default.
    max_level : int, optional
        The largest conditioning sets. Levels without a test for want of observations (n - l <= 3) are never reached:
        the search stops there with a warning.
    tiers : array-like of int of shape (p,), optional
        When each node is decided: nodes of a later tier than both of a pair never separate it.

    Returns
    -------
    AdjacencySearch

    Examples
    --------
    >>> from learnable.graphs.independence import ListedIndependence
    >>> ci_test = ListedIndependence(5, [(0, 1), (1, 3, [0, 2]), (2, 3, [0, 4])])
    >>> for method in ("original", "stable"):
    ...     for order in ([0, 3, 1, 2, 4], [0, 2, 3, 1, 4]):
    ...         found = adjacency_search(ci_test, method=method, order=order)
    ...         print(method, [(i, j) for i, j in np.argwhere(~found.adjacency).tolist() if i < j])
    original [(0, 1), (1, 3), (2, 3)]
    original [(0, 1), (2, 3)]
    stable [(0, 1), (1, 3), (2, 3)]
    stable [(0, 1), (1, 3), (2, 3)]
    """
    check_has(ci_test, "ci_test", "n_nodes independent", "a test of independence such as GaussianIndependence(data)")
    stable = check_choice(method, "method", ("stable", "original")) == "stable"
    order = check_order(order, ci_test.n_nodes)
    max_level, tiers = check_level(max_level), check_tiers(tiers, ci_test.n_nodes)[order]
    if isinstance(ci_test, GaussianIndependence):
        adjacency, sets, tests, complete = _search_gaussian(ci_test, order, stable, max_level, tiers)
    else:
        adjacency, sets, tests, complete = _search_any(ci_test, order, stable, max_level, tiers)
    back = np.argsort(order)
    adjacency = adjacency[np.ix_(back, back)]
    sets = {(int(order[i]), int(order[j])): tuple(int(order[k]) for k in S) for (i, j), S in sets.items()}
    return AdjacencySearch(adjacency, SeparatingSets(adjacency, sets), tests, len(tests), complete)


def check_order(order, p):
    """A permutation of 0, ..., p - 1 as int64; the identity for None."""
    return np.arange(p) if order is None else check_permutation(order, "order", p)


def check_tiers(tiers, p):
    """The tier of each node; all in one where none are given."""
    if tiers is None:
        return np.zeros(p, dtype=np.int64)
    found = np.asarray(tiers)
    if found.shape != (p,) or found.dtype.kind not in "iu":
        raise ValueError(f"tiers must hold a whole number for each of the {p} nodes, got {tiers!r}")
    return found.astype(np.int64)


def check_level(max_level):
    """The largest level as an int; a number that is never reached for None."""
    return 2**31 if max_level is None else check_scalar(max_level, "max_level", low=0, integer=True)


def asker(ci_test, order):
    """``ask(i, j, S)`` in the labels of `order`, without checks; it counts like `ci_test`."""
    names = [int(k) for k in order]
    if isinstance(ci_test, GaussianIndependence):
        C, cuts = ci_test.correlation, ci_test.thresholds(len(names))

        def ask(i, j, S):
            ci_test._count(len(S))
            rho = _partial(C, names[i], names[j], np.array([names[k] for k in S], dtype=np.int64))
            return abs(rho) <= cuts[len(S)]
    else:

        def ask(i, j, S):
            return ci_test.independent(names[i], names[j], tuple(names[k] for k in S))

    return ask


def _search_any(ci_test, order, stable, max_level, tiers):
    """The search with any test, in the labels of `order`."""
    p, ask = ci_test.n_nodes, asker(ci_test, order)
    near = [set(range(p)) - {i} for i in range(p)]
    sets, tests, level = {}, [], 0
    while level <= max_level and any(len(of) > level for of in near):
        tests.append(0)
        frozen = [sorted(of) for of in near]
        for i in range(p):
            for j in frozen[i]:
                now, last = frozen[i] if stable else sorted(near[i]), max(tiers[i], tiers[j])
                candidates = [k for k in now if k != j and tiers[k] <= last]
                if j not in near[i] or len(candidates) < level:
                    continue
                for S in combinations(candidates, level):
                    tests[-1] += 1
                    if ask(i, j, S):
                        near[i].discard(j)
                        near[j].discard(i)
                        if S:
                            sets[i, j] = S
                        break
        level += 1
    adjacency = np.zeros((p, p), dtype=bool)
    for i, of in enumerate(near):
        adjacency[i, list(of)] = True
    return adjacency, sets, tuple(tests), not any(len(of) > level for of in near)


def _search_gaussian(ci_test, order, stable, max_level, tiers):
    """The same with partial correlations, level by level in compiled code."""
    C = np.ascontiguousarray(ci_test.correlation[np.ix_(order, order)])
    p = len(C)
    deepest = min(max_level, ci_test.n_samples - 4)
    cuts = ci_test.thresholds(min(deepest, p))
    adjacency = np.abs(C) > cuts[0]
    np.fill_diagonal(adjacency, False)
    n_edges = int(adjacency.sum()) // 2
    # Level 0 by one comparison of the matrix: a pair that is not deleted is tried in both orders.
    tests, sets, level = [p * (p - 1) // 2 + n_edges] if p > 1 else [], {}, 1
    while level <= deepest and adjacency.sum(axis=1).max(initial=0) > level:
        pairs, members, count = _level(C, adjacency, level, cuts[level], stable, n_edges, tiers)
        sets |= {(i, j): tuple(S) for (i, j), S in zip(pairs.tolist(), members.tolist(), strict=True)}
        tests.append(int(count))
        n_edges -= len(pairs)
        level += 1
    for size, number in enumerate(tests):
        ci_test._count(size, number)
    complete = bool(adjacency.sum(axis=1).max(initial=0) <= level)
    if not complete and level > ci_test.n_samples - 4:
        warnings.warn(
            f"the search stopped at level {level - 1}: with n = {ci_test.n_samples} there is no test given more nodes; "
            "lower alpha, so that nodes have fewer neighbours",
            stacklevel=4,
        )
    return adjacency, sets, tuple(tests), complete


@njit(cache=True)
def next_combination(places, size, n):
    """The next of the increasing tuples of `size` out of 0, ..., n - 1 in lexicographic order; False after the last."""
    a = size - 1
    while a >= 0 and places[a] == n - size + a:
        a -= 1
    if a < 0:
        return False
    places[a] += 1
    for b in range(a + 1, size):
        places[b] = places[b - 1] + 1
    return True


@njit(cache=True)
def neighbour_lists(adjacency):
    """Compressed rows of a bool matrix."""
    p = len(adjacency)
    starts = np.zeros(p + 1, dtype=np.int64)
    for i in range(p):
        starts[i + 1] = starts[i] + adjacency[i].sum()
    lists = np.empty(starts[p], dtype=np.int64)
    for i in range(p):
        place = starts[i]
        for j in range(p):
            if adjacency[i, j]:
                lists[place] = j
                place += 1
    return starts, lists


@njit(cache=True)
def _level(C, adjacency, size, cut, stable, n_edges, tiers):
    """One level of the search: deletes edges in `adjacency`; returns pairs, their sets and the number of tests."""
    p = len(C)
    starts, lists = neighbour_lists(adjacency)
    pairs, members = np.empty((n_edges, 2), dtype=np.int64), np.empty((n_edges, size), dtype=np.int64)
    found, tests = 0, 0
    candidates, places, S = np.empty(p, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
    work = np.empty((size + 2, size))
    for i in range(p):
        for at in range(starts[i], starts[i + 1]):
            j = lists[at]
            if not adjacency[i, j]:
                continue
            n = 0
            for other in range(starts[i], starts[i + 1]):
                k = lists[other]
                if k != j and (stable or adjacency[i, k]) and tiers[k] <= max(tiers[i], tiers[j]):
                    candidates[n] = k
                    n += 1
            if n < size:
                continue
            for a in range(size):
                places[a] = a
            more = True
            while more:
                for a in range(size):
                    S[a] = candidates[places[a]]
                tests += 1
                if abs(_partial_in(C, i, j, S, size, work)) <= cut:
                    adjacency[i, j] = adjacency[j, i] = False
                    pairs[found, 0], pairs[found, 1] = i, j
                    assign(members[found], S)
                    found += 1
                    break
                more = next_combination(places, size, n)
    return pairs[:found], members[:found], tests
