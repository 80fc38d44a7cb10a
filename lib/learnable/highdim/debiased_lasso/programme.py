r"""The decorrelating matrix M: one small quadratic programme for each row, solved through its dual.

Row i trades the variance of a debiased coefficient against a bound on its bias (Javanmard and Montanari 2014, (4)):

::

    min_m m'Σ̂ m subject to ‖Σ̂ m - e_i‖_∞ ≤ μ .

The dual is a lasso without a response, min_β ½β'Σ̂β - β_i + μ‖β‖₁,
and its minimiser *is* the row. Coordinate descent settles the signs, a triangular solve finishes. Where the programme
is infeasible the dual falls without bound, along a direction that the solver exhibits.
"""

import warnings
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numba import njit
from scipy import optimize, special
from sklearn.exceptions import ConvergenceWarning

from learnable.linalg.precision import factor as cholesky_factor
from learnable.optim.coordinate_descent import gram_descent
from learnable.validation import Result, check_choice, check_finite_array, check_scalar, check_symmetric

__all__ = [
    "Decorrelation",
    "bounded_decorrelating_matrix",
    "closed_form_mu",
    "coherence",
    "decorrelate",
    "decorrelating_matrix",
    "default_mu",
    "minimum_coherence",
]

# A lower bound on the variance of a row beyond this multiple of 1 / Sigma_ii proves it useless: intervals that are
# 10,000 times too long. The bound is infinite exactly when the programme is infeasible.
HOPELESS = 1e8
# A search for mu that ends above this has not decorrelated the row: at 1/2 two equal columns pass.
COARSE = 0.4


@dataclass(frozen=True, eq=False)
class Decorrelation(Result):
    """Rows of M with their certificates, from :func:`decorrelate`.

    Attributes
    ----------
    M : ndarray of shape (k, p)
    mu : ndarray of shape (k,)
        The bound that each row was solved for.
    gap : ndarray of shape (k,)
        Duality gap m'Sm - m_i + mu |m|_1, zero at the optimum.
    feasible : ndarray of bool of shape (k,)
    n_iter : ndarray of shape (k,)
        Sweeps over the coordinates of the dual.
    converged : ndarray of bool of shape (k,)
    """

    M: np.ndarray
    mu: np.ndarray
    gap: np.ndarray
    feasible: np.ndarray
    n_iter: np.ndarray
    converged: np.ndarray


def decorrelating_matrix(
    covariance, mu=None, rows=None, method="dual_cd", *, n=None, adaptive_mu=False, tol=1e-10, max_iter=500, n_jobs=1
):
    """Rows of the decorrelating matrix M; see :func:`decorrelate`, which returns certificates with them.

    Parameters
    ----------
    covariance : array-like of shape (p, p)
        X'X / n, with a positive diagonal.
    mu : float or array-like of shape (k,)
        The bound on the bias, 0 <= mu < 1. At mu >= 1 the row would be zero and the interval a point.
    rows : sequence of int, optional
        Which rows; all by default.
    method : {"dual_cd", "cvxpy"}, default="dual_cd"
        The second hands each programme to a generic solver, for comparison.
    n, adaptive_mu, tol, max_iter, n_jobs
        As in :func:`decorrelate`.

    Returns
    -------
    ndarray of shape (k, p)

    Examples
    --------
    >>> decorrelating_matrix([[1.0, 0.5], [0.5, 1.0]], 0.2).round(6).tolist()
    [[0.933333, -0.266667], [-0.266667, 0.933333]]
    """
    return decorrelate(
        covariance, mu, rows, method, n=n, adaptive_mu=adaptive_mu, tol=tol, max_iter=max_iter, n_jobs=n_jobs
    ).M


