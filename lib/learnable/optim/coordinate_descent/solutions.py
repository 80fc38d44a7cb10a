"""What the solvers return: minimisers with their certificates."""

from dataclasses import dataclass

import numpy as np

from learnable.validation import Result

__all__ = ["GramBatch", "LassoPath", "LassoSolution"]


@dataclass(frozen=True, eq=False)
class LassoSolution(Result):
    """A minimiser with its certificate.

    Attributes
    ----------
    coef : ndarray of shape (p,)
    gap : float
        Duality gap: the objective is at most this far above its minimum. Without ``y_norm2`` in Gram mode, where
        no gap can be computed, the largest violation of the optimality conditions.
    n_iter : int
        Passes over coordinates.
    converged : bool
        Whether the gap met the tolerance.
    """

    coef: np.ndarray
    gap: float
    n_iter: int
    converged: bool


@dataclass(frozen=True, eq=False)
class LassoPath(Result):
    """Solutions for a decreasing sequence of penalties; entry k of each field belongs to ``alphas[k]``."""

    alphas: np.ndarray
    coefs: np.ndarray
    gaps: np.ndarray
    n_iter: np.ndarray
    converged: np.ndarray


@dataclass(frozen=True, eq=False)
class GramBatch(Result):
    """Solutions of a batch of problems with one matrix Q; entry k of each field belongs to row k of C."""

    coefs: np.ndarray
    gaps: np.ndarray
    n_iter: np.ndarray
    converged: np.ndarray
