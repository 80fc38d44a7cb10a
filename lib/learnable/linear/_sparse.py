"""Linear fits on compressed rows, centred and scaled in the products and never in a copy of the table."""

from __future__ import annotations

import warnings

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, lsqr
from scipy.special import log_softmax, softmax
from sklearn.exceptions import ConvergenceWarning

__all__ = []

#: Up to this many rows or columns the smaller Gram matrix is factored; a larger one would not fit into memory.
_LARGEST_GRAM = 4000
_CG_STEPS = 500
_LSQR_TOL = 1e-13


def sparse_moments(X, weights):
    """Weighted means and standard deviations of the columns, zeros included, without cancellation. O(stored)."""
    X = X.tocsc()
    stored = weights[X.indices]
    column = np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))
    total, d = weights.sum(), X.shape[1]
    mean = np.bincount(column, stored * X.data, minlength=d) / total
    square = np.bincount(column, stored * (X.data - mean[column]) ** 2, minlength=d)
    absent = np.maximum(total - np.bincount(column, stored, minlength=d), 0.0)
    return mean, np.sqrt((square + absent * mean**2) / total)


class Standardised:
    """The table (X − mean)/spread, with a last column of ones, as an operator."""

    def __init__(self, X, mean, spread):
        self.X, self.mean, self.spread = X, mean, spread
        self._transposed = X.T.tocsr()

    def times(self, theta):
        """Z theta' for the rows of `theta`: shape (n, number of rows)."""
        W = theta[:, :-1] / self.spread
        return self.X @ W.T + (theta[:, -1] - W @ self.mean)

    def back(self, R):
        """R'Z for R of shape (n, m)."""
        sums = R.sum(axis=0)
        raw = ((self._transposed @ R).T - sums[:, None] * self.mean) / self.spread
        return np.column_stack([raw, sums])

    def squares(self, shares):
        """Σ_i shares_i z_ij² for each column of `shares`, as a row."""
        total, shifted = (
            shares.sum(axis=0)[:, None],
            2 * (self._transposed @ shares).T - self.mean * shares.sum(0)[:, None],
        )
        raw = (self._transposed.power(2) @ shares).T - self.mean * shifted
        return np.column_stack([np.maximum(raw, 0.0) / self.spread**2, total])

    def scaled(self):
        """Columns in units of their spread beside one of ones: the same planes, still sparse."""
        n = self.X.shape[0]
        return sparse.hstack([self.X @ sparse.diags_array(1.0 / self.spread), np.ones((n, 1))], format="csr")


def newton_sparse(Z, codes, weights, penalty, tol, max_iter, k, separation):
    """Maximise the penalised likelihood by Newton steps, each solved by conjugate gradients. θ and how it ended.

    One row of θ for two classes (class 1 against 0), else one for each class with the last as reference. A product
    with the Hessian costs what the table stores; `separation` is asked as Newton's method for tables asks it.
    """
    n, p = len(codes), len(penalty)
    total, check = weights.sum(), not penalty.any()
    free = np.array([1]) if k == 2 else np.arange(k - 1)
    target = (codes[:, None] == np.arange(k)).astype(float)
    theta, rows = np.zeros((free.size, p)), np.arange(n)

    def terms(theta):
        scores = np.zeros((n, k))
        scores[:, free] = Z.times(theta)
        own, loglik = scores[rows, codes], float(weights @ log_softmax(scores, axis=1)[rows, codes])
        other = np.where(target > 0, -np.inf, scores).max(axis=1)
        return loglik, softmax(scores, axis=1), float((own - other).min()), float(np.ptp(scores, axis=1).max())

    loglik, post, margin, largest = terms(theta)
    value = loglik
    found, iteration = "overlap" if check else "not checked", 0
    while True:
        gradient = Z.back(((target - post) * weights[:, None])[:, free]) - penalty * theta
        norm = float(np.linalg.norm(gradient)) / total
        if check and margin > 0:
            found = "complete"
            break
        if check and largest > 12.0 and (norm <= tol or iteration == max_iter or iteration % 8 == 0):
            found, check = separation(), False
            if found != "overlap":
                break
        if norm <= tol or iteration == max_iter:
            break
        step = _newton_step(Z, post[:, free], weights, penalty, gradient, min(0.1, np.sqrt(norm)))
        iteration += 1
        for _ in range(40):
            new = theta + step
            loglik, post, margin, largest = terms(new)
            new_value = loglik - 0.5 * float((penalty * new**2).sum())
            if new_value >= value - 1e-12 * abs(value):
                break
            step *= 0.5
        theta, value = new, new_value
    if k > 2:
        theta = np.vstack([theta, np.zeros(p)])
    return theta, (loglik, norm, iteration, found)


