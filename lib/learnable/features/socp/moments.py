"""Means and factors of the covariances of two classes, and the two classifiers that need nothing else.

A covariance is kept as a factor with one row for each sample, Σ = F'F, so that n features and m samples cost n m
numbers and never n². Fisher's discriminant and the minimax probability machine (Lanckriet et al. 2002) are both answers
to "which direction has the best guarantee", and both need one eigendecomposition of the size of the number of samples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from learnable.features.socp.feasibility import NULL, column_units, span_of_rows
from learnable.validation import (
    Result,
    binary_codes,
    check_finite_array,
    check_instance,
    check_magnitude,
    check_symmetric,
)


@dataclass(frozen=True, eq=False)
class ClassMoments(Result):
    """Mean and covariance of two classes, the covariances by factors.

    Class 1 is the positive one, for which w'x > b is asked.

    Attributes
    ----------
    mu1, mu2 : ndarray of shape (n,)
        The means.
    factor1, factor2 : ndarray of shape (m1, n) and (m2, n)
        Rows (x_i - μ_k)/√m_k, so that F'F is the covariance with divisor m_k.
    classes : tuple
        Labels of class 2 and class 1, in this order, as in ``classes_``.
    """

    mu1: np.ndarray
    mu2: np.ndarray
    factor1: np.ndarray
    factor2: np.ndarray
    classes: tuple = (-1, 1)

    @property
    def delta(self):
        """The difference of the means, μ1 - μ2."""
        return self.mu1 - self.mu2

    @classmethod
    def from_data(cls, X, y):
        """Moments of the rows of X, class by class; the second class in sorted order is class 1.

        Cost O(n m).

        Parameters
        ----------
        X : array-like of shape (m, n)
            Samples in rows.
        y : array-like of shape (m,)
            Labels of two classes.

        Returns
        -------
        ClassMoments
            The moments, with divisor m_k (Bhattacharyya 2004, Sec. 3.2).

        Examples
        --------
        >>> moments = ClassMoments.from_data([[0.0], [2.0], [7.0]], ["a", "a", "b"])
        >>> moments.mu1, moments.mu2, (moments.factor2.T @ moments.factor2).round(6).tolist()
        (array([7.]), array([1.]), [[1.0]])
        """
        X = check_magnitude(check_finite_array(X, "X", ndim=2), "X")
        classes, codes = binary_codes(y)
        if len(codes) != len(X):
            raise ValueError(f"y must have one label for each row of X, {len(X)}, got {len(codes)}")
        parts = [_mean_and_factor(X[codes == k]) for k in (1, 0)]
        (mu1, factor1), (mu2, factor2) = parts
        return cls(mu1, mu2, factor1, factor2, tuple(classes.tolist()))

    @classmethod
    def from_covariances(cls, mu1, covariance1, mu2, covariance2):
        """Moments that are known, for example those of a population. Cost O(n³).

        Parameters
        ----------
        mu1, mu2 : array-like of shape (n,)
            Means of class 1 and class 2.
        covariance1, covariance2 : array-like of shape (n, n)
            Their covariances, positive semidefinite.

        Returns
        -------
        ClassMoments
            With square roots as factors: of the correlations, times the standard deviations.

        Examples
        --------
        >>> moments = ClassMoments.from_covariances([1.0], [[4.0]], [0.0], [[0.0]])
        >>> moments.factor1.tolist()
        [[2.0]]
        """
        mu1 = check_finite_array(mu1, "mu1", ndim=1)
        mu2 = check_finite_array(mu2, "mu2", ndim=1)
        covariance1 = check_symmetric(covariance1, "covariance1")
        covariance2 = check_symmetric(covariance2, "covariance2")
        for name, value in (("mu2", mu2), ("covariance1", covariance1), ("covariance2", covariance2)):
            if len(value) != len(mu1):
                raise ValueError(f"{name} must have the size of mu1, {len(mu1)}, got {len(value)}")
        return cls(mu1, mu2, _root(covariance1, "covariance1"), _root(covariance2, "covariance2"))


@dataclass(frozen=True, eq=False)
class MinimaxMachine(Result):
    """The direction with the best guarantee for the worse of the two classes.

    Attributes
    ----------
    w : ndarray of shape (n,)
        Scaled so that w'(μ1 - μ2) = 1.
    b : float
        The offset at which both guarantees are equal.
    kappa : float
        Largest number of standard deviations that both classes keep from a hyperplane; infinite if some direction has
        no variance and separates the means.
    eta : float
        Largest fraction that can be guaranteed, κ²/(1 + κ²).
    """

    w: np.ndarray
    b: float
    kappa: float
    eta: float


@dataclass(frozen=True, eq=False)
class FisherDirection(Result):
    """Fisher's discriminant, and what it guarantees for a pair, one point of each class.

    Attributes
    ----------
    w : ndarray of shape (n,)
        The direction, scaled so that w'(μ1 - μ2) = 1; zero if the means are equal.
    ratio : float
        The largest {w'(μ1 - μ2)}² / w'(Σ1 + Σ2)w.
    eta : float
        ratio/(1 + ratio): least probability that w'X1 > w'X2.
    """

    w: np.ndarray
    ratio: float
    eta: float


def minimax_probability_machine(moments):
    """Largest fraction that moments can guarantee for both classes at once, and the classifier that does.

    Minimises ‖F1 w‖ + ‖F2 w‖ subject to w'(μ1 - μ2) = 1 (Lanckriet et al. 2002). Because (p + q)² is the least value of
    p²/θ + q²/(1 - θ), the minimum over w has a closed form for each θ, and what is left is a concave function of θ
    alone, maximised to machine precision. Cost O((m1 + m2)² n).

    Parameters
    ----------
    moments : ClassMoments
        The two classes.

    Returns
    -------
    MinimaxMachine
        The program of `two_class_program` is feasible exactly for fractions up to its `eta`.

    Examples
    --------
    >>> moments = ClassMoments.from_covariances([4.0], [[1.0]], [0.0], [[9.0]])
    >>> machine = minimax_probability_machine(moments)
    >>> round(machine.kappa, 6), round(machine.b / machine.w.item(), 6)
    (1.0, 3.0)
    """
    delta = check_instance(moments, "moments", ClassMoments).delta
    whitened = _whiten(delta, (moments.factor1, moments.factor2))
    if whitened is None:
        return MinimaxMachine(np.zeros_like(delta), 0.0, 0.0, 0.0)
    if isinstance(whitened, np.ndarray):  # no variance along this direction
        w = whitened
        return MinimaxMachine(w, float(w @ (moments.mu1 + moments.mu2) / 2), np.inf, 1.0)
    basis, gram1 = whitened
    shares, turn = np.linalg.eigh(gram1)
    shares = np.clip(shares, 0.0, 1.0)
    d = turn.T @ (basis.T @ delta)

    def weights(theta):
        return 1 / (shares / theta + (1 - shares) / (1 - theta))

    best = minimize_scalar(
        lambda theta: -float(d**2 @ weights(theta)),
        bounds=(1e-12, 1 - 1e-12),
        method="bounded",
        options={"xatol": 1e-12},
    )
    w = basis @ (turn @ (weights(best.x) * d))
    w /= w @ delta
    spread1, spread2 = np.linalg.norm(moments.factor1 @ w), np.linalg.norm(moments.factor2 @ w)
    kappa = float(1 / (spread1 + spread2))
    return MinimaxMachine(w, float(w @ moments.mu1 - kappa * spread1), kappa, kappa**2 / (1 + kappa**2))


def fisher_direction(moments):
    """Fisher's discriminant as the direction with the best guarantee for the order of a pair.

    w = (Σ1 + Σ2)⁻¹(μ1 - μ2) maximises the bound d/(1 + d) on P(w'X1 > w'X2) for independent X1, X2 (Bhattacharyya 2004,
    (10)). Where Σ1 + Σ2 is singular and the means differ along its null space, the guarantee is one.
    Cost O((m1 + m2)² n).

    Parameters
    ----------
    moments : ClassMoments
        The two classes.

    Returns
    -------
    FisherDirection
        Direction, ratio and guarantee.

    Examples
    --------
    >>> moments = ClassMoments.from_covariances([2.0, 0.0], np.eye(2), [0.0, 0.0], np.eye(2))
    >>> round(fisher_direction(moments).ratio, 9)
    2.0
    """
    delta = check_instance(moments, "moments", ClassMoments).delta
    whitened = _whiten(delta, (moments.factor1, moments.factor2))
    if whitened is None:
        return FisherDirection(np.zeros_like(delta), 0.0, 0.0)
    if isinstance(whitened, np.ndarray):
        return FisherDirection(whitened, np.inf, 1.0)
    basis, _ = whitened
    d = basis.T @ delta
    ratio = float(d @ d)
    return FisherDirection(basis @ d / ratio, ratio, ratio / (1 + ratio))


def _mean_and_factor(rows):
    mean = rows.mean(axis=0)
    factor = (rows - mean) / np.sqrt(len(rows))
    factor[:, np.ptp(rows, axis=0) == 0] = 0.0  # a constant column has no variance, whatever its mean rounds to
    return mean, factor


def _root(covariance, name):
    """A factor F with F'F the covariance: the square root of the correlations, times the standard deviations."""
    sizes = np.sqrt(np.clip(np.diagonal(covariance), 0.0, None))
    units = np.where(sizes > 0, sizes, 1.0)
    values, vectors = np.linalg.eigh(covariance / units / units[:, None])
    if values[0] < -1e-10 * max(abs(values[-1]), np.finfo(float).tiny):
        raise ValueError(f"{name} must be positive semidefinite, its smallest eigenvalue is {values[0]:.3g}")
    return (vectors * np.sqrt(np.clip(values, 0, None))) @ vectors.T * sizes


def _whiten(delta, factors):
    """A basis B of the span of the factors with B'(Σ1 + Σ2)B = I, and B'Σ1B; or the direction without variance.

    None if the means are equal.
    """
    if not np.any(delta):
        return None
    units = column_units(delta, factors)
    delta = delta / units
    scaled = [factor / units for factor in factors]
    rows, values = span_of_rows(np.vstack(scaled))
    outside = delta - rows.T @ (rows @ delta)
    if np.linalg.norm(outside) > NULL * np.linalg.norm(delta):
        return outside / (outside @ delta) / units
    basis = rows.T / values
    image = scaled[0] @ basis
    return basis / units[:, None], image.T @ image