def decorrelate(
    covariance,
    mu=None,
    rows=None,
    method="dual_cd",
    *,
    n=None,
    adaptive_mu=False,
    factor=1.3,
    n_tries=10,
    sweeps_a_try=50,
    tol=1e-10,
    max_iter=500,
    n_jobs=1,
):
    r"""Solve the programmes of M's rows (Javanmard and Montanari 2014, Algorithm 1) with a duality gap for each.

    In the closed-form regime, μ ≥ ρ_i/(1+ρ_i) with ρ_i = max_(j ≠ i)|Σ_ij|/
    Σ_ii, the row is (1-μ)e_i/Σ_ii. Below it, coordinate descent on the dual, O(p) for each
    coefficient that moves, then a Cholesky factorisation on the nonzero ones. Rows whose programme is infeasible become
    e_i, with a warning; Algorithm 1 would reset the whole matrix.

    Parameters
    ----------
    covariance, mu, rows, method
        As in :func:`decorrelating_matrix`. With ``adaptive_mu``, `mu` is where the search starts;
        by default :func:`default_mu` of p and `n`.
    n : int, optional
        Sample size, for the default of `mu` only.
    adaptive_mu : bool, default=False
        For each row divide mu by `factor`, at most `n_tries` times, as long as the programme has a solution: found by
        `sweeps_a_try` plain sweeps of coordinate descent, or, where columns are so correlated that these creep, by
        the method that solves the row in the end. A row without a solution at the start gets the next larger mu that
        has one, at most ρ_i/(1+ρ_i), with a warning. (The authors' programme raises mu as soon as its
        sweeps do not settle, which correlated columns do not survive.)
    factor : float, default=1.3
        By which mu is divided at each try.
    n_tries : int, default=10
        How often, at most.
    sweeps_a_try : int, default=50
        Sweeps before a try counts as failed.
    tol : float, default=1e-10
        Largest violation of the optimality conditions, in units of the constraint.
    max_iter : int, default=500
    n_jobs : int, default=1
        Threads.

    Returns
    -------
    Decorrelation

    Examples
    --------
    >>> found = decorrelate([[1.0, 0.5], [0.5, 1.0]], 0.2)
    >>> found.feasible.tolist(), bool(found.gap.max() < 1e-12)
    ([True, True], True)
    """
    S, rows = _check_sigma(covariance, rows)
    check_choice(method, "method", ("dual_cd", "cvxpy"))
    tol = check_scalar(tol, "tol", low=0, closed="neither")
    max_iter = check_scalar(max_iter, "max_iter", low=1, integer=True)
    if mu is None:
        if not adaptive_mu or n is None:
            raise ValueError("give mu; or n together with adaptive_mu=True, to start from default_mu(p, n)")
        mu = default_mu(len(S), n)
    starts = _check_mu(mu, len(rows))
    if method == "cvxpy":
        if adaptive_mu:
            raise ValueError("adaptive_mu goes with method='dual_cd'")
        return _by_cvxpy(S, rows, starts)
    if adaptive_mu:
        factor = check_scalar(factor, "factor", low=1, closed="neither")
        n_tries = check_scalar(n_tries, "n_tries", low=0, integer=True)
        sweeps_a_try = check_scalar(sweeps_a_try, "sweeps_a_try", low=1, integer=True)
    else:
        factor, n_tries, sweeps_a_try = 1.0, 0, 0
    search, regular = _Search(factor, n_tries, sweeps_a_try, max_iter), _is_regular(S)
    blocks = np.array_split(np.arange(len(rows)), max(1, min(len(rows), 1 if n_jobs == 1 else 16)))
    parts = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(_solve_rows)(S, rows[block], starts[block], search, tol, regular) for block in blocks
    )
    M, mus, status, sweeps = (np.concatenate(part) for part in zip(*parts, strict=True))
    _report(rows, mus, status, max_iter)
    if adaptive_mu:
        _report_coarse(rows, starts, mus, search)
    bad = status == 1
    M[bad] = 0.0
    M[bad, rows[bad]] = 1.0
    # B S B' row by row, for all rows with one product.
    gap = np.einsum("ij,ij->i", M @ S, M) - M[np.arange(len(rows)), rows] + mus * np.abs(M).sum(axis=1)
    return Decorrelation(M, mus, np.where(bad, np.nan, np.abs(gap)), ~bad, sweeps, status == 0)


