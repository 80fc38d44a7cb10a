"""The studies of the chapter: the same cell gives the same figures, and the figures show what the source printed."""

import numpy as np
import pytest

from learnable.chapters.f_measure_maximization import experiments
from learnable.chapters.f_measure_maximization.theory import top_k_values


def test_neighbours_on_scene_are_close_to_table_2():
    setting = {"data": "scene", "n_neighbors": 20, "rule": "GFM"}
    found = experiments.neighbours.cell(setting, 0)
    assert found["F"] == pytest.approx(70.29, abs=0.1) and found["Hamming"] == pytest.approx(14.09, abs=0.1)
    assert found == experiments.neighbours.cell(setting, 0)


def test_each_rule_wins_its_own_loss_on_yeast():
    found = {
        rule: experiments.neighbours.cell({"data": "yeast", "n_neighbors": 50, "rule": rule}, 0)
        for rule in ("MM", "JM", "FM", "GFM")
    }
    assert min(found, key=lambda rule: found[rule]["Hamming"]) == "MM"
    assert min(found, key=lambda rule: found[rule]["subset"]) == "JM"
    assert max(found, key=lambda rule: found[rule]["F"]) in ("FM", "GFM")


def test_independent_laws_draw_what_they_say():
    rng = np.random.default_rng(0)
    weights = experiments.draw_law("independent", 6, rng)
    Y = experiments.draw_labels(weights, 40_000, rng)
    assert Y.mean(axis=0) == pytest.approx(1 / (1 + np.exp(-np.diag(weights))), abs=0.01)
    assert abs(np.corrcoef(Y[:, 0], Y[:, 1])[0, 1]) < 0.02
    assert 0 < top_k_values(Y.mean(axis=0)).max() < 1


def test_chains_draw_what_they_say():
    rng = np.random.default_rng(1)
    weights = experiments.draw_law("chain", 4, rng)
    Y = experiments.draw_labels(weights, 60_000, rng)
    begin = (Y[:, 0] == 1) & (Y[:, 1] == 0)
    score = weights[2, 2] + weights[2, 0] - weights[2, 1]
    assert Y[begin, 2].mean() == pytest.approx(1 / (1 + np.exp(-score)), abs=0.03)


def test_the_simulation_is_the_same_for_the_same_cell():
    setting = {"law": "chain, biases around 0", "n": 50}
    found = experiments.simulations.cell(setting, 0)
    assert found == experiments.simulations.cell(setting, 0)
    assert found["JM subset"] < found["FM subset"] and found["MM Hamming"] < found["FM Hamming"]


def test_more_draws_do_not_hurt():
    few, many = (
        np.mean([experiments.draws.cell({"data": "yeast", "n_draws": n}, i)["GFM"] for i in range(2)])
        for n in (10, 300)
    )
    assert few < many


def test_the_programme_meets_the_closed_form():
    found = experiments.worst_cases.cell({"surrogate": "subset", "m": 4}, 0)
    assert found["programme"] == pytest.approx(104 / 168)
    assert found["closed form"] == pytest.approx(104 / 168)


def test_times_are_measured():
    found = experiments.times.cell({"m": 50}, 0)
    assert found["GFM"] > 0 and found["FM"] > 0
