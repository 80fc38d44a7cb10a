"""Maximum, minimum and exponential that LLVM turns into vector instructions.

``max(a, b)`` on floats compiles to a branch or to a scalar instruction, because the compiler must keep Python's rule
for NaN and signed zeros; a search for the largest of n numbers then takes one number per cycle or worse. `fmax` and
`fmin` promise that no argument is NaN. Nothing else about the arithmetic changes: results are exact and the same on
every CPU.
"""

from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from learnable._inner import inner

__all__ = ["exp_in_place", "exp_of_negative", "fmax", "fmin"]

_LOG2_E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # k times the first is exact
_SHIFT = 6755399441055744.0  # 3 · 2⁵¹: adding it rounds to an integer, which then stands in the lowest bits
_LOWEST = -708.0


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


@intrinsic
def _power_of_two(typingctx, shifted):
    """2^k for a whole number k that stands, after adding `_SHIFT`, in the lowest bits of a float."""

    def codegen(context, builder, signature, args):
        word = ir.IntType(64)
        bits = builder.add(builder.bitcast(args[0], word), word(1023))
        return builder.bitcast(builder.shl(bits, word(52)), args[0].type)

    return types.float64(types.float64), codegen


@inner
def exp_of_negative(x):
    """e^x for x <= 0 to one unit in the last place, and 0 below -708, where results would be subnormal.

    x = k ln 2 + r with |r| <= ln 2 / 2; e^r by its Taylor polynomial of degree 13 (relative error below 5e-16), and 2^k
    by writing k into the exponent's bits. There is no branch and no call, so that a loop whose body this is becomes
    vector instructions: a third of the time of ``np.exp`` for some hundred numbers or more.
    """
    t = _LOWEST if x < _LOWEST else x  # NaN stays NaN
    shifted = t * _LOG2_E + _SHIFT
    k = shifted - _SHIFT
    r = (t - k * _LN2_HIGH) - k * _LN2_LOW
    p = 1.0 / 6227020800.0
    p = p * r + 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * r + 1.0
    p = (p * r + 1.0) * _power_of_two(shifted)
    return 0.0 if x < _LOWEST else p


@njit(cache=True)
def exp_in_place(x):
    """`exp_of_negative` of every number of a vector."""
    for i in range(x.size):
        x[i] = exp_of_negative(x[i])
