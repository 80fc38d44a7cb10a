"""What the moment estimators share: their settings, the decomposition, and the order of the components."""

import warnings

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from learnable.latent.tensors.power import tensor_eig
from learnable.latent.tensors.whitening import recover_components
from learnable.validation import check_rng


class TensorEstimator(BaseEstimator):
    """Base class: decomposes a whitened tensor and stores components by falling weight.

    Attributes that all have: ``eigenvalues_``, ``weights_``, ``weights_sum_`` (sum of the estimated weights before they
    were divided by it: far from one, the model or k is in doubt), ``residual_`` (share of the whitened tensor, in
    Frobenius norm, that the components do not explain).
    """

    def __init__(self, n_components=2, *, n_restarts=None, max_iter=30, random_state=None):
        self.n_components = n_components
        self.n_restarts = n_restarts
        self.max_iter = max_iter
        self.random_state = random_state

    def _generator(self):
        return check_rng(self.random_state)

    def _decompose(self, T, B, rng, *, ratio=1.0):
        """Return the weights a_i (not normalised) and components mu_i of a whitened tensor, heaviest first."""
        self.n_iter_ = self.max_iter
        found = tensor_eig(T, T.shape[0], self.n_restarts, self.max_iter, rng)
        size = np.linalg.norm(T.ravel())
        self.residual_ = float(np.linalg.norm(found.residual.ravel()) / size) if size > 0 else 0.0
        a, mu = recover_components(found.eigenvalues, found.eigenvectors, B, ratio=ratio)
        order = np.argsort(-a, kind="stable")
        self.eigenvalues_ = found.eigenvalues[order]
        return a[order], mu[order]

    def _store_weights(self, weights, *, tol=0.3):
        self.weights_sum_ = float(weights.sum())
        self.weights_ = weights / self.weights_sum_
        if abs(self.weights_sum_ - 1) > tol:
            warnings.warn(
                f"the estimated weights sum to {self.weights_sum_:.3g} instead of 1: too few data for "
                f"{self.n_components} components, or the model does not fit; lower n_components or give more data",
                ConvergenceWarning,
                stacklevel=3,
            )


def to_distributions(mu):
    """Clip rows at zero and divide by their sum; a row without positive entries becomes uniform."""
    clipped = np.maximum(mu, 0.0)
    total = clipped.sum(axis=1, keepdims=True)
    return np.where(total > 0, clipped / np.where(total > 0, total, 1.0), 1.0 / mu.shape[1])
