"""Regression that ignores errors up to epsilon: the tube, its sparse solutions, and their certificates.

min over w and a of sum_i |y_i - f(x_i)|_eps^p + alpha |w|^2 with |r|_eps = max(0, |r| - eps) (Lember 2012, 4.6.3).
With c = gamma / (2 alpha) the duals (4.6.18) and that of (4.6.20), divided by 2 alpha, are

    max  c'y - 1/2 c'(K + d I)c - eps |c|_1   with 1'c = 0, |c_i| <= C,

d = alpha and C infinite for p = 2; d = 0 and C = 1/(2 alpha) for p = 1. One solver, that of the support vector machine,
does both.
"""

import numpy as np

from learnable.kernels import smo
from learnable.kernels.ridge import KernelRegressor
from learnable.validation import check_choice, check_finite_array, check_scalar
from learnable.validation.tags import ONE_DISTANCE

__all__ = ["EpsilonRidge", "EpsilonSVR"]


def epsilon_loss(residuals, epsilon, power=1):
    """Return sum_i max(0, |r_i| - epsilon)^power.

    Examples
    --------
    >>> epsilon_loss([0.05, -0.3, 1.1], 0.1, power=1)
    1.2
    """
    residuals = check_finite_array(residuals, "residuals", ndim=1)
    epsilon = check_scalar(epsilon, "epsilon", low=0)
    return float(np.sum(np.maximum(np.abs(residuals) - epsilon, 0.0) ** _power(power)))


def _power(power):
    check_choice(power, "power", (1, 2))
    return power


class _EpsilonRegressor(KernelRegressor):
    _power = 1

    def __init__(
        self, kernel="rbf", alpha=1.0, epsilon=0.1, *, gamma="scale", degree=3, coef0=0.0, tol=1e-6, max_iter=None
    ):
        self.kernel = kernel
        self.alpha = alpha
        self.epsilon = epsilon
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X, y):
        """Fit to the rows of `X` and responses `y`."""
        lam = check_scalar(self.alpha, "alpha", low=0, closed="neither")
        epsilon = check_scalar(self.epsilon, "epsilon", low=0)
        tol = check_scalar(self.tol, "tol", low=0, closed="neither")
        X, y = self._start(X, y)
        # The solver fetches the columns it needs by itself where the kernel has compiled ones.
        K, points = (self.kernel_(X), None) if self.kernel_.column_spec() is None else (self.kernel_, X)
        upper, diagonal = (0.5 / lam, 0.0) if self._power == 1 else (np.inf, lam)
        scale = max(float(np.ptp(y)), 1e-300)
        s = smo.regression(
            K, y, epsilon=epsilon, C=upper, ridge=diagonal, X=points, tol=tol * scale, max_iter=self.max_iter
        )
        alpha = s.beta
        self.dual_coef_ = alpha
        self.gamma_ = 2.0 * lam * alpha
        self.support_ = np.flatnonzero(alpha)
        ends = (float(end) for end in s.offset_interval)
        self.intercept_interval_ = self._set_intercept(X, float(s.offset), *ends)
        self.n_iter_ = max(int(s.n_iter), 1)
        # Both objectives from the fitted values K alpha, which the solver has.
        square = float(alpha @ s.values)
        self.objective_ = epsilon_loss(y - s.values - float(s.offset), epsilon, self._power) + lam * square
        curvature = lam * square + (lam**2 * float(alpha @ alpha) if self._power == 2 else 0.0)
        dual = float(self.gamma_ @ y) - curvature - epsilon * float(np.abs(self.gamma_).sum())
        self.dual_gap_ = self.objective_ - dual
        return self


class EpsilonSVR(_EpsilonRegressor):
    """Minimise sum_i |y_i - f(x_i)|_eps + alpha |w|^2: support vector regression.

    scikit-learn's ``SVR(C, epsilon)`` is this with C = 1 / (2 alpha). Points inside the tube have gamma = 0,
    those on its boundary |gamma| <= 1, those outside |gamma| = 1.

    Cost O(n d) for each step of the solver, which computes the kernel columns that it needs.

    Parameters
    ----------
    kernel : {"linear", "rbf", "poly", "precomputed"}, Kernel or callable, default="rbf"
    alpha : float, default=1.0
    epsilon : float, default=0.1
    gamma, degree, coef0
        Of a kernel given by name, as in scikit-learn's ``SVC``; see :func:`~learnable.kernels.named.named_kernel`.
    tol : float, default=1e-6
        Largest violation of the optimality conditions, in units of the range of y.
    max_iter : int, optional

    Attributes
    ----------
    dual_coef_, gamma_ : ndarray of shape (n,)
        c of f = sum_i c_i K(x_i, .) + a, and gamma = 2 alpha c.
    support_ : ndarray of int
    intercept_ : float
    intercept_interval_ : tuple
        All optimal intercepts: more than one only if no point lies on the boundary of the tube.
    objective_, dual_gap_ : float
        The objective, and a bound on its distance from the minimum.
    n_iter_ : int

    Examples
    --------
    >>> model = EpsilonSVR("linear", alpha=0.05, epsilon=0.2).fit([[-1.0], [0.0], [1.0]], [-1.0, 0.0, 1.0])
    >>> model.predict([[1.0]]).round(4), model.support_
    (array([0.8]), array([0, 2]))
    """

    _depends_on_units = ONE_DISTANCE


class EpsilonRidge(_EpsilonRegressor):
    """Minimise sum_i |y_i - f(x_i)|_eps^2 + alpha |w|^2: kernel ridge regression with a tube.

    ``epsilon=0`` is kernel ridge regression. Otherwise gamma_i = 0 for the points inside the tube, and
    y_i - f(x_i) = gamma_i / 2 + eps sign(gamma_i) outside it (Lember 2012, (4.6.19)).

    Cost O(n d) for each step of the solver, which computes the kernel columns that it needs.

    Parameters
    ----------
    kernel : {"linear", "rbf", "poly", "precomputed"}, Kernel or callable, default="rbf"
    alpha : float, default=1.0
    epsilon : float, default=0.1
    gamma, degree, coef0
        Of a kernel given by name, as in scikit-learn's ``SVC``; see :func:`~learnable.kernels.named.named_kernel`.
    tol : float, default=1e-6
        Largest violation of the optimality conditions, in units of the range of y.
    max_iter : int, optional

    Attributes
    ----------
    dual_coef_, gamma_ : ndarray of shape (n,)
        c of f = sum_i c_i K(x_i, .) + a, and gamma = 2 alpha c.
    support_ : ndarray of int
    intercept_ : float
    intercept_interval_ : tuple
    objective_, dual_gap_ : float
        The objective, and a bound on its distance from the minimum.
    n_iter_ : int

    Examples
    --------
    >>> model = EpsilonRidge("linear", alpha=2.0, epsilon=0.5).fit([[-1.0], [1.0]], [0.0, 4.0])
    >>> model.predict([[3.0]]).round(4)
    array([4.25])
    """

    _depends_on_units = ONE_DISTANCE

    _power = 2
