"""Topics from word counts: one topic for each document, and latent Dirichlet allocation; EM to polish either.

Both estimators read the counts a few times and then work on a tensor of k x k x k numbers. What follows the data is
linear in the number of non-zero counts; nothing of size d x d is built.
"""

import math
from dataclasses import dataclass

import numpy as np
from numba import njit
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from learnable.latent.tensors.base import TensorEstimator, to_distributions
from learnable.latent.tensors.moments import WordMoments, check_counts
from learnable.latent.tensors.whitening import whiten_operator
from learnable.validation import (
    Result,
    check_finite_array,
    check_probability_rows,
    check_probability_vector,
    check_scalar,
    warn_not_converged,
)


class SingleTopicTensor(TensorEstimator):
    """Mixture of multinomials, one topic a document, from its second and third moments.

    M2 = E[x_1 (x) x_2] = sum w_i mu_i (x) mu_i and M3 likewise (Anandkumar et al. 2014, Theorem 3.1), averaged over all
    pairs and triples of words of a document. O(nnz k + (n + d) k^3).

    Parameters
    ----------
    n_components : int, default=2
        Number of topics.
    n_restarts : int, optional
        Restarts of the power method; ``max(10, 4 k)`` by default.
    max_iter : int, default=30
        Power iterations.
    em_max_iter : int, default=0
        Steps of EM from the tensor estimate (``single_topic_em``).
    random_state : int, Generator or None

    Attributes
    ----------
    weights_ : ndarray of shape (k,)
        Falling.
    components_ : ndarray of shape (k, d)
        Word probabilities of the topics: the raw estimate, clipped at zero and divided by its sum.
    raw_components_ : ndarray of shape (k, d)
        Before clipping.
    eigenvalues_, weights_sum_, residual_ :
        Of the decomposition; the sum of the weights before they were divided by it (far from one, the model or k is in
        doubt); the share of the whitened tensor that the components leave unexplained.
    n_short_ : int
        Documents with fewer than three words. They are left out of the third moment; those with two words still
        feed the second moment, those with one the first.

    Examples
    --------
    >>> from learnable.datasets import make_single_topic
    >>> made = make_single_topic(2000, n_words=30, k=3, random_state=0)
    >>> model = SingleTopicTensor(3, random_state=0).fit(made.data)
    >>> model.components_.shape, bool(abs(model.weights_.sum() - 1) < 1e-12)
    ((3, 30), True)
    """

    _takes = "counts of words"

    def __init__(self, n_components=2, *, n_restarts=None, max_iter=30, em_max_iter=0, random_state=None):
        super().__init__(n_components, n_restarts=n_restarts, max_iter=max_iter, random_state=random_state)
        self.em_max_iter = em_max_iter

    def fit(self, X, y=None):
        """Fit the model to a document-term matrix of counts, dense or sparse."""
        em_iter = check_scalar(self.em_max_iter, "em_max_iter", low=0, integer=True)
        moments, a = self._fit_moments(X, 0.0)
        self._store_weights(a)
        if em_iter:
            found = single_topic_em(moments.X, self.weights_, self.components_, max_iter=em_iter, warn=False)
            order = np.argsort(-found.weights, kind="stable")
            self.weights_, self.components_ = found.weights[order], found.topics[order]
        return self

    def _fit_moments(self, X, alpha0):
        k = check_scalar(self.n_components, "n_components", low=1, integer=True)
        moments = WordMoments(X, alpha0)
        d = moments.X.shape[1]
        rng = self._generator()
        W, B = whiten_operator(moments.multiply, d, k, rng)
        T = moments.whitened_third(W)
        a, self.raw_components_ = self._decompose(T, B, rng, ratio=2 / (alpha0 + 2))
        self.components_ = to_distributions(self.raw_components_)
        self.n_short_, self.n_features_in_ = moments.n_short_, d
        return moments, a

    def predict_proba(self, X):
        """Posterior probabilities of the topics of each document, computed in the log domain."""
        check_is_fitted(self)
        X = _same_words(X, self.n_features_in_)
        return _topic_posteriors(X, self.weights_, self.components_)[0]

    def predict(self, X):
        """The most probable topic of each document."""
        return self.predict_proba(X).argmax(axis=1)


