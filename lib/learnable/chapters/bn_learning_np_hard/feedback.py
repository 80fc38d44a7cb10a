"""Feedback arc sets: the fewest arcs whose removal leaves a digraph without cycles (Chickering et al. 2004, Sec. 3).

A graph is a list of arcs ``(i, j)`` between vertices 0, 1, ...; a loop ``(i, i)`` is a cycle of length one. The problem
stays NP-complete when every vertex has at most three arcs, in and out together (Gavril 1977): this is what the
reduction of the chapter starts from.
"""

from __future__ import annotations

import itertools

import numpy as np
from numba import njit
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from learnable.validation import check_rng


def check_arcs(arcs, name="arcs"):
    """Return arcs as a list of pairs of ints, after checking that they are distinct pairs of vertices."""
    try:
        found = np.array([tuple(arc) for arc in arcs])
    except TypeError:
        found = np.array(None)
    if found.size == 0 and found.ndim == 1:
        return []
    if found.ndim != 2 or found.shape[1] != 2 or found.dtype.kind not in "iu" or found.min() < 0:
        raise ValueError(f"{name} must be pairs (i, j) of vertices 0, 1, ..., got {str(arcs)[:80]}")
    pairs = [(int(i), int(j)) for i, j in found]
    if len(set(pairs)) < len(pairs):
        raise ValueError(f"{name} must be distinct, got {next(arc for arc in pairs if pairs.count(arc) > 1)} twice")
    return pairs


def is_feedback_arc_set(arcs, chosen):
    """Whether every directed cycle of a graph contains one of the chosen arcs. Cost O(vertices + arcs)."""
    arcs, chosen = check_arcs(arcs), check_arcs(chosen, "chosen")
    return find_cycle([arc for arc in arcs if arc not in set(chosen)]) is None


def prune_digraph(arcs):
    """Remove vertices without incoming or without outgoing arcs until none is left, and number the rest anew."""
    left = check_arcs(arcs)
    while True:
        heads, tails = {j for _, j in left}, {i for i, _ in left}
        kept = [(i, j) for i, j in left if i in heads and j in tails]
        if len(kept) == len(left):
            break
        left = kept
    vertices = sorted({i for i, _ in left})
    number = {v: n for n, v in enumerate(vertices)}
    return [(number[i], number[j]) for i, j in left], vertices


def minimum_feedback_arcs(arcs, *, method="auto"):
    """Find a smallest feedback arc set."""
    arcs = check_arcs(arcs)
    chosen = {arc for arc in arcs if arc[0] == arc[1]}
    for part in _cyclic_parts([arc for arc in arcs if arc not in chosen]):
        vertices = sorted({v for arc in part for v in arc})
        if method == "subsets" or (method == "auto" and len(vertices) <= 16):
            chosen |= _by_subsets(part, vertices)
        else:
            chosen |= _by_cycles(part)
    return [arc for arc in arcs if arc in chosen]


def greedy_feedback_arcs(arcs):
    """Feedback arc set of the greedy order of Eades, Lin and Smyth (1993). Cost O(vertices * arcs)."""
    arcs = check_arcs(arcs)
    left = [arc for arc in arcs if arc[0] != arc[1]]
    vertices = {v for arc in arcs for v in arc}
    first, last = [], []
    while vertices:
        balance = dict.fromkeys(sorted(vertices), 0)
        heads, tails = {j for _, j in left}, {i for i, _ in left}
        for i, j in left:
            balance[i] += 1
            balance[j] -= 1
        sinks = [v for v in balance if v not in tails]
        sources = [v for v in balance if v not in heads]
        gone = sinks[0] if sinks else sources[0] if sources else max(balance, key=balance.get)
        (last if sinks else first).append(gone)
        vertices.remove(gone)
        left = [arc for arc in left if gone not in arc]
    place = {v: n for n, v in enumerate([*first, *reversed(last)])}
    return [(i, j) for i, j in arcs if place[i] >= place[j]]


