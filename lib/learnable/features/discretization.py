"""Continuous columns into intervals by class entropy and a minimum description length (Fayyad and Irani 1993).

A column is cut where the classes of the two sides are least mixed, and each side is cut again, as long as the gain pays
for describing the cut: with n rows and k classes in the interval, and k1, k2 classes and entropies H1, H2 (in bits) on
the two sides,

    n gain > log2(n - 1) + log2(3^k - 2) - [k H - k1 H1 - k2 H2].

Only boundaries between classes can be best, so only they are tried.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from learnable._inner import assign
from learnable.features.information import assemble, code_columns, whole_xlogx
from learnable.validation import encode_labels

__all__ = ["MDLDiscretizer", "code_for_classes"]

# With fewer rows than this for each level a table of counts says more about chance than about the classes: a column
# of distinct numbers names the row, and so "explains" any labels. Few levels are levels in however small a table.
ROWS_PER_LEVEL = 5
FEW_LEVELS = 10


class MDLDiscretizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Cut every column into intervals that tell the classes apart; a column without a cut becomes constant.

    The cuts use the class labels: inside a cross-validation the discretiser belongs into the pipeline, or the test
    rows have helped to choose the intervals.

    Attributes
    ----------
    cuts_ : list of ndarray
        Cuts of each column in increasing order.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Their names, if X was a frame.

    Notes
    -----
    Fayyad and Irani 1993. Cost O(n log n + n k) for each column and level of cuts; `transform` O(n log m) for m cuts.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> mdl = MDLDiscretizer().fit(X, y)
    >>> [len(cuts) for cuts in mdl.cuts_]
    [2, 2, 2, 2]
    >>> mdl.transform(X[:2])
    array([[0, 2, 0, 0],
           [0, 1, 0, 0]])
    """

    def fit(self, X, y):
        """Find the cuts of each column.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Finite numbers.
        y : array-like of shape (n,)
            Class labels.

        Returns
        -------
        self
            The fitted discretiser.
        """
        X, y = validate_data(self, X, y, dtype=np.float64)
        values, codes = encode_labels(y)
        table, unit = whole_xlogx(len(X))
        codes = codes.astype(np.int64)
        self.cuts_ = [_column_cuts(np.ascontiguousarray(x), codes, len(values), table, unit) for x in X.T]
        return self

    def transform(self, X):
        """Interval of each value, counted from 0.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Finite numbers.

        Returns
        -------
        ndarray of int64 of shape (n, d)
            Codes 0 to the number of cuts. A value equal to a cut belongs to the interval above it.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.stack([np.searchsorted(c, x, side="right") for c, x in zip(self.cuts_, X.T, strict=True)], axis=1)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def code_for_classes(X, y):
    """Code columns as `code_columns` does, but cut numbers that are continuous as `MDLDiscretizer` does.

    A column of numbers is continuous if it has more than ten distinct values, and fewer than five rows for each of
    them. Where it has no value (NaN), it keeps a level of its own.

    Parameters
    ----------
    X : array-like or DataFrame of shape (n, d)
        Columns of any kind.
    y : array-like of shape (n,)
        Class labels.

    Returns
    -------
    CodedColumns
        The engine that counts. Cost O(n log n) for each continuous column.

    Examples
    --------
    >>> x = np.arange(100.0)
    >>> code_for_classes(np.stack([x, x % 7], axis=1), x > 30).n_states
    array([2, 7])
    """
    columns = code_columns(X)
    many = columns.n_states > max(FEW_LEVELS, columns.n_samples / ROWS_PER_LEVEL)
    numbers = [j for j in np.flatnonzero(many) if _is_numeric(X, j)]
    if not numbers:
        return columns
    values, codes = encode_labels(y)
    if len(codes) != columns.n_samples:
        raise ValueError(f"y: {len(codes)} labels for {columns.n_samples} rows")
    coded = list(columns.codes)
    for j in numbers:
        x = np.asarray(X.iloc[:, j] if hasattr(X, "iloc") else np.asarray(X)[:, j], dtype=np.float64)
        present = ~np.isnan(x)
        table, unit = whole_xlogx(int(present.sum()))
        cuts = _column_cuts(x[present], codes[present].astype(np.int64), len(values), table, unit)
        interval = np.where(present, np.searchsorted(cuts, x, side="right"), len(cuts) + 1)
        coded[j] = np.unique(interval, return_inverse=True)[1]
    return assemble(coded, columns.n_samples)


def _is_numeric(X, j):
    dtype = X.dtypes.iloc[j] if hasattr(X, "iloc") else np.asarray(X).dtype
    return isinstance(dtype, np.dtype) and dtype.kind in "iuf"


def _column_cuts(x, codes, n_classes, table, unit):
    order = np.argsort(x, kind="stable")
    bounds, counts = _blocks(x[order], codes[order], n_classes)
    places = _recursive_cuts(counts, table, unit / math.log(2))
    ordered = x[order]
    below, above = ordered[bounds[places] - 1], ordered[bounds[places]]
    # Halves first: the sum of two huge values overflows. Rounding must not put the midpoint on the lower value.
    middle = below / 2 + above / 2
    return np.where(middle > below, middle, above)


@njit(cache=True)
def _blocks(x, codes, n_classes):
    """Starts of runs of rows between which a cut can be best, and class counts before each start.

    A run of equal values is one block; neighbouring blocks of one and the same single class are merged.
    """
    n = len(x)
    bounds = np.empty(n + 1, dtype=np.int64)
    counts = np.zeros((n + 1, n_classes), dtype=np.int64)
    made, last, start = 0, -2, 0
    running = np.zeros(n_classes, dtype=np.int64)
    while start < n:
        stop, own = start, codes[start]
        while stop < n and x[stop] == x[start]:
            if codes[stop] != own:
                own = -1
            stop += 1
        if own < 0 or own != last:
            bounds[made] = start
            assign(counts[made], running)
            made += 1
        for i in range(start, stop):
            running[codes[i]] += 1
        last = own if own >= 0 else -2
        start = stop
    bounds[made] = n
    assign(counts[made], running)
    return bounds[: made + 1], counts[: made + 1]


@njit(cache=True)
def _n_times_entropy(counts, low, high, table):
    """Rows, classes present, and n H in units, of the blocks low..high - 1."""
    n, present, inside = 0, 0, np.int64(0)
    for c in range(counts.shape[1]):
        here = counts[high, c] - counts[low, c]
        n += here
        present += here > 0
        inside += table[here]
    return n, present, table[n] - inside


@njit(cache=True)
def _recursive_cuts(counts, table, bits):
    """Places of the accepted cuts among the blocks, increasing; `bits` turns units of the table into bits."""
    blocks = len(counts) - 1
    accepted = np.zeros(blocks + 1, dtype=np.bool_)
    stack = np.empty((blocks + 2, 2), dtype=np.int64)
    stack[0, 0], stack[0, 1], depth = 0, blocks, 1
    while depth:
        depth -= 1
        low, high = stack[depth]
        n, k, whole = _n_times_entropy(counts, low, high, table)
        best, at = whole, -1
        for cut in range(low + 1, high):
            left = _n_times_entropy(counts, low, cut, table)[2]
            right = _n_times_entropy(counts, cut, high, table)[2]
            if left + right < best:
                best, at = left + right, cut
        if at < 0:
            continue
        n1, k1, left = _n_times_entropy(counts, low, at, table)
        n2, k2, right = _n_times_entropy(counts, at, high, table)
        mixed = bits * (k * whole / n - k1 * left / n1 - k2 * right / n2)
        # log2(3^k - 2) without forming 3^k, which overflows for many classes
        price = math.log2(n - 1) + k * math.log2(3.0) + math.log2(1.0 - 2.0 / 3.0**k) - mixed
        if bits * (whole - best) > price:
            accepted[at] = True
            stack[depth, 0], stack[depth, 1] = low, at
            stack[depth + 1, 0], stack[depth + 1, 1] = at, high
            depth += 2
    return np.flatnonzero(accepted)
