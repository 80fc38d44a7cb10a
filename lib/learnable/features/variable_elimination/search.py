"""Randomised elimination with a known and with an unknown number of relevant columns.

`rve` follows a schedule (Stracuzzi and Utgoff 2004, Table 2). `rvers` does not know how many columns matter: it keeps
an interval [r_min, r_max] for that number, follows the schedule of its midpoint, and lets streaks of successes and of
failures move the ends (Table 3). Once nothing lies between the ends, both become the number of columns that remain,
and columns are tried one at a time until failures speak against a single irrelevant one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from learnable.features.variable_elimination.schedule import (
    EliminationSchedule,
    expected_failures,
    fixed_schedule,
    rve_schedule,
)
from learnable.features.variable_elimination.wrappers import SubsetSearch, _Account
from learnable.validation import check_choice, check_has, check_rng, check_scalar, warn_not_converged

RULES = ("optimal", "ratio", "single")


@dataclass(frozen=True, eq=False)
class Elimination(SubsetSearch):
    """What `rve` and `rvers` return: a `SubsetSearch` with the way that led there.

    Attributes
    ----------
    removed_by : ndarray of int64 of shape (n_features,)
        For each column the number of the call that removed it, -1 if it stayed to the end.
    remaining : ndarray of int64 of shape (n_calls,)
        Number of columns after each call.
    brackets : ndarray of int64 of shape (n_calls, 3)
        r_min, r and r_max after each call; all equal to the known number in `rve`.
    """

    removed_by: np.ndarray
    remaining: np.ndarray
    brackets: np.ndarray

    def subset_after(self, call):
        """The columns that remain after a call.

        Parameters
        ----------
        call : int
            Number of the call; 0 is the training on all columns.

        Returns
        -------
        ndarray of int64
            The places, in order.
        """
        call = check_scalar(call, "call", low=0, high=self.n_calls - 1, integer=True)
        return np.flatnonzero((self.removed_by < 0) | (self.removed_by > call))


def rve(
    evaluator,
    n_relevant,
    *,
    cost="linear",
    rule="optimal",
    tol=0.0,
    compare_to="previous",
    return_best=False,
    max_calls=None,
    random_state=None,
):
    """Remove random batches until `n_relevant` columns are left (Stracuzzi and Utgoff 2004, Table 2).

    A batch goes if the error rises by no more than `tol`, otherwise it is put back and another one is drawn.

    Parameters
    ----------
    evaluator : SubsetEvaluator
        Gives the error of a subset.
    n_relevant : int or EliminationSchedule
        How many columns matter, or a schedule for that number.
    cost : {"constant", "log", "linear", "quadratic"}, callable, or array-like, default="linear"
        Cost of training, as in `training_cost`; the schedule hangs on its growth alone.
    rule : {"optimal", "ratio", "single"}, default="optimal"
        Sizes of batches: by dynamic programming, n // r, or one column at a time.
    tol : float, default=0.0
        By how much the error may rise at a step.
    compare_to : {"previous", "best"}, default="previous"
        Rise over the last accepted error, as in the source, or over the smallest error so far. With the former the
        error may creep up by `tol` at every step.
    return_best : bool, default=False
        Return the smallest of the accepted subsets within `tol` of the smallest error, instead of the last.
    max_calls : int, optional
        Give up after so many training runs; by default 100 times the expected number and 1000 more.
    random_state : None, int or Generator
        For the batches.

    Returns
    -------
    Elimination
        The columns and the account. On average sum 1/p⁺ calls if removing relevant columns, and nothing else, raises
        the error.

    Examples
    --------
    >>> from learnable.features.subsets import SubsetEvaluator
    >>> class Missing(SubsetEvaluator):  # the error is the number of relevant columns that are missing
    ...     def _error(self, columns):
    ...         return 3.0 - np.isin([4, 40, 80], columns).sum()
    >>> found = rve(Missing(100), 3, random_state=0)
    >>> found.kept, found.n_calls < 60
    (array([ 4, 40, 80]), True)
    """
    n, rng = _start(evaluator, tol, compare_to, rule, random_state)
    if isinstance(n_relevant, EliminationSchedule):
        schedule = n_relevant
        if schedule.n_features != n:
            raise ValueError(f"n_relevant: the schedule is for {schedule.n_features} columns, the evaluator has {n}")
    else:
        n_relevant = check_scalar(n_relevant, "n_relevant", low=0, high=n, integer=True)
        schedule = _schedule(n, min(n_relevant, n - 1), cost, rule)
    r = schedule.n_relevant if isinstance(n_relevant, EliminationSchedule) else n_relevant
    limit = _limit(max_calls, 1000 + 100 * int(schedule.expected_calls))
    way = _Way(evaluator, n, tol, compare_to, rng, (r, r, r))
    while way.n > r and way.n_calls < limit:
        way.step(min(int(schedule.batch[way.n]) or 1, way.n - r), (r, r, r))
    return way.close(way.n <= r, return_best, "rve")


def rvers(
    evaluator,
    *,
    r_min=2,
    r_max=None,
    cost="linear",
    rule="optimal",
    tol=0.002,
    c1=3.0,
    c2=0.3,
    compare_to="previous",
    return_best=False,
    max_calls=None,
    random_state=None,
):
    """Remove random batches while searching for the number of relevant columns (Stracuzzi and Utgoff 2004, Table 3).

    The batches are those of the midpoint r of [r_min, r_max]. After c1 E⁻ failures in a row r is taken to be too small
    and r_min moves up to it, after c2 (r - E⁻) successes in a row r_max moves down to it. When nothing lies between the
    ends any more, or fewer than r_min columns remain, all three become the number n of remaining columns, and again
    after every call: all columns but one are then taken to be relevant, and columns are tried one at a time. The search
    ends after c1 (n - 1) failures in a row, so that a single irrelevant column among the n is missed with probability
    about exp(-c1), wherever the interval has closed.

    Parameters
    ----------
    evaluator : SubsetEvaluator
        Gives the error of a subset.
    r_min : int, default=2
        Smallest number of columns that may matter; fewer are never left.
    r_max : int, optional
        Largest number; all columns by default. A small one makes large steps from the start.
    cost : {"constant", "log", "linear", "quadratic"}, callable, or array-like, default="linear"
        Cost of training, as in `training_cost`.
    rule : {"optimal", "ratio", "single"}, default="optimal"
        Sizes of batches: by dynamic programming, n // r, or one column at a time.
    tol : float, default=0.002
        By how much the error may rise at a step.
    c1, c2 : float, default=3.0 and 0.3
        Patience with failures (more than 1) and with successes (more than 0).
    compare_to : {"previous", "best"}, default="previous"
        Rise over the last accepted error, as in the source, or over the smallest error so far.
    return_best : bool, default=False
        Return the smallest of the accepted subsets within `tol` of the smallest error, instead of the last.
    max_calls : int, optional
        Give up after so many training runs; by default there is no limit, and the search always ends.
    random_state : None, int or Generator
        For the batches.

    Returns
    -------
    Elimination
        The columns and the account. A schedule costs O(N²/r) once for each r that the search visits, about log2(N).

    Examples
    --------
    >>> from learnable.features.subsets import SubsetEvaluator
    >>> class Missing(SubsetEvaluator):  # the error is the number of relevant columns that are missing
    ...     def _error(self, columns):
    ...         return 3.0 - np.isin([4, 40, 80], columns).sum()
    >>> found = rvers(Missing(100), r_max=20, random_state=0)
    >>> found.kept, found.n_calls < 120
    (array([ 4, 40, 80]), True)
    """
    n, rng = _start(evaluator, tol, compare_to, rule, random_state)
    r_min = check_scalar(r_min, "r_min", low=0, integer=True)
    r_max = max(n, r_min) if r_max is None else check_scalar(r_max, "r_max", low=1, integer=True)
    if r_min > r_max:
        raise ValueError(f"r_min must be at most r_max = {r_max}, got {r_min}")
    c1 = check_scalar(c1, "c1", low=1, high=1e6, closed="right")
    c2 = check_scalar(c2, "c2", low=0, closed="neither")
    limit = _limit(max_calls, None)
    least, low, high, tables = min(r_min, n), min(r_min, n), min(r_max, n), {}
    r, success, fail = (low + high) // 2, 0, 0
    way, done = _Way(evaluator, n, tol, compare_to, rng, (low, r, high)), n <= least
    while not done and (limit is None or way.n_calls < limit):
        believed = min(r, way.n - 1)  # at least one column is taken to be irrelevant, or there would be nothing to try
        k, failures = 1, float(believed)
        if believed < way.n - 1:
            if believed not in tables:
                tables[believed] = _schedule(n, believed, cost, rule).batch
            k = min(int(tables[believed][way.n]), way.n - least)
            failures = expected_failures(way.n, believed, k)
        last = way.n == low == high  # the interval has closed before, and columns are tried one at a time
        accepted = way.step(k, None)
        success, fail = (success + 1, 0) if accepted else (0, fail + 1)
        enough = fail >= max(1.0, c1 * failures)
        done = (last and enough) or way.n <= least
        if r <= low or way.n < low:
            r = low = high = way.n
        elif enough:
            low = r
            r, success, fail = (low + high) // 2, 0, 0
        elif success >= max(1.0, c2 * (believed - failures)):
            high = r
            r, success, fail = (low + high) // 2, 0, 0
        way.brackets[-1] = (low, r, high)
    return way.close(done, return_best, "rvers")


class _Way:
    """The state of an elimination: what remains, what it is compared with, and the account."""

    def __init__(self, evaluator, n, tol, compare_to, rng, bracket):
        self.evaluator, self.tol, self.compare_to, self.rng = evaluator, tol, compare_to, rng
        self.account, self.inside, self.brackets = _Account(), np.arange(n), [bracket]
        self.removed_by = np.full(n, -1)
        self.current = self.best = self.account.ask(evaluator, self.inside)
        self.account.accept(1)
        self.remaining = [n]

    @property
    def n(self):
        return len(self.inside)

    @property
    def n_calls(self):
        return len(self.remaining)

    def step(self, k, bracket):
        """Try to remove k columns drawn at random; tell whether they went."""
        places = self.rng.permutation(self.n)
        rest = np.sort(self.inside[places[k:]])
        error = self.account.ask(self.evaluator, rest)
        accepted = error - (self.current if self.compare_to == "previous" else self.best) <= self.tol
        if accepted:
            self.account.accept(1)
            self.removed_by[self.inside[places[:k]]] = self.n_calls
            self.inside, self.current, self.best = rest, error, min(self.best, error)
        self.remaining.append(len(self.inside))
        self.brackets.append(bracket)
        return accepted

    def close(self, done, return_best, what):
        sizes, errors, accepted = self.account.arrays()
        call = self.n_calls - 1
        if return_best:
            good = np.flatnonzero(accepted & (errors <= self.best + self.tol))
            call = int(good[-1])
        kept = np.flatnonzero((self.removed_by < 0) | (self.removed_by > call))
        error = errors[call] if return_best else self.current
        if not done:
            warn_not_converged(what, self.n_calls, None, None, "raise max_calls or tol", stacklevel=4)
        account = kept, float(error), len(self.removed_by), sizes, errors, accepted, self.n_calls, bool(done)
        return Elimination(*account, self.removed_by, np.array(self.remaining), np.array(self.brackets))


def _start(evaluator, tol, compare_to, rule, random_state):
    check_has(evaluator, "evaluator", "error n_features", "a SubsetEvaluator")
    check_scalar(tol, "tol", low=0)
    check_choice(compare_to, "compare_to", ("previous", "best"))
    check_choice(rule, "rule", RULES)
    return evaluator.n_features, check_rng(random_state)


def _schedule(n, r, cost, rule):
    return rve_schedule(n, r, cost) if rule == "optimal" else fixed_schedule(n, r, cost, rule=rule)


def _limit(max_calls, default):
    return default if max_calls is None else check_scalar(max_calls, "max_calls", low=1, integer=True)
