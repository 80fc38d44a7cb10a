"""Master notebooks: from one file, the student's notebook, the tests and the worked solution.

otter-grader does the work: a master is a notebook in the format of ``otter assign`` with exception-based tests. What
this module adds is metadata: the question cells carry a ``title``, a ``difficulty``, the ``section`` of the lecture to
read again and ``hints``, which go into the student's notebook beside otter's tests; ``minutes`` where the estimate from
the answer's length would mislead.
"""

import ast
import contextlib
import hashlib
import importlib.metadata
import io
import json
import logging
import re
import sys
import tempfile
import textwrap
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path

from ._quick import nbformat

# isort: split
import otter.assign
import yaml

from .judging import read_tests
from .report import points_text

__all__ = ["DIFFICULTIES", "Assignment", "Question", "autograder_zip"]

DIFFICULTIES = ("easy", "medium", "hard")
_PACKAGES = ("numpy", "scipy", "otter-grader")
GRADER_VERSION = 3
_LARGEST_DATA = 16 << 20
_WRITE_IT = (
    "**Write it yourself.** What this exercise asks for cannot be imported here, neither while you work on it nor when "
    "it is graded: {}."
)
_BLOCK_MARKER = re.compile(r"^\s*# (BEGIN|END) SOLUTION( NO PROMPT)?\s*$")
_LINE_MARKER = re.compile(r"\s*# ?SOLUTION( NO PROMPT)?\s*$")


@dataclass(frozen=True)
class Question:
    """One question of an exercise."""

    name: str
    title: str
    difficulty: str
    section: str
    points: float
    hints: list = field(default_factory=list)
    minutes: int | None = None

    def as_dict(self):
        """Return what goes into the metadata of the student's notebook."""
        about = asdict(self)
        del about["name"]
        return about


