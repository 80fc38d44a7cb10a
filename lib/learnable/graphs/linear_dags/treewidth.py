r"""The best DAG inside a graph of small treewidth, by dynamic programming over a tree decomposition.

Loh and Bühlmann 2014, Sec. 6.2, after Ordyniak and Szeider 2012. Nodes are eliminated one after another; a node and
its neighbours at that moment form a *bag*, and the bags form a tree. On the way up from the leaves a vertex is
*introduced* (its parents are guessed), bags of several children are *joined*, and a vertex all of whose neighbours have
been seen is *forgotten* (its score is paid). What is below a bag matters for the rest through three things only: the
parents of the vertices in the bag, the directed paths among them, and the score paid so far. These
three make a *record*.

Beside what the source does, a parent set that a subset of it does not let win is dropped at once, and so is a record
with the same parents, more paths and no smaller score than another. And a vertex that takes part in no further join is
*settled* before it is forgotten: its score is paid, and of its parents only those still to come are kept, since the
others are in the paths already. A child is joined as soon as its vertices are there, not only when all are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from learnable.graphs.dags import DAG
from learnable.graphs.linear_dags._records import (
    Candidates,
    Records,
    count_introductions,
    count_pairs,
    first_of_each,
    introduce,
    join,
    keep_undominated,
)
from learnable.graphs.linear_dags.local_scores import ParentScores, check_undirected
from learnable.validation import Result, check_has, check_scalar

SLOTS = 8  # vertices in a bag: the paths among them are the 64 bits of one word
CODE_BITS = 62  # bits for the parent sets of all vertices in a bag


@dataclass(frozen=True, eq=False)
class TreeDecomposition(Result):
    """Bags of a graph, one for each vertex, in an order of elimination.

    Attributes
    ----------
    order : ndarray of shape (p,)
        The order in which the vertices are eliminated.
    bags : tuple of tuple of int
        ``bags[v]``: the vertex v and its neighbours when it is eliminated, v first, the others in increasing order.
    parent : ndarray of shape (p,)
        The vertex whose bag holds ``bags[v]`` without v: the first of them to be eliminated; -1 for a root.
    width : int
        The size of the largest bag less one.
    """

    order: np.ndarray
    bags: tuple
    parent: np.ndarray
    width: int


@dataclass(frozen=True, eq=False)
class BestDAG(Result):
    """A DAG of smallest score, and how it was found.

    Attributes
    ----------
    dag : DAG
    score : float
        Its score.
    width : int
        Width of the tree decomposition; -1 where none was used.
    n_records : int
        Records kept, in all nodes of the tree together; the steps of a search without records.
    exact : bool
        Whether no DAG inside the candidates has a smaller score.
    """

    dag: DAG
    score: float
    width: int
    n_records: int
    exact: bool


def tree_decomposition(adjacency):
    """A tree decomposition by the min-fill rule: eliminate the vertex whose neighbours lack the fewest edges.

    The rule is exact for trees and chordal graphs, and near the treewidth elsewhere, which is hard to compute. Ties go
    to the smaller degree, then to the smaller number. Cost O(p² d²) at worst, with small constants for sparse graphs.

    Parameters
    ----------
    adjacency : array-like of bool of shape (p, p)
        Symmetric.

    Returns
    -------
    TreeDecomposition

    Examples
    --------
    >>> chain = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    >>> found = tree_decomposition(chain)
    >>> found.width, found.bags
    (1, ((0, 1), (1, 2), (2,)))
    """
    array = np.asarray(adjacency)
    adjacency = check_undirected(adjacency, len(array) if array.ndim == 2 else 0)
    p = len(adjacency)
    neighbors = [set(np.flatnonzero(row).tolist()) for row in adjacency]
    priority = {v: _priority(neighbors, v) for v in range(p)}
    order, bags, place = [], [()] * p, np.empty(p, dtype=np.int64)
    while priority:
        v = min(priority, key=priority.get)
        del priority[v]
        around = neighbors[v]
        bags[v] = (v, *sorted(around))
        place[v] = len(order)
        order.append(v)
        touched = set(around)
        for u in around:
            for w in around - neighbors[u] - {u}:
                neighbors[u].add(w)
                neighbors[w].add(u)
                touched |= neighbors[u] & neighbors[w]
            neighbors[u].discard(v)
        for u in touched - {v}:
            if u in priority:
                priority[u] = _priority(neighbors, u)
    parent = np.array([min(bag[1:], key=place.__getitem__) if len(bag) > 1 else -1 for bag in bags], dtype=np.int64)
    width = max((len(bag) for bag in bags), default=1) - 1
    return TreeDecomposition(np.array(order), tuple(bags), parent, width)


def best_dag_treewidth(scores, *, max_records=4_000_000):
    """The DAG of smallest score inside the candidates, exactly, in time linear in p for bounded width and degree.

    Cost O(p 2^{2(w+1)(w+d)}) at worst, width w and degree d (Loh and Bühlmann 2014, (34)); far less in practice, since
    parent sets and records that cannot win are dropped. Among DAGs of equal score the one with fewer edges is
    preferred at each node.

    Parameters
    ----------
    scores : ParentScores
        From :func:`parent_scores`; at most 8 vertices in a bag, that is, treewidth 7.
    max_records : int, default=4_000_000
        Give up with a ValueError rather than hold more records than this for one bag.

    Returns
    -------
    BestDAG

    Examples
    --------
    >>> from learnable.graphs import parent_scores
    >>> covariance = np.array([[1.0, 1.0, 1.0], [1.0, 2.0, 2.0], [1.0, 2.0, 3.0]])
    >>> chain = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> found = best_dag_treewidth(parent_scores(covariance, chain))
    >>> found.dag.edges, found.score, found.width
    (((0, 1), (1, 2)), 3.0, 1)
    """
    check_has(scores, "scores", "candidates values adjacency", "the ParentScores of parent_scores")
    max_records = check_scalar(max_records, "max_records", low=1, integer=True)
    kept = _undominated(scores)
    used = np.zeros((scores.n_nodes, scores.n_nodes), dtype=bool)
    for j, masks in enumerate(kept):
        union = int(np.bitwise_or.reduce(masks)) if len(masks) else 0
        parents = scores.parents(j, union)
        used[j, parents] = used[parents, j] = True
    tree = tree_decomposition(used)
    search = _Search(scores, kept, tree, max_records)
    total, chosen = search.run()
    parents = [scores.parents(j, int(kept[j][choice])) for j, choice in enumerate(chosen)]
    return BestDAG(DAG.from_parents(parents), total, tree.width, search.n_records, True)


def _priority(neighbors, v):
    around = neighbors[v]
    missing = sum(len(around - neighbors[u]) - 1 for u in around) // 2
    return missing, len(around), v


def _undominated(scores: ParentScores):
    """For each node the masks that no subset beats or equals, in increasing order of their number."""
    kept = []
    for j, values in enumerate(scores.values):
        below = values.copy()  # the smallest score of a proper subset, filled bit by bit
        best = np.full(len(values), np.inf)
        for b in range(len(scores.candidates[j])):
            high = np.flatnonzero(np.arange(len(values)) >> b & 1)
            best[high] = np.minimum(best[high], below[high ^ (1 << b)])
            below[high] = np.minimum(below[high], below[high ^ (1 << b)])
        masks = np.flatnonzero((values < best) & np.isfinite(values))
        if len(masks) == 0:
            raise ValueError(f"scores must allow at least one parent set of node {j}")
        kept.append(masks)
    return kept


class _Search:
    """The records of all bags, from the leaves to the root, with the way back."""

    def __init__(self, scores, kept, tree, max_records):
        self.scores, self.kept, self.tree, self.max_records = scores, kept, tree, max_records
        self.size = tree.width + 1
        if self.size > SLOTS:
            raise ValueError(
                f"scores must belong to a graph of treewidth at most {SLOTS - 1}, got {tree.width}: estimate a sparser "
                "graph, raise edge_cost, or search greedily"
            )
        self.shift = CODE_BITS // self.size
        longest = max(len(masks) for masks in kept)
        if longest > 1 << self.shift:
            raise ValueError(
                f"scores must leave at most {1 << self.shift} parent sets for a node in bags of {self.size}, got "
                f"{longest}: raise edge_cost or lower max_parents"
            )
        p = len(kept)
        self.children = [[] for _ in kept]
        self.place = np.empty(p, dtype=np.int64)
        self.place[tree.order] = np.arange(p)
        for v in tree.order:
            if tree.parent[v] >= 0:
                self.children[tree.parent[v]].append(int(v))
        self.last_join = np.full(p, -1)
        for v in tree.order:
            if len(self.children[v]) > 1:
                self.last_join[list(tree.bags[v])] = self.place[v]
        self.slot = self._slots()
        self.n_records = 0

    def _slots(self):
        """A slot for every vertex, different from those of all others in its bags; from the roots down."""
        slot = np.full(len(self.kept), -1)
        for v in self.tree.order[::-1]:
            taken = {int(slot[u]) for u in self.tree.bags[v][1:]}
            slot[v] = min(s for s in range(self.size) if s not in taken)
        return slot

    def run(self):
        """The smallest score, and the place of the chosen parent set of each node in `kept`."""
        forgotten = {}
        total, way = 0.0, []
        for v in self.tree.order.tolist():
            state = self._gather(v, [(u, forgotten.pop(u)) for u in self.children[v]])
            state = self._forget(v, state)
            self.n_records += len(state.records.code)
            if self.tree.parent[v] >= 0:
                forgotten[v] = state
            else:
                total += float(state.records.score[0])
                way.append(state.trail)
        chosen = np.empty(len(self.kept), dtype=np.int64)
        for trail in way:
            _unwind(trail, 0, chosen)
        return total, chosen

    def _gather(self, v, below):
        """The records of the bag of v: from the largest child on, introduce what is missing and join when possible."""
        below = sorted(below, key=lambda child: len(self.tree.bags[child[0]]))
        first, state = below.pop() if below else (None, _State(_start(), None, {}))
        present = list(self.tree.bags[first][1:]) if first is not None else []
        missing = sorted(set(self.tree.bags[v]) - set(present))
        while True:
            for child in [c for c in below if set(self.tree.bags[c[0]][1:]) <= set(present)]:
                below.remove(child)
                state = self._join(state, child[1], self.tree.bags[child[0]][1:])
            state = self._settle(state, v, present, joined=not below)
            if not missing:
                return state
            u = missing.pop(0)
            state = self._introduce(u, present, state)
            present.append(u)

    def _introduce(self, u, present, state):
        slot, kept = self.slot, self.kept[u]
        parents = np.zeros(len(kept), dtype=np.uint8)
        tables = [state.tables.get(x, self.kept[x]) for x in present]
        is_parent = np.zeros((len(present), max(map(len, tables), default=1)), dtype=np.bool_)
        for row, (x, table) in enumerate(zip(present, tables, strict=True)):
            parents |= (_has(kept, self.scores.candidates[u], x) << slot[x]).astype(np.uint8)
            is_parent[row, : len(table)] = _has(table, self.scores.candidates[x], u)
        here = np.array([int(slot[x]) for x in present], dtype=np.int64)
        sets = Candidates(int(slot[u]), self.shift, parents, here, is_parent)
        count = count_introductions(state.records, sets)
        self._check(count, u)
        records, source, choice = introduce(state.records, sets, count)
        return _State(records, ("introduce", state.trail, source, u, choice), state.tables)

    def _settle(self, state, v, present, joined):
        """Pay for the vertices that no join will meet again, and keep of their parents what is still to come."""
        code, score, tables = state.records.code, state.records.score, dict(state.tables)
        now, changed = self.place[v], False
        for x in present:
            if self.last_join[x] > now or (self.last_join[x] == now and not joined):
                continue
            field = self._field(code, x)
            if x not in tables:
                score = score + self.scores.values[x][self.kept[x]][field]
            table, candidates = tables.get(x, self.kept[x]), self.scores.candidates[x]
            open_bits = sum(1 << b for b, c in enumerate(candidates) if self.place[c] >= now and c not in present)
            tables[x], place = np.unique(table & open_bits, return_inverse=True)
            code = code + ((place[field] - field) << (self.shift * int(self.slot[x])))
            changed = True
        if not changed:
            return state
        return self._reduce(Records(code, state.records.paths, score), state.trail, tables)

    def _forget(self, v, state):
        slot, records = int(self.slot[v]), state.records
        field, score = self._field(records.code, v), records.score
        if v not in state.tables:
            score = score + self.scores.values[v][self.kept[v]][field]
        clear = np.uint64(0xFF) << np.uint64(8 * slot)
        for other in range(SLOTS):
            clear |= np.uint64(1) << np.uint64(8 * other + slot)
        tables = {x: table for x, table in state.tables.items() if x != v}
        code = records.code - (field << (self.shift * slot))
        return self._reduce(Records(code, records.paths & ~clear, score), state.trail, tables)

    def _join(self, left, right, shared):
        """Pairs of records with the same parents of the vertices that they share, all those of the right one."""
        fields = sum(((1 << self.shift) - 1) << (self.shift * int(self.slot[x])) for x in shared)
        order = np.argsort(left.records.code & fields, kind="stable")
        sorted_left = Records(*(array[order] for array in left.records))
        key = sorted_left.code & fields
        count = count_pairs(key, right.records.code)
        self._check(count, None)
        records, first, second = join(sorted_left, key, right.records, count)
        return self._reduce(records, ("join", left.trail, right.trail, order[first], second), left.tables)

    def _reduce(self, records, trail, tables):
        """The best record for each set of parents and paths; then drop what another record dominates."""
        order = np.lexsort((records.score, records.paths, records.code))
        order = order[first_of_each(records.code[order], records.paths[order])]
        order = order[np.lexsort((records.score[order], records.code[order]))]
        order = order[keep_undominated(records.code[order], records.paths[order])]
        return _State(Records(*(array[order] for array in records)), ("reduce", trail, order), tables)

    def _field(self, code, vertex):
        return (code >> (self.shift * int(self.slot[vertex]))) & ((1 << self.shift) - 1)

    def _check(self, count, vertex):
        if count > self.max_records:
            where = "where bags are joined" if vertex is None else f"where vertex {vertex} is introduced"
            raise ValueError(
                f"scores must need at most max_records = {self.max_records} records for a bag, got {count} {where}: "
                "estimate a sparser graph, raise edge_cost, lower max_parents, or search greedily"
            )


class _State(NamedTuple):
    """Records of a bag, where they came from, and for settled vertices what their field in the code means."""

    records: Records
    trail: tuple
    tables: dict


def _has(masks, candidates, node):
    """Whether each set holds `node`, as zeros and ones."""
    bit = np.flatnonzero(candidates == node)
    return masks >> bit[0] & 1 if len(bit) else np.zeros(len(masks), dtype=np.int64)


def _start():
    return Records(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.uint64), np.zeros(1))


def _unwind(trail, index, chosen):
    """Follow the back-pointers of one record; introductions of one vertex in several branches agree."""
    stack = [(trail, index)]
    while stack:
        trail, index = stack.pop()
        if trail is None:
            continue
        if trail[0] == "introduce":
            _, below, source, vertex, choice = trail
            chosen[vertex] = choice[index]
            stack.append((below, source[index]))
        elif trail[0] == "reduce":
            stack.append((trail[1], trail[2][index]))
        else:
            _, left, right, first, second = trail
            stack.append((left, first[index]))
            stack.append((right, second[index]))
