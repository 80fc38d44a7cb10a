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

__all__ = ["CoBoostUpdate", "FusionRatios", "coboost_update", "fusion_ratios", "joint_sums"]


@dataclass(frozen=True, eq=False)
class FusionRatios(Result):
    """What :func:`fusion_ratios` returns.

    Attributes
    ----------
    ratios : ndarray of shape (V, 2)
        For each view P(it says c | c) / P(it says c | not c), and the same for *it says another class*.
    products : ndarray of shape (2,) * V
        The products that the bound depends on; index 0 stands for "says c", 1 for "says another".
    bound : float
        The smallest value of the bound.
    n_iter : int
    converged : bool
    residual : float
        Largest derivative of the bound with respect to a logarithm of a ratio, divided by the bound.
    """

    ratios: np.ndarray
    products: np.ndarray
    bound: float
    n_iter: int
    converged: bool
    residual: float


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
        Of each class and view, see :class:`FusionRatios`.
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


def joint_sums(log_odds, said, own):
    """The sums S of the bound: instances grouped by what the views said and by whether they belong to the class.

    Entry 2m is the sum of exp(r) over the instances of the class in group m, entry 2m + 1 the sum of exp(-r) over the
    others. With two views the groups are (yes, yes), (yes, no), (no, yes), (no, no), so that the eight sums are S_1 to
    S_8 of the source (Wu and Cheng 2014, Eq. 10 and 12). O(nV).

    Parameters
    ----------
    log_odds : array-like of shape (n,)
        r_i = ln P(not c) / P(c).
    said : array-like of bool, shape (V, n)
        Whether view v says c for instance i.
    own : array-like of bool, shape (n,)
        Whether instance i belongs to class c.

    Returns
    -------
    ndarray of shape (2^(V+1),)

    Examples
    --------
    >>> joint_sums([0.0, 0.0, 0.0], [[True, True, False], [True, False, False]], [True, False, False])
    array([1., 0., 0., 1., 0., 0., 0., 1.])
    """
    r = check_finite_array(log_odds, "log_odds", ndim=1)
    said, own = np.asarray(said), np.asarray(own)
    if said.dtype != bool or said.ndim != 2 or said.shape[1:] != r.shape or len(said) == 0:
        raise ValueError(f"said must be booleans of shape (V, {len(r)}), got {said.dtype} of shape {said.shape}")
    if own.dtype != bool or own.shape != r.shape:
        raise ValueError(f"own must be booleans of shape ({len(r)},), got {own.dtype} of shape {own.shape}")
    if np.abs(r).max(initial=0.0) > 700:
        raise ValueError(f"log_odds must lie between -700 and 700, got {r[np.abs(r).argmax()]:.4g}")
    return _sums(np.where(own, r, -r), _groups(said), own, len(said))


def fusion_ratios(sums, *, smoothing=0.0, max_iter=1000, tol=1e-10):
    """Minimise the bound of one class over the likelihood ratios of all views (Wu and Cheng 2014, Eq. 14).

    With two views and α = (α_1, α_2), (α_3, α_4) the bound is ::

        S_1/(α_1 α_3) + S_2 α_1 α_3 + S_3/(α_1 α_4) + S_4 α_1 α_4
        + S_5/(α_2 α_3) + S_6 α_2 α_3 + S_7/(α_2 α_4) + S_8 α_2 α_4.

    Parameters
    ----------
    sums : array-like of shape (2^(V+1),)
        See :func:`joint_sums`; eight numbers for two views.
    smoothing : float, default=0
        Added to every sum. Without it a view that is never wrong has an infinite ratio, which is refused.
    max_iter : int, default=1000
        At most so many rounds over all ratios.
    tol : float, default=1e-10
        Stop when no derivative with respect to a logarithm of a ratio exceeds this share of the bound.

    Returns
    -------
    FusionRatios

    Notes
    -----
    Only the products count: a factor may be moved from one view's pair to another's. A round costs O(V 2^V).

    Examples
    --------
    >>> best = fusion_ratios([10, 1, 4, 2, 3, 2.5, 1, 12])
    >>> best.products.round(3).tolist(), round(best.bound, 3)
    ([[3.588, 1.228], [0.947, 0.324]], 24.598)
    """
    S = check_finite_array(sums, "sums", ndim=1)
    V = int(np.log2(len(S))) - 1 if len(S) else 0
    if V < 1 or len(S) != 2 ** (V + 1):
        raise ValueError(f"sums must have 2^(V+1) entries, 4 for one view, 8 for two, got {len(S)}")
    if S.min() < 0 or S.max() == 0:
        raise ValueError(f"sums must be non-negative and not all zero, got {S.min():.4g} to {S.max():.4g}")
    smoothing = check_scalar(smoothing, "smoothing", low=0)
    max_iter = check_scalar(max_iter, "max_iter", low=1, integer=True)
    tol = check_scalar(tol, "tol", low=0)
    top = S.max() + smoothing
    scaled = (S + smoothing) / top
    _refuse_infinite(scaled, V)
    u, bound, n_iter, residual = _descend(scaled, V, max_iter, tol)
    if residual > tol:
        warn_not_converged("fusion_ratios", n_iter, residual, tol, "give a smoothing, or raise max_iter")
    ratios = np.exp(u)
    products = np.exp(_products(u))
    return FusionRatios(ratios, products.reshape((2,) * V), float(bound * top), n_iter, bool(residual <= tol), residual)


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
        See :func:`fusion_ratios`.

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


def _products(u):
    """ln of the product of ratios of each group."""
    total = np.zeros(1)
    for pair in u:
        total = (total[:, None] + pair).ravel()
    return total


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
