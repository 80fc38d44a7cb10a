"""Counting what a class of sets can do to n points: label patterns, shatter coefficients, VC dimension, Sauer.

A pattern is the subset of given points that a set cuts out. Patterns are kept as rows of bits, 64 to a word, so that
the intersections behind rectangles and orthants are single machine instructions. Source: Lember 2012, Sec. 2.6.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy.optimize import linprog
from scipy.special import gammaln, logsumexp


def dichotomies(points, family, k=None):
    """All distinct subsets of the points that a geometric family cuts out, as rows of booleans."""
    points = np.asarray(points, float)
    if points.ndim == 1:
        points = points[:, None]
    distinct, where = np.unique(points, axis=0, return_inverse=True)
    rows = _DICHOTOMIES[family](distinct, k)[:, where.ravel()]
    return _distinct_rows(rows)


def _half_lines(points, k=None):
    n = len(points)
    return np.tri(n + 1, n, -1, dtype=bool)


def _unions_of_runs(n, runs):
    """Patterns of n ordered points with at most ``runs`` blocks of ones."""
    rows = [np.zeros((1, n), bool)]
    position = np.arange(n)
    for r in range(1, min(runs, (n + 1) // 2) + 1):
        cuts = np.array(list(itertools.combinations(range(n + 1), 2 * r)))
        inside = np.zeros((len(cuts), n), bool)
        for start, stop in zip(cuts[:, ::2].T, cuts[:, 1::2].T, strict=True):
            inside |= (position >= start[:, None]) & (position < stop[:, None])
        rows.append(inside)
    return np.concatenate(rows)


def _boxes(points, one_dimension):
    """Intersections over the coordinates of one-dimensional patterns."""
    words = None
    for column in points.T:
        values, where = np.unique(column, return_inverse=True)
        mine = _pack(one_dimension(len(values))[:, where])
        if words is None:
            words = np.unique(mine, axis=0)
        else:
            both = (words[:, None, :] & mine[None, :, :]).reshape(-1, words.shape[1])
            words = np.unique(both, axis=0)
    return _unpack(words, len(points))


def _in_units(points, common=False):
    """The points around 0 and of size about 1: what a family can cut has neither origin nor unit, tolerances have
    both.
    """
    half = 0.5 * points
    half = half - (0.5 * half.min(axis=0) + 0.5 * half.max(axis=0))
    size = np.abs(half).max(axis=None if common else 0)
    return half / np.exp2(np.floor(np.log2(np.where(size > 0, size, 1.0))))


def _halfspaces(points, k=None):
    n, d = points.shape
    points = _in_units(points)
    if n == 1:
        return np.array([[False], [True]])
    if d == 1:
        rows = _half_lines(points)
        return np.concatenate([rows, ~rows])
    if n <= d or _affine_rank(points) < d:
        return _separable_by_programmes(points)
    rows = _cut_by_hyperplanes(points, keep=lambda normal: np.ones(len(normal), bool), both_sides=True)
    return _separable_by_programmes(points) if rows is None else rows


def _balls(points, k=None):
    """Balls are halfspaces of the lifted points (x, |x|²) below a hyperplane that is not vertical, or in the limit."""
    n, d = points.shape
    centred = _in_units(points, common=True)
    lifted = np.column_stack([centred, (centred**2).sum(axis=1)])
    vertical = _halfspaces(points)
    if n <= d + 1 or _affine_rank(lifted) < d + 1:
        tilted = _separable_by_programmes(lifted, downward=True)
    else:
        tilted = _cut_by_hyperplanes(lifted, keep=lambda normal: normal[:, -1] < -1e-12, both_sides=False)
        if tilted is None:
            tilted = _separable_by_programmes(lifted, downward=True)
    return np.concatenate([vertical, tilted])


def _cut_by_hyperplanes(points, keep, both_sides):
    """Patterns from all hyperplanes through d points, with every choice for the points on them."""
    n, d = points.shape
    choices = np.array(list(itertools.product([False, True], repeat=d)))
    scale = np.abs(points).max() or 1.0
    found = [np.zeros((1, n), bool)]
    subsets = itertools.combinations(range(n), d)
    while chunk := list(itertools.islice(subsets, 4096)):
        chosen = np.array(chunk)
        base = points[chosen[:, 0]]
        normal = _normals(points[chosen[:, 1:]] - base[:, None, :])
        length = np.linalg.norm(normal, axis=1, keepdims=True)
        if (length <= 1e-12 * scale ** (d - 1)).any():
            return None
        normal /= length
        value = normal @ points.T - (normal * base).sum(axis=1, keepdims=True)
        on = np.zeros(value.shape, bool)
        np.put_along_axis(on, chosen, True, axis=1)
        if (np.abs(value[~on]) <= 1e-10 * scale).any():
            return None
        for side in (1, -1) if both_sides else (1,):
            oriented = normal * side
            if not both_sides:
                oriented = np.where(oriented[:, -1:] > 0, -oriented, oriented)
            usable = keep(oriented)
            above = (np.sign((oriented * normal).sum(axis=1))[:, None] * value > 0)[usable]
            for choice in choices:
                rows = above.copy()
                np.put_along_axis(rows, chosen[usable], choice, axis=1)
                found.append(rows)
        if len(found) > 64:
            found = [_distinct_rows(np.concatenate(found))]
    rows = np.concatenate(found)
    full = np.ones((1, n), bool)
    return np.concatenate([rows, full])


def _normals(edges):
    """Normal vectors to the spans of d − 1 edges in R^d: the signed minors (cross product for d = 3)."""
    d = edges.shape[2]
    columns = np.arange(d)
    minors = [np.linalg.det(edges[:, :, columns != i]) * (-1) ** i for i in range(d)]
    return np.column_stack(minors)


def _affine_rank(points):
    return np.linalg.matrix_rank(points[1:] - points[0])


def _separable_by_programmes(points, downward=False):
    """Patterns of halfspaces for any points, degenerate ones too: extend pattern by pattern."""
    n = len(points)
    patterns = [(False,), (True,)]
    for m in range(2, n + 1):
        patterns = [p + (b,) for p in patterns for b in (False, True) if _separable(points[:m], p + (b,), downward)]
    return np.array(patterns, bool).reshape(len(patterns), n)


def _separable(points, pattern, downward):
    sign = np.where(pattern, 1.0, -1.0)
    rows = -sign[:, None] * np.column_stack([points, -np.ones(len(points))])
    bounds = [(None, None)] * rows.shape[1]
    if downward:
        bounds[-2] = (None, 0.0)
    return linprog(
        np.zeros(rows.shape[1]), A_ub=rows, b_ub=-np.ones(len(points)), bounds=bounds, method="highs"
    ).success


def _polygons(points, k=None):
    """Sets whose convex hull holds no other point, listed one after the other in lectic order (next closure)."""
    n = len(points)
    hulls = _hull_masks(_in_units(points))

    def close(mask):
        members = [i for i in range(n) if mask >> i & 1]
        closed = mask
        for a, b in itertools.combinations(members, 2):
            closed |= hulls[a, b, b]
        for a, b, c in itertools.combinations(members, 3):
            closed |= hulls[a, b, c]
        return closed

    masks, current = [0], 0
    while current != (1 << n) - 1:
        for i in reversed(range(n)):
            if current >> i & 1:
                continue
            lower = (1 << i) - 1
            candidate = close((current & lower) | 1 << i)
            if candidate & lower == current & lower:
                current = candidate
                break
        masks.append(current)
    return np.array([[mask >> i & 1 for i in range(n)] for mask in masks], bool)


def _hull_masks(points):
    """For every segment and triangle, the points in it (boundary included) as a bit mask: Carathéodory's theorem."""
    n = len(points)
    masks = {}
    scale = np.abs(points).max() or 1.0

    def cross(a, b, c):
        return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

    def on_segment(a, b, p):
        inside = min(a[0], b[0]) <= p[0] <= max(a[0], b[0]) and min(a[1], b[1]) <= p[1] <= max(a[1], b[1])
        return inside and abs(cross(a, b, p)) <= 1e-12 * scale**2

    for i, j in itertools.combinations(range(n), 2):
        a, b = points[i], points[j]
        masks[i, j, j] = sum(1 << m for m in range(n) if on_segment(a, b, points[m]))
    for i, j, m in itertools.combinations(range(n), 3):
        a, b, c = points[i], points[j], points[m]
        area = cross(a, b, c)
        mask = masks[i, j, j] | masks[i, m, m] | masks[j, m, m]
        if abs(area) > 1e-12 * scale**2:
            sign = np.sign(area)
            for q in range(n):
                p = points[q]
                if min(sign * cross(a, b, p), sign * cross(b, c, p), sign * cross(c, a, p)) >= 0:
                    mask |= 1 << q
        masks[i, j, m] = mask
    return masks


