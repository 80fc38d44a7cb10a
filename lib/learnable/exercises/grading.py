"""Grade one submission: read the notebook, run it confined, ask it everything, score the answers.

The tests run here, in the trusted process, against plain data that the submission returned; otter counts the points.
Nothing that the submission writes, prints or redefines is read back as a result.
"""

import hashlib
import io
import json
import warnings
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ._quick import nbformat
from .checking import hidden_seed
from .confine import Limits
from .notebook import split_message
from .session import RemoteNames, SandboxError, Session

__all__ = ["Unreadable", "empty_result", "grade_cells", "grade_file", "read_submission"]

LARGEST_FILE = 20 << 20
_FATAL_PER_QUESTION = 2


class Unreadable(Exception):
    """A file that cannot be taken as a submission; the message says why, for the report."""


def read_submission(path):
    """Return the bytes of the notebook in ``path``, which may be a notebook or a zip that holds one.

    Raises
    ------
    Unreadable
    """
    path = Path(path)
    if path.is_symlink() or not path.is_file():
        raise Unreadable("not a regular file")
    if path.stat().st_size > LARGEST_FILE:
        raise Unreadable(f"the file has {path.stat().st_size >> 20} MB, more than the {LARGEST_FILE >> 20} MB accepted")
    data = path.read_bytes()
    if not data:
        raise Unreadable("the file is empty")
    if path.suffix == ".zip" or data[:4] == b"PK\x03\x04":
        return _notebook_in_zip(data)
    return data


def _notebook_in_zip(data):
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            found = [
                entry
                for entry in archive.infolist()
                if entry.filename.endswith(".ipynb") and "__MACOSX" not in entry.filename and not entry.is_dir()
            ]
            if len(found) != 1:
                raise Unreadable(f"the zip holds {len(found)} notebooks, one is expected")
            if found[0].file_size > LARGEST_FILE:
                raise Unreadable("the notebook in the zip is too large")
            with archive.open(found[0]) as file:
                notebook = file.read(LARGEST_FILE + 1)
    except Unreadable:
        raise
    except Exception as error:
        raise Unreadable(f"not a zip that can be read ({type(error).__name__})") from None
    if len(notebook) > LARGEST_FILE:
        raise Unreadable("the notebook in the zip is too large")
    return notebook


@dataclass(frozen=True)
class Parsed:
    """What matters of a notebook: the code, and the chapter its metadata names (or None)."""

    code: list
    chapter: str | None


def parse_notebook(data):
    """Return the code cells and the chapter of the notebook in ``data``; `Unreadable` when it is none.

    Read leniently: a notebook that some tool left slightly out of format is graded all the same.
    """
    try:
        document = json.loads(data.decode("utf-8-sig"))
        if document.get("nbformat", 4) < 4:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                document = nbformat.reads(data.decode("utf-8-sig"), as_version=4)
        code = ["".join(c["source"]) for c in document["cells"] if c["cell_type"] == "code"]
        about = document.get("metadata", {}).get("learnable", {})
        chapter = about.get("chapter") if isinstance(about, dict) else None
    except Exception as error:
        raise Unreadable(f"not a notebook ({_reason(data, error)})") from None
    return Parsed(code, chapter if isinstance(chapter, str) else None)


def _reason(data, error):
    if data[:5] == b"%PDF-":
        return "it is a PDF"
    if data[:2] == b"PK":
        return "it is an office document or archive"
    if isinstance(error, UnicodeDecodeError):
        return "it is not text"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, json.JSONDecodeError):
        return "it is not JSON; was it saved from Jupyter?"
    return "it is JSON, but not in the notebook format"


def fingerprint(data):
    """Return the hash that identifies a submission by content."""
    return hashlib.sha256(data).hexdigest()


