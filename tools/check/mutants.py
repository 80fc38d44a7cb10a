"""Plant small errors in a chapter's code, one at a time, and see whether its tests notice.

    python -m tools.check.mutants SLUG [--count 10] [--seed 0] [--only TEXT]

Every mutant changes one sign, comparison, factor, index or bound of a computing line. It is planted in a throw-away
copy of the project, where the chapter's unit tests run until the first of them fails. What survives is printed with its
line: either the change makes no difference to any result, or no test looks there.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from learnable.book.compiled import drop_stale_kernels
from tools.check.chapter_test import tests_of
from tools.project import ROOT, chapters
from tools.run.dependencies import Dependencies
from tools.run.environment import FIXED

LIMIT = 300  # seconds until a mutant that never ends counts as noticed
LEFT_OUT = (".git", ".venv", ".venv-bench", "_build", "work", ".pytest_cache", ".ruff_cache")
SWAPS = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*"}
TURNED = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "=="}
NAMES = {"min": "max", "max": "min", "argmin": "argmax", "argmax": "argmin", "minimum": "maximum", "maximum": "minimum"}


@dataclass(frozen=True)
class Mutant:
    """One change of one line: columns ``start`` to ``end`` become ``text``."""

    path: Path
    line: int
    start: int
    end: int
    text: str

    def apply(self, code):
        lines = code.splitlines(keepends=True)
        old = lines[self.line - 1].encode()
        lines[self.line - 1] = (old[: self.start] + self.text.encode() + old[self.end :]).decode()
        return "".join(lines)


def find_mutants(path):
    """All changes that can be made to the computing lines of a module, those of checks and messages apart."""
    code = path.read_text(encoding="utf-8")
    lines = [line.encode() for line in code.splitlines()]
    return [mutant for node in _computing(ast.parse(code)) for mutant in _changes(path, node, lines)]


def _computing(tree):
    """Nodes inside functions, without defaults, decorators, raising branches, checks, warnings and messages."""
    pending = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    seen = set()
    while pending:
        node = pending.pop()
        children = node.body if isinstance(node, ast.FunctionDef) else list(ast.iter_child_nodes(node))
        for child in children:
            if id(child) not in seen and not _is_door(child):
                seen.add(id(child))
                yield child
                pending.append(child)


def _is_door(node):
    if isinstance(node, (ast.Raise, ast.Assert, ast.JoinedStr, ast.FunctionDef, ast.ClassDef, ast.arguments)):
        return True
    if isinstance(node, ast.If) and any(isinstance(child, ast.Raise) for child in ast.walk(node)):
        return True
    if isinstance(node, ast.Call):
        name = ast.unparse(node.func).split(".")[-1]
        return name.startswith(("check", "warn", "validate", "_check", "_warn"))
    return False


def _changes(path, node, lines):
    if isinstance(node, ast.BinOp) and type(node.op) in SWAPS:
        yield from _between(path, node.left, node.right, SWAPS[type(node.op)], lines)
    elif isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in TURNED:
        yield from _between(path, node.left, node.comparators[0], TURNED[type(node.ops[0])], lines)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and node.lineno == node.operand.lineno:
        yield Mutant(path, node.lineno, node.col_offset, node.operand.col_offset, "+")
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float) and 1e-3 < abs(node.value) < 1e3:
        yield Mutant(path, node.lineno, node.col_offset, node.end_col_offset, repr(node.value + 1))
    elif isinstance(node, (ast.Name, ast.Attribute)):
        name = node.id if isinstance(node, ast.Name) else node.attr
        if name in NAMES and node.lineno == node.end_lineno:
            yield Mutant(path, node.lineno, node.end_col_offset - len(name), node.end_col_offset, NAMES[name])


def _between(path, left, right, text, lines):
    """The operator between two operands that stand on one line; a parenthesis on either side is left as it is."""
    if left.end_lineno != right.lineno:
        return
    gap = lines[left.end_lineno - 1][left.end_col_offset : right.col_offset]
    bare = gap.strip(b" ()")
    if bare:
        start = left.end_col_offset + gap.index(bare)
        yield Mutant(path, left.end_lineno, start, start + len(bare), text)


def choose(slug, count, seed, only=""):
    """``count`` changes in a chapter and in what it teaches, at most one for each line, none in experiments."""
    chapter = next((chapter for chapter in chapters() if chapter.slug == slug), None)
    if chapter is None:
        raise SystemExit(f"no chapter {slug!r}")
    places = [chapter.code, *chapter.methods]
    modules = [path for place in places for path in (sorted(place.glob("*.py")) if place.is_dir() else [place])]
    modules = [path for path in modules if path.name not in ("__init__.py", "experiments.py")]
    found = {}
    for mutant in [mutant for path in modules if only in path.name for mutant in find_mutants(path)]:
        found.setdefault((mutant.path, mutant.line), []).append(mutant)
    rng = random.Random(f"{slug} {seed}")
    places = rng.sample(sorted(found), min(count, len(found)))
    tests = tests_of(chapter, Dependencies())
    return [rng.choice(found[place]) for place in places], [path.relative_to(ROOT) for path in tests]


def survives(mutant, tests, copy):
    """Whether all tests pass with the change in the copy."""
    place = copy / mutant.path.relative_to(ROOT)
    original = mutant.path.read_text(encoding="utf-8")
    place.write_text(mutant.apply(original), encoding="utf-8")
    try:
        return _pass(tests, copy)
    finally:
        place.write_text(original, encoding="utf-8")


def _pass(tests, copy):
    drop_stale_kernels(copy / "lib")
    environment = {**os.environ, **FIXED, "PYTHONPATH": f"{copy / 'lib'}{os.pathsep}{copy}", "LEARNABLE_QUIET": "1"}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *map(str, tests)]
    try:
        done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, timeout=LIMIT, check=False)
        return done.returncode == 0
    except subprocess.TimeoutExpired:
        return False


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("slug", nargs="+")
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="part of a module's name")
    options = parser.parse_args(arguments)
    left = 0
    with tempfile.TemporaryDirectory(dir=ROOT.parent) as folder:
        copy = Path(folder) / "project"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*LEFT_OUT), symlinks=True)
        for slug in options.slug:
            planted, tests = choose(slug, options.count, options.seed, options.only)
            if not _pass(tests, copy):
                raise SystemExit(f"the tests of {slug} fail as they are: nothing can be learned from mutants")
            noticed, started = 0, time.monotonic()
            for mutant in planted:
                if survives(mutant, tests, copy):
                    code = mutant.path.read_text(encoding="utf-8").splitlines()[mutant.line - 1]
                    place = f"{mutant.path.relative_to(ROOT)}:{mutant.line}"
                    print(f"survives: {place}: {code.strip()}  ->  {mutant.text!r} at {mutant.start}", flush=True)
                else:
                    noticed += 1
            print(f"{slug}: {noticed} of {len(planted)} noticed, {time.monotonic() - started:.0f} s", flush=True)
            left += len(planted) - noticed
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
