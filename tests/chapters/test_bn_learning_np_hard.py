"""Why learning a network stays hard with infinite data: the claims of the source, checked."""

import itertools
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest

from learnable.chapters.bn_learning_np_hard.feedback import (
    greedy_feedback_arcs,
    is_feedback_arc_set,
    minimum_feedback_arcs,
    prune_digraph,
    random_bounded_digraph,
)
from learnable.chapters.bn_learning_np_hard.properties import (
    is_binary_like,
    is_bll,
    is_bltsp,
    is_lattice,
    is_totally_strictly_positive,
)
from learnable.chapters.bn_learning_np_hard.reduction import (
    dag_to_feedback,
    dbfas_to_learn,
    feedback_to_dag,
    learn_bound,
    verify_solution,
)
from learnable.chapters.bn_learning_np_hard.theory import LearnOracle
from learnable.chapters.bn_learning_np_hard.transformations import (
    NamedNetwork,
    eliminate_observed,
    separate_observed_children,
    shorten_paths,
)
from learnable.graphs import (
    conditional_dependence,
    faithful_network,
    faithful_table,
    minimal_imap,
    order_search,
    perfectness_report,
)
from learnable.graphs.dags import DAG, d_separated, markov_equivalent, random_dag
from learnable.graphs.discrete import count_parameters, random_network
from learnable.graphs.equivalence import includes, is_covered, reverse_covered_edge
from learnable.graphs.imaps import order_imap

TWO_CYCLE = [(0, 1), (1, 0)]
THREE_CYCLE = [(0, 1), (1, 2), (2, 0)]


def all_dags(n):
    pairs = list(itertools.combinations(range(n), 2))
    for ways in itertools.product(range(3), repeat=len(pairs)):
        adjacency = np.zeros((n, n), dtype=bool)
        for (i, j), way in zip(pairs, ways, strict=True):
            adjacency[i, j], adjacency[j, i] = way == 1, way == 2
        try:
            yield DAG(adjacency)
        except ValueError:
            continue


def draws(seed, count, n_nodes=5, n_neighbors=2.5, most=3):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        dag = random_dag(n_nodes, n_neighbors, random_state=rng)
        yield dag, rng.integers(2, most + 1, size=n_nodes).tolist(), rng


@pytest.mark.parametrize("alpha", [0.05, 1 / 16, 0.3, 0.9])
def test_claim_tables_are_bll_and_bltsp_up_to_six_parents(alpha):
    for m in range(7):
        table = faithful_table(3, [2, 3, 2, 2, 3, 2][:m], alpha)
        assert is_bll(table) and is_bltsp(table)
        assert is_bll(table, distinguished_only=True) and is_bltsp(table, distinguished_only=True)


def test_claim_concavity_is_what_makes_total_positivity_strict():
    """With an exponent that is linear in the number of non-zero parents the product inequality is an equality."""
    off = np.indices((2, 2, 2)).sum(axis=0)
    for exponent, strict in ((1 + off / 4, False), (2 - 2.0**-off, True), (1 + off**2 / 16, False)):
        f = 0.3**exponent
        table = np.stack([f, 1 - f], axis=-1)
        assert is_lattice(table) and is_totally_strictly_positive(table) == strict


def test_properties_one_by_one():
    f = np.array([[0.5, 0.4, 0.3], [0.2, 0.1, 0.1]])
    table = np.stack([f, 1 - f], axis=-1)
    assert is_lattice(table) and not is_binary_like(table) and not is_bll(table)
    three = np.array([[0.5, 0.3, 0.2], [0.2, 0.5, 0.3]])  # states 1 and 2 of the child differ
    assert is_binary_like(three, distinguished_only=True) and not is_binary_like(three)
    assert is_bll(three, distinguished_only=True) and not is_bll(three)
    assert not is_lattice(three[::-1]) and is_bltsp(three, distinguished_only=True)
    exact = faithful_table(2, [2, 2], exact=True)
    assert is_bll(exact) and is_bltsp(exact)
    tie = exact.copy()
    tie[1, 1] = tie[1, 0]
    assert not is_lattice(tie)


