"""Margins of votes: the largest possible one is a linear programme, and its dual is weak learnability.

One programme serves all: votes with non-negative weights (Rätsch and Warmuth 2005, Lember 2012) and coefficients of any
sign with a bounded l1 norm (Rosset, Zhu and Hastie 2004).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

from learnable.validation import check_choice, check_finite_array

__all__ = ["MaxMargin", "MinimaxMargin", "margin", "margin_distribution", "max_l1_margin", "minimax_margin"]


@dataclass(frozen=True)
class MinimaxMargin:
    """The value ρ* of the margin game, the best vote β and the hardest weights D."""

    value: float
    vote: np.ndarray
    weights: np.ndarray


def minimax_margin(outputs, y=None):
    """Largest smallest margin of a vote: max_β min_i y_i Σ_j β_j h_j(x_i) over β ≥ 0 with Σβ = 1.

    By duality it is also min_D max_j Σ_i D_i y_i h_j(x_i): under *every* weighting of the sample some rule has error at
    most ½ − ρ*/2, and under the returned weights no rule does better.

    Parameters
    ----------
    outputs : array (n, m)
        Column j holds the outputs of rule j.
    y : array (n,), optional
        Labels ±1; without them the outputs are margins already, y_i h_j(x_i).

    Returns
    -------
    MinimaxMargin

    Examples
    --------
    >>> H = np.array([[-1.0, 1.0, 1.0], [1.0, -1.0, 1.0], [1.0, 1.0, -1.0]])
    >>> round(minimax_margin(H).value, 6)
    0.333333
    """
    H = check_finite_array(outputs, "outputs", ndim=2)
    y = np.ones(len(H)) if y is None else check_finite_array(y, "y", ndim=1)
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


@dataclass(frozen=True)
class MaxMargin:
    """The largest `margin` over coefficients of norm at most one, and the weights `dual` of the rows.

    `beta` attains it: of norm one if some coefficients give no row a negative value, else zero, like the margin.
    """

    margin: float
    beta: np.ndarray
    dual: np.ndarray


def _rows(Z):
    Z = check_finite_array(Z, "Z", ndim=2)
    if Z.size == 0:
        raise ValueError("Z must have at least one row and one column")
    return Z


def margin(Z, beta, p=1):
    r"""Smallest signed value min_i z_i'β/‖β‖_p (z_i = y_i h(x_i)).

    Parameters
    ----------
    Z : array-like of shape (n, J)
        Rows y_i h(x_i).
    beta : array-like of shape (J,)
        Coefficients.
    p : {1, 2, inf}, default=1
        Which norm divides.

    Examples
    --------
    >>> margin([[2.0, 0.5], [2.0, 1.5]], [1.0, 1.0], p=1)
    1.25
    """
    Z, beta = _rows(Z), check_finite_array(beta, "beta", ndim=1)
    if beta.size != Z.shape[1] or not beta.any():
        raise ValueError(f"beta must be a non-zero vector of length {Z.shape[1]}")
    check_choice(p, "p", (1, 2, np.inf))
    return float((Z @ beta).min() / np.linalg.norm(beta, p))


def max_l1_margin(Z):
    r"""Maximise min_i z_i'β over ‖β‖₁ ≤ 1: a linear program.

    Parameters
    ----------
    Z : array (n, J)
        Rows y_i h(x_i). Columns of very different scale should be scaled first.

    Returns
    -------
    MaxMargin
        The margin is zero if the rows cannot be separated, and `beta` too. `dual` holds a distribution over the rows
        under which every column has an edge of at most the margin.

    Examples
    --------
    >>> best = max_l1_margin([[2.0, 0.5], [2.0, 1.5]])
    >>> best.margin, best.beta.tolist()
    (2.0, [1.0, 0.0])
    """
    Z = _rows(Z)
    J = Z.shape[1]
    scale = max(float(np.abs(Z).max()), 1e-300)
    # A vote may not be negative: the dictionary and its negation give both signs.
    game = minimax_margin(np.hstack([Z, -Z]) / scale)
    beta = game.vote[:J] - game.vote[J:]
    total = np.abs(beta).sum()
    beta = beta / total if total > 1e-9 else np.zeros(J)
    if total > 1e-9 and (Z @ beta).min() < -1e-9 * scale:
        beta = np.zeros(J)
    return MaxMargin(max(game.value, 0.0) * scale, beta, game.weights)
