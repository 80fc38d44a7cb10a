"""The claims of Fernandez-Delgado et al. (2014), and of the tests that suit such a table."""

import time

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import cohen_kappa_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from learnable.selection import classifier_benchmark as cb


@pytest.fixture(scope="module")
def toy():
    """A table with ties that other packages ranked: autorank 1.3 and scikit-posthocs 0.17 gave the figures below."""
    rng = np.random.default_rng(2014)
    base = 0.7 + 0.1 * rng.normal(size=(12, 1)) + 0.03 * rng.normal(size=(12, 5))
    return pd.DataFrame(np.round(base + [0.03, 0.02, 0, -0.01, -0.05], 2), columns=list("abcde"))


def holes(seed=0, shape=(30, 7)):
    rng = np.random.default_rng(seed)
    table = np.round(rng.random(shape), 1)
    table[rng.random(shape) < 0.1] = np.nan
    table[:, 0] = np.where(np.isnan(table[:, 0]), 0.5, table[:, 0])
    return table


# Ranks and summaries


def test_ranks_are_those_of_autorank_and_scikit_posthocs(toy):
    ranks = cb.friedman_ranks(toy)
    assert ranks.to_dict() == pytest.approx({"a": 2.125, "b": 1.875, "c": 3.625, "d": 2.7916666667, "e": 4.5833333333})
    found = cb.friedman_test(toy)
    assert found.pvalue == pytest.approx(6.403214508808459e-05, rel=1e-9)
    assert cb.nemenyi_difference(5, 12) == pytest.approx(1.7607556243045581, rel=1e-5)


def test_ranks_sum_to_the_same_with_ties_and_failures():
    for seed in range(5):
        table = holes(seed)
        c = table.shape[1]
        ranks = cb.friedman_ranks(table, average=False)
        assert ranks.sum(axis=1) == pytest.approx(np.full(len(table), c * (c + 1) / 2))
        assert cb.friedman_ranks(table).mean() == pytest.approx((c + 1) / 2)


def test_a_failed_cell_is_ranked_at_the_mean_of_its_row():
    ranks = cb.friedman_ranks([[0.9, 0.5, np.nan, 0.6], [0.1, 0.1, 0.1, 0.2]], average=False)
    assert ranks.tolist() == [[1, 4, 2, 3], [3, 3, 3, 1]]  # the mean of the others in the first row is 0.667
    assert cb.leaderboard([[0.9, 0.5, np.nan, 0.6]])["accuracy"].isna().sum() == 1


def test_ranks_do_not_feel_a_monotone_change_nor_the_order():
    table = np.random.default_rng(1).random((20, 6))
    want = cb.friedman_ranks(table)
    assert cb.friedman_ranks(table**3 * 100) == pytest.approx(want)
    order = [3, 0, 5, 1, 2, 4]
    assert cb.friedman_ranks(table[::-1][:, order]) == pytest.approx(want[order])
    assert cb.friedman_ranks(np.asfortranarray(table)) == pytest.approx(want)


def test_ranks_agree_with_pandas():
    table = np.round(np.random.default_rng(2).random((15, 8)), 1)
    frame = pd.DataFrame(table, columns=list("stuvwxyz"))
    ours = cb.friedman_ranks(frame, average=False)
    pd.testing.assert_frame_equal(ours, frame.rank(axis=1, ascending=False))


def test_a_tie_survives_the_order_of_additions():
    assert cb.friedman_ranks([[0.1 + 0.2, 0.3, 0.9]], average=False).tolist() == [[2.5, 2.5, 1]]


def test_area_below_the_coverage_curve_is_pma():
    for seed in range(5):
        table = holes(seed)
        board = cb.leaderboard(pd.DataFrame(table))
        for j in range(table.shape[1]):
            assert cb.coverage_curve(table, j).area == pytest.approx(board.loc[j, "pma"] / 100, abs=1e-12)


def test_coverage_curve_is_the_share_above():
    table = np.random.default_rng(3).random((40, 4))
    curve = cb.coverage_curve(table, 2)
    ratio = 100 * table[:, 2] / table.max(axis=1)
    for x, share in zip(curve.x, curve.share, strict=True):
        assert share == pytest.approx(np.mean(ratio > x + 1e-9))
    assert curve.x[0] == 0 and curve.x[-1] == 100 and curve.share[-1] == 0


