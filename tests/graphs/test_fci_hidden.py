"""FCI and RFCI against the definition: marks that all equivalent ancestral graphs share."""

from itertools import combinations, product

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from learnable.graphs import FCI, PC, RFCI
from learnable.graphs.dags import DAG, d_separated_many, random_dag
from learnable.graphs.fci import estimators as hidden
from learnable.graphs.fci import fci, possible_d_sep, rfci
from learnable.graphs.fci.zhang import Rules
from learnable.graphs.independence import GaussianIndependence, ListedIndependence, OracleIndependence
from learnable.graphs.mixed import ARROW, TAIL, MixedGraph
from learnable.graphs.pc import adjacency_search, unshielded_triples

VARIANTS = list(product((False, True), ("sepset", "cpc", "mpc"), (False, True)))


def all_queries(nodes):
    rows, most = [], len(nodes) - 2
    for x, y in combinations(nodes, 2):
        others = [v for v in nodes if v not in (x, y)]
        for size in range(most + 1):
            rows += [[x, y, *S, *[-1] * (most - size)] for S in combinations(others, size)]
    return np.array(rows)


def true_pag(dag, hidden):
    """All ancestral graphs with the separations of the observed nodes, by trying ->, <- and <-> on every edge."""
    observed = [i for i in range(dag.n_nodes) if i not in hidden]
    m, queries = len(observed), all_queries(range(len(observed)))
    truth = d_separated_many(dag, all_queries(observed))
    pairs = [(i, j) for i, j in combinations(range(m), 2) if not truth[(queries[:, :2] == (i, j)).all(axis=1)].any()]
    found = []
    for kinds in product((0, 1, 2), repeat=len(pairs)):
        edges, both, causes = [], [], m
        for (i, j), kind in zip(pairs, kinds, strict=True):
            if kind == 2:  # a hidden common cause of its own
                both.append((i, j))
                edges += [(causes, i), (causes, j)]
                causes += 1
            else:
                edges.append((i, j) if kind == 0 else (j, i))
        try:
            graph = DAG.from_edges(causes, edges)
        except ValueError:
            continue
        if any(i in graph.ancestors(j) or j in graph.ancestors(i) for i, j in both):
            continue
        if np.array_equal(d_separated_many(graph, queries), truth):
            marks = np.zeros((m, m), dtype=int)
            for (i, j), kind in zip(pairs, kinds, strict=True):
                marks[i, j], marks[j, i] = (3 if kind == 1 else 2), (3 if kind == 0 else 2)
            found.append(marks)
    return MixedGraph(np.where((found == found[0]).all(axis=0), found[0], 1))


CASES = [
    (random_dag(7, 2.4, random_state=seed), sorted(np.random.default_rng(seed).choice(7, 2, replace=False).tolist()))
    for seed in (1, 2, 5, 8)
]


@pytest.mark.parametrize(("dag", "hidden"), CASES)
def test_with_perfect_answers_every_variant_returns_the_partial_ancestral_graph(dag, hidden):
    truth, ci_test = true_pag(dag, hidden), OracleIndependence(dag, hidden)
    rng = np.random.default_rng(0)
    for stable, colliders, lists in VARIANTS:
        choice = {"stable": stable, "colliders": colliders, "lists": lists, "order": rng.permutation(5)}
        assert fci(ci_test, **choice).graph == truth
        assert rfci(ci_test, **choice).graph == truth  # on graphs this small the two agree


def test_discriminating_path_and_all_other_rules_by_hand():
    """<0, 1, 2, 3> discriminates for 2: 2 -> 3 or 2 <-> 3, by whether 2 is in the set that separates 0 and 3."""
    dag = DAG.from_edges(5, [(0, 1), (4, 1), (4, 2), (1, 3), (2, 3)])  # 4 hidden
    assert fci(OracleIndependence(dag, [4])).graph == true_pag(dag, [4])
    both = DAG.from_edges(6, [(0, 1), (4, 1), (4, 2), (1, 3), (5, 2), (5, 3)])  # 4 and 5 hidden: 2 <-> 3
    found = fci(OracleIndependence(both, [4, 5])).graph
    assert found == true_pag(both, [4, 5]) and (2, 3) in found.bidirected_edges


