"""Compiled code never outlives a source that it was made from, in whichever module that stands."""

import os
import subprocess
import sys

import pytest

from learnable.book.compiled import drop_stale_kernels

OUTER = """from numba import njit

from learnable.inner import inner


@njit(cache=True)
def outer(x):
    return inner(x)
"""
INNER = "from numba import njit\n\n\n@njit(cache=True)\ndef inner(x):\n    return x + {}\n"


@pytest.fixture
def library(tmp_path):
    package = tmp_path / "learnable"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "inner.py").write_text(INNER.format(1))
    (package / "outer.py").write_text(OUTER)
    return tmp_path


def call(library):
    code = "from learnable.outer import outer; print(outer(10))"
    environment = {**os.environ, "PYTHONPATH": str(library)}
    environment.pop("NUMBA_CACHE_DIR", None)
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, cwd=library)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def change(library, constant):
    path = library / "learnable" / "inner.py"
    path.write_text(INNER.format(constant))
    later = path.stat().st_mtime + 10
    os.utime(path, (later, later))


def test_a_change_in_a_module_reaches_the_compiled_callers_of_another(library):
    assert call(library) == 11
    change(library, 5)
    assert call(library) == 11  # what numba does by itself: the reason for all this
    assert "outer.outer-6" in drop_stale_kernels(library)
    assert call(library) == 15


def test_what_is_current_is_kept(library):
    call(library)
    kept = sorted((library / "learnable" / "__pycache__").glob("*.nb[ic]"))
    assert kept and drop_stale_kernels(library) == []
    (library / "learnable" / "other.py").write_text("")
    assert drop_stale_kernels(library) == []
    assert sorted((library / "learnable" / "__pycache__").glob("*.nb[ic]")) == kept
