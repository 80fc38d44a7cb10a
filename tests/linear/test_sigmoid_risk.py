"""Linear discrimination against brute force, mixed-integer programmes, scikit-learn and closed forms."""

import numpy as np
import pytest
from scipy import optimize
from scipy.special import expit


def test_sigmoid_gradient():
    from learnable.linear.sigmoid_risk import _smooth_risk

    rng = np.random.default_rng(19)
    Z, sign, weights = rng.normal(size=(30, 3)), rng.choice([-1.0, 1.0], 30), np.full(30, 1 / 30)
    for p in (1.0, 2.0, 3.5):
        theta = rng.normal(size=4)
        numeric = optimize.approx_fprime(theta, lambda t, p=p: _smooth_risk(t, Z, sign, weights, p)[0], 1e-7)
        np.testing.assert_allclose(_smooth_risk(theta, Z, sign, weights, p)[1], numeric, atol=1e-6)
        y = (sign + 1) / 2
        direct = np.mean(np.abs(y - expit(Z @ theta[:-1] + theta[-1])) ** p)
        assert _smooth_risk(theta, Z, sign, weights, p)[0] == pytest.approx(direct)
