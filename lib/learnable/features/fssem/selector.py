"""FSSEM: a search over feature subsets wrapped around a clusterer (Dy and Brodley 2004, Sec. 2, 3, 5)."""

from __future__ import annotations

import warnings
import zlib
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from learnable.features.fssem.criteria import CRITERIA, compare_subsets, evaluate
from learnable.latent.mixture import _em
from learnable.latent.mixture.gaussian import INITS, best_run, check_table, em_rules, posteriors
from learnable.latent.mixture.order import search_kmeans, search_order
from learnable.validation import Result, check_bool, check_choice, check_rng, check_scalar, warn_not_converged


@dataclass(frozen=True, eq=False)
class SearchStep(Result):
    """One step of the search: the best subset with one feature more (or less), and whether it was taken.

    Attributes
    ----------
    features : tuple of int
        The candidate.
    n_components : int
        Clusters found in it.
    criterion : float
        Its raw criterion, the largest among the candidates of this step.
    value : float
        What was compared with `before`: the normalised value, or the raw one.
    before : float
        The same for the subset that was held so far; minus infinity at the first step.
    accepted : bool
    """

    features: tuple
    n_components: int
    criterion: float
    value: float
    before: float
    accepted: bool


class FSSEM(SelectorMixin, ClusterMixin, BaseEstimator):
    """Choose features without labels, by the clusters that they show (Dy and Brodley 2004).

    Sequential forward search: every subset with one feature more is clustered from scratch, the one with the largest
    criterion is the candidate (all have the same dimension, so that the raw values can be compared), and it replaces
    the subset held so far if its clusters are worth more after cross-projection. Otherwise the search ends.

    Constant features, and features with no more different values than `n_components`, are never candidates: a Gaussian
    on one value has infinite likelihood. If all features are like that, fewer clusters are sought. Cost: O(D p)
    clusterings for p selected of D features, each O(K^2 d^2 N E) with `find_k`.

    Parameters
    ----------
    n_components : int, default=6
        Number of clusters; with `find_k` the largest number that is tried. Fewer if there are fewer observations.
    criterion : {"trace", "ml"}, default="trace"
        Separability tr(S_w^-1 S_b), or the log-likelihood of the mixture.
    find_k : bool, default=True
        Find the number of clusters for every subset anew.
    normalize : bool, default=True
        Compare subsets of different dimension by cross-projection; otherwise by the raw criterion.
    standardize : bool, default=True
        Divide every feature by its standard deviation first. Needed for ``"ml"``.
    clusterer : {"em", "kmeans"}, default="em"
        What clusters a subset.
    search : {"forward", "backward", "all"}, default="forward"
        Add features, remove them, or keep all of them.
    init : {"refined", "kmeans", "random"}, default="refined"
        How the clusterer starts, see `em`.
    n_restarts : int, default=10
        Starts of the clusterer where `init` is not ``"refined"``.
    max_features : int, default=None
        The forward search ends with so many.
    tol : float, default=1e-4
        EM stops when the log-likelihood changes by less; with more than 2,000 observations, by less for
        each 2,000.
    max_iter : int, default=500
        Most steps of a run of EM or k-means.
    reg_covar : float, default=1e-6
        Share of each feature's variance that is added to variances.
    n_jobs : int, default=None
        Threads over the candidates of a step, as in joblib. The result does not depend on it.
    random_state : None, int or Generator, default=None
        For the starts.

    Attributes
    ----------
    selected_ : ndarray of int
        The features, in the order in which they were taken.
    n_components_ : int
        Clusters in the selected features.
    fit_ : MixtureFit or HardClusters
        The clustering of the selected features, in standardised units if `standardize`.
    criterion_ : float
        Its raw criterion.
    history_ : list of SearchStep
        The steps of the search, the refused last one included.
    rejected_ : ndarray of bool
        Features that are constant or have too few different values.
    scale_ : ndarray of shape (n_features,)
        What the features were divided by.
    labels_ : ndarray of shape (n,)
        Cluster of each observation.
    n_iter_ : int
        Steps of the search.

    Examples
    --------
    >>> from learnable.chapters.unsupervised_feature_selection.synthetic import make_noisy_clusters
    >>> made = make_noisy_clusters("4-class", 300, random_state=1)
    >>> model = FSSEM(random_state=0).fit(made.X)
    >>> sorted(model.selected_[:2].tolist()), model.n_components_
    ([0, 1], 4)
    """

    def __init__(
        self,
        n_components=6,
        *,
        criterion="trace",
        find_k=True,
        normalize=True,
        standardize=True,
        clusterer="em",
        search="forward",
        init="refined",
        n_restarts=10,
        max_features=None,
        tol=1e-4,
        max_iter=500,
        reg_covar=1e-6,
        n_jobs=None,
        random_state=None,
    ):
        self.n_components = n_components
        self.criterion = criterion
        self.find_k = find_k
        self.normalize = normalize
        self.standardize = standardize
        self.clusterer = clusterer
        self.search = search
        self.init = init
        self.n_restarts = n_restarts
        self.max_features = max_features
        self.tol = tol
        self.max_iter = max_iter
        self.reg_covar = reg_covar
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X, y=None):
        """Search for the features; `y` is ignored."""
        X = check_table(validate_data(self, X, dtype=np.float64, ensure_min_samples=2), constant=True)
        self._check_parameters(X)
        k = self._set_aside(X)
        spread = X.std(axis=0)
        self.scale_ = np.where(self.rejected_ | (spread == 0), 1.0, spread) if self.standardize else np.ones(len(X.T))
        self._centre = X.mean(axis=0)
        search = _Search(self, (X - self._centre) / self.scale_, k)
        selected, self.history_ = getattr(search, self.search)(np.flatnonzero(~self.rejected_).tolist())
        best = search.clustered(selected)
        if not best.converged:
            warn_not_converged("the clustering in FSSEM", best.n_iter, None, None)
        self.selected_ = np.array(selected)
        self.fit_ = best
        self.criterion_ = search.raw(selected)
        self.n_components_ = best.n_components
        self.labels_ = best.memberships.argmax(axis=1)
        self.n_iter_ = len(self.history_)
        return self

    def predict_proba(self, X):
        """Shares of the clusters, an array (n, k); zeros and ones for k-means."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        inside = ((X - self._centre) / self.scale_)[:, self.selected_]
        if self.clusterer == "em":
            return posteriors(inside, self.fit_)[0]
        labels, distances = np.zeros(len(X), np.int64), np.empty(len(X))
        _em.nearest(_em.columns_first(inside), self.fit_.means, labels, distances)
        return np.eye(self.n_components_)[labels]

    def predict(self, X):
        """Most likely cluster, or nearest centre, of each row."""
        return self.predict_proba(X).argmax(axis=1)

    def _get_support_mask(self):
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, bool)
        mask[self.selected_] = True
        return mask

    def _set_aside(self, X):
        """Mark features with too few values; return the largest number of clusters that the others allow."""
        values = _n_values(X)
        k = min(self.n_components, len(X) - 1)
        if values.max() == 1:
            raise ValueError("X must have a feature that is not constant")
        if (values <= k).all():
            k = int(values.max()) - 1
            warnings.warn(
                f"no feature has more than {k + 1} different values: at most {k} clusters are sought",
                UserWarning,
                stacklevel=3,
            )
        self.rejected_ = values <= k
        if self.rejected_.any():
            warnings.warn(
                f"features {np.flatnonzero(self.rejected_).tolist()} have too few different values and are left out",
                UserWarning,
                stacklevel=3,
            )
        return k

    def _check_parameters(self, X):
        check_scalar(self.n_components, "n_components", low=1, integer=True)
        check_choice(self.criterion, "criterion", CRITERIA)
        check_choice(self.clusterer, "clusterer", ("em", "kmeans"))
        check_choice(self.search, "search", ("forward", "backward", "all"))
        check_choice(self.init, "init", INITS)
        for name in ("find_k", "normalize", "standardize"):
            check_bool(getattr(self, name), name)
        check_scalar(self.n_restarts, "n_restarts", low=1, integer=True)
        if self.max_features is not None:
            check_scalar(self.max_features, "max_features", low=1, integer=True)
        em_rules(X, self.reg_covar, self.tol, self.max_iter)
        if len(X) < 2:
            raise ValueError("X must have at least two observations")


class _Search:
    """Clusterings and criteria of the subsets met so far, each computed once, and the ways through them."""

    def __init__(self, options, X, k):
        self.options, self.X, self.k = options, X, k
        self.rules = em_rules(X, options.reg_covar, options.tol, options.max_iter)
        self.seed = int(check_rng(options.random_state).integers(2**31))
        self.kept = {}

    def clustered(self, features):
        """The clustering of a subset; its random numbers follow from the subset, not from the way to it."""
        key = frozenset(features)
        if key not in self.kept:
            columns = sorted(key)
            code = zlib.crc32(",".join(map(str, columns)).encode())
            self.kept[key] = self._cluster(columns, np.random.default_rng([self.seed, code]))
        return self._arranged(self.kept[key], features)

    def _cluster(self, columns, rng):
        X, o = self.X[:, columns], self.options
        if o.clusterer == "kmeans":
            return search_kmeans(X, (self.k, o.find_k), (o.init, o.n_restarts), o.max_iter, rng)
        rules = self.rules._replace(floor=self.rules.floor[columns])
        start = (o.init, o.n_restarts, None)
        if o.find_k:
            return search_order(X, self.k, start, rules, rng).best
        return best_run(X, self.k, start, rules, rng)

    def _arranged(self, fit, features):
        """The same fit with the features in the order asked for."""
        order = np.argsort(np.argsort(features))
        if (order == np.arange(len(order))).all():
            return fit
        parts = dict(vars(fit), means=np.ascontiguousarray(fit.means[:, order]))
        if "covariances" in parts:
            parts["covariances"] = np.ascontiguousarray(fit.covariances[:, order][:, :, order])
        return type(fit)(**parts)

    def raw(self, features):
        columns = sorted(features)
        Z = self.clustered(columns).memberships
        return evaluate(self.X[:, columns], Z, self.options.criterion, self.options.reg_covar)

    def best_of(self, candidates):
        """The candidate with the largest raw criterion, the first of equals."""
        with Parallel(n_jobs=self.options.n_jobs, prefer="threads") as parallel:
            parallel(delayed(self.clustered)(sorted(c)) for c in candidates)
        values = [self.raw(c) for c in candidates]
        at = int(np.argmax(values))
        return candidates[at], values[at]

    def step(self, held, candidates):
        """The best candidate against the subset held so far."""
        best, value = self.best_of(candidates)
        if self.options.normalize:
            subsets = [sorted(held), sorted(best)]
            Z = [self.clustered(s).memberships for s in subsets]
            before, after = compare_subsets(
                self.X, subsets, Z, self.options.criterion, self.options.reg_covar
            ).values.tolist()
        else:
            before, after = self.raw(held), value
        accepted = after > before or (after == before and len(best) < len(held))
        return SearchStep(tuple(best), self.clustered(sorted(best)).n_components, value, after, before, accepted)

    def forward(self, features):
        held, value = self.best_of([[f] for f in features])
        steps = [SearchStep(tuple(held), self.clustered(held).n_components, value, value, -np.inf, True)]
        most = self.options.max_features or len(features)
        while len(held) < min(most, len(features)):
            steps.append(self.step(held, [[*held, f] for f in features if f not in held]))
            if not steps[-1].accepted:
                break
            held = list(steps[-1].features)
        return held, steps

    def backward(self, features):
        held, value = list(features), self.raw(features)
        steps = [SearchStep(tuple(held), self.clustered(held).n_components, value, value, -np.inf, True)]
        while len(held) > 1:
            steps.append(self.step(held, [[g for g in held if g != f] for f in held]))
            if not steps[-1].accepted:
                break
            held = list(steps[-1].features)
        return held, steps

    def all(self, features):
        value = self.raw(features)
        return list(features), [
            SearchStep(tuple(features), self.clustered(features).n_components, value, value, -np.inf, True)
        ]


def _n_values(X):
    """Number of different values in each column."""
    ordered = np.sort(X, axis=0)
    return (np.diff(ordered, axis=0) != 0).sum(axis=0) + 1
