r"""The hub penalty: a symmetric matrix as sparse edges plus a few dense columns (Tan et al. 2014, Section 2).

For symmetric A the penalty is the cheapest way to write A = Z + V + V'::

    P(A) = min  λ1 |Z|_1 + λ2 |V|_1 + λ3 Σ_j |V_j|_q,

diagonals not counted: Z pays for single edges, a column V_j for the whole fan of a hub j. Its dual is a set of
symmetric matrices Λ with zero diagonal, |Λ_ij| ≤ λ1 and, in every column, |soft(2 Λ_j, λ2)|_s ≤ λ3 with
1/s + 1/q = 1, and P(A) = max ⟨Λ, A⟩ over that set (Lemma 7 there, with X and Y eliminated).
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

import numpy as np
from numba import njit

from learnable.optim.proximal import soft
from learnable.validation import Result, check_choice, check_scalar


@dataclass(frozen=True, eq=False)
class HubPenalty(Result):
    """The three penalties (λ1, λ2, λ3 of the source) and the norm q of a column; infinity switches a part off."""

    alpha_edge: float
    alpha_hub_edge: float
    alpha_hub: float
    q: int = 2

    @classmethod
    def checked(cls, alpha_edge, alpha_hub_edge, alpha_hub, q=2):
        """Refuse what is no penalty; λ1 or λ2 and λ3 may be infinite, not both, and a zero price is refused."""
        given = {"alpha_edge": alpha_edge, "alpha_hub_edge": alpha_hub_edge, "alpha_hub": alpha_hub}
        values = [_price(value, name) for name, value in given.items()]
        check_choice(q, "q", (1, 2))
        each, column = values[0], values[1] + values[2]
        if each == 0 or column == 0:
            raise ValueError("alpha_edge and alpha_hub_edge + alpha_hub must be positive: every edge has a price")
        if np.isinf(each) and np.isinf(column):
            raise ValueError("alpha_edge and alpha_hub_edge + alpha_hub cannot both be infinite: no edge is possible")
        return cls(*values, int(q))

    @property
    def edge_threshold(self):
        """min(λ1, λ2/2): below it a covariance joins nothing (Theorem 1)."""
        return min(self.alpha_edge, 0.5 * self.alpha_hub_edge)

    def over(self, unit):
        """The same prices in another unit."""
        return HubPenalty(self.alpha_edge / unit, self.alpha_hub_edge / unit, self.alpha_hub / unit, self.q)

    def value(self, V, Z):
        """λ1 |Z|_1 + λ2 |V|_1 + λ3 Σ|V_j|_q without diagonals. O(p^2)."""
        z, v, columns = _norms(V, Z, self.q)
        return _times(self.alpha_edge, z) + _times(self.alpha_hub_edge, v) + _times(self.alpha_hub, columns)

    def feasible_scale(self, multiplier):
        """A t in [0, 1] such that t times a symmetric multiplier with zero diagonal lies in the dual set. O(p^2).

        Largest for the box; for a column, λ3 / |soft(2Λ_j, λ2)|_s, which is safe because a smaller t shrinks the
        part above λ2 at least in proportion.
        """
        largest, excess = _dual_norms(multiplier, self.alpha_hub_edge, self.q)
        t = 1.0
        if largest > self.alpha_edge:
            t = self.alpha_edge / largest
        if excess > self.alpha_hub:
            t = min(t, self.alpha_hub / excess)
        return t


def parts_prox(state, rho, penalty, out):
    """Steps ii to v of Algorithm 1: the proximal maps of the two penalties, diagonals copied. O(p^2).

    Parameters
    ----------
    state : ndarray of shape (3, p, p)
        What the steps are taken from: of it the parts V and Z, 1 and 2, are read.
    rho : float
    penalty : HubPenalty
    out : ndarray of shape (3, p, p)
        Its parts 1 and 2 are written.
    """
    _prox_columns(state[1], penalty.alpha_hub_edge / rho, penalty.alpha_hub / rho, penalty.q, out[1])
    _prox_entries(state[2], penalty.alpha_edge / rho, out[2])


def tie(state, out):
    """The nearest (Θ, V, Z) with Θ = V + V' + Z, Θ and Z symmetric: steps (b) of Algorithm 1. O(p^2).

    With R = Θ - V - V' - Z symmetrised and G = R/6 it is (Θ - G, V + 2G, Z + G): the constraint weighs V twice, so that
    1 + 4 + 1 shares of G make up for R.

    Parameters
    ----------
    state : ndarray of shape (3, p, p)
    out : ndarray of shape (3, p, p)

    Returns
    -------
    ndarray
        `out`.
    """
    _tie(state[0], state[1], state[2], out)
    return out


def _price(value, name):
    if isinstance(value, Real) and not isinstance(value, bool) and value == np.inf:
        return np.inf
    return check_scalar(value, name, low=0)


def _times(price, amount):
    return 0.0 if amount == 0 else price * amount


@njit(cache=True)
def _prox_columns(A, a, b, q, out):
    """Off-diagonal part column by column, the diagonal copied."""
    p = len(A)
    if q == 1:
        a, b = a + b, 0.0
    squares = np.zeros(p)
    for i in range(p):
        for j in range(p):
            value = soft(A[i, j], a) if i != j else 0.0
            out[i, j] = value
            squares[j] += value * value
    for j in range(p):
        norm = np.sqrt(squares[j])
        squares[j] = 1.0 - b / norm if norm > b else 0.0
    for i in range(p):
        for j in range(p):
            out[i, j] *= squares[j]
        out[i, i] = A[i, i]


@njit(cache=True)
def _prox_entries(A, a, out):
    p = len(A)
    for i in range(p):
        for j in range(p):
            out[i, j] = soft(A[i, j], a)
        out[i, i] = A[i, i]


@njit(cache=True)
def _tie(theta, V, Z, out):
    """By tiles that fit the first-level cache, since mirrored entries are read together."""
    p, tile = len(theta), 32
    for i0 in range(0, p, tile):
        for j0 in range(0, i0 + 1, tile):
            for i in range(i0, min(i0 + tile, p)):
                for j in range(j0, min(j0 + tile, i + 1)):
                    t = 0.5 * (theta[i, j] + theta[j, i])
                    z = 0.5 * (Z[i, j] + Z[j, i])
                    g = (t - V[i, j] - V[j, i] - z) / 6.0
                    out[0, i, j] = out[0, j, i] = t - g
                    out[2, i, j] = out[2, j, i] = z + g
                    lower, upper = V[i, j] + 2.0 * g, V[j, i] + 2.0 * g
                    out[1, i, j] = lower
                    out[1, j, i] = upper


@njit(cache=True)
def _norms(V, Z, q):
    p = len(V)
    z = v = 0.0
    columns = np.zeros(p)
    for i in range(p):
        for j in range(p):
            if i != j:
                size = abs(V[i, j])
                z += abs(Z[i, j])
                v += size
                columns[j] += size * size if q == 2 else size
    return z, v, np.sqrt(columns).sum() if q == 2 else columns.sum()


@njit(cache=True)
def _dual_norms(A, alpha_hub_edge, q):
    """Largest |A_ij| off the diagonal and the largest |soft(2 A_j, λ2)|_s of a column (s = 2 or infinity)."""
    p = len(A)
    largest = 0.0
    columns = np.zeros(p)
    for i in range(p):
        for j in range(p):
            if i != j:
                largest = max(largest, abs(A[i, j]))
                over = soft(2.0 * A[i, j], alpha_hub_edge)
                if q == 2:
                    columns[j] += over * over
                else:
                    columns[j] = max(columns[j], abs(over))
    worst = columns.max() if p else 0.0
    return largest, np.sqrt(worst) if q == 2 else worst
