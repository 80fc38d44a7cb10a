r"""Rows of M in which no single observation may decide: for noise that is not Gaussian."""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from learnable.highdim.debiased_lasso.coherence import check_sigma
from learnable.highdim.debiased_lasso.programme import check_mu, decorrelate
from learnable.optim.coordinate_descent.gram import gram_descent
from learnable.validation import check_finite_array, check_scalar


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
    S, rows = check_sigma(S, rows)
    mus = check_mu(mu, len(rows))
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
