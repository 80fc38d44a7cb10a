"""Compiled steps of the dynamic programme over a tree decomposition: records of a bag introduced, joined, reduced.

The paths among at most eight vertices of a bag are one word: bit 8 u + v says that a directed path leads from the
vertex in slot u to the vertex in slot v. The relation is transitive and has no loop. The parent sets of the vertices
are packed into another word, one field for each slot.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit


class Records(NamedTuple):
    """Parent sets, paths and the score paid so far; one entry for each record."""

    code: np.ndarray
    paths: np.ndarray
    score: np.ndarray


class Candidates(NamedTuple):
    """The parent sets of a vertex that is introduced, seen from its bag.

    `parents[c]` are the slots of the parents of set c; `is_parent[i, a]` says whether the vertex is a parent of the
    i-th vertex of the bag, in slot `here[i]`, if that one has its set number a.
    """

    slot: int
    shift: int
    parents: np.ndarray
    here: np.ndarray
    is_parent: np.ndarray


@njit(cache=True)
def _reached(code, paths, sets):
    """The slots that the new vertex reaches through its children in the bag."""
    field = (np.int64(1) << sets.shift) - 1
    out = np.uint64(0)
    for i in range(len(sets.here)):
        slot = sets.here[i]
        choice = (code >> (sets.shift * slot)) & field
        if sets.is_parent[i, choice]:
            out |= np.uint64(1) << np.uint64(slot)
            out |= (paths >> np.uint64(8 * slot)) & np.uint64(0xFF)
    return out


@njit(cache=True)
def count_introductions(records, sets):
    """How many pairs of a record and a parent set of the new vertex have no cycle."""
    count = 0
    for r in range(len(records.code)):
        out = _reached(records.code[r], records.paths[r], sets)
        for c in range(len(sets.parents)):
            count += (out & np.uint64(sets.parents[c])) == 0
    return count


@njit(cache=True)
def introduce(records, sets, count):
    """Those pairs as new records, with the record and the set that each came from; the score is unchanged."""
    code, paths, score = np.empty(count, np.int64), np.empty(count, np.uint64), np.empty(count)
    source, choice = np.empty(count, np.int64), np.empty(count, np.int64)
    made = 0
    own = np.uint64(1) << np.uint64(sets.slot)
    for r in range(len(records.code)):
        out = _reached(records.code[r], records.paths[r], sets)
        for c in range(len(sets.parents)):
            into = np.uint64(sets.parents[c])
            if out & into:
                continue
            relation = records.paths[r] | (out << np.uint64(8 * sets.slot))
            for i in range(len(sets.here)):
                slot = np.uint64(sets.here[i])
                row = (records.paths[r] >> (np.uint64(8) * slot)) & np.uint64(0xFF)
                # Whatever leads to a parent of the new vertex leads to it, and on to what it reaches.
                if (row | (np.uint64(1) << slot)) & into:
                    relation |= (own | out) << (np.uint64(8) * slot)
            code[made] = records.code[r] | (np.int64(c) << (sets.shift * sets.slot))
            paths[made], score[made] = relation, records.score[r]
            source[made], choice[made] = r, c
            made += 1
    return Records(code, paths, score), source, choice


@njit(cache=True)
def count_pairs(left, right):
    """How many pairs of records have equal parent sets; both lists are sorted."""
    count, i, k = 0, 0, 0
    while i < len(left) and k < len(right):
        if left[i] < right[k]:
            i += 1
        elif left[i] > right[k]:
            k += 1
        else:
            code, start, other = left[i], i, k
            while i < len(left) and left[i] == code:
                i += 1
            while k < len(right) and right[k] == code:
                k += 1
            count += (i - start) * (k - other)
    return count


@njit(cache=True)
def closure(paths):
    """Transitive closure of a relation on eight slots, by Warshall's rule."""
    for middle in range(8):
        row = (paths >> np.uint64(8 * middle)) & np.uint64(0xFF)
        for start in range(8):
            if (paths >> np.uint64(8 * start + middle)) & np.uint64(1):
                paths |= row << np.uint64(8 * start)
    return paths


@njit(cache=True)
def join(left, key, right, count):
    """Pairs with equal parent sets, sorted by `key`, whose paths together have no cycle; scores add up."""
    loops = np.uint64(0x8040201008040201)
    code, paths, score = np.empty(count, np.int64), np.empty(count, np.uint64), np.empty(count)
    first, second = np.empty(count, np.int64), np.empty(count, np.int64)
    made, i, k = 0, 0, 0
    while i < len(left.code) and k < len(right.code):
        if key[i] < right.code[k]:
            i += 1
        elif key[i] > right.code[k]:
            k += 1
        else:
            same, stop_i, stop_k = key[i], i, k
            while stop_i < len(key) and key[stop_i] == same:
                stop_i += 1
            while stop_k < len(right.code) and right.code[stop_k] == same:
                stop_k += 1
            for a in range(i, stop_i):
                for b in range(k, stop_k):
                    relation = closure(left.paths[a] | right.paths[b])
                    if relation & loops:
                        continue
                    code[made], paths[made], score[made] = left.code[a], relation, left.score[a] + right.score[b]
                    first[made], second[made] = a, b
                    made += 1
            i, k = stop_i, stop_k
    return Records(code[:made], paths[:made], score[:made]), first[:made], second[:made]


@njit(cache=True)
def first_of_each(code, paths):
    """Which entries differ from the one before."""
    keep = np.ones(len(code), dtype=np.bool_)
    for r in range(1, len(code)):
        keep[r] = code[r] != code[r - 1] or paths[r] != paths[r - 1]
    return keep


@njit(cache=True)
def keep_undominated(code, paths):
    """Which records to keep, sorted by parents and score: none with the same parents, fewer paths, no larger score.

    Each is compared with the best 64 of its group, so that the cost stays linear; keeping one too many does no harm.
    """
    n = len(code)
    keep = np.zeros(n, dtype=np.bool_)
    kept = np.empty(n, dtype=np.int64)
    start, size = 0, 0
    for r in range(n):
        if r and code[r] != code[r - 1]:
            start = size
        new = True
        for m in range(start, min(size, start + 64)):
            if paths[kept[m]] & ~paths[r] == 0:
                new = False
                break
        if new:
            keep[r] = True
            kept[size] = r
            size += 1
    return keep