def test_properties_ignore_memory_layout_and_leave_the_table_alone():
    table = np.asfortranarray(faithful_table(3, [2, 4], 0.2))
    before = table.copy()
    assert is_bll(table) and is_bltsp(table) and (table == before).all()


def joint_table(dag, tables):
    """Joint distribution of a network by one product of its tables, which may hold Fractions."""
    joint = 1
    for i, table in enumerate(tables):
        axes = [*sorted(dag.parents(i)), i]
        order = np.argsort(axes)
        shape = [1] * dag.n_nodes
        for axis in order:
            shape[axes[axis]] = table.shape[axis]
        joint = joint * table.transpose(order).reshape(shape)
    return joint


def test_claim_lemma_5_exactly_in_fractions():
    for dag, states, _ in draws(2, 3, n_nodes=4, n_neighbors=2):
        alpha = Fraction(1, 2**16)
        tables = [faithful_table(states[i], [states[j] for j in dag.parents(i)], alpha, exact=True) for i in range(4)]
        report = perfectness_report(joint_table(dag, tables), dag)
        assert report.perfect and report.tol == 0
        assert all(d == 0 for d, s in zip(report.dependence, report.separated, strict=True) if s)


def test_claim_lemma_1_covered_reversal_is_equivalence_for_all_dags_of_four_nodes():
    seen = 0
    for dag in all_dags(4):
        for x, y in dag.edges:
            adjacency = dag.adjacency.copy()
            adjacency[x, y], adjacency[y, x] = False, True
            try:
                turned = DAG(adjacency)
            except ValueError:
                assert not is_covered(dag, x, y)
                continue
            assert is_covered(dag, x, y) == markov_equivalent(dag, turned)
            if is_covered(dag, x, y):
                assert reverse_covered_edge(dag, x, y) == turned
            seen += 1
    assert seen > 1000


def test_claim_lemma_2_equivalent_dags_have_equal_parameters():
    states = [2, 3, 4, 5]
    found = {}
    for dag in all_dags(4):
        skeleton = tuple(map(tuple, dag.adjacency | dag.adjacency.T))
        parents = [set(dag.parents(i)) for i in range(4)]
        colliders = frozenset(
            (i, j, k) for j in range(4) for i, k in itertools.combinations(sorted(parents[j]), 2) if not skeleton[i][k]
        )
        found.setdefault((skeleton, colliders), set()).add(count_parameters(dag, states))
    assert len(found) == 185 and all(len(sizes) == 1 for sizes in found.values())


def test_claim_inclusion_means_that_all_independences_hold():
    """Against all d-separations of the larger graph, not only the short list."""
    rng = np.random.default_rng(7)
    answers = set()
    for _ in range(60):
        large, small = (random_dag(4, d, random_state=rng) for d in (2.4, 1.2))
        every = all(
            d_separated(small, x, y, given)
            for x, y in itertools.combinations(range(4), 2)
            for size in range(3)
            for given in itertools.combinations([z for z in range(4) if z not in (x, y)], size)
            if d_separated(large, x, y, given)
        )
        assert includes(large, small) == every
        answers.add(every)
    assert answers == {True, False}


def test_inclusion_with_hidden_nodes():
    confounded = DAG.from_edges(3, [(2, 0), (2, 1)])  # node 2 is hidden
    assert not includes(DAG.from_edges(2, []), confounded, [0, 1])
    assert includes(DAG.from_edges(2, [(1, 0)]), confounded, [0, 1])


def same_posterior(before, after, observed, after_observed=None):
    """p(u | o) over the nodes that are left is what it was."""
    old = before.posterior(observed)
    names = sorted(node for node in before.nodes if node not in observed)
    kept = sorted(node for node in after.nodes if node not in (after_observed or {}))
    old = old.sum(axis=tuple(n for n, name in enumerate(names) if name not in kept))
    np.testing.assert_allclose(np.squeeze(after.posterior(after_observed or {})), np.squeeze(old), rtol=1e-11)


def networks(seed, count, n_nodes=5):
    for dag, states, rng in draws(seed, count, n_nodes=n_nodes):
        yield NamedNetwork.from_network(random_network(dag, n_states=states, random_state=rng)), rng