@pytest.mark.parametrize("last", ["directed", "hidden cause"])
def test_a_discriminating_path_of_five_nodes(last):
    """<0, 1, 2, 3, 4> with 1 and 2 colliders and parents of 4; whether 3 -> 4 or 3 <-> 4 is seen at its far end."""
    edges = [(0, 1), (5, 1), (5, 2), (6, 2), (6, 3), (1, 4), (2, 4)]
    edges += [(3, 4)] if last == "directed" else [(7, 3), (7, 4)]
    hidden = [5, 6] if last == "directed" else [5, 6, 7]
    dag = DAG.from_edges(max(hidden) + 1, edges)
    truth = true_pag(dag, hidden)
    assert ((3, 4) in truth.bidirected_edges) == (last == "hidden cause") and truth.marks[3, 4] == ARROW
    for choice in ({}, {"stable": False, "colliders": "sepset", "lists": False}):
        assert fci(OracleIndependence(dag, hidden), **choice).graph == truth
        assert rfci(OracleIndependence(dag, hidden), **choice).graph == truth


def test_rule_3_where_no_other_rule_sets_the_arrowhead():
    """0 -> 1 <- 2 with 3 before all of them: 3 *-> 1 follows from rule 3 alone."""
    dag = DAG.from_edges(4, [(3, 0), (3, 2), (3, 1), (0, 1), (2, 1)])
    found = fci(OracleIndependence(dag)).graph
    assert found == true_pag(dag, []) and found.marks[3, 1] == ARROW
    edges = ["0 o-> 1", "2 o-> 1", "0 o-o 3", "2 o-o 3", "3 o-o 1"]
    assert set(rules_on(*edges).rule3()) == {(3, 1, ARROW)}
    for left_out in range(len(edges)):
        assert not set(rules_on(*[edge for at, edge in enumerate(edges) if at != left_out]).rule3())
    assert not set(rules_on(*edges, "0 o-o 2").rule3())
    unsure = rules_on(*edges)
    unsure.ambiguous = frozenset({(0, 3, 2)})
    assert not set(unsure.rule3())


def rules_on(*edges):
    """Rules on edges such as "0 o-> 1": the sign at the left belongs to the left node."""
    signs = {"<": 2, ">": 2, "o": 1, "-": 3}
    n = 1 + max(int(node) for edge in edges for node in edge.split()[::2])
    marks = np.zeros((n, n), dtype=int)
    for edge in edges:
        i, arrow, j = edge.split()
        marks[int(j), int(i)], marks[int(i), int(j)] = signs[arrow[0]], signs[arrow[-1]]
    return Rules(marks, decide=lambda t, b, c: None)


# A rule, a graph in which it applies, the tails that it sets, and an edge more with which it does not apply.
RULES_BY_HAND = [
    (5, ["0 o-o 1", "1 o-o 2", "2 o-o 3", "3 o-o 0"], list(product(range(4), repeat=2)), "0 o-o 2"),
    (6, ["0 --- 1", "1 o-> 2"], [(2, 1)], None),
    (7, ["0 --o 1", "1 o-> 2"], [(2, 1)], "0 o-o 2"),
    (8, ["0 --> 1", "1 --> 2", "0 o-> 2"], [(2, 0)], None),
    (8, ["0 --o 1", "1 --> 2", "0 o-> 2"], [(2, 0)], None),
    (9, ["0 o-> 3", "0 o-o 1", "1 o-o 2", "2 --> 3"], [(3, 0)], "1 o-> 3"),
    (10, ["0 o-> 3", "1 --> 3", "2 --> 3", "0 o-o 1", "0 o-o 2"], [(3, 0)], "1 o-o 2"),
    (10, ["0 o-> 5", "1 --> 5", "2 --> 5", "0 o-o 3", "3 o-o 1", "0 o-o 4", "4 o-o 2"], [(5, 0)], "3 o-o 4"),
]


@pytest.mark.parametrize(("number", "edges", "tails", "more"), RULES_BY_HAND)
def test_rules_5_to_10_by_hand(number, edges, tails, more):
    rules = rules_on(*edges)
    expected = {(i, j, TAIL) for i, j in tails if rules.M[i][j]}
    assert set(getattr(rules, f"rule{number}")()) == expected
    for left_out in range(len(edges)):  # every edge is needed
        fewer = [edge for at, edge in enumerate(edges) if at != left_out]
        assert not set(getattr(rules_on(*fewer), f"rule{number}")())
    if more:
        assert not set(getattr(rules_on(*edges, more), f"rule{number}")())


def test_inner_nodes_of_a_discriminating_path_are_colliders_and_parents_of_its_end():
    edges = {
        "0 o-> 1": "0 o-o 1",
        "1 <-> 2": "1 --> 2",
        "2 <-o 3": "2 o-o 3",
        "1 --> 4": "1 o-> 4",
        "2 --> 4": "2 <-> 4",
    }
    assert rules_on(*edges, "3 o-o 4").discriminating_path(3, 4) == (0, 1, 2, 3, 4)
    for edge, other in edges.items():
        changed = rules_on(*[other if each == edge else each for each in edges], "3 o-o 4")
        assert changed.discriminating_path(3, 4) is None
    assert rules_on(*edges, "3 o-o 4", "0 o-o 4").discriminating_path(3, 4) is None


