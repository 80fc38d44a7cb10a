"""Precision matrices against numpy, scikit-learn and brute force."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.covariance import log_likelihood

from learnable.linalg import precision as pr


def spd(p, seed=0):
    A = np.random.default_rng(seed).normal(size=(p, p + 3))
    return A @ A.T / p


@given(st.integers(1, 70), st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_factor_inverse_and_logdet_agree_with_numpy(p, seed):
    A = pr.check_symmetric(spd(p, seed))
    L = pr.factor(A)
    triangle, logdet, inverse = np.tril(L.T), pr.factor_logdet(L), pr.factor_inverse(L)
    assert np.array_equal(inverse, inverse.T) and inverse.flags.c_contiguous
    np.testing.assert_allclose(inverse @ A, np.eye(p), atol=1e-9 * np.linalg.cond(A))
    np.testing.assert_allclose(logdet, np.linalg.slogdet(A)[1], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(triangle, np.linalg.cholesky(A), rtol=1e-8, atol=1e-8)


def test_input_is_left_alone():
    A = spd(40)
    before = A.copy()
    pr.factor_inverse(pr.factor(A)), pr.partial_correlations(A), pr.gaussian_log_likelihood(A, A)
    assert np.array_equal(A, before)


def test_positive_definiteness_by_eigenvalues():
    rng = np.random.default_rng(1)
    for _ in range(50):
        A = rng.normal(size=(4, 4))
        A = A + A.T + rng.uniform(-1, 4) * np.eye(4)
        assert pr.is_positive_definite(A) == (np.linalg.eigvalsh(A)[0] > 0)


def test_log_likelihood_agrees_with_scikit_learn_and_with_the_density():
    from scipy.stats import multivariate_normal

    Theta = spd(5)
    X = np.random.default_rng(2).normal(size=(30, 5))
    S = X.T @ X / 30
    ours = pr.gaussian_log_likelihood(Theta, S)
    assert ours == pytest.approx(log_likelihood(S, Theta), rel=1e-12)
    assert ours == pytest.approx(multivariate_normal(cov=np.linalg.inv(Theta)).logpdf(X).mean(), rel=1e-9)


def test_partial_correlations_are_correlations_of_residuals():
    cov = spd(5, 3)
    rho = pr.partial_correlations(np.linalg.inv(cov))
    rest = [2, 3, 4]
    B = np.linalg.solve(cov[np.ix_(rest, rest)], cov[np.ix_(rest, [0, 1])])
    left = cov[:2, :2] - cov[np.ix_([0, 1], rest)] @ B
    assert rho[0, 1] == pytest.approx(left[0, 1] / np.sqrt(left[0, 0] * left[1, 1]))
    assert np.array_equal(np.diagonal(rho), np.ones(5))


def test_support_edges_and_rates_by_counting():
    rng = np.random.default_rng(4)
    A, B = (np.triu(rng.integers(-1, 2, size=(8, 8)), 1) for _ in range(2))
    A, B = A + A.T + 9 * np.eye(8), B + B.T + 9 * np.eye(8)
    pairs = [(i, j) for i in range(8) for j in range(8) if i != j]
    hits = sum(A[i, j] != 0 and B[i, j] != 0 for i, j in pairs)
    false = sum(A[i, j] != 0 and B[i, j] == 0 for i, j in pairs)
    there = sum(B[i, j] != 0 for i, j in pairs)
    assert pr.support_rates(A, B) == (hits / there, false / (56 - there))
    assert pr.support_rates(A, B, diagonal=True).tpr == (hits + 8) / (there + 8)
    assert {tuple(e) for e in pr.edge_list(A)} == {(i, j) for i, j in pairs if i < j and A[i, j] != 0}
    assert pr.support_rates(A + 1e-9, B, tol=1e-6) == pr.support_rates(A, B)
    assert np.isnan(pr.support_rates(A, np.ones((8, 8))).fpr)


@given(st.integers(1, 12), st.floats(0, 2), st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_components_are_the_finest_partition_without_large_entries_between(p, threshold, seed):
    S = spd(p, seed)
    blocks = pr.threshold_components(S, threshold)
    assert sorted(np.concatenate(blocks)) == list(range(p))
    assert [b[0] for b in blocks] == sorted(b[0] for b in blocks)
    reach = np.linalg.matrix_power(((np.abs(S) > threshold) | np.eye(p, dtype=bool)).astype(float), p) > 0
    for block in blocks:
        assert np.array_equal(np.flatnonzero(reach[block[0]]), block)


def test_entrywise_thresholds():
    S = np.full((3, 3), 0.5)
    assert len(pr.threshold_components(S, np.array([[0, 1, 1], [1, 0, 0.1], [1, 0.1, 0]]))) == 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pr.check_symmetric(np.ones((2, 3)), "S"), "square"),
        (lambda: pr.check_symmetric(np.empty((0, 0)), "S"), "at least one row"),
        (lambda: pr.check_symmetric([[1, np.nan], [np.nan, 1]], "S"), "finite"),
        (lambda: pr.check_symmetric([[1, 2], [3, 1]], "S"), "symmetric"),
        (lambda: pr.check_symmetric([1.0, 2.0], "S"), "dimension"),
        (lambda: pr.partial_correlations([[1, 2], [2, 1]]), "positive definite"),
        (lambda: pr.partial_correlations(-np.eye(2)), "positive definite"),
        (lambda: pr.partial_correlations(np.zeros((2, 2))), "positive definite"),
        (lambda: pr.gaussian_log_likelihood(np.eye(2), np.eye(3)), "shape"),
        (lambda: pr.gaussian_log_likelihood(-np.eye(2), np.eye(2)), "positive definite"),
        (lambda: pr.support(np.eye(2), -1.0), "tol"),
        (lambda: pr.support_rates(np.eye(2), np.eye(3)), "one shape"),
        (lambda: pr.threshold_components(np.eye(2), -1.0), "non-negative"),
        (lambda: pr.threshold_components(np.eye(2), np.ones((3, 3))), "threshold"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@given(st.integers(1, 30), st.floats(0.0, 0.2), st.integers(0, 2**16), st.booleans())
@settings(max_examples=40, deadline=None)
def test_labels_of_components_are_those_of_scipy(p, density, seed, both):
    edges = np.triu(np.random.default_rng(seed).random((p, p)) < density, 1)
    pattern = sparse.csr_array(edges | edges.T if both else edges)
    count, labels = pr.component_labels(pattern.indptr, pattern.indices)
    expected, theirs = sparse.csgraph.connected_components(pattern, directed=False)
    assert count == expected
    np.testing.assert_array_equal(labels, theirs)
    parts = pr.split_components(count, labels)
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(p))
    assert [part[0] for part in parts] == sorted(part[0] for part in parts)


def test_a_factor_that_must_not_change_is_copied():
    A = np.array([[2.0, 1.0], [1.0, 1.0]])
    L = pr.factor(A)
    L.flags.writeable = False
    kept = L.copy()
    np.testing.assert_allclose(pr.factor_inverse(L), [[1.0, -1.0], [-1.0, 2.0]], rtol=1e-12)
    np.testing.assert_array_equal(L, kept)