class LDATensor(ClassNamePrefixFeaturesOutMixin, TransformerMixin, SingleTopicTensor):
    """Latent Dirichlet allocation from its second and third moments (Anandkumar et al. 2014, Theorem 3.5).

    The moments are those of ``lda_moments``; alpha0, the sum of the
    Dirichlet parameters, must be given. From an eigenvalue lam_i follows a_i = (2 / ((alpha0 + 2) lam_i))^2 and
    alpha_i = alpha0 (alpha0 + 1) a_i. O(nnz k + (n + d) k^3).

    Parameters
    ----------
    n_components : int, default=2
    alpha0 : float, default=1
        Small: documents of few topics. Zero is the single topic model.
    n_restarts, max_iter, random_state :
        As in :class:`SingleTopicTensor`.
    em_max_iter : int, default=0
        Sweeps of variational EM from the tensor estimate (``lda_em``).

    Attributes
    ----------
    alpha_ : ndarray of shape (k,)
        Dirichlet parameters, falling, with sum alpha0.
    weights_ : ndarray of shape (k,)
        alpha_ / alpha0: shares of the topics.
    components_, raw_components_, eigenvalues_, weights_sum_, residual_, n_short_ :
        As in :class:`SingleTopicTensor`.

    Examples
    --------
    >>> from learnable.datasets import make_topics
    >>> made = make_topics(2000, n_words=30, k=3, alpha0=1.0, random_state=0)
    >>> model = LDATensor(3, alpha0=1.0, random_state=0).fit(made.data)
    >>> model.components_.shape, round(float(model.alpha_.sum()), 6)
    ((3, 30), 1.0)
    """

    _takes = "counts of words"

    def __init__(self, n_components=2, alpha0=1.0, *, n_restarts=None, max_iter=30, em_max_iter=0, random_state=None):
        super().__init__(
            n_components, n_restarts=n_restarts, max_iter=max_iter, em_max_iter=em_max_iter, random_state=random_state
        )
        self.alpha0 = alpha0

    def fit(self, X, y=None):
        """Fit the model to a document-term matrix of counts, dense or sparse."""
        alpha0 = check_scalar(self.alpha0, "alpha0", low=0)
        em_iter = check_scalar(self.em_max_iter, "em_max_iter", low=0, integer=True)
        if alpha0 == 0 and em_iter:
            raise ValueError("alpha0 = 0 is the single topic model: use SingleTopicTensor for its EM")
        moments, a = self._fit_moments(X, alpha0)
        self._store_weights((alpha0 + 1) * a)
        self.alpha_ = alpha0 * self.weights_
        if em_iter:
            found = lda_em(moments.X, self.alpha_, self.components_, max_iter=em_iter)
            self.components_ = found.topics
        return self

    def predict_proba(self, X):
        """Posterior mean of the topic shares of each document, by mean-field inference."""
        check_is_fitted(self)
        X = _same_words(X, self.n_features_in_)
        if self.alpha0 == 0:
            return super().predict_proba(X)
        return lda_em(X, self.alpha_, self.components_, max_iter=1, inner_max_iter=50, update=False).shares

    @property
    def _n_features_out(self):
        return self.components_.shape[0]

    def transform(self, X):
        """The same as :meth:`predict_proba`, under the name scikit-learn's topic models use."""
        return self.predict_proba(X)


@dataclass(frozen=True, eq=False)
class TopicEM(Result):
    """Weights and topics after EM, from ``single_topic_em``, with the log-likelihood after each iteration."""

    weights: np.ndarray
    topics: np.ndarray
    log_likelihoods: np.ndarray
    n_iter: int
    converged: bool


@dataclass(frozen=True, eq=False)
class LDAEM(Result):
    """Topics, shares of documents and the bounds after each iteration, from ``lda_em``."""

    topics: np.ndarray
    shares: np.ndarray
    bounds: np.ndarray


