"""`make test ONLY=` and `CHANGED=`: which chapters are meant, and that every layer is asked for them."""

import os
import shutil
import subprocess

import pytest

from tools.check import chapter_test
from tools.project import ROOT, chapters, executable_pages, selected
from tools.run.dependencies import Dependencies

SKIPPED = shutil.ignore_patterns(".git", ".venv*", "_build", "generated", "__pycache__", "work", "data", "*.egg-info")


def git(folder, *arguments):
    who = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("changed") / "project"
    for name in ("lib", "lectures", "exercises", "tests", "benchmarks"):
        shutil.copytree(ROOT / name, folder / name, ignore=SKIPPED)
    for name in ("_toc.yml", "requirements.txt"):
        shutil.copy(ROOT / name, folder / name)
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "start")
    return folder


def test_what_changed_is_found(copy):
    assert chapter_test.changed_since("HEAD", copy) == []
    for path in (
        "tests/chapters/test_hmm_alignment.py",
        "exercises/solutions/linear/linear_discrimination.ipynb",
        "lib/learnable/highdim/quic/solver.py",
        "tests/exercises/wrong/vc_theory.diff",
        "tests/foundations/test_voting.py",
        "lib/learnable/chapters/entropy_estimation/results.json",
    ):
        with (copy / path).open("a") as file:
            file.write("\n")
    found = {chapter.slug for chapter in chapter_test.changed_since("HEAD", copy)}
    assert found == {
        *("hmm_alignment", "linear_discrimination", "quic_graphical_lasso", "vc_theory", "classical_rules"),
        *("entropy_estimation", "decision_trees"),
    }


def test_tests_that_import_a_chapter_are_its_own():
    by_slug = {c.slug: {path.name for path in chapter_test.tests_of(c, Dependencies())} for c in chapters()}
    assert {"test_hmm_alignment.py", "test_hmm_inputs.py"} <= by_slug["hmm_alignment"]
    assert "test_hmm_inputs.py" not in by_slug["entropy_estimation"]


def test_notebooks_are_chosen_by_name():
    assert [page.stem for page in selected(["vc_theory"])] == ["vc_theory"]
    assert selected([]) == executable_pages()
    with pytest.raises(ValueError, match="no notebook is called no_such_chapter"):
        selected(["vc_theory", "no_such_chapter"])


def test_every_layer_is_asked_for_the_chapter_alone():
    (chapter,) = [c for c in chapters() if c.slug == "vc_theory"]
    commands = {}
    for name, variables in chapter_test.layers([chapter], jobs=2):
        words = [f"{variable}={value}" for variable, value in variables.items()]
        # Without what a surrounding make hands on; -o: the environment is there, as this runs in it.
        command = ["make", "-n", "-o", ".venv/.ready", name, *words]
        plain = {key: value for key, value in os.environ.items() if not key.startswith(("MAKE", "MFLAGS"))}
        done = subprocess.run(command, cwd=ROOT, env=plain, capture_output=True, text=True, check=True)
        commands[name] = commands.get(name, "") + done.stdout
    layers = {"lint", "check", "book", "nbval", "doctest", "unit", "exercise-tests", "browser", "bench-smoke"}
    assert set(commands) == layers
    assert "lectures/foundations/vc_theory.ipynb" in commands["nbval"] and "intro" not in commands["nbval"]
    assert "--doctest-modules lib/learnable/chapters/vc_theory lib/learnable/foundations/" in commands["doctest"]
    assert "tests/chapters/test_vc_theory.py " in commands["unit"] and "tests/foundations/" in commands["unit"]
    assert '-k "vc_theory"' in commands["unit"] and '-k "vc_theory"' in commands["exercise-tests"]
    assert 'LEARNABLE_ONLY="vc_theory"' in commands["browser"]
    assert "--smoke vc_theory" in commands["bench-smoke"]


def test_an_unknown_chapter_is_refused(capsys):
    with pytest.raises(SystemExit):
        chapter_test.main(["no_such_chapter"])
    assert "no chapter is called no_such_chapter" in capsys.readouterr().err
