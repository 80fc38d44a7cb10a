"""Random graphs with a known correspondence, community or geometry.

Dense graphs come as 0/1 (or weighted) matrices, large sparse ones as CSR. Undirected, without loops.
"""

import numpy as np
from scipy import sparse, spatial, special
from sklearn.utils import Bunch

from learnable.datasets._simulate import check_size, generator
from learnable.validation import check_finite_array, check_scalar

__all__ = [
    "make_block_model",
    "make_connectomes",
    "make_correlated_graphs",
    "make_mesh",
    "make_preferential_attachment",
    "make_roll_calls",
    "make_small_world",
]


def make_correlated_graphs(n=100, p=0.5, rho=0.7, *, shuffle=True, random_state=None):
    """Two graphs on the same vertices with edgewise correlation rho (Lyzinski, Fishkind and Priebe 2014).

    A has independent edges with probability p; given A, B has an edge with probability p + rho (1 - p) where A has
    one and p (1 - rho) elsewhere, so that B has probability p as well. The vertices of B are then relabelled.

    Parameters
    ----------
    n : int
    p : float or ndarray of shape (n, n), default=0.5
        Edge probability; a symmetric matrix gives a heterogeneous pair (a block model for instance).
    rho : float in [0, 1], default=0.7
    shuffle : bool, default=True

    Returns
    -------
    Bunch
        ``first``, ``second`` (uint8 matrices), ``permutation``: vertex i of `first` is ``permutation[i]`` of `second`.

    Examples
    --------
    >>> made = make_correlated_graphs(6, rho=1.0, random_state=0)
    >>> q = made.permutation
    >>> bool((made.second[np.ix_(q, q)] == made.first).all())
    True
    """
    n, rng = check_size(n, "n", low=2), generator(random_state)
    rho = check_scalar(rho, "rho", low=0, high=1)
    chance = np.broadcast_to(check_finite_array(p, "p"), (n, n))
    if (chance < 0).any() or (chance > 1).any() or not np.array_equal(chance, chance.T):
        raise ValueError("p must be a probability or a symmetric matrix of probabilities")
    rows, columns = np.triu_indices(n, 1)
    each = chance[rows, columns]
    has = rng.random(len(rows)) < each
    also = rng.random(len(rows)) < np.where(has, each + rho * (1 - each), each * (1 - rho))
    graphs = []
    for edges in (has, also):
        graph = np.zeros((n, n), dtype=np.uint8)
        graph[rows, columns] = edges
        graphs.append(graph | graph.T)
    permutation = rng.permutation(n) if shuffle else np.arange(n)
    second = np.empty_like(graphs[1])
    second[np.ix_(permutation, permutation)] = graphs[1]
    return Bunch(first=graphs[0], second=second, permutation=permutation)


def make_block_model(sizes=(50, 50), probabilities=((0.3, 0.05), (0.05, 0.3)), *, random_state=None):
    """Stochastic block model.

    Returns
    -------
    Bunch
        ``adjacency``, ``target`` (blocks), ``expectation`` (edge probabilities, zero on the diagonal).

    Examples
    --------
    >>> make_block_model((3, 4), random_state=0).target.tolist()
    [0, 0, 0, 1, 1, 1, 1]
    """
    sizes = [check_size(s, "sizes") for s in sizes]
    rng, chance = generator(random_state), check_finite_array(probabilities, "probabilities", ndim=2)
    bad = chance.shape != (len(sizes),) * 2 or not np.array_equal(chance, chance.T) or chance.min() < 0
    if bad or chance.max() > 1:
        raise ValueError(f"probabilities must be a symmetric {len(sizes)} x {len(sizes)} matrix with entries in [0, 1]")
    y = np.repeat(np.arange(len(sizes)), sizes)
    expectation = chance[np.ix_(y, y)]
    upper = np.triu(rng.random(expectation.shape) < expectation, 1)
    np.fill_diagonal(expectation, 0.0)
    return Bunch(adjacency=(upper | upper.T).astype(np.uint8), target=y, expectation=expectation)


