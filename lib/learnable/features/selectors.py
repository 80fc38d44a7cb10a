"""One protocol for everything that chooses columns: scikit-learn's selectors, with values of any kind allowed.

A selector sets ``support_`` in `fit`; `SelectorMixin` then gives ``get_support``, ``transform``, ``inverse_transform``
and the names of the chosen columns, so that it stands in a `Pipeline` and hands a frame on as a frame
(``set_output``).
"""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from learnable.features.discretization import code_for_classes
from learnable.validation import check_class_labels

__all__ = ["ColumnSelector", "DiscreteSelector"]


class ColumnSelector(SelectorMixin, BaseEstimator):
    """Base of selectors that look at labels: `fit` of a subclass sets ``support_``, a boolean for each column.

    Attributes
    ----------
    support_ : ndarray of bool of shape (n_features,)
        Which columns are kept.
    n_features_in_ : int
        Number of columns seen in `fit`.

    Examples
    --------
    >>> class FirstHalf(ColumnSelector):
    ...     def fit(self, X, y=None):
    ...         X = np.asarray(X)
    ...         self.n_features_in_ = X.shape[1]
    ...         self.support_ = np.arange(X.shape[1]) < X.shape[1] / 2
    ...         return self
    >>> FirstHalf().fit_transform([[1, 2, 3, 4], [5, 6, 7, 8]]).tolist()
    [[1, 2], [5, 6]]
    """

    def _get_support_mask(self):
        check_is_fitted(self, "support_")
        return self.support_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


class DiscreteSelector(ColumnSelector):
    """Base of selectors for discrete columns: any values, missing ones among them, are levels.

    Numbers with more than ten distinct values and fewer than five rows for each of them are continuous: `fit` cuts
    them as `MDLDiscretizer` does, since as levels they would explain any labels. The chosen columns stay uncut.

    A subclass begins its `fit` with ``columns, reference = self._discrete(X, y)`` and ends with ``support_``.

    Examples
    --------
    >>> class MostInformative(DiscreteSelector):
    ...     def fit(self, X, y):
    ...         columns, reference = self._discrete(X, y)
    ...         information = columns.mutual_information(reference)
    ...         self.support_ = information == information.max()
    ...         return self
    >>> MostInformative().fit([[0, 1], [0, 0], [1, 1], [1, 0]], [0, 0, 1, 1]).get_support()
    array([ True, False])
    """

    def _discrete(self, X, y):
        """The table as `CodedColumns` and the labels as a `Reference`; checks both and remembers names."""
        frame = X if hasattr(X, "iloc") and hasattr(X, "dtypes") else None
        X, y = validate_data(self, X, y, dtype=None, ensure_all_finite=False, ensure_min_samples=2)
        if X.dtype.kind == "f" and np.isinf(X).any():
            raise ValueError("X: infinite values are not accepted")
        if X.dtype.kind == "c":
            raise ValueError("X: Complex data not supported, values of columns are expected")
        check_class_labels(y)
        columns = code_for_classes(X if frame is None else frame, y)
        self.classes_ = np.unique(y)
        return columns, columns.reference(y)

    def transform(self, X):
        """Keep the chosen columns.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Columns as in `fit`; missing values are allowed.

        Returns
        -------
        array of shape (n, n_selected)
            The chosen columns, as they came; a frame after ``set_output(transform="pandas")``.
        """
        return super().transform(X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
