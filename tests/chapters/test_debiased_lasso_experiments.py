"""The studies of the debiased lasso: small cells, the same figures twice, and what is stored."""

import pytest

from learnable.chapters.debiased_lasso import experiments

SMALL = {"n": 120, "p": 60, "s0": 3, "size": 1.0}
CELLS = {
    "tables": [{**SMALL, "method": method} for method in ("default", "as printed", "multi-split", "ridge")],
    "gaussian": [{**SMALL, "method": "default"}],
    "wide": [
        {"n": 60, "p": p, "method": method} for p, method in ((90, "debiased"), (90, "lasso, then OLS"), (40, "OLS"))
    ],
    "riboflavin_size": [{"n": 40, "p": 120, "s0": 3, "size": 2.0}],
    "twins": [{"n": 80, "p": 40, "correlation": 0.95}],
    "sparsity": [{"n": 60, "p": 90, "s0": s0, "noise": "known"} for s0 in (2, 20)],
    "power": [{"n": 80, "p": 100, "size": size} for size in (0.05, 0.8)],
}


@pytest.mark.parametrize("name", CELLS)
def test_a_cell_gives_the_same_figures_twice_and_another_repetition_others(name):
    one = getattr(experiments, name)
    for setting in CELLS[name][:1]:
        first = one.cell(setting, 0)
        experiments._fitted.cache_clear()
        experiments._design.cache_clear()
        assert one.cell(setting, 0) == first
        assert one.cell(setting, 1) != first


def test_intervals_of_the_tables_cover_and_the_printed_penalty_inflates_the_noise():
    default, printed, split, ridge = (experiments.tables.cell(setting, 0) for setting in CELLS["tables"])
    assert default["TP"] == printed["TP"] == split["TP"] == ridge["TP"] == 1.0  # effects of eleven standard errors
    assert 0.9 < default["coverage"] < 1 and default["coverage"] == pytest.approx(1 - default["FP"], abs=0.02)
    assert split["FP"] == 0.0 and ridge["FP"] < 0.1
    # The scaled lasso with ten times the penalty is zero: sigma is the standard deviation of y, near two here.
    assert printed["sigma"] > 1.6 > 1.3 > default["sigma"]


def test_standardised_errors_are_normal():
    found = experiments.gaussian.cell(CELLS["gaussian"][0], 0)
    assert 0.7 < found["slope"] < 1.2 and abs(found["intercept"]) < 0.3
    assert all(a <= b for a, b in zip(found["cdf"], found["cdf"][1:], strict=False))


def test_with_more_columns_than_rows_debiasing_keeps_its_level_and_the_naive_way_does_not():
    debiased, naive, least = (experiments.wide.cell(setting, 0) for setting in CELLS["wide"])
    assert debiased["FP"] < 0.1 and naive["FP"] > 0.2
    assert least["kept"] == 40 and least["FP"] < 0.2


def test_a_close_twin_makes_intervals_longer():
    lengths = [
        experiments.twins.cell({"n": 80, "p": 40, "correlation": correlation}, 0)["length"] for correlation in (0, 0.95)
    ]
    assert 1.5 < lengths[1] / lengths[0] < 3.6  # at most 1 / sqrt(1 - 0.95^2) = 3.2, and chance


def test_many_effects_raise_the_remainder_and_lower_the_coverage():
    few, many = (experiments.sparsity.cell(setting, 0) for setting in CELLS["sparsity"])
    assert many["remainder"] > 1.5 * few["remainder"] and many["coverage_S"] < few["coverage_S"]


def test_large_effects_are_found_and_tiny_ones_are_not():
    tiny, large = (experiments.power.cell(setting, 0)["TP"] for setting in CELLS["power"])
    assert tiny < 0.4 < 0.9 < large
    genes = experiments.riboflavin_size.cell(CELLS["riboflavin_size"][0], 0)
    assert genes["TP"] > 0.8 and genes["found"] <= genes["TP"] and 0 < genes["mu"] < 1
