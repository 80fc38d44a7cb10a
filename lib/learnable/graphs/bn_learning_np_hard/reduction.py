"""The reduction from feedback arc sets to learning, both ways, with a verifier (Chickering et al. 2004, Sec. 3).

Every vertex of the digraph becomes a variable V with nine states, every arc a gadget of seven variables A, ..., G and a
hidden one, H. A DAG over the observed variables must join C and F, which H makes dependent whatever is given. Pointing
from F to C costs two parameters more, and pointing from C to F opens a directed path from V_i to V_j: so the cheapest
DAG pays two for as few arcs as possible, and must pay for one in every cycle.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from learnable.graphs.bn_learning_np_hard.faithful import check_dag, faithful_network
from learnable.graphs.bn_learning_np_hard.feedback import check_arcs, find_cycle
from learnable.graphs.dags import DAG
from learnable.graphs.discrete import count_parameters
from learnable.graphs.equivalence import includes
from learnable.validation import check_scalar

__all__ = [
    "LearnInstance",
    "Verification",
    "dag_to_feedback",
    "dbfas_to_learn",
    "feedback_to_dag",
    "learn_bound",
    "verify_solution",
]

LETTERS = "ABCDEFG"
STATES = {"V": 9, "A": 9, "B": 2, "C": 3, "D": 9, "E": 2, "F": 2, "G": 9, "H": 2}
# Parents inside a gadget i -> j; "V" is the tail V_i. The head V_j has the parent F in each of the three.
TRUTH = {"B": "VA", "C": "BH", "E": "DG", "F": "EH"}
PAID = {"B": "VA", "C": "BEF", "E": "DG", "F": "E"}  # Fig. 3a: the arc is in the feedback set
FREE = {"B": "VA", "C": "B", "E": "DG", "F": "EBC"}  # Fig. 3b: V_i -> B -> F -> V_j


@dataclass(frozen=True)
class LearnInstance:
    """An instance of LEARN: find a DAG over the observed variables that includes p and has at most `bound` parameters.

    Attributes
    ----------
    arcs : tuple of (int, int)
        The digraph.
    n_vertices : int
        Its number of vertices.
    k : int
        The number of feedback arcs that may be chosen.
    bound : int
        Parameters that a solution may have.
    dag : DAG
        The graph with hidden variables whose margin is p. The observed variables are its first nodes.
    n_states : tuple of int
        States of each of its nodes.
    n_observed : int
        Number of observed variables: a V for each vertex, then A to G for each arc.
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
            return check_scalar(arc, "arc", low=0, high=self.n_vertices - 1, integer=True)
        if letter not in STATES or tuple(arc) not in self.arcs:
            raise ValueError(f"letter must be one of V, A, ..., H and arc an arc of the digraph, got {letter!r}, {arc}")
        return _node(letter, self.arcs.index(tuple(arc)), self.arcs, self.n_vertices)

    @property
    def names(self):
        """Names of all nodes: ``"V0"``, ``"A(0,1)"``, ..."""
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
    """Turn "are k arcs enough to break all cycles?" into "is there a DAG with so few parameters?" (Sec. 3.1).

    Cost O(vertices + arcs), apart from the adjacency matrix.

    Parameters
    ----------
    arcs : sequence of (int, int)
        A digraph in which every vertex 0, 1, ... has an arc in, an arc out, and at most three; see `prune_digraph`.
    k : int
        Size of the feedback arc set, at most the number of arcs.

    Returns
    -------
    LearnInstance

    Examples
    --------
    >>> instance = dbfas_to_learn([(0, 1), (1, 0)], k=1)
    >>> instance.n_observed, instance.bound
    (16, 438)
    """
    arcs, n = _bounded(arcs)
    k = check_scalar(k, "k", low=0, high=len(arcs), integer=True)
    dag, states = _assemble(arcs, n, [TRUTH] * len(arcs), hidden=True)
    return LearnInstance(tuple(arcs), n, k, learn_bound(arcs, k), dag, states, n + 7 * len(arcs))


def learn_bound(arcs, k):
    """Parameters of a DAG that pays for k arcs: 186 a + 18 k + 16 (a - k) + 16 o + 32 t (Chickering et al. 2004, (2)).

    a is the number of arcs, o and t those of the vertices with one and with two incoming arcs.

    Parameters
    ----------
    arcs : sequence of (int, int)
        A digraph in which every vertex has an arc in, an arc out, and at most three.
    k : int
        Size of the feedback arc set, at most the number of arcs.

    Returns
    -------
    int

    Examples
    --------
    >>> learn_bound([(0, 0)], 1)
    220
    """
    arcs, n = _bounded(arcs)
    k = check_scalar(k, "k", low=0, high=len(arcs), integer=True)
    entering = np.bincount([j for _, j in arcs], minlength=n)
    a, one, two = len(arcs), int((entering == 1).sum()), int((entering == 2).sum())
    return 186 * a + 18 * k + 16 * (a - k) + 16 * one + 32 * two


