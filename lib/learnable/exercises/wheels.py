"""The wheels that the site and a bundle for students carry: the package, and its larger data sets in a second one.

The public index has no package of ours, so whoever hands out the book hands out its code as well.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import learnable

__all__ = ["LARGE", "build_wheels", "large_sets", "large_sets_in"]

LARGE = 50_000  # bytes: data sets above that are in the second wheel

_DATA_PROJECT = """\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "learnable-book-data"
version = "{version}"
description = "The larger data sets of Learnable, an executable textbook of statistical learning"
requires-python = ">=3.11"
authors = [{{ name = "The Learnable authors" }}]

[tool.setuptools]
packages = ["learnable_data"]

[tool.setuptools.package-data]
learnable_data = ["*.npz.xz", "LICENCES.md"]
"""


def large_sets():
    """Names of the stored sets that are in the second wheel."""
    folder = Path(learnable.__file__).parent / "datasets" / "data"
    return {path.name.partition(".")[0] for path in folder.glob("*.npz.xz") if path.stat().st_size > LARGE}


def large_sets_in(text):
    """Those of them whose name stands in quotes in a text: code, or a notebook as it is stored."""
    return large_sets().intersection(re.findall(r"""["'](\w+)\\?["']""", text))


def build_wheels(to, text=None):
    """Build both wheels into the folder ``to`` and return their names, that of the package first.

    With a ``text``, the second is built only if the text has the name of one of its sets in quotes.
    """
    to, package = Path(to), Path(learnable.__file__).resolve().parent
    root = package.parents[1]
    if not (root / "pyproject.toml").exists():
        raise ValueError("wheels can be built in a checkout of the book only")
    with tempfile.TemporaryDirectory() as folder:
        code, data = Path(folder) / "code", Path(folder) / "data" / "learnable_data"
        data.mkdir(parents=True)
        code.mkdir()
        for name in ("pyproject.toml", "LICENSE"):
            shutil.copy(root / name, code)
        clutter = shutil.ignore_patterns("__pycache__", "*.egg-info", "*.nbi", "*.nbc")
        shutil.copytree(root / "lib", code / "lib", ignore=clutter)
        stored = code / "lib" / "learnable" / "datasets" / "data"
        for name in large_sets():
            shutil.move(stored / f"{name}.npz.xz", data)
        shutil.copy(stored / "LICENCES.md", data)
        (data / "__init__.py").write_text('"""The larger data sets of `learnable`, which finds them here."""\n')
        project = _DATA_PROJECT.format(version=learnable.__version__)
        (data.parent / "pyproject.toml").write_text(project, encoding="utf-8")
        wheels = [_build(code, to)]
        if text is None or large_sets_in(text):
            wheels.append(_build(data.parent, to))
    return wheels


def _build(project, to):
    """Let pip build the wheel of a project into ``to``; return the wheel's name."""
    with tempfile.TemporaryDirectory() as folder:
        build = [sys.executable, *"-I -m pip wheel --quiet --no-deps --no-build-isolation -w".split(), folder, project]
        done = subprocess.run(build, capture_output=True, text=True, check=False)
        if done.returncode:
            raise ValueError(f"the wheel could not be built: {done.stderr.strip()[-500:]}")
        (wheel,) = Path(folder).glob("*.whl")
        to.mkdir(parents=True, exist_ok=True)
        shutil.move(wheel, to / wheel.name)
    return wheel.name
