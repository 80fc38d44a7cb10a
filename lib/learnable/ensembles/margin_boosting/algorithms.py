"""Boosters that are built to reach the largest margin of a matrix, and the linear programme by columns.

AdaBoost's step is ½ ln((1 + r)/(1 − r)). Subtracting the same function of a target ρ_t below the edge makes shorter
steps and, for suitable targets, a booster whose margin converges to the optimum: the current margin (arc-gv, Breiman
1999), the smallest edge so far less ν (AdaBoost*, Rätsch and Warmuth 2005), the smooth margin (approximate coordinate
ascent, Rudin et al. 2004). LPBoost (Demiriz, Bennett and Shawe-Taylor 2002) generates columns for the programme.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from learnable.ensembles.margin_boosting.steps import TIE, check_matrix, fill_edges, pick
from learnable.ensembles.margins import minimax_margin
from learnable.validation import check_choice, check_scalar


@dataclass(frozen=True)
class MarginRun:
    """Margins after each round, the votes at the end, and the columns chosen."""

    margins: np.ndarray
    lam: np.ndarray
    columns: np.ndarray


def lpboost(M, *, tol=1e-9, start=0):
    """LPBoost: add the column with the largest edge under the current dual weights, solve again, until none helps.

    Parameters
    ----------
    M : array (m, n) of ±1
    tol : float
        Stop when no edge exceeds the restricted optimum by more than this.
    start : int
        The first column.

    Returns
    -------
    MarginRun

    Examples
    --------
    >>> (lpboost(1 - 2 * np.eye(4)).margins.round(6) + 0.0).tolist()
    [-1.0, 0.0, 0.333333, 0.5]
    """
    M = check_matrix(M)
    tol = check_scalar(tol, "tol", low=0)
    chosen = [check_scalar(start, "start", low=0, high=M.shape[1] - 1, integer=True)]
    margins = []
    while True:
        game = minimax_margin(M[:, chosen])
        margins.append(game.value)
        values = game.weights @ M
        values[chosen] = -np.inf
        j = int(np.argmax(values))
        if values[j] <= game.value + tol:
            break
        chosen.append(j)
    lam = np.zeros(M.shape[1])
    lam[chosen] = game.vote
    return MarginRun(np.array(margins), lam, np.array(chosen))


def arc_gv(M, n_rounds, *, tie="first"):
    """Arc-gv: AdaBoost's step less that of the current margin (taken as zero while it is negative).

    Parameters
    ----------
    M : array-like of shape (m, n)
        Entry +1 where classifier j is right on example i, else −1.
    n_rounds : int
    tie : {"first", "last"}, default="first"
        Which of equally good columns is taken.

    Examples
    --------
    >>> round(float(arc_gv(1 - 2 * np.eye(3), 5000).margins[-1]), 2)
    0.33
    """
    return _offset(M, n_rounds, 0, 0.0, tie)


def adaboost_star(M, n_rounds, nu=0.01, *, tie="first"):
    """AdaBoost*: the target is the smallest edge so far less ν; the margin ends above ρ − ν.

    Parameters
    ----------
    M : array (m, n) of ±1
    n_rounds : int
        2 ln(m)/ν² rounds suffice.
    nu : float
        The accuracy.
    tie : {"first", "last"}

    Examples
    --------
    >>> bool(adaboost_star(1 - 2 * np.eye(3), 3000, 0.05).margins[-1] > 1 / 3 - 0.05)
    True
    """
    return _offset(M, n_rounds, 1, check_scalar(nu, "nu", low=0, high=1, closed="neither"), tie)


def _offset(M, n_rounds, rule, nu, tie):
    M = check_matrix(M)
    T = check_scalar(n_rounds, "n_rounds", low=1, integer=True)
    check_choice(tie, "tie", ("first", "last"))
    n = M.shape[1]
    rank = np.arange(n) if tie == "first" else np.arange(n)[::-1].copy()
    margins, columns, lam = np.empty(T), np.empty(T, np.int64), np.zeros(n)
    done = _offset_run(M, rank, rule, nu, margins, columns, lam)
    if done < T:
        raise ValueError(
            f"every column of M is wrong on all rows that have weight in round {done}: no vote has a positive margin"
        )
    return MarginRun(margins, lam, columns)


@njit(cache=True)
def _offset_run(M, rank, rule, nu, margins, columns, lam):
    m, n = M.shape
    scores, d, small, values = np.zeros(m), np.empty(m), np.empty(m), np.empty(n)
    total, lowest, smallest_edge = 0.0, 0.0, 1.0
    for t in range(margins.size):
        mass = 0.0
        for i in range(m):
            d[i] = np.exp(lowest - scores[i])
            mass += d[i]
        for i in range(m):
            d[i] /= mass
            small[i] = np.nan if d[i] > 0.0 else lowest - scores[i] - np.log(mass)
        fill_edges(M, d, values)
        j = pick(M, d, small, values, rank, np.inf, TIE, -1.0)
        # Not above 1 − 1e-15: an edge that rounds to one would make the step infinite.
        r = min(values[j], 1.0 - 1e-15)
        if r <= -1.0 + 1e-15:
            return t
        smallest_edge = min(smallest_edge, r)
        target = 0.0
        if rule == 0 and total > 0.0:
            target = max(lowest / total, 0.0)
        elif rule == 1:
            target = max(smallest_edge - nu, -1.0 + 1e-15)
        elif rule == 2 and total > 0.0:
            target = max((lowest - np.log(mass)) / total, 0.0)
        alpha = 0.5 * np.log((1.0 + r) / (1.0 - r)) - 0.5 * np.log((1.0 + target) / (1.0 - target))
        columns[t] = j
        lam[j] += alpha
        total += abs(alpha)
        lowest = np.inf
        for i in range(m):
            scores[i] += alpha * M[i, j]
            lowest = min(lowest, scores[i])
        margins[t] = lowest / total if total > 0.0 else 0.0
    return margins.size
