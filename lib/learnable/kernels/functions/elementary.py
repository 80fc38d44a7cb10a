"""Kernels that are not made of others: linear, polynomial, Gaussian, over subsets, from a function or a matrix."""

from itertools import combinations_with_replacement
from math import comb, factorial, sqrt

import numpy as np
from scipy import sparse

from learnable.kernels.functions.algebra import Kernel
from learnable.kernels.functions.points import (
    as_points,
    inner,
    length,
    power_of,
    squared_distances,
    squared_norms,
)
from learnable.validation import check_callable, check_finite_array, check_scalar, check_symmetric

__all__ = [
    "FromFunction",
    "Gaussian",
    "Linear",
    "Polynomial",
    "Precomputed",
    "Rank1",
    "as_kernel",
]

LINEAR, POLYNOMIAL, GAUSSIAN = 0, 1, 2


class Linear(Kernel):
    """K(x, y) = x'Ay with A symmetric and positive semi-definite; the inner product without `A`.

    Parameters
    ----------
    A : array-like of shape (d, d), optional
        The identity by default.

    Examples
    --------
    >>> Linear()([[1.0, 2.0], [0.0, 1.0]])
    array([[5., 2.],
           [2., 1.]])
    >>> Linear([[1.0, 2.0], [2.0, 1.0]])
    Traceback (most recent call last):
    ...
    ValueError: A must be positive semi-definite, its smallest eigenvalue is -1
    """

    def __init__(self, A=None):
        self.A = A
        self._factor = None if A is None else _semidefinite_factor(A)

    def _matrix(self, X, Y):
        return inner(*self._features(X, Y))

    def diag(self, X):
        return squared_norms(self._features(X, None)[0])

    def column_spec(self):
        return (LINEAR, ()) if self.A is None else None

    def _features(self, X, Y):
        X, Y = as_points(X, "X"), None if Y is None else as_points(Y, "Y")
        if self._factor is None:
            return X, Y
        return tuple(None if Z is None else np.asarray(Z @ self._factor) for Z in (X, Y))


class Polynomial(Kernel):
    """K(x, y) = (x'y + R)^p: all monomials of degree at most p, degree s with weight C(p, s) R^(p-s).

    Parameters
    ----------
    p : int
        Degree, at least 1.
    R : float, default=1.0
        Non-negative; R = 0 leaves the monomials of degree exactly p. Free for tuning.

    Examples
    --------
    >>> K = Polynomial(2, 1.0)
    >>> x, y = [[1.0, 2.0]], [[3.0, -1.0]]
    >>> float(K(x, y)[0, 0]), float((K.feature_map(x) @ K.feature_map(y).T)[0, 0].round(10))
    (4.0, 4.0)
    """

    _free = ("R",)

    def __init__(self, p=2, R=1.0):
        check_scalar(p, "p", low=1, integer=True)
        check_scalar(R, "R", low=0)
        self.p = p
        self.R = R

    def _matrix(self, X, Y):
        K = inner(as_points(X, "X"), None if Y is None else as_points(Y, "Y"))
        K += self.R
        return power_of(K, self.p)

    def diag(self, X):
        return power_of(squared_norms(as_points(X, "X")) + self.R, self.p)

    def _gradient(self, X, Y):
        return [self.p * Polynomial(self.p - 1, self.R)(X, Y) if self.p > 1 else np.ones_like(self(X, Y))]

    def _diag_gradient(self, X):
        return [self.p * power_of(squared_norms(as_points(X, "X")) + self.R, self.p - 1)]

    def column_spec(self):
        return POLYNOMIAL, (float(self.p), float(self.R))

    def degree_weights(self):
        """Return the weight C(p, s) R^(p-s) of the degree-s part (x'y)^s, for s = 0..p."""
        return np.array([comb(self.p, s) * float(self.R) ** (self.p - s) for s in range(self.p + 1)])

    def feature_map(self, X):
        """Return the explicit features, one column for each monomial of degree at most p with positive weight."""
        X = check_finite_array(X, "X", ndim=2)
        weights = self.degree_weights()
        columns = []
        for s in range(self.p + 1):
            if weights[s] == 0:
                continue
            for chosen in combinations_with_replacement(range(X.shape[1]), s):
                counts = np.bincount(chosen, minlength=X.shape[1]) if s else np.zeros(X.shape[1], dtype=int)
                orders = factorial(s) / np.prod([float(factorial(c)) for c in counts])
                columns.append(np.sqrt(weights[s] * orders) * np.prod(X**counts, axis=1))
        return np.column_stack(columns)


