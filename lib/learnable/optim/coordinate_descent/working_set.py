"""The columns in play of a dense table, which grow by those that break the optimality condition."""

import numpy as np
from scipy import sparse

from learnable.optim.coordinate_descent._compressed import Columns, square_norms
from learnable.optim.coordinate_descent.gram import gram_descent
from learnable.optim.coordinate_descent.residual import residual_dense
from learnable.optim.coordinate_descent.solutions import LassoSolution
from learnable.validation import check_finite_array, check_magnitude

# The largest working set whose Gram matrix is kept.
LARGEST_GRAM = 6000
# A set of this size is taken whole by a single fit; so is one of the second size along a path.
FIRST_SET = 48
FIRST_SET_OF_PATH = 512


class Data:
    """X and y with implicit centring, dense or sparse."""

    def __init__(self, X, y, center):
        self.sparse = sparse.issparse(X)
        if self.sparse:
            X = sparse.csc_array(X, dtype=np.float64)
            if not X.has_canonical_format:
                X = X.copy()
                X.sum_duplicates()
            if not np.isfinite(X.data).all():
                raise ValueError("X must be finite")
            check_magnitude(X.data, "X", smallest=0.0)
        else:
            X = check_magnitude(check_finite_array(X, "X", ndim=2), "X", smallest=0.0)
        y = check_magnitude(check_finite_array(y, "y", ndim=1), "y", smallest=0.0)
        if X.shape[0] != y.size or y.size == 0 or X.shape[1] == 0:
            raise ValueError(f"X must have one row for each of the {y.size} entries of y, got shape {X.shape}")
        self.X = X
        self.n, self.p = X.shape
        self.means = np.asarray(X.mean(axis=0)).ravel() if center else np.zeros(self.p)
        self.center = center
        self.y = y - y.mean() if center else y
        self.yy = float(self.y @ self.y)
        self._transposed = X.T.tocsr() if self.sparse else X.T

    def correlations(self, r):
        """X'r; the residual of a centred problem sums to zero, so the means drop out."""
        return self._transposed @ r

    def columns(self, chosen):
        """The chosen columns of a dense table, centred."""
        block = np.asfortranarray(self.X[:, chosen])
        return block - self.means[chosen] if self.center else block

    def compress(self):
        """The columns for compiled code."""
        X = self.X
        return Columns(X.data, X.indices, X.indptr, self.means, square_norms(X.data, X.indptr, self.means, self.n))

    def norms(self):
        return ((self.X - self.means) ** 2).sum(axis=0)

    def gram(self):
        if self.sparse:
            return (self.X.T @ self.X).toarray() - self.n * np.multiply.outer(self.means, self.means)
        Z = self.X - self.means
        return Z.T @ Z

    def residual(self, b):
        fit = self.X @ b
        return self.y - fit + (self.means @ b if self.center else 0.0)


