"""What the observations say about the states: filtering, prediction, smoothing (Lember 2012, Sec. 7.2).

The scaled recursions work with probabilities, normalised at each step, on densities divided by the largest of their
row. They keep watch over underflow: should a positive number become so small that it might be lost, the same
quantities are computed in logarithms. A posterior probability of zero therefore means *impossible*, never *too small*.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from learnable.latent.hmm import _kernels as kernels
from learnable.latent.hmm.model import HMM, impossible_observation
from learnable.validation import Result, check_choice, check_scalar


@dataclass(frozen=True, eq=False)
class Filtered(Result):
    """Filtering probabilities p_t(j | x^t), predictions p_t(j | x^(t-1)) and ln p(x^n)."""

    filtered: np.ndarray
    predicted: np.ndarray
    log_likelihood: float


class Posterior:
    """What :func:`forward_backward` returns: the posterior law of the hidden path.

    Parameters
    ----------
    hmm : HMM
    x : ndarray
        The observations, checked.
    log_f : ndarray of shape (n, K)
        Log densities ln f_j(x_t).
    log_likelihood : float
        ln p(x^n).
    filtered : ndarray of shape (n, K)
        p_t(j | x^t).
    smoothed : ndarray of shape (n, K)
        p_t(j | x^n).
    log_alpha, log_beta : ndarray of shape (n, K)
        ln p(x^t, Y_t = j) and ln p(x_(t+1)^n | Y_t = j); computed when first asked for, and kept, if not given.
    method : {"scaled", "log"}
        How the recursions were run.

    Attributes
    ----------
    log_smoothed : ndarray of shape (n, K)
        Its logarithm, -inf exactly where the state is impossible (computed when first asked for, and kept).
    log_prior : ndarray of shape (n, K)
        ln P(Y_t = j), without the observations (computed when first asked for, and kept).

    Examples
    --------
    >>> turn = HMM([0.5, 0.5], [[0, 1], [1, 0]])
    >>> post = forward_backward(turn, np.log([[0.75, 0.25], [0.5, 0.5]]))
    >>> isinstance(post, Posterior), post.smoothed.round(2).tolist()
    (True, [[0.75, 0.25], [0.25, 0.75]])
    """

    def __init__(self, hmm, x, log_f, log_likelihood, filtered, smoothed, *, log_alpha=None, log_beta=None, method):
        self.hmm, self.x, self.log_f = hmm, x, log_f
        self.log_likelihood, self.filtered, self.smoothed, self.method = log_likelihood, filtered, smoothed, method
        if log_alpha is not None:
            self.log_alpha, self.log_beta = log_alpha, log_beta

    def __len__(self):
        return len(self.log_f)

    @cached_property
    def log_alpha(self):
        return _log_forward(self.hmm, self.log_f)

    @cached_property
    def log_beta(self):
        return _log_backward(self.hmm, self.log_f)

    @cached_property
    def log_smoothed(self):
        if self.method == "log":
            return self.log_alpha + self.log_beta - self.log_likelihood
        with np.errstate(divide="ignore"):
            return np.log(self.smoothed)

    @cached_property
    def log_prior(self):
        with np.errstate(divide="ignore"):
            return np.log(self.hmm.prior(len(self)))

    def __repr__(self):
        return f"Posterior({len(self)} observations, {self.hmm!r}, log_likelihood={self.log_likelihood:.6g})"


def forward_backward(hmm, x, method="scaled"):
    r"""Posterior probabilities of the states by forward and backward recursions.

    ::

        α_(t+1)(j) = Σ_i α_t(i) p_ij f_j(x_(t+1)),
        β_t(j) = Σ_i p_ji f_i(x_(t+1)) β_(t+1)(i),
        p_t(j|xⁿ) ∝ α_t(j) β_t(j).

    Parameters
    ----------
    hmm : HMM
    x : array-like
        Observations, see :class:`HMM`.
    method : {"scaled", "log", "derin"}, default="scaled"
        * "scaled": probabilities, normalised at each step; goes over to "log" by itself where numbers become too small;
        * "log": logarithms throughout;
        * "derin": filters forward, then Derin's backward smoother, which needs no beta.

    Returns
    -------
    Posterior

    Notes
    -----
    Lember 2012, (7.2.3)-(7.2.8). Time O(n K²), or O(n a) for a chain with a < K²/6 possible transitions; memory O(nK).

    Examples
    --------
    >>> from learnable.latent import DiscreteEmission
    >>> coin = HMM([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], DiscreteEmission([[0.5, 0.5], [0.9, 0.1]]))
    >>> forward_backward(coin, [0, 0, 0, 1]).smoothed.round(3).tolist()
    [[0.337, 0.663], [0.36, 0.64], [0.447, 0.553], [0.635, 0.365]]
    """
    check_choice(method, "method", ("scaled", "log", "derin"))
    hmm = check_hmm(hmm)
    x = hmm.check(x)
    log_f = hmm.densities(x) if method != "log" else hmm.log_likelihoods(x)
    if method != "log":
        f = log_f.copy()
        made = _scaled_forward(hmm, f)
        if made is not None:
            filtered, log_likelihood = made
            if method == "derin":
                small = kernels.derin(hmm.net[0], hmm.net[1], filtered, f)
            else:
                small = kernels.backward(hmm.net[1], f, filtered, f, np.empty((0, 0)), False, False)
            if not small:
                return Posterior(hmm, x, log_f, log_likelihood, filtered, f, method=method)
    return _log_posterior(hmm, x, log_f)


def smooth(hmm, x):
    """Return ln p(x^n) and the smoothing probabilities p_t(j | x^n), with as little memory as possible.

    The same numbers as :func:`forward_backward`, without what else it keeps: two (n, K) arrays in all. O(n K²).

    Parameters
    ----------
    hmm : HMM
    x : array-like

    Returns
    -------
    log_likelihood : float
    smoothed : ndarray of shape (n, K)

    Examples
    --------
    >>> from learnable.latent import GaussianEmission
    >>> log_likelihood, p = smooth(HMM([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], GaussianEmission([-1, 1])), [0.0, 2.0])
    >>> round(log_likelihood, 3), p.round(3).tolist()
    (-3.513, [[0.114, 0.886], [0.018, 0.982]])
    """
    hmm = check_hmm(hmm)
    f = hmm.densities(x)
    made = _scaled_forward(hmm, f)
    if made is not None:
        filtered, log_likelihood = made
        if not kernels.backward(hmm.net[1], f, filtered, f, np.empty((0, 0)), False, False):
            return log_likelihood, f
    posterior = _log_posterior(hmm, x, hmm.log_likelihoods(x))
    return posterior.log_likelihood, posterior.smoothed


def filtering(hmm, x):
    """Filtering and one-step prediction probabilities, as if the observations came one by one.

    p_(t+1)(j | x^t) = sum_i p_ij p_t(i | x^t), then p_(t+1)(j | x^(t+1)) proportional to p_(t+1)(j | x^t) f_j(x_(t+1))
    (Lember 2012, (7.2.8)). Time O(n K²), memory O(nK).

    Parameters
    ----------
    hmm : HMM
    x : array-like

    Returns
    -------
    Filtered

    Examples
    --------
    >>> from learnable.latent import DiscreteEmission
    >>> coin = HMM([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], DiscreteEmission([[0.5, 0.5], [0.9, 0.1]]))
    >>> filtering(coin, [0, 0]).filtered.round(3).tolist()
    [[0.357, 0.643], [0.259, 0.741]]
    """
    hmm = check_hmm(hmm)
    log_f = hmm.log_likelihoods(x)
    made = _scaled_forward(hmm, log_f.copy())
    if made is None:
        log_alpha = _log_forward(hmm, log_f)
        filtered = np.exp(log_alpha - log_alpha.max(axis=1, keepdims=True))
        filtered /= filtered.sum(axis=1, keepdims=True)
        made = filtered, float(kernels.log_sum(log_alpha[-1]))
    filtered, log_likelihood = made
    predicted = np.vstack([hmm.startprob, filtered[:-1] @ hmm.transmat])
    return Filtered(filtered, predicted, log_likelihood)


def predict(hmm, x, h=1):
    """Laws of the next h states, p_t(j | x^n) = (p_n(. | x^n) P^(t-n))_j for t = n+1..n+h.

    Parameters
    ----------
    hmm : HMM
    x : array-like or Posterior
    h : int, default=1

    Returns
    -------
    ndarray of shape (h, K)

    Examples
    --------
    >>> from learnable.latent import DiscreteEmission
    >>> coin = HMM([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], DiscreteEmission([[0.5, 0.5], [0.9, 0.1]]))
    >>> predict(coin, [0, 0], 2).round(3).tolist()
    [[0.307, 0.693], [0.346, 0.654]]
    """
    h = check_scalar(h, "h", low=1, integer=True)
    last = (as_posterior(hmm, x).filtered if isinstance(x, Posterior) else filtering(hmm, x).filtered)[-1]
    out = np.empty((h + 1, len(last)))
    kernels.prior_marginals(last, hmm.net[0], out)
    return out[1:]


def check_hmm(hmm):
    """Return `hmm` after checking that it is one."""
    if not isinstance(hmm, HMM):
        raise ValueError(f"hmm must be an HMM, got {type(hmm).__name__}")
    return hmm


def as_posterior(hmm, x):
    """Return the posterior of `x`, which may be one already (then of the same model)."""
    check_hmm(hmm)
    if not isinstance(x, Posterior):
        return forward_backward(hmm, x)
    if x.hmm is not hmm:
        raise ValueError("x is a Posterior of another model")
    return x


def impossible_sequence(t):
    """The message for observations that the chain cannot produce."""
    return f"the observations are impossible under the model: p(x_0, ..., x_t) = 0 from t = {t} on"


def _scaled_forward(hmm, f):
    """Filters and log-likelihood; None where logarithms are needed. `f`: log densities, made relative densities."""
    shift = np.empty(len(f))
    bad, narrow = kernels.relative_densities(f, shift)
    if bad >= 0:
        raise ValueError(impossible_observation(bad))
    if narrow or hmm.tiny_parameters:
        return None
    filtered = np.empty_like(f)
    stop, small, log_scale = kernels.forward(hmm.startprob, hmm.net[0], f, filtered, False)
    if small:
        return None
    if stop >= 0:
        raise ValueError(impossible_sequence(stop))
    return filtered, float(log_scale + shift.sum())


def _log_forward(hmm, log_f):
    log_alpha = np.empty_like(log_f)
    stop = kernels.log_forward(hmm.log_startprob, hmm.net[0], hmm.net[2], log_f, log_alpha)
    if stop >= 0:
        raise ValueError(impossible_sequence(stop))
    return log_alpha


def _log_backward(hmm, log_f):
    log_beta = np.empty_like(log_f)
    kernels.log_backward(hmm.net[1], hmm.net[3], log_f, log_beta)
    return log_beta


def _log_posterior(hmm, x, log_f):
    log_alpha, log_beta = _log_forward(hmm, log_f), _log_backward(hmm, log_f)
    log_likelihood = float(kernels.log_sum(log_alpha[-1]))
    filtered = np.exp(log_alpha - log_alpha.max(axis=1, keepdims=True))
    filtered /= filtered.sum(axis=1, keepdims=True)
    joint = log_alpha + log_beta
    smoothed = np.exp(joint - joint.max(axis=1, keepdims=True))
    smoothed /= smoothed.sum(axis=1, keepdims=True)
    return Posterior(
        hmm, x, log_f, log_likelihood, filtered, smoothed, log_alpha=log_alpha, log_beta=log_beta, method="log"
    )
