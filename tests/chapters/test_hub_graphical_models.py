"""Graphical models with hubs: the claims of Tan et al. 2014, against cvxpy, scikit-learn and brute force."""

import functools
import itertools
import warnings

import numpy as np
import pytest
from scipy import optimize, stats
from sklearn.covariance import graphical_lasso
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso
from sklearn.utils.estimator_checks import parametrize_with_checks

from learnable.chapters.hub_graphical_models.baselines import (
    admm_graphical_lasso,
    scale_free_lasso,
    screen_hubs,
    sparse_covariance,
)
from learnable.chapters.hub_graphical_models.theory import (
    hub_admm,
    hub_metrics,
    hub_penalty,
    penalty_regime,
    sparse_group_shrink,
    star_penalty,
)
from learnable.datasets.graphical import hub_adjacency, make_gaussian_graph, make_ising
from learnable.graphs.hubs.binary import (
    HubBinaryNetwork,
    PseudoLikelihood,
    gibbs_ising,
    hub_binary_network,
    pseudo_likelihood,
)
from learnable.graphs.hubs.blocks import screen_blocks
from learnable.graphs.hubs.covariance import HubCovarianceGraph, hub_covariance
from learnable.graphs.hubs.gaussian import GaussianLoss, HubGraphicalLasso, hub_bic, hub_graphical_lasso, hub_path
from learnable.highdim.neighbourhoods import neighbourhood_lasso
from learnable.optim.proximal import logdet_prox

TOL = 1e-9


@functools.cache
def correlation(p=20, n=40, seed=0):
    S = np.corrcoef(make_gaussian_graph("hubs", n, p=p, n_hubs=2, random_state=seed).data.T)
    S.setflags(write=False)
    return S


@functools.cache
def bits(p=20, n=60, seed=0):
    X = make_ising(n, p=p, n_hubs=2, random_state=seed).data
    X.setflags(write=False)
    return X


def off(A):
    return A - np.diag(np.diag(A))


def symmetric(rng, p):
    A = rng.normal(size=(p, p))
    return A + A.T


def by_cvxpy(p, lam, loss, constraints=lambda T: []):
    """The optimum of a loss plus the hub penalty by an interior point method."""
    cp = pytest.importorskip("cvxpy")
    T, V, Z = cp.Variable((p, p), symmetric=True), cp.Variable((p, p)), cp.Variable((p, p), symmetric=True)
    mask = 1 - np.eye(p)
    columns = cp.sum(cp.norm(cp.multiply(mask, V), 2, axis=0))
    penalty = (
        lam[0] * cp.sum(cp.abs(cp.multiply(mask, Z))) + lam[1] * cp.sum(cp.abs(cp.multiply(mask, V))) + lam[2] * columns
    )
    problem = cp.Problem(cp.Minimize(loss(cp, T) + penalty), [T == V + V.T + Z, *constraints(T)])
    problem.solve(solver="CLARABEL")
    return T.value, problem.value


def test_hub_graphical_lasso_equals_cvxpy_at_p_20():
    S, lam = correlation(), (0.3, 0.2, 1.0)
    theta, value = by_cvxpy(20, lam, lambda cp, T: -cp.log_det(T) + cp.trace(S @ T))
    fit = hub_graphical_lasso(S, *lam, tol=TOL)
    assert fit.converged and abs(fit.objective - value) < 1e-5 and np.abs(fit.estimate - theta).max() < 1e-3
    assert 0 < len(fit.hubs) < 20 and 0 < np.count_nonzero(off(fit.Z))


def test_hub_covariance_graph_equals_cvxpy_at_p_20():
    S, lam, eps = correlation(n=12), (0.1, 0.1, 0.3), 0.2  # n < p, and a bound on the eigenvalues that is active
    sigma, value = by_cvxpy(20, lam, lambda cp, T: 0.5 * cp.sum_squares(T - S), lambda T: [T >> eps * np.eye(20)])
    fit = hub_covariance(S, *lam, eps=eps, tol=TOL)
    assert fit.converged and abs(fit.objective - value) < 1e-5 and np.abs(fit.estimate - sigma).max() < 1e-3
    assert abs(np.linalg.eigvalsh(fit.estimate)[0] - eps) < 1e-4 and len(fit.hubs) > 0


def test_hub_binary_network_equals_cvxpy_at_p_20():
    X, lam = bits(), (4.0, 4.0, 6.0)
    mask = 1 - np.eye(20)

    def loss(cp, T):
        eta = X @ cp.multiply(mask, T) + np.ones((len(X), 1)) @ cp.reshape(cp.diag(T), (1, 20), order="C")
        return cp.sum(cp.logistic(eta)) - cp.sum(cp.multiply(X, eta))

    theta, value = by_cvxpy(20, lam, loss)
    fit = hub_binary_network(X, *lam, tol=1e-8)
    assert fit.converged and abs(fit.objective - value) < 1e-4 and np.abs(fit.estimate - theta).max() < 1e-2
    assert np.count_nonzero(off(fit.estimate)) > 20


