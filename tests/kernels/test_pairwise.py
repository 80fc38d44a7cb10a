"""Several classes by pairs: LIBSVM's votes, one kernel for all pairs, weights of classes over the whole sample."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from learnable.kernels import SoftMarginSVM, support_vector_report
from learnable.kernels.functions import Gaussian
from learnable.kernels.svm.pairwise import pair_scores


def table(load=load_wine):
    X, y = load(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.mark.parametrize("load", [load_iris, load_wine])
@pytest.mark.parametrize("options", [{"kernel": "linear"}, {"kernel": "rbf", "class_weight": "balanced"}])
def test_scores_are_those_of_libsvm(load, options):
    X, y = table(load)
    ours = SoftMarginSVM(tol=1e-7, **options).fit(X[::2], y[::2])
    theirs = SVC(tol=1e-7, **options).fit(X[::2], y[::2])
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-4)
    assert (ours.predict(X) == theirs.predict(X)).all()
    assert ours.dual_coef_.shape == (3, len(ours.support_)) and len(ours.machines_) == len(ours.gap_) == 3


def test_labels_weights_and_precomputed_kernels():
    X, y = table()
    names = np.array(["c", "a", "b"])[y]
    weights = 1.0 + np.arange(len(y)) % 3
    plain = SoftMarginSVM(kernel="rbf", gamma=0.1, tol=1e-7).fit(X, names, weights)
    twice = SoftMarginSVM(kernel="rbf", gamma=0.1, tol=1e-7).fit(
        np.repeat(X, weights.astype(int), 0), np.repeat(names, weights.astype(int))
    )
    np.testing.assert_allclose(plain.decision_function(X), twice.decision_function(X), atol=1e-4)
    given = SoftMarginSVM(kernel="precomputed", tol=1e-7).fit(Gaussian.from_gamma(0.1)(X), names, weights)
    np.testing.assert_allclose(
        given.decision_function(Gaussian.from_gamma(0.1)(X)), plain.decision_function(X), atol=1e-4
    )
    assert set(plain.predict(X)) == {"a", "b", "c"} and plain.score(X, names) > 0.97


def test_a_pair_without_weight_and_reports_of_many_machines_are_refused():
    X, y = table()
    with pytest.raises(ValueError, match="positive weight all belong to one class"):
        SoftMarginSVM().fit(X, y, sample_weight=(y != 2).astype(float))
    with pytest.raises(ValueError, match="machines_"):
        support_vector_report(SoftMarginSVM().fit(X, y), X)
    with pytest.raises(ValueError, match="class_weight must be positive for all classes"):
        SoftMarginSVM(class_weight={0: 1.0, 1: 0.0, 2: 1.0}).fit(X, y)


def test_a_circle_of_votes_is_decided_by_the_sums():
    """0 beats 1, 1 beats 2, 2 beats 0: one vote each, so that the margins decide."""
    scores = pair_scores(np.array([[-1.0, 5.0, -1.0], [-1.0, 1.0, -5.0]]), 3)
    assert scores.argmax(axis=1).tolist() == [2, 1]
    assert (np.floor(scores + 1 / 3) == 1).all()


@pytest.mark.parametrize("options", [{}, {"kernel": "rbf"}, {"kernel": "poly", "degree": 2, "coef0": 1.0}])
@pytest.mark.parametrize("classes", [2, 3])
def test_sparse_tables_stay_sparse_and_answer_as_dense_ones(options, classes):
    X = sparse.random_array((120, 300), density=0.05, rng=0, format="coo")
    y = np.digitize(X @ np.random.default_rng(1).normal(size=300), [0.0, 1.0][: classes - 1])
    thin = SoftMarginSVM(tol=1e-8, C=10.0, **options).fit(X, y)
    full = SoftMarginSVM(tol=1e-8, C=10.0, **options).fit(X.toarray(), y)
    np.testing.assert_allclose(thin.decision_function(X), full.decision_function(X.toarray()), atol=1e-6)
    np.testing.assert_allclose(thin.decision_function(X.toarray()), full.decision_function(X.tocsc()), atol=1e-6)
    assert sparse.issparse(thin.support_vectors_) and hasattr(thin, "coef_") == (not options)


@pytest.mark.parametrize("rows", [slice(None), slice(0, 100)])
def test_a_second_fit_keeps_nothing_of_the_first(rows):
    X, y = load_iris(return_X_y=True)
    again = SoftMarginSVM().fit(X, y).set_params(kernel="rbf").fit(X[rows], y[rows])
    fresh = SoftMarginSVM(kernel="rbf").fit(X[rows], y[rows])
    np.testing.assert_array_equal(again.decision_function(X), fresh.decision_function(X))
    assert not hasattr(again, "coef_") and hasattr(again, "machines_") == hasattr(fresh, "machines_")
