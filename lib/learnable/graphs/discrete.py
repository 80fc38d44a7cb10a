"""Discrete Bayesian networks: tables with named axes, sampling, and queries by variable elimination.

A network over nodes 0, ..., N - 1 stores for each node a table whose axes are the parents in increasing order and,
last, the node itself. Data are integer arrays of state codes, one column for each node; the words for nodes and
states are kept beside (`names`, `states`) and accepted wherever a node or a state of evidence is named.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from learnable.graphs.dags import DAG
from learnable.validation import check_finite_array, check_has, check_rng, check_scalar

__all__ = ["DiscreteNetwork", "Factor", "check_codes", "count_parameters", "random_network"]

LARGEST_TABLE = 2**24
MOST_STATES = 2**20  # of a column whose largest code says how many there are


class Factor:
    """A non-negative table with named axes: what variable elimination multiplies and sums.

    Parameters
    ----------
    variables : sequence of hashable
        The names of the axes, all different.
    values : array-like
        One axis for each variable; entries are finite and not negative. A copy is kept, read-only.

    Attributes
    ----------
    variables : tuple
        The names of the axes.
    values : ndarray
        The table.

    Notes
    -----
    Koller and Friedman 2009, Sec. 9.3. A product costs the size of the larger table that results.

    Examples
    --------
    >>> rain = Factor(["rain"], [0.8, 0.2])
    >>> wet = Factor(["rain", "wet"], [[0.9, 0.1], [0.2, 0.8]])
    >>> (rain * wet).marginal(["wet"]).values
    array([0.76, 0.24])
    >>> wet.reduce({"wet": 1}).values
    array([0.1, 0.8])
    """

    __slots__ = ("values", "variables")

    def __init__(self, variables, values):
        variables = tuple(variables)
        if len(set(variables)) != len(variables):
            raise ValueError(f"variables must be distinct, got {variables}")
        values = np.array(check_finite_array(values, "values"), dtype=float, copy=True)
        if values.ndim != len(variables):
            raise ValueError(f"values must have one axis for each of {len(variables)} variables, got {values.ndim}")
        if (values < 0).any():
            raise ValueError("values must not be negative")
        self._set(variables, values)

    def _set(self, variables, values):
        values = np.asarray(values)  # a sum over all axes is a number
        values.flags.writeable = False
        object.__setattr__(self, "variables", variables)
        object.__setattr__(self, "values", values)

    @classmethod
    def _trusted(cls, variables, values):
        factor = object.__new__(cls)
        factor._set(tuple(variables), values)
        return factor

    def __setattr__(self, name, value):
        raise AttributeError(f"a Factor cannot be changed: {name}")

    def __repr__(self):
        return f"Factor({', '.join(f'{v}: {r}' for v, r in zip(self.variables, self.values.shape, strict=True))})"

    def __mul__(self, other):
        return self.product(other)

    def product(self, other):
        """The factor over the union of the variables whose entries are the products; shared axes must agree."""
        if not isinstance(other, Factor):
            raise TypeError(f"other must be a Factor, got {type(other).__name__}")
        return _multiply([self, other], ())

    def marginal(self, variables):
        """Sum over every axis except `variables`, which become the axes in the order given."""
        variables = self._known(variables, "variables")
        out = _einsum([self], variables)
        return Factor._trusted(variables, out)

    def reduce(self, evidence):
        """Fix the axes named by `evidence`, a mapping from variables to codes; those axes disappear."""
        if not isinstance(evidence, Mapping):
            raise TypeError("evidence must be a mapping from variables to codes")
        self._known(evidence, "evidence")
        index = []
        for variable, size in zip(self.variables, self.values.shape, strict=True):
            if variable in evidence:
                index.append(
                    check_scalar(evidence[variable], f"evidence[{variable!r}]", low=0, high=size - 1, integer=True)
                )
            else:
                index.append(slice(None))
        rest = tuple(v for v in self.variables if v not in evidence)
        return Factor._trusted(rest, np.array(self.values[tuple(index)]))

    def normalised(self):
        """The factor divided by its sum; a sum of zero is refused."""
        total = self.values.sum()
        if not total > 0:
            raise ValueError("values sum to zero: nothing to normalise")
        return Factor._trusted(self.variables, self.values / total)

    def _known(self, variables, name):
        variables = tuple(variables)
        for variable in variables:
            if variable not in self.variables:
                raise ValueError(f"{name} names {variable!r}, which is not among {self.variables}")
        if len(set(variables)) != len(variables):
            raise ValueError(f"{name} must be distinct, got {variables}")
        return variables


class DiscreteNetwork:
    """A Bayesian network of discrete variables: P(x) is the product of one conditional table for each node.

    Parameters
    ----------
    dag : DAG or array-like of bool of shape (N, N)
        The structure: ``adjacency[i, j]`` is the arc from i to j.
    tables : sequence of array-like
        ``tables[i]`` has one axis for each parent of i, in increasing order, and the states of i last; its rows sum to
        one. Copies are kept, read-only.
    states : sequence of sequences, optional
        The words for the states of each node; by default 0, 1, ...
    names : sequence of str, optional
        The words for the nodes; by default none.

    Attributes
    ----------
    dag : DAG
        The structure as given.
    tables : tuple of ndarray
        The conditional tables.
    n_states : tuple of int
        The number of states of each node.
    n_parameters : int
        Free entries of the tables, the sum of (r_i - 1) q_i.

    Notes
    -----
    Sampling and log probabilities cost O(n N) table look-ups. A query eliminates one variable after the other, the one
    whose new table is smallest first; the largest table decides what it costs.

    Examples
    --------
    >>> adjacency = [[False, True], [False, False]]
    >>> sprinkler = DiscreteNetwork(adjacency, [[0.8, 0.2], [[0.9, 0.1], [0.2, 0.8]]])
    >>> sprinkler.query([0], {1: 1}).values.round(3)
    array([0.333, 0.667])
    >>> sprinkler.n_parameters
    3
    """

    def __init__(self, dag, tables, states=None, names=None):
        self.dag = dag = as_dag(dag)
        self._parents = [tuple(int(p) for p in sorted(dag.parents(i))) for i in range(dag.n_nodes)]
        self._order = tuple(int(i) for i in dag.topological_order)
        n = dag.n_nodes
        if not isinstance(tables, Sequence) or len(tables) != n:
            raise ValueError(f"tables must be a sequence of {n} tables, one for each node")
        tables = [np.array(check_finite_array(t, f"tables[{i}]"), copy=True) for i, t in enumerate(tables)]
        for i, table in enumerate(tables):
            if table.ndim != len(self._parents[i]) + 1 or table.shape[-1] < 1:
                raise ValueError(f"tables[{i}] must have {len(self._parents[i]) + 1} axes, got shape {table.shape}")
        self.n_states = tuple(t.shape[-1] for t in tables)
        for i, table in enumerate(tables):
            expected = tuple(self.n_states[p] for p in self._parents[i]) + (self.n_states[i],)
            if table.shape != expected:
                raise ValueError(f"tables[{i}] must have shape {expected}, got {table.shape}")
            if (table < 0).any() or np.abs(table.sum(axis=-1) - 1).max(initial=0) > 1e-8:
                raise ValueError(f"tables[{i}] must have rows that are not negative and sum to one")
            table.flags.writeable = False
        self.tables = tuple(tables)
        self.states = _words(states, self.n_states)
        self.names = _names(names, n)

    @classmethod
    def from_parents(cls, parents, tables, states=None, names=None):
        """A network from lists of parents in any order: the axes of a table follow its list, and are sorted here.

        This is the layout of the networks that ``learnable.datasets.load`` returns (``load("alarm")``).
        """
        parents = [tuple(of) for of in parents]
        if len(parents) != len(tables):
            raise ValueError(f"tables must be {len(parents)} tables, one for each node, got {len(tables)}")
        tables = [np.asarray(table, dtype=float) for table in tables]
        for i, (of, table) in enumerate(zip(parents, tables, strict=True)):
            if table.ndim != len(of) + 1:
                raise ValueError(f"tables[{i}] must have {len(of) + 1} axes, got {table.ndim}")
            tables[i] = np.transpose(table, (*np.argsort(of), len(of)))
        return cls(DAG.from_parents(parents), tables, states, names)

    def __repr__(self):
        arcs = sum(map(len, self._parents))
        return f"DiscreteNetwork({self.n_nodes} nodes, {arcs} arcs, {self.n_parameters} parameters)"

    @property
    def n_nodes(self):
        """Number of nodes."""
        return len(self.tables)

    @property
    def n_parameters(self):
        """Number of free entries of the tables, (r_i - 1) times the parent configurations, summed over nodes."""
        return sum((t.shape[-1] - 1) * (t.size // t.shape[-1]) for t in self.tables)

    def parents(self, i):
        """The parents of node i, in the order of the axes of its table."""
        return self._parents[self._node(i)]

    def sample(self, n_samples, random_state=None):
        """Draw rows of state codes, every node after its parents: an int64 array of shape (n_samples, N)."""
        n_samples = check_scalar(n_samples, "n_samples", low=0, integer=True)
        rng = check_rng(random_state)
        X = np.zeros((n_samples, self.n_nodes), dtype=np.int64)
        for i in self._order:
            cumulative = np.cumsum(self.tables[i].reshape(-1, self.n_states[i]), axis=1)
            # The last state takes what rounding leaves, so that a draw next to one still has a state.
            drawn = rng.random(n_samples)[:, None] >= cumulative[self._codes(X, i), :-1]
            X[:, i] = drawn.sum(axis=1)
        return X

    def log_probability(self, X):
        """Log probability of each row of codes; minus infinity where a table has a zero."""
        X, _ = check_codes(X, self.n_states, "X")
        out = np.zeros(len(X))
        with np.errstate(divide="ignore"):
            for i, table in enumerate(self.tables):
                out += np.log(table.reshape(-1, self.n_states[i])[self._codes(X, i), X[:, i]])
        return out

    def factors(self):
        """The conditional tables as factors over node indices."""
        return [Factor._trusted((*self._parents[i], i), table) for i, table in enumerate(self.tables)]

    def joint(self):
        """The table of all joint probabilities, one axis for each node; for at most 2^24 cells."""
        if math.prod(self.n_states) > LARGEST_TABLE:
            raise ValueError("the joint table has more than 2^24 cells: ask for a few variables with query")
        return self.query(range(self.n_nodes)).values

    def query(self, variables, evidence=None):
        """P(variables | evidence) by variable elimination, as a Factor whose axes are `variables` in the order given.

        Nodes that are neither asked for, observed, nor ancestors of such nodes sum to one and are left out. Evidence
        of probability zero is a ValueError.
        """
        wanted = tuple(self._node(v) for v in variables)
        if len(set(wanted)) != len(wanted):
            raise ValueError("variables must be distinct")
        if evidence is not None:
            check_has(evidence, "evidence", "items", "a mapping from nodes to their states")
        given = {self._node(v): self._state(self._node(v), s) for v, s in (evidence or {}).items()}
        if set(wanted) & set(given):
            raise ValueError("variables and evidence must not share a node")
        relevant = self._ancestral({*wanted, *given})
        factors = [
            f.reduce({v: s for v, s in given.items() if v in f.variables})
            for f in self.factors()
            if f.variables[-1] in relevant
        ]
        hidden = relevant - set(wanted) - set(given)
        result = _eliminate(factors, hidden, wanted)
        if not result.values.sum() > 0:
            raise ValueError("evidence has probability zero in this network")
        return result.normalised()

    def _codes(self, X, i):
        code = np.zeros(len(X), dtype=np.int64)
        for p in self._parents[i]:
            code = code * self.n_states[p] + X[:, p]
        return code

    def _ancestral(self, nodes):
        found, stack = set(nodes), list(nodes)
        while stack:
            for p in self._parents[stack.pop()]:
                if p not in found:
                    found.add(p)
                    stack.append(p)
        return found

    def _node(self, v):
        if isinstance(v, str):
            if self.names is None or v not in self.names:
                raise ValueError(f"the network has no node named {v!r}")
            return self.names.index(v)
        return check_scalar(v, "node", low=0, high=self.n_nodes - 1, integer=True)

    def _state(self, i, state):
        if isinstance(state, str):
            if state not in self.states[i]:
                raise ValueError(f"evidence: node {i} has no state {state!r}; its states are {self.states[i]}")
            return self.states[i].index(state)
        return check_scalar(state, f"evidence[{i}]", low=0, high=self.n_states[i] - 1, integer=True)


def count_parameters(dag, n_states=2):
    """Number of free parameters of a discrete network: (r_i - 1) times the product of the parents' r, summed.

    Parameters
    ----------
    dag : DAG or array-like of bool of shape (N, N)
        The structure.
    n_states : int or sequence of int, default=2
        The number of states r, for all nodes or for each.

    Returns
    -------
    int
        An exact integer, however large.

    Examples
    --------
    >>> count_parameters([[0, 0, 1], [0, 0, 1], [0, 0, 0]], [2, 3, 4])
    21
    """
    dag = as_dag(dag)
    r = _state_numbers(n_states, dag.n_nodes)
    return sum((r[i] - 1) * math.prod(r[int(p)] for p in dag.parents(i)) for i in range(dag.n_nodes))


def random_network(dag, max_parents=3, n_states=2, random_state=None):
    """A network with random tables, on a given structure or on a random one.

    A random structure follows Dash and Cooper 2004, Procedure 4: a random order, for each node a number of parents
    uniform on 1, ..., `max_parents` (fewer where fewer nodes come before), the parents uniform among those before.
    Each row of a table is uniform on the simplex.

    Parameters
    ----------
    dag : DAG, array-like of bool of shape (N, N), or int
        The structure, or the number of nodes of a random one.
    max_parents : int, default=3
        Largest number of parents of a random structure; not used when a structure is given.
    n_states : int or sequence of int, default=2
        The number of states, for all nodes or for each.
    random_state : None, int or numpy.random.Generator
        The randomness.

    Returns
    -------
    DiscreteNetwork

    Examples
    --------
    >>> random_network(5, max_parents=2, random_state=0)
    DiscreteNetwork(5 nodes, 6 arcs, 13 parameters)
    """
    rng = check_rng(random_state)
    if np.ndim(dag) == 0 and not hasattr(dag, "parents"):
        n = check_scalar(dag, "dag", low=1, high=4096, integer=True)
        k = check_scalar(max_parents, "max_parents", low=0, integer=True)
        dag = _random_structure(n, k, rng)
    dag = as_dag(dag)
    r = _state_numbers(n_states, dag.n_nodes)
    tables = []
    for i in range(dag.n_nodes):
        shape = tuple(r[int(p)] for p in sorted(dag.parents(i)))
        if math.prod(shape) * r[i] > LARGEST_TABLE:
            raise ValueError(f"max_parents: the table of node {i} would have more than 2^24 entries")
        tables.append(_uniform_rows(rng, shape, r[i]))
    return DiscreteNetwork(dag, tables)


def check_codes(data, n_states=None, name="data"):
    """Return a table of state codes as C-contiguous int64, and the number of states of each column.

    Codes are 0, 1, ..., r - 1. Missing values (NaN, None, negative codes) are refused: they are not states; give them a
    state of their own, or leave their rows out.

    Parameters
    ----------
    data : array-like of shape (n, N)
        Whole numbers of any numeric type.
    n_states : int or sequence of int, optional
        The number of states, for all columns or for each; by default one more than the largest code of the column,
        which must then be below 2^20.
    name : str, default="data"
        The argument's name, for the message.

    Returns
    -------
    data : ndarray of int64 of shape (n, N)
    n_states : tuple of int

    Examples
    --------
    >>> check_codes([[0, 2], [1, 0]])[1]
    (2, 3)
    >>> check_codes([[0.5]])
    Traceback (most recent call last):
    ...
    ValueError: data must hold whole numbers 0, 1, ... (codes of states), got 0.5
    """
    data = np.asarray(data)
    if data.ndim != 2:
        raise ValueError(f"{name} must be two-dimensional (rows, nodes), got shape {data.shape}")
    if data.dtype.kind not in "iub":
        values = check_finite_array(data, name)
        wrong = values != np.floor(values)
        if wrong.any():
            raise ValueError(f"{name} must hold whole numbers 0, 1, ... (codes of states), got {values[wrong][0]:g}")
        data = values
    if data.size and (data.min() < 0 or data.max() > 2**31):
        raise ValueError(
            f"{name} must hold codes 0, 1, ... of states, got {data.min() if data.min() < 0 else data.max()}"
        )
    data = np.ascontiguousarray(data, dtype=np.int64)
    largest = data.max(axis=0, initial=0)
    if n_states is None:
        if largest.max(initial=0) >= MOST_STATES:
            raise ValueError(
                f"{name} must hold codes below {MOST_STATES} where n_states is not given, got {largest.max()}: number "
                "the states anew, as OrdinalEncoder does"
            )
        return data, tuple(int(m) + 1 for m in largest)
    r = _state_numbers(n_states, data.shape[1])
    for i in np.flatnonzero(largest >= np.array(r, dtype=np.int64)) if data.size else ():
        raise ValueError(f"{name} has the unknown state {largest[i]} in column {i}, which has {r[i]} states (n_states)")
    return data, r


def as_dag(dag):
    """A :class:`~learnable.graphs.dags.DAG` from one, or from a bool adjacency matrix."""
    return dag if isinstance(dag, DAG) else DAG(dag)


def _state_numbers(n_states, n):
    if np.ndim(n_states) == 0:
        return (check_scalar(n_states, "n_states", low=1, integer=True),) * n
    r = tuple(check_scalar(v, "n_states", low=1, integer=True) for v in n_states)
    if len(r) != n:
        raise ValueError(f"n_states must be one number or {n} numbers, got {len(r)}")
    return r


def _words(states, n_states):
    if states is None:
        return tuple(tuple(range(r)) for r in n_states)
    states = tuple(tuple(s) for s in states)
    if tuple(map(len, states)) != n_states or any(len(set(s)) != len(s) for s in states):
        raise ValueError("states must give each node as many distinct words as its table has states")
    return states


def _names(names, n):
    if names is None:
        return None
    names = tuple(names)
    if len(names) != n or len(set(names)) != n or not all(isinstance(v, str) for v in names):
        raise ValueError(f"names must be {n} distinct strings")
    return names


def _random_structure(n, max_parents, rng):
    order = rng.permutation(n)
    adjacency = np.zeros((n, n), dtype=bool)
    for place, node in enumerate(order):
        wanted = int(rng.integers(1, max_parents + 1)) if max_parents else 0
        adjacency[rng.choice(order[:place], size=min(wanted, place), replace=False), node] = True
    return adjacency


def _uniform_rows(rng, shape, r):
    table = rng.standard_exponential((*shape, r))
    return table / table.sum(axis=-1, keepdims=True)


def _einsum(factors, out):
    """Sum of products of factors onto the axes `out`, with local letters so that any number of nodes fits."""
    letters = {v: a for a, v in enumerate(dict.fromkeys(v for f in factors for v in f.variables))}
    operands = [part for f in factors for part in (f.values, [letters[v] for v in f.variables])]
    return np.einsum(*operands, [letters[v] for v in out])


def _multiply(factors, summed):
    variables = tuple(v for v in dict.fromkeys(v for f in factors for v in f.variables) if v not in summed)
    sizes = {}
    for f in factors:
        for v, r in zip(f.variables, f.values.shape, strict=True):
            if sizes.setdefault(v, r) != r:
                raise ValueError(f"variable {v!r} has {sizes[v]} states in one factor and {r} in another")
    if math.prod(sizes[v] for v in variables) > LARGEST_TABLE:
        raise ValueError(
            "the query needs a table of more than 2^24 cells: give more evidence, or ask for fewer variables"
        )
    result = factors[0]
    for i, f in enumerate(factors[1:], 2):
        keep = variables if i == len(factors) else tuple(dict.fromkeys(result.variables + f.variables))
        result = Factor._trusted(keep, _einsum([result, f], keep))
    if len(factors) == 1 or result.variables != variables:
        result = Factor._trusted(variables, _einsum([result], variables))
    return result


def _eliminate(factors, hidden, wanted):
    """Sum out `hidden` one by one, the variable whose product has the fewest cells first."""
    factors, hidden = list(factors), set(hidden)
    size = {v: r for f in factors for v, r in zip(f.variables, f.values.shape, strict=True)}
    while hidden:
        cost = {}
        for v in hidden:
            scope = {u for f in factors if v in f.variables for u in f.variables}
            cost[v] = (math.prod(size[u] for u in scope), v)
        v = min(hidden, key=cost.get)
        touched = [f for f in factors if v in f.variables]
        factors = [f for f in factors if v not in f.variables] + [_multiply(touched, (v,))]
        hidden.remove(v)
    factors = factors or [Factor._trusted((), np.ones(()))]
    result = _multiply(factors, ())
    return Factor._trusted(wanted, _einsum([result], wanted))
