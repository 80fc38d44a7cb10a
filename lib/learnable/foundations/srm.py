"""Structural risk minimisation (Vapnik): choose the class of rules by training risk plus a penalty for its size.

Source: Lember 2012, Sec. 2.8.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.base import clone

from learnable.foundations.erm import KIntervalERM, _BinaryRule
from learnable.validation import check_finite_array, check_scalar

__all__ = ["PENALTIES", "SRM", "penalty"]


def penalty(name, V, n, k=1, a=1.0, b=0.0):
    """Complexity penalties C(V_k, n) of structural risk minimisation.

    Parameters
    ----------
    name : {"generic", "lugosi", "dgl", "none"}
        ``generic`` a√((V ln n + b)/n); ``lugosi`` 2√((V ln(n+1) + ln 2)/n) + √(ln k/n), (2.8.8); ``dgl``
        √(32 V (ln n + 1)/n), (2.8.10) with the bracket that its proof needs.
    V, k : int or arrays
        VC dimension and index of the class.
    n : int
    a : float, default=1.0
        Factor of the generic penalty.
    b : float, default=0.0
        Addend of the generic penalty.

    Examples
    --------
    >>> round(float(penalty("lugosi", V=2, n=1000)), 4)
    0.2409
    """
    V, k = check_finite_array(V, "V"), check_finite_array(k, "k")
    n, a, b = check_scalar(n, "n", low=1), check_scalar(a, "a", low=0), check_scalar(b, "b", low=0)
    if not (isinstance(name, str) and name in PENALTIES):
        raise ValueError(f"penalty must be one of {', '.join(PENALTIES)} or a callable; got {name!r}")
    if (V < 0).any() or (k < 1).any():
        raise ValueError("V must not be negative and k must be at least 1")
    return PENALTIES[name](V, n, k, a, b)


PENALTIES: dict[str, Callable] = {
    "generic": lambda V, n, k, a, b: a * np.sqrt((V * np.log(n) + b) / n),
    "lugosi": lambda V, n, k, a, b: 2 * np.sqrt((V * np.log(n + 1) + np.log(2)) / n) + np.sqrt(np.log(k) / n),
    "dgl": lambda V, n, k, a, b: np.sqrt(32 * V * (np.log(n) + 1) / n),
    "none": lambda V, n, k, a, b: np.zeros(np.broadcast(V, k).shape),
}


class SRM(_BinaryRule):
    """Structural risk minimisation over classes of growing complexity.

    Parameters
    ----------
    classes : sequence of estimators, optional
        One empirical risk minimiser for each class; by default unions of at most 1, …, ``k_max`` intervals, all fitted
        by one dynamic programme.
    dimensions : sequence of float, optional
        Their VC dimensions; required with ``classes``.
    k_max : int
    penalty : str or callable
        See `penalty`.
    a, b : float
        Constants of the generic penalty.
    feature : int, optional
        The column that unions of intervals use; needed where X has more than one.

    Attributes
    ----------
    k_ : int
        The chosen class.
    train_risks_, penalties_ : array
    estimator_ : the fitted minimiser

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((5000, 1))
    >>> y = (X[:, 0] * 7 % 2 >= 1) ^ (rng.random(5000) < 0.1)  # three intervals, a tenth of the labels flipped
    >>> SRM(k_max=12).fit(X, y).k_
    3
    """

    def __init__(self, classes=None, dimensions=None, k_max=12, penalty="lugosi", a=1.0, b=0.0, feature=None):
        self.classes = classes
        self.dimensions = dimensions
        self.k_max = k_max
        self.penalty = penalty
        self.a = a
        self.b = b
        self.feature = feature

    def _column(self, X):
        """What the default classes look at: the only column, or the one that was asked for."""
        if self.feature is None and X.shape[1] > 1:
            raise ValueError(f"unions of intervals use one column, X has {X.shape[1]}: give feature, or classes")
        j = check_scalar(self.feature or 0, "feature", low=0, high=X.shape[1] - 1, integer=True)
        return X[:, j : j + 1]

    def fit(self, X, y):
        X, codes = self._prepare(X, y)
        n = len(codes)
        if self.classes is None:
            k_max = check_scalar(self.k_max, "k_max", low=1, integer=True)
            V = 2.0 * np.arange(1, k_max + 1)
            whole = KIntervalERM(k_max).fit(self._column(X), codes)
            self.train_risks_ = whole.errors_[1:] / n
        else:
            if self.dimensions is None or len(self.dimensions) != len(self.classes):
                raise ValueError("dimensions must give the VC dimension of each class")
            V = np.asarray(self.dimensions, float)
            fitted = [clone(member).fit(X, codes) for member in self.classes]
            self.train_risks_ = np.array([np.mean(member.predict(X) != codes) for member in fitted])
        k = np.arange(1, len(V) + 1)
        if callable(self.penalty):
            self.penalties_ = np.asarray(self.penalty(V, n, k), float)
        else:
            self.penalties_ = penalty(self.penalty, V, n, k, a=self.a, b=self.b)
        chosen = int(np.argmin(self.train_risks_ + self.penalties_))
        self.k_ = chosen + 1
        if self.classes is None:
            whole.intervals_ = whole.intervals(self.k_)
            self.intervals_ = whole.intervals_
            self.estimator_ = whole
        else:
            self.estimator_ = fitted[chosen]
        return self

    def predict(self, X):
        X = self._points(X)
        codes = self.estimator_.predict(self._column(X) if self.classes is None else X)
        return self._decode(np.asarray(codes) == 1)
