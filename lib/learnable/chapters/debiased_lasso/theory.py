"""What the debiased lasso promises: coherence, the split of its error, power and lengths, bounds on the bias.

Numbers in brackets are those of Javanmard and Montanari (2014).
"""

import numpy as np
from scipy import optimize, special

from learnable.highdim.debiased_lasso.programme import decorrelate
from learnable.highdim.debiased_lasso.scaled import SMALL, _Problem
from learnable.optim.coordinate_descent import solve_lasso


def minimum_coherence(covariance, rows=None):
    """Smallest mu for which each row's programme is feasible, by linear programming."""
    S, p = np.asarray(covariance), len(covariance)
    ones = np.ones((p, 1))
    A = np.vstack([np.hstack([S, -ones]), np.hstack([-S, -ones])])
    cost = np.append(np.zeros(p), 1.0)
    limits = [(None, None)] * p + [(0, None)]
    smallest = []
    for i in range(p) if rows is None else rows:
        e = np.zeros(p)
        e[i] = 1.0
        smallest.append(optimize.linprog(cost, A, np.append(e, -e), bounds=limits, method="highs").x[-1])
    return np.array(smallest)


def decorrelating_matrix(covariance, mu=None, rows=None, **options):
    """Rows of the decorrelating matrix M; see :func:`decorrelate`, which returns certificates with them."""
    return decorrelate(covariance, mu, rows, **options).M


def lasso(X, y, alpha):
    """Minimise (1/2n)‖y-Xθ‖²+λ‖θ‖₁ to a relative duality gap of 1e-12."""
    if X.shape[1] <= min(SMALL, len(X)):
        return _Problem(X, y).solve(alpha, np.zeros(X.shape[1]), 1e-12)
    return solve_lasso(X, y, alpha, tol=1e-12, max_iter=100_000).coef


def power_G(alpha, u):
    """Power of the two-sided z-test at level alpha when the statistic has mean u and variance one."""
    z = -special.ndtri(alpha / 2)
    # Upper tails, not 1 - Phi: small powers keep their digits.
    return special.ndtr(-(z + u)) + special.ndtr(-(z - u))


def asymptotic_power(alpha, gamma, n, sigma=1.0, precision_ii=1.0):
    """Power at a coefficient of size gamma, G(α,√nγ/(σ[(Σ⁻¹)_ii]^(1/2))) (40)."""
    return power_G(alpha, np.sqrt(n) * np.asarray(gamma) / (sigma * np.sqrt(precision_ii)))


def conditional_variance(covariance, i, S):
    """Variance of variable i given those in S."""
    S = np.asarray(S, dtype=int)
    if S.size == 0:
        return float(covariance[i, i])
    return float(covariance[i, i] - covariance[i, S] @ np.linalg.solve(covariance[np.ix_(S, S)], covariance[S, i]))


def effective_sigma(n, s0, sigma=1.0, conditional=1.0, xi=0.0):
    """Noise that a test with the support given would face, σ/(Σ_(i|S)^(1/2)(√(n-s₀+1)+ξ))."""
    return sigma / (np.sqrt(conditional) * (np.sqrt(n - s0 + 1) + xi))


def oracle_power_bound(alpha, gamma, n, s0, sigma=1.0, conditional=1.0, xi=None):
    """No test of level alpha has more power: G(α,γ/σ_( eff)(ξ))+e^(-ξ²/8) (41)."""
    grid = np.linspace(0, 1.5 * np.sqrt(n - s0 + 1), 2001) if xi is None else np.atleast_1d(np.asarray(xi, dtype=float))
    spread = effective_sigma(n, s0, sigma, conditional, grid)
    bound = power_G(alpha, gamma / spread) + np.exp(-(grid**2) / 8)
    return float(min(bound.min(), 1.0))


def efficiency_factor(covariance, i, S=()):
    """η=Σ_(i|S)(Σ⁻¹)_ii ≥ 1: how many times more data than the oracle the test needs."""
    e = np.zeros(len(covariance))
    e[i] = 1.0
    return float(conditional_variance(covariance, i, S) * np.linalg.solve(covariance, e)[i])


def optimal_length(alpha, n, sigma=1.0, precision_ii=1.0):
    """Length of the interval at the information bound, 2z_(1-α/2) σ√((Σ⁻¹)_ii/n)."""
    return float(-2 * special.ndtri(alpha / 2) * sigma * np.sqrt(precision_ii / n))
