"""Steps 2 and 3: which unshielded triples are colliders, and what follows for the other edges.

An unshielded triple i - j - k (i and k not adjacent) is a collider i -> j <- k if j is not in the set that separates i
and k. Which set was found first depends on the order of the columns; a vote over all separating sets does not. With
lists, all orientations that one step asks for are made at once, with two arrowheads where they contradict each other
(Colombo and Maathuis 2014, Secs. 4.2 and 4.3).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numba import njit

from learnable.graphs.independence import GaussianIndependence, _partial_in
from learnable.graphs.mixed import ARROW, TAIL, MixedGraph
from learnable.graphs.pc.search import asker, check_order, check_tiers, neighbour_lists, next_combination
from learnable.validation import Result, check_adjacency, check_has, check_scalar

COLLIDER, NON_COLLIDER, AMBIGUOUS = 1, 0, -1
# Above this number of conditioning sets a pair is not voted on: two neighbours of 18 others have half a million.
MOST_SETS = 2**18


@dataclass(frozen=True, eq=False)
class ColliderVotes(Result):
    """What `collider_votes` returns.

    Attributes
    ----------
    triples : ndarray of int of shape (m, 3)
        The unshielded triples (i, j, k), i before k in the order.
    n_sets : ndarray of int of shape (m,)
        How many sets separate i and k.
    share : ndarray of shape (m,)
        The share of them that contain j; 0 where there is none.
    labels : ndarray of int of shape (m,)
        1 collider, 0 no collider, -1 ambiguous.
    n_skipped : int
        Triples that were left ambiguous because their ends have too many neighbours.
    """

    triples: np.ndarray
    n_sets: np.ndarray
    share: np.ndarray
    labels: np.ndarray
    n_skipped: int


def unshielded_triples(adjacency):
    """All paths i - j - k without an edge between i and k, i < k, sorted.

    Parameters
    ----------
    adjacency : array-like of bool of shape (p, p)
        Symmetric.

    Returns
    -------
    ndarray of int of shape (m, 3)

    Examples
    --------
    >>> unshielded_triples([[0, 1, 0], [1, 0, 1], [0, 1, 0]]).tolist()
    [[0, 1, 2]]
    """
    return _triples(check_adjacency(adjacency))


def orient_colliders(adjacency, sepsets, *, lists=False, order=None):
    """Orient i -> j <- k for every unshielded triple whose separating set does not contain j. O(p d^2).

    Parameters
    ----------
    adjacency : array-like of bool of shape (p, p)
        The skeleton.
    sepsets : SeparatingSets
    lists : bool, default=False
        Without lists an orientation overwrites earlier ones, in the order of the triples; with lists contradictions
        become bidirected edges.
    order : array-like of int of shape (p,), optional
        The order of the columns.

    Returns
    -------
    MixedGraph

    Examples
    --------
    >>> from learnable.graphs.pc import SeparatingSets
    >>> path = np.eye(4, k=1) + np.eye(4, k=-1)
    >>> orient_colliders(path, SeparatingSets(path, {}))
    MixedGraph(4 nodes: 0 -> 1, 1 -> 2, 3 -> 2)
    >>> orient_colliders(path, SeparatingSets(path, {}), lists=True)
    MixedGraph(4 nodes: 0 -> 1, 1 <-> 2, 3 -> 2)
    """
    adjacency = check_adjacency(adjacency)
    check_has(sepsets, "sepsets", "adjacency items", "SeparatingSets")
    if not np.array_equal(sepsets.adjacency, adjacency):
        raise ValueError("sepsets must belong to adjacency: one set for each pair without an edge")
    order = check_order(order, len(adjacency))
    triples = _triples(np.ascontiguousarray(adjacency[np.ix_(order, order)]))
    labels = labels_from_sets(order[triples], sepsets)
    marks = apply_colliders(np.ascontiguousarray(adjacency[np.ix_(order, order)]), triples, labels, bool(lists))
    return in_columns(marks, order)


def collider_votes(adjacency, ci_test, rule="mpc", *, order=None, max_size=None):
    """Decide each unshielded triple by all sets that separate its ends.

    All subsets of the neighbours of i, and of those of k, are tried; each distinct set that separates i and k has a
    vote. O(2^d) tests for each pair at distance two.

    Parameters
    ----------
    adjacency : array-like of bool of shape (p, p)
        The skeleton.
    ci_test : object with ``n_nodes`` and ``independent(i, j, given)``
    rule : {"cpc", "mpc"} or float, default="mpc"
        "cpc": a collider if j is in no set, no collider if it is in all, else ambiguous. "mpc": less than half, more
        than half, exactly half. A number c in (0, 0.5]: less than c, more than 1 - c, else.
    order : array-like of int of shape (p,), optional
        The order in which the triples are returned; the labels do not depend on it.
    max_size : int, optional
        The largest conditioning sets.

    Returns
    -------
    ColliderVotes

    Examples
    --------
    >>> from learnable.graphs.independence import ListedIndependence
    >>> ci_test = ListedIndependence(4, [(0, 2, [1]), (0, 2, [3]), (0, 2, [1, 3])])
    >>> skeleton = np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])
    >>> votes = collider_votes(skeleton, ci_test, "cpc")
    >>> votes.n_sets.tolist(), votes.share.round(2).tolist(), votes.labels.tolist()
    ([3, 0], [0.67, 0.0], [-1, -1])
    """
    adjacency = check_adjacency(adjacency)
    check_has(ci_test, "ci_test", "n_nodes independent", "a test of independence such as GaussianIndependence(data)")
    if ci_test.n_nodes != len(adjacency):
        raise ValueError(f"ci_test and adjacency must have the same nodes, got {ci_test.n_nodes} and {len(adjacency)}")
    cut = check_rule(rule)
    order = check_order(order, len(adjacency))
    largest = len(adjacency) if max_size is None else check_scalar(max_size, "max_size", low=0, integer=True)
    near = np.ascontiguousarray(adjacency[np.ix_(order, order)])
    triples = _triples(near)
    counts, skipped = count_votes(near, triples, ci_test, order, largest, check_tiers(None, len(near)))
    labels, share = labels_from_votes(counts, cut)
    return ColliderVotes(order[triples], counts[:, 0], share, labels, skipped)


def meek_rules(graph, ambiguous=(), *, lists=False, order=None):
    """Orient what follows from the colliders: no further collider, no cycle (Meek 1995, rules R1 to R3).

    R1: i -> j - k without an edge i, k gives j -> k. R2: i -> k -> j and i - j give i -> j. R3: i - k -> j and
    i - l -> j without an edge k, l, and i - j, give i -> j. Repeated until nothing changes; bidirected edges stand
    for contradictions and are not used. O(|E| d^2) a round.

    Parameters
    ----------
    graph : MixedGraph
        Directed, undirected and bidirected edges.
    ambiguous : iterable of (i, j, k), default=()
        Unshielded triples that R1 (as i, j, k) and R3 (as k, i, l) must not use.
    lists : bool, default=False
        Collect all orientations of one rule and make them at once, with both arrowheads where both are asked for.
    order : array-like of int of shape (p,), optional
        The order of the columns, in which orientations are made without lists.

    Returns
    -------
    MixedGraph

    Examples
    --------
    >>> graph = MixedGraph.from_edges(6, directed=[(0, 1), (2, 1), (3, 4), (5, 4)], undirected=[(1, 4)])
    >>> meek_rules(graph).directed_edges[1], meek_rules(graph, order=[5, 4, 3, 2, 1, 0]).directed_edges[-2]
    ((1, 4), (4, 1))
    >>> meek_rules(graph, lists=True).bidirected_edges
    ((1, 4),)
    """
    check_has(graph, "graph", "marks adjacency", "a MixedGraph")
    if (graph.marks == 1).any():
        raise ValueError("graph must have no circles: these rules are for graphs without hidden variables")
    order = check_order(order, graph.n_nodes)
    place = np.argsort(order)
    try:
        triples = [tuple(int(place[int(v)]) for v in triple) for triple in ambiguous]
        keys = triple_keys(np.array(triples, dtype=np.int64).reshape(-1, 3), graph.n_nodes)
    except (TypeError, ValueError, IndexError):
        raise ValueError("ambiguous must be triples (i, j, k) of nodes") from None
    marks = np.ascontiguousarray(graph.marks[np.ix_(order, order)])
    return in_columns(close(marks, keys, bool(lists)), order)


def check_rule(rule):
    """The share below which a triple is a collider: 0 for "cpc" (none at all), 0.5 for "mpc"."""
    if isinstance(rule, str) and rule in ("cpc", "mpc"):
        return 0.0 if rule == "cpc" else 0.5
    if isinstance(rule, str) or rule is None:
        raise ValueError(f"rule must be 'cpc', 'mpc' or a number in (0, 0.5], got {rule!r}")
    return check_scalar(rule, "rule", low=0, high=0.5, closed="right")


def in_columns(marks, order):
    """The graph in the columns of the data, from marks in the labels of `order`."""
    back = np.argsort(order)
    return MixedGraph(marks[np.ix_(back, back)])


def labels_from_sets(triples, sepsets):
    """1 where j is not in the separating set of i and k."""
    found = [j not in sepsets._sets.get((min(i, k), max(i, k)), ()) for i, j, k in triples.tolist()]
    return np.array(found, dtype=np.int64)


def labels_from_votes(counts, cut):
    """Labels and shares from the numbers of sets, and of sets that contain j."""
    total, inside = counts[:, 0], counts[:, 1]
    share = inside / np.maximum(total, 1)
    collider = inside == 0 if cut == 0 else share < cut
    non_collider = inside == total if cut == 0 else share > 1 - cut
    labels = np.where(collider, COLLIDER, np.where(non_collider, NON_COLLIDER, AMBIGUOUS))
    return np.where(total == 0, AMBIGUOUS, labels), share


def labels_from_tiers(triples, labels, tiers):
    """Labels where tiers decide: later than both ends is a collider, earlier than one of them is none."""
    last, middle = tiers[triples[:, [0, 2]]].max(axis=1, initial=0), tiers[triples[:, 1]]
    return np.where(middle > last, COLLIDER, np.where(middle < last, NON_COLLIDER, labels))


def point_forward(marks, tiers):
    """Edges between tiers point to the later one; the marks are changed."""
    forward = (marks != 0) & (tiers[:, None] < tiers)
    marks[forward], marks.T[forward] = ARROW, TAIL
    return marks


def count_votes(near, triples, ci_test, order, largest, tiers):
    """(m, 2): for each triple the separating sets of i and k, and those that contain j; and how many were skipped."""
    if isinstance(ci_test, GaussianIndependence):
        C = np.ascontiguousarray(ci_test.correlation[np.ix_(order, order)])
        cuts = ci_test.thresholds(min(largest, len(near)))
        counts, sizes, skipped = _votes_gaussian(C, cuts, near, triples, min(largest, ci_test.n_samples - 4), tiers)
        for size, number in enumerate(sizes.tolist()):
            if number:
                ci_test._count(size, number)
        return counts, int(skipped)
    ask, counts, skipped, known = asker(ci_test, order), np.zeros((len(triples), 2), dtype=np.int64), 0, {}
    neighbours = [np.flatnonzero(row).tolist() for row in near]
    for place, (i, j, k) in enumerate(triples.tolist()):
        if (i, k) not in known:
            known[i, k] = None
            if _number_of_sets(len(neighbours[i]), largest) + _number_of_sets(len(neighbours[k]), largest) <= MOST_SETS:
                last = max(tiers[i], tiers[k])
                pools = [[m for m in neighbours[end] if tiers[m] <= last] for end in (i, k)]
                known[i, k] = separating_sets(ask, i, k, pools, largest)
        sets = known[i, k]
        if sets is None:
            skipped += 1
        else:
            counts[place] = len(sets), sum(j in S for S in sets)
    return counts, skipped


def separating_sets(ask, i, k, pools, largest):
    """All distinct sets of at most `largest` nodes out of one of the pools that separate i and k."""
    tried, found = set(), []
    for pool in pools:
        for size in range(min(len(pool), largest) + 1):
            for S in combinations(pool, size):
                if S not in tried:
                    tried.add(S)
                    if ask(i, k, S):
                        found.append(S)
    return found


def triple_keys(triples, p):
    """Sorted numbers of triples, the same for (i, j, k) and (k, j, i)."""
    ends = np.sort(triples[:, [0, 2]], axis=1)
    return np.sort((ends[:, 0] * p + triples[:, 1]) * p + ends[:, 1])


@njit(cache=True)
def _number_of_sets(degree, largest):
    total, term = 0.0, 1.0
    for size in range(min(degree, largest) + 1):
        total += term
        term = term * (degree - size) / (size + 1)
    return total


@njit(cache=True)
def _triples(near):
    starts, lists = neighbour_lists(near)
    p, m = len(near), 0
    for j in range(p):
        degree = starts[j + 1] - starts[j]
        m += degree * (degree - 1) // 2
    triples = np.empty((m, 3), dtype=np.int64)
    m = 0
    for i in range(p):
        for a in range(starts[i], starts[i + 1]):
            j = lists[a]
            for b in range(starts[j], starts[j + 1]):
                k = lists[b]
                if k > i and not near[i, k]:
                    triples[m, 0], triples[m, 1], triples[m, 2] = i, j, k
                    m += 1
    return triples[:m].copy()


@njit(cache=True)
def _votes_gaussian(C, cuts, near, triples, largest, tiers):
    """The votes by compiled tests. Triples with the same ends come one after another once they are sorted by them."""
    p = len(near)
    starts, lists = neighbour_lists(near)
    counts, sizes, skipped = np.zeros((len(triples), 2), np.int64), np.zeros(p + 1, np.int64), 0
    by_ends = np.argsort(triples[:, 0] * p + triples[:, 2])
    work, places, S = np.empty((p + 2, max(p, 1))), np.empty(p, np.int64), np.empty(p, np.int64)
    first = 0
    while first < len(triples):
        i, k = triples[by_ends[first], 0], triples[by_ends[first], 2]
        last = first
        while last < len(triples) and triples[by_ends[last], 0] == i and triples[by_ends[last], 2] == k:
            last += 1
        if (
            _number_of_sets(starts[i + 1] - starts[i], largest) + _number_of_sets(starts[k + 1] - starts[k], largest)
            > MOST_SETS
        ):
            skipped += last - first
            first = last
            continue
        for end in (i, k):
            n = starts[end + 1] - starts[end]
            for size in range(min(n, largest) + 1):
                for a in range(size):
                    places[a] = a
                more = True
                while more:
                    again = end == k  # a set of neighbours of both has been counted for i
                    for a in range(size):
                        S[a] = lists[starts[end] + places[a]]
                        again = again and near[i, S[a]]
                    later = False
                    for a in range(size):
                        later = later or tiers[S[a]] > max(tiers[i], tiers[k])
                    if not again and not later:
                        sizes[size] += 1
                        if abs(_partial_in(C, i, k, S, size, work)) <= cuts[size]:
                            for at in range(first, last):
                                counts[by_ends[at], 0] += 1
                                for a in range(size):
                                    counts[by_ends[at], 1] += S[a] == triples[by_ends[at], 1]
                    more = next_combination(places, size, n)
        first = last
    return counts, sizes, skipped


@njit(cache=True)
def apply_colliders(near, triples, labels, lists):
    """Marks with arrowheads at the middle of every collider; without lists a later one takes away earlier heads."""
    p = len(near)
    marks = np.zeros((p, p), dtype=np.int8)
    for i in range(p):
        for j in range(p):
            if near[i, j]:
                marks[i, j] = TAIL
    for t in range(len(triples)):
        if labels[t] == COLLIDER:
            j = triples[t, 1]
            for end in (0, 2):
                marks[triples[t, end], j] = ARROW
                if not lists:
                    marks[j, triples[t, end]] = TAIL
    return marks


@njit(cache=True)
def _directed(marks, i, j):
    return marks[i, j] == ARROW and marks[j, i] == TAIL


@njit(cache=True)
def _undirected(marks, i, j):
    return marks[i, j] == TAIL and marks[j, i] == TAIL


@njit(cache=True)
def _is_ambiguous(keys, i, j, k, p):
    if len(keys) == 0:
        return False
    key = (min(i, k) * p + j) * p + max(i, k)
    place = np.searchsorted(keys, key)
    return place < len(keys) and keys[place] == key


@njit(cache=True)
def _applies(rule, marks, keys, near, i, j):
    """Whether a rule directs the undirected edge i - j into i -> j; `near` are the neighbour lists."""
    starts, lists = near
    p = len(marks)
    for a in range(starts[i], starts[i + 1]):
        k = lists[a]
        if rule == 1 and k != j and marks[k, j] == 0 and _directed(marks, k, i):
            if not _is_ambiguous(keys, k, i, j, p):
                return True
        elif rule == 2 and _directed(marks, i, k) and _directed(marks, k, j):
            return True
        elif rule == 3 and _undirected(marks, i, k) and _directed(marks, k, j):
            for b in range(a + 1, starts[i + 1]):
                l = lists[b]
                if marks[k, l] == 0 and _undirected(marks, i, l) and _directed(marks, l, j):
                    if not _is_ambiguous(keys, k, i, l, p):
                        return True
    return False


@njit(cache=True)
def close(marks, keys, lists):
    """Rules R1, R2, R3 in turn until nothing changes; the marks are copied."""
    marks = marks.copy()
    p = len(marks)
    starts, neighbours = neighbour_lists(marks != 0)
    asked = np.empty((len(neighbours), 2), dtype=np.int64)
    changed = True
    while changed:
        changed = False
        for rule in (1, 2, 3):
            m = 0
            for i in range(p):
                for a in range(starts[i], starts[i + 1]):
                    j = neighbours[a]
                    if _undirected(marks, i, j) and _applies(rule, marks, keys, (starts, neighbours), i, j):
                        if lists:
                            asked[m, 0], asked[m, 1] = i, j
                            m += 1
                        else:
                            marks[i, j] = ARROW
                        changed = True
            for t in range(m):
                marks[asked[t, 0], asked[t, 1]] = ARROW
    return marks
