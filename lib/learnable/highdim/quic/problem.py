r"""The graphical lasso as an optimisation problem: objective, optimality, duality.

::

    f(X) = -log det X + tr(SX) + Σ_(i,j) λ_ij|X_ij|,
    X ≻ 0,

over all ordered pairs, so that an off-diagonal entry is penalised twice, once for each of its two places (Hsieh et al.
2014, (3)).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from learnable.highdim.quic._kernels import clip_lower
from learnable.linalg.precision import factor, factor_inverse, factor_logdet, is_positive_definite
from learnable.validation import check_finite_array, check_scalar, check_symmetric


def penalty_matrix(alpha, p, *, penalize_diagonal=False):
    """The weights Lambda of a single penalty: `alpha` off the diagonal, `alpha` or zero on it.

    Parameters
    ----------
    alpha : float
        Not negative.
    p : int
        Number of variables.
    penalize_diagonal : bool, default=False

    Examples
    --------
    >>> penalty_matrix(0.3, 2).tolist()
    [[0.0, 0.3], [0.3, 0.0]]
    """
    alpha, p = check_scalar(alpha, "alpha", low=0), check_scalar(p, "p", low=1, integer=True)
    Lam = np.full((p, p), alpha)
    if not penalize_diagonal:
        np.fill_diagonal(Lam, 0.0)
    return Lam


def clipped_gap(value, W, S, Lam):
    """f minus the dual objective at W projected onto the box, for callers that have checked their input."""
    L = factor(clip_lower(W, S, Lam), overwrite=True)
    return np.inf if L is None else max(value - factor_logdet(L) - len(S), 0.0)


def check_problem(S, Lambda):
    """Return S and the full matrix of penalties after checking that the problem has a minimiser.

    Raises ValueError for a penalty that is negative or not symmetric, for a variance of zero without a penalty, and
    for pairs that leave no positive definite matrix within the penalties of S: there f is unbounded below.
    """
    S = check_symmetric(S, "S")
    p = len(S)
    Lam = check_finite_array(Lambda, "Lambda")
    if Lam.ndim == 0:
        Lam = np.full((p, p), float(Lam))
    elif Lam.shape != S.shape:
        raise ValueError(f"Lambda must be a number or a matrix of the shape of S, {S.shape}, got shape {Lam.shape}")
    if Lam.min() < 0:
        raise ValueError(f"Lambda must be non-negative, got {Lam.min():g}")
    Lam = check_symmetric(Lam, "Lambda")
    top = np.diagonal(S) + np.diagonal(Lam)
    if top.min() <= 0:
        i = int(top.argmin())
        raise ValueError(
            f"S[{i}, {i}] + Lambda[{i}, {i}] must be positive, got {top[i]:g}: without it f is unbounded below; "
            "remove the constant variable or penalise the diagonal"
        )
    excess, i, j, weakest = _pairs(S, Lam, np.sqrt(top))
    if excess > 1e-12 * top.max():
        raise ValueError(
            f"S must be positive semi-definite, but S[{i}, {j}] = {S[i, j]:g} exceeds what its variances allow"
        )
    if weakest == 0 and not is_positive_definite(S + np.diag(np.diagonal(Lam))):
        raise ValueError(
            "off-diagonal entries of Lambda must be positive where S is singular: without them f is unbounded below"
        )
    return S, Lam


def inverse(X):
    """The inverse of a checked symmetric matrix; ValueError where it is not positive definite."""
    L = factor(X)
    if L is None:
        raise ValueError("X must be positive definite, but its Cholesky factorisation breaks down")
    return factor_inverse(L)


@njit(cache=True)
def _pairs(S, Lam, root):
    """The largest |S_ij| - lam_ij - root_i root_j over pairs, its place, and the smallest penalty of a pair."""
    worst, at_i, at_j, weakest = -np.inf, 0, 0, np.inf
    for i in range(len(S)):
        for j in range(i + 1, len(S)):
            excess = abs(S[i, j]) - Lam[i, j] - root[i] * root[j]
            weakest = min(weakest, Lam[i, j])
            if excess > worst:
                worst, at_i, at_j = excess, i, j
    return worst, at_i, at_j, weakest
