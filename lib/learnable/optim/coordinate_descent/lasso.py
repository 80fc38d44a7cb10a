"""Lasso and elastic net by coordinate descent, with a duality gap as certificate.

Every function here minimises, over b, one of two forms of the same problem::

    1/(2n) |y - Xb|^2 + alpha sum_j weights_j |b_j| + l2/2 |b|^2        solve_lasso, lasso_path
    1/2 b'Qb - c'b + alpha sum_j weights_j |b_j| + l2/2 |b|^2           solve_gram, solve_gram_batch

The first is scikit-learn's scaling, and the second with Q = X'X/n and c = X'y/n; for the objective
sum (.)^2 + lam |b|_1 take ``alpha = lam / (2n)``. A weight of infinity keeps a coefficient at zero (leave one variable
out of each of a batch of regressions by it), a weight of zero leaves it unpenalised.

How it works. A working set of columns grows by those whose correlation with the residual breaks the optimality
condition |x_j'r| <= n alpha weights_j. On the set, coordinate descent runs on the Gram matrix; once it has settled
the signs, the equations of that orthant are solved directly, moving until a coefficient meets zero. The loop ends when
the duality gap of the *whole* problem is small: the scaled residual theta is feasible for the dual, and
P(b) - D(theta) bounds what is left to gain. Along a path the working set, its Gram matrix and the coefficients carry
over, and the sequential strong rule proposes the next columns. Working sets that are large for their number of non-zero
entries are handled by updates of the residual instead, with gap-safe screening.
"""

from dataclasses import dataclass, replace

import numpy as np
from numba import njit
from scipy import sparse

from learnable.validation import (
    Result,
    check_choice,
    check_finite_array,
    check_scalar,
    check_symmetric,
    warn_not_converged,
)

__all__ = [
    "GramBatch",
    "LassoPath",
    "LassoSolution",
    "gram_descent",
    "lasso_path",
    "max_alpha",
    "solve_gram",
    "solve_gram_batch",
    "solve_lasso",
]

# The largest working set whose Gram matrix is kept.
LARGEST_GRAM = 6000
# A set of this size is taken whole by a single fit; so is one of the second size along a path.
FIRST_SET = 48
FIRST_SET_OF_PATH = 512


@dataclass(frozen=True, eq=False)
class LassoSolution(Result):
    """A minimiser with its certificate.

    Attributes
    ----------
    coef : ndarray of shape (p,)
    gap : float
        Duality gap: the objective is at most this far above its minimum. Without ``y_norm2`` in Gram mode, where
        no gap can be computed, the largest violation of the optimality conditions.
    n_iter : int
        Passes over coordinates.
    converged : bool
        Whether the gap met the tolerance.
    """

    coef: np.ndarray
    gap: float
    n_iter: int
    converged: bool


@dataclass(frozen=True, eq=False)
class LassoPath(Result):
    """Solutions for a decreasing sequence of penalties; entry k of each field belongs to ``alphas[k]``."""

    alphas: np.ndarray
    coefs: np.ndarray
    gaps: np.ndarray
    n_iter: np.ndarray
    converged: np.ndarray


@dataclass(frozen=True, eq=False)
class GramBatch(Result):
    """Solutions of a batch of problems with one matrix Q; entry k of each field belongs to row k of C."""

    coefs: np.ndarray
    gaps: np.ndarray
    n_iter: np.ndarray
    converged: np.ndarray


def max_alpha(X, y, *, weights=None, center=False):
    """Return the smallest alpha at which all penalised coefficients are zero, max_j |x_j'y| / (n weights_j).

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, p)
    y : array-like of shape (n,)
    weights : array-like of shape (p,), optional
        Positive; ones by default.
    center : bool, default=False
        Subtract the means of the columns and of y first.

    Returns
    -------
    float

    Examples
    --------
    >>> max_alpha([[1.0, 0.0], [0.0, 2.0]], [3.0, 1.0])
    1.5
    """
    data = _Data(X, y, center)
    weights = _check_weights(weights, data.p)
    if (weights == 0).any():
        raise ValueError("max_alpha needs positive weights")
    return _largest_alpha(data, weights)


