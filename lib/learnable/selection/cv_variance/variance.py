"""Estimates of the variance of a cross-validated score, and what each of them really estimates.

All of them are linear in the two eigenvalues that one data set shows (Bengio and Grandvalet 2004, Sec. 5), so their
expectations follow from the three numbers of the covariance matrix. None is unbiased for every law.
"""

from __future__ import annotations

from learnable.selection.cv_variance.blocks import block_eigenvalues, check_errors
from learnable.validation import check_choice, check_rng, check_scalar

__all__ = ["expected_variance", "variance_estimate"]

METHODS = ("naive", "fold_means", "corrected", "bootstrap")


def variance_estimate(errors, method="naive", *, n_bootstrap=200, random_state=None):
    """Estimate the variance of the mean of cross-validated errors. Cost O(n), O(n n_bootstrap) for the bootstrap.

    Parameters
    ----------
    errors : array-like of shape (K, m)
        One row for each fold.
    method : {"naive", "fold_means", "corrected", "bootstrap"}, default="naive"
        "naive" treats the n errors as independent: their variance over n (Bengio and Grandvalet 2004, Sec. 2.2).
        "fold_means" treats the K fold means as independent: their variance over K; its expectation is the truth minus
        gamma. "corrected" multiplies the variance of the fold means by 1/K + m/(n - m) instead of 1/K (Nadeau and
        Bengio 2003), as if the correlation of two folds were the share of the test examples. "bootstrap" draws the n
        errors again with replacement, and comes out like "naive".
    n_bootstrap : int, default=200
        Number of bootstrap samples.
    random_state : None, int or numpy.random.Generator, default=None
        Randomness of the bootstrap.

    Returns
    -------
    float
        The estimate.

    Examples
    --------
    >>> errors = [[1.0, 2.0], [3.0, 4.0]]
    >>> [round(variance_estimate(errors, method), 4) for method in ("naive", "fold_means", "corrected")]
    [0.4167, 1.0, 3.0]
    """
    errors = check_errors(errors)
    check_choice(method, "method", METHODS)
    rng = check_rng(random_state)
    if method == "bootstrap":
        n_bootstrap = check_scalar(n_bootstrap, "n_bootstrap", low=2, integer=True)
        drawn = rng.choice(errors.ravel() - errors.mean(), size=(n_bootstrap, errors.size))
        return float(drawn.mean(axis=1).var(ddof=1))
    return float(estimates(errors[None], method)[0])


def expected_variance(sigma2, omega, gamma, method="naive", *, n_folds, fold_size):
    """What an estimate of the variance is on average, given the three numbers. Cost O(1).

    Parameters
    ----------
    sigma2 : float
        Variance of an error.
    omega, gamma : float
        Covariance of two errors of the same fold, and of different folds.
    method : {"naive", "fold_means", "corrected", "true"}, default="naive"
        The estimate, as in `variance_estimate`; "true" is what all of them aim at.
    n_folds, fold_size : int
        K and m.

    Returns
    -------
    float
        The expectation.

    Examples
    --------
    >>> numbers = dict(sigma2=3.0, omega=2.0, gamma=1.0, n_folds=2, fold_size=2)
    >>> [round(expected_variance(method=m, **numbers), 3) for m in ("true", "naive", "fold_means")]
    [1.75, 0.417, 0.75]
    """
    check_choice(method, "method", ("naive", "fold_means", "corrected", "true"))
    spectrum = block_eigenvalues(sigma2, omega, gamma, n_folds=n_folds, fold_size=fold_size)
    first, second, third = spectrum.values
    n = n_folds * fold_size
    if method == "true":
        return float(third / n)
    if method == "naive":
        return float(((n - n_folds) * first + (n_folds - 1) * second) / (n * (n - 1)))
    return float(second / n) * (_correction(n_folds) if method == "corrected" else 1.0)


def estimates(errors, method):
    """The estimates of a stack of errors of shape (B, K, m)."""
    _, n_folds, fold_size = errors.shape
    n = n_folds * fold_size
    if method == "naive":
        return errors.reshape(len(errors), n).var(axis=1, ddof=1) / n
    between = errors.mean(axis=2).var(axis=1, ddof=1) / n_folds
    return between * _correction(n_folds) if method == "corrected" else between


def _correction(n_folds):
    """(1/K + m/(n - m)) over 1/K."""
    return 1.0 + n_folds / (n_folds - 1)
