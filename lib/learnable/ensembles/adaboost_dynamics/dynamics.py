"""AdaBoost on a matrix: the algorithm, and the one-line map that its weights obey.

The matrix M has a row for each example and a column for each weak classifier; M_ij = y_i h_j(x_i) is +1 where
classifier j is right and −1 where it is wrong. With weights d on the rows, *edges* dᵀM and votes λ on the columns:

    j = argmax_j (dᵀM)_j,   r = (dᵀM)_j,   λ_j ← λ_j + ½ ln((1 + r)/(1 − r)),   d_i ← d_i / (1 + M_ij r)

(Rudin, Daubechies and Schapire 2004, figures 1 and 2). In exact arithmetic the new weights sum to one. In floating
point the map as it is written does so for a few dozen steps only: the error in the sum is a repelling direction. The
code divides by twice the weights of the right and of the wrong rows in place of 1 + r and 1 − r, which restores the sum
by itself, and rescales at every step besides. Weights that are too small for a double are carried on the log scale, so
that they can return.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit

from learnable.validation import check_choice, check_finite_array, check_rng, check_scalar

__all__ = ["AdaBoostMatrix", "History", "check_matrix", "edges", "iterated_map", "map_jacobian", "margin"]

# Edges closer than this are compared again without cancellation, and tied if they agree to this relative accuracy: at
# equal weights rounding would otherwise choose the attractor.
TIE = 1e-12
# Weights below e^SMALL live on the log scale until they are above e^ALIVE again.
SMALL, ALIVE = -650.0, -640.0


def check_matrix(M):
    """Return M as a C-contiguous float64 array after checking that it is a matrix of ±1 without a perfect column.

    Parameters
    ----------
    M : array-like of shape (m, n)
        Entry +1 where classifier j is right on example i, else −1.

    Examples
    --------
    >>> check_matrix([[-1, 1], [1, -1]])
    array([[-1.,  1.],
           [ 1., -1.]])
    """
    M = check_finite_array(M, "M", ndim=2)
    if M.size == 0 or not (np.abs(M) == 1).all():
        raise ValueError("M must be a matrix with entries −1 (wrong) and +1 (right), at least one row and one column")
    perfect = np.flatnonzero((M == 1).all(axis=0))
    if perfect.size:
        raise ValueError(f"column {perfect[0]} of M makes no error: the step of AdaBoost would be infinite")
    return np.ascontiguousarray(M)


def check_start(d, m):
    """Return weights on m rows, rescaled to sum one; None means equal weights."""
    if d is None:
        return np.full(m, 1 / m)
    d = check_finite_array(d, "d", ndim=1)
    if d.size != m or d.min() < 0 or not abs(d.sum() - 1) <= 1e-6:
        raise ValueError(f"d must be {m} non-negative weights that sum to one")
    return d / d.sum()


def edges(M, d):
    """Edges dᵀM of all columns: weight of the right rows minus weight of the wrong ones.

    Parameters
    ----------
    M : array-like of shape (m, n)
        Entry +1 where classifier j is right on example i, else −1.
    d : array-like of shape (m,)
        Weights.

    Examples
    --------
    >>> edges([[-1, 1], [1, -1]], [0.25, 0.75])
    array([ 0.5, -0.5])
    """
    M = check_matrix(M)
    return check_start(d, len(M)) @ M


def iterated_map(M, d, j=None):
    """One step of AdaBoost in the weights alone: d_i / (1 + M_ij r), rescaled to sum one.

    Parameters
    ----------
    M : array (m, n) of ±1
    d : array (m,)
        Weights that sum to one.
    j : int, optional
        The column to use; by default the first with the largest edge.

    Returns
    -------
    array (m,)

    Examples
    --------
    >>> iterated_map([[-1, 1, 1], [1, -1, 1], [1, 1, -1]], [0.2, 0.3, 0.5])
    array([0.5   , 0.1875, 0.3125])
    """
    M = check_matrix(M)
    d = check_start(d, len(M))
    if j is None:
        values = d @ M
        j = int(np.flatnonzero(values >= values.max() - TIE)[0])
    j = check_scalar(j, "j", low=0, high=M.shape[1] - 1, integer=True)
    right = M[:, j] > 0
    if not d[~right].any():
        raise ValueError(f"column {j} makes no error under these weights: the next weights do not exist")
    # 1 + r and 1 − r are twice the weights of the right and of the wrong rows; 1 − r itself would cancel.
    new = np.where(right, d / d[right].sum() if d[right].any() else 0.0, d / d[~right].sum()) / 2
    return new / new.sum()


def map_jacobian(M, d, j):
    """Derivative of the map d ↦ d_i / (1 + M_ij r) in d, for a fixed column j.

    Parameters
    ----------
    M : array-like of shape (m, n)
        Entry +1 where classifier j is right on example i, else −1.
    d : array-like of shape (m,)
        Weights.
    j : int
        Column.

    Examples
    --------
    >>> map_jacobian([[-1, 1], [1, -1]], [0.5, 0.5], 0)
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    M = check_matrix(M)
    d = check_start(d, len(M))
    column = M[:, check_scalar(j, "j", low=0, high=M.shape[1] - 1, integer=True)]
    scale = 1 / (1 + column * (d @ column))
    return np.diag(scale) - np.outer(d * column * scale**2, column)


