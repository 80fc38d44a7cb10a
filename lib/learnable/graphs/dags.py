"""Directed acyclic graphs, d-separation, and what two of them have in common.

A DAG on nodes 0, ..., p - 1 is its adjacency matrix, ``adjacency[i, j]`` for the edge i -> j; an instance never
changes, so that neighbours, orders and bit sets are computed once. Separation is decided by the Bayes ball in
compiled code: a walk over (node, direction), linear in the number of nodes and edges that it meets.

Sources: Pearl 2000, Sec. 1.2 (d-separation); Verma and Pearl 1990 (equivalence); Colombo and Maathuis 2014, Sec. 2.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from learnable.datasets import graphical
from learnable.graphs._walks import Lists, colliders, reachable, separated, topological_order
from learnable.validation import check_has, check_rng, check_scalar

__all__ = [
    "DAG",
    "d_separated",
    "d_separated_many",
    "markov_equivalent",
    "moral_graph",
    "random_dag",
    "skeleton",
    "v_structures",
]


class DAG:
    """A directed acyclic graph; it is hashable and cannot be changed.

    Parameters
    ----------
    adjacency : array-like of bool, or of zeros and ones, of shape (p, p)
        ``adjacency[i, j]`` is the edge i -> j. Cycles and self loops are refused. O(p^2).

    Examples
    --------
    >>> dag = DAG([[0, 1, 1], [0, 0, 1], [0, 0, 0]])
    >>> dag.edges, dag.parents(2), dag.topological_order.tolist()
    (((0, 1), (0, 2), (1, 2)), (0, 1), [0, 1, 2])
    >>> DAG([[0, 1], [1, 0]])
    Traceback (most recent call last):
    ...
    ValueError: adjacency must have no cycle, but has 0 -> 1 -> 0
    """

    def __init__(self, adjacency):
        matrix = _square_bool(adjacency, "adjacency")
        loops = np.flatnonzero(np.diagonal(matrix))
        if len(loops):
            raise ValueError(f"adjacency must have no self loop, but has {loops[0]} -> {loops[0]}")
        lists = _lists(matrix)
        order = topological_order(lists)
        if len(order) < len(matrix):
            cycle = _some_cycle(lists, order)
            raise ValueError(f"adjacency must have no cycle, but has {' -> '.join(map(str, cycle))}")
        self._matrix, self._lists, self._order = matrix, lists, order
        for array in (matrix, order, *lists):
            array.setflags(write=False)

    @classmethod
    def from_edges(cls, n_nodes, edges):
        """The DAG with the given edges.

        Parameters
        ----------
        n_nodes : int
        edges : iterable of pairs (i, j)
            For i -> j.

        Examples
        --------
        >>> DAG.from_edges(3, [(0, 2), (1, 2)]).parents(2)
        (0, 1)
        """
        p = check_scalar(n_nodes, "n_nodes", low=0, integer=True)
        matrix = np.zeros((p, p), dtype=bool)
        for edge in _iterable(edges, "edges"):
            try:
                i, j = edge
            except (TypeError, ValueError):
                raise ValueError(f"edges must be pairs (i, j), got {edge!r}") from None
            matrix[_node(i, p, "edges"), _node(j, p, "edges")] = True
        return cls(matrix)

    @classmethod
    def from_parents(cls, parents):
        """The DAG in which node i has the parents ``parents[i]``.

        Parameters
        ----------
        parents : sequence of iterables of int

        Examples
        --------
        >>> DAG.from_parents([[], [0], [0, 1]]).edges
        ((0, 1), (0, 2), (1, 2))
        """
        parents = [list(_iterable(of, "parents")) for of in _iterable(parents, "parents")]
        p = len(parents)
        matrix = np.zeros((p, p), dtype=bool)
        for i, of in enumerate(parents):
            for j in of:
                matrix[_node(j, p, "parents"), i] = True
        return cls(matrix)

    @classmethod
    def from_networkx(cls, graph):
        """The DAG of a networkx ``DiGraph``, whose nodes are taken in their sorted order if they can be sorted.

        Parameters
        ----------
        graph : networkx.DiGraph
        """
        check_has(graph, "graph", "nodes edges is_directed", "a networkx.DiGraph")
        if not graph.is_directed():
            raise ValueError("graph must be directed, got an undirected networkx graph")
        try:
            nodes = sorted(graph.nodes)
        except TypeError:
            nodes = list(graph.nodes)
        place = {node: i for i, node in enumerate(nodes)}
        return cls.from_edges(len(nodes), [(place[edge[0]], place[edge[1]]) for edge in graph.edges])

    def to_networkx(self):
        """The same graph as a networkx ``DiGraph`` on 0, ..., p - 1."""
        import networkx

        graph = networkx.DiGraph()
        graph.add_nodes_from(range(self.n_nodes))
        graph.add_edges_from(self.edges)
        return graph

    @property
    def adjacency(self):
        """The adjacency matrix, read-only."""
        return self._matrix

    @property
    def n_nodes(self):
        """The number of nodes p."""
        return len(self._matrix)

    @property
    def topological_order(self):
        """All nodes such that parents come before their children; read-only."""
        return self._order

    @cached_property
    def edges(self):
        """The edges as pairs (i, j), sorted."""
        return tuple(map(tuple, np.argwhere(self._matrix).tolist()))

    @cached_property
    def parent_words(self):
        """uint64 (p, ceil(p/64)): bit j % 64 of word j // 64 in row i is set if j -> i; read-only."""
        return _words(self._matrix.T)

    @cached_property
    def child_words(self):
        """uint64 (p, ceil(p/64)): bit j % 64 of word j // 64 in row i is set if i -> j; read-only."""
        return _words(self._matrix)

    def parents(self, i):
        """The parents of node i, sorted."""
        i, lists = _node(i, self.n_nodes, "i"), self._lists
        return tuple(lists.parents[lists.parent_starts[i] : lists.parent_starts[i + 1]].tolist())

    def children(self, i):
        """The children of node i, sorted."""
        i, lists = _node(i, self.n_nodes, "i"), self._lists
        return tuple(lists.children[lists.child_starts[i] : lists.child_starts[i + 1]].tolist())

    def ancestors(self, nodes):
        """The nodes from which a directed path of one or more edges leads to one of `nodes`. O(p + |E|)."""
        nodes, lists = _nodes(nodes, self.n_nodes, "nodes"), self._lists
        return frozenset(reachable(nodes, lists.parent_starts, lists.parents).tolist())

    def descendants(self, nodes):
        """The nodes to which a directed path of at least one edge leads from one of `nodes`, a frozenset."""
        nodes, lists = _nodes(nodes, self.n_nodes, "nodes"), self._lists
        return frozenset(reachable(nodes, lists.child_starts, lists.children).tolist())

    def __eq__(self, other):
        return isinstance(other, DAG) and np.array_equal(self._matrix, other._matrix)

    def __hash__(self):
        return hash((self.n_nodes, np.packbits(self._matrix).tobytes()))

    def __reduce__(self):
        return DAG, (np.array(self._matrix),)

    def __repr__(self):
        shown = ", ".join(f"{i} -> {j}" for i, j in self.edges[:6]) + (", ..." if len(self.edges) > 6 else "")
        return f"DAG({self.n_nodes} nodes, {len(self.edges)} edges{': ' if shown else ''}{shown})"


