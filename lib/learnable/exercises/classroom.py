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
import unicodedata
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path

from filelock import FileLock, Timeout
from joblib import Parallel, delayed, parallel_config
from tqdm import tqdm

from .checking import SandboxError
from .confine import Limits, describe
from .grading import Unreadable, empty_result, grade_cells, read_submission
from .masters import Assignment
from .sandbox import Sandbox
from .wire import clean

__all__ = ["Gradebook", "Store", "Submitted", "collect", "grade_all"]

_IGNORED = re.compile(r"^(\.|~\$|__MACOSX|Thumbs\.db$|desktop\.ini$)")
_NOTEBOOKS = (".ipynb", ".zip")
# What the platforms make of a name: hanna_LATE_17_4711_answers, and Anna Maria_123_assignsubmission_file.
_CANVAS = re.compile(r"(?P<name>.+?)(?P<late>_LATE)?_(?P<id>\d+)_\d+_.+")
_MOODLE = re.compile(r"(?P<name>.+)_(?P<id>\d+)_assignsubmission_.*")
_NAMED, _BY_FILE, _BY_CODE, _NOT = 3, 2, 1, 0  # how sure it is that a file belongs to a chapter


@dataclass
class Submitted:
    """One file that a student handed in for one chapter.

    ``aliases`` are the other names under which a roster may know the student; ``trouble`` is empty or says in a word
    why the file is not graded, and ``reason`` in a sentence.
    """

    student: str
    path: Path
    aliases: tuple = ()
    chapter: str | None = None
    key: str = ""
    trouble: str = ""
    reason: str = ""
    sure: int = _NOT
    remarks: list = field(default_factory=list)

    @property
    def file(self):
        """The name of the file, safe to print."""
        return _text(self.path.name)


def _text(name):
    """Return the name of a file as text that can be stored, whatever its bytes are."""
    return clean(unicodedata.normalize("NFC", os.fsencode(name).decode("utf-8", "replace")), 200)


def collect(places, chapters, skip=()):
    """Find out who handed in what.

    Parameters
    ----------
    places : sequence of path
        Folders or single files. In a folder, a file is the submission of the student it is named after, and a
        sub-folder holds the files of one student.
    chapters : dict of str to set of str
        What is being graded, with the names of the functions that each exercise asks for. A file belongs to the chapter
        that its metadata name; if they name none, to the one in its name, or to the one whose functions it defines.
    skip : sequence of path
        Files and folders that are not submissions, such as the tables of an earlier run.

    Returns
    -------
    list of Submitted
        Sorted by student and chapter; one for each student and chapter. A file that belongs to no chapter is there
        only if its student has nothing else, and a remark otherwise.
    """
    skip = {Path(p).resolve() for p in skip}
    found = []
    for place in map(Path, places):
        if not place.exists() and not place.is_symlink():
            raise FileNotFoundError(f"there is no {place}")
        for entry in sorted(place.iterdir()) if place.is_dir() else [place]:
            if place.is_dir() and (_IGNORED.match(entry.name) or entry.resolve() in skip):
                continue
            if entry.is_dir() and not entry.is_symlink():
                found += _folder_of_student(entry, chapters, skip)
            else:
                found.append(_one_file(_student(entry.stem, chapters), entry, chapters))
    return sorted(_choose(found), key=lambda s: (s.student, s.chapter or "", str(s.path)))


def _folder_of_student(folder, chapters, skip):
    inside = [p for p in sorted(folder.rglob("*")) if p.is_file() and p.resolve() not in skip]
    files = [p for p in inside if not any(_IGNORED.match(part) for part in p.relative_to(folder).parts)]
    notebooks = [p for p in files if p.suffix.lower() in _NOTEBOOKS]
    who = _student(folder.name, chapters)
    if not notebooks:
        there = ", ".join(_text(p.name) for p in files[:3]) or "nothing"
        return [
            Submitted(**who, path=folder, trouble="unreadable", reason=f"no notebook in the folder (found: {there})")
        ]
    return [_one_file(who, p, chapters) for p in notebooks]


def _student(stem, chapters):
    """Return who a file or folder is from: a name that tells students apart, other names, and remarks.

    Examples
    --------
    >>> _student("hanna_LATE_17_4711_bayes-1", [])
    {'student': 'hanna_17', 'aliases': ('17', 'hanna'), 'remarks': ['handed in late']}
    >>> _student("doe_bayes_decision_theory-1", ["foundations/bayes_decision_theory"])["student"]
    'doe'
    """
    stem = _text(stem)
    for pattern in (_MOODLE, _CANVAS):
        if found := pattern.fullmatch(stem):
            aliases = (found["id"], found["name"], *((f"Participant {found['id']}",) if pattern is _MOODLE else ()))
            late = ["handed in late"] if found.groupdict().get("late") else []
            return {"student": f"{found['name']}_{found['id']}", "aliases": aliases, "remarks": late}
    for chapter in chapters:
        slug = re.escape(chapter.rpartition("/")[2])
        for pattern in (rf"[-_ ]*{slug}([-_ ]?\(?\d+\)?)?$", rf"^{slug}[-_ ]*"):
            rest = re.sub(pattern, "", stem)
            if rest and rest != stem:
                return {"student": rest, "aliases": (), "remarks": []}
    return {"student": stem, "aliases": (), "remarks": []}


