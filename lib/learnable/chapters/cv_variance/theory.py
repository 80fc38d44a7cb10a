"""Estimators of the variance of cross-validation, their expectations, and the optimism of a fold."""

from __future__ import annotations

import numpy as np

from learnable.chapters.cv_variance.blocks import block_eigenvalues, check_errors
from learnable.selection.fold_errors import _Data
from learnable.validation import check_rng


def jackknife_errors(estimator, X, y, *, n_folds=10, loss="auto", random_state=None):
    """Terms whose mean is the jackknife estimate of the prediction error (Sec. 2.5, (6)). Cost: `n_folds` + 1 fits."""
    data = _Data(X, y, n_folds, random_state, loss)
    losses, whole = data.all_losses(estimator)
    own = np.arange(data.n) // data.fold_size
    trained_with = losses.sum(axis=0) - losses[own, np.arange(data.n)]
    return (n_folds * whole - trained_with).reshape(n_folds, data.fold_size)


def optimism(estimator, X, y, *, n_folds=10, loss="auto", random_state=None):
    """By how much the training error is too small, estimated by the jackknife (5). Cost: `n_folds` + 1 fits."""
    data = _Data(X, y, n_folds, random_state, loss)
    losses, whole = data.all_losses(estimator)
    own = np.arange(data.n) // data.fold_size
    trained = losses.sum() - losses[own, np.arange(data.n)].sum()
    return float((n_folds - 1) * (trained / (n_folds * (data.n - data.fold_size)) - whole.mean()))


def variance_estimate(errors, method="naive", *, n_bootstrap=200, random_state=None):
    """Estimate the variance of the mean of cross-validated errors. Cost O(n), O(n n_bootstrap) for the bootstrap."""
    errors = check_errors(errors)
    rng = check_rng(random_state)
    if method == "bootstrap":
        drawn = rng.choice(errors.ravel() - errors.mean(), size=(n_bootstrap, errors.size))
        return float(drawn.mean(axis=1).var(ddof=1))
    return float(estimates(errors[None], method)[0])


def expected_variance(sigma2, omega, gamma, method="naive", *, n_folds, fold_size):
    """What an estimate of the variance is on average, given the three numbers. Cost O(1)."""
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
