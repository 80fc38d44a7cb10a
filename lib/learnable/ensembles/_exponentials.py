"""Exponentials of whole arrays: what the reweighting of boosting costs beside the search for a rule.

The mathematical library takes one number at a time. The steps here are sums, products and shifts of bits over a short
stretch of numbers, which the compiler turns into vector instructions.
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["STRETCH", "exp_of_negatives"]

STRETCH = 512
_LOG2_E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_SHIFT = 6755399441055744.0  # 3 · 2⁵¹: adding it rounds to an integer, which then stands in the lowest bits
_LOWEST = -708.0


@njit(cache=True)
def exp_of_negatives(x, out, shifted):
    """Fill `out` with e^x for x ≤ 0, to two units in the last place; 0 below −708.

    With k the integer next to x/ln 2, e^x = 2^k e^r and |r| ≤ ½ ln 2: a polynomial of degree 13, then k is added to the
    exponent's bits. `shifted` is room for as many numbers; the arrays must not overlap.
    """
    n = len(x)
    for i in range(n):
        shifted[i] = max(x[i], _LOWEST) * _LOG2_E + _SHIFT
    for i in range(n):
        k = shifted[i] - _SHIFT
        r = (max(x[i], _LOWEST) - k * _LN2_HIGH) - k * _LN2_LOW
        s = 1.0 / 6227020800.0
        s = s * r + 1.0 / 479001600.0
        s = s * r + 1.0 / 39916800.0
        s = s * r + 1.0 / 3628800.0
        s = s * r + 1.0 / 362880.0
        s = s * r + 1.0 / 40320.0
        s = s * r + 1.0 / 5040.0
        s = s * r + 1.0 / 720.0
        s = s * r + 1.0 / 120.0
        s = s * r + 1.0 / 24.0
        s = s * r + 1.0 / 6.0
        s = s * r + 0.5
        s = s * r + 1.0
        out[i] = s * r + 1.0
    power, result = shifted.view(np.int64), out.view(np.int64)
    for i in range(n):
        result[i] += power[i] << 52
    for i in range(n):
        out[i] = out[i] if x[i] >= _LOWEST else 0.0
