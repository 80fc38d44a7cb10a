"""Compiled code that is older than a source it was made from: found by modification times, and dropped.

numba keeps compiled functions beside their module and compiles again when that module's own file has changed. A
function that calls compiled functions of *another* module holds their code too, and numba does not see when that other
module changes: the old code would go on running, without a word.
"""

from __future__ import annotations

import ast
import contextlib
from pathlib import Path

import learnable
from learnable.book.sources import PACKAGE_NAME, Sources

__all__ = ["drop_stale_kernels"]

MARK = "kernels-checked"


def drop_stale_kernels(library=None):
    """Delete what numba has kept of every module that imports, directly or not, a file changed since.

    Costs a look at the files' times when nothing has changed, and parsing the package otherwise.

    Parameters
    ----------
    library : path, optional
        The folder that holds the package; by default that of the running one.

    Returns
    -------
    list of str
        The functions that will be compiled again, as numba names them.

    Examples
    --------
    >>> isinstance(drop_stale_kernels(), list)
    True
    """
    library = Path(learnable.__file__).resolve().parents[1] if library is None else Path(library)
    package = library / PACKAGE_NAME
    times = {path: path.stat().st_mtime_ns for path in package.rglob("*.py") if "__pycache__" not in path.parts}
    mark, told = package / "__pycache__" / MARK, f"{len(times)} {max(times.values(), default=0)}"
    if mark.is_file() and mark.read_text() == told:
        return []
    sources, dropped = Sources(library), []
    for path in times:
        kept = _kept(path)
        if not kept:
            continue
        needed = sources.needed(ast.parse(path.read_text(encoding="utf-8")), path.relative_to(library).parent.parts)
        newest = max(times.get(file, 0) for file in [path, *needed])
        for name, files in kept.items():
            if min(file.stat().st_mtime_ns for file in files) < newest:
                for file in files:
                    file.unlink(missing_ok=True)
                dropped.append(name)
    with contextlib.suppress(OSError):  # a package that nobody may write into keeps no compiled code either
        mark.parent.mkdir(exist_ok=True)
        mark.write_text(told)
    return dropped


def _kept(path):
    """``{function: files}`` that numba keeps of a module: one index and the compiled versions that it lists."""
    found = {}
    for file in sorted((path.parent / "__pycache__").glob(f"{path.stem}.*.nb[ic]")):
        found.setdefault(file.name.split(".py3")[0], []).append(file)
    return found
