"""Functions of a reproducing kernel Hilbert space, and the problems whose solutions they are.

An :class:`RKHSFunction` is f = sum_i c_i K(x_i, .): points, coefficients, and an inner product that needs kernel
values only. The representer theorem says that the minimiser of Omega(|w|^2) + L(w(x_1), ..., w(x_n)) is of this form
with the data as points; :func:`representer_solve` finds it.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from learnable.kernels.functions import as_kernel
from learnable.validation import check_choice, check_finite_array, check_scalar

__all__ = ["RKHSFunction", "RepresenterSolution", "representer_solve"]


class RKHSFunction:
    """f = sum_i coef_i K(points_i, .).

    Parameters
    ----------
    kernel : Kernel, str or callable
    points : array-like of shape (m, d)
    coef : array-like of shape (m,)

    Examples
    --------
    >>> f = RKHSFunction("linear", [[1.0, 0.0], [1.0, 0.0]], [2.0, 1.0])
    >>> g = RKHSFunction("linear", [[3.0, 0.0]], [1.0])
    >>> f.same_as(g), f.norm, float(f([[2.0, 5.0]])[0])
    (True, 3.0, 6.0)
    """

    def __init__(self, kernel, points, coef):
        self.kernel = as_kernel(kernel)
        self.points = points if hasattr(points, "shape") else np.asarray(points, dtype=np.float64)
        self.coef = check_finite_array(coef, "coef", ndim=1)
        if self.coef.size != self.points.shape[0]:
            raise ValueError(f"coef must have one entry for each of the {self.points.shape[0]} points")

    @classmethod
    def section(cls, kernel, x):
        """Return K(x, .), the representer of evaluation at the point x."""
        return cls(kernel, np.atleast_2d(np.asarray(x, dtype=np.float64)), np.ones(1))

    def __call__(self, X):
        """Return the values f(x) at the rows of `X`."""
        return self.kernel(X, self.points) @ self.coef

    def inner(self, other):
        """Return <f, g> = sum_ij a_i b_j K(x_i, y_j)."""
        self._same_space(other)
        return float(self.coef @ (self.kernel(self.points, other.points) @ other.coef))

    @property
    def norm(self):
        """The length of f."""
        square = float(self.coef @ (self.kernel(self.points) @ self.coef))
        return float(np.sqrt(max(square, 0.0)))

    def same_as(self, other, tol=1e-7):
        """Return whether two expansions are one function: |f - g| <= tol (|f| + |g|)."""
        tol = check_scalar(tol, "tol", low=0)
        return (self - other).norm <= tol * (self.norm + other.norm)

    def __add__(self, other):
        if not isinstance(other, RKHSFunction):
            return NotImplemented
        self._same_space(other)
        points = np.concatenate([self.points, other.points])
        return RKHSFunction(self.kernel, points, np.concatenate([self.coef, other.coef]))

    def __mul__(self, scalar):
        if not np.isscalar(scalar):
            return NotImplemented
        return RKHSFunction(self.kernel, self.points, float(scalar) * self.coef)

    __rmul__ = __mul__

    def __neg__(self):
        return -1.0 * self

    def __sub__(self, other):
        return self + (-other) if isinstance(other, RKHSFunction) else NotImplemented

    def __repr__(self):
        return f"RKHSFunction({self.kernel!r}, {self.coef.size} points)"

    def _same_space(self, other):
        if not isinstance(other, RKHSFunction) or self.kernel != other.kernel:
            raise ValueError("both functions must live in the space of one kernel")


@dataclass(frozen=True)
class RepresenterSolution:
    """The minimiser w = sum_i coef_i K(x_i, .) and its intercept.

    Attributes
    ----------
    coef : ndarray of shape (n,)
        Of all expansions of w the one of least length.
    intercept : float
    values : ndarray of shape (n,)
        w(x_i) + intercept.
    norm2 : float
        |w|^2.
    objective : float
    """

    coef: np.ndarray
    intercept: float
    values: np.ndarray
    norm2: float
    objective: float


def representer_solve(
    K, y, loss="squared", omega=1.0, *, intercept=True, power=1, epsilon=0.1, quantile=0.5, weight=1.0, max_iter=2000
):
    """Minimise omega(|w|^2) + weight sum_i loss(y_i, w(x_i) + a) over functions w of the space and intercepts a.

    By the representer theorem w = sum_i c_i K(x_i, .), so |w|^2 = c'Kc and w(x_i) = (Kc)_i. With K = USU' the
    coordinates v with w(x_i) = (U S^{1/2} v)_i make the penalty |v|^2: well-conditioned steps, and directions in
    which K is singular drop out. L-BFGS runs in these coordinates. Losses with a kink are smoothed over a width that
    goes to zero; with a linear `omega`, Newton's method finishes each stage.

    Parameters
    ----------
    K : array-like of shape (n, n)
        Gram matrix.
    y : array-like of shape (n,)
        Responses, or labels -1 and 1 for ``"hinge"`` and ``"logistic"``.
    loss : {"squared", "hinge", "logistic", "epsilon", "quantile"}
        (y - f)^2; (1 - yf)_+^power; ln(1 + exp(-yf)); max(0, |y - f| - epsilon)^power; pinball loss at `quantile`.
    omega : float or (callable, callable)
        The number lam for lam |w|^2, or an increasing function of |w|^2 with its derivative.
    intercept : bool, default=True
        Fit an unpenalised intercept.
    power : {1, 2}, default=1
    epsilon, quantile, weight : float
    max_iter : int, default=2000
        Of each run of L-BFGS.

    Returns
    -------
    RepresenterSolution

    Examples
    --------
    >>> representer_solve(np.eye(2), [1.0, -1.0], "squared", 1.0).values.round(6)
    array([ 0.5, -0.5])
    """
    K = check_finite_array(K, "K", ndim=2)
    y = check_finite_array(y, "y", ndim=1)
    n = y.size
    if K.shape != (n, n) or n == 0:
        raise ValueError(f"K must have shape {(n, n)} to match y, got {K.shape}")
    terms = _Loss(loss, y, power, epsilon, quantile, check_scalar(weight, "weight", low=0, closed="neither"))
    linear = np.ndim(omega) == 0 and not callable(omega)
    if linear:
        lam = check_scalar(omega, "omega", low=0, closed="neither")
        penalty, slope = (lambda t: lam * t), (lambda t: lam)
    else:
        penalty, slope = omega
    s, U = np.linalg.eigh(0.5 * (K + K.T))
    if s[0] < -1e-8 * max(s.sum(), 0.0):
        raise ValueError(f"K must be positive semi-definite, its smallest eigenvalue is {s[0]:.3g}")
    keep = s > 1e-13 * max(s[-1], 1e-300)
    s, U = s[keep], U[:, keep]
    B = U * np.sqrt(s)
    if intercept:
        B = np.column_stack([B, np.ones(n)])
    r = s.size
    z = np.zeros(B.shape[1])

    def objective(z, width):
        f = B @ z
        value, gradient, _ = terms(f, width)
        square = float(z[:r] @ z[:r])
        g = B.T @ gradient
        g[:r] += 2.0 * slope(square) * z[:r]
        return penalty(square) + value, g

    for width in terms.widths:
        answer = minimize(
            objective, z, args=(width,), jac=True, method="L-BFGS-B",
            options={"maxiter": max_iter, "maxcor": 30, "ftol": 1e-15, "gtol": 1e-9, "maxfun": 4 * max_iter},
        )  # fmt: skip
        z = answer.x
        if linear:
            z = _newton(objective, terms, B, r, lam, z, width)
    f = B @ z
    square = float(z[:r] @ z[:r])
    return RepresenterSolution(
        U @ (z[:r] / np.sqrt(s)),
        float(z[r]) if intercept else 0.0,
        f,
        square,
        float(penalty(square) + terms(f, 0.0)[0]),
    )


def _newton(objective, terms, B, r, lam, z, width, steps=60):
    """Damped Newton steps; the smoothed losses are piecewise quadratic, so that a few of them end exactly."""
    value, g = objective(z, width)
    for _ in range(steps):
        curvature = terms(B @ z, width)[2]
        H = (B.T * curvature) @ B
        H[np.arange(r), np.arange(r)] += 2.0 * lam
        H[np.diag_indices_from(H)] += 1e-12 * (1.0 + np.trace(H) / len(H))
        step = -np.linalg.solve(H, g)
        decrease = float(g @ step)
        if decrease > -1e-16 * (1.0 + abs(value)):
            return z
        t = 1.0
        while True:
            trial, gradient = objective(z + t * step, width)
            if trial <= value + 1e-4 * t * decrease:
                break
            t *= 0.5
            if t < 1e-12:
                return z
        z, value, g = z + t * step, trial, gradient
    return z


class _Loss:
    """A loss as a function of the fitted values: value, gradient and curvature.

    All but the squared and the logistic loss are sums of weight (sign f + shift)_+^power.
    """

    def __init__(self, name, y, power, epsilon, quantile, weight):
        check_choice(name, "loss", ("squared", "hinge", "logistic", "epsilon", "quantile"))
        check_choice(power, "power", (1, 2))
        if name in ("hinge", "logistic") and not np.isin(y, (-1.0, 1.0)).all():
            raise ValueError(f"y must hold labels -1 and 1 for the {name} loss")
        self.name, self.y, self.weight = name, y, weight
        self.power = 1 if name == "quantile" else power
        one = np.ones_like(y)
        self.parts = []
        if name == "hinge":
            self.parts = [(-y, one, one)]
        elif name == "epsilon":
            epsilon = check_scalar(epsilon, "epsilon", low=0)
            self.parts = [(-one, y - epsilon, one), (one, -y - epsilon, one)]
        elif name == "quantile":
            quantile = check_scalar(quantile, "quantile", low=0, high=1, closed="neither")
            self.parts = [(-one, y, quantile * one), (one, -y, (1.0 - quantile) * one)]
        kinked = bool(self.parts) and self.power == 1
        scale = max(1.0, float(np.abs(y).max()))
        self.widths = scale * 10.0 ** -np.arange(1.0, 10.0) if kinked else [0.0]

    def __call__(self, f, width):
        if self.name == "squared":
            r = self.y - f
            value, gradient, curvature = float(r @ r), -2.0 * r, np.full_like(f, 2.0)
        elif self.name == "logistic":
            m = self.y * f
            p = np.exp(-np.logaddexp(0.0, m))
            value, gradient, curvature = float(np.logaddexp(0.0, -m).sum()), -self.y * p, p * (1.0 - p)
        else:
            value, gradient, curvature = 0.0, np.zeros_like(f), np.zeros_like(f)
            for sign, shift, weight in self.parts:
                t = np.maximum(sign * f + shift, 0.0)
                if self.power == 2:
                    value += float(weight @ t**2)
                    gradient += 2.0 * weight * sign * t
                    curvature += 2.0 * weight * (t > 0)
                elif width == 0.0:
                    value += float(weight @ t)
                else:
                    near = t < width
                    value += float(weight @ np.where(near, t * t / (2.0 * width), t - 0.5 * width))
                    gradient += weight * sign * np.minimum(t / width, 1.0)
                    curvature += weight * np.where(near & (t > 0), 1.0 / width, 0.0)
        return self.weight * value, self.weight * gradient, self.weight * curvature