def d_separated(dag, x, y, given=()):
    """Whether `given` blocks every path between `x` and `y` (Pearl 2000, Def. 1.2.3).

    A path is blocked by a chain or fork whose middle node is given, or by a collider i -> j <- k of which neither j
    nor a descendant is given. O(p + |E|).

    Parameters
    ----------
    dag : DAG
    x, y : int or iterable of int
        Disjoint, not empty, and disjoint from `given`.
    given : int or iterable of int, default=()

    Returns
    -------
    bool

    Examples
    --------
    >>> collider = DAG.from_edges(3, [(0, 2), (1, 2)])
    >>> d_separated(collider, 0, 1), d_separated(collider, 0, 1, 2)
    (True, False)
    """
    return bool(d_separated_many(dag, [(x, y, given)])[0])


def d_separated_many(dag, queries):
    """Answer many queries about one graph at once, in compiled code.

    Parameters
    ----------
    dag : DAG
    queries : ndarray of int of shape (m, 2 + k), or sequence of (x, y) or (x, y, given)
        An array has x and y in its first two columns and the nodes of the conditioning set in the others, with -1
        for no node: the fastest form. In a sequence each part is a node or an iterable of nodes.

    Returns
    -------
    ndarray of bool of shape (m,)
        Whether x and y are d-separated, query by query.

    Examples
    --------
    >>> chain = DAG.from_edges(3, [(0, 1), (1, 2)])
    >>> d_separated_many(chain, np.array([[0, 2, -1], [0, 2, 1]])).tolist()
    [False, True]
    """
    check_has(dag, "dag", "_lists n_nodes", "a DAG")
    p = dag.n_nodes
    if isinstance(queries, np.ndarray):
        rows = _query_array(queries, p)
        width = rows.shape[1]
        base = np.arange(len(rows), dtype=np.int64)[:, None] * width
        starts = np.append((base + np.array([0, 1, 2])).ravel(), len(rows) * width)
        return separated(dag._lists, starts, rows.ravel())
    starts, flat = [0], []
    for query in _iterable(queries, "queries"):
        for part in _query(query, p):
            flat.extend(part)
            starts.append(len(flat))
    return separated(dag._lists, np.array(starts, dtype=np.int64), np.array(flat, dtype=np.int64))


