"""Bayes risk in its many guises, decisions by ratios and thresholds, and real-valued predictors.

The Bayes error of a problem can be written through the largest posterior, the smallest one, the distance of the
posterior from 1/2, or the overlap of the class densities. Each formula is a function here; that they agree is a
theorem, and a test. ``**options`` go to the problem's `expect` (method, number of samples, ...). Source: Lember 2012,
ch. 1.
"""

import numpy as np

from learnable.problems.base import Estimate
from learnable.problems.decisions import cost_matrix, cost_threshold


def bayes_error_from_max(problem, **options):
    """Return R* = 1 - E max_i p(i|X) = 1 - int max_i pi_i f_i, for 0-1 loss (Lember 2012, (1.2.12))."""
    return _affine(1.0, -1.0, problem.expect(lambda x, post: post.max(axis=1), **options))


def bayes_error_from_min(problem, **options):
    """Return R* = E min(p(0|X), p(1|X)) = int min(pi_0 f_0, pi_1 f_1) (Lember 2012, (1.2.14), (1.2.18))."""
    return problem.expect(lambda x, post: post.min(axis=1), **options)


def bayes_error_from_margin(problem, **options):
    """Return R* = 1/2 - E|2p(1|X) - 1|/2, for two classes and 0-1 loss."""
    return _affine(0.5, -0.5, problem.expect(lambda x, post: np.abs(2.0 * post[:, 1] - 1.0), **options))


def total_variation(problem, **options):
    """Return TV(f_0, f_1) = int |f_1 - f_0| / 2, the distance between the two class laws."""

    # |f_1 - f_0| = f |p(1|x)/pi_1 - p(0|x)/pi_0|, with its kink where f_1 = f_0.
    def difference(post):
        return post[:, 1] / problem.priors[1] - post[:, 0] / problem.priors[0]

    return problem.expect(
        lambda x, post: np.abs(difference(post)) / 2, label=lambda x, post: difference(post) >= 0, **options
    )


def bayes_error_from_variation(problem, **options):
    """Return R* = 1/2 - int |f_1 - f_0|/4 = (1 - TV)/2, for two equally probable classes."""
    return _affine(0.5, -0.5, total_variation(problem, **options))


def _affine(shift, scale, estimate):
    return Estimate(shift + scale * float(estimate), abs(scale) * estimate.error, estimate.method)


def bayes_risk_costs(problem, a, b, **options):
    """Return R* = E min{a p(1|X), b p(0|X)} = int min{a pi_1 f_1, b pi_0 f_0}."""
    return problem.bayes_risk(cost_matrix(a, b), **options)


def likelihood_ratio_decision(log_f0, log_f1, pi1=0.5, a=1.0, b=1.0):
    """Return 1 where f_1(x)/f_0(x) >= b pi_0 / (a pi_1), else 0 (Lember 2012, (1.2.17) with costs), in logarithms."""
    # a = 0 puts the threshold at +inf and b = 0 at -inf; a density of 0 puts the ratio there.
    with np.errstate(divide="ignore"):
        threshold = np.log(b) - np.log(a) + np.log1p(-pi1) - np.log(pi1)
    return (np.asarray(log_f1) - np.asarray(log_f0) >= threshold).astype(np.int64)


def cost_decision(p1, a, b):
    """Return 1 where p(1|x) >= b/(a + b), else 0: the generalisation of (1.2.13) to two costs."""
    return (np.asarray(p1) >= cost_threshold(a, b)).astype(np.int64)


def cost_risk(p1, a, b):
    """Return min{a p(1|x), b p(0|x)}, the generalisation of (1.2.14) to two costs."""
    return np.minimum(a * np.asarray(p1), b * (1.0 - np.asarray(p1)))


def zero_one_reject(post, t):
    """Return argmax_i p(i|x) where max_i p(i|x) >= 1 - t, else -1 (Lember 2012, (1.3.5))."""
    return np.where(post.max(axis=1) >= 1.0 - t, post.argmax(axis=1), -1)


def two_class_reject(p1, c):
    """Return 1 if p(1|x) >= 1/2 + c, 0 if p(1|x) <= 1/2 - c, else -1 (Lember 2012, (1.3.6)); c = 1/2 - t."""
    p1 = np.asarray(p1)
    return np.where(p1 >= 0.5 + c, 1, np.where(p1 <= 0.5 - c, 0, -1))


def lp_risk(problem, h, p=2, **options):
    """Return J_p(h) = E|h(X) - Y|^p of a real-valued predictor of a class in {0, 1}."""
    return problem.expect(lambda x, post: _lp_loss(post, np.asarray(h(x), float), p), **options)


def lp_minimizer(problem, p=2):
    """Return the predictor h*_p that minimises J_p."""
    return lambda x: _lp_optimal(problem.posterior(x), p)


def lp_bayes_risk(problem, p=2, **options):
    """Return J*_p = min_h J_p(h): E eta(1 - eta) for p = 2, the Bayes error for p = 1."""
    return problem.expect(lambda x, post: _lp_loss(post, _lp_optimal(post, p), p), **options)


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
