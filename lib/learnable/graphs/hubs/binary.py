"""The hub binary network: an Ising model by its pseudo-likelihood (Tan et al. 2014, Sec. 5), and a Gibbs sampler."""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy import optimize, special
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from learnable.graphs.hubs.penalty import HubPenalty
from learnable.graphs.hubs.solver import solve
from learnable.validation import check_rng, check_scalar, check_symmetric, check_zero_one


class PseudoLikelihood:
    r"""Minus the log-pseudo-likelihood of 0/1 data under an Ising model, for ``solve``.

    The sum over j of the logistic losses of x_j given the others, with log-odds θ_jj + Σ_{k≠j} θ_jk x_k and one
    symmetric Θ for all of them. O(n p²) an evaluation.

    Parameters
    ----------
    X : array-like of shape (n, p)
        Zeros and ones; both must occur in each column.

    Examples
    --------
    >>> round(PseudoLikelihood([[0, 1], [1, 0]]).value(np.zeros((2, 2))), 4)
    2.7726
    """

    def __init__(self, X):
        self.X = check_zero_one(X, "X").astype(np.float64)
        n, self.n_nodes = self.X.shape
        self.counts = self.X.sum(axis=0)
        if self.counts.min() == 0 or self.counts.max() == n:
            j = int(np.argmax((self.counts == 0) | (self.counts == n)))
            raise ValueError(f"X must have zeros and ones in each column, but column {j} is constant: leave it out")
        self.unit = n * self.n_nodes * np.log(2.0)
        self.rho = n / 8.0  # about half the largest curvature of a logistic loss, n/4
        self.last = self.start()

    def start(self):
        """The model without edges: θ_jj are the log-odds of the columns."""
        share = self.counts / len(self.X)
        return np.diag(special.logit(share))

    def odds(self, theta):
        """θ_jj + Σ_{k≠j} θ_jk x_ik for all i and j."""
        d = np.diagonal(theta)
        return self.X @ (theta - np.diag(d)) + d

    def value(self, theta):
        """The loss."""
        eta = self.odds(theta)
        return float(np.sum(np.logaddexp(0.0, eta)) - np.vdot(self.X, eta))

    def value_and_gradient(self, theta):
        """The loss and its gradient among symmetric matrices, in the Frobenius inner product."""
        eta = self.odds(theta)
        error = special.expit(eta) - self.X
        gradient = error.T @ self.X
        gradient = 0.5 * (gradient + gradient.T)
        np.fill_diagonal(gradient, error.sum(axis=0))
        return float(np.sum(np.logaddexp(0.0, eta)) - np.vdot(self.X, eta)), gradient

    def step(self, A, rho):
        """The minimiser of the loss plus ρ/2 |Θ - A|², by L-BFGS from the last one."""
        p = self.n_nodes

        def both(flat):
            theta = flat.reshape(p, p)
            loss, gradient = self.value_and_gradient(theta)
            away = theta - A
            return loss + 0.5 * rho * float(np.vdot(away, away)), (gradient + rho * away).ravel()

        options = {"maxiter": 60, "maxcor": 8, "ftol": 1e-15, "gtol": 1e-7 * len(self.X)}
        found = optimize.minimize(both, self.last.ravel(), jac=True, method="L-BFGS-B", options=options)
        theta = found.x.reshape(p, p)
        self.last = 0.5 * (theta + theta.T)
        return self.last

    def repair(self, theta):
        """`theta`, with the diagonal that fits best given the rest: then the errors of each column sum to zero."""
        repaired = np.array(theta)
        eta = self.odds(theta)
        diagonal = _balance_columns(eta, self.counts)
        repaired[np.diag_indices_from(repaired)] += diagonal
        return repaired

    def bound(self, theta, multiplier, prices):
        r"""Σ of the entropies of P_t = (1 - t) X + t P with P the fitted probabilities: Fenchel's dual of the loss.

        P makes the multiplier Λ = X'X - ½(P'X + X'P) with zero diagonal, P_t makes tΛ, and t brings it into the dual
        set.
        """
        P = special.expit(self.odds(theta))
        product = P.T @ self.X
        own = self.X.T @ self.X - 0.5 * (product + product.T)
        np.fill_diagonal(own, 0.0)
        t = prices.feasible_scale(own)
        P = (1.0 - t) * self.X + t * P
        return float(np.sum(special.entr(P) + special.entr(1.0 - P)))


