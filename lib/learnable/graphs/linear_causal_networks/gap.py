r"""How much worse the second best graph is, and how wrong the weights may be (Loh and Bühlmann 2014, Sec. 4.3 and 5.2).

The gap ξ is the distance in score between the true graph and the best one that lacks one of its edges. It says both how
many observations are needed and how far the assumed variances of the errors may be from the true ones.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from learnable.graphs.dags import DAG, moral_graph
from learnable.graphs.linear_causal_networks.local_scores import (
    check_covariance,
    check_noise_variance,
    check_undirected,
    dag_score,
    parent_scores,
)
from learnable.graphs.linear_causal_networks.search import _acyclic, all_dags
from learnable.graphs.linear_causal_networks.treewidth import best_dag_treewidth
from learnable.validation import Result, check_has, check_rng, check_scalar

__all__ = ["Gap", "gap_ratio", "score_gap", "weight_scan"]


@dataclass(frozen=True, eq=False)
class Gap(Result):
    """The gap of a model, and what follows for misspecified variances.

    Attributes
    ----------
    gap : float
        ξ, the score of the best graph that does not contain the true one, less the score of the true one.
    runner_up : DAG
        A graph at which it is attained.
    tolerance : float
        1 + ξ/p: if the largest ratio of true and assumed variance is at most this times the smallest, the true graph
        still has the smallest score (Theorem 9).
    """

    gap: float
    runner_up: DAG
    tolerance: float


def score_gap(model, *, noise_variance=None, adjacency=None):
    """The gap ξ of (11), (13) and (22), by one exact search for each true edge.

    A graph does not contain the true one exactly if it lacks at least one of its edges. So the runner-up is the best of
    |E| searches, each with one edge forbidden, and no enumeration is needed: cost |E| times
    :func:`best_dag_treewidth`.

    Parameters
    ----------
    model : LinearSEM
        With at least one edge.
    noise_variance : float or array-like of shape (p,), optional
        Assumed variances; those of the model by default. With others the gap may be negative.
    adjacency : array-like of bool of shape (p, p), optional
        Graph that bounds the search, which must contain the edges of the model; its moral graph by default.

    Returns
    -------
    Gap

    Examples
    --------
    >>> from learnable.graphs.linear_sem import LinearSEM
    >>> found = score_gap(LinearSEM([[0, 1.0], [0, 0]]))
    >>> round(found.gap, 6), found.runner_up.edges, round(found.tolerance, 6)
    (0.5, ((1, 0),), 1.25)
    """
    dag = _check_model(model)
    assumed = model.noise_variance if noise_variance is None else noise_variance
    assumed = check_noise_variance(assumed, dag.n_nodes)
    adjacency = check_undirected(moral_graph(dag) if adjacency is None else adjacency, dag.n_nodes)
    if (dag.adjacency & ~adjacency).any():
        raise ValueError("adjacency must contain the edges of the model")
    scores = parent_scores(model.covariance, adjacency, noise_variance=assumed)
    searches = (best_dag_treewidth(scores.without(*edge)) for edge in dag.edges)
    best = min(searches, key=lambda found: found.score)
    gap = best.score - dag_score(model.covariance, dag, assumed)
    return Gap(float(gap), best.dag, float(1.0 + gap / dag.n_nodes))


def gap_ratio(model):
    """γ(G₀) of Assumption 2: the gap for each node whose parents differ, minimised over DAGs in the moral graph.

    For a graph G the closest graph that contains the true one keeps G's parents wherever they include the true ones and
    no cycle results. O(3^e) graphs for e edges of the moral graph, at most 12 (Loh and Bühlmann 2014, (28)).

    Parameters
    ----------
    model : LinearSEM
        With at least one edge.

    Returns
    -------
    float

    Examples
    --------
    >>> from learnable.graphs.linear_sem import LinearSEM
    >>> round(gap_ratio(LinearSEM([[0, 1.0], [0, 0]])), 6)
    0.25
    """
    dag = _check_model(model)
    moral = moral_graph(dag)
    scores = parent_scores(model.covariance, moral, noise_variance=model.noise_variance)
    truth = scores.score(dag)
    ratio = np.inf
    for graph in all_dags(moral):
        if (dag.adjacency & ~graph.adjacency).any():
            ratio = min(ratio, (scores.score(graph) - truth) / _differing_nodes(graph, dag))
    return float(ratio)


def weight_scan(covariance, adjacency, *, spread=2.0, n_draws=50, edge_cost=0.0, random_state=None):
    """How often each edge is chosen when the error variances are only known up to a factor.

    Each draw takes variances log-uniform between 1/spread and spread and finds the best graph exactly. An edge with a
    share near one does not depend on the assumption of equal variances; one near one half is decided by it.

    Parameters
    ----------
    covariance : array-like of shape (p, p)
    adjacency : array-like of bool of shape (p, p)
        Moral graph.
    spread : float, default=2.0
        At least 1.
    n_draws : int, default=50
    edge_cost : float, default=0.0
        For each parent, as in :func:`parent_scores`.
    random_state : None, int or numpy.random.Generator, default=None

    Returns
    -------
    ndarray of shape (p, p)
        Shares of the draws in which j -> k was chosen.

    Examples
    --------
    >>> weight_scan([[1.0, 1.0], [1.0, 3.0]], [[0, 1], [1, 0]], spread=1.5, n_draws=10, random_state=0).tolist()
    [[0.0, 1.0], [0.0, 0.0]]
    """
    covariance = check_covariance(covariance)
    p = len(covariance)
    spread = check_scalar(spread, "spread", low=1, high=1e6)
    n_draws = check_scalar(n_draws, "n_draws", low=1, high=10**8, integer=True)
    rng = check_rng(random_state)
    share = np.zeros((p, p))
    for _ in range(n_draws):
        drawn = np.exp(rng.uniform(-np.log(spread), np.log(spread), size=p))
        scores = parent_scores(covariance, adjacency, noise_variance=drawn, edge_cost=edge_cost)
        share += best_dag_treewidth(scores).dag.adjacency
    return share / n_draws


def _check_model(model):
    check_has(model, "model", "covariance noise_variance dag", "a LinearSEM")
    if not model.dag.edges:
        raise ValueError("model must have at least one edge: every graph contains the empty one")
    return model.dag


def _differing_nodes(graph, dag):
    """The smallest number of nodes whose parents differ between `graph` and a DAG that contains `dag`."""
    p = dag.n_nodes
    same = [k for k in range(p) if graph.parents(k) == dag.parents(k)]
    more = [k for k in range(p) if set(graph.parents(k)) > set(dag.parents(k))]
    for size in range(len(more), -1, -1):
        for kept in itertools.combinations(more, size):
            merged = dag.adjacency.copy()
            merged[:, list(kept)] = graph.adjacency[:, list(kept)]
            if _acyclic(merged):
                return p - len(same) - size
    return p - len(same)
