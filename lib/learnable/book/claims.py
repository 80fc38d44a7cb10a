"""Claims: what a source printed, beside what this book measures, with a verdict by rule; findings: what we measured.

A chapter states a claim once, next to the cell that measures it::

    claim("Bayes risk of the study-hours problem", reported="0.305786", measured=risk,
          source="Lember 2012, Sec. 1.2.4", kind="worked")

The verdict is not a matter of taste. With r the reported and m the measured figure,

* *reproduced* if ``|m - r| <= u + 3 se + tol``: u is half a unit of the last reported digit, se the Monte
  Carlo standard error of m, and tol a tolerance that the claim itself states ("within 5 %");
* *same direction* if that fails, but m lies on the same side of ``null`` as r, by more than two standard errors
  (or, for a bound, if it is missed by no more than three standard errors);
* *differs* otherwise.

Anything but *reproduced* must come with a reason (``because=``), and a reason that is no longer needed is an error
too: so a chapter cannot quietly keep a verdict that no longer holds. `compare` does the same for a whole table of the
source beside a study, `not_run` names a printed figure that nobody has run again here, and why, and `finding` states
what we measured ourselves: no verdict, and the ledger counts it apart. In a notebook that somebody has open, where
parameters are there to be changed, the box says so instead, and the cells after it run.
"""

from __future__ import annotations

import hashlib
import math
import re
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from learnable._html import fill, render
from learnable.book._session import live

__all__ = [
    "KINDS",
    "MIME",
    "VERDICTS",
    "Claim",
    "ClaimError",
    "at_least",
    "at_most",
    "between",
    "claim",
    "compare",
    "finding",
    "not_run",
]

MIME = "application/vnd.learnable.claim+json"
VERDICTS = ("reproduced", "same direction", "differs")
# A figure of a table or plot, a theorem or bound, a number worked out in the text.
KINDS = ("empirical", "theorem", "worked")
_OURS = re.compile(r"\b(this book|trial|our reading)\b", re.I)
_TEMPLATES = Path(__file__).with_name("templates")
_MARKS = {"reproduced": "✓", "same direction": "≈", "differs": "✗", "not run": "–"}


class ClaimError(ValueError):
    """A claim whose stored explanation and whose verdict do not fit together."""


@dataclass(frozen=True)
class Claim:
    """An entry of the ledger: what was printed and what was measured, as texts; a finding has only the latter.

    ``study``, ``setting`` and ``figure`` say where an entry stands in the table that `compare` shows.
    """

    statement: str
    kind: str
    reported: str | None = None
    measured: str | None = None
    verdict: str | None = None
    source: str | None = None
    scale: str | None = None
    because: str | None = None
    study: str | None = None
    setting: str | None = None
    figure: str | None = None

    @property
    def id(self):
        """The name under which a page links to it."""
        return "claim-" + hashlib.sha1(self.statement.encode()).hexdigest()[:8]

    @property
    def record(self):
        """The entry as a notebook stores it: only those of a table have a study, a setting and a figure."""
        fields = asdict(self)
        if self.study is None:
            del fields["study"], fields["setting"], fields["figure"]
        return {"id": self.id, **fields}

    @classmethod
    def from_record(cls, record):
        """Read what `record` wrote."""
        return cls(**{name: value for name, value in record.items() if name != "id"})


@dataclass(frozen=True)
class Bound:
    """An interval that a source claims for a figure; either end may be infinite."""

    low: float
    high: float

    def __str__(self):
        if math.isinf(self.low):
            return f"at most {_plain(self.high)}"
        if math.isinf(self.high):
            return f"at least {_plain(self.low)}"
        return f"between {_plain(self.low)} and {_plain(self.high)}"


def at_most(value):
    """Claim that a figure is no larger than ``value``."""
    return Bound(-math.inf, float(value))


def at_least(value):
    """Claim that a figure is no smaller than ``value``."""
    return Bound(float(value), math.inf)


