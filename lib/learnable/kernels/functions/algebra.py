"""Kernels and the rules that make new ones of old ones: sums, products, powers, maps, norms and means."""

import numpy as np

from learnable.kernels.functions.parameters import Tunable
from learnable.kernels.functions.points import length
from learnable.validation import check_callable, check_finite_array, check_scalar

__all__ = [
    "Centered",
    "Constant",
    "Kernel",
    "Mapped",
    "Normalised",
    "PolynomialOf",
    "Product",
    "Scaled",
    "Sum",
]


class Kernel(Tunable):
    """Base of all kernels.

    A subclass stores its constructor's arguments unchanged under their names, lists the numbers that may be tuned in
    `_free` and the kernels inside it in `_parts`, and defines ``_matrix(X, Y)``, ``diag(X)``, and, if it has
    parameters, ``_own_gradient(X, Y)`` and ``_own_diag_gradient(X)``.

    **Parameters for tuning.** `parameters` is the flat float vector of all free numbers, the kernel's own before
    those of its parts; `parameter_names` names them like scikit-learn (``left__sigma``); `with_parameters` makes a
    kernel with other values. All derivatives are with respect to the *plain* parameters; ``gradient(..., log=True)``
    multiplies each by its parameter, which is the derivative with respect to its logarithm.

    Examples
    --------
    >>> from learnable.kernels import Gaussian, Linear
    >>> kernel = Gaussian(1.0) + 0.5 * Linear()
    >>> isinstance(kernel, Kernel), kernel([[0.0, 1.0]], [[0.0, 1.0]]).round(3).tolist()
    (True, [[1.5]])
    """

    def __call__(self, X, Y=None):
        """Return the matrix K(x_i, y_j), or the Gram matrix K(x_i, x_j) without `Y`, as float64."""
        K = self._matrix(X, Y)
        if Y is None:
            np.fill_diagonal(K, self.diag(X))
        return K

    def diag(self, X):
        """Return the vector K(x_i, x_i) without computing the Gram matrix."""
        raise NotImplementedError

    def gradient(self, X, Y=None, *, log=False):
        """Return the derivatives of the matrix, shape ``(number of parameters, len(X), len(Y))``.

        With respect to the plain parameters, or to their logarithms with ``log=True``.
        """
        slices = self._gradient(X, Y)
        shape = (len(self.parameters), length(X), length(X if Y is None else Y))
        G = np.stack(slices) if slices else np.zeros(shape)
        if Y is None and slices:
            rows = np.arange(shape[1])
            G[:, rows, rows] = self.diag_gradient(X)
        return G * self.parameters[:, None, None] if log else G

    def diag_gradient(self, X):
        """Return the derivatives of ``diag(X)``, shape ``(number of parameters, len(X))``."""
        slices = self._diag_gradient(X)
        return np.stack(slices) if slices else np.zeros((0, length(X)))

    def column_spec(self):
        """Return ``(kind, parameters)`` for compiled column evaluation, or None for kernels without it.

        0: x'y, no parameters. 1: (x'y + R)^p, parameters (p, R). 2: exp(-g |x - y|^2), parameters (g,).
        """
        return None

    def map(self, f):
        """Return the kernel K(f(x), f(y)); `f` takes and returns a whole set of points."""
        return Mapped(self, f)

    def normalised(self):
        """Return K(x, y) / sqrt(K(x, x) K(y, y))."""
        return Normalised(self)

    def centered(self, X_ref):
        """Return the kernel of the features minus their mean over `X_ref`."""
        return Centered(self, X_ref)

    def __add__(self, other):
        if isinstance(other, Kernel):
            return Sum(self, other)
        return Sum(self, Constant(other)) if _is_number(other) else NotImplemented

    __radd__ = __add__

    def __mul__(self, other):
        if isinstance(other, Kernel):
            return Product(self, other)
        return Scaled(self, other) if _is_number(other) else NotImplemented

    __rmul__ = __mul__

    def __pow__(self, power):
        power = check_scalar(power, "power", low=1, integer=True)
        return PolynomialOf(self, [0.0] * power + [1.0])

    def _gradient(self, X, Y):
        return []

    def _diag_gradient(self, X):
        return []


