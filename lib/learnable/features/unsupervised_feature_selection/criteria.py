"""Two notions of an interesting clustering, their bias in the dimension, the cure (Dy and Brodley 2004, Sec. 2.3-5).

A criterion takes a table X, restricted to a subset of the features, and memberships Z of any origin: those found in
the same subset, or *projected* memberships that were found in another one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy

from learnable.features.unsupervised_feature_selection import _em
from learnable.features.unsupervised_feature_selection.mixture import check_memberships, check_table, m_step
from learnable.validation import Result, check_choice, check_finite_array, check_probability_vector, check_scalar

__all__ = [
    "CrossProjection",
    "complete_likelihood",
    "cross_projection",
    "dimension_bias",
    "ml_criterion",
    "normalized_values",
    "trace_criterion",
]

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
    return _trace(_em.columns_first(X - X.mean(axis=0)), check_memberships(memberships, len(X)))


def ml_criterion(X, memberships, *, reg_covar=1e-6):
    """Log-likelihood of the Gaussian mixture that memberships give after one M-step (Dy and Brodley 2004, (10)).

    This is sum_i log sum_j pi_j N(x_i; mu_j, Sigma_j) itself, also for memberships that come from another subset.
    The shortcut Q + H, see `complete_likelihood`, is smaller then. Cost O(N k d^2).

    Parameters
    ----------
    X : array-like of shape (N, d)
        The data in the features of the subset.
    memberships : array-like of shape (N, k)
        Share of each cluster in each observation; rows sum to one.
    reg_covar : float, default=1e-6
        Share of each feature's variance that is added to the variances.

    Returns
    -------
    float
        The log-likelihood; infinite if a cluster has no scatter in some feature and `reg_covar` is 0.

    Examples
    --------
    >>> Z = np.array([[1, 0], [1, 0], [0, 1], [0, 1]])
    >>> round(ml_criterion([[0.0], [2.0], [10.0], [12.0]], Z), 3)
    -8.448
    """
    return m_step(X, memberships, reg_covar=reg_covar).log_likelihood


def complete_likelihood(X, memberships):
    """Expected complete log-likelihood Q and entropy H of the memberships (Dy and Brodley 2004, Lemma B.1, (16)).

    Q = sum_j N pi_j [log pi_j - (d/2) log(2 pi e) - log|Sigma_j| / 2]. Q + H equals the log-likelihood if the
    memberships are the posterior probabilities of the parameters, at a fixed point of EM, and is smaller for others.
    Cost O(N k d^2).

    Parameters
    ----------
    X : array-like of shape (N, d)
        The data in the features of the subset.
    memberships : array-like of shape (N, k)
        Share of each cluster in each observation; rows sum to one.

    Returns
    -------
    tuple of float
        Q and H.

    Examples
    --------
    >>> Z = np.array([[1, 0], [1, 0], [0, 1], [0, 1]])
    >>> Q, H = complete_likelihood([[0.0], [2.0], [10.0], [12.0]], Z)
    >>> round(Q, 3), H
    (-8.448, 0.0)
    """
    fit = m_step(X, memberships)
    n, d = len(fit.memberships), fit.means.shape[1]
    logdet = np.linalg.slogdet(fit.covariances)[1]
    Q = n * fit.weights @ (np.log(fit.weights) - 0.5 * d * np.log(2 * np.pi * np.e) - 0.5 * logdet)
    return float(Q), float(-xlogy(fit.memberships, fit.memberships).sum()) + 0.0


def dimension_bias(covariances, weights, n_kept):
    """How much ML prefers the first features to all of them although the clusters are the same (Theorem 4.1).

    With equal memberships, the log-likelihood per observation (by Q + H) of the first `n_kept` features minus that of
    all d is (1/2) [(d - n_kept) log(2 pi e) + sum_j pi_j log(|Sigma_j| / |Sigma_j,kept|)]. The ratio of determinants is
    that of the conditional covariance of the rest, so features whose conditional variance is above
    1/(2 pi e) = 0.0585 lower the likelihood and others raise it, whatever they say about clusters. Cost O(k d^3).

    Parameters
    ----------
    covariances : array-like of shape (k, d, d)
        Covariances of the clusters in all features.
    weights : array-like of shape (k,)
        Mixing proportions.
    n_kept : int
        Number of features of the smaller subset, which come first.

    Returns
    -------
    float
        Positive if ML prefers the smaller subset, negative if it prefers the larger one.

    Examples
    --------
    >>> covariances = [np.diag([1.0, 0.07])]
    >>> round(dimension_bias(covariances, [1.0], 1), 3)
    0.089
    >>> round(dimension_bias([np.diag([1.0, 0.05])], [1.0], 1), 3)
    -0.079
    """
    weights = check_probability_vector(weights, "weights")
    covariances = check_finite_array(covariances, "covariances", ndim=3)
    d = covariances.shape[1]
    if covariances.shape != (len(weights), d, d):
        raise ValueError(f"covariances must have a square matrix for each of the {len(weights)} weights")
    n_kept = check_scalar(n_kept, "n_kept", low=0, high=d, integer=True)
    sign, logdet = np.linalg.slogdet(covariances)
    sign_kept, kept = np.linalg.slogdet(covariances[:, :n_kept, :n_kept])
    if (sign <= 0).any() or (sign_kept <= 0).any():
        raise ValueError("covariances must be positive definite")
    return float(0.5 * ((d - n_kept) * np.log(2 * np.pi * np.e) + weights @ (logdet - kept)))


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
        check_memberships(memberships_first, len(X), "memberships_first"),
        check_memberships(memberships_second, len(X), "memberships_second"),
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