def test_hub_penalty_equals_cvxpy_and_its_dual():
    rng = np.random.default_rng(0)
    A, lam = symmetric(rng, 7), (0.5, 0.3, 0.8)
    _, value = by_cvxpy(7, lam, lambda cp, T: 0, lambda T: [T == A])
    fit = hub_penalty(A, *lam, tol=1e-8)
    assert abs(fit.objective - value) < 1e-5 * value
    assert np.allclose(fit.Z + fit.V + fit.V.T, A, atol=1e-12)
    L = fit.dual  # Lemma 7: feasible, and it attains the value
    over = np.sign(L) * np.maximum(2 * np.abs(L) - lam[1], 0)
    assert np.abs(L).max() <= lam[0] + 1e-4 and np.linalg.norm(over, axis=0).max() <= lam[2] + 1e-3
    assert abs(np.vdot(L, A) - value) < 1e-3 * value


@pytest.mark.parametrize("leaves", [1, 2, 3, 5, 9])
def test_star_matrix_costs_the_cheaper_of_edges_and_hub(leaves):
    lam, a = (0.4, 0.3, 1.0), -1.7
    star = np.eye(leaves + 2)  # one node stands alone
    star[0, 1 : leaves + 1] = star[1 : leaves + 1, 0] = a
    as_edges, as_hub = 2 * lam[0] * leaves * abs(a), (lam[1] * leaves + lam[2] * np.sqrt(leaves)) * abs(a)
    fit = hub_penalty(star, *lam, tol=1e-8)
    assert abs(fit.objective - min(as_edges, as_hub)) < 1e-5
    assert star_penalty(*lam, leaves, a) == pytest.approx(min(as_edges, as_hub))
    if leaves != 4:
        assert (0 in fit.hubs) == (lam[0] > lam[1] / 2 + lam[2] / (2 * np.sqrt(leaves)))


def test_sparse_group_shrink_is_the_minimiser_by_random_perturbation():
    rng = np.random.default_rng(1)
    C, a, b = rng.normal(size=(5, 4)) * np.array([3.0, 1.0, 0.3, 2.0]), 0.4, 0.9
    x = sparse_group_shrink(C, a, b)

    def cost(x):
        return 0.5 * ((x - C) ** 2).sum() + a * np.abs(x).sum() + b * np.linalg.norm(x, axis=0).sum()

    for scale in (1.0, 0.1, 1e-3):
        for _ in range(50):
            assert cost(x) <= cost(x + scale * rng.normal(size=x.shape)) + 1e-12
    assert not x[:, 2].any() and x[:, 0].any()
    assert not sparse_group_shrink(np.zeros((3, 2)), 0.0, 0.0).any()


def two_halves(cross, seed=0):
    S = np.zeros((16, 16))
    S[:8, :8], S[8:, 8:] = correlation(8, 30, seed), correlation(8, 30, seed + 1)
    S[:8, 8:] = np.random.default_rng(seed).uniform(-cross, cross, (8, 8))
    S[8:, :8] = S[:8, 8:].T
    return S


def test_theorem_1_the_solution_is_block_diagonal_and_equals_the_blocks():
    S, lam = two_halves(0.12), (0.3, 0.25, 0.5)  # min(λ1, λ2/2) = 0.125
    whole = hub_graphical_lasso(S, *lam, screen=False, tol=1e-11)
    assert np.abs(whole.estimate[:8, 8:]).max() < 1e-6
    for part in (slice(0, 8), slice(8, 16)):
        alone = hub_graphical_lasso(S[part, part], *lam, screen=False, tol=1e-11)
        assert np.abs(whole.estimate[part, part] - alone.estimate).max() < 1e-6
    assert len(screen_blocks(S, 0.3, 0.25)) >= 2 and len(screen_blocks(S, 0.3, 0.1)) == 1


def test_theorem_2_the_condition_is_necessary_up_to_equality():
    S = two_halves(0.12, seed=3)
    checked = 0
    for lam in itertools.product((0.1, 0.25), (0.1, 0.3), (0.1, 0.4)):
        fit = hub_graphical_lasso(S, *lam, tol=1e-8)
        if np.abs(fit.estimate[:8, 8:]).max() == 0:
            checked += 1
            assert np.abs(S[:8, 8:]).max() <= min(lam[0], (lam[1] + lam[2]) / 2) + 1e-6
    assert checked >= 1