def default_mu(p, n, a=None):
    r"""Where the search for mu starts, Φ⁻¹(1-0.1/p²)/√n, or a√(log p/n).

    The first is the level that the largest of p^2 sample correlations of independent columns stays under; the paper
    uses the second with a = 2.

    Parameters
    ----------
    p : int
        Number of variables.
    n : int
        Number of observations.
    a : float, optional
        Factor of the paper's literal rule.

    Examples
    --------
    >>> round(default_mu(600, 1000), 4), round(default_mu(600, 1000, a=2), 4)
    (0.1583, 0.16)
    """
    p, n = check_scalar(p, "p", low=1, integer=True), check_scalar(n, "n", low=1, integer=True)
    if a is None:
        mu = -float(special.ndtri(0.1 / p**2)) / np.sqrt(n)
    else:
        mu = check_scalar(a, "a", low=0, closed="neither") * np.sqrt(np.log(p) / n)
    return float(min(mu, 0.99))


def closed_form_mu(covariance):
    r"""The level ρ_i/(1+ρ_i) of mu from which row i is (1-μ)e_i/Σ_ii.

    Parameters
    ----------
    covariance : array-like of shape (p, p)

    Examples
    --------
    >>> closed_form_mu([[1.0, 0.25], [0.25, 1.0]]).tolist()
    [0.2, 0.2]
    """
    S, _ = _check_sigma(covariance, None)
    A = np.abs(S)
    np.fill_diagonal(A, 0.0)
    rho = A.max(axis=1) / np.diagonal(S)
    return rho / (1 + rho)


def coherence(covariance, M=None, rows=None):
    r"""Generalised coherence μ_*(X; M) = |MΣ̂ - I|_∞, the largest entry (Definition 4).

    With M = I (the default) and columns of norm sqrt(n) it is the usual coherence, the largest correlation of two
    columns. O(k p^2).

    Parameters
    ----------
    covariance : array-like of shape (p, p)
    M : array-like of shape (k, p), optional
        The identity by default.
    rows : array-like of int, optional
        Rows of M; all by default.

    Examples
    --------
    >>> coherence([[1.0, 0.5], [0.5, 1.0]])
    0.5
    """
    S, rows = _check_sigma(covariance, rows)
    E = np.eye(len(S))[rows]
    M = E if M is None else check_finite_array(M, "M", ndim=2)
    if M.shape != E.shape:
        raise ValueError(f"M must have shape {E.shape}, one row for each of the rows, got {M.shape}")
    return float(np.abs(M @ S - E).max())


def minimum_coherence(covariance, rows=None):
    r"""Smallest mu for which each row's programme is feasible, by linear programming.

    min_(m,t) t subject to |Σ̂ m-e_i| ≤ t; the maximum over all rows is μ_min(X)
    of Definition 4. It is zero where Σ̂ is regular. One programme with p + 1 variables for each row.

    Parameters
    ----------
    covariance : array-like of shape (p, p)
    rows : array-like of int, optional
        Rows of M; all by default.

    Examples
    --------
    >>> minimum_coherence([[1.0, 1.0], [1.0, 1.0]]).round(6).tolist()
    [0.5, 0.5]
    """
    S, rows = _check_sigma(covariance, rows)
    p = len(S)
    ones = np.ones((p, 1))
    A = np.vstack([np.hstack([S, -ones]), np.hstack([-S, -ones])])
    cost = np.append(np.zeros(p), 1.0)
    limits = [(None, None)] * p + [(0, None)]
    smallest = np.empty(len(rows))
    for k, i in enumerate(rows):
        e = np.zeros(p)
        e[i] = 1.0
        answer = optimize.linprog(cost, A, np.append(e, -e), bounds=limits, method="highs")
        if not answer.success:
            raise RuntimeError(f"the linear programme of row {i} failed: {answer.message}")
        smallest[k] = answer.x[-1]
    return smallest


