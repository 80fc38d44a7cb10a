"""The programs of the chapter in one form: least l1 norm under a budget of second-order cones.

    minimise ‖w‖₁  subject to  δ'w ≥ Σ_i h_i max(l_i, c_i ‖F_i w‖)

with δ = μ1 - μ2. The offset b has been eliminated: it exists exactly if the two sides of it fit together. The dual has
a number λ and a vector v_i for each cone, ‖v_i‖ ≤ h_i λ,

    maximise  Σ_i l_i (h_i λ - ‖v_i‖)  subject to  |λδ - Σ_i c_i F_i'v_i|_j ≤ 1 for each feature j.

The left side of the constraint of feature j is its price: a feature whose price is below one is not used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from learnable.features.socp.cantelli import chebyshev_factor
from learnable.features.socp.moments import ClassMoments
from learnable.validation import Result, check_choice, check_finite_array, check_instance, check_scalar

MEAN_SETS = ("span_ball", "coef_ball")


class Cone(NamedTuple):
    """One term h max(l, c ‖F w‖) of the budget."""

    weight: float
    floor: float
    scale: float
    factor: np.ndarray


@dataclass(frozen=True, eq=False)
class ConeProgram(Result):
    """Least ‖w‖₁ subject to δ'w ≥ Σ_i h_i max(l_i, c_i‖F_i w‖).

    Attributes
    ----------
    delta : ndarray of shape (n,)
        Difference of the means.
    cones : tuple of (weight, floor, scale, factor)
        The numbers h, l, c and the matrix F, with one column for each feature.
    """

    delta: np.ndarray
    cones: tuple

    def slack(self, w):
        """What is left of the budget at w, which is feasible if this is not negative. Cost O(n m)."""
        sizes = self.norms(w)
        return float(self.delta @ w - sum(c.weight * max(c.floor, s) for c, s in zip(self.cones, sizes, strict=True)))

    def norms(self, w):
        """The lengths c_i‖F_i w‖. Cost O(m) for each feature in use."""
        w = np.asarray(w, dtype=float)
        used = np.flatnonzero(w)
        return np.array([c.scale * np.linalg.norm(c.factor[:, used] @ w[used]) for c in self.cones])

    def prices(self, lam, vectors):
        """Signed prices λδ - Σ_i c_i F_i'v_i of all features. Cost O(n m), one product for each cone."""
        price = lam * self.delta
        for cone, v in zip(self.cones, vectors, strict=True):
            if cone.scale > 0:
                price = price - cone.scale * (v @ cone.factor)
        return price


def two_class_program(moments, eta):
    """At least a fraction `eta` of each class on its side, with the least ‖w‖₁ (Bhattacharyya 2004, (8)).

    The constraints w'μ1 - b ≥ max(1, κ‖F1 w‖) and b - w'μ2 ≥ max(1, κ‖F2 w‖) hold for some b exactly if
    w'(μ1 - μ2) is at least the sum of the right sides. Cost O(1): factors are not copied.

    Parameters
    ----------
    moments : ClassMoments
        The two classes.
    eta : float in [0, 1)
        The fraction.

    Returns
    -------
    ConeProgram
        With two cones.

    Examples
    --------
    >>> from learnable.features.socp import ClassMoments
    >>> moments = ClassMoments.from_covariances([4.0], [[1.0]], [0.0], [[1.0]])
    >>> two_class_program(moments, 0.8).slack(np.array([0.5])), two_class_program(moments, 0.8).slack(np.array([1.0]))
    (0.0, 0.0)
    """
    check_instance(moments, "moments", ClassMoments)
    kappa = chebyshev_factor(eta)
    return ConeProgram(moments.delta, tuple(Cone(1.0, 1.0, kappa, f) for f in (moments.factor1, moments.factor2)))


