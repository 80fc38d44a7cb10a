"""Grade the submissions of a class in parallel, and store every result.

Results are kept in one SQLite file beside the table, keyed by the content of the submission, everything that decides
a grade (master, grader, libraries, limits) and the seed of the hidden cases. So an interrupted run goes on where it
stopped, a second run grades only what is new, and two identical files are graded once.
"""

import atexit
import contextlib
import hashlib
import json
import os
import sqlite3
import threading
import time
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass, field
from pathlib import Path

from filelock import FileLock, Timeout
from joblib import Parallel, delayed
from tqdm import tqdm

from learnable._cluster import joblib_backend

from .checking import SandboxError
from .confine import Limits, describe
from .grading import empty_result, grade_cells
from .masters import Assignment
from .reading import Unreadable, read_submission
from .sandbox import Sandbox
from .sealing import sealed_files
from .wire import clean

__all__ = ["Gradebook", "Store", "grade_all", "lock"]


class Store(contextlib.AbstractContextManager):
    """Results that survive an interruption: every one is a transaction of its own."""

    patience = 30  # seconds that another program may hold the file

    def __init__(self, path):
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.damage = ""
        try:
            with self._said():
                self._open()
        except sqlite3.DatabaseError as error:
            self.connection.close()
            aside = self.path.with_name(f"{self.path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}")
            os.replace(self.path, aside)
            self.damage = f"{self.path.name} is damaged ({error}); it is now {aside.name}, everything is graded anew"
            self._open()

    @contextlib.contextmanager
    def _said(self):
        """Tell what hinders the file, such as a full disk or another program: it is not damaged."""
        try:
            yield
        except sqlite3.OperationalError as error:
            said = f"{self.path} cannot be used now ({error}). What is stored there stays; run the same command again."
            raise OSError(said) from None

    def _open(self):
        self.connection = sqlite3.connect(self.path, timeout=self.patience)
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

    def __exit__(self, *exc):
        self.connection.close()

    def get(self, submission, assignment):
        """Return a stored result, or None."""
        with self._said():
            row = self.connection.execute(
                "SELECT body FROM result WHERE submission = ? AND assignment = ?", (submission, assignment)
            ).fetchone()
        try:
            return json.loads(row[0]) if row else None
        except ValueError:  # a row that somebody edited
            return None

    def put(self, submission, assignment, result, seconds):
        """Store a result for good."""
        with self._said(), self.connection:
            self.connection.execute(
                "INSERT OR REPLACE INTO result VALUES (?, ?, ?, ?, ?)",
                (submission, assignment, json.dumps(result), seconds, time.time()),
            )

    def forget(self, submission):
        """Drop what is known about a submission, so that it is graded again."""
        with self._said(), self.connection:
            self.connection.execute("DELETE FROM result WHERE submission = ?", (submission,))


@dataclass
class Gradebook:
    """Everything a run of the grader found out.

    ``rows`` are submissions with their results, ``failed`` those that the machinery could not grade, with the reason:
    they get no grade rather than a wrong one. After `table`, ``ambiguous`` has the names of the roster that may mean
    several students, and ``strangers`` the students that it does not have.
    """

    assignments: dict
    rows: list = field(default_factory=list)
    failed: list = field(default_factory=list)
    graded: int = 0
    known: int = 0
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
    parts = [assignment.chapter, assignment.digest, int(seed), asdict(limits), mode]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def grade_all(
    submissions, assignments, seed, store, jobs=2, changes=None, hidden=(), mode="bubblewrap", scheduler=None
):
    """Grade what is not known yet and return the gradebook.

    ``jobs`` processes grade at the same time, or the workers of the Dask cluster at the address ``scheduler``, which
    see the same checkout of the book. ``changes`` are limits that differ from the defaults, ``hidden`` the paths that
    no submission may see, ``mode`` the confinement.
    """
    book = Gradebook(assignments, confinement=describe(mode))
    limits = {name: Limits(**{**a.limits, **(changes or {})}) for name, a in assignments.items()}
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
    if todo:
        todo.sort()  # a sandbox serves one chapter
        settings = {
            name: (str(a.path), seed, asdict(limits[name]), [*map(str, hidden), *sealed_files(a.sealed)], mode)
            for name, a in assignments.items()
        }
        main = None if scheduler else os.getpid()
        with _safe_path(), joblib_backend(scheduler):
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
    book.rows.sort(key=lambda row: (row[0].student, row[1]["chapter"], str(row[0].path)))
    return book


@contextlib.contextmanager
def _safe_path():
    """Let no process that is started meanwhile import from the folder we are in, which may hold students' files."""
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONSAFEPATH"]


def cells_of(path, key):
    """Return the code of a submission, or None when it is no longer what it was when it was collected."""
    with contextlib.suppress(Unreadable, OSError):
        parsed = read_submission(path)
        return parsed.code if parsed.key() == key else None
    return None


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
            _worker["sandbox"] = Sandbox(assignment.modules, mode, hidden, limits["disk"], assignment.sealed)
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


def lock(path):
    """Let one grader at a time write to a gradebook; a second one is told so. The file stays, or two could hold it."""
    try:
        return FileLock(path, timeout=0).acquire()
    except Timeout:
        raise SandboxError(f"another grader is at work on {Path(path).stem}") from None
