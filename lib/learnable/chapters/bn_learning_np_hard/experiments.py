"""Studies of the chapter. The source proves and prints no table: these check its lemmas and theorems by running."""

from __future__ import annotations

import time

import numpy as np

from learnable.book.study import study
from learnable.chapters.bn_learning_np_hard.feedback import (
    greedy_feedback_arcs,
    is_feedback_arc_set,
    minimum_feedback_arcs,
    random_bounded_digraph,
)
from learnable.chapters.bn_learning_np_hard.reduction import (
    dag_to_feedback,
    dbfas_to_learn,
    feedback_to_dag,
    verify_solution,
)
from learnable.graphs.dags import random_dag
from learnable.graphs.discrete import DiscreteNetwork, count_parameters, random_network
from learnable.graphs.equivalence import includes
from learnable.graphs.faithful import faithful_network, perfectness_report
from learnable.graphs.imaps import minimal_imap, order_search
from learnable.graphs.population import population_scores
from learnable.graphs.scores import best_dag, subset_scores

TABLES = ("Lemma 5", "random", "parity")


def cycle_digraph(n):
    """The arcs of a directed cycle; a loop for one vertex."""
    return [(i, (i + 1) % n) for i in range(n)]


def parity_network(dag, noise=0.1):
    """Binary network in which a node equals the parity of its parents with probability 1 - noise: unfaithful."""
    tables = []
    for i in range(dag.n_nodes):
        parity = np.indices((2,) * len(dag.parents(i))).sum(axis=0) % 2
        p = np.where(parity == 0, 1 - noise, noise) if dag.parents(i) else np.array(0.5)
        tables.append(np.stack([p, 1 - p], axis=-1))
    return DiscreteNetwork(dag, tables)


@study(
    source="Chickering et al. 2004, Lemma 5",
    paper={"repetitions": 60, "tables": list(TABLES)},
    lecture={"repetitions": 6, "tables": list(TABLES)},
    paired=("tables",),
    note="the source proves the lemma; random graphs of five nodes and about 2.5 neighbours are ours",
)
def gallery(random_state, *, tables):
    """Every statement of a network of five nodes: how many hold without reason, and how weak the weakest other is."""
    dag = random_dag(5, 2.5, random_state=random_state)
    states = random_state.integers(2, 4, size=5).tolist()
    network = {
        "Lemma 5": lambda: faithful_network(dag, states),
        "random": lambda: random_network(dag, n_states=states, random_state=random_state),
        "parity": lambda: parity_network(dag),
    }[tables]()
    report = perfectness_report(network.joint(), dag, tol=1e-12)
    connected = report.dependence[~report.separated]
    return {
        "statements": len(report.statements),
        "unfaithful": len(report.unfaithful),
        "not Markov": len(report.non_markov),
        "smallest dependence": float(connected.min()) if len(connected) else 1.0,
        "dependences below 0.01": int((connected < 0.01).sum()),
    }


@study(
    source="Chickering et al. 2004, Theorem 53",
    paper={"repetitions": 40, "alpha": [0.05, 0.0625, 0.3, 0.9]},
    lecture={"repetitions": 2, "alpha": [0.0625]},
    paired=("alpha",),
    note="the source proves the theorem; random graphs of five nodes are ours",
)
def influence(random_state, *, alpha):
    """Whether p(y = 0 | x = 0, o = 0) > p(y = 0 | x = 1, o = 0) for all d-connected x, y given o."""
    dag = random_dag(5, 2.5, random_state=random_state)
    joint = faithful_network(dag, random_state.integers(2, 4, size=5).tolist(), alpha).joint()
    report = perfectness_report(joint, dag, tol=1e-12)
    cases = violations = 0
    for (x, y, given), separated in zip(report.statements, report.separated, strict=True):
        if not separated:
            fixed = joint[tuple(0 if v in given else slice(None) for v in range(5))]
            left = [v for v in range(5) if v not in given]
            table = fixed.sum(axis=tuple(n for n, v in enumerate(left) if v not in (x, y)))
            for pair in (table, table.T):
                p = pair[:2, 0] / pair[:2].sum(axis=1)
                cases, violations = cases + 1, violations + int(p[0] <= p[1])
    return {"cases": cases, "violations": violations, "not perfect": int(not report.perfect)}


@study(
    source="Chickering et al. 2004, Theorems 8 and 9",
    paper=[
        {"repetitions": 20, "n_vertices": [6, 8, 10]},
        {"repetitions": 5, "n_vertices": [30, 100]},
    ],
    lecture={"repetitions": 2, "n_vertices": [6]},
    note="random digraphs with at most three arcs at a vertex; the source proves, and draws none",
)
def round_trip(random_state, *, n_vertices):
    """A smallest feedback arc set, the DAG made of it, its verification, and the way back."""
    arcs = random_bounded_digraph(n_vertices, random_state=random_state)
    feedback = minimum_feedback_arcs(arcs)
    instance = dbfas_to_learn(arcs, len(feedback))
    dag = feedback_to_dag(instance, feedback)
    back = dag_to_feedback(dag, instance)
    tampered = dag.adjacency.copy()
    tampered[dag.edges[random_state.integers(len(dag.edges))]] = False
    return {
        "arcs": len(arcs),
        "variables": instance.n_observed,
        "feedback arcs": len(feedback),
        "greedy": len(greedy_feedback_arcs(arcs)),
        "accepted": int(verify_solution(dag, instance).accepted),
        "parameters above the bound": count_parameters(dag, instance.observed_states) - instance.bound,
        "back": len(back) if is_feedback_arc_set(arcs, back) else -1,
        "tampered accepted": int(verify_solution(tampered, instance).accepted),
    }


