"""Rankings and comparisons from models with known centres, strengths and scores.

A ranking is an array of item numbers, best first. A comparison is a row (winner, loser).
"""

import numpy as np
from sklearn.utils import Bunch

from learnable.datasets._simulate import check_size
from learnable.validation import check_finite_array, check_probability_vector, check_rng, check_scalar

__all__ = [
    "make_bradley_terry",
    "make_mallows",
    "make_mallows_mixture",
    "make_movie_scores",
    "make_plackett_luce",
    "make_rank_ratings",
    "make_schedule",
    "make_sushi_twin",
    "reveal_pairs",
]


def make_mallows(n_samples=100, centre=10, dispersion=0.5, *, random_state=None):
    """P(r) proportional to dispersion^d(r, centre), d Kendall's distance, by repeated insertion (exact).

    Parameters
    ----------
    n_samples : int, default=100
        Number of rows.
    centre : int or array-like
        The central ranking; an int m stands for 0, 1, ..., m - 1.
    dispersion : float in [0, 1], default=0.5
        0 gives the centre only, 1 the uniform law.
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``data`` (n, m), ``centre``, ``dispersion``, ``expected_distance``.

    Examples
    --------
    >>> make_mallows(2, 4, 0.0, random_state=0).data.tolist()
    [[0, 1, 2, 3], [0, 1, 2, 3]]
    """
    n, rng = check_size(n_samples), check_rng(random_state)
    centre = _permutation(centre)
    phi = check_scalar(dispersion, "dispersion", low=0, high=1)
    m = len(centre)
    # Item i of the centre (i = 0, 1, ...) is inserted v places before the end of the list so far, P(v) ~ phi^v.
    rows = np.empty((n, 0), dtype=np.int64)
    expected = 0.0
    for i in range(m):
        mass = phi ** np.arange(i + 1.0)
        mass /= mass.sum()
        expected += mass @ np.arange(i + 1)
        back = np.searchsorted(np.cumsum(mass)[:-1], rng.random(n), side="right")
        rows = _insert(rows, i - back, centre[i])
    return Bunch(data=rows, centre=centre, dispersion=phi, expected_distance=float(expected))


def _insert(rows, place, item):
    """Insert `item` at `place` of each row."""
    n, width = rows.shape
    index = np.arange(width + 1)
    source = index - (index > place[:, None])
    padded = np.hstack([rows, np.full((n, 1), -1)])
    made = np.take_along_axis(padded, np.minimum(source, width), axis=1)
    made[np.arange(n), place] = item
    return made


def _permutation(centre):
    centre = np.arange(check_size(centre, "centre")) if np.ndim(centre) == 0 else np.asarray(centre)
    if not np.array_equal(np.sort(centre), np.arange(len(centre))):
        raise ValueError("centre must be a ranking of 0, 1, ..., m - 1")
    return centre


def make_mallows_mixture(n_samples=100, centres=None, dispersions=None, priors=None, *, random_state=None):
    """A mixture of Mallows models.

    Parameters
    ----------
    n_samples : int, default=100
        Number of rows.
    centres : array-like of shape (k, m)
    dispersions, priors : array-like of shape (k,)
    random_state : None, int or Generator

    Examples
    --------
    >>> made = make_mallows_mixture(5, [[0, 1, 2], [2, 1, 0]], [0.1, 0.1], [0.5, 0.5], random_state=0)
    >>> made.data.shape, made.target.shape
    ((5, 3), (5,))
    """
    n, rng = check_size(n_samples), check_rng(random_state)
    centres = np.array([_permutation(c) for c in ([[0, 1, 2], [2, 1, 0]] if centres is None else centres)])
    k = len(centres)
    dispersions = np.broadcast_to(np.asarray(0.5 if dispersions is None else dispersions, float), (k,))
    priors = np.full(k, 1 / k) if priors is None else check_probability_vector(priors, "priors", size=k)
    y = rng.choice(k, size=n, p=priors)
    data = np.empty((n, centres.shape[1]), dtype=np.int64)
    for j in range(k):
        if (y == j).any():
            data[y == j] = make_mallows(int((y == j).sum()), centres[j], dispersions[j], random_state=rng).data
    return Bunch(data=data, target=y, centres=centres, dispersions=dispersions.copy(), priors=priors)


