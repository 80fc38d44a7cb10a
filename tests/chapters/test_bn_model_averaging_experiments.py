"""The studies of the chapter: the same cell gives the same figures, and the figures show what the method promises."""

import numpy as np
import pytest

from learnable.chapters.bn_model_averaging import experiments


def test_ties_against_favour_the_classifier_with_more_scores():
    setting = {"shape": "10,5", "largest": 100}
    cells = [experiments.naive.cell(setting, i) for i in range(12)]
    assert cells[0] == experiments.naive.cell(setting, 0)
    half, against = (np.mean([c[f"NMA over SNN, {t}, 100"] for c in cells]) for t in ("half", "against"))
    assert against > half


def test_a_wide_cap_costs_nothing():
    wide = experiments.capping.cell({"n_nodes": 20, "max_parents": 1, "max_union": 20}, 0)["share"]
    assert wide == pytest.approx(0, abs=1e-9)


def test_four_classifiers_have_areas():
    found = experiments.four_classifiers.cell({"n_nodes": 10, "n": 200, "max_parents": 2, "max_union": 8}, 0)
    assert all(0.3 < found[f"area {name}"] <= 1 for name in ("AMA", "NMA", "GTT", "SNN"))
    expected = 100 * (found["area AMA"] - found["area SNN"]) / (1 - found["area SNN"])
    assert found["vs SNN"] == pytest.approx(expected, rel=1e-6)
    # Six nodes have at most five parents: the bound does not bind, and the two searches are one.
    loose = experiments.four_classifiers.cell({"n_nodes": 6, "n": 100, "max_parents": 5, "max_union": 5}, 0)
    assert loose["area GTT with k"] == loose["area GTT"]
    tight = experiments.four_classifiers.cell({"n_nodes": 10, "n": 800, "max_parents": 1, "max_union": 8}, 0)
    assert tight["area GTT with k"] < tight["area GTT"]


def test_parity_like_classes_need_more_than_naive_models():
    found = experiments.real_data.cell({"data": "monks_1"}, 0)
    assert found["AMA"] == 0 and found["GTT"] == 0
    assert min(found["SNN"], found["NMA"]) > 0.9


def test_alarm_and_times_run():
    found = experiments.alarm.cell({"n": 50, "node": "KINKEDTUBE"}, 0)
    assert 0.3 < found["area AMA"] <= 1
    assert experiments.times.cell({"n": 100, "method": "NMA"}, 0)["training seconds"] < 1
    assert experiments.alarm_network().n_parameters == 509


def test_bins_come_from_the_training_rows_and_missing_values_are_a_state():
    X = np.array([[float(v), v % 3] for v in range(20)])
    X[0, 0] = np.nan
    train, test, r = experiments._coded(X, np.arange(1, 11), np.arange(20), ["numeric", "nominal"])
    assert r == [6, 3]
    assert train[:, 0].tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert test[0, 0] == 5 and (test[11:, 0] == 4).all()
