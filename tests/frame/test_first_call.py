"""The first call: measured for every estimator, announced where it compiles for long, and done ahead by one command."""

import inspect
import os
import subprocess
import sys
import threading
from types import SimpleNamespace

import pytest

from learnable import _warm
from learnable.validation._compiling import LINE, _Notice
from tools.check import first_call
from tools.project import ROOT
from tools.site import api_pages

# Compiles one small kernel of the package; nothing of it is slow, so the line must be asked for at once.
CALL = (
    "from learnable.validation import _compiling; from learnable.neighbors import NeighborIndex\n"
    "_compiling.notice.patience = 0\nNeighborIndex([[0.0], [1.0]]).query([[0.2]], 1)"
)


def run(tmp_path, *arguments, **environment):
    """A new process with a cache of its own for compiled code."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(tmp_path), **environment}
    return subprocess.run([sys.executable, *arguments], env=env, capture_output=True, text=True, check=True)


def compilation(module="learnable.trees"):
    return SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=SimpleNamespace(__module__=module))})


def test_long_compilation_is_announced_once():
    said, heard = [], threading.Event()

    def say(line):
        said.append(line)
        heard.set()

    notice = _Notice(say, patience=0)
    for _ in range(3):
        notice.on_start(compilation())
        assert heard.wait(60)
        notice.on_end(compilation())
    assert said == [LINE]


def test_short_compilation_and_that_of_others_are_not():
    said = []
    patient, at_once = _Notice(said.append, patience=1e6), _Notice(said.append, patience=0)
    patient.on_start(compilation())
    patient.on_start(compilation())  # a kernel that the first one calls
    patient.on_end(compilation())
    assert patient.timer is not None
    patient.on_end(compilation())
    at_once.on_start(compilation("somebody.else"))
    assert said == [] and patient.timer is None and at_once.timer is None and patient.spent > 0


def test_who_waits_is_told_unless_the_machine_is_asked_to_be_quiet(tmp_path):
    assert run(tmp_path / "first", "-c", CALL).stderr.count(LINE) == 1
    assert LINE not in run(tmp_path / "first", "-c", CALL).stderr  # compiled already
    assert LINE not in run(tmp_path / "second", "-c", CALL, LEARNABLE_QUIET="1").stderr


def test_warm_compiles_ahead_once(tmp_path):
    command = ("-m", "learnable.cli", "warm", "learnable.neighbors", "--jobs", "1")
    first, second = (run(tmp_path, *command).stdout.split() for _ in range(2))
    assert int(first[0]) >= 3 and int(second[0]) == 0
    assert first[1:4] == ["kernels", "compiled", "by"] and first[4] == second[4] != "0"


def test_warm_covers_the_modules_with_kernels_and_names_what_fails(tmp_path, monkeypatch):
    names = _warm.modules()
    assert {"learnable.neighbors", "learnable.trees.growing"} <= set(names)
    assert not any(name.startswith(("learnable.book", "learnable.exercises")) for name in names)
    shown = "Traceback (most recent call last):\nKeyError: 1\n"
    (tmp_path / "odd_module.py").write_text(f'"""\n>>> {{}}[1]\n{shown}\n>>> 1 / 0\n"""\n')
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("LEARNABLE_QUIET", "")
    count, compiled, failed = _warm.warm_module("odd_module")
    assert (count, compiled, len(failed)) == (1, 0, 1) and "ZeroDivisionError" in failed[0]


def test_first_call_is_measured_in_new_processes(capsys):
    assert first_call.main(["HistogramRule"]) == 0
    row = capsys.readouterr().out.splitlines()[-1].split("|")
    assert row[1].strip() == "foundations.HistogramRule" and float(row[2]) > 0
    assert all(float(figure) >= 0 for figure in row[3:5])


@pytest.mark.parametrize(
    "entry", [e for e in api_pages.entries().values() if e.kind == "estimator"], ids=lambda e: e.name
)
def test_every_estimator_has_a_first_call_to_measure(entry):
    assert ".fit" in inspect.getdoc(entry.value).partition("Examples\n")[2]


def test_code_without_a_module_compiles_beside_the_notice():
    """Other packages compile functions made from text, which have no module; the notice must not stop them."""
    script = (
        "from learnable.neighbors import NeighborIndex\nNeighborIndex([[0.0], [1.0]])\n"
        "import numba\nspace = {'__name__': None}\nexec('def twice(x):\\n    return 2 * x', space)\n"
        "assert space['twice'].__module__ is None\nprint(numba.njit(space['twice'])(4))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout == "8\n", done.stderr[-500:]
