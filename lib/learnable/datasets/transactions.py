"""Transactions and click-streams with planted patterns."""

import numpy as np
from sklearn.utils import Bunch

from learnable.datasets._simulate import check_size
from learnable.validation import check_rng, check_scalar

__all__ = ["make_baskets", "make_categorical_transactions", "make_clickstreams", "utility_example"]


def make_baskets(
    n_transactions=2000,
    *,
    n_items=200,
    n_patterns=50,
    mean_size=10.0,
    mean_pattern=4.0,
    corruption=0.5,
    random_state=None,
):
    """Sparse baskets after the Quest generator of Agrawal and Srikant (1994).

    Patterns have 1 + Poisson(mean_pattern - 1) items, half of them taken from the pattern before, and weights from an
    exponential law (normalised). A basket wants 1 + Poisson(mean_size - 1) items and is filled pattern by pattern; each
    pattern has its own corruption level N(corruption, 0.1), and items are dropped from it while U(0, 1) is below that
    level. A pattern that does not fit is kept in half of the cases and left otherwise.

    Parameters
    ----------
    n_transactions : int, default=2000
    n_items : int, default=200
    n_patterns : int, default=50
    mean_size : float, default=10.0
    mean_pattern : float, default=4.0
    corruption : float, default=0.5
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``data``: list of sorted tuples of items; ``patterns``, ``weights``.

    Examples
    --------
    >>> made = make_baskets(5, random_state=0)
    >>> len(made.data), len(made.patterns)
    (5, 50)
    """
    n, items, k = (
        check_size(n_transactions, "n_transactions"),
        check_size(n_items, "n_items"),
        check_size(n_patterns, "n_patterns"),
    )
    mean_size, mean_pattern = (
        check_scalar(v, name, low=1) for v, name in ((mean_size, "mean_size"), (mean_pattern, "mean_pattern"))
    )
    corruption, rng = check_scalar(corruption, "corruption", low=0, high=1), check_rng(random_state)
    patterns, before = [], np.array([], dtype=int)
    for _ in range(k):
        size = min(1 + rng.poisson(mean_pattern - 1), items)
        kept = rng.permutation(before)[: min(len(before), round(size * 0.5))]
        order = rng.permutation(items)
        before = np.concatenate([kept, order[~np.isin(order, kept)][: size - len(kept)]]).astype(int)
        patterns.append(tuple(sorted(before.tolist())))
    weights = rng.exponential(size=k)
    weights /= weights.sum()
    level = np.clip(rng.normal(corruption, 0.1, k), 0, 0.95)
    cumulated, data = np.cumsum(weights), []
    for size in np.minimum(1 + rng.poisson(mean_size - 1, n), items):
        basket = set()
        for _ in range(50):
            j = min(int(np.searchsorted(cumulated, rng.random())), k - 1)
            offer = list(patterns[j])
            while len(offer) > 1 and rng.random() < level[j]:
                offer.pop(int(rng.integers(len(offer))))
            if basket and len(basket | set(offer)) > size and rng.random() < 0.5:
                break
            basket.update(offer)
            if len(basket) >= size:
                break
        data.append(tuple(sorted(basket)))
    return Bunch(data=data, patterns=patterns, weights=weights, n_items=items)


def make_categorical_transactions(n_transactions=2000, *, n_attributes=22, n_values=4, n_classes=4, random_state=None):
    """Dense transactions: every row has one item for each attribute, from a latent class model (mushroom-like).

    Class-conditional value probabilities are Dirichlet(0.3). Item number = attribute * n_values + value.

    Parameters
    ----------
    n_transactions : int, default=2000
    n_attributes : int, default=22
    n_values : int, default=4
    n_classes : int, default=4
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``data`` (list of tuples), ``matrix`` (n, n_attributes), ``target`` (latent class), ``probabilities``.

    Examples
    --------
    >>> made = make_categorical_transactions(3, n_attributes=5, random_state=0)
    >>> [len(row) for row in made.data]
    [5, 5, 5]
    """
    n, a = check_size(n_transactions, "n_transactions"), check_size(n_attributes, "n_attributes")
    v, k, rng = check_size(n_values, "n_values"), check_size(n_classes, "n_classes"), check_rng(random_state)
    probabilities = rng.dirichlet(np.full(v, 0.3), size=(k, a))
    y = rng.integers(k, size=n)
    matrix = (rng.random((n, a, 1)) >= probabilities.cumsum(axis=-1)[y][:, :, :-1]).sum(axis=-1)
    rows = [tuple(row) for row in (matrix + v * np.arange(a)).tolist()]
    return Bunch(data=rows, matrix=matrix, target=y, probabilities=probabilities, n_items=a * v)


def make_clickstreams(
    n_sequences=2000, *, n_pages=30, n_motifs=3, motif_size=4, rate=0.3, length=(5, 25), random_state=None
):
    """Sequences of pages from a Markov chain, with motifs planted as subsequences in a share `rate` of them.

    Parameters
    ----------
    n_sequences : int, default=2000
    n_pages : int, default=30
    n_motifs : int, default=3
    motif_size : int, default=4
    rate : float, default=0.3
    length : tuple of int, default=(5, 25)
    random_state : None, int or Generator

    Returns
    -------
    Bunch
        ``data`` (list of lists), ``motifs``, ``planted`` (n, n_motifs) of bool, ``transition``.

    Examples
    --------
    >>> made = make_clickstreams(10, random_state=0)
    >>> len(made.data), made.planted.shape
    (10, (10, 3))
    """
    rng = check_rng(random_state)
    n, pages, k = (
        check_size(n_sequences, "n_sequences"),
        check_size(n_pages, "n_pages"),
        check_size(n_motifs, "n_motifs"),
    )
    size = check_scalar(motif_size, "motif_size", low=1, high=pages, integer=True)
    rate = check_scalar(rate, "rate", low=0, high=1)
    low, high = (check_size(v, "length") for v in length)
    transition = rng.dirichlet(np.full(pages, 0.2), size=pages)
    cumulated = transition.cumsum(axis=1)
    motifs = [rng.permutation(pages)[:size].tolist() for _ in range(k)]
    planted, data = rng.random((n, k)) < rate, []
    for row in planted:
        walk = [int(rng.integers(pages))]
        for _ in range(int(rng.integers(low, high + 1)) - 1):
            walk.append(min(int(np.searchsorted(cumulated[walk[-1]], rng.random())), pages - 1))
        for motif, present in zip(motifs, row, strict=True):
            if present:
                places = np.sort(rng.integers(len(walk) + 1, size=size))
                for shift, (place, page) in enumerate(zip(places, motif, strict=True)):
                    walk.insert(int(place) + shift, page)
        data.append(walk)
    return Bunch(data=data, motifs=motifs, planted=planted, transition=transition)


def utility_example():
    """Five transactions with the utility of each item (Fournier-Viger et al. 2014).

    Examples
    --------
    >>> sum(utility_example()[0].values())
    30
    """
    return [
        {3: 1, 5: 3, 1: 5, 2: 10, 4: 6, 6: 5},
        {3: 3, 5: 3, 2: 8, 4: 6},
        {3: 1, 1: 5, 4: 2},
        {3: 6, 5: 6, 1: 10, 7: 5},
        {3: 2, 5: 3, 2: 4, 7: 2},
    ]
