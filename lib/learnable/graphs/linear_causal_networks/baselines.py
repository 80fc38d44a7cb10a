"""What a user would try instead: orders by variance, non-Gaussian errors, conditional independence.

- :func:`variance_order`, :func:`top_down_order`: equal variances put causes before effects by their (conditional)
  variances (Reisach et al. 2021; Chen, Drton and Wang 2019);
- :func:`direct_lingam_order`: with non-Gaussian errors a cause is independent of the residual of its effect
  (Shimizu et al. 2011; pairwise likelihood ratios by Hyvärinen and Smith 2013);
- :func:`regress_in_order`: the graph, given an order;
- :func:`pc_cpdag`: the PC algorithm with partial correlations (Spirtes et al. 2000), up to Markov equivalence.
"""

from __future__ import annotations

import itertools

import numpy as np
from numba import njit
from scipy.stats import norm

from learnable._inner import copy_to
from learnable.graphs.dags import DAG
from learnable.graphs.linear_causal_networks.local_scores import check_covariance, check_undirected
from learnable.graphs.mixed import MixedGraph
from learnable.validation import check_finite_array, check_scalar

__all__ = ["direct_lingam_order", "pc_cpdag", "regress_in_order", "top_down_order", "variance_order"]


def variance_order(covariance):
    """Variables by increasing variance, "varsortability" (Reisach et al. 2021). O(p log p).

    Parameters
    ----------
    covariance : array-like of shape (p, p)

    Returns
    -------
    ndarray of int of shape (p,)

    Examples
    --------
    >>> variance_order([[2.0, 1.0], [1.0, 1.0]]).tolist()
    [1, 0]
    """
    return np.argsort(np.diagonal(check_covariance(covariance)), kind="stable")


def top_down_order(covariance):
    """Repeatedly take the variable with the smallest variance given all that were taken (Chen et al. 2019). O(p³).

    Under equal error variances this recovers an order of the true graph; it needs no search.

    Parameters
    ----------
    covariance : array-like of shape (p, p)

    Returns
    -------
    ndarray of int of shape (p,)

    Examples
    --------
    >>> top_down_order([[1.0, 1.0, 1.0], [1.0, 2.0, 2.0], [1.0, 2.0, 3.0]]).tolist()
    [0, 1, 2]
    """
    rest = check_covariance(covariance).copy()
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
    """An order of the causes from non-Gaussian errors, DirectLiNGAM with pairwise likelihood ratios. O(n p³).

    At each step the variable that looks least like an effect of any other is taken, and regressed out of the rest.
    Units and equal variances do not matter; Gaussian errors leave the order to chance.

    Parameters
    ----------
    X : array-like of shape (n, p)
        Data without missing entries, n > p.

    Returns
    -------
    ndarray of int of shape (p,)

    Examples
    --------
    >>> from learnable.graphs.linear_sem import LinearSEM
    >>> X = LinearSEM([[0, 0, 0], [1, 0, 0], [0, 0.8, 0]]).sample(2000, "uniform", random_state=0)
    >>> direct_lingam_order(X).tolist()
    [2, 1, 0]
    """
    X = check_finite_array(X, "X", ndim=2)
    if X.shape[0] <= X.shape[1] or X.shape[1] < 1:
        raise ValueError(f"X must have more rows than columns, got shape {X.shape}")
    scale = X.std(axis=0)
    if scale.min() <= 1e-12 * np.abs(X).max(initial=0.0) or not np.isfinite(scale).all():
        raise ValueError("X must have no constant column")
    rest = np.asfortranarray((X - X.mean(axis=0)) / scale)
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
    """The graph for a known order: regress each variable on its predecessors, keep the significant ones. O(p⁴).

    Parameters
    ----------
    covariance : array-like of shape (p, p)
    order : array-like of int of shape (p,)
        Causes before effects.
    n_samples : int
    adjacency : array-like of bool of shape (p, p), optional
        Parents are sought among the neighbours in this graph only, which p > n needs.
    max_p_value : float, optional
        Keep a parent whose t statistic has a smaller p-value; 1/(n p) by default, close to the extended BIC.

    Returns
    -------
    DAG

    Examples
    --------
    >>> regress_in_order([[1.0, 1.0], [1.0, 2.0]], [0, 1], 100).edges
    ((0, 1),)
    """
    covariance = check_covariance(covariance)
    p = len(covariance)
    order = check_finite_array(order, "order", ndim=1)
    if not np.array_equal(np.sort(order), np.arange(p)):
        raise ValueError(f"order must be a permutation of 0, ..., {p - 1}")
    n_samples = check_scalar(n_samples, "n_samples", low=3, integer=True)
    adjacency = check_undirected(adjacency, p)
    level = 1.0 / (n_samples * p) if max_p_value is None else max_p_value
    level = check_scalar(level, "max_p_value", low=0, high=1, closed="right")
    bound = norm.isf(min(level, 1.0) / 2)
    order = order.astype(np.int64)
    matrix = np.zeros((p, p), dtype=bool)
    for place, k in enumerate(order):
        before = order[:place][adjacency[k, order[:place]]]
        if len(before) >= n_samples - 1:
            raise ValueError(f"adjacency must leave node {k} fewer than n_samples - 1 candidates, got {len(before)}")
        if len(before):
            members = [*before, k]
            # t² = (n - d) ρ²/(1 - ρ²), ρ the partial correlation of the pair given the other candidates.
            theta = np.linalg.pinv(covariance[np.ix_(members, members)], hermitian=True)
            rho2 = theta[-1, :-1] ** 2 / np.maximum(np.diagonal(theta)[:-1] * theta[-1, -1], 1e-300)
            rho2 = np.clip(rho2, 0.0, 1.0 - 1e-15)
            t = np.sqrt((n_samples - len(before)) * rho2 / (1.0 - rho2))
            matrix[before[t > bound], k] = True
    return DAG(matrix)


