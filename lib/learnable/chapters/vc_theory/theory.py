"""Empirical risk minimisation told by code: exact minimisers, exact suprema, the choice of a class, no free lunch.

Suprema of |P_n(A) − P(A)|: half-lines give the Kolmogorov–Smirnov statistic, intervals Kuiper's, orthants in the plane
the star discrepancy; unions of k intervals need a dynamic programme, half-planes a sweep. Source: Lember 2012, ch. 2.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit
from sklearn.base import clone
from sklearn.model_selection import KFold

from learnable.foundations.erm import _BinaryRule, _inside, interval_path
from learnable.foundations.srm import penalty
from learnable.validation import check_rng, check_seed


def classification_loss(y, prediction):
    """1 where the prediction is wrong."""
    return (np.asarray(y) != np.asarray(prediction)).astype(float)


def squared_loss(y, prediction):
    """(y − prediction)²: empirical risk minimisation becomes least squares, the population optimum is E[Y | x]."""
    return (np.asarray(y, float) - np.asarray(prediction, float)) ** 2


def density_loss(y, density):
    """−ln density: empirical risk minimisation becomes maximum likelihood; y is ignored."""
    with np.errstate(divide="ignore"):
        return -np.log(density)


def empirical_risk(loss, g, X, y=None):
    """Average loss of g on the sample, R_n(g): (2.4.2)."""
    return float(np.mean(loss(y, g(np.asarray(X)))))


def erm(loss, candidates, X, y=None):
    """The candidate with the smallest empirical risk, its index and its risk; the first of several minimisers."""
    risks = [empirical_risk(loss, g, X, y) for g in candidates]
    index = int(np.argmin(risks))
    return candidates[index], index, risks[index]


def tail_to_mean(C, A):
    """If P(Z > ε) ≤ C exp(−Aε²) for all ε > 0, then EZ ≤ √((ln C + 1)/A): Proposition 2.7.1, for C ≥ 1."""
    return np.sqrt((np.log(C) + 1.0) / A)


class Memoriser(_BinaryRule):
    """Repeats the training labels and says ``classes_[0]`` elsewhere: no training error, nothing learned."""

    def fit(self, X, y):
        X, codes = self._prepare(X, y)
        points, where = np.unique(X, axis=0, return_inverse=True)
        where = where.ravel()
        ones = np.bincount(where, weights=codes)
        self._known = {point.tobytes() for point in points[2 * ones > np.bincount(where)]}
        if len(self.classes_) == 1:
            self._known = set()
        self.train_risk_ = float((self.predict(X) != self.classes_[codes]).mean())
        return self

    def predict(self, X):
        X = np.ascontiguousarray(self._points(X)) + 0.0
        return self._decode(np.array([row.tobytes() in self._known for row in X], bool))


def sup_dev(sample, family, cdf=None, k=None):
    """Largest deviation between the empirical and the true probability over a family of sets."""
    if family == "half_lines":
        return kolmogorov_smirnov(sample, cdf)
    if family == "intervals":
        return kuiper(sample, cdf)
    if family == "k_intervals":
        return float(_best_segments(_levels(sample, cdf), k))
    if family == "orthants":
        return star_discrepancy(sample, cdf)
    return halfplane_deviation(sample)


def _levels(sample, cdf):
    """Sorted F(x_i); without a cdf the law is uniform on [0, 1]."""
    return np.sort(sample) if cdf is None else np.asarray(cdf(np.sort(sample)), float)


def _one_sided(levels):
    n = len(levels)
    steps = np.arange(n + 1) / n
    return (steps[1:] - levels).max(), (levels - steps[:-1]).max()


def kolmogorov_smirnov(sample, cdf=None):
    """sup over half-lines: max(D⁺, D⁻), D⁺ = max(i/n − F(x_(i))), D⁻ = max(F(x_(i)) − (i−1)/n). O(n log n)."""
    return float(max(_one_sided(_levels(sample, cdf))))


def kuiper(sample, cdf=None):
    """sup over intervals: D⁺ + D⁻. O(n log n)."""
    return float(sum(_one_sided(_levels(sample, cdf))))


@njit(cache=True)
def _best_segments(levels, k):
    """Both one-sided suprema by one dynamic programme each over the alternating sequence of points and gaps."""
    n = len(levels)
    worst = 0.0
    for too_many in range(2):
        best = np.full(2 * k + 1, -np.inf)
        best[0] = 0.0
        previous = 0.0
        for i in range(2 * n + 1):
            if i % 2 == 0:
                here = (levels[i // 2] if i < 2 * n else 1.0) - previous
                previous += here
                gain = -here if too_many == 1 else here
            else:
                gain = 1.0 / n if too_many == 1 else -1.0 / n
            for s in range(2 * k, 0, -1):
                if best[s - 1] > best[s]:
                    best[s] = best[s - 1]
                if s % 2 == 1:
                    best[s] += gain
        worst = max(worst, best.max())
    return worst


def star_discrepancy(sample, cdf=None):
    """sup over orthants (−∞, a]×(−∞, b]: candidates are the n² corners of the sample's grid. O(n²)."""
    if cdf is None:

        def cdf(a, b):
            return np.clip(a, 0.0, 1.0) * np.clip(b, 0.0, 1.0)

    xs, x_rank = np.unique(sample[:, 0], return_inverse=True)
    ys, y_rank = np.unique(sample[:, 1], return_inverse=True)
    counts = np.zeros((len(xs) + 1, len(ys) + 1), np.int64)
    np.add.at(counts, (x_rank + 1, y_rank + 1), 1)
    counts = counts.cumsum(axis=0).cumsum(axis=1)
    a, b = np.append(xs, np.inf), np.append(ys, np.inf)
    truth = np.asarray(cdf(a[:, None], b[None, :]), float)
    n = len(sample)
    closed = np.pad(counts[1:, 1:], ((0, 1), (0, 1)), mode="edge") / n
    above = (closed - truth)[:-1, :-1].max(initial=0.0)
    below = (truth - counts / n).max()
    return float(max(above, below))


