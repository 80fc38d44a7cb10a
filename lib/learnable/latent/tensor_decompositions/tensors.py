"""Symmetric tensors as multilinear maps: contractions, norms, and the matching of components.

A tensor T of order p over R^d takes p matrices and returns a tensor again,

    [T(V_1, ..., V_p)]_{i_1 ... i_p} = sum_j T_{j_1 ... j_p} [V_1]_{j_1 i_1} ... [V_p]_{j_p i_p},

and with vectors in place of matrices T(I, u, u) is a vector and T(u, u, u) a number (Anandkumar et al. 2014, Sec. 2).
"""

from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numba import njit
from scipy.optimize import linear_sum_assignment

from learnable.validation import Result, check_finite_array, check_magnitude, check_rng, check_scalar

__all__ = [
    "T_IIu",
    "T_Iuu",
    "T_uuu",
    "TensorEigen",
    "check_symmetric",
    "frobenius_norm",
    "match_components",
    "multilinear",
    "operator_norm",
    "sym_rank_one_sum",
    "symmetrize",
]


@dataclass(frozen=True, eq=False)
class TensorEigen(Result):
    """Eigenvalues and eigenvectors of a symmetric tensor, and what they leave of it.

    Attributes
    ----------
    eigenvalues : ndarray of shape (k,)
    eigenvectors : ndarray of shape (d, k)
        One a column.
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


def multilinear(T, *Vs):
    """Apply a tensor to one matrix or vector per mode; None stands for the identity.

    One matrix product per mode: O(d^p m) for the first of them, less for the later ones if m < d.

    Parameters
    ----------
    T : array-like of shape (d_1, ..., d_p)
    *Vs : array-like of shape (d_r, m_r) or (d_r,), or None
        A vector removes its mode.

    Returns
    -------
    ndarray or float

    Examples
    --------
    >>> T = sym_rank_one_sum([2.0], [[0.6], [0.8]])
    >>> multilinear(T, None, [0.6, 0.8], [0.6, 0.8]).round(3)
    array([1.2, 1.6])
    """
    T = check_magnitude(check_finite_array(T, "T"), "T", smallest=0.0, largest=1e100)
    if len(Vs) != T.ndim or T.ndim == 0:
        raise ValueError(f"T has {T.ndim} modes, got {len(Vs)} matrices")
    result, kept = T, 0
    for r, V in enumerate(Vs):
        if V is None:
            kept += 1
            continue
        V = check_magnitude(check_finite_array(V, f"V_{r + 1}"), f"V_{r + 1}", smallest=0.0, largest=1e50)
        if V.ndim not in (1, 2) or V.shape[0] != T.shape[r]:
            raise ValueError(
                f"V_{r + 1} must have {T.shape[r]} rows, one for each index of mode {r + 1}, got {V.shape}"
            )
        result = np.tensordot(result, V, axes=(kept, 0))
        if V.ndim == 2:
            result = np.moveaxis(result, -1, kept)
            kept += 1
    return float(result) if result.ndim == 0 else result


def T_Iuu(T, u):
    """Return T(I, u, u) for order 3, and T(I, u, ..., u) in general: the map of the power method. O(d^p).

    Parameters
    ----------
    T : array-like
        A tensor.
    u : array-like of shape (d,)

    Examples
    --------
    >>> T_Iuu(sym_rank_one_sum([3.0, 1.0], [[1, 0], [0, 1]]), [1.0, 1.0])
    array([3., 1.])
    """
    T = check_finite_array(T, "T")
    return multilinear(T, None, *[u] * (T.ndim - 1))


def T_IIu(T, u):
    """Return the matrix T(I, I, u, ..., u). O(d^p).

    Parameters
    ----------
    T : array-like
        A tensor.
    u : array-like of shape (d,)

    Examples
    --------
    >>> T_IIu(sym_rank_one_sum([3.0, 1.0], [[1, 0], [0, 1]]), [1.0, 1.0])
    array([[3., 0.],
           [0., 1.]])
    """
    T = check_finite_array(T, "T")
    return multilinear(T, None, None, *[u] * (T.ndim - 2))


def T_uuu(T, u):
    """Return the number T(u, ..., u). O(d^p).

    Parameters
    ----------
    T : array-like
        A tensor.
    u : array-like of shape (d,)

    Examples
    --------
    >>> T_uuu(sym_rank_one_sum([3.0, 1.0], [[1, 0], [0, 1]]), [1.0, 1.0])
    4.0
    """
    T = check_finite_array(T, "T")
    return multilinear(T, *[u] * T.ndim)


def sym_rank_one_sum(weights, V, order=3):
    """Return sum_i lam_i v_i (x) ... (x) v_i for the columns v_i of V.

    Parameters
    ----------
    weights : array-like of shape (k,)
    V : array-like of shape (d, k)
    order : int, default=3

    Returns
    -------
    ndarray of shape (d,) * order

    Examples
    --------
    >>> sym_rank_one_sum([2.0], [[1.0], [1.0]], order=2)
    array([[2., 2.],
           [2., 2.]])
    """
    weights = check_finite_array(weights, "weights", ndim=1)
    V = check_finite_array(V, "V", ndim=2)
    order = check_scalar(order, "order", low=1, high=64, integer=True)
    if V.shape[0] > 1 and order * np.log2(V.shape[0]) > 30:
        raise ValueError(f"a tensor of order {order} over R^{V.shape[0]} has more than 2^30 entries: lower order")
    check_magnitude(weights, "weights", smallest=0.0, largest=1e100)
    check_magnitude(V, "V", smallest=0.0, largest=10.0 ** (200 / order))
    if V.shape[1] != weights.size:
        raise ValueError(f"V must have one column for each of the {weights.size} weights, got {V.shape[1]}")
    d, left = V.shape[0], V * weights
    for _ in range(order - 2):
        left = (left[:, None, :] * V).reshape(-1, weights.size)
    return left.sum(axis=1) if order == 1 else (left @ V.T).reshape((d,) * order)


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


def check_symmetric(T, name="T", *, orders=(3,)):
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
    >>> check_symmetric(np.zeros((2, 2, 3)))
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
    >>> frobenius_norm(sym_rank_one_sum([3.0, 4.0], [[1, 0], [0, 1]]))
    5.0
    """
    T = check_magnitude(check_finite_array(T, "T"), "T", smallest=0.0, largest=1e300)
    unit = np.abs(T).max(initial=0.0) or 1.0  # so that no square overflows or vanishes
    return float(unit * np.linalg.norm(T.ravel() / unit))


