"""The tensor power method: one robust component at a time, deflation, and the variants that stop or shift.

u <- T(I, u, u) / ||T(I, u, u)|| converges quadratically to the component with the largest lambda_i |v_i' u_0|
(Anandkumar et al. 2014, Lemma 5.1). All restarts run side by side: one iteration is one matrix product.
"""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from learnable.latent.tensor_decompositions.tensors import (
    T_IIu,
    T_uuu,
    TensorEigen,
    check_symmetric,
    contract,
    frobenius_norm,
    pack,
    random_unit,
)
from learnable.validation import check_choice, check_finite_array, check_rng, check_scalar

__all__ = [
    "default_restarts",
    "is_isolated_maximizer",
    "tensor_eig",
    "tensor_power",
]

SETTLED = 1e-13  # an iterate that moves by less than this has converged


def default_restarts(k):
    """Number of restarts in practice, max(10, 4 k); the theory asks for about k^(1 + delta)."""
    return max(10, 4 * k)


def tensor_power(T, theta0, max_iter=20, *, trace=False):
    """Iterate u <- T(I, u, u) / ||.|| from one start (Anandkumar et al. 2014, eq. 6). O(n_iter k^3).

    Parameters
    ----------
    T : array-like of shape (k, k, k) or (k, k, k, k)
        Symmetric.
    theta0 : array-like of shape (k,)
        Any vector but zero; it is normalised.
    max_iter : int, default=20
    trace : bool, default=False
        Return all iterates, the start included, as rows.

    Returns
    -------
    theta : ndarray of shape (k,), or (n_iter + 1, k) with `trace`
    value : float
        T(u, u, u) at the last iterate: the eigenvalue, if it has converged.

    Examples
    --------
    >>> T = np.zeros((2, 2, 2)); T[0, 0, 0], T[1, 1, 1] = 1.0, 3.0
    >>> theta, value = tensor_power(T, [0.8, 0.6])
    >>> theta.round(6).tolist(), round(value, 6)
    ([0.0, 1.0], 3.0)
    """
    T = check_symmetric(T, orders=(3, 4))
    max_iter = check_scalar(max_iter, "max_iter", low=0, high=1_000_000, integer=True)
    theta = _start(theta0, T.shape[0])
    packed, path = pack(T), [theta]
    for _ in range(max_iter):
        image = contract(packed, theta[:, None])[:, 0]
        norm = np.linalg.norm(image)
        if norm == 0.0:
            raise ValueError("T(I, u, u) vanishes at an iterate: theta0 is orthogonal to every component of T")
        theta = image / norm
        path.append(theta)
    value = float(theta @ contract(packed, theta[:, None])[:, 0])
    return (np.array(path) if trace else theta), value


def robust_tensor_power(T, n_restarts=None, max_iter=30, random_state=None):
    """Extract one component by random restarts (Anandkumar et al. 2014, Alg. 1).

    The best of the restarts by T(u, u, u), iterated on. For order 4 the best by its absolute value, since eigenvalues
    may be negative there. Cost O(n_restarts n_iter k^3), one matrix product an iteration; runs that have
    converged drop out.

    Parameters
    ----------
    T : array-like of shape (k, k, k) or (k, k, k, k)
        Symmetric.
    n_restarts : int, optional
        L; ``max(10, 4 k)`` by default.
    max_iter : int, default=30
        N; log k + log log(1 / eps) suffices.
    random_state : int, Generator or None

    Returns
    -------
    lam : float
    v : ndarray of shape (k,)
    deflated : ndarray of the shape of T
        T - lam v (x) v (x) v.

    Examples
    --------
    >>> T = np.zeros((2, 2, 2)); T[0, 0, 0], T[1, 1, 1] = 1.0, 3.0
    >>> lam, v, rest = robust_tensor_power(T, random_state=0)
    >>> round(lam, 6), v.round(6).tolist(), round(float(np.abs(rest).max()), 6)
    (3.0, [0.0, 1.0], 1.0)
    """
    T, n_restarts, max_iter = _settings(T, n_restarts, max_iter)
    return _restart(T, n_restarts, max_iter, check_rng(random_state))


