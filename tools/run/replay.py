"""A pytest plugin that lets nbval compare the outputs of the run that the book shows, instead of running again.

Load with ``-p tools.run.replay`` beside ``--nbval``. nbval collects the cells and compares as ever; its kernel is
replaced by the run of the notebook in the cache (`tools.run.execution`), brought into the form in which notebooks are
stored. Without this plugin nbval runs the notebook itself, as ``make test-portable`` lets it.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from nbval import plugin as nbval

from tools.check import budgets
from tools.project import ROOT
from tools.run.dependencies import Dependencies
from tools.run.execution import current, open_cache
from tools.run.notebooks import strip


class Replay:
    """What nbval asks a kernel for, answered from a finished run."""

    def __init__(self, notebook):
        self._outputs = defaultdict(list)
        for cell in notebook.cells:
            if cell.cell_type == "code":
                self._outputs[cell.source].append(cell.outputs)
        self._messages = []

    def execute_cell_input(self, source, allow_stdin=None):
        outputs = self._outputs[source].pop(0)
        self._messages = [(o.output_type, {k: v for k, v in o.items() if k != "output_type"}) for o in outputs]
        self._messages.append(("status", {"execution_state": "idle"}))
        return "cell"

    def get_message(self, stream, timeout=None):
        kind, content = self._messages.pop(0)
        return {"msg_type": kind, "content": content, "parent_header": {"msg_id": "cell"}}

    def await_reply(self, msg_id, timeout=None):
        """The run is over: every reply has come."""

    await_idle = await_reply

    def is_alive(self):
        return True

    def stop(self):
        """There is no process to stop."""


class Runs:
    """The runs in the cache, and what they cost."""

    def __init__(self, root=ROOT, cache=None):
        self.cache = cache or open_cache()
        self.dependencies = Dependencies(root)

    def kernel(self, path, where):
        record = current(path, self.cache, self.dependencies)
        if record is None:
            raise RuntimeError(f"{where} has no current run: `make book` or `make nbval ONLY={path.stem}` executes it")
        seconds = record.data.get("seconds") or {}
        if seconds:
            budgets.charge(where, seconds["total"] - seconds["compiling"] - seconds["explorers"])
            budgets.charge(f"{where} (frames)", seconds["explorers"])
        return Replay(strip(self.cache.get_cache_bundle(record.pk).nb))


def pytest_configure(config):
    runs = Runs()

    def setup(file):
        path = Path(str(file.path))
        file.kernel = runs.kernel(path, path.relative_to(config.rootpath).as_posix())
        file.setup_sanitize_files()

    nbval.IPyNbFile.setup = setup
