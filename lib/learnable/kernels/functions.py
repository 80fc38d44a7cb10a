"""Kernel algebra: functions K(x, y) = <Phi(x), Phi(y)> as objects, and the rules that make new ones of old ones.

A kernel is called on two sets of points and returns their matrix of values::

    K = 2.0 * Gaussian(0.5) + Linear() * Polynomial(2, 1.0)
    K(X)          # Gram matrix: exactly symmetric, its diagonal exactly K.diag(X)
    K(X, Y)       # values between two sets
    K.gradient(X) # derivatives with respect to K.parameters, one matrix each

Everything built from the classes below by ``+``, ``*``, scaling with a non-negative number, :class:`Poly`,
:class:`Exp`, ``.map``, :class:`Normalised` and :class:`Centered` is positive semi-definite again (Lember 2012,
Lemma 4.5.1); what would not be, a negative weight or an indefinite matrix, is refused when the kernel is made.

Points are rows of a float array or of a scipy sparse matrix; kernels made from a function (:class:`FromFunction`,
:class:`Rank1`, ``.map``) take whatever their function takes.
"""

from inspect import signature
from itertools import combinations_with_replacement
from math import comb, factorial, sqrt

import numpy as np
from scipy import sparse

from learnable.validation import check_finite_array, check_scalar, check_symmetric

__all__ = [
    "ANOVA",
    "AllSubsets",
    "Centered",
    "Constant",
    "Exp",
    "FromFunction",
    "Gaussian",
    "Kernel",
    "Linear",
    "Mapped",
    "Normalised",
    "Poly",
    "Polynomial",
    "PolynomialOf",
    "Precomputed",
    "Product",
    "Rank1",
    "Scaled",
    "Sum",
    "as_kernel",
    "center_gram",
    "squared_distances",
]

LINEAR, POLYNOMIAL, GAUSSIAN = 0, 1, 2

# Rows of a Gram matrix that are worked on together: a block stays in the second-level cache.
BLOCK_ELEMENTS = 1 << 16


