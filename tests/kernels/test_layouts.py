"""Memory layout and precision of what comes in change nothing: C, Fortran, strided and read-only arrays, float32."""

import numpy as np
import pytest
from sklearn.base import clone

from learnable.highdim import QUIC, DebiasedLasso, GraphicalLassoQUIC
from learnable.highdim.debiased_lasso import decorrelate
from learnable.kernels import (
    DualCoordinateSVM,
    EpsilonRidge,
    EpsilonSVR,
    HardMarginSVM,
    KernelRidge,
    NuSVM,
    RandomFourierRidge,
    SoftMarginSVM,
    SquaredNuSVM,
    SVMPath,
    smo,
)
from learnable.linalg.precision import factor, factor_inverse
from learnable.linear import Lasso, Ridge
from learnable.optim.coordinate_descent import lasso_path, solve_gram, solve_gram_batch, solve_lasso


def layouts(A):
    """The same numbers: C, Fortran, every second entry of a larger array, read-only."""
    wide = np.zeros(tuple(2 * n for n in A.shape))
    strided = wide[tuple(slice(None, None, 2) for _ in A.shape)]
    strided[...] = A
    frozen = A.copy()
    frozen.setflags(write=False)
    return {"Fortran": np.asfortranarray(A), "strided": strided, "read-only": frozen}


def single(A):
    """Numbers that single precision holds exactly."""
    return np.round(A * 64) / 64


MODELS = {
    "SoftMarginSVM": SoftMarginSVM(kernel="rbf"),
    "SoftMarginSVM double": SoftMarginSVM(norm=2, tol=1e-8),
    "HardMarginSVM": HardMarginSVM(kernel="rbf", gamma=1.0),
    "NuSVM": NuSVM(nu=0.4, kernel="rbf"),
    "SquaredNuSVM": SquaredNuSVM(D=0.02),
    "DualCoordinateSVM": DualCoordinateSVM(),
    "SVMPath": SVMPath(lam_min=1e-2),
    "KernelRidge": KernelRidge(alpha=0.3),
    "KernelRidge dual ascent": KernelRidge(alpha=0.3, solver="dual_ascent"),
    "EpsilonSVR": EpsilonSVR(alpha=0.3),
    "EpsilonRidge": EpsilonRidge("linear", alpha=0.3),
    "RandomFourierRidge": RandomFourierRidge(alpha=0.3, n_components=10, random_state=0),
    "Ridge": Ridge(alpha=0.3),
    "Lasso": Lasso(alpha=0.05),
    "DebiasedLasso": DebiasedLasso(),
    "GraphicalLassoQUIC": GraphicalLassoQUIC(alpha=0.1),
}


def answer(model, X):
    for name in ("decision_function", "predict"):
        if hasattr(model, name):
            return getattr(model, name)(X)
    return model.precision_


@pytest.mark.parametrize("name", MODELS)
def test_estimators_do_not_see_memory_or_precision(name):
    rng = np.random.default_rng(0)
    X = single(rng.standard_normal((40, 3)))
    f = single(X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.5 * rng.standard_normal(40))
    y = f if name in ("DebiasedLasso", "Lasso", "Ridge") or "Ridge" in name or "SVR" in name else (f > 0.3) * 1.0
    expected = answer(clone(MODELS[name]).fit(X, y), X)
    for table, response in zip(layouts(X).values(), layouts(y).values(), strict=True):
        found = answer(clone(MODELS[name]).fit(table, response), table)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-10)
    rough = clone(MODELS[name]).fit(X.astype(np.float32), y.astype(np.float32))
    np.testing.assert_allclose(answer(rough, X.astype(np.float32)), expected, rtol=1e-9, atol=1e-10)


def problems():
    rng = np.random.default_rng(1)
    X = single(rng.standard_normal((30, 6)))
    S, y = single(X.T @ X / 30), single(X[:, 0] + rng.standard_normal(30))
    labels = np.where(y > 0, 1, -1)
    K = single(X @ X.T)
    return {
        "solve_lasso": (lambda X, y: solve_lasso(X, y, 0.1).coef, (X, y)),
        "solve_lasso residual": (lambda X, y: solve_lasso(X, y, 0.1, mode="residual").coef, (X, y)),
        "lasso_path": (lambda X, y: lasso_path(X, y, n_alphas=5).coefs, (X, y)),
        "solve_gram": (lambda S, c: solve_gram(S, c, 0.1).coef, (S, S[0])),
        "solve_gram_batch": (lambda S: solve_gram_batch(S, S, 0.1).coefs, (S,)),
        "decorrelate": (lambda S: decorrelate(S, 0.1).M, (S,)),
        "QUIC": (lambda S: QUIC(S, 0.1)[0], (S,)),
        "factor_inverse": (lambda S: factor_inverse(factor(S)), (S,)),
        "smo classification": (lambda K: smo.classification(K, labels, 1.0, tol=1e-8).beta, (K,)),
        "smo without intercept": (lambda K: smo.classification(K, labels, 1.0, equality=False, tol=1e-8).beta, (K,)),
        "smo regression": (lambda K, y: smo.regression(K, y, epsilon=0.1, C=1.0, tol=1e-8).beta, (K, y)),
    }


@pytest.mark.parametrize("name", problems())
def test_solvers_do_not_see_memory_or_precision(name):
    solve, arguments = problems()[name]
    expected = solve(*arguments)
    for changed in zip(*(layouts(a).values() for a in arguments), strict=True):
        np.testing.assert_allclose(solve(*changed), expected, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(solve(*(a.astype(np.float32) for a in arguments)), expected, rtol=1e-9, atol=1e-10)