def bounded_decorrelating_matrix(X, mu, rows=None, *, beta=0.4, tol=1e-10, max_iter=20_000):
    r"""Rows of M that also satisfy ‖Xm‖_∞ ≤ n^β, for noise that is not Gaussian (54).

    No single observation may then decide a coefficient, and the central limit theorem applies. Rows that satisfy the
    bound without being asked are kept; the others are solved by the same coordinate descent, on the dual with one more
    coefficient η_t for each observation:

    ::

        (1/2n)‖Xβ + Pη‖² - β_i + μ‖β‖₁ + n^(β-1)‖η‖₁,
        m = β + X⁺η,

    where P projects on the column space of X.

    Parameters
    ----------
    X : array-like of shape (n, p)
    mu : float or array-like of shape (k,)
    rows : sequence of int, optional
    beta : float, default=0.4
        Between 1/4 and 1/2.
    tol : float, default=1e-10
    max_iter : int, default=20000

    Returns
    -------
    M : ndarray of shape (k, p)
    active : ndarray of bool of shape (k,)
        Where the new constraint changed the row.

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((200, 3))
    >>> M, active = bounded_decorrelating_matrix(X, 0.05)
    >>> active.tolist()
    [False, False, False]
    """
    X = check_finite_array(X, "X", ndim=2)
    beta = check_scalar(beta, "beta", low=0.25, high=0.5, closed="neither")
    n, p = X.shape
    S = X.T @ X / n
    S, rows = _check_sigma(S, rows)
    mus = _check_mu(mu, len(rows))
    found = decorrelate(S, mus, rows, tol=tol)
    M, limit = found.M, n**beta
    active = found.feasible & (np.abs(M @ X.T).max(axis=1) > limit)
    if not active.any():
        return M, active
    U, d, Vt = np.linalg.svd(X, full_matrices=False)
    keep = d > 1e-10 * d[0]
    P = U[:, keep] @ U[:, keep].T
    pseudo = (Vt[keep].T / d[keep]) @ U[:, keep].T
    Q = np.block([[S, X.T / n], [X / n, P / n]])
    failed = []
    for k in np.flatnonzero(active):
        c, b = np.zeros(n + p), np.append(M[k], np.zeros(n))
        c[rows[k]] = 1.0
        w = np.append(np.full(p, mus[k]), np.full(n, limit / n))
        violation, _ = gram_descent(Q, c, np.maximum(w, 1e-300), 0.0, b, -1.0, tol, max_iter)
        if violation > 1e-6 * limit / n:
            failed.append(int(rows[k]))
            M[k] = 0.0
            M[k, rows[k]] = 1.0
        else:
            M[k] = b[:p] + pseudo @ b[p:]
    if failed:
        warnings.warn(
            f"rows {failed[:5]} of M have no solution with |Xm| <= n^{beta:g} = {limit:.3g} that could be found and "
            "were set to unit vectors; raise mu or beta",
            ConvergenceWarning,
            stacklevel=2,
        )
    return M, active


def _check_sigma(Sigma, rows):
    S = check_symmetric(Sigma, "Sigma")
    flat = np.flatnonzero(np.diagonal(S) <= 0)
    if flat.size:
        raise ValueError(
            f"Sigma must have a positive diagonal; variable {flat[0]} has {S[flat[0], flat[0]]:g} there: leave it out"
        )
    if rows is None:
        return S, np.arange(len(S))
    rows = np.atleast_1d(np.asarray(rows))
    if rows.ndim != 1 or rows.size == 0 or rows.dtype.kind not in "iu" or rows.min() < 0 or rows.max() >= len(S):
        raise ValueError(f"rows must be indices between 0 and {len(S) - 1}, got {rows!r}")
    return S, rows.astype(np.int64)


