"""Weak learners: the simple rules that boosting combines, found exactly and fast.

A weak learner is a small description (`StumpERM`, `TreeERM`, `ColumnRules`, and for regression `RegressionTree`,
`ComponentwiseLinear`, `ComponentwiseSpline`). Its ``prepare(X)`` sorts or factorises the features once and returns a
bound learner. That one is asked again and again: ``fit(weights, y)`` for ±1 rules under sample weights, and
``fit(residuals)`` for regression. The answer is a rule with ``predict(X)`` and its values on the sample (``outputs``).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from learnable.ensembles.regression_learners import (
    ComponentwiseLinear,
    ComponentwiseSpline,
    RegressionTree,
    as_bins,
)
from learnable.trees import Tree, grow
from learnable.trees.best_first import NumberedFeatures, grow_best_first
from learnable.trees.histogram import best_binned_cut, grow_binned
from learnable.trees.sorted_features import SortedFeatures, best_cut
from learnable.validation import check_finite_array, check_scalar

__all__ = [
    "ColumnRules",
    "ComponentwiseLinear",
    "ComponentwiseSpline",
    "RegressionTree",
    "SortedFeatures",
    "Stump",
    "StumpERM",
    "TreeERM",
    "stump_outputs",
]


@dataclass(frozen=True)
class Stump:
    """The rule sign·(+1 if x[feature] > threshold else −1); with feature −1 the constant `sign`.

    Examples
    --------
    >>> Stump(0, 1.5, -1).predict([[1.0], [2.0]])
    array([ 1., -1.])
    """

    feature: int
    threshold: float
    sign: int
    outputs: np.ndarray | None = field(default=None, repr=False, compare=False)

    def predict(self, X):
        """±1 for each row of X."""
        X = np.asarray(X)
        if self.feature < 0:
            return np.full(len(X), float(self.sign))
        if X.ndim != 2 or self.feature >= X.shape[1]:
            raise ValueError(
                f"X must have more than {self.feature} columns, the rule asks for them, got shape {X.shape}"
            )
        # Of a vote of many rules each looks at its own column only.
        return np.where(
            check_finite_array(X[:, self.feature], "X") > self.threshold, float(self.sign), -float(self.sign)
        )


@dataclass(frozen=True)
class StumpERM:
    """Decision stumps with the smallest weighted 0-1 error: all features, both polarities, constant rules.

    Of equally good rules a constant one wins, then the first feature. O(n d log n) to prepare, O(n d) a fit.

    Parameters
    ----------
    max_bins : {"auto"}, int or None
        None tries every cut. A number from 2 to 256 bins the features first: thresholds lie on the edges of bins, and a
        feature with at most so many different values loses nothing. ``"auto"`` is 256 from 2,500 rows on.

    Examples
    --------
    >>> learner = StumpERM().prepare([[0.0], [1.0], [2.0]])
    >>> learner.fit(np.full(3, 1 / 3), np.array([1.0, -1.0, -1.0]))
    Stump(feature=0, threshold=0.5, sign=-1)
    """

    max_bins: int | str | None = "auto"

    def __repr__(self):
        return "StumpERM()" if self.max_bins == "auto" else f"StumpERM(max_bins={self.max_bins})"

    def prepare(self, X):
        """Sort or bin the features once; prepared `SortedFeatures` or `BinnedFeatures` are used as they are."""
        features = as_bins(X, self.max_bins, 1)
        if features is not None:
            return _BinnedStumps(features)
        return _BoundStumps(X if isinstance(X, SortedFeatures) else SortedFeatures(X))


class _BoundStumps:
    def __init__(self, features):
        self.features = features

    def fit(self, weights, y):
        features = self.features
        j, threshold, sign = best_cut(features, np.ascontiguousarray(weights * y, dtype=np.float64))
        if j < 0:
            return Stump(-1, 0.0, sign, np.full(len(y), float(sign)))
        return Stump(j, threshold, sign, np.where(features.columns[j] > threshold, float(sign), -float(sign)))


class _BinnedStumps:
    def __init__(self, features):
        self.features = features

    def fit(self, weights, y):
        cut = best_binned_cut(self.features, weights * y)
        sign = float(cut.sign)
        if cut.feature < 0:
            return Stump(-1, 0.0, cut.sign, np.full(len(y), sign))
        above = self.features.column(cut.feature) > cut.last_bin
        return Stump(cut.feature, cut.threshold, cut.sign, np.where(above, sign, -sign))


def stump_outputs(X, *, constants=True):
    """All different stumps on a sample as a matrix of ±1 outputs, closed under negation.

    Parameters
    ----------
    X : array (n, d)
    constants : bool
        Whether to include the two constant rules.

    Returns
    -------
    outputs : array (n, m)
        Different columns only: rules that agree on the sample appear once.

    Examples
    --------
    >>> stump_outputs([[0.0], [1.0]], constants=False)
    array([[-1.,  1.],
           [ 1., -1.]])
    """
    X = check_finite_array(X, "X", ndim=2)
    blocks = [np.ones((len(X), 1))] if constants else []
    for column in X.T:
        levels = np.unique(column)
        blocks.append(np.where(column[:, None] > levels[None, :-1], 1.0, -1.0))
    half = np.unique(np.hstack(blocks), axis=1)
    return np.unique(np.hstack([half, -half]), axis=1)


@dataclass(frozen=True)
class TreeERM:
    """Classification trees of bounded depth, grown greedily by weighted Gini impurity; a leaf says its majority.

    Finding the tree with the smallest weighted error is NP-hard beyond stumps; this is the usual approximation, through
    `learnable.trees.grow`. A rule whose weighted error exceeds one half is negated.

    Parameters
    ----------
    max_depth : int or None
    max_leaf_nodes : int, optional
        Split best first until the tree has so many leaves.
    max_bins : {"auto"}, int or None
        As in `StumpERM`, for trees of depth at most 8 and without a bound on their leaves; others are exact.

    Notes
    -----
    For labels ±1 the Gini impurity of a node is half the variance of its labels. The trees are grown by the squared
    error of the labels: the same splits, from centred sums, which stay accurate when the weights of boosting differ
    by dozens of orders of magnitude.

    Examples
    --------
    >>> learner = TreeERM(max_depth=2).prepare([[0.0], [1.0], [2.0], [3.0]])
    >>> rule = learner.fit(np.full(4, 1 / 4), np.array([1.0, -1.0, -1.0, 1.0]))
    >>> rule.predict([[0.2], [1.5], [2.9]])
    array([ 1., -1.,  1.])
    """

    max_depth: int | None = 2
    max_leaf_nodes: int | None = None
    max_bins: int | str | None = "auto"

    def __repr__(self):
        leaves = "" if self.max_leaf_nodes is None else f", max_leaf_nodes={self.max_leaf_nodes}"
        bins = "" if self.max_bins == "auto" else f", max_bins={self.max_bins}"
        return f"TreeERM(max_depth={self.max_depth}{leaves}{bins})"

    def prepare(self, X):
        """Sort or bin the features once."""
        if self.max_depth is not None:
            check_scalar(self.max_depth, "max_depth", low=1, integer=True)
        if self.max_leaf_nodes is not None:
            leaves = check_scalar(self.max_leaf_nodes, "max_leaf_nodes", low=2, integer=True)
            return BoundBestFirst(X, leaves, self.max_depth)
        elif self.max_depth is not None and self.max_depth <= 16:
            features = as_bins(X, self.max_bins, self.max_depth)
            if features is not None:
                return _BinnedTrees(features, self.max_depth)
        return _BoundTrees(X if isinstance(X, SortedFeatures) else SortedFeatures(X), self.max_depth)


@dataclass(frozen=True)
class _TreeRule:
    """A tree with a number in every leaf."""

    tree: Tree
    leaf: np.ndarray
    outputs: np.ndarray | None = field(default=None, repr=False, compare=False)

    @property
    def n_leaves(self):
        """Number of leaves."""
        return self.tree.n_leaves

    def predict(self, X):
        """The number in each row's leaf."""
        return self.leaf[self.tree.apply(X)]


