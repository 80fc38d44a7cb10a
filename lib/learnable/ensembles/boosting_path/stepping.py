"""Boosting over a dictionary, one coefficient and one small step at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from learnable._simd import exp_in_place
from learnable.ensembles.losses import Surrogate, get_surrogate
from learnable.validation import check_finite_array, check_scalar

_SQUARED, _EXPONENTIAL, _LOGISTIC = 0, 1, 2
# A slope that exceeds another by less than this is equal to it.
_AHEAD = 1.0 + 1e-12


@dataclass(frozen=True)
class BoostPath:
    """Snapshots of a boosting run.

    `steps` counts steps; `coefs` holds one row of coefficients a snapshot; `length` is the path travelled (the sum of
    the absolute steps); `norm` the l1 norm of the coefficients (they agree while coefficients move away from zero
    only); `loss` the mean loss; `margin` the smallest y F, not normalised (nan for regression); `chosen` the
    coordinate of every step.
    """

    steps: np.ndarray
    coefs: np.ndarray
    length: np.ndarray
    norm: np.ndarray
    loss: np.ndarray
    margin: np.ndarray
    chosen: np.ndarray

    def at_norm(self, norm):
        """Coefficients where the l1 norm is `norm`, by linear interpolation between snapshots."""
        norm = check_scalar(norm, "norm", low=0.0)
        if norm > self.norm.max():
            raise ValueError(f"the run reaches an l1 norm of {self.norm.max():.6g} only")
        k = int(np.argmax(self.norm >= norm))
        if k == 0:
            return self.coefs[0].copy()
        low, high = self.norm[k - 1], self.norm[k]
        share = (norm - low) / (high - low) if high > low else 0.0
        return (1.0 - share) * self.coefs[k - 1] + share * self.coefs[k]


def read_problem(H, y, loss, *, name="H"):
    """Check the dictionary and the responses; return (H, y, code, surrogate or None)."""
    H = check_finite_array(H, name, ndim=2)
    y = check_finite_array(y, "y", ndim=1)
    if H.shape[0] != y.size or y.size == 0 or H.shape[1] == 0:
        raise ValueError(f"{name} must have one row for each of the {y.size} entries of y, got shape {H.shape}")
    if isinstance(loss, str) and loss == "squared":
        return H, y, _SQUARED, None
    surrogate = loss if isinstance(loss, Surrogate) else get_surrogate(loss)
    if not np.all(np.abs(y) == 1.0):
        raise ValueError("y must hold the labels -1 and +1 for a loss of margins")
    code = {"exponential": _EXPONENTIAL, "logistic": _LOGISTIC}.get(surrogate.name, -1)
    if code < 0 and not surrogate.convex:
        raise ValueError(f"the loss {surrogate.name!r} is not convex")
    return H, y, code, surrogate


def _snapshots(record, n_steps):
    if record is None:
        record = 200
    if np.ndim(record) == 0:
        count = check_scalar(record, "record", low=1, integer=True)
        return np.unique(np.linspace(0, n_steps, count + 1).round().astype(np.int64))
    record = np.asarray(record)
    if record.ndim != 1 or not np.issubdtype(record.dtype, np.integer):
        raise ValueError("record must be a number of snapshots or an array of step numbers")
    if record.size == 0 or record.min() < 0 or record.max() > n_steps:
        raise ValueError(f"record must hold step numbers between 0 and {n_steps}")
    return np.unique(record.astype(np.int64))


def eps_boost(H, y, loss="exponential", *, eps=0.01, n_steps=1000, record=None, start=None):
    r"""Change, at every step, the coefficient with the steepest gradient by ±ε.

    With F = Hβ and w_i = ∂C/∂F_i, the step picks j = arg max|w'h_j| and
    subtracts ε sgn(w'h_j) from β_j (Rosset et al. 2004, Alg. 1).

    Parameters
    ----------
    H : array (n, J)
        Dictionary: one column a function.
    y : array (n,)
        Labels -1 and +1, or real responses for the squared loss ½(y-F)².
    loss : {"squared", "exponential", "logistic"}, other surrogate name, or Surrogate
        A user's surrogate runs in a slower loop.
    eps : float, default=0.01
    n_steps : int, default=1000
    record : int or array of int, optional
        Number of evenly spaced snapshots (default 200), or the steps at which to take them.
    start : array (J,), optional
        Coefficients to start from.

    Returns
    -------
    BoostPath

    Notes
    -----
    O(nJ) a step, O(J) with the squared loss after one Gram matrix. Ties go to the first column. Weights are computed
    from shifted margins: neither many steps nor a large scale make them overflow or vanish.

    Examples
    --------
    >>> H = np.array([[2.0, 0.5], [2.0, 1.5]])
    >>> path = eps_boost(H, [1, 1], eps=0.1, n_steps=10, record=1)
    >>> path.coefs[-1].round(3).tolist(), float(path.margin[-1].round(3))
    ([1.0, 0.0], 2.0)
    """
    return _boost(H, y, loss, eps, n_steps, record, start, False)


def _boost(H, y, loss, eps, n_steps, record, start, squares):
    H, y, code, surrogate = read_problem(H, y, loss)
    eps = check_scalar(eps, "eps", low=0.0, closed="neither")
    n_steps = check_scalar(n_steps, "n_steps", low=1, integer=True)
    shots = _snapshots(record, n_steps)
    beta = np.zeros(H.shape[1]) if start is None else check_finite_array(start, "start", ndim=1).copy()
    if beta.size != H.shape[1]:
        raise ValueError(f"start must have one entry for each of the {H.shape[1]} columns, got {beta.size}")
    if code == _SQUARED:
        gram, products = H.T @ H, H.T @ (y - H @ beta)
        coefs, chosen = _squared_steps(gram, products, beta, eps, n_steps, shots, squares)
    elif code > 0:
        Z = np.ascontiguousarray((y[:, None] * H).T)
        coefs, chosen = _margin_steps(Z, Z.T @ beta, beta, eps, n_steps, shots, code, squares)
    else:
        coefs, chosen = _general_steps(H, y, surrogate, beta, eps, n_steps, shots, squares)
    return _describe(H, y, code, surrogate, shots, coefs, chosen, eps * shots)


def _describe(H, y, code, surrogate, shots, coefs, chosen, length):
    F = coefs @ H.T
    if code == _SQUARED:
        loss, smallest = 0.5 * np.mean((y - F) ** 2, axis=1), np.full(len(shots), np.nan)
    else:
        margins = y * F
        with np.errstate(over="ignore"):
            loss, smallest = surrogate(margins).mean(axis=1), margins.min(axis=1)
    return BoostPath(shots, coefs, length, np.abs(coefs).sum(axis=1), loss, smallest, chosen)


@njit(cache=True)
def _pick(c, beta, fresh, eps, squares):
    """The coordinate to move; with `squares` by |c_j| / |beta_j|, where `fresh` ones come first."""
    best, j = 0.0, 0
    if squares:
        j = -1
        for k in range(c.size):
            if fresh[k] and abs(c[k]) > best * _AHEAD:
                best, j = abs(c[k]), k
        if j >= 0 and best > 0.0:
            fresh[j] = False
            return j
        best, j = 0.0, 0
        for k in range(c.size):
            size = max(abs(beta[k]), eps)
            if abs(c[k]) > best * size * _AHEAD:
                best, j = abs(c[k]) / size, k
        return j
    for k in range(c.size):
        # Equal columns come out of a matrix product with different last digits: that is a tie, for the first.
        if abs(c[k]) > best * _AHEAD:
            best, j = abs(c[k]), k
    return j


@njit(cache=True)
def _squared_steps(gram, c, beta, eps, n_steps, shots, squares):
    """Steps of ±eps for squared loss; c = H'(y − Hβ) is kept up to date by one row of the Gram matrix, O(J)."""
    J = beta.size
    counts = np.zeros(J, np.int64)
    fresh = beta == 0.0
    origin = beta.copy()
    coefs = np.empty((shots.size, J))
    chosen = np.empty(n_steps, np.int32)
    at = 0
    for t in range(n_steps + 1):
        if at < shots.size and shots[at] == t:
            coefs[at] = beta
            at += 1
        if t == n_steps:
            break
        j = _pick(c, beta, fresh, eps, squares)
        # Near the end of the l2 path a step would overshoot: take the best coordinate that it still improves.
        if squares and abs(c[j]) < 0.5 * eps * gram[j, j]:
            open_ones = c.copy()
            for _ in range(J):
                open_ones[j] = 0.0
                j = _pick(open_ones, beta, fresh, eps, squares)
                if abs(open_ones[j]) >= 0.5 * eps * gram[j, j]:
                    break
        s = 1 if c[j] >= 0.0 else -1
        chosen[t] = j
        counts[j] += s
        beta[j] = origin[j] + eps * counts[j]  # whole numbers of steps: no rounding accumulates
        row = gram[j]
        move = eps * s
        for k in range(J):
            c[k] -= move * row[k]
    return coefs, chosen


@njit(cache=True)
def _margin_steps(Z, m, beta, eps, n_steps, shots, code, squares):
    J, n = Z.shape
    counts = np.zeros(J, np.int64)
    fresh = beta == 0.0
    origin = beta.copy()
    coefs = np.empty((shots.size, J))
    chosen = np.empty(n_steps, np.int32)
    w = np.empty(n)
    at = 0
    for t in range(n_steps + 1):
        if at < shots.size and shots[at] == t:
            coefs[at] = beta
            at += 1
        if t == n_steps:
            break
        if t % 4096 == 4095:
            m = np.dot(beta, Z)
        low = m[0]
        for i in range(1, n):
            low = min(low, m[i])
        if code == 1 or low > 40.0:
            # e^{-m}, and the logistic weights where they equal it; only ratios matter.
            for i in range(n):
                w[i] = low - m[i]
            exp_in_place(w)
        else:
            for i in range(n):
                w[i] = -abs(m[i])
            exp_in_place(w)
            for i in range(n):
                w[i] = w[i] / (1.0 + w[i]) if m[i] >= 0.0 else 1.0 / (1.0 + w[i])
        c = np.dot(Z, w)
        j = _pick(c, beta, fresh, eps, squares)
        if squares:
            # A coefficient that belongs at zero would be pushed to and fro for ever: take only steps that descend.
            for _ in range(J):
                bend = 0.0
                for i in range(n):
                    slope = w[i] if code == 1 or low > 40.0 else w[i] * (1.0 - w[i])
                    bend += slope * Z[j, i] * Z[j, i]
                if abs(c[j]) >= 0.5 * eps * bend:
                    break
                c[j] = 0.0
                j = _pick(c, beta, fresh, eps, squares)
        s = 1 if c[j] >= 0.0 else -1
        chosen[t] = j
        counts[j] += s
        beta[j] = origin[j] + eps * counts[j]
        row = Z[j]
        move = eps * s
        for i in range(n):
            m[i] += move * row[i]
    return coefs, chosen


def _general_steps(H, y, surrogate, beta, eps, n_steps, shots, squares):
    Z = y[:, None] * H
    m = Z @ beta
    fresh = beta == 0.0
    coefs, chosen, at = np.empty((shots.size, beta.size)), np.empty(n_steps, np.int32), 0
    for t in range(n_steps + 1):
        if at < shots.size and shots[at] == t:
            coefs[at] = beta
            at += 1
        if t == n_steps:
            break
        c = -surrogate.derivative(m) @ Z
        j = _pick(c, beta, fresh, eps, squares)
        move = eps if c[j] >= 0.0 else -eps
        chosen[t] = j
        beta[j] += move
        m += move * Z[:, j]
    return coefs, chosen
