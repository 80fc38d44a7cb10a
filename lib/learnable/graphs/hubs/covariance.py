r"""The hub covariance graph: which variables are dependent at all, with hubs (Tan et al. 2014, Section 4)."""

from __future__ import annotations

import numpy as np
from scipy import linalg
from sklearn.covariance import EmpiricalCovariance

from learnable.graphs.hubs.blocks import solve_by_blocks
from learnable.graphs.hubs.penalty import HubPenalty
from learnable.graphs.hubs.solver import HubFit
from learnable.linalg._training import training_covariance
from learnable.validation import check_has, check_magnitude, check_scalar, check_symmetric, warn_not_converged
from learnable.validation.tags import ONE_PENALTY


class CovarianceLoss:
    """The loss ½|Σ - S|² over Σ ⪰ εI of the covariance graph, for ``solve``.

    Parameters
    ----------
    S : array-like of shape (p, p)
        Covariance.
    eps : float, default=1e-4
        Smallest eigenvalue allowed.

    Examples
    --------
    >>> CovarianceLoss([[2.0, 0.0], [0.0, 0.5]]).value(np.eye(2))
    0.625
    """

    def __init__(self, S, eps=1e-4):
        self.S = check_symmetric(S, "S")
        self.eps = check_scalar(eps, "eps", low=0, closed="neither")
        self.n_nodes = len(self.S)
        self.unit = max(0.5 * float(np.vdot(self.S, self.S)), np.finfo(float).tiny)
        self.rho = 1.0

    def start(self):
        """The solution without edges."""
        return np.diag(np.maximum(np.diagonal(self.S), self.eps))

    def step(self, A, rho):
        """Project (S + ρA)/(1 + ρ) on the matrices with eigenvalues of at least ε. O(p^3)."""
        return project_eigenvalues((self.S + rho * A) / (1.0 + rho), self.eps)

    def value(self, sigma):
        """The loss."""
        return 0.5 * float(np.sum((sigma - self.S) ** 2))

    def repair(self, sigma):
        """`sigma` with its diagonal raised, if an eigenvalue is below ε; the diagonal is not penalised."""
        lowest = linalg.eigvalsh(sigma, subset_by_index=(0, 0), check_finite=False)[0]
        if lowest >= self.eps:
            return sigma
        return sigma + (self.eps - lowest) * np.eye(self.n_nodes)

    def bound(self, sigma, multiplier, prices):
        """min over Σ of the loss plus ⟨tΛ, Σ⟩, attained at the projection of S - tΛ."""
        multiplier = prices.feasible_scale(multiplier) * multiplier
        best = project_eigenvalues(self.S - multiplier, self.eps)
        return self.value(best) + float(np.vdot(multiplier, best))


def hub_covariance(
    S, alpha_edge, alpha_hub_edge, alpha_hub, *, q=2, eps=1e-4, screen=True, tol=1e-10, max_iter=2000, warm_start=None
):
    r"""Sparse covariance matrix with hubs (Tan et al. 2014, Section 4).

    Minimises ½|Σ - S|² + P(Σ) over Σ ⪰ εI. With infinite ``alpha_hub`` it is the estimator of Xue, Ma and Zou
    (2012), with a
    diagonal that is not penalised. The screening rule of the graphical lasso with hubs holds here too, because cutting
    Σ into blocks raises neither the loss (by more than the penalty saves) nor lowers the smallest eigenvalue. O(p³) an
    iteration for the largest block.

    Parameters
    ----------
    S : array-like of shape (p, p)
        Covariance or correlation.
    alpha_edge, alpha_hub_edge, alpha_hub : float
        Prices of an edge in Z, of an entry of a hub's column and of a hub.
    q : {1, 2}, default=2
        Norm of a hub's column.
    eps : float, default=1e-4
        Smallest eigenvalue allowed, in the unit of S.
    screen : bool, default=True
    tol : float, default=1e-10
        The duality gap is at most ``tol * |S|² / 2``, and the error of the estimate hence ``√tol * |S|``, 1e-5 |S| by
        default, because the loss is ½|Σ - S|².
    max_iter : int, default=2000
    warm_start : HubFit, optional
        A solution for other penalties.

    Returns
    -------
    HubFit

    Examples
    --------
    >>> S = np.array([[1.0, 0.5, 0.4], [0.5, 1.0, 0.1], [0.4, 0.1, 1.0]])
    >>> hub_covariance(S, 0.2, np.inf, np.inf, tol=1e-10).estimate.round(4).tolist()
    [[1.0, 0.3, 0.2], [0.3, 1.0, 0.0], [0.2, 0.0, 1.0]]
    """
    S, penalty = (
        check_magnitude(check_symmetric(S, "S"), "S"),
        HubPenalty.checked(alpha_edge, alpha_hub_edge, alpha_hub, q),
    )
    eps = check_scalar(eps, "eps", low=0, closed="neither")
    if np.diagonal(S).min() < 0:
        raise ValueError("S must have a diagonal that is not negative")
    tol = check_scalar(tol, "tol", low=0, closed="neither")
    max_iter = check_scalar(max_iter, "max_iter", low=1, integer=True)
    unit = float(np.mean(np.diagonal(S))) or 1.0
    if warm_start is not None:
        check_has(warm_start, "warm_start", "estimate", "a HubFit")
    start = None if warm_start is None else _scaled(warm_start, 1.0 / unit)
    fit = solve_by_blocks(
        lambda block: CovarianceLoss(block, eps / unit),
        S / unit,
        penalty.over(unit),
        screen,
        {"tol": tol, "max_iter": max_iter},
        start,
    )
    fit = _scaled(fit, unit)
    if screen and fit.n_blocks > 1:  # what S has between blocks is lost, and belongs to the loss
        fit = _replace_objective(fit, 0.5 * float(np.sum((fit.estimate - S) ** 2)) + penalty.value(fit.V, fit.Z))
    if not fit.converged:
        reached = fit.gap / max(0.5 * float(np.vdot(S, S)), np.finfo(float).tiny)
        warn_not_converged("hub_covariance", fit.n_iter, reached, tol, "raise max_iter or tol")
    return fit


