"""Printed tables: read whole, joined cell by cell, and no verdict without its reason."""

import json

import pytest

from learnable.book import printed, study_results
from learnable.book.printed import Figure, printed_tables, record, sentence
from learnable.book.study import find_studies
from learnable.book.study_results import CHAPTERS

TABLE = """
title = "Two methods"
source = "Author 2004, Table 2"
place = "000:1-9"
study = "races"
row = "n"
table = '''
n   | ours | theirs | time
10  | 0.50 | 0.40   | 3
100 | 0.30 | -      | 7
'''
[columns]
ours = {quantity = "proportion", where = {method = "a"}, figure = "error"}
theirs = {quantity = "percent", where = {method = "b"}, figure = "error", factor = 100}
time = {quantity = "size"}
"""
SECONDS = '[[not_run]]\nplaces = ["* | time"]\ntext = "another machine"\n'
REASON = '[[because]]\nplaces = ["10 | theirs"]\ntext = "a share in place of percent"\ntested = "times 100"\n'


@pytest.fixture
def chapter(tmp_path, monkeypatch):
    """A chapter with one study of two methods, and a function that enters a table."""

    class Races:
        note = "3 repetitions in place of 30"

        @property
        def stored(self):
            return study_results.StudyResult("demo", "races", "Author 2004", "paper", rows, 1.0, self.note)

    def row(n, method, mean):
        return study_results.Row({"n": n, "method": method}, {"error": 3}, {"error": mean}, {"error": 0.001}, {})

    rows = (row(10, "a", 0.51), row(10, "b", 0.41), row(100, "a", 0.30))
    monkeypatch.setattr(printed, "find_studies", lambda slug: {"races": Races()})

    def enter(text):
        folder = tmp_path / "demo" / "printed"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "table_2.toml").write_text(text, encoding="utf-8")
        return record("demo", tmp_path)

    return enter


def test_every_printed_number_has_an_entry(chapter):
    (one,) = chapter(TABLE + SECONDS + REASON)
    found = {(e.row, e.column): e for e in one.entries}
    assert set(found) == {("10", "ours"), ("10", "theirs"), ("10", "time"), ("100", "ours"), ("100", "time")}
    assert found["10", "ours"].verdict == "reproduced"
    assert found["10", "ours"].scale == "3 repetitions in place of 30"
    assert found["10", "theirs"].measured == pytest.approx(41.0)
    assert found["10", "theirs"].se == pytest.approx(0.1)
    assert (found["10", "theirs"].verdict, found["10", "theirs"].tested) == ("differs", "times 100")
    assert (found["100", "time"].verdict, found["100", "time"].because) == ("not run", "another machine")
    assert sentence([one]).startswith("3 printed figures were run again: 2 are reproduced, 1 differ, 0 are not decided")


def test_figures_that_no_chance_enters_need_no_repetitions(chapter, monkeypatch):
    alone = study_results.Row({"n": 10, "method": "a"}, {"error": 1}, {"error": 0.51}, {"error": None}, {})
    monkeypatch.setattr(study_results.StudyResult, "row", lambda self, **setting: alone)
    lines = [line for line in TABLE.splitlines() if not line.startswith(("100", "theirs"))]
    text = "\n".join(lines).replace(" | 0.40  ", "").replace(" | theirs", "")
    for option, verdict in (("", "not decided"), (", fixed = true", "reproduced")):
        (one,) = chapter(text.replace('"error"}', f'"error"{option}}}') + "\n" + SECONDS)
        assert next(e.verdict for e in one.entries if e.column == "ours") == verdict


def test_rows_may_be_figures_of_one_setting_named_in_braces(chapter, monkeypatch):
    kept = study_results.Row({"n": 10}, {"a error": 3, "b error": 3}, {"a error": 0.5, "b error": 0.3}, {}, {})
    monkeypatch.setattr(study_results.StudyResult, "row", lambda self, **setting: [kept][len(setting) - 1])
    monkeypatch.setattr(study_results.StudyResult, "se", lambda self, figure, **setting: 0.001)
    table = """
    title = "Two methods"
    source = "Author 2004, Table 3"
    place = "000:1-9"
    study = "races"
    row = "method"
    where = {n = 10}
    names = {method = {ours = "a", theirs = "b"}}
    table = '''
    method | error
    ours   | 0.50
    theirs | 0.30
    '''
    columns = {error = {quantity = "proportion", figure = "{method} error"}}
    """
    (one,) = chapter(table)
    assert [(e.measured, e.verdict) for e in one.entries] == [(0.5, "reproduced"), (0.3, "reproduced")]
    assert one.table.address("theirs", "error") == ("races", {"n": 10}, "b error")