def solve_lasso(
    X,
    y,
    alpha,
    *,
    weights=None,
    l2=0.0,
    start=None,
    center=False,
    mode="gram",
    tol=1e-8,
    max_iter=10_000,
):
    """Minimise 1/(2n) |y - Xb|^2 + alpha sum_j weights_j |b_j| + l2/2 |b|^2.

    Warns with ``ConvergenceWarning`` if `max_iter` passes do not suffice.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, p)
    y : array-like of shape (n,)
    alpha : float
        Non-negative.
    weights : array-like of shape (p,), optional
        Non-negative; 0 = unpenalised, infinity = kept at zero. Ones by default.
    l2 : float, default=0.0
    start : array-like of shape (p,), optional
    center : bool, default=False
        Subtract the means of the columns and of y first (an unpenalised intercept); sparse data stay sparse.
    mode : {"gram", "residual"}, default="gram"
        What coordinate descent keeps up to date on the working set: the correlations by its Gram matrix, or the
        residual. Working sets too large for a Gram matrix turn to the residual by themselves.
    tol : float, default=1e-8
        Stop at a duality gap of ``tol |y|^2 / n``.
    max_iter : int, default=10000
        Passes over coordinates at most.

    Returns
    -------
    LassoSolution

    Examples
    --------
    >>> solve_lasso([[1.0, 0.0], [0.0, 2.0]], [3.0, 1.0], 0.5).coef
    array([2.  , 0.25])
    """
    data, weights, settings = _check_problem(X, y, weights, l2, start, center, mode, tol, max_iter)
    alpha = check_scalar(alpha, "alpha", low=0)
    if alpha == 0 or (weights == 0).any():
        found = _with_unpenalised(data, data.n * alpha * np.where(np.isinf(weights), 1.0, weights), weights, settings)
    else:
        found = _WorkingSet(data, weights, settings).solve(data.n * alpha)
    found = replace(found, gap=found.gap / data.n)
    if not found.converged:
        warn_not_converged("solve_lasso", found.n_iter, found.gap, tol * data.yy / data.n)
    return found


def lasso_path(
    X,
    y,
    alphas=None,
    *,
    n_alphas=100,
    ratio=1e-3,
    weights=None,
    l2=0.0,
    center=False,
    mode="gram",
    tol=1e-8,
    max_iter=10_000,
):
    """Solve the lasso along decreasing penalties, each started at the solution before.

    Parameters
    ----------
    X, y
        As in :func:`solve_lasso`.
    alphas : array-like of shape (k,), optional
        Positive; taken in decreasing order. By default `n_alphas` in geometric progression from
        :func:`max_alpha` down to `ratio` times it.
    n_alphas : int, default=100
    ratio : float, default=1e-3
    weights, l2, center, mode, tol, max_iter
        As in :func:`solve_lasso`.

    Returns
    -------
    LassoPath

    Examples
    --------
    >>> lasso_path([[1.0, 0.0], [0.0, 2.0]], [3.0, 1.0], [0.5, 1.25]).coefs
    array([[0.5 , 0.  ],
           [2.  , 0.25]])
    """
    data, weights, settings = _check_problem(X, y, weights, l2, None, center, mode, tol, max_iter)
    if (weights == 0).any():
        raise ValueError("lasso_path needs positive weights; use solve_lasso for unpenalised coefficients")
    if alphas is None:
        n_alphas = check_scalar(n_alphas, "n_alphas", low=1, integer=True)
        ratio = check_scalar(ratio, "ratio", low=0, high=1, closed="neither")
        alphas = (_largest_alpha(data, weights) or 1.0) * np.geomspace(1.0, ratio, n_alphas)
    alphas = np.sort(check_finite_array(alphas, "alphas", ndim=1))[::-1]
    if alphas.size == 0 or alphas[-1] <= 0:
        raise ValueError("alphas must be positive and at least one")
    work = _WorkingSet(data, weights, settings, whole=min(data.n, FIRST_SET_OF_PATH))
    answers = [work.solve(data.n * alpha) for alpha in alphas]
    path = LassoPath(
        alphas,
        np.array([a.coef for a in answers]),
        np.array([a.gap for a in answers]) / data.n,
        np.array([a.n_iter for a in answers]),
        np.array([a.converged for a in answers]),
    )
    if not path.converged.all():
        late = int(np.argmin(path.converged))
        what = f"lasso_path at alpha = {alphas[late]:.3g}"
        warn_not_converged(what, path.n_iter[late], path.gaps[late], tol * data.yy / data.n)
    return path


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


def _largest_alpha(data, weights):
    return float(np.max(np.abs(data.correlations(data.y)) / weights, initial=0.0)) / data.n


