"""Kernel ridge regression with an intercept: one fit, or a whole path with exact leave-one-out errors.

min over w and a of sum_i (y_i - <w, Phi(x_i)> - a)^2 + alpha |w|^2. Centring in feature space takes the intercept out:
with the centred Gram matrix K0 and the centred y0, c = (K0 + alpha I)^{-1} y0 (Lember 2012, section 4.6.2). Since
K0 1 = 0 and 1'y0 = 0, also 1'c = 0, and the fit is f(x) = sum_i c_i K(x, x_i) + a with a = mean(y - K c).
"""

from dataclasses import dataclass

import numpy as np
from numba import njit
from scipy import linalg
from scipy.sparse.linalg import LinearOperator, cg
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from learnable.kernels.functions import Precomputed, center_gram
from learnable.kernels.named import KernelMixin, far_centre
from learnable.linear.penalized import _penalties
from learnable.validation import check_choice, check_finite_array, check_scalar
from learnable.validation.tags import ONE_DISTANCE

__all__ = ["KernelRidge", "KernelRidgePath", "kernel_ridge_path"]

# Beyond this many points "cg" computes kernel values block by block instead of keeping the Gram matrix.
LARGEST_GRAM = 12_000


class KernelRegressor(KernelMixin, RegressorMixin, BaseEstimator):
    """What the kernel regressions of this chapter share: f(x) = sum_i dual_coef_i K(x, x_i) + intercept."""

    def predict(self, X):
        """Return the fitted function at the rows of `X` (at rows of kernel values if the kernel is precomputed)."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        if isinstance(self.kernel_, Precomputed):
            return X[:, self.support_] @ self.dual_coef_[self.support_] + self.intercept_
        if self._centre is not None:
            return (X - self._centre) @ self._slope + self._level
        return self.kernel_(X, self.X_fit_[self.support_]) @ self.dual_coef_[self.support_] + self.intercept_

    def _start(self, X, y):
        """The points to fit to, moved to the origin where that matters, and the responses."""
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        self.kernel_ = self._named_kernel(X)
        self.X_fit_ = X
        self._centre = far_centre(self.kernel_, X)
        return X if self._centre is None else X - self._centre, np.asarray(y, dtype=np.float64)

    def _set_intercept(self, X, level, *others):
        """Keep the intercept of the points `X` of :meth:`_start`; it, and others, in the user's coordinates."""
        back = 0.0
        if self._centre is not None:
            self._slope, self._level = X.T @ self.dual_coef_, level
            back = float(self._slope @ self._centre)
        self.intercept_ = level - back
        return tuple(other - back for other in others)