def random_bounded_digraph(n_vertices, *, n_chords=None, random_state=None):
    """Draw a directed graph in which every vertex has at most three arcs, at least one in and at least one out."""
    n = n_vertices
    chords = n // 2 if n_chords is None else n_chords
    rng = check_rng(random_state)
    while True:
        images = rng.permutation(n)
        if (images != np.arange(n)).all():
            break
    arcs = {(v, int(images[v])) for v in range(n)}
    ends = rng.permutation(n)
    for i, j in zip(ends[0::2][:chords].tolist(), ends[1::2][:chords].tolist(), strict=False):
        if (i, j) not in arcs:
            arcs.add((i, j))
    return sorted(arcs)


def find_cycle(arcs):
    """A directed cycle as a list of arcs, or None. Depth-first search, O(vertices + arcs)."""
    following = {}
    for i, j in arcs:
        following.setdefault(i, []).append(j)
    done, place = set(), {}
    for start in following:
        path, open_ = [], [(start, None)]
        while open_:
            v, after = open_[-1]
            if after is None:
                if v in done:
                    open_.pop()
                    continue
                place[v] = len(path)
                path.append(v)
                after = iter(following.get(v, ()))
                open_[-1] = (v, after)
            w = next(after, None)
            if w is None:
                done.add(v)
                place.pop(v)
                path.pop()
                open_.pop()
            elif w in place:
                around = [*path[place[w] :], w]
                return list(itertools.pairwise(around))
            elif w not in done:
                open_.append((w, None))
    return None


def _cyclic_parts(arcs):
    """Arcs of each strongly connected part that has any."""
    if not arcs:
        return []
    vertices, ends = np.unique(np.array(arcs), return_inverse=True)
    tails, heads = ends.reshape(len(arcs), 2).T
    shape = (len(vertices), len(vertices))
    _, part = connected_components(csr_array((np.ones(len(arcs)), (tails, heads)), shape), connection="strong")
    found = {}
    for arc, i, j in zip(arcs, tails, heads, strict=True):
        if part[i] == part[j]:
            found.setdefault(int(part[i]), []).append(arc)
    return list(found.values())


def _by_subsets(arcs, vertices):
    number = {v: n for n, v in enumerate(vertices)}
    successors = np.zeros(len(vertices), dtype=np.int64)
    for i, j in arcs:
        successors[number[i]] |= 1 << number[j]
    order = _best_order(successors)
    place = {vertices[v]: n for n, v in enumerate(order)}
    return {(i, j) for i, j in arcs if place[i] > place[j]}


@njit(cache=True)
def _best_order(successors):
    """Order with fewest arcs that point backwards: f(S) = min_v f(S - v) + |successors of v in S - v|."""
    n = len(successors)
    cost = np.zeros(1 << n, dtype=np.int16)
    last = np.zeros(1 << n, dtype=np.int8)
    for S in range(1, 1 << n):
        best = np.int16(32767)
        for v in range(n):
            if S >> v & 1:
                backwards, inside = 0, successors[v] & S
                while inside:
                    inside &= inside - 1
                    backwards += 1
                value = cost[S ^ (1 << v)] + backwards
                if value < best:
                    best, last[S] = value, v
        cost[S] = best
    order = np.empty(n, dtype=np.int64)
    S = (1 << n) - 1
    for place in range(n - 1, -1, -1):
        order[place] = last[S]
        S ^= 1 << last[S]
    return order


def _by_cycles(arcs):
    """Cover all cycles with fewest arcs: cycles that a solution leaves over become new constraints."""
    column = {arc: n for n, arc in enumerate(arcs)}
    rows = []
    chosen = set()
    while True:
        left = [arc for arc in arcs if arc not in chosen]
        found = False
        while (cycle := find_cycle(left)) is not None:  # disjoint cycles, all of them violated
            row = np.zeros(len(arcs))
            row[[column[arc] for arc in cycle]] = 1
            rows.append(row)
            left = [arc for arc in left if arc not in set(cycle)]
            found = True
        if not found:
            return chosen
        solved = milp(
            np.ones(len(arcs)),
            integrality=np.ones(len(arcs)),
            bounds=Bounds(0, 1),
            constraints=LinearConstraint(csr_array(np.array(rows)), lb=1),
        )
        chosen = {arc for arc, value in zip(arcs, solved.x, strict=True) if value > 0.5}