def between(low, high):
    """Claim that a figure lies in ``[low, high]``."""
    if not low <= high:
        raise ValueError(f"between({low}, {high}): low must not exceed high")
    return Bound(float(low), float(high))


def claim(
    statement,
    *,
    reported,
    measured,
    source,
    kind,
    se=None,
    n=None,
    tol=0.0,
    null=None,
    scale=None,
    because=None,
):
    """Put a reported figure beside a measured one, print the verdict, and enter it in the ledger.

    Parameters
    ----------
    statement : str
        One sentence, in the book's own words, that a reader can check.
    reported : str, float, int, bool, Bound, or a sequence of these
        The source's figure. A string such as ``"0.268"`` carries its own precision (half a unit of the last
        digit); a float that of its shortest notation; an int or bool is exact. ``at_most(x)``, ``at_least(x)`` and
        ``between(a, b)`` are bounds.
    measured : float, bool, or a sequence of the same length
        What the chapter just computed.
    source : str
        Where the figure is printed. What we measured ourselves is a `finding`.
    kind : {"empirical", "theorem", "worked"}
    se : float or sequence, optional
        Monte Carlo standard error of ``measured``.
    n : int, optional
        Number of repetitions behind a measured proportion, in place of ``se``.
    tol : float
        A tolerance that is part of the claim.
    null : float, optional
        The value that would mean "no effect": the reference for *same direction*.
    scale : str, optional
        At what size it was run, where that is not the source's size.
    because : str, optional
        Why the figure is not reproduced; required exactly when it is not.

    Returns
    -------
    None
        The line is displayed, with its JSON record (MIME type ``application/vnd.learnable.claim+json``).

    Raises
    ------
    ClaimError
        A claim that is not reproduced has no reason, or a reproduced one has. In a live notebook it is a note.
    """
    options = {
        "reported": reported,
        "measured": measured,
        "source": source,
        "kind": kind,
        "se": se,
        "n": n,
        "tol": tol,
        "null": null,
        "scale": scale,
        "because": because,
    }
    if live():
        _display_live(statement, options)
    else:
        _display(evaluate(statement, **options))


def finding(statement, *, measured, se=None, n=None, scale=None):
    """State what this book measured itself, and enter it in the ledger as a finding: it has no verdict.

    Parameters
    ----------
    statement : str
        One sentence that a reader can check.
    measured : float, bool, or a sequence of these
    se : float or sequence, optional
        Monte Carlo standard error.
    n : int, optional
        Number of repetitions behind a proportion, in place of ``se``.
    scale : str, optional
        The size of the run.

    Examples
    --------
    >>> finding("Share of wrong answers at n = 100", measured=0.123, se=0.0042)
    {'text/plain': 'finding: Share of wrong answers at n = 100 | measured 0.123 ± 0.004', ...
    """
    one = np.ndim(measured) == 0
    got = [measured] if one else list(measured)
    errors = _errors(got, se, n)
    shown = [
        _measured_text(bool(m) if isinstance(m, (bool, np.bool_)) else 1, m, e)
        for m, e in zip(got, errors, strict=True)
    ]
    _display_finding(Claim(statement, "finding", measured=", ".join(shown), scale=scale))


def not_run(statement, *, reported, source, because):
    """Name a figure that the source printed and this book has not run again, with the reason.

    Parameters
    ----------
    statement : str
        What the figure is, in the book's own words.
    reported : str or float
        What is printed.
    source : str
        Where.
    because : str
        Why it was not run: data that may not be passed on, hours of computing.

    Examples
    --------
    >>> not_run("Error on the post-office digits", reported="0.051", source="Author 2004, Table 2",
    ...         because="the images may not be passed on")
    {'text/plain': '– not run: Error on the post-office digits | reported 0.051 | Author 2004, Table 2 | because ...
    """
    if not because:
        raise ValueError("not_run needs a reason: because=...")
    printed = {"reported": _reported_text(reported), "source": _checked_source(source)}
    _display(Claim(statement, "empirical", **printed, verdict="not run", because=because))


