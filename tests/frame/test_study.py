"""Studies give the same figures whatever runs them, and never compute a finished cell twice."""

import functools
import json
import os
import signal
import subprocess
import sys
import time
import types
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from joblib.externals.loky import get_reusable_executor
from threadpoolctl import ThreadpoolController, threadpool_info, threadpool_limits

from learnable import _threads
from learnable.book import study as engine
from learnable.book import study_results
from learnable.book.sources import code_digest
from learnable.book.study import Study, StudyError, confirm, reproduce, study
from learnable.book.study_results import store, stored_result

HERE = Path(__file__).parent
DIARY = "LEARNABLE_TEST_DIARY"  # a folder in which cells note that they ran


@study(
    source="a table",
    paper={"repetitions": 6, "n": [10, 1000], "method": ["mean", "median"]},
    lecture={"repetitions": 2, "n": [10], "method": ["mean"]},
    paired=("method",),
)
def centre(random_state, *, n, method):
    """How far the centre of a sample is from that of its law."""
    _note(f"{n}-{method}")
    draws = random_state.standard_normal(n)
    return {"error": abs(getattr(np, method)(draws)), "first": draws[0], "curve": draws[:3]}


@study(source="trouble", paper={"repetitions": 5, "n": [1]}, lecture={"repetitions": 1, "n": [1]})
def troubled(random_state, *, n):
    """Some cells fail until a file says that all is well."""
    number = random_state.integers(10)
    _note(f"cell-{number}")
    if number % 2 and not (Path(os.environ[DIARY]) / "mended").exists():
        raise ArithmeticError(f"odd {number}")
    return {"number": number}


@study(source="a crash", paper={"repetitions": 6, "n": [1]}, lecture={"repetitions": 1, "n": [1]})
def crashing(random_state, *, n):
    """The first cell that finds no mark leaves one and takes its process along."""
    mark = Path(os.environ[DIARY]) / "crashed"
    try:
        mark.touch(exist_ok=False)
    except FileExistsError:
        return {"draw": random_state.random()}
    os.kill(os.getpid(), signal.SIGKILL)


@study(source="a long run", paper={"repetitions": 4, "n": [1]}, lecture={"repetitions": 1, "n": [1]})
def waiting(random_state, *, n):
    """The third cell waits until it may go on."""
    folder = Path(os.environ[DIARY])
    number = sum(1 for _ in folder.glob("waiting-*"))
    _note("waiting")
    while number == 2 and not (folder / "go").exists():
        time.sleep(0.01)
    return {"draw": random_state.random()}


def _note(what):
    folder = os.environ.get(DIARY)
    if folder:
        taken = len(list(Path(folder).glob(f"{what}-*")))
        (Path(folder) / f"{what}-{taken}-{os.getpid()}-{time.monotonic_ns()}").touch()


@pytest.fixture
def diary(tmp_path, monkeypatch):
    folder = tmp_path / "diary"
    folder.mkdir()
    monkeypatch.setenv(DIARY, str(folder))
    get_reusable_executor().shutdown(wait=True)  # workers of another test have its environment
    return folder


def test_every_number_of_workers_and_every_order_gives_the_same_figures(tmp_path):
    one = reproduce([centre], folder=tmp_path / "one")[0]
    two = reproduce([centre], n_jobs=2, folder=tmp_path / "two")[0]
    backwards = {centre.key(*cell): centre.cell(*cell) for cell in reversed(centre.cells("paper"))}
    assert one.rows == two.rows == centre._result(backwards, "paper", 0.0).rows
    assert one.rows == centre.at("paper").rows
    assert all(row.se["error"] > 0 and row.count["error"] == 6 for row in one.rows)


def test_cells_differ_and_paired_settings_see_the_same_data():
    result = centre.at("paper")
    assert result.mean("first", n=10, method="mean") == result.mean("first", n=10, method="median")
    assert result.mean("first", n=10, method="mean") != result.mean("first", n=1000, method="mean")
    draws = {centre.cell({"n": 10, "method": "mean"}, repetition)["first"] for repetition in range(6)}
    assert len(draws) == 6


