"""Verdicts: whether a printed figure and ours agree, differ, or cannot be told apart yet.

With r the printed figure, m ours, and s the standard error of their difference (our Monte Carlo error and the source's
own, where it prints one), the interval of the difference is d ± 1.96 s with d = m - r. Around the printed figure lies a
margin M: half a unit of its last digit, plus a tolerance that is ours, one for each kind of quantity and the same in
every chapter (`QUANTITIES`). Then the figure is

* *reproduced* if the whole interval lies within the margin, |d| + 1.96 s <= M,
* *differs* if the whole interval lies outside, |d| - 1.96 s > M,
* *not decided* otherwise; `Judgement.repetitions` says how many repetitions would decide it.

So a wide interval never earns a tick. A difference against a baseline is judged by its sign: reproduced if the interval
of ours lies on the printed side of no effect, differs if it lies on the other side, not decided if it holds both.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import stats

__all__ = ["QUANTITIES", "VERDICTS", "Agreement", "Judgement", "agreement", "judge", "margin"]

Z = float(stats.norm.ppf(0.975))
VERDICTS = ("reproduced", "differs", "not decided", "not run")
# Kind of quantity -> what it is, and our tolerance in words; `margin` has the formulas.
QUANTITIES = {
    "proportion": "rates between 0 and 1: half of what Cohen calls a small difference, 0.1 √(p(1 − p)), at least 0.005",
    "percent": "the same rates, printed in percent",
    "size": "lengths, counts, risks, distances: 10 percent",
    "correlation": "correlations and agreement coefficients: 0.05",
    "effect": "differences against a baseline: the sign",
    "exact": "figures that no chance enters: the printed digits",
}


@dataclass(frozen=True)
class Judgement:
    """A verdict, the margin and the interval of the difference behind it, and the repetitions that would decide.

    ``repetitions`` is None where the verdict is decided, or where no number of ours can decide it.
    """

    verdict: str
    margin: float
    low: float
    high: float
    repetitions: int | None = None


@dataclass(frozen=True)
class Agreement:
    """A table as a whole: rank correlation of printed and measured figures, and the joint test that they are equal.

    ``chi2`` sums the squared differences in units of their standard errors over ``n`` figures that have one; ``p`` is
    its tail probability if they were independent, which figures from shared data are not.
    """

    n: int
    rank_correlation: float | None
    chi2: float | None
    p: float | None


def margin(value, half_unit, quantity):
    """Half width of the range around a printed figure that counts as the same figure.

    Examples
    --------
    >>> round(margin(0.95, 0.005, "proportion"), 4)
    0.0268
    """
    if quantity not in QUANTITIES:
        raise ValueError(f"quantity must be one of {', '.join(QUANTITIES)}, got {quantity!r}")
    if quantity in ("proportion", "percent"):
        unit = 1.0 if quantity == "proportion" else 100.0
        p = value / unit
        if not -0.01 <= p <= 1.01:
            raise ValueError(f"a {quantity} of {value} is out of range")
        p = min(max(p, 0.0), 1.0)
        return half_unit + unit * max(0.1 * math.sqrt(p * (1 - p)), 0.005)
    return half_unit + {"size": 0.1 * abs(value), "correlation": 0.05, "effect": 0.0, "exact": 0.0}[quantity]


def judge(value, measured, se, *, quantity, half_unit=0.0, error=None, count=None):
    """Judge a measured figure against a printed one.

    Parameters
    ----------
    value, measured : float
        The printed figure, and ours. For an effect both are differences, and zero means none.
    se : float or None
        Standard error of ``measured``; None where it is not known. Then only an exact figure can be decided.
    quantity : str
        A key of `QUANTITIES`.
    half_unit : float
        Half a unit of the last printed digit.
    error : float, optional
        The source's own standard error, where it prints one.
    count : int, optional
        Repetitions behind ``se``.

    Returns
    -------
    Judgement

    Examples
    --------
    >>> judge(51.1, 98.0, 22.0, quantity="size", half_unit=0.05, count=2).verdict
    'not decided'
    >>> judge(0.9766, 0.9741, 0.0012, quantity="proportion", half_unit=0.00005, count=10).verdict
    'reproduced'
    """
    width = margin(value, half_unit, quantity)
    if quantity == "exact":
        se = 0.0
    difference = measured - value
    if se is None:
        return Judgement("not decided", width, -math.inf, math.inf)
    spread = math.hypot(se, error or 0.0)
    low, high = difference - Z * spread, difference + Z * spread
    if quantity == "effect":
        return _by_sign(value, measured, se, count)
    rounding = 1e-12 * max(1.0, abs(value))  # of float arithmetic
    gap = width - abs(difference)
    if Z * spread <= gap + rounding:
        return Judgement("reproduced", width, low, high)
    if Z * spread < -gap:
        return Judgement("differs", width, low, high)
    return Judgement("not decided", width, low, high, _needed(abs(gap), se, error, count))


def _by_sign(value, measured, se, count):
    """The verdict of an effect: on which side of zero the interval of ours lies."""
    low, high = measured - Z * se, measured + Z * se
    if value == 0:
        raise ValueError("an effect of zero has no sign: judge it as another quantity")
    if low <= 0 <= high:
        return Judgement("not decided", 0.0, low, high, _needed(abs(measured), se, None, count))
    return Judgement("reproduced" if (measured > 0) == (value > 0) else "differs", 0.0, low, high)


def _needed(gap, se, error, count):
    """Repetitions after which the interval no longer crosses the edge of the margin, if the means stay as they are."""
    wanted = (gap / Z) ** 2 - (error or 0.0) ** 2
    if count is None or wanted <= 0 or se == 0:
        return None
    return max(count + 1, math.ceil(count * se**2 / wanted))


def agreement(values, measured, spreads):
    """Judge a table as a whole.

    Parameters
    ----------
    values, measured : sequence of float
    spreads : sequence of float or None
        Standard errors of the differences.

    Returns
    -------
    Agreement
    """
    values, measured = np.asarray(values, dtype=float), np.asarray(measured, dtype=float)
    rank = None
    if len(values) >= 4 and len(set(values.tolist())) > 2 and len(set(measured.tolist())) > 2:
        rank = float(stats.spearmanr(values, measured).statistic)
    known = [(m - r, s) for r, m, s in zip(values, measured, spreads, strict=True) if s]
    if not known:
        return Agreement(len(values), rank, None, None)
    chi2 = float(sum((d / s) ** 2 for d, s in known))
    return Agreement(len(values), rank, chi2, float(stats.chi2.sf(chi2, len(known))))