def _unit(C, scale):
    """What the tolerance of each problem is relative to: |y|^2, or the largest entry of c where it is unknown."""
    return np.where(scale < 0, np.abs(C).max(axis=1, initial=0.0), scale)


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
        _pass(Q, w, l2, b, q, active, -1)
        passes += 1
        work += m * m
        for _ in range(4):
            size = _collect(b, active)
            moved = _pass(Q, w, l2, b, q, active, size)
            passes += 1
            work += size * m
            if moved == 0.0:
                break
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
    rr = max(yy - cb - qb, 0.0)
    yr = yy - cb
    if rr == 0.0:
        return norm
    s = min(scale, yr / rr)
    return 0.5 * rr + norm - s * yr + 0.5 * s * s * rr


@njit(cache=True)
def _pass(Q, w, l2, b, q, active, size):
    """One pass over the first `size` active coordinates, or over all when it is negative."""
    moved = 0.0
    total = b.size if size < 0 else size
    for k in range(total):
        j = k if size < 0 else active[k]
        if w[j] == np.inf:
            continue
        row = Q[j]
        curvature = row[j] + l2
        if curvature <= 0.0:
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
        for k in range(size):
            b[active[k]] = x[k]
        return 1
    b[active[leaving]] = 0.0
    return 0


@njit(cache=True)
def _run_batch(Q, C, W, B, l2, scales, tols, max_iter, gaps, passes):
    for k in range(C.shape[0]):
        gaps[k], passes[k] = gram_descent(Q, C[k], W[k], l2, B[k], scales[k], tols[k], max_iter)


@njit(cache=True)
def _residual_dense(XT, r, b, w, l2, norms, columns, yy, tol, max_iter):
    """Coordinate descent that keeps r = y - Xb, over `columns`, with gap-safe screening of them."""
    kept = columns.copy()
    size = kept.size
    corr = np.zeros(XT.shape[0])
    gap = np.inf
    passes = 0
    while True:
        for k in range(size):
            j = kept[k]
            corr[j] = np.dot(XT[j], r) - l2 * b[j]
        gap, size = _screen(corr, r, b, w, l2, norms, kept, size, yy)
        if gap <= tol or passes >= max_iter:
            return gap, passes
        for sweep in range(10):
            moved = 0.0
            for k in range(size):
                j = kept[k]
                if norms[j] + l2 <= 0.0 or (sweep % 5 and b[j] == 0.0):
                    continue
                old = b[j]
                z = np.dot(XT[j], r) + norms[j] * old
                new = _threshold(z, w[j]) / (norms[j] + l2)
                if new != old:
                    step = new - old
                    b[j] = new
                    row = XT[j]
                    for i in range(r.size):
                        r[i] -= step * row[i]
                    moved = max(moved, step * step * (norms[j] + l2))
            passes += 1
            if moved <= 1e-2 * tol:
                break


@njit(cache=True)
def _residual_sparse(values, rows, starts, means, r, b, w, l2, norms, columns, yy, tol, max_iter):
    """As the dense one, for compressed columns; the residual is r + offset, so that centring stays implicit."""
    kept = columns.copy()
    size = kept.size
    corr = np.zeros(norms.size)
    n = r.size
    passes = 0
    offset = 0.0
    while True:
        for i in range(n):
            r[i] += offset
        offset = 0.0
        for k in range(size):
            j = kept[k]
            total = 0.0
            for t in range(starts[j], starts[j + 1]):
                total += values[t] * r[rows[t]]
            corr[j] = total - l2 * b[j]
        gap, size = _screen(corr, r, b, w, l2, norms, kept, size, yy)
        if gap <= tol or passes >= max_iter:
            return gap, passes
        for sweep in range(10):
            moved = 0.0
            for k in range(size):
                j = kept[k]
                if norms[j] + l2 <= 0.0 or (sweep % 5 and b[j] == 0.0):
                    continue
                old = b[j]
                z = norms[j] * old + offset * n * means[j]
                for t in range(starts[j], starts[j + 1]):
                    z += values[t] * r[rows[t]]
                new = _threshold(z, w[j]) / (norms[j] + l2)
                if new != old:
                    step = new - old
                    b[j] = new
                    for t in range(starts[j], starts[j + 1]):
                        r[rows[t]] -= step * values[t]
                    offset += step * means[j]
                    moved = max(moved, step * step * (norms[j] + l2))
            passes += 1
            if moved <= 1e-2 * tol:
                break


@njit(cache=True)
def _threshold(z, w):
    if z > w:
        return z - w
    if z < -w:
        return z + w
    return 0.0


