"""QUIC: proximal Newton steps for the graphical lasso (Hsieh et al. 2014, Algorithms 2 and 3).

Each outer iteration models -log det by its second-order expansion at X_t, finds the Newton direction of the model plus
the penalty by coordinate descent over the free set, and steps along it as far as an Armijo rule with a Cholesky test
allows.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from learnable.highdim.quic_graphical_lasso import _kernels as kernels
from learnable.highdim.quic_graphical_lasso.problem import check_point, check_problem, clipped_gap, inverse
from learnable.linalg.precision import factor, factor_inverse, factor_logdet, threshold_components
from learnable.validation import check_choice, check_scalar, check_symmetric

__all__ = ["QUIC", "QUICHistory", "line_search"]

# Components smaller than this are factorised, or solved, together: a call costs more than the arithmetic.
SMALL = 128
# Full steps that leave more than this share of the subgradient ask for a better direction: by twice as many sweeps, up
# to so many times those of the schedule, and then, if so large a share of all entries is free, by conjugate gradients.
STALLED, PATIENCE, DENSE = 0.3, 8, 0.05
# A start that is not diagonal is taken for a good one: its schedule of sweeps begins here.
WARM = 6
# How far rounding may lift f between two iterates whose true values differ by less.
ROUNDING = 16 * np.finfo(float).eps


@dataclass(frozen=True)
class QUICHistory:
    """What happened in each outer iteration; entry t describes the iterate X_t, entry 0 the start.

    Attributes
    ----------
    objective : ndarray
        f(X_t), decreasing.
    subgradient : ndarray
        1-norm of the minimum-norm subgradient at X_t.
    n_free, n_nonzero : ndarray of int
        Sizes of the free set and of the support at X_t, both over ordered pairs with the diagonal.
    step : ndarray
        Length alpha of the step that led to X_t (the smallest, where components were solved apart); NaN for X_0.
    n_sweeps : ndarray of int
        Sweeps of coordinate descent that led to X_t; zero for the closed form at a diagonal matrix.
    seconds : ndarray
        Time since the start.
    gap : float
        Duality gap at the end: the value is within it of the minimum.
    converged : bool
    n_blocks : int
        Components found by screening; 1 without.
    """

    objective: np.ndarray
    subgradient: np.ndarray
    n_free: np.ndarray
    n_nonzero: np.ndarray
    step: np.ndarray
    n_sweeps: np.ndarray
    seconds: np.ndarray
    gap: float
    converged: bool
    n_blocks: int

    @property
    def n_iter(self):
        """Number of Newton steps."""
        return len(self.objective) - 1


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
    components = threshold_components(S, Lam) if screen else [np.arange(p)]
    groups, single = _merge(components) if screen and len(components) > 1 else ([np.arange(p)], np.empty(0, int))
    if p == 1:
        groups, single = [], np.arange(1)
    if len(groups) == 1 and single.size == 0:
        X, W, log = _solve(S, Lam, X0, W0, settings, callback)
        logs = [log]
    else:
        X, W, logs = np.zeros((p, p)), np.zeros((p, p)), []
        d = np.diagonal(S)[single] + np.diagonal(Lam)[single]
        W[single, single], X[single, single] = d, 1.0 / d
        if W0 is not None and not _vanishes_between(X0, groups, single):
            W0 = None
        for group in groups:
            at = np.ix_(group, group)
            start = None if W0 is None else np.ascontiguousarray(W0[at])
            sub = [np.ascontiguousarray(M[at]) for M in (S, Lam, X0)]
            X[at], W[at], log = _solve(*sub, start, settings, None)
            logs.append(log)
        if single.size:
            logs.append(_closed_form_log(d))
    history = _join(logs, len(components))
    if not history.converged:
        _warn(S, history, settings)
    return X, W, history


def block_quic(S, Lambda, index_sets, X0=None, tol=1e-8, max_iter=1000, sweeps=20, *, sigma=1e-3, beta=0.5):
    """Newton steps restricted to a given sequence of index sets (Hsieh et al. 2014, Algorithm 3).

    Converges to the minimiser for any sequence that covers every entry again and again, the condition (39) of
    Gauss-Seidel type; QUIC is the case that alternates between the fixed set, where nothing moves, and the free set.

    Parameters
    ----------
    S, Lambda, X0, tol, max_iter, sigma, beta
        As in :func:`QUIC`; stops on the duality gap.
    index_sets : sequence of array-like of bool of shape (p, p)
        Symmetric masks, taken in turn; together they must cover all entries.
    sweeps : int, default=20

    Returns
    -------
    X, W, history
        As :func:`QUIC`.

    Examples
    --------
    >>> S = np.array([[1, 0.5], [0.5, 1]])
    >>> X, W, history = block_quic(S, 0.1, [np.eye(2) > 0, np.eye(2) == 0])
    >>> bool(np.allclose(X, QUIC(S, 0.1)[0], atol=1e-3))
    True
    """
    S, Lam = check_problem(S, Lambda)
    masks = [np.asarray(mask, dtype=bool) for mask in index_sets]
    if not masks or any(mask.shape != S.shape or not np.array_equal(mask, mask.T) for mask in masks):
        raise ValueError(f"index_sets must be symmetric boolean matrices of shape {S.shape}")
    if not np.logical_or.reduce(masks).all():
        raise ValueError("index_sets must cover every entry, or the iteration stops short of the minimum")
    settings = _check_settings(tol, max_iter, sweeps, sigma, beta, "gap")
    X0, _ = _check_start(X0, None, S, Lam)
    X, W, log = _solve(S, Lam, X0, None, settings, None, masks)
    history = _join([log], 1)
    if not history.converged:
        _warn(S, history, settings)
    return X, W, history


def free_set(X, S, Lambda, W=None):
    """Mask of the entries that a Newton step may change: X_ij != 0 or |S_ij - W_ij| > lambda_ij (33).

    Examples
    --------
    >>> free_set(np.eye(2), [[1, 0.5], [0.5, 1]], 0.2).tolist()
    [[True, True], [True, True]]
    >>> free_set(np.eye(2), [[1, 0.5], [0.5, 1]], 0.6).tolist()
    [[True, False], [False, True]]
    """
    X, S, Lam = check_point(X, S, Lambda)
    W = inverse(X) if W is None else check_symmetric(W, "W")
    return (X != 0) | (np.abs(S - W) > Lam)


def newton_direction(X, S, Lambda, *, W=None, free=None, sweeps=10, D=None, keep_u=False):
    r"""The Newton direction of f at X restricted to a free set, by coordinate descent (Hsieh et al. 2014, (20)).

    Minimises tr((S - W)D) + ½tr(WDWD) + ‖X + D‖_(1,Λ) over
    symmetric D that vanish outside `free`. O(p |free|) a sweep.

    Parameters
    ----------
    X, S, Lambda
        The point and the problem.
    W : array-like of shape (p, p), optional
        Inverse of X.
    free : array-like of bool of shape (p, p), optional
        Symmetric mask; by default :func:`free_set`.
    sweeps : int, default=10
    D : array-like of shape (p, p), optional
        Start; zero by default.
    keep_u : bool, default=False
        Keep the whole of U = D W up to date, as the paper describes it, and return it too. The default visits the same
        entries in the same order but keeps only the columns of U that it is about to need.

    Returns
    -------
    D : ndarray of shape (p, p)
    U : ndarray of shape (p, p)
        Only with ``keep_u=True``.

    Examples
    --------
    >>> newton_direction(np.eye(2), [[1, 0.5], [0.5, 1]], [[0, 0.2], [0.2, 0]]).round(6).tolist()
    [[0.0, -0.3], [-0.3, 0.0]]
    """
    X, S, Lam = check_point(X, S, Lambda)
    W = inverse(X) if W is None else check_symmetric(W, "W")
    mask = free_set(X, S, Lam, W) if free is None else np.asarray(free, dtype=bool)
    if mask.shape != X.shape or not np.array_equal(mask, mask.T):
        raise ValueError(f"free must be a symmetric boolean matrix of shape {X.shape}")
    sweeps = check_scalar(sweeps, "sweeps", low=1, integer=True)
    D = np.zeros_like(X) if D is None else np.array(check_symmetric(D, "D"))
    if D.shape != X.shape or D[~mask].any():
        raise ValueError(f"D must have shape {X.shape} and vanish outside the free set")
    starts, cols = _rows(mask)
    if keep_u:
        U = D @ W
        kernels.descend_with_u(S, W, X, Lam, starts, cols, D, U, sweeps)
        return D, U
    kernels.descend(S, W, X, Lam, starts, cols, D, sweeps, 0.0)
    return D


def line_search(X, D, S, Lambda, *, W=None, sigma=1e-3, beta=0.5):
    """The largest step 1, beta, beta^2, ... that keeps X positive definite and decreases f enough.

    Enough is f(X + alpha D) <= f(X) + alpha sigma delta with delta = tr((S - W) D) + |X + D| - |X| (Hsieh et al. 2014,
    (21)). Any direction with delta < 0 ends the search (Proposition 3).

    Parameters
    ----------
    X : array-like of shape (p, p)
        The iterate, symmetric.
    D : array-like of shape (p, p)
        Direction, symmetric.
    S : array-like of shape (p, p)
        Empirical covariance.
    Lambda : float or array-like of shape (p, p)
        Penalties, not negative.
    W : array-like of shape (p, p), optional
        The inverse of X, if it is known.
    sigma : float, default=0.001
        Share of the predicted decrease that is asked for.
    beta : float, default=0.5
        Factor from step to step.

    Returns
    -------
    alpha : float
    X_new : ndarray of shape (p, p)
    value : float
        f(X_new).

    Examples
    --------
    >>> alpha, X, value = line_search(np.eye(2), -1.5 * np.eye(2), 4 * np.eye(2), 0.0)
    >>> alpha, X.tolist()
    (0.5, [[0.25, 0.0], [0.0, 0.25]])
    """
    X, S, Lam = check_point(X, S, Lambda)
    D = check_symmetric(D, "D")
    if D.shape != X.shape:
        raise ValueError(f"D must have the shape of X, {X.shape}, got {D.shape}")
    settings = _check_settings(1.0, 1, 1, sigma, beta, "gap")
    L = factor(X)
    if L is None:
        raise ValueError("X must be positive definite, but its Cholesky factorisation breaks down")
    trace = float(np.vdot(S, X))
    value = -factor_logdet(L) + trace + float(np.vdot(Lam, np.abs(X)))
    W = factor_inverse(L) if W is None else check_symmetric(W, "W")
    pattern = _rows((X != 0) | (D != 0))
    found = _search(X, D, S, Lam, W, value, trace, pattern, [np.arange(len(X))], settings)
    if found is None:
        raise ValueError("D must be a descent direction: delta = tr((S - W) D) + |X + D| - |X| must be negative")
    return found[0], found[1], found[2]


def _solve(S, Lam, X, W, settings, callback, masks=None):
    """Run one component, or several together; S, Lam and X are checked and C-contiguous."""
    p, started = len(S), time.perf_counter()
    whole = [np.arange(p)]
    diagonal = not np.any(X - np.diag(np.diagonal(X)))
    head_start = 0 if diagonal else WARM
    if W is None:
        W = np.diag(1.0 / np.diagonal(X)) if diagonal else inverse(X)
    trace = float(np.vdot(S, X))
    value = -_logdet(X) + trace + float(np.vdot(Lam, np.abs(X)))
    rows, step, used, gap, patience, polish = [], np.nan, 0, np.inf, 1, False
    for t in range(settings["max_iter"] + 1):
        n_free, n_nonzero, total, largest, norm, bound = kernels.scan(S, W, X, Lam)
        rows.append((value, total, n_free, n_nonzero, step, used, time.perf_counter() - started))
        done, gap = _finished(value, W, S, Lam, bound, total, norm, settings)
        if done or t == settings["max_iter"]:
            break
        if masks is None:
            free = pattern = kernels.collect_free(S, W, X, Lam, n_free)
        else:
            mask = masks[t % len(masks)]
            free, pattern = _rows(mask), _rows(mask | (X != 0))
        if n_nonzero == p and masks is None:
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
            used = kernels.descend(S, W, X, Lam, *free, D, limit, enough)
            if polish and adaptive:
                D = _polish(S, W, X, Lam, D)
        blocks = _pattern_blocks(*free, p) if masks is None else whole
        found = _search(X, D, S, Lam, W, value, trace, pattern, blocks, settings)
        if found is None:
            if masks is not None:
                step = 0.0
                continue
            break
        step, X, value, trace, factors = found
        W = _blockwise_inverse(factors, blocks, p)
        if callback is not None:
            callback(X)
    return X, W, (np.array(rows), gap, done)


def _polish(S, W, X, Lam, D):
    """Conjugate gradients on the face of the current signs, where coordinate descent creeps.

    Minimises the model over matrices with the support and the signs of X + D (the idea of Olsen et al. 2012); entries
    that change sign are set to zero, and the step is halved until the model decreases. O(p^3) an iteration, all of it
    matrix products.
    """
    face = X + D
    support, linear = face != 0, S - W
    d = np.diagonal(W)
    scale = np.where(support, np.multiply.outer(d, d) + W**2, 1.0)
    curved = W @ D @ W
    value = float(np.vdot(linear, D) + 0.5 * np.vdot(D, curved) + np.vdot(Lam, np.abs(face)))
    r = np.where(support, -(linear + curved + Lam * np.sign(face)), 0.0)
    z = r / scale
    step, P, rz = np.zeros_like(D), z, float(np.vdot(r, z))
    target = 1e-4 * rz
    for _ in range(max(50, 20_000 // len(X))):
        if rz <= target:
            break
        HP = np.where(support, W @ P @ W, 0.0)
        a = rz / float(np.vdot(P, HP))
        step += a * P
        r -= a * HP
        z = r / scale
        rz, before = float(np.vdot(r, z)), rz
        P = z + (rz / before) * P
    step = 0.5 * (step + step.T)
    for _ in range(6):
        moved = face + step
        moved[moved * face < 0] = 0.0
        E = moved - X
        new = float(np.vdot(linear, E) + 0.5 * np.vdot(E, W @ E @ W) + np.vdot(Lam, np.abs(moved)))
        if new < value:
            return E
        step *= 0.5
    return D


def _finished(value, W, S, Lam, bound, total, norm, settings):
    """Whether to stop, and the duality gap where it was worth computing."""
    tol, p = settings["tol"], len(S)
    if settings["criterion"] == "subgradient":
        done = total <= tol * norm
        return done, clipped_gap(value, W, S, Lam) if done else np.inf
    if bound > tol * p:  # the gap is no smaller
        return False, np.inf
    gap = clipped_gap(value, W, S, Lam)
    return gap <= tol * p, gap


def _search(X, D, S, Lam, W, value, trace, pattern, blocks, settings):
    """Backtrack along D, which with X lives on a pattern; `trace` is tr(SX).

    Returns alpha, X + alpha D, its value, its trace and its factors, or None when D is no descent direction.
    """
    trace_d, trace_w, penalty, change = kernels.slopes(S, W, X, Lam, D, *pattern)
    delta = trace_d - trace_w + change
    rounding = ROUNDING * (abs(value) + trace + penalty + len(X))
    if delta > rounding or not D.any():
        return None
    alpha = 1.0
    while alpha > 1e-14:
        moved = kernels.moved_along(X, D, alpha, *pattern)
        factors = _blockwise_factor(moved, blocks)
        if factors is not None:
            logdet = sum(factor_logdet(L) for L in factors)
            f = -logdet + trace + alpha * trace_d + kernels.penalty_along(X, D, Lam, alpha, *pattern)
            if f <= value + alpha * settings["sigma"] * delta + rounding:
                return alpha, moved, f, trace + alpha * trace_d, factors
        alpha *= settings["beta"]
    return None


def _blockwise_factor(X, blocks):
    factors = []
    for block in blocks:
        L = factor(X if len(blocks) == 1 else X[np.ix_(block, block)])
        if L is None:
            return None
        factors.append(L)
    return factors


def _blockwise_inverse(factors, blocks, p):
    if len(blocks) == 1:
        return factor_inverse(factors[0])
    W = np.zeros((p, p))
    for L, block in zip(factors, blocks, strict=True):
        W[np.ix_(block, block)] = factor_inverse(L)
    return W


def _pattern_blocks(starts, cols, p):
    """Connected components of a pattern, the small ones merged."""
    graph = sparse.csr_array((np.ones(len(cols), dtype=bool), cols, starts), shape=(p, p))
    count, labels = sparse.csgraph.connected_components(graph, directed=False)
    if count == 1:
        return [np.arange(p)]
    order = np.argsort(labels, kind="stable")
    groups, single = _merge(np.split(order, np.cumsum(np.bincount(labels))[:-1]))
    return groups + [single[k : k + SMALL] for k in range(0, single.size, SMALL)]


def _merge(components):
    """Groups of components, large ones alone and small ones together, and the variables that stand alone."""
    single = np.concatenate([np.empty(0, dtype=np.int64)] + [c for c in components if len(c) == 1])
    groups, small = [], []
    for component in sorted((c for c in components if len(c) > 1), key=len, reverse=True):
        if len(component) >= SMALL:
            groups.append(component)
            continue
        small.append(component)
        if sum(map(len, small)) >= SMALL:
            groups.append(np.sort(np.concatenate(small)))
            small = []
    if small:
        groups.append(np.sort(np.concatenate(small)))
    return groups, single


def _vanishes_between(X, groups, single):
    label = np.empty(len(X), dtype=np.int64)
    for k, group in enumerate(groups):
        label[group] = k
    label[single] = len(groups) + np.arange(single.size)
    i, j = np.nonzero(X)
    return np.array_equal(label[i], label[j])


def _closed_form_log(d):
    row = (float(np.log(d).sum() + d.size), 0.0, d.size, d.size, np.nan, 0, 0.0)
    return np.array([row]), 0.0, True


def _join(logs, n_blocks):
    """One history of runs side by side: a run that has ended keeps its last values."""
    length = max(len(rows) for rows, _, _ in logs)
    padded = np.stack([np.concatenate([rows, np.repeat(rows[-1:], length - len(rows), axis=0)]) for rows, _, _ in logs])
    total = padded.sum(axis=0)
    steps = np.where(np.isnan(padded[:, :, 4]), np.inf, padded[:, :, 4]).min(axis=0)
    return QUICHistory(
        objective=total[:, 0],
        subgradient=total[:, 1],
        n_free=total[:, 2].astype(np.int64),
        n_nonzero=total[:, 3].astype(np.int64),
        step=np.where(np.isinf(steps), np.nan, steps),
        n_sweeps=padded[:, :, 5].max(axis=0).astype(np.int64),
        seconds=total[:, 6],
        gap=float(sum(gap for _, gap, _ in logs)),
        converged=all(done for _, _, done in logs),
        n_blocks=n_blocks,
    )


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
    if not (isinstance(sweeps, str) and sweeps == "adaptive"):
        try:
            sweeps = check_scalar(sweeps, "sweeps", low=1, integer=True)
        except ValueError:
            raise ValueError(f"sweeps must be 'adaptive' or a positive integer, got {sweeps!r}") from None
    return {
        "tol": check_scalar(tol, "tol", low=0, closed="neither"),
        "max_iter": check_scalar(max_iter, "max_iter", low=1, integer=True),
        "sweeps": sweeps,
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


def _rows(mask):
    mask = sparse.csr_array(mask)
    mask.sort_indices()
    return mask.indptr.astype(np.int64), mask.indices.astype(np.int64)


def _logdet(X):
    diagonal = np.diagonal(X)
    if not np.any(X - np.diag(diagonal)):
        return float(np.log(diagonal).sum())
    return factor_logdet(factor(X))
