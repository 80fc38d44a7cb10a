"""The record of a chapter: every printed table as the source prints it, ours beside it, verdicts, reasons and scale.

The pages follow from ``chapters/<slug>/printed/`` and the stored studies alone (`learnable.book.printed`), so that a
part of a table cannot be left out and no verdict is typed.
"""

from __future__ import annotations

from learnable._html import render
from learnable.book.printed import MARKS, record, sentence
from learnable.book.study_results import CHAPTERS
from learnable.book.verdicts import QUANTITIES, VERDICTS
from tools.project import raw
from tools.site import TEMPLATES

FOLDER = "book/generated/records"


def has_record(chapter):
    """Whether a chapter keeps printed tables."""
    return any((CHAPTERS / chapter.slug / "printed").glob("*.toml"))


def text(chapter):
    """The page as MyST markdown."""
    records = record(chapter.slug)
    parts = [
        f"# Record: {chapter.short_title}\n\n"
        f"What the source of [{chapter.title}](/{chapter.docname}.ipynb) prints, beside our own runs. "
        f"{sentence(records)}\n\n"
        "A figure is *reproduced* if the 95 % interval of the difference lies within a margin around the printed "
        "value, *differs* if it lies outside, and is *not decided* otherwise; {ref}`the rule <ledger-rule>` gives "
        "the margins. "
        f"Run it again with `learnable reproduce {chapter.slug}`.\n"
    ]
    found = {entry.verdict for one in records for entry in one.entries}
    if len(found) > 1:
        verdicts = [verdict for verdict in VERDICTS if verdict in found]
        parts.append(raw(str(render(TEMPLATES / "record_filter.html", verdicts=verdicts))))
    parts += [_table(one) for one in records]
    return "\n".join(parts)


def _table(one):
    table = one.table
    cells = {(entry.row, entry.column): _cell(entry) for entry in one.entries}
    reasons, places = {}, {}
    for entry in one.entries:
        if entry.because:
            key = (entry.verdict, entry.because, entry.tested)
            places.setdefault(key, []).append(f"{entry.row}: {entry.column}")
    for (verdict, because, tested), where in places.items():
        reasons.setdefault(verdict, []).append({"because": because, "tested": tested, "places": where})
    values = {
        "one": one,
        "table": table,
        "cells": cells,
        "rows": [(row, row.split(", ") if len(table.heads) > 1 else [row]) for row in table.rows],
        "reasons": reasons,
        "whole": _whole(one.whole),
        "samples": _samples(table),
        "kinds": sorted({QUANTITIES[table.quantity(column)] for column in table.columns}),
        "studies": [(result, sum(max(row.count.values()) for row in result.rows)) for result in one.results],
        "counts": [(MARKS[verdict], verdict, one.count(verdict)) for verdict in VERDICTS if one.count(verdict)],
    }
    place = table.source.partition(", ")[2]
    return f"\n## {place}: {table.title}\n\n" + raw(str(render(TEMPLATES / "record_table.html", **values)))


def _samples(table):
    """Which rows ran on other data than the source's, in one sentence; empty if none did."""
    return "; ".join(f"{place}: {told}" for place, told in table.sample.items())


def _cell(entry):
    sample = entry.judgement and entry.table.sample_of(entry.row, entry.column)
    needed = entry.judgement.repetitions if entry.judgement else None
    margin = f"within ± {entry.judgement.margin:.2g} of the printed figure" if entry.judgement else ""
    decide = f"; {needed:,} repetitions in place of {entry.count} would decide" if needed else ""
    return {
        "printed": entry.printed.text,
        "measured": entry.measured_text,
        "verdict": entry.verdict,
        "mark": MARKS[entry.verdict],
        "title": f"{entry.verdict}: {margin}{decide}{f'; {sample}' if sample else ''}"
        if entry.judgement
        else "not run",
    }


def _whole(whole):
    told = []
    if whole.rank_correlation is not None:
        told.append(f"rank correlation of printed and measured figures {whole.rank_correlation:.2f}")
    if whole.p is not None:
        p = "below 0.001" if whole.p < 0.001 else f"{whole.p:.2g}"
        told.append(
            f"joint χ² test that all are equal but for our Monte Carlo error: p {'' if whole.p < 0.001 else '= '}{p}"
        )
    return "; ".join(told)
