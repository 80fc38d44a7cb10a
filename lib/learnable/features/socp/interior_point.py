"""A primal-dual interior-point method for the chapter's program on a few features.

With w = u - v, heads y_i for the cones and one expensive artificial variable ξ the program is

    minimise e'(u + v) + Mξ  subject to  u, v, ξ ≥ 0,  y ≥ l,  δ'w + ξ ≥ h'y,  y_i ≥ c_i‖F_i w‖.

Steps are Mehrotra's, in Nesterov and Todd's scaling. The diagonal block of u and v is eliminated, so that a step costs
one Cholesky factorisation with a row for each feature and cone. All cones are rows of one padded array: zeros at the
end of a row stay zero.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

REFINEMENTS = 2


class Interior(NamedTuple):
    """Where the iteration ended: w, the artificial variable, the duals, and how it went."""

    w: np.ndarray
    artificial: float
    lam: float
    vectors: np.ndarray
    n_iter: int
    gap: float


class _Problem(NamedTuple):
    """The restricted program: differences δ, heads' weights h, floors l, matrices A_i = c_i F_i and A_i'A_i."""

    delta: np.ndarray
    weights: np.ndarray
    floors: np.ndarray
    A: np.ndarray
    gram: np.ndarray
    price: float


def solve_restricted(delta, weights, floors, blocks, price, tol, max_iter):
    """Solve the program with the artificial variable at cost `price`; vectors are those of the rows of `blocks`.

    `blocks` has the shape (cones, rows, features). Stops when the gap is below `tol` times the objective, or when
    rounding allows no further step. Cost O(J³ + L J d) for each iteration with J features, L cones of d rows.
    """
    problem = _Problem(delta, weights, floors, blocks, blocks.transpose(0, 2, 1) @ blocks, price)
    state = _start(problem)
    best = None
    gap = np.inf
    for iteration in range(max_iter + 1):
        x, s_line, z_line, s_cone, z_cone = state
        dual = _dual_residual(problem, z_line, z_cone)
        primal_line, primal_cone = _primal_residual(problem, x, s_line, s_cone)
        objective = _cost(problem, x)
        gap = s_line @ z_line + np.vdot(s_cone, z_cone)
        dual_error = max(np.abs(dual[0]).max(), np.abs(dual[1][1:]).max(), abs(dual[1][0]) / problem.price)
        error = max(np.abs(primal_line).max(), np.abs(primal_cone).max(), dual_error)
        merit = max(gap / max(objective, 1.0), error)
        if best is None or merit < best[0]:
            best = (merit, state, gap / max(objective, 1.0))
        elif merit > 1e3 * best[0]:  # rounding has taken over
            break
        if merit < tol or iteration == max_iter:
            break
        state = _step(problem, state, dual, (primal_line, primal_cone), gap)
        if state is None:
            break
    _, (x, _, z_line, _, z_cone), gap = best
    J = len(delta)
    return Interior(x[:J] - x[J : 2 * J], x[2 * J], z_line[-1], -z_cone[:, 1:], iteration, gap)


def _start(problem):
    """Inside all cones and feasible: w = 0, heads above their floors, the artificial variable pays for them."""
    J, L = len(problem.delta), len(problem.weights)
    y = problem.floors + 1.0
    x = np.concatenate([np.full(2 * J, 1.0 / max(J, 1)), [problem.weights @ y + 1.0], y])
    s_line = _line_rows(problem, x)
    z_line = np.concatenate([np.ones(2 * J), [problem.price - 0.5], np.ones(L), [0.5]])
    s_cone = _cone_rows(problem, x)
    z_cone = np.zeros_like(s_cone)
    z_cone[:, 0] = 1.0
    return x, s_line, z_line, s_cone, z_cone


def _line_rows(problem, x):
    J = len(problem.delta)
    y = x[2 * J + 1 :]
    budget = problem.delta @ (x[:J] - x[J : 2 * J]) + x[2 * J] - problem.weights @ y
    return np.concatenate([x[: 2 * J + 1], y - problem.floors, [budget]])


def _cone_rows(problem, x):
    J = len(problem.delta)
    tails = problem.A @ (x[:J] - x[J : 2 * J])
    return np.concatenate([x[2 * J + 1 :, None], tails], axis=1)


def _transposed(problem, line, cone):
    """G'z in the coordinates (w, ξ, y) and, apart, the rows of u and v."""
    J, L = len(problem.delta), len(problem.weights)
    along = line[-1] * problem.delta + np.tensordot(cone[:, 1:], problem.A, axes=([0, 1], [0, 1]))
    rest = np.concatenate([[line[2 * J] + line[-1]], line[2 * J + 1 : 2 * J + 1 + L] - problem.weights * line[-1]])
    rest[1:] += cone[:, 0]
    return line[:J] + along, line[J : 2 * J] - along, rest