def _check_mu(mu, k):
    mus = check_finite_array(mu, "mu")
    if mus.ndim > 1 or (mus.ndim == 1 and mus.size != k):
        raise ValueError(f"mu must be one number, or {k} of them, got shape {mus.shape}")
    if (mus < 0).any() or (mus >= 1).any():
        raise ValueError(
            f"mu must lie in [0, 1), got {mus.max() if (mus >= 1).any() else mus.min():g}: at 1 a row is zero"
        )
    return np.broadcast_to(mus, (k,)).astype(np.float64)


def _is_regular(S):
    F = cholesky_factor(S)
    return F is not None and bool((np.diagonal(F) ** 2 > 1e-8 * np.diagonal(S)).all())


def _report(rows, mus, status, max_sweeps):
    bad = np.flatnonzero(status == 1)
    if bad.size:
        worst = bad[0]
        warnings.warn(
            f"{bad.size} of {len(rows)} rows of M have no solution (row {rows[worst]} at mu={mus[worst]:.3g}) and were "
            "set to unit vectors: those coefficients keep their bias. Raise mu, or use adaptive_mu=True",
            ConvergenceWarning,
            stacklevel=3,
        )
    slow = np.flatnonzero(status == 2)
    if slow.size:
        warnings.warn(
            f"{slow.size} of {len(rows)} rows of M did not converge in {max_sweeps} sweeps (row {rows[slow[0]]} at "
            f"mu={mus[slow[0]]:.3g}); raise mu or max_iter",
            ConvergenceWarning,
            stacklevel=3,
        )


def _report_coarse(rows, starts, mus, search):
    """Say where the search for mu ended high: raised from its start, or stuck above COARSE on the way down."""
    stuck = mus > 1.01 * starts / search.factor**search.n_tries
    coarse = np.flatnonzero((mus > starts) | (stuck & (mus > COARSE)))
    if coarse.size:
        worst = coarse[np.argmax(mus[coarse])]
        warnings.warn(
            f"{coarse.size} of {len(rows)} rows of M have a solution for large mu only (row {rows[worst]}: "
            f"{mus[worst]:.3g}): the bias that is left may exceed the standard error, so that their intervals and "
            "p-values are not valid. Such columns are nearly combinations of others: leave some of those out, or "
            "collect more observations",
            ConvergenceWarning,
            stacklevel=3,
        )


def _by_cvxpy(S, rows, mus):
    import cvxpy as cp

    p, k = len(S), len(rows)
    # S is only semi-definite: its root keeps the programme convex in the solver's eyes.
    values, vectors = np.linalg.eigh(S)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))).T
    M, gap, feasible = np.zeros((k, p)), np.full(k, np.nan), np.zeros(k, dtype=bool)
    for t, i in enumerate(rows):
        e = np.eye(p)[i]
        m = cp.Variable(p)
        programme = cp.Problem(cp.Minimize(cp.sum_squares(root @ m)), [cp.norm_inf(S @ m - e) <= mus[t]])
        programme.solve()
        feasible[t] = programme.status in ("optimal", "optimal_inaccurate")
        M[t] = m.value if feasible[t] else e
        if feasible[t]:
            gap[t] = abs(M[t] @ S @ M[t] - M[t, i] + mus[t] * np.abs(M[t]).sum())
    _report(rows, mus, (~feasible).astype(int), 0)
    return Decorrelation(M, mus, gap, feasible, np.zeros(k, dtype=np.int64), feasible)


class _Row(NamedTuple):
    """One programme: its index, e_i, the weights and the workspace of its dual, and where the closed form begins."""

    index: int
    c: np.ndarray
    w: np.ndarray
    active: np.ndarray
    closed: float
    regular: bool


class _Search(NamedTuple):
    """How mu is searched; `sweeps_a_try` is zero where it is not."""

    factor: float
    n_tries: int
    sweeps_a_try: int
    max_sweeps: int


