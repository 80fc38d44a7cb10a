"""The studies of the chapter: the same cell gives the same figures, and the figures show what the source says."""

import numpy as np

from learnable.chapters.rademacher_tree_pruning import experiments


def timeless(figures):
    return {name: value for name, value in figures.items() if "seconds" not in name}


def test_a_split_of_pages_has_the_order_of_sizes_and_repeats_itself():
    found = experiments.splits.cell({"data": "page_blocks"}, 0)
    assert found["unpruned"] > found["k-REP"] > found["REP"]
    assert found["REP error"] <= found["k-REP error"] and found["k-REP penalty"] < found["REP penalty"]
    assert timeless(found) == timeless(experiments.splits.cell({"data": "page_blocks"}, 0))
    assert found["REP binomial"] < found["REP Occam, counted"] < found["REP Rademacher"]  # a small set


def test_on_led_data_the_restriction_hurts():
    found = experiments.splits.cell({"data": "led_20000"}, 0)
    assert found["k-REP error"] > found["REP error"] + 0.02
    assert found["k-REP Rademacher"] > found["REP Rademacher"] - 0.02


def test_errors_fall_and_penalties_grow_with_the_budget():
    cells = [experiments.budgets.cell({"data": "nursery", "c": c}, 0) for c in ("1", "1.1", "inf")]
    assert cells[0]["error"] >= cells[1]["error"] >= cells[2]["error"]
    assert cells[0]["2 R"] <= cells[1]["2 R"] <= cells[2]["2 R"]
    assert cells[0]["size"] >= cells[1]["size"] >= cells[2]["size"]


def test_bounds_fall_with_the_sample():
    small, large = (experiments.crossover.cell({"data": "letter", "n": n}, 0) for n in (1000, 5000))
    assert large["REP Rademacher"] < small["REP Rademacher"]


def test_no_deviation_exceeds_the_bound():
    cells = [experiments.coverage.cell({"n": 200, "c": "inf"}, i) for i in range(10)]
    assert all(cell["bound fails"] == 0 for cell in cells)
    assert np.mean([c["deviation"] for c in cells]) < np.mean([c["2 R"] for c in cells])


def test_nominal_inputs_become_columns_and_conformations_rows():
    X, y = experiments.load_table("nursery")
    assert X.shape == (12960, 26) and set(np.unique(X)) == {0.0, 1.0} and len(y) == 12960
    X, y = experiments.load_table("musk_2")
    assert X.shape == (6598, 166) and len(y) == 6598
