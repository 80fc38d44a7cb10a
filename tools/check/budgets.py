"""A pytest plugin that keeps the book testable: processor seconds per chapter, the ten largest, failure on excess.

Load with ``-p tools.check.budgets``. Processor time hardly depends on how busy the machine is, yet not quite: cores
share caches and memory, so the same work takes up to 1.4 times as many seconds beside busy neighbours, and another
machine has another pace: unchanged code that kept its budget on one took 25 seconds for 15 on another. Above its budget
a chapter is marked; the run fails from `GRACE` times the budget on, which neither explains. Time that numba spends
compiling is not counted: it is paid once, for all layers. The budgets stand in the design of the tests: what ninety
chapters may cost together.
"""

from __future__ import annotations

import contextlib
import importlib
from collections import Counter, defaultdict

import psutil
import pytest

# The aim for exercises is 5, which all keep but debiased_lasso on a busy machine.
LECTURE, FRAMES, UNIT, EXERCISE = 15.0, 5.0, 10.0, 6.0
GRACE = 2.5
MASTERS = "tests/exercises/test_masters.py"
# No chapters: the system as a whole.
EXEMPT = ("tests/contract/", "tests/datasets/", "tests/browser/", "tests/frame/", "tests/exercises/")

# What a process imports once, whichever chapter comes first: no chapter is charged for it.
SHARED = ("scipy.optimize", "scipy.stats", "sklearn.ensemble", "sklearn.linear_model", "sklearn.model_selection")

_spent = defaultdict(float)
_clocks = {}


def charge(what, seconds):
    """Count processor seconds that were spent elsewhere, such as by the kernel of a notebook."""
    _spent[what] += seconds


def budget(what):
    """Seconds that a file, or one chapter's exercise, may take."""
    if what.endswith("(frames)"):
        return FRAMES
    if what.startswith(("lectures/", "book/")):
        return LECTURE
    if what.startswith(MASTERS):
        return EXERCISE
    if what.startswith("tests/") and not what.startswith(EXEMPT):
        return UNIT
    return float("inf")


def _charged_to(nodeid):
    """The file of a test; the masters of all chapters stand in one, and each chapter has its own budget."""
    path, _, test = nodeid.partition("::")
    chapter = test.partition("[")[2].partition("]")[0]  # xdist writes the group behind the bracket
    return f"{path} [{chapter}]" if path == MASTERS and chapter else path


def pytest_configure(config):
    from tools.run.clock import watch_compilation

    _clocks["compilation"] = watch_compilation()


def pytest_collection_finish(session):
    if any(item.nodeid.startswith("tests/") for item in session.items):
        for name in SHARED:
            importlib.import_module(name)


def _now():
    from tools.run.clock import processor_seconds

    return processor_seconds() - _clocks["compilation"].seconds


def _elder_children():
    """What the children of this process, older than the test to come, have spent: {number: seconds}."""
    found = {}
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.Error):
            found[child.pid] = sum(child.cpu_times()[:4])
    return found


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item, nextitem):
    _clocks["elders"] = _elder_children() if item.nodeid.startswith(MASTERS) else {}
    _clocks["started"] = _now()
    yield


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    if call.when == "teardown":
        # A child's seconds count when it ends: what it spent before this test is not this test's.
        elders = _clocks["elders"]
        ended = set(elders) - {child.pid for child in psutil.Process().children()} if elders else ()
        spent = _now() - _clocks["started"] - sum(elders[number] for number in ended)
        outcome.get_result().user_properties.append(("processor_seconds", max(spent, 0.0)))


def pytest_runtest_logreport(report):
    if report.when == "teardown":
        spent = sum(value for name, value in report.user_properties if name == "processor_seconds")
        _spent[_charged_to(report.nodeid)] += spent


def pytest_terminal_summary(terminalreporter, exitstatus, config):
    if hasattr(config, "workerinput") or not _spent:
        return
    terminalreporter.section("processor seconds, compilation apart")
    for what, seconds in Counter(_spent).most_common(10):
        over = "  OVER BUDGET" if seconds > budget(what) else ""
        terminalreporter.write_line(f"{seconds:7.1f} s  {what}{over}")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session, exitstatus):
    if hasattr(session.config, "workerinput"):
        return
    over = [what for what, seconds in _spent.items() if seconds > GRACE * budget(what)]
    if over and exitstatus == 0:
        session.exitstatus = 1
        reporter = session.config.pluginmanager.get_plugin("terminalreporter")
        reporter.write_line("")
        for what in over:
            reporter.write_line(f"{what}: {_spent[what]:.1f} s, budget {budget(what):.0f} s", red=True)