def make_preferential_attachment(n=100, m=2, *, random_state=None):
    """Barabasi and Albert's growing graph: every new vertex joins m old ones, chosen in proportion to their degree.

    Starts from a star on m + 1 vertices. O(n m).

    Examples
    --------
    >>> int(make_preferential_attachment(20, 2, random_state=0).sum() // 2)
    36
    """
    m, rng = check_size(m, "m"), generator(random_state)
    n = check_scalar(n, "n", low=m + 1, integer=True)
    ends = [v for leaf in range(1, m + 1) for v in (0, leaf)]
    edges = [(0, leaf) for leaf in range(1, m + 1)]
    for vertex in range(m + 1, n):
        chosen = set()
        while len(chosen) < m:
            chosen.add(ends[rng.integers(len(ends))])
        for other in sorted(chosen):
            edges.append((other, vertex))
            ends += [other, vertex]
    adjacency = np.zeros((n, n), dtype=np.uint8)
    rows, columns = np.array(edges).T
    adjacency[rows, columns] = adjacency[columns, rows] = 1
    return adjacency


def make_small_world(n=3600, k=8, p=0.01, *, random_state=None):
    """Watts and Strogatz: a ring in which each vertex joins its k nearest, every edge rewired with probability p.

    Returns
    -------
    Bunch
        ``adjacency`` (CSR), ``rewired`` (pairs of the new edges).

    Examples
    --------
    >>> int(make_small_world(20, 4, 0.0, random_state=0).adjacency.sum() // 2)
    40
    """
    k, rng = check_size(k, "k", low=2), generator(random_state)
    n = check_scalar(n, "n", low=k + 1, integer=True)
    p = check_scalar(p, "p", low=0, high=1)
    if k % 2:
        raise ValueError(f"k must be even, got {k}")
    edges, rewired = {}, []
    for step in range(1, k // 2 + 1):
        for v in range(n):
            w = (v + step) % n
            edges[min(v, w), max(v, w)] = True
    for v, w in list(edges):
        if rng.random() < p:
            new = int(rng.integers(n))
            pair = min(v, new), max(v, new)
            if new != v and pair not in edges:
                del edges[v, w]
                edges[pair] = True
                rewired.append(pair)
    rows, columns = np.array(list(edges)).T
    half = sparse.coo_matrix((np.ones(len(rows)), (rows, columns)), shape=(n, n))
    return Bunch(adjacency=(half + half.T).tocsr(), rewired=np.array(rewired, dtype=int).reshape(-1, 2))


def make_mesh(n=10_000, *, random_state=None):
    """Planar triangulation of uniform points, a large graph without shortcuts.

    Returns
    -------
    Bunch
        ``adjacency`` (CSR), ``points`` (n, 2).

    Examples
    --------
    >>> mesh = make_mesh(50, random_state=0)
    >>> bool((mesh.adjacency != mesh.adjacency.T).nnz == 0)
    True
    """
    n, rng = check_size(n, "n", low=4), generator(random_state)
    points = rng.random((n, 2))
    triangles = spatial.Delaunay(points).simplices
    pairs = np.sort(np.vstack([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [0, 2]]]), axis=1)
    rows, columns = np.unique(pairs, axis=0).T
    half = sparse.coo_matrix((np.ones(len(rows)), (rows, columns)), shape=(n, n))
    return Bunch(adjacency=(half + half.T).tocsr(), points=points)


