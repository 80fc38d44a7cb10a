"""The book's page of exercises: every chapter with its questions, their difficulty and points, and a download."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from learnable.exercises.report import points_text
from learnable.exercises.workspace import Shelf
from tools.project import PARTS, ROOT, chapters, write_if_changed

_MARKS = {"easy": "●○○", "medium": "●●○", "hard": "●●●"}

_HEAD = """# Exercises

Every chapter has graded exercises. Complete the functions, run the check below each: it tells at once which case
failed, what was expected and what came, gives hints one step at a time, and names the section to read again.

In a copy of the book, `learnable start SLUG` puts an exercise and its lecture into `work/`. `learnable check SLUG`, or
`grader.check("q2", all=True)` in the notebook, also runs the hidden cases, drawn anew each time, and
`learnable progress` shows how far you are: solved means the hidden cases too. A bundle from an instructor has no hidden
cases; there the public checks are all that you see. Or download a notebook here; it needs JupyterLab and the package
with its exercises, which `pip install ".[exercises]"` in a copy of the book installs. If you teach, see
[](/book/instructors.md).

"""


def write(path):
    """Write the page to ``path``, which must be inside the book's sources; return whether it changed."""
    return write_if_changed(Path(path), text(Path(path).resolve().parent))


def text(folder, shelf=None):
    """Return the page as MyST markdown, with links relative to ``folder``."""
    shelf = shelf or Shelf(ROOT)
    order = {chapter.name: number for number, chapter in enumerate(chapters(shelf.root))}
    names = sorted(shelf.chapters(), key=lambda name: (order.get(name, len(order)), name))
    about = {
        name: json.loads(shelf.exercise(name).read_text(encoding="utf-8"))["metadata"]["learnable"] for name in names
    }
    questions = sum(len(a["questions"]) for a in about.values())
    points = sum(q["points"] for a in about.values() for q in a["questions"].values())
    out = [_HEAD, f"{_count(len(names), 'chapter')}, {_count(questions, 'question')}, {points:g} points.\n\n"]
    part = None
    for name in names:
        if name.partition("/")[0] != part:
            part = name.partition("/")[0]
            out.append(f"## {PARTS.get(part, part)}\n\n")
        out.append(_chapter(name, about[name], shelf, folder, name in order))
    return "".join(out)


def _chapter(name, about, shelf, folder, has_lecture):
    slug = name.partition("/")[2]
    title = about["title"].removeprefix("Exercises: ")
    title = title[0].upper() + title[1:]
    heading = f"[{_plain(title)}](/lectures/{name}.ipynb)" if has_lecture else _plain(title)
    link = os.path.relpath(shelf.exercise(name), folder).replace(os.sep, "/")
    total = sum(q["points"] for q in about["questions"].values())
    minutes = sum(q["minutes"] for q in about["questions"].values())
    rows = [
        f"| {number} | {_plain(q['title'])} | {_MARKS[q['difficulty']]} {q['difficulty']} | {q['minutes']} "
        f"| {points_text(q['points'])} |\n"
        for number, q in enumerate(about["questions"].values(), 1)
    ]
    return (
        f"(exercises-{slug.replace('_', '-')})=\n"
        f"### {heading}\n\n"
        f"[{{download}}`Download the notebook <{link}>`]{{.exercise-download .sd-btn .sd-btn-outline-primary}}\n"
        f"{_count(len(rows), 'question')}, {points_text(total)} points, about {minutes} minutes. "
        f"In the book's copy: `learnable start {slug}`\n\n"
        "| | Question | Difficulty | Minutes | Points |\n|--:|---|---|--:|--:|\n" + "".join(rows) + "\n"
    )


def _plain(text):
    return text.replace("|", "\\|").replace("[", "\\[").replace("]", "\\]")


def _count(number, noun):
    return f"{number} {noun}{'' if number == 1 else 's'}"


if __name__ == "__main__":
    write(sys.argv[1])
