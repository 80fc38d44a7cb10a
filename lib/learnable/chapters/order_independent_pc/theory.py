"""Errors of an estimated graph, data with hidden common causes, and the ranking of estimated effects."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from learnable.graphs.mixed import ARROW, TAIL, mark_distance, structural_hamming_distance
from learnable.validation import Result, check_rng


@dataclass(frozen=True, eq=False)
class GraphErrors(Result):
    """What `graph_errors` returns."""

    n_edges: int
    false_positives: int
    false_negatives: int
    true_discovery_rate: float
    directed_tpr: float
    directed_fpr: float
    hamming: int
    marks: int


def graph_errors(estimated, truth):
    """Count the errors of an estimated graph."""
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
    """Choose the nodes to hide: a random half of those without parents and with at least two children."""
    A = dag.adjacency
    eligible = np.flatnonzero((A.sum(axis=0) == 0) & (A.sum(axis=1) >= 2))
    rng = check_rng(random_state)
    return tuple(sorted(rng.choice(eligible, len(eligible) // 2, replace=False).tolist()))


def top_effects_roc(estimated, truth, top=0.1):
    """How many of the largest true effects are among the first so many estimated ones."""
    estimated = np.asarray(estimated, dtype=float)
    truth = np.asarray(truth, dtype=float)
    pairs = ~np.eye(len(truth), dtype=bool) & ~np.isnan(truth)
    sizes, score = np.abs(truth[pairs]), np.abs(estimated[pairs])
    wanted = np.zeros(len(sizes), dtype=bool)
    wanted[np.argsort(-sizes, kind="stable")[: round(top * len(sizes))]] = True
    wanted &= sizes > 0
    ranked = np.argsort(-score, kind="stable")[: int((score > 0).sum())]
    hits = np.concatenate([[0], np.cumsum(wanted[ranked])])
    return np.arange(len(hits)) - hits, hits
