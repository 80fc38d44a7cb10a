"""The studies of the boosting path: each runs, repeats itself, and says what its method must say."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from learnable.book.study import find_studies
from learnable.chapters.boosting_l1_path import experiments
from learnable.chapters.boosting_l1_path.theory import BestFirstTrees
from learnable.ensembles import BoostedPathClassifier, l1_constrained_path
from learnable.ensembles.boosting_path import stepping

STUDIES = find_studies("boosting_l1_path")
SMALL = {
    "squared_paths": {"data": "diabetes", "steps": 600},
    "logistic_path": {"eps": 0.003, "steps": 300},
    "spam_trees": {"method": "exponential", "steps": 12},
    "noisy_spheres": {"method": "logistic", "n": 200, "steps": 40},
    "spam_rates": {"rate": 10.0},
    "polynomial_limit": {"eps": 0.01, "steps": 10_000},
    "same_norm": {"norm": 5.0},
    "l2_limit": {"eps": 0.01, "steps": 5000},
}


@pytest.fixture(scope="module")
def figures():
    return {name: STUDIES[name].cell(setting, 0) for name, setting in SMALL.items()}


def test_every_study_has_a_small_setting():
    assert set(STUDIES) == set(SMALL)


@pytest.mark.parametrize("name", [name for name in SMALL if name not in ("logistic_path", "spam_trees")])
def test_the_same_cell_gives_the_same_figures(figures, name):
    assert STUDIES[name].cell(SMALL[name], 0) == figures[name]


def test_diabetes_parts_where_variable_7_turns_back(figures):
    found = figures["squared_paths"]
    assert (found["turns"], found["enters"]) == (7, 8)
    assert found["turn_norm"] == pytest.approx(1914.6, abs=0.1)
    # The step is 1/600 of the norm: before the turn the gap is of that size, after it several times larger.
    assert found["gap_before"] < 2 / 600 < 4 / 600 < found["gap_after"]
    assert found["apart_norm"] > found["turn_norm"], "boosting turns later than the lasso"


def test_prostate_is_monotone_and_the_gap_falls_with_the_step():
    coarse, fine = (STUDIES["squared_paths"].cell({"data": "prostate", "steps": k}, 0) for k in (300, 3000))
    assert coarse["turns"] is None and fine["gap_before"] < coarse["gap_before"] / 5


def test_the_logistic_path_is_followed_to_two_steps(figures):
    assert figures["logistic_path"]["gap"] < 2.0 and figures["logistic_path"]["norm"] == pytest.approx(0.9, rel=0.03)


def test_trees_lower_the_error_and_margins_stay_in_their_range(figures):
    spam, spheres = figures["spam_trees"], figures["noisy_spheres"]
    assert spam["end_norm"] == pytest.approx(1.2) and spheres["end_norm"] == pytest.approx(4.0)
    assert spam["end_error"] < 0.2 and spheres["end_error"] < 0.4
    for found in (spam, spheres):
        assert -1.0 - 1e-12 <= min(found["margins"]) and max(found["margins"]) <= 1.0
        assert found["rise"] == pytest.approx(found["end_error"] - found["stop_error"], abs=1e-9)


def test_large_steps_still_predict(figures):
    assert figures["spam_rates"]["trees"] <= 4 and figures["spam_rates"]["error"] < 0.2


def test_the_walk_comes_near_to_the_linear_program(figures):
    found = figures["polynomial_limit"]
    assert found["nonzeros"] <= 45 and found["shares"][-1] <= 1.0 + 1e-9
    assert found["distances"][-1] < 0.7 * found["distances"][0] and found["shares"][-1] > 0.5 * found["shares"][0]


def test_boosting_and_the_exact_fit_agree_at_a_small_norm(figures):
    assert figures["same_norm"]["gap"] < 0.01 and figures["same_norm"]["agree"] > 0.98


def test_l2_steps_use_everything_and_turn_to_the_l2_separator(figures):
    found = figures["l2_limit"]
    assert found["nonzeros"] == 45 and found["cosine"] > found["optima"]


def test_messages_with_both_labels_are_found():
    X, y = experiments._spam()
    rows = np.flatnonzero(experiments._contradictory(X, y))
    assert len(rows) == 6 and X.shape == (4597, 57)
    for i in rows:
        assert any((X[i] == X[k]).all() and y[i] != y[k] for k in rows)


def test_best_first_trees_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5)).round(1)  # with ties
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=400) > 0, 1.0, -1.0)
    for leaves in (2, 5, 12):
        weights = rng.exponential(size=400)
        rule = BestFirstTrees(leaves).prepare(X).fit(weights, y)
        peer = DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=0).fit(X, y, sample_weight=weights)
        assert rule.n_leaves == leaves
        np.testing.assert_array_equal(rule.outputs, peer.predict(X))
        np.testing.assert_array_equal(rule.predict(X), rule.outputs)


def test_a_tree_stops_where_nothing_is_left_to_gain():
    rule = BestFirstTrees(10).prepare([[0.0], [1.0]]).fit(np.array([0.5, 0.5]), np.array([-1.0, 1.0]))
    assert rule.n_leaves == 2 and rule.predict([[0.4], [0.6]]).tolist() == [-1.0, 1.0]


def test_trees_by_size_can_be_boosted():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 3))
    y = np.where((X**2).sum(axis=1) > 2.4, 1, 0)
    model = BoostedPathClassifier(BestFirstTrees(6), n_steps=60).fit(X, y)
    assert model.score(X, y) > 0.95 and np.abs(model.alphas_).sum() == pytest.approx(6.0)


def test_two_correlations_are_shared_as_by_soft_thresholding():
    """The lecture's smallest example: orthonormal columns, correlations 3 and 2, six steps of one half."""
    run = stepping.eps_boost(np.eye(2), [3.0, 2.0], "squared", eps=0.5, n_steps=6, record=np.arange(7))
    exact = l1_constrained_path(np.eye(2), [3.0, 2.0], "squared", [1.0, 2.0, 3.0]).coefs
    np.testing.assert_allclose(run.coefs[[2, 4, 6]], exact, atol=1e-12)
