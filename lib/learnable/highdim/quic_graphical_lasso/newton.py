"""One Newton step of QUIC: the free set, the direction, and the line search (Hsieh et al. 2014, Algorithm 1)."""

from __future__ import annotations

import numpy as np

from learnable.highdim.quic_graphical_lasso import _kernels as kernels
from learnable.highdim.quic_graphical_lasso.blocks import Blockwise, pattern_of
from learnable.highdim.quic_graphical_lasso.problem import check_point, inverse
from learnable.linalg.precision import factor, factor_inverse, factor_logdet
from learnable.validation import check_scalar, check_symmetric

__all__ = ["line_search"]

# How far rounding may lift f between two iterates whose true values differ by less.
ROUNDING = 16 * np.finfo(float).eps


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
        Return U = D W too, which the descent keeps up to date.

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
    starts, cols = pattern_of(mask)
    U = D @ W
    kernels.descend(kernels.Model(S, W, X, Lam), (starts, cols), D, U, sweeps, 0.0)
    return (D, U) if keep_u else D


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
    settings = {
        "sigma": check_scalar(sigma, "sigma", low=0, high=0.5, closed="neither"),
        "beta": check_scalar(beta, "beta", low=0, high=1, closed="neither"),
    }
    L = factor(X)
    if L is None:
        raise ValueError("X must be positive definite, but its Cholesky factorisation breaks down")
    trace = float(np.vdot(S, X))
    value = -factor_logdet(L) + trace + float(np.vdot(Lam, np.abs(X)))
    W = factor_inverse(L) if W is None else check_symmetric(W, "W")
    pattern = pattern_of((X != 0) | (D != 0))
    found = search(X, D, S, Lam, W, value, trace, pattern, Blockwise([np.arange(len(X))]), settings)
    if found is None:
        raise ValueError("D must be a descent direction: delta = tr((S - W) D) + |X + D| - |X| must be negative")
    moved = X.copy()
    kernels.move_along(moved, D, found[0], *pattern)
    return found[0], moved, found[1]


def polish(S, W, X, Lam, D):
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


def search(X, D, S, Lam, W, value, trace, pattern, method, settings):
    """Backtrack along D, which with X lives on a pattern; `trace` is tr(SX), and `method` factorises.

    Returns alpha, the value at X + alpha D, its trace and its factors, or None when D is no descent direction.
    """
    trace_d, trace_w, penalty, change, size = kernels.slopes(S, W, X, Lam, D, *pattern)
    delta = trace_d - trace_w + change
    rounding = ROUNDING * (abs(value) + trace + penalty + len(X))
    if delta > rounding or size == 0.0:
        return None
    alpha = 1.0
    while alpha > 1e-14:
        found = method.factor(X, D, alpha)
        if found is not None:
            factors, logdet = found
            f = -logdet + trace + alpha * trace_d + kernels.penalty_along(X, D, Lam, alpha, *pattern)
            if f <= value + alpha * settings["sigma"] * delta + rounding:
                return alpha, f, trace + alpha * trace_d, factors
        alpha *= settings["beta"]
    return None
