"""Sums of logarithms and polygamma differences that keep their digits.

Every factor of the evidence is a product over an arithmetic progression, prod_{l=1}^{n} (alpha + l d): differences of
log-gammas lose all digits for alpha >> n, and their d -> 0 limit is 0/0. One kernel computes the logarithm of
the product from Stirling's series with the cancelling parts taken out by hand.
"""

import numpy as np
from numba import njit, vectorize
from scipy import special

from learnable.validation import check_finite_array

EULER = float(np.euler_gamma)
ZETAS = special.zeta(np.arange(2.0, 16.0))
SETTLED = 16  # Stirling's series is exact to 1e-16 from here on


def digamma_from_one(x):
    """psi(1 + x) - psi(1) for x > -1, without cancellation near zero.

    Examples
    --------
    >>> float(digamma_from_one(1.0)), f"{digamma_from_one(1e-20):.5e}"
    (1.0, '1.64493e-20')
    """
    x = check_finite_array(x, "x")
    small = np.abs(x) < 0.06
    near = np.where(small, x, 0.0)
    # psi(1 + x) - psi(1) = sum_{j >= 2} (-1)^j zeta(j) x^(j - 1)
    series = -np.polyval(np.append(ZETAS[::-1] * (-1.0) ** np.arange(len(ZETAS) + 1, 1, -1), 0.0) * -1.0, near)
    return np.where(small, series, special.digamma(1.0 + np.where(small, 1.0, x)) + EULER)


def trigamma(x):
    """psi_1(x) for x > 0, by Hurwitz' zeta function.

    Examples
    --------
    >>> round(float(trigamma(1.0)), 12) == round(np.pi**2 / 6, 12)
    True
    """
    return special.zeta(2.0, _positive(x))


def _positive(x):
    x = check_finite_array(x, "x")
    if (x <= 0).any():
        raise ValueError(f"x must be positive, got {x[x <= 0].flat[0]:g}")
    return x


def trigamma_excess(x):
    """x psi_1(x) - 1 for x > 0: what is left of the trigamma function beside 1 / x; it decays like 1 / (2 x).

    Examples
    --------
    >>> f"{trigamma_excess(1e15):.6e}"
    '5.000000e-16'
    """
    x = _positive(x)
    large = x > 25.0
    u = 1.0 / np.where(large, x, 25.0)
    v = u * u
    tail = u * (0.5 + u * (1 / 6 + v * (-1 / 30 + v * (1 / 42 + v * (-1 / 30 + v * 5 / 66)))))
    near = np.where(large, 25.0, x)
    return np.where(large, tail, near * special.zeta(2.0, near) - 1.0)


@njit(cache=True)
def log1p_ratio(t):
    """log(1 + t) / t - 1, by its series where that cancels."""
    if t < 1e-2:
        total, power = 0.0, 1.0
        for j in range(2, 9):
            power *= -t
            total += power / j
        return total
    return np.log1p(t) / t - 1.0


@njit(cache=True)
def stirling_tail(u):
    """ln Gamma(x) minus the leading part of Stirling's formula, at u = 1 / x <= 1 / 16."""
    v = u * u
    return u * (1 / 12 + v * (-1 / 360 + v * (1 / 1260 + v * (-1 / 1680 + v * (1 / 1188 - v * 691 / 360360)))))


@njit(cache=True)
def log_progression_sum(alpha, d, n):
    """sum_{l=1}^{n} log(alpha + l d) for alpha + d > 0, d >= 0; O(1)."""
    if n <= 0:
        return 0.0
    total = 0.0
    if n <= SETTLED + 8:
        for j in range(1, n + 1):
            total += np.log(alpha + j * d)
        return total
    if d == 0.0:
        return n * np.log(alpha)
    # Move up the progression until alpha + d >= 16 d.
    while alpha < (SETTLED - 1) * d:
        alpha += d
        total += np.log(alpha)
        n -= 1
    first, end = alpha + d, alpha + d + n * d
    t = n * d / first
    body = n * np.log(end) + n * log1p_ratio(t) - 0.5 * np.log1p(t)
    return total + body + stirling_tail(d / end) - stirling_tail(d / first)


@vectorize(["float64(float64, float64, int64)"], cache=True)
def log_products(alpha, d, n):
    """`log_progression` for numbers that need no check."""
    return log_progression_sum(alpha, d, n)


def log_progression(alpha, d, n):
    """log prod_{l=1}^{n} (alpha + l d), elementwise, in constant time whatever n is.

    Stirling's difference, written so that nothing cancels for alpha >> n d and d = 0 is the limit:
    n log(alpha + (n + 1) d) + n (log(1 + t) / t - 1) - log(1 + t) / 2 + ..., t = n d / (alpha + d).

    Parameters
    ----------
    alpha, d : array-like
        d >= 0 and alpha + d >= 0.
    n : array-like of int

    Examples
    --------
    >>> round(float(log_progression(0.0, 1.0, 5)), 12) == round(float(np.log(120)), 12)
    True
    >>> f"{log_progression(1e9, 1.0, 1000) - 1000 * np.log(1e9):.2e}"  # 1000 * 1001 / 2 / 1e9
    '5.00e-04'
    """
    alpha, d, n = (check_finite_array(*given) for given in ((alpha, "alpha"), (d, "d"), (n, "n")))
    if (d < 0).any() or np.any(alpha + d < 0):
        raise ValueError("neither d nor alpha + d must be negative")
    if np.any(n != np.floor(n)) or np.any(np.abs(n) > 2**53):
        raise ValueError("n must hold whole numbers, at most 2**53")
    with np.errstate(divide="ignore"):  # alpha + d = 0: the product is 0, its logarithm −∞
        return log_products(alpha, d, n.astype(np.int64))
