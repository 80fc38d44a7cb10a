"""Measure our code beside what a user would pick instead.

A chapter's benchmark is a short script::

    bench = Benchmark("some_slug")
    for n in bench.sizes([10_000, 100_000, 1_000_000]):
        x = ...
        bench.compare(
            "what is computed",
            size=n,
            ours=lambda: ours(x),
            peers={"numpy": lambda: theirs(x)},
            accuracy=lambda ours, peer: agree(ours, peer),
        )
    bench.finish()

Run it from the root of the repository, ``python -m benchmarks.<part>.bench_<slug> [--smoke]``, or all of them with
``make bench``. ``--smoke`` takes the smallest size, one repeat, and stores nothing: it checks that the script runs
and that both sides agree. ``--case TEXT`` measures only the cases whose names hold the text and puts their rows in the
place of the stored ones, if machine and versions are the same.

The packages compared with live in the environment of ``make bench`` alone, so scripts ask for them by `peer_package`; a
smoke run leaves out those that are not installed and says which.

How it measures: everything in one process, on a fixed number of threads, with the garbage collector off. Each
candidate runs once to warm up (compilation, caches), and its results are compared by `accuracy`, which raises if they
disagree and otherwise says in words in what they agree. Then the candidates take turns, in an order that rotates, so
that a disturbance of the machine hits all of them; a call too short for the clock is repeated within a turn. The time
reported is the median over turns, in seconds of the processor, which count all threads and leave out those in which
another process ran. Once each call runs apart to see how far the memory of the process rises above what it was; the
size of the data stands beside it: all arrays that the call of ours is bound to (``lambda X=X: ...``).

Results go to ``benchmarks/results/<slug>.json``::

    {
      "schema": 2,
      "slug": "some_slug",
      "measured": "2025-01-31",                       day of the measurement
      "machine": {"cpu": ..., "cores": 2, "memory_gb": 8, "threads": 1, "system": "Linux x86_64",
                  "load": 0.4},                       load average at the start: others at work blur the times
      "versions": {"python": ..., "numpy": ..., ...},
      "rows": [
        {
          "case": "what is computed",
          "size": 10000,
          "peer": "numpy",
          "ours_seconds": 0.001,                      medians
          "peer_seconds": 0.002,
          "ratio": 2.0,                               peer_seconds / ours_seconds: above 1 ours is faster
          "ours_spread": 0.03,                        distance of the quartiles over the median
          "peer_spread": 0.05,
          "turns": 15,
          "data_mb": 0.08,                            arrays that go in
          "ours_peak_mb": 0.08,                       most memory in use at once, beyond what was in use before
          "peer_peak_mb": 0.24,
          "accuracy": "largest difference 1e-16"      what was equal
        }
      ]
    }
"""

from __future__ import annotations

import argparse
import ctypes
import datetime
import gc
import importlib.metadata
import importlib.util
import json
import os
import platform
import re
import statistics
import time
from pathlib import Path

import numba
import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

RESULTS = Path(__file__).resolve().parent / "results"
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")

# A turn lasts at least this long, by repeating short calls; the turns of a case go on for SECONDS, within the limits.
# Cases whose turns take so long that three of them last LONG end there.
SHORTEST_TURN = 0.005
SECONDS, LONG = 4.0, 8.0
TURNS = (5, 25)


class PeerAbsent(ImportError):
    """A peer was called whose package is not installed."""

    def again(self, *args):
        """A candidate that says the same when it is called."""
        raise self


