"""The layers of the package, and that a planted import across them is found and named."""

import os
import subprocess
import sys

import pytest

from tools.check import layers
from tools.project import PACKAGE, chapters

CLEAN = {
    "chapters/one.py": "from learnable.optim import lasso\nfrom learnable.datasets import loaders\n",
    "chapters/two.py": "from learnable.linear import rules, fisher\nfrom learnable.book import study\n",
    "linear/rules.py": "from learnable.validation import check\n",
    "linear/fisher.py": "from learnable.linear import rules\n",
    "optim/__init__.py": "from learnable.validation import check\n",
    "datasets/loaders.py": "from learnable.datasets import _storage\nfrom learnable.validation import check\n",
    "datasets/_storage.py": "",
    "validation.py": "def check(): ...\n",
    "book/__init__.py": "from learnable.linear import rules\n",
    "book/study.py": "",
}


def lint(folder, **planted):
    """The exit status and the report of import-linter on a small package, with lines added to some of its files."""
    package = folder / "lib" / "learnable"
    for name, text in CLEAN.items():
        path = package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + planted.get(name, ""))
    for path in [package, *(p for p in package.iterdir() if p.is_dir())]:
        (path / "__init__.py").touch()
    (folder / "contracts.ini").write_text(layers.contracts(package))
    command = [sys.executable, "-c", "import sys; from importlinter.cli import lint_imports; "
               "sys.exit(lint_imports(config_filename='contracts.ini', no_cache=True))"]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(folder / "lib")}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def test_clean_package_passes(tmp_path):
    status, report = lint(tmp_path)
    assert status == 0, report


@pytest.mark.parametrize(
    ("where", "line", "named"),
    [
        ("chapters/two.py", "from learnable.chapters import one\n", "learnable.chapters.two -> learnable.chapters.one"),
        ("optim/__init__.py", "from learnable.chapters import two\n", "learnable.optim -> learnable.chapters.two"),
        (
            "linear/rules.py",
            "from learnable.linear import fisher\n",
            ".rules -> .fisher",
        ),
        ("datasets/loaders.py", "import learnable.optim\n", "learnable.datasets.loaders -> learnable.optim"),
        ("chapters/one.py", "from learnable.datasets import _storage\n", "learnable.datasets._storage"),
        ("validation.py", "import learnable.datasets.loaders\n", "learnable.validation -> learnable.datasets.loaders"),
        ("linear/rules.py", "import learnable.book\n", "learnable.linear.rules -> learnable.book"),
    ],
)
def test_planted_import_is_found_and_named(tmp_path, where, line, named):
    status, report = lint(tmp_path, **{where: line})
    assert status == 1
    assert named in " ".join(report.split())


def test_chapters_and_methods_are_told_apart():
    found = set(layers.library(PACKAGE))
    assert {"learnable.kernels.smo", "learnable.optim", "learnable.latent.hmm", "learnable.problems"} <= found
    assert not any(name.startswith("learnable.chapters") for name in found)
    assert not {"learnable.datasets", "learnable.validation", "learnable.book", "learnable.cli"} & found
    for chapter in chapters():
        assert chapter.code.is_dir(), f"{chapter.name} has no folder below learnable.chapters"
        assert chapter.teaches, f"{chapter.name}: the lecture's metadata does not say what it teaches"
        for name, path in zip(chapter.teaches, chapter.methods, strict=True):
            assert path.exists(), f"{chapter.name} teaches {name}, which does not exist"
