"""Read what was handed in: the code of a notebook, however large, broken or nasty the file is."""

import ast
import contextlib
import hashlib
import io
import json
import re
import resource
import subprocess
import sys
import warnings
import zipfile
from dataclasses import dataclass
from pathlib import Path

from .wire import clean

__all__ = ["Parsed", "Unreadable", "definitions", "memory_limit", "names_reached", "parse_notebook", "read_submission"]

LARGEST_FILE = 200 << 20  # with its outputs, which are not looked at
LARGEST_CODE = 2 << 20
_HARMLESS = 4 << 20  # up to this size JSON is read in this process
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_READ = (
    "import sys; sys.path.append(sys.argv[1]); from learnable.exercises.reading import _extract; _extract(sys.argv[2])"
)


class Unreadable(Exception):
    """A file that cannot be taken as a submission; the message says why, for the report."""


@dataclass(frozen=True)
class Parsed:
    """What matters of a notebook: the code, and the chapter its metadata names (or None)."""

    code: list
    chapter: str | None

    def key(self):
        """Identify a submission by its content; saved outputs and the layout of the file do not count."""
        return hashlib.sha256(json.dumps([self.code, self.chapter]).encode()).hexdigest()

    def defines(self, names):
        """Whether the code defines one of the functions or classes in ``names``."""
        return any(node.name in names for node in definitions(self.code))


def definitions(cells):
    """Yield the syntax trees of the functions and classes that code cells define."""
    for source in cells:
        with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            plain = re.sub(r"^([ \t]*)[%!].*", r"\1pass", source, flags=re.M)  # IPython's own commands
            yield from (node for node in ast.parse(plain).body if isinstance(node, _DEFINITIONS))


def names_reached(cells, names):
    """Return the names that functions use, themselves or through other functions that the cells define."""
    used = {}
    for node in definitions(cells):
        found = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        used[node.name] = used.get(node.name, set()) | found
    reached, todo = set(names), list(names)
    while todo:
        new = used.get(todo.pop(), set()) - reached
        reached |= new
        todo += new
    return reached


def read_submission(path):
    """Return the `Parsed` notebook in ``path``, which may be a notebook or a zip that holds one.

    A large file, which is large because of its saved pictures or because somebody is nasty, is read in a process of
    its own with little memory and time.
    """
    path = Path(path)
    if path.is_symlink() or not path.is_file():
        raise Unreadable("not a regular file")
    if path.stat().st_size > LARGEST_FILE:
        raise Unreadable(f"the file has {path.stat().st_size >> 20} MB, more than the {LARGEST_FILE >> 20} MB accepted")
    with open(path, "rb") as file:
        packed = file.read(4) == b"PK\x03\x04" or path.suffix.lower() == ".zip"
    if packed or path.stat().st_size > _HARMLESS:
        # Isolated: the folder that we are in may hold a student's json.py.
        command = [sys.executable, "-I", "-c", _READ, Path(__file__).resolve().parents[2], path]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Unreadable(clean(done.stderr.strip().split("\n")[-1]) or "too large to be read")
        return Parsed(*json.loads(done.stdout))
    return parse_notebook(path.read_bytes())


def _extract(path):
    """Print what matters of a notebook; the body of a process that may use little."""
    resource.setrlimit(resource.RLIMIT_CPU, (30, 30))
    try:
        with memory_limit(2 << 30):
            data = Path(path).read_bytes()
            packed = data[:2] == b"PK" or path[-4:].lower() == ".zip"
            parsed = parse_notebook(_notebook_in_zip(data) if packed else data)
        print(json.dumps([parsed.code, parsed.chapter]))
    except Unreadable as error:
        sys.exit(str(error))
    except MemoryError:
        sys.exit("too large to be read")


@contextlib.contextmanager
def memory_limit(more):
    """Let this process take at most ``more`` bytes of memory in addition, for a while."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    with contextlib.suppress(OSError, ValueError):
        space = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (space + more, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _notebook_in_zip(data):
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = [name for name in archive.namelist() if "__MACOSX" not in name]
            found = [name for name in names if name.lower().endswith(".ipynb")]
            if len(found) != 1:
                raise Unreadable(f"the zip holds {len(found)} notebooks, one is expected")
            with archive.open(found[0]) as file:
                notebook = file.read(LARGEST_FILE + 1)
    except (Unreadable, MemoryError):
        raise
    except Exception as error:
        raise Unreadable(f"not a zip that can be read ({type(error).__name__})") from None
    if len(notebook) > LARGEST_FILE:
        raise Unreadable("the notebook in the zip is too large")
    return notebook


def parse_notebook(data):
    """Return the code cells and the chapter of the notebook in ``data``; `Unreadable` when it is none.

    Read leniently: a notebook that some tool left slightly out of format is graded all the same.
    """
    if not data:
        raise Unreadable("the file is empty")
    try:
        document = json.loads(data.decode("utf-8-sig"))
        if document.get("nbformat", 4) < 4:
            from ._quick import nbformat

            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                document = nbformat.reads(data.decode("utf-8-sig"), as_version=4)
        code = ["".join(c["source"]) for c in document["cells"] if c["cell_type"] == "code"]
        about = document.get("metadata", {}).get("learnable", {})
        chapter = about.get("chapter") if isinstance(about, dict) else None
    except MemoryError:
        raise
    except Exception as error:
        raise Unreadable(f"not a notebook ({_reason(data, error)})") from None
    if sum(map(len, code)) > LARGEST_CODE:
        raise Unreadable(f"the code has more than {LARGEST_CODE >> 20} MB")
    return Parsed(code, clean(chapter, 80) if isinstance(chapter, str) else None)


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
