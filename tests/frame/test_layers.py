"""A broken chapter fails with a message that names the chapter and the cell; excess over a budget fails too."""

import os
import subprocess
import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from tools.project import ROOT


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
                ("claim('x is half', reported='0.5', measured=0.7, source='s')", None),
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


def test_excess_over_the_budget_fails(tmp_path):
    folder = tmp_path / "lectures"
    folder.mkdir()
    write(folder / "slow.ipynb", ("import time\ntime.sleep(0.3)", None))
    plugin = tmp_path / "tight.py"
    plugin.write_text("from tools import budgets\nfrom tools.budgets import *\nbudgets.BUDGETS['lectures/'] = 0.2\n")
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"}
    command = [sys.executable, "-m", "pytest", "--nbval", "--nbval-current-env", "-p", "tight", "lectures/slow.ipynb"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout
    assert "OVER BUDGET" in done.stdout and "lectures/slow.ipynb" in done.stdout


def test_make_help_explains_every_target():
    text = (ROOT / "Makefile").read_text()
    (phony,) = [part for part in text.split(".PHONY:")[1:]]
    targets = phony.split("\n\n")[0].replace("\\\n", " ").split()
    done = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    for target in targets:
        assert f"make {target} " in done.stdout, f"make {target} is not explained"