def test_claim_deleting_an_observed_edge_keeps_the_posterior():
    for net, _ in networks(10, 10):
        for parent, child in net.edges:
            observed = {parent: 1}
            after = net.delete_edge(parent, child, 1)
            assert (parent, child) not in after.edges and len(after.edges) == len(net.edges) - 1
            same_posterior(net, after, observed, observed)


def test_claim_reversing_an_edge_keeps_the_joint():
    turned = 0
    for net, _ in networks(11, 15):
        for parent, child in net.edges:
            try:
                after = net.reverse_edge(parent, child)
            except ValueError:
                assert any(parent in net.parents[q] or q in net.descendants(parent) for q in net.parents[child])
                continue
            assert (child, parent) in after.edges
            assert set(after.parents[parent]) - {child} == set(after.parents[child])
            same_posterior(net, after, {})
            turned += 1
    assert turned > 20


def test_claim_combining_childless_nodes_keeps_the_joint():
    merged = 0
    for net, _ in networks(12, 20):
        childless = [node for node in net.nodes if not net.children(node)]
        if len(childless) < 2:
            continue
        after = net.combine(childless)
        name = "+".join(childless)
        sizes = [net.tables[node].shape[-1] for node in childless]
        assert after.tables[name].shape[-1] == np.prod(sizes)
        states = [size - 1 for size in sizes]
        observed = dict(zip(childless, states, strict=True))
        same_posterior(net, after, observed, {name: int(np.ravel_multi_index(states, sizes))})
        merged += 1
    assert merged > 3


def test_claim_barren_nodes_may_go():
    for net, _ in networks(13, 10):
        barren = [node for node in net.nodes if not net.children(node)]
        same_posterior(net, net.remove_barren(barren[0]), {})
        inner = [node for node in net.nodes if net.children(node)]
        if inner:
            with pytest.raises(ValueError, match="not barren"):
                net.remove_barren(inner[0])


def test_claim_separating_observed_children_keeps_the_posterior():
    done = 0
    for net, _ in networks(14, 20):
        childless = [node for node in net.nodes if not net.children(node)]
        observed = dict.fromkeys(childless, 1)
        for node in [n for n in net.nodes if any(c in childless for c in net.children(n))]:
            try:
                after, left = separate_observed_children(net, node, observed)
            except ValueError:  # another path leads to the children
                continue
            assert not any(child in left for child in after.children(node))
            same_posterior(net, after, observed, left)
            done += 1
    assert done > 10


def test_claim_path_shortening_leaves_roots_and_the_node():
    for net, _ in networks(15, 20):
        for node in [n for n in net.nodes if net.parents[n]]:
            after = shorten_paths(net, node)
            above = {q for q in net.nodes if node in net.descendants(q)}
            roots = {q for q in above if not net.parents[q]}
            assert set(after.nodes) == roots | {node} and set(after.edges) == {(r, node) for r in roots}
            same_posterior(net, after, {})


def test_claim_observed_node_elimination():
    for net, rng in networks(16, 25):
        chosen = rng.choice(net.nodes, size=2, replace=False)
        observed = {str(node): 1 for node in chosen}
        done = eliminate_observed(net, observed)
        assert set(done.network.nodes) == set(net.nodes) - set(observed)
        assert len(set(done.chosen)) == len(done.chosen)
        same_posterior(net, done.network, observed)


def test_claim_elimination_keeps_bll_when_the_observed_are_zero():
    for dag, states, rng in draws(17, 25):
        net = NamedNetwork.from_network(faithful_network(dag, states))
        observed = {str(node): 0 for node in rng.choice(5, size=2, replace=False)}
        done = eliminate_observed(net, observed)
        assert all(is_bll(table, tol=1e-10) for table in done.network.tables.values())


def test_claim_path_shortening_keeps_bll():
    for dag, states, _ in draws(18, 20):
        net = NamedNetwork.from_network(faithful_network(dag, states))
        for node in [n for n in net.nodes if net.parents[n]]:
            assert is_bll(shorten_paths(net, node).tables[node], tol=1e-10)


