"""QUIC against brute force, scikit-learn, cvxpy and the theory of Hsieh et al. 2014."""

import time
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, sparse
from sklearn.covariance import GraphicalLassoCV, graphical_lasso
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from learnable.datasets.graphical import make_gaussian_graph, precision_matrix
from learnable.highdim.quic_graphical_lasso import (
    QUIC,
    GraphicalLassoQUIC,
    GraphicalLassoQUICCV,
    admm,
    dual_projected_gradient,
    duality_gap,
    l1_logistic,
    line_search,
    min_norm_subgradient,
    neighbourhood_lasso,
    objective,
    penalty_matrix,
    quic_path,
    soft_threshold,
)
from learnable.highdim.quic_graphical_lasso.baselines import sinco
from learnable.highdim.quic_graphical_lasso.estimators import max_penalty
from learnable.highdim.quic_graphical_lasso.newton import free_set, newton_direction, polish
from learnable.highdim.quic_graphical_lasso.solver import block_quic
from learnable.linalg.precision import edge_list, support, support_rates, threshold_components

SEEDS = st.integers(0, 10**6)


def spd(p, rng):
    A = rng.normal(size=(p, p + 4))
    return A @ A.T / (p + 4)


def symmetric(p, rng, scale=0.1):
    A = scale * rng.normal(size=(p, p))
    return A + A.T


def problem(p, seed, n=None):
    """Covariance of a small random sample, with random symmetric penalties and an unpenalised diagonal."""
    rng = np.random.default_rng(seed)
    Y = rng.normal(size=(n or p, p)) @ np.linalg.cholesky(spd(p, rng)).T
    Lam = rng.uniform(0.05, 0.4, size=(p, p))
    Lam = np.triu(Lam, 1)
    return np.cov(Y.T, ddof=1).reshape(p, p), Lam + Lam.T


