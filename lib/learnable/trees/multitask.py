"""Trees whose splits serve several classification tasks at once, from random candidates.

The rows belong to tasks with label sets of their own; the first task is the target. A node draws candidate splits, each
a projection and a threshold, and takes the one with the largest mixed gain

    (1 - gamma) I(target) + gamma sum_n p_n I(source n),   p_n the share of source n among the node's source rows.

Task and label of a row are one whole number, so that a candidate is scored by one pass over the rows of the node that
adds ones to a table of counts; the gains follow from a table of i log i. With one task and one feature for each
candidate this is the search of extremely randomised trees. The random numbers of a node depend on the seed of the tree
and on the path from the root alone, so that trees grown with other labels or weights see the same candidates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numba import njit

from learnable._inner import assign, inner
from learnable.trees._counter_random import bell, below, mix, uniform
from learnable.trees._nodes import add_children, divide, xlogx
from learnable.validation import check_choice, check_finite_array, check_magnitude, check_scalar, encode_labels

__all__ = ["TaskLabels", "TaskTree", "encode_tasks", "grow_multitask"]

_CHUNK = 256  # rows that are projected by one matrix product
_DEEPEST = 1000
_FEW = 8  # up to as many features a direction is projected by column


@dataclass(frozen=True, eq=False)
class TaskLabels:
    """Labels of several tasks as one number for each row; made by `encode_tasks`.

    Attributes
    ----------
    codes : ndarray of shape (n,)
        ``offsets[t] + c`` for class c of task t.
    offsets : ndarray of shape (n_tasks + 1,)
        Where the codes of a task begin; the last entry is the number of codes.
    tasks : ndarray of shape (n_tasks,)
        The names of the tasks, the target first, then the others in ascending order.
    classes : tuple of ndarray
        The labels of each task in the order of their codes.
    """

    codes: np.ndarray
    offsets: np.ndarray
    tasks: np.ndarray
    classes: tuple

    @property
    def n_classes(self):
        """Number of classes of the target task."""
        return int(self.offsets[1])


def encode_tasks(y, task=None, target=0):
    """Give every pair of a task and a label a whole number, the target's labels first. O(n log n).

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels; equal labels of different tasks have nothing to do with each other.
    task : array-like of shape (n,), optional
        The task of each row; by default all rows belong to the target.
    target : label, default=0
        Which of the tasks is the target.

    Returns
    -------
    TaskLabels

    Examples
    --------
    >>> labels = encode_tasks(["a", "b", "a", "c"], task=[0, 0, 1, 1])
    >>> labels.codes, labels.offsets
    (array([0, 1, 2, 3], dtype=int32), array([0, 2, 4]))
    """
    y = np.asarray(y)
    if task is None:
        classes, codes = encode_labels(y)
        return TaskLabels(codes.astype(np.int32), np.array([0, len(classes)]), np.array([target]), (classes,))
    names, which = encode_labels(task, name="task")
    if len(which) != len(y):
        raise ValueError(f"task must hold one number for each row: {len(y)}, got {len(which)}")
    found = np.flatnonzero(names == target)
    if len(found) == 0:
        raise ValueError(f"target is {target!r}, but task holds only {names.tolist()}")
    order = np.concatenate([found, np.delete(np.arange(len(names)), found[0])])
    codes, offsets, classes = np.empty(len(y), np.int32), [0], []
    for t in order:
        rows = which == t
        labels, code = encode_labels(y[rows])
        codes[rows] = offsets[-1] + code
        offsets.append(offsets[-1] + len(labels))
        classes.append(labels)
    return TaskLabels(codes, np.array(offsets), names[order], tuple(classes))


@dataclass(frozen=True, eq=False)
class TaskTree:
    """A tree for the target task; node 0 is the root, and a row goes left if its projection is below the threshold.

    Attributes
    ----------
    features, weights : ndarray of shape (m, q)
        The projection of a node: sum of ``weights[v, j] * x[features[v, j]]``; q is 1 for splits along an axis.
    threshold : ndarray of shape (m,)
    left, right : ndarray of shape (m,)
        Children, -1 for a leaf.
    counts : ndarray of shape (m, k)
        Target rows of each class in a node.
    n_rows : ndarray of shape (m,)
        Rows of all tasks in a node.
    depth : ndarray of shape (m,)
    gain : ndarray of shape (m,)
        Mixed gain of the split, 0 for a leaf.
    """

    features: np.ndarray
    weights: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    counts: np.ndarray
    n_rows: np.ndarray
    depth: np.ndarray
    gain: np.ndarray

    @property
    def leaves(self):
        """Numbers of the nodes that are leaves."""
        return np.flatnonzero(self.left < 0)

    def apply(self, X):
        """Return the number of the leaf of each row. O(depth q) for a row.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        X = np.ascontiguousarray(X, dtype=np.float64)
        return _apply(X, self.features, self.weights, self.threshold, self.left, self.right)


