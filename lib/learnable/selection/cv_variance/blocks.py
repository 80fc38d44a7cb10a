"""The covariance matrix of cross-validated errors: three numbers (Bengio and Grandvalet 2004, Sec. 3-6).

Errors are written as an array of shape (K, m): one row for each fold, one entry for each example that was left out.
sigma2 is the variance of an error, omega the covariance of two errors of the same fold, gamma that of two errors of
different folds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from learnable.validation import Result, check_finite_array, check_magnitude, check_scalar

__all__ = [
    "BlockSpectrum",
    "BlockStatistics",
    "UnbiasedEquations",
    "admissible_gamma",
    "block_covariance",
    "block_eigenvalues",
    "block_statistics",
    "unbiased_equations",
    "variance_contributions",
]


@dataclass(frozen=True)
class BlockSpectrum(Result):
    """Eigenvalues of the covariance matrix of cross-validated errors; made by `block_eigenvalues`.

    Attributes
    ----------
    values : ndarray of shape (3,)
        sigma2 - omega, sigma2 + (m - 1) omega - m gamma, sigma2 + (m - 1) omega + (n - m) gamma.
    multiplicities : ndarray of shape (3,)
        n - K, K - 1 and 1.
    """

    values: np.ndarray
    multiplicities: np.ndarray


@dataclass(frozen=True)
class BlockStatistics(Result):
    """The quadratic statistics of one set of errors; made by `block_statistics`.

    Attributes
    ----------
    s1, s2, s3 : float
        Means of the products of an error with itself, with others of its fold, and with errors of other folds. With a
        single example in each fold there is no second kind, and ``s2`` is NaN.
    eigenvalue_1, eigenvalue_2 : float
        Unbiased estimates of the first two eigenvalues. The first is NaN with a single example in each fold, where the
        matrix has no such eigenvalue.
    """

    s1: float
    s2: float
    s3: float
    eigenvalue_1: float
    eigenvalue_2: float


@dataclass(frozen=True)
class UnbiasedEquations(Result):
    """What an unbiased estimate a s1 + b s2 + c s3 would have to satisfy; made by `unbiased_equations`.

    Attributes
    ----------
    matrix : ndarray of shape (4, 3)
        Rows: the coefficient of sigma2, of omega, of gamma, and of the squared mean.
    target : ndarray of shape (4,)
        What these coefficients have to be.
    nearest : ndarray of shape (3,)
        The coefficients (a, b, c) that miss the equations least, in the sense of least squares.
    residual : float
        By how much they miss them; never zero.
    """

    matrix: np.ndarray
    target: np.ndarray
    nearest: np.ndarray
    residual: float

    @property
    def solvable(self):
        """Whether an unbiased estimate exists."""
        return bool(self.residual <= 1e-12 * np.linalg.norm(self.target))


def block_covariance(sigma2, omega, gamma, *, n_folds, fold_size):
    """Covariance matrix of the errors, folds one after another (Corollary 2). Cost O(n^2).

    Parameters
    ----------
    sigma2 : float
        Variance of an error.
    omega, gamma : float
        Covariance of two errors of the same fold, and of different folds.
    n_folds, fold_size : int
        K and m.

    Returns
    -------
    ndarray of shape (K m, K m)
        The matrix.

    Examples
    --------
    >>> block_covariance(3.0, 2.0, 1.0, n_folds=2, fold_size=2)
    array([[3., 2., 1., 1.],
           [2., 3., 1., 1.],
           [1., 1., 3., 2.],
           [1., 1., 2., 3.]])
    """
    sigma2, omega, gamma = _triple(sigma2, omega, gamma)
    n_folds, fold_size = _sizes(n_folds, fold_size)
    n = n_folds * fold_size
    fold = np.arange(n) // fold_size
    covariance = np.where(fold[:, None] == fold, omega, gamma)
    np.fill_diagonal(covariance, sigma2)
    return covariance


def block_eigenvalues(sigma2, omega, gamma, *, n_folds, fold_size):
    """Eigenvalues of the covariance matrix, by formula (Lemma 7). Cost O(1).

    The first belongs to differences within a fold, the second to differences of fold means, the third to the mean of
    all errors: the variance of that mean is the third eigenvalue over n.

    Parameters
    ----------
    sigma2 : float
        Variance of an error.
    omega, gamma : float
        Covariance of two errors of the same fold, and of different folds.
    n_folds, fold_size : int
        K and m.

    Returns
    -------
    BlockSpectrum
        The three values, with their multiplicities.

    Examples
    --------
    >>> found = block_eigenvalues(3.0, 2.0, 1.0, n_folds=2, fold_size=2)
    >>> found.values, found.multiplicities
    (array([1., 3., 7.]), array([2, 1, 1]))
    """
    sigma2, omega, gamma = _triple(sigma2, omega, gamma)
    n_folds, fold_size = _sizes(n_folds, fold_size)
    n = n_folds * fold_size
    inside = sigma2 + (fold_size - 1) * omega
    values = np.array([sigma2 - omega, inside - fold_size * gamma, inside + (n - fold_size) * gamma])
    return BlockSpectrum(values, np.array([n - n_folds, n_folds - 1, 1]))


def variance_contributions(sigma2, omega, gamma, *, n_folds, fold_size):
    """What the three numbers contribute to the variance of the mean of all errors (Corollary 3, (7)). Cost O(1).

    Parameters
    ----------
    sigma2 : float
        Variance of an error.
    omega, gamma : float
        Covariance of two errors of the same fold, and of different folds.
    n_folds, fold_size : int
        K and m.

    Returns
    -------
    ndarray of shape (3,)
        sigma2 / n, (m - 1) omega / n and (n - m) gamma / n; their sum is the variance.

    Examples
    --------
    >>> variance_contributions(3.0, 2.0, 1.0, n_folds=2, fold_size=2)
    array([0.75, 0.5 , 0.5 ])
    """
    sigma2, omega, gamma = _triple(sigma2, omega, gamma)
    n_folds, fold_size = _sizes(n_folds, fold_size)
    n = n_folds * fold_size
    return np.array([sigma2, (fold_size - 1) * omega, (n - fold_size) * gamma]) / n


def block_statistics(errors):
    """The three quadratic statistics of the errors, and the two eigenvalues that they estimate (12). Cost O(n).

    Sums over pairs follow from the sums of the folds, so no pair is looked at.

    Parameters
    ----------
    errors : array-like of shape (K, m)
        One row for each fold.

    Returns
    -------
    BlockStatistics
        The statistics.

    Examples
    --------
    >>> found = block_statistics([[1.0, 2.0], [3.0, 4.0]])
    >>> found.s1, found.s2, found.s3, found.eigenvalue_1, found.eigenvalue_2
    (7.5, 7.0, 5.25, 0.5, 4.0)
    """
    errors = check_errors(errors)
    centre = errors.mean()
    # About the mean, where differences lose no digits; each of the three grows by the square of the mean.
    centred = pair_means((errors - centre)[None])[0]
    s1, s2, s3 = centred
    fold_size = errors.shape[1]
    inside = s1 + (fold_size - 1) * s2 if fold_size > 1 else s1
    return BlockStatistics(*map(float, (*(centred + centre**2), s1 - s2, inside - fold_size * s3)))


def unbiased_equations(*, n_folds, fold_size):
    """The four equations of an unbiased estimate of the variance, which contradict each other (Theorem 6, (14)).

    E[a s1 + b s2 + c s3] = a (sigma2 + mu^2) + b (omega + mu^2) + c (gamma + mu^2) equals the variance for all
    values of mu, sigma2, omega and gamma only if a = 1/n, b = (m - 1)/n, c = (n - m)/n and a + b + c = 0. The first
    three add up to one.

    Parameters
    ----------
    n_folds, fold_size : int
        K and m.

    Returns
    -------
    UnbiasedEquations
        The equations, and how far the nearest coefficients are from satisfying them. With a single example in each fold
        there is no s2, and b stays zero.

    Examples
    --------
    >>> found = unbiased_equations(n_folds=10, fold_size=6)
    >>> found.solvable, round(found.residual, 3)
    (False, 0.5)
    """
    n_folds, fold_size = _sizes(n_folds, fold_size)
    n = n_folds * fold_size
    matrix = np.vstack([np.eye(3), np.ones(3)])
    target = np.array([1.0, fold_size - 1.0, n - fold_size, 0.0]) / n
    if fold_size == 1:
        matrix[:, 1] = 0.0
    nearest = np.linalg.lstsq(matrix, target, rcond=None)[0]
    return UnbiasedEquations(matrix, target, nearest, float(np.linalg.norm(matrix @ nearest - target)))


def admissible_gamma(sigma2, omega, *, n_folds, fold_size):
    """The values that gamma can take, given the other two (Lemma 8). Cost O(1).

    Parameters
    ----------
    sigma2 : float
        Variance of an error.
    omega : float
        Covariance of two errors of the same fold: between 0 and sigma2 for cross-validation, because the mean of any
        number of test errors of one training set has a variance that is not negative. (The jackknife's may be as low as
        -sigma2 / (m - 1), which is accepted too.)
    n_folds, fold_size : int
        K and m.

    Returns
    -------
    low, high : float
        Bounds on the covariance of errors of different folds; outside, an eigenvalue is negative.

    Examples
    --------
    >>> admissible_gamma(1.0, 0.0, n_folds=2, fold_size=100)
    (-0.01, 0.01)
    """
    sigma2, omega, _ = _triple(sigma2, omega, 0.0)
    n_folds, fold_size = _sizes(n_folds, fold_size)
    lowest = -sigma2 / (fold_size - 1) if fold_size > 1 else 0.0
    if not lowest * (1 + 1e-12) <= omega <= sigma2 * (1 + 1e-12):
        raise ValueError(f"omega must lie between {lowest:.6g} and sigma2 = {sigma2:.6g}, got {omega:.6g}")
    inside = max(sigma2 + (fold_size - 1) * omega, 0.0)
    return -inside / (n_folds * fold_size - fold_size), inside / fold_size


def check_errors(errors, name="errors"):
    """Return the errors of one cross-validation as a float array of shape (K, m) with at least two folds."""
    errors = check_magnitude(check_finite_array(errors, name, ndim=2), name)
    if errors.shape[0] < 2 or errors.shape[1] < 1:
        raise ValueError(f"{name} must have at least 2 folds (rows) and 1 example in each, got shape {errors.shape}")
    return errors


def pair_means(errors):
    """Means of products over the three kinds of pairs, for a stack of errors of shape (B, K, m), as (B, 3)."""
    _, n_folds, fold_size = errors.shape
    n = n_folds * fold_size
    squares = np.einsum("bki,bki->b", errors, errors)
    folds = errors.sum(axis=2)
    within = np.einsum("bk,bk->b", folds, folds)
    between = folds.sum(axis=1) ** 2 - within
    s2 = (within - squares) / (n * (fold_size - 1)) if fold_size > 1 else np.full(len(errors), np.nan)
    return np.stack([squares / n, s2, between / (n * (n - fold_size))], axis=1)


def _triple(sigma2, omega, gamma):
    return check_scalar(sigma2, "sigma2", low=0), check_scalar(omega, "omega"), check_scalar(gamma, "gamma")


def _sizes(n_folds, fold_size):
    n_folds = check_scalar(n_folds, "n_folds", low=2, integer=True)
    return n_folds, check_scalar(fold_size, "fold_size", low=1, integer=True)
