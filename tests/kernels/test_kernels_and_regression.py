"""Kernels and kernel regression against explicit features, brute force, quadratic programmes and scikit-learn."""

from math import comb

import numpy as np
import pytest
from scipy import optimize, sparse
from sklearn.datasets import load_diabetes
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.kernel_ridge import KernelRidge as SklearnKernelRidge
from sklearn.linear_model import Lasso as SklearnLasso
from sklearn.linear_model import Ridge as SklearnRidge
from sklearn.svm import SVR
from sklearn.utils.estimator_checks import parametrize_with_checks

from learnable.kernels import smo
from learnable.kernels.kernels_and_regression import (
    ANOVA,
    AllSubsets,
    EpsilonRidge,
    EpsilonSVR,
    Exp,
    Gaussian,
    KernelRidge,
    Lasso,
    Linear,
    Normalised,
    NystroemRidge,
    Poly,
    Polynomial,
    RandomFourierFeatures,
    RandomFourierRidge,
    Rank1,
    Ridge,
    RKHSFunction,
    TextKernel,
    center_gram,
    cooccurrence_proximity,
    docstring_corpus,
    epsilon_objective,
    find_violation,
    gram,
    is_psd_gram,
    kernel_ridge_path,
    lam_to_alpha,
    representer_solve,
    ridge_path,
)
from learnable.kernels.kernels_and_regression.epsilon import epsilon_dual, epsilon_loss
from learnable.kernels.kernels_and_regression.kernel_ridge import kernel_ridge_dual
from learnable.kernels.kernels_and_regression.linear import B_to_lam, lam_to_B
from learnable.kernels.kernels_and_regression.recognition import kernel_margin_bound
from learnable.kernels.kernels_and_regression.rkhs import _Loss
from learnable.kernels.kernels_and_regression.text import bag_of_words, idf_weights, merge_dot
from learnable.optim.homotopy import lasso_homotopy


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


# Kernels


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
        Linear(), Polynomial(3, 1.0), Gaussian(0.7), AllSubsets(), ANOVA(2), Normalised(Polynomial(2, 1.0)),
        Exp(Gaussian(1.0)), Rank1(exponential), Gaussian(1.0).centered(rng.normal(size=(4, 3))),
    ]  # fmt: skip
    for _ in range(200):
        X = rng.normal(size=(int(rng.integers(2, 12)), 3))
        assert all(is_psd_gram(gram(K, X), 1e-8) for K in kernels)
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
        assert all(is_psd_gram(gram(K, X)) for K in made)
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


def test_claim_04_rkhs_axioms():
    rng = np.random.default_rng(3)
    K = Gaussian(0.8)
    P, Q = rng.normal(size=(6, 2)), rng.normal(size=(5, 2))
    f, g = RKHSFunction(K, P, rng.normal(size=6)), RKHSFunction(K, Q, rng.normal(size=5))
    X = rng.normal(size=(7, 2))
    for x in X:
        section = RKHSFunction.section(K, x)
        assert f.inner(section) == pytest.approx(f(x[None])[0], abs=1e-10)
        assert f(x[None])[0] ** 2 <= section.norm**2 * f.norm**2
    assert abs(f.inner(g)) <= f.norm * g.norm
    assert f.inner(g) == pytest.approx(g.inner(f), abs=1e-12)
    h = 2.0 * f - g
    assert h.inner(f) == pytest.approx(2 * f.inner(f) - g.inner(f), abs=1e-10)
    np.testing.assert_allclose(h(X), 2 * f(X) - g(X), atol=1e-12)
    halves = RKHSFunction(K, np.vstack([P, P]), np.concatenate([0.3 * f.coef, 0.7 * f.coef]))
    assert halves.same_as(f)
    assert halves.inner(g) == pytest.approx(f.inner(g), abs=1e-10)
    assert not f.same_as(g)
    line = RKHSFunction("linear", [[1.0, 1.0]], [1.0])
    axes = RKHSFunction("linear", [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]], [1.0, 1.0, 9.0])
    assert line.same_as(axes)
    assert axes.norm == pytest.approx(np.sqrt(2))
    x, z = X[:1], X[1:2]
    difference = RKHSFunction.section(K, x) - RKHSFunction.section(K, z)
    assert difference.norm**2 == pytest.approx(2 - 2 * K(x, z)[0, 0], abs=1e-10)
    with pytest.raises(ValueError, match="one kernel"):
        f.inner(line)
    with pytest.raises(ValueError, match="one entry"):
        RKHSFunction(K, P, [1.0])