_DICHOTOMIES = {
    "half_lines": _half_lines,
    "intervals": lambda points, k: _unions_of_runs(len(points), 1),
    "k_intervals": lambda points, k: _unions_of_runs(len(points), k),
    "orthants": lambda points, k: _boxes(points, lambda n: np.tri(n + 1, n, -1, dtype=bool)),
    "rectangles": lambda points, k: _boxes(points, lambda n: _unions_of_runs(n, 1)),
    "halfspaces": _halfspaces,
    "balls": _balls,
    "polygons": _polygons,
}


def _pack(rows):
    padded = np.zeros((len(rows), -(-rows.shape[1] // 64) * 64), bool)
    padded[:, : rows.shape[1]] = rows
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


def _unpack(words, n):
    return np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")[:, :n].astype(bool)


def _distinct_rows(rows):
    """Distinct rows, in the order of the binary numbers that they spell (first point = lowest bit)."""
    words = np.unique(_pack(rows)[:, ::-1], axis=0)[:, ::-1]
    return _unpack(np.ascontiguousarray(words), rows.shape[1])


def growth_function(family, n, d=1, k=None):
    """Shatter coefficient S(n) of a family in closed form, exact: the largest number of patterns on n points."""
    if family == "half_lines" or (family == "orthants" and d == 1):
        return n + 1
    if family == "intervals" or (family == "orthants" and d == 2) or (family in ("rectangles", "balls") and d == 1):
        return 1 + n * (n + 1) // 2
    if family == "k_intervals":
        return sum(math.comb(n, i) for i in range(2 * k + 1))
    if family == "halfspaces":
        return 2 * sum(math.comb(n - 1, i) for i in range(d + 1))
    if family == "balls" and d == 2:
        return (n**3 + 5 * n + 6) // 6
    if family == "polygons":
        return 2**n
    raise ValueError(f"no closed form for {family} with d = {d}; use dichotomies on chosen points")


def sauer(n, V, form="sum", log=False):
    """Sauer's bound on the shatter coefficient of a class with VC dimension V."""
    n, V = np.broadcast_arrays(np.asarray(n), np.asarray(V))
    if form == "sum":
        value = _log_partial_sums(n.ravel(), V.ravel()).reshape(n.shape)
    elif form == "power":
        value = V * np.log1p(n)
    elif form == "euler":  # for n ≥ V ≥ 1
        value = V * (np.log(n) + 1.0 - np.log(V))
    else:  # "plain", for n ≥ V ≥ 3
        value = V * np.log(n)
    if log:
        return value[()]
    with np.errstate(over="ignore"):
        plain = np.exp(value)
    return np.where(plain < 2**53, np.round(plain), plain)[()] if form in ("sum", "power") else plain[()]


def _log_partial_sums(n, V):
    out = np.empty(len(n))
    for index, (size, top) in enumerate(zip(n.tolist(), V.tolist(), strict=True)):
        if top >= size:
            out[index] = size * math.log(2.0)
        else:
            i = np.arange(top + 1)
            out[index] = logsumexp(gammaln(size + 1) - gammaln(i + 1) - gammaln(size - i + 1))
    return out
