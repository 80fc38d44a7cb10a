"""The studies of the whole SVM path: figures that repeat, that a broken method would change, and that are stored."""

import numpy as np
import pytest

from learnable.chapters.svm_regularization_path import experiments
from learnable.kernels import SVMPath


def once(study, **setting):
    """The figures of one cell, which must not change when it is run again."""
    figures = study.cell(setting, 0)
    assert figures == study.cell(setting, 0)
    return figures


def test_mixture_cell():
    narrow = once(experiments.mixture, n=60, gamma=5.0)
    wide = experiments.mixture.cell({"n": 60, "gamma": 0.1}, 0)
    assert narrow["bayes"] == wide["bayes"]  # paired: the same draw
    for figures in (narrow, wide):
        assert figures["bayes"] <= figures["error_best"] <= min(figures["error_first"], figures["error_last"])
        assert figures["error_at_10000"] == pytest.approx(figures["curve"][-1])
        assert max(figures["elbow"]) <= figures["elbow_largest"] <= min(60, figures["rank"] + 1)
    assert narrow["least_errors"] <= wide["least_errors"]
    assert narrow["rank"] > wide["rank"]


def test_length_cell():
    equal, unequal = (once(experiments.length, n=60, share=share, gamma=1.0) for share in (0.5, 0.25))
    assert equal["steps_per_point"] == pytest.approx(equal["steps"] / 30)
    assert unequal["steps_per_point"] == pytest.approx(unequal["steps"] / 15)
    # Every point but those that end on the left must enter the elbow and leave it again.
    assert equal["steps"] > 60


def test_timing_cell():
    first, second = (experiments.timing.cell({"n": 40}, 0) for _ in range(2))
    counts = ("events", "iterations")
    assert [first[k] for k in counts] == [second[k] for k in counts]
    assert first["ten_fits_over_path"] * first["path_over_one_fit"] == pytest.approx(10)
    assert first["events"] > 40


def test_choosing_cell():
    figures = once(experiments.choosing, n=60, gamma=1.0)
    for rule in ("exact", "grid", "default"):
        assert figures["error_best"] - 1e-3 <= figures[f"error_{rule}"] <= 0.6
        # The exact curve has the smallest value of all: no choice can promise less.
        assert figures["promise_exact"] <= figures[f"promise_{rule}"]


def test_many_features_cell():
    figures = once(experiments.many_features, p=50)
    assert figures["separable"] == 1.0
    assert 2 <= figures["margin_points"] <= 40
    for name in ("svm", "lda", "logistic"):
        assert figures[f"error_added_{name}"] == pytest.approx(
            figures[f"error_{name}"][-1] - figures[f"error_{name}"][0]
        )
        assert min(figures[f"error_{name}"]) >= 0.0227  # the Bayes risk is Phi(-2)
    # All three begin near the difference of the class means; the widest margin lies elsewhere.
    assert figures["angle_added_svm"] > 5
    assert abs(figures["angle_svm"][0] - figures["angle_lda"][0]) < 5


def test_many_classes_cell():
    figures = once(experiments.many_classes, data="khan", d=2308)
    assert figures["train_worst"] == 0.0
    assert figures["test_last"] <= figures["test_first"] < 0.5
    assert figures["cv_last"] < 0.2
    assert figures["log10_last"] < figures["log10_first"]


def test_published_draw_reads_a_copy_and_refuses_others(tmp_path, monkeypatch):
    monkeypatch.setenv("LEARNABLE_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="LEARNABLE_DATA"):
        experiments.published_draw.cell({"gamma": 1.0, "stop": 1e-4}, 0)
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 100)
    points = rng.normal(size=(200, 2)) + labels[:, None]
    for wrong in (labels[::-1] * 0, labels[:150]):
        rows = [f"{a:.6f},{b:.6f},{c}" for (a, b), c in zip(points, wrong, strict=False)]
        (tmp_path / "mixture.txt").write_text("\n".join(["x1,x2,y", *rows]))
        with pytest.raises(ValueError, match="mixture"):
            experiments.published_points()
    rows = [f"{a:.6f},{b:.6f},{c}" for (a, b), c in zip(points, labels, strict=True)]
    (tmp_path / "mixture.txt").write_text("\n".join(["x1,x2,y", *rows]))
    figures = once(experiments.published_draw, gamma=1.0, stop=1e-2)
    path = SVMPath(gamma=1.0, lam_min=1e-2).fit(*experiments.published_points())
    assert figures["least_errors"] == path.n_errors_.min()
    assert figures["change_points"] == np.count_nonzero(path.lambdas_ > 1e-2)


def test_lattice_error_and_exact_error():
    weight = np.array([[0.1, 0.4], [0.3, 0.2]])
    assert experiments.lattice_error(np.array([[1.0, -1.0], [1.0, 1.0]]), weight).tolist() == [
        pytest.approx(0.3),
        pytest.approx(0.5),
    ]
    assert experiments.exact_error(np.array([[1.0, 0.0]]), np.array([0.0]))[0] == pytest.approx(0.02275, abs=1e-5)


def test_the_stored_studies_have_the_directions_of_the_figures():
    mixture = experiments.mixture.stored
    added, se = mixture.mean("error_added", gamma=1.0), mixture.se("error_added", gamma=1.0)
    assert added > 3 * se, "Figure 3: a large cost errs more often"
    wide = np.array(mixture.mean("curve", gamma=0.1))
    assert wide.argmin() > len(wide) // 2, "Figure 4: the wide kernel wants little regularisation"
    many = experiments.many_features.stored
    for key in ("svm", "lda", "logistic"):
        for figure in ("angle", "error"):
            assert many.mean(f"{figure}_added_{key}", p=50) > 3 * many.se(f"{figure}_added_{key}", p=50), "Figure 10"
    classes = experiments.many_classes.stored
    for data, d in (("simulated", 4000), ("simulated", 16063), ("khan", 2308)):
        assert classes.mean("train_worst", data=data, d=d) == 0, "Figure 11"
    added = classes.mean("test_added", data="simulated", d=4000)
    assert added > 3 * classes.se("test_added", data="simulated", d=4000)
