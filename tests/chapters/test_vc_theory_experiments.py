"""The studies of the chapter: the same cell gives the same figures, and the figures show what the theory says."""

import math

import numpy as np
import pytest

from learnable.chapters.vc_theory import experiments
from learnable.chapters.vc_theory.patterns import growth_function
from learnable.chapters.vc_theory.theory import sup_dev
from learnable.foundations.tail_bounds import vc_mean


def test_large_penalties_hold_on_to_one_interval_and_let_go():
    few, many = (experiments.choosing_the_class.cell({"n": n}, 0) for n in (500, 5000))
    assert few["k, SRM"] == 1 and many["k, SRM"] == 3
    assert few["risk, SRM"] > few["risk, none"] > few["risk, oracle"]
    assert many["risk, SRM"] == many["risk, oracle"] < many["risk, none"]
    assert few == experiments.choosing_the_class.cell({"n": 500}, 0)


@pytest.mark.parametrize("family", ["half-lines", "intervals"])
def test_deviations_are_those_of_single_samples_and_stay_below_the_bound(family):
    study, setting = experiments.uniform_deviation, {"n": 20}
    samples = study.random_state(setting, 0).random((200, 20))
    single = [sup_dev(sample, family.replace("-", "_")) for sample in samples]
    assert study.cell(setting, 0)[family] == pytest.approx(np.mean(single), rel=1e-9)
    bound = vc_mean(20, log_shatter=math.log(growth_function(family.replace("-", "_"), 20)))
    assert np.mean(single) < bound
