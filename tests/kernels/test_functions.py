"""The kernel algebra: values, symmetry, derivatives, closure, and what it refuses."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from learnable.kernels.functions import (
    Centered,
    Constant,
    Exp,
    FromFunction,
    Gaussian,
    Linear,
    Normalised,
    Poly,
    Polynomial,
    PolynomialOf,
    Precomputed,
    Rank1,
    Scaled,
    Sum,
    as_kernel,
    center_gram,
    squared_distances,
)

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(7, 3)), rng.normal(size=(4, 3))
A = rng.normal(size=(3, 3))
A = A @ A.T


def first(Z):
    return np.asarray(Z)[:, 0]


KERNELS = {
    "linear": Linear(),
    "form": Linear(A),
    "polynomial": Polynomial(3, 0.5),
    "line": Polynomial(1, 0.5),
    "gaussian": Gaussian(0.7),
    "widths": Gaussian(np.array([0.5, 1.0, 2.0])),
    "constant": Constant(0.3),
    "rank1": Rank1(first),
    "sum": 2.0 * Polynomial(3, 0.5) + Linear() * Gaussian(1.0),
    "poly": Poly([0.1, 0.2, 0.3])(Gaussian(0.8)),
    "exp": Exp(Gaussian(0.5)),
    "power": (Linear() + 1.0) ** 2,
    "map": Gaussian(0.6).map(np.tanh),
    "normalised": Normalised(Polynomial(3, 0.5)),
    "centered": Centered(Gaussian(1.0) + Polynomial(2, 1.0), Y),
}


@pytest.mark.parametrize("name", KERNELS)
def test_gram_matrix_is_symmetric_and_consistent(name):
    K = KERNELS[name]
    G = K(X)
    assert (G == G.T).all()
    assert (G.diagonal() == K.diag(X)).all()
    np.testing.assert_allclose(G, K(X, X.copy()), atol=1e-12 * np.abs(G).max())
    np.testing.assert_allclose(K(X, Y), K(Y, X).T, atol=1e-12 * np.abs(G).max())
    np.testing.assert_allclose(K(X, Y)[2, 3], K(X[2:3], Y[3:4])[0, 0], atol=1e-12 * np.abs(G).max())


@pytest.mark.parametrize("name", KERNELS)
def test_gradient_is_the_difference_quotient(name):
    K = KERNELS[name]
    theta = K.parameters
    assert len(K.parameter_names) == theta.size
    for other in (None, Y):
        G = K.gradient(X, other)
        assert G.shape == (theta.size, 7, 7 if other is None else 4)
        for k in range(theta.size):
            step = np.zeros_like(theta)
            step[k] = 1e-6
            quotient = (K.with_parameters(theta + step)(X, other) - K.with_parameters(theta - step)(X, other)) / 2e-6
            np.testing.assert_allclose(G[k], quotient, atol=1e-6 * max(1.0, np.abs(quotient).max()))
    np.testing.assert_array_equal(K.gradient(X, log=True), K.gradient(X) * theta[:, None, None])
    np.testing.assert_array_equal(K.diag_gradient(X), K.gradient(X)[:, range(7), range(7)])


@pytest.mark.parametrize("name", [name for name in KERNELS if name not in ("rank1", "map")])
def test_kernels_pickle_clone_and_compare(name):
    K = KERNELS[name]
    assert pickle.loads(pickle.dumps(K)) == K
    assert clone(K, safe=False) == K
    assert K != Constant(17.0)


def test_values_of_named_kernels():
    np.testing.assert_allclose(Gaussian(0.7)(X, Y), rbf_kernel(X, Y, gamma=0.5 / 0.49), rtol=1e-12)
    np.testing.assert_allclose(
        Polynomial(3, 0.5)(X, Y), polynomial_kernel(X, Y, degree=3, gamma=1, coef0=0.5), rtol=1e-12
    )
    np.testing.assert_allclose(Linear(A)(X, Y), X @ A @ Y.T, rtol=1e-10)
    scaled = Gaussian(np.array([0.5, 1.0, 2.0]))(X, Y)
    np.testing.assert_allclose(scaled, Gaussian(1.0)(X / [0.5, 1, 2], Y / [0.5, 1, 2]), rtol=1e-12)


def test_distances_survive_a_far_origin():
    near = squared_distances(X, Y)
    np.testing.assert_allclose(squared_distances(X + 1e6, Y + 1e6), near, rtol=1e-8)
    np.testing.assert_allclose(near, ((X[:, None] - Y[None]) ** 2).sum(axis=2), rtol=1e-12)
    assert squared_distances(np.zeros((3, 2))).max() == 0.0


@pytest.mark.parametrize("n", [1, 2, 300])
def test_blocks_of_large_gram_matrices_agree(n):
    Z = np.random.default_rng(n).normal(size=(n, 2))
    G = Gaussian(1.0)(Z)
    assert (G == G.T).all()
    np.testing.assert_allclose(G, np.exp(-0.5 * ((Z[:, None] - Z[None]) ** 2).sum(axis=2)), atol=1e-13)


@pytest.mark.parametrize("K", [Linear(), Polynomial(2, 1.0), Gaussian(0.9)], ids=str)
def test_sparse_points_give_the_same_values(K):
    sparse_X, sparse_Y = sparse.csr_array(np.where(X > 0, X, 0.0)), sparse.csr_array(np.where(Y > 0, Y, 0.0))
    np.testing.assert_allclose(K(sparse_X, sparse_Y), K(sparse_X.toarray(), sparse_Y.toarray()), atol=1e-13)
    np.testing.assert_allclose(K(sparse_X), K(sparse_X.toarray()), atol=1e-13)


def test_normalised_zero_vector_stays_zero():
    G = Linear().normalised()(np.array([[0.0, 0.0], [3.0, 4.0]]))
    np.testing.assert_array_equal(G, [[0.0, 0.0], [0.0, 1.0]])


def test_centered_kernel_has_mean_zero_features():
    K = Gaussian(1.0).centered(X)
    np.testing.assert_allclose(K(X).sum(axis=0), 0.0, atol=1e-13)
    np.testing.assert_allclose(K(X), center_gram(Gaussian(1.0)(X)), atol=1e-14)
    np.testing.assert_allclose(K(Y, X), center_gram(Gaussian(1.0)(X), Gaussian(1.0)(Y, X)), atol=1e-14)


def test_column_specs_describe_the_columns():
    assert Linear().column_spec() == (0, ())
    assert Linear(A).column_spec() is None
    kind, (p, R) = Polynomial(3, 0.5).column_spec()
    assert kind == 1
    np.testing.assert_allclose((X @ Y[0] + R) ** p, Polynomial(3, 0.5)(X, Y[:1])[:, 0])
    kind, (g,) = Gaussian(0.7).column_spec()
    assert kind == 2
    np.testing.assert_allclose(np.exp(-g * ((X - Y[0]) ** 2).sum(axis=1)), Gaussian(0.7)(X, Y[:1])[:, 0])
    assert (Linear() + Linear()).column_spec() is None


def test_as_kernel():
    assert as_kernel("linear") == Linear()
    assert as_kernel("rbf", gamma=2.0) == Gaussian(0.5)
    assert as_kernel("poly", degree=3, coef0=0.5) == Polynomial(3, 0.5) == as_kernel("polynomial", p=3, R=0.5)
    K = Gaussian(2.0)
    assert as_kernel(K) is K
    np.testing.assert_array_equal(as_kernel(lambda U, V: U @ V.T)(X, Y), X @ Y.T)
    np.testing.assert_array_equal(as_kernel("precomputed")(X @ X.T), Precomputed()(X @ X.T))
    for bad, params in [
        ("cosine", {}),
        (3, {}),
        ("linear", {"p": 2}),
        (K, {"sigma": 1.0}),
        ("poly", {"p": 2, "degree": 2}),
    ]:
        with pytest.raises(ValueError):
            as_kernel(bad, **params)


def test_parameters_by_name():
    K = 2.0 * Gaussian(0.5) + Polynomial(2, 1.0)
    assert K.parameter_names == ["left__a", "left__kernel__sigma", "right__R"]
    np.testing.assert_array_equal(K.parameters, [2.0, 0.5, 1.0])
    assert K.with_parameters([1.0, 0.25, 3.0]) == Sum(Scaled(Gaussian(0.25), 1.0), Polynomial(2, 3.0))
    assert K.get_params()["left__kernel__sigma"] == 0.5
    K.set_params(left__kernel__sigma=0.1, right=Linear())
    assert K == Sum(Scaled(Gaussian(0.1), 2.0), Linear())
    with pytest.raises(ValueError, match="no parameter"):
        K.set_params(sigma=1.0)
    with pytest.raises(ValueError, match="parameters must have"):
        K.with_parameters([1.0])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: -1.0 * Linear(), "a must be"),
        (lambda: Linear() + (-1.0), "c must be"),
        (lambda: Poly([1.0, -1.0])(Linear()), "non-negative"),
        (lambda: PolynomialOf(Linear(), []), "non-negative"),
        (lambda: Linear([[0.0, 1.0], [1.0, 0.0]]), "semi-definite"),
        (lambda: Linear([[1.0, 1.0], [0.0, 1.0]]), "symmetric"),
        (lambda: Gaussian(0.0), "sigma"),
        (lambda: Gaussian([1.0, -1.0]), "sigma"),
        (lambda: Gaussian(float("nan")), "sigma"),
        (lambda: Polynomial(0), "p must be"),
        (lambda: Polynomial(2.5), "p must be"),
        (lambda: Polynomial(2, -1.0), "R must be"),
        (lambda: Linear()([[np.nan]]), "finite"),
        (lambda: Linear()([1.0, 2.0]), "one row"),
        (lambda: Linear()(X, Y[:, :2]), "same number"),
        (lambda: Gaussian()(X, Y[:, :2]), "same number"),
        (lambda: Gaussian([1.0, 2.0])(X), "coordinates"),
        (lambda: Exp(Linear())(1e3 * X), "overflow"),
        (lambda: Exp("rbf"), "Kernel"),
        (lambda: Precomputed()(X), "square"),
        (lambda: Precomputed()([[1.0, 2.0], [0.0, 1.0]]), "symmetric"),
        (lambda: FromFunction(lambda U, V: U[:, :1] - V[:, 0])(X), "symmetric"),
        (lambda: FromFunction(lambda U, V: np.ones((1, 1)))(X), "shape"),
        (lambda: Rank1(lambda U: U[:2, 0])(X), "one number"),
        (lambda: center_gram(X), "square"),
        (lambda: center_gram(np.eye(2), np.eye(3)), "columns"),
        (lambda: Centered(Linear(), np.empty((0, 2))), "at least one"),
    ],
)
def test_bad_input_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
