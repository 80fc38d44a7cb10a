"""Scores of discrete structures: family counts, K2, BDeu and BIC, and the best DAG by dynamic programming over subsets.

All three scores of a family (node i, parent set S) split into a term of the set S with i, and terms of S alone,

    score(i, S) = A(S + i) + B_r(S),

because the counts N_ijk are the cell counts of S + i and N_ij those of S (Silander and Myllymaki 2006). The table of
all families therefore needs one contingency table for each *set*, not one for each family.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit
from scipy.special import gammaln

from learnable.graphs.dags import DAG
from learnable.graphs.discrete import LARGEST_TABLE, as_dag, check_codes
from learnable.validation import Result, check_choice, check_real_array, check_scalar

__all__ = ["SubsetSearch", "best_dag", "family_counts", "local_score", "network_score", "subset_scores"]

KINDS = ("k2", "bdeu", "bic")
LARGEST_SUBSET_SEARCH = 22


@dataclass(frozen=True, eq=False)
class SubsetSearch(Result):
    """What `best_dag` returns.

    Attributes
    ----------
    dag : DAG
        A structure of the highest score.
    score : float
        Its score.
    order : tuple of int
        An order of the nodes in which parents come first.
    """

    dag: DAG
    score: float
    order: tuple


def family_counts(data, node, parents, n_states=None):
    """Counts N_ijk of a node's states for each configuration of its parents. Cost O(n |parents| + table).

    Parameters
    ----------
    data : array-like of int of shape (n, N)
        Codes of states.
    node : int
        The column i.
    parents : iterable of int
        Other columns; the axes stand in increasing order.
    n_states : int or sequence of int, optional
        Number of states; by default one more than the largest code.

    Returns
    -------
    ndarray of int64
        One axis for each parent, and the states of the node last: the layout of a network's table.

    Examples
    --------
    >>> family_counts([[0, 1], [0, 1], [1, 0]], 1, [0])
    array([[0, 2],
           [1, 0]])
    """
    data, r, node, parents = _family(data, node, parents, n_states)
    shape = tuple(r[p] for p in parents) + (r[node],)
    if math.prod(shape) > LARGEST_TABLE:
        raise ValueError(f"parents: a table of {math.prod(shape)} cells is too large; local_score needs no table")
    code = np.zeros(len(data), dtype=np.int64)
    for column in (*parents, node):
        code = code * r[column] + data[:, column]
    return np.bincount(code, minlength=math.prod(shape)).reshape(shape)


def local_score(data, node, parents, n_states=None, kind="k2", equivalent_sample_size=1.0):
    """Score of one family: log marginal likelihood of a node's column given those of its parents, or BIC.

    With Dirichlet parameters a_ijk (K2: 1; BDeu: ess / (r_i q_i)) and sums a_ij, N_ij over the states,

        sum_j [ lgamma(a_ij) - lgamma(a_ij + N_ij) + sum_k ( lgamma(a_ijk + N_ijk) - lgamma(a_ijk) ) ];

    configurations j without rows add zero, so only those that occur are visited, however many there could be. BIC is
    the maximised log likelihood minus log(n) / 2 for each of the q_i (r_i - 1) parameters.

    Parameters
    ----------
    data : array-like of int of shape (n, N)
        Codes of states.
    node : int
        The column i.
    parents : iterable of int
        Its parents.
    n_states : int or sequence of int, optional
        Number of states; by default one more than the largest code. A state that never occurs still counts in the
        prior.
    kind : {"k2", "bdeu", "bic"}, default="k2"
        The score.
    equivalent_sample_size : float, default=1.0
        The ess of BDeu.

    Returns
    -------
    float

    Notes
    -----
    Cooper and Herskovits 1992; Heckerman, Geiger and Chickering 1995. Cost O(n |parents|) with a sort when the
    configurations are many more than the rows.

    Examples
    --------
    >>> import math
    >>> data = [[0], [0], [1]]
    >>> math.isclose(local_score(data, 0, []), math.log(2 * 1 / 24))
    True
    """
    check_choice(kind, "kind", KINDS)
    ess = check_scalar(equivalent_sample_size, "equivalent_sample_size", low=0, closed="neither")
    data, r, node, parents = _family(data, node, parents, n_states)
    code, cells, q = _occurring(data, parents, r)
    counts = np.bincount(code * r[node] + data[:, node], minlength=cells * r[node]).reshape(cells, r[node])
    return _score_of_counts(counts, q, len(data), kind, ess)


def network_score(data, dag, n_states=None, kind="k2", equivalent_sample_size=1.0):
    """Score of a structure: the sum of the scores of its families.

    For K2 and BDeu this is the log marginal likelihood log P(D | S).

    Parameters
    ----------
    data : array-like of int of shape (n, N)
        Codes of states.
    dag : DAG or array-like of bool of shape (N, N)
        The structure.
    n_states : int or sequence of int, optional
        Number of states; by default one more than the largest code.
    kind : {"k2", "bdeu", "bic"}, default="k2"
        The score.
    equivalent_sample_size : float, default=1.0
        The ess of BDeu.

    Returns
    -------
    float

    Examples
    --------
    >>> data = [[0, 0], [1, 1]] * 10
    >>> bool(network_score(data, [[0, 1], [0, 0]]) > network_score(data, [[0, 0], [0, 0]]))
    True
    """
    data, r = check_codes(data, n_states)
    dag = as_dag(dag)
    if dag.n_nodes != data.shape[1]:
        raise ValueError(f"dag has {dag.n_nodes} nodes and data {data.shape[1]} columns")
    arguments = (r, kind, equivalent_sample_size)
    return float(sum(local_score(data, i, dag.parents(i), *arguments) for i in range(dag.n_nodes)))


def subset_scores(data, n_states=None, kind="k2", max_parents=None, equivalent_sample_size=1.0):
    """Local scores of every family as a table: entry (i, S) is the score of node i with the parents in the bit set S.

    Parameters
    ----------
    data : array-like of int of shape (n, N)
        Codes of states, at most 22 columns.
    n_states : int or sequence of int, optional
        Number of states; by default one more than the largest code.
    kind : {"k2", "bdeu", "bic"}, default="k2"
        The score.
    max_parents : int, optional
        Larger sets get minus infinity; by default no bound.
    equivalent_sample_size : float, default=1.0
        The ess of BDeu.

    Returns
    -------
    ndarray of shape (N, 2^N)
        Minus infinity where S contains i or is too large.

    Notes
    -----
    One contingency table for each of the sets, found by refining that of the set without its last member. Rows that are
    alone in their cell are set aside, since no further column splits them. Cost at most O(n) for each set, and memory
    8 N 2^N bytes: 0.17 GB for 20 nodes.

    Examples
    --------
    >>> table = subset_scores([[0, 0], [1, 1], [1, 1], [0, 0]])
    >>> bool(np.isclose(table[1, 0b01], local_score([[0, 0], [1, 1], [1, 1], [0, 0]], 1, [0])))
    True
    """
    check_choice(kind, "kind", KINDS)
    ess = check_scalar(equivalent_sample_size, "equivalent_sample_size", low=0, closed="neither")
    data, r = check_codes(data, n_states)
    n, p = data.shape
    _check_size(p, "data")
    bound = p if max_parents is None else min(check_scalar(max_parents, "max_parents", low=0, integer=True), p)
    distinct, place = np.unique(np.array(r, dtype=np.int64), return_inverse=True)
    setting = _Setting(KINDS.index(kind), ess, distinct, place, np.array(r, dtype=np.int64), _tables(n, distinct, kind))
    A = np.zeros(2**p)
    B = np.zeros((len(distinct), 2**p))
    _set_terms(np.ascontiguousarray(data.T), bound, setting, A, B)
    return _assemble(A, B, place, bound)


def best_dag(scores):
    """A DAG of the highest score over all structures, by dynamic programming over subsets.

    Silander and Myllymaki 2006. For every set of nodes the best network on it has a last node, whose parents are the
    best among the others; so R(W) = max over i in W of R(W - i) + best_i(W - i). Exact, and independent of any order.

    Parameters
    ----------
    scores : array-like of shape (N, 2^N), or sequence of mappings
        The table of `subset_scores`, or for each node a mapping from tuples of parents to scores (sets that are missing
        are not allowed). At most 22 nodes.

    Returns
    -------
    SubsetSearch

    Notes
    -----
    Cost O(N^2 2^N) comparisons and 8 N 2^N bytes beside the scores.

    Examples
    --------
    >>> found = best_dag([{(): -3.0, (1,): -1.0}, {(): -2.0, (0,): -1.5}])
    >>> found.dag.edges, found.score
    (((1, 0),), -3.0)
    """
    table = _score_table(scores)
    p = len(table)
    best = np.array(table.T, order="C")  # a copy, also of a table by columns
    value = np.full(2**p, -np.inf)
    sink = np.zeros(2**p, dtype=np.int8)
    _subset_search(best, value, sink)
    if not value[-1] > -np.inf:
        raise ValueError("scores allow no acyclic structure: every node needs at least one set with a finite score")
    parents, order, left = [()] * p, [], 2**p - 1
    while left:
        i = int(sink[left])
        left ^= 1 << i
        parents[i] = _members(_best_within(table[i], left))
        order.append(i)
    return SubsetSearch(DAG.from_parents(parents), float(value[-1]), tuple(order[::-1]))


def _family(data, node, parents, n_states):
    data, r = check_codes(data, n_states)
    last = data.shape[1] - 1
    node = check_scalar(node, "node", low=0, high=last, integer=True)
    parents = tuple(sorted(check_scalar(p, "parents", low=0, high=last, integer=True) for p in parents))
    if node in parents or len(set(parents)) != len(parents):
        raise ValueError(f"parents must be distinct and not contain node {node}, got {parents}")
    return data, r, node, parents


def _occurring(data, parents, r):
    """Cells of the parents' configurations for each row, compact where many could occur; their number; and q."""
    code, cells = np.zeros(len(data), dtype=np.int64), 1
    for p in parents:
        code, cells = code * r[p] + data[:, p], cells * r[p]
        if cells > 4 * len(data) + 64:
            found, code = np.unique(code, return_inverse=True)
            cells = max(len(found), 1)
    return code, cells, math.prod(r[p] for p in parents)


