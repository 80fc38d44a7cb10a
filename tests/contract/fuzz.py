"""Calls every public name with arguments that are almost right, in a process that may die.

The examples in the docstrings say how each name is called. They are run once with the names replaced by recorders;
then each recorded call is repeated with one argument changed: NaN, empty, one row too few, 1e300, a string, Fortran
order, ... A call may end well, or be refused with a ``ValueError`` or ``TypeError`` that says why; everything else is a
defect, see `KINDS`. Which changes a name gets depends on the name alone, so that results are the same on every machine
and a new function elsewhere does not move them.

``python tests/contract/fuzz.py CALLS [PREFIX]`` prints what it finds.
"""

from __future__ import annotations

import collections
import contextlib
import copy
import dataclasses
import doctest
import faulthandler
import importlib
import inspect
import io
import itertools
import json
import numbers
import os
import pkgutil
import random
import resource
import signal
import subprocess
import sys
import warnings
import zlib
from pathlib import Path

import numpy as np

KINDS = ("fine", "refused", "runtime warning", "nan", "differs", "other exception", "over time", "crash")
"""Fine; refused with a message; a floating-point warning; NaN without one; another result for the same numbers in
another memory layout; an exception that is no refusal; more than `SECONDS` of processor time; death of the process."""
SECONDS = 10
MEMORY = 6 * 2**30
APART = ("learnable.book", "learnable.exercises", "learnable.cli")  # no algorithms: they have layers of their own


# --- names and their recorded calls ----------------------------------------------------------------------------------


def public_names():
    """{qualified name: (module, object)} of what the packages export, each once, under the module that defines it."""
    found = {}
    import learnable

    for info in pkgutil.walk_packages(learnable.__path__, "learnable."):
        if info.name.startswith(APART) or any(part.startswith("_") for part in info.name.split(".")):
            continue
        module = importlib.import_module(info.name)
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            home = getattr(value, "__module__", None)
            if callable(value) and home and home.startswith("learnable."):
                found[f"{home}.{name}"] = (importlib.import_module(home), value)
    return dict(sorted(found.items()))


@dataclasses.dataclass
class Call:
    name: str
    target: object
    args: tuple
    kwargs: dict


class Recorder:
    """Stands for a function or class in the namespace of an example, and keeps copies of the calls."""

    def __init__(self, name, value, calls):
        self.name, self.value, self.calls = name, value, calls
        self.__wrapped__ = value

    def __call__(self, *args, **kwargs):
        _keep(self.calls, self.name, self.value, args, kwargs)
        result = self.value(*args, **kwargs)
        if inspect.isclass(self.value):
            for method in _methods(self.value):
                with contextlib.suppress(Exception):
                    object.__setattr__(result, method, _Method(f"{self.name}.{method}", result, method, self.calls))
        return result

    def __getattr__(self, attribute):
        return getattr(self.value, attribute)

    def __instancecheck__(self, instance):
        return isinstance(instance, self.value)


class _Method:
    def __init__(self, name, owner, method, calls):
        self.name, self.owner, self.method, self.calls = name, owner, method, calls

    def __call__(self, *args, **kwargs):
        bound = getattr(type(self.owner), self.method).__get__(self.owner)
        _keep(self.calls, self.name, bound, args, kwargs)
        return bound(*args, **kwargs)


def _methods(cls):
    return [n for n, v in inspect.getmembers(cls, inspect.isfunction) if not n.startswith("_") and "metadata" not in n]


def _keep(calls, name, target, args, kwargs):
    """Copies, since an example may go on and change its arguments; what cannot be copied is not called again."""
    with contextlib.suppress(Exception):
        if inspect.ismethod(target):
            owner = copy.copy(target.__self__)
            for method in _methods(type(owner)):
                owner.__dict__.pop(method, None)
            target = target.__func__.__get__(copy.deepcopy(owner))
        args, kwargs = copy.deepcopy((_plain(args), _plain(kwargs)))
        calls.append(Call(name, target, args, kwargs))


def _plain(value):
    """Recorders among arguments give way to what they stand for."""
    if isinstance(value, Recorder):
        return value.value
    if isinstance(value, tuple) and type(value) is tuple:
        return tuple(_plain(v) for v in value)
    if type(value) is dict:
        return {k: _plain(v) for k, v in value.items()}
    return value


def record(name, module, value):
    """The calls of one name in its own examples."""
    calls = []
    names = {n: v for n, v in vars(module).items() if callable(v) and getattr(v, "__module__", "") == module.__name__}
    space = dict(vars(module))
    space.update({n: Recorder(f"{module.__name__}.{n}", v, calls) for n, v in names.items() if not n.startswith("_")})
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        for test in doctest.DocTestFinder(recurse=True).find(value, name, module, globs={}):
            with contextlib.suppress(Exception):
                for example in test.examples:
                    exec(compile(example.source, name, "single"), space)
    return [call for call in calls if call.name == name or call.name.startswith(name + ".")]


# --- changes ---------------------------------------------------------------------------------------------------------


