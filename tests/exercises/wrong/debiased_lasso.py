"""Plausible wrong solutions to the exercises on the debiased lasso."""

import numpy as np
from scipy import special
from support import wrong


def debias(theta, X, y, M):
    """Stands for the student's own answer to an earlier question; so do the next two."""
    return theta + M @ (X.T @ (y - X @ theta)) / len(y)


def dual_row(S, i, mu):
    raise NotImplementedError


def scaled_lasso(X, y, lam0):
    raise NotImplementedError


@wrong("q1", fails="Any M, not symmetric, with more columns than rows")
def transposed_matrix():
    """Multiplies from the wrong side: the same for a symmetric M."""

    def debias(theta, X, y, M):
        return theta + (X.T @ (y - X @ theta)) @ M / len(y)

    return {"debias": debias}


@wrong("q1", fails="The error splits into noise and remainder")
def least_squares_step():
    """Ignores M and takes the pseudo-inverse: right for M = inverse."""

    def debias(theta, X, y, M):
        return theta + np.linalg.lstsq(X, y - X @ theta, rcond=None)[0]

    return {"debias": debias}


@wrong("q2", fails="Values at random shifts, of either sign")
def one_sided():
    """Counts the nearer tail twice: right only at zero."""

    def power_G(alpha, u):
        z = -special.ndtri(alpha / 2)
        return 2 * special.ndtr(-(z - np.abs(u)))

    return {"power_G": power_G}


@wrong("q2", fails="Very small levels")
def differences_from_one():
    """The formula as printed: nothing is left of a tiny level."""

    def power_G(alpha, u):
        z = special.ndtri(1 - alpha / 2)
        return 2 - special.ndtr(z + u) - special.ndtr(z - u)

    return {"power_G": power_G}


@wrong("q3", fails="The gap closes and the row is feasible, with unequal variances")
def coarse_steps():
    """Stops when a sweep moves no coefficient by more than 0.01."""

    def dual_row(S, i, mu):
        beta = np.zeros(len(S))
        limit = 1e-2 if len(S) > 3 else 1e-9
        for _ in range(3000):
            before = beta.copy()
            for j in range(len(S)):
                z = (j == i) - S[j] @ beta + S[j, j] * beta[j]
                beta[j] = np.sign(z) * max(abs(z) - mu, 0.0) / S[j, j]
            if np.abs(beta - before).max() < limit:
                return beta
        raise ValueError("no solution")

    return {"dual_row": dual_row}


@wrong("q3", fails="A row without a solution")
def last_iterate():
    """Returns whatever it has after many sweeps."""

    def dual_row(S, i, mu):
        beta = np.zeros(len(S))
        for _ in range(600):
            for j in range(len(S)):
                z = (j == i) - S[j] @ beta + S[j, j] * beta[j]
                beta[j] = np.sign(z) * max(abs(z) - mu, 0.0) / S[j, j]
        return beta

    return {"dual_row": dual_row}


@wrong("q4", fails="The joint optimum of a random problem")
def one_more_lasso():
    """Returns the lasso of the last sigma but takes its degrees of freedom into account: another estimator."""

    def scaled_lasso(X, y, lam0):
        from sklearn.linear_model import Lasso

        unit = np.linalg.norm(y) / np.sqrt(len(y))
        y, sigma = y / unit, 1.0
        for _ in range(100):
            theta = Lasso(alpha=sigma * lam0, fit_intercept=False, tol=1e-10, max_iter=100_000).fit(X, y).coef_
            free = np.count_nonzero(theta) if X.shape[1] > 1 else 0
            sigma = np.linalg.norm(y - X @ theta) / np.sqrt(len(y) - free)
        return unit * theta, unit * sigma

    return {"scaled_lasso": scaled_lasso}


@wrong("q4", fails="Units of y")
def absolute_tolerance():
    """Stops at an absolute change of sigma: too early in small units."""

    def scaled_lasso(X, y, lam0):
        from sklearn.linear_model import Lasso

        sigma = np.linalg.norm(y) / np.sqrt(len(y))
        for _ in range(100):
            theta = Lasso(alpha=sigma * lam0, fit_intercept=False, tol=1e-10, max_iter=100_000).fit(X, y).coef_
            new = np.linalg.norm(y - X @ theta) / np.sqrt(len(y))
            done, sigma = abs(new - sigma) < 1e-6, new
            if done:
                break
        return theta, sigma

    return {"scaled_lasso": scaled_lasso}


@wrong("q5", fails="Coverage and length over many draws")
def least_squares_intervals():
    """Inverts X'X: valid, but too long."""

    def intervals(X, y, alpha):
        n, p = X.shape
        theta, sigma = scaled_lasso(X, y, np.sqrt(2 * np.log(p) / n))
        M = np.linalg.inv(X.T @ X / n)
        center = debias(theta, X, y, M)
        half = special.ndtri(1 - alpha / 2) * sigma * np.sqrt(np.diagonal(M) / n)
        half = half * np.sqrt(n / (n - p))  # and sigma corrected for p coefficients
        return np.column_stack([center - half, center + half])

    return {"intervals": intervals}


@wrong("q5", fails="Levels and units")
def always_95():
    """1.96 whatever the level."""

    def intervals(X, y, alpha):
        n, p = X.shape
        theta, sigma = scaled_lasso(X, y, np.sqrt(2 * np.log(p) / n))
        S = X.T @ X / n
        M = np.array([dual_row(S, i, 0.6 * np.sqrt(np.log(p) / n)) for i in range(p)])
        half = 1.96 * sigma * np.sqrt(np.einsum("ij,jk,ik->i", M, S, M) / n)
        center = debias(theta, X, y, M)
        return np.column_stack([center - half, center + half])

    return {"intervals": intervals}


@wrong("q5", fails="Levels and units")
def known_noise():
    """Takes sigma = 1, as in the first example."""

    def intervals(X, y, alpha):
        n, p = X.shape
        theta, _ = scaled_lasso(X, y, np.sqrt(2 * np.log(p) / n))
        S = X.T @ X / n
        M = np.array([dual_row(S, i, 0.6 * np.sqrt(np.log(p) / n)) for i in range(p)])
        half = special.ndtri(1 - alpha / 2) * np.sqrt(np.einsum("ij,jk,ik->i", M, S, M) / n)
        center = debias(theta, X, y, M)
        return np.column_stack([center - half, center + half])

    return {"intervals": intervals}