def _score_of_counts(counts, q, n, kind, ess):
    """Score of a table of counts (configurations, states); q is the number of configurations that could occur."""
    total, r = counts.sum(axis=1), counts.shape[1]
    if kind == "bic":
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(counts > 0, counts * np.log(counts / total[:, None]), 0.0)
        return float(terms.sum() - 0.5 * math.log(max(n, 1)) * q * (r - 1))
    a = 1.0 if kind == "k2" else ess / (r * q)
    used = total > 0
    gain = gammaln(a + counts[used]) - gammaln(a)
    return float(gain.sum() + (gammaln(r * a) - gammaln(r * a + total[used])).sum())


def _check_size(p, name):
    if not 1 <= p <= LARGEST_SUBSET_SEARCH:
        raise ValueError(
            f"{name} must have between 1 and {LARGEST_SUBSET_SEARCH} nodes for the table of subsets, got {p}"
        )


def _score_table(scores):
    if isinstance(scores, list | tuple) and scores and all(isinstance(s, Mapping) for s in scores):
        p = len(scores)
        _check_size(p, "scores")
        table = np.full((p, 2**p), -np.inf)
        for i, entry in enumerate(scores):
            for parents, score in entry.items():
                if not isinstance(parents, tuple):
                    raise ValueError(f"scores[{i}] must map tuples of parents to scores, got the key {parents!r}")
                members = {check_scalar(v, f"scores[{i}]", low=0, high=p - 1, integer=True) for v in parents}
                if i in members:
                    raise ValueError(f"scores[{i}] must not name node {i} as its own parent")
                table[i, sum(1 << v for v in members)] = check_real_array(score, f"scores[{i}]")
    else:
        table = check_real_array(scores, "scores")
        _check_size(len(table) if table.ndim == 2 else 0, "scores")
        if table.shape[1] != 2 ** len(table):
            raise ValueError(f"scores must have shape (N, 2^N), got {table.shape}")
    if np.isnan(table).any() or (table == np.inf).any():
        raise ValueError("scores must be numbers or minus infinity")
    own = (np.arange(table.shape[1])[None, :] >> np.arange(len(table))[:, None]) & 1 == 1
    if (table[own] > -np.inf).any():
        raise ValueError("scores must be minus infinity where the set contains the node itself")
    return table


