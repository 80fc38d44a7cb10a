"""The studies of the chapter: the same cell gives the same figures, and the figures show what the method promises."""

import numpy as np
import pytest

from learnable.chapters.randomized_variable_elimination import experiments


def test_few_evaluations_beside_stepwise_searches():
    setting = {"data": "DNA", "learner": "bayes"}
    found = {m: experiments.wrappers.cell({**setting, "method": m}, 0) for m in ("none", "small r_max", "forward")}
    assert found["small r_max"]["evaluations"] < 0.25 * found["forward"]["evaluations"]
    assert found["small r_max"]["inputs"] < 50 < found["none"]["inputs"] == 180
    assert found["small r_max"]["error %"] < found["none"]["error %"] + 2
    assert found["small r_max"] == experiments.wrappers.cell({**setting, "method": "small r_max"}, 0)


def test_the_display_with_broken_segments_is_harder_than_wrong_labels():
    segments, labels = (
        experiments.wrappers.cell({"data": data, "learner": "bayes", "method": "filter"}, 0)["error %"]
        for data in ("LED, segments", "LED, labels")
    )
    assert segments > 20 > 12 > labels


@pytest.mark.parametrize("method", ("none", "medium r_max", "k = 1", "filter"))
def test_every_method_runs_with_trees(method):
    found = experiments.wrappers.cell({"data": "monks-2", "learner": "tree", "method": method}, 0)
    assert 1 <= found["inputs"] <= 17 and 0 <= found["error %"] < 50


def test_ten_of_a_hundred_bits_are_found():
    found = experiments.seven_of_ten.cell({"method": "RVE"}, 0)
    assert found["inputs"] == 10 and 3 < found["updates / 1e9"] < 9
    assert experiments.perceptron_cost(np.array([99])) == [189700000]


def test_comparing_with_the_best_bounds_the_drift():
    drift = {}
    for compare_to in ("previous", "best"):
        found = experiments.tolerance.cell({"tol": 0.01, "compare_to": compare_to}, 0)
        drift[compare_to] = found["inner % at end"] - found["inner % at best"]
        assert found["test % at best"] <= found["test % at end"]
    assert drift["best"] <= 1.0 + 1e-9 < drift["previous"]