def test_claim_05_vectors_are_functions_but_square_integrable_functions_are_not_evaluated():
    def delta(X, Y):
        return (np.asarray(X)[:, :1] == np.asarray(Y)[:, 0]).astype(float)

    places = np.arange(1.0, 5.0)[:, None]
    v, w = np.array([3.0, -1.0, 2.0, 0.5]), np.array([1.0, 1.0, 0.0, 4.0])
    f, g = RKHSFunction(delta, places, v), RKHSFunction(delta, places, w)
    g.kernel = f.kernel
    np.testing.assert_allclose(f(places), v)
    assert f.inner(g) == pytest.approx(v @ w)
    heights = []
    for width in (1e-1, 1e-2, 1e-3):
        grid = np.linspace(0, 1, 200_001)
        bump = np.where(np.abs(grid - 0.5) < width / 2, 1 / np.sqrt(width), 0.0)
        assert np.trapezoid(bump**2, grid) == pytest.approx(1.0, abs=0.02)
        heights.append(bump[100_000])
    assert heights[2] > 3 * heights[1] > 9 * heights[0]


@pytest.mark.parametrize(("loss", "power"), [("squared", 1), ("logistic", 1), ("hinge", 2), ("epsilon", 2)])
def test_claim_06_minimisers_lie_in_the_span_of_the_data(loss, power):
    rng = np.random.default_rng(4)
    n, m = 6, 12
    F = rng.normal(size=(n, m))
    y = np.sign(rng.normal(size=n)) if loss in ("logistic", "hinge") else rng.normal(size=n)
    if loss in ("logistic", "hinge"):
        y[:2] = [1.0, -1.0]
    parts = {
        "squared": lambda f: ((y - f) ** 2).sum(),
        "logistic": lambda f: np.logaddexp(0, -y * f).sum(),
        "hinge": lambda f: (np.maximum(1 - y * f, 0) ** 2).sum(),
        "epsilon": lambda f: epsilon_loss(y - f, 0.1, 2),
    }

    def objective(w, omega=lambda t: t):
        return omega(w @ w) + parts[loss](F @ w)

    free = optimize.minimize(objective, np.zeros(m), method="BFGS", options={"gtol": 1e-9}).x
    projection = np.linalg.pinv(F) @ F
    assert np.linalg.norm(free - projection @ free) < 1e-6 * np.linalg.norm(free)
    answer = representer_solve(F @ F.T, y, loss, 1.0, power=power, intercept=False)
    np.testing.assert_allclose(F.T @ answer.coef, free, atol=1e-5)
    assert answer.objective == pytest.approx(objective(free), abs=1e-8)
    orthogonal = rng.normal(size=m)
    orthogonal -= projection @ orthogonal
    w = F.T @ answer.coef
    assert objective(w + orthogonal) - objective(w) == pytest.approx(orthogonal @ orthogonal, abs=1e-8)
    curved = representer_solve(
        F @ F.T, y, loss, (lambda t: t + t**2, lambda t: 1 + 2 * t), power=power, intercept=False
    )
    other = optimize.minimize(objective, np.zeros(m), args=(lambda t: t + t**2,), method="BFGS", options={"gtol": 1e-9})
    assert curved.objective == pytest.approx(other.fun, abs=1e-7)


def test_claim_07_svm_in_coefficient_form():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(20, 2))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=20) > 0, 1.0, -1.0)
    X, y = np.vstack([X, X[:5]]), np.concatenate([y, y[:5]])
    K = Gaussian(1.0)(X)
    C = 2.0
    dual = smo.classification(K, y, C, tol=1e-10)
    u = dual.beta
    c = representer_solve(K, y, "hinge", 0.5, weight=C)
    np.testing.assert_allclose(K @ (c.coef - u), 0.0, atol=1e-5)
    assert np.abs(c.coef - u).max() > 1e-3
    assert (c.coef - u) @ K @ (c.coef - u) < 1e-8
    assert c.objective == pytest.approx(dual.dual, rel=1e-6)


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


# Ridge and lasso


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