class Constant(Kernel):
    """K(x, y) = c >= 0: an intercept with prior weight c.

    Parameters
    ----------
    c : float, default=1.0

    Examples
    --------
    >>> from learnable.kernels import Linear
    >>> (Linear() + 1.0)([[2.0]])
    array([[5.]])
    >>> Constant(2.0)([[0.0], [1.0]]).tolist()
    [[2.0, 2.0], [2.0, 2.0]]
    """

    _free = ("c",)

    def __init__(self, c=1.0):
        check_scalar(c, "c", low=0)
        self.c = c

    def _matrix(self, X, Y):
        return np.full((length(X), length(X if Y is None else Y)), float(self.c))

    def diag(self, X):
        return np.full(length(X), float(self.c))

    def _gradient(self, X, Y):
        return [np.ones((length(X), length(X if Y is None else Y)))]

    def _diag_gradient(self, X):
        return [np.ones(length(X))]


class Sum(Kernel):
    """K1 + K2: features side by side.

    Parameters
    ----------
    left : Kernel
    right : Kernel

    Examples
    --------
    >>> from learnable.kernels import Gaussian, Linear
    >>> Gaussian(2.0) + Linear()
    Sum(left=Gaussian(sigma=2.0), right=Linear(A=None))
    >>> Sum(Linear(), Constant(1.0))([[1.0], [2.0]]).tolist()
    [[2.0, 3.0], [3.0, 5.0]]
    """

    _parts = ("left", "right")

    def __init__(self, left, right):
        self.left = check_kernel(left, "left")
        self.right = check_kernel(right, "right")

    def _matrix(self, X, Y):
        K = self.left(X, Y)
        K += self.right(X, Y)
        return K

    def diag(self, X):
        return self.left.diag(X) + self.right.diag(X)

    def _gradient(self, X, Y):
        return [*self.left._gradient(X, Y), *self.right._gradient(X, Y)]

    def _diag_gradient(self, X):
        return [*self.left._diag_gradient(X), *self.right._diag_gradient(X)]


class Product(Kernel):
    """K1 K2, entry by entry: all products of a feature of one with a feature of the other.

    Parameters
    ----------
    left : Kernel
    right : Kernel

    Examples
    --------
    >>> from learnable.kernels import Linear
    >>> (Linear() * Linear())([[2.0]], [[3.0]])
    array([[36.]])
    >>> Product(Linear(), Linear())([[1.0], [2.0]]).tolist()
    [[1.0, 4.0], [4.0, 16.0]]
    """

    _parts = ("left", "right")

    def __init__(self, left, right):
        self.left = check_kernel(left, "left")
        self.right = check_kernel(right, "right")

    def _matrix(self, X, Y):
        K = self.left(X, Y)
        K *= self.right(X, Y)
        return K

    def diag(self, X):
        return self.left.diag(X) * self.right.diag(X)

    def _gradient(self, X, Y):
        left, right = self.left(X, Y), self.right(X, Y)
        return [G * right for G in self.left._gradient(X, Y)] + [left * G for G in self.right._gradient(X, Y)]

    def _diag_gradient(self, X):
        left, right = self.left.diag(X), self.right.diag(X)
        return [g * right for g in self.left._diag_gradient(X)] + [left * g for g in self.right._diag_gradient(X)]


class Scaled(Kernel):
    """a K with a >= 0.

    Parameters
    ----------
    kernel : Kernel
    a : float, default=1.0

    Examples
    --------
    >>> from learnable.kernels import Linear
    >>> -1.0 * Linear()
    Traceback (most recent call last):
    ...
    ValueError: a must be a number in [0, inf), got -1.0
    >>> Scaled(Linear(), 3.0)([[1.0], [2.0]]).tolist()
    [[3.0, 6.0], [6.0, 12.0]]
    """

    _free = ("a",)
    _parts = ("kernel",)

    def __init__(self, kernel, a=1.0):
        check_scalar(a, "a", low=0)
        self.kernel = check_kernel(kernel, "kernel")
        self.a = a

    def _matrix(self, X, Y):
        K = self.kernel(X, Y)
        K *= self.a
        return K

    def diag(self, X):
        return self.a * self.kernel.diag(X)

    def _gradient(self, X, Y):
        return [self.kernel(X, Y)] + [self.a * G for G in self.kernel._gradient(X, Y)]

    def _diag_gradient(self, X):
        return [self.kernel.diag(X)] + [self.a * g for g in self.kernel._diag_gradient(X)]