def pseudo_likelihood(X, theta):
    """Log-pseudo-likelihood of 0/1 data under an Ising model, Σ_i Σ_j log P(x_ij | the rest of row i). O(n p²).

    Parameters
    ----------
    X : array-like of shape (n, p)
        Zeros and ones.
    theta : array-like of shape (p, p)
        Symmetric; the diagonal holds the main effects.

    Returns
    -------
    float

    Examples
    --------
    >>> round(pseudo_likelihood([[0, 1], [1, 1], [0, 0]], np.zeros((2, 2))), 4)
    -4.1589
    """
    X, theta = check_zero_one(X, "X").astype(np.float64), check_symmetric(theta, "theta")
    if X.shape[1] != len(theta):
        raise ValueError(f"theta must have one row for each of the {X.shape[1]} columns of X, got {theta.shape}")
    d = np.diagonal(theta)
    eta = X @ (theta - np.diag(d)) + d
    return float(np.vdot(X, eta) - np.sum(np.logaddexp(0.0, eta)))


def hub_binary_network(X, alpha_edge, alpha_hub_edge, alpha_hub, *, q=2, tol=1e-6, max_iter=2000, warm_start=None):
    r"""Ising model with hubs from 0/1 data (Tan et al. 2014, (12)).

    Minimises minus the log-pseudo-likelihood plus P(Θ), diagonal not penalised. The likelihood is a sum over
    observations, so that the penalties grow with n. With infinite ``alpha_hub`` it is the estimator of Höfling and
    Tibshirani (2009). O(n p²) for each of some ten inner steps of an iteration.

    Parameters
    ----------
    X : array-like of shape (n, p)
        Zeros and ones; both must occur in each column.
    alpha_edge, alpha_hub_edge, alpha_hub : float
        Prices of an edge in Z, of an entry of a hub's column and of a hub.
    q : {1, 2}, default=2
        Norm of a hub's column.
    tol : float, default=1e-06
        The duality gap is at most ``tol * n p log 2``.
    max_iter : int, default=2000
    warm_start : HubFit, optional
        A solution for other penalties.

    Returns
    -------
    HubFit

    Examples
    --------
    >>> theta = np.array([[0.0, 2.0], [2.0, 0.0]])
    >>> X = gibbs_ising(theta, 200, random_state=0)
    >>> hub_binary_network(X, 5.0, np.inf, np.inf).adjacency.astype(int).tolist()
    [[0, 1], [1, 0]]
    """
    loss, penalty = PseudoLikelihood(X), HubPenalty.checked(alpha_edge, alpha_hub_edge, alpha_hub, q)
    return solve(loss, penalty, tol=tol, max_iter=max_iter, warm_start=warm_start)


class HubBinaryNetwork(BaseEstimator):
    r"""Ising model with hubs, in scikit-learn's protocol (Tan et al. 2014, Section 5).

    See :func:`hub_binary_network`. `score` is the mean log-pseudo-likelihood of a row, for cross-validation.

    Parameters
    ----------
    alpha_edge, alpha_hub_edge, alpha_hub : float, default=5.0, 5.0, 20.0
        Prices of an edge outside hubs, of a hub's edge and of a hub; they grow with n.
    tol : float, default=1e-06
    max_iter : int, default=2000

    Attributes
    ----------
    theta_ : ndarray of shape (p, p)
        Main effects on the diagonal, couplings off it: Z + V + V'.
    V_, Z_ : ndarray of shape (p, p)
    hubs_ : ndarray
        Nodes with a column in V, the densest first.
    dual_gap_ : float
    n_iter_ : int

    Examples
    --------
    >>> from learnable.datasets import make_ising
    >>> made = make_ising(500, p=15, n_hubs=1, random_state=0)
    >>> model = HubBinaryNetwork(20.0, 10.0, 40.0).fit(made.data)
    >>> model.theta_.shape
    (15, 15)
    """

    _takes = "zeros and ones"

    def __init__(self, alpha_edge=5.0, alpha_hub_edge=5.0, alpha_hub=20.0, *, tol=1e-6, max_iter=2000):
        self.alpha_edge = alpha_edge
        self.alpha_hub_edge = alpha_hub_edge
        self.alpha_hub = alpha_hub
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X, y=None):
        """Estimate the couplings from zeros and ones."""
        X = validate_data(self, X, ensure_min_samples=2)
        found = hub_binary_network(
            X, self.alpha_edge, self.alpha_hub_edge, self.alpha_hub, tol=self.tol, max_iter=self.max_iter
        )
        self.theta_, self.V_, self.Z_, self.hubs_ = found.estimate, found.V, found.Z, found.hubs
        self.dual_gap_, self.n_iter_ = found.gap, found.n_iter
        return self

    def score(self, X, y=None):
        """Mean log-pseudo-likelihood of a row of `X`."""
        X = validate_data(self, X, reset=False)
        return pseudo_likelihood(X, self.theta_) / len(X)


