"""The ledger: what the sources printed, beside what the book measured; then what the book found itself.

The sum of the records leads: every printed number counts once, at its place, run or not, by chapter and by document.
Statements without a number, theorems and worked numbers follow. Findings are counted apart: nobody else has stated
them, so they cannot be "reproduced".
"""

from __future__ import annotations

import contextlib
import csv
import io
from collections import Counter
from dataclasses import dataclass

from learnable._html import fill, render
from learnable.book.claims import Claim
from learnable.book.printed import record
from learnable.book.study import find_studies, is_stale
from learnable.book.study_results import stored_result
from learnable.book.verdicts import QUANTITIES
from tools.project import raw
from tools.site import TEMPLATES, record_page

UP = "../../"  # from book/generated/ to the root of the site
KINDS = {"empirical": "statements", "theorem": "theorems and bounds", "worked": "worked numbers"}
OUTCOMES = ("reproduced", "reproduced, smaller", "not decided", "differs")
HEADINGS = {
    "reproduced": "reproduced",
    "reproduced, smaller": "reproduced at a smaller scale",
    "not decided": "not decided",
    "differs": "differs",
}
PRINTED = ("reproduced", "not decided", "differs", "not run")


@dataclass(frozen=True)
class Entry:
    """One claim of a chapter, as the ledger sorts it."""

    chapter: object
    claim: Claim

    @property
    def kind(self):
        """What the source printed, or "finding"."""
        return self.claim.kind

    @property
    def outcome(self):
        if self.kind == "finding":
            return "finding"
        smaller = self.claim.verdict == "reproduced" and self.claim.scale
        return "reproduced, smaller" if smaller else self.claim.verdict

    @property
    def document(self):
        """The source without the place in it: "Lember 2012" of "Lember 2012, Sec. 1.2.4"."""
        return "this book" if self.kind == "finding" else self.claim.source.partition(",")[0]


def entries(chapters, claims):
    """All claims, the sources' statements first, then theorems, worked numbers and findings."""
    order = [*KINDS, "finding"]
    found = [Entry(chapter, claim) for chapter in chapters for claim in claims(chapter)]
    return sorted(found, key=lambda entry: order.index(entry.kind))


def text(chapters, claims):
    """The page as MyST markdown; ``claims`` gives those of a chapter."""
    found = entries(chapters, claims)
    return (
        "# Ledger\n\n"
        "What the sources of this book print, beside what the book measures: first the numbers of their tables and "
        "plots, then their statements, theorems and worked numbers.\n\n"
        + _records_section(_kept(chapters))
        + "## Statements, theorems, worked numbers\n\n"
        "A chapter states such a claim where it measures it, in the open, each time that the book is built. The same "
        "rule holds: a claim is *reproduced* if the 95 % interval of what we measured lies within what the source "
        "states (half a unit of its last digit, its bounds, or a tolerance that the claim names), *differs* if it lies "
        "outside, and is *not decided* otherwise. What differs carries the reason; follow a claim to see the cell that "
        "measured it. *Findings* are what we measured ourselves: they have no verdict.\n\n"
        + raw(str(_kinds_table([entry for entry in found if entry.kind != "finding"]) + _findings_line(found)))
        + "\n### By chapter\n\n"
        + raw(str(_chapters_table(found, chapters)))
        + "\n"
        + _studies_section(chapters)
        + "\n## All claims\n\n"
        + raw(str(_table(found, chapters)))
    )


def figures_run(chapters):
    """Number of printed figures that the stored studies ran again."""
    count = sum(map(_verdicts, _kept(chapters).values()), Counter())
    return count.total() - count["not run"]


def _kept(chapters):
    """The records of those chapters that keep printed tables."""
    return {chapter: record(chapter.slug) for chapter in chapters if record_page.has_record(chapter)}


def _verdicts(records):
    """How often each verdict occurs."""
    return Counter(entry.verdict for one in records for entry in one.entries)


