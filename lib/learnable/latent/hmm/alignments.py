"""Which path to report: Viterbi, PMAP, and the family between them (Lember 2012, Sec. 7.3).

Every function takes a model and observations, or the :class:`~learnable.latent.hmm.Posterior` of these observations if
you have it already, and returns a path of states 0..K-1. All but :func:`pmap` are one dynamic program with different
scores; given the posterior each costs O(n K²) time and O(nK) memory.
"""

from __future__ import annotations

import numpy as np

from learnable.latent.hmm import Posterior
from learnable.latent.hmm._dynamic import best_path, best_values, tied_paths
from learnable.latent.hmm._kernels import arcs
from learnable.latent.hmm.model import impossible_observation
from learnable.latent.hmm.recursions import as_posterior, check_hmm, impossible_sequence
from learnable.problems.tables import check_loss_matrix
from learnable.validation import check_scalar


def viterbi(hmm, x, all_ties=False, *, max_ties=1000, tol=1e-12):
    r"""The most probable path, argmax p(s | x): the Bayes rule for "all or nothing" (Lember 2012, (7.3.4)).

    ::

        δ_(t+1)(j) = max_i(δ_t(i) + ln p_ij) + ln f_j(x_(t+1)).

    Parameters
    ----------
    hmm : HMM
    x : array-like or Posterior
    all_ties : bool, default=False
        Instead of one path, a generator of all optimal paths.
    max_ties : int, default=1000
        The generator stops after so many.
    tol : float, default=1e-12
        Paths count as tied when their log probabilities differ by less than ``tol (1 + |best|)``.

    Returns
    -------
    ndarray of shape (n,), or generator of such arrays

    Notes
    -----
    Needs no posteriors. Time O(n K²), or O(n a) with a < K²/6 possible transitions; nK bytes for back-pointers.

    Examples
    --------
    >>> from learnable.latent import DiscreteEmission, HMM
    >>> coin = HMM([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], DiscreteEmission([[0.5, 0.5], [0.9, 0.1]]))
    >>> viterbi(coin, [1, 1, 0, 0, 0, 0, 0]).tolist()
    [0, 0, 1, 1, 1, 1, 1]
    """
    check_hmm(hmm)
    log_f = as_posterior(hmm, x).log_f if isinstance(x, Posterior) else hmm.densities(x)
    return _align(hmm.log_startprob, hmm.net[2], [(1.0, log_f)], all_ties, max_ties, tol)


def pmap(hmm, x, loss=None):
    """The path with the fewest expected errors: at each time the most probable state (PMAP).

    With a pointwise loss l(y, s) it is, at each time, argmin_s sum_y l(y, s) p_t(y | x). Its transitions may be
    impossible: see :func:`restricted_pmap` and :func:`posterior_viterbi`.

    Parameters
    ----------
    hmm : HMM
    x : array-like or Posterior
    loss : array-like of shape (K, K), optional
        Row = truth, column = decision; counts errors by default.

    Returns
    -------
    ndarray of shape (n,)

    Examples
    --------
    >>> from learnable.latent import DiscreteEmission, HMM
    >>> coin = HMM([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], DiscreteEmission([[0.5, 0.5], [0.9, 0.1]]))
    >>> pmap(coin, [1, 1, 0, 0, 0, 0, 0]).tolist()
    [0, 0, 1, 1, 1, 1, 1]
    >>> pmap(coin, [1, 1, 0, 0, 0, 0, 0], loss=[[0, 1], [20, 0]]).tolist()
    [1, 1, 1, 1, 1, 1, 1]
    """
    smoothed = as_posterior(hmm, x).smoothed
    if loss is None:
        return smoothed.argmax(axis=1)
    loss = check_loss_matrix(loss, hmm.n_states, "loss", n_decisions=hmm.n_states)
    return (smoothed @ loss).argmin(axis=1)


