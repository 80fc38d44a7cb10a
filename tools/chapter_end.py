"""What stands under every chapter: the names that it calls, how to cite it, how to report an error in it."""

from __future__ import annotations

import html
import itertools
import re

import learnable
from tools import api_pages
from tools.project import ROOT, settings

BOOK = "Learnable: an executable textbook of statistical learning"
AUTHORS = "The Learnable authors"


def year():
    """Year of the edition, from the change log of the book."""
    return editions()[0][1][:4]


def editions():
    """``[(version, date), ...]``, newest first, as the headings of book/changes.md state them."""
    return re.findall(r"^## Edition (\S+) \((\d{4}-\d\d-\d\d)\)", (ROOT / "book/changes.md").read_text(), re.M)


def citation(chapter):
    """The sentence and the BibTeX record."""
    version = learnable.__version__
    sentence = f"{AUTHORS} ({year()}). {chapter.title}. In: {BOOK}, edition {version}."
    record = (
        f"@incollection{{learnable_{chapter.slug},\n  author    = {{{{{AUTHORS}}}}},\n"
        f"  title     = {{{chapter.title}}},\n  booktitle = {{{BOOK}}},\n"
        f"  year      = {{{year()}}},\n  edition   = {{{version}}}"
    )
    address = settings()["repository"]
    record += f",\n  url       = {{{address}}}\n}}" if address else "\n}"
    return sentence, record


def render(chapter, pathto, report_url=None):
    """The end of a chapter as HTML; ``pathto`` turns a document's name into an address from the page."""
    parts = []
    called = [entry for entry in api_pages.chapter_entries(chapter) if entry.page != "book"]
    groups = itertools.groupby(called, key=lambda entry: entry.exported)
    for module, entries in groups:
        items = "".join(
            f'<li><a href="{pathto(entry.document)}#{entry.label}">{html.escape(entry.name)}</a></li>'
            for entry in entries
        )
        parts.append(f'<p><code>{html.escape(module)}</code></p><ul class="names">{items}</ul>')
    sentence, record = citation(chapter)
    template = (
        f"Page: {chapter.title} ({chapter.docname})\nEdition: {learnable.__version__}\nSection or figure: \n"
        "What it says: \nWhat it should say, and why: \n"
    )
    if report_url:
        where = f'<p><a href="{html.escape(report_url)}">Open an issue</a> with this text:</p>'
    else:
        where = (
            "<p>Fill this in, copy it, and send it to the people from whom you have this copy of the book. "
            "An error in a number is best reported with the cell that shows it.</p>"
        )
    return (
        '<section class="chapter-end" aria-label="About this chapter">'
        "<h2>Code of this chapter</h2><p>What the cells above call, in the "
        f'<a href="{pathto("book/generated/api/index")}">reference</a>:</p>{"".join(parts)}'
        f"<details><summary>Cite this chapter</summary><p>{html.escape(sentence)}</p>"
        f'<pre tabindex="0">{html.escape(record)}</pre>'
        '<button type="button" data-copy>Copy the record</button></details>'
        f"<details><summary>Report an error</summary>{where}"
        f'<textarea aria-label="Report of an error" rows="6">{html.escape(template)}</textarea>'
        '<button type="button" data-copy>Copy the report</button></details></section>'
    )
