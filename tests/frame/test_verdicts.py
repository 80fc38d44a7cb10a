"""The rule of the verdicts, and the cases for which it was made."""

import math

import numpy as np
import pytest

from learnable.book.verdicts import agreement, judge, margin


def test_noise_earns_no_tick():
    """Two draws at 98 ± 22 beside 51.1 agree with anything; so do ALARM's differences against their noise."""
    assert judge(51.1, 98.0, 22.0, quantity="size", half_unit=0.05, count=2).verdict == "not decided"
    assert judge(0.30, 0.30, 0.05, quantity="proportion", count=4).verdict == "not decided"


@pytest.mark.parametrize(
    ("measured", "se", "verdict"),
    [(105.0, 1.0, "reproduced"), (105.0, 5.0, "not decided"), (115.0, 5.0, "not decided"), (115.0, 1.0, "differs")],
)
def test_the_interval_lies_inside_or_outside_the_margin(measured, se, verdict):
    assert judge(100, measured, se, quantity="size", count=10).verdict == verdict
    assert judge(-100, -measured, se, quantity="size", count=10).verdict == verdict


def test_repetitions_that_would_decide_do_decide():
    first = judge(100, 106.0, 5.0, quantity="size", count=10)
    assert first.verdict == "not decided"
    shrunk = 5.0 * math.sqrt(10 / first.repetitions)
    assert judge(100, 106.0, shrunk, quantity="size", count=first.repetitions).verdict == "reproduced"
    almost = 5.0 * math.sqrt(10 / (first.repetitions - 1))
    assert judge(100, 106.0, almost, quantity="size", count=first.repetitions - 1).verdict == "not decided"


def test_the_source_s_own_error_counts_and_may_forbid_a_decision():
    assert judge(100, 100.0, 0.1, quantity="size", count=10).verdict == "reproduced"
    noisy = judge(100, 100.0, 0.1, quantity="size", error=20.0, count=10)
    assert (noisy.verdict, noisy.repetitions) == ("not decided", None)


def test_printed_digits_widen_the_margin():
    assert judge(0.3, 0.349, 0.0, quantity="exact", half_unit=0.05).verdict == "reproduced"
    assert judge(0.3, 0.351, 0.0, quantity="exact", half_unit=0.05).verdict == "differs"


def test_effects_are_judged_by_their_sign():
    assert judge(3.0, 20.0, 2.0, quantity="effect", count=9).verdict == "reproduced"
    assert judge(3.0, -6.0, 2.0, quantity="effect", count=9).verdict == "differs"
    assert judge(-3.0, -6.0, 2.0, quantity="effect", count=9).verdict == "reproduced"
    near = judge(3.0, 2.0, 2.0, quantity="effect", count=9)
    assert near.verdict == "not decided"
    assert near.repetitions == math.ceil(9 * 1.959964**2)
    with pytest.raises(ValueError, match="no sign"):
        judge(0.0, 1.0, 0.1, quantity="effect")


def test_one_repetition_decides_nothing_but_an_exact_figure():
    assert judge(5, 5.0, None, quantity="size").verdict == "not decided"
    assert judge(5, 5.0, None, quantity="exact").verdict == "reproduced"
    assert judge(5, 6.0, None, quantity="exact").verdict == "differs"


def test_margins():
    assert margin(0.5, 0.0, "proportion") == pytest.approx(0.05)
    assert margin(50.0, 0.0, "percent") == pytest.approx(5.0)
    assert margin(1.0, 0.0, "proportion") == pytest.approx(0.005)
    assert margin(-200.0, 0.5, "size") == pytest.approx(20.5)
    assert margin(0.2, 0.05, "correlation") == pytest.approx(0.1)
    with pytest.raises(ValueError, match="out of range"):
        margin(45.0, 0.0, "proportion")
    with pytest.raises(ValueError, match="quantity"):
        margin(45.0, 0.0, "length")


def test_tables_as_a_whole():
    """Six small misses in one direction are no chance together."""
    printed = [3, 1, -3, -3, 2, 6]
    measured = [-6, -12, -9, -14, -10, -2]
    whole = agreement(printed, measured, [6.0] * 6)
    assert whole.n == 6
    assert whole.chi2 == pytest.approx(sum((m - r) ** 2 / 36 for r, m in zip(printed, measured, strict=True)))
    assert whole.p < 0.02
    # Ranks 5, 3, 1.5, 1.5, 4, 6 and 5, 2, 4, 1, 3, 6.
    assert whole.rank_correlation == pytest.approx(np.corrcoef([5, 3, 1.5, 1.5, 4, 6], [5, 2, 4, 1, 3, 6])[0, 1])
    assert agreement([1, 2], [1, 2], [None, 0.0]).p is None
    assert agreement(np.ones(9), np.arange(9), [1.0] * 9).rank_correlation is None
