r"""Linear structural equation models: every variable is a weighted sum of its parents and an error of its own.

With ``weights[j, k]`` on the edge j → k and independent errors of any law with mean 0 and variances Ω,
::

    X_k = Σ_j weights[j, k] X_j + ε_k,    that is    X = W'X + ε.

The column k of W holds the regression of the node k; many packages store the transpose. In a topological order I - W is
unit upper triangular, so that it has an inverse whatever the weights, and
::

    cov(X) = (I - W)⁻ᵀ Ω (I - W)⁻¹,    cov(X)⁻¹ = (I - W) Ω⁻¹ (I - W)ᵀ.

Source: Loh and Bühlmann 2014, Section 2.2, (3) and (4).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from numbers import Integral

import numpy as np
from scipy.linalg import solve_triangular

from learnable.graphs.dags import DAG, random_dag
from learnable.validation import Result, check_choice, check_finite_array, check_magnitude, check_rng, check_scalar

__all__ = ["ERROR_LAWS", "LinearSEM", "random_linear_sem"]

# Laws of the errors, each with mean 0 and variance 1; Student's t has 5 degrees of freedom and variance 5/3.
ERROR_LAWS = {
    "gaussian": lambda rng, n: rng.standard_normal(n),
    "laplace": lambda rng, n: rng.laplace(scale=np.sqrt(0.5), size=n),
    "uniform": lambda rng, n: rng.uniform(-np.sqrt(3.0), np.sqrt(3.0), size=n),
    "t": lambda rng, n: rng.standard_t(5, size=n) / np.sqrt(5 / 3),
    "exponential": lambda rng, n: rng.exponential(size=n) - 1.0,
}


@dataclass(frozen=True, eq=False)
class LinearSEM(Result):
    """A linear structural equation model X = W'X + ε with independent errors (Loh and Bühlmann 2014, (3)).

    Parameters
    ----------
    weights : array-like of shape (p, p)
        ``weights[j, k]`` belongs to the edge j -> k; the edges must not form a cycle.
    noise_variance : float or array-like of shape (p,), default=1.0
        Variances of the errors, positive; one number stands for equal variances.

    Attributes
    ----------
    weights : ndarray of shape (p, p)
        Read-only.
    noise_variance : ndarray of shape (p,)
        Read-only.

    Examples
    --------
    >>> model = LinearSEM([[0, -0.5], [0, 0]], [1, 0.25])
    >>> model.covariance.tolist()
    [[1.0, -0.5], [-0.5, 0.5]]
    >>> model.precision.tolist()
    [[2.0, 2.0], [2.0, 4.0]]
    """

    weights: np.ndarray
    noise_variance: np.ndarray = 1.0

    def __post_init__(self):
        weights = np.array(check_finite_array(self.weights, "weights", ndim=2), order="C")
        if weights.shape[0] != weights.shape[1] or weights.size == 0:
            raise ValueError(f"weights must be a square matrix with at least one row, got shape {weights.shape}")
        check_magnitude(weights, "weights", smallest=0.0)
        if np.diagonal(weights).any():
            raise ValueError("weights must have zeros on the diagonal: no variable is its own cause")
        variance = check_finite_array(self.noise_variance, "noise_variance")
        if variance.shape not in ((), (len(weights),)) or variance.min() <= 0:
            raise ValueError(f"noise_variance must be a positive number or {len(weights)} positive numbers")
        variance = np.array(np.broadcast_to(check_magnitude(variance, "noise_variance"), len(weights)))
        for name, array in (("weights", weights), ("noise_variance", variance)):
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        try:
            dag = DAG(weights != 0)
        except ValueError as error:
            raise ValueError(f"weights must belong to a graph without directed cycles: {error}") from None
        object.__setattr__(self, "_dag", dag)

    @property
    def n_nodes(self):
        """Number of variables."""
        return len(self.weights)

    @property
    def adjacency(self):
        """Edges as a bool matrix, ``adjacency[j, k]`` for j -> k."""
        return self._dag.adjacency

    @property
    def dag(self):
        """The graph of the edges with nonzero weight, a :class:`learnable.graphs.dags.DAG`."""
        return self._dag

    @cached_property
    def covariance(self):
        """cov(X) = (I - W)⁻ᵀ Ω (I - W)⁻¹, exactly symmetric. O(p³)."""
        inverse = self._unmix(np.diag(np.sqrt(self.noise_variance)))
        return inverse.T @ inverse

    @cached_property
    def precision(self):
        """cov(X)⁻¹ = (I - W) Ω⁻¹ (I - W)ᵀ, exactly symmetric and without an inversion. O(p³)."""
        scaled = (np.eye(self.n_nodes) - self.weights) / np.sqrt(self.noise_variance)
        return scaled @ scaled.T

    def sample(self, n_samples, error="gaussian", *, random_state=None):
        """Draw independent rows. O(n p²), in a topological order.

        Parameters
        ----------
        n_samples : int
        error : {"gaussian", "laplace", "uniform", "t", "exponential", "mixed"} or sequence of p of them, \