def compare(statement, result, printed, *, figure=None, source=None, tol=0.0, null=None, scale=None, because=None):
    """Put a table of the source beside a study: a row for each setting, a ledger entry for each printed figure.

    Parameters
    ----------
    statement : str
        What the figures are, in the book's own words.
    result : StudyResult
        The study, stored or run here.
    printed : list of (dict, figure) or of (dict, dict of figures)
        The setting of a row and what the source prints there: one figure, or several by their names in the study. Each
        is given as in `claim`.
    figure : str, optional
        Which figure of the study, where ``printed`` has one for each row.
    source : str, optional
        Where it is printed; the study's own by default.
    tol, null : float or dict of float, optional
        As in `claim`: one for all figures, or by name.
    scale : str, optional
        The size of the run where it is not the source's; for a study run at less than the paper's grid it is required.
    because : str, optional
        Why some figures are not reproduced; required exactly when there are such figures.
    """
    if result.scale != "paper" and scale is None:
        raise ValueError(f"{result.name} was run at scale {result.scale!r}: say at which size with scale=...")
    claims = []
    for setting, reported in printed:
        place = ", ".join(f"{name} = {value}" for name, value in setting.items())
        for name, value in (reported if isinstance(reported, dict) else {figure: reported}).items():
            options = {"reported": value, "measured": result.mean(name, **setting), "se": result.se(name, **setting)}
            options |= {"source": source or result.source, "kind": "empirical", "scale": scale}
            options |= {"tol": _for_figure(tol, name) or 0.0, "null": _for_figure(null, name)}
            full = f"{statement}: {f'{name}, ' if isinstance(reported, dict) else ''}{place}"
            try:
                one = evaluate(full, **options)
            except ClaimError:
                one = evaluate(full, **options, because=because or "-")
            claims.append(replace(one, study=result.name, setting=place, figure=name))
    missed = [one for one in claims if one.verdict != "reproduced"]
    if not live() and bool(missed) != bool(because):
        raise ClaimError(
            f"{statement!r}: every figure is reproduced, remove because={because!r}"
            if because
            else f"{statement!r}: {len(missed)} figures are not reproduced, the first is {missed[0].setting} "
            f"(printed {missed[0].reported}, measured {missed[0].measured}). Say why with because=..."
        )
    _display_table(statement, claims, because)


def _for_figure(given, name):
    return given.get(name) if isinstance(given, dict) else given


def evaluate(
    statement,
    *,
    reported,
    measured,
    source,
    kind,
    se=None,
    n=None,
    tol=0.0,
    null=None,
    scale=None,
    because=None,
):
    """Return the `Claim` with its verdict; `claim` displays it.

    >>> evaluate("R*", reported="0.31", measured=0.305786, source="x", kind="worked").verdict
    'reproduced'
    """
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {KINDS}, got {kind!r}")
    if se is not None and n is not None:
        raise ValueError("give the standard error (se) or the number of repetitions (n), not both")
    source = _checked_source(source)
    if tol < 0:
        raise ValueError(f"tol must not be negative, got {tol}")
    one = isinstance(reported, (str, Bound)) or np.ndim(reported) == 0
    wanted = [reported] if one else list(reported)
    got = [measured] if one else list(measured)
    if len(wanted) != len(got) or not wanted:
        raise ValueError(f"{len(wanted)} reported figures, but {len(got)} measured ones")
    errors = _errors(got, se, n)
    verdicts = [_verdict(r, m, e, tol, null) for r, m, e in zip(wanted, got, errors, strict=True)]
    verdict = max(verdicts, key=VERDICTS.index)
    if verdict == "reproduced" and because is not None:
        raise ClaimError(f"{statement!r} is reproduced: remove because={because!r}")
    if verdict != "reproduced" and not because:
        raise ClaimError(
            f"{statement!r} is not reproduced ({verdict}): reported {reported}, measured {measured}. "
            "Mend the code, or say why with because=..."
        )
    return Claim(
        statement,
        kind,
        reported=", ".join(_reported_text(r) for r in wanted),
        measured=", ".join(_measured_text(r, m, e) for r, m, e in zip(wanted, got, errors, strict=True)),
        verdict=verdict,
        source=source,
        scale=scale,
        because=because,
    )