def test_claim_11_bias_and_variance():
    rng = np.random.default_rng(7)
    n, d, noise, x0 = 20, 4, 1.0, np.array([1.0, -0.5, 0.3, 0.8])
    X, w = rng.normal(size=(n, d)), np.array([1.0, 2.0, -1.0, 0.5])
    variances, biases = [], []
    for lam in (0.5, 5.0, 50.0):
        y = (X @ w)[:, None] + noise * rng.normal(size=(n, 2000))
        Z = X - X.mean(axis=0)
        coefs = np.linalg.solve(Z.T @ Z + lam * np.eye(d), Z.T @ (y - y.mean(axis=0)))
        np.testing.assert_allclose(coefs[:, 0], Ridge(lam).fit(X, y[:, 0]).coef_, atol=1e-10)
        predictions = y.mean(axis=0) + (x0 - X.mean(axis=0)) @ coefs
        fresh = x0 @ w + noise * rng.normal(size=2000)
        squares = (fresh - predictions) ** 2
        bias, variance = x0 @ w - predictions.mean(), predictions.var()
        total = noise**2 + bias**2 + variance
        assert abs(squares.mean() - total) < 3.5 * squares.std() / np.sqrt(2000)
        variances.append(variance)
        biases.append(bias**2)
    assert (np.diff(variances) < 0).all()
    assert (np.diff(biases) > 0).all()


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


# Kernel ridge


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


def test_claim_12_all_solutions_give_one_function_and_small_penalties_interpolate():
    X, y = sinc_data(30)
    X = np.vstack([X, X[:3]])
    y = np.append(y, y[:3] + 0.1)
    kernel, lam = Gaussian(0.5), 0.2
    K0 = center_gram(kernel(X))
    model = KernelRidge(kernel, lam).fit(X, y)
    null = np.zeros(33)
    null[[0, 30]] = [1.0, -1.0]
    np.testing.assert_allclose(K0 @ null, 0.0, atol=1e-14)
    other = model.dual_coef_ + 5.0 * null
    np.testing.assert_allclose(K0 @ ((K0 + lam * np.eye(33)) @ other - (y - y.mean())), 0.0, atol=1e-10)
    grid = np.linspace(-3, 3, 20)[:, None]
    np.testing.assert_allclose(kernel(grid, X) @ other, kernel(grid, X) @ model.dual_coef_, atol=1e-12)
    distinct, target = np.linspace(-3, 3, 30)[:, None], sinc_data(30)[1]
    sharp = Gaussian(0.2)
    assert np.linalg.matrix_rank(center_gram(sharp(distinct))) == 29
    assert np.abs(KernelRidge(sharp, 1e-9).fit(distinct, target).predict(distinct) - target).max() < 1e-7


def test_kernel_ridge_equals_scikit_learn_on_the_centred_kernel():
    X, y = linear_data(30, 3)
    kernel = Gaussian(2.0)
    K0 = center_gram(kernel(X))
    peer = SklearnKernelRidge(alpha=0.5, kernel="precomputed").fit(K0, y - y.mean())
    model = KernelRidge(kernel, 0.5).fit(X, y)
    np.testing.assert_allclose(model.predict(X), peer.predict(K0) + y.mean(), atol=1e-9)
    linear = KernelRidge("linear", 0.5).fit(X, y)
    np.testing.assert_allclose(linear.predict(X), Ridge(0.5).fit(X, y).predict(X), atol=1e-9)
    precomputed = KernelRidge("precomputed", 0.5).fit(kernel(X), y)
    np.testing.assert_allclose(precomputed.predict(kernel(X[:4], X)), model.predict(X[:4]), atol=1e-10)


@pytest.mark.parametrize(
    ("kernel", "case"), [(Gaussian(1.0), "low rank"), (Gaussian(0.02), "full rank"), (Linear(), "line")]
)
def test_kernel_ridge_path_matches_fits_and_brute_force(kernel, case):
    X, y = sinc_data(60)
    K = kernel(X)
    lams = [1e-4, 0.1, 10.0]
    path = kernel_ridge_path(K, y, lams)
    assert (path.rank < 30) == (case != "full rank")
    for k, lam in enumerate(lams):
        model = KernelRidge(kernel, lam).fit(X, y)
        np.testing.assert_allclose(path.dual_coefs[k], model.dual_coef_, atol=1e-7 / lam)
        np.testing.assert_allclose(path.fitted[k], model.predict(X), atol=1e-7)
        assert path.intercepts[k] == pytest.approx(model.intercept_, abs=1e-6)
        K0 = center_gram(K)
        H = K0 @ np.linalg.inv(K0 + lam * np.eye(60)) + 1 / 60
        assert path.df[k] == pytest.approx(np.trace(H), rel=1e-6)
        rss = ((y - path.fitted[k]) ** 2).sum()
        assert path.gcv[k] == pytest.approx(60 * rss / (60 - np.trace(H)) ** 2, rel=1e-5)
        for i in range(0, 60, 11):
            rest = np.arange(60) != i
            left = y[i] - KernelRidge(kernel, lam).fit(X[rest], y[rest]).predict(X[i : i + 1])[0]
            assert path.loo_residuals[k, i] == pytest.approx(left, rel=1e-5, abs=1e-7)
    assert path.loo_mse[path.best] == path.loo_mse.min()


