"""Confidence intervals and p-values for high-dimensional regression: the claims of the source, checked."""

import warnings

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, optimize, stats
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso

from learnable import highdim as dl_highdim
from learnable.chapters.debiased_lasso import baselines
from learnable.chapters.debiased_lasso import theory as dl
from learnable.chapters.debiased_lasso.baselines import _least_squares, aggregate_splits
from learnable.datasets.regression import design_covariance, make_sparse_linear
from learnable.highdim import debiased_lasso as dl_debiased_lasso
from learnable.highdim.debiased_lasso._path import _floor, walk
from learnable.highdim.debiased_lasso.programme import _null_space
from learnable.optim.coordinate_descent import solve_gram_batch


def closed_form_mu(covariance):
    """The level ρ_i/(1+ρ_i) of mu from which row i is (1-μ)e_i/Σ_ii."""
    A = np.abs(covariance)
    np.fill_diagonal(A, 0.0)
    rho = A.max(axis=1) / np.diagonal(covariance)
    return rho / (1 + rho)


def coherence(covariance, M=None, rows=None):
    """Generalised coherence μ_*(X; M) = |MΣ̂ - I|_∞, the largest entry (Definition 4)."""
    E = np.eye(len(covariance))[slice(None) if rows is None else rows]
    return float(np.abs((E if M is None else M) @ covariance - E).max())


def debias(theta, X, y, M):
    """Add back what the penalty took: θ̂^u=θ̂+(1/n) MX'(y-Xθ̂) (5), any M."""
    return theta + M @ (X.T @ (y - X @ theta)) / len(y)


def decompose(theta0, W, X, M, theta):
    """Split the error of a debiased estimate, √n(θ̂^u-θ₀)=Z+Δ (Theorem 6)."""
    n, gap = len(W), theta0 - theta
    return M @ (X.T @ W) / np.sqrt(n), np.sqrt(n) * (M @ (X.T @ (X @ gap)) / n - gap)


def bias_bound(mu_star, s0, p, *, sigma=1.0, c=1.0, phi0=1.0):
    """Bound (11) on the bias of a fixed design, ‖Δ‖_∞ ≤ 4cμ_*σs₀√(log p)/φ₀²."""
    return float(4 * c * mu_star * sigma * s0 * np.sqrt(np.log(p)) / phi0**2)


def nodewise_matrix(covariance, alpha, *, tol=1e-10):
    """M by nodewise lasso regressions (van de Geer et al. 2014), to be used in :func:`debias`."""
    S, p = np.asarray(covariance), len(covariance)
    alpha = np.broadcast_to(alpha, (p,))
    others = np.where(np.eye(p, dtype=bool), np.inf, 1.0)
    gamma = solve_gram_batch(S, S, alpha, weights=others, y_norm2=np.diagonal(S).copy(), tol=tol).coefs
    # |x_i - X g|^2 / n + alpha |g|_1 equals S_ii - S_i g at the optimum; this form does not rest on that.
    tau2 = np.diagonal(S) - 2 * np.einsum("ij,ij->i", gamma, S) + np.einsum("ij,ij->i", gamma @ S, gamma)
    tau2 += alpha * np.abs(gamma).sum(axis=1)
    M = -gamma
    np.fill_diagonal(M, 1.0)
    return M / tau2[:, None]


def oracle_ols(X, y, support):
    """Least squares on the true support: what one could do if it were known."""
    return _least_squares(X, y, np.asarray(support, dtype=np.int64))


def standardised(X):
    X = X - X.mean(axis=0)
    return X / np.sqrt((X**2).mean(axis=0))


def design(n, p, seed=0, rho=0.1):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) @ np.linalg.cholesky(design_covariance("circulant", p, rho=rho, band=5)).T
    return standardised(X)


@pytest.fixture(scope="module")
def reduced():
    """The source's design at a smaller size: one X, one support, adaptive M, many noise draws."""
    made = make_sparse_linear(
        500, 120, design="circulant", rho=0.1, band=5, n_nonzero=4, size=0.4, sigma=1.0, random_state=1
    )
    model = dl_highdim.DebiasedLasso(n_tries=10).fit(made.data, made.target)
    rng = np.random.default_rng(2)
    coefs, errors, pvalues = [], [], []
    for _ in range(200):
        model.refit(made.signal + rng.standard_normal(500))
        coefs.append(model.coef_)
        errors.append(model.stderr_)
        pvalues.append(model.pvalues_)
    return made, model, np.array(coefs), np.array(errors), np.array(pvalues)


