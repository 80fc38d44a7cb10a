"""The tensor power method: one robust component at a time, deflation, and the variant with a stopping rule.

u <- T(I, u, u) / ||T(I, u, u)|| converges quadratically to the component with the largest lambda_i |v_i' u_0|
(Anandkumar et al. 2014, Lemma 5.1). All restarts run side by side: one iteration is one matrix product.
"""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from learnable.latent.tensors.algebra import (
    TensorEigen,
    check_symmetric_tensor,
    contract,
    frobenius_norm,
    pack,
    random_unit,
)
from learnable.validation import check_choice, check_rng, check_scalar

SETTLED = 1e-13  # an iterate that moves by less than this has converged


def default_restarts(k):
    """Number of restarts in practice, max(10, 4 k); the theory asks for about k^(1 + delta)."""
    return max(10, 4 * k)


def tensor_eig(T, k=None, n_restarts=None, max_iter=30, random_state=None, *, method="reuse"):
    """Decompose a tensor into k robust components by repeated deflation (Anandkumar et al. 2014, Theorem 5.1).

    Parameters
    ----------
    T : array-like of shape (d, d, d) or (d, d, d, d)
        Symmetric, near to sum_i lam_i v_i (x) v_i (x) v_i with orthonormal v_i.
    k : int, optional
        Number of components; d by default.
    n_restarts : int, optional
        ``max(10, 4 k)`` by default.
    max_iter : int, default=30
    random_state : int, Generator or None
    method : {"reuse", "restart", "stop"}, default="reuse"
        ``"restart"`` is Algorithm 1 called k times, ``"stop"`` Algorithm 2 (order 3 only). ``"reuse"`` keeps the
        restarts that settled at other components: after a deflation they are starts next to the answer, and fresh
        ones are added when they run short. Same answers, about k times less work: O(n_restarts n_iter d^3).

    Returns
    -------
    TensorEigen

    Examples
    --------
    >>> from learnable.datasets import make_symmetric_tensor
    >>> made = make_symmetric_tensor(6, 6, noise=0.0, random_state=0)
    >>> found = tensor_eig(made.tensor, random_state=0)
    >>> bool(np.allclose(np.sort(found.eigenvalues), np.sort(made.weights)))
    True
    """
    T = check_symmetric_tensor(T, orders=(3, 4))
    k = T.shape[0] if k is None else check_scalar(k, "k", low=1, high=T.shape[0], integer=True)
    T, n_restarts, max_iter = _settings(T, default_restarts(k) if n_restarts is None else n_restarts, max_iter)
    check_choice(method, "method", ("reuse", "restart", "stop"))
    if method == "stop" and T.ndim != 3:
        raise ValueError("method='stop' is stated for order 3 only; use 'reuse' or 'restart'")
    rng = check_rng(random_state)
    if method == "reuse":
        return _deflate_and_reuse(T, k, n_restarts, max_iter, rng)
    values, vectors, n_starts = np.empty(k), np.empty((T.shape[0], k)), 0
    for j in range(k):
        if method == "restart":
            values[j], vectors[:, j], T = _restart(T, n_restarts, max_iter, rng)
            n_starts += n_restarts
        else:
            values[j], vectors[:, j], T, drawn = _redraw(T, max_iter, k - j, rng, 1000)
            n_starts += drawn
    return TensorEigen(values, vectors, T, n_restarts=n_starts)


def _settings(T, n_restarts, n_iter):
    T = check_symmetric_tensor(T, orders=(3, 4))
    n_restarts = default_restarts(T.shape[0]) if n_restarts is None else n_restarts
    n_restarts = check_scalar(n_restarts, "n_restarts", low=1, integer=True)
    return T, n_restarts, check_scalar(n_iter, "n_iter", low=1, integer=True)


def _iterate(packed, theta, n_iter, tol):
    """Run all columns for n_iter steps, or until they move by less than tol (up to sign); count the steps."""
    active, steps = np.arange(theta.shape[1]), 0
    current = theta
    theta = theta.copy()
    for _ in range(n_iter):
        image = contract(packed, current)
        norms = np.linalg.norm(image, axis=0)
        alive = norms > 0.0  # where T(I, u, u) = 0 the iteration has nowhere to go
        if not alive.all():
            active, image, norms, current = active[alive], image[:, alive], norms[alive], current[:, alive]
            if active.size == 0:
                break
        image /= norms
        steps += 1
        moved = np.minimum(np.abs(image - current).max(axis=0), np.abs(image + current).max(axis=0))
        theta[:, active] = image
        going = moved > tol
        if not going.any():
            break
        if going.mean() < 0.8:
            active, image = active[going], image[:, going]
        current = image
    return theta, steps