def empty_result(assignment, status, remark):
    """Return the result of a submission that could not be run: no points, and the reason."""
    questions = {}
    for name, question in assignment.questions.items():
        cases = [
            {"title": c.name, "hidden": c.hidden, "points": c.points, "passed": False, "problem": remark, "parts": {}}
            for c in assignment.test_file(name).test_cases
        ]
        questions[name] = _question(question, 0.0, cases)
    return _result(assignment, questions, status, [remark], "")


def grade_file(path, assignment, nursery, seed, limits=None, masked=()):
    """Grade the file at ``path``; see `grade_cells`."""
    try:
        cells = parse_notebook(read_submission(path)).code
    except Unreadable as error:
        return empty_result(assignment, "unreadable", str(error))
    return grade_cells(cells, assignment, nursery, seed, limits, masked)


def grade_cells(cells, assignment, nursery, seed, limits=None, masked=()):
    """Grade the code cells of a submission.

    Parameters
    ----------
    cells : sequence of str
    assignment : Assignment
    nursery : Nursery
    seed : int
        Draws the hidden cases.
    limits : Limits, optional
    masked : sequence of str
        Paths that the submission must not see.

    Returns
    -------
    dict
        ``score``, ``possible``, ``status``, ``remarks``, ``output`` and, per question, the cases with verdict and
        message. Plain data; it does not depend on when or where it was graded.
    """
    limits = limits or Limits(**assignment.settings.get("limits", {}))
    questions, trouble = {}, False
    with Session(nursery, cells, limits, assignment.files, masked, assignment.sealed) as session:
        names = RemoteNames(session)
        for name, question in assignment.questions.items():
            file = assignment.test_file(name)
            cases, deaths = [], 0
            # Each case runs on its own, so that a death in one costs that one.
            for case in file.test_cases:
                before = session.fatal_calls
                if deaths >= _FATAL_PER_QUESTION:
                    passed, problem, parts = False, "Not run: the function had ended its process twice before.", {}
                else:
                    passed, problem, parts = _run(file, case, names, seed)
                deaths += session.fatal_calls - before
                cases.append(
                    {
                        "title": case.name,
                        "hidden": case.hidden,
                        "points": case.points,
                        "passed": passed,
                        "problem": problem,
                        "parts": parts,
                    }
                )
            if deaths:
                trouble = True
                session.remark(_first_death(name, cases))
            score = sum(c["points"] for c in cases if c["passed"])
            questions[name] = _question(question, score, cases)
        session.stop()
        trouble = trouble or bool(session.skipped)
        status = "trouble" if trouble else "remarks" if session.remarks else "ok"
        return _result(assignment, questions, status, session.remarks, session.output())


def _run(file, case, names, seed):
    """Run one of otter's test cases; return whether it passed and what it said."""
    file.test_cases, everything = [case], file.test_cases
    try:
        with hidden_seed(seed), np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            file.run(names)
    finally:
        file.test_cases = everything
    (outcome,) = file.test_case_results
    if outcome.passed:
        return True, "", {}
    if "SandboxError: " in outcome.message:
        raise SandboxError(outcome.message.rpartition("SandboxError: ")[2])
    return False, *split_message(outcome.message)


def _first_death(name, cases):
    for case in cases:
        if not case["passed"] and case["problem"].startswith("Your function "):
            text = case["problem"].removeprefix("Your function ").rstrip(".")
            if text.startswith(("ended", "did not finish", "was killed", "crashed", "used up", "aborted", "sent")):
                return f"{name}: the function {text}"
    return f"{name}: the process ended while it was asked"


def _question(question, score, cases):
    return {
        "title": question.title,
        "section": question.section,
        "score": float(score),
        "possible": float(question.points),
        "cases": cases,
    }


def _result(assignment, questions, status, remarks, output):
    return {
        "chapter": assignment.chapter,
        "title": assignment.title,
        "score": round(sum(q["score"] for q in questions.values()), 6),
        "possible": float(assignment.points),
        "status": status,
        "remarks": list(remarks),
        "output": output[-4000:],
        "questions": questions,
    }