_SUSHI = {
    "centres": ["0123456789", "5376024819", "9031527468", "0254736819", "0921345768", "0915274368"],
    "dispersions": [0.66, 0.74, 0.61, 0.64, 0.61, 0.62],
    "priors": [0.17, 0.15, 0.17, 0.18, 0.16, 0.18],
    "items": [
        "fatty tuna",
        "salmon roe",
        "tuna",
        "sea eel",
        "tuna roll",
        "shrimp",
        "egg",
        "squid",
        "cucumber roll",
        "sea urchin",
    ],
}


def make_sushi_twin(n_samples=1000, *, random_state=None):
    """Rankings of ten kinds of sushi from the six-component mixture printed in Lu and Boutilier (2014).

    The printed priors sum to 1.01 and are divided by their sum.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows.
    random_state : None, int or Generator

    Examples
    --------
    >>> made = make_sushi_twin(3, random_state=0)
    >>> made.item_names[0], made.data.shape
    ('fatty tuna', (3, 10))
    """
    centres = [[int(c) for c in word] for word in _SUSHI["centres"]]
    priors = np.array(_SUSHI["priors"]) / sum(_SUSHI["priors"])
    made = make_mallows_mixture(n_samples, centres, _SUSHI["dispersions"], priors, random_state=random_state)
    made.item_names = list(_SUSHI["items"])
    return made


def reveal_pairs(rankings, share=0.2, *, random_state=None):
    """Keep each pair of each ranking with probability `share`.

    Parameters
    ----------
    rankings : array-like of shape (m, n)
        One ranking a row, best first.
    share : float, default=0.2
    random_state : None, int or Generator

    Returns
    -------
    list of ndarray of shape (pairs, 2)
        Rows (preferred, other).

    Examples
    --------
    >>> reveal_pairs([[2, 0, 1]], 1.0)[0].tolist()
    [[2, 0], [2, 1], [0, 1]]
    """
    share, rng = check_scalar(share, "share", low=0, high=1), check_rng(random_state)
    rankings = np.atleast_2d(np.asarray(rankings))
    first, second = np.triu_indices(rankings.shape[1], 1)
    keep = rng.random((len(rankings), len(first))) < share
    return [np.column_stack([r[first[k]], r[second[k]]]) for r, k in zip(rankings, keep, strict=True)]


def make_plackett_luce(n_samples=100, strengths=10, *, random_state=None):
    """Items are chosen one after the other with probabilities proportional to their strengths (Gumbel's trick).

    Parameters
    ----------
    n_samples : int, default=100
        Number of rows.
    strengths : int or array-like
        An int m draws strengths exp(N(0, 1)).
    random_state : None, int or Generator

    Examples
    --------
    >>> made = make_plackett_luce(4, [3.0, 2.0, 1.0], random_state=0)
    >>> made.data.shape
    (4, 3)
    """
    n, rng = check_size(n_samples), check_rng(random_state)
    w = _strengths(strengths, rng)
    return Bunch(data=np.argsort(-(np.log(w) + rng.gumbel(size=(n, len(w)))), axis=1), strengths=w)


def _strengths(strengths, rng):
    if np.ndim(strengths) == 0:
        return np.exp(rng.standard_normal(check_size(strengths, "strengths")))
    w = check_finite_array(strengths, "strengths", ndim=1)
    if (w <= 0).any():
        raise ValueError("strengths must be positive")
    return w