def test_claim_lemma_24_a_spared_node_without_unobserved_parents_stays_a_root():
    spared = 0
    for net, rng in networks(19, 30):
        observed = {str(node): 0 for node in rng.choice(net.nodes, size=2, replace=False)}
        for node in net.nodes:
            if node not in observed and all(q in observed for q in net.parents[node]):
                after = eliminate_observed(net, observed, spare=node).network
                assert not after.parents[node]
                spared += 1
    assert spared > 20


def test_transformations_work_on_fractions():
    half, quarter = Fraction(1, 2), Fraction(1, 4)
    tables = {"a": np.array([half, half]), "b": np.array([[quarter, 3 * quarter], [half, half]])}
    after = NamedNetwork({"a": (), "b": ("a",)}, tables).reverse_edge("a", "b")
    assert after.tables["a"][0, 0] == Fraction(1, 3) and after.tables["b"][0] == Fraction(3, 8)


def brute_force_feedback(arcs):
    for size in range(len(arcs) + 1):
        for chosen in itertools.combinations(arcs, size):
            graph = nx.DiGraph()
            graph.add_edges_from(arc for arc in arcs if arc not in chosen)
            if nx.is_directed_acyclic_graph(graph):
                return size


def test_claim_feedback_arc_sets_are_smallest():
    rng = np.random.default_rng(20)
    for _ in range(15):
        arcs = [tuple(a) for a in np.argwhere(rng.random((5, 5)) < 0.35).tolist()]
        want = brute_force_feedback(arcs)
        for method in ("auto", "subsets", "milp"):
            found = minimum_feedback_arcs(arcs, method=method)
            assert len(found) == want and is_feedback_arc_set(arcs, found)
        greedy = greedy_feedback_arcs(arcs)
        assert is_feedback_arc_set(arcs, greedy) and len(greedy) >= want


def test_subsets_and_cycles_agree_on_larger_graphs():
    for seed in range(3):
        arcs = random_bounded_digraph(16, random_state=seed)
        assert len(minimum_feedback_arcs(arcs, method="subsets")) == len(minimum_feedback_arcs(arcs, method="milp"))


def test_random_digraphs_keep_the_degrees():
    for n, seed in itertools.product((2, 3, 7, 20), range(5)):
        arcs = random_bounded_digraph(n, random_state=seed)
        leaving, entering = (np.bincount([a[e] for a in arcs], minlength=n) for e in (0, 1))
        assert leaving.min() >= 1 and entering.min() >= 1 and (leaving + entering).max() <= 3
        assert all(i != j for i, j in arcs) and len(set(arcs)) == len(arcs)
        assert arcs == random_bounded_digraph(n, random_state=seed)


def test_pruning_leaves_what_lies_between_cycles():
    assert prune_digraph([(0, 1), (1, 2)]) == ([], [])
    assert prune_digraph([(5, 5), (5, 6)]) == ([(0, 0)], [5])
    assert len(minimum_feedback_arcs([(7, 10**12), (10**12, 7)])) == 1


def test_claim_gadget_counts():
    instance = dbfas_to_learn([(0, 0)], 1)
    r = instance.n_states
    fixed = [instance.node(letter, (0, 0)) for letter in "ABDEG"]
    assert sum((r[v] - 1) * int(np.prod([r[q] for q in instance.dag.parents(v)])) for v in fixed) == 186
    paid = feedback_to_dag(dbfas_to_learn(TWO_CYCLE, 1), TWO_CYCLE)
    instance = dbfas_to_learn(TWO_CYCLE, 1)
    both = feedback_to_dag(instance, [(0, 1)])
    r = instance.n_states

    def cost(dag, arc):
        nodes = [instance.node(letter, arc) for letter in "CF"]
        return [(r[v] - 1) * int(np.prod([r[q] for q in dag.parents(v)])) for v in nodes]

    assert cost(both, (0, 1)) == [16, 2] and cost(both, (1, 0)) == [4, 12] and cost(paid, (1, 0)) == [16, 2]


