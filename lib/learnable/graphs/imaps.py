"""The DAG with fewest parameters that can represent a distribution whose independences are known.

In a given order the answer is easy: the parents of x are its Markov boundary among those before it, the smallest set
that separates it from the others (Chickering et al. 2004, Sec. 1). What is hard is the order. `minimal_imap` tries all
of them by dynamic programming over the 2^n sets of variables that may come first; `order_search` moves one variable at
a time and may stop too early.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit

from learnable.graphs.dags import DAG
from learnable.graphs.faithful import check_dag, check_states, spread
from learnable.validation import check_has, check_rng, check_scalar

__all__ = ["MinimalImap", "minimal_imap", "order_imap", "order_search"]

COMPILED_LIMIT, ORACLE_LIMIT = 25, 14
HUGE = 2**60


class Lists(NamedTuple):
    """Parents and children of every node in compressed rows, and how many nodes are observed: 0, ..., observed - 1."""

    parent_starts: np.ndarray
    parents: np.ndarray
    child_starts: np.ndarray
    children: np.ndarray
    observed: int


@dataclass(frozen=True)
class MinimalImap:
    """A DAG that includes the distribution.

    Attributes
    ----------
    dag : DAG
        The graph.
    n_parameters : int
        Its parameters.
    order : tuple of int
        The order of the variables that it was found in.
    n_boundaries : int
        How many Markov boundaries were asked for.
    """

    dag: DAG
    n_parameters: int
    order: tuple
    n_boundaries: int


def minimal_imap(oracle, n_states, *, n_observed=None, max_parents=None):
    """Find the DAG with fewest parameters that implies no independence which does not hold. Exact.

    The best DAG whose first variables are the set S has f(S) = min over the last variable x in S of f(S - x) plus the
    parameters (r_x - 1) prod r_y over its Markov boundary y in S - x. This needs n 2^(n-1) boundaries, each a walk of
    the Bayes ball, and 9 2^n bytes.

    Parameters
    ----------
    oracle : DAG or object with a method ``independent(x, y, given)``
        A graph whose d-separations are the truth, compiled, for at most 25 observed variables; or an oracle that
        answers single questions, for at most 14. The distribution must be positive.
    n_states : int or sequence of int
        States of each observed variable, at least 2.
    n_observed : int, optional
        The first nodes of the graph are observed, the others hidden; all are observed if None. Given an oracle that is
        not a graph it is its number of variables, unless `n_states` says it.
    max_parents : int, optional
        Orders that need more parents than this are left out.

    Returns
    -------
    MinimalImap

    Examples
    --------
    >>> dag = DAG.from_edges(3, [(0, 2), (1, 2)])
    >>> minimal_imap(dag, [2, 3, 2]).n_parameters
    9
    """
    compiled = isinstance(oracle, DAG)
    if not compiled:
        check_has(oracle, "oracle", "independent", "a DAG, or an oracle with a method independent(x, y, given)")
    if n_observed is None:
        n_observed = oracle.n_nodes if compiled else np.size(n_states)
    limit = COMPILED_LIMIT if compiled else ORACLE_LIMIT
    n = check_scalar(n_observed, "n_observed", low=1, high=limit, integer=True)
    states = np.array(check_states(spread(n_states, n, "n_states"), "n_states"), dtype=np.int64)
    if sum(math.log2(r) for r in states) > 58:
        raise ValueError("n_states must have a product below 2^58, so that parameters can be counted")
    most = n if max_parents is None else check_scalar(max_parents, "max_parents", low=0, integer=True)
    if compiled:
        if n > oracle.n_nodes or oracle.n_nodes > 62:
            raise ValueError(f"n_observed must be at most the number of nodes, and those at most 62, got {n}")
        parents, children = (
            np.array([sum(1 << int(v) for v in of(i)) for i in range(oracle.n_nodes)], dtype=np.int64)
            for of in (oracle.parents, oracle.children)
        )
        cost, last = _all_orders(parents, children, states, most, bit_indices())
    else:
        cost, last = _ask_all_orders(oracle, states, most)
    full = (1 << n) - 1
    if cost[full] >= HUGE:
        raise ValueError(f"max_parents must be larger: no order needs at most {most} parents for every variable")
    order, S = [], full
    while S:
        order.append(int(last[S]))
        S ^= 1 << order[-1]
    order = order[::-1]
    if compiled:
        dag = order_imap(oracle, order)
    else:
        dag = DAG.from_parents(_parents_by_questions(oracle, order))
    return MinimalImap(dag, int(cost[full]), tuple(order), n << (n - 1))


def order_imap(dag, order):
    """The smallest DAG that includes a distribution and respects an order: easy (Chickering et al. 2004, Sec. 1).

    The parents of each variable are its Markov boundary among those before it. Cost O(n (nodes + edges)).

    Parameters
    ----------
    dag : DAG
        The graph whose d-separations are the truth.
    order : sequence of int
        The observed variables 0, ..., n - 1 in some order; the other nodes are hidden.

    Returns
    -------
    DAG
        Over the observed variables.

    Examples
    --------
    >>> collider = DAG.from_edges(3, [(0, 2), (1, 2)])
    >>> len(order_imap(collider, [0, 1, 2]).edges), len(order_imap(collider, [2, 1, 0]).edges)
    (2, 3)
    """
    check_dag(dag)
    order = _check_order(order, dag.n_nodes)
    adjacency = np.zeros((len(order), len(order)), dtype=bool)
    _imap(_lists(dag, len(order)), order, adjacency)
    return DAG(adjacency)


def order_search(dag, n_states, *, n_observed=None, n_restarts=10, random_state=None):
    """Local search over orders: move one variable to its best place, until no move saves a parameter.

    A heuristic for instances that `minimal_imap` cannot reach; it stops in a local minimum, and starts again from
    random orders. Cost O(n^2) Markov boundaries for each pass over the variables.

    Parameters
    ----------
    dag : DAG
        The graph whose d-separations are the truth.
    n_states : int or sequence of int
        States of each observed variable, at least 2.
    n_observed : int, optional
        The first nodes of the graph are observed, the others hidden; all are observed if None.
    n_restarts : int, default=10
        Random orders to start from.
    random_state : None, int or Generator
        Draws the orders.

    Returns
    -------
    MinimalImap
        The best that was found.

    Examples
    --------
    >>> order_search(DAG.from_edges(3, [(0, 2), (1, 2)]), [2, 3, 2], random_state=0).n_parameters
    9
    """
    check_dag(dag)
    n = dag.n_nodes if n_observed is None else check_scalar(n_observed, "n_observed", low=1, integer=True)
    if n > dag.n_nodes:
        raise ValueError(f"n_observed must be at most {dag.n_nodes}, the number of nodes")
    logs = np.log(np.array(check_states(spread(n_states, n, "n_states"), "n_states"), dtype=float))
    starts = check_scalar(n_restarts, "n_restarts", low=1, high=10**6, integer=True)
    rng = check_rng(random_state)
    best, asked = None, 0
    lists = _lists(dag, n)
    for _ in range(starts):
        order = rng.permutation(n)
        size, count = _improve(lists, order, logs)
        asked += count
        if best is None or size < best[0] - 0.5:
            best = size, order
    return MinimalImap(order_imap(dag, best[1]), round(best[0]), tuple(best[1].tolist()), asked)


class _Ball(NamedTuple):
    """Stamps of the nodes that the ball reached from a child (up) and from a parent (down), and a stack."""

    up: np.ndarray
    down: np.ndarray
    stack: np.ndarray


@njit(cache=True)
def _roll(lists, x, stop, ball, stamp):
    """Bayes ball from x, where the nodes in `stop` are given: marks every node that it meets with `stamp`."""
    top = 1
    ball.stack[0] = 2 * x
    ball.up[x] = stamp
    while top:
        top -= 1
        v, from_parent = ball.stack[top] >> 1, ball.stack[top] & 1
        if (from_parent and stop[v]) or not (from_parent or stop[v]):  # on to the parents
            for a in range(lists.parent_starts[v], lists.parent_starts[v + 1]):
                u = lists.parents[a]
                if ball.up[u] != stamp:
                    ball.up[u] = stamp
                    ball.stack[top] = 2 * u
                    top += 1
        if not stop[v]:  # on to the children
            for a in range(lists.child_starts[v], lists.child_starts[v + 1]):
                u = lists.children[a]
                if ball.down[u] != stamp:
                    ball.down[u] = stamp
                    ball.stack[top] = 2 * u + 1
                    top += 1


@njit(cache=True)
def _imap(lists, order, adjacency):
    n, nodes = len(order), len(lists.parent_starts) - 1
    before = np.zeros(nodes, dtype=np.bool_)
    ball = _Ball(np.zeros(nodes, np.int64), np.zeros(nodes, np.int64), np.empty(2 * nodes, np.int64))
    for place in range(n):
        x = order[place]
        _roll(lists, x, before, ball, place + 1)
        for y in range(n):
            adjacency[y, x] = before[y] and (ball.up[y] == place + 1 or ball.down[y] == place + 1)
        before[x] = True


@njit(cache=True)
def _family(lists, x, before, ball, stamp, logs):
    """Parameters of x if its boundary among `before` are its parents."""
    _roll(lists, x, before, ball, stamp)
    total = 0.0
    for y in range(lists.observed):
        if before[y] and (ball.up[y] == stamp or ball.down[y] == stamp):
            total += logs[y]
    return (np.exp(logs[x]) - 1.0) * np.exp(total)


@njit(cache=True)
def _improve(lists, order, logs):
    """Move variables, one at a time and by exchanges of neighbours, to their best places until none gains."""
    n, nodes = len(order), len(lists.parent_starts) - 1
    ball = _Ball(np.zeros(nodes, np.int64), np.zeros(nodes, np.int64), np.empty(2 * nodes, np.int64))
    before = np.zeros(nodes, dtype=np.bool_)
    cost = np.empty(n)  # of each variable
    stamp = 0
    for place in range(n):
        stamp += 1
        cost[order[place]] = _family(lists, order[place], before, ball, stamp, logs)
        before[order[place]] = True
    changed = True
    while changed:
        changed = False
        for x in order.copy():
            start = np.flatnonzero(order == x)[0]
            for way in (-1, 1):
                # A gain must exceed the rounding of sums that are large at first: else the same moves come again.
                gain, best_gain, best_place = 0.0, max(0.5, 1e-9 * cost.sum()), start
                trial, trial_cost = order.copy(), cost.copy()
                place = start
                while 0 <= place + way < n:
                    other = trial[place + way]
                    first = min(place, place + way)
                    trial[place], trial[place + way] = other, x
                    before[:] = False
                    for q in range(first):
                        before[trial[q]] = True
                    for q in range(first, first + 2):  # only the two that changed places have other predecessors
                        stamp += 1
                        new = _family(lists, trial[q], before, ball, stamp, logs)
                        gain += trial_cost[trial[q]] - new
                        trial_cost[trial[q]] = new
                        before[trial[q]] = True
                    place += way
                    if gain > best_gain:
                        best_gain, best_place = gain, place
                        best_cost = trial_cost.copy()
                if best_place != start:
                    while start != best_place:
                        order[start] = order[start + way]
                        start += way
                    order[start] = x
                    cost = best_cost
                    changed = True
    return cost.sum(), stamp


@njit(cache=True)
def _all_orders(parents, children, states, most, indices):
    """f(S) and the last variable of S for all sets S, with nodes as bits; f is HUGE where no order is allowed."""
    n = len(states)
    cost = np.zeros(1 << n, dtype=np.int64)
    last = np.zeros(1 << n, dtype=np.int8)
    for S in range(1, 1 << n):
        best = HUGE
        left = S
        while left:
            low = left & -left
            left ^= low
            x = indices[low % 67]
            before = S ^ low
            if cost[before] + states[x] - 1 >= best:
                continue
            boundary = _meet(low, before, parents, children, indices)
            value, size = states[x] - 1, 0
            while boundary:
                bit = boundary & -boundary
                boundary ^= bit
                value *= states[indices[bit % 67]]
                size += 1
            if size <= most and cost[before] + value < best:
                best = cost[before] + value
                last[S] = x
        cost[S] = best
    return cost, last


@njit(cache=True)
def _meet(start, stop, parents, children, indices):
    """Nodes of `stop` that the Bayes ball from `start` meets, all sets as bits."""
    up, down = start, 0
    new_up, new_down = start, 0
    while new_up | new_down:
        above, below = 0, 0
        left = (new_up & ~stop) | (new_down & stop)
        while left:
            bit = left & -left
            left ^= bit
            above |= parents[indices[bit % 67]]
        left = (new_up | new_down) & ~stop
        while left:
            bit = left & -left
            left ^= bit
            below |= children[indices[bit % 67]]
        new_up, new_down = above & ~up, below & ~down
        up |= new_up
        down |= new_down
    return (up | down) & stop


def bit_indices():
    """Powers of two have different remainders modulo 67: the table from remainder to exponent."""
    table = np.zeros(67, dtype=np.int64)
    for exponent in range(63):
        table[(1 << exponent) % 67] = exponent
    return table


def _boundary_by_questions(oracle, x, before):
    return [y for y in before if not oracle.independent(x, y, tuple(z for z in before if z != y))]


def _parents_by_questions(oracle, order):
    parents = [()] * len(order)
    for place, x in enumerate(order):
        parents[x] = _boundary_by_questions(oracle, x, sorted(order[:place]))
    return parents


def _ask_all_orders(oracle, states, most):
    n = len(states)
    cost, last = [0] * (1 << n), [0] * (1 << n)
    for S in range(1, 1 << n):
        cost[S] = HUGE
        members = [v for v in range(n) if S >> v & 1]
        for x in members:
            boundary = _boundary_by_questions(oracle, x, [v for v in members if v != x])
            value = cost[S ^ (1 << x)] + (int(states[x]) - 1) * math.prod(int(states[y]) for y in boundary)
            if len(boundary) <= most and value < cost[S]:
                cost[S], last[S] = value, x
    return cost, last


def _check_order(order, n_nodes):
    order = np.asarray(list(order))
    if order.ndim != 1 or len(order) > n_nodes or order.dtype.kind not in "iu" or not len(order):
        raise ValueError(f"order must be whole numbers 0, ..., n - 1 with n at most {n_nodes}")
    if not np.array_equal(np.sort(order), np.arange(len(order))):
        raise ValueError("order must contain each of the variables 0, ..., n - 1 once")
    return order.astype(np.int64)


def _lists(dag, observed):
    parents = [dag.parents(i) for i in range(dag.n_nodes)]
    children = [dag.children(i) for i in range(dag.n_nodes)]
    made = []
    for rows in (parents, children):
        starts = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
        made += [starts, np.array([v for row in rows for v in row], dtype=np.int64)]
    return Lists(*made, observed)
