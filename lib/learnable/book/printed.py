"""Printed tables: what a source prints, whole and typed in once, joined with the studies that ran it again.

A chapter keeps each table, or plot that was read off, in ``chapters/<slug>/printed/<table>.toml``::

    title = "95 % intervals on simulated designs"
    source = "Javanmard and Montanari 2014, Table 1"
    place = "001:3290-3303"
    study = "tables"
    row = ["n", "p", "s0", "size"]       # the first columns of the table: a row's setting
    where = {method = "ten tries"}       # what all cells have in common
    table = '''
    n    | p   | s0 | size | length | coverage
    1000 | 600 | 10 | 0.5  | 0.1870 | 0.9766
    '''
    [columns.length]
    figure = "length"                    # of the study; the column's own name by default
    quantity = "size"
    [columns.coverage]
    quantity = "proportion"
    [[because]]
    places = ["1000, 600, 10, 0.5 | coverage"]
    text = "..."                         # why these cells differ
    tested = "..."                       # how that was found out
    [[not_run]]
    places = ["* | power"]               # cells without a partner
    text = "..."
    [[sample]]
    places = ["2000, 600, 10, 0.5"]      # rows that ran on other data than the source's
    text = "1,500 of 2,000 rows"

Where a study keeps what the source prints in several rows as several figures of one setting, a column's figure names
the key of the row in braces, ``figure = "PC {tests}"``: it is filled from the row and selects no setting. A column with
``fixed = true`` holds figures that no chance enters, such as scores on a fixed split: one repetition is
all there is, and the margin of its quantity counts. A cell is text as printed: ``0.1870`` carries its precision,
``12.3 ± 0.4`` the source's own standard error, ``-`` is an empty place. The unit of account is one printed number at
one place, so a table cannot be entered in part and no figure twice. `record` gives each cell its measured value, its
scale from the study's own note and from what is said of its row's sample, and its verdict.
"""

from __future__ import annotations

import math
import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from learnable._html import fill, render
from learnable.book.claims import with_error
from learnable.book.study import find_studies
from learnable.book.study_results import CHAPTERS
from learnable.book.verdicts import QUANTITIES, Agreement, Judgement, agreement, judge

__all__ = ["Entry", "PrintedTable", "Record", "printed_tables", "record", "sentence", "show_printed", "show_record"]

MARKS = {"reproduced": "✓", "differs": "✗", "not decided": "?", "not run": "–"}
PAGE = "../../book/generated/records/{}.html"
TEMPLATES = Path(__file__).with_name("templates")
KEYS = {
    "title",
    "source",
    "place",
    "study",
    "row",
    "where",
    "names",
    "table",
    "columns",
    "because",
    "not_run",
    "sample",
    "note",
}


@dataclass(frozen=True)
class Figure:
    """One printed number: its text, value, half a unit of its last digit, and the source's own error."""

    text: str
    value: float
    half_unit: float
    error: float | None = None

    @classmethod
    def read(cls, text):
        """Read ``0.1870``, ``12.3 ± 0.4`` or ``4.3e6``; a whole number is exact.

        >>> Figure.read("0.187 ± 0.002")
        Figure(text='0.187 ± 0.002', value=0.187, half_unit=0.0005, error=0.002)
        """
        number, _, error = (part.strip() for part in text.partition("±"))
        mantissa, _, exponent = number.lower().partition("e")
        decimals = len(mantissa.partition(".")[2])
        half = 0.5 * 10.0 ** (int(exponent or 0) - decimals) if decimals or exponent else 0.0
        return cls(text, float(number), half, float(error) if error else None)


@dataclass(frozen=True)
class PrintedTable:
    """A table of a source: labels of rows and columns as printed, figures by (row, column), and where it was run."""

    name: str
    title: str
    source: str
    place: str
    study: str | None
    heads: tuple
    rows: tuple
    columns: tuple
    figures: dict
    settings: dict
    options: dict
    because: dict
    not_run: dict
    sample: dict
    note: str | None = None

    def quantity(self, column):
        return self.options[column]["quantity"]

    def sample_of(self, row, column):
        """How the data of a cell differ from the source's, or None."""
        return self.sample.get(_place(self.sample, row, column))

    def address(self, row, column):
        """The study's figure behind a cell: ``(study, setting, name of the figure)``, or None where none ran it."""
        option = self.options[column]
        study = option.get("study", self.study)
        if study is None or _place(self.not_run, row, column):
            return None
        setting, figure = {**self.settings[row], **option.get("where", {})}, option.get("figure", column)
        filled = {name: value for name, value in setting.items() if f"{{{name}}}" in figure}
        rest = {name: value for name, value in setting.items() if name not in filled}
        return study, rest, figure.format(**filled)


