"""A chapter runs again when, and only when, something that it depends on has changed."""

import json

import nbformat
import pytest
from jupyter_cache import get_cache
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tools.run.dependencies import Dependencies
from tools.run.execution import execute_stale, stale


def write_notebook(path, *sources):
    notebook = new_notebook(cells=[new_markdown_cell("# t"), *[new_code_cell(source) for source in sources]])
    notebook.metadata["kernelspec"] = {"display_name": "Python 3", "language": "python", "name": "python3"}
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)
    return path


@pytest.fixture
def project(tmp_path):
    """Two chapters: one imports `a`, which imports `common`; the other imports `b`."""
    package = tmp_path / "lib" / "learnable"
    for folder in ("one", "two", "datasets/data"):
        (package / folder).mkdir(parents=True)
    for folder in (".", "one", "two", "datasets"):
        (package / folder / "__init__.py").write_text("")
    (package / "common.py").write_text("SCALE = 2\n")
    (package / "one" / "a.py").write_text("from ..common import SCALE\n\ndef value():\n    return SCALE * 3\n")
    (package / "two" / "b.py").write_text("import learnable.one\n\ndef value():\n    return 5\n")
    (package / "datasets" / "data" / "iris.csv.gz").write_bytes(b"1")
    (tmp_path / "requirements.txt").write_text("numpy==1\n")
    write_notebook(tmp_path / "lectures/one/a.ipynb", "from learnable.one import a", "print(a.value())")
    write_notebook(
        tmp_path / "lectures/two/b.ipynb", "%time 1", "from learnable.two.b import value", "print(value(), 'iris')"
    )
    return tmp_path


def names(paths, root):
    return [path.relative_to(root / "lib" / "learnable").as_posix() for path in paths]


def test_modules_are_followed_through_relative_imports_and_packages(project):
    found = Dependencies(project)
    first, second = project / "lectures/one/a.ipynb", project / "lectures/two/b.ipynb"
    assert names(found.modules(first), project) == ["__init__.py", "common.py", "one/__init__.py", "one/a.py"]
    expected = ["__init__.py", "one/__init__.py", "two/__init__.py", "two/b.py"]
    assert names(found.modules(second), project) == expected
    assert names(found.data(second), project) == ["datasets/data/iris.csv.gz"]
    assert found.data(first) == []


@pytest.mark.parametrize(
    ("changed", "dependent"),
    [
        ("lib/learnable/common.py", {"a"}),
        ("lib/learnable/two/b.py", {"b"}),
        ("lib/learnable/one/__init__.py", {"a", "b"}),
        ("lib/learnable/datasets/data/iris.csv.gz", {"b"}),
        ("requirements.txt", {"a", "b"}),
    ],
)
def test_digest_changes_exactly_for_dependents(project, changed, dependent):
    pages = sorted((project / "lectures").rglob("*.ipynb"))
    before = {page.stem: Dependencies(project).digest(page) for page in pages}
    path = project / changed
    path.write_bytes(path.read_bytes() + b"\n")
    after = {page.stem: Dependencies(project).digest(page) for page in pages}
    assert {name for name in before if before[name] != after[name]} == dependent


def test_changed_constant_reruns_exactly_the_dependent_chapter(project, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(project / "lib"))
    pages = sorted((project / "lectures").rglob("*.ipynb"))
    cache = get_cache(str(project / "cache"))

    def build():
        ran, failures = execute_stale(pages, cache, Dependencies(project))
        assert failures == []
        return [page.stem for page in ran]

    def printed(page):
        notebook = nbformat.read(page, as_version=4)
        _, merged = cache.merge_match_into_notebook(notebook)
        return [output.text for cell in merged.cells for output in cell.get("outputs", []) if "text" in output][-1]

    assert build() == ["a", "b"]
    assert build() == []
    assert printed(pages[0]) == "6\n"
    (project / "lib/learnable/common.py").write_text("SCALE = 7\n")
    assert build() == ["a"]
    assert printed(pages[0]) == "21\n"
    write_notebook(pages[1], "from learnable.two.b import value", "print(value() + 1)")
    assert [page.stem for page in stale(pages, cache, Dependencies(project))] == ["b"]


def test_broken_chapter_is_named_with_its_cell(project, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(project / "lib"))
    page = write_notebook(project / "lectures/two/b.ipynb", "x = 1", "raise RuntimeError('boom')")
    _, failures = execute_stale([page], get_cache(str(project / "cache")), Dependencies(project))
    assert len(failures) == 1
    assert failures[0].startswith("two/b, code cell 1: RuntimeError")
    assert "boom" in failures[0]


def test_digest_is_a_function_of_content_only(project):
    page = project / "lectures/one/a.ipynb"
    before = Dependencies(project).digest(page)
    notebook = json.loads(page.read_text())
    notebook["cells"][0]["source"] = ["# other words"]
    page.write_text(json.dumps(notebook))
    assert Dependencies(project).digest(page) == before
