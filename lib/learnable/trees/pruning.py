"""Cost-complexity pruning: the nested sequence of optimal subtrees by weakest links, with an independent check.

For a penalty λ a leaf an optimal subtree minimises Σ_leaves cost + λ · leaves. Collapsing, again and again, the
internal nodes whose subtrees earn the least per leaf gives the smallest optimal subtree for every λ (Breiman et al.
1984; Lember 2012, Theorem 6.3.1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from learnable.validation import check_finite_array, check_has, check_scalar

__all__ = ["PruningPath", "weakest_links"]

_TIE = 1e-10  # of a node's cost: links that differ by less are equally weak


@dataclass(frozen=True, eq=False)
class PruningPath:
    """The sequence T⁰ ⊃ T¹ ⊃ … ⊃ {root}.

    Attributes
    ----------
    penalty : array (m,)
        0 = λ_0 < λ_1 < …: subtree i is optimal for penalties in [λ_i, λ_{i+1}).
    leaves : array (m,) of int
    cost : array (m,)
        Σ over leaves, without the penalty.
    collapsed_at : array (nodes,) of int
        Index of the subtree from which on an internal node is a leaf or gone; large in leaves.
    """

    penalty: np.ndarray
    leaves: np.ndarray
    cost: np.ndarray
    collapsed_at: np.ndarray

    def keep(self, index):
        """Mask of the internal nodes of subtree ``index``."""
        return self.collapsed_at > index

    def index_for(self, alpha):
        """The subtree that is optimal, and smallest, for a penalty."""
        alpha = check_scalar(alpha, "alpha", low=0.0)
        return int(np.searchsorted(self.penalty, alpha * (1 + 1e-12), side="right")) - 1


def weakest_links(tree, costs=None):
    """The whole pruning path of a tree. O(nodes · depth).

    Parameters
    ----------
    tree : Tree
    costs : array (nodes,), optional
        Cost of each node as a leaf, by default that of the growing criterion; no node may cost less than its children
        together (true for every concave impurity).

    Returns
    -------
    PruningPath

    Examples
    --------
    >>> from learnable.trees import grow
    >>> tree = grow([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 0])
    >>> path = weakest_links(tree, tree.node_costs("error"))
    >>> path.leaves, path.penalty
    (array([3, 1]), array([0. , 0.5]))
    """
    costs = _node_costs(tree, costs)
    inside = np.flatnonzero(~tree.is_leaf)
    if len(inside):
        below = costs[tree.left[inside]], costs[tree.right[inside]]
        gain = costs[inside] - below[0] - below[1]
        if (gain < -1e-8 * (np.abs(costs[inside]) + np.abs(below[0]) + np.abs(below[1]))).any():
            raise ValueError("costs must not rise when a node is split: the criterion is not concave")
    penalty, leaves, cost, when = _weakest_links(tree.left, tree.right, costs)
    return PruningPath(penalty, leaves, cost, when)


def _node_costs(tree, costs):
    check_has(tree, "tree", "n_nodes left right cost", "a Tree")
    costs = np.ascontiguousarray(check_finite_array(tree.cost if costs is None else costs, "costs", ndim=1))
    if costs.shape != (tree.n_nodes,):
        raise ValueError(f"costs must hold {tree.n_nodes} finite numbers, one for each node")
    return costs


@njit(cache=True)
def _weakest_links(left, right, costs):
    m = len(left)
    parent = np.full(m, -1, np.int64)
    sub_cost = costs.copy()
    sub_leaves = np.ones(m, np.int64)
    when = np.full(m, 2**62, np.int64)
    active = np.zeros(m, np.bool_)
    for node in range(m - 1, -1, -1):
        if left[node] >= 0:
            parent[left[node]] = node
            parent[right[node]] = node
            sub_cost[node] = sub_cost[left[node]] + sub_cost[right[node]]
            sub_leaves[node] = sub_leaves[left[node]] + sub_leaves[right[node]]
            active[node] = True
    heap_key = np.empty(m)
    heap_node = np.empty(m, np.int64)
    place = np.full(m, -1, np.int64)
    size = 0
    for node in range(m):
        if active[node]:
            heap_key[size] = (costs[node] - sub_cost[node]) / (sub_leaves[node] - 1)
            heap_node[size] = node
            place[node] = size
            size += 1
    for i in range(size // 2 - 1, -1, -1):
        _sift_down(heap_key, heap_node, place, i, size)
    steps = size + 1
    penalty = np.zeros(steps)
    leaves = np.zeros(steps, np.int64)
    cost = np.zeros(steps)
    leaves[0] = sub_leaves[0]
    cost[0] = sub_cost[0]
    count = 1
    stack = np.empty(m, np.int64)
    level = 0.0
    while size > 0:
        key = heap_key[0]
        node = heap_node[0]
        # Links at the level that has just been reached (ties included) belong to the same subtree. What a link earns is
        # a difference of the node's cost, so its error is relative to that cost, not to the cost of the root.
        if key > level + _TIE * abs(costs[node]) / (sub_leaves[node] - 1):
            level = key
            penalty[count] = level
            count += 1
        # Collapse: the node becomes a leaf, all below it disappear, all above it change.
        top = 0
        stack[0] = node
        top = 1
        while top > 0:
            top -= 1
            inner = stack[top]
            if active[inner]:
                active[inner] = False
                when[inner] = count - 1
                size = _remove(heap_key, heap_node, place, place[inner], size)
                if left[inner] >= 0:
                    stack[top] = left[inner]
                    stack[top + 1] = right[inner]
                    top += 2
        d_leaves = 1 - sub_leaves[node]
        sub_cost[node] = costs[node]
        sub_leaves[node] = 1
        up = parent[node]
        while up >= 0:
            sub_cost[up] = sub_cost[left[up]] + sub_cost[right[up]]
            sub_leaves[up] += d_leaves
            at = place[up]
            heap_key[at] = (costs[up] - sub_cost[up]) / (sub_leaves[up] - 1)
            _sift_up(heap_key, heap_node, place, at)
            _sift_down(heap_key, heap_node, place, place[up], size)
            up = parent[up]
        leaves[count - 1] = sub_leaves[0]
        cost[count - 1] = sub_cost[0]
    return penalty[:count].copy(), leaves[:count].copy(), cost[:count].copy(), when


@njit(cache=True)
def _swap(key, node, place, i, j):
    key[i], key[j] = key[j], key[i]
    node[i], node[j] = node[j], node[i]
    place[node[i]] = i
    place[node[j]] = j


@njit(cache=True)
def _sift_up(key, node, place, i):
    while i > 0 and key[i] < key[(i - 1) // 2]:
        _swap(key, node, place, i, (i - 1) // 2)
        i = (i - 1) // 2


@njit(cache=True)
def _sift_down(key, node, place, i, size):
    while True:
        child = 2 * i + 1
        if child >= size:
            return
        if child + 1 < size and key[child + 1] < key[child]:
            child += 1
        if key[i] <= key[child]:
            return
        _swap(key, node, place, i, child)
        i = child


@njit(cache=True)
def _remove(key, node, place, i, size):
    last = size - 1
    gone = node[i]
    if i != last:
        _swap(key, node, place, i, last)
        _sift_up(key, node, place, i)
        _sift_down(key, node, place, i, last)
    place[gone] = -1
    return last


def best_subtree(tree, alpha, costs=None):
    """Smallest optimal subtree for one penalty by dynamic programming from the leaves: (keep, value, leaves). O(nodes).

    The reference for `weakest_links`; ties are decided for the smaller tree.
    """
    alpha = check_scalar(alpha, "alpha", low=0.0)
    costs = _node_costs(tree, costs)
    value = costs + alpha
    leaves = np.ones(tree.n_nodes, int)
    keep = np.zeros(tree.n_nodes, bool)
    for node in range(tree.n_nodes - 1, -1, -1):
        if tree.left[node] >= 0:
            split = value[tree.left[node]] + value[tree.right[node]]
            below = leaves[tree.left[node]] + leaves[tree.right[node]]
            if split < value[node] - _TIE * abs(costs[node]) - 1e-12 * alpha * below:
                value[node] = split
                leaves[node] = below
                keep[node] = True
    return keep, float(value[0]), int(leaves[0])
