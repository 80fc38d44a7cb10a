"""Quick rules of the comparison: random layers, one input, boxes, feature intervals, codebooks, radial basis functions.

Each has one idea and next to no tuning, which is why they stand in the comparison: they say what an idea is worth
(Fernandez-Delgado et al. 2014, Sec. 2.2).
"""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy import linalg
from scipy.special import expit
from sklearn.cluster import KMeans
from sklearn.metrics.pairwise import euclidean_distances

from learnable.chapters.classifier_benchmark.baselines import Contestant
from learnable.validation import check_rng

ACTIVATIONS = {
    "sine": np.sin,
    "sign": np.sign,
    "sigmoid": expit,
    "hardlim": lambda z: (z >= 0).astype(float),
    "tribas": lambda z: np.maximum(1 - np.abs(z), 0.0),
    "radbas": lambda z: np.exp(-(z**2)),
}


class ELM(Contestant):
    """Extreme learning machine: a layer of random units, and least squares on top. Cost O(n h^2)."""

    def __init__(self, n_hidden=50, activation="sigmoid", random_state=None):
        self.n_hidden = n_hidden
        self.activation = activation
        self.random_state = random_state

    def fit(self, X, y):
        rng = check_rng(self.random_state)
        X, codes = self._start(X, y)
        low, high = X.min(axis=0), X.max(axis=0)
        self._centre = low / 2 + high / 2
        self._half = np.where(high > low, high / 2 - low / 2, 1.0)
        self._inner, self._offsets = rng.uniform(-1, 1, (X.shape[1], self.n_hidden)), rng.uniform(0, 1, self.n_hidden)
        targets = np.where(codes[:, None] == np.arange(len(self.classes_)), 1.0, -1.0)
        self.weights_ = linalg.lstsq(self._layer(X), targets)[0]
        return self

    def _layer(self, X):
        return ACTIVATIONS[self.activation]((X - self._centre) / self._half @ self._inner + self._offsets)

    def _scores(self, X):
        return self._layer(X) @ self.weights_


class HyperPipes(Contestant):
    """The class whose ranges contain the point in most inputs (HyperPipes_w). Cost O(n d), prediction O(k d)."""

    def fit(self, X, y):
        X, codes = self._start(X, y)
        members = [X[codes == c] for c in range(len(self.classes_))]
        self.lower_ = np.array([rows.min(axis=0) for rows in members])
        self.upper_ = np.array([rows.max(axis=0) for rows in members])
        return self

    def _scores(self, X):
        inside = [((low <= X) & (high >= X)).sum(axis=1) for low, high in zip(self.lower_, self.upper_, strict=True)]
        return np.column_stack(inside)


class OneR(Contestant):
    """The best rule on one input: intervals with a class each (Holte 1993; OneR_w). Cost O(d n log n)."""

    def __init__(self, min_bucket=6):
        self.min_bucket = min_bucket

    def fit(self, X, y):
        X, codes = self._start(X, y)
        k, best = len(self.classes_), None
        for j, x in enumerate(X.T):
            order = np.argsort(x, kind="stable")
            ends, labels, wrong = _buckets(x[order], codes[order].astype(np.int64), k, self.min_bucket)
            if best is None or wrong < best[0]:
                best = wrong, j, x[order], ends, labels
        _, self.feature_, ordered, ends, self.labels_ = best
        inner = ends[:-1]
        below, above = ordered[inner - 1], ordered[inner]
        middle = below / 2 + above / 2
        self.cuts_ = np.where(middle > below, middle, above)
        return self

    def predict(self, X):
        """Class of the interval in which the chosen input lies, for each row."""
        X = self._points(X)
        place = np.searchsorted(self.cuts_, X[:, self.feature_], side="right")
        return self.classes_[self.labels_[place]]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