def _newton_step(Z, post, weights, penalty, gradient, tol):
    """Solve H s = gradient to a relative residual, preconditioned by the diagonal of H."""

    def hessian(V):
        U = post * Z.times(V)
        U -= post * U.sum(axis=1, keepdims=True)
        return Z.back(U * weights[:, None]) + penalty * V

    diagonal = Z.squares(weights[:, None] * post * (1.0 - post)) + penalty
    diagonal[diagonal <= 0] = 1.0
    step, residual = np.zeros_like(gradient), gradient.copy()
    steepest = residual / diagonal
    direction, rho = steepest.copy(), float(np.vdot(residual, steepest))
    goal = tol * np.linalg.norm(gradient)
    for _ in range(_CG_STEPS):
        image = hessian(direction)
        curvature = float(np.vdot(direction, image))
        if curvature <= 0.0:  # rounding, on a direction in which the likelihood is flat
            break
        size = rho / curvature
        step += size * direction
        residual -= size * image
        if np.linalg.norm(residual) <= goal:
            break
        steepest = residual / diagonal
        before, rho = rho, float(np.vdot(residual, steepest))
        direction = steepest + rho / before * direction
    return step if step.any() else gradient / diagonal


def sparse_least_squares(X, targets, weights, alpha, scale=None):
    """W of shape (d, k) that minimises Σ_i ω_i ‖t_i − W'z_i‖² + alpha ‖W‖², z = (x − mean)/scale, and the mean.

    `targets` are centred. With a penalty the smaller Gram matrix is factored where it is small; else LSQR, whose steps
    cost what X stores and which from zero finds the solution of least norm.
    """
    n, d = X.shape
    root = np.sqrt(weights)
    if scale is not None:
        X = X @ sparse.diags_array(1.0 / scale)
    mean, T = (weights @ X) / weights.sum(), root[:, None] * targets
    X = sparse.diags_array(root) @ X
    if alpha > 0 and min(n, d) <= _LARGEST_GRAM:
        return _by_gram(X.tocsr(), T, root, alpha, mean), mean
    back = X.T.tocsr()
    Z = LinearOperator(
        (n, d),
        matvec=lambda v: X @ v.ravel() - root * (mean @ v.ravel()),
        rmatvec=lambda r: back @ r.ravel() - mean * (root @ r.ravel()),
        dtype=np.float64,
    )
    W = np.empty((d, T.shape[1]))
    for j in range(T.shape[1]):
        options = {"atol": _LSQR_TOL, "btol": _LSQR_TOL, "conlim": 0, "iter_lim": 10 * max(n, d)}
        W[:, j], reason = lsqr(Z, T[:, j], damp=np.sqrt(alpha), **options)[:2]
        if reason == 7:
            warnings.warn("LSQR did not converge; scale the columns or raise alpha", ConvergenceWarning, stacklevel=3)
    return W, mean


def _by_gram(X, T, root, alpha, mean):
    """The smaller of (Z'Z + alpha I) W = Z'T and W = Z'A, (ZZ' + alpha I) A = T, for Z = X − root mean'."""
    n, d = X.shape
    if d <= n:
        S = (X.T @ X).toarray() - (root @ root) * np.outer(mean, mean)
        S[np.diag_indices(d)] += alpha
        return linalg.solve(S, X.T @ T - np.outer(mean, root @ T), assume_a="pos", overwrite_a=True)
    cross = np.outer(X @ mean, root)
    K = (X @ X.T).toarray() - cross - cross.T + (mean @ mean) * np.outer(root, root)
    K[np.diag_indices(n)] += alpha
    A = linalg.solve(K, T, assume_a="pos", overwrite_a=True)
    return X.T @ A - np.outer(mean, root @ A)
