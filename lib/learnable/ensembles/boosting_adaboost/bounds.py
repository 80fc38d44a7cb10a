"""What the history of AdaBoost guarantees: product bounds on the sample, margin bounds beyond it.

Lember 2012, (5.2.11), (5.2.13), (5.2.15)–(5.2.18). Products over rounds are formed as sums of logarithms.
"""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

from learnable.validation import check_finite_array, check_probabilities, check_scalar

__all__ = [
    "margin_bound",
    "rademacher_margin_bound",
    "rademacher_vc_bound",
    "rounds_to_separate",
    "sample_size_for",
    "training_bound",
]


def _errors(errors):
    errors = check_finite_array(errors, "errors", ndim=1)
    if errors.size == 0 or errors.min() < 0 or errors.max() > 0.5:
        raise ValueError("errors must hold at least one weighted error, all in [0, 1/2]")
    return errors


def training_bound(errors):
    """Bounds on the training error after each round.

    Parameters
    ----------
    errors : array (T,)
        Weighted errors ε_t ≤ ½.

    Returns
    -------
    product : array (T,)
        Π 2√(ε(1 − ε)), which is also the mean exponential loss.
    simple : array (T,)
        exp(−2 Σ u²) with u = ½ − ε, never smaller.

    Examples
    --------
    >>> product, simple = training_bound([0.25, 0.25])
    >>> product.round(4).tolist(), simple.round(4).tolist()
    ([0.866, 0.75], [0.8825, 0.7788])
    """
    errors = _errors(errors)
    return margin_bound(errors, 0.0), np.exp(-2 * np.cumsum((0.5 - errors) ** 2))


def margin_bound(errors, gamma):
    """Bound on the share of normalised margins ≤ γ after each round: Π 2√(ε^{1−γ}(1 − ε)^{1+γ}).

    Parameters
    ----------
    errors : array (T,)
    gamma : float
        In [0, 1].

    Returns
    -------
    array (T,)

    Examples
    --------
    >>> margin_bound([0.25, 0.25], 0.0).round(4).tolist()
    [0.866, 0.75]
    """
    errors = _errors(errors)
    gamma = check_scalar(gamma, "gamma", low=0, high=1)
    logs = np.log(2) + 0.5 * (xlogy(1 - gamma, errors) + (1 + gamma) * np.log1p(-errors))
    # Far above one the product may leave the range of floats; it says nothing there.
    return np.exp(np.minimum(np.cumsum(logs), 700.0))


def edge_threshold(u):
    """Largest γ for which a round with edge u = ½ − ε lowers the margin bound.

    The factor (1 − 2u)^{1−γ}(1 + 2u)^{1+γ} is below one iff γ < −ln(1 − 4u²)/ln((1 + 2u)/(1 − 2u)), which is u for
    small u and never more than 2u.

    Examples
    --------
    >>> round(float(edge_threshold(0.1)), 4)
    0.1007
    """
    u = check_finite_array(u, "u")
    if (u <= 0).any() or (u >= 0.5).any():
        raise ValueError("u must lie in (0, 1/2)")
    return -np.log1p(-4 * u**2) / (np.log1p(2 * u) - np.log1p(-2 * u))


def rounds_to_separate(n, u):
    """Rounds after which edges of at least u force a training error of zero on n points: ⌊ln n/(2u²)⌋ + 1.

    Parameters
    ----------
    n : int
        Number of observations.
    u : float
        Smallest edge, ½ minus the weighted error.

    Examples
    --------
    >>> rounds_to_separate(100, 0.1)
    231
    """
    n = check_scalar(n, "n", low=1, integer=True)
    u = check_scalar(u, "u", low=0, high=0.5, closed="right")
    if u < 1e-150:
        raise ValueError(f"u must be at least 1e-150, so that its square is a number, got {u:g}")
    return int(np.floor(np.log(n) / (2 * u**2))) + 1


def ramp_loss(margins, gamma):
    """A_n: mean of the ramp that is 1 for margins ≤ 0, 0 from γ on, and linear between.

    Examples
    --------
    >>> float(ramp_loss([-1.0, 0.1, 0.5], 0.2))
    0.5
    """
    gamma = check_scalar(gamma, "gamma", low=0, high=1, closed="right")
    margins = check_finite_array(margins, "margins", ndim=1)
    if margins.size == 0:
        raise ValueError("margins must hold at least one margin")
    with np.errstate(over="ignore"):
        return np.clip(1 - margins / gamma, 0.0, 1.0).mean()