class PolynomialOf(Kernel):
    """sum_s coeffs[s] K^s with fixed non-negative coefficients; usually written ``Poly(coeffs)(K)``.

    Parameters
    ----------
    kernel : Kernel
    coeffs : array-like
        Not negative, constant first.

    Examples
    --------
    >>> from learnable.kernels import Linear
    >>> PolynomialOf(Linear(), [1.0, 0.0, 2.0])([[1.0]], [[3.0]])
    array([[19.]])
    """

    _parts = ("kernel",)

    def __init__(self, kernel, coeffs):
        values = check_finite_array(coeffs, "coeffs", ndim=1)
        if values.size == 0 or values.min() < 0:
            raise ValueError(f"coeffs must be non-negative and at least one, got {values.tolist()}")
        self.kernel = check_kernel(kernel, "kernel")
        self.coeffs = coeffs

    def _matrix(self, X, Y):
        return self._value(self.kernel(X, Y))

    def diag(self, X):
        return self._value(self.kernel.diag(X))

    def _value(self, base, order=0):
        """Horner's rule for the polynomial (order 0) or its derivative (order 1)."""
        coeffs = np.asarray(self.coeffs, dtype=np.float64)
        if order:
            coeffs = coeffs[1:] * np.arange(1, coeffs.size) if coeffs.size > 1 else np.zeros(1)
        K = np.full_like(base, coeffs[-1])
        for c in coeffs[-2::-1]:
            K *= base
            K += c
        return K

    def _gradient(self, X, Y):
        base = self.kernel(X, Y)
        slope = self._value(base, order=1)
        return [slope * G for G in self.kernel._gradient(X, Y)]

    def _diag_gradient(self, X):
        base = self.kernel.diag(X)
        slope = self._value(base, order=1)
        return [slope * g for g in self.kernel._diag_gradient(X)]


class Mapped(Kernel):
    """K(f(x), f(y)); see :meth:`Kernel.map`.

    Parameters
    ----------
    kernel : Kernel
    f : callable
        Takes a set of points and returns another.

    Examples
    --------
    >>> from learnable.kernels import Linear
    >>> Linear().map(np.abs)(np.array([[-1.0]]), np.array([[2.0]]))
    array([[2.]])
    >>> Mapped(Linear(), np.square)([[1.0], [2.0]]).tolist()
    [[1.0, 4.0], [4.0, 16.0]]
    """

    _parts = ("kernel",)

    def __init__(self, kernel, f):
        self.kernel = check_kernel(kernel, "kernel")
        self.f = check_callable(f, "f")

    def _matrix(self, X, Y):
        return self.kernel(self.f(X), None if Y is None else self.f(Y))

    def diag(self, X):
        return self.kernel.diag(self.f(X))

    def _gradient(self, X, Y):
        return self.kernel._gradient(self.f(X), None if Y is None else self.f(Y))

    def _diag_gradient(self, X):
        return self.kernel._diag_gradient(self.f(X))


