"""Choosing alpha by BIC, and what survives subsampling (Colombo and Maathuis 2014, Sec. 6.2 and Appendix B)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.base import clone

from learnable.graphs.dags import DAG
from learnable.graphs.mixed import ARROW, TAIL, MixedGraph, pdag_to_dag
from learnable.graphs.pc.effects import ida_lower_bounds
from learnable.graphs.pc.estimator import PC
from learnable.validation import Result, Summary, check_choice, check_finite_array, check_has, check_rng, check_scalar


@dataclass(frozen=True, eq=False)
class Stability(Result):
    """What `stability_selection` returns: shares of the subsamples.

    Attributes
    ----------
    adjacent : ndarray of shape (p, p)
        In which the pair had an edge.
    directed : ndarray of shape (p, p)
        In which it was i -> j.
    ranked : ndarray of shape (p, p) or None
        In which the lower bound of the effect of i on j was among the largest.
    names : tuple
        Of the columns; their numbers where they have none.
    n_draws : int
    """

    adjacent: np.ndarray
    directed: np.ndarray
    ranked: np.ndarray | None
    names: tuple
    n_draws: int

    def summary(self, threshold=0.5):
        """The edges that came back in at least a share of the subsamples, with the shares of their directions.

        Parameters
        ----------
        threshold : float, default=0.5

        Returns
        -------
        Summary
        """
        threshold = check_scalar(threshold, "threshold", low=0, high=1)
        pairs = [(i, j) for i, j in zip(*np.triu_indices(len(self.names), 1), strict=True)]
        kept = [(i, j) for i, j in pairs if self.adjacent[i, j] >= max(threshold, 1e-12)]
        rows = []
        for i, j in sorted(kept, key=lambda pair: -self.adjacent[pair]):
            there, back = self.directed[i, j], self.directed[j, i]
            rest = self.adjacent[i, j] - there - back
            shares = [f"{share:.2f}" for share in (self.adjacent[i, j], there, back, rest)]
            rows.append([f"{self.names[i]} - {self.names[j]}", *shares])
        heads = ["edge", "found", "->", "<-", "open"]
        expected = self.adjacent[np.triu_indices(len(self.names), 1)].sum()
        note = f"{len(kept)} of {len(pairs)} pairs; a subsample had {expected:.3g} edges on average."
        return Summary.table(f"Stability over {self.n_draws} subsamples", heads, rows, [note])


@dataclass(frozen=True, eq=False)
class AlphaChoice(Result):
    """What `choose_alpha_bic` returns.

    Attributes
    ----------
    alpha : float
        The level with the smallest criterion.
    alphas, bic, n_edges : ndarray of shape (m,)
        Levels, criteria and numbers of edges.
    consistent : ndarray of bool of shape (m,)
        Whether the graph had a DAG with the same v-structures; otherwise contradictions were dropped, or the skeleton
        was directed along the columns.
    """

    alpha: float
    alphas: np.ndarray
    bic: np.ndarray
    n_edges: np.ndarray
    consistent: np.ndarray


def stability_selection(X, estimator=None, *, n_draws=100, fraction=0.5, permute=True, top=None, random_state=None):
    """Learn the graph on many subsamples and count how often each edge, or each large effect, comes back.

    Parameters
    ----------
    X : array-like of shape (n, p)
    estimator : PC, optional
        An estimator with ``graph_``; ``PC()`` by default.
    n_draws : int, default=100
    fraction : float, default=0.5
        Share of the rows in a subsample, drawn without replacement.
    permute : bool, default=True
        Shuffle the columns in each run, so that an order-dependent estimator is averaged over orders.
    top : int, optional
        Count how often the effect of i on j is among the `top` largest lower bounds of IDA.
    random_state : None, int or numpy.random.Generator

    Returns
    -------
    Stability

    Notes
    -----
    Meinshausen and Buehlmann 2010; for ranks of effects Stekhoven et al. 2012. `n_draws` times the cost of the
    estimator.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a = rng.normal(size=200)
    >>> X = np.column_stack([a, a + rng.normal(size=200), rng.normal(size=200)])
    >>> stability_selection(X, n_draws=10, random_state=0).adjacent.tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    names = tuple(getattr(X, "columns", ()))
    X = check_finite_array(X, "X", ndim=2)
    names = names or tuple(range(X.shape[1]))
    estimator = PC() if estimator is None else estimator
    check_has(estimator, "estimator", "fit get_params", "an estimator such as PC()")
    n_draws = check_scalar(n_draws, "n_draws", low=1, high=10**6, integer=True)
    fraction = check_scalar(fraction, "fraction", low=0, high=1, closed="right")
    n, p = X.shape
    top = None if top is None else check_scalar(top, "top", low=1, high=max(p * (p - 1), 1), integer=True)
    size = int(fraction * n)
    if size < 4:
        raise ValueError(f"fraction must leave at least 4 rows for a test, got {fraction:g} of {n}")
    rng = check_rng(random_state)
    adjacent, directed, ranked = np.zeros((p, p)), np.zeros((p, p)), np.zeros((p, p))
    for _ in range(n_draws):
        rows = rng.choice(n, size, replace=False)
        columns = rng.permutation(p) if permute else np.arange(p)
        sample = X[np.ix_(rows, columns)]
        graph = clone(estimator).fit(sample).graph_
        at = np.ix_(columns, columns)
        adjacent[at] += graph.adjacency
        directed[at] += (graph.marks == ARROW) & (graph.marks.T == TAIL)
        if top is not None:
            ranked[at] += _largest(ida_lower_bounds(graph, np.cov(sample, rowvar=False)), top)
    ranked = None if top is None else ranked / n_draws
    return Stability(adjacent / n_draws, directed / n_draws, ranked, names, n_draws)


