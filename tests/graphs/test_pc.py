"""Causal graphs that do not depend on the column order: the claims of the source, checked."""

import warnings
from itertools import chain, combinations, product

import numpy as np
import pytest
from scipy import stats

from learnable.graphs import PC, choose_alpha_bic, ida, ida_lower_bounds, stability_selection
from learnable.graphs.dags import DAG, random_dag
from learnable.graphs.independence import (
    GaussianIndependence,
    ListedIndependence,
    OracleIndependence,
    partial_correlation,
)
from learnable.graphs.linear_sem import LinearSEM, random_linear_sem
from learnable.graphs.mixed import MixedGraph, cpdag, pdag_to_dag
from learnable.graphs.pc import (
    SeparatingSets,
    adjacency_search,
    collider_votes,
    gaussian_bic,
    is_valid_cpdag,
    meek_rules,
    orient_colliders,
    pc,
    unshielded_triples,
)

VARIANTS = list(product((False, True), ("sepset", "cpc", "mpc"), (False, True)))
# Example 2: 1 -> 2 -> 3 -> 4 and 1 -> 5 <- 4, here from 0; 1 and 3 are judged independent given 4 by mistake.
EXAMPLE_2 = DAG.from_edges(5, [(0, 1), (1, 2), (2, 3), (0, 4), (3, 4)])


class Mistaken:
    """The oracle with one false independence."""

    def __init__(self, dag, false):
        self.oracle, self.false, self.n_nodes = OracleIndependence(dag), false, dag.n_nodes

    @property
    def n_tests(self):
        return self.oracle.n_tests

    def independent(self, i, j, given=()):
        true = self.oracle.independent(i, j, given)
        return true or (frozenset((i, j)), frozenset(given)) in self.false


EXAMPLE_2_JUDGE = Mistaken(EXAMPLE_2, {(frozenset((0, 2)), frozenset([3]))})


class ByInverse:
    """Partial correlations from an inverse, in Python: the reference of the compiled search."""

    def __init__(self, X, alpha):
        self.C, self.n, self.n_nodes = np.corrcoef(X, rowvar=False), len(X), X.shape[1]
        self.cut, self.n_tests = stats.norm.isf(alpha / 2), 0

    def independent(self, i, j, given=()):
        self.n_tests += 1
        P = np.linalg.inv(self.C[np.ix_([i, j, *given], [i, j, *given])])
        z = np.arctanh(-P[0, 1] / np.sqrt(P[0, 0] * P[1, 1]))
        return np.sqrt(self.n - len(given) - 3) * abs(z) <= self.cut


def sample(p, n, seed, n_neighbors=2, weights=(0.1, 1.0)):
    model = random_linear_sem(random_dag(p, n_neighbors, seed), weights=weights, random_state=seed)
    return model, model.sample(n, random_state=seed)


def missing(adjacency):
    """Pairs without an edge, numbered from 1 as in the source."""
    return {(i + 1, j + 1) for i, j in np.argwhere(np.triu(~adjacency, 1)).tolist()}


def from_one(order):
    return np.array(order) - 1


def test_theorems_1_2_4_6_every_variant_returns_the_cpdag_with_perfect_answers():
    rng = np.random.default_rng(0)
    for seed in range(15):
        dag = random_dag(7, 2 + seed % 3, random_state=seed)
        truth, ci_test = cpdag(dag), OracleIndependence(dag)
        for stable, colliders, lists in VARIANTS:
            found = pc(ci_test, stable=stable, colliders=colliders, lists=lists, order=rng.permutation(7))
            assert found.graph == truth and found.ambiguous == ()


def test_with_perfect_answers_no_order_matters():
    rng = np.random.default_rng(0)
    for seed in range(200):
        dag = random_dag(5 + seed % 4, 2 + seed % 3, random_state=seed)
        truth, ci_test = cpdag(dag), OracleIndependence(dag)
        for order in [rng.permutation(dag.n_nodes) for _ in range(5)]:
            assert pc(ci_test, stable=seed % 2 == 0, order=order).graph == truth


EXAMPLE_1 = [(0, 1), (1, 3, [0, 2]), (2, 3, [0, 4])]


