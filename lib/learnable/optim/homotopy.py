"""The exact lasso path: all knots of b(alpha), which is piecewise linear.

For 1/(2n) |y - Xb|^2 + alpha |b|_1, with penalty = n alpha, the correlations X'(y - Xb) of the active variables
equal the penalty times their signs.
Lowering the penalty moves the active coefficients along (X_A'X_A)^{-1} s_A until an inactive correlation
reaches the penalty (it joins) or an active coefficient reaches zero (it leaves). Between two such knots everything
is linear, so the knots are the whole path (Efron, Hastie, Johnstone and Tibshirani 2004, with the lasso's drops).
"""

from dataclasses import dataclass, replace

import numpy as np

from learnable.linalg.growing_cholesky import grow, shrink, solve
from learnable.validation import Result, check_finite_array, check_magnitude, check_scalar

__all__ = ["Homotopy", "lasso_homotopy"]


@dataclass(frozen=True, eq=False)
class Homotopy(Result):
    """The knots of a lasso path.

    Attributes
    ----------
    alphas : ndarray of shape (k,)
        Decreasing, from the smallest one with b = 0.
    coefs : ndarray of shape (k, p)
        The solution at each knot.
    events : list of (tuple of int, tuple of int)
        The variables that join and those that drop out at each knot; both empty at the end.
    """

    alphas: np.ndarray
    coefs: np.ndarray
    events: list

    def at(self, alpha):
        """Return the solution at any alpha between the knots (or above the first) by linear interpolation.

        Examples
        --------
        >>> lasso_homotopy([[1.0, 0.0], [0.0, 2.0]], [3.0, 1.0]).at(1.25)
        array([0.5, 0. ])
        """
        alpha = np.asarray(alpha, dtype=np.float64)
        last = self.alphas[-1]
        if not (alpha >= last * (1 - 1e-12)).all():
            raise ValueError(f"alpha must be at least {last:.6g}, where the computed path ends")
        clipped = np.clip(alpha, last, self.alphas[0])
        k = np.clip(np.searchsorted(-self.alphas, -clipped, side="right") - 1, 0, len(self.alphas) - 2)
        k = np.maximum(k, 0)
        if len(self.alphas) == 1:
            return np.broadcast_to(self.coefs[0], (*alpha.shape, self.coefs.shape[1])).copy()
        width = self.alphas[k] - self.alphas[k + 1]
        share = np.where(width > 0, (self.alphas[k] - clipped) / np.where(width > 0, width, 1.0), 0.0)[..., None]
        return self.coefs[k] * (1.0 - share) + self.coefs[k + 1] * share


def lasso_homotopy(X, y, *, center=False, min_alpha=0.0, max_iter=None):
    """Return every knot of the lasso path from b = 0 down to `min_alpha`.

    Where several correlations reach the penalty at once, which of them join is decided by a small quadratic problem. A
    column that depends linearly on the active ones cannot change the fit and stays out while they are active; with
    such columns the solution is not unique and this is one of its paths.

    Parameters
    ----------
    X : array-like of shape (n, p)
    y : array-like of shape (n,)
    center : bool, default=False
        Subtract the means first (an unpenalised intercept).
    min_alpha : float, default=0.0
        Where to stop, in the scaling 1/(2n) |y - Xb|^2 + alpha |b|_1.
    max_iter : int, optional
        By default ``50 min(n, p) + 8p``, far beyond what data need; reaching it is an error.

    Returns
    -------
    Homotopy

    Examples
    --------
    >>> path = lasso_homotopy([[1.0, 0.0], [0.0, 2.0]], [3.0, 1.0])
    >>> path.alphas
    array([1.5, 1. , 0. ])
    >>> path.coefs
    array([[0. , 0. ],
           [1. , 0. ],
           [3. , 0.5]])
    """
    X = check_magnitude(check_finite_array(X, "X", ndim=2), "X", smallest=0.0)
    y = check_magnitude(check_finite_array(y, "y", ndim=1), "y", smallest=0.0)
    n, p = X.shape
    if n != y.size or n == 0 or p == 0:
        raise ValueError(f"X must have one row for each of the {y.size} entries of y, got shape {X.shape}")
    min_alpha = check_scalar(min_alpha, "min_alpha", low=0)
    max_iter = 50 * min(n, p) + 8 * p if max_iter is None else check_scalar(max_iter, "max_iter", low=1, integer=True)
    if center:
        X, y = X - X.mean(axis=0), y - y.mean()
    X = np.asfortranarray(X)
    knots = _Path(X, X.T @ y, n * min_alpha).run(max_iter)
    return replace(knots, alphas=knots.alphas / n)


