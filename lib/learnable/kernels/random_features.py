"""Explicit features that approximate a kernel: linear cost in the number of points instead of cubic."""

import numpy as np
from scipy import linalg
from sklearn.base import BaseEstimator, RegressorMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from learnable.kernels.named import named_gamma
from learnable.validation import check_rng, check_scalar
from learnable.validation.tags import unit_facts

__all__ = ["RandomFourierFeatures", "RandomFourierRidge"]


class RandomFourierFeatures(TransformerMixin, BaseEstimator):
    """z(x) = sqrt(2/D) cos(W'x + b), whose inner products approximate the Gaussian kernel exp(-gamma |x - y|^2).

    By Bochner's theorem exp(-gamma |x|^2) is the characteristic function of N(0, 2 gamma I), the law of the columns of
    W; b is uniform on [0, 2 pi].

    Cost O(n d D) for D features.

    Parameters
    ----------
    gamma : {"scale", "auto"} or float, default="scale"
        See :func:`~learnable.kernels.named.named_gamma`.
    n_components : int, default=1000
        The number D of features.
    random_state : int, Generator or None

    Examples
    --------
    >>> z = RandomFourierFeatures(gamma=0.125, n_components=50, random_state=0).fit_transform([[0.0], [1.0]])
    >>> z.shape
    (2, 50)
    """

    _depends_on_units = unit_facts(
        origin="the random phases of the features are fixed, so that the approximation, not the kernel, moves",
        columns="one distance over all columns: standardise them",
    )

    def __init__(self, gamma="scale", n_components=1000, random_state=None):
        self.gamma = gamma
        self.n_components = n_components
        self.random_state = random_state

    def fit(self, X, y=None):
        """Draw the frequencies; of `X` only the number of columns matters, and the variance for ``gamma="scale"``."""
        D = check_scalar(self.n_components, "n_components", low=1, integer=True)
        X = validate_data(self, X, dtype=np.float64)
        rng = check_rng(self.random_state)
        self.frequencies_ = rng.normal(size=(X.shape[1], D)) * np.sqrt(2.0 * named_gamma(self.gamma, X))
        self.phases_ = rng.uniform(0.0, 2.0 * np.pi, size=D)
        return self

    def transform(self, X):
        """Return the features of the rows of `X`."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        Z = X @ self.frequencies_
        Z += self.phases_
        np.cos(Z, out=Z)
        Z *= np.sqrt(2.0 / self.phases_.size)
        return Z


class RandomFourierRidge(RegressorMixin, BaseEstimator):
    """Ridge regression on random Fourier features: kernel ridge for many points.

    Accumulated block by block in O(n D (d + D)) time and O(D^2) memory for D features.

    Parameters
    ----------
    gamma : {"scale", "auto"} or float, default="scale"
        Of the Gaussian kernel that is approximated.
    alpha : float, default=1.0
    n_components : int, default=1000
    random_state : int, Generator or None

    Examples
    --------
    >>> X = np.linspace(0.0, 1.0, 50)[:, None]
    >>> model = RandomFourierRidge(gamma=5.0, alpha=1e-3, n_components=200, random_state=0).fit(X, X[:, 0] ** 2)
    >>> bool(abs(model.predict([[0.5]])[0] - 0.25) < 0.01)
    True
    """

    _depends_on_units = unit_facts(
        origin="the random phases of the features are fixed, so that the approximation, not the kernel, moves",
        columns="one distance over all columns: standardise them",
    )

    def __init__(self, gamma="scale", alpha=1.0, n_components=1000, random_state=None):
        self.gamma = gamma
        self.alpha = alpha
        self.n_components = n_components
        self.random_state = random_state

    def fit(self, X, y):
        """Fit to the rows of `X` and responses `y`."""
        lam = check_scalar(self.alpha, "alpha", low=0, closed="neither")
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        y = np.asarray(y, dtype=np.float64)
        self.features_ = RandomFourierFeatures(self.gamma, self.n_components, self.random_state).fit(X)
        n, rows = y.size, 2048
        S, c, total = 0.0, 0.0, 0.0
        for i in range(0, n, rows):
            Z = self.features_.transform(X[i : i + rows])
            S = S + Z.T @ Z
            c = c + Z.T @ y[i : i + rows]
            total = total + Z.sum(axis=0)
        mean = total / n
        S -= n * np.multiply.outer(mean, mean)
        S[np.diag_indices_from(S)] += lam
        self.coef_ = linalg.solve(S, c - n * mean * y.mean(), assume_a="pos", overwrite_a=True)
        self.intercept_ = float(y.mean() - mean @ self.coef_)
        return self

    def predict(self, X):
        """Return the fitted function at the rows of `X`."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        return self.features_.transform(X) @ self.coef_ + self.intercept_