def _put(value):
    def change(array):
        array = np.array(array, dtype=float)
        array[(0,) * array.ndim] = value
        return array

    return change


def _read_only(array):
    array = np.array(array)
    array.setflags(write=False)
    return array


def _strided(array):
    array = np.asarray(array)
    wide = np.zeros(tuple(2 * n for n in array.shape), dtype=array.dtype)
    wide[tuple(slice(None, None, 2) for _ in array.shape)] = array
    return wide[tuple(slice(None, None, 2) for _ in array.shape)]


LAYOUTS = {"fortran": np.asfortranarray, "read-only": _read_only, "strided": _strided}
ARRAYS = LAYOUTS | {
    "float32": lambda a: np.asarray(a, dtype=np.float32),
    "nan": _put(np.nan),
    "inf": _put(np.inf),
    "empty": lambda a: np.asarray(a)[:0],
    "one row fewer": lambda a: np.asarray(a)[:-1],
    "one row more": lambda a: np.concatenate([a, np.asarray(a)[-1:]]),
    "one column fewer": lambda a: np.asarray(a)[..., :-1],
    "1e300": lambda a: np.asarray(a, dtype=float) * 1e300,
    "1e154": lambda a: np.asarray(a, dtype=float) * 1e154,
    "1e-300": lambda a: np.asarray(a, dtype=float) * 1e-300,
    "huge integers": lambda a: np.full(np.shape(a), 2**62),
    "negative": lambda a: -np.asarray(a, dtype=float) - 1,
    "zeros": lambda a: np.zeros(np.shape(a)),
    "strings": lambda a: np.asarray(a).astype(str),
    "complex": lambda a: np.asarray(a) * (1 + 1j),
    "another dimension": lambda a: np.asarray(a)[None],
    "first entry": lambda a: np.ravel(a)[0],
    "none": lambda a: None,
    "objects": lambda a: np.full(np.shape(a), None),
}
NUMBERS = {
    repr(v)[:12]: (lambda _, v=v: v)
    for v in (np.nan, np.inf, -1, 0, 0.5, 10**400, 1e300, 1e-300, 2**62, "a", None, True, [1.0, 2.0], 1j, np.zeros(0))
}
OTHERS = {repr(v)[:12]: (lambda _, v=v: v) for v in ("nonsense", "", None, 3, np.nan, [], np.zeros((0, 2)), object)}


def changes(value):
    if isinstance(value, (bool, np.bool_)) or value is None or isinstance(value, str):
        return OTHERS
    if isinstance(value, numbers.Number):
        return NUMBERS
    if isinstance(value, (np.ndarray, list, tuple)):
        with contextlib.suppress(Exception):
            array = np.asarray(value)
            if array.dtype.kind in "iufb" and array.ndim and array.size:
                return ARRAYS
    return OTHERS


def _arguments(call):
    """Where something can be changed: given arguments, and parameters that have a default."""
    places = [*range(len(call.args)), *call.kwargs]
    with contextlib.suppress(Exception):
        signature = inspect.signature(call.target)
        bound = signature.bind(*call.args, **call.kwargs).arguments
        for name, parameter in signature.parameters.items():
            if name not in bound and parameter.default is not inspect.Parameter.empty:
                places.append(name)
                call.kwargs.setdefault(f"\0{name}", parameter.default)
    return places


def prepared(call, rng):
    """(what was changed, args, kwargs, whether only the layout was): one change of one argument, drawn by `rng`."""
    defaults = {}
    places = _arguments(call)
    args, kwargs = copy.deepcopy((call.args, call.kwargs))
    for key in [k for k in kwargs if k.startswith("\0")]:
        defaults[key[1:]] = kwargs.pop(key)
    call.kwargs = {k: v for k, v in call.kwargs.items() if not k.startswith("\0")}
    if not places:
        return None
    place = rng.choice(places)
    value = args[place] if isinstance(place, int) else kwargs.get(place, defaults.get(place))
    options = changes(value)
    label = rng.choice(sorted(options))
    try:
        changed = options[label](value)
    except Exception:
        return None
    if isinstance(place, int):
        args = (*args[:place], changed, *args[place + 1 :])
    else:
        kwargs[place] = changed
    return f"{place}: {label}", args, kwargs, label in LAYOUTS and options is ARRAYS


# --- one call --------------------------------------------------------------------------------------------------------


class OverTime(BaseException):
    pass


def _alarm(*_):
    raise OverTime


def _parts(value, depth=0):
    """The numbers in a result: arrays, fields, learned attributes."""
    if depth > 4 or value is None or isinstance(value, (str, bytes)):
        return
    if isinstance(value, (numbers.Number, np.ndarray, np.generic)):
        yield np.asarray(value)
    elif isinstance(value, dict):
        for key in sorted(value, key=str):
            yield from _parts(value[key], depth + 1)
    elif isinstance(value, (list, tuple)):
        for item in value[:200]:
            yield from _parts(item, depth + 1)
    elif hasattr(value, "__dict__"):
        own = {k: v for k, v in vars(value).items() if dataclasses.is_dataclass(value) or k.endswith("_")}
        yield from _parts(own, depth + 1)


