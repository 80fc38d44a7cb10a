"""Graphs when some variables are hidden: FCI and RFCI, and their order-independent relatives.

With hidden common causes the sets that separate i and j need not be among their neighbours. FCI therefore tests the
edges of the PC skeleton once more given subsets of Possible-D-SEP; RFCI spares these tests and checks the triples and
paths it is about to orient instead. Both return a partial ancestral graph: an arrowhead says "not a cause", a tail
"a cause", a circle "the data do not say" (Colombo and Maathuis 2014, Sec. 4.4; Colombo et al. 2012; Zhang 2008).
"""

from __future__ import annotations

from collections import deque
from itertools import combinations, pairwise

import numpy as np

from learnable.graphs.fci.zhang import Rules, apply_rules
from learnable.graphs.mixed import ARROW, CIRCLE, MixedGraph
from learnable.graphs.pc.estimator import LearnedGraph, _GraphEstimator, _rule
from learnable.graphs.pc.orientation import AMBIGUOUS, COLLIDER, labels_from_votes, separating_sets, unshielded_triples
from learnable.graphs.pc.search import SeparatingSets, adjacency_search, asker, check_level, check_order
from learnable.validation import check_has, check_scalar


def possible_d_sep(graph, node):
    """Possible-D-SEP: where a path leads on which every inner node is a collider or the middle of a triangle.

    Parameters
    ----------
    graph : MixedGraph
        With the arrowheads of its unshielded colliders.
    node : int

    Returns
    -------
    tuple of int
        Sorted, without the node itself. O(p d^2).

    Examples
    --------
    >>> graph = MixedGraph.from_edges(5, directed=[(0, 1)], bidirected=[(1, 2)], undirected=[(2, 3), (3, 4)])
    >>> possible_d_sep(graph, 0)
    (1, 2)
    """
    check_has(graph, "graph", "marks adjacency", "a MixedGraph")
    node = check_scalar(node, "node", low=0, high=graph.n_nodes - 1, integer=True)
    marks = graph.marks.tolist()
    near = [np.flatnonzero(row).tolist() for row in graph.adjacency]
    return tuple(_reach(marks, near, node))


def fci(ci_test, *, stable=True, colliders="sepset", lists=False, order=None, max_level=None):
    """Learn a partial ancestral graph: the FCI algorithm.

    Parameters
    ----------
    ci_test : object with ``n_nodes``, ``independent(i, j, given)`` and ``n_tests``
    stable : bool, default=True
        FCI-stable: the stable skeleton, arrowheads for Possible-D-SEP by a unanimous vote, and all Possible-D-SEP sets
        computed before any of their edges is deleted. Where no subset of the neighbours separates the ends of a
        triple, it counts as a possible collider there.
    colliders : {"sepset", "cpc", "mpc"} or float, default="sepset"
        How the final v-structures, and the ends of discriminating paths, are decided.
    lists : bool, default=False
        Make the orientations of a rule at once.
    order : array-like of int of shape (p,), optional
    max_level : int, optional
        The largest conditioning sets, those out of Possible-D-SEP included.

    Returns
    -------
    LearnedGraph

    Examples
    --------
    >>> from learnable.graphs.dags import DAG
    >>> from learnable.graphs.independence import OracleIndependence
    >>> dag = DAG.from_edges(5, [(0, 1), (4, 1), (4, 2), (3, 2)])  # 4 is hidden
    >>> fci(OracleIndependence(dag, hidden=[4])).graph
    MixedGraph(4 nodes: 0 o-> 1, 1 <-> 2, 3 o-> 2)
    """
    run = _Run(ci_test, colliders, order, max_level)
    run.search(stable)
    run.prune(stable)
    labels = run.final_labels()
    return run.finish(labels, lists)


