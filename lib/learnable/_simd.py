"""Maximum and minimum that LLVM turns into vector instructions.

``max(a, b)`` on floats compiles to a branch or to a scalar instruction, because the compiler must keep Python's rule
for NaN and signed zeros; a search for the largest of n numbers then takes one number per cycle or worse. The two
functions here promise that no argument is NaN. Nothing else about the arithmetic changes: results are exact and the
same on every CPU.
"""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

__all__ = ["fmax", "fmin"]


def _binary(name):
    def codegen(context, builder, signature, args):
        kind = args[0].type
        function = builder.module.declare_intrinsic(name, [kind], ir.FunctionType(kind, [kind, kind]))
        return builder.call(function, args, fastmath=("nnan", "nsz"))

    return types.float64(types.float64, types.float64), codegen


@intrinsic
def fmax(typingctx, a, b):
    """The larger of two floats, neither of them NaN (for compiled code only)."""
    return _binary("llvm.maxnum")


@intrinsic
def fmin(typingctx, a, b):
    """The smaller of two floats, neither of them NaN (for compiled code only)."""
    return _binary("llvm.minnum")