def test_a_share_of_the_repetitions_is_a_part_of_the_whole():
    whole, part = set(map(str, centre.cells("paper"))), set(map(str, centre.cells(0.3)))
    assert len(whole) == 24 and len(part) == 8 and part < whole
    assert len(centre.cells(1e-9)) == 4
    for wrong in (0, 1.5, "thesis", True, float("nan")):
        with pytest.raises(ValueError, match="scale"):
            centre.cells(wrong)


def test_means_and_errors_are_those_of_the_cells():
    result = centre.at("paper")
    values = [centre.cell({"n": 1000, "method": "mean"}, repetition)["error"] for repetition in range(6)]
    assert result.mean("error", n=1000, method="mean") == pytest.approx(np.mean(values), rel=1e-8)
    assert result.se("error", n=1000, method="mean") == pytest.approx(np.std(values, ddof=1) / 6**0.5, rel=1e-8)
    assert result.median("error", n=1000, method="mean") == pytest.approx(np.median(values), rel=1e-8)
    assert centre.at("lecture").rows[0].count["error"] == 2
    n, errors = result.series("n", "error", method="mean")
    assert list(n) == [10, 1000] and errors[0] > errors[1]
    assert "± " in result.to_text() and len(result.to_frame()) == 4
    with pytest.raises(LookupError, match="2 rows"):
        result.row(n=10)


def test_failed_cells_are_named_the_others_kept_and_never_run_again(tmp_path, diary):
    with pytest.raises(StudyError, match=r"cells failed.*odd"):
        reproduce([troubled], folder=tmp_path / "kept")
    before = sorted(diary.iterdir())
    assert len(before) == 5
    failed = sum(int(path.name.split("-")[1]) % 2 for path in before)
    assert 0 < failed < 5
    (diary / "mended").touch()
    result = reproduce([troubled], folder=tmp_path / "kept")[0]
    assert result.rows[0].count["number"] == 5
    assert len(list(diary.glob("cell-*"))) == 5 + failed


def test_a_cut_line_of_the_journal_costs_one_cell(tmp_path, diary):
    whole = reproduce([centre], folder=tmp_path)[0]
    ran = len(list(diary.iterdir()))
    (journal,) = (tmp_path / "test_study").glob("centre-*.jsonl")
    journal.write_bytes(journal.read_bytes()[:-25])
    assert reproduce([centre], folder=tmp_path)[0].rows == whole.rows
    assert len(list(diary.iterdir())) == ran + 1
    assert reproduce([centre], folder=tmp_path)[0].rows == whole.rows
    assert len(list(diary.iterdir())) == ran + 1


def test_a_worker_that_dies_costs_no_finished_cell(tmp_path, diary):
    result = reproduce([crashing], n_jobs=2, folder=tmp_path / "kept")[0]
    assert (diary / "crashed").exists()
    assert result.rows[0].count["draw"] == 6
    assert result.rows == crashing.at("paper").rows


def test_after_kill_nine_the_run_goes_on(tmp_path, diary):
    script = (
        f"import sys; sys.path.insert(0, {str(HERE)!r})\n"
        "from test_study import waiting\nfrom learnable.book.study import reproduce\n"
        f"reproduce([waiting], folder={str(tmp_path / 'kept')!r})"
    )
    child = subprocess.Popen([sys.executable, "-c", script])
    while len(list(diary.glob("waiting-*"))) < 3:
        assert child.poll() is None
        time.sleep(0.01)
    child.kill()
    child.wait()
    (diary / "go").touch()
    result = reproduce([waiting], folder=tmp_path / "kept")[0]
    assert len(list(diary.glob("waiting-*"))) == 5  # three, one of them cut off, and the two that were left
    assert result.rows[0].count["draw"] == 4
    (diary / "waiting-x").touch()  # so that no cell of the fresh run is the third
    assert reproduce([waiting], folder=tmp_path / "fresh")[0].rows == result.rows


def test_a_dask_cluster_that_loses_a_worker_gives_the_same_figures(tmp_path, diary):
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, worker_dashboard_address=None
    )
    with cluster:
        with distributed.Client(cluster) as client:
            client.run(sys.path.insert, 0, str(HERE))
            client.run(os.environ.__setitem__, DIARY, str(diary))
        result = reproduce([crashing], scheduler=cluster.scheduler_address, folder=tmp_path / "cluster")[0]
    assert (diary / "crashed").exists()
    assert result.rows == reproduce([crashing], folder=tmp_path / "here")[0].rows


