"""Nearest points of convex hulls: the geometry of margins (Lember 2012, (4.2.12))."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from learnable.validation import check_finite_array, check_scalar, warn_not_converged

__all__ = ["HullDistance", "hull_distance", "reduced_hull_distance"]


@dataclass(frozen=True)
class HullDistance:
    """Nearest points of two convex hulls.

    `distance` between `plus` and `minus`, the points; their convex weights `weights_plus`, `weights_minus`; and
    `lower`, a certified lower bound on the distance (the width of an empty slab between the hulls, or zero).
    """

    distance: float
    plus: np.ndarray
    minus: np.ndarray
    weights_plus: np.ndarray
    weights_minus: np.ndarray
    lower: float
    n_iter: int
    converged: bool

    def hyperplane(self):
        """(w, w0) of the plane that bisects the segment, scaled to margin one: w'x + w0 = +1 and -1 at its ends."""
        v = self.plus - self.minus
        squared = float(v @ v)
        if squared == 0.0:
            raise ValueError("the hulls meet: no hyperplane separates them")
        w = 2.0 * v / squared
        return w, float(-0.5 * w @ (self.plus + self.minus))


@njit(cache=True)
def _exchange(P, M, a, b, cap, tol, limit):
    """Move weight within one hull at a time from its worst corner to its best (Mitchell, Demyanov, Malozemov)."""
    p, m = a @ P, b @ M
    steps = 0
    gap = np.inf
    while steps < limit:
        v = p - m
        squared = v @ v
        up, down = P @ v, M @ v
        # In the plus hull small products are good, in the minus hull large ones.
        i_in, i_out, j_in, j_out = -1, -1, -1, -1
        for k in range(a.size):
            if a[k] < cap and (i_in < 0 or up[k] < up[i_in]):
                i_in = k
            if a[k] > 0.0 and (i_out < 0 or up[k] > up[i_out]):
                i_out = k
        for k in range(b.size):
            if b[k] < cap and (j_in < 0 or down[k] > down[j_in]):
                j_in = k
            if b[k] > 0.0 and (j_out < 0 or down[k] < down[j_out]):
                j_out = k
        gain_plus = up[i_out] - up[i_in] if i_in >= 0 else 0.0
        gain_minus = down[j_in] - down[j_out] if j_in >= 0 else 0.0
        gap = max(gain_plus, gain_minus)
        if gap <= tol * max(squared, 1e-300) or squared <= 1e-28:
            break
        steps += 1
        if gain_plus >= gain_minus:
            direction = P[i_in] - P[i_out]
            bend = direction @ direction
            step = min(gain_plus / max(bend, 1e-300), a[i_out], cap - a[i_in])
            a[i_in] += step
            a[i_out] -= step
            if a[i_out] < 1e-300:
                a[i_out] = 0.0
            p += step * direction
        else:
            direction = M[j_in] - M[j_out]
            bend = direction @ direction
            step = min(gain_minus / max(bend, 1e-300), b[j_out], cap - b[j_in])
            b[j_in] += step
            b[j_out] -= step
            if b[j_out] < 1e-300:
                b[j_out] = 0.0
            m += step * direction
        if steps % 256 == 0:
            p, m = a @ P, b @ M
    return p, m, steps, gap


def _start(size, cap):
    weights = np.zeros(size)
    full = min(int(np.floor(1.0 / cap + 1e-12)), size)
    weights[:full] = cap
    if full < size:
        weights[full] = max(0.0, 1.0 - cap * full)
    return weights / weights.sum()


def _distance(plus, minus, cap, tol, max_iter):
    plus = np.ascontiguousarray(check_finite_array(plus, "plus", ndim=2))
    minus = np.ascontiguousarray(check_finite_array(minus, "minus", ndim=2))
    if plus.shape[0] == 0 or minus.shape[0] == 0:
        raise ValueError("both sets need at least one point")
    if plus.shape[1] != minus.shape[1]:
        raise ValueError(f"both sets must have the same dimension, got {plus.shape[1]} and {minus.shape[1]}")
    tol = check_scalar(tol, "tol", low=0.0, closed="neither")
    limit = check_scalar(max_iter, "max_iter", low=1, integer=True)
    fewest = min(plus.shape[0], minus.shape[0])
    if cap * fewest < 1.0 - 1e-12:
        raise ValueError(f"weights of at most {cap:g} cannot sum to one over {fewest} points")
    shift = plus.mean(axis=0)
    P, M = plus - shift, minus - shift
    # In units of the largest coordinate, so that squares and tolerances are those of numbers of size one.
    scale = float(max(np.abs(P).max(initial=0.0), np.abs(M).max(initial=0.0)))
    if scale > 0.0:
        P, M = P / scale, M / scale
    a, b = _start(P.shape[0], cap), _start(M.shape[0], cap)
    p, m, steps, _ = _exchange(P, M, a, b, cap, tol, limit)
    v = p - m
    length = float(np.sqrt(v @ v))
    lower = 0.0
    if length > 0.0:
        lower = max(0.0, float(_extreme(P @ v, cap) + _extreme(-(M @ v), cap)) / length)
    early = bool(steps >= limit and length > 1e-9 and lower < length * (1.0 - 10.0 * tol))
    if early:
        between = f"the hull distance, between {scale * lower:.6g} and {scale * length:.6g},"
        warn_not_converged(between, limit, None, None, "raise max_iter or tol", stacklevel=4)
    return HullDistance(scale * length, a @ plus, b @ minus, a, b, scale * lower, steps, not early)


def _extreme(products, cap):
    """The smallest product of a point of the (reduced) hull: the best corner."""
    if cap >= 1.0:
        return products.min()
    ordered = np.sort(products)
    weights = _start(products.size, cap)
    return float(ordered @ weights)


def hull_distance(plus, minus, *, tol=1e-10, max_iter=1_000_000):
    """Distance of the convex hulls of two point sets, with the nearest points.

    An exchange method for the nearest-point problem: in the hull that promises more, weight moves from the corner that
    lies farthest back to the one farthest ahead, as far as it helps. O(nd) a step, linear convergence.

    Parameters
    ----------
    plus, minus : arrays (n, d), (m, d)
    tol : float, default=1e-10
        Relative accuracy asked of the squared distance.
    max_iter : int, default=1_000_000

    Returns
    -------
    HullDistance

    Examples
    --------
    >>> near = hull_distance([[0.0, 1.0]], [[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]])
    >>> round(near.distance, 9), near.minus.round(9).tolist()
    (1.0, [0.0, 0.0])
    """
    return _distance(plus, minus, 1.0, tol, max_iter)


def reduced_hull_distance(plus, minus, D, *, tol=1e-10, max_iter=1_000_000):
    """The same for reduced hulls: no point may have a weight above 2D (the picture of the nu-machine).

    Parameters
    ----------
    plus, minus, tol, max_iter
        As for :func:`hull_distance`.
    D : float
        The constant of the direct-margin problem, D = 1/(nu n).

    Returns
    -------
    HullDistance

    Examples
    --------
    With 2D equal to one over the number of points, only the two means remain.

    >>> near = reduced_hull_distance([[0.0], [2.0]], [[-3.0], [-5.0]], 0.25)
    >>> near.distance
    5.0
    """
    D = check_scalar(D, "D", low=0.0, closed="neither")
    return _distance(plus, minus, min(1.0, 2.0 * D), tol, max_iter)