def records_csv(chapters):
    """All printed figures beside ours, a line for each."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow("chapter source table row column printed measured se verdict scale because".split())
    for chapter, found in _kept(chapters).items():
        for one in found:
            for e in one.entries:
                place = [chapter.slug, e.table.source, e.table.name, e.row, e.column, e.printed.text]
                numbers = ["" if x is None else f"{x:.6g}" for x in (e.measured, e.se)]
                because = e.because if e.verdict == "differs" else ""
                writer.writerow([*place, *numbers, e.verdict, e.scale or "", because])
    return out.getvalue()


def _records_section(kept):
    """The sum of the records, by chapter and by document, and the rule by which their figures are judged."""
    by_chapter, by_document, tables = [], {}, 0
    for chapter, found in kept.items():
        by_chapter.append((f"records/{chapter.slug}.html", chapter.short_title, _verdicts(found)))
        tables += len(found)
        for one in found:
            document = one.table.source.partition(",")[0]
            by_document.setdefault(document, Counter()).update(_verdicts([one]))
    whole = sum((count for *_, count in by_chapter), Counter())
    run = sum(whole[verdict] for verdict in PRINTED[:-1])
    margins = "".join(f"- **{name}**: {told}\n" for name, told in QUANTITIES.items())
    documents = [(None, document, by_document[document]) for document in sorted(by_document)]
    return (
        "(ledger-rule)=\n## Printed figures\n\n"
        f"The book keeps {sum(whole.values()):,} printed figures of {len(by_document)} documents, in {tables} tables "
        f"and plots. **{run:,}** were run again: **{whole['reproduced']}** are reproduced, **{whole['differs']}** "
        f"differ, **{whole['not decided']}** are not decided. The other {whole['not run']:,} were not run. "
        "Tables are kept whole, so that a part of one cannot be left out; each figure counts once, at its place, and "
        "has a reason of its own where it differs or was not run. A chapter's record shows them.\n\n"
        + raw(str(_printed_table("Printed figures by chapter", "Chapter", by_chapter)))
        + "\n{download}`All printed figures beside ours, as a table <records/printed_figures.csv>`\n\n"
        + raw(str(_printed_table("Printed figures by document", "Document", documents)))
        + "\nA number is *reproduced* if the 95 % interval of the difference (our Monte Carlo error, and the source's "
        "own where it prints one) lies within a margin around the printed value: half a unit of its last digit, plus a "
        "tolerance that is ours, the same in every chapter. It *differs* if the interval lies outside, and is *not "
        "decided* otherwise, so that a noisy run earns no tick. The tolerances:\n\n"
        f"{margins}\n"
    )


def _printed_table(label, first, rows):
    """Verdicts of printed figures; a row is (link, name, count)."""

    def width(count, verdict):
        return f"{100 * count[verdict] / sum(count.values()):.1f}"

    heads = [first, "printed", "run", *PRINTED, "share"]
    return render(TEMPLATES / "ledger_printed.html", label=label, heads=heads, rows=rows, verdicts=PRINTED, width=width)


def _studies_section(chapters):
    """What is stored of the studies at the sources' scale: when and how it was made, and whether by today's code."""
    stored = [(chapter, *one) for chapter in chapters for one in stored_studies(chapter.slug)]
    if not stored:
        return ""
    rows = [_study_row(*one) for one in stored]
    machines = "; ".join(dict.fromkeys(result.made.get("machine", "") for *_, result in stored))
    return (
        "## Studies\n\nExperiments that a page cannot wait for are run ahead, cell by cell, and their figures travel "
        "with the package; [](/book/how_it_is_run.md) says how to run them again. Seconds are processor time of all "
        f"cells ({machines}).\n\n" + raw(str(render(TEMPLATES / "ledger_studies.html", rows=rows))) + "\n"
    )


def stored_studies(slug):
    """``[(study, stored result), ...]`` of a chapter; a stored result without its study is left out."""
    try:
        known = find_studies(slug)
    except LookupError:
        return []
    found = []
    for name, study in known.items():
        with contextlib.suppress(LookupError):
            found.append((study, stored_result(slug, name)))
    return found


def _study_row(chapter, study, result):
    again = result.made.get("confirmed", {})
    stale = is_stale(study)
    return {
        "chapter": chapter,
        "link": f"{UP}{chapter.docname}.html",
        "name": study.name,
        "result": result,
        "cells": sum(max(row.count.values()) for row in result.rows),
        "seconds": f"{result.seconds:.0f}",
        "date": result.made.get("date", ""),
        "share": None if result.scale == "paper" else f"{result.scale:.0%}",
        "stale": stale,
        "confirmed": 0 if stale or again.get("digest") != study.digest else again["cells"],
    }


def _kinds_table(printed):
    counts = {kind: Counter(entry.outcome for entry in printed if entry.kind == kind) for kind in KINDS}
    rows = [(None, None, name, counts[kind]) for kind, name in KINDS.items()]
    return _totals("Totals by kind", "what the source printed", rows)


def _findings_line(found):
    count = sum(entry.kind == "finding" for entry in found)
    line = '<p>Besides, <a href="#kind=finding">{{ count }} findings</a> of our own, which no total above counts.</p>'
    return fill(line, count=count)


def _chapters_table(found, chapters):
    rows = []
    for chapter in chapters:
        count = Counter(entry.outcome for entry in found if entry.chapter == chapter)
        if count:
            place = f"ledger-{chapter.slug.replace('_', '-')}"
            rows.append((place, f"#chapter={chapter.name}", chapter.short_title, count))
    return _totals("Totals by chapter", "Chapter", rows, findings=True, share=True)


def _totals(label, first, rows, *, findings=False, share=False):
    """A table of outcomes; a row is (id, link, name, count of outcomes)."""

    def run(count):
        return sum(count[outcome] for outcome in OUTCOMES)

    def width(count, outcome):
        return f"{100 * count[outcome] / sum(count[name] for name in OUTCOMES):.1f}"

    heads = [first, "claims", *HEADINGS.values()]
    values = {"label": label, "heads": heads, "rows": rows, "outcomes": OUTCOMES, "findings": findings, "share": share}
    return render(TEMPLATES / "ledger_totals.html", **values, run=run, width=width, css=_css)


def _css(outcome):
    return outcome.replace(", ", "-").replace(" ", "-")


def _table(found, chapters):
    kinds = [(kind, KINDS.get(kind, "findings of ours")) for kind in dict.fromkeys(entry.kind for entry in found)]
    known = {entry.chapter for entry in found}
    options = {
        "chapter": [(chapter.name, chapter.short_title) for chapter in chapters if chapter in known],
        "kind": kinds,
        "outcome": [(outcome, HEADINGS[outcome]) for outcome in OUTCOMES],
        "source": [(document, document) for document in sorted({entry.document for entry in found})],
    }
    heads = ("Verdict", "Claim", "Printed", "Measured", "Source")
    return render(TEMPLATES / "ledger_entries.html", options=options, heads=heads, rows=[_row(one) for one in found])


def _row(entry):
    claim, chapter = entry.claim, entry.chapter
    return {
        "entry": entry,
        "claim": claim,
        "chapter": chapter,
        "link": f"{UP}{chapter.docname}.html#{claim.id}",
        "css": _css(entry.outcome),
        "heading": HEADINGS.get(entry.outcome, entry.outcome),
        "source": entry.document if entry.kind == "finding" else claim.source,
    }