def _dual_residual(problem, z_line, z_cone):
    up, down, rest = _transposed(problem, z_line, z_cone)
    cost = np.zeros(len(rest))
    cost[0] = problem.price
    return np.concatenate([1 - up, 1 - down]), cost - rest


def _primal_residual(problem, x, s_line, s_cone):
    return s_line - _line_rows(problem, x), s_cone - _cone_rows(problem, x)


def _cost(problem, x):
    J = len(problem.delta)
    return float(x[: 2 * J].sum() + problem.price * x[2 * J])


class _Scaling(NamedTuple):
    """Nesterov and Todd's point: for lines the ratio s/z, for cones the size η² and the unit vector q."""

    ratio: np.ndarray
    size: np.ndarray
    q: np.ndarray
    lam_line: np.ndarray
    lam_cone: np.ndarray


def _scaling(s_line, z_line, s_cone, z_cone):
    s_det, z_det = _determinant(s_cone), _determinant(z_cone)
    s_unit, z_unit = s_cone / np.sqrt(s_det)[:, None], z_cone / np.sqrt(z_det)[:, None]
    q = s_unit + _mirror(z_unit)
    q /= np.sqrt(2 * (1 + np.einsum("ij,ij->i", s_unit, z_unit)))[:, None]
    size = np.sqrt(s_det / z_det)
    scaling = _Scaling(s_line / z_line, size, q, np.sqrt(s_line * z_line), np.empty(0))
    return scaling._replace(lam_cone=_apply(scaling, z_cone))


def _determinant(a):
    head = np.abs(a[:, 0])
    tail = np.sqrt(np.einsum("ij,ij->i", a[:, 1:], a[:, 1:]))
    return np.maximum((head - tail) * (head + tail), 1e-300)


def _mirror(a):
    out = -a
    out[:, 0] = a[:, 0]
    return out


def _apply(scaling, a):
    """W a for the cones."""
    q0, q1 = scaling.q[:, :1], scaling.q[:, 1:]
    inner = np.einsum("ij,ij->i", q1, a[:, 1:])[:, None]
    out = np.concatenate([q0 * a[:, :1] + inner, a[:, 1:] + q1 * (a[:, :1] + inner / (1 + q0))], axis=1)
    return np.sqrt(scaling.size)[:, None] * out


def _unapply(scaling, a):
    """W⁻¹ a for the cones."""
    q0, q1 = scaling.q[:, :1], scaling.q[:, 1:]
    inner = np.einsum("ij,ij->i", q1, a[:, 1:])[:, None]
    out = np.concatenate([q0 * a[:, :1] - inner, a[:, 1:] + q1 * (inner / (1 + q0) - a[:, :1])], axis=1)
    return out / np.sqrt(scaling.size)[:, None]


def _product(a, b):
    """The product of the cones' algebra, row by row."""
    return np.concatenate([np.einsum("ij,ij->i", a, b)[:, None], a[:, :1] * b[:, 1:] + b[:, :1] * a[:, 1:]], axis=1)


def _divide(a, d):
    """The x with a ∘ x = d, row by row."""
    head = (a[:, 0] * d[:, 0] - np.einsum("ij,ij->i", a[:, 1:], d[:, 1:])) / _determinant(a)
    return np.concatenate([head[:, None], (d[:, 1:] - head[:, None] * a[:, 1:]) / a[:, :1]], axis=1)


def _step(problem, state, dual, primal, gap):
    """One predictor-corrector step, or None if rounding does not allow it."""
    x, s_line, z_line, s_cone, z_cone = state
    L = len(problem.weights)
    scaling = _scaling(s_line, z_line, s_cone, z_cone)
    try:
        solve = _factor(problem, scaling)
    except (LinAlgError, ValueError):
        return None
    mu = gap / (len(s_line) + L)
    full = (-(scaling.lam_line**2), -_product(scaling.lam_cone, scaling.lam_cone))
    affine = _direction(problem, scaling, solve, dual, primal, full)
    room = min(1.0, _room(s_line, affine[1], s_cone, affine[3]), _room(z_line, affine[2], z_cone, affine[4]))
    sigma = (1 - room) ** 3
    line = full[0] + sigma * mu - affine[1] * affine[2]
    cone = full[1] - _product(_unapply(scaling, affine[3]), _apply(scaling, affine[4]))
    cone[:, 0] += sigma * mu
    keep = 1 - sigma
    shrunk = (keep * dual[0], keep * dual[1]), (keep * primal[0], keep * primal[1])
    dx, ds, dz, ds_cone, dz_cone = _direction(problem, scaling, solve, *shrunk, (line, cone))
    length = min(1.0, 0.99 * _room(s_line, ds, s_cone, ds_cone), 0.99 * _room(z_line, dz, z_cone, dz_cone))
    if not np.isfinite(length) or length < 1e-10:
        return None
    return (
        x + length * dx,
        s_line + length * ds,
        z_line + length * dz,
        s_cone + length * ds_cone,
        z_cone + length * dz_cone,
    )


