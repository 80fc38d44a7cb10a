"""The ledger: what the sources printed, beside what the book measured; then what the book found itself.

Figures of the sources' tables and plots lead, by verdict and by the scale at which they were run. Theorems and worked
numbers follow. Findings are counted apart: nobody else has stated them, so they cannot be "reproduced".
"""

from __future__ import annotations

import contextlib
import html
from collections import Counter
from dataclasses import dataclass

from learnable.book.study import find_studies, is_stale
from learnable.book.study_results import stored_result
from tools.project import raw

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
    """One record of a chapter, as the ledger sorts it."""

    chapter: object
    record: dict

    @property
    def kind(self):
        """What the source printed, or "finding"."""
        return self.record["kind"]

    @property
    def outcome(self):
        if self.kind == "finding":
            return "finding"
        smaller = self.record["verdict"] == "reproduced" and self.record["scale"]
        return "reproduced, smaller" if smaller else self.record["verdict"]

    @property
    def document(self):
        """The source without the place in it: "Lember 2012" of "Lember 2012, Sec. 1.2.4"."""
        return "this book" if self.kind == "finding" else self.record["source"].partition(",")[0]


def entries(chapters, claims):
    """All entries, the sources' empirical figures first, then theorems, worked numbers and findings."""
    order = [*KINDS, "finding"]
    found = [Entry(chapter, record) for chapter in chapters for record in claims(chapter)]
    return sorted(found, key=lambda entry: order.index(entry.kind))


def text(chapters, claims):
    """The page as MyST markdown; ``claims`` gives the records of a chapter."""
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
        + raw(_kinds_table(printed) + _findings_line(found))
        + "\nThe verdict follows from a rule. A figure is *reproduced* if it lies within half a unit of the last "
        "printed digit, plus three Monte Carlo standard errors of our run, plus whatever tolerance the source itself "
        "states. It has the *same direction* if that fails but the effect has the printed sign by more than two "
        "standard errors. Otherwise it *differs*. Every claim that is not reproduced carries the reason; follow a "
        "claim to see the cell that measured it. *Findings* are what we measured ourselves: they have no verdict.\n\n"
        "## By chapter\n\n"
        + raw(_chapters_table(found, chapters))
        + "\n## By source\n\n"
        + raw(_sources_table(printed))
        + "\n"
        + _studies_section(chapters)
        + "\n## All entries\n\n"
        + raw(_table(found, chapters))
    )


