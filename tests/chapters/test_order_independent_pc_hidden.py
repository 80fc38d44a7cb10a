"""FCI and RFCI against the definition: marks that all equivalent ancestral graphs share."""

import numpy as np

from learnable.chapters.order_independent_pc.theory import hide_common_causes
from learnable.graphs.dags import DAG, random_dag
from learnable.graphs.fci import fci
from learnable.graphs.independence import GaussianIndependence
from learnable.graphs.linear_sem import random_linear_sem


def test_fci_stable_skeletons_and_votes_with_lists_do_not_depend_on_the_order():
    model = random_linear_sem(random_dag(20, 2.5, 4), random_state=4)
    hidden = hide_common_causes(model.dag, 0)
    X = np.delete(model.sample(60, random_state=4), hidden, axis=1)
    rng = np.random.default_rng(0)
    skeletons, graphs, originals = set(), set(), set()
    for _ in range(4):
        order = rng.permutation(X.shape[1])
        ci_test = GaussianIndependence(X, 0.1)
        skeletons.add(fci(ci_test, order=order, max_level=2).adjacency.tobytes())
        graphs.add(fci(ci_test, order=order, colliders="mpc", lists=True, max_level=2).graph)
        originals.add(fci(ci_test, stable=False, order=order, max_level=2).graph)
    assert len(skeletons) == len(graphs) == 1 < len(originals)


def test_hidden_causes_are_half_of_the_roots_with_two_children():
    dag = random_dag(200, 3, random_state=0)
    hidden = hide_common_causes(dag, random_state=1)
    eligible = [i for i in range(200) if not dag.parents(i) and len(dag.children(i)) > 1]
    assert set(hidden) <= set(eligible) and len(hidden) == len(eligible) // 2 > 3
    assert hide_common_causes(dag, random_state=1) == hidden
    assert hide_common_causes(DAG(np.zeros((3, 3)))) == ()
