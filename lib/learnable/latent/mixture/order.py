"""How many clusters: merge pairs and keep the best penalised likelihood (Dy and Brodley 2004, Sec. 3, after Bouman).

EM begins with more clusters than can be needed. The pair whose union costs least becomes one cluster with the same
first two moments, EM goes on from there, and so on down to one cluster. The fit with the largest
F(k) = log f(X) - (L/2) log N is kept. Only the first of these runs needs a start of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from learnable.latent.mixture import _em
from learnable.latent.mixture.gaussian import (
    INITS,
    MixtureFit,
    _centres,
    best_run,
    check_table,
    em_rules,
    finished,
    one_hot,
)
from learnable.validation import Result, check_choice, check_rng, check_scalar, warn_not_converged


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
        A run of EM stops when the log-likelihood changes by less; with more than 2,000 observations, by less for
        each 2,000.
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
