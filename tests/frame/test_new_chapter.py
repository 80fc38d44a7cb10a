"""`make chapter` makes a chapter that passes its checks as it is, in an old part of the book and in a new one."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools.project import PARTS, ROOT, chapters

SKIPPED = shutil.ignore_patterns(".git", ".venv*", "_build", "generated", "__pycache__", "work", "*.egg-info")


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A throw-away copy of the project with a new chapter, the first of its part while a part is without any."""
    folder = tmp_path_factory.mktemp("project") / "learnable"
    shutil.copytree(ROOT, folder, ignore=SKIPPED)
    environment = {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{folder / 'lib'}", "LEARNABLE_EXPLORE": "text"}

    def run(*arguments):
        command = [sys.executable, *arguments]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
        return done.stdout

    begun = {chapter.part for chapter in chapters()}
    part = next((part for part in PARTS if part not in begun), [*PARTS][-1])
    title = "My method: a title that is longer than most, with words after the colon, and more"
    run("-m", "tools.make.new_chapter", part, "my_chapter", title, "my_method")
    return part, run


def own_tests(part):
    return f"tests/{part}/test_my_method.py", "tests/chapters/test_my_chapter.py"


def test_the_lecture_names_what_it_teaches(copy):
    part, run = copy
    told = run("-c", "from tools.project import chapters; print([c.metadata.get('teaches') for c in chapters()][::-1])")
    assert f"['learnable.{part}.my_method']" in told


def test_code_and_lists_are_in_order(copy):
    _, run = copy
    run("-m", "ruff", "check", ".")
    run("-m", "ruff", "format", "--check", ".")
    run("-m", "tools.run.notebooks", "check")
    run("-m", "tools.site.readme", "--check")
    run("-m", "tools.make.exercises", "check")


def test_every_layer_passes(copy):
    part, run = copy
    rules = [f"tests/frame/test_{name}.py" for name in ("chapters", "api", "layers")]
    # The rules for this chapter, and those for the lists of all chapters; the others' chapters have their own run.
    chosen = "my_chapter or needs or contents or readme or public or errata"
    said = run("-m", "pytest", "tests/exercises/test_masters.py", *rules, "-k", chosen)
    assert "skipped" not in said and "no tests" not in said
    run("-m", "pytest", *own_tests(part))
    run("-m", "pytest", "--doctest-modules", f"lib/learnable/{part}/my_method.py")
    run("-m", "pytest", "--nbval", "--nbval-current-env", f"lectures/{part}/my_chapter.ipynb")
    assert "1 comparisons agree" in run(f"benchmarks/{part}/bench_my_chapter.py", "--smoke")


def test_every_page_of_the_contents_is_written(copy):
    """Also those of a part whose first chapter has no stored measurement yet."""
    _, run = copy
    run("-m", "tools.site.pages")
    missing = "[d for d in toc_documents() if not list(ROOT.glob(d + '.*'))]"
    assert run("-c", f"from tools.project import ROOT, toc_documents; print({missing})").strip() == "[]"


@pytest.mark.parametrize(
    ("module", "right", "wrong"),
    [
        ("method", "total / (i + 1)", "total / (i + 2)"),
        ("method", "outside[-1]", "outside[0]"),
        ("method", "ddof=1) / np.sqrt(len(x))", "ddof=1)"),
        ("method", "@dataclass(frozen=True)", "@dataclass"),
        ("experiments", "[-1] ** 2", "[0] ** 2"),
    ],
)
def test_what_is_broken_fails_the_tests_of_its_floor(copy, module, right, wrong):
    part, run = copy
    name = {"method": f"{part}.my_method", "experiments": "chapters.my_chapter.experiments"}[module]
    path = Path(run("-c", f"import learnable.{name} as module; print(module.__file__)").strip())
    text = path.read_text(encoding="utf-8")
    assert right in text
    try:
        path.write_text(text.replace(right, wrong), encoding="utf-8")
        with pytest.raises(AssertionError, match="failed"):
            run("-m", "pytest", *own_tests(part))
    finally:
        path.write_text(text, encoding="utf-8")


def test_the_chapter_comes_through_the_front_door(copy):
    part, run = copy
    assert run("-c", f"from learnable.{part} import settle; print(settle([0.0], 0.0).index)") == "0\n"
    assert part in run("-c", "import learnable; print(*dir(learnable))").split()
    run("-m", "pytest", "tests/frame/test_front_door.py", "-k", f"{part} or heavy or twice")


def test_contents_keep_their_order(copy):
    part, run = copy
    run("-m", "tools.site.toc", "--check")
    listed = run("-c", "from tools.project import chapters; print(*[c.part for c in chapters()])").split()
    assert part in listed and listed == sorted(listed, key=list(PARTS).index)
    reference = _contents(run).partition("file: book/generated/api/index\n")[2]
    assert f"file: book/generated/api/{part}\n" in reference and f"glob: book/generated/api/{part}/*\n" in reference


def _contents(run):
    return run("-c", "print(open('_toc.yml', encoding='utf-8').read())")