def test_claim_plain_coordinate_descent_gives_the_same_row():
    X = design(60, 25, seed=3)
    S, mu, i = X.T @ X / 60, 0.1, 4
    b = np.zeros(25)
    for _ in range(5000):
        for j in range(25):
            z = (j == i) - S[j] @ b + S[j, j] * b[j]
            b[j] = np.sign(z) * max(abs(z) - mu, 0) / S[j, j]
    np.testing.assert_allclose(dl.decorrelating_matrix(S, mu, [i])[0], b, atol=1e-9)


def test_claim_lemma_12_variance_bound_with_equality_in_the_closed_form_regime():
    X = design(50, 30) * np.linspace(0.7, 1.4, 30)
    S = X.T @ X / 50
    border = closed_form_mu(S)
    for mu in (0.05, 0.2, 0.45):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = dl_debiased_lasso.decorrelate(S, mu)
        V = np.einsum("ij,jk,ik->i", found.M, S, found.M)
        bound = (1 - mu) ** 2 / np.diagonal(S)
        assert (V[found.feasible] >= bound[found.feasible] * (1 - 1e-9)).all()
        closed = mu >= border
        np.testing.assert_allclose(found.M[closed], np.diag((1 - mu) / np.diagonal(S))[closed], atol=1e-12)
        np.testing.assert_allclose(V[closed], bound[closed], rtol=1e-12)
    just_below = dl.decorrelating_matrix(S, 0.98 * border[0], [0])[0]
    assert np.count_nonzero(just_below) > 1


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.0, 0.6), st.integers(2, 8), st.integers(3, 20))
def test_rows_are_feasible_optimal_or_provably_infeasible(seed, mu, p, n):
    X = np.random.default_rng(seed).standard_normal((n, p))
    S = X.T @ X / n
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = dl_debiased_lasso.decorrelate(S, mu)
    smallest = dl.minimum_coherence(S)
    for i in range(p):
        if found.feasible[i]:
            assert smallest[i] <= mu + 1e-6
            e = np.eye(p)[i]
            assert np.abs(S @ found.M[i] - e).max() <= mu + 1e-7 * (1 + np.abs(found.M[i]).sum())
        else:
            assert smallest[i] >= mu - 1e-3
            np.testing.assert_array_equal(found.M[i], np.eye(p)[i])


def test_infeasible_rows_are_reset_one_by_one_with_a_warning():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 6))
    X[:, 5] = X[:, 4]  # two copies: neither can be told from the other below mu = 1/2
    S = X.T @ X / 40
    np.testing.assert_allclose(dl.minimum_coherence(S)[4:], 0.5, atol=1e-8)
    with pytest.warns(ConvergenceWarning, match="2 of 6 rows of M have no solution"):
        found = dl_debiased_lasso.decorrelate(S, 0.3)
    assert found.feasible.tolist() == [True] * 4 + [False] * 2
    np.testing.assert_array_equal(found.M[4:], np.eye(6)[4:])
    assert np.abs(found.M[:4] @ S - np.eye(6)[:4]).max() <= 0.3 + 1e-9
    with pytest.warns(ConvergenceWarning, match=r"2 of 6 rows of M have a solution for large mu only \(row 4: 0.5\)"):
        adaptive = dl_debiased_lasso.decorrelate(S, adaptive_mu=True, n=40)
    assert adaptive.feasible.all()
    # at 1/2 the closed form begins, and mu need not rise further
    np.testing.assert_allclose(adaptive.mu[4:], 0.5, atol=1e-12)
    with pytest.warns(ConvergenceWarning, match="2 of 6 rows of M have a solution for large mu only"):
        stuck = dl_debiased_lasso.decorrelate(S, 0.65, adaptive_mu=True)  # 0.65 / 1.3 is 1/2, and no further
    np.testing.assert_allclose(stuck.mu[4:], 0.5, atol=1e-12)


def test_more_columns_than_rows():
    X = design(30, 60)
    S = X.T @ X / 30
    low = dl.minimum_coherence(S, [0, 1])
    feasible = dl_debiased_lasso.decorrelate(S, low * 1.3, [0, 1])
    assert feasible.gap.max() < 1e-7
    with pytest.warns(ConvergenceWarning, match="no solution"):
        assert not dl_debiased_lasso.decorrelate(S, low * 0.8, [0, 1], max_iter=3000).feasible.any()


