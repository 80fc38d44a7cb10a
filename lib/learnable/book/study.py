"""Studies: a source's experiments as grids of independent cells, small in a lecture, whole in ``learnable reproduce``.

A chapter's ``experiments.py`` states an experiment once::

    @study(
        source="Javanmard and Montanari 2014, Table 1",
        paper={"repetitions": 20, "n": [1000], "p": [600], "method": ["debiased", "ridge"]},
        lecture={"repetitions": 2, "n": [200], "p": [60], "method": ["debiased"]},
        paired=("method",),
    )
    def coverage(random_state, *, n, p, method):
        ...
        return {"coverage": 0.95, "length": 0.2}

A *cell* is one repetition of one setting. Its random numbers follow from the chapter, the study, the setting and the
number of the repetition, and from nothing else: so every order, number of workers and backend gives the same figures.
Settings that differ in the names under ``paired`` alone see the same random numbers, and hence the same data.
"""

from __future__ import annotations

import contextlib
import datetime
import functools
import hashlib
import importlib
import json
import math
import numbers
import os
import platform
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from sklearn.model_selection import ParameterGrid

from learnable._cluster import joblib_backend
from learnable._threads import one_thread
from learnable.book.sources import code_digest
from learnable.book.study_results import CHAPTERS, DIGITS, Row, StudyResult, store, stored_result, summary

__all__ = ["Row", "Study", "StudyError", "StudyResult", "confirm", "find_studies", "is_stale", "reproduce", "study"]

SCALES = ("lecture", "paper")
SAMPLE_SECONDS, SAMPLE_CELLS = 5.0, 8  # of a study's cells that are stored, one by one
PACKAGES = ("numpy", "scipy", "sklearn", "numba")


class StudyError(RuntimeError):
    """Some cells of a study failed."""


def study(*, source, paper, lecture, paired=(), note=None, timed=()):
    """Make a study of a function ``run(random_state, **setting)`` that returns a dictionary of figures.

    Parameters
    ----------
    source : str
        Where the experiment is printed.
    paper, lecture : dict or list of dict
        The grid at the source's scale and at the size that a lecture can wait for: lists of values by name, and
        ``"repetitions"``. Several dictionaries stand for the union of their grids.
    paired : sequence of str
        Names of the setting that do not change the random numbers.
    note : str, optional
        How ``paper`` differs from what the source ran, if it does.
    timed : sequence of str
        Figures that are times, besides those called seconds: another machine gives others, so that `confirm` leaves
        them out.

    Returns
    -------
    callable
        A decorator that gives a `Study`.
    """

    def decorate(run):
        grids = _checked_grid("paper", paper), _checked_grid("lecture", lecture)
        return Study(run, source, *grids, tuple(paired), note, tuple(timed))

    return decorate