def _has_nan(value):
    return any(part.dtype.kind in "fc" and np.isnan(part).any() for part in _parts(value))


def _same(a, b):
    for x, y in itertools.zip_longest(_parts(a), _parts(b)):
        if x is None or y is None or x.shape != y.shape:
            return False
        if x.dtype.kind in "fciub" and not np.allclose(x, y, rtol=1e-6, atol=1e-9, equal_nan=True):
            return False
    return True


def _result(call, args, kwargs):
    result = (
        copy.deepcopy(call.target)(*args, **kwargs) if inspect.ismethod(call.target) else call.target(*args, **kwargs)
    )
    return list(itertools.islice(result, 20)) if inspect.isgenerator(result) else result


def outcome(call, rng):
    """(kind, what was changed, details) of one changed call, or None if there was nothing to change."""
    made = prepared(call, rng)
    if made is None:
        return None
    label, args, kwargs, layout = made
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("always")
        signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
        try:
            result = _result(call, args, kwargs)
        except OverTime:
            return "over time", label, ""
        except (ValueError, TypeError) as error:
            return (
                "refused" if str(error).strip() else "other exception",
                label,
                f"{type(error).__name__}: {error}"[:160],
            )
        except BaseException as error:
            return "other exception", label, f"{type(error).__name__}: {error}"[:160]
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        floating = [w for w in caught if issubclass(w.category, RuntimeWarning)]
        if floating:
            return (
                "runtime warning",
                label,
                f"{floating[0].message} at {Path(floating[0].filename).name}:{floating[0].lineno}",
            )
        if layout or (_has_nan(result) and not caught):
            try:
                plain = [_result(call, *copy.deepcopy((call.args, call.kwargs))) for _ in range(2)]
            except (ValueError, TypeError):  # the example shows a refusal
                return "fine", label, ""
            if layout and _same(*plain) and not _same(plain[0], result):
                return "differs", label, ""
            if not _has_nan(plain[0]) and _has_nan(result) and "nan" not in label:
                return "nan", label, ""
    return "fine", label, ""


# --- worker and driver -----------------------------------------------------------------------------------------------


def work(jobs):
    """Run jobs (name, first, count), telling before each call what is about to happen and afterwards what did."""
    faulthandler.enable()
    signal.signal(signal.SIGVTALRM, _alarm)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    report = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    everything = public_names()
    for name, first, count in jobs:
        calls = record(name, *everything[name])
        for number in range(first, first + count if calls else first):
            rng = random.Random(zlib.crc32(f"{name} {number}".encode()))
            # A kernel cannot be interrupted: past twice the time the system ends the process.
            used = resource.getrusage(resource.RUSAGE_SELF)
            soft = int(used.ru_utime + used.ru_stime) + 2 * SECONDS + 5
            resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.RLIM_INFINITY))
            print(json.dumps(["start", name, number]), file=report)
            found = outcome(rng.choice(calls), rng)
            print(json.dumps(["end", name, number, found]), file=report)


def run(names, calls_each, environment=None):
    """[(kind, name, number, changed, details)] for `calls_each` calls of each name; workers may die, it goes on."""
    jobs, found = [(name, 0, calls_each) for name in names], []
    while jobs:
        worker = subprocess.Popen(
            [sys.executable, str(Path(__file__).resolve()), "--worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **(environment or {})},
        )
        out, err = worker.communicate(json.dumps(jobs))
        begun = None
        for line in out.splitlines():
            message = json.loads(line)
            begun = message[1:3] if message[0] == "start" else None
            if message[0] == "end" and message[3]:
                kind, changed, details = message[3]
                found.append((kind, message[1], message[2], changed, details))
        if worker.returncode == 0:
            return found
        if begun is None:
            raise RuntimeError(f"the worker died between calls:\n{err[-2000:]}")
        name, number = begun
        kind = "over time" if worker.returncode == -signal.SIGXCPU else "crash"
        found.append((kind, name, number, "", f"signal {-worker.returncode}: {err[-300:]}"))
        place = [job[0] for job in jobs].index(name)
        jobs = [(name, number + 1, calls_each - number - 1), *jobs[place + 1 :]]
    return found


def defects(found):
    """{name: kinds} of the outcomes that no call may have."""
    out = collections.defaultdict(set)
    for kind, name, *_ in found:
        if kind not in ("fine", "refused", "runtime warning"):
            out[name].add(kind)
    return dict(out)


if __name__ == "__main__":
    if sys.argv[1] == "--worker":
        work(json.load(sys.stdin))
    else:
        prefix = sys.argv[2] if len(sys.argv) > 2 else ""
        chosen = [name for name in public_names() if name.startswith(prefix or "learnable.")]
        results = run(chosen, -(-int(sys.argv[1]) // len(chosen)))
        for result in sorted(results):
            if result[0] not in ("fine", "refused"):
                print(*result, sep="\t")
        print(
            dict(collections.Counter(result[0] for result in results)), len(results), "calls of", len(chosen), "names"
        )
