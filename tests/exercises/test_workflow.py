"""The command line, the learner's copies, releases, otter's own graders, the book's page."""

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile

import nbformat
import pytest
from support import BAYES, ROOT, assignment, run_cells, submission, write_notebook

from learnable import cli
from learnable.exercises.masters import Assignment
from learnable.exercises.progress import Progress
from learnable.exercises.release import read_key, release
from learnable.exercises.template import master_template
from learnable.exercises.workspace import Shelf, UnknownChapter, find_shelf, start
from tools.make import exercises
from tools.run.kernels import run_live
from tools.site import exercise_page

SLUG = "bayes_decision_theory"
PACKAGE = "learnable-book[exercises] @ https://example.org/learnable.whl"


def test_help_is_instant_and_needs_nothing():
    """``--help`` works where none of the optional packages is installed, and imports nothing heavy."""
    code = (
        "import sys\n"
        "for name in ('otter', 'nbformat', 'IPython', 'psutil', 'matplotlib', 'yaml', 'numpy', 'joblib', 'tqdm'):\n"
        "    sys.modules[name] = None\n"
        "from learnable.cli import main\n"
        "try:\n"
        "    main(['--help'])\n"
        "finally:\n"
        "    import time; print(time.process_time())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert "start" in done.stdout and float(done.stdout.splitlines()[-1]) < 1.0


@pytest.mark.parametrize("command", [["release", "--chapters", SLUG, "--to", "x"], ["grade", "x"]])
def test_missing_packages_are_named(command):
    code = f"import sys\nsys.modules['otter'] = None\nfrom learnable.cli import main\nsys.exit(main({command!r}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 2
    assert "'otter'" in done.stderr and 'pip install "learnable-book[exercises]"' in done.stderr
    assert "Traceback" not in done.stderr


def test_progress_and_start_work_without_otter(tmp_path):
    code = "import sys\nsys.modules['otter'] = sys.modules['nbformat'] = None\nfrom learnable.cli import main\n"
    code += f"sys.exit(main(['start', {SLUG!r}, '--to', {str(tmp_path)!r}]) or main(['progress']))"
    environment = {**os.environ, "LEARNABLE_HOME": str(tmp_path / "home")}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT, env=environment
    )
    assert done.returncode == 0, done.stderr
    assert re.search(rf"{BAYES} +q1 ·", done.stdout) and "questions solved" in done.stdout


def test_start_copies_and_never_overwrites(tmp_path, capsys):
    for name in (SLUG, BAYES, f"exercises/{BAYES}.ipynb"):
        assert cli.main(["start", name, "--to", str(tmp_path)]) == 0
    target = tmp_path / f"{BAYES}.ipynb"
    assert target.read_bytes() == (ROOT / "exercises" / f"{BAYES}.ipynb").read_bytes()
    assert (tmp_path / f"{BAYES}_lecture.ipynb").exists() == (ROOT / "lectures" / f"{BAYES}.ipynb").exists()
    target.write_text("my work")
    assert cli.main(["start", SLUG, "--to", str(tmp_path)]) == 0
    assert target.read_text() == "my work"
    assert "kept, it is yours already" in capsys.readouterr().out
    assert [p.name for p in target.parent.iterdir() if p.name.startswith(".")] == []


def test_start_keeps_a_file_that_appears_in_between(tmp_path, monkeypatch):
    """Two commands at once: the second one loses, whatever is there stays."""
    from learnable.exercises import workspace

    target = tmp_path / f"{BAYES}.ipynb"
    target.parent.mkdir()
    real = workspace.Shelf.lecture

    def late(self, chapter):
        target.write_text("mine")
        return real(self, chapter)

    monkeypatch.setattr(workspace.Shelf, "lecture", late)
    copies = start(Shelf(ROOT), BAYES, tmp_path)
    assert dict(copies)[target] is False and target.read_text() == "mine"


