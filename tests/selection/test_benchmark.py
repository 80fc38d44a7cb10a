"""The claims of Fernandez-Delgado et al. (2014), and of the tests that suit such a table."""

import time

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.dummy import DummyClassifier
from sklearn.metrics import cohen_kappa_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from learnable import selection as cb
from learnable.selection import benchmark


def test_kappa_of_scikit_learn():
    rng = np.random.default_rng(8)
    truth, said = rng.integers(4, size=200), rng.integers(4, size=200)
    said[:100] = truth[:100]
    table = np.zeros((4, 4))
    np.add.at(table, (truth, said), 1)
    assert benchmark.cohen_kappa(table) == pytest.approx(cohen_kappa_score(truth, said))
    assert benchmark.cohen_kappa(table * 1e6) == pytest.approx(benchmark.cohen_kappa(table))


def test_constant_predictor_has_kappa_zero_and_the_share_of_the_majority():
    X, y = load_wine(return_X_y=True)
    cell = cb.evaluate(DummyClassifier(), X, y, cb.make_partitions(y, random_state=0))
    assert cell.kappa == 0 and cell.accuracy == pytest.approx(71 / 178, abs=0.01)
    assert benchmark.cohen_kappa([[5, 0], [0, 0]]) == 0.0


@pytest.mark.parametrize("seed", range(3))
def test_halves_have_as_many_of_each_class(seed):
    y = np.repeat(["a", "b", "c", "d"], [7, 12, 5, 9])
    shared = cb.make_partitions(y, random_state=seed)
    train, test = shared.tuning
    assert not set(train) & set(test) and len(train) + len(test) == len(y)
    for label in "abcd":
        assert abs(np.sum(y[train] == label) - np.sum(y[test] == label)) == (1 if label != "b" else 0)
    assert abs(len(train) - len(test)) <= 1
    assert sorted(np.concatenate([test for _, test in shared.folds])) == list(range(len(y)))
    again = cb.make_partitions(y, random_state=seed)
    assert (again.tuning[0] == train).all() and all(
        (a[1] == b[1]).all() for a, b in zip(again.folds, shared.folds, strict=True)
    )


def test_a_given_split_is_kept():
    y, split = np.tile([0, 1], 10), np.repeat([0, 1], [12, 8])
    shared = cb.make_partitions(y, split=split, random_state=0)
    assert len(shared.folds) == 1
    train, test = shared.folds[0]
    assert train.tolist() == list(range(12)) and test.tolist() == list(range(12, 20))
    assert set(np.concatenate(shared.tuning)) == set(range(12))


class Memory(DecisionTreeClassifier):
    """Notes the sizes that it is fitted on."""

    seen = []

    def fit(self, X, y, **rest):
        type(self).seen.append((len(X), self.max_depth))
        return super().fit(X, y, **rest)


def test_parameters_are_chosen_on_the_halves_then_used_on_the_folds():
    X, y = load_iris(return_X_y=True)
    shared = cb.make_partitions(y, random_state=0)
    Memory.seen = []
    cell = cb.evaluate(Memory(random_state=0), X, y, shared, grid={"max_depth": [1, 3]})
    half = len(shared.tuning[0])
    assert Memory.seen[:2] == [(half, 1), (half, 3)]
    assert [depth for _, depth in Memory.seen[2:]] == [3] * 4 and cell.params == ({"max_depth": 3},)
    scores = [
        DecisionTreeClassifier(max_depth=3, random_state=0).fit(X[a], y[a]).score(X[b], y[b]) for a, b in shared.folds
    ]
    assert cell.fold_accuracy == pytest.approx(scores) and cell.accuracy == pytest.approx(np.mean(scores))


def test_ties_go_to_the_first_point_of_the_grid():
    X, y = load_iris(return_X_y=True)
    shared = cb.make_partitions(y, random_state=0)
    for order in ([1, 2], [2, 1]):
        cell = cb.evaluate(DummyClassifier(), X, y, shared, grid={"random_state": order})
        assert cell.params == ({"random_state": order[0]},)


