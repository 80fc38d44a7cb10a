"""Missing values in trees: each column that has some is offered twice, with them below and above all values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["MissingColumns"]

_FAR = 1e300  # beyond any value, and half-way to it beyond any value too


@dataclass(frozen=True)
class MissingColumns:
    """The columns of a training table with missing values (NaN).

    A search for splits that knows nothing of missing values then finds the better side for them at each cut, and the
    cut that parts them from all values. The price is a second copy of those columns and of no others.

    Attributes
    ----------
    columns : ndarray of int
        Columns with missing values; column ``columns[k]`` of d stands again at d + k.
    categorical : ndarray of int
        Columns of categories: there a missing value is a category of its own.
    others : ndarray of int
        For each of `categorical`, the code of that category.

    Examples
    --------
    >>> X = np.array([[1.0, np.nan], [2.0, 5.0]])
    >>> MissingColumns.of(X).fill(X).tolist()
    [[1.0, -1e+300, 1e+300], [2.0, 5.0, 5.0]]
    """

    columns: np.ndarray
    categorical: np.ndarray
    others: np.ndarray

    @classmethod
    def of(cls, X, categorical=()):
        """Those of a table.

        Parameters
        ----------
        X : ndarray (n, d)
        categorical : sequence of int
        """
        gone = np.isnan(X).any(axis=0)
        categorical = np.array(sorted(int(j) for j in categorical if gone[j]), dtype=np.int64)
        others = np.array([np.nanmax(X[:, j], initial=-1.0) + 1.0 for j in categorical])
        gone[categorical] = False
        return cls(np.flatnonzero(gone), categorical, others)

    def fill(self, X):
        """The table without NaN; X itself where nothing is missing, then as in training.

        Parameters
        ----------
        X : ndarray (n, d)

        Returns
        -------
        ndarray (n, d + len(columns))
        """
        gone = np.isnan(X)
        if not len(self.columns) and not gone.any():
            return X
        low = np.where(gone, -_FAR, X)
        for j, code in zip(self.categorical, self.others, strict=True):
            low[gone[:, j], j] = code
        if not len(self.columns):
            return low
        high = np.where(gone[:, self.columns], _FAR, X[:, self.columns])
        return np.hstack([low, high])
