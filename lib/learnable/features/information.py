"""Entropy, mutual and conditional information, symmetrical uncertainty of discrete columns, from one counting engine.

Everything here is a sum of c log c over the cells of a table of counts: with T(c) = c log c,

    n H(X)       = T(n) - sum_x T(c_x)
    n I(X; Y)    = sum_xy T(c_xy) - sum_x T(c_x) - sum_y T(c_y) + T(n)
    n I(X; Y|Z)  = sum_xyz T(c_xyz) - sum_xz T(c_xz) - sum_yz T(c_yz) + sum_z T(c_z)

so the engine needs one operation, `CodedColumns.joint_terms`: the sum of T over the cells that a column forms with a
reference. T is kept as a table of *whole numbers*, c log c in units of a power of two. Sums of whole numbers do not
depend on their order: columns that are copies, complements or relabellings of each other get exactly equal values, a
column carries exactly no information about anything given a copy of itself, and ties are ties. One unit is a relative
error of 2^-52 in T(n), as good as floating point; what is not larger than one unit for each cell counts as zero.

Columns of two values are packed into words of 64 rows and counted by the processor's instruction for it; other columns
are counted cell by cell, or hashed where the table of cells would be much larger than the number of rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numba import njit

from learnable._bits import count_both, pack_bits
from learnable.validation import check_scalar, encode_labels

__all__ = [
    "code_columns",
    "conditional_entropy",
    "conditional_mutual_information",
    "entropy",
    "mutual_information",
    "symmetrical_uncertainty",
    "whole_xlogx",
]

LARGEST_RANGE = 1 << 16


class Reference(NamedTuple):
    """A discrete variable that columns are compared with.

    `codes` has one state for each row, `n_states` is their number, `words` one packed bit set for each state (None
    if no column of the table is packed), `term` the sum of T over its states, in units.
    """

    codes: np.ndarray
    n_states: int
    words: np.ndarray | None
    term: int


def whole_xlogx(n):
    """c log c for c = 0..n as whole numbers, and the unit, a power of two. Cost O(n).

    Parameters
    ----------
    n : int
        The largest count.

    Returns
    -------
    table : ndarray of int64 of shape (n + 1,)
        c log c (natural logarithm) divided by the unit and rounded; table[n] has at most 52 bits.
    unit : float
        The power of two.

    Examples
    --------
    >>> table, unit = whole_xlogx(8)
    >>> round(float(table[8] * unit), 6), round(float(8 * np.log(8)), 6)
    (16.635532, 16.635532)
    >>> int(table[0]), int(table[1])
    (0, 0)
    """
    n = check_scalar(n, "n", low=0, integer=True)
    c = np.arange(n + 1, dtype=float)
    exact = c * np.log(np.maximum(c, 1))
    unit = math.ldexp(1.0, math.ceil(math.log2(max(exact[-1], 1.0))) - 52)
    return np.rint(exact / unit).astype(np.int64), unit


@dataclass(frozen=True, eq=False)
class CodedColumns:
    """Discrete columns in the form in which they are counted fastest. Made by `code_columns`.

    Attributes
    ----------
    n_samples : int
        Rows of the table.
    n_states : ndarray of int64 of shape (n_features,)
        Number of values that occur in each column.
    words : ndarray of uint64 of shape (n_features, n_words) or None
        Packed columns, if none has more than two values; the bit is one for the larger (or later) value.
    table : ndarray of int64 of shape (n_samples + 1,)
        c log c in units.
    unit : float
        The unit of `table`, so that ``table * unit / n_samples`` is in nats.

    Examples
    --------
    >>> columns = code_columns([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> columns.mutual_information(columns.reference([0, 0, 1, 1])).round(3)
    array([0.693, 0.   ])
    >>> columns.symmetrical_uncertainty(columns.column(1))
    array([0., 1.])
    """

    n_samples: int
    n_states: np.ndarray
    words: np.ndarray | None
    table: np.ndarray
    unit: float
    _codes: np.ndarray | None

    @property
    def n_features(self):
        """Number of columns."""
        return len(self.n_states)

    @cached_property
    def codes(self):
        """Codes 0, 1, ... of the values, one row for each column; the smallest dtype that holds them."""
        if self._codes is not None:
            return self._codes
        bits = np.unpackbits(self.words.view(np.uint8), axis=1, count=self.n_samples, bitorder="little")
        return np.ascontiguousarray(bits)

    @cached_property
    def terms(self):
        """Sum of c log c over the values of each column, in units."""
        if self.words is not None:
            ones = np.bitwise_count(self.words).sum(axis=1, dtype=np.int64)
            return self.table[ones] + self.table[self.n_samples - ones]
        return _own_terms(self.codes, self.n_states, self.table)

    def entropies(self):
        """Entropy H of each column in nats. Cost O(n) for each column once."""
        return self._nats(self.table[self.n_samples] - self.terms)

    def reference(self, y):
        """A variable with one value for each row, ready to compare columns with: class labels, or any codes.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Values of any kind that `numpy.unique` sorts.

        Returns
        -------
        Reference
            Its codes, number of states, packed states and term.
        """
        values, codes = encode_labels(y)
        if len(codes) != self.n_samples:
            raise ValueError(f"y: {len(codes)} values for {self.n_samples} rows")
        return self._reference(codes.astype(np.int64), len(values))

    def column(self, index):
        """One of the columns as a reference. Parameter `index`: its place. Returns a `Reference`."""
        index = check_scalar(index, "index", low=0, high=self.n_features - 1, integer=True)
        if self.words is None or self.n_states[index] < 2:
            return self._reference(self.codes[index].astype(np.int64), int(self.n_states[index]))
        ones = self.words[index]
        words = np.stack([_complement(ones, self.n_samples), ones])
        bits = np.unpackbits(ones.view(np.uint8), count=self.n_samples, bitorder="little")
        return Reference(bits.astype(np.int64), 2, words, int(self.terms[index]))

    def both(self, first, second):
        """The pair of two references as one reference, with the combinations that occur as its states."""
        joint = first.codes * second.n_states + second.codes
        values, codes = np.unique(joint, return_inverse=True)
        return self._reference(codes, len(values))

    def joint_terms(self, reference, columns=None):
        """Sum of c log c over the cells that each column forms with a reference, in units.

        Parameters
        ----------
        reference : Reference
            From `reference`, `column` or `both`.
        columns : array-like of int, optional
            Which columns; all by default.

        Returns
        -------
        ndarray of int64
            One sum for each of the columns. Cost O(n / 64) for each packed column and state of the reference, O(n)
            for others.
        """
        columns = self._columns(columns)
        if self.words is not None:
            sizes = np.bincount(reference.codes, minlength=reference.n_states)
            return _packed_terms(self.words, columns, reference.words, sizes, self.table)
        return _coded_terms(self.codes, self.n_states, columns, reference.codes, reference.n_states, self.table)

    def mutual_information(self, reference, columns=None):
        """I(X_j; Y) in nats for each column j, Y the reference. Parameters and cost as for `joint_terms`."""
        columns = self._columns(columns)
        value = self.joint_terms(reference, columns) - self.terms[columns] - reference.term
        return self._nats(value + self.table[self.n_samples], self._cells(reference.n_states, columns))

    def conditional_information(self, target, given, columns=None):
        """I(X_j; target | given) in nats for each column j. Parameters and cost as for `joint_terms`, for a pair."""
        columns = self._columns(columns)
        pair = self.both(target, given)
        value = self.joint_terms(pair, columns) - self.joint_terms(given, columns) - pair.term + given.term
        return self._nats(value, self._cells(pair.n_states, columns))

    def symmetrical_uncertainty(self, reference, columns=None):
        """2 I(X_j; Y) / (H(X_j) + H(Y)) in [0, 1] for each column j; 0 where both are constant."""
        columns = self._columns(columns)
        information = self.mutual_information(reference, columns)
        whole = self.entropies()[columns] + self._nats(self.table[self.n_samples] - reference.term)
        return np.divide(2 * information, whole, out=np.zeros(len(columns)), where=whole > 0)

    def _reference(self, codes, n_states):
        words = None
        if self.words is not None:
            words = pack_bits(codes[None, :] == np.arange(n_states)[:, None])
        term = int(self.table[np.bincount(codes, minlength=n_states)].sum())
        return Reference(codes, n_states, words, term)

    def _columns(self, columns):
        if columns is None:
            return np.arange(self.n_features)
        columns = np.asarray(columns)
        if columns.size == 0:
            return np.empty(0, dtype=np.int64)
        if columns.ndim != 1 or columns.dtype.kind not in "iu":
            raise ValueError(f"columns: a list of places is expected, not {columns.dtype} in {columns.ndim} dimensions")
        if columns.min() < 0 or columns.max() >= self.n_features:
            raise ValueError(f"columns: places lie between 0 and {self.n_features - 1}")
        return columns.astype(np.int64)

    def _cells(self, n_states, columns):
        return np.minimum(self.n_states[columns] * n_states, self.n_samples) + self.n_states[columns] + n_states

    def _nats(self, value, smallest=0):
        """Units to nats for each row; what is not above `smallest` units is rounding."""
        return np.where(value > smallest, value * self.unit / self.n_samples, 0.0)


def code_columns(X):
    """Code the values of each column, and pack the columns if none has more than two.

    A missing value (NaN, None) is a value of its own: that it is missing may be informative.

    Parameters
    ----------
    X : array-like or DataFrame of shape (n_samples, n_features)
        Discrete values of any kind: booleans, numbers, strings. Every distinct value is a level, so continuous columns
        belong through `MDLDiscretizer` first.

    Returns
    -------
    CodedColumns
        The engine that counts. Cost O(n) for each column of whole numbers, O(n log n) for others.

    Examples
    --------
    >>> columns = code_columns(np.array([["a", "x"], ["b", "x"], ["c", "y"]]))
    >>> columns.n_states
    array([3, 2])
    """
    if hasattr(X, "iloc"):
        if not all(isinstance(dtype, np.dtype) and dtype.kind in "biuf" for dtype in X.dtypes):
            return assemble([_codes_of(X.iloc[:, j]) for j in range(X.shape[1])], len(X))
        X = X.to_numpy()
    X = np.asarray(X)
    if X.ndim != 2 or 0 in X.shape:
        raise ValueError(f"X: a table with rows and columns is expected, not an array of shape {X.shape}")
    if X.dtype.kind not in "biuf":
        return assemble([_codes_of(column) for column in X.T], len(X))
    table, unit = whole_xlogx(len(X))
    X = X.view(np.uint8) if X.dtype == bool else X
    if X.dtype.kind == "f" and X.dtype.itemsize not in (4, 8):  # compiled code has no halves and no long doubles
        X = X.astype(np.float64)
    first, second, n_states = _two_values(np.ascontiguousarray(X))
    if (n_states <= 2).all():
        larger = np.where(n_states == 2, np.maximum(first, second), first)
        words = _pack_rows(np.ascontiguousarray(X), larger, n_states == 2)
        return CodedColumns(len(X), n_states, np.ascontiguousarray(words.T), table, unit, None)
    return assemble([_codes_of(column) for column in X.T], len(X))


def entropy(x, *, base=None):
    """Entropy of the observed frequencies of a discrete sample, H = -sum p log p.

    Parameters
    ----------
    x : array-like of shape (n,)
        Values of any kind.
    base : float, optional
        Base of the logarithm; natural by default.

    Returns
    -------
    float
        The plug-in estimate, which is too small for few samples.

    Examples
    --------
    >>> round(entropy([0, 1, 1, 0, 0, 0, 1, 1], base=2), 6)
    1.0
    """
    columns = _from_vectors(x=x)
    return float(columns.entropies()[0] / _logarithm(base))


def mutual_information(x, y, *, base=None):
    """Information that two discrete samples carry about each other, I(X; Y) = H(X) + H(Y) - H(X, Y).

    Parameters
    ----------
    x, y : array-like of shape (n,)
        Values of any kind, in pairs.
    base : float, optional
        Base of the logarithm; natural by default.

    Returns
    -------
    float
        The plug-in estimate, exactly 0 for independent counts, and the same with x and y exchanged.

    Examples
    --------
    >>> round(mutual_information(["a", "a", "b", "b"], [1, 1, 0, 0], base=2), 6)
    1.0
    """
    columns = _from_vectors(x=x, y=y)
    return float(columns.mutual_information(columns.column(1), [0])[0] / _logarithm(base))


def conditional_entropy(x, given, *, base=None):
    """What remains uncertain about x when another discrete variable is known, H(X | Z) = H(X) - I(X; Z).

    Parameters
    ----------
    x, given : array-like of shape (n,)
        Values of any kind, in pairs.
    base : float, optional
        Base of the logarithm; natural by default.

    Returns
    -------
    float
        Between 0 (x is a function of `given`) and H(X).

    Examples
    --------
    >>> round(conditional_entropy([0, 0, 1, 1], [0, 0, 0, 1], base=2), 4)
    0.6887
    """
    columns = _from_vectors(x=x, given=given)
    own, about = columns.entropies()[0], columns.mutual_information(columns.column(1), [0])[0]
    return float(max(own - about, 0.0) / _logarithm(base))


def conditional_mutual_information(x, y, given, *, base=None):
    """Information between x and y when a third variable is known, I(X; Y | Z) = I(X; Y, Z) - I(X; Z).

    Parameters
    ----------
    x, y, given : array-like of shape (n,)
        Values of any kind.
    base : float, optional
        Base of the logarithm; natural by default.

    Returns
    -------
    float
        The plug-in estimate; exactly 0 if x is a copy or a relabelling of `given`.

    Examples
    --------
    >>> a, b = [0, 0, 1, 1], [0, 1, 0, 1]
    >>> round(conditional_mutual_information(a, [0, 1, 1, 0], b, base=2), 6)
    1.0
    """
    columns = _from_vectors(x=x, y=y, given=given)
    value = columns.conditional_information(columns.column(1), columns.column(2), [0])
    return float(value[0] / _logarithm(base))


def symmetrical_uncertainty(x, y):
    """Information in common as a share of what there is, SU = 2 I(X; Y) / (H(X) + H(Y)).

    Parameters
    ----------
    x, y : array-like of shape (n,)
        Values of any kind, in pairs.

    Returns
    -------
    float
        In [0, 1]: 1 if and only if each is a relabelling of the other (and not constant), 0 for independent counts
        and when both are constant.

    Examples
    --------
    >>> symmetrical_uncertainty([0, 0, 1, 1], ["b", "b", "a", "a"])
    1.0
    """
    columns = _from_vectors(x=x, y=y)
    return float(columns.symmetrical_uncertainty(columns.column(1), [0])[0])


def _logarithm(base):
    return 1.0 if base is None else math.log(check_scalar(base, "base", low=1, closed="neither"))


def _from_vectors(**vectors):
    coded = []
    for name, values in vectors.items():
        array = values if hasattr(values, "iloc") else np.asarray(values)
        if array.ndim != 1 or len(array) == 0:
            raise ValueError(f"{name}: one value for each row is expected, not an array of shape {array.shape}")
        coded.append(_codes_of(array))
        if len(coded[0]) != len(coded[-1]):
            raise ValueError(f"{name}: {len(coded[-1])} values, but {next(iter(vectors))} has {len(coded[0])}")
    return assemble(coded, len(coded[0]))


def _codes_of(column):
    """Codes 0, 1, ... of one column of any kind, without gaps, in the order of the values where they have one."""
    if hasattr(column, "iloc"):
        if column.dtype.kind not in "biuf" or not isinstance(column.dtype, np.dtype):
            return column.factorize(use_na_sentinel=False)[0]
        column = column.to_numpy()
    if column.dtype.kind == "O":
        places = {}
        values = (None if isinstance(value, float) and value != value else value for value in column)
        return np.array([places.setdefault(value, len(places)) for value in values])
    if column.dtype.kind in "biu" and len(column):
        low, high = int(column.min()), int(column.max())
        if high - low < LARGEST_RANGE:
            shifted = (column.astype(np.int64) if column.dtype.kind != "u" else column) - column.dtype.type(low)
            present = np.bincount(shifted.astype(np.int64), minlength=high - low + 1) > 0
            return (np.cumsum(present) - 1)[shifted.astype(np.int64)]
    if column.dtype.kind == "c":
        raise ValueError("X: complex values are not accepted")
    return np.unique(column, return_inverse=True)[1]


def assemble(coded, n):
    """`CodedColumns` of given codes 0, 1, ... without gaps, one array of n codes for each column."""
    n_states = np.array([codes.max() + 1 for codes in coded], dtype=np.int64)
    table, unit = whole_xlogx(n)
    if (n_states <= 2).all():
        return CodedColumns(n, n_states, pack_bits(np.array(coded)), table, unit, None)
    dtype = np.uint8 if n_states.max() <= 256 else np.int32
    return CodedColumns(n, n_states, None, table, unit, np.array(coded, dtype=dtype))


def _complement(ones, n):
    rest = ~ones
    if n % 64:
        rest[n // 64] &= np.uint64((1 << n % 64) - 1)
    return rest


@njit(cache=True)
def _two_values(X):
    """The first value of each column, a second one, and 1, 2 or 3 for one, two or more distinct values."""
    n, d = X.shape
    first, second = X[0].copy(), X[0].copy()
    n_states = np.ones(d, dtype=np.int64)
    for i in range(1, n):
        many = 0
        for j in range(d):
            v = X[i, j]
            if v != first[j] and v != second[j]:
                if n_states[j] == 1 and v == v and first[j] == first[j]:
                    second[j] = v
                    n_states[j] = 2
                elif v == v or first[j] == first[j]:
                    n_states[j] = 3
            many += n_states[j] == 3
        if many == d:
            break
    return first, second, n_states


@njit(cache=True)
def _pack_rows(X, larger, varies):
    """Words of 64 rows, transposed (n_words, d): rows are read in the order in which they lie."""
    n, d = X.shape
    words = np.zeros((max(1, (n + 63) // 64), d), dtype=np.uint64)
    for i in range(n):
        shift = np.uint64(i % 64)
        row = words[i // 64]
        for j in range(d):
            row[j] |= np.uint64(X[i, j] == larger[j] and varies[j]) << shift
    return words


@njit(cache=True)
def _packed_terms(words, columns, states, sizes, table):
    """Sums of T over the cells of packed columns with the states of a reference."""
    out = np.zeros(len(columns), dtype=np.int64)
    for a in range(len(columns)):
        ones = words[columns[a]]
        total = np.int64(0)
        for s in range(len(states)):
            here = count_both(ones, states[s])
            total += table[here] + table[sizes[s] - here]
        out[a] = total
    return out


@njit(cache=True)
def _own_terms(codes, n_states, table):
    d, n = codes.shape
    out = np.zeros(d, dtype=np.int64)
    for j in range(d):
        counts = np.zeros(n_states[j], dtype=np.int64)
        for i in range(n):
            counts[codes[j, i]] += 1
        for c in counts:
            out[j] += table[c]
    return out


@njit(cache=True)
def cell_weights(cells, weights):
    """Sums of the weights of rows with equal cells (whole numbers from 0), in no order and with zeros between."""
    size = 2
    while size < 2 * len(cells):
        size *= 2
    held, sums = np.full(size, -1, dtype=np.int64), np.zeros(size, dtype=np.int64)
    for i in range(len(cells)):
        at = (cells[i] * np.int64(6364136223846793005) >> np.int64(32)) & np.int64(size - 1)
        while held[at] != -1 and held[at] != cells[i]:
            at = (at + 1) & np.int64(size - 1)
        held[at] = cells[i]
        sums[at] += weights[i]
    return sums


@njit(cache=True)
def _coded_terms(codes, n_states, columns, reference, n_reference, table):
    """Sums of T over the cells of coded columns with a reference; cells are counted, or hashed if they are too many."""
    n = codes.shape[1]
    out = np.zeros(len(columns), dtype=np.int64)
    size = 0
    for j in columns:
        if n_states[j] * n_reference <= 4 * n + 64:
            size = max(size, n_states[j] * n_reference)
    counts = np.zeros(size, dtype=np.int64)
    joint, ones = np.empty(n, dtype=np.int64), np.ones(n, dtype=np.int64)
    for a in range(len(columns)):
        column = codes[columns[a]]
        cells = n_states[columns[a]] * n_reference
        total = np.int64(0)
        if cells <= 4 * n + 64:
            counts[:cells] = 0
            for i in range(n):
                counts[column[i] * n_reference + reference[i]] += 1
            for c in range(cells):
                total += table[counts[c]]
        else:
            for i in range(n):
                joint[i] = np.int64(column[i]) * n_reference + reference[i]
            for c in cell_weights(joint, ones):
                total += table[c]
        out[a] = total
    return out
