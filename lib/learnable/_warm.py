"""Compile everything ahead, by running every example of the documentation once: `learnable warm`.

The examples call each public function with the types that people use, and the tests hold them complete; so the kernels
that they need are those that a reader's first calls need.
"""

from __future__ import annotations

import ast
import contextlib
import doctest
import importlib
import io
import os
import pkgutil
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from tqdm import tqdm

import learnable

LEFT_OUT = ("learnable.book", "learnable.exercises", "learnable.cli")  # nothing to compile


def modules():
    """Names of the modules with algorithms or data, private ones too: those are where kernels live."""
    found = [info.name for info in pkgutil.walk_packages(learnable.__path__, "learnable.", onerror=_pass)]
    return [name for name in found if not name.startswith(LEFT_OUT) and not name.endswith(".__main__")]


def _pass(name):
    """A package that cannot be imported has nothing to compile."""


def examples(module):
    """The examples of a module's docstrings, each with the names that it may use."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    return [test for test in finder.find(module) if test.examples]


def run(test, on_statement=None):
    """Run one example without comparing what it prints; ``on_statement(is_import)`` may wrap each statement."""
    names = dict(test.globs)
    for example in test.examples:
        is_import = all(isinstance(node, (ast.Import, ast.ImportFrom)) for node in ast.parse(example.source).body)
        with on_statement(is_import) if on_statement else contextlib.nullcontext():
            try:
                exec(compile(example.source, f"<example of {test.name}>", "single"), names)
            except Exception:
                if example.exc_msg is None:  # some examples show an error
                    raise


def warm_module(name):
    """Run the examples of one module; return how many there are, how many kernels that compiled, and failures."""
    os.environ["LEARNABLE_QUIET"] = "1"
    try:
        module = importlib.import_module(name)
    except ImportError as error:  # an extra that is not installed
        return 0, 0, [f"{name}: {error}"]
    from numba.core import event

    found, failed = examples(module), []
    with event.install_recorder("numba:compile") as compiled, contextlib.redirect_stdout(io.StringIO()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for test in found:
                try:
                    run(test)
                except Exception as error:
                    failed.append(f"{test.name}: {type(error).__name__}: {error}")
    return len(found), sum(record.is_end for _, record in compiled.buffer), failed


def warm(jobs=1, only=""):
    """Run all examples in ``jobs`` processes, a line of progress for each module; return the sums of `warm_module`."""
    names = [name for name in modules() if only in name]
    total, compiled, failed = 0, 0, []
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        for result in tqdm(pool.map(warm_module, names), total=len(names), desc="compiling", unit="module"):
            total, compiled, failed = total + result[0], compiled + result[1], failed + result[2]
    return total, compiled, failed
