"""The hub penalty by itself: its regimes, its value on a star, its proximal step, and how well hubs are found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from learnable.graphs.hubs.penalty import HubPenalty
from learnable.graphs.hubs.solver import _Fixed, solve
from learnable.optim.proximal import soft
from learnable.validation import Result


@dataclass(frozen=True, eq=False)
class HubMetrics(Result):
    """Edges drawn, of these true ones; shares of the true hub edges and hub nodes found; sum of squared errors."""

    n_edges: int
    correct_edges: int
    hub_edge_share: float
    hub_share: float
    squared_error: float


def hub_metrics(estimate, truth, hubs, min_degree, *, tol=1e-5):
    r"""Compare an estimated symmetric matrix with the true one, edges by edges and hubs by hubs. O(p²)."""
    estimate, truth = np.asarray(estimate, dtype=float), np.asarray(truth, dtype=float)
    hubs = np.unique(np.asarray(hubs)) if np.size(hubs) else np.empty(0, dtype=int)
    off = ~np.eye(len(truth), dtype=bool)
    found = (np.abs(estimate) > tol) & off
    true = (truth != 0) & off
    degrees = found.sum(axis=0)
    top = np.argsort(-degrees, kind="stable")[: hubs.size]
    chosen = top[degrees[top] >= min_degree]
    at_hubs = true[hubs].sum()
    difference = np.where(off, estimate - truth, 0.0)
    return HubMetrics(
        int(found.sum()) // 2,
        int((found & true).sum()) // 2,
        float((found & true)[hubs].sum() / at_hubs) if at_hubs else np.nan,
        float(np.isin(hubs, chosen).mean()) if hubs.size else np.nan,
        0.5 * float(np.vdot(difference, difference)),
    )


def penalty_regime(alpha_edge, alpha_hub_edge, alpha_hub, n_nodes, q=2):
    """Which parts of the decomposition can be used at all, from the penalties alone (Tan et al. 2014, Lemmas 3, 4)."""
    penalty = HubPenalty.checked(alpha_edge, alpha_hub_edge, alpha_hub, q)
    p = n_nodes
    if penalty.alpha_edge > 0.5 * (penalty.alpha_hub_edge + penalty.alpha_hub):
        return "Z diagonal"
    root = np.sqrt(p - 1) if q == 2 else 1.0
    if penalty.alpha_edge < 0.5 * penalty.alpha_hub_edge + 0.5 * penalty.alpha_hub / root:
        return "V diagonal"
    return "mixed"


def star_penalty(alpha_edge, alpha_hub_edge, alpha_hub, n_leaves, weight=1.0):
    r"""The hub penalty of a star: one node joined to `n_leaves` others with equal weights, and nothing else."""
    penalty = HubPenalty.checked(alpha_edge, alpha_hub_edge, alpha_hub)
    m, size = n_leaves, abs(weight)
    return float(size * min(2 * penalty.alpha_edge * m, penalty.alpha_hub_edge * m + penalty.alpha_hub * np.sqrt(m)))


def sparse_group_shrink(C, a, b):
    r"""The proximal map of a |x|_1 + b |x|_2 for every column: soft threshold, then shrink the column as a whole."""
    C = np.asarray(C, dtype=float)
    return _shrink_columns(np.array(C, order="C"), a, b)


@njit(cache=True)
def _shrink_columns(C, a, b):
    m, k = C.shape
    squares = np.zeros(k)
    for i in range(m):
        for j in range(k):
            C[i, j] = soft(C[i, j], a)
            squares[j] += C[i, j] * C[i, j]
    for j in range(k):
        norm = np.sqrt(squares[j])
        squares[j] = 1.0 - b / norm if norm > b else 0.0
    for i in range(m):
        for j in range(k):
            C[i, j] = C[i, j] * squares[j]
    return C


def hub_admm(
    loss,
    alpha_edge,
    alpha_hub_edge,
    alpha_hub,
    *,
    q=2,
    rho=None,
    relaxation=1.8,
    adapt=True,
    tol=1e-6,
    max_iter=2000,
    warm_start=None,
):
    """Minimise a convex loss plus the hub penalty by consensus ADMM (Tan et al. 2014, Algorithm 1)."""
    penalty = HubPenalty.checked(alpha_edge, alpha_hub_edge, alpha_hub, q)
    return solve(loss, penalty, rho, relaxation, adapt, tol, max_iter, warm_start)


def hub_penalty(theta, alpha_edge, alpha_hub_edge, alpha_hub, *, q=2, tol=1e-6, max_iter=5000):
    """The hub penalty of a symmetric matrix, with the decomposition that attains it (Tan et al. 2014, (2))."""
    theta = np.asarray(theta, dtype=float)
    penalty = HubPenalty.checked(alpha_edge, alpha_hub_edge, alpha_hub, q)
    return solve(_Fixed(theta, penalty), penalty, tol=tol, max_iter=max_iter)