def restricted_pmap(hmm, x):
    """The fewest expected errors among possible paths: max sum p_t(s_t | x) over p(s | x) > 0 (Lember 2012, (7.3.8)).

    Parameters
    ----------
    hmm : HMM
    x : array-like or Posterior

    Returns
    -------
    ndarray of shape (n,)

    Examples
    --------
    >>> from learnable.latent import HMM
    >>> ring = HMM([1, 0, 0], [[0.5, 0.5, 0], [0, 0.5, 0.5], [0.5, 0, 0.5]])
    >>> restricted_pmap(ring, np.log([[1, 1, 1], [4, 1, 9], [1, 1, 9]])).tolist()
    [0, 1, 2]
    """
    post = as_posterior(hmm, x)
    score = np.where(post.log_smoothed > -np.inf, post.smoothed, -np.inf)
    return _align(np.zeros(hmm.n_states), _possible(hmm), [(1.0, score)])


def posterior_viterbi(hmm, x):
    """Posterior Viterbi decoding: max prod p_t(s_t | x) over possible paths (Lember 2012, (7.3.11)).

    Like :func:`restricted_pmap`, but probabilities are multiplied instead of added: improbable states are avoided.

    Parameters
    ----------
    hmm : HMM
    x : array-like or Posterior

    Returns
    -------
    ndarray of shape (n,)

    Examples
    --------
    >>> from learnable.latent import HMM
    >>> ring = HMM([1, 0, 0], [[0.5, 0.5, 0], [0, 0.5, 0.5], [0.5, 0, 0.5]])
    >>> posterior_viterbi(ring, np.log([[1, 1, 1], [4, 1, 9], [1, 1, 9]])).tolist()
    [0, 1, 2]
    """
    post = as_posterior(hmm, x)
    return _align(np.zeros(hmm.n_states), _possible(hmm), [(1.0, post.log_smoothed)])


def penalised_pmap(hmm, x, C=1.0):
    """Penalised PMAP: max sum p_t(s_t | x) + C ln p(s) over possible paths (Lember 2012, (7.3.20)).

    Parameters
    ----------
    hmm : HMM
    x : array-like or Posterior
    C : float, default=1.0
        Weight of the prior probability of the path, at least 0; the source has C = 1.

    Returns
    -------
    ndarray of shape (n,)

    Examples
    --------
    >>> from learnable.latent import HMM
    >>> ring = HMM([1, 0, 0], [[0.5, 0.5, 0], [0, 0.5, 0.5], [0.5, 0, 0.5]])
    >>> penalised_pmap(ring, np.log([[1, 1, 1], [4, 1, 9], [1, 1, 9]])).tolist()
    [0, 1, 2]
    """
    C = check_scalar(C, "C", low=0)
    if C == 0:
        return restricted_pmap(hmm, x)
    post = as_posterior(hmm, x)
    score = np.where(post.log_smoothed > -np.inf, post.smoothed, -np.inf)
    return _align(C * hmm.log_startprob, arcs(C * hmm.log_transmat, -np.inf), [(1.0, score)])