def _majority_rule(tree, at, weights, y):
    """The rule whose leaves say the signs of their means; `at` is the leaf of each row."""
    leaf = np.where(tree.value[:, 0] >= 0, 1.0, -1.0)
    outputs = leaf[at]
    if weights[outputs != y].sum() > weights.sum() / 2:
        leaf, outputs = -leaf, -outputs
    return _TreeRule(tree, leaf, outputs)


class _BoundTrees:
    def __init__(self, features, depth):
        self.features, self.depth = features, depth
        self.X = np.ascontiguousarray(features.columns.T)

    def fit(self, weights, y):
        tree = grow(
            self.X,
            y,
            "squared",
            # Unit mean: the builder's tolerances are absolute.
            sample_weight=weights * (len(y) / weights.sum()),
            max_depth=self.depth,
            presorted=self.features.order,
        )
        return _majority_rule(tree, tree.apply(self.X), weights, y)


class BoundBestFirst:
    """Trees with leaves −1 and +1 and a bounded number of them, on features numbered once.

    Parameters
    ----------
    X : array (n, d)
    max_leaf_nodes : int
    max_depth : int, optional
    min_gain : float, optional
        See `learnable.trees.best_first.grow_best_first`.

    Examples
    --------
    >>> learner = BoundBestFirst([[0.0], [1.0], [2.0], [3.0]], 3)
    >>> learner.fit(np.full(4, 0.25), np.array([1.0, -1.0, -1.0, 1.0])).outputs
    array([ 1., -1., -1.,  1.])
    """

    def __init__(self, X, max_leaf_nodes, max_depth=None, min_gain=None):
        columns = X.columns.T if isinstance(X, SortedFeatures) else X
        self.features, self.leaves, self.depth, self.gain = (
            NumberedFeatures(columns),
            max_leaf_nodes,
            max_depth,
            min_gain,
        )

    def fit(self, weights, y):
        """The tree for labels −1 and +1 under the weights."""
        weights = np.asarray(weights, dtype=np.float64)
        tree, at = grow_best_first(self.features, y, weights, self.leaves, max_depth=self.depth, min_gain=self.gain)
        return _majority_rule(tree, at, weights, y)


