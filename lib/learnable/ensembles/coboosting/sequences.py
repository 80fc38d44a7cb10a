"""A batch of sequences of unequal length in one table: what every recursion and every feature subset works on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from learnable.validation import (
    Result,
    check_codes,
    check_finite_array,
    check_magnitude,
    check_row_values,
    encode_labels,
)


@dataclass(frozen=True, eq=False)
class Sequences(Result):
    """All sequences one below the other.

    Attributes
    ----------
    rows : ndarray of shape (total length, d)
        The observations.
    starts : ndarray of shape (n + 1,)
        Sequence i has the rows ``starts[i]`` to ``starts[i + 1] - 1``.
    """

    rows: np.ndarray
    starts: np.ndarray

    def __len__(self):
        return len(self.starts) - 1

    @property
    def lengths(self):
        """Number of observations of each sequence."""
        return np.diff(self.starts)

    @property
    def n_features(self):
        """Dimension of an observation."""
        return self.rows.shape[1]

    def columns(self, chosen):
        """The same sequences with the chosen dimensions only; None stands for all."""
        if chosen is None:
            return self
        return Sequences(np.ascontiguousarray(self.rows[:, chosen]), self.starts)

    def take(self, chosen):
        """The chosen sequences, in the order given: indices, a mask or a slice."""
        if isinstance(chosen, slice):
            chosen = np.arange(len(self))[chosen]
        elif np.asarray(chosen).dtype == bool:
            chosen = np.flatnonzero(check_row_values(chosen, len(self), "chosen"))
        else:
            chosen = check_codes(chosen, "chosen", size=len(self), strict=True)
        lengths = self.lengths[chosen]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        shift = np.repeat(self.starts[chosen] - starts[:-1], lengths)
        return Sequences(np.ascontiguousarray(self.rows[np.arange(starts[-1]) + shift]), starts)


def stack_sequences(X, name="X"):
    """Put sequences into one batch, after checking them.

    Parameters
    ----------
    X : list of array-like of shape (length, d), array-like of shape (n, length, d) or (n, d), or Sequences
        Sequences of any lengths from 1 on, or of one length. A table (n, d) holds n sequences of length one.
    name : str, default="X"
        For the message, if something is wrong.

    Returns
    -------
    Sequences

    Notes
    -----
    Time and memory O(total length × d). A batch that was checked before is returned as it is.

    Examples
    --------
    >>> batch = stack_sequences([[[0.0, 1.0], [2.0, 3.0]], [[4.0, 5.0]]])
    >>> len(batch), batch.lengths.tolist(), batch.columns([1]).rows.ravel().tolist()
    (2, [2, 1], [1.0, 3.0, 5.0])
    """
    if isinstance(X, Sequences):
        return X
    if is_list_of_tables(X):
        parts = [check_finite_array(x, f"{name}[{i}]", ndim=2) for i, x in enumerate(X)]
        widths = {part.shape[1] for part in parts}
        if len(widths) > 1 or min(len(part) for part in parts) == 0 or widths == {0}:
            raise ValueError(f"{name} must hold non-empty sequences of one dimension, got {sorted(widths)} columns")
        lengths, rows = np.array([len(part) for part in parts]), np.concatenate(parts)
    else:
        array = check_finite_array(X, name)
        if array.ndim not in (2, 3) or array.size == 0:
            raise ValueError(
                f"{name} must be a list of sequences, or a non-empty array (n, d) or (n, length, d), got shape "
                f"{array.shape}"
            )
        lengths = np.full(len(array), array.shape[1] if array.ndim == 3 else 1)
        rows = array.reshape(-1, array.shape[-1])
    check_magnitude(rows, name, smallest=0.0)
    return Sequences(np.array(rows, order="C"), np.concatenate([[0], np.cumsum(lengths)]))


def is_list_of_tables(X):
    """Whether X is a list of sequences of vectors, and not a table written as lists."""
    return isinstance(X, (list, tuple)) and len(X) > 0 and all(_ndim(x) == 2 for x in X)


def checked_batch(estimator, X, *, reset):
    """A batch for an estimator in scikit-learn's protocol; a table goes through scikit-learn's own checks."""
    if isinstance(X, Sequences) or is_list_of_tables(X) or _ndim(X) == 3:
        batch = stack_sequences(X)
        if reset:
            estimator.n_features_in_ = batch.n_features
        elif batch.n_features != estimator.n_features_in_:
            raise ValueError(
                f"X has {batch.n_features} features, but {type(estimator).__name__} is expecting "
                f"{estimator.n_features_in_} features as input"
            )
        return batch
    return stack_sequences(validate_data(estimator, X, reset=reset, dtype=np.float64))


def checked_classes(y, n):
    """The classes of y and the codes of its n labels."""
    if y is None:
        raise ValueError("y must be given: requires y to be passed, but the target y is None")
    y = column_or_1d(y, warn=True)
    check_classification_targets(y)
    classes, codes = encode_labels(y)
    if len(codes) != n:
        raise ValueError(f"y must have one label for each of the {n} samples, got {len(codes)}")
    return classes, codes


def _ndim(x):
    """Dimensions of an array or of nested lists; -1 for anything else."""
    if not isinstance(x, (list, tuple)):
        return getattr(x, "ndim", -1)
    try:
        return np.ndim(x)
    except ValueError:
        return -1
