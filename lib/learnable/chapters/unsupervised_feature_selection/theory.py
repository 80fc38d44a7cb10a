"""The likelihood as a criterion and its bias for dimensions; merging clusters; k-means with a search for k."""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

from learnable.latent.mixture import _em
from learnable.latent.mixture.gaussian import MixtureFit, _centres, check_table, m_step
from learnable.latent.mixture.order import _merge_costs, _merged, search_kmeans
from learnable.validation import (
    check_finite_array,
    check_probability_vector,
    check_rng,
    warn_not_converged,
)


def ml_criterion(X, memberships, *, reg_covar=1e-6):
    """Log-likelihood of the Gaussian mixture that memberships give after one M-step (Dy and Brodley 2004, (10))."""
    return m_step(X, memberships, reg_covar=reg_covar).log_likelihood


def complete_likelihood(X, memberships):
    """Expected complete log-likelihood Q and entropy H of the memberships (Dy and Brodley 2004, Lemma B.1, (16))."""
    fit = m_step(X, memberships)
    n, d = len(fit.memberships), fit.means.shape[1]
    logdet = np.linalg.slogdet(fit.covariances)[1]
    Q = n * fit.weights @ (np.log(fit.weights) - 0.5 * d * np.log(2 * np.pi * np.e) - 0.5 * logdet)
    return float(Q), float(-xlogy(fit.memberships, fit.memberships).sum()) + 0.0


def dimension_bias(covariances, weights, n_kept):
    """How much ML prefers the first features to all of them although the clusters are the same (Theorem 4.1)."""
    weights = check_probability_vector(weights, "weights")
    covariances = np.asarray(covariances, dtype=float)
    d = covariances.shape[1]
    sign, logdet = np.linalg.slogdet(covariances)
    sign_kept, kept = np.linalg.slogdet(covariances[:, :n_kept, :n_kept])
    if (sign <= 0).any() or (sign_kept <= 0).any():
        raise ValueError("covariances must be positive definite")
    return float(0.5 * ((d - n_kept) * np.log(2 * np.pi * np.e) + weights @ (logdet - kept)))


def initial_centres(X, n_components, *, init="refined", random_state=None):
    """Centres to start from: k-means once, random observations, or the refinement over subsamples."""
    X = check_table(X, constant=True)
    return _centres(_em.columns_first(X), n_components, init, check_rng(random_state))


def merge_components(weights, means, covariances, first, second):
    """One Gaussian in place of two, with the same mean and covariance (Dy and Brodley 2004, Sec. 3). Cost O(k d^2)."""
    mixture = _checked_mixture(weights, means, covariances)
    k = len(mixture.weights)
    w, m, c = _merged(mixture, min(first, second), max(first, second))
    return MixtureFit(w, m, c, np.zeros((0, k - 1)), np.nan, np.zeros(0), 0, True, 0.0)


def merge_costs(weights, means, covariances, n, *, mixing=False):
    """Loss of log-likelihood when two clusters become one, approximated for every pair without the data."""
    mixture = _checked_mixture(weights, means, covariances)
    costs = _merge_costs(mixture, n)
    if mixing:
        total = mixture.weights[:, None] + mixture.weights
        own = mixture.weights * np.log(mixture.weights)
        costs += n * (own[:, None] + own - total * np.log(total))
    return costs


def kmeans_k(X, n_components, *, find_k=True, init="random", n_restarts=10, max_iter=100, random_state=None):
    """k-means with the number of clusters that a spherical BIC prefers (after Pelleg and Moore 2000)."""
    X = check_table(X)
    found = search_kmeans(X, (n_components, find_k), (init, n_restarts), max_iter, check_rng(random_state))
    if not found.converged:
        warn_not_converged("kmeans_k", found.n_iter, None, None)
    return found


def _checked_mixture(weights, means, covariances):
    weights = check_probability_vector(weights, "weights")
    k = len(weights)
    means = check_finite_array(means, "means", ndim=2)
    covariances = check_finite_array(covariances, "covariances", ndim=3)
    if len(means) != k:
        raise ValueError(f"means must have a row for each of the {k} weights, got shape {means.shape}")
    if covariances.shape != (k, means.shape[1], means.shape[1]):
        raise ValueError(f"covariances must have shape {(k, means.shape[1], means.shape[1])}, got {covariances.shape}")
    if (weights <= 0).any():
        raise ValueError("weights must be positive")
    try:
        np.linalg.cholesky(covariances)
    except np.linalg.LinAlgError:
        raise ValueError("covariances must be positive definite") from None
    return _em.Mixture(weights, means, covariances)
