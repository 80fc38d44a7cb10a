r"""How far the columns are from uncorrelated: coherence, and the levels of mu that follow from it."""

import numpy as np
from scipy import optimize, special

from learnable.validation import check_finite_array, check_scalar, check_symmetric

__all__ = ["closed_form_mu", "coherence", "default_mu", "minimum_coherence"]


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
    S, _ = check_sigma(covariance, None)
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
    S, rows = check_sigma(covariance, rows)
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
    S, rows = check_sigma(covariance, rows)
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


def check_sigma(Sigma, rows):
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
