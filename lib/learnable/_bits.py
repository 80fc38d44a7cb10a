"""Rows of zeros and ones as words of 64 bits: one AND and one instruction count 64 rows.

The bits behind the last row are zero, so that a count never sees them; the count of a complement is a difference, never
a NOT.
"""

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

__all__ = ["count_both", "pack_bits", "popcount"]


def pack_bits(columns):
    """Columns of zeros and ones, one in each row of the array, as uint64 words of 64 entries."""
    n_columns, n = columns.shape
    words = np.zeros((n_columns, max(1, -(-n // 64)) * 8), dtype=np.uint8)
    packed = np.packbits(columns.astype(np.uint8), axis=1, bitorder="little")
    words[:, : packed.shape[1]] = packed
    return words.view(np.uint64)


@intrinsic
def popcount(typingctx, word):
    """Number of ones of a 64-bit word, by the instruction of the processor (for compiled code only)."""

    def codegen(context, builder, signature, args):
        kind = args[0].type
        return builder.call(builder.module.declare_intrinsic("llvm.ctpop", [kind], ir.FunctionType(kind, [kind])), args)

    return types.uint64(types.uint64), codegen


@njit(cache=True)
def count_both(a, b):
    """Number of rows in which both bit sets have a one (for compiled code)."""
    found = np.uint64(0)
    for w in range(len(a)):
        found += popcount(a[w] & b[w])
    return np.int64(found)
