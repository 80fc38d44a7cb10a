"""Mixtures of points: spherical Gaussians by their third moment, product distributions by splitting coordinates."""

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from learnable.latent.tensors.base import TensorEstimator
from learnable.latent.tensors.moments import spherical_moments, spherical_third_whitened
from learnable.latent.tensors.multiview import fit_views
from learnable.latent.tensors.whitening import whiten
from learnable.validation import check_scalar
from learnable.validation.tags import unit_facts


class SphericalGMMTensor(TensorEstimator):
    """Mixture of spherical Gaussians from its moments, without a start and without separation.

    M2 = E[x x'] - sigma^2 I and M3 = E[x^(x)3] minus the noise terms (Anandkumar et al. 2014, Theorems 3.2 and 3.3; Hsu
    and Kakade 2013). The k means must be linearly independent, so d >= k. O(n (d^2 + d k + k^3) + d^3).

    Parameters
    ----------
    n_components : int, default=2
    covariance : {"common", "different"}, default="common"
        One variance for all components, or one each.
    n_restarts, max_iter, random_state :
        Of the power method.

    Attributes
    ----------
    weights_ : ndarray of shape (k,)
        Falling.
    components_ : ndarray of shape (k, d)
        The means.
    covariances_ : ndarray of shape (k,)
        The variances. With ``covariance="different"`` by least squares from M1 = sum w_i sigma_i^2 mu_i, at least zero.
    noise_variance_ : float
        The (mean) variance: the average of the d - k + 1 smallest eigenvalues of the covariance.
    eigenvalues_, weights_sum_, residual_ :
        Of the decomposition; the sum of the weights before they were divided by it (far from one, the model or k is in
        doubt); the share of the whitened tensor that the components leave unexplained.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(5000, 4)) + 4 * np.eye(4)[rng.integers(2, size=5000)]
    >>> model = SphericalGMMTensor(2, random_state=0).fit(X)
    >>> np.abs(np.sort(model.components_[:, 0]).round()).tolist()
    [0.0, 4.0]
    """

    _depends_on_units = unit_facts(
        origin="moments about the origin: the method asks for means that are linearly independent",
        columns="one variance for all columns",
    )

    def __init__(self, n_components=2, covariance="common", *, n_restarts=None, max_iter=30, random_state=None):
        super().__init__(n_components, n_restarts=n_restarts, max_iter=max_iter, random_state=random_state)
        self.covariance = covariance

    def fit(self, X, y=None):
        """Fit the mixture to points of shape (n, d)."""
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        k = check_scalar(self.n_components, "n_components", low=1, integer=True)
        self.noise_variance_, M1, M2 = spherical_moments(X, k, covariance=self.covariance)
        W, B = whiten(M2, k)
        T = spherical_third_whitened(X, M1, W)
        rng = self._generator()
        weights, self.components_ = self._decompose(T, B, rng)
        self._store_weights(weights)
        if self.covariance == "common":
            self.covariances_ = np.full(k, self.noise_variance_)
        else:
            shares = np.linalg.lstsq(self.components_.T * self.weights_, M1, rcond=None)[0]
            self.covariances_ = np.maximum(shares, 0.0)
        return self

    def predict_proba(self, X):
        """Posterior probabilities of the components."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        variance = np.maximum(self.covariances_, 1e-12 * max(self.noise_variance_, 1e-300))
        squares = (X**2).sum(axis=1)[:, None] - 2 * X @ self.components_.T + (self.components_**2).sum(axis=1)
        scores = np.log(self.weights_) - 0.5 * squares / variance - 0.5 * X.shape[1] * np.log(variance)
        scores -= scores.max(axis=1, keepdims=True)
        shares = np.exp(scores)
        return shares / shares.sum(axis=1, keepdims=True)

    def predict(self, X):
        """The most probable component of each point."""
        return self.predict_proba(X).argmax(axis=1)


class ProductMixtureTensor(TensorEstimator):
    """Mixture of product distributions: coordinates independent within a component, by random splits into three views.

    Each coordinate goes to one of three groups at random; given the component the groups are independent, so that
    they are three views (Anandkumar et al. 2014, Sec. 3.3.1). Of several splits the one with the best conditioned
    cross moments is kept. Only means are estimated; the distributions may be anything. O(n d^2 + n k^3).

    Parameters
    ----------
    n_components : int, default=2
        At least 3 k coordinates are needed.
    rotate : bool, default=False
        Rotate at random first (Proposition 3.3): right for spherical Gaussians only, and then it spares the
        incoherence condition.
    n_splits : int, default=10
        Splits to try.
    n_restarts, max_iter, random_state :
        Of the power method.

    Attributes
    ----------
    weights_, components_, eigenvalues_, weights_sum_, residual_ :
        As in :class:`SphericalGMMTensor`.
    groups_ : ndarray of shape (d,)
        The group, 0, 1 or 2, of each (rotated) coordinate.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> A = 3 * rng.normal(size=(2, 9))
    >>> X = A[rng.integers(2, size=4000)] + rng.laplace(size=(4000, 9))
    >>> model = ProductMixtureTensor(2, random_state=0).fit(X)
    >>> model.components_.shape
    (2, 9)
    """

    _depends_on_units = unit_facts(
        origin="moments about the origin: the method asks for means that are linearly independent",
        columns="the pseudo-inverses of rank k are cut off in one unit for all columns",
    )
    _takes = "at least three features for each component"

    def __init__(self, n_components=2, *, rotate=False, n_splits=10, n_restarts=None, max_iter=30, random_state=None):
        super().__init__(n_components, n_restarts=n_restarts, max_iter=max_iter, random_state=random_state)
        self.rotate = rotate
        self.n_splits = n_splits

    def fit(self, X, y=None):
        """Fit the mixture to points of shape (n, d)."""
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        k, d = check_scalar(self.n_components, "n_components", low=1, integer=True), X.shape[1]
        n_splits = check_scalar(self.n_splits, "n_splits", low=1, integer=True)
        if d < 3 * k:
            raise ValueError(
                f"k = {k} components need at least {3 * k} coordinates, k for each view, got {d} feature(s)"
            )
        rng = self._generator()
        rotation = np.linalg.qr(rng.standard_normal((d, d)))[0] if self.rotate else None
        Z = X if rotation is None else X @ rotation
        second = Z.T @ Z / Z.shape[0]
        best = -1.0
        for _ in range(n_splits):
            groups = _split(d, k, rng)
            worst = min(
                np.linalg.svd(second[np.ix_(groups == s, groups == t)], compute_uv=False)[k - 1]
                for s, t in ((0, 1), (0, 2), (1, 2))
            )
            if worst > best:
                best, self.groups_ = worst, groups
        views = [Z[:, self.groups_ == t] for t in range(3)]
        weights, means = fit_views(self, views, k, rng)
        self.components_ = np.empty((k, d))
        for t in range(3):
            self.components_[:, self.groups_ == t] = means[t]
        if rotation is not None:
            self.components_ = self.components_ @ rotation.T
        self._store_weights(weights)
        return self


def _split(d, k, rng):
    """Independent uniform groups, with enough coordinates moved at random where a group has fewer than k."""
    groups = rng.integers(3, size=d)
    while np.bincount(groups, minlength=3).min() < k:
        sizes = np.bincount(groups, minlength=3)
        groups[rng.choice(np.flatnonzero(groups == sizes.argmax()))] = sizes.argmin()
    return groups
