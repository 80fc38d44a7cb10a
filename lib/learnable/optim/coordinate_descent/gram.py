"""The lasso in Gram form: coordinate descent on the correlations, then the equations of the orthant."""

import numpy as np
from numba import njit

from learnable.optim.coordinate_descent.solutions import GramBatch, LassoSolution
from learnable.validation import (
    check_finite_array,
    check_real_array,
    check_scalar,
    check_symmetric,
    warn_not_converged,
)

__all__ = ["solve_gram", "solve_gram_batch"]

# Passes over the active coordinates between two over all, at most.
INSIDE = 8


def solve_gram(Q, c, alpha=1.0, *, weights=None, l2=0.0, start=None, y_norm2=None, tol=1e-8, max_iter=10_000):
    """Minimise 1/2 b'Qb - c'b + alpha sum_j weights_j |b_j| + l2/2 |b|^2.

    Warns with ``ConvergenceWarning`` if `max_iter` passes do not suffice.

    Parameters
    ----------
    Q : array-like of shape (p, p)
        Symmetric and positive semi-definite (not checked beyond its diagonal).
    c : array-like of shape (p,)
    alpha, weights, l2, start
        As in :func:`solve_lasso`.
    y_norm2 : float, optional
        |y|^2 if Q = X'X and c = X'y: then the duality gap is computed and stops the iteration at ``tol y_norm2``.
        Without it, the largest violation of the optimality conditions stops it at ``tol max|c|``.
    tol : float, default=1e-8
    max_iter : int, default=10000

    Returns
    -------
    LassoSolution

    Examples
    --------
    >>> solve_gram([[2.0, 1.0], [1.0, 2.0]], [3.0, 0.0], 1.0).coef
    array([1., 0.])
    """
    Q, C, W, starts = _check_gram(Q, np.atleast_1d(c)[None], alpha, weights, l2, start)
    scale = np.array([-1.0 if y_norm2 is None else check_scalar(y_norm2, "y_norm2", low=0)])
    found = _batch(Q, C, W, starts, l2, scale, tol, max_iter)
    if not found.converged[0]:
        warn_not_converged("solve_gram", found.n_iter[0], found.gaps[0], tol * _unit(C, scale)[0])
    return LassoSolution(found.coefs[0], float(found.gaps[0]), int(found.n_iter[0]), bool(found.converged[0]))


def solve_gram_batch(Q, C, alpha=1.0, *, weights=None, l2=0.0, start=None, y_norm2=None, tol=1e-8, max_iter=10_000):
    """Solve :func:`solve_gram` for many vectors c, the rows of C, with one Q.

    With infinite weights on the diagonal, ``solve_gram_batch(S, S, alpha, weights=w)`` regresses every variable on
    all others.

    Parameters
    ----------
    Q : array-like of shape (p, p)
    C : array-like of shape (k, p)
    alpha : float or array-like of shape (k,)
    weights : array-like of shape (p,) or (k, p), optional
    l2, start
        As in :func:`solve_gram`; `start` of shape (k, p).
    y_norm2 : array-like of shape (k,), optional
    tol, max_iter
        As in :func:`solve_gram`.

    Returns
    -------
    GramBatch

    Examples
    --------
    >>> S = np.array([[1.0, 0.5], [0.5, 1.0]])
    >>> solve_gram_batch(S, S, 0.1, weights=np.where(np.eye(2), np.inf, 1.0)).coefs
    array([[0. , 0.4],
           [0.4, 0. ]])
    """
    Q, C, W, starts = _check_gram(Q, C, alpha, weights, l2, start)
    if y_norm2 is None:
        scale = np.full(len(C), -1.0)
    else:
        scale = check_finite_array(y_norm2, "y_norm2", ndim=1)
        if scale.size != len(C) or (scale < 0).any():
            raise ValueError(f"y_norm2 must hold {len(C)} non-negative numbers")
    found = _batch(Q, C, W, starts, l2, scale, tol, max_iter)
    if not found.converged.all():
        late = int(np.argmin(found.converged))
        what = f"problem {late} of solve_gram_batch"
        warn_not_converged(what, found.n_iter[late], found.gaps[late], tol * _unit(C, scale)[late])
    return found