def rfci(ci_test, *, stable=True, colliders="sepset", lists=False, order=None, max_level=None):
    """Learn a graph with hidden variables at about the price of PC: the RFCI algorithm (Colombo et al. 2012).

    Its graph may have more edges than that of `fci`, but its marks have the same meaning. Which extra edges go depends
    on the separating sets found first, so that even with ``stable`` some order-dependence remains.

    Parameters
    ----------
    ci_test : object with ``n_nodes``, ``independent(i, j, given)`` and ``n_tests``
    stable : bool, default=True
        Start from the stable skeleton.
    colliders : {"sepset", "cpc", "mpc"} or float, default="sepset"
    lists : bool, default=False
    order : array-like of int of shape (p,), optional
    max_level : int, optional

    Returns
    -------
    LearnedGraph

    Examples
    --------
    >>> from learnable.graphs.dags import DAG
    >>> from learnable.graphs.independence import OracleIndependence
    >>> dag = DAG.from_edges(5, [(0, 1), (4, 1), (4, 2), (3, 2)])
    >>> rfci(OracleIndependence(dag, hidden=[4])).graph
    MixedGraph(4 nodes: 0 o-> 1, 1 <-> 2, 3 o-> 2)
    """
    run = _Run(ci_test, colliders, order, max_level)
    run.search(stable)
    run.check_triples([tuple(t) for t in unshielded_triples(run.adjacency()).tolist()])
    labels = run.final_labels()
    return run.finish(labels, lists, restricted=True)