def test_example_1_the_skeleton_of_pc_depends_on_the_order():
    ci_test = ListedIndependence(5, EXAMPLE_1)
    orders = [from_one(order) for order in ([1, 4, 2, 3, 5], [1, 3, 4, 2, 5])]
    first, second = (adjacency_search(ci_test, method="original", order=order) for order in orders)
    assert missing(first.adjacency) == {(1, 2), (2, 4), (3, 4)}
    assert missing(second.adjacency) == {(1, 2), (3, 4)}


def test_example_4_the_stable_skeleton_does_not():
    ci_test = ListedIndependence(5, EXAMPLE_1)
    for order in ([1, 4, 2, 3, 5], [1, 3, 4, 2, 5], [5, 4, 3, 2, 1]):
        found = adjacency_search(ci_test, order=from_one(order))
        assert missing(found.adjacency) == {(1, 2), (2, 4), (3, 4)}
        assert found.sepsets[1, 3] == (0, 2) and found.sepsets[3, 2] == (0, 4) and found.sepsets[0, 1] == ()


def test_example_2_the_separating_set_and_with_it_the_collider_depend_on_the_order():
    wrong = pc(EXAMPLE_2_JUDGE, stable=False, order=from_one([1, 3, 4, 2, 5]))
    right = pc(EXAMPLE_2_JUDGE, stable=False, order=from_one([3, 1, 2, 4, 5]))
    assert wrong.sepsets[0, 2] == (3,) and right.sepsets[0, 2] == (1,)
    assert {(0, 1), (2, 1)} <= set(wrong.graph.directed_edges)
    assert right.graph == cpdag(EXAMPLE_2)
    assert right.graph.undirected_edges == ((0, 1), (1, 2), (2, 3))


def test_example_2_freezing_can_change_which_set_comes_first():
    order = from_one([1, 4, 2, 3, 5])
    found = [adjacency_search(EXAMPLE_2_JUDGE, method=method, order=order) for method in ("original", "stable")]
    assert [one.sepsets[0, 2] for one in found] == [(1,), (3,)]


def test_example_5_votes_do_not_depend_on_the_order():
    skeleton = adjacency_search(EXAMPLE_2_JUDGE).adjacency
    for rule, label in (("cpc", -1), ("mpc", 0)):
        votes = collider_votes(skeleton, EXAMPLE_2_JUDGE, rule)
        place = votes.triples.tolist().index([0, 1, 2])
        assert votes.n_sets[place] == 3 and votes.share[place] == pytest.approx(2 / 3)  # {2}, {4}, {2, 4}
        assert votes.labels[place] == label
        for order in ([1, 3, 4, 2, 5], [3, 1, 2, 4, 5]):
            found = pc(EXAMPLE_2_JUDGE, colliders=rule, order=from_one(order))
            assert found.graph == cpdag(EXAMPLE_2)
            assert found.ambiguous == (((0, 1, 2),) if rule == "cpc" else ())


def test_examples_3_and_6_overwriting_depends_on_the_order_and_lists_do_not():
    path = np.eye(4, k=1) + np.eye(4, k=-1)
    nothing = SeparatingSets(path, {})
    assert orient_colliders(path, nothing).directed_edges == ((0, 1), (1, 2), (3, 2))
    assert orient_colliders(path, nothing, order=[3, 2, 1, 0]).directed_edges == ((0, 1), (2, 1), (3, 2))
    for order in (None, [3, 2, 1, 0], [1, 3, 0, 2]):
        both = orient_colliders(path, nothing, lists=True, order=order)
        assert both.directed_edges == ((0, 1), (3, 2)) and both.bidirected_edges == ((1, 2),)


def test_figure_4b_the_first_rule_depends_on_the_order():
    graph = MixedGraph.from_edges(6, directed=[(0, 1), (2, 1), (3, 4), (5, 4)], undirected=[(1, 4)])
    assert (1, 4) in meek_rules(graph).directed_edges
    assert (4, 1) in meek_rules(graph, order=[5, 4, 3, 2, 1, 0]).directed_edges
    for order in (None, [5, 4, 3, 2, 1, 0]):
        assert meek_rules(graph, lists=True, order=order).bidirected_edges == ((1, 4),)