def test_lemmas_3_and_4_regimes():
    rng = np.random.default_rng(0)
    S = np.corrcoef(rng.normal(size=(12, 15)))
    for lam, regime in (((0.3, 0.2, 0.3), "Z diagonal"), ((0.15, 0.2, 0.5), "V diagonal")):
        fit = hub_graphical_lasso(S, *lam, tol=1e-9)
        assert penalty_regime(*lam, 12) == regime
        silent = fit.Z if regime[0] == "Z" else fit.V
        assert not off(silent).any() and off(fit.estimate).any()
    fit = hub_graphical_lasso(correlation(), 0.3, 0.2, 1.0)
    assert penalty_regime(0.3, 0.2, 1.0, 20) == "mixed" and off(fit.Z).any() and fit.V.any()


def test_penalty_regime_at_its_borders():
    # Corollary 5 has ≤ on both sides.
    assert penalty_regime(0.75, 0.5, 1.0, 26) == "mixed" and penalty_regime(0.76, 0.5, 1.0, 26) == "Z diagonal"
    assert penalty_regime(0.35, 0.5, 1.0, 26) == "mixed" and penalty_regime(0.349, 0.5, 1.0, 26) == "V diagonal"
    assert penalty_regime(0.7, 0.5, 1.0, 26, q=1) == "V diagonal"


@pytest.mark.parametrize(
    ("lam", "q", "alpha"),
    [
        ((0.3, 0.2, 0.2), 1, 0.2),
        ((0.15, 0.2, 0.3), 1, 0.15),
        ((0.2, np.inf, 1.0), 2, 0.2),
        ((0.2, 0.1, np.inf), 2, 0.2),
    ],
)
def test_lemma_6_and_infinite_prices_give_the_graphical_lasso(lam, q, alpha):
    S = correlation()
    expected = graphical_lasso(S, alpha, tol=1e-9, enet_tol=1e-9, max_iter=500)[1]
    fit = hub_graphical_lasso(S, *lam, q=q, tol=1e-9)
    assert np.abs(fit.estimate - expected).max() < 1e-4
    assert np.abs(admm_graphical_lasso(S, alpha, tol=1e-11).estimate - expected).max() < 1e-4


def test_kkt_and_duality_gap():
    S, lam = correlation(), (0.3, 0.2, 1.0)
    fit = hub_graphical_lasso(S, *lam, tol=1e-10)
    assert 0 <= fit.gap <= 1e-10 * 20 + 1e-12
    assert np.abs(-np.linalg.inv(fit.estimate) + S + fit.dual).max() < 1e-4
    L = fit.dual
    over = np.sign(L) * np.maximum(2 * np.abs(L) - lam[1], 0)
    assert not np.diag(L).any() and np.abs(L).max() <= lam[0] + 1e-5
    norms = np.linalg.norm(over, axis=0)
    assert norms.max() <= lam[2] + 1e-4
    # Complementary: where Z has an edge |Λ| = λ1, where V has a column its norm is λ3.
    assert np.abs(np.abs(L[off(fit.Z) != 0]) - lam[0]).max() < 1e-4
    assert np.abs(norms[fit.hubs] - lam[2]).max() < 1e-3


@pytest.mark.parametrize("model", ["gaussian", "covariance", "binary"])
def test_the_gap_bounds_the_distance_from_the_minimum(model):
    S, X = correlation(12, 30), bits(8, 50)

    def run(tol):
        if model == "gaussian":
            return hub_graphical_lasso(S, 0.3, 0.2, 0.5, tol=tol)
        if model == "covariance":
            return hub_covariance(S, 0.3, 0.2, 0.5, tol=tol)
        return hub_binary_network(X, 3.0, 2.0, 5.0, tol=tol)

    best = run(1e-9).objective
    for tol in (1e-2, 1e-4):
        rough = run(tol)
        assert -1e-6 <= rough.objective - best <= rough.gap + 1e-6


def test_estimate_is_the_sum_of_its_parts_and_exactly_sparse():
    fits = (
        hub_graphical_lasso(correlation(), 0.4, 0.3, 0.6),
        hub_covariance(correlation(), 0.3, 0.2, 0.5),
        hub_binary_network(bits(8, 50), 3.0, 2.0, 5.0),
    )
    for fit in fits:
        assert np.array_equal(fit.estimate, fit.estimate.T) and np.array_equal(fit.Z, fit.Z.T)
        assert np.allclose(fit.estimate, fit.Z + fit.V + fit.V.T, atol=1e-14) and not np.diag(fit.V).any()
        assert np.array_equal(fit.adjacency, off(fit.estimate) != 0) and (off(fit.estimate) == 0).any()
        degrees = np.count_nonzero(fit.V, axis=0)
        assert set(fit.hubs) == set(np.flatnonzero(degrees)) and (np.diff(degrees[fit.hubs]) <= 0).all()


