"""Scores of structures against the formulas written out, and the exact search against all DAGs."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest

from learnable.graphs.dags import DAG
from learnable.graphs.discrete import random_network
from learnable.graphs.scores import best_dag, family_counts, local_score, network_score, subset_scores


def plain_score(data, node, parents, r, kind, ess=1.0):
    """The formula, configuration by configuration."""
    q = math.prod(r[p] for p in parents)
    total = 0.0
    for configuration in itertools.product(*(range(r[p]) for p in parents)):
        rows = [x for x in data if all(x[p] == s for p, s in zip(parents, configuration, strict=True))]
        counts = [sum(x[node] == k for x in rows) for k in range(r[node])]
        if kind == "bic":
            total += sum(c * math.log(c / len(rows)) for c in counts if c) - math.log(len(data)) / 2 * (r[node] - 1)
        else:
            a = 1.0 if kind == "k2" else ess / (r[node] * q)
            total += math.lgamma(r[node] * a) - math.lgamma(r[node] * a + len(rows))
            total += sum(math.lgamma(a + c) - math.lgamma(a) for c in counts)
    return total


def all_dags(p):
    pairs = [(i, j) for i in range(p) for j in range(p) if i != j]
    for bits in itertools.product([False, True], repeat=len(pairs)):
        A = np.zeros((p, p), dtype=bool)
        for (i, j), on in zip(pairs, bits, strict=True):
            A[i, j] = on
        try:
            yield DAG(A)
        except ValueError:
            continue


@pytest.fixture(scope="module")
def data():
    return random_network(5, max_parents=2, n_states=[2, 3, 2, 4, 2], random_state=0).sample(60, random_state=1)


R = (2, 3, 2, 4, 3)  # the last column has a state that never occurs


@pytest.mark.parametrize("kind", ["k2", "bdeu", "bic"])
def test_local_score_is_the_formula(data, kind):
    for node, parents in [(0, ()), (1, (0,)), (4, (1, 2, 3)), (2, (0, 1, 3, 4))]:
        got = local_score(data, node, parents, R, kind, 2.5)
        assert got == pytest.approx(plain_score(data, node, parents, R, kind, 2.5), rel=1e-12)
        assert local_score(data, node, parents[::-1], R, kind, 2.5) == got


@pytest.mark.parametrize("kind", ["k2", "bdeu", "bic"])
def test_subset_scores_are_the_local_scores(data, kind):
    table = subset_scores(data, R, kind, equivalent_sample_size=2.5)
    for i in range(5):
        for mask in range(32):
            if mask >> i & 1:
                assert table[i, mask] == -np.inf
            else:
                parents = [v for v in range(5) if mask >> v & 1]
                assert table[i, mask] == pytest.approx(local_score(data, i, parents, R, kind, 2.5), rel=1e-11)
    bounded = subset_scores(data, R, kind, max_parents=2, equivalent_sample_size=2.5)
    small = np.array([mask.bit_count() <= 2 for mask in range(32)])
    np.testing.assert_array_equal(bounded[:, small], table[:, small])
    assert (bounded[:, ~small] == -np.inf).all()


@pytest.mark.parametrize("n", [0, 1, 2])
def test_few_rows(n):
    data = np.array([[0, 1, 1], [1, 1, 0]])[:n].reshape(n, 3)
    for kind in ("k2", "bdeu", "bic"):
        table = subset_scores(data, 2, kind)
        assert table[2, 0b011] == pytest.approx(local_score(data, 2, [0, 1], 2, kind), abs=1e-12)
    assert n or (subset_scores(data, 2)[0, 0] == 0)


def test_k2_score_does_not_depend_on_row_order_or_layout(data):
    shuffled = np.asfortranarray(data[::-1].astype(np.int8))
    np.testing.assert_allclose(subset_scores(shuffled, R), subset_scores(data, R), rtol=1e-12)


def test_bdeu_gives_equivalent_structures_the_same_score(data):
    chain = [DAG.from_parents(p) for p in ([[], [0], [1], [], []], [[1], [], [1], [], []], [[1], [2], [], [], []])]
    values = [network_score(data, g, R, "bdeu", 3.0) for g in chain]
    assert values == pytest.approx([values[0]] * 3, rel=1e-12)
    k2 = [network_score(data, g, R, "k2") for g in chain]
    assert abs(k2[0] - k2[2]) > 1e-6


def test_many_parents_visit_only_what_occurs():
    data = np.random.default_rng(0).integers(0, 3, (30, 60))
    score = local_score(data, 0, range(1, 60), 3)
    # All 30 rows differ in their parents: each is one row in its own configuration, of probability 1/3.
    assert score == pytest.approx(30 * math.log(1 / 3), rel=1e-12)
    with pytest.raises(ValueError, match="too large"):
        family_counts(data, 0, range(1, 60), 3)


def test_scores_near_minus_a_hundred_thousand_stay_finite():
    data = np.random.default_rng(0).integers(0, 2, (100_000, 3))
    table = subset_scores(data)
    assert np.isfinite(table[:, 0]).all()
    assert table[0, 0] == pytest.approx(-100_000 * math.log(2), rel=1e-3)


def test_best_dag_equals_the_search_over_all_dags(data):
    for kind in ("k2", "bdeu", "bic"):
        sub = data[:, :4]
        table = subset_scores(sub, R[:4], kind)
        best = max(network_score(sub, g, R[:4], kind) for g in all_dags(4))
        found = best_dag(table)
        assert found.score == pytest.approx(best, rel=1e-12)
        assert network_score(sub, found.dag, R[:4], kind) == pytest.approx(best, rel=1e-12)
        place = {v: a for a, v in enumerate(found.order)}
        assert all(place[i] < place[j] for i, j in found.dag.edges)


def test_best_dag_of_arbitrary_scores():
    rng = np.random.default_rng(3)
    for _ in range(5):
        table = rng.normal(size=(4, 16))
        table[
            [i for i in range(4) for m in range(16) if m >> i & 1],
            [m for i in range(4) for m in range(16) if m >> i & 1],
        ] = -np.inf
        before = table.copy()
        best = max(sum(table[i, sum(1 << p for p in g.parents(i))] for i in range(4)) for g in all_dags(4))
        assert best_dag(table).score == pytest.approx(best, rel=1e-12)
        lists = [
            {tuple(v for v in range(4) if m >> v & 1): table[i, m] for m in range(16) if not m >> i & 1}
            for i in range(4)
        ]
        assert best_dag(lists).score == pytest.approx(best, rel=1e-12)
        np.testing.assert_array_equal(table, before)


def test_best_dag_of_twenty_nodes():
    """Two problems of ten nodes, mixed: no family crosses, so that the best of twenty is the sum of the two bests."""
    rng = np.random.default_rng(0)
    mixed = rng.permutation(20)
    families, parts = [None] * 20, []
    for half in (mixed[:10], mixed[10:]):
        alone = []
        for i in range(10):
            others = [j for j in range(10) if j != i]
            sets = [s for size in range(3) for s in itertools.combinations(others, size)]
            alone.append({s: rng.normal() + len(s) for s in sets})
            families[half[i]] = {tuple(sorted(int(half[j]) for j in s)): v for s, v in alone[-1].items()}
        parts.append(best_dag(alone).score)
    found = best_dag(families)
    assert found.score == pytest.approx(sum(parts), rel=1e-12)
    assert sum(families[i][found.dag.parents(i)] for i in range(20)) == pytest.approx(found.score, rel=1e-12)


def test_best_dag_recovers_a_strong_structure():
    network = random_network(DAG.from_parents([[], [], [0, 1], [2]]), random_state=4)
    X = network.sample(5000, random_state=0)
    found = best_dag(subset_scores(X, kind="bdeu"))
    assert {(0, 2), (1, 2)} <= set(found.dag.edges)


def test_ties_take_the_smaller_set():
    data = np.zeros((20, 3), dtype=int)
    assert best_dag(subset_scores(data)).dag.edges in ([], ())


def test_bad_scores():
    with pytest.raises(ValueError, match="kind"):
        local_score([[0]], 0, [], kind="aic")
    with pytest.raises(ValueError, match="parents"):
        local_score([[0, 1]], 0, [0])
    with pytest.raises(ValueError, match="node"):
        local_score([[0, 1]], 2, [0])
    with pytest.raises(ValueError, match="equivalent_sample_size"):
        local_score([[0, 1]], 0, [1], kind="bdeu", equivalent_sample_size=0)
    with pytest.raises(ValueError, match="dag has"):
        network_score([[0, 1]], [[0]])
    with pytest.raises(ValueError, match="between 1 and 22"):
        subset_scores(np.zeros((3, 23), dtype=int))
    with pytest.raises(ValueError, match="shape"):
        best_dag(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="contains the node"):
        best_dag(np.zeros((2, 4)))
    with pytest.raises(ValueError, match="own parent"):
        best_dag([{(0,): 1.0}])
    with pytest.raises(ValueError, match="no acyclic"):
        best_dag([{(1,): 1.0}, {(0,): 1.0}])


@pytest.mark.parametrize(
    "scores",
    [
        pd.DataFrame({"a": ["x", "y"], "b": ["u", "v"]}),
        3,
        None,
        [{(): "low"}],
        [{0: 1.0}],
        [{(): 0.0}, 1.0],
    ],
)
def test_scores_that_are_no_table_are_refused_by_name(scores):
    with pytest.raises(ValueError, match="scores"):
        best_dag(scores)


def test_a_frame_of_scores_is_a_table():
    table = subset_scores([[0, 0], [1, 1], [1, 1], [0, 0]])
    by_columns = np.asfortranarray(table)
    assert best_dag(pd.DataFrame(table)).score == best_dag(by_columns).score == best_dag(table).score
    np.testing.assert_array_equal(by_columns, table)  # and is not modified
