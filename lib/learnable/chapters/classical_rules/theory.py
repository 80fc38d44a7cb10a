"""Plug-in rules and what their error costs, limits of nearest neighbours, exact risks on the line.

Excess risk of any rule is 2 ∫_{g ≠ g*} |η − ½| dF, so a plug-in rule pays only where its estimate is on the wrong side
of ½. Source: Lember 2012, Sec. 6.1 and 6.2.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import binom


def excess_risk_exact(problem, g, **options):
    """R(g) − R* = 2 ∫_{g ≠ g*} |η − ½| dF, (6.1.2), on a problem of the first chapter's kind."""

    def wasted(x, post):
        eta = post[:, 1]
        return 2.0 * np.abs(eta - 0.5) * (np.asarray(g(x)) != (eta > 0.5))

    return problem.expect(wasted, label=lambda x, post: np.asarray(g(x)).astype(int), **options)


def plug_in_bounds(problem, eta1, eta0=None, **options):
    """Excess risk of the plug-in rule and the bounds on it: a dictionary of numbers in rising order."""
    if eta0 is None:

        def rule(x):
            return (np.asarray(eta1(x)) > 0.5).astype(int)

        l1 = problem.expect(lambda x, post: np.abs(post[:, 1] - eta1(x)), **options)
        l2 = problem.expect(lambda x, post: (post[:, 1] - eta1(x)) ** 2, **options)
        return {
            "excess": float(excess_risk_exact(problem, rule, **options)),
            "l1": 2.0 * float(l1),
            "l2": 2.0 * float(np.sqrt(l2)),
        }

    def pair_rule(x):
        return (np.asarray(eta1(x)) > np.asarray(eta0(x))).astype(int)

    pair = problem.expect(lambda x, post: np.abs(post[:, 1] - eta1(x)) + np.abs(1.0 - post[:, 1] - eta0(x)), **options)
    return {"excess": float(excess_risk_exact(problem, pair_rule, **options)), "pair": float(pair)}


def knn_limit_risk(eta, k):
    """Limit R_k of the risk of the k-nearest-neighbour rule where P(Y = 1 | x) = η, as n → ∞ (Theorem 6.2.5)."""
    eta = np.asarray(eta, float)
    if k % 2 == 0:
        k -= 1
    half = (k - 1) // 2
    return eta * binom.cdf(half, k, eta) + (1 - eta) * binom.sf(half, k, eta)


def cover_hart(bayes_risk):
    """The bracket for R_1: (R*, 2 R* (1 − R*))."""
    return bayes_risk, 2.0 * bayes_risk * (1.0 - bayes_risk)


def two_ball_risk(n, k=1):
    """E R of the k-nearest-neighbour rule for two far-apart balls with equal priors: 2^(−n) Σ_{j ≤ k/2} C(n, j)."""
    return float(binom.cdf(k // 2, n, 0.5))


def knn_regions_1d(x, y, k):
    """Decision regions of the k-nearest-neighbour rule on a line, exactly."""
    n, order = len(x), np.argsort(x)
    x, y = np.asarray(x, float)[order], np.asarray(y)[order]
    # Window i = points i … i+k−1; it is the neighbourhood between the two borders.
    borders = 0.5 * (x[: n - k] + x[k:])
    edges = np.concatenate([[-np.inf], borders, [np.inf]])
    ones = np.concatenate([[0], np.cumsum(y)])
    votes = ones[k:] - ones[: n - k + 1]
    if k % 2 == 1:
        return edges, (2 * votes > k).astype(int)
    # Even k: on a tie the nearest neighbour decides, so its borders matter too.
    nearest = 0.5 * (x[1:] + x[:-1])
    cuts = np.concatenate([[-np.inf], np.unique(np.concatenate([borders, nearest])), [np.inf]])
    middle = np.concatenate([[x[0] - 1], 0.5 * (cuts[1:-2] + cuts[2:-1]), [x[-1] + 1]]) if len(cuts) > 2 else x[:1]
    window = np.searchsorted(borders, middle)
    closest = np.searchsorted(nearest, middle)
    tied = 2 * votes[window] == k
    return cuts, np.where(tied, y[closest], 2 * votes[window] > k).astype(int)


def exact_risk_1d(edges, decisions, joint_cdf):
    """Exact risk of a rule that is constant between edges."""
    zero, one = (np.diff(mass) for mass in joint_cdf(np.asarray(edges, float)))
    return float(np.where(np.asarray(decisions) == 1, zero, one).sum())


def student_joint_cdf(c=1.0):
    """`joint_cdf` of the study-hours problem: X uniform on [0, 4c], P(Y = 1 | x) = x/(c + x)."""

    def joint_cdf(x):
        u = np.clip(np.asarray(x, float) / c, 0.0, 4.0)
        return np.log1p(u) / 4.0, (u - np.log1p(u)) / 4.0

    return joint_cdf