def feedback_to_dag(instance, feedback):
    """Forward map: a DAG over the observed variables from a feedback arc set (Theorem 8).

    Parameters
    ----------
    instance : LearnInstance
        Made by `dbfas_to_learn`.
    feedback : sequence of (int, int)
        Arcs that break all cycles; others are refused, because the graph would not be acyclic.

    Returns
    -------
    DAG

    Examples
    --------
    >>> instance = dbfas_to_learn([(0, 1), (1, 0)], k=1)
    >>> dag = feedback_to_dag(instance, [(1, 0)])
    >>> count_parameters(dag, instance.observed_states)
    438
    """
    _check_instance(instance)
    chosen = set(check_arcs(feedback, "feedback"))
    if chosen - set(instance.arcs):
        raise ValueError(f"feedback must be arcs of the digraph, got {min(chosen - set(instance.arcs))}")
    cycle = find_cycle([arc for arc in instance.arcs if arc not in chosen])
    if cycle:
        around = " -> ".join(str(i) for i, _ in cycle) + f" -> {cycle[0][0]}"
        raise ValueError(f"feedback must break every cycle, but {around} is left")
    gadgets = [PAID if arc in chosen else FREE for arc in instance.arcs]
    return _assemble(instance.arcs, instance.n_vertices, gadgets, hidden=False)[0]


def dag_to_feedback(dag, instance):
    """Backward map: the arcs i -> j for which the DAG has no directed path from V_i to V_j (Theorem 9).

    Whatever the DAG, these arcs break all cycles; if it is a solution of the instance, there are at most k of them.
    Cost O(arcs * size of the DAG).

    Parameters
    ----------
    dag : DAG
        Over the observed variables.
    instance : LearnInstance
        Made by `dbfas_to_learn`.

    Returns
    -------
    list of (int, int)

    Examples
    --------
    >>> instance = dbfas_to_learn([(0, 1), (1, 2), (2, 0)], k=1)
    >>> dag_to_feedback(feedback_to_dag(instance, [(1, 2)]), instance)
    [(1, 2)]
    """
    _check_instance(instance)
    check_dag(dag)
    if dag.n_nodes != instance.n_observed:
        raise ValueError(f"dag must have the {instance.n_observed} observed variables as nodes, got {dag.n_nodes}")
    below = {i: dag.descendants([i]) for i in range(instance.n_vertices)}
    return [(i, j) for i, j in instance.arcs if j not in below[i]]


@dataclass(frozen=True)
class Verification:
    """What `verify_solution` returns.

    Attributes
    ----------
    accepted : bool
        Whether the graph is a solution.
    reasons : tuple of str
        Why it is not; empty if it is.
    n_parameters : int or None
        Its parameters, if it is acyclic.
    bound : int
        What the instance allows.
    """

    accepted: bool
    reasons: tuple
    n_parameters: int | None
    bound: int


def verify_solution(graph, instance, *, max_parents=3):
    """Check a proposed solution in polynomial time: acyclic, includes p, few parameters, few parents.

    That the graph includes p is decided by d-separation in the graph with hidden variables, to which p is faithful.

    Parameters
    ----------
    graph : DAG or array-like of bool of shape (n_observed, n_observed)
        The proposal; a matrix may have cycles.
    instance : LearnInstance
        Made by `dbfas_to_learn`.
    max_parents : int or None, default=3
        The most parents that a node may have (Theorem 16); None for no bound.

    Returns
    -------
    Verification

    Examples
    --------
    >>> instance = dbfas_to_learn([(0, 1), (1, 0)], k=1)
    >>> dag = feedback_to_dag(instance, [(0, 1)])
    >>> verify_solution(dag, instance).accepted
    True
    >>> tampered = dag.adjacency.copy()
    >>> tampered[instance.node("B", (0, 1)), instance.node("C", (0, 1))] = False
    >>> verify_solution(tampered, instance).reasons
    ('it implies independences that do not hold: it does not include p',)
    """
    _check_instance(instance)
    if max_parents is not None:
        max_parents = check_scalar(max_parents, "max_parents", low=0, integer=True)
    adjacency = np.asarray(getattr(graph, "adjacency", graph))
    if adjacency.shape != (instance.n_observed,) * 2:
        raise ValueError(f"graph must have the {instance.n_observed} observed variables, got shape {adjacency.shape}")
    if adjacency.dtype.kind not in "biuf" or not np.isin(adjacency, (0, 1)).all():
        raise ValueError("graph must be a DAG or a matrix of booleans")
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
    if not arcs:
        raise ValueError("arcs must not be empty")
    n = max(max(arc) for arc in arcs) + 1
    if n > len(arcs):
        raise ValueError(f"arcs must give every vertex 0, ..., {n - 1} an arc in and an arc out, got {len(arcs)} arcs")
    leaving, entering = (np.bincount([arc[end] for arc in arcs], minlength=n) for end in (0, 1))
    for v in range(n):
        if leaving[v] == 0 or entering[v] == 0 or leaving[v] + entering[v] > 3:
            raise ValueError(
                "arcs must give every vertex an arc in, an arc out and at most three, but vertex "
                f"{v} has {entering[v]} in and {leaving[v]} out; prune_digraph removes vertices that lie on no cycle"
            )
    return arcs, n


def _check_instance(instance):
    if not isinstance(instance, LearnInstance):
        raise TypeError(f"instance must be a LearnInstance, got {type(instance).__name__}")
