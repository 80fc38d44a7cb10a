"""The one way to give a kernel to an estimator: `kernel`, `gamma`, `degree` and `coef0`, as in scikit-learn's SVC."""

import numpy as np
from scipy import sparse

from learnable.kernels.functions import Gaussian, Kernel, Linear, Polynomial, Precomputed, Scaled, as_kernel
from learnable.validation import check_choice, check_scalar

__all__ = ["KernelMixin", "named_gamma", "named_kernel"]

# Beyond this many times the spread of the points, their distance from the origin costs digits that count.
_FAR = 10.0


def named_gamma(gamma, X):
    """Return the number that `gamma` stands for.

    Parameters
    ----------
    gamma : {"scale", "auto"} or float
        "scale" is 1 / (d Var(X)), so that a change of the unit of all features changes nothing; "auto" is 1 / d.
    X : ndarray of shape (n, d)

    Returns
    -------
    float

    Examples
    --------
    >>> named_gamma("scale", np.array([[0.0, 4.0], [4.0, 0.0]])), named_gamma(3, np.zeros((2, 2)))
    (0.125, 3.0)
    """
    if not isinstance(gamma, str):
        return check_scalar(gamma, "gamma", low=0.0, high=1e150, closed="neither")
    check_choice(gamma, "gamma", ("scale", "auto"), also="a positive number")
    variance = _variance(X) if gamma == "scale" else 1.0
    return 1.0 / (X.shape[1] * variance) if variance > 0.0 else 1.0


def _variance(X):
    """Of all entries; the many zeros of a sparse table keep the mean small beside the spread, so nothing cancels."""
    if not sparse.issparse(X):
        return float(np.var(X))
    return float((X.data**2).sum() / (X.shape[0] * X.shape[1]) - X.mean() ** 2)


def named_kernel(kernel, X, *, gamma="scale", degree=3, coef0=0.0):
    """Return the :class:`~learnable.kernels.functions.Kernel` of an estimator's parameters.

    Parameters
    ----------
    kernel : {"linear", "rbf", "poly", "precomputed"}, Kernel or callable
        A kernel that is no name has parameters of its own, and the others are not used.
    X : ndarray of shape (n, d)
        The training data, for ``gamma="scale"``.
    gamma : {"scale", "auto"} or float, default="scale"
        Of exp(-gamma |x - y|^2) and of (gamma <x, y> + coef0)^degree.
    degree : int, default=3
        Of "poly".
    coef0 : float, default=0.0
        Of "poly"; not negative, since the function is no kernel otherwise.

    Returns
    -------
    Kernel

    Examples
    --------
    >>> named_kernel("rbf", np.array([[0.0, 4.0], [4.0, 0.0]]))
    Gaussian(sigma=2.0)
    >>> named_kernel("poly", np.zeros((2, 2)), gamma=1.0, degree=2, coef0=1.0)
    Polynomial(p=2, R=1.0)
    """
    if isinstance(kernel, Kernel) or (callable(kernel) and not isinstance(kernel, str)):
        return as_kernel(kernel)
    check_choice(kernel, "kernel", ("linear", "rbf", "poly", "precomputed"), also="a Kernel or a callable")
    if kernel == "linear":
        return Linear()
    if kernel == "precomputed":
        return Precomputed()
    gamma = named_gamma(gamma, X)
    if kernel == "rbf":
        return Gaussian.from_gamma(gamma)
    degree = check_scalar(degree, "degree", low=1, integer=True)
    coef0 = check_scalar(coef0, "coef0", low=0.0)
    # (gamma <x, y> + c)^p = gamma^p (<x, y> + c / gamma)^p
    made = Polynomial(degree, coef0 / gamma)
    return made if gamma == 1.0 else Scaled(made, gamma**degree)


def far_centre(kernel, X):
    """The mean of the points if the kernel is x'y and the origin is far from them, otherwise None.

    A machine with intercept is the same wherever the origin is: sum_i c_i x_i'x + a = sum_i c_i (x_i - m)'(x - m) + b
    for coefficients that sum to zero. But products of large numbers lose their digits to the mean.
    """
    if not isinstance(kernel, Linear) or kernel.A is not None or X.shape[0] == 0:
        return None
    centre = X.mean(axis=0)
    spread = np.linalg.norm(X - centre) / np.sqrt(X.shape[0])
    return centre if np.linalg.norm(centre) > _FAR * spread else None


class KernelMixin:
    """An estimator with the parameters `kernel`, `gamma`, `degree` and `coef0`, that may be given a kernel matrix.

    Examples
    --------
    >>> from learnable.kernels import KernelRidge
    >>> issubclass(KernelRidge, KernelMixin), KernelRidge("precomputed").__sklearn_tags__().input_tags.pairwise
    (True, True)
    """

    def _named_kernel(self, X):
        """The kernel that the parameters stand for, with the training data X."""
        return named_kernel(self.kernel, X, gamma=self.gamma, degree=self.degree, coef0=self.coef0)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed" or isinstance(self.kernel, Precomputed)
        return tags
