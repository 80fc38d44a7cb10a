"""Why learning a network stays hard with infinite data: the claims of the source, checked."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from learnable.graphs import (
    conditional_dependence,
    faithful_network,
    faithful_table,
    perfectness_report,
)
from learnable.graphs.dags import DAG, d_separated, random_dag
from learnable.graphs.discrete import DiscreteNetwork, random_network


def draws(seed, count, n_nodes=5, n_neighbors=2.5, most=3):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        dag = random_dag(n_nodes, n_neighbors, random_state=rng)
        yield dag, rng.integers(2, most + 1, size=n_nodes).tolist(), rng


def test_claim_table_values_at_one_sixteenth():
    table = faithful_table(9, [9, 2], 1 / 16)
    assert table.shape == (9, 2, 9)
    assert table[0, 0, 0] == 1 / 16 and table[3, 0, 0] == table[0, 1, 0] == 1 / 64 and table[8, 1, 0] == 1 / 128
    assert np.allclose(table[5, 1, 1:], 127 / 128 / 8, rtol=1e-15) and np.allclose(table.sum(-1), 1)
    assert faithful_table(4).shape == (4,) and faithful_table(2, [3]).shape == (3, 2)


def test_claim_exact_tables_agree_and_refuse_irrational_roots():
    exact = faithful_table(3, [2, 3], Fraction(1, 16), exact=True)
    assert np.allclose(exact.astype(float), faithful_table(3, [2, 3]), rtol=1e-15)
    assert (exact.sum(axis=-1) == 1).all() and exact[1, 2, 0] == Fraction(1, 128)
    assert faithful_table(2, [2] * 3, Fraction(1, 256), exact=True)[1, 1, 1, 0] == Fraction(1, 2**15)
    with pytest.raises(ValueError, match="alpha must be such that"):
        faithful_table(2, [2] * 3, Fraction(1, 16), exact=True)


def test_claim_lemma_5_every_statement_of_sixty_networks():
    smallest = np.inf
    for dag, states, _ in draws(0, 60):
        report = perfectness_report(faithful_network(dag, states).joint(), dag, tol=1e-12)
        assert report.perfect and not report.unfaithful and not report.non_markov
        smallest = min(smallest, report.smallest_dependence)
    assert 1e-4 < smallest < 0.1  # far above rounding


@pytest.mark.parametrize("alpha", [0.05, 0.3, 0.9])
def test_claim_lemma_5_for_other_constants(alpha):
    for dag, states, rng in draws(1, 12):
        alphas = np.clip(alpha + 0.05 * rng.uniform(-1, 1, 5), 0.02, 0.95)
        assert perfectness_report(faithful_network(dag, states, alphas).joint(), dag, tol=1e-12).perfect


def test_claim_six_nodes():
    for dag, states, _ in draws(3, 3, n_nodes=6, most=2):
        report = perfectness_report(faithful_network(dag, states).joint(), dag)
        assert len(report.statements) == 15 * 2**4 and report.perfect


def test_claim_xor_is_unfaithful():
    collider = DAG.from_edges(3, [(0, 2), (1, 2)])
    table = np.zeros((2, 2, 2))
    for a, b in np.ndindex(2, 2):
        table[a, b, a ^ b] = 1
    joint = DiscreteNetwork(collider, [[0.5, 0.5], [0.5, 0.5], table]).joint()
    report = perfectness_report(joint, collider)
    assert not report.perfect and (0, 2, ()) in report.unfaithful and (1, 2, ()) in report.unfaithful
    assert not report.non_markov and report.smallest_dependence < 1e-12


def test_claim_random_tables_are_faithful_but_arbitrarily_weak():
    dag = DAG.from_edges(4, [(0, 1), (0, 2), (1, 3), (2, 3)])
    rng = np.random.default_rng(4)
    weakest = [
        perfectness_report(random_network(dag, n_states=2, random_state=rng).joint(), dag).smallest_dependence
        for _ in range(200)
    ]
    ours = perfectness_report(faithful_network(dag).joint(), dag).smallest_dependence
    assert 1e-10 < min(weakest) < ours / 20 and min(weakest) < min(weakest[:20]) / 2


def test_a_wrong_graph_is_not_markov():
    chain, empty = DAG.from_edges(3, [(0, 1), (1, 2)]), DAG.from_edges(3, [])
    report = perfectness_report(faithful_network(chain).joint(), empty)
    assert not report.perfect and (0, 1, ()) in report.non_markov


def test_claim_theorem_53_positive_influence_when_the_observed_are_zero():
    cases = 0
    for dag, states, _ in draws(5, 12):
        joint = faithful_network(dag, states).joint()
        for x, y in itertools.permutations(range(5), 2):
            others = [z for z in range(5) if z not in (x, y)]
            for size in range(4):
                for given in itertools.combinations(others, size):
                    left = [slice(None) if v in (x, y) else 0 if v in given else slice(None) for v in range(5)]
                    table = joint[tuple(left)]
                    kept = [v for v in range(5) if v not in given]
                    table = table.sum(axis=tuple(n for n, v in enumerate(kept) if v not in (x, y)))
                    table = table if x < y else table.T
                    p = table[:, 0] / table.sum(axis=1)
                    if d_separated(dag, x, y, given):
                        assert np.allclose(p, p[0], rtol=1e-12)
                    else:
                        assert (p[0] > p[1:] * (1 + 1e-9)).all()
                        cases += 1
    assert cases > 1000


def test_conditional_dependence_of_known_tables():
    assert conditional_dependence(np.full((2, 2), 0.25), 0, 1) == 0
    assert conditional_dependence(np.array([[0.5, 0.0], [0.0, 0.5]]), 0, 1) == 1
    exact = np.array([[Fraction(1, 2), Fraction(0)], [Fraction(1, 4), Fraction(1, 4)]], dtype=object)
    assert conditional_dependence(exact, 0, 1) == 1


def test_erratum_one_more_zero_is_one_fewer_nonzero():
    table = faithful_table(2, [2, 2, 2], 0.4)
    for row in np.ndindex(2, 2, 2):
        for axis in range(3):
            if row[axis]:
                other = (*row[:axis], 0, *row[axis + 1 :])
                assert sum(other) == sum(row) - 1 and table[(*other, 0)] > table[(*row, 0)]
