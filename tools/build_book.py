"""Build the book: execution of what changed, generated pages, HTML.

    python -m tools.build_book [--jobs N] [--fresh]

Notebooks run in parallel, through the jupyter-cache that Sphinx then reads (`tools.execution`). The pages that show
what was measured are written after that, from that execution. Sphinx works in this process: whoever ends it, however,
ends the build.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import time

from tools import pages
from tools.dependencies import Dependencies
from tools.environment import kernel_environment
from tools.execution import execute_stale, executed_claims, open_cache
from tools.project import BUILD, ROOT, executable_pages


def build_pages(fresh):
    """Let Jupyter Book's Sphinx write the site; return whether all went well."""
    from jupyter_book.sphinx import build_sphinx

    # Jupyter Book's table of contents asks every object that the collector knows for its class, dead references too.
    gc.freeze()
    settings = {"external_toc_path": (ROOT / "_toc.yml").as_posix(), "latex_individualpages": False, "nitpicky": True}
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
    cache, dependencies, notebooks = open_cache(), Dependencies(), executable_pages()
    if arguments.fresh:
        cache.clear_cache()
    ran, failures = execute_stale(notebooks, cache, dependencies, arguments.jobs)
    if failures:
        print("\nthe book was not built: a chapter failed\n\n" + "\n\n".join(failures), file=sys.stderr)
        return 1
    pages.write_all(executed=executed_claims(notebooks, cache, dependencies))
    if not build_pages(arguments.fresh):
        print("the book was not built: see the warnings above", file=sys.stderr)
        return 1
    seconds = time.perf_counter() - started
    print(f"book: {len(ran)} of {len(notebooks)} notebooks executed, built in {seconds:.1f} s")
    print("open _build/html/index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
