"""Sequential minimal optimisation of a kernel quadratic programme."""

import warnings
from dataclasses import replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from learnable.kernels import _iteration as loops
from learnable.kernels._columns import SHARE, as_source
from learnable.kernels.smo.active import ROUND_COST, Active
from learnable.kernels.smo.solution import Problem, as_vector, finish
from learnable.validation import check_magnitude, check_scalar

__all__ = ["solve"]

# The work of a pair on one variable is the unit: what a step costs besides, how much more work than its own price must
# pairs have done before a Newton step is tried, and the largest system for it.
_STEP_COST = 500.0
_MOST_FREE = 3000
_NEWTON_PRICE = 2.0
# Bytes that a Newton step may take however small the cache is.
_ALWAYS = 1e6


def solve(
    K,
    q,
    lower,
    upper,
    *,
    X=None,
    ridge=0.0,
    ell=0.0,
    knee=0.0,
    beyond=0.0,
    groups=None,
    equality=True,
    start=None,
    start_values=None,
    tol=1e-3,
    max_iter=None,
    shrinking=True,
    newton=True,
    cache_mb=200.0,
):
    r"""Minimise a kernel quadratic program by sequential minimal optimisation.

    Parameters
    ----------
    K : array (n, n), kernel, or column source
        A Gram matrix; or a kernel (object, name or callable), with its points in `X`; or a source made by
        ``as_source``, which keeps its columns from call to call.
    q : float or array (n,)
        Linear term.
    lower, upper : float or array (n,)
        Bounds of the coefficients; may be infinite.
    X : array (n, d), optional
    ridge, ell, knee, beyond : float or array (n,), default=0
        d_k, e_k, m_k, c_k of the separable term (module docstring).
    groups : array of int (n,), optional
        The sum of the coefficients is fixed within each group; by default all points form one group.
    equality : bool, default=True
        False drops the sum constraint (a machine without intercept): one variable moves at a time.
    start : array (n,), optional
        Starting coefficients within the bounds (default 0). Their sums are the sums that stay fixed.
    start_values : array (n,), optional
        ``K @ start``, if the caller knows it: saves the columns of the start.
    tol : float, default=1e-3
        Stop when no pair violates the optimality conditions by more.
    max_iter : int, optional
        Steps at most (default ``max(10**7, 100 n)``); reaching it warns.
    shrinking : bool, default=True
        Let variables rest that cannot be part of a violating pair at present. They are checked at the end.
    newton : bool, default=True
        Mix Newton steps over all in-bound coefficients into a long run of pairs.
    cache_mb : float, default=200
        Memory for columns, if the solver makes its own source.

    Returns
    -------
    Solution

    Notes
    -----
    A step costs O(n) over the active variables, plus O(n d) when a column is not in the cache. Kernel values are kept
    in single precision (from features, for tol ≥ 10⁻⁵) or as given (Gram matrix); everything else is in double
    precision. Where the values are so large that single precision cannot certify `tol`, the iteration goes on from the
    solution reached with columns in double precision.

    Examples
    --------
    Two points at distance two, one of each class, large box: both coefficients are one half.

    >>> import numpy as np
    >>> X = np.array([[-1.0], [1.0]])
    >>> y = np.array([-1.0, 1.0])
    >>> s = solve(X @ X.T, -y, np.minimum(0, 10 * y), np.maximum(0, 10 * y))
    >>> s.beta, s.offset, float(s.dual)
    (array([-0.5,  0.5]), 0.0, 0.5)
    """
    tol = check_scalar(tol, "tol", low=0.0, closed="neither")
    source = source_for(K, X, cache_mb, tol)
    n = source.size
    if n == 0:
        raise ValueError("the problem has no points")
    if np.any(source.diagonal < 0.0):
        k = int(np.argmin(source.diagonal))
        raise ValueError(f"K is not positive semi-definite: entry ({k}, {k}) is {source.diagonal[k]:g}")
    check_magnitude(source.diagonal, "the diagonal of K", smallest=1e-290)
    problem = Problem(n, q, lower, upper, ridge, ell, knee, beyond, groups)
    if not equality and groups is not None:
        raise ValueError("groups describe equality constraints; with equality=False there are none")
    if max_iter is None:
        max_iter = max(10**7, 100 * n)
    max_iter = check_scalar(max_iter, "max_iter", low=1, integer=True)
    beta = np.clip(0.0, problem.lo, problem.hi) if start is None else as_vector(start, n, "start").copy()
    slack = 1e-9 * np.maximum(1.0, np.abs(beta))
    if np.any(beta < problem.lo - slack) or np.any(beta > problem.hi + slack):
        raise ValueError("start lies outside the bounds")
    beta = np.clip(beta, problem.lo, problem.hi)
    if start_values is not None:
        values = as_vector(start_values, n, "start_values").copy()
    else:
        values = source.dot(beta) if np.any(beta) else np.zeros(n)

    iterate = loops.iterate if equality else loops.iterate_single
    memory = (1.0 - SHARE) * 1e6 * cache_mb if source.complete else source.rest
    everyone = np.arange(n)
    unit = _rounding_unit(source)

    def slack_of(values):
        return -(problem.q + values) - loops.slopes(beta, problem.terms)

    synced, v = beta.copy(), slack_of(values)
    active = Active(problem, source, everyone, v, beta, memory)
    period = min(max(n, 100), 1000) if shrinking else max_iter
    done, work, gained, patience = 0, 0.0, 0.0, 1.0
    while True:
        stop = active.iterate(iterate, tol, min(period, max_iter - done))
        code, violation, state = stop.code, stop.violation, active.state
        done += stop.steps
        work += stop.steps * (_STEP_COST + state.v.size)
        gained += stop.decrease
        if code == loops.UNBOUNDED:
            pair = sorted(int(active.chosen[k]) for k in (stop.i, stop.j) if k >= 0)
            raise ValueError(
                f"the objective is unbounded: the points {pair} coincide in feature space, "
                "and no upper bound limits their coefficients"
            )
        if code == loops.INDEFINITE:
            pair = sorted(int(active.chosen[k]) for k in (stop.i, stop.j) if k >= 0)
            raise ValueError(f"K is not positive semi-definite: its block for the points {pair} is not")
        if newton and code == loops.BUDGET and done > 2 * state.v.size:
            # Newton steps on the free variables, whenever pairs have spent about as much work as they would cost.
            free = active.count_free()
            price = free**3 / 30.0 + 10.0 * (ROUND_COST + 0.5 * free * (state.v.size + 2.0 * free))
            room = np.inf if source.complete else max(0.5 * source.store.nbytes, _ALWAYS)
            fits = 8.0 * free * (state.v.size + 2.0 * free) <= room
            if fits and 3 <= free <= _MOST_FREE and work > patience * _NEWTON_PRICE * price:
                decrease, cost = active.newton(equality)
                patience = max(1.0, patience / 2.0) if decrease * work >= gained * cost else 2.0 * patience
                work = gained = 0.0
        beta[active.chosen] = state.beta
        if code == loops.BUDGET and done < max_iter and max(tol, violation) > unit * np.abs(beta).sum():
            keep, count = active.lasting() if shrinking else (None, 0)
            if 2 <= count < 0.8 * active.chosen.size:
                if active.whole:
                    values = -(state.v + problem.q + loops.slopes(beta, problem.terms))
                    synced = beta.copy()
                v[active.chosen] = state.v
                smaller = Active(problem, source, active.chosen[keep], v, beta, memory)
                smaller.inherit(active, keep)
                active = smaller
            continue
        if active.whole:
            v = state.v
            values = -(v + problem.q + loops.slopes(beta, problem.terms))
            break
        # Nothing moves among the active variables: bring the others up to date and look at all.
        values += source.dot(beta - synced)
        synced, v = beta.copy(), slack_of(values)
        active = Active(problem, source, everyone, v, beta, memory)
        if done >= max_iter:
            break
    converged = code == loops.DONE
    if unit * np.abs(beta).sum() > tol:
        # Columns in single precision cannot certify the tolerance: go on from here with columns in double precision.
        shape = dict(zip(("lower", "upper", "ridge", "ell", "knee", "beyond"), problem.terms.rows, strict=True))
        options = {"groups": groups, "equality": equality, "tol": tol, "shrinking": shrinking, "newton": newton}
        start = {"start": beta, "start_values": source.exact_dot(beta), "max_iter": max(max_iter - done, 1)}
        found = solve(source.in_double(), problem.q, **shape, **options, **start, cache_mb=cache_mb)
        return replace(found, n_iter=done + found.n_iter)
    if _rounding_unit(source, np.float64) * np.abs(beta).sum() > tol:
        # Steps have added up more rounding than the tolerance: the certificate is that of values computed anew.
        values = source.exact_dot(beta)
        v = slack_of(values)
        active = Active(problem, source, everyone, v, beta, memory)
        seen = _violation(active.state, equality)
        if converged and seen > 10.0 * tol:
            warnings.warn(
                f"kernel values up to {source.diagonal.max():.2g} leave too few digits even in double precision: the "
                f"conditions are violated by {seen:.2g} > tol = {tol:g}. Centre and scale the features",
                ConvergenceWarning,
                stacklevel=2,
            )
            return finish(problem, beta, values, seen, done, False, equality, active)
    if not converged:
        warnings.warn(
            f"SMO stopped after {done} steps with a violation of {violation:.2g} > tol = {tol:g}; "
            "raise max_iter or tol, or scale the features",
            ConvergenceWarning,
            stacklevel=2,
        )
    return finish(problem, beta, values, violation, done, converged, equality, active)


def _rounding_unit(source, dtype=np.float32):
    """What rounding to `dtype` may do to K beta, over |beta|_1; zero if the columns are kept in a better one."""
    kept = np.float64 if source.complete else source.store.dtype
    if np.finfo(kept).eps < np.finfo(dtype).eps:
        return 0.0
    return float(np.finfo(dtype).eps) * float(source.diagonal.max())


def _violation(state, equality):
    """Largest violation of the optimality conditions."""
    growing, falling = (state.v + state.up).max(axis=1), (state.v + state.low).min(axis=1)
    return float(np.max(growing - falling) if equality else max(growing[0], -falling[0], 0.0))


def source_for(K, X, cache_mb, tol):
    """A source of columns, in the precision that the tolerance needs."""
    cache_mb = check_scalar(cache_mb, "cache_mb", low=0.0)
    return as_source(K, X, cache_mb=cache_mb, dtype=np.float32 if tol >= 1e-5 else np.float64)
