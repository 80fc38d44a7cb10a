"""The environment in which notebooks run: the same wherever they run, so that their outputs are the same."""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager

# One thread per kernel: chapters run in parallel, and results must not depend on how many cores there are.
FIXED = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    "JUPYTER_PLATFORM_DIRS": "1",
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    "LEARNABLE_QUIET": "1",  # a chapter shows the same page whether its kernels were compiled before or not
}
_lock = threading.Lock()
_users = 0
_before = {}


@contextmanager
def kernel_environment(**extra):
    """Set the environment for kernels started inside the block; concurrent blocks must agree on it."""
    global _users
    with _lock:
        if _users == 0:
            _before.clear()
            _before.update({key: os.environ.get(key) for key in [*FIXED, *extra]})
            os.environ.update({**FIXED, **extra})
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                for key, value in _before.items():
                    os.environ.pop(key, None) if value is None else os.environ.update({key: value})
