"""Arguments that once got past the door: each gave NaN, a crash, or an exception that explained nothing."""

import numpy as np
import pytest
from refusals import CHAIN, FUZZED, SUBSETS

from learnable.datasets.control import cart_pole_step
from learnable.datasets.functions import gp_draw
from learnable.datasets.networks import make_roll_calls
from learnable.datasets.topics import make_topics
from learnable.ensembles.adaboost_dynamics import (
    AdaBoostMatrix,
    block_matrix,
    crossings,
    max_margin,
    theorem5_check,
    unfolded_map,
    verify_cycle,
)
from learnable.ensembles.boosting_adaboost import StagewiseRegressor, minimax_margin, rounds_to_separate
from learnable.ensembles.boosting_l1_path import monomials, path_direction
from learnable.ensembles.boosting_l1_path.experiments import mixture
from learnable.ensembles.regression_learners import LevelTree
from learnable.ensembles.sorted_features import best_cut
from learnable.ensembles.votes import vote
from learnable.ensembles.weak_learners import Stump
from learnable.foundations.classical_rules import PlugIn, PlugInDensity
from learnable.foundations.vc_theory import TailBound, no_free_lunch
from learnable.highdim.debiased_lasso import conditional_variance, efficiency_factor
from learnable.kernels.svm_regularization_path import StepCurve
from learnable.latent.entropy_estimation import log_prior, log_progression
from learnable.latent.entropy_estimation.special import trigamma, trigamma_excess
from learnable.latent.hmm import HMM
from learnable.latent.tensor_decompositions import T_uuu, frobenius_norm, operator_norm, sym_rank_one_sum
from learnable.laws.problems import FiniteProblem
from learnable.laws.quadrature import find_changes, graded_mesh, integrate_pieces
from learnable.laws.tables import coerce_posteriors
from learnable.laws.zoo import two_gaussians
from learnable.linear.linear_discrimination import GaussianBayes
from learnable.validation import warn_not_converged

M = 1 - 2 * np.eye(3)
NONE = np.array([None, None])
X, Y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])

REFUSED = {
    "block_matrix": (lambda: block_matrix([2**62] * 4), "q must sum"),
    "unfolded_map": (lambda: unfolded_map([0, 0]), "multiple of 1/4"),
    "StepCurve without values": (lambda: StepCurve(np.array([]), np.array([])), "edges must have one entry more"),
    "StepCurve with edges only": (lambda: StepCurve(np.array([np.inf]), np.array([])), "edges must have one entry"),
    "TailBound of words": (lambda: TailBound("a", 0.0, 2.0), "log_factor must be an array"),
    "TailBound of rate 0": (lambda: TailBound(1.0, 0.0, 0.0), "rate must be positive"),
    "TailBound of degree -1": (lambda: TailBound(1.0, -1.0, 1.0), "degree must be not negative"),
    "width 0": (lambda: PlugInDensity(width=0).fit(X, Y), "width must be a number"),
    "width NaN": (lambda: PlugInDensity(width=np.nan).fit(X, Y), "width must be a number"),
    "crossings": (lambda: crossings(M, "", 3), "history must be a History"),
    "theorem5_check": (lambda: theorem5_check(M, None), "cycle must be a Cycle"),
    "verify_cycle": (lambda: verify_cycle(M, 3), "cycle must be a Cycle"),
    "rounds_to_separate": (lambda: rounds_to_separate(10, 1e-300), "u must be at least"),
    "best_cut": (lambda: best_cut([[1.0]], [1.0]), "features must be SortedFeatures"),
    "vote of None": (lambda: vote([Stump(0, 0.5, 1)] * 2, NONE, X), "alphas must be finite"),
    "vote without columns": (lambda: vote([Stump(0, 0.5, 1)], [1.0], X[:, :0]), "the columns that they ask for"),
    "stump without columns": (lambda: Stump(1, 0.5, 1).predict(X), "X must have more than 1 columns"),
    "complex stump": (lambda: Stump(0, 0.5, 1).predict(X * 1j), "X must be an array of real numbers"),
    "complex tree": (
        lambda: LevelTree(np.array([-1]), np.zeros(1), np.ones(1)).predict(X * 1j),
        "X must be an array of real numbers",
    ),
    "stages of None": (lambda: StagewiseRegressor(n_rounds=1).fit(X, [None] * 4), "y must be|Input y"),
    "stages of 1e200": (lambda: StagewiseRegressor(n_rounds=1).fit(X, Y * 1e200), "y must have a largest"),
    "monomials": (lambda: monomials([[1e154]], 3), "X must be at most"),
    "no_free_lunch": (lambda: no_free_lunch(lambda s, f, K: f, 2**62, 2), "at most a million"),
    "log_progression of d": (lambda: log_progression(-1.0, 0.5, 3), "neither d nor alpha \\+ d"),
    "log_progression of n": (lambda: log_progression(1.0, 1.0, 1e300), "n must hold whole numbers"),
    "trigamma": (lambda: trigamma(10**400), "x must be an array of real numbers"),
    "trigamma_excess": (lambda: trigamma_excess(0), "x must be positive"),
    "HMM": (lambda: HMM([1.0], [[1.0]], "nonsense"), "emission must be an emission"),
    "find_changes": (lambda: find_changes(lambda x: x > 0, 1.0), "x must have 1 dimension"),
    "integrate_pieces": (lambda: integrate_pieces(lambda x: x[:, None], 1.0), "edges must have 1 dimension"),
    "graded_mesh": (lambda: graded_mesh([lambda x: -(x**2)], 1j, 2.0), "low must be a number"),
    "coerce_posteriors": (lambda: coerce_posteriors(np.full((2, 2), None)), "a table of real numbers"),
    "FiniteProblem.cdf": (lambda: FiniteProblem([[0.5, 0.5]], [1]).cdf(0, 10**400), "x must be a number"),
    "path_direction": (lambda: path_direction(np.eye(2), [1, 1], "squared", [1.0, 0.0, 1.0]), "beta must have one"),
    "gp_draw": (lambda: gp_draw([[0.0]], length_scale=None), "length_scale must be finite"),
    "sym_rank_one_sum": (lambda: sym_rank_one_sum([1.0], [[1.0], [1.0]], order=60), "more than 2\\^30 entries"),
    "log_prior": (lambda: log_prior(0.0, 0.0), "must not both be 0"),
    "make_topics": (lambda: make_topics(3, topics=np.zeros((0, 2))), "topics must have rows"),
    "vote of words": (lambda: vote("words", [1.0], X), "rules must be"),
    "two_gaussians": (lambda: two_gaussians(m1=1e300), "m1 must have a largest absolute value"),
    "GaussianBayes": (lambda: GaussianBayes().fit([[0.0], [1.0], [3.0], [5.0]], Y).predict([[1e200]]), "X must have"),
    "T_uuu": (lambda: T_uuu(np.ones((1, 1, 1)), [1e154]), "V_1 must have a largest"),
    "cart_pole_step": (lambda: cart_pole_step(np.zeros(4) * 1j, 1), "state must be an array of real numbers"),
    "make_roll_calls": (lambda: make_roll_calls(3, separation=(0.0, np.inf)), "separation must be finite"),
    "warn_not_converged": (lambda: warn_not_converged("f", 1, 1.0, 10**400), "tol must be a number"),
}


