"""The studies of the chapter: the same cell gives the same figures, and the figures show what the method promises."""

import numpy as np

from learnable.chapters.transfer_forests import experiments


def test_transfer_follows_the_spiral():
    setting = {"n_target": 16, "gamma": 0.5, "source": "spiral", "n_estimators": 30}
    alone, shared = (
        np.mean([experiments.spiral.cell({**setting, "method": method}, r)["accuracy"] for r in range(3)])
        for method in ("forest", "abstain")
    )
    assert shared > alone + 0.1
    cell = {**setting, "method": "mahalanobis"}
    assert experiments.spiral.cell(cell, 0) == experiments.spiral.cell(cell, 0)


def test_saying_no_to_every_digit_scores_ninety_percent():
    found = experiments.digits.cell({"n": 20, "drawn": "as they come", "method": "forest"}, 0)
    assert 0.895 < found["always no"] < 0.905
    assert found["accuracy"] > 0.88 and found["balanced"] < 0.7


def test_videos_are_easier_than_frames():
    setting = {"overlap": 1.0, "gamma": -1.0, "propagate": "none", "max_depth": 8}
    found = experiments.gestures.cell(setting, 0)
    assert found["video error"] < found["frame error"] < 0.5


def test_a_motion_image_without_memory_is_worse_for_frames():
    short, long = (experiments.motion_grid.cell({"tau": tau, "xi": 24}, 0)["frame error"] for tau in (1, 8))
    assert long < short


def test_the_source_steadies_the_threshold():
    found = experiments.thresholds.at("lecture")
    spread = [np.sqrt(found.mean("squared error", gamma=gamma)) for gamma in (0.0, 0.5)]
    assert spread[0] > 3 * spread[1]