@dataclass(frozen=True)
class Entry:
    """One printed figure beside ours. ``scale`` is how the study differs from the source in size and data."""

    table: PrintedTable
    row: str
    column: str
    printed: Figure
    verdict: str
    measured: float | None = None
    se: float | None = None
    count: int | None = None
    scale: str | None = None
    judgement: Judgement | None = None
    because: str | None = None
    tested: str | None = None

    @property
    def measured_text(self):
        """Our figure with its standard error, or None where there is none."""
        if self.measured is None:
            return None
        return with_error(self.measured, self.se) if self.se else f"{self.measured:.4g}"

    @property
    def saturated(self):
        """Whether the printed figure stands at the end of its scale, where agreement says little."""
        ends = {"proportion": (0.0, 1.0), "percent": (0.0, 100.0)}
        return self.printed.value in ends.get(self.table.quantity(self.column), ())


@dataclass(frozen=True)
class Record:
    """A table with its entries, row by row, the studies behind them and the judgement of the whole."""

    table: PrintedTable
    entries: tuple
    results: tuple
    whole: Agreement

    def count(self, verdict):
        return sum(entry.verdict == verdict for entry in self.entries)


def printed_tables(slug, folder=CHAPTERS):
    """The printed tables of a chapter, in the order of their files; none if it keeps none.

    Raises
    ------
    ValueError
        A file breaks the format; the message names it.
    """
    found = []
    for path in sorted((Path(folder) / slug / "printed").glob("*.toml")):
        try:
            found.append(_read(path.stem, tomllib.loads(path.read_text(encoding="utf-8"))))
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{slug}/printed/{path.name}: {error}") from error
    return found


def record(slug, folder=CHAPTERS):
    """Join a chapter's printed tables with its stored studies.

    Returns
    -------
    list of Record

    Raises
    ------
    ValueError
        A cell has neither a partner nor a reason, or a figure that differs has none.
    """
    tables = printed_tables(slug, folder)
    known = find_studies(slug) if any(_names(table) for table in tables) else {}
    return [_joined(slug, table, known) for table in tables]


def sentence(records):
    """What a chapter's records come to, in words."""
    entries = [entry for one in records for entry in one.entries]
    count = Counter(entry.verdict for entry in entries)
    told = (
        f"{len(entries) - count['not run']} printed figures were run again: {count['reproduced']} are reproduced, "
        f"{count['differs']} differ, {count['not decided']} are not decided"
    )
    ends = sum(entry.saturated and entry.verdict == "reproduced" for entry in entries)
    if ends:
        told += f" ({ends} of the reproduced ones stand at 0 or 1, the end of their scale, where agreeing is easy)"
    return f"{told}. {count['not run'] or 'None'} {'was' if count['not run'] < 2 else 'were'} not run."


def show_record(slug):
    """Show the sentence in a lecture, with a link to the page of record."""
    from IPython.display import display

    told, page = sentence(record(slug)), PAGE.format(slug)
    shown = fill('<p class="record-line">{{ told }} <a href="{{ page }}">See the record.</a></p>', told=told, page=page)
    display({"text/plain": told, "text/html": str(shown)}, raw=True)


def show_printed(slug, table, *places):
    """Show printed figures beside ours in a lecture, with the verdicts and the reasons that stand in the record.

    Parameters
    ----------
    slug : str
    table : str
        Name of the file in ``printed/``, without its ending.
    *places : str
        ``"row | column"`` or ``"row"``, as the reasons name them.

    Raises
    ------
    ValueError
        There is no such table or place.
    """
    from IPython.display import display

    found = {one.table.name: one for one in record(slug)}
    if table not in found:
        raise ValueError(f"{slug} has no printed table {table!r}; there are {', '.join(found) or 'none'}")
    entries = found[table].entries
    known = {entry.row for entry in entries} | {f"{entry.row} | {entry.column}" for entry in entries}
    if not places or (unknown := set(places) - known):
        raise ValueError(
            f"{table}: name places as 'row | column' or 'row', got {sorted(unknown) if places else 'none'}"
        )
    chosen = [e for e in entries if e.row in places or f"{e.row} | {e.column}" in places]
    told = [f"  {entry.row} | {entry.column}: {_told(entry)}" for entry in chosen]
    about = found[table].table
    scales = list(dict.fromkeys(entry.scale for entry in chosen if entry.scale))
    shown = render(
        TEMPLATES / "printed.html", table=about, entries=chosen, marks=MARKS, scales=scales, page=PAGE.format(slug)
    )
    display({"text/plain": "\n".join([f"{about.title} ({about.source})", *told]), "text/html": str(shown)}, raw=True)


def _told(entry):
    measured = f", measured {entry.measured_text}" if entry.measured_text else ""
    because = f", because {entry.because}" if entry.because else ""
    return f"printed {entry.printed.text}{measured}, {MARKS[entry.verdict]} {entry.verdict}{because}"


def _names(table):
    return {option.get("study", table.study) for option in table.options.values()} - {None}