def test_logdet_step_is_stationary_and_positive_definite():
    rng = np.random.default_rng(5)
    for rho, size in ((1e-3, 1.0), (1.0, 1.0), (50.0, 5.0)):
        A, S = size * symmetric(rng, 6), symmetric(rng, 6)
        T = logdet_prox(A - S / rho, rho)
        residual = -np.linalg.inv(T) + S + rho * (T - A)
        assert np.linalg.eigvalsh(T)[0] > 0
        assert np.abs(residual).max() < 1e-8 * max(1.0, np.abs(np.linalg.inv(T)).max(), rho * np.abs(A).max())


def test_any_loss_with_the_five_methods_will_do():
    class Distance:
        """½|Θ - A|² without a constraint: the answer is the proximal map of the penalty."""

        def __init__(self, A):
            self.A, self.n_nodes, self.unit, self.rho = A, len(A), 1.0, 1.0

        def start(self):
            return np.diag(np.diag(self.A))

        def step(self, B, rho):
            return (self.A + rho * B) / (1 + rho)

        def value(self, theta):
            return 0.5 * ((theta - self.A) ** 2).sum()

        def repair(self, theta):
            return theta

        def bound(self, theta, multiplier, penalty):
            L = penalty.feasible_scale(multiplier) * multiplier
            return np.vdot(L, self.A) - 0.5 * (L**2).sum()

    A = symmetric(np.random.default_rng(6), 6)
    fit = hub_admm(Distance(A), 0.4, np.inf, np.inf, tol=1e-10)
    expected = np.sign(A) * np.maximum(np.abs(A) - 0.4, 0)
    np.fill_diagonal(expected, np.diag(A))
    assert np.abs(fit.estimate - expected).max() < 1e-4


def test_pseudo_likelihood_gradient_by_finite_differences_on_the_symmetric_parameter():
    X = bits(5, 30)
    loss, rng = PseudoLikelihood(X), np.random.default_rng(7)
    theta = 0.5 * symmetric(rng, 5)
    value, gradient = loss.value_and_gradient(theta)
    assert value == pytest.approx(loss.value(theta)) == pytest.approx(-pseudo_likelihood(X, theta))
    for j, k in itertools.combinations_with_replacement(range(5), 2):
        E = np.zeros((5, 5))
        E[j, k] = E[k, j] = 1e-5
        slope = (loss.value(theta + E) - loss.value(theta - E)) / 2e-5
        # A shared off-diagonal parameter moves two entries: twice the entry of the gradient (Appendix F).
        assert slope == pytest.approx(gradient[j, k] * (2 if j != k else 1), abs=1e-5)
    # Appendix F in its own words, with the misprints mended.
    P = 1 / (1 + np.exp(-loss.odds(theta)))
    own = -2 * X.T @ X + X.T @ P + P.T @ X
    np.fill_diagonal(own, P.sum(axis=0) - X.sum(axis=0))
    assert np.allclose(own, 2 * gradient - np.diag(np.diag(gradient)))


def test_pseudo_likelihood_is_the_sum_of_conditionals_and_known_at_zero():
    X, theta = bits(4, 10), 0.7 * symmetric(np.random.default_rng(8), 4)
    assert pseudo_likelihood(X, np.zeros((4, 4))) == pytest.approx(-len(X) * 4 * np.log(2))
    total = 0.0
    for row in X:
        for j in range(4):
            odds = theta[j, j] + sum(theta[j, k] * row[k] for k in range(4) if k != j)
            total += np.log(1 / (1 + np.exp(-odds if row[j] else odds)))
    assert pseudo_likelihood(X, theta) == pytest.approx(total)


def test_binary_step_solves_its_proximal_problem():
    X, rng = bits(6, 40), np.random.default_rng(9)
    loss, A, rho = PseudoLikelihood(X), symmetric(np.random.default_rng(9), 6), 3.0
    theta = loss.step(A, rho)
    residual = loss.value_and_gradient(theta)[1] + rho * (theta - A)
    assert np.abs(residual).max() < 1e-3 and rng is not None


def test_binary_network_without_hubs_is_the_l1_pseudo_likelihood():
    X, lam = bits(4, 80), 1.5
    pairs = list(itertools.combinations_with_replacement(range(4), 2))

    def unfold(flat):
        theta = np.zeros((4, 4))
        for value, (j, k) in zip(flat, pairs, strict=True):
            theta[j, k] = theta[k, j] = value
        return theta

    def objective(flat):
        return -pseudo_likelihood(X, unfold(flat)) + lam * np.abs(off(unfold(flat))).sum()

    fit = hub_binary_network(X, lam, np.inf, np.inf, tol=1e-8)
    start = np.array([fit.estimate[j, k] for j, k in pairs])
    other = optimize.minimize(objective, start + 0.05, method="Nelder-Mead", options={"maxiter": 4000, "fatol": 1e-9})
    assert objective(start) <= other.fun + 1e-5 and off(fit.estimate).any()


