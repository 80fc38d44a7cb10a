"""Matrices whose dynamics is known: one error a column, blocks of identical rows, and the counterexamples.

The 3 × 3 case reduces to a map of an interval, the edges of the triangle with corners (0, ½, ½), (½, ½, 0), (½, 0, ½)
laid out flat. The m × m case has (m − 1)! cycles, each the orbit of one geometric sequence of weights.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from learnable.ensembles.adaboost_dynamics.cycles import Cycle
from learnable.ensembles.adaboost_dynamics.dynamics import check_matrix
from learnable.validation import check_finite_array, check_scalar

__all__ = [
    "GOLDEN",
    "Example",
    "block_matrix",
    "counterexamples",
    "fold",
    "golden_cycles",
    "mm_beta1",
    "mm_cycle",
    "one_error_matrix",
    "unfold",
    "unfolded_map",
]

GOLDEN = (math.sqrt(5) - 1) / 2
LARGEST_BLOCKS = 10**7


def one_error_matrix(m):
    """The m × m matrix in which classifier j is wrong on example j only.

    Parameters
    ----------
    m : int
        Number of examples.

    Examples
    --------
    >>> one_error_matrix(3).astype(int).tolist()
    [[-1, 1, 1], [1, -1, 1], [1, 1, -1]]
    """
    m = check_scalar(m, "m", low=2, integer=True)
    return 1.0 - 2.0 * np.eye(m)


def golden_cycles():
    """The two 3-cycles of the 3 × 3 matrix: an array (2, 3, 3) of weights, cycle by step by example.

    Examples
    --------
    >>> golden_cycles()[0].round(3).tolist()
    [[0.191, 0.309, 0.5], [0.5, 0.191, 0.309], [0.309, 0.5, 0.191]]
    """
    small, middle = (3 - math.sqrt(5)) / 4, (math.sqrt(5) - 1) / 4
    first = np.array([[small, middle, 0.5], [0.5, small, middle], [middle, 0.5, small]])
    return np.array([first, first[:, [0, 2, 1]]])


def mm_beta1(m):
    """Smallest weight β₁ on a cycle of the m × m matrix: the root of β 2^m (1 − β)^(m−1) = 1 in (0, 1/m).

    Newton's method on the logarithm of the equation, which is concave and increasing there: from 2^(−m), left of the
    root, the iterates rise to it. Accurate to a few units in the last place for every m.

    Parameters
    ----------
    m : int
        Between 3 and 1000.

    Examples
    --------
    >>> round(mm_beta1(3) - (3 - 5**0.5) / 4, 15)
    0.0
    >>> f"{mm_beta1(10):.8f}"
    '0.00098526'
    """
    m = check_scalar(m, "m", low=3, high=1000, integer=True)
    beta = 2.0**-m
    for _ in range(60):
        value = math.log(beta) + m * math.log(2) + (m - 1) * math.log1p(-beta)
        # In ln β, so that β stays positive: d value / d ln β = 1 − (m − 1) β/(1 − β).
        step = -value / (1 - (m - 1) * beta / (1 - beta))
        new = beta * math.exp(step)
        if abs(new - beta) <= 1e-16 * beta:
            break
        beta = new
    return beta


def mm_cycle(m, order=None):
    """The cycle of the m × m matrix that uses the columns in the given order, in closed form.

    Parameters
    ----------
    m : int
    order : permutation of 0, …, m − 1, optional
        Orders that are rotations of each other give the same cycle: (m − 1)! cycles in all.

    Returns
    -------
    Cycle

    Examples
    --------
    >>> cycle = mm_cycle(4)
    >>> cycle.period, round(cycle.margin, 10), cycle.weights[0].round(4).tolist()
    (4, 0.5, [0.0804, 0.1478, 0.2718, 0.5])
    """
    beta1 = mm_beta1(m)
    order = np.arange(m) if order is None else np.asarray(order)
    if order.shape != (m,) or sorted(order.tolist()) != list(range(m)):
        raise ValueError(f"order must hold each of 0, …, {m - 1} once")
    # β_i = ½ [2(1 − β₁)]^(i − m): from the largest down, so that the last is exactly one half.
    beta = 0.5 * (2 * (1 - beta1)) ** np.arange(1 - m, 1, dtype=float)
    weights = np.empty((m, m))
    for t in range(m):
        weights[t, order] = np.roll(beta, t)
    return Cycle(weights, order.copy(), np.full(m, 1 - 2 * beta1), np.arange(m))


def fold(s):
    """Weights at position s ∈ [0, 1.5) along the inner triangle: from (0, ½, ½) by (½, ½, 0) and (½, 0, ½) back.

    Parameters
    ----------
    s : float
        Position, in [0, 1.5).

    Examples
    --------
    >>> fold([0.1, 0.6, 1.2]).round(3).tolist()
    [[0.1, 0.5, 0.4], [0.5, 0.4, 0.1], [0.3, 0.2, 0.5]]
    """
    s = check_finite_array(s, "s")
    if s.size and (s.min() < 0 or s.max() >= 1.5):
        raise ValueError("positions must lie in [0, 1.5)")
    side = np.minimum((2 * s).astype(int), 2)
    x = s - side / 2
    half = np.full_like(x, 0.5)
    sides = ((x, half, half - x), (half, half - x, x), (half - x, x, half))
    return np.stack([np.choose(side, [which[k] for which in sides]) for k in range(3)], axis=-1)


def unfold(d):
    """Position along the edges of the inner triangle: the inverse of `fold`.

    Parameters
    ----------
    d : array-like of shape (3,)
        Weights on an edge of the inner triangle.

    Examples
    --------
    >>> unfold(fold([0.1, 0.6, 1.2])).round(6).tolist()
    [0.1, 0.6, 1.2]
    """
    d = check_finite_array(d, "d")
    if d.shape[-1:] != (3,) or (np.abs(d.max(axis=-1) - 0.5) > 1e-9).any():
        raise ValueError("points of the inner triangle have three coordinates, the largest of them one half")
    side = np.select([d[..., 1] == d.max(axis=-1), d[..., 0] == d.max(axis=-1)], [0, 1], 2)
    x = np.choose(side, [d[..., 0], 0.5 - d[..., 1], 0.5 - d[..., 0]])
    return np.mod(side / 2 + x, 1.5)


def unfolded_map(s):
    """One step of the 3 × 3 map in the position s: on (0, ¼) it is 1 − 1/(4(1 − s)), elsewhere a mirror image of that.

    The map has no value at the corners 0, ½, 1 (one example has no weight, so that there are no next weights) and at
    the midpoints ¼, ¾, 1¼ of the sides (two columns are tied, and each leads elsewhere): these positions are refused.

    Parameters
    ----------
    s : array-like of float
        Positions in (0, 1.5), none of them a multiple of ¼.

    Examples
    --------
    >>> unfolded_map([0.1]).round(6).tolist(), unfold([[0.5, 1 / 3.6, 0.5 - 1 / 3.6]]).round(6).tolist()
    ([0.722222], [0.722222])
    """
    s = check_finite_array(s, "s")
    if s.size and (s.min() < 0 or s.max() >= 1.5):
        raise ValueError("s must lie in (0, 1.5)")
    undefined = np.mod(s, 0.25) == 0
    if undefined.any():
        raise ValueError(f"s must not hold a multiple of 1/4, where the map has no value; got {s[undefined].flat[0]:g}")
    side = np.minimum((2 * s).astype(int), 2)
    x = s - side / 2
    # First half of a side: forward to the next side. Second half: mirrored, back to the side before.
    near = side / 2 + 1 - 1 / (4 * (1 - x))
    far = side / 2 - 0.5 + 1 / (4 * (0.5 + x))
    return np.mod(np.where(x < 0.25, near, far), 1.5)


def group_rows(M, columns=None):
    """Identically classified examples: the different rows of M, and the row that each example belongs to.

    Parameters
    ----------
    M : array (m, n) of ±1
    columns : sequence of int, optional
        Compare in these columns only.

    Returns
    -------
    rows : array (g, n or len(columns))
        In the order of their first appearance.
    label : array (m,)
        ``rows[label]`` is M. The totals ``np.bincount(label, d)`` obey the map of `rows`.

    Examples
    --------
    >>> rows, label = group_rows([[-1, 1], [1, -1], [-1, 1]])
    >>> rows.astype(int).tolist(), label.tolist()
    ([[-1, 1], [1, -1]], [0, 1, 0])
    """
    M = check_matrix(M)
    if columns is not None:
        M = M[:, np.asarray(columns)]
    _, first, label = np.unique(M, axis=0, return_index=True, return_inverse=True)
    position = np.argsort(np.argsort(first))
    return M[np.sort(first)], position[label.ravel()]


def block_matrix(q):
    """Three classifiers; q₁, q₂, q₃ examples that only classifier 1, 2, 3 gets wrong, and q₄ that none does.

    Parameters
    ----------
    q : array-like of four int
        Together at most ten million: the matrix has that many rows.

    Examples
    --------
    >>> block_matrix([2, 1, 1, 1]).astype(int).tolist()
    [[-1, 1, 1], [-1, 1, 1], [1, -1, 1], [1, 1, -1], [1, 1, 1]]
    """
    q = [check_scalar(k, "q", low=low, integer=True) for k, low in zip(q, (1, 1, 1, 0), strict=True)]
    if sum(q) > LARGEST_BLOCKS:  # np.repeat does not check that the sum fits into its index
        raise ValueError(f"q must sum to at most {LARGEST_BLOCKS}, got {sum(q)}")
    rows = np.vstack([one_error_matrix(3), np.ones((1, 3))])
    return np.repeat(rows, q, axis=0)


@dataclass(frozen=True)
class Example:
    """A matrix with the margin that is possible, the one that a cycle gives, and weights on that cycle.

    Attributes
    ----------
    M : array (m, n)
    rho : Fraction
        The largest possible margin.
    vote : tuple of Fraction
        A vote that reaches it.
    start : array (m,)
        Weights on the cycle.
    columns : tuple of int
        The columns of the cycle.
    margin : Fraction
        The margin of the cycle.
    optimal : bool
        Whether every column of the cycle has the largest edge at its turn.
    """

    M: np.ndarray
    rho: Fraction
    vote: tuple
    start: np.ndarray
    columns: tuple
    margin: Fraction
    optimal: bool


def counterexamples():
    """Matrices on which AdaBoost may miss the largest margin, and the curious 4-cycle of the 3 × 3 matrix.

    Returns
    -------
    dict of str to Example
        "8x8": optimal AdaBoost reaches 1/3 where 3/8 is possible. "4x5": the same with columns that are good enough but
        not the best, 1/3 for 1/2. "3x3, four steps": columns that are good enough give a longer cycle, and no loss.

    Examples
    --------
    >>> example = counterexamples()["8x8"]
    >>> str(example.rho), str(example.margin)
    ('3/8', '1/3')
    """
    five, two = math.sqrt(5), math.sqrt(2)
    eight = """-++++--+ -++--+++ +-+++-++ +-++-+++ +-+-+++- ++-++++- ++-+++-+ ++++--+-"""
    four = """-+++- +-++- ++-++ +++-+"""
    small, middle = (3 - five) / 8, (five - 1) / 8

    def read(text):
        return np.array([[1.0 if mark == "+" else -1.0 for mark in row] for row in text.split()])

    return {
        "8x8": Example(
            read(eight),
            Fraction(3, 8),
            tuple(Fraction(k, 16) for k in (2, 3, 4, 1, 2, 2, 1, 1)),
            np.array([small, small, 1 / 6, 1 / 6, 1 / 6, middle, middle, 0.0]),
            (0, 2, 1),
            Fraction(1, 3),
            True,
        ),
        "4x5": Example(
            read(four),
            Fraction(1, 2),
            (*[Fraction(1, 4)] * 4, Fraction(0)),
            np.array([small, small, 0.5, 2 * middle]),
            (4, 3, 2),
            Fraction(1, 3),
            False,
        ),
        "3x3, four steps": Example(
            one_error_matrix(3),
            Fraction(1, 3),
            (Fraction(1, 3),) * 3,
            np.array([0.5, 0.5 - two / 4, two / 4]),
            (1, 0, 2, 0),
            Fraction(1, 3),
            False,
        ),
    }
