r"""Scores of parent sets: what a node costs when it is predicted from a set of neighbours.

Loh and Bühlmann 2014, Sec. 4. From any covariance-like matrix Γ, be it Σ, a sample covariance or a corrected one,
::

    f_j(S) = (Γ_jj - Γ_jS Γ_SS⁻¹ Γ_Sj) / σ_j²,    score(G) = Σ_j f_j(Pa_G(j)).

With weights 1/σ_j² of the *errors*, known up to a common factor, the true graph minimises the score over all DAGs
(Theorem 7). The Gaussian likelihood, (n/2) log of the residual variance, needs no weights, but it cannot tell the
members of a Markov equivalence class apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from learnable._inner import assign
from learnable.graphs.dags import DAG
from learnable.validation import Result, check_choice, check_finite_array, check_scalar, check_symmetric

# 2^20 scores for one node take 8 MB; beyond this a table of all subsets of the neighbours is not the right structure.
LARGEST_NEIGHBORHOOD = 20
# A pivot below this share of the variance belongs to a variable that others determine: it adds nothing to a prediction.
COLLINEAR = 1e-12


@dataclass(frozen=True, eq=False)
class ParentScores(Result):
    """Scores of all sets of candidate parents of every node; what :func:`parent_scores` returns.

    Attributes
    ----------
    candidates : tuple of ndarray
        The nodes that may be parents of each node, in increasing order.
    values : tuple of ndarray
        ``values[j][mask]`` is the score of node j when its parents are the candidates of the bits of `mask`; infinite
        where the set is not allowed.
    residual_variance : tuple of ndarray
        The variance that these parents leave unexplained, in the same order.
    """

    candidates: tuple
    values: tuple
    residual_variance: tuple

    @property
    def n_nodes(self):
        """Number of nodes."""
        return len(self.candidates)

    @property
    def adjacency(self):
        """Pairs of which one may be a parent of the other, as a symmetric bool matrix."""
        matrix = np.zeros((self.n_nodes, self.n_nodes), dtype=bool)
        for j, candidates in enumerate(self.candidates):
            matrix[j, candidates] = matrix[candidates, j] = True
        return matrix

    def parents(self, node, mask):
        """The parents that a bit mask stands for, as a list."""
        candidates = self.candidates[node]
        return [int(c) for b, c in enumerate(candidates) if mask >> b & 1]

    def mask(self, node, parents):
        """The bit mask of a set of parents of `node`; ValueError if one of them is no candidate."""
        places = {int(c): b for b, c in enumerate(self.candidates[node])}
        if not set(parents) <= set(places):
            raise ValueError(f"parents must be candidates of node {node}, {sorted(places)}, got {sorted(parents)}")
        return sum(1 << places[parent] for parent in parents)

    def score(self, dag):
        """The sum of the scores of all nodes under a DAG whose edges are candidates."""
        return float(sum(self.values[j][self.mask(j, dag.parents(j))] for j in range(self.n_nodes)))

    def without(self, parent, child):
        """The same scores with the edge parent -> child forbidden."""
        values = list(self.values)
        bit = self.mask(child, [parent])
        allowed = (np.arange(len(values[child])) & bit) == 0
        values[child] = np.where(allowed, values[child], np.inf)
        return ParentScores(self.candidates, tuple(values), self.residual_variance)


def parent_scores(
    covariance,
    adjacency=None,
    *,
    noise_variance=1.0,
    kind="squared",
    n_samples=None,
    edge_cost=0.0,
    max_parents=None,
):
    """Score every set of neighbours of every node as its parents (Loh and Bühlmann 2014, (19) and (32)).

    A depth-first elimination visits the 2^d subsets of d neighbours; each costs O(1) on average, since half of them
    differ from their predecessor in one variable alone. Cost O(p 2^d).

    Parameters
    ----------
    covariance : array-like of shape (p, p)
        Symmetric and, up to rounding, positive semidefinite.
    adjacency : array-like of bool of shape (p, p), optional
        Symmetric; parents of a node are sought among its neighbours. All pairs if it is not given.
    noise_variance : float or array-like of shape (p,), default=1.0
        σ², the variances of the errors, for ``kind="squared"``.
    kind : {"squared", "bic"}, default="squared"
        The weighted residual variance, or the Gaussian -log likelihood (n/2) log(residual variance) plus
        (log n)/2 for each parent.
    n_samples : int, optional
        Needed for "bic".
    edge_cost : float, default=0.0
        Added for each parent, beside what "bic" adds.
    max_parents : int, optional
        Forbid larger sets.

    Returns
    -------
    ParentScores

    Examples
    --------
    >>> scores = parent_scores([[1.0, -0.5], [-0.5, 0.5]])
    >>> [values.tolist() for values in scores.values]
    [[1.0, 0.5], [0.5, 0.25]]
    """
    families = FamilyScores(covariance, noise_variance, kind, n_samples, edge_cost, max_parents)
    adjacency = check_undirected(adjacency, families.n_nodes)
    degree = int(adjacency.sum(axis=0).max(initial=0))
    if degree > LARGEST_NEIGHBORHOOD:
        raise ValueError(
            f"adjacency must leave a node at most {LARGEST_NEIGHBORHOOD} neighbours, for a table of all their subsets, "
            f"got {degree}: estimate a sparser graph"
        )
    return families.table([np.flatnonzero(row) for row in adjacency])


class FamilyScores:
    """The prices of :func:`parent_scores`, for one family or for a table of all subsets of some candidates."""

    def __init__(self, covariance, noise_variance=1.0, kind="squared", n_samples=None, edge_cost=0.0, max_parents=None):
        self.covariance = check_covariance(covariance)
        self.kind = check_choice(kind, "kind", ("squared", "bic"))
        self.noise_variance = check_noise_variance(noise_variance, self.n_nodes)
        self.edge_cost = check_scalar(edge_cost, "edge_cost", low=0)
        self.max_parents = np.inf
        if max_parents is not None:
            self.max_parents = check_scalar(max_parents, "max_parents", low=0, integer=True)
        if kind == "bic":
            self.n_samples = check_scalar(n_samples, "n_samples", low=2, integer=True)

    @property
    def n_nodes(self):
        """Number of nodes."""
        return len(self.covariance)

    def score(self, node, parents):
        """Score of a node with these parents. O(d³)."""
        members = [*parents, node]
        rest = _residual_given_all(self.covariance[np.ix_(members, members)], COLLINEAR)
        return float(self._price(node, np.array(rest), np.array(float(len(parents)))))

    def table(self, candidates):
        """Scores of all subsets of the candidates of every node."""
        values, residual = [], []
        for j, neighbors in enumerate(candidates):
            rest = _residual_variances(self.covariance[np.ix_([*neighbors, j], [*neighbors, j])], COLLINEAR)
            size = np.bitwise_count(np.arange(len(rest), dtype=np.uint64)).astype(float)
            values.append(self._price(j, rest, size))
            residual.append(rest)
        return ParentScores(tuple(candidates), tuple(values), tuple(residual))

    def _price(self, node, rest, size):
        if self.kind == "squared":
            score = rest / self.noise_variance[node] + self.edge_cost * size
        else:
            n, floor = self.n_samples, COLLINEAR * max(self.covariance[node, node], np.finfo(float).tiny)
            score = 0.5 * n * np.log(np.maximum(rest, floor)) + (0.5 * np.log(n) + self.edge_cost) * size
        return np.where(size > self.max_parents, np.inf, score)


def dag_score(covariance, dag, noise_variance=1.0):
    """Score of one graph, Σ_j (residual variance of j given its parents)/σ_j² (Loh and Bühlmann 2014, (8)). O(p d³).

    Parameters
    ----------
    covariance : array-like of shape (p, p)
    dag : DAG
    noise_variance : float or array-like of shape (p,), default=1.0

    Returns
    -------
    float

    Examples
    --------
    The true arrow 0 -> 1 costs more than the wrong one where its error is smaller than that of the cause (Example 1).

    >>> covariance = [[1.0, -0.5], [-0.5, 0.5]]
    >>> dag_score(covariance, DAG([[0, 1], [0, 0]])), dag_score(covariance, DAG([[0, 0], [1, 0]]))
    (1.25, 1.0)
    >>> dag_score(covariance, DAG([[0, 1], [0, 0]]), [1.0, 0.25])
    2.0
    """
    covariance = check_covariance(covariance)
    dag = check_dag(dag, len(covariance))
    variance = check_noise_variance(noise_variance, len(covariance))
    return float(np.sum(_residuals(covariance, dag) / variance))


def dag_weights(covariance, dag):
    """Least squares coefficients of every node on its parents, ``weights[j, k]`` for j -> k. O(p d³).

    They do not depend on the variances of the errors (Loh and Bühlmann 2014, Remark 5). A parent that the others
    determine gets the smallest coefficients among all solutions.

    Parameters
    ----------
    covariance : array-like of shape (p, p)
    dag : DAG

    Returns
    -------
    ndarray of shape (p, p)

    Examples
    --------
    >>> dag_weights([[1.0, -0.5], [-0.5, 0.5]], DAG([[0, 1], [0, 0]])).tolist()
    [[0.0, -0.5], [0.0, 0.0]]
    """
    covariance = check_covariance(covariance)
    dag = check_dag(dag, len(covariance))
    weights = np.zeros_like(covariance)
    scale = np.sqrt(np.diagonal(covariance))
    scale = np.where(scale > 0, scale, 1.0)
    correlation = covariance / np.multiply.outer(scale, scale)
    for k in range(len(covariance)):
        parents = list(dag.parents(k))
        if parents:
            solution = np.linalg.lstsq(correlation[np.ix_(parents, parents)], correlation[parents, k], rcond=COLLINEAR)
            weights[parents, k] = solution[0] * scale[k] / scale[parents]
    return weights


def _residuals(covariance, dag):
    """Residual variance of every node given its parents, by the same elimination as the table."""
    out = np.empty(len(covariance))
    for k in range(len(covariance)):
        members = [*dag.parents(k), k]
        out[k] = _residual_given_all(covariance[np.ix_(members, members)], COLLINEAR)
    return out


def check_covariance(covariance, name="covariance"):
    """A symmetric matrix with a non-negative diagonal; numbers near the ends of the floating point are refused."""
    covariance = check_symmetric(covariance, name)
    diagonal = np.diagonal(covariance)
    if diagonal.min() < 0:
        raise ValueError(f"{name} must have a non-negative diagonal, got {diagonal.min():g}")
    if not 1e-140 <= diagonal.max() <= 1e140 and diagonal.max() > 0:
        raise ValueError(
            f"{name} must have variances between 1e-140 and 1e140, got {diagonal.max():g}: change the unit"
        )
    bound = np.sqrt(diagonal)
    if (np.abs(covariance) > 1.000001 * np.multiply.outer(bound, bound) + 1e-300).any():
        raise ValueError(f"{name} must be positive semidefinite, but a covariance exceeds the two standard deviations")
    return covariance


def check_undirected(adjacency, p, name="adjacency"):
    """A symmetric bool matrix of shape (p, p) without loops; None stands for all pairs."""
    if adjacency is None:
        return ~np.eye(p, dtype=bool)
    array = check_finite_array(adjacency, name, ndim=2)
    if array.shape != (p, p) or not np.isin(array, (0, 1)).all() or not np.array_equal(array, array.T):
        raise ValueError(f"{name} must be a symmetric matrix of 0 and 1 of shape {(p, p)}, got shape {array.shape}")
    if np.diagonal(array).any():
        raise ValueError(f"{name} must have zeros on the diagonal")
    return array != 0


def check_noise_variance(noise_variance, p, name="noise_variance"):
    """One positive number or p of them, as p."""
    variance = check_finite_array(noise_variance, name)
    if variance.shape not in ((), (p,)) or variance.min() <= 0:
        raise ValueError(f"{name} must be a positive number or {p} positive numbers")
    if variance.min() < 1e-140 or variance.max() > 1e140:
        raise ValueError(f"{name} must lie between 1e-140 and 1e140: change the unit")
    return np.broadcast_to(variance, p)


def check_dag(dag, p, name="dag"):
    """A DAG on p nodes; an adjacency matrix becomes one."""
    if not isinstance(dag, DAG):
        dag = DAG(dag)
    if dag.n_nodes != p:
        raise ValueError(f"{name} must have {p} nodes, as the covariance has, got {dag.n_nodes}")
    return dag


@njit(cache=True)
def _eliminate(source, out, t, last, tol, variance):
    """Regress variables 0..t-1 and `last` on the variable t; a pivot that vanishes changes nothing."""
    pivot = source[t, t]
    inverse = 1.0 / pivot if pivot > tol * variance else 0.0
    for i in range(t + 1):
        a = last if i == t else i
        factor = source[a, t] * inverse
        for k in range(i + 1):
            b = last if k == t else k
            value = source[a, b] - factor * source[b, t]
            out[a, b] = value
            out[b, a] = value


@njit(cache=True)
def _residual_variances(M, tol):
    """Residual variance of the last variable given each subset of the others, by bit mask.

    Binary counting changes the bits 0..t only, t the lowest set bit: matrices of the bits above are kept in a stack.
    """
    d = M.shape[0] - 1
    out = np.empty(1 << d)
    stack = np.empty((d + 1, d + 1, d + 1))
    for a in range(d + 1):
        assign(stack[d, a], M[a])
    place = np.full(d + 1, d)  # where the matrix with the bits d-1..level accounted for is stored
    out[0] = max(M[d, d], 0.0)
    for mask in range(1, 1 << d):
        t = 0
        while not mask >> t & 1:
            t += 1
        _eliminate(stack[place[t + 1]], stack[t], t, d, tol, M[t, t])
        for level in range(t + 1):
            place[level] = t
        out[mask] = max(stack[t][d, d], 0.0)
    return out


@njit(cache=True)
def _residual_given_all(M, tol):
    """Residual variance of the last variable given all others, in the order of :func:`_residual_variances`."""
    d = M.shape[0] - 1
    work = M.copy()
    for t in range(d - 1, -1, -1):
        _eliminate(work, work, t, d, tol, M[t, t])
    return max(work[d, d], 0.0)