def test_gibbs_sampler_against_enumeration():
    theta = np.array([[0.3, 0.8, -0.5, 0.0], [0.8, -0.4, 0.0, 0.6], [-0.5, 0.0, 0.2, 0.9], [0.0, 0.6, 0.9, -0.6]])
    states = np.array(list(itertools.product((0, 1), repeat=4)), dtype=float)
    energy = states @ np.diag(theta) + 0.5 * np.einsum("ij,jk,ik->i", states, off(theta), states)
    chance = np.exp(energy) / np.exp(energy).sum()
    X = gibbs_ising(theta, 4000, burn_in=100, thin=10, random_state=0)
    counts = np.bincount((X @ [8, 4, 2, 1]).astype(int), minlength=16)
    assert stats.chisquare(counts, 4000 * chance).pvalue > 0.001
    assert np.array_equal(X, gibbs_ising(theta, 4000, burn_in=100, thin=10, random_state=0))


def test_thinning_by_ten_thousand_is_not_needed():
    graph, _ = hub_adjacency(20, 2, random_state=0)
    theta = 0.5 * graph
    X = gibbs_ising(theta - 2 * np.eye(20), 4000, thin=1, random_state=0)
    total = X.sum(axis=1) - X.sum(axis=1).mean()
    lag20 = (total[:-20] * total[20:]).mean() / (total**2).mean()
    assert abs(lag20) < 0.1


def test_bic_counts_unique_nonzeros_and_ignores_the_diagonal_of_v():
    S, n = correlation(), 40
    fit = hub_graphical_lasso(S, 0.3, 0.2, 1.0)
    assert off(fit.Z).any()  # otherwise both triangles count alike
    nu, entries = len(fit.hubs), np.count_nonzero(fit.V)
    edges = sum(fit.Z[i, j] != 0 for i in range(20) for j in range(i, 20))
    likelihood = -np.linalg.slogdet(fit.estimate)[1] + np.trace(S @ fit.estimate)
    expected = n * likelihood + np.log(n) * (edges + nu + 0.2 * (entries - nu))
    assert hub_bic(fit, S, n) == pytest.approx(expected) and 0 < nu < 20
    assert hub_bic(fit, S, n, c=1.0) == pytest.approx(expected + np.log(n) * 0.8 * (entries - nu))


def test_path_with_warm_starts_equals_single_fits_and_saves_iterations():
    S = correlation()
    path = hub_path(S, 40, 0.4, [0.2, 0.3, 0.25], 0.6)
    assert path.alpha_hub_edge.tolist() == [0.3, 0.25, 0.2] and path.best is path.fits[int(path.bic.argmin())]
    cold = [hub_graphical_lasso(S, 0.4, alpha_hub_edge, 0.6) for alpha_hub_edge in path.alpha_hub_edge]
    for one, other in zip(path.fits, cold, strict=True):
        assert np.abs(one.estimate - other.estimate).max() < 5e-3
    again = hub_graphical_lasso(S, 0.4, 0.3, 0.6, warm_start=cold[0])
    assert again.n_iter < cold[0].n_iter


def test_metrics_by_hand():
    truth, estimate = np.eye(5), np.eye(5)
    for i, j in ((0, 1), (0, 2), (0, 3), (3, 4)):
        truth[i, j] = truth[j, i] = 0.5
    for i, j, value in ((0, 1, 0.4), (0, 2, 1e-6), (1, 2, 0.3), (3, 4, 0.5), (0, 4, 0.1)):
        estimate[i, j] = estimate[j, i] = value
    found = hub_metrics(estimate, truth, [0, 3], 2)
    assert (found.n_edges, found.correct_edges) == (4, 2)
    # True hub edges, seen from each hub: 0-1, 0-2, 0-3 and 3-0, 3-4; found 0-1 and 3-4.
    assert found.hub_edge_share == pytest.approx(2 / 5)
    assert found.hub_share == 0.5  # degrees 2, 2, 1, 1, 2: nodes 0 and 1 are at the top
    assert found.squared_error == pytest.approx(0.01 + (0.5 - 1e-6) ** 2 + 0.25 + 0.09 + 0.01)
    assert hub_metrics(estimate, truth, [0, 3], 3).hub_share == 0.0
    assert np.isnan(hub_metrics(estimate, truth, [], 1).hub_share)


def test_hub_penalty_beats_the_plain_one_at_equal_edge_counts_on_hub_graphs():
    made = make_gaussian_graph("hubs", 100, p=100, n_hubs=4, random_state=0)
    S, d = np.corrcoef(made.data.T), made.data.std(axis=0)
    truth = made.precision * np.multiply.outer(d, d)
    fit = hub_graphical_lasso(S, 0.4, 0.3, 1.0, tol=1e-4)
    with_hubs = hub_metrics(fit.estimate, truth, made.hubs, 20)
    alphas = (0.2, 0.18, 0.16, 0.14)
    plain = [hub_metrics(admm_graphical_lasso(S, a, tol=1e-4).estimate, truth, made.hubs, 20) for a in alphas]
    edges = [m.n_edges for m in plain]
    assert min(edges) < with_hubs.n_edges < max(edges)
    at = lambda name: np.interp(with_hubs.n_edges, edges, [getattr(m, name) for m in plain])  # noqa: E731
    assert with_hubs.correct_edges > 1.15 * at("correct_edges")
    assert with_hubs.hub_edge_share > at("hub_edge_share") + 0.05 and with_hubs.squared_error < at("squared_error")