class _Absent:
    """Stands for a package that is not installed, and for everything in it; calling it raises `PeerAbsent`."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        return _Absent(self._name)

    def __call__(self, *args, **kwargs):
        raise PeerAbsent(f"{self._name} is not installed here; `make bench` has an environment with it")


def peer_package(name):
    """Return the module called `name`; without its package, something whose functions raise `PeerAbsent`."""
    package = name.partition(".")[0]
    if importlib.util.find_spec(package) is None:
        return _Absent(package)
    return importlib.import_module(name)


class Once:
    """A candidate too slow to repeat: it runs once, and that run is both checked and timed."""

    def __init__(self, call):
        self.call, self.seconds = call, None

    def __call__(self):
        if self.seconds is None:
            start = time.process_time()
            self.result = self.call()
            self.seconds = time.process_time() - start
        return self.result


class Benchmark:
    """Collects the comparisons of one chapter and stores them.

    Parameters
    ----------
    slug : str
        The chapter; names the file of results.
    packages : tuple of str
        Packages, beside the usual ones, whose versions matter.
    threads : int, default=1
        Threads for BLAS, OpenMP and numba, on both sides.
    argv : list of str, optional
        Command line; by default that of the process.
    """

    def __init__(self, slug, *, packages=(), threads=1, argv=None):
        parser = argparse.ArgumentParser(description=f"Benchmark of {slug}.")
        parser.add_argument("--smoke", action="store_true", help="smallest size, one repeat, store nothing")
        parser.add_argument("--case", help="only cases whose name holds this text; the other rows stay as stored")
        parser.add_argument("--output", type=Path, default=RESULTS, help="folder of the results")
        arguments = parser.parse_args(argv)
        if not re.fullmatch(r"[a-z][a-z0-9_]*", slug):
            raise ValueError(f"slug must be the name of a chapter, got {slug!r}")
        self.slug = slug
        self.smoke = arguments.smoke
        self.case = arguments.case
        self.output = arguments.output
        self.threads = threads
        self.packages = tuple(dict.fromkeys((*PACKAGES, *packages)))
        self.rows = []
        self.absent = {}
        self.load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
        threadpool_limits(limits=threads)
        numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))

    def sizes(self, sizes):
        """Return the sizes to run, in increasing order; in smoke mode the smallest."""
        sizes = sorted(sizes)
        return sizes[:1] if self.smoke else sizes

    def compare(self, case, *, size, ours, peers, accuracy):
        """Time one of our calls beside its peers on the same data.

        Parameters
        ----------
        case : str
            What is computed; rows of the same case and peer make a line of the chart.
        size : int
            Position on the chart's axis.
        ours : callable
            Without arguments.
        peers : dict of str to callable
            Each at its fastest setting. One that takes minutes may be wrapped in `Once`.
        accuracy : callable
            ``accuracy(ours_result, peer_result)`` -> a sentence on what is equal; raises if it is not.
        """
        if self.case is not None and self.case not in case:
            return
        equal = self._agreement(ours, peers, accuracy)
        peers = {name: call for name, call in peers.items() if name in equal}
        calls = {"ours": ours, **peers}
        times = self._take_turns(calls)
        peaks = {} if self.smoke else {name: peak_megabytes(c) for name, c in calls.items() if not isinstance(c, Once)}
        data = _round(sum(map(_bytes, _bound(ours))) / 2**20)
        medians = {name: statistics.median(values) for name, values in times.items()}
        for peer in peers:
            self.rows.append(
                {
                    "case": case,
                    "size": int(size),
                    "peer": peer,
                    "ours_seconds": _round(medians["ours"]),
                    "peer_seconds": _round(medians[peer]),
                    "ratio": _round(medians[peer] / medians["ours"]),
                    "ours_spread": _spread(times["ours"]),
                    "peer_spread": _spread(times[peer]),
                    "turns": len(times[peer]),
                    "data_mb": data,
                    "ours_peak_mb": peaks.get("ours"),
                    "peer_peak_mb": peaks.get(peer),
                    "accuracy": equal[peer],
                }
            )
            row = self.rows[-1]
            print(
                f"{case} | {size:>12,} | ours {row['ours_seconds']:.3g} s | {peer} {row['peer_seconds']:.3g} s "
                f"| ratio {row['ratio']:.3g} | {row['accuracy']}",
                flush=True,
            )

    def finish(self):
        """Store the rows; in smoke mode only say that all went well. Return the path, or None."""
        if not self.rows and not self.absent:
            raise ValueError(f"the benchmark of {self.slug} compared nothing")
        if self.smoke:
            print(f"{self.slug}: {len(self.rows)} comparisons agree")
            for peer, reason in self.absent.items():
                print(f"{self.slug}: NOT COMPARED with {peer}: {reason}")
            return None
        result = {
            "schema": 2,
            "slug": self.slug,
            "measured": datetime.datetime.now(datetime.UTC).date().isoformat(),
            "machine": {**describe_machine(self.threads), "load": self.load and round(self.load, 2)},
            "versions": {
                "python": platform.python_version(),
                **{name: importlib.metadata.version(name) for name in self.packages},
            },
            "rows": self.rows,
        }
        self.output.mkdir(parents=True, exist_ok=True)
        path = self.output / f"{self.slug}.json"
        if self.case is not None:
            result["rows"] = _renewed(path, result, self.case)
        path.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return path

    def _agreement(self, ours, peers, accuracy):
        # One peer's result at a time: results may be as large as the data.
        mine = ours()
        equal = {}
        for name, call in peers.items():
            try:
                equal[name] = str(accuracy(mine, call()))
            except PeerAbsent as reason:
                if not self.smoke:
                    raise
                self.absent[name] = str(reason)
        return equal

    def _take_turns(self, calls):
        once = {name: [call.seconds] for name, call in calls.items() if isinstance(call, Once)}
        calls = {name: call for name, call in calls.items() if name not in once}
        names = list(calls)
        gc.collect()
        start = time.process_time()
        first = {name: _clock(call, 1) for name, call in calls.items()}
        if self.smoke:
            return {**{name: [seconds] for name, seconds in first.items()}, **once}
        repeats = {name: _repeats(seconds) for name, seconds in first.items()}
        # The first turn only says how often to repeat, except where once is enough.
        times = {name: [seconds] if repeats[name] == 1 else [] for name, seconds in first.items()}
        turn, last = min(map(len, times.values()), default=0), TURNS[1]
        while turn < last:
            for name in names[turn % len(names) :] + names[: turn % len(names)]:
                times[name].append(_clock(calls[name], repeats[name]))
            turn += 1
            taken = time.process_time() - start
            if (turn >= TURNS[0] and taken > SECONDS) or (turn >= 3 and taken > LONG):
                break
        return {**times, **once}


def _renewed(path, result, case):
    """The stored rows, those of the cases that were measured again replaced."""
    stored = json.loads(path.read_text(encoding="utf-8"))
    here, there = ({**r["machine"], "load": None} for r in (result, stored))
    if here != there or stored["versions"] != result["versions"] or stored["schema"] != result["schema"]:
        raise ValueError(f"{path.name} was measured with other versions or elsewhere: measure all its cases again")
    fresh = {(row["case"], row["size"], row["peer"]): row for row in result["rows"]}
    kept = [fresh.pop((row["case"], row["size"], row["peer"]), row) for row in stored["rows"]]
    gone = [row for row in kept if case in row["case"] and row not in result["rows"]]
    return [row for row in kept if row not in gone] + list(fresh.values())


def describe_machine(threads):
    """Return what the machine is, without its name."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 0
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "memory_gb": round(memory / 2**30, 1),
        "threads": threads,
        "system": f"{platform.system()} {platform.machine()}",
    }