class Gaussian(Kernel):
    """K(x, y) = exp(-|x - y|^2 / (2 sigma^2)).

    Parameters
    ----------
    sigma : float or array-like of shape (d,), default=1.0
        Positive width, or one for each coordinate: exp(-sum_k (x_k - y_k)^2 / (2 sigma_k^2)). Free for tuning.

    Examples
    --------
    >>> Gaussian(1.0)([[0.0], [1.0]]).round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]])
    >>> Gaussian.from_gamma(0.5)
    Gaussian(sigma=1.0)
    """

    _free = ("sigma",)

    def __init__(self, sigma=1.0):
        if np.ndim(sigma) == 0:
            check_scalar(sigma, "sigma", low=0, closed="neither")
        elif not (check_finite_array(sigma, "sigma", ndim=1) > 0).all():
            raise ValueError("sigma must be positive in every coordinate")
        self.sigma = sigma

    @classmethod
    def from_gamma(cls, gamma):
        """Return the kernel exp(-gamma |x - y|^2)."""
        return cls(sqrt(0.5 / check_scalar(gamma, "gamma", low=0, closed="neither")))

    def _matrix(self, X, Y):
        return squared_distances(*self._scaled(X, Y), gaussian=0.5)

    def diag(self, X):
        return np.ones(as_points(X, "X").shape[0])

    def _gradient(self, X, Y):
        K = self(X, Y)
        if np.ndim(self.sigma) == 0:
            return [K * squared_distances(*self._scaled(X, Y)) / self.sigma]
        X, Y = self._scaled(X, Y)
        Y = X if Y is None else Y
        return [K * (X[:, k, None] - Y[None, :, k]) ** 2 / s for k, s in enumerate(np.asarray(self.sigma))]

    def _diag_gradient(self, X):
        return [np.zeros(as_points(X, "X").shape[0])] * np.size(self.sigma)

    def column_spec(self):
        return (GAUSSIAN, (0.5 / float(self.sigma) ** 2,)) if np.ndim(self.sigma) == 0 else None

    def _scaled(self, X, Y):
        X, Y = as_points(X, "X"), None if Y is None else as_points(Y, "Y")
        if np.ndim(self.sigma) == 0:
            factor = 1.0 / self.sigma
            return X * factor, None if Y is None else Y * factor
        if np.size(self.sigma) != X.shape[1]:
            raise ValueError(f"sigma has {np.size(self.sigma)} entries, the points have {X.shape[1]} coordinates")
        factor = 1.0 / np.asarray(self.sigma, dtype=np.float64)
        return tuple(Z if Z is None else (Z.toarray() if sparse.issparse(Z) else Z) * factor for Z in (X, Y))


class Rank1(Kernel):
    """K(x, y) = g(x) g(y); `g` takes a set of points and returns one number for each.

    Parameters
    ----------
    g : callable

    Examples
    --------
    >>> Rank1(lambda X: X[:, 0])(np.array([[1.0], [2.0]]))
    array([[1., 2.],
           [2., 4.]])
    """

    def __init__(self, g):
        self.g = check_callable(g, "g")

    def _matrix(self, X, Y):
        u = self._values(X)
        return np.multiply.outer(u, u if Y is None else self._values(Y))

    def diag(self, X):
        return self._values(X) ** 2

    def _values(self, X):
        u = check_finite_array(self.g(X), "g(X)", ndim=1)
        if u.size != length(X):
            raise ValueError(f"g must return one number for each of the {length(X)} points, got {u.size}")
        return u