def test_neighbourhood_selection_equals_p_lassos():
    rng = np.random.default_rng(10)
    X = rng.normal(size=(60, 6)) @ (np.eye(6) + 0.6 * np.eye(6, k=1))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    coefs = np.zeros((6, 6), dtype=bool)
    for j in range(6):
        rest = np.delete(np.arange(6), j)
        coefs[j, rest] = Lasso(alpha=0.12, fit_intercept=False, tol=1e-10).fit(X[:, rest], X[:, j]).coef_ != 0
    S = X.T @ X / 60
    assert np.array_equal(neighbourhood_lasso(S, 0.12), coefs | coefs.T)
    assert np.array_equal(neighbourhood_lasso(S, 0.12, rule="and"), coefs & coefs.T)
    assert (coefs != coefs.T).any() or (coefs | coefs.T).any()


def test_scale_free_lasso_is_a_fixed_point_that_lowers_its_objective():
    S, alpha, eps = correlation(10, 30), 0.08, 0.5

    def objective(theta):
        row = np.abs(off(theta)).sum(axis=0)
        linear = np.trace(S @ theta) + 2 * alpha / eps * np.trace(theta)
        return -np.linalg.slogdet(theta)[1] + linear + alpha * np.log(row + eps).sum()

    rounds = [scale_free_lasso(S, alpha, eps=eps, n_rounds=k, tol=1e-9).estimate for k in (1, 2, 3, 6)]
    values = [objective(theta) for theta in rounds]
    assert (
        all(later <= earlier + 1e-7 for earlier, later in itertools.pairwise(values)) and values[-1] < values[0] - 1e-4
    )


def test_screen_hubs_finds_a_star_and_survives_a_singular_covariance():
    theta = np.eye(6)
    theta[0, 1:] = theta[1:, 0] = 0.35
    found = screen_hubs(np.linalg.inv(theta), 0.3, 4)
    assert found.hubs.tolist() == [0] and found.adjacency[0, 1:].all() and not found.adjacency[1:, 1:].any()
    X = np.random.default_rng(0).normal(size=(4, 9))
    assert screen_hubs(np.cov(X.T), 0.1, 2).adjacency.shape == (9, 9)


def test_sparse_covariance_equals_cvxpy_with_the_diagonal_penalised():
    cp = pytest.importorskip("cvxpy")
    S = correlation(8, 5)
    T = cp.Variable((8, 8), symmetric=True)
    cost = 0.5 * cp.sum_squares(T - S) + 0.2 * cp.sum(cp.abs(T))
    cp.Problem(cp.Minimize(cost), [T >> 0.05 * np.eye(8)]).solve(solver="CLARABEL")
    assert np.abs(sparse_covariance(S, 0.2, eps=0.05, tol=1e-9).estimate - T.value).max() < 1e-4
    free = sparse_covariance(S, 0.2, penalize_diagonal=False, tol=1e-9).estimate
    assert np.abs(free - hub_covariance(S, 0.2, np.inf, np.inf, tol=1e-9).estimate).max() < 1e-3


def test_the_gaps_of_the_baselines_bound_the_distance_from_the_minimum():
    S = correlation(8, 5)
    cases = [
        (
            lambda tol: admm_graphical_lasso(S, 0.2, tol=tol),
            lambda T: -np.linalg.slogdet(T)[1] + np.vdot(S, T) + 0.2 * np.abs(T - np.diag(np.diag(T))).sum(),
        ),
        (
            lambda tol: sparse_covariance(S, 0.2, eps=0.05, tol=tol),
            lambda T: 0.5 * np.square(T - S).sum() + 0.2 * np.abs(T).sum(),
        ),
    ]
    for solve, value in cases:
        loose, tight = solve(1e-2), solve(1e-9)
        assert loose.converged and tight.converged and loose.n_iter < tight.n_iter
        # The gap of a covariance is that of the estimate lifted into the cone, from which it may stick out by a little.
        first, last = (
            T + max(0.0, 0.05 - np.linalg.eigvalsh(T)[0]) * np.eye(8) for T in (loose.estimate, tight.estimate)
        )
        assert -1e-6 <= value(first) - value(last) <= loose.gap + 1e-6


