"""Discrete networks: factors, elimination, sampling, text format, against sums over the whole joint table."""

import itertools
import math

import numpy as np
import pytest

from learnable.datasets import load
from learnable.graphs.bif import read_bif, write_bif
from learnable.graphs.dags import DAG
from learnable.graphs.discrete import DiscreteNetwork, Factor, check_codes, count_parameters, random_network

ASIA = """// the eight nodes of Lauritzen and Spiegelhalter
network asia { property author "none"; }
variable asia { type discrete [ 2 ] { yes, no }; property position = (1, 2); }
variable tub { type discrete [ 2 ] { yes, no }; }
variable smoke { type discrete[2]{ yes, no }; }
variable lung { type discrete [ 2 ] { yes, no }; }
variable bronc { type discrete [ 2 ] { yes, no }; }
variable either { type discrete [ 2 ] { yes, no }; }
variable "x ray" { type discrete [ 2 ] { yes, no }; }
variable dysp { type discrete [ 2 ] { yes, no }; }
probability ( asia ) { table 0.01, 0.99; }
probability ( tub | asia ) { (yes) 0.05, 0.95; (no) 0.01, 0.99; }
probability ( smoke ) { table 0.5, 0.5; }
probability ( lung | smoke ) { table 0.1 0.01 0.9 0.99; }
probability ( bronc | smoke ) { (yes) 0.6, 0.4; (no) 0.3, 0.7; }
probability ( either | lung, tub ) { default 1.0, 0.0; (no, no) 0.0, 1.0; }
probability ( "x ray" | either ) { (yes) 0.98, 0.02; (no) 0.05, 0.95; }
probability ( dysp | either, bronc ) { /* parents not in order */
  (yes, yes) 0.9, 0.1; (no, yes) 0.8, 0.2; (yes, no) 0.7, 0.3; (no, no) 0.1, 0.9; }
"""


def brute_query(network, wanted, evidence):
    """P(wanted | evidence) by a sum over every cell, each the product of look-ups."""
    out = np.zeros([network.n_states[v] for v in wanted])
    for x in itertools.product(*(range(r) for r in network.n_states)):
        if all(x[v] == s for v, s in evidence.items()):
            weight = math.prod(
                network.tables[i][(*(x[p] for p in network.parents(i)), x[i])] for i in range(network.n_nodes)
            )
            out[tuple(x[v] for v in wanted)] += weight
    return out / out.sum()


def test_query_equals_the_sum_over_the_joint():
    for seed in range(6):
        rng = np.random.default_rng(seed)
        network = random_network(6, max_parents=3, n_states=rng.integers(1, 4, 6), random_state=seed)
        nodes = rng.permutation(6)
        wanted, seen = nodes[: 1 + seed % 2], nodes[3 : 3 + seed % 3]
        evidence = {int(v): network.n_states[v] - 1 for v in seen}
        got = network.query(wanted, evidence)
        assert got.variables == tuple(wanted)
        np.testing.assert_allclose(got.values, brute_query(network, wanted, evidence), rtol=1e-12)


def test_a_query_with_all_other_nodes_observed():
    network = random_network(5, max_parents=3, random_state=2)
    evidence = {i: i % 2 for i in range(4)}
    np.testing.assert_allclose(network.query([4], evidence).values, brute_query(network, [4], evidence), rtol=1e-12)
    assert network.query([], evidence).values == 1


def test_joint_sums_to_one_and_agrees_with_log_probability():
    network = random_network(5, max_parents=2, n_states=[2, 3, 2, 1, 4], random_state=1)
    joint = network.joint()
    assert joint.shape == network.n_states
    assert joint.sum() == pytest.approx(1, abs=1e-13)
    X = np.array(list(np.ndindex(joint.shape)))
    np.testing.assert_allclose(np.exp(network.log_probability(X)), joint.ravel(), rtol=1e-12)


