"""Columns of a kernel matrix, on demand: the storage below the solver of :mod:`learnable.kernels.smo`.

Two sources have one interface. :class:`GramSource` wraps a matrix that exists. :class:`ColumnCache` computes columns
from a feature matrix when they are first asked for and keeps as many as fit into the memory granted; the least
recently used go first. A cache outlives a call of the solver: problems over the same points (one class against the
rest, a path in C) share its columns.
"""

import math

import numpy as np
from numba import njit
from scipy import sparse

from learnable._simd import exp_in_place
from learnable.kernels._iteration import add_rows
from learnable.kernels.functions import as_kernel
from learnable.kernels.functions.points import as_points, squared_norms
from learnable.validation import check_scalar, check_symmetric

__all__ = ["ColumnCache", "GramSource", "as_source"]

# What a request for columns costs besides the arithmetic, in nanoseconds.
_CALL = 30_000.0
# Columns of a Gaussian kernel that are computed together.
_ROWS = 64
# So many products of two numbers are made at once for the whole matrix of a linear kernel: a symmetric product of
# matrices takes a tenth of the time that its columns would take one by one, and a good part of them will be needed.
_WHOLE = 2e8
# Part of the memory granted that holds full columns.
SHARE = 0.75


@njit(cache=True)
def _gaussian_rows(products, squares, chosen, rate, out):
    work = np.empty(products.shape[1])
    for row in range(products.shape[0]):
        own = squares[chosen[row]]
        for i in range(work.size):
            distance = squares[i] + own - 2.0 * products[row, i]
            work[i] = -rate * (distance if distance > 0.0 else 0.0)
        exp_in_place(work)
        for i in range(work.size):
            out[row, i] = work[i]
        out[row, chosen[row]] = 1.0


class GramSource:
    """A kernel matrix held in memory."""

    complete = True

    def __init__(self, gram):
        self.matrix = check_symmetric(gram, "K", allow_empty=True)
        self.diagonal = np.ascontiguousarray(np.diag(self.matrix), dtype=float)
        self.size = self.matrix.shape[0]

    def dot(self, beta):
        """K beta, touching only the columns with a non-zero coefficient."""
        chosen = np.flatnonzero(beta)
        if 4 * chosen.size > self.size:
            return self.matrix @ beta
        return beta[chosen] @ self.matrix[chosen]

    def rows(self, chosen):
        """The columns `chosen`, as rows of an array."""
        return self.matrix[chosen]

    def exact_dot(self, beta):
        """K beta; the matrix is all there is."""
        return self.dot(beta)


class _Evaluator:
    """Computes columns of the kernel matrix of the points `X`, in blocks."""

    def __init__(self, kernel, X, dtype):
        self.kernel, self.X, self.dtype = kernel, X, dtype
        spec = kernel.column_spec() if hasattr(kernel, "column_spec") else None
        self.linear = spec is not None and spec[0] == 0
        self.rate = spec[1][0] if spec is not None and spec[0] == 2 else None
        if self.rate is not None and not sparse.issparse(X):
            # Distances do not see the mean, but |x|^2 + |y|^2 - 2x'y loses digits to it.
            self.X = X = X - X.mean(axis=0)
        self.squares = squared_norms(X) if self.rate is not None else None

    def rows(self, chosen, out=None):
        """The columns `chosen` as rows of an array."""
        chosen = np.asarray(chosen)
        if out is None:
            out = np.empty((chosen.size, self.X.shape[0]), dtype=self.dtype)
        if self.rate is not None:
            # In blocks that stay in the cache; values lie between 0 and 1, so that there is nothing to check.
            for start in range(0, chosen.size, _ROWS):
                part = chosen[start : start + _ROWS]
                _gaussian_rows(
                    _products(self.X[part], self.X), self.squares, part, self.rate, out[start : start + _ROWS]
                )
            return out
        if self.linear:
            # numpy sees that X X' is symmetric and makes half of it.
            out[...] = _products(self.X if _is_everything(chosen, self.X.shape[0]) else self.X[chosen], self.X)
        else:
            out[...] = np.asarray(self.kernel(self.X, self.X[chosen])).T
        if not math.isfinite(float(out.sum(dtype=float))):
            raise ValueError("the kernel returned a value that is not finite (or too large for its storage)")
        return out


def _products(A, B):
    """A B' as an array."""
    found = A @ B.T
    return found.toarray() if sparse.issparse(found) else found


def _is_everything(chosen, n):
    return chosen.size == n and bool(np.array_equal(chosen, np.arange(n)))


