"""Many data sets at once: the three numbers, the bias of the estimates, the coverage of the intervals.

Least squares needs no refitting: with the hat matrix H of all examples and the residuals r, the errors of a fold T that
was left out are (I - H_TT)^-1 r_T, so one factorisation of each data set gives all folds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from learnable.selection.cv_variance.blocks import pair_means, variance_contributions
from learnable.selection.cv_variance.variance import estimates
from learnable.validation import Result, check_choice, check_finite_array, check_magnitude, check_rng, check_scalar

__all__ = ["VarianceComponents", "draw_regression", "interval_coverage", "kfold_residuals", "variance_components"]


@dataclass(frozen=True)
class VarianceComponents(Result):
    """The three numbers, seen over many data sets; made by `variance_components`.

    Attributes
    ----------
    mean : float
        Mean of all errors: what cross-validation estimates.
    sigma2, omega, gamma : float
        Variance of an error, covariance within a fold and between folds; `omega` is NaN if folds have one example.
    standard_errors : ndarray of shape (3,)
        Of the three numbers, over the data sets.
    variance : float
        Variance of the cross-validated mean over the data sets.
    contributions : ndarray of shape (3,)
        Parts of `variance` that are due to the three numbers; they add up to it.
    naive, fold_means, corrected : float
        Means of these estimates of the variance over the data sets.
    """

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
    """Prediction errors y - x'b of least squares or ridge regression when a fold is left out, without refitting.

    Cost O(n d^2 + K min(m, d)^3) for each data set instead of K fits. There is no intercept, and folds are blocks of
    consecutive rows.

    Parameters
    ----------
    X : array-like of shape (n, d) or (B, n, d)
        One data set or a stack of them; n must be a multiple of `n_folds`.
    y : array-like of shape (n,) or (B, n)
        Targets.
    n_folds : int
        K; n for leave-one-out.
    alpha : float, default=0.0
        Penalty of the ridge regression, ||y - Xb||^2 + alpha ||b||^2.

    Returns
    -------
    ndarray of shape (K, m) or (B, K, m)
        The prediction errors, with their signs.

    Examples
    --------
    >>> kfold_residuals([[1.0], [1.0], [1.0], [1.0]], [0.0, 2.0, 4.0, 6.0], n_folds=2)
    array([[-5., -3.],
           [ 3.,  5.]])
    """
    X = check_magnitude(check_finite_array(X, "X"), "X")
    y = check_magnitude(check_finite_array(y, "y"), "y")
    if X.ndim not in (2, 3) or y.shape != X.shape[:-1]:
        raise ValueError(f"X must have shape (n, d) or (B, n, d) and y the same without d, got {X.shape} and {y.shape}")
    n, d = X.shape[-2:]
    n_folds = check_scalar(n_folds, "n_folds", low=2, integer=True)
    alpha = check_scalar(alpha, "alpha", low=0)
    if n == 0 or n % n_folds:
        raise ValueError(f"n_folds = {n_folds} must divide the number of rows, got {n}")
    fold_size = n // n_folds
    if alpha == 0 and n - fold_size < d:
        raise ValueError(
            f"least squares needs at least as many rows as columns in each training set, got {n - fold_size} rows and "
            f"{d} columns; take alpha > 0"
        )
    stacked = X.reshape(-1, n, d)
    out = np.empty((len(stacked), n_folds, fold_size))
    step = max(1, 2_000_000 // (n * d))  # pieces that stay in the cache
    for first in range(0, len(stacked), step):
        piece = slice(first, first + step)
        out[piece] = _residuals(stacked[piece], y.reshape(-1, n)[piece], n_folds, alpha)
    return out.reshape(*X.shape[:-2], n_folds, fold_size)


def variance_components(errors):
    """The variance of cross-validation and its three parts, from independent data sets (7). Cost O(B n).

    The parts add up to the variance exactly, because all are taken about the same mean.

    Parameters
    ----------
    errors : array-like of shape (B, K, m)
        Errors of B independent data sets, at least two.

    Returns
    -------
    VarianceComponents
        The numbers, with the means of three estimates of the variance.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> shift = rng.normal(size=(20_000, 1, 1))                  # the same for all errors of a data set
    >>> found = variance_components(shift + rng.normal(size=(20_000, 5, 4)))
    >>> round(found.sigma2, 1), round(found.omega, 1), round(found.gamma, 1)
    (2.0, 1.0, 1.0)
    >>> bool(found.naive < 0.2 * found.variance)
    True
    """
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
    """How often an interval around the cross-validated mean holds the truth, over independent data sets. Cost O(B n).

    Parameters
    ----------
    errors : array-like of shape (B, K, m)
        Errors of B independent data sets.
    truth : float
        What the mean estimates: the expected error of a rule trained with n - m examples.
    method : {"naive", "fold_means", "corrected"}, default="corrected"
        The estimate of the variance, as in `variance_estimate`. The half-width is a quantile of the normal law for
        "naive", and of Student's with K - 1 degrees of freedom for the others, times the root of the estimate.
    level : float, default=0.95
        Nominal level.

    Returns
    -------
    float
        The share of the data sets whose interval holds `truth`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> errors = rng.normal(size=(4000, 10, 6))                  # independent: here the naive interval is right
    >>> round(interval_coverage(errors, 0.0, method="naive"), 2)
    0.94
    """
    errors = _stack(errors)
    truth = check_scalar(truth, "truth")
    check_choice(method, "method", ("naive", "fold_means", "corrected"))
    level = check_scalar(level, "level", low=0, high=1, closed="neither")
    law = stats.norm if method == "naive" else stats.t(errors.shape[1] - 1)
    half = law.ppf(0.5 + level / 2) * np.sqrt(estimates(errors, method))
    return float(np.mean(np.abs(errors.mean(axis=(1, 2)) - truth) <= half))


def draw_regression(n_sets, n, *, n_features=30, outlier_share=0.0, random_state=None):
    """Draw the data sets of Experiments 1 and 2: a linear law with R^2 of about 3/4, with or without outliers.

    An outlier has ten times the standard deviation in every feature and in the noise; the coefficients and the noise
    are scaled so that the variances of the target's two parts are 3 and 1 whatever the share. Cost O(n_sets n d).

    Parameters
    ----------
    n_sets, n : int
        Number of data sets and of examples in each.
    n_features : int, default=30
        d.
    outlier_share : float, default=0.0
        Probability of an outlier; the source takes 0.05.
    random_state : None, int or numpy.random.Generator, default=None
        Randomness.

    Returns
    -------
    X : ndarray of shape (n_sets, n, n_features)
        Features.
    y : ndarray of shape (n_sets, n)
        Targets.

    Examples
    --------
    >>> X, y = draw_regression(3, 50, random_state=0)
    >>> X.shape, y.shape
    ((3, 50, 30), (3, 50))
    """
    n_sets = check_scalar(n_sets, "n_sets", low=1, integer=True)
    n = check_scalar(n, "n", low=1, integer=True)
    n_features = check_scalar(n_features, "n_features", low=1, integer=True)
    outlier_share = check_scalar(outlier_share, "outlier_share", low=0, high=1)
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
    errors = check_magnitude(check_finite_array(errors, "errors", ndim=3), "errors")
    if errors.shape[0] < 2 or errors.shape[1] < 2 or errors.shape[2] < 1:
        raise ValueError(f"errors must have shape (B, K, m) with B, K at least 2 and m at least 1, got {errors.shape}")
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