@pytest.mark.parametrize(
    ("grid", "words"),
    [
        ({"n": [1]}, "repetitions"),
        ({"repetitions": 0, "n": [1]}, "repetitions"),
        ({"repetitions": 1, "n": 3}, "list of values"),
        ({"repetitions": 1, "n": [object()]}, "plain numbers"),
    ],
)
def test_grids_that_cannot_be_stored_are_refused(grid, words):
    with pytest.raises(ValueError, match=words):
        study(source="x", paper=grid, lecture=grid)(lambda random_state, n: {"x": 1})


def test_a_figure_that_is_no_number_is_refused_and_none_is_left_out():
    grid = {"repetitions": 2, "n": [1]}
    broken = study(source="x", paper=grid, lecture=grid)(lambda random_state, n: {"x": float("nan")})
    with pytest.raises(ValueError, match="x is nan"):
        broken.at()
    shaped = study(source="x", paper=grid, lecture=grid)(lambda random_state, n: 3.0)
    with pytest.raises(TypeError, match="dictionary"):
        shaped.at()
    drawn = iter([1.0, None])
    partly = study(source="x", paper=grid, lecture=grid)(lambda random_state, n: {"x": next(drawn)})
    row = partly.at().rows[0]
    assert row.count == {"x": 1} and row.mean == {"x": 1.0} and row.se == {"x": None}


def test_results_travel_through_their_file(tmp_path):
    result = reproduce([centre], scale=0.5, folder=tmp_path / "kept")[0]
    path = store([result], folder=tmp_path)
    again = stored_result("test_study", "centre", folder=tmp_path)
    assert again.rows == result.rows and again.scale == 0.5
    assert set(again.made) == {"date", "machine", "versions", "digest"}
    assert str(Path.home()) not in path.read_text()
    json.loads(path.read_text())
    with pytest.raises(LookupError, match="learnable reproduce"):
        stored_result("test_study", "other", folder=tmp_path)


def test_a_stored_result_is_confirmed_by_cells_that_agree(tmp_path, monkeypatch):
    """On any machine: the cells that are compared travel with the result."""
    result = reproduce([centre], folder=tmp_path / "cells")[0]
    path = store([result], tmp_path)
    monkeypatch.setattr(Study, "digest", "of other code")
    assert confirm(centre, results=tmp_path) == (engine.SAMPLE_CELLS, len(centre.cells("paper")))
    again = stored_result(centre.chapter, centre.name, tmp_path)
    assert again.made["confirmed"]["digest"] == "of other code" and again.made["digest"] == result.made["digest"]
    assert again.rows == result.rows and again.sample == result.sample
    path.write_text(path.read_text().replace('"figures": {\n      "error": 0.', '"figures": {\n      "error": 7.'))
    before = path.read_text()
    with pytest.raises(StudyError, match=r"error was 7\.\d+, is 0\."):
        confirm(centre, results=tmp_path)
    assert path.read_text() == before
    confirm(replace(centre, timed=("error",)), results=tmp_path)  # times are no figures of the code
    store([replace(result, sample=())], tmp_path)
    with pytest.raises(LookupError, match="no cells of centre are stored"):
        confirm(centre, results=tmp_path)


def test_the_sample_is_what_runs_in_seconds(tmp_path):
    """Random cells within the time; where none fits, the one that takes the least."""
    kept = reproduce([centre], folder=tmp_path)[0].sample
    cells = [(setting, repetition) for setting, repetition, _ in kept]
    assert len(kept) == engine.SAMPLE_CELLS and len({centre.key(*cell) for cell in cells}) == len(kept)
    assert all(figures == centre.cell(setting, repetition) for setting, repetition, figures in kept)
    assert len({setting["n"] for setting, _ in cells}) == 2, "of all settings, not of the first"
    (journal,) = tmp_path.rglob("*.jsonl")
    lines = [json.loads(line) for line in journal.read_text().splitlines() if line]
    for number, line in enumerate(lines):
        line["seconds"] = 100.0 - number
    journal.write_text("\n".join(map(json.dumps, lines)))
    ((setting, repetition, _),) = reproduce([centre], folder=tmp_path)[0].sample
    assert centre.key(setting, repetition) == lines[-1]["key"]


