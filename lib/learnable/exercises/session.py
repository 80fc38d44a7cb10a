"""The trusted side of a conversation with a confined submission.

A `Nursery` is the clean process that forks submissions; a `Session` is one submission: it runs the cells, restarts
after a death without the cell that caused it, and lets tests call functions as if they were local. All
comparing is done here, with values that were received as plain data.
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import psutil

from .checking import AskedElsewhere, sentence_of_exception
from .confine import MODES, Confinement, Limits
from .wire import Channel, Closed, Garbled, Overdue, Reference, decode, encode

__all__ = ["Died", "Nursery", "Raised", "RemoteNames", "SandboxError", "Session", "TimeUp"]

_BOOTSTRAP = (
    "import sys, socket; sys.path.insert(0, sys.argv[1]);"
    "from learnable.exercises.runner import main; main(socket.socket(fileno=int(sys.argv[2])))"
)
_FATAL_CELLS = 3
_FATAL_CALLS = 8
_PATIENCE = 10  # how many times its limit a request may take on a machine that is busy with something else
_ENDINGS = {
    signal.SIGSEGV: "crashed the Python process (segmentation fault)",
    signal.SIGABRT: "aborted the Python process",
    signal.SIGXCPU: "used up its CPU time",
    signal.SIGBUS: "crashed the Python process (bus error)",
}


class SandboxError(RuntimeError):
    """The machinery failed, not the submission: no grade may be drawn from this."""


class NurseryGone(SandboxError):
    """The process that starts submissions has ended."""


class Raised(AskedElsewhere):
    """The submission's function raised."""

    def __init__(self, description):
        self.kind = description["kind"]
        self.sentence, self.detail = sentence_of_exception(description)
        super().__init__(self.sentence)


class Died(AskedElsewhere):
    """The submission's process ended."""

    def __init__(self, sentence):
        self.sentence = sentence
        super().__init__(sentence)


class TimeUp(Died):
    """The submission did not answer in time."""


class Nursery:
    """A clean process that has imported the libraries and forks submissions.

    Parameters
    ----------
    modules : sequence of str
        Imported once, before the first fork.
    mode : str, optional
        Which confinement to use; by default the strongest that works here.

    Attributes
    ----------
    mode : str
    modes : list of str
        Everything that works on this machine.
    """

    def __init__(self, modules=(), mode=None, as_user_namespace=False):
        self.as_user_namespace = as_user_namespace
        self.room = tempfile.mkdtemp(prefix="learnable-")
        os.chmod(self.room, 0o711)
        try:
            reply = self._launch(modules, mode)
            if reply["threads"] != 1:  # a process with threads cannot be forked safely: import later, once a submission
                self._end()
                reply = self._launch((), mode)
            if not reply["modes"]:
                raise SandboxError("no way to confine a process works on this machine")
        except BaseException:
            self.close()
            raise
        self.modes = reply["modes"]
        self.mode = self.modes[0]

    def _launch(self, modules, mode):
        ours, theirs = socket.socketpair()
        package = Path(__file__).resolve().parents[2]
        environment = {
            "PATH": "/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "HOME": self.room,
            "IPYTHONDIR": self.room,
            "MPLBACKEND": "Agg",
            "MPLCONFIGDIR": self.room,
            "LEARNABLE_GRADING": "1",
            "PYTHONHASHSEED": "0",
            "PYTHONDONTWRITEBYTECODE": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
            "MKL_NUM_THREADS": "1",
            "NUMBA_NUM_THREADS": "1",
        }
        self.control = ours
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-c", _BOOTSTRAP, str(package), str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            env=environment,
            cwd=self.room,
            start_new_session=True,
        )
        theirs.close()
        return self.request(do="prepare", modules=list(modules), modes=[mode] if mode else None, room=self.room)

    def request(self, descriptors=(), **message):
        """Send one request and return the answer."""
        try:
            socket.send_fds(self.control, [json.dumps(message).encode() + b"\n"], list(descriptors))
            data = b""
            while not data.endswith(b"\n"):
                piece = self.control.recv(1 << 16)
                if not piece:
                    raise ConnectionError
                data += piece
        except OSError:
            raise NurseryGone("the process that starts submissions has ended") from None
        return json.loads(data)

    def describe(self):
        """Say in a sentence how submissions are confined."""
        return Confinement(self.mode, Limits()).describe()

    def alive(self):
        """Whether the nursery still runs."""
        return self.process.poll() is None

    def close(self):
        """End the nursery and everything it started."""
        self._end()
        shutil.rmtree(self.room, ignore_errors=True)

    def _end(self):
        self.control.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()


