"""Graphs whose edges carry a mark at each end: equivalence classes of DAGs, and graphs with hidden variables.

``marks[i, j]`` is the mark *at j* on the edge between i and j: 0 no edge, 1 circle (unknown), 2 arrowhead, 3 tail. So
i -> j has ``marks[i, j] == 2`` and ``marks[j, i] == 3``, i - j two tails, i <-> j two arrowheads. A completed partially
directed graph (CPDAG) has directed edges where all DAGs of its Markov equivalence class agree, and undirected ones
elsewhere.

Sources: Chickering 1995 (CPDAG of a DAG); Dor and Tarsi 1992 (a DAG of a CPDAG); Zhang 2008 (marks).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numba import njit

from learnable.graphs.dags import DAG
from learnable.validation import check_finite_array, check_has, check_scalar

__all__ = [
    "MixedGraph",
    "cpdag",
    "draw_graph",
    "mark_distance",
    "pdag_to_dag",
    "structural_hamming_distance",
]

NONE, CIRCLE, ARROW, TAIL = 0, 1, 2, 3


class MixedGraph:
    """A graph with a mark at each end of each edge; it is hashable and cannot be changed.

    Parameters
    ----------
    marks : array-like of int of shape (p, p)
        ``marks[i, j]`` is the mark at j on the edge between i and j: 0 no edge, 1 circle, 2 arrowhead, 3 tail. Both
        ends of an edge have a mark, and the diagonal is empty.

    Examples
    --------
    >>> graph = MixedGraph([[0, 2, 0], [3, 0, 3], [0, 3, 0]])
    >>> graph.directed_edges, graph.undirected_edges
    (((0, 1),), ((1, 2),))
    >>> graph
    MixedGraph(3 nodes: 0 -> 1, 1 - 2)
    """

    def __init__(self, marks):
        try:
            array = np.asarray(marks)
            known = array.dtype.kind in "biuf" and bool(np.isin(array, (0, 1, 2, 3)).all())
        except (TypeError, ValueError):
            raise ValueError("marks must be a square array of 0, 1, 2 and 3") from None
        if array.ndim != 2 or array.shape[0] != array.shape[1] or not known:
            raise ValueError(f"marks must be a square array of 0, 1, 2 and 3, got {array.dtype} of {array.shape}")
        self._marks = np.array(array, dtype=np.int8, order="C")
        if np.diagonal(self._marks).any():
            raise ValueError("marks must have an empty diagonal: there are no self loops")
        lonely = np.argwhere((self._marks > 0) & (self._marks.T == 0))
        if len(lonely):
            i, j = lonely[0]
            raise ValueError(f"marks must hold both ends of an edge, but only marks[{i}, {j}] is set")
        self._marks.setflags(write=False)

    @classmethod
    def from_edges(cls, n_nodes, directed=(), undirected=(), bidirected=()):
        """The graph with the given edges.

        Parameters
        ----------
        n_nodes : int
        directed, undirected, bidirected : iterable of pairs (i, j)

        Examples
        --------
        >>> MixedGraph.from_edges(3, directed=[(0, 1)], bidirected=[(1, 2)])
        MixedGraph(3 nodes: 0 -> 1, 1 <-> 2)
        """
        p = check_scalar(n_nodes, "n_nodes", low=0, integer=True)
        marks = np.zeros((p, p), dtype=np.int8)
        for name, edges, here, there in (
            ("directed", directed, ARROW, TAIL),
            ("undirected", undirected, TAIL, TAIL),
            ("bidirected", bidirected, ARROW, ARROW),
        ):
            for edge in edges:
                i, j = (check_scalar(end, name, low=0, high=p - 1, integer=True) for end in edge)
                if i == j or marks[i, j]:
                    raise ValueError(f"{name} must have two ends, and a pair at most one edge, got {i}, {j}")
                marks[i, j], marks[j, i] = here, there
        return cls(marks)

    @classmethod
    def from_causal_learn(cls, array):
        """The graph of causal-learn's end points: -1 tail, 1 arrowhead, 2 circle, ``array[j, i]`` at j.

        Parameters
        ----------
        array : array-like of int of shape (p, p)

        Examples
        --------
        >>> MixedGraph.from_causal_learn([[0, -1], [1, 0]])
        MixedGraph(2 nodes: 0 -> 1)
        """
        array = np.asarray(array)
        if array.dtype.kind not in "iuf" or not np.isin(array, (-1, 0, 1, 2)).all():
            raise ValueError("array must hold the end points -1, 0, 1 and 2 of causal-learn")
        return cls(np.array([NONE, ARROW, CIRCLE, TAIL])[array.T.astype(int)])

    def to_causal_learn(self):
        """The end points as causal-learn has them, the inverse of `from_causal_learn`."""
        return np.array([0, 2, 1, -1])[self._marks.T]

    def to_networkx(self):
        """A networkx ``DiGraph``: one arc for i -> j, two for other edges; ``ends`` are the marks at i and at j."""
        import networkx

        graph = networkx.DiGraph()
        graph.add_nodes_from(range(self.n_nodes))
        for i, j in np.argwhere(self.adjacency).tolist():
            at_i, at_j = int(self._marks[j, i]), int(self._marks[i, j])
            if (at_i, at_j) != (ARROW, TAIL):
                graph.add_edge(i, j, ends=(at_i, at_j))
        return graph

    @property
    def marks(self):
        """The marks, read-only."""
        return self._marks

    @property
    def n_nodes(self):
        """The number of nodes p."""
        return len(self._marks)

    @cached_property
    def adjacency(self):
        """bool (p, p), symmetric: whether there is an edge; read-only."""
        adjacency = self._marks > 0
        adjacency.setflags(write=False)
        return adjacency

    @cached_property
    def directed_edges(self):
        """The edges i -> j as sorted pairs."""
        return _pairs((self._marks == ARROW) & (self._marks.T == TAIL))

    @cached_property
    def undirected_edges(self):
        """The edges i - j as sorted pairs with i < j."""
        return _pairs(np.triu((self._marks == TAIL) & (self._marks.T == TAIL)))

    @cached_property
    def bidirected_edges(self):
        """The edges i <-> j as sorted pairs with i < j."""
        return _pairs(np.triu((self._marks == ARROW) & (self._marks.T == ARROW)))

    def permuted(self, order):
        """The graph in which node i is node ``order[i]`` of this one.

        Parameters
        ----------
        order : array-like of int of shape (p,)
            A permutation of the nodes.
        """
        order = np.asarray(order)
        if not np.array_equal(np.sort(order), np.arange(self.n_nodes)):
            raise ValueError(f"order must be a permutation of the {self.n_nodes} nodes")
        return MixedGraph(self._marks[np.ix_(order, order)])

    def __eq__(self, other):
        return isinstance(other, MixedGraph) and np.array_equal(self._marks, other._marks)

    def __hash__(self):
        return hash((self.n_nodes, self._marks.tobytes()))

    def __reduce__(self):
        return MixedGraph, (np.array(self._marks),)

    def __repr__(self):
        left, right = {CIRCLE: "o", ARROW: "<", TAIL: ""}, {CIRCLE: "o", ARROW: ">", TAIL: ""}
        shown = []
        for i, j in np.argwhere(np.triu(self.adjacency)).tolist():
            if self._marks[j, i] == ARROW and self._marks[i, j] != ARROW:
                i, j = j, i
            shown.append(f"{i} {left[int(self._marks[j, i])]}-{right[int(self._marks[i, j])]} {j}")
        more = ", ..." if len(shown) > 8 else ""
        return f"MixedGraph({self.n_nodes} nodes{': ' if shown else ''}{', '.join(shown[:8])}{more})"


def cpdag(dag):
    """The completed partially directed graph that stands for the Markov equivalence class of a DAG.

    An edge is directed if all DAGs of the class agree on it. Chickering's labelling of the edges in a topological
    order; O(|E| d) for at most d parents.

    Parameters
    ----------
    dag : DAG

    Returns
    -------
    MixedGraph

    Examples
    --------
    >>> cpdag(DAG.from_edges(3, [(0, 1), (1, 2)]))
    MixedGraph(3 nodes: 0 - 1, 1 - 2)
    >>> cpdag(DAG.from_edges(4, [(0, 1), (2, 1), (1, 3)]))
    MixedGraph(4 nodes: 0 -> 1, 2 -> 1, 1 -> 3)
    """
    check_has(dag, "dag", "_lists adjacency topological_order", "a DAG")
    compelled = _compelled(dag._lists, dag.adjacency, dag.topological_order)
    marks = np.where(dag.adjacency | dag.adjacency.T, TAIL, NONE).astype(np.int8)
    marks[compelled] = ARROW
    return MixedGraph(marks)


def pdag_to_dag(graph):
    """A DAG with the skeleton and the v-structures of a partially directed graph: directed edges kept, no new collider.

    Dor and Tarsi 1992: take away, again and again, a node that can be a sink. O(p^2 d^2) at worst.

    Parameters
    ----------
    graph : MixedGraph
        With directed and undirected edges only.

    Returns
    -------
    DAG

    Raises
    ------
    ValueError
        There is no such DAG (an estimated graph may contain a cycle, or demand a new collider), or there are
        bidirected edges or circles.

    Examples
    --------
    >>> pdag_to_dag(MixedGraph.from_edges(3, undirected=[(0, 1), (1, 2)])).edges
    ((1, 0), (2, 1))
    """
    check_has(graph, "graph", "marks adjacency", "a MixedGraph")
    marks = graph.marks
    if (marks == CIRCLE).any() or len(graph.bidirected_edges):
        raise ValueError("graph must have directed and undirected edges only: bidirected edges and circles have no DAG")
    matrix, complete = _extension(marks)
    if not complete:
        raise ValueError("graph has no consistent extension: every DAG on it has a cycle or another v-structure")
    return DAG(matrix)


def structural_hamming_distance(g, h):
    """The number of pairs of nodes on whose edge two graphs differ: missing, added, or with another mark at an end.

    Parameters
    ----------
    g, h : MixedGraph or DAG
        On the same nodes.

    Returns
    -------
    int

    Examples
    --------
    >>> g = DAG.from_edges(3, [(0, 1), (1, 2)])
    >>> structural_hamming_distance(g, DAG.from_edges(3, [(1, 0)]))
    2
    """
    a, b = _both_marks(g, h)
    different = a != b
    return int(np.triu(different | different.T).sum())


def mark_distance(g, h):
    """The number of end marks in which two graphs differ: a missing edge counts 2, a reversed one too.

    Parameters
    ----------
    g, h : MixedGraph or DAG
        On the same nodes.

    Returns
    -------
    int

    Examples
    --------
    >>> mark_distance(MixedGraph([[0, 2], [1, 0]]), MixedGraph([[0, 2], [3, 0]]))
    1
    """
    a, b = _both_marks(g, h)
    return int((a != b).sum())


def draw_graph(graph, ax, positions=None, labels=None, highlight=None):
    """Draw a graph with its marks: arrowheads, circles, nothing for tails.

    Parameters
    ----------
    graph : DAG, MixedGraph, or symmetric array-like of bool of shape (p, p)
    ax : matplotlib.axes.Axes
        Its axes are switched off.
    positions : array-like of shape (p, 2), optional
        Where the nodes are; on a circle, clockwise from the top, by default.
    labels : sequence of str, optional
        Texts of the nodes; their numbers by default, nothing for ``""``.
    highlight : dict, optional
        {(i, j): colour} of edges to be drawn in another colour and thicker, in either order of the ends.

    Returns
    -------
    ndarray of shape (p, 2)
        The positions.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> draw_graph(DAG.from_edges(2, [(0, 1)]), Figure().add_subplot(), [[0, 0], [1, 0]]).tolist()
    [[0.0, 0.0], [1.0, 0.0]]
    """
    from matplotlib import rcParams
    from matplotlib.patches import Circle, FancyArrowPatch

    check_has(ax, "ax", "add_patch plot set_aspect", "matplotlib axes")
    marks = _any_marks(graph, "graph")
    p = len(marks)
    positions = _positions(positions, p)
    labels = [str(i) for i in range(p)] if labels is None else list(labels)
    if len(labels) != p:
        raise ValueError(f"labels must have one text for each of the {p} nodes, got {len(labels)}")
    highlight = {} if highlight is None else highlight
    if not isinstance(highlight, dict):
        raise TypeError(f"highlight must be a dict from edges to colours, got {type(highlight).__name__}")
    highlight = {frozenset(edge): colour for edge, colour in highlight.items()}
    radius, ink = _radius(positions), rcParams["text.color"]
    style = {(TAIL, TAIL): "-", (TAIL, ARROW): "-|>", (ARROW, ARROW): "<|-|>"}
    for i, j in np.argwhere(np.triu(marks > 0)).tolist():
        if marks[j, i] == ARROW and marks[i, j] != ARROW:
            i, j = j, i
        step = (positions[j] - positions[i]) / np.linalg.norm(positions[j] - positions[i])
        start, end = positions[i] + radius * step, positions[j] - radius * step
        ring = 0.56 * radius * step  # a circle takes the end of the line
        tip, tail = end - ring * (marks[i, j] == CIRCLE), start + ring * (marks[j, i] == CIRCLE)
        colour = highlight.get(frozenset((i, j)), ink)
        ends = tuple(TAIL if mark == CIRCLE else int(mark) for mark in (marks[j, i], marks[i, j]))
        width = 2.4 if frozenset((i, j)) in highlight else 1.2
        arrow = {"arrowstyle": style[ends], "mutation_scale": 12, "shrinkA": 0, "shrinkB": 0}
        ax.add_patch(FancyArrowPatch(tail, tip, color=colour, lw=width, zorder=1, **arrow))
        for mark, at, inward in ((marks[j, i], start, step), (marks[i, j], end, -step)):
            if mark == CIRCLE:
                centre = at + 0.28 * radius * inward
                ax.add_patch(Circle(centre, 0.28 * radius, fc=ax.get_facecolor(), ec=colour, zorder=2))
    for place, label in zip(positions, labels, strict=True):
        ax.add_patch(Circle(place, radius, fc=ax.get_facecolor(), ec=ink, lw=1.0, zorder=3))
        ax.text(*place, label, ha="center", va="center", zorder=4)
    low, high = positions.min(axis=0) - 1.6 * radius, positions.max(axis=0) + 1.6 * radius
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    ax.set_aspect("equal")
    ax.axis("off")
    return positions


def _pairs(matrix):
    return tuple(map(tuple, np.argwhere(matrix).tolist()))


def _any_marks(graph, name):
    if hasattr(graph, "marks"):
        return graph.marks
    if isinstance(graph, DAG):
        return np.where(graph.adjacency, ARROW, np.where(graph.adjacency.T, TAIL, NONE)).astype(np.int8)
    array = np.asarray(graph)
    if array.ndim != 2 or array.dtype.kind not in "biuf" or array.shape[0] != array.shape[1]:
        raise TypeError(f"{name} must be a DAG, a MixedGraph or a symmetric adjacency matrix")
    if not np.array_equal(array, array.T):
        raise ValueError(f"{name} must be a symmetric adjacency matrix; for directed edges make a DAG of it")
    return np.where(array != 0, TAIL, NONE).astype(np.int8)


def _both_marks(g, h):
    a, b = _any_marks(g, "g"), _any_marks(h, "h")
    if a.shape != b.shape:
        raise ValueError(f"g and h must have the same nodes, got {len(a)} and {len(b)}")
    return a, b


def _positions(positions, p):
    if positions is None:
        angle = np.pi / 2 - 2 * np.pi * np.arange(p) / max(p, 1)
        return np.column_stack([np.cos(angle), np.sin(angle)])
    positions = check_finite_array(positions, "positions").copy()
    if positions.shape != (p, 2):
        raise ValueError(f"positions must be {p} finite points in the plane, got shape {positions.shape}")
    distances = np.linalg.norm(positions[:, None] - positions, axis=2) + np.eye(p)
    if p > 1 and distances.min() == 0:
        raise ValueError("positions must differ")
    return positions


def _radius(positions):
    if len(positions) < 2:
        return 0.2
    distances = np.linalg.norm(positions[:, None] - positions, axis=2)
    np.fill_diagonal(distances, np.inf)
    return 0.19 * float(np.median(distances.min(axis=1)))


@njit(cache=True)
def _compelled(lists, adjacency, order):
    """Chickering's labels: True for i -> j in every DAG of the class; edges by child, then by latest parent."""
    p = len(order)
    place = np.empty(p, dtype=np.int64)
    for position in range(p):
        place[order[position]] = position
    known, compelled = np.zeros((p, p), dtype=np.bool_), np.zeros((p, p), dtype=np.bool_)
    for y in order:
        parents = lists.parents[lists.parent_starts[y] : lists.parent_starts[y + 1]]
        latest_first = parents[np.argsort(-place[parents])]
        for x in latest_first:
            if known[x, y]:
                continue
            all_of_them = False
            for w in lists.parents[lists.parent_starts[x] : lists.parent_starts[x + 1]]:
                if compelled[w, x]:
                    if not adjacency[w, y]:
                        all_of_them = True
                        break
                    known[w, y] = compelled[w, y] = True
            if not all_of_them:
                for z in parents:
                    if z != x and not adjacency[z, x]:
                        all_of_them = True
                        break
                for z in parents:
                    if not known[z, y]:
                        known[z, y] = True
                        compelled[z, y] = all_of_them
            else:
                for z in parents:
                    known[z, y] = compelled[z, y] = True
    return compelled


@njit(cache=True)
def _extension(marks):
    """Dor and Tarsi's search for sinks; the second value says whether all nodes could be taken away."""
    p = len(marks)
    adjacency, left = np.zeros((p, p), dtype=np.bool_), np.ones(p, dtype=np.bool_)
    neighbours = np.empty(p, dtype=np.int64)
    remaining, moved = p, True
    while remaining and moved:
        moved = False
        for x in range(p):
            if not left[x]:
                continue
            degree, sink = 0, True
            for y in range(p):
                if left[y] and marks[x, y] != 0:
                    if marks[x, y] == 2:  # x -> y
                        sink = False
                        break
                    neighbours[degree] = y
                    degree += 1
            for a in range(degree):
                y = neighbours[a]
                if sink and marks[y, x] == 3:  # y - x becomes y -> x: no new collider if y is adjacent to the others
                    for b in range(degree):
                        z = neighbours[b]
                        if z != y and marks[y, z] == 0:
                            sink = False
                            break
            if sink:
                for a in range(degree):
                    adjacency[neighbours[a], x] = True
                left[x] = False
                remaining -= 1
                moved = True
    return adjacency, remaining == 0