class VFI(Contestant):
    """Voting feature intervals (Demiroz and Guvenir 1997; VFI_w). Cost O(d n log n), prediction O(d log k)."""

    def __init__(self, bias=0.6):
        self.bias = bias

    def fit(self, X, y):
        X, codes = self._start(X, y)
        k = len(self.classes_)
        sizes = np.bincount(codes, minlength=k)
        self.cuts_, self.votes_ = [], []
        for x in X.T:
            ends = [f(x[codes == c]) for c in range(k) for f in (np.min, np.max)]
            cuts = np.unique(ends)
            counts = np.zeros((2 * len(cuts) + 1, k))
            np.add.at(counts, (_places(cuts, x), codes), 1.0)
            shares = counts / sizes
            whole = shares.sum(axis=1, keepdims=True)
            # No training row lies there: the interval knows nothing.
            shares = np.divide(shares, whole, out=np.full_like(shares, 1 / k), where=whole > 0)
            self.cuts_.append(cuts)
            self.votes_.append(shares * _gain(counts) ** self.bias)
        return self

    def _scores(self, X):
        each = zip(self.cuts_, self.votes_, X.T, strict=True)
        return sum(votes[_places(cuts, x)] for cuts, votes, x in each)


class LVQ(Contestant):
    """Learning vector quantisation: a codebook for each class, moved by the rows one at a time. Cost O(steps m d)."""

    def __init__(self, n_codebooks=50, version=1, n_neighbors=1, max_iter=40, random_state=None):
        self.n_codebooks = n_codebooks
        self.version = version
        self.n_neighbors = n_neighbors
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X, y):
        rng = check_rng(self.random_state)
        X, codes = self._start(X, y)
        X = self._standardise(X)
        codes = codes.astype(np.int64)
        shares = np.bincount(codes) / len(codes)
        wanted = np.minimum(np.maximum(1, np.rint(self.n_codebooks * shares)), np.bincount(codes)).astype(int)
        rows = [rng.choice(np.flatnonzero(codes == c), size, replace=False) for c, size in enumerate(wanted)]
        self.codebooks_, self.labels_ = X[np.concatenate(rows)].copy(), np.repeat(np.arange(len(wanted)), wanted)
        orders = np.concatenate([rng.permutation(len(X)) for _ in range(self.max_iter)])
        self.n_iter_ = self.max_iter
        _move_codebooks(X, codes, orders, self.codebooks_, self.labels_, self.version == 3)
        return self

    def _scores(self, X):
        distances = euclidean_distances(self._standard(X), self.codebooks_)
        near = np.argsort(distances, axis=1, kind="stable")[:, : self.n_neighbors]
        votes = np.zeros((len(X), len(self.classes_)))
        for place in near.T:
            votes[np.arange(len(X)), self.labels_[place]] += 1.0
        # Among classes with equal votes the nearest vector decides.
        votes[np.arange(len(X)), self.labels_[near[:, 0]]] += 0.5
        return votes


class RBFNet(Contestant):
    """Gaussian units at the centres of k-means, and ridge regression on top. Cost of k-means plus O(n m^2)."""

    def __init__(self, n_centers=0.5, alpha=1e-8, min_spread=0.1, random_state=None):
        self.n_centers = n_centers
        self.alpha = alpha
        self.min_spread = min_spread
        self.random_state = random_state

    def fit(self, X, y):
        rng = check_rng(self.random_state)
        X, codes = self._start(X, y)
        X = self._standardise(X)
        m = self.n_centers if isinstance(self.n_centers, int) else round(self.n_centers * len(X))
        m = int(np.clip(m, 1, len(np.unique(X, axis=0))))
        found = KMeans(m, n_init=1, random_state=int(rng.integers(2**31))).fit(X)
        self.centers_ = found.cluster_centers_
        squares = ((X - self.centers_[found.labels_]) ** 2).mean(axis=1)
        sizes = np.maximum(np.bincount(found.labels_, minlength=m), 1)
        mean_squares = np.bincount(found.labels_, weights=squares, minlength=m) / sizes
        self.spreads_ = np.maximum(np.sqrt(mean_squares), self.min_spread)
        units = self._units(X)
        targets = np.where(codes[:, None] == np.arange(len(self.classes_)), 1.0, -1.0)
        # Ridge by least squares with added rows: the normal equations would square the condition number.
        stacked = np.vstack([units, np.sqrt(self.alpha) * np.eye(m + 1)])
        self._weights = linalg.lstsq(stacked, np.vstack([targets, np.zeros((m + 1, targets.shape[1]))]))[0]
        return self

    def _units(self, X):
        distances = euclidean_distances(X, self.centers_, squared=True) / X.shape[1]
        return np.column_stack([np.ones(len(X)), np.exp(-distances / (2 * self.spreads_**2))])

    def _scores(self, X):
        return self._units(self._standard(X)) @ self._weights


