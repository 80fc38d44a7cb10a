"""The studies of AdaBoost's dynamics: each runs, repeats itself, and says what its method must say."""

import math

import numpy as np
import pytest

from learnable.book.study import find_studies
from learnable.chapters.adaboost_dynamics import experiments, theory

STUDIES = find_studies("adaboost_dynamics")
SMALL = {
    "golden_starts": {"starts": 5},
    "one_error_starts": {"m": 4, "starts": 60},
    "block_starts": {"blocks": "2 3 2 2"},
    "eight_margins": {"method": "coordinate ascent", "rounds": 2000},
    "eight_starts": {"first": 5},
    "four_by_five": {"learner": "prefers the last column", "rounds": 500},
    "random_cycles": {"m": 6, "n": 13, "steps": 3000},
    "initial_votes": {"steps": 2000},
    "parting": {"delta": 0.01},
    "stump_margins": {"data": "spam", "n": 40, "rounds": 50},
}


@pytest.fixture(scope="module")
def figures():
    return {name: STUDIES[name].cell(setting, 0) for name, setting in SMALL.items()}


def test_every_study_has_a_small_setting():
    assert set(STUDIES) == set(SMALL)


@pytest.mark.parametrize("name", SMALL)
def test_the_same_cell_gives_the_same_figures(figures, name):
    assert STUDIES[name].cell(SMALL[name], 0) == figures[name]


def test_the_three_by_three_cycles_are_golden(figures):
    found = figures["golden_starts"]
    assert found["either"] == 1.0 and 0.0 <= found["first"] <= 1.0
    assert found["edge"] == pytest.approx((math.sqrt(5) - 1) / 2, abs=1e-9)
    assert found["margin"] == pytest.approx(1 / 3, abs=1e-9) and found["farthest"] < 1e-9


def test_four_rules_have_six_cycles_of_four_rounds(figures):
    found = figures["one_error_starts"]
    assert (found["cycles"], found["shortest"], found["longest"]) == (6, 4, 4)
    assert found["least"] == pytest.approx(0.5) and found["smallest"] == pytest.approx(theory.mm_beta1(4))


def test_twins_keep_their_shares(figures):
    found = figures["block_starts"]
    assert found["shift"] < 1e-12 and found["distance"] < 1e-9
    assert found["neutral"] == found["twins"] == 4 and found["fade"] == pytest.approx((math.sqrt(5) - 1) / 2, abs=1e-8)


def test_methods_part_on_the_eight_by_eight_matrix(figures):
    best = STUDIES["eight_margins"]
    assert figures["eight_margins"]["margin"] > 0.36
    assert best.cell({"method": "AdaBoost", "rounds": 2000}, 0)["margin"] < 1 / 3
    assert best.cell({"method": "LPBoost", "rounds": 2000}, 0)["margin"] == pytest.approx(3 / 8)
    assert best.cell({"method": "AdaBoost*", "rounds": 2000}, 0)["margin"] > 3 / 8 - math.sqrt(2 * math.log(8) / 2000)


def test_the_first_column_decides(figures):
    assert figures["eight_starts"]["best"] and figures["eight_starts"]["period"] == 16
    other = STUDIES["eight_starts"].cell({"first": 1}, 0)
    assert other["third"] and other["period"] == 3
    drawn = STUDIES["eight_starts"].cell({"first": 0}, 1)
    assert drawn["third"] != drawn["best"]


def test_learners_part_on_the_four_by_five_matrix(figures):
    lazy = figures["four_by_five"]
    assert lazy["period"] == 3 and lazy["limit"] == pytest.approx(1 / 3) and lazy["smallest"] >= 0.5 - 1e-12
    best = STUDIES["four_by_five"].cell({"learner": "optimal", "rounds": 500}, 0)
    careless = STUDIES["four_by_five"].cell({"learner": "any good column", "rounds": 500}, 0)
    assert best["period"] == 4 and best["limit"] == pytest.approx(0.5)
    assert lazy["margin"] < careless["margin"] < best["margin"] and careless["smallest"] >= 0.5 - 1e-12


def test_a_random_cycle_obeys_the_formula(figures):
    found = figures["random_cycles"]
    assert found["cyclic"] and found["spread"] < 1e-9 and found["above"] and found["half"]
    assert found["share"] <= 1.0 + 1e-9 and found["reaches"] == (found["share"] > 0.99)


def test_ends_are_counted(figures):
    found = figures["initial_votes"]
    assert 0.0 <= found["cyclic"] <= 1.0 and found["several"] == (found["periods"] > 1 or found["margins"] > 1)


def test_near_pairs_stay_together():
    close = [STUDIES["parting"].cell({"delta": 1e-8}, k)["parted"] for k in range(20)]
    wide = [STUDIES["parting"].cell({"delta": 0.01}, k)["parted"] for k in range(20)]
    # About half of the wide pairs part in the stored run; none of twenty has a chance of one in a million.
    assert sum(close) <= 1 < sum(wide)


def test_no_method_exceeds_the_largest_margin(figures):
    found = figures["stump_margins"]
    shares = [found[f"share {k}"] for k in ("AdaBoost", "arc-gv", "AdaBoost*")]
    assert 0.0 < found["rho"] <= 1.0 and max(shares) <= 1.0 + 1e-9 and min(shares) > 0.3
    assert max(found[f"error {k}"] for k in ("AdaBoost", "arc-gv", "AdaBoost*", "LP")) < 0.3


def test_stumps_on_new_rows_cut_where_they_cut_the_old_ones():
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(12, 3)), rng.normal(size=(7, 3))
    H, K = experiments._stumps(A, B)
    assert H.shape[1] == K.shape[1] == 2 * len({tuple(c) for c in H.T[: H.shape[1] // 2]})
    np.testing.assert_array_equal(experiments._stumps(A, A)[1], H)
    assert set(np.unique(K)) <= {-1.0, 1.0}
