"""Linear machines for many points: no kernel matrix, and the weight vector kept explicitly."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from numba import njit, types
from numba.extending import overload
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from learnable._inner import dot, inner
from learnable.linear.rules import LinearRule
from learnable.validation import check_choice, check_rng, check_scalar
from learnable.validation.tags import ONE_DISTANCE, unit_facts

#: Knuth's linear congruential generator; its upper bits shuffle well enough, and numba compiles it in no time.
_MULTIPLIER, _INCREMENT = np.uint64(6364136223846793005), np.uint64(1442695040888963407)
_HALF = np.uint64(32)


class Rows(NamedTuple):
    """Compressed rows: values and columns of row i lie at starts[i] : starts[i + 1]."""

    values: np.ndarray
    columns: np.ndarray
    starts: np.ndarray


def _product(X, i, w):
    """x_i'w for a table or for compressed rows: in compiled code only, by the overload below."""
    raise NotImplementedError


@overload(_product)
def _product_by_type(X, i, w):
    if isinstance(X, types.Array):
        return lambda X, i, w: dot(X[i], w, w.size)

    def compressed(X, i, w):
        total = 0.0
        for t in range(X.starts[i], X.starts[i + 1]):
            total += X.values[t] * w[X.columns[t]]
        return total

    return compressed


def _square(X, i):
    """‖x_i‖², like `_product`."""
    raise NotImplementedError


@overload(_square)
def _square_by_type(X, i):
    if isinstance(X, types.Array):
        return lambda X, i: dot(X[i], X[i], X.shape[1])

    def compressed(X, i):
        values = X.values[X.starts[i] : X.starts[i + 1]]
        return dot(values, values, values.size)

    return compressed


def _add(X, i, change, w):
    """w += change · x_i, like `_product`."""
    raise NotImplementedError


@overload(_add)
def _add_by_type(X, i, change, w):
    def table(X, i, change, w):
        row = X[i]
        for j in range(w.size):
            w[j] += change * row[j]

    def compressed(X, i, change, w):
        for t in range(X.starts[i], X.starts[i + 1]):
            w[X.columns[t]] += change * X.values[t]

    return table if isinstance(X, types.Array) else compressed


@njit(cache=True)
def _coordinate_descent(X, d, y, C, ridge, seed, tol, max_iter):
    """Dual coordinate descent: alpha_i to its best value, one after the other; w = sum alpha_i y_i x_i is kept.

    A point at a bound whose gradient is farther on the right side than any violation of the sweep before is set
    aside (Hsieh et al. 2008, Sec. 3.2); the end is declared only after a sweep over all points.
    """
    n = y.size
    alpha, w = np.zeros(n), np.zeros(d)
    curve, active = np.empty(n), np.arange(n)
    for i in range(n):
        curve[i] = _square(X, i) + ridge
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
            gradient = y[i] * _product(X, i, w) - 1.0 + ridge * alpha[i]
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
                    _add(X, i, change, w)
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
        gradient = y[i] * _product(X, i, w) - 1.0 + ridge * alpha[i]
        if alpha[i] > 0.0:
            worst = max(worst, gradient)
        if alpha[i] < C:
            worst = max(worst, -gradient)
    return worst


class DualCoordinateSVM(LinearRule):
    r"""Linear soft-margin machine without intercept, by dual coordinate descent.

    Minimises ½‖w‖² + CΣξ_i (``norm=1``) or ½‖w‖² + ½CΣξ_i²
    (``norm=2``), ξ_i = (1 - y_iw'x_i)_+. A sweep over all points costs O(nd); points far from the margin are left out
    of most sweeps. Sparse tables stay sparse: then a sweep costs what they store.

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

    _sparse = "csr"
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
        rows = Rows(X.data, X.indices, X.indptr) if sparse.issparse(X) else np.ascontiguousarray(X)
        w, alpha, self.n_iter_, worst = _coordinate_descent(rows, X.shape[1], signs, box, ridge, seed, tol, sweeps)
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
        X = validate_data(self, X, reset=False, dtype=np.float64, accept_sparse=self._sparse)
        return X @ self.coef_[0]
