r"""The lasso in the units of this chapter, and with it the level of the noise (the scaled lasso).

The lasso minimises (1/2n)‖y-Xθ‖²+λ‖θ‖₁: `lam` is scikit-learn's ``alpha``. There
is no intercept; centre X and y first.
"""

from dataclasses import dataclass

import numpy as np

from learnable.optim.coordinate_descent import solve_gram, solve_lasso
from learnable.optim.coordinate_descent.gram import gram_descent
from learnable.validation import Result, check_choice, check_design, check_scalar, warn_not_converged

# Up to this many columns X'X is worth forming once and keeping for the fits that follow.
SMALL = 2000


@dataclass(frozen=True, eq=False)
class ScaledLasso(Result):
    """Coefficients, noise level and the penalty ``alpha = sigma * lam0`` that belongs to them.

    `change` is the last relative change of sigma.
    """

    coef: np.ndarray
    sigma: float
    alpha: float
    n_iter: int
    converged: bool
    change: float


def universal_lam0(p, n, kind="universal"):
    r"""Penalty levels per unit of noise: "universal" is √(2 log p/n), "paper" ten times that.

    Parameters
    ----------
    p : int
        Number of variables.
    n : int
        Number of observations.
    kind : {"universal", "paper"}, default="universal"

    Examples
    --------
    >>> round(universal_lam0(600, 1000), 4), round(universal_lam0(600, 1000, "paper"), 3)
    (0.1131, 1.131)
    """
    check_choice(kind, "kind", ("universal", "paper"))
    p, n = check_scalar(p, "p", low=1, integer=True), check_scalar(n, "n", low=1, integer=True)
    return float((10 if kind == "paper" else 1) * np.sqrt(2 * np.log(max(p, 2)) / n))


def scaled_lasso(X, y, lam0="universal", *, tol=1e-8, max_iter=200, start=None):
    r"""Coefficients and noise level at once (Sun and Zhang 2012; Javanmard and Montanari 2014, (31)).

    ::

        min_(θ,σ>0) (‖y-Xθ‖²)/(2σn) + σ/2 + λ̃‖θ‖₁

    by turns: a lasso with λ=σλ̃, then σ=‖y-Xθ‖/√n. The problem
    is convex in both, and equivariant: y to cy takes both to c times themselves. Minimising over σ alone leaves
    ‖y-Xθ‖/√n + λ̃‖θ‖₁: the coefficients are those of the square-root lasso (Belloni et al. 2011).

    Parameters
    ----------
    X : array-like of shape (n, p)
    y : array-like of shape (n,)
    lam0 : float or {"universal", "paper"}, default="universal"
        See :func:`universal_lam0`.
    tol : float, default=1e-8
        Relative change of sigma at which to stop.
    max_iter : int, default=200
    start : array-like of shape (p,), optional
        Where to begin; zero by default.

    Returns
    -------
    ScaledLasso

    Examples
    --------
    >>> found = scaled_lasso([[1.0], [1.0], [-1.0], [-1.0]], [3.0, 1.0, -3.0, -1.0], 0.5)
    >>> round(found.sigma, 4), found.coef.round(4).tolist()
    (1.1547, [1.4226])
    """
    X, y = check_design(X, y, rows=2)
    n, p = X.shape
    lam0 = universal_lam0(p, n, lam0) if isinstance(lam0, str) else check_scalar(lam0, "lam0", low=0, closed="neither")
    tol = check_scalar(tol, "tol", low=0, closed="neither")
    max_iter = check_scalar(max_iter, "max_iter", low=1, integer=True)
    return fit_scaled(_Problem(X, y), lam0, tol, max_iter)


class _Problem:
    """One design and one response, with X'X / n where it is small enough to keep."""

    def __init__(self, X, y, gram=None):
        self.X, self.y = X, y
        self.n, self.p = X.shape
        small = self.p <= SMALL
        self.gram = (X.T @ X / self.n if gram is None else gram) if small else None
        self.corr = X.T @ y / self.n
        self.power = float(y @ y) / self.n

    def solve(self, lam, start, tol=1e-12):
        if self.gram is not None and lam > 0:
            # Checked data, many calls: straight to the compiled loop.
            coef, w = np.array(start), np.full(self.p, float(lam))
            gap, n_iter = gram_descent(self.gram, self.corr, w, 0.0, coef, self.power, tol * self.power, 50_000)
            if gap > tol * self.power:
                warn_not_converged(f"the lasso with alpha = {lam:.3g}", n_iter, gap, tol * self.power, "raise alpha")
            return coef
        if self.gram is not None:
            return solve_gram(self.gram, self.corr, lam, start=start, y_norm2=self.power, tol=tol, max_iter=50_000).coef
        return solve_lasso(self.X, self.y, lam, start=start, tol=tol, max_iter=100_000).coef

    def rms(self, coef):
        residual = self.y - self.X @ coef
        return float(np.sqrt(residual @ residual / self.n))


def fit_scaled(problem, lam0, tol=1e-8, max_iter=200):
    """The iteration of :func:`scaled_lasso` on a prepared problem."""
    coef, sigma = np.zeros(problem.p), problem.rms(np.zeros(problem.p))
    floor = 1e-7 * sigma
    if sigma == 0:
        raise ValueError("y is constant zero (after centring): there is no noise level to estimate")
    for n_iter in range(1, max_iter + 1):  # noqa: B007  (returned)
        coef = problem.solve(sigma * lam0, coef)
        new = problem.rms(coef)
        if new <= floor:
            raise ValueError(
                f"the scaled lasso with lam0={lam0:.3g} fits y exactly, so that no noise level can be estimated; "
                "raise lam0, collect more observations, or pass sigma"
            )
        change = abs(new - sigma) / sigma
        sigma = new
        if change <= tol:
            break
    else:
        warn_not_converged("the scaled lasso", max_iter, change, tol, "raise max_iter or lam0")
    return ScaledLasso(coef, sigma, sigma * lam0, n_iter, change <= tol, change)