def test_claim_paths_through_gadgets():
    instance = dbfas_to_learn(TWO_CYCLE, 1)
    dag = feedback_to_dag(instance, [(0, 1)])
    assert 1 not in dag.descendants([0]) and 0 in dag.descendants([1])
    B, F = instance.node("B", (1, 0)), instance.node("F", (1, 0))
    assert {(1, B), (B, F), (F, 0)} <= set(dag.edges)


def test_claim_the_hidden_network_is_sparse_and_perfect():
    instance = dbfas_to_learn([*THREE_CYCLE, (0, 2)], 1)  # a vertex with two incoming arcs
    assert max(len(instance.dag.parents(v)) for v in range(instance.dag.n_nodes)) == 2
    denominators = {Fraction(float(v)).denominator for table in instance.network().tables for v in table.flat}
    assert max(denominators) == 1024  # ten bits for each parameter
    assert len(instance.names) == instance.dag.n_nodes == len(instance.n_states) == 3 + 4 * 8


def test_claim_gadgets_include_p_and_no_edge_is_spare():
    instance = dbfas_to_learn(TWO_CYCLE, 2)
    for feedback in ([(0, 1)], TWO_CYCLE):
        dag = feedback_to_dag(instance, feedback)
        assert verify_solution(dag, instance).accepted
        for edge in dag.edges:
            adjacency = dag.adjacency.copy()
            adjacency[edge] = False
            found = verify_solution(adjacency, instance)
            assert not found.accepted and "include" in found.reasons[0]


def test_claim_round_trip_on_random_digraphs():
    for seed in range(8):
        arcs = random_bounded_digraph(6 + seed % 5, random_state=seed)
        smallest = minimum_feedback_arcs(arcs)
        instance = dbfas_to_learn(arcs, len(smallest))
        dag = feedback_to_dag(instance, smallest)
        assert dag.adjacency.sum(axis=0).max() <= 3  # Theorem 16: three parents are enough
        answer = verify_solution(dag, instance)
        assert answer.accepted and answer.n_parameters == instance.bound == learn_bound(arcs, len(smallest))
        back = dag_to_feedback(dag, instance)
        assert is_feedback_arc_set(arcs, back) and len(back) == len(smallest)
        tighter = dbfas_to_learn(arcs, len(smallest) - 1)
        assert not verify_solution(dag, tighter).accepted


def test_claim_fewer_arcs_cannot_be_reached_by_gadgets():
    arcs = random_bounded_digraph(5, random_state=3)
    k = len(minimum_feedback_arcs(arcs))
    instance = dbfas_to_learn(arcs, k)
    for chosen in itertools.combinations(arcs, k - 1):
        with pytest.raises(ValueError, match="is left"):
            feedback_to_dag(instance, chosen)


def test_claim_any_dag_gives_a_feedback_arc_set():
    arcs = random_bounded_digraph(5, random_state=1)
    instance = dbfas_to_learn(arcs, 1)
    rng = np.random.default_rng(0)
    for _ in range(5):
        dag = order_imap(instance.dag, rng.permutation(instance.n_observed))
        assert is_feedback_arc_set(arcs, dag_to_feedback(dag, instance))


def test_verifier_rejects_tampered_solutions():
    instance = dbfas_to_learn(THREE_CYCLE, 1)
    good = feedback_to_dag(instance, [(2, 0)]).adjacency
    C, F, E = (instance.node(letter, (0, 1)) for letter in "CFE")
    turned = good.copy()
    turned[C, F], turned[F, C] = False, True
    assert "include" in verify_solution(turned, instance).reasons[0]
    cyclic = good.copy()
    cyclic[F, E] = True
    assert "cycle" in verify_solution(cyclic, instance).reasons[0]
    dear = good.copy()
    dear[E, C] = True
    assert any("parameters" in reason for reason in verify_solution(dear, instance).reasons)
    assert not verify_solution(feedback_to_dag(instance, THREE_CYCLE), instance).accepted
    assert not verify_solution(good, instance, max_parents=2).accepted
    assert verify_solution(good, instance, max_parents=None).accepted


