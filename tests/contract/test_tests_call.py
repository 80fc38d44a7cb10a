"""A test that calls nothing of ours tests nothing of ours: every test of a chapter reaches a name of the package."""

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parent.parent
FILES = sorted(
    path for path in TESTS.rglob("test_*.py") if path.parent.name not in ("contract", "exercises", "browser", "frame")
)


OURS = ("learnable", "tools", "benchmarks", "fuzz", "language")


def _used(node):
    """Names that occur in a piece of code: what it may call, and the fixtures that it asks for."""
    names = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
    return names | {inner.arg for inner in ast.walk(node) if isinstance(inner, ast.arg)}


def _beside(tree, folder):
    """Names that a test takes from a helper beside it, and that reach the project there."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            ours, _ = reaching((folder / f"{node.module}.py").read_text(encoding="utf-8"), folder)
            yield from (alias.asname or alias.name for alias in node.names if alias.name in ours)


def idle(source, folder=None):
    """Names of the tests in `source` that reach nothing imported from the project, not even through a helper."""
    ours, defined = reaching(source, folder)
    return [name for name in defined if name.startswith("test_") and name not in ours]


def reaching(source, folder):
    """Names in `source` that reach something imported from the project, and all that it defines."""
    tree = ast.parse(source)
    ours = {
        alias.asname or alias.name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
        if (getattr(node, "module", None) or alias.name).partition(".")[0] in OURS
    } | set(_beside(tree, folder))
    defined = {}
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            defined[node.name] = _used(node)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                defined.update({name: _used(node.value) for name in _used(target)})
    while True:
        reach = {name for name, used in defined.items() if used & ours}
        if reach <= ours:
            break
        ours |= reach
    return ours, defined


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_test_calls_the_project(path):
    found = idle(path.read_text(encoding="utf-8"), path.parent)
    assert not found, f"these call nothing of the package: {', '.join(found)}"


SOURCE = """
from learnable.optim import lasso
K = lasso(1)

def helper():
    return K

def test_a():
    assert lasso(1)

def test_b():
    helper()

def test_c():
    assert 1 + 1 == 2
"""


def test_an_idle_test_is_found():
    assert idle(SOURCE) == ["test_c"]