def _members(mask):
    return tuple(v for v in range(mask.bit_length()) if mask >> v & 1)


class _Setting(NamedTuple):
    """How cells turn into scores: kind, ess, the distinct numbers of states and which node has which, and tables."""

    kind: int
    ess: float
    distinct: np.ndarray
    place: np.ndarray
    n_states: np.ndarray
    tables: np.ndarray


def _tables(n, distinct, kind):
    """Row 0: the term of a cell of S + i with N rows; row 1 + d: that of a cell of S for distinct[d] states."""
    N = np.arange(n + 1, dtype=float)
    if kind == "k2":
        return np.array([gammaln(1 + N), *(gammaln(r) - gammaln(r + N) for r in distinct)])
    entropy = N * np.log(np.maximum(N, 1))
    return np.array([entropy, *(-entropy for _ in distinct)])


@njit(cache=True)
def _split(x, r, rows, starts, out_rows, out_starts):
    """Refine cells of rows by a column, dropping cells of one row; the numbers of cells and of dropped rows."""
    counts = np.zeros(r + 1, dtype=np.int64)
    cells, filled, dropped = 0, 0, 0
    out_starts[0] = 0
    for c in range(len(starts) - 1):
        counts[:] = 0
        for a in range(starts[c], starts[c + 1]):
            counts[x[rows[a]]] += 1
        for k in range(r):
            size = counts[k]
            if size >= 2:
                counts[k] = filled
                filled += size
                cells += 1
                out_starts[cells] = filled
            else:
                dropped += size
                counts[k] = -1
        for a in range(starts[c], starts[c + 1]):
            k = x[rows[a]]
            if counts[k] >= 0:
                out_rows[counts[k]] = rows[a]
                counts[k] += 1
    return cells, dropped