def _factor(problem, scaling):
    """The normal equations G'W⁻²G with u and v eliminated; returns the map from right sides to (du, dv, dξ, dy)."""
    J, L = len(problem.delta), len(problem.weights)
    up, down = 1 / scaling.ratio[:J], 1 / scaling.ratio[J : 2 * J]
    rest = 1 / scaling.ratio[2 * J :]
    tails = np.matmul(scaling.q[:, None, 1:], problem.A)[:, 0, :]
    H = np.zeros((J + 1 + L, J + 1 + L))
    H[:J, :J] = np.tensordot(1 / scaling.size, problem.gram, axes=1)
    row = np.concatenate([problem.delta, [1.0], -problem.weights])
    vectors = np.zeros((L + 1, J + 1 + L))
    vectors[0] = np.sqrt(rest[-1]) * row
    heads = np.arange(L)
    vectors[1:, :J] = -tails
    vectors[1 + heads, J + 1 + heads] = scaling.q[:, 0]
    vectors[1:] *= np.sqrt(2 / scaling.size)[:, None]
    H += vectors.T @ vectors
    diagonal = np.concatenate([up * down / (up + down), [rest[0]], rest[1:-1] - 1 / scaling.size])
    H[np.diag_indices_from(H)] += diagonal
    scale = 1 / np.sqrt(np.diagonal(H))
    if not np.isfinite(scale).all():
        raise LinAlgError("the normal equations are not positive definite")
    H *= scale[:, None] * scale
    H[np.diag_indices_from(H)] += 1e-15
    factored = cho_factor(H, lower=True, overwrite_a=True, check_finite=False)

    def solve(r_up, r_down, r_rest):
        both = up * down / (up + down)
        right = scale * np.concatenate([both * (r_up / up - r_down / down), r_rest])
        found = scale * cho_solve(factored, right, check_finite=False)
        # D_u du + M dw = r_u and D_v dv - M dw = r_v, where M dw is what the w-block of the equations leaves.
        pull = both * (r_up / up - r_down / down) - both * found[:J]
        return np.concatenate([(r_up - pull) / up, (r_down + pull) / down, found[J:]])

    return solve


def _direction(problem, scaling, solve, dual, primal, complementarity):
    """Newton's direction (dx, ds, dz, ds_cone, dz_cone) for a right side of the complementarity conditions.

    The normal equations lose digits as the iterates near the boundary. What is lost shows in the dual residual, so one
    more solve with that residual on the right gives most of it back.
    """
    line, cone = complementarity
    t_line = line / scaling.lam_line
    t_cone = _divide(scaling.lam_cone, cone)
    found = _solve_once(problem, scaling, solve, dual, primal, (t_line, t_cone))
    none = (np.zeros_like(t_line), np.zeros_like(t_cone))
    for _ in range(REFINEMENTS):
        up, down, rest = _transposed(problem, found[2], found[4])
        missing = (dual[0] - np.concatenate([up, down]), dual[1] - rest)
        if max(np.abs(missing[0]).max(), np.abs(missing[1]).max()) < 1e-8:
            break
        more = _solve_once(problem, scaling, solve, missing, none, none)
        found = tuple(a + b for a, b in zip(found, more, strict=True))
    return found


def _solve_once(problem, scaling, solve, dual, primal, target):
    t_line, t_cone = target
    J = len(problem.delta)
    root = np.sqrt(scaling.ratio)
    right_line = t_line / root + primal[0] / scaling.ratio
    right_cone = _unapply(scaling, t_cone + _unapply(scaling, primal[1]))
    up, down, rest = _transposed(problem, right_line, right_cone)
    dx = solve(up - dual[0][:J], down - dual[0][J:], rest - dual[1])
    zero = problem._replace(floors=np.zeros_like(problem.floors))
    ds = _line_rows(zero, dx) - primal[0]
    ds_cone = _cone_rows(zero, dx) - primal[1]
    dz = (t_line - ds / root) / root
    dz_cone = _unapply(scaling, t_cone - _unapply(scaling, ds_cone))
    return dx, ds, dz, ds_cone, dz_cone


def _room(line, d_line, cone, d_cone):
    """The longest step that stays inside."""
    fastest = np.max(-d_line / line, initial=0.0)
    root = np.sqrt(_determinant(cone))
    unit = cone / root[:, None]
    head = unit[:, 0] * d_cone[:, 0] - np.einsum("ij,ij->i", unit[:, 1:], d_cone[:, 1:])
    tail = d_cone[:, 1:] - ((head + d_cone[:, 0]) / (unit[:, 0] + 1))[:, None] * unit[:, 1:]
    rate = (np.sqrt(np.einsum("ij,ij->i", tail, tail)) - head) / root
    fastest = max(fastest, rate.max(initial=0.0))
    return 1 / fastest if fastest > 0 else np.inf
