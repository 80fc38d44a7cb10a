"""Grade a folder of submissions: collect, grade in parallel, store every result, write the tables.

Results are kept in one SQLite file beside the table, keyed by the content of the submission, everything that decides
a grade (master, grader, libraries, limits) and the seed of the hidden cases. So an interrupted run goes on where it
stopped, a second run grades only what is new, and two identical files are graded once.
"""

import atexit
import contextlib
import csv
import hashlib
import io
import json
import os
import re
import sqlite3
import threading
import time
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from joblib import Parallel, delayed
from tqdm import tqdm

from .confine import Limits
from .grading import (
    Unreadable,
    empty_result,
    fingerprint,
    grade_cells,
    parse_notebook,
    read_submission,
)
from .masters import Assignment
from .session import Nursery, SandboxError

__all__ = ["Gradebook", "Store", "Submitted", "collect", "grade_all"]

_IGNORED = re.compile(r"^(\.|~|__MACOSX|Thumbs\.db$|desktop\.ini$)")
_NOTEBOOKS = (".ipynb", ".zip")


@dataclass
class Submitted:
    """One file that a student handed in for one chapter."""

    student: str
    path: Path
    chapter: str | None = None
    key: str = ""
    unreadable: str = ""
    remarks: list = field(default_factory=list)


def collect(places, chapters, skip=()):
    """Find out who handed in what.

    Parameters
    ----------
    places : sequence of path
        Folders or single files. In a folder, a file is the submission of the student it is named after, and a
        sub-folder holds the files of one student.
    chapters : sequence of str
        What is being graded; a notebook that names none of them is taken for the only one, if there is only one.
    skip : sequence of path
        Files and folders that are not submissions, such as the tables of an earlier run.

    Returns
    -------
    list of Submitted
        Sorted by student and chapter.
    """
    skip = {Path(p).resolve() for p in skip}
    found = []
    for place in map(Path, places):
        if not place.exists() and not place.is_symlink():
            raise FileNotFoundError(f"there is no {place}")
        if place.is_dir():
            for entry in sorted(place.iterdir()):
                if _IGNORED.match(entry.name) or entry.resolve() in skip:
                    continue
                if entry.is_dir() and not entry.is_symlink():
                    found += _folder_of_student(entry, chapters, skip)
                else:
                    found.append(_one_file(_student_name(entry.stem, chapters), entry, chapters))
        else:
            found.append(_one_file(_student_name(place.stem, chapters), place, chapters))
    return sorted(_newest(found), key=lambda s: (s.student, s.chapter or "", str(s.path)))


def _folder_of_student(folder, chapters, skip):
    files = [
        p
        for p in sorted(folder.rglob("*"))
        if p.is_file() and not any(_IGNORED.match(part) for part in p.relative_to(folder).parts)
    ]
    files = [p for p in files if p.resolve() not in skip]
    notebooks = [p for p in files if p.suffix in _NOTEBOOKS]
    if not notebooks:
        there = ", ".join(p.name for p in files[:3]) or "nothing"
        return [Submitted(folder.name, folder, unreadable=f"no notebook in the folder (found: {there})")]
    return [_one_file(folder.name, p, chapters) for p in notebooks]


def _student_name(stem, chapters):
    """Return who a file is from: its name without the name of the chapter.

    Examples
    --------
    >>> _student_name("doejane_101_bayes_decision_theory-1", ["foundations/bayes_decision_theory"])
    'doejane_101'
    >>> _student_name("bayes_decision_theory", ["foundations/bayes_decision_theory"])
    'bayes_decision_theory'
    """
    for chapter in chapters:
        slug = re.escape(chapter.rpartition("/")[2])
        for pattern in (rf"[-_ ]*{slug}([-_ ]?\(?\d+\)?)?$", rf"^{slug}[-_ ]*"):
            rest = re.sub(pattern, "", stem)
            if rest and rest != stem:
                return rest
    return stem


def _one_file(student, path, chapters):
    submitted = Submitted(student, path)
    try:
        data = read_submission(path)
    except Unreadable as error:
        submitted.unreadable = str(error)
        data = b""
    submitted.key = fingerprint(data)
    named = None
    with contextlib.suppress(Unreadable):
        named = parse_notebook(data).chapter
    by_name = [c for c in chapters if c.rpartition("/")[2] in path.stem]
    if named in chapters:
        submitted.chapter = named
    elif len(by_name) == 1:
        submitted.chapter = by_name[0]
    elif len(chapters) == 1:
        submitted.chapter = chapters[0]
    else:
        submitted.unreadable = submitted.unreadable or "it does not say which exercise it is"
    if named and named not in chapters:
        submitted.remarks.append(f"the notebook says it is the exercise {named[:80]!r}")
    return submitted


