"""Mixed graphs, CPDAGs and their extensions, against the enumeration of all DAGs of a class."""

import copy
import pickle
from itertools import product

import numpy as np
import pytest
from matplotlib.figure import Figure

from learnable.graphs.dags import DAG, markov_equivalent, random_dag, skeleton
from learnable.graphs.mixed import (
    MixedGraph,
    cpdag,
    draw_graph,
    mark_distance,
    pdag_to_dag,
    structural_hamming_distance,
)


def equivalent_dags(dag):
    """All DAGs of the class, by trying every orientation of the skeleton."""
    pairs = dag.edges
    for flips in product((False, True), repeat=len(pairs)):
        try:
            other = DAG.from_edges(
                dag.n_nodes, [(j, i) if f else (i, j) for f, (i, j) in zip(flips, pairs, strict=True)]
            )
        except ValueError:
            continue
        if markov_equivalent(dag, other):
            yield other


@pytest.mark.parametrize("seed", range(12))
def test_cpdag_is_what_all_equivalent_dags_share(seed):
    dag = random_dag(6, 2.6, random_state=seed)
    adjacency = np.array([other.adjacency for other in equivalent_dags(dag)])
    always = adjacency.all(axis=0)
    graph = cpdag(dag)
    assert set(graph.directed_edges) == set(map(tuple, np.argwhere(always).tolist()))
    assert np.array_equal(graph.adjacency, skeleton(dag))
    assert len(graph.directed_edges) + len(graph.undirected_edges) == len(dag.edges)


def test_extension_of_a_cpdag_is_in_its_class():
    for seed in range(60):
        dag = random_dag(12, 3, random_state=seed)
        other = pdag_to_dag(cpdag(dag))
        assert markov_equivalent(dag, other) and cpdag(other) == cpdag(dag)


def test_extension_keeps_directed_edges_and_refuses_what_has_none():
    kept = pdag_to_dag(MixedGraph.from_edges(3, directed=[(1, 0)], undirected=[(1, 2)]))
    assert (1, 0) in kept.edges and len(kept.edges) == 2
    cycle = MixedGraph.from_edges(3, directed=[(0, 1), (1, 2), (2, 0)])
    square = MixedGraph.from_edges(4, undirected=[(0, 1), (1, 2), (2, 3), (3, 0)])  # any DAG on it has a v-structure
    for bad in (cycle, square):
        with pytest.raises(ValueError, match="no consistent extension"):
            pdag_to_dag(bad)
    for bad in (MixedGraph.from_edges(2, bidirected=[(0, 1)]), MixedGraph([[0, 1], [1, 0]])):
        with pytest.raises(ValueError, match="directed and undirected edges only"):
            pdag_to_dag(bad)


def test_distances_by_hand():
    chain = DAG.from_edges(4, [(0, 1), (1, 2), (2, 3)])
    g = cpdag(chain)
    h = MixedGraph.from_edges(4, directed=[(0, 1)], undirected=[(1, 2), (0, 3)])
    assert structural_hamming_distance(g, h) == 3  # 0-1 directed, 2-3 missing, 0-3 added
    assert mark_distance(g, h) == 1 + 2 + 2
    assert structural_hamming_distance(chain, DAG.from_edges(4, [(1, 0), (1, 2), (2, 3)])) == 1
    assert mark_distance(chain, DAG.from_edges(4, [(1, 0), (1, 2), (2, 3)])) == 2
    assert structural_hamming_distance(g, g) == mark_distance(h, h) == 0
    with pytest.raises(ValueError, match="same nodes"):
        mark_distance(g, MixedGraph([[0]]))


def test_marks_are_checked_copied_and_read_only():
    for bad, message in [
        ([[0, 2], [0, 0]], "both ends"),
        ([[3, 0], [0, 0]], "diagonal"),
        ([[0, 4], [4, 0]], "0, 1, 2 and 3"),
        ([[0, np.nan], [1, 0]], "0, 1, 2 and 3"),
        ([[0, 1]], "square"),
    ]:
        with pytest.raises(ValueError, match=message):
            MixedGraph(bad)
    marks = np.array([[0, 2], [3, 0]])
    graph = MixedGraph(marks)
    marks[:] = 0
    assert graph.directed_edges == ((0, 1),)
    with pytest.raises(ValueError, match="read-only"):
        graph.marks[0, 1] = 1
    twin = copy.deepcopy(pickle.loads(pickle.dumps(graph)))
    assert twin == graph and hash(twin) == hash(graph) and not twin.marks.flags.writeable
    with pytest.raises(ValueError, match="at most one edge"):
        MixedGraph.from_edges(2, directed=[(0, 1)], undirected=[(1, 0)])


def test_edges_of_every_kind():
    marks = np.zeros((6, 6), dtype=int)
    for i, j, at_i, at_j in [(0, 1, 3, 2), (2, 1, 2, 2), (2, 3, 3, 3), (3, 4, 1, 2), (5, 4, 1, 1)]:
        marks[i, j], marks[j, i] = at_j, at_i
    graph = MixedGraph(marks)
    assert graph.directed_edges == ((0, 1),)
    assert graph.bidirected_edges == ((1, 2),) and graph.undirected_edges == ((2, 3),)
    assert repr(graph) == "MixedGraph(6 nodes: 0 -> 1, 1 <-> 2, 2 - 3, 3 o-> 4, 4 o-o 5)"
    assert MixedGraph.from_causal_learn(graph.to_causal_learn()) == graph
    # causal-learn: graph[j, i] = 1 and graph[i, j] = -1 is i --> j
    assert (graph.to_causal_learn()[1, 0], graph.to_causal_learn()[0, 1]) == (1, -1)
    arcs = graph.to_networkx()
    assert arcs.has_edge(0, 1) and not arcs.has_edge(1, 0) and arcs.has_edge(1, 2) and arcs.has_edge(2, 1)
    assert arcs.edges[3, 4]["ends"] == (1, 2)
    order = np.array([5, 0, 3, 1, 4, 2])
    other = graph.permuted(order)
    assert all(other.marks[a, b] == marks[order[a], order[b]] for a in range(6) for b in range(6))
    with pytest.raises(ValueError, match="permutation"):
        graph.permuted([0, 0, 1, 2, 3, 4])


def test_drawing_shows_every_edge_and_mark():
    marks = np.zeros((4, 4), dtype=int)
    for i, j, at_i, at_j in [(0, 1, 3, 2), (1, 2, 1, 2), (2, 3, 1, 1)]:
        marks[i, j], marks[j, i] = at_j, at_i
    ax = Figure().add_subplot()
    where = draw_graph(MixedGraph(marks), ax, labels=list("abcd"), highlight={(1, 0): "red"})
    kinds = [type(patch).__name__ for patch in ax.patches]
    assert kinds.count("FancyArrowPatch") == 3 and kinds.count("Circle") == 4 + 3  # nodes, and rings
    assert [text.get_text() for text in ax.texts] == list("abcd") and where.shape == (4, 2)
    assert sum(patch.get_edgecolor() == (1, 0, 0, 1) for patch in ax.patches) == 1
    draw_graph(np.ones((3, 3)) - np.eye(3), Figure().add_subplot())
    draw_graph(MixedGraph([[0]]), Figure().add_subplot())
    with pytest.raises(ValueError, match="symmetric"):
        draw_graph([[0, 1], [0, 0]], ax)
    with pytest.raises(ValueError, match="positions"):
        draw_graph(DAG([[0, 1], [0, 0]]), ax, [[0, 0], [0, 0]])
