"""Minimising the number of errors itself: splits on the line, half-planes by rotation, hyperplanes by fingering.

Source: Lember 2012, Sec. 3.5. In fixed dimension d the minimum over halfspaces is found in time O(n^d log n); when d
is part of the input the problem is NP-hard.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from numba import njit

from learnable.linear.moments import Split
from learnable.linear.rules import LinearRule
from learnable.validation import check_rng, check_scalar

__all__ = ["FingeringClassifier", "HalfspaceERM2D", "SplitERM"]


def _best_split(x, y, weights):
    values, where = np.unique(x, return_inverse=True)
    gain = np.bincount(where, weights=np.where(y == 1, weights, -weights))
    n1 = float(weights[y == 1].sum())
    total = float(weights.sum())
    # errors[i]: label 0 for the i smallest values, label 1 above.
    errors = total - n1 + np.append(0.0, np.cumsum(gain))
    # The constants come first, so that they win ties.
    low, high = int(errors.argmin()), int(errors.argmax())
    choices = [
        (n1, len(values), 0),
        (total - n1, len(values), 1),
        (errors[low], low, 0),
        (total - errors[high], high, 1),
    ]
    error, i, label = min(choices, key=lambda choice: choice[0])
    if i == len(values):
        return Split(np.inf, label), float(error)
    threshold = -np.inf if i == 0 else values[i - 1] + 0.5 * (values[i] - values[i - 1])
    return Split(float(threshold), label), float(error)


class SplitERM(LinearRule):
    """Exact empirical risk minimiser over splits of one feature. O(n log n).

    Parameters
    ----------
    feature : int, default=0
        Which column of X to use.

    Attributes
    ----------
    split_ : Split
    train_error_ : float
        Share (of weight) of the training errors.

    Examples
    --------
    >>> SplitERM().fit([[1.0], [2.0], [3.0], [4.0]], ["a", "a", "b", "b"]).split_
    Split(threshold=2.5, label=0)
    """

    def __init__(self, feature=0):
        self.feature = feature

    def fit(self, X, y, sample_weight=None):
        X, codes, weights = self._prepare(X, y, sample_weight)
        j = check_scalar(self.feature, "feature", low=0, high=X.shape[1] - 1, integer=True)
        self.split_, error = _best_split(X[:, j], codes, weights)
        self.train_error_ = float(error / weights.sum())
        sign = 1.0 if self.split_.label == 0 else -1.0
        w = np.zeros(X.shape[1])
        if np.isinf(self.split_.threshold):
            above = self.split_.threshold < 0
            return self._store(w, sign if above else -sign)
        w[j] = sign
        return self._store(w, -sign * self.split_.threshold)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


def _best_halfplane(X, y, weights):
    points, where = np.unique(X, axis=0, return_inverse=True)
    where = where.ravel()
    c0 = np.bincount(where, weights=np.where(y == 0, weights, 0.0), minlength=len(points))
    c1 = np.bincount(where, weights=np.where(y == 1, weights, 0.0), minlength=len(points))
    centre = 0.5 * points.min(axis=0) + 0.5 * points.max(axis=0)
    Z = points - centre
    unit = _units(np.abs(Z).max(axis=0))
    Z /= unit
    scale = float(np.abs(Z).max())
    pivot, a, b, left_is_one = _sweep(np.ascontiguousarray(Z[:, 0]), np.ascontiguousarray(Z[:, 1]), c0, c1, scale)
    if pivot < 0:
        return np.zeros(2), 1.0 if c1.sum() > c0.sum() else -1.0, float(min(c0.sum(), c1.sum()))
    w, cut = _line(Z, pivot, a, b, left_is_one, c1[pivot] >= c0[pivot])
    w /= unit
    length = np.abs(w).max()
    length *= np.linalg.norm(w / length)
    w, cut = w / length, cut / length
    w0 = -cut - w @ centre
    says = points @ w + w0 >= 0
    attained = float(c0[says].sum() + c1[~says].sum())
    return w, float(w0), attained


def _units(size):
    """Powers of two, so that dividing rounds nothing: one for both columns, which keeps the angles of the gaps.

    Only where one column would be lost in the rounding of the other does each get its own.
    """
    unit = np.exp2(np.floor(np.log2(np.where(size > 0, size, size.max() or 1.0))))
    return unit if unit.max() > 2.0**20 * unit.min() else np.full(2, unit.max())


def _line(Z, pivot, a, b, left_is_one, pivot_is_one):
    """The line in the gap between the directions of a and b, beside the pivot."""
    relative = Z - Z[pivot]
    first, second = _upper(relative[a]), _upper(relative[b])
    if a == b:
        direction = np.array([-first[1], first[0]])
    else:
        direction = first + second if _before(first, second) else second - first
    w = np.array([-direction[1], direction[0]]) / np.linalg.norm(direction)
    if not left_is_one:
        w = -w
    height = relative @ w
    others = np.delete(height, pivot)
    if pivot_is_one:
        below = others[others < 0]
        cut = 0.5 * below.max() if below.size else -1.0 - np.abs(height).max()
    else:
        above = others[others > 0]
        cut = 0.5 * above.min() if above.size else 1.0 + np.abs(height).max()
    return w, cut + Z[pivot] @ w


def _upper(v):
    v = v if v[1] > 0 or (v[1] == 0 and v[0] > 0) else -v
    return v / np.linalg.norm(v)


def _before(first, second):
    """Whether the angle of first in [0, π) is below that of second; otherwise the gap lies across the x axis."""
    return first[0] * second[1] - first[1] * second[0] > 0


@njit(cache=True)
def _sweep(x, y, c0, c1, scale):
    """Turn a line around every point. Returns the pivot, the two neighbours of the gap, the side of class 1."""
    m = x.size
    n0, n1 = c0.sum(), c1.sum()
    tiny = 16 * 2.3e-16 * scale
    best = min(n0, n1)
    best_pivot, best_a, best_b, best_left = -1, -1, -1, True
    best_gap = -1.0
    dx, dy, key, step = np.empty(m - 1), np.empty(m - 1), np.empty(m - 1), np.empty(m - 1)
    name = np.empty(m - 1, np.int64)
    for i in range(m):
        free = min(c0[i], c1[i])
        rest = n0 + n1 - c0[i] - c1[i]
        count = 0
        errors = 0.0
        for j in range(m):
            if j == i:
                continue
            u, v = x[j] - x[i], y[j] - y[i]
            gain = c1[j] - c0[j]
            if v > 0 or (v == 0 and u > 0):
                errors += c0[j]
            else:
                u, v, gain = -u, -v, -gain
                errors += c1[j]
            dx[count], dy[count], step[count], name[count] = u, v, gain, j
            key[count] = -u / (abs(u) + v)
            count += 1
        if count == 0:
            continue
        order = np.argsort(key)
        # The gap across the x axis, from the last direction to the first.
        first, last = order[0], order[count - 1]
        wide = _apart(dx[first], dy[first], dx[last], dy[last], tiny)
        if wide:
            value = free + min(errors, rest - errors)
            gap = _angle(dx[first], dy[first], -dx[last], -dy[last])
            if value < best or (value == best and best_pivot >= 0 and gap > best_gap):
                best, best_pivot, best_a, best_b, best_gap = value, i, name[last], name[first], gap
                best_left = errors <= rest - errors
        g = 0
        while g < count:
            head = order[g]
            errors += step[head]
            h = g + 1
            while h < count and not _apart(dx[head], dy[head], dx[order[h]], dy[order[h]], tiny):
                errors += step[order[h]]
                h += 1
            if h == count and g == 0 and not wide:
                # All other points lie on one line with the pivot: one gap, across that line.
                value = free + min(errors, rest - errors)
                if value < best:
                    best, best_pivot, best_a, best_b, best_gap = value, i, name[head], name[head], 4.0
                    best_left = errors <= rest - errors
            elif h < count:
                value = free + min(errors, rest - errors)
                if value <= best:
                    tail, nxt = order[h - 1], order[h]
                    gap = _angle(dx[tail], dy[tail], dx[nxt], dy[nxt])
                    if value < best or (best_pivot >= 0 and gap > best_gap):
                        best, best_pivot, best_a, best_b, best_gap = value, i, name[tail], name[nxt], gap
                        best_left = errors <= rest - errors
            g = h
        if best == 0:
            break
    return best_pivot, best_a, best_b, best_left


@njit(cache=True)
def _apart(u1, v1, u2, v2, tiny):
    """Whether two directions differ by more than the rounding of the coordinates."""
    return abs(u1 * v2 - u2 * v1) > tiny * (abs(u1) + abs(v1) + abs(u2) + abs(v2))


@njit(cache=True)
def _angle(u1, v1, u2, v2):
    """A monotone measure of the angle between two directions, in [0, 4]."""
    cosine = (u1 * u2 + v1 * v2) / math.sqrt((u1 * u1 + v1 * v1) * (u2 * u2 + v2 * v2))
    return 2.0 - 2.0 * cosine


class HalfspaceERM2D(LinearRule):
    """Exact empirical risk minimiser over half-planes of two features. O(n² log n), see `best_halfplane`.

    Parameters
    ----------
    features : pair of int, default=(0, 1)
        Which columns of X to use.

    Attributes
    ----------
    coef_, intercept_ : ndarrays
    train_error_ : float
        Share (of weight) of the training errors: no linear rule of these two features has fewer.

    Examples
    --------
    >>> X = [[0, 0], [1, 1], [0, 1], [1, 0]]
    >>> HalfspaceERM2D().fit(X, [0, 0, 1, 1]).train_error_
    0.25
    """

    def __init__(self, features=(0, 1)):
        self.features = features

    def fit(self, X, y, sample_weight=None):
        X, codes, weights = self._prepare(X, y, sample_weight)
        if X.shape[1] < 2:
            raise ValueError(f"X must have at least 2 features, got n_features={X.shape[1]}")
        try:
            first, second = self.features
        except (TypeError, ValueError):
            raise ValueError(f"features must be two columns, got {self.features!r}") from None
        columns = [check_scalar(j, "features", low=0, high=X.shape[1] - 1, integer=True) for j in (first, second)]
        if columns[0] == columns[1]:
            raise ValueError(f"features must be two different columns, got {self.features!r}")
        w, w0, error = _best_halfplane(X[:, columns], codes, weights)
        self.train_error_ = float(error / weights.sum())
        full = np.zeros(X.shape[1])
        full[columns] = w
        return self._store(full, w0)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


class FingeringClassifier(LinearRule):
    """Best of the hyperplanes through d sample points: at most d errors more than the exact minimiser (Sec. 3.5).

    Each hyperplane is tried with both orientations and with its own points on either side. O(C(n, d) n d).

    Parameters
    ----------
    max_hyperplanes : int or None, default=100_000
        If there are more than this many hyperplanes, take so many random ones; None takes all, however many.
    random_state : None, int or Generator
        For the random choice.

    Attributes
    ----------
    coef_, intercept_ : ndarrays
    train_error_ : float
    n_hyperplanes_ : int
        How many were tried.

    Examples
    --------
    >>> rule = FingeringClassifier().fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 1, 1])
    >>> rule.train_error_, rule.n_hyperplanes_
    (0.0, 4)
    """

    def __init__(self, max_hyperplanes=100_000, random_state=None):
        self.max_hyperplanes = max_hyperplanes
        self.random_state = random_state

    def fit(self, X, y):
        X, codes, _ = self._prepare(X, y, None)
        n, d = X.shape
        limit = self.max_hyperplanes
        if limit is not None:
            limit = check_scalar(limit, "max_hyperplanes", low=1, integer=True)
        rng = check_rng(self.random_state)
        size = min(n, d)
        total = math.comb(n, size)
        centre, spread = X.mean(axis=0), X.std(axis=0)
        spread[spread <= 1e-14 * np.abs(centre)] = 1.0
        Z = (X - centre) / spread
        batch = max(1, min(10_000, 4_000_000 // max(n, d * d)))
        subsets = _all_subsets(n, size, batch) if limit is None or total <= limit else _some(n, size, batch, limit, rng)
        cost = np.where(codes == 1, -1.0, 1.0).astype(np.float32)
        n1 = int(codes.sum())
        tiny = 1e-12 * max(np.abs(Z).max(), 1e-300)
        best = (min(n1, n - n1) + 0.5, None)
        self.n_hyperplanes_ = 0
        for chosen in subsets:
            self.n_hyperplanes_ += len(chosen)
            W = _normals(Z[chosen])
            H = W @ Z.T - np.einsum("bd,bd->b", W, Z[chosen[:, 0]])[:, None]
            np.put_along_axis(H, chosen, 0.0, axis=1)
            opened = n1 + (tiny < H).astype(np.float32) @ cost
            closed = n1 + (-tiny <= H).astype(np.float32) @ cost
            for flip, side, errors in ((1, 1, closed), (1, -1, opened), (-1, -1, n - closed), (-1, 1, n - opened)):
                i = int(errors.argmin())
                if errors[i] < best[0]:
                    best = (float(errors[i]), (flip * W[i], flip * H[i], side, Z[chosen[i, 0]]))
        if best[1] is None:
            self._store(np.zeros(d), 1.0 if 2 * n1 > n else -1.0)
        else:
            w, h, side, point = best[1]
            beyond = np.abs(h[np.sign(h) == -side])
            beyond = beyond[beyond > tiny]
            shift = 0.5 * beyond.min() if beyond.size else 1.0 + np.abs(h).max()
            self._store(w / spread, side * shift - w @ point - (w / spread) @ centre)
        self.train_error_ = float(np.mean((self._raw(X) >= 0) != codes))
        return self

    def _raw(self, X):
        return X @ self.coef_[0] + self.intercept_[0]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


def _normals(P):
    """Unit normals of hyperplanes through the points P of shape (batch, size, d), size ≤ d."""
    if P.shape[1] == 1:
        normal = np.zeros((len(P), P.shape[2]))
        normal[:, 0] = 1.0
        return normal
    if P.shape[1] == P.shape[2]:
        # Pw = 1 by elimination leaves residuals of the order of rounding beside |w|, however near the hyperplane is to
        # the origin; only an exact zero pivot needs the slower factorisation.
        try:
            W = np.linalg.solve(P, np.ones((*P.shape[:2], 1)))[:, :, 0]
            length = np.linalg.norm(W, axis=1, keepdims=True)
            if np.isfinite(length).all():
                return W / length
        except np.linalg.LinAlgError:
            pass
    edges = np.swapaxes(P[:, 1:] - P[:, :1], 1, 2)
    return np.linalg.qr(edges, mode="complete")[0][:, :, -1]


def _all_subsets(n, size, batch):
    subsets = itertools.combinations(range(n), size)
    while chunk := list(itertools.islice(subsets, batch)):
        yield np.array(chunk)


def _some(n, size, batch, limit, rng):
    for start in range(0, limit, batch):
        yield _draw_subsets(rng.random((min(batch, limit - start), size)), n)


@njit(cache=True)
def _draw_subsets(u, n):
    """Floyd's sampling: from each row of uniform numbers a uniformly random subset of 0…n−1, of the row's length."""
    rows, size = u.shape
    chosen = np.empty((rows, size), np.int64)
    for r in range(rows):
        for i in range(size):
            top = n - size + i
            pick = min(int(u[r, i] * (top + 1)), top)
            for j in range(i):
                if chosen[r, j] == pick:
                    pick = top
                    break
            chosen[r, i] = pick
    return chosen
