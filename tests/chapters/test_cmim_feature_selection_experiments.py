"""The studies of the chapter: the same cell gives the same figures, and the figures show what the method promises."""

from learnable.chapters.cmim_feature_selection import experiments


def test_chosen_columns_beat_the_most_informative_and_these_random_ones():
    found = experiments.errors.cell({"task": "3 or 8", "flipped": 0.0, "full": False}, 0)
    assert found["CMIM + NB"] < found["MIM + NB"] < found["random + NB"]


def test_lazy_makes_one_call_in_a_hundred():
    found = experiments.calls.cell({"task": "4 or 9", "k": 50}, 0)
    assert found["naive calls"] == 43_904 * 49
    assert found["heap calls"] < found["scan calls"] < 0.02 * found["naive calls"]


def test_errors_fall_with_more_features():
    found = experiments.growth.cell({"task": "3 or 8"}, 0)
    assert found["CMIM + NB, 50"] < found["CMIM + NB, 5"] < found["CMIM + NB, 1"]


def test_the_minority_is_overlooked_unless_weighted():
    found = experiments.minority.cell({"minority": 0.2}, 0)
    assert found["CMIM: columns"] == 0.0 < found["CMIM, weighted: columns"]
    assert found["AdaBoost: columns"] > 20
    assert found == experiments.minority.cell({"minority": 0.2}, 0) != experiments.minority.cell({"minority": 0.2}, 1)


def test_rare_actives_are_found_by_filters_and_not_by_chance():
    found = experiments.rare.cell({"full": False}, 0)
    assert found["CMIM + NB"] < 20 < 40 < found["random + NB"]
