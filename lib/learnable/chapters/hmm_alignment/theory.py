"""Blocks of states: their posteriors, Rabiner's block alignment, the risk of k-blocks, and the trade-off over k.

Source: Lember 2012, Secs. 7.2 and 7.3.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from learnable._inner import assign
from learnable.latent.hmm._dynamic import best_values, tied_paths
from learnable.latent.hmm._kernels import arcs
from learnable.latent.hmm.path_risks import risks
from learnable.latent.hmm.recursions import as_posterior


def conditional_transitions(hmm, x):
    r"""Transition matrices of the hidden chain given the observations (Lember 2012, Prop. 7.2.1)."""
    return np.exp(_log_steps(hmm, as_posterior(hmm, x)))


def block_posterior(hmm, x, t, block):
    """ln p(s_t..s_(t+k-1) | x) of one block, by the conditional Markov chain; exact in logarithms."""
    post = as_posterior(hmm, x)
    block = np.asarray(block)
    rows = np.arange(t, t + len(block) - 1)
    i, j = block[:-1], block[1:]
    start = post.log_smoothed[t, block[0]]
    if start == -np.inf:
        return -np.inf
    with np.errstate(invalid="ignore"):
        steps = hmm.log_transmat[i, j] + post.log_f[rows + 1, j] + post.log_beta[rows + 1, j] - post.log_beta[rows, i]
    return float(start + np.where(np.isnan(steps), -np.inf, steps).sum())


def block_posteriors(hmm, x, k):
    """p(s_t..s_(t+k-1) | x) for every block of length k at every place."""
    post = as_posterior(hmm, x)
    n, states = post.log_f.shape
    out = post.smoothed[: n - k + 1]
    steps = np.exp(_log_steps(hmm, post)) if k > 1 else None
    for length in range(1, k):
        block = steps[length - 1 : length - 1 + len(out)]
        out = out[..., None] * block.reshape(len(out), *([1] * (length - 1)), states, states)
    return out


def rabiner_blocks(hmm, x, k, all_ties=False, *, max_ties=1000, tol=1e-12):
    """Rabiner's k-block alignment: maximises the expected number of correct blocks, sum_t p(s_t..s_(t+k-1) | x)."""
    post = as_posterior(hmm, x)
    n, states = post.log_f.shape
    if all_ties:
        if k == 1:
            net = arcs(np.zeros((states, states)), -np.inf)
            return tied_paths(best_values(np.zeros(states), net, [(1.0, post.smoothed)]), net, max_ties, tol)
        return _tied_blocks(block_posteriors(hmm, post, k), states, k, max_ties, tol)
    if k == 1:
        return post.smoothed.argmax(axis=1)
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
    """The logarithmic k-block risk -ln U_k of a path, from its block posteriors."""
    post = as_posterior(hmm, x)
    n = len(post)
    ends = [(max(0, stop - k), min(n, stop)) for stop in range(1, n + k)]
    return -float(sum(block_posterior(hmm, post, a, path[a:b]) for a, b in ends))


def _log_steps(hmm, post):
    """ln P(Y_(t+1) = j | Y_t = i, x)."""
    into = post.log_f[1:] + post.log_beta[1:]
    out = hmm.log_transmat + into[:, None, :]
    with np.errstate(invalid="ignore"):
        out -= post.log_beta[:-1, :, None]
    out[np.isnan(out)] = -np.inf
    return out


@njit(cache=True)
def _rabiner(smoothed, steps, k, pointer, path):
    """Dynamic program over (k-1)-tuples of states, coded as numbers to the base K; `pointer` holds what falls out."""
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
        assign(value, best)
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


def is_admissible(hmm, x, path):
    """Whether p(s | x) > 0, for one path or for each of several."""
    found = np.isfinite(risks(hmm, x, path).log_rinf)
    return bool(found) if np.ndim(found) == 0 else found
