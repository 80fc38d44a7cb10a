"""One thread below: for work that shares the cores itself, or is too small for threads to help.

Looking for the threaded libraries of a process takes milliseconds, more than many a cell of a study. It is done again
only after modules have been imported, since a library comes into the process with one.
"""

from __future__ import annotations

import functools
import sys

from threadpoolctl import ThreadpoolController

__all__ = ["one_thread"]


def one_thread(api=None):
    """A context in which threaded libraries have one thread: all of them, or those of one kind such as ``"blas"``."""
    return _libraries(len(sys.modules)).limit(limits=1, user_api=api)


@functools.lru_cache(maxsize=1)
def _libraries(_modules):
    return ThreadpoolController()
