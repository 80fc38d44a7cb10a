r"""The decorrelating matrix M: one small quadratic programme for each row, solved through its dual.

Row i trades the variance of a debiased coefficient against a bound on its bias (Javanmard and Montanari 2014, (4)):

::

    min_m m'Σ̂ m subject to ‖Σ̂ m - e_i‖_∞ ≤ μ .

The dual is a lasso without a response, min_β ½β'Σ̂β - β_i + μ‖β‖₁,
and its minimiser *is* the row. Coordinate descent settles the signs, a triangular solve finishes. Where the programme
is infeasible the dual falls without bound along a null vector d of Σ̂ with d_i > μ‖d‖₁, which the solver exhibits: the
smallest feasible μ of a row is the largest d_i/‖d‖₁ of all null vectors.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from scipy.linalg import lapack
from sklearn.exceptions import ConvergenceWarning

from learnable.highdim.debiased_lasso._path import DEPENDENT, REFUTED, UNDECIDED, NullSpace
from learnable.highdim.debiased_lasso._rows import Search, solve_rows
from learnable.highdim.debiased_lasso.coherence import check_sigma, default_mu
from learnable.linalg.precision import factor as cholesky_factor
from learnable.validation import Result, check_finite_array, check_scalar

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
    floor : ndarray of shape (k,)
        Proven lower bound d_i / |d|_1 on the feasible mu, from a null vector d of S; zero where none was needed. Above
        `mu` for infeasible rows; after a search, above the next smaller mu where there is no row.
    n_iter : ndarray of shape (k,)
        Sweeps over the coordinates of the dual, and steps along its path.
    converged : ndarray of bool of shape (k,)
        Whether the row is solved or proven infeasible, and with a search whether its mu is the smallest.
    """

    M: np.ndarray
    mu: np.ndarray
    gap: np.ndarray
    feasible: np.ndarray
    floor: np.ndarray
    n_iter: np.ndarray
    converged: np.ndarray


def decorrelate(
    covariance,
    mu=None,
    rows=None,
    *,
    n=None,
    adaptive_mu=False,
    factor=1.3,
    n_tries=10,
    sweeps_a_try=50,
    tol=1e-10,
    max_iter=10_000,
    n_jobs=1,
):
    r"""Solve the programmes of M's rows (Javanmard and Montanari 2014, Algorithm 1) with a duality gap for each.

    In the closed-form regime, μ ≥ ρ_i/(1+ρ_i) with ρ_i = max_(j ≠ i)|Σ_ij|/
    Σ_ii, the row is (1-μ)e_i/Σ_ii. Below it, coordinate descent on the dual, O(p) for each
    coefficient that moves, then a Cholesky factorisation on the nonzero ones. Where that creeps, the exact path of the
    minimiser in μ, O(p) for each nonzero coefficient and step, leads to the solution or to a proof that there is none.
    Rows whose programme is infeasible become e_i, with a warning; Algorithm 1 would reset the whole matrix.

    Parameters
    ----------
    covariance : array-like of shape (p, p)
        Σ̂ = X'X/n, with a positive diagonal.
    mu : float or array-like, optional
        The bound of the constraint, in [0, 1), for all rows or for each. With ``adaptive_mu`` it is where the search
        starts; by default :func:`default_mu` of p and `n`.
    rows : array-like of int, optional
        Which rows of M; all by default.
    n : int, optional
        Sample size, for the default of `mu` only.
    adaptive_mu : bool, default=False
        For each row take the smallest mu of the grid start / factor^k, k <= `n_tries`, at which the programme has a
        solution. A row without a solution at the start gets the next larger value on the same grid that has one, at
        most ρ_i/(1+ρ_i), with a warning. The next smaller value is then proven infeasible (`floor`), so that mu does
        not depend on the effort. (The authors' programme raises mu as soon as its sweeps do not settle, which
        correlated columns do not survive.)
    factor : float, default=1.3
        By which mu is divided at each try.
    n_tries : int, default=10
        How often, at most.
    sweeps_a_try : int, default=50
        Plain sweeps of coordinate descent at each mu before a slower method takes over; this changes the time only.
    tol : float, default=1e-10
        Largest violation of the optimality conditions, in units of the constraint.
    max_iter : int, default=10000
        Sweeps, or steps along the path, at each mu. Rows that are left undecided are named in a warning.
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

    Two equal columns cannot be told apart below mu = 1/2, and (1, -1) proves it:

    >>> with warnings.catch_warnings(action="ignore"):
    ...     decorrelate([[1.0, 1.0], [1.0, 1.0]], 0.4).floor.round(6).tolist()
    [0.5, 0.5]
    """
    S, rows = check_sigma(covariance, rows)
    tol = check_scalar(tol, "tol", low=0, closed="neither")
    max_iter = check_scalar(max_iter, "max_iter", low=1, integer=True)
    if mu is None:
        if not adaptive_mu or n is None:
            raise ValueError("give mu; or n together with adaptive_mu=True, to start from default_mu(p, n)")
        mu = default_mu(len(S), n)
    starts = check_mu(mu, len(rows))
    if adaptive_mu:
        factor = check_scalar(factor, "factor", low=1, closed="neither")
        n_tries = check_scalar(n_tries, "n_tries", low=0, integer=True)
        sweeps_a_try = check_scalar(sweeps_a_try, "sweeps_a_try", low=1, integer=True)
    else:
        factor, n_tries, sweeps_a_try = 1.0, 0, 0
    search, null = Search(factor, n_tries, sweeps_a_try, max_iter), _null_space(S)
    blocks = np.array_split(np.arange(len(rows)), max(1, min(len(rows), 1 if n_jobs == 1 else 16)))
    parts = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(solve_rows)(S, null, rows[block], starts[block], search, tol) for block in blocks
    )
    M, mus, status, used, floor = (np.concatenate(part) for part in zip(*parts, strict=True))
    bad = status == REFUTED
    _report_infeasible(rows, mus, bad)
    _report_undecided(rows, mus, status == UNDECIDED, max_iter, adaptive_mu)
    if adaptive_mu:
        _report_coarse(rows, starts, mus, search)
    M[bad] = 0.0
    M[bad, rows[bad]] = 1.0
    # B S B' row by row, for all rows with one product.
    gap = np.einsum("ij,ij->i", M @ S, M) - M[np.arange(len(rows)), rows] + mus * np.abs(M).sum(axis=1)
    return Decorrelation(M, mus, np.where(bad, np.nan, np.abs(gap)), ~bad, floor, used, status != UNDECIDED)