def test_adaptive_mu_goes_below_the_start_and_keeps_the_row_optimal():
    X = design(200, 60)
    S = X.T @ X / 200
    found = dl_debiased_lasso.decorrelate(S, adaptive_mu=True, n=200)
    start = dl_debiased_lasso.default_mu(60, 200)
    assert (found.mu < start).all() and (found.mu >= start / 1.3**10 - 1e-12).all()
    np.testing.assert_allclose(np.abs(found.M @ S - np.eye(60)).max(axis=1), found.mu, atol=1e-8)
    np.testing.assert_allclose(found.M, dl.decorrelating_matrix(S, found.mu), atol=1e-7)
    threads = dl_debiased_lasso.decorrelate(S, adaptive_mu=True, n=200, n_jobs=2)
    np.testing.assert_array_equal(threads.M, found.M)


def correlated(n, p, design, seed):
    """A first column with correlation 0.95 to its neighbour, either alone or along the chain of all columns."""
    rng = np.random.default_rng(seed)  # a generator stays what it is
    X = rng.standard_normal((n, p))
    for j in range(1, 2 if design == "pair" else p):
        X[:, j] = 0.95 * X[:, j - 1] + np.sqrt(1 - 0.95**2) * X[:, j]
    return X


@pytest.fixture(scope="module")
def wide():
    """n = 60, p = 120: 25 rows exist one step further down than the other 95."""
    X = standardised(np.random.default_rng(0).standard_normal((60, 120)))
    return X.T @ X / 60, dl_debiased_lasso.default_mu(120, 60)


def test_mu_is_the_smallest_on_its_grid_by_linear_programming(wide):
    S, start = wide
    found = dl_debiased_lasso.decorrelate(S, start, adaptive_mu=True)
    assert found.converged.all() and found.gap.max() < 1e-9
    rows = np.arange(0, 120, 8)
    smallest = dl.minimum_coherence(S, rows)
    mu, floor = found.mu[rows], found.floor[rows]
    assert (smallest <= mu * (1 + 1e-9)).all() and (smallest > mu / 1.3).all()
    assert (floor > mu / 1.3).all() and (floor <= smallest + 1e-9).all()


@pytest.mark.parametrize("kind", ["normal", "integer", "twins", "chain"])
def test_null_vectors_decide_as_linear_programming_does(kind):
    rng, undecided, refuted = np.random.default_rng(0), 0, 0
    for _ in range(12):
        n, p, mu = int(rng.integers(3, 10)), int(rng.integers(10, 18)), float(rng.uniform(0.1, 0.5))
        X = correlated(n, p, "chain", rng) if kind == "chain" else rng.standard_normal((n, p))
        if kind == "integer":  # many ties: coefficients join and leave together
            X = np.rint(X)
            X[0] += 0.5
        if kind == "twins":
            X[:, 1] = X[:, 0]
        S = X.T @ X / n
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            fixed, search = dl_debiased_lasso.decorrelate(S, mu), dl_debiased_lasso.decorrelate(S, mu, adaptive_mu=True)
        smallest, bad = dl.minimum_coherence(S), ~fixed.feasible
        undecided += np.sum(~fixed.converged) + np.sum(~search.converged)
        refuted += bad.sum()
        assert (smallest[bad] > mu - 1e-9).all() and (fixed.floor[bad] > mu).all()
        assert (fixed.floor <= smallest + 1e-7).all() and (search.floor <= smallest + 1e-7).all()
        assert (smallest[~bad & fixed.converged] <= mu + 1e-7).all()
        assert (smallest[search.converged] <= search.mu[search.converged] + 1e-7).all()
        blocked = search.converged & (search.mu > mu / 1.3**10 * (1 + 1e-9))
        assert (search.floor[blocked] > 0).all()
    assert refuted > 20 and undecided <= (2 if kind == "integer" else 0)


def test_the_path_ends_at_the_smallest_feasible_mu_with_its_null_vector():
    X = standardised(np.random.default_rng(3).standard_normal((12, 20)))
    S = X.T @ X / 12
    null, smallest = _null_space(S), dl.minimum_coherence(S)
    assert null.rank == 11
    np.testing.assert_allclose(null.basis @ (null.basis.T @ X.T), X.T, atol=1e-12)
    for i in range(20):
        b, top = np.zeros(20), closed_form_mu(S)[i]
        b[i] = (1 - top) / S[i, i]
        for stop in np.linspace(top, 1.001 * smallest[i], 6)[1:]:  # below, the dual has no minimiser
            assert walk(S, null, i, b, top, stop, 1000)[0] == 0
            q = np.eye(20)[i] - S @ b
            np.testing.assert_allclose(q[b != 0], stop * np.sign(b[b != 0]), atol=1e-11)
            assert np.abs(q).max() <= stop + 1e-11
            top = stop
        status, _, floor = walk(S, null, i, b, top, 0.999 * smallest[i], 1000)
        assert status == 1 and 0.999 * smallest[i] < floor <= smallest[i] + 1e-9


