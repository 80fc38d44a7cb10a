"""A broken chapter fails with a message that names the chapter and the cell; excess over a budget fails too."""

import os
import subprocess
import sys

import nbformat
import pytest
from jupyter_cache import get_cache
from nbformat.v4 import new_code_cell, new_notebook, new_output

from tools.project import ROOT
from tools.run.dependencies import Dependencies
from tools.run.execution import execute_stale


def run_nbval(path, *options):
    command = [sys.executable, "-m", "pytest", "--nbval", "--nbval-current-env", "-p", "no:cacheprovider", *options]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "LEARNABLE_EXPLORE": "text"}
    done = subprocess.run(
        [*command, path.name], cwd=path.parent, env=environment, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout


def write(path, *cells):
    made = []
    for source, printed in cells:
        cell = new_code_cell(source, execution_count=len(made) + 1)
        if printed is not None:
            cell.outputs = [new_output("stream", name="stdout", text=printed)]
        made.append(cell)
    nbformat.write(new_notebook(cells=made), path)
    return path


@pytest.mark.parametrize(
    ("cells", "named", "why"),
    [
        (
            [("x = 1", None), ("print(x + 1)", "3\n")],
            "my_chapter.ipynb::Cell 1",
            "test_output failed",
        ),
        ([("x = 1", None), ("print(y)", "3\n")], "my_chapter.ipynb::Cell 1", "NameError"),
        (
            [
                ("from learnable.book import claim", None),
                ("claim('x is half', reported='0.5', measured=0.7, source='s', kind='worked')", None),
            ],
            "my_chapter.ipynb::Cell 1",
            "ClaimError",
        ),
    ],
)
def test_broken_chapter_is_named(tmp_path, cells, named, why):
    code, text = run_nbval(write(tmp_path / "my_chapter.ipynb", *cells))
    assert code == 1
    assert named in text
    assert why in text


def run_with_budget(tmp_path, body):
    """Run one unit test of a chapter under a budget of 0.2 s."""
    (tmp_path / "tests" / "part").mkdir(parents=True)
    (tmp_path / "tests/part/test_slow.py").write_text(f"import time\n\n\ndef test_slow():\n    {body}\n")
    (tmp_path / "tight.py").write_text(
        "from tools.check import budgets\nfrom tools.check.budgets import *\nbudgets.UNIT = 0.2\n"
    )
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"}
    command = [sys.executable, "-m", "pytest", "-p", "tight", "tests/part/test_slow.py"]
    return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)


def test_excess_over_the_budget_fails(tmp_path):
    done = run_with_budget(tmp_path, "start = time.process_time()\n    while time.process_time() < start + 4: pass")
    assert done.returncode == 1, done.stdout
    assert "OVER BUDGET" in done.stdout and "tests/part/test_slow.py" in done.stdout


def test_budgets_count_processor_time(tmp_path):
    done = run_with_budget(tmp_path, "time.sleep(1)")
    assert done.returncode == 0, done.stdout


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """A project with one chapter, its run in the cache, and a way to let nbval compare the two."""
    root = tmp_path_factory.mktemp("project")
    (root / "lectures").mkdir()
    page = write(root / "lectures/my_chapter.ipynb", ("x = 1", None), ("print(x + 1)", "2\n"))
    cache = get_cache(str(root / "cache"))
    ran, failures = execute_stale([page], cache, Dependencies(root))
    assert ran == [page] and failures == []
    (root / "here.py").write_text(
        "from pathlib import Path\nfrom jupyter_cache import get_cache\n"
        "from tools.check import budgets\nfrom tools.run import replay\n"
        "from tools.run.replay import *\n"
        f"runs = replay.Runs(Path({str(root)!r}), get_cache({str(root / 'cache')!r}))\nreplay.Runs = lambda: runs\n"
    )

    def compare(*options):
        environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{root}"}
        command = [sys.executable, "-m", "pytest", "--nbval", "-p", "tools.check.budgets", "-p", "here", *options]
        done = subprocess.run(
            [*command, "lectures"], cwd=root, env=environment, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout

    return page, compare


def test_nbval_compares_the_run_of_the_book(executed):
    page, compare = executed
    code, text = compare()
    assert code == 0, text
    assert "2 passed" in text and "lectures/my_chapter.ipynb" in text
    write(page, ("x = 1", None), ("print(x + 1)", "3\n"))
    code, text = compare()
    assert code == 1
    assert "my_chapter.ipynb::Cell 1" in text and "test_output failed" in text


def test_nbval_refuses_a_chapter_that_did_not_run(executed):
    page, compare = executed
    write(page, ("x = 2", None), ("print(x + 1)", "3\n"))
    code, text = compare()
    assert code == 1
    assert "lectures/my_chapter.ipynb has no current run" in text


def test_make_help_explains_every_target():
    text = (ROOT / "Makefile").read_text()
    (phony,) = [part for part in text.split(".PHONY:")[1:]]
    targets = phony.split("\n\n")[0].replace("\\\n", " ").split()
    done = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    for target in targets:
        assert f"make {target} " in done.stdout, f"make {target} is not explained"
