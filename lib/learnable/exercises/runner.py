"""The side of the grader that lives with the submission: it runs cells and answers calls, and knows no answers.

One *nursery* process per grading worker imports the libraries once and then forks; each fork is confined, becomes
the home of one submission, and is thrown away. So a submission costs a fork instead of seconds of
imports, and still has a process, a directory and limits of its own.

The nursery holds nothing worth stealing: no tests, no solutions, no other submission.
"""

import builtins
import functools
import importlib
import json
import os
import random
import signal
import socket
import sys
import tempfile
import threading
import time
import traceback
import warnings

import numpy as np
import psutil

from .checking import describe_exception
from .confine import Confinement, Limits, adopt_orphans, available_modes, die_with_parent, install_guard
from .wire import Channel, Closed, Garbled, Reference, decode, encode

__all__ = ["Borrowed", "Submission", "main"]


def main(control):
    """Serve as nursery on the socket ``control`` until the grader closes it.

    Each request is one JSON line, each answer too. ``prepare`` imports modules and reports which ways of
    confinement work; ``spawn`` comes with two descriptors (the conversation, the output) and forks; ``end`` kills a
    child; ``wait`` reports how it ended.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    adopt_orphans()
    child = None
    while True:
        request, descriptors = _receive_request(control)
        if request is None:
            if child is not None:
                _kill(child)
            os._exit(0)
        if request["do"] == "prepare":
            answer = _prepare(request)
        elif request["do"] == "spawn":
            pid = os.fork()
            if pid == 0:
                control.close()
                _live(request, *descriptors)
            for descriptor in descriptors:
                os.close(descriptor)
            child = pid
            answer = {"pid": pid}
        else:
            pid = request["pid"]
            if request["do"] == "end":
                _kill(pid)
            answer = {"code": _reap(pid, request.get("seconds", 5.0))}
            if answer["code"] is not None:
                child = None
        control.sendall(json.dumps(answer).encode() + b"\n")


def _receive_request(control):
    data, descriptors = b"", []
    while not data.endswith(b"\n"):
        try:
            piece, found, _, _ = socket.recv_fds(control, 1 << 16, 4)
        except ConnectionError:  # the grader was killed
            piece, found = b"", []
        descriptors += found
        if not piece:
            return None, []
        data += piece
    return json.loads(data), descriptors


def _prepare(request):
    failed = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in request["modules"]:
            try:
                importlib.import_module(name)
            except Exception:
                failed.append(name)
        _shell()  # an import that is worth paying once
    modes = request["modes"]
    if modes is None:
        with tempfile.TemporaryDirectory(dir=request["room"]) as room:
            modes = available_modes(room)
    threads = len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 1
    return {"modes": modes, "failed": failed, "threads": threads}


def _kill(pid):
    """Kill a submission and everything that descends from it, also what it tried to detach."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    _kill_descendants()


def _kill_descendants():
    # One submission lives at a time and orphans are handed to this process, so every descendant belongs to it.
    for process in psutil.Process().children(recursive=True):
        try:
            process.kill()
        except psutil.Error:
            continue


def _reap(pid, seconds):
    """Return the exit code of ``pid``, or None when it still runs after ``seconds``; leave no descendant behind."""
    end = time.monotonic() + seconds
    while True:
        try:
            done, status = os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:
            return -signal.SIGKILL
        if done:
            break
        if time.monotonic() >= end:
            return None
        time.sleep(0.002)
    end = time.monotonic() + 5.0
    while time.monotonic() < end:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                _kill_descendants()
                time.sleep(0.002)
        except ChildProcessError:
            break
    return os.waitstatus_to_exitcode(status)


def _live(request, conversation, output):
    """Become the home of one submission. Never returns."""
    code = 70
    try:
        os.setsid()
        die_with_parent()
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.close(null)
        os.close(output)
        sock = socket.socket(fileno=conversation)
        confinement = Confinement(
            request["mode"],
            Limits(**request["limits"]),
            masked=tuple(request["masked"]),
            room=request["room"],
            as_user_namespace=request.get("as_user_namespace", False),
        )
        try:
            confinement.enter()
        except OSError as error:
            Channel(sock).send(["unconfined", str(error)])
            os._exit(71)
        home = confinement.home()
        os.environ.update(HOME=home, TMPDIR=home, IPYTHONDIR=home, MPLCONFIGDIR=home, NUMBA_CACHE_DIR=home)
        tempfile.tempdir = home
        sys.path[:] = [p for p in sys.path if p]
        Submission(Channel(sock), confinement, request["sealed"]).serve()
        code = 0
    except (Closed, Garbled):
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