@pytest.mark.parametrize("alpha", [0.005, 0.04, 0.2])
def test_theorem_3_stable_skeletons_are_the_same_for_all_orders(alpha):
    _, X = sample(100, 50, 1)
    ci_test, rng = GaussianIndependence(X, alpha), np.random.default_rng(0)
    first = adjacency_search(ci_test)
    orders = [rng.permutation(100) for _ in range(20)]
    assert all(np.array_equal(adjacency_search(ci_test, order=o).adjacency, first.adjacency) for o in orders)
    originals = {adjacency_search(ci_test, method="original", order=o).adjacency.tobytes() for o in orders}
    assert len(originals) > 5


def test_theorem_3_shuffled_columns_of_the_data():
    _, X = sample(60, 50, 2)
    columns = np.random.default_rng(1).permutation(60)
    plain, shuffled = (PC(0.04).fit(Z).graph_ for Z in (X, X[:, columns]))
    assert shuffled == plain.permuted(columns)


def test_theorems_5_and_7_votes_with_lists_are_the_same_for_all_orders():
    _, X = sample(100, 50, 3)
    rng = np.random.default_rng(0)
    for rule in ("cpc", "mpc"):
        graphs, ambiguous, stable_only = set(), set(), set()
        for _ in range(8):
            order = rng.permutation(100)
            found = pc(GaussianIndependence(X, 0.04), colliders=rule, lists=True, order=order)
            graphs.add(found.graph)
            ambiguous.add(found.ambiguous)
            stable_only.add(pc(GaussianIndependence(X, 0.04), order=order).graph)
        assert len(graphs) == len(ambiguous) == 1
        assert len(stable_only) > 1  # freezing alone leaves the orientations to the order


def test_cpc_is_more_conservative_than_mpc():
    _, X = sample(100, 50, 4)
    ci_test = GaussianIndependence(X, 0.04)
    skeleton = adjacency_search(ci_test).adjacency
    cpc, mpc = (collider_votes(skeleton, ci_test, rule) for rule in ("cpc", "mpc"))
    assert np.array_equal(cpc.triples, mpc.triples)
    assert (mpc.labels[cpc.labels != -1] == cpc.labels[cpc.labels != -1]).all()
    assert (mpc.labels == -1).sum() < (cpc.labels == -1).sum()
    loose = collider_votes(skeleton, ci_test, 0.4)
    assert (cpc.labels == -1).sum() >= (loose.labels == -1).sum() >= (mpc.labels == -1).sum()


