"""What QUIC is compared with: ADMM, projected gradients on the dual, greedy coordinates, neighbourhood regressions.

Each solver returns the precision matrix and a :class:`Trace` of its iterations. (GLASSO, block coordinate descent, is
scikit-learn's ``graphical_lasso``.)
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numba import njit
from scipy import linalg

from learnable.highdim.quic_graphical_lasso.problem import check_problem, clipped_gap
from learnable.linalg.precision import factor, factor_inverse, factor_logdet, support
from learnable.optim.coordinate_descent import solve_gram_batch
from learnable.optim.proximal import soft_threshold
from learnable.validation import Result, check_choice, check_scalar, check_symmetric, warn_not_converged

__all__ = ["Trace", "admm", "dual_projected_gradient", "neighbourhood_lasso"]


@dataclass(frozen=True, eq=False)
class Trace(Result):
    """Primal objective, duality gap and seconds since the start after each iteration, and whether `tol` was reached."""

    objective: np.ndarray
    gap: np.ndarray
    seconds: np.ndarray
    n_iter: int
    converged: bool


def admm(S, Lambda, *, rho=1.0, relaxation=1.5, tol=1e-8, max_iter=1000):
    """Alternating directions: an eigendecomposition for log det, a soft threshold for the penalty.

    X solves rho X - X^-1 = rho (Z - V) - S by eigenvalues; Z thresholds the over-relaxed X + V; V sums the differences.
    Stops when the duality gap at Z is at most ``tol * p``. O(p^3) an iteration, with the constant of an
    eigendecomposition. Hsieh et al. 2014 run it with rho = 50 and over-relaxation 1.5.

    Parameters
    ----------
    S, Lambda : as in :func:`QUIC`
    rho : float, default=1
    relaxation : float, default=1.5
        In (0, 2).
    tol : float, default=1e-08
        Stop at a duality gap of ``tol * p``.
    max_iter : int, default=1000

    Returns
    -------
    Z : ndarray of shape (p, p)
        The sparse iterate.
    trace : Trace

    Examples
    --------
    >>> Z, trace = admm([[1, 0.5], [0.5, 1]], [[0, 0.2], [0.2, 0]])
    >>> np.linalg.inv(Z).round(3).tolist(), trace.converged
    ([[1.0, 0.3], [0.3, 1.0]], True)
    """
    S, Lam = check_problem(S, Lambda)
    rho = check_scalar(rho, "rho", low=0, closed="neither")
    relaxation = check_scalar(relaxation, "relaxation", low=0, high=2, closed="neither")
    recorder = _Recorder(S, Lam, tol, max_iter)
    Z, V = np.diag(1.0 / (np.diagonal(S) + np.diagonal(Lam))), np.zeros_like(S)
    for _ in range(recorder.max_iter):
        values, vectors = linalg.eigh(rho * (Z - V) - S)
        values = (values + np.sqrt(values**2 + 4 * rho)) / (2 * rho)
        X = (vectors * values) @ vectors.T
        X = relaxation * X + (1 - relaxation) * Z
        Z = soft_threshold(X + V, Lam / rho)
        V += X - Z
        if recorder.add_primal(0.5 * (Z + Z.T)):
            break
    return 0.5 * (Z + Z.T), recorder.trace("admm")


def dual_projected_gradient(S, Lambda, *, tol=1e-8, max_iter=1000):
    """Projected gradient ascent on the dual, max log det W over |W_ij - S_ij| <= lambda_ij (Duchi et al. 2008).

    The gradient is W^-1, the projection clips, the step length is that of Barzilai and Borwein, halved until log det
    increases. The primal iterate W^-1 has no zeros; entries below 1e-6 should count as such. O(p^3) an iteration.

    Parameters
    ----------
    S : array-like of shape (p, p)
        Empirical covariance.
    Lambda : float or array-like of shape (p, p)
        Penalties, not negative.
    tol : float, default=1e-08
        Stop at a duality gap of ``tol * p``.
    max_iter : int, default=1000

    Returns
    -------
    X : ndarray of shape (p, p)
    trace : Trace

    Examples
    --------
    >>> X, trace = dual_projected_gradient([[1, 0.5], [0.5, 1]], [[0, 0.2], [0.2, 0]])
    >>> np.linalg.inv(X).round(3).tolist(), trace.converged
    ([[1.0, 0.3], [0.3, 1.0]], True)
    """
    S, Lam = check_problem(S, Lambda)
    recorder = _Recorder(S, Lam, tol, max_iter)
    low, high = S - Lam, S + Lam
    # Feasible and positive definite: shrink the off-diagonal entries as far as the smallest penalty allows.
    off = np.abs(S - np.diag(np.diagonal(S)))
    shrink = min(1.0, float((Lam[off > 0] / off[off > 0]).min())) if off.any() else 1.0
    W = (1 - shrink) * S + shrink * np.diag(np.diagonal(S)) + np.diag(np.diagonal(Lam))
    L = factor(W)
    if L is None:
        raise ValueError("no positive definite start between S - Lambda and S + Lambda: raise Lambda")
    logdet, X = factor_logdet(L), factor_inverse(L)
    step = 1.0 / np.abs(X).max() ** 2
    for _ in range(recorder.max_iter):
        while True:
            moved = np.clip(W + step * X, low, high)
            L = factor(moved)
            if L is not None and factor_logdet(L) >= logdet + 1e-4 * np.vdot(X, moved - W) - 1e-12 * len(S):
                break
            step *= 0.5
            if step < 1e-14:
                return X, recorder.trace("dual_projected_gradient")
        logdet, X_new = factor_logdet(L), factor_inverse(L)
        dW, dX = moved - W, X - X_new
        W, X = moved, X_new
        if recorder.add_dual(X, logdet):
            break
        curvature = float(np.vdot(dW, dX))
        step = float(np.vdot(dW, dW)) / curvature if curvature > 0 else 2 * step
    return X, recorder.trace("dual_projected_gradient")


def sinco(S, Lambda, *, tol=1e-8, max_iter=10_000):
    """Greedy coordinate descent on the primal: each step moves the one entry that lowers f most (SINCO).

    Along one entry det X is a quadratic polynomial, so that the best step has a closed form; all p^2 entries are tried
    and X^-1 follows by a rank-two formula, O(p^2) a step (Scheinberg and Rish 2010). Good for few edges, slow for many.

    Returns
    -------
    X : ndarray of shape (p, p)
    trace : Trace
        One entry for every p steps.

    Examples
    --------
    >>> X, trace = sinco([[1, 0.5], [0.5, 1]], [[0, 0.2], [0.2, 0]])
    >>> np.linalg.inv(X).round(3).tolist(), trace.converged
    ([[1.0, 0.3], [0.3, 1.0]], True)
    """
    S, Lam = check_problem(S, Lambda)
    recorder = _Recorder(S, Lam, tol, max_iter)
    W = np.diag(np.diagonal(S) + np.diagonal(Lam))
    X = np.diag(1.0 / np.diagonal(W))
    for _ in range(0, recorder.max_iter, len(S)):
        best = _greedy_steps(S, Lam, X, W, len(S))
        W = factor_inverse(factor(X))  # free of the rounding of p rank-two updates
        if recorder.add_primal(X) or best == 0.0:
            break
    return X, recorder.trace("sinco")


def neighbourhood_lasso(S, alpha, *, rule="or", tol=1e-8):
    """The graph of the lasso regressions of each variable on all others (Meinshausen and Buehlmann 2006).

    Structure only: the coefficients do not make a positive definite matrix. j is a neighbour of i if its coefficient in
    the regression of i is not zero; the two opinions on an edge are combined by `rule`.

    Parameters
    ----------
    S : array-like of shape (p, p)
        Covariance or correlation.
    alpha : float
        Penalty of 1/2 b'Sb - b's_i + lam |b|_1.
    rule : {"or", "and"}, default="or"
        An edge needs one of the two regressions, or both.
    tol : float, default=1e-08
        Of the regressions, relative to the largest entry of S.

    Returns
    -------
    ndarray of bool of shape (p, p)

    Examples
    --------
    >>> neighbourhood_lasso([[1, 0.5, 0], [0.5, 1, 0], [0, 0, 1]], 0.1).astype(int).tolist()
    [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    """
    S = check_symmetric(S, "S")
    check_choice(rule, "rule", ("or", "and"))
    alpha = check_scalar(alpha, "alpha", low=0, closed="neither")
    coefs = solve_gram_batch(S, S, alpha, weights=np.where(np.eye(len(S)), np.inf, 1.0), tol=tol).coefs != 0
    return support((coefs | coefs.T if rule == "or" else coefs & coefs.T).astype(np.float64))


class _Recorder:
    """Objective, gap and time after each iteration; the clock does not run while the gap is computed."""

    def __init__(self, S, Lam, tol, max_iter):
        self.S, self.Lam = S, Lam
        self.tol = check_scalar(tol, "tol", low=0, closed="neither") * len(S)
        self.max_iter = check_scalar(max_iter, "max_iter", low=1, integer=True)
        self.rows, self.done, self.excluded, self.started = [], False, 0.0, time.perf_counter()

    def add_primal(self, X):
        return self._add(X, None)

    def add_dual(self, X, logdet):
        return self._add(X, logdet)

    def _add(self, X, logdet):
        now = time.perf_counter()
        value = gap = np.inf
        linear = float(np.vdot(self.S, X)) + float(np.vdot(self.Lam, np.abs(X)))
        if logdet is not None:
            value = logdet + linear
            gap = linear - len(X)
        else:
            L = factor(X)
            if L is not None:
                value = -factor_logdet(L) + linear
                gap = clipped_gap(value, factor_inverse(L), self.S, self.Lam)
        self.rows.append((value, gap, now - self.started - self.excluded))
        self.excluded += time.perf_counter() - now
        self.done = gap <= self.tol
        return self.done

    def trace(self, what):
        rows = np.array(self.rows).reshape(-1, 3)
        if not self.done:
            gap = rows[-1, 1] if len(rows) else np.inf
            warn_not_converged(what, len(rows), gap, self.tol, "raise max_iter or tol", stacklevel=4)
        return Trace(rows[:, 0], rows[:, 1], rows[:, 2], len(rows), bool(self.done))


@njit(cache=True)
def _best_step(s, lam, x, w, wi, wj, diagonal):
    """Minimise -log((1 + t w)^2 - t^2 wi wj) + 2 s t + 2 lam |x + t|, or -log(1 + t w) + s t + lam |x + t| if i = j.

    Both branches of |x + t| are smooth, with stationary points from a quadratic equation; the last candidate is t = -x.
    Returns t and the decrease.
    """
    at_zero, best, gain = lam * abs(x), 0.0, 0.0
    q = w * w - wi * wj
    for k in range(5):
        if k == 4:
            t = -x
        else:
            slope = s + lam if k < 2 else s - lam
            if diagonal:
                if slope == 0.0 or k % 2:
                    continue
                t = 1.0 / slope - 1.0 / w
            else:
                # (w + q t) = slope (1 + 2 w t + q t^2)
                a, b, c = slope * q, 2.0 * slope * w - q, slope - w
                if a == 0.0:
                    if b == 0.0:
                        continue
                    t = -c / b
                else:
                    root = b * b - 4.0 * a * c
                    if root < 0.0:
                        continue
                    root = np.sqrt(root)
                    t = (-b + root) / (2.0 * a) if k % 2 else (-b - root) / (2.0 * a)
            if (k < 2 and x + t < 0.0) or (k >= 2 and x + t > 0.0):
                continue
        if diagonal:
            det = 1.0 + t * w
            if det <= 0.0:
                continue
            decrease = np.log(det) - s * t - lam * abs(x + t) + at_zero
        else:
            det = 1.0 + 2.0 * w * t + q * t * t
            if det <= 0.0 or 1.0 + t * w <= 0.0:
                continue
            decrease = np.log(det) - 2.0 * (s * t + lam * abs(x + t) - at_zero)
        if decrease > gain:
            best, gain = t, decrease
    return best, gain


@njit(cache=True)
def _greedy_steps(S, Lam, X, W, count):
    """Take `count` greedy steps in place; return the decrease of the last one."""
    p, gain = len(S), 0.0
    for _ in range(count):
        gain, step, bi, bj = 0.0, 0.0, 0, 0
        for i in range(p):
            for j in range(i, p):
                if X[i, j] == 0.0 and abs(S[i, j] - W[i, j]) <= Lam[i, j]:
                    continue
                t, g = _best_step(S[i, j], Lam[i, j], X[i, j], W[i, j], W[i, i], W[j, j], i == j)
                if g > gain:
                    gain, step, bi, bj = g, t, i, j
        if gain <= 1e-15:
            return 0.0
        X[bi, bj] += step
        if bi == bj:
            column = W[bi].copy()
            scale = step / (1.0 + step * W[bi, bi])
            for k in range(p):
                W[k] -= scale * column[k] * column
        else:
            X[bj, bi] = X[bi, bj]
            u, v = W[bi].copy(), W[bj].copy()
            w, wi, wj = u[bj], u[bi], v[bj]
            det = (1.0 + step * w) ** 2 - step * step * wi * wj
            cross, su, sv = step * (1.0 + step * w) / det, step * step * wj / det, step * step * wi / det
            for k in range(p):
                W[k] -= (cross * v[k] - su * u[k]) * u + (cross * u[k] - sv * v[k]) * v
    return gain