def test_typing_error_is_answered_with_a_suggestion(capsys):
    assert cli.main(["start", "bayes_decison_theory"]) == 2
    assert "Did you mean bayes_decision_theory" in capsys.readouterr().err
    with pytest.raises(UnknownChapter, match="There are: bayes_decision_theory"):
        Shelf(ROOT).resolve("xyzzy", [BAYES])


def test_a_piece_of_a_name_is_answered_with_the_names_that_hold_it(capsys):
    assert cli.main(["start", "hmm"]) == 2
    assert "Did you mean hmm_alignment?" in capsys.readouterr().err
    assert cli.main(["start", "boosting"]) == 2
    assert "boosting_adaboost or boosting_l1_path" in capsys.readouterr().err


def test_start_prints_a_command_that_works_from_a_plain_shell(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert cli.main(["start", BAYES, "--to", str(tmp_path / "my work")]) == 0
    command = shlex.split(capsys.readouterr().out.splitlines()[-1].removeprefix("Open it with: "))
    assert command[-1] == str(tmp_path / "my work")
    shown = subprocess.run([*command[:-1], "--version"], capture_output=True, text=True, check=True)
    assert shown.stdout.strip()[0].isdigit()


def test_make_exercises_never_writes_over_somebodys_work(tmp_path, capsys):
    shelf = Shelf(tmp_path)
    for path in (shelf.master(BAYES), shelf.exercise(BAYES)):
        path.parent.mkdir(parents=True)
    shutil.copy(Shelf(ROOT).master(BAYES), shelf.master(BAYES))
    assert exercises.build(shelf) == (1, [])
    right = shelf.exercise(BAYES).read_text()
    shelf.exercise(BAYES).write_text(right.replace("Bayes", "Bayes and I"))
    changed, refused = exercises.build(shelf)
    assert (changed, [path.stem for path in refused]) == (0, ["bayes_decision_theory"])
    assert "Bayes and I" in shelf.exercise(BAYES).read_text()
    assert "was changed by hand" in capsys.readouterr().err
    assert exercises.build(shelf, force=True) == (1, [])
    assert shelf.exercise(BAYES).read_text() == right
    # What a build wrote itself it may write again: here the master has changed since.
    stale = right.replace("Bayes", "Bayes!")
    shelf.exercise(BAYES).write_text(stale)
    digests = tmp_path / "_build" / "exercises.json"
    digests.write_text(json.dumps({f"exercises/{BAYES}.ipynb": hashlib.sha256(stale.encode()).hexdigest()}))
    assert exercises.build(shelf) == (1, [])


def test_book_is_found_from_anywhere(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT / "lib")
    assert find_shelf().root == ROOT
    monkeypatch.chdir(tmp_path)
    assert find_shelf().root == ROOT, "an editable installation knows its book"


def test_progress_survives_a_move_of_the_book(tmp_path, monkeypatch, capsys):
    """The record belongs to the learner: moving or cloning the book again loses nothing."""
    monkeypatch.setenv("LEARNABLE_HOME", str(tmp_path / "home"))
    before = tmp_path / "before"
    for name in (f"exercises/{BAYES}.ipynb", "pyproject.toml"):
        (before / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, before / name)
    Progress().register(BAYES, assignment(BAYES).questions)
    Progress().record(BAYES, "q3", 1.0, whole=True)
    monkeypatch.chdir(before)
    assert cli.main(["progress"]) == 0
    shown = capsys.readouterr().out
    assert "q3 ✓" in shown and "1 of 5" in shown
    after = tmp_path / "elsewhere" / "after"
    after.parent.mkdir()
    monkeypatch.chdir(tmp_path)
    before.rename(after)
    monkeypatch.chdir(after)
    assert cli.main(["progress"]) == 0
    assert capsys.readouterr().out == shown


def test_progress_is_written_by_many_at_once(tmp_path):
    """Two notebooks that check at the same moment both count."""
    path = tmp_path / "progress.sqlite"
    code = (
        "import sys\nfrom learnable.exercises.progress import Progress\n"
        "for _ in range(25):\n    Progress(sys.argv[1]).record('a/b', 'q1', 0.5)"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, str(path)]) for _ in range(3)]
    assert [p.wait(60) for p in running] == [0, 0, 0]
    Progress(path).register("a/b", ["q1"])
    assert Progress(path).standing()["a/b"][0][3] == 75


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    folder = tmp_path_factory.mktemp("release")
    return release([assignment(BAYES).path], folder / "week1", seed=4711, otter=True, package=PACKAGE)


