"""The verdict of a claim follows from a rule."""

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
    evaluate,
    finding,
    with_error,
)

BASE = {"source": "s", "kind": "worked"}


def verdict(reported, measured, **options):
    try:
        return evaluate("x", reported=reported, measured=measured, **BASE, **options).verdict
    except ClaimError:
        return "differs"


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
        ("0.31", 0.3101, {"se": 0.001}, "reproduced"),
        ("0.31", 0.311, {"se": 0.01}, "not decided"),
        ("0.31", 0.346, {"se": 0.01}, "differs"),
        ("0.31", 0.312, {"se": 0.01, "tol": 0.02}, "reproduced"),
        ("0.31", 0.36, {"tol": 0.05}, "reproduced"),
        (at_most(0.5), 0.5, {}, "reproduced"),
        (at_most(0.5), 0.49, {"se": 0.01}, "not decided"),
        (at_most(0.5), 0.51, {"se": 0.01}, "not decided"),
        (at_least(0.5), 0.53, {"se": 0.01}, "reproduced"),
        (at_most(0.5), 0.54, {"se": 0.01}, "differs"),
        (at_least(2), 1.9, {}, "differs"),
        (between(1, 2), 1.5, {}, "reproduced"),
        (True, True, {}, "reproduced"),
        (True, False, {}, "differs"),
        (["0.1", "0.2"], [0.1, 0.2], {}, "reproduced"),
        (["0.1", "0.2"], [0.1, 0.3], {}, "differs"),
        ("0.02", 0.05, {"n": 100}, "not decided"),
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
    claim("risk <b> & more", reported="0.25", measured=0.25, source="Author 2000", kind="worked", scale="n = 100")
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
    claim("risk", reported="0.25", measured=measured, source="Author 2000", kind="worked", because=because)
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


@pytest.mark.parametrize("reported", ["0.31", 8, [True, 0.5]])
def test_a_number_of_a_table_is_no_claim(reported):
    measured = [True, 0.5] if isinstance(reported, list) else 0.31
    with pytest.raises(ValueError, match="belongs to printed/"):
        evaluate("x", reported=reported, measured=measured, source="s", kind="empirical")
    assert evaluate("x", reported=at_least(0), measured=1.0, source="s", kind="empirical").verdict == "reproduced"


def test_what_is_not_decided_may_say_why_and_need_not():
    assert evaluate("x", reported=at_most(1), measured=0.9, se=0.1, **BASE).verdict == "not decided"
    told = evaluate("x", reported=at_most(1), measured=0.9, se=0.1, because="few draws", **BASE)
    assert (told.verdict, told.because) == ("not decided", "few draws")


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