default="gaussian"
            Law of the errors, scaled to the variances of the model; "mixed" gives the nodes the first four in turn.
        random_state : None, int or numpy.random.Generator, default=None

        Returns
        -------
        ndarray of shape (n_samples, p)

        Examples
        --------
        >>> model = LinearSEM([[0, 2.0], [0, 0]], 1e-12)
        >>> x = model.sample(3, random_state=0)
        >>> bool(np.abs(x[:, 1] - 2 * x[:, 0]).max() < 1e-5)
        True
        """
        n_samples = check_scalar(n_samples, "n_samples", low=1, integer=True)
        names = _error_names(error, self.n_nodes)
        rng = check_rng(random_state)
        noise = np.empty((n_samples, self.n_nodes))
        for k, name in enumerate(names):
            noise[:, k] = ERROR_LAWS[name](rng, n_samples)
        noise *= np.sqrt(self.noise_variance)
        return self._unmix(noise)

    def standardized(self):
        """The same model in units in which every variable has variance 1: other weights, other error variances.

        Returns
        -------
        LinearSEM

        Examples
        --------
        >>> model = LinearSEM([[0, 1.0], [0, 0]]).standardized()
        >>> model.noise_variance.round(3).tolist(), float(model.weights[0, 1].round(3))
        ([1.0, 0.5], 0.707)
        """
        scale = np.sqrt(np.diagonal(self.covariance))
        return LinearSEM(self.weights * np.divide.outer(scale, scale), self.noise_variance / scale**2)

    def _unmix(self, noise):
        """Rows x with x'(I - W) = noise', by one triangular solve in a topological order."""
        order = self._dag.topological_order
        upper = (np.eye(self.n_nodes) - self.weights)[np.ix_(order, order)]
        out = np.empty_like(noise)
        out[:, order] = solve_triangular(upper, noise[:, order].T, trans="T", unit_diagonal=True).T
        return out


def random_linear_sem(dag, *, n_neighbors=2.0, weights=(0.1, 1.0), signed=False, noise_variance=1.0, random_state=None):
    """Draw the weights of a linear model, and its graph if only a number of nodes is given. O(p²).

    Parameters
    ----------
    dag : int, DAG or array-like of shape (p, p)
        A number of nodes, for :func:`~learnable.graphs.dags.random_dag`; or the graph itself, ``adjacency[j, k]`` for
        j -> k.
    n_neighbors : float, default=2.0
        Expected number of neighbours of a node in a random graph.
    weights : (float, float), default=(0.1, 1.0)
        Weights are uniform between these two numbers.
    signed : bool, default=False
        Give each weight a random sign.
    noise_variance : float or array-like of shape (p,), default=1.0
        Variances of the errors.
    random_state : None, int or numpy.random.Generator, default=None

    Returns
    -------
    LinearSEM

    Examples
    --------
    >>> model = random_linear_sem([[0, 1], [0, 0]], weights=(0.5, 1.0), random_state=0)
    >>> model.weights.round(2).tolist()
    [[0.0, 0.82], [0.0, 0.0]]
    """
    low, high = _interval(weights)
    if not isinstance(signed, bool | np.bool_):
        raise ValueError(f"signed must be True or False, got {signed!r}")
    rng = check_rng(random_state)
    if isinstance(dag, Integral) and not isinstance(dag, bool | np.bool_):
        n_nodes = check_scalar(dag, "dag", low=1, integer=True)
        adjacency = random_dag(n_nodes, n_neighbors, random_state=rng).adjacency
    else:
        adjacency = _adjacency(dag)
    values = np.zeros(adjacency.shape)
    count = int(adjacency.sum())
    drawn = rng.uniform(low, high, size=count)
    if signed:
        drawn *= rng.choice([-1.0, 1.0], size=count)
    values[adjacency] = drawn
    return LinearSEM(values, noise_variance)


def _adjacency(dag):
    array = check_finite_array(getattr(dag, "adjacency", dag), "dag", ndim=2)
    if array.shape[0] != array.shape[1] or array.size == 0 or not np.isin(array, (0, 1)).all():
        raise ValueError(f"dag must be a number of nodes, a DAG or a square matrix of 0 and 1, got {array.shape}")
    return array != 0


def _interval(weights):
    pair = check_finite_array(weights, "weights", ndim=1)
    if pair.shape != (2,) or pair[0] > pair[1] or (pair[0] <= 0 <= pair[1]):
        raise ValueError(f"weights must be two numbers low <= high with 0 outside of [low, high], got {weights!r}")
    return pair


def _error_names(error, n_nodes):
    if isinstance(error, str):
        check_choice(error, "error", (*ERROR_LAWS, "mixed"), also=f"a sequence of {n_nodes} laws")
        cycle = list(ERROR_LAWS)[:4] if error == "mixed" else [error]
        return [cycle[k % len(cycle)] for k in range(n_nodes)]
    try:
        names = list(error)
    except TypeError:
        names = []
    if len(names) != n_nodes:
        raise ValueError(f"error must be one of {sorted(ERROR_LAWS)}, 'mixed' or a sequence of {n_nodes} laws")
    return [check_choice(name, "error", ERROR_LAWS) for name in names]
