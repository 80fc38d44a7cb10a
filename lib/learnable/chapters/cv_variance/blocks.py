"""The covariance matrix of cross-validated errors: three numbers (Bengio and Grandvalet 2004, Sec. 3-6).

Errors are written as an array of shape (K, m): one row for each fold, one entry for each example that was left out.
sigma2 is the variance of an error, omega the covariance of two errors of the same fold, gamma that of two errors of
different folds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from learnable.validation import Result, check_finite_array, check_magnitude


@dataclass(frozen=True)
class BlockSpectrum(Result):
    """Eigenvalues of the covariance matrix of cross-validated errors; made by `block_eigenvalues`."""

    values: np.ndarray
    multiplicities: np.ndarray


@dataclass(frozen=True)
class BlockStatistics(Result):
    """The quadratic statistics of one set of errors; made by `block_statistics`."""

    s1: float
    s2: float
    s3: float
    eigenvalue_1: float
    eigenvalue_2: float


@dataclass(frozen=True)
class UnbiasedEquations(Result):
    """What an unbiased estimate a s1 + b s2 + c s3 would have to satisfy; made by `unbiased_equations`."""

    matrix: np.ndarray
    target: np.ndarray
    nearest: np.ndarray
    residual: float

    @property
    def solvable(self):
        """Whether an unbiased estimate exists."""
        return bool(self.residual <= 1e-12 * np.linalg.norm(self.target))


def block_covariance(sigma2, omega, gamma, *, n_folds, fold_size):
    """Covariance matrix of the errors, folds one after another (Corollary 2). Cost O(n^2)."""
    n = n_folds * fold_size
    fold = np.arange(n) // fold_size
    covariance = np.where(fold[:, None] == fold, omega, gamma)
    np.fill_diagonal(covariance, sigma2)
    return covariance


def block_eigenvalues(sigma2, omega, gamma, *, n_folds, fold_size):
    """Eigenvalues of the covariance matrix, by formula (Lemma 7). Cost O(1)."""
    n = n_folds * fold_size
    inside = sigma2 + (fold_size - 1) * omega
    values = np.array([sigma2 - omega, inside - fold_size * gamma, inside + (n - fold_size) * gamma])
    return BlockSpectrum(values, np.array([n - n_folds, n_folds - 1, 1]))


def variance_contributions(sigma2, omega, gamma, *, n_folds, fold_size):
    """What the three numbers contribute to the variance of the mean of all errors (Corollary 3, (7)). Cost O(1)."""
    n = n_folds * fold_size
    return np.array([sigma2, (fold_size - 1) * omega, (n - fold_size) * gamma]) / n


def block_statistics(errors):
    """The three quadratic statistics of the errors, and the two eigenvalues that they estimate (12). Cost O(n)."""
    errors = check_errors(errors)
    centre = errors.mean()
    # About the mean, where differences lose no digits; each of the three grows by the square of the mean.
    centred = pair_means((errors - centre)[None])[0]
    s1, s2, s3 = centred
    fold_size = errors.shape[1]
    inside = s1 + (fold_size - 1) * s2 if fold_size > 1 else s1
    return BlockStatistics(*map(float, (*(centred + centre**2), s1 - s2, inside - fold_size * s3)))


def unbiased_equations(*, n_folds, fold_size):
    """The four equations of an unbiased estimate of the variance, which contradict each other (Theorem 6, (14))."""
    n = n_folds * fold_size
    matrix = np.vstack([np.eye(3), np.ones(3)])
    target = np.array([1.0, fold_size - 1.0, n - fold_size, 0.0]) / n
    if fold_size == 1:
        matrix[:, 1] = 0.0
    nearest = np.linalg.lstsq(matrix, target, rcond=None)[0]
    return UnbiasedEquations(matrix, target, nearest, float(np.linalg.norm(matrix @ nearest - target)))


def admissible_gamma(sigma2, omega, *, n_folds, fold_size):
    """The values that gamma can take, given the other two (Lemma 8). Cost O(1)."""
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
