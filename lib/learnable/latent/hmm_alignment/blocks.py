"""The posterior is a Markov chain again: its transitions, its blocks, paths drawn from it, and Rabiner's blocks."""

from __future__ import annotations

import numpy as np
from numba import njit

from learnable._inner import copy_to
from learnable.latent.hmm._kernels import arcs
from learnable.latent.hmm.recursions import as_posterior
from learnable.latent.hmm_alignment._dynamic import best_values, tied_paths
from learnable.latent.hmm_alignment.risks import _check_paths
from learnable.validation import check_rng, check_scalar

__all__ = [
    "block_posteriors",
    "conditional_transitions",
    "kblock_risk",
    "rabiner_blocks",
    "sample_paths",
]

_MOST_NUMBERS = 50_000_000


def conditional_transitions(hmm, x):
    r"""Transition matrices of the hidden chain given the observations (Lember 2012, Prop. 7.2.1).

    ::

        P(Y_(t+1) = j | Y_t = i, xⁿ) = p_ij f_j(x_(t+1)) β_(t+1)(j) / β_t(i).

    They depend on x_(t+1)..x_n only. Rows from which the rest of the observations is impossible are zero.

    Parameters
    ----------
    hmm : HMM
    x : array-like or Posterior

    Returns
    -------
    ndarray of shape (n-1, K, K)
        Row = from, column = to. O(n K²).

    Examples
    --------
    >>> from learnable.latent.hmm import HMM, DiscreteEmission
    >>> coin = HMM([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], DiscreteEmission([[0.5, 0.5], [0.9, 0.1]]))
    >>> conditional_transitions(coin, [0, 1]).round(3).tolist()
    [[[0.978, 0.022], [0.357, 0.643]]]
    """
    return np.exp(_log_steps(hmm, as_posterior(hmm, x)))


def block_posterior(hmm, x, t, block):
    """ln p(s_t..s_(t+k-1) | x) of one block, by the conditional Markov chain; exact in logarithms.

    Parameters
    ----------
    hmm : HMM
    x : array-like or Posterior
    t : int
        Where the block starts, from 0.
    block : sequence of int
        Its k states.

    Returns
    -------
    float

    Examples
    --------
    >>> from learnable.latent.hmm import HMM, DiscreteEmission
    >>> coin = HMM([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], DiscreteEmission([[0.5, 0.5], [0.9, 0.1]]))
    >>> round(block_posterior(coin, [0, 1, 1], 1, [0, 0]), 3)
    -0.115
    """
    post = as_posterior(hmm, x)
    t = check_scalar(t, "t", low=0, high=len(post) - 1, integer=True)
    block = _check_paths(block, len(block), hmm.n_states)
    if block.ndim != 1 or len(block) == 0 or t + len(block) > len(post):
        raise ValueError(f"block must be at most {len(post) - t} states from t = {t} on, got {len(block)}")
    rows = np.arange(t, t + len(block) - 1)
    i, j = block[:-1], block[1:]
    start = post.log_smoothed[t, block[0]]
    if start == -np.inf:
        return -np.inf
    with np.errstate(invalid="ignore"):
        steps = hmm.log_transmat[i, j] + post.log_f[rows + 1, j] + post.log_beta[rows + 1, j] - post.log_beta[rows, i]
    return float(start + np.where(np.isnan(steps), -np.inf, steps).sum())


def block_posteriors(hmm, x, k):
    """p(s_t..s_(t+k-1) | x) for every block of length k at every place.

    Parameters
    ----------
    hmm : HMM
    x : array-like or Posterior
    k : int
        Length of the blocks, 1..n.

    Returns
    -------
    ndarray of shape (n-k+1, K, ..., K)
        Each ``[t]`` sums to one. O(n K^k) time and memory, capped.

    Examples
    --------
    >>> from learnable.latent.hmm import HMM, DiscreteEmission
    >>> coin = HMM([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], DiscreteEmission([[0.5, 0.5], [0.9, 0.1]]))
    >>> block_posteriors(coin, [0, 1, 1], 2)[1].round(3).tolist()
    [[0.892, 0.02], [0.032, 0.057]]
    """
    post = as_posterior(hmm, x)
    n, states = post.log_f.shape
    k = check_scalar(k, "k", low=1, high=n, integer=True)
    _check_size(n, states, k)
    out = post.smoothed[: n - k + 1]
    steps = np.exp(_log_steps(hmm, post)) if k > 1 else None
    for length in range(1, k):
        block = steps[length - 1 : length - 1 + len(out)]
        out = out[..., None] * block.reshape(len(out), *([1] * (length - 1)), states, states)
    return out


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
    >>> from learnable.latent.hmm import HMM
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


