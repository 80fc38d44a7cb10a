"""Dynamics: what the planted errors got past: the target of AdaBoost*, the second condition of Theorem 5."""

import numpy as np
import pytest
from scipy.optimize import nnls

from learnable.chapters.adaboost_dynamics.cycles import find_cycle, theorem5_check
from learnable.chapters.adaboost_dynamics.theory import counterexamples, one_error_matrix, random_matrix
from learnable.ensembles import adaboost_star
from learnable.ensembles.margins import minimax_margin


def star(M, n_rounds, nu):
    """AdaBoost* as it is written: the target is the smallest edge seen so far, less nu."""
    m, n = M.shape
    d, lam, low = np.full(m, 1 / m), np.zeros(n), 1.0
    for _ in range(n_rounds):
        edge = d @ M
        j = int(np.argmax(edge > edge.max() - 1e-12))
        r = edge[j]
        low = min(low, r)
        target = low - nu
        lam[j] += 0.5 * np.log((1 + r) / (1 - r)) - 0.5 * np.log((1 + target) / (1 - target))
        d = np.exp(-(M @ lam) + (M @ lam).min())
        d /= d.sum()
    return lam


@pytest.mark.parametrize("seed", range(3))
def test_the_target_is_the_smallest_edge_so_far(seed):
    M = random_matrix(12, 8, random_state=seed)
    found = adaboost_star(M, 40, 0.05)
    expected = star(M, 40, 0.05)
    np.testing.assert_allclose(found.lam, expected, rtol=1e-8, atol=1e-10)
    assert found.margins[-1] <= minimax_margin(M).value + 1e-9


def test_equal_margins_are_a_condition_of_their_own():
    """Theorem 5(b): some vote gives every support vector exactly ρ. By non-negative least squares, both answers."""
    answers = set()
    eight = counterexamples()["8x8"]
    for M, cycle in (
        (one_error_matrix(4), find_cycle(one_error_matrix(4))),
        (eight.M, find_cycle(eight.M, d0=eight.start)),
    ):
        check = theorem5_check(M, cycle)
        part = M[np.ix_(cycle.support, cycle.used)]
        left, right = np.vstack([part, np.ones(part.shape[1])]), np.append(np.full(len(part), check.rho), 1.0)
        assert check.equal_margins == (nnls(left, right)[1] < 1e-6)
        inner = minimax_margin(part).value
        assert check.columns_suffice == (abs(inner - check.rho) < 1e-8)
        answers.add(check.equal_margins)
    assert answers == {True, False}
