"""DAGs and d-separation, against networkx and against the definition by paths."""

import copy
import pickle
from itertools import combinations

import networkx as nx
import numpy as np
import pytest

from learnable.graphs.dags import (
    DAG,
    d_separated,
    d_separated_many,
    markov_equivalent,
    moral_graph,
    random_dag,
    skeleton,
    v_structures,
)


def all_queries(p, largest):
    """Every pair with every conditioning set of at most `largest` nodes, as an array with -1 for no node."""
    rows = []
    for x, y in combinations(range(p), 2):
        others = [k for k in range(p) if k not in (x, y)]
        for size in range(largest + 1):
            rows += [[x, y, *s, *[-1] * (largest - size)] for s in combinations(others, size)]
    return np.array(rows)


@pytest.mark.parametrize("seed", range(4))
def test_d_separation_equals_networkx(seed):
    dag = random_dag(7, 2.5, random_state=seed)
    graph = dag.to_networkx()
    queries = all_queries(7, 3)
    ours = d_separated_many(dag, queries)
    assert 0 < ours.sum() < len(ours)
    some = np.random.default_rng(seed).choice(len(queries), 250, replace=False)
    for x, y, *s in queries[some].tolist():
        s = {k for k in s if k >= 0}
        expected = nx.is_d_separator(graph, {x}, {y}, s)
        assert d_separated(dag, x, y, s) == expected
    expected = [nx.is_d_separator(graph, {q[0]}, {q[1]}, {k for k in q[2:] if k >= 0}) for q in queries[some].tolist()]
    assert ours[some].tolist() == expected


def test_sets_of_nodes_and_large_graphs():
    dag = random_dag(150, 2, random_state=5)
    graph, rng = dag.to_networkx(), np.random.default_rng(0)
    answers = []
    for _ in range(60):
        nodes = rng.permutation(150)
        x, y, s = set(nodes[:2].tolist()), set(nodes[2:5].tolist()), set(nodes[5:25].tolist())
        answers.append(d_separated(dag, x, y, s))
        assert answers[-1] == nx.is_d_separator(graph, x, y, s)
    assert len(set(answers)) == 2


def test_separation_by_definition_on_three_nodes():
    chain, fork = DAG.from_edges(3, [(0, 1), (1, 2)]), DAG.from_edges(3, [(1, 0), (1, 2)])
    collider = DAG.from_edges(4, [(0, 1), (2, 1), (1, 3)])
    assert [d_separated(g, 0, 2, 1) for g in (chain, fork, collider)] == [True, True, False]
    assert [d_separated(g, 0, 2) for g in (chain, fork, collider)] == [False, False, True]
    assert not d_separated(collider, 0, 2, 3)  # a descendant of the collider opens it
    assert d_separated_many(collider, [(0, 2), (0, 2, [3]), ([0], [2, 3], 1)]).tolist() == [True, False, False]


def test_a_matrix_cannot_be_changed_and_is_copied():
    matrix = np.zeros((3, 3), dtype=bool)
    matrix[0, 1] = True
    dag = DAG(matrix)
    matrix[1, 2] = True
    assert dag.edges == ((0, 1),)
    with pytest.raises(ValueError, match="read-only"):
        dag.adjacency[0, 2] = True
    twin = copy.deepcopy(pickle.loads(pickle.dumps(dag)))
    assert twin == dag and hash(twin) == hash(dag) and twin != DAG(matrix)
    assert not twin.adjacency.flags.writeable
    assert len({dag, twin, DAG(matrix)}) == 2


def test_bad_graphs_are_refused():
    for bad, message in [
        ([[0, 1], [1, 0]], "cycle"),
        ([[1, 0], [0, 0]], "self loop"),
        ([[0, 1, 0]], "square"),
        ([[0, 2], [0, 0]], "zeros and ones"),
        ([[0, np.nan], [0, 0]], "zeros and ones"),
        (None, "square"),
    ]:
        with pytest.raises(ValueError, match=message):
            DAG(bad)
    with pytest.raises(ValueError, match=r"cycle, but has 1 -> 2 -> 3 -> 1|2 -> 3 -> 1 -> 2|3 -> 1 -> 2 -> 3"):
        DAG.from_edges(5, [(0, 1), (1, 2), (2, 3), (3, 1), (3, 4)])
    dag = DAG.from_edges(3, [(0, 1)])
    for x, y, s in [(0, 0, ()), (0, 1, 0), (0, 3, ()), (0, [], ()), (0, 1, [-1]), (0, 1.0, ())]:
        with pytest.raises((ValueError, TypeError), match=r"[xy] must|given must|x and y|disjoint"):
            d_separated(dag, x, y, s)
    for rows in ([[0, 0]], [[0, 1, 1]], [[0, 3]], [[-1, 1]], [[0.0, 1.0]]):
        with pytest.raises(ValueError, match=r"queries|disjoint"):
            d_separated_many(dag, np.array(rows))
    with pytest.raises(TypeError, match="dag must be a DAG"):
        d_separated(np.zeros((2, 2)), 0, 1)


