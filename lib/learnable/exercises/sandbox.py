"""The confined process that submissions are forked from, and what the grader can see of them.

A `Sandbox` has imported the libraries of a chapter and forks submissions, one at a time: so a submission costs a fork
instead of seconds of imports.
"""

import contextlib
import json
import os
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from . import confine
from .checking import SandboxError
from .confine import HOME, Cgroup, Limits

__all__ = ["Sandbox"]

_BOOTSTRAP = (
    "import sys, socket; sys.path.insert(0, sys.argv[1]);"
    "from learnable.exercises.runner import main; main(socket.socket(fileno=int(sys.argv[2])))"
)
_MOST_FILES = 4096
TOO_MUCH_MEMORY = "used more memory than it may"


class Sandbox(contextlib.AbstractContextManager):
    """A confined process that has imported ``modules`` and forks submissions, one at a time.

    ``hidden`` are files and folders of the installation that no submission may see, ``disk`` the bytes of the private
    disk; the modules in ``sealed`` cannot be imported. Raises `SandboxError` where submissions cannot be confined,
    unless ``mode`` is "none".
    """

    def __init__(self, modules=(), mode="bubblewrap", hidden=(), disk=Limits.disk, sealed=()):
        if mode != "none" and confine.refusal():
            raise SandboxError(
                f"submissions cannot be confined: {confine.refusal()}. Nothing was graded. "
                "`--confine none` runs them WITHOUT protection, and every report will say so."
            )
        self.modules, self.mode, self.hidden, self.disk = list(modules), mode, list(hidden), disk
        self.sealed = list(sealed)
        self.process = self.room = self.cgroup = self.pid = None

    def start(self):
        """Have a nursery that runs."""
        if self.alive():
            return
        self.close()
        # A process with threads cannot be forked safely: what starts some is imported later, once a submission.
        if self._launch(self.modules)["threads"] != 1:
            self.close()
            self._launch([])

    def _launch(self, modules):
        self.room = tempfile.mkdtemp(prefix="learnable-") if self.mode == "none" else None
        place = Cgroup.place() if self.mode != "none" else None
        self.cgroup = Cgroup(place) if place else None
        home = self.room or HOME
        environment = {
            **{name: home for name in ("HOME", "TMPDIR", "IPYTHONDIR", "MPLCONFIGDIR", "NUMBA_CACHE_DIR")},
            **{f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL", "NUMBA")},
            "PATH": "/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "MPLBACKEND": "Agg",
            "LEARNABLE_GRADING": "1",
            "PYTHONHASHSEED": "0",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        self.control, theirs = socket.socketpair()
        package = Path(__file__).resolve().parents[2]
        with theirs:
            self.process = confine.launch(
                [sys.executable, "-I", "-c", _BOOTSTRAP, str(package), str(theirs.fileno())],
                self.mode,
                hidden=self.hidden,
                disk=self.disk,
                cgroup=self.cgroup,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                env=environment,
                cwd=self.room or "/",
            )
        answer = self.request(do="prepare", modules=modules, sealed=self.sealed)
        self.pid = self.process.pid if self.mode == "none" else _children(self.process.pid)[0]
        return answer

    def request(self, descriptors=(), seconds=120.0, **message):
        """Send one request and return the answer."""
        try:
            self.control.settimeout(seconds)
            socket.send_fds(self.control, [json.dumps(message).encode() + b"\n"], list(descriptors))
            data = b""
            while not data.endswith(b"\n"):
                piece = self.control.recv(1 << 16)
                if not piece:
                    raise ConnectionError
                data += piece
        except OSError:
            self.close()
            raise SandboxError("the process that starts submissions has ended") from None
        return json.loads(data)

    def spawn(self, descriptors, limits):
        """Fork a submission that converses and prints through two descriptors."""
        self.start()
        if self.cgroup:
            self.cgroup.bound(limits)
        self.request(descriptors, do="spawn", limits=asdict(limits))

    def clear(self, patience):
        """End the submission and remove what is left of it; return its exit code, or None if it had to be ended."""
        try:
            code = self.request(do="clear", patience=patience, seconds=60.0)["code"]
        except SandboxError:  # it could not be cleaned up after: the next one gets a new one
            return None
        if self.mode == "none":
            self.close()
        return code

    def family(self):
        """Return the numbers of all processes of the submission."""
        found = todo = _children(self.pid)
        while todo:
            todo = [child for pid in todo for child in _children(pid)]
            found = found + todo
        return found

    def cpu_seconds(self):
        """CPU time of the submission so far, in all its processes and those that have ended."""
        own = _ticks(self.pid)
        return (sum(own[2:]) + sum(sum(_ticks(pid)) for pid in self.family())) / os.sysconf("SC_CLK_TCK")

    def idle(self):
        """Whether no process of the submission runs or would like to."""
        return not any(_stat(pid)[0] in ("R", "D") for pid in self.family())

    def excess(self, limits):
        """Say what the processes of the submission use too much of, together; empty when all is well."""
        family = self.family()
        if len(family) > limits.processes:
            return "started too many processes"
        memory = limits.memory + _resident(self.pid)
        if sum(map(_resident, family)) > memory and sum(map(_proportional, family)) > memory:
            return TOO_MUCH_MEMORY
        with contextlib.suppress(OSError):
            if self.mode != "none":
                disk = os.statvfs(f"/proc/{self.pid}/root{HOME}")
                if disk.f_files - disk.f_ffree > _MOST_FILES:
                    return "made too many files"
        return ""

    def alive(self):
        """Whether the nursery runs."""
        return self.process is not None and self.process.poll() is None

    def close(self):
        """End the nursery and everything it started."""
        if self.process is None:
            return
        if self.mode == "none":
            confine.kill(self.family())
        self.control.close()  # it ends by itself then
        try:
            self.process.wait(2)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None
        if self.cgroup:
            self.cgroup.close()
        if self.room:
            shutil.rmtree(self.room, ignore_errors=True)

    def __exit__(self, *exc):
        self.close()


def _children(pid):
    """Return the children of a process (Linux tells; elsewhere psutil finds out)."""
    if not os.path.exists("/proc/self/task"):
        import psutil

        with contextlib.suppress(psutil.Error):
            return [child.pid for child in psutil.Process(pid).children()]
        return []
    with contextlib.suppress(OSError):
        return [int(p) for t in Path(f"/proc/{pid}/task").iterdir() for p in (t / "children").read_text().split()]
    return []


def _stat(pid):
    """Return what Linux tells about a process, from its state on; zeros when it is gone."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return ["", *["0"] * 50]


def _ticks(pid):
    """Return CPU time in ticks: own (user, system) and of children that were waited for (user, system)."""
    return [int(n) for n in _stat(pid)[11:15]]


def _resident(pid):
    return int(_stat(pid)[21]) * resource.getpagesize()


def _proportional(pid):
    """Return the memory of a process, with pages that several share counted in parts; all of it if it will not tell."""
    with contextlib.suppress(OSError, ValueError):
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:"))
    return _resident(pid)
