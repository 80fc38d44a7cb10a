"""Alignments: what the planted errors got past: the definition of the k-block path, signs of the prior risks."""

import itertools

import numpy as np
import pytest

from learnable.latent import HMM
from learnable.latent.hmm import combined, risks


def model(seed, states=3, n=5):
    rng = np.random.default_rng(seed)
    P, start = rng.random((states, states)) + 0.05, rng.random(states) + 0.05
    return HMM(start / start.sum(), P / P.sum(axis=1, keepdims=True)), np.log(rng.random((n, states)) ** 2 + 0.01)


def test_prior_risks_are_minus_the_logarithms_of_prior_probabilities():
    hmm, x = model(3)
    for path in ([0, 1, 2, 1, 0], [2, 2, 2, 2, 2]):
        made = risks(hmm, x, path)
        state, pointwise, whole = np.array(hmm.startprob), 0.0, np.log(hmm.startprob[path[0]])
        for t, s in enumerate(path):
            pointwise += np.log(state[s])
            state = state @ hmm.transmat
            whole += np.log(hmm.transmat[path[t - 1], s]) if t else 0.0
        assert made.prior_log_r1 == pytest.approx(-pointwise) and made.prior_log_r1 > 0
        assert made.prior_log_rinf == pytest.approx(-whole) and made.prior_log_rinf > 0


@pytest.mark.parametrize("constants", [(0, 0, 1, 0), (0, 0, 0, 1), (1, 0, 2, 0), (0.5, 0, 0, 2), (1, 1, 1, 1)])
def test_each_constant_weighs_its_own_risk(constants):
    for seed in range(6):
        hmm, x = model(seed, n=4)
        paths = np.array(list(itertools.product(range(3), repeat=4)))
        made = risks(hmm, x, paths)
        terms = (made.log_r1, made.log_rinf, made.prior_log_r1, made.prior_log_rinf)
        best = sum(c * r for c, r in zip(constants, terms, strict=True)).min()
        found = risks(hmm, x, combined(hmm, x, *constants))
        assert found.combined(*constants) == pytest.approx(best, rel=1e-9)