def test_possible_d_sep_deletes_an_edge_that_neighbours_cannot():
    """4 and 5 are separated, but by no set of neighbours that the adjacency search tries; 6 to 9 are hidden."""
    edges = [(0, 5), (1, 5), (2, 3), (2, 4), (3, 4), (6, 0), (6, 1), (7, 0), (7, 4), (8, 1), (8, 2), (9, 3), (9, 5)]
    dag = DAG.from_edges(10, edges)
    ci_test = OracleIndependence(dag, [6, 7, 8, 9])
    queries = all_queries(range(6))
    separated = d_separated_many(dag, queries)
    true = {(i, j) for i, j in combinations(range(6), 2) if not separated[(queries[:, :2] == (i, j)).all(axis=1)].any()}
    assert adjacency_search(ci_test).adjacency[4, 5] and (4, 5) not in true
    graphs = set()
    for stable, colliders in product((False, True), ("sepset", "cpc", "mpc")):
        found = fci(ci_test, stable=stable, colliders=colliders, lists=stable)
        assert ci_test.independent(4, 5, found.sepsets[4, 5])
        graphs.add(found.graph)
    (graph,) = graphs
    assert set(map(tuple, np.argwhere(np.triu(graph.adjacency)).tolist())) == true
    for i, j in np.argwhere(graph.adjacency).tolist():  # a tail says "a cause", an arrowhead "not a cause"
        if graph.marks[i, j] != 1:
            assert (graph.marks[i, j] == 3) == (j in dag.ancestors(i))


@pytest.mark.parametrize("seed", range(6))
def test_possible_d_sep_by_paths(seed):
    rng = np.random.default_rng(seed)
    marks = np.zeros((7, 7), dtype=int)
    for i, j in combinations(range(7), 2):
        if rng.random() < 0.45:
            marks[i, j], marks[j, i] = rng.choice([1, 2], 2)
    graph = MixedGraph(marks)

    def paths(walk):
        yield walk
        for v in np.flatnonzero(marks[walk[-1]]).tolist():
            if v not in walk:
                if len(walk) > 1:
                    collider = marks[walk[-2], walk[-1]] == 2 and marks[v, walk[-1]] == 2
                    if not (collider or marks[walk[-2], v]):
                        continue
                yield from paths((*walk, v))

    for node in range(7):
        assert set(possible_d_sep(graph, node)) >= {walk[-1] for walk in paths((node,)) if len(walk) > 1}
        simple = {walk[-1] for walk in paths((node,)) if len(walk) > 1}
        assert len(set(possible_d_sep(graph, node)) - simple) <= 1  # a walk may come back to a node, a path may not


def test_rfci_keeps_what_the_search_has_deleted():
    ci_test = ListedIndependence(4, [(0, 2), (0, 1, [])])  # level 0 finds both; the path 0 - 3 - 2 remains
    assert not rfci(ci_test).adjacency[0, 1]
    wrong = ListedIndependence(4, [(0, 2, [3]), (1, 2, [3])])
    found = rfci(wrong)
    assert not found.adjacency[0, 2] and not found.adjacency[1, 2]
    late = ListedIndependence(5, [(0, 2, [3, 4]), (0, 1, [3, 4])])
    assert not rfci(late).adjacency[0, 1]


def test_rfci_deletes_edges_of_triples_that_its_tests_contradict():
    """0 and 1 are separated by 3 and 4, which the search never tries: 3 is no neighbour of 0, nor 4 of 1."""
    facts = [(0, 3, []), (1, 4, []), (0, 2, [3, 4]), (0, 1, [3, 4])]
    assert adjacency_search(ListedIndependence(5, facts)).adjacency[0, 1]
    for stable in (True, False):
        found = rfci(ListedIndependence(5, facts), stable=stable)
        assert not found.adjacency[0, 1] and found.sepsets[0, 1] == (3, 4)
        assert found.adjacency[1, 2]  # the other edge of the triple is not contradicted
    # The same facts without the last: nothing to delete.
    assert rfci(ListedIndependence(5, facts[:-1])).adjacency[0, 1]


