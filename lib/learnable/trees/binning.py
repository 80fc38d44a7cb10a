"""Features cut into at most 256 bins once, so that the search for a split is a histogram.

A column with at most `max_bins` different values keeps every one of them: its bins are its values, and nothing is lost.
Any other column is cut at quantiles, a value that fills a bin alone getting one for itself. Four columns share a 32-bit
word for each row: one load then serves four histograms.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from learnable._inner import cut_between
from learnable.trees._features import PreparedFeatures, check_table
from learnable.validation import check_scalar

__all__ = ["BinnedFeatures", "bins_wanted"]

_MANY_ROWS = 2_500
_MOST = 256
_SAMPLE = 50_000  # rows from which quantiles are estimated


def bins_wanted(max_bins, n):
    """The number of bins to cut n rows into, or None for the exact search.

    Parameters
    ----------
    max_bins : {"auto"}, int or None
        ``"auto"`` is 256 from 2,500 rows on and None below.
    n : int

    Examples
    --------
    >>> bins_wanted("auto", 500), bins_wanted("auto", 20_000), bins_wanted(16, 500)
    (None, 256, 16)
    """
    if max_bins is None:
        return None
    if isinstance(max_bins, str):
        if max_bins != "auto":
            raise ValueError(f"max_bins must be 'auto', None or an integer from 2 to {_MOST}, got {max_bins!r}")
        return _MOST if n >= _MANY_ROWS else None
    return check_scalar(max_bins, "max_bins", low=2, high=_MOST, integer=True)


class Bins(NamedTuple):
    """What compiled code reads: the bins of every row, and what they stand for.

    `words` (b, n) holds four columns in each number and `codes` (b, n, 4) is the same memory by the byte. Bin k of
    column j holds the values from ``lower[j, k]`` to ``upper[j, k]``; the upper end of a bin of several values is the
    lower end of the next. `size` (d,) counts the bins of a column and `counts` (4 b, 256) the rows of a bin.
    """

    words: np.ndarray
    codes: np.ndarray
    size: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    counts: np.ndarray


class BinnedFeatures(PreparedFeatures):
    """Every feature cut into at most `max_bins` bins.

    O(n d log max_bins), after sorting at most 50,000 rows of each column.

    Parameters
    ----------
    X : array (n, d)
    max_bins : int, default=256
        From 2 to 256.

    Attributes
    ----------
    bins : Bins
    unit : array (n,)
        Weights of one.
    exact : array (d,) of bool
        Whether each value of a column has a bin of its own: then cuts between bins are all cuts there are.

    Examples
    --------
    >>> features = BinnedFeatures([[3.0, 0.1], [1.0, 0.2], [3.0, 0.3]], max_bins=2)
    >>> features.column(0).tolist(), features.column(1).tolist(), features.exact.tolist()
    ([1, 0, 1], [0, 0, 1], [True, False])
    """

    def __init__(self, X, max_bins=_MOST):
        X = check_table(X)
        n, d = self.shape = X.shape
        most = check_scalar(max_bins, "max_bins", low=2, high=_MOST, integer=True)
        chosen = None
        if n > _SAMPLE:
            # Not every k-th row: rows may come in periods.
            chosen = np.sort(np.random.default_rng(0).choice(n, _SAMPLE, replace=False))
        codes = np.zeros(((d + 3) // 4, n, 4), np.uint8)
        size, self.exact = np.zeros(d, np.int64), np.zeros(d, bool)
        lower, upper = np.zeros((d, _MOST)), np.zeros((d, _MOST))
        for j in range(d):
            column = np.ascontiguousarray(X[:, j])
            place = codes[j // 4, :, j % 4]
            values = np.sort(column if chosen is None else column[chosen])
            values = values[np.concatenate([[True], values[1:] != values[:-1]])] if _few(values, most) else values
            if len(values) <= most and not _assign(column, _padded(values), values, place, True):
                # The sample has missed some values.
                values = np.unique(column)
            self.exact[j] = len(values) <= most
            if self.exact[j]:
                _assign(column, _padded(values), values, place, True)
                lower[j, : len(values)] = upper[j, : len(values)] = values
                size[j] = len(values)
            else:
                edges = _cut(values, most)
                _assign(column, _padded(edges), edges, place, False)
                size[j] = len(edges) + 1
                lower[j, 1 : size[j]] = upper[j, : size[j] - 1] = edges
                lower[j, 0], upper[j, size[j] - 1] = values[0], values[-1]
        words = codes.view(np.uint32)[:, :, 0]
        self.unit = np.ones(n)
        self.bins = Bins(words, codes, size, lower, upper, _count(codes))

    def column(self, j):
        """The bins of column j, one for each row."""
        return self.bins.codes[j // 4, :, j % 4]


def _padded(edges):
    """The edges, filled up to 255 with infinity: a search in eight steps for any number of them."""
    out = np.full(_MOST - 1, np.inf)
    out[: min(len(edges), _MOST - 1)] = edges[: _MOST - 1]
    return out


@njit(cache=True)
def _few(values, most):
    """Whether a sorted array has at most `most` different values."""
    found = 1
    for p in range(1, len(values)):
        if values[p] != values[p - 1]:
            found += 1
            if found > most:
                return False
    return True


@njit(cache=True)
def _assign(column, edges, values, place, exact):
    """Number of edges below each value, by bisection without branches; False if an exact column has a value besides."""
    n = len(column)
    same = True
    for i in range(n):
        x = column[i]
        at = 0
        at += 128 * (x > edges[at + 127])
        at += 64 * (x > edges[at + 63])
        at += 32 * (x > edges[at + 31])
        at += 16 * (x > edges[at + 15])
        at += 8 * (x > edges[at + 7])
        at += 4 * (x > edges[at + 3])
        at += 2 * (x > edges[at + 1])
        at += 1 * (x > edges[at])
        place[i] = at
    if exact:
        for i in range(n):
            at = place[i]
            same &= at < len(values) and values[at] == column[i]
    return same


@njit(cache=True)
def _cut(values, most):
    """Upper ends of all bins but the last, of sorted values: equal shares, but heavy values for themselves.

    A bin is closed when it holds its share of the rows that are left; the share is formed anew after each bin.
    """
    n = len(values)
    edges = np.empty(most - 1)
    heavy = n // most + 1
    rest, bins, alone = n, most, 0
    start = 0
    for p in range(1, n + 1):
        if p == n or values[p] != values[start]:
            if p - start >= heavy:
                rest -= p - start
                alone += 1
            start = p
    bins -= alone
    used, held, start = 0, 0, 0
    for p in range(1, n + 1):
        if p < n and values[p] == values[start]:
            continue
        # Values start…p − 1 are equal.
        here = p - start
        following = p
        while following < n and values[following] == values[p]:
            following += 1
        single = here >= heavy
        held += 0 if single else here
        full = held * max(bins, 1) >= rest
        before_heavy = following - p >= heavy
        if p < n and used < most - 1 and (single or full or (before_heavy and bins > 1)):
            edges[used] = cut_between(values[p - 1], values[p])
            used += 1
            if not single:
                rest -= held
                bins -= 1
            held = 0
        start = p
    return edges[:used].copy()


@njit(cache=True)
def _count(codes):
    """Rows of each bin of each column."""
    blocks, n, width = codes.shape
    counts = np.zeros((blocks * width, 256))
    for q in range(blocks):
        for c in range(width):
            row = counts[q * width + c]
            for i in range(n):
                row[codes[q, i, c]] += 1.0
    return counts