def _newest(found):
    """Keep one file for each student and chapter: the one changed last."""
    kept = {}
    for submitted in found:
        key = (submitted.student, submitted.chapter)
        other = kept.get(key)
        if other is None:
            kept[key] = submitted
            continue
        newer, older = sorted((submitted, other), key=lambda s: (_changed(s.path), str(s.path)), reverse=True)
        newer.remarks += [*older.remarks, f"{older.path.name} was handed in as well; the newest file counts"]
        kept[key] = newer
    return list(kept.values())


def _changed(path):
    try:
        return path.lstat().st_mtime
    except OSError:
        return 0.0


class Store:
    """Results that survive an interruption: every one is a transaction of its own.

    Parameters
    ----------
    path : path
    """

    def __init__(self, path):
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.connection = sqlite3.connect(self.path, timeout=30)
        self.connection.execute("PRAGMA synchronous = FULL")
        with self.connection:
            self.connection.execute(
                "CREATE TABLE IF NOT EXISTS result (submission TEXT NOT NULL, assignment TEXT NOT NULL, "
                "body TEXT NOT NULL, seconds REAL NOT NULL, graded_at REAL NOT NULL, "
                "PRIMARY KEY (submission, assignment))"
            )

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.connection.close()

    def get(self, submission, assignment):
        """Return a stored result, or None."""
        row = self.connection.execute(
            "SELECT body FROM result WHERE submission = ? AND assignment = ?", (submission, assignment)
        ).fetchone()
        return json.loads(row[0]) if row else None

    def put(self, submission, assignment, result, seconds):
        """Store a result for good."""
        with self.connection:
            self.connection.execute(
                "INSERT OR REPLACE INTO result VALUES (?, ?, ?, ?, ?)",
                (submission, assignment, json.dumps(result), seconds, time.time()),
            )

    def forget(self, submission):
        """Drop what is known about a submission, so that it is graded again."""
        with self.connection:
            self.connection.execute("DELETE FROM result WHERE submission = ?", (submission,))

    def seconds(self):
        """Return the time each stored result took."""
        return [row[0] for row in self.connection.execute("SELECT seconds FROM result")]


@dataclass
class Gradebook:
    """Everything a run of the grader found out.

    Attributes
    ----------
    rows : list of (Submitted, dict)
        Submissions with their results.
    failed : list of (Submitted, str)
        Submissions that the machinery could not grade; they get no grade rather than a wrong one.
    """

    assignments: dict
    rows: list = field(default_factory=list)
    failed: list = field(default_factory=list)
    graded: int = 0
    known: int = 0
    seconds: float = 0.0
    confinement: str = ""

    def students(self):
        """Return ``{student: {chapter: (submitted, result)}}``."""
        table = {}
        for submitted, result in self.rows:
            table.setdefault(submitted.student, {})[result["chapter"]] = (submitted, result)
        return table

    def possible(self):
        """All points of all chapters."""
        return sum(a.points for a in self.assignments.values())


def assignment_key(assignment, seed, limits):
    """Identify what a grade depends on besides the submission."""
    parts = [assignment.chapter, assignment.digest, int(seed), limits.as_dict()]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def limits_for(assignment, changes):
    """Return the limits of an assignment: the defaults, its own settings, then what the instructor says."""
    return Limits(**{**assignment.settings.get("limits", {}), **changes})