def rademacher_vc_bound(n, V):
    """𝓡_n ≤ 2√(2 V ln(n + 1)/n) for ±1 rules of VC dimension V (5.2.17).

    Parameters
    ----------
    n : int
        Number of observations.
    V : int
        VC dimension of the base class.

    Examples
    --------
    >>> round(float(rademacher_vc_bound(100, 2)), 3)
    0.859
    """
    n = _sizes(n)
    return 2 * np.sqrt(2 * check_scalar(V, "V", low=1) * np.log(n + 1) / n)


def _confidence(n, delta, numerator):
    delta = check_scalar(delta, "delta", low=0, high=1, closed="neither")
    return np.sqrt(np.log(numerator / delta) / (2 * _sizes(n)))


def _sizes(n):
    n = check_finite_array(n, "n")
    if n.size == 0 or n.min() < 1:
        raise ValueError(f"n must be at least 1, got {n.min() if n.size else 'nothing'}")
    return n


def rademacher_risk_bound(train_error, complexity, n, delta=0.05):
    """R(g) ≤ R_n(g) + 𝓡_n + √(ln(1/δ)/2n) with probability 1 − δ, for all rules g of a class (5.2.16).

    Examples
    --------
    >>> round(float(rademacher_risk_bound(0.1, 0.05, 1000)), 3)
    0.189
    """
    train_error = check_probabilities(train_error, "train_error")
    return train_error + _complexity(complexity) + _confidence(n, delta, 1.0)


def rademacher_margin_bound(ramp, complexity, gamma, n, delta=0.05):
    """R(f) ≤ A_n(f) + 4 𝓡_n/γ + √(ln(2/δ)/2n) with probability 1 − δ, for all votes f and one fixed γ (5.2.18).

    Parameters
    ----------
    ramp : float
        Mean ramp loss A_n(f) on the sample.
    complexity : float
        Rademacher complexity of the base class.
    gamma : float
        Margin, fixed before the data.
    n : int
        Number of observations.
    delta : float, default=0.05
        The bound fails with at most this probability.

    Examples
    --------
    >>> round(float(rademacher_margin_bound(0.1, 0.02, 0.4, 1000)), 4)  # 0.1 + 4 · 0.02/0.4 + √(ln 40/2000)
    0.3429
    """
    gamma = check_scalar(gamma, "gamma", low=0, high=1, closed="right")
    ramp = check_probabilities(ramp, "ramp")
    return ramp + 4 * _complexity(complexity) / gamma + _confidence(n, delta, 2.0)


def _complexity(complexity):
    complexity = check_finite_array(complexity, "complexity")
    if (complexity < 0).any():
        raise ValueError("complexity must not be negative")
    return complexity


def margin_risk_bound(ramp, V, gamma, n, delta=0.05):
    """R(f) ≤ A_n(f) + (8/γ)√(2V ln(n + 1)/n) + √(ln(2/δ)/2n): the number of rounds does not occur (5.2.15).

    Examples
    --------
    >>> round(float(margin_risk_bound(0.0, 2, 0.3, 10**5)), 3)
    0.577
    """
    return rademacher_margin_bound(ramp, rademacher_vc_bound(n, V), gamma, n, delta)


def sample_size_for(target, V, gamma, delta=0.05, ramp=0.0):
    """Smallest n (from 2 on) at which `margin_risk_bound` is below `target`.

    Parameters
    ----------
    target : float
        The risk bound to reach.
    V : int
        VC dimension of the base class.
    gamma : float
        Margin, fixed before the data.
    delta : float, default=0.05
        The bound fails with at most this probability.
    ramp : float, default=0.0
        Mean ramp loss A_n(f) on the sample.

    Examples
    --------
    >>> n = sample_size_for(0.5, 2, 0.3)
    >>> bool(margin_risk_bound(0.0, 2, 0.3, n) < 0.5 <= margin_risk_bound(0.0, 2, 0.3, n - 1))
    True
    """
    target = check_scalar(target, "target", low=ramp, closed="neither")
    high = 2
    while margin_risk_bound(ramp, V, gamma, high, delta) >= target:
        high *= 2
        if high > 10**15:
            raise ValueError(f"no sample size below 1e15 brings the bound under {target}")
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if margin_risk_bound(ramp, V, gamma, middle, delta) < target else (middle, high)
    return high
