"""Bundles for a class: notebooks without solutions or hidden tests, and the key that stays with the instructor."""

import json
import secrets
from datetime import date
from pathlib import Path

import learnable
from learnable._files import write_atomically

from ._quick import nbformat
from .masters import Assignment, autograder_zip
from .wheels import build_wheels

__all__ = ["read_key", "release", "write_solutions"]

_README = """# Exercises

{list}

## Before you start

Install Python 3.11 or newer, then, in this folder:

    python -m pip install -r requirements.txt
    jupyter lab

(If you were given an address of a JupyterHub, log in there instead; everything is installed.)

## How it works

Open a notebook, write your code where the three dots are, run the check below it. A check that fails tells you the
case, what was expected and what came, and where to read again; hints unfold one at a time. `learnable progress` shows
how far you are. The checks are examples, and all that this bundle holds: grading uses more cases, which are not in it,
so a ✓ is not yet full points. Write for any input that fits the description.

Hand in the notebook itself. Do not rename functions, and keep the name of the file.
"""


def release(masters, to, seed=None, otter=False, package=None, lectures=()):
    """Make a bundle for students in the new directory ``to`` and the key beside it; return what was made.

    The seed draws the hidden cases, a random one by default. ``otter`` also makes the zips that otter's containers and
    Gradescope take, which hold hidden tests and go beside the key. ``package`` says how students install this package,
    by default from the wheels that are put into the bundle.
    """
    to = Path(to)
    if to.exists() and (not to.is_dir() or any(to.iterdir())):
        raise FileExistsError(f"{to} exists and is not empty; a release goes into a new directory")
    key = to.with_name(f"{to.name}.key.json")
    if key.exists():
        raise FileExistsError(f"{key} is the key of an earlier release; move it away first")
    seed = secrets.randbits(63) if seed is None else int(seed)
    if seed < 0:
        raise ValueError("the seed must not be negative")
    if otter and not package:
        raise ValueError("otter's containers install the package from somewhere: name it with --package")
    assignments = [Assignment.load(path) for path in masters]
    to.mkdir(parents=True, exist_ok=True)
    wheels = [] if package else build_wheels(to, "".join(Path(path).read_text() for path in [*masters, *lectures]))
    package = package or f"./{wheels[0]}[exercises]"
    for assignment in assignments:
        _write_clean(assignment, to / f"{assignment.slug}.ipynb")
        for name, data in assignment.files.items():
            (to / name).write_bytes(data)
    for lecture in lectures:
        target = to / "lectures" / Path(lecture).name
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(Path(lecture).read_bytes())
    listing = "\n".join(f"- [{a.title}]({a.slug}.ipynb), {a.points:g} points" for a in assignments)
    (to / "README.md").write_text(_README.format(list=listing), encoding="utf-8")
    (to / "requirements.txt").write_text(
        "\n".join([package, *(f"./{name}" for name in wheels[1:]), "jupyterlab>=4", ""]), encoding="utf-8"
    )
    document = {
        "made": date.today().isoformat(),
        "learnable": learnable.__version__,
        "seed": seed,
        "chapters": {a.chapter: {"digest": a.digest, "points": a.points} for a in assignments},
    }
    write_atomically(key, json.dumps(document, indent=1) + "\n")
    key.chmod(0o600)
    zips = []
    if otter:
        for assignment in assignments:
            target = to.with_name(f"{to.name}.{assignment.slug}.autograder.zip")
            autograder_zip(assignment, seed, target, [package])
            zips.append(target)
    return {"bundle": to, "key": key, "seed": seed, "zips": zips, "assignments": assignments}


def _write_clean(assignment, path):
    """Write the student's notebook and make sure that nothing of the answers is in it."""
    text = assignment.student_text()
    for marker in ("BEGIN SOLUTION", "hidden=True", "# HIDDEN", "hidden_rng"):
        if marker in text:
            raise ValueError(f"{assignment.path}: {marker!r} is still in the student's notebook; nothing was released")
    path.write_text(text, encoding="utf-8")


def write_solutions(masters, to):
    """Write the worked solutions to ``to``, for after the deadline; return their paths."""
    to = Path(to)
    to.mkdir(parents=True, exist_ok=True)
    paths = []
    for path in masters:
        assignment = Assignment.load(path)
        target = to / f"{assignment.slug}_solution.ipynb"
        if target.exists():
            raise FileExistsError(f"{target} exists; nothing is overwritten")
        nbformat.write(assignment.solution_notebook(), target)
        paths.append(target)
    return paths


def read_key(path):
    """Return the key of a release, with its seed and its chapters."""
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
        if isinstance(document["seed"], int) and isinstance(document["chapters"], dict):
            return document
    except (ValueError, KeyError, TypeError):
        pass
    raise ValueError(f"{path} is not the key of a release")
