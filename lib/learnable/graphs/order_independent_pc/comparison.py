"""Comparing a learned graph with the truth, and hiding variables as the simulations of the source do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from learnable.graphs.mixed import ARROW, TAIL, mark_distance, structural_hamming_distance
from learnable.validation import Result, check_has, check_rng

__all__ = ["GraphErrors", "graph_errors", "hide_common_causes"]


@dataclass(frozen=True, eq=False)
class GraphErrors(Result):
    """What `graph_errors` returns.

    Attributes
    ----------
    n_edges : int
        Edges of the estimate.
    false_positives, false_negatives : int
        Edges that are not in the true skeleton; edges that are missing.
    true_discovery_rate : float
        The share of the edges that are true; 1 for no edges.
    directed_tpr, directed_fpr : float
        The share of the true directed edges that are found with their direction; that of ordered pairs without one
        which have one in the estimate.
    hamming : int
        Structural Hamming distance: pairs on whose edge the graphs differ.
    marks : int
        End marks in which they differ.
    """

    n_edges: int
    false_positives: int
    false_negatives: int
    true_discovery_rate: float
    directed_tpr: float
    directed_fpr: float
    hamming: int
    marks: int


def graph_errors(estimated, truth):
    """Count the errors of an estimated graph.

    Parameters
    ----------
    estimated, truth : MixedGraph
        On the same nodes; `truth` is a CPDAG or a partial ancestral graph.

    Returns
    -------
    GraphErrors

    Examples
    --------
    >>> from learnable.graphs.mixed import MixedGraph
    >>> truth = MixedGraph.from_edges(3, directed=[(0, 1), (2, 1)])
    >>> errors = graph_errors(MixedGraph.from_edges(3, directed=[(0, 1)], undirected=[(0, 2)]), truth)
    >>> errors.false_positives, errors.false_negatives, errors.true_discovery_rate, errors.hamming
    (1, 1, 0.5, 2)
    """
    for name, graph in (("estimated", estimated), ("truth", truth)):
        check_has(graph, name, "marks adjacency", "a MixedGraph")
    hamming, marks = structural_hamming_distance(estimated, truth), mark_distance(estimated, truth)
    near, true = estimated.adjacency, truth.adjacency
    n_edges, hits = int(near.sum()) // 2, int((near & true).sum()) // 2
    arrows = [(graph.marks == ARROW) & (graph.marks.T == TAIL) for graph in (estimated, truth)]
    right, wrong = int((arrows[0] & arrows[1]).sum()), int((arrows[0] & ~arrows[1]).sum())
    n_true = int(arrows[1].sum())
    others = near.size - len(near) - n_true
    return GraphErrors(
        n_edges,
        n_edges - hits,
        int(true.sum()) // 2 - hits,
        hits / n_edges if n_edges else 1.0,
        right / n_true if n_true else 1.0,
        wrong / others if others else 0.0,
        hamming,
        marks,
    )


def hide_common_causes(dag, random_state=None):
    """Choose the nodes to hide: a random half of those without parents and with at least two children.

    Parameters
    ----------
    dag : DAG
    random_state : None, int or numpy.random.Generator

    Returns
    -------
    tuple of int
        Sorted (Colombo and Maathuis 2014, Sec. 5.1).

    Examples
    --------
    >>> from learnable.graphs.dags import DAG
    >>> hide_common_causes(DAG.from_edges(4, [(0, 1), (0, 2), (3, 1), (3, 2)]), random_state=0)
    (3,)
    """
    check_has(dag, "dag", "adjacency n_nodes", "a DAG")
    A = dag.adjacency
    eligible = np.flatnonzero((A.sum(axis=0) == 0) & (A.sum(axis=1) >= 2))
    rng = check_rng(random_state)
    return tuple(sorted(rng.choice(eligible, len(eligible) // 2, replace=False).tolist()))
