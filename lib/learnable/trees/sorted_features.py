"""Features sorted once, and the one-pass search for the best cut under any signed weights.

With S the sum of signed weights over the points left of a cut, every stump's edge is ±(total − 2S). So the smallest and
the largest S over all cuts between *distinct* values decide the search. Each feature is scanned from both ends towards
its most frequent value, whose block is never visited: on features with many zeros most of the work disappears.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from learnable._inner import cut_between
from learnable.trees._features import PreparedFeatures, check_table, presort

__all__ = ["SortedFeatures", "best_cut"]


class SortedFeatures(PreparedFeatures):
    """Every feature sorted once, with its ties marked.

    Parameters
    ----------
    X : array (n, d)

    Attributes
    ----------
    columns : array (d, n)
        The features, one a row.
    order : array (d, n) of int32
        Row j sorts feature j, stably.
    values : array (d, n)
        The sorted values.
    inverse : array (n + 1,)
        Table of 1/k.

    Examples
    --------
    >>> features = SortedFeatures([[3.0], [1.0], [2.0]])
    >>> features.order.tolist(), features.values.tolist()
    ([[1, 2, 0]], [[1.0, 2.0, 3.0]])
    """

    def __init__(self, X):
        X = check_table(X)
        self.shape = X.shape
        self.columns = np.ascontiguousarray(X.T)
        self.order = presort(self.columns)
        self.values = np.take_along_axis(self.columns, self.order, axis=1)
        self.inverse = np.concatenate([[np.inf], 1.0 / np.arange(1, X.shape[0] + 1)])
        self.marked, self.begin, self.end = _mark_ties(self.order, self.values)

    def extremes(self, signed):
        """Smallest and largest sum of `signed` over {x_j ≤ cut}, for each feature and all cuts, empty ones included.

        Returns
        -------
        low, high : array (d,)
        """
        found = _extremes_all(self.marked, self.begin, self.end, self.check_length(signed, "signed"))
        return found[0], found[1]


def best_cut(features, signed):
    """The stump with the largest edge Σ s_i h(x_i), as (feature, threshold, sign); feature −1 for a constant rule.

    Parameters
    ----------
    features : SortedFeatures
    signed : array-like of shape (n,)
        Weights times labels, s_i = D_i y_i.

    Examples
    --------
    >>> best_cut(SortedFeatures([[0.0], [1.0], [2.0]]), np.array([1.0, -1.0, -1.0]))
    (0, 0.5, -1)
    """
    if not isinstance(features, SortedFeatures):
        raise TypeError(f"features must be SortedFeatures, got {type(features).__name__}")
    signed = features.check_length(signed, "signed")
    j, cut, sign = _best_stump(features.marked, features.begin, features.end, signed)
    if j < 0:
        return -1, 0.0, int(sign)
    return int(j), float(cut_between(features.values[j, cut - 1], features.values[j, cut])), int(sign)


@njit(cache=True)
def _mark_ties(order, values):
    """Bit-flip the indices behind which a cut is allowed, and find each feature's most frequent value.

    Left of that value's block the last member of a tie is marked, right of it the first. Without a frequent value the
    two scans meet in the middle.
    """
    d, n = values.shape
    marked = order.copy()
    begin = np.zeros(d, np.int64)
    end = np.zeros(d, np.int64)
    for j in range(d):
        longest, at, start = 0, 0, 0
        half, half_end = 0, 0  # the block of the value in the middle
        for p in range(1, n + 1):
            if p == n or values[j, p] != values[j, p - 1]:
                if p - start > longest:
                    longest, at = p - start, start
                if start <= n // 2 < p:
                    half, half_end = start, p
                start = p
        if longest * 16 < n:
            at, longest = half, half_end - half
        begin[j], end[j] = at, at + longest
        # The sign of an index says whether a cut may follow: one array to read in the scan instead of two.
        for p in range(at):
            if values[j, p] != values[j, p + 1]:
                marked[j, p] = ~order[j, p]
        for p in range(at + longest, n):
            if values[j, p] != values[j, p - 1]:
                marked[j, p] = ~order[j, p]
    return marked, begin, end


@njit(cache=True)
def _extremes(row, begin, end, signed, total):
    """Smallest and largest sum over {x ≤ cut} of one feature; where they are is asked of the winner only."""
    low, high, running = 0.0, 0.0, 0.0
    for p in range(begin):
        i = row[p]
        if i < 0:
            running += signed[~i]
            low = running if running < low else low
            high = running if running > high else high
        else:
            running += signed[i]
    # From the right end the sums are those over {x > cut}: total minus them counts.
    least, most, running = 0.0, 0.0, 0.0
    for p in range(len(row) - 1, end - 1, -1):
        i = row[p]
        if i < 0:
            running += signed[~i]
            least = running if running < least else least
            most = running if running > most else most
        else:
            running += signed[i]
    return min(low, total - most), max(high, total - least)


@njit(cache=True)
def _locate(row, begin, end, signed, total, wanted):
    """The first cut, as the number of points to its left, whose sum is `wanted`, one of the extremes."""
    running = 0.0
    for p in range(begin):
        i = row[p]
        running += signed[~i] if i < 0 else signed[i]
        if i < 0 and running == wanted:
            return p + 1
    found, running = -1, 0.0
    for p in range(len(row) - 1, end - 1, -1):
        i = row[p]
        running += signed[~i] if i < 0 else signed[i]
        if i < 0 and total - running == wanted:
            found = p
    return found


@njit(cache=True)
def _extremes_all(marked, begin, end, signed):
    """`_extremes` of every feature."""
    d = marked.shape[0]
    low, high = np.empty(d), np.empty(d)
    total = signed.sum()
    for j in range(d):
        low[j], high[j] = _extremes(marked[j], begin[j], end[j], signed, total)
    return low, high


@njit(cache=True)
def _best_stump(marked, begin, end, signed):
    """Feature, cut and sign of the stump with the largest edge Σ s h; feature −1 for a constant rule.

    The edge of "+1 to the right" is total − 2 S, of its opposite 2 S − total.
    """
    total, scale = 0.0, 0.0
    for i in range(len(signed)):
        total += signed[i]
        scale += abs(signed[i])
    best, feature, sign, wanted = abs(total), -1, 1 if total >= 0 else -1, 0.0
    margin = 1e-14 * scale
    for j in range(marked.shape[0]):
        low, high = _extremes(marked[j], begin[j], end[j], signed, total)
        if total - 2.0 * low > best + margin:
            best, feature, sign, wanted = total - 2.0 * low, j, 1, low
        if 2.0 * high - total > best + margin:
            best, feature, sign, wanted = 2.0 * high - total, j, -1, high
    if feature < 0:
        return feature, 0, sign
    return feature, _locate(marked[feature], begin[feature], end[feature], signed, total, wanted), sign