def test_pama_near_and_pma_by_hand():
    table = pd.DataFrame({"a": [0.8, 0.5, 1.0, np.nan], "b": [0.8, 0.6, 0.95, 0.4], "c": [0.4, 0.3, 0.1, 0.8]})
    board = cb.leaderboard(table)
    assert board.loc["a", ["pama", "near", "failed"]].tolist() == [50, 50, 1]
    assert board.loc["b", ["pama", "near", "failed"]].tolist() == [50, 75, 0]  # 0.95 is met exactly
    assert board.loc["a", "pma"] == pytest.approx(100 * np.mean([1, 5 / 6, 1]))
    assert board.loc["c", "accuracy"] == pytest.approx(0.4)
    assert cb.leaderboard(table, threshold=0.5).loc["c", "near"] == pytest.approx(75)  # 0.4, 0.3, 0.8
    assert board["rank"].is_monotonic_increasing


def test_percent_and_fractions_give_the_same():
    table = np.round(np.random.default_rng(4).random((12, 4)), 3)
    one, other = cb.leaderboard(table), cb.leaderboard(100 * table)
    columns = ["rank", "pama", "near", "pma"]
    np.testing.assert_allclose(one.loc[range(4), columns], other.loc[range(4), columns])


def test_pama_sums_to_a_hundred_only_without_ties():
    plain = np.random.default_rng(5).random((25, 6))
    assert cb.leaderboard(plain)["pama"].sum() == pytest.approx(100)
    tied = plain.copy()
    tied[3, :2] = 2.0
    assert cb.leaderboard(tied)["pama"].sum() == pytest.approx(104)


def test_unstable_winner_and_steady_method_change_places():
    """Kernel ELM against the forest: first by PAMA, last by P95 and PMA."""
    unstable = np.where(np.arange(20) < 4, 1.0, 0.7)
    steady = np.full(20, 0.97)
    rest = [np.where(np.arange(20) == 4 + i, 1.0, 0.9) for i in range(16)]
    board = cb.leaderboard(pd.DataFrame({"unstable": unstable, "steady": steady, **dict(enumerate(rest))}))
    assert board["pama"].idxmax() == "unstable" and board.loc["steady", "pama"] == 0
    assert board.loc["unstable", "near"] == 20 and board.loc["steady", "near"] == 100
    assert board["pma"].idxmax() == "steady" and board["pma"].idxmin() == "unstable"


def test_a_row_of_zeros_is_no_division_by_zero():
    board = cb.leaderboard([[0.0, 0.0], [0.5, 1.0]])
    assert board.loc[0, "pma"] == pytest.approx(75) and np.isfinite(board.to_numpy()).all()


def test_kappa_column():
    table, kappa = [[0.9, 0.8], [0.7, 0.9]], [[0.8, 0.5], [0.2, np.nan]]
    assert cb.leaderboard(table, kappa=kappa).loc[[0, 1], "kappa"].tolist() == pytest.approx([0.5, 0.5])
    with pytest.raises(ValueError, match="kappa"):
        cb.leaderboard(table, kappa=[[0.1]])


# Weights


@pytest.mark.parametrize("kind", ["proportional", "decreasing", "complexity"])
def test_weights_sum_to_the_number_of_data_sets(kind):
    values = np.random.default_rng(6).random(30)
    weights = cb.property_weights(values, kind=kind)
    assert weights.min() >= 0 and weights.sum() == pytest.approx(30)
    assert np.all(np.diff(weights[np.argsort(values)]) * (1 if kind == "proportional" else -1) >= 0)
    table = np.random.default_rng(7).random((30, 3))
    alike = cb.property_weights(np.full(30, 0.4), kind=kind)
    assert cb.weighted_accuracy(table, alike) == pytest.approx(table.mean(axis=0))


def test_printed_denominator_of_the_decreasing_weights_is_negative():
    values = np.array([100.0, 300.0, 200.0])
    printed = 3 * (values.max() - values) / (values.max() - values.sum())
    assert printed.min() < 0
    assert cb.property_weights(values, kind="decreasing") == pytest.approx([2, 0, 1])


def test_weighted_accuracy_leaves_failures_out():
    table = pd.DataFrame({"a": [0.9, 0.6], "b": [0.5, np.nan]})
    found = cb.weighted_accuracy(table, [0.5, 1.5])
    assert found.to_dict() == pytest.approx({"a": 0.675, "b": 0.5})


# Kappa


def test_kappa_of_scikit_learn():
    rng = np.random.default_rng(8)
    truth, said = rng.integers(4, size=200), rng.integers(4, size=200)
    said[:100] = truth[:100]
    table = np.zeros((4, 4))
    np.add.at(table, (truth, said), 1)
    assert cb.cohen_kappa(table) == pytest.approx(cohen_kappa_score(truth, said))
    assert cb.cohen_kappa(table * 1e6) == pytest.approx(cb.cohen_kappa(table))