@dataclass(frozen=True)
class Study:
    """An experiment as a grid of independent cells; made by `study`."""

    run: object
    source: str
    paper: tuple
    lecture: tuple
    paired: tuple = ()
    note: str | None = None
    timed: tuple = ()

    def __post_init__(self):
        # A frozen dataclass refuses assignment; help() and doctest look for these.
        vars(self).update(__doc__=self.run.__doc__, __name__=self.run.__name__, __wrapped__=self.run)

    def __call__(self, random_state, **setting):
        """Run one cell with random numbers of the caller's choice."""
        return self.run(random_state, **setting)

    def __reduce__(self):
        return _by_name, (self.run.__module__, self.run.__qualname__)

    @property
    def name(self):
        return self.run.__name__

    @property
    def chapter(self):
        """Name of the package that holds the chapter's ``experiments`` module."""
        return self.run.__module__.rpartition(".")[0].rpartition(".")[2] or self.run.__module__

    def cells(self, scale="lecture"):
        """All cells, ``[(setting, repetition), ...]``.

        Parameters
        ----------
        scale : {"lecture", "paper"} or float
            A number in (0, 1] is that share of the repetitions at the source's scale, at least one.
        """
        grids = self.lecture if scale == "lecture" else self.paper
        if not (isinstance(scale, str) and scale in SCALES):
            share = _checked_share(scale)
            grids = [{**grid, "repetitions": max(1, math.ceil(share * grid["repetitions"]))} for grid in grids]
        found = {}
        for grid in grids:
            axes = {name: values for name, values in grid.items() if name != "repetitions"}
            for setting in ParameterGrid(axes):
                for repetition in range(grid["repetitions"]):
                    found[self.key(setting, repetition)] = (setting, repetition)
        return list(found.values())

    def key(self, setting, repetition):
        """The name of a cell under which its figures are kept."""
        return _canonical([dict(setting), int(repetition)])

    def random_state(self, setting, repetition):
        """The generator of one cell."""
        drawn = {name: value for name, value in setting.items() if name not in self.paired}
        told = _canonical([self.chapter, self.name, drawn, int(repetition)])
        return np.random.default_rng(int.from_bytes(hashlib.sha256(told.encode()).digest()[:16], "big"))

    def cell(self, setting, repetition):
        """Run one cell, with one thread; return its figures as plain numbers, rounded to what is kept."""
        # Cells share the cores among themselves. Threads of BLAS below them get in each other's way, up to forty times.
        with one_thread():
            figures = self.run(self.random_state(setting, repetition), **setting)
        if not isinstance(figures, dict) or not figures:
            raise TypeError(f"{self.name} must return a dictionary of figures, got {type(figures).__name__}")
        return {str(name): _kept(name, value) for name, value in figures.items()}

    def at(self, scale="lecture"):
        """Run the study here and now, in this process, and keep nothing; see `reproduce` for large ones."""
        started = time.process_time()
        finished = {self.key(*cell): self.cell(*cell) for cell in self.cells(scale)}
        return self._result(finished, scale, time.process_time() - started)

    @property
    def stored(self):
        """The result at the source's scale that travels with the package."""
        return stored_result(self.chapter, self.name)

    @property
    def digest(self):
        """A hash of the code behind the study."""
        return code_digest(sys.modules[self.run.__module__].__file__)

    def _result(self, finished, scale, seconds):
        groups = {}
        for setting, repetition in self.cells(scale):
            groups.setdefault(_canonical(setting), (setting, []))[1].append(finished[self.key(setting, repetition)])
        rows = tuple(summary(setting, figures) for setting, figures in groups.values())
        told = scale if isinstance(scale, str) else float(scale)
        return StudyResult(self.chapter, self.name, self.source, told, rows, seconds, self.note)


def reproduce(studies, *, scale="paper", n_jobs=1, scheduler=None, folder=None, progress=False):
    """Run studies cell by cell, keeping every finished cell, and return their results.

    What is finished stands in a file of its own beside the others, under the digest of the code: interrupted by
    Ctrl-C, ``kill -9`` or a lost worker, the same call goes on where it ended.

    Parameters
    ----------
    studies : sequence of Study
    scale : {"lecture", "paper"} or float
    n_jobs : int
        Processes on this machine (joblib with loky).
    scheduler : str, optional
        Address of a Dask scheduler; the cells are sent there through joblib's backend, and ``n_jobs`` does not count.
    folder : path-like, optional
        Where finished cells are kept; the user's cache folder by default.
    progress : bool
        Whether to show a bar with the time left.

    Returns
    -------
    list of StudyResult

    Raises
    ------
    StudyError
        Cells failed; all others are kept.
    """
    results = []
    for one in studies:
        journal = _Journal(_journal_path(one, folder))
        _finish(one, journal, scale, n_jobs, scheduler, progress)
        done = {one.key(*cell): journal.figures(one.key(*cell)) for cell in one.cells(scale)}
        seconds = sum(journal.seconds(key) for key in done)
        results.append(_marked(one, one._result(done, scale, seconds), _sample(one, scale, journal)))
    return results