def test_large_problems_by_conjugate_gradients_without_the_gram_matrix(monkeypatch):
    X, y = sinc_data(150)
    exact = KernelRidge(Gaussian(0.5), 0.1).fit(X, y)
    monkeypatch.setattr("learnable.kernels.kernels_and_regression.kernel_ridge.LARGEST_GRAM", 100)
    blocks = KernelRidge(Gaussian(0.5), 0.1, solver="cg").fit(X, y)
    np.testing.assert_allclose(blocks.dual_coef_, exact.dual_coef_, atol=1e-6)
    with pytest.raises(RuntimeError, match="max_iter"):
        KernelRidge(Gaussian(0.5), 1e-6, solver="cg", max_iter=2).fit(X, y)


# Epsilon-insensitive regression


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


def test_claim_13_tube_with_squares():
    X, y = sinc_data(80)
    lam, eps = 0.2, 0.1
    fit = EpsilonRidge(Gaussian(0.5), lam, eps, tol=1e-11).fit(X, y)
    residual = y - fit.predict(X)
    outside = np.maximum(np.abs(residual) - eps, 0.0)
    np.testing.assert_allclose(outside, np.abs(fit.gamma_) / 2, atol=1e-8)
    S = fit.support_
    each = y[S] - Gaussian(0.5)(X)[S] @ fit.dual_coef_ - fit.gamma_[S] / 2 - eps * np.sign(fit.gamma_[S])
    assert np.ptp(each) < 1e-8
    assert fit.intercept_ == pytest.approx(each.mean(), abs=1e-8)
    assert 0 < S.size < 80
    ridge = KernelRidge(Gaussian(0.5), lam).fit(X, y)
    flat = EpsilonRidge(Gaussian(0.5), lam, 0.0, tol=1e-11).fit(X, y)
    np.testing.assert_allclose(flat.predict(X), ridge.predict(X), atol=1e-8)


def test_claim_13_support_vector_regression():
    X, y = sinc_data(80)
    lam, eps = 0.1, 0.1
    fit = EpsilonSVR(Gaussian(0.5), lam, eps, tol=1e-10).fit(X, y)
    peer = SVR(kernel="rbf", gamma=2.0, C=1 / (2 * lam), epsilon=eps, tol=1e-10).fit(X, y)
    coef = np.zeros(80)
    coef[peer.support_] = peer.dual_coef_[0]
    np.testing.assert_allclose(fit.dual_coef_, coef, atol=1e-4)
    assert fit.intercept_ == pytest.approx(peer.intercept_[0], abs=1e-5)
    residual = y - fit.predict(X)
    size = np.abs(fit.gamma_)
    inside, bound = size == 0, size > 1 - 1e-9
    between = ~inside & ~bound
    assert inside.any() and bound.any() and between.any()
    assert (np.abs(residual[inside]) <= eps + 1e-8).all()
    assert (np.abs(residual[bound]) >= eps - 1e-8).all()
    np.testing.assert_allclose(residual[between], eps * np.sign(fit.gamma_[between]), atol=1e-8)
    assert (size <= 1 + 1e-12).all()


@pytest.mark.parametrize("model", [EpsilonSVR, EpsilonRidge])
def test_claim_13_wide_tubes_fit_a_constant(model):
    X, y = sinc_data(30)
    fit = model(Gaussian(0.5), 0.1, np.ptp(y) / 2 + 0.01).fit(X, y)
    assert not fit.gamma_.any()
    assert np.ptp(fit.predict(X)) == 0.0
    assert fit.objective_ == 0.0
    assert fit.support_.size == 0
    low, high = fit.intercept_interval_
    assert low <= fit.intercept_ <= high


