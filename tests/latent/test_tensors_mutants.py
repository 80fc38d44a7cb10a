"""Tensors: what the planted errors got past: the Hessian at a maximiser, the noise of spherical mixtures."""

import numpy as np
import pytest

from learnable.latent.tensors import spherical_moments


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_noise_is_the_mean_of_the_d_minus_k_plus_1_smallest_eigenvalues(k):
    """The centred means span k − 1 dimensions, so d − k + 1 directions hold noise alone; here they differ."""
    rng = np.random.default_rng(k)
    X = rng.normal(size=(500, 5)) * [1.0, 1.2, 1.5, 4.0, 6.0]
    values = np.linalg.eigvalsh(np.cov(X.T, bias=True))
    assert spherical_moments(X, k)[0] == pytest.approx(values[: 5 - k + 1].mean(), rel=1e-9)
