"""The ledger: what the sources printed, beside what the book measured; then what the book found itself.

Figures of the sources' tables and plots lead, by verdict and by the scale at which they were run. Theorems and worked
numbers follow. Findings are counted apart: nobody else has stated them, so they cannot be "reproduced".
"""

from __future__ import annotations

import contextlib
from collections import Counter
from dataclasses import dataclass

from learnable._html import fill, render
from learnable.book.claims import Claim
from learnable.book.printed import record, sentence
from learnable.book.study import find_studies, is_stale
from learnable.book.study_results import stored_result
from learnable.book.verdicts import QUANTITIES
from tools.project import raw
from tools.site import TEMPLATES, record_page

UP = "../../"  # from book/generated/ to the root of the site
KINDS = {"empirical": "figures of tables and plots", "theorem": "theorems and bounds", "worked": "worked numbers"}
OUTCOMES = ("reproduced", "reproduced, smaller", "same direction", "differs", "not run")
RUN = OUTCOMES[:-1]
HEADINGS = {
    "reproduced": "reproduced at the source's scale",
    "reproduced, smaller": "reproduced at a smaller scale",
    "same direction": "same direction",
    "differs": "differs",
    "not run": "not run",
}


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
    """All entries, the sources' empirical figures first, then theorems, worked numbers and findings."""
    order = [*KINDS, "finding"]
    found = [
        Entry(chapter, claim) for chapter in chapters for claim in claims(chapter) if not _recorded(chapter, claim)
    ]
    return sorted(found, key=lambda entry: order.index(entry.kind))


def _recorded(chapter, claim):
    """Whether a printed figure stands in the chapter's record: it counts there, by the stricter rule, and only once."""
    return claim.study is not None and record_page.has_record(chapter)


def text(chapters, claims):
    """The page as MyST markdown; ``claims`` gives those of a chapter."""
    found = entries(chapters, claims)
    printed = [entry for entry in found if entry.kind != "finding"]
    empirical = Counter(entry.outcome for entry in printed if entry.kind == "empirical")
    told = ", ".join(f"**{empirical[outcome]}** {HEADINGS[outcome]}" for outcome in RUN)
    count = sum(empirical[outcome] for outcome in RUN)
    return (
        "# Ledger of claims\n\n"
        "Every chapter states what its source printed and measures it again, in the open, each time that the book is "
        f"built. Of the figures in the sources' tables and plots, {count} were run again: {told}. "
        f"Another {empirical['not run']} were not run, each with its reason.\n\n"
        + raw(str(_kinds_table(printed) + _findings_line(found)))
        + "\nThe verdict follows from a rule. A figure is *reproduced* if it lies within half a unit of the last "
        "printed digit, plus three Monte Carlo standard errors of our run, plus whatever tolerance the source itself "
        "states. It has the *same direction* if that fails but the effect has the printed sign by more than two "
        "standard errors. Otherwise it *differs*. Every claim that is not reproduced carries the reason; follow a "
        "claim to see the cell that measured it. *Findings* are what we measured ourselves: they have no verdict.\n\n"
        + _records_section(chapters)
        + "## By chapter\n\n"
        + raw(str(_chapters_table(found, chapters)))
        + "\n## By source\n\n"
        + raw(str(_sources_table(printed)))
        + "\n"
        + _studies_section(chapters)
        + "\n## All entries\n\n"
        + raw(str(_table(found, chapters)))
    )


def _records_section(chapters):
    """The printed tables that are entered whole, and the rule by which their figures are judged."""
    kept = [(chapter, record(chapter.slug)) for chapter in chapters if record_page.has_record(chapter)]
    margins = "".join(f"- **{name}**: {told}\n" for name, told in QUANTITIES.items())
    lines = "".join(f"- [{c.short_title}](records/{c.slug}.md): {sentence(found)}\n" for c, found in kept)
    return (
        "(ledger-rule)=\n## Tables entered whole\n\n"
        "Where a chapter keeps its source's tables whole, every printed number counts once, at its place, run or not. "
        "A number is *reproduced* if the 95 % interval of the difference (our Monte Carlo error, and the source's own "
        "where it prints one) lies within a margin around the printed value: half a unit of its last digit, plus a "
        "tolerance that is ours, the same in every chapter. It *differs* if the interval lies outside, and is *not "
        "decided* otherwise, so that a noisy run earns no tick. The tolerances:\n\n"
        f"{margins}\n{lines}\n"
    )


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


def _sources_table(printed):
    rows = []
    for document in sorted({entry.document for entry in printed}):
        count = Counter(entry.outcome for entry in printed if entry.document == document)
        rows.append((None, None, document, count))
    return _totals("Totals by source", "Source", rows, share=True)


def _totals(label, first, rows, *, findings=False, share=False):
    """A table of outcomes; a row is (id, link, name, count of outcomes)."""

    def run(count):
        return sum(count[outcome] for outcome in RUN)

    def width(count, outcome):
        return f"{100 * count[outcome] / sum(count[name] for name in OUTCOMES):.1f}"

    heads = [first, "claims" if share else "run", *HEADINGS.values()]
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