class ColumnCache:
    """Columns of the kernel matrix of `X`, computed when needed and kept while they fit.

    Parameters
    ----------
    kernel : Kernel, str or callable
        Anything that :func:`learnable.kernels.functions.as_kernel` accepts.
    X : array-like or sparse matrix (n, d)
    cache_mb : float, default=200
        Memory for columns, in units of 10^6 bytes: three quarters for full ones, the rest for those of the solver's
        active set. At least two columns are always kept.
    dtype : {float32, float64}, default=float32
        Storage of the columns. Columns are computed in double precision and rounded; gradients are always summed in
        double precision. Single precision is enough for a KKT tolerance of about 1e-5 and above.
    """

    complete = False

    def __init__(self, kernel, X, *, cache_mb=200.0, dtype=np.float32):
        self.kernel = as_kernel(kernel)
        X = as_points(X, "X")
        self.X = X if sparse.issparse(X) else np.ascontiguousarray(X)
        if self.X.shape[0] == 0:
            raise ValueError("X has no rows")
        cache_mb = check_scalar(cache_mb, "cache_mb", low=0.0, closed="neither")
        if np.dtype(dtype) not in (np.dtype(np.float32), np.dtype(np.float64)):
            raise ValueError(f"dtype must be float32 or float64, got {dtype}")
        self.size = self.X.shape[0]
        self.diagonal = np.asarray(self.kernel.diag(self.X), dtype=float)
        if not np.all(np.isfinite(self.diagonal)):
            raise ValueError("the kernel is not finite on the diagonal")
        self.rest = (1.0 - SHARE) * 1e6 * cache_mb
        width = self.size * np.dtype(dtype).itemsize
        # A part of the memory is left to the solver, which keeps shortened columns of the points that still move.
        slots = int(min(self.size, max(2, SHARE * cache_mb * 1e6 // width)))
        self.store = np.empty((slots, self.size), dtype=dtype)
        self.slot = np.full(self.size, -1)
        self.owner = np.full(slots, -1)
        self.stamp = np.zeros(slots, dtype=np.int64)
        self.born = np.zeros(slots, dtype=np.int64)
        self.clock = 1
        self.evaluated = 0
        self._filled = 0
        self._double = None
        self._evaluator = _Evaluator(self.kernel, self.X, np.dtype(dtype))
        # Columns come in blocks, the further ones being guesses: with many features because a block reads X once,
        # with few points because a call costs more than a column.
        entries = self.X.nnz / self.size if sparse.issparse(X) else self.X.shape[1]
        column = self.size * (0.25 * entries + 1.5)
        self.batch = 16 if entries >= 256 else int(np.clip(_CALL / column, 1, 32))
        quick = self._evaluator.linear and float(self.size) ** 2 * entries <= _WHOLE
        if (quick or self.size * column < 400 * _CALL) and slots == self.size:
            self.fetch(np.arange(self.size), whole=True)

    def rows(self, chosen):
        """The columns `chosen`, as rows of an array; nothing is stored."""
        self.evaluated += len(chosen)
        return self._evaluator.rows(chosen)

    def restrict(self, chosen):
        """An evaluator of columns for the points `chosen` alone."""
        part = self.X[chosen]
        return _Evaluator(self.kernel, part if sparse.issparse(part) else np.ascontiguousarray(part), self.store.dtype)

    def fetch(self, wanted, protect=-1, whole=False):
        """Bring the columns `wanted` (not cached yet, most urgent first) into the store.

        `protect` is a column that must stay; unless the whole matrix is wanted, a block replaces at most a quarter of
        the cache.
        """
        if not whole:
            wanted = wanted[: max(1, self.store.shape[0] // 4)]
        free = min(wanted.size, self.store.shape[0] - self._filled)
        if free:
            first, wanted = self._filled, wanted[:free]
            self._filled += free
            self.evaluated += free
            self._evaluator.rows(wanted, self.store[first : first + free])
            self.owner[first : first + free] = wanted
            self.slot[wanted] = np.arange(first, first + free)
            self.stamp[first : first + free] = self.born[first : first + free] = self.clock
            self.clock += 1
            return
        if protect >= 0:
            self.stamp[self.slot[protect]] = np.iinfo(np.int64).max
        wanted = wanted[: min(wanted.size, self.store.shape[0] - 1)]
        oldest = np.argpartition(self.stamp, wanted.size - 1)[: wanted.size]
        if protect >= 0:
            self.stamp[self.slot[protect]] = self.clock
        self.slot[self.owner[oldest]] = -1
        self.store[oldest] = self.rows(wanted)
        self.owner[oldest] = wanted
        self.slot[wanted] = oldest
        self.stamp[oldest] = self.born[oldest] = self.clock
        self.clock += 1

    def block(self):
        """How many columns to fetch at once: one, if most of the guesses so far were not needed."""
        if self.batch > 1 and self._filled >= 4 * self.batch:
            needed = np.count_nonzero(self.stamp[: self._filled] > self.born[: self._filled])
            if needed < 0.6 * self._filled:
                return 1
        return self.batch

    def dot(self, beta):
        """K beta in double precision, from cached columns where they exist."""
        chosen = np.flatnonzero(beta)
        out = np.zeros(self.size)
        cached = chosen[self.slot[chosen] >= 0]
        add_rows(self.store, self.slot[cached], beta[cached], out)
        rest = chosen[self.slot[chosen] < 0]
        for start in range(0, rest.size, 64):
            part = rest[start : start + 64]
            add_rows(self.rows(part), np.arange(part.size), beta[part], out)
        return out

    def in_double(self):
        """The same columns in double precision, kept from call to call."""
        if self._double is None:
            memory = self.store.nbytes / (SHARE * 1e6)
            self._double = ColumnCache(self.kernel, self.X, cache_mb=2.0 * memory, dtype=np.float64)
        return self._double

    def exact_dot(self, beta):
        """K beta from columns computed anew in double precision, whatever the precision of those kept."""
        chosen, out = np.flatnonzero(beta), np.zeros(self.size)
        evaluator = _Evaluator(self.kernel, self.X, np.dtype(np.float64))
        for start in range(0, chosen.size, 64):
            part = chosen[start : start + 64]
            out += beta[part] @ evaluator.rows(part)
        return out


def as_source(K, X=None, *, cache_mb=200.0, dtype=np.float32):
    """Return `K` as a source of columns: a matrix, an existing source, or a kernel together with its points `X`."""
    if isinstance(K, GramSource | ColumnCache):
        return K
    if X is None:
        return GramSource(K)
    return ColumnCache(K, X, cache_mb=cache_mb, dtype=dtype)
