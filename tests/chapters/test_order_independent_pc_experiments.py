"""The studies of the order-independent algorithms: small cells, the same figures twice, and what is stored."""

import pytest

from learnable.chapters.order_independent_pc import experiments

CELLS = {
    "skeletons": {"p": 60, "n": 40, "orders": 4, "alpha": 0.04},
    "orientations": {"p": 40, "n": 40, "n_neighbors": 2, "orders": 3, "alpha": 0.04},
    "low_dimensional": {"p": 15, "n": 300, "n_neighbors": 2, "orders": 3, "alpha": 0.01},
    "hidden": {"p": 12, "n": 60, "n_neighbors": 2, "orders": 2, "alpha": 0.05},
    "effects": {"p": 20, "n": 40, "n_draws": 2, "alpha": 0.05},
}


@pytest.mark.parametrize("name", CELLS)
def test_a_cell_gives_the_same_figures_twice_and_another_repetition_others(name):
    one = getattr(experiments, name)
    first = one.cell(CELLS[name], 0)
    assert one.cell(CELLS[name], 0) == first
    assert one.cell(CELLS[name], 1) != first


def test_stable_skeletons_agree_and_list_variants_have_no_variance():
    found = experiments.skeletons.cell(CELLS["skeletons"], 0)
    assert found["stable differs"] == 0 and found["stable edges"] <= found["PC edges"]
    assert found["always"] <= found["PC edges"] <= found["ever"]
    assert found["PC tests 0"] == found["stable tests 0"] >= 60 * 59 // 2
    twelve = experiments.orientations.cell(CELLS["orientations"], 0)
    assert twelve["LCPC-stable variance"] == twelve["LMPC-stable variance"] == 0
    assert len([name for name in twelve if name.endswith("SHD")]) == 12


def test_levels_see_the_same_graphs():
    few, many = (experiments.skeletons.cell({**CELLS["skeletons"], "alpha": alpha}, 0) for alpha in (0.001, 0.1))
    assert few["stable edges"] < many["stable edges"] and few["PC tests"] < many["PC tests"]


def test_consistency_counts_exact_graphs():
    exact = [experiments.consistency.cell({"graph": "example 2", "n": n}, 0)["exact"] for n in (100, 20_000)]
    assert exact == [False, True]


def test_stored_results_have_the_size_they_say():
    stored = experiments.skeletons.stored
    assert len(stored.rows) == 7 and all(row.count["PC edges"] == 20 for row in stored.rows)
    assert all(row.setting["p"] == 1000 and row.setting["orders"] == 20 for row in stored.rows)