def rabiner_blocks(hmm, x, k, all_ties=False, *, max_ties=1000, tol=1e-12):
    """Rabiner's k-block alignment: maximises the expected number of correct blocks, sum_t p(s_t..s_(t+k-1) | x).

    k = 1 is PMAP, k = n Viterbi (Lember 2012, (7.3.25)). The path may be impossible; :func:`kblock` is the admissible
    relative.

    Parameters
    ----------
    hmm : HMM
    x : array-like or Posterior
    k : int
        1..n.
    all_ties : bool, default=False
        Instead of one path, a generator of all optimal paths.
    max_ties : int, default=1000
        The generator stops after so many.
    tol : float, default=1e-12
        Paths count as tied when their expected numbers of correct blocks differ by less than ``tol (1 + best)``.

    Returns
    -------
    ndarray of shape (n,), or generator of such arrays

    Notes
    -----
    A dynamic program over the K^(k-1) tuples of the last states: O(n K^k) time, n K^(k-1) bytes, capped; with
    `all_ties` n K^k numbers.

    Examples
    --------
    >>> from learnable.latent.hmm import HMM, DiscreteEmission
    >>> coin = HMM([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], DiscreteEmission([[0.5, 0.5], [0.9, 0.1]]))
    >>> rabiner_blocks(coin, [1, 1, 0, 0, 0, 0, 0], 2).tolist()
    [0, 0, 1, 1, 1, 1, 1]
    >>> even = HMM([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]], DiscreteEmission([[0.5, 0.5], [0.5, 0.5]]))
    >>> [path.tolist() for path in rabiner_blocks(even, [0, 1], 2, all_ties=True)]
    [[0, 0], [1, 0], [0, 1], [1, 1]]
    """
    post = as_posterior(hmm, x)
    n, states = post.log_f.shape
    k = check_scalar(k, "k", low=1, high=n, integer=True)
    if all_ties:
        max_ties, tol = check_scalar(max_ties, "max_ties", low=1, integer=True), check_scalar(tol, "tol", low=0)
        if k == 1:
            net = arcs(np.zeros((states, states)), -np.inf)
            return tied_paths(best_values(np.zeros(states), net, [(1.0, post.smoothed)]), net, max_ties, tol)
        return _tied_blocks(block_posteriors(hmm, post, k), states, k, max_ties, tol)
    if k == 1:
        return post.smoothed.argmax(axis=1)
    _check_size(n, states, k - 1, extra=states**k)
    path = np.empty(n, dtype=np.int64)
    pointer = np.empty((n - k + 1, states ** (k - 1)), dtype=np.uint16)
    steps = np.exp(_log_steps(hmm, post))
    _rabiner(post.smoothed, steps, k, pointer, path)
    return path