def test_bundle_is_clean(released):
    bundle = released["bundle"]
    assert sorted(p.name for p in bundle.iterdir()) == ["README.md", f"{SLUG}.ipynb", "requirements.txt"]
    text = "".join(p.read_text() for p in bundle.iterdir())
    for secret in ("BEGIN SOLUTION", "hidden_rng", "4711", "np.column_stack([px * (1 - p1)", "hidden=True"):
        assert secret not in text
    given = assignment(BAYES)
    for question in given.questions:
        for case in given.test_file(question).test_cases:
            assert (case.name in text) == (not case.hidden)
    assert read_key(released["key"])["seed"] == 4711
    assert oct(released["key"].stat().st_mode & 0o777) == "0o600"


def test_bundle_runs_on_its_own(released, tmp_path, monkeypatch):
    """Copied to a machine without the book, the notebook checks answers in a real kernel."""
    shutil.copytree(released["bundle"], tmp_path / "bundle")
    monkeypatch.setenv("LEARNABLE_HOME", str(tmp_path / "home"))
    path = tmp_path / "bundle" / f"{SLUG}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    answer = next(c for c in notebook.cells if "def cost_bayes" in c.source)
    answer.source = next(s for s in assignment(BAYES).cells_of_solution() if "def cost_bayes" in s)
    run_live(notebook, path.parent)
    said = [
        "".join(o.get("data", {}).get("text/plain", "") for o in c.outputs)
        for c in notebook.cells
        if c.cell_type == "code" and c.source.startswith("grader.check(")
    ]
    assert "q2 (5 points) passed" in said[1] and "q1 (5 points) is not started" in said[0]
    assert Progress(tmp_path / "home" / "progress.sqlite").standing()[BAYES][1][1] == 1.0


def test_bundle_carries_the_wheel_it_was_made_with(tmp_path):
    """The public index has no package of ours: students install the file that lies beside their notebooks."""
    before = (ROOT / "build").exists()
    bundle = release([assignment(BAYES).path], tmp_path / "week1", seed=1)["bundle"]
    (wheel,) = bundle.glob("*.whl")
    assert (bundle / "requirements.txt").read_text().splitlines()[0] == f"./{wheel.name}[exercises]"
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert "learnable/exercises/notebook.py" in names
    assert not any("/solutions/" in name or name.endswith(".ipynb") for name in names)
    assert (ROOT / "build").exists() == before, "the checkout stays as it is"
    with pytest.raises(ValueError, match="--package"):
        release([assignment(BAYES).path], tmp_path / "week2", otter=True)


def test_bundle_carries_the_larger_data_sets_if_a_notebook_loads_one(tmp_path):
    lecture = tmp_path / "lecture.ipynb"
    lecture.write_text(json.dumps({"cells": [{"source": ["load('adult', as_frame=True)"]}]}))
    bundle = release([assignment(BAYES).path], tmp_path / "week1", seed=1, lectures=[lecture])["bundle"]
    package, data, _ = (bundle / "requirements.txt").read_text().splitlines()
    assert "learnable_book-" in package and (bundle / data).exists() and "learnable_book_data-" in data


