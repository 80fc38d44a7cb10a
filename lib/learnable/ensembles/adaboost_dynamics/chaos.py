"""Tools for runs that do not settle: two runs side by side, growth rates, recurrences, and where regions are crossed.

The map is smooth within a region of weights in which the same column leads, and jumps at the borders between regions.
Whatever looks like chaos comes from the jumps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from learnable.ensembles.adaboost_dynamics.dynamics import AdaBoostMatrix, check_matrix
from learnable.ensembles.weak_learners import stump_outputs
from learnable.validation import check_finite_array, check_has, check_rng, check_scalar

__all__ = ["Crossing", "crossings", "lyapunov", "random_matrix", "separation", "stump_matrix"]


def random_matrix(m, n, p=0.6, random_state=0):
    """A random sign matrix: each entry is +1 with probability p, drawn row by row.

    Parameters
    ----------
    m : int
        Number of examples.
    n : int
        Number of classifiers.
    p : float, default=0.6
        Probability of +1.
    random_state : None, int or Generator

    Examples
    --------
    >>> random_matrix(2, 3, random_state=1).astype(int).tolist()
    [[1, -1, 1], [-1, 1, 1]]
    """
    m, n = (check_scalar(k, name, low=1, integer=True) for k, name in ((m, "m"), (n, "n")))
    p = check_scalar(p, "p", low=0, high=1)
    return np.where(check_rng(random_state).random((m, n)) < p, 1.0, -1.0)


def separation(M, n_rounds, d0=None, *, lam0=0.0, delta=1e-10, random_state=0, tie="first"):
    """Distance between two runs whose starting weights differ by about `delta` in a random direction.

    Parameters
    ----------
    M : array (m, n) of ±1
    n_rounds : int
    d0 : array (m,), optional
        Start of the first run; by default the weights that follow one step from the votes `lam0`. Where columns are
        tied on the way, as they often are after equal weights, the runs part however small `delta` is: give a start
        without ties to ask about sensitivity.
    lam0 : float, default=0.0
        Start, as in `AdaBoostMatrix.run`.
    delta : float
        Largest difference of a weight at the start.
    random_state : int
        For the direction.
    tie : {"first", "last"}, default="first"
        Which of equally good columns is taken.

    Returns
    -------
    array (n_rounds + 1,)
        Largest difference of a weight, before each step and after the last.

    Examples
    --------
    >>> gap = separation(1 - 2 * np.eye(3), 50, [0.2, 0.3, 0.5], delta=1e-6)
    >>> bool(gap[-1] < 1e-9)
    True
    """
    booster = AdaBoostMatrix(M, tie=tie)
    delta = check_scalar(delta, "delta", low=0, closed="neither")
    base = booster.run(1, lam0=lam0).last if d0 is None else booster.run(1, d0).weights[0]
    nudge = check_rng(random_state).normal(size=base.size) * base
    nudge -= base * nudge.sum()
    shadow = np.maximum(base + delta * nudge / np.abs(nudge).max(), 0.0)
    return np.abs(booster.run(n_rounds, shadow).weights - booster.run(n_rounds, base).weights).max(axis=1)


def lyapunov(M, n_rounds, *, lam0=0.0, burn_in=1000, random_state=0, tie="first"):
    """Largest Lyapunov exponent per step along a run, jumps between regions ignored.

    A direction is carried along by the derivative of each step, and its growth averaged: the limit of a shadow run at
    an infinitely small distance, which never crosses a border by itself.

    Parameters
    ----------
    M : array (m, n) of ±1
    n_rounds : int
        Steps to average over, after `burn_in` others.
    lam0 : float
        Start, as in `AdaBoostMatrix.run`.
    burn_in : int, default=1000
        Steps before the average begins.
    random_state : int
        For the direction.
    tie : {"first", "last"}, default="first"
        Which of equally good columns is taken.

    Returns
    -------
    float
        Negative: neighbours that stay in the same regions approach each other. Zero: a manifold of cycles.

    Examples
    --------
    >>> round(lyapunov(1 - 2 * np.eye(3), 2000), 3)
    -0.962
    """
    M = check_matrix(M)
    T = check_scalar(n_rounds, "n_rounds", low=1, integer=True)
    burn_in = check_scalar(burn_in, "burn_in", low=0, integer=True)
    run = AdaBoostMatrix(M, tie=tie).run(burn_in + T, lam0=lam0)
    direction = check_rng(random_state).normal(size=len(M))
    direction -= direction.mean()
    return float(_tangent_growth(M, run.weights, run.columns, direction, burn_in) / T)


@njit(cache=True)
def _tangent_growth(M, weights, columns, v, burn_in):
    m = v.size
    growth = 0.0
    for t in range(columns.size):
        j = columns[t]
        r = change = 0.0
        for i in range(m):
            r += weights[t, i] * M[i, j]
            change += v[i] * M[i, j]
        size = mean = 0.0
        for i in range(m):
            s = 1.0 + M[i, j] * r
            v[i] = v[i] / s - weights[t, i] * M[i, j] * change / (s * s)
            mean += v[i]
        mean /= m
        for i in range(m):
            v[i] -= mean
            size += abs(v[i])
        if size == 0.0:
            return -np.inf
        for i in range(m):
            v[i] /= size
        if t >= burn_in:
            growth += np.log(size)
    return growth


def recurrence(weights, tol=1e-3):
    """Which pairs of times have nearly the same weights: a Boolean matrix for a recurrence plot.

    Parameters
    ----------
    weights : array (T, m)
    tol : float
        Largest difference in a coordinate.

    Examples
    --------
    >>> recurrence([[0.2, 0.8], [0.5, 0.5], [0.2, 0.8]]).astype(int).tolist()
    [[1, 0, 1], [0, 1, 0], [1, 0, 1]]
    """
    D = np.ascontiguousarray(check_finite_array(weights, "weights", ndim=2))
    return _near_pairs(D, check_scalar(tol, "tol", low=0))


@njit(cache=True)
def _near_pairs(D, tol):
    T, m = D.shape
    near = np.ones((T, T), np.bool_)
    for a in range(T):
        for b in range(a):
            for i in range(m):
                if abs(D[a, i] - D[b, i]) > tol:
                    near[a, b] = near[b, a] = False
                    break
    return near


@dataclass(frozen=True)
class Crossing:
    """At `step` the run leaves a stretch of `length` steps of period p: column `new` overtakes column `old`.

    ``before`` and ``after`` hold the edges of (old, new) one period earlier and at the step.
    """

    step: int
    length: int
    old: int
    new: int
    before: tuple
    after: tuple


def crossings(M, history, period, *, min_length=None):
    """Log of the steps at which a run that repeated its columns with a given period stops to do so.

    Parameters
    ----------
    M : array (m, n) of ±1
    history : History
        With its weights.
    period : int
    min_length : int, optional
        Shortest stretch that counts; by default ten periods.

    Returns
    -------
    list of Crossing

    Examples
    --------
    >>> M = 1 - 2 * np.eye(3)
    >>> crossings(M, AdaBoostMatrix(M).run(100), 3)
    []
    """
    M = check_matrix(M)
    check_has(history, "history", "weights columns", "a History, as AdaBoostMatrix.run returns it")
    p = check_scalar(period, "period", low=1, integer=True)
    least = 10 * p if min_length is None else check_scalar(min_length, "min_length", low=1, integer=True)
    if history.weights is None:
        raise ValueError("the history must hold its weights: run with keep_weights=True")
    columns = history.columns
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


def stump_matrix(X, y):
    """The matrix of all decision stumps on a sample, both signs, with repeated columns and rows taken once.

    Parameters
    ----------
    X : array (k, features)
    y : array (k,)
        Labels ±1.

    Returns
    -------
    M : array (m, n)
        Different rows of y_i h_j(x_i); columns that are no better than another column on every row are kept.
    label : array (k,)
        The row of M that each example belongs to.

    Examples
    --------
    >>> M, label = stump_matrix([[0.0], [1.0], [1.0], [2.0]], [1, -1, -1, 1])
    >>> M.shape, label.tolist()
    ((3, 6), [0, 2, 2, 1])
    """
    X = check_finite_array(X, "X", ndim=2)
    y = check_finite_array(y, "y", ndim=1)
    if len(X) != len(y) or not (np.abs(y) == 1).all():
        raise ValueError("y must hold a label ±1 for each row of X")
    full = y[:, None] * stump_outputs(X)
    rows, label = np.unique(full, axis=0, return_inverse=True)
    return np.unique(rows, axis=1), label.ravel()