def grow_multitask(
    X,
    labels,
    *,
    gamma=0.25,
    max_depth=8,
    n_candidates=50,
    min_samples_split=2,
    split="axis",
    n_active=None,
    joint=False,
    task_weight=None,
    rows=None,
    seeds=(0,),
    n_jobs=None,
):
    """Grow trees by the mixed information gain (Goussies, Ubalde and Mejail 2014, (1)).

    A node becomes a leaf when every task is pure in it, at `max_depth`, or with fewer than `min_samples_split` rows
    of all tasks together. With gamma = 1 the target's labels play no part, in this rule either. Cost for a level:
    O(n n_candidates q), q the number of features in a projection.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The rows of all tasks.
    labels : TaskLabels
        From `encode_tasks`.
    gamma : float in [0, 1], default=0.25
        Weight of the source tasks. Without source tasks it has no effect.
    max_depth : int or None, default=8
    n_candidates : int, default=50
        Splits that a node tries. One that leaves a side empty does not count, up to three times as many.
    min_samples_split : int, default=2
    split : {"axis", "oblique"}, default="axis"
        "axis": a random feature, with a threshold uniform over its range in the node. "oblique": a direction with
        random weights, each over the standard deviation of its feature, with a threshold uniform between the
        projections of two random rows of the node.
    n_active : int, optional
        Number of features with a weight in an oblique split; all by default.
    joint : bool, default=False
        Score the sources as one task with all their labels, which also rewards splits that tell sources apart.
    task_weight : array-like of shape (n_tasks,), optional
        Factors of the sources' shares p_n, all 1 by default; the first entry, of the target, is not used.
    rows : sequence of arrays of int, optional
        For each tree the rows to grow it from, with repetitions for a bootstrap sample; all by default.
    seeds : sequence of int, default=(0,)
        One for each tree: its candidates follow from it.
    n_jobs : int, optional
        Threads.

    Returns
    -------
    list of TaskTree

    Examples
    --------
    >>> x = np.arange(8.0)[:, None]
    >>> (tree,) = grow_multitask(x, encode_tasks([0, 0, 0, 0, 1, 1, 1, 1]), n_candidates=20, max_depth=1)
    >>> tree.counts[tree.leaves].tolist()
    [[4.0, 0.0], [0.0, 4.0]]
    """
    X = check_magnitude(check_finite_array(X, "X", ndim=2), "X")
    n, d = X.shape
    if n == 0 or len(labels.codes) != n:
        raise ValueError(f"labels must hold one code for each of the {n} rows of X, got {len(labels.codes)}")
    rule = _rule(labels, gamma, max_depth, n_candidates, min_samples_split, joint, task_weight)
    check_choice(split, "split", ("axis", "oblique"))
    q = 1
    if split == "oblique":
        q = d if n_active is None else check_scalar(n_active, "n_active", low=1, high=d, integer=True)
    seeds = [check_scalar(seed, "seeds", low=0, high=2**63 - 1, integer=True) for seed in seeds]
    samples = [None] * len(seeds) if rows is None else [_checked_rows(part, n) for part in rows]
    if len(samples) != len(seeds):
        raise ValueError(f"rows must hold an array for each of the {len(seeds)} seeds, got {len(samples)}")
    dense = split == "oblique" and q == d and d > _FEW
    by_row = np.ascontiguousarray(X) if dense else np.zeros((1, 1))
    scale = np.ones(d) if split == "axis" else X.std(axis=0)
    scale[scale == 0.0] = 1.0
    data = _Data(_columns(X, dense), by_row, scale, labels.codes)
    kind = (q, split == "axis", dense)
    jobs = (delayed(_grown)(data, rule, part, kind, seed) for part, seed in zip(samples, seeds, strict=True))
    return Parallel(n_jobs=n_jobs, prefer="threads")(jobs)