def margin(M, coef):
    """Smallest margin min_i (Mλ)_i / ‖λ‖₁ of a vote.

    Parameters
    ----------
    M : array-like of shape (m, n)
        Entry +1 where classifier j is right on example i, else −1.
    coef : array-like of shape (n,)
        Coefficients λ of the vote.

    Examples
    --------
    >>> round(margin([[-1, 1, 1], [1, -1, 1], [1, 1, -1]], [1, 1, 1]), 6)
    0.333333
    """
    M = check_finite_array(M, "M", ndim=2)
    coef = check_finite_array(coef, "coef", ndim=1)
    total = np.abs(coef).sum()
    if coef.size != M.shape[1] or total == 0:
        raise ValueError(f"lam must have {M.shape[1]} entries that are not all zero")
    return float((M @ coef).min() / total)


@dataclass(frozen=True)
class History:
    """What happened in a run of T steps.

    Attributes
    ----------
    weights : array (T + 1, m) or None
        Row t holds the weights before step t; the last row those after the run.
    columns : array (T,)
        The chosen columns.
    edges : array (T,)
        Their edges r.
    margins : array (T,)
        Smallest margin of the vote after each step.
    lam : array (n,)
        The votes at the end.
    scores : array (m,)
        Mλ at the end.
    last : array (m,)
        The weights after the run.
    """

    weights: np.ndarray | None
    columns: np.ndarray
    edges: np.ndarray
    margins: np.ndarray
    lam: np.ndarray
    scores: np.ndarray
    last: np.ndarray

    @property
    def votes(self):
        """λ / ‖λ‖₁."""
        return self.lam / np.abs(self.lam).sum()