def moral_graph(dag):
    """The moral graph: edges without direction, and an edge between any two parents of one node. O(p^3) by BLAS.

    Parameters
    ----------
    dag : DAG

    Returns
    -------
    ndarray of bool of shape (p, p)
        Symmetric, with an empty diagonal.

    Examples
    --------
    >>> moral_graph(DAG.from_edges(3, [(0, 2), (1, 2)])).astype(int).tolist()
    [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    """
    check_has(dag, "dag", "_lists adjacency", "a DAG")
    A = dag.adjacency.astype(np.float32)
    moral = dag.adjacency | dag.adjacency.T | (A @ A.T > 0)
    np.fill_diagonal(moral, False)
    return moral


def skeleton(graph):
    """Which pairs of nodes are adjacent, whatever the direction.

    Parameters
    ----------
    graph : DAG, MixedGraph, or array-like of bool of shape (p, p)

    Returns
    -------
    ndarray of bool of shape (p, p)
        Symmetric.

    Examples
    --------
    >>> skeleton(DAG.from_edges(2, [(0, 1)])).astype(int).tolist()
    [[0, 1], [1, 0]]
    """
    A = graph.adjacency if hasattr(graph, "adjacency") else _square_bool(graph, "graph")
    return A | A.T


def v_structures(dag):
    """The unshielded colliders i -> j <- k, as sorted triples (i, j, k) with i < k.

    Parameters
    ----------
    dag : DAG

    Returns
    -------
    tuple of tuple of int

    Examples
    --------
    >>> v_structures(DAG.from_edges(4, [(0, 2), (1, 2), (2, 3), (0, 3)]))
    ((0, 2, 1),)
    """
    check_has(dag, "dag", "_lists adjacency", "a DAG")
    return tuple(map(tuple, colliders(dag._lists, skeleton(dag)).tolist()))


def markov_equivalent(g, h):
    """Whether two DAGs imply the same independences: same skeleton, same v-structures (Verma and Pearl 1990).

    Parameters
    ----------
    g, h : DAG
        On the same nodes.

    Examples
    --------
    >>> chain, fork = DAG.from_edges(3, [(0, 1), (1, 2)]), DAG.from_edges(3, [(1, 0), (1, 2)])
    >>> markov_equivalent(chain, fork), markov_equivalent(chain, DAG.from_edges(3, [(0, 1), (2, 1)]))
    (True, False)
    """
    for name, dag in (("g", g), ("h", h)):
        check_has(dag, name, "_lists adjacency", "a DAG")
    if g.n_nodes != h.n_nodes:
        raise ValueError(f"g and h must have the same nodes, got {g.n_nodes} and {h.n_nodes}")
    return np.array_equal(skeleton(g), skeleton(h)) and v_structures(g) == v_structures(h)


def random_dag(n_nodes, n_neighbors, random_state=None):
    """A random DAG: each pair is joined with probability n_neighbors/(p - 1), forward in a random order of the nodes.

    Parameters
    ----------
    n_nodes : int
        p, at least 1.
    n_neighbors : float
        The expected number of neighbours of a node, at most p - 1 (E(N) in Colombo and Maathuis 2014, Sec. 5.1).
    random_state : None, int or numpy.random.Generator
        Draws the order and the edges.

    Returns
    -------
    DAG

    Examples
    --------
    >>> random_dag(4, 3, random_state=0).n_nodes, len(random_dag(4, 3, random_state=0).edges)
    (4, 6)
    """
    p = check_scalar(n_nodes, "n_nodes", low=1, high=50_000, integer=True)
    degree = check_scalar(n_neighbors, "n_neighbors", low=0, high=max(p - 1, 0))
    rng = check_rng(random_state)
    order = rng.permutation(p)
    forward, _ = graphical.random_dag(p, degree, shuffle=False, random_state=rng)
    matrix = np.zeros((p, p), dtype=bool)
    matrix[np.ix_(order, order)] = forward
    return DAG(matrix)