class _Run:
    """One run in the labels of an order: neighbours, separating sets, and the questions asked."""

    def __init__(self, ci_test, colliders, order, max_level):
        check_has(
            ci_test,
            "ci_test",
            "n_nodes independent n_tests",
            "a test of independence such as GaussianIndependence(data)",
        )
        self.rule = None if isinstance(colliders, str) and colliders == "sepset" else _rule(colliders)
        self.ci_test, self.p = ci_test, ci_test.n_nodes
        self.order, self.level = check_order(order, ci_test.n_nodes), check_level(max_level)
        self.max_level, self.before = max_level, ci_test.n_tests
        self.ask = asker(ci_test, self.order)
        self.votes = {}

    def search(self, stable):
        found = adjacency_search(
            self.ci_test, method="stable" if stable else "original", order=self.order, max_level=self.max_level
        )
        self.tests_by_level, place = found.tests_by_level, np.argsort(self.order).tolist()
        near = found.adjacency[np.ix_(self.order, self.order)]
        self.near = [np.flatnonzero(row).tolist() for row in near]
        self.sets = {}
        for (i, j), S in found.sepsets.items():
            self.store(place[i], place[j], tuple(place[k] for k in S))

    def store(self, i, j, S):
        self.sets[min(i, j), max(i, j)] = tuple(sorted(S))

    def sepset(self, i, j):
        return self.sets.get((min(i, j), max(i, j)), ())

    def delete(self, i, j, S):
        self.near[i].remove(j)
        self.near[j].remove(i)
        self.store(i, j, S)

    def adjacency(self):
        matrix = np.zeros((self.p, self.p), dtype=bool)
        for i, of in enumerate(self.near):
            matrix[i, of] = True
        return matrix

    def arrowheads(self, triples, labels):
        """Marks with circles, and arrowheads at the middle of the colliders."""
        marks = np.where(self.adjacency(), CIRCLE, 0).tolist()
        for (i, j, k), label in zip(triples, labels, strict=True):
            if label == COLLIDER:
                marks[i][j] = marks[k][j] = ARROW
        return marks

    def voted(self, i, k):
        """All sets of neighbours of i or of k that separate them; if none, the smallest out of Possible-D-SEP."""
        key = (min(i, k), max(i, k))
        if key not in self.votes:
            found = separating_sets(self.ask, i, k, (self.near[i], self.near[k]), self.level)
            if not found and self.pds:
                found = self._smallest(i, k)
            self.votes[key] = found
        return self.votes[key]

    pds = None

    def _smallest(self, i, k):
        pools = [[v for v in self.pds[end] if v not in (i, k)] for end in (i, k)]
        for size in range(min(max(map(len, pools)), self.level) + 1):
            found = {S for pool in pools for S in combinations(pool, size) if self.ask(i, k, S)}
            if found:
                return sorted(found)
        return []

    def labels(self, triples, cut):
        """Labels by the vote of all separating sets."""
        sets = [self.voted(i, k) for i, _, k in triples]
        counts = [(len(of), sum(j in S for S in of)) for (_, j, _), of in zip(triples, sets, strict=True)]
        return labels_from_votes(np.array(counts, dtype=np.int64).reshape(-1, 2), cut)[0].tolist()

    def prune(self, stable):
        """Delete edges whose ends are separated by a subset of Possible-D-SEP of one of them."""
        triples = [tuple(t) for t in unshielded_triples(self.adjacency()).tolist()]
        if stable:
            labels = self.labels(triples, 0.0)
            # Without a separating set among the neighbours it may be a collider: more sets are tried, not fewer.
            found = [self.voted(i, k) for i, _, k in triples]
            labels = [label if sets else COLLIDER for label, sets in zip(labels, found, strict=True)]
        else:
            labels = [int(j not in self.sepset(i, k)) for i, j, k in triples]
        marks = self.arrowheads(triples, labels)
        frozen = [_reach(marks, self.near, i) for i in range(self.p)]
        for i in range(self.p):
            if not stable:  # the original algorithm looks at the graph as it is now
                frozen[i] = _reach(marks, self.near, i)
            for j in list(self.near[i]):
                pool = [v for v in frozen[i] if v not in (i, j)]
                S = self._first_separating(i, j, pool)
                if S is not None:
                    self.delete(i, j, S)
        self.pds, self.votes = frozen, {}

    def _first_separating(self, i, j, pool):
        for size in range(1, min(len(pool), self.level) + 1):
            for S in combinations(pool, size):
                if self.ask(i, j, S):
                    return S
        return None

    def final_labels(self):
        triples = [tuple(t) for t in unshielded_triples(self.adjacency()).tolist()]
        if self.rule is None:
            labels = [int(j not in self.sepset(i, k)) for i, j, k in triples]
        else:
            labels = self.labels(triples, self.rule)
        return dict(zip(triples, labels, strict=True))

    def check_triples(self, waiting):
        """RFCI: the two edges of an unshielded triple must be dependent given the separating set of its ends."""
        waiting = list(waiting)
        while waiting:
            i, j, k = waiting.pop(0)
            if j not in self.near[i] or j not in self.near[k] or k in self.near[i]:
                continue
            S = tuple(v for v in self.sepset(i, k) if v != j)
            for r in (i, k):
                given = tuple(v for v in S if v != r)
                if j in self.near[r] and self.ask(r, j, given):
                    self.delete(r, j, self._minimal(r, j, given))
                    waiting += [(r, v, j) for v in self.near[r] if v in self.near[j]]

    def _minimal(self, i, j, S):
        for size in range(len(S)):
            for smaller in combinations(S, size):
                if self.ask(i, j, smaller):
                    return smaller
        return S

    def decide(self, t, b, c):
        """Whether b is in the set that separates t and c; with votes None if they disagree."""
        if self.rule is None:
            return b in self.sepset(t, c)
        of = self.voted(t, c)
        label = labels_from_votes(np.array([[len(of), sum(b in S for S in of)]]), self.rule)[0][0]
        return None if label == AMBIGUOUS else label != COLLIDER

    def finish(self, labels, lists, restricted=False):
        """Step 3, the rules; `restricted` for RFCI, whose edges may still go."""
        while True:
            unsure = frozenset((min(i, k), j, max(i, k)) for (i, j, k), x in labels.items() if x == AMBIGUOUS)
            rules = Rules(self.arrowheads(labels, labels.values()), self.decide, unsure)
            deleted = []
            if restricted:
                rules.check_path = lambda path, rules=rules, deleted=deleted: self._check_path(path, rules, deleted)
            apply_rules(rules, bool(lists))
            if not deleted:
                break
            # Edges went while a rule ran: new unshielded triples are checked, and the orientation starts again.
            self.votes = {}
            self.check_triples([(i, v, j) for i, j in deleted for v in self.near[i] if v in self.near[j]])
            labels = self.final_labels()
        back = np.argsort(self.order)
        adjacency = self.adjacency()[np.ix_(back, back)]
        name = self.order.tolist()
        sets = {(name[i], name[j]): tuple(name[k] for k in S) for (i, j), S in self.sets.items()}
        ambiguous = sorted((min(name[i], name[k]), name[j], max(name[i], name[k])) for i, j, k in unsure)
        graph = MixedGraph(np.array(rules.M, dtype=np.int8).reshape(self.p, self.p)[np.ix_(back, back)])
        n_tests = self.ci_test.n_tests - self.before
        sepsets = SeparatingSets(adjacency, sets)
        return LearnedGraph(graph, adjacency, sepsets, tuple(ambiguous), self.tests_by_level, n_tests)

    def _check_path(self, path, rules, deleted):
        """RFCI: are neighbours on a discriminating path independent given a part of the separating set of its ends?"""
        S = self.sepset(path[0], path[-1])
        for u, v in pairwise(path):
            pool = [w for w in S if w not in (u, v)]
            for size in range(len(pool) + 1):
                for given in combinations(pool, size):
                    if self.ask(u, v, given):
                        self.delete(u, v, given)
                        rules.delete(u, v)
                        deleted.append((u, v))
                        return True
        return False