@pytest.mark.parametrize("method", ["original", "stable"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_compiled_search_equals_the_plain_one(method, seed):
    _, X = sample(25, 60, seed, n_neighbors=4)
    order = np.random.default_rng(seed).permutation(25)
    ours = adjacency_search(GaussianIndependence(X, 0.1), method=method, order=order)
    plain = adjacency_search(ByInverse(X, 0.1), method=method, order=order)
    assert np.array_equal(ours.adjacency, plain.adjacency) and ours.tests_by_level == plain.tests_by_level
    assert len(ours.tests_by_level) > 3
    assert dict(ours.sepsets.items()) == dict(plain.sepsets.items())


def test_compiled_votes_equal_the_plain_ones():
    _, X = sample(25, 60, 5, n_neighbors=4)
    skeleton = adjacency_search(GaussianIndependence(X, 0.1)).adjacency
    ours, plain = (collider_votes(skeleton, ci_test) for ci_test in (GaussianIndependence(X, 0.1), ByInverse(X, 0.1)))
    assert np.array_equal(ours.n_sets, plain.n_sets) and np.allclose(ours.share, plain.share)
    assert np.array_equal(ours.labels, plain.labels) and len(ours.labels) > 20
    limited = [
        collider_votes(skeleton, ci_test, max_size=1) for ci_test in (GaussianIndependence(X, 0.1), ByInverse(X, 0.1))
    ]
    assert np.array_equal(limited[0].n_sets, limited[1].n_sets) and (limited[0].n_sets <= ours.n_sets).all()


@pytest.mark.parametrize("level", [0, 1])
def test_a_correlation_at_the_threshold_counts_as_independent(level, monkeypatch):
    """Fisher's rule has "at most"; the tie is made exact by a threshold taken from the correlations themselves."""
    model = random_linear_sem(DAG.from_edges(3, [(0, 1), (1, 2), (0, 2)]), random_state=0)
    ci_test = GaussianIndependence(model.sample(60, random_state=0), 0.01)
    pairs = {(0, 1): [2], (0, 2): [1], (1, 2): [0]}
    sizes = {pair: abs(partial_correlation(ci_test.correlation, *pair, pairs[pair][:level])) for pair in pairs}
    weakest = min(sizes, key=sizes.get)
    cuts = np.full(2, -1.0)
    cuts[level] = sizes[weakest]
    monkeypatch.setattr(ci_test, "thresholds", lambda most: cuts)
    found = np.argwhere(np.triu(adjacency_search(ci_test).adjacency)).tolist()
    assert [tuple(edge) for edge in found] == [pair for pair in pairs if pair != weakest]
    i, k = weakest  # the votes ask the same question: here one set of one or of no node separates
    path = np.ones((3, 3), dtype=bool)
    path[i, k] = path[k, i] = False
    np.fill_diagonal(path, False)
    assert collider_votes(path, ci_test, "cpc").labels.tolist() == [1 - level]


def test_number_of_tests():
    """Level 0: each pair once, and again in the other order if it is kept. Level 1: stable asks at least as often."""
    _, X = sample(80, 50, 6)
    ci_test = GaussianIndependence(X, 0.05)
    stable, original = (adjacency_search(ci_test, method=method) for method in ("stable", "original"))
    kept = int(adjacency_search(ci_test, max_level=0).adjacency.sum()) // 2
    assert stable.tests_by_level[0] == original.tests_by_level[0] == 80 * 79 // 2 + kept
    assert stable.tests_by_level[1] >= original.tests_by_level[1]
    assert ci_test.n_tests == sum(stable.tests_by_level) + sum(original.tests_by_level) + 80 * 79 // 2 + kept


def test_ambiguous_triples_stop_rules_1_and_3():
    graph = MixedGraph.from_edges(3, directed=[(0, 1)], undirected=[(1, 2)])
    assert meek_rules(graph).directed_edges == ((0, 1), (1, 2))
    assert meek_rules(graph, [(2, 1, 0)]) == graph
    kite = MixedGraph.from_edges(4, directed=[(1, 3), (2, 3)], undirected=[(0, 1), (0, 2), (0, 3)])
    assert (0, 3) in meek_rules(kite).directed_edges  # R3
    assert meek_rules(kite, [(1, 0, 2)]) == kite
    triangle = MixedGraph.from_edges(3, directed=[(0, 1), (1, 2)], undirected=[(0, 2)])
    assert (0, 2) in meek_rules(triangle).directed_edges  # R2
    conflict = MixedGraph.from_edges(3, bidirected=[(0, 1)], undirected=[(1, 2)])
    assert meek_rules(conflict) == conflict  # a contradiction directs nothing


def test_rule_1_comes_before_rule_2():
    """3 -> 1 asks for 1 -> 0 by rule 1, and 0 -> 2 -> 1 for 0 -> 1 by rule 2: the first in turn decides."""
    graph = MixedGraph.from_edges(4, directed=[(0, 2), (2, 1), (3, 1)], undirected=[(0, 1)])
    for lists in (False, True):
        assert (1, 0) in meek_rules(graph, lists=lists).directed_edges


def test_rules_complete_a_cpdag_from_its_colliders():
    for seed in range(40):
        dag = random_dag(14, 3.5, random_state=seed)
        truth = cpdag(dag)
        sets = {}
        for i, j in combinations(range(14), 2):  # parents of the later one separate
            if not truth.adjacency[i, j]:
                sets[i, j] = dag.parents(i) if j in dag.ancestors(i) or j not in dag.descendants(i) else dag.parents(j)
        colliders = orient_colliders(truth.adjacency, SeparatingSets(truth.adjacency, sets))
        for lists in (False, True):
            assert meek_rules(colliders, lists=lists) == truth


def test_votes_by_hand():
    path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    tie = ListedIndependence(3, [(0, 2), (0, 2, [1])])
    assert collider_votes(path, tie, "mpc").labels.tolist() == [-1]  # exactly half
    assert collider_votes(path, ListedIndependence(3, []), "mpc").labels.tolist() == [-1]  # no set at all
    assert collider_votes(path, ListedIndependence(3, [(0, 2)]), "cpc").labels.tolist() == [1]
    assert collider_votes(path, ListedIndependence(3, [(0, 2, [1])]), "cpc").labels.tolist() == [0]
    square = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]])
    both = collider_votes(square, ListedIndependence(4, [(0, 2, [1, 3]), (0, 2, [1])]), "mpc")
    assert both.n_sets[both.triples[:, 1] == 1].tolist() == [2]  # {1, 3} belongs to both ends and counts once
    assert unshielded_triples(square).tolist() == [[0, 1, 2], [0, 3, 2], [1, 0, 3], [1, 2, 3]]


