"""What stands under every chapter: the names that it calls, how to cite it, how to report an error in it."""

from __future__ import annotations

import itertools
import re

import learnable
from learnable._html import render as render_template
from tools.project import ROOT, settings
from tools.site import TEMPLATES, api_pages

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
    called = [entry for entry in api_pages.chapter_entries(chapter) if entry.page != "book"]
    groups = itertools.groupby(called, key=lambda entry: entry.exported)
    sentence, record = citation(chapter)
    report = (
        f"Page: {chapter.title} ({chapter.docname})\nEdition: {learnable.__version__}\nSection or figure: \n"
        "What it says: \nWhat it should say, and why: \n"
    )
    page = render_template(
        TEMPLATES / "chapter_end.html",
        reference=pathto("book/generated/api/index"),
        called=[(module, [(f"{pathto(e.document)}#{e.label}", e.name) for e in entries]) for module, entries in groups],
        sentence=sentence,
        record=record,
        report_url=report_url,
        report=report,
    )
    return str(page)