@pytest.mark.parametrize(("arcs", "want"), [([(0, 0)], 220), (TWO_CYCLE, 438)])
def test_claim_exact_minimum_is_the_bound(arcs, want):
    instance = dbfas_to_learn(arcs, 1)
    found = minimal_imap(instance.dag, instance.observed_states, n_observed=instance.n_observed)
    assert found.n_parameters == want == instance.bound == count_parameters(found.dag, instance.observed_states)
    assert verify_solution(found.dag, instance).accepted
    assert len(dag_to_feedback(found.dag, instance)) == 1
    assert learn_bound(arcs, 0) == want - 2
    bounded = minimal_imap(instance.dag, instance.observed_states, n_observed=instance.n_observed, max_parents=3)
    assert bounded.n_parameters == want


def test_order_imaps_include_the_truth_and_are_minimal():
    instance = dbfas_to_learn(THREE_CYCLE, 1)
    order = np.random.default_rng(0).permutation(instance.n_observed)
    dag = order_imap(instance.dag, order)
    assert includes(dag, instance.dag, range(instance.n_observed))
    for edge in dag.edges[::5]:
        adjacency = dag.adjacency.copy()
        adjacency[edge] = False
        assert not includes(DAG(adjacency), instance.dag, range(instance.n_observed))


def test_claim_local_search_includes_p_and_stays_above_the_optimum():
    instance = dbfas_to_learn(THREE_CYCLE, 1)
    found = order_search(
        instance.dag, instance.observed_states, n_observed=instance.n_observed, n_restarts=5, random_state=0
    )
    assert found.n_parameters == count_parameters(found.dag, instance.observed_states) > instance.bound
    assert includes(found.dag, instance.dag, range(instance.n_observed))
    assert order_search(DAG.from_edges(4, [(0, 3), (1, 3), (2, 3)]), 2, random_state=0).n_parameters == 11


def test_claim_constrained_inference_is_marginalisation():
    instance = dbfas_to_learn([(0, 0)], 1)
    oracle = LearnOracle(instance)
    rng = np.random.default_rng(40)
    operands = [part for f in oracle.network.factors() for part in (f.values, list(f.variables))]
    for _ in range(12):
        variables = rng.choice(instance.n_observed, size=3, replace=False).tolist()
        table = np.einsum(*operands, variables, optimize="greedy")
        np.testing.assert_allclose(oracle.marginal(variables), table, rtol=1e-12)
        states = [int(rng.integers(instance.n_states[v])) for v in variables]
        assert oracle.probability(dict(zip(variables, states, strict=True))) == pytest.approx(table[tuple(states)])


def test_claim_pieces_stay_small_as_the_digraph_grows():
    largest = []
    for n in (3, 12, 40):
        instance = dbfas_to_learn([(i, (i + 1) % n) for i in range(n)], 1)
        oracle = LearnOracle(instance)
        asked = [instance.node("C", (0, 1)), instance.node("C", (1, 2)), instance.node("F", (0, 1))]
        assert oracle.cut_set(asked) == [instance.node("B", (0, 1)), instance.node("B", (1, 2))]
        largest.append(oracle.pieces(asked)[0])
    assert largest[1] == largest[2] <= 10


def test_claim_dependence_is_zero_exactly_where_the_graph_separates():
    instance = dbfas_to_learn(TWO_CYCLE, 1)
    oracle = LearnOracle(instance)
    rng = np.random.default_rng(41)
    both = set()
    for _ in range(40):
        x, y, z = rng.choice(instance.n_observed, size=3, replace=False).tolist()
        separated = oracle.independent(x, y, [z])
        # Information falls with the square of a weak dependence: along a long path it drowns in rounding.
        assert (conditional_dependence(oracle.marginal([x, y, z]), 0, 1, [2]) < 1e-11) == separated
        assert oracle.information(x, y, [z]) < 1e-13 or not separated
        both.add(separated)
    assert both == {True, False} and oracle.n_calls == 120


