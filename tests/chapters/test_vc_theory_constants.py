"""VC theory: each bound against the formula that the source prints, and families that have neither origin nor unit."""

import numpy as np
import pytest

from learnable.chapters.vc_theory.patterns import dichotomies
from learnable.chapters.vc_theory.theory import IntervalTruth
from learnable.foundations import SRM
from learnable.foundations.tail_bounds import erm_mean, erm_tail, vc_mean, vc_tail
from learnable.problems.base import FiniteProblem

from .vc_theory_cases import (
    SieveERM,
    ThresholdERM,
    find_shattered_set,
    finite_class,
    hoeffding,
    vapnik_tail,
    vc_dimension,
    zero_error_tail,
)


def test_constants_of_the_bounds_are_those_of_the_source():
    eps, n, V = 0.9, 40_000.0, 3
    printed = {
        "hoeffding": (hoeffding(), np.log(2) - 2 * n * eps**2),
        "finite": (finite_class(7), np.log(2 * 7) - 2 * n * eps**2),
        "vc": (vc_tail(V), np.log(8) + V * np.log(n + 1) - n * eps**2 / 32),
        "vc, S(n) given": (vc_tail(log_shatter=5.0, exponent=8.0), np.log(8) + 5.0 - n * eps**2 / 8),
        "vapnik": (vapnik_tail(V), np.log(4) + V * np.log(2 * n + 1) - n * (eps - 1 / n) ** 2),
        "erm": (erm_tail(V), np.log(8) + V * np.log(n + 1) - n * eps**2 / 128),
        "zero": (zero_error_tail(V), np.log(2) + V * np.log(2 * n + 1) - n * eps / 2 * np.log(2)),
    }
    for name, (bound, expected) in printed.items():
        assert float(bound.log_tail(eps, n)) == pytest.approx(expected, rel=1e-12), name
    assert float(vc_mean(n, V=V)) == pytest.approx(2 * np.sqrt((V * np.log(n + 1) + np.log(2)) / n), rel=1e-12)
    assert float(vc_mean(n, log_shatter=5.0)) == pytest.approx(2 * np.sqrt((5.0 + np.log(2)) / n), rel=1e-12)
    assert float(erm_mean(n, V)) == pytest.approx(4 * np.sqrt((V * np.log(n + 1) + np.log(2)) / n), rel=1e-12)


@pytest.mark.parametrize("family", ["polygons", "halfspaces", "rectangles", "balls"])
@pytest.mark.parametrize(("unit", "shift"), [(1.0, 1e6), (2.0**-100, 0.0), (2.0**100, 0.0)])
def test_patterns_have_neither_origin_nor_unit(family, unit, shift):
    points = np.random.default_rng(0).integers(-8, 9, (7, 2)).astype(float)
    expected = dichotomies(points, family)
    assert np.array_equal(dichotomies(unit * (points + shift), family), expected)


def test_points_on_a_line_are_those_up_to_rounding():
    """Tenths of a step round; a segment then holds what lies between its ends, and a point aside stays aside."""
    steps = np.arange(6)
    line = np.column_stack([0.1 * steps, 0.3 * steps])
    assert len(dichotomies(line, "polygons")) == 1 + 6 * 7 // 2  # the runs of six points
    aside = line + 1e-9 * np.outer(steps == 2, [0.0, 1.0])
    assert len(dichotomies(aside, "polygons")) == 2 * (1 + 5 * 6 // 2)  # the runs of five, with the sixth or without


def test_exact_risks_of_points_given_as_numbers_and_as_rows():
    """A law on the line hands the rule a vector of points, a law in the plane an array (n, 2)."""
    on_the_line = FiniteProblem([[0.3, 0.1], [0.2, 0.4]], x_values=[1, 2])
    rule = ThresholdERM().fit([[1.0], [2.0]], [0, 1])
    assert rule.risk_exact(on_the_line) == pytest.approx(0.1 + 0.2)  # 1 is called 0, 2 is called 1
    in_the_plane = FiniteProblem([[0.3, 0.1], [0.2, 0.05], [0.05, 0.3]], x_values=[[0, 0], [0, 1], [1, 0]])
    rule = ThresholdERM(feature=0).fit([[0.0, 0.0], [1.0, 0.0]], [0, 1])
    assert rule.risk_exact(in_the_plane) == pytest.approx(0.1 + 0.05 + 0.05)
    assert rule.risk_exact(in_the_plane, [[0, 2], [5, 0]]) == pytest.approx(5 * (0.1 + 0.05) + 2 * 0.05)


def test_columns_are_never_dropped_in_silence():
    X, y = IntervalTruth().sample(200, random_state=0)
    wide = np.column_stack([np.zeros(200), X])
    with pytest.raises(ValueError, match="give feature"):
        SRM(k_max=3).fit(wide, y)
    narrow = SRM(k_max=3).fit(X, y).predict(X)
    assert SRM(k_max=3, feature=1).fit(wide, y).predict(wide).tolist() == narrow.tolist()


def test_a_sieve_must_be_fitted():
    with pytest.raises(ValueError, match="not fitted"):
        SieveERM().predict([[0.5]])


@pytest.mark.parametrize("bad", ["a", np.nan, -1.0])
def test_bounds_refuse_what_is_no_number(bad):
    with pytest.raises(ValueError):
        hoeffding().tail(bad, 10)
    with pytest.raises(ValueError):
        vc_tail(log_shatter=bad)


@pytest.mark.parametrize(("family", "d"), [(f, d) for f in ("orthants", "rectangles") for d in (1, 2, 3)])
def test_claim_02_none_of_2000_boxes_is_shattered(family, d):
    V = vc_dimension(family, d=d)
    assert find_shattered_set(family, V, d=d, random_state=0) is not None
    assert find_shattered_set(family, V + 1, d=d, n_restarts=2000, random_state=2) is None


@pytest.mark.parametrize(
    ("family", "k"), [("half_lines", None), ("intervals", None), ("k_intervals", 2), ("k_intervals", 3)]
)
def test_claim_02_none_of_2000_sets_on_the_line_is_shattered(family, k):
    V = vc_dimension(family, k=k)
    assert find_shattered_set(family, V, k=k, random_state=0) is not None
    assert find_shattered_set(family, V + 1, k=k, n_restarts=2000, random_state=2) is None