def _studies_section(chapters):
    """What is stored of the studies at the sources' scale: when and how it was made, and whether by today's code."""
    stored = [(chapter, *one) for chapter in chapters for one in stored_studies(chapter.slug)]
    if not stored:
        return ""
    rows = [_study_row(*one) for one in stored]
    machines = "; ".join(dict.fromkeys(result.made.get("machine", "") for *_, result in stored))
    heads = "".join(f"<th>{h}</th>" for h in ("Study", "Printed in", "Settings", "Cells", "Seconds", "Made"))
    return (
        "## Studies\n\nExperiments that a page cannot wait for are run ahead, cell by cell, and their figures travel "
        "with the package; [](/book/how_it_is_run.md) says how to run them again. Seconds are processor time of all "
        f"cells ({machines}).\n\n"
        + raw(
            '<div class="table-scroll" tabindex="0" role="region" aria-label="Studies"><table class="ledger-table">'
            f"<thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
        )
        + "\n"
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
    cells = sum(max(row.count.values()) for row in result.rows)
    made = f'<span style="white-space:nowrap">{html.escape(result.made.get("date", ""))}</span>'
    note = f'<br><span class="ledger-scale">{html.escape(result.note)}</span>' if result.note else ""
    if result.scale != "paper":
        note += f'<br><span class="ledger-scale">{result.scale:.0%} of the repetitions</span>'
    again = result.made.get("confirmed", {})
    if is_stale(study):
        old = '<br><span class="ledger-because">the code has changed since</span>'
    elif again.get("digest") == study.digest:
        words = f"{again['cells']} cell{'s' * (again['cells'] > 1)} run again: equal"
        old = f'<br><span class="ledger-scale">{words}</span>'
    else:
        old = ""
    return (
        f'<tr id="study-{chapter.slug}-{study.name}"><td><a href="{UP}{chapter.docname}.html">'
        f"{html.escape(chapter.short_title)}</a><br><code>{study.name}</code></td>"
        f"<td>{html.escape(result.source)}{note}</td><td>{len(result.rows)}</td><td>{cells}</td>"
        f"<td>{result.seconds:.0f}</td><td>{made}{old}</td></tr>"
    )


def _kinds_table(printed):
    rows = []
    for kind, name in KINDS.items():
        count = Counter(entry.outcome for entry in printed if entry.kind == kind)
        rows.append(f"<tr><td>{name}</td>{_cells(count)}</tr>")
    return _totals("what the source printed", "run", rows, "Totals by kind")


def _findings_line(found):
    count = sum(entry.kind == "finding" for entry in found)
    return f'<p>Besides, <a href="#kind=finding">{count} findings</a> of our own, which no total above counts.</p>'


def _chapters_table(found, chapters):
    rows = []
    for chapter in chapters:
        own = [entry for entry in found if entry.chapter == chapter]
        count = Counter(entry.outcome for entry in own)
        if not own:
            continue
        total = sum(count[outcome] for outcome in OUTCOMES)
        rows.append(
            f'<tr id="ledger-{chapter.slug.replace("_", "-")}"><td>'
            f'<a href="#chapter={chapter.name}">{html.escape(chapter.short_title)}</a></td>{_cells(count)}'
            f"<td>{count['finding'] or '–'}</td><td>{_bar(count, total)}</td></tr>"
        )
    return _totals("Chapter", "claims", rows, "Totals by chapter", extra="<th>findings</th><th>share</th>")


def _sources_table(printed):
    rows = []
    for document in sorted({entry.document for entry in printed}):
        count = Counter(entry.outcome for entry in printed if entry.document == document)
        total = sum(count.values())
        rows.append(f"<tr><td>{html.escape(document)}</td>{_cells(count)}<td>{_bar(count, total)}</td></tr>")
    return _totals("Source", "claims", rows, "Totals by source", extra="<th>share</th>")


def _cells(count):
    """How many were run, then each outcome."""
    each = "".join(f"<td>{count[outcome] or '–'}</td>" for outcome in OUTCOMES)
    return f"<td>{sum(count[outcome] for outcome in RUN)}</td>{each}"


def _totals(first, second, rows, label, extra=""):
    heads = "".join(f"<th>{HEADINGS[outcome]}</th>" for outcome in OUTCOMES)
    return (
        f'<div class="table-scroll" tabindex="0" role="region" aria-label="{label}">'
        f'<table class="ledger-table ledger-totals"><thead><tr><th>{first}</th><th>{second}</th>{heads}{extra}</tr>'
        f"</thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _bar(count, total):
    shares = "".join(
        f'<span class="claim-{_css(outcome)}" style="width:{100 * count[outcome] / total:.1f}%"></span>'
        for outcome in OUTCOMES
        if count[outcome]
    )
    return f'<div class="bar" aria-hidden="true">{shares}</div>'


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
    selects = "".join(
        f'<label>{name} <select data-filter="{name}"><option value="">all</option>'
        + "".join(f'<option value="{html.escape(v)}">{html.escape(t)}</option>' for v, t in values)
        + "</select></label>"
        for name, values in options.items()
    )
    heads = ("Verdict", "Claim", "Printed", "Measured", "Source")
    columns = "".join(f'<th aria-sort="none"><button type="button">{head}</button></th>' for head in heads)
    return (
        f'<div class="ledger"><div class="ledger-filters">{selects}'
        '<label>text <input type="search" data-filter="text" placeholder="words of a claim"></label>'
        f'<button type="button" class="ledger-csv">Download as CSV</button>'
        f'<span role="status" class="ledger-count">{len(found)} of {len(found)} entries</span></div>'
        '<div class="table-scroll" tabindex="0" role="region" aria-label="Ledger of claims">'
        f'<table class="ledger-table"><thead><tr>{columns}</tr></thead>'
        f"<tbody>{''.join(map(_row, found))}</tbody></table></div></div>"
        '<script src="../../_static/ledger.js"></script>'
    )


def _row(entry):
    record, chapter = entry.record, entry.chapter
    text = {key: html.escape(str(value)) if value else "" for key, value in record.items()}
    link = f"{UP}{chapter.docname}.html#{record['id']}"
    scale = f'<br><span class="ledger-scale">run at {text["scale"]}</span>' if text["scale"] else ""
    reason = f'<br><span class="ledger-because">{text["because"]}</span>' if text["because"] else ""
    study = ""
    if text.get("study"):
        study = f'<br><a class="ledger-scale" href="#study-{chapter.slug}-{text["study"]}">study {text["study"]}</a>'
    outcome = entry.outcome
    source = html.escape(entry.document) if entry.kind == "finding" else text["source"]
    return (
        f'<tr data-chapter="{chapter.name}" data-outcome="{outcome}" data-kind="{entry.kind}" '
        f'data-source="{html.escape(entry.document)}">'
        f'<td><span class="claim-verdict claim-{_css(outcome)}">{HEADINGS.get(outcome, outcome)}</span></td>'
        f'<td><a href="{link}">{text["statement"]}</a><br><span class="ledger-chapter">'
        f"{html.escape(chapter.short_title)}</span>{reason}</td>"
        f"<td>{'–' if entry.kind == 'finding' else text['reported']}</td>"
        f"<td>{text['measured'] or '–'}{scale}{study}</td><td>{source}</td></tr>"
    )