def _read(name, told):
    if unknown := set(told) - KEYS:
        raise ValueError(f"unknown keys {sorted(unknown)}; there are {sorted(KEYS)}")
    lines = [[part.strip() for part in line.split("|")] for line in told["table"].strip().splitlines()]
    heads, keys = lines[0], _as_list(told["row"])
    if len(keys) >= len(heads) or any(len(line) != len(heads) for line in lines):
        raise ValueError(f"each line of the table has {len(heads)} places, {len(keys)} of them name the row")
    columns = tuple(heads[len(keys) :])
    if set(told["columns"]) != set(columns):
        raise ValueError(f"[columns] must describe {columns}, got {tuple(told['columns'])}")
    for column, option in told["columns"].items():
        if option.get("quantity") not in QUANTITIES:
            raise ValueError(f"column {column!r}: quantity must be one of {', '.join(QUANTITIES)}")
    settings, figures = {}, {}
    for line in lines[1:]:
        label = ", ".join(line[: len(keys)])
        if label in settings:
            raise ValueError(f"two rows are called {label!r}")
        settings[label] = _setting(keys, line, told)
        for column, text in zip(columns, line[len(keys) :], strict=True):
            if text != "-":
                figures[label, column] = Figure.read(text)
    because = {place: (one["text"], one["tested"]) for one in told.get("because", ()) for place in one["places"]}
    not_run = {place: one["text"] for one in told.get("not_run", ()) for place in one["places"]}
    sample = {place: one["text"] for one in told.get("sample", ()) for place in one["places"]}
    for place in [*because, *not_run, *sample]:
        _check_place(place, settings, columns)
    if any(place.startswith("*") for place in because):
        raise ValueError("a reason names its rows: 'row' or 'row | column'")
    return PrintedTable(
        name=name,
        title=told["title"],
        source=told["source"],
        place=told["place"],
        study=told.get("study"),
        heads=tuple(heads[: len(keys)]),
        rows=tuple(settings),
        columns=columns,
        figures=figures,
        settings=settings,
        options=told["columns"],
        because=because,
        not_run=not_run,
        sample=sample,
        note=told.get("note"),
    )


def _setting(keys, line, told):
    """The study's setting of a row: the values under the keys, translated where ``names`` says so."""
    setting, names = dict(told.get("where", {})), told.get("names", {})
    for key, text in zip(keys, line, strict=False):
        value = names.get(key, {}).get(text, _value(text))
        setting |= value if isinstance(value, dict) else {key: value}
    return setting


def _value(text):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _as_list(value):
    return [value] if isinstance(value, str) else list(value)


def _check_place(place, rows, columns):
    row, _, column = (part.strip() for part in place.partition("|"))
    if row not in (*rows, "*") or column not in (*columns, ""):
        raise ValueError(f"{place!r} is no place of the table: write 'row | column', 'row' or '* | column'")


def _place(reasons, row, column):
    """The most particular place under which there is a reason for a cell, or None."""
    return next((place for place in (f"{row} | {column}", row, f"* | {column}", "*") if place in reasons), None)


def _joined(slug, table, known):
    entries, results = [], {}
    for (row, column), printed in table.figures.items():
        address = table.address(row, column)
        if address is None:
            place = _place(table.not_run, row, column)
            if place is None:
                raise ValueError(f"{slug}, {table.name}: no study and no reason for {row} | {column}")
            entries.append(Entry(table, row, column, printed, "not run", because=table.not_run[place]))
            continue
        name, setting, figure = address
        if name not in known:
            raise ValueError(f"{slug}, {table.name}: there is no study {name!r}")
        result = results.setdefault(name, known[name].stored)
        entries.append(_measured(table, row, column, printed, known[name], result, setting, figure))
    _check_reasons(slug, table, entries)
    run = [entry for entry in entries if entry.verdict != "not run"]
    spreads = [math.hypot(e.se or 0.0, e.printed.error or 0.0) for e in run]
    whole = agreement([e.printed.value for e in run], [e.measured for e in run], spreads)
    return Record(table, tuple(entries), tuple(results.values()), whole)


def _measured(table, row, column, printed, study, result, setting, figure):
    factor = table.options[column].get("factor", 1.0)  # a share in the study, a percentage in print
    measured, se = result.mean(figure, **setting), result.se(figure, **setting)
    count = result.row(**setting).count[figure]
    if se is None and table.options[column].get("fixed"):
        se = 0.0
    measured, se = factor * measured, None if se is None else factor * se
    options = {"quantity": table.quantity(column), "half_unit": printed.half_unit, "error": printed.error}
    judged = judge(printed.value, measured, se, count=count, **options)
    place = _place(table.because, row, column) if judged.verdict == "differs" else None
    because, tested = table.because[place] if place else (None, None)
    size = None if result.scale == "paper" else f"{result.scale:.0%}"
    scale = "; ".join(filter(None, [table.sample_of(row, column), size, study.note])) or None
    return Entry(table, row, column, printed, judged.verdict, measured, se, count, scale, judged, because, tested)


def _check_reasons(slug, table, entries):
    """A figure that differs has a reason, and a reason has a figure that differs."""
    differ = [entry for entry in entries if entry.verdict == "differs"]
    silent = [
        f"{e.row} | {e.column} (printed {e.printed.text}, measured {e.measured:.4g})" for e in differ if not e.because
    ]
    if silent:
        raise ValueError(f"{slug}, {table.name}: without a reason differ {'; '.join(silent)}")
    used = {_place(table.because, entry.row, entry.column) for entry in differ}
    if idle := set(table.because) - used:
        raise ValueError(f"{slug}, {table.name}: nothing differs at {sorted(idle)}; remove the reason")