def _batch(Q, C, W, B, l2, scale, tol, max_iter):
    """Run all problems; where some weights vanish, on the Schur complement of the penalised block."""
    tol = check_scalar(tol, "tol", low=0, closed="neither")
    max_iter = check_scalar(max_iter, "max_iter", low=1, integer=True)
    gaps, passes = np.zeros(len(C)), np.zeros(len(C), dtype=np.int64)
    tols = tol * _unit(C, scale)
    free = W == 0
    if not free.any():
        _run_batch(Q, C, W, B, l2, scale, tols, max_iter, gaps, passes)
    else:
        for k in range(len(C)):
            gaps[k], passes[k] = _eliminate(Q, C[k], W[k], B[k], l2, scale[k], tols[k], max_iter)
    return GramBatch(B, np.maximum(gaps, 0.0), passes, gaps <= tols)


def _eliminate(Q, c, w, b, l2, yy, tol, max_iter):
    u, v = np.flatnonzero(w == 0), np.flatnonzero(w > 0)
    if u.size == 0:
        return gram_descent(Q, c, w, l2, b, yy, tol, max_iter)
    Quu = Q[np.ix_(u, u)] + l2 * np.eye(u.size)
    # Least squares, not a factorisation: free coefficients may be collinear, and any minimiser will do.
    solved = np.linalg.lstsq(Quu, np.column_stack([Q[np.ix_(u, v)], c[u]]), rcond=None)[0]
    passes, gap = 0, 0.0
    if v.size:
        schur = np.ascontiguousarray(Q[np.ix_(v, v)] - Q[np.ix_(v, u)] @ solved[:, :-1])
        reduced = c[v] - Q[np.ix_(v, u)] @ solved[:, -1]
        inner = b[v]
        # What the free coefficients explain alone is no part of the |y|^2 of the problem that is left.
        rest = yy if yy < 0 else max(yy - float(c[u] @ solved[:, -1]), 0.0)
        gap, passes = gram_descent(0.5 * (schur + schur.T), reduced, w[v], l2, inner, rest, tol, max_iter)
        b[v] = inner
    b[u] = solved[:, -1] - solved[:, :-1] @ b[v]
    return gap, passes


def _unit(C, scale):
    """What the tolerance of each problem is relative to: |y|^2, or the largest entry of c where it is unknown."""
    return np.where(scale < 0, np.abs(C).max(axis=1, initial=0.0), scale)


def check_penalties(weights, *shapes):
    """Factors of the penalty: zero for a free coefficient, infinite for one that is kept at zero; ones for None."""
    if weights is None:
        return np.ones(shapes[-1])
    weights = check_real_array(weights, "weights")
    if weights.shape not in shapes:
        raise ValueError(f"weights must have shape {' or '.join(map(str, shapes))}, got {weights.shape}")
    if not (weights >= 0).all():
        raise ValueError("weights must be non-negative (infinite ones keep a coefficient at zero)")
    return weights


def _check_gram(Q, C, alpha, weights, l2, start):
    Q = np.ascontiguousarray(check_finite_array(Q, "Q", ndim=2))
    C = np.ascontiguousarray(check_finite_array(C, "C", ndim=2))
    k, p = C.shape
    if Q.shape != (p, p):
        raise ValueError(f"Q must have shape {(p, p)} to match c, got {Q.shape}")
    Q = check_symmetric(Q, "Q", allow_empty=True)
    if p and np.diagonal(Q).min() < 0:
        raise ValueError(f"Q must be positive semi-definite, its diagonal holds {np.diagonal(Q).min():.3g}")
    check_scalar(l2, "l2", low=0, high=1e150)
    alpha = check_finite_array(alpha, "alpha")
    if (alpha < 0).any() or alpha.ndim > 1 or (alpha.ndim == 1 and alpha.size != k):
        raise ValueError("alpha must be non-negative: one number, or one for each problem")
    W = np.broadcast_to(check_penalties(weights, (p,), (k, p)), (k, p))
    with np.errstate(invalid="ignore"):
        W = np.where(np.isinf(W), np.inf, W * np.broadcast_to(np.atleast_1d(alpha)[:, None], (k, 1)))
    starts = np.zeros((k, p)) if start is None else np.array(check_finite_array(start, "start")).reshape(-1, p)
    if starts.shape != (k, p):
        raise ValueError(f"start must have shape {(k, p)}")
    starts[np.isinf(W)] = 0.0
    return Q, C, np.ascontiguousarray(W), starts


