"""Who handed in what: the files of a class, as learning platforms write them, one for each student and chapter."""

import os
import re
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path

from .reading import Unreadable, parse_notebook, read_submission
from .wire import clean

__all__ = ["Submitted", "collect", "functions_asked"]

_IGNORED = re.compile(r"^(\.|~\$|__MACOSX|Thumbs\.db$|desktop\.ini$)")
_NOTEBOOKS = (".ipynb", ".zip")
# What the platforms make of a name: hanna_LATE_17_4711_answers, and Anna Maria_123_assignsubmission_file.
_CANVAS = re.compile(r"(?P<name>.+?)(?P<late>_LATE)?_(?P<id>\d+)_\d+_.+")
_MOODLE = re.compile(r"(?P<name>.+?)_(?P<id>\d+)_assignsubmission_.*")
_DEEPEST = 20
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
    """Find out who handed in what: a `Submitted` for each student and chapter, sorted.

    Places are folders or single files. In a folder, a file is the submission of the student it is named after, and a
    sub-folder holds the files of one student; what is in ``skip`` (the tables of an earlier run, say) is no submission.
    ``chapters`` has the names of the functions that each exercise asks for. A file belongs to the chapter that its
    metadata name; if they name none, to the one in its name, or to the one whose functions it defines. One that belongs
    to no chapter is there only if its student has nothing else, and a remark otherwise.
    """
    skip = {os.path.realpath(p) for p in skip}
    found = []
    for place in map(Path, places):
        if not place.exists() and not place.is_symlink():
            raise FileNotFoundError(f"there is no {place}")
        for entry in sorted(place.iterdir()) if place.is_dir() else [place]:
            if place.is_dir() and (_IGNORED.match(entry.name) or os.path.realpath(entry) in skip):
                continue
            is_folder = entry.is_dir() and not entry.is_symlink()
            who = _student(entry.name if is_folder else entry.stem, chapters)
            try:
                found += (
                    _folder_of_student(who, entry, chapters, skip) if is_folder else [_one_file(who, entry, chapters)]
                )
            except (OSError, RuntimeError) as error:  # whatever it is, it costs nobody else a grade
                reason = clean(f"it cannot be read ({type(error).__name__})")
                found.append(Submitted(**who, path=entry, trouble="unreadable", reason=reason))
    return sorted(_choose(found), key=lambda s: (s.student, s.chapter or "", str(s.path)))


def _folder_of_student(who, folder, chapters, skip):
    files = [p for p in sorted(_files_below(folder)) if p.is_file() and os.path.realpath(p) not in skip]
    notebooks = [p for p in files if p.suffix.lower() in _NOTEBOOKS]
    if not notebooks:
        there = ", ".join(_text(p.name) for p in files[:3]) or "nothing"
        reason = f"no notebook in the folder (found: {there})"
        return [Submitted(**who, path=folder, trouble="unreadable", reason=reason)]
    return [_one_file(who, p, chapters) for p in notebooks]


def _files_below(folder):
    """Yield what is in a folder and in the folders in it, to a depth at which nobody keeps a notebook."""
    todo = [(folder, 0)]
    while todo:
        here, depth = todo.pop()
        for entry in here.iterdir():
            if _IGNORED.match(entry.name):
                continue
            if not entry.is_dir() or entry.is_symlink():
                yield entry
            elif depth < _DEEPEST:
                todo.append((entry, depth + 1))


def _student(stem, chapters):
    """Return who a file or folder is from: a name that tells students apart, other names, and remarks.

    Examples
    --------
    >>> _student("hanna_LATE_17_4711_bayes-1", [])
    {'student': 'hanna_17', 'aliases': ('17', 'hanna'), 'remarks': ['handed in late']}
    >>> _student("eve_LATE_19_4711_hanna_17_assignsubmission_file", [])["student"]
    'eve_19'
    >>> _student("doe_bayes_decision_theory-1", ["foundations/bayes_decision_theory"])["student"]
    'doe'
    """
    stem = _text(stem)
    # The platform writes first and the student's own name of the file comes after, whatever it looks like.
    if platforms := [found for pattern in (_MOODLE, _CANVAS) if (found := pattern.fullmatch(stem))]:
        found = min(platforms, key=lambda match: match.start("id"))
        aliases = (found["id"], found["name"], *((f"Participant {found['id']}",) if found.re is _MOODLE else ()))
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
    code = "\n".join(parse_notebook(Path(path).read_bytes()).code)
    return set(re.findall(r"^(?:def|class) (\w+)", code, re.M))
