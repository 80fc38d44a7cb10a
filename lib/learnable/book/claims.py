"""Claims: what a source reports, beside what this book measures, with a verdict by rule.

A chapter states a claim once, next to the cell that measures it::

    claim("Bayes risk of the study-hours problem", reported="0.305786", measured=risk,
          source="Lember 2012, Sec. 1.2.4", kind="worked number")

The verdict is not a matter of taste. With r the reported and m the measured figure,

* *reproduced* if ``|m - r| <= u + 3 se + tol``: u is half a unit of the last reported digit, se the Monte
  Carlo standard error of m, and tol a tolerance that the claim itself states ("within 5 %");
* *same direction* if that fails, but m lies on the same side of ``null`` as r, by more than two standard errors
  (or, for a bound, if it is missed by no more than three standard errors);
* *differs* otherwise.

Anything but *reproduced* must come with a reason (``because=``), and a reason that is no longer needed is an error
too: so a chapter cannot quietly keep a verdict that no longer holds. In a notebook that somebody has open, where
parameters are there to be changed, the box says so instead, and the cells after it run.
"""

from __future__ import annotations

import hashlib
import html
import math
from dataclasses import dataclass

import numpy as np

from learnable.book._session import live

__all__ = ["KINDS", "MIME", "VERDICTS", "ClaimError", "at_least", "at_most", "between", "claim"]

MIME = "application/vnd.learnable.claim+json"
VERDICTS = ("reproduced", "same direction", "differs")
KINDS = ("theorem", "worked number", "table", "figure", "experiment")
_MARKS = {"reproduced": "✓", "same direction": "≈", "differs": "✗"}


class ClaimError(ValueError):
    """A claim whose stored explanation and whose verdict do not fit together."""


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
    kind="experiment",
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
        Where the figure is reported, or ``"this book"`` for an experiment of our own.
    kind : {"theorem", "worked number", "table", "figure", "experiment"}
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
    """Return the claim's record as a dictionary; `claim` displays it.

    >>> evaluate("R*", reported="0.31", measured=0.305786, source="x", kind="worked number")["verdict"]
    'reproduced'
    """
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {KINDS}, got {kind!r}")
    if se is not None and n is not None:
        raise ValueError("give the standard error (se) or the number of repetitions (n), not both")
    if tol < 0:
        raise ValueError(f"tol must not be negative, got {tol}")
    one = isinstance(reported, (str, Bound)) or np.ndim(reported) == 0
    wanted = [reported] if one else list(reported)
    got = [measured] if one else list(measured)
    if len(wanted) != len(got) or not wanted:
        raise ValueError(f"{len(wanted)} reported figures, but {len(got)} measured ones")
    if n is not None:
        se = [_binomial_se(m, n) for m in got]
    errors = [se] * len(got) if se is None or np.ndim(se) == 0 else list(se)
    if len(errors) != len(got):
        raise ValueError(f"{len(got)} measured figures, but {len(errors)} standard errors")
    verdicts = [_verdict(r, m, e, tol, null) for r, m, e in zip(wanted, got, errors, strict=True)]
    verdict = max(verdicts, key=VERDICTS.index)
    if verdict == "reproduced" and because is not None:
        raise ClaimError(f"{statement!r} is reproduced: remove because={because!r}")
    if verdict != "reproduced" and not because:
        raise ClaimError(
            f"{statement!r} is not reproduced ({verdict}): reported {reported}, measured {measured}. "
            "Mend the code, or say why with because=..."
        )
    return {
        "id": "claim-" + hashlib.sha1(statement.encode()).hexdigest()[:8],
        "statement": statement,
        "kind": kind,
        "reported": ", ".join(_reported_text(r) for r in wanted),
        "measured": ", ".join(_measured_text(r, m, e) for r, m, e in zip(wanted, got, errors, strict=True)),
        "verdict": verdict,
        "source": source,
        "scale": scale,
        "because": because,
    }


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


def _plain(x):
    return f"{x:.6g}"


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
        places = max(0, 1 - math.floor(math.log10(float(se))))
        return f"{m:.{min(places, 8)}f} ± {float(se):.1g}"
    if isinstance(reported, Bound) or _decimals(reported) is None:
        return f"{m:.3g}" if abs(m) < 1000 else f"{m:.0f}"
    return f"{m:.{min(max(_decimals(reported), 0), 12)}f}" if abs(m) < 1e6 else f"{m:.6g}"


def _display(record):
    from IPython.display import display

    parts = [f"{_MARKS[record['verdict']]} {record['verdict']}: {record['statement']}"]
    parts.append(f"reported {record['reported']}, measured {record['measured']}")
    parts.append(record["source"])
    if record["scale"]:
        parts.append(f"run at {record['scale']}")
    if record["because"]:
        parts.append(f"because {record['because']}")
    display(
        {"text/plain": " | ".join(parts), "text/html": _to_html(record), MIME: record},
        raw=True,
    )


def _display_live(statement, options):
    """Display a claim after a change that its author did not foresee: say what no longer fits, and go on."""
    because, note = options["because"], None
    try:
        record = evaluate(statement, **options)
    except ClaimError:
        # The verdict is the other one: with a reason that nobody has written, or without the one that was.
        changed = {**options, "because": None if because else "the cells above were changed"}
        record = {**evaluate(statement, **changed), "because": None}
        note = (
            f"This is reproduced now. The chapter as printed gives another figure, and the reason: {because}"
            if because
            else "The chapter as printed reproduces this figure; here something above it was changed."
        )
    except ValueError as error:
        _say(f"Not compared: “{statement}”. After the changes above, {error}.")
        return
    _display(record)
    if note:
        _say(note)


def _say(note):
    from IPython.display import display

    shown = f'<p class="claim-note"><em>{html.escape(note)}</em></p>'
    display({"text/plain": note, "text/html": shown}, raw=True)


def _to_html(record):
    text = {key: html.escape(value) if value else "" for key, value in record.items()}
    css = record["verdict"].replace(" ", "-")
    extra = f'<span class="claim-scale">run at {text["scale"]}</span>' if text["scale"] else ""
    reason = f'<p class="claim-because"><b>Why:</b> {text["because"]}</p>' if text["because"] else ""
    return (
        f'<div class="claim claim-{css}" id="{text["id"]}">'
        f'<p class="claim-head"><span class="claim-verdict">{_MARKS[record["verdict"]]} {text["verdict"]}</span> '
        f"{text['statement']}</p>"
        f'<p class="claim-figures"><span>reported <b>{text["reported"]}</b></span> '
        f"<span>measured <b>{text['measured']}</b></span> "
        f'<span class="claim-source">{text["source"]}</span> {extra}</p>{reason}</div>'
    )