def pc_cpdag(covariance, n_samples, *, alpha=0.01, max_given=None):
    """The PC algorithm: skeleton by tests of partial correlations, v-structures, and what follows (Meek's rules).

    The result is a class of Markov equivalent DAGs; correlations do not say more without further assumptions. O(p^d)
    tests for degree d. Pairs to be removed are collected for each size of conditioning sets, so that the order of the
    variables matters little.

    Parameters
    ----------
    covariance : array-like of shape (p, p)
    n_samples : int
    alpha : float, default=0.01
        Level of each test.
    max_given : int, optional
        Largest conditioning set.

    Returns
    -------
    MixedGraph

    Examples
    --------
    >>> pc_cpdag([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 1.0, 3.0]], 500).directed_edges
    ((0, 2), (1, 2))
    """
    covariance = check_covariance(covariance)
    if np.diagonal(covariance).min() <= 0:
        raise ValueError("covariance must have a positive diagonal")
    n_samples = check_scalar(n_samples, "n_samples", low=4, integer=True)
    alpha = check_scalar(alpha, "alpha", low=0, high=1, closed="neither")
    if max_given is not None:
        max_given = check_scalar(max_given, "max_given", low=0, integer=True)
    adjacency, separators = _pc_skeleton(covariance, n_samples, norm.isf(alpha / 2), max_given)
    arrow = np.zeros_like(adjacency)
    for k in range(len(adjacency)):
        for i, j in itertools.combinations(np.flatnonzero(adjacency[k]), 2):
            conflict = arrow[k, i] or arrow[k, j]  # an earlier collider points the other way: leave it
            if not adjacency[i, j] and k not in separators[i, j] and not conflict:
                arrow[i, k] = arrow[j, k] = True
    _meek(adjacency, arrow)
    directed = np.argwhere(arrow & ~arrow.T).tolist()
    undirected = np.argwhere(np.triu(adjacency & ~arrow & ~arrow.T)).tolist()
    return MixedGraph.from_edges(len(adjacency), directed=directed, undirected=undirected)


def _pc_skeleton(covariance, n_samples, bound, max_given):
    p = len(covariance)
    adjacency, separators = ~np.eye(p, dtype=bool), {}
    size, scale = 0, np.sqrt(np.diagonal(covariance))
    correlation = covariance / scale[:, None] / scale
    while size <= n_samples - 4 and (max_given is None or size <= max_given):
        neighbors = [np.flatnonzero(row) for row in adjacency]
        if max((len(row) for row in neighbors), default=0) <= size:
            break
        for i, j in itertools.permutations(range(p), 2):
            if not adjacency[i, j]:
                continue
            for given in itertools.combinations([k for k in neighbors[i] if k != j], size):
                rho = _partial_correlation(correlation, i, j, np.array(given, dtype=np.int64))
                if np.sqrt(n_samples - size - 3) * abs(np.arctanh(rho)) <= bound:
                    adjacency[i, j] = adjacency[j, i] = False
                    separators[i, j] = separators[j, i] = set(given)
                    break
        size += 1
    return adjacency, separators


def _meek(adjacency, arrow):
    """Orient until nothing follows: no new v-structure (1), no cycle (2), and the third rule; in place."""
    changed = True
    while changed:
        changed = False
        for i, j in np.argwhere(adjacency & ~arrow & ~arrow.T):
            if arrow[i, j] or arrow[j, i]:
                continue
            into = arrow[:, i] & ~arrow[i]
            one = (into & ~adjacency[:, j]).any()
            two = (arrow[i] & ~arrow[:, i] & arrow[:, j] & ~arrow[j]).any()
            both = np.flatnonzero(adjacency[i] & ~arrow[i] & ~arrow[:, i] & arrow[:, j] & ~arrow[j])
            three = any(not adjacency[k, m] for k, m in itertools.combinations(both, 2))
            if one or two or three:
                arrow[i, j] = changed = True


@njit(cache=True)
def _partial_correlation(correlation, i, j, given):
    """Correlation of i and j with `given` regressed out, by elimination; clipped away from one."""
    m = len(given) + 2
    members = np.empty(m, dtype=np.int64)
    members[0], members[1] = i, j
    copy_to(members[2:], given)
    A = np.empty((m, m))
    for a in range(m):
        for b in range(m):
            A[a, b] = correlation[members[a], members[b]]
    for t in range(m - 1, 1, -1):
        if A[t, t] <= 1e-12:
            continue
        for a in range(t):
            factor = A[a, t] / A[t, t]
            for b in range(t):
                A[a, b] -= factor * A[t, b]
    product = A[0, 0] * A[1, 1]
    rho = A[0, 1] / np.sqrt(product) if product > 1e-24 else 0.0
    return min(max(rho, -1.0 + 1e-15), 1.0 - 1e-15)


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