def test_smaller_alpha_gives_sparser_graphs_and_stable_ones_are_sparser():
    _, X = sample(150, 50, 7)
    stable = [adjacency_search(GaussianIndependence(X, a)).adjacency.sum() for a in (0.001, 0.01, 0.04)]
    original = [
        adjacency_search(GaussianIndependence(X, a), method="original").adjacency.sum() for a in (0.001, 0.01, 0.04)
    ]
    assert stable[0] < stable[1] < stable[2]
    assert all(a <= b for a, b in zip(stable, original, strict=True)) and stable[2] < original[2]


def test_consistency_on_the_graph_of_example_2():
    weights = EXAMPLE_2.adjacency * np.array(
        [[0.7, 0.7, 0, 0, 0.5]] + [[0.8] * 5] + [[0.6] * 5] + [[0.9] * 5] + [[0] * 5]
    )
    model = LinearSEM(weights)
    exact = []
    for n in (100, 10_000):
        alpha = 2 * stats.norm.sf(n**0.25)
        found = [pc(GaussianIndependence(model.sample(n, random_state=s), alpha)).graph for s in range(25)]
        exact.append(np.mean([graph == cpdag(EXAMPLE_2) for graph in found]))
    assert exact[0] < 0.1 and exact[1] > 0.9


def test_ida_is_the_effects_in_all_equivalent_dags():
    model, _ = sample(6, 5, 8, n_neighbors=1.6)
    graph, covariance = cpdag(model.dag), model.covariance
    pairs = model.dag.edges
    dags = []
    for flips in product((False, True), repeat=len(pairs)):
        try:
            other = DAG.from_edges(6, [(j, i) if f else (i, j) for f, (i, j) in zip(flips, pairs, strict=True)])
        except ValueError:
            continue
        if cpdag(other) == graph:
            dags.append(other)
    assert len(dags) > 2
    for x in range(6):
        effects = ida(graph, covariance, x)
        for y in set(range(6)) - {x}:
            expected = []
            for dag in dags:
                Z = [x, *dag.parents(x)]
                beta = np.linalg.solve(covariance[np.ix_(Z, Z)], covariance[Z, y])[0]
                expected.append(0.0 if y in dag.parents(x) else beta)
            assert {round(float(e), 8) + 0.0 for e in effects[:, y]} == {round(float(e), 8) + 0.0 for e in expected}
            assert np.array_equal(ida(graph, covariance, x, y), effects[:, y])
    assert np.allclose(ida_lower_bounds(graph, covariance)[0], np.abs(ida(graph, covariance, 0)).min(axis=0))


def test_ida_with_the_true_dag_is_the_total_effect():
    model, _ = sample(8, 5, 9, n_neighbors=3)
    marks = np.where(model.adjacency, 2, np.where(model.adjacency.T, 3, 0))
    total = np.linalg.inv(np.eye(8) - model.weights) - np.eye(8)
    assert np.allclose(ida_lower_bounds(MixedGraph(marks), model.covariance), np.abs(total), atol=1e-9)


def test_a_summary_of_stability_lists_edges_with_their_directions():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 300))
    X = pd.DataFrame({"rain": a, "tap": b, "wet": a + b + 0.5 * rng.normal(size=300), "dust": rng.normal(size=300)})
    found = stability_selection(X, n_draws=10, random_state=0)
    lines = str(found.summary(0.9)).splitlines()
    assert lines[0] == "Stability over 10 subsamples" and {line.split("  ")[0] for line in lines[3:5]} == {
        "rain - wet",
        "tap - wet",
    }
    there, back, rest = (float(word) for word in lines[3].split()[-3:])
    assert there == found.directed[0 if lines[3].startswith("rain") else 1, 2] and there + back + rest == pytest.approx(
        1.0
    )
    assert "2 of 6 pairs" in lines[-1]


