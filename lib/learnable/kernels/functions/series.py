"""Power series of a kernel with non-negative coefficients: polynomials that wait for their kernel, the exponential."""

import numpy as np

from learnable.kernels.functions.algebra import Constant, Kernel, PolynomialOf, check_kernel
from learnable.kernels.functions.parameters import short

__all__ = ["Exp", "Poly"]


class Poly:
    """A polynomial with non-negative coefficients, constant first, waiting for its kernel.

    Parameters
    ----------
    coeffs : array-like
        Not negative, constant first.

    Examples
    --------
    >>> from learnable.kernels import Linear
    >>> Poly([0.0, 1.0, 0.5])(Linear())([[1.0]], [[2.0]])
    array([[4.]])
    """

    def __init__(self, coeffs):
        PolynomialOf(Constant(1.0), coeffs)  # checks them
        self.coeffs = coeffs

    def __call__(self, kernel):
        return PolynomialOf(kernel, self.coeffs)

    def __repr__(self):
        return f"Poly({short(self.coeffs)})"


class Exp(Kernel):
    """exp(K), the limit of polynomials in K with non-negative coefficients.

    Parameters
    ----------
    kernel : Kernel

    Examples
    --------
    >>> from learnable.kernels import Linear
    >>> Exp(Linear())([[0.0]], [[3.0]])
    array([[1.]])
    """

    _parts = ("kernel",)

    def __init__(self, kernel):
        self.kernel = check_kernel(kernel, "kernel")

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
