"""Kernels and kernel regression against explicit features, brute force, quadratic programmes and scikit-learn."""

from math import comb

import numpy as np
import pytest
from scipy import optimize, sparse
from scipy.optimize import brentq
from sklearn.datasets import load_diabetes
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import Lasso as SklearnLasso
from sklearn.linear_model import Ridge as SklearnRidge

from learnable.chapters.kernels_and_regression.theory import (
    _decompose,
    cooccurrence_proximity,
    docstring_corpus,
    epsilon_objective,
    find_violation,
    gram_matrix,
    is_psd_gram,
    lam_to_alpha,
    ridge_path,
)
from learnable.kernels import (
    EpsilonRidge,
    EpsilonSVR,
    Gaussian,
    KernelRidge,
    Linear,
    Polynomial,
    RandomFourierFeatures,
    TextKernel,
    center_gram,
    kernel_ridge_path,
    smo,
)
from learnable.kernels.functions.algebra import Normalised
from learnable.kernels.functions.elementary import Rank1
from learnable.kernels.functions.series import Exp, Poly
from learnable.kernels.rkhs import representer_solve
from learnable.kernels.svr import epsilon_loss
from learnable.kernels.text import bag_of_words
from learnable.linear import Lasso, Ridge


def lam_to_B(X, y, alpha):
    """Return B = |w_lam|: the constraint |w| <= B under which least squares gives the ridge solution."""
    _, _, s, _, u = _decompose(X, y)
    return float(np.linalg.norm(u * s / (s**2 + alpha)))


def B_to_lam(X, y, B):
    """Return the penalty whose ridge solution has length B; 0 if the constraint |w| <= B does not bind."""
    _, _, s, _, u = _decompose(X, y)
    if np.linalg.norm(u / s) <= B:
        return 0.0

    def excess(lam):
        return float(np.linalg.norm(u * s / (s**2 + lam))) - B

    # |w_lam| <= |us| / lam, so beyond |us| / B the constraint is met.
    high = float(np.linalg.norm(u * s)) / B
    return float(brentq(excess, 0.0, high, xtol=1e-14 * high, rtol=1e-14))


def kernel_margin_bound(K_diag, slacks, gamma, *, delta=0.05, norm=1):
    """Margin bound on the risk of a kernel machine with |w| <= 1 and a margin `gamma` fixed in advance."""
    n = slacks.size
    empirical = np.sum((slacks / gamma) ** norm) / n
    complexity = 4.0 * norm * np.sqrt(K_diag.sum()) / (n * gamma)
    return float(empirical + complexity + 3.0 * np.sqrt(np.log(2.0 / delta) / (2.0 * n)))


def sinc_data(n, seed=0, noise=0.1):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-3, 3, n)
    return x[:, None], np.sinc(x) + noise * rng.normal(size=n)


def linear_data(n, d, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + rng.normal(size=d)
    return X, X @ rng.normal(size=d) + 2.0 + rng.normal(size=n)


def exponential(X):
    return np.exp(-(np.asarray(X) ** 2).sum(axis=1))


def distances(X, Y):
    return np.sqrt(((X[:, None] - Y[None]) ** 2).sum(axis=2))


NON_KERNELS = {
    "tanh(x'y)": lambda X, Y: np.tanh(X @ Y.T),
    "|x - y|": distances,
    "exp(|x - y|^2)": lambda X, Y: np.exp(distances(X, Y) ** 2),
}


def normal_points(rng, m):
    return rng.normal(size=(m, 2))


def test_claim_01_explicit_features():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(6, 2)), rng.normal(size=(5, 2))
    square = Polynomial(2, 0.0)(X, Y)

    def three(Z):
        return np.column_stack([Z[:, 0] ** 2, np.sqrt(2) * Z[:, 0] * Z[:, 1], Z[:, 1] ** 2])

    def four(Z):
        return np.column_stack([Z[:, 0] ** 2, Z[:, 0] * Z[:, 1], Z[:, 0] * Z[:, 1], Z[:, 1] ** 2])

    np.testing.assert_allclose(square, three(X) @ three(Y).T, atol=1e-12)
    np.testing.assert_allclose(square, four(X) @ four(Y).T, atol=1e-12)
    for d in (1, 2, 3):
        X, Y = rng.normal(size=(6, d)), rng.normal(size=(5, d))
        for p in (1, 2, 3, 4):
            for R in (0.0, 0.5, 2.0):
                K = Polynomial(p, R)
                features = K.feature_map(X)
                np.testing.assert_allclose(features @ K.feature_map(Y).T, K(X, Y), atol=1e-10)
                assert features.shape[1] == (comb(d + p, p) if R > 0 else comb(d + p - 1, p))


