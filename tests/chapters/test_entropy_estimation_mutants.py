"""Entropy: what the planted errors got past: draws from the posterior, its mode, the box of Laplace's method."""

import numpy as np
import pytest

from learnable.chapters.entropy_estimation.theory import py_posterior_moments
from learnable.latent import PYMEntropy
from learnable.latent.entropy.sampling import draw_entropy

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


def test_the_mode_of_the_posterior_is_no_lower_than_its_neighbours():
    model = PYMEntropy().fit(COUNTS)
    d, alpha = model.map_
    near = model.log_posterior(d, alpha)
    for move_d, move_alpha in ((1.1, 1.0), (0.9, 1.0), (1.0, 1.1), (1.0, 0.9)):
        assert model.log_posterior(min(d * move_d, 0.999), alpha * move_alpha) <= near + 1e-9
