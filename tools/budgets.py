"""A pytest plugin that keeps the book testable: seconds per chapter, the ten slowest, failure on excess.

Load with ``-p tools.budgets``. Time that numba spends compiling is not counted against unit tests: it is paid once. A
slow or shared machine may stretch all budgets by ``LEARNABLE_BUDGET_SCALE``.
"""

from __future__ import annotations

import os
import re
import time
from collections import defaultdict
from pathlib import Path

import pytest

BUDGETS = {"lectures/": 20.0, "book/": 20.0, "tests/": 15.0}
MASTERS, PER_EXERCISE = "tests/exercises/test_masters.py", 10.0
EXEMPT = ("tests/datasets/", "tests/browser/", "tests/frame/", "tests/exercises/")  # no chapters: the system as a whole

_spent = defaultdict(float)
_compiling = 0.0


def _budget(path):
    scale = float(os.environ.get("LEARNABLE_BUDGET_SCALE", "1"))
    if path == MASTERS:
        return scale * PER_EXERCISE * len(list(Path("exercises/solutions").glob("*/*.ipynb")))
    if path.startswith(EXEMPT):
        return float("inf")
    return next((scale * limit for prefix, limit in BUDGETS.items() if path.startswith(prefix)), float("inf"))


def pytest_configure(config):
    try:
        from numba.core import event
    except ImportError:
        return

    class Clock(event.Listener):
        def on_start(self, event):
            self.depth = getattr(self, "depth", 0) + 1
            if self.depth == 1:
                self.started = time.perf_counter()

        def on_end(self, event):
            global _compiling
            self.depth -= 1
            if self.depth == 0:
                _compiling += time.perf_counter() - self.started

    event.register("numba:compile", Clock())


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item, nextitem):
    global _compiling
    _compiling = 0.0
    yield


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    global _compiling
    outcome = yield
    outcome.get_result().user_properties.append(("compiling", _compiling))
    _compiling = 0.0


def pytest_runtest_logreport(report):
    compiling = sum(value for name, value in report.user_properties if name == "compiling")
    path = re.split("::", report.nodeid)[0]
    if report.when == "teardown" and not path.endswith(".ipynb"):
        compiling = 0.0  # the property list accumulates over the phases of a test
    _spent[path] += max(0.0, report.duration - (compiling if report.when == "call" else 0.0))


def pytest_terminal_summary(terminalreporter, exitstatus, config):
    if hasattr(config, "workerinput") or not _spent:
        return
    slowest = sorted(_spent.items(), key=lambda item: -item[1])
    terminalreporter.section("seconds per file")
    for path, seconds in slowest[:10]:
        over = "  OVER BUDGET" if seconds > _budget(path) else ""
        terminalreporter.write_line(f"{seconds:7.1f} s  {path}{over}")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session, exitstatus):
    if hasattr(session.config, "workerinput"):
        return
    over = [path for path, seconds in _spent.items() if seconds > _budget(path)]
    if over and exitstatus == 0:
        session.exitstatus = 1
        reporter = session.config.pluginmanager.get_plugin("terminalreporter")
        reporter.write_line("")
        for path in over:
            reporter.write_line(f"{path}: {_spent[path]:.1f} s, budget {_budget(path):.0f} s", red=True)
