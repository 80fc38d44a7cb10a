"""A wide k-d tree: leaves of 32 points, groups of 32 leaves, groups of 32 groups, each with its bounding box.

Cutting at the median along the widest coordinate gives the order of the points; the boxes are then those of
consecutive leaves. A query compares itself with 32 boxes at once, visits them from the nearest on, and leaves out
those that are farther than the k-th neighbour so far. All in float64 and without any tolerance, since the distance of
a box, rounded, is at most that of its points.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from learnable.neighbors._nearest import empty, offer, settle
from learnable.neighbors._vectors import LEAF, box_distances, leaf_distances, place_of, smallest

__all__ = ["Tree", "aligned", "plant", "search_tree"]

_SAMPLE = 64  # points of which the widest coordinate is judged


class Tree(NamedTuple):
    """Points of each leaf (leaf, coordinate, place), their indices, and the boxes of each level, the lowest first."""

    points: np.ndarray
    indices: np.ndarray
    boxes: np.ndarray
    offsets: np.ndarray


class _Room(NamedTuple):
    """Where the order is worked out: the keys of the rows, a copy of a part of keys and order, a few keys."""

    keys: np.ndarray
    spare_keys: np.ndarray
    spare_order: np.ndarray
    sample: np.ndarray


def aligned(shape, dtype):
    """An uninitialised array that begins at a multiple of 64 bytes, as loads of whole registers like it."""
    dtype = np.dtype(dtype)
    size = int(np.prod(shape)) * dtype.itemsize
    store = np.empty(size + 64, np.uint8)
    start = -store.ctypes.data % 64
    return store[start : start + size].view(dtype).reshape(shape)


def plant(X):
    """The tree over the rows of X. O(n d + n log n)."""
    n, d = X.shape
    leaves = -(-n // LEAF)
    order = np.arange(n)
    _arrange(X, order, _Room(np.empty(n), np.empty(n), np.empty(n, np.int64), np.empty(9)))
    points, indices = aligned((leaves, d, LEAF), np.float64), np.empty((leaves, LEAF), np.int64)
    sizes = [-(-leaves // LEAF)]
    while sizes[-1] > 1:
        sizes.append(-(-sizes[-1] // LEAF))
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    boxes = aligned((offsets[-1], 2 * d, LEAF), np.float64)
    tree = Tree(points, indices, boxes, offsets)
    _fill(X, order, tree)
    return tree


@njit(cache=True)
def _arrange(X, order, room):
    """Order the rows so that every LEAF, LEAF², … consecutive ones, counted from the first, are close together."""
    n, d = X.shape
    stack = np.empty((128, 2), np.int64)
    stack[0, 0], stack[0, 1] = 0, n
    size = 1
    while size > 0:
        size -= 1
        start, stop = stack[size]
        if stop - start <= LEAF:
            continue
        # Cut at a multiple of the largest LEAF^p below the size, not at the median itself: then consecutive leaves fill
        # groups, and groups of groups, without a remainder, and a child is found by arithmetic.
        unit = LEAF
        while unit * LEAF < stop - start:
            unit *= LEAF
        middle = start + max(1, -(-(stop - start) // unit) // 2) * unit
        # A sample decides on the axis: a bad cut makes boxes wider and the search slower, but never wrong.
        axis, widest = 0, -1.0
        step = max(1, (stop - start) // _SAMPLE)
        for j in range(d):
            low, high = np.inf, -np.inf
            for i in range(start, stop, step):
                value = X[order[i], j]
                low, high = min(low, value), max(high, value)
            if high - low > widest:
                axis, widest = j, high - low
        for i in range(start, stop):
            room.keys[i] = X[order[i], axis]
        _select(room, order, start, stop, middle)
        stack[size, 0], stack[size, 1] = start, middle
        stack[size + 1, 0], stack[size + 1, 1] = middle, stop
        size += 2


@njit(cache=True)
def _select(room, order, start, stop, middle):
    """Move the smaller keys of a range before `middle` and the larger ones behind it, with their order."""
    low, high = start, stop
    while low < middle < high:
        sample = room.sample
        for t in range(len(sample)):
            key, at = room.keys[low + (high - 1 - low) * t // (len(sample) - 1)], t
            while at > 0 and sample[at - 1] > key:
                sample[at] = sample[at - 1]
                at -= 1
            sample[at] = key
        # The element of the sample at the rank that is sought, so that the smaller part is left.
        pivot = sample[len(sample) * (middle - low) // (high - low)]
        border = _part(room, order, low, high, pivot, False)
        if border == low:  # the pivot is the smallest key; without a second pass equal keys would never end
            border = _part(room, order, low, high, pivot, True)
            if middle <= border:
                return
            low = border
        elif middle < border:
            high = border
        else:
            low = border


@njit(cache=True)
def _part(room, order, low, high, pivot, with_equal):
    """Smaller keys first; no branch depends on the data: each key goes to both sides, and one counter moves."""
    keys, spare_keys, spare_order, _ = room
    left, right = low, 0
    for i in range(low, high):
        key, who = keys[i], order[i]
        goes = (key < pivot) | (with_equal & (key == pivot))
        keys[left], order[left] = key, who
        spare_keys[right], spare_order[right] = key, who
        left += goes
        right += 1 - goes
    for i in range(right):
        keys[left + i], order[left + i] = spare_keys[i], spare_order[i]
    return left


@njit(cache=True)
def _fill(X, order, tree):
    """Copy the points into their leaves, and compute the boxes from the leaves upwards."""
    points, indices, boxes, offsets = tree
    n, d = X.shape
    # A box that is nowhere: infinitely far from every query, so that it is never entered.
    boxes[:] = np.inf
    for leaf in range(len(points)):
        inside = min(LEAF, n - leaf * LEAF)
        box, child = boxes[leaf // LEAF], leaf % LEAF
        for place in range(inside):
            indices[leaf, place] = order[leaf * LEAF + place]
        indices[leaf, inside:] = -1
        for j in range(d):
            low, high = np.inf, -np.inf
            for place in range(inside):
                value = X[indices[leaf, place], j]
                points[leaf, j, place] = value
                low, high = min(low, value), max(high, value)
            points[leaf, j, inside:] = np.inf
            box[2 * j, child], box[2 * j + 1, child] = low, high
    for level in range(1, len(offsets) - 1):
        for group in range(offsets[level] - offsets[level - 1]):
            box, child = boxes[offsets[level] + group // LEAF], group % LEAF
            below = boxes[offsets[level - 1] + group]
            for j in range(d):
                low, high = np.inf, -np.inf
                for place in range(LEAF):
                    if below[2 * j, place] < np.inf:  # not a place without a leaf
                        low, high = min(low, below[2 * j, place]), max(high, below[2 * j + 1, place])
                box[2 * j, child], box[2 * j + 1, child] = low, high


@njit(cache=True)
def search_tree(tree, Q, rows, hidden, distances, neighbours):
    """Neighbours of the given rows of Q, nearest first; returns how many leaves were visited."""
    points, indices, boxes, offsets = tree
    top = len(offsets) - 2
    found, bounds = np.empty(LEAF), np.empty((top + 1, LEAF))
    node = np.zeros(top + 1, np.int64)
    visits = 0
    for i in rows:
        query, best, who = Q[i], distances[i], neighbours[i]
        empty(best, who)
        worst, level = best[0], top
        low = box_distances(boxes, offsets[top], query, bounds[top])
        while True:
            # Strictly: at equal distance the smaller index wins, and it may be in this box.
            if low > worst:
                level += 1
                if level > top:
                    break
                low = smallest(bounds[level])
                continue
            place = place_of(bounds[level], low)
            bounds[level, place] = np.inf  # visited
            child = node[level] * LEAF + place
            if level > 0:
                level -= 1
                node[level] = child
                low = box_distances(boxes, offsets[level] + child, query, bounds[level])
                continue
            visits += 1
            # Smallest first, again and again, instead of a sort: mostly none or one of a leaf is near enough.
            low = leaf_distances(points, child, query, found)
            while low <= worst:
                place = place_of(found, low)
                found[place] = np.inf
                if indices[child, place] != hidden[i]:
                    worst = offer(best, who, low, indices[child, place])
                low = smallest(found)
            low = smallest(bounds[0])
        settle(best, who)
    return visits
