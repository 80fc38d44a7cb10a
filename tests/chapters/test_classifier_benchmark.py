"""The claims of Fernandez-Delgado et al. (2014), and of the tests that suit such a table."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine, make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.kernel_ridge import KernelRidge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from learnable import selection as cb
from learnable.chapters.classifier_benchmark import baselines, published, theory
from learnable.selection import benchmark, significance


def holes(seed=0, shape=(30, 7)):
    rng = np.random.default_rng(seed)
    table = np.round(rng.random(shape), 1)
    table[rng.random(shape) < 0.1] = np.nan
    table[:, 0] = np.where(np.isnan(table[:, 0]), 0.5, table[:, 0])
    return table


def test_area_below_the_coverage_curve_is_pma():
    for seed in range(5):
        table = holes(seed)
        board = cb.leaderboard(pd.DataFrame(table)).to_frame()
        for j in range(table.shape[1]):
            assert theory.coverage_curve(table, j).area == pytest.approx(board.loc[j, "pma"] / 100, abs=1e-12)


def test_coverage_curve_is_the_share_above():
    table = np.random.default_rng(3).random((40, 4))
    curve = theory.coverage_curve(table, 2)
    ratio = 100 * table[:, 2] / table.max(axis=1)
    for x, share in zip(curve.x, curve.share, strict=True):
        assert share == pytest.approx(np.mean(ratio > x + 1e-9))
    assert curve.x[0] == 0 and curve.x[-1] == 100 and curve.share[-1] == 0


@pytest.mark.parametrize("kind", ["proportional", "decreasing", "complexity"])
def test_weights_sum_to_the_number_of_data_sets(kind):
    values = np.random.default_rng(6).random(30)
    weights = theory.property_weights(values, kind=kind)
    assert weights.min() >= 0 and weights.sum() == pytest.approx(30)
    assert np.all(np.diff(weights[np.argsort(values)]) * (1 if kind == "proportional" else -1) >= 0)
    table = np.random.default_rng(7).random((30, 3))
    alike = theory.property_weights(np.full(30, 0.4), kind=kind)
    assert theory.weighted_accuracy(table, alike) == pytest.approx(table.mean(axis=0))


def test_printed_denominator_of_the_decreasing_weights_is_negative():
    values = np.array([100.0, 300.0, 200.0])
    printed = 3 * (values.max() - values) / (values.max() - values.sum())
    assert printed.min() < 0
    assert theory.property_weights(values, kind="decreasing") == pytest.approx([2, 0, 1])


def test_weighted_accuracy_leaves_failures_out():
    table = pd.DataFrame({"a": [0.9, 0.6], "b": [0.5, np.nan]})
    found = theory.weighted_accuracy(table, [0.5, 1.5])
    assert found.to_dict() == pytest.approx({"a": 0.675, "b": 0.5})


def test_prepare_numbers_scales_and_imputes():
    frame = pd.DataFrame(
        {
            "size": [1.0, 2.0, np.nan, 5.0, 8.0, 8.0],
            "colour": pd.Categorical(["b", "a", "b", None, "c", "a"], categories=["c", "b", "a"]),
            "flag": [True, False, True, True, False, False],
            "same": [7.0] * 6,
        }
    )
    kept = frame.copy()
    X, y = theory.prepare(frame, ["u", "v"] * 3, min_count=3)
    pd.testing.assert_frame_equal(frame, kept)
    assert X[2, 0] == 0 and X[3, 1] == 0 and (X[:, 3] == 0).all()
    there = ~np.isnan(frame["size"].to_numpy())
    assert X[there, 0].mean() == pytest.approx(0) and X[there, 0].std() == pytest.approx(1)
    assert X[4, 1] < X[0, 1] < X[1, 1]  # in the order of the declared categories
    before, _ = theory.prepare(frame, ["u", "v"] * 3, min_count=3, missing="zero_before")
    assert before[:, 0].mean() == pytest.approx(0) and before[2, 0] == before[:, 0].min() < -1
    assert y.tolist() == ["u", "v"] * 3


def test_prepare_drops_rare_classes_and_knows_no_units():
    rng = np.random.default_rng(9)
    X, y = rng.normal(size=(20, 3)), np.repeat([0, 1, 2], [10, 8, 2])
    plain, labels = theory.prepare(X, y)
    assert plain.shape == (18, 3) and set(labels) == {0, 1}
    for factor in (1e-8, 1e8, 1e160):
        np.testing.assert_allclose(theory.prepare(X * factor, y)[0], plain, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(theory.prepare(X + 1e4, y)[0], plain, rtol=1e-7, atol=1e-7)


def test_prepare_keeps_a_column_of_which_nothing_is_there():
    X, _ = theory.prepare([[np.nan, 1.0], [np.nan, 2.0]] * 4, [0, 1] * 4)
    assert (X[:, 0] == 0).all() and np.isfinite(X).all()


@parametrize_with_checks(
    [baselines.KernelELM(), baselines.PNN(), baselines.RDA(), baselines.RotationForest(n_estimators=3, random_state=0)],
    legacy=False,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_kernel_elm_is_kernel_ridge_on_signs():
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    T = np.where(y[:, None] == np.arange(3), 1.0, -1.0)
    ours = baselines.KernelELM(C=8.0, gamma=0.05).fit(X, y)
    ridge = KernelRidge(alpha=1 / 8.0, kernel="rbf", gamma=0.05).fit(X, T)
    np.testing.assert_allclose(ours.decision_function(X), ridge.predict(X), atol=1e-8)
    two = baselines.KernelELM(C=8.0, gamma=0.05).fit(X[y < 2], y[y < 2])
    plus = KernelRidge(alpha=1 / 8.0, kernel="rbf", gamma=0.05).fit(X[y < 2], 2.0 * y[y < 2] - 1)
    np.testing.assert_allclose(two.decision_function(X), plus.predict(X), atol=1e-8)


@pytest.mark.parametrize("rule", [baselines.KernelELM(), baselines.PNN()])
def test_distances_do_not_cancel_far_from_the_origin(rule):
    rng = np.random.default_rng(1)
    X = np.round(rng.normal(size=(200, 3)) * 2**20) / 2**20  # loses no digit at 2^24
    y = (X[:, 0] + rng.normal(size=200) > 0).astype(int)
    near, far = (rule.fit(X + by, y)._scores(X + by) for by in (0.0, 2.0**24))
    np.testing.assert_allclose(far, near, atol=1e-6)


def test_whole_path_from_one_eigendecomposition():
    rng = np.random.default_rng(10)
    Z = rng.normal(size=(40, 5))
    K, T = Z @ Z.T, rng.choice([-1.0, 1.0], size=(40, 3))  # of rank 5: singular without the ridge
    path = baselines.ridge_path(K, T, [2.0**-5, 1.0, 2.0**14])
    for C, weights in zip([2.0**-5, 1.0, 2.0**14], path, strict=True):
        np.testing.assert_allclose(weights, np.linalg.solve(K + np.eye(40) / C, T), rtol=1e-6, atol=1e-8 * C)


def test_pnn_goes_from_nearest_neighbour_to_majority():
    X, y = make_classification(120, n_features=5, weights=[0.7], random_state=0)
    points = np.random.default_rng(11).normal(size=(200, 5))
    nearest = KNeighborsClassifier(1).fit(X, y).predict(points)
    assert (baselines.PNN(spread=1e-3).fit(X, y).predict(points) == nearest).all()
    assert (baselines.PNN(spread=1e4).fit(X, y).predict(points) == 0).all()
    half = baselines.PNN(spread=2.0).fit([[0.0], [2.0]], [0, 1]).predict_proba([[0.0]])
    assert half[0].tolist() == pytest.approx([2 / 3, 1 / 3])  # the far point counts half


def test_rda_ends_are_lda_and_qda():
    X, y = load_iris(return_X_y=True)
    linear = baselines.RDA(pooling=1.0, shrinkage=0.0).fit(X, y)
    lda = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    assert (linear.predict(X) == lda.predict(X)).all()
    scatter = sum((X[y == c] - X[y == c].mean(0)).T @ (X[y == c] - X[y == c].mean(0)) for c in range(3))
    np.testing.assert_allclose(linear.covariances_[1], scatter / 150)
    quadratic = baselines.RDA(pooling=0.0, shrinkage=0.0).fit(X, y)
    np.testing.assert_allclose(quadratic.covariances_[2], np.cov(X[y == 2].T, bias=True))
    assert (quadratic.predict(X) == QuadraticDiscriminantAnalysis().fit(X, y).predict(X)).mean() > 0.98
    sphere = baselines.RDA(pooling=0.3, shrinkage=1.0).fit(X, y).covariances_[0]
    np.testing.assert_allclose(sphere, np.eye(4) * sphere[0, 0], atol=1e-15)


def test_rda_shrinks_towards_the_mean_variance():
    X, y = load_iris(return_X_y=True)
    found = baselines.RDA(pooling=0.5, shrinkage=0.3).fit(X, y)
    scatter = np.array([49 * np.cov(X[y == c].T) for c in range(3)])
    for own, got in zip(scatter, found.covariances_, strict=True):
        mixed = (0.5 * own + 0.5 * scatter.sum(axis=0)) / (0.5 * 50 + 0.5 * 150)
        variance = np.mean(np.diag(mixed))
        np.testing.assert_allclose(got, 0.7 * mixed + 0.3 * variance * np.eye(4), rtol=1e-10)
        assert np.trace(got) == pytest.approx(4 * variance)  # the total variance stays


def test_rda_refuses_a_singular_covariance():
    X, y = np.random.default_rng(12).normal(size=(12, 20)), np.arange(12) % 2
    with pytest.raises(ValueError, match="shrinkage"):
        baselines.RDA(pooling=0.0, shrinkage=0.0).fit(X, y)
    assert baselines.RDA(pooling=0.0, shrinkage=0.5).fit(X, y).predict(X).shape == (12,)


@pytest.mark.parametrize("d", [1, 2, 5, 7])
def test_rotations_are_orthogonal_blocks(d):
    rng = np.random.default_rng(13)
    X, y = rng.normal(size=(60, d)), rng.integers(3, size=60)
    forest = baselines.RotationForest(4, random_state=0).fit(X, y)
    for R in forest.rotations_:
        np.testing.assert_allclose(R.T @ R, np.eye(d), atol=1e-10)
        assert (np.count_nonzero(R, axis=0) <= 3).all()
    assert not np.allclose(forest.rotations_[0], forest.rotations_[1]) or d == 1


def test_rotation_forest_beats_its_trees_and_repeats_itself():
    X, y = make_classification(400, n_features=12, n_informative=8, random_state=1)
    forest = baselines.RotationForest(20, random_state=0).fit(X[:200], y[:200])
    tree = DecisionTreeClassifier(random_state=0).fit(X[:200], y[:200])
    assert forest.score(X[200:], y[200:]) > tree.score(X[200:], y[200:]) + 0.03
    again = baselines.RotationForest(20, random_state=0).fit(X[:200], y[:200])
    assert (again.predict_proba(X) == forest.predict_proba(X)).all()


def test_roster_has_names_grids_and_families():
    medium, full = theory.roster(random_state=3), theory.roster("full")
    assert len({one.name for one in full}) == len(full) == 36 and len(medium) == 19
    assert {one.name for one in medium} < {one.name for one in full}
    forest = next(one for one in medium if one.name == "rf")
    assert forest.grid_for(5) == {"max_features": [2, 4]} and forest.grid_for(1) == {"max_features": [1]}
    assert forest.estimator.random_state == 3
    printed = published.published_results().index
    assert {one.printed for one in full} - {None} <= set(printed)
    for one in full:
        for name, values in one.grid.items():
            one.estimator.set_params(**{name: values[0]})


def test_published_ranks_average_ninety():
    printed = published.published_results()
    assert len(printed) == 179 and printed.index.is_unique
    assert printed["rank"].mean() == pytest.approx(90, abs=0.01)
    counts = printed["family"].value_counts()
    want = {"DA": 20, "BY": 6, "NNET": 21, "SVM": 10, "DT": 14, "RL": 12, "BST": 20, "BAG": 24, "STC": 2, "RF": 8}
    assert {name: counts[name] for name in want} == want and len(counts) == 17
    assert printed.loc["svm_C", ["accuracy", "kappa", "pama", "p95", "pma"]].tolist() == [81.8, 62.2, 10.7, 70.2, 92.3]
    shares = printed["pama"].dropna() * 1.21
    assert (shares - shares.round()).abs().max() < 0.1  # shares of 121 data sets


def test_family_means_of_figure_6():
    printed = published.published_results()
    table = published.family_summary(printed["rank"], printed["family"])
    assert table.loc["RF", ["min", "max"]].tolist() == [32.9, 60.5]
    assert table.loc["RF", "mean"] == pytest.approx(46.7, abs=0.7)
    assert table.loc["SVM", "mean"] == pytest.approx(57.1, abs=0.06)  # svmlight is a machine, not a network
    assert table.index[0] == "RF" and table["count"].sum() == 179
    shuffled = printed["family"].sample(frac=1, random_state=0)
    pd.testing.assert_frame_equal(published.family_summary(printed["rank"], shuffled), table)


def test_ensembles_help_weak_trees_not_neighbours():
    pairs = published.ensemble_vs_base()
    assert (
        pairs.loc[["J48", "REPTree", "PART", "RandomTree"], ["bagging", "multiboost"]].max(axis=1)
        < pairs.loc[["J48", "REPTree", "PART", "RandomTree"], "base"]
    ).all()
    assert pairs.loc["IBk", "multiboost"] > pairs.loc["IBk", "base"] > pairs.loc["IBk", "bagging"]
    assert pairs.loc["RandomForest", "base"] < pairs.loc["RandomForest", "bagging"]
    assert np.isnan(pairs.loc["LWL", "multiboost"])


GOOD = [[0.9, 0.8, 0.7], [0.5, 0.6, 0.7]]
SHARED = cb.make_partitions(np.arange(40) % 2, random_state=0)


@pytest.mark.parametrize(
    "call, name",
    [
        (lambda: cb.friedman_ranks([0.1, 0.2]), "accuracy"),
        (lambda: cb.friedman_ranks([[np.nan, np.nan]]), "accuracy"),
        (lambda: cb.friedman_ranks([[np.inf, 0.2]]), "accuracy"),
        (lambda: cb.friedman_ranks([[-0.1, 0.2]]), "accuracy"),
        (lambda: cb.friedman_ranks(np.empty((0, 3))), "accuracy"),
        (lambda: cb.leaderboard(GOOD, threshold=0), "threshold"),
        (lambda: cb.friedman_test([[0.1, 0.2], [0.3, 0.4]]), "accuracy"),
        (lambda: cb.nemenyi_difference(1, 10), "n_classifiers"),
        (lambda: cb.nemenyi_difference(3, 10, level=1.0), "level"),
        (lambda: significance.nemenyi_groups([1.0, np.nan], 1.0), "ranks"),
        (lambda: significance.nemenyi_groups([1.0, 2.0], -1.0), "difference"),
        (lambda: cb.compare_pair(GOOD, 0, 5), "second"),
        (lambda: cb.compare_pair([[0.1, 0.2]], 0, 1), "accuracy"),
        (lambda: cb.holm_comparisons(GOOD, 7), "control"),
        (lambda: significance.bayesian_signed_rank(GOOD, 0, 1, rope=-1), "rope"),
        (lambda: significance.bootstrap_ranks(GOOD, n_samples=0), "n_samples"),
        (lambda: benchmark.cohen_kappa([[1, 2, 3]]), "table"),
        (lambda: benchmark.cohen_kappa([[0, 0], [0, 0]]), "table"),
        (lambda: cb.make_partitions([0, 0, 0, 0, 1, 1]), "n_splits"),
        (lambda: cb.make_partitions([0, 1] * 4, n_splits=1), "n_splits"),
        (lambda: cb.make_partitions([0, 1] * 4, split=[0] * 8), "split"),
        (lambda: cb.evaluate(SVC(), np.zeros((39, 2)), np.arange(40) % 2, SHARED), "y"),
        (lambda: cb.evaluate(SVC(), np.zeros((8, 2)), np.arange(8) % 2, SHARED), "partitions"),
        (lambda: cb.evaluate(SVC(), np.zeros((40, 2)), np.arange(40) % 2, SHARED, protocol="x"), "protocol"),
        (lambda: baselines.PNN().fit([[0.0], [1.0]], [1, 1]), "class"),
    ],
)
def test_bad_arguments_are_named(call, name):
    with pytest.raises(ValueError, match=name):
        call()


def test_inputs_are_not_modified():
    table = holes()
    kept = table.copy()
    cb.leaderboard(table)
    significance.bootstrap_ranks(table, n_samples=10, random_state=0)
    theory.weighted_accuracy(table, np.ones(30))
    np.testing.assert_array_equal(table, kept)
    K = np.eye(3)
    baselines.ridge_path(K, np.ones((3, 1)), [1.0, 2.0])
    np.testing.assert_array_equal(K, np.eye(3))


def test_a_column_far_from_zero_is_kept():
    k = np.array([0.0, 1.0, 2.0, 5.0, 7.0, 9.0, np.nan, 3.0])
    X = np.column_stack([1e15 + k, k, np.full(8, 1e15), -1e15 - k])
    table, _ = theory.prepare(X, [0, 1] * 4)
    np.testing.assert_allclose(table[:, 0], table[:, 1], rtol=1e-12)
    np.testing.assert_allclose(table[:, 3], -table[:, 1], rtol=1e-12)
    assert np.nanstd(table[~np.isnan(k), 0]) == pytest.approx(1.0) and not table[:, 2].any()