def _checked_rows(rows, n):
    rows = np.asarray(rows)
    if rows.ndim != 1 or rows.dtype.kind not in "iu" or len(rows) == 0 or rows.min() < 0 or rows.max() >= n:
        raise ValueError(f"rows must be whole numbers from 0 to {n - 1}, and at least one for each tree")
    return rows.astype(np.uint32)


def _columns(X, dense):
    """A row for each feature, in single precision where that loses nothing; a dummy where rows are used."""
    if dense:
        return np.zeros((1, 1))
    with np.errstate(over="ignore"):
        short = np.ascontiguousarray(X.T, dtype=np.float32)
    return short if np.array_equal(short.T, X) else np.ascontiguousarray(X.T)


class _Data(NamedTuple):
    """The features by column (unused by dense directions) and by row, their spreads, and the code of each row."""

    columns: np.ndarray
    rows: np.ndarray
    scale: np.ndarray
    codes: np.ndarray


class _Rule(NamedTuple):
    gamma: float
    offsets: np.ndarray
    weight: np.ndarray
    joint: bool
    depth: int
    min_split: int
    n_candidates: int
    table: np.ndarray


class _Nodes(NamedTuple):
    features: np.ndarray
    weights: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    counts: np.ndarray
    n_rows: np.ndarray
    depth: np.ndarray
    gain: np.ndarray
    begin: np.ndarray
    end: np.ndarray


class _Room(NamedTuple):
    """Rows in the order of the leaves with their codes, projections, which go right, what is still to split, counts,
    a candidate.
    """

    order: np.ndarray
    codes: np.ndarray
    values: np.ndarray
    spare: np.ndarray
    goes_right: np.ndarray
    stack: np.ndarray
    seeds: np.ndarray
    total: np.ndarray
    below: np.ndarray
    features: np.ndarray
    weights: np.ndarray


def _rule(labels, gamma, max_depth, n_candidates, min_samples_split, joint, task_weight):
    n_tasks = len(labels.offsets) - 1
    gamma = check_scalar(gamma, "gamma", low=0, high=1)
    limit = _DEEPEST if max_depth is None else check_scalar(max_depth, "max_depth", low=0, integer=True)
    tries = check_scalar(n_candidates, "n_candidates", low=1, integer=True)
    least = check_scalar(min_samples_split, "min_samples_split", low=2, integer=True)
    weight = np.ones(n_tasks) if task_weight is None else check_finite_array(task_weight, "task_weight", ndim=1)
    if len(weight) != n_tasks or weight.min() < 0:
        raise ValueError(f"task_weight must hold a non-negative number for each of the {n_tasks} tasks")
    if joint and (weight[1:] != 1).any():
        raise ValueError("task_weight must be None where the sources are scored as one task")
    gamma = 0.0 if n_tasks == 1 else gamma
    return _Rule(
        gamma, labels.offsets, weight, bool(joint), min(limit, _DEEPEST), least, tries, xlogx(len(labels.codes))
    )


def _grown(data, rule, order, kind, seed):
    """Make room for the largest tree, grow, and keep what was used."""
    q = kind[0]
    order = np.arange(len(data.codes), dtype=np.uint32) if order is None else order.copy()
    n, k, n_codes = len(order), int(rule.offsets[1]), int(rule.offsets[-1])
    if n >= len(rule.table):
        rule = rule._replace(table=xlogx(n))
    m = min(2 * n - 1, 2 ** (min(rule.depth, 40) + 1) - 1)
    # Memory that is not written costs nothing, so that deep limits on many rows do no harm.
    nodes = _Nodes(
        np.zeros((m, q), np.int32),
        np.zeros((m, q)),
        np.zeros(m),
        np.full(m, -1, np.int32),
        np.full(m, -1, np.int32),
        np.zeros((m, k)),
        np.zeros(m, np.int64),
        np.zeros(m, np.int32),
        np.zeros(m),
        *np.zeros((2, m), np.int64),
    )
    nodes.end[0] = n
    tries = rule.n_candidates if kind[2] else 2
    room = _Room(
        order,
        data.codes[order].astype(np.uint32),
        np.empty(n),
        np.empty(n, np.uint32),
        np.empty(len(data.codes), np.bool_),
        np.zeros(rule.depth + 2, np.int64),
        np.zeros(rule.depth + 2, np.uint64),
        np.zeros(n_codes, np.int64),
        np.zeros((n_codes, tries), np.int64),
        np.zeros((tries, q), np.int32),
        np.zeros((tries, q)),
    )
    used = _grow(data, rule, nodes, room, kind[1], kind[2], np.uint64(seed))
    return TaskTree(*(part[:used].copy() for part in nodes[:9]))