class Kernel:
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
    >>> kernel = Gaussian(1.0) + 0.5 * Linear()
    >>> isinstance(kernel, Kernel), kernel([[0.0, 1.0]], [[0.0, 1.0]]).round(3).tolist()
    (True, [[1.5]])
    """

    _free = ()
    _parts = ()

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
        shape = (len(self.parameters), _length(X), _length(X if Y is None else Y))
        G = np.stack(slices) if slices else np.zeros(shape)
        if Y is None and slices:
            rows = np.arange(shape[1])
            G[:, rows, rows] = self.diag_gradient(X)
        return G * self.parameters[:, None, None] if log else G

    def diag_gradient(self, X):
        """Return the derivatives of ``diag(X)``, shape ``(number of parameters, len(X))``."""
        slices = self._diag_gradient(X)
        return np.stack(slices) if slices else np.zeros((0, _length(X)))

    @property
    def parameters(self):
        """The free parameters, own first, then those of the parts, as one float vector."""
        own = [np.ravel(np.asarray(getattr(self, name), dtype=np.float64)) for name in self._free]
        return np.concatenate([*own, *(getattr(self, part).parameters for part in self._parts), np.empty(0)])

    @property
    def parameter_names(self):
        """Names of the entries of `parameters`."""
        names = []
        for name in self._free:
            value = np.asarray(getattr(self, name))
            names += [name] if value.ndim == 0 else [f"{name}[{i}]" for i in range(value.size)]
        for part in self._parts:
            names += [f"{part}__{inner}" for inner in getattr(self, part).parameter_names]
        return names

    def with_parameters(self, values):
        """Return the same kernel with other parameters, in the order of `parameters`."""
        values = check_finite_array(values, "parameters", ndim=1)
        if values.size != self.parameters.size:
            raise ValueError(f"parameters must have {self.parameters.size} entries, got {values.size}")
        new, place = self.get_params(deep=False), 0
        for name in self._free:
            shape = np.shape(getattr(self, name))
            size = int(np.prod(shape))
            taken = values[place : place + size]
            new[name] = taken.copy() if shape else float(taken[0])
            place += size
        for part in self._parts:
            inner = getattr(self, part)
            size = inner.parameters.size
            new[part] = inner.with_parameters(values[place : place + size])
            place += size
        return type(self)(**new)

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

    def get_params(self, deep=True):
        """Return the constructor's arguments, as scikit-learn's estimators do."""
        params = {name: getattr(self, name) for name in _arguments(type(self))}
        if deep:
            for part in self._parts:
                params |= {f"{part}__{name}": value for name, value in getattr(self, part).get_params().items()}
        return params

    def set_params(self, **params):
        """Set arguments by name (``part__name`` inside a part), check them, and return the kernel."""
        own = self.get_params(deep=False)
        inside = {}
        for name, value in params.items():
            head, _, tail = name.partition("__")
            if head not in own or (tail and head not in self._parts):
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}")
            if tail:
                inside.setdefault(head, {})[tail] = value
            else:
                own[head] = value
        for part, values in inside.items():
            own[part].set_params(**values)
        self.__init__(**own)
        return self

    def __repr__(self):
        inner = ", ".join(f"{name}={_short(value)}" for name, value in self.get_params(deep=False).items())
        return f"{type(self).__name__}({inner})"

    def __eq__(self, other):
        if type(self) is not type(other):
            return NotImplemented
        mine, theirs = self.get_params(deep=False), other.get_params(deep=False)
        return all(_same(mine[name], theirs[name]) for name in mine)

    __hash__ = None

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
        return _inner(*self._features(X, Y))

    def diag(self, X):
        return _squared_norms(self._features(X, None)[0])

    def column_spec(self):
        return (LINEAR, ()) if self.A is None else None

    def _features(self, X, Y):
        X, Y = _points(X, "X"), None if Y is None else _points(Y, "Y")
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
        K = _inner(_points(X, "X"), None if Y is None else _points(Y, "Y"))
        K += self.R
        return _power(K, self.p)

    def diag(self, X):
        return _power(_squared_norms(_points(X, "X")) + self.R, self.p)

    def _gradient(self, X, Y):
        return [self.p * Polynomial(self.p - 1, self.R)(X, Y) if self.p > 1 else np.ones_like(self(X, Y))]

    def _diag_gradient(self, X):
        return [self.p * _power(_squared_norms(_points(X, "X")) + self.R, self.p - 1)]

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
        return np.ones(_points(X, "X").shape[0])

    def _gradient(self, X, Y):
        K = self(X, Y)
        if np.ndim(self.sigma) == 0:
            return [K * squared_distances(*self._scaled(X, Y)) / self.sigma]
        X, Y = self._scaled(X, Y)
        Y = X if Y is None else Y
        return [K * (X[:, k, None] - Y[None, :, k]) ** 2 / s for k, s in enumerate(np.asarray(self.sigma))]

    def _diag_gradient(self, X):
        return [np.zeros(_points(X, "X").shape[0])] * np.size(self.sigma)

    def column_spec(self):
        return (GAUSSIAN, (0.5 / float(self.sigma) ** 2,)) if np.ndim(self.sigma) == 0 else None

    def _scaled(self, X, Y):
        X, Y = _points(X, "X"), None if Y is None else _points(Y, "Y")
        if np.ndim(self.sigma) == 0:
            factor = 1.0 / self.sigma
            return X * factor, None if Y is None else Y * factor
        if np.size(self.sigma) != X.shape[1]:
            raise ValueError(f"sigma has {np.size(self.sigma)} entries, the points have {X.shape[1]} coordinates")
        factor = 1.0 / np.asarray(self.sigma, dtype=np.float64)
        return tuple(Z if Z is None else (Z.toarray() if sparse.issparse(Z) else Z) * factor for Z in (X, Y))


class AllSubsets(Kernel):
    """K(x, y) = prod_i (1 + x_i y_i), the inner product of the products over all subsets of coordinates.

    Examples
    --------
    >>> AllSubsets()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[36.]])
    """

    def _matrix(self, X, Y):
        X, Y = _dense_pair(X, Y)
        K = np.ones((X.shape[0], Y.shape[0]))
        for k in range(X.shape[1]):
            K *= 1.0 + np.multiply.outer(X[:, k], Y[:, k])
        return K

    def diag(self, X):
        return np.prod(1.0 + _dense_pair(X, None)[0] ** 2, axis=1)


class ANOVA(Kernel):
    """K(x, y) = sum over sets of `degree` coordinates of prod_i x_i y_i, by the recursion in O(d degree).

    Parameters
    ----------
    degree : int, default=2

    Examples
    --------
    >>> ANOVA(2)([[1.0, 2.0, 3.0]], [[1.0, 1.0, 1.0]])
    array([[11.]])
    """

    def __init__(self, degree=2):
        check_scalar(degree, "degree", low=1, integer=True)
        self.degree = degree

    def _matrix(self, X, Y):
        X, Y = _dense_pair(X, Y)
        if self.degree > X.shape[1]:
            raise ValueError(f"degree must be at most the number of coordinates {X.shape[1]}, got {self.degree}")
        return self._recursion(
            (np.multiply.outer(X[:, k], Y[:, k]) for k in range(X.shape[1])), (X.shape[0], Y.shape[0])
        )

    def diag(self, X):
        X, _ = _dense_pair(X, None)
        return self._recursion((X[:, k] ** 2 for k in range(X.shape[1])), (X.shape[0],))

    def _recursion(self, products, shape):
        partial = [np.ones(shape)] + [np.zeros(shape) for _ in range(self.degree)]
        for product in products:
            for s in range(self.degree, 0, -1):
                partial[s] += product * partial[s - 1]
        return partial[-1]


class Constant(Kernel):
    """K(x, y) = c >= 0: an intercept with prior weight c.

    Parameters
    ----------
    c : float, default=1.0

    Examples
    --------
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
        return np.full((_length(X), _length(X if Y is None else Y)), float(self.c))

    def diag(self, X):
        return np.full(_length(X), float(self.c))

    def _gradient(self, X, Y):
        return [np.ones((_length(X), _length(X if Y is None else Y)))]

    def _diag_gradient(self, X):
        return [np.ones(_length(X))]


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
        self.g = _callable(g, "g")

    def _matrix(self, X, Y):
        u = self._values(X)
        return np.multiply.outer(u, u if Y is None else self._values(Y))

    def diag(self, X):
        return self._values(X) ** 2

    def _values(self, X):
        u = check_finite_array(self.g(X), "g(X)", ndim=1)
        if u.size != _length(X):
            raise ValueError(f"g must return one number for each of the {_length(X)} points, got {u.size}")
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
        self.k = _callable(k, "k")

    def _matrix(self, X, Y):
        other = X if Y is None else Y
        K = np.array(check_finite_array(self.k(X, other), "k(X, Y)", ndim=2))
        if K.shape != (_length(X), _length(other)):
            raise ValueError(f"k must return shape {(_length(X), _length(other))}, got {K.shape}")
        if Y is None:
            K = check_symmetric(K, "k(X, X)", allow_empty=True)
        return K

    def diag(self, X):
        rows = (X[i : i + 1] for i in range(_length(X)))
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
            if K.shape[1] != _length(Y):
                raise ValueError(f"a precomputed matrix needs {_length(Y)} columns, got {K.shape[1]}")
            return K
        return check_symmetric(K, "K", allow_empty=True)

    def diag(self, X):
        return np.diagonal(check_finite_array(X, "K", ndim=2)).copy()


