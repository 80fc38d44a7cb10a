"""Tables of posteriors and of losses: how they are read, and what is refused."""

import numpy as np
from numba import njit

from learnable.validation import check_finite_array, probability_tolerance

__all__ = ["check_loss_matrix", "check_posteriors", "coerce_posteriors"]


def coerce_posteriors(post, name="post", *, n_classes=None):
    """Return posteriors as a C-contiguous float64 table, with the tolerance for their row sums.

    Only the shape is checked. It is the first half of :func:`check_posteriors`, for kernels that check
    the entries in the same pass that uses them.

    Parameters
    ----------
    post : array-like of shape (n, k)
        Any real dtype and any memory layout.
    name : str, default="post"
        The argument's name, for the message.
    n_classes : int, optional
        Required number of columns.

    Returns
    -------
    post : ndarray of shape (n, k)
    tolerance : float
        From the dtype that came in, see :func:`probability_tolerance`.

    Examples
    --------
    >>> table, tolerance = coerce_posteriors([[0.2, 0.8]])
    >>> table
    array([[0.2, 0.8]])
    """
    try:
        array = np.asarray(post)
        if array.dtype.kind == "c" or (array.dtype.kind == "O" and any(entry is None for entry in array.flat)):
            raise TypeError("numpy would cut off the imaginary part, and read None as NaN")
        tolerance = probability_tolerance(array.dtype)
        table = np.ascontiguousarray(array, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a table of real numbers with one column per class") from None
    if array.ndim != 2 or array.shape[1] == 0:
        raise ValueError(
            f"{name} must have shape (n, k), one column per class, got shape {array.shape}; "
            "for two classes with p = p(1|x) pass np.column_stack([1 - p, p])"
        )
    if n_classes is not None and array.shape[1] != n_classes:
        raise ValueError(f"{name} must have {n_classes} columns, one per class, got {array.shape[1]}")
    return table, tolerance


def check_posteriors(post, name="post", *, n_classes=None):
    """Return posteriors as a C-contiguous float64 table after checking every row.

    Each row must be a probability vector: non-negative, no NaN, sum one within
    :func:`probability_tolerance`. O(nk).

    Parameters
    ----------
    post : array-like of shape (n, k)
        Any real dtype and any memory layout.
    name : str, default="post"
        The argument's name, for the message.
    n_classes : int, optional
        Required number of columns.

    Returns
    -------
    ndarray of shape (n, k)

    Examples
    --------
    >>> check_posteriors([[0.5, 0.5], [1, 0]])
    array([[0.5, 0.5],
           [1. , 0. ]])
    >>> check_posteriors([[0.5, 0.5], [0.7, 0.7]])
    Traceback (most recent call last):
    ...
    ValueError: post must have rows that sum to 1, got a sum of 1.4 in row 1
    """
    post, tolerance = coerce_posteriors(post, name, n_classes=n_classes)
    row = _first_bad_row(post, tolerance)
    if row >= 0:
        p = post[row]
        if np.isnan(p).any():
            raise ValueError(f"{name} must not contain NaN, got one in row {row}")
        if p.min() < 0:
            raise ValueError(f"{name} must be non-negative, got {p.min()} in row {row}")
        raise ValueError(f"{name} must have rows that sum to 1, got a sum of {p.sum():.9g} in row {row}")
    return post


@njit(cache=True)
def _first_bad_row(post, tolerance):
    for m in range(post.shape[0]):
        total = 0.0
        negative = False
        for j in range(post.shape[1]):
            total += post[m, j]
            negative |= post[m, j] < 0.0
        if negative or not abs(total - 1.0) <= tolerance:
            return m
    return -1


def check_loss_matrix(loss, n_classes, name="L", *, n_decisions=None):
    """Return a loss matrix as C-contiguous float64 after checking it; None means 0-1 loss.

    Row = truth, column = decision: ``loss[j, i]`` is what it costs to decide i when the truth is j
    (Lember 2012, Definition 1.2.1, and the orientation of scikit-learn's confusion matrix).

    Parameters
    ----------
    loss : array-like of shape (k, a) or None
        Finite and non-negative. There may be more decisions than classes (a reject column, say).
    n_classes : int
        The number k of rows.
    name : str, default="L"
        The argument's name, for the message.
    n_decisions : int, optional
        Required number a of columns.

    Returns
    -------
    ndarray of shape (k, a)

    Examples
    --------
    >>> check_loss_matrix(None, 2)
    array([[0., 1.],
           [1., 0.]])
    """
    if loss is None:
        return 1.0 - np.eye(n_classes)
    loss = check_finite_array(loss, name)
    wanted = f"({n_classes}, {'number of decisions' if n_decisions is None else n_decisions})"
    if loss.ndim != 2 or loss.shape[0] != n_classes or loss.shape[1] != (n_decisions or loss.shape[1] or -1):
        raise ValueError(f"{name} must have shape {wanted}, row = truth, column = decision; got {loss.shape}")
    if loss.min() < 0:
        raise ValueError(
            f"{name} must be non-negative, got {loss.min()}; adding a constant to a row changes no decision"
        )
    return np.ascontiguousarray(loss)