def test_release_never_overwrites(released, tmp_path):
    with pytest.raises(FileExistsError, match="not empty"):
        release([assignment(BAYES).path], released["bundle"], package=PACKAGE)
    (tmp_path / "new.key.json").write_text("{}")
    with pytest.raises(FileExistsError, match="earlier release"):
        release([assignment(BAYES).path], tmp_path / "new", package=PACKAGE)
    assert not (tmp_path / "new").exists()


def test_release_without_a_seed_draws_one(tmp_path):
    seeds = {release([assignment(BAYES).path], tmp_path / name, package=PACKAGE)["seed"] for name in "ab"}
    assert len(seeds) == 2


def test_grading_takes_the_seed_from_the_key(released, tmp_path, capsys):
    write_notebook(tmp_path / "s" / "ann.ipynb", submission(BAYES))
    arguments = [
        "grade",
        str(tmp_path / "s"),
        "--key",
        str(released["key"]),
        "--out",
        str(tmp_path / "g.csv"),
        "--jobs",
        "1",
    ]
    assert cli.main(arguments) == 0
    assert "public ones" not in capsys.readouterr().out
    assert "ann,44,44,100.0" in (tmp_path / "g.csv").read_text()
    assert cli.main([*arguments, "--seed", "1"]) == 2
    assert "disagree" in capsys.readouterr().err
    (tmp_path / "bad.json").write_text("[]")
    assert cli.main(["grade", str(tmp_path / "s"), "--key", str(tmp_path / "bad.json")]) == 2
    assert "not the key of a release" in capsys.readouterr().err


def test_otter_grades_the_same_submission_from_its_zip(released, tmp_path):
    """The zip for containers and Gradescope holds the same tests with the seed written in; ``otter run`` agrees."""
    with zipfile.ZipFile(released["zips"][0]) as archive:
        tests = archive.read("tests/q1.py").decode()
        requirements = "".join(archive.read(n).decode() for n in archive.namelist() if "require" in n or "environ" in n)
    assert "seed=4711" in tests and "hidden=True" in tests
    assert "learnable-book[exercises]" in requirements
    from otter.api import grade_submission

    path = write_notebook(tmp_path / f"{SLUG}.ipynb", submission(BAYES, {"q2": "cost_bayes = None"}))
    results = grade_submission(str(path), str(released["zips"][0]), quiet=True)
    assert results.possible == pytest.approx(44) and results.total == pytest.approx(39)


def test_worked_solutions_can_be_released_afterwards(tmp_path, capsys):
    assert cli.main(["solutions", "--chapters", SLUG, "--to", str(tmp_path)]) == 0
    notebook = nbformat.read(tmp_path / f"{SLUG}_solution.ipynb", as_version=4)
    text = "\n".join(c.source for c in notebook.cells) + json.dumps(notebook.metadata)
    assert "BEGIN SOLUTION" not in text and "hidden_rng" not in text
    names = run_cells([c.source for c in notebook.cells if c.cell_type == "code"])
    assert names["cost_bayes"]([0.75], 1, 1)[0] == [1]
    assert cli.main(["solutions", "--chapters", SLUG, "--to", str(tmp_path)]) == 2
    assert "nothing is overwritten" in capsys.readouterr().err


def test_check_fails_when_master_and_student_disagree(tmp_path, monkeypatch, capsys):
    shelf = Shelf(tmp_path)
    for source in (f"exercises/solutions/{BAYES}.ipynb", f"exercises/{BAYES}.ipynb"):
        (tmp_path / source).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / source, tmp_path / source)
    assert exercises.problems(shelf) == []
    student = shelf.exercise(BAYES)
    student.write_text(student.read_text().replace("joint_table", "joint_tabel", 1))
    assert "does not agree" in exercises.problems(shelf)[0]
    monkeypatch.setattr(exercises, "ROOT", tmp_path)
    assert exercises.main(["check"]) == 1
    assert exercises.main(["build"]) == 1  # somebody changed it: it stays
    assert exercises.main(["build", "--force"]) == 0
    assert exercises.main(["check"]) == 0
    student.unlink()
    assert "missing" in exercises.problems(shelf)[0]
    exercises.build(shelf)
    shelf.master(BAYES).unlink()
    assert "no master" in exercises.problems(shelf)[0]


