"""`make test ONLY=` and `CHANGED=`: which chapters are meant, and that every layer is asked for them."""

import shutil
import subprocess

import pytest

from tools import chapter_test
from tools.project import ROOT, chapters

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
        "tests/latent/test_hmm_alignment.py",
        "exercises/solutions/linear/linear_discrimination.ipynb",
        "lib/learnable/highdim/quic_graphical_lasso/solver.py",
    ):
        with (copy / path).open("a") as file:
            file.write("\n")
    found = {chapter.slug for chapter in chapter_test.changed_since("HEAD", copy)}
    assert found == {"hmm_alignment", "linear_discrimination", "quic_graphical_lasso"}


def test_every_layer_is_asked_for_the_chapter_alone():
    (chapter,) = [c for c in chapters() if c.slug == "vc_theory"]
    asked = {name: (command, extra) for name, command, extra in chapter_test.layers([chapter], jobs=2)}
    assert {"lint", "book", "nbval", "doctest", "unit", "rules", "exercises", "browser", "benchmark"} <= set(asked)
    for name in ("nbval", "doctest", "unit", "exercises", "benchmark"):
        assert any("vc_theory" in word for word in asked[name][0]), name
    assert asked["browser"][1] == {"LEARNABLE_ONLY": "vc_theory"}


def test_an_unknown_chapter_is_refused(capsys):
    with pytest.raises(SystemExit):
        chapter_test.main(["no_such_chapter"])
    assert "no chapter is called no_such_chapter" in capsys.readouterr().err
