"""Causal graphs that do not depend on the column order: the claims of the source, checked."""

import numpy as np
import pytest

from learnable.chapters.order_independent_pc.theory import graph_errors, top_effects_roc
from learnable.graphs.dags import DAG
from learnable.graphs.independence import (
    OracleIndependence,
)
from learnable.graphs.mixed import MixedGraph, cpdag, mark_distance, structural_hamming_distance

# Example 2: 1 -> 2 -> 3 -> 4 and 1 -> 5 <- 4, here from 0; 1 and 3 are judged independent given 4 by mistake.
EXAMPLE_2 = DAG.from_edges(5, [(0, 1), (1, 2), (2, 3), (0, 4), (3, 4)])


def test_the_dag_of_example_1_has_its_true_independences():
    dag = DAG.from_edges(5, [(0, 2), (1, 2), (0, 3), (2, 3), (0, 4), (1, 4), (2, 4), (3, 4)])
    oracle = OracleIndependence(dag)
    assert oracle.independent(0, 1) and oracle.independent(1, 3, [0, 2]) and not oracle.independent(2, 3, [0, 4])


def test_roc_of_top_effects():
    truth = np.arange(16.0).reshape(4, 4)
    false, true = top_effects_roc(truth, truth, top=0.25)
    assert true.tolist()[:4] == [0, 1, 2, 3] and false.tolist()[:4] == [0, 0, 0, 0] and true[-1] == 3
    unknown = truth.copy()
    unknown[3] = np.nan  # no intervention on node 3
    assert len(top_effects_roc(truth, unknown)[0]) == 10
    assert top_effects_roc(np.zeros((4, 4)), truth)[1].tolist() == [0]


def test_errors_are_counted():
    truth = cpdag(DAG.from_edges(4, [(0, 2), (1, 2), (2, 3)]))
    errors = graph_errors(MixedGraph.from_edges(4, directed=[(0, 2), (3, 2)], undirected=[(0, 1)]), truth)
    assert (errors.n_edges, errors.false_positives, errors.false_negatives) == (3, 1, 1)
    assert errors.true_discovery_rate == pytest.approx(2 / 3) and errors.directed_tpr == pytest.approx(1 / 3)
    assert errors.directed_fpr == pytest.approx(1 / 9)
    assert errors.hamming == 3 and errors.marks == 6
    assert errors.hamming == structural_hamming_distance(truth, truth) + 3 and mark_distance(truth, truth) == 0


def test_erratum_the_missing_independence_of_example_2():
    oracle = OracleIndependence(EXAMPLE_2)
    assert oracle.independent(1, 4, [0, 2]) and oracle.independent(2, 4, [0, 3])
