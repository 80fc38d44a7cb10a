"""Ridge and lasso regression with an unpenalised intercept: sum (y - w'x - a)^2 plus lam |w|^2 or lam |w|_1."""

import warnings
from dataclasses import dataclass

import numpy as np
from scipy import linalg, sparse
from scipy.optimize import brentq
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from learnable.optim.coordinate_descent import solve_lasso
from learnable.validation import check_finite_array, check_scalar

__all__ = ["Lasso", "Ridge", "RidgePath", "ridge_path"]


class _LinearRegressor(RegressorMixin, BaseEstimator):
    def predict(self, X):
        """Return w'x + a for the rows of `X`."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
        return X @ self.coef_ + self.intercept_

    def _data(self, X, y):
        X, y = validate_data(self, X, y, accept_sparse=self._sparse, dtype=np.float64, y_numeric=True)
        return X, np.asarray(y, dtype=np.float64)


class Ridge(_LinearRegressor):
    """Minimise sum_i (y_i - w'x_i - a)^2 + lam |w|^2.

    The smaller of the two systems (Z'Z + lam I) w = Z'y and w = Z'alpha, (ZZ' + lam I) alpha = y is solved, with
    centred Z and y (Lember 2012, (4.6.4)). ``alpha=0`` gives the least-squares solution of least norm.

    Cost O(n d min(n, d)).

    Parameters
    ----------
    alpha : float, default=1.0

    Attributes
    ----------
    coef_ : ndarray of shape (d,)
    intercept_ : float

    Examples
    --------
    >>> model = Ridge(alpha=2.0).fit([[-1.0], [1.0]], [0.0, 4.0])
    >>> model.coef_, model.intercept_
    (array([1.]), 2.0)
    """

    _sparse = False

    def __init__(self, alpha=1.0):
        self.alpha = alpha

    def fit(self, X, y):
        """Fit to the rows of `X` and responses `y`."""
        lam = check_scalar(self.alpha, "alpha", low=0)
        X, y = self._data(X, y)
        centre = X.mean(axis=0)
        Z, target = X - centre, y - y.mean()
        n, d = Z.shape
        if lam == 0:
            self.coef_ = linalg.lstsq(Z, target)[0]
        elif d <= n:
            S = Z.T @ Z
            S[np.diag_indices(d)] += lam
            self.coef_ = linalg.solve(S, Z.T @ target, assume_a="pos", overwrite_a=True)
        else:
            K = Z @ Z.T
            K[np.diag_indices(n)] += lam
            self.coef_ = Z.T @ linalg.solve(K, target, assume_a="pos", overwrite_a=True)
        self.intercept_ = float(y.mean() - self.coef_ @ centre)
        return self


class Lasso(_LinearRegressor):
    """Minimise 1/(2n) sum_i (y_i - w'x_i - a)^2 + alpha sum_j |w_j|.

    The scaling is scikit-learn's; :func:`lam_to_alpha` converts the penalty of the source's sum of squares.

    Cost O(n d) a sweep over the coordinates.

    Parameters
    ----------
    alpha : float, default=1.0
    tol : float, default=1e-8
        Stop when the duality gap is at most ``tol`` times the mean square of the centred y.
    max_iter : int, default=10000

    Attributes
    ----------
    coef_ : ndarray of shape (d,)
    intercept_ : float
    dual_gap_ : float
        The objective is at most this far above its minimum.
    n_iter_ : int

    Examples
    --------
    >>> model = Lasso(alpha=0.5).fit([[-1.0], [1.0]], [0.0, 4.0])
    >>> model.coef_, model.intercept_
    (array([1.5]), 2.0)
    """

    _sparse = "csc"

    def __init__(self, alpha=1.0, *, tol=1e-8, max_iter=10_000):
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X, y):
        """Fit to the rows of `X`, dense or sparse, and responses `y`."""
        alpha = check_scalar(self.alpha, "alpha", low=0)
        X, y = self._data(X, y)
        answer = solve_lasso(X, y, alpha, center=True, tol=self.tol, max_iter=self.max_iter)
        means = np.asarray(X.mean(axis=0)).ravel() if sparse.issparse(X) else X.mean(axis=0)
        self.coef_ = answer.coef
        self.intercept_ = float(y.mean() - self.coef_ @ means)
        self.dual_gap_ = answer.gap
        self.n_iter_ = max(answer.n_iter, 1)
        return self


@dataclass(frozen=True)
class RidgePath:
    """Ridge regressions for many penalties from one singular value decomposition.

    Attributes
    ----------
    alphas : ndarray of shape (k,)
    coefs : ndarray of shape (k, d)
    intercepts : ndarray of shape (k,)
    loo_residuals : ndarray of shape (k, n)
        y_i minus the prediction for it by the fit without it; NaN where the fit without it is not determined.
    loo_mse : ndarray of shape (k,)
    df : ndarray of shape (k,)
        Trace of the smoother, intercept included.
    """

    alphas: np.ndarray
    coefs: np.ndarray
    intercepts: np.ndarray
    loo_residuals: np.ndarray
    loo_mse: np.ndarray
    df: np.ndarray


def ridge_path(X, y, alphas):
    """Return ridge regressions and their exact leave-one-out residuals for all `alphas` from one decomposition.

    Parameters
    ----------
    X : array-like of shape (n, d)
    y : array-like of shape (n,)
    alphas : array-like of shape (k,)
        Positive; zero is allowed and gives the least-squares solution of least norm.

    Returns
    -------
    RidgePath

    Examples
    --------
    >>> ridge_path([[-1.0], [1.0]], [0.0, 4.0], [0.5, 2.0]).coefs
    array([[1.6],
           [1. ]])
    """
    X, y, centre, U, s, V = _decompose(X, y)
    alphas = _penalties(alphas)
    u = U.T @ (y - y.mean())
    shrink = s[:, None] / (s[:, None] ** 2 + alphas)
    coefs = (V.T @ (u[:, None] * shrink)).T
    share = s[:, None] ** 2 / (s[:, None] ** 2 + alphas)
    leverage = 1.0 / y.size + (U**2) @ share
    residuals = (y - y.mean())[:, None] - U @ (u[:, None] * share)
    with np.errstate(divide="ignore", invalid="ignore"):
        loo = np.where(1.0 - leverage > 1e-10, residuals / (1.0 - leverage), np.nan)
    undetermined = np.isnan(loo).any(axis=0)
    if undetermined.any():
        warnings.warn(
            f"at alpha = {alphas[undetermined].max():g} some points are fitted exactly whatever their y, so that their "
            "leave-one-out residuals are not determined (NaN); take larger penalties",
            RuntimeWarning,
            stacklevel=2,
        )
    return RidgePath(alphas, coefs, y.mean() - coefs @ centre, loo.T, np.mean(loo**2, axis=0), 1.0 + share.sum(axis=0))


def lam_to_alpha(lam, n):
    """Return alpha = lam / (2n): the lasso's penalty where the source minimises sum (.)^2 + lam |w|_1.

    Parameters
    ----------
    lam : float or array-like
        The source's penalty.
    n : int
        Number of observations.

    Returns
    -------
    float or ndarray

    Examples
    --------
    >>> lam_to_alpha(1000.0, 250)
    2.0
    """
    n = check_scalar(n, "n", low=1, integer=True)
    lam = check_finite_array(lam, "lam")
    return lam / (2 * n) if lam.ndim else float(lam) / (2 * n)


def lam_to_B(X, y, alpha):
    """Return B = |w_lam|: the constraint |w| <= B under which least squares gives the ridge solution.

    Examples
    --------
    >>> round(lam_to_B([[-1.0], [1.0]], [0.0, 4.0], 2.0), 10)
    1.0
    """
    _, y, _, U, s, _ = _decompose(X, y)
    u = U.T @ (y - y.mean())
    return float(np.linalg.norm(u * s / (s**2 + check_scalar(alpha, "alpha", low=0))))


def B_to_lam(X, y, B):
    """Return the penalty whose ridge solution has length B; 0 if the constraint |w| <= B does not bind.

    Examples
    --------
    >>> round(B_to_lam([[-1.0], [1.0]], [0.0, 4.0], 1.0), 10)
    2.0
    """
    B = check_scalar(B, "B", low=0, closed="neither")
    _, y, _, U, s, _ = _decompose(X, y)
    u = U.T @ (y - y.mean())
    if np.linalg.norm(u / s) <= B:
        return 0.0

    def excess(lam):
        return float(np.linalg.norm(u * s / (s**2 + lam))) - B

    # |w_lam| <= |us| / lam, so beyond |us| / B the constraint is met.
    high = float(np.linalg.norm(u * s)) / B
    return float(brentq(excess, 0.0, high, xtol=1e-14 * high, rtol=1e-14))


def _decompose(X, y):
    X = check_finite_array(X, "X", ndim=2)
    y = check_finite_array(y, "y", ndim=1)
    if X.shape[0] != y.size or y.size == 0 or X.shape[1] == 0:
        raise ValueError(f"X must have one row for each of the {y.size} entries of y, got shape {X.shape}")
    centre = X.mean(axis=0)
    U, s, V = linalg.svd(X - centre, full_matrices=False)
    keep = s > 1e-13 * max(s[0], 1e-300) * max(X.shape)
    return X, y, centre, U[:, keep], s[keep], V[keep]


def _penalties(alphas, low=0.0, closed="left"):
    alphas = check_finite_array(alphas, "alphas", ndim=1)
    if alphas.size == 0:
        raise ValueError("alphas must hold at least one penalty")
    for alpha in (alphas.min(), alphas.max()):
        check_scalar(alpha, "alphas", low=low, closed=closed)
    return alphas
