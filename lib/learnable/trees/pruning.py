"""Cost-complexity pruning: the nested sequence of optimal subtrees by weakest links, with an independent check.

For a penalty λ a leaf an optimal subtree minimises Σ_leaves cost + λ · leaves. Collapsing, again and again, the
internal nodes whose subtrees earn the least per leaf gives the smallest optimal subtree for every λ (Breiman et al.
1984; Lember 2012, Theorem 6.3.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit

from learnable._inner import inner
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
    m = tree.n_nodes
    links = _Links(*np.zeros((2, m), np.int64), costs.copy(), np.ones(m, np.int64), np.zeros(m, bool))
    heap = _Heap(np.empty(m), *np.full((2, m), -1))
    path = PruningPath(np.zeros(m + 1), np.zeros(m + 1, np.int64), np.zeros(m + 1), np.full(m, 2**62))
    count = _weakest_links(tree.left, tree.right, costs, links, heap, tuple(vars(path).values()))
    return PruningPath(
        path.penalty[:count].copy(), path.leaves[:count].copy(), path.cost[:count].copy(), path.collapsed_at
    )


class _Links(NamedTuple):
    """Of each node: its parent, room for a list, cost and leaves of its subtree, whether it is still inside."""

    parent: np.ndarray
    stack: np.ndarray
    cost: np.ndarray
    leaves: np.ndarray
    active: np.ndarray


class _Heap(NamedTuple):
    """What each link earns a leaf, which node it is, and where a node stands."""

    key: np.ndarray
    node: np.ndarray
    place: np.ndarray


def _node_costs(tree, costs):
    check_has(tree, "tree", "n_nodes left right cost", "a Tree")
    costs = np.ascontiguousarray(check_finite_array(tree.cost if costs is None else costs, "costs", ndim=1))
    if costs.shape != (tree.n_nodes,):
        raise ValueError(f"costs must hold {tree.n_nodes} finite numbers, one for each node")
    return costs


@njit(cache=True)
def _weakest_links(left, right, costs, links, heap, path):
    """Collapse the weakest link again and again; fill in the path, and return how many subtrees it has."""
    penalty, leaves, cost, when = path
    parent, stack, sub_cost, sub_leaves, active = links
    size = _all_links(left, right, costs, links, heap)
    leaves[0], cost[0] = sub_leaves[0], sub_cost[0]
    count, level = 1, 0.0
    while size > 0:
        key, node = heap.key[0], heap.node[0]
        # Links at the level that has just been reached (ties included) belong to the same subtree. What a link earns is
        # a difference of the node's cost, so its error is relative to that cost, not to the cost of the root.
        if key > level + _TIE * abs(costs[node]) / (sub_leaves[node] - 1):
            level = key
            penalty[count] = level
            count += 1
        # Collapse: the node becomes a leaf, all below it disappear, all above it change.
        stack[0] = node
        top = 1
        while top > 0:
            top -= 1
            inside = stack[top]
            if active[inside]:
                active[inside] = False
                when[inside] = count - 1
                size = _remove(heap, heap.place[inside], size)
                if left[inside] >= 0:
                    stack[top] = left[inside]
                    stack[top + 1] = right[inside]
                    top += 2
        d_leaves = 1 - sub_leaves[node]
        sub_cost[node] = costs[node]
        sub_leaves[node] = 1
        up = parent[node]
        while up >= 0:
            sub_cost[up] = sub_cost[left[up]] + sub_cost[right[up]]
            sub_leaves[up] += d_leaves
            at = heap.place[up]
            heap.key[at] = (costs[up] - sub_cost[up]) / (sub_leaves[up] - 1)
            _settle(heap, at, size)
            up = parent[up]
        leaves[count - 1] = sub_leaves[0]
        cost[count - 1] = sub_cost[0]
    return count


@inner
def _all_links(left, right, costs, links, heap):
    """Fill in what the subtree of every node costs, and make a heap of the links; return its size."""
    parent, _, sub_cost, sub_leaves, active = links
    m = len(left)
    parent[0] = -1
    for node in range(m - 1, -1, -1):
        if left[node] >= 0:
            parent[left[node]] = parent[right[node]] = node
            sub_cost[node] = sub_cost[left[node]] + sub_cost[right[node]]
            sub_leaves[node] = sub_leaves[left[node]] + sub_leaves[right[node]]
            active[node] = True
    size = 0
    for node in range(m):
        if active[node]:
            heap.key[size] = (costs[node] - sub_cost[node]) / (sub_leaves[node] - 1)
            heap.node[size] = node
            heap.place[node] = size
            size += 1
    for i in range(size // 2 - 1, -1, -1):
        _sift_down(heap, i, size)
    return size


@inner
def _swap(heap, i, j):
    """Exchange two entries; `place` follows."""
    key, node, place = heap
    key[i], key[j] = key[j], key[i]
    node[i], node[j] = node[j], node[i]
    place[node[i]] = i
    place[node[j]] = j


@inner
def _settle(heap, i, size):
    """Move entry i up or down to where it belongs."""
    key = heap.key
    while i > 0 and key[i] < key[(i - 1) // 2]:
        _swap(heap, i, (i - 1) // 2)
        i = (i - 1) // 2
    _sift_down(heap, i, size)


@inner
def _sift_down(heap, i, size):
    """Move entry i down until no child is smaller."""
    key = heap.key
    while 2 * i + 1 < size:
        child = 2 * i + 1
        if child + 1 < size and key[child + 1] < key[child]:
            child += 1
        if key[i] <= key[child]:
            return
        _swap(heap, i, child)
        i = child


@inner
def _remove(heap, i, size):
    """Take entry i out; return the new size."""
    last = size - 1
    gone = heap.node[i]
    if i != last:
        _swap(heap, i, last)
        _settle(heap, i, last)
    heap.place[gone] = -1
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