def combined(hmm, x, C1=0.0, C2=0.0, C3=0.0, C4=0.0, all_ties=False, *, max_ties=1000, tol=1e-12):
    r"""Minimise a weighted sum of four logarithmic risks (Lember 2012, (7.3.21)).

    ::

        -C₁ Σ_t ln p_t(s_t|x) - C₂ ln p(s|x) - C₃ Σ_t ln P(Y_t = s_t) - C₄ ln p(s).

    A term with a constant of zero is left out: 0 times infinity counts as 0. With C2 > 0, or with C1 > 0 and C4 > 0,
    the path is always possible.

    Parameters
    ----------
    hmm : HMM
    x : array-like or Posterior
    C1, C2, C3, C4 : float, default=0
        Non-negative, not all zero. (1,0,0,0) is PMAP, (0,1,0,0) Viterbi, (0,0,1,0) the likeliest state a priori at each
        time, (0,0,0,1) the likeliest path a priori, (1,0,0,C) the penalised form of PMAP with logarithms (7.3.18),
        (1,k-1,0,0) the k-block alignment.
    all_ties, max_ties, tol
        As in :func:`viterbi`.

    Returns
    -------
    ndarray of shape (n,), or generator of such arrays

    Examples
    --------
    >>> from learnable.latent import HMM
    >>> ring = HMM([1, 0, 0], [[0.5, 0.5, 0], [0, 0.5, 0.5], [0.5, 0, 0.5]])
    >>> combined(ring, np.log([[1, 1, 1], [4, 1, 9], [1, 1, 9]]), 1, 0.5).tolist()
    [0, 1, 2]
    """
    C1, C2, C3, C4 = (check_scalar(c, f"C{i}", low=0) for i, c in enumerate((C1, C2, C3, C4), start=1))
    if C1 + C2 + C3 + C4 == 0:
        raise ValueError("one of C1, C2, C3, C4 must be positive")
    post = as_posterior(hmm, x)
    scores = [(C2, post.log_f)] if C2 > 0 else []
    if C1 > 0:
        scores.append((C1, post.log_smoothed))
    if C3 > 0:
        scores.append((C3, post.log_prior))
    weight = C2 + C4
    if weight == 0:
        start, net = np.zeros(hmm.n_states), arcs(np.zeros((hmm.n_states, hmm.n_states)), -np.inf)
    else:
        start, net = weight * hmm.log_startprob, arcs(weight * hmm.log_transmat, -np.inf)
    return _align(start, net, scores or [(1.0, np.zeros_like(post.log_f))], all_ties, max_ties, tol)


def kblock(hmm, x, k, all_ties=False, *, max_ties=1000, tol=1e-12):
    """The k-block alignment v(k): minimises the sum of -ln p(block | x) over all blocks of length k, ends included.

    By Lember 2012, Thm. 7.3.1, it is ``combined(1, k - 1, 0, 0)``: k = 1 is PMAP, a large k Viterbi, and between them
    the path's probability grows with k while the pointwise probabilities fall. Possible for k > 1.

    Parameters
    ----------
    hmm : HMM
    x : array-like or Posterior
    k : float
        At least 1, and not necessarily whole; ``inf`` is Viterbi.
    all_ties, max_ties, tol
        As in :func:`viterbi`.

    Returns
    -------
    ndarray of shape (n,), or generator of such arrays

    Examples
    --------
    >>> from learnable.latent import HMM
    >>> ring = HMM([1, 0, 0], [[0.5, 0.5, 0], [0, 0.5, 0.5], [0.5, 0, 0.5]])
    >>> kblock(ring, np.log([[1, 1, 1], [4, 1, 9], [1, 1, 9]]), 2).tolist()
    [0, 1, 2]
    """
    if isinstance(k, float | np.floating) and k == np.inf:
        return viterbi(hmm, x, all_ties, max_ties=max_ties, tol=tol)
    k = check_scalar(k, "k", low=1)
    return combined(hmm, x, 1.0, k - 1.0, all_ties=all_ties, max_ties=max_ties, tol=tol)


def _possible(hmm):
    """Transitions with score 0 where they are possible."""
    return arcs(np.where(hmm.transmat > 0, 0.0, -np.inf), -np.inf)


def _align(start, net, scores, all_ties=False, max_ties=1000, tol=1e-12):
    if all_ties:
        max_ties, tol = check_scalar(max_ties, "max_ties", low=1, integer=True), check_scalar(tol, "tol", low=0)
        values = best_values(start, net, scores)
        if values[-1].max() == -np.inf:
            _refuse(scores, values)
        return tied_paths(values, net, max_ties, tol)
    path, value = best_path(start, net, scores)
    if value == -np.inf:
        _refuse(scores, best_values(start, net, scores))
    return path


def _refuse(scores, values):
    """No path is possible: say from which time on."""
    empty = (scores[0][1] == -np.inf).all(axis=1)
    if empty.any():
        raise ValueError(impossible_observation(int(empty.argmax())))
    raise ValueError(impossible_sequence(int((values == -np.inf).all(axis=1).argmax())))
