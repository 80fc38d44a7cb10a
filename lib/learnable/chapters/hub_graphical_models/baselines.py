r"""What hubs are compared with: plain, reweighted and neighbourhood lassos, and screening by partial correlations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from learnable.graphs.hubs.covariance import CovarianceLoss
from learnable.highdim.graphical_admm import graphical_admm
from learnable.highdim.quic.problem import penalty_matrix
from learnable.optim.admm import admm
from learnable.validation import Result, check_has, check_scalar


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
    """The graphical lasso by the engine of the hub models, with an unpenalised diagonal if alpha is a number."""
    Lam = penalty_matrix(alpha, len(S)) if np.ndim(alpha) == 0 else alpha
    start, dual = (
        (np.diag(1.0 / np.diagonal(S)), None) if warm_start is None else (warm_start.estimate, warm_start.dual)
    )
    fit = graphical_admm(S, Lam, start=start, dual=dual, tol=tol, max_iter=max_iter)
    return SparseFit(fit.z, fit.dual, fit.gap * len(fit.z), fit.n_iter, fit.converged)


def sparse_covariance(S, alpha, *, eps=1e-4, penalize_diagonal=True, tol=1e-6, max_iter=2000, warm_start=None):
    """Sparse positive definite covariance by a soft threshold (Xue, Ma and Zou 2012; (9) of Tan et al. 2014)."""
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


def scale_free_lasso(S, alpha, *, eps=None, n_rounds=5, tol=1e-5, max_iter=2000):
    r"""Reweighted graphical lasso for scale-free graphs (Liu and Ihler 2011; (8) of Tan et al. 2014)."""
    S = np.asarray(S, dtype=float)
    if eps is not None:
        eps = np.broadcast_to(np.asarray(eps, dtype=float), (len(S),))
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
    """Hubs by counting large partial correlations, from the pseudo-inverse of S (Hero and Rajaratnam 2012). O(p³)."""
    S = np.asarray(S, dtype=float)
    inverse = np.linalg.pinv(S, hermitian=True)
    d = np.sqrt(np.maximum(np.diagonal(inverse), np.finfo(float).tiny))
    adjacency = np.abs(inverse) >= threshold * np.multiply.outer(d, d)
    np.fill_diagonal(adjacency, False)
    return HubScreening(adjacency, np.flatnonzero(adjacency.sum(axis=0) >= degree))


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
