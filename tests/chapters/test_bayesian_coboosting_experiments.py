"""The chapter's experiments: tiny runs have the figures that the lecture shows, and go in the right direction."""

import numpy as np
import pytest

from learnable.chapters.bayesian_coboosting import experiments
from learnable.ensembles import BayesianCoBoost, LateFusion


def test_the_names_of_the_tables_are_special_cases():
    made = {name: experiments.method(name, 0) for name in (*experiments.METHODS, *experiments.EXTRA)}
    assert isinstance(made["M1+M2"], LateFusion) and made["M1+M2"].rule == "sum"
    assert made["M1 x M2"].rule == "product"
    for name in ("M1", "M2", "Boost.M1", "Boost.M2", "Boost.Sel.M1", "Boost.Sel.M2"):
        assert made[name].use == [int(name[-1]) - 1] and made[name].update == "adaboost"
        assert (made[name].n_rounds == 1) == (name in ("M1", "M2"))
        assert (made[name].n_candidates > 1) == ("Sel" in name)
    assert made["BayCoBoost"].use is None and made["BayCoBoost"].update == "joint"
    assert isinstance(made["BayCoBoost"], BayesianCoBoost)


def test_the_ladder_in_the_small():
    figures = experiments.ladder.cell({"noise_2": 1.0, "name": "BayCoBoost", "n_rounds": 3}, 0)
    assert figures["bound_last"] < figures["bound_first"]
    assert figures["accuracy"] > 0.5 and 0 < figures["share_2"] < 1 and 0 < figures["informative"] < 1
    assert {"samme", "posterior", "sd", "train"} <= set(figures)


def test_one_view_learns_nothing_of_the_other():
    one = experiments.ladder.cell({"noise_2": 1.0, "name": "M1", "n_rounds": 1}, 0)
    assert one["accuracy"] > 0.5 and "share_2" not in one


def test_noise_dimensions_hurt():
    few, many = (experiments.noise_dimensions.cell({"n_noise": d, "name": "M1"}, 0) for d in (0, 60))
    assert few["accuracy"] > many["accuracy"] + 0.1


def test_features_of_the_appendix_carry_over_to_a_new_subject():
    raw, made = (experiments.stick_figures.cell({"features": f}, 0)["accuracy"] for f in ("raw", "appendix"))
    assert made > raw + 0.3


@pytest.mark.parametrize("weak", ["tree", "naive Bayes"])
def test_weak_learners_on_vectors(weak):
    figures = experiments.stable_learners.cell({"weak": weak, "name": "M1"}, 0)
    assert 0.2 < figures["accuracy"] < figures["train"]


def test_digits_by_rows_and_columns():
    figures = experiments.digit_views.cell({"name": "M2", "n_train": 10, "n_rounds": 1}, 0)
    assert figures["accuracy"] > 0.4


def test_the_fixed_point_takes_few_rounds():
    figures = experiments.fixed_point_rounds.cell({"n_classes": 3}, 0)
    assert figures["below_ten"] > 0.5 and 1 <= figures["rounds"] <= figures["most"]
    assert np.isfinite(figures["most"])
