"""What the power method is compared with: one random contraction, joint diagonalisation, a flattened SVD.

All three read the components off matrices. A single contraction T(I, I, eta) loses where two of the values
lam_i (v_i' eta) come close; the flattening needs distinct lam_i; joint diagonalisation uses all slices at once.
"""

import numpy as np
from numba import njit

from learnable.chapters.tensor_decompositions.theory import T_IIu, sym_rank_one_sum
from learnable.latent.tensors.algebra import TensorEigen, contract, pack
from learnable.validation import check_rng, warn_not_converged


def random_contraction(T, random_state=None, *, eta=None):
    """Eigenvectors of T(I, I, eta) for one random direction eta (Anandkumar et al. 2014, App. D). O(k^3)."""
    eta = check_rng(random_state).standard_normal(T.shape[0]) if eta is None else eta
    return _signed(T, np.linalg.eigh(T_IIu(T, eta))[1])


def flattening_svd(T):
    """Left singular vectors of T as a k x k^2 matrix: the components, if all lam_i differ. O(k^4)."""
    k = T.shape[0]
    return _signed(T, np.linalg.svd(T.reshape(k, k * k), full_matrices=False)[0])


def joint_diagonalization(T, *, max_iter=100, tol=1e-10):
    """Rotation that makes all slices T(I, I, e_l) as diagonal as possible, by Jacobi rotations. A sweep is O(k^4)."""
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
    """A[:, :, l] are the matrices; rotated in place.

    The angle that makes the pair (p, q) most diagonal in all of them at once maximises a quadratic form in (cos 4x,
    sin 4x) of the vectors (a_pp - a_qq, 2 a_pq): Cardoso and Souloumiac 1996.
    """
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