def test_stability_selection_counts_edges_in_the_columns_of_the_data():
    model, X = sample(10, 400, 10, weights=(0.7, 1.0))
    settled = stability_selection(X, n_draws=10, random_state=0, top=5)
    strong = PC(1e-4).fit(X).graph_.adjacency
    assert (settled.adjacent[strong] > 0.8).all() and settled.adjacent[
        ~(model.adjacency | model.adjacency.T)
    ].max() < 0.6
    assert np.allclose(settled.adjacent, settled.adjacent.T) and (settled.directed <= settled.adjacent).all()
    assert settled.ranked.sum() <= 5 + 1e-9 and stability_selection(X, n_draws=2, random_state=0).ranked is None
    again = stability_selection(X, n_draws=10, random_state=0, top=5)
    assert np.array_equal(settled.adjacent, again.adjacent)
    original = PC(0.05, stable=False, colliders="sepset", lists=False)
    assert stability_selection(X, original, n_draws=3, permute=False, random_state=1).adjacent.max() == 1.0


def test_bic_by_the_density_and_the_two_numbers_of_parameters():
    model, X = sample(5, 80, 11, n_neighbors=3)
    dag = model.dag
    centred = X - X.mean(axis=0)
    W, D = np.zeros((5, 5)), np.zeros(5)
    for j in range(5):
        W[list(dag.parents(j)), j] = np.linalg.lstsq(centred[:, dag.parents(j)], centred[:, j], rcond=None)[0]
        D[j] = np.var(centred[:, j] - centred @ W[:, j])
    fitted = LinearSEM(W, D).covariance
    fit = -2 * stats.multivariate_normal(X.mean(axis=0), fitted).logpdf(X).sum()
    assert gaussian_bic(X, dag) == pytest.approx(fit + np.log(80) * (len(dag.edges) + 10))
    printed = int((np.abs(np.triu(fitted)) > 1e-12).sum()) + 5
    assert gaussian_bic(X, dag, parameters="covariance") == pytest.approx(fit + np.log(80) * printed)


def test_alpha_by_bic():
    _, X = sample(20, 300, 12, weights=(0.4, 1.0))
    choice = choose_alpha_bic(X, [1e-12, 1e-4, 0.01, 0.5])
    assert choice.alpha in (1e-4, 0.01) and choice.bic.argmin() == list(choice.alphas).index(choice.alpha)
    assert (np.diff(choice.n_edges) > 0).all()
    clash = choose_alpha_bic(sample(30, 20, 13)[1], [0.3])  # contradictions: no DAG of that class
    assert not clash.consistent[0] and np.isfinite(clash.bic[0])


def test_valid_cpdags():
    for seed in range(20):
        dag = random_dag(8, 2.5, random_state=seed)
        assert is_valid_cpdag(cpdag(dag))
        directed = np.where(dag.adjacency, 2, np.where(dag.adjacency.T, 3, 0))
        assert is_valid_cpdag(MixedGraph(directed)) == (cpdag(dag).undirected_edges == ())
    assert not is_valid_cpdag(MixedGraph.from_edges(2, bidirected=[(0, 1)]))


def test_units_origin_rows_and_layout_do_not_matter():
    _, X = sample(20, 80, 14)
    graph = PC(0.05).fit(X).graph_
    rng = np.random.default_rng(0)
    for other in (
        X * 10.0 ** rng.uniform(-8, 8, 20),
        X + 1e4,
        X[rng.permutation(80)],
        np.asfortranarray(X),
        X.tolist(),
    ):
        assert PC(0.05).fit(other).graph_ == graph
    before = X.copy()
    PC().fit(X)
    assert np.array_equal(before, X)


