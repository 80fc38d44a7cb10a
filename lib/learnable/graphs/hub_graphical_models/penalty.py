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
from learnable.validation import Result, check_choice, check_finite_array, check_scalar

__all__ = ["HubPenalty", "penalty_regime", "sparse_group_shrink", "star_penalty"]


@dataclass(frozen=True, eq=False)
class HubPenalty(Result):
    """The three penalties λ1, λ2, λ3 and the norm q of a column, checked; infinity switches a part off."""

    lam1: float
    lam2: float
    lam3: float
    q: int = 2

    @classmethod
    def checked(cls, lam1, lam2, lam3, q=2):
        """Refuse what is no penalty; λ1 or λ2 and λ3 may be infinite, not both, and a zero price is refused."""
        values = [_price(value, name) for value, name in ((lam1, "lam1"), (lam2, "lam2"), (lam3, "lam3"))]
        check_choice(q, "q", (1, 2))
        if values[0] == 0 or values[1] + values[2] == 0:
            raise ValueError("lam1 and lam2 + lam3 must be positive, so that every edge has a price")
        if np.isinf(values[0]) and np.isinf(values[1] + values[2]):
            raise ValueError("lam1 and lam2 + lam3 cannot both be infinite: no edge would be possible")
        return cls(*values, int(q))

    @property
    def edge_threshold(self):
        """min(λ1, λ2/2): below it a covariance joins nothing (Theorem 1)."""
        return min(self.lam1, 0.5 * self.lam2)

    def over(self, unit):
        """The same prices in another unit."""
        return HubPenalty(self.lam1 / unit, self.lam2 / unit, self.lam3 / unit, self.q)

    def value(self, V, Z):
        """λ1 |Z|_1 + λ2 |V|_1 + λ3 Σ|V_j|_q without diagonals. O(p^2)."""
        z, v, columns = _norms(V, Z, self.q)
        return _times(self.lam1, z) + _times(self.lam2, v) + _times(self.lam3, columns)

    def feasible_scale(self, multiplier):
        """A t in [0, 1] such that t times a symmetric multiplier with zero diagonal lies in the dual set. O(p^2).

        Largest for the box; for a column, λ3 / |soft(2Λ_j, λ2)|_s, which is safe because a smaller t shrinks the
        part above λ2 at least in proportion.
        """
        largest, excess = _dual_norms(multiplier, self.lam2, self.q)
        t = 1.0
        if largest > self.lam1:
            t = self.lam1 / largest
        if excess > self.lam3:
            t = min(t, self.lam3 / excess)
        return t


def penalty_regime(lam1, lam2, lam3, n_nodes, q=2):
    """Which parts of the decomposition can be used at all, from the penalties alone (Tan et al. 2014, Lemmas 3, 4).

    Moving an edge from Z to V costs (λ2 + λ3)/2 at most and λ2/2 + λ3 / (2 (p-1)^(1/s)) at least. If λ1 is above the
    first, Z stays diagonal; if it is below the second, V does; between them both can be at work. O(1).

    Parameters
    ----------
    lam1, lam2, lam3 : float
    n_nodes : int
        p, at least 2.
    q : {1, 2}, default=2
        Norm of a column.

    Returns
    -------
    str
        "Z diagonal", "V diagonal" or "mixed".

    Examples
    --------
    >>> [penalty_regime(lam1, 0.2, 1.0, 101) for lam1 in (0.1, 0.3, 0.7)]
    ['V diagonal', 'mixed', 'Z diagonal']
    """
    penalty = HubPenalty.checked(lam1, lam2, lam3, q)
    p = check_scalar(n_nodes, "n_nodes", low=2, integer=True)
    if penalty.lam1 > 0.5 * (penalty.lam2 + penalty.lam3):
        return "Z diagonal"
    root = np.sqrt(p - 1) if q == 2 else 1.0
    if penalty.lam1 < 0.5 * penalty.lam2 + 0.5 * penalty.lam3 / root:
        return "V diagonal"
    return "mixed"


def star_penalty(lam1, lam2, lam3, n_leaves, weight=1.0):
    r"""The hub penalty of a star: one node joined to `n_leaves` others with equal weights, and nothing else.

    As single edges the star costs 2 λ1 m |a|, because Z has each edge twice; as one column, λ2 m|a| + λ3 √m |a|.
    The penalty is the smaller of the two: a star with m > (λ3 / (2λ1 - λ2))² leaves is cheaper as a hub. O(1).

    Parameters
    ----------
    lam1, lam2, lam3 : float
    n_leaves : int
        m.
    weight : float, default=1.0
        a.

    Returns
    -------
    float

    Examples
    --------
    >>> [round(star_penalty(0.4, 0.3, 1.0, m), 2) for m in (1, 4, 9)]
    [0.8, 3.2, 5.7]
    """
    penalty = HubPenalty.checked(lam1, lam2, lam3)
    m, size = check_scalar(n_leaves, "n_leaves", low=1, integer=True), abs(check_scalar(weight, "weight"))
    return float(size * min(2 * penalty.lam1 * m, penalty.lam2 * m + penalty.lam3 * np.sqrt(m)))


def sparse_group_shrink(C, a, b):
    r"""The proximal map of a |x|_1 + b |x|_2 for every column: soft threshold, then shrink the column as a whole.

    ::

        x = max(1 - b / |s|_2, 0) s,     s = soft(c, a).

    The order matters: the other way round is another map. A column with |s|_2 ≤ b becomes zero. O(size of C).
    (Simon et al. 2013; step iv of Algorithm 1 of Tan et al. 2014.)

    Parameters
    ----------
    C : array-like of shape (m, k)
    a, b : float
        Not negative.

    Returns
    -------
    ndarray of shape (m, k)

    Examples
    --------
    >>> sparse_group_shrink([[4.0, 1.5], [5.0, 0.5]], 1.0, 2.5).tolist()
    [[1.5, 0.0], [2.0, 0.0]]
    """
    C = check_finite_array(C, "C", ndim=2)
    a, b = check_scalar(a, "a", low=0), check_scalar(b, "b", low=0)
    return _shrink_columns(np.array(C, order="C"), a, b)


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
    _prox_columns(state[1], penalty.lam2 / rho, penalty.lam3 / rho, penalty.q, out[1])
    _prox_entries(state[2], penalty.lam1 / rho, out[2])


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
def _shrink_columns(C, a, b):
    m, k = C.shape
    squares = np.zeros(k)
    for i in range(m):
        for j in range(k):
            C[i, j] = soft(C[i, j], a)
            squares[j] += C[i, j] * C[i, j]
    for j in range(k):
        norm = np.sqrt(squares[j])
        squares[j] = 1.0 - b / norm if norm > b else 0.0
    for i in range(m):
        for j in range(k):
            C[i, j] = C[i, j] * squares[j]
    return C


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
def _dual_norms(A, lam2, q):
    """Largest |A_ij| off the diagonal and the largest |soft(2 A_j, λ2)|_s of a column (s = 2 or infinity)."""
    p = len(A)
    largest = 0.0
    columns = np.zeros(p)
    for i in range(p):
        for j in range(p):
            if i != j:
                largest = max(largest, abs(A[i, j]))
                over = soft(2.0 * A[i, j], lam2)
                if q == 2:
                    columns[j] += over * over
                else:
                    columns[j] = max(columns[j], abs(over))
    worst = columns.max() if p else 0.0
    return largest, np.sqrt(worst) if q == 2 else worst
