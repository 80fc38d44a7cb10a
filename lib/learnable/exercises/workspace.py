"""Where the exercises are, and the learner's own copies in ``work/``."""

import contextlib
import difflib
import json
import os
import sqlite3
from pathlib import Path

from .progress import Progress

__all__ = ["Shelf", "UnknownChapter", "about", "find_shelf", "own_notebooks", "start"]


class UnknownChapter(LookupError):
    """A name that no exercise has; the message offers the close ones."""


class Shelf:
    """The exercises of a checkout of the book, whose ``root`` holds ``exercises/`` and ``lectures/``."""

    def __init__(self, root):
        self.root = Path(root)

    def chapters(self):
        """Return the chapters that have an exercise, as ``part/slug``, sorted."""
        return self._names(self.root / "exercises", skip="solutions")

    def masters(self):
        """Return the chapters that have a master."""
        return self._names(self.root / "exercises" / "solutions")

    @staticmethod
    def _names(folder, skip=None):
        found = folder.glob("*/*.ipynb")
        return sorted(f"{p.parent.name}/{p.stem}" for p in found if p.parent.name != skip)

    def exercise(self, chapter):
        """Path of the student's notebook."""
        return self.root / "exercises" / f"{chapter}.ipynb"

    def master(self, chapter):
        """Path of the master."""
        return self.root / "exercises" / "solutions" / f"{chapter}.ipynb"

    def lecture(self, chapter):
        """Path of the lecture."""
        return self.root / "lectures" / f"{chapter}.ipynb"

    def resolve(self, name, among=None):
        """Return the chapter that ``name`` means: ``slug``, ``part/slug`` or a path to its notebook."""
        known = self.chapters() if among is None else among
        wanted = name.strip().strip("/").removesuffix(".ipynb")
        for chapter in known:
            if wanted == chapter or wanted == chapter.partition("/")[2] or wanted.endswith(f"/{chapter}"):
                return chapter
        slugs = {chapter.partition("/")[2]: chapter for chapter in known}
        word = wanted.rpartition("/")[2].lower()
        # Whoever types a piece of a name means it; a slip of the keyboard comes second.
        close = [slug for slug in slugs if word and word in slug] or difflib.get_close_matches(word, slugs, 3, 0.6)
        if close:
            raise UnknownChapter(f"there is no exercise {name!r}. Did you mean {' or '.join(close)}?")
        there = ", ".join(slugs) or "none yet"
        raise UnknownChapter(f"there is no exercise {name!r}. There are: {there}.")


def find_shelf(start=None):
    """Find the book: upwards from ``start``, else where the package was installed from; None if it is not there."""
    here = Path(start or os.getcwd()).resolve()
    candidates = [here, *here.parents, *Path(__file__).resolve().parents]
    if os.environ.get("LEARNABLE_BOOK"):
        candidates.insert(0, Path(os.environ["LEARNABLE_BOOK"]))
    for folder in candidates:
        if (folder / "exercises").is_dir() and (folder / "pyproject.toml").is_file():
            return Shelf(folder)
    return None


def about(path):
    """Return what a student's notebook says about its exercise; empty when it is none."""
    try:
        metadata = json.loads(Path(path).read_text(encoding="utf-8"))["metadata"]["learnable"]
        return metadata if "questions" in metadata else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def own_notebooks(name=None):
    """Return the learner's notebooks that ``name`` (a path, a chapter, None for all) means.

    They are here, where `start` put them last, or in ``work/``.
    """
    if name and Path(name).is_file():
        return [Path(name)]
    shelf = find_shelf()
    slug = (shelf.resolve(name) if shelf else name).rpartition("/")[2] if name else None
    places = sorted(Path.cwd().glob("*.ipynb"))
    with contextlib.suppress(OSError, sqlite3.Error):
        places += Progress().places()
    places += sorted(shelf.root.glob("work/*/*.ipynb")) if shelf else ()
    found = [path for path in places if slug in (None, path.stem) and about(path)]
    if not found:
        raise LookupError(f"there is no notebook of yours to check; `learnable start {slug or 'SLUG'}` makes one")
    return found[:1] if name else list({path.resolve(): path for path in found}.values())


def start(shelf, chapter, target):
    """Copy the exercise and the lecture of a chapter to ``target``, never over a file that is there.

    Returns a list of each copy and whether it is new.
    """
    part, _, slug = chapter.partition("/")
    folder = Path(target) / part
    wanted = [(shelf.exercise(chapter), folder / f"{slug}.ipynb")]
    if shelf.lecture(chapter).exists():
        wanted.append((shelf.lecture(chapter), folder / f"{slug}_lecture.ipynb"))
    folder.mkdir(parents=True, exist_ok=True)
    return [(copy, _place(source.read_bytes(), copy)) for source, copy in wanted]


def _place(data, target):
    """Write a file that does not exist yet, whole or not at all; return whether it was written."""
    try:
        with open(target, "xb") as file:  # fails when somebody was faster
            file.write(data)
    except FileExistsError:
        return False
    except BaseException:
        target.unlink()
        raise
    return True
