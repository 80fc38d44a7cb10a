"""The joint update: what two views' predictions say about every class, and the weights that follow.

For each class c the log-odds r_i = ln P(z_i ≠ c | predictions) / P(z_i = c | predictions) are kept for every instance.
A round multiplies the odds by one factor for each view, which depends on whether that view said c. The factors are
chosen to minimise the bound Σ_i exp(±r_i) of the number of errors (Wu and Cheng 2014, Sec. 3.1.2). In logarithms it is
a sum of exponentials of linear functions, so it is convex, and the fixed-point equations (14) of the source are exact
minimisations along one coordinate after the other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from learnable.validation import Result, check_finite_array, check_scalar, warn_not_converged


@dataclass(frozen=True, eq=False)
class CoBoostUpdate(Result):
    """What :func:`coboost_update` returns.

    Attributes
    ----------
    log_odds : ndarray of shape (n, C)
        ln P(not c) / P(c) after the round.
    weights : ndarray of shape (n,)
        Of the instances in the next round, proportional to exp(log_odds) of their own class; they sum to one.
    ratios : ndarray of shape (C, V, 2)
        Of each class and view, see ``FusionRatios`` of the chapter.
    bounds : ndarray of shape (C,)
        Σ_i exp(±log_odds), the bound of each class after the round.
    errors : ndarray of shape (C,)
        How many instances the sign of the log-odds gets wrong; at most the bound.
    n_iter : int
        Largest number of iterations over the classes.
    converged : bool
    residual : float
    """

    log_odds: np.ndarray
    weights: np.ndarray
    ratios: np.ndarray
    bounds: np.ndarray
    errors: np.ndarray
    n_iter: int
    converged: bool
    residual: float


def coboost_update(log_odds, predictions, y, *, smoothing=0.5, max_iter=1000, tol=1e-8):
    """One round of the joint update of all classes (Wu and Cheng 2014, Alg. 3).

    The log-odds of *every* class and instance move by -ln α of each view; the weight of an instance is the odds against
    its own class. Every bound falls or stays, with any smoothing: a sum that is added to all S adds terms of the form
    x + 1/x, which are smallest where no ratio moves.

    Parameters
    ----------
    log_odds : array-like of shape (n, C)
        ln P(not c) / P(c) before the round; ln(C - 1) at the start.
    predictions : array-like of int, shape (V, n)
        The class 0..C-1 that each view's classifier says.
    y : array-like of int, shape (n,)
        The true classes 0..C-1.
    smoothing : float, default=0.5
        In units of the mean exponential of the class; each sum S gets so much. Zero is refused as soon as a classifier
        is never wrong about a class.
    max_iter, tol : int, float
        See ``fusion_ratios`` of the chapter.

    Returns
    -------
    CoBoostUpdate

    Notes
    -----
    O(nCV) for the sums and O(C V 2^V) for each iteration.

    Examples
    --------
    >>> start = np.full((4, 2), 0.0)
    >>> after = coboost_update(start, [[0, 0, 1, 1], [0, 1, 1, 1]], [0, 0, 1, 0])
    >>> after.weights.round(2).tolist(), after.errors.tolist()
    ([0.18, 0.18, 0.32, 0.32], [1, 1])
    """
    r = check_finite_array(log_odds, "log_odds", ndim=2)
    n, C = r.shape
    if n == 0 or C < 2:
        raise ValueError(f"log_odds must have a row for each instance and at least two classes, got shape {r.shape}")
    predictions = _codes(predictions, "predictions", 2, n, C)
    y = _codes(y, "y", 1, n, C)
    smoothing = check_scalar(smoothing, "smoothing", low=0)
    max_iter = check_scalar(max_iter, "max_iter", low=1, integer=True)
    tol = check_scalar(tol, "tol", low=0)
    V = len(predictions)
    after, ratios = np.empty_like(r), np.empty((C, V, 2))
    bounds, errors, n_iter, residual = np.empty(C), np.empty(C, dtype=np.int64), 0, 0.0
    for c in range(C):
        own, said = y == c, predictions == c
        loss = np.where(own, r[:, c], -r[:, c])
        top = loss.max()
        S = _sums(loss - top, _groups(said), own, V)
        S = S + smoothing * S.sum() / n
        _refuse_infinite(S, V)
        u, _, rounds, rest = _descend(S / S.max(), V, max_iter, tol)
        after[:, c] = r[:, c] - np.where(said, u[:, :1], u[:, 1:]).sum(axis=0)
        loss = np.where(own, after[:, c], -after[:, c])
        ratios[c], bounds[c] = np.exp(u), np.exp(np.minimum(loss, 700.0)).sum()
        errors[c] = np.count_nonzero(np.where(own, after[:, c] >= 0, after[:, c] < 0))
        n_iter, residual = max(n_iter, rounds), max(residual, rest)
    if residual > tol:
        warn_not_converged("coboost_update", n_iter, residual, tol, "raise smoothing or max_iter")
    mine = after[np.arange(n), y]
    weights = np.exp(mine - mine.max())
    return CoBoostUpdate(
        after, weights / weights.sum(), ratios, bounds, errors, n_iter, bool(residual <= tol), float(residual)
    )


def _codes(values, name, ndim, n, C):
    values = np.asarray(values)
    if values.ndim != ndim or values.shape[-1:] != (n,) or values.dtype.kind not in "iu" or len(values) == 0:
        wanted = f"(V, {n})" if ndim == 2 else f"({n},)"
        raise ValueError(f"{name} must be integers of shape {wanted}, got {values.dtype} of shape {values.shape}")
    if values.min() < 0 or values.max() >= C:
        raise ValueError(f"{name} must hold classes 0..{C - 1}, got {values.min()} to {values.max()}")
    return values.astype(np.int64)


def _groups(said):
    """Number of the group of each instance: the first view is the highest bit, 0 stands for "says c"."""
    bits = 1 << np.arange(len(said) - 1, -1, -1)
    return bits @ ~said


def _sums(loss, group, own, V):
    return np.bincount(2 * group + ~own, np.exp(loss), minlength=2 ** (V + 1))


def _refuse_infinite(S, V):
    """Refuse sums for which a ratio would be zero or infinite."""
    table = S.reshape((2,) * V + (2,))
    for v in range(V):
        sides = np.moveaxis(table, v, 0).reshape(2, -1, 2).sum(axis=1)
        if ((sides == 0).sum(axis=1) == 1).any():
            raise ValueError(
                f"smoothing must be positive: view {v} is never wrong, or never right, in what it says of the class, "
                "which makes a ratio infinite"
            )


@njit(cache=True)
def _descend(S, V, max_iter, tol):
    """Exact minimisation along one ratio after the other; returns logarithms, bound, rounds and residual."""
    groups = len(S) // 2
    u = np.zeros((V, 2))
    logs = np.zeros(groups)
    bound, residual = 0.0, np.inf
    rounds = 0
    while rounds < max_iter and residual > tol:
        rounds += 1
        for v in range(V):
            for side in range(2):
                # Along one u the bound is A e^(−u) + B e^u, smallest at ½ ln(A/B); bit v of g is what view v said.
                for_c, against = 0.0, 0.0
                for g in range(groups):
                    if (g >> (V - 1 - v)) & 1 == side:
                        for_c += S[2 * g] * np.exp(-logs[g])
                        against += S[2 * g + 1] * np.exp(logs[g])
                if for_c > 0.0 and against > 0.0:
                    step = 0.5 * np.log(for_c / against)
                    u[v, side] += step
                    for g in range(groups):
                        if (g >> (V - 1 - v)) & 1 == side:
                            logs[g] += step
        bound, residual = 0.0, 0.0
        for g in range(groups):
            bound += S[2 * g] * np.exp(-logs[g]) + S[2 * g + 1] * np.exp(logs[g])
        for v in range(V):
            for side in range(2):
                slope = 0.0
                for g in range(groups):
                    if (g >> (V - 1 - v)) & 1 == side:
                        slope += S[2 * g + 1] * np.exp(logs[g]) - S[2 * g] * np.exp(-logs[g])
                residual = max(residual, abs(slope) / bound)
    return u, bound, rounds, residual
