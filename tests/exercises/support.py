"""What the tests of the exercises share: wrong solutions, submissions put together from them, notebooks on disk."""

import functools
import importlib.util
import inspect
import os
import textwrap
from dataclasses import dataclass
from pathlib import Path

import nbformat
from mistakes import read_mistakes

from learnable.exercises.checking import hidden_seed
from learnable.exercises.masters import Assignment

ROOT = Path(__file__).resolve().parents[2]
MASTERS = sorted((ROOT / "exercises" / "solutions").glob("*/*.ipynb"))
CHAPTERS = [f"{path.parent.name}/{path.stem}" for path in MASTERS]
BAYES = "foundations/bayes_decision_theory"


@dataclass(frozen=True)
class Wrong:
    """A plausible wrong solution: what it replaces, and which cases must notice."""

    question: str
    name: str
    story: str
    functions: dict
    fails: tuple

    @property
    def source(self):
        """The wrong functions as a student would have typed them."""
        return "\n\n".join(textwrap.dedent(inspect.getsource(f)) for f in self.functions.values())


def wrong(question, fails):
    """Mark a function that returns the wrong functions of one mistake, ``locals()`` style.

    Parameters
    ----------
    question : str
    fails : str or sequence of str
        The titles of the cases that must fail.
    """

    def mark(make):
        functions = make()
        return Wrong(
            question,
            make.__name__,
            (make.__doc__ or "").strip(),
            functions,
            (fails,) if isinstance(fails, str) else tuple(fails),
        )

    return mark


@functools.cache
def assignment(chapter):
    """Return the assignment of a chapter, loaded once."""
    return Assignment.load(ROOT / "exercises" / "solutions" / f"{chapter}.ipynb")


def wrong_solutions(chapter):
    """Return the wrong solutions kept for a chapter: patches, or functions where they are not patches yet."""
    patches = Path(__file__).parent / "wrong" / f"{chapter.partition('/')[2]}.diff"
    if patches.exists():
        return read_mistakes(patches.read_text(encoding="utf-8"), assignment(chapter).answers)
    path = Path(__file__).parent / "wrong" / f"{chapter.partition('/')[2]}.py"
    spec = importlib.util.spec_from_file_location(f"wrong_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [value for value in vars(module).values() if isinstance(value, Wrong)]


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
    """Run a question's cases in this process; return ``{title: (passed, message)}``."""
    file = assignment(chapter).test_file(question)
    with hidden_seed(seed):
        file.run(names)
    return {r.test_case.name: (r.passed, r.message) for r in file.test_case_results}


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
