"""Rabiner's blocks: all optimal paths, against enumeration."""

import itertools

import numpy as np
import pytest

from learnable.chapters.hmm_alignment.theory import block_posteriors, rabiner_blocks
from learnable.latent import HMM, pmap, viterbi


def model(seed, states, n, *, coarse=False):
    rng = np.random.default_rng(seed)
    draw = (lambda *s: rng.integers(1, 3, s).astype(float)) if coarse else (lambda *s: rng.random(s) + 0.05)
    P, start = draw(states, states), draw(states)
    hmm = HMM(start / start.sum(), P / P.sum(axis=1, keepdims=True))
    return hmm, np.log(draw(n, states))


def enumerated(hmm, x, k, tol=1e-9):
    """All paths with the largest sum of block probabilities, and that sum."""
    blocks = block_posteriors(hmm, x, k)
    n, states = len(x), hmm.n_states
    scores = {
        path: sum(blocks[(t, *path[t : t + k])] for t in range(n - k + 1))
        for path in itertools.product(range(states), repeat=n)
    }
    best = max(scores.values())
    return {path for path, score in scores.items() if best - score <= tol}, best


@pytest.mark.parametrize("k", [1, 2, 3, 5])
@pytest.mark.parametrize("seed", range(4))
def test_all_ties_are_found(seed, k):
    for coarse in (False, True):
        hmm, x = model(seed, 2 + seed % 2, 5, coarse=coarse)
        expected, _ = enumerated(hmm, x, k)
        found = [tuple(path.tolist()) for path in rabiner_blocks(hmm, x, k, all_ties=True)]
        assert len(set(found)) == len(found)
        assert set(found) == expected
        assert tuple(rabiner_blocks(hmm, x, k).tolist()) in expected


def test_symmetric_models_have_many_ties():
    """Nothing is known: all paths are equally good, and the generator stops where it is told to."""
    even = HMM([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]])
    x = np.zeros((6, 2))
    for k in (1, 2, 4, 6):
        assert len(list(rabiner_blocks(even, x, k, all_ties=True))) == 64
        assert len(list(rabiner_blocks(even, x, k, all_ties=True, max_ties=5))) == 5


def test_the_ends_of_the_family():
    """k = 1 is PMAP, k = n Viterbi (claim 12), ties included."""
    hmm, x = model(7, 3, 5)
    assert [p.tolist() for p in rabiner_blocks(hmm, x, 1, all_ties=True)] == [pmap(hmm, x).tolist()]
    assert [p.tolist() for p in rabiner_blocks(hmm, x, 5, all_ties=True)] == [viterbi(hmm, x).tolist()]


def test_ties_within_a_tolerance():
    hmm, x = model(3, 2, 5)
    best = enumerated(hmm, x, 2)[1]
    loose = {tuple(p.tolist()) for p in rabiner_blocks(hmm, x, 2, all_ties=True, tol=0.5 / (1 + best))}
    assert loose == enumerated(hmm, x, 2, tol=0.5)[0] and len(loose) > 1
