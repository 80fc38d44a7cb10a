"""Seconds per submission: a simulated class, graded with one and with several processes.

python benchmarks/exercises/bench_grading.py [--smoke] [--count 300] [--jobs 2] [--keep DIR]

otter's own ``otter run`` grades one notebook a process, without limits and without protection; both are timed on one
perfect notebook from a cold start, in turns. The main result is seconds per submission for a class in which right,
partly right, broken and hostile ones are mixed, and whether a run that is killed ten times and resumed gives the same.
"""

import argparse
import contextlib
import io
import json
import os
import re
import resource
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
import psutil  # noqa: E402
from simulated_class import simulate  # noqa: E402
from support import BAYES, assignment, submission, write_notebook  # noqa: E402

from learnable import cli  # noqa: E402
from learnable.exercises.release import release  # noqa: E402

RESULTS = Path(__file__).with_name("grading.json")


def grade_apart(folder, out, jobs):
    """Grade a folder in a process of its own; return seconds on the clock, processor seconds, and what was printed."""
    command = [sys.executable, "-m", "learnable.cli", "grade", str(folder), "--out", str(out)]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [*command, "--seed", "20120116", "--jobs", str(jobs)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"grading failed: {done.stdout}{done.stderr}")
    seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


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


def killed_and_resumed(folder, count, jobs, kills):
    """Grade the class once more and kill the grader with SIGKILL at ``kills`` moments, resuming each time.

    The moments are conditions: so many results are stored. Returns the number of processes that were left five seconds
    after a kill, in all, and whether the grades agree with those of the undisturbed run.
    """
    out = folder / "killed" / "grades.csv"
    command = [sys.executable, "-m", "learnable.cli", "grade", str(folder / "submissions"), "--out", str(out)]
    command += ["--seed", "20120116", "--jobs", str(jobs)]
    left = 0
    for number in range(kills):
        started = time.time()
        mark = f"{os.getpid()}-{number}"
        environment = {**os.environ, "LEARNABLE_KILLED": mark}
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
        while process.poll() is None and _stored(out) < 1 + (count * number) // (kills + 2):
            time.sleep(0.02)
        if process.poll() is not None:
            raise SystemExit(f"the grader was done before it could be killed: {_stored(out)} stored")
        stored, family = _stored(out), psutil.Process(process.pid).children(recursive=True)
        process.kill()
        process.wait()
        _, alive = psutil.wait_procs(family, timeout=5)
        alive = {p.pid for p in alive} | set(_strays(started, mark))
        left += len(alive)
        print(f"  kill {number + 1}: {stored} stored, {len(family)} processes, {len(alive)} left after 5 s")
    _, printed = grade(folder / "submissions", out, jobs)
    line = next(line for line in printed.splitlines() if "graded in" in line)
    first = folder / "grades.csv"
    same = all(a.read_bytes() == b.read_bytes() for a, b in ((first, out), (_json(first), _json(out))))
    print(f"  resumed after {kills} kills: {line}; grades {'identical' if same else 'DIFFER'}")
    return left, same


def _stored(out):
    with (
        contextlib.suppress(sqlite3.Error),
        sqlite3.connect(f"file:{out.with_suffix('.sqlite')}?mode=ro", uri=True) as c,
    ):
        return c.execute("SELECT COUNT(*) FROM result").fetchone()[0]
    return 0


def _strays(started, mark):
    """Return what is left of a killed run, whoever its parent is: its workers, and sandboxes of this checkout."""
    for process in psutil.process_iter(["pid", "cmdline", "create_time"]):
        with contextlib.suppress(psutil.Error):
            sandbox = str(ROOT / "lib") in " ".join(process.info["cmdline"] or ())
            ours = process.environ().get("LEARNABLE_KILLED") == mark or sandbox
            if ours and process.info["create_time"] > started:
                yield process.pid


def _json(path):
    return path.with_suffix(".json")


def one_at_a_time(count, folder):
    """Time one perfect notebook from a cold start, ours and ``otter run`` in turns; return both medians."""
    made = release([assignment(BAYES).path], folder / "bundle", seed=1, otter=True, package="learnable")
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
    parser.add_argument("--kills", type=int, default=10, help="how often to kill the grader with SIGKILL")
    parser.add_argument("--keep", type=Path, help="keep the class and its grades here")
    options = parser.parse_args()
    count = 6 if options.smoke else options.count
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        expected = simulate(folder / "submissions", count, seed=300, slow=not options.smoke)
        seconds, processor, printed = grade_apart(folder / "submissions", folder / "grades.csv", options.jobs)
        unexpected = right_or_wrong(expected, folder / "grades.csv")
        grade(folder / "submissions", folder / "grades.csv", options.jobs)  # imports what it needs
        again, _ = grade(folder / "submissions", folder / "grades.csv", options.jobs)
        kinds = dict(Counter(kind.partition(":")[0] for kind, _ in expected.values()))
        print(
            f"{count} submissions ({kinds}), {options.jobs} processes: {seconds:.1f} s, {seconds / count:.3f} s each,"
        )
        print(f"  {processor / count:.3f} s of processor time each")
        print(f"  {unexpected} with an unexpected score; the same again: {again:.1f} s")
        print("  " + "\n  ".join(line for line in printed.splitlines() if re.search("graded in|confined", line)))
        result = {
            "submissions": count,
            "kinds": kinds,
            "processes": options.jobs,
            "seconds": round(seconds, 2),
            "seconds_per_submission": round(seconds / count, 4),
            "processor_seconds_per_submission": round(processor / count, 4),
            "seconds_again": round(again, 2),
            "unexpected": unexpected,
            "measured": time.strftime("%Y-%m-%d"),
        }
        if not options.smoke:
            left, same = killed_and_resumed(folder, count, options.jobs, options.kills)
            result.update(kills=options.kills, kills_submissions=count, left_after_kill=left, identical_after_kill=same)
            single = one_at_a_time(5, folder)
            result["one_cold_seconds"], result["otter_run_seconds"] = (round(single[n], 2) for n in ("ours", "otter"))
            print(f"  one perfect notebook, cold: {single['ours']:.1f} s; otter run: {single['otter']:.1f} s")
            RESULTS.write_text(json.dumps(result, indent=1) + "\n")
    return 1 if unexpected or result.get("left_after_kill") or not result.get("identical_after_kill", True) else 0


if __name__ == "__main__":
    sys.exit(main())
