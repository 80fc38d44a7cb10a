"""The studies of the chapter on comparing classifiers: shared partitions, failures that are kept, and going on."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from learnable import datasets
from learnable.book.study import reproduce
from learnable.chapters.classifier_benchmark import experiments
from learnable.chapters.classifier_benchmark.theory import roster

SMALL = {"repetitions": 1, "dataset": ["iris", "lymphography"], "classifier": ["lda", "qda", "zero_r"]}


def small(**changes):
    grid = {**SMALL, "scale": ["medium"], **changes}
    return dataclasses.replace(experiments.tournament, paper=(grid,), lecture=(grid,))


def test_a_cell_gives_the_same_figures_twice_and_shares_its_partitions():
    setting = {"dataset": "iris", "classifier": "knn", "scale": "medium"}
    found = experiments.tournament.cell(setting, 0)
    assert found == experiments.tournament.cell(setting, 0)
    assert 0.9 < found["accuracy"] < 1 and not found["failed"]
    other = {**setting, "classifier": "lda", "scale": "full"}
    same, again = (experiments.tournament.random_state(one, 0).random() for one in (setting, other))
    assert same == again != experiments.tournament.random_state(setting, 1).random()


def test_a_failed_cell_is_kept_and_counted():
    result = small().at("lecture")
    assert result.mean("failed", dataset="lymphography", classifier="qda") == 1
    table = experiments.accuracy_table(result)
    assert list(table.columns) == ["lda", "qda", "zero_r"] and list(table.index) == ["iris", "lymphography"]
    assert np.isnan(table.loc["lymphography", "qda"]) and table.notna().to_numpy().sum() == 5
    assert experiments.accuracy_table(result, "kappa").loc["iris", "zero_r"] == 0


def test_an_interrupted_run_goes_on_from_its_journal(tmp_path, monkeypatch):
    """After half of the cells the process is gone; the second call runs the other half only."""
    study = small()
    calls = []
    score = experiments._score
    monkeypatch.setattr(experiments, "_score", lambda *args: calls.append(args[0].name) or score(*args))
    reproduce([small(dataset=["iris"])], folder=tmp_path)
    assert len(calls) == 3
    (journal,) = tmp_path.rglob("*.jsonl")
    journal.write_bytes(journal.read_bytes()[:-20])  # the last line was being written
    whole = reproduce([study], folder=tmp_path)[0]
    assert len(calls) == 3 + 1 + 3
    pd.testing.assert_frame_equal(experiments.accuracy_table(whole), experiments.accuracy_table(study.at("lecture")))


def test_sets_are_those_of_the_source_and_prepared():
    names = {entry.get("load") for entry in datasets.benchmark_sets()}
    assert len(set(experiments.MEDIUM_SETS)) == 36 and set(experiments.MEDIUM_SETS) <= names
    X, y, split = experiments.load_set("lymphography")
    assert split is None and len(y) == 142 + 4 and len(np.unique(y)) == 3  # of 148; the class with two rows is gone
    assert X.mean(axis=0) == pytest.approx(np.zeros(18), abs=1e-9)
    X, y, split = experiments.load_set("hayes_roth")
    assert len(split) == len(y) == len(X) and split.sum() == 28


def test_the_rest_of_the_roster_has_the_grids_of_the_source():
    rest = experiments.rest_of_the_roster
    assert {setting["classifier"] for setting, _ in rest.cells("paper")} == {one.name for one in roster("full")[19:]}
    svm = next(one for one in roster("full") if one.name == "svm_rbf")
    assert len(svm.grid["C"]) * len(svm.grid["gamma"]) == 500
    found = rest.cell({"dataset": "lenses", "classifier": "centroid"}, 0)
    assert 0 <= found["accuracy"] <= 1


def test_nested_choice_is_not_the_choice_on_all_rows():
    found = experiments.protocols.cell({"dataset": "tae", "classifier": "knn"}, 0)
    assert found["optimism"] == pytest.approx(found["paper"] - found["nested"], abs=1e-9)
    assert found["paper"] != found["nested"]


def test_bagging_helps_a_tree_and_not_a_neighbour():
    setting = {"dataset": "sonar", "ensemble": "bagging"}
    tree = experiments.ensembles.cell({**setting, "base": "tree"}, 0)
    nearest = experiments.ensembles.cell({**setting, "base": "1nn"}, 0)
    assert tree["gain"] > 0.02 and abs(nearest["gain"]) < 0.04
    assert tree["gain"] == pytest.approx(tree["several"] - tree["single"], abs=1e-9)


def test_noise_study_ranks_six_classifiers():
    study = dataclasses.replace(experiments.partition_noise, lecture=({"repetitions": 1, "sets": [1]},))
    row = study.at("lecture").rows[0].mean
    ranks = [value for name, value in row.items() if name.startswith("rank_")]
    assert len(ranks) == 6 and sum(ranks) == pytest.approx(21)
    assert row["difference"] == pytest.approx(row["rank_rf"] - row["rank_svm_rbf"])
