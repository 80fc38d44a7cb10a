"""The studies of the chapter: the same cell gives the same figures, and the figures show what the theory says."""

import numpy as np
import pytest

from learnable.chapters.boosting_adaboost import experiments


def mean(study, repetitions, figure, **setting):
    return np.mean([study.cell(setting, r)[figure] for r in range(repetitions)])


def test_stumps_add_up_to_a_sphere():
    found = experiments.ten_gaussians.cell({"flipped": 0.0, "method": "AdaBoost"}, 0)
    tree = experiments.ten_gaussians.cell({"flipped": 0.0, "method": "one full tree"}, 0)
    assert found["test_400"] < 0.15 < tree["test_1"] < found["test_1"]
    assert found == experiments.ten_gaussians.cell({"flipped": 0.0, "method": "AdaBoost"}, 0)


def test_methods_see_the_same_data():
    ada, logit = (
        experiments.ten_gaussians.cell({"flipped": 0.2, "method": method}, 1) for method in ("AdaBoost", "LogitBoost")
    )
    # The first rule has equal weights in both, so only the same sample gives the same error.
    assert ada["train_1"] == logit["train_1"] and ada["test_1"] == logit["test_1"]
    assert ada["train_400"] != logit["train_400"]


def test_margins_grow_after_the_last_training_error():
    found = experiments.digit_margins.cell({"depth": 3}, 0)
    assert found["separated"] <= 20 and found["train_20"] == 0
    assert found["margin_20"] < found["margin_100"] < found["margin_500"]
    assert found["test_500"] < found["test_20"]


def test_noise_punishes_long_runs():
    few, many = (mean(experiments.noisy_square, 10, "risk", n=100, rounds=kind) for kind in ("root n", "20 n"))
    # Ten samples have a standard error of about 0.01 and the gap is 0.06.
    assert 0.2 < few < many - 0.02


def test_bounds_need_huge_samples():
    small = experiments.risk_bounds.cell({"n": 1000, "gamma": 0.3}, 0)
    assert small["vc"] > 4 > 1 > small["simulated"] > 4 * small["complexity"] / 0.3
    assert experiments.sample_sizes.cell({"gamma": 0.3}, 0)["vc"] == 136_535


@pytest.mark.parametrize("loss", ["hinge", "exponential"])
def test_comparison_of_risks_is_nearly_attained_and_never_broken(loss):
    found = experiments.comparison.cell({"loss": loss}, 0)
    assert found["violations"] == 0 and 0.9 < found["tightest"] <= 1


def test_margin_bound_holds_on_real_data():
    found = experiments.margin_theorem.cell({"data": "breast cancer"}, 0)
    assert found["violations"] == 0 and found["error"] <= found["bound"] and 0.1 < found["tightest"] <= 1


def test_edges_are_at_least_half_the_minimax_margin():
    found = experiments.edges.cell({"n": 30}, 0)
    assert found["spare"] >= -1e-9 and 0.9 < found["reached"] <= 1 + 1e-9
    assert found["separated"] <= found["guaranteed"]


def test_long_runs_are_overconfident():
    found = experiments.calibration.cell({"method": "LogitBoost"}, 0)
    assert found["slope_5"] > found["slope_100"] > found["slope_400"] > 0.5


def test_small_steps_go_lower():
    whole, tenth = (
        experiments.friedman.cell({"method": method}, 0) for method in ("stumps, whole steps", "stumps, tenths")
    )
    assert tenth["best"] < whole["best"] and whole["error_10"] < tenth["error_10"]


def test_smaller_steps_follow_the_lasso_more_closely_before_it_turns_back():
    coarse, fine = (experiments.lasso_gap.cell({"eps": eps}, 0) for eps in (5.0, 0.2))
    assert fine["near"] < 0.3 < coarse["near"] and fine["beyond"] > 40


def test_stumps_beat_a_line_on_mixed_columns():
    line, ada = (mean(experiments.income, 1, "log_loss", method=m) for m in ("logistic regression", "AdaBoost"))
    assert ada < line < 0.35
