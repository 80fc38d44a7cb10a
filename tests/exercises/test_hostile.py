"""Hostile and broken submissions: each gets its score and a line, none stops the others, none gains anything."""

import dataclasses
import os
import time

import psutil
import pytest
from hostile import FILES, GOOD, HOSTILE
from support import BAYES, ROOT, assignment, write_notebook

from learnable.exercises.classroom import _newest, collect
from learnable.exercises.confine import Limits
from learnable.exercises.grading import Unreadable, grade_cells, grade_file, parse_notebook, read_submission
from learnable.exercises.session import Nursery

LIMITS = Limits(call_seconds=1.0, cell_seconds=1.5, total_seconds=25.0, memory=1 << 30)
MASKED = [str(ROOT / "exercises")]


@pytest.fixture(scope="module")
def nursery():
    with Nursery(assignment(BAYES).modules) as running:
        yield running


@pytest.fixture(scope="module")
def weaker(nursery):
    """Nurseries that use less than this kernel offers."""
    running = {}

    def get(mode, as_user_namespace=False):
        if mode not in nursery.modes:
            pytest.skip(f"this kernel has no {mode}")
        key = mode, as_user_namespace
        if key not in running:
            running[key] = Nursery(assignment(BAYES).modules, mode, as_user_namespace)
        return running[key]

    yield get
    for one in running.values():
        one.close()


def scores(result):
    return result["questions"]["q1"]["score"], result["questions"]["q2"]["score"]


@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda h: h.name)
def test_hostile_submission(hostile, nursery):
    start = time.monotonic()
    result = grade_cells(hostile.cells, assignment(BAYES), nursery, 3, LIMITS, MASKED)
    assert scores(result) == hostile.scores, result["questions"]["q2"]["cases"]
    assert result["score"] == sum(hostile.scores), "the deleted questions give nothing"
    assert time.monotonic() - start < LIMITS.total_seconds + 5
    told = " | ".join(result["remarks"])
    told += " | " + " | ".join(c["problem"] for q in result["questions"].values() for c in q["cases"])
    assert hostile.says in told
    assert len(result["output"]) <= 4000
    # The next student is graded as if nothing had happened, and no process was left behind.
    after = grade_cells(GOOD, assignment(BAYES), nursery, 3, LIMITS, MASKED)
    assert scores(after) == (5, 5) and after["status"] == "ok", after["remarks"]
    assert psutil.Process(nursery.process.pid).children(recursive=True) == []


@pytest.mark.parametrize("mode", ["landlock", "guard"])
@pytest.mark.parametrize(
    "name",
    ["reads the solutions", "network access", "os._exit in a function", "kills every process it can", "fills the disk"],
)
def test_weaker_confinement_holds_against_plain_python(mode, name, weaker):
    hostile = next(h for h in HOSTILE if h.name == name)
    limits = Limits(call_seconds=1.5, cell_seconds=5.0, total_seconds=25.0)
    nursery = weaker(mode)
    result = grade_cells(hostile.cells, assignment(BAYES), nursery, 3, limits, MASKED)
    assert scores(result) == hostile.scores
    assert nursery.alive() and psutil.Process(nursery.process.pid).children(recursive=True) == []


def test_submission_that_takes_down_the_nursery_is_graded_all_the_same(nursery):
    """Only possible without kernel isolation, with native code; it costs the submission, and nobody else."""
    cell = "import ctypes, os\nctypes.CDLL(None).kill(os.getppid(), 9)\nimport time\ntime.sleep(5)"
    with Nursery(assignment(BAYES).modules, mode="guard") as weak:
        result = grade_cells([*GOOD, cell], assignment(BAYES), weak, 3, LIMITS, MASKED)
        assert not weak.alive()
    assert result["score"] == 0 and result["status"] == "trouble"
    assert "took down the process that started it" in result["remarks"]
    same = grade_cells([*GOOD, cell], assignment(BAYES), nursery, 3, LIMITS, MASKED)
    if nursery.mode == "namespaces":
        assert scores(same) == (5, 5) and nursery.alive()


@pytest.mark.parametrize("mode", ["namespaces", "landlock", "guard"])
def test_grading_from_the_root_of_the_book_hides_no_library(mode, weaker):
    """``learnable grade .`` masks the folder that holds the installation as well; Python still runs."""
    result = grade_cells(GOOD, assignment(BAYES), weaker(mode), 3, LIMITS, [str(ROOT)])
    assert scores(result) == (5, 5) and result["status"] == "ok", result["remarks"]


FORGED = [
    ["done"],
    ["done", 1, 2],
    ["done", 5],
    ["done", {"kind": [], "number": "x"}],
    ["value", 5],
    ["value"],
    ["value", ["q"]],
    ["value", ["h", -1]],
    ["value", ["r", 10**9, "x", True]],
    ["missing"],
    ["error", 3],
    ["error", {}],
    ["note"],
    ["callback", 0],
    ["callback", -1, ["t", "x"], ["d"]],
    ["callback", "x", ["t"], ["d"]],
    ["number", 1, 2.0],
    [],
    7,
    {"a": 1},
    None,
]


@pytest.mark.parametrize("where", ["cell", "function"])
def test_forged_replies_never_break_the_grader(where, nursery):
    """Whatever a submission writes into the pipe, it gets a result, and no more than its answers earn."""
    send = (
        "import gc\nfrom learnable.exercises.wire import Channel\n"
        "_wire = [c for c in gc.get_objects() if isinstance(c, Channel)][0]\n"
    )
    given = assignment(BAYES)
    short = dataclasses.replace(given, questions={"q2": given.questions["q2"]})
    for document in FORGED:
        if where == "cell":
            cells = ["def cost_bayes(*args):\n    ...", f"{send}_wire.send({document!r})"]
        else:
            cells = [f"{send}def cost_bayes(*args):\n    _wire.send({document!r})"]
        result = grade_cells(cells, short, nursery, 3, LIMITS, MASKED)
        assert result["score"] == 0, document
    after = grade_cells(GOOD, assignment(BAYES), nursery, 3, LIMITS, MASKED)
    assert scores(after) == (5, 5)


