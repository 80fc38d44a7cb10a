"""Coordinate descent and the homotopy against each other, scikit-learn and the optimality conditions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet, lars_path
from sklearn.linear_model import Lasso as SklearnLasso

from learnable.optim.coordinate_descent import lasso_path, max_alpha, solve_gram, solve_gram_batch, solve_lasso
from learnable.optim.homotopy import lasso_homotopy


def design(n, p, *, rho=0.5, seed=0, density=None):
    rng = np.random.default_rng(seed)
    if density is None:
        X = rng.normal(size=(n, p))
        for j in range(1, p):
            X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    else:
        X = sparse.random_array((n, p), density=density, rng=rng, format="csc")
    beta = np.zeros(p)
    beta[: min(8, p)] = rng.normal(size=min(8, p))
    return X, X @ beta + 0.5 * rng.normal(size=n) + 1.0


def violation(X, y, b, w, l2=0.0):
    g = X.T @ (y - X @ b) - l2 * b
    active = b != 0
    off = np.maximum(np.abs(g) - w, 0.0)
    off[active] = np.abs(g - np.sign(b) * w)[active]
    return off.max()


@pytest.mark.parametrize("mode", ["gram", "residual"])
@pytest.mark.parametrize(
    ("n", "p", "density"), [(200, 10, None), (300, 80, None), (40, 300, None), (150, 400, 0.05), (120, 700, 0.02)]
)
def test_matches_scikit_learn(mode, n, p, density):
    X, y = design(n, p, density=density)
    for share in (0.3, 0.03):
        alpha = share * max_alpha(X, y, center=True)
        ours = solve_lasso(X, y, alpha, center=True, mode=mode, tol=1e-12)
        peer = SklearnLasso(alpha=alpha, tol=1e-12, max_iter=200_000).fit(X, y)
        assert ours.converged
        assert 0 <= ours.gap <= 1e-12 * ((y - y.mean()) ** 2).mean()
        np.testing.assert_allclose(ours.coef, peer.coef_, atol=2e-5)


def test_a_large_support_of_sparse_columns():
    X, y = design(600, 1500, density=0.02, seed=3)
    alpha = 0.02 * max_alpha(X, y, center=True)
    answer = solve_lasso(X, y, alpha, center=True, tol=1e-9)
    assert np.count_nonzero(answer.coef) > 250
    Z = X.toarray() - X.toarray().mean(axis=0)
    assert answer.converged
    assert violation(Z, y - y.mean(), answer.coef, 600 * alpha) < 1e-2 * 600 * alpha


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("l2", [0.0, 0.05])
@pytest.mark.parametrize("ratio", [0.5, 0.02])
def test_sparse_path_equals_the_dense_one(center, l2, ratio):
    X, y = design(90, 240, density=0.06, seed=5)
    X = X.toarray()
    X[:, 7] = 0.0  # an empty column, a constant one and a copy
    X[:, 11] = 1.0
    X[:, 13] = X[:, 12]
    X = sparse.csc_array(X)
    weights = np.random.default_rng(2).uniform(0.5, 2.0, 240)
    weights[::9] = np.inf
    alphas = max_alpha(X, y, weights=weights, center=center) * np.array([1.2, 1.0, 0.9, 0.9, 0.5, 0.45, 0.4, ratio])
    settings = {"weights": weights, "l2": l2, "center": center, "tol": 1e-11}
    ours, dense = (lasso_path(Z, y, alphas, **settings) for Z in (X, X.toarray()))
    assert ours.converged.all()
    assert not ours.coefs[:, ::9].any()
    Z, target = X.toarray(), y
    if center:
        Z, target = Z - Z.mean(axis=0), y - y.mean()
    for alpha, b, other in zip(ours.alphas, ours.coefs, dense.coefs, strict=True):
        gradient = Z.T @ (target - Z @ b) - 90 * l2 * b
        assert (np.abs(gradient) <= 90 * alpha * weights * (1 + 1e-3))[np.isfinite(weights)].all()
        np.testing.assert_allclose(Z @ b, Z @ other, atol=1e-3)
        assert np.abs(np.abs(b[12:14]).sum() - np.abs(other[12:14]).sum()) < 1e-3
    np.testing.assert_array_equal(ours.alphas, dense.alphas)


def test_sparse_input_is_not_changed_and_duplicates_are_summed():
    X = sparse.csc_matrix(([1.0, 2.0, 3.0, 4.0, 1.5], [2, 0, 1, 1, 2], [0, 2, 4, 5]), shape=(3, 3))
    y = np.array([1.0, -2.0, 0.5])
    data, indices = X.data.copy(), X.indices.copy()
    ours = solve_lasso(X, y, 0.05, tol=1e-13).coef
    np.testing.assert_array_equal(X.data, data)
    np.testing.assert_array_equal(X.indices, indices)
    np.testing.assert_allclose(ours, solve_lasso(X.toarray(), y, 0.05, tol=1e-13).coef, atol=1e-6)


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_sparse_fit_from_a_start_and_with_long_indices(index):
    X, y = design(60, 150, density=0.1, seed=8)
    X = sparse.csc_array((X.data, X.indices.astype(index), X.indptr.astype(index)), shape=X.shape)
    alpha = 0.05 * max_alpha(X, y)
    start = np.random.default_rng(0).normal(size=150)
    there = solve_lasso(X, y, alpha, start=start, tol=1e-13)
    again = solve_lasso(X, y, alpha, start=there.coef, tol=1e-12)
    assert again.n_iter == 0
    np.testing.assert_allclose(there.coef, solve_lasso(X.toarray(), y, alpha, tol=1e-13).coef, atol=1e-5)


def test_sparse_descent_ends_where_rounding_does_and_reports_few_passes():
    X, y = design(60, 150, density=0.1, seed=8)
    alpha = 0.05 * max_alpha(X, y)
    with pytest.warns(ConvergenceWarning):
        stalled = solve_lasso(X, y, alpha, tol=1e-40)
    assert stalled.gap < 1e-14
    with pytest.warns(ConvergenceWarning, match="solve_lasso did not converge"):
        answer = solve_lasso(X, y, 0.01 * alpha, tol=1e-12, max_iter=5)
    assert not answer.converged
    assert answer.n_iter == 5
    assert not solve_lasso(X, np.zeros(60), alpha).coef.any()


def test_gap_bounds_the_suboptimality():
    X, y = design(60, 100)
    alpha = 0.05 * max_alpha(X, y)

    def objective(b):
        return 0.5 * np.mean((y - X @ b) ** 2) + alpha * np.abs(b).sum()

    best = objective(solve_lasso(X, y, alpha, tol=1e-14).coef)
    for mode in ("gram", "residual"):
        for tol in (1e-1, 1e-2, 1e-3):
            answer = solve_lasso(X, y, alpha, mode=mode, tol=tol)
            assert -1e-9 <= objective(answer.coef) - best <= answer.gap + 1e-9


def test_stopping_early_is_reported():
    X, y = design(60, 200, rho=0.95)
    alpha = 1e-4 * max_alpha(X, y)
    with pytest.warns(ConvergenceWarning, match="solve_lasso did not converge in .* raise max_iter"):
        answer = solve_lasso(X, y, alpha, tol=1e-14, max_iter=1)
    assert not answer.converged
    assert answer.gap > 1e-14 * (y @ y) / len(y)
    with pytest.warns(ConvergenceWarning, match="lasso_path at alpha"):
        path = lasso_path(X, y, [100 * alpha, alpha], tol=1e-14, max_iter=1)
    assert not path.converged[-1]
    with pytest.warns(ConvergenceWarning, match="solve_gram did not converge"):
        assert not solve_gram(X.T @ X, X.T @ y, 0.01, tol=1e-14, max_iter=1).converged
    with pytest.warns(ConvergenceWarning, match="problem 0 of solve_gram_batch"):
        assert not solve_gram_batch(X.T @ X, (X.T @ y)[None], 0.01, tol=1e-14, max_iter=1).converged[0]


@pytest.mark.parametrize("density", [None, 0.1])
def test_elastic_net(density):
    X, y = design(80, 120, density=density)
    alpha, l2 = 0.1 * max_alpha(X, y, center=True), 3.0 / 80
    for mode in ("gram", "residual"):
        ours = solve_lasso(X, y, alpha, l2=l2, center=True, mode=mode, tol=1e-13)
        peer = ElasticNet(alpha=alpha + l2, l1_ratio=alpha / (alpha + l2), tol=1e-13, max_iter=100_000).fit(X, y)
        np.testing.assert_allclose(ours.coef, peer.coef_, atol=1e-6)


def test_weights_scale_columns():
    X, y = design(50, 80)
    w = np.random.default_rng(1).uniform(0.5, 2.0, 80)
    ours = solve_lasso(X, y, 0.08, weights=w, tol=1e-13)
    rescaled = solve_lasso(X / w, y, 0.08, tol=1e-13)
    np.testing.assert_allclose(ours.coef, rescaled.coef / w, atol=1e-7)
    assert violation(X, y, ours.coef, 4.0 * w) < 1e-5


@pytest.mark.parametrize("mode", ["gram", "residual"])
def test_infinite_weights_exclude(mode):
    X, y = design(50, 80)
    w = np.ones(80)
    w[::2] = np.inf
    ours = solve_lasso(X, y, 0.08, weights=w, mode=mode, tol=1e-13)
    assert (ours.coef[::2] == 0).all()
    np.testing.assert_allclose(ours.coef[1::2], solve_lasso(X[:, 1::2], y, 0.08, tol=1e-13).coef, atol=1e-7)


@pytest.mark.parametrize("l2", [0.0, 0.7])
def test_zero_weights_are_unpenalised(l2):
    X, y = design(50, 30)
    w = np.ones(30)
    w[:3] = 0.0
    b = solve_lasso(X, y, 0.08, weights=w, l2=l2, tol=1e-13).coef
    assert violation(X, y, b, 4.0 * w, 50 * l2) < 1e-6
    least_squares = solve_lasso(X, y, 0.0, tol=1e-13).coef
    np.testing.assert_allclose(least_squares, np.linalg.lstsq(X, y, rcond=None)[0], atol=1e-8)


def test_start_does_not_change_the_answer():
    X, y = design(40, 100)
    alpha = 0.1 * max_alpha(X, y)
    start = np.random.default_rng(0).normal(size=100)
    for mode in ("gram", "residual"):
        np.testing.assert_allclose(
            solve_lasso(X, y, alpha, start=start, mode=mode, tol=1e-13).coef,
            solve_lasso(X, y, alpha, tol=1e-13).coef,
            atol=1e-5,
        )


@pytest.mark.parametrize(("n", "p"), [(100, 20), (30, 90)])
def test_path_equals_single_fits(n, p):
    X, y = design(n, p)
    path = lasso_path(X, y, n_alphas=12, ratio=0.01, center=True, tol=1e-12)
    assert (np.diff(path.alphas) < 0).all()
    assert not path.coefs[0].any()
    for alpha, b in zip(path.alphas[1:], path.coefs[1:], strict=True):
        np.testing.assert_allclose(b, solve_lasso(X, y, alpha, center=True, tol=1e-12).coef, atol=1e-5)
        assert b.any()


def test_gram_mode_without_data():
    X, y = design(60, 25)
    Q, c = X.T @ X, X.T @ y
    data = solve_lasso(X, y, 5.0 / 60, tol=1e-13)
    np.testing.assert_allclose(solve_gram(Q, c, 5.0, tol=1e-11).coef, data.coef, atol=1e-8)
    certified = solve_gram(Q, c, 5.0, y_norm2=y @ y, tol=1e-12)
    np.testing.assert_allclose(certified.coef, data.coef, atol=1e-6)
    assert certified.converged


def test_gram_mode_with_a_singular_matrix():
    X, y = design(10, 25)
    Q, c = X.T @ X, X.T @ y
    answer = solve_gram(Q, c, 0.5, y_norm2=y @ y, tol=1e-10)
    assert answer.converged
    assert violation(X, y, answer.coef, 0.5) < 1e-2


def test_batch_of_node_wise_regressions():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(200, 8)) @ rng.normal(size=(8, 8))
    S = Z.T @ Z / 200
    weights = np.where(np.eye(8), np.inf, 1.0)
    batch = solve_gram_batch(S, S, 0.1, weights=weights, y_norm2=S.diagonal(), tol=1e-12)
    coefs = batch.coefs
    assert batch.converged.all()
    assert (batch.gaps <= 1e-12 * S.diagonal()).all()
    for j in range(8):
        rest = np.delete(np.arange(8), j)
        peer = SklearnLasso(alpha=0.1, fit_intercept=False, tol=1e-13, max_iter=100_000).fit(Z[:, rest], Z[:, j])
        np.testing.assert_allclose(coefs[j, rest], peer.coef_, atol=1e-5)
        assert coefs[j, j] == 0.0
    each = solve_gram_batch(S, S[:2], [0.1, 0.2], weights=weights[:2]).coefs
    np.testing.assert_allclose(each[0], coefs[0], atol=1e-5)
    assert np.abs(each[1]).sum() < np.abs(coefs[1]).sum()


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(0, 10_000), st.integers(2, 12), st.integers(1, 20), st.booleans())
def test_homotopy_satisfies_the_conditions_at_every_knot(seed, n, p, ties):
    rng = np.random.default_rng(seed)
    X = rng.choice([-1.0, 0.0, 1.0], size=(n, p)) if ties else rng.normal(size=(n, p))
    y = rng.integers(-2, 3, n).astype(float) if ties else rng.normal(size=n)
    path = lasso_homotopy(X, y)
    scale = max(np.abs(X.T @ y).max(), 1e-12)
    for alpha, b in zip(path.alphas, path.coefs, strict=True):
        assert violation(X, y, b, n * alpha) < 1e-8 * scale
    middle = 0.5 * (path.alphas[1:] + path.alphas[:-1])
    for alpha in middle:
        assert violation(X, y, path.at(alpha), n * alpha) < 1e-8 * scale
    assert (np.diff(path.alphas) < 0).all()


def test_homotopy_has_the_knots_of_lars_and_the_values_of_descent():
    X, y = design(100, 30)
    X, y = X - X.mean(axis=0), y - y.mean()
    path = lasso_homotopy(X, y)
    alphas, _, coefs = lars_path(X, y, method="lasso")
    np.testing.assert_allclose(path.alphas, alphas, atol=1e-8 * path.alphas[0])
    np.testing.assert_allclose(path.coefs, coefs.T, atol=1e-8)
    grid = np.geomspace(0.9, 0.02, 7) * path.alphas[0]
    np.testing.assert_allclose(path.at(grid), lasso_path(X, y, grid, tol=1e-14).coefs, atol=1e-7)
    assert path.events[0] == ((int(np.argmax(np.abs(X.T @ y))),), ())
    assert path.events[-1] == ((), ())


def test_homotopy_drops_and_duplicates():
    X, y = design(50, 200, seed=5)
    path = lasso_homotopy(X, y, min_alpha=0.001)
    assert any(dropped for _, dropped in path.events)
    assert path.alphas[-1] == 0.001
    twin = np.hstack([X[:, :5], X[:, :5]])
    both = lasso_homotopy(twin, y)
    np.testing.assert_allclose(twin @ both.coefs[-1], X[:, :5] @ np.linalg.lstsq(X[:, :5], y, rcond=None)[0], atol=1e-9)
    assert lasso_homotopy(X, np.zeros(50)).alphas.tolist() == [0.0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X, y: solve_lasso(X, y, -1.0), "alpha"),
        (lambda X, y: solve_lasso(X, y, np.nan), "alpha"),
        (lambda X, y: solve_lasso(X, y, 1.0, weights=[-1.0] * 5), "weights"),
        (lambda X, y: solve_lasso(X, y, 1.0, weights=[np.nan] * 5), "weights"),
        (lambda X, y: solve_lasso(X, y, 1.0, weights=[1.0]), "weights"),
        (lambda X, y: solve_lasso(X, y, 1.0, l2=-1.0), "l2"),
        (lambda X, y: solve_lasso(X, y, 1.0, tol=0.0), "tol"),
        (lambda X, y: solve_lasso(X, y, 1.0, mode="fast"), "mode"),
        (lambda X, y: solve_lasso(X, y, 1.0, start=[0.0]), "start"),
        (lambda X, y: solve_lasso(X, y[:-1], 1.0), "one row"),
        (lambda X, y: solve_lasso(np.where(X > 0, X, np.nan), y, 1.0), "finite"),
        (lambda X, y: solve_lasso(sparse.csr_array(np.where(X > 0, X, np.inf)), y, 1.0), "finite"),
        (lambda X, y: lasso_path(X, y, [1.0, 0.0]), "alphas"),
        (lambda X, y: lasso_path(X, y, ratio=2.0), "ratio"),
        (lambda X, y: lasso_path(X, y, [1.0], weights=np.zeros(5)), "positive weights"),
        (lambda X, y: solve_gram([[1.0, 2.0], [0.0, 1.0]], [1.0, 1.0]), "symmetric"),
        (lambda X, y: solve_gram([[-1.0]], [1.0]), "semi-definite"),
        (lambda X, y: solve_gram([[1.0]], [1.0, 2.0]), "shape"),
        (lambda X, y: solve_gram([[1.0]], [1.0], -1.0), "alpha"),
        (lambda X, y: solve_gram_batch(np.eye(2), np.eye(2), y_norm2=[1.0]), "y_norm2"),
        (lambda X, y: solve_gram_batch(np.eye(2), np.eye(2), weights=-np.ones(2)), "weights"),
        (lambda X, y: lasso_homotopy(X, y[:-1]), "one row"),
        (lambda X, y: lasso_homotopy(X, y, min_alpha=-1.0), "min_alpha"),
        (lambda X, y: lasso_homotopy(X, y, min_alpha=0.1).at(0.01), "alpha"),
    ],
)
def test_bad_input_is_named(call, message):
    X, y = design(20, 5)
    with pytest.raises(ValueError, match=message):
        call(X, y)
