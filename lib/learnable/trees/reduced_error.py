"""Prunings of a given tree as a finite class: the best one, the best within a budget, their number.

A tree that was grown on one sample is taken as given. A *pruning* cuts some of its inner nodes, which become leaves
with the majority class that they had when the tree grew. Any quantity that is a sum over the leaves of a pruning
(errors on a second sample, errors weighted by random signs, a difference of two measures) is minimised over all
prunings by one sweep from the leaves to the root. This is REP, reduced error pruning (Quinlan 1987); Kääriäinen,
Malinen and Elomaa (2004) add a budget of errors on the first sample: k-REP, a dynamic programme.

The budget counts *excess* errors, what a cut adds to the errors of the whole tree. Majority labels make this a number
that is never negative and that adds up over cuts, so tables are as short as the slack, not as long as the errors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from learnable.trees._budgets import join, log_counts, smallest_costs, trace
from learnable.validation import check_finite_array, check_has, check_scalar, encode_labels

__all__ = [
    "GivenTree",
    "InfeasibleBudget",
    "Pruning",
    "k_rep",
    "largest_sums",
    "log_n_prunings",
    "node_errors",
    "reduced_error_pruning",
]

_EXACT = 2.0**53  # whole numbers below are exact in a double


class InfeasibleBudget(ValueError):
    """No pruning makes so few errors on the data that the tree was grown from."""


@dataclass(frozen=True, eq=False)
class GivenTree:
    """A tree that will be pruned, with what the growing data say about each node.

    Nodes are numbered so that parents come before their children, node 0 is the root, and splits may have any number of
    branches from two on.

    Attributes
    ----------
    parent : array (m,) of int
        The parent of each node, -1 for the root.
    label : array (m,) of int
        Code of the majority class of the growing examples that reach the node.
    grow_errors : array (m,) of int
        Growing examples that reach the node and have another class.

    Examples
    --------
    >>> tree = GivenTree(parent=[-1, 0, 0, 1, 1], label=[0, 0, 1, 0, 1], grow_errors=[4, 2, 1, 0, 0])
    >>> tree.errors, tree.excess.tolist()
    (1, [3, 2, 0, 0, 0])
    """

    parent: np.ndarray
    label: np.ndarray
    grow_errors: np.ndarray

    def __post_init__(self):
        parent = _whole(self.parent, "parent", low=-1)
        m = len(parent)
        if m == 0 or parent[0] != -1 or (parent[1:] < 0).any() or (parent[1:] >= np.arange(1, m)).any():
            raise ValueError("parent must hold -1 first and then, for each node, the number of an earlier one")
        if (np.bincount(parent[1:], minlength=m) == 1).any():
            raise ValueError("parent must give no child or at least two to each node")
        errors, label = _whole(self.grow_errors, "grow_errors"), _whole(self.label, "label")
        if len(errors) != m or len(label) != m:
            raise ValueError(f"label and grow_errors must have {m} entries, as parent has")
        if (_sum_of_children(parent, errors) > errors).any():
            raise ValueError("grow_errors must not rise when a node is split: labels must be growing majorities")
        for name, value in (("parent", parent), ("label", label), ("grow_errors", errors)):
            value.flags.writeable = False
            object.__setattr__(self, name, value)

    @classmethod
    def from_sklearn(cls, grown, X, y, classes=None):
        """The tree of a fitted ``DecisionTreeClassifier``, with majorities counted again from the growing data.

        Parameters
        ----------
        grown : DecisionTreeClassifier
            Fitted.
        X, y : arrays (n, d), (n,)
            The growing data.
        classes : array-like of labels, optional
            The classes in the order of their codes, by default those of `y`. Classes that only other data have may be
            among them.

        Returns
        -------
        GivenTree
        """
        check_has(grown, "grown", "tree_ apply", "a fitted DecisionTreeClassifier")
        _, codes = encode_labels(y, classes)
        nodes = grown.tree_
        parent = np.full(nodes.node_count, -1)
        for children in (nodes.children_left, nodes.children_right):
            inside = np.flatnonzero(children >= 0)
            parent[children[inside]] = inside
        counts = np.zeros((nodes.node_count, codes.max() + 1), np.int64)
        np.add.at(counts, (grown.apply(X), codes), 1)
        _add_to_parents(parent, counts)
        label = counts.argmax(axis=1)
        return cls(parent, label, counts.sum(axis=1) - counts.max(axis=1))

    @property
    def n_nodes(self):
        """Number of nodes, leaves included."""
        return len(self.parent)

    @property
    def is_leaf(self):
        """Mask of the leaves."""
        return np.bincount(self.parent[1:], minlength=self.n_nodes) == 0

    @property
    def errors(self):
        """Growing errors of the tree before pruning."""
        return int(self.grow_errors[self.is_leaf].sum())

    @property
    def excess(self):
        """Growing errors that a cut at each node adds to those of the leaves below it."""
        below = np.where(self.is_leaf, self.grow_errors, 0)[:, None]
        _add_to_parents(self.parent, below)
        return self.grow_errors - below[:, 0]


@dataclass(frozen=True, eq=False)
class Pruning:
    """A pruning of a `GivenTree`.

    Attributes
    ----------
    inner : array (m,) of bool
        Nodes of the given tree that are inner nodes of the pruning.
    leaf_of : array (m,) of int
        For each node of the given tree the node of the pruning that stands for it: itself, or the cut above it.
    error : int
        The errors that were minimised, of the pruning.
    grow_errors : int
        Its errors on the growing data.
    size : int
        Its number of nodes.
    """

    inner: np.ndarray
    leaf_of: np.ndarray
    error: int
    grow_errors: int
    size: int

    @property
    def leaves(self):
        """Numbers of the nodes that are leaves of the pruning, in increasing order."""
        return np.unique(self.leaf_of[~self.inner[self.leaf_of]])


def node_errors(tree, leaf, codes, weights=None):
    """Sum of the weights of the examples that reach each node and are not of its class. Cost O(n · depth · draws).

    Parameters
    ----------
    tree : GivenTree
    leaf : array (n,) of int
        The leaf of the given tree that each example reaches.
    codes : array (n,) of int
        The class codes; -1 is a class that the tree does not know, an error everywhere.
    weights : array (n,) or (n, draws), optional
        All one by default; random signs give what a Rademacher penalty maximises.

    Returns
    -------
    array (m,) or (m, draws)

    Examples
    --------
    >>> tree = GivenTree([-1, 0, 0], label=[0, 0, 1], grow_errors=[1, 0, 0])
    >>> node_errors(tree, leaf=[1, 1, 2], codes=[0, 1, 1])
    array([2., 1., 0.])
    """
    _check_tree(tree)
    leaf, codes = _whole(leaf, "leaf"), _whole(codes, "codes", low=-1)
    if len(leaf) != len(codes):
        raise ValueError(f"codes must have {len(leaf)} entries, as leaf has, got {len(codes)}")
    if len(leaf) and (leaf.max() >= tree.n_nodes or not tree.is_leaf[leaf].all()):
        raise ValueError("leaf must hold numbers of leaves of the tree")
    if weights is None:
        weights = np.ones(len(leaf))
    weights = check_finite_array(weights, "weights")
    if weights.ndim not in (1, 2) or len(weights) != len(leaf):
        raise ValueError(f"weights must have shape ({len(leaf)},) or ({len(leaf)}, draws), got {weights.shape}")
    columns = np.ascontiguousarray(weights.reshape(len(leaf), -1) if len(leaf) else np.zeros((0, 1)))
    found = _node_errors(tree.parent, tree.label, leaf, codes, columns)
    return found[:, 0] if weights.ndim == 1 else found


def reduced_error_pruning(tree, errors):
    """REP: the smallest of the prunings with the fewest errors, by best(N) = min(errors[N], Σ best(children)). O(m).

    Kääriäinen et al. 2004, Sec. 3; Quinlan 1987.

    Parameters
    ----------
    tree : GivenTree
    errors : array (m,) of int
        Errors of each node if it were a leaf, on data that the tree has not seen (`node_errors`).

    Returns
    -------
    Pruning

    Examples
    --------
    >>> tree = GivenTree([-1, 0, 0, 1, 1], label=[0, 0, 1, 0, 1], grow_errors=[4, 2, 1, 0, 0])
    >>> pruning = reduced_error_pruning(tree, [5, 2, 1, 1, 1])
    >>> pruning.error, pruning.size, pruning.leaves.tolist()
    (3, 3, [1, 2])
    """
    packed = _packed(tree, errors)
    return _pruning(tree, _rep(tree.parent, packed, 1.0), errors)


def k_rep(tree, errors, k):
    """k-REP: the best pruning, as in REP, of those with at most k growing errors.

    A dynamic programme over the excess 0, ..., K with K = k - errors of the unpruned tree (Kääriäinen et al. 2004,
    Thm. 5 and Alg. 6, which index by the errors 0, ..., k). Cost O(K (m + excess of the root)), since tables are
    as long as the excess below them; memory Σ min(K, excess of the node).

    Parameters
    ----------
    tree : GivenTree
    errors : array (m,) of int
        Errors of each node if it were a leaf, on data that the tree has not seen.
    k : int
        The budget. Below the errors of the unpruned tree it raises `InfeasibleBudget`.

    Returns
    -------
    Pruning

    Examples
    --------
    >>> tree = GivenTree([-1, 0, 0, 1, 1], label=[0, 0, 1, 0, 1], grow_errors=[4, 2, 1, 0, 0])
    >>> [k_rep(tree, [2, 2, 1, 1, 1], k).size for k in (1, 3, 4)]
    [5, 3, 1]
    """
    packed, budget = _packed(tree, errors), _budget(tree, k)
    joined = join(tree.parent, tree.excess, budget)
    table = smallest_costs(joined, packed, 1.0, budget)
    return _pruning(tree, trace(joined, table, packed, 1.0, budget), errors)


def largest_sums(tree, scores, k=None):
    """max over prunings of the sum of the scores of their leaves, for each column. Cost O(m · draws) without a budget.

    Parameters
    ----------
    tree : GivenTree
    scores : array (m,) or (m, draws)
        What each node is worth as a leaf.
    k : int, optional
        Only prunings with at most k growing errors; the cost is that of `k_rep` for each column.

    Returns
    -------
    float or array (draws,)

    Examples
    --------
    >>> tree = GivenTree([-1, 0, 0], label=[0, 0, 1], grow_errors=[1, 0, 0])
    >>> largest_sums(tree, [[1.0, 3.0], [2.0, 0.0], [1.0, 1.0]])
    array([3., 3.])
    """
    _check_tree(tree)
    scores = check_finite_array(scores, "scores")
    if scores.ndim not in (1, 2) or len(scores) != tree.n_nodes:
        raise ValueError(f"scores must have shape ({tree.n_nodes},) or ({tree.n_nodes}, draws), got {scores.shape}")
    columns = scores.reshape(tree.n_nodes, -1)
    if k is None:
        found = _largest(tree.parent, np.ascontiguousarray(columns))
    else:
        budget = _budget(tree, k)
        joined = join(tree.parent, tree.excess, budget)
        found = np.empty(columns.shape[1])
        for draw, column in enumerate(-columns.T):
            table = smallest_costs(joined, np.ascontiguousarray(column), 0.0, budget)
            found[draw] = 0.0 - table[joined.start[1] - 1]
    return float(found[0]) if scores.ndim == 1 else found


def log_n_prunings(tree, k=None):
    """Natural logarithm of the number of prunings: N(leaf) = 1, N(node) = 1 + Π N(children). Cost O(m).

    Parameters
    ----------
    tree : GivenTree
    k : int, optional
        Count only prunings with at most k growing errors, by the dynamic programme of `k_rep` with sums for minima.

    Returns
    -------
    float

    Examples
    --------
    >>> complete = GivenTree([-1, 0, 0, 1, 1, 2, 2], label=[0] * 7, grow_errors=[0] * 7)
    >>> round(float(np.exp(log_n_prunings(complete))))
    5
    """
    _check_tree(tree)
    if k is None:
        return float(_log_n(tree.parent))
    budget = _budget(tree, k)
    return float(log_counts(join(tree.parent, tree.excess, budget), tree.n_nodes, budget))


def _whole(values, name, low=0):
    array = check_finite_array(values, name, ndim=1)
    if (array != np.round(array)).any() or (array < low).any() or (np.abs(array) >= _EXACT).any():
        raise ValueError(f"{name} must hold whole numbers of at least {low}")
    return array.astype(np.int64)


def _check_tree(tree):
    check_has(tree, "tree", "parent label grow_errors excess", "a GivenTree")


def _budget(tree, k):
    """The excess that k growing errors leave."""
    k = check_scalar(k, "k", integer=True)
    if k < tree.errors:
        raise InfeasibleBudget(
            f"k must be at least {tree.errors}, the growing errors of the unpruned tree, which no pruning undercuts; "
            f"got {k}"
        )
    return min(k - tree.errors, int(tree.grow_errors[0]) - tree.errors)


def _packed(tree, errors):
    """Error and size as one number, error first: a comparison of packed numbers is lexicographic."""
    _check_tree(tree)
    errors = _whole(errors, "errors")
    if len(errors) != tree.n_nodes:
        raise ValueError(f"errors must have {tree.n_nodes} entries, one for each node, got {len(errors)}")
    base = 2.0 * tree.n_nodes
    if errors.sum(dtype=np.float64) * base >= _EXACT:
        raise ValueError("errors must be so small that their sum times twice the number of nodes is below 2^53")
    return errors * base + 1.0


def _pruning(tree, inner, errors):
    leaf_of, reached = _stops(tree.parent, inner)
    leaves = np.flatnonzero(reached & ~inner)
    total = int(_whole(errors, "errors")[leaves].sum())
    return Pruning(inner, leaf_of, total, int(tree.grow_errors[leaves].sum()), int(reached.sum()))


def _sum_of_children(parent, values):
    return np.bincount(parent[1:], weights=values[1:], minlength=len(parent))


@njit(cache=True)
def _add_to_parents(parent, values):
    """Add the rows of children to those of their parents, from the last node to the first, in place."""
    for node in range(len(parent) - 1, 0, -1):
        values[parent[node]] += values[node]


@njit(cache=True)
def _node_errors(parent, label, leaf, codes, weights):
    """Carry each example from its leaf up to the root, and add its weights where the label is not its class."""
    found = np.zeros((len(parent), weights.shape[1]))
    for i in range(len(leaf)):
        node = leaf[i]
        while node >= 0:
            if codes[i] != label[node]:
                for j in range(weights.shape[1]):
                    found[node, j] += weights[i, j]
            node = parent[node]
    return found


@njit(cache=True)
def _rep(parent, leaf_cost, inner_cost):
    """Inner nodes of the cheapest pruning; those below a cut are taken out by `_stops`."""
    m = len(parent)
    below = np.full(m, inner_cost)
    has_children = np.zeros(m, np.bool_)
    inner = np.zeros(m, np.bool_)
    for node in range(m - 1, -1, -1):
        inner[node] = has_children[node] and below[node] < leaf_cost[node]
        best = below[node] if inner[node] else leaf_cost[node]
        if node > 0:
            below[parent[node]] += best
            has_children[parent[node]] = True
    for node in range(1, m):
        inner[node] &= inner[parent[node]]
    return inner


@njit(cache=True)
def _stops(parent, inner):
    """The node of the pruning that stands for each node, and which nodes belong to the pruning."""
    m = len(parent)
    leaf_of = np.zeros(m, np.int64)
    reached = np.ones(m, np.bool_)
    for node in range(1, m):
        reached[node] = inner[parent[node]]
        leaf_of[node] = node if reached[node] else leaf_of[parent[node]]
    return leaf_of, reached


@njit(cache=True)
def _largest(parent, scores):
    """max(score, Σ best of the children), for all columns in one sweep from the leaves to the root."""
    m, draws = scores.shape
    below = np.zeros((m, draws))
    has_children = np.zeros(m, np.bool_)
    for node in range(m - 1, -1, -1):
        for j in range(draws):
            best = scores[node, j]
            if has_children[node]:
                best = max(best, below[node, j])
            below[node, j] = best  # from here on the best of the node itself
        if node > 0:
            has_children[parent[node]] = True
            below[parent[node]] += below[node]
    return below[0]


@njit(cache=True)
def _log_n(parent):
    """log N of the root, from log N(node) = log(1 + exp Σ log N(children)): the numbers themselves overflow."""
    m = len(parent)
    total = np.zeros(m)
    has_children = np.zeros(m, np.bool_)
    for node in range(m - 1, -1, -1):
        if has_children[node]:
            total[node] = np.logaddexp(0.0, total[node])
        if node > 0:
            total[parent[node]] += total[node]
            has_children[parent[node]] = True
    return total[0]
