"""The verdict of a claim follows from a rule."""

import dataclasses
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnable.book.claims import (
    MIME,
    ClaimError,
    at_least,
    at_most,
    between,
    claim,
    compare,
    evaluate,
    finding,
    not_run,
    with_error,
)
from learnable.book.study import study

BASE = {"source": "s", "kind": "empirical"}


def verdict(reported, measured, **options):
    options.setdefault("because", None)
    try:
        return evaluate("x", reported=reported, measured=measured, **BASE, **options).verdict
    except ClaimError as error:
        return "same direction" if "same direction" in str(error) else "differs"


@pytest.mark.parametrize(
    ("reported", "measured", "options", "expected"),
    [
        ("0.31", 0.3149, {}, "reproduced"),
        ("0.31", 0.3151, {}, "differs"),
        ("0.310", 0.3149, {}, "differs"),
        (0.305786, 0.30578625, {}, "reproduced"),
        (6, 6, {}, "reproduced"),
        (6, 6.1, {}, "differs"),
        ("1.2e3", 1240, {}, "reproduced"),
        ("1.2e3", 1260, {}, "differs"),
        ("0.31", 0.340, {"se": 0.01}, "reproduced"),
        ("0.31", 0.346, {"se": 0.01}, "differs"),
        ("0.31", 0.346, {"se": 0.01, "null": 0.2}, "same direction"),
        ("0.31", 0.346, {"se": 0.01, "null": 0.4}, "differs" if 0.346 > 0.4 else "same direction"),
        ("0.31", 0.21, {"se": 0.01, "null": 0.2}, "differs"),
        ("0.31", 0.36, {"tol": 0.05}, "reproduced"),
        (at_most(0.5), 0.5, {}, "reproduced"),
        (at_most(0.5), 0.52, {"se": 0.01}, "same direction"),
        (at_most(0.5), 0.54, {"se": 0.01}, "differs"),
        (at_least(2), 1.9, {}, "differs"),
        (between(1, 2), 1.5, {}, "reproduced"),
        (True, True, {}, "reproduced"),
        (True, False, {}, "differs"),
        (["0.1", "0.2"], [0.1, 0.2], {}, "reproduced"),
        (["0.1", "0.2"], [0.1, 0.3], {}, "differs"),
        ("0.02", 0.05, {"n": 100}, "reproduced"),
        ("0.02", 0.05, {"n": 100_000}, "differs"),
    ],
)
def test_rule(reported, measured, options, expected):
    assert verdict(reported, measured, **options) == expected


@given(st.integers(0, 9999), st.floats(-1, 1))
def test_rounding_the_measured_value_always_reproduces_it(number, shift):
    measured = number / 1000 + shift * 0.000499
    assert verdict(f"{number / 1000:.3f}", measured) == "reproduced"


def test_a_failed_claim_needs_a_reason_and_a_good_one_must_not_have_one():
    with pytest.raises(ClaimError, match="not reproduced"):
        evaluate("x", reported="0.1", measured=0.2, **BASE)
    assert evaluate("x", reported="0.1", measured=0.2, because="other data", **BASE).verdict == "differs"
    with pytest.raises(ClaimError, match="remove because"):
        evaluate("x", reported="0.1", measured=0.1, because="other data", **BASE)


@pytest.mark.parametrize(
    "options",
    [
        {"measured": np.nan},
        {"measured": 0.1, "se": np.inf},
        {"measured": [0.1, 0.2]},
        {"measured": 0.1, "se": 0.1, "n": 5},
        {"measured": 3.0, "n": 5},
        {"measured": 0.1, "tol": -1},
        {"measured": 0.1, "kind": "rumour"},
        {"measured": 0.1, "source": "this book"},
        {"measured": 0.1, "source": "an earlier trial"},
        {"measured": 0.1, "source": " "},
    ],
)
def test_bad_calls(options):
    arguments = {"reported": "0.1", **BASE, **options}
    if np.ndim(options.get("measured")) == 1:
        arguments["reported"] = ["0.1"]
    with pytest.raises(ValueError):
        evaluate("x", **arguments)


def test_displayed_record_is_json_and_escapes_markup(monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda data, raw: shown.append(data))
    claim("risk <b> & more", reported="0.25", measured=0.25, source="Author 2000", kind="empirical", scale="n = 100")
    (data,) = shown
    assert json.loads(json.dumps(data[MIME]))["verdict"] == "reproduced"
    assert "risk &lt;b&gt; &amp; more" in data["text/html"]
    assert data["text/plain"].startswith("✓ reproduced: risk <b> & more | reported 0.25, measured 0.25")
    assert data[MIME]["id"] in data["text/html"]