def test_a_chain_of_sixty_nodes_is_queried_without_the_joint():
    n = 60
    dag = DAG.from_parents([[]] + [[i] for i in range(n - 1)])
    flip = np.array([[0.9, 0.1], [0.2, 0.8]])
    network = DiscreteNetwork(dag, [[0.3, 0.7]] + [flip] * (n - 1))
    expected = np.array([0.3, 0.7]) @ np.linalg.matrix_power(flip, n - 1)
    np.testing.assert_allclose(network.query([n - 1]).values, expected, rtol=1e-12)
    with pytest.raises(ValueError, match="2\\^24"):
        network.joint()


def test_sample_frequencies():
    network = random_network(4, max_parents=2, n_states=[2, 3, 2, 2], random_state=3)
    X = network.sample(40_000, random_state=0)
    seen = np.bincount(np.ravel_multi_index(X.T, network.n_states), minlength=24) / len(X)
    # Four standard errors of a frequency of at most 1/2.
    assert np.abs(seen - network.joint().ravel()).max() < 4 * 0.5 / math.sqrt(len(X))
    np.testing.assert_array_equal(X, network.sample(40_000, random_state=0))


def test_zero_probabilities():
    network = DiscreteNetwork([[0, 1], [0, 0]], [[1.0, 0.0], [[0.5, 0.5], [1.0, 0.0]]])
    assert network.log_probability([[1, 0]])[0] == -np.inf
    with pytest.raises(ValueError, match="evidence has probability zero"):
        network.query([1], {0: 1})
    assert (network.sample(200, random_state=0)[:, 0] == 0).all()


def test_factor_algebra():
    rng = np.random.default_rng(0)
    f, g = Factor("ab", rng.random((2, 3))), Factor("bc", rng.random((3, 4)))
    product = f * g
    assert product.variables == ("a", "b", "c")
    np.testing.assert_allclose(product.values, f.values[:, :, None] * g.values[None])
    np.testing.assert_allclose(product.marginal("ca").values, np.einsum("ab,bc->ca", f.values, g.values))
    np.testing.assert_allclose(f.reduce({"b": 1}).values, f.values[:, 1])
    assert f.normalised().values.sum() == pytest.approx(1)
    with pytest.raises(ValueError, match="states in one factor"):
        f * Factor("b", [1.0, 2.0])
    with pytest.raises(ValueError, match="distinct"):
        Factor("aa", np.ones((2, 2)))
    with pytest.raises(ValueError, match="negative"):
        Factor("a", [-1.0])
    with pytest.raises(ValueError, match="not among"):
        f.marginal("z")
    with pytest.raises(AttributeError):
        f.values = 1
    with pytest.raises(ValueError, match="read-only"):
        f.values[0] = 1


def test_count_parameters():
    dag = DAG.from_parents([[], [0], [0, 1]])
    assert count_parameters(dag, [2, 3, 4]) == 1 + 2 * 2 + 3 * 6
    assert random_network(dag, n_states=[2, 3, 4], random_state=0).n_parameters == 23
    n = 80
    complete = DAG.from_parents([range(i) for i in range(n)])
    assert count_parameters(complete) == 2**n - 1


def test_random_network_follows_the_procedure():
    sizes = []
    for seed in range(200):
        network = random_network(8, max_parents=3, random_state=seed)
        sizes += [len(network.parents(i)) for i in range(8)]
    # One node of eight has no one before it, one has one; else 1, 2, 3 are equally likely.
    counts = np.bincount(sizes, minlength=4)
    assert counts[0] == 200
    assert max(sizes) == 3
    assert counts[3] / 200 == pytest.approx(5 / 3, abs=0.25)
    with pytest.raises(ValueError, match="max_parents"):
        random_network(40, max_parents=40, random_state=0)


def test_asia_from_text():
    network = read_bif(ASIA)
    assert network.names[6] == "x ray"
    assert network.n_parameters == 18
    assert network.parents(5) == (1, 3)
    # P(dysp = yes) = 0.4360 is the figure printed with the network since 1988.
    assert network.query(["dysp"]).values[0] == pytest.approx(0.4360, abs=5e-5)
    assert network.tables[3][1, 0] == 0.01
    got = network.query(["lung"], {"dysp": "yes", "x ray": "yes"}).values
    np.testing.assert_allclose(got, brute_query(network, [3], {7: 0, 6: 0}), rtol=1e-12)


