"""Exact suprema of |P_n(A) − P(A)| over geometric classes, and a Rademacher estimate of the same quantity.

Half-lines give the Kolmogorov–Smirnov statistic, intervals Kuiper's, orthants in the plane the star discrepancy; unions
of k intervals need a dynamic programme, half-planes a sweep. Source: Lember 2012, Sec. 2.7.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from learnable.validation import check_finite_array, check_rng, check_scalar

__all__ = [
    "halfplane_deviation",
    "kuiper",
    "sup_dev",
]


def sup_dev(sample, family, cdf=None, k=None):
    """Largest deviation between the empirical and the true probability over a family of sets.

    Parameters
    ----------
    sample : array (n,), or (n, 2) for ``orthants`` and ``halfplanes``
    family : {"half_lines", "intervals", "k_intervals", "orthants", "halfplanes"}
    cdf : callable
        Continuous distribution function; by default the uniform one on [0, 1] (on the unit square for orthants). It is
        not used for half-planes, where the truth is the standard normal distribution in the plane.
    k : int
        For ``k_intervals``.

    Returns
    -------
    float

    Examples
    --------
    >>> float(sup_dev([0.5], "half_lines")), float(sup_dev([0.5], "intervals"))
    (0.5, 1.0)
    """
    if family == "half_lines":
        return kolmogorov_smirnov(sample, cdf)
    if family == "intervals":
        return kuiper(sample, cdf)
    if family == "k_intervals":
        return _k_interval_deviation(_levels(sample, cdf), check_scalar(k, "k", low=1, integer=True))
    if family == "orthants":
        return star_discrepancy(sample, cdf)
    if family == "halfplanes":
        return halfplane_deviation(sample)
    raise ValueError(
        f"no exact supremum for {family!r}; there is one for half_lines, intervals, k_intervals, orthants, halfplanes"
    )


def _levels(sample, cdf):
    """Sorted F(x_i), checked to be probabilities."""
    sample = check_finite_array(sample, "sample", ndim=1)
    if sample.size == 0:
        raise ValueError("sample must not be empty")
    levels = np.sort(sample) if cdf is None else np.asarray(cdf(np.sort(sample)), float)
    if np.isnan(levels).any() or levels[0] < 0 or levels[-1] > 1 or (np.diff(levels) < 0).any():
        raise ValueError(
            "cdf must give rising probabilities on the sample; without a cdf the sample must lie in [0, 1]"
        )
    return levels


def _one_sided(levels):
    n = len(levels)
    steps = np.arange(n + 1) / n
    return (steps[1:] - levels).max(), (levels - steps[:-1]).max()


def kolmogorov_smirnov(sample, cdf=None):
    """sup over half-lines: max(D⁺, D⁻), D⁺ = max(i/n − F(x_(i))), D⁻ = max(F(x_(i)) − (i−1)/n). O(n log n).

    Examples
    --------
    >>> round(kolmogorov_smirnov([0.1, 0.4, 0.9]), 4)
    0.2667
    """
    return float(max(_one_sided(_levels(sample, cdf))))


def kuiper(sample, cdf=None):
    """sup over intervals: D⁺ + D⁻. O(n log n).

    Parameters
    ----------
    sample : array-like of shape (n,)
    cdf : callable, optional
        Distribution function; uniform on [0, 1] by default.

    Examples
    --------
    >>> round(kuiper([0.1, 0.4, 0.9]), 4)
    0.5
    """
    return float(sum(_one_sided(_levels(sample, cdf))))


def _k_interval_deviation(levels, k):
    return float(_best_segments(levels, k))


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
    """sup over orthants (−∞, a]×(−∞, b]: candidates are the n² corners of the sample's grid. O(n²).

    ``cdf(a, b)`` must be continuous and accept arrays; by default the uniform one on the unit square.

    Examples
    --------
    >>> round(star_discrepancy([[0.5, 0.5]]), 2)
    0.75
    """
    sample = check_finite_array(sample, "sample", ndim=2)
    if sample.shape[1] != 2 or len(sample) == 0:
        raise ValueError(f"sample must be an array (n, 2), got shape {sample.shape}")
    if cdf is None:
        if sample.min() < 0 or sample.max() > 1:
            raise ValueError("without a cdf the sample must lie in the unit square")

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
    """sup over all half-planes for points in the plane, against the standard normal law. O(n² log n).

    The probability of a half-plane is Φ(−distance). For a fixed set of captured points the extreme placements have two
    points on the line, or one point that is the foot of the perpendicular from the origin; all of these are visited by
    turning a line around each point.

    Parameters
    ----------
    sample : array-like of shape (n, 2)

    Examples
    --------
    >>> round(halfplane_deviation(np.random.default_rng(0).normal(size=(200, 2))), 3)
    0.083
    """
    sample = check_finite_array(sample, "sample", ndim=2)
    if sample.shape[1] != 2 or len(sample) < 2:
        raise ValueError(f"sample must be an array (n, 2) with n >= 2, got shape {sample.shape}")
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


def rademacher_half_lines(n, n_draws, random_state=None):
    """E sup over half-lines of (1/n) Σ σ_i 1{x_i ≤ a}: with sorted points, the running maximum of a random walk.

    Twice this bounds the mean of the one-sided uniform deviation.

    >>> 0.02 < rademacher_half_lines(1000, 200, random_state=0) < 0.03
    True
    """
    n, n_draws = check_scalar(n, "n", low=1, integer=True), check_scalar(n_draws, "n_draws", low=1, integer=True)
    rng = check_rng(random_state)
    signs = rng.choice(np.array([-1, 1], np.int8), size=(n_draws, n))
    walk = np.cumsum(signs, axis=1, dtype=np.int32)
    return float(np.maximum(walk.max(axis=1), 0).mean() / n)
