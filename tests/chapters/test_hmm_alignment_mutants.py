"""Alignments: what the planted errors got past: the definition of the k-block path, signs of the prior risks."""

import itertools

import numpy as np
import pytest

from learnable.chapters.hmm_alignment.theory import kblock_risk
from learnable.latent import HMM, kblock, pmap
from learnable.latent.hmm import risks


def model(seed, states=3, n=5):
    rng = np.random.default_rng(seed)
    P, start = rng.random((states, states)) + 0.05, rng.random(states) + 0.05
    return HMM(start / start.sum(), P / P.sum(axis=1, keepdims=True)), np.log(rng.random((n, states)) ** 2 + 0.01)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_the_k_block_path_minimises_the_risk_of_its_blocks(k):
    """By enumeration of all paths with the risk of the definition, the sum over blocks: k − 1 times the path's risk."""
    differs = 0
    for seed in range(25):
        hmm, x = model(seed)
        paths = list(itertools.product(range(3), repeat=5))
        values = [kblock_risk(hmm, x, path, k) for path in paths]
        found = kblock(hmm, x, k)
        assert kblock_risk(hmm, x, found, k) == pytest.approx(min(values), rel=1e-9)
        made = risks(hmm, x, found)
        assert kblock_risk(hmm, x, found, k) == pytest.approx((k - 1) * made.log_rinf + made.log_r1, rel=1e-9)
        differs += not np.array_equal(found, kblock(hmm, x, k + 1))
    assert differs > 0 or k > 2, "no model tells k from k + 1: the test would not notice"
    if k == 1:
        np.testing.assert_array_equal(found, pmap(hmm, x))
