"""Quadratic minimisation under linear constraints that grow in number, with one factorisation for all of them."""

import numpy as np
from scipy.linalg import cho_factor, cho_solve


class Constrained:
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
