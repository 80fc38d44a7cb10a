"""Plug-in rules, histograms, nearest neighbours and CART: the claims of the source, checked."""

import numpy as np
import pytest

from learnable.foundations import ParametricPlugIn
from learnable.foundations.plug_in import weird_uniform_logpdf
from learnable.problems.zoo import two_gaussians


def weird_sample(n, rng):
    y = rng.integers(0, 2, n)
    y[:2] = 0, 1
    x = np.where(y == 1, rng.random(n), -2 * rng.random(n))
    return x[:, None], y


def test_claim_02_consistent_estimates_but_not_a_consistent_rule():
    rng = np.random.default_rng(2)
    gaps = []
    for n in (50, 500, 20_000):
        X, y = weird_sample(n, rng)
        rule = ParametricPlugIn("weird_uniform", "weird_uniform").fit(X, y)
        gaps.append(abs(rule.theta1_ - 1) + abs(rule.theta0_ - 2))
        fresh, labels = weird_sample(4000, rng)
        assert np.mean(rule.predict(fresh) != labels) >= 0.47  # P(Y = 1) = ½, and every 1 is missed
        assert (rule.predict(fresh[labels == 1]) == 0).all()
    assert gaps[-1] < 1e-3 < gaps[0]
    x = np.linspace(0.01, 0.99, 50)
    at_one = np.exp(weird_uniform_logpdf(1.0, x))
    for theta in (0.9, 0.99, 0.9999):
        assert np.abs(np.exp(weird_uniform_logpdf(theta, x)) - at_one).mean() == pytest.approx(1.0)


def test_claim_02_smooth_families_are_fine():
    rng = np.random.default_rng(3)
    problem = two_gaussians(m1=2.0)
    X, y = problem.sample(20_000, rng)
    rule = ParametricPlugIn().fit(np.reshape(X, (-1, 1)), y)
    risk = float(problem.risk(lambda x: rule.predict(np.reshape(x, (-1, 1))) if len(x) else np.zeros(0, int)))
    assert risk - float(problem.bayes_risk()) < 2e-4
    y = rng.integers(0, 2, 20_000)
    X = rng.exponential(np.where(y == 1, 3.0, 1.0))[:, None]
    cut = np.log(3) / (1 - 1 / 3)
    rule = ParametricPlugIn("exponential", "exponential").fit(X, y)
    grid = np.linspace(0.01, 8, 4000)[:, None]
    wrong = rule.predict(grid) != (grid[:, 0] > cut)
    assert wrong.mean() < 0.01
