"""Bayes risk in its many guises, decisions by ratios and thresholds, and real-valued predictors.

The Bayes error of a problem can be written through the largest posterior, the smallest one, the distance of the
posterior from 1/2, or the overlap of the class densities. Each formula is a function here; that they agree is a
theorem, and a test. ``**options`` go to the problem's `expect` (method, number of samples, ...). Source: Lember 2012,
ch. 1.
"""

import numpy as np


def lp_risk(problem, h, p=2, **options):
    """Return J_p(h) = E|h(X) - Y|^p of a real-valued predictor of a class in {0, 1}."""
    return problem.expect(lambda x, post: _lp_loss(post, np.asarray(h(x), float), p), **options)


def lp_regret(problem, h, p=2, **options):
    """Return J_p(h) - J*_p, what h loses against the best real-valued predictor."""

    def regret(x, post):
        value, best = np.asarray(h(x), float), _lp_optimal(post, p)
        eta, rest = post[:, 1], post[:, 0]
        return eta * (np.abs(1.0 - value) ** p - (1.0 - best) ** p) + rest * (np.abs(value) ** p - best**p)

    return problem.expect(regret, **options)


def _lp_loss(post, value, p):
    return post[:, 1] * np.abs(1.0 - value) ** p + post[:, 0] * np.abs(value) ** p


def _lp_optimal(post, p):
    eta, rest = post[:, 1], post[:, 0]
    if p == 1:
        return (eta >= 0.5).astype(np.float64)
    # The larger of the two is divided out before the power, which could underflow.
    power = 1.0 / (p - 1.0)
    top = np.maximum(eta, rest)
    up, down = (eta / top) ** power, (rest / top) ** power
    return up / (up + down)


def likelihood_ratio_decision(log_f0, log_f1, pi1=0.5, a=1.0, b=1.0):
    """Return 1 where f_1(x)/f_0(x) >= b pi_0 / (a pi_1), else 0 (Lember 2012, (1.2.17) with costs), in logarithms."""
    # a = 0 puts the threshold at +inf and b = 0 at -inf; a density of 0 puts the ratio there.
    with np.errstate(divide="ignore"):
        threshold = np.log(b) - np.log(a) + np.log1p(-pi1) - np.log(pi1)
    return (np.asarray(log_f1) - np.asarray(log_f0) >= threshold).astype(np.int64)