def _reach(marks, near, start):
    """The nodes at the end of paths on which every inner node is a collider or the middle of a triangle."""
    queue, seen, found = deque((start, v) for v in near[start]), {(start, v) for v in near[start]}, set(near[start])
    while queue:
        before, at = queue.popleft()
        for after in near[at]:
            if after in (before, start) or (at, after) in seen:
                continue
            if (marks[before][at] == ARROW and marks[after][at] == ARROW) or after in near[before]:
                seen.add((at, after))
                found.add(after)
                queue.append((at, after))
    return sorted(found - {start})


class FCI(_GraphEstimator):
    """Learn a partial ancestral graph from data in which variables may be hidden (FCI).

    Parameters
    ----------
    alpha : float, default=0.01
        Level of each test.
    stable : bool, default=True
    colliders : {"sepset", "cpc", "mpc"} or float, default="mpc"
    lists : bool, default=True
    test : {"gaussian", "spearman", "kendall", "gsquare"}, default="gaussian"
    order : array-like of int of shape (p,), optional
    max_level : int, optional
        The largest conditioning sets; Possible-D-SEP can be large, and 3 or 4 is a usual limit.

    Attributes
    ----------
    graph_ : MixedGraph
        Arrowheads, tails and circles.
    skeleton_ : ndarray of bool of shape (p, p)
    sepsets_ : SeparatingSets
    ambiguous_ : tuple of (i, j, k)
    n_tests_ : int
    tests_by_level_ : tuple of int
    n_features_in_ : int

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a, b, h = rng.normal(size=(3, 1000))
    >>> X = np.column_stack([a, a + h + 0.5 * rng.normal(size=1000), b + h + 0.5 * rng.normal(size=1000), b])
    >>> FCI().fit(X).graph_
    MixedGraph(4 nodes: 0 o-> 1, 1 <-> 2, 3 o-> 2)
    """

    def __init__(
        self, alpha=0.01, *, stable=True, colliders="mpc", lists=True, test="gaussian", order=None, max_level=None
    ):
        self.alpha = alpha
        self.stable = stable
        self.colliders = colliders
        self.lists = lists
        self.test = test
        self.order = order
        self.max_level = max_level

    _algorithm = staticmethod(fci)

    def _learn(self, ci_test):
        return self._algorithm(
            ci_test,
            stable=self.stable,
            colliders=self.colliders,
            lists=self.lists,
            order=self.order,
            max_level=self.max_level,
        )


class RFCI(FCI):
    """Learn a graph with possibly hidden variables by few tests (RFCI); parameters and attributes as in :class:`FCI`.

    Parameters
    ----------
    alpha : float, default=0.01
        Level of each test.
    stable : bool, default=True
    colliders : {"sepset", "cpc", "mpc"} or float, default="mpc"
    lists : bool, default=True
    test : {"gaussian", "spearman", "kendall", "gsquare"}, default="gaussian"
    order : array-like of int of shape (p,), optional
    max_level : int, optional

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a, b, h = rng.normal(size=(3, 1000))
    >>> X = np.column_stack([a, a + h + 0.5 * rng.normal(size=1000), b + h + 0.5 * rng.normal(size=1000), b])
    >>> RFCI().fit(X).graph_
    MixedGraph(4 nodes: 0 o-> 1, 1 <-> 2, 3 o-> 2)
    """

    _algorithm = staticmethod(rfci)
