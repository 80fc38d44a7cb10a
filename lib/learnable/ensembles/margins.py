"""Margins of votes: the largest possible one is a linear programme, and its dual is weak learnability."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

from learnable.validation import check_finite_array

__all__ = ["MinimaxMargin", "margin_distribution", "minimax_margin"]


@dataclass(frozen=True)
class MinimaxMargin:
    """The value ρ* of the margin game, the best vote β and the hardest weights D."""

    value: float
    vote: np.ndarray
    weights: np.ndarray


def minimax_margin(outputs, y):
    """Largest smallest margin of a vote: max_β min_i y_i Σ_j β_j h_j(x_i) over β ≥ 0 with Σβ = 1.

    By duality it is also min_D max_j Σ_i D_i y_i h_j(x_i): under *every* weighting of the sample some rule has error at
    most ½ − ρ*/2, and under the returned weights no rule does better.

    Parameters
    ----------
    outputs : array (n, m)
        Column j holds the outputs of rule j.
    y : array (n,)
        Labels ±1.

    Returns
    -------
    MinimaxMargin

    Examples
    --------
    >>> H = np.array([[-1.0, 1.0, 1.0], [1.0, -1.0, 1.0], [1.0, 1.0, -1.0]])
    >>> round(minimax_margin(H, [1, 1, 1]).value, 6)
    0.333333
    """
    H = check_finite_array(outputs, "outputs", ndim=2)
    y = check_finite_array(y, "y", ndim=1)
    if len(H) != len(y) or H.size == 0 or not (np.abs(y) == 1).all():
        raise ValueError("outputs must have one row for each label, and the labels must be ±1")
    # The linear programme works with absolute tolerances: the game is solved in the unit of its largest entry.
    unit = np.abs(H).max() or 1.0
    n, m = H.shape
    Z = y[:, None] * (H / unit)
    answer = linprog(
        np.concatenate([np.zeros(m), [-1.0]]),
        A_ub=np.hstack([-Z, np.ones((n, 1))]),
        b_ub=np.zeros(n),
        A_eq=np.concatenate([np.ones(m), [0.0]])[None, :],
        b_eq=[1.0],
        bounds=[(0, None)] * m + [(None, None)],
        method="highs",
    )
    if answer.status != 0:
        raise RuntimeError(f"the linear programme failed: {answer.message}")
    weights = np.maximum(-answer.ineqlin.marginals, 0.0)
    return MinimaxMargin(float(-answer.fun * unit), answer.x[:m], weights / weights.sum())


def margin_distribution(margins, gamma):
    """Share of margins ≤ γ, for each γ.

    Parameters
    ----------
    margins : array-like of shape (n,)
    gamma : float or array-like

    Examples
    --------
    >>> margin_distribution([-0.5, 0.1, 0.1, 0.9], [0.0, 0.1, 1.0]).tolist()
    [0.25, 0.75, 1.0]
    """
    margins = np.sort(check_finite_array(margins, "margins", ndim=1))
    if margins.size == 0:
        raise ValueError("margins must hold at least one margin")
    return np.searchsorted(margins, check_finite_array(gamma, "gamma"), side="right") / len(margins)
