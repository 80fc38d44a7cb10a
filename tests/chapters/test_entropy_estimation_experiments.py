"""The studies of the chapter on entropy run at a tiny size, repeat themselves, and their stored figures are whole."""

import numpy as np
import pytest
from scipy import special

from learnable import latent as ee
from learnable.book.study import find_studies
from learnable.chapters.entropy_estimation import experiments
from learnable.datasets.counts import discrete_law

SETTINGS = {
    "race": {"law": "PY(0.4, 100)", "n": 100},
    "words": {"n": 300},
    "spikes": {"n": 300},
    "crowding": {"law": "1/i"},
    "prior_entropy": {"prior": "PYM"},
    "parameters": {"n": 100},
    "posterior_shape": {"law": "low entropy"},
}


@pytest.mark.parametrize("name", SETTINGS)
def test_a_cell_gives_the_same_figures_twice_and_other_repetitions_other_ones(name):
    study = find_studies("entropy_estimation")[name]
    first = study.cell(SETTINGS[name], 0)
    assert first == study.cell(SETTINGS[name], 0)
    if name in ("race", "words", "spikes"):
        assert first != study.cell(SETTINGS[name], 1)
    assert all(v is None or np.isfinite(v).all() for v in first.values())


def test_settings_name_every_study():
    assert set(SETTINGS) == set(find_studies("entropy_estimation"))


def test_race_has_the_errors_of_the_package():
    found = experiments.race.cell({"law": "uniform", "n": 300}, 0)
    rng = experiments.race.random_state({"law": "uniform", "n": 300}, 0)
    counts = rng.multinomial(300, discrete_law("uniform", 1000))
    assert found["plugin"] == pytest.approx(ee.entropy_plugin(counts) - np.log(1000), abs=1e-9)
    assert found["PYM"] == pytest.approx(ee.entropy_pym(counts)[0] - np.log(1000), abs=1e-8)
    assert found["coincidences"] == 300 - np.count_nonzero(counts)
    # On a flat law plug-in is low by more than a nat and the mixture is high.
    assert found["plugin"] < -1 < 0 < found["PYM"] and found["PYM_low"] < found["PYM"] < found["PYM_high"]


def test_an_infinite_estimate_is_left_out_with_its_interval():
    cells = [experiments.race.cell({"law": "PY(0.1, 1000)", "n": 30}, i) for i in range(8)]
    without = [cell for cell in cells if cell["coincidences"] == 0]
    assert 0 < len(without) < 8
    for cell in without:
        assert cell["finite"] == 0 and all(cell[f"PYM{end}"] is None for end in ("", "_low", "_high", "_holds"))


def test_power_laws_are_not_cut_off():
    for s in (2.0, 1.5):
        p = discrete_law("zipf", 1_000_000, exponent=s)
        # The million first symbols miss a tail whose entropy is about the difference.
        tail = special.zeta(s, 1_000_001) / special.zeta(s)
        gap = experiments.zeta_entropy(s) - special.entr(p).sum()
        assert 0 < gap < 40 * tail
    assert [round(experiments.zeta_entropy(s), 4) for s in (2.0, 1.5)] == [1.6376, 3.2181]


def test_crowding_agrees_with_counting():
    rng = np.random.default_rng(0)
    p = discrete_law("zipf", 1000, exponent=1.0)
    drawn = np.mean([np.count_nonzero(rng.multinomial(4, p)) for _ in range(4000)]) / 4
    assert experiments.crowding.cell({"law": "1/i"}, 0)["share_at_4"] == pytest.approx(drawn, abs=0.005)
    grown = experiments.crowding.cell({"law": "PY(0.4, 100)"}, 0)
    assert grown["largest_n"] == 41  # E K_2 = 1 + (100 + 0.4) / 101
    assert experiments._expected_symbols("PY(0.4, 100)", None)(2) == pytest.approx(1 + 100.4 / 101)


def test_the_mixture_is_flatter_than_its_parts():
    mixed = experiments.prior_entropy.cell({"prior": "DPM"}, 0)  # 500 draws: shares have errors of 0.016
    fixed = experiments.prior_entropy.cell({"prior": "fixed"}, 0)
    # Flat means 2/3 of the draws in the middle two thirds; one component has nearly all of them there.
    assert 0.5 < mixed["middle"] < 0.75 and fixed["middle"] > 0.95
    assert max(mixed["shares"][1:5]) < 2 * min(mixed["shares"][1:5]) and max(fixed["shares"]) > 0.4


def test_gaussian_interval_crosses_zero_and_draws_do_not():
    cell = experiments.posterior_shape.cell({"law": "low entropy"}, 0)
    assert cell["gaussian_low"] < cell["drawn_low"] and cell["drawn_low"] >= 0 and cell["skewness"] > 0.3


def test_the_posterior_of_the_parameters_shrinks():
    few, many = (experiments.parameters.cell({"n": n}, 0)["area"] for n in (100, 10_000))
    assert many < few / 3


def test_stored_race_ends_at_the_truth():
    # A hundred thousand samples: every estimator but ANSB is within a tenth of a nat, and PYM within a hundredth.
    race = experiments.race.stored
    for row in (row for row in race.rows if row.setting["n"] == 100_000):
        assert abs(row.mean["PYM"]) < 0.01 and abs(row.mean["plugin"]) < 0.1, row.setting
    fresh = experiments.race.cell({"law": "Poisson", "n": 1000}, 0)
    assert abs(fresh["PYM"] - race.mean("PYM", law="Poisson", n=1000)) < 0.15  # the sd of H at N = 1,000 is 0.03
