"""Where things are: the book's folders, its chapters in reading order, and its one setting."""

from __future__ import annotations

import json
import sys
import tomllib
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

import yaml

from tools.prose import reading_minutes

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "lib" / "learnable"
BUILD = ROOT / "_build"
GENERATED = ROOT / "book" / "generated"

PARTS = {
    "foundations": "Foundations",
    "linear": "Linear and minimax rules",
    "kernels": "Kernels and margins",
    "ensembles": "Boosting, trees, ensembles",
    "selection": "Model selection and evaluation",
    "features": "Feature selection",
    "latent": "Latent variables and information",
    "graphs": "Graphical models and causality",
    "highdim": "High-dimensional inference",
    "unsupervised": "Unsupervised learning and geometry",
    "structured": "Rankings, graphs, structured outputs",
    "reinforcement": "Sequential decisions and surrogates",
    "theory": "Learning theory",
    "applications": "Applications and toolkits",
}


def read_data(path):
    """What a notebook, a JSON or a YAML file holds; to be read, not changed: equal text gives the same object."""
    path = Path(path)
    return (_yaml if path.suffix in (".yml", ".yaml") else _json)(path.read_text(encoding="utf-8"))


# Every page of the site asks for the contents, the paths and the chapters: what has the same text is parsed once.
_json = cache(json.loads)


@cache
def _yaml(text):
    return yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))


@dataclass(frozen=True)
class Chapter:
    """One slug and its five rooms."""

    part: str
    slug: str
    root: Path = field(default=ROOT, compare=False)

    @property
    def name(self):
        return f"{self.part}/{self.slug}"

    @property
    def docname(self):
        return f"lectures/{self.name}"

    @property
    def lecture(self):
        return self.root / "lectures" / self.part / f"{self.slug}.ipynb"

    @property
    def code(self):
        """The chapter's own code: studies, theory, baselines, results."""
        return self.root / "lib" / "learnable" / "chapters" / self.slug

    @property
    def teaches(self):
        """Modules of the library that the lecture tells, as dotted names."""
        return self.metadata.get("teaches", [])

    @property
    def methods(self):
        """The files or folders of what the lecture teaches."""
        bare = [self.root / "lib" / name.replace(".", "/") for name in self.teaches]
        return [path if path.is_dir() else path.with_suffix(".py") for path in bare]

    @property
    def exercise(self):
        return self.root / "exercises" / self.part / f"{self.slug}.ipynb"

    @property
    def master(self):
        return self.root / "exercises" / "solutions" / self.part / f"{self.slug}.ipynb"

    @property
    def tests(self):
        return self.root / "tests" / "chapters" / f"test_{self.slug}.py"

    @property
    def benchmark(self):
        return self.root / "benchmarks" / self.part / f"bench_{self.slug}.py"

    @property
    def rooms(self):
        return {
            "lecture": self.lecture,
            "code": self.code,
            "exercise (student)": self.exercise,
            "exercise (master)": self.master,
            "tests": self.tests,
            "benchmark": self.benchmark,
        }

    @cached_property
    def notebook(self):
        return read_data(self.lecture)

    @property
    def metadata(self):
        """The chapter's own metadata: source, needs, teaches, short_title, problem."""
        return self.notebook["metadata"].get("learnable", {})

    @property
    def reading_minutes(self):
        """Minutes that the lecture takes, computed from its words, formulas and code."""
        return reading_minutes(self.notebook)

    @property
    def short_title(self):
        """The title in the contents and on maps."""
        return self.metadata.get("short_title") or self.title

    @property
    def title(self):
        for cell in self.notebook["cells"]:
            if cell["cell_type"] == "markdown":
                for line in "".join(cell["source"]).splitlines():
                    if line.startswith("# "):
                        return line[2:].strip()
        raise ValueError(f"{self.name}: the lecture has no title (a line that starts with '# ')")

    def code_cells(self):
        return [cell for cell in self.notebook["cells"] if cell["cell_type"] == "code"]

    def code_below(self, heading):
        """The code of one section of the lecture, cell by cell."""
        inside, cells = False, []
        for cell in self.notebook["cells"]:
            text = "".join(cell["source"])
            if cell["cell_type"] == "code":
                cells += [text] if inside else []
                continue
            for line in text.splitlines():
                if line.startswith("## "):
                    inside = line.startswith(f"## {heading}")
        return cells


def toc_documents(root=ROOT):
    """Document names in the order of the table of contents."""
    toc = read_data(root / "_toc.yml")
    found = [toc["root"]]

    def walk(entries):
        for entry in entries:
            if "file" in entry:
                found.append(entry["file"])
            walk(entry.get("sections", []))

    for part in toc.get("parts", []):
        walk(part.get("chapters", []))
    walk(toc.get("chapters", []))
    return found


def chapters(root=ROOT):
    """The chapters that exist, in reading order."""
    names = [doc.split("/", 1)[1] for doc in toc_documents(root) if doc.startswith("lectures/")]
    return [Chapter(*name.split("/"), root=root) for name in names]


def executable_pages(root=ROOT):
    """Notebooks of the book that are not chapters, such as the refreshers of the front matter."""
    return [root / f"{doc}.ipynb" for doc in toc_documents(root) if (root / f"{doc}.ipynb").exists()]


def selected(names, root=ROOT):
    """The notebooks of the book with these names (slugs, or names of folders), in reading order; all without names."""
    pages = executable_pages(root)
    known = {name for page in pages for name in (page.stem, page.parent.name)}
    if unknown := [name for name in names if name not in known]:
        there = ", ".join(page.stem for page in pages)
        raise ValueError(f"no notebook is called {', '.join(unknown)}; there are: {there}")
    return [page for page in pages if not names or {page.stem, page.parent.name} & set(names)]


def settings():
    """The project's settings: ``[tool.learnable]`` in pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["learnable"]


def write_if_changed(path, text):
    """Write a generated file only where it changes, so that Sphinx does not read it again for nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
        return True
    return False


def raw(text):
    """HTML for a page in MyST markdown."""
    return "```{raw} html\n" + text + "\n```\n"


if __name__ == "__main__":
    print(" ".join(str(page.relative_to(ROOT)) for page in selected(sys.argv[1:])))
