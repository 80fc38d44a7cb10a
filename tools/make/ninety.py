"""Make a throw-away project of ninety chapters, to see how the book, its site and its tests carry them.

    python -m tools.make.ninety FOLDER [--chapters N] [--environment .venv] [--runs]

The chapters that exist are copied under the slugs of book/data/sources.json that have none yet: lecture, studies with
their results, tests, master and student exercise, wrong solutions, benchmark with its stored result, errata, table of
contents. Each copy has its own copy of the chapter's code and labels of its own, and shares the library's methods, so
that the project builds and passes like the book.
The environment is shared through hard links; only its own package and the scripts' first lines differ. With ``--runs``
the copies come with the runs of what they are copies of, so that the site can be built and looked at without executing
ninety notebooks.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from functools import cached_property
from itertools import cycle
from pathlib import Path

import nbformat
import yaml
from jupyter_cache.base import CacheBundleIn

from tools.project import PARTS, ROOT, Chapter, chapters, executable_pages
from tools.run.dependencies import Dependencies
from tools.run.execution import current, open_cache
from tools.site.toc import arranged, written

ROOMS = (
    "benchmarks/results/{}.json",
    "book/errata/{}.yml",
    "tests/exercises/wrong/{}.diff",
)
LABEL = re.compile(r'(?:name=["\']|:label: |:name: |\$\$ \(|^\()([a-z]+(?:-[\w-]+)+)', re.M)


class Copy:
    """One chapter under another part, slug and title; ``before`` are the slugs that the reader has met."""

    def __init__(self, template, part, slug, title, before):
        self.template, self.part, self.slug, self.title, self.before = template, part, slug, title, before

    def rename(self, text):
        """The same text with this chapter's code, path and slug in place of the template's; methods are shared."""
        old = self.template
        text = re.sub(rf"learnable\.chapters\.{old.slug}\b", f"learnable.chapters.{self.slug}", text)
        text = re.sub(rf"\b{old.part}/{old.slug}\b", f"{self.part}/{self.slug}", text)
        return re.sub(rf"(?<![.\w]){old.slug}\b", self.slug, text)  # a method may bear the chapter's name

    def labelled(self, text):
        """The same text with labels of this chapter's own in place of the template's."""
        return self._labels.sub(lambda match: f"{match[0]}-{self.slug.replace('_', '-')}", text)

    @cached_property
    def _labels(self):
        sources = [self.rename("".join(cell["source"])) for cell in self.template.notebook["cells"]]
        labels = {label for source in sources for label in LABEL.findall(source)}
        return re.compile(rf"(?<![\w-])({'|'.join(sorted(labels))})(?![\w-])" if labels else r"(?!)")

    def lecture(self):
        notebook = json.loads(self.rename(json.dumps(self.template.notebook, ensure_ascii=False)))
        sources = ["".join(cell["source"]) for cell in notebook["cells"]]
        for cell, source in zip(notebook["cells"], map(self.labelled, sources), strict=True):
            source = re.sub(r"\]\((\w+\.ipynb)", rf"](../{self.template.part}/\1", source)
            cell["source"] = self._titled(source) if cell is notebook["cells"][0] else source
        about = notebook["metadata"]["learnable"]
        about["short_title"] = self.title.partition(":")[0]
        about["needs"] = [slug for slug in about["needs"] if slug in self.before]
        return notebook

    def _titled(self, source):
        return re.sub(r"^# .+$", lambda _: f"# {self.title}", source, count=1, flags=re.M)

    def write(self, root):
        old, new = self.template, Chapter(self.part, self.slug, root=root)
        _write(new.lecture, json.dumps(self.lecture(), ensure_ascii=False, indent=1) + "\n")
        self._copy_folder(old.code, new.code)
        copied = {
            **{path: new.tests.with_name(path.name.replace(old.slug, self.slug)) for path in self._tests()},
            old.benchmark: new.benchmark,
            old.master: new.master,
            **{ROOT / pattern.format(old.slug): root / pattern.format(self.slug) for pattern in ROOMS},
        }
        for source, target in copied.items():
            if source.exists():
                _write(target, self.rename(source.read_text(encoding="utf-8")))

    def _tests(self):
        """The template's files of tests: test_slug.py and test_slug_experiments.py and the like."""
        others = [c.slug for c in chapters() if c.slug.startswith(self.template.slug) and c.slug != self.template.slug]
        found = sorted(self.template.tests.parent.glob(f"test_{self.template.slug}*.py"))
        return [path for path in found if not any(path.stem.startswith(f"test_{slug}") for slug in others)]

    def run(self, root, record, bundle, dependencies):
        """The template's run as that of this chapter, for the cache of the project in ``root``."""
        path = Chapter(self.part, self.slug, root=root).lecture
        notebook = nbformat.read(path, as_version=4)
        outputs = [cell.outputs for cell in bundle.nb.cells if cell.cell_type == "code"]
        for cell in (cell for cell in notebook.cells if cell.cell_type == "code"):
            cell.outputs = nbformat.from_dict(json.loads(self.labelled(self.rename(json.dumps(outputs.pop(0))))))
        data = json.loads(self.labelled(self.rename(json.dumps(record.data))))
        return CacheBundleIn(notebook, str(path), data={**data, "digest": dependencies.digest(path)})

    def _copy_folder(self, source, target):
        for path in sorted(source.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                _write(target / path.relative_to(source), self.rename(path.read_text(encoding="utf-8")))


def _write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def contents(order, folder):
    """The table of contents with all parts, and with their reference pages."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    return written(arranged(toc, [Chapter(part, slug, root=folder) for part, slug in order]))


def share_environment(source, target, root):
    """A copy of a virtual environment made of hard links, in which ``learnable`` is the package of ``root``."""
    shutil.copytree(source, target, symlinks=True, copy_function=_link, ignore=shutil.ignore_patterns(".ready"))
    for path in target.glob("lib/python*/site-packages/*editable*learnable*.pth"):
        _replace(path, f"{root / 'lib'}\n")
    for path in (target / "bin").iterdir():
        if path.is_file() and not path.is_symlink():
            head = path.read_bytes()[:2]
            if head == b"#!" or path.name.startswith("activate"):
                _replace(path, path.read_text(encoding="utf-8").replace(str(source), str(target)))
                path.chmod(0o755)
    (target / ".ready").touch()


def _link(source, target):
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copy2(source, target)


def _replace(path, text):
    """Write a file of its own in place of a link."""
    path.unlink()
    path.write_text(text, encoding="utf-8")


def share_runs(copies, root):
    """Fill the project's cache of runs: the chapters' own for themselves, and for their copies."""
    ours, theirs, dependencies = open_cache(), open_cache(root / "_build" / ".jupyter_cache"), Dependencies()
    copied = Dependencies(root)
    for page in executable_pages():
        record = current(page, ours, dependencies)
        if record is None:
            raise ValueError(f"{page.relative_to(ROOT)} has no current run: `make book` first")
        bundle = ours.get_cache_bundle(record.pk)
        there = root / page.relative_to(ROOT)
        own = CacheBundleIn(bundle.nb, str(there), data={**record.data, "digest": copied.digest(there)})
        bundles = [own] + [copy.run(root, record, bundle, copied) for copy in copies if copy.template.lecture == page]
        for made in bundles:
            theirs.cache_notebook_bundle(made, check_validity=False, overwrite=True)


def share_draws(copies, root):
    """Let the studies of a copy draw the random numbers of its template: the seed depends on the chapter's name."""
    path = root / "lib" / "learnable" / "book" / "study.py"
    text, names = path.read_text(encoding="utf-8"), {copy.slug: copy.template.slug for copy in copies}
    seeded = text.replace("_canonical([self.chapter, ", f"_canonical([{names!r}.get(self.chapter, self.chapter), ")
    if seeded == text:
        raise ValueError(f"{path} no longer makes a seed from the chapter's name as expected")
    _write(path, seeded)


def make(folder, count=90, environment=None, runs=False):
    """Write the project; return its chapters as ``(part, slug)``, in reading order."""
    folder = Path(folder).resolve()
    if folder.exists() and any(folder.iterdir()):
        raise ValueError(f"{folder} is not empty")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    ).stdout.decode()
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    planned = json.loads((ROOT / "book" / "data" / "sources.json").read_text(encoding="utf-8"))["chapters"]
    written = {chapter.slug: chapter for chapter in chapters()}
    spare = max(0, count - len(written))
    order, before, templates, copies = [], set(), cycle(written.values()), []
    reading = {slug: place for place, slug in enumerate(written)}
    planned.sort(key=lambda entry: reading.get(entry["slug"], len(reading)))  # what is written keeps its order
    for part in PARTS:
        for entry in (e for e in planned if e["part"] == part):
            if entry["slug"] not in written:
                if not spare:
                    continue
                spare -= 1
                copies.append(Copy(next(templates), part, entry["slug"], entry["title"], before))
                copies[-1].write(folder)
            order.append((part, entry["slug"]))
            before.add(entry["slug"])
    share_draws(copies, folder)
    _write(folder / "_toc.yml", contents(order, folder))
    python = sys.executable
    if environment:
        share_environment(Path(environment).resolve(), folder / ".venv", folder)
        python = str(folder / ".venv" / "bin" / "python")
    tidy = [["ruff", "check", "--fix", "--select", "I", "--exit-zero", "."], ["ruff", "format", "."]]
    for command in (*tidy, ["tools.make.exercises", "build"], ["tools.site.readme"]):
        path = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(folder / "lib")])}
        subprocess.run([python, "-m", *command], cwd=folder, env=path, check=True, stdout=subprocess.DEVNULL)
    if runs:
        share_runs(copies, folder)
    return order


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--chapters", type=int, default=90)
    parser.add_argument("--environment", type=Path, default=ROOT / ".venv")
    parser.add_argument("--runs", action="store_true", help="take the runs that the chapters have; execute nothing")
    arguments = parser.parse_args(argv)
    try:
        order = make(arguments.folder, arguments.chapters, arguments.environment, arguments.runs)
    except ValueError as error:
        parser.error(str(error))
    print(f"{len(order)} chapters in {arguments.folder}; there: make book, make test")
    return 0


if __name__ == "__main__":
    sys.exit(main())
