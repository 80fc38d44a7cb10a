"""The studies of the chapter on kernels and regression: same figures twice, true directions, a complete stored file."""

import json

import numpy as np
import pytest

from learnable.book.study import find_studies
from learnable.chapters.kernels_and_regression import experiments
from learnable.kernels import KernelRidge
from learnable.kernels.functions import Gaussian

STUDIES = find_studies("kernels_and_regression")


@pytest.mark.parametrize("name", STUDIES)
def test_a_cell_gives_the_same_figures_twice(name):
    setting, repetition = STUDIES[name].cells("lecture")[0]
    first, second = (STUDIES[name].cell(setting, repetition) for _ in range(2))
    json.dumps(first)
    # Seconds are the one figure that a second run may change.
    assert [k for k in first if first[k] != second[k] and not k.startswith("seconds")] == []


def test_a_wider_tube_keeps_fewer_points_and_ridge_keeps_all():
    rows = [experiments.tubes.cell({"epsilon": e}, 0) for e in (0.0, 0.1, 0.3)]
    assert rows[0]["support"] > 0.95
    # 200 points: the share is within four standard errors of a proportion of the share of large noise, plus a few
    # points that hold the tube.
    for row in rows[1:]:
        margin = 4 * np.sqrt(row["noise"] * (1 - row["noise"]) / 200)
        assert row["noise"] - margin <= row["support"] <= row["noise"] + margin + 0.06
    assert all(row["ridge_support"] == 1.0 for row in rows)
    assert rows[1]["rmse"] < rows[2]["rmse"]


def test_error_is_noise_plus_bias_plus_variance():
    rows = [experiments.bias_variance.cell({"lam": lam}, 0) for lam in (0.01, 1.0, 100.0)]
    for row in rows:
        # 200 draws at 61 places: the mean of squared noise alone has a relative standard error of 1.3 %.
        assert experiments.NOISE**2 + row["bias"] + row["variance"] == pytest.approx(row["error"], rel=0.05)
    assert np.all(np.diff([row["variance"] for row in rows]) < 0)
    assert np.all(np.diff([row["bias"] for row in rows]) > 0)


def test_the_fit_of_the_bias_study_is_that_of_the_package():
    setting = {"lam": 100.0}
    X, _ = experiments.sinc_sample(experiments.bias_variance.random_state(setting, 0))
    at = np.linspace(-3.0, 3.0, 61)
    # The average fit is the fit to the average response; 200 draws leave a noise of 0.1 / sqrt(200) on each of those.
    average = KernelRidge(Gaussian(0.5), 100.0).fit(X, np.sinc(X[:, 0])).predict(at[:, None])
    bias = np.mean((average - np.sinc(at)) ** 2)
    assert experiments.bias_variance.cell(setting, 0)["bias"] == pytest.approx(bias, rel=0.02)


def test_no_penalty_interpolates_and_loses_where_scales_decrease():
    row = experiments.wide.cell({"scales": "decreasing", "d": 500, "n": 100}, 0)
    assert row["fitted"] < 1e-8
    assert row["none"] > 1.3 > row["chosen"] >= 1.0
    assert np.all(np.diff(row["train"]) > 0)


def test_narrow_kernels_make_no_training_error_but_test_errors():
    narrow, good = (experiments.moons.cell({"kernel": "Gaussian", "parameter": s}, 0) for s in (0.03, 0.5))
    assert narrow["train"] == 0.0 < good["train"]
    assert good["test"] < 0.12 < 0.2 < narrow["test"]
    line, cubic = (experiments.moons.cell({"kernel": "polynomial", "parameter": p}, 0)["test"] for p in (1, 3))
    assert cubic < line


def test_documents_are_guessed_far_better_than_by_chance():
    error = experiments.documents.cell({"kernel": "tf-idf", "normalised": True}, 0)["error"]
    assert error < 0.4  # four packages of equal size: a guess is wrong with probability 0.75


def test_random_features_come_close_and_the_printed_variance_does_not():
    few, many = (experiments.random_features.cell({"D": D}, 0) for D in (100, 3000))
    # Thirty times the features lower the error by the root of thirty, 5.5; the maximum over pairs varies by a third.
    assert few["error"] / many["error"] == pytest.approx(5.5, rel=0.4)
    assert many["printed"] > 0.5
    assert experiments.scaling.cell({"n": 300, "D": 1000}, 0)["gap"] < 0.05


def test_leave_one_out_chooses_a_kernel_that_beats_the_mean():
    X, y = experiments.sinc_sample(np.random.default_rng(0), 100)
    model = experiments.loo_ridge(X, y)
    at = np.linspace(-3, 3, 101)
    assert np.sqrt(np.mean((model.predict(at[:, None]) - np.sinc(at)) ** 2)) < 0.1
    ridge, mean = (experiments.tables.cell({"data": "diabetes", "method": m}, 0)["rmse"] for m in ("ridge", "mean"))
    assert ridge < 0.8 * mean
