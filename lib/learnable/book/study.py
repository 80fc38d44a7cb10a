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
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from sklearn.model_selection import ParameterGrid

from learnable._cluster import joblib_backend
from learnable._files import write_atomically
from learnable._threads import one_thread
from learnable.book.claims import with_error
from learnable.book.sources import code_digest

__all__ = ["Row", "Study", "StudyError", "StudyResult", "confirm", "find_studies", "is_stale", "reproduce", "study"]

SCALES = ("lecture", "paper")
DIGITS = 10  # significant digits that are kept: what another order of additions may change lies below them
PACKAGES = ("numpy", "scipy", "sklearn", "numba")
RESULTS = Path(__file__).with_name("results")


class StudyError(RuntimeError):
    """Some cells of a study failed."""


def study(*, source, paper, lecture, paired=(), note=None):
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

    Returns
    -------
    callable
        A decorator that gives a `Study`.
    """

    def decorate(run):
        return Study(run, source, _checked_grid("paper", paper), _checked_grid("lecture", lecture), tuple(paired), note)

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
        rows = tuple(_summary(setting, figures) for setting, figures in groups.values())
        told = scale if isinstance(scale, str) else float(scale)
        return StudyResult(self.chapter, self.name, self.source, told, rows, seconds, self.note)


@dataclass(frozen=True)
class Row:
    """One setting: how many repetitions gave a figure, their means and the standard errors of these."""

    setting: dict
    count: dict
    mean: dict
    se: dict
    median: dict


@dataclass(frozen=True)
class StudyResult:
    """The figures of a study.

    ``rows`` has one `Row` for each setting; ``seconds`` are processor seconds of all cells together; ``made`` says on
    what machine, when and by which code it was made (empty for a run of one's own).
    """

    chapter: str
    name: str
    source: str
    scale: str | float
    rows: tuple
    seconds: float
    note: str | None = None
    made: dict = field(default_factory=dict)

    def row(self, **setting):
        """The one row that agrees with all the values given.

        Raises
        ------
        LookupError
            None agrees, or several do.
        """
        found = [row for row in self.rows if all(row.setting.get(name) == value for name, value in setting.items())]
        if len(found) != 1:
            raise LookupError(f"{len(found)} rows of {self.name} agree with {setting}; it has {self._settings()}")
        return found[0]

    def mean(self, figure, **setting):
        return _named(self.row(**setting).mean, figure)

    def se(self, figure, **setting):
        """Standard error of the mean; None where one repetition was run."""
        return _named(self.row(**setting).se, figure)

    def median(self, figure, **setting):
        return _named(self.row(**setting).median, figure)

    def series(self, along, figure, **setting):
        """Two arrays: the values of one name of the setting, in order, and the means of a figure there."""
        found = sorted(
            (row.setting[along], row.mean[figure])
            for row in self.rows
            if all(row.setting.get(name) == value for name, value in setting.items())
        )
        if not found:
            raise LookupError(f"no row of {self.name} agrees with {setting}; it has {self._settings()}")
        x, y = zip(*found, strict=True)
        return np.array(x), np.array(y)

    def to_frame(self):
        """The rows as a pandas frame: setting, repetitions, means, and standard errors as ``…_se``."""
        import pandas as pd

        return pd.DataFrame(
            [
                {
                    **row.setting,
                    "repetitions": max(row.count.values()),
                    **row.mean,
                    **{f"{name}_se": value for name, value in row.se.items() if value is not None},
                }
                for row in self.rows
            ]
        )

    def to_text(self):
        """The rows as an aligned table: setting, then mean ± standard error of each figure that is one number."""
        head = [*dict.fromkeys(name for row in self.rows for name in row.setting)]
        figures = [*dict.fromkeys(n for row in self.rows for n, v in row.mean.items() if not isinstance(v, list))]
        table = [[*head, *figures]]
        for row in self.rows:
            shown = [_with_error(row.mean.get(name), row.se.get(name)) for name in figures]
            table.append([*(str(row.setting.get(name, "")) for name in head), *shown])
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in table)

    def _settings(self):
        return "; ".join(", ".join(f"{k}={v!r}" for k, v in row.setting.items()) for row in self.rows[:12])


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
        results.append(_marked(one, one._result(done, scale, seconds)))
    return results


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
        from platformdirs import user_cache_path

        folder = user_cache_path("learnable") / "studies"
    return Path(folder) / one.chapter / f"{one.name}-{one.digest}.jsonl"


def find_studies(slug):
    """The studies of a chapter, by name, in the order of its ``experiments.py``.

    Raises
    ------
    LookupError
        There is no such chapter, or it has no studies.
    """
    package = Path(__file__).resolve().parent.parent
    places = {path.parent.name: path for path in sorted(package.glob("*/*/experiments.py"))}
    if slug not in places:
        raise LookupError(f"no studies for {slug!r}; there are some for {', '.join(places) or 'no chapter yet'}")
    part = places[slug].parent.parent.name
    module = importlib.import_module(f"learnable.{part}.{slug}.experiments")
    return {item.name: item for item in vars(module).values() if isinstance(item, Study)}


def store(results, folder=RESULTS):
    """Write results into their chapter's file, replacing those of the same studies; return the path."""
    chapter = results[0].chapter
    path = Path(folder) / f"{chapter}.json"
    kept = json.loads(path.read_text(encoding="utf-8"))["studies"] if path.exists() else {}
    kept |= {result.name: _record(result) for result in results}
    text = json.dumps({"chapter": chapter, "studies": dict(sorted(kept.items()))}, indent=1, ensure_ascii=False)
    write_atomically(path, text + "\n")
    return path


def stored_result(chapter, name, folder=RESULTS):
    """The stored result of a study."""
    path = Path(folder) / f"{chapter}.json"
    known = json.loads(path.read_text(encoding="utf-8"))["studies"] if path.exists() else {}
    if name not in known:
        raise LookupError(f"no result of {name!r} is stored; `learnable reproduce {chapter} --study {name}` makes it")
    told = known[name]
    rows = tuple(Row(**row) for row in told["rows"])
    return StudyResult(
        chapter, name, told["source"], told["scale"], rows, told["seconds"], told.get("note"), told["made"]
    )


def is_stale(one):
    """Whether the code behind a study has changed since its stored result was made, or last confirmed."""
    made = one.stored.made
    return one.digest not in (made.get("digest"), made.get("confirmed", {}).get("digest"))


def confirm(one, *, seconds=10.0, folder=None, results=RESULTS):
    """Run some cells of a stored study again with the code of today, and note in its file that they agree.

    A change of the code need not change its results. Cells are taken in a fixed random order until the processor time
    is spent, and compared with what was kept when the result was made; figures called seconds are left out.

    Parameters
    ----------
    one : Study
    seconds : float
    folder : path-like, optional
        Where finished cells are kept, as in `reproduce`.
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
        No result is stored, or its cells are not here.
    """
    result = stored_result(one.chapter, one.name, results)
    journal = _Journal(_journal_path(one, folder).with_name(f"{one.name}-{result.made['digest']}.jsonl"))
    cells = [cell for cell in one.cells(result.scale) if one.key(*cell) in journal]
    if not cells:
        raise LookupError(f"the cells of {one.name} that were run before are not kept on this machine")
    started, count = time.process_time(), 0
    for index in np.random.default_rng(0).permutation(len(cells)):
        before, now = journal.figures(one.key(*cells[index])), one.cell(*cells[index])
        for name, value in before.items():
            if "seconds" not in name and not _same(value, now.get(name)):
                raise StudyError(f"{one.name}, {one.key(*cells[index])}: {name} was {value}, is {now.get(name)}")
        count += 1
        if time.process_time() - started > seconds:
            break
    noted = {"digest": one.digest, "cells": count, "of": len(cells), "date": datetime.date.today().isoformat()}
    store([StudyResult(**{**vars(result), "made": {**result.made, "confirmed": noted}})], results)
    return count, len(cells)


def _same(before, now):
    if before is None or now is None:
        return before is now
    return bool(np.allclose(np.asarray(before, float), np.asarray(now, float), rtol=1e-7, atol=1e-12))


def _record(result):
    rows = [
        {"setting": r.setting, "count": r.count, "mean": r.mean, "se": r.se, "median": r.median} for r in result.rows
    ]
    return {
        "source": result.source,
        "scale": result.scale,
        "note": result.note,
        "seconds": round(result.seconds, 1),
        "made": result.made,
        "rows": rows,
    }


def _marked(one, result):
    made = {
        "date": datetime.date.today().isoformat(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "versions": {
            name: importlib.import_module(name).__version__ for name in ("numpy", "scipy", "sklearn", "numba")
        },
        "digest": one.digest,
    }
    return StudyResult(**{**vars(result), "made": made})


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


def _summary(setting, figures):
    """Means, medians and standard errors over the repetitions of one setting."""
    names = list(dict.fromkeys(name for one in figures for name in one))
    count, mean, se, median = {}, {}, {}, {}
    for name in names:
        values = [one[name] for one in figures if one.get(name) is not None]
        count[name] = len(values)
        table = np.array(values, dtype=float)
        mean[name] = _rounded(table.mean(axis=0)) if values else None
        median[name] = _rounded(np.median(table, axis=0)) if values else None
        se[name] = _rounded(table.std(axis=0, ddof=1) / math.sqrt(len(values))) if len(values) > 1 else None
    return Row(dict(setting), count, mean, se, median)


def _rounded(value):
    return [float(f"{v:.{DIGITS}g}") for v in value] if np.ndim(value) else float(f"{float(value):.{DIGITS}g}")


def _with_error(mean, se):
    """A mean with its standard error in plain decimals, as many as the error allows: 620 ± 70, 0.957 ± 0.004."""
    if mean is None:
        return "–"
    if isinstance(mean, list):
        return ", ".join(f"{value:.4g}" for value in mean)
    if not se or isinstance(se, list):
        return f"{mean:.0f}" if 1e4 <= abs(mean) < 1e9 else f"{mean:.4g}"
    return with_error(mean, se)


def _named(figures, name):
    if name not in figures:
        raise LookupError(f"no figure {name!r}; there are {', '.join(figures)}")
    return figures[name]