@njit(cache=True, nogil=True)
def _grow(data, rule, nodes, room, axis, dense, seed):
    """Depth first; return the number of nodes."""
    state = np.zeros(1, np.uint64)
    room.stack[0], room.seeds[0] = 0, mix(seed)
    waiting, m = 1, 1
    while waiting > 0:
        waiting -= 1
        node, own = room.stack[waiting], room.seeds[waiting]
        lo, hi = nodes.begin[node], nodes.end[node]
        state[0] = own
        room.total[:] = 0
        for p in range(lo, hi):
            room.total[room.codes[p]] += 1
        nodes.n_rows[node] = hi - lo
        for c in range(rule.offsets[1]):
            nodes.counts[node, c] = room.total[c]
        if nodes.depth[node] >= rule.depth or hi - lo < rule.min_split or _pure(room.total, rule):
            continue
        if dense:
            found, gain, cut = _search_dense(data, rule, room, lo, hi, state)
        else:
            found, gain, cut = _search(data, rule, room, (lo, hi), axis, state)
        if found < 0:
            continue
        assign(nodes.features[node], room.features[found])
        assign(nodes.weights[node], room.weights[found])
        middle = _partition(data, room, lo, hi, (nodes.features[node], nodes.weights[node], cut), dense)
        # The search by matrix products adds in another order: a row on the cut may fall on the other side here.
        if middle == lo or middle == hi:
            continue
        nodes.threshold[node], nodes.gain[node] = cut, gain
        add_children(nodes, node, m, middle)
        # The right child first, so that the left one is grown first; each from a seed that its path determines.
        for side in range(2):
            room.stack[waiting], room.seeds[waiting] = m + 1 - side, mix(own + np.uint64(2 - side))
            waiting += 1
        m += 2
    return m


@inner
def _pure(total, rule):
    """Whether each task has one label at most; gamma = 1 does not look at the target."""
    first = 1 if rule.gamma == 1.0 else 0
    for t in range(first, len(rule.offsets) - 1):
        present = 0
        for c in range(rule.offsets[t], rule.offsets[t + 1]):
            present += total[c] > 0
        if present > 1:
            return False
    return True


@inner
def _mixed_gain(below, which, total, rule):
    """Mixed gain of a split from the counts below it: sums of i log i, since N H = N log N - sum c log c."""
    table, gain, saved, size = rule.table, 0.0, 0.0, 0.0
    union, union_below = 0, 0
    for t in range(len(rule.offsets) - 1):
        n, left, inside = 0, 0, 0.0
        for c in range(rule.offsets[t], rule.offsets[t + 1]):
            a, b = below[c, which], total[c]
            n += b
            left += a
            inside += table[a] + table[b - a] - table[b]
        # n times the gain of this task is n ln n − l ln l − r ln r + inside.
        if t == 0:
            if n > 0:
                gain = (1.0 - rule.gamma) * (table[n] - table[left] - table[n - left] + inside) / n
        elif rule.joint:
            union += n
            union_below += left
            saved += inside
        else:
            saved += rule.weight[t] * (table[n] - table[left] - table[n - left] + inside)
            size += rule.weight[t] * n
    if rule.joint:
        saved += table[union] - table[union_below] - table[union - union_below]
        size = float(union)
    if size > 0.0:
        gain += rule.gamma * saved / size
    return gain


@inner
def _search(data, rule, room, span, axis, state):
    """Try candidates one after the other; the best is kept in row 0 of the room, the one at work is in row 1."""
    lo, hi = span
    columns, q = data.columns, room.features.shape[1]
    d, values = columns.shape[0], room.values
    best, found, best_cut, done = -1.0, -1, 0.0, 0
    for _ in range(3 * rule.n_candidates):
        if done == rule.n_candidates:
            break
        for j in range(q):
            f = below(state, d)
            if q == d:
                f = j
            room.features[1, j] = f
            room.weights[1, j] = 1.0 if axis else bell(state) / data.scale[f]
        u, a, b = uniform(state), lo + below(state, hi - lo), lo + below(state, hi - lo)
        low, high = _project(columns, room, lo, hi)
        if low == high:
            continue
        if not axis and values[a] != values[b]:
            low, high = min(values[a], values[b]), max(values[a], values[b])
        cut = low + u * (high - low)
        if not low < cut <= high:
            cut = high
        room.below[:, :2] = 0
        for p in range(lo, hi - 1, 2):  # two tables, so that equal codes in a row do not wait for each other
            room.below[room.codes[p], 0] += values[p] < cut
            room.below[room.codes[p + 1], 1] += values[p + 1] < cut
        if (hi - lo) % 2:
            room.below[room.codes[hi - 1], 0] += values[hi - 1] < cut
        for c in range(len(room.total)):
            room.below[c, 0] += room.below[c, 1]
        done += 1
        gain = _mixed_gain(room.below, 0, room.total, rule)
        if gain > best + 1e-12:
            best, found, best_cut = gain, 0, cut
            assign(room.features[0], room.features[1])
            assign(room.weights[0], room.weights[1])
    return found, best, best_cut


