"""The debiased lasso: the bound on every test's power against the formula that the source prints."""

import numpy as np
import pytest
from scipy import stats

from learnable.chapters.debiased_lasso.theory import oracle_power_bound


@pytest.mark.parametrize(("n", "s0", "xi"), [(1000, 10, 6.0), (300, 1, 5.0), (300, 40, 8.0)])
def test_the_bound_of_the_oracle_is_the_printed_one(n, s0, xi):
    """(41): G(alpha, gamma / sigma_eff(xi)) + exp(-xi^2 / 8), with sqrt(n - s0 + 1) + xi in the deviation."""
    alpha, gamma, sigma, conditional = 0.05, 0.03, 1.5, 0.7
    u = gamma * np.sqrt(conditional) * (np.sqrt(n - s0 + 1) + xi) / sigma
    z = stats.norm.isf(alpha / 2)
    power = stats.norm.sf(z - u) + stats.norm.cdf(-z - u)
    bound = oracle_power_bound(alpha, gamma, n, s0, sigma, conditional, xi=xi)
    assert bound == pytest.approx(power + np.exp(-(xi**2) / 8), rel=1e-12)
    assert oracle_power_bound(alpha, gamma, n, s0, sigma, conditional) <= bound  # the best xi is not worse