class Session:
    """One submission, running.

    Parameters
    ----------
    nursery : Nursery
    cells : sequence of str
        The code cells in order.
    limits : Limits
    files : mapping of str to bytes
        Data files that belong to the exercise.
    masked : sequence of str
        Paths that must not be visible.
    sealed : sequence of str
        Modules that must not be imported.

    Attributes
    ----------
    remarks : list of str
        What a reader of the report should know, in the order it happened.
    """

    def __init__(self, nursery, cells, limits=None, files=None, masked=(), sealed=()):
        self.nursery, self.cells = nursery, list(cells)
        self.limits = limits or Limits()
        self.files, self.masked, self.sealed = dict(files or {}), list(masked), list(sealed)
        self.remarks = []
        self.skipped = set()
        self.fatal_calls = 0
        self.written = 0
        self.printed = bytearray()
        self.generation = 0
        self._channel = self._pid = self._room = self._drainer = self._process = None
        self._functions = []
        self._end = time.monotonic() + self.limits.total_seconds

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.stop()

    def remark(self, text):
        """Add a line to the report, once."""
        if text not in self.remarks and len(self.remarks) < 40:
            self.remarks.append(text)

    @property
    def alive(self):
        """Whether a process is there and has run its cells."""
        return self._channel is not None

    def ensure(self):
        """Have a process that has run every cell except those that end it."""
        while not self.alive:
            if self.fatal_calls > _FATAL_CALLS or len(self.skipped) > _FATAL_CELLS:
                raise Died("ended its process too often and was given up")
            if time.monotonic() > self._end:
                raise TimeUp(f"took more than {self.limits.total_seconds:g} s in all")
            self._start()
            for number, source in enumerate(self.cells):
                if number in self.skipped:
                    continue
                try:
                    error = self._run_cell(source)
                except Died as death:
                    self.skipped.add(number)
                    self.remark(f"code cell {number + 1} {death.sentence}; graded without it")
                    break
                if error is not None and self.generation == 1:
                    sentence, detail = sentence_of_exception(error)
                    self.remark(f"code cell {number + 1} {sentence}" + (f" ({detail})" if detail else ""))

    def _run_cell(self, source):
        """Run one cell; return the description of the exception it ended with, or None."""
        try:
            (error,) = self._converse(["cell", source], seconds=self.limits.cell_seconds)
            return None if error is None else _description(error)
        except (Raised, Garbled, KeyError, TypeError, ValueError):
            self.stop()
            raise Died("sent something that is not an answer") from None

    def call(self, reference, args, kwargs):
        """Call a function of the submission and return the plain data it gives."""
        if reference.generation != self.generation:
            raise Died("belongs to a process that has ended")
        buffers = []
        self._functions = []
        document = ["call", reference.number]
        document += [encode(args, buffers, self._refer), encode(kwargs, buffers, self._refer)]
        try:
            return self._converse(document, buffers)
        except Died:
            self.fatal_calls += 1
            raise

    def look(self, name):
        """Return the value of a global of the notebook; ``KeyError`` when there is none."""
        self.ensure()
        return self._converse(["look", name])

    def get(self, reference, attribute):
        """Return an attribute of an object that stayed with the submission."""
        if reference.generation != self.generation:
            raise Died("belongs to a process that has ended")
        return self._converse(["get", reference.number, attribute])

    def names(self):
        """List what the notebook defines."""
        try:
            self.ensure()
            names = self._converse(["names"])
        except AskedElsewhere:
            return []
        return [n for n in names if isinstance(n, str)] if isinstance(names, list) else []

    def stop(self, patience=0.0):
        """End the process, if there is one, and return its exit code.

        ``patience`` is how many seconds it has to end by itself.
        """
        if self._channel is None:
            return None
        pid, self._pid = self._pid, None
        self._channel.close()
        self._channel = None
        try:
            code = self.nursery.request(do="wait", pid=pid, seconds=patience)["code"] if patience else None
            if code is None:
                code = self.nursery.request(do="end", pid=pid, seconds=30.0)["code"]
        except NurseryGone:
            if self.nursery.mode == "namespaces":
                raise
            # Without namespaces a submission can reach the process that started it. That is its own doing.
            self.fatal_calls = _FATAL_CALLS + 1
            self.remark("took down the process that started it")
            code = None
        self._drainer.join(5.0)
        if self.written > self.limits.output:
            self.remark(f"printed {_size(self.written)}; the first {_size(self.limits.output)} were kept")
        shutil.rmtree(self._room, ignore_errors=True)
        return code

    def output(self):
        """Return what the cells printed, shortened, as text."""
        return self.printed.decode("utf-8", "replace")

    def _start(self):
        self.generation += 1
        self._room = tempfile.mkdtemp(dir=self.nursery.room)
        ours, theirs = socket.socketpair()
        reading, output = os.pipe()
        self._pid = self.nursery.request(
            [theirs.fileno(), output],
            do="spawn",
            mode=self.nursery.mode,
            limits=self.limits.as_dict(),
            masked=self.masked,
            sealed=self.sealed,
            room=self._room,
            as_user_namespace=self.nursery.as_user_namespace,
        )["pid"]
        theirs.close()
        os.close(output)
        self._channel = Channel(ours)
        self._drainer = threading.Thread(target=self._drain, args=(reading,), daemon=True)
        self._drainer.start()
        try:
            first, *rest = self._channel.receive(time.monotonic() + 120.0)[0]
            if first != "ready":
                raise SandboxError(f"a submission could not be confined: {' '.join(map(str, rest))}")
            self._process = _Process(self._pid)
            for name, data in self.files.items():
                self._converse(["file", name], [data])
        except (Died, Overdue, Closed, Garbled) as error:
            self.stop()
            raise SandboxError(f"the process of a submission ended before it ran anything ({error})") from None

    def _drain(self, output):
        """Read what the submission prints until nobody can print any more; keep the beginning."""
        with open(output, "rb", buffering=0) as pipe:
            while piece := pipe.read(1 << 20):
                self.written += len(piece)
                self.printed += piece[: max(0, self.limits.output - len(self.printed))]

    def _refer(self, value):
        if isinstance(value, Remote):
            return Reference(value._reference.number, home=True).document()
        if not callable(value):
            raise TypeError(f"a test passed a {type(value).__name__}, which cannot travel to a submission")
        self._functions.append(value)
        name = getattr(value, "__name__", "function")
        return Reference(len(self._functions) - 1, name, True).document()

    def _dereference(self, reference):
        if reference.home:
            return self._functions[reference.number]
        reference.generation = self.generation
        return (RemoteFunction if reference.is_callable else Remote)(self, reference)

    def _converse(self, document, buffers=(), seconds=None):
        """Send a request, serve what the submission asks in between, and return its answer."""
        seconds = seconds or self.limits.call_seconds
        clock = _Clock(self._process, seconds, self._end)
        try:
            if document is not None:
                self._channel.send(document, buffers, clock.deadline)
            while True:
                try:
                    reply, data = self._channel.receive(clock.deadline)
                except Overdue:
                    if clock.used_up():
                        raise
                    continue
                if not isinstance(reply, list) or not reply:
                    raise Garbled("not a reply")
                kind, *rest = reply
                if kind == "number":
                    self._serve_number(*rest, clock.deadline)
                elif kind == "callback":
                    self._serve(rest, data, clock.deadline)
                elif kind == "note":
                    self.remark(str(rest[1])[:200])
                elif kind == "value":
                    return decode(rest[0], data, self._dereference)
                elif kind == "missing":
                    raise KeyError(document[1])
                elif kind == "error":
                    raise Raised(_description(rest[0]))
                elif kind == "done":
                    return rest
                else:
                    raise Garbled("unknown reply")
        except Overdue:
            over_all = time.monotonic() >= self._end
            self.stop()
            limit = f"{self.limits.total_seconds:g} s in all" if over_all else f"{seconds:g} s"
            raise TimeUp(f"did not finish within {limit}") from None
        except Closed:
            raise Died(self._how_it_ended(self.stop(patience=2.0))) from None
        except (Garbled, IndexError, TypeError, ValueError) as error:
            self.stop()
            raise Died(f"sent something that is not an answer ({error})") from None

    def _serve(self, request, data, deadline):
        buffers = []
        try:
            number, args, kwargs = request
            function = self._functions[number]
            args, kwargs = decode(args, data, self._dereference), decode(kwargs, data, self._dereference)
            with np.errstate(all="ignore"):
                reply = ["value", encode(function(*args, **kwargs), buffers, self._refer)]
        except Garbled:
            raise
        except Exception as error:
            reply, buffers = ["raise", type(error).__name__, str(error)[:500]], []
        self._channel.send(reply, buffers, deadline)

    def _serve_number(self, number, value, deadline):
        """Serve the common case, a number for a number, without building a message."""
        try:
            with np.errstate(all="ignore"):
                result = self._functions[number](np.float64(value))
        except Exception as error:
            self._channel.send(["raise", type(error).__name__, str(error)[:500]], (), deadline)
            return
        if type(result) in (float, np.float64):
            self._channel.send_number(0, result, deadline)
        else:
            buffers = []
            reply = ["value", encode(result, buffers, self._refer)]
            self._channel.send(reply, buffers, deadline)

    def _how_it_ended(self, code):
        if code is None:
            return "ended"
        number = -code if code < 0 else code - 128
        if number in _ENDINGS:
            return _ENDINGS[number]
        if number == signal.SIGKILL:
            return "was killed (out of CPU time or memory)"
        return f"ended its own process (exit code {code})"


