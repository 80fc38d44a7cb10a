"""What a student's notebook talks to: otter's `Notebook`, with answers that teach.

The tests, their storage in the notebook, the points and the log are otter's. Added here are the words: a failed check
shows the case, what was expected and what came, the section of the lecture to read again, and hints that unfold one
after another; and every check is recorded, so that ``learnable progress`` knows.
"""

import html
import os
import sqlite3
import sys
from pathlib import Path

from ._quick import nbformat

# isort: split
import otter

from .checking import WrongAnswer
from .progress import Progress

__all__ = ["CheckReport", "Notebook", "split_message"]

_STYLE = (
    "border:1px solid {edge};border-left-width:6px;border-radius:6px;padding:.6em 1em;margin:.3em 0;"
    "max-width:52em;line-height:1.45"
)
_CODE = "white-space:pre-wrap;overflow-wrap:anywhere;background:none"
_GREEN, _RED, _GREY = "#0b7a4b", "#b3401f", "#8884"


def split_message(message):
    """Take the message that otter stores for a failed case apart.

    Returns
    -------
    problem : str
    parts : dict
        The labelled lines (case, expected, came, …) in their order.

    Examples
    --------
    >>> split_message("Error at line 3 …\\nWrongAnswer: Too large.\\nCase: f(1)\\nCame: 7")
    ('Too large.', {'Case': 'f(1)', 'Came': '7'})
    >>> split_message("Error at line 3 …\\nTypeError: unsupported operand")[0]
    'The check could not use your answer (TypeError: unsupported operand).'
    """
    _, found, text = message.partition("WrongAnswer: ")
    if not found:
        last = message.strip().split("\n")[-1]
        return f"The check could not use your answer ({last}).", {}
    problem, *lines = text.split("\n")
    parts = {}
    for line in lines:
        label, colon, rest = line.partition(": ")
        if colon and label in WrongAnswer.PARTS:
            parts[label] = rest
    return problem, parts


class CheckReport:
    """The outcome of one check, as text and as HTML."""

    def __init__(self, question, info, cases, note=""):
        self.question, self.info, self.cases, self.note = question, info, cases, note

    @property
    def passed(self):
        """Whether every public case passed."""
        return all(ok for _, ok, _ in self.cases)

    @property
    def share(self):
        """The part of the public cases that passed."""
        return sum(ok for _, ok, _ in self.cases) / len(self.cases)

    def __repr__(self):
        lines = [self._headline()]
        for title, ok, message in self.cases:
            lines.append(f"  {'passed' if ok else 'FAILED'}: {title}")
            if not ok:
                problem, parts = split_message(message)
                lines.append(f"    {problem}")
                lines += [f"    {label + ':':<13}{text}" for label, text in parts.items()]
        if not self.passed:
            lines.append(f"  Read again: {self.info['section']}")
            if self.info["hints"]:
                lines.append(f'  Stuck? grader.hint("{self.question}") gives one hint at a time.')
        if self.note:
            lines.append(f"  ({self.note})")
        return "\n".join(lines)

    def _headline(self):
        count = sum(ok for _, ok, _ in self.cases)
        if self.passed:
            return f"{self.question} passed: all {count} checks. Grading adds cases that you do not see."
        return f"{self.question} is not right yet: {count} of {len(self.cases)} checks pass."

    def _repr_html_(self):
        out = []
        for title, ok, message in self.cases:
            colour, mark = (_GREEN, "✓") if ok else (_RED, "✗")
            out.append(f'<p style="margin:.5em 0 .2em"><b style="color:{colour}">{mark}</b> {html.escape(title)}</p>')
            if not ok:
                out.append(_problem_html(*split_message(message)))
        if not self.passed:
            out.append(f'<p style="margin:.6em 0 .2em">Read again: <em>{html.escape(self.info["section"])}</em></p>')
            out.append(_hints_html(self.info["hints"]))
        if self.note:
            out.append(f'<p style="opacity:.7">{html.escape(self.note)}</p>')
        style = _STYLE.format(edge=_GREEN if self.passed else _RED)
        head = f'<b style="color:{_GREEN if self.passed else _RED}">{html.escape(self._headline())}</b>'
        return f'<div class="learnable-check" style="{style}">{head}{"".join(out)}</div>'


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
        style = _STYLE.format(edge=_GREY)
        label = f"Hint {self.number} of {self.total}"
        return f'<div class="learnable-hint" style="{style}"><b>{label}.</b> {html.escape(self.text)}</div>'