def test_bad_data_and_parameters_are_refused():
    _, X = sample(6, 30, 15)
    hole = X.copy()
    hole[2, 3] = np.nan
    for data, message in [
        (hole, "NaN"),
        (np.column_stack([X, np.ones(30)]), "constant column, but column 6"),
        (np.column_stack([X, 2 * X[:, 1]]), "copies among the columns, but 1 and 6"),
        (X[:3], "minimum of 4"),
    ]:
        with pytest.raises(ValueError, match=message):
            PC().fit(data)
    for parameters, message in [
        ({"alpha": 0}, "alpha"),
        ({"alpha": 1.5}, "alpha"),
        ({"colliders": "vote"}, "colliders must be"),
        ({"colliders": 0.7}, "colliders must be"),
        ({"test": "t"}, "test must be"),
        ({"order": [0, 1, 2]}, "order must be a permutation"),
        ({"max_level": -1}, "max_level"),
    ]:
        with pytest.raises(ValueError, match=message):
            PC(**parameters).fit(X)
    with pytest.raises(TypeError, match="ci_test"):
        pc(X)
    with pytest.raises(ValueError, match="method"):
        adjacency_search(GaussianIndependence(X), method="fast")
    with pytest.raises(ValueError, match="symmetric"):
        unshielded_triples([[0, 1], [0, 0]])
    with pytest.raises(ValueError, match="belong to adjacency"):
        orient_colliders(np.zeros((2, 2)), SeparatingSets(1 - np.eye(2), {}))
    with pytest.raises(KeyError, match="edge"):
        SeparatingSets([[0, 1], [1, 0]], {})[0, 1]


def test_few_observations_stop_the_search_with_a_warning():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(5, 1)) + 0.1 * rng.normal(size=(5, 8))
    with pytest.warns(UserWarning, match="stopped at level 1: with n = 5"):
        found = adjacency_search(GaussianIndependence(X, 0.95))
    assert not found.converged and found.n_iter == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert adjacency_search(GaussianIndependence(sample(8, 50, 0)[1])).converged


def test_small_and_empty_problems():
    X = np.random.default_rng(2).normal(size=(20, 1))
    assert PC().fit(X).graph_ == MixedGraph([[0]])
    two = np.column_stack([X, X + np.random.default_rng(3).normal(size=(20, 1))])
    assert PC(0.5).fit(two).graph_.undirected_edges == ((0, 1),)
    assert adjacency_search(ListedIndependence(0, [])).adjacency.shape == (0, 0)


def test_a_sum_of_columns_is_answered_as_documented():
    """A column that is a function of others is independent of everything given them: no NaN, no crash."""
    _, X = sample(6, 100, 16)
    X = np.column_stack([X, X[:, 0] + X[:, 1]])
    found = PC(0.05).fit(X)
    assert found.graph_.adjacency.shape == (7, 7)
    assert GaussianIndependence(X).independent(6, 5, [0, 1])


def test_other_tests():
    rng = np.random.default_rng(4)
    model, X = sample(6, 400, 17, weights=(0.5, 1.0))
    for test in ("spearman", "kendall"):
        bent = PC(0.01, test=test).fit(np.exp(X / X.std(axis=0))).skeleton_
        assert np.array_equal(bent, PC(0.01, test=test).fit(X).skeleton_)
        assert ((bent & bent.T) == (model.adjacency | model.adjacency.T)).mean() > 0.85
    a, b = rng.integers(0, 2, size=(2, 800))
    c = (a + b + (rng.random(800) < 0.1)) % 3
    table = PC(0.01, test="gsquare").fit(np.column_stack([a, b, c])).graph_
    assert table.directed_edges == ((0, 2), (1, 2))


def test_hubs_are_skipped_and_counted():
    star = np.zeros((42, 42), dtype=bool)
    star[0, 2:22] = star[2:22, 0] = star[1, 2] = star[2, 1] = star[1, 22:] = star[22:, 1] = True
    votes = collider_votes(star, ListedIndependence(42, []), "mpc")
    place = votes.triples.tolist().index([0, 2, 1])
    assert votes.labels[place] == -1 and votes.n_skipped == 1
    X = np.random.default_rng(0).normal(size=(30, 42))
    assert collider_votes(star, GaussianIndependence(X), "mpc").n_skipped == 1