def halfplane_deviation(sample):
    """sup over all half-planes for points in the plane, against the standard normal law. O(n² log n)."""
    return float(_turn_lines(np.ascontiguousarray(sample[:, 0]), np.ascontiguousarray(sample[:, 1])))


@njit(cache=True)
def _turn_lines(x, y):
    n = x.size
    u, v, key = np.empty(n - 1), np.empty(n - 1), np.empty(n - 1)
    upper = np.empty(n - 1, np.bool_)
    worst = 0.0
    for i in range(n):
        left, ahead, j = 0, 0, 0
        for other in range(n):
            if other == i:
                continue
            a, b = x[other] - x[i], y[other] - y[i]
            ahead += a * x[i] + b * y[i] > 0
            upper[j] = b > 0 or (b == 0 and a >= 0)
            left += upper[j]
            if not upper[j]:
                a, b = -a, -b
            size = math.hypot(a, b)
            # The direction of the line through both, folded into the upper half-plane; equal points take the x axis.
            u[j], v[j] = (a / size, b / size) if size > 0 else (1.0, 0.0)
            key[j] = -u[j] / (abs(u[j]) + v[j])
            j += 1
        for k in np.argsort(key, kind="mergesort"):
            # Just before its event a point of the upper half is on the left; after it, on the right.
            fewest = left - upper[k]
            truth = _normal_tail(u[k] * y[i] - v[k] * x[i])
            for extra in range(3):
                worst = max(worst, abs((fewest + extra) / n - truth))
            left += -1 if upper[k] else 1
        norm = math.hypot(x[i], y[i])
        if norm > 0:
            for count in (ahead, ahead + 1):
                worst = max(worst, abs(count / n - _normal_tail(norm)), abs((n - count) / n - _normal_tail(-norm)))
    return worst


@njit(cache=True)
def _normal_tail(z):
    return 0.5 * math.erfc(z * math.sqrt(0.5))


def srm_select(train_risks, V, n, rule="lugosi", **options):
    """Index k − 1 of the class that minimises training risk plus penalty; the smallest class on a tie."""
    V, k = np.asarray(V, float), np.arange(1, len(V) + 1)
    return int(np.argmin(np.asarray(train_risks) + _costs(rule, V, n, k, **options)))


def _costs(rule, V, n, k, **options):
    return rule(V, n, k) if callable(rule) else penalty(rule, V, n, k, **options)


def cross_validated_k(x, y, k_max, cv=5, random_state=None):
    """The number of intervals with the smallest cross-validated error: one programme for each fold serves every k."""
    wrong = np.zeros(k_max)
    for train, test in KFold(cv, shuffle=True, random_state=check_seed(random_state)).split(x):
        path = interval_path(x[train], y[train], k_max)
        for k in range(1, k_max + 1):
            wrong[k - 1] += np.count_nonzero(_inside(x[test], path.intervals(k)) != (y[test] == 1))
    return int(np.argmin(wrong)) + 1


@dataclass(frozen=True)
class IntervalTruth:
    """X uniform on [0, 1]; class 1 on the even-numbered of 2 k0 + 1 equal segments; labels flipped with
    probability q.
    """

    k0: int = 3
    q: float = 0.1

    @property
    def segments(self):
        edges = np.arange(1, 2 * self.k0 + 1) / (2 * self.k0 + 1)
        return edges.reshape(-1, 2)

    @property
    def bayes_risk(self):
        return self.q

    def class_risk(self, k):
        """Smallest risk among unions of at most k intervals: drop, or bridge, k0 − k of the segments."""
        return self.q + (1 - 2 * self.q) * max(self.k0 - k, 0) / (2 * self.k0 + 1)

    def sample(self, n, random_state=None):
        """n points as (X of shape (n, 1), y)."""
        rng = check_rng(random_state)
        x = rng.random(n)
        y = _inside(x, self.segments) ^ (rng.random(n) < self.q)
        return x[:, None], y.astype(np.int64)

    def risk(self, intervals):
        """Exact risk of deciding 1 on disjoint intervals: q + (1 − 2q) times the length of the symmetric difference."""
        mine = np.clip(np.asarray(intervals, float).reshape(-1, 2), 0.0, 1.0)
        mine = mine[mine[:, 1] > mine[:, 0]]
        ends = np.concatenate([mine.ravel(), self.segments.ravel(), [0.0, 1.0]])
        ends = np.unique(ends)
        middle = 0.5 * (ends[1:] + ends[:-1])
        differ = _inside(middle, mine) != _inside(middle, self.segments)
        return float(self.q + (1 - 2 * self.q) * np.diff(ends)[differ].sum())

    def uniform_deviation(self, X, y, k):
        """sup over unions of at most k intervals of |R_n − R|, exactly, by a dynamic programme over points and gaps."""
        return _risk_deviation(np.asarray(X, float).ravel(), np.asarray(y), self, k)


