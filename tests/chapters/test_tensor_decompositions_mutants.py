"""Tensors: what the planted errors got past: the Hessian at a maximiser, the noise of spherical mixtures."""

import numpy as np
import pytest

from learnable.chapters.tensor_decompositions.theory import T_uuu, is_isolated_maximizer
from learnable.latent.tensors import symmetrize


@pytest.mark.parametrize(("c", "isolated"), [(0.3, True), (0.45, True), (0.55, False), (0.75, False), (0.95, False)])
def test_a_maximiser_has_a_hessian_of_6T_minus_3_lambda(c, isolated):
    """T(u, u, u) = u₁³ + 3c u₁u₂² at e₁, where λ = 1: along the circle it is 1 − (3/2 − 3c)θ², a maximum iff c < ½."""
    T = np.zeros((2, 2, 2))
    T[0, 0, 0] = 1.0
    T[0, 1, 1] = T[1, 0, 1] = T[1, 1, 0] = c
    assert is_isolated_maximizer(T, [1.0, 0.0]) is isolated
    angle = 1e-3
    beside = T_uuu(T, [np.cos(angle), np.sin(angle)])
    assert (beside < 1.0) is isolated
    assert np.allclose(symmetrize(T), T)
