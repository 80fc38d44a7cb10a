"""How long is the wait for the first result? Every estimator in a new process, compiled code absent, then present.

    python -m tools.check.first_call [NAME ...] [--limit SECONDS]

The call is the example of the estimator's own docstring, which is what people try first. Figures are processor seconds:
of its imports, then of everything after them with numba's cache empty, and with the cache that this has filled. Kernels
that took longer than the limit to compile are named.
"""

from __future__ import annotations

import argparse
import contextlib
import doctest
import io
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections import defaultdict

LIMIT = 3.0


def measure(path):
    """Run the example of one estimator here: seconds of imports and of the rest, and of each kernel that compiled."""
    from learnable import _warm

    seconds = defaultdict(float)

    @contextlib.contextmanager
    def clock(is_import):
        started = time.process_time()
        yield
        seconds["imports" if is_import else "call"] += time.process_time() - started

    with clock(True):
        import importlib

        from numba.core import event

        module, _, name = path.rpartition(".")
        estimator = getattr(importlib.import_module(module), name)
        home = importlib.import_module(estimator.__module__)
    tests = doctest.DocTestFinder(recurse=False).find(estimator, name, module=home)
    compiled = defaultdict(float)
    with event.install_listener("numba:compile", _timer(compiled)), contextlib.redirect_stdout(io.StringIO()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for test in tests:
                _warm.run(test, clock)
    return {**seconds, "examples": sum(len(test.examples) for test in tests), "kernels": compiled}


def _timer(found):
    """A listener that adds to ``found`` the seconds of each kernel, those of the kernels that it calls not counted."""
    from numba.core.event import Listener

    class Timer(Listener):
        def __init__(self):
            self.stack = []

        def on_start(self, event):
            self.stack.append([time.process_time(), 0.0])

        def on_end(self, event):
            started, inner = self.stack.pop()
            whole = time.process_time() - started
            function = event.data["dispatcher"].py_func
            found[f"{function.__module__}.{function.__name__}"] += whole - inner
            if self.stack:
                self.stack[-1][1] += whole

    return Timer()


def in_new_process(path, cache):
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache, "LEARNABLE_QUIET": "1"}
    command = [sys.executable, "-m", "tools.check.first_call", "--here", path]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--limit", type=float, default=LIMIT, help="name kernels that compile for longer (seconds)")
    parser.add_argument("--here", help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.here:
        print(json.dumps(measure(options.here)))
        return 0
    from tools.site import api_pages

    chosen = [e for e in api_pages.entries().values() if e.kind == "estimator"]
    chosen = [e for e in chosen if not options.names or e.name in options.names]
    print("| estimator | imports | first call, cache empty | cache filled | slow kernels |\n|---|---|---|---|---|")
    for entry in chosen:
        with tempfile.TemporaryDirectory() as cache:
            empty, filled = in_new_process(entry.label, cache), in_new_process(entry.label, cache)
        slow = [
            f"{name.rpartition('learnable.')[2]} {s:.1f}" for name, s in empty["kernels"].items() if s > options.limit
        ]
        times = " | ".join(f"{value:.1f}" for value in (empty["imports"], empty.get("call", 0), filled.get("call", 0)))
        print(f"| {entry.label.removeprefix('learnable.')} | {times} | {', '.join(slow)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
