"""What a kernel quadratic programme is, checked, and what its solution says."""

from dataclasses import dataclass

import numpy as np

from learnable.kernels import _iteration as loops
from learnable.validation import Result, check_real_array

__all__ = ["NotSeparableError", "Solution"]


class NotSeparableError(ValueError):
    """No hyperplane separates the two classes, so that the hard-margin problem has no solution."""


@dataclass(frozen=True, eq=False)
class Solution(Result):
    """What :func:`solve` returns.

    Attributes
    ----------
    beta : ndarray (n,)
        Signed coefficients; the fitted function is ``K(x, X) @ beta + offset``.
    offset : float or ndarray
        Multiplier of the sum constraint (one for each group): the intercept. The mean over the in-bound
        coefficients, or the middle of `offset_interval` if there are none.
    offset_interval : tuple of float, or list of tuples
        All values of the offset that satisfy the optimality conditions at this beta. Degenerate (up to `violation`)
        whenever a coefficient is in-bound.
    values : ndarray (n,)
        ``K beta``: the fitted function at the points, without the offset.
    gradient : ndarray (n,)
        Gradient of the smooth part of the objective at beta.
    primal, dual, gap : float
        Values of the primal and of the dual (the maximum form, minus the objective above) and their difference, a
        bound on the distance of both from the optimum. The primal is infinite if a constraint of it is violated
        and nothing pays for that (hard margin).
    rho : float or None
        Function value at the margin, for :func:`nu_classification`.
    violation : float
        Largest violation of the optimality conditions, comparable with `tol`.
    n_iter : int
        Steps taken.
    converged : bool
    bound, inbound, zero : ndarray of int
        Indices with the coefficient at a non-zero bound, strictly between, and at zero.
    """

    beta: np.ndarray
    offset: object
    offset_interval: object
    values: np.ndarray
    gradient: np.ndarray
    primal: float
    dual: float
    gap: float
    violation: float
    n_iter: int
    converged: bool
    bound: np.ndarray
    inbound: np.ndarray
    zero: np.ndarray
    rho: float = None

    @property
    def alpha(self):
        """Absolute values of the coefficients, the multipliers of textbooks."""
        return np.abs(self.beta)

    @property
    def support(self):
        """Indices of the non-zero coefficients."""
        return np.flatnonzero(self.beta)


class Problem:
    """The linear term `q` and the separable terms of the problem, checked, in original order."""

    def __init__(self, size, q, lower, upper, ridge, ell, knee, beyond, groups):
        self.q = as_vector(q, size, "q")
        lo = as_vector(lower, size, "lower", allow_inf=True)
        hi = as_vector(upper, size, "upper", allow_inf=True)
        if np.any(lo > hi):
            raise ValueError("lower must not exceed upper")
        named = {"ridge": ridge, "ell": ell, "knee": knee, "beyond": beyond}
        d, e, m, c = (as_vector(value, size, name, low=0.0) for name, value in named.items())
        if groups is None:
            group, self.n_groups = np.zeros(size, dtype=np.int64), 1
        else:
            groups = np.asarray(groups)
            if groups.shape != (size,) or not np.issubdtype(groups.dtype, np.integer) or np.any(groups < 0):
                raise ValueError(f"groups must hold one non-negative integer for each of the {size} points")
            group, self.n_groups = groups.astype(np.int64), int(groups.max()) + 1
        self.terms = loops.Terms(np.array([lo, hi, d, e, m, c]), group)

    @property
    def lo(self):
        return self.terms.rows[loops.LO]

    @property
    def hi(self):
        return self.terms.rows[loops.HI]


def as_vector(value, size, name, *, low=-np.inf, allow_inf=False):
    if type(value) is float and low <= value < np.inf:
        return np.full(size, value)  # the usual case; what follows costs ten times more on small problems
    value = check_real_array(value, name)
    if value.ndim > 1 or (value.ndim == 1 and value.size != size):
        raise ValueError(f"{name} must be a number or have one entry for each of the {size} points, got {value.shape}")
    bad = np.isnan(value) if allow_inf else ~np.isfinite(value)
    if np.any(bad):
        raise ValueError(f"{name} must be {'free of NaN' if allow_inf else 'finite'}")
    if np.any(value < low):
        raise ValueError(f"{name} must be at least {low:g}, got {value.min():g}")
    # An array of its own: what numpy broadcasts is read-only, for which every kernel would be compiled once more.
    return np.array(np.broadcast_to(value, (size,)), order="C")


def finish(problem, beta, values, violation, steps, converged, equality, active):
    """Offsets, sets, primal and dual values at the coefficients reached."""
    state = active.state
    curve = float(beta @ values)
    if curve < -1e-6 * float(beta @ beta) * float(active.source.diagonal.max()) - 1e-300:
        raise ValueError(f"K is not positive semi-definite: beta' K beta = {curve:g} at the coefficients reached")
    z = -(problem.q + values)
    terms, lo, hi = problem.terms, problem.lo, problem.hi
    inside = (beta > lo) & (beta < hi) & ((terms.rows[loops.E] == 0.0) | (beta != 0.0))
    offsets, intervals = [], []
    for g in range(problem.n_groups if equality else 0):
        at_least = float(np.max(state.v + state.up[g]))
        at_most = float(np.min(state.v + state.low[g]))
        members = inside & (terms.group == g)
        if members.any():
            offsets.append(float(np.mean(state.v[members] + state.up[g, members])))
        elif np.isfinite(at_least) and np.isfinite(at_most):
            offsets.append(0.5 * (at_least + at_most))
        else:
            offsets.append(at_least if np.isfinite(at_least) else at_most if np.isfinite(at_most) else 0.0)
        intervals.append((min(at_least, at_most), max(at_least, at_most)))
    shift = np.asarray(offsets)[terms.group] if equality else 0.0
    cost = loops.penalties(beta, terms)
    dual = -(0.5 * curve + float(problem.q @ beta) + float(cost.sum()))
    # The inequality of Fenchel and Young, point by point: its excess is the gap.
    gap = float(np.sum(np.maximum(loops.conjugates(z - shift, terms) + cost - beta * (z - shift), 0.0)))
    one = equality and problem.n_groups == 1
    zero = beta == 0.0
    bound = ~zero & ((beta == lo) | (beta == hi))
    return Solution(
        beta=beta,
        offset=offsets[0] if one else np.asarray(offsets) if equality else 0.0,
        offset_interval=intervals[0] if one else intervals if equality else (0.0, 0.0),
        values=values,
        gradient=-(z - loops.slopes(beta, terms)),
        primal=dual + gap,
        dual=dual,
        gap=gap,
        violation=float(violation),
        n_iter=int(steps),
        converged=bool(converged),
        bound=np.flatnonzero(bound),
        inbound=np.flatnonzero(~zero & ~bound),
        zero=np.flatnonzero(zero),
    )