@njit(cache=True, nogil=True)
def _solve_rows(S, rows, starts, search, tol, regular):
    k, p = rows.size, S.shape[0]
    M = np.zeros((k, p))
    mus = starts.copy()
    status = np.zeros(k, dtype=np.int64)
    sweeps = np.zeros(k, dtype=np.int64)
    c, w, q, last = np.zeros(p), np.empty(p), np.empty(p), np.empty(p)
    active = np.empty(p, dtype=np.int64)
    for t in range(k):
        i = rows[t]
        c[i] = 1.0
        rho = 0.0
        for j in range(p):
            if j != i:
                rho = max(rho, abs(S[i, j]))
        rho /= S[i, i]
        row = _Row(i, c, w, active, rho / (1.0 + rho), regular)
        if search.sweeps_a_try > 0:
            mus[t], sweeps[t] = _search_mu(S, row, starts[t], search, M[t], q, last)
        status[t], used = _finish(S, row, mus[t], M[t], tol, search.max_sweeps)
        sweeps[t] += used
        while status[t] != 0 and search.sweeps_a_try > 0:
            # Violations of mu / 100 could be reached, but not none: too close to the smallest feasible mu.
            mus[t] = min(mus[t] * search.factor, row.closed)
            M[t] = 0.0
            status[t], used = _finish(S, row, mus[t], M[t], tol, search.max_sweeps)
            sweeps[t] += used
        c[i] = 0.0
    return M, mus, status, sweeps


@njit(cache=True, nogil=True)
def _finish(S, row, mu, b, tol, max_sweeps):
    """Solve one row at a given mu, in closed form where that is the solution."""
    if mu >= row.closed:
        b[:] = 0.0
        b[row.index] = (1.0 - mu) / S[row.index, row.index]
        return 0, 0
    # The descent wants positive weights; the smallest number stands for zero.
    row.w[:] = max(mu, 1e-300)
    return _solve_row(S, row, mu, b, tol, max_sweeps)


@njit(cache=True, nogil=True)
def _solve_row(S, row, mu, b, tol, max_sweeps):
    """Solve one dual problem in place of `b`; 0 = solved, 1 = unbounded (infeasible row), 2 = out of sweeps."""
    i = row.index
    used = 0
    while used < max_sweeps:
        # A regular S has no null vectors and every programme a solution: no need to stop and look.
        chunk = max_sweeps - used if row.regular else min(100, max_sweeps - used)
        violation, passes = gram_descent(S, row.c, row.w, 0.0, b, -1.0, tol, chunk)
        used += passes
        if violation <= tol:
            return 0, used
        if row.regular:
            continue
        if _variance_bound(S, i, mu, b) * S[i, i] > HOPELESS:
            return 1, used
        for _ in range(b.size):
            moved = _recede(S, i, mu, b, row.active)
            if moved == 1:
                return 1, used
            if moved < 0:
                break
    return 2, used


@njit(cache=True, nogil=True)
def _variance_bound(S, i, mu, b):
    """Every b bounds the variance of a feasible row from below: m'Sm >= (b_i - mu |b|_1)^2 / b'Sb."""
    gain = b[i]
    quadratic = 0.0
    for j in range(b.size):
        if b[j] != 0.0:
            gain -= mu * abs(b[j])
            row = S[j]
            total = 0.0
            for k in range(b.size):
                total += row[k] * b[k]
            quadratic += b[j] * total
    if gain <= 0.0:
        return 0.0
    return gain * gain / max(quadratic, 1e-300)