@njit(cache=True)
def _screen(corr, r, b, w, l2, norms, kept, size, yy):
    """Return the gap, and the number of columns left after the sphere test; they are moved to the front of `kept`."""
    scale = np.inf
    norm = 0.0
    square = 0.0
    inner = 0.0
    for k in range(size):
        j = kept[k]
        if abs(corr[j]) > 0.0:
            scale = min(scale, w[j] / abs(corr[j]))
        norm += w[j] * abs(b[j])
        square += b[j] * b[j]
        inner += corr[j] * b[j]
    rr = l2 * square
    for i in range(r.size):
        rr += r[i] * r[i]
    yr = rr + inner
    if rr == 0.0:
        return norm, size
    s = min(scale, yr / rr)
    gap = 0.5 * rr + norm - s * yr + 0.5 * s * s * rr
    radius = np.sqrt(2.0 * max(gap, 0.0))
    left = 0
    for k in range(size):
        j = kept[k]
        if b[j] != 0.0 or s * abs(corr[j]) + radius * np.sqrt(norms[j] + l2) >= w[j]:
            kept[left] = j
            left += 1
    return gap, left


class _Data:
    """X and y with implicit centring, dense or sparse."""

    def __init__(self, X, y, center):
        self.sparse = sparse.issparse(X)
        if self.sparse:
            X = sparse.csc_array(X, dtype=np.float64)
            X.sort_indices()
            if not np.isfinite(X.data).all():
                raise ValueError("X must be finite")
        else:
            X = check_finite_array(X, "X", ndim=2)
        y = check_finite_array(y, "y", ndim=1)
        if X.shape[0] != y.size or y.size == 0 or X.shape[1] == 0:
            raise ValueError(f"X must have one row for each of the {y.size} entries of y, got shape {X.shape}")
        self.X = X
        self.n, self.p = X.shape
        self.means = np.asarray(X.mean(axis=0)).ravel() if center else np.zeros(self.p)
        self.center = center
        self.y = y - y.mean() if center else y
        self.yy = float(self.y @ self.y)
        self._transposed = X.T.tocsr() if self.sparse else X.T
        # Updating m correlations is a vector operation, a few times quicker than following a column's entries.
        self.largest_gram = max(400, 10 * X.nnz // self.p) if self.sparse else LARGEST_GRAM

    def correlations(self, r):
        """X'r; the residual of a centred problem sums to zero, so the means drop out."""
        return self._transposed @ r

    def columns(self, chosen):
        """The chosen columns: a centred dense block, or a sparse one."""
        if self.sparse:
            return self.X[:, chosen]
        block = np.asfortranarray(self.X[:, chosen])
        return block - self.means[chosen] if self.center else block

    def norms(self):
        if self.sparse:
            return np.asarray(self.X.multiply(self.X).sum(axis=0)).ravel() - self.n * self.means**2
        return ((self.X - self.means) ** 2).sum(axis=0)

    def gram(self):
        if self.sparse:
            return (self.X.T @ self.X).toarray() - self.n * np.multiply.outer(self.means, self.means)
        Z = self.X - self.means
        return Z.T @ Z

    def residual(self, b):
        fit = self.X @ b
        return self.y - fit + (self.means @ b if self.center else 0.0)


class _WorkingSet:
    """The columns in play, their Gram matrix and coefficients, kept from one penalty to the next."""

    def __init__(self, data, weights, settings, whole=0):
        self.data, self.weights, self.settings = data, weights, settings
        self.l2 = settings["l2"]
        self.b = settings["start"].copy()
        self.allowed = np.isfinite(weights)
        self.b[~self.allowed] = 0.0
        self.inside = np.zeros(data.p, dtype=bool)
        self.members = np.empty(0, dtype=np.int64)
        self.block = None
        self.G = np.empty((0, 0))
        self.c = np.empty(0)
        self.corr_y = data.correlations(data.y)
        self.rr = np.nan
        self.corr = None
        self.last_penalty = None
        usable = np.flatnonzero(self.allowed)
        self.largest = min(LARGEST_GRAM, data.largest_gram)
        if settings["mode"] == "residual":
            self.largest = 0
        self._grow(usable if usable.size <= max(FIRST_SET, whole) else np.flatnonzero(self.b))

    def solve(self, penalty):
        data, tol = self.data, self.settings["tol"] * self.data.yy
        w = penalty * self.weights
        passes, limit = 0, self.settings["max_iter"]
        if self.corr is None:
            self._refresh()
        if self.last_penalty is not None and penalty < self.last_penalty:
            strong = np.abs(self.corr) > self.weights * (2.0 * penalty - self.last_penalty)
            self._grow_by_priority(strong & ~self.inside & self.allowed, w)
        while True:
            gap = self._full_gap(w)
            if gap <= tol or passes >= limit:
                break
            violating = (np.abs(self.corr) > w) & ~self.inside & self.allowed
            inner = max(0.1 * tol, 0.02 * gap)
            if violating.any():
                self._grow_by_priority(violating, w)
            else:
                inner = 0.1 * tol
            if self.members.size > self.largest:
                gap, used = self._residual_mode(w, tol, limit)
                passes += used
                break
            b = self.b[self.members]
            _, used = gram_descent(self.G, self.c, w[self.members], self.l2, b, data.yy, inner, max(limit - passes, 1))
            passes += used
            if not used and not violating.any():
                break
            self.b[self.members] = b
            self._refresh()
        self.last_penalty = penalty
        # At the rounding level of |y|^2 the computed gap may come out negative.
        gap = max(float(gap), 0.0)
        return LassoSolution(self.b.copy(), gap, int(passes), bool(gap <= tol))

    def _residual_mode(self, w, tol, limit):
        data = self.data
        norms = data.norms()
        columns = np.flatnonzero(self.allowed)
        r = np.ascontiguousarray(data.residual(self.b))
        if data.sparse:
            X = data.X
            gap, used = _residual_sparse(
                X.data, X.indices, X.indptr, data.means, r, self.b, w, self.l2, norms, columns, data.yy, tol, limit
            )
        else:
            XT = np.ascontiguousarray((data.X - data.means).T)
            gap, used = _residual_dense(XT, r, self.b, w, self.l2, norms, columns, data.yy, tol, limit)
        self._refresh()
        return gap, used

    def _refresh(self):
        data = self.data
        if self.members.size == np.count_nonzero(self.allowed) and self.block is not None:
            # Every column is in the set: its Gram matrix answers without a pass over the data.
            b = self.b[self.members]
            self.corr = self.corr_y - self.l2 * self.b
            self.corr[self.members] -= self.G @ b
            self.rr = max(data.yy - float((self.corr_y + self.corr) @ self.b), 0.0)
            return
        if self.block is None or self.members.size == 0:
            residual = data.residual(self.b) if self.b.any() else data.y
        else:
            b = self.b[self.members]
            residual = data.y - self.block @ b
            if data.sparse and data.center:
                residual += data.means[self.members] @ b
        self.corr = data.correlations(residual) - self.l2 * self.b
        self.rr = float(residual @ residual) + self.l2 * float(self.b @ self.b)

    def _full_gap(self, w):
        rr = self.rr
        norm = float(np.abs(self.b[self.allowed]) @ w[self.allowed])
        yr = rr + float(self.corr @ self.b)
        if rr == 0.0:
            return norm
        largest = float(np.max(np.abs(self.corr[self.allowed]) / w[self.allowed], initial=0.0))
        s = yr / rr if largest == 0.0 else min(1.0 / largest, yr / rr)
        return 0.5 * rr + norm - s * yr + 0.5 * s * s * rr

    def _grow_by_priority(self, candidates, w):
        chosen = np.flatnonzero(candidates)
        room = max(FIRST_SET, self.members.size)
        if chosen.size > room:
            order = np.argpartition(-np.abs(self.corr[chosen]) / w[chosen], room)[:room]
            chosen = chosen[order]
        self._grow(chosen)

    def _grow(self, chosen):
        chosen = chosen[~self.inside[chosen]]
        if chosen.size == 0:
            return
        data, old = self.data, self.members.size
        self.inside[chosen] = True
        self.members = np.concatenate([self.members, chosen])
        if self.members.size > self.largest:
            self.block = None
            return
        new = data.columns(chosen)
        stack = sparse.hstack if data.sparse else np.hstack
        self.block = new if old == 0 else stack([self.block, new])
        if data.sparse:
            self.block = sparse.csc_array(self.block)
        cross = self.block.T @ new
        if data.sparse:
            cross = cross.toarray() - data.n * np.multiply.outer(data.means[self.members], data.means[chosen])
        G = np.empty((self.members.size, self.members.size))
        G[:old, :old] = self.G
        G[:, old:] = cross
        G[old:, :old] = cross[:old].T
        self.G = G
        self.c = self.corr_y[self.members].copy()


def _with_unpenalised(data, w, weights, settings):
    """Solve by the full Gram matrix after eliminating the coefficients that carry no penalty."""
    if data.p > LARGEST_GRAM:
        raise ValueError(f"unpenalised coefficients need at most {LARGEST_GRAM} columns, got {data.p}")
    w = np.where(np.isinf(weights), np.inf, w)
    c = data.correlations(data.y)
    return solve_gram(
        data.gram(),
        c,
        1.0,
        weights=w,
        l2=settings["l2"],
        start=settings["start"],
        y_norm2=data.yy,
        tol=settings["tol"],
        max_iter=settings["max_iter"],
    )


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
    solved = np.linalg.lstsq(Quu, np.column_stack([Q[np.ix_(u, v)], c[u]]), rcond=None)[0]
    passes, gap = 0, 0.0
    if v.size:
        schur = np.ascontiguousarray(Q[np.ix_(v, v)] - Q[np.ix_(v, u)] @ solved[:, :-1])
        reduced = c[v] - Q[np.ix_(v, u)] @ solved[:, -1]
        inner = b[v]
        rest = yy if yy < 0 else max(yy - float(c[u] @ solved[:, -1]), 0.0)
        gap, passes = gram_descent(0.5 * (schur + schur.T), reduced, w[v], l2, inner, rest, tol, max_iter)
        b[v] = inner
    b[u] = solved[:, -1] - solved[:, :-1] @ b[v]
    return gap, passes


def _check_weights(weights, p):
    if weights is None:
        return np.ones(p)
    weights = np.asarray(weights, dtype=np.float64)
    if weights.shape != (p,):
        raise ValueError(f"weights must have {p} entries, got shape {weights.shape}")
    if not (weights >= 0).all():
        raise ValueError("weights must be non-negative (infinite ones keep a coefficient at zero)")
    return weights


def _check_problem(X, y, weights, l2, start, center, mode, tol, max_iter):
    data = _Data(X, y, bool(center))
    weights = _check_weights(weights, data.p)
    check_choice(mode, "mode", ("gram", "residual"))
    start = np.zeros(data.p) if start is None else check_finite_array(start, "start", ndim=1)
    if start.size != data.p:
        raise ValueError(f"start must have {data.p} entries, got {start.size}")
    settings = {
        "l2": data.n * check_scalar(l2, "l2", low=0),
        "tol": check_scalar(tol, "tol", low=0, closed="neither"),
        "max_iter": check_scalar(max_iter, "max_iter", low=1, integer=True),
        "start": start,
        "mode": mode,
    }
    return data, weights, settings


def _check_gram(Q, C, alpha, weights, l2, start):
    Q = np.ascontiguousarray(check_finite_array(Q, "Q", ndim=2))
    C = np.ascontiguousarray(check_finite_array(C, "C", ndim=2))
    k, p = C.shape
    if Q.shape != (p, p):
        raise ValueError(f"Q must have shape {(p, p)} to match c, got {Q.shape}")
    Q = check_symmetric(Q, "Q", allow_empty=True)
    if p and np.diagonal(Q).min() < 0:
        raise ValueError(f"Q must be positive semi-definite, its diagonal holds {np.diagonal(Q).min():.3g}")
    check_scalar(l2, "l2", low=0)
    alpha = check_finite_array(alpha, "alpha")
    if (alpha < 0).any() or alpha.ndim > 1 or (alpha.ndim == 1 and alpha.size != k):
        raise ValueError("alpha must be non-negative: one number, or one for each problem")
    W = np.ones((k, p)) if weights is None else np.asarray(weights, dtype=np.float64)
    if W.shape not in ((p,), (k, p)) or not (W >= 0).all():
        raise ValueError(f"weights must be non-negative, of shape {(p,)} or {(k, p)}")
    W = np.broadcast_to(W, (k, p))
    with np.errstate(invalid="ignore"):
        W = np.where(np.isinf(W), np.inf, W * np.broadcast_to(np.atleast_1d(alpha)[:, None], (k, 1)))
    starts = np.zeros((k, p)) if start is None else np.array(check_finite_array(start, "start")).reshape(-1, p)
    if starts.shape != (k, p):
        raise ValueError(f"start must have shape {(k, p)}")
    starts[np.isinf(W)] = 0.0
    return Q, C, np.ascontiguousarray(W), starts
