"""Processor time, which does not depend on how busy the machine is, with numba's compilation counted apart."""

from __future__ import annotations

import os

from numba.core import event


def processor_seconds():
    """Seconds that this process and its finished children have spent on a processor."""
    return sum(os.times()[:4])


class CompilationClock(event.Listener):
    """Adds up the processor time that numba spends compiling; nested compilations count once."""

    def __init__(self):
        self.seconds, self._depth, self._started = 0.0, 0, 0.0

    def on_start(self, event):
        self._depth += 1
        if self._depth == 1:
            self._started = processor_seconds()

    def on_end(self, event):
        self._depth -= 1
        if self._depth == 0:
            self.seconds += processor_seconds() - self._started


def watch_compilation():
    """Return a clock that runs from now on."""
    clock = CompilationClock()
    event.register("numba:compile", clock)
    return clock
