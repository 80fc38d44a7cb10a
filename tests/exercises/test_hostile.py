"""Hostile and broken submissions: each gets its score and a line, none stops the others, none gains anything."""

import contextlib
import dataclasses
import json
import os
import stat
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
from hostile import FILES, GOOD, HOSTILE, LISTENER, NETWORK
from support import BAYES, ROOT, assignment, write_notebook

from learnable.exercises import confine
from learnable.exercises.checking import SandboxError
from learnable.exercises.collecting import collect, functions_asked
from learnable.exercises.confine import Cgroup, Limits
from learnable.exercises.grading import empty_result, grade_cells
from learnable.exercises.reading import Unreadable, parse_notebook, read_submission
from learnable.exercises.sandbox import Sandbox
from learnable.exercises.sealing import sealed_files

LIMITS = Limits(call_seconds=0.3, cell_seconds=1.0, total_seconds=60.0, memory=1 << 30)
needs_bubblewrap = pytest.mark.skipif(
    bool(confine.refusal()) and not os.environ.get("CI"), reason=f"submissions cannot be confined: {confine.refusal()}"
)
SHORT = dataclasses.replace(assignment(BAYES), questions={q: assignment(BAYES).questions[q] for q in ("q1", "q2")})


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(SHORT.modules, hidden=list(sealed_files(SHORT.sealed))) as running:
        yield running


def grade(cells, sandbox, **limits):
    return grade_cells(cells, SHORT, sandbox, 3, dataclasses.replace(LIMITS, **limits))


def scores(result):
    return result["questions"]["q1"]["score"], result["questions"]["q2"]["score"]


@needs_bubblewrap
@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda h: h.name)
def test_hostile_submission(hostile, sandbox):
    result = grade(hostile.cells, sandbox, **hostile.limits)
    assert scores(result) == hostile.scores, result["questions"]["q2"]["cases"]
    assert "ESCAPED" not in result["output"], result["output"]
    told = " | ".join(result["remarks"])
    told += " | " + " | ".join(c["problem"] for q in result["questions"].values() for c in q["cases"])
    assert hostile.says in told
    assert len(result["output"]) <= 4000
    assert not set("\x1b\x07\u202e\ud800") & set(json.dumps(result, ensure_ascii=False)), "nothing steers a terminal"
    # The next student is graded as if nothing had happened, and no process or file was left behind.
    after = grade([*GOOD, "import os\nprint(os.listdir())"], sandbox)
    assert scores(after) == (5, 5) and after["status"] == "ok", after["remarks"]
    assert after["output"] == "[]\n" and sandbox.family() == []


def heard():
    """How many have called the listener since it was asked last."""
    LISTENER.setblocking(False)
    count = 0
    with contextlib.suppress(BlockingIOError):
        while True:
            LISTENER.accept()[0].close()
            count += 1
    return count


@needs_bubblewrap
def test_listener_hears_who_is_not_confined(sandbox):
    """Else its silence would say nothing; a confined submission is not heard."""
    heard()
    names = {}
    exec(NETWORK.replace("print", "str"), names)
    assert heard() == 3
    grade([*GOOD, NETWORK], sandbox)
    assert heard() == 0