def test_only_a_null_vector_proves_anything():
    X = standardised(np.random.default_rng(0).standard_normal((6, 9)))
    S, d = X.T @ X / 6, np.linalg.svd(X)[2][-1]
    i = int(np.argmax(d))
    assert _floor(S, i, d) == pytest.approx(d[i] / np.abs(d).sum(), rel=1e-12)
    assert _floor(S, i, d + 1e-4 * np.eye(9)[i]) == 0.0
    # taken for proof, this would rule out what the linear programme finds feasible
    assert (d[i] + 0.5) / (np.abs(d).sum() + 0.5) > dl.minimum_coherence(S, [i])[0] + 0.01


def test_coherence_is_the_usual_one_for_the_identity_and_its_minimum_is_a_linear_programme():
    X = design(25, 40)
    S = X.T @ X / 25
    assert coherence(S) == pytest.approx(np.abs(S - np.eye(40)).max(), abs=1e-12)
    low = dl.minimum_coherence(S, [3])[0]
    m, t = cp.Variable(40), cp.Variable()
    problem = cp.Problem(cp.Minimize(t), [cp.norm_inf(S @ m - np.eye(40)[3]) <= t])
    problem.solve()
    assert low == pytest.approx(problem.value, abs=1e-5)
    assert dl.minimum_coherence(np.diag([1.0, 2.0])).max() < 1e-9


def test_bounded_influence_matches_a_generic_solver_where_it_binds():
    rng = np.random.default_rng(0)
    X = rng.standard_t(3, size=(40, 6))
    X = standardised(X)
    S, mu, beta = X.T @ X / 40, 0.05, 0.34
    M, active = dl_debiased_lasso.bounded_decorrelating_matrix(X, mu, beta=beta)
    assert active.any()
    assert np.abs(X @ M.T).max() <= 40**beta * (1 + 1e-5)
    assert coherence(S, M) <= mu + 1e-6
    i = int(np.flatnonzero(active)[0])
    m = cp.Variable(6)
    limits = [cp.norm_inf(S @ m - np.eye(6)[i]) <= mu, cp.norm_inf(X @ m) <= 40**beta]
    problem = cp.Problem(cp.Minimize(cp.sum_squares(X @ m) / 40), limits)
    problem.solve()
    assert M[i] @ S @ M[i] == pytest.approx(problem.value, rel=1e-5)
    plain, none = dl_debiased_lasso.bounded_decorrelating_matrix(X, mu, beta=0.49)
    np.testing.assert_array_equal(plain[~none], dl.decorrelating_matrix(S, mu)[~none])


def test_bounded_influence_with_more_columns_than_rows():
    rng = np.random.default_rng(1)
    X = standardised(rng.standard_normal((30, 45)))
    S = X.T @ X / 30
    rows = [0, 1, 2]
    mu = dl.minimum_coherence(S, rows) + 0.02
    M, active = dl_debiased_lasso.bounded_decorrelating_matrix(X, mu, rows, beta=0.26)
    assert active.any()
    assert np.abs(X @ M.T).max() <= 30**0.26 * (1 + 1e-5)
    assert (np.abs(M @ S - np.eye(45)[rows]).max(axis=1) <= mu + 1e-6).all()


def test_lasso_is_scikit_learns_with_alpha():
    made = make_sparse_linear(50, 80, n_nonzero=4, random_state=0)
    ours = dl.lasso(made.data, made.target, 0.2)
    theirs = Lasso(alpha=0.2, fit_intercept=False, tol=1e-12, max_iter=100_000).fit(made.data, made.target).coef_
    np.testing.assert_allclose(ours, theirs, atol=1e-7)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(6, 20), st.integers(2, 5))
