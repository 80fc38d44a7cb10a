"""Independent components from the fourth cumulant, with sources of either sign of kurtosis and Gaussian noise.

M4 = sum kappa_i mu_i^(x)4 is blind to Gaussian noise of any covariance, but a contraction M4(I, I, Q) =
sum kappa_i (mu_i' Q mu_i) mu_i mu_i' has the signs of the kurtoses and cannot be whitened when they differ. Contracting
twice cancels them: with B = M4(I, I, Q) and Q' = B^+, mu_i' Q' mu_i = 1 / (kappa_i q_i), where q_i = mu_i' Q mu_i, so

    M4(I, I, Q') = sum mu_i mu_i' / q_i

is positive semi-definite whatever the signs, and free of the noise.
"""

import numpy as np
from scipy.optimize import nnls
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from learnable.latent.tensors.base import TensorEstimator
from learnable.latent.tensors.moments import fourth_cumulant_map, fourth_cumulant_whitened
from learnable.latent.tensors.power import tensor_eig
from learnable.latent.tensors.whitening import whiten
from learnable.validation import check_choice, check_scalar
from learnable.validation.tags import unit_facts


class ICATensor(ClassNamePrefixFeaturesOutMixin, TransformerMixin, TensorEstimator):
    """Mixing matrix A of x = A h + z from the fourth cumulant (Anandkumar et al. 2014, Theorem 3.4).

    Sources h are independent, centred, of variance one and not Gaussian; z is Gaussian. The power method of order 4
    fixes each column up to its sign. O(n (d^2 + k^4) + d^3).

    Parameters
    ----------
    n_components : int, default=2
        Number of sources, at most d.
    noise : {"none", "isotropic"}, default="none"
        What the covariance is made of beside A A': it fixes the lengths of the columns. (The fourth cumulant alone
        tells kappa_i |mu_i|^4 only. For any other Gaussian noise the directions are still right.)
    n_restarts, max_iter, random_state :
        Of the power method.

    Attributes
    ----------
    components_ : ndarray of shape (k, d)
        mu_i, the columns of A, as rows; sign such that the entry largest in size is positive; by falling length.
    kurtosis_ : ndarray of shape (k,)
        Excess kurtosis kappa_i of each source.
    weights_ : ndarray of shape (k,)
        Share of each source in the explained variance.
    noise_variance_ : float
    mean_ : ndarray of shape (d,)
    eigenvalues_, residual_ :
        Of the whitened cumulant.

    Examples
    --------
    >>> from learnable.datasets import make_mixed_sources
    >>> made = make_mixed_sources(20_000, random_state=0)
    >>> model = ICATensor(2, random_state=0).fit(made.data)
    >>> np.sort(np.sign(model.kurtosis_)).tolist()
    [-1.0, 1.0]
    """

    _depends_on_units = unit_facts(columns="refused: the rank of the covariance is judged in one unit for all columns")

    def __init__(self, n_components=2, *, noise="none", n_restarts=None, max_iter=30, random_state=None):
        super().__init__(n_components, n_restarts=n_restarts, max_iter=max_iter, random_state=random_state)
        self.noise = noise

    def fit(self, X, y=None):
        """Fit to points of shape (n, d)."""
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        k, d = check_scalar(self.n_components, "n_components", low=1, integer=True), X.shape[1]
        check_choice(self.noise, "noise", ("none", "isotropic"))
        if d < k:
            raise ValueError(f"k = {k} sources need at least {k} dimensions, got {d} feature(s)")
        rng = self._generator()
        self.mean_ = X.mean(axis=0)
        X = X - self.mean_
        S = X.T @ X / X.shape[0]
        Q = _pseudo_inverse(S, k, "the covariance")
        first = fourth_cumulant_map(X, S, Q)
        W, B = whiten(fourth_cumulant_map(X, S, _pseudo_inverse(first, k, "the contracted fourth cumulant")), k)
        T = fourth_cumulant_whitened(X @ W, W.T @ S @ W)
        self.n_iter_ = self.max_iter
        found = tensor_eig(T, k, self.n_restarts, self.max_iter, rng)
        size = np.linalg.norm(T.ravel())
        self.residual_ = float(np.linalg.norm(found.residual.ravel()) / size) if size > 0 else 0.0
        directions = (B @ found.eigenvectors).T
        directions *= np.sign(directions[np.arange(k), np.abs(directions).argmax(axis=1)])[:, None]
        scale, self.noise_variance_ = _lengths(S, directions, self.noise == "isotropic")
        self.components_ = directions * np.sqrt(scale)[:, None]
        q = scale * np.einsum("ki,ij,kj->k", directions, Q, directions)
        with np.errstate(divide="ignore", invalid="ignore"):
            self.kurtosis_ = np.where(q > 0, found.eigenvalues / q**2, 0.0)
        strength = (self.components_**2).sum(axis=1)
        order = np.argsort(-strength, kind="stable")
        self.components_, self.kurtosis_ = self.components_[order], self.kurtosis_[order]
        self.eigenvalues_ = found.eigenvalues[order]
        self.weights_ = strength[order] / strength.sum()
        return self

    @property
    def _n_features_out(self):
        return self.components_.shape[0]

    def transform(self, X):
        """Estimate the sources by least squares (exact without noise)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.linalg.lstsq(self.components_.T, (X - self.mean_).T, rcond=None)[0].T


def _pseudo_inverse(S, k, name):
    """Pseudo-inverse from the k eigenvalues largest in size, of either sign."""
    values, U = np.linalg.eigh(S)
    top = np.argsort(-np.abs(values), kind="stable")[:k]
    size = np.abs(values)
    if not size[top[-1]] > 1e-10 * size[top[0]]:
        raise ValueError(
            f"{name} has rank {int((size > 1e-10 * size.max()).sum())}, k = {k} sources ask for {k}: "
            "lower k; Gaussian sources have no fourth cumulant"
        )
    return (U[:, top] / values[top]) @ U[:, top].T


def _lengths(S, directions, isotropic):
    """Non-negative s and sigma^2 with S nearest to sum s_i b_i b_i' + sigma^2 I."""
    columns = np.einsum("ki,kj->ijk", directions, directions).reshape(S.size, -1)
    if isotropic:
        columns = np.column_stack([columns, np.eye(len(S)).ravel()])
    solution = nnls(columns, S.ravel())[0]
    return (solution[:-1], float(solution[-1])) if isotropic else (solution, 0.0)