class AdaBoostMatrix:
    """AdaBoost with a matrix of weak classifiers, with every choice it leaves open made explicit.

    Parameters
    ----------
    M : array (m, n) of ±1
        No column may be +1 everywhere.
    selector : {"optimal", "nonoptimal"}, sequence of int, or callable, default="optimal"
        "optimal": a column with the largest edge. "nonoptimal": any column with an edge of at least ρ, the largest
        possible margin. A sequence: these columns in turn, again and again. A callable: ``selector(edges, t)``
        returns the column.
    tie : {"first", "last", "random"} or sequence of int, default="first"
        Which of the columns that the selector allows is taken; a sequence lists all columns, the preferred ones first.
    tie_tol : float, default=1e-12
        Two columns are tied if the weights P and N of the rows that only one of them gets right differ by no more than
        this share of P + N.
    random_state : int, default=0
        Seed for ``tie="random"``.

    Notes
    -----
    A step costs O(mn), compiled; a million steps on an 8 × 8 matrix take a fraction of a second. The arithmetic has a
    fixed order, so a run is the same on every machine.

    Examples
    --------
    >>> M = 1 - 2 * np.eye(3)
    >>> run = AdaBoostMatrix(M).run(3000)
    >>> run.columns[:6].tolist(), round(float(run.edges[-1]), 6), round(float(run.margins[-1]), 3)
    ([0, 1, 2, 0, 1, 2], 0.618034, 0.333)
    """

    def __init__(self, M, *, selector="optimal", tie="first", tie_tol=TIE, random_state=0):
        self.M = check_matrix(M)
        self.tie_tol = check_scalar(tie_tol, "tie_tol", low=0)
        self.random_state = random_state
        self.selector, self.tie = selector, tie
        n = self.M.shape[1]
        if isinstance(tie, str):
            check_choice(tie, "tie", ("first", "last", "random"), also="an order of the columns")
            self._rank = np.arange(n)[::-1].copy() if tie == "last" else np.arange(n)
        else:
            order = np.asarray(tie)
            if order.shape != (n,) or sorted(order.tolist()) != list(range(n)):
                raise ValueError(f"tie must list each of the {n} columns once")
            self._rank = np.argsort(order)
        self._forced = np.zeros(0, np.int64)
        self._least = np.inf
        if isinstance(selector, str):
            check_choice(selector, "selector", ("optimal", "nonoptimal"), also="columns or a callable")
            if selector == "nonoptimal":
                from learnable.ensembles.adaboost_dynamics.margins import max_margin

                self._least = max_margin(self.M).value
        elif not callable(selector):
            forced = np.asarray(selector)
            if forced.ndim != 1 or forced.size == 0 or forced.dtype.kind not in "iu":
                raise ValueError("a sequence of columns must hold at least one integer")
            if forced.min() < 0 or forced.max() >= n:
                raise ValueError(f"the columns of the selector must lie between 0 and {n - 1}")
            self._forced = forced.astype(np.int64)

    def run(self, n_rounds, d0=None, *, lam0=None, keep_weights=True):
        """Run AdaBoost and return its `History`.

        Parameters
        ----------
        n_rounds : int
        d0 : array (m,), optional
            Weights to start from, with votes zero.
        lam0 : float or array (n,), optional
            Votes to start from (a number: the same for all columns); the weights follow. By default zero.
        keep_weights : bool, default=True
            Whether to keep all T + 1 weight vectors.
        """
        T = check_scalar(n_rounds, "n_rounds", low=1, integer=True)
        M = self.M
        m, n = M.shape
        if d0 is not None and lam0 is not None:
            raise ValueError("give either d0 or lam0: the votes determine the weights")
        lam = np.zeros(n)
        if lam0 is not None:
            lam0 = check_finite_array(lam0, "lam0")
            if lam0.shape not in ((), (n,)):
                raise ValueError(f"lam0 must be a number or {n} numbers")
            lam[:] = lam0
        scores = M @ lam
        with np.errstate(divide="ignore"):
            logs = np.log(check_start(d0, m)) if lam0 is None else scores.min() - scores
        d, state = _log_state(logs)
        total = np.abs(lam).sum()
        kept = np.empty((T + 1 if keep_weights else 0, m))
        columns, r, margins = np.empty(T, np.int64), np.empty(T), np.empty(T)
        start, record = _Start(d, state, lam, scores, total), _Record(kept, columns, r, margins)
        if callable(self.selector):
            done = self._run_callable(start, record)
        else:
            draws = check_rng(self.random_state).random(T if self.tie == "random" else 0)
            done = _run(M, start, _Choice(self._rank, self._least, self.tie_tol, self._forced, draws), record)
        if done < T and r[done] > 0.0:
            raise RuntimeError(
                f"the column of step {done} makes no error on the rows that have weight: its edge is one"
            )
        if done < T:
            raise RuntimeError(
                f"the column of step {done} is wrong on every row that has weight: its edge is minus one"
            )
        return History(kept if keep_weights else None, columns, r, margins, lam, scores, d)

    def _run_callable(self, start, record):
        d, small, lam, scores, total = start
        kept, columns, r, margins = record
        for t in range(len(columns)):
            if len(kept):
                kept[t] = d
            j = int(self.selector(d @ self.M, t))
            if not 0 <= j < self.M.shape[1]:
                raise ValueError(f"the selector returned column {j}, M has {self.M.shape[1]}")
            columns[t] = j
            r[t], alpha = _step(self.M, d, small, j)
            if not np.isfinite(alpha):
                return t
            lam[j] += alpha
            scores += alpha * self.M[:, j]
            total += abs(alpha)
            margins[t] = scores.min() / total if total > 0 else 0.0
        if len(kept):
            kept[-1] = d
        return len(columns)


class _Start(NamedTuple):
    """Where a run begins, and what it moves: weights, logarithms of tiny ones, votes, scores, sum of |votes|."""

    d: np.ndarray
    small: np.ndarray
    lam: np.ndarray
    scores: np.ndarray
    total: float


class _Choice(NamedTuple):
    """How a column is chosen: order among equals, smallest edge, tolerance, a given sequence, random numbers."""

    rank: np.ndarray
    least: float
    tie_tol: float
    forced: np.ndarray
    draws: np.ndarray


class _Record(NamedTuple):
    """What is written down in each round: weights before it, column, edge, margin after it."""

    kept: np.ndarray
    columns: np.ndarray
    r: np.ndarray
    margins: np.ndarray