def test_claim_decomposition_is_an_identity(seed, n, p):
    rng = np.random.default_rng(seed)
    X, W, theta0 = rng.standard_normal((n, p)), rng.standard_normal(n), rng.standard_normal(p)
    settings = {"mu": 0.3, "alpha": 0.1, "sigma": 1.0, "fit_intercept": False, "standardize": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rows that have no solution at this mu: the identity holds for any M
        model = dl_highdim.DebiasedLasso(**settings).fit(X, X @ theta0 + W)
    Z, Delta = decompose(theta0, W, X, model.M_, model.coef_lasso_)
    error = np.sqrt(n) * (model.coef_ - theta0)
    np.testing.assert_allclose(Z + Delta, error, atol=1e-9 * (1 + np.abs(error).max()))


@pytest.mark.parametrize("lam", [0.0, 0.05, 10.0])
def test_claim_zero_mu_is_ordinary_least_squares_whatever_lambda(lam):
    made = make_sparse_linear(60, 12, n_nonzero=3, random_state=0)
    X, y = made.data, made.target
    model = dl_highdim.DebiasedLasso(mu=0.0, alpha=lam, sigma=1.0, fit_intercept=False, standardize=False).fit(X, y)
    S = X.T @ X / 60
    np.testing.assert_allclose(model.M_, np.linalg.inv(S), atol=1e-6)
    np.testing.assert_allclose(debias(model.coef_lasso_, X, y, np.linalg.inv(S)), baselines.ols(X, y).coef, atol=1e-9)
    np.testing.assert_allclose(model.coef_, np.linalg.lstsq(X, y, rcond=None)[0], atol=1e-5)
    half = 1.959964 * np.sqrt(np.diagonal(np.linalg.inv(X.T @ X)))
    np.testing.assert_allclose(model.conf_int()[:, 1] - model.coef_, half, rtol=1e-5)


def test_claim_theorem_7b_coherence_of_the_true_inverse_falls_like_one_over_root_n():
    p = 40
    cov = design_covariance("circulant", p, rho=0.1, band=5)
    L, inverse = np.linalg.cholesky(cov), np.linalg.inv(cov)
    rng, sizes = np.random.default_rng(0), np.array([250, 1000, 4000])
    worst = []
    for n in sizes:
        draws = [rng.standard_normal((n, p)) @ L.T for _ in range(6)]
        worst.append(np.mean([np.abs(inverse @ (X.T @ X / n) - np.eye(p)).max() for X in draws]))
    slope = np.polyfit(np.log(sizes), np.log(worst), 1)[0]
    # the mean of six maxima has a relative standard error near 5 percent: 0.025 on a slope over a factor of 16
    assert abs(slope + 0.5) < 0.075


def test_claim_theorem_8_bias_grows_with_s0_and_shrinks_with_n():
    p, rng = 60, np.random.default_rng(0)

    def mean_bias(n, s0, draws=12):
        X = design(n, p, seed=5)
        M = dl.decorrelating_matrix(X.T @ X / n, dl_debiased_lasso.default_mu(p, n))
        sizes = []
        for _ in range(draws):
            theta0 = np.zeros(p)
            theta0[rng.permutation(p)[:s0]] = 1.0
            W = rng.standard_normal(n)
            theta = dl.lasso(X, X @ theta0 + W, dl_debiased_lasso.universal_lam0(p, n))
            sizes.append(np.abs(decompose(theta0, W, X, M, theta)[1]).max())
        return np.mean(sizes)

    few, more, many = (mean_bias(400, s) for s in (2, 4, 8))
    # mu and lambda are fixed, so the l1 error, and with it the bound, doubles with s0; the maximum need not quite
    assert 1.2 < more / few < 2.8 and 1.2 < many / more < 2.8
    assert mean_bias(1600, 4) < 0.75 * more
    assert few < 1.0  # the noise Z has standard deviation near one


def test_claim_corollary_11_the_lasso_is_biased_by_a_third_of_lambda_and_debiasing_removes_it(reduced):
    made, model, coefs, _, _ = reduced
    rng = np.random.default_rng(3)
    X = made.data - made.data.mean(axis=0)
    lam = model.lam_
    estimates = []
    for _ in range(500):
        y = made.signal + rng.standard_normal(500)
        estimates.append(dl.lasso(X, y - y.mean(), lam)[made.support])
    bias = made.coef[made.support] - np.mean(estimates, axis=0)
    assert (bias >= lam / 3).all()
    left = np.abs(coefs[:, made.support].mean(axis=0) - made.coef[made.support])
    assert left.max() < 0.35 * bias.min()


def test_coverage_and_power_of_the_reduced_design_over_fifty_draws(reduced):
    made, _, coefs, errors, pvalues = reduced
    covered = np.abs(coefs[:50] - made.coef) <= 1.959964 * errors[:50]
    # 6,000 correlated intervals: the standard error is below 0.01
    assert 0.92 < covered.mean() < 0.98
    assert covered[:, made.support].mean() > 0.87
    assert (pvalues[:50][:, made.support] < 0.05).mean() > 0.99
    length = 2 * 1.959964 * errors[:50].mean()
    best = dl.optimal_length(0.05, 500, precision_ii=np.linalg.inv(made.cov)[0, 0])
    assert 0.95 < length / best < 1.4


def test_claim_theorem_16_rejection_rate_follows_G(reduced):
    made, model, *_ = reduced
    i = int(np.setdiff1d(np.arange(120), made.support)[3])
    rng, draws = np.random.default_rng(4), 150
    for u in (1.0, 2.5):
        gamma = u * np.sqrt(model.variance_[i] / 500)
        signal = made.signal + gamma * made.data[:, i]
        rejected = [model.refit(signal + rng.standard_normal(500)).pvalues_[i] < 0.05 for _ in range(draws)]
        G = float(dl.power_G(0.05, u))
        # three standard errors of a proportion of 150, and 0.05 for what the bias and sigma leave
        assert abs(np.mean(rejected) - G) < 3 * np.sqrt(G * (1 - G) / draws) + 0.05


def test_power_G_integrates_the_density():
    for alpha, u in ((0.05, 0.7), (0.01, 3.0), (0.2, -1.0)):
        z = stats.norm.ppf(1 - alpha / 2)
        accept, _ = integrate.quad(lambda x, u=u: stats.norm.pdf(x - u), -z, z)
        assert float(dl.power_G(alpha, u)) == pytest.approx(1 - accept, abs=1e-9)
    assert float(dl.power_G(0.05, 0)) == pytest.approx(0.05)
    assert (np.diff(dl.power_G(0.05, np.linspace(0, 5, 50))) > 0).all()


def test_oracle_bound_dominates_the_asymptotic_power_and_figures_of_the_source_design():
    cov = design_covariance("circulant", 600, rho=0.1, band=5)
    values = np.linalg.eigvalsh(cov)
    inverse = np.linalg.inv(cov)[0, 0]
    assert values[[0, -1]] == pytest.approx([0.654, 2.0], abs=5e-4)
    assert inverse == pytest.approx(1.0725, abs=5e-5)
    assert float(dl.asymptotic_power(0.05, 0.1, 1000, precision_ii=inverse)) == pytest.approx(0.863, abs=5e-4)
    assert dl.optimal_length(0.05, 1000, precision_ii=inverse) == pytest.approx(0.128, abs=5e-4)
    assert dl.optimal_length(0.05, 2000, precision_ii=inverse) == pytest.approx(0.091, abs=5e-4)
    for gamma in (0.02, 0.05, 0.1, 0.3):
        bound = dl.oracle_power_bound(0.05, gamma, 1000, 10)
        assert bound >= float(dl.asymptotic_power(0.05, gamma, 1000, precision_ii=inverse))


def test_compatibility_bound_11_holds_in_a_simulation():
    n, p, s0 = 500, 30, 2
    X = design(n, p)
    S = X.T @ X / n
    c = np.sqrt(64.0)
    lam = c * np.sqrt(np.log(p) / n)
    M = dl.decorrelating_matrix(S, 0.1)
    theta0 = np.zeros(p)
    theta0[:s0] = 2.0
    # the smallest eigenvalue bounds the compatibility constant from below
    bound = bias_bound(coherence(S, M), s0, p, c=c, phi0=np.sqrt(np.linalg.eigvalsh(S)[0]))
    rng = np.random.default_rng(0)
    for _ in range(20):
        W = rng.standard_normal(n)
        theta = dl.lasso(X, X @ theta0 + W, lam)
        assert np.abs(decompose(theta0, W, X, M, theta)[1]).max() <= bound


def test_nodewise_rows_are_feasible_and_no_better_than_the_programme():
    X = design(80, 30)
    S = X.T @ X / 80
    M = nodewise_matrix(S, 0.1)
    assert np.diagonal(M @ S) == pytest.approx(np.ones(30), abs=1e-6)
    for i in (0, 12):
        rest = np.arange(30) != i
        gamma = Lasso(alpha=0.1, fit_intercept=False, tol=1e-12, max_iter=100_000).fit(X[:, rest], X[:, i]).coef_
        r = X[:, i] - X[:, rest] @ gamma
        tau2 = r @ r / 80 + 0.1 * np.abs(gamma).sum()
        np.testing.assert_allclose(M[i, rest], -gamma / tau2, atol=1e-6)
    mus = np.abs(M @ S - np.eye(30)).max(axis=1) * (1 + 1e-9)
    ours = dl.decorrelating_matrix(S, mus)
    assert (np.einsum("ij,jk,ik->i", ours, S, ours) <= np.einsum("ij,jk,ik->i", M, S, M) * (1 + 1e-8)).all()


def test_least_squares_matches_scipy_and_the_oracle_keeps_its_level():
    made = make_sparse_linear(40, 60, n_nonzero=3, random_state=0)
    found = oracle_ols(made.data, made.target, made.support)
    A = made.data[:, made.support]
    reference = optimize.curve_fit(lambda _, *t: A @ np.array(t), np.arange(40), made.target, p0=np.zeros(3))
    np.testing.assert_allclose(found.coef, reference[0], atol=1e-6)
    np.testing.assert_allclose(found.stderr, np.sqrt(np.diagonal(reference[1])), rtol=1e-4)


def test_naive_second_look_is_invalid():
    rng, small = np.random.default_rng(0), []
    for _ in range(20):
        X, y = rng.standard_normal((60, 100)), rng.standard_normal(60)
        small.append(baselines.naive_ols(X, y, alpha=0.25).pvalues)
    assert np.mean(np.concatenate(small) < 0.05) > 0.4


def test_multi_split_is_silent_under_the_null_and_finds_large_effects():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 60))
    assert (baselines.multi_split(X, rng.standard_normal(100), n_splits=20, random_state=0) > 0.05).all()
    P = baselines.multi_split(X, 1.5 * X[:, 3] + rng.standard_normal(100), n_splits=20, random_state=0)
    assert P[3] < 0.001 and (np.delete(P, 3) > 0.05).all()
    again = baselines.multi_split(X, 1.5 * X[:, 3] + np.zeros(100) + X[:, 5], n_splits=5, random_state=1)
    np.testing.assert_array_equal(again, baselines.multi_split(X, 1.5 * X[:, 3] + X[:, 5], n_splits=5, random_state=1))