def test_claim_02_gram_matrices_are_positive_and_non_kernels_are_caught():
    rng = np.random.default_rng(1)
    kernels = [
        Linear(), Polynomial(3, 1.0), Gaussian(0.7), Normalised(Polynomial(2, 1.0)),
        Exp(Gaussian(1.0)), Rank1(exponential), Gaussian(1.0).centered(rng.normal(size=(4, 3))),
    ]  # fmt: skip
    for _ in range(200):
        X = rng.normal(size=(int(rng.integers(2, 12)), 3))
        assert all(is_psd_gram(gram_matrix(K, X), 1e-8) for K in kernels)
    for name, k in NON_KERNELS.items():
        found = find_violation(k, normal_points, 1000, random_state=0)
        assert found is not None, name
        G = k(found.points, found.points)
        assert found.coef @ G @ found.coef == pytest.approx(found.value)
        assert found.value < 0
        assert np.linalg.norm(found.coef) == pytest.approx(1.0)
    assert find_violation(Gaussian(1.0), normal_points, 50, random_state=0) is None


def test_claim_03_closure():
    rng = np.random.default_rng(2)
    B = rng.normal(size=(3, 2))
    for _ in range(30):
        X = rng.normal(size=(8, 3))
        K1, K2 = Gaussian(rng.uniform(0.3, 2.0)), Polynomial(int(rng.integers(1, 4)), rng.uniform(0, 2))
        made = [
            K1 + K2, rng.uniform(0, 3) * K1, Rank1(exponential), Linear(B @ B.T), K1 * K2,
            Poly(rng.uniform(0, 1, 4))(K2), K2.map(np.tanh), Exp(K1), Gaussian(rng.uniform(0.3, 2.0)),
        ]  # fmt: skip
        assert all(is_psd_gram(gram_matrix(K, X)) for K in made)
    X = rng.normal(size=(5, 3))
    K1, K2 = Gaussian(1.0)(X), Normalised(Polynomial(2, 1.0))(X)
    n = 100_000
    V = rng.multivariate_normal(np.zeros(5), K1, n)
    W = rng.multivariate_normal(np.zeros(5), K2, n)
    product = V * W
    measured = product.T @ product / n
    # Four products of pairs: E(V_i^2 V_j^2) = K_ii K_jj + 2 K_ij^2, and the same for W.
    fourth = (1 + 2 * K1**2) * (1 + 2 * K2**2)
    se = np.sqrt((fourth - (K1 * K2) ** 2) / n)
    assert np.abs((measured - K1 * K2) / se).max() < 4.5
    assert np.mean(np.abs((measured - K1 * K2) / se) < 3) > 0.9


@pytest.mark.parametrize(("sigma", "condition"), [(0.02, 1.007), (0.1, 3.5e3), (0.5, 3.5e17)])
def test_claim_08_condition_of_gaussian_gram_matrices(sigma, condition):
    K = Gaussian(sigma)
    x = np.linspace(0, 1, 15)[:, None]
    assert (K.diag(x) == 1).all()
    measured = np.linalg.cond(K(x))
    if condition < 1e10:
        assert measured == pytest.approx(condition, rel=0.02)
        assert np.linalg.matrix_rank(K(x)) == 15
    else:
        assert measured > 1e16


