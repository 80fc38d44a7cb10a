"""How many columns to remove at once: a small dynamic programme (Stracuzzi and Utgoff 2004, Sec. 4).

Of n columns, r matter. A batch of k drawn at random holds none of those with probability p⁺(n, r, k), so that a batch
is drawn 1/p⁺ times on average until one may go, and every try trains a model on n - k columns, at a cost M(n - k). The
expected cost of removing all n - r irrelevant columns obeys

    I_sum(n) = min_k  M(n - k) / p⁺(n, r, k) + I_sum(n - k),        I_sum(r) = 0,

and the minimising k is the schedule. `rve_schedule` solves it, `fixed_schedule` gives the cost of two simpler rules.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numba import njit

from learnable.validation import Result, check_choice, check_finite_array, check_scalar

COSTS = {
    "constant": np.ones_like,
    "log": lambda n: np.log2(n + 1) + 1,
    "linear": lambda n: n + 1,
    "quadratic": lambda n: (n + 1) ** 2,
}


@dataclass(frozen=True, eq=False)
class EliminationSchedule(Result):
    """How many columns to remove when n are left, and what that costs on average. Made by `rve_schedule`.

    Attributes
    ----------
    n_relevant : int
        The number r of columns that matter; the schedule ends there.
    batch : ndarray of int64 of shape (n_features + 1,)
        k for each number n of remaining columns; 0 for n <= r.
    cost_to_go : ndarray of shape (n_features + 1,)
        I_sum(n), the expected cost of removing all irrelevant columns when n are left; 0 for n <= r.
    training_cost : ndarray of shape (n_features + 1,)
        M(n), the cost of one training run with n columns.
    """

    n_relevant: int
    batch: np.ndarray
    cost_to_go: np.ndarray
    training_cost: np.ndarray

    @property
    def n_features(self):
        """Number of columns at the start."""
        return len(self.batch) - 1

    @property
    def steps(self):
        """Sizes of the batches from all columns down to the relevant ones."""
        n, found = self.n_features, []
        while n > self.n_relevant:
            found.append(int(self.batch[n]))
            n -= found[-1]
        return found

    @property
    def expected_cost(self):
        """Expected cost of the whole elimination, I_sum(N); the first training on all columns comes on top."""
        return float(self.cost_to_go[-1])

    @property
    def expected_calls(self):
        """Expected number of training runs, the sum of 1 / p⁺ over the steps; without the first one."""
        n, total = self.n_features, 0.0
        for k in self.steps:
            total += 1 + expected_failures(n, self.n_relevant, k)
            n -= k
        return total

    @property
    def cost_ratio(self):
        """Expected cost in units of one training run on all columns, I_sum(N) / M(N)."""
        return self.expected_cost / float(self.training_cost[-1])


def expected_failures(n, r, k):
    """Expected number of batches with a relevant column before the first one without, E⁻ = (1 - p⁺) / p⁺.

    Parameters
    ----------
    n : int
        Number of columns.
    r : int
        How many of them are relevant.
    k : int
        How many are drawn.

    Returns
    -------
    float
        The expectation; infinite if no batch can succeed. Cost O(1).

    Examples
    --------
    >>> round(expected_failures(11, 10, 1), 9)
    10.0
    >>> expected_failures(5, 3, 3)
    inf
    """
    n, r, k = _sizes(n, r, k)
    return math.expm1(-_log_success(n, r, k)) if k <= n - r else math.inf


def training_cost(cost, n_features):
    """Cost M(n) of one training run for n = 0, ..., N.

    Parameters
    ----------
    cost : {"constant", "log", "linear", "quadratic"}, callable, or array-like of shape (n_features + 1,)
        The order of growth (1, log2(n + 1) + 1, n + 1, (n + 1)²), a function of an array of numbers of columns, or
        the values. Positive and never falling.
    n_features : int
        N.

    Returns
    -------
    ndarray of shape (n_features + 1,)
        The values.

    Examples
    --------
    >>> training_cost("quadratic", 3)
    array([ 1.,  4.,  9., 16.])
    """
    n_features = check_scalar(n_features, "n_features", low=1, integer=True)
    sizes = np.arange(n_features + 1, dtype=float)
    if isinstance(cost, str):
        values = COSTS[check_choice(cost, "cost", tuple(COSTS))](sizes)
    else:
        values = check_finite_array(cost(sizes) if callable(cost) else cost, "cost", ndim=1).astype(float)
    if len(values) != n_features + 1:
        raise ValueError(f"cost must have {n_features + 1} values, one for each number of columns, got {len(values)}")
    if (np.diff(values) < 0).any() or values[0] < 0 or values[-1] <= 0:
        raise ValueError("cost must be positive and must not fall as columns are added")
    return values


def rve_schedule(n_features, n_relevant, cost="linear"):
    """The cheapest sizes of batches, by dynamic programming (Stracuzzi and Utgoff 2004, Table 1).

    Parameters
    ----------
    n_features : int
        N, the number of columns at the start.
    n_relevant : int
        r, how many of them matter, less than N.
    cost : {"constant", "log", "linear", "quadratic"}, callable, or array-like, default="linear"
        Cost of training, as in `training_cost`.

    Returns
    -------
    EliminationSchedule
        The batches and the expected costs. Exact. A batch is not looked at once 1 / p⁺ tries with the smallest model
        cost more than the best batch so far; cost O(N²/r), and O(N²) where training costs nothing.

    Examples
    --------
    >>> schedule = rve_schedule(100, 10, lambda n: 1_897_000 * (n + 1))
    >>> schedule.steps[:6], len(schedule.steps)
    ([9, 8, 8, 7, 6, 6], 27)
    >>> round(schedule.expected_cost / 1e9, 3), round(schedule.expected_calls, 1)
    (5.512, 89.5)
    """
    n_features, n_relevant, values = _problem(n_features, n_relevant, cost)
    return EliminationSchedule(n_relevant, *_optimal(n_relevant, values), values)


def fixed_schedule(n_features, n_relevant, cost="linear", *, rule="ratio"):
    """The expected cost of a rule that needs no table: k = n // r, or one column at a time.

    Parameters
    ----------
    n_features : int
        N, the number of columns at the start.
    n_relevant : int
        r, how many of them matter, less than N.
    cost : {"constant", "log", "linear", "quadratic"}, callable, or array-like, default="linear"
        Cost of training, as in `training_cost`.
    rule : {"ratio", "single"}, default="ratio"
        k = max(1, n // r), never more than n - r (Stracuzzi and Utgoff 2004, Sec. 4.2.1), or k = 1 (Sec. 4.2.2).

    Returns
    -------
    EliminationSchedule
        The batches and the expected costs. Cost O(N).

    Examples
    --------
    >>> round(fixed_schedule(100, 10, lambda n: 1_897_000 * (n + 1)).expected_cost / 1e9, 3)
    5.515
    >>> round(fixed_schedule(100, 10, rule="single").expected_calls, 1)
    140.8
    """
    n_features, n_relevant, values = _problem(n_features, n_relevant, cost)
    check_choice(rule, "rule", ("ratio", "single"))
    n = np.arange(n_features + 1)
    batch = np.ones_like(n) if rule == "single" else np.clip(n // max(n_relevant, 1), 1, np.maximum(n - n_relevant, 1))
    batch[: n_relevant + 1] = 0
    return EliminationSchedule(n_relevant, batch, _cost_of(n_relevant, values, batch), values)


def _problem(n_features, n_relevant, cost):
    n_features = check_scalar(n_features, "n_features", low=1, integer=True)
    n_relevant = check_scalar(n_relevant, "n_relevant", low=0, high=n_features - 1, integer=True)
    return n_features, n_relevant, training_cost(cost, n_features)


def _sizes(n, r, k):
    n = check_scalar(n, "n", low=1, high=2**53, integer=True)
    return n, check_scalar(r, "r", low=0, high=n, integer=True), check_scalar(k, "k", low=1, high=n, integer=True)


def _log_success(n, r, k):
    """log p⁺ for k <= n - r: the sum of log(1 - many/t) over the `few` whole numbers t up to n.

    If both r and k are large, the sum is an integral with the corrections of Euler and Maclaurin. Gamma functions of n
    would cancel: for n = 10¹² their differences are right to 0.01 only.
    """
    # p⁺ is symmetric in r and k: C(n - r, k) / C(n, k) = C(n - k, r) / C(n, r).
    few, many = min(r, k), max(r, k)
    if few <= 4096:
        return math.fsum(math.log1p(-many / (n - i)) for i in range(few))
    first = n - few + 1
    # The corrections need some distance from the pole at t = many.
    direct = [math.log1p(-many / t) for t in range(first, first + 64)]
    low, high = first - many + 63.5, n - many + 0.5
    # Panels that double, so that each is as far from the pole as it is long.
    edges = np.minimum(low * 2.0 ** np.arange(math.ceil(math.log2(high / low)) + 1), high)
    nodes, weights = np.polynomial.legendre.leggauss(20)
    half = np.diff(edges) / 2
    u = edges[:-1] + half * (nodes[:, None] + 1)
    integral = weights @ np.log1p(-many / (u + many)) @ half
    ends = np.array([high, low])
    # 1/u - 1/(u + many), without the difference.
    slope = many / (ends * (ends + many))
    third = 2 * slope * (1 / ends**2 + 1 / (ends * (ends + many)) + 1 / (ends + many) ** 2)
    rest = -(slope[0] - slope[1]) / 24 + 7 * (third[0] - third[1]) / 5760
    return math.fsum([*direct, float(integral), float(rest)])


@njit(cache=True)
def _optimal(r, cost):
    """k_opt(n) and I_sum(n) for all n."""
    size = len(cost)
    batch, total = np.zeros(size, dtype=np.int64), np.zeros(size)
    for n in range(r + 1, size):
        best, p = np.inf, 1.0
        for k in range(1, n - r + 1):
            p *= (n - r - k + 1) / (n - k + 1)
            if cost[r] > best * p:  # p falls with k, and no model is cheaper than the smallest one
                break
            value = cost[n - k] / p + total[n - k] if p > 0 else np.inf
            if value < best:
                best = value
                batch[n] = k
        total[n] = best
    return batch, total


@njit(cache=True)
def _cost_of(r, cost, batch):
    """I_sum(n) for given batches."""
    total = np.zeros(len(cost))
    for n in range(r + 1, len(cost)):
        k, p = batch[n], 1.0
        for i in range(k):
            p *= (n - r - i) / (n - i)
        total[n] = cost[n - k] / p + total[n - k]
    return total