class Normalised(Kernel):
    """K(x, y) / sqrt(K(x, x) K(y, y)): features on the unit sphere. Points with K(x, x) = 0 stay at zero.

    Parameters
    ----------
    kernel : Kernel

    Examples
    --------
    >>> from learnable.kernels import Linear
    >>> Linear().normalised()([[3.0, 4.0], [0.0, 2.0]])
    array([[1. , 0.8],
           [0.8, 1. ]])
    >>> Normalised(Linear())([[1.0, 0.0], [3.0, 4.0]]).round(6).tolist()
    [[1.0, 0.6], [0.6, 1.0]]
    """

    _parts = ("kernel",)

    def __init__(self, kernel):
        self.kernel = check_kernel(kernel, "kernel")

    def _matrix(self, X, Y):
        u = self._inverse_norms(X)
        v = u if Y is None else self._inverse_norms(Y)
        K = self.kernel(X, Y)
        K *= u[:, None] * v[None, :]
        return K

    def diag(self, X):
        return (self.kernel.diag(X) > 0).astype(np.float64)

    def _inverse_norms(self, X):
        squares = self.kernel.diag(X)
        if squares.size and squares.min() < 0:
            raise ValueError("K(x, x) must be non-negative; the inner function is no kernel")
        with np.errstate(divide="ignore"):
            return np.where(squares > 0, 1.0 / np.sqrt(squares), 0.0)

    def _gradient(self, X, Y):
        K = self(X, Y)
        u = self._inverse_norms(X)
        v = u if Y is None else self._inverse_norms(Y)
        of_x = self.kernel._diag_gradient(X)
        of_y = of_x if Y is None else self.kernel._diag_gradient(Y)
        weight = u[:, None] * v[None, :]
        return [
            weight * G - 0.5 * K * ((gx * u**2)[:, None] + (gy * v**2)[None, :])
            for G, gx, gy in zip(self.kernel._gradient(X, Y), of_x, of_y, strict=True)
        ]

    def _diag_gradient(self, X):
        return [np.zeros(length(X)) for _ in self.kernel._diag_gradient(X)]


class Centered(Kernel):
    """<Phi(x) - m, Phi(y) - m> with m the mean feature over the reference points.

    Parameters
    ----------
    kernel : Kernel
    X_ref : array-like of shape (m, d)
        Reference points.

    Examples
    --------
    >>> from learnable.kernels import Linear
    >>> Linear().centered([[0.0], [2.0]])([[0.0], [2.0]])
    array([[ 1., -1.],
           [-1.,  1.]])
    >>> Centered(Linear(), [[0.0], [2.0]])([[0.0], [2.0]]).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """

    _parts = ("kernel",)

    def __init__(self, kernel, X_ref):
        self.kernel = check_kernel(kernel, "kernel")
        if length(X_ref) == 0:
            raise ValueError("X_ref must hold at least one point")
        self.X_ref = X_ref

    def _matrix(self, X, Y):
        of_x = self.kernel(X, self.X_ref).mean(axis=1)
        of_y = of_x if Y is None else self.kernel(Y, self.X_ref).mean(axis=1)
        K = self.kernel(X, Y)
        K -= of_x[:, None] + of_y[None, :]
        K += self._grand_mean()
        return K

    def diag(self, X):
        return self.kernel.diag(X) - 2.0 * self.kernel(X, self.X_ref).mean(axis=1) + self._grand_mean()

    def _grand_mean(self):
        return float(self.kernel(self.X_ref).mean())

    def _gradient(self, X, Y):
        of_x = [G.mean(axis=1) for G in self.kernel._gradient(X, self.X_ref)]
        of_y = of_x if Y is None else [G.mean(axis=1) for G in self.kernel._gradient(Y, self.X_ref)]
        grand = self.kernel.gradient(self.X_ref).mean(axis=(1, 2))
        return [
            G - (gx[:, None] + gy[None, :]) + g
            for G, gx, gy, g in zip(self.kernel._gradient(X, Y), of_x, of_y, grand, strict=True)
        ]

    def _diag_gradient(self, X):
        of_x = [G.mean(axis=1) for G in self.kernel._gradient(X, self.X_ref)]
        grand = self.kernel.gradient(self.X_ref).mean(axis=(1, 2))
        return [d - 2.0 * gx + g for d, gx, g in zip(self.kernel._diag_gradient(X), of_x, grand, strict=True)]


def check_kernel(value, name):
    if not isinstance(value, Kernel):
        raise ValueError(f"{name} must be a Kernel, got {value!r}; as_kernel makes one of a name or a function")
    return value


def _is_number(value):
    return np.ndim(value) == 0 and isinstance(value, int | float | np.number) and not isinstance(value, bool)
