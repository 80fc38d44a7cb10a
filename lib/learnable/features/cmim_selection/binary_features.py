"""Where binary columns come from: edges in pictures, and thresholds of continuous columns (Fleuret 2004, Sec. 5.1, 7).

An edge detector sits on two neighbouring pixels and fires if they differ by more than either differs from its three
other neighbours in the same grid, so that it depends neither on brightness nor on contrast. There are four orientations
and two polarities. A feature with tolerance t fires if one of t detectors in a row, along the normal of the edge, does.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from learnable.validation import check_finite_array, check_scalar

# From the first pixel of the pair to the second: down, right, and the two diagonals.
NORMALS = np.array([[1, 0], [0, 1], [1, 1], [1, -1]])


def edge_features(images, *, max_tolerance=7):
    """Binary edge features of pictures of one size (Fleuret 2004, Sec. 5.1.2).

    Parameters
    ----------
    images : array-like of shape (n, height, width)
        Grey values.
    max_tolerance : int, default=7
        Features are made for the tolerances 1, ..., max_tolerance.

    Returns
    -------
    ndarray of bool of shape (n, max_tolerance * 8 * height * width)
        One row for each picture; 43,904 features for 28 by 28 pixels. `edge_at` says what a column is.

    Notes
    -----
    Outside of the picture the pixel at its border is repeated, and nothing fires. Cost O(1) for each feature.

    Examples
    --------
    >>> step = np.zeros((1, 6, 6))
    >>> step[0, 3:] = 1.0
    >>> found = edge_features(step, max_tolerance=1)
    >>> found.shape, int(found.sum())  # eight directions at each of 36 pixels; the step is seen once in each column
    ((1, 288), 6)
    """
    images = check_finite_array(images, "images", ndim=3)
    if 0 in images.shape:
        raise ValueError(f"images: pictures of at least one pixel are expected, not shape {images.shape}")
    max_tolerance = check_scalar(max_tolerance, "max_tolerance", low=1, integer=True)
    padded = np.pad(images, ((0, 0), (2, 2), (2, 2)), mode="edge")
    return _edges(padded, NORMALS, max_tolerance).reshape(len(images), -1)


class ThresholdFeatures(TransformerMixin, BaseEstimator):
    """Binary columns 1[x >= t] of continuous ones, at quantiles of the training rows (Fleuret 2004, Sec. 7).

    Parameters
    ----------
    n_thresholds : int, default=7
        Thresholds for each column, at equally spaced quantiles; equal ones are used once.

    Attributes
    ----------
    thresholds_ : list of ndarray
        Thresholds of each column.
    n_features_in_ : int
        Number of columns seen in `fit`.

    Examples
    --------
    >>> ThresholdFeatures(n_thresholds=1).fit_transform([[1.0], [2.0], [3.0], [4.0]]).ravel()
    array([False, False,  True,  True])
    """

    def __init__(self, n_thresholds=7):
        self.n_thresholds = n_thresholds

    def fit(self, X, y=None):
        """Find the thresholds.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Continuous columns.
        y : None
            Not used.

        Returns
        -------
        ThresholdFeatures
            Itself.
        """
        count = check_scalar(self.n_thresholds, "n_thresholds", low=1, integer=True)
        X = validate_data(self, X, dtype=np.float64)
        levels = np.arange(1, count + 1) / (count + 1)
        # An observed value as threshold does not depend on how a quantile is interpolated, nor on the unit.
        cuts = np.quantile(X, levels, axis=0, method="higher")
        self.thresholds_ = [np.unique(cut[cut > low]) for cut, low in zip(cuts.T, X.min(axis=0), strict=True)]
        self.n_features_out_ = sum(len(cut) for cut in self.thresholds_)
        if self.n_features_out_ == 0:
            self.thresholds_[0] = cuts[:1, 0]  # constant columns: keep one, so that the table is not empty
            self.n_features_out_ = 1
        return self

    def transform(self, X):
        """Compare with the thresholds.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Columns as in `fit`.

        Returns
        -------
        ndarray of bool of shape (n, n_features_out_)
            One column for each threshold.
        """
        check_is_fitted(self, "thresholds_")
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.concatenate([X[:, [j]] >= cut for j, cut in enumerate(self.thresholds_)], axis=1)

    def get_feature_names_out(self, input_features=None):
        """Names such as ``x0>=1.5``.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the columns; those seen in `fit` by default.

        Returns
        -------
        ndarray of str
            One for each column of the result.
        """
        check_is_fitted(self, "thresholds_")
        names = getattr(self, "feature_names_in_", None) if input_features is None else input_features
        if names is None:
            names = [f"x{j}" for j in range(self.n_features_in_)]
        if len(names) != self.n_features_in_:
            raise ValueError(f"input_features: {len(names)} names for {self.n_features_in_} columns")
        pairs = zip(names, self.thresholds_, strict=True)
        return np.array([f"{name}>={cut:.6g}" for name, cuts in pairs for cut in cuts], dtype=object)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags


@njit(cache=True)
def _fires(image, r, c, dr, dc):
    """1 or -1 if the pair at (r, c) is an edge, by the sign of its difference, and 0 if it is none."""
    difference = image[r + dr, c + dc] - image[r, c]
    size = abs(difference)
    for side in range(2):
        a, b = r + side * dr, c + side * dc
        own = image[a, b]
        for turn in range(4):
            # The four neighbours in the grid of the pair: the step turned by 0, 90, 180 and 270 degrees.
            tr, tc = ((dr, dc), (-dc, dr), (-dr, -dc), (dc, -dr))[turn]
            other_pixel = a + tr == r + (1 - side) * dr and b + tc == c + (1 - side) * dc
            if not other_pixel and abs(image[a + tr, b + tc] - own) >= size:
                return 0
    return 1 if difference > 0 else -1


@njit(cache=True)
def _edges(padded, normals, max_tolerance):
    n, height, width = len(padded), padded.shape[1] - 4, padded.shape[2] - 4
    found = np.zeros((n, max_tolerance, 8, height, width), dtype=np.bool_)
    for i in range(n):
        for d in range(4):
            dr, dc = normals[d]
            for r in range(height):
                for c in range(width):
                    if not (0 <= r + dr < height and 0 <= c + dc < width):
                        continue
                    sign = _fires(padded[i], r + 2, c + 2, dr, dc)
                    if sign != 0:
                        found[i, 0, 2 * d + (sign < 0), r, c] = True
        for t in range(1, max_tolerance):
            reach = (t + 1) // 2 if t % 2 else -(t // 2)  # 1, -1, 2, -2, ...
            for kind in range(8):
                dr, dc = normals[kind // 2] * reach
                for r in range(height):
                    for c in range(width):
                        hit = found[i, t - 1, kind, r, c]
                        if 0 <= r + dr < height and 0 <= c + dc < width:
                            hit |= found[i, 0, kind, r + dr, c + dc]
                        found[i, t, kind, r, c] = hit
    return found
