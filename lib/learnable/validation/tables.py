"""Checks of tables and matrices: rows and columns, zeros and ones, covariances, graphs."""

import numpy as np

from learnable.validation.arrays import check_finite_array, check_symmetric

__all__ = ["check_adjacency", "check_covariance", "check_design", "check_table", "check_zero_one"]


def check_table(X, name="X", *, rows=1, columns=1):
    """Return `X` as a finite float64 table with at least so many rows and columns.

    Parameters
    ----------
    X : array-like of shape (n, d)
    name : str, default="X"
        The argument's name, for the message.
    rows, columns : int, default=1
        The smallest numbers that are accepted.

    Returns
    -------
    ndarray of shape (n, d)

    Examples
    --------
    >>> check_table([[1, 2], [3, 4]]).shape
    (2, 2)
    >>> check_table([[1, 2]], "errors", rows=2)
    Traceback (most recent call last):
    ...
    ValueError: errors must have at least 2 rows and 1 column, got shape (1, 2)
    """
    X = check_finite_array(X, name, ndim=2)
    if X.shape[0] < rows or X.shape[1] < columns:
        least = f"{rows} row{'s' * (rows != 1)} and {columns} column{'s' * (columns != 1)}"
        raise ValueError(f"{name} must have at least {least}, got shape {X.shape}")
    return X


def check_design(X, y, *, rows=1):
    """Return a finite table `X` and a finite vector `y` with one entry for each of its rows.

    Parameters
    ----------
    X : array-like of shape (n, d)
    y : array-like of shape (n,)
    rows : int, default=1
        The smallest number of rows that is accepted.

    Returns
    -------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)

    Examples
    --------
    >>> check_design([[1, 2], [3, 4]], [0, 1])[1]
    array([0., 1.])
    >>> check_design([[1, 2], [3, 4]], [0])
    Traceback (most recent call last):
    ...
    ValueError: X must have one row for each of the 1 entries of y, got shape (2, 2)
    """
    y = check_finite_array(y, "y", ndim=1)
    X = check_finite_array(X, "X", ndim=2)
    if len(X) != y.size:
        raise ValueError(f"X must have one row for each of the {y.size} entries of y, got shape {X.shape}")
    return check_table(X, "X", rows=rows), y


def check_zero_one(values, name, *, ndim=2):
    """Return a table of zeros and ones, numbers or booleans, as C-contiguous booleans; at least one entry.

    Parameters
    ----------
    values : array-like
    name : str
        The argument's name, for the message.
    ndim : int, default=2
        Required number of dimensions.

    Returns
    -------
    ndarray of bool

    Examples
    --------
    >>> check_zero_one([[0, 1], [1, 1]], "Y").tolist()
    [[False, True], [True, True]]
    >>> check_zero_one([[0, 2]], "Y")
    Traceback (most recent call last):
    ...
    ValueError: Y must hold zeros and ones, got 2
    """
    array = check_finite_array(values, name, ndim=ndim)
    if array.size == 0:
        raise ValueError(f"{name} must hold at least one entry, got shape {array.shape}")
    wrong = (array != 0) & (array != 1)
    if wrong.any():
        raise ValueError(f"{name} must hold zeros and ones, got {array[wrong][0]:g}")
    return np.ascontiguousarray(array, dtype=bool)


def check_covariance(covariance, name="covariance", *, size=None):
    """Return a symmetric, positive semidefinite float64 matrix; eigenvalues at rounding level may be negative. O(p^3).

    Parameters
    ----------
    covariance : array-like of shape (p, p)
    name : str, default="covariance"
        The argument's name, for the message.
    size : int, optional
        Required number of rows.

    Returns
    -------
    ndarray of shape (p, p)

    Examples
    --------
    >>> check_covariance([[2, 1], [1, 1]])
    array([[2., 1.],
           [1., 1.]])
    >>> check_covariance([[1, 2], [2, 1]], "S")
    Traceback (most recent call last):
    ...
    ValueError: S must be a covariance matrix, positive semidefinite; its smallest eigenvalue is -1
    """
    covariance = check_symmetric(covariance, name)
    if size is not None and len(covariance) != size:
        raise ValueError(f"{name} must have shape ({size}, {size}), got {covariance.shape}")
    lowest = np.linalg.eigvalsh(covariance)[0]
    if lowest < -1e-10 * np.abs(covariance).max():
        raise ValueError(
            f"{name} must be a covariance matrix, positive semidefinite; its smallest eigenvalue is {lowest:.3g}"
        )
    return covariance


def check_adjacency(adjacency, name="adjacency", *, size=None):
    """Return an undirected graph as C-contiguous booleans: symmetric, zeros and ones, an empty diagonal.

    Parameters
    ----------
    adjacency : array-like of shape (p, p)
    name : str, default="adjacency"
        The argument's name, for the message.
    size : int, optional
        Required number of nodes.

    Returns
    -------
    ndarray of bool of shape (p, p)
        A copy, which may be written to.

    Examples
    --------
    >>> check_adjacency([[0, 1], [1, 0]]).tolist()
    [[False, True], [True, False]]
    >>> check_adjacency([[1, 1], [1, 0]])
    Traceback (most recent call last):
    ...
    ValueError: adjacency must be a symmetric matrix of zeros and ones with an empty diagonal
    """
    array = check_finite_array(adjacency, name, ndim=2)
    wanted = array.shape[:1] * 2 if size is None else (size, size)
    if array.shape != wanted:
        raise ValueError(f"{name} must have shape {wanted}, got {array.shape}")
    if not np.isin(array, (0, 1)).all() or not np.array_equal(array, array.T) or np.diagonal(array).any():
        raise ValueError(f"{name} must be a symmetric matrix of zeros and ones with an empty diagonal")
    return np.array(array, dtype=bool, order="C")
