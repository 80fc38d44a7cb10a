"""Elimination with a learner that knows the answer: chance of success, and the bound on the cost."""

from __future__ import annotations

import math

import numpy as np

from learnable.features.subsets import SubsetEvaluator
from learnable.features.variable_elimination.schedule import COSTS, _log_success, _problem, _sizes
from learnable.validation import check_rng, check_scalar


class OracleSubsets(SubsetEvaluator):
    """The error is the share of the relevant columns that is missing, plus noise."""

    def __init__(self, n_features, relevant, *, noise=0.0, random_state=None):
        super().__init__(n_features)
        relevant = np.unique(np.asarray(relevant))
        if relevant.ndim != 1 or len(relevant) == 0 or relevant.dtype.kind not in "iu":
            raise ValueError("relevant must be a list of places of columns")
        if relevant[0] < 0 or relevant[-1] >= self.n_features:
            raise ValueError(f"relevant must lie between 0 and {self.n_features - 1}")
        self.noise = check_scalar(noise, "noise", low=0)
        self._relevant = np.zeros(self.n_features, dtype=bool)
        self._relevant[relevant] = True
        self._rng = check_rng(random_state)

    def _error(self, columns):
        found = self._relevant[columns].sum() / self._relevant.sum()
        return 1.0 - found + (self.noise * self._rng.normal() if self.noise else 0.0)


def p_success(n, r, k):
    """Probability that k of n columns, drawn without replacement, hold none of the r relevant ones."""
    n, r, k = _sizes(n, r, k)
    return math.exp(_log_success(n, r, k)) if k <= n - r else 0.0


def cost_bound(n_features, n_relevant, cost="linear"):
    """The source's bound on the expected cost, sum over i <= r lg N of (r + 1) M(N ((r - 1) / r)^(i + 1))."""
    n_features, n_relevant, _ = _problem(n_features, n_relevant, cost)
    check_scalar(n_relevant, "n_relevant", low=2, integer=True)
    if not (isinstance(cost, str) or callable(cost)):
        raise ValueError("cost must be a word or a function here: the bound asks for it between whole numbers")
    steps = np.arange(1, math.floor(n_relevant * math.log2(n_features)) + 2)
    sizes = n_features * ((n_relevant - 1) / n_relevant) ** steps
    values = COSTS[cost](sizes) if isinstance(cost, str) else np.asarray(cost(sizes), dtype=float)
    return float((n_relevant + 1) * values.sum())
