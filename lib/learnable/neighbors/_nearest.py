"""The k nearest seen so far, in the order of (distance, index)."""

import numpy as np
from numba import njit

__all__ = ["distance", "empty", "offer", "settle"]

_SORTED = 32  # up to so many neighbours a sorted list is quicker than a heap
NOBODY = np.iinfo(np.int64).max


@njit(cache=True)
def distance(a, b):
    """Squared distance, summed in the order of the coordinates."""
    total = 0.0
    for j in range(len(a)):
        gap = a[j] - b[j]
        total += gap * gap
    return total


@njit(cache=True)
def empty(best, who):
    """Make the list empty: places that any number below the largest float takes."""
    for at in range(len(best)):
        best[at] = np.finfo(np.float64).max
        who[at] = NOBODY


@njit(cache=True)
def _after(value, index, other, whose):
    return value > other or (value == other and index > whose)


@njit(cache=True)
def offer(best, who, value, index):
    """Put a neighbour into the list if it belongs there; return the distance that the next one must not exceed.

    Few neighbours are kept sorted, and the limit is the last; many are kept as a heap, and the limit is its top.
    """
    k = len(best)
    if k <= _SORTED:
        # Insertion: nearly all offers end at the first comparison, once the list holds good candidates.
        at = k - 1
        if _after(value, index, best[at], who[at]):
            return best[at]
        while at > 0 and _after(best[at - 1], who[at - 1], value, index):
            best[at] = best[at - 1]
            who[at] = who[at - 1]
            at -= 1
        best[at] = value
        who[at] = index
        return best[k - 1]
    if not _after(value, index, best[0], who[0]):
        _sink(best, who, k, value, index)
    return best[0]


@njit(cache=True)
def _sink(best, who, size, value, index):
    """Replace the top of a heap of `size` places."""
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and _after(best[child + 1], who[child + 1], best[child], who[child]):
            child += 1
        if not _after(best[child], who[child], value, index):
            break
        best[at] = best[child]
        who[at] = who[child]
        at = child
    best[at] = value
    who[at] = index


@njit(cache=True)
def settle(best, who):
    """Sort a heap, in place: the farthest goes to the end of what is left, again and again."""
    if len(best) <= _SORTED:
        return
    for last in range(len(best) - 1, 0, -1):
        value, index = best[last], who[last]
        best[last], who[last] = best[0], who[0]
        _sink(best, who, last, value, index)
