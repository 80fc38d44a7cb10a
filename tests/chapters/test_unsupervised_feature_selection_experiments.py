"""The studies of the chapter: the same cell gives the same figures, and the figures show what the method promises."""

import pytest

from learnable.chapters.unsupervised_feature_selection import experiments


def test_the_search_finds_four_clouds_where_all_columns_do_not():
    found, all_columns = (
        experiments.synthetic.cell({"name": "4-class", "method": method}, 0)
        for method in ("FSSEM-k-TR-STD", "EM-k-STD")
    )
    assert found["clusters"] == 4 and found["recall"] == 1 and found["error"] < 6
    assert all_columns["clusters"] < 4 and all_columns["error"] > 20 and all_columns["features"] == 5
    assert found["Bayes"] == all_columns["Bayes"]  # the same sample
    assert found == experiments.synthetic.cell({"name": "4-class", "method": "FSSEM-k-TR-STD"}, 0)


def test_without_normalisation_ml_takes_one_column():
    found = experiments.synthetic.cell({"name": "4-class", "method": "FSSEM-k-ML-STD-notnorm"}, 0)
    assert found["features"] == 1 and found["error"] > 40


def test_noise_does_not_disturb_the_search():
    found = experiments.noise.cell({"n_noise": 8, "method": "FSSEM-k-TR-STD"}, 0)
    assert found["clusters"] == 4 and found["error"] < 6


def test_iris_by_kmeans_needs_two_columns():
    found = experiments.real_data.cell({"name": "iris", "method": "FSS-Kmeans-ML-STD"}, 0)
    assert found["clusters"] == 3 and found["features"] < 2.6 and found["error"] < 8


@pytest.mark.parametrize("method", [*experiments.METHODS, *experiments.REAL_METHODS])
def test_names_of_the_source_stand_for_estimators(method):
    model = experiments.build(method, 3, 8)
    assert model.find_k == ("-k" in method) and model.n_components == (8 if "-k" in method else 3)
    assert model.standardize == ("STD" in method) and model.normalize == ("notnorm" not in method)
    assert (model.criterion == "ml") == ("ML" in method) and (model.clusterer == "kmeans") == ("Kmeans" in method)
    assert (model.search == "all") == (not method.startswith("FSS"))