@njit(cache=True)
def _terms(starts, cells, alone, q, n, setting, A, B, mask):
    """A and B of one set from the sizes of its cells; `alone` rows are the only ones of their cell."""
    if setting.kind == 1:
        a = setting.ess / q
        inside, whole = alone * (math.lgamma(a + 1.0) - math.lgamma(a)), 0.0
        for c in range(cells):
            inside += math.lgamma(a + starts[c + 1] - starts[c]) - math.lgamma(a)
        whole = -inside  # with a = ess / q_S the terms of S alone are those of S + i with the opposite sign
        A[mask] = inside
        for d in range(len(B)):
            B[d, mask] = whole
        return
    inside = alone * setting.tables[0, 1]
    for c in range(cells):
        inside += setting.tables[0, starts[c + 1] - starts[c]]
    A[mask] = inside
    for d in range(len(B)):
        total = alone * setting.tables[1 + d, 1]
        for c in range(cells):
            total += setting.tables[1 + d, starts[c + 1] - starts[c]]
        if setting.kind == 2:
            total -= 0.5 * math.log(max(n, 1)) * q * (setting.distinct[d] - 1)
        B[d, mask] = total


@njit(cache=True)
def _set_terms(columns, bound, setting, A, B):
    """A(W) and B_r(W) for all sets of at most bound + 1 columns, depth first; a set is refined from its prefix."""
    p, n = columns.shape
    depth_limit = min(bound + 1, p)
    rows = np.empty((depth_limit + 1, n), dtype=np.int32)
    starts = np.zeros((depth_limit + 1, n + 2), dtype=np.int64)
    cells = np.zeros(depth_limit + 1, dtype=np.int64)
    alone = np.zeros(depth_limit + 1, dtype=np.int64)
    size = np.ones(depth_limit + 1)
    member = np.full(depth_limit + 1, -1, dtype=np.int64)
    for a in range(n):
        rows[0, a] = a
    cells[0] = 1 if n >= 2 else 0
    alone[0] = 1 if n == 1 else 0
    starts[0, 1] = n
    _terms(starts[0], cells[0], alone[0], 1.0, n, setting, A, B, 0)
    depth, mask, following = 0, 0, 0
    while True:
        if depth < depth_limit and following < p:
            v = following
            made, dropped = _split(
                columns[v],
                setting.n_states[v],
                rows[depth],
                starts[depth, : cells[depth] + 1],
                rows[depth + 1],
                starts[depth + 1],
            )
            cells[depth + 1], alone[depth + 1] = made, alone[depth] + dropped
            size[depth + 1] = size[depth] * setting.n_states[v]
            depth += 1
            member[depth] = v
            mask |= 1 << v
            _terms(starts[depth], made, alone[depth], size[depth], n, setting, A, B, mask)
            following = v + 1
        elif depth > 0:
            following = member[depth] + 1
            mask ^= 1 << member[depth]
            depth -= 1
        else:
            return


@njit(cache=True)
def _assemble(A, B, place, bound):
    p = len(place)
    out = np.full((p, len(A)), -np.inf)
    for i in range(p):
        own = 1 << i
        for mask in range(len(A)):
            if mask & own == 0 and _bits(mask) <= bound:
                out[i, mask] = A[mask | own] + B[place[i], mask]
    return out


@njit(cache=True)
def _bits(mask):
    found = 0
    while mask:
        mask &= mask - 1
        found += 1
    return found


@njit(cache=True)
def _subset_search(best, value, sink):
    """Turn best[S, i] into the best score of i with parents inside S, and fill value[W] and the last node of W."""
    size, p = best.shape
    value[0] = 0.0
    for S in range(size):
        for v in range(p):
            if S >> v & 1:
                smaller = S ^ (1 << v)
                for i in range(p):
                    if best[smaller, i] > best[S, i]:
                        best[S, i] = best[smaller, i]
                if value[smaller] + best[smaller, v] > value[S]:
                    value[S] = value[smaller] + best[smaller, v]
                    sink[S] = v


@njit(cache=True)
def _best_within(row, allowed):
    """The set inside `allowed` of the highest score, the smallest of equal ones."""
    best, at, mask = row[0], 0, allowed
    while mask:
        if row[mask] > best or (row[mask] == best and (_bits(mask) < _bits(at))):
            best, at = row[mask], mask
        mask = (mask - 1) & allowed
    return at
