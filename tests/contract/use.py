"""Which names of the library are used, told from the sources alone: nothing is imported.

A name is used if a lecture, an exercise, a benchmark, a page of the book, a chapter or the frame refers to it, or if a
used name does. Front doors, ``__all__``, docstrings and tests are no use.
"""

from __future__ import annotations

import ast
import json
import re
from functools import cache

from tools.project import PACKAGE, ROOT

FRAME = ("book", "chapters", "cli", "exercises")


class Module:
    """Top-level names of a module, and what its imports bind."""

    def __init__(self, name, tree):
        self.name, self.defined, self.bound = name, {}, _imports(tree, name)
        for statement in tree.body:
            for top in _names(statement):
                self.defined.setdefault(top, []).append(statement)


def _names(statement):
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return [statement.name]
    targets = getattr(statement, "targets", [getattr(statement, "target", None)])
    stored = [node for target in targets if isinstance(target, ast.AST) for node in ast.walk(target)]
    return [node.id for node in stored if isinstance(node, ast.Name)]


def _imports(tree, name=""):
    """{bound name: (module, name in it or None)} of all imports from the package, at any depth of the code."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            above = name.split(".")[: -node.level] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            if module.startswith("learnable"):
                found.update({alias.asname or alias.name: (module, alias.name) for alias in node.names})
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith("learnable"):
                    bound = (alias.asname, alias.name) if alias.asname else ("learnable", "learnable")
                    found[bound[0]] = (bound[1], None)
    return found


@cache
def modules():
    """{dotted name: Module} of the package; the exports of a stub count as imports of its package."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = Module(name, ast.parse(path.read_text(encoding="utf-8")))
        if (stub := path.with_suffix(".pyi")).exists():
            found[name].bound |= _imports(ast.parse(stub.read_text(encoding="utf-8")), f"{name}.__init__")
    return found


def resolve(module, name, seen=()):
    """(module, name) where a name is defined, (module, None) for a module, None for what is not the package's."""
    home = modules().get(module)
    if home is None or (module, name) in seen:
        return None
    if name is None:
        return module, None
    if name in home.defined:
        return module, name
    if name in home.bound and (found := resolve(*home.bound[name], (*seen, (module, name)))):
        return found
    return (f"{module}.{name}", None) if f"{module}.{name}" in modules() else None


def references(tree, bound, own=None):
    """The names of the package, as (module, name), to which code refers."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            if own and node.id in own.defined:
                yield own.name, node.id
            elif node.id in bound and (target := resolve(*bound[node.id])):
                yield target
        elif isinstance(node, ast.Attribute):
            dotted = ast.unparse(node).split(".") if _is_dotted(node) else []
            target = resolve(*bound[dotted[0]]) if dotted and dotted[0] in bound else None
            for part in dotted[1:]:
                target = resolve(target[0], part) if target and target[1] is None else target
            if target:
                yield target


def _is_dotted(node):
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def outside():
    """Code beside the package that may use it: lectures, masters, benchmarks, pages, tools."""
    for pattern in ("lectures/*/*.ipynb", "exercises/solutions/*/*.ipynb", "book/**/*.ipynb"):
        for path in sorted(ROOT.glob(pattern)):
            cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
            yield path, "\n".join(_plain("".join(c["source"])) for c in cells if c["cell_type"] in ("code", "raw"))
    for folder in ("benchmarks", "tools", "book"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path, path.read_text(encoding="utf-8")
    page = ROOT / "book" / "front_door.rst"
    yield page, "\n".join(re.findall(r"^ *(?:>>>|\.\.\.) ?(.*)$", page.read_text(encoding="utf-8"), re.M))


def _plain(source):
    return "\n".join(
        line for line in source.splitlines() if not line.lstrip().startswith(("%", "!", "# BEGIN", "# END"))
    )


@cache
def used():
    """All (module, name) of the package that are used."""
    edges, pending = {}, []
    for module in modules().values():
        for name, statements in module.defined.items():
            targets = {t for s in statements for t in references(s, module.bound, module)}
            edges[module.name, name] = targets
            if module.name.split(".")[1:2] and module.name.split(".")[1] in FRAME:
                pending += targets
    for _, code in outside():
        try:
            tree = ast.parse(code)
        except SyntaxError:
            trees = [t for line in code.split("\n\n") if (t := _parsed(line))]
            tree = ast.Module([s for t in trees for s in t.body], [])
        pending += references(tree, _imports(tree))
    found = set()
    while pending:
        target = pending.pop()
        if target not in found:
            found.add(target)
            pending += edges.get(target, ())
    return found


def _parsed(code):
    try:
        return ast.parse(code)
    except SyntaxError:
        return None


def unused():
    """Names without underscore at the top of the library's modules that nothing uses, dotted."""
    found = []
    for module in modules().values():
        parts = module.name.split(".")
        if len(parts) > 1 and parts[1] not in (*FRAME, "datasets"):
            for name, statements in module.defined.items():
                public = isinstance(statements[0], (ast.FunctionDef, ast.ClassDef)) and not name.startswith("_")
                if public and (module.name, name) not in used():
                    found.append(f"{module.name}.{name}")
    return found


if __name__ == "__main__":
    print(*unused(), sep="\n")