def test_the_digest_sees_code_and_not_words(tmp_path):
    package = tmp_path / "learnable" / "part" / "chapter"
    package.mkdir(parents=True)
    for folder in (package, package.parent, package.parent.parent):
        (folder / "__init__.py").write_text("")
    (package / "rule.py").write_text('"""A rule."""\nSCALE = 2\n')
    experiments = package / "experiments.py"
    experiments.write_text("from learnable.part.chapter.rule import SCALE\n")
    first = code_digest(experiments)
    (package / "rule.py").write_text('"""Other words."""\nSCALE = 2  # and a comment\n')
    assert code_digest(experiments) == first
    (package / "rule.py").write_text('"""A rule."""\nSCALE = 3\n')
    assert code_digest(experiments) != first


def test_what_has_no_error_or_no_figure_says_so():
    assert study_results._with_error(12.5, None) == "12.5"
    assert study_results._with_error(None, None) == "–"


def test_the_command_names_what_it_does_not_know(capsys):
    from learnable.cli import main

    assert main(["reproduce", "no_such_chapter"]) == 2
    assert "no studies for 'no_such_chapter'" in capsys.readouterr().err


def test_the_command_compares_all_studies_and_fails_if_one_differs(tmp_path, monkeypatch, capsys):
    from learnable.cli import main

    other = replace(centre, run=troubled.run)  # a study of which nothing is stored
    monkeypatch.setattr(engine, "find_studies", lambda slug: {"troubled": other, "centre": centre})
    monkeypatch.setattr(engine, "confirm", functools.partial(confirm, results=tmp_path))
    result = reproduce([centre], folder=tmp_path / "cells")[0]
    store([result], tmp_path)
    assert main(["reproduce", "test_study", "--confirm"]) == 0
    missing, equal = capsys.readouterr().out.splitlines()
    assert "troubled: not compared: no result of 'troubled' is stored" in missing
    assert equal == "test_study centre: 8 of 24 cells run again, equal"
    (setting, repetition, figures), *rest = result.sample
    store([replace(result, sample=((setting, repetition, {**figures, "first": 9.0}), *rest))], tmp_path)
    assert main(["reproduce", "test_study", "--confirm", "--study", "centre"]) == 1
    assert "centre: DIFFERS" in capsys.readouterr().out


def test_a_cell_has_one_thread_of_blas():
    def threads(random_state, *, n):
        return {"threads": max(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")}

    grid = {"repetitions": 1, "n": [1]}
    one = study(source="x", paper=grid, lecture=grid)(threads)
    with threadpool_limits(2):
        assert threads(None, n=1) == {"threads": 2}
        assert one.cell({"n": 1}, 0) == {"threads": 1}


def test_many_small_cells_do_not_wait_for_their_threads():
    """Looking for threaded libraries takes milliseconds; it is done when something was imported, not for each cell."""
    looked = []

    class Counted(ThreadpoolController):
        def __init__(self):
            looked.append(len(sys.modules))
            super().__init__()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_threads, "ThreadpoolController", Counted)
        _threads._libraries.cache_clear()
        grid = {"repetitions": 50, "n": [1]}
        study(source="x", paper=grid, lecture=grid)(lambda random_state, *, n: {"value": n}).at()
        before = len(looked)
        patch.setitem(sys.modules, "a_library_that_comes_later", types.ModuleType("a_library_that_comes_later"))
        with _threads.one_thread():
            pass
    _threads._libraries.cache_clear()
    assert 1 <= before <= 3 and len(looked) == before + 1


def test_what_the_book_alone_imports_makes_no_result(tmp_path):
    """A helper of the engine may change without making every stored study stale; a method's helper may not."""
    package = tmp_path / "learnable"
    for folder in (package, package / "book", package / "part"):
        folder.mkdir()
        (folder / "__init__.py").write_text("")
    (package / "book" / "study.py").write_text("from learnable._engine import run\n")
    (package / "part" / "method.py").write_text("from learnable._shared import add\n")
    experiments = package / "part" / "experiments.py"
    experiments.write_text("from learnable.book.study import run\nfrom learnable.part.method import add\n")
    for name in ("_engine", "_shared"):
        (package / f"{name}.py").write_text("run = add = 1\n")
    first = code_digest(experiments)
    (package / "_engine.py").write_text("run = 'another'\n")
    assert code_digest(experiments) == first
    (package / "_shared.py").write_text("add = 'another'\n")
    assert code_digest(experiments) != first