@dataclass
class Assignment:
    """A chapter's exercise, read from its master notebook ``…/solutions/<part>/<slug>.ipynb``."""

    path: Path
    master: dict = field(repr=False)
    student: dict = field(repr=False)
    solved: dict = field(repr=False)
    tests: dict = field(repr=False)
    questions: dict = field(repr=False)
    title: str = ""
    files: dict = field(default_factory=dict, repr=False)

    @classmethod
    def load(cls, path):
        """Run ``otter assign`` on a master, which must have what every exercise has, and collect what it makes."""
        path = Path(path).resolve()
        master = nbformat.read(path, as_version=4)
        with tempfile.TemporaryDirectory() as folder:
            _assign(path, folder)
            made = Path(folder)
            student = nbformat.read(made / "student" / path.name, as_version=4)
            solved = nbformat.read(made / "autograder" / path.name, as_version=4)
            files = _data_beside(made / "student" / path.name)
        tests = dict(solved.metadata["otter"]["tests"])
        questions = _questions(master, tests, path)
        title = _title(master, path)
        self = cls(path, master, student, solved, tests, questions, title, files)
        self._finish_student()
        return self

    @classmethod
    def of_student(cls, path):
        """Read a student's notebook, in a bundle say: the public tests are all there are, and there are no answers."""
        notebook = nbformat.read(path, as_version=4)
        about, tests = notebook.metadata["learnable"], notebook.metadata["otter"]["tests"]
        questions = {name: Question(name, **q) for name, q in about["questions"].items()}
        where = Path(f"{about['chapter']}.ipynb")
        return cls(where, notebook, notebook, notebook, tests, questions, about["title"], _data_beside(path))

    @property
    def slug(self):
        """The last part of the chapter's name."""
        return self.path.stem

    @property
    def chapter(self):
        """``part/slug``."""
        return f"{self.path.parent.name}/{self.path.stem}"

    def as_dict(self):
        """Return what a table of grades tells about the exercise."""
        questions = {name: q.as_dict() for name, q in self.questions.items()}
        return {"title": self.title, "points": self.points, "questions": questions, "digest": self.digest}

    @property
    def points(self):
        """All points there are to earn."""
        return sum(q.points for q in self.questions.values())

    @property
    def settings(self):
        """What the master's metadata says under ``learnable``."""
        return dict(self.master.metadata.get("learnable", {}))

    @property
    def limits(self):
        """The limits that differ from the defaults."""
        return self.settings.get("limits", {})

    @property
    def sealed(self):
        """Modules that a submission may not import: the chapter's own, and those that it teaches."""
        return [f"learnable.chapters.{self.path.stem}", *self.settings.get("sealed", ())]

    @property
    def modules(self):
        """Modules that the student's notebook imports, to be imported once before grading."""
        code = "\n".join(cell.source for cell in self.student.cells if cell.cell_type == "code")
        found = ["numpy", "learnable.exercises.checking", *re.findall(r"^\s*(?:import|from) ([\w.]+)", code, re.M)]
        for package, names in re.findall(r"^\s*from ([\w.]+) import ([\w, ]+)", code, re.M):
            found += [f"{package}.{name.split()[0]}" for name in names.split(",")]  # it may be a module
        return list(dict.fromkeys(m for m in found if not m.startswith("learnable.exercises.N")))

    @cached_property
    def digest(self):
        """Identify everything that decides a grade: the master, the grader and the numerical libraries."""
        state = [
            GRADER_VERSION,
            sys.version_info[:2],
            [importlib.metadata.version(p) for p in _PACKAGES],
            [[c.cell_type, c.source] for c in self.master.cells],
            self.settings,
            sorted((name, hashlib.sha256(data).hexdigest()) for name, data in self.files.items()),
        ]
        return hashlib.sha256(json.dumps(state, sort_keys=True).encode()).hexdigest()

    def test_file(self, question):
        """Return otter's test file of a question, public and hidden cases, ready to run."""
        return read_tests(self.tests[question], self.path)

    def before(self, question):
        """Return the questions before a question."""
        names = list(self.questions)
        return names[: names.index(question)]

    def student_text(self):
        """Return the student's notebook as it is written to disk."""
        return nbformat.writes(self.student) + "\n"

    def solution_notebook(self):
        """Return the worked solution: answers and explanations in, hidden tests out."""
        notebook = _copy(self.solved)
        notebook.metadata = self.student.metadata
        for number, cell in enumerate(notebook.cells):
            cell["id"] = f"solution-{number:03d}"
            cell.metadata.pop("tags", None)
            if cell.cell_type == "code":
                cell.source = _without_markers(cell.source)
                cell.outputs, cell.execution_count = [], None
        return notebook

    @cached_property
    def answers(self):
        """The right answer to each question, as source."""
        return _answers(self.master)

    @cached_property
    def asked(self):
        """The functions and classes that each question asks for."""
        return {q: re.findall(r"^(?:def|class) (\w+)", source, re.M) for q, source in self.answers.items()}

    def cells_of_solution(self):
        """Return the code cells of the worked solution, as a submission would hold them."""
        return [c.source for c in self.solution_notebook().cells if c.cell_type == "code"]

    def _finish_student(self):
        notebook, heading = self.student, None
        title = next(cell for cell in notebook.cells if cell.cell_type == "markdown")
        title.source += "\n\n" + textwrap.fill(_WRITE_IT.format(", ".join(f"`{m}`" for m in self.sealed)), 140)
        for cell in notebook.cells:
            if cell.cell_type == "markdown" and cell.source.startswith("## "):
                heading = cell
            elif found := re.match(r'grader\.check\("(\w+)"\)', cell.source):
                points = self.questions[found[1]].points
                minutes = self.questions[found[1]].minutes
                first, *rest = heading.source.split("\n")
                about = f"{points_text(points)} point{'' if points == 1 else 's'}, about {minutes} minutes"
                heading.source = "\n".join([f"{first} ({about})", *rest])
        for cell in notebook.cells:
            for key in ("editable", "deletable"):
                if key in cell.metadata and cell.cell_type == "code" and not cell.source.startswith("grader."):
                    del cell.metadata[key]
        kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
        otter_part = notebook.metadata["otter"]
        notebook.metadata.clear()
        notebook.metadata.update(
            kernelspec=kernel,
            language_info={"name": "python"},
            learnable={
                "chapter": self.chapter,
                "title": self.title,
                "questions": self.as_dict()["questions"],
                "sealed": self.sealed[1:],
            },
            otter=otter_part,
        )
        # otter gives the cells it adds random identifiers; the position serves as well and stays the same.
        for number, cell in enumerate(notebook.cells):
            cell["id"] = f"{self.slug[:40].replace('_', '-')}-{number:03d}"


def autograder_zip(assignment, seed, target, requirements):
    """Have otter make the zip that its containers and Gradescope take.

    The seed is written into the hidden tests, which run without this grader there; ``requirements`` are what the
    container has to install besides otter.
    """
    with tempfile.TemporaryDirectory() as folder:
        master = Path(folder) / assignment.path.name
        copy = _copy(assignment.master)
        for cell in copy.cells:
            if cell.cell_type == "code":
                cell.source = _fix_seed(cell.source, seed)
            elif cell.cell_type == "raw" and cell.source.startswith("# ASSIGNMENT CONFIG"):
                config = {**yaml.safe_load(cell.source), "requirements": list(requirements), "generate": True}
                cell.source = "# ASSIGNMENT CONFIG\n" + yaml.safe_dump(config)
        nbformat.write(copy, master)
        for name, data in assignment.files.items():
            (Path(folder) / name).write_bytes(data)
        _assign(master, Path(folder) / "made")
        (made,) = (Path(folder) / "made" / "autograder").glob("*.zip")
        target.write_bytes(made.read_bytes())


