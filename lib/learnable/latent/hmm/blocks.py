"""The posterior is a Markov chain again: paths drawn from it (Lember 2012, Prop. 7.2.1)."""

from __future__ import annotations

import numpy as np
from numba import njit

from learnable.latent.hmm.recursions import as_posterior
from learnable.validation import check_rng, check_scalar


def sample_paths(hmm, x, size=1, random_state=None):
    """Draw paths from the posterior law p(s | x): filter forward, sample backward.

    P(Y_t = i | Y_(t+1) = j, x) is proportional to p_t(i | x^t) p_ij. O(nK) a path.

    Parameters
    ----------
    hmm : HMM
    x : array-like or Posterior
    size : int, default=1
    random_state : int, Generator or None

    Returns
    -------
    ndarray of shape (size, n)

    Examples
    --------
    >>> from learnable.latent import HMM
    >>> turn = HMM([0.5, 0.5], [[0, 1], [1, 0]])
    >>> sample_paths(turn, np.zeros((4, 2)), random_state=0).tolist()
    [[1, 0, 1, 0]]
    """
    post = as_posterior(hmm, x)
    size = check_scalar(size, "size", low=1, integer=True)
    paths = np.empty((size, len(post)), dtype=np.int64)
    uniforms = check_rng(random_state).random((size, len(post)))
    if post.method == "log":
        _sample_log(post.log_alpha, np.ascontiguousarray(hmm.log_transmat.T), uniforms, paths)
    else:
        _sample(post.filtered, np.ascontiguousarray(hmm.transmat.T), uniforms, paths)
    return paths


@njit(cache=True)
def _draw(weight, u):
    total = 0.0
    for i in range(len(weight)):
        total += weight[i]
    u *= total
    last = 0
    for i in range(len(weight)):
        if weight[i] > 0.0:
            last = i
            u -= weight[i]
            if u < 0.0:
                break
    return last


@njit(cache=True)
def _sample(filtered, back, uniforms, paths):
    n, k = filtered.shape
    weight = np.empty(k)
    for m in range(len(paths)):
        state = 0
        for t in range(n - 1, -1, -1):
            for i in range(k):
                weight[i] = filtered[t, i] if t == n - 1 else filtered[t, i] * back[state, i]
            state = _draw(weight, uniforms[m, t])
            paths[m, t] = state


@njit(cache=True)
def _sample_log(log_alpha, log_back, uniforms, paths):
    n, k = log_alpha.shape
    weight = np.empty(k)
    for m in range(len(paths)):
        state = 0
        for t in range(n - 1, -1, -1):
            top = -np.inf
            for i in range(k):
                weight[i] = log_alpha[t, i] if t == n - 1 else log_alpha[t, i] + log_back[state, i]
                top = max(top, weight[i])
            for i in range(k):
                weight[i] = np.exp(weight[i] - top)
            state = _draw(weight, uniforms[m, t])
            paths[m, t] = state