def _one_file(who, path, chapters):
    submitted = Submitted(**{**who, "remarks": list(who["remarks"])}, path=path)
    by_file = [c for c in chapters if c.rpartition("/")[2] in path.stem]
    try:
        parsed = read_submission(path)
    except Unreadable as error:
        submitted.trouble, submitted.reason = "unreadable", str(error)
        submitted.chapter = by_file[0] if len(by_file) == 1 else None
        return submitted
    submitted.key = parsed.key()
    by_code = [c for c, names in chapters.items() if parsed.defines(names)]
    if parsed.chapter in chapters:
        submitted.chapter, submitted.sure = parsed.chapter, _NAMED
    elif parsed.chapter:
        submitted.trouble, submitted.reason = "wrong exercise", f"it is the exercise {parsed.chapter!r}"
    elif len(by_file) == 1:
        submitted.chapter, submitted.sure = by_file[0], _BY_FILE
    elif len(by_code) == 1:
        submitted.chapter, submitted.sure = by_code[0], _BY_CODE
    else:
        submitted.trouble, submitted.reason = "wrong exercise", "it does not say which exercise it is"
    return submitted


def _choose(found):
    """Keep one file for each student and chapter: the one that surely belongs there, of those the one changed last."""
    students = {}
    for submitted in found:
        students.setdefault(submitted.student, []).append(submitted)
    kept = []
    for files in students.values():
        files.sort(key=lambda s: (bool(s.trouble), -s.sure, -_changed(s.path), str(s.path)))
        counted = {}
        for submitted in files:
            if not submitted.trouble and submitted.chapter not in counted:
                counted[submitted.chapter] = submitted
            elif not counted:
                counted[None] = submitted  # nothing better came before
            elif submitted.trouble:
                next(iter(counted.values())).remarks.append(f"{submitted.file} does not count: {submitted.reason}")
            else:
                other = counted[submitted.chapter]
                other.remarks.append(f"{submitted.file} was handed in as well; {other.file} counts")
        kept += counted.values()
    return kept


def _changed(path):
    try:
        return path.lstat().st_mtime
    except OSError:
        return 0.0