def grade_all(submissions, assignments, seed, store, jobs=2, changes=None, masked=(), mode=None):
    """Grade what is not known yet and return the gradebook.

    Parameters
    ----------
    submissions : list of Submitted
    assignments : dict of str to Assignment
    seed : int
    store : Store
    jobs : int
        Processes that grade at the same time.
    changes : dict, optional
        Limits that differ from the defaults.
    masked : sequence of str
        Paths that no submission may see.
    mode : str, optional
        The confinement; the strongest available by default.
    """
    book = Gradebook(assignments)
    limits = {name: limits_for(a, changes or {}) for name, a in assignments.items()}
    keys = {name: assignment_key(a, seed, limits[name]) for name, a in assignments.items()}
    only = next(iter(assignments.values()))
    waiting, todo = {}, []
    for submitted in submissions:
        if submitted.unreadable:
            assignment = assignments.get(submitted.chapter, only)
            result = empty_result(assignment, "unreadable", submitted.unreadable)
            book.rows.append((submitted, result))
            continue
        key = (submitted.key, keys[submitted.chapter])
        result = store.get(*key)
        if result is not None:
            book.known += 1
            book.rows.append((submitted, result))
        elif key in waiting:
            waiting[key].append(submitted)
        else:
            waiting[key] = [submitted]
            todo.append((key, str(submitted.path), submitted.chapter))
    start = time.monotonic()
    if todo:
        sources = {name: str(a.path) for name, a in assignments.items()}
        modules = list(dict.fromkeys(m for a in assignments.values() for m in a.modules))
        bounds = {name: x.as_dict() for name, x in limits.items()}
        setting = (sources, seed, bounds, list(masked), modules, mode, os.getpid())
        run = Parallel(n_jobs=min(jobs, len(todo)), return_as="generator_unordered", pre_dispatch="2*n_jobs")
        outcomes = run(delayed(_grade_in_worker)(key, path, chapter, setting) for key, path, chapter in todo)
        # The bar shows itself on a terminal only.
        with tqdm(outcomes, total=len(todo), desc="grading", unit="submission", disable=None) as bar:
            try:
                for key, result, seconds, trouble, confinement in bar:
                    book.confinement = confinement or book.confinement
                    if trouble:
                        book.failed += [(submitted, trouble) for submitted in waiting.pop(key)]
                        continue
                    store.put(*key, result, seconds)
                    book.graded += 1
                    book.rows += [(submitted, result) for submitted in waiting.pop(key)]
            except BrokenProcessPool as error:
                why = f"a grading process was killed ({type(error).__name__}); run the command again to go on"
                book.failed += [(submitted, why) for group in waiting.values() for submitted in group]
    book.seconds = time.monotonic() - start
    book.rows.sort(key=lambda row: (row[0].student, row[1]["chapter"], str(row[0].path)))
    return book


_worker = {}


def _grade_in_worker(key, path, chapter, setting):
    """Grade one file in a worker process, which keeps its nursery and its masters from task to task."""
    sources, seed, limits, masked, modules, mode, main = setting
    start = time.monotonic()
    identity = json.dumps([sources, modules, mode])
    confinement = ""
    try:
        if _worker.get("identity") != identity or not _worker["nursery"].alive():
            _close_worker()
            _end_with(main)
            _worker["assignments"] = {name: Assignment.load(p) for name, p in sources.items()}
            _worker["nursery"] = Nursery(modules, mode)
            _worker["identity"] = identity
        nursery = _worker["nursery"]
        confinement = nursery.describe()
        assignment = _worker["assignments"][chapter]
        try:
            data = read_submission(path)
            if fingerprint(data) != key[0]:
                raise SandboxError("the file changed while it was graded")
            cells = parse_notebook(data).code
        except Unreadable as error:
            result = empty_result(assignment, "unreadable", str(error))
        else:
            result = grade_cells(cells, assignment, nursery, seed, Limits(**limits[chapter]), masked)
    except SandboxError as error:
        _close_worker()
        return key, None, 0.0, str(error), confinement
    except Exception as error:  # a fault of ours must not cost the others their grades
        return key, None, 0.0, f"internal error, {type(error).__name__}: {error}", confinement
    return key, result, time.monotonic() - start, "", confinement


def _close_worker():
    nursery = _worker.pop("nursery", None)
    _worker.clear()
    if nursery is not None:
        nursery.close()


atexit.register(_close_worker)


