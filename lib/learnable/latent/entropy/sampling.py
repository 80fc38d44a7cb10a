"""Draws of the entropy from its posterior at given (d, alpha)."""

import numpy as np
from scipy import special

from learnable.latent.entropy.special import digamma_from_one

CHUNK = 4_000_000  # numbers held at a time


def draw_entropy(k, m, d, alpha, n_sticks, rng):
    """One draw of H for every pair (d, alpha): Dirichlet masses of the seen, sticks for the unseen, the rest in mean.

    The posterior law is (p_1, ..., p_K, p_* pi') with (p, p_*) ~ Dir(n_i - d, alpha + K d) and
    pi' ~ PY(d, alpha + K d); so H = -sum p log p - p_* log p_* + p_* H(pi').
    """
    counts = np.repeat(k, m).astype(float)
    rows = max(1, CHUNK // (counts.size + n_sticks))
    out = np.empty(d.size)
    for first in range(0, d.size, rows):
        part = slice(first, min(first + rows, d.size))
        out[part] = _draw(counts, d[part], alpha[part], n_sticks, rng)
    return out


def _draw(counts, d, alpha, n_sticks, rng):
    unseen = alpha + counts.size * d
    gammas = rng.standard_gamma(np.column_stack([counts - d[:, None], unseen]))
    p = gammas / gammas.sum(axis=1, keepdims=True)
    index = np.arange(1, n_sticks + 1)
    # A shape of zero (alpha = d = 0) is a law on one symbol.
    beta = rng.beta(1.0 - d[:, None], np.maximum(unseen[:, None] + index * d[:, None], 1e-300))
    with np.errstate(divide="ignore"):
        left = np.exp(np.cumsum(np.log1p(-beta), axis=1))
    sticks = beta * np.column_stack([np.ones(d.size), left[:, :-1]])
    rest = left[:, -1]
    mean_rest = digamma_from_one(unseen + n_sticks * d) - digamma_from_one(-d)
    tail = special.entr(sticks).sum(axis=1) + special.entr(rest) + rest * mean_rest
    return special.entr(p).sum(axis=1) + p[:, -1] * tail
