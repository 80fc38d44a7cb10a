"""The studies of the chapter, small: the same cell gives the same figures, and hubs pay on graphs that have them."""

from learnable.chapters.hub_graphical_models import experiments


def without_time(figures):
    return {name: value for name, value in figures.items() if name != "seconds"}


def test_hubs_find_more_edges_and_a_cell_repeats_itself():
    hubs, plain = (
        experiments.competitors.cell({"setup": "hubs", "p": 100, "method": method}, 0)
        for method in ("hubs, λ3 = 1", "graphical lasso")
    )
    assert hubs["true edges"] == plain["true edges"]  # the same data
    assert hubs["correct at equal edges"] > plain["correct at equal edges"]
    assert hubs["hub edges at equal edges"] > plain["hub edges at equal edges"]
    again = experiments.competitors.cell({"setup": "hubs", "p": 100, "method": "graphical lasso"}, 0)
    assert without_time(again) == without_time(plain)


def test_a_covariance_graph_with_hubs_has_more_of_their_edges():
    hubs, plain = (
        experiments.covariance_graphs.cell({"p": 200, "method": method}, 0)
        for method in ("hubs, λ3 = 1", "thresholded")
    )
    assert hubs["hub edges at equal edges"] > plain["hub edges at equal edges"]


def test_screening_gives_the_same_objective():
    apart, whole = (
        experiments.screening.cell({"p": 100, "lam2": 0.9, "screen": screen}, 0) for screen in (True, False)
    )
    assert apart["components"] == whole["components"] > 1 and apart["largest"] < 100
    assert abs(apart["objective"] - whole["objective"]) < 1e-3
