"""The studies of the chapter: the same cell gives the same figures, and the figures show what the theory says."""

import math

import numpy as np

from learnable.chapters.classical_rules import experiments
from learnable.chapters.classical_rules.theory import knn_limit_risk


def mean(study, repetitions, figure="error", **setting):
    return np.mean([study.cell(setting, r)[figure] for r in range(repetitions)])


def test_one_neighbour_stops_at_its_limit_and_growing_numbers_go_on():
    grid = (np.arange(20_000) + 0.5) / 5000
    limit = knn_limit_risk(grid / (1 + grid), 1).mean()
    one = mean(experiments.growing_samples, 4, "risk", n=5000, rule="k = 1")
    # One sample of 5,000 has a risk with a standard deviation of about 0.004.
    assert abs(one - limit) < 0.01
    assert mean(experiments.growing_samples, 4, "risk", n=5000, rule="k = n^(2/3)") < 0.32 < one


def test_boxes_fall_before_neighbours_do():
    boxes = experiments.dimension.cell({"noise": 20, "rule": "histogram"}, 0)
    many = experiments.dimension.cell({"noise": 20, "rule": "151"}, 0)
    assert many["error"] < math.log(5) / 4 < boxes["error"]
    assert boxes == experiments.dimension.cell({"noise": 20, "rule": "histogram"}, 0)


def test_consistent_estimates_do_not_make_a_consistent_rule():
    few, many = (experiments.plug_in_trap.cell({"n": n, "family": "weird_uniform"}, 0) for n in (100, 10_000))
    assert many["distance"] < 0.01 and few["risk"] > 0.5 < many["risk"]


def test_digits_have_near_twins():
    assert mean(experiments.digits, 2, rule="1") < 0.03 < 0.08 < mean(experiments.digits, 2, rule="tree")