def test_constant_predictor_has_kappa_zero_and_the_share_of_the_majority():
    X, y = load_wine(return_X_y=True)
    cell = cb.evaluate(DummyClassifier(), X, y, cb.make_partitions(y, random_state=0))
    assert cell.kappa == 0 and cell.accuracy == pytest.approx(71 / 178, abs=0.01)
    assert cb.cohen_kappa([[5, 0], [0, 0]]) == 0.0


# Protocol


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
    X, y = cb.prepare(frame, ["u", "v"] * 3, min_count=3)
    pd.testing.assert_frame_equal(frame, kept)
    assert X[2, 0] == 0 and X[3, 1] == 0 and (X[:, 3] == 0).all()
    there = ~np.isnan(frame["size"].to_numpy())
    assert X[there, 0].mean() == pytest.approx(0) and X[there, 0].std() == pytest.approx(1)
    assert X[4, 1] < X[0, 1] < X[1, 1]  # in the order of the declared categories
    before, _ = cb.prepare(frame, ["u", "v"] * 3, min_count=3, missing="zero_before")
    assert before[:, 0].mean() == pytest.approx(0) and before[2, 0] == before[:, 0].min() < -1
    assert y.tolist() == ["u", "v"] * 3


def test_prepare_drops_rare_classes_and_knows_no_units():
    rng = np.random.default_rng(9)
    X, y = rng.normal(size=(20, 3)), np.repeat([0, 1, 2], [10, 8, 2])
    plain, labels = cb.prepare(X, y)
    assert plain.shape == (18, 3) and set(labels) == {0, 1}
    for factor in (1e-8, 1e8, 1e160):
        np.testing.assert_allclose(cb.prepare(X * factor, y)[0], plain, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(cb.prepare(X + 1e4, y)[0], plain, rtol=1e-7, atol=1e-7)


def test_prepare_keeps_a_column_of_which_nothing_is_there():
    X, _ = cb.prepare([[np.nan, 1.0], [np.nan, 2.0]] * 4, [0, 1] * 4)
    assert (X[:, 0] == 0).all() and np.isfinite(X).all()


@pytest.mark.parametrize("seed", range(3))
def test_halves_have_as_many_of_each_class(seed):
    y = np.repeat(["a", "b", "c", "d"], [7, 12, 5, 9])
    shared = cb.make_partitions(y, random_state=seed)
    train, test = shared.tuning
    assert not set(train) & set(test) and len(train) + len(test) == len(y)
    for label in "abcd":
        assert abs(np.sum(y[train] == label) - np.sum(y[test] == label)) == (1 if label != "b" else 0)
    assert abs(len(train) - len(test)) <= 1
    assert sorted(np.concatenate([test for _, test in shared.folds])) == list(range(len(y)))
    again = cb.make_partitions(y, random_state=seed)
    assert (again.tuning[0] == train).all() and all(
        (a[1] == b[1]).all() for a, b in zip(again.folds, shared.folds, strict=True)
    )


def test_a_given_split_is_kept():
    y, split = np.tile([0, 1], 10), np.repeat([0, 1], [12, 8])
    shared = cb.make_partitions(y, split=split, random_state=0)
    assert len(shared.folds) == 1
    train, test = shared.folds[0]
    assert train.tolist() == list(range(12)) and test.tolist() == list(range(12, 20))
    assert set(np.concatenate(shared.tuning)) == set(range(12))


class Memory(DecisionTreeClassifier):
    """Notes the sizes that it is fitted on."""

    seen = []

    def fit(self, X, y, **rest):
        type(self).seen.append((len(X), self.max_depth))
        return super().fit(X, y, **rest)


def test_parameters_are_chosen_on_the_halves_then_used_on_the_folds():
    X, y = load_iris(return_X_y=True)
    shared = cb.make_partitions(y, random_state=0)
    Memory.seen = []
    cell = cb.evaluate(Memory(random_state=0), X, y, shared, grid={"max_depth": [1, 3]})
    half = len(shared.tuning[0])
    assert Memory.seen[:2] == [(half, 1), (half, 3)]
    assert [depth for _, depth in Memory.seen[2:]] == [3] * 4 and cell.params == ({"max_depth": 3},)
    scores = [
        DecisionTreeClassifier(max_depth=3, random_state=0).fit(X[a], y[a]).score(X[b], y[b]) for a, b in shared.folds
    ]
    assert cell.fold_accuracy == pytest.approx(scores) and cell.accuracy == pytest.approx(np.mean(scores))


def test_ties_go_to_the_first_point_of_the_grid():
    X, y = load_iris(return_X_y=True)
    shared = cb.make_partitions(y, random_state=0)
    for order in ([1, 2], [2, 1]):
        cell = cb.evaluate(DummyClassifier(), X, y, shared, grid={"random_state": order})
        assert cell.params == ({"random_state": order[0]},)


def test_nested_never_looks_at_the_test_fold():
    X, y = load_iris(return_X_y=True)
    shared = cb.make_partitions(y, random_state=0)
    Memory.seen = []
    cell = cb.evaluate(Memory(random_state=0), X, y, shared, grid={"max_depth": [1, 3]}, protocol="nested")
    assert len(cell.params) == 4 and len(Memory.seen) == 12
    assert max(size for size, _ in Memory.seen[:8]) <= 57 < min(size for size, _ in Memory.seen[8:])


def test_an_exception_is_a_recorded_result():
    X, y = load_iris(return_X_y=True)
    shared = cb.make_partitions(y, random_state=0)
    cell = cb.evaluate(SVC(C=-1.0), X, y, shared)
    assert np.isnan(cell.accuracy) and np.isnan(cell.fold_kappa).all() and "C" in cell.error and cell.params == ()
    half = cb.evaluate(SVC(), X, y, shared, grid={"C": [-1.0, 1.0]})
    assert half.error is None and half.params == ({"C": 1.0},)  # a point that fails loses


def test_frames_pipelines_and_text_labels_pass_through():
    data = load_breast_cancer(as_frame=True)
    y = np.array(["malignant", "benign"])[data.target]
    model = make_pipeline(StandardScaler(), KNeighborsClassifier())
    shared = cb.make_partitions(y, random_state=0)
    cell = cb.evaluate(model, data.data, y, shared, grid={"kneighborsclassifier__n_neighbors": [3, 9]})
    assert cell.error is None and cell.accuracy > 0.9 and cell.kappa > 0.8


# Contestants


@parametrize_with_checks(
    [cb.KernelELM(), cb.PNN(), cb.RDA(), cb.RotationForest(n_estimators=3, random_state=0)], legacy=False
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_kernel_elm_is_kernel_ridge_on_signs():
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    T = np.where(y[:, None] == np.arange(3), 1.0, -1.0)
    ours = cb.KernelELM(C=8.0, gamma=0.05).fit(X, y)
    ridge = KernelRidge(alpha=1 / 8.0, kernel="rbf", gamma=0.05).fit(X, T)
    np.testing.assert_allclose(ours.decision_function(X), ridge.predict(X), atol=1e-8)
    two = cb.KernelELM(C=8.0, gamma=0.05).fit(X[y < 2], y[y < 2])
    plus = KernelRidge(alpha=1 / 8.0, kernel="rbf", gamma=0.05).fit(X[y < 2], 2.0 * y[y < 2] - 1)
    np.testing.assert_allclose(two.decision_function(X), plus.predict(X), atol=1e-8)


def test_whole_path_from_one_eigendecomposition():
    rng = np.random.default_rng(10)
    Z = rng.normal(size=(40, 5))
    K, T = Z @ Z.T, rng.choice([-1.0, 1.0], size=(40, 3))  # of rank 5: singular without the ridge
    path = cb.ridge_path(K, T, [2.0**-5, 1.0, 2.0**14])
    for C, weights in zip([2.0**-5, 1.0, 2.0**14], path, strict=True):
        np.testing.assert_allclose(weights, np.linalg.solve(K + np.eye(40) / C, T), rtol=1e-6, atol=1e-8 * C)


def test_pnn_goes_from_nearest_neighbour_to_majority():
    X, y = make_classification(120, n_features=5, weights=[0.7], random_state=0)
    points = np.random.default_rng(11).normal(size=(200, 5))
    nearest = KNeighborsClassifier(1).fit(X, y).predict(points)
    assert (cb.PNN(spread=1e-3).fit(X, y).predict(points) == nearest).all()
    assert (cb.PNN(spread=1e4).fit(X, y).predict(points) == 0).all()
    half = cb.PNN(spread=2.0).fit([[0.0], [2.0]], [0, 1]).predict_proba([[0.0]])
    assert half[0].tolist() == pytest.approx([2 / 3, 1 / 3])  # the far point counts half


def test_rda_ends_are_lda_and_qda():
    X, y = load_iris(return_X_y=True)
    linear = cb.RDA(pooling=1.0, shrinkage=0.0).fit(X, y)
    lda = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    assert (linear.predict(X) == lda.predict(X)).all()
    scatter = sum((X[y == c] - X[y == c].mean(0)).T @ (X[y == c] - X[y == c].mean(0)) for c in range(3))
    np.testing.assert_allclose(linear.covariances_[1], scatter / 150)
    quadratic = cb.RDA(pooling=0.0, shrinkage=0.0).fit(X, y)
    np.testing.assert_allclose(quadratic.covariances_[2], np.cov(X[y == 2].T, bias=True))
    assert (quadratic.predict(X) == QuadraticDiscriminantAnalysis().fit(X, y).predict(X)).mean() > 0.98
    sphere = cb.RDA(pooling=0.3, shrinkage=1.0).fit(X, y).covariances_[0]
    np.testing.assert_allclose(sphere, np.eye(4) * sphere[0, 0], atol=1e-15)


def test_rda_refuses_a_singular_covariance():
    X, y = np.random.default_rng(12).normal(size=(12, 20)), np.arange(12) % 2
    with pytest.raises(ValueError, match="shrinkage"):
        cb.RDA(pooling=0.0, shrinkage=0.0).fit(X, y)
    assert cb.RDA(pooling=0.0, shrinkage=0.5).fit(X, y).predict(X).shape == (12,)


@pytest.mark.parametrize("d", [1, 2, 5, 7])
def test_rotations_are_orthogonal_blocks(d):
    rng = np.random.default_rng(13)
    X, y = rng.normal(size=(60, d)), rng.integers(3, size=60)
    forest = cb.RotationForest(4, random_state=0).fit(X, y)
    for R in forest.rotations_:
        np.testing.assert_allclose(R.T @ R, np.eye(d), atol=1e-10)
        assert (np.count_nonzero(R, axis=0) <= 3).all()
    assert not np.allclose(forest.rotations_[0], forest.rotations_[1]) or d == 1


def test_rotation_forest_beats_its_trees_and_repeats_itself():
    X, y = make_classification(400, n_features=12, n_informative=8, random_state=1)
    forest = cb.RotationForest(20, random_state=0).fit(X[:200], y[:200])
    tree = DecisionTreeClassifier(random_state=0).fit(X[:200], y[:200])
    assert forest.score(X[200:], y[200:]) > tree.score(X[200:], y[200:]) + 0.03
    again = cb.RotationForest(20, random_state=0).fit(X[:200], y[:200])
    assert (again.predict_proba(X) == forest.predict_proba(X)).all()


def test_roster_has_names_grids_and_families():
    medium, full = cb.roster(random_state=3), cb.roster("full")
    assert len({one.name for one in full}) == len(full) == 36 and len(medium) == 19
    assert {one.name for one in medium} < {one.name for one in full}
    forest = next(one for one in medium if one.name == "rf")
    assert forest.grid_for(5) == {"max_features": [2, 4]} and forest.grid_for(1) == {"max_features": [1]}
    assert forest.estimator.random_state == 3
    printed = cb.published_results().index
    assert {one.printed for one in full} - {None} <= set(printed)
    for one in full:
        for name, values in one.grid.items():
            one.estimator.set_params(**{name: values[0]})


# Tests and intervals


def test_friedman_is_that_of_scipy():
    table = np.round(np.random.default_rng(14).random((20, 6)), 1)
    want = stats.friedmanchisquare(*table.T)
    found = cb.friedman_test(table)
    assert (found.chi2, found.pvalue) == pytest.approx((want.statistic, want.pvalue))
    N, c = table.shape
    assert found.f == pytest.approx((N - 1) * found.chi2 / (N * (c - 1) - found.chi2))
    assert found.f_pvalue == pytest.approx(stats.f.sf(found.f, c - 1, (c - 1) * (N - 1)))


def test_friedman_of_equal_and_of_perfectly_ordered_classifiers():
    assert cb.friedman_test(np.full((5, 3), 0.5)).pvalue == 1.0
    ordered = cb.friedman_test(np.tile([0.9, 0.8, 0.7], (5, 1)))
    assert ordered.chi2 == pytest.approx(10) and ordered.f_pvalue < 1e-9


@pytest.mark.parametrize("c, q", [(2, 1.960), (5, 2.728), (10, 3.164)])
def test_critical_values_of_demsar(c, q):
    """Table 5 of Demsar (2006)."""
    assert cb.nemenyi_difference(c, 30) == pytest.approx(q * np.sqrt(c * (c + 1) / 180), rel=4e-4)


def test_groups_are_maximal_runs():
    ranks = pd.Series({"d": 4.0, "a": 1.0, "c": 2.4, "b": 1.5, "e": 9.0})
    assert cb.nemenyi_groups(ranks, 1.4) == [["a", "b", "c"]]
    assert cb.nemenyi_groups(ranks, 1.7) == [["a", "b", "c"], ["c", "d"]]
    assert cb.nemenyi_groups(ranks, 0.1) == [] and cb.nemenyi_groups(ranks, 8) == [list("abcde")]


def test_pair_is_compared_as_in_scipy(toy):
    found = cb.compare_pair(toy, "a", "e")
    gaps = toy["a"] - toy["e"]
    want = stats.ttest_rel(toy["a"], toy["e"])
    assert (found.t, found.pvalue) == pytest.approx((want.statistic, want.pvalue))
    assert found.interval == pytest.approx(want.confidence_interval(0.95))
    assert found.wins + found.losses + found.ties == 12 and found.wins == (gaps > 1e-9).sum()
    assert found.gain - found.loss == pytest.approx(gaps.sum()) and found.loss >= 0
    back = cb.compare_pair(toy, "e", "a")
    assert (back.wins, back.t, back.gain) == pytest.approx((found.losses, -found.t, found.loss))


def test_pair_of_equals():
    found = cb.compare_pair([[0.5, 0.5], [0.1 + 0.2, 0.3]], 0, 1)
    assert (found.ties, found.t, found.pvalue, found.wilcoxon_pvalue) == (2, 0.0, 1.0, 1.0)


def test_pair_leaves_failures_out():
    table = [[0.5, 0.4], [np.nan, 0.4], [0.7, 0.6], [0.6, 0.65]]
    assert cb.compare_pair(table, 0, 1).wins == 2 and cb.compare_pair(table, 0, 1).mean == pytest.approx(0.05)


def test_holm_multiplies_and_never_falls(toy):
    found = cb.holm_comparisons(toy, "b")
    p = found["pvalue"].to_numpy()
    assert (np.diff(p) >= 0).all()
    by_hand, largest = [], 0.0
    for step, value in zip((4, 3, 2, 1), p, strict=True):
        largest = max(largest, min(1.0, step * value))
        by_hand.append(largest)
    assert found["holm"].tolist() == pytest.approx(by_hand)
    gaps = (toy["b"] - toy["e"]).round(12)
    want = stats.wilcoxon(gaps, zero_method="zsplit", method="approx").pvalue
    assert found.loc["e", "pvalue"] == pytest.approx(want)


def test_bayesian_signed_rank_against_a_slow_one():
    gaps = np.array([0.05, 0.02, -0.01, 0.03, 0.004, 0.06, -0.03])
    table = np.column_stack([0.7 + gaps, np.full(7, 0.7)])
    found = cb.bayesian_signed_rank(table, 0, 1, random_state=0)
    z = np.append(gaps, 0.0)
    rng, votes = np.random.default_rng(1), np.zeros(3)
    for _ in range(3000):
        w = rng.dirichlet([1.0] * 7 + [0.5])
        shares = np.zeros(3)
        for i in range(8):
            for j in range(8):
                mean = (z[i] + z[j]) / 2
                shares[0 if mean > 0.01 + 1e-9 else 2 if mean < -0.01 - 1e-9 else 1] += w[i] * w[j]
        votes[shares.argmax()] += 1
    assert found.to_numpy() == pytest.approx(votes / 3000, abs=0.03)  # two simulations of 3,000 and 5,000 draws
    turned = cb.bayesian_signed_rank(table, 1, 0, random_state=0)
    assert turned["second"] == pytest.approx(found["first"], abs=1e-12) and found.sum() == pytest.approx(1)
    wide = cb.bayesian_signed_rank(table, 0, 1, rope=0.2, random_state=0)
    assert wide["equal"] == 1


def test_bootstrap_ranks_against_a_loop(toy):
    found = cb.bootstrap_ranks(toy, n_samples=4000, random_state=0)
    ranks = toy.rank(axis=1, ascending=False).to_numpy()
    rng = np.random.default_rng(1)
    drawn = np.array([ranks[rng.integers(12, size=12)].mean(axis=0) for _ in range(4000)])
    assert found.low.to_numpy() == pytest.approx(np.quantile(drawn, 0.025, axis=0), abs=0.12)
    assert found.high.to_numpy() == pytest.approx(np.quantile(drawn, 0.975, axis=0), abs=0.12)
    gap = drawn[:, 0] - drawn[:, 4]
    assert found.difference_low.loc["a", "e"] == pytest.approx(np.quantile(gap, 0.025), abs=0.12)
    assert found.difference_high.loc["a", "e"] == pytest.approx(np.quantile(gap, 0.975), abs=0.12)
    assert found.difference_low.loc["a", "e"] == pytest.approx(-found.difference_high.loc["e", "a"])
    assert found.first.sum() == pytest.approx(1) and found.first.idxmax() == "b"


# What was printed


def test_published_ranks_average_ninety():
    printed = cb.published_results()
    assert len(printed) == 179 and printed.index.is_unique
    assert printed["rank"].mean() == pytest.approx(90, abs=0.01)
    counts = printed["family"].value_counts()
    want = {"DA": 20, "BY": 6, "NNET": 21, "SVM": 10, "DT": 14, "RL": 12, "BST": 20, "BAG": 24, "STC": 2, "RF": 8}
    assert {name: counts[name] for name in want} == want and len(counts) == 17
    assert printed.loc["svm_C", ["accuracy", "kappa", "pama", "p95", "pma"]].tolist() == [81.8, 62.2, 10.7, 70.2, 92.3]
    shares = printed["pama"].dropna() * 1.21
    assert (shares - shares.round()).abs().max() < 0.1  # shares of 121 data sets


def test_family_means_of_figure_6():
    printed = cb.published_results()
    table = cb.family_summary(printed["rank"], printed["family"])
    assert table.loc["RF", ["min", "max"]].tolist() == [32.9, 60.5]
    assert table.loc["RF", "mean"] == pytest.approx(46.7, abs=0.7)
    assert table.loc["SVM", "mean"] == pytest.approx(57.1, abs=0.06)  # svmlight is a machine, not a network
    assert table.index[0] == "RF" and table["count"].sum() == 179
    shuffled = printed["family"].sample(frac=1, random_state=0)
    pd.testing.assert_frame_equal(cb.family_summary(printed["rank"], shuffled), table)


def test_ensembles_help_weak_trees_not_neighbours():
    pairs = cb.ensemble_vs_base()
    assert (
        pairs.loc[["J48", "REPTree", "PART", "RandomTree"], ["bagging", "multiboost"]].max(axis=1)
        < pairs.loc[["J48", "REPTree", "PART", "RandomTree"], "base"]
    ).all()
    assert pairs.loc["IBk", "multiboost"] > pairs.loc["IBk", "base"] > pairs.loc["IBk", "bagging"]
    assert pairs.loc["RandomForest", "base"] < pairs.loc["RandomForest", "bagging"]
    assert np.isnan(pairs.loc["LWL", "multiboost"])


# Refusals


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
        (lambda: cb.coverage_curve(GOOD, 3), "classifier"),
        (lambda: cb.coverage_curve(pd.DataFrame(GOOD, columns=list("abc")), "z"), "classifier"),
        (lambda: cb.coverage_curve([[np.nan, 0.4]], 0), "classifier"),
        (lambda: cb.property_weights([1.0, -1.0]), "values"),
        (lambda: cb.property_weights([1.0, 80.0], kind="complexity"), "values"),
        (lambda: cb.property_weights([1.0], kind="other"), "kind"),
        (lambda: cb.weighted_accuracy(GOOD, [1.0]), "weights"),
        (lambda: cb.weighted_accuracy(GOOD, [0.0, 0.0]), "weights"),
        (lambda: cb.friedman_test([[0.1, 0.2], [0.3, 0.4]]), "accuracy"),
        (lambda: cb.nemenyi_difference(1, 10), "n_classifiers"),
        (lambda: cb.nemenyi_difference(3, 10, level=1.0), "level"),
        (lambda: cb.nemenyi_groups([1.0, np.nan], 1.0), "ranks"),
        (lambda: cb.nemenyi_groups([1.0, 2.0], -1.0), "difference"),
        (lambda: cb.compare_pair(GOOD, 0, 5), "second"),
        (lambda: cb.compare_pair([[0.1, 0.2]], 0, 1), "accuracy"),
        (lambda: cb.holm_comparisons(GOOD, 7), "control"),
        (lambda: cb.bayesian_signed_rank(GOOD, 0, 1, rope=-1), "rope"),
        (lambda: cb.bootstrap_ranks(GOOD, n_samples=0), "n_samples"),
        (lambda: cb.cohen_kappa([[1, 2, 3]]), "table"),
        (lambda: cb.cohen_kappa([[0, 0], [0, 0]]), "table"),
        (lambda: cb.prepare([[1.0], [2.0]], [0, 1]), "min_count"),
        (lambda: cb.prepare([1.0, 2.0], [0, 1]), "X"),
        (lambda: cb.prepare([[np.inf]] * 8, [0, 1] * 4), "X"),
        (lambda: cb.prepare([[1.0]] * 8, [0, 1] * 3), "y"),
        (lambda: cb.prepare([[1.0]] * 8, [0, 1] * 4, missing="mean"), "missing"),
        (lambda: cb.make_partitions([0, 0, 0, 0, 1, 1]), "n_splits"),
        (lambda: cb.make_partitions([0, 1] * 4, n_splits=1), "n_splits"),
        (lambda: cb.make_partitions([0, 1] * 4, split=[0] * 8), "split"),
        (lambda: cb.evaluate(SVC(), np.zeros((39, 2)), np.arange(40) % 2, SHARED), "y"),
        (lambda: cb.evaluate(SVC(), np.zeros((8, 2)), np.arange(8) % 2, SHARED), "partitions"),
        (lambda: cb.evaluate(SVC(), np.zeros((40, 2)), np.arange(40) % 2, SHARED, protocol="x"), "protocol"),
        (lambda: cb.roster("large"), "scale"),
        (lambda: cb.roster(random_state=-1), "random_state"),
        (lambda: cb.ridge_path([[1.0, 2.0], [2.0, 1.0]], [[1.0], [1.0]], [1.0]), "K"),
        (lambda: cb.ridge_path(np.eye(2), [[1.0], [1.0]], [0.0]), "C_values"),
        (lambda: cb.ridge_path(np.eye(2), [[1.0]], [1.0]), "targets"),
        (lambda: cb.KernelELM(C=0).fit([[0.0], [1.0]], [0, 1]), "C"),
        (lambda: cb.KernelELM(gamma="auto").fit([[0.0], [1.0]], [0, 1]), "gamma"),
        (lambda: cb.PNN(spread=0).fit([[0.0], [1.0]], [0, 1]), "spread"),
        (lambda: cb.RDA(pooling=2).fit([[0.0], [1.0]], [0, 1]), "pooling"),
        (lambda: cb.RotationForest(0).fit([[0.0], [1.0]], [0, 1]), "n_estimators"),
        (lambda: cb.PNN().fit([[0.0], [1.0]], [1, 1]), "class"),
        (lambda: cb.family_summary([1.0, 2.0], ["a"]), "family"),
        (lambda: cb.ensemble_vs_base(pd.DataFrame()), "results"),
    ],
)
def test_bad_arguments_are_named(call, name):
    with pytest.raises(ValueError, match=name):
        call()


