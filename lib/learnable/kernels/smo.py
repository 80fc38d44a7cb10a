r"""One solver for the quadratic programs of kernel machines.

Support vector machines of every kind, ε-insensitive regression, one-class and transductive variants
all minimise

::

    ½ β' K β + q'β + Σ_k r_k(β_k),
    r_k(t) = ½ d_k t² + e_k |t| + ½ c_k (|t| - m_k)_+² on [l_k, u_k],

over signed coefficients β whose sum is fixed, in total or within each of a few groups. :func:`solve` does
that by sequential minimal optimisation: two variables move at a time, the pair being chosen by the second-order rule
of Fan, Chen and Lin (2005). The functions after it translate the usual problems: :func:`classification`,
:func:`nu_classification`, ``nearest_points``, :func:`regression`.

In signed coefficients (β_k = y_kα_k for a classifier) the kernel matrix appears without labels. So
one ``ColumnCache`` serves all problems over the same points: each class against the
rest, every value of C, every split into groups.
"""

import warnings
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.exceptions import ConvergenceWarning

from learnable.kernels import _iteration as loops
from learnable.kernels._columns import SHARE, ColumnCache, GramSource, as_source
from learnable.validation import Result, check_choice, check_finite_array, check_scalar

__all__ = [
    "ColumnCache",
    "GramSource",
    "NotSeparableError",
    "Solution",
    "as_source",
    "classification",
    "classification_path",
    "nu_classification",
    "regression",
    "solve",
]


# The work of a pair on one variable is the unit: what a step costs besides, how much more work than its own price must
# pairs have done before a Newton step is tried, the largest system for it, and its number of rounds.
_STEP_COST = 500.0
_MOST_FREE = 3000
_NEWTON_ROUNDS = 30
_NEWTON_PRICE = 2.0
_ROUND_COST = 1e5


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


def _vector(value, size, name, *, low=-np.inf, allow_inf=False):
    value = np.asarray(value, dtype=float)
    if value.ndim > 1 or (value.ndim == 1 and value.size != size):
        raise ValueError(f"{name} must be a number or have one entry for each of the {size} points, got {value.shape}")
    bad = np.isnan(value) if allow_inf else ~np.isfinite(value)
    if np.any(bad):
        raise ValueError(f"{name} must be {'free of NaN' if allow_inf else 'finite'}")
    if np.any(value < low):
        raise ValueError(f"{name} must be at least {low:g}, got {value.min():g}")
    return np.ascontiguousarray(np.broadcast_to(value, (size,)), dtype=float)


class _Problem:
    """The separable part of the problem, checked, in original order."""

    def __init__(self, size, q, lower, upper, ridge, ell, knee, beyond, groups):
        self.q = _vector(q, size, "q")
        self.lo = _vector(lower, size, "lower", allow_inf=True)
        self.hi = _vector(upper, size, "upper", allow_inf=True)
        if np.any(self.lo > self.hi):
            raise ValueError("lower must not exceed upper")
        self.ridge = _vector(ridge, size, "ridge", low=0.0)
        self.ell = _vector(ell, size, "ell", low=0.0)
        self.knee = _vector(knee, size, "knee", low=0.0)
        self.beyond = _vector(beyond, size, "beyond", low=0.0)
        if groups is None:
            self.group, self.n_groups = np.zeros(size, dtype=np.int64), 1
        else:
            groups = np.asarray(groups)
            if groups.shape != (size,) or not np.issubdtype(groups.dtype, np.integer) or np.any(groups < 0):
                raise ValueError(f"groups must hold one non-negative integer for each of the {size} points")
            self.group, self.n_groups = groups.astype(np.int64), int(groups.max()) + 1


