"""Every layer of `make test` for some chapters: those that are named, or those that changed since a revision.

    python -m tools.chapter_test [SLUG ...] [--since REVISION] [--jobs N]

A chapter has changed when one of its rooms has, or anything that its lecture depends on (see `tools.dependencies`).
"""

from __future__ import annotations

import argparse
import io
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

from tools.dependencies import Dependencies
from tools.project import ROOT, Chapter, chapters


def changed_since(revision, root=ROOT):
    """The chapters of ``root`` that are not as they were in ``revision`` of its repository."""
    archive = subprocess.run(["git", "archive", revision], cwd=root, capture_output=True, check=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        tarfile.open(fileobj=io.BytesIO(archive)).extractall(folder, filter="data")
        then, now = Dependencies(folder), Dependencies(root)
        return [
            chapter
            for chapter in chapters(root)
            if _state(Chapter(chapter.part, chapter.slug, Path(folder)), then) != _state(chapter, now)
        ]


def _state(chapter, dependencies):
    """Contents of a chapter's rooms and of what its lecture depends on; None where there was no such chapter."""
    if not chapter.lecture.exists():
        return None
    rooms = [path for room in chapter.rooms.values() for path in (sorted(room.rglob("*.py")) or [room])]
    texts = [(path.relative_to(chapter.root).as_posix(), path.read_bytes()) for path in rooms if path.is_file()]
    return dependencies.digest(chapter.lecture), sorted(texts)


def layers(chosen, jobs):
    """Name, arguments of Python, and additions to the environment of each layer for the chapters ``chosen``."""
    slugs = [chapter.slug for chapter in chosen]
    lectures = [str(chapter.lecture.relative_to(ROOT)) for chapter in chosen]
    tests = [str(path.relative_to(ROOT)) for c in chosen for path in sorted(c.tests.parent.glob(f"test_{c.slug}*.py"))]
    named = ["-k", " or ".join(slugs)]
    budgets = ["-m", "pytest", "-p", "tools.budgets", "-n", str(jobs)]
    yield "lint", ["-m", "ruff", "check", "."], {}
    yield "format", ["-m", "ruff", "format", "--check", "."], {}
    for tool in ("notebooks check", "readme --check", "toc --check", "exercises check"):
        yield f"check ({tool.split()[0]})", ["-m", *f"tools.{tool}".split()], {}
    yield "book", ["-m", "tools.build_book", "--jobs", str(jobs)], {}
    yield "nbval", ["-m", "pytest", "--nbval", "-p", "tools.budgets", "-p", "tools.replay", *lectures], {}
    yield "doctest", ["-m", "pytest", "--doctest-modules", *(str(c.code.relative_to(ROOT)) for c in chosen)], {}
    yield "unit", [*budgets, "--dist", "load", *tests], {}
    yield "rules", ["-m", "pytest", "tests/frame/test_chapters.py", "tests/frame/test_api.py", *named], {}
    yield "exercises", [*budgets, "--dist", "load", "tests/exercises/test_masters.py", *named], {}
    browser = ["-m", "pytest", "tests/browser", "-m", "browser", "-rs", "-n", str(jobs), "--dist", "loadgroup"]
    yield "browser", browser, {"LEARNABLE_ONLY": " ".join(slugs)}
    yield "benchmark", ["-m", "tools.benchmarks", "--smoke", *slugs], {}


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("slugs", nargs="*")
    parser.add_argument("--since", metavar="REVISION")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args(argv)
    known = {chapter.slug: chapter for chapter in chapters()}
    unknown = [slug for slug in arguments.slugs if slug not in known]
    if unknown:
        parser.error(f"no chapter is called {', '.join(unknown)}; there are: {', '.join(known)}")
    chosen = [known[slug] for slug in arguments.slugs]
    if arguments.since:
        chosen += [chapter for chapter in changed_since(arguments.since) if chapter not in chosen]
    if not chosen:
        print(f"make test: no chapter has changed since {arguments.since}")
        return 0
    print("make test:", ", ".join(chapter.slug for chapter in chosen), flush=True)
    failed = []
    for name, command, extra in layers(chosen, arguments.jobs):
        started = time.perf_counter()
        done = subprocess.run([sys.executable, *command], cwd=ROOT, env={**os.environ, **extra}, check=False)
        print(
            f"--- {name}: {'failed' if done.returncode else 'passed'}, {time.perf_counter() - started:.1f} s",
            flush=True,
        )
        if done.returncode:
            failed.append(name)
    print("make test: " + (f"FAILED: {', '.join(failed)}" if failed else "all layers passed"))
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