def test_claim_08_gaussian_separates_everything_and_polynomials_do_not():
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(60, 2)), rng.choice([-1.0, 1.0], 60)
    K = Gaussian(0.3)(X)
    f = K @ np.linalg.solve(K, y)
    assert (np.sign(f) == y).all()
    machine = smo.classification(K, y, np.inf, tol=1e-6)
    assert (np.sign(machine.values + machine.offset) == y).all()
    # The values on n points of functions from the space of degree 3 in the plane fill C(5, 3) = 10 dimensions only.
    assert np.linalg.matrix_rank(Polynomial(3, 1.0)(X), tol=1e-8 * np.trace(Polynomial(3, 1.0)(X))) == comb(5, 3)
    features = Polynomial(3, 1.0).feature_map(X)
    separates = optimize.linprog(np.zeros(10), A_ub=-y[:, None] * features, b_ub=-np.ones(60), bounds=(None, None))
    assert separates.status == 2
    ten = optimize.linprog(np.zeros(10), A_ub=-y[:10, None] * features[:10], b_ub=-np.ones(10), bounds=(None, None))
    assert ten.status == 0


def test_claim_09_the_constant_of_the_polynomial_kernel():
    for p in (2, 3, 5):
        small, large = Polynomial(p, 0.5).degree_weights(), Polynomial(p, 2.0).degree_weights()
        expected = [comb(p, s) * 0.5 ** (p - s) for s in range(p + 1)]
        np.testing.assert_allclose(small / small[-1], expected)
        assert (large[:-1] / large[-1] > small[:-1] / small[-1]).all()
        np.testing.assert_array_equal(Polynomial(p, 0.0).degree_weights(), [0.0] * p + [1.0])


@pytest.mark.parametrize(("n", "d"), [(40, 5), (15, 30)])
def test_claim_10_ridge(n, d):
    X, y = linear_data(n, d)
    lam = 2.5
    model = Ridge(lam).fit(X, y)
    peer = SklearnRidge(alpha=lam).fit(X, y)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-8)
    assert model.intercept_ == pytest.approx(peer.intercept_)

    def objective(v):
        return ((y - X @ v[:-1] - v[-1]) ** 2).sum() + lam * v[:-1] @ v[:-1]

    best = np.append(model.coef_, model.intercept_)
    slope = optimize.approx_fprime(best, objective, 1e-6)
    assert np.abs(slope).max() < 1e-2
    Z, target = X - X.mean(axis=0), y - y.mean()
    alpha = (target - Z @ model.coef_) / lam
    np.testing.assert_allclose(Z.T @ alpha, model.coef_, atol=1e-9)
    np.testing.assert_allclose((Z @ Z.T + lam * np.eye(n)) @ alpha, target, atol=1e-8)
    assert np.linalg.eigvalsh(Z.T @ Z + lam * np.eye(d))[0] > 0.999 * lam
    lengths = [lam_to_B(X, y, value) for value in (0.0, 0.1, 1.0, 10.0, 1000.0)]
    assert (np.diff(lengths) < 0).all()
    B = lam_to_B(X, y, lam)
    assert pytest.approx(np.linalg.norm(model.coef_)) == B
    assert B_to_lam(X, y, B) == pytest.approx(lam, rel=1e-8)
    assert B_to_lam(X, y, 2 * lengths[0]) == 0.0
    constrained = optimize.minimize(
        lambda v: ((target - Z @ v) ** 2).sum(), 0.1 * model.coef_, jac=lambda v: -2 * Z.T @ (target - Z @ v),
        constraints={"type": "ineq", "fun": lambda v: B**2 - v @ v, "jac": lambda v: -2 * v},
        method="SLSQP", options={"ftol": 1e-13, "maxiter": 500},
    )  # fmt: skip
    np.testing.assert_allclose(constrained.x, model.coef_, atol=1e-4)


def test_corpus_of_docstrings():
    documents, packages = docstring_corpus(20, n_words=30, random_state=0)
    assert len(documents) == len(set(documents)) == packages.size == 80
    assert all(8 <= len(text.split()) <= 30 for text in documents)
    again, _ = docstring_corpus(20, n_words=30, random_state=0)
    assert (documents == again).all()