def single_topic_em(X, weights, topics, max_iter=100, *, tol=1e-6, smoothing=1e-10, warn=True):
    """EM for the mixture of multinomials, one topic for each document, on sparse counts. A step is O(nnz k).

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        Counts.
    weights : array-like of shape (k,)
    topics : array-like of shape (k, d)
        The start; rows are probabilities.
    max_iter : int, default=100
    tol : float, default=1e-6
        Stop when the log-likelihood of a document grows by less, on average.
    smoothing : float, default=1e-10
        Added to every word probability, so that no word is impossible.
    warn : bool, default=True
        Warn if `max_iter` steps were not enough.

    Returns
    -------
    TopicEM
        ``weights``, ``topics``, ``log_likelihoods`` (before every step, up to the multinomial coefficients),
        ``converged``.

    Examples
    --------
    >>> found = single_topic_em([[5, 0], [4, 1], [0, 6]], [0.5, 0.5], [[0.6, 0.4], [0.4, 0.6]])
    >>> found.weights.round(2).tolist(), bool((np.diff(found.log_likelihoods) >= -1e-9).all())
    ([0.67, 0.33], True)
    """
    X = check_counts(X)
    weights, topics = _check_topics(X, weights, topics, "weights")
    weights = check_probability_vector(weights, "weights")
    max_iter = check_scalar(max_iter, "max_iter", low=1, integer=True)
    tol = check_scalar(tol, "tol", low=0)
    smoothing = check_scalar(smoothing, "smoothing", low=0, closed="neither")
    history, converged = [], False
    topics = _smooth(topics, smoothing)
    for _ in range(max_iter):
        shares, value = _topic_posteriors(X, weights, topics)
        history.append(value)
        if len(history) > 1 and history[-1] - history[-2] <= tol * X.shape[0]:
            converged = True
            break
        weights = shares.mean(axis=0)
        topics = _smooth((X.T @ shares).T, smoothing)
    if not converged and warn:
        warn_not_converged("single_topic_em", max_iter, None, None, "raise max_iter or tol")
    return TopicEM(weights, topics, np.array(history), len(history), converged)


def lda_em(X, alpha, topics, max_iter=10, *, inner_max_iter=10, smoothing=1e-10, update=True):
    """Variational EM for latent Dirichlet allocation with known alpha, compiled, on sparse counts.

    Mean field as in Blei, Ng and Jordan (2003): q(h) = Dirichlet(gamma) for every document, warm-started from sweep to
    sweep; topics are the expected counts. O(nnz k inner_iter) a sweep. The bound never falls.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        Counts.
    alpha : array-like of shape (k,)
        Dirichlet parameters.
    topics : array-like of shape (k, d)
        The start; rows are probabilities.
    max_iter, inner_max_iter : int, default=10, 10
        Sweeps, and steps for a document within a sweep.
    smoothing : float, default=1e-10
    update : bool, default=True
        Update the topics; False only infers the documents' shares.

    Returns
    -------
    LDAEM
        ``topics``, ``shares`` (n, k): posterior means of the topic shares, ``bounds`` on the log-likelihood, one a
        sweep.

    Examples
    --------
    >>> found = lda_em([[5, 0], [4, 1], [0, 6]], [0.5, 0.5], [[0.6, 0.4], [0.4, 0.6]])
    >>> found.shares.shape, bool((np.diff(found.bounds) >= -1e-9).all())
    ((3, 2), True)
    """
    X = check_counts(X)
    alpha, topics = _check_topics(X, alpha, topics, "alpha")
    if alpha.min() <= 0:
        raise ValueError(f"alpha must be positive, got {alpha.min():g}")
    max_iter = check_scalar(max_iter, "max_iter", low=1, integer=True)
    inner_max_iter = check_scalar(inner_max_iter, "inner_max_iter", low=1, integer=True)
    smoothing = check_scalar(smoothing, "smoothing", low=0, closed="neither")
    length = np.asarray(X.sum(axis=1))
    gamma = alpha + length / alpha.size
    topics = _smooth(topics, smoothing)
    bounds = []
    for _ in range(max_iter):
        by_word = np.ascontiguousarray(topics.T)
        counts = np.zeros_like(by_word)
        bounds.append(_lda_sweep(X.indptr, X.indices, X.data, by_word, alpha, gamma, inner_max_iter, counts))
        if update:
            topics = _smooth(counts.T, smoothing)
    shares = gamma / gamma.sum(axis=1, keepdims=True)
    return LDAEM(topics, shares, np.array(bounds))


