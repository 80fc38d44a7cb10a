"""The reading paths: lists of chapters with hours, from book/data/paths.yml and the chapters' own metadata."""

from __future__ import annotations

import json
from collections import Counter

import yaml

from tools.project import ROOT, chapters, write_if_changed

# Minutes for a question of each difficulty; reading times come from the chapters.
QUESTION = {"easy": 15, "medium": 30, "hard": 45}
REFRESHER = 20


def paths():
    return yaml.safe_load((ROOT / "book" / "data" / "paths.yml").read_text(encoding="utf-8"))


def chapter_minutes(chapter):
    """Minutes to read a chapter, and to do its exercises."""
    about = json.loads(chapter.exercise.read_text(encoding="utf-8"))["metadata"]["learnable"]
    return chapter.metadata["reading_minutes"], sum(QUESTION[q["difficulty"]] for q in about["questions"].values())


def refresher(name):
    """Title and document of a refresher, or None while it does not exist."""
    path = ROOT / "book" / "refreshers" / f"{name}.ipynb"
    if not path.exists():
        return None
    notebook = json.loads(path.read_text(encoding="utf-8"))
    first = "".join(notebook["cells"][0]["source"]).splitlines()[0]
    return first.removeprefix("# "), f"/book/refreshers/{name}.ipynb"


def write(path):
    return write_if_changed(path, text())


def text():
    lines = [
        "# Reading paths",
        "",
        "Five ways through the book. Hours are for reading and running a chapter and for its graded exercises; where a "
        "path stays with a chapter for two weeks, they share its hours. Chapters in italics are planned.",
        "",
    ]
    written = {chapter.slug: chapter for chapter in chapters()}
    entries = json.loads((ROOT / "book" / "data" / "sources.json").read_text(encoding="utf-8"))["chapters"]
    planned = {entry["slug"]: entry["title"] for entry in entries}
    for path in paths():
        rows, total = [], 0
        visits = Counter(slug for step in path["steps"] for slug in step["slugs"])
        for step in path["steps"]:
            items = [_item(slug, written, planned) for slug in step["slugs"]]
            names = [name for name, _ in items]
            minutes = sum(cost / visits[slug] for slug, (_, cost) in zip(step["slugs"], items, strict=True))
            total += minutes
            note = f" ({step['note']})" if step.get("note") else ""
            rows.append(f"| {step['title']} | {'; '.join(names)}{note} | {_hours(minutes)} |")
        lines += [f"## {path['name']}", "", f"*For:* {path['for'].strip()} About {_hours(total)} hours in all.", ""]
        lines += ["| step | chapters | hours |", "|---|---|---|", *rows, ""]
    return "\n".join(lines)


def _item(slug, written, planned):
    kind, _, name = slug.partition(":")
    if kind == "refresher":
        found = refresher(name)
        return (f"[{found[0]}]({found[1]})", REFRESHER) if found else (f"*{name}*", 0)
    if slug in written:
        chapter = written[slug]
        return f"[{chapter.title}](/{chapter.docname}.ipynb)", sum(chapter_minutes(chapter))
    return f"*{planned[slug]}*", 0


def _hours(minutes):
    return f"{round(minutes / 30) / 2:g}" if minutes else "–"
