"""Logistic regression by quasi-Newton steps, for data on which a Hessian costs more than many gradients.

A Hessian costs n p² operations, a gradient 4 n p. So limited-memory BFGS begins with the diagonal, and if that is slow
it goes on with the Hessian of a part of the rows. Each step is one pass over the rows, block by block, so that a block
is in the cache for both of its products. The columns are standardised in the coefficients and not in a copy.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from scipy import linalg

from learnable._simd import exp_in_place, fmax, fmin

__all__ = []

_BLOCK = 1 << 16  # numbers of a block of rows that stay in the cache
_MEMORY = 10  # pairs of steps and gradient differences
_STEPS = 40  # beyond, Newton's method is surer
_LARGEST = 12.0  # linear predictors from which on separation is suspected


class Ending(NamedTuple):
    """Where the steps ended: coefficients in standardised columns, the constant last; whether that is the answer."""

    theta: np.ndarray
    steps: int
    loglik: float
    norm: float
    settled: bool


def worthwhile(n, p, mean, spread):
    """Whether quasi-Newton steps are likely to be cheaper than Newton's, and safe from cancellation."""
    return p >= 8 and n * p >= 100_000 and n > 2 * p and bool(np.all(np.abs(mean) <= 1e3 * spread))


def moments(X, weights):
    """Weighted means and standard deviations of the columns, in one pass about a point near the mean. O(n d)."""
    centre = X[:: max(1, len(X) // 64)].mean(axis=0)
    total = weights.sum()
    for _ in range(3):  # again about the mean that was found, if the first point was far from it
        first, second = _sums(X, weights, centre)
        first /= total
        variance = second / total - first * first
        centre = centre + first
        if np.all((variance > 0.5 * first * first) | (variance <= 0)):
            break
    return centre, np.sqrt(np.maximum(variance, 0.0))


@njit(cache=True)
def _sums(X, weights, centre):
    n, d = X.shape
    first, second = np.zeros(d), np.zeros(d)
    for i in range(n):
        weight = weights[i]
        for j in range(d):
            gap = X[i, j] - centre[j]
            first[j] += weight * gap
            second[j] += weight * (gap * gap)
    return first, second


class _Loss:
    """Minus the penalised mean log-likelihood and its gradient, without a standardised copy of X."""

    def __init__(self, X, sign, weights, mean, spread, penalty):
        self.X, self.sign, self.weights = X, sign, weights
        self.mean, self.spread, self.penalty, self.total = mean, spread, penalty, weights.sum()
        self.eta, self.residual = np.empty(len(X)), np.empty(len(X))
        self.equal = bool(weights.min() == weights.max())
        self.rows = max(64, _BLOCK // X.shape[1])

    def __call__(self, theta):
        """Value, gradient, smallest margin and largest |η|."""
        w = theta[:-1] / self.spread
        constant = theta[-1] - w @ self.mean
        raw, sums = np.zeros(len(w)), np.array([0.0, 0.0, np.inf, 0.0])
        for start in range(0, len(self.X), self.rows):
            part = slice(start, start + self.rows)
            X, eta = self.X[part], self.eta[part]
            np.dot(X, w, out=eta)
            eta += constant
            logistic_terms(eta, self.sign[part], self.weights[part], self.equal, self.residual[part], sums)
            raw += self.residual[part] @ X
        gradient = np.append((raw - self.mean * sums[1]) / self.spread, sums[1])
        gradient = (self.penalty * theta - gradient) / self.total
        value = (-sums[0] + 0.5 * float(self.penalty @ theta**2)) / self.total
        return value, gradient, sums[2], sums[3]

    def curvature(self, size):
        """Cholesky factor of the Hessian at the last point, from `size` rows; None if it is singular."""
        n = len(self.X)
        chosen = np.linspace(0, n - 1, min(size, n)).astype(np.int64)
        share = _shares(self.eta[chosen], self.weights[chosen])
        p = len(self.penalty)
        Z = np.empty((len(chosen), p))
        np.subtract(self.X[chosen], self.mean, out=Z[:, :-1])
        Z[:, :-1] /= self.spread
        Z[:, -1] = 1.0
        Z *= np.sqrt(share * (self.total / self.weights[chosen].sum()))[:, None]
        hessian = Z.T @ Z
        # What a part of the rows adds at random to the products is shrunk away (Ledoit and Wolf 2004).
        diagonal = np.diag(hessian).copy()
        size2 = float((hessian**2).sum()) - float(diagonal @ diagonal)
        noise = (diagonal.sum() ** 2 - float(diagonal @ diagonal) + size2) * (1.0 / len(chosen) - 1.0 / n)
        hessian *= 1.0 - min(1.0, noise / max(size2, 1e-300))
        hessian.flat[:: p + 1] = diagonal + self.penalty
        hessian /= self.total
        try:
            factor = linalg.cho_factor(hessian, lower=True, check_finite=False, overwrite_a=True)
        except linalg.LinAlgError:
            return None
        pivots = np.diag(factor[0])
        return factor if pivots.min() > 1e-4 * pivots.max() else None


def quasi_newton(X, sign, weights, mean, spread, penalty, tol, max_iter):
    """Steps until the gradient is below `tol`, or until Newton's method should take over (slow, or separated)."""
    loss = _Loss(X, sign, weights, mean, spread, penalty)
    n, p = len(X), len(penalty)
    theta = np.zeros(p)
    value, gradient, margin, largest = loss(theta)
    rows, factor, pairs, step, since, begin = min(n, max(12 * p, 2000)), None, [], 0, 0, np.linalg.norm(gradient)
    plain = 0.25 + penalty / loss.total
    while step < min(max_iter, _STEPS) and (norm := np.linalg.norm(gradient)) > tol:
        if margin > 0 or largest > _LARGEST:
            break
        if since >= 5 and rows < 12 * n and _steps_left(norm, begin, since, tol) > 0.03 * p * min(rows, n) / n + 2:
            factor, pairs, since, begin = loss.curvature(rows), [], 0, norm
            rows *= 4
            if factor is None:
                break
        direction = _direction(gradient, factor, plain, pairs)
        slope, size = float(gradient @ direction), 1.0
        for _ in range(20):
            new = theta + size * direction
            new_value, new_gradient, margin, largest = loss(new)
            if new_value <= value + 1e-4 * size * slope + 1e-14 * abs(value):
                break
            size *= 0.5
        change, difference = new - theta, new_gradient - gradient
        if change @ difference > 0:
            pairs = [*pairs[1 - _MEMORY :], (change, difference, 1.0 / (change @ difference))]
        theta, value, gradient = new, new_value, new_gradient
        step, since = step + 1, since + 1
    norm = float(np.linalg.norm(gradient))
    loglik = -value * loss.total + 0.5 * float(penalty @ theta**2)
    return Ending(theta, step, loglik, norm, norm <= tol and margin <= 0 and largest <= _LARGEST)


def _steps_left(norm, begin, since, tol):
    """How many more steps the gradient needs at the rate of the last ones."""
    return np.log(norm / tol) / max(np.log(begin / norm) / since, 1e-3)


def _direction(gradient, factor, plain, pairs):
    """The two loops of limited-memory BFGS about the inverse of a factored matrix, or of a diagonal one."""
    q, shares = gradient.copy(), []
    for change, difference, inverse in reversed(pairs):
        shares.append(inverse * (change @ q))
        q -= shares[-1] * difference
    q = q / plain if factor is None else linalg.cho_solve(factor, q, check_finite=False)
    for (change, difference, inverse), share in zip(pairs, reversed(shares), strict=True):
        q += (share - inverse * (difference @ q)) * change
    return -q


@njit(cache=True)
def logistic_terms(eta, sign, weights, equal, residual, sums):
    """Add log-likelihood and residuals of a block to `sums`; then the smallest margin and the largest |η|.

    Logarithms are the dearest part: with equal weights 64 factors 1 + e^(-|η|) <= 2 are multiplied first.
    """
    n = eta.size
    e = np.empty(n)
    lost, margin, largest = 0.0, sums[2], sums[3]
    for i in range(n):
        m = sign[i] * eta[i]
        size = abs(m)
        e[i] = -size
        lost += weights[i] * fmax(-m, 0.0)
        margin, largest = fmin(margin, m), fmax(largest, size)
    exp_in_place(e)
    total = 0.0
    for i in range(n):
        wrong = (e[i] if sign[i] * eta[i] >= 0 else 1.0) / (1.0 + e[i])
        residual[i] = sign[i] * weights[i] * wrong
        total += residual[i]
    if equal:
        for start in range(0, n, 64):
            product = 1.0
            for i in range(start, min(n, start + 64)):
                product *= 1.0 + e[i]
            lost += weights[0] * np.log(product)
    else:
        for i in range(n):
            lost += weights[i] * np.log1p(e[i])
    sums[0] -= lost
    sums[1] += total
    sums[2], sums[3] = margin, largest


@njit(cache=True)
def _shares(eta, weights):
    """Newton's weights ω p (1 − p)."""
    out = np.empty_like(eta)
    for i in range(eta.size):
        e = np.exp(-abs(eta[i]))
        out[i] = weights[i] * e / ((1.0 + e) * (1.0 + e))
    return out
