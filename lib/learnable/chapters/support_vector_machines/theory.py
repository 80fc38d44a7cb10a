"""Margins in other words: risk bounds, the constants C, D and nu, distances of hulls (Lember 2012, Sec. 4.1-4.4).

One hyperplane has a price C, a constant D of the direct-margin problem and a share nu, and bisects the shortest segment
between two (reduced) convex hulls; bounds on its risk do not depend on the dimension.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit
from scipy.optimize import linprog

from learnable.kernels import smo
from learnable.kernels.smo.machines import signs_of
from learnable.validation import warn_not_converged


class MarginBounds(NamedTuple):
    """Four bounds on the risk, and what all of them add for the complexity and chance."""

    ramp: float
    margin_error: float
    hinge: float
    squared: float
    complexity: float


def margin_bounds(f, y, K_diag, gamma, delta=0.05):
    """Upper bounds on the risk of sgn f, for a fixed margin and f from the unit ball."""
    f, y = np.asarray(f, dtype=float), np.asarray(y, dtype=float)
    n = f.size
    margins = y * f
    error = np.maximum(gamma - margins, 0.0)
    root = 4.0 * np.sqrt(np.broadcast_to(K_diag, f.shape).sum()) / (n * gamma)
    chance = 3.0 * np.sqrt(np.log(2.0 / delta) / (2.0 * n))
    ramp = np.clip(1.0 - margins / gamma, 0.0, 1.0)
    return MarginBounds(
        ramp=float(ramp.mean() + root + chance),
        margin_error=float(np.mean(margins < gamma) + root + chance),
        hinge=float(error.mean() / gamma + root + chance),
        squared=float(np.mean(error**2) / gamma**2 + 2.0 * root + chance),
        complexity=float(root + chance),
    )


def quadratic_map(X, *, constant=None):
    """(x1^2, sqrt(2) x1 x2, x2^2) for each row, with inner product (x'y)^2; optionally a constant feature more."""
    X = np.asarray(X, dtype=float)
    columns = [X[:, 0] ** 2, np.sqrt(2.0) * X[:, 0] * X[:, 1], X[:, 1] ** 2]
    if constant is not None:
        columns.append(np.full(len(X), constant))
    return np.column_stack(columns)


class Conversion(NamedTuple):
    """One hyperplane under its three constants."""

    C: float
    D: float
    nu: float
    A: float
    margin: float
    solution: smo.Solution


def C_to_D(K, y, C, *, tol=1e-8):
    """The constant D of the direct-margin problem with the same hyperplane as the 1-norm machine of price C."""
    return _conversion(smo.classification(K, y, C, tol=tol), C)


def _conversion(s, C):
    total = float(s.alpha.sum())
    norm = float(max(s.beta @ s.values, 0.0)) ** 0.5
    return Conversion(C, C / total, total / (s.beta.size * C), total, 1.0 / norm if norm > 0.0 else np.inf, s)


def largest_D(K, y, *, tol=1e-9):
    """The limit of D = C/A as C grows: no price belongs to a larger D."""
    source = smo.as_source(K)
    y = signs_of(y, source.size)
    n = source.size
    gram = source.rows(np.arange(n)).astype(float)
    values, vectors = np.linalg.eigh(gram)
    keep = values > 1e-10 * max(values[-1], 1e-300)
    features = vectors[:, keep] * np.sqrt(values[keep])
    # Variables (beta, t): minimise t with beta <= t, sum over each class 1/2, and the two class means equal.
    equal = np.vstack([(features * y[:, None]).T, (y > 0).astype(float), (y < 0).astype(float)])
    equal = np.hstack([equal, np.zeros((equal.shape[0], 1))])
    right = np.concatenate([np.zeros(features.shape[1]), [0.5, 0.5]])
    below = np.hstack([np.eye(n), -np.ones((n, 1))])
    cost = np.zeros(n + 1)
    cost[-1] = 1.0
    answer = linprog(cost, A_ub=below, b_ub=np.zeros(n), A_eq=equal, b_eq=right, bounds=[(0, None)] * (n + 1))
    return float(answer.fun) if answer.status == 0 else np.inf


@dataclass(frozen=True)
class HullDistance:
    """Nearest points of two convex hulls."""

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
    plus, minus = (np.ascontiguousarray(P, dtype=float) for P in (plus, minus))
    shift = plus.mean(axis=0)
    P, M = plus - shift, minus - shift
    # In units of the largest coordinate, so that squares and tolerances are those of numbers of size one.
    scale = float(max(np.abs(P).max(initial=0.0), np.abs(M).max(initial=0.0)))
    if scale > 0.0:
        P, M = P / scale, M / scale
    a, b = _start(P.shape[0], cap), _start(M.shape[0], cap)
    p, m, steps, _ = _exchange(P, M, a, b, cap, tol, max_iter)
    v = p - m
    length = float(np.sqrt(v @ v))
    lower = 0.0
    if length > 0.0:
        lower = max(0.0, float(_extreme(P @ v, cap) + _extreme(-(M @ v), cap)) / length)
    early = bool(steps >= max_iter and length > 1e-9 and lower < length * (1.0 - 10.0 * tol))
    if early:
        between = f"the hull distance, between {scale * lower:.6g} and {scale * length:.6g},"
        warn_not_converged(between, max_iter, None, None, "raise max_iter or tol", stacklevel=4)
    return HullDistance(scale * length, a @ plus, b @ minus, a, b, scale * lower, steps, not early)


def _extreme(products, cap):
    """The smallest product of a point of the (reduced) hull: the best corner."""
    if cap >= 1.0:
        return products.min()
    ordered = np.sort(products)
    weights = _start(products.size, cap)
    return float(ordered @ weights)


def hull_distance(plus, minus, *, tol=1e-10, max_iter=1_000_000):
    """Distance of the convex hulls of two point sets, with the nearest points."""
    return _distance(plus, minus, 1.0, tol, max_iter)


def reduced_hull_distance(plus, minus, D, *, tol=1e-10, max_iter=1_000_000):
    """The same for reduced hulls: no point may have a weight above 2D (the picture of the nu-machine)."""
    return _distance(plus, minus, min(1.0, 2.0 * D), tol, max_iter)


def is_saddle_point(L, x, alpha, grid, *, tol=1e-9):
    """Whether L(x, a) <= L(x, alpha) <= L(z, alpha) for all a and z of a grid."""
    points, multipliers = grid
    centre = L(x, alpha)
    return all(L(x, a) <= centre + tol for a in multipliers) and all(L(z, alpha) >= centre - tol for z in points)