@pytest.mark.parametrize("call", REFUSED | FUZZED)
def test_refused_with_a_reason(call):
    run, message = (REFUSED | FUZZED)[call]
    with pytest.raises((ValueError, TypeError), match=message):
        run()


def test_games_of_any_size_are_solved():
    """The linear programme's tolerances are absolute: entries of 1e154 made it fail, of 1e-12 made it guess."""
    for unit in (1e-12, 1.0, 1e154, 1e300):
        assert minimax_margin(unit * M, np.ones(3)).value / unit == pytest.approx(1 / 3, rel=1e-9)
        assert max_margin(unit * M).vote == pytest.approx(np.full(3, 1 / 3))


def test_norms_of_tensors_do_not_overflow_and_the_power_runs_end():
    T = np.ones((2, 2, 2))
    assert frobenius_norm(T * 1e200) == pytest.approx(np.sqrt(8) * 1e200)
    assert frobenius_norm(T * 1e-200) == pytest.approx(np.sqrt(8) * 1e-200)
    assert operator_norm(T, max_iter=2**62, random_state=0) == pytest.approx(2**1.5)


def test_the_default_plug_in_knows_no_units():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] + 0.3 * rng.normal(size=60) > 0).astype(int)
    plain = PlugIn().fit(X, y).predict(X)
    for unit in (1e-150, 1e-8, 1e8):
        assert (PlugIn().fit(X * unit, y).predict(X * unit) == plain).all()
    assert (plain == y).mean() > 0.8


def test_histories_are_still_accepted():
    """The checks above ask for what the package itself returns."""
    assert crossings(M, AdaBoostMatrix(M).run(40), 3) == []
    assert no_free_lunch(lambda s, f, K: np.zeros(K, int), 3, 2)[2]


def test_what_is_right_still_passes():
    """Calls that fuzzing led to with good arguments: the checks refuse nothing else."""
    assert SUBSETS.error([1.0, 0]) == SUBSETS.error(np.array([0, 1])) == SUBSETS.error(c for c in (1, 0, 1))
    assert CHAIN.query([0], {1: 1}).values.shape == (2,)
    assert conditional_variance(np.eye(2), 0, [1]) == efficiency_factor(np.eye(2), 1) == 1.0
    points, labels = mixture(0)
    assert points.shape == (100, 2) and labels.sum() == 0
