"""The reading paths: lists of chapters with hours, from book/data/paths.yml and the chapters' own metadata."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass

from learnable._html import fill
from tools.project import ROOT, chapters, raw, read_data, write_if_changed

# Minutes for a question of each difficulty; reading times come from the chapters.
QUESTION = {"easy": 15, "medium": 30, "hard": 45}
REFRESHER = 20


def paths():
    return read_data(ROOT / "book" / "data" / "paths.yml")


@dataclass(frozen=True)
class Refresher:
    """A page of the front matter as a step of a path."""

    docname: str
    title: str

    @property
    def short_title(self):
        return short_refresher(self.title)


def short_refresher(title):
    """The title without the word that its place in the contents says already."""
    name = title.removeprefix("Refresher: ")
    return name[0].upper() + name[1:]


@dataclass(frozen=True)
class Route:
    """A path as the pages that exist on it, each once."""

    key: str
    name: str
    steps: tuple


def key(name):
    """The name of a path in addresses and in the browser's memory."""
    return "path-" + re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def routes(found):
    """Every path with the pages on it that are written, in order."""
    written = {chapter.slug: chapter for chapter in found}
    made = []
    for path in paths():
        steps = []
        for slug in dict.fromkeys(slug for step in path["steps"] for slug in step["slugs"]):
            kind, _, name = slug.partition(":")
            if kind == "refresher" and refresher(name):
                title, document = refresher(name)
                steps.append(Refresher(document.strip("/").removesuffix(".ipynb"), title))
            elif slug in written:
                steps.append(written[slug])
        made.append(Route(key(path["name"]), path["name"], tuple(steps)))
    return made


def chapter_minutes(chapter):
    """Minutes to read a chapter, and to do its exercises."""
    about = read_data(chapter.exercise)["metadata"]["learnable"]
    return chapter.reading_minutes, sum(QUESTION[q["difficulty"]] for q in about["questions"].values())


def refresher(name):
    """Title and document of a refresher, or None while it does not exist."""
    path = ROOT / "book" / "refreshers" / f"{name}.ipynb"
    if not path.exists():
        return None
    notebook = read_data(path)
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
        "Choose one to follow it: every chapter on it then ends with the next step of *your* path. Only this browser "
        "remembers the choice, and where you are.",
        "",
    ]
    written = {chapter.slug: chapter for chapter in chapters()}
    followed = {route.name: route for route in routes(chapters())}
    entries = read_data(ROOT / "book" / "data" / "sources.json")["chapters"]
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
        lines += [f"({key(path['name'])})=", f"## {path['name']}", ""]
        lines += [f"*For:* {path['for'].strip()} About {_hours(total)} hours in all.", ""]
        lines += [_follow(followed[path["name"]]), ""]
        lines += ["| step | chapters | hours |", "|---|---|---|", *rows, ""]
    return "\n".join(lines)


def _follow(route):
    """The line in which ways.js offers to follow a path and shows where the reader is; without it, the first step."""
    up = "../../"
    steps = [[step.docname, step.short_title] for step in route.steps]
    line = fill(
        '<p class="path-follow" data-path="{{ key }}" data-up="{{ up }}" data-steps="{{ steps }}">'
        '<a href="{{ up }}{{ first[0] }}.html">Begin with {{ first[1] }}</a></p>',
        key=route.key,
        up=up,
        steps=json.dumps(steps, ensure_ascii=False),
        first=steps[0],
    )
    return raw(str(line)).rstrip()


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
