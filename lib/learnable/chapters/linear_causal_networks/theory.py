"""The gap between the true graph and the next best, and what misspecified variances do (Loh and Bühlmann 2014)."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from learnable.graphs.dags import DAG, moral_graph
from learnable.graphs.linear_dags.local_scores import (
    check_covariance,
    check_noise_variance,
    check_undirected,
    dag_score,
    parent_scores,
)
from learnable.graphs.linear_dags.search import _acyclic, all_dags
from learnable.graphs.linear_dags.treewidth import best_dag_treewidth
from learnable.linalg.precision import partial_correlations
from learnable.validation import Result, check_has, check_rng


@dataclass(frozen=True, eq=False)
class Gap(Result):
    """The gap of a model, and what follows for misspecified variances."""

    gap: float
    runner_up: DAG
    tolerance: float


def score_gap(model, *, noise_variance=None, adjacency=None):
    """The gap ξ of (11), (13) and (22), by one exact search for each true edge."""
    dag = _check_model(model)
    assumed = model.noise_variance if noise_variance is None else noise_variance
    assumed = check_noise_variance(assumed, dag.n_nodes)
    adjacency = check_undirected(moral_graph(dag) if adjacency is None else adjacency, dag.n_nodes)
    scores = parent_scores(model.covariance, adjacency, noise_variance=assumed)
    searches = (best_dag_treewidth(scores.without(*edge)) for edge in dag.edges)
    best = min(searches, key=lambda found: found.score)
    gap = best.score - dag_score(model.covariance, dag, assumed)
    return Gap(float(gap), best.dag, float(1.0 + gap / dag.n_nodes))


def gap_ratio(model):
    """γ(G₀) of Assumption 2: the gap for each node whose parents differ, minimised over DAGs in the moral graph."""
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
    """How often each edge is chosen when the error variances are only known up to a factor."""
    covariance = check_covariance(covariance)
    p = len(covariance)
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


def cancellations(model, *, tol=1e-10):
    """Edges of the moral graph at which the precision matrix vanishes (violations of Assumption 1). O(p³)."""
    partial = partial_correlations(model.precision)
    lost = np.triu(moral_graph(model.dag) & (np.abs(partial) <= tol), 1)
    return [tuple(pair) for pair in np.argwhere(lost).tolist()]
