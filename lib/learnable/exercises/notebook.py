"""What a student's notebook talks to: otter's `Notebook`, with answers that teach.

The tests, their storage in the notebook and the points are otter's. Added here are the words: a failed check shows the
case, what was expected and what came, the section of the lecture to read again, and hints that unfold one after
another; and every check is recorded, so that ``learnable progress`` knows.
"""

import os
import secrets
import sqlite3
import sys
from functools import cached_property
from pathlib import Path

from . import _quick  # noqa: F401 (or otter imports nbformat slowly)

# isort: split
import otter

from learnable._html import fill, render

from .judging import check_here, has_passed, is_started
from .masters import Assignment
from .progress import Progress
from .report import TEMPLATES, points_text
from .sealing import Seal
from .workspace import about, find_shelf

__all__ = ["NO_HIDDEN", "CheckReport", "Notebook", "exercise_of", "has_book"]

NO_HIDDEN = "these are all checks there are here: grading uses hidden cases, which a bundle does not hold"

_STYLE = (
    "border:1px solid {edge};border-left-width:6px;border-radius:6px;padding:.6em 1em;margin:.3em 0;"
    "max-width:52em;line-height:1.45"
)
_GREEN, _RED, _GREY = "#0b7a4b", "#b3401f", "#8884"


class CheckReport:
    """The outcome of one check (a `judging.question_result`), as text and as HTML."""

    def __init__(self, name, result, hints, note=""):
        self.name, self.result, self.hints, self.note = name, result, hints, note

    @property
    def passed(self):
        """Whether every case passed."""
        return has_passed(self.result)

    @property
    def share(self):
        """The part of the cases that passed."""
        return sum(case["passed"] for case in self.result["cases"]) / len(self.result["cases"])

    @property
    def is_whole(self):
        """Whether hidden cases were among those that ran."""
        return any(case["hidden"] for case in self.result["cases"])

    @property
    def shown(self):
        """The cases that tell something: none before there is an answer."""
        return self.result["cases"] if is_started(self.result) else []

    def __repr__(self):
        lines = [self._headline()]
        for case in self.shown:
            lines.append(f"  {'passed' if case['passed'] else 'FAILED'}: {_title(case)}")
            if not case["passed"]:
                lines.append(f"    {case['problem']}")
                lines += [f"    {label + ':':<13}{text}" for label, text in case["parts"].items()]
        if not self.passed:
            lines.append(f"  Read again: {self.result['section']}")
            if self.hints:
                lines.append(f'  Stuck? grader.hint("{self.name}") gives one hint at a time.')
        return "\n".join([*lines, *(f"  ({note})" for note in self._notes())])

    def _headline(self):
        cases, points = self.result["cases"], f"{points_text(self.result['possible'])} points"
        count = sum(case["passed"] for case in cases)
        if self.is_whole:
            points = f"{points_text(self.result['score'])} of {points}"
        if not is_started(self.result):
            return f"{self.name} ({points}) is not started: nothing is returned yet."
        if not self.passed:
            return f"{self.name} ({points}) is not right yet: {count} of {len(cases)} checks pass."
        more = "hidden cases too." if self.is_whole else "Grading adds cases that you do not see."
        return f"{self.name} ({points}) passed: all {count} checks{',' if self.is_whole else '.'} {more}"

    def _notes(self):
        given = " and ".join(self.result["given"])
        return [note for note in (given and f"judged with the given solution of {given}", self.note) if note]

    def _repr_html_(self):
        colours = {"green": _GREEN, "red": _RED, "style": lambda edge: _STYLE.format(edge=edge)}
        values = {"report": self, "headline": self._headline(), "notes": self._notes(), "title": _title}
        return str(render(TEMPLATES / "check.html", **colours, **values))


def _title(case):
    return f"{case['title']} (hidden)" if case["hidden"] else case["title"]


def has_book(chapter):
    """Whether the book, with the hidden cases of a chapter, is at hand."""
    shelf = find_shelf()
    return shelf is not None and shelf.master(chapter).exists()


def exercise_of(chapter, path):
    """Return the exercise of a chapter, with hidden cases where the book is at hand, else as the notebook holds it."""
    return Assignment.load(find_shelf().master(chapter)) if has_book(chapter) else Assignment.of_student(path)


