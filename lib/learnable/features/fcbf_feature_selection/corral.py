"""CorrAL with copies, balanced: every combination of the four relevant bits equally often (Yu and Liu 2004, Sec. 5.2).

`learnable.datasets.rules.make_corral` draws its rows. Here the rows are those of the exact table, so that the relevant
bits are exactly independent and equally relevant, and ties between them are broken by their place, as the sets that the
source prints show.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from learnable.datasets.rules import make_corral
from learnable.validation import check_finite_array, check_rng, check_scalar

__all__ = ["CorralTable", "make_balanced_corral"]

RATIOS = tuple(k / 16 for k in range(7))


@dataclass(frozen=True, eq=False)
class CorralTable:
    """A table of CorrAL with copies.

    Attributes
    ----------
    data : ndarray of int of shape (n, N)
        Zeros and ones.
    target : ndarray of int of shape (n,)
        The class.
    feature_names : list of str
        A0, A1, B0, B1, R, then irrelevant bits I0, I1, I0~0, ... and copies A0~0, A0~1, ...
    origin : list of str
        The bit that each column is a copy of.
    """

    data: np.ndarray
    target: np.ndarray
    feature_names: list
    origin: list


def make_balanced_corral(n_blocks=1, *, with_r=True, chance=False, ratios=RATIOS, random_state=None):
    """CorrAL-47 or CorrAL-46 on a balanced table of 256 rows, or several of them.

    A0, A1, B0, B1 decide the class (A0 and A1) or (B0 and B1); R agrees with it in three of four rows. Then come 14
    irrelevant bits, which are two balanced ones and six copies or complements of each, and noisy copies of the four.

    Parameters
    ----------
    n_blocks : int, default=1
        Number of tables of 256 rows: all combinations of the relevant and of two irrelevant bits, four times.
    with_r : bool, default=True
        CorrAL-47 has R, CorrAL-46 has not.
    chance : bool, default=False
        Draw the second irrelevant bit at random, so that it carries a little information about the class by chance;
        otherwise both are exactly independent of everything else.
    ratios : sequence of float, default=(0, 1/16, ..., 6/16)
        Shares of entries that are flipped, at random places, one copy of each of the four bits for each share.
    random_state : None, int or Generator
        Places of the flips.

    Returns
    -------
    CorralTable
        ``data`` (0 and 1), ``target``, ``feature_names``, and ``origin``: the bit that each column is a copy of.

    Examples
    --------
    >>> made = make_balanced_corral(random_state=0)
    >>> made.data.shape, made.feature_names[:6], made.feature_names[-2:]
    ((256, 47), ['A0', 'A1', 'B0', 'B1', 'R', 'I0'], ['B1~5', 'B1~6'])
    """
    n_blocks = check_scalar(n_blocks, "n_blocks", low=1, high=10**6, integer=True)
    ratios = check_finite_array(ratios, "ratios", ndim=1)
    if len(ratios) and (ratios.min() < 0 or ratios.max() > 1):
        raise ValueError("ratios: shares lie between 0 and 1")
    rng = check_rng(random_state)
    table, y = make_corral(return_X_y=True)
    half = len(y)
    table, y = np.tile(table.astype(np.int64), (2 * n_blocks, 1)), np.tile(y, 2 * n_blocks)
    n, k = len(y), len(ratios)
    four = table[:, :4]
    second = rng.permutation(n) % 2 if chance else np.arange(n) // half % 2
    pair = np.column_stack([table[:, 4], second])
    turned = np.repeat(pair, 6, axis=1) ^ (np.arange(12) % 2)
    flips = np.zeros((n, 4 * k), dtype=np.int64)
    for column in range(4 * k):
        flips[rng.permutation(n)[: round(n * ratios[column % k])], column] = 1
    copies = np.repeat(four, k, axis=1) ^ flips
    names = ["A0", "A1", "B0", "B1"]
    copied = [f"{name}~{j}" for name in names for j in range(k)]
    irrelevant = ["I0", "I1", *(f"I{i // 6}~{i % 6}" for i in range(12))]
    blocks = [four, table[:, 5:], pair, turned, copies] if with_r else [four, pair, turned, copies]
    names += ["R"] * bool(with_r) + irrelevant + copied
    return CorralTable(np.hstack(blocks), y, names, [name.partition("~")[0] for name in names])
