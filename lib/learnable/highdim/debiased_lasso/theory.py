r"""What the theory promises: power, its upper bound, interval lengths, and bounds on the remaining bias."""

import numpy as np
from scipy import special

from learnable.validation import check_finite_array, check_scalar, check_symmetric

__all__ = [
    "asymptotic_power",
    "conditional_variance",
    "efficiency_factor",
    "optimal_length",
    "oracle_power_bound",
    "power_G",
]


def power_G(alpha, u):
    r"""Power of the two-sided z-test at level alpha when the statistic has mean u and variance one.

    ::

        G(α,u) = 2-Φ(z_(1-α/2)+u)-Φ(z_(1-α/2)-u)

    Parameters
    ----------
    alpha : float
        Level of the test, or one minus the coverage.
    u : float or array-like
        Mean of the statistic.

    Examples
    --------
    >>> round(float(power_G(0.05, 0.0)), 6), round(float(power_G(0.05, 2.8)), 3)
    (0.05, 0.8)
    """
    alpha = check_scalar(alpha, "alpha", low=0, high=1)
    u = check_finite_array(u, "u")
    if alpha in (0.0, 1.0):
        return np.full(u.shape, alpha)
    z = -special.ndtri(alpha / 2)
    # Upper tails, not 1 - Phi: small powers keep their digits.
    return special.ndtr(-(z + u)) + special.ndtr(-(z - u))


def asymptotic_power(alpha, gamma, n, sigma=1.0, precision_ii=1.0):
    r"""Power at a coefficient of size gamma, G(α,√nγ/(σ[(Σ⁻¹)_ii]^(1/2))) (40).

    Parameters
    ----------
    alpha : float
        Level of the test, or one minus the coverage.
    gamma : float
        Size of the coefficient.
    n : int
        Number of observations.
    sigma : float, default=1.0
        Noise level.
    precision_ii : float, default=1.0
        Diagonal entry of the inverse covariance.

    Examples
    --------
    >>> round(float(asymptotic_power(0.05, 0.1, 1000, precision_ii=1.0725)), 3)
    0.863
    """
    sigma, precision_ii = _positive(sigma, "sigma"), _positive(precision_ii, "precision_ii")
    n = check_scalar(n, "n", low=1)
    return power_G(alpha, np.sqrt(n) * check_finite_array(gamma, "gamma") / (sigma * np.sqrt(precision_ii)))


def conditional_variance(covariance, i, S):
    r"""Variance of variable i given those in S.

    ::

        Σ_(i|S)=Σ_ii-Σ_iSΣ_SS⁻¹Σ_Si

    Parameters
    ----------
    covariance : array-like of shape (p, p)
    i : int
        The variable.
    S : array-like of int
        Indices of other variables.

    Examples
    --------
    >>> conditional_variance([[1.0, 0.5], [0.5, 1.0]], 0, [1])
    0.75
    """
    covariance = check_symmetric(covariance, "covariance")
    last = len(covariance) - 1
    i = check_scalar(i, "i", low=0, high=last, integer=True)
    S = check_finite_array(S, "S").ravel()
    if S.size and (S.min() < 0 or S.max() > last or (S % 1).any()):
        raise ValueError(f"S must hold numbers of variables, whole numbers from 0 to {last}")
    S = S.astype(int)
    if S.size == 0:
        return float(covariance[i, i])
    if i in S:
        raise ValueError(f"S must not contain i = {i}")
    return float(covariance[i, i] - covariance[i, S] @ np.linalg.solve(covariance[np.ix_(S, S)], covariance[S, i]))


def effective_sigma(n, s0, sigma=1.0, conditional=1.0, xi=0.0):
    r"""Noise that a test with the support given would face, σ/(Σ_(i|S)^(1/2)(√(n-s₀+1)+ξ)).

    Examples
    --------
    >>> effective_sigma(100, 1)
    0.1
    """
    n, s0 = check_scalar(n, "n", low=1), check_scalar(s0, "s0", low=1)
    if s0 > n:
        raise ValueError(f"s0 must not exceed n, got {s0:g} > {n:g}")
    root = np.sqrt(n - s0 + 1)
    xi = check_finite_array(xi, "xi")
    if (xi < 0).any() or (xi > 1.5 * root).any():
        raise ValueError(f"xi must lie in [0, 1.5 sqrt(n - s0 + 1)] = [0, {1.5 * root:.3g}]")
    value = _positive(sigma, "sigma") / (np.sqrt(_positive(conditional, "conditional")) * (root + xi))
    return float(value) if np.ndim(value) == 0 else value