class CheckAllReport(list):
    """The outcome of all checks."""

    def __repr__(self):
        return "\n\n".join(map(repr, self))

    def _repr_html_(self):
        return "".join(report._repr_html_() for report in self)


class Hint:
    """One hint, and how many there are."""

    def __init__(self, number, total, text):
        self.number, self.total, self.text = number, total, text

    def __repr__(self):
        return f"Hint {self.number} of {self.total}: {self.text}"

    def _repr_html_(self):
        box = (
            '<div class="learnable-hint" style="{{ style }}"><b>Hint {{ number }} of {{ total }}.</b> {{ text }}</div>'
        )
        return str(fill(box, style=_STYLE.format(edge=_GREY), **vars(self)))


class Notebook(otter.Notebook):
    """The grader object of a student's notebook.

    Parameters
    ----------
    name : str
        The file name of the notebook. If it was renamed, the running notebook is found by itself.
    """

    def __init__(self, name=None, **kwargs):
        self._path = _find_notebook(name)
        super().__init__(str(self._path), **kwargs)
        self._public = Assignment.of_student(self._path)
        self._seal(sys._getframe(1).f_globals)
        self._hints_given = {}
        self._progress = Progress()
        self._try(self._progress.register, self.chapter, self._public.questions)

    @property
    def chapter(self):
        """``part/slug`` of the exercise."""
        return self._public.chapter

    @property
    def questions(self):
        """What the notebook knows about each question."""
        return {name: question.as_dict() for name, question in self._public.questions.items()}

    def check(self, question, global_env=None, all=False):
        """Run the tests of a question against the notebook and say what came of it.

        Parameters
        ----------
        question : str
        global_env : dict, optional
            The namespace to look in; the calling notebook's by default.
        all : bool
            Run the hidden cases too, freshly drawn. This needs a copy of the book: a bundle has no hidden cases.

        Returns
        -------
        CheckReport
        """
        if question not in self.questions:
            raise ValueError(f"there is no question {question!r}; there are {', '.join(self.questions)}")
        if global_env is None:
            global_env = sys._getframe(1).f_globals
        assignment = (all and self._with_hidden) or self._public
        self._seal(global_env)
        result = check_here(assignment, question, global_env, secrets.randbits(63))
        report = CheckReport(question, result, self.questions[question]["hints"])
        counts = report.is_whole or not has_book(self.chapter)
        trouble = self._try(self._progress.record, self.chapter, question, report.share, counts)
        report.note = trouble or (NO_HIDDEN if all and not report.is_whole else "")
        return report

    def _seal(self, names):
        """Let the code of the notebook import nothing that the exercise asks for, as in grading."""
        Seal(self._public.sealed, names).close()

    @cached_property
    def _with_hidden(self):
        return exercise_of(self.chapter, self._path)

    def check_all(self, all=False):
        """Run the tests of every question; with ``all`` the hidden cases too."""
        env = sys._getframe(1).f_globals
        return CheckAllReport(self.check(question, env, all) for question in self.questions)

    def hint(self, question):
        """Return the next hint for a question; the last one stays."""
        if question not in self.questions:
            raise ValueError(f"there is no question {question!r}; there are {', '.join(self.questions)}")
        hints = self.questions[question]["hints"]
        if not hints:
            return Hint(0, 0, "there is no hint for this question")
        number = min(self._hints_given.get(question, 0) + 1, len(hints))
        self._hints_given[question] = number
        return Hint(number, len(hints), hints[number - 1])

    @staticmethod
    def _try(action, *args):
        """Do something that must not stop a check; return why it failed, if it did."""
        try:
            action(*args)
        except (OSError, sqlite3.Error) as error:
            return f"progress could not be stored: {error}"
        return ""


def _find_notebook(name):
    """Return the path of the running notebook, whatever it is called by now."""
    candidates = [name, os.environ.get("JPY_SESSION_NAME")]
    for candidate in filter(None, candidates):
        if Path(candidate).is_file():
            return Path(candidate)
    here = [path for path in sorted(Path.cwd().glob("*.ipynb")) if about(path)]
    if len(here) == 1:
        return here[0]
    raise FileNotFoundError(
        f"the exercise {name} is not in {Path.cwd()}. If you renamed it, write its new name into Notebook(...)."
    )