@inner
def _project(columns, room, lo, hi):
    """Projections of the rows lo…hi by the candidate at work; return the smallest and the largest."""
    values, order = room.values, room.order
    low, high = np.inf, -np.inf
    column, w = columns[room.features[1, 0]], room.weights[1, 0]
    for p in range(lo, hi):
        v = w * column[order[p]]
        values[p] = v
        low, high = min(low, v), max(high, v)
    for j in range(1, room.features.shape[1]):
        column, w = columns[room.features[1, j]], room.weights[1, j]
        low, high = np.inf, -np.inf
        for p in range(lo, hi):
            v = values[p] + w * column[order[p]]
            values[p] = v
            low, high = min(low, v), max(high, v)
    return low, high


@inner
def _search_dense(data, rule, room, lo, hi, state):
    """All candidates at once: a matrix product for every few rows, counted as they come."""
    tries, d = room.weights.shape
    cuts, theta = np.empty(tries), room.weights
    for c in range(tries):
        for j in range(d):
            room.features[c, j] = j
            theta[c, j] = bell(state) / data.scale[j]
        a, b = room.order[lo + below(state, hi - lo)], room.order[lo + below(state, hi - lo)]
        first, second = 0.0, 0.0
        for j in range(d):
            first += theta[c, j] * data.rows[a, j]
            second += theta[c, j] * data.rows[b, j]
        low, high = min(first, second), max(first, second)
        cuts[c] = low + uniform(state) * (high - low)
    room.below[:] = 0
    turned = np.ascontiguousarray(theta.T)
    block = np.empty((min(_CHUNK, hi - lo), d))
    for start in range(lo, hi, _CHUNK):
        size = min(_CHUNK, hi - start)
        for p in range(size):
            assign(block[p], data.rows[room.order[start + p]])
        # One product for all candidates; in blocks, so that the projections of all rows are never held at once.
        projected = np.dot(block[:size], turned)
        for p in range(size):
            counts = room.below[room.codes[start + p]]
            for c in range(tries):
                counts[c] += projected[p, c] < cuts[c]
    best, found = -1.0, -1
    for c in range(tries):
        left = 0
        for code in range(len(room.total)):
            left += room.below[code, c]
        if 0 < left < hi - lo:
            gain = _mixed_gain(room.below, c, room.total, rule)
            if gain > best + 1e-12:
                best, found = gain, c
    return found, best, cuts[max(found, 0)]


@inner
def _partition(data, room, lo, hi, split, dense):
    """Part the rows of a node stably, as `_apply` would; return where the right side begins."""
    features, weights, cut = split
    order, codes = room.order, room.codes
    for p in range(lo, hi):
        i = order[p]
        value = 0.0
        if dense:
            for j in range(len(features)):
                value += weights[j] * data.rows[i, features[j]]
        else:
            for j in range(len(features)):
                value += weights[j] * data.columns[features[j], i]
        room.goes_right[i] = value >= cut
    middle = lo + divide(order[lo:hi], room.spare, room.goes_right, False)
    for p in range(lo, hi):
        codes[p] = data.codes[order[p]]
    return middle


@njit(cache=True, nogil=True)
def _apply(X, features, weights, threshold, left, right):
    """The leaf of each row: left where the projection is below the threshold, not at it."""
    out = np.empty(len(X), np.int64)
    q = features.shape[1]
    for i in range(len(X)):
        node = 0
        while left[node] >= 0:
            value = 0.0
            for j in range(q):
                value += weights[node, j] * X[i, features[node, j]]
            node = left[node] if value < threshold[node] else right[node]
        out[i] = node
    return out
