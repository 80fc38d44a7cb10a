"""Tensor decompositions: the bounds of Theorem 5.1 with the constants that the source prints."""

import numpy as np
import pytest

from learnable.latent.tensor_decompositions.perturbation import perturbation_bounds


def test_theorem_5_1_has_the_printed_constants():
    weights, eps = np.array([0.5, 2.0, 4.0]), 1e-3
    bounds = perturbation_bounds(weights, eps)
    np.testing.assert_allclose(bounds.eigenvector, [0.016, 0.004, 0.002], rtol=1e-12)  # 8 eps / weight
    assert bounds.eigenvalue == pytest.approx(0.005) and bounds.residual == pytest.approx(0.055)
    largest = 0.5 / 3 / (56 * 9 * 102)  # C_1 times the smallest weight over their number
    assert perturbation_bounds(weights, 0.999 * largest).admissible
    assert not perturbation_bounds(weights, 1.001 * largest).admissible