def check_mu(mu, k):
    mus = check_finite_array(mu, "mu")
    if mus.ndim > 1 or (mus.ndim == 1 and mus.size != k):
        raise ValueError(f"mu must be one number, or {k} of them, got shape {mus.shape}")
    if (mus < 0).any() or (mus >= 1).any():
        raise ValueError(
            f"mu must lie in [0, 1), got {mus.max() if (mus >= 1).any() else mus.min():g}: at 1 a row is zero"
        )
    return np.broadcast_to(mus, (k,)).astype(np.float64)


def _null_space(S):
    """The rank of S, and a basis of its range where that is not everything."""
    F = cholesky_factor(S)
    if F is not None and (np.diagonal(F) ** 2 > 1e-8 * np.diagonal(S)).all():
        return NullSpace(np.empty((len(S), 0)), len(S))
    root = np.sqrt(np.diagonal(S))
    C = S / root
    C /= root[:, None]
    F, order, rank, _ = lapack.dpstrf(C.T, tol=DEPENDENT, overwrite_a=True)
    if rank == len(S):
        return NullSpace(np.empty((rank, 0)), rank)
    G = np.empty((rank, len(S)))
    G[:, order - 1] = np.triu(F[:rank])
    return NullSpace(np.ascontiguousarray(np.linalg.qr((G * root).T)[0]), int(rank))


def _report_infeasible(rows, mus, bad):
    if bad.any():
        worst = np.argmax(bad)
        warnings.warn(
            f"{bad.sum()} of {len(rows)} rows of M have no solution (row {rows[worst]} at mu={mus[worst]:.3g}) and "
            "were set to unit vectors: those coefficients keep their bias. Raise mu, or use adaptive_mu=True",
            ConvergenceWarning,
            stacklevel=3,
        )


def _report_undecided(rows, mus, late, max_iter, adaptive_mu):
    if late.any():
        named = ", ".join(f"{i} (mu={mu:.3g})" for i, mu in zip(rows[late][:10], mus[late][:10], strict=True))
        told = (
            "the search for mu ended before it was known whether the next smaller mu has a solution"
            if adaptive_mu
            else "neither a solution nor a proof that there is none was found"
        )
        warnings.warn(
            f"{told} for {late.sum()} of {len(rows)} rows of M in max_iter={max_iter} iterations: rows {named}"
            f"{', ...' if late.sum() > 10 else ''}; raise max_iter",
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