def _sample(one, scale, journal):
    """A few cells, drawn at random, that run again in a few seconds; at least the one that takes the least."""
    cells = [(journal.seconds(one.key(*cell)), cell) for cell in one.cells(scale)]
    chosen, left = [], SAMPLE_SECONDS
    for index in np.random.default_rng(0).permutation(len(cells)):
        seconds, cell = cells[index]
        if seconds <= left and len(chosen) < SAMPLE_CELLS:
            chosen.append(cell)
            left -= seconds
    chosen = chosen or [min(cells, key=lambda item: item[0])[1]]
    return tuple((setting, repetition, journal.figures(one.key(setting, repetition))) for setting, repetition in chosen)


def _finish(one, journal, scale, n_jobs, scheduler, progress):
    """Run what the journal does not have yet. A worker that dies costs its own cells only: they are tried again."""
    from concurrent.futures.process import BrokenProcessPool

    failed = {}
    for attempt in range(3):
        left = [cell for cell in one.cells(scale) if one.key(*cell) not in journal and one.key(*cell) not in failed]
        if not left:
            break
        try:
            for setting, repetition, figures, seconds, trouble in _outcomes(one, left, n_jobs, scheduler, progress):
                key = one.key(setting, repetition)
                if trouble:
                    failed[key] = trouble
                else:
                    journal.add(key, figures, seconds)
        except BrokenProcessPool:
            if attempt == 2:
                raise
    if failed:
        first, trouble = next(iter(failed.items()))
        raise StudyError(f"{one.name}: {len(failed)} cells failed; the first is {first}: {trouble}")


def _outcomes(one, cells, n_jobs, scheduler, progress):
    from joblib import Parallel, delayed
    from tqdm import tqdm

    with joblib_backend(scheduler):
        count = -1 if scheduler else min(n_jobs, len(cells))
        pool = Parallel(n_jobs=count, return_as="generator_unordered", batch_size=1, pre_dispatch="2*n_jobs")
        outcomes = pool(delayed(_run_cell)(one, setting, repetition) for setting, repetition in cells)
        label = f"{one.chapter} {one.name}"
        yield from tqdm(outcomes, total=len(cells), desc=label, unit="cell", disable=not progress, smoothing=0.05)


def _run_cell(one, setting, repetition):
    started = time.process_time()
    try:
        figures, trouble = one.cell(setting, repetition), None
    except Exception as error:
        figures, trouble = None, f"{type(error).__name__}: {error}"
    return setting, repetition, figures, time.process_time() - started, trouble


class _Journal:
    """Finished cells, a line of JSON each; a line that was cut by a crash counts as not there."""

    def __init__(self, path):
        self.path, self._known = Path(path), {}
        if self.path.exists():
            for line in self.path.read_text(encoding="utf-8").splitlines():
                with contextlib.suppress(ValueError, KeyError, TypeError):
                    record = json.loads(line)
                    self._known[record["key"]] = (record["figures"], record["seconds"])

    def __contains__(self, key):
        return key in self._known

    def figures(self, key):
        return self._known[key][0]

    def seconds(self, key):
        return self._known[key][1]

    def add(self, key, figures, seconds):
        self._known[key] = (figures, seconds)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        line = json.dumps({"key": key, "figures": figures, "seconds": round(seconds, 4)})
        with self.path.open("a", encoding="utf-8") as file:
            # The line break comes first: it ends a line that a crash may have cut.
            file.write("\n" + line)
            file.flush()
            os.fsync(file.fileno())


def _journal_path(one, folder):
    if folder is None:
        cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        folder = Path(cache) / "learnable" / "studies"
    return Path(folder) / one.chapter / f"{one.name}-{one.digest}.jsonl"


