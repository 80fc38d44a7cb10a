"""What a user would try instead, beside PC: orders by variance, and non-Gaussian errors.

- :func:`variance_order`, :func:`top_down_order`: equal variances put causes before effects by their (conditional)
  variances (Reisach et al. 2021; Chen, Drton and Wang 2019);
- :func:`direct_lingam_order`: with non-Gaussian errors a cause is independent of the residual of its effect
  (Shimizu et al. 2011; pairwise likelihood ratios by Hyvärinen and Smith 2013);
- :func:`regress_in_order`: the graph, given an order.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy.stats import norm

from learnable.graphs.dags import DAG


def variance_order(covariance):
    """Variables by increasing variance, "varsortability" (Reisach et al. 2021). O(p log p)."""
    return np.argsort(np.diagonal(covariance), kind="stable")


def top_down_order(covariance):
    """Repeatedly take the variable with the smallest variance given all that were taken (Chen et al. 2019). O(p³)."""
    rest = np.array(covariance, dtype=float)
    floor = 1e-12 * np.diagonal(rest)
    order = []
    left = np.ones(len(rest), dtype=bool)
    for _ in range(len(rest)):
        k = int(np.argmin(np.where(left, np.diagonal(rest), np.inf)))
        order.append(k)
        left[k] = False
        if rest[k, k] > floor[k]:
            rest -= np.multiply.outer(rest[:, k], rest[k]) / rest[k, k]
    return np.array(order)


def direct_lingam_order(X):
    """An order of the causes from non-Gaussian errors, DirectLiNGAM with pairwise likelihood ratios. O(n p³)."""
    rest = np.asfortranarray((X - X.mean(axis=0)) / X.std(axis=0))
    left = list(range(X.shape[1]))
    order = []
    while left:
        correlation = np.clip(rest.T @ rest / len(rest), -1.0, 1.0)
        first = int(np.argmin(_effect_measure(rest, correlation)))
        order.append(left.pop(first))
        if left:
            root = rest[:, first]
            others = np.delete(rest, first, axis=1)
            others = others - np.multiply.outer(root, np.delete(correlation[first], first))
            spread = others.std(axis=0)
            rest = np.asfortranarray(others / np.where(spread > 1e-10, spread, 1.0))
    return np.array(order)


def regress_in_order(covariance, order, n_samples, *, adjacency=None, max_p_value=None):
    """The graph for a known order: regress each variable on its predecessors, keep the significant ones. O(p⁴)."""
    p = len(covariance)
    adjacency = np.ones((p, p), dtype=bool) if adjacency is None else np.asarray(adjacency, dtype=bool)
    bound = norm.isf((1.0 / (n_samples * p) if max_p_value is None else max_p_value) / 2)
    order = np.asarray(order, dtype=np.int64)
    matrix = np.zeros((p, p), dtype=bool)
    for place, k in enumerate(order):
        before = order[:place][adjacency[k, order[:place]]]
        if len(before):
            members = [*before, k]
            # t² = (n - d) ρ²/(1 - ρ²), ρ the partial correlation of the pair given the other candidates.
            theta = np.linalg.pinv(covariance[np.ix_(members, members)], hermitian=True)
            rho2 = theta[-1, :-1] ** 2 / np.maximum(np.diagonal(theta)[:-1] * theta[-1, -1], 1e-300)
            rho2 = np.clip(rho2, 0.0, 1.0 - 1e-15)
            t = np.sqrt((n_samples - len(before)) * rho2 / (1.0 - rho2))
            matrix[before[t > bound], k] = True
    return DAG(matrix)


@njit(cache=True)
def _entropy(x, y, coefficient, scale):
    """Hyvärinen's approximation of the differential entropy of (x - coefficient y)/scale, which has variance one."""
    k1, k2, gamma = 79.047, 7.4129, 0.37457
    first, second = 0.0, 0.0
    for i in range(len(x)):
        u = (x[i] - coefficient * y[i]) / scale
        size = abs(u)
        first += size + np.log1p(np.exp(-2.0 * size)) - 0.6931471805599453  # log cosh u without overflow
        second += u * np.exp(-0.5 * u * u)
    first, second = first / len(x), second / len(x)
    return 0.5 * (1.0 + 1.8378770664093453) - k1 * (first - gamma) ** 2 - k2 * second**2


@njit(cache=True)
def _effect_measure(X, correlation):
    """For each variable the squared evidence that others cause it; columns have mean zero and variance one."""
    p = X.shape[1]
    alone, evidence = np.empty(p), np.zeros(p)
    for i in range(p):
        alone[i] = _entropy(X[:, i], X[:, i], 0.0, 1.0)
    for i in range(p):
        for j in range(i + 1, p):
            c = correlation[i, j]
            scale = np.sqrt(max(1.0 - c * c, 1e-12))
            forward = alone[i] + _entropy(X[:, j], X[:, i], c, scale)
            backward = alone[j] + _entropy(X[:, i], X[:, j], c, scale)
            ratio = backward - forward  # positive where i -> j fits better
            evidence[i] += min(0.0, ratio) ** 2
            evidence[j] += min(0.0, -ratio) ** 2
    return evidence
