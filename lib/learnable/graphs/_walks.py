"""Walks over directed graphs, compiled: orders, what can be reached, colliders, and the Bayes ball."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from learnable._inner import assign

__all__ = ["Lists", "colliders", "reachable", "separated", "topological_order"]


class Lists(NamedTuple):
    """Parents and children in compressed rows."""

    parent_starts: np.ndarray
    parents: np.ndarray
    child_starts: np.ndarray
    children: np.ndarray


@njit(cache=True)
def topological_order(lists):
    """Kahn's order; it is shorter than p if there is a cycle."""
    p = len(lists.parent_starts) - 1
    waiting = np.empty(p, dtype=np.int64)
    order = np.empty(p, dtype=np.int64)
    found = 0
    for i in range(p):
        waiting[i] = lists.parent_starts[i + 1] - lists.parent_starts[i]
        if waiting[i] == 0:
            order[found] = i
            found += 1
    done = 0
    while done < found:
        i = order[done]
        done += 1
        for place in range(lists.child_starts[i], lists.child_starts[i + 1]):
            j = lists.children[place]
            waiting[j] -= 1
            if waiting[j] == 0:
                order[found] = j
                found += 1
    return order[:found].copy()


@njit(cache=True)
def reachable(nodes, starts, neighbours):
    seen = np.zeros(len(starts) - 1, dtype=np.bool_)
    stack = np.empty(len(starts) + len(nodes), dtype=np.int64)
    top = len(nodes)
    assign(stack[:top], nodes)
    while top:
        top -= 1
        i = stack[top]
        for place in range(starts[i], starts[i + 1]):
            j = neighbours[place]
            if not seen[j]:
                seen[j] = True
                stack[top] = j
                top += 1
    return np.flatnonzero(seen)


@njit(cache=True)
def colliders(lists, adjacent):
    """Triples (i, j, k), i < k, of parents i, k of j that are not adjacent, sorted by i, j, k."""
    p = len(adjacent)
    count = 0
    for i in range(p):
        for place in range(lists.child_starts[i], lists.child_starts[i + 1]):
            j = lists.children[place]
            for other in range(lists.parent_starts[j], lists.parent_starts[j + 1]):
                k = lists.parents[other]
                count += k > i and not adjacent[i, k]
    found = np.empty((count, 3), dtype=np.int64)
    count = 0
    for i in range(p):
        for place in range(lists.child_starts[i], lists.child_starts[i + 1]):
            j = lists.children[place]
            for other in range(lists.parent_starts[j], lists.parent_starts[j + 1]):
                k = lists.parents[other]
                if k > i and not adjacent[i, k]:
                    found[count, 0], found[count, 1], found[count, 2] = i, j, k
                    count += 1
    return found


@njit(cache=True)
def separated(lists, starts, flat):
    """The Bayes ball for each query; query q has x, y and given in flat[starts[3q]:starts[3q + 1]] and so on.

    A state is 2 node + direction: 0 for a ball that comes from a child (moves up), 1 from a parent (moves down). What
    was seen carries the number of the query, so that nothing has to be cleared between queries.
    """
    p, m = len(lists.parent_starts) - 1, len(starts) // 3
    answers = np.ones(m, dtype=np.bool_)
    seen, target = np.zeros(2 * p, dtype=np.int64), np.zeros(p, dtype=np.int64)
    given, above = np.zeros(p, dtype=np.int64), np.zeros(p, dtype=np.int64)
    stack = np.empty(2 * p, dtype=np.int64)
    for q in range(m):
        mark, top = q + 1, 0
        for place in range(starts[3 * q + 1], starts[3 * q + 2]):
            target[flat[place]] = mark
        for place in range(starts[3 * q + 2], starts[3 * q + 3]):
            i = flat[place]
            if i >= 0:
                given[i] = mark
                if above[i] != mark:
                    above[i] = mark
                    stack[top] = i
                    top += 1
        while top:  # `above`: the given nodes and their ancestors, where colliders are open
            top -= 1
            i = stack[top]
            for place in range(lists.parent_starts[i], lists.parent_starts[i + 1]):
                j = lists.parents[place]
                if above[j] != mark:
                    above[j] = mark
                    stack[top] = j
                    top += 1
        for place in range(starts[3 * q], starts[3 * q + 1]):
            state = 2 * flat[place]
            if seen[state] != mark:
                seen[state] = mark
                stack[top] = state
                top += 1
        while top and answers[q]:
            top -= 1
            i, down = stack[top] // 2, stack[top] % 2
            free = given[i] != mark
            if free and target[i] == mark:
                answers[q] = False
            if free:
                top = _push(lists.child_starts, lists.children, i, 1, mark, seen, stack, top)
            if (down and above[i] == mark) or (free and not down):
                top = _push(lists.parent_starts, lists.parents, i, 0, mark, seen, stack, top)
    return answers


@njit(cache=True, inline="always")
def _push(starts, neighbours, i, direction, mark, seen, stack, top):
    for place in range(starts[i], starts[i + 1]):
        state = 2 * neighbours[place] + direction
        if seen[state] != mark:
            seen[state] = mark
            stack[top] = state
            top += 1
    return top
