"""Margins measured by l1 and l2 norms, and the separators that maximise them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

from learnable.ensembles.margins import minimax_margin
from learnable.kernels import smo
from learnable.validation import check_choice, check_finite_array, check_scalar

__all__ = [
    "MaxMargin",
    "lemma4_threshold",
    "margin",
    "max_l1_margin",
    "max_l2_margin",
    "normalised_margins",
]


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


def normalised_margins(Z, beta):
    r"""All margins z_i'β/(‖β‖₁‖z_i‖_∞), between -1 and 1.

    Parameters
    ----------
    Z : array-like of shape (n, J)
        Rows y_i h(x_i).
    beta : array-like of shape (J,)
        Coefficients.

    Examples
    --------
    >>> normalised_margins([[2.0, 0.5], [2.0, 1.5]], [1.0, 0.0]).tolist()
    [1.0, 1.0]
    """
    Z, beta = _rows(Z), check_finite_array(beta, "beta", ndim=1)
    if beta.size != Z.shape[1] or not beta.any():
        raise ValueError(f"beta must be a non-zero vector of length {Z.shape[1]}")
    size = np.abs(Z).max(axis=1)
    if np.any(size == 0.0):
        raise ValueError("a row of Z is zero: it has no margin")
    return Z @ beta / (np.abs(beta).sum() * size)


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
    game = minimax_margin(np.hstack([Z, -Z]) / scale, np.ones(len(Z)))
    beta = game.vote[:J] - game.vote[J:]
    total = np.abs(beta).sum()
    beta = beta / total if total > 1e-9 else np.zeros(J)
    if total > 1e-9 and (Z @ beta).min() < -1e-9 * scale:
        beta = np.zeros(J)
    return MaxMargin(max(game.value, 0.0) * scale, beta, game.weights)


def max_l2_margin(Z, *, tol=1e-10):
    r"""Maximise min_i z_i'β over ‖β‖₂ ≤ 1: the hard-margin machine without intercept.

    By duality the separator points to the point of the convex hull of the rows that is nearest to the origin, which
    :mod:`learnable.kernels.smo` finds; its distance is the margin, zero if the hull contains the origin.

    Parameters
    ----------
    Z : array-like of shape (n, J)
        Rows y_i h(x_i).
    tol : float, default=1e-10

    Examples
    --------
    >>> best = max_l2_margin([[2.0, 0.5], [2.0, 1.5]])
    >>> round(best.margin**2, 6), (best.beta / best.beta[1]).round(6).tolist()
    (4.25, [4.0, 1.0])
    """
    Z = _rows(Z)
    tol = check_scalar(tol, "tol", low=0.0, closed="neither")
    gram = Z @ Z.T
    scale = max(float(np.diag(gram).max()), 1e-300)
    start = np.zeros(Z.shape[0])
    start[int(np.argmin(np.diag(gram)))] = 1.0
    s = smo.solve(gram / scale, 0.0, 0.0, 1.0, start=start, tol=tol)
    point = s.beta @ Z
    length = float(np.linalg.norm(point))
    if length**2 <= 1e-12 * scale:
        return MaxMargin(0.0, np.zeros(Z.shape[1]), s.beta)
    return MaxMargin(margin(Z, point, 2), point / length, s.beta)


def lexicographic_margins(Z, *, tol=1e-9):
    """Among the l1 maximum-margin separators, the one whose second smallest margin is largest, and so on.

    That is where the paths of boosting end when the maximum-margin separator is not unique. After each linear program
    the rows that no optimum can lift are fixed at their margin, and the rest is maximised again.

    Parameters
    ----------
    Z : array (n, J)
    tol : float, default=1e-9

    Returns
    -------
    beta : ndarray (J,)
    margins : ndarray (n,)

    Examples
    --------
    >>> beta, margins = lexicographic_margins([[1.0, 0.0, 1.0], [0.0, 3.0, 1.0]])
    >>> margins.round(6).tolist()
    [1.0, 1.0]
    """
    rows = _rows(Z)
    n, J = rows.shape
    # The tolerances below belong to entries of size one.
    Z = rows / (float(np.abs(rows).max()) or 1.0)
    fixed = np.full(n, np.nan)
    beta = np.zeros(J)
    while np.isnan(fixed).any():
        open_rows = np.flatnonzero(np.isnan(fixed))
        beta, level = _raise(Z, fixed, open_rows)
        stuck = []
        for i in open_rows:
            if Z[i] @ beta > level + 1e-7 * max(1.0, abs(level)):
                continue
            if _highest(Z, fixed, open_rows, level, i) <= level + max(tol, 1e-8 * abs(level)) * 10.0:
                stuck.append(i)
        if not stuck:
            stuck = [int(open_rows[np.argmin((Z @ beta)[open_rows])])]
        fixed[stuck] = level
    return beta, rows @ beta


def _program(Z, fixed, rows, level=None):
    J = Z.shape[1]
    held = np.flatnonzero(~np.isnan(fixed))
    extra = 0 if level is not None else 1
    A = [np.hstack([-Z[rows], Z[rows], np.ones((len(rows), extra))])]
    b = [np.zeros(len(rows)) if level is None else np.full(len(rows), -level)]
    if held.size:
        A.append(np.hstack([-Z[held], Z[held], np.zeros((held.size, extra))]))
        b.append(-fixed[held] + 1e-11)
    equal = np.ones((1, 2 * J + extra))
    if extra:
        equal[0, -1] = 0.0
    bounds = [(0, None)] * (2 * J) + [(None, None)] * extra
    return np.vstack(A), np.concatenate(b), equal, bounds


def _raise(Z, fixed, rows):
    A, b, equal, bounds = _program(Z, fixed, rows)
    cost = np.zeros(A.shape[1])
    cost[-1] = -1.0
    answer = linprog(cost, A_ub=A, b_ub=b, A_eq=equal, b_eq=[1.0], bounds=bounds, method="highs-ds")
    J = Z.shape[1]
    return answer.x[:J] - answer.x[J : 2 * J], float(answer.x[-1])


def _highest(Z, fixed, rows, level, i):
    A, b, equal, bounds = _program(Z, fixed, rows, level - 1e-11)
    cost = np.concatenate([-Z[i], Z[i]])
    answer = linprog(cost, A_ub=A, b_ub=b, A_eq=equal, b_eq=[1.0], bounds=bounds, method="highs-ds")
    return float(-answer.fun) if answer.status == 0 else level


def lemma4_threshold(n, m1, m2):
    r"""The scale d beyond which margin decides: d > (ln n + ln 2)/(m₁ - m₂).

    If ‖β₁‖ = ‖β₂‖ = 1 have margins m₁ > m₂, then dβ₁ has the smaller
    exponential and logistic loss for every such d (Rosset et al. 2004, Lemma 4).

    Parameters
    ----------
    n : int
        Number of observations.
    m1 : float
        The larger margin.
    m2 : float
        The smaller margin.

    Examples
    --------
    >>> round(lemma4_threshold(50, 0.5, 0.3), 3)
    23.026
    """
    n = check_scalar(n, "n", low=1, integer=True)
    m1, m2 = check_scalar(m1, "m1"), check_scalar(m2, "m2")
    if not m1 > m2:
        raise ValueError("m1 must be the larger margin")
    return float((np.log(n) + np.log(2.0)) / (m1 - m2))
