"""Which files of the package a piece of code needs, found by parsing: nothing is imported."""

from __future__ import annotations

import ast
import hashlib
import json
from functools import cache
from pathlib import Path

__all__ = ["PACKAGE_NAME", "Sources", "code_digest", "sources"]

PACKAGE_NAME = "learnable"


class Sources:
    """The modules below one library folder, the one that holds ``learnable/``."""

    def __init__(self, library):
        self.library = Path(library)
        self._parsed = cache(self._parse)
        self._stubs = cache(_stub)

    def needed(self, tree, package=None, apart=None):
        """Files that the code in ``tree`` imports, directly or through others, in sorted order.

        ``package`` are the names of the packages around the code, for its relative imports. Files below the folder
        ``apart`` are left out, and so is what is imported through them alone.
        """
        pending, found = list(self.imported(tree, package)), set()
        while pending:
            path = pending.pop()
            if path not in found and apart not in path.parents:
                found.add(path)
                pending.extend(self.parse(path)[0])
        return sorted(found)

    def parse(self, path):
        """``(files imported, strings)`` of a module; read again only if the file has changed."""
        return self._parsed(path, _stamp(path))

    def _parse(self, path, stamp):
        imports, named = _facts(path.read_text(encoding="utf-8"))
        package = path.relative_to(self.library).parent.parts
        return tuple(self._resolved(imports, package)), named

    def imports(self, path):
        """Files of the package that a file outside it names in its imports."""
        return set(self._resolved(_facts(path.read_text(encoding="utf-8"))[0], None))

    def imported(self, tree, package=None):
        """Files that the imports in ``tree`` name, with the ``__init__`` of every package above them."""
        return self._resolved(_imports(tree), package)

    def _resolved(self, imports, package):
        for level, base, names in imports:
            if level:
                if package is None:
                    continue
                base = [*package[: len(package) - level + 1], *base]
            yield from self._files(base)
            for name in names:
                home = self.exports(tuple(base)).get(name, [])
                yield from self._files([*base, *home, name])

    def exports(self, package):
        """Where a package's lazy exports live, as its stub says: ``{name: path below the package}``."""
        stub = self.library.joinpath(*package, "__init__.pyi")
        if not package or not stub.is_file():
            return {}
        return self._stubs(stub, _stamp(stub))

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
def _facts(text):
    """Imports and strings of a module; two trees of a project share most texts."""
    tree = ast.parse(text)
    return _imports(tree), strings(tree)


def _imports(tree):
    """``(level, module, names)`` of every import in ``tree``."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(0, alias.name.split("."), ()) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = [] if node.module is None else node.module.split(".")
            found.append((node.level, base, tuple(alias.name for alias in node.names)))
    return found


def _stamp(path):
    """What tells a file from an earlier version of it without reading it."""
    told = path.stat()
    return told.st_mtime_ns, told.st_size


def _stub(path, stamp):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    lines = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    return {alias.name: node.module.split(".") for node in lines for alias in node.names}


sources = cache(Sources)
_digests = {}


def strings(tree):
    """All string constants of a piece of code."""
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def code_digest(path):
    """A hash of the code in a module's file and in all that it imports of the package; comments and docstrings apart.

    ``learnable.book`` is left out with all that it alone imports, because it shows results and does not make them, and
    so is the package's own ``__init__``, which holds the version.
    """
    path = Path(path).resolve()
    stamps, digest = _digests.get(path, ({}, None))
    if digest and all(file.exists() and _stamp(file) == stamp for file, stamp in stamps.items()):
        return digest
    inside = [folder.parent for folder in path.parents if folder.name == PACKAGE_NAME]
    library = inside[0] if inside else Path(__file__).resolve().parents[2]
    tree = ast.parse(path.read_text(encoding="utf-8"))
    package = path.relative_to(library).parent.parts if inside else None
    root, shown = library / PACKAGE_NAME / "__init__.py", library / PACKAGE_NAME / "book"
    needed = [file for file in sources(library).needed(tree, package, apart=shown) if file not in (path, root)]
    told = [["", _meaning(path, _stamp(path))]]
    told += [[file.relative_to(library).as_posix(), _meaning(file, _stamp(file))] for file in needed]
    digest = hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]
    stubs = [file.with_suffix(".pyi") for file in needed if file.with_suffix(".pyi").exists()]
    _digests[path] = {file: _stamp(file) for file in (path, *needed, *stubs)}, digest
    return digest


@cache
def _meaning(path, stamp):
    """A hash of the module as the parser sees it, without docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and ast.get_docstring(
            node
        ):
            del node.body[0]
    return hashlib.sha256(ast.unparse(tree).encode()).hexdigest()