def _log_state(logs):
    """Weights that sum to one from their logarithms, and the logarithms of those too small to be kept themselves.

    NaN marks the weights that are kept as they are.
    """
    logs = logs - np.logaddexp.reduce(logs)
    tiny = logs < -700.0  # where doubles lose digits
    return np.where(tiny, 0.0, np.exp(logs)), np.where(tiny, logs, np.nan)


@njit(cache=True)
def fill_edges(M, d, out):
    """Write dᵀM into `out`, adding the rows in their order."""
    m, n = M.shape
    for j in range(n):
        out[j] = 0.0
    for i in range(m):
        weight = d[i]
        if weight != 0.0:
            for j in range(n):
                out[j] += weight * M[i, j]


@njit(cache=True)
def lead(M, d, small, a, b):
    """(P − N)/(P + N), P and N the weights of the rows that only column a, only column b gets right; 0 for a tie.

    Same sign as the difference of the edges, but without its cancellation: two columns that differ on rows of weight
    1e-20 only are told apart.
    """
    m = d.size
    top = -np.inf
    for i in range(m):
        if M[i, a] != M[i, b]:
            top = max(top, np.log(d[i]) if np.isnan(small[i]) else small[i])
    if top == -np.inf:
        return 0.0
    difference = total = 0.0
    for i in range(m):
        if M[i, a] != M[i, b]:
            weight = np.exp((np.log(d[i]) if np.isnan(small[i]) else small[i]) - top)
            total += weight
            difference += weight if M[i, a] > 0.0 else -weight
    return difference / total


@njit(cache=True)
def pick(M, d, small, values, rank, least, tie_tol, draw):
    """The column to use: of lowest rank (or at random, for a draw in [0, 1)) among those that are allowed."""
    n = values.size
    best = 0
    for j in range(1, n):
        if values[j] > values[best]:
            best = j
    allowed = values >= min(values[best], least) - TIE
    if least >= values[best]:
        # The largest edge, or a tie: decide among the edges that rounding may have swapped.
        close = allowed.copy()
        for j in range(n):
            if close[j] and j != best and lead(M, d, small, j, best) > tie_tol:
                best = j
        for j in range(n):
            allowed[j] = close[j] and (j == best or lead(M, d, small, j, best) >= -tie_tol)
    if draw >= 0.0:
        wanted = int(draw * allowed.sum())
        for j in range(n):
            if allowed[j]:
                if wanted == 0:
                    return j
                wanted -= 1
    chosen = -1
    for j in range(n):
        if allowed[j] and (chosen < 0 or rank[j] < rank[chosen]):
            chosen = j
    return chosen


@njit(cache=True)
def _step(M, d, small, j):
    """Move d one step with column j, in place; return the edge and the vote ½ ln((1 + r)/(1 − r))."""
    m = d.size
    right = wrong = 0.0
    for i in range(m):
        if M[i, j] > 0.0:
            right += d[i]
        else:
            wrong += d[i]
    if wrong <= 0.0 or right <= 0.0:
        return right - wrong, np.inf
    log_right, log_wrong = np.log(2.0 * right), np.log(2.0 * wrong)
    total = 0.0
    for i in range(m):
        if np.isnan(small[i]):
            d[i] /= 2.0 * right if M[i, j] > 0.0 else 2.0 * wrong
            if d[i] < np.exp(SMALL):
                small[i] = np.log(d[i])
                d[i] = 0.0
        else:
            small[i] -= log_right if M[i, j] > 0.0 else log_wrong
            if small[i] > ALIVE:
                d[i] = np.exp(small[i])
                small[i] = np.nan
        total += d[i]
    for i in range(m):
        d[i] /= total
    return right - wrong, 0.5 * (log_right - log_wrong)


@njit(cache=True)
def _run(M, start, choice, record):
    m, n = M.shape
    d, small, lam, scores, total = start
    rank, least, tie_tol, forced, draws = choice
    kept, columns, r, margins = record
    values = np.empty(n)
    for t in range(columns.size):
        if kept.shape[0] > 0:
            kept[t] = d
        if forced.size > 0:
            j = forced[t % forced.size]
        else:
            fill_edges(M, d, values)
            j = pick(M, d, small, values, rank, least, tie_tol, draws[t] if draws.size > 0 else -1.0)
        columns[t] = j
        r[t], alpha = _step(M, d, small, j)
        if not np.isfinite(alpha):
            return t
        lam[j] += alpha
        total += abs(alpha)
        lowest = np.inf
        for i in range(m):
            scores[i] += alpha * M[i, j]
            lowest = min(lowest, scores[i])
        margins[t] = lowest / total if total > 0.0 else 0.0
    if kept.shape[0] > 0:
        kept[columns.size] = d
    return columns.size
