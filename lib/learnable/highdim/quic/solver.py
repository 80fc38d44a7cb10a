"""QUIC: proximal Newton steps for the graphical lasso (Hsieh et al. 2014, Algorithms 2 and 3).

Each outer iteration models -log det by its second-order expansion at X_t, finds the Newton direction of the model plus
the penalty by coordinate descent over the free set, and steps along it as far as an Armijo rule with a Cholesky test
allows.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from learnable.highdim.quic import _kernels as kernels
from learnable.highdim.quic.blocks import Blockwise, merge, pattern_blocks, vanishes_between
from learnable.highdim.quic.elimination import Elimination
from learnable.highdim.quic.history import closed_form_log, join
from learnable.highdim.quic.newton import polish as polished
from learnable.highdim.quic.newton import search
from learnable.highdim.quic.problem import check_problem, clipped_gap, inverse
from learnable.linalg.precision import component_labels, factor, factor_logdet, split_components
from learnable.validation import check_choice, check_number_or_word, check_scalar, check_symmetric

# Full steps that leave more than this share of the subgradient ask for a better direction: by twice as many sweeps, up
# to so many times those of the schedule, and then, if so large a share of all entries is free, by conjugate gradients.
STALLED, PATIENCE, DENSE = 0.3, 8, 0.05
# A start that is not diagonal is taken for a good one: its schedule of sweeps begins here.
WARM = 6
# Free sets up to this share of all entries are looked at for variables with few neighbours.
SPARSE = 0.1
# A second bound of the gap is looked at for more variables than this if it takes less than this share of p^3 steps; the
# gap itself takes a third, but quick ones.
LARGE, CHEAP = 200, 0.02


def QUIC(
    S,
    Lambda,
    X0=None,
    W0=None,
    tol=1e-8,
    max_iter=100,
    sweeps="adaptive",
    *,
    sigma=1e-3,
    beta=0.5,
    criterion="gap",
    screen=True,
    callback=None,
):
    r"""Minimise -log det X + tr(SX) + sum_ij Lambda_ij |X_ij| by proximal Newton steps.

    Parameters
    ----------
    S : array-like of shape (p, p)
        Empirical covariance: symmetric; it may be singular.
    Lambda : float or array-like of shape (p, p)
        Penalties, symmetric and non-negative. A number penalises the diagonal too; see
        :func:`penalty_matrix` for the variant that does not. A variable with S_ii = 0 needs Lambda_ii > 0.
    X0 : array-like of shape (p, p), optional
        Positive definite start; by default diagonal, 1 / (S_ii + Lambda_ii), the minimiser among diagonal matrices.
    W0 : array-like of shape (p, p), optional
        Inverse of `X0`, where it is known.
    tol : float, default=1e-8
        Accuracy. With ``criterion="gap"`` the iteration stops when the duality gap is at most ``tol * p``, which bounds
        the distance to the minimum; with ``"subgradient"`` when the 1-norm of the minimum-norm subgradient is at most
        ``tol`` times that of X, the rule of Hsieh et al.
    max_iter : int, default=100
        Newton steps, for each component.
    sweeps : int or "adaptive", default="adaptive"
        Sweeps of coordinate descent in iteration t. Adaptive takes ceil(t / 3), few far from the solution and more near
        it, which keeps the convergence superlinear. Where X is so ill-conditioned that a full step leaves a third of
        the subgradient, the number doubles, and in the end conjugate gradients finish the direction. After a
        warm start t counts from 6. An integer is a fixed number of sweeps and nothing else.
    sigma, beta : float
        Armijo's constant, in (0, 0.5), and the factor between trial steps, in (0, 1).
    criterion : {"gap", "subgradient"}, default="gap"
    screen : bool, default=True
        Solve the connected components of ``|S_ij| > Lambda_ij`` apart. Without, they are still found, since entries
        between them never become free, and factorised apart.
    callback : callable, optional
        ``callback(X_t)`` after each iteration of an unscreened run.

    Returns
    -------
    X : ndarray of shape (p, p)
        The minimiser, with exact zeros.
    W : ndarray of shape (p, p)
        Its inverse, the regularised covariance.
    history : QUICHistory

    Notes
    -----
    An iteration costs O(p^3) for a Cholesky factor and an inverse, and O(p |free|) for each sweep, with p the size of
    the largest component. Global convergence and a quadratic final rate are Theorems 12 and 16 of Hsieh et al. 2014.

    Examples
    --------
    >>> X, W, history = QUIC([[1, 0.5], [0.5, 1]], [[0, 0.2], [0.2, 0]])
    >>> W.round(3).tolist(), history.converged
    ([[1.0, 0.3], [0.3, 1.0]], True)
    """
    S, Lam = check_problem(S, Lambda)
    p = len(S)
    settings = _check_settings(tol, max_iter, sweeps, sigma, beta, criterion)
    if callback is not None and screen:
        raise ValueError("callback needs screen=False: components solved apart have no common iterates")
    X0, W0 = _check_start(X0, W0, S, Lam)
    components = _components(S, Lam) if screen else [np.arange(p)]
    groups, single = merge(components) if screen and len(components) > 1 else ([np.arange(p)], np.empty(0, int))
    if p == 1:
        groups, single = [], np.arange(1)
    if len(groups) == 1 and single.size == 0:
        X, W, log = _solve(S, Lam, X0, W0, settings, callback)
        logs = [log]
    else:
        X, W, logs = np.zeros((p, p)), np.zeros((p, p)), []
        d = np.diagonal(S)[single] + np.diagonal(Lam)[single]
        W[single, single], X[single, single] = d, 1.0 / d
        if W0 is not None and not vanishes_between(X0, groups, single):
            W0 = None
        for group in groups:
            start = None if W0 is None else kernels.block_of(W0, group)
            x, w, log = _solve(*(kernels.block_of(M, group) for M in (S, Lam, X0)), start, settings, None)
            kernels.set_block(X, group, x)
            kernels.set_block(W, group, w)
            logs.append(log)
        if single.size:
            logs.append(closed_form_log(d))
    history = join(logs, len(components))
    if not history.converged:
        _warn(S, history, settings)
    return X, W, history


def _solve(S, Lam, X, W, settings, callback):
    """Run one component, or several together; S, Lam and X are checked and C-contiguous."""
    p, started = len(S), time.perf_counter()
    method = None
    diagonal = not np.any(X - np.diag(np.diagonal(X)))
    head_start = 0 if diagonal else WARM
    if W is None:
        W = np.diag(1.0 / np.diagonal(X)) if diagonal else inverse(X)
    trace = float(np.vdot(S, X))
    value = -_logdet(X) + trace + float(np.vdot(Lam, np.abs(X)))
    rows, step, used, gap, patience, polish, descent = [], np.nan, 0, np.inf, 1, False, 0.0
    for t in range(settings["max_iter"] + 1):
        free, n_nonzero, total, largest, norm, bound = kernels.scan(S, W, X, Lam)
        n_free = free[1].size
        rows.append((value, total, n_free, n_nonzero, step, used, time.perf_counter() - started, descent))
        done, gap = _finished(value, kernels.Model(S, W, X, Lam), free, (bound, total, norm), settings)
        if done or t == settings["max_iter"]:
            break
        if n_nonzero == p:
            D, used = kernels.diagonal_direction(S, X, Lam), 0
        else:
            D = np.zeros((p, p))
            adaptive = settings["sweeps"] == "adaptive"
            if used and step == 1.0 and total > STALLED * rows[-2][1]:
                polish = patience >= PATIENCE and n_free > DENSE * p * p
                patience = min(2 * patience, PATIENCE)
            limit, enough = (
                (-(-(t + 1 + head_start) // 3) * patience, 1e-10 * largest) if adaptive else (settings["sweeps"], 0.0)
            )
            model, since = kernels.Model(S, W, X, Lam), time.perf_counter()
            used = kernels.descend(model, free, D, np.zeros((p, p)), limit, enough)
            descent += time.perf_counter() - since
            if polish and adaptive:
                D = polished(S, W, X, Lam, D)
        method = _method(free, method, p)
        found = search(X, D, S, Lam, W, value, trace, free, method, settings)
        if found is None:
            break
        step, value, trace, factors = found
        X = X.copy() if t == 0 else X  # the start is not ours to change
        kernels.move_along(X, D, step, *free)
        W = method.inverse(factors)
        if callback is not None:
            callback(X.copy())
    return X, W, (np.array(rows), gap, done)


def _components(S, Lam):
    """Components of ``|S_ij| > Lam_ij``: of the free set at a diagonal matrix."""
    start = np.diag(np.diagonal(S) + np.diagonal(Lam))
    return split_components(*component_labels(*kernels.scan(S, start, start, Lam)[0]))


def _method(free, last, p):
    """How to factorise matrices on the free set: as `last` time, if that still holds, sparse, or by blocks."""
    if isinstance(last, Elimination) and last.holds(*free):
        return last
    if free[1].size < SPARSE * p * p:
        sparse = Elimination(*free)
        if sparse.worthwhile:
            return sparse
    return Blockwise(pattern_blocks(*free, p))


def _finished(value, model, free, sums, settings):
    """Whether to stop, and the duality gap where it was worth computing."""
    S, W, X, Lam = model
    bound, total, norm = sums
    tol, p = settings["tol"], len(S)
    if settings["criterion"] == "subgradient":
        done = total <= tol * norm
        return done, clipped_gap(value, W, S, Lam) if done else np.inf
    if bound > tol * p:  # the gap is no smaller
        return False, np.inf
    if p > LARGE and float(np.square(np.diff(free[0])).sum()) < CHEAP * p**3:
        # Nor than this: log(1 + t) <= t - t^2/2 + t^3/3 for the eigenvalues of the step to the box, in units of W.
        square, radius = kernels.curvature_of_gap(S, W, X, Lam, free)
        if bound + max(square, 0.0) * (0.5 - radius / 3.0) > tol * p:
            return False, np.inf
    gap = clipped_gap(value, W, S, Lam)
    return gap <= tol * p, gap


def _warn(S, history, settings):
    smallest = float(np.linalg.eigvalsh(S)[0])
    if smallest < -1e-8 * np.abs(S).max():
        advice = f"S has the negative eigenvalue {smallest:.2g} and f may be unbounded: raise Lambda"
    elif history.n_iter >= settings["max_iter"]:
        advice = f"raise max_iter, now {settings['max_iter']}, or tol, now {settings['tol']:g}"
    else:
        advice = f"rounding allows no further decrease: raise tol, now {settings['tol']:g}"
    warnings.warn(
        f"QUIC stopped after {history.n_iter} iterations before the required accuracy; {advice}",
        ConvergenceWarning,
        stacklevel=3,
    )


def _check_settings(tol, max_iter, sweeps, sigma, beta, criterion):
    check_choice(criterion, "criterion", ("gap", "subgradient"))
    return {
        "tol": check_scalar(tol, "tol", low=0, closed="neither"),
        "max_iter": check_scalar(max_iter, "max_iter", low=1, integer=True),
        "sweeps": check_number_or_word(sweeps, "sweeps", ["adaptive"], low=1, integer=True),
        "sigma": check_scalar(sigma, "sigma", low=0, high=0.5, closed="neither"),
        "beta": check_scalar(beta, "beta", low=0, high=1, closed="neither"),
        "criterion": criterion,
    }


def _check_start(X0, W0, S, Lam):
    if X0 is None:
        if W0 is not None:
            raise ValueError("W0 is the inverse of X0: give both, or X0 alone")
        return np.diag(1.0 / (np.diagonal(S) + np.diagonal(Lam))), None
    X0 = check_symmetric(X0, "X0")
    if X0.shape != S.shape:
        raise ValueError(f"X0 must have the shape of S, {S.shape}, got {X0.shape}")
    if factor(X0) is None:
        raise ValueError("X0 must be positive definite, but its Cholesky factorisation breaks down")
    if W0 is not None:
        W0 = check_symmetric(W0, "W0")
        ones = np.ones(len(S))
        if W0.shape != S.shape or np.abs(X0 @ (W0 @ ones) - ones).max() > 1e-6:
            raise ValueError("W0 must be the inverse of X0")
    return X0, W0


def _logdet(X):
    diagonal = np.diagonal(X)
    if not np.any(X - np.diag(diagonal)):
        return float(np.log(diagonal).sum())
    return factor_logdet(factor(X))
