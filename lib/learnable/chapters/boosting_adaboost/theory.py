"""What boosting is measured by: surrogate risks, product bounds on the sample, margin and Rademacher bounds beyond it.

Lember 2012, Sec. 5.1 and (5.2.11)–(5.2.18). Products over rounds are formed as sums of logarithms.
"""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

from learnable.ensembles.weak_learners import SortedFeatures
from learnable.validation import check_rng


def training_bound(errors):
    """Bounds on the training error after each round."""
    errors = np.asarray(errors, float)
    return margin_bound(errors, 0.0), np.exp(-2 * np.cumsum((0.5 - errors) ** 2))


def margin_bound(errors, gamma):
    """Bound on the share of normalised margins ≤ γ after each round: Π 2√(ε^{1−γ}(1 − ε)^{1+γ})."""
    errors = np.asarray(errors, float)
    logs = np.log(2) + 0.5 * (xlogy(1 - gamma, errors) + (1 + gamma) * np.log1p(-errors))
    # Far above one the product may leave the range of floats; it says nothing there.
    return np.exp(np.minimum(np.cumsum(logs), 700.0))


def rounds_to_separate(n, u):
    """Rounds after which edges of at least u force a training error of zero on n points: ⌊ln n/(2u²)⌋ + 1."""
    return int(np.floor(np.log(n) / (2 * u**2))) + 1


def rademacher_vc_bound(n, V):
    """𝓡_n ≤ 2√(2 V ln(n + 1)/n) for ±1 rules of VC dimension V (5.2.17)."""
    return 2 * np.sqrt(2 * V * np.log(np.add(n, 1)) / n)


def _confidence(n, delta, numerator):
    return np.sqrt(np.log(numerator / delta) / np.multiply(2, n))


def rademacher_margin_bound(ramp, complexity, gamma, n, delta=0.05):
    """R(f) ≤ A_n(f) + 4 𝓡_n/γ + √(ln(2/δ)/2n) with probability 1 − δ, for all votes f and one fixed γ (5.2.18)."""
    return ramp + 4 * complexity / gamma + _confidence(n, delta, 2.0)


def margin_risk_bound(ramp, V, gamma, n, delta=0.05):
    """R(f) ≤ A_n(f) + (8/γ)√(2V ln(n + 1)/n) + √(ln(2/δ)/2n): the number of rounds does not occur (5.2.15)."""
    return rademacher_margin_bound(ramp, rademacher_vc_bound(n, V), gamma, n, delta)


def sample_size_for(target, V, gamma, delta=0.05, ramp=0.0):
    """Smallest n (from 2 on) at which `margin_risk_bound` is below `target`."""
    high = 2
    while margin_risk_bound(ramp, V, gamma, high, delta) >= target:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if margin_risk_bound(ramp, V, gamma, middle, delta) < target else (middle, high)
    return high


def rademacher_supremum(X, sigma, rules="stumps"):
    """sup_h |(1/n) Σ σ_i h(x_i)| for given signs."""
    sigma = np.atleast_2d(sigma)
    n = sigma.shape[1]
    if rules == "linear":  # ‖w‖ ≤ 1
        return np.linalg.norm(sigma @ X, axis=1) / n
    if rules == "columns":
        return np.abs(sigma @ X).max(axis=1) / n
    features = X if isinstance(X, SortedFeatures) else SortedFeatures(X)
    values = np.empty(len(sigma))
    for k, signs in enumerate(sigma):
        low, high = features.extremes(signs)
        total = signs.sum()
        values[k] = max(abs(total), total - 2 * low.min(), 2 * high.max() - total)
    return values / n


def rademacher(X, rules="stumps", *, n_draws=1000, random_state=None):
    """Estimate the Rademacher complexity of a class on a sample."""
    features = SortedFeatures(X) if rules == "stumps" else np.asarray(X)
    sigma = check_rng(random_state).integers(0, 2, (n_draws, features.shape[0])) * 2.0 - 1.0
    values = rademacher_supremum(features, sigma, rules)
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(n_draws))
