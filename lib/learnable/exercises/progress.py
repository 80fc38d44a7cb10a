"""Where a learner stands: one small SQLite file in the user's own data directory.

It is keyed by chapter and question, not by path, so that it survives a move or a fresh clone of the book. Every write
is one transaction. A broken or unwritable file never stops a check: the caller gets the reason as text.
"""

import os
import sqlite3
import time
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import platformdirs

__all__ = ["Progress", "data_folder", "legend", "render"]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS exercise (chapter TEXT PRIMARY KEY, questions TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS attempt (
    id INTEGER PRIMARY KEY, chapter TEXT NOT NULL, name TEXT NOT NULL, share REAL NOT NULL, at REAL NOT NULL);
CREATE TABLE IF NOT EXISTS place (chapter TEXT PRIMARY KEY, path TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS attempt_of ON attempt (chapter, name);
"""
# solved, public checks pass, some pass, none passes, untouched; and the bar
_MARKS = ("✓", "◕", "◐", "✗", "·", "█", "░")
_ASCII = ("[x]", "[+]", "[/]", "[-]", "[ ]", "#", "-")


def data_folder():
    """Return the directory for a user's data: ``$LEARNABLE_HOME``, or the place the system sets aside."""
    return Path(os.environ.get("LEARNABLE_HOME") or platformdirs.user_data_path("learnable", appauthor=False))


class Progress:
    """The record of all checks a learner has run, by default ``progress.sqlite`` in the user's data directory.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> progress = Progress(Path(folder.name) / "progress.sqlite")
    >>> progress.register("foundations/demo", ["q1", "q2"])
    >>> progress.record("foundations/demo", "q1", 1.0, whole=True)
    >>> print(render(progress.standing(), ascii_only=True))
    foundations/demo  q1 [x]  q2 [ ]  ##########----------  1 of 2
    >>> progress.record("foundations/demo", "q1", 0.5)
    >>> print(render(progress.standing(), ascii_only=True))
    foundations/demo  q1 [/]  q2 [ ]  --------------------  0 of 2
    """

    def __init__(self, path=None):
        self.path = Path(path) if path else data_folder() / "progress.sqlite"

    @contextmanager
    def _open(self):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(self.path, timeout=10)) as connection, connection:
            connection.executescript(_SCHEMA)
            with suppress(sqlite3.OperationalError):  # a record of an older version lacks it
                connection.execute("ALTER TABLE attempt ADD COLUMN whole INTEGER NOT NULL DEFAULT 0")
            yield connection

    def register(self, chapter, questions):
        """Remember which questions a chapter has, so that progress can be shown without the book at hand."""
        with self._open() as connection:
            connection.execute("INSERT OR REPLACE INTO exercise VALUES (?, ?)", (chapter, " ".join(questions)))

    def remember(self, chapter, path):
        """Note where the learner's notebook of a chapter is."""
        with self._open() as connection:
            connection.execute("INSERT OR REPLACE INTO place VALUES (?, ?)", (chapter, str(Path(path).resolve())))

    def places(self):
        """Return the notebooks that were started, wherever; some may be gone by now."""
        if not self.path.exists():
            return []
        with self._open() as connection:
            return [Path(path) for (path,) in connection.execute("SELECT path FROM place ORDER BY chapter")]

    def record(self, chapter, question, share, whole=False):
        """Add one run of a check.

        ``share`` is the part of its cases that passed; ``whole`` says whether these were all cases there are, the
        hidden ones too.
        """
        with self._open() as connection:
            connection.execute(
                "INSERT INTO attempt (chapter, name, share, at, whole) VALUES (?, ?, ?, ?, ?)",
                (chapter, question, float(share), time.time(), bool(whole)),
            )

    def standing(self):
        """Return ``{chapter: [(question, share at the last check or None, solved, attempts), ...]}``.

        A question is solved when all its cases passed, the hidden ones too, and no check has failed since.
        """
        if not self.path.exists():
            return {}
        with self._open() as connection:
            exercises = connection.execute("SELECT chapter, questions FROM exercise ORDER BY chapter").fetchall()
            attempts = connection.execute("SELECT chapter, name, share, whole FROM attempt ORDER BY id").fetchall()
        reached, untouched = {}, (None, False, 0)
        for chapter, name, share, whole in attempts:
            _, solved, count = reached.get((chapter, name), untouched)
            reached[chapter, name] = share, share == 1.0 and bool(solved or whole), count + 1
        return {
            chapter: [(name, *reached.get((chapter, name), untouched)) for name in names.split()]
            for chapter, names in exercises
        }


def render(standing, ascii_only=False, width=20):
    """Draw a `Progress.standing` as text, one line a chapter; ``ascii_only`` for terminals that cannot print more."""
    done, public, partly, failed, untouched, full, empty = _ASCII if ascii_only else _MARKS
    margin = max(map(len, standing), default=0)
    lines = []
    for chapter, questions in standing.items():
        cells = []
        for name, share, solved, _ in questions:
            reached = public if share == 1.0 else partly if share else failed
            cells.append(f"{name} {done if solved else untouched if share is None else reached}")
        count = sum(solved for _, _, solved, _ in questions)
        filled = round(width * count / len(questions))
        bar = full * filled + empty * (width - filled)
        lines.append(f"{chapter:<{margin}}  {'  '.join(cells)}  {bar}  {count} of {len(questions)}")
    return "\n".join(lines)


def legend(ascii_only=False):
    """Say what the marks mean."""
    marks = _ASCII if ascii_only else _MARKS
    words = ("solved, hidden cases too", "public checks pass", "some checks pass", "none passes", "not tried")
    return ", ".join(f"{mark} {word}" for mark, word in zip(marks, words, strict=False))