def _checked_source(source):
    if not isinstance(source, str) or not source.strip():
        raise ValueError(f"source must say where the figure is printed, got {source!r}")
    if _OURS.search(source):
        raise ValueError(f"a claim is what a source printed, got source={source!r}: our own result is finding(...)")
    return source


def _errors(got, se, n):
    """One standard error, or None, for each measured figure."""
    if n is not None:
        return [_binomial_se(m, n) for m in got]
    errors = [se] * len(got) if se is None or np.ndim(se) == 0 else list(se)
    if len(errors) != len(got):
        raise ValueError(f"{len(got)} measured figures, but {len(errors)} standard errors")
    return errors


def _verdict(reported, measured, se, tol, null):
    if isinstance(reported, (bool, np.bool_)):
        return "reproduced" if bool(measured) == bool(reported) else "differs"
    m, error = float(measured), 0.0 if se is None else float(se)
    if not math.isfinite(m) or not math.isfinite(error) or error < 0:
        raise ValueError(f"measured figure {measured} with standard error {se} is not a finite number")
    if isinstance(reported, Bound):
        low, high, r = reported.low - tol, reported.high + tol, None
    else:
        r = float(reported)
        # The last term forgives only the rounding of float arithmetic.
        slack = _half_unit(reported) + 3.0 * error + tol + 1e-12 * max(1.0, abs(r))
        low, high = r - slack, r + slack
    if low <= m <= high:
        return "reproduced"
    if r is None and low - 3.0 * error <= m <= high + 3.0 * error:
        return "same direction"
    if null is not None:
        target = r if r is not None else (reported.low if math.isfinite(reported.low) else reported.high)
        if (m - null) * (target - null) > 0 and abs(m - null) > 2.0 * error:
            return "same direction"
    return "differs"


def _decimals(reported):
    """Number of decimals behind a reported figure, or None where it is exact."""
    if isinstance(reported, (int, np.integer)):
        return None
    text = reported.strip() if isinstance(reported, str) else repr(float(reported))
    mantissa, _, exponent = text.lower().partition("e")
    return len(mantissa.partition(".")[2]) - int(exponent or 0)


def _half_unit(reported):
    decimals = _decimals(reported)
    return 0.0 if decimals is None else 0.5 * 10.0**-decimals


def _binomial_se(p, n):
    """Standard error of a proportion, with the Agresti-Coull shift so that 0 and 1 do not look exact."""
    if not 0 <= p <= 1 or n < 1:
        raise ValueError(f"n= is for proportions: got measured {p} with n {n}")
    shifted = (p * n + 2) / (n + 4)
    return math.sqrt(shifted * (1 - shifted) / (n + 4))


def with_error(mean, se):
    """A figure with its standard error in plain decimals, as many as the first digit of the error needs: 620 ± 70."""
    if se <= 1e-12 * abs(mean):  # equal figures whose mean was rounded
        return f"{mean:.4g}"
    digits = -math.floor(math.log10(se))
    digits = -math.floor(math.log10(round(se, digits)))  # 0.0996 rounds to 0.1
    shown = min(max(0, digits), 12)
    return f"{round(mean, digits):.{shown}f} ± {round(se, digits):.{shown}f}"


def _plain(x):
    return str(x) if isinstance(x, int | np.integer) else f"{x:.6g}"


