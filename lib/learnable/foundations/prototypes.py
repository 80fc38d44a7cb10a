"""Fewer points for the nearest-neighbour rule: those that it needs (condensing), those that it believes (editing).

Sources: Hart 1968, "The condensed nearest neighbor rule"; Wilson 1972, "Asymptotic properties of nearest neighbor rules
using edited data".
"""

from __future__ import annotations

import numpy as np

from learnable.neighbors import NeighborIndex
from learnable.validation import check_finite_array, check_magnitude, check_scalar, encode_labels

__all__ = ["condense", "edit"]


def condense(X, y):
    """A subset whose nearest-neighbour rule repeats the labels of the whole sample: Hart's condensing.

    The store begins with the first point; the sample is run through again and again, and a point that the store's
    nearest neighbour gets wrong joins it, until a whole run changes nothing. Not the smallest such subset, which is
    NP-hard to find, and it depends on the order of the rows. Of points that coincide with different labels all but
    the first stay wrong. O(n m d) for a store of m points.

    Parameters
    ----------
    X : array-like of shape (n, d)
    y : array-like of shape (n,)
        Labels.

    Returns
    -------
    ndarray of int
        Rows of the subset, rising.

    Examples
    --------
    >>> condense([[0.0], [1.0], [2.0], [8.0], [9.0]], ["a", "a", "a", "b", "b"])
    array([0, 3])
    """
    X, codes = _checked(X, y)
    n = len(X)
    kept = np.zeros(n, bool)
    nearest, owner = np.full(n, np.inf), np.full(n, n)
    new, place = 0, 0
    while True:
        kept[new] = True
        gap = ((X - X[new]) ** 2).sum(axis=1)
        closer = (gap < nearest) | ((gap == nearest) & (new < owner))
        nearest[closer], owner[closer] = gap[closer], new
        wrong = np.flatnonzero((codes[owner] != codes) & ~kept)
        if wrong.size == 0:
            return np.flatnonzero(kept)
        # The next wrong point in this run; behind the last one the next run begins.
        place = new + 1
        later = np.searchsorted(wrong, place)
        new = int(wrong[later]) if later < wrong.size else int(wrong[0])


def edit(X, y, k=3):
    """The points that the vote of their k nearest neighbours gets right: Wilson's editing.

    What is thrown away lies among points of other classes, near the border or by noise, so that the nearest neighbour
    of the rest decides more like the Bayes rule. Votes of the other n − 1 points; equal votes go to the first class.

    Parameters
    ----------
    X : array-like of shape (n, d)
    y : array-like of shape (n,)
        Labels.
    k : int, default=3
        Fewer than n.

    Returns
    -------
    ndarray of int
        Rows that stay, rising; possibly none.

    Examples
    --------
    >>> edit([[0.0], [1.0], [2.0], [3.0], [8.0], [9.0], [10.0]], [0, 1, 0, 0, 1, 1, 1], k=1)
    array([3, 4, 5, 6])
    """
    X, codes = _checked(X, y)
    n = len(X)
    k = check_scalar(k, "k", low=1, high=n - 1, integer=True)
    _, neighbours = NeighborIndex(X).query(X, k, exclude=np.arange(n))
    votes = np.zeros((n, codes.max() + 1))
    for rank in range(k):
        votes[np.arange(n), codes[neighbours[:, rank]]] += 1.0
    return np.flatnonzero(votes.argmax(axis=1) == codes)


def _checked(X, y):
    X = check_magnitude(check_finite_array(X, "X", ndim=2), "X", smallest=0.0)
    codes = encode_labels(y)[1]
    if len(X) != len(codes) or X.size == 0:
        raise ValueError(f"y must hold one label for each row of X, at least one; got {len(codes)} and {X.shape}")
    return X, codes