def test_two_builds_are_identical():
    path = assignment(BAYES).path
    assert Assignment.load(path).student_text() == Assignment.load(path).student_text()


def test_template_is_a_master_that_passes(tmp_path):
    path = tmp_path / "solutions" / "foundations" / "my_method.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(master_template("foundations", "my_method", "My method"), path)
    given = Assignment.load(path)
    right = run_cells(given.cells_of_solution())
    untouched = run_cells([c.source for c in given.student.cells if c.cell_type == "code"])
    for question, points in (("q1", 4), ("q2", 6), ("q3", 8)):
        file = given.test_file(question)
        file.run(right)
        assert file.score == points
        file.run(untouched)
        assert file.score == 0
    assert given.points == 18


CLASS_TEST = '''
# HIDDEN
def test_fit_and_predict(env):
    """Fit and predict"""
    from learnable.exercises import ask, hidden_rng

    x = hidden_rng("fit").normal(size=6)
    model = ask(env, "Mean", scale=2.0)
    model.call("fit", x)
    model.attribute("mean_").equals(x.mean())
    model.call("predict", 3).equals([2 * x.mean()] * 3)
    model.call("apply", lambda v: v + 1.0).equals(x.mean() + 1.0)
'''
CLASS_ANSWER = """class Mean:
    def __init__(self, scale=1.0):
        self.scale = scale

    def fit(self, x):
        self.mean_ = np.mean(x)
        return self

    def predict(self, n):
        return [self.scale * self.mean_] * n

    def apply(self, function):
        return function(self.mean_)"""


@pytest.fixture
def small_book(tmp_path, monkeypatch):
    """A book with two chapters, one of which asks for a class."""
    for slug in ("first", "second"):
        path = tmp_path / "book" / "exercises" / "solutions" / "linear" / f"{slug}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        notebook = master_template("linear", slug, slug.capitalize())
        del notebook.cells[13:33]  # the second and the third question
        if slug == "second":
            given = "def mean_so_far(x):\n    return np.cumsum(x) / np.arange(1, len(x) + 1)"
            notebook.cells[6].source = f"# BEGIN SOLUTION\n{CLASS_ANSWER}\n# END SOLUTION\n\n\n{given}"
            notebook.cells[10].source = CLASS_TEST.strip()
        nbformat.write(notebook, path)
    (tmp_path / "book" / "pyproject.toml").write_text("")
    monkeypatch.setenv("LEARNABLE_BOOK", str(tmp_path / "book"))
    exercises.build(Shelf(tmp_path / "book"))
    return Shelf(tmp_path / "book")


def test_two_chapters_and_a_class(small_book, tmp_path, capsys):
    """Several chapters in one table; a class is asked through the same pipe as a function."""
    solved = {c: Assignment.load(small_book.master(c)) for c in small_book.masters()}
    folder = tmp_path / "submissions"
    for chapter, given in solved.items():
        text = nbformat.writes(given.solution_notebook())
        for student in ("ann", "bob") if chapter == "linear/first" else ("ann", "cyd"):
            (folder / student).mkdir(parents=True, exist_ok=True)
            broken = text.replace("np.mean(x)", "np.median(x)") if student == "cyd" else text
            (folder / student / f"{given.slug}.ipynb").write_text(broken)
    arguments = ["grade", str(folder), "--out", str(tmp_path / "g.csv"), "--jobs", "1"]
    assert cli.main(arguments) == 0, capsys.readouterr()
    rows = (tmp_path / "g.csv").read_text().splitlines()
    assert rows[0] == "student,score,possible,percent,linear/first:q1,linear/second:q1,status,remarks"
    assert rows[1] == "ann,8,8,100.0,4,4,ok,"
    assert rows[2] == "bob,4,8,50.0,4,0,missing,nothing handed in for linear/second"
    assert rows[3].startswith("cyd,2,8,25.0,0,2,missing,")
    page = (tmp_path / "g_feedback" / "feedback" / "cyd.html").read_text()
    assert "mean_ is wrong" in page
    assert cli.main(["list"]) == 0
    assert "linear/second: Exercises: Second (1 questions, 4 points)" in capsys.readouterr().out


