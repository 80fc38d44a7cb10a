"""What QUIC is compared with: alternating directions, and projected gradients on the dual, each with a trace.

GLASSO, block coordinate descent, is scikit-learn's ``graphical_lasso``.
"""

from __future__ import annotations

import time
import warnings
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from learnable.highdim.graphical_admm import graphical_admm
from learnable.highdim.quic.problem import clipped_gap
from learnable.linalg.precision import factor, factor_inverse, factor_logdet
from learnable.validation import warn_not_converged


class Trace(NamedTuple):
    """Primal objective, duality gap and seconds since the start after each iteration, and whether `tol` was reached."""

    objective: np.ndarray
    gap: np.ndarray
    seconds: np.ndarray
    n_iter: int
    converged: bool


def admm(S, Lambda, *, rho=1.0, relaxation=1.5, tol=1e-8, max_iter=1000):
    """Alternating directions with a fixed rho: an eigendecomposition for log det, a soft threshold for the penalty."""
    recorder = _Recorder(S, Lambda, tol, max_iter)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the recorder says it, in its own unit
        solution = graphical_admm(
            S,
            Lambda,
            rho=rho,
            relaxation=relaxation,
            adapt=False,
            tol=recorder.tol,
            max_iter=max_iter,
            certificate=lambda x, z, dual: recorder.add_primal(z),
            check_every=1,
        )
    return solution.z, recorder.trace("admm")


def dual_projected_gradient(S, Lambda, *, tol=1e-8, max_iter=1000):
    """Projected gradient ascent on the dual, max log det W over |W_ij - S_ij| <= lambda_ij (Duchi et al. 2008)."""
    recorder = _Recorder(S, Lambda, tol, max_iter)
    Lam = recorder.Lam
    low, high = S - Lam, S + Lam
    # Feasible and positive definite: shrink the off-diagonal entries as far as the smallest penalty allows.
    off = np.abs(S - np.diag(np.diagonal(S)))
    shrink = min(1.0, float((Lam[off > 0] / off[off > 0]).min())) if off.any() else 1.0
    W = (1 - shrink) * S + shrink * np.diag(np.diagonal(S)) + np.diag(np.diagonal(Lam))
    L = factor(W)
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
        if recorder.add_dual(X, logdet) <= recorder.tol:
            break
        curvature = float(np.vdot(dW, dX))
        step = float(np.vdot(dW, dW)) / curvature if curvature > 0 else 2 * step
    return X, recorder.trace("dual_projected_gradient")


class _Recorder:
    """Objective, gap and time after each iteration; the clock does not run while the gap is computed."""

    def __init__(self, S, Lambda, tol, max_iter):
        self.S, self.Lam = S, np.broadcast_to(np.asarray(Lambda, dtype=float), S.shape).copy()
        self.tol, self.max_iter = tol * len(S), max_iter
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
        return gap

    def trace(self, what):
        rows = np.array(self.rows).reshape(-1, 3)
        if not self.done:
            gap = rows[-1, 1] if len(rows) else np.inf
            warn_not_converged(what, len(rows), gap, self.tol, "raise max_iter or tol", stacklevel=4)
        return Trace(rows[:, 0], rows[:, 1], rows[:, 2], len(rows), bool(self.done))
