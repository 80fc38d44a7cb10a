"""The studies of the chapter: the same cell gives the same figures, and the figures show what the theory says."""

import math

import numpy as np
import pytest
from hmmlearn.hmm import GaussianHMM
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from learnable.chapters.hmm_alignment import experiments
from learnable.datasets import load
from learnable.latent import viterbi
from learnable.latent.hmm import HMM, GaussianEmission, baum_welch, filtering


def mean(study, repetitions, figure="error", **setting):
    return np.mean([study.cell(setting, r)[figure] for r in range(repetitions)])


@pytest.mark.parametrize("A", [1.2, 1.49, 1.51, 3.0])
def test_the_four_state_example_has_the_printed_paths_but_for_rabiners_below_three_halves(A):
    found = experiments.four_states.cell({"A": A}, 0)
    assert found["viterbi"] and found["pmap"] and found["blocks"] and found["ties"] == 4
    assert found["rabiner"] == (A > 1.5)
    # By hand: the weights of the paths through state 1 at time 2 are 20 A of 40 A + 14, over all 64ths.
    assert found["posterior"] == pytest.approx(20 * A / (40 * A + 14))


def test_the_block_theorem_holds_for_random_models():
    for r in range(4):
        found = experiments.block_theorem.cell({"states": 4}, r)
        assert found == {"unequal": 0, "less_probable": 0, "fewer_errors": 0, "impossible": 0}


def test_the_ring_trades_errors_for_probability():
    few, middle, many = (mean(experiments.ring, 4, rule=rule) for rule in ("PMAP", "k = 5", "Viterbi"))
    # Over 2,000 steps a difference of errors has a standard deviation of about 0.02, a quarter of the difference here.
    assert few < middle < many and many - few > 0.05
    assert mean(experiments.ring, 2, "impossible", rule="PMAP") == 1
    assert mean(experiments.ring, 2, "impossible", rule="PVD") == 0
    lost = [mean(experiments.ring, 2, "lost", rule=rule) for rule in ("PVD", "k = 2", "k = 50", "Viterbi")]
    assert lost[0] > lost[1] > lost[2] > lost[3] == 0


def test_settings_share_the_data_and_cells_repeat():
    one, other = (experiments.casino.cell({"rule": rule}, 3) for rule in ("PMAP", "Viterbi"))
    assert one["true_spells"] == other["true_spells"]
    assert one == experiments.casino.cell({"rule": "PMAP"}, 3)


def test_neighbours_help_at_the_casino():
    assert mean(experiments.casino, 20, rule="PMAP") < mean(experiments.casino, 20, rule="each alone") - 0.05


def test_more_data_make_more_paths():
    assert mean(experiments.distinct_paths, 1, "paths", n=400) > mean(experiments.distinct_paths, 1, "paths", n=50)


def test_a_learned_casino_comes_near_the_true_one():
    true, labels, blind = (
        experiments.learned_casino.cell({"nights": 16, "learned": learned}, 0)
        for learned in ("true model", "labels", "Baum–Welch")
    )
    assert true["six"] == 0.5 and abs(labels["six"] - 0.5) < 0.1
    assert true["error"] < labels["error"] + 0.005 < blind["error"] + 0.02
    assert blind["error"] < 1 / 3  # what saying "fair" to every roll would cost


def test_the_number_of_states_is_found_in_long_sequences():
    found = experiments.number_of_states.cell({"n": 500}, 0)
    assert found["bic"] == 3 and found["bic_right"]


def test_hmmlearn_finds_the_same_regimes_of_returns():
    """The lecture takes hmmlearn's parameters over and says that `baum_welch` finds the same ones."""
    returns = load("sp500").data.mean(axis=1)
    fit_x = returns[:838]
    pipe = make_pipeline(StandardScaler(), GaussianHMM(2, n_iter=500, tol=1e-3, random_state=0)).fit(fit_x[:, None])
    start = HMM(
        [0.5, 0.5], [[0.95, 0.05], [0.05, 0.95]], GaussianEmission([0.0, 0.1], fit_x.var() * np.array([0.3, 3]))
    )
    ours = baum_welch(start, fit_x, max_iter=500).hmm
    theirs = pipe.score(fit_x[:, None]) - 838 * math.log(pipe[0].scale_[0])  # densities in the units of the data
    assert filtering(ours, fit_x).log_likelihood == pytest.approx(theirs, abs=0.01)
    path = pipe.predict(returns[:, None])
    calm = int(pipe[1].covars_.ravel().argmin())
    assert (((path != calm) == viterbi(ours, returns)).mean()) > 0.99
