"""Gaussian hidden Markov models on weighted sequences, and the classifier that has one for each class.

Expectation-maximisation weighs each sequence's expected counts by its weight (Wu and Cheng 2014, Eq. 2 to 4). The
models of all classes are fitted together: one table of densities, one pass of the recursions and one product for the
statistics of each class in an iteration.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
from scipy.special import log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from learnable.ensembles.coboosting._paths import best_paths
from learnable.ensembles.coboosting.sequences import Sequences, checked_batch, checked_classes
from learnable.latent.hmm import HMM, GaussianEmission
from learnable.latent.hmm._batch import Batch
from learnable.latent.hmm._kernels import gaussian_log_density, relative_densities
from learnable.validation import check_choice, check_scalar, check_weights, warn_not_converged

_FLOOR = 1e-9  # of the variance of a column: no state's variance falls below, whatever reg_covar is


class Models(NamedTuple):
    """Parameters of C models in standardised columns; covariances are (C, K, d) or (C, K, d, d)."""

    startprob: np.ndarray
    transmat: np.ndarray
    means: np.ndarray
    covariances: np.ndarray


class _SequenceModel(BaseEstimator):
    """What the two estimators share: parameters, standardised columns, expectation-maximisation for all models."""

    def __init__(
        self, n_components=4, *, covariance_type="diag", topology="left-right", max_iter=20, tol=1e-4, reg_covar=1e-3
    ):
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.topology = topology
        self.max_iter = max_iter
        self.tol = tol
        self.reg_covar = reg_covar

    def _check_parameters(self):
        self._k = check_scalar(self.n_components, "n_components", low=1, integer=True)
        check_choice(self.covariance_type, "covariance_type", ("diag", "full"))
        check_choice(self.topology, "topology", ("left-right", "ergodic"))
        check_scalar(self.max_iter, "max_iter", low=1, integer=True)
        check_scalar(self.tol, "tol", low=0)
        check_scalar(self.reg_covar, "reg_covar", low=0)

    def _batch(self, X):
        """Sequences for a fitted model, in standardised columns."""
        check_is_fitted(self, "n_features_in_")
        return self._standardised(checked_batch(self, X, reset=False))

    def _standardised(self, batch):
        return Sequences((batch.rows - self._centre) / self._scale, batch.starts)

    def _fit_models(self, batch, owner, n_models, weight):
        """Expectation-maximisation from a uniform segmentation; sets what both estimators keep."""
        weight = _normalised(weight, owner, batch.lengths, n_models)
        rows = np.repeat(weight, batch.lengths) / n_models
        self._centre = rows @ batch.rows
        self._scale = np.sqrt(rows @ (batch.rows - self._centre) ** 2)
        self._scale[self._scale <= 1e-14 * np.abs(self._centre)] = 1.0
        order = np.argsort(owner, kind="stable")
        batch, owner, weight = self._standardised(batch.take(order)), owner[order], weight[order]
        slices = _owned(owner, batch.starts, n_models)
        models, smoothed = self._segmented(batch, weight, owner, slices, n_models)
        owned = self._firsts(batch, slices)
        groups = [
            (part, weight[mine], Batch(batch.starts[mine.start : mine.stop + 1] - part.start, self._k))
            for part, mine in zip(slices, owned, strict=True)
        ]
        trace = []
        for n_iter in range(1, self.max_iter + 1):
            self.n_iter_ = n_iter
            value, pairs = self._expectation(models, batch.rows, groups, smoothed)
            trace.append(value)
            if len(trace) > 1 and trace[-1] - trace[-2] <= self.tol * n_models:
                break
            models = self._maximise(models, batch, smoothed, slices, pairs)
        else:
            trace.append(self._expectation(models, batch.rows, groups, smoothed, values_only=True)[0])
        self.converged_ = bool(trace[-1] - trace[-2] <= self.tol * n_models)
        self.log_likelihoods_ = np.array(trace) - n_models * np.log(self._scale).sum()
        self._models = models
        return self

    def _segmented(self, batch, weight, owner, slices, n_models):
        """The start: every sequence is cut into K equal pieces, one for each state."""
        k, lengths = self._k, batch.lengths
        place = np.arange(batch.starts[-1]) - np.repeat(batch.starts[:-1], lengths)
        state = place * k // np.repeat(lengths, lengths)
        smoothed = np.zeros((len(state), k))
        smoothed[np.arange(len(state)), state] = np.repeat(weight, lengths)
        # Weights sum to 1 / (mean length) in each model, so that a state lasts 1 / (k Σ w) steps on average.
        stay = np.clip(1 - k * np.bincount(owner, weight, minlength=n_models), 0.5, 0.95)[:, None, None]
        if self.topology == "left-right":
            start, move = np.eye(k)[0], stay * np.eye(k) + (1 - stay) * np.eye(k, k=1)
        else:
            start, move = np.full(k, 1 / k), stay * np.eye(k) + (1 - stay) * (1 - np.eye(k)) / max(1, k - 1)
        move /= move.sum(axis=2, keepdims=True)
        d = batch.n_features
        wide = np.ones((n_models, k, d)) if self.covariance_type == "diag" else np.tile(np.eye(d), (n_models, k, 1, 1))
        models = Models(np.tile(start, (n_models, 1)), move, np.zeros((n_models, k, d)), wide)
        # A state without rows (sequences shorter than K) starts where its class is on average.
        for c, rows in enumerate(slices):
            mass = smoothed[rows].sum(axis=1)
            models.means[c] = mass @ batch.rows[rows] / mass.sum()
        return self._emissions(models, batch, smoothed, slices), smoothed

    def _expectation(self, models, rows, groups, out, values_only=False):
        """The weighted log-likelihood of all sequences, and the weighted expected transitions of each model.

        `out` becomes the smoothing probabilities times the weights of their sequences; `groups` are, for each model,
        its rows, its weights and its :class:`~learnable.latent.hmm._batch.Batch`.
        """
        whole, pairs = 0.0, np.empty_like(models.transmat)
        for c, (part, weight, sequences) in enumerate(groups):
            whole += weight @ self._filter(models, c, rows[part], sequences, out[part])
            if not values_only:
                pairs[c] = sequences.smooth(weight)
        return whole, pairs

    def _filter(self, models, c, rows, sequences, f):
        """ln p of each sequence under model c; `f` is filled with densities relative to the largest of their row."""
        self._log_densities(models, c, rows, f)
        tops = np.empty(len(f))
        _, narrow = relative_densities(f, tops)

        def log_densities(s):
            mine = rows[sequences.starts[s] : sequences.starts[s + 1]]
            log_f = np.empty((len(mine), self._k))
            self._log_densities(models, c, mine, log_f)
            return log_f

        return sequences.filter(models.startprob[c], models.transmat[c], f, tops, narrow, log_densities)

    def _log_densities(self, models, c, rows, out):
        """ln f_j(x_t) under model c, into `out`."""
        means, spread = models.means[c], models.covariances[c]
        if self.covariance_type == "diag":
            constants = -0.5 * np.log(2 * np.pi * spread).sum(axis=1)
            halves = np.ascontiguousarray(0.5 / spread.T)
            gaussian_log_density(np.ascontiguousarray(rows), np.ascontiguousarray(means.T), halves, constants, out)
            return
        lower = np.linalg.cholesky(spread)
        for j, white in enumerate(np.linalg.inv(lower)):
            gaps = (rows - means[j]) @ white.T
            log_det = np.log(np.diagonal(lower[j])).sum()
            out[:, j] = -0.5 * (gaps * gaps).sum(axis=1) - log_det - 0.5 * rows.shape[1] * np.log(2 * np.pi)

    def _maximise(self, models, batch, smoothed, slices, pairs):
        """Divide the expected counts (Eq. 4); a state or a row of transitions without counts keeps what it had."""
        first = np.stack([smoothed[batch.starts[:-1]][owned].sum(axis=0) for owned in self._firsts(batch, slices)])
        total = pairs.sum(axis=2, keepdims=True)
        move = np.where(total == 0, models.transmat, pairs / np.where(total == 0, 1.0, total))
        start = first / first.sum(axis=1, keepdims=True)
        return self._emissions(models._replace(startprob=start, transmat=move), batch, smoothed, slices)

    def _firsts(self, batch, slices):
        """Which sequences belong to each model."""
        edges = np.searchsorted(batch.starts[:-1], [part.start for part in slices] + [batch.starts[-1]])
        return [slice(a, b) for a, b in itertools.pairwise(edges)]

    def _emissions(self, models, batch, smoothed, slices):
        means, spread = models.means.copy(), models.covariances.copy()
        d = batch.n_features
        for c, part in enumerate(slices):
            x, gamma = batch.rows[part], smoothed[part]
            mass = gamma.sum(axis=0)
            seen = mass > 0
            share = gamma[:, seen] / mass[seen]
            means[c, seen] = share.T @ x
            if self.covariance_type == "diag":
                own = share.T @ (x * x) - means[c, seen] ** 2
                spread[c, seen] = np.maximum(own, _FLOOR) + self.reg_covar
                continue
            for j, weight in zip(np.flatnonzero(seen), share.T, strict=True):
                gaps = x - means[c, j]
                spread[c, j] = (gaps * weight[:, None]).T @ gaps + (self.reg_covar + _FLOOR) * np.eye(d)
        return models._replace(means=means, covariances=spread)

    def _scores(self, batch):
        """ln p(x_i | model c), an (n, C) table, of sequences in standardised columns."""
        models, f = self._models, np.empty((len(batch.rows), self._k))
        sequences = Batch(batch.starts, self._k)
        values = [self._filter(models, c, batch.rows, sequences, f) for c in range(len(models.means))]
        return np.column_stack(values) - batch.lengths[:, None] * np.log(self._scale).sum()

    def _hmm(self, c):
        """Model c in the units of the data, for the functions of :mod:`learnable.latent.hmm`."""
        models = self._models
        emission = GaussianEmission(
            self._centre + self._scale * models.means[c], self._scale**2 * models.covariances[c]
        )
        return HMM(models.startprob[c], models.transmat[c], emission)


class WeightedGaussianHMM(_SequenceModel):
    """A Gaussian hidden Markov model fitted to weighted sequences, Σ_i w_i ln p(x_i) → max (Wu and Cheng 2014, Eq. 3).

    Parameters
    ----------
    n_components : int, default=4
        Number of states K.
    covariance_type : {"diag", "full"}, default="diag"
        Independent coordinates in each state, or a covariance matrix for each state.
    topology : {"left-right", "ergodic"}, default="left-right"
        Start in the first state and stay or move on by one, or all transitions.
    max_iter : int, default=20
        At most so many iterations of expectation-maximisation.
    tol : float, default=1e-4
        Stop when an iteration gains no more than this in log-likelihood for each observation.
    reg_covar : float, default=1e-3
        Added to the variances in each iteration, as a share of the variance of the column in the data.

    Attributes
    ----------
    startprob_ : ndarray of shape (K,)
    transmat_ : ndarray of shape (K, K)
    means_ : ndarray of shape (K, d)
    covariances_ : ndarray of shape (K, d) or (K, d, d)
    log_likelihoods_ : ndarray
        Weighted mean log-likelihood of an observation before each iteration and at the end. It never falls when
        `reg_covar` is zero.
    n_iter_ : int
    converged_ : bool
    n_features_in_ : int

    Notes
    -----
    The start is deterministic: every sequence is cut into K equal pieces. An iteration takes O(n K (K + d)) for n
    observations in all (d² with full covariances). Only the ratios of the weights matter.

    Examples
    --------
    >>> up, down = [[0.0], [0.1], [2.0], [2.1]], [[5.0], [5.1], [9.0], [9.1]]
    >>> hmm = WeightedGaussianHMM(2, tol=1e-2).fit([up, down], sample_weight=[1, 0])
    >>> hmm.means_.round(2).ravel().tolist(), hmm.decode([up])[0].tolist()
    ([0.05, 2.05], [0, 0, 1, 1])
    """

    def fit(self, X, y=None, sample_weight=None):
        """Fit to sequences; `sample_weight` multiplies the log-likelihood of each.

        Parameters
        ----------
        X : list of arrays (length, d), array (n, length, d) or (n, d), or Sequences
        y : None
            Ignored.
        sample_weight : array-like of shape (n,), optional

        Returns
        -------
        WeightedGaussianHMM
        """
        self._check_parameters()
        batch = checked_batch(self, X, reset=True)
        weight = check_weights(sample_weight, len(batch))
        weight = np.ones(len(batch)) if weight is None else weight
        self._fit_models(batch, np.zeros(len(batch), dtype=np.int64), 1, weight)
        if not self.converged_:
            gain = self.log_likelihoods_[-1] - self.log_likelihoods_[-2]
            warn_not_converged("WeightedGaussianHMM", self.n_iter_, gain, self.tol, "raise max_iter or tol")
        self.startprob_, self.transmat_ = self._models.startprob[0], self._models.transmat[0]
        self.means_ = self._centre + self._scale * self._models.means[0]
        scale = self._scale if self.covariance_type == "diag" else np.outer(self._scale, self._scale)
        square = scale**2 if self.covariance_type == "diag" else scale
        self.covariances_ = square * self._models.covariances[0]
        return self

    def score_samples(self, X):
        """ln p(x_i) of each sequence."""
        return self._scores(self._batch(X))[:, 0]

    def score(self, X, y=None):
        """Mean of ln p(x_i) over the sequences."""
        return float(self.score_samples(X).mean())

    def decode(self, X):
        """The most likely path of states of each sequence (Viterbi), a list of integer arrays."""
        batch = self._batch(X)
        log_f = np.empty((len(batch.rows), self._k))
        self._log_densities(self._models, 0, batch.rows, log_f)
        path = np.empty(len(log_f), dtype=np.int64)
        with np.errstate(divide="ignore"):
            log_start, log_move = np.log(self._models.startprob[0]), np.log(self._models.transmat[0])
        best_paths(log_start, log_move, log_f, batch.starts, path)
        return np.split(path, batch.starts[1:-1])

    def to_hmm(self):
        """The fitted model as :class:`learnable.latent.hmm.HMM`; diagonal covariances only."""
        check_is_fitted(self, "n_features_in_")
        if self.covariance_type != "diag":
            raise ValueError("covariance_type must be 'diag' for an HMM of learnable.latent.hmm")
        return self._hmm(0)


class HMMClassifier(ClassifierMixin, _SequenceModel):
    """One Gaussian hidden Markov model for each class; a sequence goes to the class under which it is most likely.

    ŷ = argmax_c ln p(x | θ_c), where θ_c is fitted to the weighted sequences of class c alone (Wu and Cheng 2014,
    Alg. 2). The frequencies of the classes do not enter.

    Parameters
    ----------
    n_components : int, default=4
        Number of states of each model.
    covariance_type : {"diag", "full"}, default="diag"
    topology : {"left-right", "ergodic"}, default="left-right"
    max_iter : int, default=20
        Iterations of expectation-maximisation for all classes together. The source runs twenty, come what may: a weak
        learner that stops early is meant to, so that there is no warning.
    tol : float, default=1e-4
        Stop when an iteration gains no more than this for each observation and class.
    reg_covar : float, default=1e-3
        Added to the variances, as a share of the variance of the column.

    Attributes
    ----------
    classes_ : ndarray
    log_likelihoods_ : ndarray
        Sum over the classes of the weighted mean log-likelihood of an observation.
    n_iter_ : int
    converged_ : bool
    n_features_in_ : int

    Notes
    -----
    Fitting costs O(n K (K + d)) an iteration for n observations in all, prediction C times that.

    Examples
    --------
    >>> rise, fall = [[0.0], [1.0], [2.0]], [[2.0], [1.0], [0.0]]
    >>> model = HMMClassifier(3).fit([rise, fall, rise, fall], ["up", "down", "up", "down"])
    >>> model.predict([[[0.2], [0.9], [2.2]], [[1.9], [0.4]]]).tolist()
    ['up', 'down']
    """

    def fit(self, X, y, sample_weight=None):
        """Fit the models of all classes.

        Parameters
        ----------
        X : list of arrays (length, d), array (n, length, d) or (n, d), or Sequences
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
            A class whose weights all vanish is fitted with equal ones.

        Returns
        -------
        HMMClassifier
        """
        self._check_parameters()
        batch = checked_batch(self, X, reset=True)
        self.classes_, codes = checked_classes(y, len(batch))
        weight = check_weights(sample_weight, len(batch))
        weight = np.ones(len(batch)) if weight is None else weight
        return self._fit_models(batch, codes.astype(np.int64), len(self.classes_), weight)

    def score_classes(self, X):
        """ln p(x_i | θ_c), an (n, C) table."""
        return self._scores(self._batch(X))

    def predict_log_proba(self, X):
        """Logarithms of the posterior probabilities if all classes are equally likely beforehand."""
        return log_softmax(self.score_classes(X), axis=1)

    def predict_proba(self, X):
        """Posterior probabilities if all classes are equally likely beforehand; for long sequences nearly 0 or 1."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X):
        """The class under which each sequence is most likely."""
        check_is_fitted(self, "classes_")
        return self.classes_[self.score_classes(X).argmax(axis=1)]


def _normalised(weight, owner, lengths, n_models):
    """Weights with Σ w_i × length_i = 1 for each model; equal ones where all vanish."""
    weight = weight / weight.max()
    mass = np.bincount(owner, weight, minlength=n_models)
    weight = np.where(mass[owner] > 0, weight, 1.0)
    # Weights that span hundreds of orders of magnitude: relative to the largest of their own class.
    top = np.zeros(n_models)
    np.maximum.at(top, owner, weight)
    weight = weight / top[owner]
    return weight / np.bincount(owner, weight * lengths, minlength=n_models)[owner]


def _owned(owner, starts, n_models):
    """The rows of each model, given sequences in the order of their models."""
    edges = starts[np.searchsorted(owner, np.arange(n_models + 1))]
    return [slice(int(a), int(b)) for a, b in itertools.pairwise(edges)]
