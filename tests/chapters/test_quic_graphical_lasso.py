"""QUIC against brute force, scikit-learn, cvxpy and the theory of Hsieh et al. 2014."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, sparse
from sklearn.covariance import graphical_lasso
from sklearn.exceptions import ConvergenceWarning

from learnable.chapters.quic_graphical_lasso.baselines import admm, dual_projected_gradient
from learnable.chapters.quic_graphical_lasso.theory import duality_gap, objective
from learnable.datasets.graphical import make_gaussian_graph, precision_matrix
from learnable.highdim import (
    QUIC,
    GraphicalLassoQUIC,
    l1_logistic,
    neighbourhood_lasso,
    quic_path,
)
from learnable.highdim.quic import _kernels as kernels
from learnable.highdim.quic import penalty_matrix
from learnable.highdim.quic.blocks import Blockwise
from learnable.highdim.quic.newton import search
from learnable.linalg.precision import edge_list, support, threshold_components
from learnable.optim.proximal import soft_threshold

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


def pattern_of(mask):
    """Starts of the rows and columns of the entries of a mask, as QUIC keeps its free set."""
    mask = sparse.csr_array(mask)
    mask.sort_indices()
    return mask.indptr.astype(np.int64), mask.indices.astype(np.int64)


def penalties(Lambda, X):
    return np.broadcast_to(np.asarray(Lambda, dtype=float), X.shape).copy()


def min_norm_subgradient(X, S, Lambda):
    """The smallest subgradient of f at X, entry by entry (Definition 6)."""
    G, Lam = S - np.linalg.inv(X), penalties(Lambda, X)
    return np.where(X > 0, G + Lam, np.where(X < 0, G - Lam, soft_threshold(G, Lam)))


def free_set(X, S, Lambda):
    """Mask of the entries that a Newton step may change: X_ij != 0 or |S_ij - W_ij| > lambda_ij (33)."""
    return (X != 0) | (np.abs(S - np.linalg.inv(X)) > Lambda)


def newton_direction(X, S, Lambda, *, free=None, sweeps=10, D=None, keep_u=False):
    """The Newton direction of f at X restricted to a free set, by the compiled descent of QUIC (20)."""
    W, Lam = np.linalg.inv(X), penalties(Lambda, X)
    mask = free_set(X, S, Lam) if free is None else free
    D = np.zeros_like(X) if D is None else D.copy()
    U = D @ W
    kernels.descend(kernels.Model(S, W, X, Lam), pattern_of(mask), D, U, sweeps, 0.0)
    return (D, U) if keep_u else D


def line_search(X, D, S, Lambda):
    """QUIC's search from X along D: step, point and value; None where D does not descend."""
    Lam, trace = penalties(Lambda, X), float(np.vdot(S, X))
    pattern, rule = pattern_of((X != 0) | (D != 0)), {"sigma": 1e-3, "beta": 0.5}
    method, value = Blockwise([np.arange(len(X))]), objective(X, S, Lam)
    found = search(X, D, S, Lam, np.linalg.inv(X), value, trace, pattern, method, rule)
    if found is None:
        return None
    moved = X.copy()
    kernels.move_along(moved, D, found[0], *pattern)
    return found[0], moved, found[1]


def exact_direction(X, S, Lam, free=None):
    return newton_direction(X, S, Lam, free=free, sweeps=2000)


CHAIN = graph("chain", 60)


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
    moved = newton_direction(X, S, Lam, free=one, sweeps=1, D=D)
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
    from learnable.highdim.quic._kernels import diagonal_direction

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
            assert line_search(X, D, S, Lam) is None


def test_line_search_shortens_a_step_that_leaves_the_cone():
    X, D = np.eye(2), np.array([[-1.5, 0], [0, 0]])
    alpha, moved, _ = line_search(X, D, 5 * np.eye(2), 0.0)
    assert alpha == 0.5 and moved[0, 0] == 0.25


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


def test_criterion_of_the_paper():
    X, _, history = QUIC(CHAIN, 0.2, tol=1e-9, criterion="subgradient")
    sub = np.abs(min_norm_subgradient(X, CHAIN, 0.2)).sum()
    assert history.converged and sub <= 1.01e-9 * np.abs(X).sum()
    assert history.gap < 1e-6


def blocks_case(copies=3, size=20, seed=0):
    made = make_gaussian_graph("random", 400, p=size, copies=copies, random_state=seed)
    return np.cov(made.data.T)


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
        (lambda: penalty_matrix(-1, 2), "alpha"),
        (lambda: quic_path(EYE, []), "at least one"),
        (lambda: quic_path(EYE, [-0.1]), "negative"),
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


@pytest.mark.parametrize("solver", [admm, dual_projected_gradient])
@pytest.mark.parametrize("seed", range(3))
def test_baselines_reach_the_same_minimum(solver, seed):
    S, Lam = problem(12, seed)
    X, trace = solver(S, Lam, tol=1e-7, max_iter=20_000)
    best = QUIC(S, Lam, tol=1e-10)[2].objective[-1]
    assert trace.converged and trace.gap[-1] <= 1.2e-6
    assert objective(0.5 * (X + X.T), S, Lam) == pytest.approx(best, abs=2e-6)
    assert trace.objective[-1] == pytest.approx(objective(0.5 * (X + X.T), S, Lam), abs=1e-9)
    assert (np.diff(trace.seconds) >= 0).all()


def test_generators_are_those_of_the_paper():
    chain = precision_matrix("chain", 1000)
    assert np.count_nonzero(chain) == 2998 and chain[0, 0] == 1.25 and chain[0, 1] == -0.5
    random = precision_matrix("random", 500, random_state=0)
    assert 8 * 500 <= np.count_nonzero(random) <= 13 * 500
    assert np.linalg.eigvalsh(random)[0] > 0
    block = precision_matrix("random", 150, copies=8, random_state=0)
    assert len(block) == 1200 and not block[:150, 150:].any()


def test_soft_threshold():
    z = np.linspace(-2, 2, 41)
    np.testing.assert_allclose(soft_threshold(z, 0.5), np.sign(z) * np.maximum(np.abs(z) - 0.5, 0), atol=1e-15)


def test_erratum_rates_count_nonzeros_not_positives():
    truth = precision_matrix("chain", 30)
    positive = ((truth > 0) & (truth > 0)).sum()
    assert positive == 30  # with "> 0" only the diagonal of the chain would count
    assert len(edge_list(truth)) == 29 and support(truth).sum() == 58


def test_erratum_free_set_depends_on_the_outer_iterate_only():
    """Algorithm 2 prints the partition inside the inner loop, but D does not enter it: sweeps stay in one free set."""
    Lam = penalty_matrix(0.2, 60)
    free = free_set(np.eye(60), CHAIN, Lam)
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