def test_a_lecture_shows_places_of_a_table_with_their_verdicts(chapter, monkeypatch, capsys):
    found = chapter(TABLE + SECONDS + REASON)
    monkeypatch.setattr(printed, "record", lambda slug: found)
    printed.show_printed("demo", "table_2", "10 | theirs", "100")
    shown = capsys.readouterr().out
    assert "10 | theirs: printed 0.40, measured 41.0 ± 0.1, ✗ differs, because a share in place of percent" in shown
    assert "100 | ours: printed 0.30, measured 0.300 ± 0.001, ✓ reproduced" in shown
    assert "10 | ours" not in shown
    for table, places in (("table_3", ["100"]), ("table_2", []), ("table_2", ["100 | elapsed"])):
        with pytest.raises(ValueError, match=r"no printed table|name places as"):
            printed.show_printed("demo", table, *places)


def test_a_cell_without_partner_needs_a_reason(chapter):
    with pytest.raises(LookupError, match="rows of races agree"):
        chapter(TABLE + REASON)
    with pytest.raises(ValueError, match=r"no study and no reason for 10 \| ours"):
        chapter(TABLE.replace('study = "races"\n', ""))


def test_a_figure_that_differs_needs_a_reason_and_only_that(chapter):
    with pytest.raises(ValueError, match=r"without a reason differ 10 \| theirs"):
        chapter(TABLE + SECONDS)
    with pytest.raises(ValueError, match="nothing differs at"):
        chapter(TABLE + SECONDS + REASON.replace('["10 | theirs"]', '["10 | theirs", "10 | ours"]'))
    with pytest.raises(ValueError, match="names its rows"):
        chapter(TABLE + SECONDS + REASON.replace("10 | theirs", "* | theirs"))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (TABLE.replace("100 | 0.30", "10 | 0.30"), "two rows"),
        (TABLE.replace("| 7", ""), "places"),
        (TABLE.replace('quantity = "size"', 'quantity = "time"'), "quantity"),
        (TABLE.replace("time = {", "speed = {"), "describe"),
        (TABLE.replace("place =", "lines ="), "unknown keys"),
        (TABLE + SECONDS.replace("* | time", "* | speed"), "no place of the table"),
        (TABLE.replace("0.50", "half"), "half"),
    ],
)
def test_files_that_break_the_format_are_named(chapter, wrong, message):
    with pytest.raises(ValueError, match=rf"demo/printed/table_2.toml: .*{message}"):
        chapter(wrong)


def test_figures_carry_their_precision_and_error():
    assert Figure.read("0.1870").half_unit == pytest.approx(0.00005)
    assert Figure.read("12").half_unit == 0
    assert Figure.read("4.3e6").half_unit == pytest.approx(5e4)
    assert Figure.read("-1.5 ± 0.2") == Figure("-1.5 ± 0.2", -1.5, 0.05, 0.2)


SLUGS = sorted({path.parent.parent.name for path in CHAPTERS.glob("*/printed/*.toml")})


def test_a_row_on_other_data_says_so_in_each_of_its_entries(chapter):
    told = '\n[[sample]]\nplaces = ["10"]\ntext = "half the rows"\n'
    (one,) = chapter(TABLE + SECONDS + REASON + told)
    scales = {(e.row, e.column): e.scale for e in one.entries}
    assert scales["10", "ours"] == scales["10", "theirs"] == "half the rows; 3 repetitions in place of 30"
    assert "half" not in scales["100", "ours"]
    with pytest.raises(ValueError, match="no place of the table"):
        chapter(TABLE + SECONDS + REASON + told.replace('"10"', '"11"'))


@pytest.mark.parametrize("slug", SLUGS)
def test_records_of_the_book_join(slug):
    """Every table of the book is entered whole, every cell finds its partner or a reason, every reason is needed."""
    found = record(slug)
    assert [one.table for one in found] == printed_tables(slug)
    for one in found:
        assert len(one.entries) == len(one.table.figures) > 0
        for entry in one.entries:
            if entry.verdict == "not run":
                assert entry.because
            else:
                noted = find_studies(slug)[one.table.address(entry.row, entry.column)[0]].note
                sample = one.table.sample_of(entry.row, entry.column)
                assert entry.scale == ("; ".join(filter(None, [sample, noted])) or None)
    json.dumps([entry.printed.text for one in found for entry in one.entries])
