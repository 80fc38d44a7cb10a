"""C, D and nu: three constants of one problem (Lember 2012, Sec. 4.2.3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from learnable.kernels import smo
from learnable.kernels.smo.machines import signs_of
from learnable.validation import Result, check_finite_array, check_scalar

__all__ = ["C_to_D", "Conversion", "largest_D"]


@dataclass(frozen=True, eq=False)
class Conversion(Result):
    r"""One hyperplane under its three constants, from :func:`C_to_D` and :func:`D_to_C`.

    Attributes
    ----------
    C, D, nu : float
        The price of the 1-norm machine, the constant of the direct-margin problem, and :math:`1/(nD)`.
    A : float
        :math:`\sum\alpha_i^*`.
    margin : float
        :math:`1/\|w^*\|`.
    solution : learnable.kernels.smo.Solution
    """

    C: float
    D: float
    nu: float
    A: float
    margin: float
    solution: smo.Solution


def C_to_D(K, y, C, *, tol=1e-8):
    r"""The constant D of the direct-margin problem with the same hyperplane as the 1-norm machine of price C.

    With A = Σα_i* = ‖w*‖² + CΣξ_i*, D = C/A, the dual variables are
    β=α/A, and ν = 1/(nD) = A/(nC).

    Parameters
    ----------
    K : array (n, n) or column source
    y : array (n,)
        Labels -1 and +1.
    C : float
    tol : float, default=1e-8

    Returns
    -------
    Conversion

    Examples
    --------
    >>> X = np.array([[-1.0], [1.0]])
    >>> got = C_to_D(X @ X.T, [-1, 1], 0.25)
    >>> got.D, got.nu, got.A
    (0.5, 1.0, 0.5)
    """
    C = check_scalar(C, "C", low=0.0, closed="neither")
    tol = check_scalar(tol, "tol", low=0.0, high=1.0, closed="neither")
    s = smo.classification(K, y, C, tol=tol)
    return _conversion(s, C)


def _conversion(s, C):
    total = float(s.alpha.sum())
    norm = float(max(s.beta @ s.values, 0.0)) ** 0.5
    return Conversion(C, C / total, total / (s.beta.size * C), total, 1.0 / norm if norm > 0.0 else np.inf, s)


def largest_D(K, y, *, tol=1e-9):
    r"""The limit of D = C/A as C grows: no price belongs to a larger D.

    Beyond it the reduced hulls meet: the dual has value zero, and the convex version of the direct-margin problem
    (‖u‖ ≤ 1) is solved by u=0. By duality the limit is the smallest possible largest weight
    max β_i of a point common to both reduced hulls, found as a linear program; infinite if the classes are
    separable.

    Parameters
    ----------
    K : array-like of shape (n, n)
        Kernel matrix.
    y : array-like of shape (n,)
        Labels -1 and +1.
    tol : float, default=1e-09

    Examples
    --------
    Two points of each class, crossed: every weight must be at least one quarter.

    >>> X = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    >>> round(largest_D(X @ X.T, [1, 1, -1, -1]), 6)
    0.25
    """
    from scipy.optimize import linprog

    source = smo.as_source(K)
    y = signs_of(y, source.size)
    n = source.size
    gram = source.rows(np.arange(n)).astype(float)
    values, vectors = np.linalg.eigh(gram)
    keep = values > 1e-10 * max(values[-1], 1e-300)
    features = vectors[:, keep] * np.sqrt(values[keep])
    # Variables (beta, t): minimise t with beta <= t, sum over each class 1/2, and the two class means equal.
    equal = np.vstack([(features * y[:, None]).T, (y > 0).astype(float), (y < 0).astype(float)])
    equal = np.hstack([equal, np.zeros((equal.shape[0], 1))])
    right = np.concatenate([np.zeros(features.shape[1]), [0.5, 0.5]])
    below = np.hstack([np.eye(n), -np.ones((n, 1))])
    cost = np.zeros(n + 1)
    cost[-1] = 1.0
    answer = linprog(cost, A_ub=below, b_ub=np.zeros(n), A_eq=equal, b_eq=right, bounds=[(0, None)] * (n + 1))
    return float(answer.fun) if answer.status == 0 else np.inf


def D_to_C(K, y, D, *, tol=1e-8, C_max=1e8):
    r"""The price C of the 1-norm machine with the same hyperplane as the direct-margin problem with constant D.

    C/A(C) is continuous and non-decreasing, so C is found by root finding on a logarithmic scale. Where it is constant
    (for small C, when all multipliers of the smaller class are at their bound) any C of the interval is right and one
    of them is returned. D must not lie below that least value nor above :func:`largest_D`.

    Parameters
    ----------
    K : array (n, n) or column source
    y : array (n,)
    D : float
    tol : float, default=1e-8
    C_max : float, default=1e8
        Where to give up.

    Returns
    -------
    Conversion

    Examples
    --------
    >>> X = np.array([[-2.0], [-0.5], [0.5], [2.0], [-0.1], [0.1]])
    >>> y = np.array([-1, -1, 1, 1, 1, -1])
    >>> D = C_to_D(X @ X.T, y, 2.0).D
    >>> round(D_to_C(X @ X.T, y, D).D - D, 8)
    0.0
    """
    from scipy.optimize import brentq

    source = smo.as_source(K)
    y = signs_of(y, source.size)
    D = check_scalar(D, "D", low=0.0, closed="neither")
    least = 0.5 / min(int((y > 0).sum()), int((y < 0).sum()))
    if least * (1.0 - 1e-12) > D:
        raise ValueError(f"D = {D:g} is infeasible: it must be at least {least:g} for these classes")
    cache = {}

    def excess(log_C):
        s = smo.classification(source, y, float(np.exp(log_C)), tol=tol)
        cache[log_C] = s
        return float(np.exp(log_C)) / float(s.alpha.sum()) - D

    low = high = -np.log(max(float(source.diagonal.mean()), 1e-12))
    while excess(low) > 0.0 and low > -60.0:
        high, low = low, low - 2.0
    at_high = excess(high)
    while at_high < 0.0:
        low, before = high, at_high
        high += 2.0
        at_high = excess(high)
        stalled = at_high - before < 1e-6 * D or np.exp(high) > C_max
        if at_high < 0.0 and stalled and (np.exp(high) > C_max or D >= largest_D(source, y) * (1.0 - 1e-9)):
            raise ValueError(
                f"D = {D:g} is not reached below C = {np.exp(high):.3g}: the limit of C/A for these data is "
                f"{largest_D(source, y):.6g}, and no price belongs to a larger D"
            )
    root = high if abs(cache[high].alpha.sum() * D - np.exp(high)) <= 1e-9 * np.exp(high) else None
    if root is None:
        root = brentq(excess, low, high, xtol=1e-11) if low < high else low
    if root not in cache:
        excess(root)
    return _conversion(cache[root], float(np.exp(root)))


def direct_objective(f, y, gamma, D, *, h=None, u=None):
    r"""The generic soft-margin objective h(γ) + DΣ u((γ - y_if_i)_+) (Lember 2012, (4.2.13)).

    Parameters
    ----------
    f : array (..., n)
        Values of the normalised functions at the points; leading axes are evaluated together.
    y : array (n,)
    gamma : float or array (...,)
    D : float
    h : callable, default minus gamma
    u : callable, default the identity

    Returns
    -------
    float or ndarray

    Examples
    --------
    >>> float(direct_objective([0.5, -0.2], [1, -1], 0.3, 1.0).round(6))
    -0.2
    """
    f = check_finite_array(f, "f")
    y = check_finite_array(y, "y", ndim=1)
    gamma = np.asarray(gamma, dtype=float)
    if f.shape[-1:] != y.shape:
        raise ValueError(f"f must have {y.size} values for each function, got shape {f.shape}")
    D = check_scalar(D, "D", low=0.0, closed="neither")
    if np.any(gamma < 0.0):
        raise ValueError("gamma must not be negative")
    error = np.maximum(gamma[..., None] - y * f, 0.0)
    paid = error if u is None else u(error)
    return (-gamma if h is None else h(gamma)) + D * paid.sum(axis=-1)