def test_wrong_types_are_refused():
    with pytest.raises(TypeError, match="estimator"):
        cb.evaluate("svm", np.zeros((40, 2)), np.arange(40) % 2, SHARED)
    with pytest.raises(TypeError, match="partitions"):
        cb.evaluate(SVC(), np.zeros((40, 2)), np.arange(40) % 2, [(0, 1)])


def test_inputs_are_not_modified():
    table = holes()
    kept = table.copy()
    cb.leaderboard(table)
    cb.bootstrap_ranks(table, n_samples=10, random_state=0)
    cb.weighted_accuracy(table, np.ones(30))
    np.testing.assert_array_equal(table, kept)
    K = np.eye(3)
    cb.ridge_path(K, np.ones((3, 1)), [1.0, 2.0])
    np.testing.assert_array_equal(K, np.eye(3))


class _Slow(DecisionTreeClassifier):
    """Uses a little processor time in every fit, and counts the fits."""

    fits = 0

    def fit(self, X, y):
        _Slow.fits += 1
        started = time.process_time()
        while time.process_time() - started < 0.02:
            pass
        return super().fit(X, y)


def test_a_cell_that_takes_too_long_is_an_error_and_stops():
    X, y = load_iris(return_X_y=True)
    shared, grid = cb.make_partitions(y, random_state=0), {"max_depth": [1, 2, 3, 4, 5, 6, 7, 8]}
    found = cb.evaluate(_Slow(), X, y, shared, grid=grid, max_seconds=0.05)
    assert "TimeoutError" in found.error and np.isnan(found.accuracy)
    assert _Slow.fits <= 4
    whole = cb.evaluate(_Slow(), X, y, shared, grid=grid)
    assert whole.error is None and _Slow.fits >= 12
    with pytest.raises(ValueError, match="max_seconds"):
        cb.evaluate(_Slow(), X, y, shared, max_seconds=0)
