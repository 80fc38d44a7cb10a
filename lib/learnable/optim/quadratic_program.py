"""Lagrange duality for convex quadratic programs, in matrices that can be printed (Lember 2012, Sec. 4.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from learnable.validation import Result, check_finite_array, check_scalar, check_symmetric, warn_not_converged

__all__ = ["kkt_report", "solve_qp"]


@dataclass(frozen=True)
class DualQP:
    """The dual max -1/2 m' Q m + r' m + constant, with the first `n_signed` multipliers non-negative.

    `Q` and `r` stack the inequality multipliers (first) and those of the equalities.
    """

    Q: np.ndarray
    r: np.ndarray
    constant: float
    n_signed: int
    _factor: tuple
    _stacked: np.ndarray
    _c: np.ndarray

    def value(self, alpha, beta=()):
        """The dual objective at multipliers (alpha, beta)."""
        m = np.concatenate([np.atleast_1d(alpha), np.atleast_1d(beta)]).astype(float)
        if m.shape != self.r.shape:
            raise ValueError(f"{self.r.size} multipliers are needed, got {m.size}")
        return float(-0.5 * m @ self.Q @ m + self.r @ m + self.constant)

    def primal_point(self, alpha, beta=()):
        """x = -K^{-1}(A'alpha + B'beta + c), the minimiser of the Lagrangian."""
        m = np.concatenate([np.atleast_1d(alpha), np.atleast_1d(beta)]).astype(float)
        return -linalg.cho_solve(self._factor, self._stacked.T @ m + self._c)


def _read_problem(K, c, A, d, B, e):
    K = check_finite_array(K, "K", ndim=2)
    c = check_finite_array(c, "c", ndim=1)
    size = c.size
    if K.shape != (size, size):
        raise ValueError(f"K must have shape ({size}, {size}) like c, got {K.shape}")
    K = check_symmetric(K, "K", allow_empty=True)
    A = check_finite_array(A, "A", ndim=2)
    d = check_finite_array(d, "d", ndim=1)
    if A.shape != (d.size, size):
        raise ValueError(f"A must have shape ({d.size}, {size}), got {A.shape}")
    if (B is None) != (e is None):
        raise ValueError("B and e describe the equalities together: give both or neither")
    B = np.zeros((0, size)) if B is None else check_finite_array(B, "B", ndim=2)
    e = np.zeros(0) if e is None else check_finite_array(e, "e", ndim=1)
    if B.shape != (e.size, size):
        raise ValueError(f"B must have shape ({e.size}, {size}), got {B.shape}")
    return K, c, A, d, B, e


def dual_of_qp(K, c, A, d, B=None, e=None):
    r"""Dual of min 1/2 x'Kx + c'x subject to Ax + d <= 0 and Bx + e = 0, for K positive definite.

    With M' = [A', B'] and multipliers m = (α, β), the dual maximises
    -½ m'MK⁻¹M'm + (d - AK⁻¹c)'α + (e - BK⁻¹c)'β - ½ c'K⁻¹c over
    α ≥ 0 (Lember 2012, (4.1.13); the constant, missing in (4.1.12), closes the gap).

    Parameters
    ----------
    K : array (p, p)
    c : array (p,)
    A, d : arrays (m, p), (m,)
    B, e : arrays (k, p), (k,), optional

    Returns
    -------
    DualQP

    Examples
    --------
    The point of the half-plane x >= 1 nearest to the origin: multiplier 1, value 1/2.

    >>> dual = dual_of_qp(np.eye(2), np.zeros(2), np.array([[-1.0, 0.0]]), np.array([1.0]))
    >>> dual.value([1.0]), dual.primal_point([1.0]).tolist()
    (0.5, [1.0, -0.0])
    """
    K, c, A, d, B, e = _read_problem(K, c, A, d, B, e)
    try:
        factor = linalg.cho_factor(K, lower=True)
    except linalg.LinAlgError:
        raise ValueError("K must be positive definite: only then is the dual this quadratic form") from None
    stacked = np.vstack([A, B])
    solved = linalg.cho_solve(factor, np.column_stack([stacked.T, c]))
    Q = stacked @ solved[:, :-1]
    r = np.concatenate([d, e]) - stacked @ solved[:, -1]
    return DualQP(0.5 * (Q + Q.T), r, float(-0.5 * c @ solved[:, -1]), d.size, factor, stacked, c)


@dataclass(frozen=True, eq=False)
class QPSolution(Result):
    """Minimiser and multipliers of a quadratic programme, from :func:`solve_qp`; `violation` is of its constraints."""

    x: np.ndarray
    alpha: np.ndarray
    beta: np.ndarray
    n_iter: int
    converged: bool
    violation: float


def solve_qp(K, c, A, d, B=None, e=None, *, tol=1e-10, max_iter=None):
    """Solve the quadratic program of ``dual_of_qp`` through its dual, by an active-set method.

    The dual lives on the non-negative orthant: multipliers enter when the dual still grows in them and leave when a
    step would make them negative, as in the non-negative least squares of Lawson and Hanson. Cost: one Cholesky
    factorisation of K, then O((m + k)^3) a step and rarely more than a few times the number of active constraints.

    Parameters
    ----------
    K, c, A, d, B, e
        As for ``dual_of_qp``.
    tol : float, default=1e-10
        On the dual gradient, relative to its scale.
    max_iter : int, optional
        Steps at most (default ``10 (m + 10)``).

    Returns
    -------
    QPSolution

    Raises
    ------
    ValueError
        If the constraints contradict each other (the dual is unbounded).

    Examples
    --------
    >>> best = solve_qp(np.eye(2), [0.0, 0.0], [[-1.0, 0.0], [0.0, 1.0]], [1.0, -5.0])
    >>> best.x.round(9) + 0.0, best.alpha.round(9)
    (array([1., 0.]), array([1., 0.]))
    """
    K, c, A, d, B, e = _read_problem(K, c, A, d, B, e)
    tol = check_scalar(tol, "tol", low=0.0, closed="neither")
    dual = dual_of_qp(K, c, A, d, B, e)
    m, k = d.size, e.size
    limit = 10 * (m + 10) if max_iter is None else check_scalar(max_iter, "max_iter", low=1, integer=True)
    point = np.zeros(m + k)
    active = np.zeros(m + k, dtype=bool)
    active[m:] = True
    scale = max(1.0, np.abs(dual.r).max(initial=0.0), np.abs(dual.Q).max(initial=0.0))
    if k:
        point, growing = _stationary(dual, active, scale)
        if growing is not None:
            raise ValueError("the equalities contradict each other: no point satisfies them all")
    for n_iter in range(limit):  # noqa: B007  (returned)
        gradient = dual.r - dual.Q @ point
        waiting = np.flatnonzero(~active & (gradient > tol * scale))
        if not waiting.size:
            break
        active[waiting[np.argmax(gradient[waiting])]] = True
        while True:
            target, growing = _stationary(dual, active, scale)
            signed = active.copy()
            signed[m:] = False
            if growing is not None:
                # The dual grows for ever along this direction, unless a multiplier has to leave on the way.
                negative = np.flatnonzero(signed & (growing < 0.0))
                if not negative.size:
                    raise ValueError("the constraints contradict each other: no point satisfies them all")
                ratios = -point[negative] / growing[negative]
                step = ratios.min()
                point = point + step * growing
            else:
                negative = np.flatnonzero(signed & (target <= 0.0))
                if not negative.size:
                    point = target
                    break
                ratios = point[negative] / np.maximum(point[negative] - target[negative], 1e-300)
                step = ratios.min()
                point = point + step * (target - point)
            leaving = negative[ratios <= step * (1.0 + 1e-12)]
            point[leaving] = 0.0
            active[leaving] = False
    else:
        n_iter = limit
        warn_not_converged("solve_qp", limit, None, None, "raise max_iter or tol")
    alpha, beta = point[:m], point[m:]
    x = dual.primal_point(alpha, beta)
    worst = max(np.max(A @ x + d, initial=0.0), np.abs(B @ x + e).max(initial=0.0))
    size = max(1.0, np.abs(d).max(initial=0.0), np.abs(e).max(initial=0.0), np.abs(A @ x).max(initial=0.0))
    if worst > 1e-6 * size:
        raise ValueError(f"no point satisfies all constraints (the best found violates one by {worst:.3g})")
    return QPSolution(x, alpha, beta, n_iter, n_iter < limit, float(worst))


def _stationary(dual, active, scale):
    """Maximiser of the dual with the inactive multipliers at zero (least norm where it is not unique), and None.

    If there is none, the second answer is a direction in which the dual grows linearly.
    """
    out = np.zeros(active.size)
    if not active.any():
        return out, None
    Q, r = dual.Q[np.ix_(active, active)], dual.r[active]
    out[active], *_ = linalg.lstsq(Q, r, cond=1e-12)
    residual = r - Q @ out[active]
    if np.abs(residual).max() > 1e-8 * scale:
        growing = np.zeros(active.size)
        growing[active] = residual
        return out, growing
    return out, None


@dataclass(frozen=True, eq=False)
class KKTReport(Result):
    """Violations of the conditions of Karush, Kuhn and Tucker, from :func:`kkt_report`.

    Attributes
    ----------
    stationarity : float
        Largest entry of Kx + c + A'alpha + B'beta.
    primal : float
        Largest violation of a constraint.
    sign : float
        Most negative multiplier.
    slackness : float
        Largest product of multiplier and slack, in absolute value.
    gap : float
        Primal minus dual value.
    """

    stationarity: float
    primal: float
    sign: float
    slackness: float
    gap: float


def kkt_report(x, alpha, K, c, A, d, B=None, e=None, beta=()):
    """How far (x, alpha, beta) is from satisfying the conditions of Karush, Kuhn and Tucker.

    Parameters
    ----------
    x, alpha, beta : arrays
        Primal point and multipliers.
    K, c, A, d, B, e
        The problem, as for ``dual_of_qp``.

    Returns
    -------
    KKTReport
        All zero at a solution, and only there.

    Examples
    --------
    >>> problem = (np.eye(2), np.zeros(2), np.array([[-1.0, 0.0]]), np.array([1.0]))
    >>> report = kkt_report([1.0, 0.0], [1.0], *problem)
    >>> max(abs(v) for v in vars(report).values())
    0.0
    >>> kkt_report([2.0, 0.0], [1.0], *problem).slackness
    1.0
    """
    K, c, A, d, B, e = _read_problem(K, c, A, d, B, e)
    x = check_finite_array(x, "x", ndim=1)
    alpha = check_finite_array(alpha, "alpha", ndim=1)
    beta = check_finite_array(np.atleast_1d(beta), "beta", ndim=1)
    if (x.size, alpha.size, beta.size) != (c.size, d.size, e.size):
        raise ValueError(
            f"x, alpha, beta must have {c.size}, {d.size}, {e.size} entries, got {x.size}, {alpha.size}, {beta.size}"
        )
    slack = A @ x + d
    primal = 0.5 * x @ K @ x + c @ x
    return KKTReport(
        stationarity=float(np.abs(K @ x + c + A.T @ alpha + B.T @ beta).max()),
        primal=float(max(np.max(slack, initial=0.0), np.abs(B @ x + e).max(initial=0.0))),
        sign=float(max(-np.min(alpha, initial=0.0), 0.0)),
        slackness=float(np.abs(alpha * slack).max(initial=0.0)),
        gap=float(primal - dual_of_qp(K, c, A, d, B, e).value(alpha, beta)),
    )