def _places(cuts, x):
    """Even numbers for the intervals between cuts, odd ones for values that are a cut."""
    left, right = np.searchsorted(cuts, x, side="left"), np.searchsorted(cuts, x, side="right")
    return left + right


def _gain(counts):
    """Information in nats that the rows of a table of counts carry about its columns."""
    p = counts / counts.sum()
    outer = p.sum(axis=1, keepdims=True) * p.sum(axis=0)
    seen = p > 0
    return float(max((p[seen] * np.log(p[seen] / outer[seen])).sum(), 0.0))


@njit(cache=True)
def _buckets(x, codes, k, least):
    """Ends and classes of Holte's intervals on a sorted input, and the rows on which they err."""
    n = len(x)
    ends, labels = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    counts, group = np.zeros(k, dtype=np.int64), np.zeros(k, dtype=np.int64)
    made, wrong, value = 0, 0, 0
    while value < n:
        group[:] = 0
        stop = value
        while stop < n and x[stop] == x[value]:
            group[codes[stop]] += 1
            stop += 1
        leader = np.argmax(counts)
        if counts[leader] >= least and group[leader] < group.max():
            made, wrong = _close(ends, labels, made, wrong, value, counts)
            counts[:] = 0
        counts += group
        value = stop
    made, wrong = _close(ends, labels, made, wrong, n, counts)
    return ends[:made], labels[:made], wrong


@njit(cache=True)
def _close(ends, labels, made, wrong, stop, counts):
    """End an interval before row `stop`; join it to the one before if both have the same class."""
    leader = np.argmax(counts)
    if made == 0 or labels[made - 1] != leader:
        labels[made] = leader
        made += 1
    ends[made - 1] = stop
    return made, wrong + counts.sum() - counts[leader]


@njit(cache=True)
def _move_codebooks(X, codes, order, books, labels, third):
    """LVQ1 over all rows in `order`; with `third` the second half of the rows moves pairs, as LVQ3 does."""
    m, d = books.shape
    window, small = 0.7 / 1.3, 0.1
    for step in range(len(order)):
        i = order[step]
        rate = 0.03 * (1.0 - step / len(order))
        first, second, near, next_near = -1, -1, np.inf, np.inf
        for a in range(m):
            distance = 0.0
            for j in range(d):
                distance += (X[i, j] - books[a, j]) ** 2
            if distance < near:
                second, next_near = first, near
                first, near = a, distance
            elif distance < next_near:
                second, next_near = a, distance
        if not third or second < 0 or 2 * step < len(order):
            sign = 1.0 if labels[first] == codes[i] else -1.0
            for j in range(d):
                books[first, j] += sign * rate * (X[i, j] - books[first, j])
        elif labels[first] == codes[i] and labels[second] == codes[i]:
            for j in range(d):
                books[first, j] += small * rate * (X[i, j] - books[first, j])
                books[second, j] += small * rate * (X[i, j] - books[second, j])
        elif (labels[first] == codes[i]) != (labels[second] == codes[i]) and near > window**2 * next_near:
            sign = 1.0 if labels[first] == codes[i] else -1.0
            for j in range(d):
                books[first, j] += sign * rate * (X[i, j] - books[first, j])
                books[second, j] -= sign * rate * (X[i, j] - books[second, j])
