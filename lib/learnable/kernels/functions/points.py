"""Sets of points, dense or sparse: their inner products, squared distances, and the centring of a Gram matrix."""

import numpy as np
from scipy import sparse

from learnable.validation import check_finite_array

__all__ = ["center_gram", "squared_distances"]

# Rows of a Gram matrix that are worked on together: a block stays in the second-level cache.
BLOCK_ELEMENTS = 1 << 16


def center_gram(K, K_cross=None):
    """Centre a Gram matrix in feature space, in O(n^2) (Lember 2012, (4.6.15)).

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Gram matrix of the reference points.
    K_cross : ndarray of shape (m, n), optional
        Values between other points and the reference points; then these are centred by the reference mean.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> center_gram(np.array([[0.0, 0.0], [0.0, 4.0]]))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    K = check_finite_array(K, "K", ndim=2)
    if K.shape[0] != K.shape[1] or K.shape[0] == 0:
        raise ValueError(f"K must be square and not empty, got shape {K.shape}")
    means = K.mean(axis=0)
    if K_cross is None:
        return K - (means[:, None] + means[None, :]) + means.mean()
    K_cross = check_finite_array(K_cross, "K_cross", ndim=2)
    if K_cross.shape[1] != K.shape[0]:
        raise ValueError(f"K_cross must have {K.shape[0]} columns, got {K_cross.shape[1]}")
    return K_cross - (K_cross.mean(axis=1)[:, None] + means[None, :]) + means.mean()


def squared_distances(X, Y=None, *, gaussian=None):
    """Return |x_i - y_j|^2, or exp(-gaussian |x_i - y_j|^2), from one matrix product.

    The points are moved so that their mean is zero, which leaves little to cancel in |x|^2 + |y|^2 - 2x'y; what is
    left below zero is clipped. Without `Y` the result is exactly symmetric with an exact diagonal.

    Parameters
    ----------
    X : array-like of shape (n, d)
    Y : array-like of shape (m, d), optional
        X by default.
    gaussian : float, optional
        Rate gamma of the exponential.

    Examples
    --------
    >>> squared_distances([[0.0], [3.0]])
    array([[0., 9.],
           [9., 0.]])
    """
    X, Y = as_points(X, "X"), None if Y is None else as_points(Y, "Y")
    check_width(X, Y)
    if not sparse.issparse(X) and not (Y is not None and sparse.issparse(Y)):
        centre = X.mean(axis=0) if X.shape[0] else 0.0
        X, Y = X - centre, None if Y is None else Y - centre
    D = inner(X, Y)
    of_x = squared_norms(X)
    of_y = of_x if Y is None else squared_norms(Y)
    rows = max(1, BLOCK_ELEMENTS // max(1, D.shape[1]))
    for i in range(0, D.shape[0], rows):
        stop = min(i + rows, D.shape[0])
        first = i if Y is None else 0
        block = D[i:stop, first:]
        block *= -2.0
        block += of_x[i:stop, None] + of_y[None, first:]
        np.maximum(block, 0.0, out=block)
        if gaussian is not None:
            block *= -gaussian
            np.exp(block, out=block)
        if Y is None:
            D[stop:, i:stop] = block[:, stop - i :].T
    if Y is None:
        np.fill_diagonal(D, 0.0 if gaussian is None else 1.0)
    return D


def as_points(X, name):
    if sparse.issparse(X):
        X = sparse.csr_array(X, dtype=np.float64)
        if not np.isfinite(X.data).all():
            raise ValueError(f"{name} must be finite")
        return X
    X = check_finite_array(X, name)
    if X.ndim != 2:
        raise ValueError(f"{name} must be a table with one row for each point, got shape {X.shape}; reshape(-1, 1)?")
    return X


def check_width(X, Y):
    if Y is not None and X.shape[1] != Y.shape[1]:
        raise ValueError(f"X and Y must have the same number of columns, got {X.shape[1]} and {Y.shape[1]}")


def inner(X, Y):
    """Return X Y' as a dense matrix; exactly symmetric without Y (numpy then calls a symmetric product)."""
    check_width(X, Y)
    K = X @ (X.T if Y is None else Y.T)
    if sparse.issparse(K):
        K = K.toarray()
    K = np.ascontiguousarray(K)
    if Y is None and sparse.issparse(X):
        K = 0.5 * (K + K.T)
    return K


def squared_norms(X):
    return np.asarray(X.multiply(X).sum(axis=1)).ravel() if sparse.issparse(X) else np.einsum("ij,ij->i", X, X)


def power_of(K, p):
    """Return K^p for a whole number p >= 0 by repeated squaring, in place of `K` where possible."""
    result = None
    while p:
        if p & 1:
            result = K.copy() if result is None else np.multiply(result, K, out=result)
        p >>= 1
        if p:
            K = np.multiply(K, K, out=K)
    return np.ones_like(K) if result is None else result


def length(X):
    return X.shape[0] if hasattr(X, "shape") else len(X)