class FromFunction(Kernel):
    """A kernel given by a function ``k(X, Y)`` that returns the matrix; its positivity is the caller's word.

    Parameters
    ----------
    k : callable

    Examples
    --------
    >>> FromFunction(lambda X, Y: np.minimum.outer(X[:, 0], Y[:, 0]))(np.array([[1.0], [2.0]]))
    array([[1., 1.],
           [1., 2.]])
    """

    def __init__(self, k):
        self.k = check_callable(k, "k")

    def _matrix(self, X, Y):
        other = X if Y is None else Y
        K = np.array(check_finite_array(self.k(X, other), "k(X, Y)", ndim=2))
        if K.shape != (length(X), length(other)):
            raise ValueError(f"k must return shape {(length(X), length(other))}, got {K.shape}")
        if Y is None:
            K = check_symmetric(K, "k(X, X)", allow_empty=True)
        return K

    def diag(self, X):
        rows = (X[i : i + 1] for i in range(length(X)))
        return np.array([float(np.asarray(self.k(row, row)).reshape(())) for row in rows])


class Precomputed(Kernel):
    """The "points" are already the rows of a kernel matrix: against themselves, or against the training points.

    ``K(G)`` returns the square matrix G; ``K(C, Y)`` returns C, whose columns must be the points of Y.

    Examples
    --------
    >>> Precomputed()([[2.0, 1.0], [1.0, 2.0]]).shape
    (2, 2)
    """

    def _matrix(self, X, Y):
        K = np.array(check_finite_array(X, "K", ndim=2))
        if Y is not None:
            if K.shape[1] != length(Y):
                raise ValueError(f"a precomputed matrix needs {length(Y)} columns, got {K.shape[1]}")
            return K
        return check_symmetric(K, "K", allow_empty=True)

    def diag(self, X):
        return np.diagonal(check_finite_array(X, "K", ndim=2)).copy()


def as_kernel(kernel, **params):
    """Return a :class:`Kernel` from what a user may pass as one.

    Parameters
    ----------
    kernel : Kernel, str or callable
        ``"linear"``; ``"rbf"`` or ``"gaussian"`` with `sigma` or `gamma`; ``"poly"`` or ``"polynomial"`` with `p` (or
        `degree`) and `R` (or `coef0`); ``"precomputed"``; or any function ``k(X, Y)`` that returns the matrix.
    **params : float
        Parameters of a kernel given by name.

    Returns
    -------
    Kernel

    Examples
    --------
    >>> as_kernel("rbf", sigma=0.5)
    Gaussian(sigma=0.5)
    >>> as_kernel("poly", degree=3, coef0=1.0)
    Polynomial(p=3, R=1.0)
    """
    if isinstance(kernel, str):
        name = kernel.lower()
        aliases = {"degree": "p", "coef0": "R"}
        renamed = {aliases.get(key, key): value for key, value in params.items()}
        if len(renamed) < len(params):
            raise ValueError("p and degree, R and coef0 are two names of one parameter: give one of them")
        makers = {
            "linear": (Linear, {"A"}),
            "rbf": (Gaussian, {"sigma"}),
            "gaussian": (Gaussian, {"sigma"}),
            "poly": (Polynomial, {"p", "R"}),
            "polynomial": (Polynomial, {"p", "R"}),
            "precomputed": (Precomputed, set()),
        }
        if name not in makers:
            raise ValueError(f"kernel must be one of {sorted(makers)}, a Kernel or a callable, got {kernel!r}")
        make, known = makers[name]
        if make is Gaussian and set(renamed) == {"gamma"}:
            return Gaussian.from_gamma(renamed["gamma"])
        if set(renamed) - known:
            raise ValueError(f"the {name} kernel has no parameter {sorted(set(renamed) - known)[0]!r}")
        return make(**renamed)
    if isinstance(kernel, Kernel):
        if params:
            raise ValueError(f"parameters {sorted(params)} belong to a kernel given by name, got {kernel!r}")
        return kernel
    if callable(kernel):
        if params:
            raise ValueError(f"parameters {sorted(params)} belong to a kernel given by name, got a function")
        return FromFunction(kernel)
    raise ValueError(f"kernel must be a name, a Kernel or a callable, got {kernel!r}")


def _semidefinite_factor(A):
    A = check_symmetric(A, "A")
    values, vectors = np.linalg.eigh(A)
    if values[0] < -1e-12 * max(np.abs(values).max(), 1e-300) * len(values):
        raise ValueError(f"A must be positive semi-definite, its smallest eigenvalue is {values[0]:.3g}")
    return vectors * np.sqrt(np.maximum(values, 0.0))
