"""Entropy: what the planted errors got past: draws from the posterior, empirical Bayes, the box of Laplace's method."""

import numpy as np
import pytest

from learnable.latent.entropy_estimation import PYMEntropy, py_posterior_moments
from learnable.latent.entropy_estimation.pym import entropy_empirical_bayes
from learnable.latent.entropy_estimation.sampling import draw_entropy

COUNTS = np.array([9, 6, 4, 3, 2, 2, 1, 1, 1, 1])
K, M = np.unique(COUNTS, return_counts=True)


@pytest.mark.parametrize(("d", "alpha", "sticks"), [(0.3, 4.0, 400), (0.6, 1.0, 60), (0.0, 8.0, 3), (0.5, 20.0, 5)])
def test_draws_given_the_parameters_have_the_exact_mean(d, alpha, sticks):
    """The unseen have concentration alpha + K d, and what the sticks leave has an entropy: with few it matters."""
    n = 20_000
    draws = draw_entropy(K, M, np.full(n, d), np.full(n, alpha), sticks, np.random.default_rng(0))
    mean, var = py_posterior_moments(COUNTS, d, alpha)
    error = 4 * np.sqrt(float(var) / n)  # four standard errors; the tail enters by its mean, so that the mean is exact
    assert draws.mean() == pytest.approx(float(mean), abs=error)
    if sticks >= 400:
        assert draws.var() == pytest.approx(float(var), rel=0.06)


def test_draws_over_all_parameters_agree_with_the_posterior():
    model = PYMEntropy().fit(COUNTS)
    draws = model.sample_entropy(20_000, n_sticks=300, random_state=1)
    assert draws.mean() == pytest.approx(model.entropy_, abs=5 * model.std_ / np.sqrt(20_000))


def test_empirical_bayes_puts_the_mode_into_the_moments():
    """At the mode of the posterior of (d, alpha), not near it: found again by a search of our own on a grid."""
    model = PYMEntropy().fit(COUNTS)
    d, alpha = model.map_
    mean, var = py_posterior_moments(COUNTS, d, alpha)
    assert entropy_empirical_bayes(COUNTS) == pytest.approx((float(mean), float(np.sqrt(var))), rel=1e-9)
    near = model.log_posterior(d, alpha)
    for move_d, move_alpha in ((1.1, 1.0), (0.9, 1.0), (1.0, 1.1), (1.0, 0.9)):
        assert model.log_posterior(min(d * move_d, 0.999), alpha * move_alpha) <= near + 1e-9
    assert entropy_empirical_bayes(COUNTS)[0] != pytest.approx(float(py_posterior_moments(COUNTS, d, alpha / 2)[0]))


@pytest.mark.parametrize("seed", range(3))
def test_the_box_of_laplace_holds_the_posterior(seed):
    """Six deviations on both sides, correlation included: on many data the box gives the integral over everything."""
    rng = np.random.default_rng(seed)
    p = (1.0 + np.arange(400)) ** -1.4
    counts = rng.multinomial(4000, p / p.sum())
    whole = PYMEntropy().fit(counts)
    boxed = PYMEntropy(method="laplace").fit(counts)
    assert boxed.entropy_ == pytest.approx(whole.entropy_, abs=0.02 * whole.std_)
    assert boxed.std_ == pytest.approx(whole.std_, rel=0.01)
    spread_d = np.sqrt(whole.weights_ @ (whole.d_ - whole.weights_ @ whole.d_) ** 2)
    assert boxed.d_.max() - boxed.d_.min() > 11 * spread_d  # twelve; without the correlation it would be ten
