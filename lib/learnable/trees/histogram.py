"""Trees and stumps from histograms: the search for a split costs one addition a row and a feature, whatever its values.

The features are binned once (`learnable.trees.binning`). The histogram of a node holds the sums of the targets and of
the weights over each bin of each feature; it is summed over the rows of the smaller child only, since the larger one's
is the parent's minus its sibling's. Sums are in double precision. Where every value has a bin of its own, the trees
are those of the exact search.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit

from learnable._inner import cut_between
from learnable.trees._nodes import Nodes, add_children, divide, moments
from learnable.trees.binning import BinnedFeatures, Bins
from learnable.validation import check_scalar

__all__ = ["BinnedCut", "BinnedTree", "best_binned_cut", "grow_binned"]

_NOISE = 1e-13  # of the sum of |targets|: a difference of sums below it is rounding


@dataclass(frozen=True, eq=False)
class BinnedTree:
    """A tree from histograms; node 0 is the root, and a child has a larger number than its parent.

    Attributes
    ----------
    feature, threshold, left, right : array (m,)
        As in `learnable.trees.Tree`.
    weight, mean : array (m,)
        Total weight and mean target of a node.
    depth, place : array (m,) of int
        Level, and number in a complete binary tree: the children of place v are 2v + 1 and 2v + 2.
    leaf : array (n,) of int32
        The place of each training row's leaf.
    """

    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    weight: np.ndarray
    mean: np.ndarray
    depth: np.ndarray
    place: np.ndarray
    leaf: np.ndarray


@dataclass(frozen=True)
class BinnedCut:
    """The rule sign·(+1 if x[feature] > threshold else −1); rows up to `last_bin` are below. Feature −1: constant."""

    feature: int
    last_bin: int
    threshold: float
    sign: int


class _Data(NamedTuple):
    bins: Bins
    target: np.ndarray
    scaled: np.ndarray  # target times weight
    weight: np.ndarray
    even: bool  # all weights are one


class _Pool(NamedTuple):
    """Histograms of the open nodes, one for each level: sums of the targets, and of the weights."""

    sums: np.ndarray
    mass: np.ndarray


class _Room(NamedTuple):
    """The rows, those of a node side by side, spare places, and the targets or weights of some of them."""

    rows: np.ndarray
    spare: np.ndarray
    gathered: np.ndarray


def grow_binned(features, target, sample_weight=None, *, max_depth=3, min_samples_leaf=1):
    """Grow a least-squares tree of bounded depth on binned features.

    Parameters
    ----------
    features : BinnedFeatures
    target : array (n,)
    sample_weight : array (n,), optional
        Positive somewhere. With weights `min_samples_leaf` must be 1.
    max_depth : int, default=3
        At most 16.
    min_samples_leaf : int, default=1

    Returns
    -------
    BinnedTree

    Notes
    -----
    Where values have bins of their own, a threshold lies half-way between two neighbouring values of the node;
    otherwise on the edge between two bins, or half-way between the edges of a gap. Of equally good cuts the first
    feature and the smallest threshold win. A node is split as long as its targets differ, also where no cut gains
    anything. O(n d) for the root and at most O(n d / 2) for each further level, plus O(256 d) for each node.

    Examples
    --------
    >>> tree = grow_binned(BinnedFeatures([[0.0], [1.0], [2.0]]), [1.0, 1.0, 4.0], max_depth=1)
    >>> tree.threshold[0], tree.mean.tolist(), tree.leaf.tolist()
    (np.float64(1.5), [2.0, 1.0, 4.0], [1, 1, 2])
    """
    if not isinstance(features, BinnedFeatures):
        raise TypeError(f"features must be BinnedFeatures, got {type(features).__name__}")
    target = features.check_length(target, "target")
    max_depth = check_scalar(max_depth, "max_depth", low=1, high=16, integer=True)
    least = check_scalar(min_samples_leaf, "min_samples_leaf", low=1, integer=True)
    even = sample_weight is None
    if even:
        weight, mean = features.unit, target.mean()
    else:
        weight = features.check_length(sample_weight, "sample_weight")
        if weight.min() < 0 or not weight.sum() > 0:
            raise ValueError("sample_weight must hold no negative number, and not zeros alone")
        if least > 1:
            raise ValueError("min_samples_leaf must be 1 with sample_weight")
        mean = weight @ target / weight.sum()
    # Sums of targets that all lie far from zero would lose the digits in which they differ.
    if abs(mean) > 100.0 * np.ptp(target):
        target = target - mean
    else:
        mean = 0.0
    scaled = target if even else target * weight
    n = len(target)
    nodes = Nodes.room(min(2 ** (max_depth + 1), 2 * n), n)
    # Two arrays, not one: memory above the allocator's limit comes from the system page by page, for each tree anew.
    shape = max_depth, *features.bins.counts.shape
    pool = _Pool(np.empty(shape), np.empty(shape))
    room = _Room(np.arange(n, dtype=np.int32), np.empty(n, np.int32), np.empty(n))
    place, leaf = np.zeros(len(nodes.left), np.int64), np.empty(n, np.int32)
    data = _Data(features.bins, target, scaled, weight, even)
    m = _grow(data, (max_depth, float(least)), nodes, pool, room, place, leaf)
    feature, threshold, left, right, weight, total, _, depth = nodes.tree(m)
    means = total[:, 0] / np.maximum(weight, 1e-300) + mean
    return BinnedTree(feature, threshold, left, right, weight, means, depth, place[:m].copy(), leaf)


def best_binned_cut(features, signed):
    """The stump with the largest edge Σ s_i h(x_i).

    One number for each bin is enough: the search for an edge needs no weights beside the signed ones.

    Parameters
    ----------
    features : BinnedFeatures
    signed : array-like of shape (n,)
        Weights times labels, s_i = D_i y_i.

    Returns
    -------
    BinnedCut

    Examples
    --------
    >>> best_binned_cut(BinnedFeatures([[0.0], [1.0], [2.0]]), np.array([1.0, -1.0, -1.0]))
    BinnedCut(feature=0, last_bin=0, threshold=0.5, sign=-1)
    """
    if not isinstance(features, BinnedFeatures):
        raise TypeError(f"features must be BinnedFeatures, got {type(features).__name__}")
    bins = features.bins
    signed = features.check_length(signed, "signed")
    j, cut, sign = _best_edge(bins, signed)
    if j < 0:
        return BinnedCut(-1, 0, 0.0, int(sign))
    return BinnedCut(int(j), int(cut), float(cut_between(bins.upper[j, cut], bins.lower[j, cut + 1])), int(sign))


@njit(cache=True)
def _sum_all(words, values, sums):
    """Sums over each bin, of all rows."""
    sums[:] = 0.0
    byte, last = np.uint32(255), np.uint32(24)
    one, two = np.uint32(8), np.uint32(16)
    for q in range(words.shape[0]):
        row = words[q]
        first, second, third, fourth = sums[4 * q], sums[4 * q + 1], sums[4 * q + 2], sums[4 * q + 3]
        for i in range(len(values)):
            word, v = row[i], values[i]
            first[word & byte] += v
            second[(word >> one) & byte] += v
            third[(word >> two) & byte] += v
            fourth[word >> last] += v


@njit(cache=True)
def _sum_counted(words, rows, values, sums, mass):
    """Sums over each bin, and numbers of rows, of some rows; `values` are in the order of `rows`."""
    sums[:], mass[:] = 0.0, 0.0
    byte, last = np.uint32(255), np.uint32(24)
    one, two = np.uint32(8), np.uint32(16)
    for q in range(words.shape[0]):
        row = words[q]
        first, second, third, fourth = sums[4 * q], sums[4 * q + 1], sums[4 * q + 2], sums[4 * q + 3]
        m1, m2, m3, m4 = mass[4 * q], mass[4 * q + 1], mass[4 * q + 2], mass[4 * q + 3]
        for p in range(len(rows)):
            word, v = row[rows[p]], values[p]
            b = word & byte
            first[b] += v
            m1[b] += 1.0
            b = (word >> one) & byte
            second[b] += v
            m2[b] += 1.0
            b = (word >> two) & byte
            third[b] += v
            m3[b] += 1.0
            b = word >> last
            fourth[b] += v
            m4[b] += 1.0


@njit(cache=True)
def _sum_some(words, rows, values, sums):
    """Sums over each bin of some rows; `values` are in the order of `rows`."""
    sums[:] = 0.0
    byte, last = np.uint32(255), np.uint32(24)
    one, two = np.uint32(8), np.uint32(16)
    for q in range(words.shape[0]):
        row = words[q]
        first, second, third, fourth = sums[4 * q], sums[4 * q + 1], sums[4 * q + 2], sums[4 * q + 3]
        for p in range(len(rows)):
            word, v = row[rows[p]], values[p]
            first[word & byte] += v
            second[(word >> one) & byte] += v
            third[(word >> two) & byte] += v
            fourth[word >> last] += v


@njit(cache=True)
def _best_edge(bins, signed):
    """Feature, bin and sign of the stump with the largest edge; it is total − 2 S or 2 S − total, S the sum left."""
    sums = np.empty(bins.counts.shape)
    _sum_all(bins.words, signed, sums)
    total, scale = 0.0, 0.0
    for i in range(len(signed)):
        total += signed[i]
        scale += abs(signed[i])
    best, feature, cut, sign = abs(total), -1, 0, 1 if total >= 0 else -1
    margin = 1e-14 * scale
    for j in range(len(bins.size)):
        row = sums[j]
        running, low, high, low_at, high_at = 0.0, 0.0, 0.0, -1, -1
        for b in range(bins.size[j] - 1):
            running += row[b]
            if running < low:
                low, low_at = running, b
            if running > high:
                high, high_at = running, b
        if low_at >= 0 and total - 2.0 * low > best + margin:
            best, feature, cut, sign = total - 2.0 * low, j, low_at, 1
        if high_at >= 0 and 2.0 * high - total > best + margin:
            best, feature, cut, sign = 2.0 * high - total, j, high_at, -1
    return feature, cut, sign


@njit(cache=True)
def _scan(bins, sums, mass, total, weight, least, floor):
    """(gain, feature, last bin on the left, next bin) of the best cut of a node; gain −1 if none is allowed.

    With S the sum of the targets on the left around the node's mean, the gain is S² W / (w (W − w)).
    """
    best, feature, cut, following = -1.0, -1, -1, -1
    mean = total / weight
    tiny = 0.0 if least >= 1.0 else 1e-13 * weight
    for j in range(len(bins.size)):
        s, m = sums[j], mass[j]
        running, w, before = 0.0, 0.0, -1
        for b in range(bins.size[j]):
            if m[b] <= tiny:
                running += s[b]
                continue
            rest = weight - w
            if before >= 0 and w >= least and rest >= least and rest > tiny:
                apart = running - w * mean
                gain = apart * apart * weight / (w * rest) if abs(apart) > floor else 0.0
                if gain > best * (1.0 + 1e-12):
                    best, feature, cut, following = gain, j, before, b
            running += s[b]
            w += m[b]
            before = b
    return best, feature, cut, following


@njit(cache=True)
def _differ(data, rows):
    """Whether the targets of some rows differ by more than rounding."""
    weight, mean, spread = moments(rows, data.target, data.weight)
    return spread > 1e-28 * (spread + weight * mean * mean)


@njit(cache=True)
def _children(data, pool, rows, middle, slot, gathered):
    """Histograms of both parts of a node in `slot`: the smaller part's is summed, the larger's is what is left.

    The larger part takes the node's own place in the pool, the smaller one the next.
    """
    words = data.bins.words
    small = rows[:middle] if 2 * middle <= len(rows) else rows[middle:]
    sums, mass = pool.sums[slot + 1], pool.mass[slot + 1]
    for p in range(len(small)):
        gathered[p] = data.scaled[small[p]]
    if data.even:
        _sum_counted(words, small, gathered[: len(small)], sums, mass)
    else:
        _sum_some(words, small, gathered[: len(small)], sums)
        for p in range(len(small)):
            gathered[p] = data.weight[small[p]]
        _sum_some(words, small, gathered[: len(small)], mass)
    for j in range(sums.shape[0]):
        for b in range(sums.shape[1]):
            pool.sums[slot, j, b] -= sums[j, b]
            pool.mass[slot, j, b] = max(pool.mass[slot, j, b] - mass[j, b], 0.0)


@njit(cache=True)
def _grow(data, limits, nodes, pool, room, place, leaf):
    """Depth first, so that no more histograms are alive than levels; of two children the smaller is grown first.

    Fills in the nodes, whose values are sums here, their places and the leaf of each row; returns how many nodes
    there are.
    """
    bins, total, weight = data.bins, nodes.value[:, 0], nodes.weight
    depth, least = limits
    _sum_all(bins.words, data.scaled, pool.sums[0])
    if data.even:
        pool.mass[0] = bins.counts
    else:
        _sum_all(bins.words, data.weight, pool.mass[0])
    total[0], weight[0] = pool.sums[0, 0].sum(), pool.mass[0, 0].sum()
    floor = _NOISE * np.abs(data.scaled).sum()
    open_nodes, slots = np.zeros(depth + 2, np.int64), np.zeros(depth + 2, np.int64)
    top, m = 1, 1
    while top > 0:
        top -= 1
        node, slot = open_nodes[top], slots[top]
        mine = room.rows[nodes.begin[node] : nodes.end[node]]
        gain, j, cut, following = -1.0, -1, -1, -1
        if nodes.depth[node] < depth and len(mine) >= 2 * least:
            gain, j, cut, following = _scan(
                bins, pool.sums[slot], pool.mass[slot], total[node], weight[node], least if data.even else 0.0, floor
            )
        if j < 0 or (gain == 0.0 and not _differ(data, mine)):
            leaf[mine] = place[node]
            continue
        nodes.feature[node] = j
        nodes.threshold[node] = cut_between(bins.upper[j, cut], bins.lower[j, following])
        middle = divide(mine, room.spare, bins.codes[j // 4, :, j % 4], cut)
        a, b = m, m + 1
        m += 2
        add_children(nodes, node, a, nodes.begin[node] + middle)
        place[a], place[b] = 2 * place[node] + 1, 2 * place[node] + 2
        # Before the pool is overwritten: the larger child takes the histogram of this node.
        total[a], weight[a] = pool.sums[slot, j, : cut + 1].sum(), pool.mass[slot, j, : cut + 1].sum()
        total[b], weight[b] = total[node] - total[a], weight[node] - weight[a]
        if nodes.depth[a] < depth:
            _children(data, pool, mine, middle, slot, room.gathered)
        # On top of the stack, so that a larger child waits in its slot while the smaller one uses those above.
        small, large = (a, b) if 2 * middle <= len(mine) else (b, a)
        open_nodes[top], slots[top] = large, slot
        open_nodes[top + 1], slots[top + 1] = small, slot + 1
        top += 2
    return m
