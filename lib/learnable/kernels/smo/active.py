"""The variables that still move: their compact copies, their columns, and Newton steps over the free ones."""

import numpy as np

from learnable.kernels import _iteration as loops
from learnable.kernels.smo.newton import Constrained

NEWTON_ROUNDS = 30
# In units of the work of a pair on one variable.
ROUND_COST = 1e5
# So many short columns are copied at once where all are stored; of more, those that are asked for.
COPIED = 1000


class Active:
    """Compact copies of everything about the variables that still move, and a store of their columns."""

    def __init__(self, problem, source, chosen, v, beta, memory):
        self.source, self.chosen = source, chosen
        self.whole = chosen.size == source.size
        self.terms = problem.terms.of(chosen)
        n = chosen.size
        rows, shifts = np.empty((5, n)), (problem.n_groups, n)
        rows[loops.V], rows[loops.BETA] = v[chosen], beta[chosen]
        rows[loops.DIAGONAL] = source.diagonal[chosen] + self.terms.rows[loops.D]
        self.flat = loops.FLAT * max(float(rows[loops.DIAGONAL].max()), np.finfo(float).tiny / loops.FLAT)
        self.state = loops.State(rows, np.empty(shifts), np.empty(shifts))
        loops.prepare(self.state, self.terms)
        self.clock = 1
        if self.whole and source.complete:
            self.stored = loops.Columns(source.matrix, np.arange(n), np.zeros(n, dtype=np.int64))
        elif self.whole:
            self.stored, self.clock = loops.Columns(source.store, source.slot, source.stamp), source.clock
        elif n <= COPIED and self._all_stored(memory):
            matrix, place = (source.matrix, chosen) if source.complete else (source.store, source.slot[chosen])
            self.stored = loops.Columns(loops.take_block(matrix, place, chosen), np.arange(n), np.zeros(n, np.int64))
            self.owner, self.filled, self.points = np.arange(n), n, None
        else:
            dtype = source.matrix.dtype if source.complete else source.store.dtype
            slots = int(min(n, max(4, memory // (n * dtype.itemsize))))
            store = np.empty((slots, n), dtype=dtype)
            self.stored = loops.Columns(store, np.full(n, -1), np.zeros(slots, dtype=np.int64))
            self.owner = np.full(slots, -1)
            self.filled = 0
            self.points = None

    def _all_stored(self, memory):
        """Whether every column that might be asked for is there, and their short copies fit the memory."""
        source, n = self.source, self.chosen.size
        if source.complete:
            return n * n * source.matrix.dtype.itemsize <= memory
        return n * n * source.store.dtype.itemsize <= memory and bool(np.all(source.slot[self.chosen] >= 0))

    def iterate(self, iterate, tol, budget):
        """Run the compiled loop until it stops or needs something; supply columns as it asks."""
        done, decrease = 0, 0.0
        while True:
            code, i, j, steps, violation, self.clock, gain = iterate(
                self.state, self.terms, self.stored, self.clock, tol, budget - done, self.flat
            )
            done += steps
            decrease += gain
            if code != loops.NEED:
                if self.whole and not self.source.complete:
                    self.source.clock = self.clock
                return loops.Stop(code, i, j, done, violation, self.clock, decrease)
            self._supply(i, j)

    def _candidates(self, column, count):
        """`column`, and further variables that violate the conditions most and have no column yet."""
        if count <= 1:
            return np.array([column])
        return loops.urgent(self.state, self.stored.slot, column, count)

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
            wanted = self._candidates(column, min(source.block(), self.stored.store.shape[0] // 4))
            self._put(wanted, self.points.rows(wanted), protect)

    def _put(self, columns, rows, protect):
        store, slot, stamp = self.stored
        for column, row in zip(columns, rows, strict=True):
            if self.filled < store.shape[0]:
                place = self.filled
                self.filled += 1
            else:
                place = int(np.argmin(stamp))
                if protect >= 0 and place == slot[protect]:
                    held, stamp[place] = stamp[place], np.iinfo(np.int64).max
                    place = int(np.argmin(stamp))
                    stamp[slot[protect]] = held
                slot[self.owner[place]] = -1
            store[place] = row
            self.owner[place] = column
            slot[column] = place
            stamp[place] = self.clock
            self.clock += 1

    def free(self):
        """Variables strictly inside their piece: the objective is one quadratic function of them."""
        return np.flatnonzero(loops.free(self.state, self.terms)[0])

    def count_free(self):
        """How many :meth:`free` would find."""
        return loops.free(self.state, self.terms)[1]

    def columns(self, wanted):
        """Columns of active variables as rows, cached or computed."""
        source = self.source
        if source.complete:
            rows = source.matrix[self.chosen[wanted]]
            return rows if self.whole else rows[:, self.chosen]
        store, slot, _ = self.stored
        out = np.empty((wanted.size, self.chosen.size), dtype=store.dtype)
        there = slot[wanted] >= 0
        out[there] = store[slot[wanted[there]]]
        missing = np.flatnonzero(~there)
        if missing.size and not self.whole and self.points is None:
            self.points = source.restrict(self.chosen)
        evaluate = source if self.whole else self.points
        for part in np.array_split(missing, max(1, missing.size // 64)):
            if part.size:
                out[part] = evaluate.rows(wanted[part])
        return out

    def newton(self, equality, rounds=NEWTON_ROUNDS):
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
        terms = self.terms.of(members)
        lo, hi, d, e, m, c = terms.rows
        v, x, everyone = self.state.v, self.state.beta[members], np.arange(members.size)
        sign = np.sign(x) * e
        bend = np.where(c > 0.0, m, np.inf)
        low, high = _piece(x, lo, hi, bend, e > 0.0)
        block = rows[:, members].astype(float)
        block[np.diag_indices_from(block)] += d + np.where(np.abs(x) > bend, c, 0.0)
        system = Constrained(block, terms.group if equality else None)
        total, cost = 0.0, members.size**3 / 30.0
        for _ in range(rounds if system.ready else 0):
            force = v[members] - sign
            direction = system.solve(force)
            cost += ROUND_COST + 0.5 * members.size * (v.size + 2.0 * members.size)
            if direction is None:
                break
            length, hit, new = loops.toward(x, low, high, direction)
            gain = length * float(direction @ force) - 0.5 * length**2 * float(direction @ (block @ direction))
            if not gain > 1e-12 * total:
                break
            loops.add_rows(rows, everyone, x - new, v)
            v[members] += loops.slopes(x, terms) - loops.slopes(new, terms)
            x = new
            total += gain
            if length == 1.0 or not system.fix(np.flatnonzero(hit)):
                break
        self.state.beta[members] = x
        loops.prepare(self.state, self.terms)
        return total, cost

    def lasting(self):
        """Which variables could be part of a violating pair at present (the others may rest), and how many."""
        return loops.lasting(self.state, self.terms)

    def inherit(self, other, keep):
        """Take over the cached columns of a larger active set, of which this one is the part `keep`."""
        if other.whole or self.filled:
            return
        store, slot, stamp = other.stored
        held = np.flatnonzero(keep & (slot >= 0))
        position = np.cumsum(keep) - 1
        latest = held[np.argsort(-stamp[slot[held]], kind="stable")][: self.stored.store.shape[0]]
        for column in latest[::-1]:
            self._put([position[column]], [store[slot[column]][keep]], -1)


def _piece(x, lo, hi, bend, kinked):
    """The ends of the piece that each variable is in: from bound, kink or knee to the next one."""
    low = np.maximum(lo, np.where(x > bend, bend, np.where((x > 0.0) & kinked, 0.0, np.maximum(-bend, lo))))
    low = np.where(x < -bend, lo, low)
    high = np.minimum(hi, np.where(x < -bend, -bend, np.where((x < 0.0) & kinked, 0.0, np.minimum(bend, hi))))
    return low, np.where(x > bend, hi, high)
