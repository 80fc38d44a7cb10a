"""The trusted side of a conversation with a confined submission.

A `Session` is one submission: it runs the cells, restarts after a death without the cell that caused it, and lets tests
call functions as if they were local. All comparing is done here, with values that were received as plain data.
"""

import builtins
import contextlib
import os
import signal
import socket
import threading
import time

import numpy as np

from . import confine
from .checking import AskedElsewhere, SandboxError, sentence_of_exception
from .confine import Limits
from .sandbox import TOO_MUCH_MEMORY
from .wire import Channel, Closed, Garbled, Overdue, Reference, clean, decode, encode

__all__ = ["Died", "Raised", "RemoteNames", "Session"]

_FATAL_CELLS = 3
_FATAL_CALLS = 8
_MOMENT = 0.05
_PATIENCE = 10  # how many times its limit a request may take on a machine that is busy with something else
_ENDINGS = {
    signal.SIGSEGV: "crashed the Python process (segmentation fault)",
    signal.SIGABRT: "aborted the Python process",
    signal.SIGXCPU: "used up its CPU time",
    signal.SIGBUS: "crashed the Python process (bus error)",
    signal.SIGKILL: "was killed (out of CPU time or memory)",
}


class Raised(AskedElsewhere):
    """The submission's function raised."""

    def __init__(self, description):
        self.kind = description["kind"]
        known = isinstance(getattr(builtins, self.kind, None), type)  # a name of its own could carry hidden inputs
        self.outcome = f"raised {self.kind}" if known else "raised an exception"
        self.sentence, self.detail = sentence_of_exception(description)
        super().__init__(self.sentence)


class Died(AskedElsewhere):
    """The submission's process ended."""

    def __init__(self, sentence):
        self.sentence = sentence
        super().__init__(sentence)


