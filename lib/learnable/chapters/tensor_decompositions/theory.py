"""Tensors as multilinear maps, the power iteration from one start, and the bounds that the theory promises.

A tensor T of order p over R^d takes p matrices and returns a tensor again; with vectors in place of matrices
T(I, u, u) is a vector and T(u, u, u) a number. Throughout T = sum lam_i v_i (x) v_i (x) v_i with orthonormal v_i and
lam_i > 0. Source: Anandkumar et al. 2014.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from learnable.latent.tensors.algebra import contract, frobenius_norm, pack, random_unit
from learnable.validation import check_rng


def pair_triple_moments(counts):
    """Mean of e_x (x) e_y and of e_x (x) e_y (x) e_z over ordered pairs and triples of one document's words. O(d^3)."""
    c = np.asarray(counts, float)
    n, i = c.sum(), np.arange(c.size)
    pairs = np.outer(c, c) - np.diag(c)
    triples = np.multiply.outer(np.outer(c, c), c)
    for axes in ((0, 1, 2), (0, 2, 1), (1, 2, 0)):
        # The diagonal of two of the three indices: a view into `triples`.
        triples.transpose(axes)[i, i, :] -= np.outer(c, c)
    triples[i, i, i] += 2 * c
    return pairs / (n * (n - 1)), triples / (n * (n - 1) * (n - 2))


def multilinear(T, *Vs):
    """Apply a tensor to one matrix or vector per mode; None stands for the identity."""
    result, kept = np.asarray(T, float), 0
    for V in Vs:
        if V is None:
            kept += 1
            continue
        result = np.tensordot(result, V, axes=(kept, 0))
        if np.ndim(V) == 2:
            result = np.moveaxis(result, -1, kept)
            kept += 1
    return float(result) if result.ndim == 0 else result


def T_Iuu(T, u):
    """Return T(I, u, u) for order 3, and T(I, u, ..., u) in general: the map of the power method. O(d^p)."""
    return multilinear(T, None, *[u] * (np.ndim(T) - 1))


def T_IIu(T, u):
    """Return the matrix T(I, I, u, ..., u). O(d^p)."""
    return multilinear(T, None, None, *[u] * (np.ndim(T) - 2))


def T_uuu(T, u):
    """Return the number T(u, ..., u). O(d^p)."""
    return multilinear(T, *[u] * np.ndim(T))


def sym_rank_one_sum(weights, V, order=3):
    """Return sum_i lam_i v_i (x) ... (x) v_i for the columns v_i of V."""
    V, weights = np.asarray(V, float), np.asarray(weights, float)
    d, left = V.shape[0], V * weights
    for _ in range(order - 2):
        left = (left[:, None, :] * V).reshape(-1, weights.size)
    return left.sum(axis=1) if order == 1 else (left @ V.T).reshape((d,) * order)


def operator_norm(T, n_restarts=50, *, max_iter=100, random_state=None):
    """Return the largest |T(u, u, u)| over unit vectors that many shifted power runs find."""
    packed = pack(T)
    theta = random_unit(T.shape[0], n_restarts, check_rng(random_state))
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
    """Assign found components to true ones with the smallest total distance."""
    near = np.linalg.norm(truth[:, None] - found, axis=2)
    far = np.linalg.norm(truth[:, None] + found, axis=2) if signed else np.full_like(near, np.inf)
    rows, order = linear_sum_assignment(np.minimum(near, far))
    return order, np.where(far[rows, order] < near[rows, order], -1.0, 1.0)


def tensor_power(T, theta0, max_iter=20, *, trace=False):
    """Iterate u <- T(I, u, u) / ||.|| from one start (Anandkumar et al. 2014, eq. 6). O(n_iter k^3)."""
    theta = np.asarray(theta0, float) / np.linalg.norm(theta0)
    packed, path = pack(T), [theta]
    for _ in range(max_iter):
        image = contract(packed, theta[:, None])[:, 0]
        theta = image / np.linalg.norm(image)
        path.append(theta)
    value = float(theta @ contract(packed, theta[:, None])[:, 0])
    return (np.array(path) if trace else theta), value


def is_isolated_maximizer(T, u, *, tol=1e-6):
    """Test whether a unit eigenvector is an isolated local maximiser of T(u, u, u) over the unit ball."""
    u = np.asarray(u, float) / np.linalg.norm(u)
    lam, scale = T_uuu(T, u), frobenius_norm(T)
    if lam <= tol * scale:
        return False
    hessian = 6 * T_IIu(T, u) - 3 * lam * np.eye(u.size)
    # A basis of the complement of u: the last columns of a full QR factorisation.
    basis = np.linalg.qr(np.column_stack([u, np.eye(u.size)]))[0][:, 1:]
    return bool(np.linalg.eigvalsh(basis.T @ hessian @ basis).max() < -tol * scale)


def quadratic_bound(weights, c, t):
    """Bound on ||v_1 - theta_t||^2 after t steps on an exact tensor (Anandkumar et al. 2014, Lemma 5.1)."""
    pull = weights * np.abs(c)
    order = np.argsort(-pull, kind="stable")
    ratio = pull[order[1]] / pull[order[0]]
    factor = 2 * weights[order[0]] ** 2 * (weights[order[1:]] ** -2.0).sum()
    return factor * ratio ** (2.0 ** (t + 1))


class PerturbationRatios(NamedTuple):
    """Errors over eps, from :func:`perturbation_ratios`."""

    eigenvector: float
    eigenvalue: float
    residual: float


def perturbation_ratios(weights, V, found_lam, found_V, eps, *, random_state=None):
    """Errors of a decomposition over eps: how much of the bounds of Theorem 5.1 a run uses up."""
    order, _ = match_components(found_V.T, V.T)
    distance = np.linalg.norm(V - found_V[:, order], axis=0)
    rest = sym_rank_one_sum(weights, V) - sym_rank_one_sum(found_lam, found_V)
    return PerturbationRatios(
        eigenvector=float((weights * distance).max() / eps),
        eigenvalue=float(np.abs(weights - found_lam[order]).max() / eps),
        residual=operator_norm(rest, random_state=random_state) / eps,
    )


def coherence_condition(A, eps, delta):
    """Whether the coherence is at most (eps^2 / 6) / ln(3 k / delta): then a random split into three views works."""
    return bool(subspace_coherence(A) <= eps**2 / 6 / np.log(3 * A.shape[1] / delta))


def subspace_coherence(A):
    """Largest diagonal entry of the projector on the range of A, between k / n and 1 (Anandkumar et al. 2014, 3.3)."""
    return float(np.round((np.linalg.qr(A)[0] ** 2).sum(axis=1).max(), 15))
