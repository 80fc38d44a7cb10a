"""Run notebooks in kernels that are forked from a prepared process.

Starting a kernel and importing numpy, scipy, scikit-learn, matplotlib and numba costs seconds for every notebook. Here
a server process (multiprocessing's fork server: one thread, no event loop, nothing of ours imported) does it once. For
each notebook it forks a runner; the runner forks the kernel before it starts anything, and then drives it with
nbclient. A notebook therefore meets an interpreter as fresh as one from the command line, only warm. If whoever asked
dies, so do runner and kernel.
"""

from __future__ import annotations

import ctypes
import json
import multiprocessing
import os
import queue
import signal
import sys
import threading
import time
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path

from tools.run.environment import kernel_environment

TIMEOUT = 600  # for one cell: stops what is endless, not what is slow
# pyplot is missing on purpose: it looks for a running IPython when it is imported.
LIBRARIES = (
    "numpy scipy.linalg scipy.optimize scipy.sparse scipy.special scipy.stats numba sklearn.base sklearn.datasets "
    "sklearn.linear_model sklearn.model_selection sklearn.pipeline sklearn.svm sklearn.tree sklearn.ensemble "
    "matplotlib.figure matplotlib.font_manager matplotlib.backends.backend_agg matplotlib.animation ipywidgets "
    "ipykernel.kernelapp ipykernel.ipkernel nbclient jupyter_cache tqdm tools.run.clock tools.run.notebooks"
).split()


@dataclass
class Execution:
    """What came of one notebook: the notebook with outputs and the seconds of its kernel, or why it failed."""

    path: Path
    text: str | None = None
    seconds: dict | None = None
    failure: str | None = None

    def parse(self):
        """The notebook with its outputs, as a new object each time."""
        import nbformat

        return nbformat.reads(self.text, as_version=4)


def run_live(notebook, folder):
    """Run a notebook's cells where it is, in a kernel of its own with widgets, as a reader does in JupyterLab.

    A widget lets nbclient send on the socket on which it waits for the reply of the cell. A send may use up the notice
    that the reply has come, and the wait then lasts until its limit; so here it looks again every second.
    """
    from jupyter_client.asynchronous import AsyncKernelClient
    from jupyter_client.channels import AsyncZMQSocketChannel
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient

    class Looking(AsyncZMQSocketChannel):
        async def get_msg(self, timeout=None):
            end = float("inf") if timeout is None else time.monotonic() + timeout
            while True:
                left = end - time.monotonic()
                try:
                    return await super().get_msg(timeout=max(0.0, min(1.0, left)))
                except queue.Empty:
                    if left <= 1.0:
                        raise

    class Client(AsyncKernelClient):
        shell_channel_class = Looking

    class Manager(AsyncKernelManager):
        client_factory = Client

    place = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=TIMEOUT, kernel_manager_class=Manager, resources=place).execute()


def execute_all(paths, jobs=2, **environment):
    """Run notebooks, ``jobs`` at a time, and yield an `Execution` for each as it ends."""
    from learnable.book.compiled import drop_stale_kernels  # here: a runner may belong to another project's package

    drop_stale_kernels()
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(LIBRARIES)
    waiting, running = list(paths), {}
    with kernel_environment(**environment):
        try:
            while waiting or running:
                while waiting and len(running) < jobs:
                    path = Path(waiting.pop(0)).resolve()
                    ours, theirs = context.Pipe(duplex=False)
                    process = context.Process(target=_run, args=(str(path), theirs, dict(os.environ)))
                    process.start()
                    theirs.close()
                    running[ours] = path, process
                for ready in wait(list(running)):
                    path, process = running.pop(ready)
                    try:
                        text, seconds, failure = ready.recv()
                    except EOFError:
                        text, seconds, failure = None, None, f"{path.parent.name}/{path.stem}: the runner died"
                    process.join()
                    yield Execution(path, text, seconds, failure)
        finally:
            for _, process in running.values():
                process.terminate()


def _run(path, results, environment):
    """The runner: a process of its own for one notebook."""
    kernel = PreparedKernel()
    _follow_parent()
    os.environ.clear()
    os.environ.update(environment)
    import nbformat
    from jupyter_client.provisioning import local_provisioner
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    from tools.run.notebooks import describe_failure

    local_provisioner.launch_kernel = kernel.launch
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=TIMEOUT,
        record_timing=False,  # jupyter-cache recognises cells by their metadata too
        extra_arguments=["--IPKernelApp.log_level=40"],
        resources={"metadata": {"path": str(Path(path).parent)}},
    )
    try:
        client.execute()
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        results.send((None, None, describe_failure(Path(path), error)))
    else:
        results.send((nbformat.writes(notebook), kernel.seconds(), None))


class PreparedKernel:
    """A forked process that waits for the command of a kernel, and looks like a `subprocess.Popen` to its starter."""

    stdin = stdout = stderr = None

    def __init__(self):
        commands, self._commands = os.pipe()
        self._report, report = os.pipe()
        self.returncode = None
        runner = os.getpid()
        self.pid = os.fork()
        # A group of its own, as jupyter_client interrupts a kernel by group; set on both sides, whoever comes first.
        os.setpgid(self.pid, 0)
        if self.pid == 0:
            os.close(self._commands)
            _die_with(runner)
            _become_kernel(commands, report)
        os.close(commands)
        os.close(report)

    def launch(self, command, cwd=None, env=None, **_):
        """Take the place of jupyter_client's ``launch_kernel``."""
        arguments = command[command.index("ipykernel_launcher") + 1 :]
        with os.fdopen(self._commands, "w") as pipe:
            json.dump({"arguments": arguments, "cwd": cwd, "env": dict(env or os.environ)}, pipe)
        return self

    def seconds(self):
        """The kernel's own account of its processor time, after it has ended."""
        with os.fdopen(self._report) as pipe:
            text = pipe.read()
        return json.loads(text) if text else {}

    def poll(self):
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, timeout=None):
        if self.returncode is None:
            self.returncode = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.returncode

    def send_signal(self, number):
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self):
        self.send_signal(signal.SIGTERM)

    def kill(self):
        self.send_signal(signal.SIGKILL)


def _become_kernel(commands, report):
    """Wait for the command, be a kernel until it is shut down, and say what it cost."""
    code = 1
    try:
        with os.fdopen(commands) as pipe:
            text = pipe.read()
        if not text:
            os._exit(0)
        command = json.loads(text)
        os.environ.clear()
        os.environ.update(command["env"])
        added = command["env"].get("PYTHONPATH", "").split(os.pathsep)
        sys.path[:0] = [entry for entry in added if entry and entry not in sys.path]
        if command["cwd"]:
            os.chdir(command["cwd"])
        from ipykernel.kernelapp import IPKernelApp

        from tools.run.clock import processor_seconds, watch_compilation

        compilation = watch_compilation()
        IPKernelApp.launch_instance(argv=[*command["arguments"], f"--IPKernelApp.parent_handle={os.getppid()}"])
        explorer = sys.modules.get("learnable.book.explorer")
        seconds = {
            "total": processor_seconds(),
            "compiling": compilation.seconds,
            "explorers": getattr(explorer, "frame_seconds", 0.0),
        }
        os.write(report, json.dumps(seconds).encode())
        code = 0
    finally:
        os._exit(code)


def _follow_parent():
    """End this process when the one that asked for it ends, however it ends."""
    asked = multiprocessing.parent_process().sentinel

    def follow():
        wait([asked])
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


def _die_with(parent):
    """Ask Linux to kill this process when its parent dies; elsewhere the kernel's own poller sees to it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
        if os.getppid() != parent:
            os._exit(1)
