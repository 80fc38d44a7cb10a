"""Other searches inside the candidates: exact over subsets, and greedy (Loh and Bühlmann 2014, Sec. 6.1)."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
from numba import njit

from learnable.graphs.dags import DAG
from learnable.graphs.linear_dags.local_scores import check_undirected
from learnable.graphs.linear_dags.treewidth import BestDAG
from learnable.graphs.scores import best_dag
from learnable.validation import check_has, check_scalar

LARGEST_ENUMERATION = 12  # edges, three states each: half a million graphs
LARGEST_SUBSET_SEARCH = 20  # nodes
GAIN = 1e-12  # a change must lower the score by more than rounding


def all_dags(adjacency):
    """All DAGs whose edges lie in an undirected graph, by trying none, forward and backward for every edge.

    There are 3, 25, 543 and 29,281 DAGs on 2, 3, 4 and 5 nodes. O(3^e p²) for e edges, at most 12 of them.

    Parameters
    ----------
    adjacency : int or array-like of bool of shape (p, p)
        A number of nodes, for the complete graph, or a symmetric matrix.

    Returns
    -------
    list of DAG

    Examples
    --------
    >>> len(all_dags(3)), len(all_dags(4))
    (25, 543)
    """
    if np.ndim(adjacency) == 0:
        p = check_scalar(adjacency, "adjacency", low=1, high=5, integer=True)
        adjacency = ~np.eye(p, dtype=bool)
    array = np.asarray(adjacency)
    adjacency = check_undirected(adjacency, len(array) if array.ndim == 2 else 0)
    edges = np.argwhere(np.triu(adjacency, 1))
    if len(edges) > LARGEST_ENUMERATION:
        raise ValueError(f"adjacency must have at most {LARGEST_ENUMERATION} edges to be enumerated, got {len(edges)}")
    found = []
    for states in itertools.product((0, 1, 2), repeat=len(edges)):
        matrix = np.zeros(adjacency.shape, dtype=bool)
        for (i, k), state in zip(edges, states, strict=True):
            if state:
                matrix[(i, k) if state == 1 else (k, i)] = True
        if _acyclic(matrix):
            found.append(DAG(matrix))
    return found


def best_dag_subset(scores):
    """The DAG of smallest score by dynamic programming over subsets of nodes (Silander and Myllymaki 2006).

    It needs no tree decomposition, and is the reference for :func:`best_dag_treewidth`. O(p² 2^p), up to 20 nodes:
    seconds and half a gigabyte.

    Parameters
    ----------
    scores : ParentScores
        From :func:`parent_scores`.

    Returns
    -------
    BestDAG

    Examples
    --------
    >>> from learnable.graphs import parent_scores
    >>> best_dag_subset(parent_scores([[1.0, 1.0], [1.0, 2.0]])).dag.edges
    ((0, 1),)
    """
    check_has(scores, "scores", "candidates values adjacency", "the ParentScores of parent_scores")
    p = scores.n_nodes
    if p > LARGEST_SUBSET_SEARCH:
        raise ValueError(
            f"scores must belong to at most {LARGEST_SUBSET_SEARCH} nodes for a search over subsets, got {p}"
        )
    table = np.full((p, 2**p), -np.inf)
    for j, values in enumerate(scores.values):
        places = np.zeros(len(values), dtype=np.int64)
        for b, candidate in enumerate(scores.candidates[j]):
            places |= (np.arange(len(values)) >> b & 1) << int(candidate)
        table[j, places] = -values
    found = best_dag(table)
    return BestDAG(found.dag, -found.score, -1, 2**p, True)


def best_dag_greedy(scores, *, start=None, max_iter=10_000):
    """Hill climbing inside the candidates: add, remove or reverse the edge that lowers the score most.

    It ends in a graph that no single change improves, which need not be the best. One step costs O(e) looks at the
    table and a search for cycles, e the number of candidate edges.

    Parameters
    ----------
    scores : ParentScores
        From :func:`parent_scores`.
    start : DAG, optional
        Where to begin; the empty graph if it is not given.
    max_iter : int, default=10_000
        Largest number of changes.

    Returns
    -------
    BestDAG
        With the number of changes as `n_records`.

    Examples
    --------
    >>> from learnable.graphs import parent_scores
    >>> best_dag_greedy(parent_scores([[1.0, 1.0], [1.0, 2.0]])).dag.edges
    ((0, 1),)
    """
    check_has(scores, "scores", "candidates values adjacency", "the ParentScores of parent_scores")
    max_iter = check_scalar(max_iter, "max_iter", low=0, integer=True)
    p = scores.n_nodes
    masks = np.zeros(p, dtype=np.int64)
    if start is not None:
        check_has(start, "start", "parents n_nodes", "a DAG")
        masks[:] = [scores.mask(j, start.parents(j)) for j in range(p)]
    elif not all(np.isfinite(values[0]) for values in scores.values):
        raise ValueError("scores must allow the empty graph, or start must be given")
    steps = _climb(_flatten(scores), masks, max_iter)
    dag = DAG.from_parents([scores.parents(j, int(masks[j])) for j in range(p)])
    return BestDAG(dag, scores.score(dag), -1, int(steps), False)


def climb_families(families, adjacency, *, max_iter=10_000):
    """The DAG of the climb of :func:`best_dag_greedy` without a table, for nodes with too many neighbours to have one.

    A family is scored when a change may need it: after a step, those of the one or two nodes whose parents changed.
    """
    p = families.n_nodes
    parents = [set() for _ in range(p)]
    directed = np.zeros((p, p), dtype=bool)
    gain = np.zeros((p, p))  # of toggling i among the parents of k
    changed = range(p)
    for _ in range(max_iter):
        for k in changed:
            now = families.score(k, sorted(parents[k]))
            for i in np.flatnonzero(adjacency[k]).tolist():
                gain[i, k] = families.score(k, sorted(parents[k] ^ {i})) - now
        either = directed | directed.T
        # Kinds as in _climb: 0 add, 1 remove, 2 reverse.
        moves = np.stack([np.where(either, 0.0, gain), *np.where(directed, (gain, gain + gain.T), 0.0)])
        kind, i, k = _best_move(moves, directed)
        if kind < 0:
            break
        changed = (k,) if kind < 2 else (k, i)
        parents[k] ^= {i}
        directed[i, k] = kind == 0
        if kind == 2:
            parents[i].add(k)
            directed[k, i] = True
    return DAG.from_parents([sorted(those) for those in parents])


def _best_move(moves, directed):
    """The change of the largest gain that closes no cycle; the kind -1 if none gains. `moves` is used up."""
    while True:
        kind, i, k = (int(v) for v in np.unravel_index(np.argmin(moves), moves.shape))
        if moves[kind, i, k] >= -GAIN:
            return -1, i, k
        if kind == 1 or not (_leads(directed, k, i, False) if kind == 0 else _leads(directed, i, k, True)):
            return kind, i, k
        moves[kind, i, k] = 0.0


class _Flat(NamedTuple):
    """Candidates and scores of all nodes in a row, and the bit of each ordered pair (-1 for none)."""

    starts: np.ndarray
    values: np.ndarray
    edges: np.ndarray
    bit: np.ndarray


def _flatten(scores):
    starts = np.concatenate([[0], np.cumsum([len(values) for values in scores.values])])
    bit = np.full((scores.n_nodes, scores.n_nodes), -1, dtype=np.int64)
    for child, candidates in enumerate(scores.candidates):
        bit[candidates, child] = np.arange(len(candidates))
    return _Flat(starts, np.concatenate(scores.values), np.argwhere(bit >= 0), bit)


def _acyclic(matrix):
    left = np.ones(len(matrix), dtype=bool)
    while left.any():
        free = left & ~(matrix & left[:, None]).any(axis=0)
        if not free.any():
            return False
        left &= ~free
    return True


@njit(cache=True)
def _leads(adjacency, start, goal, skip):
    """Whether a directed path leads from `start` to `goal`, without the single edge start -> goal if `skip`."""
    p = len(adjacency)
    seen, stack = np.zeros(p, dtype=np.bool_), np.empty(p, dtype=np.int64)
    stack[0], size = start, 1
    seen[start] = True
    while size:
        size -= 1
        node = stack[size]
        for child in range(p):
            if adjacency[node, child] and not (skip and node == start and child == goal):
                if child == goal:
                    return True
                if not seen[child]:
                    seen[child] = True
                    stack[size] = child
                    size += 1
    return False


@njit(cache=True)
def _change(flat, masks, parent, child, other):
    """Change of the score when the edge is toggled, and with `other` when the opposite edge is toggled too."""
    at = flat.starts[child]
    mask = masks[child]
    gain = flat.values[at + (mask ^ (1 << flat.bit[parent, child]))] - flat.values[at + mask]
    if other:
        at, mask = flat.starts[parent], masks[parent]
        gain += flat.values[at + (mask ^ (1 << flat.bit[child, parent]))] - flat.values[at + mask]
    return gain


@njit(cache=True)
def _climb(flat, masks, max_iter):
    """Best improvement until there is none; `masks` is changed in place. Kinds: 0 add, 1 remove, 2 reverse."""
    p = len(masks)
    adjacency = np.zeros((p, p), dtype=np.bool_)
    for e in range(len(flat.edges)):
        i, k = flat.edges[e]
        adjacency[i, k] = masks[k] >> flat.bit[i, k] & 1
    for step in range(max_iter):
        best, kind, at = -GAIN, -1, -1
        for e in range(len(flat.edges)):
            i, k = flat.edges[e]
            if adjacency[i, k]:
                gain = _change(flat, masks, i, k, False)
                if gain < best:
                    best, kind, at = gain, 1, e
                if flat.bit[k, i] >= 0:
                    gain = _change(flat, masks, i, k, True)
                    if gain < best and not _leads(adjacency, i, k, True):
                        best, kind, at = gain, 2, e
            elif not adjacency[k, i]:
                gain = _change(flat, masks, i, k, False)
                if gain < best and not _leads(adjacency, k, i, False):
                    best, kind, at = gain, 0, e
        if kind < 0:
            return step
        i, k = flat.edges[at]
        masks[k] ^= 1 << flat.bit[i, k]
        adjacency[i, k] = kind == 0
        if kind == 2:
            masks[i] ^= 1 << flat.bit[k, i]
            adjacency[k, i] = True
    return max_iter