@functools.cache
def _shell():
    """Return the IPython shell that runs cells, with nothing that writes to disk or opens a thread."""
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    class Shell(InteractiveShell):
        def enable_gui(self, gui=None):
            """Figures go to memory: there is no window and no page to show them on."""

        def enable_matplotlib(self, gui=None):
            return "agg", "agg"

    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    config.InteractiveShell.cache_size = 0
    config.InteractiveShell.autocall = 0
    return Shell.instance(config=config)


class Submission:
    """Runs the cells of one notebook and answers the grader's calls about what they defined."""

    def __init__(self, channel, confinement, sealed):
        self.channel = channel
        self.kept = []
        self.shell = _shell()
        self.names = self.shell.user_ns
        self.before = set(self.names)
        self.lock = threading.RLock()
        self.told = set()
        random.seed(0)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(0)
        install_guard(confinement, self.note, tuple(sealed))

    def note(self, kind, text):
        """Tell the grader once about each kind of attempt; it is a remark, nothing is graded by it."""
        if (kind, text) not in self.told and len(self.told) < 20:
            self.told.add((kind, text))
            with self.lock:
                self.channel.send(["note", kind, text[:200]])

    def serve(self):
        """Answer requests until the grader hangs up."""
        self.say("ready")
        while True:
            document, buffers = self.channel.receive()
            try:
                action, *rest = document
                getattr(self, f"do_{action}")(buffers, *rest)
            except (Closed, Garbled):
                raise
            except BaseException as error:
                self.say("error", describe_exception(error, self.names))

    def say(self, *document, buffers=()):
        with self.lock:
            self.channel.send(list(document), buffers)

    def give(self, value):
        buffers = []
        try:
            self.say("value", encode(value, buffers, self.keep), buffers=buffers)
        except Garbled as error:
            self.say("error", {"kind": "too large", "text": str(error), "line": "", "number": 0})

    def keep(self, value):
        if isinstance(value, Borrowed):
            return Reference(value.number, home=True).document()
        self.kept.append(value)
        return Reference(len(self.kept) - 1, type(value).__name__, callable(value)).document()

    def take(self, document, buffers):
        return decode(document, buffers, self.lend)

    def lend(self, reference):
        if reference.home:
            return self.kept[reference.number]
        return Borrowed(self, reference)

    def do_cell(self, buffers, source):
        self.shell.input_transformers_post.clear()
        result = self.shell.run_cell(source, store_history=False, silent=False)
        sys.stdout.flush()
        error = result.error_before_exec or result.error_in_exec
        self.say("done", None if error is None else describe_exception(error, self.names))

    def do_file(self, buffers, name):
        with open(os.path.basename(name), "wb") as file:
            file.write(buffers[0])
        self.say("done", None)

    def do_names(self, buffers):
        defined = [n for n, v in self.names.items() if n not in self.before and callable(v)]
        self.give([n for n in defined if not n.startswith("_")][:200])

    def do_look(self, buffers, name):
        if name in self.names:
            self.give(self.names[name])
        else:
            self.say("missing")

    def do_get(self, buffers, number, attribute):
        self.give(getattr(self.kept[number], attribute))

    def do_call(self, buffers, number, args, kwargs):
        args, kwargs = self.take(args, buffers), self.take(kwargs, buffers)
        value = self.kept[number](*args, **kwargs)
        sys.stdout.flush()
        self.give(value)

    def borrow(self, number, args, kwargs):
        """Call a function that lives with the grader."""
        with self.lock:
            buffers = []
            if len(args) == 1 and isinstance(args[0], float) and not kwargs:
                self.channel.send_number(number, args[0])
            else:
                arguments = encode(args, buffers, self.keep), encode(kwargs, buffers, self.keep)
                self.channel.send(["callback", number, *arguments], buffers)
            document, buffers = self.channel.receive()
            if document[0] == "number":
                return np.float64(document[2])
            if document[0] == "value":
                return self.take(document[1], buffers)
            kind = getattr(builtins, document[1], RuntimeError)
            raise (kind if isinstance(kind, type) and issubclass(kind, Exception) else RuntimeError)(document[2])


class Borrowed:
    """A function of the grader's, such as a density that the exercise passes in; it can be called, not read."""

    def __init__(self, submission, reference):
        self._submission = submission
        self.number = reference.number
        self.__name__ = self.__qualname__ = reference.kind

    def __call__(self, *args, **kwargs):
        return self._submission.borrow(self.number, args, kwargs)

    def __repr__(self):
        return f"<function {self.__name__}>"


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])))