class Sum(Kernel):
    """K1 + K2: features side by side.

    Parameters
    ----------
    left : Kernel
    right : Kernel

    Examples
    --------
    >>> Gaussian(2.0) + Linear()
    Sum(left=Gaussian(sigma=2.0), right=Linear(A=None))
    >>> Sum(Linear(), Constant(1.0))([[1.0], [2.0]]).tolist()
    [[2.0, 3.0], [3.0, 5.0]]
    """

    _parts = ("left", "right")

    def __init__(self, left, right):
        self.left = _kernel(left, "left")
        self.right = _kernel(right, "right")

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
    >>> (Linear() * Linear())([[2.0]], [[3.0]])
    array([[36.]])
    >>> Product(Linear(), Linear())([[1.0], [2.0]]).tolist()
    [[1.0, 4.0], [4.0, 16.0]]
    """

    _parts = ("left", "right")

    def __init__(self, left, right):
        self.left = _kernel(left, "left")
        self.right = _kernel(right, "right")

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
        self.kernel = _kernel(kernel, "kernel")
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
    >>> PolynomialOf(Linear(), [1.0, 0.0, 2.0])([[1.0]], [[3.0]])
    array([[19.]])
    """

    _parts = ("kernel",)

    def __init__(self, kernel, coeffs):
        values = check_finite_array(coeffs, "coeffs", ndim=1)
        if values.size == 0 or values.min() < 0:
            raise ValueError(f"coeffs must be non-negative and at least one, got {values.tolist()}")
        self.kernel = _kernel(kernel, "kernel")
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


class Poly:
    """A polynomial with non-negative coefficients, constant first, waiting for its kernel.

    Parameters
    ----------
    coeffs : array-like
        Not negative, constant first.

    Examples
    --------
    >>> Poly([0.0, 1.0, 0.5])(Linear())([[1.0]], [[2.0]])
    array([[4.]])
    """

    def __init__(self, coeffs):
        PolynomialOf(Linear(), coeffs)
        self.coeffs = coeffs

    def __call__(self, kernel):
        return PolynomialOf(kernel, self.coeffs)

    def __repr__(self):
        return f"Poly({_short(self.coeffs)})"


