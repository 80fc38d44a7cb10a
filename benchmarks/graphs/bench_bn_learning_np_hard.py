"""d-separation beside networkx, in a batch and question by question, and the exact search beside its plain version.

Questions are random: two nodes given up to four others, in a random DAG with three neighbours on average. The plain
search is the recursion of the lecture with networkx as its oracle: what one would write without this package.
"""

import itertools
import math

import networkx as nx
import numpy as np

from benchmarks.harness import Benchmark
from learnable.chapters.bn_learning_np_hard.reduction import dbfas_to_learn
from learnable.graphs import minimal_imap
from learnable.graphs.dags import d_separated, d_separated_many, random_dag

bench = Benchmark("bn_learning_np_hard", packages=("networkx",))


def questions(p, m):
    """Arrays of m questions (x, y, given..., -1...), and the same as tuples."""
    rng = np.random.default_rng(0)
    rows = np.array([rng.permutation(p)[:6] for _ in range(m)])
    for row, size in zip(rows, rng.integers(0, 5, size=m), strict=True):
        row[2 + size :] = -1
    return rows, [(int(r[0]), int(r[1]), {int(v) for v in r[2:] if v >= 0}) for r in rows]


def same(ours, peer):
    ours, peer = np.asarray(ours), np.asarray(peer)
    assert np.array_equal(ours, peer)
    return f"all {len(ours)} answers equal, {ours.mean():.0%} separated"


for p in bench.sizes([20, 100, 500]):
    dag = random_dag(p, 3.0, random_state=0)
    graph = dag.to_networkx()
    rows, asked = questions(p, 200)

    def peer(graph=graph, asked=asked):
        return [nx.is_d_separator(graph, {x}, {y}, given) for x, y, given in asked]

    bench.compare(
        "200 questions of d-separation at once",
        size=p,
        ours=lambda dag=dag, rows=rows: d_separated_many(dag, rows),
        peers={"networkx is_d_separator": peer},
        accuracy=same,
    )
    bench.compare(
        "200 questions of d-separation, one at a time",
        size=p,
        ours=lambda dag=dag, asked=asked: [d_separated(dag, x, y, given) for x, y, given in asked],
        peers={"networkx is_d_separator": peer},
        accuracy=same,
    )


def plain_search(graph, states):
    n = len(states)
    cost = {frozenset(): 0}
    for size in range(1, n + 1):
        for S in map(frozenset, itertools.combinations(range(n), size)):
            cost[S] = math.inf
            for x in S:
                P = S - {x}
                boundary = [y for y in P if not nx.is_d_separator(graph, {x}, {y}, set(P - {y}))]
                cost[S] = min(cost[S], cost[P] + (states[x] - 1) * math.prod(states[y] for y in boundary))
    return cost[frozenset(range(n))]


def equal(ours, peer):
    assert ours.n_parameters == peer
    return f"the same minimum, {peer} parameters"


gadget = dbfas_to_learn([(0, 0)], 1)
for n in bench.sizes([5, 8]):
    graph = gadget.dag.to_networkx()
    states = gadget.observed_states[:n]
    bench.compare(
        "DAG with fewest parameters, one gadget",
        size=n,
        ours=lambda n=n, states=states: minimal_imap(gadget.dag, states, n_observed=n),
        peers={"plain recursion with networkx": lambda graph=graph, states=states: plain_search(graph, states)},
        accuracy=equal,
    )

bench.finish()
