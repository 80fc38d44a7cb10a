"""The front door: each part exports, lazily, what people use in their own work."""

import ast
import doctest
import importlib
import json
import subprocess
import sys

import pytest

from tools.project import PACKAGE, PARTS, ROOT, chapters
from tools.run.dependencies import Dependencies

WRITTEN = list(dict.fromkeys(chapter.part for chapter in chapters()))
HEAVY = {"numpy", "scipy", "sklearn", "numba", "joblib", "pandas", "matplotlib"}


def stub(folder):
    """Names of a stub, each with the module that it comes from."""
    tree = ast.parse((folder / "__init__.pyi").read_text(encoding="utf-8"))
    lines = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: node.module for node in lines for alias in node.names}


def fresh(code):
    """What a new process prints."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_importing_the_parts_imports_nothing_heavy():
    modules = ", ".join(["learnable", *(f"learnable.{part}" for part in WRITTEN)])
    loaded = set(fresh(f"import sys, {modules}; print(*sys.modules)").split())
    assert loaded & HEAVY == set()
    assert not [name for name in loaded if name.startswith("learnable.") and name.count(".") > 1]


@pytest.mark.parametrize("part", WRITTEN)
def test_every_export_is_the_object_of_its_module(part):
    door = importlib.import_module(f"learnable.{part}")
    names = stub(PACKAGE / part)
    assert len(names) >= 3 and sorted(names) == sorted(door.__all__) == dir(door)
    for name, module in names.items():
        home = importlib.import_module(f"learnable.{part}.{module}")
        assert getattr(door, name) is getattr(home, name)
        assert module.count(".") or name in home.__all__  # inside a method's package the stub lists what is public


def test_parts_hang_on_the_package():
    import learnable

    assert set(WRITTEN) <= set(dir(learnable)) == set(stub(PACKAGE))
    assert fresh("import learnable; print(learnable.latent.HMM.__name__)") == "HMM\n"


def test_every_package_of_the_library_hangs_on_the_package():
    """Chapters, book and exercises are no part of the library."""
    folders = {path.parent.name for path in PACKAGE.glob("[a-z]*/__init__.py")}
    assert folders - {"book", "chapters", "exercises"} == set(stub(PACKAGE))
    said = fresh("import learnable; print(*(getattr(learnable, name).__name__ for name in dir(learnable)))")
    assert said.split() == [f"learnable.{name}" for name in sorted(stub(PACKAGE))]


@pytest.mark.parametrize("concept", ["optim", "linalg"])
def test_a_concept_without_exports_offers_its_modules(concept):
    modules = {path.stem for path in (PACKAGE / concept).glob("[a-z]*") if path.suffix == ".py" or path.is_dir()}
    assert modules == set(stub(PACKAGE / concept))
    assert fresh(f"import learnable; print(*dir(learnable.{concept}))").split() == sorted(modules)


def test_completion_shows_the_exports():
    said = fresh(
        "from IPython.core.completer import provisionalcompleter\n"
        "from IPython.core.interactiveshell import InteractiveShell\nimport learnable.kernels\n"
        "shell = InteractiveShell.instance(); shell.user_ns['learnable'] = learnable; line = 'learnable.kernels.Soft'\n"
        "with provisionalcompleter():\n"
        "    print(*[found.text for found in shell.Completer.completions(line, len(line))])"
    )
    assert "SoftMarginSVM" in said


def test_the_examples_of_the_book_run_as_they_stand():
    done = doctest.testfile(str(ROOT / "book" / "front_door.rst"), module_relative=False)
    assert done.attempted > 40 and done.failed == 0


def test_the_examples_come_through_every_door():
    text = (ROOT / "book" / "front_door.rst").read_text(encoding="utf-8")
    assert [part for part in WRITTEN if f">>> from learnable.{part} import " not in text] == []
    assert text.count("GridSearchCV(") >= len(WRITTEN)


def test_an_unknown_name_is_an_error():
    with pytest.raises(ImportError, match="NoSuchMachine"):
        from learnable.kernels import NoSuchMachine  # noqa: F401


def test_a_part_has_no_name_twice():
    for part in WRITTEN:
        tree = ast.parse((PACKAGE / part / "__init__.pyi").read_text(encoding="utf-8"))
        names = [alias.name for node in tree.body for alias in node.names]
        assert len(names) == len(set(names)), part


def test_a_notebook_depends_on_what_it_takes_through_the_door(tmp_path):
    """Otherwise a change of the machine would leave old outputs in the book."""
    cell = {"cell_type": "code", "source": "from learnable.kernels import SoftMarginSVM"}
    (tmp_path / "page.ipynb").write_text(json.dumps({"cells": [cell]}))
    found = Dependencies().modules(tmp_path / "page.ipynb")
    assert PACKAGE / "kernels/svm/machines.py" in found
    assert not any("svm_regularization_path" in path.parts for path in found)


def test_every_part_of_the_book_is_known():
    assert set(WRITTEN) <= set(PARTS)
