"""All distances, first in float32: for each query the smallest of every 32 points, then the exact ones among those.

With centred points u and queries v, |u − v|² − |v|² = |u|² − 2 u'v is one product and a sum; in float32 it differs from
the distance in float64 by less than ``slack · (|u| + |v|)²``. The k-th smallest minimum plus its error bounds the k-th
distance from above, so that only points whose value minus its error is below that bound are computed in float64:
nearly always k of them, and never too few.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from learnable.neighbors._nearest import distance, empty, offer, settle
from learnable.neighbors._tree import aligned
from learnable.neighbors._vectors import LEAF, TOGETHER, first_bit, leaf_minima, leaf_values

__all__ = ["Blocks", "lay_out", "scan_blocks"]

_BATCH = 64  # queries whose minima are kept at once
_CHUNK = 1 << 15  # numbers of a part of the points that stays in the cache while the batch runs over it
_FAR = 1e12  # a query so much farther away than the data would need more than float32


class Blocks(NamedTuple):
    """Rows |u|² and −2u of each block in float32, the largest |u| of a block, and how u comes from x: (x − c) unit."""

    values: np.ndarray
    radii: np.ndarray
    centre: np.ndarray
    scale: np.ndarray  # unit and slack


def lay_out(X):
    """The blocks of the rows of X, in their order. O(n d)."""
    n, d = X.shape
    centre, spread = _middle(X)
    # Not beyond 2^470: there the squares of float64 lose digits to underflow, which no relative bound covers.
    unit = 2.0 ** min(-np.frexp(spread)[1], 470) if spread > 0 else 1.0
    # Coordinates are rounded once (their products err by 2 units in the last place), the sum of d + 1 terms and its
    # products by d + 3; a quarter more covers second-order terms and the rounding of this constant.
    slack = 1.25 * 2.0**-24 * (d + 5)
    blocks = -(-n // LEAF)
    made = Blocks(aligned((blocks, d + 1, LEAF), np.float32), np.empty(blocks), centre, np.array([unit, slack]))
    _copy(X, made)
    return made


@njit(cache=True)
def _middle(X):
    """The mean of the rows, and the largest distance of a coordinate from it."""
    n, d = X.shape
    centre, low, high = np.zeros(d), X[0].copy(), X[0].copy()
    for i in range(n):
        for j in range(d):
            value = X[i, j]
            centre[j] += value
            low[j], high[j] = min(low[j], value), max(high[j], value)
    centre /= n
    spread = 0.0
    for j in range(d):
        spread = max(spread, high[j] - centre[j], centre[j] - low[j])
    return centre, spread


@njit(cache=True)
def _copy(X, blocks):
    values, radii, centre, scale = blocks
    n, d = X.shape
    unit = scale[0]
    squares = np.empty(LEAF)
    for block in range(len(values)):
        start = block * LEAF
        inside = min(LEAF, n - start)
        squares[:] = 0.0
        for j in range(d):
            for place in range(inside):
                u = np.float32((X[start + place, j] - centre[j]) * unit)
                values[block, j + 1, place] = np.float32(-2.0) * u
                squares[place] += np.float64(u) * np.float64(u)
            values[block, j + 1, inside:] = np.float32(0.0)
        top = 0.0
        for place in range(inside):
            values[block, 0, place] = np.float32(squares[place])
            top = max(top, squares[place])
        values[block, 0, inside:] = np.float32(np.inf)
        radii[block] = np.sqrt(top) + 1e-15  # so that the bound also covers products that underflow


@njit(cache=True)
def scan_blocks(X, blocks, Q, rows, hidden, distances, neighbours):
    """Neighbours of the given rows of Q."""
    values, _, _, _ = blocks
    n, d = X.shape
    count = len(values)
    chunk = max(1, _CHUNK // ((d + 1) * LEAF))
    k = distances.shape[1]
    many = 8 * (k + 1) > count
    shifted, sizes = np.zeros((_BATCH, d), np.float32), np.empty(_BATCH)
    minima = np.empty((_BATCH, 0 if many else count), np.float32)
    uppers, owners = np.empty(k + 1), np.empty(k + 1, np.int64)
    for start in range(0, len(rows), _BATCH):
        batch = rows[start : start + _BATCH]
        _shift(Q, batch, blocks, shifted, sizes)
        if not many:
            _minima(values, shifted, len(batch), chunk, minima)
        for b in range(len(batch)):
            i = batch[b]
            best, who = distances[i], neighbours[i]
            empty(best, who)
            if sizes[b] < _FAR:
                rank = k + (hidden[i] >= 0)
                limit = _limit(blocks, shifted, b, sizes[b], minima[b], uppers[:rank], owners[:rank])
                _exact(X, blocks, Q[i], shifted, (b, sizes[b], limit, hidden[i]), minima[b], best, who)
            else:
                for j in range(n):
                    if j != hidden[i]:
                        offer(best, who, distance(Q[i], X[j]), j)
            settle(best, who)


@njit(cache=True)
def _shift(Q, batch, blocks, shifted, sizes):
    """Queries in the units of the blocks, and their norms."""
    _, _, centre, scale = blocks
    unit = scale[0]
    for b in range(len(batch)):
        total = 0.0
        for j in range(len(centre)):
            v = (Q[batch[b], j] - centre[j]) * unit
            total += v * v
            shifted[b, j] = np.float32(v) if abs(v) < _FAR else np.float32(0.0)
        sizes[b] = np.sqrt(total)


@njit(cache=True)
def _minima(values, shifted, size, chunk, minima):
    count = len(values)
    for first in range(0, count, chunk):
        last = min(count, first + chunk)
        for b in range(0, size, TOGETHER):
            for block in range(first, last):
                low = leaf_minima(values, block, shifted, b)
                minima[b, block] = low[0]
                minima[b + 1, block] = low[1]
                minima[b + 2, block] = low[2]
                minima[b + 3, block] = low[3]


@njit(cache=True)
def _limit(blocks, shifted, b, size, minima, uppers, owners):
    """The rank-th smallest, rank = len(uppers), of the minima plus their errors; without minima, of all points."""
    values, radii, _, scale = blocks
    empty(uppers, owners)
    worst = uppers[0]
    scratch = np.empty(LEAF, np.float32)
    for block in range(len(values)):
        reach = size + radii[block]
        error = scale[1] * reach * reach
        if len(minima):
            if minima[block] + error < worst:
                worst = offer(uppers, owners, minima[block] + error, block)
            continue
        leaf_values(values, block, shifted, b, np.float32(0.0), scratch)
        for place in range(LEAF):
            if scratch[place] + error < worst:
                worst = offer(uppers, owners, scratch[place] + error, block)
    return worst


@njit(cache=True)
def _exact(X, blocks, query, shifted, state, minima, best, who):
    """Compute in float64 whatever may be among the nearest; without minima, look into every block."""
    values, radii, _, scale = blocks
    b, size, limit, hidden = state
    scratch = np.empty(LEAF, np.float32)
    for block in range(len(values)):
        reach = size + radii[block]
        error = scale[1] * reach * reach
        if len(minima) and minima[block] - error > limit:
            continue
        # Rounding the bound to float32 may lower it by half a unit in the last place.
        bound = limit + error
        mask = leaf_values(values, block, shifted, b, np.float32(bound + 1e-7 * abs(bound)), scratch)
        while mask:
            j = block * LEAF + first_bit(mask)
            if j != hidden and j < len(X):
                offer(best, who, distance(query, X[j]), j)
            mask &= mask - np.uint32(1)