class _BinnedTrees:
    def __init__(self, features, depth):
        self.features, self.depth = features, depth

    def fit(self, weights, y):
        weights = np.asarray(weights, dtype=np.float64)
        found = grow_binned(self.features, y, weights * (len(y) / weights.sum()), max_depth=self.depth)
        # The squared error of labels ±1 around their mean m is 1 − m² for each unit of weight.
        cost = found.weight * np.maximum(1.0 - found.mean**2, 0.0)
        arrays = found.feature, found.threshold, found.left, found.right, found.weight
        tree = Tree(*arrays, found.mean[:, None], cost, found.depth)
        node = np.zeros(2 ** (self.depth + 1) - 1, np.int64)
        node[found.place] = np.arange(len(found.place))
        return _majority_rule(tree, node[found.leaf], weights, y)


@dataclass(frozen=True)
class ColumnRules:
    """Abstract weak rules: column j of X *is* the output, ±1, of rule j.

    Parameters
    ----------
    negate : bool
        Whether −h belongs to the class with every h.

    Examples
    --------
    >>> H = np.array([[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]])
    >>> rule = ColumnRules().prepare(H).fit(np.array([0.5, 0.25, 0.25]), np.array([-1.0, 1.0, -1.0]))
    >>> rule.column, rule.sign
    (0, -1)
    """

    negate: bool = True

    def prepare(self, X):
        """Check that all entries are ±1."""
        H = check_finite_array(X, "X", ndim=2)
        if not (np.abs(H) == 1).all():
            raise ValueError("the columns of X must be outputs of ±1 rules: every entry −1 or 1")
        return _BoundColumns(H, self.negate)


@dataclass(frozen=True)
class _ColumnRule:
    """±1 times one column."""

    column: int
    sign: int
    outputs: np.ndarray | None = field(default=None, repr=False, compare=False)

    def predict(self, X):
        """The column, times the sign."""
        return self.sign * np.asarray(X, dtype=float)[:, self.column]


class _BoundColumns:
    def __init__(self, H, negate):
        self.H, self.negate = H, negate

    def fit(self, weights, y):
        edges = (weights * y) @ self.H
        j = int(np.argmax(np.abs(edges) if self.negate else edges))
        sign = -1 if self.negate and edges[j] < 0 else 1
        return _ColumnRule(j, sign, sign * self.H[:, j])
