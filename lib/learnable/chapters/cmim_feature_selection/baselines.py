"""What CMIM is compared with: other ways to choose columns (Fleuret 2004, Sec. 2.5).

Random columns; the most informative ones (MIM); a correlation-based filter that drops what resembles a better column
(FCBF); columns at the top of decision trees (C4.5); the columns that boosting uses; and two younger criteria, minimal
redundancy (mRMR) and joint mutual information (JMI).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from learnable._bits import count_both, popcount
from learnable.chapters.cmim_feature_selection.boosting import boosted_columns
from learnable.features.cmim_selection.selection import cmim
from learnable.features.information import CodedColumns, code_columns
from learnable.validation import check_choice, check_rng, check_scalar


def filter_features(X, y, k, *, method="mim", random_state=None):
    """Choose k columns by one of the filters that CMIM is compared with (Fleuret 2004, Sec. 2.5)."""
    method = check_choice(method, "method", ("mim", "cmim", "fcbf", "trees", "adaboost", "mrmr", "jmi", "random"))
    k = check_scalar(k, "k", low=1, integer=True)
    rng = check_rng(random_state)
    columns = X if isinstance(X, CodedColumns) else code_columns(X)
    target = columns.reference(y)
    k = min(k, columns.n_features)
    if method == "random":
        return rng.permutation(columns.n_features)[:k]
    if method == "cmim":
        return cmim(columns, y, k).order
    if method in ("trees", "adaboost"):
        if columns.words is None or target.n_states != 2:
            raise ValueError(f'method: "{method}" needs columns of two values and two classes')
        if method == "adaboost":
            return _distinct(boosted_columns(columns.words, target.codes, k)[0])
        return _tree_columns(columns, target, k, rng)
    if method == "mim":
        return np.argsort(-columns.mutual_information(target), kind="stable")[:k]
    return _fcbf(columns, target, k) if method == "fcbf" else _stepwise(columns, target, k, method)


def _distinct(order):
    return order[np.sort(np.unique(order, return_index=True)[1])]


def _fcbf(columns, target, k):
    """Keep in falling order of I(Y; X); the threshold that leaves k columns cuts this list after k."""
    relevance = columns.mutual_information(target)
    alive = np.argsort(-relevance, kind="stable")
    alive = alive[relevance[alive] > 0]
    kept = []
    while len(alive) and len(kept) < k:
        kept.append(alive[0])
        alive = alive[1:]
        alive = alive[columns.mutual_information(columns.column(int(kept[-1])), alive) < relevance[alive]]
    return np.array(kept, dtype=np.int64)


def _stepwise(columns, target, k, method):
    relevance = columns.mutual_information(target)
    collected = np.zeros(columns.n_features)
    score, order = relevance.copy(), []
    for step in range(1, k + 1):
        score[order] = -np.inf
        order.append(int(np.argmax(score)))
        last = columns.column(order[-1])
        if method == "jmi":
            collected += columns.conditional_information(target, last)
            score = collected.copy()
        else:
            collected += columns.mutual_information(last)
            score = relevance - collected / step
    return np.array(order, dtype=np.int64)


def _tree_columns(columns, target, k, rng, *, n_trees=50, depth=5):
    """Columns by how often they split a node in the first layers of trees grown from half of the columns each."""
    votes = np.zeros(columns.n_features, dtype=np.int64)
    half = max(1, columns.n_features // 2)
    for _ in range(n_trees):
        allowed = np.sort(rng.permutation(columns.n_features)[:half])
        _grow(columns.words, target.words, allowed, columns.table, depth, votes)
    ranked = np.argsort(-votes, kind="stable")
    return ranked[votes[ranked] > 0][:k]


@njit(cache=True)
def _grow(words, classes, allowed, table, depth, votes):
    """Grow one tree breadth first; a node is the bit set of its rows. Adds to `votes`."""
    nodes = np.zeros((2**depth, words.shape[1]), dtype=np.uint64)
    nodes[1] = classes[0] | classes[1]
    for at in range(1, 2**depth):
        best = _best_split(words, classes[1] & nodes[at], nodes[at], allowed, table)
        if best < 0:
            continue
        votes[best] += 1
        if 2 * at + 1 < 2**depth:
            for w in range(words.shape[1]):
                inside = nodes[at, w] & words[best, w]
                nodes[2 * at, w] = inside
                nodes[2 * at + 1, w] = nodes[at, w] ^ inside


@njit(cache=True)
def _best_split(words, positives, node, allowed, table):
    """The first column with the largest gain; -1 if nothing is gained."""
    size, positive = count_both(node, node), count_both(positives, positives)
    if positive == 0 or positive == size:
        return -1
    before = table[size] - table[positive] - table[size - positive]
    best, most = -1, np.int64(8)  # eight units of the table are rounding
    for a in range(len(allowed)):
        ones = both = np.int64(0)
        for w in range(len(node)):
            ones += np.int64(popcount(words[allowed[a], w] & node[w]))
            both += np.int64(popcount(words[allowed[a], w] & positives[w]))
        gain = table[both] + table[ones - both] + table[positive - both]
        gain += table[size - positive - ones + both] - table[ones] - table[size - ones] + before
        if gain > most:
            best, most = allowed[a], gain
    return best
