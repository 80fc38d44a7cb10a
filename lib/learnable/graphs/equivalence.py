"""Covered edges, and when one graph can represent whatever another can (Chickering 1995, 2002).

A DAG *includes* another if every independence that it implies is implied by the other too: then every distribution of
the second is one of the first. Two DAGs that include each other are equivalent, and reversals of covered edges lead
from one to the other.
"""

from __future__ import annotations

import numpy as np

from learnable.graphs.dags import DAG, d_separated_many
from learnable.validation import check_has, check_scalar

__all__ = ["includes", "is_covered", "reverse_covered_edge"]


def is_covered(dag, x, y):
    """Whether the edge x -> y is covered: y has the parents of x, and x itself, and no others. Cost O(p).

    Parameters
    ----------
    dag : DAG
        The graph.
    x, y : int
        The ends of an edge x -> y.

    Returns
    -------
    bool

    Notes
    -----
    Reversing x -> y gives an equivalent DAG if and only if it is covered (Chickering 1995).

    Examples
    --------
    >>> dag = DAG.from_edges(3, [(0, 1), (0, 2), (1, 2)])
    >>> is_covered(dag, 0, 1), is_covered(dag, 0, 2)
    (True, False)
    """
    dag, x, y = _edge(dag, x, y)
    return set(dag.parents(x)) == set(dag.parents(y)) - {x}


def reverse_covered_edge(dag, x, y):
    """The equivalent DAG in which the covered edge x -> y points the other way. Cost O(p^2).

    Parameters
    ----------
    dag : DAG
        The graph.
    x, y : int
        The ends of a covered edge x -> y.

    Returns
    -------
    DAG

    Examples
    --------
    >>> reverse_covered_edge(DAG.from_edges(3, [(0, 1), (1, 2)]), 0, 1).edges
    ((1, 0), (1, 2))
    """
    dag, x, y = _edge(dag, x, y)
    if not is_covered(dag, x, y):
        raise ValueError(f"the edge {x} -> {y} must be covered: the parents of {y} must be those of {x}, and {x}")
    adjacency = np.array(dag.adjacency)
    adjacency[x, y], adjacency[y, x] = False, True
    return DAG(adjacency)


def includes(larger, smaller, observed=None):
    """Whether a DAG can represent every distribution of another one, or its margin over some of the nodes.

    It is enough that each node of `larger` is d-separated in `smaller` from those before it in an order of `larger`,
    given its parents: p statements, from which all others follow. Cost O(p (p + edges of smaller)).

    Parameters
    ----------
    larger : DAG
        The graph that should imply no independence too many.
    smaller : DAG
        The graph whose d-separations are the truth.
    observed : sequence of int, optional
        ``observed[i]`` is the node of `smaller` that node i of `larger` stands for; the other nodes of `smaller` are
        hidden, and never conditioned on. The same nodes if None.

    Returns
    -------
    bool

    Examples
    --------
    >>> chain, collider = DAG.from_edges(3, [(0, 1), (1, 2)]), DAG.from_edges(3, [(0, 1), (2, 1)])
    >>> full = DAG.from_edges(3, [(0, 1), (1, 2), (0, 2)])
    >>> includes(full, chain), includes(full, collider), includes(chain, collider)
    (True, True, False)
    """
    check_has(larger, "larger", "n_nodes parents topological_order", "a DAG")
    check_has(smaller, "smaller", "n_nodes parents", "a DAG")
    if observed is None:
        if larger.n_nodes != smaller.n_nodes:
            raise ValueError(f"smaller must have {larger.n_nodes} nodes, or say which are observed")
        observed = range(larger.n_nodes)
    observed = [check_scalar(v, "observed", low=0, high=smaller.n_nodes - 1, integer=True) for v in observed]
    if len(observed) != larger.n_nodes or len(set(observed)) < len(observed):
        raise ValueError(f"observed must be {larger.n_nodes} different nodes, one for each node of larger")
    queries = [
        (observed[x], [observed[v] for v in ys], [observed[v] for v in zs]) for x, ys, zs in _local_statements(larger)
    ]
    return bool(np.all(d_separated_many(smaller, queries))) if queries else True


def _local_statements(dag):
    """Independences (x, others, given) from which all others follow: of those before x, given its parents."""
    found, before = [], []
    for x in map(int, dag.topological_order):
        parents = list(dag.parents(x))
        others = sorted(set(before) - set(parents))
        if others:
            found.append((x, others, parents))
        before.append(x)
    return found


def _edge(dag, x, y):
    check_has(dag, "dag", "n_nodes parents adjacency", "a DAG")
    x, y = (check_scalar(v, name, low=0, high=dag.n_nodes - 1, integer=True) for v, name in ((x, "x"), (y, "y")))
    if not dag.adjacency[x, y]:
        raise ValueError(f"dag must have the edge {x} -> {y}")
    return dag, x, y