def operator_norm(T, n_restarts=50, *, max_iter=100, random_state=None):
    """Return the largest |T(u, u, u)| over unit vectors that many shifted power runs find.

    It is a lower bound of ||T|| = sup |T(u, u, u)|, tight in practice for the sizes of a decomposition; finding the
    supremum is NP-hard in general (Hillar and Lim 2013). The iteration u <- T(I, u, u) + c u with c from the current
    value is the stabilised one of Kolda and Mayo (2011). Cost O(n_iter n_restarts d^3), in matrix products.

    Parameters
    ----------
    T : array-like of shape (d, d, d)
        Symmetric.
    n_restarts, max_iter : int, default=50, 100
    random_state : int, Generator or None

    Returns
    -------
    float

    Examples
    --------
    >>> round(operator_norm(sym_rank_one_sum([3.0, 1.0], [[1, 0], [0, 1]]), random_state=0), 6)
    3.0
    """
    T = check_symmetric(T)
    n_restarts = check_scalar(n_restarts, "n_restarts", low=1, integer=True)
    max_iter = check_scalar(max_iter, "max_iter", low=1, integer=True)
    rng = check_rng(random_state)
    packed = pack(T)
    theta = random_unit(T.shape[0], n_restarts, rng)
    best, before = 0.0, np.inf
    for _ in range(max_iter):
        image = contract(packed, theta)
        value = np.einsum("il,il->l", theta, image)
        best = max(best, np.abs(value).max())
        # The map is odd-homogeneous in sign: -u has the value -T(u, u, u), so every run climbs towards its own sign.
        theta = theta * np.where(value < 0, -1.0, 1.0)
        theta = image + np.maximum(np.abs(value), 0.5 * best) * theta
        norms = np.linalg.norm(theta, axis=0)
        if not norms.all():
            break
        theta /= norms
        if (np.abs(value - before) <= 1e-14 * best).all():  # every run has arrived
            break
        before = value
    return float(best)


def match_components(found, truth, *, signed=False):
    """Assign found components to true ones with the smallest total distance.

    Parameters
    ----------
    found, truth : array-like of shape (k, d)
        One component a row.
    signed : bool, default=False
        Let each found component also appear with its sign turned (even-order tensors, ICA).

    Returns
    -------
    order : ndarray of shape (k,)
        ``found[order[i]]`` belongs to ``truth[i]``.
    signs : ndarray of shape (k,)
        All one unless `signed`.

    Examples
    --------
    >>> match_components([[0.0, 1.1], [0.9, 0.0]], [[1.0, 0.0], [0.0, 1.0]])[0]
    array([1, 0])
    """
    found, truth = check_finite_array(found, "found", ndim=2), check_finite_array(truth, "truth", ndim=2)
    if found.shape != truth.shape:
        raise ValueError(f"found and truth must have one shape, got {found.shape} and {truth.shape}")
    near = np.linalg.norm(truth[:, None] - found, axis=2)
    far = np.linalg.norm(truth[:, None] + found, axis=2) if signed else np.full_like(near, np.inf)
    rows, order = linear_sum_assignment(np.minimum(near, far))
    return order, np.where(far[rows, order] < near[rows, order], -1.0, 1.0)


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
