"""The PC algorithm and its eleven relatives: (L)PC, (L)CPC and (L)MPC, each with the original or the stable skeleton.

Three choices remove one dependence on the column order each (Colombo and Maathuis 2014, Table 1): ``stable`` for the
skeleton, ``colliders`` for the v-structures, ``lists`` for the orientations. LCPC-stable and LMPC-stable do not depend
on the order at all (Theorem 7).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from learnable.graphs.independence import GaussianIndependence, GSquareIndependence
from learnable.graphs.mixed import MixedGraph, cpdag, pdag_to_dag
from learnable.graphs.pc.orientation import (
    AMBIGUOUS,
    apply_colliders,
    check_rule,
    close,
    count_votes,
    in_columns,
    labels_from_sets,
    labels_from_tiers,
    labels_from_votes,
    point_forward,
    triple_keys,
    unshielded_triples,
)
from learnable.graphs.pc.search import SeparatingSets, adjacency_search, check_order, check_tiers
from learnable.validation import Result, check_choice, check_has, check_scalar

TESTS = ("gaussian", "spearman", "kendall", "gsquare")


@dataclass(frozen=True, eq=False)
class LearnedGraph(Result):
    """What `pc`, `fci` and `rfci` return.

    Attributes
    ----------
    graph : MixedGraph
        The equivalence class: a partially directed graph, or one with circles where variables may be hidden.
    adjacency : ndarray of bool of shape (p, p)
        Its skeleton.
    sepsets : SeparatingSets
        One for each pair without an edge.
    ambiguous : tuple of (i, j, k)
        Unshielded triples on which the vote could not decide; they are part of the answer.
    tests_by_level : tuple of int
        Tests of the adjacency search by the size of the conditioning set.
    n_tests : int
        All tests, those of the votes included.
    """

    graph: MixedGraph
    adjacency: np.ndarray
    sepsets: SeparatingSets
    ambiguous: tuple
    tests_by_level: tuple
    n_tests: int


def pc(ci_test, *, stable=True, colliders="sepset", lists=False, order=None, max_level=None, tiers=None):
    """Learn the Markov equivalence class of a DAG from tests of independence, without hidden variables.

    Parameters
    ----------
    ci_test : object with ``n_nodes``, ``independent(i, j, given)`` and ``n_tests``
        As in :mod:`learnable.graphs.independence`.
    stable : bool, default=True
        Freeze the neighbours within a level of the adjacency search.
    colliders : {"sepset", "cpc", "mpc"} or float, default="sepset"
        By the one separating set found, or by a vote over all of them (see :func:`collider_votes`).
    lists : bool, default=False
        Make the orientations of a step at once, with ``<->`` for a contradiction. It does not mean a hidden cause.
    order : array-like of int of shape (p,), optional
        The order in which columns are considered.
    max_level : int, optional
        The largest conditioning sets.
    tiers : array-like of int of shape (p,), optional
        When each node is decided, if that is known: 0 first. Edges between tiers point forward, nodes of a later tier
        never separate a pair, and what follows from that is drawn. Nothing is said of nodes in the same tier.

    Returns
    -------
    LearnedGraph

    Notes
    -----
    Colombo and Maathuis 2014, Algorithm 3.1 with the modifications of Section 4. With perfect answers every variant
    returns the CPDAG (Theorems 1, 2, 4 and 6); with data, overwriting variants may return cycles.

    Examples
    --------
    >>> from learnable.graphs.dags import DAG
    >>> from learnable.graphs.independence import OracleIndependence
    >>> pc(OracleIndependence(DAG.from_edges(4, [(0, 2), (1, 2), (2, 3)]))).graph
    MixedGraph(4 nodes: 0 -> 2, 1 -> 2, 2 -> 3)
    >>> chain = OracleIndependence(DAG.from_edges(3, [(0, 1), (1, 2)]))
    >>> pc(chain).graph, pc(chain, tiers=[0, 1, 1]).graph
    (MixedGraph(3 nodes: 0 - 1, 1 - 2), MixedGraph(3 nodes: 0 -> 1, 1 -> 2))
    """
    check_has(
        ci_test, "ci_test", "n_nodes independent n_tests", "a test of independence such as GaussianIndependence(data)"
    )
    rule = None if isinstance(colliders, str) and colliders == "sepset" else _rule(colliders)
    order, before = check_order(order, ci_test.n_nodes), ci_test.n_tests
    tiers = check_tiers(tiers, ci_test.n_nodes)
    method = "stable" if stable else "original"
    search = adjacency_search(ci_test, method=method, order=order, max_level=max_level, tiers=tiers)
    graph, ambiguous = orient(search.adjacency, search.sepsets, ci_test, rule, bool(lists), order, max_level, tiers)
    return LearnedGraph(
        graph, search.adjacency, search.sepsets, ambiguous, search.tests_by_level, ci_test.n_tests - before
    )


def orient(adjacency, sepsets, ci_test, rule, lists, order, max_level=None, tiers=None):
    """Steps 2 and 3 on a skeleton; `rule` is None for colliders by separating sets, or the share of a vote."""
    near = np.ascontiguousarray(adjacency[np.ix_(order, order)])
    tiers = check_tiers(tiers, len(near))[order]
    triples = unshielded_triples(near)
    if rule is None:
        labels = labels_from_sets(order[triples], sepsets)
    else:
        counts, _ = count_votes(near, triples, ci_test, order, len(near) if max_level is None else max_level, tiers)
        labels, _ = labels_from_votes(counts, rule)
    labels = labels_from_tiers(triples, labels, tiers)
    unsure = triples[labels == AMBIGUOUS]
    marks = point_forward(apply_colliders(near, triples, labels, lists), tiers)
    marks = close(marks, triple_keys(unsure, len(near)), lists)
    named = order[unsure]
    return in_columns(marks, order), tuple(sorted((min(i, k), j, max(i, k)) for i, j, k in named.tolist()))


def is_valid_cpdag(graph):
    """Whether a graph is the CPDAG of some DAG; estimated graphs need not be.

    Parameters
    ----------
    graph : MixedGraph

    Examples
    --------
    >>> is_valid_cpdag(MixedGraph.from_edges(3, directed=[(0, 1), (2, 1)]))
    True
    >>> is_valid_cpdag(MixedGraph.from_edges(3, directed=[(0, 1)], undirected=[(1, 2)]))
    False
    """
    check_has(graph, "graph", "marks adjacency", "a MixedGraph")
    try:
        return cpdag(pdag_to_dag(graph)) == graph
    except ValueError:
        return False


class _GraphEstimator(BaseEstimator):
    """Data in, a learned graph out; subclasses say which function learns it."""

    def fit(self, X, y=None):
        """Learn the graph.

        Parameters
        ----------
        X : array-like of shape (n, p)
            Rows are observations. Missing values, constant columns and copies of a column are refused.
        y : None
            Ignored.

        Returns
        -------
        self
        """
        self._check_parameters()
        X = validate_data(self, X, dtype=None if self.test == "gsquare" else np.float64, ensure_min_samples=4)
        found = self._learn(make_ci_test(X, self.test, self.alpha))
        self.graph_, self.skeleton_, self.sepsets_ = found.graph, found.adjacency, found.sepsets
        self.ambiguous_, self.n_tests_ = found.ambiguous, found.n_tests
        self.tests_by_level_ = found.tests_by_level
        return self

    def _check_parameters(self):
        check_scalar(self.alpha, "alpha", low=0, high=1, closed="neither")
        check_choice(self.test, "test", TESTS)
        if not (isinstance(self.colliders, str) and self.colliders == "sepset"):
            _rule(self.colliders)


class PC(_GraphEstimator):
    """Learn a causal graph from data by conditional independence: the PC algorithm, order-independent by default.

    Parameters
    ----------
    alpha : float, default=0.01
        Level of each test; smaller values give sparser graphs. It is a tuning parameter, not an error rate of the
        graph.
    stable : bool, default=True
        Freeze the neighbours within a level, so that the skeleton does not depend on the order of the columns.
    colliders : {"sepset", "cpc", "mpc"} or float, default="mpc"
        How v-structures are decided; "mpc" (majority) and "cpc" (unanimity) do not depend on the order.
    lists : bool, default=True
        Make the orientations of a step at once, ``<->`` for a contradiction.
    test : {"gaussian", "spearman", "kendall", "gsquare"}, default="gaussian"
        Partial correlations, the same from ranks for Gaussian copulas, or the likelihood-ratio test for discrete
        columns.
    order : array-like of int of shape (p,), optional
        The order in which columns are considered; matters for the other choices only.
    max_level : int, optional
        The largest conditioning sets.
    tiers : array-like of int of shape (p,), optional
        When each node is decided, if that is known: 0 first. Edges between tiers point forward, nodes of a later tier
        never separate a pair, and what follows from that is drawn. Nothing is said of nodes in the same tier.

    Attributes
    ----------
    graph_ : MixedGraph
        The partially directed graph.
    skeleton_ : ndarray of bool of shape (p, p)
    sepsets_ : SeparatingSets
    ambiguous_ : tuple of (i, j, k)
        Triples on which the vote could not decide.
    n_tests_ : int
    tests_by_level_ : tuple of int
    n_features_in_ : int

    Notes
    -----
    The defaults are LMPC-stable of Colombo and Maathuis 2014, which does not depend on the order of the columns at
    all; ``PC(stable=False, colliders="sepset", lists=False)`` is the original algorithm.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.normal(size=(2, 500))
    >>> c = a + b + rng.normal(size=500)
    >>> PC().fit(np.column_stack([a, b, c, c + rng.normal(size=500)])).graph_
    MixedGraph(4 nodes: 0 -> 2, 1 -> 2, 2 -> 3)
    """

    def __init__(
        self,
        alpha=0.01,
        *,
        stable=True,
        colliders="mpc",
        lists=True,
        test="gaussian",
        order=None,
        max_level=None,
        tiers=None,
    ):
        self.alpha = alpha
        self.stable = stable
        self.colliders = colliders
        self.lists = lists
        self.test = test
        self.order = order
        self.max_level = max_level
        self.tiers = tiers

    def _learn(self, ci_test):
        return pc(
            ci_test,
            stable=self.stable,
            colliders=self.colliders,
            lists=self.lists,
            order=self.order,
            max_level=self.max_level,
            tiers=self.tiers,
        )


def make_ci_test(X, test, alpha):
    """The named test on data; checked columns."""
    if test == "gsquare":
        return GSquareIndependence(X, alpha)
    return GaussianIndependence(X, alpha, correlation="pearson" if test == "gaussian" else test)


def _rule(colliders):
    try:
        return check_rule(colliders)
    except ValueError:
        raise ValueError(
            f"colliders must be 'sepset', 'cpc', 'mpc' or a number in (0, 0.5], got {colliders!r}"
        ) from None
