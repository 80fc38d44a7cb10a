"""Linear machines for many points: no kernel matrix, and the weight vector kept explicitly."""

from __future__ import annotations

import warnings

import numpy as np
from numba import njit
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from learnable._inner import dot, inner
from learnable.linear.rules import LinearRule
from learnable.validation import check_choice, check_rng, check_scalar
from learnable.validation.tags import ONE_DISTANCE, unit_facts

#: Knuth's linear congruential generator; its upper bits shuffle well enough, and numba compiles it in no time.
_MULTIPLIER, _INCREMENT = np.uint64(6364136223846793005), np.uint64(1442695040888963407)
_HALF = np.uint64(32)


@njit(cache=True)
def _coordinate_descent(X, y, C, ridge, seed, tol, max_iter):
    """Dual coordinate descent: alpha_i to its best value, one after the other; w = sum alpha_i y_i x_i is kept.

    A point at a bound whose gradient is farther on the right side than any violation of the sweep before is set
    aside (Hsieh et al. 2008, Sec. 3.2); the end is declared only after a sweep over all points.
    """
    n, d = X.shape
    alpha, w = np.zeros(n), np.zeros(d)
    curve, active = np.empty(n), np.arange(n)
    for i in range(n):
        curve[i] = dot(X[i], X[i], d) + ridge
    state = seed
    size, highest, lowest = n, np.inf, -np.inf
    visits = 0
    while visits < max_iter * n:
        above, below = 0.0, 0.0
        whole = size == n
        t = 0
        while t < size:
            state = state * _MULTIPLIER + _INCREMENT
            other = t + np.int64((state >> _HALF) * np.uint64(size - t) >> _HALF)
            i = active[other]
            visits += 1
            active[other], active[t] = active[t], i
            row = X[i]
            gradient = y[i] * dot(row, w, d) - 1.0 + ridge * alpha[i]
            projected = gradient
            aside = False
            if alpha[i] <= 0.0:
                projected, aside = min(gradient, 0.0), gradient > highest
            elif alpha[i] >= C:
                projected, aside = max(gradient, 0.0), gradient < lowest
            if aside:
                size -= 1
                active[t], active[size] = active[size], i
                continue
            t += 1
            above, below = max(above, projected), min(below, projected)
            if projected != 0.0 and curve[i] > 0.0:
                new = min(max(alpha[i] - gradient / curve[i], 0.0), C)
                change = (new - alpha[i]) * y[i]
                alpha[i] = new
                if change != 0.0:
                    for j in range(d):
                        w[j] += change * row[j]
        worst = max(above, -below)
        highest = above if above > 0.0 else np.inf
        lowest = below if below < 0.0 else -np.inf
        if worst <= tol:
            if whole:
                return w, alpha, -(-visits // n), worst
            size, highest, lowest = n, np.inf, -np.inf
    return w, alpha, max_iter, _worst(X, y, C, ridge, alpha, w)


@inner
def _worst(X, y, C, ridge, alpha, w):
    """The largest violation of the optimality conditions."""
    worst = 0.0
    for i in range(len(y)):
        gradient = y[i] * dot(X[i], w, len(w)) - 1.0 + ridge * alpha[i]
        if alpha[i] > 0.0:
            worst = max(worst, gradient)
        if alpha[i] < C:
            worst = max(worst, -gradient)
    return worst


class DualCoordinateSVM(LinearRule):
    r"""Linear soft-margin machine without intercept, by dual coordinate descent.

    Minimises ½‖w‖² + CΣξ_i (``norm=1``) or ½‖w‖² + ½CΣξ_i²
    (``norm=2``), ξ_i = (1 - y_iw'x_i)_+. A sweep over all points costs O(nd); points far from the margin are left out
    of most sweeps.

    Parameters
    ----------
    C : float, default=1
    norm : {1, 2}, default=1
    tol : float, default=1e-4
        Largest violation of the optimality conditions within a sweep.
    max_iter : int, default=1000
        Most visits of a point on average, n at a time; reaching it warns.
    random_state : int, default=0
        Orders of the sweeps.

    Attributes
    ----------
    coef_ : ndarray (1, d)
    alpha_ : ndarray (n,)
    gap_ : float
        Duality gap.
    n_iter_ : int
        Visits of a point on average, rounded up.

    Examples
    --------
    >>> svm = DualCoordinateSVM(C=10.0).fit([[-1.0], [1.0]], [0, 1])
    >>> svm.coef_.round(6).tolist()
    [[1.0]]
    """

    _depends_on_units = unit_facts(
        origin="no intercept: the hyperplane goes through the origin", columns=ONE_DISTANCE["columns"]
    )

    def __init__(self, C=1.0, norm=1, *, tol=1e-4, max_iter=1000, random_state=0):
        self.C = C
        self.norm = norm
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X, y):
        """Fit."""
        X, codes, _ = self._prepare(X, y, None)
        C = check_scalar(self.C, "C", low=0.0, closed="neither")
        check_choice(self.norm, "norm", (1, 2))
        tol = check_scalar(self.tol, "tol", low=0.0, closed="neither")
        sweeps = check_scalar(self.max_iter, "max_iter", low=1, integer=True)
        signs = np.where(codes == 1, 1.0, -1.0)
        rng = check_rng(self.random_state)
        seed = np.uint64(rng.integers(2**62))
        box, ridge = (C, 0.0) if self.norm == 1 else (np.inf, 1.0 / C)
        w, alpha, self.n_iter_, worst = _coordinate_descent(
            np.ascontiguousarray(X), signs, box, ridge, seed, tol, sweeps
        )
        if worst > tol:
            warnings.warn(
                f"no convergence in {sweeps} sweeps (violation {worst:.2g} > tol = {tol:g}); raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=2,
            )
        slack = np.maximum(1.0 - signs * (X @ w), 0.0)
        paid = C * slack.sum() if self.norm == 1 else 0.5 * C * float(slack @ slack)
        self.primal_ = float(0.5 * w @ w + paid)
        self.dual_ = float(alpha.sum() - 0.5 * w @ w - 0.5 * ridge * float(alpha @ alpha))
        self.gap_ = max(self.primal_ - self.dual_, 0.0)  # rounding may go below zero
        self.alpha_ = alpha
        return self._store(w, 0.0)

    def decision_function(self, X):
        """w'x."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        return X @ self.coef_[0]
