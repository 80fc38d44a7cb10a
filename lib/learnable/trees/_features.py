"""Features that are prepared once for many trees: sorted, binned or numbered."""

from __future__ import annotations

import numpy as np

from learnable.validation import check_finite_array, check_row_values

__all__ = ["PreparedFeatures", "check_table", "presort"]


def check_table(X):
    """X as an array of finite numbers with at least one row and one column."""
    X = check_finite_array(X, "X", ndim=2)
    if X.shape[0] == 0 or X.shape[1] == 0:
        raise ValueError(f"X must have at least one row and one column, got shape {X.shape}")
    return X


def presort(columns):
    """Stable order of each row of a (d, n) array, as int32."""
    return np.argsort(columns, axis=1, kind="stable").astype(np.int32)


class PreparedFeatures:
    """What sorted, binned and numbered features have in common: ``shape``, (n, d)."""

    shape: tuple[int, int]

    def check_length(self, values, name):
        """Return `values` as contiguous numbers, one for each row of X: compiled code looks them up by row."""
        return check_row_values(values, self.shape[0], name)
