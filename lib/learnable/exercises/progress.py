"""Where a learner stands: one small SQLite file in the user's own data directory.

It is keyed by chapter and question, not by path, so that it survives a move or a fresh clone of the book. Every write
is one transaction. A broken or unwritable file never stops a check: the caller gets the reason as text.
"""

import os
import sqlite3
import sys
import time
from contextlib import closing, contextmanager
from pathlib import Path

__all__ = ["Progress", "data_folder", "render"]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS question (
    chapter TEXT NOT NULL, name TEXT NOT NULL, position INTEGER NOT NULL, title TEXT NOT NULL,
    difficulty TEXT NOT NULL, points REAL NOT NULL, PRIMARY KEY (chapter, name));
CREATE TABLE IF NOT EXISTS attempt (
    id INTEGER PRIMARY KEY, chapter TEXT NOT NULL, name TEXT NOT NULL, share REAL NOT NULL, at REAL NOT NULL);
CREATE INDEX IF NOT EXISTS attempt_of ON attempt (chapter, name);
"""


def data_folder():
    """Return the directory for a user's data: ``$LEARNABLE_HOME``, or the place the system sets aside."""
    if os.environ.get("LEARNABLE_HOME"):
        return Path(os.environ["LEARNABLE_HOME"])
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA", Path.home())) / "learnable"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "learnable"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "learnable"


class Progress:
    """The record of all checks a learner has run.

    Parameters
    ----------
    path : path, optional
        The file; by default ``progress.sqlite`` in the user's data directory.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> progress = Progress(Path(folder.name) / "progress.sqlite")
    >>> question = {"title": "A table", "difficulty": "easy", "points": 5}
    >>> progress.register("foundations/demo", {"q1": question, "q2": question})
    >>> progress.record("foundations/demo", "q1", 0.5)
    >>> progress.record("foundations/demo", "q1", 1.0)
    >>> print(render(progress.standing(), ascii_only=True))
    foundations/demo  q1 [x]  q2 [ ]  ##########----------  1 of 2
    """

    def __init__(self, path=None):
        self.path = Path(path) if path else data_folder() / "progress.sqlite"

    @contextmanager
    def _open(self):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(self.path, timeout=10)) as connection, connection:
            connection.executescript(_SCHEMA)
            yield connection

    def register(self, chapter, questions):
        """Remember which questions a chapter has, so that progress can be shown without the book at hand."""
        rows = [
            (chapter, name, position, q["title"], q["difficulty"], q["points"])
            for position, (name, q) in enumerate(questions.items())
        ]
        with self._open() as connection:
            connection.execute("DELETE FROM question WHERE chapter = ?", (chapter,))
            connection.executemany("INSERT INTO question VALUES (?, ?, ?, ?, ?, ?)", rows)

    def record(self, chapter, question, share):
        """Add one run of a check; ``share`` is the part of its cases that passed."""
        with self._open() as connection:
            connection.execute(
                "INSERT INTO attempt (chapter, name, share, at) VALUES (?, ?, ?, ?)",
                (chapter, question, float(share), time.time()),
            )

    def standing(self):
        """Return ``{chapter: [(question, title, best share or None, attempts), ...]}``."""
        if not self.path.exists():
            return {}
        with self._open() as connection:
            rows = connection.execute(
                "SELECT q.chapter, q.name, q.title, MAX(a.share), COUNT(a.id) FROM question q "
                "LEFT JOIN attempt a ON a.chapter = q.chapter AND a.name = q.name "
                "GROUP BY q.chapter, q.name ORDER BY q.chapter, q.position"
            ).fetchall()
        standing = {}
        for chapter, name, title, best, count in rows:
            standing.setdefault(chapter, []).append((name, title, best, count))
        return standing


def render(standing, ascii_only=False, width=20):
    """Draw the standing as text, one line a chapter.

    Parameters
    ----------
    standing : dict
        As `Progress.standing` returns it.
    ascii_only : bool
        For terminals that cannot print more.
    """
    marks = ("[x]", "[/]", "[-]", "[ ]", "#", "-") if ascii_only else ("✓", "◐", "✗", "·", "█", "░")
    done, partly, failed, untouched, full, empty = marks
    margin = max(map(len, standing), default=0)
    lines = []
    for chapter, questions in standing.items():
        cells, solved = [], 0
        for name, _, best, _ in questions:
            solved += best == 1.0
            mark = untouched if best is None else done if best == 1.0 else partly if best > 0 else failed
            cells.append(f"{name} {mark}")
        filled = round(width * solved / len(questions))
        bar = full * filled + empty * (width - filled)
        lines.append(f"{chapter:<{margin}}  {'  '.join(cells)}  {bar}  {solved} of {len(questions)}")
    return "\n".join(lines)