class WorkingSet:
    """The columns in play, their Gram matrix and coefficients, kept from one penalty to the next."""

    def __init__(self, data, weights, settings, whole=0):
        self.data, self.weights, self.settings = data, weights, settings
        self.l2 = settings["l2"]
        self.b = settings["start"].copy()
        self.allowed = np.isfinite(weights)
        self.b[~self.allowed] = 0.0
        self.inside = np.zeros(data.p, dtype=bool)
        self.members = np.empty(0, dtype=np.int64)
        self.block = None
        self.G = np.empty((0, 0))
        self.c = np.empty(0)
        self.corr_y = data.correlations(data.y)
        self.rr = np.nan
        self.corr = None
        self.last_penalty = None
        usable = np.flatnonzero(self.allowed)
        self.largest = 0 if settings["mode"] == "residual" else LARGEST_GRAM
        self._grow(usable if usable.size <= max(FIRST_SET, whole) else np.flatnonzero(self.b))

    def solve(self, penalty):
        data, tol = self.data, self.settings["tol"] * self.data.yy
        w = penalty * self.weights
        passes, limit = 0, self.settings["max_iter"]
        if self.corr is None:
            self._refresh()
        if self.last_penalty is not None and penalty < self.last_penalty:
            # A correlation changes by no more than the penalty, as a rule: below this bound it will not reach it.
            strong = np.abs(self.corr) > self.weights * (2.0 * penalty - self.last_penalty)
            self._grow_by_priority(strong & ~self.inside & self.allowed, w)
        while True:
            gap = self._full_gap(w)
            if gap <= tol or passes >= limit:
                break
            violating = (np.abs(self.corr) > w) & ~self.inside & self.allowed
            # While columns are missing, an exact solution on the set would be thrown away.
            inner = max(0.1 * tol, 0.02 * gap)
            if violating.any():
                self._grow_by_priority(violating, w)
            else:
                inner = 0.1 * tol
            if self.members.size > self.largest:
                gap, used = self._residual_mode(w, tol, limit)
                passes += used
                break
            b = self.b[self.members]
            _, used = gram_descent(self.G, self.c, w[self.members], self.l2, b, data.yy, inner, max(limit - passes, 1))
            passes += used
            if not used and not violating.any():  # nothing left to do: the gap is rounding
                break
            self.b[self.members] = b
            self._refresh()
        self.last_penalty = penalty
        # At the rounding level of |y|^2 the computed gap may come out negative.
        gap = max(float(gap), 0.0)
        return LassoSolution(self.b.copy(), gap, int(passes), bool(gap <= tol))

    def _residual_mode(self, w, tol, limit):
        data = self.data
        columns = np.flatnonzero(self.allowed)
        r = np.ascontiguousarray(data.residual(self.b))
        XT = np.ascontiguousarray((data.X - data.means).T)
        gap, used = residual_dense(XT, r, self.b, w, self.l2, data.norms(), columns, data.yy, tol, limit)
        self._refresh()
        return gap, used

    def _refresh(self):
        data = self.data
        if self.members.size == np.count_nonzero(self.allowed) and self.block is not None:
            # Every column is in the set: its Gram matrix answers without a pass over the data.
            b = self.b[self.members]
            self.corr = self.corr_y - self.l2 * self.b
            self.corr[self.members] -= self.G @ b
            self.rr = max(data.yy - float((self.corr_y + self.corr) @ self.b), 0.0)
            return
        if self.block is None or self.members.size == 0:
            residual = data.residual(self.b) if self.b.any() else data.y
        else:
            b = self.b[self.members]
            residual = data.y - self.block @ b
        self.corr = data.correlations(residual) - self.l2 * self.b
        self.rr = float(residual @ residual) + self.l2 * float(self.b @ self.b)

    def _full_gap(self, w):
        rr = self.rr
        norm = float(np.abs(self.b[self.allowed]) @ w[self.allowed])
        yr = rr + float(self.corr @ self.b)
        if rr == 0.0:
            return norm
        largest = float(np.max(np.abs(self.corr[self.allowed]) / w[self.allowed], initial=0.0))
        s = yr / rr if largest == 0.0 else min(1.0 / largest, yr / rr)
        return 0.5 * rr + norm - s * yr + 0.5 * s * s * rr

    def _grow_by_priority(self, candidates, w):
        chosen = np.flatnonzero(candidates)
        room = max(FIRST_SET, self.members.size)  # at most doubling: the Gram matrix is quadratic in the set
        if chosen.size > room:
            order = np.argpartition(-np.abs(self.corr[chosen]) / w[chosen], room)[:room]
            chosen = chosen[order]
        self._grow(chosen)

    def _grow(self, chosen):
        chosen = chosen[~self.inside[chosen]]
        if chosen.size == 0:
            return
        data, old = self.data, self.members.size
        self.inside[chosen] = True
        self.members = np.concatenate([self.members, chosen])
        if self.members.size > self.largest:
            self.block = None
            return
        new = data.columns(chosen)
        self.block = new if old == 0 else np.hstack([self.block, new])
        cross = self.block.T @ new
        # Only the new columns are multiplied: over a path, each pair of columns once.
        G = np.empty((self.members.size, self.members.size))
        G[:old, :old] = self.G
        G[:, old:] = cross
        G[old:, :old] = cross[:old].T
        self.G = G
        self.c = self.corr_y[self.members].copy()
