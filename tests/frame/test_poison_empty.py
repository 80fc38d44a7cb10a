"""Memory that numpy leaves unwritten is no zero: a test that reads it fails each time."""

import subprocess
import sys

from tools.project import ROOT

READS = """
import numpy as np

def test_rows_that_were_never_written_do_not_count():
    table, weight = np.empty((50, 3)), np.zeros((50, 3))
    assert (table.T @ weight == 0.0).all()
"""
COMPILES = """
import numpy as np
from numba import njit

@njit
def squares(n):
    out = np.empty(n)
    places = np.empty_like(out, dtype=np.int64)
    for i in range(n):
        places[i], out[i] = i, i * i
    return out, places

def test_compiled_code_knows_the_functions():
    out, places = squares(4)
    assert out.tolist() == [0.0, 1.0, 4.0, 9.0] and places.tolist() == [0, 1, 2, 3]

def test_kinds():
    assert np.isnan(np.empty(3)).all() and np.isnan(np.empty_like(np.ones(3))).all()
    assert np.isnan(np.empty((2, 2), dtype=complex)).all() and (np.empty(3, dtype=np.int64) < -(2**60)).all()
    assert np.empty(3, dtype=object).tolist() == [None, None, None] and np.empty(0).shape == (0,)
    assert np.empty_like(np.ones((2, 3)), shape=(4,)).shape == (4,)
"""


def outcome(tmp_path, text):
    (tmp_path / "test_it.py").write_text(text)
    plugin, settings = ["-p", "tools.check.poison_empty"], ["-c", "/dev/null", "--rootdir", tmp_path]
    command = [sys.executable, "-m", "pytest", *plugin, *settings, tmp_path / "test_it.py"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def test_reading_what_was_not_written_fails(tmp_path):
    done = outcome(tmp_path, READS)
    assert done.returncode == 1 and "1 failed" in done.stdout, done.stdout


def test_what_writes_first_passes_and_is_compiled_as_ever(tmp_path):
    done = outcome(tmp_path, COMPILES)
    assert done.returncode == 0 and "2 passed" in done.stdout, done.stdout