class KernelRidge(KernelRegressor):
    """Kernel ridge regression with an unpenalised intercept.

    Cost O(n² d + n³) with a Cholesky factor.

    Parameters
    ----------
    kernel : {"linear", "rbf", "poly", "precomputed"}, Kernel or callable, default="rbf"
    alpha : float, default=1.0
        Positive.
    gamma, degree, coef0
        Of a kernel given by name, as in scikit-learn's ``SVC``; see :func:`~learnable.kernels.named.named_kernel`.
    solver : {"chol", "cg", "dual_ascent"}, default="chol"
        Cholesky factorisation in n^3/3; conjugate gradients, which need products with the Gram matrix only; or
        coordinate ascent on the dual problem (4.6.12).
    tol : float, default=1e-10
        Relative residual at which the iterative solvers stop.
    max_iter : int, default=10000

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n,)
        c of f = sum_i c_i K(x_i, .) + a; its sum is zero.
    intercept_ : float
    support_ : ndarray of int
        Points with a non-zero coefficient: all of them, as a rule.
    n_iter_ : int

    Examples
    --------
    >>> model = KernelRidge("linear", alpha=2.0).fit([[-1.0], [1.0]], [0.0, 4.0])
    >>> model.predict([[3.0]])
    array([5.])
    """

    _depends_on_units = ONE_DISTANCE

    def __init__(
        self, kernel="rbf", alpha=1.0, *, gamma="scale", degree=3, coef0=0.0, solver="chol", tol=1e-10,
        max_iter=10_000,
    ):  # fmt: skip
        self.kernel = kernel
        self.alpha = alpha
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X, y):
        """Fit to the rows of `X` and responses `y`."""
        lam = check_scalar(self.alpha, "alpha", low=0, closed="neither")
        check_choice(self.solver, "solver", ("chol", "cg", "dual_ascent"))
        X, y = self._start(X, y)
        target = y - y.mean()
        self.n_iter_ = 1
        if self.solver == "cg":
            K, alpha = self._conjugate_gradients(X, target, lam)
        else:
            K = self.kernel_(X)
            A = center_gram(K)
            A[np.diag_indices_from(A)] += lam
            if self.solver == "chol":
                try:
                    alpha = linalg.cho_solve(linalg.cho_factor(A, lower=True, overwrite_a=True), target)
                except linalg.LinAlgError:
                    raise ValueError("the kernel matrix is not positive semi-definite: K0 + lam I is not") from None
            else:
                alpha, self.n_iter_ = _dual_ascent(A, target, self.tol, self.max_iter)
        self.dual_coef_ = alpha - alpha.mean()
        self.support_ = np.flatnonzero(self.dual_coef_)
        self._set_intercept(X, float(np.mean(y - K @ self.dual_coef_)))
        return self

    def _conjugate_gradients(self, X, target, lam):
        n = target.size
        if n <= LARGEST_GRAM or isinstance(self.kernel_, Precomputed):
            K = self.kernel_(X)
        else:
            rows = max(1, 2**24 // n)

            def product(v):
                blocks = (self.kernel_(X[i : i + rows], X) @ v for i in range(0, n, rows))
                return np.concatenate(list(blocks))

            K = LinearOperator((n, n), matvec=product, dtype=np.float64)

        def centred(v):
            u = K @ (v - v.mean())
            return u - u.mean() + lam * v

        self.n_iter_ = 0

        def count(_):
            self.n_iter_ += 1

        operator = LinearOperator((n, n), matvec=centred, dtype=np.float64)
        alpha, failed = cg(operator, target, rtol=self.tol, maxiter=self.max_iter, callback=count)
        if failed:
            raise RuntimeError(f"conjugate gradients did not converge in max_iter={self.max_iter} steps")
        self.n_iter_ = max(self.n_iter_, 1)
        return K, alpha


@dataclass(frozen=True)
class KernelRidgePath:
    """Kernel ridge regressions for many penalties; row k belongs to ``alphas[k]``.

    With several responses all but ``alphas``, ``df`` and ``rank`` have a last axis more.

    Attributes
    ----------
    alphas : ndarray of shape (k,)
    dual_coefs : ndarray of shape (k, n)
    intercepts : ndarray of shape (k,)
    fitted : ndarray of shape (k, n)
    loo_residuals : ndarray of shape (k, n)
        y_i minus the prediction for x_i by the fit without point i, exactly.
    loo_mse, gcv, df : ndarray of shape (k,)
        Mean squared leave-one-out residual, generalised cross-validation score, trace of the smoother.
    rank : int
        Numerical rank of the (centred) Gram matrix if it is below n/2; otherwise the largest possible, n - 1 or n.
    """

    alphas: np.ndarray
    dual_coefs: np.ndarray
    intercepts: np.ndarray
    fitted: np.ndarray
    loo_residuals: np.ndarray
    loo_mse: np.ndarray
    gcv: np.ndarray
    df: np.ndarray
    rank: int

    @property
    def best(self):
        """Index of the penalty with the smallest leave-one-out error."""
        return int(np.nanargmin(self.loo_mse))


def kernel_ridge_path(K, y, alphas, *, fit_intercept=True):
    """Return kernel ridge fits with exact leave-one-out residuals for all `alphas` from one decomposition.

    With K0 = U diag(s) U' the smoother is H = 11'/n + U diag(s / (s + alpha)) U', and the residual of the fit without
    point i is e_i / (1 - H_ii). A Cholesky factorisation with pivoting looks first whether K0 has low numerical rank,
    as smooth kernels in low dimension have; then only a small matrix is decomposed. Otherwise K0 is brought to
    tridiagonal form, the first half of an eigendecomposition, after which a penalty costs O(n^2).

    Parameters
    ----------
    K : array-like of shape (n, n)
        Gram matrix (not centred).
    y : array-like of shape (n,) or (n, t)
        One response, or several.
    alphas : array-like of shape (k,)
        Positive penalties.
    fit_intercept : bool, default=True
        Without, the Gram matrix is not centred: (K + alpha I)^{-1} y.

    Returns
    -------
    KernelRidgePath

    Examples
    --------
    >>> K = np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> kernel_ridge_path(K, [0.0, 4.0], [2.0]).fitted
    array([[1., 3.]])
    """
    K = check_finite_array(K, "K", ndim=2)
    y = check_finite_array(y, "y")
    n = len(y) if y.ndim else 0
    if y.ndim not in (1, 2) or K.shape != (n, n) or n < 2:
        raise ValueError(f"K must have shape {(n, n)} to match y, with at least two points, got {K.shape}")
    alphas = _penalties(alphas, closed="neither")
    Y = y.reshape(n, -1)
    mean = Y.mean(axis=0) if fit_intercept else np.zeros(Y.shape[1])
    K0 = center_gram(K) if fit_intercept else K
    factor = _low_rank_factor(K0)
    if factor is None:
        rank = n - bool(fit_intercept)
        dual, remainder = _by_tridiagonal_form(K0, Y - mean, alphas, fit_intercept)
    else:
        rank, dual, remainder = _by_spectrum(factor, Y - mean, alphas, fit_intercept)
    # From here on the axes are penalties, points, responses.
    left = remainder.T[:, :, None]
    if fit_intercept:
        dual -= dual.mean(axis=1, keepdims=True)
    residuals = alphas[:, None, None] * dual
    loo = residuals / left
    gcv = n * np.sum((residuals / left.sum(axis=1, keepdims=True)) ** 2, axis=1)  # n - df, whose squares underflow
    intercepts = mean - np.einsum("i,kit->kt", K.mean(axis=0), dual) if fit_intercept else np.zeros(gcv.shape)
    parts = (dual, intercepts, Y - residuals, loo, np.mean(loo**2, axis=1), gcv)
    return KernelRidgePath(
        alphas, *(part[..., 0] if y.ndim == 1 else part for part in parts), n - remainder.sum(axis=0), rank
    )


def _low_rank_factor(K0):
    """Return L with K0 = LL' and few columns, by Cholesky with pivoting; None if the rank is not low."""
    n = K0.shape[0]
    diagonal = K0.diagonal()
    scale = max(float(diagonal.max()), 1e-300)
    if diagonal.min() < -1e-9 * scale * n:
        raise ValueError("K must be positive semi-definite: the centred Gram matrix has a negative diagonal")
    tol = 1e-15 * n * scale
    if n >= 64:
        # If a quarter of the points are independent already, the rank is not low: no need to look at all.
        part = K0[::4, ::4]
        if linalg.lapack.dpstrf(part, lower=1, tol=tol)[2] == part.shape[0]:
            return None
    factor, pivots, rank, _ = linalg.lapack.dpstrf(K0, lower=1, tol=tol)
    if rank >= n // 2:
        return None
    L = np.zeros((n, rank))
    L[pivots - 1] = np.tril(factor[:, :rank])
    if np.abs(diagonal - np.einsum("ij,ij->i", L, L)).max() > 1e-9 * scale * n:
        raise ValueError("K must be positive semi-definite: its pivoted Cholesky factorisation breaks down")
    return L


def _by_spectrum(L, target, lams, centred):
    """Return the rank, all alphas and all 1 - H_ii from the eigenvalues and eigenvectors of LL'."""
    n = len(target)
    if centred:
        L = L - L.mean(axis=0)
    Q, R = linalg.qr(L, mode="economic", check_finite=False)
    W, root, _ = linalg.svd(R, check_finite=False)
    s, U = root**2, Q @ W
    keep = s > 1e-15 * n * max(s.max(initial=0.0), 1e-300)
    s, U = s[keep], U[:, keep]
    weights = (s[:, None] / (s[:, None] + lams))[:, :, None] * (U.T @ target)[:, None, :]
    smooth = (U @ weights.reshape(s.size, -1)).reshape(n, lams.size, -1).transpose(1, 0, 2)
    # In parts that are all non-negative: outside the span of U and the constant, and lam / (s + lam) inside it.
    squares = U**2
    outside = np.maximum(1.0 - centred / n - squares.sum(axis=1), 0.0)
    outside[outside < 1e-13 * n] = 0.0
    dual = (target - smooth) / lams[:, None, None]
    return s.size, dual, outside[:, None] + squares @ (lams / (s[:, None] + lams))


def _by_tridiagonal_form(K0, target, lams, centred):
    """Return all alphas and all 1 - H_ii from K0 = QTQ' with T tridiagonal: half of an eigendecomposition.

    Each penalty then costs O(n^2): T + lam I = LDL' with L bidiagonal, and the diagonal of Q(T + lam I)^{-1}Q' is the
    sum of squares of the columns of QL^{-T}, which follow one from the other.
    """
    n, t = target.shape
    # The constant vector gets an eigenvalue beyond all others, so that nothing has to cancel when its share goes.
    shift = 2.0 * max(float(np.trace(K0)), 1e-300) if centred else 0.0
    lwork = int(linalg.lapack.dsytrd_lwork(n, lower=1)[0])
    reflectors, d, e, tau, _ = linalg.lapack.dsytrd(K0 + shift / n, lower=1, lwork=lwork, overwrite_a=1)
    Q = np.zeros((n, n), order="F")
    Q[0, 0] = 1.0
    if n > 1:
        block = np.asfortranarray(reflectors[1:, : n - 1])
        Q[1:, 1:] = linalg.lapack.dorgqr(block, tau, lwork=64 * n, overwrite_a=1)[0]
    solved, diagonal = np.empty((lams.size, t, n)), np.empty((lams.size, n))
    if not _tridiagonal_path(np.ascontiguousarray(Q.T), d, e, (Q.T @ target).T.copy(), lams, solved, diagonal):
        raise ValueError("K must be positive semi-definite: K0 + lam I is not")
    remainder = lams * (diagonal.T - centred / (n * (shift + lams)))
    dual = solved.reshape(-1, n) @ Q.T  # one product for all penalties and responses
    return dual.reshape(lams.size, t, n).transpose(0, 2, 1).copy(), remainder


@njit(cache=True)
def _tridiagonal_path(Q, d, e, z, lams, solved, diagonal):
    """Solve (T + lam I) x = z and sum the squares for every penalty; `Q` holds its columns as rows."""
    n = d.size
    D = np.empty((lams.size, n))
    L = np.empty((lams.size, n))
    for m in range(lams.size):
        D[m, 0] = d[0] + lams[m]
        for k in range(n - 1):
            if D[m, k] <= 0.0:
                return False
            L[m, k] = e[k] / D[m, k]
            D[m, k + 1] = d[k + 1] + lams[m] - L[m, k] * e[k]
        if D[m, n - 1] <= 0.0:
            return False
        for t in range(z.shape[0]):
            x = solved[m, t]
            x[0] = z[t, 0]
            for k in range(1, n):
                x[k] = z[t, k] - L[m, k - 1] * x[k - 1]
            x[n - 1] /= D[m, n - 1]
            for k in range(n - 2, -1, -1):
                x[k] = x[k] / D[m, k] - L[m, k] * x[k + 1]
    # Blocks of points that stay in the cache for all penalties.
    width = 64
    w = np.empty(width)
    total = np.empty(width)
    for first in range(0, n, width):
        size = min(width, n - first)
        for m in range(lams.size):
            for i in range(size):
                w[i] = Q[0, first + i]
                total[i] = w[i] * w[i] / D[m, 0]
            for k in range(1, n):
                row = Q[k, first : first + size]
                step = L[m, k - 1]
                scale = 1.0 / D[m, k]
                for i in range(size):
                    w[i] = row[i] - step * w[i]
                    total[i] += w[i] * w[i] * scale
            for i in range(size):
                diagonal[m, first + i] = total[i]
    return True


@njit(cache=True)
def _dual_ascent(A, target, tol, max_iter):
    """Maximise the dual one coordinate at a time: Gauss-Seidel on A alpha = y, A = K0 + lam I."""
    alpha = np.zeros_like(target)
    residual = target.copy()
    goal = tol * np.sqrt(np.sum(target * target))
    for sweep in range(max_iter):
        if np.sqrt(np.sum(residual * residual)) <= goal:
            return alpha, max(sweep, 1)
        for i in range(target.size):
            step = residual[i] / A[i, i]
            alpha[i] += step
            for j in range(target.size):
                residual[j] -= step * A[i, j]
    return alpha, max_iter