def test_experiment_1_sparsity_follows_the_noise():
    rng = np.random.default_rng(0)
    x = rng.uniform(-3, 3, 200)
    y = np.sinc(x) + 0.1 * rng.normal(size=200)
    shares = [
        EpsilonSVR(Gaussian(0.5), 0.1, eps).fit(x[:, None], y).support_.size / 200 for eps in (0.0, 0.05, 0.1, 0.2)
    ]
    assert (np.diff(shares) < 0).all()
    assert shares[0] > 0.98
    assert abs(shares[2] - 0.317) < 0.12
    assert KernelRidge(Gaussian(0.5), 0.1).fit(x[:, None], y).support_.size == 200


@pytest.mark.parametrize(("loss", "model"), [("epsilon", EpsilonSVR)])
def test_representer_solver_of_kinked_losses(loss, model):
    X, y = sinc_data(50)
    K = Gaussian(0.5)(X)
    median = representer_solve(K, y, "quantile", 0.1, quantile=0.5, weight=2.0)
    absolute = EpsilonSVR(Gaussian(0.5), 0.1, 0.0, tol=1e-9).fit(X, y)
    assert median.objective == pytest.approx(absolute.objective_, rel=1e-6)
    high = representer_solve(K, y, "quantile", 0.1, quantile=0.9)
    assert np.mean(y <= high.values + 1e-6) >= 0.88


# Features and text


def test_claim_14_random_fourier_features():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(300, 5))
    K = Gaussian(2.0)(X)
    errors = []
    for D in (100, 1000, 10_000):
        Z = RandomFourierFeatures(0.125, D, random_state=1).fit_transform(X)
        errors.append(np.abs(Z @ Z.T - K).max())
    assert errors[0] > errors[1] > errors[2]
    for error, reported in zip(errors, (0.39, 0.14, 0.034), strict=True):
        assert reported / 2 < error < 2 * reported
    slope = np.polyfit(np.log([100, 1000, 10_000]), np.log(errors), 1)[0]
    assert -0.65 < slope < -0.35


def test_feature_ridges_approach_kernel_ridge():
    X, y = sinc_data(300)
    exact = KernelRidge(Gaussian(0.5), 0.1).fit(X, y).predict(X)
    fourier = RandomFourierRidge(2.0, 0.1, 2000, random_state=0).fit(X, y).predict(X)
    landmarks = NystroemRidge(Gaussian(0.5), 0.1, 60, random_state=0).fit(X, y).predict(X)
    assert np.abs(fourier - exact).max() < 0.05
    assert np.abs(landmarks - exact).max() < 1e-4
    full = NystroemRidge(Gaussian(0.5), 0.1, 300, random_state=0).fit(X, y).predict(X)
    np.testing.assert_allclose(full, exact, atol=1e-5)


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


def test_claim_15_inverse_document_frequency():
    kernel = TextKernel().fit(DOCS)
    weights = dict(zip(kernel.vocabulary_, kernel.weights_, strict=True))
    assert weights["the"] == 0.0
    assert weights["cat"] == pytest.approx(np.log(2))
    assert weights["mat"] == pytest.approx(np.log(4))
    assert kernel(DOCS)[0, 2] == 0.0
    assert (kernel(["unseen words only", ""]) == 0).all()
    np.testing.assert_array_equal(idf_weights(sparse.csr_array((2, 3))), 0.0)
    zeros = sparse.csr_array((np.array([0.0, 1.0]), ([0, 1], [0, 0])), shape=(2, 1))
    assert idf_weights(zeros)[0] == pytest.approx(np.log(2))
    assert TextKernel(weights=None, stop_words=["the"]).fit(DOCS)(DOCS)[0, 2] == 0.0
    chosen = TextKernel(weights={"the": 0.0, "cat": 3.0}).fit(DOCS)(DOCS)
    assert chosen[0, 1] == pytest.approx(2 * 1 * 9)


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


# What the notes print, and what is right


def test_erratum_bochner_variance():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    K = Gaussian(2.0)(X)
    right = RandomFourierFeatures(0.125, 4000, random_state=0).fit_transform(X)
    printed = RandomFourierFeatures(2.0, 4000, random_state=0).fit_transform(X)
    assert np.abs(right @ right.T - K).max() < 0.1
    assert np.abs(printed @ printed.T - K).max() > 0.7