def test_aggregation_is_the_infimum_over_all_quantiles():
    P = np.random.default_rng(0).random((50, 4)) ** 2
    grid = np.linspace(0.05, 1, 20_001)
    quantiles = np.quantile(P, grid, axis=0, method="inverted_cdf")
    brute = np.minimum(1, (1 - np.log(0.05)) * (quantiles / grid[:, None]).min(axis=0))
    np.testing.assert_allclose(aggregate_splits(P), brute, rtol=2e-3)


def test_ridge_projection_is_conservative_and_exact_for_full_rank():
    made = make_sparse_linear(60, 100, n_nonzero=2, size=3.0, random_state=0)
    null = np.setdiff1d(np.arange(100), made.support)
    rng, false = np.random.default_rng(1), []
    for _ in range(20):
        P = baselines.ridge_projection(made.data, made.signal + rng.standard_normal(60)).pvalues
        false.append((P[null] < 0.05).mean())
    assert np.mean(false) <= 0.05
    found = baselines.ridge_projection(made.data, made.target)
    tall = make_sparse_linear(80, 10, n_nonzero=2, random_state=0)
    close = baselines.ridge_projection(tall.data, tall.target, alpha=1e-10)
    reference = baselines.ols(tall.data, tall.target)
    np.testing.assert_allclose(close.coef, reference.coef, atol=1e-7)
    sigma = dl_highdim.scaled_lasso(tall.data, tall.target).sigma
    expected = sigma * np.sqrt(np.diagonal(np.linalg.inv(tall.data.T @ tall.data)))
    np.testing.assert_allclose(close.stderr, expected, rtol=1e-6)
    X, n = made.data, 60
    P = X.T @ np.linalg.pinv(X @ X.T) @ X
    ridge = np.linalg.solve(X.T @ X / n + np.eye(100) / n, X.T @ made.target / n)
    lasso = dl_highdim.scaled_lasso(X, made.target).coef
    expected = (ridge - (P - np.diag(np.diagonal(P))) @ lasso) / np.diagonal(P)
    np.testing.assert_allclose(found.coef, expected, atol=1e-8)


