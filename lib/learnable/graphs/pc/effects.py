"""Causal effects from a graph that is known up to equivalence: IDA (Maathuis, Kalisch and Buehlmann 2009).

The effect of x on y in a linear model is the coefficient of x in the regression of y on x and the parents of x. A
partially directed graph leaves some parents open: the undirected neighbours T that may be parents together, without a
new collider at x, give one possible effect each, and the smallest in absolute value is a lower bound.
"""

from __future__ import annotations

import numpy as np

from learnable.graphs.mixed import ARROW, TAIL
from learnable.validation import check_has, check_scalar, check_symmetric


def ida(graph, covariance, x, y=None):
    """The possible total effects of x, one for each way to choose its parents.

    Parameters
    ----------
    graph : MixedGraph
        Directed and undirected edges; a bidirected edge, which stands for a contradiction, counts as undirected.
    covariance : array-like of shape (p, p)
    x : int
        The cause.
    y : int, optional
        The effect; all nodes by default.

    Returns
    -------
    ndarray of shape (m,) or (m, p)
        A multiset: equal values are repeated. 0 where y is a parent of x. O(m p d^2).

    Examples
    --------
    >>> from learnable.graphs.mixed import MixedGraph
    >>> chain = MixedGraph.from_edges(3, undirected=[(0, 1), (1, 2)])
    >>> covariance = np.array([[1, 0.5, 0.25], [0.5, 1.25, 0.625], [0.25, 0.625, 1.3125]])
    >>> [np.abs(ida(chain, covariance, x, 2)).round(3).tolist() for x in (0, 1)]
    [[0.25, 0.0], [0.5, 0.5, 0.0]]
    """
    marks, covariance = _checked(graph, covariance)
    x = check_scalar(x, "x", low=0, high=len(marks) - 1, integer=True)
    effects = _effects(marks, covariance, x)
    if y is None:
        return effects
    y = check_scalar(y, "y", low=0, high=len(marks) - 1, integer=True)
    if y == x:
        raise ValueError(f"y must differ from x, got {y} for both")
    return effects[:, y]


def ida_lower_bounds(graph, covariance):
    """The smallest possible absolute effect of each node on each other one.

    Parameters
    ----------
    graph : MixedGraph
    covariance : array-like of shape (p, p)

    Returns
    -------
    ndarray of shape (p, p)
        Row x, column y: of x on y; the diagonal is 0.

    Examples
    --------
    >>> from learnable.graphs.mixed import MixedGraph
    >>> ida_lower_bounds(MixedGraph.from_edges(2, directed=[(0, 1)]), [[1, -0.5], [-0.5, 1]]).tolist()
    [[0.0, 0.5], [0.0, 0.0]]
    """
    marks, covariance = _checked(graph, covariance)
    bounds = np.array([np.abs(_effects(marks, covariance, x)).min(axis=0) for x in range(len(marks))])
    return bounds.reshape(marks.shape)


def _checked(graph, covariance):
    check_has(graph, "graph", "marks adjacency", "a MixedGraph")
    covariance = check_symmetric(covariance, "covariance")
    if len(covariance) != graph.n_nodes:
        raise ValueError(f"covariance must have the {graph.n_nodes} nodes of graph, got {len(covariance)}")
    if (np.diagonal(covariance) <= 0).any():
        raise ValueError("covariance must have positive variances")
    return graph.marks, covariance


def _effects(marks, covariance, x):
    """Effects of x on all nodes, a row for each choice of parents."""
    parents = np.flatnonzero((marks[:, x] == ARROW) & (marks[x] == TAIL)).tolist()
    open_ends = [v for v in np.flatnonzero(marks[x]).tolist() if marks[x, v] == marks[v, x]]
    rows = []
    for T in _joint_parents(marks, parents, open_ends):
        Z = [x, *parents, *T]
        # A pseudo-inverse where parents are collinear, as they are for more parents than observations.
        effects = np.linalg.lstsq(covariance[np.ix_(Z, Z)], covariance[Z], rcond=1e-12)[0][0]
        effects[Z] = 0.0
        rows.append(effects)
    return np.array(rows)


def _joint_parents(marks, parents, open_ends):
    """Subsets of the undirected neighbours that can be parents together: any two of all parents are adjacent or known.

    A set is possible only if its subsets are, so that sets grow from possible ones.
    """
    fit = [v for v in open_ends if all(marks[v, u] for u in parents)]
    sets = [()]
    yield ()
    while sets:
        sets = [(*T, v) for T in sets for v in fit if (not T or v > T[-1]) and all(marks[v, u] for u in T)]
        yield from sets