class Session(contextlib.AbstractContextManager):
    """One submission, running: its code cells in order, with the data files of the exercise.

    ``remarks`` tells what a reader of the report should know, in the order it happened.
    """

    def __init__(self, sandbox, cells, limits=None, files=None):
        self.sandbox, self.cells = sandbox, list(cells)
        self.limits = limits or Limits()
        self.files = dict(files or {})
        self.remarks = []
        self.skipped = set()
        self.fatal_calls = self.written = self.generation = self._asked = 0
        self.printed = bytearray()
        self._channel = self._helpers = self._stopping = None
        self._excess = ""
        self._functions = []
        self._known = {}
        self._end = time.monotonic() + self.limits.total_seconds

    def __exit__(self, *exc):
        self.stop()

    def remark(self, text):
        """Add a line to the report, once."""
        text = clean(text)
        if text not in self.remarks and len(self.remarks) < 40:
            self.remarks.append(text)

    def ensure(self):
        """Have a process that has run every cell except those that end it."""
        while self._channel is None:
            if self.fatal_calls > _FATAL_CALLS or len(self.skipped) > _FATAL_CELLS:
                raise Died("ended its process too often and was given up")
            if time.monotonic() > self._end:
                raise Died(f"took more than {self.limits.total_seconds:g} s in all")
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

    def add_cell(self, source):
        """Let a cell of the grader's follow those of the submission, in a new process."""
        self.stop()
        self.cells.append(source)

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
        self._still_there(reference)
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
        if name not in self._known:
            value = self._converse(["look", name])
            if not isinstance(value, RemoteFunction):
                return value
            self._known[name] = value  # a function is asked many times
        return self._known[name]

    def get(self, reference, attribute):
        """Return an attribute of an object that stayed with the submission."""
        self._still_there(reference)
        return self._converse(["get", reference.number, attribute])

    def _still_there(self, reference):
        if reference.generation != self.generation:
            raise Died("belongs to a process that has ended")

    def names(self):
        """List what the notebook defines."""
        try:
            self.ensure()
            names = self._converse(["names"])
        except AskedElsewhere:
            return []
        return [n for n in names if isinstance(n, str)] if isinstance(names, list) else []

    def stop(self, patience=0.0):
        """End the process, if there is one and it does not end by itself in time, and return its exit code."""
        if self._channel is None:
            return None
        self._channel.close()
        self._channel = None
        code = self.sandbox.clear(patience)
        self._stopping.set()
        for helper in self._helpers:
            helper.join(5.0)
        if self.written > self.limits.output:
            self.remark(f"printed more than {self.limits.output >> 10} kB; the rest was thrown away")
        return code

    def output(self):
        """Return what the cells printed, shortened, as text."""
        return clean(self.printed.decode("utf-8", "replace")[-4000:], 4000)

    def _start(self):
        self.generation += 1
        self._excess = ""
        self._known = {}
        self._asked = 0
        ours, theirs = socket.socketpair()
        reading, output = os.pipe()
        try:
            self.sandbox.spawn([theirs.fileno(), output], self.limits)
        finally:
            theirs.close()
            os.close(output)
        self._channel = Channel(ours)
        self._stopping = threading.Event()
        self._helpers = [threading.Thread(target=self._drain, args=(reading,), daemon=True)]
        if not self.sandbox.cgroup:
            self._helpers.append(threading.Thread(target=self._watch, daemon=True))
        for helper in self._helpers:
            helper.start()
        try:
            if self._channel.receive(time.monotonic() + 120.0)[0] != ["ready"]:
                raise Garbled("not ready")
            for name, data in self.files.items():
                self._converse(["file", name], [data])
        except (Died, Overdue, Closed, Garbled) as error:
            self.stop()
            raise SandboxError(f"the process of a submission ended before it ran anything ({error})") from None

    def _watch(self):
        """End the processes of the submission when together they use too much (a cgroup does this itself)."""
        while not self._stopping.wait(0.05):
            self._excess = self._excess or self.sandbox.excess(self.limits)
            if self._excess:
                confine.kill(self.sandbox.family())

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
        clock = _Clock(self.sandbox, seconds, self._end)
        try:
            self._asked += 1
            self._channel.send(document, buffers, clock.sending())
            while True:
                try:
                    reply, data = self._channel.receive(clock.deadline)
                except Overdue:
                    # The answer may have come while the clock was asked; a busy machine must not cost a grade.
                    if clock.used_up() and not self._channel.ready():
                        raise
                    continue
                if not isinstance(reply, list) or not reply:
                    raise Garbled("not a reply")
                kind, *rest = reply
                asks = kind in ("number", "callback")
                if asks or 0 < rest[-1] < self._asked:
                    if time.monotonic() > clock.deadline and clock.used_up(asking=True):
                        raise Overdue
                    if asks:
                        self._serve(kind, rest, data, clock.sending())
                    continue  # what a function sent beside its answer is not the answer of the next one
                if rest.pop() != self._asked:
                    raise Garbled("the answer to no request")
                if kind == "value":
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
            raise Died(f"did not finish within {limit}") from None
        except Closed:
            raise Died(self._how_it_ended(self.stop(patience=2.0))) from None
        except (Garbled, IndexError, TypeError, ValueError, MemoryError):
            self.stop()
            raise Died("sent something that is not an answer") from None

    def _serve(self, kind, request, data, deadline):
        """Call a function that a test passed in; a number for a number, the common case, travels in the short form."""
        buffers = []
        try:
            if kind == "number":
                number, args, kwargs = request[0], (np.float64(request[1]),), {}
            else:
                number, args = request[0], decode(request[1], data, self._dereference)
                kwargs = {clean(name): decode(value, data, self._dereference) for name, value in request[2][:20]}
            with np.errstate(all="ignore"):
                result = self._functions[number](*args, **kwargs)
            if kind == "number" and type(result) in (float, np.float64):
                return self._channel.send_number(0, result, deadline)
            reply = ["value", encode(result, buffers, self._refer)]
        except (Garbled, Overdue, Closed):
            raise
        except Exception as error:
            reply, buffers = ["raise", type(error).__name__, str(error)[:500]], []
        self._channel.send(reply, buffers, deadline)

    def _how_it_ended(self, code):
        if self._excess:
            return self._excess
        if self.sandbox.cgroup and self.sandbox.cgroup.ran_out_of_memory():
            return TOO_MUCH_MEMORY
        if code is None:
            return "ended"
        return _ENDINGS.get(-code if code < 0 else code - 128, "ended its own process")


class _Clock:
    """Decides when a request has taken too long: by CPU time, or by the clock when the submission only waits.

    A receive that is overdue on the clock asks `used_up`, which moves the deadline as long as the submission has CPU
    time left and was kept from using it by others. The CPU time is first read after a moment, for most answers come at
    once.
    """

    def __init__(self, sandbox, seconds, end):
        self.sandbox, self.seconds, self.end = sandbox, seconds, end
        start = time.monotonic()
        self.last = min(end, start + _PATIENCE * seconds)
        self.deadline = min(end, start + min(_MOMENT, seconds))
        self.before = None

    def sending(self):
        """Until when the submission may take to read what it is sent."""
        return min(self.last, time.monotonic() + self.seconds)

    def used_up(self, asking=False):  # who asks for a callback waits for us, not for nothing
        spent = self.sandbox.cpu_seconds()
        if self.before is None:
            self.before = spent
        elif spent - self.before >= self.seconds or (not asking and self._idle()):
            return True
        if time.monotonic() >= self.last:
            return True
        self.deadline = min(self.last, time.monotonic() + max(self.seconds - (spent - self.before), 0.1))
        return False

    def _idle(self):
        before = self.sandbox.cpu_seconds()
        for _ in range(10):
            time.sleep(0.03)
            if not self.sandbox.idle() or self.sandbox.cpu_seconds() > before:
                return False
        return True


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
    if not isinstance(error, list) or len(error) != 4:
        raise Garbled("not a description")
    number = error[3] if type(error[3]) is int and 0 <= error[3] < 10**6 else 0
    return {**dict(zip(("kind", "text", "line"), map(clean, error), strict=False)), "number": number}
