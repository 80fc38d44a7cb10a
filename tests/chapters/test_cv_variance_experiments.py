"""The studies of the chapter on cross-validation: the same figures twice, and what a broken method would change."""

import pytest

from learnable.chapters.cv_variance import experiments


def test_gamma_carries_the_variance_of_small_samples():
    found = experiments.variance.cell({"n": 60, "outliers": False}, 0)
    assert found == experiments.variance.cell({"n": 60, "outliers": False}, 0)
    assert found["gamma_part"] > found["sigma2_part"] > found["omega_part"] > 0
    assert found["mean"] == pytest.approx(1 + 30 / 23, abs=0.1)
    assert found["naive"] < 0.5 * found["variance"]


def test_two_folds_train_with_too_few():
    two, ten = (experiments.folds.cell({"n_folds": k, "outliers": False}, 0) for k in (2, 10))
    assert two["variance"] > 2 * ten["variance"] and two["omega_part"] > 5 * ten["omega_part"]


def test_trees_on_letter_are_better_than_guessing():
    found = experiments.trees.cell({"n": 100}, 0)
    assert 0.2 < found["mean"] < 0.45
    assert found["naive"] == pytest.approx(found["mean"] * (1 - found["mean"]) / 99, rel=0.05)  # errors are 0 or 1


def test_coverage_orders_the_intervals():
    found = experiments.coverage.cell({"n": 50, "outliers": False}, 0)
    assert found["naive"] < found["corrected"] < 0.95
    assert found["nested"] > found["naive"] + 0.1


def test_expected_error_is_that_of_a_large_test_set():
    assert experiments.expected_error(54) == pytest.approx(2.3043, abs=1e-4)
    assert experiments._truth(54, 0.0) == experiments.expected_error(54)
