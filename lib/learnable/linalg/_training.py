"""What estimators of covariance and precision matrices are fitted to."""

from __future__ import annotations

import numpy as np
from sklearn.covariance import empirical_covariance
from sklearn.utils.validation import validate_data

from learnable.validation import check_choice, check_symmetric

__all__ = ["training_covariance"]


def training_covariance(estimator, X):
    """Return the covariance matrix of the rows of `X`, or `X` itself where ``estimator.covariance`` is "precomputed".

    The centre of the rows becomes the estimator's ``location_``; it is zero for a precomputed matrix, and where
    ``assume_centered`` says so.
    """
    check_choice(estimator.covariance, "covariance", (None, "precomputed"))
    X = validate_data(estimator, X, ensure_min_samples=1 if estimator.covariance else 2)
    if estimator.covariance:
        S, centre = check_symmetric(X, "X"), np.zeros(X.shape[1])
    else:
        S = empirical_covariance(X, assume_centered=estimator.assume_centered)
        centre = np.zeros(X.shape[1]) if estimator.assume_centered else X.mean(axis=0)
    estimator.location_ = centre
    return S
