"""Alternating directions (ADMM) for the sum of two functions, each known by its proximal map.

To minimise f(x) + g(x), give each function its own copy of the variable and let a multiplier pull the copies together::

    x <- prox_{f/rho}(z - u),    h <- a x + (1 - a) z + u,    z <- prox_{g/rho}(h),    u <- h - z.

Here a in (0, 2) is the over-relaxation, rho the price of a difference between the copies, and rho u the multiplier. A
problem with several blocks is one with an x that has several parts: f is then a sum over parts, and g the indicator
of the constraint that ties them (consensus). Boyd, Parikh, Chu, Peleato and Eckstein 2010, Sections 3 and 7.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numba import njit

from learnable.validation import Result, check_finite_array, check_scalar, warn_not_converged

__all__ = ["Splitting", "admm"]

LIFT = 4.0  # rho changes by at most this factor at a time


@dataclass(frozen=True, eq=False)
class Splitting(Result):
    """Where :func:`admm` ended.

    `x` is the last value of prox_f and `z` that of prox_g, of one shape; `dual` is the multiplier, a subgradient of g
    at z and minus one of f at x. `primal_residual` is the distance of x and z and `dual_residual` the last step of z
    times rho, both relative; `gap` is what the certificate gave last, NaN without one.
    """

    x: np.ndarray
    z: np.ndarray
    dual: np.ndarray
    rho: float
    primal_residual: float
    dual_residual: float
    gap: float
    n_iter: int
    converged: bool


def admm(
    prox_f,
    prox_g,
    start,
    *,
    dual=None,
    rho=1.0,
    relaxation=1.6,
    adapt=True,
    tol=1e-6,
    max_iter=1000,
    certificate=None,
    check_every=10,
    name="admm",
):
    """Minimise f(x) + g(x) by alternating proximal steps.

    Stops when `certificate` gives a gap of at most `tol`; without a certificate, when the primal and the dual residual,
    both relative to the size of what they compare, are at most `tol`. With `adapt`, rho grows where the primal residual
    is the larger one and falls where the dual residual is (residual balancing), in the first half of the iterations
    only, so that the convergence theorem for a fixed rho applies to the second. One iteration costs the two proximal
    maps and two passes over the memory.

    Parameters
    ----------
    prox_f, prox_g : callable
        ``prox(v, rho)`` returns the minimiser of f(x) + rho/2 |x - v|^2, in a new array or one of its own.
    start : array-like
        Where z starts; its shape is that of all iterates.
    dual : array-like, optional
        Where the multiplier starts, zero by default. For a warm start give ``z`` and ``dual`` of another result.
    rho : float, default=1.0
    relaxation : float, default=1.6
        In (0, 2); 1 is the plain method.
    adapt : bool, default=True
        Let the residuals choose rho.
    tol : float, default=1e-06
    max_iter : int, default=1000
    certificate : callable, optional
        ``certificate(x, z, dual)`` returns a bound on how far the objective is from its minimum, divided by what the
        caller takes as its unit.
    check_every : int, default=10
        Iterations between two looks at the certificate and at rho.
    name : str, default="admm"
        Who is running, for the warning.

    Returns
    -------
    Splitting

    Examples
    --------
    The point nearest to (2, 0) on the line x_0 = x_1, with f the squared distance and g the indicator of the line:

    >>> near = lambda v, rho: (np.array([2.0, 0.0]) + rho * v) / (1 + rho)
    >>> line = lambda v, rho: np.full(2, v.mean())
    >>> admm(near, line, np.zeros(2)).z.round(4).tolist()
    [1.0, 1.0]
    """
    z = np.array(check_finite_array(start, "start"))
    u = np.zeros_like(z) if dual is None else np.array(check_finite_array(dual, "dual"))
    if u.shape != z.shape:
        raise ValueError(f"dual must have the shape of start, {z.shape}, got {u.shape}")
    rho = check_scalar(rho, "rho", low=0, closed="neither")
    relaxation = check_scalar(relaxation, "relaxation", low=0, high=2, closed="neither")
    tol = check_scalar(tol, "tol", low=0, closed="neither")
    max_iter = check_scalar(max_iter, "max_iter", low=1, integer=True)
    check_every = check_scalar(check_every, "check_every", low=1, integer=True)
    u /= rho  # from here on u is the scaled multiplier, dual / rho
    gap, converged, h = math.nan, False, np.empty_like(z)
    for n_iter in range(1, max_iter + 1):
        _ahead(z, u, h)
        x = prox_f(h, rho)
        _relax(x, z, u, relaxation, h)
        after = prox_g(h, rho)
        norms = _finish(h, x, after, z, u)
        primal, second = _relative(norms)
        looked = n_iter % check_every == 0 or n_iter == max_iter
        if certificate is None:
            converged = max(primal, second) <= tol
        elif looked:
            gap = float(certificate(x, z, rho * u))
            converged = gap <= tol
        if converged:
            break
        if adapt and looked and 2 * n_iter <= max_iter:
            factor = _balance(primal, second)
            rho *= factor
            u /= factor  # the multiplier itself, rho u, must not jump
    if not converged:
        reached = max(primal, second) if certificate is None else gap
        warn_not_converged(name, n_iter, reached, tol, "raise max_iter or tol", stacklevel=4)
    return Splitting(x, z, rho * u, rho, primal, second, gap, n_iter, bool(converged))


def _relative(norms):
    """Primal and dual residual over the sizes of what they compare."""
    r, s, x, z, u = (math.sqrt(value) for value in norms)
    return r / max(x, z, 1e-300), s / max(u, 1e-300) if u > 0 else s / max(z, 1e-300)


def _balance(primal, dual):
    """The factor for rho that would make the two residuals equal, were each proportional to a power of rho."""
    if primal == 0 or dual == 0:
        return 1.0
    factor = math.sqrt(primal / dual)
    if 0.5 < factor < 2:
        return 1.0
    return min(max(factor, 1 / LIFT), LIFT)


def _ahead(z, u, h):
    np.subtract(z, u, out=h)


def _relax(x, z, u, relaxation, h):
    _relax_flat(x.reshape(-1), z.reshape(-1), u.reshape(-1), relaxation, h.reshape(-1))


def _finish(h, x, after, z, u):
    """u <- h - after and z <- after; squares of |x - after|, |after - z|, |x|, |after|, |u|."""
    return _finish_flat(h.reshape(-1), x.reshape(-1), after.reshape(-1), z.reshape(-1), u.reshape(-1))


@njit(cache=True)
def _relax_flat(x, z, u, relaxation, h):
    for k in range(len(h)):
        h[k] = relaxation * x[k] + (1.0 - relaxation) * z[k] + u[k]


@njit(cache=True)
def _finish_flat(h, x, after, z, u):
    r = s = xx = zz = uu = 0.0
    for k in range(len(h)):
        a = after[k]
        u[k] = h[k] - a
        r += (x[k] - a) ** 2
        s += (a - z[k]) ** 2
        xx += x[k] * x[k]
        zz += a * a
        uu += u[k] * u[k]
        z[k] = a
    return r, s, xx, zz, uu