def test_ridge_path_and_leave_one_out():
    X, y = linear_data(25, 40)
    lams = [0.1, 1.0, 30.0]
    path = ridge_path(X, y, lams)
    for k, lam in enumerate(lams):
        model = Ridge(lam).fit(X, y)
        np.testing.assert_allclose(path.coefs[k], model.coef_, atol=1e-9)
        assert path.intercepts[k] == pytest.approx(model.intercept_)
        for i in (0, 7):
            rest = np.arange(25) != i
            left = y[i] - Ridge(lam).fit(X[rest], y[rest]).predict(X[i : i + 1])[0]
            assert path.loo_residuals[k, i] == pytest.approx(left, abs=1e-8)
    assert (np.diff(path.df) < 0).all()
    interpolating = Ridge(0.0).fit(X, y)
    np.testing.assert_allclose(interpolating.predict(X), y, atol=1e-9)
    np.testing.assert_allclose(ridge_path(X, y, [0.0]).coefs[0], interpolating.coef_, atol=1e-9)
    assert np.isnan(ridge_path(X, y, [0.0]).loo_mse[0])


def test_lasso_is_scikit_learns_with_another_scale():
    X, y = load_diabetes(return_X_y=True)
    X = X / X.std(axis=0)
    for lam in (1.0, 1000.0, 5000.0):
        model = Lasso(lam_to_alpha(lam, len(y)), tol=1e-12).fit(X, y)
        peer = SklearnLasso(alpha=lam / (2 * len(y)), tol=1e-10, max_iter=100_000).fit(X, y)
        np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-3)
        np.testing.assert_allclose(model.predict(X), peer.predict(X), atol=1e-3)
        objective = ((y - model.predict(X)) ** 2).sum() + lam * np.abs(model.coef_).sum()
        assert (
            objective
            <= ((y - peer.predict(X)) ** 2).sum() + lam * np.abs(peer.coef_).sum() + 2 * len(y) * model.dual_gap_ + 1e-6
        )
    sparse_fit = Lasso(lam_to_alpha(1000.0, len(y)), tol=1e-12).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(
        sparse_fit.coef_, Lasso(lam_to_alpha(1000.0, len(y)), tol=1e-12).fit(X, y).coef_, atol=1e-4
    )