def ordinary_user():
    """Return the beginning of a command that runs it as an ordinary user; empty when we are one."""
    if os.geteuid() != 0:
        return []
    words = ["bwrap", "--dev-bind", "/", "/"]
    for place in (*confine.python_places(), ROOT):
        closed = [p for p in reversed(place.parents) if not p.stat().st_mode & stat.S_IXOTH]
        if closed:  # an installation in root's home, say
            words += ["--perms", "0755", "--tmpfs", str(closed[0])]
            for parent in [p for p in reversed(place.parents) if p.is_relative_to(closed[0]) and p != closed[0]]:
                words += ["--perms", "0755", "--dir", str(parent)]
            words += ["--ro-bind", str(place), str(place)]
    return [*words, "--cap-add", "ALL", "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


@needs_bubblewrap
@pytest.mark.skipif("LEARNABLE_ORDINARY" in os.environ, reason="this is the ordinary user")
def test_everything_is_contained_for_an_ordinary_user_too(tmp_path):
    tmp_path.chmod(0o777)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:xdist",
        str(Path(__file__)),
        "-k",
        "test_hostile_submission or listener or without_confinement or zip or outputs",
    ]
    environment = {
        **os.environ,
        "LEARNABLE_ORDINARY": "1",
        "CI": "true",
        "HOME": str(tmp_path),
        "TMPDIR": str(tmp_path),
    }
    done = subprocess.run(
        [*ordinary_user(), *command], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert int(done.stdout.split(" passed")[0].split()[-1]) > len(HOSTILE) and "skipped" not in done.stdout


FORGED = [
    ["done"],
    ["done", 1, 2],
    ["done", 5],
    ["done", {"kind": [], "number": "x"}],
    ["done", ["a", "b", "c"]],
    ["value", 5],
    ["value"],
    ["value", ["q"]],
    ["value", ["h", -1]],
    ["value", ["r", 10**9, "x", True]],
    ["missing"],
    ["error", 3],
    ["error", ["", "", "", "x"]],
    ["error", [[], {}, None, -1]],
    ["callback", 0],
    ["callback", -1, ["t", "x"], [["a", 1]]],
    ["callback", "x", ["t"], ["d"]],
    ["number", 1, 2.0],
    ["unconfined", "no kernel"],
    [],
    7,
    {"a": 1},
    None,
]


@needs_bubblewrap
@pytest.mark.parametrize("where", ["cell", "function"])
def test_forged_replies_never_break_the_grader(where, sandbox):
    """Whatever a submission writes into the pipe, it gets a result, and no more than its answers earn."""
    send = (
        "import gc\nfrom learnable.exercises.wire import Channel\n"
        "_wire = [c for c in gc.get_objects() if isinstance(c, Channel)][0]\n"
        "_home = [c for c in gc.get_objects() if type(c).__name__ == 'Submission'][0]\n"
    )
    short = dataclasses.replace(SHORT, questions={"q2": SHORT.questions["q2"]})
    numbered = [f"[*{document!r}, _home.requests]" for document in FORGED if isinstance(document, list)]
    for document in [*map(repr, FORGED), *numbered]:
        if where == "cell":
            cells = ["def cost_bayes(*args):\n    ...", f"{send}_wire.send({document})"]
        else:
            cells = [f"{send}def cost_bayes(*args):\n    _wire.send({document})"]
        assert grade_cells(cells, short, sandbox, 3, LIMITS)["score"] == 0, document
    assert scores(grade(GOOD, sandbox)) == (5, 5)


@needs_bubblewrap
def test_many_callbacks_on_a_busy_machine_cost_no_grade(sandbox):
    """A function that asks for values waits for us: what counts is its own CPU time, not how long we take to answer."""
    from learnable.exercises.session import Session

    def slow(x):
        time.sleep(0.15)
        return x

    cells = ["def total(f):\n    return sum(f(float(i)) for i in range(6))"]
    with Session(sandbox, cells, LIMITS) as session:
        function = session.look("total")
        assert function(slow) == 15.0 and session.fatal_calls == 0


@needs_bubblewrap
def test_library_that_starts_threads_is_imported_later(monkeypatch):
    """Such a library cannot be imported before the fork; submissions are graded all the same."""
    asked, real = [], Sandbox._launch

    def threaded(self, modules):
        asked.append(list(modules))
        return {**real(self, modules), "threads": 3 if modules else 1}

    monkeypatch.setattr(Sandbox, "_launch", threaded)
    with Sandbox(["numpy", "antigravity_does_not_exist"]) as other:
        assert scores(grade(GOOD, other)) == (5, 5)
    assert asked == [["numpy", "antigravity_does_not_exist"], []]


@needs_bubblewrap
def test_environment_is_scrubbed(monkeypatch):
    monkeypatch.setenv("SECRET_OF_THE_INSTRUCTOR", "42")
    with Sandbox(["numpy"]) as other:
        result = grade(["import os\nprint(sorted(os.environ))"], other)
    assert "HOME" in result["output"] and "SECRET" not in result["output"]


@needs_bubblewrap
def test_death_of_the_machinery_is_no_grade(sandbox):
    """When the process that starts submissions is gone the submission gets no grade, and the next one a new process."""
    killed = []

    class Names(dict):
        def __missing__(self, name):
            confine.kill([sandbox.process.pid])
            sandbox.process.wait()
            killed.append(name)
            raise SandboxError("gone")

    case = SHORT.test_file("q1").test_cases[0]
    from learnable.exercises.judging import run_case

    sandbox.start()
    with pytest.raises(SandboxError, match="gone"):
        run_case(case, Names(), 3)
    assert killed and not sandbox.alive()
    assert scores(grade(GOOD, sandbox)) == (5, 5)


def test_without_bubblewrap_nothing_is_graded(monkeypatch):
    """No silent fallback, also for root: the reason is said, and what to type if it must be."""
    monkeypatch.setattr(confine.shutil, "which", lambda name: None)
    confine.refusal.cache_clear()
    try:
        with pytest.raises(SandboxError, match=r"bubblewrap is not installed.*--confine none"):
            Sandbox()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(confine.shutil, "which", lambda name: "/usr/bin/bwrap")
            patch.setattr(confine, "command", lambda *args: ["false"])
            confine.refusal.cache_clear()
            assert "does not work here" in confine.refusal()
    finally:
        confine.refusal.cache_clear()


def test_mode_without_confinement_works_and_says_so():
    with Sandbox(SHORT.modules, mode="none") as weak:
        result = grade(GOOD, weak)
        assert scores(result) == (5, 5) and result["confinement"] == "none"
        assert scores(grade([*GOOD, "import os\nos._exit(0)"], weak)) == (5, 5)
    assert "WITHOUT confinement" in confine.describe("none")


def fake_cgroup(root, own, controllers="cpu memory pids"):
    here = root
    for part in ["", *own.strip("/").split("/")]:
        here = here / part
        here.mkdir(exist_ok=True)
        (here / "cgroup.procs").write_text("")
        (here / "cgroup.subtree_control").write_text("")
    (here.parent / "cgroup.subtree_control").write_text(controllers)
    (root / "own").write_text(f"1:cpu:/elsewhere\n0::{own}\n")
    return here.parent


def test_cgroup_is_the_nearest_that_is_ours(tmp_path):
    """Version 2 only, with both controllers, and writable; otherwise the watch does it."""
    expected = fake_cgroup(tmp_path, "/user/app/terminal")
    assert Cgroup.place(tmp_path, tmp_path / "own") == expected
    (expected / "cgroup.subtree_control").write_text("cpu memory")
    assert Cgroup.place(tmp_path, tmp_path / "own") is None, "without pids"
    (tmp_path / "own").write_text("4:memory:/x\n")
    assert Cgroup.place(tmp_path, tmp_path / "own") is None, "version 1"
    assert Cgroup.place(tmp_path, tmp_path / "missing") is None


def test_cgroup_bounds_the_whole_submission(tmp_path):
    parent = fake_cgroup(tmp_path, "/app/terminal")
    (parent / "learnable-stale").mkdir()
    group = Cgroup(parent)
    assert [p.name for p in parent.glob("learnable-*")] == [group.folder.name], "what a killed run left is gone"
    for name, text in (("memory.current", "1000"), ("pids.current", "3"), ("memory.events", "oom 1\noom_kill 2\n")):
        (group.folder / name).write_text(text)
    group.bound(Limits(memory=5000, processes=7))
    written = {name: (group.folder / name).read_text() for name in ("memory.max", "pids.max", "memory.swap.max")}
    assert written == {"memory.max": "6000", "pids.max": "10", "memory.swap.max": "0"}
    assert not group.ran_out_of_memory(), "those were before"
    (group.folder / "memory.events").write_text("oom 2\noom_kill 3\n")
    assert group.ran_out_of_memory()
    for path in group.folder.iterdir():
        path.unlink()
    group.close()
    assert not group.folder.exists()


@needs_bubblewrap
def test_sandbox_starts_inside_its_cgroup(tmp_path, monkeypatch):
    """The first process writes itself into the group before anything of the submission runs."""
    parent = fake_cgroup(tmp_path, "/app/terminal")

    class Files(Cgroup):
        def __init__(self, place):
            super().__init__(place)
            for name in ("memory.current", "pids.current"):
                (self.folder / name).write_text("10")
            (self.folder / "memory.events").write_text("oom_kill 0")

    monkeypatch.setattr(Cgroup, "place", staticmethod(lambda: parent))
    monkeypatch.setattr("learnable.exercises.sandbox.Cgroup", Files)
    with Sandbox(["numpy"]) as confined:
        assert scores(grade(GOOD, confined)) == (5, 5)
        folder = confined.cgroup.folder
        assert (folder / "cgroup.procs").read_text().strip() == str(confined.process.pid)
        assert (folder / "memory.max").read_text() == str(LIMITS.memory + 10)
        ended = [*GOOD, "import os, signal\ndef cost_bayes(*args):\n    os.kill(os.getpid(), signal.SIGKILL)"]
        assert "was killed (out of CPU time or memory)" in str(grade(ended, confined)["remarks"])
        confined.cgroup.ran_out_of_memory = lambda: True
        assert "used more memory than it may" in str(grade(ended, confined)["remarks"])


@pytest.mark.parametrize("name", FILES)
def test_file_that_is_no_notebook(name, tmp_path):
    data, says = FILES[name]
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(Unreadable, match=says):
        read_submission(path)
    result = empty_result(SHORT, "unreadable", says)
    assert result["score"] == 0 and set(result["questions"]) == {"q1", "q2"}
    assert {c["outcome"] for q in result["questions"].values() for c in q["cases"]} == {"not run"}


def test_large_files_and_bombs_are_refused(tmp_path):
    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("notebook.ipynb", b"0" * (201 << 20))
    with pytest.raises(Unreadable, match="too large"):
        read_submission(bomb)
    large = tmp_path / "large.ipynb"
    with open(large, "wb") as file:
        file.truncate(201 << 20)
    with pytest.raises(Unreadable, match="201 MB"):
        read_submission(large)
    nasty = tmp_path / "nasty.ipynb"
    nasty.write_bytes(b'{"cells": [' + b"[]," * (40 << 20) + b"[]]}")
    with pytest.raises(Unreadable):
        read_submission(nasty)


@needs_bubblewrap
@pytest.mark.parametrize("command", [["-m", "learnable.cli"], [str(Path(sys.executable).with_name("learnable"))]])
def test_nothing_is_imported_from_the_folder_of_the_submissions(command, tmp_path):
    """Whoever hands in json.py runs nothing: no process of the grader looks for modules where it was started."""
    for name in ("argparse", "json", "numpy", "numba", "pickle", "joblib", "otter", "IPython", "resource", "zipfile"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ESCAPED')!r}, 'a').write({name!r})\n")
    path = write_notebook(tmp_path / "ann.ipynb", GOOD)
    write_notebook(tmp_path / "bob.ipynb", [*GOOD, "# bob"])
    with zipfile.ZipFile(tmp_path / "cyd.zip", "w") as archive:
        archive.write(path, "bayes_decision_theory.ipynb")
    done = subprocess.run(
        [sys.executable, *command, "grade", ".", "--out", "g.csv", "--jobs", "2", "--chapters", BAYES],
        cwd=tmp_path,
        env={**os.environ, "LEARNABLE_BOOK": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not (tmp_path / "ESCAPED").exists(), (tmp_path / "ESCAPED").read_text()
    assert done.returncode == 0 and "2 graded in" in done.stdout, done.stdout + done.stderr
    assert all(f"{name},10,44," in (tmp_path / "g.csv").read_text() for name in ("ann", "bob", "cyd"))


def test_saved_outputs_do_not_count(tmp_path):
    """A right notebook with thirty megabytes of pictures is the same submission as one without."""
    path = write_notebook(tmp_path / "ann.ipynb", GOOD)
    plain = read_submission(path)
    document = json.loads(path.read_text())
    picture = {"output_type": "display_data", "metadata": {}, "data": {"image/png": "A" * (30 << 20)}}
    document["cells"][0]["outputs"] = [picture]
    path.write_text(json.dumps(document))
    assert path.stat().st_size > 30 << 20
    assert read_submission(path) == plain and read_submission(path).key() == plain.key()


def test_link_to_the_solution_is_not_followed(tmp_path):
    master = ROOT / "exercises" / "solutions" / f"{BAYES}.ipynb"
    os.symlink(master, tmp_path / "clever.ipynb")
    (found,) = collect([tmp_path], {BAYES: set()})
    assert found.trouble == "unreadable" and found.reason == "not a regular file"


def test_zip_as_otter_exports_it(tmp_path):
    path = write_notebook(tmp_path / "x.ipynb", GOOD)
    with zipfile.ZipFile(tmp_path / "ann.ZIP", "w") as archive:
        archive.write(path, "bayes_decision_theory.IPYNB")
        archive.writestr("__zip_filename__", "ann.zip")
    assert read_submission(tmp_path / "ann.ZIP").code == GOOD
    assert parse_notebook(path.read_bytes()).chapter == BAYES


def test_functions_asked_are_those_of_the_student_notebook():
    assert "cost_bayes" in functions_asked(ROOT / "exercises" / f"{BAYES}.ipynb")
