"""Two notions of an interesting clustering, their bias in the dimension, the cure (Dy and Brodley 2004, Sec. 2.3-5).

A criterion takes a table X, restricted to a subset of the features, and memberships Z of any origin: those found in
the same subset, or *projected* memberships that were found in another one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from learnable.latent.mixture import _em
from learnable.latent.mixture.gaussian import SHARES, check_table, m_step
from learnable.validation import Result, check_choice, check_finite_array, check_probability_rows, check_scalar

CRITERIA = ("trace", "ml")
RANK = 1e-10  # directions in which the clusters have less than this share of the largest scatter count as none


@dataclass(frozen=True, eq=False)
class CrossProjection(Result):
    """Two subsets compared by what each one's clusters are worth in both.

    Attributes
    ----------
    table : ndarray of shape (2, 2)
        ``table[s, c]`` is the criterion in subset s with the clusters found in subset c.
    values : ndarray of shape (2,)
        Normalised value of each subset's clusters: product (trace) or sum (log-likelihood) of a column.
    winner : int
        0 or 1; the subset with fewer features if the values are equal.
    """

    table: np.ndarray
    values: np.ndarray
    winner: int


def trace_criterion(X, memberships):
    """Scatter separability tr(S_w^-1 S_b) (Dy and Brodley 2004, (1)-(3)).

    S_w is the average covariance of the clusters and S_b the covariance of their means, both weighted by the clusters'
    shares. No nonsingular linear map of the features changes it. In directions in which no cluster scatters
    the between-cluster scatter counts as nothing if it is zero too, and makes the value infinite otherwise.
    Cost O(N k d^2).

    Parameters
    ----------
    X : array-like of shape (N, d)
        The data in the features of the subset.
    memberships : array-like of shape (N, k)
        Share of each cluster in each observation; rows sum to one.

    Returns
    -------
    float
        Not negative; 0 for one cluster.

    Examples
    --------
    >>> Z = np.array([[1, 0], [1, 0], [0, 1], [0, 1]])
    >>> trace_criterion([[0.0], [2.0], [10.0], [12.0]], Z)
    25.0
    """
    X = check_table(X, constant=True)
    Z = check_probability_rows(memberships, "memberships", rows=len(X), tol=SHARES)
    return _trace(_em.columns_first(X - X.mean(axis=0)), Z)


def normalized_values(table, criterion="trace"):
    """Combine the four criteria of two subsets and two clusterings (Dy and Brodley 2004, Sec. 5).

    Each clustering is judged in both subsets: by the product for the trace, which is not negative, and by the sum for
    log-likelihoods, whose signs a product would confuse. Cost O(1).

    Parameters
    ----------
    table : array-like of shape (2, 2)
        ``table[s][c]`` is the criterion in subset s with the clusters found in subset c.
    criterion : {"trace", "ml"}, default="trace"
        What the table holds.

    Returns
    -------
    ndarray of shape (2,)
        Value of the clusters found in the first and in the second subset.

    Examples
    --------
    >>> normalized_values([[6.094, 7.358], [6.853, 9.390]]).round(2)
    array([41.76, 69.09])
    >>> normalized_values([[-146.7, -146.6], [-337.2, -279.4]], "ml").round(1)
    array([-483.9, -426. ])
    """
    check_choice(criterion, "criterion", CRITERIA)
    table = np.asarray(table, dtype=float)
    if table.shape != (2, 2) or np.isnan(table).any():
        raise ValueError("table must be a 2 x 2 array without NaN")
    if criterion == "ml":
        return table[0] + table[1]
    if (table < 0).any():
        raise ValueError("table must not be negative when it holds traces")
    with np.errstate(invalid="ignore"):
        product = table[0] * table[1]
    return np.where(np.isnan(product), 0.0, product)  # no separation in one subset outweighs any in the other


def cross_projection(X, first, memberships_first, second, memberships_second, *, criterion="trace", reg_covar=1e-6):
    """Compare two subsets of the features, each with its own clusters (Dy and Brodley 2004, Sec. 5).

    Each clustering is evaluated in both subsets, so that every comparison is made between numbers of one dimension.
    If both subsets lead to the same clusters the values are equal (their Proposition 1) and the smaller subset wins.
    Cost O(N k d^2).

    Parameters
    ----------
    X : array-like of shape (N, D)
        The data in all features.
    first, second : sequence of int
        Columns of the two subsets.
    memberships_first : array-like of shape (N, k1)
        The clusters found in the first subset.
    memberships_second : array-like of shape (N, k2)
        The clusters found in the second one.
    criterion : {"trace", "ml"}, default="trace"
        What to compare.
    reg_covar : float, default=1e-6
        For ``"ml"``: share of each feature's variance that is added to the variances.

    Returns
    -------
    CrossProjection
        The four numbers, the two values and the winner.

    Examples
    --------
    >>> X = np.array([[0.0, 1.0], [2.0, 0.0], [10.0, 0.0], [12.0, 1.0]])
    >>> Z = np.array([[1, 0], [1, 0], [0, 1], [0, 1]])
    >>> result = cross_projection(X, [0, 1], Z, [0], Z)
    >>> result.values, result.winner
    (array([625., 625.]), 1)
    """
    X = check_table(X, constant=True)
    subsets = [check_features(s, X.shape[1], name) for s, name in ((first, "first"), (second, "second"))]
    check_choice(criterion, "criterion", CRITERIA)
    reg_covar = check_scalar(reg_covar, "reg_covar", low=0, high=1)
    Z = [
        check_probability_rows(memberships_first, "memberships_first", rows=len(X), tol=SHARES),
        check_probability_rows(memberships_second, "memberships_second", rows=len(X), tol=SHARES),
    ]
    return compare_subsets(X, subsets, Z, criterion, reg_covar)


def compare_subsets(X, subsets, Z, criterion, reg_covar):
    """`cross_projection` on checked arguments."""
    table = np.array([[evaluate(X[:, s], z, criterion, reg_covar) for z in Z] for s in subsets])
    values = normalized_values(table, criterion)
    smaller = int(len(subsets[1]) < len(subsets[0]))
    winner = smaller if values[0] == values[1] else int(values[1] > values[0])
    return CrossProjection(table, values, winner)


def evaluate(X, Z, criterion, reg_covar):
    """A criterion by its name."""
    if criterion == "ml":
        return m_step(X, Z, reg_covar=reg_covar).log_likelihood
    return _trace(_em.columns_first(X - X.mean(axis=0)), Z)


def check_features(features, n_features, name):
    """Different column numbers as an array."""
    columns = check_finite_array(features, name, ndim=1)
    if len(columns) == 0 or (columns % 1 != 0).any() or columns.min() < 0 or columns.max() >= n_features:
        raise ValueError(f"{name} must hold column numbers from 0 to {n_features - 1}, at least one")
    if len(np.unique(columns)) < len(columns):
        raise ValueError(f"{name} must hold different columns")
    return columns.astype(int)


def _trace(XT, Z):
    weights, means, covariances = _em.weighted_moments(XT, Z)
    within = np.tensordot(weights, covariances, axes=1)
    dx = means - weights @ means
    between = (dx * weights[:, None]).T @ dx
    spread = np.sqrt(np.diagonal(within) + np.diagonal(between))
    if not spread.any():
        return 0.0
    # in units of each feature, so that what counts as no scatter does not depend on them; powers of two round nothing
    spread = np.exp2(np.round(np.log2(np.where(spread > 0, spread, 1.0))))
    values, vectors = np.linalg.eigh(within / np.outer(spread, spread))
    across = np.einsum("ai,ab,bi->i", vectors, between / np.outer(spread, spread), vectors)
    flat = values <= RANK * max(values.max(), RANK)
    if (across[flat] > np.sqrt(RANK)).any():
        return np.inf
    return float((across[~flat] / values[~flat]).sum())
