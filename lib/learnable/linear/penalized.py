"""Ridge and lasso regression with an unpenalised intercept."""

import numpy as np
from scipy import linalg, sparse
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from learnable.linear._sparse import sparse_least_squares
from learnable.optim.coordinate_descent import solve_lasso
from learnable.validation import check_finite_array, check_scalar
from learnable.validation.tags import ONE_PENALTY

__all__ = ["Lasso", "Ridge"]


class _LinearRegressor(RegressorMixin, BaseEstimator):
    def predict(self, X):
        """Return w'x + a for the rows of `X`."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
        return X @ self.coef_ + self.intercept_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = bool(self._sparse)
        return tags

    def _data(self, X, y):
        X, y = validate_data(self, X, y, accept_sparse=self._sparse, dtype=np.float64, y_numeric=True)
        return X, np.asarray(y, dtype=np.float64)


class Ridge(_LinearRegressor):
    """Minimise sum_i (y_i - w'x_i - a)^2 + lam |w|^2.

    The smaller of the two systems (Z'Z + lam I) w = Z'y and w = Z'alpha, (ZZ' + lam I) alpha = y is solved, with
    centred Z and y (Lember 2012, (4.6.4)). ``alpha=0`` gives the least-squares solution of least norm.

    Cost O(n d min(n, d)). Sparse tables stay sparse: with more than 4,000 rows and columns, or without a penalty, steps
    that cost what is stored replace the system.

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

    _depends_on_units = ONE_PENALTY

    _sparse = "csr"

    def __init__(self, alpha=1.0):
        self.alpha = alpha

    def fit(self, X, y):
        """Fit to the rows of `X`, dense or sparse, and responses `y`."""
        lam = check_scalar(self.alpha, "alpha", low=0)
        X, y = self._data(X, y)
        if sparse.issparse(X):
            W, centre = sparse_least_squares(X, (y - y.mean())[:, None], np.ones(y.size), lam)
            self.coef_ = W[:, 0]
            self.intercept_ = float(y.mean() - self.coef_ @ centre)
            return self
        centre = X.mean(axis=0)
        Z, target = X - centre, y - y.mean()
        n, d = Z.shape
        if lam == 0:
            # Centring leaves rank n - 1 at most: a singular value of pure rounding must not count as one of the data.
            self.coef_ = linalg.lstsq(Z, target, cond=max(n, d) * np.finfo(float).eps)[0]
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

    The scaling is scikit-learn's; a penalty of the plain sum of squares is divided by 2n.

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

    _depends_on_units = ONE_PENALTY

    _sparse = "csc"

    def __init__(self, alpha=1.0, *, tol=1e-8, max_iter=10_000):
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter

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


def _penalties(alphas, low=0.0, closed="left"):
    alphas = check_finite_array(alphas, "alphas", ndim=1)
    if alphas.size == 0:
        raise ValueError("alphas must hold at least one penalty")
    for alpha in (alphas.min(), alphas.max()):
        check_scalar(alpha, "alphas", low=low, closed=closed)
    return alphas