def test_erratum_centring_formula():
    K = Gaussian(1.0)(np.random.default_rng(0).normal(size=(5, 2)))
    one = np.ones((5, 1))
    wrong = K - K @ one @ one.T / 5 - one @ one.T @ K / 5 + 0.0
    right = wrong + (one.T @ K @ one) * (one @ one.T) / 25
    np.testing.assert_allclose(center_gram(K), right, atol=1e-14)
    as_printed = wrong + (one.T @ K @ one).item() / 25 * np.eye(5)
    assert np.abs(as_printed - right).max() > 0.1


def test_erratum_sign_in_the_intercept():
    X, y = sinc_data(12)
    K = Gaussian(0.5)(X)
    shifted = KernelRidge(Gaussian(0.5), 0.1).fit(X, y).dual_coef_ + 0.3
    # <sum alpha Phi0, Phi_S> for coefficients that do not sum to zero.
    direct = shifted @ (K.mean(axis=1) - K.mean())
    right = K.mean(axis=0) @ shifted - shifted.sum() * K.mean()
    printed = K.mean(axis=0) @ shifted + shifted.sum() * K.mean()
    assert direct == pytest.approx(right)
    assert abs(printed - direct) > 0.1


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


def test_erratum_the_lasso_path_is_exact():
    X, y = load_diabetes(return_X_y=True)
    path = lasso_homotopy(X, y, center=True)
    middle = 0.5 * (path.alphas[3] + path.alphas[4])
    half_way = 0.5 * (path.coefs[3] + path.coefs[4])
    np.testing.assert_allclose(Lasso(middle, tol=1e-13).fit(X, y).coef_, half_way, atol=1e-4)
    knot = Lasso(path.alphas[4], tol=1e-13).fit(X, y)
    np.testing.assert_allclose(knot.coef_, path.coefs[4], atol=1e-4)


# Interface