def _square_bool(values, name):
    try:
        array = np.asarray(values)
        known = array.dtype.kind in "biuf" and bool(np.isin(array, (0, 1)).all())
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a square array of zeros and ones") from None
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise ValueError(f"{name} must be a square array of zeros and ones, got shape {array.shape}")
    if not known:
        raise ValueError(f"{name} must hold booleans, or zeros and ones only")
    return np.array(array, dtype=bool, order="C")


def _iterable(values, name):
    try:
        return iter(values)
    except TypeError:
        raise TypeError(f"{name} must be iterable, got {type(values).__name__}") from None


def _node(i, p, name):
    if isinstance(i, bool | np.bool_) or not isinstance(i, int | np.integer) or not 0 <= i < p:
        raise ValueError(f"{name} must name nodes 0, ..., {p - 1}, got {i!r}")
    return int(i)


def _nodes(nodes, p, name):
    if isinstance(nodes, int | np.integer) and not isinstance(nodes, bool | np.bool_):
        return np.array([_node(nodes, p, name)])
    return np.array(sorted({_node(i, p, name) for i in _iterable(nodes, name)}), dtype=np.int64)


def _query(query, p):
    try:
        x, y, given = query if len(query) == 3 else (*query, ())
    except (TypeError, ValueError):
        raise ValueError(f"queries must be tuples (x, y) or (x, y, given), got {query!r}") from None
    x, y, given = (_nodes(part, p, name).tolist() for part, name in ((x, "x"), (y, "y"), (given, "given")))
    if not x or not y:
        raise ValueError("x and y must not be empty")
    if set(x) & set(y) or (set(x) | set(y)) & set(given):
        raise ValueError("x, y and given must be disjoint")
    return x, y, given


def _query_array(queries, p):
    if queries.dtype.kind not in "iu" or queries.ndim != 2 or queries.shape[1] < 2:
        raise ValueError(f"queries must be integers of shape (m, 2 + k), got {queries.dtype} {queries.shape}")
    rows = np.ascontiguousarray(queries, dtype=np.int64)
    if rows.size and (rows.min() < -1 or rows.max() >= p or rows[:, :2].min() < 0):
        raise ValueError(f"queries must name nodes 0, ..., {p - 1} (or -1 for none in the conditioning set)")
    x, y, given = rows[:, :1], rows[:, 1:2], rows[:, 2:]
    if (x == y).any() or (given == x).any() or (given == y).any():
        raise ValueError("x, y and given must be disjoint")
    return rows


def _words(matrix):
    p = len(matrix)
    wide = np.zeros((p, 64 * -(-max(p, 1) // 64)), dtype=bool)
    wide[:, :p] = matrix
    words = np.packbits(wide, axis=1, bitorder="little").view("<u8").astype(np.uint64)
    words.setflags(write=False)
    return words


def _lists(matrix):
    child_starts, children = _rows(matrix)
    parent_starts, parents = _rows(np.ascontiguousarray(matrix.T))
    return Lists(parent_starts, parents, child_starts, children)


def _rows(matrix):
    starts = np.zeros(len(matrix) + 1, dtype=np.int64)
    np.cumsum(matrix.sum(axis=1), out=starts[1:])
    return starts, np.nonzero(matrix)[1].astype(np.int64)


def _some_cycle(lists, order):
    """A cycle among the nodes that no topological order reaches, as nodes of which the last is the first."""
    outside = np.ones(len(lists.parent_starts) - 1, dtype=bool)
    outside[order] = False
    walk = [int(np.flatnonzero(outside)[0])]
    while walk[-1] not in walk[:-1]:  # each of these nodes has a parent among them, so that the walk comes back
        start, end = lists.parent_starts[walk[-1]], lists.parent_starts[walk[-1] + 1]
        walk.append(int(next(j for j in lists.parents[start:end] if outside[j])))
    return walk[walk.index(walk[-1]) :][::-1]
