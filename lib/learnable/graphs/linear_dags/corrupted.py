r"""Covariances from data with missing entries or additive noise (Loh and Bühlmann 2014, Sec. 5.3).

Everything the method needs of the data is one matrix that estimates the covariance. So a corruption of a known kind is
undone in that matrix, and nothing else changes.
"""

from __future__ import annotations

import numpy as np

from learnable.graphs.linear_dags.local_scores import check_covariance
from learnable.validation import check_bool, check_finite_array, check_scalar, check_symmetric


def corrected_covariance(X, *, missing_rate=None, noise_covariance=None, center=True):
    """Unbiased estimate of the covariance of data of which entries are missing or which carry additive noise. O(n p²).

    Missing entries (NaN) are filled by zeros after centring, which shrinks a variance by the factor 1 - α and a
    covariance by (1 - α_i)(1 - α_j); the estimate divides by these (Loh and Bühlmann 2014, (31), here with a rate for
    each variable). Means of N_i and N_j observed entries, N_ij of them in common rows, shrink it once more, by
    1 - 1/N_i - 1/N_j + N_ij/(N_i N_j), which is 1 - 1/n for complete data; this is undone too. Known noise is
    subtracted (30). The result may have negative eigenvalues: see :func:`nearest_covariance`.

    Parameters
    ----------
    X : array-like of shape (n, p)
        NaN marks what is missing, which must not depend on the values. Every pair of columns must be observed together
        in some row: of the others the data do not tell the covariance.
    missing_rate : float or array-like of shape (p,), optional
        Probabilities that an entry is missing; by default they are estimated by the shares of NaN.
    noise_covariance : float, array-like of shape (p,) or (p, p), optional
        Covariance of the additive noise: a matrix, its diagonal, or one variance for all.
    center : bool, default=True
        Subtract the means of what was observed; otherwise the means are taken to be zero.

    Returns
    -------
    ndarray of shape (p, p)

    Examples
    --------
    >>> X = np.array([[1.0, 2.0], [np.nan, 0.0], [-1.0, -2.0], [np.nan, 0.0]])
    >>> corrected_covariance(X, center=False).tolist()
    [[1.0, 2.0], [2.0, 2.0]]
    """
    X = _check_table(X)
    n, p = X.shape
    seen = ~np.isnan(X)
    if missing_rate is None:
        rate = 1.0 - seen.mean(axis=0)
    else:
        rate = check_finite_array(missing_rate, "missing_rate")
        if rate.shape not in ((), (p,)) or rate.min() < 0 or rate.max() >= 1:
            raise ValueError(f"missing_rate must be one number or {p} numbers in [0, 1)")
        rate = np.broadcast_to(rate, p)
    together = _seen_together(seen)
    filled = np.where(seen, X, 0.0)
    rows = n
    if check_bool(center, "center"):
        own = np.diagonal(together)
        filled = np.where(seen, X - filled.sum(axis=0) / own, 0.0)
        # n times the shrinkage by the means, in an order of terms that gives n - 1 exactly for complete data.
        rows = n - n / own[:, None] - n / own + n * together / np.multiply.outer(own, own)
    moments = filled.T @ filled / rows
    keep = 1.0 - rate
    correction = np.multiply.outer(keep, keep)
    np.fill_diagonal(correction, keep)
    return moments / correction - _noise(noise_covariance, p)


def nearest_covariance(matrix, *, min_eigenvalue=1e-4):
    """The nearest matrix, in the Frobenius norm of correlations, with no eigenvalue below a bound. O(p³).

    A corrected covariance may have negative eigenvalues, for which the graphical lasso and the scores are not defined.
    A matrix that has none below the bound comes back unchanged.

    Parameters
    ----------
    matrix : array-like of shape (p, p)
        Symmetric, with a positive diagonal.
    min_eigenvalue : float, default=1e-4
        On the scale of correlations.

    Returns
    -------
    ndarray of shape (p, p)

    Examples
    --------
    >>> fixed = nearest_covariance([[1.0, 1.5], [1.5, 1.0]])
    >>> bool(np.linalg.eigvalsh(fixed).min() > 0), fixed.round(2).tolist()
    (True, [[1.25, 1.25], [1.25, 1.25]])
    """
    matrix = check_symmetric(matrix, "matrix")
    bound = check_scalar(min_eigenvalue, "min_eigenvalue", low=0, high=1)
    scale = np.sqrt(np.maximum(np.diagonal(matrix), 0.0))
    if scale.min() <= 0:
        raise ValueError("matrix must have a positive diagonal: more noise was subtracted than there is variance")
    correlation = matrix / scale[:, None] / scale
    values, vectors = np.linalg.eigh(correlation)
    if values[0] >= bound:
        return matrix
    repaired = (vectors * np.maximum(values, bound)) @ vectors.T
    return 0.5 * (repaired + repaired.T) * scale[:, None] * scale


def _check_table(X):
    try:
        X = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("X must be an array of real numbers, with NaN where an entry is missing") from None
    if X.ndim != 2 or X.shape[0] < 2 or X.shape[1] < 1:
        raise ValueError(f"X must have two dimensions, at least two rows and a column, got shape {X.shape}")
    if np.isinf(X).any() or np.nanmax(np.abs(X), initial=0.0) > 1e70:
        raise ValueError("X must have finite entries below 1e70, or NaN where an entry is missing")
    if (~np.isnan(X)).sum(axis=0).min() < 2:
        raise ValueError("X must have at least two observed entries in each column")
    return X


def _seen_together(seen):
    """In how many rows each pair of columns is observed; a pair that never is has no covariance to be estimated."""
    seen = seen.astype(float)
    together = seen.T @ seen
    if together.min() == 0:
        i, j = (int(v) for v in np.argwhere(together == 0)[0])
        raise ValueError(
            f"X must have a row in which columns {i} and {j} are both observed: of columns never seen together "
            "the data do not tell the covariance"
        )
    return together


def _noise(noise_covariance, p):
    if noise_covariance is None:
        return 0.0
    noise = check_finite_array(noise_covariance, "noise_covariance")
    if noise.ndim == 2:
        noise = check_covariance(noise, "noise_covariance")
    if noise.shape not in ((), (p,), (p, p)) or np.min(noise if noise.ndim < 2 else np.diagonal(noise)) < 0:
        raise ValueError(f"noise_covariance must be a variance, {p} variances, or a matrix of shape {(p, p)}")
    return noise if noise.ndim == 2 else np.diag(np.broadcast_to(noise, p))
