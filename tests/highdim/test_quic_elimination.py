"""Sparse factors below QUIC against dense linear algebra, and the bounds that save evaluations of the duality gap."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from learnable.chapters.quic_graphical_lasso.theory import duality_gap
from learnable.datasets.graphical import make_gaussian_graph
from learnable.highdim import QUIC
from learnable.highdim.quic import _kernels, elimination, penalty_matrix, solver
from learnable.highdim.quic.blocks import Blockwise, pattern_blocks
from learnable.highdim.quic.elimination import Elimination


def pattern_of(mask):
    """Starts of the rows and columns of the entries of a mask, as QUIC keeps its free set."""
    mask = sparse.csr_array(mask)
    mask.sort_indices()
    return mask.indptr.astype(np.int64), mask.indices.astype(np.int64)


def sparse_matrix(p, edges, rng, shift=1.0):
    """A diagonally dominant matrix with about so many edges; `shift` below zero makes it indefinite."""
    A = np.zeros((p, p))
    for i, j in rng.integers(0, p, size=(edges, 2)):
        if i != j:
            A[i, j] = A[j, i] = rng.normal()
    A[np.diag_indices(p)] = np.abs(A).sum(axis=1) + shift
    return A


def chain(p):
    return 2.5 * np.eye(p) - np.eye(p, k=1) - np.eye(p, k=-1)


def check(A, D, alpha, method):
    moved = A + alpha * D
    before = A.copy()
    found, logdet = method.factor(A, D, alpha)
    W = method.inverse(found)
    np.testing.assert_array_equal(A, before)
    np.testing.assert_allclose(logdet, np.linalg.slogdet(moved)[1], rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(W, np.linalg.inv(moved), rtol=1e-9, atol=1e-11)
    np.testing.assert_array_equal(W, W.T)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 60), st.integers(0, 90), st.integers(0, 10**6))
def test_factor_and_inverse_are_those_of_dense_algebra(p, edges, seed):
    rng = np.random.default_rng(seed)
    A = sparse_matrix(p, edges, rng)
    D = 0.1 * A * (rng.random((p, p)) < 0.5)
    D = D + D.T
    pattern = pattern_of(A != 0)
    for alpha in (1.0, 0.25):
        check(A, D, alpha, Elimination(*pattern))
        check(A, D, alpha, Blockwise(pattern_blocks(*pattern, p)))


@pytest.mark.parametrize("call", [0.0, 32.0, 1e9], ids=["large core", "small core", "no core"])
def test_wherever_lapack_takes_over(call, monkeypatch):
    """The plan decides about speed alone."""
    A = chain(150)
    A[0, 140] = A[140, 0] = 0.3
    monkeypatch.setattr(elimination, "CALL", call)
    monkeypatch.setattr(elimination, "_plan", elimination._plan.py_func)
    method = Elimination(*pattern_of(A != 0))
    sizes = {0.0: (1, 149), 32.0: (1, 149), 1e9: (0, 0)}[call]
    assert sizes[0] <= method.plan.core.size <= sizes[1]
    check(A, np.zeros_like(A), 1.0, method)


def test_a_chain_has_no_fill():
    """From its ends, or from any point with two neighbours, each variable goes with at most two links."""
    plan = Elimination(*pattern_of(chain(300) != 0)).plan
    assert np.diff(plan.starts).max() <= 2
    assert sorted([*plan.order, *plan.core]) == list(range(300))


@pytest.mark.parametrize("p", [5, 40, 200])
def test_indefinite_matrices_have_no_factor(p):
    rng = np.random.default_rng(p)
    A = sparse_matrix(p, p, rng)
    for k in range(0, p, max(1, p // 7)):
        bad = A.copy()
        bad[k, k] = -0.1
        pattern = pattern_of(bad != 0)
        assert Elimination(*pattern).factor(bad, np.zeros_like(A), 1.0) is None
        assert Blockwise(pattern_blocks(*pattern, p)).factor(bad, np.zeros_like(A), 1.0) is None


def test_an_order_serves_patterns_within():
    A = chain(40)
    whole = pattern_of(A != 0)
    method = Elimination(*whole)
    fewer = A.copy()
    fewer[7, 8] = fewer[8, 7] = 0.0
    more = A.copy()
    more[0, 39] = more[39, 0] = 0.1
    assert method.holds(*whole)
    assert method.holds(*pattern_of(fewer != 0))
    assert not method.holds(*pattern_of(more != 0))
    check(fewer, np.zeros_like(A), 1.0, method)


@pytest.mark.parametrize(("kind", "lam", "p"), [("chain", 0.4, 120), ("random", 0.12, 100), ("random", 0.06, 260)])
def test_sparse_and_dense_algebra_take_the_same_steps(kind, lam, p, monkeypatch):
    S = np.cov(make_gaussian_graph(kind, p // 2, p=p, random_state=0).data.T)
    X, W, history = QUIC(S, penalty_matrix(lam, p), tol=1e-6)
    monkeypatch.setattr(solver, "SPARSE", 0.0)
    monkeypatch.setattr(solver, "CHEAP", 0.0)
    dense_X, dense_W, dense = QUIC(S, penalty_matrix(lam, p), tol=1e-6)
    np.testing.assert_allclose(X, dense_X, atol=1e-9)
    np.testing.assert_allclose(W, dense_W, atol=1e-9)
    assert history.n_iter == dense.n_iter
    assert history.n_free.tolist() == dense.n_free.tolist()
    np.testing.assert_allclose(history.gap, dense.gap, rtol=1e-3, atol=1e-10)


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 25), st.floats(0.02, 0.5), st.integers(0, 10**6))
def test_bounds_of_the_gap_are_below_it(p, lam, seed):
    """An evaluation that is left out could not have ended the run."""
    rng = np.random.default_rng(seed)
    S = np.cov(rng.normal(size=(2 * p, p)).T)
    Lam = penalty_matrix(lam, p)
    X = QUIC(S, Lam, tol=10.0 ** -rng.integers(1, 6))[0]
    X = X + np.diag(rng.uniform(0, 0.02, p))
    W = np.linalg.inv(X)
    W = 0.5 * (W + W.T)
    free, _, _, _, _, bound = _kernels.scan(S, W, X, Lam)
    square, radius = _kernels.curvature_of_gap(S, W, X, Lam, free)
    G = S - W
    E = G - np.clip(G, -Lam, Lam)
    np.testing.assert_allclose(square, np.trace(X @ E @ X @ E), rtol=1e-8, atol=1e-14)
    assert radius >= np.abs(np.linalg.eigvals(X @ E)).max() * (1 - 1e-9)
    gap = duality_gap(X, S, Lam)
    assert bound <= gap + 1e-10
    assert bound + square * (0.5 - radius / 3.0) <= gap + 1e-10


def test_scan_collects_the_free_set():
    rng = np.random.default_rng(3)
    X = sparse_matrix(30, 40, rng)
    S, W, Lam = (0.5 * (M + M.T) for M in rng.normal(size=(3, 30, 30)))
    Lam = np.abs(Lam)
    starts, cols = _kernels.scan(S, W, X, Lam)[0]
    wanted = pattern_of((X != 0) | (np.abs(S - W) > Lam))
    np.testing.assert_array_equal(starts, wanted[0])
    np.testing.assert_array_equal(cols, wanted[1])


def test_starts_and_iterates_belong_to_the_caller():
    S = np.cov(make_gaussian_graph("chain", 30, p=40, random_state=0).data.T)
    Lam = penalty_matrix(0.3, 40)
    X0 = QUIC(S, penalty_matrix(0.5, 40))[0]
    before, seen = X0.copy(), []
    X = QUIC(S, Lam, X0, screen=False, callback=seen.append)[0]
    np.testing.assert_array_equal(X0, before)
    np.testing.assert_array_equal(seen[-1], X)
    assert len(seen) < 2 or not np.array_equal(seen[0], seen[-1])
