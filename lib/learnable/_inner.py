"""What makes the first call short: loops that only other compiled loops call, and a copy that compiles in no time.

``@njit`` makes two doors besides the function itself, one for Python and one for C, and keeps its own file in the
cache. Where nothing but compiled code comes in, they cost a fifth of the time of the first call and serve nobody.
"""

from numba.extending import register_jitable

__all__ = ["copy_to", "inner"]

#: Compile with the function that calls it. From Python the plain function runs, so that a test may call it.
inner = register_jitable(no_cfunc_wrapper=True)


@inner
def copy_to(out, values):
    """``out[:] = values`` for vectors of one length.

    numba compiles two seconds for that line: the message about shapes that differ needs its whole module of strings.
    """
    for i in range(len(out)):
        out[i] = values[i]