def _best(packed, theta, n_iter, order):
    """The column with the largest value, iterated on; its value and itself."""
    values = np.einsum("il,il->l", theta, contract(packed, theta))
    best = int(np.argmax(np.abs(values) if order == 4 else values))
    v, _ = _iterate(packed, theta[:, [best]], n_iter, SETTLED)
    v = v[:, 0]
    return float(v @ contract(packed, v[:, None])[:, 0]), v


def _restart(T, n_restarts, n_iter, rng):
    """Algorithm 1 without the checks."""
    packed = pack(T)
    theta, _ = _iterate(packed, random_unit(T.shape[0], n_restarts, rng), n_iter, 1e-9)
    lam, v = _best(packed, theta, n_iter, T.ndim)
    return lam, v, T - lam * _outer(v, T.ndim)


def _redraw(T, n_iter, r, rng, max_restarts):
    """Algorithm 2 without the checks; the floor is that of its box, ||T||_F / (2 sqrt r), not that of the text."""
    k = T.shape[0]
    packed, floor = pack(T), frobenius_norm(T) / (2 * np.sqrt(r))
    best, chosen, accepted, n_starts = -np.inf, None, False, 0
    while n_starts < max_restarts:
        n_starts += 1
        theta, _ = _iterate(packed, random_unit(k, 1, rng), n_iter, SETTLED)
        u = theta[:, 0]
        value = abs(u @ contract(packed, theta)[:, 0])
        if value > best:
            best, chosen = value, theta
        if value >= max(floor, np.linalg.norm(np.tensordot(T, u, axes=(2, 0))) / 1.05):
            chosen, accepted = theta, True
            break
    if not accepted:
        warnings.warn(
            f"no start of {max_restarts} met the stopping rule: T is far from an orthogonal decomposition of rank {r}; "
            "lower the number of components or use method='restart'",
            ConvergenceWarning,
            stacklevel=3,
        )
    lam, v = _best(packed, chosen, n_iter, 3)
    return lam, v, T - lam * _outer(v, 3), n_starts


def _deflate_and_reuse(T, k, n_restarts, n_iter, rng):
    """Deflate the packed matrix itself, and keep the restarts that lie far from the component just found."""
    d, order = T.shape[0], T.ndim
    packed, weight = pack(T), _pair_weights(d)
    i, m = np.triu_indices(d)
    values, vectors = np.empty(k), np.empty((d, k))
    theta, reached, n_starts = np.empty((d, 0)), np.empty(0), 0
    for j in range(k):
        wanted = n_restarts if j == 0 else min(n_restarts, max(10, 2 * (k - j)))
        if theta.shape[1] < wanted:
            fresh = random_unit(d, wanted - theta.shape[1], rng)
            n_starts += fresh.shape[1]
            fresh, _ = _iterate(packed, fresh, n_iter, 1e-6)
            theta = np.hstack([theta, fresh])
            reached = np.append(reached, np.einsum("il,il->l", fresh, contract(packed, fresh)))
        best = int(np.argmax(np.abs(reached) if order == 4 else reached))
        values[j], v = _best(packed, theta[:, [best]], n_iter, order)
        vectors[:, j] = v
        along = v @ theta
        keep = np.abs(along) < 0.7  # those at v have nothing left to find
        keep[best] = False
        # What deflation takes from T(u, u, u); the columns themselves move little, and the one chosen is iterated on.
        theta, reached = theta[:, keep], (reached - values[j] * along**order)[keep]
        left = v if order == 3 else np.outer(v, v).ravel()
        packed -= np.outer(values[j] * left, weight * v[i] * v[m])
    residual = T.copy()
    for lam, v in zip(values, vectors.T, strict=True):
        residual -= lam * _outer(v, order)
    return TensorEigen(values, vectors, residual, n_restarts=n_starts)


def _pair_weights(d):
    i, j = np.triu_indices(d)
    return np.where(i == j, 1.0, 2.0)


def _outer(v, order):
    out = v
    for _ in range(order - 1):
        out = np.multiply.outer(out, v)
    return out
