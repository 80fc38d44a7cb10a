"""Gaussian mixtures by EM (Dempster, Laird and Rubin 1977), from three kinds of start.

The public functions check and wrap, `_em` iterates, because searches over subsets of features call it thousands of
times on small tables. Starts, as Dy and Brodley (2004, Sec. 6.3 and 6.5) compare them:

- ``"kmeans"``: k-means from random observations, `n_restarts` times, the run of EM with the highest likelihood wins;
- ``"random"``: means at random observations, the covariance of all the data, `n_restarts` times;
- ``"refined"``: k-means on ten small subsamples, their centres clustered again (Bradley and Fayyad 1998); one run.

With more than `LARGE` observations the restarts run on a sample of them; all observations choose among the optima that
were found, and finish the best.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin, DensityMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from learnable import validation
from learnable.latent.mixture import _em
from learnable.validation import (
    Result,
    check_bool,
    check_choice,
    check_magnitude,
    check_probability_rows,
    check_rng,
    check_scalar,
    warn_not_converged,
)

INITS = ("kmeans", "random", "refined")
SUBSAMPLES, SHARE = 10, 0.1  # the refinement: ten subsamples of a tenth of the data
LLOYD_STEPS = 100
LARGE = 2000  # observations; of more, restarts see a sample, and `tol` grows with their number
COARSER, COARSE_STEPS = 100, 100  # a restart on a sample stops at a hundred times the tolerance, or so many steps
PER_PARAMETER = 10  # observations of the sample for each free parameter, at least
SHARES = 1e-6  # how far the memberships of an observation may be from a sum of one


@dataclass(frozen=True, eq=False)
class MixtureFit(Result):
    """A fitted mixture of k Gaussians.

    Attributes
    ----------
    weights : ndarray of shape (k,)
    means : ndarray of shape (k, d)
    covariances : ndarray of shape (k, d, d)
    memberships : ndarray of shape (N, k)
        Posterior probabilities of the clusters for the observations that were fitted.
    log_likelihood : float
        Sum over the observations.
    log_likelihoods : ndarray
        The same after every step.
    n_iter : int
        Steps of EM.
    converged : bool
    change : float
        Change of the log-likelihood in the last step.
    """

    weights: np.ndarray
    means: np.ndarray
    covariances: np.ndarray
    memberships: np.ndarray
    log_likelihood: float
    log_likelihoods: np.ndarray
    n_iter: int
    converged: bool
    change: float

    @property
    def n_components(self):
        """Number of clusters, fewer than asked for if some were deleted."""
        return len(self.weights)

    @property
    def bic(self):
        """Penalised log-likelihood F(k) = log f(X) - (L/2) log N with L free parameters; larger is better."""
        k, d = self.means.shape
        return self.log_likelihood - 0.5 * n_parameters(k, d) * np.log(len(self.memberships))


def n_parameters(k, d):
    """Free parameters of k Gaussians with full covariances in d dimensions."""
    return (k - 1) + k * d + k * d * (d + 1) // 2


def em(
    X,
    n_components,
    *,
    init="kmeans",
    n_restarts=10,
    memberships=None,
    tol=1e-4,
    max_iter=500,
    reg_covar=1e-6,
    random_state=None,
):
    """Fit a mixture of Gaussians with full covariances (Dy and Brodley 2004, (6)-(9)).

    To every variance `reg_covar` times the variance of the feature is added, and a cluster whose variance in some
    feature is below that is deleted: the likelihood of such a cluster would grow without bound. (The source adds the
    average over features; with standardised features this is the same, and so units do not matter.) Cost
    O(N k d^2) for each step.

    Parameters
    ----------
    X : array-like of shape (N, d)
        The data; no column may be constant.
    n_components : int
        Number of clusters to begin with, at most N.
    init : {"kmeans", "random", "refined"}, default="kmeans"
        How to start, see the top of this module.
    n_restarts : int, default=10
        Runs of EM for the first two ways to start; the highest likelihood is kept. With more than 2,000 observations
        they see a sample, and the best is finished with all.
    memberships : array-like of shape (N, n_components), optional
        Start from one M-step with these instead; rows sum to one.
    tol : float, default=1e-4
        Stop when the log-likelihood changes by less; with more than 2,000 observations, by less for each 2,000.
    max_iter : int, default=500
        Most steps.
    reg_covar : float, default=1e-6
        Share of each feature's variance that is added.
    random_state : None, int or Generator, default=None
        For the starts.

    Returns
    -------
    MixtureFit
        The best run.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    >>> fit = em(X, 2, random_state=0)
    >>> np.sort(fit.means[:, 0]).round(3)
    array([ 1., 11.])
    >>> round(fit.log_likelihood, 2)
    -11.46
    """
    X = check_table(X)
    n_components = check_scalar(n_components, "n_components", low=1, high=len(X), integer=True)
    check_choice(init, "init", INITS)
    n_restarts = check_scalar(n_restarts, "n_restarts", low=1, high=10**6, integer=True)
    rules = em_rules(X, reg_covar, tol, max_iter)
    rng = check_rng(random_state)
    if memberships is not None:
        memberships = check_probability_rows(memberships, "memberships", rows=len(X), tol=SHARES)
    found = best_run(X, n_components, (init, n_restarts, memberships), rules, rng)
    if not found.converged:
        warn_not_converged("em", found.n_iter, found.change, rules.tol)
    return found


def m_step(X, memberships, *, reg_covar=0.0):
    """Weights, means and covariances of clusters with given memberships (Dy and Brodley 2004, (7)-(9)).

    Cost O(N k d^2).

    Parameters
    ----------
    X : array-like of shape (N, d)
        The data.
    memberships : array-like of shape (N, k)
        Share of each cluster in each observation; rows sum to one.
    reg_covar : float, default=0.0
        Share of each feature's variance that is added to the variances.

    Returns
    -------
    MixtureFit
        The parameters, with the log-likelihood that they give; no iteration.

    Examples
    --------
    >>> Z = np.array([[1, 0], [1, 0], [0, 1], [0, 1]])
    >>> m_step([[0.0], [2.0], [10.0], [12.0]], Z).means
    array([[ 1.],
           [11.]])
    """
    X = check_table(X, constant=True)
    Z = check_probability_rows(memberships, "memberships", rows=len(X), tol=SHARES)
    reg_covar = check_scalar(reg_covar, "reg_covar", low=0, high=1)
    centre = X.mean(axis=0)
    XT = _em.columns_first(X - centre)
    mixture = _em.lifted(_em.weighted_moments(XT, Z), reg_covar * X.var(axis=0))
    held = mixture.weights > 0
    mixture = _em.Mixture(mixture.weights[held], mixture.means[held], mixture.covariances[held])
    smallest = mixture.covariances.diagonal(axis1=1, axis2=2).min()
    total = np.inf if smallest <= 0 else float(_em.posteriors(XT, mixture, np.empty((len(X), held.sum()))).sum())
    return MixtureFit(
        mixture.weights, mixture.means + centre, mixture.covariances, Z[:, held], total, np.array([total]), 0, True, 0.0
    )


class EMClusterer(ClusterMixin, DensityMixin, BaseEstimator):
    """Clustering by a mixture of Gaussians, with k fixed or found by merging (EM and EM-k of Dy and Brodley 2004).

    Parameters
    ----------
    n_components : int, default=3
        Number of clusters; with `find_k` the largest number that is tried.
    find_k : bool, default=False
        Merge clusters one pair after the other and keep the number that maximises the penalised likelihood.
    init : {"kmeans", "random", "refined"}, default="kmeans"
        How to start.
    n_restarts : int, default=10
        Runs of EM for the first two ways to start.
    tol : float, default=1e-4
        Stop when the log-likelihood changes by less; with more than 2,000 observations, by less for each 2,000.
    max_iter : int, default=500
        Most steps of EM.
    reg_covar : float, default=1e-6
        Share of each feature's variance that is added to the variances.
    random_state : None, int or Generator, default=None
        For the starts.

    Attributes
    ----------
    fit_ : MixtureFit
        The mixture.
    n_components_ : int
        Number of clusters.
    n_iter_ : int
        Steps of EM.
    labels_ : ndarray of shape (N,)
        Most likely cluster of each observation.

    Examples
    --------
    >>> X = np.r_[np.arange(40.0), 100 + np.arange(40.0)][:, None]
    >>> EMClusterer(4, find_k=True, random_state=0).fit(X).n_components_
    2
    """

    def __init__(
        self,
        n_components=3,
        *,
        find_k=False,
        init="kmeans",
        n_restarts=10,
        tol=1e-4,
        max_iter=500,
        reg_covar=1e-6,
        random_state=None,
    ):
        self.n_components = n_components
        self.find_k = find_k
        self.init = init
        self.n_restarts = n_restarts
        self.tol = tol
        self.max_iter = max_iter
        self.reg_covar = reg_covar
        self.random_state = random_state

    def fit(self, X, y=None):
        """Fit the mixture; `y` is ignored."""
        from learnable.latent.mixture.order import em_k

        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        options = {
            "init": self.init,
            "n_restarts": self.n_restarts,
            "tol": self.tol,
            "max_iter": self.max_iter,
            "reg_covar": self.reg_covar,
            "random_state": self.random_state,
        }
        check_bool(self.find_k, "find_k")
        self.fit_ = em_k(X, self.n_components, **options).best if self.find_k else em(X, self.n_components, **options)
        self.n_components_ = self.fit_.n_components
        self.n_iter_ = self.fit_.n_iter
        self.labels_ = self.fit_.memberships.argmax(axis=1)
        return self

    def predict_proba(self, X):
        """Posterior probabilities of the clusters, an array (n, k)."""
        return self._posteriors(X)[0]

    def predict(self, X):
        """Most likely cluster of each row."""
        return self.predict_proba(X).argmax(axis=1)

    def score_samples(self, X):
        """Log-density of each row."""
        return self._posteriors(X)[1]

    def score(self, X, y=None):
        """Mean log-density; `y` is ignored."""
        return float(self.score_samples(X).mean())

    def _posteriors(self, X):
        check_is_fitted(self)
        return posteriors(validate_data(self, X, dtype=np.float64, reset=False), self.fit_)


def check_table(X, name="X", *, constant=False):
    """A finite table with rows and columns whose entries can be squared; no constant column unless allowed."""
    X = check_magnitude(validation.check_table(X, name), name)
    if not constant:
        flat = np.flatnonzero(X.max(axis=0) == X.min(axis=0))
        if len(flat):
            raise ValueError(f"{name} must have no constant column, got one at {flat[0]}")
    return X


def em_rules(X, reg_covar, tol, max_iter):
    reg_covar = check_scalar(reg_covar, "reg_covar", low=0, high=1, closed="neither")
    tol = check_scalar(tol, "tol", low=0)
    max_iter = check_scalar(max_iter, "max_iter", low=1, high=10**6, integer=True)
    return _em.EMRules(reg_covar * X.var(axis=0), tol * max(1.0, len(X) / LARGE), max_iter)


def posteriors(X, fit):
    """(memberships, log-densities) of the rows of X under a fit."""
    Z = np.empty((len(X), fit.n_components))
    centre = fit.means.mean(axis=0)
    mixture = _em.Mixture(fit.weights, fit.means - centre, fit.covariances)
    return Z, _em.posteriors(_em.columns_first(X - centre), mixture, Z)


def best_run(X, k, start, rules, rng):
    """The run of EM with the highest likelihood over the starts (init, n_restarts, memberships)."""
    init, n_restarts, memberships = start
    centre = X.mean(axis=0)
    XT = _em.columns_first(X - centre)
    if memberships is not None:
        return finished(XT, centre, _em.run_em(XT, _em.weighted_moments(XT, memberships), rules), rules)
    restarts = 1 if init == "refined" or k == 1 else n_restarts
    size = max(LARGE, PER_PARAMETER * n_parameters(k, len(XT)))
    if restarts == 1 or XT.shape[1] <= size:
        best = None
        for _ in range(restarts):
            run = _em.run_em(XT, _start(XT, k, init, rng), rules)
            # runs that end at one optimum differ by rounding: the first of them stays, whatever the units
            if best is None or run.log_likelihoods[-1] > best.log_likelihoods[-1] + 10 * rules.tol:
                best = run
        return finished(XT, centre, best, rules)
    sample = np.ascontiguousarray(XT[:, rng.choice(XT.shape[1], size, replace=False)])
    loose = rules._replace(tol=COARSER * rules.tol * size / XT.shape[1], max_iter=min(COARSE_STEPS, rules.max_iter))
    runs = []  # that end at different optima
    for _ in range(restarts):
        run = _em.run_em(sample, _start(sample, k, init, rng), loose)
        if all(abs(run.log_likelihoods[-1] - other.log_likelihoods[-1]) > 10 * loose.tol for other in runs):
            runs.append(run)
    # On the sample the optimum that fits it too closely would win; all observations decide.
    first = [_em.run_em(XT, run.mixture, rules._replace(max_iter=1)) for run in runs]
    best = max(first, key=lambda run: run.log_likelihoods[-1])
    return finished(XT, centre, _em.run_em(XT, best.mixture, rules), rules)


def finished(XT, centre, run, rules):
    """A run as a result, in the origin of the data."""
    mixture, trace, change = run
    Z = np.empty((XT.shape[1], len(mixture.weights)))
    _em.posteriors(XT, mixture, Z)
    return MixtureFit(
        mixture.weights,
        mixture.means + centre,
        mixture.covariances,
        Z,
        float(trace[-1]),
        trace,
        len(trace) - 1,
        bool(change < rules.tol),
        float(change),
    )


def _start(XT, k, init, rng):
    centres = _centres(XT, k, init, rng)
    if init == "random":
        covariance = np.cov(XT, bias=True).reshape(len(XT), len(XT))
        return _em.Mixture(np.full(k, 1 / k), centres, np.repeat(covariance[None], k, axis=0))
    labels, distances = np.zeros(XT.shape[1], np.int64), np.empty(XT.shape[1])
    _em.nearest(XT, centres, labels, distances)
    return _em.weighted_moments(XT, one_hot(labels, k))


def one_hot(labels, k):
    Z = np.zeros((len(labels), k))
    Z[np.arange(len(labels)), labels] = 1.0
    return Z


def _centres(XT, k, init, rng):
    n = XT.shape[1]
    if init == "refined":
        return _refined(XT, k, rng)
    seeds = np.ascontiguousarray(XT[:, rng.choice(n, k, replace=False)].T)
    return seeds if init == "random" else _em.lloyd(XT, seeds, LLOYD_STEPS)[0]


def _refined(XT, k, rng):
    n = XT.shape[1]
    size = min(n, max(int(SHARE * n), 2 * k))
    sets = []
    for _ in range(SUBSAMPLES):
        sample = np.ascontiguousarray(XT[:, rng.choice(n, size, replace=False)])
        seeds = np.ascontiguousarray(sample[:, rng.choice(size, k, replace=False)].T)
        sets.append(_em.lloyd(sample, seeds, LLOYD_STEPS)[0])
    pooled = np.ascontiguousarray(np.concatenate(sets).T)
    runs = [_em.lloyd(pooled, centres, LLOYD_STEPS) for centres in sets]
    return min(runs, key=lambda run: run[2])[0]