def test_neighbours_orders_and_words():
    dag = random_dag(130, 3, random_state=1)
    graph = dag.to_networkx()
    assert DAG.from_networkx(graph) == dag
    assert DAG.from_parents([dag.parents(i) for i in range(130)]) == dag
    place = np.argsort(dag.topological_order)
    assert all(place[i] < place[j] for i, j in dag.edges)
    for i in range(0, 130, 17):
        assert set(dag.parents(i)) == set(graph.predecessors(i))
        assert set(dag.children(i)) == set(graph.successors(i))
        assert dag.ancestors(i) == nx.ancestors(graph, i)
        assert dag.descendants([i]) == nx.descendants(graph, i)
        bits = [int(j) for j in range(130) if dag.parent_words[i, j // 64] >> np.uint64(j % 64) & np.uint64(1)]
        assert tuple(bits) == dag.parents(i)
        bits = [int(j) for j in range(130) if dag.child_words[i, j // 64] >> np.uint64(j % 64) & np.uint64(1)]
        assert tuple(bits) == dag.children(i)
    assert dag.ancestors([3, 5]) == nx.ancestors(graph, 3) | nx.ancestors(graph, 5)


def test_moral_graph_equals_networkx():
    dag = random_dag(40, 3, random_state=2)
    assert np.array_equal(moral_graph(dag), nx.to_numpy_array(nx.moral_graph(dag.to_networkx())) > 0)


def test_equivalence_is_equality_of_all_separations():
    """Verma and Pearl's criterion, against the definition, over all DAGs on three nodes and pairs on five."""
    queries, pairs = all_queries(5, 3), 0
    for seed in range(60):
        g, h = random_dag(5, 2, random_state=seed), random_dag(5, 2, random_state=seed + 1000)
        if seed % 2:  # an equivalent graph often: reverse one edge of g
            edges = list(g.edges)
            if not edges:
                continue
            (i, j) = edges.pop(seed % len(edges))
            try:
                h = DAG.from_edges(5, [*edges, (j, i)])
            except ValueError:
                continue
        same = np.array_equal(d_separated_many(g, queries), d_separated_many(h, queries))
        assert markov_equivalent(g, h) == same
        pairs += same
    assert pairs > 3
    with pytest.raises(ValueError, match="same nodes"):
        markov_equivalent(g, random_dag(4, 1, random_state=0))


def test_v_structures_by_definition():
    dag = random_dag(25, 4, random_state=3)
    near = skeleton(dag)
    expected = sorted(
        (i, j, k) for j in range(25) for i, k in combinations(sorted(dag.parents(j)), 2) if not near[i, k]
    )
    assert list(v_structures(dag)) == expected and len(expected) > 5


def test_random_dags_have_the_expected_number_of_neighbours():
    degree = np.mean([2 * len(random_dag(60, 3, random_state=s).edges) / 60 for s in range(40)])
    assert abs(degree - 3) < 4 * np.sqrt(2 * 3 / 60 / 40) * 1.5  # a sum of Bernoullis: variance of the mean degree
    assert random_dag(10, 2, random_state=4) == random_dag(10, 2, random_state=4)
    assert random_dag(1, 0).edges == ()
    firsts = {int(random_dag(10, 5, random_state=s).topological_order[0]) for s in range(20)}
    assert len(firsts) > 3
    with pytest.raises(ValueError, match="n_neighbors"):
        random_dag(4, 5)


def test_empty_graphs():
    assert DAG(np.zeros((0, 0))).edges == () and DAG([[0]]).parents(0) == ()
    assert d_separated_many(DAG(np.zeros((2, 2))), np.array([[0, 1]])).tolist() == [True]
    assert d_separated_many(DAG(np.zeros((2, 2))), []).tolist() == []