class Exp(Kernel):
    """exp(K), the limit of polynomials in K with non-negative coefficients.

    Parameters
    ----------
    kernel : Kernel

    Examples
    --------
    >>> Exp(Linear())([[0.0]], [[3.0]])
    array([[1.]])
    """

    _parts = ("kernel",)

    def __init__(self, kernel):
        self.kernel = _kernel(kernel, "kernel")

    def _matrix(self, X, Y):
        return self._value(self.kernel(X, Y))

    def diag(self, X):
        return self._value(self.kernel.diag(X))

    @staticmethod
    def _value(K):
        with np.errstate(over="ignore"):
            np.exp(K, out=K)
        if not np.isfinite(K).all():
            raise ValueError("exp(K) overflows on these points; scale the inner kernel down or normalise it")
        return K

    def _gradient(self, X, Y):
        K = self(X, Y)
        return [K * G for G in self.kernel._gradient(X, Y)]

    def _diag_gradient(self, X):
        values = self.diag(X)
        return [values * g for g in self.kernel._diag_gradient(X)]


class Mapped(Kernel):
    """K(f(x), f(y)); see :meth:`Kernel.map`.

    Parameters
    ----------
    kernel : Kernel
    f : callable
        Takes a set of points and returns another.

    Examples
    --------
    >>> Linear().map(np.abs)(np.array([[-1.0]]), np.array([[2.0]]))
    array([[2.]])
    >>> Mapped(Linear(), np.square)([[1.0], [2.0]]).tolist()
    [[1.0, 4.0], [4.0, 16.0]]
    """

    _parts = ("kernel",)

    def __init__(self, kernel, f):
        self.kernel = _kernel(kernel, "kernel")
        self.f = _callable(f, "f")

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
    >>> Linear().normalised()([[3.0, 4.0], [0.0, 2.0]])
    array([[1. , 0.8],
           [0.8, 1. ]])
    >>> Normalised(Linear())([[1.0, 0.0], [3.0, 4.0]]).round(6).tolist()
    [[1.0, 0.6], [0.6, 1.0]]
    """

    _parts = ("kernel",)

    def __init__(self, kernel):
        self.kernel = _kernel(kernel, "kernel")

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
        return [np.zeros(_length(X)) for _ in self.kernel._diag_gradient(X)]


class Centered(Kernel):
    """<Phi(x) - m, Phi(y) - m> with m the mean feature over the reference points.

    Parameters
    ----------
    kernel : Kernel
    X_ref : array-like of shape (m, d)
        Reference points.

    Examples
    --------
    >>> Linear().centered([[0.0], [2.0]])([[0.0], [2.0]])
    array([[ 1., -1.],
           [-1.,  1.]])
    >>> Centered(Linear(), [[0.0], [2.0]])([[0.0], [2.0]]).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """

    _parts = ("kernel",)

    def __init__(self, kernel, X_ref):
        self.kernel = _kernel(kernel, "kernel")
        if _length(X_ref) == 0:
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


def center_gram(K, K_cross=None):
    """Centre a Gram matrix in feature space, in O(n^2) (Lember 2012, (4.6.15)).

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Gram matrix of the reference points.
    K_cross : ndarray of shape (m, n), optional
        Values between other points and the reference points; then these are centred by the reference mean.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> center_gram(np.array([[0.0, 0.0], [0.0, 4.0]]))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    K = check_finite_array(K, "K", ndim=2)
    if K.shape[0] != K.shape[1] or K.shape[0] == 0:
        raise ValueError(f"K must be square and not empty, got shape {K.shape}")
    means = K.mean(axis=0)
    if K_cross is None:
        return K - (means[:, None] + means[None, :]) + means.mean()
    K_cross = check_finite_array(K_cross, "K_cross", ndim=2)
    if K_cross.shape[1] != K.shape[0]:
        raise ValueError(f"K_cross must have {K.shape[0]} columns, got {K_cross.shape[1]}")
    return K_cross - (K_cross.mean(axis=1)[:, None] + means[None, :]) + means.mean()