def make_bradley_terry(n_comparisons=1000, strengths=10, *, pairs=None, random_state=None):
    """i beats j with probability w_i / (w_i + w_j).

    Parameters
    ----------
    n_comparisons : int, default=1000
    strengths : int, default=10
    pairs : array-like of shape (m, 2), optional
        Who meets whom; uniformly drawn pairs by default.
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``data`` (winner, loser), ``wins`` (matrix of counts), ``strengths``.

    Examples
    --------
    >>> made = make_bradley_terry(50, 4, random_state=0)
    >>> int(made.wins.sum())
    50
    """
    rng = check_rng(random_state)
    w = _strengths(strengths, rng)
    if pairs is None:
        n = check_size(n_comparisons, "n_comparisons")
        if len(w) < 2:
            raise ValueError("at least two items are needed")
        first = rng.integers(len(w), size=n)
        pairs = np.column_stack([first, (first + rng.integers(1, len(w), size=n)) % len(w)])
    pairs = np.asarray(pairs)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu" or not len(pairs):
        raise ValueError(f"pairs must be a table of integers with two columns, got shape {pairs.shape}")
    if pairs.min() < 0 or pairs.max() >= len(w):
        raise ValueError(f"pairs must hold items 0 to {len(w) - 1}, got {pairs.min()} to {pairs.max()}")
    wins = rng.random(len(pairs)) < w[pairs[:, 0]] / w[pairs].sum(axis=1)
    data = np.where(wins[:, None], pairs, pairs[:, ::-1])
    matrix = np.zeros((len(w), len(w)), dtype=np.int64)
    np.add.at(matrix, (data[:, 0], data[:, 1]), 1)
    return Bunch(data=data, wins=matrix, strengths=w)


