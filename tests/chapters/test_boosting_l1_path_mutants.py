"""The l1 path: what the planted errors got past: the length of a direction."""

import numpy as np
import pytest

from learnable.chapters.boosting_l1_path.theory import path_direction
from learnable.ensembles import l1_constrained_path


@pytest.mark.parametrize("loss", ["squared", "logistic", "exponential"])
def test_the_direction_of_the_path_has_norm_one(loss):
    """Σ s_j β̇_j = 1: per unit of the l1 norm; the difference of two minimisers along the path agrees."""
    rng = np.random.default_rng(2)
    H = rng.normal(size=(60, 4))
    y = np.sign(H @ [1.0, -0.5, 0.3, 0.1] + rng.normal(size=60))
    c, step = 0.6, 1e-4
    a, b = l1_constrained_path(H, y, loss, [c, c + step], tol=1e-12).coefs
    found = path_direction(H, y, loss, a)
    assert np.sign(a) @ found == pytest.approx(1.0, rel=1e-9)
    np.testing.assert_allclose(found, (b - a) / step, atol=2e-3)
