"""Graphical models with hubs: the claims of Tan et al. 2014, against cvxpy, scikit-learn and brute force."""

import functools

import numpy as np
import pytest

from learnable.chapters.hub_graphical_models.theory import sparse_group_shrink
from learnable.datasets.graphical import make_gaussian_graph
from learnable.graphs.hubs.covariance import HubCovarianceGraph, hub_covariance
from learnable.graphs.hubs.gaussian import hub_graphical_lasso
from learnable.graphs.hubs.penalty import HubPenalty, parts_prox, tie


@functools.cache
def correlation(p=20, n=40, seed=0):
    S = np.corrcoef(make_gaussian_graph("hubs", n, p=p, n_hubs=2, random_state=seed).data.T)
    S.setflags(write=False)
    return S


def off(A):
    return A - np.diag(np.diag(A))


def symmetric(rng, p):
    A = rng.normal(size=(p, p))
    return A + A.T


def test_engine_check_copies_satisfy_the_constraint_and_are_nearest():
    rng = np.random.default_rng(2)
    state = rng.normal(size=(3, 40, 40))
    state[0], state[2] = symmetric(rng, 40), symmetric(rng, 40)
    out = tie(state, np.empty_like(state))
    assert np.abs(out[0] - out[1] - out[1].T - out[2]).max() < 1e-14 * 40
    away = out - state
    for _ in range(5):  # orthogonal to every direction inside the constraint
        V, Z = rng.normal(size=(40, 40)), symmetric(rng, 40)
        assert abs(np.vdot(away, np.array([V + V.T + Z, V, Z]))) < 1e-9 * np.linalg.norm(away) * 40
    # Derivation of the source: Γ = ρ/6 [...], Θ - Γ/ρ, V + (Γ + Γ')/ρ, Z + Γ/ρ
    gamma = (state[0] - state[1] - state[1].T - state[2]) / 6
    assert np.allclose(out, [state[0] - gamma, state[1] + gamma + gamma.T, state[2] + gamma])


def test_parts_prox_leaves_diagonals_and_thresholds_the_rest():
    rng = np.random.default_rng(3)
    state, out = rng.normal(size=(3, 6, 6)), np.zeros((3, 6, 6))
    parts_prox(state, 2.0, HubPenalty.checked(0.6, 0.4, 1.0), out)
    assert np.array_equal(np.diagonal(out[1:], axis1=1, axis2=2), np.diagonal(state[1:], axis1=1, axis2=2))
    assert np.allclose(off(out[2]), np.sign(off(state[2])) * np.maximum(np.abs(off(state[2])) - 0.3, 0))
    assert np.allclose(off(out[1]), sparse_group_shrink(off(state[1]), 0.2, 0.5))


def test_feasible_scale_leads_into_the_dual_set():
    rng = np.random.default_rng(4)
    for q in (1, 2):
        penalty = HubPenalty.checked(0.5, 0.6, 0.7, q)
        for size in (0.01, 1.0, 30.0):
            L = off(symmetric(rng, 8)) * size
            t = penalty.feasible_scale(L)
            over = np.maximum(2 * np.abs(t * L) - 0.6, 0)
            column = np.linalg.norm(over, axis=0).max() if q == 2 else over.max()
            assert np.abs(t * L).max() <= 0.5 + 1e-12 and column <= 0.7 + 1e-12
            assert 0 < t <= 1 and (t == 1 or size > 0.01)


def two_halves(cross, seed=0):
    S = np.zeros((16, 16))
    S[:8, :8], S[8:, 8:] = correlation(8, 30, seed), correlation(8, 30, seed + 1)
    S[:8, 8:] = np.random.default_rng(seed).uniform(-cross, cross, (8, 8))
    S[8:, :8] = S[:8, 8:].T
    return S


def test_screening_changes_nothing_but_the_blocks(monkeypatch):
    from learnable.graphs.hubs import blocks

    monkeypatch.setattr(blocks, "SMALL", 4)
    S, lam = two_halves(0.12), (0.3, 0.25, 0.5)
    for solve in (hub_graphical_lasso, hub_covariance):
        apart, whole = (solve(S, *lam, screen=screen, tol=1e-11) for screen in (True, False))
        assert apart.n_blocks > 1 and whole.n_blocks == 1 and apart.converged
        assert np.abs(apart.estimate - whole.estimate).max() < 1e-5
        assert abs(apart.objective - whole.objective) < 1e-7


def test_a_fit_that_says_it_has_converged_is_near_the_solution():
    """Soft thresholding solves two variables; the loss is ½|Σ - S|², so the error is at most √tol |S| = 1.6e-5."""
    S = np.array([[1.0, 0.5], [0.5, 1.0]])
    fit = hub_covariance(S, 0.1, np.inf, np.inf)
    assert fit.converged and fit.estimate[0, 1] == pytest.approx(0.4, abs=1.6e-5)


@pytest.mark.parametrize("unit", [1e-150, 1e-80, 1e80, 1e150])
def test_units_whose_squares_are_no_numbers_are_refused(unit):
    X = np.random.default_rng(0).normal(size=(50, 4))
    model = HubCovarianceGraph(0.2 * unit**2, 0.2 * unit**2, unit**2, eps=1e-4 * unit**2)
    with pytest.raises(
        ValueError, match=r"the covariance of X must have a largest absolute value in \[1e-150, 1e\+150"
    ):
        model.fit(unit * X)
    with pytest.raises(ValueError, match="S must have a largest absolute value"):
        hub_covariance(unit**2 * np.cov(X.T), 0.2, 0.2, 1.0)


@pytest.mark.parametrize("unit", [1e-70, 1e70])
def test_units_whose_squares_are_numbers_change_nothing(unit):
    X = np.random.default_rng(0).normal(size=(50, 4))
    plain = HubCovarianceGraph(0.1, 0.1, 0.5).fit(X)
    other = HubCovarianceGraph(0.1 * unit**2, 0.1 * unit**2, 0.5 * unit**2, eps=1e-4 * unit**2).fit(unit * X)
    np.testing.assert_allclose(other.covariance_ / unit**2, plain.covariance_, rtol=1e-9)
