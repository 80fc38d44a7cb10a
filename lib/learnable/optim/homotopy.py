"""The exact lasso path: all knots of b(penalty), which is piecewise linear.

For 1/2 |y - Xb|^2 + penalty |b|_1 the correlations X'(y - Xb) of the active variables equal penalty times their signs.
Lowering the penalty moves the active coefficients along (X_A'X_A)^{-1} s_A until an inactive correlation
reaches the penalty (it joins) or an active coefficient reaches zero (it leaves). Between two such knots everything
is linear, so the knots are the whole path (Efron, Hastie, Johnstone and Tibshirani 2004, with the lasso's drops).
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from learnable.validation import check_finite_array, check_scalar

__all__ = ["Homotopy", "lasso_homotopy"]


@dataclass(frozen=True)
class Homotopy:
    """The knots of a lasso path.

    Attributes
    ----------
    penalties : ndarray of shape (k,)
        Decreasing, from the smallest penalty with b = 0.
    coefs : ndarray of shape (k, p)
        The solution at each knot.
    events : list of (str, int)
        What happens *at* each knot: ``("join", j)``, ``("drop", j)`` or ``("end", -1)``.
    """

    penalties: np.ndarray
    coefs: np.ndarray
    events: list

    def at(self, penalty):
        """Return the solution at any penalty between the knots (or above the first) by linear interpolation.

        Examples
        --------
        >>> lasso_homotopy([[1.0, 0.0], [0.0, 2.0]], [3.0, 1.0]).at(2.5)
        array([0.5, 0. ])
        """
        penalty = np.asarray(penalty, dtype=np.float64)
        last = self.penalties[-1]
        if not (penalty >= last * (1 - 1e-12)).all():
            raise ValueError(f"penalty must be at least {last:.6g}, where the computed path ends")
        clipped = np.clip(penalty, last, self.penalties[0])
        k = np.clip(np.searchsorted(-self.penalties, -clipped, side="right") - 1, 0, len(self.penalties) - 2)
        k = np.maximum(k, 0)
        if len(self.penalties) == 1:
            return np.broadcast_to(self.coefs[0], (*penalty.shape, self.coefs.shape[1])).copy()
        width = self.penalties[k] - self.penalties[k + 1]
        share = np.where(width > 0, (self.penalties[k] - clipped) / np.where(width > 0, width, 1.0), 0.0)[..., None]
        return self.coefs[k] * (1.0 - share) + self.coefs[k + 1] * share


def lasso_homotopy(X, y, *, center=False, min_penalty=0.0, max_steps=None):
    """Return every knot of the lasso path from b = 0 down to `min_penalty`.

    Ties are resolved one event at a time, by steps of length zero. A column that depends linearly on the active ones
    cannot change the fit and stays out while they are active; with such columns the solution is not
    unique and this is one of its paths.

    Parameters
    ----------
    X : array-like of shape (n, p)
    y : array-like of shape (n,)
    center : bool, default=False
        Subtract the means first (an unpenalised intercept).
    min_penalty : float, default=0.0
    max_steps : int, optional
        By default ``50 min(n, p) + 8p``, far beyond what data need; reaching it is an error.

    Returns
    -------
    Homotopy

    Examples
    --------
    >>> path = lasso_homotopy([[1.0, 0.0], [0.0, 2.0]], [3.0, 1.0])
    >>> path.penalties
    array([3., 2., 0.])
    >>> path.coefs
    array([[0. , 0. ],
           [1. , 0. ],
           [3. , 0.5]])
    """
    X = check_finite_array(X, "X", ndim=2)
    y = check_finite_array(y, "y", ndim=1)
    n, p = X.shape
    if n != y.size or n == 0 or p == 0:
        raise ValueError(f"X must have one row for each of the {y.size} entries of y, got shape {X.shape}")
    min_penalty = check_scalar(min_penalty, "min_penalty", low=0)
    max_steps = (
        50 * min(n, p) + 8 * p if max_steps is None else check_scalar(max_steps, "max_steps", low=1, integer=True)
    )
    if center:
        X, y = X - X.mean(axis=0), y - y.mean()
    X = np.asfortranarray(X)
    return _Path(X, X.T @ y, min_penalty).run(max_steps)


class _Path:
    """State of the homotopy: active set in order of joining, its Cholesky factor, correlations, coefficients."""

    def __init__(self, X, corr, floor):
        self.X, self.corr, self.floor = X, corr, floor
        self.p = X.shape[1]
        self.penalty = float(np.abs(corr).max())
        self.tiny = 1e-12 * max(self.penalty, 1e-300)
        self.norms = np.einsum("ij,ij->j", X, X)
        self.b = np.zeros(self.p)
        self.active = []
        self.signs = np.zeros(self.p)
        self.dependent = np.zeros(self.p, dtype=bool)
        self.cross = np.zeros((self.p, 0), order="F")
        self.L = np.zeros((0, 0))
        self.left = -1

    def run(self, max_steps):
        knots, coefs, events = [], [], []

        def record(event):
            knots.append(self.penalty)
            coefs.append(self.b.copy())
            events.append(event)

        if self.penalty <= self.floor or self.penalty == 0.0:
            record(("end", -1))
            return Homotopy(np.array(knots), np.array(coefs), events)
        first = int(np.argmax(np.abs(self.corr)))
        record(("join", first))
        self._join(first)
        for _ in range(max_steps):
            event, who = self._step()
            record((event, who))
            if event == "end":
                return Homotopy(np.array(knots), np.array(coefs), events)
            if event == "join":
                self._join(who)
            else:
                self._drop(who)
        raise RuntimeError(f"the path has more than max_steps={max_steps} knots")

    def _step(self):
        """Move to the next knot and say what happens there."""
        A = np.array(self.active, dtype=np.int64)
        s = self.signs[A]
        if A.size == 0:
            direction, speed = np.empty(0), np.zeros(self.p)
        else:
            direction = solve_triangular(self.L, solve_triangular(self.L, s, lower=True), lower=True, trans="T")
            speed = self.cross[:, : A.size] @ direction
        length, event, who = self.penalty - self.floor, "end", -1
        free = np.ones(self.p, dtype=bool)
        free[A] = False
        free &= ~self.dependent
        for sign in (1.0, -1.0):
            slack = self.penalty - sign * self.corr
            rate = 1.0 - sign * speed
            # A tie joins at once if its correlation would overtake the penalty, and never if it falls behind.
            tie = slack <= self.tiny
            with np.errstate(divide="ignore", invalid="ignore"):
                when = np.where(rate > 1e-12, slack / rate, np.inf)
            when = np.where(tie, np.where(rate < -1e-10, 0.0, np.inf), when)
            when[~free] = np.inf
            if self.left >= 0 and tie[self.left]:
                when[self.left] = np.inf
            k = int(np.argmin(when))
            if when[k] < length:
                length, event, who = float(when[k]), "join", k
        if A.size:
            with np.errstate(divide="ignore", invalid="ignore"):
                when = np.where(direction * s < 0, -self.b[A] / direction, np.inf)
            k = int(np.argmin(when))
            if when[k] <= length:
                length, event, who = max(float(when[k]), 0.0), "drop", int(A[k])
        self.b[A] += length * direction
        self.corr = self.corr - length * speed
        self.penalty = self.floor if event == "end" else self.penalty - length
        # Active correlations equal the penalty by construction; restore that exactly.
        self.corr[A] = self.penalty * s
        if event == "drop":
            self.b[who] = 0.0
        self.left = -1
        return event, who

    def _join(self, j):
        column = self.X.T @ self.X[:, j]
        A = np.array(self.active, dtype=np.int64)
        m = A.size
        row = solve_triangular(self.L, column[A], lower=True) if m else np.empty(0)
        pivot = self.norms[j] - row @ row
        if pivot <= 1e-10 * max(self.norms[j], 1e-300):
            self.dependent[j] = True
            return
        L = np.zeros((m + 1, m + 1))
        L[:m, :m] = self.L
        L[m, :m] = row
        L[m, m] = np.sqrt(pivot)
        self.L = L
        if self.cross.shape[1] <= m:
            grown = np.zeros((self.p, max(8, 2 * m)), order="F")
            grown[:, :m] = self.cross[:, :m]
            self.cross = grown
        self.cross[:, m] = column
        self.active.append(j)
        self.signs[j] = np.sign(self.corr[j])

    def _drop(self, j):
        k = self.active.index(j)
        m = len(self.active)
        self.cross[:, k : m - 1] = self.cross[:, k + 1 : m]
        self.active.pop(k)
        self.signs[j] = 0.0
        self.left = j
        self.dependent[:] = False
        A = np.array(self.active, dtype=np.int64)
        self.L = np.linalg.cholesky(self.cross[A][:, : m - 1]) if A.size else np.zeros((0, 0))
