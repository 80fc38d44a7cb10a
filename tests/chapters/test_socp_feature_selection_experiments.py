"""The studies of the chapter: the same cell gives the same figures, and the figures show what the method promises."""

from learnable.chapters.socp_feature_selection import experiments


def test_more_features_near_level_one_and_no_errors():
    low, high = (experiments.selected_sets.cell({"rule": "SOCP", "eta": eta, "n": 60}, 0) for eta in (0.5, 0.995))
    assert low["only feature 10"] == 1.0 and low["LOO error"] == high["LOO error"] == 0.0
    assert high["features"] > low["features"] == 1
    assert low == experiments.selected_sets.cell({"rule": "SOCP", "eta": 0.5, "n": 60}, 0)


def test_the_linear_program_uses_more_than_one():
    found = experiments.selected_sets.cell({"rule": "LP", "eta": 0.0, "n": 60}, 0)
    assert found["features"] > 1 and found["LOO error"] == 0.0


def test_uncertain_means_ask_for_more_features():
    plain, robust = (experiments.robust_counts.cell({"eta": 0.99, "delta": delta, "n": 100}, 0) for delta in (0.0, 4.0))
    assert robust["features"] > plain["features"] and robust["norm"] > plain["norm"]


def test_tumours_are_told_apart_by_a_few_genes():
    found = experiments.tumours.cell({"pair": "BL-NB", "rule": "SOCP", "eta": 0.5}, 0)
    assert found["LOO error"] == 0.0 and found["features"] < 10


def test_the_bound_holds_on_the_training_sample_and_is_loose():
    found = experiments.looseness.cell({"eta": 0.9, "m": 400}, 0)
    assert found["training error"] <= found["bound"] <= 0.1 + 1e-9
    assert found["true error"] < found["bound"] / 2


def test_the_norm_never_sinks():
    assert experiments.not_monotone.cell({"n": 100}, 0)["norm sinks"] == 0