def _end_with(main):
    """End this worker when the process that started it is gone (killed, say), instead of grading for nobody."""
    if os.getppid() != main:
        return

    def watch():
        while os.getppid() == main:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def write_atomically(path, text):
    """Write a file so that a reader sees either the old one or the whole new one."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(text, encoding="utf-8", newline="")
    os.replace(temporary, path)


def table(book, roster=None, roster_id=None):
    """Return the grades as rows for a CSV file: a header, then one row a student.

    Parameters
    ----------
    book : Gradebook
    roster : path, optional
        A gradebook exported from the learning platform; its columns come first, untouched, and every student in it gets
        a row, also those who handed in nothing.
    roster_id : str, optional
        The column of the roster that matches the names of the submissions.
    """
    chapters = list(book.assignments)
    columns = ["score", "possible", "percent"]
    for chapter in chapters:
        prefix = "" if len(chapters) == 1 else f"{chapter}:"
        columns += [f"{prefix}{q}" for q in book.assignments[chapter].questions]
    columns += ["status", "remarks"]
    students = book.students()
    rows = {student: _row(book, handed_in) for student, handed_in in students.items()}
    for submitted, trouble in book.failed:
        blank = [""] * (len(columns) - 2)
        rows[submitted.student] = [*blank, "not graded", f"the grader failed: {trouble}"]
    if roster is None:
        return [["student", *columns], *([_safe(s), *r] for s, r in sorted(rows.items()))]
    return _merge(roster, roster_id, columns, rows, book)


def _row(book, handed_in):
    possible = book.possible()
    score = sum(result["score"] for _, result in handed_in.values())
    row = [f"{score:g}", f"{possible:g}", f"{100 * score / possible:.1f}"]
    statuses, remarks = [], []
    for chapter, assignment in book.assignments.items():
        if chapter in handed_in:
            submitted, result = handed_in[chapter]
            row += [f"{q['score']:g}" for q in result["questions"].values()]
            statuses.append(result["status"])
            remarks += [*submitted.remarks, *result["remarks"]]
        else:
            row += ["0"] * len(assignment.questions)
            statuses.append("missing")
            remarks.append(f"nothing handed in for {chapter}")
    worst = next((s for s in ("unreadable", "trouble", "missing", "remarks") if s in statuses), "ok")
    return [*row, worst, _safe("; ".join(remarks))]


def _merge(roster, roster_id, columns, rows, book):
    with open(roster, newline="", encoding="utf-8-sig") as file:
        given = list(csv.reader(file))
    if not given:
        raise ValueError(f"{roster} is empty")
    header, *lines = given
    if roster_id is None:
        guesses = ("SIS Login ID", "ID number", "Username", "username", "Email address", "Email", "ID", "student")
        roster_id = next((g for g in guesses if g in header), None)
    if roster_id not in header:
        raise ValueError(f"name the column of {roster} that identifies students; it has {', '.join(header)}")
    at, seen = header.index(roster_id), set()
    nothing = ["0", f"{book.possible():g}", "0.0", *["0"] * (len(columns) - 5), "missing", "nothing handed in"]
    merged = [[*header, *columns]]
    for line in lines:
        line += [""] * (len(header) - len(line))
        match = _match(line[at], rows)
        seen.add(match)
        merged.append([*line, *(rows[match] if match else nothing)])
    for student in sorted(set(rows) - seen):
        line = [""] * len(header)
        line[at] = _safe(student)
        merged.append([*line, *rows[student][:-1], _safe(f"not in the roster; {rows[student][-1]}".rstrip("; "))])
    return merged


def _match(identifier, rows):
    """Find the submission of a student: the name itself, or a file name that begins or ends with it."""
    identifier = identifier.strip()
    if not identifier:
        return None
    if identifier in rows:
        return identifier
    short = identifier.partition("@")[0]
    pattern = re.compile(rf"(^|[^0-9A-Za-z]){re.escape(short)}($|[^0-9A-Za-z])")
    found = [name for name in rows if name == short or pattern.search(name)]
    return found[0] if len(found) == 1 else None


def _safe(text):
    """Keep a spreadsheet from taking a student's text for a formula.

    Examples
    --------
    >>> _safe("=HYPERLINK(1)")
    "'=HYPERLINK(1)"
    """
    text = " ".join(str(text).split())
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text


def csv_text(rows):
    """Return rows as the text of a CSV file."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def json_text(book, seed):
    """Return everything as JSON, without times, so that two runs over the same files agree byte by byte."""
    document = {
        "seed_is_public": seed == 0,
        "chapters": {
            name: {
                "title": a.title,
                "points": a.points,
                "questions": {q: x.as_dict() for q, x in a.questions.items()},
                "digest": a.digest,
            }
            for name, a in book.assignments.items()
        },
        "submissions": [
            {
                "student": submitted.student,
                "file": submitted.path.name,
                "sha256": submitted.key,
                "remarks": submitted.remarks,
                "result": result,
            }
            for submitted, result in book.rows
        ],
        "not_graded": [{"student": s.student, "file": s.path.name, "reason": why} for s, why in book.failed],
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


@contextlib.contextmanager
def lock(path):
    """Let one grader at a time write to a gradebook; a second one is told so."""
    connection = sqlite3.connect(path, timeout=0, isolation_level=None)
    with closing(connection):
        try:
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError:
            raise SandboxError(f"another grader is at work on {Path(path).stem}") from None
        yield