def test_loaded_networks_sort_their_axes():
    made = load("alarm")
    network = DiscreteNetwork.from_parents(made.parents, made.tables, made.states, made.names)
    assert (network.n_nodes, network.n_parameters, len(network.dag.edges)) == (37, 509, 46)
    press = made.names.index("PRESS")  # its parents stand as INTUBATION, KINKEDTUBE, VENTTUBE: 24, 16, 29
    np.testing.assert_array_equal(network.tables[press][1, 0, 2], made.tables[press][0, 1, 2])
    with pytest.raises(ValueError, match="tables"):
        DiscreteNetwork.from_parents([[]], [])


def test_bif_round_trip_keeps_every_bit(tmp_path):
    network = random_network(7, max_parents=3, n_states=[2, 3, 2, 4, 1, 2, 3], random_state=5)
    path = tmp_path / "net.bif"
    text = write_bif(network, path)
    again = read_bif(path)
    for a, b in zip(network.tables, again.tables, strict=True):
        np.testing.assert_array_equal(a, b)
    assert write_bif(again) == text
    asia = read_bif(ASIA)
    assert read_bif(write_bif(asia)).states == asia.states


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("probability ( asia ) { table 0.01, 0.99; }", "", "asia needs"),
        ("table 0.01, 0.99", "table 0.01, 0.95", "sum to one"),
        ("table 0.01, 0.99", "table 0.01", "does not fit"),
        ("table 0.01, 0.99", "table a, b", "does not fit"),
        ("(yes) 0.6, 0.4; (no) 0.3, 0.7;", "(yes) 0.6, 0.4;", "without numbers"),
        ("(yes) 0.6, 0.4;", "(maybe) 0.6, 0.4;", "does not fit"),
        ("variable tub { type discrete [ 2 ]", "variable tub { type discrete [ 3 ]", "declares 3"),
        ("variable tub { type discrete [ 2 ]", "variable tub { type continuous [ 2 ]", "discrete"),
        ("( tub | asia )", "( tub | asi )", "asi needs"),
        ("probability ( smoke )", "likelihood ( smoke )", "expected network"),
        ("(no, no) 0.1, 0.9; }", "(no, no) 0.1, 0.9;", "ends"),
    ],
)
def test_bif_slips_are_named(old, new, message):
    assert old in ASIA
    with pytest.raises(ValueError, match=message):
        read_bif(ASIA.replace(old, new))


@pytest.mark.parametrize(
    ("data", "n_states", "message"),
    [
        ([[np.nan]], None, "data"),
        ([[-1]], None, "codes"),
        ([[0.5]], None, "whole numbers"),
        ([0, 1], None, "two-dimensional"),
        ([[2]], 2, "unknown state 2"),
        ([[0]], [2, 2], "n_states"),
        ([[0]], 0, "n_states"),
        ([["a"]], None, "data"),
    ],
)
def test_bad_codes(data, n_states, message):
    with pytest.raises(ValueError, match=message):
        check_codes(data, n_states)


def test_bad_networks():
    with pytest.raises(ValueError, match="tables"):
        DiscreteNetwork([[0]], [])
    with pytest.raises(ValueError, match="shape"):
        DiscreteNetwork([[0, 1], [0, 0]], [[0.5, 0.5], [[0.5, 0.5]]])
    with pytest.raises(ValueError, match="sum to one"):
        DiscreteNetwork([[0]], [[0.5, 0.6]])
    with pytest.raises(ValueError, match="states"):
        DiscreteNetwork([[0]], [[0.5, 0.5]], states=[["a", "a"]])
    network = DiscreteNetwork([[0]], [[0.5, 0.5]], states=[["a", "b"]], names=["v"])
    with pytest.raises(ValueError, match="no node named"):
        network.query(["w"])
    with pytest.raises(ValueError, match="no state"):
        network.query([], {"v": "c"})
    with pytest.raises(ValueError, match="share"):
        network.query(["v"], {"v": "a"})
    with pytest.raises(ValueError, match="unknown state"):
        network.log_probability([[2]])
