"""One execution of each notebook, kept in the jupyter-cache: the pages, nbval's comparison and the ledger read it.

    python -m tools.run.execution [--jobs N] [SLUG ...]

A kept run counts only while its digest (see `tools.run.dependencies`) is the current one.
"""

from __future__ import annotations

import argparse
import os
import sys

import nbformat
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from tqdm import tqdm

from tools.project import BUILD, ROOT, selected
from tools.run.dependencies import Dependencies
from tools.run.kernels import execute_all

CACHE = BUILD / ".jupyter_cache"
CLAIM_MIME = "application/vnd.learnable.claim+json"


def open_cache(path=CACHE):
    """The cache of runs; jupyter-cache decides which go when it is full."""
    return get_cache(str(path))


def current(path, cache, dependencies):
    """The record of a notebook's run with the present cells, modules, data and pins, or None."""
    try:
        record = cache.match_cache_notebook(nbformat.read(path, as_version=4))
    except KeyError:
        return None
    return record if record.data.get("digest") == dependencies.digest(path) else None


def stale(notebooks, cache, dependencies):
    """The notebooks whose outputs are not in the cache, or were made with other modules, data or pins."""
    return [path for path in notebooks if current(path, cache, dependencies) is None]


def execute_stale(notebooks, cache, dependencies, jobs=2):
    """Run what is stale, in parallel, and store it in the cache; return (paths that ran, failures)."""
    todo = stale(notebooks, cache, dependencies)
    failures = []
    if not todo:
        return [], failures
    progress = tqdm(total=len(todo), desc="executing chapters", unit="chapter")
    for done in execute_all(todo, jobs, LEARNABLE_EXPLORE="static"):
        progress.update()
        if done.failure:
            failures.append(done.failure)
            continue
        notebook = done.parse()
        data = {"digest": dependencies.digest(done.path), "seconds": done.seconds, "claims": claims_in(notebook)}
        bundle = CacheBundleIn(notebook, str(done.path), data=data)
        cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
    progress.close()
    return todo, failures


def claims_in(notebook):
    """The claims in a notebook's outputs, in their order."""
    return [
        output["data"][CLAIM_MIME]
        for cell in notebook["cells"]
        if cell["cell_type"] == "code"
        for output in cell["outputs"]
        if CLAIM_MIME in output.get("data", {})
    ]


def executed_claims(notebooks, cache, dependencies):
    """``{"lectures/part/slug": claims}`` of the notebooks, from their runs."""
    found = {}
    for path in notebooks:
        record = current(path, cache, dependencies)
        if record is not None:
            found[path.relative_to(ROOT).with_suffix("").as_posix()] = record.data["claims"]
    return found


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=min(4, os.cpu_count() or 1))
    parser.add_argument("slugs", nargs="*")
    arguments = parser.parse_args(argv)
    try:
        pages = selected(arguments.slugs)
    except ValueError as error:
        parser.error(str(error))
    ran, failures = execute_stale(pages, open_cache(), Dependencies(), arguments.jobs)
    if failures:
        print("\n\n".join(failures), file=sys.stderr)
        return 1
    print(f"execution: {len(ran)} of {len(pages)} notebooks ran, the others are current")
    return 0


if __name__ == "__main__":
    sys.exit(main())