def robust_tensor_power_stop(T, max_iter=30, r=None, random_state=None, *, n_restarts=1000):
    """Extract one component, redrawing the start until a stopping rule accepts (Anandkumar et al. 2014, Alg. 2).

    A start is accepted if after N steps |T(u, u, u)| >= max(||T||_F / (2 sqrt r), ||T(I, I, u)||_F / 1.05). The second
    clause rejects the spurious eigenvectors.

    Parameters
    ----------
    T : array-like of shape (k, k, k)
        Symmetric.
    max_iter : int, default=30
    r : int, optional
        Rank that is still expected, k minus the number of deflations so far; k by default.
    random_state : int, Generator or None
    n_restarts : int, default=1000
        After that many the best start is returned, with a ConvergenceWarning.

    Returns
    -------
    lam : float
    v : ndarray of shape (k,)
    deflated : ndarray of shape (k, k, k)
    n_starts : int
        How many starts were drawn.

    Examples
    --------
    >>> T = np.zeros((2, 2, 2)); T[0, 0, 0], T[1, 1, 1] = 1.0, 3.0
    >>> lam, v, rest, n_starts = robust_tensor_power_stop(T, random_state=0)
    >>> round(lam, 6) in (1.0, 3.0)
    True
    """
    T, _, max_iter = _settings(T, 1, max_iter, orders=(3,))
    k = T.shape[0]
    r = k if r is None else check_scalar(r, "r", low=1, high=k, integer=True)
    n_restarts = check_scalar(n_restarts, "n_restarts", low=1, integer=True)
    return _redraw(T, max_iter, r, check_rng(random_state), n_restarts)


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
    >>> from learnable.datasets.matrices import make_symmetric_tensor
    >>> made = make_symmetric_tensor(6, 6, noise=0.0, random_state=0)
    >>> found = tensor_eig(made.tensor, random_state=0)
    >>> bool(np.allclose(np.sort(found.eigenvalues), np.sort(made.weights)))
    True
    """
    T = check_symmetric(T, orders=(3, 4))
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


def shifted_power(T, theta0, shift=None, max_iter=500, *, tol=1e-12):
    """Iterate u <- T(I, u, u) + c u, normalised: T(u, u, u) never falls if c is large enough (Kolda and Mayo 2011).

    Slower than the plain iteration (linear, not quadratic), but it cannot oscillate on a tensor that is far from
    orthogonal.

    Parameters
    ----------
    T : array-like of shape (k, k, k)
        Symmetric.
    theta0 : array-like of shape (k,)
    shift : float, optional
        c; by default 2 ||T||_F, which exceeds twice the spectral radius of every T(I, I, u) and hence suffices.
    max_iter : int, default=500
    tol : float, default=1e-12
        Stop when an iterate moves by less.

    Returns
    -------
    theta : ndarray of shape (k,)
    values : ndarray
        T(u, u, u) at the start and after every step.

    Examples
    --------
    >>> T = np.zeros((2, 2, 2)); T[0, 0, 0], T[1, 1, 1] = 1.0, 3.0
    >>> theta, values = shifted_power(T, [0.6, 0.8])
    >>> theta.round(6).tolist(), bool((np.diff(values) >= -1e-12).all())
    ([0.0, 1.0], True)
    """
    T, _, max_iter = _settings(T, 1, max_iter, orders=(3,))
    tol = check_scalar(tol, "tol", low=0)
    shift = 2 * frobenius_norm(T) if shift is None else check_scalar(shift, "shift", low=0)
    theta, packed, values = _start(theta0, T.shape[0]), pack(T), []
    for _ in range(max_iter):
        image = contract(packed, theta[:, None])[:, 0]
        values.append(theta @ image)
        image = image + shift * theta
        norm = np.linalg.norm(image)
        if norm == 0.0:
            break
        moved, theta = np.linalg.norm(image / norm - theta), image / norm
        if moved < tol:
            break
    values.append(theta @ contract(packed, theta[:, None])[:, 0])
    return theta, np.array(values)


def rayleigh_ascent(T, theta0, max_iter=500, *, tol=1e-10):
    """Maximise T(u, u, u) / ||u||^3 by projected gradient ascent with backtracking.

    The gradient on the sphere is 3 (T(I, u, u) - T(u, u, u) u); its zeros are the eigenvectors (Anandkumar et al.
    2014, Theorem 4.2).

    Returns
    -------
    theta : ndarray of shape (k,)
    value : float

    Examples
    --------
    >>> T = np.zeros((2, 2, 2)); T[0, 0, 0], T[1, 1, 1] = 1.0, 3.0
    >>> theta, value = rayleigh_ascent(T, [0.6, 0.8])
    >>> round(value, 6)
    3.0
    """
    T, _, max_iter = _settings(T, 1, max_iter, orders=(3,))
    tol = check_scalar(tol, "tol", low=0)
    u, packed, step = _start(theta0, T.shape[0]), pack(T), 1.0
    image = contract(packed, u[:, None])[:, 0]
    value = u @ image
    for _ in range(max_iter):
        gradient = 3 * (image - value * u)
        slope = gradient @ gradient
        if np.sqrt(slope) <= tol * max(abs(value), 1e-300):
            break
        step *= 2.0
        while step > 1e-14:
            trial = u + step * gradient
            trial /= np.linalg.norm(trial)
            trial_image = contract(packed, trial[:, None])[:, 0]
            if trial @ trial_image >= value + 0.1 * step * slope:
                break
            step /= 2.0
        else:
            break
        u, image, value = trial, trial_image, trial @ trial_image
    return u, float(value)


def is_isolated_maximizer(T, u, *, tol=1e-6):
    """Test whether a unit eigenvector is an isolated local maximiser of T(u, u, u) over the unit ball.

    With lam = T(u, u, u), it is one if lam > 0 and 6 T(I, I, u) - 3 lam I is negative definite on the complement of u
    (Anandkumar et al. 2014, Theorem 4.2 and App. A.2).

    Parameters
    ----------
    T : array-like of shape (k, k, k)
        Symmetric.
    u : array-like of shape (k,)
        A stationary point: ||T(I, u, u) - lam u|| <= tol ||T||_F, else an error.
    tol : float, default=1e-6

    Returns
    -------
    bool

    Examples
    --------
    >>> T = np.zeros((2, 2, 2)); T[0, 0, 0] = T[1, 1, 1] = 1.0
    >>> is_isolated_maximizer(T, [1.0, 0.0]), is_isolated_maximizer(T, np.sqrt([0.5, 0.5]))
    (True, False)
    """
    T = check_symmetric(T)
    u = _start(u, T.shape[0])
    tol = check_scalar(tol, "tol", low=0)
    lam, scale = T_uuu(T, u), frobenius_norm(T)
    off = np.linalg.norm(T_IIu(T, u) @ u - lam * u)
    if off > tol * max(scale, 1e-300):
        raise ValueError(f"u is no eigenvector of T: ||T(I, u, u) - lam u|| = {off:.3g}")
    if lam <= tol * scale:
        return False
    hessian = 6 * T_IIu(T, u) - 3 * lam * np.eye(u.size)
    # A basis of the complement of u: the last columns of a full QR factorisation.
    basis = np.linalg.qr(np.column_stack([u, np.eye(u.size)]))[0][:, 1:]
    if basis.shape[1] == 0:
        return True
    return bool(np.linalg.eigvalsh(basis.T @ hessian @ basis).max() < -tol * scale)


def _settings(T, n_restarts, n_iter, orders=(3, 4)):
    T = check_symmetric(T, orders=orders)
    n_restarts = default_restarts(T.shape[0]) if n_restarts is None else n_restarts
    n_restarts = check_scalar(n_restarts, "n_restarts", low=1, integer=True)
    return T, n_restarts, check_scalar(n_iter, "n_iter", low=1, integer=True)


def _start(theta0, k):
    theta = check_finite_array(theta0, "theta0", ndim=1)
    norm = np.linalg.norm(theta)
    if theta.size != k or norm == 0.0:
        raise ValueError(f"theta0 must be a non-zero vector of {k} entries")
    return theta / norm


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
    """Algorithm 2 without the checks."""
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
            "raise max_restarts, lower the number of components or use robust_tensor_power",
            ConvergenceWarning,
            stacklevel=3,
        )
    lam, v = _best(packed, chosen, n_iter, 3)
    return lam, v, T - lam * _outer(v, 3), n_starts


def _deflate_and_reuse(T, k, n_restarts, n_iter, rng):
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
