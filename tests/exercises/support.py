"""What the tests of the exercises share: wrong solutions, submissions put together from them, notebooks on disk."""

import functools
import html
import os
from pathlib import Path

import nbformat
from mistakes import read_mistakes

from learnable.exercises.judging import question_result, run_case
from learnable.exercises.masters import Assignment
from learnable.exercises.notebook import CheckReport

ROOT = Path(__file__).resolve().parents[2]
MASTERS = sorted((ROOT / "exercises" / "solutions").glob("*/*.ipynb"))
CHAPTERS = [f"{path.parent.name}/{path.stem}" for path in MASTERS]
BAYES = "foundations/bayes_decision_theory"


@functools.cache
def assignment(chapter):
    """Return the assignment of a chapter, loaded once."""
    return Assignment.load(ROOT / "exercises" / "solutions" / f"{chapter}.ipynb")


def wrong_solutions(chapter):
    """Return the wrong solutions kept for a chapter."""
    patches = Path(__file__).parent / "wrong" / f"{chapter.partition('/')[2]}.diff"
    return read_mistakes(patches.read_text(encoding="utf-8"), assignment(chapter).answers)


def run_cells(cells):
    """Execute cells here and return their namespace; check cells stay silent."""
    names = {"__name__": "__main__"}
    before = os.environ.get("LEARNABLE_GRADING")
    os.environ["LEARNABLE_GRADING"] = "1"
    try:
        for source in cells:
            exec(compile(source, "<cell>", "exec"), names)
    finally:
        if before is None:
            del os.environ["LEARNABLE_GRADING"]
    return names


def run_tests(chapter, question, names, seed=0):
    """Judge a question in this process, as a check does, to the message; return ``{title: (passed, message)}``."""
    given = assignment(chapter)
    cases = [run_case(case, names, seed) for case in given.test_file(question).test_cases]
    report = CheckReport(question, question_result(given.questions[question], cases), given.questions[question].hints)
    text, page = repr(report), html.unescape(report._repr_html_())
    told = {}
    for case in cases:
        parts = [case["problem"], *case["parts"].values()]
        told[case["title"]] = case["passed"], "; ".join([case["outcome"], *parts])
        assert case not in report.shown or all(part in shown for shown in (text, page) for part in parts)
    return told


def submission(chapter, changes=None, extra=()):
    """Return the cells of a perfect submission with changes.

    Parameters
    ----------
    changes : dict of str to str
        For a question, source that is put after its answer cell (and so replaces functions).
    extra : sequence of (int, str)
        Cells to insert, with their position.
    """
    given = assignment(chapter)
    cells = given.cells_of_solution()
    for question, source in (changes or {}).items():
        at = next(i for i, cell in enumerate(cells) if cell.startswith(f'grader.check("{question}")'))
        cells.insert(at, source)
    for position, source in extra:
        cells.insert(position, source)
    return cells


def write_notebook(path, cells, chapter=BAYES):
    """Write cells as a notebook that a student hands in."""
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source) for source in cells],
        metadata=assignment(chapter).student.metadata if chapter else {},
    )
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number}"
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)
    return path
