"""What makes the first call short: loops that only other compiled loops call, and a copy that compiles in no time.

``@njit`` makes two doors besides the function itself, one for Python and one for C, and keeps its own file in the
cache. Where nothing but compiled code comes in, they cost a fifth of the time of the first call and serve nobody.
"""

from numba.extending import register_jitable

__all__ = ["assign", "cut_between", "dot", "inner"]

#: Compile with the function that calls it. From Python the plain function runs, so that a test may call it.
inner = register_jitable(no_cfunc_wrapper=True)


@inner
def assign(out, values):
    """``out[:] = values`` for vectors of one length.

    numba compiles two seconds for that line: the message about shapes that differ needs its whole module of strings.
    """
    for i in range(len(out)):
        out[i] = values[i]


@inner
def dot(a, b, m):
    """The product of the first m entries; four partial sums, which need not wait for each other."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    t = 0
    while t + 3 < m:
        s0 += a[t] * b[t]
        s1 += a[t + 1] * b[t + 1]
        s2 += a[t + 2] * b[t + 2]
        s3 += a[t + 3] * b[t + 3]
        t += 4
    while t < m:
        s0 += a[t] * b[t]
        t += 1
    return (s0 + s1) + (s2 + s3)


@inner
def cut_between(a, b):
    """The middle of a < b, or a if rounding puts the middle on b: x <= cut holds for a and not for b."""
    middle = 0.5 * (a + b)
    return middle if a <= middle < b else a
