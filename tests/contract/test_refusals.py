"""Arguments that once got past the door: each gave NaN, a crash, or an exception that explained nothing."""

import numpy as np
import pytest
from refusals import CHAIN, FUZZED, SUBSETS

from learnable.datasets.control import cart_pole_step
from learnable.datasets.functions import gp_draw
from learnable.datasets.networks import make_roll_calls
from learnable.datasets.topics import make_topics
from learnable.ensembles import StagewiseRegressor
from learnable.ensembles.boosting_path import monomials
from learnable.ensembles.margins import minimax_margin
from learnable.ensembles.votes import vote
from learnable.ensembles.weak_learners import Stump
from learnable.foundations.tail_bounds import TailBound
from learnable.kernels.svm_path import StepCurve
from learnable.latent.entropy import log_prior, log_progression
from learnable.latent.entropy.special import trigamma, trigamma_excess
from learnable.latent.hmm import HMM
from learnable.latent.tensors import frobenius_norm
from learnable.linear import GaussianBayes
from learnable.problems.base import FiniteProblem
from learnable.problems.quadrature import find_changes, graded_mesh, integrate_grid, integrate_pieces
from learnable.problems.tables import coerce_posteriors
from learnable.problems.zoo import two_gaussians
from learnable.trees.levels import LevelTree
from learnable.trees.sorted_features import best_cut
from learnable.validation import warn_not_converged

M = 1 - 2 * np.eye(3)
NONE = np.array([None, None])
X, Y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])

REFUSED = {
    "StepCurve without values": (lambda: StepCurve(np.array([]), np.array([])), "edges must have one entry more"),
    "StepCurve with edges only": (lambda: StepCurve(np.array([np.inf]), np.array([])), "edges must have one entry"),
    "TailBound of words": (lambda: TailBound("a", 0.0, 2.0), "log_factor must be an array"),
    "TailBound of rate 0": (lambda: TailBound(1.0, 0.0, 0.0), "rate must be positive"),
    "TailBound of degree -1": (lambda: TailBound(1.0, -1.0, 1.0), "degree must be not negative"),
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
    "log_progression of d": (lambda: log_progression(-1.0, 0.5, 3), "neither d nor alpha \\+ d"),
    "log_progression of n": (lambda: log_progression(1.0, 1.0, 1e300), "n must hold whole numbers"),
    "trigamma": (lambda: trigamma(10**400), "x must be an array of real numbers"),
    "trigamma_excess": (lambda: trigamma_excess(0), "x must be positive"),
    "HMM": (lambda: HMM([1.0], [[1.0]], "nonsense"), "emission must be an emission"),
    "find_changes": (lambda: find_changes(lambda x: x > 0, 1.0), "x must have 1 dimension"),
    "integrate_pieces": (lambda: integrate_pieces(lambda x: x[:, None], 1.0), "edges must have 1 dimension"),
    "graded_mesh": (lambda: graded_mesh([lambda x: -(x**2)], 1j, 2.0), "low must be a number"),
    "a label for all": (lambda: find_changes(lambda x: 0.5, [0.0, 1.0]), "what label returns must hold one number"),
    "a value for all": (lambda: integrate_pieces(lambda x: 0.5, [0.0, 1.0]), "f must return a row of values"),
    "a value for a grid": (lambda: integrate_grid(lambda x: 0.5, [[0, 1], [0, 1]]), "f must return a row of values"),
    "a density for all": (lambda: graded_mesh([lambda x: 0.5], 0.0, 1.0), r"what logpdfs\[0\] returns must hold one"),
    "coerce_posteriors": (lambda: coerce_posteriors(np.full((2, 2), None)), "a table of real numbers"),
    "FiniteProblem.cdf": (lambda: FiniteProblem([[0.5, 0.5]], [1]).cdf(0, 10**400), "x must be a number"),
    "gp_draw": (lambda: gp_draw([[0.0]], length_scale=None), "length_scale must be finite"),
    "log_prior": (lambda: log_prior(0.0, 0.0), "must not both be 0"),
    "make_topics": (lambda: make_topics(3, topics=np.zeros((0, 2))), "topics must have rows"),
    "vote of words": (lambda: vote("words", [1.0], X), "rules must be"),
    "two_gaussians": (lambda: two_gaussians(m1=1e300), "m1 must have a largest absolute value"),
    "GaussianBayes": (lambda: GaussianBayes().fit([[0.0], [1.0], [3.0], [5.0]], Y).predict([[1e200]]), "X must have"),
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
        assert minimax_margin(unit * M).vote == pytest.approx(np.full(3, 1 / 3))


def test_norms_of_tensors_do_not_overflow_and_the_power_runs_end():
    T = np.ones((2, 2, 2))
    assert frobenius_norm(T * 1e200) == pytest.approx(np.sqrt(8) * 1e200)
    assert frobenius_norm(T * 1e-200) == pytest.approx(np.sqrt(8) * 1e-200)


def test_what_is_right_still_passes():
    """Calls that fuzzing led to with good arguments: the checks refuse nothing else."""
    assert SUBSETS.error([1.0, 0]) == SUBSETS.error(np.array([0, 1])) == SUBSETS.error(c for c in (1, 0, 1))
    assert CHAIN.query([0], {1: 1}).values.shape == (2,)
