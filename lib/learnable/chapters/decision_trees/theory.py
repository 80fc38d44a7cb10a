"""Ten customers, a checkerboard that greedy questions cannot see, and cells that never look at labels.

Source: Lember 2012, Sec. 6.3; the checkerboard after Devroye, Györfi and Lugosi 1996, Sec. 20.8.
"""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


def ten_customers():
    """Age, owner of a car (0 or 1) and town of ten customers, and whether they bought."""
    age = [23, 31, 36, 44, 52, 58, 27, 39, 47, 61]
    car = [1, 0, 1, 1, 0, 1, 0, 0, 1, 0]
    town = ["Ulm", "Kiel", "Ulm", "Bonn", "Ulm", "Kiel", "Bonn", "Kiel", "Ulm", "Bonn"]
    bought = ["no", "no", "yes", "yes", "no", "yes", "no", "no", "yes", "no"]
    return {"age": age, "car": car, "town": town, "bought": bought}


def checkerboard(n, noise, random_state):
    """Two columns, the first and the last, whose halves decide the class only together; those between mean nothing."""
    X = random_state.random((n, 2 + noise))
    return X, ((X[:, 0] > 0.5) ^ (X[:, -1] > 0.5)).astype(int)


class MedianTree(ClassifierMixin, BaseEstimator):
    """Cuts at medians, coordinate after coordinate, then votes; it never looks at labels, and is consistent."""

    def __init__(self, max_depth=None):
        self.max_depth = max_depth

    def fit(self, X, y):
        X = np.asarray(X, float)
        self.classes_, codes = np.unique(y, return_inverse=True)
        levels = int(0.5 * np.log2(len(X))) if self.max_depth is None else self.max_depth
        self._root = self._grow(X, codes, 0, levels)
        return self

    def _grow(self, X, codes, level, levels):
        if level == levels or len(codes) < 2:
            return np.bincount(codes, minlength=len(self.classes_)).argmax()
        j = level % X.shape[1]
        cut = np.median(X[:, j])
        low = X[:, j] <= cut
        return j, cut, *(self._grow(X[half], codes[half], level + 1, levels) for half in (low, ~low))

    def predict(self, X):
        return self.classes_[self._vote(self._root, np.asarray(X, float))]

    def _vote(self, node, X):
        if not isinstance(node, tuple):
            return np.full(len(X), node)
        j, cut, *halves = node
        low, votes = X[:, j] <= cut, np.empty(len(X), int)
        for half, mask in zip(halves, (low, ~low), strict=True):
            votes[mask] = self._vote(half, X[mask])
        return votes
