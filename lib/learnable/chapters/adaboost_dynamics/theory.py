"""AdaBoost on a matrix as a map of weights, matrices whose dynamics is known, and tools for runs that do not settle.

The map is that of `learnable.ensembles.margin_boosting.steps`. The 3 × 3 case reduces to a map of an interval, the
edges of the triangle with corners (0, ½, ½), (½, ½, 0), (½, 0, ½) laid out flat. The map is smooth within a region of
weights in which the same column leads, and jumps at the borders between regions: whatever looks like chaos comes from
the jumps. Source: Rudin, Daubechies and Schapire 2004.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numba import njit

from learnable.ensembles.margin_boosting.algorithms import _offset
from learnable.ensembles.margin_boosting.steps import TIE, check_matrix, fill_edges, pick
from learnable.ensembles.margins import minimax_margin
from learnable.validation import check_rng

# Weights below e^SMALL live on the log scale until they are above e^ALIVE again.
SMALL, ALIVE = -650.0, -640.0


def starting_weights(d, m):
    """Return weights on m rows, rescaled to sum one; None means equal weights."""
    return np.full(m, 1 / m) if d is None else np.asarray(d, float) / np.sum(d)


def edges(M, d):
    """Edges dᵀM of all columns: weight of the right rows minus weight of the wrong ones."""
    return starting_weights(d, len(M)) @ M


def iterated_map(M, d, j=None):
    """One step of AdaBoost in the weights alone: d_i / (1 + M_ij r), rescaled to sum one."""
    d = starting_weights(d, len(M))
    if j is None:
        values = d @ M
        j = int(np.flatnonzero(values >= values.max() - TIE)[0])
    right = M[:, j] > 0
    # 1 + r and 1 − r are twice the weights of the right and of the wrong rows; 1 − r itself would cancel.
    new = np.where(right, d / d[right].sum() if d[right].any() else 0.0, d / d[~right].sum()) / 2
    return new / new.sum()


def map_jacobian(M, d, j):
    """Derivative of the map d ↦ d_i / (1 + M_ij r) in d, for a fixed column j."""
    d = starting_weights(d, len(M))
    column = M[:, j]
    scale = 1 / (1 + column * (d @ column))
    return np.diag(scale) - np.outer(d * column * scale**2, column)


class History(NamedTuple):
    """What happened in a run of T steps."""

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
    """AdaBoost with a matrix of weak classifiers, with every choice it leaves open made explicit."""

    def __init__(self, M, *, selector="optimal", tie="first", tie_tol=TIE, random_state=0):
        self.M = check_matrix(M)
        self.tie_tol = tie_tol
        self.random_state = random_state
        self.selector, self.tie = selector, tie
        n = self.M.shape[1]
        if isinstance(tie, str):
            self._rank = np.arange(n)[::-1].copy() if tie == "last" else np.arange(n)
        else:
            self._rank = np.argsort(tie)
        self._forced = np.zeros(0, np.int64)
        self._least = np.inf
        if isinstance(selector, str):
            if selector == "nonoptimal":
                self._least = minimax_margin(self.M).value
        elif not callable(selector):
            self._forced = np.asarray(selector, np.int64)

    def run(self, n_rounds, d0=None, *, lam0=None, keep_weights=True):
        """Run AdaBoost and return its `History`."""
        M, T = self.M, n_rounds
        m, n = M.shape
        lam = np.zeros(n)
        if lam0 is not None:
            lam[:] = lam0
        scores = M @ lam
        with np.errstate(divide="ignore"):
            logs = np.log(starting_weights(d0, m)) if lam0 is None else scores.min() - scores
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
        if done < T:
            edge = "one" if r[done] > 0.0 else "minus one"
            raise RuntimeError(f"the column of step {done} has an edge of {edge}: no row with weight decides")
        return History(kept if keep_weights else None, columns, r, margins, lam, scores, d)

    def _run_callable(self, start, record):
        d, small, lam, scores, total = start
        kept, columns, r, margins = record
        for t in range(len(columns)):
            if len(kept):
                kept[t] = d
            columns[t] = j = int(self.selector(d @ self.M, t))
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
    """Weights that sum to one from their logarithms, and the logarithms of those too small to be kept themselves."""
    logs = logs - np.logaddexp.reduce(logs)
    tiny = logs < -700.0  # where doubles lose digits
    return np.where(tiny, 0.0, np.exp(logs)), np.where(tiny, logs, np.nan)


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


def coordinate_ascent(M, n_rounds, *, tie="first"):
    """Approximate coordinate ascent on the smooth margin −ln Σ exp(−(Mλ)_i) / ‖λ‖₁; AdaBoost while that is negative."""
    return _offset(M, n_rounds, 2, 0.0, tie)


def one_error_matrix(m):
    """The m × m matrix in which classifier j is wrong on example j only."""
    return 1.0 - 2.0 * np.eye(m)


def golden_cycles():
    """The two 3-cycles of the 3 × 3 matrix: an array (2, 3, 3) of weights, cycle by step by example."""
    small, middle = (3 - math.sqrt(5)) / 4, (math.sqrt(5) - 1) / 4
    first = np.array([[small, middle, 0.5], [0.5, small, middle], [middle, 0.5, small]])
    return np.array([first, first[:, [0, 2, 1]]])


def mm_beta1(m):
    """Smallest weight β₁ on a cycle of the m × m matrix: the root of β 2^m (1 − β)^(m−1) = 1 in (0, 1/m)."""
    beta = 2.0**-m
    for _ in range(60):
        value = math.log(beta) + m * math.log(2) + (m - 1) * math.log1p(-beta)
        # In ln β, so that β stays positive: d value / d ln β = 1 − (m − 1) β/(1 − β).
        step = -value / (1 - (m - 1) * beta / (1 - beta))
        new = beta * math.exp(step)
        if abs(new - beta) <= 1e-16 * beta:
            break
        beta = new
    return beta


def unfold(d):
    """Position in [0, 1.5) of weights along the inner triangle: from (0, ½, ½) by (½, ½, 0) and (½, 0, ½) back."""
    d = np.asarray(d, float)
    side = np.select([d[..., 1] == d.max(axis=-1), d[..., 0] == d.max(axis=-1)], [0, 1], 2)
    x = np.choose(side, [d[..., 0], 0.5 - d[..., 1], 0.5 - d[..., 0]])
    return np.mod(side / 2 + x, 1.5)


def unfolded_map(s):
    """One step of the 3 × 3 map in the position s: 1 − 1/(4(1 − s)) on (0, ¼), elsewhere a mirror image of that."""
    s = np.asarray(s, float)
    side = np.minimum((2 * s).astype(int), 2)
    x = s - side / 2
    # First half of a side: forward to the next side. Second half: mirrored, back to the side before.
    near = side / 2 + 1 - 1 / (4 * (1 - x))
    far = side / 2 - 0.5 + 1 / (4 * (0.5 + x))
    return np.mod(np.where(x < 0.25, near, far), 1.5)


def block_matrix(q):
    """Three classifiers; q₁, q₂, q₃ examples that only classifier 1, 2, 3 gets wrong, and q₄ that none does."""
    rows = np.vstack([one_error_matrix(3), np.ones((1, 3))])
    return np.repeat(rows, q, axis=0)


class Example(NamedTuple):
    """A matrix with the margin that is possible, the one that a cycle gives, and weights on that cycle."""

    M: np.ndarray
    rho: Fraction
    vote: tuple
    start: np.ndarray
    columns: tuple
    margin: Fraction
    optimal: bool


def counterexamples():
    """Matrices on which AdaBoost may miss the largest margin, and the curious 4-cycle of the 3 × 3 matrix."""
    five, two = math.sqrt(5), math.sqrt(2)
    eight = """-++++--+ -++--+++ +-+++-++ +-++-+++ +-+-+++- ++-++++- ++-+++-+ ++++--+-"""
    four = """-+++- +-++- ++-++ +++-+"""
    small, middle = (3 - five) / 8, (five - 1) / 8

    def read(text):
        return np.array([[1.0 if mark == "+" else -1.0 for mark in row] for row in text.split()])

    return {
        "8x8": Example(
            read(eight),
            Fraction(3, 8),
            tuple(Fraction(k, 16) for k in (2, 3, 4, 1, 2, 2, 1, 1)),
            np.array([small, small, 1 / 6, 1 / 6, 1 / 6, middle, middle, 0.0]),
            (0, 2, 1),
            Fraction(1, 3),
            True,
        ),
        "4x5": Example(
            read(four),
            Fraction(1, 2),
            (*[Fraction(1, 4)] * 4, Fraction(0)),
            np.array([small, small, 0.5, 2 * middle]),
            (4, 3, 2),
            Fraction(1, 3),
            False,
        ),
        "3x3, four steps": Example(
            one_error_matrix(3),
            Fraction(1, 3),
            (Fraction(1, 3),) * 3,
            np.array([0.5, 0.5 - two / 4, two / 4]),
            (1, 0, 2, 0),
            Fraction(1, 3),
            False,
        ),
    }


def random_matrix(m, n, p=0.6, random_state=0):
    """A random sign matrix: each entry is +1 with probability p, drawn row by row."""
    return np.where(check_rng(random_state).random((m, n)) < p, 1.0, -1.0)


def separation(M, n_rounds, d0=None, *, lam0=0.0, delta=1e-10, random_state=0, tie="first"):
    """Distance between two runs whose starting weights differ by about `delta` in a random direction."""
    booster = AdaBoostMatrix(M, tie=tie)
    base = booster.run(1, lam0=lam0).last if d0 is None else booster.run(1, d0).weights[0]
    nudge = check_rng(random_state).normal(size=base.size) * base
    nudge -= base * nudge.sum()
    shadow = np.maximum(base + delta * nudge / np.abs(nudge).max(), 0.0)
    return np.abs(booster.run(n_rounds, shadow).weights - booster.run(n_rounds, base).weights).max(axis=1)


class Crossing(NamedTuple):
    """At `step` the run leaves a stretch of `length` steps of period p: column `new` overtakes column `old`."""

    step: int
    length: int
    old: int
    new: int
    before: tuple
    after: tuple


def crossings(M, history, period, *, min_length=None):
    """Log of the steps at which a run that repeated its columns with a given period stops to do so."""
    p, columns = period, history.columns
    least = 10 * p if min_length is None else min_length
    log, length = [], 0
    for t in range(p, columns.size):
        if columns[t] == columns[t - p]:
            length += 1
            continue
        if length >= least:
            pair = [int(columns[t - p]), int(columns[t])]
            before, after = (tuple((history.weights[s] @ M[:, pair]).tolist()) for s in (t - p, t))
            log.append(Crossing(t, length, *pair, before, after))
        length = 0
    return log