def _tied_blocks(blocks, states, k, max_ties, tol):
    """Yield every path whose sum of block probabilities is within ``tol (1 + best)`` of the largest."""
    m, tuples = len(blocks), states ** (k - 1)
    blocks = blocks.reshape(m, tuples, states)  # [t, (s_t..s_(t+k-2)), s_(t+k-1)]
    values = np.zeros((m + 1, tuples))
    for t in range(m):
        # The first state of the tuple falls out, the last one of the block comes in.
        values[t + 1] = (values[t][:, None] + blocks[t]).reshape(states, -1).max(axis=0)
    loss = values[-1].max() - values[-1]
    slack = tol * (1 + values[-1].max())
    path = np.empty(m + k - 1, dtype=np.int64)
    stack = [(m, int(u), slack - loss[u]) for u in np.flatnonzero(loss <= slack)[::-1]]
    found = 0
    while stack and found < max_ties:
        t, u, left = stack.pop()
        # The tuple u holds the states t..t+k-2, of which those after t are known but at the end.
        if t == m:
            path[m:] = np.unravel_index(u, (states,) * (k - 1))
        path[t] = u // states ** (k - 2)
        if t == 0:
            found += 1
            yield path.copy()
            continue
        before = np.arange(states) * states ** (k - 2) + u // states
        into = values[t - 1][before] + blocks[t - 1, before, u % states]
        loss = into.max() - into
        stack.extend((t - 1, int(before[a]), left - loss[a]) for a in np.flatnonzero(loss <= left)[::-1])


def kblock_risk(hmm, x, path, k):
    """The logarithmic k-block risk -ln U_k of a path, from its block posteriors.

    U_k multiplies p(block | x) over all blocks of length k and the shorter ones at both ends. It is summed block by
    block here; that it equals (k-1) log_rinf + log_r1 is Lember 2012, Thm. 7.3.1.

    Parameters
    ----------
    hmm : HMM
    x : array-like or Posterior
    path : array-like of int of shape (n,)
    k : int
        1..n.

    Returns
    -------
    float
        inf for an impossible path (k > 1).

    Examples
    --------
    >>> from learnable.latent.hmm import HMM, DiscreteEmission
    >>> coin = HMM([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], DiscreteEmission([[0.5, 0.5], [0.9, 0.1]]))
    >>> round(kblock_risk(coin, [0, 1, 1], [0, 0, 0], 2), 3)
    0.737
    """
    post = as_posterior(hmm, x)
    n = len(post)
    k = check_scalar(k, "k", low=1, high=n, integer=True)
    path = _check_paths(path, n, hmm.n_states)
    if path.ndim != 1:
        raise ValueError(f"path must be one path, got shape {path.shape}")
    ends = [(max(0, stop - k), min(n, stop)) for stop in range(1, n + k)]
    return -float(sum(block_posterior(hmm, post, a, path[a:b]) for a, b in ends))


def _check_size(n, states, k, extra=0):
    if n * states**k > _MOST_NUMBERS or extra > _MOST_NUMBERS:
        raise ValueError(
            f"blocks of this length need {n} x {states}^{k} numbers; at most {_MOST_NUMBERS} are accepted: lower k"
        )


def _log_steps(hmm, post):
    """ln P(Y_(t+1) = j | Y_t = i, x)."""
    into = post.log_f[1:] + post.log_beta[1:]
    out = hmm.log_transmat + into[:, None, :]
    with np.errstate(invalid="ignore"):
        out -= post.log_beta[:-1, :, None]
    out[np.isnan(out)] = -np.inf
    return out


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


@njit(cache=True)
def _rabiner(smoothed, steps, k, pointer, path):
    n, states = smoothed.shape
    tuples = states ** (k - 1)
    high = states ** (k - 2)
    block = np.empty(tuples * states)
    value, best = np.zeros(tuples), np.empty(tuples)
    for t in range(n - k + 1):
        for i in range(states):
            block[i] = smoothed[t, i]
        size = states
        for s in range(k - 1):
            # from the end, so that no product is overwritten before it is used
            for u in range(size - 1, -1, -1):
                p, i = block[u], u % states
                for j in range(states):
                    block[u * states + j] = p * steps[t + s, i, j]
            size *= states
        best[:] = -np.inf
        for u in range(tuples):
            for j in range(states):
                new = (u % high) * states + j
                total = value[u] + block[u * states + j]
                if total > best[new]:
                    best[new] = total
                    pointer[t, new] = u // high
        copy_to(value, best)
    u = 0
    for new in range(1, tuples):
        if value[new] > value[u]:
            u = new
    code = u
    for s in range(k - 1):
        path[n - 1 - s] = code % states
        code //= states
    for t in range(n - k, -1, -1):
        path[t] = pointer[t, u]
        u = path[t] * high + u // states