def fisher_program(moments, eta):
    """A pair is in the right order with probability at least `eta`, with the least ‖w‖₁ (Bhattacharyya 2004, (12)).

    w'(μ1 - μ2) ≥ max(1, κ √(w'(Σ1 + Σ2)w)) with κ = √(η/(1 - η)); the source prints the inverse of κ here. Cost O(n m).

    Parameters
    ----------
    moments : ClassMoments
        The two classes.
    eta : float in [0, 1)
        The probability.

    Returns
    -------
    ConeProgram
        With one cone.

    Examples
    --------
    >>> from learnable.features.socp import ClassMoments
    >>> moments = ClassMoments.from_covariances([4.0], [[1.0]], [0.0], [[1.0]])
    >>> len(fisher_program(moments, 0.5).cones)
    1
    """
    check_instance(moments, "moments", ClassMoments)
    factor = np.vstack([moments.factor1, moments.factor2])
    return ConeProgram(moments.delta, (Cone(1.0, 1.0, chebyshev_factor(eta), factor),))


def robust_program(X1, X2, eta, *, delta=0.0, rho=0.0, mean_set="span_ball"):
    """The two-class program for all moments near the estimated ones (Bhattacharyya 2004, (22)).

    Means vary by δ, coefficient covariances by ρ in Frobenius norm. With T_k = X_k' and S̄_k = (I - ee'/m_k)/m_k, the
    worst mean costs δ N_k(w), and the worst covariance is S̄_k + ρ zz' for the unit vector z along T_k'w. Cost O(n m²).

    Parameters
    ----------
    X1, X2 : array-like of shape (m1, n) and (m2, n)
        Samples of class 1 and class 2.
    eta : float in [0, 1)
        The fraction.
    delta : float, default=0.0
        Radius of the set of means; in the unit of X for "span_ball".
    rho : float, default=0.0
        Radius of the set of covariances of the coefficients.
    mean_set : {"span_ball", "coef_ball"}, default="span_ball"
        Means within δ of the sample mean in the span of the samples, N_k(w) = ‖P_k w‖, or coefficients within δ,
        N_k(w) = ‖X_k w‖.

    Returns
    -------
    ConeProgram
        With two cones, or four if `delta` is positive.

    Examples
    --------
    >>> program = robust_program([[3.0], [5.0]], [[-1.0], [1.0]], 0.5, delta=0.25)
    >>> program.slack(np.array([1.0]))  # 4 - 1 - 1 - 0.25 - 0.25
    1.5
    """
    X1, X2 = check_finite_array(X1, "X1", ndim=2), check_finite_array(X2, "X2", ndim=2)
    if X1.shape[1] != X2.shape[1]:
        raise ValueError(f"X2 must have the columns of X1, {X1.shape[1]}, got {X2.shape[1]}")
    for name, X in (("X1", X1), ("X2", X2)):
        if len(X) == 0:
            raise ValueError(f"{name} must have at least one row")
    delta = check_scalar(delta, "delta", low=0)
    rho = check_scalar(rho, "rho", low=0)
    check_choice(mean_set, "mean_set", MEAN_SETS)
    kappa = chebyshev_factor(eta)
    cones = [Cone(1.0, 1.0, kappa, _spread_factor(X, rho)) for X in (X1, X2)]
    if delta > 0:
        reach = _span if mean_set == "span_ball" else np.asarray
        cones += [Cone(1.0, 0.0, delta, reach(X)) for X in (X1, X2)]
    return ConeProgram(X1.mean(axis=0) - X2.mean(axis=0), tuple(cones))


def _spread_factor(X, rho):
    """(S̄ + ρI)^½ X: the centring matrix has eigenvalues 1 and 0, so the root is known without a factorisation."""
    m = len(X)
    mean = X.mean(axis=0)
    centred = X - mean
    centred[:, np.ptp(X, axis=0) == 0] = 0.0
    return np.sqrt(1 / m + rho) * centred + np.sqrt(rho) * mean


def _span(X):
    """An orthonormal basis of the span of the rows, in rows."""
    scale = np.abs(X).max(initial=0.0)
    if scale == 0:
        return np.zeros((1, X.shape[1]))
    _, values, rows = np.linalg.svd(X / scale, full_matrices=False)
    return rows[values > values[0] * max(X.shape) * np.finfo(float).eps]