def _reported_text(reported):
    if isinstance(reported, (bool, np.bool_)):
        return "yes" if reported else "no"
    if isinstance(reported, (str, Bound)):
        return str(reported)
    return _plain(reported)


def _measured_text(reported, measured, se):
    """Only digits that carry information, and that another machine would print too."""
    if isinstance(reported, (bool, np.bool_)):
        return "yes" if measured else "no"
    m = float(measured) + 0.0  # no negative zero
    if se:
        return with_error(m, float(se))
    if isinstance(reported, Bound) or _decimals(reported) is None:
        return f"{m:.3g}" if abs(m) < 1000 else f"{m:.0f}"
    shown = f"{m:.{min(max(_decimals(reported), 0), 12)}f}" if abs(m) < 1e6 else f"{m:.6g}"
    return shown if float(shown) else shown.lstrip("-")  # the sign of a rounding error is not a digit


def _display(claim):
    parts = [f"{_MARKS[claim.verdict]} {claim.verdict}: {claim.statement}"]
    measured = f", measured {claim.measured}" if claim.measured else ""
    parts.append(f"reported {claim.reported}{measured}")
    parts.append(claim.source)
    if claim.scale:
        parts.append(f"run at {claim.scale}")
    if claim.because:
        parts.append(f"because {claim.because}")
    shown = render(_TEMPLATES / "claim.html", claim=claim, mark=_MARKS[claim.verdict])
    _show(" | ".join(parts), shown, claim.record)


def _display_finding(claim):
    scale = f" | run at {claim.scale}" if claim.scale else ""
    plain = f"finding: {claim.statement} | measured {claim.measured}{scale}"
    _show(plain, render(_TEMPLATES / "finding.html", claim=claim), claim.record)


def _display_table(statement, claims, because):
    """A row for each setting, a column for each figure: what is printed, what was measured, the verdict."""
    figures = list(dict.fromkeys(claim.figure for claim in claims))
    lines, rows = [], {}
    for claim in claims:
        place = f"{claim.setting}, {claim.figure}" if len(figures) > 1 else claim.setting
        mark = f"{_MARKS[claim.verdict]} {claim.verdict}"
        lines.append(f"  {place}: printed {claim.reported}, measured {claim.measured}, {mark}")
        rows.setdefault(claim.setting, {})[claim.figure] = claim
    first = claims[0]
    foot = f"{first.source}, run at {first.scale}" if first.scale else first.source
    plain = "\n".join([f"{statement} | {foot}", *lines, *([f"because {because}"] if because else [])])
    values = {"statement": statement, "figures": figures, "rows": rows, "foot": foot, "because": because}
    shown = render(_TEMPLATES / "claims.html", marks=_MARKS, **values)
    _show(plain, shown, {"claims": [claim.record for claim in claims]})


def _show(plain, shown, record=None):
    from IPython.display import display

    data = {"text/plain": plain, "text/html": str(shown)}
    display(data if record is None else {**data, MIME: record}, raw=True)


def _display_live(statement, options):
    """Display a claim after a change that its author did not foresee: say what no longer fits, and go on."""
    because, note = options["because"], None
    try:
        compared = evaluate(statement, **options)
    except ClaimError:
        # The verdict is the other one: with a reason that nobody has written, or without the one that was.
        changed = {**options, "because": None if because else "the cells above were changed"}
        compared = replace(evaluate(statement, **changed), because=None)
        note = (
            f"This is reproduced now. The chapter as printed gives another figure, and the reason: {because}"
            if because
            else "The chapter as printed reproduces this figure; here something above it was changed."
        )
    except ValueError as error:
        _say(f"Not compared: “{statement}”. After the changes above, {error}.")
        return
    _display(compared)
    if note:
        _say(note)


def _say(note):
    _show(note, fill('<p class="claim-note"><em>{{ note }}</em></p>', note=note))