def find_studies(slug):
    """The studies of a chapter, by name, in the order of its ``experiments.py``.

    Raises
    ------
    LookupError
        There is no such chapter, or it has no studies.
    """
    places = [path.parent.name for path in sorted(CHAPTERS.glob("*/experiments.py"))]
    if slug not in places:
        raise LookupError(f"no studies for {slug!r}; there are some for {', '.join(places) or 'no chapter yet'}")
    module = importlib.import_module(f"learnable.chapters.{slug}.experiments")
    return {item.name: item for item in vars(module).values() if isinstance(item, Study)}


def is_stale(one):
    """Whether the code behind a study has changed since its stored result was made, or last confirmed."""
    made = one.stored.made
    return one.digest not in (made.get("digest"), made.get("confirmed", {}).get("digest"))


def confirm(one, *, results=CHAPTERS):
    """Run the stored sample of a study again with the code of today, and note in its file that the figures agree.

    A change of the code need not change its results. Figures that are times are left out of the comparison.

    Parameters
    ----------
    one : Study
    results : path-like
        The folder of the stored results.

    Returns
    -------
    tuple of int
        Cells compared, and cells of the study.

    Raises
    ------
    StudyError
        A figure differs; the stored result is left as it is.
    LookupError
        No result is stored, or none with a sample.
    """
    result = stored_result(one.chapter, one.name, results)
    if not result.sample:
        raise LookupError(f"no cells of {one.name} are stored; `learnable reproduce {one.chapter} --store` keeps some")
    for setting, repetition, before in result.sample:
        now = one.cell(setting, repetition)
        for name, value in before.items():
            if "seconds" not in name and name not in one.timed and not _same(value, now.get(name)):
                told = f"{name} was {value}, is {now.get(name)}"
                raise StudyError(f"{one.name}, {one.key(setting, repetition)}: {told}")
    count, of = len(result.sample), len(one.cells(result.scale))
    noted = {"digest": one.digest, "cells": count, "of": of, "date": datetime.date.today().isoformat()}
    store([replace(result, made={**result.made, "confirmed": noted})], results)
    return count, of


def _same(before, now):
    if before is None or now is None:
        return before is now
    return bool(np.allclose(np.asarray(before, float), np.asarray(now, float), rtol=1e-7, atol=1e-12))


def _marked(one, result, sample):
    made = {
        "date": datetime.date.today().isoformat(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "versions": {
            name: importlib.import_module(name).__version__ for name in ("numpy", "scipy", "sklearn", "numba")
        },
        "digest": one.digest,
    }
    return replace(result, made=made, sample=sample)


def _by_name(module, name):
    return functools.reduce(getattr, name.split("."), importlib.import_module(module))


def _checked_grid(what, grids):
    grids = [grids] if isinstance(grids, dict) else list(grids)
    for grid in grids:
        count = grid.get("repetitions")
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise ValueError(f"{what} needs a positive number of repetitions, got {count!r}")
        for name, values in grid.items():
            if name == "repetitions":
                continue
            if not isinstance(values, (list, tuple)) or not values:
                raise ValueError(f"{what}[{name!r}] must be a list of values, got {values!r}")
            for value in values:
                if not isinstance(value, (str, int, float, bool, type(None))):
                    raise ValueError(f"{what}[{name!r}] holds {value!r}; only text and plain numbers can be stored")
    return tuple(grids)


def _checked_share(scale):
    if isinstance(scale, bool) or not isinstance(scale, numbers.Real) or not 0 < scale <= 1:
        raise ValueError(f"scale must be one of {SCALES} or a number in (0, 1], got {scale!r}")
    return float(scale)


def _canonical(told):
    return json.dumps(told, sort_keys=True, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def _kept(name, value):
    """A figure as it is stored: a plain number, a list of them, or None for "there is none"."""
    if value is None or isinstance(value, (bool, np.bool_)):
        return None if value is None else bool(value)
    if np.ndim(value) == 1:
        return [_kept(name, item) for item in value]
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{name} is {number}; return None where there is no figure")
    return int(value) if isinstance(value, (int, np.integer)) else float(f"{number:.{DIGITS}g}")