def test_nested_never_looks_at_the_test_fold():
    X, y = load_iris(return_X_y=True)
    shared = cb.make_partitions(y, random_state=0)
    Memory.seen = []
    cell = cb.evaluate(Memory(random_state=0), X, y, shared, grid={"max_depth": [1, 3]}, protocol="nested")
    assert len(cell.params) == 4 and len(Memory.seen) == 12
    assert max(size for size, _ in Memory.seen[:8]) <= 57 < min(size for size, _ in Memory.seen[8:])


def test_an_exception_is_a_recorded_result():
    X, y = load_iris(return_X_y=True)
    shared = cb.make_partitions(y, random_state=0)
    cell = cb.evaluate(SVC(C=-1.0), X, y, shared)
    assert np.isnan(cell.accuracy) and np.isnan(cell.fold_kappa).all() and "C" in cell.error and cell.params == ()
    half = cb.evaluate(SVC(), X, y, shared, grid={"C": [-1.0, 1.0]})
    assert half.error is None and half.params == ({"C": 1.0},)  # a point that fails loses


def test_frames_pipelines_and_text_labels_pass_through():
    data = load_breast_cancer(as_frame=True)
    y = np.array(["malignant", "benign"])[data.target]
    model = make_pipeline(StandardScaler(), KNeighborsClassifier())
    shared = cb.make_partitions(y, random_state=0)
    cell = cb.evaluate(model, data.data, y, shared, grid={"kneighborsclassifier__n_neighbors": [3, 9]})
    assert cell.error is None and cell.accuracy > 0.9 and cell.kappa > 0.8


SHARED = cb.make_partitions(np.arange(40) % 2, random_state=0)


def test_wrong_types_are_refused():
    with pytest.raises(TypeError, match="estimator"):
        cb.evaluate("svm", np.zeros((40, 2)), np.arange(40) % 2, SHARED)
    with pytest.raises(TypeError, match="partitions"):
        cb.evaluate(SVC(), np.zeros((40, 2)), np.arange(40) % 2, [(0, 1)])


class _Slow(DecisionTreeClassifier):
    """Uses a little processor time in every fit, and counts the fits."""

    fits = 0

    def fit(self, X, y):
        _Slow.fits += 1
        started = time.process_time()
        while time.process_time() - started < 0.02:
            pass
        return super().fit(X, y)


def test_a_cell_that_takes_too_long_is_an_error_and_stops():
    X, y = load_iris(return_X_y=True)
    shared, grid = cb.make_partitions(y, random_state=0), {"max_depth": [1, 2, 3, 4, 5, 6, 7, 8]}
    found = cb.evaluate(_Slow(), X, y, shared, grid=grid, max_seconds=0.05)
    assert "TimeoutError" in found.error and np.isnan(found.accuracy)
    assert _Slow.fits <= 4
    whole = cb.evaluate(_Slow(), X, y, shared, grid=grid)
    assert whole.error is None and _Slow.fits >= 12
    with pytest.raises(ValueError, match="max_seconds"):
        cb.evaluate(_Slow(), X, y, shared, max_seconds=0)


def test_partitions_of_a_smaller_data_set_are_refused():
    X, y = np.arange(80.0)[:, None], np.arange(80) % 2
    with pytest.raises(ValueError, match="partitions must be those of y, with its 80 rows, got some of 40"):
        cb.evaluate(DummyClassifier(), X, y, SHARED)
    split = np.repeat([0, 1], 20)
    fixed = cb.make_partitions(y[:40], split=split, random_state=0)
    with pytest.raises(ValueError, match="80 rows"):
        cb.evaluate(DummyClassifier(), X, y, fixed)


@pytest.mark.parametrize("seed", range(3))
def test_the_only_row_of_a_class_is_for_training(seed):
    y = np.array([0] * 5 + [1] * 3 + [2] + [3] + [4] * 6)
    split = np.r_[np.zeros(len(y), int), np.ones(4, int)]
    train, test = cb.make_partitions(np.r_[y, 0, 1, 4, 4], split=split, random_state=seed).tuning
    assert {8, 9} <= set(train) and set(y[test]) <= set(y[train])
    for code in range(5):
        assert abs((y[train] == code).sum() - (y[test] == code).sum()) <= 1
