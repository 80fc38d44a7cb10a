"""What every classifier of two classes repeats: labels in, the sign of a function out."""

from __future__ import annotations

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import validate_data

from learnable.validation.labels import signed_labels

__all__ = ["BinaryClassifierMixin"]


class BinaryClassifierMixin(ClassifierMixin):
    """Two classes, of which the second in order of the labels is where ``decision_function`` is not negative.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> class FirstFeature(BinaryClassifierMixin, BaseEstimator):
    ...     def fit(self, X, y):
    ...         self._signed_data(X, y)
    ...         return self
    ...     def decision_function(self, X):
    ...         return np.asarray(X)[:, 0]
    >>> FirstFeature().fit([[-1.0], [2.0]], ["no", "yes"]).predict([[-3.0], [0.0]]).tolist()
    ['no', 'yes']
    """

    def _signed_data(self, X, y):
        """Checked float64 X and labels -1.0 and +1.0; keeps ``classes_``."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        self.classes_, signs = signed_labels(y)
        return X, signs

    def _decide(self, scores):
        """The classes of scores of any shape; zero counts as positive."""
        return self.classes_[(scores >= 0.0).astype(int)]

    def predict(self, X):
        """The class on whose side each row lies (zero counts as positive)."""
        return self._decide(self.decision_function(X))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
