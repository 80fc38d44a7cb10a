"""PC-stable beside causal-learn, and compiled d-separation beside networkx; equal answers are checked first.

The setting is that of Colombo and Maathuis 2014: n = 50, two expected neighbours, alpha = 0.01.
From p = 100 to 200 the time of causal-learn grows more than twentyfold, so that the comparison ends there: the source's
p = 1000, for which ours takes a fraction of a second, would take it a day or more if this goes on.
"""

import networkx as nx
import numpy as np

from benchmarks.harness import Benchmark, Once, peer_package
from learnable.graphs.dags import d_separated_many, random_dag
from learnable.graphs.independence import GaussianIndependence
from learnable.graphs.linear_sem import random_linear_sem
from learnable.graphs.pc import adjacency_search

bench = Benchmark("order_independent_pc", packages=("causal-learn",))
search = peer_package("causallearn.utils.PCUtils.SkeletonDiscovery")
tests = peer_package("causallearn.utils.cit")


def causal_learn(X, alpha):
    ci_test = tests.CIT(X, "fisherz")
    found = search.skeleton_discovery(X, alpha, ci_test, stable=True, verbose=False, show_progress=False)
    return found.G.graph != 0


def separated(graph, queries):
    return [nx.is_d_separator(graph, {x}, {y}, set(given)) for x, y, *given in queries]


def same_skeleton(ours, peer):
    differ = int((ours != peer).sum()) // 2
    assert not differ, f"{differ} edges differ"
    return f"0 of {int(ours.sum()) // 2} edges differ"


for p in bench.sizes([25, 50, 100, 200]):
    X = random_linear_sem(random_dag(p, 2, random_state=p), random_state=p).sample(50, random_state=p)
    bench.compare(
        "skeleton of PC-stable, n = 50",
        size=p,
        ours=lambda X=X: adjacency_search(GaussianIndependence(X, 0.01)).adjacency,
        peers={
            "causal-learn": Once(lambda X=X: causal_learn(X, 0.01)) if p > 60 else lambda X=X: causal_learn(X, 0.01)
        },
        accuracy=same_skeleton,
    )
for p in bench.sizes([50, 200, 1000]):
    dag = random_dag(p, 2, random_state=0)
    graph, rng = dag.to_networkx(), np.random.default_rng(0)
    rows = np.array([rng.permutation(p)[:5] for _ in range(100)])
    bench.compare(
        "d-separation, 100 queries",
        size=p,
        ours=lambda dag=dag, rows=rows: d_separated_many(dag, rows),
        peers={"networkx is_d_separator": lambda graph=graph, rows=rows: separated(graph, rows.tolist())},
        accuracy=lambda ours, peer: f"{int((np.asarray(ours) != np.asarray(peer)).sum())} answers differ",
    )
bench.finish()