@njit(cache=True)
def gram_descent(Q, c, w, l2, b, y_norm2, tol, max_iter):
    """Minimise 1/2 b'(Q + l2 I)b - c'b + sum_j w_j |b_j| in place of `b`, for compiled callers.

    Parameters
    ----------
    Q : ndarray of shape (m, m)
        Rows contiguous; symmetric.
    c, w, b : ndarray of shape (m,)
        w > 0 (or infinite: the coordinate keeps its value, which must be 0); `b` is the start and the answer.
    l2 : float
    y_norm2 : float
        |y|^2, or negative if unknown.
    tol : float
        Absolute: on the duality gap, or on the violation of the conditions when `y_norm2` is unknown.
    max_iter : int

    Returns
    -------
    gap : float
        Or the violation.
    n_iter : int

    Examples
    --------
    >>> b = np.zeros(2)
    >>> _ = gram_descent(np.eye(2), np.array([3.0, 0.5]), np.ones(2), 0.0, b, -1.0, 1e-10, 100)
    >>> b
    array([2., 0.])
    """
    m = c.size
    q = np.empty(m)
    active = np.empty(m, dtype=np.int64)
    _refresh(Q, c, l2, b, q)
    gap = _gap(q, c, b, w, y_norm2)
    passes = 0
    work = 0.0
    while gap > tol and passes < max_iter:
        _pass(Q, w, l2, b, q)
        size = _collect(b, active)
        inner = _passes_inside(Q, w, l2, b, q, active, size)
        passes += 1 + inner
        # A direct solution costs size³/3. It is tried when the passes since the last one have cost as much, so that the
        # time at most doubles where it is in vain.
        work += size * (m + inner * size)
        size = _collect(b, active)
        while size and size**3 / 3.0 <= work:
            work -= size**3 / 3.0
            inside = _solve_orthant(Q, c, w, l2, b, active, size)
            if inside != 0:
                break
            size = _collect(b, active)
        _refresh(Q, c, l2, b, q)
        gap = _gap(q, c, b, w, y_norm2)
    return gap, passes


@njit(cache=True)
def _collect(b, active):
    size = 0
    for j in range(b.size):
        if b[j] != 0.0:
            active[size] = j
            size += 1
    return size


@njit(cache=True)
def _refresh(Q, c, l2, b, q):
    """Recompute q = c - (Q + l2 I) b, free of the rounding of many updates."""
    for i in range(q.size):
        q[i] = c[i] - l2 * b[i]
    for j in range(b.size):
        if b[j] != 0.0:
            row = Q[j]
            for i in range(q.size):
                q[i] -= b[j] * row[i]


@njit(cache=True)
def _gap(q, c, b, w, yy):
    scale = np.inf
    violation = 0.0
    cb = 0.0
    qb = 0.0
    norm = 0.0
    for j in range(q.size):
        if w[j] == np.inf:
            continue
        size = abs(q[j])
        if size > 0.0:
            scale = min(scale, w[j] / size)
        if b[j] == 0.0:
            violation = max(violation, size - w[j])
        else:
            violation = max(violation, abs(q[j] - np.sign(b[j]) * w[j]))
            cb += c[j] * b[j]
            qb += q[j] * b[j]
            norm += w[j] * abs(b[j])
    if yy < 0.0:
        return violation
    # |r|^2 + l2 |b|^2 and y'r without a residual: Q = X'X, c = X'y, q = X'r - l2 b. Cancellation may make it negative.
    rr = max(yy - cb - qb, 0.0)
    yr = yy - cb
    if rr == 0.0:
        return norm
    # The dual point is s r, with the largest s that is feasible, but not beyond the maximum of the dual on that ray.
    s = min(scale, yr / rr)
    return 0.5 * rr + norm - s * yr + 0.5 * s * s * rr


