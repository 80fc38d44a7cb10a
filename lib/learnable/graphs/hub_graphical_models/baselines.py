r"""What hubs are compared with: plain, reweighted and neighbourhood lassos, and screening by partial correlations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from learnable.graphs.hub_graphical_models.covariance import CovarianceLoss
from learnable.graphs.hub_graphical_models.gaussian import GaussianLoss
from learnable.linalg.precision import factor, factor_logdet
from learnable.optim.admm import admm
from learnable.optim.coordinate_descent import solve_gram_batch
from learnable.validation import (
    Result,
    check_choice,
    check_finite_array,
    check_has,
    check_scalar,
    check_symmetric,
)

__all__ = [
    "HubScreening",
    "SparseFit",
    "admm_graphical_lasso",
    "neighbourhood_selection",
    "scale_free_lasso",
    "screen_hubs",
    "sparse_covariance",
]


@dataclass(frozen=True, eq=False)
class SparseFit(Result):
    """A sparse symmetric matrix without hubs: the estimate, its multiplier, and how the iterations ended."""

    estimate: np.ndarray
    dual: np.ndarray
    gap: float
    n_iter: int
    converged: bool

    @property
    def adjacency(self):
        """Off-diagonal entries that are not zero."""
        found = self.estimate != 0
        np.fill_diagonal(found, False)
        return found


@dataclass(frozen=True, eq=False)
class HubScreening(Result):
    """Partial correlations above a threshold, and the nodes with many of them."""

    adjacency: np.ndarray
    hubs: np.ndarray


def admm_graphical_lasso(S, alpha, *, tol=1e-6, max_iter=2000, warm_start=None):
    """The graphical lasso by the same engine: a log-determinant step and a soft threshold (Friedman et al. 2007).

    Minimises -log det Θ + tr(SΘ) + Σ_{i≠j} α_ij |Θ_ij|. The baseline of the chapter: two copies instead of three, so
    that what is compared is the penalty and not the program. O(p³) an iteration.

    Parameters
    ----------
    S : array-like of shape (p, p)
        Covariance with a positive diagonal.
    alpha : float or array-like of shape (p, p)
        Penalties, positive; the diagonal of a matrix is used too, that of a number is zero.
    tol : float, default=1e-06
        The duality gap is at most ``tol * p``.
    max_iter : int, default=2000
    warm_start : SparseFit, optional

    Returns
    -------
    SparseFit

    Examples
    --------
    >>> fit = admm_graphical_lasso([[1.0, 0.5], [0.5, 1.0]], 0.2, tol=1e-10)
    >>> np.linalg.inv(fit.estimate).round(4).tolist()
    [[1.0, 0.3], [0.3, 1.0]]
    """
    loss = GaussianLoss(S)
    Lam = _penalties(alpha, loss.n_nodes)

    def gap(Z, dual):
        L = factor(Z)
        if L is None:
            return np.inf
        # Z itself may miss the dual box; clipped into it the multiplier is feasible.
        W = factor(loss.S + np.clip(dual, -Lam, Lam))
        if W is None:
            return np.inf
        value = -factor_logdet(L) + float(np.vdot(loss.S, Z)) + float(np.vdot(Lam, np.abs(Z)))
        return value - factor_logdet(W) - len(Z)

    return _lasso(loss, Lam, gap, tol, max_iter, warm_start, "admm_graphical_lasso")


def sparse_covariance(S, alpha, *, eps=1e-4, penalize_diagonal=True, tol=1e-6, max_iter=2000, warm_start=None):
    """Sparse positive definite covariance by a soft threshold (Xue, Ma and Zou 2012; (9) of Tan et al. 2014).

    Minimises ½|Σ - S|² + α|Σ|_1 over Σ ⪰ εI. As printed the penalty includes the diagonal, which only shrinks
    the variances. O(p³) an iteration.

    Parameters
    ----------
    S : array-like of shape (p, p)
    alpha : float
    eps : float, default=1e-4
    penalize_diagonal : bool, default=True
    tol : float, default=1e-06
        The duality gap is at most ``tol * |S|² / 2``.
    max_iter : int, default=2000
    warm_start : SparseFit, optional

    Returns
    -------
    SparseFit

    Examples
    --------
    >>> sparse_covariance([[1.0, 0.5], [0.5, 1.0]], 0.2, tol=1e-10).estimate.round(4).tolist()
    [[0.8, 0.3], [0.3, 0.8]]
    """
    loss = CovarianceLoss(S, eps)
    Lam = np.full((loss.n_nodes,) * 2, check_scalar(alpha, "alpha", low=0, closed="neither"))
    if not penalize_diagonal:
        np.fill_diagonal(Lam, 0.0)

    def gap(Z, dual):
        lowest = np.linalg.eigvalsh(Z)[0]
        if lowest < loss.eps:
            Z = Z + (loss.eps - lowest) * np.eye(len(Z))
        multiplier = np.clip(dual, -Lam, Lam)
        best = loss.step(loss.S - multiplier, 1e12)  # a projection: S does not matter beside rho
        bound = loss.value(best) + float(np.vdot(multiplier, best))
        return loss.value(Z) + float(np.vdot(Lam, np.abs(Z))) - bound

    return _lasso(loss, Lam, gap, tol, max_iter, warm_start, "sparse_covariance")


def neighbourhood_selection(S, alpha, *, rule="or", tol=1e-6):
    """Graph of the p lasso regressions of each variable on all others (Meinshausen and Bühlmann 2006). O(p³) and more.

    Parameters
    ----------
    S : array-like of shape (p, p)
        Covariance or correlation.
    alpha : float
        Penalty of ½ b'Sb - b's_j + α|b|_1.
    rule : {"or", "and"}, default="or"
        An edge needs one of its two regressions, or both.
    tol : float, default=1e-06

    Returns
    -------
    ndarray of bool of shape (p, p)
        Adjacency.

    Examples
    --------
    >>> neighbourhood_selection([[1, 0.5, 0], [0.5, 1, 0], [0, 0, 1]], 0.1).astype(int).tolist()
    [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    """
    S = check_symmetric(S, "S")
    check_choice(rule, "rule", ("or", "and"))
    alpha = check_scalar(alpha, "alpha", low=0, closed="neither")
    tol = check_scalar(tol, "tol", low=0, closed="neither")
    found = solve_gram_batch(S, S, alpha, weights=np.where(np.eye(len(S)), np.inf, 1.0), tol=tol).coefs != 0
    return found | found.T if rule == "or" else found & found.T


def scale_free_lasso(S, alpha, *, eps=None, n_rounds=5, tol=1e-5, max_iter=2000):
    r"""Reweighted graphical lasso for scale-free graphs (Liu and Ihler 2011; (8) of Tan et al. 2014).

    Minimises -log det Θ + tr(SΘ) + α Σ_j log(|θ_\j|_1 + ε_j) + Σ_j β_j |θ_jj|, which is not convex, by
    weighted graphical lassos: an edge ij has the weight α(1/(|θ_\i|_1 + ε_i) + 1/(|θ_\j|_1 + ε_j)), so that nodes with
    many edges get more of them cheaply. β_j = 2α/ε_j. O(p³) an iteration of each round.

    Parameters
    ----------
    S : array-like of shape (p, p)
    alpha : float
    eps : float or array-like of shape (p,), optional
        ε_j; by default the diagonal of the last estimate, one number for each node.
    n_rounds : int, default=5
        Reweightings.
    tol : float, default=1e-05
    max_iter : int, default=2000

    Returns
    -------
    SparseFit

    Examples
    --------
    >>> S = np.array([[1.0, 0.5, 0.4], [0.5, 1.0, 0.1], [0.4, 0.1, 1.0]])
    >>> scale_free_lasso(S, 0.05).adjacency.astype(int).tolist()
    [[0, 1, 1], [1, 0, 0], [1, 0, 0]]
    """
    S = check_symmetric(S, "S")
    alpha = check_scalar(alpha, "alpha", low=0, closed="neither")
    n_rounds = check_scalar(n_rounds, "n_rounds", low=1, high=10**6, integer=True)
    if eps is not None:
        eps = np.broadcast_to(check_finite_array(eps, "eps"), (len(S),))
        if eps.min() <= 0:
            raise ValueError("eps must be positive")
    fit, theta = None, np.eye(len(S))
    for _ in range(n_rounds):
        small = np.diagonal(theta) if eps is None else eps
        row = np.abs(theta).sum(axis=0) - np.abs(np.diagonal(theta))
        price = alpha / (row + small)
        Lam = price[:, None] + price
        np.fill_diagonal(Lam, 2 * alpha / small)
        fit = admm_graphical_lasso(S, Lam, tol=tol, max_iter=max_iter, warm_start=fit)
        theta = fit.estimate
    return fit


def screen_hubs(S, threshold, degree):
    """Hubs by counting large partial correlations, from the pseudo-inverse of S (Hero and Rajaratnam 2012). O(p³).

    Parameters
    ----------
    S : array-like of shape (p, p)
        Covariance; it may be singular.
    threshold : float
        In [0, 1]: smallest absolute partial correlation that counts as an edge.
    degree : int
        Edges that make a hub.

    Returns
    -------
    HubScreening

    Examples
    --------
    >>> theta = np.eye(4)
    >>> theta[0, 1:] = theta[1:, 0] = -0.4
    >>> screen_hubs(np.linalg.inv(theta), 0.3, 3).hubs.tolist()
    [0]
    """
    S = check_symmetric(S, "S")
    threshold = check_scalar(threshold, "threshold", low=0, high=1)
    degree = check_scalar(degree, "degree", low=1, integer=True)
    inverse = np.linalg.pinv(S, hermitian=True)
    d = np.sqrt(np.maximum(np.diagonal(inverse), np.finfo(float).tiny))
    adjacency = np.abs(inverse) >= threshold * np.multiply.outer(d, d)
    np.fill_diagonal(adjacency, False)
    return HubScreening(adjacency, np.flatnonzero(adjacency.sum(axis=0) >= degree))


def _penalties(alpha, p):
    if np.ndim(alpha) == 0:
        Lam = np.full((p, p), check_scalar(alpha, "alpha", low=0, closed="neither"))
        np.fill_diagonal(Lam, 0.0)
        return Lam
    Lam = check_symmetric(alpha, "alpha")
    if Lam.shape != (p, p) or Lam.min() < 0:
        raise ValueError(f"alpha must be a number or a non-negative matrix of shape {(p, p)}")
    return Lam


def _lasso(loss, Lam, gap, tol, max_iter, warm_start, name):
    tol = check_scalar(tol, "tol", low=0, closed="neither")
    start, dual = loss.start(), None
    if warm_start is not None:
        check_has(warm_start, "warm_start", "estimate dual", "a SparseFit")
        start, dual = warm_start.estimate, warm_start.dual
    found = admm(
        loss.step,
        lambda A, rho: _threshold(A, Lam / rho),
        start,
        dual=dual,
        rho=loss.rho,
        tol=tol,
        max_iter=max_iter,
        certificate=lambda x, z, dual: gap(z, dual) / loss.unit,
        name=name,
    )
    return SparseFit(found.z, found.dual, found.gap * loss.unit, found.n_iter, found.converged)


def _threshold(A, Lam):
    A = 0.5 * (A + A.T)
    return A - np.clip(A, -Lam, Lam)
