"""Seconds per submission: a simulated class, graded with one and with several processes.

python benchmarks/exercises/bench_grading.py [--smoke] [--count 300] [--jobs 2] [--keep DIR]

otter's own ``otter run`` grades one notebook a process, without limits and without protection; both are timed on one
perfect notebook from a cold start, in turns. The main result is seconds per submission for a class in which right,
partly right, broken and hostile ones are mixed, and whether a run that is killed half-way and resumed gives the same.
"""

import argparse
import contextlib
import io
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "exercises"))

import numpy as np  # noqa: E402
from simulated_class import simulate  # noqa: E402
from support import BAYES, assignment, submission, write_notebook  # noqa: E402

from learnable import cli  # noqa: E402
from learnable.exercises.release import release  # noqa: E402

RESULTS = Path(__file__).with_name("grading.json")


def grade(folder, out, jobs):
    """Grade a folder; return seconds and what was printed."""
    printed = io.StringIO()
    start = time.perf_counter()
    with contextlib.redirect_stdout(printed):
        code = cli.main(["grade", str(folder), "--out", str(out), "--seed", "20120116", "--jobs", str(jobs)])
    if code:
        raise SystemExit(f"grading failed: {printed.getvalue()}")
    return time.perf_counter() - start, printed.getvalue()


def right_or_wrong(expected, out):
    """Compare the table with what each student must have; return the number that differs."""
    rows = {s["student"]: s["result"]["score"] for s in json.loads(out.with_suffix(".json").read_text())["submissions"]}
    full = assignment(BAYES).points
    off = [
        (student, kind, score, rows[student])
        for student, (kind, score) in expected.items()
        if (score is not None and rows[student] != score) or (score is None and not 0 < rows[student] < full)
    ]
    for student, kind, score, came in off:
        print(f"  UNEXPECTED {student} ({kind}): {came}, expected {score}")
    return len(off)


def killed_and_resumed(folder, count, jobs):
    """Grade the class once more, kill the grader with SIGKILL half-way, resume; return whether the grades agree."""
    out = folder / "killed" / "grades.csv"
    command = [sys.executable, "-m", "learnable.cli", "grade", str(folder / "submissions"), "--out", str(out)]
    process = subprocess.Popen(
        [*command, "--seed", "20120116", "--jobs", str(jobs)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    stored = 0
    while process.poll() is None and stored < count // 2:
        time.sleep(0.2)
        with contextlib.suppress(sqlite3.Error), sqlite3.connect(out.with_suffix(".sqlite")) as connection:
            (stored,) = connection.execute("SELECT COUNT(*) FROM result").fetchone()
    process.kill()
    process.wait()
    _, printed = grade(folder / "submissions", out, jobs)
    line = next(line for line in printed.splitlines() if "graded in" in line)
    first = folder / "grades.csv"
    same = all(a.read_bytes() == b.read_bytes() for a, b in ((first, out), (_json(first), _json(out))))
    print(f"  killed with {stored} stored, resumed: {line}; grades {'identical' if same else 'DIFFER'}")
    return same


def _json(path):
    return path.with_suffix(".json")


def one_at_a_time(count, folder):
    """Time one perfect notebook from a cold start, ours and ``otter run`` in turns; return both medians."""
    made = release([assignment(BAYES).path], folder / "bundle", seed=1, otter=True)
    path = write_notebook(folder / "single" / "bayes_decision_theory.ipynb", submission(BAYES))
    otter = str(Path(sys.executable).with_name("otter"))
    commands = {
        "ours": [sys.executable, "-m", "learnable.cli", "grade", str(path), "--seed", "1"],
        "otter": [otter, "run", "-a", str(made["zips"][0].resolve()), "-o", str(path.parent), "--no-logo", str(path)],
    }
    times = {name: [] for name in commands}
    for _ in range(count):
        for name, command in commands.items():
            start = time.perf_counter()
            done = subprocess.run(command, cwd=path.parent, capture_output=True, text=True, check=False)
            times[name].append(time.perf_counter() - start)
            if done.returncode:
                raise SystemExit(f"{name} failed: {done.stderr[-500:]}")
    return {name: float(np.median(values)) for name, values in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="a few submissions, nothing stored")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--keep", type=Path, help="keep the class and its grades here")
    options = parser.parse_args()
    count = 6 if options.smoke else options.count
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        expected = simulate(folder / "submissions", count, seed=300, slow=not options.smoke)
        seconds, printed = grade(folder / "submissions", folder / "grades.csv", options.jobs)
        unexpected = right_or_wrong(expected, folder / "grades.csv")
        again, _ = grade(folder / "submissions", folder / "grades.csv", options.jobs)
        kinds = dict(Counter(kind.partition(":")[0] for kind, _ in expected.values()))
        print(f"{count} submissions ({kinds}), {options.jobs} processes: {seconds:.1f} s, {seconds / count:.3f} s each")
        print(f"  {unexpected} with an unexpected score; the same again: {again:.1f} s")
        print("  " + "\n  ".join(line for line in printed.splitlines() if re.search("graded in|confined", line)))
        result = {
            "submissions": count,
            "kinds": kinds,
            "processes": options.jobs,
            "seconds": round(seconds, 2),
            "seconds_per_submission": round(seconds / count, 4),
            "seconds_again": round(again, 2),
            "unexpected": unexpected,
            "measured": time.strftime("%Y-%m-%d"),
        }
        if not options.smoke:
            result["identical_after_kill"] = killed_and_resumed(folder, count, options.jobs)
            single = one_at_a_time(5, folder)
            result["one_cold_seconds"], result["otter_run_seconds"] = (round(single[n], 2) for n in ("ours", "otter"))
            print(f"  one perfect notebook, cold: {single['ours']:.1f} s; otter run: {single['otter']:.1f} s")
            RESULTS.write_text(json.dumps(result, indent=1) + "\n")
    return 1 if unexpected or not result.get("identical_after_kill", True) else 0


if __name__ == "__main__":
    sys.exit(main())
