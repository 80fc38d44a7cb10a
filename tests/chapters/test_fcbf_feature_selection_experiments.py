"""The studies of the chapter: the same cell gives the same figures, and the figures show what the source reports."""

from learnable.chapters.fcbf_feature_selection import experiments


def test_only_the_walk_finds_the_four_bits_without_copies():
    for method in ("FCBF 0", "FCBF log"):
        setting = {"data": "Corral-46", "rows": 512, "chance": False, "method": method}
        cells = [experiments.selected_sets.cell(setting, r) for r in range(5)]
        assert sum(c["as expected"] for c in cells) == 5
        assert cells[0] == experiments.selected_sets.cell(setting, 0)
    searched = [
        experiments.selected_sets.cell({"data": "Corral-46", "rows": 256, "chance": False, "method": "CFS-SF"}, r)
        for r in range(10)
    ]
    assert sum(c["noisy copies"] for c in searched) > 0


def test_without_a_threshold_chance_is_kept():
    setting = {"data": "Corral-46", "rows": 512, "chance": True}
    kept = [
        sum(experiments.selected_sets.cell({**setting, "method": method}, r)["irrelevant"] for r in range(20))
        for method in ("FCBF 0", "FCBF log")
    ]
    assert kept[0] > 0 == kept[1]


def test_greedy_consistency_keeps_r_alone():
    stopped = experiments.selected_sets.cell(
        {"data": "Corral", "rows": 128, "chance": False, "method": "FOCUS-SF, no gain"}, 0
    )
    assert stopped == {"as expected": 1, "columns": 1, "of the four": 0, "noisy copies": 0, "irrelevant": 0}


def test_counts_of_promoters_are_the_printed_ones():
    found = [
        experiments.selected_counts.cell({"data": "promoters", "method": method}, 0)["columns"]
        for method in ("FCBF log", "FCBF 0", "CFS-SF", "FOCUS-SF")
    ]
    assert found == [6, 6, 4, 4]


def test_selection_on_all_rows_is_optimistic():
    setting = {"data": "promoters", "method": "FCBF 0", "learner": "naive bayes"}
    before, inside = (
        experiments.accuracy.cell({**setting, "selection": selection}, 0) for selection in ("before", "inside")
    )
    assert before["percent"] > inside["percent"] > 70 and before["columns"] == 6
    noise = [
        experiments.early_selection.cell({"n": 100, "d": 1000, "selection": selection}, 0)["percent"]
        for selection in ("before", "inside")
    ]
    assert noise[0] > 75 > 65 > noise[1]


def test_consistency_takes_longer_than_the_walk():
    walk, search = (experiments.race.cell({"d": 1000, "method": m}, 0) for m in ("FCBF 0", "FOCUS-SF"))
    assert walk["seconds"] < search["seconds"] and walk["columns"] > 10


def test_screening_looks_better_than_it_is_if_columns_are_selected_on_all_rows():
    before, inside = (
        experiments.screening.cell({"method": "FCBF 0", "selection": selection}, 0)
        for selection in ("before", "inside")
    )
    assert before["columns"] == 12 and inside["columns"] < 20
    assert before["AUC"] > inside["AUC"] + 0.02 and inside["percent"] > 95