def test_estimated_graphs_may_have_no_extension():
    _, X = sample(40, 30, 18)
    graphs = [PC(0.2, colliders="sepset", lists=lists).fit(X).graph_ for lists in (False, True)]
    for graph in chain(graphs):
        try:
            pdag_to_dag(graph)
        except ValueError:
            assert not is_valid_cpdag(graph)
    assert graphs[1].bidirected_edges


def test_erratum_the_covariance_of_a_sparse_dag_is_dense():
    chain = DAG(np.eye(10, k=1, dtype=bool))
    X = LinearSEM(0.5 * np.eye(10, k=1)).sample(50, random_state=0)
    more = gaussian_bic(X, chain, parameters="covariance") - gaussian_bic(X, chain)
    assert more == pytest.approx(np.log(50) * (55 + 10 - (9 + 20)))


def early_to_late(dag, size):
    """Tiers of a few nodes each that a DAG agrees with."""
    return np.argsort(dag.topological_order) // size


@pytest.mark.parametrize("colliders", ["sepset", "mpc", "cpc"])
def test_tiers_draw_what_is_true_and_more_than_without(colliders):
    """With perfect answers: every arrow is one of the DAG, none of the CPDAG is lost, all between tiers are drawn."""
    more = 0
    for seed in range(40):
        dag = random_dag(8, 2.5, random_state=seed)
        tiers = early_to_late(dag, 3)
        options = {"colliders": colliders, "lists": colliders != "sepset"}
        plain = pc(OracleIndependence(dag), **options).graph
        timed = pc(OracleIndependence(dag), tiers=tiers, **options).graph
        true = {(int(i), j) for j in range(8) for i in dag.parents(j)}
        drawn, before = set(timed.directed_edges), set(plain.directed_edges)
        assert before <= drawn <= true and not timed.bidirected_edges
        assert np.array_equal(timed.adjacency, plain.adjacency)
        assert {(i, j) for i, j in true if tiers[i] < tiers[j]} <= drawn
        more += len(drawn - before)
    assert more > 40


class OneByOne:
    """A test of independence that no compiled search knows."""

    def __init__(self, ci_test):
        self.ci_test, self.n_nodes = ci_test, ci_test.n_nodes

    @property
    def n_tests(self):
        return self.ci_test.n_tests

    def independent(self, i, j, given=()):
        return self.ci_test.independent(i, j, given)


@pytest.mark.parametrize("colliders", ["sepset", "mpc"])
def test_tiers_in_compiled_code_and_one_test_at_a_time(colliders):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((120, 9)) @ (np.eye(9) + 0.5 * rng.standard_normal((9, 9)))
    tiers = [2, 0, 1, 1, 0, 2, 2, 0, 1]
    options = {"colliders": colliders, "lists": True, "tiers": tiers}
    fast = pc(GaussianIndependence(X, 0.05), **options)
    slow = pc(OneByOne(GaussianIndependence(X, 0.05)), **options)
    assert fast.graph == slow.graph and fast.ambiguous == slow.ambiguous
    assert fast.tests_by_level == slow.tests_by_level and fast.n_tests == slow.n_tests
    assert all(max(np.take(tiers, S), default=0) <= max(tiers[i], tiers[j]) for (i, j), S in fast.sepsets.items())
    assert not any(tiers[i] > tiers[j] for i, j in fast.graph.directed_edges)
    assert fast.graph != pc(GaussianIndependence(X, 0.05), colliders=colliders, lists=True).graph
    back = rng.permutation(9)
    turned = pc(GaussianIndependence(X[:, back], 0.05), **options | {"tiers": np.take(tiers, back)})
    if colliders == "mpc":  # which separating set is found first may depend on the order
        assert np.array_equal(turned.graph.marks, fast.graph.marks[np.ix_(back, back)])


def test_one_tier_is_none_and_bad_tiers_are_refused():
    X = np.random.default_rng(0).standard_normal((60, 4)) @ np.triu(np.ones((4, 4)))
    assert PC(tiers=[7] * 4).fit(X).graph_ == PC().fit(X).graph_
    for tiers in ([0, 1], [0.5, 1, 2, 3], [[0, 1, 2, 3]], "0123"):
        with pytest.raises(ValueError, match="tiers must hold a whole number for each of the 4 nodes"):
            PC(tiers=tiers).fit(X)