class Notebook(otter.Notebook):
    """The grader object of a student's notebook.

    Parameters
    ----------
    name : str
        The file name of the notebook. If it was renamed, the running notebook is found by itself.
    """

    def __init__(self, name=None, **kwargs):
        path = _find_notebook(name)
        super().__init__(str(path), **kwargs)
        self._info = dict(nbformat.read(path, as_version=4).metadata["learnable"])
        self._hints_given = {}
        self._progress = Progress()
        self._note = self._try(self._progress.register, self.chapter, self.questions)

    @property
    def chapter(self):
        """``part/slug`` of the exercise."""
        return self._info["chapter"]

    @property
    def questions(self):
        """What the notebook knows about each question."""
        return self._info["questions"]

    def check(self, question, global_env=None):
        """Run the public tests of a question against the notebook and say what came of it.

        Parameters
        ----------
        question : str
        global_env : dict, optional
            The namespace to look in; the calling notebook's by default.

        Returns
        -------
        CheckReport
        """
        if question not in self.questions:
            raise ValueError(f"there is no question {question!r}; there are {', '.join(self.questions)}")
        if global_env is None:
            global_env = sys._getframe(1).f_globals
        result = super().check(question, global_env)
        cases = [(_title(r.test_case), r.passed, r.message or "") for r in result.test_case_results]
        report = CheckReport(question, self.questions[question], cases)
        report.note = self._try(self._progress.record, self.chapter, question, report.share)
        return report

    def check_all(self):
        """Run the public tests of every question."""
        env = sys._getframe(1).f_globals
        return CheckAllReport(self.check(question, env) for question in self.questions)

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


def _title(case):
    function = case.body.test_func
    return (function.__doc__ or function.__name__).strip().split("\n")[0]


def _find_notebook(name):
    """Return the path of the running notebook, whatever it is called by now."""
    candidates = [name, os.environ.get("JPY_SESSION_NAME")]
    for candidate in filter(None, candidates):
        if Path(candidate).is_file():
            return Path(candidate)
    here = []
    for path in sorted(Path.cwd().glob("*.ipynb")):
        try:
            if "learnable" in nbformat.read(path, as_version=4).metadata:
                here.append(path)
        except Exception:
            continue
    if len(here) == 1:
        return here[0]
    raise FileNotFoundError(
        f"the exercise {name} is not in {Path.cwd()}. If you renamed it, write its new name into Notebook(...)."
    )


def _problem_html(problem, parts):
    rows = "".join(
        f'<tr><td style="text-align:left;vertical-align:top;opacity:.75;padding:.1em .8em .1em 0;white-space:nowrap">'
        f'{html.escape(label)}</td><td style="text-align:left;padding:.1em 0">'
        f'<code style="{_CODE}">{html.escape(text)}</code></td></tr>'
        for label, text in parts.items()
    )
    return (
        f'<div style="margin:0 0 .4em 1.2em"><b>{html.escape(problem)}</b>'
        f'<table style="margin:.2em 0;border:none">{rows}</table></div>'
    )


def _hints_html(hints):
    """Nest the hints, so that each one has to be asked for."""
    inner = ""
    for number in range(len(hints), 0, -1):
        inner = (
            f'<details style="margin:.2em 0 .2em .2em"><summary style="cursor:pointer">Hint {number} of {len(hints)}'
            f'</summary><p style="margin:.2em 0 .2em 1.2em">{html.escape(hints[number - 1])}</p>{inner}</details>'
        )
    return inner