def make_connectomes(
    n_subjects=(4, 4), *, n_pairs=35, alpha=5.0, site=0.35, subject=0.1, crossing=0.15, random_state=None
):
    """Brain-like weighted graphs of subjects scanned at several sites (Lyzinski et al. 2014, stand-in).

    35 points in the unit cube, and their mirror images in the other hemisphere with the same coordinates; the rate of
    i and j is exp(alpha - 4 d_ij), times `crossing` between hemispheres, times exp(site g) with one symmetric normal
    g for a site, times exp(subject g) with one for a subject; weights are Poisson. Vertices keep their order: the
    truth is the identity, and mirror images are the natural confusion.

    Returns
    -------
    Bunch
        ``graphs`` (list over sites of arrays (subjects, 70, 70)), ``points``, ``hemisphere``.

    Examples
    --------
    >>> made = make_connectomes((2, 1), n_pairs=5, random_state=0)
    >>> [g.shape for g in made.graphs]
    [(2, 10, 10), (1, 10, 10)]
    """
    sizes = [check_size(s, "n_subjects") for s in np.atleast_1d(n_subjects).tolist()]
    half, rng = check_size(n_pairs, "n_pairs"), generator(random_state)
    site, subject = check_scalar(site, "site", low=0), check_scalar(subject, "subject", low=0)
    points = np.tile(rng.random((half, 3)), (2, 1))
    hemisphere = np.repeat([0, 1], half)
    rate = np.exp(alpha - 4 * spatial.distance.cdist(points, points))
    rate = np.where(hemisphere[:, None] == hemisphere, rate, check_scalar(crossing, "crossing", low=0) * rate)

    def bump(scale):
        upper = np.triu(rng.standard_normal(rate.shape), 1)
        return np.exp(scale * (upper + upper.T))

    graphs = []
    for size in sizes:
        here = rate * bump(site)
        drawn = np.triu(rng.poisson([here * bump(subject) for _ in range(size)]), 1)
        graphs.append(drawn + drawn.transpose(0, 2, 1))
    return Bunch(graphs=graphs, points=points, hemisphere=hemisphere)


def make_roll_calls(
    n_periods=41, *, n_members=100, n_votes=200, separation=(0.2, 1.2), persist=0.8, dip=True, random_state=None
):
    """A chamber voting over many periods, as one graph over time (Hansen and Mahoney 2014, stand-in for the Senate).

    In each period member i has party +-1 and ideal point N(party * delta, 0.3^2); on roll call r the chance of yea is
    1 / (1 + exp(-4 (a_r theta - b_r))), a_r = +-1, b_r ~ N(0, 0.5^2). Inside a period A_ij is the share of equal
    votes. A member stays on with probability `persist` and is then tied to itself in the next period with weight 1.

    Parameters
    ----------
    separation : (float, float), default=(0.2, 1.2)
        delta in the first and last period, linear in between.
    dip : bool, default=True
        Halve delta in the middle third.

    Returns
    -------
    Bunch
        ``adjacency`` (CSR), ``period``, ``party``, ``member`` (identity over time), ``ideal``, ``delta``.

    Examples
    --------
    >>> made = make_roll_calls(3, n_members=6, n_votes=10, random_state=0)
    >>> made.adjacency.shape, np.bincount(made.period).tolist()
    ((18, 18), [6, 6, 6])
    """
    t, m, v = check_size(n_periods, "n_periods"), check_size(n_members, "n_members"), check_size(n_votes, "n_votes")
    persist, rng = check_scalar(persist, "persist", low=0, high=1), generator(random_state)
    delta = np.linspace(*separation, t)
    if dip:
        delta[t // 3 : 2 * t // 3] /= 2
    party, member = np.where(rng.permutation(m) % 2, 1, -1), np.arange(m)
    blocks, rows, parties, members, ideals = [], [], [], [], []
    for period in range(t):
        if period:
            leaves = rng.random(m) >= persist
            party = np.where(leaves, rng.choice([-1, 1], size=m), party)
            member = np.where(leaves, member.max() + 1 + np.arange(m), member)
            rows.append(np.flatnonzero(~leaves) + period * m)
        theta = party * delta[period] + 0.3 * rng.standard_normal(m)
        slope, cut = rng.choice([-1, 1], size=v), 0.5 * rng.standard_normal(v)
        yea = rng.random((m, v)) < special.expit(4 * (slope * theta[:, None] - cut))
        agree = (yea[:, None] == yea).mean(axis=-1)
        np.fill_diagonal(agree, 0.0)
        blocks.append(agree)
        parties.append(party)
        members.append(member)
        ideals.append(theta)
    adjacency = sparse.block_diag(blocks, format="csr")
    if rows:
        later = np.concatenate(rows)
        link = sparse.coo_matrix((np.ones(len(later)), (later - m, later)), shape=adjacency.shape)
        adjacency = (adjacency + link + link.T).tocsr()
    period = np.repeat(np.arange(t), m)
    truth = {"party": np.concatenate(parties), "member": np.concatenate(members), "ideal": np.concatenate(ideals)}
    return Bunch(adjacency=adjacency, period=period, delta=delta, **truth)
