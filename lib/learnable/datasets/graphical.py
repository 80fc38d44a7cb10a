"""Data from graphical models with a known graph: Gaussian, Ising, linear structural equations, Bayesian networks.

In a directed graph ``adjacency[j, k]`` means j -> k, and a weight ``coef[j, k]`` is the direct effect of j on k.
"""

import numpy as np
from scipy import linalg, special
from sklearn.utils import Bunch

from learnable.datasets._simulate import check_size
from learnable.validation import check_choice, check_finite_array, check_has, check_rng, check_scalar, check_symmetric

__all__ = [
    "hub_adjacency",
    "make_bayesnet",
    "make_binary_tree_field",
    "make_gaussian_graph",
    "make_ising",
    "make_linear_sem",
    "precision_from_adjacency",
    "precision_matrix",
    "random_dag",
    "sample_bayesnet",
]


def precision_matrix(kind="chain", p=100, *, shift=1.0, copies=1, random_state=None):
    """Sparse precision matrices of the graphical-lasso literature (Hsieh et al. 2014, Section 5).

    Parameters
    ----------
    kind : {"chain", "random"}, default="chain"
        Chain: 1.25 on the diagonal, -0.5 beside it. Random: U'U + shift I with U sparse, entries +-1, three or four
        in a row with equal chances, which gives about 10 p nonzeros.
    p : int
        Size of one block.
    shift : float, default=1
    copies : int, default=1
        Number of identical diagonal blocks.
    random_state : None, int or Generator

    Examples
    --------
    >>> precision_matrix("chain", 3).tolist()
    [[1.25, -0.5, 0.0], [-0.5, 1.25, -0.5], [0.0, -0.5, 1.25]]
    """
    check_choice(kind, "kind", ("chain", "random"))
    p, copies, rng = check_size(p, "p"), check_size(copies, "copies"), check_rng(random_state)
    shift = check_scalar(shift, "shift", low=0, closed="neither")
    if kind == "chain":
        theta = 1.25 * np.eye(p) - 0.5 * (np.eye(p, k=1) + np.eye(p, k=-1))
    else:
        width = min(4, p)
        columns = np.argpartition(rng.random((p, p)), width - 1, axis=1)[:, :width]
        values = rng.choice([-1.0, 1.0], size=(p, width))
        values[rng.random(p) < 0.5, -1] = 0.0
        u = np.zeros((p, p))
        np.put_along_axis(u, columns, values, axis=1)
        theta = u.T @ u + shift * np.eye(p)
    return linalg.block_diag(*[theta] * copies)