class _Path:
    """State of the homotopy: moving set with its Cholesky factor, correlations, coefficients, direction."""

    def __init__(self, X, corr, floor):
        self.X, self.corr, self.floor = X, corr, floor
        self.p = X.shape[1]
        self.penalty = float(np.abs(corr).max())
        self.tiny = 1e-11 * max(self.penalty, 1e-300)
        self.norms = np.einsum("ij,ij->j", X, X)
        self.b = np.zeros(self.p)
        self.moving = []
        self.cross = np.zeros((self.p, 0), order="F")
        self.factor = np.zeros((8, 8))

    def run(self, max_iter):
        knots, coefs, events = [], [], []
        for _ in range(max_iter):
            knots.append(self.penalty)
            coefs.append(self.b.copy())
            if self.penalty <= self.floor + self.tiny:
                knots[-1] = self.floor if len(knots) > 1 else self.penalty
                events.append(((), ()))
                return Homotopy(np.array(knots), np.array(coefs), events)
            before = set(self.moving)
            direction, speed = self._direction()
            after = set(self.moving)
            events.append((tuple(sorted(after - before)), tuple(sorted(before - after))))
            self._advance(direction, speed)
        raise RuntimeError(f"the path has more than max_iter={max_iter} knots")

    def _direction(self):
        """Return how coefficients and correlations move as the penalty falls.

        Among the variables whose correlation equals the penalty, those at zero may only move in the direction of their
        sign s: the direction minimises 1/2 |Xd|^2 - s'd under these constraints. Without ties at most one variable is
        undecided; with ties this is a small non-negative least-squares problem, solved as Lawson and Hanson do.
        """
        s = np.sign(self.corr)
        tight = np.abs(self.corr) >= self.penalty - self.tiny
        for j in [j for j in self.moving if self.b[j] == 0.0]:
            self._leave(j)
        d = np.zeros(self.p)
        self._solve(d, s)
        refused = np.zeros(self.p, dtype=bool)
        for _ in range(20 * self.p + 20):
            speed = self._speed(d)
            gain = np.where(tight & ~refused, 1.0 - s * speed, -np.inf)
            gain[self.moving] = -np.inf
            j = int(np.argmax(gain))
            if gain[j] <= 1e-9:
                break
            if not self._enter(j):
                refused[j] = True
                continue
            while True:
                target = np.zeros(self.p)
                self._solve(target, s)
                held = [k for k in self.moving if self.b[k] == 0.0 and s[k] * target[k] <= 0.0]
                if not held:
                    break
                shares = [d[k] / (d[k] - target[k]) if d[k] != target[k] else 0.0 for k in held]
                d += min(shares) * (target - d)
                self._leave(held[int(np.argmin(shares))])
                d[[k for k in range(self.p) if k not in self.moving]] = 0.0
            d = target
        return d, self._speed(d)

    def _advance(self, d, speed):
        length, leaving = self.penalty - self.floor, []
        rest = np.ones(self.p, dtype=bool)
        rest[self.moving] = False
        for sign in (1.0, -1.0):
            slack = self.penalty - sign * self.corr
            rate = 1.0 - sign * speed
            # Ties that are left out fall behind the penalty, or keep pace with it.
            usable = rest & (slack > self.tiny) & (rate > 1e-12)
            if usable.any():
                length = min(length, float(np.min(slack[usable] / rate[usable])))
        A = np.array(self.moving, dtype=np.int64)
        towards = A[(d[A] * self.b[A]) < 0]
        if towards.size:
            when = -self.b[towards] / d[towards]
            length = min(length, float(when.min()))
            leaving = towards[when <= length * (1.0 + 1e-12)]
        s = np.sign(self.corr[A])
        self.b[A] += length * d[A]
        self.b[leaving] = 0.0
        self.corr = self.corr - length * speed
        self.penalty -= length
        # Moving correlations equal the penalty by construction; restore that exactly.
        self.corr[A] = self.penalty * s

    def _solve(self, d, s):
        if self.moving:
            d[self.moving] = solve(self.factor, len(self.moving), s[self.moving])

    def _speed(self, d):
        m = len(self.moving)
        return self.cross[:, :m] @ d[self.moving] if m else np.zeros(self.p)

    def _enter(self, j):
        """Add a variable to the moving set; False if its column depends on those in it."""
        column = self.X.T @ self.X[:, j]
        m = len(self.moving)
        if len(self.factor) <= m:
            grown = np.zeros((2 * m, 2 * m))
            grown[:m, :m] = self.factor[:m, :m]
            self.factor = grown
        if not grow(self.factor, m, column[self.moving], self.norms[j], 1e-10):
            return False
        if self.cross.shape[1] <= m:
            grown = np.zeros((self.p, max(8, 2 * m)), order="F")
            grown[:, :m] = self.cross[:, :m]
            self.cross = grown
        self.cross[:, m] = column
        self.moving.append(j)
        return True

    def _leave(self, j):
        k = self.moving.index(j)
        m = len(self.moving)
        self.cross[:, k : m - 1] = self.cross[:, k + 1 : m]
        self.moving.pop(k)
        shrink(self.factor, m, k)
