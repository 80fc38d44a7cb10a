"""One Newton step of QUIC: the free set, the direction, and the line search (Hsieh et al. 2014, Algorithm 1)."""

from __future__ import annotations

import numpy as np

from learnable.highdim.quic import _kernels as kernels

# How far rounding may lift f between two iterates whose true values differ by less.
ROUNDING = 16 * np.finfo(float).eps


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
