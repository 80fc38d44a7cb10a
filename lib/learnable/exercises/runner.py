"""The side of the grader that lives with the submission: it runs cells and answers calls, and knows no answers.

One *nursery* in each sandbox imports the libraries of a chapter once and then forks; each fork is the home of one
submission, and is thrown away with everything it started. So a submission costs a fork instead of seconds of imports.
The nursery is the first process of its tree, so its forks can neither signal nor trace it, and it holds nothing worth
stealing: no tests, no solutions, no other submission.
"""

import builtins
import contextlib
import functools
import gc
import importlib
import json
import os
import random
import shutil
import signal
import socket
import sys
import threading
import time
import traceback
import warnings

import numpy as np

from .checking import describe_exception
from .confine import Limits, lower_limits, withdraw
from .sealing import Seal
from .wire import Channel, Closed, Garbled, Reference, decode, encode

__all__ = ["Borrowed", "Submission", "main"]


def main(control):
    """Serve as nursery on the socket ``control`` until the grader closes it.

    Each request is one JSON line, each answer too. ``prepare`` seals and imports modules; ``spawn`` comes with two
    descriptors (the conversation, the output) and forks; ``clear`` ends the submission and removes every trace of it.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    withdraw()
    child = None
    while True:
        request, descriptors = _receive_request(control)
        if request is None:
            os._exit(0)  # the first process of a tree takes the others along
        if request["do"] == "prepare":
            answer = _prepare(request["modules"], request["sealed"])
        elif request["do"] == "spawn":
            child = os.fork()
            if child == 0:
                control.close()
                _live(Limits(**request["limits"]), *descriptors)
            for descriptor in descriptors:
                os.close(descriptor)
            answer = {}
        else:
            answer = {"code": _clear(child, request["patience"])}
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


def _prepare(modules, sealed):
    Seal(sealed).close()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in modules:
            with contextlib.suppress(Exception):
                importlib.import_module(name)
        _shell()  # an import that is worth paying once
    _wipe()
    gc.freeze()  # or the first collection in a fork copies every page of the libraries
    return {"threads": threading.active_count() if sys.platform != "linux" else len(os.listdir("/proc/self/task"))}


def _clear(child, patience):
    """Wait a little for the submission to end, end everything it started, empty its disk; return its exit code."""
    code, end = None, time.monotonic() + patience
    while code is None and time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        code = os.waitstatus_to_exitcode(status) if done else None
        time.sleep(0 if done else 0.002)
    if os.getpid() == 1:
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)  # everything in this tree but ourselves
        with contextlib.suppress(ChildProcessError):
            while True:
                os.wait()
        _wipe()
    elif code is None:
        os.killpg(child, signal.SIGKILL)
    return code


def _wipe():
    """Empty the private disk; where a submission made that impossible, end, and the grader starts another nursery."""
    try:
        for entry in os.scandir("."):
            (shutil.rmtree if entry.is_dir(follow_symlinks=False) else os.unlink)(entry.path)
    except (OSError, RecursionError):
        os._exit(1)


def _live(limits, conversation, output):
    """Become the home of one submission. Never returns."""
    code = 70
    try:
        os.setsid()
        null = os.open(os.devnull, os.O_RDONLY)
        for target, source in ((0, null), (1, output), (2, output)):
            os.dup2(source, target)
        os.close(null)
        os.close(output)
        lower_limits(limits, confined=os.getppid() == 1)
        Submission(Channel(socket.socket(fileno=conversation))).serve()
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

    def __init__(self, channel):
        self.channel = channel
        self.kept = []
        self.requests = 0
        self.shell = _shell()
        self.names = self.shell.user_ns
        self.before = set(self.names)
        self.lock = threading.RLock()
        random.seed(0)
        np.random.seed(0)  # noqa: NPY002 (students may use it)

    def serve(self):
        """Answer requests until the grader hangs up."""
        self.channel.send(["ready"])
        while True:
            document, buffers = self.channel.receive()
            self.requests += 1
            try:
                action, *rest = document
                getattr(self, f"do_{action}")(buffers, *rest)
            except (Closed, Garbled):
                raise
            except BaseException as error:
                self.say("error", list(describe_exception(error, self.names).values()))

    def say(self, *document, buffers=()):
        """Answer a request; its number closes the answer."""
        with self.lock:
            self.channel.send([*document, self.requests], buffers)

    def give(self, value):
        buffers = []
        try:
            self.say("value", encode(value, buffers, self.keep), buffers=buffers)
        except Garbled as error:
            self.say("error", ["too large", str(error), "", 0])

    def keep(self, value):
        if isinstance(value, Borrowed):
            return Reference(value.number, home=True).document()
        self.kept.append(value)
        return Reference(len(self.kept) - 1, type(value).__name__, callable(value)).document()

    def take(self, document, buffers):
        return decode(document, buffers, self.lend, trusted=True)

    def lend(self, reference):
        if reference.home:
            return self.kept[reference.number]
        return Borrowed(self, reference)

    def do_cell(self, buffers, source):
        self.shell.input_transformers_post.clear()
        result = self.shell.run_cell(source, store_history=False, silent=False)
        sys.stdout.flush()
        error = result.error_before_exec or result.error_in_exec
        self.say("done", None if error is None else list(describe_exception(error, self.names).values()))

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
                named = [[str(k), encode(v, buffers, self.keep)] for k, v in kwargs.items()]
                self.channel.send(["callback", number, encode(args, buffers, self.keep), named], buffers)
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