def _risk_deviation(x, y, truth, k):
    """Both signs of sup (R_n − R): a set gains, point by point and gap by gap, what it adds to the difference."""
    order = np.argsort(x)
    x, y = x[order], y[order]
    n = len(x)
    edges = truth.segments.ravel()
    cuts = np.sort(np.concatenate([x, edges, [0.0, 1.0]]))
    middle = 0.5 * (cuts[1:] + cuts[:-1])
    eta = np.where(_inside(middle, truth.segments), 1 - truth.q, truth.q)
    gap = np.diff(cuts) * (1 - 2 * eta)  # change of R when a gap joins the set
    point = np.where(y == 1, -1.0, 1.0) / n  # change of R_n when a point joins
    base = np.mean(y == 1) - float(np.sum(np.diff(cuts) * eta))
    where = np.searchsorted(cuts, x)
    worst = abs(base)
    for sign in (1.0, -1.0):
        gains = np.zeros(2 * len(middle) + 1)
        gains[1::2] = -sign * gap
        np.add.at(gains, 2 * where, sign * point)
        worst = max(worst, sign * base + _most(gains, k))
    return float(worst)


@njit(cache=True)
def _most(gains, k):
    """Largest sum of at most k disjoint runs of a sequence."""
    best = np.full(2 * k + 1, -np.inf)
    best[0] = 0.0
    for gain in gains:
        for s in range(2 * k, 0, -1):
            best[s] = max(best[s], best[s - 1]) + (gain if s % 2 else 0.0)
    return best.max()


class RiskDecomposition(NamedTuple):
    """Means over repetitions, and their standard errors."""

    estimation: float
    estimation_se: float
    approximation: float
    generalisation_gap: float
    sup_deviation: float | None
    train_risk: float
    risk: float


def risk_decomposition(learner, problem, n, n_draws, class_risk=None, random_state=None, sup=None):
    """Excess risk split into estimation and approximation error, (2.5.1), by simulation with exact risks."""
    rng = check_rng(random_state)
    bayes = problem.bayes_risk if isinstance(problem, IntervalTruth) else float(problem.bayes_risk())
    rows = np.empty((n_draws, 4))
    for r in range(n_draws):
        X, y = problem.sample(n, rng)
        X = np.asarray(X, float).reshape(n, -1)
        fitted = clone(learner).fit(X, y)
        risk = problem.risk(fitted.intervals_) if isinstance(problem, IntervalTruth) else fitted.risk_exact(problem)
        train = float(np.mean(fitted.predict(X) != y))
        rows[r] = risk, train, abs(risk - train), np.nan if sup is None else sup(X, y)
    if class_risk is None:
        class_risk = problem.class_risk(learner.k)
    mean = rows.mean(axis=0)
    error = rows[:, 0].std(ddof=1) / np.sqrt(n_draws)
    return RiskDecomposition(
        estimation=float(mean[0] - class_risk),
        estimation_se=float(error),
        approximation=float(class_risk - bayes),
        generalisation_gap=float(mean[2]),
        sup_deviation=None if sup is None else float(mean[3]),
        train_risk=float(mean[1]),
        risk=float(mean[0]),
    )


def no_free_lunch(rule, K, n, exact_limit=300_000, n_draws=20_000, random_state=None):
    """Average and worst risk of a rule over all labelings of K points, when X is uniform and Y = f(X)."""
    # In logarithms: K**n alone has more digits than fit into memory long before it is too large to enumerate.
    exact = n * np.log(K) + K * np.log(2.0) <= np.log(exact_limit) + 1e-9
    if exact:
        samples = np.array(list(itertools.product(range(K), repeat=n)), int).reshape(K**n, n)
        labelings = np.array(list(itertools.product((0, 1), repeat=K)), int)
    else:
        many, rng = int(np.sqrt(n_draws)), check_rng(random_state)
        labelings, samples = rng.integers(0, 2, (many, K)), rng.integers(0, K, (many, n))
    risk = np.array([np.mean([np.mean(rule(s, f[s], K) != f) for s in samples]) for f in labelings])
    return float(risk.mean()), float(risk.max()), exact