def test_claim_c_and_f_are_never_separated():
    instance = dbfas_to_learn(TWO_CYCLE, 1)
    oracle = LearnOracle(instance)
    C, F = instance.node("C", (0, 1)), instance.node("F", (0, 1))
    others = [v for v in range(instance.n_observed) if v not in (C, F)]
    rng = np.random.default_rng(42)
    assert not any(oracle.independent(C, F, [v for v in others if rng.random() < 0.5]) for _ in range(50))
    assert not oracle.independent(C, F) and not oracle.independent(C, F, others)


CHAIN = DAG.from_edges(3, [(0, 1), (1, 2)])
NAMED = NamedNetwork({"a": (), "b": ("a",)}, {"a": [0.5, 0.5], "b": [[0.5, 0.5], [0.2, 0.8]]})
INSTANCE = dbfas_to_learn(TWO_CYCLE, 1)
REFUSED = {
    "one state": (lambda: faithful_table(1), "n_states"),
    "alpha 1": (lambda: faithful_table(2, alpha=1.0), "alpha"),
    "alpha nan": (lambda: faithful_table(2, alpha=float("nan")), "alpha"),
    "exact alpha": (lambda: faithful_table(2, alpha=Fraction(3, 2), exact=True), "alpha"),
    "parents that are no list": (lambda: faithful_table(2, 3), "parent_states"),
    "too large": (lambda: faithful_table(2, [9] * 9), "parent_states"),
    "no dag": (lambda: faithful_network("chain"), "dag"),
    "states of another graph": (lambda: faithful_network(CHAIN, [2, 2]), "n_states"),
    "alphas of another graph": (lambda: faithful_network(CHAIN, 2, [0.5]), "alpha"),
    "joint": (lambda: perfectness_report(np.ones((2, 2, 2)), CHAIN), "joint"),
    "joint nan": (lambda: conditional_dependence(np.full((2, 2), np.nan), 0, 1), "joint"),
    "joint of other nodes": (lambda: perfectness_report(np.full((2, 2), 0.25), CHAIN), "joint"),
    "x is y": (lambda: conditional_dependence(np.full((2, 2), 0.25), 0, 0), "different"),
    "table sums": (lambda: is_lattice([0.5, 0.6]), "table"),
    "table negative": (lambda: is_bll([-0.5, 1.5]), "table"),
    "table empty": (lambda: is_bltsp(np.zeros((0, 2))), "table"),
    "not covered": (lambda: reverse_covered_edge(CHAIN, 1, 2), "covered"),
    "no edge": (lambda: is_covered(CHAIN, 0, 2), "edge"),
    "other nodes": (lambda: includes(CHAIN, DAG.from_edges(2, [])), "smaller"),
    "observed twice": (lambda: includes(CHAIN, CHAIN, [0, 0, 1]), "observed"),
    "cycle": (
        lambda: NamedNetwork({"a": ("b",), "b": ("a",)}, {"a": np.full((2, 2), 0.5), "b": np.full((2, 2), 0.5)}),
        "cycle",
    ),
    "no such node": (lambda: NAMED.children("z"), "node must be"),
    "children": (lambda: NAMED.combine(["a", "b"]), "no children"),
    "observed state": (lambda: eliminate_observed(NAMED, {"b": 5}), "observed"),
    "arcs": (lambda: minimum_feedback_arcs([(0, 1, 2)]), "arcs"),
    "arcs twice": (lambda: minimum_feedback_arcs([(0, 1), (0, 1)]), "distinct"),
    "negative": (lambda: greedy_feedback_arcs([(0, -1)]), "arcs"),
    "floats": (lambda: prune_digraph([(0.5, 1.0)]), "arcs"),
    "degree": (lambda: dbfas_to_learn([(0, 1), (1, 0), (0, 2), (2, 0)], 1), "vertex 0"),
    "source": (lambda: learn_bound([(0, 1), (1, 1)], 1), "vertex 0"),
    "no oracle": (lambda: minimal_imap(3, 2), "oracle"),
    "too many": (lambda: minimal_imap(DAG.from_edges(30, []), 2), "n_observed"),
    "too few parents": (lambda: minimal_imap(DAG.from_edges(3, [(0, 2), (1, 2)]), 2, max_parents=1), "max_parents"),
    "order": (lambda: order_imap(CHAIN, [0, 0, 1]), "order"),
    "more than there are": (lambda: order_search(CHAIN, 2, n_observed=4), "n_observed"),
}


