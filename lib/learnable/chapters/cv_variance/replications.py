"""Many data sets at once: the three numbers, the bias of the estimates, the coverage of the intervals.

Least squares needs no refitting: with the hat matrix H of all examples and the residuals r, the errors of a fold T that
was left out are (I - H_TT)^-1 r_T, so one factorisation of each data set gives all folds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from learnable.chapters.cv_variance.blocks import pair_means, variance_contributions
from learnable.chapters.cv_variance.theory import estimates
from learnable.validation import Result, check_rng


@dataclass(frozen=True)
class VarianceComponents(Result):
    """The three numbers, seen over many data sets; made by `variance_components`."""

    mean: float
    sigma2: float
    omega: float
    gamma: float
    standard_errors: np.ndarray
    variance: float
    contributions: np.ndarray
    naive: float
    fold_means: float
    corrected: float


def kfold_residuals(X, y, *, n_folds, alpha=0.0):
    """Prediction errors y - x'b of least squares or ridge regression when a fold is left out, without refitting."""
    X = np.asarray(X, dtype=float)
    y = np.asarray(y, dtype=float)
    n, d = X.shape[-2:]
    fold_size = n // n_folds
    stacked = X.reshape(-1, n, d)
    out = np.empty((len(stacked), n_folds, fold_size))
    step = max(1, 2_000_000 // (n * d))  # pieces that stay in the cache
    for first in range(0, len(stacked), step):
        piece = slice(first, first + step)
        out[piece] = _residuals(stacked[piece], y.reshape(-1, n)[piece], n_folds, alpha)
    return out.reshape(*X.shape[:-2], n_folds, fold_size)


def variance_components(errors):
    """The variance of cross-validation and its three parts, from independent data sets (7). Cost O(B n)."""
    errors = _stack(errors)
    count, n_folds, fold_size = errors.shape
    mean = errors.mean()
    pairs = pair_means(errors - mean)
    share = count / (count - 1)
    sigma2, omega, gamma = share * pairs.mean(axis=0)
    parts = variance_contributions(
        sigma2, 0.0 if np.isnan(omega) else omega, gamma, n_folds=n_folds, fold_size=fold_size
    )
    return VarianceComponents(
        mean=float(mean),
        sigma2=float(sigma2),
        omega=float(omega),
        gamma=float(gamma),
        standard_errors=pairs.std(axis=0, ddof=1) / np.sqrt(count),
        variance=float(errors.mean(axis=(1, 2)).var(ddof=1)),
        contributions=parts,
        **{name: float(estimates(errors, name).mean()) for name in ("naive", "fold_means", "corrected")},
    )


def interval_coverage(errors, truth, *, method="corrected", level=0.95):
    """How often an interval around the cross-validated mean holds the truth, over independent data sets. Cost O(B
    n).
    """
    errors = _stack(errors)
    law = stats.norm if method == "naive" else stats.t(errors.shape[1] - 1)
    half = law.ppf(0.5 + level / 2) * np.sqrt(estimates(errors, method))
    return float(np.mean(np.abs(errors.mean(axis=(1, 2)) - truth) <= half))


def draw_regression(n_sets, n, *, n_features=30, outlier_share=0.0, random_state=None):
    """Draw the data sets of Experiments 1 and 2: a linear law with R^2 of about 3/4, with or without outliers."""
    rng = check_rng(random_state)
    X = rng.standard_normal((n_sets, n, n_features))
    noise = rng.standard_normal((n_sets, n))
    scale = 1.0 + 99.0 * outlier_share  # the mean square of the factor 1 or 10
    if outlier_share:
        factor = np.where(rng.random((n_sets, n)) < outlier_share, 10.0, 1.0)
        X *= factor[..., None]
        noise *= factor
    return X, (np.sqrt(3.0 / n_features) * X.sum(axis=-1) + noise) / np.sqrt(scale)


def _stack(errors):
    errors = np.asarray(errors, dtype=float)
    return errors


def _residuals(X, y, n_folds, alpha):
    """Residuals of a stack, by an orthonormal basis of the columns; ridge adds the rows sqrt(alpha) I with target 0."""
    count, n, d = X.shape
    fold_size = n // n_folds
    if alpha:
        rows = np.broadcast_to(np.sqrt(alpha) * np.eye(d), (count, d, d))
        X = np.concatenate([X, rows], axis=1)
    Q, R = np.linalg.qr(X)
    # What a column adds to those before it, beside its own length: no unit enters.
    if (np.abs(np.diagonal(R, axis1=1, axis2=2)) <= 1e-10 * np.linalg.norm(R, axis=1)).any():
        raise ValueError("the columns of X are linearly dependent; take alpha > 0 or leave a column out")
    Q = Q[:, :n]
    fitted = Q @ (np.swapaxes(Q, 1, 2) @ y[..., None])
    r = (y[..., None] - fitted).reshape(count, n_folds, fold_size, 1)
    Q = Q.reshape(count, n_folds, fold_size, d)
    Qt = np.swapaxes(Q, 2, 3)
    # (I - Q Q')^-1 r, in whichever of the two spaces is smaller.
    if fold_size <= d:
        return (_inverse(np.eye(fold_size) - Q @ Qt) @ r)[..., 0]
    return (r + Q @ (_inverse(np.eye(d) - Qt @ Q) @ (Qt @ r)))[..., 0]


def _inverse(matrices):
    """Inverses of matrices with eigenvalues in (0, 1]; one near 0 means that the other folds lack a direction."""
    try:
        found = np.linalg.inv(matrices)
    except np.linalg.LinAlgError:
        found = None
    if found is None or np.abs(found).max(initial=0.0) > 1e10:
        raise ValueError("the columns of X are linearly dependent once a fold is left out; take alpha > 0")
    return found