@study(
    source="Chickering et al. 2004, Theorem 9",
    paper={"repetitions": 1, "vertices": [1, 2, 3]},
    lecture={"repetitions": 1, "vertices": [1, 2]},
    note="directed cycles; the minimum over all DAGs is computed, the source proves that it is the bound",
)
def exact(random_state, *, vertices):
    """Fewest parameters of any DAG that includes p, for a directed cycle, and the seconds that the search took."""
    instance = dbfas_to_learn(cycle_digraph(vertices), 1)
    minimal_imap(dbfas_to_learn([(0, 0)], 1).dag, 2, n_observed=8)  # what compiles does so once
    started = time.process_time()
    found = minimal_imap(instance.dag, instance.observed_states, n_observed=instance.n_observed)
    seconds = time.process_time() - started
    return {
        "variables": instance.n_observed,
        "parameters": found.n_parameters,
        "bound": instance.bound,
        "feedback arcs": len(dag_to_feedback(found.dag, instance)),
        "boundaries": found.n_boundaries,
        "seconds": seconds,
    }


@study(
    source="Chickering et al. 2004, Sec. 4",
    paper=[
        {"repetitions": 5, "graph": ["cycle"], "n_vertices": [3, 5, 10], "restarts": [1, 10, 100]},
        {"repetitions": 5, "graph": ["random"], "n_vertices": [4, 6, 10], "restarts": [1, 10, 100]},
    ],
    lecture={"repetitions": 1, "graph": ["cycle"], "n_vertices": [3], "restarts": [1]},
    paired=("restarts",),
    note="the source says that heuristics are used; how far this one stays from the optimum is our question",
)
def local_search(random_state, *, graph, n_vertices, restarts):
    """Parameters above the optimum after a local search over orders."""
    if graph == "cycle":
        arcs = cycle_digraph(n_vertices)
    else:
        arcs = random_bounded_digraph(n_vertices, random_state=random_state)
    instance = dbfas_to_learn(arcs, len(minimum_feedback_arcs(arcs)))
    seed = int(random_state.integers(2**31))
    found = order_search(
        instance.dag,
        instance.observed_states,
        n_observed=instance.n_observed,
        n_restarts=restarts,
        random_state=seed,
    )
    return {
        "above": found.n_parameters - instance.bound,
        "above, relative": found.n_parameters / instance.bound - 1,
        "feedback arcs": len(dag_to_feedback(found.dag, instance)),
        "smallest": instance.k,
    }


@study(
    source="Chickering et al. 2004, Sec. 4",
    paper={"repetitions": 5, "n": [1000, 10_000, 100_000, 1_000_000], "alpha": [0.0625, 0.5]},
    lecture={"repetitions": 1, "n": [1000], "alpha": [0.5]},
    note="one gadget of eight observed variables, two states each instead of nine; the source warns and runs nothing",
)
def large_sample(random_state, *, n, alpha):
    """The DAG with the highest BIC of all: whether it includes p, and its parameters beside the fewest possible."""
    dag = dbfas_to_learn([(0, 0)], 1).dag
    data = faithful_network(dag, 2, alpha).sample(n, random_state=random_state)[:, :8]
    chosen = best_dag(subset_scores(data, n_states=2, kind="bic")).dag
    fewest = minimal_imap(dag, 2, n_observed=8).n_parameters
    right = includes(chosen, dag, range(8))
    size = count_parameters(chosen, 2)
    return {"includes p": int(right), "parameters": size, "fewest": fewest, "optimal": int(right and size == fewest)}


@study(
    source="Chickering et al. 2004, Sec. 4",
    paper={"repetitions": 1, "exponent": list(range(3, 15)), "alpha": [0.0625, 0.5]},
    lecture={"repetitions": 1, "exponent": [4, 8, 12], "alpha": [0.5]},
    note="the true distribution in place of data: the ranking by BIC at any number of records, without noise",
)
def population(random_state, *, exponent, alpha):
    """The DAG with the highest expected BIC at 10^exponent records, of all DAGs over the gadget's eight variables."""
    dag = dbfas_to_learn([(0, 0)], 1).dag
    joint = faithful_network(dag, 2, alpha).query(range(8)).values
    chosen = best_dag(population_scores(joint, 10.0**exponent)).dag
    fewest = minimal_imap(dag, 2, n_observed=8).n_parameters
    right = includes(chosen, dag, range(8))
    size = count_parameters(chosen, 2)
    return {"includes p": int(right), "parameters": size, "fewest": fewest, "optimal": int(right and size == fewest)}