def test_bad_data_are_refused():
    X = np.random.default_rng(0).standard_normal((20, 4))
    y = X[:, 0] + 0.1 * X[:, 1] ** 2
    with pytest.raises(ValueError, match="column 2 is one"):
        dl_highdim.DebiasedLasso().fit(np.column_stack([X[:, :2], np.full(20, 3.0), X[:, 3]]), y)
    with pytest.raises(ValueError, match="NaN"):
        dl_highdim.DebiasedLasso().fit(np.where(np.eye(20, 4) > 0, np.nan, X), y)
    with pytest.raises(ValueError, match="minimum of 3"):
        dl_highdim.DebiasedLasso().fit(X[:2], y[:2])
    with pytest.raises(ValueError, match="constant"):
        dl_highdim.DebiasedLasso().fit(X, np.ones(20))
    with pytest.raises(ValueError, match="y must have 20 entries"):
        dl_highdim.DebiasedLasso().fit(X, y).refit(y[:5])
    with pytest.raises(ValueError, match="positive diagonal; variable 1"):
        dl.decorrelating_matrix(np.diag([1.0, 0.0]), 0.1)
    with pytest.raises(ValueError, match="symmetric"):
        dl.decorrelating_matrix([[1.0, 0.5], [0.0, 1.0]], 0.1)
    with pytest.raises(ValueError, match="at 1 a row is zero"):
        dl.decorrelating_matrix(np.eye(2), 1.0)
    with pytest.raises(ValueError, match="give mu"):
        dl.decorrelating_matrix(np.eye(2))
    with pytest.raises(ValueError, match="fits y exactly"):
        dl_highdim.scaled_lasso(np.eye(4), np.arange(4.0) - 1.5, 1e-3)
    with pytest.raises(ValueError, match="correction"):
        dl_highdim.adjust_pvalues([0.1], "fdr")
    with pytest.raises(ValueError, match="beta"):
        dl_debiased_lasso.bounded_decorrelating_matrix(X, 0.1, beta=0.6)


