"""What a notebook's outputs depend on besides its cells: package modules, data and pins, as one digest.

jupyter-cache recognises a notebook by its code cells alone. If a constant changes in a module of the package, the cells
are the same and the old outputs would be served. The digest closes that gap: it covers the source of every module of
``learnable`` that the notebook imports, directly or through other modules, the data files that are named in that code,
and the pinned versions. Nothing is imported to find this out; the sources are parsed.
"""

from __future__ import annotations

import ast
import hashlib
import json
from functools import cache, lru_cache
from pathlib import Path

from learnable.book.sources import PACKAGE_NAME, sources, strings
from tools.project import ROOT


class Dependencies:
    """Digests of the notebooks of one project tree."""

    def __init__(self, root=ROOT):
        self.root = Path(root)
        self.library = self.root / "lib"
        self._sources = sources(self.library)
        self._needed = cache(lambda code: self._sources.needed(ast.parse(code)))
        self._digest = cache(self._digest)
        self.imports = cache(self.imports)
        self._hash_file = lru_cache(maxsize=None)(lambda path: hashlib.sha256(path.read_bytes()).hexdigest())

    def modules(self, notebook):
        """Files of the package that ``notebook`` imports, transitively, in sorted order."""
        return self._needed(_code(notebook))

    def imports(self, path):
        """Files of the package that a Python file outside it names in its imports."""
        return self._sources.imports(path)

    def data(self, notebook):
        """Data sets that the notebook or its modules name as strings, stored results of its studies, templates."""
        return self._data(_code(notebook))

    def _data(self, code):
        folder = self.library / PACKAGE_NAME / "datasets" / "data"
        named = strings(ast.parse(code))
        studies, templates = [], []
        for path in self._needed(code):
            if "datasets" not in path.relative_to(self.library).parts:
                named |= self._sources.parse(path)[1]
            if path.name == "experiments.py":
                studies += path.parent.glob("results.json")
            templates += (path.parent / "templates").glob("*")
        files = folder.rglob("*") if folder.is_dir() else ()
        stored = [path for path in files if path.is_file() and path.name.split(".")[0] in named]
        return sorted({*stored, *studies, *templates})

    def digest(self, notebook):
        """One hash of everything that the outputs depend on and the cells do not show."""
        return self._digest(_code(notebook))

    def _digest(self, code):
        parts = []
        for path in [*self._needed(code), *self._data(code)]:
            parts.append([path.relative_to(self.root).as_posix(), self._hash_file(path)])
        pins = self.root / "requirements.txt"
        if pins.exists():
            parts.append(["requirements.txt", self._hash_file(pins)])
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@cache
def shared_dependencies(root=ROOT):
    """The digests of one build: every module is parsed once, by whoever asks first."""
    return Dependencies(root)


def _code(notebook):
    """Python of a notebook's code cells, without IPython's magic and shell lines."""
    if isinstance(notebook, (str, Path)):
        notebook = json.loads(Path(notebook).read_text(encoding="utf-8"))
    lines = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            lines += [line for line in "".join(cell["source"]).splitlines() if not line.lstrip().startswith(("%", "!"))]
    return "\n".join(lines)