def squared_distances(X, Y=None, *, gaussian=None):
    """Return |x_i - y_j|^2, or exp(-gaussian |x_i - y_j|^2), from one matrix product.

    The points are moved so that their mean is zero, which leaves little to cancel in |x|^2 + |y|^2 - 2x'y; what is
    left below zero is clipped. Without `Y` the result is exactly symmetric with an exact diagonal.

    Parameters
    ----------
    X : array-like of shape (n, d)
    Y : array-like of shape (m, d), optional
        X by default.
    gaussian : float, optional
        Rate gamma of the exponential.

    Examples
    --------
    >>> squared_distances([[0.0], [3.0]])
    array([[0., 9.],
           [9., 0.]])
    """
    X, Y = _points(X, "X"), None if Y is None else _points(Y, "Y")
    _same_width(X, Y)
    if not sparse.issparse(X) and not (Y is not None and sparse.issparse(Y)):
        centre = X.mean(axis=0) if X.shape[0] else 0.0
        X, Y = X - centre, None if Y is None else Y - centre
    D = _inner(X, Y)
    of_x = _squared_norms(X)
    of_y = of_x if Y is None else _squared_norms(Y)
    rows = max(1, BLOCK_ELEMENTS // max(1, D.shape[1]))
    for i in range(0, D.shape[0], rows):
        stop = min(i + rows, D.shape[0])
        first = i if Y is None else 0
        block = D[i:stop, first:]
        block *= -2.0
        block += of_x[i:stop, None] + of_y[None, first:]
        np.maximum(block, 0.0, out=block)
        if gaussian is not None:
            block *= -gaussian
            np.exp(block, out=block)
        if Y is None:
            D[stop:, i:stop] = block[:, stop - i :].T
    if Y is None:
        np.fill_diagonal(D, 0.0 if gaussian is None else 1.0)
    return D


def _points(X, name):
    if sparse.issparse(X):
        X = sparse.csr_array(X, dtype=np.float64)
        if not np.isfinite(X.data).all():
            raise ValueError(f"{name} must be finite")
        return X
    X = check_finite_array(X, name)
    if X.ndim != 2:
        raise ValueError(f"{name} must be a table with one row for each point, got shape {X.shape}; reshape(-1, 1)?")
    return X


def _same_width(X, Y):
    if Y is not None and X.shape[1] != Y.shape[1]:
        raise ValueError(f"X and Y must have the same number of columns, got {X.shape[1]} and {Y.shape[1]}")


def _dense_pair(X, Y):
    X = _points(X, "X")
    Y = X if Y is None else _points(Y, "Y")
    _same_width(X, Y)
    return tuple(Z.toarray() if sparse.issparse(Z) else Z for Z in (X, Y))


def _inner(X, Y):
    """Return X Y' as a dense matrix; exactly symmetric without Y (numpy then calls a symmetric product)."""
    _same_width(X, Y)
    K = X @ (X.T if Y is None else Y.T)
    if sparse.issparse(K):
        K = K.toarray()
    K = np.ascontiguousarray(K)
    if Y is None and sparse.issparse(X):
        K = 0.5 * (K + K.T)
    return K


def _squared_norms(X):
    return np.asarray(X.multiply(X).sum(axis=1)).ravel() if sparse.issparse(X) else np.einsum("ij,ij->i", X, X)


def _power(K, p):
    """Return K^p for a whole number p >= 0 by repeated squaring, in place of `K` where possible."""
    result = None
    while p:
        if p & 1:
            result = K.copy() if result is None else np.multiply(result, K, out=result)
        p >>= 1
        if p:
            K = np.multiply(K, K, out=K)
    return np.ones_like(K) if result is None else result


def _semidefinite_factor(A):
    A = check_symmetric(A, "A")
    values, vectors = np.linalg.eigh(A)
    if values[0] < -1e-12 * max(np.abs(values).max(), 1e-300) * len(values):
        raise ValueError(f"A must be positive semi-definite, its smallest eigenvalue is {values[0]:.3g}")
    return vectors * np.sqrt(np.maximum(values, 0.0))


def _length(X):
    return X.shape[0] if hasattr(X, "shape") else len(X)


def _kernel(value, name):
    if not isinstance(value, Kernel):
        raise ValueError(f"{name} must be a Kernel, got {value!r}; as_kernel makes one of a name or a function")
    return value


def _callable(value, name):
    if not callable(value):
        raise ValueError(f"{name} must be callable, got {value!r}")
    return value


def _is_number(value):
    return np.ndim(value) == 0 and isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _arguments(cls):
    if cls.__init__ is object.__init__:
        return []
    return [name for name in signature(cls.__init__).parameters if name != "self"]


def _short(value):
    if isinstance(value, np.ndarray):
        return f"array{value.shape}" if value.size > 6 else f"{value.tolist()}"
    if callable(value) and hasattr(value, "__name__"):
        return value.__name__
    return repr(value)


def _same(a, b):
    if isinstance(a, Kernel) or isinstance(b, Kernel):
        return a == b
    if a is b:
        return True
    try:
        return np.shape(a) == np.shape(b) and bool(np.all(np.asarray(a) == np.asarray(b)))
    except (TypeError, ValueError):
        return False
