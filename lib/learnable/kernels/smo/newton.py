"""Quadratic minimisation under linear constraints that grow in number, with one factorisation for all of them."""

import numpy as np
from numba import njit
from scipy.linalg import lapack


class Constrained:
    """Minimisers of 1/2 d' A d - force' d under linear constraints that grow in number: group sums, fixed variables."""

    def __init__(self, block, group):
        self.ready = False
        n = block.shape[0]
        self.fixed = np.zeros(n, dtype=bool)
        scale = float(np.trace(block)) / n
        shifted = block.copy()
        for jitter in (1e-9, 1e-7, 1e-5):
            shifted[np.diag_indices_from(shifted)] += jitter * scale
            self.factor, info = lapack.dpotrf(shifted, lower=1, clean=0)
            if info == 0:
                self.ready = True
                break
        if self.ready:
            labels = np.zeros(0, dtype=int) if group is None else np.unique(group)
            self.sums = (group[:, None] == labels).astype(float) if labels.size else np.zeros((n, 0))
            self.label = np.searchsorted(labels, group) if labels.size else np.full(n, -1)
            self.count = labels.size
            self.indices = np.empty(0, dtype=np.int64)
            # The responses A^-1 c of the constraints c, as many as there are so far.
            self.responses = np.empty((n, labels.size + n), order="F")
            if labels.size:
                self.responses[:, : labels.size] = self._apply(self.sums)

    def _apply(self, columns):
        return lapack.dpotrs(self.factor, columns, lower=1)[0]

    def fix(self, indices):
        """Keep the variables `indices` where they are from now on; False if too few remain free."""
        self.fixed[indices] = True
        units = np.zeros((self.fixed.size, indices.size), order="F")
        units[indices, np.arange(indices.size)] = 1.0
        self.responses[:, self.count : self.count + indices.size] = self._apply(units)
        self.count += indices.size
        self.indices = np.concatenate([self.indices, indices])
        free_members = self.sums[~self.fixed].sum(axis=0)
        return (~self.fixed).sum() >= 3 and np.all(free_members != 1)

    def solve(self, force):
        """The minimiser, or None if rounding errors leave none."""
        step = self._apply(force)
        if self.count:
            responses = self.responses[:, : self.count]
            # Products with the constraints: sums over groups, and entries of the variables that are fixed.
            products = np.concatenate([self.sums.T @ responses, responses[self.indices]])
            _, _, price, info = lapack.dgesv(products, np.concatenate([self.sums.T @ step, step[self.indices]]))
            if info != 0:
                return None
            step = step - responses @ price
        return _tidied(step, self.fixed, self.label, self.sums.shape[1])


@njit(cache=True)
def _tidied(step, fixed, label, n_groups):
    """Remove what rounding left: fixed variables do not move, and sums stay exactly. None if a number is not finite."""
    total, count = np.zeros(n_groups), np.zeros(n_groups)
    for k in range(step.size):
        if not np.isfinite(step[k]):
            return None
        if not fixed[k] and n_groups:
            total[label[k]] += step[k]
            count[label[k]] += 1.0
    for k in range(step.size):
        if fixed[k]:
            step[k] = 0.0
        elif n_groups:
            step[k] -= total[label[k]] / count[label[k]]
    return step