def functions_asked(path):
    """Return the names that the student's notebook at ``path`` asks for."""
    names = set()
    for cell in json.loads(Path(path).read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            names |= set(re.findall(r"^(?:def|class) (\w+)", "".join(cell["source"]), re.M))
    return names


class Store:
    """Results that survive an interruption: every one is a transaction of its own.

    Parameters
    ----------
    path : path
    """

    def __init__(self, path):
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.damage = ""
        try:
            self._open()
        except sqlite3.DatabaseError as error:
            self.connection.close()
            aside = self.path.with_name(f"{self.path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}")
            os.replace(self.path, aside)
            self.damage = (
                f"{self.path.name} is damaged ({error}); it was moved to {aside.name}, everything is graded anew"
            )
            self._open()

    def _open(self):
        self.connection = sqlite3.connect(self.path, timeout=30)
        (state,) = self.connection.execute("PRAGMA quick_check").fetchone()
        if state != "ok":
            raise sqlite3.DatabaseError(state)
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
        try:
            return json.loads(row[0]) if row else None
        except ValueError:  # a row that somebody edited
            return None

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


@dataclass
class Gradebook:
    """Everything a run of the grader found out.

    Attributes
    ----------
    rows : list of (Submitted, dict)
        Submissions with their results.
    failed : list of (Submitted, str)
        Submissions that the machinery could not grade; they get no grade rather than a wrong one.
    ambiguous : dict of str to list of str
        Names of the roster that may mean several students, after `table`.
    strangers : list of str
        Students that the roster does not have, after `table`.
    """

    assignments: dict
    rows: list = field(default_factory=list)
    failed: list = field(default_factory=list)
    graded: int = 0
    known: int = 0
    seconds: float = 0.0
    confinement: str = ""
    ambiguous: dict = field(default_factory=dict)
    strangers: list = field(default_factory=list)

    def students(self):
        """Return ``{student: {chapter: (submitted, result)}}``."""
        table = {}
        for submitted, result in self.rows:
            table.setdefault(submitted.student, {})[result["chapter"]] = (submitted, result)
        return table

    def possible(self):
        """All points of all chapters."""
        return sum(a.points for a in self.assignments.values())


def assignment_key(assignment, seed, limits, mode):
    """Identify what a grade depends on besides the submission."""
    parts = [assignment.chapter, assignment.digest, int(seed), limits.as_dict(), mode]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def limits_for(assignment, changes):
    """Return the limits of an assignment: the defaults, its own settings, then what the instructor says."""
    return Limits(**{**assignment.settings.get("limits", {}), **changes})


def grade_all(
    submissions, assignments, seed, store, jobs=2, changes=None, hidden=(), mode="bubblewrap", scheduler=None
):
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
    hidden : sequence of str
        Paths that no submission may see.
    mode : {"bubblewrap", "none"}
        The confinement.
    scheduler : str, optional
        Address of a Dask scheduler, whose workers see the same checkout of the book; then ``jobs`` does not count.
    """
    book = Gradebook(assignments, confinement=describe(mode))
    limits = {name: limits_for(a, changes or {}) for name, a in assignments.items()}
    keys = {name: assignment_key(a, seed, limits[name], mode) for name, a in assignments.items()}
    waiting, todo = {}, []
    for submitted in submissions:
        if submitted.trouble:
            assignment = assignments[submitted.chapter or next(iter(assignments))]
            book.rows.append((submitted, empty_result(assignment, submitted.trouble, submitted.reason)))
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
            todo.append((submitted.chapter, key, submitted.path))
    start = time.monotonic()
    if todo:
        todo.sort()  # a sandbox serves one chapter
        settings = {
            name: (str(a.path), seed, limits[name].as_dict(), [*map(str, hidden), *_sealed_files(a)], mode)
            for name, a in assignments.items()
        }
        main = None if scheduler else os.getpid()
        with _backend(scheduler):
            count = -1 if scheduler else min(jobs, len(todo))
            run = Parallel(n_jobs=count, return_as="generator_unordered", pre_dispatch="2*n_jobs", batch_size=1)
            outcomes = run(delayed(_grade_in_worker)(k, cells_of(p, k[0]), settings[c], main) for c, k, p in todo)
            # The bar shows itself on a terminal only.
            with tqdm(outcomes, total=len(todo), desc="grading", unit="submission", disable=None) as bar:
                try:
                    for key, result, seconds, trouble in bar:
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


@contextlib.contextmanager
def _backend(scheduler):
    """Let joblib use the processes of this machine, or a Dask cluster."""
    if scheduler is None:
        yield
        return
    from distributed import Client

    with Client(scheduler, timeout=20) as client:
        client.wait_for_workers(1, timeout=60)
        with parallel_config(backend="dask"):
            yield


def cells_of(path, key):
    """Return the code of a submission, or None when it is no longer what it was when it was collected."""
    with contextlib.suppress(Unreadable, OSError):
        parsed = read_submission(path)
        return parsed.code if parsed.key() == key else None
    return None


def _sealed_files(assignment):
    """List the files that implement the chapter, with what Python and numba compiled from them."""
    library = Path(__file__).resolve().parents[2]
    for module in assignment.sealed:
        stem = library.joinpath(*module.split("."))
        for folder in (stem.parent, stem.parent / "__pycache__"):
            yield from (str(p) for p in folder.glob(f"{stem.name}*") if p.name.partition(".")[0] == stem.name)


_worker = {}


def _grade_in_worker(key, cells, setting, main):
    """Grade one submission in a worker process, which keeps its sandbox and its master from task to task."""
    master, seed, limits, hidden, mode = setting
    start = time.monotonic()
    try:
        if cells is None:
            raise SandboxError("the file changed while it was graded")
        if _worker.get("setting") != setting:
            _close_worker()
            _end_with(main)
            assignment = Assignment.load(master)
            _worker["sandbox"] = Sandbox(assignment.modules, mode, hidden, limits["disk"])
            _worker["assignment"], _worker["setting"] = assignment, setting
        result = grade_cells(cells, _worker["assignment"], _worker["sandbox"], seed, Limits(**limits))
    except SandboxError as error:
        _close_worker()
        return key, None, 0.0, str(error)
    except Exception as error:  # a fault of ours must not cost the others their grades
        return key, None, 0.0, clean(f"internal error, {type(error).__name__}: {error}")
    return key, result, time.monotonic() - start, ""


def _close_worker():
    sandbox = _worker.pop("sandbox", None)
    _worker.clear()
    if sandbox is not None:
        sandbox.close()


atexit.register(_close_worker)


def _end_with(main):
    """End this worker when the process that started it is gone (killed, say), instead of grading for nobody."""
    if main in (None, os.getpid()):
        return

    def watch():
        while os.getppid() == main:
            time.sleep(0.2)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def write_atomically(path, text):
    """Write a file so that a reader sees either the old one or the whole new one."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(text, encoding="utf-8", errors="replace", newline="")
    os.replace(temporary, path)


def table(book, roster=None, roster_id=None):
    """Return the grades as rows for a CSV file: a header, then one row for each student.

    Parameters
    ----------
    book : Gradebook
    roster : path, optional
        A gradebook exported from the learning platform; its columns come first, untouched, and every student in it gets
        a row, also those who handed in nothing.
    roster_id : str, optional
        The column of the roster that names the students as the submissions do.
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
        rows[submitted.student] = [*blank, "not graded", _safe(f"the grader failed: {trouble}")]
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
            if result["confinement"] == "none":
                remarks.append("graded WITHOUT confinement")
        else:
            row += ["0"] * len(assignment.questions)
            statuses.append("missing")
            remarks.append(f"nothing handed in for {chapter}")
    order = ("unreadable", "wrong exercise", "trouble", "missing", "remarks")
    worst = next((s for s in order if s in statuses), "ok")
    return [*row, worst, _safe("; ".join(remarks))]


def _merge(roster, roster_id, columns, rows, book):
    with open(roster, newline="", encoding="utf-8-sig") as file:
        given = list(csv.reader(file))
    if not given:
        raise ValueError(f"{roster} is empty")
    header, *lines = given
    if roster_id is None:
        guesses = ("SIS Login ID", "Identifier", "ID number", "Username", "username", "Email address", "Email", "ID")
        roster_id = next((g for g in (*guesses, "student") if g in header), None)
    if roster_id not in header:
        raise ValueError(f"name the column of {roster} that identifies students; it has {', '.join(header)}")
    at = header.index(roster_id)
    known = _names(book)
    wanted = [_plain(line[at]) if at < len(line) else "" for line in lines]
    points = f"{book.possible():g}"
    nothing = ["0", points, "0.0", *["0"] * (len(columns) - 5), "missing", "nothing handed in"]
    merged, taken = [[*header, *columns]], set()
    for line, name in zip(lines, wanted, strict=True):
        line += [""] * (len(header) - len(line))
        if line[0].strip() == "Points Possible":  # a row of Canvas that is no student
            merged.append([*line, points, *[""] * (len(columns) - 1)])
            continue
        found = known.get(name, ()) if name else ()
        if len(found) > 1 or (found and wanted.count(name) > 1):
            book.ambiguous[name] = sorted(found)
            why = f"ambiguous: {name} may be {' or '.join(sorted(found))}"
            merged.append([*line, *[""] * (len(columns) - 2), "ambiguous", _safe(why)])
            continue
        taken |= set(found)
        merged.append([*line, *(rows[next(iter(found))] if found else nothing)])
    book.strangers = sorted(set(rows) - taken)
    for student in book.strangers:
        line = [""] * len(header)
        line[at] = _safe(student)
        merged.append([*line, *rows[student][:-1], _safe(f"not in the roster; {rows[student][-1]}".rstrip("; "))])
    return merged


def _names(book):
    """Return the students that each name may mean: their own, and what the platform calls them."""
    known = {}
    for submitted in [s for s, _ in (*book.rows, *book.failed)]:
        for name in (submitted.student, *submitted.aliases):
            known.setdefault(_plain(name), set()).add(submitted.student)
    return known


def _plain(name):
    return unicodedata.normalize("NFC", name).strip()


def _safe(text):
    """Keep a spreadsheet from taking a student's text for a formula, whatever separates its columns.

    Examples
    --------
    >>> _safe("=HYPERLINK(1)"), _safe("x;=cmd"), _safe("＝1")
    ("'=HYPERLINK(1)", "x;'=cmd", "'＝1")
    """
    return re.sub(r"(^|[;,|])([\s\"']*)(?=[=+@\-＝＋－＠﹢﹣﹦﹫])", r"\1\2'", " ".join(clean(text, 5000).split()))


def csv_text(rows):
    """Return rows as the text of a CSV file."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def json_text(book, seed):
    """Return everything as JSON, without times, so that two runs over the same files agree byte by byte."""
    document = {
        "seed_is_public": seed == 0,
        "confinement": book.confinement,
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
                "file": submitted.file,
                "sha256": submitted.key,
                "remarks": submitted.remarks,
                "result": result,
            }
            for submitted, result in book.rows
        ],
        "not_graded": [{"student": s.student, "file": s.file, "reason": why} for s, why in book.failed],
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


@contextlib.contextmanager
def lock(path):
    """Let one grader at a time write to a gradebook; a second one is told so. The file stays, or two could hold it."""
    held = FileLock(path, timeout=0)
    try:
        held.acquire()
    except Timeout:
        raise SandboxError(f"another grader is at work on {Path(path).stem}") from None
    try:
        yield
    finally:
        held.release()