@pytest.mark.parametrize("unit", [1e-8, 1e-3, 1e8])
def test_units_of_the_data(unit):
    S, lam = correlation(10, 30), np.array([0.4, 0.3, 0.6])
    one, other = hub_graphical_lasso(S, *lam), hub_graphical_lasso(S * unit, *(lam * unit))
    assert np.allclose(other.estimate * unit, one.estimate, rtol=1e-6, atol=1e-9)
    assert other.objective == pytest.approx(one.objective + 10 * np.log(unit))
    one, other = hub_covariance(S, *lam), hub_covariance(S * unit, *(lam * unit), eps=1e-4 * unit)
    assert np.allclose(other.estimate / unit, one.estimate, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("unit", [0.25, 16.0])
def test_the_first_step_is_in_the_unit_of_the_curvature(unit):
    """In other units every iterate of the engine is a multiple of what it was, so that it takes as many iterations."""
    S, lam = correlation(10, 30), np.array([0.4, 0.3, 0.6])
    one, other = (hub_admm(GaussianLoss(S * u), *(lam * u), adapt=False) for u in (1.0, unit))
    assert other.n_iter == one.n_iter > 10
    assert np.allclose(other.estimate * unit, one.estimate, rtol=1e-9, atol=1e-12)


def test_order_of_the_nodes_and_memory_layout():
    S, lam = correlation(10, 30), (0.3, 0.2, 0.5)
    order = np.random.default_rng(0).permutation(10)
    one, other = hub_graphical_lasso(S, *lam), hub_graphical_lasso(S[np.ix_(order, order)], *lam)
    assert np.abs(one.estimate[np.ix_(order, order)] - other.estimate).max() < 1e-3
    before = S.copy()
    third = hub_graphical_lasso(np.asfortranarray(S), *lam)
    assert np.array_equal(third.estimate, one.estimate) and np.array_equal(S, before)


def test_order_of_the_rows_does_not_matter():
    X = make_gaussian_graph("hubs", 30, p=8, n_hubs=1, random_state=0).data
    one, other = (HubGraphicalLasso(0.3, 0.2, 0.5).fit(rows) for rows in (X, X[::-1]))
    assert np.allclose(one.precision_, other.precision_, atol=1e-8)


def test_edge_cases_one_node_duplicates_singular_and_no_correlation():
    assert hub_graphical_lasso([[4.0]], 1, 1, 1, tol=1e-9).estimate[0, 0] == pytest.approx(0.25, rel=1e-4)
    assert hub_covariance([[4.0]], 1, 1, 1, tol=1e-9).estimate[0, 0] == pytest.approx(4.0, rel=1e-4)
    twins = np.array([[1.0, 1.0, 0.2], [1.0, 1.0, 0.2], [0.2, 0.2, 1.0]])
    fit = hub_graphical_lasso(twins, 0.2, 0.3, 0.3)
    assert fit.converged and np.linalg.eigvalsh(fit.estimate)[0] > 0
    one_row = np.outer([1.0, -1.0, 2.0], [1.0, -1.0, 2.0])
    assert hub_graphical_lasso(one_row, 0.5, 0.5, 0.5).converged
    fit = hub_graphical_lasso(np.eye(5), 0.1, 0.1, 0.1)
    assert not fit.adjacency.any() and fit.hubs.size == 0
    assert hub_covariance(np.zeros((2, 2)), 0.1, 0.1, 0.1).estimate[0, 0] == pytest.approx(1e-4, rel=1e-3)


def test_a_tie_between_covariance_and_threshold_leaves_the_blocks_apart():
    S = np.array([[1.0, 0.25], [0.25, 1.0]])
    assert len(screen_blocks(S, 0.25, 0.5)) == 2 and len(screen_blocks(S, 0.25, 0.49)) == 1
    assert not hub_graphical_lasso(S, 0.25, 0.5, 0.1, screen=False, tol=1e-10).adjacency.any()


def test_running_out_of_iterations_warns_once():
    for call in (
        lambda: hub_graphical_lasso(correlation(), 0.4, 0.3, 0.6, max_iter=2),
        lambda: hub_covariance(correlation(), 0.1, 0.1, 0.2, max_iter=2),
        lambda: hub_binary_network(bits(5, 30), 1.0, 1.0, 1.0, max_iter=1, tol=1e-12),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert not call().converged
        assert [w.category for w in caught] == [ConvergenceWarning] and "max_iter" in str(caught[0].message)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda S, X: hub_graphical_lasso(S, -1, 1, 1), "alpha_edge"),
        (lambda S, X: hub_graphical_lasso(S, 0, 1, 1), "alpha_edge"),
        (lambda S, X: hub_graphical_lasso(S, 1, 0, 0), "alpha_hub_edge"),
        (lambda S, X: hub_graphical_lasso(S, np.inf, np.inf, 1), "infinite"),
        (lambda S, X: hub_graphical_lasso(S, 1, 1, np.nan), "alpha_hub"),
        (lambda S, X: hub_graphical_lasso(S, 1, 1, 1, q=3), "q"),
        (lambda S, X: hub_graphical_lasso(S, 1, 1, 1, tol=0), "tol"),
        (lambda S, X: hub_graphical_lasso(S, 1, 1, 1, max_iter=0), "max_iter"),
        (lambda S, X: hub_graphical_lasso(np.diag([1.0, 0.0]), 1, 1, 1), "S must have a positive diagonal"),
        (lambda S, X: hub_graphical_lasso([[1.0, np.nan], [np.nan, 1.0]], 1, 1, 1), "S"),
        (lambda S, X: hub_graphical_lasso(np.empty((0, 0)), 1, 1, 1), "S"),
        (
            lambda S, X: hub_graphical_lasso(S, 1, 1, 1, warm_start=hub_penalty(np.eye(2), 1, 1, 1)),
            "warm_start",
        ),
        (lambda S, X: hub_covariance(S, 1, 1, 1, eps=0), "eps"),
        (lambda S, X: hub_covariance(-np.eye(2), 1, 1, 1), "S"),
        (lambda S, X: hub_binary_network(2 * X, 1, 1, 1), "zeros and ones"),
        (lambda S, X: hub_binary_network(np.ones((3, 2)), 1, 1, 1), "column 0 is constant"),
        (lambda S, X: hub_path(S, 10, 1, [], 1), "alpha_hub_edge"),
        (lambda S, X: hub_bic(hub_penalty(np.eye(2), 1, 1, 1), S, 10), "S"),
        (lambda S, X: gibbs_ising(np.eye(2), 0), "n_samples"),
        (lambda S, X: gibbs_ising(np.eye(2), 1, thin=0), "thin"),
        (lambda S, X: pseudo_likelihood(X, np.eye(2)), "theta"),
        (lambda S, X: hub_metrics(S, np.eye(2), [0], 1), "shape"),
        (lambda S, X: neighbourhood_lasso(S, 0.1, rule="xor"), "rule"),
        (lambda S, X: admm_graphical_lasso(S, np.eye(3)), "Lambda"),
    ],
)
def test_bad_arguments_are_named(call, name):
    with pytest.raises(ValueError, match=name):
        call(correlation(), bits(5, 30))


