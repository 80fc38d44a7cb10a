"""How well a graph with hubs was found: the four measures of Tan et al. 2014, Section 3.5.1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from learnable.validation import Result, check_scalar, check_symmetric

__all__ = ["HubMetrics", "hub_metrics"]


@dataclass(frozen=True, eq=False)
class HubMetrics(Result):
    """Edges drawn, of these true ones; shares of the true hub edges and hub nodes found; sum of squared errors."""

    n_edges: int
    correct_edges: int
    hub_edge_share: float
    hub_share: float
    squared_error: float


def hub_metrics(estimate, truth, hubs, min_degree, *, tol=1e-5):
    r"""Compare an estimated symmetric matrix with the true one, edges by edges and hubs by hubs. O(p²).

    An estimated hub is one of the |H| nodes with most edges that has at least `min_degree` of them; ties go to the
    smaller number. The error is Σ_{j<k} (estimate_jk - truth_jk)²: give the truth in the units of the estimate, D Θ D
    for variables that were divided by their standard deviations.

    Parameters
    ----------
    estimate, truth : array-like of shape (p, p)
        Symmetric.
    hubs : array-like of int
        The true hubs, H.
    min_degree : int
        r of the source.
    tol : float, default=1e-05
        An edge of the estimate is an entry above it.

    Returns
    -------
    HubMetrics
        Shares are NaN without hubs.

    Examples
    --------
    >>> truth = np.array([[2.0, 1, 1], [1, 2, 0], [1, 0, 2]])
    >>> hub_metrics([[2.0, 1, 0], [1, 2, 0.5], [0, 0.5, 2]], truth, [0], 2).hub_edge_share
    0.5
    """
    estimate, truth = check_symmetric(estimate, "estimate"), check_symmetric(truth, "truth")
    if estimate.shape != truth.shape:
        raise ValueError(f"estimate and truth must have one shape, got {estimate.shape} and {truth.shape}")
    hubs = np.unique(np.asarray(hubs)) if np.size(hubs) else np.empty(0, dtype=int)
    if hubs.ndim != 1 or hubs.dtype.kind not in "iu" or (hubs.size and not 0 <= hubs[0] <= hubs[-1] < len(truth)):
        raise ValueError(f"hubs must be node numbers in [0, {len(truth) - 1}]")
    min_degree = check_scalar(min_degree, "min_degree", low=0, integer=True)
    off = ~np.eye(len(truth), dtype=bool)
    found = (np.abs(estimate) > check_scalar(tol, "tol", low=0)) & off
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
