"""Tables with names and categories, as the numbers that a tree reads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.preprocessing import OrdinalEncoder

from learnable.validation import check_scalar

__all__ = ["CodedColumns"]

_UNSEEN = -1


@dataclass(frozen=True, eq=False)
class CodedColumns:
    """Which columns of a training table hold categories, and the code of each.

    Attributes
    ----------
    columns : tuple of int
        Columns that hold categories.
    encoder : OrdinalEncoder or None
        For a frame whose categories are strings or other objects; None where they are codes already.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"size": [1.5, 2.0], "colour": ["red", None]})
    >>> CodedColumns.of(frame, "from_dtype").numbers(frame).tolist()
    [[1.5, 0.0], [2.0, nan]]
    """

    columns: tuple
    encoder: OrdinalEncoder | None = None

    @classmethod
    def of(cls, X, categorical_features):
        """Those of a training table.

        Parameters
        ----------
        X : array-like or DataFrame
        categorical_features : "from_dtype", None, or sequence of int or str
            From the types of a frame's columns, none, or columns by place or name.
        """
        is_frame = hasattr(X, "iloc")
        if isinstance(categorical_features, str):
            if categorical_features != "from_dtype":
                raise ValueError(
                    "categorical_features must be 'from_dtype', None, or a list of columns, "
                    f"got {categorical_features!r}"
                )
            chosen = [j for j, kind in enumerate(X.dtypes) if kind.kind not in "iuf"] if is_frame else []
        else:
            chosen = [_place(X, column) for column in categorical_features or ()]
        if not is_frame or not chosen:
            return cls(tuple(chosen))
        encoder = OrdinalEncoder(
            handle_unknown="use_encoded_value", unknown_value=_UNSEEN, encoded_missing_value=np.nan
        )
        return cls(tuple(chosen), encoder.set_output(transform="default").fit(X.iloc[:, chosen]))

    def numbers(self, X):
        """The table with codes in place of categories: NaN where one is missing, beyond all codes where it is new.

        Parameters
        ----------
        X : array-like or DataFrame
            With the columns of the training table.
        """
        if self.encoder is None:
            return X
        codes = self.encoder.transform(X.iloc[:, list(self.columns)])
        table = np.empty(X.shape)
        ordered = [j for j in range(X.shape[1]) if j not in self.columns]
        table[:, ordered] = X.iloc[:, ordered].to_numpy(dtype=np.float64, na_value=np.nan)
        for k, (j, names) in enumerate(zip(self.columns, self.encoder.categories_, strict=True)):
            # One more than the code that a missing value may get.
            table[:, j] = np.where(codes[:, k] == _UNSEEN, len(names) + 1.0, codes[:, k])
        return table

    def names(self, column):
        """The categories of a column in the order of their codes, as text; None if they are codes already."""
        if self.encoder is None:
            return None
        return [str(name) for name in self.encoder.categories_[self.columns.index(column)] if name == name]


def _place(X, column):
    if isinstance(column, str):
        if not hasattr(X, "iloc") or column not in X.columns:
            raise ValueError(f"categorical_features names {column!r}, which is no column of X")
        return X.columns.get_loc(column)
    return check_scalar(column, "categorical_features", low=0, high=np.shape(X)[-1] - 1, integer=True)