class _Clock:
    """Decides when a request has taken too long: by CPU time, or by the clock when the submission only waits.

    A receive that is overdue on the clock asks `used_up`, which moves the deadline as long as the submission has CPU
    time left and was kept from using it by others.
    """

    def __init__(self, process, seconds, end):
        self.process, self.seconds, self.end = process, seconds, end
        self.before = process.cpu_seconds()
        start = time.monotonic()
        self.last = min(end, start + _PATIENCE * seconds)
        self.deadline = min(end, start + seconds)

    def used_up(self):
        used = self.process.cpu_seconds_of_all() - self.before
        left = self.seconds - used
        if left <= 0 or time.monotonic() >= self.last or self._idle():
            return True
        self.deadline = min(self.last, time.monotonic() + max(left, 0.1))
        return False

    def _idle(self):
        before = self.process.cpu_seconds()
        for _ in range(10):
            time.sleep(0.03)
            if self.process.runnable() or self.process.cpu_seconds() > before:
                return False
        return True


class _Process:
    """The process in which a submission runs, seen from outside.

    Parameters
    ----------
    pid : int
        The process that the nursery forked; with namespaces the submission is its grandchild.
    """

    def __init__(self, pid):
        self.first = self.process = psutil.Process(pid)
        with contextlib.suppress(psutil.Error):
            descendants = self.first.children(recursive=True)
            self.process = descendants[-1] if descendants else self.first

    def cpu_seconds(self):
        """CPU time so far, of the process and of children that it waited for."""
        return _cpu_seconds(self.process)

    def cpu_seconds_of_all(self):
        """CPU time so far, of the process and of everything that it started."""
        with contextlib.suppress(psutil.Error):
            return sum(map(_cpu_seconds, (self.first, *self.first.children(recursive=True))))
        return self.cpu_seconds()

    def runnable(self):
        """Whether it runs or would like to."""
        try:
            return self.process.status() in (psutil.STATUS_RUNNING, psutil.STATUS_DISK_SLEEP)
        except psutil.Error:
            return False


