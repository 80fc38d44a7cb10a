"""A comparison from end to end: cells by `evaluate`, stored and resumed, ranked and drawn."""

import json

import numpy as np
import pytest
from matplotlib import pyplot as plt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris, load_wine
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from learnable.selection import evaluate, friedman_test, make_partitions, nemenyi_difference, rank_report, run_benchmark

SETS = {"iris": load_iris(return_X_y=True), "wine": load_wine(return_X_y=True)}
NEAR = KNeighborsClassifier(), {"n_neighbors": [1, 15]}


class Counting(ClassifierMixin, BaseEstimator):
    """Fails on wine, and counts its fits elsewhere."""

    fits = 0

    def __init__(self, depth=1):
        self.depth = depth

    def fit(self, X, y):
        if X.shape[1] == 13:
            raise ValueError("no wine")
        type(self).fits += 1
        self.classes_, self.most_ = np.unique(y), np.bincount(y).argmax()
        return self

    def predict(self, X):
        return np.full(len(X), self.most_)


def test_cells_are_those_of_evaluate_whatever_the_number_of_processes():
    found = run_benchmark(SETS, {"bayes": GaussianNB(), "near": NEAR})
    for row, (X, y) in enumerate(SETS.values()):
        alone = evaluate(NEAR[0], X, y, make_partitions(y, random_state=0), grid=NEAR[1], protocol="nested")
        assert found.accuracy[row, 1] == alone.accuracy and found.kappa[row, 1] == alone.kappa
    assert (found.fit_seconds > 0).all() and found.params["iris", "near"] == list(alone_params(SETS["iris"]))
    again = run_benchmark(SETS, {"bayes": GaussianNB(), "near": NEAR}, n_jobs=2)
    assert (again.accuracy == found.accuracy).all()


def alone_params(pair):
    X, y = pair
    return evaluate(NEAR[0], X, y, make_partitions(y, random_state=0), grid=NEAR[1], protocol="nested").params


def test_a_store_resumes_and_knows_what_a_cell_depends_on(tmp_path):
    Counting.fits = 0
    first = run_benchmark(SETS, {"own": Counting()}, store=tmp_path)
    assert Counting.fits == 4 and first.errors == {("wine", "own"): "ValueError: no wine"}
    assert np.isnan(first.accuracy[1, 0]) and first.fit_seconds.shape == (2, 1)
    run_benchmark(SETS, {"own": Counting(), "bayes": GaussianNB()}, store=tmp_path)
    assert Counting.fits == 4
    run_benchmark(SETS, {"own": Counting(depth=2)}, store=tmp_path)
    assert Counting.fits == 8  # another parameter is another cell
    X, y = SETS["iris"]
    run_benchmark({"iris": (X + 1.0, y)}, {"own": Counting(depth=2)}, store=tmp_path)
    assert Counting.fits == 12  # and so are other data under the same name
    kept = sorted(tmp_path.glob("*.json"))
    assert "iris-bayes" in kept[0].name and json.loads(kept[0].read_text())["accuracy"] > 0.9
    kept[0].write_text("{", encoding="utf-8")
    with pytest.raises(ValueError, match="no cell of a comparison: iris-bayes"):
        run_benchmark(SETS, {"bayes": GaussianNB()}, store=tmp_path)


def test_reports_rank_test_and_draw():
    rng = np.random.default_rng(3)
    table = 0.8 + 0.02 * rng.normal(size=(25, 4)) - [0.0, 0.05, 0.005, 0.1]
    report = rank_report(table, names=list("abcd"))
    assert report.names[-1] == "d" and set(report.groups) == {tuple(report.names[:2])}
    assert report.difference == nemenyi_difference(4, 25)
    assert report.friedman.f_pvalue == friedman_test(table).f_pvalue
    text = str(report.summary())
    assert (
        "The classifiers differ" in text
        and f"Not worse than {report.names[0]} by this test: {report.names[1]}." in text
    )
    ax = report.draw()
    said = {t.get_text().strip() for t in ax.texts}
    assert {f"critical difference {report.difference:.2f}"} < said and any("d" in t for t in said)
    plt.close(ax.figure)
    same = rank_report(np.tile([0.5, 0.5, 0.5], (4, 1)))
    assert "cannot be told apart" in same.summary() and same.names == (0, 1, 2)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: run_benchmark([], {"a": GaussianNB()}), "datasets must be a dict"),
        (lambda: run_benchmark({"a": 1}, {"a": GaussianNB()}), "pair"),
        (lambda: run_benchmark(SETS, {"a": (GaussianNB(), {}, 1)}), "pair"),
        (lambda: run_benchmark(SETS, {"a": 3}), "classifier"),
        (lambda: run_benchmark(SETS, {"a": GaussianNB()}, protocol="none"), "protocol"),
        (lambda: run_benchmark(SETS, {"a": GaussianNB()}, store="x", random_state=None), "random_state"),
        (lambda: rank_report(np.eye(3), names=["a", "a", "b"]), "names"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()