class HubCovarianceGraph(EmpiricalCovariance):
    r"""Covariance graph with hubs, in scikit-learn's protocol (Tan et al. 2014, Section 4).

    Minimises ½|Σ - S|² + P(Σ) over Σ ⪰ εI; standardise the columns before. O(p³) an iteration.

    Parameters
    ----------
    alpha_edge, alpha_hub_edge, alpha_hub : float, default=0.2, 0.2, 1.0
        Prices of an edge outside hubs, of a hub's edge and of a hub.
    eps : float, default=1e-4
        Smallest eigenvalue of the estimate.
    assume_centered : bool, default=False
        The data have mean zero.
    covariance : None or "precomputed"
        With "precomputed", `fit` takes a covariance matrix.
    tol : float, default=1e-10
        Of the duality gap, as in :func:`hub_covariance`.
    max_iter : int, default=2000

    Attributes
    ----------
    covariance_, precision_ : ndarray of shape (p, p)
        The sparse estimate Z + V + V' and its inverse.
    V_, Z_ : ndarray of shape (p, p)
    hubs_ : ndarray
        Nodes with a column in V, the densest first.
    dual_gap_ : float
    n_iter_ : int
    location_ : ndarray of shape (p,)

    Examples
    --------
    >>> from learnable.datasets import make_gaussian_graph
    >>> made = make_gaussian_graph("covariance-hubs", 400, p=30, n_hubs=2, random_state=0)
    >>> model = HubCovarianceGraph(0.3, 0.1, 0.8).fit(made.data / made.data.std(axis=0))
    >>> sorted(model.hubs_.tolist()), made.hubs.tolist()
    ([2, 11], [2, 11])
    """

    _depends_on_units = ONE_PENALTY

    def __init__(
        self,
        alpha_edge=0.2,
        alpha_hub_edge=0.2,
        alpha_hub=1.0,
        *,
        eps=1e-4,
        assume_centered=False,
        covariance=None,
        tol=1e-10,
        max_iter=2000,
    ):
        super().__init__(assume_centered=assume_centered)
        self.alpha_edge = alpha_edge
        self.alpha_hub_edge = alpha_hub_edge
        self.alpha_hub = alpha_hub
        self.eps = eps
        self.covariance = covariance
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X, y=None):
        """Estimate the covariance matrix of the rows of `X`, or from a covariance matrix if it is precomputed."""
        S = training_covariance(self, X)
        check_magnitude(S, "X" if self.covariance else "the covariance of X")
        found = hub_covariance(
            S, self.alpha_edge, self.alpha_hub_edge, self.alpha_hub, eps=self.eps, tol=self.tol, max_iter=self.max_iter
        )
        self.covariance_, self.V_, self.Z_, self.hubs_ = found.estimate, found.V, found.Z, found.hubs
        inverse = linalg.inv(found.estimate)
        self.precision_ = 0.5 * (inverse + inverse.T)
        self.dual_gap_, self.n_iter_ = found.gap, found.n_iter
        return self


def project_eigenvalues(A, lowest):
    """The nearest symmetric matrix with eigenvalues of at least `lowest`. O(p^3).

    Parameters
    ----------
    A : ndarray of shape (p, p)
    lowest : float
    """
    values, vectors = linalg.eigh(A, driver="evd", check_finite=False)
    if values[0] >= lowest:
        return A
    below = values < lowest
    change = vectors[:, below] * np.sqrt(lowest - values[below])
    return A + change @ change.T


def _scaled(fit, unit):
    return HubFit(
        fit.estimate * unit,
        fit.V * unit,
        fit.Z * unit,
        fit.dual * unit,
        fit.objective * unit**2,
        fit.gap * unit**2,
        fit.n_iter,
        fit.converged,
        fit.n_blocks,
    )


def _replace_objective(fit, objective):
    return HubFit(fit.estimate, fit.V, fit.Z, fit.dual, objective, fit.gap, fit.n_iter, fit.converged, fit.n_blocks)
