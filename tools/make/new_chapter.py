"""Create a chapter that passes every check as it is: ``python -m tools.make.new_chapter PART SLUG TITLE [METHOD]``.

The rooms come from the files in ``templates``, with an example to be replaced piece by piece: a method of the library
with a frozen result and a compiled kernel, the chapter's experiments, tests of both, lecture, exercise and benchmark.
Then the method is entered at the front door of its part and on the page of methods, the chapter in the table of
contents and in the README, the student's notebook is written, and the lecture is run.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import jupytext
import nbformat
import yaml
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from tools.project import PARTS, ROOT, Chapter, chapters
from tools.site import toc

# What is written is Python and Markdown, so nothing is escaped.
_templates = Environment(
    loader=FileSystemLoader(Path(__file__).with_name("templates")),
    undefined=StrictUndefined,
    autoescape=False,
    keep_trailing_newline=True,
)


def from_template(name, **values):
    """The text of a new file."""
    return _templates.get_template(f"{name}.jinja").render(values)


def create(part, slug, title, method="", root=ROOT):
    """Write the rooms that do not exist yet; return their paths."""
    if part not in PARTS:
        raise ValueError(f"unknown part {part!r}; the parts are {', '.join(PARTS)}")
    method = method or slug
    for kind, name in (("slug", slug), ("method's name", method)):
        if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
            raise ValueError(f"a {kind} is lower-case letters, digits and underscores, got {name!r}")
    title = title or slug.replace("_", " ").capitalize()
    values = {"part": part, "slug": slug, "title": title, "part_title": PARTS[part], "method": method}
    chapter = Chapter(part, slug, root=root)
    library, tests = root / "lib" / "learnable", root / "tests"
    files = {
        library / part / f"{method}.py": "method.py",
        library / part / "__init__.py": "door.py",
        library / part / "__init__.pyi": "door.pyi",
        library / "chapters" / "__init__.py": "chapters.py",
        library / "chapters" / slug / "__init__.py": "chapter.py",
        library / "chapters" / slug / "experiments.py": "experiments.py",
        tests / part / f"test_{method}.py": "test_method.py",
        tests / "chapters" / "__init__.py": "test_chapters.py",
        tests / "chapters" / f"test_{slug}.py": "test_chapter.py",
        tests / "exercises" / "wrong" / f"{slug}.diff": "wrong.diff",
        chapter.benchmark: "bench.py",
    }
    created = []
    for path, template in files.items():
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(from_template(template, **values), encoding="utf-8")
            created.append(path)
    if not chapter.lecture.exists():
        _write_notebook(_lecture(values), chapter.lecture)
        created.append(chapter.lecture)
    if not chapter.master.exists():
        from learnable.exercises.template import master_template

        _write_notebook(master_template(part, slug, title, [f"learnable.{part}.{method}"]), chapter.master)
        created.append(chapter.master)
    return created


def _write_notebook(notebook, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)


def _lecture(values):
    notebook = jupytext.reads(from_template("lecture.md", **values), fmt="md:myst")
    notebook.nbformat_minor = 5
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "learnable": {
            "source": "Author (year), title",
            "teaches": [f"learnable.{values['part']}.{values['method']}"],
            "needs": [],
            "short_title": values["title"].partition(":")[0][:30],
            "problem": "The question that a reader brings to this chapter, in one or two sentences?",
        },
    }
    for index, cell in enumerate(notebook.cells):
        cell["id"] = f"c{index:03d}"
    return notebook


def open_door(part, method, chapter, root=ROOT):
    """Enter the method's names at the front door, the part in the package, and the method on the page of methods."""
    package = root / "lib" / "learnable"
    stub = package / part / "__init__.pyi"
    text = stub.read_text(encoding="utf-8")
    if f"from .{method} import" not in text:
        stub.write_text(text + from_template("door.pyi", method=method), encoding="utf-8")
    index = package / "__init__.pyi"
    text = index.read_text(encoding="utf-8")
    if f" {part} as {part}," not in text:
        index.write_text(text.replace("\n)", f"\n    {part} as {part},\n)", 1), encoding="utf-8")
    methods = root / "book" / "which_method.md"
    row = from_template("which_method.md", part=part, title=chapter.title, docname=chapter.docname)
    text = methods.read_text(encoding="utf-8")
    if row not in text:
        methods.write_text(text + row, encoding="utf-8")


def enter(part, slug, method):
    """Enter the chapter where the book lists chapters, write the student's notebook, and run the lecture."""
    open_door(part, method, Chapter(part, slug))
    order = chapters()
    if slug not in {chapter.slug for chapter in order}:
        order.append(Chapter(part, slug))
    contents = ROOT / "_toc.yml"
    listed = yaml.safe_load(contents.read_text(encoding="utf-8"))
    contents.write_text(toc.written(toc.arranged(listed, order)), encoding="utf-8")
    for command in (["site.readme"], ["make.exercises", "build", slug], ["run.notebooks", "run", slug]):
        subprocess.run([sys.executable, "-m", f"tools.{command[0]}", *command[1:]], cwd=ROOT, check=True)


def main(arguments):
    part, slug, title, method = (*arguments, "", "", "", "")[:4]
    if not part or not slug:
        usage = 'usage: make chapter PART=foundations SLUG=my_chapter TITLE="My chapter" METHOD=my_method'
        print(usage, file=sys.stderr)
        return 2
    try:
        created = create(part, slug, title, method)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    for path in created:
        print("created", path.relative_to(ROOT))
    enter(part, slug, method or slug)
    print(f"next: make test ONLY={slug} passes; CONTRIBUTING.md says what to write where")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