@pytest.mark.parametrize("call", REFUSED)
def test_refused_with_a_reason(call):
    run, message = REFUSED[call]
    with pytest.raises((ValueError, TypeError), match=message):
        run()


def test_one_node_and_no_edges():
    single = DAG.from_edges(1, [])
    report = perfectness_report(faithful_network(single).joint(), single)
    assert report.perfect and report.statements == () and report.smallest_dependence == np.inf
    assert minimal_imap(single, 4).n_parameters == 3 and order_imap(single, [0]) == single
    assert minimum_feedback_arcs([]) == [] and is_feedback_arc_set([], [])


def test_erratum_reversal_divides_by_the_probability_without_h():
    net = NamedNetwork.from_network(faithful_network(DAG.from_edges(3, [(0, 1), (0, 2), (1, 2)]), alpha=0.3), "xhy")
    joint = net.joint()  # axes x, h, y
    right = joint / joint.sum(axis=1, keepdims=True)
    printed = (joint / joint.sum(axis=(1, 2), keepdims=True)) / (joint / joint.sum(axis=2, keepdims=True))
    after = net.reverse_edge("h", "y")
    assert after.parents["h"] == ("x", "y")
    np.testing.assert_allclose(after.tables["h"], np.swapaxes(right, 1, 2), rtol=1e-13)
    assert not np.allclose(after.tables["h"], np.swapaxes(printed, 1, 2))


def test_erratum_inequality_9():
    """A table of the recipe satisfies (8) and the mended (9), and not the printed one."""
    f = faithful_table(2, [2, 2], 0.9)[..., 0]
    a1 = a2 = 0.5
    left = f[0, 1] + a1 * (f[0, 0] - f[0, 1])
    assert a1 * f[0, 0] + (1 - a1) * f[0, 1] >= a2 * f[1, 0] + (1 - a2) * f[1, 1]
    assert left >= f[1, 1] + a2 * (f[1, 0] - f[1, 1])
    f = np.array([[0.5, 0.31], [0.49, 0.3]])  # lattice; f10 is larger than the left-hand side
    left = f[0, 1] + a1 * (f[0, 0] - f[0, 1])
    assert is_lattice(np.stack([f, 1 - f], axis=-1))
    assert left >= f[1, 1] + a2 * (f[1, 0] - f[1, 1]) and left < f[1, 0] + a2 * (f[1, 0] - f[1, 1])


def test_erratum_other_additions_cost_sixteen_too():
    """In the graph with the edges common to both versions: what the first addition towards covering an edge costs."""
    instance = dbfas_to_learn(THREE_CYCLE, 1)
    common = feedback_to_dag(instance, [(0, 1)]).adjacency & feedback_to_dag(instance, THREE_CYCLE).adjacency
    for arc in THREE_CYCLE:
        C = instance.node("C", arc)
        common[:, C] = False
        common[instance.node("B", arc), C] = True
        F = instance.node("F", arc)
        common[:, F] = False
        common[instance.node("E", arc), F] = True
    base, states = DAG(common), instance.observed_states
    costs = {}
    inside = [0, 1, *(instance.node(letter, (0, 1)) for letter in "ABCDEFG")]
    for x, y in base.edges:
        if x in inside and y in inside:
            missing = {(q, y) for q in set(base.parents(x)) - set(base.parents(y))}
            missing |= {(q, x) for q in set(base.parents(y)) - set(base.parents(x)) - {x}}
            for edge in {edge for edge in missing if edge[0] in inside}:
                adjacency = base.adjacency.copy()
                adjacency[edge] = True
                costs[edge] = count_parameters(DAG(adjacency), states) - count_parameters(base, states)
    D, E, F, G = (instance.node(letter, (0, 1)) for letter in "DEFG")
    assert min(costs.values()) == 16
    assert {edge for edge, cost in costs.items() if cost == 16} == {(E, 1), (D, F), (G, F)}
