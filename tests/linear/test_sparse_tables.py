"""Linear machines on scipy's sparse tables: the answers of dense ones, in the memory of sparse ones."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from learnable.kernels import DualCoordinateSVM
from learnable.linear import LeastSquaresClassifier, LogisticDiscriminant, Ridge

MACHINES = [
    (DualCoordinateSVM(C=0.02, tol=1e-6), 2, 1e-8),
    (DualCoordinateSVM(C=0.05, norm=2, tol=1e-6), 2, 1e-8),
    (LogisticDiscriminant(alpha=2.0, tol=1e-10), 2, 1e-7),
    (LogisticDiscriminant(alpha=2.0, tol=1e-10), 4, 1e-7),
    (LeastSquaresClassifier(alpha=1.0), 3, 1e-10),
    (LeastSquaresClassifier(), 3, 1e-8),
    (Ridge(alpha=0.5), 0, 1e-10),
    (Ridge(alpha=0.0), 0, 1e-8),
]


def table(n, d, classes, density=0.1, rng=0):
    rng = np.random.default_rng(rng)
    X = sparse.random_array((n, d - 1), density=density, rng=rng, format="csr")
    X.data += rng.normal(size=X.nnz)
    X = sparse.hstack([X, np.full((n, 1), 5.0)], format="csr")  # a constant column carries nothing
    score = X @ rng.normal(size=(d, max(classes, 1))) + rng.gumbel(size=(n, max(classes, 1)))
    y = np.array(["a", "b", "c", "d"])[score.argmax(axis=1)] if classes > 2 else score[:, 0]
    return X, y > np.median(y) if classes == 2 else y


@pytest.mark.parametrize(("n", "d"), [(300, 40), (80, 200)])
@pytest.mark.parametrize(("machine", "classes", "tol"), MACHINES, ids=lambda v: repr(v))
def test_sparse_tables_give_the_answers_of_dense_ones(machine, classes, tol, n, d):
    X, y = table(n, d, classes)
    dense = clone(machine).fit(X.toarray(), y)
    for form in (sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.csr_matrix):
        thin = clone(machine).fit(form(X), y)
        scale = np.abs(dense.coef_).max()
        np.testing.assert_allclose(thin.coef_, dense.coef_, atol=tol * scale)
        np.testing.assert_allclose(thin.intercept_, dense.intercept_, atol=tol * max(scale, 1.0))
        np.testing.assert_array_equal(thin.predict(form(X[:9])).shape, (9,))
        decide = "decision_function" if classes else "predict"
        np.testing.assert_allclose(
            getattr(thin, decide)(form(X[:9])), getattr(dense, decide)(X[:9].toarray()), atol=10 * tol * max(scale, 1.0)
        )


@pytest.mark.parametrize("machine", [LogisticDiscriminant(alpha=1.0), LeastSquaresClassifier(alpha=1.0)])
def test_weights_count_rows_of_a_sparse_table(machine):
    X, y = table(200, 15, 3)
    counts = np.random.default_rng(1).integers(0, 4, size=200)
    weighted = clone(machine).fit(X, y, sample_weight=counts)
    repeated = clone(machine).fit(X[np.repeat(np.arange(200), counts)], np.repeat(y, counts))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-7)
    np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, atol=1e-7)


@pytest.mark.parametrize(("machine", "classes"), [(LeastSquaresClassifier(alpha=1.0), 2), (Ridge(alpha=1.0), 0)])
@pytest.mark.parametrize(("n", "d"), [(300, 40), (80, 200)])
def test_steps_and_factors_agree(monkeypatch, machine, classes, n, d):
    X, y = table(n, d, classes)
    factored = clone(machine).fit(X, y)
    monkeypatch.setattr("learnable.linear._sparse._LARGEST_GRAM", 0)
    np.testing.assert_allclose(clone(machine).fit(X, y).coef_, factored.coef_, atol=1e-10)


def test_repeated_entries_are_added_and_the_table_is_left_alone():
    twice = sparse.csr_array((np.array([1.0, 2.0, -1.0, 0.5]), np.array([0, 0, 1, 0]), np.array([0, 2, 3, 4])), (3, 2))
    y = [0, 1, 0]
    for machine in (DualCoordinateSVM(tol=1e-8), LogisticDiscriminant(alpha=1.0), LeastSquaresClassifier(alpha=1.0)):
        np.testing.assert_allclose(clone(machine).fit(twice, y).coef_, machine.fit(twice.toarray(), y).coef_, atol=1e-6)
        assert twice.nnz == 4 and not twice.has_canonical_format


@pytest.mark.parametrize("classes", [2, 3])
def test_separation_is_noticed_on_sparse_tables(classes):
    from learnable.linear.logistic import SeparationWarning

    X, _ = table(60, 200, classes, density=0.3)
    y = np.arange(60) % classes
    with pytest.warns(SeparationWarning, match="complete"):
        assert LogisticDiscriminant().fit(X, y).separation_ == "complete"
    quasi = sparse.csr_array(np.array([[0.0], [1.0], [1.0], [2.0]]))
    with pytest.warns(SeparationWarning, match="quasi"):
        assert LogisticDiscriminant().fit(quasi, [0, 0, 1, 1]).separation_ == "quasi"
    three = sparse.csr_array(np.array([[0.0], [1.0], [1.0], [2.0], [2.0], [3.0]]))
    with pytest.warns(SeparationWarning):
        thin = LogisticDiscriminant().fit(three, [0, 0, 1, 1, 2, 2])
    with pytest.warns(SeparationWarning):
        assert thin.separation_ == LogisticDiscriminant().fit(three.toarray(), [0, 0, 1, 1, 2, 2]).separation_


@pytest.mark.parametrize(
    ("machine", "classes"),
    [
        (DualCoordinateSVM(C=0.01, tol=0.1), 2),
        (LogisticDiscriminant(alpha=10.0, tol=1e-4), 2),
        (LeastSquaresClassifier(alpha=100.0), 2),
        (Ridge(alpha=100.0), 0),
    ],
    ids=lambda v: repr(v),
)
def test_a_long_and_wide_table_never_becomes_dense(machine, classes):
    X, y = table(20_000, 50_000, classes, density=2e-4)
    clone(machine).fit(X[:50], y[:50])  # compiled before memory is counted
    tracemalloc.start()
    machine.fit(X, y)
    machine.predict(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100e6  # the table stores 3 MB; dense it would be 8,000
