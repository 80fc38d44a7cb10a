"""Build the book: execution of what changed, generated pages, HTML. Nothing changed means nothing done.

    python -m tools.run.build_book [--jobs N] [--fresh]

Notebooks run in parallel, through the jupyter-cache that Sphinx then reads (`tools.run.execution`). The pages that show
what was measured are written after that, from that execution. Sphinx works in this process: whoever ends it, however,
ends the build.
"""

from __future__ import annotations

import argparse
import gc
import glob
import hashlib
import os
import shutil
import sys
import time

import yaml

from tools.project import BUILD, ROOT, executable_pages

STAMP = BUILD / ".built"
WHEELS = BUILD / "wheels"  # what the pages say how to install; they go into the site as they are
# What no page is made from; everything else in these folders counts, and the files beside them. Other folders of a
# checkout are somebody's own: submissions with links into nowhere and names that are no text, say.
READ = {"benchmarks", "book", "exercises", "lectures", "lib", "tools"}
NOT_READ = {"_build", "work", "generated", "__pycache__", "tests"}


def state(root=ROOT, site=BUILD / "html"):
    """One hash of all that the book is made from, and of the site as it stands."""
    made = hashlib.sha256()
    for folder, folders, files in os.walk(root):
        known = READ.intersection(folders) if os.fspath(folder) == os.fspath(root) else folders
        folders[:] = sorted(name for name in known if name not in NOT_READ and not name.startswith("."))
        for name in sorted(files):
            path = os.path.join(folder, name)
            made.update(os.fsencode(os.path.relpath(path, root)))
            if not os.path.isfile(path):
                continue
            with open(path, "rb") as file:
                made.update(hashlib.file_digest(file, "sha256").digest())
    for folder, folders, files in os.walk(site):
        folders.sort()
        for name in sorted(files):
            path = os.path.join(folder, name)
            found = os.stat(path)
            made.update(f"{os.path.relpath(path, site)} {found.st_size} {found.st_mtime_ns}".encode())
    return made.hexdigest()


def not_pages(root=ROOT):
    """Return the patterns of what Sphinx must not look at: those of _config.yml, and every folder that is not ours."""
    patterns = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))["exclude_patterns"]
    return patterns + sorted(
        glob.escape(path.name) for path in root.iterdir() if path.is_dir() and path.name not in READ
    )


def is_built(root=ROOT, site=BUILD / "html", stamp=STAMP):
    """Whether the last build succeeded and nothing has changed since, neither the sources nor the site."""
    return stamp.exists() and stamp.read_text() == state(root, site)


def make_wheels(root=ROOT, to=WHEELS):
    """Build the wheels that the site carries, unless the package is as it was when they were built."""
    made = hashlib.sha256()
    files = [root / "pyproject.toml", *sorted((root / "lib").rglob("*"))]
    for path in files:
        if path.is_file() and not {"__pycache__", "learnable_book.egg-info"}.intersection(path.parts):
            made.update(os.fsencode(path.relative_to(root)) + path.read_bytes())
    stamp = to / ".built"
    if stamp.exists() and stamp.read_text() == made.hexdigest():
        return
    from learnable.exercises.wheels import build_wheels

    shutil.rmtree(to, ignore_errors=True)
    build_wheels(to)
    stamp.write_text(made.hexdigest())


def build_pages(fresh):
    """Let Jupyter Book's Sphinx write the site; return whether all went well."""
    from jupyter_book.sphinx import build_sphinx

    from tools.run.environment import kernel_environment

    # Jupyter Book's table of contents asks every object that the collector knows for its class, dead references too.
    gc.freeze()
    settings = {
        "external_toc_path": (ROOT / "_toc.yml").as_posix(),
        "latex_individualpages": False,
        "nitpicky": True,
        "exclude_patterns": not_pages(),
    }
    # A notebook that changes while the others run is executed by Sphinx itself, in the same mode.
    with kernel_environment(LEARNABLE_EXPLORE="static"):
        result = build_sphinx(
            ROOT,
            BUILD / "html",
            noconfig=True,
            path_config=ROOT / "_config.yml",
            confoverrides=settings,
            warningiserror=True,
            keep_going=True,
            freshenv=fresh,
            quiet=True,
        )
    return result == 0


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=min(4, os.cpu_count() or 1))
    parser.add_argument("--fresh", action="store_true", help="forget cached runs and pages")
    arguments = parser.parse_args(argv)
    started = time.perf_counter()
    if not arguments.fresh and is_built():
        print("book: nothing has changed since it was built\nopen _build/html/index.html")
        return 0
    STAMP.unlink(missing_ok=True)
    # Imported here: a book that is built is found in a second.
    from tools.run.dependencies import shared_dependencies
    from tools.run.execution import execute_stale, executed_claims, open_cache
    from tools.site import pages

    cache, dependencies, notebooks = open_cache(), shared_dependencies(), executable_pages()
    if arguments.fresh:
        cache.clear_cache()
    ran, failures = execute_stale(notebooks, cache, dependencies, arguments.jobs)
    if failures:
        print("\nthe book was not built: a chapter failed\n\n" + "\n\n".join(failures), file=sys.stderr)
        return 1
    make_wheels()
    pages.write_all(executed=executed_claims(notebooks, cache, dependencies))
    if not build_pages(arguments.fresh):
        print("the book was not built: see the warnings above", file=sys.stderr)
        return 1
    STAMP.write_text(state())
    seconds = time.perf_counter() - started
    print(f"book: {len(ran)} of {len(notebooks)} notebooks executed, built in {seconds:.1f} s")
    print("open _build/html/index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