@njit(cache=True)
def _pass(Q, w, l2, b, q):
    """One pass over all coordinates; returns the largest step."""
    moved = 0.0
    for j in range(b.size):
        row = Q[j]
        curvature = row[j] + l2
        if w[j] == np.inf or curvature <= 0.0:  # a column of zeros moves nothing
            continue
        old = b[j]
        z = q[j] + curvature * old
        new = 0.0
        if z > w[j]:
            new = (z - w[j]) / curvature
        elif z < -w[j]:
            new = (z + w[j]) / curvature
        if new != old:
            step = new - old
            b[j] = new
            for i in range(q.size):
                q[i] -= step * row[i]
            q[j] -= step * l2
            moved = max(moved, abs(step))
    return moved


@njit(cache=True)
def _passes_inside(Q, w, l2, b, q, active, size):
    """Passes over the active coordinates, on their block alone, while they get on; the rest of q is left behind.

    Returns their number.
    """
    block = np.empty((size, size))
    weight, part, slope = np.empty(size), np.empty(size), np.empty(size)
    for k in range(size):
        row = Q[active[k]]
        for i in range(size):
            block[k, i] = row[active[i]]
        weight[k], part[k], slope[k] = w[active[k]], b[active[k]], q[active[k]]
    passes = 0
    first = 0.0
    while passes < INSIDE:
        moved = _pass(block, weight, l2, part, slope)
        passes += 1
        first = max(first, moved)
        if moved <= 0.05 * first:  # what is left is slow: the direct solution, or a look at the others, does more
            break
    for k in range(size):
        b[active[k]] = part[k]
    return passes


@njit(cache=True)
def _solve_orthant(Q, c, w, l2, b, active, size):
    """Move to the minimiser with the signs of `b`, or to the first coefficient that meets zero on the way.

    Returns 1 when the minimiser was reached, 0 when a coefficient was set to zero, -1 when the equations are
    numerically singular and nothing was done.
    """
    L = np.empty((size, size))
    x = np.empty(size)
    for k in range(size):
        j = active[k]
        for i in range(k, size):
            L[k, i] = Q[j, active[i]]
        L[k, k] += l2
        x[k] = c[j] - np.sign(b[j]) * w[j]
    # Right-looking Cholesky of the upper triangle, row by row, with the forward substitution on the way.
    for k in range(size):
        pivot = L[k, k]
        # What is left of a diagonal entry after elimination: below this the column depends on those before it.
        if pivot <= 1e-11 * (Q[active[k], active[k]] + l2):
            return -1
        root = np.sqrt(pivot)
        for i in range(k, size):
            L[k, i] /= root
        x[k] /= root
        for i in range(k + 1, size):
            f = L[k, i]
            if f != 0.0:
                for t in range(i, size):
                    L[i, t] -= f * L[k, t]
                x[i] -= f * x[k]
    for k in range(size - 1, -1, -1):
        total = x[k]
        for i in range(k + 1, size):
            total -= L[k, i] * x[i]
        x[k] = total / L[k, k]
    # The objective is quadratic only within the orthant: stop at its wall.
    first = 1.0
    leaving = -1
    for k in range(size):
        old = b[active[k]]
        if x[k] * old <= 0.0:
            t = old / (old - x[k])
            if t < first:
                first = t
                leaving = k
    for k in range(size):
        j = active[k]
        b[j] += first * (x[k] - b[j])
    if leaving < 0:
        # b + (x - b) need not round to x.
        for k in range(size):
            b[active[k]] = x[k]
        return 1
    b[active[leaving]] = 0.0
    return 0


@njit(cache=True)
def _run_batch(Q, C, W, B, l2, scales, tols, max_iter, gaps, passes):
    for k in range(C.shape[0]):
        gaps[k], passes[k] = gram_descent(Q, C[k], W[k], l2, B[k], scales[k], tols[k], max_iter)
