r"""What else gives p-values in high dimension, and what does not: five methods to compare with.

All of them take X and y as they are; centre both first. The formulas of multi-sample-splitting and of the ridge
projection are those of Meinshausen, Meier and Bühlmann (2009) and Bühlmann (2013).
"""

from dataclasses import dataclass

import numpy as np
from scipy import special, stats

from learnable.highdim.debiased_lasso.inference import two_sided_pvalues
from learnable.highdim.debiased_lasso.scaled import check_design, lasso, scaled_lasso
from learnable.linalg.precision import factor, factor_inverse
from learnable.optim.coordinate_descent import solve_gram_batch
from learnable.validation import Result, check_finite_array, check_rng, check_scalar

__all__ = [
    "Inference",
    "multi_split",
    "naive_ols",
    "ols",
    "ridge_projection",
]


@dataclass(frozen=True, eq=False)
class Inference(Result):
    """Coefficients, standard errors and two-sided p-values of the variables ``support``."""

    coef: np.ndarray
    stderr: np.ndarray
    pvalues: np.ndarray
    support: np.ndarray

    def conf_int(self, alpha=0.05):
        """Intervals (k, 2) by the normal approximation."""
        half = -special.ndtri(check_scalar(alpha, "alpha", low=0, high=1, closed="neither") / 2) * self.stderr
        return np.column_stack([self.coef - half, self.coef + half])


def nodewise_matrix(covariance, alpha, *, tol=1e-10):
    r"""M by nodewise lasso regressions (van de Geer et al. 2014), to be used in :func:`debias`.

    Row i is (1, -γ̂_i)/τ̂_i² with γ̂_i the lasso of column i on the others and
    τ̂_i² = ‖x_i-X_(-i)γ̂_i‖²/n+λ‖γ̂_i‖₁. Then
    (MΣ̂)_ii=1 and |(MΣ̂)_ij| ≤ λ/τ̂_i²: it is feasible for the
    programme of :func:`decorrelate` at μ=λ/τ̂_i², whose variance is therefore no larger.

    Parameters
    ----------
    covariance : array-like of shape (p, p)
    alpha : float or array-like of shape (p,)
        Positive.

    Returns
    -------
    ndarray of shape (p, p)

    Examples
    --------
    >>> nodewise_matrix([[1.0, 0.5], [0.5, 1.0]], 0.1).round(4).tolist()
    [[1.25, -0.5], [-0.5, 1.25]]
    """
    S = check_finite_array(covariance, "covariance", ndim=2)
    p = len(S)
    alpha = np.broadcast_to(check_finite_array(alpha, "alpha"), (p,))
    if (alpha <= 0).any():
        raise ValueError(f"alpha must be positive, got {alpha.min():g}")
    others = np.where(np.eye(p, dtype=bool), np.inf, 1.0)
    gamma = solve_gram_batch(S, S, alpha, weights=others, y_norm2=np.diagonal(S).copy(), tol=tol).coefs
    # |x_i - X g|^2 / n + alpha |g|_1 equals S_ii - S_i g at the optimum; this form does not rest on that.
    tau2 = np.diagonal(S) - 2 * np.einsum("ij,ij->i", gamma, S) + np.einsum("ij,ij->i", gamma @ S, gamma)
    tau2 += alpha * np.abs(gamma).sum(axis=1)
    M = -gamma
    np.fill_diagonal(M, 1.0)
    return M / tau2[:, None]


def ols(X, y):
    """Least squares with classical t-tests, for p < n.

    Parameters
    ----------
    X : array-like of shape (n, p)
    y : array-like of shape (n,)

    Examples
    --------
    >>> ols([[1.0], [1.0], [-1.0], [-1.0]], [3.0, 1.0, -3.0, -1.0]).coef.tolist()
    [2.0]
    """
    X, y = check_design(X, y)
    return _least_squares(X, y, np.arange(X.shape[1]))


def oracle_ols(X, y, support):
    """Least squares on the true support: what one could do if it were known.

    Examples
    --------
    >>> oracle_ols([[1.0, 5.0], [1.0, 2.0], [-1.0, 0.0]], [2.0, 1.0, -2.0], [0]).support.tolist()
    [0]
    """
    X, y = check_design(X, y)
    return _least_squares(X, y, np.asarray(support, dtype=np.int64))


def naive_ols(X, y, alpha=None):
    """Least squares on the variables that a lasso has chosen from the same data. *Invalid*: shown to show why.

    A null variable enters only when noise makes it look large, and the second look takes that at face value.

    Parameters
    ----------
    X, y
    alpha : float, optional
        Lasso penalty; by default that of the scaled lasso.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> pure_noise = naive_ols(rng.standard_normal((50, 100)), rng.standard_normal(50), alpha=0.3)
    >>> bool(np.mean(pure_noise.pvalues < 0.05) > 0.3)
    True
    """
    X, y = check_design(X, y)
    coef = scaled_lasso(X, y).coef if alpha is None else lasso(X, y, alpha)
    return _least_squares(X, y, np.flatnonzero(coef))


