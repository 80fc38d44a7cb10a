"""Probabilistic classifier chains: a full law of the labels at each x (Waegeman et al. 2014, Section 7.1.3).

P(y | x) is a product of logistic regressions, each of which sees x and the labels before it. Sampling from it label by
label gives P(y_i = 1, s ones); its mode is found exactly by a search that opens the most probable beginning first.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
from numba import njit
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted, validate_data

from learnable._inner import assign
from learnable.selection.f_measures.learners import LabelSetClassifier
from learnable.validation import (
    Result,
    check_bool,
    check_choice,
    check_finite_array,
    check_rng,
    check_scalar,
    warn_not_converged,
)

_SURE = 40.0  # log odds of a label that never varies


@dataclass(frozen=True, eq=False)
class JointModes(Result):
    """Most probable label vectors; made by ``LabelChain.joint_modes``.

    Attributes
    ----------
    h : ndarray of shape (N, m)
    probability : ndarray of shape (N,)
        Of the vector that was found.
    n_iter : ndarray of shape (N,)
        Beginnings that were opened.
    converged : bool
        Whether every search ended before `max_nodes`.
    gap : float
        Largest probability that a vector not looked at could have above the one that was found.
    """

    h: np.ndarray
    probability: np.ndarray
    n_iter: np.ndarray
    converged: bool
    gap: float


class LabelChain(LabelSetClassifier):
    """A chain of logistic regressions as a law of the labels, and any rule on top of it.

    Inputs are standardised inside unless told otherwise, so that one penalty suits all columns. Where they have a
    common unit already, leave them as they are: the penalty then weighs on earlier labels as on any input. Draws use
    the same uniform numbers for every instance, so that a prediction does not depend on the other rows of the table.
    Fit: m logistic regressions with up to d + m - 1 inputs. Predict: O(n_draws m^2) for each instance; rule "JM" opens
    about m / p beginnings where the mode has probability p.

    The most probable label vectors are had from ``joint_modes``, as a `JointModes`.

    Parameters
    ----------
    estimator : classifier, default=None
        With ``coef_`` and ``intercept_`` in log odds, or a search over such; None is ``LogisticRegression(C=0.1)``.
    rule : {"MM", "JM", "FM", "GFM", "threshold"}, default="GFM"
    order : array-like of int, default=None
        Order of the labels in the chain; that of the columns if None.
    allow_empty : bool or "auto", default="auto"
        Whether a rule for F may predict no label at all; "auto" allows it if a training instance has no label.
    n_draws : int, default=1000
        Label vectors drawn for each instance.
    max_nodes : int, default=100_000
        Beginnings that the search for the joint mode may open for one instance.
    standardize : bool, default=True
        Scale the inputs to deviation one; the labels before a label are never scaled.
    random_state : None, int or numpy.random.Generator, default=None

    Attributes
    ----------
    coef_ : ndarray of shape (m, d)
        On standardised inputs if they are, in the order of the chain.
    coupling_ : ndarray of shape (m, m)
        Weight of an earlier label (column) for a later one (row), in the order of the chain.
    intercept_ : ndarray of shape (m,)
    order_ : ndarray of shape (m,)
    sizes_ : ndarray of shape (m,)
    n_labels_ : int

    Examples
    --------
    >>> from learnable.datasets import load
    >>> X, Y = load("emotions", return_X_y=True)
    >>> chain = LabelChain(n_draws=200, random_state=0).fit(X[:391], Y[:391])
    >>> round(chain.score(X[391:], Y[391:]), 1), chain.joint_modes(X[391:]).converged
    (0.7, True)
    """

    def __init__(
        self,
        estimator=None,
        rule="GFM",
        order=None,
        allow_empty="auto",
        n_draws=1000,
        max_nodes=100_000,
        standardize=True,
        random_state=None,
    ):
        self.allow_empty = allow_empty
        self.estimator = estimator
        self.rule = rule
        self.order = order
        self.n_draws = n_draws
        self.max_nodes = max_nodes
        self.standardize = standardize
        self.random_state = random_state

    def _check_parameters(self):
        super()._check_parameters()
        check_scalar(self.n_draws, "n_draws", low=1, high=10**7, integer=True)
        check_scalar(self.max_nodes, "max_nodes", low=1, integer=True)
        check_bool(self.standardize, "standardize")

    def _fit(self, X, Y):
        base = LogisticRegression(C=0.1, max_iter=1000) if self.estimator is None else self.estimator
        m, d = Y.shape[1], X.shape[1]
        self.order_ = np.arange(m) if self.order is None else _checked_order(self.order, m)
        self._mean, self._scale = np.zeros(d), np.ones(d)
        if self.standardize:
            self._mean, scale = X.mean(axis=0), X.std(axis=0)
            self._scale = np.where(scale > 1e-12 * np.abs(self._mean), scale, 1.0)
        inputs = np.column_stack([(X - self._mean) / self._scale, Y[:, self.order_]])
        self.coef_, self.coupling_, self.intercept_ = np.zeros((m, d)), np.zeros((m, m)), np.zeros(m)
        for i in range(m):
            target = Y[:, self.order_[i]].astype(int)
            if target.min() == target.max():
                self.intercept_[i] = _SURE if target[0] else -_SURE
                continue
            model = clone(base).fit(inputs[:, : d + i], target)
            model = getattr(model, "best_estimator_", model)
            self.coef_[i], self.coupling_[i, :i] = model.coef_[0, :d], model.coef_[0, d:]
            self.intercept_[i] = float(np.ravel(model.intercept_)[0])
        self.sizes_ = np.arange(1, m + 1)
        self._uniforms = check_rng(self.random_state).random((self.n_draws, m))

    def joint_modes(self, X, *, method="exact"):
        """Find the most probable label vector of each instance.

        Parameters
        ----------
        X : array-like of shape (N, d)
        method : {"exact", "greedy"}, default="exact"
            "greedy" takes the more probable value label by label, which may miss the mode.

        Returns
        -------
        JointModes
        """
        check_is_fitted(self)
        check_choice(method, "method", ("exact", "greedy"))
        X = validate_data(self, X, reset=False, dtype=np.float64)
        return self._modes(X, self.max_nodes if method == "exact" else 0)

    def _modes(self, X, max_nodes):
        scores = self._scores(X)
        h, logs = np.zeros(scores.shape, dtype=np.int64), np.empty(len(X))
        opened, above = np.zeros(len(X), dtype=np.int64), np.empty(len(X))
        _search_all(scores, self.coupling_, max_nodes, h, (logs, opened, above))
        gap = float(np.max(np.exp(above) - np.exp(logs), initial=0.0))
        converged = max_nodes == 0 or gap <= 0
        if not converged:
            warn_not_converged("LabelChain", max_nodes, gap, 0.0, "raise max_nodes")
        found = np.empty_like(h)
        found[:, self.order_] = h
        return JointModes(found, np.exp(logs), opened, converged, max(gap, 0.0) if max_nodes else float("nan"))

    def _sets(self, X):
        return self._modes(X, self.max_nodes).h if self.rule == "JM" else super()._sets(X)

    def _size_probabilities(self, X):
        scores = self._scores(X)
        m = scores.shape[1]
        P, p0 = np.zeros((len(X), m, m)), np.zeros(len(X))
        _draw_all(scores, self.coupling_, self._uniforms, P, p0)
        found = np.empty_like(P)
        found[:, self.order_] = P
        return found, p0

    def _scores(self, X):
        return (X - self._mean) / self._scale @ self.coef_.T + self.intercept_


def _checked_order(order, m):
    found = check_finite_array(order, "order", ndim=1)
    if not np.array_equal(np.sort(found), np.arange(m)):
        raise ValueError(f"order must be a permutation of 0, ..., {m - 1}")
    return found.astype(np.int64)


@njit(cache=True)
def _draw_all(scores, coupling, uniforms, P, p0):
    n_draws, m = uniforms.shape
    drawn = np.empty(m, dtype=np.int64)
    share = 1.0 / n_draws
    for i in range(len(scores)):
        for draw in range(n_draws):
            size = 0
            for t in range(m):
                score = scores[i, t]
                for j in range(size):
                    score += coupling[t, drawn[j]]
                if uniforms[draw, t] * (1.0 + np.exp(-score)) < 1.0:
                    drawn[size] = t
                    size += 1
            if size == 0:
                p0[i] += share
            for j in range(size):
                P[i, drawn[j], size - 1] += share


@njit(cache=True)
def _log_sigmoid(score):
    return -np.log1p(np.exp(-score)) if score > 0 else score - np.log1p(np.exp(score))


@njit(cache=True)
def _greedy(scores, coupling, y):
    total = 0.0
    for t in range(len(scores)):
        score = scores[t]
        for j in range(t):
            score += coupling[t, j] * y[j]
        y[t] = 1 if score > 0 else 0
        total += _log_sigmoid(abs(score))
    return total


@njit(cache=True)
def _search_all(scores, coupling, max_nodes, h, out):
    logs, opened, above = out
    for i in range(len(scores)):
        logs[i] = _greedy(scores[i], coupling, h[i])
        above[i] = logs[i]
        if max_nodes > 0:
            logs[i], opened[i], above[i] = _search(scores[i], coupling, max_nodes, h[i], logs[i])


@njit(cache=True)
def _search(scores, coupling, max_nodes, best, floor):
    """Uniform-cost search: open the most probable beginning until a whole vector comes up. `best` holds a first vector.

    Beginnings less probable than the best vector known are never kept. Returns the log probability, the number opened
    and the log probability of the best beginning that was left.
    """
    m = len(scores)
    parents, bits, depths = [-1], [0], [0]
    heap = [(0.0, 0)]
    y = np.zeros(m, dtype=np.int64)
    opened = 0
    while len(heap) > 0:
        if opened >= max_nodes:
            return floor, opened, max(floor, -heap[0][0])
        cost, node = heapq.heappop(heap)
        if -cost < floor:
            break
        depth = depths[node]
        at = node
        for t in range(depth - 1, -1, -1):
            y[t] = bits[at]
            at = parents[at]
        if depth == m:
            assign(best, y)
            return -cost, opened, -cost
        opened += 1
        score = scores[depth]
        for j in range(depth):
            score += coupling[depth, j] * y[j]
        for bit in (0, 1):
            log = -cost + _log_sigmoid(score if bit == 1 else -score)
            if log >= floor - 1e-12:
                parents.append(node)
                bits.append(bit)
                depths.append(depth + 1)
                heapq.heappush(heap, (-log, len(bits) - 1))
    return floor, opened, floor