def choose_alpha_bic(X, alphas, estimator=None, *, parameters="edges"):
    """Choose alpha by the Bayesian information criterion of a DAG in the learned class.

    Parameters
    ----------
    X : array-like of shape (n, p)
    alphas : array-like of shape (m,)
        Levels to try.
    estimator : PC, optional
        ``PC()`` by default; its ``alpha`` is replaced.
    parameters : {"edges", "covariance"}, default="edges"
        See :func:`gaussian_bic`.

    Returns
    -------
    AlphaChoice

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a = rng.normal(size=100)
    >>> X = np.column_stack([a, 0.3 * a + rng.normal(size=100)])
    >>> choose_alpha_bic(X, [1e-6, 0.05]).alpha
    0.05
    """
    X = check_finite_array(X, "X", ndim=2)
    alphas = check_finite_array(alphas, "alphas", ndim=1)
    if len(alphas) == 0:
        raise ValueError("alphas must have at least one level")
    check_choice(parameters, "parameters", ("edges", "covariance"))
    estimator = PC() if estimator is None else estimator
    check_has(estimator, "estimator", "fit get_params set_params", "an estimator such as PC()")
    graphs = [clone(estimator).set_params(alpha=float(alpha)).fit(X).graph_ for alpha in alphas]
    dags = [_some_dag(graph) for graph in graphs]
    bic = np.array([gaussian_bic(X, dag, parameters=parameters) for dag, _ in dags])
    n_edges = np.array([len(dag.edges) for dag, _ in dags])
    consistent = np.array([whole for _, whole in dags])
    return AlphaChoice(float(alphas[bic.argmin()]), alphas, bic, n_edges, consistent)


def gaussian_bic(X, dag, *, parameters="edges"):
    """-2 log-likelihood of a Gaussian DAG at its maximum + log(n) times the number of parameters. O(n p d^2).

    Parameters
    ----------
    X : array-like of shape (n, p)
    dag : DAG
        No node with n - 1 or more parents.
    parameters : {"edges", "covariance"}, default="edges"
        "edges" counts |E| coefficients, p variances and p means. "covariance" counts the entries i <= j of the fitted
        covariance that are not zero, and p means, as Colombo and Maathuis 2014 print it: nearly p^2/2 for a connected
        graph, however sparse.

    Examples
    --------
    >>> X = np.array([[-1.0, 1.0], [1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
    >>> expected = 8 * (1 + np.log(2 * np.pi)) + 4 * np.log(4)
    >>> abs(round(float(gaussian_bic(X, DAG([[0, 0], [0, 0]])) - expected), 9))
    0.0
    """
    X = check_finite_array(X, "X", ndim=2)
    check_has(dag, "dag", "adjacency parents n_nodes", "a DAG")
    n, p = X.shape
    if dag.n_nodes != p:
        raise ValueError(f"dag must have the {p} columns of X as nodes, got {dag.n_nodes}")
    check_choice(parameters, "parameters", ("edges", "covariance"))
    if dag.adjacency.sum(axis=0).max(initial=0) >= n - 1:
        raise ValueError(f"dag must have fewer than n - 1 = {n - 1} parents for each node")
    centred = X - X.mean(axis=0)
    variance = np.empty(p)
    for j in range(p):
        parents = centred[:, dag.parents(j)]
        rest = centred[:, j] - parents @ np.linalg.lstsq(parents, centred[:, j], rcond=None)[0]
        variance[j] = rest @ rest / n
    if (variance <= 0).any():
        raise ValueError(f"X must have no column that is constant given its parents, but {int(variance.argmin())} is")
    fit = n * float(np.log(variance).sum()) + n * p * (1 + np.log(2 * np.pi))
    if parameters == "edges":
        return float(fit + np.log(n) * (int(dag.adjacency.sum()) + 2 * p))
    reach = np.eye(p, dtype=np.float32)
    for i in dag.topological_order[::-1]:
        reach[i] = np.minimum(reach[i] + reach[list(dag.children(i))].sum(axis=0), 1)
    joined = reach.T @ reach > 0  # a common ancestor, the node itself included
    return float(fit + np.log(n) * (int(np.triu(joined).sum()) + p))


def _some_dag(graph):
    """A DAG of the class, and whether there is one; else contradictions are dropped, then all directions."""
    try:
        return pdag_to_dag(graph), True
    except ValueError:
        pass
    marks = np.array(graph.marks)
    both = (marks == ARROW) & (marks.T == ARROW)
    marks[both] = TAIL
    try:
        return pdag_to_dag(MixedGraph(marks)), False
    except ValueError:
        return DAG(np.triu(graph.adjacency)), False


def _largest(sizes, top):
    flat = sizes.ravel()
    mask = np.zeros(len(flat), dtype=bool)
    first = np.argsort(-flat, kind="stable")[:top]
    mask[first[flat[first] > 0]] = True
    return mask.reshape(sizes.shape)
