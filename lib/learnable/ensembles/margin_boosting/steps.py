"""AdaBoost on a matrix: the algorithm, and the one-line map that its weights obey.

The matrix M has a row for each example and a column for each weak classifier; M_ij = y_i h_j(x_i) is +1 where
classifier j is right and −1 where it is wrong. With weights d on the rows, *edges* dᵀM and votes λ on the columns:

    j = argmax_j (dᵀM)_j,   r = (dᵀM)_j,   λ_j ← λ_j + ½ ln((1 + r)/(1 − r)),   d_i ← d_i / (1 + M_ij r)

(Rudin, Daubechies and Schapire 2004, figures 1 and 2). In exact arithmetic the new weights sum to one. In floating
point the map as it is written does so for a few dozen steps only: the error in the sum is a repelling direction. The
code divides by twice the weights of the right and of the wrong rows in place of 1 + r and 1 − r, which restores the sum
by itself, and rescales at every step besides. Weights that are too small for a double are carried on the log scale, so
that they can return.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from learnable.validation import check_finite_array

# Edges closer than this are compared again without cancellation, and tied if they agree to this relative accuracy: at
# equal weights rounding would otherwise choose the attractor.
TIE = 1e-12


def check_matrix(M):
    """Return M as a C-contiguous float64 array after checking that it is a matrix of ±1 without a perfect column.

    Parameters
    ----------
    M : array-like of shape (m, n)
        Entry +1 where classifier j is right on example i, else −1.

    Examples
    --------
    >>> check_matrix([[-1, 1], [1, -1]])
    array([[-1.,  1.],
           [ 1., -1.]])
    """
    M = check_finite_array(M, "M", ndim=2)
    if M.size == 0 or not (np.abs(M) == 1).all():
        raise ValueError("M must be a matrix with entries −1 (wrong) and +1 (right), at least one row and one column")
    perfect = np.flatnonzero((M == 1).all(axis=0))
    if perfect.size:
        raise ValueError(f"column {perfect[0]} of M makes no error: the step of AdaBoost would be infinite")
    return np.ascontiguousarray(M)


@njit(cache=True)
def fill_edges(M, d, out):
    """Write dᵀM into `out`, adding the rows in their order."""
    m, n = M.shape
    for j in range(n):
        out[j] = 0.0
    for i in range(m):
        weight = d[i]
        if weight != 0.0:
            for j in range(n):
                out[j] += weight * M[i, j]


@njit(cache=True)
def lead(M, d, small, a, b):
    """(P − N)/(P + N), P and N the weights of the rows that only column a, only column b gets right; 0 for a tie.

    Same sign as the difference of the edges, but without its cancellation: two columns that differ on rows of weight
    1e-20 only are told apart.
    """
    m = d.size
    top = -np.inf
    for i in range(m):
        if M[i, a] != M[i, b]:
            top = max(top, np.log(d[i]) if np.isnan(small[i]) else small[i])
    if top == -np.inf:
        return 0.0
    difference = total = 0.0
    for i in range(m):
        if M[i, a] != M[i, b]:
            weight = np.exp((np.log(d[i]) if np.isnan(small[i]) else small[i]) - top)
            total += weight
            difference += weight if M[i, a] > 0.0 else -weight
    return difference / total


@njit(cache=True)
def pick(M, d, small, values, rank, least, tie_tol, draw):
    """The column to use: of lowest rank (or at random, for a draw in [0, 1)) among those that are allowed."""
    n = values.size
    best = 0
    for j in range(1, n):
        if values[j] > values[best]:
            best = j
    allowed = values >= min(values[best], least) - TIE
    if least >= values[best]:
        # The largest edge, or a tie: decide among the edges that rounding may have swapped.
        close = allowed.copy()
        for j in range(n):
            if close[j] and j != best and lead(M, d, small, j, best) > tie_tol:
                best = j
        for j in range(n):
            allowed[j] = close[j] and (j == best or lead(M, d, small, j, best) >= -tie_tol)
    if draw >= 0.0:
        wanted = int(draw * allowed.sum())
        for j in range(n):
            if allowed[j]:
                if wanted == 0:
                    return j
                wanted -= 1
    chosen = -1
    for j in range(n):
        if allowed[j] and (chosen < 0 or rank[j] < rank[chosen]):
            chosen = j
    return chosen
