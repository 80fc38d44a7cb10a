"""What the power method is compared with: one random contraction, joint diagonalisation, a flattened SVD.

All three read the components off matrices. A single contraction T(I, I, eta) loses where two of the values
lam_i (v_i' eta) come close; the flattening needs distinct lam_i; joint diagonalisation uses all slices at once.
"""

import numpy as np
from numba import njit

from learnable.latent.tensor_decompositions.tensors import (
    T_IIu,
    TensorEigen,
    check_symmetric,
    contract,
    pack,
    sym_rank_one_sum,
)
from learnable.latent.tensor_decompositions.whitening import whiten
from learnable.validation import check_finite_array, check_rng, check_scalar, warn_not_converged

__all__ = ["flattening_svd", "joint_diagonalization", "random_contraction"]


def random_contraction(T, random_state=None, *, eta=None):
    """Eigenvectors of T(I, I, eta) for one random direction eta (Anandkumar et al. 2014, App. D). O(k^3).

    Parameters
    ----------
    T : array-like of shape (k, k, k)
        Symmetric.
    random_state : int, Generator or None
    eta : array-like of shape (k,), optional
        Standard normal by default.

    Returns
    -------
    TensorEigen

    Examples
    --------
    >>> T = np.zeros((2, 2, 2)); T[0, 0, 0], T[1, 1, 1] = 1.0, 3.0
    >>> np.sort(random_contraction(T, 0).eigenvalues).round(6)
    array([1., 3.])
    """
    T = check_symmetric(T)
    k = T.shape[0]
    eta = check_rng(random_state).standard_normal(k) if eta is None else eta
    return _signed(T, np.linalg.eigh(T_IIu(T, check_finite_array(eta, "eta", ndim=1)))[1])


def jennrich(M2, M3, k, random_state=None, *, eta=None):
    """Weights and components from the eigenvectors of M3(I, I, eta) M2^+ (Jennrich's method), for a_i = b_i = w_i.

    M3(I, I, eta) M2^+ = V D V^+ with the components mu_i, up to length, as columns of V. The eigenproblem
    is solved in the whitened space, where it is symmetric. O(d^3).

    Parameters
    ----------
    M2, M3 : array-like of shape (d, d), (d, d, d)
        Symmetric.
    k : int
    random_state : int, Generator or None
    eta : array-like of shape (d,), optional

    Returns
    -------
    weights : ndarray of shape (k,)
    components : ndarray of shape (k, d)

    Examples
    --------
    >>> mu, w = np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([0.6, 0.4])
    >>> M2, M3 = np.einsum("k,ki,kj->ij", w, mu, mu), np.einsum("k,ki,kj,kl->ijl", w, mu, mu, mu)
    >>> weights, components = jennrich(M2, M3, 2, 0)
    >>> np.sort(weights).round(6)
    array([0.4, 0.6])
    """
    M3 = check_symmetric(M3, "M3")
    W, B = whiten(M2, k)
    eta = check_rng(random_state).standard_normal(M3.shape[0]) if eta is None else eta
    contracted = T_IIu(M3, check_finite_array(eta, "eta", ndim=1))
    V = np.linalg.eigh(W.T @ contracted @ W)[1]
    lam = np.einsum("ijl,ia,ja,la->a", M3, *[W @ V] * 3, optimize=True)
    V = V * np.where(lam < 0, -1.0, 1.0)
    lam = np.abs(lam)
    if lam.min() <= 0:
        raise ValueError(f"a component of {k} has eigenvalue zero: lower k")
    return 1 / lam**2, (B @ V * lam).T


def flattening_svd(T):
    """Left singular vectors of T as a k x k^2 matrix: the components, if all lam_i differ. O(k^4).

    Parameters
    ----------
    T : array-like
        A tensor.

    Returns
    -------
    TensorEigen

    Examples
    --------
    >>> T = np.zeros((2, 2, 2)); T[0, 0, 0], T[1, 1, 1] = 1.0, 3.0
    >>> flattening_svd(T).eigenvalues.round(6)
    array([3., 1.])
    """
    T = check_symmetric(T)
    k = T.shape[0]
    return _signed(T, np.linalg.svd(T.reshape(k, k * k), full_matrices=False)[0])


def joint_diagonalization(T, *, max_iter=100, tol=1e-10):
    """Rotation that makes all slices T(I, I, e_l) as diagonal as possible, by Jacobi rotations. O(k^4) a sweep.

    Each rotation has a closed form (Cardoso and Souloumiac 1996). Unlike one contraction it has no unlucky direction,
    and unlike the power method no deflation.

    Parameters
    ----------
    T : array-like of shape (k, k, k)
        Symmetric.
    max_iter : int, default=100
    tol : float, default=1e-10
        Stop when no rotation of a sweep exceeds this angle.

    Returns
    -------
    TensorEigen

    Examples
    --------
    >>> from learnable.datasets.matrices import make_symmetric_tensor
    >>> made = make_symmetric_tensor(5, 5, weights=1.0, noise=0.0, random_state=0)
    >>> joint_diagonalization(made.tensor).eigenvalues.round(6)
    array([1., 1., 1., 1., 1.])
    """
    T = check_symmetric(T)
    max_iter = check_scalar(max_iter, "max_iter", low=1, integer=True)
    tol = check_scalar(tol, "tol", low=0)
    V, n_iter, angle = _jacobi(np.ascontiguousarray(T.copy()), max_iter, tol)
    if angle > tol:
        warn_not_converged("joint_diagonalization", n_iter, angle, tol)
    return _signed(T, V, n_iter=int(n_iter), converged=bool(angle <= tol))


def _signed(T, V, **how):
    values = np.einsum("il,il->l", V, contract(pack(T), V))
    eigenvectors = V * np.where(values < 0, -1.0, 1.0)
    rest = T - sym_rank_one_sum(np.abs(values), eigenvectors, T.ndim)
    return TensorEigen(np.abs(values), eigenvectors, rest, **how)


@njit(cache=True)
def _jacobi(A, max_sweeps, tol):
    """A[:, :, l] are the matrices; rotated in place."""
    k = A.shape[0]
    V = np.eye(k)
    n_sweeps, largest = 0, 0.0
    while n_sweeps < max_sweeps:
        n_sweeps += 1
        largest = 0.0
        for p in range(k - 1):
            for q in range(p + 1, k):
                on, off, cross = 0.0, 0.0, 0.0
                for m in range(A.shape[2]):
                    g1 = A[p, p, m] - A[q, q, m]
                    g2 = 2.0 * A[p, q, m]
                    on += g1 * g1
                    off += g2 * g2
                    cross += g1 * g2
                angle = 0.25 * np.arctan2(2.0 * cross, on - off)
                if abs(angle) <= tol:
                    continue
                largest = max(largest, abs(angle))
                c, s = np.cos(angle), np.sin(angle)
                for i in range(k):
                    for m in range(A.shape[2]):
                        x, y = A[p, i, m], A[q, i, m]
                        A[p, i, m], A[q, i, m] = c * x + s * y, c * y - s * x
                for i in range(k):
                    for m in range(A.shape[2]):
                        x, y = A[i, p, m], A[i, q, m]
                        A[i, p, m], A[i, q, m] = c * x + s * y, c * y - s * x
                for i in range(k):
                    x, y = V[i, p], V[i, q]
                    V[i, p], V[i, q] = c * x + s * y, c * y - s * x
        if largest <= tol:
            break
    return V, n_sweeps, largest
