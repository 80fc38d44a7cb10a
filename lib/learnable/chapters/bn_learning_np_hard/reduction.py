"""The reduction from feedback arc sets to learning, both ways, with a verifier (Chickering et al. 2004, Sec. 3).

Every vertex of the digraph becomes a variable V with nine states, every arc a gadget of seven variables A, ..., G and a
hidden one, H. A DAG over the observed variables must join C and F, which H makes dependent whatever is given. Pointing
from F to C costs two parameters more, and pointing from C to F opens a directed path from V_i to V_j: so the cheapest
DAG pays two for as few arcs as possible, and must pay for one in every cycle.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from learnable.chapters.bn_learning_np_hard.feedback import check_arcs, find_cycle
from learnable.graphs.dags import DAG
from learnable.graphs.discrete import count_parameters
from learnable.graphs.equivalence import includes
from learnable.graphs.faithful import faithful_network

LETTERS = "ABCDEFG"
STATES = {"V": 9, "A": 9, "B": 2, "C": 3, "D": 9, "E": 2, "F": 2, "G": 9, "H": 2}
# Parents inside a gadget i -> j; "V" is the tail V_i. The head V_j has the parent F in each of the three.
TRUTH = {"B": "VA", "C": "BH", "E": "DG", "F": "EH"}
PAID = {"B": "VA", "C": "BEF", "E": "DG", "F": "E"}  # Fig. 3a: the arc is in the feedback set
FREE = {"B": "VA", "C": "B", "E": "DG", "F": "EBC"}  # Fig. 3b: V_i -> B -> F -> V_j


@dataclass(frozen=True)
class LearnInstance:
    """An instance of LEARN: find a DAG over the observed variables that includes p and has at most `bound`
    parameters.
    """

    arcs: tuple
    n_vertices: int
    k: int
    bound: int
    dag: DAG
    n_states: tuple
    n_observed: int

    def node(self, letter, arc=None):
        """Number of a variable: ``node("V", i)`` of a vertex, ``node("C", (i, j))`` of an arc."""
        if letter == "V":
            return arc
        return _node(letter, self.arcs.index(tuple(arc)), self.arcs, self.n_vertices)

    @property
    def names(self):
        """Names of all nodes, such as ``"V0"`` and ``"A(0,1)"``."""
        named = [f"V{i}" for i in range(self.n_vertices)]
        named += [f"{letter}({i},{j})" for i, j in self.arcs for letter in LETTERS]
        return (*named, *(f"H({i},{j})" for i, j in self.arcs))

    @property
    def observed_states(self):
        """States of the observed variables."""
        return self.n_states[: self.n_observed]

    def network(self, alpha=1 / 16):
        """The network with hidden variables whose margin over the observed ones is p; provably faithful."""
        return faithful_network(self.dag, self.n_states, alpha)


def dbfas_to_learn(arcs, k):
    """Turn "are k arcs enough to break all cycles?" into "is there a DAG with so few parameters?" (Sec. 3.1)."""
    arcs, n = _bounded(arcs)
    dag, states = _assemble(arcs, n, [TRUTH] * len(arcs), hidden=True)
    return LearnInstance(tuple(arcs), n, k, learn_bound(arcs, k), dag, states, n + 7 * len(arcs))


def learn_bound(arcs, k):
    """Parameters of a DAG that pays for k arcs: 186 a + 18 k + 16 (a - k) + 16 o + 32 t (Chickering et al. 2004,
    (2)).
    """
    arcs, n = _bounded(arcs)
    entering = np.bincount([j for _, j in arcs], minlength=n)
    a, one, two = len(arcs), int((entering == 1).sum()), int((entering == 2).sum())
    return 186 * a + 18 * k + 16 * (a - k) + 16 * one + 32 * two


def feedback_to_dag(instance, feedback):
    """Forward map: a DAG over the observed variables from a feedback arc set (Theorem 8)."""
    chosen = set(check_arcs(feedback, "feedback"))
    cycle = find_cycle([arc for arc in instance.arcs if arc not in chosen])
    if cycle:
        around = " -> ".join(str(i) for i, _ in cycle) + f" -> {cycle[0][0]}"
        raise ValueError(f"feedback must break every cycle, but {around} is left")
    gadgets = [PAID if arc in chosen else FREE for arc in instance.arcs]
    return _assemble(instance.arcs, instance.n_vertices, gadgets, hidden=False)[0]


def dag_to_feedback(dag, instance):
    """Backward map: the arcs i -> j for which the DAG has no directed path from V_i to V_j (Theorem 9)."""
    below = {i: dag.descendants([i]) for i in range(instance.n_vertices)}
    return [(i, j) for i, j in instance.arcs if j not in below[i]]


@dataclass(frozen=True)
class Verification:
    """What `verify_solution` returns."""

    accepted: bool
    reasons: tuple
    n_parameters: int | None
    bound: int


def verify_solution(graph, instance, *, max_parents=3):
    """Check a proposed solution in polynomial time: acyclic, includes p, few parameters, few parents."""
    adjacency = np.asarray(getattr(graph, "adjacency", graph))
    cycle = find_cycle(list(map(tuple, np.argwhere(adjacency).tolist())))
    if cycle:
        around = " -> ".join(instance.names[i] for i, _ in cycle)
        return Verification(
            False, (f"it has a cycle: {around} -> {instance.names[cycle[0][0]]}",), None, instance.bound
        )
    dag = DAG(adjacency)
    size = count_parameters(dag, instance.observed_states)
    reasons = []
    if not includes(dag, instance.dag, range(instance.n_observed)):
        reasons.append("it implies independences that do not hold: it does not include p")
    if size > instance.bound:
        reasons.append(f"it has {size} parameters, more than {instance.bound}")
    most = int(adjacency.sum(axis=0).max(initial=0))
    if max_parents is not None and most > max_parents:
        reasons.append(f"a node has {most} parents, more than {max_parents}")
    return Verification(not reasons, tuple(reasons), size, instance.bound)


def _assemble(arcs, n, gadgets, hidden):
    edges = []
    for a, ((i, j), gadget) in enumerate(zip(arcs, gadgets, strict=True)):
        for child, parents in gadget.items():
            for letter in parents:
                tail = i if letter == "V" else _node(letter, a, arcs, n)
                edges.append((tail, _node(child, a, arcs, n)))
        edges.append((_node("F", a, arcs, n), j))
    states = (STATES["V"],) * n + tuple(STATES[letter] for letter in LETTERS) * len(arcs)
    states += (STATES["H"],) * (len(arcs) if hidden else 0)
    return DAG.from_edges(len(states), edges), states


def _node(letter, a, arcs, n):
    return n + 7 * len(arcs) + a if letter == "H" else n + 7 * a + LETTERS.index(letter)


def _bounded(arcs):
    """Arcs and the number of vertices of a digraph that the reduction takes."""
    arcs = check_arcs(arcs)
    n = max(max(arc) for arc in arcs) + 1
    leaving, entering = (np.bincount([arc[end] for arc in arcs], minlength=n) for end in (0, 1))
    for v in range(n):
        if leaving[v] == 0 or entering[v] == 0 or leaving[v] + entering[v] > 3:
            raise ValueError(
                "arcs must give every vertex an arc in, an arc out and at most three, but vertex "
                f"{v} has {entering[v]} in and {leaving[v]} out; prune_digraph removes vertices that lie on no cycle"
            )
    return arcs, n
