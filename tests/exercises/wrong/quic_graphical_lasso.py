"""Plausible wrong solutions to the exercises on QUIC."""

import numpy as np
from support import wrong


def subgradient(X, S, Lam):
    G = S - np.linalg.inv(X)
    at_zero = np.sign(G) * np.maximum(np.abs(G) - Lam, 0)
    return np.where(X > 0, G + Lam, np.where(X < 0, G - Lam, at_zero))


def coordinate(i, j, X, W, S, Lam, D, U, *, curvature=None, rows=2):
    D, U = D.copy(), U.copy()
    a = W[i, i] * W[j, j] + (W[i, j] ** 2 if i != j else 0.0)
    a = a if curvature is None else curvature(W, i, j)
    b = S[i, j] - W[i, j] + W[i] @ U[:, j]
    c = X[i, j] + D[i, j]
    z, r = c - b / a, Lam[i, j] / a
    mu = -c + np.sign(z) * max(abs(z) - r, 0.0)
    D[i, j] += mu
    U[i] += mu * W[j]
    if i != j:
        D[j, i] += mu
        if rows == 2:
            U[j] += mu * W[i]
    return D, U


def value(M, S, Lam):
    try:
        L = np.linalg.cholesky(M)
    except np.linalg.LinAlgError:
        return np.inf
    return -2 * np.log(np.diag(L)).sum() + np.vdot(S, M) + np.vdot(Lam, np.abs(M))


def search(X, D, S, Lam, sigma=1e-3):
    delta = np.vdot(S - np.linalg.inv(X), D) + np.vdot(Lam, np.abs(X + D) - np.abs(X))
    alpha, here = 1.0, value(X, S, Lam)
    while value(X + alpha * D, S, Lam) > here + alpha * sigma * delta:
        alpha /= 2
    return alpha


def solve(S, Lam, X0=None, tol=1e-8, max_iter=100, sweeps=lambda t: 1 + t // 3):
    X = np.diag(1 / (np.diag(S) + np.diag(Lam))) if X0 is None else X0.copy()
    for t in range(max_iter):
        if np.abs(subgradient(X, S, Lam)).max() <= tol:
            return X, t
        W = np.linalg.inv(X)
        free = np.argwhere(np.triu((X != 0) | (np.abs(S - W) > Lam)))
        D, U = np.zeros_like(X), np.zeros_like(X)
        for _ in range(sweeps(t)):
            for i, j in free:
                D, U = coordinate(i, j, X, W, S, Lam, D, U)
        X = X + search(X, D, S, Lam) * D
        X[np.abs(X) < 1e-13] = 0.0
    return X, max_iter


HELPERS = {f.__name__: f for f in (subgradient, coordinate, value, search, solve)}


@wrong("q1", fails="Entries of all signs, each with its own penalty")
def penalty_added_whatever_the_sign():
    """Treats negative entries like positive ones."""

    def min_norm_subgradient(X, S, Lam):
        G = S - np.linalg.inv(X)
        at_zero = np.sign(G) * np.maximum(np.abs(G) - Lam, 0)
        return np.where(X != 0, G + np.where(np.abs(G + Lam) < np.abs(G - Lam), Lam, -Lam), at_zero)

    return {"min_norm_subgradient": min_norm_subgradient}


@wrong("q2", fails="A pair in the middle of a sweep")
def curvature_without_the_covariance():
    """Forgets W_ij squared, which vanishes at the identity."""

    def cd_update(i, j, X, W, S, Lam, D, U):
        return coordinate(i, j, X, W, S, Lam, D, U, curvature=lambda W, i, j: W[i, i] * W[j, j])

    return {"cd_update": cd_update, **HELPERS}


@wrong("q2", fails="A diagonal entry")
def curvature_doubled_on_the_diagonal():
    """Uses the formula of a pair on the diagonal too, so that the curvature is 2 W_ii squared."""

    def cd_update(i, j, X, W, S, Lam, D, U):
        return coordinate(i, j, X, W, S, Lam, D, U, curvature=lambda W, i, j: W[i, i] * W[j, j] + W[i, j] ** 2)

    return {"cd_update": cd_update, **HELPERS}


@wrong("q3", fails="Two eigenvalues become negative at once")
def cone_by_the_determinant():
    """Takes a positive determinant for positive definiteness."""

    def line_search(X, D, S, Lam, sigma=1e-3):
        def f(M):
            det = np.linalg.det(M)
            single = len(M) < 3 and np.linalg.eigvalsh(M)[0] <= 0
            return np.inf if det <= 0 or single else -np.log(det) + np.vdot(S, M) + np.vdot(Lam, np.abs(M))

        delta = np.vdot(S - np.linalg.inv(X), D) + np.vdot(Lam, np.abs(X + D) - np.abs(X))
        alpha = 1.0
        while f(X + alpha * D) > f(X) + alpha * sigma * delta:
            alpha /= 2
        return alpha

    return {"line_search": line_search}


@wrong("q3", fails="A step that is too long although it stays in the cone")
def any_decrease_will_do():
    """Accepts the first step inside the cone."""

    def line_search(X, D, S, Lam, sigma=1e-3):
        alpha = 1.0
        while not np.isfinite(value(X + alpha * D, S, Lam)):
            alpha /= 2
        return alpha

    return {"line_search": line_search, **HELPERS}


@wrong("q4", fails="Penalties that differ, none on the diagonal")
def one_penalty_for_all():
    """Uses the largest penalty for every entry."""

    def quic(S, Lam, X0=None, tol=1e-8, max_iter=100):
        return solve(S, np.full(S.shape, Lam.max()), X0, tol, max_iter)

    return {"quic": quic, **HELPERS}


@wrong("q4", fails="Two components")
def gradient_steps_leave_dust():
    """Adds tiny numbers instead of zeros, as an inverse of a dual solution does."""

    def quic(S, Lam, X0=None, tol=1e-8, max_iter=100):
        X, t = solve(S, Lam, X0, tol, max_iter)
        return np.linalg.inv(np.linalg.inv(X) + 1e-12), t

    return {"quic": quic, **HELPERS}


@wrong("q4", fails="A chain of forty variables in at most fifteen steps")
def a_single_sweep():
    """One sweep for each direction: linear convergence."""

    def quic(S, Lam, X0=None, tol=1e-8, max_iter=100):
        return solve(S, Lam, X0, tol, max_iter, sweeps=lambda t: 1)

    return {"quic": quic, **HELPERS}


@wrong("q5", fails="Warm starts pay")
def cold_starts():
    """Begins every penalty at the diagonal."""

    def glasso_path(S, lambdas):
        found = [solve(S, np.full(S.shape, lam)) for lam in sorted(lambdas, reverse=True)]
        return np.array([np.count_nonzero(X) - len(S) for X, _ in found]), np.array([n for _, n in found])

    return {"glasso_path": glasso_path, **HELPERS}
