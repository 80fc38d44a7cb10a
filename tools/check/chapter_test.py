"""Every layer of `make test` for some chapters: those that are named, or those that changed since a revision.

    python -m tools.check.chapter_test [SLUG ...] [--since REVISION] [--jobs N]

A chapter has changed when one of its rooms has, or anything that its lecture depends on (see `tools.run.dependencies`).
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

from tools.project import ROOT, Chapter, chapters
from tools.run.dependencies import Dependencies


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


def tests_of(chapter, dependencies):
    """Files with unit tests of a chapter: those that import its code or what it teaches, those of the frame apart."""
    apart = [chapter.root / "tests" / name for name in ("browser", "contract", "exercises", "frame")]
    files = [path for path in sorted((chapter.root / "tests").rglob("test_*.py")) if path.parent not in apart]
    own = {chapter.code, *chapter.methods}
    return [path for path in files if any(own & {file, *file.parents} for file in dependencies.imports(path))]


def _state(chapter, dependencies):
    """Contents of a chapter's rooms and of what its lecture depends on; None where there was no such chapter."""
    if not chapter.lecture.exists():
        return None
    rooms = [path for room in chapter.rooms.values() for path in (sorted(room.rglob("*.py")) or [room])]
    rooms += [*tests_of(chapter, dependencies), *(p for m in chapter.methods for p in (sorted(m.rglob("*.py")) or [m]))]
    rooms += (chapter.root / "tests" / "exercises" / "wrong").glob(f"{chapter.slug}.*")
    texts = [(path.relative_to(chapter.root).as_posix(), path.read_bytes()) for path in rooms if path.is_file()]
    return dependencies.digest(chapter.lecture), sorted(set(texts))


def layers(chosen, jobs):
    """Target and variables of `make` for each layer of the chapters ``chosen``: the commands stand in the Makefile."""
    dependencies = Dependencies()
    slugs = [chapter.slug for chapter in chosen]
    tests = sorted({str(path.relative_to(ROOT)) for c in chosen for path in tests_of(c, dependencies)})
    code = [str(path.relative_to(ROOT)) for c in chosen for path in (c.code, *c.methods)]
    rules = ["tests/frame/test_chapters.py", "tests/frame/test_api.py"]
    few = {"ONLY": " ".join(slugs), "JOBS": str(jobs), "DIST": "load"}
    named = {"SELECT": " or ".join(slugs)}
    yield "lint", few
    yield "check", few
    yield "book", few
    yield "nbval", few
    yield "doctest", {**few, "MODULES": " ".join(code)}
    yield "unit", {**few, "TESTS": " ".join(tests)}
    yield "unit", {**few, **named, "TESTS": " ".join(rules)}
    yield "exercise-tests", {**few, **named, "TESTS": "tests/exercises/test_masters.py"}
    yield "browser", few
    yield "bench-smoke", few


def _children():
    """Processor seconds of the commands that have ended, which do not depend on who else is at work."""
    times = os.times()
    return times.children_user + times.children_system


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
    for name, variables in layers(chosen, arguments.jobs):
        started, spent = time.perf_counter(), _children()
        command = [os.environ.get("MAKE", "make"), "--no-print-directory", name]
        command += [f"{variable}={value}" for variable, value in variables.items()]
        done = subprocess.run(command, cwd=ROOT, check=False)
        print(
            f"--- {name}: {'failed' if done.returncode else 'passed'}, {time.perf_counter() - started:.1f} s, "
            f"{_children() - spent:.1f} s of processor time",
            flush=True,
        )
        if done.returncode:
            failed.append(name)
    print("make test: " + (f"FAILED: {', '.join(failed)}" if failed else "all layers passed"))
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
