"""Cycles of the map: found by running, checked, solved for a given order of columns, and turned into margins.

On a cycle of length T every row obeys either d_i = 0 or Π_t (1 + M_{i j_t} r_t) = 1 (the cycle condition). The rows
with weight are the *support vectors*; they share the smallest margin, which depends on the edges alone (Rudin et al.
2004, theorem 4). The m × m matrix of one error for each column has (m − 1)! cycles, each the orbit of one geometric
sequence of weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit
from scipy.optimize import linprog

from learnable._inner import assign
from learnable.chapters.adaboost_dynamics.theory import (
    AdaBoostMatrix,
    _step,
    map_jacobian,
    mm_beta1,
    starting_weights,
)
from learnable.ensembles.margin_boosting.steps import fill_edges, pick
from learnable.ensembles.margins import minimax_margin

# Below this a weight on a settled cycle counts as gone.
GONE = 1e-9


def cycle_margin(r):
    """Margin that a cycle with these edges produces: −ln Π(1 − r_t²) / ln Π((1 + r_t)/(1 − r_t))."""
    up, down = np.log1p(r).sum(), np.log1p(-r).sum()
    return float(-(up + down) / (up - down))


@dataclass(frozen=True)
class Cycle:
    """A cycle of the map."""

    weights: np.ndarray
    columns: np.ndarray
    edges: np.ndarray
    support: np.ndarray
    start: int = 0

    @classmethod
    def of(cls, M, weights, columns, edges, start=0):
        """The cycle with its support vectors: rows with a weight above 1e-9 that obey the cycle condition."""
        growth = np.log1p(M[:, columns] * edges).sum(axis=1)
        kept = (weights.max(axis=0) > GONE) & (growth < 1e-8)
        return cls(weights, columns, edges, np.flatnonzero(kept), start)

    @property
    def period(self):
        """Smallest T with d_{t+T} = d_t."""
        return len(self.columns)

    @property
    def edge_period(self):
        """Smallest period of the edges alone, which may be a divisor of the period."""
        return smallest_period(self.edges, tol=1e-9)

    @property
    def used(self):
        """The different columns of the cycle."""
        return np.unique(self.columns)

    @property
    def margin(self):
        """The margin AdaBoost converges to, from the edges alone."""
        return cycle_margin(self.edges)

    def votes(self, n):
        """λ of the limit: Σ_t ½ ln((1 + r_t)/(1 − r_t)) e_{j_t}, rescaled to sum one, for n columns."""
        lam = np.bincount(self.columns, np.arctanh(self.edges), n)
        return lam / lam.sum()


def mm_cycle(m, order=None):
    """The cycle of the m × m matrix that uses the columns in the given order, in closed form."""
    beta1 = mm_beta1(m)
    order = np.arange(m) if order is None else np.asarray(order)
    # β_i = ½ [2(1 − β₁)]^(i − m): from the largest down, so that the last is exactly one half.
    beta = 0.5 * (2 * (1 - beta1)) ** np.arange(1 - m, 1, dtype=float)
    weights = np.empty((m, m))
    for t in range(m):
        weights[t, order] = np.roll(beta, t)
    return Cycle(weights, order.copy(), np.full(m, 1 - 2 * beta1), np.arange(m))


def smallest_period(values, tol=0.0):
    """Smallest p that divides the length and shifts the (cyclic) sequence onto itself, within `tol`."""
    T = len(values)
    for p in range(1, T):
        if T % p == 0 and np.abs(values - np.roll(values, p)).max() <= tol:
            return p
    return T


def find_cycle(M, d0=None, *, lam0=None, max_iter=100_000, tol=1e-11, selector="optimal", tie="first", tie_tol=1e-12):
    """Run the map until it cycles; return the `Cycle`, or None if no cycle shows within `max_iter` steps."""
    booster = AdaBoostMatrix(M, selector=selector, tie=tie, tie_tol=tie_tol)
    M = booster.M
    if lam0 is None:
        d = starting_weights(d0, len(M))
    else:
        scores = M @ (np.zeros(M.shape[1]) + lam0)
        d = np.exp(scores.min() - scores)
        d /= d.sum()
    settings = (booster._rank, booster._least, booster.tie_tol, booster._forced)
    small = np.where(d > 0, np.nan, -np.inf)
    done, t = _search(M, d, small, 0, max_iter, tol, *settings)
    if done <= 0:
        return None
    weights, columns, edges = np.empty((done, len(M))), np.empty(done, np.int64), np.empty(done)
    _record(M, d, small, t, *settings, weights, columns, edges)
    # An orbit that spirals into its cycle may first return after a multiple of the period.
    period = next(
        p
        for p in range(1, done + 1)
        if done % p == 0 and np.abs(weights - np.roll(weights, p, axis=0)).max() <= max(tol, 1e-12)
    )
    return Cycle.of(M, weights[:period], columns[:period], edges[:period], t)


@njit(cache=True)
def _advance(M, d, small, t, values, rank, least, tie_tol, forced):
    if forced.size > 0:
        j = forced[t % forced.size]
    else:
        fill_edges(M, d, values)
        j = pick(M, d, small, values, rank, least, tie_tol, -1.0)
    _, alpha = _step(M, d, small, j)
    return j if np.isfinite(alpha) else -1


@njit(cache=True)
def _distance(a, b):
    largest = 0.0
    for i in range(a.size):
        largest = max(largest, abs(a[i] - b[i]))
    return largest


@njit(cache=True)
def _record(M, d, small, t, rank, least, tie_tol, forced, weights, columns, edges):
    values = np.empty(M.shape[1])
    for s in range(columns.size):
        weights[s] = d
        j = _advance(M, d, small, t + s, values, rank, least, tie_tol, forced)
        columns[s] = j
        edges[s] = 0.0
        for i in range(d.size):
            edges[s] += weights[s, i] * M[i, j]


@njit(cache=True)
def _alike(M, d, a, b):
    """Whether two columns agree on all rows with weight."""
    for i in range(d.size):
        if M[i, a] != M[i, b] and d[i] > GONE:
            return False
    return True


@njit(cache=True)
def _tiny(d, small, i):
    """Logarithm of a weight that is too small to matter; NaN for others."""
    if not np.isnan(small[i]):
        return small[i]
    return np.log(d[i]) if d[i] < GONE else np.nan


@njit(cache=True)
def _settle(M, d, small, t, lag, turns, values, rank, least, tie_tol, forced):
    """Follow a presumed cycle until a turn changes nothing; return whether it lasts, and the step."""
    m = d.size
    columns = np.empty(lag, np.int64)
    before, quiet, turn = np.inf, 0, 0
    log_start = np.array([_tiny(d, small, i) for i in range(m)])
    while turn < turns:
        start = d.copy()
        for s in range(lag):
            j = _advance(M, d, small, t, values, rank, least, tie_tol, forced)
            t += 1
            if j < 0:
                return False, t
            if turn == 0:
                columns[s] = j
            elif columns[s] != j and not _alike(M, d, columns[s], j):
                return False, t
        turn += 1
        change = _distance(d, start)
        quiet = 0 if change < before else quiet + 1
        before = min(before, change)
        if turn >= 10 and (change <= 2e-16 or quiet >= 20):
            break
    for i in range(m):
        # A weight that has all but vanished and grows again will end the cycle, sooner or later.
        now = _tiny(d, small, i)
        if not np.isnan(log_start[i]) and (np.isnan(now) or now > log_start[i] + 1e-6 * turn):
            return False, t
    return True, t


@njit(cache=True)
def _search(M, d, small, t, max_iter, tol, rank, least, tie_tol, forced):
    """Period, and the step at which d lies on the settled cycle; period 0 if none was found."""
    values = np.empty(M.shape[1])
    mark = d.copy()
    power, lag = 1, 0
    while t < max_iter:
        j = _advance(M, d, small, t, values, rank, least, tie_tol, forced)
        t += 1
        if j < 0:
            return 0, t
        lag += 1
        if _distance(d, mark) <= tol and (forced.size == 0 or lag % forced.size == 0):
            turns = max(10, max_iter // lag)
            lasts, t = _settle(M, d, small, t, lag, turns, values, rank, least, tie_tol, forced)
            if lasts:
                return lag, t
            assign(mark, d)
            power, lag = 1, 0
        elif lag == power:
            assign(mark, d)
            power *= 2
            lag = 0
    return 0, t


class CycleCheck(NamedTuple):
    """What `verify_cycle` found."""

    closes: float
    growth: np.ndarray
    conditions: bool
    gap: float
    multipliers: np.ndarray
    neutral: int
    stable: bool


def verify_cycle(M, cycle, *, tol=1e-8):
    """Check closure, cycle conditions, the lead of the chosen edges, and linear stability."""
    m = len(M)
    steps = AdaBoostMatrix(M, selector=cycle.columns).run(cycle.period, cycle.weights[0])
    growth = np.log1p(M[:, cycle.columns] * cycle.edges).sum(axis=1)
    supported = np.zeros(m, bool)
    supported[cycle.support] = True
    fine = bool((np.abs(growth[supported]) <= tol).all() and (growth[~supported] > -tol).all())
    values = cycle.weights @ M
    own = values[np.arange(cycle.period), cycle.columns]
    heavy = M[supported]
    rivals = (heavy[:, :, None] != heavy[:, None, cycle.columns]).any(axis=0).T
    gap = float((own[:, None] - values)[rivals].min(initial=np.inf))
    # The columns of Q span the directions whose entries sum to zero. Every factor is projected: the direction across
    # the simplex is repelling, and would swamp the others in a long product.
    Q = np.linalg.qr(np.column_stack([np.ones(m), np.eye(m)[:, 1:]]))[0][:, 1:]
    product = np.eye(m - 1)
    for d, j in zip(cycle.weights, cycle.columns, strict=True):
        product = Q.T @ map_jacobian(M, d, j) @ Q @ product
    moduli = np.sort(np.abs(np.linalg.eigvals(product)))[::-1]
    neutral = int((np.abs(moduli - 1) <= 1e-6).sum())
    stable = bool(gap > 0 and moduli[neutral:].max(initial=0.0) < 1 and moduli[:neutral].max(initial=0.0) <= 1 + 1e-6)
    return CycleCheck(float(np.abs(steps.last - cycle.weights[0]).max()), growth, fine, gap, moduli, neutral, stable)


class MaxMarginCheck(NamedTuple):
    """Conditions under which a cycle is sure to produce the largest margin (Rudin et al. 2004, theorem 5)."""

    columns_suffice: bool
    equal_margins: bool
    invertible: bool
    sure: bool
    reached: bool
    margin: float
    rho: float


def theorem5_check(M, cycle, *, tol=1e-8):
    """Test the three conditions of a `MaxMarginCheck` for a cycle to reach the largest margin, and whether it does."""
    inner = M[np.ix_(cycle.support, cycle.used)]
    rho = minimax_margin(M).value
    suffices = abs(minimax_margin(inner).value - rho) <= tol
    k = inner.shape[1]
    # The vote whose margins are as near to ρ as possible, in the largest deviation.
    slack = np.ones((len(inner), 1))
    answer = linprog(
        np.append(np.zeros(k), 1.0),
        A_ub=np.vstack([np.hstack([inner, -slack]), np.hstack([-inner, -slack])]),
        b_ub=np.concatenate([np.full(len(inner), rho), np.full(len(inner), -rho)]),
        A_eq=np.append(np.ones(k), 0.0)[None, :],
        b_eq=[1.0],
        method="highs",
    )
    square = inner.shape[0] == k and np.linalg.matrix_rank(inner) == k
    equal = answer.status == 0 and answer.fun <= 10 * tol
    reached = abs(cycle.margin - rho) <= 1e-6
    return MaxMarginCheck(
        bool(suffices), bool(equal), bool(square), bool(suffices and equal and square), bool(reached), cycle.margin, rho
    )