def _check_topics(X, weights, topics, name):
    weights = check_finite_array(weights, name, ndim=1)
    return weights, check_probability_rows(topics, "topics", rows=weights.size, columns=X.shape[1], tol=1e-6)


def _same_words(X, d):
    X = check_counts(X)
    if X.shape[1] != d:
        raise ValueError(f"X has {X.shape[1]} features, but the model was fitted with {d}")
    return X


def _smooth(topics, smoothing):
    topics = topics + smoothing * np.maximum(topics.sum(axis=1, keepdims=True), 1e-300)
    return topics / topics.sum(axis=1, keepdims=True)


def _topic_posteriors(X, weights, topics):
    with np.errstate(divide="ignore"):
        scores = X @ np.log(np.maximum(topics, 1e-300)).T + np.log(weights)
    top = scores.max(axis=1, keepdims=True)
    shares = np.exp(scores - top)
    total = shares.sum(axis=1, keepdims=True)
    return shares / total, float((top + np.log(total)).sum())


@njit(cache=True)
def _digamma(x):
    shift = 0.0
    while x < 6.0:
        shift -= 1.0 / x
        x += 1.0
    r = 1.0 / (x * x)
    return shift + math.log(x) - 0.5 / x - r * (1.0 / 12 - r * (1.0 / 120 - r * (1.0 / 252 - r * (1.0 / 240))))


@njit(cache=True)
def _lda_sweep(indptr, indices, data, by_word, alpha, gamma, inner_iter, counts):
    """One E step over all documents; adds the expected counts and returns the variational bound."""
    k = alpha.size
    bound = 0.0
    log_weight, weight, gathered = np.empty(k), np.empty(k), np.empty(k)
    for row in range(gamma.shape[0]):
        first, last = indptr[row], indptr[row + 1]
        step = 0
        # Coordinate ascent for one document: gamma_a = alpha_a + Σ_w n_w φ_wa, φ_wa ∝ exp(E ln θ_a) topic_a(w).
        while True:
            total = 0.0
            for a in range(k):
                total += gamma[row, a]
            base = _digamma(total)
            for a in range(k):
                log_weight[a] = _digamma(gamma[row, a]) - base
                weight[a] = math.exp(log_weight[a])
                gathered[a] = 0.0
            if step >= inner_iter:
                break
            for p in range(first, last):
                i = indices[p]
                mass = 0.0
                for a in range(k):
                    mass += weight[a] * by_word[i, a]
                share = data[p] / mass
                for a in range(k):
                    gathered[a] += share * by_word[i, a]
            moved = 0.0
            for a in range(k):
                new = alpha[a] + weight[a] * gathered[a]
                moved += abs(new - gamma[row, a])
                gamma[row, a] = new
            step = inner_iter if moved < 1e-4 * total else step + 1
        fit = 0.0
        for p in range(first, last):
            i = indices[p]
            mass = 0.0
            for a in range(k):
                mass += weight[a] * by_word[i, a]
            fit += data[p] * math.log(mass)
            share = data[p] / mass
            for a in range(k):
                counts[i, a] += share * weight[a] * by_word[i, a]
        alpha_total = 0.0
        gamma_total = 0.0
        for a in range(k):
            fit += (alpha[a] - gamma[row, a]) * log_weight[a] + math.lgamma(gamma[row, a]) - math.lgamma(alpha[a])
            alpha_total += alpha[a]
            gamma_total += gamma[row, a]
        bound += fit + math.lgamma(alpha_total) - math.lgamma(gamma_total)
    return bound