def graph(kind, p, seed=0):
    return np.cov(make_gaussian_graph(kind, p // 2, p=p, random_state=seed).data.T)


def model(D, X, W, S, Lam):
    return np.vdot(S - W, D) + 0.5 * np.trace(W @ D @ W @ D) + np.vdot(Lam, np.abs(X + D))


def exact_direction(X, S, Lam, free=None):
    return newton_direction(X, S, Lam, free=free, sweeps=2000)


CHAIN = graph("chain", 60)
RANDOM = graph("random", 60)


# Objective, subgradient, duality


@given(st.integers(1, 6), SEEDS)
@settings(max_examples=20, deadline=None)
def test_objective_and_gradient_by_numpy_and_differences(p, seed):
    rng = np.random.default_rng(seed)
    X, S, Lam = spd(p, rng), spd(p, rng), np.abs(symmetric(p, rng))
    value = -np.linalg.slogdet(X)[1] + np.trace(S @ X) + (Lam * np.abs(X)).sum()
    assert objective(X, S, Lam) == pytest.approx(value, rel=1e-10, abs=1e-10)
    i, j = rng.integers(p, size=2)
    E = np.zeros((p, p))
    E[i, j] += 0.5
    E[j, i] += 0.5
    h = 1e-6 * np.linalg.eigvalsh(X)[0]
    slope = (objective(X + h * E, S, Lam) - objective(X - h * E, S, Lam)) / (2 * h)
    if abs(X[i, j]) > 10 * h:
        assert min_norm_subgradient(X, S, Lam)[i, j] == pytest.approx(slope, rel=1e-3, abs=1e-3)


def test_objective_is_infinite_outside_the_cone():
    assert objective([[1, 2], [2, 1]], np.eye(2), 0.1) == np.inf


def test_subgradient_is_the_smallest_element_of_the_subdifferential():
    S, Lam = problem(5, 0)
    X = spd(5, np.random.default_rng(1))
    X[0, 1] = X[1, 0] = 0.0
    G = S - np.linalg.inv(X)
    sub = min_norm_subgradient(X, S, Lam)
    choices = G[0, 1] + Lam[0, 1] * np.linspace(-1, 1, 20001)
    assert abs(sub[0, 1]) == pytest.approx(np.abs(choices).min(), abs=1e-4)
    assert sub[2, 3] == pytest.approx(G[2, 3] + np.sign(X[2, 3]) * Lam[2, 3])


def test_closed_form_of_two_variables():
    S, Lam = np.array([[2.0, -0.9], [-0.9, 1.0]]), np.array([[0.1, 0.4], [0.4, 0.0]])
    W = np.array([[2.1, -0.5], [-0.5, 1.0]])
    X = np.linalg.inv(W)
    assert np.abs(min_norm_subgradient(X, S, Lam)).max() < 1e-12
    assert duality_gap(X, S, Lam) < 1e-12
    np.testing.assert_allclose(QUIC(S, Lam, tol=1e-13)[0], X, atol=1e-6)


@given(st.integers(2, 6), SEEDS)
@settings(max_examples=20, deadline=None)
def test_duality_gap_bounds_the_distance_to_the_minimum(p, seed):
    S, Lam = problem(p, seed)
    best = QUIC(S, Lam, tol=1e-11)[0]
    X = spd(p, np.random.default_rng(seed + 1))
    distance = objective(X, S, Lam) - objective(best, S, Lam)
    assert distance >= -1e-8
    assert duality_gap(X, S, Lam) >= distance - 1e-8


def test_inverse_is_not_dual_feasible_before_convergence():
    X = np.eye(60)
    assert (np.abs(np.linalg.inv(X) - CHAIN) > penalty_matrix(0.4, 60) + 1e-9).any()


# The Newton direction


@given(st.integers(2, 6), SEEDS)
@settings(max_examples=20, deadline=None)
def test_hessian_identity(p, seed):
    """The second derivative of f along D is tr(W D W D): the quadratic model of the Newton step."""
    rng = np.random.default_rng(seed)
    X, D = spd(p, rng), symmetric(p, rng)
    W = np.linalg.inv(X)
    t = 1e-4 / np.sqrt(np.trace(W @ D @ W @ D))
    ahead, here, behind = (objective(X + step * D, np.eye(p), 0.0) for step in (t, 0.0, -t))
    assert (ahead - 2 * here + behind) / t**2 == pytest.approx(np.trace(W @ D @ W @ D), rel=1e-4)


@given(st.integers(2, 6), SEEDS, st.booleans())
@settings(max_examples=40, deadline=None)
def test_coordinate_update_is_the_minimiser_of_one_variable(p, seed, on_diagonal):
    rng = np.random.default_rng(seed)
    S, Lam = problem(p, seed)
    X, D = spd(p, rng) + 0.3 * np.eye(p), symmetric(p, rng)
    Lam = Lam + np.diag(rng.uniform(0, 0.3, p))
    W = np.linalg.inv(X)
    i = int(rng.integers(p))
    j = i if on_diagonal else int((i + 1 + rng.integers(p - 1)) % p)
    one = np.zeros((p, p), dtype=bool)
    one[i, j] = one[j, i] = True
    D[~one] = 0.0
    moved = newton_direction(X, S, Lam, W=W, free=one, sweeps=1, D=D)
    E = one.astype(float)
    brute = optimize.minimize_scalar(lambda mu: model(D + mu * E, X, W, S, Lam), bracket=(-1, 1), tol=1e-14)
    assert model(moved, X, W, S, Lam) <= brute.fun + 1e-10 * max(1, abs(brute.fun))
    assert moved[i, j] - D[i, j] == pytest.approx(brute.x, abs=2e-6 * max(1, abs(brute.x)))
    # The step itself, to 1e-8, from the stationarity of the model at it.
    G = S - W + W @ moved @ W
    c = (X + moved)[i, j]
    at_zero = abs(c) < 1e-12 * max(1, abs(X[i, j]))
    residual = max(abs(G[i, j]) - Lam[i, j], 0) if at_zero else G[i, j] + Lam[i, j] * np.sign(c)
    assert abs(residual) < 1e-8 * max(1, np.abs(W).max() ** 2)


@given(st.integers(1, 40), SEEDS, st.integers(1, 4))
@settings(max_examples=25, deadline=None)
def test_u_equals_dw_after_every_sweep(p, seed, sweeps):
    S, Lam = problem(p, seed, n=p + 1)
    X = spd(p, np.random.default_rng(seed)) + 0.5 * np.eye(p)
    D, U = newton_direction(X, S, Lam, sweeps=sweeps, keep_u=True)
    scale = max(1.0, np.abs(U).max())
    np.testing.assert_allclose(U, D @ np.linalg.inv(X), atol=1e-10 * scale)
    alone = newton_direction(X, S, Lam, sweeps=sweeps)
    np.testing.assert_array_equal(alone, D)
    assert np.array_equal(D, D.T)


def test_direction_agrees_with_cvxpy():
    cp = pytest.importorskip("cvxpy")
    S, Lam = problem(5, 3)
    X = spd(5, np.random.default_rng(3)) + 0.5 * np.eye(5)
    W = np.linalg.inv(X)
    root = np.linalg.cholesky(W)
    D = cp.Variable((5, 5), symmetric=True)
    quadratic = 0.5 * cp.sum_squares(root.T @ D @ root)
    target = cp.trace((S - W) @ D) + quadratic + cp.sum(cp.multiply(Lam, cp.abs(X + D)))
    cp.Problem(cp.Minimize(target)).solve(solver=cp.CLARABEL)
    ours = exact_direction(X, S, Lam, np.ones((5, 5), bool))
    assert model(ours, X, W, S, Lam) == pytest.approx(model(D.value, X, W, S, Lam), abs=1e-6)
    np.testing.assert_allclose(ours, D.value, atol=1e-3)


@given(st.integers(1, 8), SEEDS)
@settings(max_examples=15, deadline=None)
def test_diagonal_shortcut_is_the_exact_direction(p, seed):
    from learnable.highdim.quic_graphical_lasso._kernels import diagonal_direction

    S, Lam = problem(p, seed, n=p + 1)
    Lam = Lam + 0.1 * np.eye(p)
    X = np.diag(np.random.default_rng(seed).uniform(0.5, 2, p))
    np.testing.assert_allclose(diagonal_direction(S, X, Lam), exact_direction(X, S, Lam), atol=1e-9)


@given(st.integers(2, 8), SEEDS)
@settings(max_examples=15, deadline=None)
def test_proposition_4_the_slope_is_negative_enough(p, seed):
    rng = np.random.default_rng(seed)
    S, Lam = problem(p, seed)
    X = spd(p, rng) + 0.3 * np.eye(p)
    free = rng.random((p, p)) < 0.6
    free = free | free.T | np.eye(p, dtype=bool)
    W = np.linalg.inv(X)
    D = exact_direction(X, S, Lam, free)
    delta = np.vdot(S - W, D) + np.vdot(Lam, np.abs(X + D) - np.abs(X))
    curvature = np.trace(W @ D @ W @ D)
    assert delta <= -curvature + 1e-8 * max(1, curvature)
    assert curvature >= np.vdot(D, D) / np.linalg.norm(X, 2) ** 2 - 1e-10


def test_lemma_7_nothing_moves_on_the_fixed_set():
    Lam = penalty_matrix(0.3, 60)
    iterates = []
    QUIC(CHAIN, Lam, screen=False, callback=iterates.append)
    for X in iterates:
        fixed = ~free_set(X, CHAIN, Lam)
        assert fixed.any()
        assert not newton_direction(X, CHAIN, Lam, free=fixed, sweeps=3).any()


# Line search


def test_line_search_stays_in_the_cone_and_decreases_enough():
    rng = np.random.default_rng(0)
    for seed in range(30):
        S, Lam = problem(6, seed)
        X = spd(6, rng) + 0.1 * np.eye(6)
        D = newton_direction(X, S, Lam, sweeps=5)
        alpha, moved, value = line_search(X, D, S, Lam)
        delta = np.vdot(S - np.linalg.inv(X), D) + np.vdot(Lam, np.abs(X + D) - np.abs(X))
        assert np.linalg.eigvalsh(moved)[0] > 0
        assert value == pytest.approx(objective(moved, S, Lam))
        assert value <= objective(X, S, Lam) + alpha * 1e-3 * delta + 1e-9
        if alpha < 1:
            twice = objective(X + 2 * alpha * D, S, Lam)
            assert twice > objective(X, S, Lam) + 2 * alpha * 1e-3 * delta


def test_proposition_3_the_search_ends_for_any_symmetric_descent_direction():
    rng = np.random.default_rng(1)
    for seed in range(30):
        S, Lam = problem(5, seed)
        X, D = spd(5, rng) + 0.1 * np.eye(5), symmetric(5, rng, 3.0)
        delta = np.vdot(S - np.linalg.inv(X), D) + np.vdot(Lam, np.abs(X + D) - np.abs(X))
        if delta < 0:
            assert 0 < line_search(X, D, S, Lam)[0] <= 1
        else:
            with pytest.raises(ValueError, match="descent"):
                line_search(X, D, S, Lam)


def test_line_search_shortens_a_step_that_leaves_the_cone():
    X, D = np.eye(2), np.array([[-1.5, 0], [0, 0]])
    alpha, moved, _ = line_search(X, D, 5 * np.eye(2), 0.0)
    assert alpha == 0.5 and moved[0, 0] == 0.25


# The whole algorithm


@pytest.mark.parametrize("seed", range(4))
def test_agrees_with_cvxpy(seed):
    cp = pytest.importorskip("cvxpy")
    S, Lam = problem(6, seed)
    Lam = Lam + (seed % 2) * 0.1 * np.eye(6)
    X = cp.Variable((6, 6), PSD=True)
    target = -cp.log_det(X) + cp.trace(S @ X) + cp.sum(cp.multiply(Lam, cp.abs(X)))
    cp.Problem(cp.Minimize(target)).solve(solver=cp.CLARABEL)
    ours = QUIC(S, Lam, tol=1e-10)[0]
    assert objective(ours, S, Lam) == pytest.approx(target.value, abs=1e-5)
    np.testing.assert_allclose(ours, X.value, atol=5e-3)


@pytest.mark.parametrize(("kind", "lam"), [("chain", 0.4), ("random", 0.1)])
def test_agrees_with_scikit_learn(kind, lam):
    S, p = graph(kind, 100), 100
    _, theirs = graphical_lasso(S, lam, tol=1e-6, enet_tol=1e-8, max_iter=200)
    Lam = penalty_matrix(lam, p)
    ours = QUIC(S, Lam, tol=1e-10)[0]
    theirs = 0.5 * (theirs + theirs.T)
    assert abs(objective(ours, S, Lam) - objective(theirs, S, Lam)) < 1e-6


@given(st.integers(1, 12), SEEDS, st.sampled_from(["adaptive", 200]), st.booleans())
@settings(max_examples=40, deadline=None)
def test_solution_is_certified(p, seed, sweeps, screen):
    S, Lam = problem(p, seed, n=max(3, p // 2))
    X, W, history = QUIC(S, Lam, tol=1e-9, max_iter=1000, sweeps=sweeps, screen=screen)
    assert history.converged and history.gap <= 1e-9 * p
    assert np.array_equal(X, X.T) and np.array_equal(W, W.T)
    np.testing.assert_allclose(X @ W, np.eye(p), atol=1e-7 * np.linalg.cond(X))
    assert duality_gap(X, S, Lam) <= 1.1e-9 * p + 1e-12
    assert history.objective[-1] == pytest.approx(objective(X, S, Lam), abs=1e-8 * p)
    assert history.n_nonzero[-1] == np.count_nonzero(X)


@pytest.mark.parametrize("S", [CHAIN, RANDOM], ids=["chain", "random"])
def test_iterates_are_positive_definite_and_the_objective_decreases(S):
    iterates = []
    _, _, history = QUIC(S, penalty_matrix(0.1, 60), screen=False, callback=iterates.append)
    assert all(np.linalg.eigvalsh(X)[0] > 0 for X in iterates)
    assert (np.diff(history.objective) < 0).all()
    assert len(iterates) == history.n_iter


def test_proposition_5_full_steps_near_the_solution():
    start = np.diag(np.random.default_rng(0).uniform(1, 30, 60))
    history = QUIC(CHAIN, penalty_matrix(0.05, 60), start, tol=1e-11)[2]
    assert history.step[1:].min() < 1  # far from the solution the search had work to do
    assert (history.step[-4:] == 1).all()


def test_lemma_14_the_sign_pattern_is_found_after_finitely_many_steps():
    Lam, signs = penalty_matrix(0.15, 60), []
    X, _, history = QUIC(CHAIN, Lam, tol=1e-12, screen=False, callback=lambda X: signs.append(np.sign(X)))
    found = [np.array_equal(s, np.sign(X)) for s in signs]
    first = found.index(True)
    assert all(found[first:]) and first < history.n_iter - 1


def test_theorem_16_quadratic_convergence_with_exact_inner_solves():
    S, Lam, iterates = graph("chain", 100), penalty_matrix(0.4, 100), []
    QUIC(S, Lam, tol=1e-14, sweeps=200, screen=False, max_iter=12, callback=iterates.append)
    errors = np.array([np.linalg.norm(X - iterates[-1]) for X in iterates])
    errors = errors[(errors > 1e-10) & (errors < 1)]
    assert len(errors) >= 3
    ratios = errors[1:] / errors[:-1] ** 2
    # Quadratic: the constant stays bounded while the error falls by orders of magnitude.
    assert ratios[-3:].max() < 3 and errors[-1] < 1e-4 * errors[0]


def test_one_sweep_converges_linearly_and_exact_directions_do_not():
    S, Lam = graph("chain", 100), penalty_matrix(0.15, 100)
    best = QUIC(S, Lam, tol=1e-13, sweeps=50)[2].objective[-1]

    def digits(sweeps):
        error = QUIC(S, Lam, tol=1e-10, sweeps=sweeps, max_iter=200)[2].objective - best
        return np.diff(-np.log10(error[(error > 1e-9) & (error < 1)]))

    slow, fast = digits(1), digits(30)
    assert len(slow) > len(fast) + 2
    assert slow[-3:].max() < 1.7  # about one digit a step, never accelerating
    assert fast[-1] > slow.max() and fast[-1] > fast[0]


def test_at_most_15_iterations_to_high_accuracy_on_a_chain():
    history = QUIC(graph("chain", 200), penalty_matrix(0.4, 200), tol=1e-10)[2]
    assert history.converged and history.n_iter <= 15


def test_theorem_9_unique_minimiser_without_penalty_on_the_diagonal():
    rng = np.random.default_rng(5)
    Lam = penalty_matrix(0.1, 60)
    a = QUIC(RANDOM, Lam, np.eye(60), tol=1e-13, sweeps=20)[0]
    start = spd(60, rng) + np.eye(60)
    b = QUIC(RANDOM, Lam, start, tol=1e-13, sweeps=20)[0]
    np.testing.assert_allclose(a, b, atol=1e-8)


@pytest.mark.parametrize(("kind", "lam"), [("chain", 0.4), ("random", 0.1), ("random", 0.06)])
def test_figure_5_the_free_set_stays_small(kind, lam):
    history = QUIC(graph(kind, 200), penalty_matrix(lam, 200), screen=False)[2]
    assert history.n_free.max() <= 6 * history.n_nonzero[-1]


@pytest.mark.parametrize("options", [{"beta": 0.1}, {"beta": 0.9}, {"sigma": 1e-6}, {"sigma": 0.4}])
def test_figure_4_robust_to_the_constants_of_the_line_search(options):
    Lam = penalty_matrix(0.1, 60)
    X, _, usual = QUIC(CHAIN, Lam, np.eye(60), tol=1e-10)
    other, _, history = QUIC(CHAIN, Lam, np.eye(60), tol=1e-10, **options)
    np.testing.assert_allclose(other, X, atol=1e-4)
    assert history.n_iter <= 2 * usual.n_iter


def test_strongly_correlated_variables_need_conjugate_gradients():
    """Common factors make W ill-conditioned: fixed sweeps creep, the adaptive schedule does not."""
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(100, 3)) @ rng.normal(size=(3, 50)) + rng.normal(size=(100, 50))
    S, Lam = np.corrcoef(Y.T), penalty_matrix(0.05, 50)
    X, _, history = QUIC(S, Lam)
    assert history.converged and history.n_iter < 60 and history.n_sweeps.sum() < 1500
    assert duality_gap(X, S, Lam) <= 1.1e-8 * 50
    with pytest.warns(ConvergenceWarning):
        QUIC(S, Lam, sweeps=3, max_iter=60)


def test_conjugate_gradients_minimise_the_model_on_a_face():
    """With support and signs given the model is quadratic: its minimiser is the solution of one linear system."""
    S, Lam = np.cov(np.random.default_rng(3).normal(size=(40, 6)).T) + 0.3, penalty_matrix(0.05, 6)
    X = QUIC(S, Lam)[0]
    signs, rows = np.sign(X), np.argwhere(X)
    X = X * (1 + 0.05 * symmetric(6, np.random.default_rng(4), scale=1.0))
    W = np.linalg.inv(X)
    i, j = rows.T
    # (W E W)_ij = sum_kl W_ik E_kl W_lj
    E = np.zeros((6, 6))
    E[i, j] = np.linalg.solve(W[np.ix_(i, i)] * W[np.ix_(j, j)], -(S - W + Lam * signs)[i, j])
    assert np.array_equal(np.sign(X + E), signs) and (signs == 0).any(), "the minimiser lies on the face"
    start, end, best = (model(D, X, W, S, Lam) for D in (np.zeros((6, 6)), polish(S, W, X, Lam, np.zeros((6, 6))), E))
    assert start > best and best - 1e-12 <= end <= best + 1e-3 * (start - best)


def test_seconds_count_from_the_start():
    before = time.perf_counter()
    seconds = QUIC(CHAIN, 0.1)[2].seconds
    after = time.perf_counter()
    assert seconds[0] >= 0 and (np.diff(seconds) >= 0).all() and 0 < seconds[-1] <= after - before


def test_criterion_of_the_paper():
    X, _, history = QUIC(CHAIN, 0.2, tol=1e-9, criterion="subgradient")
    sub = np.abs(min_norm_subgradient(X, CHAIN, 0.2)).sum()
    assert history.converged and sub <= 1.01e-9 * np.abs(X).sum()
    assert history.gap < 1e-6


# Screening


def blocks_case(copies=3, size=20, seed=0):
    made = make_gaussian_graph("random", 400, p=size, copies=copies, random_state=seed)
    return np.cov(made.data.T)


def test_screening_theorem_blocks_and_their_solutions():
    S = blocks_case()
    for lam in (0.02, 0.05, 0.1, 0.2):
        Lam = penalty_matrix(lam, len(S))
        X = QUIC(S, Lam, tol=1e-11, screen=False)[0]
        expected = threshold_components(S, lam)
        found = threshold_components(X, 0.0)
        assert [b.tolist() for b in found] == [b.tolist() for b in expected]
        apart, _, history = QUIC(S, Lam, tol=1e-11)
        assert history.n_blocks == len(expected)
        np.testing.assert_allclose(apart, X, atol=2e-5)
        for block in expected:
            at = np.ix_(block, block)
            alone = QUIC(S[at], Lam[at], tol=1e-11, screen=False)[0]
            np.testing.assert_allclose(X[at], alone, atol=2e-5)


def test_a_component_is_solved_as_if_it_stood_alone():
    """With a variable beside it that has no neighbour: the same steps, and that variable in closed form."""
    rng = np.random.default_rng(0)
    S = np.zeros((31, 31))
    S[:30, :30] = np.cov((rng.normal(size=(60, 3)) @ rng.normal(size=(3, 30)) + rng.normal(size=(60, 30))).T)
    S[30, 30] = 2.0
    X, W, history = QUIC(S, 0.15)
    alone, inverse, own = QUIC(S[:30, :30], 0.15)
    assert history.n_blocks == 2 and own.n_blocks == 1 and history.n_iter == own.n_iter
    np.testing.assert_allclose(X[:30, :30], alone, rtol=0, atol=1e-12)
    np.testing.assert_allclose(W[:30, :30], inverse, rtol=0, atol=1e-12)
    assert (X[30, 30], W[30, 30]) == (1 / 2.15, 2.15) and not X[30, :30].any()


def test_entries_between_components_are_never_free():
    S = blocks_case()
    Lam, iterates = penalty_matrix(0.12, len(S)), []
    label = np.empty(len(S), dtype=int)
    for k, block in enumerate(threshold_components(S, Lam)):
        label[block] = k
    between = label[:, None] != label
    assert between.any()
    QUIC(S, Lam, screen=False, callback=iterates.append)
    for X in iterates:
        assert not X[between].any() and not free_set(X, S, Lam)[between].any()


def test_entrywise_penalties_decide_the_blocks():
    S, Lam = problem(8, 1)
    Lam[:4, 4:] = Lam[4:, :4] = 10.0
    X, _, history = QUIC(S, Lam)
    assert history.n_blocks >= 2 and not X[:4, 4:].any()


def test_large_penalty_gives_a_diagonal():
    X, W, history = QUIC(CHAIN, penalty_matrix(max_penalty(CHAIN), 60))
    np.testing.assert_allclose(X, np.diag(1 / np.diagonal(CHAIN)))
    np.testing.assert_allclose(W, np.diag(np.diagonal(CHAIN)))
    assert history.converged and history.n_iter == 0 and history.n_blocks == 60


# Edges of the input


def test_one_variable():
    X, W, history = QUIC([[4.0]], 1.0)
    assert X.tolist() == [[0.2]] and W.tolist() == [[5.0]] and history.converged
    assert QUIC([[4.0]], [[0.0]], screen=False)[0] == pytest.approx(0.25)


def test_singular_covariance():
    S = np.outer([1.0, 2.0, -1.0], [1.0, 2.0, -1.0])
    X, _, history = QUIC(S, penalty_matrix(0.1, 3))
    assert history.converged and np.linalg.eigvalsh(X)[0] > 0


def test_constant_variable_with_penalised_diagonal():
    S = np.diag([1.0, 0.0])
    assert QUIC(S, 0.5)[0][1, 1] == pytest.approx(2.0)


def test_no_penalty_is_the_inverse():
    S = spd(6, np.random.default_rng(0))
    np.testing.assert_allclose(QUIC(S, 0.0, tol=1e-12)[0], np.linalg.inv(S), rtol=1e-4, atol=1e-4)


def test_indefinite_matrix_is_named_in_the_warning():
    S = np.array([[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1.0]])
    with pytest.warns(ConvergenceWarning, match="negative eigenvalue"):
        QUIC(S, penalty_matrix(0.01, 3), max_iter=8)


def test_warning_says_what_to_change():
    with pytest.warns(ConvergenceWarning, match="raise max_iter, now 1"):
        QUIC(CHAIN, penalty_matrix(0.1, 60), max_iter=1)


EYE = np.eye(2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: QUIC([[1, 0.5], [0.2, 1]], 0.1), "S must be symmetric"),
        (lambda: QUIC([[1, np.nan], [np.nan, 1]], 0.1), "finite"),
        (lambda: QUIC(np.ones((2, 3)), 0.1), "square"),
        (lambda: QUIC(np.empty((0, 0)), 0.1), "at least one row"),
        (lambda: QUIC(EYE, -0.1), "non-negative"),
        (lambda: QUIC(EYE, [[0, 1], [2, 0]]), "Lambda must be symmetric"),
        (lambda: QUIC(EYE, np.ones((3, 3))), "shape of S"),
        (lambda: QUIC(EYE, [0.1, 0.2]), "shape of S"),
        (lambda: QUIC(np.diag([1.0, 0.0]), penalty_matrix(0.1, 2)), "unbounded below"),
        (lambda: QUIC(-EYE, 0.1), "unbounded below"),
        (lambda: QUIC([[1, 2], [2, 1]], penalty_matrix(0.1, 2)), "positive semi-definite"),
        (lambda: QUIC(np.ones((3, 3)), 0.0), "must be positive where S is singular"),
        (lambda: QUIC(EYE, 0.1, np.eye(3)), "shape of S"),
        (lambda: QUIC(EYE, 0.1, [[1, 2], [2, 1]]), "X0 must be positive definite"),
        (lambda: QUIC(EYE, 0.1, None, EYE), "W0 is the inverse of X0"),
        (lambda: QUIC(EYE, 0.1, 2 * EYE, EYE), "W0 must be the inverse"),
        (lambda: QUIC(EYE, 0.1, tol=0), "tol"),
        (lambda: QUIC(EYE, 0.1, max_iter=0), "max_iter"),
        (lambda: QUIC(EYE, 0.1, sweeps="many"), "sweeps"),
        (lambda: QUIC(EYE, 0.1, sweeps=0), "sweeps"),
        (lambda: QUIC(EYE, 0.1, sigma=0.5), "sigma"),
        (lambda: QUIC(EYE, 0.1, beta=1.0), "beta"),
        (lambda: QUIC(EYE, 0.1, criterion="time"), "criterion"),
        (lambda: QUIC(EYE, 0.1, callback=print), "screen=False"),
        (lambda: newton_direction(EYE, EYE, 0.1, free=[[True, True], [False, True]]), "symmetric"),
        (lambda: newton_direction(EYE, EYE, 0.1, free=EYE, D=np.ones((2, 2))), "vanish outside"),
        (lambda: newton_direction(-EYE, EYE, 0.1), "positive definite"),
        (lambda: line_search(EYE, np.eye(3), EYE, 0.1), "shape of X"),
        (lambda: line_search(-EYE, EYE, EYE, 0.1), "positive definite"),
        (lambda: line_search(EYE, EYE, EYE, 0.1), "descent"),
        (lambda: duality_gap(-EYE, EYE, 0.1), "positive definite"),
        (lambda: min_norm_subgradient(EYE, np.eye(3), 0.1), "shape of X"),
        (lambda: min_norm_subgradient(EYE, EYE, -0.1), "non-negative"),
        (lambda: penalty_matrix(-1, 2), "alpha"),
        (lambda: quic_path(EYE, []), "at least one"),
        (lambda: quic_path(EYE, [-0.1]), "negative"),
        (lambda: block_quic(EYE, 0.1, [EYE]), "cover"),
        (lambda: block_quic(EYE, 0.1, []), "index_sets"),
        (lambda: admm(EYE, 0.1, rho=0), "rho"),
        (lambda: admm(EYE, 0.1, relaxation=2), "relaxation"),
        (lambda: neighbourhood_lasso(EYE, 0.1, rule="xor"), "rule"),
        (lambda: neighbourhood_lasso(EYE, 0), "alpha"),
        (lambda: GraphicalLassoQUIC(-0.1).fit(np.eye(3)), "alpha"),
        (lambda: GraphicalLassoQUIC(covariance="yes").fit(EYE), "covariance must be"),
        (lambda: GraphicalLassoQUIC().fit([[1.0, 2.0], [1.0, 3.0]]), "constant variable"),
        (lambda: l1_logistic(EYE, [0, 1, 1], 0.1), "one row"),
        (lambda: l1_logistic(EYE, [0, 1], 0), "alpha"),
        (lambda: l1_logistic(EYE, [0, 1], 0.1, start=[0.0]), "start"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# Path and estimators


def test_path_equals_single_fits_and_warm_starts_save_steps():
    S, lambdas = graph("random", 100), np.geomspace(0.3, 0.03, 12)
    path = quic_path(S, lambdas[::-1], tol=1e-10)
    assert np.array_equal(path.alphas, lambdas)
    cold = [QUIC(S, penalty_matrix(lam, 100), tol=1e-10) for lam in lambdas]
    for X, (other, _, _) in zip(path.precisions, cold, strict=True):
        np.testing.assert_allclose(X, other, atol=2e-4)
    assert sum(h.n_iter for h in path.histories) < sum(h.n_iter for _, _, h in cold)
    assert path.histories[0].n_nonzero[-1] <= path.histories[-1].n_nonzero[-1]


def test_known_inverse_changes_nothing():
    Lam = penalty_matrix(0.1, 60)
    X0, W0, _ = QUIC(RANDOM, penalty_matrix(0.2, 60))
    np.testing.assert_allclose(QUIC(RANDOM, Lam, X0, W0)[0], QUIC(RANDOM, Lam, X0)[0], atol=1e-5)
    dense = np.linalg.inv(
        RANDOM + np.eye(60)
    )  # not block diagonal: the inverse of a block is not a block of the inverse
    dense = 0.5 * (dense + dense.T)
    there = 0.5 * (np.linalg.inv(dense) + np.linalg.inv(dense).T)
    big = penalty_matrix(0.25, 60)
    np.testing.assert_allclose(QUIC(RANDOM, big, dense, there)[0], QUIC(RANDOM, big)[0], atol=1e-3)


@parametrize_with_checks([GraphicalLassoQUIC(), GraphicalLassoQUICCV(alphas=3, cv=2)])
def test_scikit_learn_conventions(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        check(estimator)


def test_estimator_uses_the_covariance_of_scikit_learn():
    X = make_gaussian_graph("chain", 80, p=12, random_state=0).data
    for centered in (False, True):
        model = GraphicalLassoQUIC(0.1, assume_centered=centered).fit(X)
        Z = X if centered else X - X.mean(axis=0)
        S = Z.T @ Z / len(Z)
        np.testing.assert_allclose(model.precision_, QUIC(S, penalty_matrix(0.1, 12))[0], atol=1e-6)
        given_s = GraphicalLassoQUIC(0.1, covariance="precomputed").fit(S)
        np.testing.assert_allclose(given_s.precision_, model.precision_, atol=1e-6)
    assert model.dual_gap_ <= 1e-8 * 12 and model.n_iter_ == model.history_.n_iter


def test_estimator_takes_a_matrix_of_penalties_and_penalises_the_diagonal_on_request():
    X = make_gaussian_graph("chain", 80, p=6, random_state=0).data
    wanted = np.where(np.abs(np.subtract.outer(range(6), range(6))) > 1, 1.0, 0.01)
    model = GraphicalLassoQUIC(wanted).fit(X)
    assert np.array_equal(np.argwhere(np.triu(model.precision_, 2)), np.empty((0, 2)))
    S = np.cov(X.T, ddof=0)
    both = GraphicalLassoQUIC(0.2, penalize_diagonal=True).fit(X)
    np.testing.assert_allclose(np.diagonal(both.covariance_), np.diagonal(S) + 0.2, atol=1e-3)


def test_cross_validation_agrees_with_scikit_learn():
    X = make_gaussian_graph("chain", 100, p=15, random_state=1).data
    alphas = [0.05, 0.1, 0.2, 0.3]
    ours = GraphicalLassoQUICCV(alphas=alphas, cv=4).fit(X)
    theirs = GraphicalLassoCV(alphas=alphas, cv=4, tol=1e-6).fit(X)
    assert ours.alpha_ == theirs.alpha_
    order = np.argsort(theirs.cv_results_["alphas"])[::-1]
    order = [k for k in order if theirs.cv_results_["alphas"][k] > 0]
    # scikit-learn centres held-out data by their own mean; ours uses the training mean, as for new observations.
    np.testing.assert_allclose(
        ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"][order], atol=0.5
    )
    assert ours.score(X) > GraphicalLassoQUIC(1.0).fit(X).score(X)


# What it is compared with


@pytest.mark.parametrize("solver", [admm, dual_projected_gradient, sinco])
@pytest.mark.parametrize("seed", range(3))
def test_baselines_reach_the_same_minimum(solver, seed):
    S, Lam = problem(12, seed)
    X, trace = solver(S, Lam, tol=1e-7, max_iter=20_000)
    best = QUIC(S, Lam, tol=1e-10)[2].objective[-1]
    assert trace.converged and trace.gap[-1] <= 1.2e-6
    assert objective(0.5 * (X + X.T), S, Lam) == pytest.approx(best, abs=2e-6)
    assert trace.objective[-1] == pytest.approx(objective(0.5 * (X + X.T), S, Lam), abs=1e-9)
    assert (np.diff(trace.seconds) >= 0).all()


def test_greedy_step_is_the_minimiser_along_one_entry():
    from learnable.highdim.quic_graphical_lasso.baselines import _best_step

    rng = np.random.default_rng(0)
    for k in range(60):
        X, S = spd(3, rng) + 0.2 * np.eye(3), spd(3, rng)
        W, lam, diagonal = np.linalg.inv(X), rng.uniform(0, 0.5), k % 2 == 0
        i, j = (0, 0) if diagonal else (0, 1)
        E = np.zeros((3, 3))
        E[i, j] = E[j, i] = 1.0
        Lam = lam * E

        def f(t, X=X, S=S, E=E, Lam=Lam):
            return objective(X + t * E, S, Lam)

        t, gain = _best_step(S[i, j], lam, X[i, j], W[i, j], W[i, i], W[j, j], diagonal)
        assert f(0) - f(t) == pytest.approx(gain, abs=1e-9)
        grid = np.linspace(-3, 3, 301)
        assert f(t) <= min(f(s) for s in grid) + 1e-9


@pytest.mark.parametrize("masks", ["rows", "halves"])
def test_algorithm_3_any_covering_sequence_converges(masks):
    S, Lam = problem(6, 2)
    if masks == "rows":
        sets = []
        for i in range(6):
            mask = np.zeros((6, 6), dtype=bool)
            mask[i] = mask[:, i] = True
            sets.append(mask)
    else:
        odd = np.add.outer(range(6), range(6)) % 2 == 1
        sets = [odd, ~odd]
    X, _, history = block_quic(S, Lam, sets, tol=1e-8)
    assert history.converged and len(np.diff(history.objective)) > 0
    np.testing.assert_allclose(X, QUIC(S, Lam, tol=1e-10)[0], atol=1e-3)


def test_neighbourhoods_recover_a_chain():
    made = make_gaussian_graph("chain", 2000, p=20, random_state=0)
    S = np.corrcoef(made.data.T)
    for rule in ("and", "or"):
        found = neighbourhood_lasso(S, 0.15, rule=rule)
        assert np.array_equal(found, made.adjacency)
    some = graph("random", 40)
    assert (neighbourhood_lasso(some, 0.1, rule="and") <= neighbourhood_lasso(some, 0.1, rule="or")).all()


def test_chain_of_table_1_recovers_nearly_all_of_the_graph():
    made = make_gaussian_graph("chain", 200, p=400, random_state=0)
    X = QUIC(np.cov(made.data.T), penalty_matrix(0.4, 400))[0]
    rates = support_rates(X, made.precision)
    # An edge has sample covariance 2/3 with standard deviation 0.1 here, so a few in a hundred may fall below 0.4.
    assert rates.tpr > 0.97 and rates.fpr < 3e-3


def test_generators_are_those_of_the_paper():
    chain = precision_matrix("chain", 1000)
    assert np.count_nonzero(chain) == 2998 and chain[0, 0] == 1.25 and chain[0, 1] == -0.5
    random = precision_matrix("random", 500, random_state=0)
    assert 8 * 500 <= np.count_nonzero(random) <= 13 * 500
    assert np.linalg.eigvalsh(random)[0] > 0
    block = precision_matrix("random", 150, copies=8, random_state=0)
    assert len(block) == 1200 and not block[:150, 150:].any()


# The same template for logistic regression


@pytest.mark.parametrize("as_sparse", [False, True])
def test_l1_logistic_agrees_with_liblinear(as_sparse):
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    A = sparse.csr_array(X) if as_sparse else X
    w, values = l1_logistic(A, y, 2.0)
    theirs = LogisticRegression(
        C=0.5, l1_ratio=1.0, solver="liblinear", fit_intercept=False, tol=1e-10, max_iter=10_000
    ).fit(X, y)
    np.testing.assert_allclose(w, theirs.coef_[0], atol=1e-5)
    assert (np.diff(values) <= 1e-10).all() and len(values) <= 13


def test_l1_logistic_on_separable_data_and_with_a_start():
    A, y = np.array([[1.0], [2.0], [-1.0], [-3.0]]), np.array(["b", "b", "a", "a"])
    w, _ = l1_logistic(A, y, 0.1)
    again, values = l1_logistic(A, y, 0.1, start=w)
    assert w[0] > 0 and len(values) == 1 and again == pytest.approx(w)


def test_l1_logistic_large_penalty_is_zero():
    X, y = load_breast_cancer(return_X_y=True)
    assert not l1_logistic(X[:, :3], y, 1e6)[0].any()


def test_l1_logistic_warns():
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        l1_logistic((X - X.mean(axis=0)) / X.std(axis=0), y, 0.1, max_iter=1)


def test_soft_threshold():
    z = np.linspace(-2, 2, 41)
    np.testing.assert_allclose(soft_threshold(z, 0.5), np.sign(z) * np.maximum(np.abs(z) - 0.5, 0), atol=1e-15)


# Slips of the source


def test_erratum_rates_count_nonzeros_not_positives():
    truth = precision_matrix("chain", 30)
    positive = ((truth > 0) & (truth > 0)).sum()
    assert positive == 30  # with "> 0" only the diagonal of the chain would count
    assert len(edge_list(truth)) == 29 and support(truth).sum() == 58


def test_erratum_free_set_depends_on_the_outer_iterate_only():
    """Algorithm 2 prints the partition inside the inner loop, but D does not enter it: sweeps stay in one free set."""
    Lam = penalty_matrix(0.2, 60)
    free = free_set(np.eye(60), CHAIN, Lam, np.eye(60))
    for sweeps in (1, 3, 10):
        D = newton_direction(np.eye(60), CHAIN, Lam, sweeps=sweeps)
        assert D.any() and not D[~free].any()


def test_erratum_smaller_penalties_merge_the_blocks():
    """The text on Figure 7 says that lambda is increased; it is decreased."""
    S = blocks_case()
    counts = [len(threshold_components(S, lam)) for lam in (0.02, 0.05, 0.1, 0.2)]
    assert counts == sorted(counts) and counts[0] < counts[-1]


def test_erratum_theorem_9_needs_positive_variances():
    """Theorem 9 asks for positive off-diagonal penalties only; a variable without variance has no minimiser."""
    S, Lam = np.diag([1.0, 0.0]), penalty_matrix(0.1, 2)
    values = [objective(np.diag([1.0, x]), S, Lam) for x in (1, 1e3, 1e6)]
    assert values[0] > values[1] > values[2]
    with pytest.raises(ValueError, match="unbounded"):
        QUIC(S, Lam)


@pytest.mark.parametrize("scale", [1e-7, 1e7])
def test_estimates_follow_the_unit_of_the_data(scale):
    """X to cX takes penalties to c^2 and the precision to 1/c^2 times themselves, and keeps the edges."""
    from learnable.highdim.quic_graphical_lasso import GraphicalLassoQUICCV, quic_path

    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 5))
    X[:, 1] += X[:, 0]
    plain, scaled = (GraphicalLassoQUICCV(cv=3).fit(Z) for Z in (X, scale * X))
    assert scaled.alpha_ == pytest.approx(scale**2 * plain.alpha_, rel=1e-8)
    np.testing.assert_allclose(scaled.precision_ * scale**2, plain.precision_, atol=1e-6)
    S = np.cov(X.T)
    np.testing.assert_allclose(quic_path(S * scale**2).alphas, quic_path(S).alphas * scale**2, rtol=1e-10)
