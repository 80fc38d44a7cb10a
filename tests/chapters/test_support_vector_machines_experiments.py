"""The studies of the chapter on support vector machines: same figures twice, true theorems, a complete stored file."""

import json

import numpy as np
import pytest

from learnable.book.study import find_studies
from learnable.chapters.support_vector_machines import experiments
from learnable.chapters.support_vector_machines.theory import C_to_D, margin_bounds

STUDIES = find_studies("support_vector_machines")


@pytest.mark.parametrize("name", STUDIES)
def test_a_cell_gives_the_same_figures_twice(name):
    setting, repetition = STUDIES[name].cells("lecture")[0]
    first = STUDIES[name].cell(setting, repetition)
    assert first == STUDIES[name].cell(setting, repetition)
    json.dumps(first)


def test_nu_lies_between_the_shares_and_falls_with_the_price():
    settings = [{"C": C} for C in (0.1, 1.0, 10.0)]
    for repetition in range(5):
        rows = [experiments.dictionary.cell(setting, repetition) for setting in settings]
        assert all(row["ordered"] == 1.0 for row in rows)
        assert np.all(np.diff([row["nu"] for row in rows]) <= 1e-8)
        # A has two expressions; without the margin errors the second would be smaller by far.
        np.testing.assert_allclose([row["value"] for row in rows], 1.0, atol=1e-6)


def test_the_dictionary_of_the_study_is_that_of_the_package():
    X, y = experiments.overlapping(experiments.dictionary.random_state({"C": 1.0}, 0))
    entry = C_to_D(X @ X.T, y, 1.0)
    row = experiments.dictionary.cell({"C": 1.0}, 0)
    np.testing.assert_allclose([row["D"], row["nu"]], [entry.D, entry.nu], rtol=1e-6)


def test_the_exact_risk_is_that_of_new_points():
    rng = np.random.default_rng(0)
    w = np.array([0.4, 0.5, -0.3, 0.2, 0.1])  # a poor rule, so that the beta law matters
    X, y = experiments._sphere(rng, 40_000, 5)
    wrong = np.mean(np.sign(X @ w) != y)
    # Four standard errors of a proportion from 40,000 points.
    assert abs(wrong - experiments._exact_risk(w)) < 4 * np.sqrt(0.25 / 40_000)
    assert experiments._exact_risk(w) > 0.1
    assert experiments._exact_risk(-w) == pytest.approx(1.0 - experiments._exact_risk(w))


def test_margin_bounds_are_flat_in_the_dimension_and_above_the_risk():
    rows = [experiments.dimension.cell({"d": d, "n": 4000}, 0) for d in (5, 200)]
    near = experiments.GAMMAS.index(0.4)
    ramps = [row["ramp"][near] for row in rows]
    # The share of flipped labels moves by 3 sqrt(0.02 / 4000) = 0.007 between two samples; the margin term is common.
    assert abs(ramps[0] - ramps[1]) < 0.02
    assert all(row["ramp"][near] > row["risk"] >= 0.02 for row in rows)
    complexity = margin_bounds(np.ones(4000), np.ones(4000), 1.0, 0.4).complexity
    assert all(row["ramp"][near] >= complexity for row in rows)


def test_a_bound_without_its_complexity_would_fail_somewhere():
    rows = [experiments.bounds_hold.cell({"d": 10, "gamma": 0.5, "n": 400}, r) for r in range(30)]
    assert np.mean([row["ramp"] for row in rows]) >= 0.95
    # The mean ramp alone is an average over the sample, so it lies below the risk in many of them.
    assert 0.0 < np.mean([row["bare"] for row in rows]) < 0.9


def test_the_lift_bends_the_line():
    line, lifted = (experiments.rings.cell({"machine": m, "n": 100}, 0)["error"] for m in ("line", "lifted"))
    assert lifted < 0.03 < 0.25 < line


def test_squares_have_more_support_vectors():
    setting = {"penalty": "errors", "constant": 0.1}
    errors, squares = (
        experiments.penalties.cell({**setting, "penalty": penalty}, 0) for penalty in ("errors", "squares")
    )
    assert errors["support"] < squares["support"]
    assert max(errors["error"], squares["error"]) < 0.05
