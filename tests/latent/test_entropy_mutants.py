"""Entropy: what the planted errors got past: draws from the posterior, empirical Bayes, the box of Laplace's method."""

import numpy as np
import pytest

from learnable.latent import PYMEntropy

COUNTS = np.array([9, 6, 4, 3, 2, 2, 1, 1, 1, 1])


def test_draws_over_all_parameters_agree_with_the_posterior():
    model = PYMEntropy().fit(COUNTS)
    draws = model.sample_entropy(20_000, n_sticks=300, random_state=1)
    assert draws.mean() == pytest.approx(model.entropy_, abs=5 * model.std_ / np.sqrt(20_000))


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