def _assign(master, folder):
    """Run ``otter assign`` without its chatter on the terminal."""
    logging.getLogger("otter").setLevel(logging.ERROR)
    with contextlib.redirect_stdout(io.StringIO()):
        otter.assign.main(str(master), str(folder), no_pdfs=True, no_run_tests=True)


def _data_beside(path):
    """Return the data files in the folder of a notebook."""
    beside = [f for f in Path(path).parent.iterdir() if f.is_file() and f.suffix not in (".ipynb", ".whl")]
    return {f.name: f.read_bytes() for f in beside if f.stat().st_size < _LARGEST_DATA}


def _copy(notebook):
    return nbformat.reads(nbformat.writes(notebook), as_version=4)


def _raw_config(cell, heading):
    if cell.cell_type == "raw" and cell.source.strip().upper().startswith(heading):
        return yaml.safe_load(cell.source) or {}
    return None


def _answers(master):
    """The right answer to each question of a master, as source."""
    answers, name, inside = {}, None, False
    for cell in master.cells:
        config = _raw_config(cell, "# BEGIN QUESTION")
        name = config["name"] if config else name
        if cell.cell_type == "raw" and cell.source.strip() in ("# BEGIN SOLUTION", "# END SOLUTION"):
            inside = "BEGIN" in cell.source
        elif inside and cell.cell_type == "code":
            answers.setdefault(name, []).append(_without_markers(cell.source))
    return {name: "\n\n\n".join(cells) for name, cells in answers.items()}


def _minutes(difficulty, answer):
    """About how long an answer takes: to find the idea, and a minute for each statement; in steps of five.

    Examples
    --------
    >>> _minutes("easy", "def f(x):\\n    y = x + 1\\n    return y"), _minutes("hard", "def f(x):\\n    return x")
    (5, 15)
    """
    statements = sum(
        isinstance(node, ast.stmt)
        and not isinstance(node, (ast.FunctionDef, ast.ClassDef))
        and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        for node in ast.walk(ast.parse(answer))
    )
    return max(5, 5 * round(({"easy": 4, "medium": 9, "hard": 14}[difficulty] + statements) / 5))


def _questions(master, tests, path):
    questions, answers = {}, _answers(master)
    for cell in master.cells:
        config = _raw_config(cell, "# BEGIN QUESTION")
        if config is None:
            continue
        name = config.get("name", "?")
        missing = [k for k in ("name", "points", "title", "difficulty", "section", "hints") if not config.get(k)]
        if missing:
            raise ValueError(f"{path}: question {name} lacks {', '.join(missing)}")
        if config["difficulty"] not in DIFFICULTIES:
            raise ValueError(f"{path}: question {name}: difficulty is one of {', '.join(DIFFICULTIES)}")
        if name not in tests:
            raise ValueError(f"{path}: question {name} has no tests")
        points = sum(config["points"]) if isinstance(config["points"], list) else config["points"]
        minutes = config.get("minutes") or _minutes(config["difficulty"], answers.get(name, ""))
        about = (config["title"], config["difficulty"], str(config["section"]), points, list(config["hints"]), minutes)
        questions[name] = Question(name, *about)
    if not questions:
        raise ValueError(f"{path}: no questions")
    return questions


def _title(master, path):
    for cell in master.cells:
        if cell.cell_type == "markdown" and (heading := re.match(r"#\s+(.+)", cell.source)):
            return heading[1].strip()
    raise ValueError(f"{path}: the notebook has no title (a first line '# …')")


def _without_markers(source):
    """Take otter's solution markers out of a cell.

    Examples
    --------
    >>> print(_without_markers("x = 1  # SOLUTION\\n# BEGIN SOLUTION\\ny = 2\\n# END SOLUTION"))
    x = 1
    y = 2
    """
    lines = [line for line in source.split("\n") if not _BLOCK_MARKER.match(line)]
    return "\n".join(_LINE_MARKER.sub("", line) for line in lines)


def _fix_seed(source, seed):
    """Write ``seed`` into every call of ``hidden_rng``.

    Examples
    --------
    >>> print(_fix_seed("# HIDDEN\\nrng = hidden_rng('tables')", 7))
    # HIDDEN
    rng = hidden_rng('tables', seed=7)
    """
    fixed, count = re.subn(r"""hidden_rng\(((["'])[^"']*\2)\)""", rf"hidden_rng(\1, seed={int(seed)})", source)
    if count != source.count("hidden_rng("):
        raise ValueError("the tag of hidden_rng is a plain string, or its seed cannot be written in")
    return fixed
