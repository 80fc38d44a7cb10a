"""The Cholesky factor of a matrix that gains and loses a row at a time, as active sets do: O(m^2) for each change.

The factor L, with L L' = A, stands in the lower triangle of the first m rows of a larger array. Beside it a path keeps
solutions z of L z = r for right-hand sides r that grow with the matrix, one in each row of Z: they cost O(m) when A
grows and are turned with L when it shrinks, so that A^-1 r is one backward substitution away. When row p leaves, the
rows below it move up and have one entry too many, which plane rotations of neighbouring columns take away; L L' does
not notice them (Golub and Van Loan 2013, Sec. 6.5).

The kernels are for compiled loops, and `solve`, `grow` and `shrink` are their doors for Python.
"""

import numpy as np
from numba import njit

from learnable._inner import dot, inner

__all__ = ["grow", "shrink", "solve"]


@inner
def project(factor, m, column, own):
    """Write L^-1 `column` to row m; returns what of `own`, the new diagonal entry, the rows above do not explain."""
    row = factor[m]
    for i in range(m):
        row[i] = (column[i] - dot(factor[i], row, i)) / factor[i, i]
    return own - dot(row, row, m)


@inner
def append(factor, m, column, own, tiny):
    """Enlarge A by a row with entries `column` and `own`; False if it depends on those there, up to `tiny` of `own`."""
    left = project(factor, m, column, own)
    if left <= tiny * own:
        return False
    factor[m, m] = np.sqrt(left)
    return True


@inner
def extend(factor, m, z, value):
    """The solution of L z = r for the row that was appended last, where r has the entry `value`."""
    z[m] = (value - dot(factor[m], z, m)) / factor[m, m]


@inner
def delete(factor, m, p, Z):
    """Remove row p of m: shift the rows below and rotate them back to triangular form, and the rows of Z with them."""
    for i in range(p, m - 1):
        for k in range(i + 2):
            factor[i, k] = factor[i + 1, k]
    for k in range(p, m - 1):
        a, b = factor[k, k], factor[k, k + 1]
        r = np.sqrt(a * a + b * b)
        c, s = a / r, b / r
        factor[k, k] = r
        factor[k, k + 1] = 0.0
        for i in range(k + 1, m - 1):
            x, y = factor[i, k], factor[i, k + 1]
            factor[i, k] = c * x + s * y
            factor[i, k + 1] = c * y - s * x
        for t in range(Z.shape[0]):
            x, y = Z[t, k], Z[t, k + 1]
            Z[t, k], Z[t, k + 1] = c * x + s * y, c * y - s * x


@inner
def forward(factor, m, x):
    """x becomes L^-1 x."""
    for i in range(m):
        x[i] = (x[i] - dot(factor[i], x, i)) / factor[i, i]


@inner
def backward(factor, m, x):
    """x becomes L'^-1 x; by rows of L, which are contiguous."""
    for i in range(m - 1, -1, -1):
        x[i] /= factor[i, i]
        value, row = x[i], factor[i]
        for j in range(i):
            x[j] -= value * row[j]


@njit(cache=True)
def solve(factor, m, right):
    """Return A^-1 `right`.

    Parameters
    ----------
    factor : ndarray of shape (cap, cap)
        Its first m rows hold L.
    m : int
    right : ndarray of shape (m,)

    Returns
    -------
    ndarray of shape (m,)

    Examples
    --------
    >>> factor = np.zeros((2, 2))
    >>> grow(factor, 0, np.empty(0), 4.0, 1e-10), grow(factor, 1, np.array([2.0]), 5.0, 1e-10)
    (True, True)
    >>> solve(factor, 2, np.array([8.0, 12.0])).tolist()
    [1.0, 2.0]
    """
    x = right.copy()
    forward(factor, m, x)
    backward(factor, m, x)
    return x


@njit(cache=True)
def grow(factor, m, column, own, tiny):
    """Enlarge A by a row, in place; False, and nothing changes, if it depends on those there.

    Parameters
    ----------
    factor : ndarray of shape (cap, cap)
        With room for one more row.
    m : int
        Rows in use.
    column : ndarray of shape (m,)
        Entries of the new row.
    own : float
        Its diagonal entry.
    tiny : float
        The part of `own` below which what the other rows leave of it counts as rounding.

    Returns
    -------
    bool

    Examples
    --------
    >>> factor = np.zeros((2, 2))
    >>> grow(factor, 0, np.empty(0), 4.0, 1e-10), grow(factor, 1, np.array([4.0]), 4.0, 1e-10)
    (True, False)
    """
    return append(factor, m, column, own, tiny)


@njit(cache=True)
def shrink(factor, m, p):
    """Remove row p of A, in place.

    Parameters
    ----------
    factor : ndarray of shape (cap, cap)
    m : int
        Rows in use, before.
    p : int

    Examples
    --------
    >>> factor = np.array([[2.0, 0.0], [1.0, 2.0]])
    >>> shrink(factor, 2, 0)
    >>> round(float(factor[0, 0]) ** 2, 12)  # the entry of A that is left
    5.0
    """
    delete(factor, m, p, np.empty((0, 0)))
