"""Write the student notebooks from the masters, or check that they agree.

    python -m tools.make.exercises build [SLUG ...] [--force]
    python -m tools.make.exercises check
    python -m tools.make.exercises transcript [--check]

``build`` writes exercises/<part>/<slug>.ipynb, with ``--force`` also over work of others; ``check`` fails when one is
missing, stale, or has no master; ``transcript`` runs the commands of book/instructors.md and puts in their output.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

from learnable.exercises.masters import Assignment
from learnable.exercises.workspace import Shelf
from tools.project import ROOT

PAGE = ROOT / "book" / "instructors.md"
MEASUREMENT = ROOT / "benchmarks" / "exercises" / "grading.json"
_MEASURED = re.compile(r"(?P<open><!-- measured -->).*?(?P<close><!-- end -->)", re.S)
_BLOCK = re.compile(r"(?P<open>^```console\n)(?P<body>.*?)(?P<close>^```$)", re.S | re.M)


def build(shelf, slugs=(), force=False):
    """Write the student notebooks; return ``(changed, refused)``.

    A notebook that neither the last build wrote nor the repository holds has somebody's work in it: it is left alone.
    """
    chapters = [shelf.resolve(s, shelf.masters()) for s in slugs] or shelf.masters()
    written = _Written(shelf.root)
    changed, refused = 0, []
    for chapter in chapters:
        text = Assignment.load(shelf.master(chapter)).student_text()
        target = shelf.exercise(chapter)
        if not target.exists() or target.read_text(encoding="utf-8") != text:
            if not force and target.exists() and not written.is_ours(target):
                refused.append(target.relative_to(shelf.root))
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
            print(f"written: {target.relative_to(shelf.root)}")
            changed += 1
        written.note(target)
    written.save()
    print(f"exercises: {len(chapters)} masters, {changed} student notebooks changed")
    for name in refused:
        print(
            f"kept: {name} was changed by hand. Save that work (`learnable start {name.stem}` copies it), "
            f"then `git checkout {name}`, or write over it with `make exercises FORCE=1`.",
            file=sys.stderr,
        )
    return changed, refused


class _Written:
    """What the builds before wrote: digests of the student notebooks, in _build/."""

    def __init__(self, root):
        self.root, self.path = root, root / "_build" / "exercises.json"
        self.digests = json.loads(self.path.read_text(encoding="utf-8")) if self.path.exists() else {}

    def is_ours(self, target):
        name = target.relative_to(self.root).as_posix()
        data = target.read_bytes()
        return self.digests.get(name) == _digest(data) or self._committed(name) == data

    def _committed(self, name):
        command = ["git", "-C", str(self.root), "show", f"HEAD:./{name}"]
        try:
            done = subprocess.run(command, capture_output=True, check=False)
        except FileNotFoundError:  # no git here
            return None
        return None if done.returncode else done.stdout

    def note(self, target):
        self.digests[target.relative_to(self.root).as_posix()] = _digest(target.read_bytes())

    def save(self):
        self.path.parent.mkdir(exist_ok=True)
        self.path.write_text(json.dumps(self.digests, indent=1, sort_keys=True), encoding="utf-8")


def _digest(data):
    return hashlib.sha256(data).hexdigest()


def problems(shelf):
    """Say in what masters and student notebooks disagree, one line each."""
    found = []
    for chapter in shelf.masters():
        target = shelf.exercise(chapter)
        try:
            text = Assignment.load(shelf.master(chapter)).student_text()
        except Exception as error:
            found.append(f"{chapter}: the master does not load: {error}")
            continue
        if not target.exists():
            found.append(f"{chapter}: the student notebook is missing; run `make exercises`")
        elif target.read_text(encoding="utf-8") != text:
            found.append(f"{chapter}: the student notebook does not agree with its master; run `make exercises`")
    for chapter in sorted(set(shelf.chapters()) - set(shelf.masters())):
        found.append(f"{chapter}: there is a student notebook but no master")
    return found


def transcript(text):
    """Return the page with the output of every ``$ command`` in its console blocks put in anew.

    The blocks run one after another in one scratch directory, in which ``submissions/`` holds a simulated class.
    Times are replaced by what was measured, so the page changes a little from run to run; everything else must not.
    """
    with tempfile.TemporaryDirectory() as scratch:
        sys.path.insert(0, str(ROOT / "tests" / "exercises"))
        from simulated_class import simulate

        simulate(Path(scratch) / "submissions", 24, seed=41)
        environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "LEARNABLE_HOME": str(Path(scratch) / ".home"),
            "LEARNABLE_BOOK": str(ROOT),
            "COLUMNS": "100",
        }

        def run(match):
            out = []
            for line in match["body"].splitlines():
                if not line.startswith("$ "):
                    continue
                done = subprocess.run(
                    ["bash", "-c", line[2:]], cwd=scratch, env=environment, capture_output=True, text=True, check=False
                )
                printed = (done.stdout + done.stderr).replace(scratch, "…").rstrip()
                out += [line, *([printed] if printed else [])]
                if done.returncode:
                    raise SystemExit(f"{shlex.quote(line[2:])} failed:\n{printed}")
            return match["open"] + "\n".join(out) + "\n" + match["close"]

        return _MEASURED.sub(_measured, _BLOCK.sub(run, text))


def _measured(match):
    """Return the sentence about speed, from the stored measurement."""
    m = json.loads(MEASUREMENT.read_text(encoding="utf-8"))
    words = {"partly": "partly right", "hostile": "hostile or broken", "file": "no notebooks"}
    kinds = sorted(m["kinds"].items(), key=lambda item: -item[1])
    mixture = ", ".join(f"{count} {words.get(kind, kind)}" for kind, count in kinds)
    text = (
        f"A simulated class of {m['submissions']} submissions ({mixture}) took {m['seconds']:.0f} s with "
        f"{m['processes']} processes on a machine that others used too, "
        f"{m['processor_seconds_per_submission']:.2f} s of processor time a submission, and {m['seconds_again']:.1f} s "
        f"when everything was known already; {m['unexpected'] or 'none'} got another grade than it should. "
        f"Killed {m['kills']} times at different moments and resumed, a class of {m['kills_submissions']} had "
        f"{'identical' if m['identical_after_kill'] else 'DIFFERENT'} grades, and "
        f"{m['left_after_kill'] or 'no'} process was left after five seconds. A single perfect notebook takes "
        f"{m['one_cold_seconds']:.1f} s from a cold start, with `otter run` (no protection) "
        f"{m['otter_run_seconds']:.1f} s. Measured {m['measured']} with `benchmarks/exercises/bench_grading.py`; "
        "endless loops cost their time limits."
    )
    return f"{match['open']}\n{textwrap.fill(text, 120)}\n{match['close']}"


def _without_times(text):
    return re.sub(r"\d+\.\d+ s\b|seed \d+", "…", text)


def main(argv=None):
    """Run the command; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("build", "check", "transcript"))
    parser.add_argument("slugs", nargs="*")
    parser.add_argument(
        "--force", action="store_true", help="with build: write over notebooks that were changed by hand"
    )
    parser.add_argument("--check", action="store_true", help="with transcript: compare instead of writing")
    options = parser.parse_args(argv)
    shelf = Shelf(ROOT)
    if options.action == "build":
        _, refused = build(shelf, options.slugs, options.force)
        return 1 if refused else 0
    if options.action == "check":
        found = problems(shelf)
        for line in found:
            print(line, file=sys.stderr)
        print(f"exercises: {len(shelf.masters())} masters, {len(found)} problems")
        return 1 if found else 0
    before = PAGE.read_text(encoding="utf-8")
    after = transcript(before)
    if options.check:
        same = _without_times(before) == _without_times(after)
        print("the commands print what book/instructors.md shows" if same else "book/instructors.md is stale")
        return 0 if same else 1
    PAGE.write_text(after, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