@pytest.mark.parametrize(
    ("measured", "because", "verdict", "note"),
    [
        (0.25, None, "reproduced", None),
        (0.31, None, "differs", "something above it was changed"),
        (0.31, "other data", "differs", None),
        (0.25, "other data", "reproduced", "This is reproduced now"),
        (np.nan, None, None, "Not compared: “risk”"),
    ],
)
def test_in_a_live_notebook_a_claim_that_no_longer_holds_is_a_note(monkeypatch, measured, because, verdict, note):
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda data, raw: shown.append(data))
    monkeypatch.setattr("learnable.book.claims.live", lambda: True)
    claim("risk", reported="0.25", measured=measured, source="Author 2000", kind="empirical", because=because)
    assert [data[MIME]["verdict"] for data in shown if MIME in data] == ([verdict] if verdict else [])
    notes = [data["text/plain"] for data in shown if MIME not in data]
    assert len(notes) == bool(note) and all(note in text for text in notes)


def test_only_an_open_notebook_is_live(monkeypatch):
    from types import SimpleNamespace

    from learnable.book._session import live

    monkeypatch.delenv("LEARNABLE_EXPLORE", raising=False)
    assert not live()
    monkeypatch.setattr("IPython.get_ipython", lambda: SimpleNamespace(kernel=object()))
    assert live()
    monkeypatch.setenv("LEARNABLE_EXPLORE", "text")
    assert not live()


@pytest.fixture
def displayed(monkeypatch):
    found = []
    monkeypatch.setattr("IPython.display.display", lambda data, raw: found.append(data))
    return found


def test_a_finding_has_no_verdict(displayed):
    finding("Errors of the rule", measured=0.123456, se=0.0042, scale="n = 100")
    (data,) = displayed
    assert data["text/plain"] == "finding: Errors of the rule | measured 0.123 ± 0.004 | run at n = 100"
    assert data[MIME]["verdict"] is None and data[MIME]["kind"] == "finding"
    finding("It holds, twice", measured=[True, False])
    assert displayed[1][MIME]["measured"] == "yes, no"


def test_equal_figures_have_no_error_to_show():
    assert with_error(0.085, 4.6e-18) == "0.085"


def table():
    grid = {"repetitions": 4, "n": [10, 20]}

    def run(random_state, *, n):
        return {"error": n + random_state.random()}

    return study(source="Somebody 1999, Table 2", paper=grid, lecture=grid)(run).at("paper")


def test_a_table_gives_every_row_a_verdict_and_an_entry(displayed):
    printed = [({"n": 10}, "10.5"), ({"n": 20}, "44")]
    with pytest.raises(ClaimError, match=r"1 figures are not reproduced, the first is n = 20"):
        compare("Errors", table(), printed, figure="error")
    compare("Errors", table(), printed, figure="error", because="the machine is another")
    records = displayed[0][MIME]["claims"]
    assert [record["verdict"] for record in records] == ["reproduced", "differs"]
    assert [record["because"] for record in records] == [None, "the machine is another"]
    assert len({record["id"] for record in records}) == 2
    assert all(f'id="{record["id"]}"' in displayed[0]["text/html"] for record in records)
    with pytest.raises(ClaimError, match="every figure is reproduced"):
        compare("Errors", table(), printed[:1], figure="error", because="no reason")


def test_a_table_with_several_figures_gives_each_an_entry(displayed):
    compare("Errors", table(), [({"n": 10}, {"error": "10.5"})])
    (data,) = displayed
    (record,) = data[MIME]["claims"]
    assert record["figure"] == "error" and record["statement"] == "Errors: error, n = 10"


def test_what_was_not_run_says_why(displayed):
    with pytest.raises(ValueError, match="reason"):
        not_run("Errors on the digits", reported="0.05", source="Author 2000, Table 2", because="")
    not_run("Errors on the digits", reported="0.05", source="Author 2000, Table 2", because="no data")
    assert displayed[0][MIME]["verdict"] == "not run" and "measured" not in displayed[0]["text/plain"]


def test_a_table_of_a_smaller_run_says_so():
    small = dataclasses.replace(table(), scale="lecture")
    with pytest.raises(ValueError, match="say at which size"):
        compare("Errors", small, [({"n": 10}, "10.5")], figure="error")


@pytest.mark.parametrize(
    ("mean", "se", "text"),
    [
        (623.4, 70.2, "620 ± 70"),
        (0.957, 0.0042, "0.957 ± 0.004"),
        (1.0, 0.0996, "1.0 ± 0.1"),
        (-3.0, 2e-9, "-3.000000000 ± 0.000000002"),
    ],
)
def test_errors_stand_in_plain_decimals(mean, se, text):
    assert with_error(mean, se) == text
