"""Build the book: generated pages, execution of what changed, HTML.

    python -m tools.build_book [--jobs N] [--fresh]

Notebooks run in parallel, through the jupyter-cache that Sphinx then reads. A cached run counts only while its digest
(see `tools.dependencies`) is the current one.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import nbformat
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from tqdm import tqdm

from tools import pages
from tools.dependencies import Dependencies
from tools.notebooks import describe_failure, execute
from tools.project import BUILD, ROOT, executable_pages

CACHE = BUILD / ".jupyter_cache"


def stale(notebooks, cache, dependencies):
    """The notebooks whose outputs are not in the cache, or were made with other modules, data or pins."""
    return [path for path in notebooks if not _is_current(path, cache, dependencies)]


def _is_current(path, cache, dependencies):
    try:
        record = cache.match_cache_notebook(nbformat.read(path, as_version=4))
    except KeyError:
        return False
    return record.data.get("digest") == dependencies.digest(path)


def execute_stale(notebooks, cache, dependencies, jobs=2):
    """Run what is stale, in parallel, and store it in the cache; return (paths that ran, failures)."""
    todo = stale(notebooks, cache, dependencies)
    failures = []
    if not todo:
        return [], failures
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        running = {pool.submit(execute, path, LEARNABLE_EXPLORE="static"): path for path in todo}
        for job in tqdm(as_completed(running), total=len(running), desc="executing chapters", unit="chapter"):
            path = running[job]
            try:
                notebook, seconds = job.result()
            except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
                failures.append(describe_failure(path, error))
                continue
            bundle = CacheBundleIn(
                notebook, str(path), data={"execution_seconds": seconds, "digest": dependencies.digest(path)}
            )
            cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
    return todo, failures


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=min(4, os.cpu_count() or 1))
    parser.add_argument("--fresh", action="store_true", help="forget cached runs and pages")
    arguments = parser.parse_args(argv)
    started = time.perf_counter()
    cache = get_cache(str(CACHE))
    if arguments.fresh:
        cache.clear_cache()
    pages.write_all()
    ran, failures = execute_stale(executable_pages(), cache, Dependencies(), arguments.jobs)
    if failures:
        print("\nthe book was not built: a chapter failed\n\n" + "\n\n".join(failures), file=sys.stderr)
        return 1
    program = Path(sys.executable).with_name("jupyter-book")
    command = [str(program), "build", ".", "-W", "-n", "--keep-going", "-q"]
    if arguments.fresh:
        command.append("--all")
    # A notebook that changes while the others run is executed by Sphinx itself, in the same mode.
    result = subprocess.run(command, cwd=ROOT, check=False, env={**os.environ, "LEARNABLE_EXPLORE": "static"})
    if result.returncode:
        print("the book was not built: see the warnings above", file=sys.stderr)
        return result.returncode
    seconds = time.perf_counter() - started
    print(f"book: {len(ran)} of {len(executable_pages())} notebooks executed, built in {seconds:.1f} s")
    print("open _build/html/index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