def oracle_power_bound(alpha, gamma, n, s0, sigma=1.0, conditional=1.0, xi=None):
    r"""No test of level alpha has more power: G(α,γ/σ_( eff)(ξ))+e^(-ξ²/8) (41).

    With ``xi=None`` the best xi on a grid is taken. The bound belongs to an oracle that knows the other variables of
    the support.

    Parameters
    ----------
    alpha : float
        Level of the test, or one minus the coverage.
    gamma : float
        Size of the coefficient.
    n : int
        Number of observations.
    s0 : int
        Number of non-zero coefficients.
    sigma : float, default=1.0
        Noise level.
    conditional : float, default=1.0
        Variance of the variable given the others of the support.
    xi : float, optional
        Trades the two terms; the best by default.

    Examples
    --------
    >>> round(oracle_power_bound(0.05, 0.1, 1000, 10), 3)
    0.972
    """
    grid = np.linspace(0, 1.5 * np.sqrt(n - s0 + 1), 2001) if xi is None else np.atleast_1d(np.asarray(xi, dtype=float))
    spread = effective_sigma(n, s0, sigma, conditional, grid)
    bound = power_G(alpha, check_scalar(gamma, "gamma") / spread) + np.exp(-(grid**2) / 8)
    return float(min(bound.min(), 1.0))


def efficiency_factor(covariance, i, S=()):
    r"""η=Σ_(i|S)(Σ⁻¹)_ii ≥ 1: how many times more data than the oracle the test needs.

    The source maximises it over i and S (its (43) prints a minimum). At most the condition number of Sigma.

    Parameters
    ----------
    covariance : array-like of shape (p, p)
    i : int
        The variable.
    S : array-like of int, default=()
        Indices of other variables.

    Examples
    --------
    >>> round(efficiency_factor([[1.0, 0.5], [0.5, 1.0]], 0), 6)
    1.333333
    """
    covariance = check_symmetric(covariance, "covariance")
    i = check_scalar(i, "i", low=0, high=len(covariance) - 1, integer=True)
    e = np.zeros(len(covariance))
    e[i] = 1.0
    return float(conditional_variance(covariance, i, S) * np.linalg.solve(covariance, e)[i])


def optimal_length(alpha, n, sigma=1.0, precision_ii=1.0):
    r"""Length of the interval at the information bound, 2z_(1-α/2) σ√((Σ⁻¹)_ii/n).

    Parameters
    ----------
    alpha : float
        Level of the test, or one minus the coverage.
    n : int
        Number of observations.
    sigma : float, default=1.0
        Noise level.
    precision_ii : float, default=1.0
        Diagonal entry of the inverse covariance.

    Examples
    --------
    >>> round(optimal_length(0.05, 1000, precision_ii=1.0725), 4)
    0.1284
    """
    alpha = check_scalar(alpha, "alpha", low=0, high=1, closed="neither")
    n = check_scalar(n, "n", low=1)
    root = np.sqrt(_positive(precision_ii, "precision_ii") / n)
    return float(-2 * special.ndtri(alpha / 2) * _positive(sigma, "sigma") * root)


def bias_bound(mu_star, s0, p, *, sigma=1.0, c=1.0, phi0=1.0):
    r"""Bound (11) on the bias of a fixed design, ‖Δ‖_∞ ≤ 4cμ_*σs₀√(log p)/φ₀².

    It belongs to λ=cσ√(log p/n) and compatibility constant φ₀, and holds with
    probability at least 1-2p^(-c₀), c₀=c²/(32K)-1, where K bounds the diagonal of Sigma.

    Examples
    --------
    >>> round(bias_bound(0.01, 5, 100, c=6), 3)
    2.575
    """
    mu_star = check_scalar(mu_star, "mu_star", low=0)
    c, sigma, phi0 = _positive(c, "c"), _positive(sigma, "sigma"), _positive(phi0, "phi0")
    return float(4 * c * mu_star * sigma * _count(s0, "s0") * np.sqrt(np.log(_count(p, "p"))) / phi0**2)


def bias_bound_random_design(s0, n, p, *, sigma=1.0, a=2.0, c=1.0, c_min=1.0):
    r"""Bound (17) for random designs, ‖Δ‖_∞ ≤ 16ac σs₀ log p/(C_min√n).

    For μ=a√(log p/n), λ=cσ√(log p/n); `c_min` is the smallest eigenvalue of the
    population covariance.

    Examples
    --------
    >>> round(bias_bound_random_design(1, 10_000, 100), 3)
    1.474
    """
    a, c, sigma, c_min = _positive(a, "a"), _positive(c, "c"), _positive(sigma, "sigma"), _positive(c_min, "c_min")
    s0, n, p = _count(s0, "s0"), _count(n, "n"), _count(p, "p")
    return float(16 * a * c * sigma * s0 * np.log(p) / (c_min * np.sqrt(n)))


def _positive(value, name):
    return check_scalar(value, name, low=0, closed="neither")


def _count(value, name):
    return check_scalar(value, name, low=1, integer=True)