def test_rfci_keeps_the_smallest_set_of_a_contradicted_edge():
    """5 is a neighbour of neither 0 nor 1, so that the search never asks for it, though it separates them alone."""
    facts = [(0, 3, []), (0, 5, []), (1, 5, []), (0, 2, [3, 5]), (0, 1, [3, 5]), (0, 1, [5])]
    assert adjacency_search(ListedIndependence(6, facts)).adjacency[0, 1]
    found = rfci(ListedIndependence(6, facts))
    assert not found.adjacency[0, 1] and found.sepsets[0, 1] == (5,)


def test_rfci_checks_the_triples_that_a_deleted_edge_leaves_behind():
    """Without 0 - 1 the triple 0 - 5 - 1 is unshielded, and its set speaks against 0 - 5 too."""
    facts = [(0, 3, []), (1, 4, []), (0, 2, [3, 4]), (0, 1, [3, 4]), (3, 5, []), (2, 5, []), (0, 5, [3, 4])]
    assert adjacency_search(ListedIndependence(6, facts)).adjacency[0, [1, 5]].all()
    found = rfci(ListedIndependence(6, facts))
    assert not found.adjacency[0, [1, 5]].any() and found.sepsets[0, 5] == (3, 4)
    shielded = rfci(ListedIndependence(6, [fact for fact in facts if fact != (0, 1, [3, 4])]))
    assert shielded.adjacency[0, [1, 5]].all()


def few_rows(seed, n_nodes=8, n_seen=7, degree=3.5, n_rows=60):
    """Few observations of some of the variables: tests that contradict each other."""
    rng = np.random.default_rng(seed)
    dag = random_dag(n_nodes, degree, random_state=seed)
    weights = np.where(dag.adjacency, rng.uniform(0.3, 1, (n_nodes, n_nodes)), 0)
    X = rng.normal(size=(n_rows, n_nodes)) @ np.linalg.inv(np.eye(n_nodes) - weights)
    return GaussianIndependence(X[:, :n_seen], alpha=0.05)


# Where edges of discriminating paths are contradicted (in the second case colliders appear by that), and of triples.
CONTRADICTIONS = [
    ("_check_path", (), (323, 3209, 3511, 3717)),
    ("_check_path", (11, 9, 5, 40), (9382, 10014, 15439)),
    ("check_triples", (), (36, 50, 146)),
]


@pytest.mark.parametrize(("step", "size", "seeds"), CONTRADICTIONS)
def test_no_edge_that_rfci_keeps_is_contradicted_by_its_own_tests(step, size, seeds, monkeypatch):
    plain, deleted = getattr(hidden._Run, step), []

    def watched(self, *args):
        before = self.adjacency()
        answer = plain(self, *args)
        deleted.append(int((before & ~self.adjacency()).sum()) // 2)
        return answer

    monkeypatch.setattr(hidden._Run, step, watched)
    for seed in seeds:
        deleted.clear()
        for choice in ({}, {"stable": False}, {"colliders": "mpc", "lists": True}):
            ci_test = few_rows(seed, *size)
            found = rfci(ci_test, **choice)
            for i, j in combinations(range(ci_test.n_nodes), 2):
                assert found.adjacency[i, j] == found.graph.adjacency[i, j]
                assert found.adjacency[i, j] or ci_test.independent(i, j, found.sepsets[i, j])
            for i, j, k in unshielded_triples(found.adjacency).tolist():
                S = [v for v in found.sepsets[i, k] if v != j]
                assert not ci_test.independent(i, j, S) and not ci_test.independent(k, j, S)
                if "colliders" not in choice and j not in found.sepsets[i, k]:
                    assert found.graph.marks[i, j] == found.graph.marks[k, j] == ARROW
        assert sum(deleted) > 0


def test_estimators_and_bad_input():
    rng = np.random.default_rng(0)
    a, b, h = rng.normal(size=(3, 600))
    X = np.column_stack([a, a + h + 0.5 * rng.normal(size=600), b + h + 0.5 * rng.normal(size=600), b])
    for estimator in (FCI, RFCI):
        fitted = estimator().fit(X)
        assert fitted.graph_.bidirected_edges == ((1, 2),) and fitted.n_features_in_ == 4
        assert fitted.n_tests_ > 6 and fitted.ambiguous_ == ()
        with pytest.raises(ValueError, match="colliders"):
            estimator(colliders="majority").fit(X)
    with pytest.raises(TypeError, match="ci_test"):
        fci(X)
    with pytest.raises(ValueError, match="node"):
        possible_d_sep(fitted.graph_, 7)


@parametrize_with_checks([PC(), FCI(), RFCI()])
def test_estimators_keep_the_protocol_of_scikit_learn(estimator, check):
    check(estimator)
