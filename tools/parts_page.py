"""The landing page of each part: its prose (book/parts/<part>.md), a map, and a card for each chapter.

A new chapter appears here by its own metadata; the prose speaks of what the chapters have in common.
"""

from __future__ import annotations

import html

from tools import maps
from tools.project import PARTS, ROOT, chapters, read_data, write_if_changed

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
    minutes = sum(chapter.metadata["reading_minutes"] for chapter in members)
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
        needs = [known[slug].short_title for slug in about["needs"] if slug in known]
        facts = [f"{about['reading_minutes']} min", f"{_questions(chapter)} graded questions"]
        after = f"<p>After {html.escape('; '.join(needs))}</p>" if needs else "<p>Needs no other chapter</p>"
        items.append(
            f'<li class="chapter-card" data-doc="{chapter.docname}"><h3><a href="{up}{chapter.docname}.html">'
            f"{html.escape(chapter.short_title)}</a></h3><p>{html.escape(about.get('problem', chapter.title))}</p>"
            f'<div class="card-facts"><p>{" · ".join(facts)}</p>{after}</div></li>'
        )
    return f'<ul class="chapter-cards">{"".join(items)}</ul>'


def part_cards(up):
    """A card for each part: its chapters and their reading time."""
    found, items = chapters(), []
    for part in dict.fromkeys(chapter.part for chapter in found):
        members = [chapter for chapter in found if chapter.part == part]
        hours = sum(chapter.metadata["reading_minutes"] for chapter in members) / 60
        names = " · ".join(html.escape(chapter.short_title) for chapter in members[:SHOWN])
        names += f" and {len(members) - SHOWN} more" if len(members) > SHOWN else ""
        count = f"{len(members)} chapter{'s' if len(members) > 1 else ''}, {hours:.1f} h"
        items.append(
            f'<li class="chapter-card"><h3><a href="{up}book/generated/parts/{part}.html">{html.escape(PARTS[part])}'
            f'</a></h3><p>{names}</p><div class="card-facts"><p>{count}</p></div></li>'
        )
    return f'<ul class="chapter-cards">{"".join(items)}</ul>'


SHOWN = 5  # titles on the card of a part


def _questions(chapter):
    return len(read_data(chapter.exercise)["metadata"]["learnable"]["questions"])


def _raw(text):
    return "```{raw} html\n" + text + "\n```\n"
