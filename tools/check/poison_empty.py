"""A pytest plugin that fills what ``np.empty`` hands out with NaN, so that reading it is an error every time.

Load with ``-p tools.check.poison_empty``. New memory mostly holds zeros, or what an earlier array left there: code that
reads an entry before it writes it is right for years and then wrong once. With NaN in it (for integers a number far
outside every array) such code fails wherever it is tested. Compiled code keeps numba's own ``np.empty``, because what
is compiled here serves other processes as well.
"""

from __future__ import annotations

import functools

import numpy as np
from numba.core.registry import cpu_target

FAR = -(2**62)


def garbage(dtype):
    """What an unwritten number of this type looks like; None for types that are left alone."""
    if dtype.kind in "fc":
        return np.nan
    return FAR if dtype == np.int64 else None


def filling(make):
    """The function `make`, whose arrays come filled."""

    @functools.wraps(make)
    def made(*args, **kwargs):
        array = make(*args, **kwargs)
        value = garbage(array.dtype) if type(array) is np.ndarray else None
        if value is not None:
            array.fill(value)
        return array

    return made


@functools.cache
def install():
    """Replace ``np.empty`` and ``np.empty_like`` in this process; numba takes the new ones for the old."""
    typing = cpu_target.typing_context
    cpu_target.target_context.refresh()
    typing.refresh()
    for name in ("empty", "empty_like"):
        plain = getattr(np, name)
        filled = filling(plain)
        typing.insert_global(filled, typing.resolve_value_type(plain))
        setattr(np, name, filled)


def pytest_configure(config):
    """Before the library or a test asks for memory."""
    install()