def _cpu():
    try:
        info = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or platform.machine()
    found = re.search(r"^model name\s*:\s*(.+)$", info, re.MULTILINE)
    return found.group(1).strip() if found else platform.machine()


def _repeats(seconds):
    return max(1, round(SHORTEST_TURN / max(seconds, 1e-9))) if seconds < SHORTEST_TURN else 1


def _clock(call, repeats):
    """Return the seconds of one call, averaged over `repeats`, with the garbage collector off."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        start = time.process_time()
        for _ in range(repeats):
            call()
        return (time.process_time() - start) / repeats
    finally:
        if enabled:
            gc.enable()


def peak_megabytes(call):
    """Return by how much the memory of this process rises at most during a call; None where it cannot be seen."""
    status, reset = Path("/proc/self/status"), Path("/proc/self/clear_refs")
    if not (status.exists() and reset.exists()):
        return None
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # memory that was freed and kept would hide what the call takes
    before = _kilobytes(status, "VmRSS")
    reset.write_text("5", encoding="ascii")  # the highest mark begins anew
    result = call()
    peak = _kilobytes(status, "VmHWM")
    del result
    return _round(max(peak - before, 0) / 2**10)


def _kilobytes(status, field):
    return int(re.search(rf"{field}:\s+(\d+) kB", status.read_text(encoding="utf-8")).group(1))


def _bound(call):
    """What a call is bound to: default values of its arguments, and the variables that it closes over."""
    cells = [cell.cell_contents for cell in getattr(call, "__closure__", None) or ()]
    return [*(getattr(call, "__defaults__", None) or ()), *cells]


def _bytes(value):
    if isinstance(value, np.ndarray):
        return value.nbytes
    if sp.issparse(value):
        return sum(part.nbytes for part in vars(value).values() if isinstance(part, np.ndarray))
    if isinstance(value, (tuple, list)):
        return sum(map(_bytes, value))
    return 0


def _spread(values):
    if len(values) < 2:
        return 0.0
    low, middle, high = statistics.quantiles(values, n=4)
    return _round((high - low) / middle)


def _round(value):
    return float(f"{value:.4g}")