@parametrize_with_checks(
    [
        Ridge(),
        Lasso(alpha=0.1),
        KernelRidge(),
        KernelRidge(solver="cg"),
        EpsilonSVR(),
        EpsilonRidge(),
        RandomFourierRidge(gamma=0.02, n_components=50, random_state=0),
        NystroemRidge("linear", random_state=0),
        RandomFourierFeatures(n_components=20, random_state=0),
    ]
)
def test_scikit_learn_compatibility(estimator, check):
    check(estimator)


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
        (lambda: ridge_path(X0, Y0, [-1.0]), "alphas"),
        (lambda: B_to_lam(X0, Y0, 0.0), "B"),
        (lambda: representer_solve(np.eye(2), [1.0, 2.0], "hinge"), "labels"),
        (lambda: representer_solve(np.eye(2), [1.0, 2.0], "cubic"), "loss"),
        (lambda: representer_solve(np.eye(2), [1.0, 2.0], omega=-1.0), "omega"),
        (lambda: representer_solve(np.diag([1.0, -1.0]), [1.0, 2.0]), "semi-definite"),
        (lambda: representer_solve(np.eye(2), [1.0, 2.0], "epsilon", epsilon=-1.0), "epsilon"),
        (lambda: representer_solve(np.eye(2), [1.0, 2.0], "quantile", quantile=1.0), "quantile"),
        (lambda: is_psd_gram([[1.0, 2.0], [0.0, 1.0]]), "symmetric"),
        (lambda: kernel_margin_bound([1.0], [-1.0], 1.0), "non-negative"),
        (lambda: kernel_margin_bound([1.0], [1.0], 0.0), "gamma"),
        (lambda: kernel_margin_bound([1.0], [1.0], 1.0, norm=3), "norm"),
        (lambda: bag_of_words("one document"), "collection"),
        (lambda: bag_of_words([1]), "string"),
        (lambda: TextKernel(weights={"cat": -1.0}).fit(DOCS), "non-negative"),
        (lambda: TextKernel(weights=3).fit(DOCS), "weights"),
        (lambda: TextKernel(stop_words="the").fit(DOCS), "stop_words"),
        (lambda: TextKernel(proximity=np.eye(2)).fit(DOCS), "proximity"),
        (lambda: TextKernel(proximity={("cat", "dog"): -1.0}).fit(DOCS), "proximity"),
        (lambda: TextKernel().fit(["", "1 2"]), "no words"),
        (lambda: merge_dot([1, 0], [1.0, 1.0], [0], [1.0]), "increasing"),
        (lambda: RandomFourierFeatures(gamma=0.0).fit(X0), "gamma"),
        (lambda: RandomFourierFeatures(n_components=0).fit(X0), "n_components"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_leave_one_out_residuals_that_do_not_exist_warn():
    from learnable.kernels.kernels_and_regression import ridge_path

    X = np.random.default_rng(0).standard_normal((4, 9))
    with pytest.warns(RuntimeWarning, match="leave-one-out residuals are not determined"):
        path = ridge_path(X, np.arange(4.0), [0.0, 1.0])
    assert np.isnan(path.loo_mse[0]) and np.isfinite(path.loo_mse[1])


def test_gcv_has_a_limit_where_the_penalty_vanishes():
    """Interpolation: residuals and n - df vanish together, and n sum r^2 / (n - df)^2 tends to n sum d^2 / (tr G)^2."""
    K, y = np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([0.0, 4.0])
    small, limit = kernel_ridge_path(K, y, [1e-300, 1e-9]).gcv
    assert small == pytest.approx(limit, rel=1e-8) and np.isfinite(small)


@pytest.mark.parametrize("machine", [EpsilonSVR, EpsilonRidge])
def test_the_tolerance_has_the_unit_of_the_response(machine):
    """In another unit of y the same steps lead to the same function, and the solver stops at the same one."""
    X, y = sinc_data(40)
    alpha, epsilon, unit = 0.1, 0.05, 2.0**20  # a power of two: no digit changes
    plain = machine(gamma=0.5, alpha=alpha, epsilon=epsilon, tol=1e-3).fit(X, y)
    price = alpha / unit if machine is EpsilonSVR else alpha  # the loss has the unit of y or of its square
    scaled = machine(gamma=0.5, alpha=price, epsilon=unit * epsilon, tol=1e-3).fit(X, unit * y)
    assert scaled.n_iter_ == plain.n_iter_ > 20
    np.testing.assert_allclose(scaled.dual_coef_, unit * plain.dual_coef_, rtol=1e-12)


def test_a_column_that_others_make_up_to_rounding_counts_as_dependent():
    """Without a penalty the shortest of all solutions is asked for: B (B'B)^-1 v if X = A B' and v is that of A."""
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((4000, 2)), np.array([[1.0, 0.0], [0.0, 1.0], [0.3, -0.7]])
    y = A @ [1.0, 2.0] + rng.standard_normal(4000)
    path = ridge_path(A @ B.T, y, [0.0])
    v = np.linalg.lstsq(A - A.mean(axis=0), y - y.mean(), rcond=None)[0]
    np.testing.assert_allclose(path.coefs[0], B @ np.linalg.solve(B.T @ B, v), rtol=1e-10)
    assert path.df[0] == pytest.approx(3.0)  # two directions and the intercept


def test_newton_ends_where_the_representer_is_exact():
    """With squared hinges lam c_i = y_i (1 - y_i f_i)_+, and these sum to zero: both to rounding error."""
    x, values = sinc_data(40)
    y, K, lam = np.where(values > 0.3, 1.0, -1.0), Gaussian(0.5)(x), 1e-3
    answer = representer_solve(K, y, "hinge", lam, power=2)
    slack = y * np.maximum(1.0 - y * answer.values, 0.0)
    np.testing.assert_allclose(K @ answer.coef, K @ slack / lam, atol=1e-9)  # quasi-Newton steps alone: 1e-6
    assert abs(slack.sum()) < 1e-12


@pytest.mark.parametrize("loss", ["hinge", "epsilon", "quantile"])
def test_smoothed_losses_have_their_gradients(loss):
    """By differences, at points on both sides of the kink and inside the smooth piece."""
    f = np.linspace(-2.0, 2.0, 41) + 0.013
    y = np.where(np.arange(41) % 2, 1.0, -1.0)
    terms = _Loss(loss, y, 1, 0.1, 0.3, 2.0)
    _, gradient, _ = terms(f, 0.4)
    for i in range(0, 41, 4):
        move = 1e-6 * (np.arange(41) == i)
        assert (terms(f + move, 0.4)[0] - terms(f - move, 0.4)[0]) / 2e-6 == pytest.approx(gradient[i], abs=1e-6)
