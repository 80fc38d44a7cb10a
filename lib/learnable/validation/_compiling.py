"""A line for whoever waits: the first call of a method on a machine compiles its loops, once.

Importing this module, which `learnable.validation` does, is enough. ``LEARNABLE_QUIET=1`` silences the line.
"""

from __future__ import annotations

import os
import sys
import threading
import time

from numba.core import event

PATIENCE = 3.0  # seconds of compilation after which somebody wonders
LINE = (
    "learnable: compiling for this machine what is used for the first time; the next runs start at once. "
    "`learnable warm` compiles everything ahead."
)


class _Notice(event.Listener):
    """Says `LINE` once, when the kernels of the package have been compiled for `patience` seconds in all."""

    def __init__(self, say, patience=PATIENCE):
        self.say, self.patience = say, patience
        self.depth, self.spent, self.said, self.timer = 0, 0.0, False, None

    def on_start(self, event):
        self.depth += 1
        if self.depth == 1 and not self.said and _ours(event):
            self.started = time.monotonic()
            self.timer = threading.Timer(max(0.0, self.patience - self.spent), self._speak)
            self.timer.daemon = True
            self.timer.start()

    def on_end(self, event):
        self.depth -= 1
        if self.depth == 0 and self.timer is not None:
            self.timer.cancel()
            self.timer = None
            self.spent += time.monotonic() - self.started

    def _speak(self):
        self.said = True
        self.say(LINE)


def _ours(event):
    # Code that other packages make from text has no module.
    return (event.data["dispatcher"].py_func.__module__ or "").startswith("learnable.")


def _print(line):
    if not os.environ.get("LEARNABLE_QUIET"):
        print(line, file=sys.stderr, flush=True)


notice = _Notice(_print)
event.register("numba:compile", notice)
