"""The studies of the chapter: the same cell gives the same figures, and the figures show what the theory says."""

import pytest

from learnable.chapters.linear_discrimination import experiments


def test_far_points_turn_smooth_methods_around_and_not_counts():
    far = {rule: experiments.four_points.cell({"m": 120.0, "rule": rule}, 0)["risk"] for rule in experiments.GALLERY}
    assert far["exact"] < 0.03 and far["smooth count"] < 0.03
    assert min(far[rule] for rule in ("least squares", "logistic", "LDA")) > 0.4
    assert experiments.four_points.cell({"m": 10.0, "rule": "least squares"}, 0)["risk"] < 0.03


def test_least_squares_stops_above_the_bayes_risk():
    setting = {"n": 4000, "rule": "least squares"}
    stuck, free = (
        experiments.unequal_priors.cell({**setting, "rule": rule}, 0)["risk"] for rule in ("least squares", "logistic")
    )
    # The limits are 0.0895 and 0.0701; one sample of 4,000 scatters by less than 0.003 around them.
    assert stuck > 0.08 and free < 0.073
    assert experiments.unequal_priors.cell(setting, 0)["risk"] == stuck


def test_least_squares_overlooks_the_middle_class():
    masked, bent, fair = (
        experiments.masking.cell({"rule": rule}, 0) for rule in ("least squares", "quadratic terms", "LDA")
    )
    assert masked["middle"] < 0.1 < 0.3 < fair["middle"] and fair["error"] < 0.04
    assert bent["error"] == pytest.approx(0.047, abs=0.004)


def test_the_exact_line_has_the_fewest_training_errors():
    exact, smooth = (
        experiments.tumours.cell({"features": 2, "rule": rule}, 0)["training"] for rule in ("exact", "logistic")
    )
    assert exact < smooth