def test_erratum_inverse_entry_is_not_the_inverse_of_the_entry():
    cov = design_covariance("circulant", 60, rho=0.1, band=5)
    assert np.linalg.inv(cov)[0, 0] > 1.07 and 1 / cov[0, 0] == 1


def test_erratum_covariance_needs_the_transpose():
    X = design(30, 8)
    M = nodewise_matrix(X.T @ X / 30, 0.05)
    S, rng = X.T @ X / 30, np.random.default_rng(0)
    Z = M @ X.T @ rng.standard_normal((30, 40_000)) / np.sqrt(30)
    right, printed = M @ S @ M.T, M @ S @ M
    assert np.abs(np.cov(Z) - right).max() < 0.05 < np.abs(printed - right).max()


def test_erratum_efficiency_factor_is_at_least_one():
    cov = design_covariance("toeplitz", 12, rho=0.6)
    rng = np.random.default_rng(0)
    values = []
    for _ in range(30):
        i, *S = rng.permutation(12)[: rng.integers(2, 7)]
        values.append(dl.efficiency_factor(cov, int(i), S))
    eigenvalues = np.linalg.eigvalsh(cov)
    assert min(values) >= 1 - 1e-12 and max(values) <= eigenvalues[-1] / eigenvalues[0]


def test_multi_split_multiplies_by_the_number_selected():
    """One split: the p-values of least squares on the second half, times the number that the first half selected."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 30))
    y = 0.6 * X[:, 3] + 0.5 * X[:, 9] + rng.standard_normal(80)
    P = baselines.multi_split(X, y, n_splits=1, gamma_min=0.5, random_state=0)
    order = np.random.default_rng(0).permutation(80)
    first, second = order[:40], order[40:]
    chosen = np.flatnonzero(dl_highdim.scaled_lasso(X[first], y[first]).coef)
    raw = oracle_ols(X[second], y[second], chosen).pvalues
    assert chosen.size > 1
    np.testing.assert_allclose(P[chosen], np.minimum(1, (1 - np.log(0.5)) * np.minimum(1, chosen.size * raw)))
    assert (np.delete(P, chosen) == 1).all()


def test_ridge_projection_subtracts_its_margin_before_it_tests():
    made = make_sparse_linear(60, 100, n_nonzero=2, size=3.0, random_state=0)
    found = baselines.ridge_projection(made.data, made.target, xi=0.05)
    P = made.data.T @ np.linalg.pinv(made.data @ made.data.T) @ made.data
    own = np.diagonal(P).copy()
    np.fill_diagonal(P, 0)
    margin = np.abs(P).max(axis=1) * (np.log(100) / 60) ** 0.45
    excess = np.maximum(np.abs(found.coef * own) - margin, 0)
    np.testing.assert_allclose(found.pvalues, 2 * stats.norm.sf(excess / (found.stderr * own)), rtol=1e-6)
    assert (found.pvalues == 1).any()