def test_experiment_2_zeros_of_the_lasso_on_diabetes():
    X, y = load_diabetes(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    zeros = [
        int(np.sum(Lasso(lam_to_alpha(lam, len(y))).fit(X, y).coef_ == 0))
        for lam in (1, 100, 1000, 5000, 20_000, 60_000)
    ]
    assert zeros == [0, 0, 3, 5, 8, 10]
    assert all((Ridge(lam).fit(X, y).coef_ != 0).all() for lam in (1, 1000, 60_000))


def kernel_ridge_dual(gamma, K0, y0, alpha):
    """The dual objective of kernel ridge regression (Lember 2012, (4.6.12))."""
    return float(gamma @ y0 - gamma @ (K0 @ gamma + alpha * gamma) / (4.0 * alpha))


def epsilon_dual(K, y, gamma, alpha, epsilon, power):
    """The dual objective of regression with a tube: the diagonal grows by alpha for squared errors."""
    quadratic = gamma @ (K @ gamma) + (alpha * gamma @ gamma if power == 2 else 0.0)
    return float(gamma @ y - quadratic / (4.0 * alpha) - epsilon * np.abs(gamma).sum())


def merge_dot(i, u, j, v):
    """Inner product of two sparse vectors with sorted indices, in one merge."""
    a, b, total = 0, 0, 0.0
    while a < len(i) and b < len(j):
        total += u[a] * v[b] if i[a] == j[b] else 0.0
        a, b = a + (i[a] <= j[b]), b + (j[b] <= i[a])
    return total


@pytest.mark.parametrize("solver", ["chol", "cg", "dual_ascent"])
def test_claim_12_kernel_ridge_is_the_joint_minimiser(solver):
    X, y = sinc_data(40)
    lam = 0.3
    kernel = Gaussian(0.5)
    K = kernel(X)
    model = KernelRidge(kernel, lam, solver=solver, tol=1e-13).fit(X, y)
    # Joint minimiser over (c, a): K((K + lam I) c + a 1 - y) = 0 and 1'(y - Kc - a 1) = 0.
    system = np.block([[K + lam * np.eye(40), np.ones((40, 1))], [np.ones((1, 40)), np.zeros((1, 1))]])
    solution = np.linalg.solve(system, np.append(y, 0.0))
    np.testing.assert_allclose(model.dual_coef_, solution[:-1], atol=1e-8)
    assert model.intercept_ == pytest.approx(solution[-1], abs=1e-9)
    assert abs(model.dual_coef_.sum()) < 1e-13
    np.testing.assert_allclose(y - model.predict(X), lam * model.dual_coef_, atol=1e-9)
    K0, y0 = center_gram(K), y - y.mean()
    gamma = 2 * lam * model.dual_coef_
    primal = ((y - model.predict(X)) ** 2).sum() + lam * model.dual_coef_ @ K @ model.dual_coef_
    assert kernel_ridge_dual(gamma, K0, y0, lam) == pytest.approx(primal, abs=1e-9)
    assert kernel_ridge_dual(1.01 * gamma, K0, y0, lam) < primal
    assert (np.abs(model.dual_coef_) > 0).all()


@pytest.mark.parametrize(("model", "power"), [(EpsilonSVR, 1), (EpsilonRidge, 2)])
@pytest.mark.parametrize("epsilon", [0.0, 0.05, 0.2])
def test_claim_13_duality(model, power, epsilon):
    X, y = sinc_data(80)
    lam = 0.2
    fit = model(Gaussian(0.5), lam, epsilon, tol=1e-10).fit(X, y)
    K = Gaussian(0.5)(X)
    primal = epsilon_objective(K, y, fit.dual_coef_, fit.intercept_, lam, epsilon, power)
    dual = epsilon_dual(K, y, fit.gamma_, lam, epsilon, power)
    assert primal == pytest.approx(dual, abs=1e-8)
    assert fit.objective_ == pytest.approx(primal)
    assert abs(fit.gamma_.sum()) < 1e-10
    reference = representer_solve(K, y, "epsilon", lam, power=power, epsilon=epsilon)
    assert primal == pytest.approx(reference.objective, rel=1e-6)
    np.testing.assert_allclose(fit.predict(X), reference.values, atol=1e-4)


DOCS = [
    "The cat sat on the mat, the cat purred.",
    "A dog barked at the cat.",
    "Stocks fell as the market closed.",
    "the shares dropped when trading ended",
]


def test_claim_15_counts_and_merges():
    counts, vocabulary = bag_of_words(DOCS)
    peer = CountVectorizer(token_pattern=r"[^\W\d_]+").fit(DOCS)
    assert vocabulary == peer.vocabulary_
    np.testing.assert_array_equal(counts.toarray(), peer.transform(DOCS).toarray())
    dense = counts.toarray() @ counts.toarray().T
    for i in range(4):
        for j in range(4):
            rows = [slice(counts.indptr[k], counts.indptr[k + 1]) for k in (i, j)]
            merged = merge_dot(
                counts.indices[rows[0]], counts.data[rows[0]], counts.indices[rows[1]], counts.data[rows[1]]
            )
            assert merged == dense[i, j]
    np.testing.assert_array_equal(TextKernel(weights=None).fit(DOCS)(DOCS), dense)


def test_claim_15_proximity():
    near = {("stocks", "shares"): 0.7, ("fell", "dropped"): 0.5}
    plain, related = TextKernel().fit(DOCS)(DOCS), TextKernel(proximity=near).fit(DOCS)(DOCS)
    assert plain[2, 3] == 0.0
    assert related[2, 3] > 0.0
    kernel = TextKernel(proximity=near, normalise=True).fit(DOCS)
    np.testing.assert_allclose(kernel(DOCS).diagonal(), 1.0)
    counts, _ = bag_of_words(DOCS)
    rng = np.random.default_rng(9)
    m = counts.shape[1]
    P = rng.normal(size=(m, m))
    kernel = TextKernel(proximity=P).fit(DOCS)
    Q = (P * kernel.weights_).T @ (P * kernel.weights_)
    assert is_psd_gram(Q)
    np.testing.assert_allclose(kernel(DOCS), counts @ Q @ counts.T, atol=1e-8)
    learned = cooccurrence_proximity(counts, min_count=1)
    assert (learned.diagonal() == 1).all()
    assert is_psd_gram(TextKernel(proximity=cooccurrence_proximity).fit(DOCS)(DOCS))


def test_erratum_margin_bound_constrains_w():
    n = 400
    slacks = np.random.default_rng(0).uniform(0, 0.1, n)
    tail = 3 * np.sqrt(np.log(2 / 0.05) / (2 * n))
    expected = slacks.sum() / (n * 0.5) + 4 / (0.5 * np.sqrt(n)) + tail
    assert kernel_margin_bound(Gaussian(1.0).diag(np.zeros((n, 1))), slacks, 0.5) == pytest.approx(expected)
    squared = (slacks**2).sum() / (n * 0.25) + 8 * np.sqrt(4 * n) / (n * 0.5) + tail
    assert kernel_margin_bound(np.full(n, 4.0), slacks, 0.5, norm=2) == pytest.approx(squared)


def test_erratum_centring_formula():
    K = Gaussian(1.0)(np.random.default_rng(0).normal(size=(5, 2)))
    one = np.ones((5, 1))
    wrong = K - K @ one @ one.T / 5 - one @ one.T @ K / 5 + 0.0
    right = wrong + (one.T @ K @ one) * (one @ one.T) / 25
    np.testing.assert_allclose(center_gram(K), right, atol=1e-14)
    as_printed = wrong + (one.T @ K @ one).item() / 25 * np.eye(5)
    assert np.abs(as_printed - right).max() > 0.1


def test_erratum_order_of_proximity_and_weights():
    rng = np.random.default_rng(0)
    P, R = np.eye(3) + np.triu(rng.uniform(size=(3, 3)), 1), np.diag([1.0, 2.0, 3.0])
    right = (P @ R).T @ P @ R
    printed = (R @ P).T @ P @ R
    assert is_psd_gram(right)
    assert not np.allclose(printed, printed.T)


def test_erratum_lost_brackets_of_the_hinge():
    """The label multiplies the intercept too: only then is the objective the one that the solver reports."""
    X, y = np.array([[-2.0], [-0.5], [0.2], [3.0]]), np.array([-1.0, 1.0, -1.0, 1.0])
    s = smo.classification(X @ X.T, y, 1.0, tol=1e-10)
    assert abs(s.offset) > 0.1
    square = 0.5 * float(s.beta @ s.values)
    assert s.primal == pytest.approx(square + np.maximum(1 - y * (s.values + s.offset), 0.0).sum())
    assert s.primal != pytest.approx(square + np.maximum(1 - y * s.values + s.offset, 0.0).sum())


X0, Y0 = np.arange(6.0)[:, None], np.arange(6.0) ** 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Ridge(-1.0).fit(X0, Y0), "alpha"),
        (lambda: Lasso(-1.0).fit(X0, Y0), "alpha"),
        (lambda: Lasso(1.0, tol=0.0).fit(X0, Y0), "tol"),
        (lambda: KernelRidge("rbf", 0.0).fit(X0, Y0), "alpha"),
        (lambda: KernelRidge("rbf", np.nan).fit(X0, Y0), "alpha"),
        (lambda: KernelRidge("cosine").fit(X0, Y0), "kernel"),
        (lambda: KernelRidge(solver="lu").fit(X0, Y0), "solver"),
        (lambda: KernelRidge().fit(np.where(X0 > 2, np.nan, X0), Y0), "NaN"),
        (lambda: KernelRidge(lambda U, V: -(U @ V.T), 0.1).fit(X0, Y0), "semi-definite"),
        (lambda: EpsilonSVR(epsilon=-0.1).fit(X0, Y0), "epsilon"),
        (lambda: EpsilonRidge(epsilon=-0.1).fit(X0, Y0), "epsilon"),
        (lambda: EpsilonSVR(alpha=0.0).fit(X0, Y0), "alpha"),
        (lambda: epsilon_loss([1.0], -1.0), "epsilon"),
        (lambda: epsilon_loss([1.0], 0.1, 3), "power"),
        (lambda: kernel_ridge_path(np.eye(3), [1.0, 2.0, 3.0], [0.0]), "alphas"),
        (lambda: kernel_ridge_path(np.eye(3), [1.0, 2.0, 3.0], []), "alphas"),
        (lambda: kernel_ridge_path(np.eye(2), [1.0, 2.0, 3.0], [1.0]), "shape"),
        (lambda: kernel_ridge_path(-np.eye(3), [1.0, 2.0, 3.0], [1.0]), "semi-definite"),
        (lambda: kernel_ridge_path(np.diag([1.0, 1.0, -5.0]), [1.0, 2.0, 3.0], [1.0]), "semi-definite"),
        (lambda: representer_solve(np.eye(2), [1.0, 2.0], "hinge"), "labels"),
        (lambda: representer_solve(np.eye(2), [1.0, 2.0], "cubic"), "loss"),
        (lambda: representer_solve(np.eye(2), [1.0, 2.0], omega=-1.0), "omega"),
        (lambda: representer_solve(np.diag([1.0, -1.0]), [1.0, 2.0]), "semi-definite"),
        (lambda: representer_solve(np.eye(2), [1.0, 2.0], "epsilon", epsilon=-1.0), "epsilon"),
        (lambda: representer_solve(np.eye(2), [1.0, 2.0], "quantile", quantile=1.0), "quantile"),
        (lambda: bag_of_words("one document"), "collection"),
        (lambda: bag_of_words([1]), "string"),
        (lambda: TextKernel(weights={"cat": -1.0}).fit(DOCS), "non-negative"),
        (lambda: TextKernel(weights=3).fit(DOCS), "weights"),
        (lambda: TextKernel(stop_words="the").fit(DOCS), "stop_words"),
        (lambda: TextKernel(proximity=np.eye(2)).fit(DOCS), "proximity"),
        (lambda: TextKernel(proximity={("cat", "dog"): -1.0}).fit(DOCS), "proximity"),
        (lambda: TextKernel().fit(["", "1 2"]), "no words"),
        (lambda: RandomFourierFeatures(gamma=0.0).fit(X0), "gamma"),
        (lambda: RandomFourierFeatures(n_components=0).fit(X0), "n_components"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_leave_one_out_residuals_that_do_not_exist_warn():
    X = np.random.default_rng(0).standard_normal((4, 9))
    with pytest.warns(RuntimeWarning, match="leave-one-out residuals are not determined"):
        path = ridge_path(X, np.arange(4.0), [0.0, 1.0])
    assert np.isnan(path.loo_mse[0]) and np.isfinite(path.loo_mse[1])


def test_a_column_that_others_make_up_to_rounding_counts_as_dependent():
    """Without a penalty the shortest of all solutions is asked for: B (B'B)^-1 v if X = A B' and v is that of A."""
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((4000, 2)), np.array([[1.0, 0.0], [0.0, 1.0], [0.3, -0.7]])
    y = A @ [1.0, 2.0] + rng.standard_normal(4000)
    path = ridge_path(A @ B.T, y, [0.0])
    v = np.linalg.lstsq(A - A.mean(axis=0), y - y.mean(), rcond=None)[0]
    np.testing.assert_allclose(path.coefs[0], B @ np.linalg.solve(B.T @ B, v), rtol=1e-10)
    assert path.df[0] == pytest.approx(3.0)  # two directions and the intercept
