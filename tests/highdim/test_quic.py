"""QUIC against brute force, scikit-learn, cvxpy and the theory of Hsieh et al. 2014."""

import time
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.covariance import GraphicalLassoCV
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from learnable.datasets.graphical import make_gaussian_graph
from learnable.highdim import (
    QUIC,
    GraphicalLassoQUIC,
    GraphicalLassoQUICCV,
    l1_logistic,
    quic_path,
)
from learnable.highdim.quic import penalty_matrix
from learnable.highdim.quic.estimators import max_penalty
from learnable.highdim.quic.newton import polish
from learnable.linalg.precision import support_rates, threshold_components


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


CHAIN = graph("chain", 60)
RANDOM = graph("random", 60)


def test_inverse_is_not_dual_feasible_before_convergence():
    X = np.eye(60)
    assert (np.abs(np.linalg.inv(X) - CHAIN) > penalty_matrix(0.4, 60) + 1e-9).any()


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


def test_chain_of_table_1_recovers_nearly_all_of_the_graph():
    made = make_gaussian_graph("chain", 200, p=400, random_state=0)
    X = QUIC(np.cov(made.data.T), penalty_matrix(0.4, 400))[0]
    rates = support_rates(X, made.precision)
    # An edge has sample covariance 2/3 with standard deviation 0.1 here, so a few in a hundred may fall below 0.4.
    assert rates.tpr > 0.97 and rates.fpr < 3e-3


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


@pytest.mark.parametrize("scale", [1e-7, 1e7])
def test_estimates_follow_the_unit_of_the_data(scale):
    """X to cX takes penalties to c^2 and the precision to 1/c^2 times themselves, and keeps the edges."""
    from learnable.highdim import GraphicalLassoQUICCV, quic_path

    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 5))
    X[:, 1] += X[:, 0]
    plain, scaled = (GraphicalLassoQUICCV(cv=3).fit(Z) for Z in (X, scale * X))
    assert scaled.alpha_ == pytest.approx(scale**2 * plain.alpha_, rel=1e-8)
    np.testing.assert_allclose(scaled.precision_ * scale**2, plain.precision_, atol=1e-6)
    S = np.cov(X.T)
    np.testing.assert_allclose(quic_path(S * scale**2).alphas, quic_path(S).alphas * scale**2, rtol=1e-10)
