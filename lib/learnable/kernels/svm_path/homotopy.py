"""The walk along the path: its starts, what to do where several things happen at once, and its record.

The compiled loop (`_walk`) takes the ordinary steps from event to event; :class:`Walk` does everything that is rare.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning

from learnable.kernels import smo
from learnable.kernels.svm_path import _walk as walking
from learnable.kernels.svm_path.elbow import direction, independent

EVENTS = ("end", "to_R", "to_L", "from_L", "from_R", "restart", "start", "repair", "given")
_RESTART, _START, _REPAIR, _GIVEN = 5, 6, 7, 8
# The same event met from below.
_MIRRORED = np.array([0, 4, 3, 2, 1, 5, 6, 7, 8])


class Walk:
    """State and record of a walk; the compiled loop does the steps, this class everything that is rare."""

    def __init__(self, K, y, intercept, eps, limit):
        self.K, self.y, self.intercept, self.eps, self.limit = K, y, intercept, eps, limit
        self.n = y.size
        self.scale = float(np.mean(np.diag(K)))
        self._largest = float(np.abs(np.diag(K)).max())
        self.kappa = self.scale if intercept else 0.0
        self.status = np.empty(self.n, dtype=np.int8)
        self.elbow = np.zeros(self.n + 1, dtype=np.int64)
        self.factor = np.zeros((64, 64))
        self.Z = np.zeros((2, 64))
        self.used = np.zeros(3, dtype=np.int64)
        self._allocate(4 * self.n + 64, 64 * self.n + 1024)
        self.separable = False
        self.repairs = 0

    def _allocate(self, records, entries):
        old = self.__dict__.get("_lams")
        fresh = {
            "_lams": np.empty(records), "_offsets": np.empty(records), "_kinds": np.zeros(records, dtype=np.int64),
            "_points": np.zeros(records, dtype=np.int64), "_facts": np.zeros((records, 3)),
            "_starts": np.zeros(records + 1, dtype=np.int64),
            "_moved": np.zeros(entries, dtype=np.int64), "_after": np.empty(entries),
        }  # fmt: skip
        for name, array in fresh.items():
            if old is not None:
                before = getattr(self, name)
                array[: len(before)] = before
            setattr(self, name, array)

    def start_at_infinity(self, target):
        """The solution for all large lambda, and the first lambda at which something moves (at least the target)."""
        y, K = self.y, self.K
        alpha = np.ones(self.n)
        if self.intercept:
            plus, minus = int((y > 0).sum()), int((y < 0).sum())
            if plus != minus:
                # The smaller class keeps its multipliers at one; those of the larger share the same sum.
                sign = 1.0 if plus > minus else -1.0
                large = y == sign
                total = min(plus, minus)
                start = y.copy()
                start[large] = 0.0
                start[np.flatnonzero(large)[:total]] = sign
                lower = np.where(large, np.minimum(0.0, sign), y)
                upper = np.where(large, np.maximum(0.0, sign), y)
                s = smo.solve(
                    smo.GramSource(K), 0.0, lower, upper, start=start, tol=1e-11 * self.scale * total, max_iter=10**7
                )
                alpha = np.clip(np.abs(s.beta), 0.0, 1.0)
                alpha[alpha < 1e-9] = 0.0
                alpha[alpha > 1.0 - 1e-9] = 1.0
                alpha = self._level(alpha, large)
        self._set(np.inf, alpha)
        if self._jump(+1, target):
            self._record(_START, -1)
        self.first = self.alpha.copy()

    def _level(self, alpha, large):
        """Make the fractional points of the start satisfy their conditions to rounding error: equal g."""
        part = np.flatnonzero(large & (alpha > 0.0) & (alpha < 1.0))
        if part.size < 2:
            return alpha
        K, y = self.K, self.y
        g = K @ (y * alpha)
        system = np.zeros((part.size + 1, part.size + 1))
        system[:-1, :-1] = K[np.ix_(part, part)]
        system[-1, :-1] = system[:-1, -1] = 1.0
        change = linalg.lstsq(system, np.append(-g[part], 0.0), cond=1e-13)[0][:-1]
        new = alpha.copy()
        new[part] += y[part] * change
        return new if np.all((new[part] > 0.0) & (new[part] < 1.0)) else alpha

    def start_from(self, lam, alpha=None):
        """Start at lam with its solution, polished so that the conditions hold to rounding error."""
        if alpha is not None:
            alpha = np.asarray(alpha, dtype=float)
            if alpha.shape != (self.n,) or not np.all((alpha >= -1e-6) & (alpha <= 1.0 + 1e-6)):
                raise ValueError(f"alpha must hold {self.n} numbers between 0 and 1")
            if self.intercept and abs(self.y @ alpha) > 1e-4 * self.n:
                raise ValueError("alpha is not balanced: the sum of y alpha must be zero")
        self._solve(lam, alpha)
        self._record(_START, -1)
        self.first = self.alpha.copy()

    def _solve(self, lam, alpha=None):
        """The machine at lam by SMO, then Newton steps on its elbow."""
        y, K = self.y, self.K
        source = smo.GramSource(K)
        start = None
        if alpha is not None:
            start = np.clip(alpha, 0.0, 1.0) * y / lam
            if self.intercept and abs(start.sum()) > 1e-12 / lam:
                start = None
        C = 1.0 / lam
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            s = smo.classification(source, y, C, start=start, tol=1e-9, max_iter=300_000, equality=self.intercept)
        alpha = np.clip(s.alpha * lam, 0.0, 1.0)
        alpha[s.bound] = 1.0
        self._set(lam, alpha, s.offset * lam if self.intercept else 0.0)
        low, high = offset_range(self.g, y, self.alpha, lam)
        if self.intercept and low < high:
            self.state[1] = float(np.clip(self.state[1], low, high))

    def _set(self, lam, alpha, a0=0.0):
        self.alpha = np.ascontiguousarray(alpha)
        self.g = self.K @ (self.y * alpha)
        self.state = np.array([lam, a0])
        self.status[:] = np.where(alpha >= 1.0, walking.L, np.where(alpha <= 0.0, walking.R, walking.P))
        self.used[0] = 0

    def run(self, sense, target):
        """Walk until lambda reaches the target or nothing moves any more."""
        if not np.isinf(self.state[0]):
            self._choose_elbow(sense)
        stuck, last = 0, self.state[0]
        while True:
            if self.used[1] >= self.limit:
                warnings.warn(
                    f"the path was cut after {self.limit} events at lambda = {self.state[0]:.3g}; raise max_iter",
                    ConvergenceWarning,
                    stacklevel=4,
                )
                return
            if (self.state[0] - target) * sense <= 0.0:
                return
            self._refresh()
            code = walking.walk(
                walking.Problem(
                    self.K, self.y, self.intercept, sense, self.kappa, float(target), self.eps, self._largest
                ),
                walking.Place(self.alpha, self.g, self.state, self.status),
                walking.Elbow(self.elbow, self.factor, self.Z),
                walking.Record(
                    self._lams, self._offsets, self._kinds, self._points,
                    self._facts, self._starts, self._moved, self._after,
                ),
                self.used,
                self.limit,
            )  # fmt: skip
            if code in (walking.ENDED, walking.FOREVER):
                return
            if code == walking.PAUSE:
                continue
            if code == walking.SEPARATED:
                self.separable = True
                return
            if code == walking.FULL:
                self._grow()
                continue
            if code == walking.EMPTY and not np.any(self.status == walking.P):
                if not self._jump(sense, target):
                    return
                self._record(_RESTART, -1)
                continue
            # TIE, SINGULAR, LOST, or EMPTY but for points that waited: several things happen at once, or rounding
            # errors have taken over.
            stuck = stuck + 1 if self.state[0] == last else 0
            last = self.state[0]
            if stuck > 3:
                if not self._repair(sense, target):
                    warnings.warn(
                        f"the path ends at lambda = {self.state[0]:.3g}: below it the kernel matrix of the elbow is "
                        "singular to double precision; raise lam_min, or use a kernel of smaller range",
                        ConvergenceWarning,
                        stacklevel=4,
                    )
                    return
                continue
            self._choose_elbow(sense)

    def _refresh(self):
        """Recompute g, which rounding errors of many steps have entered, and make room in the factor."""
        self.g = self.K @ (self.y * self.alpha)

    def _grow(self):
        if (
            self.used[1] + self.used[0] + 2 >= self._lams.size
            or self.used[2] + 3 * self.used[0] + 2 >= self._moved.size
        ):
            self._allocate(2 * self._lams.size, 2 * self._moved.size)

    def _room(self, m):
        if m + 2 > self.factor.shape[0]:
            size = min(self.n + 2, 2 * (m + 2))
            self.factor = np.zeros((size, size))
            self.Z = np.zeros((2, size))

    def _record(self, kind, point):
        k = self.used[1]
        if k + 2 >= self._lams.size:
            self._allocate(2 * self._lams.size, self._moved.size)
        self._lams[k], self._offsets[k] = self.state
        self._kinds[k], self._points[k] = kind, point
        walking.describe(self.y, self.alpha, self.g, self.state[0], self.state[1], self._facts[k])
        self._starts[k + 1] = self.used[2]
        self.used[1] = k + 1

    def _jump(self, sense, target=0.0):
        """Without an elbow the multipliers rest until two conditions meet; go there. False if they never do."""
        y, g, lam = self.y, self.g, self.state[0]
        active = self.status == (walking.L if sense > 0 else walking.R)
        inside = np.flatnonzero(self.status == walking.P)
        if self.intercept:
            up, down = active & (y > 0), active & (y < 0)
            if inside.size:
                # Fractional points of the start pin the offset: the other class must reach the margin.
                pinned = float(g[inside].mean())
                sign = y[inside[0]]
                other = active & (y == -sign)
                if not other.any():
                    return False
                reach = float(g[other].min() if sign * sense > 0 else g[other].max())
                new = 0.5 * abs(pinned - reach) if (pinned - reach) * sign > 0.0 else 0.0
                offset = sign * new - pinned
            else:
                if not up.any() or not down.any():
                    return False
                high, low = (g[up].max(), g[down].min()) if sense > 0 else (g[up].min(), g[down].max())
                new = 0.5 * float(high - low)
                offset = -0.5 * float(high + low)
        else:
            if not active.any():
                return False
            values = (y * g)[active]
            new = float(values.max() if sense > 0 else values.min())
            offset = 0.0
        if new <= max(target, 0.0) if sense > 0 else not np.isfinite(new):
            if sense > 0 and target > 0.0:
                low, high = offset_range(g, y, self.alpha, target)
                self.state[:] = target, float(np.clip(self.state[1], low, high)) if self.intercept else 0.0
                self._record(0 if np.isfinite(lam) else _START, -1)
            return False
        self.state[:] = new, offset
        self._choose_elbow(sense)
        return True

    def _choose_elbow(self, sense):
        """Settle which of the points on the margin move, by the quadratic program for the path's direction.

        The direction d minimises 1/2 d'Kd + sense y'd over the points on the margin, those inside their box free,
        those at a bound allowed to leave it only, with sum(d) = 0: it exists also where the elbow is degenerate.
        """
        y, K, (lam, a0) = self.y, self.K, self.state
        slack = y * (self.g + a0) - lam
        alpha = self.alpha
        noise = 1e-15 * float(alpha.sum()) * float(np.abs(np.diag(K)).max())
        tied = np.abs(slack) <= 10.0 * self.eps * lam + noise
        tied = np.flatnonzero(tied | ((alpha > 0.0) & (alpha < 1.0)))
        if not tied.size:
            self.status[:] = np.where(alpha >= 1.0, walking.L, walking.R)
            self.used[0] = 0
            return
        inside = (alpha[tied] > 0.0) & (alpha[tied] < 1.0)
        one = alpha[tied] >= 1.0
        sign = y[tied]
        # At alpha = 0 only y d >= 0 is possible, at alpha = 1 only y d <= 0.
        falling = inside | np.where(sign > 0, one, ~one)
        rising = inside | np.where(sign > 0, ~one, one)
        lower, upper = np.where(falling, -np.inf, 0.0), np.where(rising, np.inf, 0.0)
        gram = np.ascontiguousarray(K[np.ix_(tied, tied)])
        d = direction(gram, sense * sign, lower, upper, self.intercept)
        free = np.flatnonzero(inside | (d != 0.0))
        basis = independent(gram, d, free, inside, self.kappa)
        self.status[:] = np.where(alpha >= 1.0, walking.L, np.where(alpha <= 0.0, walking.R, walking.P))
        chosen = tied[basis]
        self.status[chosen] = walking.E
        m = chosen.size
        self._room(self.n)
        self.elbow[:m] = chosen
        built = walking.rebuild(K, y, walking.Elbow(self.elbow, self.factor, self.Z), m, self.kappa)
        if built < m:
            # Dependent after all, to rounding error: the rest waits.
            for i in self.elbow[built:m]:
                self.status[i] = walking.L if alpha[i] >= 1.0 else walking.R if alpha[i] <= 0.0 else walking.P
            m = built
        self.used[0] = m

    def _repair(self, sense, target):
        """Ties that do not resolve: solve the machine a little further on and start again from there.

        False if even the solver cannot satisfy the conditions, or if the same place asks for it over and over.
        """
        self.repairs += 1
        if self.repairs > 20:
            return False
        lam = self.state[0] * (1.0 - sense * 1e-4)
        if (lam - target) * sense <= 0.0:
            lam = target
        kept = (self.alpha.copy(), self.state.copy())
        self._solve(lam, self.alpha)
        if self._worst() > 1e-7:
            self._set(kept[1][0], kept[0], kept[1][1])
            return False
        moved = np.flatnonzero(self.alpha != kept[0])
        k, at = int(self.used[1]), int(self.used[2])
        while at + moved.size + 2 >= self._moved.size or k + 3 >= self._lams.size:
            self._allocate(2 * self._lams.size, 2 * self._moved.size)
        self._moved[at : at + moved.size] = moved
        self._after[at : at + moved.size] = self.alpha[moved]
        self.used[2] = at + moved.size
        self._record(_REPAIR, -1)
        self._choose_elbow(sense)
        return True

    def _worst(self):
        """Largest violation of the conditions, in units of y f."""
        lam, a0 = self.state
        margins = self.y * (self.g + a0) / lam
        free = (self.alpha > 0.0) & (self.alpha < 1.0)
        return max(
            np.abs(margins[free] - 1.0).max(initial=0.0),
            (1.0 - margins[self.alpha <= 0.0]).max(initial=0.0),
            (margins[self.alpha >= 1.0] - 1.0).max(initial=0.0),
        )

    def finish(self):
        """Trim the record. The changes of record k lie between starts[k-1] and starts[k] (none for the first)."""
        k = self.used[1]
        self.lams, self.offsets = self._lams[:k].copy(), self._offsets[:k].copy()
        self.kinds, self.points, self.facts = self._kinds[:k].copy(), self._points[:k].copy(), self._facts[:k].copy()
        self.starts = self._starts[1 : k + 1].copy()
        self.moved, self.after = self._moved[: self.used[2]].copy(), self._after[: self.used[2]].copy()

    def reverse(self):
        """Turn a walk up into the same record read downwards."""
        k = int(self.used[1])
        ends = self._starts[1 : k + 1].copy()
        entries = int(ends[-1])
        before, _ = walking.replay(self.first, self._moved[:entries], self._after[:entries], ends)
        self.first[self._moved[:entries]] = self._after[:entries]
        self.used[2] = entries
        self._moved[:entries], self._after[:entries] = self._moved[:entries][::-1].copy(), before[::-1]
        self._starts[1 : k + 1] = entries - ends[::-1]
        for name in ("_lams", "_offsets", "_points", "_facts"):
            getattr(self, name)[:k] = getattr(self, name)[:k][::-1].copy()
        self._kinds[:k] = _MIRRORED[self._kinds[:k][::-1]]
        self._kinds[k - 1] = _GIVEN
        self._kinds[0] = _START
        self._points[0] = -1
        self.separable = False

    def join(self, lower):
        """Append the record of a walk down that starts where this (reversed) one ends."""
        k, more, at = int(self.used[1]), int(lower.used[1]), int(self.used[2])
        while self._lams.size < k + more + 3 or self._moved.size < at + lower.used[2] + 3:
            self._allocate(2 * self._lams.size, 2 * self._moved.size)
        for name in ("_lams", "_offsets", "_kinds", "_points", "_facts"):
            getattr(self, name)[k : k + more - 1] = getattr(lower, name)[1:more]
        self._moved[at : at + lower.used[2]] = lower._moved[: lower.used[2]]
        self._after[at : at + lower.used[2]] = lower._after[: lower.used[2]]
        self._starts[k : k + more] = at + lower._starts[1 : more + 1]
        self.used[1], self.used[2] = k + more - 1, at + lower.used[2]
        self.separable = lower.separable
        return self


def offset_range(g, y, alpha, lam):
    """All a0 that satisfy the conditions at lam for given g and multipliers at their bounds (or inside)."""
    low, high = -np.inf, np.inf
    edge = lam * y - g
    up, down = y > 0, y < 0
    one, zero = alpha >= 1.0, alpha <= 0.0
    inside = ~one & ~zero
    for members, below in ((one & up, True), (one & down, False), (zero & up, False), (zero & down, True)):
        if members.any():
            if below:
                high = min(high, edge[members].min())
            else:
                low = max(low, edge[members].max())
    if inside.any():
        low = high = float(edge[inside].mean())
    return low, high
