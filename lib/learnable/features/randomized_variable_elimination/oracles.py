"""A learner that is told which columns matter: what the searches do when nothing is left to estimation.

The theory of the schedule assumes that the error rises if and only if a relevant column is removed. `OracleSubsets`
is such a learner. With noise its answers are those of a learner that is judged on a finite sample.
"""

from __future__ import annotations

import numpy as np

from learnable.features.subsets import SubsetEvaluator
from learnable.validation import check_rng, check_scalar

__all__ = ["OracleSubsets"]


class OracleSubsets(SubsetEvaluator):
    """The error is the share of the relevant columns that is missing, plus noise.

    Parameters
    ----------
    n_features : int
        Number of columns.
    relevant : array-like of int
        Places of the columns that matter.
    noise : float, default=0.0
        Standard deviation of a Gaussian disturbance of each answer; the same subset gets the same answer again.
    random_state : None, int or Generator
        For the noise.

    Attributes
    ----------
    n_calls, n_evaluations : int
        As for `SubsetEvaluator`.

    Examples
    --------
    >>> oracle = OracleSubsets(10, [2, 5])
    >>> oracle.error(range(10)), oracle.error([1, 2, 3]), oracle.error([])
    (0.0, 0.5, 1.0)
    """

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