def test_wrong_classes_get_sentences():
    from learnable.exercises import WrongAnswer, ask

    class Model:
        def fit(self):
            raise KeyError("x")

        @property
        def coef_(self):
            raise RuntimeError("not fitted")

    for check, words in (
        (lambda m: m.call("predict", 1), "The object has no predict"),
        (lambda m: m.call("fit"), "raised KeyError"),
        (lambda m: m.attribute("coef_"), "raised RuntimeError: not fitted"),
    ):
        with pytest.raises(WrongAnswer, match=words):
            check(ask({"Model": Model}, "Model"))


def test_incomplete_master_is_refused(tmp_path):
    path = tmp_path / "x.ipynb"
    notebook = master_template("foundations", "x", "X")
    notebook.cells[3].source = notebook.cells[3].source.replace("difficulty: easy", "difficulty: trivial")
    nbformat.write(notebook, path)
    with pytest.raises(ValueError, match="difficulty is one of easy, medium, hard"):
        Assignment.load(path)
    notebook.cells[3].source = "# BEGIN QUESTION\nname: q1\npoints: 4"
    nbformat.write(notebook, path)
    with pytest.raises(ValueError, match="question q1 lacks title, difficulty, section, hints"):
        Assignment.load(path)


def test_page_lists_every_question_and_builds_without_warning(tmp_path):
    """Sphinx takes the page with warnings as errors, and the download opens from a file."""
    page = tmp_path / "book" / "generated" / "exercises.md"
    for name in (f"exercises/{BAYES}.ipynb", f"lectures/{BAYES}.ipynb", "_toc.yml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    page.parent.mkdir(parents=True)
    page.write_text(exercise_page.text(page.parent, Shelf(tmp_path)))
    shutil.copy(ROOT / "book" / "instructors.md", tmp_path / "book" / "instructors.md")
    (tmp_path / f"lectures/{BAYES}.ipynb").unlink()
    (tmp_path / f"lectures/{BAYES}.md").write_text("# A lecture\n\nx\n")
    page.write_text(page.read_text().replace(f"/lectures/{BAYES}.ipynb", f"/lectures/{BAYES}.md"))
    (tmp_path / "index.md").write_text(
        f"# Book\n\n```{{toctree}}\nbook/generated/exercises\nbook/instructors\nlectures/{BAYES}\n```\n"
    )
    (tmp_path / "conf.py").write_text(
        "extensions = ['myst_parser', 'sphinx_design']\nmyst_enable_extensions = ['attrs_inline', 'colon_fence']\n"
        "exclude_patterns = ['out', 'exercises']\nhtml_theme = 'basic'\n"
    )
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-b",
        "html",
        "-W",
        "-n",
        "--keep-going",
        "-q",
        str(tmp_path),
        str(tmp_path / "out"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    html = (tmp_path / "out" / "book" / "generated" / "exercises.html").read_text()
    for question in assignment(BAYES).questions.values():
        assert question.title in html and question.difficulty in html
    link = re.search(r'href="([^"]*_downloads[^"]*\.ipynb)"', html).group(1)
    target = (tmp_path / "out" / "book" / "generated" / link).resolve()
    assert target.read_bytes() == (ROOT / "exercises" / f"{BAYES}.ipynb").read_bytes()
    assert re.search(r'class="[^"]*sd-btn', html)
    assert exercise_page.write(page) in (True, False) and page.exists()