def gibbs_ising(theta, n_samples, *, burn_in=1000, thin=20, random_state=None):
    r"""Sample p(x) ∝ exp(Σ θ_jj x_j + Σ_{j<k} θ_jk x_j x_k) over {0, 1}^p by one Gibbs chain.

    A sweep redraws x_1, ..., x_p in turn with P(x_j = 1 | rest) = 1/(1 + exp(-θ_jj - Σ_{k≠j} θ_jk x_k)). The log-odds
    are kept up to date, so that a sweep costs O(p) for the draws plus O(p) for each x_j that changes. Tan et al. 2014
    use 10⁵ sweeps of burn-in and keep every 10⁴th state.

    Parameters
    ----------
    theta : array-like of shape (p, p)
        Symmetric.
    n_samples : int
    burn_in : int, default=1000
        Sweeps before the first sample.
    thin : int, default=20
        Sweeps between samples.
    random_state : None, int or Generator

    Returns
    -------
    ndarray of shape (n_samples, p)
        Zeros and ones.

    Examples
    --------
    >>> X = gibbs_ising([[0.0, 9.0], [9.0, -4.5]], 400, random_state=0)
    >>> bool((X[:, 0] == X[:, 1]).mean() > 0.9)
    True
    """
    theta = check_symmetric(theta, "theta")
    n = check_scalar(n_samples, "n_samples", low=1, high=10**8, integer=True)
    burn_in = check_scalar(burn_in, "burn_in", low=0, integer=True)
    thin = check_scalar(thin, "thin", low=1, integer=True)
    rng = check_rng(random_state)
    out = np.empty((n, len(theta)))
    _gibbs(theta, burn_in, thin, rng, out)
    return out


@njit(cache=True)
def _balance_columns(eta, counts):
    """For each column the shift b with Σ_i σ(η_ij + b) = counts_j, by Newton steps kept inside a bracket."""
    n, p = eta.shape
    shifts = np.zeros(p)
    for j in range(p):
        low, high, b = -1e3, 1e3, 0.0
        for _ in range(100):
            total = curvature = 0.0
            for i in range(n):
                chance = 1.0 / (1.0 + np.exp(-(eta[i, j] + b)))
                total += chance
                curvature += chance * (1.0 - chance)
            error = total - counts[j]
            if abs(error) <= 1e-12 * n:
                break
            if error > 0.0:
                high = b
            else:
                low = b
            step = b - error / curvature if curvature > 0.0 else low
            b = step if low < step < high else 0.5 * (low + high)
        shifts[j] = b
    return shifts


@njit(cache=True)
def _gibbs(theta, burn_in, thin, rng, out):
    n, p = out.shape
    x = np.zeros(p)
    eta = np.empty(p)
    for j in range(p):
        eta[j] = theta[j, j]
    for sweep in range(burn_in + (n - 1) * thin + 1):
        for j in range(p):
            new = 1.0 if rng.random() * (1.0 + np.exp(-eta[j])) < 1.0 else 0.0
            if new != x[j]:
                change = new - x[j]
                for k in range(p):
                    eta[k] += change * theta[j, k]
                eta[j] -= change * theta[j, j]
                x[j] = new
        if sweep >= burn_in and (sweep - burn_in) % thin == 0:
            out[(sweep - burn_in) // thin] = x
