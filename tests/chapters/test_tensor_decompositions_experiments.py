"""The studies of the chapter on tensor decompositions run at a tiny size, repeat themselves, and are stored whole."""

import math

import numpy as np
import pytest

from learnable import latent as td_latent
from learnable.book.study import find_studies
from learnable.chapters.tensor_decompositions import experiments
from learnable.chapters.tensor_decompositions import theory as td
from learnable.datasets import topics as experiments_topics

SLUG = "tensor_decompositions"
SETTINGS = {
    "decomposers": {"eigenvalues": "equal", "k": 5},
    "noise": {"kind": "random", "k": 4, "share": 0.2},
    "gaps": {"k": 10},
    "mixtures": {"scale": 2.0, "n": 2000},
    "dozen": {"iterations": 3},
    "chains": {"n": 5000},
    "sources": {"sd": 2.0},
}
SLOW = {"topics", "dozen", "chains"}


@pytest.fixture(scope="module")
def cells():
    """One cell of each study that is quick."""
    return {name: getattr(experiments, name).cell(setting, 0) for name, setting in SETTINGS.items() if name not in SLOW}


def test_settings_name_every_study():
    assert set(SETTINGS) | SLOW == set(find_studies(SLUG))


@pytest.mark.parametrize("name", [name for name in SETTINGS if name not in SLOW])
def test_a_cell_gives_the_same_figures_twice_and_other_repetitions_other_ones(cells, name):
    study = getattr(experiments, name)
    assert study.cell(SETTINGS[name], 0) == cells[name] != study.cell(SETTINGS[name], 1)
    assert all(map(math.isfinite, cells[name].values()))


def test_power_method_survives_equal_eigenvalues_and_flattening_does_not(cells):
    found = cells["decomposers"]
    assert found["power"] < 0.05 and found["joint"] < 0.05 and found["flattening"] > 0.3
    assert found["starts"] < 3 and found["far"] == 0


def test_aimed_noise_moves_the_weakest_component_most():
    random, aimed = (experiments.noise.cell({"kind": kind, "k": 8, "share": 0.2}, 0) for kind in ("random", "aimed"))
    # To first order the weakest component moves by |E(I, v, v)| / lambda = (sqrt(3) / 2) eps / lambda.
    assert aimed["eigenvector"] == pytest.approx(math.sqrt(3) / 2, rel=0.1)
    assert random["within"] == aimed["within"] == 1 and random["eigenvector"] < aimed["eigenvector"]


def test_gaps_are_those_of_the_contracted_tensor():
    rng = experiments.gaps.random_state({"k": 5}, 0)
    eta = rng.normal(size=(200, 5))
    eta /= np.linalg.norm(eta, axis=1, keepdims=True)
    T, smallest = td.sym_rank_one_sum(np.ones(5), np.eye(5)), []
    for direction in eta:
        smallest.append(np.diff(np.linalg.eigvalsh(td.T_IIu(T, direction))).min())
    assert experiments.gaps.cell({"k": 5}, 0)["gap"] == pytest.approx(np.median(smallest), rel=1e-9)


def test_cumulant_does_not_see_the_noise_and_fastica_does(cells):
    assert cells["sources"]["cumulant"] < 0.3 < cells["sources"]["FastICA"]


def test_em_from_the_tensor_is_as_good_as_from_the_truth(cells):
    assert cells["mixtures"]["start_misses"] == 0 and cells["mixtures"]["polished"] < 0.5


def test_more_iterations_change_less():
    few, many = (experiments.dozen.cell({"iterations": n}, 0)["change"] for n in (1, 12))
    assert many < 0.02 < few


def test_stored_race_agrees_with_a_fresh_tensor_fit():
    """The stored topic error at alpha0 = 0.3 is that of the estimator, on a corpus of our own."""
    made = experiments_topics.make_topics(2000, n_words=200, k=5, alpha0=0.3, random_state=7)
    found = td_latent.LDATensor(5, 0.3, random_state=0).fit(made.data).components_
    order, _ = td.match_components(found, made.topics)
    error = np.abs(found[order] - made.topics).sum(axis=1).mean()
    assert experiments.topics.stored.mean("told", alpha0=0.3) == pytest.approx(error, abs=0.05)
