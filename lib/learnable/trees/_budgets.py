"""Dynamic programmes over a budget on a tree: the kernels of `learnable.trees.reduced_error`.

A node with more than two children becomes a chain of joints with two branches each: a joint counts no node and cannot
be cut. So one kernel that joins two tables serves splits of any width, at a cost that is linear in the width.

The tables of all nodes lie one behind the other in one array. The table of a node has entries 0, ..., min(K, e), where
e is the excess of cutting at the node itself, the largest that any pruning below it can have.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from learnable._inner import assign

__all__ = ["join", "log_counts", "smallest_costs", "trace"]


class _JoinedTree(NamedTuple):
    """Two branches at each inner node, joints at the end: what the kernels walk over."""

    first: np.ndarray  # left branch, -1 at leaves
    second: np.ndarray  # right branch
    order: np.ndarray  # branches before what they hang on
    excess: np.ndarray  # of a cut at the node; of a joint, the sum over its branches
    start: np.ndarray  # where the table of a node begins; the last entry is the length of all tables


def join(parent, excess, budget):
    """The tree with two branches at each inner node, and room for tables up to a budget."""
    return _JoinedTree(*_join(parent, excess, budget))


@njit(cache=True)
def _join(parent, excess, budget):
    """Chain the children of each wide node by joints; lay out the tables one behind the other."""
    m = len(parent)
    n_children = np.zeros(m, np.int64)
    for node in range(1, m):
        n_children[parent[node]] += 1
    total = m
    for node in range(m):
        total += max(n_children[node] - 2, 0)
    first, second = np.full(total, -1), np.full(total, -1)
    order, wide = np.empty(total, np.int64), np.zeros(total, np.int64)
    assign(wide[:m], excess)
    hanging = np.full(m, -1)  # the children that were met so far, joined to one branch
    missing = n_children.copy()
    joints, at = m, 0
    for node in range(m - 1, -1, -1):
        order[at] = node
        at += 1
        if node == 0:
            break
        up = parent[node]
        missing[up] -= 1
        # The first child waits, the last one closes the node, and each between them makes a joint with what waits.
        if hanging[up] < 0:
            hanging[up] = node
        elif missing[up] == 0:
            first[up], second[up] = node, hanging[up]
        else:
            first[joints], second[joints] = node, hanging[up]
            wide[joints] = wide[node] + wide[hanging[up]]
            hanging[up] = joints
            order[at] = joints
            at += 1
            joints += 1
    start = np.zeros(total + 1, np.int64)
    for node in range(total):
        start[node + 1] = start[node] + min(budget, wide[node]) + 1
    return first, second, order, wide, start


@njit(cache=True)
def smallest_costs(tree, leaf_cost, inner_cost, budget):
    """Tables of the smallest cost with at most 0, 1, ... excess: min over splits of the budget, or the leaf."""
    m = len(leaf_cost)
    table = np.empty(tree.start[-1])
    for node in tree.order:
        low, high = tree.start[node], tree.start[node + 1]
        one, two = tree.first[node], tree.second[node]
        if one < 0:
            table[low:high] = leaf_cost[node]
            continue
        a = table[tree.start[one] : tree.start[one + 1]]
        b = table[tree.start[two] : tree.start[two + 1]]
        if _n_drops(a) * len(b) > _n_drops(b) * len(a):
            a, b = b, a
        out = table[low:high]
        _join_smallest(a, b, out, inner_cost if node < m else 0.0)
        if node < m and tree.excess[node] <= budget:
            out[-1] = min(out[-1], leaf_cost[node])
    return table


@njit(cache=True)
def _n_drops(a):
    """Number of entries of a falling table that differ from the one before: the steps of `_join_smallest`."""
    count = 1
    for i in range(1, len(a)):
        count += a[i] < a[i - 1]
    return count


@njit(cache=True)
def _join_smallest(a, b, out, inner_cost):
    """out[i] = inner_cost + min over u + v <= i of a[u] + b[v]; only drops of a can be worth their budget."""
    out[:] = np.inf
    for u in range(min(len(a), len(out))):
        if u > 0 and a[u] == a[u - 1]:
            continue
        head = a[u] + inner_cost
        row = out[u:]
        for v in range(min(len(b), len(row))):
            cost = head + b[v]
            row[v] = cost if cost < row[v] else row[v]
    for i in range(1, len(out)):
        out[i] = min(out[i], out[i - 1])


@njit(cache=True)
def trace(tree, table, leaf_cost, inner_cost, budget):
    """The inner nodes that stay in the pruning whose cost is the last entry of the table of the root."""
    m = len(leaf_cost)
    inner = np.zeros(m, np.bool_)
    room = np.full(len(tree.first), -1)
    room[0] = budget
    for at in range(len(tree.order) - 1, -1, -1):
        node = tree.order[at]
        if room[node] < 0 or tree.first[node] < 0:
            continue
        low = tree.start[node]
        width = tree.start[node + 1] - low
        i = min(room[node], width - 1)
        cost = table[low + i]
        if node < m:
            # Equal means equal: the table holds this very number, so that nothing has been rounded since.
            if tree.excess[node] <= i and leaf_cost[node] == cost:
                continue
            inner[node] = True
        one, two = tree.first[node], tree.second[node]
        n_one, n_two = tree.start[one + 1] - tree.start[one], tree.start[two + 1] - tree.start[two]
        goal = cost - (inner_cost if node < m else 0.0)
        for u in range(min(n_one, i + 1)):
            v = min(i - u, n_two - 1)
            if table[tree.start[one] + u] + table[tree.start[two] + v] == goal:
                room[one], room[two] = u, i - u
                break
    return inner


@njit(cache=True)
def log_counts(tree, n_real, budget):
    """Logarithm of the number of prunings with at most `budget` excess."""
    table = np.full(tree.start[-1], -np.inf)
    for node in tree.order:
        out = table[tree.start[node] : tree.start[node + 1]]
        one, two = tree.first[node], tree.second[node]
        if one < 0:
            out[0] = 0.0
            continue
        a = table[tree.start[one] : tree.start[one + 1]]
        b = table[tree.start[two] : tree.start[two + 1]]
        _join_counts(a, b, out)
        if node < n_real and tree.excess[node] <= budget:
            out[-1] = np.logaddexp(out[-1], 0.0)
    root = table[tree.start[0] : tree.start[1]]
    return root.max() + np.log(np.exp(root - root.max()).sum())


@njit(cache=True)
def _join_counts(a, b, out):
    """out[i] = log Σ over u + v = i of exp(a[u] + b[v]), each sum relative to its largest term."""
    for i in range(len(out)):
        low, high = max(0, i - len(b) + 1), min(i, len(a) - 1)
        top = -np.inf
        for u in range(low, high + 1):
            top = max(top, a[u] + b[i - u])
        if top == -np.inf:
            continue
        total = 0.0
        for u in range(low, high + 1):
            term = a[u] + b[i - u] - top
            if term > -45.0:  # below that it does not change a double
                total += np.exp(term)
        out[i] = top + np.log(total)
