r"""What else gives p-values in high dimension, and what does not: five methods to compare with.

All of them take X and y as they are; centre both first. The formulas of multi-sample-splitting and of the ridge
projection are those of Meinshausen, Meier and Bühlmann (2009) and Bühlmann (2013).
"""

from typing import NamedTuple

import numpy as np
from scipy import stats

from learnable.chapters.debiased_lasso.theory import lasso
from learnable.highdim.debiased_lasso.inference import two_sided_pvalues
from learnable.highdim.debiased_lasso.scaled import scaled_lasso
from learnable.linalg.precision import factor, factor_inverse
from learnable.validation import check_rng


class Inference(NamedTuple):
    """Coefficients, standard errors and two-sided p-values of the variables ``support``."""

    coef: np.ndarray
    stderr: np.ndarray
    pvalues: np.ndarray
    support: np.ndarray


def ols(X, y):
    """Least squares with classical t-tests, for p < n."""
    return _least_squares(X, y, np.arange(X.shape[1]))


def naive_ols(X, y, alpha=None):
    """Least squares on the variables that a lasso has chosen from the same data. *Invalid*: shown to show why."""
    coef = scaled_lasso(X, y).coef if alpha is None else lasso(X, y, alpha)
    return _least_squares(X, y, np.flatnonzero(coef))


def multi_split(X, y, *, n_splits=50, gamma_min=0.05, random_state=None):
    """Family-wise p-values by repeated sample splitting (Meinshausen, Meier and Bühlmann 2009)."""
    n, p = X.shape
    rng = check_rng(random_state)
    P = np.ones((n_splits, p))
    for b in range(n_splits):
        order = rng.permutation(n)
        first, second = order[: n // 2], order[n // 2 :]
        coef = scaled_lasso(X[first], y[first]).coef
        chosen = np.flatnonzero(coef)
        limit = len(second) - 2
        if chosen.size > limit:
            chosen = chosen[np.argsort(-np.abs(coef[chosen]), kind="stable")[:limit]]
        if chosen.size:
            pvalues = _least_squares(X[second], y[second], chosen).pvalues
            P[b, chosen] = np.minimum(1.0, chosen.size * pvalues)
    return aggregate_splits(P, gamma_min)


def aggregate_splits(P, gamma_min=0.05):
    """Join p-values (splits, p) by adaptive quantiles; the infimum is attained at one of the ordered values."""
    splits = len(P)
    ordered = np.sort(P, axis=0)
    gamma = np.arange(1, splits + 1) / splits
    usable = gamma >= gamma_min - 1e-12
    smallest = (ordered[usable] / gamma[usable, None]).min(axis=0)
    return np.minimum(1.0, (1 - np.log(gamma_min)) * smallest)


def ridge_projection(X, y, *, alpha=None, xi=0.05):
    """Ridge regression with its projection bias removed by the lasso, and a margin for the rest (Bühlmann 2013)."""
    n, p = X.shape
    alpha = 1.0 / n if alpha is None else alpha
    start = scaled_lasso(X, y)
    U, d, Vt = np.linalg.svd(X / np.sqrt(n), full_matrices=False)
    shrink = d / (d**2 + alpha)
    ridge = Vt.T @ (shrink * (U.T @ y)) / np.sqrt(n)
    omega = ((Vt * shrink[:, None]) ** 2).sum(axis=0)
    V = Vt[d > 1e-10 * d[0]]
    P = V.T @ V
    own = np.diagonal(P).copy()
    np.fill_diagonal(P, 0.0)
    coef = ridge - P @ start.coef
    margin = np.abs(P).max(axis=1) * (np.log(max(p, 2)) / n) ** (0.5 - xi)
    if len(V) == p:
        margin[:] = 0.0  # the projection is the identity and its rounding errors are no bias
    stderr = start.sigma * np.sqrt(omega / n)
    pvalues = two_sided_pvalues(np.maximum(np.abs(coef) - margin, 0.0), stderr)
    return Inference(coef / own, stderr / own, pvalues, np.arange(p))


def _least_squares(X, y, support):
    n, k = len(y), support.size
    if k == 0:
        empty = np.empty(0)
        return Inference(empty, empty, empty, support)
    A = np.ascontiguousarray(X[:, support])
    inverse = factor_inverse(factor(A.T @ A))
    coef = inverse @ (A.T @ y)
    residual = y - A @ coef
    stderr = np.sqrt(residual @ residual / (n - k) * np.diagonal(inverse))
    return Inference(coef, stderr, 2 * stats.t.sf(np.abs(coef) / stderr, n - k), support)