@njit(cache=True, nogil=True)
def _recede(S, i, mu, b, active):
    """One step along a null vector of S on the nonzero coefficients, downhill, until one of them meets zero.

    Returns 0 after a step, 1 if none meets zero (the dual is unbounded), -1 if there is no null vector.
    """
    size = 0
    for j in range(b.size):
        if b[j] != 0.0:
            active[size] = j
            size += 1
    U = np.empty((size, size))
    for k in range(size):
        for t in range(k, size):
            U[k, t] = S[active[k], active[t]]
    singular = -1
    for k in range(size):
        if U[k, k] <= 1e-10 * S[active[k], active[k]]:
            singular = k
            break
        root = np.sqrt(U[k, k])
        for t in range(k, size):
            U[k, t] /= root
        for s in range(k + 1, size):
            f = U[k, s]
            if f != 0.0:
                for t in range(s, size):
                    U[s, t] -= f * U[k, t]
    if singular < 0:
        return -1
    d = np.zeros(b.size)
    d[active[singular]] = 1.0
    for k in range(singular - 1, -1, -1):
        total = -U[k, singular]
        for t in range(k + 1, singular):
            total -= U[k, t] * d[active[t]]
        d[active[k]] = total / U[k, k]
    slope = -d[i]
    for k in range(size):
        slope += mu * np.sign(b[active[k]]) * d[active[k]]
    if slope > 0.0:
        d = -d
    length = np.inf
    leaving = -1
    for k in range(size):
        j = active[k]
        if b[j] * d[j] < 0.0 and -b[j] / d[j] < length:
            length = -b[j] / d[j]
            leaving = j
    if leaving < 0:
        return 1 if _variance_bound(S, i, mu, d) * S[i, i] > HOPELESS else -1
    for k in range(size):
        b[active[k]] += length * d[active[k]]
    b[leaving] = 0.0
    return 0


@njit(cache=True, nogil=True)
def _search_mu(S, row, start, search, b, q, last):
    """The smallest mu on the grid at which the row has a solution; leaves that solution in `b`.

    Below the start the grid ends after `n_tries` steps, above it where the closed form begins, which always exists.
    """
    mu, total = start, 0
    found, used = _attempt(S, row, mu, search, b, q)
    total += used
    while not found and mu < row.closed:
        mu = min(mu * search.factor, row.closed)
        b[:] = 0.0
        found, used = _attempt(S, row, mu, search, b, q)
        total += used
    if mu > start:
        return mu, total
    for _ in range(search.n_tries):
        last[:] = b
        found, used = _attempt(S, row, mu / search.factor, search, b, q)
        total += used
        if not found:
            b[:] = last
            break
        mu /= search.factor
    return mu, total


@njit(cache=True, nogil=True)
def _attempt(S, row, mu, search, b, q):
    """Solve a row to within mu / 100 from the start `b`: by plain sweeps, and where they creep by the full method."""
    used = 0
    if mu < row.closed:
        _residual(S, row.index, b, q)
        used = _sweep(S, mu, b, q, search.sweeps_a_try)
        if used >= 0:
            return True, used
    # Only a singular S has rows without a solution. To prove that takes long, so that there the patience is less.
    limit = search.max_sweeps if row.regular else min(2 * search.sweeps_a_try, search.max_sweeps)
    status, more = _finish(S, row, mu, b, 0.01 * mu, limit)
    return status == 0, more - used


@njit(cache=True, nogil=True)
def _residual(S, i, b, q):
    """Set q = e_i - Sb."""
    q[:] = 0.0
    q[i] = 1.0
    for j in range(b.size):
        if b[j] != 0.0:
            row = S[j]
            for k in range(b.size):
                q[k] -= b[j] * row[k]


@njit(cache=True, nogil=True)
def _sweep(S, mu, b, q, limit):
    """Plain coordinate descent with q = e_i - Sb kept; the number of sweeps, negative when they did not suffice."""
    p = b.size
    for sweep in range(limit):
        violation = 0.0
        for j in range(p):
            z = q[j] + S[j, j] * b[j]
            new = 0.0
            if z > mu:
                new = (z - mu) / S[j, j]
            elif z < -mu:
                new = (z + mu) / S[j, j]
            step = new - b[j]
            if step != 0.0:
                violation = max(violation, abs(step) * S[j, j])
                b[j] = new
                row = S[j]
                for k in range(p):
                    q[k] -= step * row[k]
        if violation <= 0.01 * mu:
            return sweep + 1
    return -limit
