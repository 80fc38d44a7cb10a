"""The graphical lasso at a point: its objective, and a certificate by duality (Hsieh et al. 2014, Sec. 2)."""

import numpy as np

from learnable.highdim.quic.problem import clipped_gap
from learnable.linalg.precision import factor, factor_inverse, factor_logdet


def objective(X, S, Lambda):
    """f(X), infinite where X is not positive definite. O(p^3 / 3)."""
    L = factor(X)
    return np.inf if L is None else _value(L, X, S, Lambda)


def duality_gap(X, S, Lambda):
    """An upper bound of f(X) - min f, zero at the minimiser only; X is positive definite."""
    L, Lam = factor(X), np.broadcast_to(np.asarray(Lambda, dtype=float), np.shape(S)).copy()
    return clipped_gap(_value(L, X, S, Lam), factor_inverse(L), np.asarray(S, dtype=float), Lam)


def _value(L, X, S, Lambda):
    return -factor_logdet(L) + float(np.vdot(S, X)) + float(np.sum(Lambda * np.abs(X)))
