r"""The hub graphical lasso: the Gaussian likelihood with the hub penalty (Tan et al. 2014, Section 3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg
from sklearn.covariance import EmpiricalCovariance

from learnable.graphs.hubs.blocks import solve_by_blocks
from learnable.graphs.hubs.penalty import HubPenalty
from learnable.graphs.hubs.solver import HubFit
from learnable.linalg._training import training_covariance
from learnable.linalg.precision import factor, factor_logdet
from learnable.optim.proximal import logdet_prox
from learnable.validation import (
    Result,
    check_finite_array,
    check_has,
    check_magnitude,
    check_scalar,
    check_symmetric,
    warn_not_converged,
)
from learnable.validation.tags import ONE_PENALTY


class GaussianLoss:
    """The loss -log det Θ + tr(SΘ) of the Gaussian graphical model, for ``solve``.

    Parameters
    ----------
    S : array-like of shape (p, p)
        Covariance with a positive diagonal.

    Examples
    --------
    >>> GaussianLoss([[2.0, 0.0], [0.0, 0.5]]).value(np.eye(2))
    2.5
    """

    def __init__(self, S):
        self.S = check_magnitude(check_symmetric(S, "S"), "S")
        if np.diagonal(self.S).min() <= 0:
            raise ValueError(
                "S must have a positive diagonal: a constant variable has no finite precision; leave it out"
            )
        self.n_nodes = len(self.S)
        self.unit = float(self.n_nodes)
        # The curvature of -log det at the diagonal start is S_ii S_jj.
        self.rho = float(np.mean(np.diagonal(self.S))) ** 2

    def start(self):
        """The solution without edges."""
        return np.diag(1.0 / np.diagonal(self.S))

    def step(self, A, rho):
        """The minimiser of the loss plus rho/2 times the squared distance to A."""
        return logdet_prox(A - self.S / rho, rho)

    def value(self, theta):
        """The loss; infinite outside the cone. O(p^3 / 3)."""
        L = factor(theta)
        return np.inf if L is None else -factor_logdet(L) + float(np.vdot(self.S, theta))

    def repair(self, theta):
        """`theta` if it is positive definite."""
        return theta if factor(theta) is not None else None

    def bound(self, theta, multiplier, prices):
        """log det(S + tΛ) + p, with t such that tΛ is in the dual set."""
        L = factor(self.S + prices.feasible_scale(multiplier) * multiplier)
        return -np.inf if L is None else factor_logdet(L) + self.n_nodes


def hub_graphical_lasso(
    S, alpha_edge, alpha_hub_edge, alpha_hub, *, q=2, screen=True, tol=1e-6, max_iter=2000, warm_start=None
):
    r"""Sparse precision matrix with hubs from a covariance matrix (Tan et al. 2014, (6)).

    Minimises -log det Θ + tr(SΘ) + P(Θ). With `screen`, variables that no |S_ij| > min(λ1, λ2/2) connects are solved
    apart, which changes nothing but the time (Theorem 1). O(p³) an iteration for the largest block.

    Parameters
    ----------
    S : array-like of shape (p, p)
        Covariance, better correlation: one λ is meant for all pairs.
    alpha_edge, alpha_hub_edge, alpha_hub : float
        Prices of an edge in Z, of an entry of a hub's column and of a hub; infinite ``alpha_hub`` is the graphical
        lasso.
    q : {1, 2}, default=2
        Norm of a hub's column.
    screen : bool, default=True
    tol : float, default=1e-06
        The duality gap is at most ``tol * p``.
    max_iter : int, default=2000
    warm_start : HubFit, optional
        A solution for other penalties.

    Returns
    -------
    HubFit

    Examples
    --------
    >>> from learnable.datasets import make_gaussian_graph
    >>> made = make_gaussian_graph("hubs", 400, p=40, n_hubs=2, random_state=0)
    >>> fit = hub_graphical_lasso(np.corrcoef(made.data.T), 0.5, 0.2, 2.0)
    >>> fit.hubs.tolist(), made.hubs.tolist()
    ([11, 27, 12], [11, 27])
    """
    loss, penalty = GaussianLoss(S), HubPenalty.checked(alpha_edge, alpha_hub_edge, alpha_hub, q)
    unit = float(np.mean(np.diagonal(loss.S)))
    options = _solver_options(tol, max_iter)
    fit = solve_by_blocks(
        lambda block: GaussianLoss(block),
        loss.S / unit,
        penalty.over(unit),
        screen,
        options,
        _in_unit(warm_start, unit),
    )
    fit = _in_unit(fit, 1.0 / unit, constant=len(loss.S) * np.log(unit))
    if not fit.converged:
        warn_not_converged("hub_graphical_lasso", fit.n_iter, fit.gap / len(loss.S), tol, "raise max_iter or tol")
    return fit


def hub_bic(fit, S, n_samples, *, c=0.2):
    r"""The criterion of Tan et al. 2014, Section 3.4, for a fit of :func:`hub_graphical_lasso`; smaller is better.

    ::

        n (-log det Θ + tr(SΘ)) + log n (|Z| + ν + c (|V| - ν)),

    with |Z| the entries of Z on and above the diagonal that are not zero, |V| those of V off the diagonal and ν the
    number of hubs. A hub's edges after its first count as c parameters each. O(p^3 / 3).

    Parameters
    ----------
    fit : HubFit
    S : array-like of shape (p, p)
    n_samples : int
    c : float, default=0.2
        In [0, 1]; smaller values favour hubs.

    Returns
    -------
    float

    Examples
    --------
    >>> S = np.eye(3)
    >>> round(hub_bic(hub_graphical_lasso(S, 0.1, 1.0, 1.0), S, 10), 4)
    36.9078
    """
    check_has(fit, "fit", "estimate V Z", "a HubFit")
    S = check_symmetric(S, "S")
    if np.shape(fit.estimate) != S.shape:
        raise ValueError(f"S must have the shape of the fit, {np.shape(fit.estimate)}, got {S.shape}")
    n = check_scalar(n_samples, "n_samples", low=1, integer=True)
    c = check_scalar(c, "c", low=0, high=1)
    off = fit.V - np.diag(np.diagonal(fit.V))
    n_hubs = np.count_nonzero(off.any(axis=0))
    count = np.count_nonzero(np.triu(fit.Z)) + n_hubs + c * (np.count_nonzero(off) - n_hubs)
    return float(n * GaussianLoss(S).value(fit.estimate) + np.log(n) * count)


@dataclass(frozen=True, eq=False)
class HubPath(Result):
    """Fits along λ2, in decreasing order, their criteria, and the best of them."""

    alpha_hub_edge: np.ndarray
    fits: list
    bic: np.ndarray

    @property
    def best(self):
        """The fit with the smallest criterion."""
        return self.fits[int(np.argmin(self.bic))]


def hub_path(S, n_samples, alpha_edge, alpha_hub_edge, alpha_hub, *, c=0.2, tol=1e-6, max_iter=2000):
    """Fits for several λ2 at fixed λ1 and λ3, each started at the one before, with their criteria.

    The way in which Tan et al. 2014 draw their curves and choose λ2.

    Parameters
    ----------
    S : array-like of shape (p, p)
    n_samples : int
    alpha_edge : float
    alpha_hub_edge : array-like
        Sorted to decrease.
    alpha_hub : float
    c : float, default=0.2
        See :func:`hub_bic`.
    tol : float, default=1e-06
    max_iter : int, default=2000

    Returns
    -------
    HubPath

    Examples
    --------
    >>> from learnable.datasets import make_gaussian_graph
    >>> made = make_gaussian_graph("hubs", 400, p=40, n_hubs=2, random_state=0)
    >>> path = hub_path(np.corrcoef(made.data.T), 400, 0.5, [0.1, 0.15, 0.2], 2.0)
    >>> [int(np.count_nonzero(fit.adjacency)) // 2 for fit in path.fits]
    [87, 93, 131]
    """
    S = check_symmetric(S, "S")
    n = check_scalar(n_samples, "n_samples", low=1, integer=True)
    grid = check_finite_array(alpha_hub_edge, "alpha_hub_edge", ndim=1)
    if grid.size == 0:
        raise ValueError("alpha_hub_edge must hold at least one value")
    grid = np.sort(grid)[::-1]
    fits = []
    for value in grid:
        start = fits[-1] if fits else None
        fits.append(hub_graphical_lasso(S, alpha_edge, value, alpha_hub, tol=tol, max_iter=max_iter, warm_start=start))
    return HubPath(grid, fits, np.array([hub_bic(fit, S, n, c=c) for fit in fits]))


class HubGraphicalLasso(EmpiricalCovariance):
    r"""Gaussian graphical model with hubs, in scikit-learn's protocol (Tan et al. 2014, Section 3).

    Minimises -log det Θ + tr(SΘ) + P(Θ), where S is the covariance of the rows with divisor n.
    Standardise the columns before, for example with ``StandardScaler`` in a pipeline. O(p³) an iteration.

    Parameters
    ----------
    alpha_edge : float, default=0.4
        Price of an edge outside hubs.
    alpha_hub_edge : float or array-like, default=0.3
        Price of a hub's edge; of several values the one with the smallest criterion is taken.
    alpha_hub : float, default=1.0
        Price of a hub.
    c : float, default=0.2
        Weight of a hub's edges in the criterion.
    assume_centered : bool, default=False
        The data have mean zero.
    covariance : None or "precomputed"
        With "precomputed", `fit` takes a covariance matrix, and there is no criterion, which needs n.
    tol : float, default=1e-06
        The duality gap is at most ``tol * p``.
    max_iter : int, default=2000

    Attributes
    ----------
    covariance_, precision_ : ndarray of shape (p, p)
        The estimate and its sparse inverse, Z + V + V'.
    V_, Z_ : ndarray of shape (p, p)
        Hubs and other edges.
    hubs_ : ndarray
        Nodes with a column in V, the densest first.
    alpha_hub_edge_ : float
        The value used.
    bic_ : float
        The criterion (NaN for a precomputed covariance).
    dual_gap_ : float
    n_iter_ : int
    location_ : ndarray of shape (p,)

    Examples
    --------
    >>> from learnable.datasets import make_gaussian_graph
    >>> made = make_gaussian_graph("hubs", 400, p=40, n_hubs=2, random_state=0)
    >>> X = made.data / made.data.std(axis=0)
    >>> model = HubGraphicalLasso(alpha_edge=0.5, alpha_hub_edge=0.2, alpha_hub=2.0).fit(X)
    >>> model.hubs_[:2].tolist(), made.hubs.tolist()
    ([11, 27], [11, 27])
    """

    _depends_on_units = ONE_PENALTY

    def __init__(
        self,
        alpha_edge=0.4,
        alpha_hub_edge=0.3,
        alpha_hub=1.0,
        *,
        c=0.2,
        assume_centered=False,
        covariance=None,
        tol=1e-6,
        max_iter=2000,
    ):
        super().__init__(assume_centered=assume_centered)
        self.alpha_edge = alpha_edge
        self.alpha_hub_edge = alpha_hub_edge
        self.alpha_hub = alpha_hub
        self.c = c
        self.covariance = covariance
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X, y=None):
        """Estimate the precision matrix of the rows of `X`, or of a covariance matrix if it is precomputed."""
        S = training_covariance(self, X)
        n = None if self.covariance else len(X)
        options = {"tol": self.tol, "max_iter": self.max_iter}
        if np.ndim(self.alpha_hub_edge) == 0:
            found = hub_graphical_lasso(S, self.alpha_edge, self.alpha_hub_edge, self.alpha_hub, **options)
            self.alpha_hub_edge_, self.bic_ = (
                self.alpha_hub_edge,
                np.nan if n is None else hub_bic(found, S, n, c=self.c),
            )
        else:
            if n is None:
                raise ValueError(
                    "alpha_hub_edge must be one number for a precomputed covariance: the criterion needs n"
                )
            path = hub_path(S, n, self.alpha_edge, self.alpha_hub_edge, self.alpha_hub, c=self.c, **options)
            found, self.alpha_hub_edge_, self.bic_ = (
                path.best,
                float(path.alpha_hub_edge[path.bic.argmin()]),
                float(path.bic.min()),
            )
        self.precision_, self.V_, self.Z_, self.hubs_ = found.estimate, found.V, found.Z, found.hubs
        self.covariance_ = linalg.inv(found.estimate)
        self.covariance_ = 0.5 * (self.covariance_ + self.covariance_.T)
        self.dual_gap_, self.n_iter_ = found.gap, found.n_iter
        return self


def _solver_options(tol, max_iter):
    tol = check_scalar(tol, "tol", low=0, closed="neither")
    return {"tol": tol, "max_iter": check_scalar(max_iter, "max_iter", low=1, integer=True)}


def _in_unit(fit, unit, constant=0.0):
    """A precision in the unit of data scaled so that covariances are divided by `unit`."""
    if fit is None:
        return None
    check_has(fit, "warm_start", "estimate V Z dual", "a HubFit")
    return HubFit(
        fit.estimate * unit,
        fit.V * unit,
        fit.Z * unit,
        fit.dual / unit,
        fit.objective + constant,
        fit.gap,
        fit.n_iter,
        fit.converged,
        fit.n_blocks,
    )