class _Active:
    """Compact copies of everything about the variables that still move, and a store of their columns."""

    def __init__(self, problem, source, chosen, v, beta, memory):
        self.source, self.chosen = source, chosen
        self.whole = chosen.size == source.size
        self.lo, self.hi = problem.lo[chosen], problem.hi[chosen]
        self.ridge, self.ell = problem.ridge[chosen], problem.ell[chosen]
        self.knee, self.beyond = problem.knee[chosen], problem.beyond[chosen]
        self.group = problem.group[chosen]
        self.diagonal = source.diagonal[chosen] + self.ridge
        self.v, self.beta = v[chosen], beta[chosen]
        n = chosen.size
        self.up, self.low = np.empty((problem.n_groups, n)), np.empty((problem.n_groups, n))
        self.curve_up, self.curve_low = np.empty(n), np.empty(n)
        self._prepare()
        self.clock = 1
        if self.whole and source.complete:
            self.store, self.slot = source.matrix, np.arange(n)
            self.stamp = np.zeros(n, dtype=np.int64)
        elif self.whole:
            self.store, self.slot, self.stamp, self.clock = source.store, source.slot, source.stamp, source.clock
        else:
            dtype = source.matrix.dtype if source.complete else source.store.dtype
            slots = int(min(n, max(4, memory // (n * dtype.itemsize))))
            self.store = np.empty((slots, n), dtype=dtype)
            self.slot, self.owner = np.full(n, -1), np.full(slots, -1)
            self.stamp = np.zeros(slots, dtype=np.int64)
            self.filled = 0
            self.points = None

    def _prepare(self):
        """Shifts and curvatures of all variables at their present values."""
        loops.prepare(
            self.beta, self.up, self.low, self.curve_up, self.curve_low,
            self.lo, self.hi, self.diagonal, self.ell, self.knee, self.beyond, self.group,
        )  # fmt: skip

    def iterate(self, iterate, tol, budget):
        """Run the compiled loop until it stops or needs something; supply columns as it asks."""
        done, decrease = 0, 0.0
        while True:
            code, wanted, protect, steps, violation, self.clock, gain = iterate(
                self.v, self.beta, self.up, self.low, self.curve_up, self.curve_low, self.lo, self.hi,
                self.diagonal, self.ridge, self.ell, self.knee, self.beyond, self.group,
                self.store, self.slot, self.stamp, self.clock, tol, budget - done,
            )  # fmt: skip
            done += steps
            decrease += gain
            if code != loops.NEED:
                if self.whole and not self.source.complete:
                    self.source.clock = self.clock
                return code, wanted, protect, done, violation, decrease
            self._supply(wanted, protect)

    def _candidates(self, column, count):
        """`column`, and further variables that violate the conditions most and have no column yet."""
        if count <= 1:
            return np.array([column])
        return loops.urgent(self.v, self.up, self.low, self.slot, column, count)

    def _supply(self, column, protect):
        """Make the column of active variable `column` available, without giving up that of `protect`."""
        source = self.source
        if self.whole:
            source.clock = self.clock
            source.fetch(self._candidates(column, source.block()), protect)
            self.clock = source.clock
            return
        original = self.chosen[column]
        if source.complete:
            self._put([column], [source.matrix[original][self.chosen]], protect)
        elif source.slot[original] >= 0:
            self._put([column], [source.store[source.slot[original]][self.chosen]], protect)
        else:
            if self.points is None:
                self.points = source.restrict(self.chosen)
            wanted = self._candidates(column, min(source.block(), self.store.shape[0] // 4))
            self._put(wanted, self.points.rows(wanted), protect)

    def _put(self, columns, rows, protect):
        for column, row in zip(columns, rows, strict=True):
            if self.filled < self.store.shape[0]:
                place = self.filled
                self.filled += 1
            else:
                place = int(np.argmin(self.stamp))
                if protect >= 0 and place == self.slot[protect]:
                    held, self.stamp[place] = self.stamp[place], np.iinfo(np.int64).max
                    place = int(np.argmin(self.stamp))
                    self.stamp[self.slot[protect]] = held
                self.slot[self.owner[place]] = -1
            self.store[place] = row
            self.owner[place] = column
            self.slot[column] = place
            self.stamp[place] = self.clock
            self.clock += 1

    def free(self):
        """Variables strictly inside their piece: the objective is one quadratic function of them."""
        inside = (self.beta > self.lo) & (self.beta < self.hi) & ((self.ell == 0.0) | (self.beta != 0.0))
        return np.flatnonzero(inside & ((self.beyond == 0.0) | (np.abs(self.beta) != self.knee)))

    def columns(self, wanted):
        """Columns of active variables as rows, cached or computed."""
        source = self.source
        if source.complete:
            rows = source.matrix[self.chosen[wanted]]
            return rows if self.whole else rows[:, self.chosen]
        out = np.empty((wanted.size, self.chosen.size), dtype=self.store.dtype)
        there = self.slot[wanted] >= 0
        out[there] = self.store[self.slot[wanted[there]]]
        missing = np.flatnonzero(~there)
        if missing.size and not self.whole and self.points is None:
            self.points = source.restrict(self.chosen)
        evaluate = source if self.whole else self.points
        for part in np.array_split(missing, max(1, missing.size // 64)):
            if part.size:
                out[part] = evaluate.rows(wanted[part])
        return out

    def newton(self, equality, rounds=_NEWTON_ROUNDS):
        """Minimise over the free variables by Newton steps, each up to the first bound. Returns (decrease, cost).

        Pairs of variables crawl where many in-bound coefficients depend on each other (large C, smooth kernel); one
        linear system takes them all to the minimum of their quadratic function. A variable that meets a bound on the
        way stays there: one more linear constraint on the next step, which needs no new factorisation. `cost` counts
        operations, in units of the work of a pair on one variable.
        """
        members = self.free()
        if members.size < 3:
            return 0.0, 1.0
        rows = self.columns(members)
        lo, hi, ridge, ell = self.lo[members], self.hi[members], self.ridge[members], self.ell[members]
        knee, beyond = self.knee[members], self.beyond[members]
        x, everyone = self.beta[members], np.arange(members.size)
        sign = np.sign(x) * ell
        # The piece that each variable is in: from bound, kink or knee to the next one.
        bend = np.where(beyond > 0.0, knee, np.inf)
        low = np.maximum(lo, np.where(x > bend, bend, np.where((x > 0.0) & (ell > 0.0), 0.0, np.maximum(-bend, lo))))
        low = np.where(x < -bend, lo, low)
        high = np.minimum(hi, np.where(x < -bend, -bend, np.where((x < 0.0) & (ell > 0.0), 0.0, np.minimum(bend, hi))))
        high = np.where(x > bend, hi, high)
        block = rows[:, members].astype(float)
        block[np.diag_indices_from(block)] += ridge + np.where(np.abs(x) > bend, beyond, 0.0)
        system = _Constrained(block, self.group[members] if equality else None)
        total, cost = 0.0, members.size**3 / 30.0
        for _ in range(rounds if system.ready else 0):
            force = self.v[members] - sign
            direction = system.solve(force)
            cost += _ROUND_COST + 0.5 * members.size * (self.v.size + 2.0 * members.size)
            if direction is None:
                break
            with np.errstate(divide="ignore", invalid="ignore"):
                limit = np.where(direction > 0.0, high - x, low - x) / direction
            limit[direction == 0.0] = np.inf
            length = min(1.0, float(limit.min()))
            gain = length * float(direction @ force) - 0.5 * length**2 * float(direction @ (block @ direction))
            if not gain > 1e-12 * total:
                break
            hit = limit <= length * (1.0 + 1e-12)
            new = np.where(hit, np.where(direction > 0.0, high, low), x + length * direction)
            loops.add_rows(rows, everyone, x - new, self.v)
            self.v[members] += loops.slopes(x, ridge, knee, beyond) - loops.slopes(new, ridge, knee, beyond)
            x = new
            total += gain
            if length == 1.0 or not system.fix(np.flatnonzero(hit)):
                break
        self.beta[members] = x
        self._prepare()
        return total, cost

    def lasting(self):
        """Which variables could be part of a violating pair at present (the others may rest)."""
        keep = np.zeros(self.v.size, dtype=bool)
        for g, (up, low) in enumerate(zip(self.up, self.low, strict=True)):
            growing, falling = self.v + up, self.v + low
            keep |= ((growing > falling.min()) | (falling < growing.max())) & (self.group == g)
        return keep

    def inherit(self, other, keep):
        """Take over the cached columns of a larger active set, of which this one is the part `keep`."""
        if other.whole:
            return
        room = self.store.shape[0]
        held = np.flatnonzero(keep & (other.slot >= 0))
        position = np.cumsum(keep) - 1
        latest = held[np.argsort(-other.stamp[other.slot[held]], kind="stable")][:room]
        for column in latest[::-1]:
            self._put([position[column]], [other.store[other.slot[column]][keep]], -1)


class _Constrained:
    """Minimisers of 1/2 d' A d - force' d under linear constraints that grow in number: group sums, fixed variables."""

    def __init__(self, block, group):
        self.ready = False
        self.fixed = np.zeros(block.shape[0], dtype=bool)
        scale = float(np.trace(block)) / block.shape[0]
        shifted = block.copy()
        for jitter in (1e-9, 1e-7, 1e-5):
            shifted[np.diag_indices_from(shifted)] += jitter * scale
            try:
                self.factor = cho_factor(shifted, lower=True, check_finite=False)
            except np.linalg.LinAlgError:
                continue
            self.ready = True
            break
        if self.ready:
            n = block.shape[0]
            self.sums = np.zeros((n, 0)) if group is None else (group[:, None] == np.unique(group)).astype(float)
            self.constraints = self.sums.copy()
            self.responses = cho_solve(self.factor, self.constraints, check_finite=False)

    def fix(self, indices):
        """Keep the variables `indices` where they are from now on; False if too few remain free."""
        self.fixed[indices] = True
        units = np.zeros((self.fixed.size, indices.size))
        units[indices, np.arange(indices.size)] = 1.0
        self.constraints = np.hstack([self.constraints, units])
        self.responses = np.hstack([self.responses, cho_solve(self.factor, units, check_finite=False)])
        free_members = self.sums[~self.fixed].sum(axis=0)
        return (~self.fixed).sum() >= 3 and np.all(free_members != 1)

    def solve(self, force):
        """The minimiser, or None if rounding errors leave none."""
        step = cho_solve(self.factor, force, check_finite=False)
        if self.constraints.shape[1]:
            try:
                price = np.linalg.solve(self.constraints.T @ self.responses, self.constraints.T @ step)
            except np.linalg.LinAlgError:
                return None
            step = step - self.responses @ price
        # Remove what rounding left: fixed variables do not move, and sums stay exactly.
        step[self.fixed] = 0.0
        moving = self.sums * ~self.fixed[:, None]
        count = np.maximum(moving.sum(axis=0), 1.0)
        step -= moving @ ((moving.T @ step) / count)
        return step if np.all(np.isfinite(step)) else None


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
    in single precision (from features) or as given (Gram matrix); everything else is in double precision. For
    tol < 10⁻⁵ give a Gram matrix or a ``ColumnCache(..., dtype=np.float64)``.

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
    source = _source_for(K, X, cache_mb, tol)
    n = source.size
    if n == 0:
        raise ValueError("the problem has no points")
    if np.any(source.diagonal < 0.0):
        k = int(np.argmin(source.diagonal))
        raise ValueError(f"K is not positive semi-definite: entry ({k}, {k}) is {source.diagonal[k]:g}")
    problem = _Problem(n, q, lower, upper, ridge, ell, knee, beyond, groups)
    if not equality and groups is not None:
        raise ValueError("groups describe equality constraints; with equality=False there are none")
    if max_iter is None:
        max_iter = max(10**7, 100 * n)
    max_iter = check_scalar(max_iter, "max_iter", low=1, integer=True)
    beta = np.clip(0.0, problem.lo, problem.hi) if start is None else _vector(start, n, "start").copy()
    slack = 1e-9 * np.maximum(1.0, np.abs(beta))
    if np.any(beta < problem.lo - slack) or np.any(beta > problem.hi + slack):
        raise ValueError("start lies outside the bounds")
    beta = np.clip(beta, problem.lo, problem.hi)
    if start_values is not None:
        values = _vector(start_values, n, "start_values").copy()
    else:
        values = source.dot(beta) if np.any(beta) else np.zeros(n)

    iterate = loops.iterate if equality else loops.iterate_single
    memory = 0.25e6 * cache_mb if source.complete else source.store.nbytes * (1.0 - SHARE) / SHARE
    everyone = np.arange(n)

    def slack_of(values):
        return -(problem.q + values) - loops.slopes(beta, problem.ridge, problem.knee, problem.beyond)

    synced, v = beta.copy(), slack_of(values)
    active = _Active(problem, source, everyone, v, beta, memory)
    period = min(max(n, 100), 1000) if shrinking else max_iter
    done, work, gained, patience = 0, 0.0, 0.0, 1.0
    while True:
        code, i, j, steps, violation, decrease = active.iterate(iterate, tol, min(period, max_iter - done))
        done += steps
        work += steps * (_STEP_COST + active.v.size)
        gained += decrease
        if code == loops.UNBOUNDED:
            pair = sorted(int(active.chosen[k]) for k in (i, j) if k >= 0)
            raise ValueError(
                f"the objective is unbounded: the points {pair} coincide in feature space, "
                "and no upper bound limits their coefficients"
            )
        if code == loops.INDEFINITE:
            pair = sorted(int(active.chosen[k]) for k in (i, j) if k >= 0)
            raise ValueError(f"K is not positive semi-definite: its block for the points {pair} is not")
        if newton and code == loops.BUDGET and done > 2 * active.v.size:
            # Newton steps on the free variables, whenever pairs have spent about as much work as they would cost.
            free = active.free().size
            price = free**3 / 30.0 + 10.0 * (_ROUND_COST + 0.5 * free * (active.v.size + 2.0 * free))
            fits = source.complete or 8.0 * free * (active.v.size + 2.0 * free) <= 0.5 * source.store.nbytes
            if fits and 3 <= free <= _MOST_FREE and work > patience * _NEWTON_PRICE * price:
                decrease, cost = active.newton(equality)
                patience = max(1.0, patience / 2.0) if decrease * work >= gained * cost else 2.0 * patience
                work = gained = 0.0
        beta[active.chosen] = active.beta
        if code == loops.BUDGET and done < max_iter:
            keep = active.lasting() if shrinking else None
            if keep is not None and 2 <= keep.sum() < 0.8 * keep.size:
                if active.whole:
                    values = -(active.v + problem.q + loops.slopes(beta, problem.ridge, problem.knee, problem.beyond))
                    synced = beta.copy()
                v[active.chosen] = active.v
                smaller = _Active(problem, source, active.chosen[keep], v, beta, memory)
                smaller.inherit(active, keep)
                active = smaller
            continue
        if active.whole:
            v = active.v
            values = -(v + problem.q + loops.slopes(beta, problem.ridge, problem.knee, problem.beyond))
            break
        # Nothing moves among the active variables: bring the others up to date and look at all.
        values += source.dot(beta - synced)
        synced, v = beta.copy(), slack_of(values)
        active = _Active(problem, source, everyone, v, beta, memory)
        if done >= max_iter:
            break
    converged = code == loops.DONE
    if not source.complete and source.store.dtype == np.float32:
        # What rounding to single precision may do to the values; beyond tol they are no certificate.
        noise = np.finfo(np.float32).eps * float(source.diagonal.max()) * float(np.abs(beta).sum())
        if noise > tol:
            values = source.exact_dot(beta)
            v = slack_of(values)
            active = _Active(problem, source, everyone, v, beta, memory)
            seen = max(float(np.max(v + up) - np.min(v + low)) for up, low in zip(active.up, active.low, strict=True))
            if converged and equality and seen > 10.0 * tol:
                violation, converged = seen, False
                warnings.warn(
                    f"kernel values up to {source.diagonal.max():.2g} are too coarse in single precision: the "
                    f"conditions are violated by {seen:.2g} > tol = {tol:g}. Centre and scale the features, or take "
                    "tol below 1e-5, which keeps columns in double precision",
                    ConvergenceWarning,
                    stacklevel=2,
                )
                return _finish(problem, beta, values, violation, done, converged, equality, active)
    if not converged:
        warnings.warn(
            f"SMO stopped after {done} steps with a violation of {violation:.2g} > tol = {tol:g}; "
            "raise max_iter or tol, or scale the features",
            ConvergenceWarning,
            stacklevel=2,
        )
    return _finish(problem, beta, values, violation, done, converged, equality, active)


def _finish(problem, beta, values, violation, steps, converged, equality, active):
    """Offsets, sets, primal and dual values at the coefficients reached."""
    curve = float(beta @ values)
    if curve < -1e-6 * float(beta @ beta) * float(active.source.diagonal.max()) - 1e-300:
        raise ValueError(f"K is not positive semi-definite: beta' K beta = {curve:g} at the coefficients reached")
    z = -(problem.q + values)
    inside = (beta > problem.lo) & (beta < problem.hi) & ((problem.ell == 0.0) | (beta != 0.0))
    offsets, intervals = [], []
    for g in range(problem.n_groups if equality else 0):
        at_least = float(np.max(active.v + active.up[g]))
        at_most = float(np.min(active.v + active.low[g]))
        members = inside & (problem.group == g)
        if members.any():
            offsets.append(float(np.mean(active.v[members] + active.up[g, members])))
        elif np.isfinite(at_least) and np.isfinite(at_most):
            offsets.append(0.5 * (at_least + at_most))
        else:
            offsets.append(at_least if np.isfinite(at_least) else at_most if np.isfinite(at_most) else 0.0)
        intervals.append((min(at_least, at_most), max(at_least, at_most)))
    shift = np.asarray(offsets)[problem.group] if equality else 0.0
    cost = loops.penalties(beta, problem.ridge, problem.ell, problem.knee, problem.beyond)
    dual = -(0.5 * curve + float(problem.q @ beta) + float(cost.sum()))
    separable = (problem.lo, problem.hi, problem.ridge, problem.ell, problem.knee, problem.beyond)
    terms = loops.conjugates(z - shift, *separable)
    gap = float(np.sum(np.maximum(terms + cost - beta * (z - shift), 0.0)))
    one = equality and problem.n_groups == 1
    zero = beta == 0.0
    bound = ~zero & ((beta == problem.lo) | (beta == problem.hi))
    return Solution(
        beta=beta,
        offset=offsets[0] if one else np.asarray(offsets) if equality else 0.0,
        offset_interval=intervals[0] if one else intervals if equality else (0.0, 0.0),
        values=values,
        gradient=-(z - loops.slopes(beta, problem.ridge, problem.knee, problem.beyond)),
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


def _signs(y, size):
    y = np.asarray(y)
    if y.shape != (size,):
        raise ValueError(f"y must have one label for each of the {size} points, got shape {y.shape}")
    if not np.all(np.isin(y, (-1, 1))):
        raise ValueError("y must hold the labels -1 and +1")
    y = y.astype(float)
    if np.all(y == y[0]):
        raise ValueError(f"y holds the single class {y[0]:g}: a classifier needs both")
    return y


def _source_for(K, X, cache_mb, tol):
    """A source of columns, in the precision that the tolerance needs."""
    return as_source(K, X, cache_mb=cache_mb, dtype=np.float32 if tol >= 1e-5 else np.float64)


def _box(C, size):
    """C as one positive number for each point."""
    C = _vector(C, size, "C", allow_inf=True)
    if np.any(C <= 0.0):
        raise ValueError(f"C must be positive, got {C.min():g}")
    return C


def classification(
    K, y, C=1.0, *, X=None, norm=1, C2=None, equality=True, start=None, start_values=None, tol=1e-3,
    max_iter=None, shrinking=True, cache_mb=200.0,
):  # fmt: skip
    r"""Solve the dual of a soft-margin support vector machine.

    The primal is ½‖w‖² plus, for the slacks ξ_k = (1 - y_k f(x_k))_+,

    - ``norm=1``: Σ C_k ξ_k;
    - ``norm=2``: ½ Σ C_k ξ_k²;
    - ``norm="mixed"``: Σ C_k ξ_k + ½ C₂ Σ ξ_k².

    Parameters
    ----------
    K, X, equality, start, start_values, tol, max_iter, shrinking, cache_mb
        As for :func:`solve`.
    y : array (n,)
        Labels -1 and +1, both present.
    C : float or array (n,), default=1
        Price of a slack, one for all or one for each point. Infinite with ``norm=1`` asks for the hard margin;
        :class:`NotSeparableError` says that there is none.
    norm : {1, 2, "mixed"}, default=1
    C2 : float, optional
        Price of the squares, for ``norm="mixed"``.

    Returns
    -------
    Solution

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]])
    >>> s = classification(X @ X.T, [-1, 1, 1, 1], C=np.inf, tol=1e-9)
    >>> float(round(s.dual, 6)), float(round(s.alpha.sum(), 6))
    (2.0, 4.0)
    """
    tol = check_scalar(tol, "tol", low=0.0, closed="neither")
    source = _source_for(K, X, cache_mb, tol)
    n = source.size
    y = _signs(y, n)
    C = _box(C, n)
    check_choice(norm, "norm", (1, 2, "mixed"))
    if (norm == "mixed") != (C2 is not None):
        raise ValueError('C2 belongs to norm="mixed", and only to it')
    options = {"equality": equality, "tol": tol, "max_iter": max_iter, "shrinking": shrinking, "cache_mb": cache_mb}
    if norm == 1 and np.all(np.isinf(C)):
        if not equality:
            raise ValueError("the hard margin is solved with an intercept; append a constant feature instead")
        return _hard_margin(source, y, tol, max_iter)
    if np.any(np.isinf(C)):
        raise ValueError("C must be finite (or infinite for all points, with norm=1)")
    shape = {"lower": np.minimum(0.0, y * C), "upper": np.maximum(0.0, y * C)}
    if norm == 2:
        shape = {"lower": np.where(y < 0, -np.inf, 0.0), "upper": np.where(y > 0, np.inf, 0.0), "ridge": 1.0 / C}
    elif norm == "mixed":
        C2 = check_scalar(C2, "C2", low=0.0, closed="neither")
        shape = {"lower": np.where(y < 0, -np.inf, 0.0), "upper": np.where(y > 0, np.inf, 0.0)}
        shape |= {"knee": C, "beyond": 1.0 / C2}
    return solve(source, -y, start=start, start_values=start_values, **shape, **options)


def _hard_margin(source, y, tol, max_iter):
    """The hard margin through the nearest points of the two hulls: a problem that always has a solution."""
    near = nearest_points(source, y, tol=tol, max_iter=max_iter)
    squared = float(near.beta @ near.values)
    factor = 2.0 / squared
    beta, values = near.beta * factor, near.values * factor
    # f = values + offset is +1 on the nearest points of one class and -1 on those of the other.
    low, high = float(np.max(values[y < 0])), float(np.min(values[y > 0]))
    offset = -0.5 * (low + high)
    dual = float(np.abs(beta).sum() - 0.5 * beta @ values)
    # Stretched until every point keeps its margin, the function is feasible: its norm is the primal value.
    primal = 0.5 * float(beta @ values) * (2.0 / (high - low)) ** 2
    slack = float(np.max(np.maximum(1.0 - y * (values + offset), 0.0)))
    zero = beta == 0.0
    return Solution(
        beta=beta, offset=offset, offset_interval=(offset, offset), values=values, gradient=values - y, primal=primal,
        dual=dual, gap=max(primal - dual, 0.0), violation=2.0 * slack, n_iter=near.n_iter, converged=near.converged,
        bound=np.empty(0, dtype=int), inbound=np.flatnonzero(~zero), zero=np.flatnonzero(zero),
    )  # fmt: skip


def _first_weights(y, total, cap):
    """Signed weights of at most `cap` on the first points of each class, which sum to plus or minus `total`."""
    beta = np.zeros(y.size)
    for sign in (-1.0, 1.0):
        left = total
        for k in np.flatnonzero(y == sign):
            beta[k] = sign * min(cap, left)
            left -= abs(beta[k])
            if left <= 1e-15:
                break
    return beta


def nearest_points(K, y, *, X=None, cap=1.0, tol=1e-3, max_iter=None, cache_mb=200.0):
    r"""Nearest points of the convex hulls of two classes.

    Minimises ½‖Σ_k β_k Φ(x_k)‖² with coefficients that sum to +1 over the class +1, to
    -1 over the class -1, and are at most `cap` in absolute value (a cap below one shrinks the hulls).

    Parameters
    ----------
    K, y, X, max_iter, cache_mb
        As for :func:`classification`.
    cap : float, default=1
    tol : float, default=1e-3
        Relative: stop when the squared distance is known to a factor 1 + tol.

    Returns
    -------
    Solution
        ``beta @ values`` is the squared distance.

    Raises
    ------
    NotSeparableError
        If ``cap >= 1`` and the hulls meet (within 1e-6 of the diameter of the data).

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 3.0], [2.0, 0.0], [2.0, 1.0], [-5.0, 0.0]])
    >>> s = nearest_points(X @ X.T, [1, 1, 1, -1], tol=1e-9)
    >>> round(float(s.beta @ s.values) ** 0.5, 6)
    5.830952
    """
    source = _source_for(K, X, cache_mb, min(tol, 1e-6))
    n = source.size
    y = _signs(y, n)
    cap = check_scalar(cap, "cap", low=0.0, closed="neither")
    tol = check_scalar(tol, "tol", low=0.0, closed="neither")
    fewest = int(min((y > 0).sum(), (y < 0).sum()))
    if cap * fewest < 1.0 - 1e-12:
        raise ValueError(f"cap must be at least 1 / {fewest}, the size of the smaller class; got {cap:g}")
    beta = _first_weights(y, 1.0, cap)
    lower, upper = np.where(y < 0, -cap, 0.0), np.where(y > 0, cap, 0.0)
    scale = float(source.diagonal.max())
    level, values, total = max(1e-2 * scale, 1e-300), None, 0
    while True:
        s = solve(
            source, 0.0, lower, upper, groups=(y > 0).astype(int), start=beta, start_values=values, tol=level,
            max_iter=max_iter, cache_mb=cache_mb,
        )  # fmt: skip
        beta, values, total = s.beta, s.values, total + s.n_iter
        squared = float(beta @ values)
        if cap >= 1.0 and squared <= 1e-12 * scale:
            raise NotSeparableError(
                "the two classes cannot be separated: their convex hulls meet; use a finite C (soft margin)"
            )
        if s.gap <= 0.5 * tol * squared or not s.converged or squared <= 1e-14 * scale:
            return replace(s, n_iter=total)
        level *= 0.1


def nu_classification(K, y, nu, *, X=None, tol=1e-3, max_iter=None, shrinking=True, cache_mb=200.0):
    r"""Solve the dual of the ν-support vector machine in the scale of the nearest-points problem.

    Minimises ½‖Σ_k β_k Φ(x_k)‖² with |β_k| ≤ 1/(νn), coefficients of
    each class summing to one half in absolute value.

    Parameters
    ----------
    K, y, X, tol, max_iter, shrinking, cache_mb
        As for :func:`classification`; `tol` is in units of the fitted values here, relative to their scale.
    nu : float in (0, 1]
        Between the fraction of margin errors and that of support vectors. At most twice the share of the smaller
        class.

    Returns
    -------
    Solution
        `offset` is the intercept b; attribute `rho` the distance in function value: f + b = +rho or -rho on the
        in-bound support vectors.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> s = nu_classification(X @ X.T, [-1, -1, 1, 1], nu=0.4, tol=1e-9)
    >>> s.beta, s.rho, s.offset
    (array([ 0. , -0.5,  0.5,  0. ]), 1.0, 0.0)
    """
    tol = check_scalar(tol, "tol", low=0.0, closed="neither")
    nu = check_scalar(nu, "nu", low=0.0, high=1.0, closed="right")
    source = _source_for(K, X, cache_mb, tol)
    n = source.size
    y = _signs(y, n)
    most = 2.0 * min((y > 0).sum(), (y < 0).sum()) / n
    if nu > most * (1.0 + 1e-12):
        raise ValueError(f"nu = {nu:g} is infeasible for these classes: it must be at most {most:g}")
    cap = 1.0 / (nu * n)
    beta = _first_weights(y, 0.5, cap)
    s = solve(
        source, 0.0, np.where(y < 0, -cap, 0.0), np.where(y > 0, cap, 0.0), groups=(y > 0).astype(int), start=beta,
        tol=tol * max(float(source.diagonal.max()), 1e-300), max_iter=max_iter, shrinking=shrinking, cache_mb=cache_mb,
    )  # fmt: skip
    negative, positive = (float(b) for b in s.offset)
    (a, b), (c, d) = s.offset_interval
    return replace(
        s,
        rho=0.5 * (negative - positive),
        offset=0.5 * (negative + positive),
        offset_interval=(0.5 * (a + c), 0.5 * (b + d)),
    )


def regression(
    K, y, *, epsilon, C, X=None, ridge=0.0, equality=True, start=None, start_values=None, tol=1e-3, max_iter=None,
    shrinking=True, cache_mb=200.0,
):  # fmt: skip
    r"""Solve the dual of ε-insensitive regression.

    Minimises ½β'(K + ridge)β - y'β + ε‖β‖₁ with
    |β_k| ≤ C_k and sum zero. A finite `C` and no ridge belong to the loss
    C |r|_ε; an infinite `C` and ``ridge=1/C`` to ½ C |r|_ε².

    Parameters
    ----------
    K, X, equality, start, start_values, tol, max_iter, shrinking, cache_mb
        As for :func:`solve`.
    y : array (n,)
        Real responses.
    epsilon : float or array (n,)
        Half-width of the tube, non-negative.
    C : float or array (n,)
        Bounds; may be infinite if `ridge` is positive.
    ridge : float or array (n,), default=0

    Returns
    -------
    Solution

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[-1.0], [0.0], [1.0]])
    >>> s = regression(X @ X.T, [-1.0, 0.0, 1.0], epsilon=0.2, C=10.0, tol=1e-9)
    >>> s.beta.round(6), bool(abs(s.offset) < 1e-9)
    (array([-0.4,  0. ,  0.4]), True)
    """
    tol = check_scalar(tol, "tol", low=0.0, closed="neither")
    source = _source_for(K, X, cache_mb, tol)
    n = source.size
    y = _vector(check_finite_array(y, "y", ndim=1), n, "y")
    C = _box(C, n)
    ridge = _vector(ridge, n, "ridge", low=0.0)
    if np.any(np.isinf(C) & (ridge == 0.0)):
        raise ValueError("an infinite C needs a positive ridge: otherwise the coefficients have no bound")
    epsilon = _vector(epsilon, n, "epsilon", low=0.0)
    return solve(
        source, -y, -C, C, ridge=ridge, ell=epsilon, equality=equality, start=start, start_values=start_values, tol=tol,
        max_iter=max_iter, shrinking=shrinking, cache_mb=cache_mb,
    )  # fmt: skip


def classification_path(K, y, Cs, *, X=None, tol=1e-3, max_iter=None, shrinking=True, cache_mb=200.0):
    """Solve the 1-norm machine for many values of C, each started from the one before.

    When C grows by a factor, so do the coefficients at their bounds. Scaling all of them keeps the sum at zero, keeps
    them in their box, and needs no kernel value: fitted values scale alike. The columns stay cached throughout.

    Parameters
    ----------
    K, y, X, tol, max_iter, shrinking, cache_mb
        As for :func:`classification`.
    Cs : array of float
        Positive and finite; solved in increasing order.

    Returns
    -------
    list of Solution
        In the order of `Cs`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[-1.0], [1.0]])
    >>> [s.alpha.tolist() for s in classification_path(X @ X.T, [-1, 1], [1.0, 0.25], tol=1e-9)]
    [[0.5, 0.5], [0.25, 0.25]]
    """
    Cs = check_finite_array(Cs, "Cs", ndim=1)
    if np.any(Cs <= 0.0):
        raise ValueError("every C must be positive")
    source = _source_for(K, X, cache_mb, tol)
    found = [None] * Cs.size
    start = values = previous = None
    for where in np.argsort(Cs, kind="stable"):
        C = float(Cs[where])
        if start is not None:
            factor = C / previous
            start, values = np.clip(start * factor, -C, C), values * factor
        found[where] = s = classification(
            source, y, C, start=start, start_values=values, tol=tol, max_iter=max_iter, shrinking=shrinking,
            cache_mb=cache_mb,
        )  # fmt: skip
        start, values, previous = s.beta, s.values, C
    return found
