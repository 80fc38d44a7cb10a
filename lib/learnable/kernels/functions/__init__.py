"""Kernel algebra: functions K(x, y) = <Phi(x), Phi(y)> as objects, and the rules that make new ones of old ones.

A kernel is called on two sets of points and returns their matrix of values::

    K = 2.0 * Gaussian(0.5) + Linear() * Polynomial(2, 1.0)
    K(X)          # Gram matrix: exactly symmetric, its diagonal exactly K.diag(X)
    K(X, Y)       # values between two sets
    K.gradient(X) # derivatives with respect to K.parameters, one matrix each

Everything built from the classes below by ``+``, ``*``, scaling with a non-negative number, :class:`Poly`,
:class:`Exp`, ``.map``, :class:`Normalised` and :class:`Centered` is positive semi-definite again (Lember 2012,
Lemma 4.5.1); what would not be, a negative weight or an indefinite matrix, is refused when the kernel is made.

By concept: :mod:`.algebra`, the base of all kernels and the rules; :mod:`.series`, polynomials and
exponentials of a kernel; :mod:`.elementary`, kernels that are not made of others; `parameters`, what may be
tuned; :mod:`.points`, inner products and distances.

Points are rows of a float array or of a scipy sparse matrix; kernels made from a function (:class:`FromFunction`,
:class:`Rank1`, ``.map``) take whatever their function takes.
"""

from learnable.kernels.functions.algebra import (
    Centered,
    Constant,
    Kernel,
    Mapped,
    Normalised,
    PolynomialOf,
    Product,
    Scaled,
    Sum,
)
from learnable.kernels.functions.elementary import (
    FromFunction,
    Gaussian,
    Linear,
    Polynomial,
    Precomputed,
    Rank1,
    as_kernel,
)
from learnable.kernels.functions.points import center_gram, squared_distances
from learnable.kernels.functions.series import Exp, Poly

__all__ = [
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
