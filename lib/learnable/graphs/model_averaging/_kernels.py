"""Compiled loops: scores of all parent sets along an order, mixtures of their tables, greedy search.

Columns are stored node by node in *positions*: the nodes sorted so that every possible parent stands before its child.
Parent sets of a node are the subsets of the first `limit` positions with at most k members, in lexicographic
depth-first order, so that consecutive sets share a prefix and one more column refines the rows of the prefix.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from scipy.special import gammaln

from learnable._bits import popcount
from learnable._inner import assign, inner


class Prior(NamedTuple):
    """Dirichlet prior: `bdeu` or K2, its ess, and for K2 tables of log gammas by count (row r for r states)."""

    bdeu: bool
    ess: float
    ones: np.ndarray
    whole: np.ndarray


class Table(NamedTuple):
    """Columns of codes by position, and their numbers of states."""

    columns: np.ndarray
    n_states: np.ndarray


def prior_tables(kind, ess, n, r_max):
    """The tables that turn counts 0, ..., n into terms of the K2 score, for every number of states up to `r_max`."""
    N = np.arange(n + 1, dtype=float)
    r = np.arange(1, r_max + 1, dtype=float)[:, None]
    whole = np.vstack([np.zeros(n + 1), gammaln(r) - gammaln(r + N)])
    return Prior(kind == "bdeu", ess, gammaln(1 + N), whole)


@njit(cache=True)
def enumerate_binary(words, n, first_child, starts, k, ones, whole, out):
    """Scores of all families of binary columns by bit sets. `ones[s]`, `whole[s]` are the terms with s parents.

    A cell of the parents' configurations is a bit set of rows; the child's ones in it are one AND and one count.
    """
    n_nodes, n_words = words.shape
    cells = np.zeros((k + 1, 2**k, n_words), dtype=np.uint64)
    sizes = np.zeros((k + 1, 2**k), dtype=np.int64)
    n_cells = np.zeros(k + 1, dtype=np.int64)
    member = np.full(k + 1, -1, dtype=np.int64)
    filled = starts.copy()
    for row in range(n):
        cells[0, 0, row // 64] |= np.uint64(1) << np.uint64(row % 64)
    sizes[0, 0], n_cells[0], depth = n, 1, 0
    while True:
        common = 0.0
        for c in range(n_cells[depth]):
            common += whole[depth, sizes[depth, c]]
        children = first_child[member[depth]] if depth else 0
        for i in range(children, n_nodes):
            total = common
            for c in range(n_cells[depth]):
                found = np.uint64(0)
                for w in range(n_words):
                    found += popcount(cells[depth, c, w] & words[i, w])
                hits = np.int64(found)
                total += ones[depth, hits] + ones[depth, sizes[depth, c] - hits]
            out[filled[i]] = total
            filled[i] += 1
        # The next set: one member more if some child may have it, else the last member moves on.
        v = member[depth] + 1
        if depth == k or v >= n_nodes or first_child[v] >= n_nodes:
            depth -= 1
            while depth >= 0:
                v = member[depth + 1] + 1
                if v < n_nodes and first_child[v] < n_nodes:
                    break
                depth -= 1
            if depth < 0:
                return
        depth += 1
        member[depth] = v
        _refine_bits(cells, sizes, n_cells, words[v], depth)


@inner
def _refine_bits(cells, sizes, n_cells, word, depth):
    """Cells of a set from those of its prefix: rows with a one, rows with a zero; empty cells are left out."""
    made = 0
    n_words = cells.shape[2]
    for c in range(n_cells[depth - 1]):
        found = np.uint64(0)
        for w in range(n_words):
            found += popcount(cells[depth - 1, c, w] & word[w])
        size = np.int64(found)
        if size:
            for w in range(n_words):
                cells[depth, made, w] = cells[depth - 1, c, w] & word[w]
            sizes[depth, made] = size
            made += 1
        if sizes[depth - 1, c] > size:
            for w in range(n_words):
                cells[depth, made, w] = cells[depth - 1, c, w] & ~word[w]
            sizes[depth, made] = sizes[depth - 1, c] - size
            made += 1
    n_cells[depth] = made


@njit(cache=True)
def enumerate_general(table, first_child, starts, k, prior, out):
    """Scores of all families for any numbers of states: rows grouped by cell, one pass for each family."""
    n_nodes, n = table.columns.shape
    rows = np.empty((k + 1, n), dtype=np.int64)
    ends = np.zeros((k + 1, n + 1), dtype=np.int64)
    n_cells = np.zeros(k + 1, dtype=np.int64)
    size = np.ones(k + 1)
    member = np.full(k + 1, -1, dtype=np.int64)
    filled = starts.copy()
    for row in range(n):
        rows[0, row] = row
    ends[0, 0], n_cells[0], depth = n, 1, 0
    while True:
        children = first_child[member[depth]] if depth else 0
        for i in range(children, n_nodes):
            out[filled[i]] = _grouped_score(
                table.columns[i], table.n_states[i], rows[depth], ends[depth, : n_cells[depth]], size[depth], prior
            )
            filled[i] += 1
        v = member[depth] + 1
        if depth == k or v >= n_nodes or first_child[v] >= n_nodes:
            depth -= 1
            while depth >= 0:
                v = member[depth + 1] + 1
                if v < n_nodes and first_child[v] < n_nodes:
                    break
                depth -= 1
            if depth < 0:
                return
        depth += 1
        member[depth] = v
        size[depth] = size[depth - 1] * table.n_states[v]
        n_cells[depth] = _group(
            table.columns[v],
            table.n_states[v],
            rows[depth - 1],
            ends[depth - 1, : n_cells[depth - 1]],
            rows[depth],
            ends[depth],
        )


@inner
def _group(x, r, rows, ends, out_rows, out_ends):
    """Split each group of rows by the state of x; returns the number of groups that are not empty."""
    place = np.zeros(r, dtype=np.int64)
    made, filled, begin = 0, 0, 0
    for c in range(len(ends)):
        place[:] = 0
        for a in range(begin, ends[c]):
            place[x[rows[a]]] += 1
        for state in range(r):
            here = place[state]
            place[state] = filled
            if here:
                filled += here
                out_ends[made] = filled
                made += 1
        for a in range(begin, ends[c]):
            state = x[rows[a]]
            out_rows[place[state]] = rows[a]
            place[state] += 1
        begin = ends[c]
    return made


@inner
def _grouped_score(x, r, rows, ends, q, prior):
    """Score of a family whose rows are grouped by the configuration of the parents; q configurations are possible."""
    counts = np.zeros(r, dtype=np.int64)
    total, begin = 0.0, 0
    for c in range(len(ends)):
        counts[:] = 0
        for a in range(begin, ends[c]):
            counts[x[rows[a]]] += 1
        total += _cell_score(counts, ends[c] - begin, q, prior)
        begin = ends[c]
    return total


@inner
def _cell_score(counts, size, q, prior):
    r = len(counts)
    total = 0.0
    if prior.bdeu:
        a = prior.ess / (r * q)
        if size:
            total = math.lgamma(r * a) - math.lgamma(r * a + size)
        for state in range(r):
            if counts[state]:
                total += math.lgamma(a + counts[state]) - math.lgamma(a)
        return total
    total = prior.whole[r, size]
    for state in range(r):
        total += prior.ones[counts[state]]
    return total


@njit(cache=True)
def subsets(limit, k, out):
    """All subsets of 0, ..., limit - 1 with at most k members, depth first as in the enumeration; -1 fills a row."""
    member = np.full(k + 1, -1, dtype=np.int64)
    depth, filled = 0, 0
    while True:
        for s in range(k):
            out[filled, s] = member[s + 1] if s < depth else -1
        filled += 1
        v = member[depth] + 1
        if depth == k or v >= limit:
            depth -= 1
            while depth >= 0 and member[depth + 1] + 1 >= limit:
                depth -= 1
            if depth < 0:
                return
            v = member[depth + 1] + 1
        depth += 1
        member[depth] = v


@njit(cache=True)
def capped_union(sets, by_weight, max_union, n_nodes):
    """Members of the union of sets, visited in the order `by_weight`, that skips a set which makes it too large."""
    inside = np.zeros(n_nodes, dtype=np.bool_)
    size = 0
    for v in by_weight:
        fresh = 0
        for p in sets[v]:
            if p >= 0 and not inside[p]:
                fresh += 1
        if fresh and size + fresh <= max_union:
            for p in sets[v]:
                if p >= 0:
                    inside[p] = True
            size += fresh
    return inside


@njit(cache=True)
def mix_rows(train, columns, sets, weights, node, prior):
    """Weighted mean of (a + N_ijk) / (a_i + N_ij) over parent sets, at each row of `columns`.

    Configurations get numbers in the order in which the training rows meet them; a row whose configuration never
    occurred takes the prior mean 1 / r. Sets that share a prefix with the one before share its numbers.
    """
    n, m = train.columns.shape[1], columns.shape[1]
    k, r = sets.shape[1], train.n_states[node]
    seen = np.zeros((k + 1, n), dtype=np.int64)
    asked = np.zeros((k + 1, m), dtype=np.int64)
    cells = np.ones(k + 1, dtype=np.int64)
    before = np.full(k, -2, dtype=np.int64)
    lookup = np.empty(max(n, 1) * train.n_states.max(), dtype=np.int64)
    counts = np.empty((max(n, 1), r))
    out = np.zeros(m)
    for v in range(len(sets)):
        shared, q = True, 1.0
        depth = 0
        for s in range(k):
            p = sets[v, s]
            if p < 0:
                break
            depth += 1
            q *= train.n_states[p]
            if not (shared and before[s] == p):
                shared = False
                cells[s + 1] = _number(
                    train.columns[p],
                    columns[p],
                    train.n_states[p],
                    seen[s : s + 2],
                    asked[s : s + 2],
                    lookup[: cells[s] * train.n_states[p]],
                )
        assign(before, sets[v])
        a = prior.ess / (r * q) if prior.bdeu else 1.0
        counts[: cells[depth]] = a
        for row in range(n):
            counts[seen[depth, row], train.columns[node, row]] += 1.0
        for c in range(cells[depth]):
            factor = weights[v] / counts[c].sum()
            for state in range(r):
                counts[c, state] *= factor
        for row in range(m):
            c = asked[depth, row]
            out[row] += counts[c, columns[node, row]] if c >= 0 else weights[v] / r
    return out


@inner
def _number(x, y, r, seen, asked, lookup):
    """Numbers of configurations after one more column: `seen` for training rows, `asked` for the others or -1."""
    lookup[:] = -1
    made = 0
    for row in range(len(x)):
        code = seen[0, row] * r + x[row]
        if lookup[code] < 0:
            lookup[code] = made
            made += 1
        seen[1, row] = lookup[code]
    for row in range(len(y)):
        c = asked[0, row]
        asked[1, row] = lookup[c * r + y[row]] if c >= 0 else -1
    return max(made, 1)


@njit(cache=True)
def thick_thin(table, prior, max_parents, adjacency):
    """Add the arc that raises the score most until none does, then remove arcs likewise; the number of moves."""
    n_nodes = len(table.columns)
    score = np.empty(n_nodes)
    gain = np.full((n_nodes, n_nodes), -np.inf)
    reach = np.eye(n_nodes) > 0  # reach[a, b]: a path leads from a to b
    moves = 0
    for i in range(n_nodes):
        score[i] = _family_score(table, adjacency[:, i], i, prior)
        _gains(table, adjacency, i, score[i], prior, max_parents, gain)
    while True:
        best, parent, child = 0.0, -1, -1
        for i in range(n_nodes):
            for p in range(n_nodes):
                if gain[p, i] > best and not reach[i, p]:
                    best, parent, child = gain[p, i], p, i
        if child < 0:
            break
        moves += 1
        adjacency[parent, child] = True
        score[child] += best
        for a in range(n_nodes):
            if reach[a, parent]:
                for b in range(n_nodes):
                    reach[a, b] |= reach[child, b]
        _gains(table, adjacency, child, score[child], prior, max_parents, gain)
    while True:
        best, parent, child = 0.0, -1, -1
        for i in range(n_nodes):
            for p in range(n_nodes):
                if adjacency[p, i]:
                    adjacency[p, i] = False
                    change = _family_score(table, adjacency[:, i], i, prior) - score[i]
                    adjacency[p, i] = True
                    if change > best:
                        best, parent, child = change, p, i
        if child < 0:
            return moves
        moves += 1
        adjacency[parent, child] = False
        score[child] += best


@inner
def _gains(table, adjacency, i, score, prior, max_parents, gain):
    n_nodes = len(adjacency)
    full = adjacency[:, i].sum() >= max_parents
    for p in range(n_nodes):
        gain[p, i] = -np.inf
        if p != i and not adjacency[p, i] and not full:
            adjacency[p, i] = True
            gain[p, i] = _family_score(table, adjacency[:, i], i, prior) - score
            adjacency[p, i] = False


@inner
def _family_score(table, parents, i, prior):
    """Score of node i whose parents are marked, with compact numbers for the configurations that occur."""
    n, r = table.columns.shape[1], table.n_states[i]
    seen = np.zeros((2, n), dtype=np.int64)
    none = np.empty((2, 0), dtype=np.int64)
    lookup = np.empty(max(n, 1) * table.n_states.max(), dtype=np.int64)
    cells, q = 1, 1.0
    for p in range(len(parents)):
        if parents[p]:
            r_p = table.n_states[p]
            cells = _number(table.columns[p], none[0], r_p, seen, none, lookup[: cells * r_p])
            assign(seen[0], seen[1])
            q *= r_p
    counts = np.zeros((cells, r), dtype=np.int64)
    for row in range(n):
        counts[seen[0, row], table.columns[i, row]] += 1
    total = 0.0
    for c in range(cells):
        total += _cell_score(counts[c], counts[c].sum(), q, prior)
    return total
