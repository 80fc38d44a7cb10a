"""Networks that are provably faithful: every active path is a dependence (Chickering et al. 2004, Lemma 5).

p(X = 0 | parents) = alpha^(2 - 2^(-m)), where m of the parents are not in state 0; the other states of X share the rest
equally. Such tables are lattice and totally strictly positive, which is enough for the joint
distribution to have no independence that the graph does not imply (Lemma 17).
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from learnable.graphs.dags import d_separated_many
from learnable.graphs.discrete import DiscreteNetwork
from learnable.validation import check_finite_array, check_has, check_scalar

__all__ = ["PerfectnessReport", "conditional_dependence", "faithful_network", "faithful_table", "perfectness_report"]

NODES = 8  # p (p - 1) 2^(p - 3) statements: 1,792 for eight nodes


def faithful_table(n_states, parent_states=(), alpha=1 / 16, *, exact=False):
    """Conditional probabilities of a node that makes a network faithful (Chickering et al. 2004, (3)).

    p(0 | parents) = alpha^F with F = 2 - 2^(-m), m the number of parents that are not in state 0. F is concave in m, so
    that each parent matters, and the first one that leaves state 0 matters most. Cost: the size of the table.

    Parameters
    ----------
    n_states : int
        States of the node, at least 2.
    parent_states : sequence of int
        States of each parent, at least 2 each.
    alpha : float or Fraction, default=1/16
        p(0) if all parents are 0; strictly between 0 and 1.
    exact : bool, default=False
        Return `fractions.Fraction` objects. Then alpha must be a number whose roots alpha^(2^-m) are rational for m up
        to the number of parents: 1/16 for two, 1/256 for three, 1/2^(2^m) for m.

    Returns
    -------
    ndarray of shape (*parent_states, n_states)

    Examples
    --------
    >>> 1 / faithful_table(2, [2, 2])[..., 0]
    array([[ 16.,  64.],
           [ 64., 128.]])
    >>> faithful_table(3, [2], exact=True)[1]
    array([Fraction(1, 64), Fraction(63, 128), Fraction(63, 128)],
          dtype=object)
    """
    r = check_scalar(n_states, "n_states", low=2, integer=True)
    shape = check_states(parent_states, "parent_states")
    if math.prod(shape) * r > 2**24:
        raise ValueError(f"parent_states give a table of {math.prod(shape) * r} entries: at most 2^24 are made")
    off = sum(np.indices(shape, sparse=True)[i] > 0 for i in range(len(shape))) if shape else np.zeros((), int)
    off = np.asarray(off, dtype=int) if len(shape) != 1 else np.asarray(off, dtype=int).reshape(shape)
    if exact:
        powers = _exact_powers(alpha, len(shape))
    else:
        alpha = check_scalar(alpha, "alpha", low=0, high=1, closed="neither")
        powers = alpha ** (2 - 2.0 ** -np.arange(len(shape) + 1))
    first = powers[off]
    rest = (1 - first) / (r - 1)
    table = np.repeat(np.asarray(rest, dtype=powers.dtype)[..., None], r, axis=-1)
    table[..., 0] = first
    return table


def faithful_network(dag, n_states=2, alpha=1 / 16):
    """Give a graph conditional probabilities that make it provably faithful (Chickering et al. 2004, Lemma 5).

    Parameters
    ----------
    dag : DAG
        The graph.
    n_states : int or sequence of int, default=2
        States of each node, at least 2.
    alpha : float or sequence of float, default=1/16
        p(0) of a node whose parents are all 0, one for all nodes or one for each; strictly between 0 and 1. Values near
        1/16 keep the weakest dependence of a small graph far above rounding error.

    Returns
    -------
    DiscreteNetwork

    Examples
    --------
    >>> from learnable.graphs.dags import DAG
    >>> chain = DAG.from_edges(3, [(0, 1), (1, 2)])
    >>> network = faithful_network(chain, n_states=[2, 3, 2])
    >>> perfectness_report(network.joint(), chain).perfect
    True
    """
    check_dag(dag)
    states = spread(n_states, dag.n_nodes, "n_states")
    states = check_states(states, "n_states")
    alphas = [check_scalar(a, "alpha", low=0, high=1, closed="neither") for a in spread(alpha, dag.n_nodes, "alpha")]
    tables = [faithful_table(states[i], [states[j] for j in dag.parents(i)], alphas[i]) for i in range(dag.n_nodes)]
    return DiscreteNetwork(dag, tables)


def conditional_dependence(joint, x, y, given=()):
    """Largest relative distance of p(x, y | z) from p(x | z) p(y | z) over all states: 0 means independence.

    Cost: a few passes over the joint table.

    Parameters
    ----------
    joint : ndarray
        Joint probabilities, one axis for each variable; floats or Fractions.
    x, y : int
        Two variables.
    given : sequence of int
        What is conditioned on.

    Returns
    -------
    float or Fraction
        max \\|p(x, y, z) p(z) / (p(x, z) p(y, z)) - 1\\| over states with positive p(x, z) p(y, z).

    Examples
    --------
    >>> xor = np.zeros((2, 2, 2))
    >>> for a, b in np.ndindex(2, 2):
    ...     xor[a, b, a ^ b] = 0.25
    >>> float(conditional_dependence(xor, 0, 2)), float(conditional_dependence(xor, 0, 2, [1]))
    (0.0, 1.0)
    """
    joint = check_joint(joint)
    given = [check_scalar(z, "given", low=0, high=joint.ndim - 1, integer=True) for z in given]
    x, y = (check_scalar(v, n, low=0, high=joint.ndim - 1, integer=True) for v, n in ((x, "x"), (y, "y")))
    if x == y or {x, y} & set(given) or len(set(given)) < len(given):
        raise ValueError(f"x, y and given must be different variables, got {x}, {y} and {given}")
    return _dependence(joint, x, y, given)


@dataclass(frozen=True)
class PerfectnessReport:
    """What `perfectness_report` returns: every statement "x independent of y given z", beside d-separation.

    Attributes
    ----------
    statements : tuple of (x, y, given)
        All of them.
    dependence : ndarray
        `conditional_dependence` of each.
    separated : ndarray of bool
        Whether the graph implies the independence.
    tol : float
        What counted as independence.
    """

    statements: tuple
    dependence: np.ndarray
    separated: np.ndarray
    tol: float

    @property
    def independent(self):
        """Which statements hold in the distribution."""
        return self.dependence <= self.tol

    @property
    def unfaithful(self):
        """Statements that hold although the graph does not imply them."""
        return [s for s, bad in zip(self.statements, self.independent & ~self.separated, strict=True) if bad]

    @property
    def non_markov(self):
        """Statements that the graph implies and that do not hold."""
        return [s for s, bad in zip(self.statements, ~self.independent & self.separated, strict=True) if bad]

    @property
    def perfect(self):
        """Whether independence and d-separation agree on every statement."""
        return bool((self.independent == self.separated).all())

    @property
    def smallest_dependence(self):
        """Smallest dependence of a d-connected statement; infinite if there is none."""
        return min((float(d) for d in self.dependence[~self.separated]), default=math.inf)


def perfectness_report(joint, dag, *, tol=1e-10):
    """Compare every conditional independence of a distribution with d-separation in a graph.

    Cost O(p^2 2^p) statements, each a few passes over the joint table: for at most 8 variables.

    Parameters
    ----------
    joint : ndarray
        Joint probabilities, one axis for each node; floats, or Fractions, which are compared exactly.
    dag : DAG
        The graph.
    tol : float, default=1e-10
        Dependences up to this count as independence; for Fractions it is 0.

    Returns
    -------
    PerfectnessReport

    Examples
    --------
    >>> from learnable.graphs.dags import DAG
    >>> collider = DAG.from_edges(3, [(0, 2), (1, 2)])
    >>> report = perfectness_report(faithful_network(collider).joint(), collider)
    >>> report.perfect, len(report.statements), round(report.smallest_dependence, 3)
    (True, 6, 0.623)
    """
    check_dag(dag)
    joint = check_joint(joint)
    if joint.ndim != dag.n_nodes or joint.ndim > NODES:
        raise ValueError(f"joint must have an axis for each of the {dag.n_nodes} nodes, at most {NODES}")
    tol = 0 if joint.dtype == object else check_scalar(tol, "tol", low=0)
    nodes = range(joint.ndim)
    statements = tuple(
        (x, y, given)
        for x, y in itertools.combinations(nodes, 2)
        for size in range(joint.ndim - 1)
        for given in itertools.combinations([z for z in nodes if z not in (x, y)], size)
    )
    dependence = np.array([_dependence(joint, *statement) for statement in statements], dtype=joint.dtype)
    separated = np.asarray(d_separated_many(dag, statements), dtype=bool).reshape(len(statements))
    return PerfectnessReport(statements, dependence, separated, tol)


def check_dag(dag, name="dag"):
    """A DAG of :mod:`learnable.graphs.dags`, or a TypeError."""
    return check_has(dag, name, "n_nodes parents edges", "a DAG, such as DAG.from_edges(3, [(0, 1), (1, 2)])")


def check_states(states, name):
    """Numbers of states, at least two each, as a tuple."""
    try:
        states = tuple(states)
    except TypeError:
        raise ValueError(f"{name} must be a sequence of numbers of states, got {states!r}") from None
    return tuple(check_scalar(r, name, low=2, integer=True) for r in states)


def check_joint(joint):
    """A joint table that sums to one, floats or Fractions."""
    values = np.asarray(joint)
    if values.dtype != object or not all(isinstance(v, Fraction) for v in values.flat):
        values = check_finite_array(joint, "joint")
    if values.ndim < 1 or values.size == 0 or (values < 0).any() or abs(values.sum() - 1) > 1e-8:
        raise ValueError("joint must hold probabilities that sum to one, with an axis for each variable")
    return values


def spread(value, size, name):
    """One value for each node, from one for all or from a sequence."""
    if np.ndim(value) == 0:
        return [value] * size
    if len(value) != size:
        raise ValueError(f"{name} must be one number or {size}, got {len(value)}")
    return list(value)


def _dependence(joint, x, y, given):
    others = tuple(v for v in range(joint.ndim) if v not in (x, y, *given))
    pxyz = joint.sum(axis=others, keepdims=True)
    pxz, pyz = pxyz.sum(axis=y, keepdims=True), pxyz.sum(axis=x, keepdims=True)
    pz = pxz.sum(axis=x, keepdims=True)
    product = np.broadcast_to(pxz * pyz, pxyz.shape)
    seen = product > 0
    return np.abs((pxyz * pz)[seen] / product[seen] - 1).max()


def _exact_powers(alpha, m):
    """alpha^(2 - 2^-k) for k = 0, ..., m as Fractions, if they are rational."""
    alpha = alpha if isinstance(alpha, Fraction) else Fraction(check_scalar(alpha, "alpha"))
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be a number in (0, 1), got {alpha}")
    powers, root = [alpha], alpha
    for k in range(1, m + 1):
        top, bottom = math.isqrt(root.numerator), math.isqrt(root.denominator)
        if top**2 != root.numerator or bottom**2 != root.denominator:
            raise ValueError(f"alpha must be such that alpha^(1/{2**k}) is rational for exact=True, got {alpha}")
        root = Fraction(top, bottom)
        powers.append(root ** (2 ** (k + 1) - 1))
    return np.array(powers, dtype=object)
