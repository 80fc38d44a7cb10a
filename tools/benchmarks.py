"""Run the benchmarks of all chapters, one process each, one after another.

python -m tools.benchmarks [--smoke] [SLUG ...]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys

from tools.environment import FIXED
from tools.project import ROOT


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("slugs", nargs="*")
    parser.add_argument("--smoke", action="store_true", help="smallest sizes, one repeat, store nothing")
    arguments = parser.parse_args(argv)
    scripts = sorted((ROOT / "benchmarks").glob("*/bench_*.py"))
    if arguments.slugs:
        scripts = [path for path in scripts if path.stem.removeprefix("bench_") in arguments.slugs]
    if not scripts:
        print("no such benchmark", file=sys.stderr)
        return 1
    failed = []
    for number, path in enumerate(scripts, 1):
        print(f"[{number}/{len(scripts)}] {path.relative_to(ROOT)}", flush=True)
        command = [sys.executable, str(path), *(["--smoke"] if arguments.smoke else [])]
        environment = {**os.environ, **FIXED, "PYTHONPATH": os.pathsep.join((str(ROOT / "lib"), str(ROOT)))}
        if subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode:
            failed.append(str(path.relative_to(ROOT)))
    print("benchmarks: " + (f"FAILED: {', '.join(failed)}" if failed else f"{len(scripts)} ran"))
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