def test_forged_alarm_does_not_void_a_grade(nursery):
    """A submission cannot pretend that the machinery failed."""
    forged = "def cost_bayes(*args):\n    import gc\n    from learnable.exercises.wire import Channel\n"
    forged += "    [c for c in gc.get_objects() if isinstance(c, Channel)][0].send(['unconfined', 'no kernel'])"
    result = grade_cells([*GOOD, forged], assignment(BAYES), nursery, 3, LIMITS, MASKED)
    assert scores(result) == (5, 0) and "not an answer" in " ".join(result["remarks"])


@pytest.mark.parametrize("name", ["reads the solutions", "network access", "looks into other processes"])
def test_user_namespace_as_an_ordinary_user_would_have(name, weaker):
    hostile = next(h for h in HOSTILE if h.name == name)
    result = grade_cells(hostile.cells, assignment(BAYES), weaker("namespaces", True), 3, LIMITS, MASKED)
    assert scores(result) == hostile.scores


@pytest.mark.parametrize("as_user_namespace", [False, True])
def test_read_only_views_stay_read_only(as_user_namespace, weaker):
    """Neither a write nor a remount reaches the installation that everybody shares."""
    cell = (
        "import ctypes, os, numpy\n"
        "target = numpy.__file__\n"
        "libc = ctypes.CDLL(None)\n"
        "for folder in (os.path.dirname(target), '/usr', '/'):\n"
        "    libc.mount(None, folder.encode(), None, 32 | 4096, None)\n"
        "    libc.umount2(folder.encode(), 2)\n"
        "try:\n"
        "    open(target, 'a').write('# mine')\n"
        "    print('WRITTEN')\n"
        "except OSError as error:\n"
        "    print('refused', error.errno)\n"
    )
    nursery = weaker("namespaces", as_user_namespace)
    result = grade_cells([*GOOD, cell], assignment(BAYES), nursery, 3, LIMITS, MASKED)
    assert "refused" in result["output"] and "WRITTEN" not in result["output"]


def test_library_that_starts_threads_is_imported_later(monkeypatch):
    """Such a library cannot be imported before the fork; submissions are graded all the same."""
    with Nursery(["numpy", "concurrent.futures.thread", "antigravity_does_not_exist"]) as other:
        assert other.alive()
    real = Nursery._launch
    asked = []

    def threaded(self, modules, mode):
        asked.append(list(modules))
        return {**real(self, modules, mode), "threads": 3 if modules else 1}

    monkeypatch.setattr(Nursery, "_launch", threaded)
    with Nursery(["numpy"]) as other:
        assert asked == [["numpy"], []]
        assert scores(grade_cells(GOOD, assignment(BAYES), other, 3, LIMITS, MASKED)) == (5, 5)


def test_environment_is_scrubbed(nursery, monkeypatch):
    monkeypatch.setenv("SECRET_OF_THE_INSTRUCTOR", "42")
    with Nursery(["numpy"]) as other:
        result = grade_cells(["import os\nprint(sorted(os.environ))"], assignment(BAYES), other, 3, LIMITS, MASKED)
    assert "HOME" in result["output"] and "SECRET" not in result["output"]


@pytest.mark.parametrize("name", FILES)
def test_file_that_is_no_notebook(name, tmp_path, nursery):
    data, says = FILES[name]
    path = tmp_path / name
    path.write_bytes(data)
    result = grade_file(path, assignment(BAYES), nursery, 3, LIMITS)
    assert result["score"] == 0 and result["status"] == "unreadable"
    assert says in result["remarks"][0]
    assert set(result["questions"]) == set(assignment(BAYES).questions)


def test_large_files_and_bombs_are_refused(tmp_path):
    import zipfile

    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("notebook.ipynb", b"0" * (30 << 20))
    with pytest.raises(Unreadable, match="too large"):
        read_submission(bomb)
    large = tmp_path / "large.ipynb"
    with open(large, "wb") as file:
        file.truncate(25 << 20)
    with pytest.raises(Unreadable, match="25 MB"):
        read_submission(large)


def test_link_to_the_solution_is_not_followed(tmp_path):
    master = ROOT / "exercises" / "solutions" / f"{BAYES}.ipynb"
    os.symlink(master, tmp_path / "clever.ipynb")
    (found,) = collect([tmp_path], [BAYES])
    assert found.unreadable == "not a regular file"


def test_zip_as_otter_exports_it(tmp_path, nursery):
    import zipfile

    path = write_notebook(tmp_path / "x.ipynb", GOOD)
    with zipfile.ZipFile(tmp_path / "ann.zip", "w") as archive:
        archive.write(path, "bayes_decision_theory.ipynb")
        archive.writestr("__zip_filename__", "ann.zip")
    assert parse_notebook(read_submission(tmp_path / "ann.zip")).code == GOOD


def test_two_files_of_one_student_leave_one(tmp_path):
    write_notebook(tmp_path / "ann" / "first.ipynb", GOOD)
    write_notebook(tmp_path / "ann" / "second.ipynb", GOOD[:2])
    os.utime(tmp_path / "ann" / "first.ipynb", (1, 1))
    (found,) = _newest(collect([tmp_path], [BAYES]))
    assert found.path.name == "second.ipynb" and "first.ipynb was handed in as well" in found.remarks[0]
