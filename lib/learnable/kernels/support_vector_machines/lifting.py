"""The quadratic feature map: a plane upstairs is a conic downstairs (Lember 2012, Sec. 4.4)."""

import numpy as np

from learnable.validation import check_finite_array, check_scalar

__all__ = ["quadratic_map", "quadratic_map_long"]


def quadratic_map(X, *, constant=None):
    """(x1^2, sqrt(2) x1 x2, x2^2) for each row, with inner product (x'y)^2; optionally a constant feature more.

    Parameters
    ----------
    X : array-like of shape (n, 2)
    constant : float, optional
        Value of one more feature; none by default.

    Examples
    --------
    >>> quadratic_map([[1.0, 2.0]], constant=1.0).round(3).tolist()
    [[1.0, 2.828, 4.0, 1.0]]
    """
    X = _plane(X)
    columns = [X[:, 0] ** 2, np.sqrt(2.0) * X[:, 0] * X[:, 1], X[:, 1] ** 2]
    if constant is not None:
        columns.append(np.full(X.shape[0], check_scalar(constant, "constant")))
    return np.column_stack(columns)


def quadratic_map_long(X):
    """(x1^2, x1 x2, x1 x2, x2^2): another map with the same inner products.

    Parameters
    ----------
    X : array-like of shape (n, 2)

    Examples
    --------
    >>> quadratic_map_long([[1.0, 2.0]]).tolist()
    [[1.0, 2.0, 2.0, 4.0]]
    """
    X = _plane(X)
    product = X[:, 0] * X[:, 1]
    return np.column_stack([X[:, 0] ** 2, product, product, X[:, 1] ** 2])


def _plane(X):
    X = check_finite_array(X, "X", ndim=2)
    if X.shape[1] != 2:
        raise ValueError(f"the map is for points of the plane, got {X.shape[1]} columns")
    return X
