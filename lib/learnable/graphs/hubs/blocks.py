"""Blocks that the penalties leave apart: found by a threshold on the covariance, solved one by one, put together."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from learnable.graphs.hubs.penalty import HubPenalty
from learnable.graphs.hubs.solver import HubFit, solve
from learnable.linalg.precision import threshold_components
from learnable.validation import check_symmetric

# Small components are solved together: an iteration of the engine costs as much as an eigendecomposition of this size.
SMALL = 48


def screen_blocks(S, alpha_edge, alpha_hub_edge):
    """Components of the graph |S_ij| > min(λ1, λ2/2): no edge joins them (Tan et al. 2014, Theorem 1).

    Holds for the Gaussian graphical model and for the covariance graph. O(p²).

    Parameters
    ----------
    S : array-like of shape (p, p)
    alpha_edge, alpha_hub_edge : float

    Returns
    -------
    list of ndarray
        Nodes of each component in increasing order.

    Examples
    --------
    >>> S = [[1, 0.5, 0.1], [0.5, 1, 0.1], [0.1, 0.1, 1]]
    >>> [block.tolist() for block in screen_blocks(S, 0.4, 0.4)]
    [[0, 1], [2]]
    """
    penalty = HubPenalty.checked(alpha_edge, alpha_hub_edge, 1.0)
    S = check_symmetric(S, "S")
    if np.isinf(penalty.edge_threshold):
        return [np.array([j]) for j in range(len(S))]
    return threshold_components(S, penalty.edge_threshold)


def solve_by_blocks(make_loss, S, penalty, screen, options, warm_start=None):
    """Solve each block (or all at once) and assemble; gaps and objectives add up, iterations are the largest number."""
    blocks = _groups(screen_blocks(S, penalty.alpha_edge, penalty.alpha_hub_edge)) if screen else [np.arange(len(S))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # one warning for all blocks, by the caller
        fits = [
            solve(make_loss(S[np.ix_(b, b)]), penalty, warm_start=_restrict(warm_start, b, len(S)), **options)
            for b in blocks
        ]
    if len(fits) == 1:
        return fits[0]
    whole = {name: np.zeros_like(S) for name in ("estimate", "V", "Z", "dual")}
    for block, fit in zip(blocks, fits, strict=True):
        for name, matrix in whole.items():
            matrix[np.ix_(block, block)] = getattr(fit, name)
    return HubFit(
        **whole,
        objective=sum(fit.objective for fit in fits),
        gap=sum(fit.gap for fit in fits),
        n_iter=max(fit.n_iter for fit in fits),
        converged=all(fit.converged for fit in fits),
        n_blocks=len(fits),
    )


def _groups(components):
    """Components of at least SMALL nodes alone, the others together up to that size."""
    groups, small, size = [], [], 0
    for component in sorted(components, key=len, reverse=True):
        if len(component) >= SMALL:
            groups.append(component)
            continue
        small.append(component)
        size += len(component)
        if size >= SMALL:
            groups.append(np.sort(np.concatenate(small)))
            small, size = [], 0
    if small:
        groups.append(np.sort(np.concatenate(small)))
    return groups


def _restrict(fit, block, p):
    if fit is None:
        return None
    if np.shape(fit.V) != (p, p):
        raise ValueError(f"warm_start must be a solution for {p} nodes, got {np.shape(fit.V)}")
    at = np.ix_(block, block)
    return HubFit(fit.estimate[at], fit.V[at], fit.Z[at], fit.dual[at], 0.0, 0.0, 0, True)