def make_schedule(
    sizes=(11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 9),
    *,
    n_games=693,
    inside=8,
    n_regions=3,
    regional=0.45,
    sigma=5.0,
    random_state=None,
):
    """Games of teams in conferences, and their outcomes (Osting, Brune and Osher 2014, stand-in for football).

    Inside its conference each team plays the `inside` nearest on a circle; then games between conferences are added
    between teams with few games until there are `n_games`, a share `regional` of them inside super-regions.

    Parameters
    ----------
    sizes : sequence of int
    n_games, inside, n_regions : int
    regional : float, default=0.45
        0 gives a second Laplacian eigenvalue near 2.8, the default about 1.7, as in the article's league, 1 cuts it.
    sigma : float, default=5
        Outcome of a game: phi_i - phi_j + sigma N(0, 1) with phi ~ N(0, 1).
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``games`` (pairs), ``outcomes``, ``scores`` (phi), ``conference``, ``laplacian``.

    Examples
    --------
    >>> made = make_schedule(random_state=0)
    >>> made.games.shape, len(made.scores)
    ((693, 2), 119)
    """
    sigma, rng = check_scalar(sigma, "sigma", low=0), check_rng(random_state)
    sizes = [check_size(s, "sizes", low=2) for s in sizes]
    inside, n_games = check_size(inside, "inside", low=0), check_size(n_games, "n_games")
    regional = check_scalar(regional, "regional", low=0, high=1)
    conference = np.repeat(np.arange(len(sizes)), sizes)
    region = conference % check_size(n_regions, "n_regions")
    played, start = set(), 0
    for size in sizes:
        for i in range(size):
            for step in range(1, min(inside, size - 1) // 2 + 1):
                a, b = start + i, start + (i + step) % size
                played.add((min(a, b), max(a, b)))
        start += size
    n = len(conference)
    if not len(played) <= n_games <= n * (n - 1) // 2:
        raise ValueError(f"n_games must be between {len(played)} and {n * (n - 1) // 2}, got {n_games}")
    degree = np.bincount(np.ravel(sorted(played)) if played else [], minlength=n)
    while len(played) < n_games:
        a = rng.choice(np.flatnonzero(degree == degree.min()))
        near = region == region[a] if rng.random() < regional else np.ones(n, bool)
        free = [b for b in np.flatnonzero(near & (conference != conference[a])) if (min(a, b), max(a, b)) not in played]
        free = free or [b for b in range(n) if b != a and (min(a, b), max(a, b)) not in played]
        lowest = degree[free].min()
        b = rng.choice([b for b in free if degree[b] == lowest])
        played.add((min(a, b), max(a, b)))
        degree[[a, b]] += 1
    games = np.array(sorted(played))
    scores = rng.standard_normal(n)
    outcomes = scores[games[:, 0]] - scores[games[:, 1]] + sigma * rng.standard_normal(len(games))
    laplacian = np.diag(degree.astype(float))
    laplacian[games[:, 0], games[:, 1]] = laplacian[games[:, 1], games[:, 0]] = -1
    return Bunch(games=games, outcomes=outcomes, scores=scores, conference=conference, laplacian=laplacian, sigma=sigma)


def make_movie_scores(n_users=1000, n_items=300, *, density=0.05, random_state=None):
    """Ratings 1 to 13 of films with power-law popularity and two genre communities (stand-in for Yahoo! movies).

    Item popularity is proportional to rank^-0.8; a user rates films of the own community four times as often; rating
    = round(7 + 2 quality + user bias + noise), quality and bias N(0, 1), noise N(0, 1.5^2), cut to 1..13.

    Parameters
    ----------
    n_users : int, default=1000
    n_items : int, default=300
    density : float, default=0.05
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``user``, ``item``, ``rating``, ``quality``, ``genre``, ``shape``.

    Examples
    --------
    >>> made = make_movie_scores(50, 30, random_state=0)
    >>> int(made.rating.min()) >= 1 and int(made.rating.max()) <= 13
    True
    """
    n, m, rng = check_size(n_users, "n_users"), check_size(n_items, "n_items"), check_rng(random_state)
    density = check_scalar(density, "density", low=0, high=1)
    popularity = np.arange(1, m + 1.0) ** -0.8
    genre, community = rng.integers(2, size=m), rng.integers(2, size=n)
    chance = popularity * np.where(community[:, None] == genre, 1.6, 0.4)
    chance *= density / chance.mean()
    user, item = np.nonzero(rng.random((n, m)) < chance)
    quality, bias = rng.standard_normal(m), rng.standard_normal(n)
    raw = 7 + 2 * quality[item] + bias[user] + 1.5 * rng.standard_normal(len(user))
    rating = np.clip(np.rint(raw), 1, 13).astype(int)
    return Bunch(user=user, item=item, rating=rating, quality=quality, genre=genre, shape=(n, m))


def make_rank_ratings(
    n_users=1000, n_items=200, *, n_groups=5, dispersion=0.98, share=(0.05, 0.6), n_levels=5, random_state=None
):
    """Ratings that are binned ranks from a Mallows mixture (Lu and Boutilier 2014, stand-in for MovieLens).

    Every user ranks all items by the own group's model, sees a random share U(share) of them and rates these by
    cutting the ranks into `n_levels` equal classes, 5 for the best.

    Parameters
    ----------
    n_users : int, default=1000
    n_items : int, default=200
    n_groups : int, default=5
    dispersion : float, default=0.98
    share : tuple of float, default=(0.05, 0.6)
    n_levels : int, default=5
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``user``, ``item``, ``rating``, ``rankings`` (the full truth), ``target`` (group), ``centres``.

    Examples
    --------
    >>> made = make_rank_ratings(10, 20, random_state=0)
    >>> sorted(set(made.rating.tolist())) == [1, 2, 3, 4, 5]
    True
    """
    n, m, k = check_size(n_users, "n_users"), check_size(n_items, "n_items"), check_size(n_groups, "n_groups")
    levels, rng = check_size(n_levels, "n_levels"), check_rng(random_state)
    low, high = (check_scalar(s, "share", low=0, high=1) for s in share)
    centres = [rng.permutation(m) for _ in range(k)]
    made = make_mallows_mixture(n, centres, dispersion, random_state=rng)
    place = np.argsort(made.data, axis=1)
    seen = rng.random((n, m)) < rng.uniform(low, high, (n, 1))
    user, item = np.nonzero(seen)
    rating = levels - place[user, item] * levels // m
    truth = {"rankings": made.data, "target": made.target, "centres": made.centres}
    return Bunch(user=user, item=item, rating=rating, shape=(n, m), **truth)
