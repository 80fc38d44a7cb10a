"""Claims: what a source printed, beside what this book measures, with a verdict by rule; findings: what we measured.

A chapter states a claim once, next to the cell that measures it::

    claim("Bayes risk of the study-hours problem", reported="0.305786", measured=risk,
          source="Lember 2012, Sec. 1.2.4", kind="worked")

The verdict is not a matter of taste. With r the reported and m the measured figure, the interval m ± 1.96 se (se the
Monte Carlo standard error of m) and the margin u + tol around r (u half a unit of the last reported digit, tol a
tolerance that the claim itself states, "within 5 %"), the claim is

* *reproduced* if the whole interval lies within the margin, or within the bounds where the source states bounds;
* *differs* if the whole interval lies outside;
* *not decided* otherwise.

What differs must come with a reason (``because=``), and a reason for what is reproduced is an error too: so a chapter
cannot quietly keep a verdict that no longer holds. Numbers of a source's tables and plots are no claims: they stand
whole in ``printed/`` and are judged there (`learnable.book.printed`); an empirical claim states a direction, a bound,
a yes or no. `finding` states what we measured ourselves: no verdict, and the ledger counts it apart. In a notebook that
somebody has open, where parameters are there to be changed, the box says so instead, and the cells after it run.
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
from learnable.book.verdicts import Z

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
    "finding",
]

MIME = "application/vnd.learnable.claim+json"
VERDICTS = ("reproduced", "not decided", "differs")
# A statement without a number of its own about an experiment, a theorem or bound, a number worked out in the text.
KINDS = ("empirical", "theorem", "worked")
_OURS = re.compile(r"\b(this book|trial|our reading)\b", re.I)
_TEMPLATES = Path(__file__).with_name("templates")
_MARKS = {"reproduced": "✓", "not decided": "?", "differs": "✗"}


class ClaimError(ValueError):
    """A claim whose stored explanation and whose verdict do not fit together."""


@dataclass(frozen=True)
class Claim:
    """An entry of the ledger: what was printed and what was measured, as texts; a finding has only the latter."""

    statement: str
    kind: str
    reported: str | None = None
    measured: str | None = None
    verdict: str | None = None
    source: str | None = None
    scale: str | None = None
    because: str | None = None

    @property
    def id(self):
        """The name under which a page links to it."""
        return "claim-" + hashlib.sha1(self.statement.encode()).hexdigest()[:8]

    @property
    def record(self):
        """The entry as a notebook stores it."""
        return {"id": self.id, **asdict(self)}

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
    if kind == "empirical" and not all(isinstance(r, bool | np.bool_ | Bound) for r in wanted):
        raise ValueError(f"{statement!r}: a number of a table or plot belongs to printed/, see learnable.book.printed")
    if len(wanted) != len(got) or not wanted:
        raise ValueError(f"{len(wanted)} reported figures, but {len(got)} measured ones")
    errors = _errors(got, se, n)
    verdicts = [_verdict(r, m, e, tol) for r, m, e in zip(wanted, got, errors, strict=True)]
    verdict = max(verdicts, key=VERDICTS.index)
    if verdict == "reproduced" and because is not None:
        raise ClaimError(f"{statement!r} is reproduced: remove because={because!r}")
    if verdict == "differs" and not because:
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


def _verdict(reported, measured, se, tol):
    if isinstance(reported, (bool, np.bool_)):
        return "reproduced" if bool(measured) == bool(reported) else "differs"
    m, error = float(measured), 0.0 if se is None else float(se)
    if not math.isfinite(m) or not math.isfinite(error) or error < 0:
        raise ValueError(f"measured figure {measured} with standard error {se} is not a finite number")
    if isinstance(reported, Bound):
        low, high = reported.low - tol, reported.high + tol
    else:
        margin = _half_unit(reported) + tol
        low, high = float(reported) - margin, float(reported) + margin
    # Forgives the rounding of float arithmetic and nothing else.
    rounding = 1e-12 * max([1.0, *(abs(end) for end in (low, high) if math.isfinite(end))])
    if low - rounding <= m - Z * error and m + Z * error <= high + rounding:
        return "reproduced"
    if m + Z * error < low - rounding or m - Z * error > high + rounding:
        return "differs"
    return "not decided"


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
