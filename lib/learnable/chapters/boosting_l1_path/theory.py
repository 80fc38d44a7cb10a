"""Directions and limits of ℓ1 paths, sparse optima, ℓ2 margins, and boosting with a line search or an ℓ2 path.

Source: Rosset, Zhu and Hastie 2004.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.optimize import minimize

from learnable.ensembles.boosting_path.constrained import _Objective, l1_constrained_path
from learnable.ensembles.boosting_path.stepping import (
    _SQUARED,
    _boost,
    read_problem,
)
from learnable.ensembles.margins import MaxMargin, margin, max_l1_margin
from learnable.ensembles.weak_learners import BoundBestFirst
from learnable.kernels import smo


@dataclass(frozen=True)
class BestFirstTrees:
    """Trees with at most `max_leaf_nodes` leaves, -1 or +1; the leaf whose cut gains most is split first."""

    max_leaf_nodes: int = 10

    def prepare(self, X):
        """Number the distinct values of every feature."""
        return BoundBestFirst(X, self.max_leaf_nodes, min_gain=1e-12)


def path_direction(H, y, loss, beta):
    r"""Derivative of the constrained minimiser with respect to its l1 norm (Rosset et al. 2004, App. A)."""
    H, y, code, surrogate = read_problem(H, y, loss)
    active = np.flatnonzero(beta)
    part = H[:, active]
    W = np.ones(y.size) if code == _SQUARED else surrogate.second(y * (H @ beta))
    K = (part.T * (W / W.max())) @ part
    s = np.sign(beta[active])
    solved = linalg.solve(K, s, assume_a="sym")
    out = np.zeros(beta.size)
    out[active] = solved / (s @ solved)
    return out


def separable_limit(H, y, loss="logistic", *, c=None, p=1):
    r"""The minimiser for a large bound on the lp norm, divided by the bound: nearly the lp maximum-margin separator."""
    H, y, code, _ = read_problem(H, y, loss)
    Z = y[:, None] * H
    best = (max_l1_margin if p == 1 else max_l2_margin)(Z)
    if best.margin <= 0.0:
        raise ValueError("the data are not separable: the minimiser does not run away, and has no limit direction")
    c = 1000.0 / best.margin if c is None else c
    if p == 1:
        path = l1_constrained_path(H, y, loss, np.geomspace(min(1.0, c), c, 24), tol=1e-7)
        return path.coefs[-1] / c
    return _on_sphere(_Objective(H, y, code), c)


def _on_sphere(objective, c):
    """Minimise over the l2 sphere of radius c: Newton's method with the multiplier as a ridge, over growing radii."""
    size = objective.Z.shape[1]
    u = objective.Z.mean(axis=0)
    u = u / np.linalg.norm(u) if u.any() else np.eye(size)[0]
    for radius in np.geomspace(min(1.0, c), c, 40):

        def scaled(x, radius=radius):
            length = np.linalg.norm(x)
            direction = x / length
            slope, _ = objective.parts(radius * direction)
            inside = radius * (slope - direction * (slope @ direction)) / length
            return objective.value(radius * direction), inside

        u = minimize(scaled, u, jac=True, method="BFGS", options={"gtol": 1e-9, "maxiter": 2000}).x
        u /= np.linalg.norm(u)
    return u


def sparsify(H, beta, *, tol=1e-10):
    r"""An equal fit with the same l1 norm and at most n non-zero coefficients (Rosset et al. 2004, App. B)."""
    H, beta = np.asarray(H, float), np.array(beta, float)
    beta[np.abs(beta) <= 1e-14 * np.abs(beta).max(initial=0.0)] = 0.0
    while np.count_nonzero(beta) > H.shape[0]:
        active = np.flatnonzero(beta)
        _, values, rows = linalg.svd(H[:, active])
        rank = int(np.sum(values > tol * values[0]))
        null = rows[rank:]
        slopes = null @ np.sign(beta[active])
        worst = np.abs(slopes).max()
        if worst > 1e-6:
            if null.shape[0] == 1:
                raise ValueError("the l1 norm can be made smaller at the same fit: beta is not an optimum")
            # Combine dependences so that the norm stays.
            k = int(np.argmax(np.abs(slopes)))
            others = np.delete(null, k, axis=0) - np.outer(np.delete(slopes, k) / slopes[k], null[k])
            null = others
        direction = null[0] / np.abs(null[0]).max()
        with np.errstate(divide="ignore"):
            steps = np.where(np.abs(direction) > 1e-12, -beta[active] / direction, np.inf)
        out = int(np.argmin(np.abs(steps)))
        beta[active] += steps[out] * direction
        beta[active[out]] = 0.0
    return beta


def scale_columns(H):
    """Divide every column by its largest absolute value; returns (scaled, scales), with scale 1 for a zero column."""
    scales = np.abs(H).max(axis=0)
    scales = np.where(scales > 0.0, scales, 1.0)
    return H / scales, scales


def max_l2_margin(Z, *, tol=1e-10):
    r"""Maximise min_i z_i'β over ‖β‖₂ ≤ 1: the hard-margin machine without intercept."""
    gram = Z @ Z.T
    scale = max(float(np.diag(gram).max()), 1e-300)
    start = np.zeros(Z.shape[0])
    start[int(np.argmin(np.diag(gram)))] = 1.0
    s = smo.solve(gram / scale, 0.0, 0.0, 1.0, start=start, tol=tol)
    point = s.beta @ Z
    length = float(np.linalg.norm(point))
    if length**2 <= 1e-12 * scale:
        return MaxMargin(0.0, np.zeros(Z.shape[1]), s.beta)
    return MaxMargin(margin(Z, point, 2), point / length, s.beta)


def lemma4_threshold(n, m1, m2):
    r"""The scale d beyond which margin decides: d > (ln n + ln 2)/(m₁ - m₂)."""
    return float((np.log(n) + np.log(2.0)) / (m1 - m2))


def l2_boost_path(H, y, loss="exponential", *, eps=0.01, n_steps=1000, record=None, start=None):
    r"""The relative whose path follows l2-constrained minimisers: pick arg max|w'h_j|/|β_j|."""
    return _boost(H, y, loss, eps, n_steps, record, start, True)
