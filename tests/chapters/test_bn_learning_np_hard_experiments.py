"""The studies of the chapter: the same cell gives the same figures, and the figures show what the theorems promise."""

import numpy as np
import pytest

from learnable.chapters.bn_learning_np_hard import experiments
from learnable.graphs import perfectness_report, population_scores
from learnable.graphs.dags import DAG
from learnable.graphs.scores import best_dag


def test_faithful_tables_have_no_exception_and_parities_have():
    ours, parity = (experiments.gallery.cell({"tables": tables}, 0) for tables in ("Lemma 5", "parity"))
    assert ours["unfaithful"] == ours["not Markov"] == 0 and parity["unfaithful"] > 0
    assert ours == experiments.gallery.cell({"tables": "Lemma 5"}, 0)


@pytest.mark.parametrize("alpha", [0.05, 0.9])
def test_influence_is_positive(alpha):
    found = experiments.influence.cell({"alpha": alpha}, 1)
    assert found["cases"] > 20 and found["violations"] == found["not perfect"] == 0


def test_round_trips_end_where_they_began():
    found = experiments.round_trip.cell({"n_vertices": 8}, 0)
    assert found["accepted"] == 1 and found["tampered accepted"] == 0
    assert found["parameters above the bound"] == 0 and found["back"] <= found["feedback arcs"] <= found["greedy"]


def test_the_exact_minimum_is_the_bound():
    for vertices in (1, 2):
        found = experiments.exact.cell({"vertices": vertices}, 0)
        assert found["parameters"] == found["bound"] and found["feedback arcs"] == 1


def test_local_search_stays_above_and_more_starts_help():
    few, many = (
        experiments.local_search.cell({"graph": "cycle", "n_vertices": 3, "restarts": restarts}, 0)["above"]
        for restarts in (1, 20)
    )
    assert 0 <= many <= few


def test_small_samples_choose_graphs_that_are_too_simple():
    found = experiments.large_sample.cell({"n": 1000, "alpha": 0.5}, 0)
    assert found["parameters"] < found["fewest"] and found["optimal"] == 0


def test_the_large_sample_ranking_comes_at_ten_million():
    early, late = (experiments.population.cell({"exponent": e, "alpha": 0.5}, 0) for e in (6, 7))
    assert early["optimal"] == 0 and late["optimal"] == 1


def test_expected_scores_are_those_of_a_large_sample():
    """Against the log likelihood by its definition, family by family."""
    rng = np.random.default_rng(0)
    joint = rng.dirichlet(np.ones(12)).reshape(2, 3, 2)
    scores = population_scores(joint, 1000)
    conditional = joint / joint.sum(axis=1, keepdims=True)
    want = 1000 * (joint * np.log(conditional)).sum() - 0.5 * np.log(1000) * 2 * 4
    assert scores[1, 0b101] == pytest.approx(want) and scores[1, 0b010] == -np.inf
    root = joint.sum(axis=(0, 2))
    assert scores[1, 0] == pytest.approx(1000 * (root * np.log(root)).sum() - np.log(1000))
    assert len(best_dag(population_scores(joint, 1e9)).dag.edges) == 3
    with pytest.raises(ValueError, match="n_samples"):
        population_scores(joint, 1)
    with pytest.raises(ValueError, match="at most 12"):
        population_scores(np.full((2,) * 13, 2.0**-13), 10)


def test_parity_hides_edges():
    collider = DAG.from_edges(3, [(0, 2), (1, 2)])
    report = perfectness_report(experiments.parity_network(collider).joint(), collider)
    assert report.unfaithful == [(0, 2, ()), (1, 2, ())]
