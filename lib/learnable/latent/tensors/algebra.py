"""Symmetric tensors as multilinear maps: checks, norms, and the contractions behind the power method.

A tensor T of order p over R^d takes p matrices and returns a tensor again,

    [T(V_1, ..., V_p)]_{i_1 ... i_p} = sum_j T_{j_1 ... j_p} [V_1]_{j_1 i_1} ... [V_p]_{j_p i_p},

and with vectors in place of matrices T(I, u, u) is a vector and T(u, u, u) a number (Anandkumar et al. 2014, Sec. 2).
"""

from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numba import njit

from learnable.validation import Result, check_finite_array, check_magnitude


@dataclass(frozen=True, eq=False)
class TensorEigen(Result):
    """Eigenvalues and eigenvectors of a symmetric tensor, and what they leave of it.

    Attributes
    ----------
    eigenvalues : ndarray of shape (k,)
    eigenvectors : ndarray of shape (d, k)
        One for each column.
    residual : ndarray of the shape of the tensor
        T less the sum of its parts.
    n_restarts : int or None
        Starting points used by the power method.
    n_iter : int or None
        Sweeps of the joint diagonalisation.
    converged : bool
    """

    eigenvalues: np.ndarray
    eigenvectors: np.ndarray
    residual: np.ndarray
    n_restarts: int | None = None
    n_iter: int | None = None
    converged: bool = True


def symmetrize(T):
    """Average a tensor over all orders of its indices.

    Parameters
    ----------
    T : array-like
        A tensor.

    Examples
    --------
    >>> symmetrize([[0.0, 2.0], [0.0, 1.0]])
    array([[0., 1.],
           [1., 1.]])
    """
    T = check_finite_array(T, "T")
    if len(set(T.shape)) > 1:
        raise ValueError(f"T must have the same size in every mode, got shape {T.shape}")
    orders = list(permutations(range(T.ndim)))
    total = np.zeros_like(T)
    for order in orders:
        total += T.transpose(order)
    return total / len(orders)


def check_symmetric_tensor(T, name="T", *, orders=(3,)):
    """Return a tensor as float64 after checking that it is symmetric to rounding.

    Parameters
    ----------
    T : array-like
        A tensor.
    name : str, default="T"
        The argument's name, for the message.
    orders : tuple of int, default=(3,)
        Orders that are accepted.

    Examples
    --------
    >>> check_symmetric_tensor(np.zeros((2, 2, 3)))
    Traceback (most recent call last):
    ...
    ValueError: T must have the same size in every mode, got shape (2, 2, 3)
    """
    T = check_magnitude(check_finite_array(T, name), name, smallest=0.0, largest=1e100)
    if T.ndim not in orders:
        raise ValueError(f"{name} must be of order {' or '.join(map(str, orders))}, got order {T.ndim}")
    if len(set(T.shape)) > 1 or T.size == 0:
        raise ValueError(f"{name} must have the same size in every mode, got shape {T.shape}")
    # Two generators of the symmetric group suffice.
    cycle, swap = (*range(1, T.ndim), 0), (1, 0, *range(2, T.ndim))
    off = max(np.abs(T - T.transpose(cycle)).max(), np.abs(T - T.transpose(swap)).max())
    if off > 1e-8 * max(np.abs(T).max(), 1e-300):
        raise ValueError(f"{name} must be symmetric, entries differ by {off:.3g}; symmetrize() averages them")
    return T


def frobenius_norm(T):
    """Return the root of the sum of squares of all entries.

    Parameters
    ----------
    T : array-like
        A tensor.

    Examples
    --------
    >>> frobenius_norm(np.full((2, 2, 2), 3.0)) == 3 * 8**0.5
    True
    """
    T = check_magnitude(check_finite_array(T, "T"), "T", smallest=0.0, largest=1e300)
    unit = np.abs(T).max(initial=0.0) or 1.0  # so that no square overflows or vanishes
    return float(unit * np.linalg.norm(T.ravel() / unit))


def random_unit(d, n, rng):
    """Return n vectors, uniform on the unit sphere of R^d, as the columns of an array."""
    theta = rng.standard_normal((d, n))
    return theta / np.linalg.norm(theta, axis=0)


def pack(T):
    """Store T as a matrix with one column for each pair i <= j of its last two indices, off-diagonal ones doubled.

    Then T(I, u, u) = packed @ (u_i u_j for i <= j): half the work of the full product.
    """
    d = T.shape[-1]
    i, j = np.triu_indices(d)
    return np.ascontiguousarray(T[..., i, j].reshape(-1, i.size) * np.where(i == j, 1.0, 2.0))


def contract(packed, theta):
    """Return T(I, u, u) (order 3) or T(I, u, u, u) (order 4) for every column u of theta: one matrix product."""
    d, n = theta.shape
    image = packed @ pair_products(np.ascontiguousarray(theta))
    if packed.shape[0] == d:
        return image
    return np.einsum("ijl,jl->il", image.reshape(d, d, n), theta)


@njit(cache=True)
def pair_products(theta):
    """The products u_i u_j, i <= j, of the entries of every column of theta."""
    d, n = theta.shape
    out = np.empty((d * (d + 1) // 2, n))
    row = 0
    for i in range(d):
        for j in range(i, d):
            for a in range(n):
                out[row, a] = theta[i, a] * theta[j, a]
            row += 1
    return out
