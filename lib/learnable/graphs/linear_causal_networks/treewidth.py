r"""The best DAG inside a graph of small treewidth, by dynamic programming over a tree decomposition.

Loh and Bühlmann 2014, Sec. 6.2, after Ordyniak and Szeider 2012. Nodes are eliminated one after another; a node and
its neighbours at that moment form a *bag*, and the bags form a tree. On the way up from the leaves a vertex is
*introduced* (its parents are guessed), bags of several children are *joined*, and a vertex all of whose neighbours have
been seen is *forgotten* (its score is paid). What is below a bag matters for the rest through three things only: the
parents of the vertices in the bag, the directed paths among them, and the score paid so far. Such a triple is a *record*.

Beside what the source does, a parent set that a subset of it does not let win is dropped at once, and so is a record
with the same parents, more paths and no smaller score than another.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from learnable.graphs.dags import DAG
from learnable.graphs.linear_causal_networks._records import (
    Candidates,
    Records,
    count_introductions,
    count_pairs,
    introduce,
    join,
    keep_undominated,
)
from learnable.graphs.linear_causal_networks.local_scores import ParentScores, check_undirected
from learnable.validation import Result, check_has, check_scalar

__all__ = ["BestDAG", "TreeDecomposition", "best_dag_treewidth", "tree_decomposition"]

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
    >>> from learnable.graphs.linear_causal_networks import parent_scores
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
                "graph, add a penalty, or search greedily"
            )
        self.shift = CODE_BITS // self.size
        longest = max(len(masks) for masks in kept)
        if longest > 1 << self.shift:
            raise ValueError(
                f"scores must leave at most {1 << self.shift} parent sets for a node in bags of {self.size}, got "
                f"{longest}: add a penalty or lower max_parents"
            )
        self.children = [[] for _ in kept]
        for v in tree.order:
            if tree.parent[v] >= 0:
                self.children[tree.parent[v]].append(int(v))
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
        total, way = 0.0, {}
        for v in self.tree.order:
            below = [self._lift(v, u, *forgotten.pop(u)) for u in self.children[v]]
            records, trail = below[0] if below else self._lift(v, None, _start(), None)
            for other, other_trail in below[1:]:
                records, trail = self._join(records, trail, other, other_trail)
            records, trail = self._forget(v, records, trail)
            self.n_records += len(records.code)
            if self.tree.parent[v] >= 0:
                forgotten[int(v)] = (records, trail)
            else:
                total += float(records.score[0])
                way[int(v)] = (trail, 0)
        chosen = np.empty(len(self.kept), dtype=np.int64)
        for trail, index in way.values():
            _unwind(trail, index, chosen)
        return total, chosen

    def _lift(self, v, child, records, trail):
        """Introduce the vertices of the bag of v that the child's bag lacks."""
        present = list(self.tree.bags[child][1:]) if child is not None else []
        for u in sorted(set(self.tree.bags[v]) - set(present)):
            records, trail = self._introduce(int(u), present, records, trail)
            present.append(int(u))
        return records, trail

    def _introduce(self, u, present, records, trail):
        slot, shift = self.slot, self.shift
        here = np.array([int(slot[x]) for x in present], dtype=np.int64)
        parents = np.zeros(len(self.kept[u]), dtype=np.uint8)
        width = max([len(self.kept[x]) for x in present], default=1)
        is_parent = np.zeros((len(present), width), dtype=np.bool_)
        for row, x in enumerate(present):
            bit = np.flatnonzero(self.scores.candidates[u] == x)
            if len(bit):
                parents |= ((self.kept[u] >> bit[0] & 1) << slot[x]).astype(np.uint8)
            bit = np.flatnonzero(self.scores.candidates[x] == u)
            if len(bit):
                is_parent[row, : len(self.kept[x])] = self.kept[x] >> bit[0] & 1
        sets = Candidates(int(slot[u]), shift, parents, here, is_parent)
        count = count_introductions(records, sets)
        self._check(count, u)
        made, source, choice = introduce(records, sets, count)
        return made, ("introduce", trail, source, u, choice)

    def _forget(self, v, records, trail):
        slot, shift = int(self.slot[v]), self.shift
        field = np.int64((1 << shift) - 1) << (shift * slot)
        choice = (records.code & field) >> (shift * slot)
        score = records.score + self.scores.values[v][self.kept[v]][choice]
        clear = np.uint64(0)
        for other in range(SLOTS):
            clear |= np.uint64(1) << np.uint64(8 * other + slot)
        clear |= np.uint64(0xFF) << np.uint64(8 * slot)
        records = Records(records.code & ~field, records.paths & ~clear, score)
        return self._reduce(records, ("forget", trail))

    def _join(self, left, left_trail, right, right_trail):
        left, left_trail = self._reduce(left, ("forget", left_trail))
        right, right_trail = self._reduce(right, ("forget", right_trail))
        count = count_pairs(left.code, right.code)
        self._check(count, None)
        records, first, second = join(left, right, count)
        return self._reduce(records, ("join", left_trail, right_trail, first, second))

    def _reduce(self, records, trail):
        """Sort by parents, then score; drop what another record dominates."""
        order = np.lexsort((records.score, records.code))
        records = Records(records.code[order], records.paths[order], records.score[order])
        keep = keep_undominated(records)
        return Records(*(array[keep] for array in records)), (*trail, order[keep])

    def _check(self, count, vertex):
        if count > self.max_records:
            where = "where bags are joined" if vertex is None else f"where vertex {vertex} is introduced"
            raise ValueError(
                f"scores must need at most max_records = {self.max_records} records for a bag, got {count} {where}: "
                "estimate a sparser graph, add a penalty, lower max_parents, or search greedily"
            )


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
        elif trail[0] == "forget":
            stack.append((trail[1], trail[2][index]))
        else:
            _, left, right, first, second, kept = trail
            pair = kept[index]
            stack.append((left, first[pair]))
            stack.append((right, second[pair]))