def _cpu_seconds(process):
    try:
        times = process.cpu_times()
    except psutil.Error:
        return 0.0
    return times.user + times.system + times.children_user + times.children_system


class Remote:
    """An object that stays with the submission; it can be called and its attributes read, as plain data.

    It never takes part in a comparison by rules of its own: equality is identity.
    """

    def __init__(self, session, reference):
        object.__setattr__(self, "_session", session)
        object.__setattr__(self, "_reference", reference)

    @property
    def kind_of_answer(self):
        """The name of its class over there."""
        return self._reference.kind

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return self._session.get(self._reference, name)


class RemoteFunction(Remote):
    """A function or class that stays with the submission."""

    def __call__(self, *args, **kwargs):
        return self._session.call(self._reference, args, kwargs)


class RemoteNames(dict):
    """The globals of a confined notebook, as the tests see them."""

    def __init__(self, session):
        super().__init__()
        self._session = session

    def __getitem__(self, name):
        return self._session.look(name)

    def get(self, name, default=None):
        """Return the global ``name`` or ``default``."""
        try:
            return self[name]
        except KeyError:
            return default

    def keys(self):
        """List the callables that the notebook defines."""
        return self._session.names()


def _description(error):
    """Accept the description of an exception from the other side with nothing but short strings in it."""
    if not isinstance(error, dict):
        raise Garbled("not a description")
    number = error.get("number", 0)
    return {
        **{key: str(error.get(key, ""))[:500] for key in ("kind", "text", "line")},
        "number": number if type(number) is int else 0,
    }


def _size(count):
    """Print a number of bytes.

    Examples
    --------
    >>> _size(64 << 10), _size(104857600)
    ('64 kB', '100 MB')
    """
    return f"{count >> 10} kB" if count < 1 << 20 else f"{count >> 20} MB"


def best_mode():
    """Return the confinement this machine offers and what it means."""
    with Nursery() as nursery:
        return [(mode, Confinement(mode, Limits()).describe()) for mode in MODES if mode in nursery.modes]