def hub_adjacency(p=100, n_hubs=4, *, p_edge=0.02, p_hub=0.7, components=1, random_state=None):
    """Random graph with hubs (Tan et al. 2014, Section 6): edges with `p_edge`, those at a hub with `p_hub`.

    Parameters
    ----------
    p : int, default=100
    n_hubs : int, default=4
    p_edge : float, default=0.02
    p_hub : float, default=0.7
    components : {1, 2}, default=1
        Two gives their set-up II: no edges between the halves, half of the hubs in each.
    random_state : None, int or Generator

    Returns
    -------
    (ndarray of bool of shape (p, p), ndarray of hub indices)

    Examples
    --------
    >>> adjacency, hubs = hub_adjacency(50, 2, random_state=0)
    >>> bool(adjacency.sum(axis=0)[hubs].min() > 20)
    True
    """
    p, rng = check_size(p, "p"), check_rng(random_state)
    n_hubs = check_scalar(n_hubs, "n_hubs", low=0, high=p, integer=True)
    p_edge, p_hub = (check_scalar(v, k, low=0, high=1) for v, k in ((p_edge, "p_edge"), (p_hub, "p_hub")))
    check_choice(components, "components", (1, 2))
    part = np.arange(p) * components // p
    hubs = np.sort(
        np.concatenate([rng.permutation(np.flatnonzero(part == c))[: n_hubs // components] for c in range(components)])
    )
    chance = np.full((p, p), p_edge)
    chance[hubs] = chance[:, hubs] = p_hub
    upper = np.triu(rng.random((p, p)) < chance, 1) & (part[:, None] == part)
    return upper | upper.T, hubs


def precision_from_adjacency(adjacency, *, margin=0.1, random_state=None):
    """A positive definite matrix with a given graph (Tan et al. 2014): entries U(+-[0.25, 0.75]), symmetrised.

    E is drawn with E_ij ~ U([-0.75, -0.25] or [0.25, 0.75]) on edges, then Theta = E' + (margin - lambda_min(E')) I
    with E' = (E + E^T) / 2.

    Parameters
    ----------
    adjacency : array-like of shape (p, p)
        Symmetric; non-zero entries are edges.
    margin : float, default=0.1
    random_state : None, int or Generator

    Examples
    --------
    >>> theta = precision_from_adjacency(np.eye(3, k=1) + np.eye(3, k=-1), random_state=0)
    >>> round(float(np.linalg.eigvalsh(theta)[0]), 6)
    0.1
    """
    adjacency = np.asarray(adjacency, dtype=bool)
    if adjacency.ndim != 2 or not np.array_equal(adjacency, adjacency.T):
        raise ValueError("adjacency must be a symmetric matrix")
    rng, margin = check_rng(random_state), check_scalar(margin, "margin", low=0, closed="neither")
    values = rng.uniform(0.25, 0.75, adjacency.shape) * rng.choice([-1.0, 1.0], size=adjacency.shape)
    entries = np.where(adjacency & ~np.eye(len(adjacency), dtype=bool), values, 0.0)
    symmetric = (entries + entries.T) / 2
    return symmetric + (margin - np.linalg.eigvalsh(symmetric)[0]) * np.eye(len(symmetric))


def make_gaussian_graph(kind="chain", n_samples=50, *, p=100, n_hubs=4, copies=1, exponent=2.5, random_state=None):
    """Gaussian samples whose precision matrix has a known sparse graph.

    Parameters
    ----------
    kind : {"chain", "random", "hubs", "two-hubs", "scale-free", "covariance-hubs"} or ndarray
        See :func:`precision_matrix` and :func:`hub_adjacency`. Scale-free: degrees drawn from a power law with
        `exponent`, wired by the configuration model. "covariance-hubs": the hub graph is that of the covariance. A
        matrix is taken as the precision itself.
    n_samples : int, default=50
        Number of rows.
    p, n_hubs, copies, exponent
        As far as `kind` uses them.
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``data``, ``precision``, ``cov``, ``adjacency`` (of the precision, or of the covariance for
        "covariance-hubs"), ``hubs``.

    Examples
    --------
    >>> made = make_gaussian_graph("hubs", 20, p=30, n_hubs=2, random_state=0)
    >>> made.data.shape, made.hubs.shape
    ((20, 30), (2,))
    """
    n, rng, hubs = check_size(n_samples), check_rng(random_state), np.array([], dtype=int)
    if isinstance(kind, str):
        check_choice(kind, "kind", ("chain", "random", "hubs", "two-hubs", "scale-free", "covariance-hubs"))
        if kind in ("chain", "random"):
            theta = precision_matrix(kind, p, copies=copies, random_state=rng)
        else:
            if kind == "scale-free":
                graph = _power_law_graph(check_size(p, "p", low=3), exponent, rng)
                hubs = np.flatnonzero(graph.sum(axis=0) > 0.05 * p)
            else:
                graph, hubs = hub_adjacency(p, n_hubs, components=1 + (kind == "two-hubs"), random_state=rng)
            theta = precision_from_adjacency(graph, random_state=rng)
    else:
        theta = check_finite_array(kind, "kind", ndim=2)
    try:
        factor = np.linalg.cholesky(theta)
    except np.linalg.LinAlgError:
        raise ValueError("the precision matrix must be positive definite") from None
    noise = rng.standard_normal((n, len(theta)))
    adjacency = (theta != 0) & ~np.eye(len(theta), dtype=bool)
    inverse = linalg.cho_solve((factor, True), np.eye(len(theta)))
    if isinstance(kind, str) and kind == "covariance-hubs":
        return Bunch(data=noise @ factor.T, precision=inverse, cov=theta, adjacency=adjacency, hubs=hubs)
    data = linalg.solve_triangular(factor, noise.T, lower=True, trans="T").T
    return Bunch(data=data, precision=theta, cov=inverse, adjacency=adjacency, hubs=hubs)


def _power_law_graph(p, exponent, rng):
    """Configuration model on degrees with P(d) proportional to d^-exponent, without loops and multiple edges."""
    exponent = check_scalar(exponent, "exponent", low=1, closed="neither")
    degrees = np.arange(1, p)
    mass = degrees**-exponent
    drawn = rng.choice(degrees, size=p, p=mass / mass.sum())
    drawn[0] += drawn.sum() % 2
    stubs = rng.permutation(np.repeat(np.arange(p), drawn)).reshape(-1, 2)
    graph = np.zeros((p, p), dtype=bool)
    graph[stubs[:, 0], stubs[:, 1]] = True
    graph |= graph.T
    np.fill_diagonal(graph, False)
    return graph


def make_ising(n_samples=200, theta=None, *, p=20, n_hubs=2, n_sweeps=200, random_state=None):
    """0/1 samples of p(x) proportional to exp(sum theta_jj x_j + sum_{j<k} theta_jk x_j x_k), by Gibbs sampling.

    Each sample is the end of its own chain of `n_sweeps` sweeps from fair bits; all chains move together.

    Parameters
    ----------
    n_samples : int, default=200
        Number of rows.
    theta : ndarray of shape (p, p), optional
        Symmetric. By default a hub graph (`p`, `n_hubs`) with couplings U(+-[0.25, 0.75]) and zero diagonal.
    p : int, default=20
    n_hubs : int, default=2
    n_sweeps : int, default=200
    random_state : None, int or Generator

    Examples
    --------
    >>> made = make_ising(10, np.diag([5.0, -5.0]), random_state=0)
    >>> made.data.mean(axis=0).tolist()
    [1.0, 0.0]
    """
    n, sweeps, rng = check_size(n_samples), check_size(n_sweeps, "n_sweeps"), check_rng(random_state)
    hubs = np.array([], dtype=int)
    if theta is None:
        graph, hubs = hub_adjacency(p, n_hubs, random_state=rng)
        theta = precision_from_adjacency(graph, random_state=rng)
        np.fill_diagonal(theta, 0.0)
    theta = check_symmetric(theta, "theta")
    couplings = theta - np.diag(np.diag(theta))
    X = rng.integers(2, size=(n, len(theta))).astype(np.float64)
    for _ in range(sweeps):
        uniforms = rng.random((len(theta), n))
        for j in range(len(theta)):
            X[:, j] = uniforms[j] < special.expit(theta[j, j] + X @ couplings[j])
    adjacency = couplings != 0
    return Bunch(data=X, theta=theta, adjacency=adjacency, hubs=hubs)


def random_dag(p, expected_degree=2.0, *, kind="random", shuffle=True, random_state=None):
    """Adjacency of a directed acyclic graph.

    Parameters
    ----------
    p : int
    expected_degree : float, default=2
        Expected number of neighbours E(N) of a vertex for "random": an arrow along the order with probability
        E(N) / (p - 1) (Kalisch and Buehlmann 2007).
    kind : {"random", "chain", "tree", "star", "collider"}, default="random"
        1 -> 2 -> ...; each vertex but the first has one earlier parent; the first points to all; all point to the
        last.
    shuffle : bool, default=True
        Relabel the vertices at random; otherwise arrows go from smaller to larger numbers.
    random_state : None, int or Generator

    Returns
    -------
    (ndarray of bool of shape (p, p), ndarray)
        The adjacency and a causal order of the vertices.

    Examples
    --------
    >>> adjacency, order = random_dag(4, kind="chain", shuffle=False)
    >>> np.argwhere(adjacency).tolist()
    [[0, 1], [1, 2], [2, 3]]
    """
    check_choice(kind, "kind", ("random", "chain", "tree", "star", "collider"))
    p, rng = check_size(p, "p"), check_rng(random_state)
    upper = np.zeros((p, p), dtype=bool)
    if kind == "random":
        chance = check_scalar(expected_degree, "expected_degree", low=0, high=p - 1) / max(p - 1, 1)
        upper = np.triu(rng.random((p, p)) < chance, 1)
    elif kind == "chain":
        upper[np.arange(p - 1), np.arange(1, p)] = True
    elif kind == "tree":
        upper[[int(rng.integers(k)) for k in range(1, p)], np.arange(1, p)] = True
    elif kind == "star":
        upper[0, 1:] = True
    else:
        upper[:-1, -1] = True
    order = rng.permutation(p) if shuffle else np.arange(p)
    adjacency = np.zeros_like(upper)
    adjacency[np.ix_(order, order)] = upper
    return adjacency, order


def make_linear_sem(
    n_samples=500,
    adjacency=None,
    *,
    p=20,
    expected_degree=2.0,
    weights=(0.1, 1.0),
    signed=False,
    noise="gaussian",
    variances=1.0,
    hide=False,
    random_state=None,
):
    """X_k = sum_j coef[j, k] X_j + e_k with independent errors, on a given or random acyclic graph.

    Parameters
    ----------
    n_samples : int, default=500
        Number of rows.
    adjacency : ndarray of shape (p, p), optional
        A :func:`random_dag` (`p`, `expected_degree`) by default.
    p : int, default=20
    expected_degree : float, default=2.0
    weights : (float, float), default=(0.1, 1)
        Ends of the uniform law of the coefficients (Colombo and Maathuis 2014).
    signed : bool, default=False
        Give coefficients a random sign (Loh and Buehlmann 2014 use +-U[0.5, 1]).
    noise : {"gaussian", "laplace", "uniform", "t", "mixed"}, default="gaussian"
        Law of the errors, scaled to `variances`; t has five degrees of freedom, mixed draws a law for each vertex.
    variances : float, (float, float) or array-like of shape (p,), default=1
        Error variances; a pair is the interval to draw them from.
    hide : bool, default=False
        Leave a random half of the parentless vertices with at least two children out of ``data``; ``observed``
        lists the rest.
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``data``, ``coef``, ``adjacency``, ``order``, ``variances``, ``cov``, ``precision``, ``total_effects`` (effect
        of do(X_j = x + 1) on k), ``observed``. The truth covers hidden vertices as well.

    Examples
    --------
    >>> made = make_linear_sem(10, p=5, random_state=0)
    >>> bool(np.allclose(made.precision @ made.cov, np.eye(5)))
    True
    """
    n, rng = check_size(n_samples), check_rng(random_state)
    laws = ("gaussian", "laplace", "uniform", "t")
    check_choice(noise, "noise", (*laws, "mixed"))
    if adjacency is None:
        adjacency, order = random_dag(p, expected_degree, random_state=rng)
    else:
        adjacency = np.asarray(adjacency, dtype=bool)
        order = _causal_order(adjacency)
    p = len(adjacency)
    low, high = (check_scalar(w, "weights", low=0) for w in weights)
    coef = np.where(adjacency, rng.uniform(low, high, (p, p)), 0.0)
    if signed:
        coef *= rng.choice([-1.0, 1.0], size=(p, p))
    if np.ndim(variances) == 1 and len(variances) == 2 and p != 2:
        omega = rng.uniform(*variances, size=p)
    else:
        omega = np.broadcast_to(check_finite_array(variances, "variances"), (p,)).copy()
    if (omega <= 0).any():
        raise ValueError("variances must be positive")
    names = rng.choice(laws, size=p) if noise == "mixed" else np.full(p, noise)
    errors = np.column_stack([_error(law, n, rng) for law in names]) * np.sqrt(omega)
    total = np.linalg.inv(np.eye(p) - coef)
    cov = total.T * omega @ total
    precision = (np.eye(p) - coef) / omega @ (np.eye(p) - coef).T
    observed = np.arange(p)
    if hide:
        sources = np.flatnonzero((adjacency.sum(axis=0) == 0) & (adjacency.sum(axis=1) >= 2))
        observed = np.setdiff1d(observed, rng.permutation(sources)[: len(sources) // 2])
    return Bunch(
        data=(errors @ total)[:, observed],
        coef=coef,
        adjacency=adjacency,
        order=order,
        variances=omega,
        cov=cov,
        precision=precision,
        total_effects=total,
        observed=observed,
        noise=names.tolist(),
    )


def _error(law, n, rng):
    """n errors with mean 0 and variance 1."""
    if law == "gaussian":
        return rng.standard_normal(n)
    if law == "laplace":
        return rng.laplace(scale=np.sqrt(0.5), size=n)
    if law == "uniform":
        return rng.uniform(-np.sqrt(3), np.sqrt(3), n)
    return rng.standard_t(5, n) * np.sqrt(3 / 5)


def _causal_order(adjacency):
    if adjacency.ndim != 2 or adjacency.shape[0] != adjacency.shape[1]:
        raise ValueError(f"adjacency must be a square matrix, got shape {adjacency.shape}")
    left, order = adjacency.copy(), []
    rest = list(range(len(adjacency)))
    while rest:
        free = [v for v in rest if not left[:, v].any()]
        if not free:
            raise ValueError("adjacency has a directed cycle")
        order += free
        left[free] = False
        rest = [v for v in rest if v not in free]
    return np.array(order)


def make_bayesnet(n_samples=200, *, p=20, max_parents=5, random_state=None):
    """Binary data from a random Bayesian network (Dash and Cooper 2004, Section 5).

    Random order; the number of parents is uniform on 1..max_parents, capped by the number of predecessors; parents
    uniform; P(1 | parents) uniform for each configuration. Tables with many parents are drawn only where a sample
    needs an entry, so draw training and test rows in one call.

    Parameters
    ----------
    n_samples : int, default=200
        Number of rows.
    p : int, default=20
    max_parents : int, default=5
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``data`` (0/1), ``parents`` (list of tuples), ``order``, ``adjacency``, ``probability`` (P(X_j = 1 | parents)
        for every row and vertex).

    Examples
    --------
    >>> made = make_bayesnet(50, p=6, max_parents=2, random_state=0)
    >>> made.data.shape, max(map(len, made.parents)) <= 2
    ((50, 6), True)
    """
    n, p, rng = check_size(n_samples), check_size(p, "p"), check_rng(random_state)
    k = check_size(max_parents, "max_parents")
    order = rng.permutation(p)
    X, probability = np.zeros((n, p), dtype=np.int64), np.empty((n, p))
    parents = [()] * p
    for rank, vertex in enumerate(order):
        size = min(int(rng.integers(1, k + 1)), rank)
        above = np.sort(rng.permutation(order[:rank])[:size])
        parents[vertex] = tuple(int(v) for v in above)
        if size:
            _, row = np.unique(X[:, above], axis=0, return_inverse=True)
            row = row.ravel()
        else:
            row = np.zeros(n, dtype=int)
        probability[:, vertex] = rng.random(row.max() + 1)[row]
        X[:, vertex] = rng.random(n) < probability[:, vertex]
    adjacency = np.zeros((p, p), dtype=bool)
    for vertex, above in enumerate(parents):
        adjacency[list(above), vertex] = True
    return Bunch(data=X, parents=parents, order=order, adjacency=adjacency, probability=probability)


def sample_bayesnet(net, n_samples=100, *, random_state=None):
    """Draw from a stored network, ``load("alarm")`` for instance.

    Parameters
    ----------
    net : Bunch
        With ``parents`` (tuples of vertex numbers) and ``tables`` (one axis a parent, the states last).
    n_samples : int, default=100
        Number of rows.
    random_state : None, int or Generator

    Returns
    -------
    ndarray of int of shape (n_samples, number of vertices)
        State numbers.

    Examples
    --------
    >>> from learnable.datasets import load
    >>> sample_bayesnet(load("asia"), 3, random_state=0).shape
    (3, 8)
    """
    n, rng = check_size(n_samples), check_rng(random_state)
    check_has(net, "net", "parents tables", "a stored network, such as load('asia')")
    adjacency = np.zeros((len(net.parents),) * 2, dtype=bool)
    for child, above in enumerate(net.parents):
        adjacency[list(above), child] = True
    X = np.empty((n, len(net.parents)), dtype=np.int64)
    for vertex in _causal_order(adjacency):
        table = net.tables[vertex]
        rows = table[tuple(X[:, q] for q in net.parents[vertex])] if net.parents[vertex] else table[None]
        below = rng.random((n, 1)) >= rows.cumsum(axis=-1)[:, :-1]
        X[:, vertex] = below.sum(axis=1)
    return X


def make_binary_tree_field(n_samples=100, *, p=12, flip=0.2, random_state=None):
    """Signs on a random tree: the root is fair, every child copies its parent and errs with probability `flip`.

    Parameters
    ----------
    n_samples : int, default=100
        Number of rows.
    p : int, default=12
    flip : float, default=0.2
    random_state : None, int or Generator

    Examples
    --------
    >>> made = make_binary_tree_field(5, p=4, random_state=0)
    >>> len(made.edges)
    3
    """
    n, p, rng = check_size(n_samples), check_size(p, "p", low=2), check_rng(random_state)
    flip = check_scalar(flip, "flip", low=0, high=1)
    adjacency, order = random_dag(p, kind="tree", random_state=rng)
    X = rng.choice([-1, 1], size=(n, p))
    for vertex in order[1:]:
        (parent,) = np.flatnonzero(adjacency[:, vertex])
        X[:, vertex] = X[:, parent] * np.where(rng.random(n) < flip, -1, 1)
    return Bunch(data=X, edges=np.argwhere(adjacency), flip=flip)
