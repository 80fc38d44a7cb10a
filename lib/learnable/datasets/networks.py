"""Random graphs with a known correspondence, community or geometry.

Dense graphs come as 0/1 (or weighted) matrices, large sparse ones as CSR. Undirected, without loops.
"""

import numpy as np
from scipy import sparse, spatial, special
from sklearn.utils import Bunch

from learnable.datasets._simulate import check_size
from learnable.validation import check_finite_array, check_rng, check_scalar

__all__ = [
    "make_area_similarity",
    "make_block_model",
    "make_bounded_digraph",
    "make_connectomes",
    "make_correlated_graphs",
    "make_matched_regions",
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
    random_state : None, int or Generator

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
    n, rng = check_size(n, "n", low=2), check_rng(random_state)
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

    Parameters
    ----------
    sizes : tuple of int, default=(50, 50)
    probabilities : tuple of float, default=((0.3, 0.05), (0.05, 0.3))
    random_state : None, int or Generator

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
    rng, chance = check_rng(random_state), check_finite_array(probabilities, "probabilities", ndim=2)
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

    Parameters
    ----------
    n : int, default=100
    m : int, default=2
    random_state : None, int or Generator

    Examples
    --------
    >>> int(make_preferential_attachment(20, 2, random_state=0).sum() // 2)
    36
    """
    m, rng = check_size(m, "m"), check_rng(random_state)
    n = check_scalar(n, "n", low=m + 1, high=50_000, integer=True)  # the adjacency matrix is dense
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

    Parameters
    ----------
    n : int, default=3600
    k : int, default=8
    p : float, default=0.01
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``adjacency`` (CSR), ``rewired`` (pairs of the new edges).

    Examples
    --------
    >>> int(make_small_world(20, 4, 0.0, random_state=0).adjacency.sum() // 2)
    40
    """
    k, rng = check_size(k, "k", low=2), check_rng(random_state)
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

    Parameters
    ----------
    n : int, default=10000
    random_state : None, int or Generator

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
    n, rng = check_size(n, "n", low=4), check_rng(random_state)
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

    Parameters
    ----------
    n_subjects : tuple of int, default=(4, 4)
    n_pairs : int, default=35
    alpha : float, default=5.0
    site : float, default=0.35
    subject : float, default=0.1
    crossing : float, default=0.15
    random_state : None, int or Generator

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
    half, rng = check_size(n_pairs, "n_pairs"), check_rng(random_state)
    site, subject = check_scalar(site, "site", low=0), check_scalar(subject, "subject", low=0)
    points = np.tile(rng.random((half, 3)), (2, 1))
    hemisphere = np.repeat([0, 1], half)
    rate = np.exp(check_scalar(alpha, "alpha", high=100) - 4 * spatial.distance.cdist(points, points))
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
    n_periods : int, default=41
    n_members : int, default=100
    n_votes : int, default=200
    separation : (float, float), default=(0.2, 1.2)
        delta in the first and last period, linear in between.
    persist : float, default=0.8
    dip : bool, default=True
        Halve delta in the middle third.
    random_state : None, int or Generator

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
    persist, rng = check_scalar(persist, "persist", low=0, high=1), check_rng(random_state)
    separation = check_finite_array(separation, "separation", ndim=1)
    if separation.shape != (2,):
        raise ValueError(f"separation must be two numbers, its first and its last value, got shape {separation.shape}")
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


def make_area_similarity(n=512, *, bad_links=0.0, bad_points=0.0, random_state=None):
    """Similarities of points in four areas of two fields, with points near the boundary (Balcan, Liang and Gupta 2014).

    An area has n/4 points, n/32 of them at the boundary. K is 0.99 inside an area; between the two areas of a field
    0.75 for inner points and 0.4 if either is at the boundary; across fields 0.5 if either is at the boundary, else 0;
    then every pair of an inner and a boundary point of different fields is set to 1 with probability 2/n. The article
    shows this set in a figure only; these numbers were chosen so that its stated properties hold.

    Parameters
    ----------
    n : int, default=512
        A multiple of 32.
    bad_links : float, default=0
        For each point, this share of n random similarities across fields is set to 1.
    bad_points : float, default=0
        For this share of the points, K(x, .) is replaced by 1 - K(x, .).
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``similarity`` (n, n), ``target`` (field), ``area``, ``boundary`` (bool).

    Examples
    --------
    >>> made = make_area_similarity(64, random_state=0)
    >>> made.similarity.shape, int(made.boundary.sum())
    ((64, 64), 8)
    """
    n, rng = check_size(n, "n", low=32), check_rng(random_state)
    if n % 32:
        raise ValueError(f"n must be a multiple of 32, got {n}")
    links = round(check_scalar(bad_links, "bad_links", low=0, high=0.5) * n)
    points = round(check_scalar(bad_points, "bad_points", low=0, high=1) * n)
    area = np.repeat(np.arange(4), n // 4)
    field, boundary = area // 2, np.tile(np.arange(n // 4) < n // 32, 4)
    near = boundary[:, None] | boundary
    K = np.where(field[:, None] == field, np.where(near, 0.4, 0.75), np.where(near, 0.5, 0.0))
    K[area[:, None] == area] = 0.99
    mixed = (field[:, None] != field) & (boundary[:, None] != boundary)
    ones = np.triu(mixed & (rng.random((n, n)) < 2 / n), 1)
    K[ones | ones.T] = 1.0
    for x in range(n if links else 0):
        others = rng.permutation(np.flatnonzero(field != field[x]))[:links]
        K[x, others] = K[others, x] = 1.0
    for x in rng.permutation(n)[:points]:
        K[x] = K[:, x] = 1 - K[x]
    np.fill_diagonal(K, 1.0)
    return Bunch(similarity=K, target=field, area=area, boundary=boundary)


def make_matched_regions(n_per_region=10, *, random_state=None):
    """Eight regions in a hierarchy, and a perfect match for each point in the wrong half (Balcan et al. 2014, Fig. 2).

    Similarity 0.999 in a region, 3/4 to its sibling, 1/2 inside a super-topic of four regions, 0 else; but every point
    of region g < 4 has similarity 1 to one point of region g + 4. Linkage by single best links fails here.

    Parameters
    ----------
    n_per_region : int, default=10
    random_state : None, int or Generator

    Examples
    --------
    >>> made = make_matched_regions(2, random_state=0)
    >>> made.similarity.shape, made.target.tolist()[::4]
    ((16, 16), [0, 0, 1, 1])
    """
    m, rng = check_size(n_per_region, "n_per_region"), check_rng(random_state)
    region = np.repeat(np.arange(8), m)
    levels = [(0.5, region // 4), (0.75, region // 2), (0.999, region)]
    K = np.zeros((8 * m, 8 * m))
    for value, group in levels:
        K[group[:, None] == group] = value
    for g in range(4):
        partner = rng.permutation(np.flatnonzero(region == g + 4))
        first = np.flatnonzero(region == g)
        K[first, partner] = K[partner, first] = 1.0
    np.fill_diagonal(K, 1.0)
    return Bunch(similarity=K, target=region // 4, region=region)


def make_bounded_digraph(n=6, *, n_chords=None, random_state=None):
    """A strongly connected digraph with in- and out-degree at least one and total degree at most three.

    A random directed cycle through all vertices, and arrows between the pairs of a random matching.

    Parameters
    ----------
    n : int, default=6
    n_chords : int, optional
        Number of extra arrows, at most n // 2 (the default); a chord that repeats a cycle arrow is left out.
    random_state : None, int or Generator

    Returns
    -------
    ndarray of bool of shape (n, n)

    Examples
    --------
    >>> graph = make_bounded_digraph(8, random_state=0)
    >>> bool((graph.sum(axis=0) + graph.sum(axis=1) <= 3).all())
    True
    """
    n, rng = check_size(n, "n", low=2), check_rng(random_state)
    chords = n // 2 if n_chords is None else check_scalar(n_chords, "n_chords", low=0, high=n // 2, integer=True)
    order = rng.permutation(n)
    graph = np.zeros((n, n), dtype=bool)
    graph[order, np.roll(order, -1)] = True
    ends = rng.permutation(n)[: 2 * chords].reshape(-1, 2)
    graph[ends[:, 0], ends[:, 1]] = True
    return graph
