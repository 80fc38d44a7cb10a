r"""The same template for another loss: l1-penalised logistic regression (Hsieh et al. 2014, Section 3).

Here the Hessian is A'diag(v)A with A the design; the Newton direction d is found by
coordinate descent with the product A d kept up to date, so that a step on coordinate j costs as many
operations as column j has nonzeros.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from numba import njit
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from learnable.optim.proximal import soft
from learnable.validation import check_finite_array, check_scalar, signed_labels

# Sweeps over the free columns in one Newton step, at most; the accuracy of the step usually ends them.
MAX_SWEEPS = 1000


class Columns(NamedTuple):
    """The nonzeros of a matrix, column by column."""

    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray


class Model(NamedTuple):
    """The quadratic model of the loss at `w`: its gradient, the curvature of each row's loss, and the penalty."""

    gradient: np.ndarray
    curvature: np.ndarray
    w: np.ndarray
    alpha: float


def l1_logistic(A, y, alpha, *, tol=1e-8, max_iter=100, start=None):
    r"""Minimise Σ_i log(1 + e^(-y_i a_i' w)) + λ‖w‖₁ by proximal Newton steps.

    Parameters
    ----------
    A : array-like or sparse matrix of shape (n, p)
    y : array-like of shape (n,)
        Two classes, the larger of which is the positive one.
    alpha : float
        Positive.
    tol : float, default=1e-8
        Stops when no entry of the minimum-norm subgradient exceeds ``tol`` times its largest at w = 0.
    max_iter : int, default=100
    start : array-like of shape (p,), optional

    Returns
    -------
    w : ndarray of shape (p,)
    objective : ndarray
        Value at the start and after each step.

    Notes
    -----
    O(nnz of the free columns) a sweep.

    Examples
    --------
    >>> w, objective = l1_logistic([[1.0, 0.2], [2.0, -0.1], [-1.0, 0.1], [-2.0, -0.2]], [1, 0, 0, 0], 0.5)
    >>> (w != 0).tolist()
    [True, False]
    """
    if sparse.issparse(A):
        A = sparse.csc_array(A, dtype=np.float64)
        check_finite_array(A.data, "A")
    else:
        A = sparse.csc_array(check_finite_array(A, "A", ndim=2))
    y = np.asarray(y)
    if A.shape[0] != y.size or A.shape[1] == 0:
        raise ValueError(f"A must have one row for each of the {y.size} labels and at least one column, got {A.shape}")
    _, sign = signed_labels(y)
    alpha = check_scalar(alpha, "alpha", low=0, closed="neither")
    tol = check_scalar(tol, "tol", low=0, closed="neither")
    max_iter = check_scalar(max_iter, "max_iter", low=1, integer=True)
    w = np.zeros(A.shape[1]) if start is None else check_finite_array(start, "start", ndim=1).copy()
    if w.size != A.shape[1]:
        raise ValueError(f"start must have {A.shape[1]} entries, got {w.size}")
    columns = Columns(A.data, A.indices.astype(np.int64), A.indptr.astype(np.int64))
    margin = A @ w
    reference = max(float(np.abs(A.T @ sign).max()) / 2, 1e-300)
    values = [_value(margin, sign, w, alpha)]
    for t in range(max_iter + 1):
        chance = 1.0 / (1.0 + np.exp(np.minimum(sign * margin, 700.0)))
        gradient = A.T @ (-sign * chance)
        still = gradient - np.clip(gradient, -alpha, alpha)
        sub = np.where(w > 0, gradient + alpha, np.where(w < 0, gradient - alpha, still))
        left = np.abs(sub).max()
        if left <= tol * reference:
            return w, np.array(values)
        if t == max_iter:
            break
        free = np.flatnonzero((w != 0) | (sub != 0))
        step, product = np.zeros_like(w), np.zeros_like(margin)
        model = Model(gradient, np.maximum(chance * (1.0 - chance), 1e-12), w, alpha)
        # The model is solved the better, the closer the end: that keeps Newton's rate and wastes no early sweep.
        _descend(columns, model, free, step, product, left * min(0.1, left / reference))
        delta = gradient @ step + alpha * (np.abs(w + step).sum() - np.abs(w).sum())
        size, slack = 1.0, 1e-14 * max(abs(values[-1]), 1.0)
        while (value := _value(margin + size * product, sign, w + size * step, alpha)) > (
            values[-1] + 1e-3 * size * delta + slack
        ):
            size *= 0.5
        w, margin = w + size * step, margin + size * product
        values.append(value)
    warnings.warn(
        f"l1_logistic stopped after {max_iter} steps; raise max_iter, or tol, now {tol:g}",
        ConvergenceWarning,
        stacklevel=2,
    )
    return w, np.array(values)


def _value(margin, sign, w, lam):
    return float(np.logaddexp(0.0, -sign * margin).sum() + lam * np.abs(w).sum())


@njit(cache=True)
def _descend(columns, model, free, step, product, tol):
    """Coordinate descent on the quadratic model over the free columns, with product = A step."""
    data, indices, indptr = columns
    gradient, curvature, w, alpha = model
    for _ in range(MAX_SWEEPS):
        moved = 0.0
        for j in free:
            a, b = 1e-12, gradient[j]
            for k in range(indptr[j], indptr[j + 1]):
                i = indices[k]
                a += curvature[i] * data[k] * data[k]
                b += data[k] * curvature[i] * product[i]
            c = w[j] + step[j]
            mu = -c + soft(c - b / a, alpha / a)
            if mu != 0.0:
                moved = max(moved, a * abs(mu))
                step[j] += mu
                for k in range(indptr[j], indptr[j + 1]):
                    product[indices[k]] += mu * data[k]
        if moved <= tol:
            break
