"""The studies of the chapter: the same cell gives the same figures, and the figures show what the theorems promise."""

import numpy as np

from learnable.book.study import find_studies
from learnable.chapters.linear_causal_networks import experiments


def mean(study, figure, repetitions, **setting):
    return np.mean([study.cell(setting, k)[figure] for k in range(repetitions)])


def test_known_variances_beat_ignored_ones():
    wrong, right = (
        mean(experiments.weights, "SHD", 5, p=15, n=2000, variances=v) for v in ("unequal", "unequal, known")
    )
    assert right < wrong
    setting = {"p": 15, "n": 300, "variances": "equal"}
    assert experiments.weights.cell(setting, 0) == experiments.weights.cell(setting, 0)


def test_standardising_ruins_variances_and_not_direct_lingam():
    setting = {"p": 10, "n": 1000, "error": "laplace"}
    for method, low, high in (("equal variances", 0.3, 0.8), ("DirectLiNGAM", 0.9, 1.0), ("variance order", 0.0, 0.8)):
        share = mean(experiments.competitors, "right", 4, scale="standardised", method=method, **setting)
        assert low <= share <= high, method
    for method in ("PC", "BIC"):
        raw, scaled = (
            experiments.competitors.cell({**setting, "scale": s, "method": method}, 0) for s in ("raw", "standardised")
        )
        assert raw == scaled


def test_agreement_counts_every_true_edge_once():
    for method in experiments.METHODS:
        setting = {"p": 8, "n": 300, "error": "mixed", "scale": "raw", "method": method}
        row = experiments.competitors.cell(setting, 1)
        assert np.isclose(row["right"] + row["reversed"] + row["no arrow"] + row["missed"], 1.0)


def test_the_search_grows_linearly():
    small, large = (experiments.runtime.cell({"p": p, "width": 2}, 0)["records"] for p in (50, 100))
    assert 1.8 < large / small < 2.3


def test_trees_are_found_with_more_rows():
    few, many = (mean(experiments.collapse, "SHD", 3, p=50, moral="nodewise", **{"n over log p": x}) for x in (15, 160))
    assert many < few


def test_complete_rows_run_out():
    setting = {"p": 15, "n": 1000, "rate": 0.3, "columns": "alike"}
    rows = experiments.missing.cell({**setting, "treatment": "complete rows"}, 0)
    kept = experiments.missing.cell({**setting, "treatment": "corrected"}, 0)
    assert rows["rows"] < 30 and kept["SHD"] <= rows["SHD"]


def test_within_the_tolerance_nothing_is_lost():
    assert mean(experiments.robustness, "wrong", 4, p=5, excess=1.0) == 0


def test_errors_fall_with_the_root_of_n():
    first, last = (experiments.rates.cell({"p": 20, "n": n}, 0) for n in (200, 12_800))
    for what in ("inverse", "scores", "graphical lasso"):
        assert 3 < first[what] / last[what] < 25


def test_every_study_is_found():
    assert {"weights", "collapse", "runtime", "competitors", "missing", "rates", "robustness"} <= {
        study.name for study in find_studies("linear_causal_networks").values()
    }
