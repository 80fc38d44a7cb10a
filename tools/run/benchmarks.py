"""Run the benchmarks of all chapters, one process each: one after another, since they measure; smoke runs side by side.

python -m tools.run.benchmarks [--smoke [--jobs N]] [SLUG ...]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from tools.project import ROOT
from tools.run.environment import FIXED


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("slugs", nargs="*")
    parser.add_argument("--smoke", action="store_true", help="smallest sizes, one repeat, store nothing")
    parser.add_argument("--jobs", type=int, default=1, help="smoke runs at a time; measurements run alone")
    arguments = parser.parse_args(argv)
    scripts = sorted((ROOT / "benchmarks").glob("*/bench_*.py"))
    if arguments.slugs:
        scripts = [path for path in scripts if path.stem.removeprefix("bench_") in arguments.slugs]
    if not scripts:
        print("no such benchmark", file=sys.stderr)
        return 1
    jobs = max(arguments.jobs, 1) if arguments.smoke else 1
    failed = []
    with ThreadPoolExecutor(jobs) as pool:
        # One at a time needs no threads: each begins after its line is printed, and an interrupt ends the row.
        runs = (pool.map if jobs > 1 else map)(partial(_run, smoke=arguments.smoke, captured=jobs > 1), scripts)
        for number, path in enumerate(scripts, 1):
            print(f"[{number}/{len(scripts)}] {path.relative_to(ROOT)}", flush=True)
            done = next(runs)
            print(done.stdout or "", end="", flush=True)
            if done.returncode:
                failed.append(str(path.relative_to(ROOT)))
    print("benchmarks: " + (f"FAILED: {', '.join(failed)}" if failed else f"{len(scripts)} ran"))
    return bool(failed)


def _run(path, smoke, captured):
    """One benchmark in a process of its own; its output kept, so that runs side by side do not mix theirs."""
    command = [sys.executable, str(path), *(["--smoke"] if smoke else [])]
    environment = {**os.environ, **FIXED, "PYTHONPATH": os.pathsep.join((str(ROOT / "lib"), str(ROOT)))}
    out = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True} if captured else {}
    return subprocess.run(command, cwd=ROOT, env=environment, check=False, **out)


if __name__ == "__main__":
    sys.exit(main())
