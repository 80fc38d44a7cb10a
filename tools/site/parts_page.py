"""The landing page of each part: its prose (book/parts/<part>.md), a map, and a card for each chapter.

A new chapter appears here by its own metadata; the prose speaks of what the chapters have in common.
"""

from __future__ import annotations

from learnable._html import render
from tools.project import PARTS, ROOT, chapters, read_data, write_if_changed
from tools.site import TEMPLATES, maps

PROSE, DATA = ROOT / "book" / "parts", ROOT / "book" / "data"
UP = "../../../"  # from book/generated/parts/ to the root of the site


def write(folder):
    """Write the page of each part that has chapters; return whether one changed."""
    found = chapters()
    parts = dict.fromkeys(chapter.part for chapter in found)
    pages = [write_if_changed(folder / f"{part}.md", text(part, found)) for part in parts]
    return any(pages)


def text(part, found):
    """The page as MyST markdown."""
    members = [chapter for chapter in found if chapter.part == part]
    prose = PROSE / f"{part}.md"
    minutes = sum(chapter.reading_minutes for chapter in members)
    count = f"{len(members)} chapter{'s' if len(members) > 1 else ''}"
    drawn = maps.of_part(part, found, lambda chapter: f"{UP}{chapter.docname}.html")
    return "\n".join(
        [
            f"# {PARTS[part]}\n",
            prose.read_text(encoding="utf-8") if prose.exists() else "",
            "## What builds on what\n",
            "An arrow leads to the chapter that builds on the other; dashed boxes are in other parts.\n",
            _raw(drawn),
            f"## The {count}\n",
            f"In the order of the book, {minutes / 60:.1f} hours of reading without the exercises.\n",
            _raw(cards(members, UP)),
            compared(part),
        ]
    )


def compared(part):
    """The part's methods on the same data, if they were measured (book/data/compared_<part>.json), and what follows."""
    path = DATA / f"compared_{part}.json"
    if not path.exists():
        return ""
    told = read_data(path)
    lines = [
        "## Compared on the same data\n",
        f"Each row is the mean over {told['splits']} random halves of the data: columns are chosen on one half, and a "
        "logistic regression on the chosen columns is scored on the other, so that no selector has seen the test rows. "
        "*Stability* is the overlap of the sets chosen from two different halves (common columns over all columns of "
        "the two, 1 if always the same). Seconds are of one processor, for one selection. Measured on "
        f"{told['measured']}, load {told['load']}.\n",
    ]
    for name in dict.fromkeys(row["data"] for row in told["rows"]):
        rows = [row for row in told["rows"] if row["data"] == name]
        lines += [
            f"**{name[:1].upper()}{name[1:]}** ({rows[0]['rows']} rows, {rows[0]['columns']} columns)\n",
            "| selector | kind | accuracy | columns kept | stability | seconds |",
            "|---|---|---|---|---|---|",
        ]
        for row in rows:
            accuracy = f"{row['accuracy']:.3f} ± {row['accuracy_se']:.3f}"
            seconds = f"{row['seconds']:.2g}" if row["seconds"] >= 0.001 else "< 0.001"
            facts = [row["selector"], row["kind"], accuracy, f"{row['kept']:g}", f"{row['stability']:.2f}", seconds]
            lines.append(f"| {' | '.join(facts)} |")
        lines.append("")
    lesson = PROSE / f"{part}_compared.md"
    return "\n".join([*lines, lesson.read_text(encoding="utf-8") if lesson.exists() else ""])


def cards(members, up):
    """A card for each chapter: the problem that it solves, how long it takes, what it needs."""
    known = {chapter.slug: chapter for chapter in chapters()}
    items = []
    for chapter in members:
        about = chapter.metadata
        items.append(
            {
                "doc": chapter.docname,
                "link": f"{up}{chapter.docname}.html",
                "title": chapter.short_title,
                "problem": about.get("problem", chapter.title),
                "facts": f"{chapter.reading_minutes} min · {_questions(chapter)} graded questions",
                "needs": [known[slug].short_title for slug in about["needs"] if slug in known],
            }
        )
    return str(render(TEMPLATES / "chapter_cards.html", cards=items))


def part_cards(up):
    """A card for each part: its chapters and their reading time."""
    found, items = chapters(), []
    for part in dict.fromkeys(chapter.part for chapter in found):
        members = [chapter for chapter in found if chapter.part == part]
        hours = sum(chapter.reading_minutes for chapter in members) / 60
        items.append(
            {
                "link": f"{up}book/generated/parts/{part}.html",
                "title": PARTS[part],
                "names": [chapter.short_title for chapter in members[:SHOWN]],
                "more": len(members) - SHOWN,
                "facts": f"{len(members)} chapter{'s' if len(members) > 1 else ''}, {hours:.1f} h",
            }
        )
    return str(render(TEMPLATES / "part_cards.html", cards=items))


SHOWN = 5  # titles on the card of a part


def _questions(chapter):
    return len(read_data(chapter.exercise)["metadata"]["learnable"]["questions"])


def _raw(text):
    return "```{raw} html\n" + text + "\n```\n"
