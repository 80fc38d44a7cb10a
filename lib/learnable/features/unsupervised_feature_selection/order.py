"""How many clusters: merge pairs and keep the best penalised likelihood (Dy and Brodley 2004, Sec. 3, after Bouman).

EM begins with more clusters than can be needed. The pair whose union costs least becomes one cluster with the same
first two moments, EM goes on from there, and so on down to one cluster. The fit with the largest
F(k) = log f(X) - (L/2) log N is kept. Only the first of these runs needs a start of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from learnable.features.unsupervised_feature_selection import _em
from learnable.features.unsupervised_feature_selection.mixture import (
    INITS,
    MixtureFit,
    _centres,
    best_run,
    check_flag,
    check_table,
    em_rules,
    finished,
    one_hot,
)
from learnable.validation import (
    Result,
    check_choice,
    check_finite_array,
    check_probability_vector,
    check_rng,
    check_scalar,
    warn_not_converged,
)

__all__ = ["HardClusters", "OrderSearch", "em_k", "kmeans_k", "merge_components", "merge_costs"]


@dataclass(frozen=True, eq=False)
class OrderSearch(Result):
    """Fits with fewer and fewer clusters, and the one to use.

    Attributes
    ----------
    best : MixtureFit
        The fit with the largest penalised likelihood.
    n_components : ndarray
        Numbers of clusters, falling.
    log_likelihood : ndarray
        The log-likelihood with each.
    bic : ndarray
        The penalised log-likelihood F(k), of which `best` has the largest.
    n_iter : int
        Steps of EM in all.
    converged : bool
        Whether the run of `best` converged; the runs with more clusters than needed often end at `max_iter`.
    change : float
        Change of the log-likelihood in the last step of that run.
    """

    best: MixtureFit
    n_components: np.ndarray
    log_likelihood: np.ndarray
    bic: np.ndarray
    n_iter: int
    converged: bool
    change: float


@dataclass(frozen=True, eq=False)
class HardClusters(Result):
    """Clusters of k-means, with the number that a spherical BIC prefers.

    Attributes
    ----------
    means : ndarray of shape (k, d)
        The centres.
    memberships : ndarray of shape (N, k)
        Zeros and ones.
    distortion : float
        Sum of squared distances to the centres.
    bic : ndarray
        The score of 1, 2, ... clusters, or of the one number that was asked for.
    n_iter : int
        Steps of the run that was kept.
    converged : bool
    change : float
        Share of the observations that changed their cluster in the last step.
    """

    means: np.ndarray
    memberships: np.ndarray
    distortion: float
    bic: np.ndarray
    n_iter: int
    converged: bool
    change: float

    @property
    def n_components(self):
        """Number of clusters."""
        return len(self.means)


def merge_components(weights, means, covariances, first, second):
    """One Gaussian in place of two, with the same mean and covariance (Dy and Brodley 2004, Sec. 3). Cost O(k d^2).

    Parameters
    ----------
    weights : array-like of shape (k,)
        Mixing proportions.
    means : array-like of shape (k, d)
        Means.
    covariances : array-like of shape (k, d, d)
        Covariances.
    first, second : int
        The two clusters; the result stands at the place of the smaller index.

    Returns
    -------
    MixtureFit
        k - 1 clusters without memberships (`memberships` is empty and `log_likelihood` NaN until EM has run).

    Examples
    --------
    >>> merged = merge_components([0.5, 0.5], [[0.0], [2.0]], [[[1.0]], [[1.0]]], 0, 1)
    >>> merged.means, merged.covariances
    (array([[1.]]), array([[[2.]]]))
    """
    mixture = _checked_mixture(weights, means, covariances)
    k = len(mixture.weights)
    first = check_scalar(first, "first", low=0, high=k - 1, integer=True)
    second = check_scalar(second, "second", low=0, high=k - 1, integer=True)
    if first == second:
        raise ValueError("first and second must be different clusters")
    w, m, c = _merged(mixture, min(first, second), max(first, second))
    return MixtureFit(w, m, c, np.zeros((0, k - 1)), np.nan, np.zeros(0), 0, True, 0.0)


def merge_costs(weights, means, covariances, n, *, mixing=False):
    """Loss of log-likelihood when two clusters become one, approximated for every pair without the data.

    The loss is (N/2) [pi log|S| - pi_l log|S_l| - pi_m log|S_m|], where S is the covariance of the union. It is zero
    for two equal clusters and never negative. With `mixing`, N [pi_l log pi_l + pi_m log pi_m - pi log pi] is added,
    which makes it the exact loss of the expected complete log-likelihood Q when the memberships of the two are added.
    Do not search with that: the entropy that the union gives back is a bonus of up to N pi log 2 for any large pair,
    and makes EM-k merge clusters that differ. Cost O(k^2 d^3).

    Parameters
    ----------
    weights : array-like of shape (k,)
        Mixing proportions.
    means : array-like of shape (k, d)
        Means.
    covariances : array-like of shape (k, d, d)
        Covariances.
    n : int
        Number of observations.
    mixing : bool, default=False
        Whether the mixing proportions count.

    Returns
    -------
    ndarray of shape (k, k)
        Symmetric, with infinity on the diagonal.

    Examples
    --------
    >>> unit = np.ones((3, 1, 1))
    >>> costs = merge_costs([0.25, 0.25, 0.5], [[0.0], [1.0], [9.0]], unit, n=100)
    >>> np.unravel_index(costs.argmin(), costs.shape)
    (np.int64(0), np.int64(1))
    """
    mixture = _checked_mixture(weights, means, covariances)
    check_flag(mixing, "mixing")
    n = check_scalar(n, "n", low=1, integer=True)
    costs = _merge_costs(mixture, n)
    if mixing:
        total = mixture.weights[:, None] + mixture.weights
        own = mixture.weights * np.log(mixture.weights)
        costs += n * (own[:, None] + own - total * np.log(total))
    return costs


def em_k(
    X,
    max_components,
    *,
    init="refined",
    n_restarts=10,
    tol=1e-4,
    max_iter=500,
    reg_covar=1e-6,
    random_state=None,
):
    """Find the number of clusters by merging (EM-k; Dy and Brodley 2004, Sec. 3).

    Cost O(K^2 d^2 N E) for K clusters at the beginning and E steps of EM for each number.

    Parameters
    ----------
    X : array-like of shape (N, d)
        The data; no column may be constant.
    max_components : int
        Number of clusters to begin with, at most N.
    init : {"kmeans", "random", "refined"}, default="refined"
        How the first run starts, as in `em`.
    n_restarts : int, default=10
        Runs of EM with `max_components` for the first two ways to start.
    tol : float, default=1e-4
        A run of EM stops when the log-likelihood changes by less.
    max_iter : int, default=500
        Most steps of a run.
    reg_covar : float, default=1e-6
        Share of each feature's variance that is added.
    random_state : None, int or Generator, default=None
        For the starts.

    Returns
    -------
    OrderSearch
        The best fit, and the scores on the way.

    Examples
    --------
    >>> X = np.r_[np.arange(40.0), 100 + np.arange(40.0)][:, None]
    >>> search = em_k(X, 4, random_state=0)
    >>> search.best.n_components, search.n_components
    (2, array([4, 3, 2, 1]))
    """
    X = check_table(X)
    max_components = check_scalar(max_components, "max_components", low=1, high=len(X), integer=True)
    check_choice(init, "init", INITS)
    n_restarts = check_scalar(n_restarts, "n_restarts", low=1, integer=True)
    rules = em_rules(X, reg_covar, tol, max_iter)
    found = search_order(X, max_components, (init, n_restarts, None), rules, check_rng(random_state))
    if not found.converged:
        warn_not_converged("em_k", found.best.n_iter, found.change, rules.tol)
    return found


def search_order(X, max_components, start, rules, rng):
    """The search of `em_k` on checked arguments."""
    n = len(X)
    fits = [best_run(X, max_components, start, rules, rng)]
    centre = X.mean(axis=0)
    XT = _em.columns_first(X - centre)
    while fits[-1].n_components > 1:
        last = fits[-1]
        mixture = _em.Mixture(last.weights, last.means - centre, last.covariances)
        costs = _merge_costs(mixture, n)
        first, second = np.unravel_index(costs.argmin(), costs.shape)
        merged = _em.Mixture(*_merged(mixture, int(first), int(second)))
        # what the runs add to the variances is in these covariances already
        d = np.arange(len(rules.floor))
        merged.covariances[:, d, d] -= rules.floor
        fits.append(finished(XT, centre, _em.run_em(XT, merged, rules), rules))
    scores = np.array([fit.bic for fit in fits])
    best = fits[int(scores.argmax())]
    return OrderSearch(
        best,
        np.array([fit.n_components for fit in fits]),
        np.array([fit.log_likelihood for fit in fits]),
        scores,
        sum(fit.n_iter for fit in fits),
        best.converged,
        best.change,
    )


def kmeans_k(X, n_components, *, find_k=True, init="random", n_restarts=10, max_iter=100, random_state=None):
    """k-means with the number of clusters that a spherical BIC prefers (after Pelleg and Moore 2000).

    For k centres the score is the log-likelihood of Gaussians with one common variance in all directions, minus
    ((k - 1) + k d + 1)/2 log N. Cost O(N k d) for each step.

    Parameters
    ----------
    X : array-like of shape (N, d)
        The data; no column may be constant.
    n_components : int
        Number of clusters, or with `find_k` the largest that is tried; less than N.
    find_k : bool, default=True
        Whether to try 1, 2, ..., `n_components`.
    init : {"random", "kmeans", "refined"}, default="random"
        Random observations (the first two are the same for k-means), or the refinement over subsamples.
    n_restarts : int, default=10
        Runs from random observations; the smallest distortion is kept.
    max_iter : int, default=100
        Most steps of a run.
    random_state : None, int or Generator, default=None
        For the starts.

    Returns
    -------
    HardClusters
        Centres, memberships and the scores.

    Examples
    --------
    >>> X = np.r_[np.arange(40.0), 100 + np.arange(40.0)][:, None]
    >>> kmeans_k(X, 4, random_state=0).means.ravel()
    array([ 19.5, 119.5])
    """
    X = check_table(X)
    n_components = check_scalar(n_components, "n_components", low=1, high=max(1, len(X) - 1), integer=True)
    check_flag(find_k, "find_k")
    check_choice(init, "init", INITS)
    n_restarts = check_scalar(n_restarts, "n_restarts", low=1, integer=True)
    max_iter = check_scalar(max_iter, "max_iter", low=1, high=10**6, integer=True)
    found = search_kmeans(X, (n_components, find_k), (init, n_restarts), max_iter, check_rng(random_state))
    if not found.converged:
        warn_not_converged("kmeans_k", found.n_iter, None, None)
    return found


def search_kmeans(X, order, start, max_iter, rng):
    """The search of `kmeans_k` on checked arguments; centres are sorted by their first coordinates."""
    n_components, find_k = order
    init, n_restarts = start
    centre = X.mean(axis=0)
    XT = _em.columns_first(X - centre)
    numbers = range(1, n_components + 1) if find_k else [n_components]
    runs = []
    for k in numbers:
        many = 1 if init == "refined" or k == 1 else n_restarts
        way = "refined" if init == "refined" else "random"
        tried = (_em.lloyd(XT, _centres(XT, k, way, rng), max_iter) for _ in range(many))
        runs.append(min(tried, key=lambda run: run[2]))
    scores = np.array([spherical_bic(run[1], run[2], len(run[0]), X.shape) for run in runs])
    centres, _, distortion, steps, changed = runs[int(scores.argmax())]
    centres = np.ascontiguousarray(centres[np.lexsort(centres.T[::-1])])
    labels, distances = np.zeros(len(X), np.int64), np.empty(len(X))
    _em.nearest(XT, centres, labels, distances)
    held, labels = np.unique(labels, return_inverse=True)
    return HardClusters(
        centres[held] + centre,
        one_hot(labels, len(held)),
        float(distortion),
        scores,
        int(steps),
        changed == 0,
        changed / len(X),
    )


def spherical_bic(labels, distortion, k, shape):
    """Penalised log-likelihood of hard clusters with one common variance in every direction."""
    n, d = shape
    counts = np.bincount(labels, minlength=k)
    counts = counts[counts > 0]
    variance = max(distortion / (d * max(n - k, 1)), np.finfo(float).tiny)
    fit = (counts * np.log(counts / n)).sum() - 0.5 * n * d * np.log(2 * np.pi * variance) - 0.5 * d * (n - k)
    return fit - 0.5 * ((k - 1) + k * d + 1) * np.log(n)


def _merged(mixture, first, second):
    """Parameters with `second` merged into `first` < `second`."""
    weights, means, covariances = (np.delete(part, second, axis=0) for part in mixture)
    share = mixture.weights[[first, second]]
    total = share.sum()
    mean = share @ mixture.means[[first, second]] / total
    dx = mixture.means[[first, second]] - mean
    spread = mixture.covariances[[first, second]] + dx[:, :, None] * dx[:, None, :]
    weights[first], means[first] = total, mean
    covariances[first] = np.tensordot(share / total, spread, axes=1)
    return weights, means, covariances


def _merge_costs(mixture, n):
    w, m, c = mixture
    k = len(w)
    logdet = np.linalg.slogdet(c)[1]
    first, second = np.triu_indices(k, 1)
    total = w[first] + w[second]
    a, b = (w[first] / total)[:, None], (w[second] / total)[:, None]
    dx = m[first] - m[second]
    merged = a[:, :, None] * c[first] + b[:, :, None] * c[second] + (a * b)[:, :, None] * dx[:, :, None] * dx[:, None]
    loss = 0.5 * n * (total * np.linalg.slogdet(merged)[1] - w[first] * logdet[first] - w[second] * logdet[second])
    costs = np.full((k, k), np.inf)
    costs[first, second] = costs[second, first] = loss
    return costs


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
