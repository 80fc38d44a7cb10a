"""The compiled half of CMIM: one score call, and three orders in which to make the calls (Fleuret 2004, Sec. 4).

All scores are whole numbers, n I(Y; X | Z) in the units of the engine's table of c log c, so that a copy of a chosen
column has exactly no score, columns that tie do tie, and the three orders give one and the same answer. A column is
stored in one of three ways (`kind`): packed bits, packed bits with weighted rows, or codes of any number of values.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from learnable._bits import count_both, popcount
from learnable.features.information import cell_weights

PACKED, WEIGHTED, CODED = 0, 1, 2
LARGEST = np.int64(1) << np.int64(62)
SCALE = 1024.0  # weighted counts are whole numbers up to 2^36, and so c log c times 2^10 has at most 52 bits


class Table(NamedTuple):
    """Columns and classes, ready to count. What a `kind` does not use is empty."""

    kind: int
    words: np.ndarray  # (N, W) packed columns
    codes: np.ndarray  # (N, T) codes of columns with more than two values
    n_states: np.ndarray  # (N,)
    class_words: np.ndarray  # (C, W)
    labels: np.ndarray  # (T,) codes of the classes
    sizes: np.ndarray  # (C,) weight of each class
    ones: np.ndarray  # (N, C) weight of the rows of each class in which the column is one
    weights: np.ndarray  # (T,) whole numbers
    lookup: np.ndarray  # (8 W, 256) weight of the rows that a byte names
    table: np.ndarray  # c log c for plain counts; empty for weighted ones


class Picks(NamedTuple):
    """What is remembered of each chosen column, so that a call has to read it only once."""

    words: np.ndarray  # (K, C, W): the column, then the column within classes 1, 2, ...
    ones: np.ndarray  # (K, C)
    codes: np.ndarray  # (K, T)
    pairs: np.ndarray  # (K, T) codes of the pair (class, column)
    terms: np.ndarray  # (K,): sum of c log c over the column minus that over the pair


@njit(cache=True)
def whole(c):
    """Give c log c of a weighted count as a whole number."""
    return np.int64(np.rint(c * np.log(c) * SCALE)) if c > 1 else np.int64(0)


@njit(cache=True)
def weighted_lookup(weights, n_words):
    """Weight of every byte at every place: eight rows are then added by one look."""
    lookup = np.zeros((8 * n_words, 256), dtype=np.int64)
    for place in range(8 * n_words):
        for byte in range(256):
            for bit in range(8):
                if byte >> bit & 1 and 8 * place + bit < len(weights):
                    lookup[place, byte] += weights[8 * place + bit]
    return lookup


@njit(cache=True)
def _weight_both(lookup, a, b):
    """Weight of the rows in which both bit sets have a one."""
    total = np.int64(0)
    for w in range(len(a)):
        both = a[w] & b[w]
        place = 8 * w
        while both:
            total += lookup[place, both & np.uint64(255)]
            both >>= np.uint64(8)
            place += 1
    return total


@njit(cache=True)
def count_classes(kind, words, class_words, lookup):
    """Weight of the rows of each class in which a column is one, for every column."""
    ones = np.zeros((len(words), len(class_words)), dtype=np.int64)
    for n in range(len(words)):
        for c in range(len(class_words)):
            if kind == WEIGHTED:
                ones[n, c] = _weight_both(lookup, words[n], class_words[c])
            else:
                ones[n, c] = count_both(words[n], class_words[c])
    return ones


@njit(cache=True)
def _term(data, c):
    if data.kind == WEIGHTED or len(data.table) == 0:
        return whole(c)
    return data.table[c]


@njit(cache=True)
def _cell_terms(data, column, n_states, reference, n_reference):
    """Sum of c log c over the cells of two coded variables; hashed where the cells would outnumber the rows."""
    n = len(column)
    total = np.int64(0)
    if n_states * n_reference <= 4 * n + 64:
        counts = np.zeros(n_states * n_reference, dtype=np.int64)
        for i in range(n):
            counts[column[i] * n_reference + reference[i]] += data.weights[i]
        for c in counts:
            total += _term(data, c)
        return total
    joint = column.astype(np.int64) * n_reference + reference
    for c in cell_weights(joint, data.weights):
        total += _term(data, c)
    return total


@njit(cache=True)
def _coded_information(data, picks, n, m):
    """`_information` of columns with any number of values."""
    states, chosen = data.n_states[n], picks.codes[m].max() + 1
    pairs = picks.pairs[m].max() + 1
    value = _cell_terms(data, data.codes[n], states, picks.pairs[m], pairs)
    value += picks.terms[m] - _cell_terms(data, data.codes[n], states, picks.codes[m], chosen)
    return value if value > 2 * min(states * pairs, len(data.labels)) + states + pairs else np.int64(0)


@njit(cache=True)
def _weighted_information(data, picks, n, m):
    """`_information` of packed columns with weighted rows."""
    n_classes = len(data.sizes)
    column, given = data.words[n], picks.words[m]
    both = _weight_both(data.lookup, column, given[0])
    rest, value = both, picks.terms[m]
    n_ones = n_given = n_rows = np.int64(0)
    for c in range(n_classes - 1, -1, -1):
        here = rest
        if c:
            here = _weight_both(data.lookup, column, given[c])
            rest -= here
        ones, one, size = data.ones[n, c], picks.ones[m, c], data.sizes[c]
        value += whole(here) + whole(ones - here) + whole(one - here) + whole(size - ones - one + here)
        n_ones, n_given, n_rows = n_ones + ones, n_given + one, n_rows + size
    value -= whole(both) + whole(n_ones - both) + whole(n_given - both) + whole(n_rows - n_ones - n_given + both)
    return value if value > 8 * n_classes else np.int64(0)


@njit(cache=True)
def _information(data, picks, n, m):
    """T I(Y; X_n | X_m) in units, m the place of a chosen column; what is rounding is zero.

    Of packed columns two ANDs and two counts for each word are enough with two classes: the other cells are
    differences.
    """
    if data.kind == CODED:
        return _coded_information(data, picks, n, m)
    if data.kind == WEIGHTED:
        return _weighted_information(data, picks, n, m)
    n_classes, table = len(data.sizes), data.table
    both, value = np.int64(0), picks.terms[m]
    for w in range(data.words.shape[1]):
        both += np.int64(popcount(data.words[n, w] & picks.words[m, 0, w]))
    rest, n_ones, n_given = both, np.int64(0), np.int64(0)
    for c in range(n_classes - 1, -1, -1):
        here = rest
        if c:
            here = np.int64(0)
            for w in range(data.words.shape[1]):
                here += np.int64(popcount(data.words[n, w] & picks.words[m, c, w]))
            rest -= here
        ones, one = data.ones[n, c], picks.ones[m, c]
        value += table[here] + table[ones - here] + table[one - here] + table[data.sizes[c] - ones - one + here]
        n_ones, n_given = n_ones + ones, n_given + one
    value -= table[both] + table[n_ones - both] + table[n_given - both]
    value -= table[len(data.labels) - n_ones - n_given + both]
    return value if value > 8 * n_classes else np.int64(0)


@njit(cache=True)
def start_scores(data):
    """T I(Y; X_n) in units for every column; what is rounding is zero."""
    n_columns, n_classes = len(data.n_states), len(data.sizes)
    scores = np.zeros(n_columns, dtype=np.int64)
    n_rows, prior = np.int64(0), np.int64(0)
    for size in data.sizes:
        n_rows += size
        prior += _term(data, size)
    nothing = np.zeros(len(data.labels), dtype=np.int64)
    for n in range(n_columns):
        value = _term(data, n_rows) - prior
        if data.kind == CODED:
            states = data.n_states[n]
            value += _cell_terms(data, data.codes[n], states, data.labels, n_classes)
            value -= _cell_terms(data, data.codes[n], states, nothing, 1)
            cells = states * n_classes + states
        else:
            n_ones = np.int64(0)
            for c in range(n_classes):
                n_ones += data.ones[n, c]
                value += _term(data, data.ones[n, c]) + _term(data, data.sizes[c] - data.ones[n, c])
            value -= _term(data, n_ones) + _term(data, n_rows - n_ones)
            cells = 4 * n_classes
        scores[n] = value if value > cells else 0
    return scores


@njit(cache=True)
def _remember(data, picks, m, n):
    """Store the chosen column n at place m of `picks`."""
    n_classes = len(data.sizes)
    term, pairs = np.int64(0), np.int64(0)
    if data.kind == CODED:
        nothing = np.zeros(len(data.labels), dtype=np.int64)
        place = np.full(data.n_states[n] * n_classes, -1, dtype=np.int64)
        for i in range(len(data.labels)):
            cell = data.codes[n, i] * n_classes + data.labels[i]
            if place[cell] < 0:
                place[cell] = pairs
                pairs += 1
            picks.codes[m, i] = data.codes[n, i]
            picks.pairs[m, i] = place[cell]
        term += _cell_terms(data, data.codes[n], data.n_states[n], nothing, 1)
        picks.terms[m] = term - _cell_terms(data, data.codes[n], data.n_states[n], data.labels, n_classes)
        return
    n_ones = n_rows = np.int64(0)
    picks.words[m, 0] = data.words[n]
    for c in range(n_classes):
        if c:
            picks.words[m, c] = data.words[n] & data.class_words[c]
        ones, size = data.ones[n, c], data.sizes[c]
        picks.ones[m, c] = ones
        term -= _term(data, ones) + _term(data, size - ones)
        n_ones, n_rows = n_ones + ones, n_rows + size
    picks.terms[m] = term + _term(data, n_ones) + _term(data, n_rows - n_ones)


@njit(cache=True)
def naive_order(data, picks, scores, k, marginal):
    """Algorithm 1: after each choice every score is brought up to date. Cost N (K - 1) calls."""
    n_columns = len(scores)
    order, values = np.empty(k, dtype=np.int64), np.empty(k, dtype=np.int64)
    calls = np.zeros(k, dtype=np.int64)
    seen = np.zeros(n_columns, dtype=np.int64)
    for step in range(k):
        best = 0
        for n in range(1, n_columns):
            if scores[n] > scores[best]:
                best = n
        if scores[best] < 0 or (scores[best] == 0 and (marginal or step > 0)):
            return order[:step], values[:step], calls[:step], seen
        order[step], values[step] = best, scores[best]
        if step == k - 1:
            break
        _remember(data, picks, step, best)
        if step == 0 and not marginal:
            scores[:] = LARGEST
        for n in range(n_columns):
            scores[n] = min(scores[n], _information(data, picks, n, step))
            seen[n] += 1
        calls[step + 1] = n_columns
        for m in range(step + 1):
            scores[order[m]] = -1
    return order, values, calls, seen


@njit(cache=True)
def scan_order(data, picks, scores, k, marginal):
    """Algorithm 2: pass over the candidates, bring a score up to date only while it beats the best found so far."""
    n_columns = len(scores)
    order, values = np.empty(k, dtype=np.int64), np.empty(k, dtype=np.int64)
    calls = np.zeros(k, dtype=np.int64)
    seen = np.zeros(n_columns, dtype=np.int64)
    for step in range(k):
        best, top = -1, np.int64(0) if marginal or step > 0 else np.int64(-1)
        for n in range(n_columns):
            while scores[n] > top and seen[n] < step:
                scores[n] = min(scores[n], _information(data, picks, n, seen[n]))
                seen[n] += 1
                calls[step] += 1
            if scores[n] > top:
                best, top = n, scores[n]
        if best < 0:
            return order[:step], values[:step], calls[:step], seen
        order[step], values[step] = best, top
        if step == k - 1:
            break
        _remember(data, picks, step, best)
        if step == 0 and not marginal:
            scores[:] = LARGEST
        scores[best] = -1
    return order, values, calls, seen


@njit(cache=True)
def _sink(heap, size, scores, at):
    """Let the candidate at a place of the heap sink to where it belongs: largest score first, then lowest index."""
    moved = heap[at]
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size:
            a, b = heap[child], heap[child + 1]
            if scores[b] > scores[a] or (scores[b] == scores[a] and b < a):
                child += 1
        other = heap[child]
        if scores[moved] > scores[other] or (scores[moved] == scores[other] and moved < other):
            break
        heap[at] = other
        at = child
    heap[at] = moved


@njit(cache=True)
def _heapify(heap, size, scores):
    for at in range(size // 2 - 1, -1, -1):
        _sink(heap, size, scores, at)


@njit(cache=True)
def heap_order(data, picks, scores, k, marginal):
    """The candidate with the largest partial score is always the next to be looked at: fewest calls."""
    n_columns = len(scores)
    order, values = np.empty(k, dtype=np.int64), np.empty(k, dtype=np.int64)
    calls = np.zeros(k, dtype=np.int64)
    seen = np.zeros(n_columns, dtype=np.int64)
    heap = np.arange(n_columns)
    if marginal:  # what carries no information is never chosen
        heap = heap[scores > 0]
    size, step = len(heap), 0
    _heapify(heap, size, scores)
    while step < k and size > 0:
        top = heap[0]
        if scores[top] <= 0 and (marginal or step > 0):
            break
        if seen[top] < step:
            scores[top] = min(scores[top], _information(data, picks, top, seen[top]))
            seen[top] += 1
            calls[step] += 1
            _sink(heap, size, scores, 0)
            continue
        order[step], values[step] = top, scores[top]
        size -= 1
        heap[0] = heap[size]
        if step < k - 1:
            _remember(data, picks, step, top)
        if step == 0 and not marginal:
            scores[:] = LARGEST
            _heapify(heap, size, scores)
        elif size:
            _sink(heap, size, scores, 0)
        step += 1
    return order[:step], values[:step], calls[:step], seen