def multi_split(X, y, *, n_splits=50, gamma_min=0.05, random_state=None):
    r"""Family-wise p-values by repeated sample splitting (Meinshausen, Meier and Bühlmann 2009).

    In each of `n_splits` halvings a scaled lasso selects on one half, least squares tests on the other; p-values are
    multiplied by the number selected (1 for the others) and joined over the splits by

    ::

        min {1, (1-log γ_min)inf_(γ ≥ γ_min) q_γ({P^b})/γ}.

    Parameters
    ----------
    X : array-like of shape (n, p)
    y : array-like of shape (n,)
    n_splits : int, default=50
    gamma_min : float, default=0.05
        Smallest quantile of the p-values that counts.
    random_state : None, int or Generator

    Returns
    -------
    ndarray of shape (p,)
        Adjusted: compare with the family-wise level itself.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 150))
    >>> P = multi_split(X, 2 * X[:, 7] + rng.standard_normal(100), n_splits=20, random_state=0)
    >>> np.flatnonzero(P < 0.05).tolist()
    [7]
    """
    X, y = check_design(X, y)
    n, p = X.shape
    if n < 6:
        raise ValueError(f"sample splitting needs at least six observations, got {n}")
    n_splits = check_scalar(n_splits, "n_splits", low=1, integer=True)
    gamma_min = check_scalar(gamma_min, "gamma_min", low=0, high=1, closed="neither")
    rng = check_rng(random_state)
    P = np.ones((n_splits, p))
    for b in range(n_splits):
        order = rng.permutation(n)
        first, second = order[: n // 2], order[n // 2 :]
        coef = scaled_lasso(X[first], y[first]).coef
        chosen = np.flatnonzero(coef)
        limit = len(second) - 2
        if chosen.size > limit:
            chosen = chosen[np.argsort(-np.abs(coef[chosen]), kind="stable")[:limit]]
        if chosen.size:
            found = _least_squares(X[second], y[second], chosen)
            P[b, chosen] = np.minimum(1.0, chosen.size * found.pvalues)
    return aggregate_splits(P, gamma_min)


def aggregate_splits(P, gamma_min=0.05):
    """Join p-values (splits, p) by adaptive quantiles; the infimum is attained at one of the ordered values.

    Examples
    --------
    >>> aggregate_splits(np.array([[0.001], [0.002], [0.9], [1.0]]), 0.25).round(6).tolist()
    [0.009545]
    """
    splits = len(P)
    ordered = np.sort(P, axis=0)
    gamma = np.arange(1, splits + 1) / splits
    usable = gamma >= gamma_min - 1e-12
    smallest = (ordered[usable] / gamma[usable, None]).min(axis=0)
    return np.minimum(1.0, (1 - np.log(gamma_min)) * smallest)


def ridge_projection(X, y, *, alpha=None, xi=0.05):
    r"""Ridge regression with its projection bias removed by the lasso, and a margin for the rest (Bühlmann 2013).

    With P=X'(XX')⁻X the ridge estimate is off by Σ_(k ≠ j)P_jkθ_k; the lasso's
    coefficients stand in for θ, and max_(k ≠ j)|P_jk|(log p/n)^(1/2-ξ) is subtracted from
    the absolute value before it is tested.

    Parameters
    ----------
    X, y
    alpha : float, optional
        Ridge penalty on the scale of X'X / n; 1 / n by default.
    xi : float, default=0.05

    Returns
    -------
    Inference
        `coef` is corrected and divided by P_jj.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 90))
    >>> found = ridge_projection(X, 4 * X[:, 7] + rng.standard_normal(60))
    >>> int(found.pvalues.argmin())
    7
    """
    X, y = check_design(X, y)
    n, p = X.shape
    alpha = 1.0 / n if alpha is None else check_scalar(alpha, "alpha", low=0, closed="neither")
    xi = check_scalar(xi, "xi", low=0, high=0.5, closed="neither")
    start = scaled_lasso(X, y)
    U, d, Vt = np.linalg.svd(X / np.sqrt(n), full_matrices=False)
    shrink = d / (d**2 + alpha)
    ridge = Vt.T @ (shrink * (U.T @ y)) / np.sqrt(n)
    omega = ((Vt * shrink[:, None]) ** 2).sum(axis=0)
    V = Vt[d > 1e-10 * d[0]]
    P = V.T @ V
    own = np.diagonal(P).copy()
    np.fill_diagonal(P, 0.0)
    coef = ridge - P @ start.coef
    margin = np.abs(P).max(axis=1) * (np.log(max(p, 2)) / n) ** (0.5 - xi)
    if len(V) == p:
        margin[:] = 0.0  # the projection is the identity and its rounding errors are no bias
    stderr = start.sigma * np.sqrt(omega / n)
    pvalues = two_sided_pvalues(np.maximum(np.abs(coef) - margin, 0.0), stderr)
    return Inference(coef / own, stderr / own, pvalues, np.arange(p))


def _least_squares(X, y, support):
    n, k = len(y), support.size
    if k == 0:
        empty = np.empty(0)
        return Inference(empty, empty, empty, support)
    if k >= n:
        raise ValueError(f"least squares needs more observations than variables, got {n} and {k}")
    A = np.ascontiguousarray(X[:, support])
    L = factor(A.T @ A)
    if L is None:
        raise ValueError("the chosen columns are linearly dependent")
    inverse = factor_inverse(L)
    coef = inverse @ (A.T @ y)
    residual = y - A @ coef
    stderr = np.sqrt(residual @ residual / (n - k) * np.diagonal(inverse))
    return Inference(coef, stderr, 2 * stats.t.sf(np.abs(coef) / stderr, n - k), support)