@parametrize_with_checks([HubGraphicalLasso(), HubCovarianceGraph()])
def test_estimators_pass_the_checks_of_scikit_learn(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


def test_estimators_equal_their_functions():
    X = make_gaussian_graph("hubs", 60, p=10, n_hubs=1, random_state=0).data
    S = np.cov(X.T, bias=True)
    lam = (0.3 * S.diagonal().mean(), 0.2 * S.diagonal().mean(), 0.5 * S.diagonal().mean())
    model, fit = HubGraphicalLasso(*lam).fit(X), hub_graphical_lasso(S, *lam)
    assert np.allclose(model.precision_, fit.estimate, atol=1e-6) and model.bic_ == pytest.approx(
        hub_bic(fit, S, 60), rel=1e-6
    )
    assert np.allclose(model.covariance_ @ model.precision_, np.eye(10), atol=1e-8)
    assert np.array_equal(HubGraphicalLasso(*lam, covariance="precomputed").fit(S).Z_, fit.Z)
    model = HubCovarianceGraph(*lam).fit(X)
    assert np.allclose(model.covariance_, hub_covariance(S, *lam).estimate, atol=1e-6)
    with pytest.raises(ValueError, match="alpha_hub_edge"):
        HubGraphicalLasso(alpha_hub_edge=[0.1, 0.2], covariance="precomputed").fit(S)


def test_several_lam2_choose_by_the_criterion():
    X = make_gaussian_graph("hubs", 60, p=10, n_hubs=1, random_state=0).data
    X = X / X.std(axis=0)
    model = HubGraphicalLasso(alpha_hub_edge=[0.2, 0.5], alpha_hub=0.5).fit(X)
    bics = [
        HubGraphicalLasso(alpha_hub_edge=alpha_hub_edge, alpha_hub=0.5).fit(X).bic_ for alpha_hub_edge in (0.2, 0.5)
    ]
    assert model.alpha_hub_edge_ == (0.2, 0.5)[int(np.argmin(bics))] and model.bic_ == pytest.approx(
        min(bics), rel=1e-4
    )


def test_binary_estimator_fits_scores_and_refuses_other_data():
    X = bits(8, 60)
    model = HubBinaryNetwork(3.0, 2.0, 5.0).fit(X)
    fit = hub_binary_network(X, 3.0, 2.0, 5.0)
    assert np.allclose(model.theta_, fit.estimate) and np.array_equal(model.hubs_, fit.hubs)
    assert model.score(X) == pytest.approx(pseudo_likelihood(X, fit.estimate) / 60)
    with pytest.raises(ValueError, match="zeros and ones"):
        HubBinaryNetwork().fit(X + 0.5)
