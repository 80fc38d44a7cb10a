"""How much expected F another rule can lose: laws built to hurt it, closed forms, and a linear programme.

The regret of a prediction is the largest expected F minus its own. Over all laws for which a surrogate asks for the
prediction g, the largest regret is a linear programme for each pair (g, h); by symmetry only the number of labels that
lie in both, in one or in none of them matters, and only how many true labels fall into each of the four groups.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
from scipy import optimize, special

from learnable.chapters.f_measure_maximization.theory import all_vectors, expected_f, size_probabilities
from learnable.selection.f_measures.general import gfm
from learnable.validation import Result


@dataclass(frozen=True, eq=False)
class WorstCase(Result):
    """The law that hurts a surrogate most; made by `worst_case_regret`."""

    value: float
    surrogate: np.ndarray
    best: np.ndarray
    Y: np.ndarray
    probabilities: np.ndarray


def regret(Y, h, *, sample_weight=None):
    """Expected F that a prediction loses against the best one (Waegeman et al. 2014, Definition 2.1)."""
    best = gfm(*size_probabilities(Y, sample_weight=sample_weight)).value
    return max(0.0, best - expected_f(Y, h, sample_weight=sample_weight))


def adversarial_law(kind, m, *, eps=0.01):
    """A law for which a rule loses much expected F (Waegeman et al. 2014, Theorems 1, 2, 5, 7)."""
    if kind == "hamming":
        Y = np.zeros((3, m), dtype=np.int64)
        Y[0, 0] = Y[1, 1] = 1
        return Y, np.array([0.5 - eps, 0.5 - eps, 2 * eps])
    if kind == "subset":
        drop = np.ones((m, m), dtype=np.int64) - np.eye(m, dtype=np.int64)
        i, j = np.triu_indices(m, 1)
        Y = np.vstack([np.zeros((1, m), dtype=np.int64), drop[i] * drop[j], drop, np.ones((1, m), dtype=np.int64)])
        Y = np.unique(Y, axis=0)
        p = np.full(len(Y), (1 - eps) / len(Y))
        p[0] += eps
        return Y, p
    if kind == "independent":
        q = _largest_q(m) - eps
        return np.vstack([np.zeros((1, m), dtype=np.int64), np.ones((1, m), dtype=np.int64)]), np.array([q, 1 - q])
    half = m // 2 - 1
    Y = np.zeros((1 + 2 * half, m), dtype=np.int64)
    Y[0, 0] = 1
    Y[1:, 1] = 1
    Y[1 : 1 + half, 2 : 2 + half], Y[1 + half :, 2 + half :] = 1, 1
    Y[1 : 1 + half, 2 + half :] = Y[1 + half :, 2 : 2 + half] = np.eye(half, dtype=np.int64)
    return Y, np.concatenate([[0.5 - eps], np.full(2 * half, (0.5 + eps) / (2 * half))])


def worst_case_bound(kind, m):
    """What is known in closed form about the largest regret of a rule with m labels."""
    if kind == "hamming":
        return 2 / 3
    if kind == "subset":
        return m * (2 * m**2 - m - 2) / ((2 * m - 1) * (m**2 + m + 4))
    if kind == "threshold":
        return max(0.0, 1 / 6 - 2 / (m + 4))
    return 2 * _largest_q(m) - 1


def worst_case_regret(surrogate, m):
    """Find the largest regret of the minimiser of Hamming or subset 0/1 loss over all laws, by linear programmes."""
    best = (-1.0, None, None)
    for split in product(range(m + 1), repeat=3):
        if sum(split) <= m:
            groups = (*split, m - sum(split))  # h alone, g alone, both, neither
            found = _programme(surrogate, np.array(groups))
            if found[0] > best[0] + 1e-9:
                best = (*found, groups)
    value, mass, counts, groups = best
    a, b, c, _ = groups
    g, h = np.zeros(m, dtype=np.int64), np.zeros(m, dtype=np.int64)
    g[a : a + b + c], h[:a], h[a + b : a + b + c] = 1, 1, 1
    Y, p = _unfold(mass, counts, groups)
    return WorstCase(float(value), g, h, Y, p)


def _programme(surrogate, groups):
    a, b, c, _ = groups
    counts = np.array(list(product(*(range(size + 1) for size in groups))))
    sizes = counts.sum(axis=1)
    gain = _f(counts[:, 0] + counts[:, 2], sizes, a + c) - _f(counts[:, 1] + counts[:, 2], sizes, b + c)
    if surrogate == "hamming":  # P(y_i differs from g_i) <= 1/2 on average over each group, all that symmetry leaves
        wrong = np.where([False, True, True, False], groups - counts, counts)
        rows = wrong[:, groups > 0].T / groups[groups > 0][:, None]
        bounds = np.full(len(rows), 0.5)
    else:  # P(y) <= P(g): the mass of a class of vectors, shared by its members
        ways = special.comb(groups, counts).prod(axis=1)
        is_g = (counts == groups * np.array([0, 1, 1, 0])).all(axis=1)
        rows, bounds = np.diag(1 / ways), np.zeros(len(ways))
        rows[:, is_g] -= 1.0
        rows = rows[~is_g]
        bounds = bounds[~is_g]
    found = optimize.linprog(-gain, A_ub=rows, b_ub=bounds, A_eq=np.ones((1, len(gain))), b_eq=[1.0])
    return -found.fun, found.x, counts


def _f(hits, sizes, said):
    bottom = sizes + said
    return np.divide(2.0 * hits, bottom, out=np.ones(len(sizes)), where=bottom > 0)


def _unfold(mass, counts, groups):
    """Share the mass of each class of vectors equally among its members."""
    edges = np.concatenate([[0], np.cumsum(groups)])
    Y = all_vectors(sum(groups)).astype(np.int64)
    seen = np.column_stack([Y[:, low:high].sum(axis=1) for low, high in pairwise(edges)])
    p = np.zeros(len(Y))
    for share, count in zip(mass, counts, strict=True):
        if share > 1e-12:
            members = (seen == count).all(axis=1)
            p[members] = share / members.sum()
    return Y[p > 0], p[p > 0] / p.sum()


def _largest_q(m):
    """Largest q in [1/2, 1] with E F(all ones) >= q^m for m independent labels of probability 1 - q."""
    s = np.arange(1, m + 1)
    logs = np.log(2.0) + special.gammaln(m + 1) - special.gammaln(m - s + 1) - special.gammaln(s) - np.log(m + s)

    def surplus(q):
        return np.exp(special.logsumexp(logs + (m - s) * np.log(q) + s * np.log1p(-q))) - q**m

    return optimize.brentq(surplus, 0.5, 1 - 1e-9, xtol=1e-14)
