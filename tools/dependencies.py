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

from tools.project import ROOT

PACKAGE_NAME = "learnable"


class Dependencies:
    """Digests of the notebooks of one project tree."""

    def __init__(self, root=ROOT):
        self.root = Path(root)
        self.library = self.root / "lib"
        self._direct = lru_cache(maxsize=None)(self._parse_module)
        self._hash_file = lru_cache(maxsize=None)(lambda path: hashlib.sha256(path.read_bytes()).hexdigest())

    def modules(self, notebook):
        """Files of the package that ``notebook`` imports, transitively, in sorted order."""
        tree = ast.parse(_code(notebook))
        pending = list(self._imported_files(tree, package=None))
        found = set()
        while pending:
            path = pending.pop()
            if path not in found:
                found.add(path)
                pending.extend(self._direct(path)[0])
        return sorted(found)

    def data(self, notebook):
        """Data files whose name stands as a string in the notebook or in a module that it imports."""
        folder = self.library / PACKAGE_NAME / "datasets" / "data"
        named = _strings(ast.parse(_code(notebook)))
        for path in self.modules(notebook):
            if "datasets" not in path.relative_to(self.library).parts:
                named |= self._direct(path)[1]
        files = folder.rglob("*") if folder.is_dir() else ()
        return sorted(path for path in files if path.is_file() and path.name.split(".")[0] in named)

    def digest(self, notebook):
        """One hash of everything that the outputs depend on and the cells do not show."""
        parts = []
        for path in [*self.modules(notebook), *self.data(notebook)]:
            parts.append([path.relative_to(self.root).as_posix(), self._hash_file(path)])
        pins = self.root / "requirements.txt"
        if pins.exists():
            parts.append(["requirements.txt", self._hash_file(pins)])
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def _parse_module(self, path):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        package = path.relative_to(self.library).parent.parts
        return tuple(self._imported_files(tree, package)), _strings(tree)

    def _imported_files(self, tree, package):
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield from self._files(alias.name.split("."))
            elif isinstance(node, ast.ImportFrom):
                base = [] if node.module is None else node.module.split(".")
                if node.level:
                    if package is None:
                        continue
                    base = [*package[: len(package) - node.level + 1], *base]
                yield from self._files(base)
                for alias in node.names:
                    yield from self._files([*base, alias.name])

    def _files(self, dotted):
        """The module's own file and the ``__init__`` of every package above it."""
        if not dotted or dotted[0] != PACKAGE_NAME:
            return
        for depth in range(1, len(dotted) + 1):
            place = self.library.joinpath(*dotted[:depth])
            for path in (place / "__init__.py", place.with_name(place.name + ".py")):
                if path.is_file():
                    yield path


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


def _strings(tree):
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
