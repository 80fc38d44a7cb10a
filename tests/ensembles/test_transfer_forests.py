"""Transfer-learning decision forests: the claims of the source, checked."""

import numpy as np
import pytest
from scipy.sparse.csgraph import dijkstra
from sklearn.base import clone
from sklearn.metrics import mutual_info_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from learnable.datasets.shapes import make_spirals
from learnable.ensembles import TransferForestClassifier, mixed_information_gain, select_gamma
from learnable.ensembles.transfer_forests import information_gain, propagate_leaves
from learnable.ensembles.transfer_forests import leaves as leaves_module
from learnable.trees.multitask import encode_tasks, grow_multitask

RNG = np.random.default_rng(0)


def spirals(n_target=16, n_source=400, n_test=1500, seed=0):
    X, y = make_spirals(n_target + n_source + n_test, random_state=seed, return_X_y=True)
    n = n_target + n_source
    return X[:n], y[:n], (np.arange(n) >= n_target).astype(int), X[n:], y[n:]


def test_the_gain_is_that_of_shannon():
    for _ in range(20):
        left, right = RNG.integers(0, 9, size=(2, 4))
        table = np.array([left, right])
        if table.sum() == 0:
            continue
        sides, labels = np.nonzero(np.ones_like(table))
        expected = mutual_info_score(np.repeat(sides, table.ravel()), np.repeat(labels, table.ravel()))
        assert information_gain(left, right) == pytest.approx(expected, abs=1e-12)
    assert information_gain([0, 0], [0, 0]) == 0.0


def test_mixed_gain_weights_sources_by_their_rows():
    left, right = [[3, 1], [8, 0], [0, 2, 1]], [[1, 3], [0, 4], [2, 0, 3]]
    own = information_gain(left[0], right[0])
    sources = [information_gain(a, b) for a, b in zip(left[1:], right[1:], strict=True)]
    expected = 0.7 * own + 0.3 * (12 * sources[0] + 8 * sources[1]) / 20
    assert mixed_information_gain(left, right, 0.3) == pytest.approx(expected)
    assert mixed_information_gain(left, right, 0.0) == own
    assert mixed_information_gain(left[:1], right[:1], 0.4) == pytest.approx(0.6 * own)
    nobody = mixed_information_gain([[3, 1], [0, 0]], [[1, 3], [0, 0]], 0.5)
    assert nobody == pytest.approx(0.5 * own)


@pytest.mark.parametrize(("split", "n_active"), [("axis", None), ("oblique", 2), ("oblique", None)])
@pytest.mark.parametrize("joint", [False, True])
def test_gains_of_the_compiled_search_are_the_mixed_gain(split, n_active, joint):
    rng = np.random.default_rng(3)
    X, y, task = rng.normal(size=(300, 12)), rng.integers(3, size=300), rng.integers(4, size=300)
    y = np.where(X[:, 0] + 0.3 * y > 0.3, y, 0)
    settings = {"gamma": 0.4, "max_depth": 3, "split": split, "n_active": n_active, "joint": joint}
    (tree,) = grow_multitask(X, encode_tasks(y, task), seeds=[5], **settings)
    leaf, above = tree.apply(X), np.full(len(tree.left), -1)
    inner = np.flatnonzero(tree.left >= 0)
    above[tree.left[inner]] = above[tree.right[inner]] = inner
    inside = {v: leaf == v for v in tree.leaves}
    for v in inner[::-1]:
        inside[v] = inside[tree.left[v]] | inside[tree.right[v]]
    for v in inner:
        sides = [
            [np.bincount(y[inside[child] & (task == t)], minlength=3) for t in range(4)]
            for child in (tree.left[v], tree.right[v])
        ]
        expected = mixed_information_gain(*sides, 0.4, source="concatenated" if joint else "sum")
        assert tree.gain[v] == pytest.approx(expected, abs=1e-10)
        assert tree.n_rows[v] == inside[v].sum() > 0
        np.testing.assert_array_equal(tree.counts[v], np.bincount(y[inside[v] & (task == 0)], minlength=3))


def test_the_search_finds_the_best_of_many_candidates():
    # Eight points on a line have seven splits: two hundred candidates try them all, and the best is found by hand.
    x, y = np.arange(8.0)[:, None], np.array([0, 0, 1, 0, 1, 1, 1, 0])
    task = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    (tree,) = grow_multitask(x, encode_tasks(y, task), gamma=0.5, n_candidates=200, max_depth=1)
    every = []
    for cut in range(1, 8):
        sides = [
            [np.bincount(y[part][task[part] == t], minlength=2) for t in (0, 1)] for part in (np.s_[:cut], np.s_[cut:])
        ]
        every.append(mixed_information_gain(*sides, 0.5))
    assert tree.gain[0] == pytest.approx(max(every))
    assert np.ceil(tree.threshold[0]) == 1 + np.argmax(every)


def test_without_sources_gamma_has_no_effect_and_the_forest_is_the_ordinary_one():
    X, y, _, test, _ = spirals()
    X, y = X[:40], y[:40]
    plain = TransferForestClassifier(5, gamma=0.0, random_state=1).fit(X, y).predict_proba(test)
    for gamma in (0.5, 1.0):
        mixed = TransferForestClassifier(5, gamma=gamma, random_state=1).fit(X, y, np.zeros(40, int))
        np.testing.assert_array_equal(mixed.predict_proba(test), plain)


def test_transfer_helps_on_the_spiral_and_noise_does_not():
    gain, loss = [], []
    for seed in range(3):
        X, y, task, test, truth = spirals(seed=seed)
        settings = {"n_candidates": 20, "propagate": "none", "random_state": seed}
        alone = TransferForestClassifier(30, **settings).fit(X[task == 0], y[task == 0]).score(test, truth)
        gain.append(TransferForestClassifier(30, gamma=0.5, **settings).fit(X, y, task).score(test, truth) - alone)
        noisy = np.where(task == 1, np.random.default_rng(seed).integers(2, size=len(y)), y)
        scores = [
            TransferForestClassifier(30, gamma=g, **settings).fit(X, noisy, task).score(test, truth)
            for g in (0.0, 0.5, 1.0)
        ]
        loss.append(scores)
    assert np.mean(gain) > 0.1
    none, half, full = np.mean(loss, axis=0)
    assert half < none + 0.05 and full < none + 0.02  # three seeds: the standard error is about 0.03


def test_propagation_takes_the_leaf_at_the_end_of_the_shortest_path():
    rng = np.random.default_rng(6)
    for _ in range(20):
        graph = rng.random((9, 9))
        graph = graph + graph.T
        np.fill_diagonal(graph, 0)
        counts = rng.integers(0, 5, size=(9, 3)) * (rng.random(9) < 0.4)[:, None]
        known = counts.sum(axis=1) > 0
        if not known.any():
            continue
        done = propagate_leaves(graph, counts)
        paths = dijkstra(graph)[:, known]
        np.testing.assert_allclose(done.distance, paths.min(axis=1))
        np.testing.assert_array_equal(done.origin, np.flatnonzero(known)[paths.argmin(axis=1)])
        np.testing.assert_allclose(done.proba.sum(axis=1), 1)
        np.testing.assert_allclose(done.proba[known], counts[known] / counts[known].sum(axis=1, keepdims=True))
        order = rng.permutation(9)
        np.testing.assert_allclose(
            propagate_leaves(graph[np.ix_(order, order)], counts[order]).proba, done.proba[order]
        )


def test_many_short_hops_beat_a_long_one():
    place = np.array([0.0, 1.0, 2.0, 3.0, -2.0])  # leaf 3 reaches leaf 0 by hops of length 1, not leaf 4 at once
    graph = (place[:, None] - place) ** 2
    counts = [[1, 0], [0, 0], [0, 0], [0, 0], [0, 1]]
    done = propagate_leaves(graph, counts)
    assert done.origin.tolist() == [0, 0, 0, 0, 4] and done.distance[3] == 3
    cut = graph.copy()
    cut[3, :3] = cut[:3, 3] = cut[3, 4] = cut[4, 3] = np.inf
    assert propagate_leaves(cut, counts).origin[3] == -1
    assert propagate_leaves(cut, counts).proba[3].tolist() == [0.5, 0.5]


def test_nothing_changes_where_every_leaf_has_target_rows():
    X, y, _, test, _ = spirals(100, 0)
    said = [TransferForestClassifier(5, propagate=p, random_state=0).fit(X, y) for p in ("none", "mahalanobis")]
    assert said[0].empty_share_ == 0
    np.testing.assert_array_equal(*(model.predict_proba(test) for model in said))


@parametrize_with_checks(
    [TransferForestClassifier(8, random_state=0), TransferForestClassifier(8, split="axis", propagate="none")]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_abstaining_trees_are_left_out_of_the_mean():
    X, y, task, test, _ = spirals()
    model = TransferForestClassifier(7, propagate="none", gamma=0.5, random_state=3).fit(X, y, task)
    said = np.array([values[tree.apply(test)] for tree, values in zip(model.trees_, model.values_, strict=True)])
    assert np.isnan(said).any() and 0 < model.empty_share_ < 1
    heard = ~np.isnan(said).all(axis=(0, 2))
    np.testing.assert_allclose(model.predict_proba(test)[heard], np.nanmean(said[:, heard], axis=0))
    assert (model.predict_proba(test)[~heard] == 0.5).all()


def test_names_of_tasks_and_labels_do_not_matter():
    X, y, task, test, _ = spirals()
    plain = TransferForestClassifier(4, random_state=0).fit(X, y, task)
    named = TransferForestClassifier(4, random_state=0).fit(
        X, np.array(["left", "right"])[y], np.array(["mine", "theirs"])[task], target="mine"
    )
    np.testing.assert_array_equal(plain.predict_proba(test), named.predict_proba(test))
    assert named.predict(test[:1])[0] in ("left", "right")
    # A source whose labels are called otherwise is the same source.
    renamed = np.where(task == 1, y + 7, y)
    other = clone(plain).fit(X, renamed, task)
    np.testing.assert_array_equal(plain.predict_proba(test), other.predict_proba(test))


def test_the_unit_the_layout_and_the_number_of_threads_do_not_matter():
    X, y, task, test, _ = spirals()
    for split in ("axis", "oblique"):
        model = TransferForestClassifier(4, split=split, random_state=0)
        plain = clone(model).fit(X, y, task).predict_proba(test)
        np.testing.assert_allclose(clone(model).fit(1e8 * X, y, task).predict_proba(1e8 * test), plain)
        np.testing.assert_array_equal(clone(model).fit(np.asfortranarray(X), y, task).predict_proba(test), plain)
        threads = clone(model).set_params(n_jobs=2).fit(X, y, task)
        np.testing.assert_array_equal(threads.predict_proba(test), plain)
        coarse = np.round(8 * X)  # whole numbers: single precision is used, and gives the same trees
        exact = clone(model).fit(coarse + 1e-13, y, task).predict_proba(np.round(8 * test) + 1e-13)
        np.testing.assert_allclose(clone(model).fit(coarse, y, task).predict_proba(np.round(8 * test)), exact)


@pytest.mark.parametrize("split", ["axis", "oblique"])
@pytest.mark.parametrize("bootstrap", [False, True])
def test_the_units_of_single_columns_do_not_matter(split, bootstrap):
    X, y, task, test, _ = spirals()
    model = TransferForestClassifier(4, split=split, bootstrap=bootstrap, random_state=0)
    plain = model.fit(X, y, task).predict_proba(test)
    assert model.empty_share_ > 0  # so that leaves were filled
    unit = np.array([1.0, 1024.0])
    np.testing.assert_allclose(model.fit(X * unit, y, task).predict_proba(test * unit), plain)


def test_weights_of_the_sources_silence_a_bad_one():
    X, y, task, test, truth = spirals(16, 400)
    noisy = np.concatenate([y, np.random.default_rng(0).integers(2, size=400)])
    both = np.vstack([X, X[16:]])
    three = np.concatenate([task, np.full(400, 2)])
    settings = {"gamma": 0.5, "n_candidates": 20, "propagate": "none", "random_state": 0}
    equal = TransferForestClassifier(30, **settings).fit(both, noisy, three).score(test, truth)
    weighted = TransferForestClassifier(30, source_weight={2: 0.0}, **settings).fit(both, noisy, three)
    assert weighted.score(test, truth) > equal
    with pytest.raises(ValueError, match="source_weight"):
        TransferForestClassifier(2, source_weight={5: 1.0}).fit(X, y, task)


def test_bootstrap_draws_within_each_task():
    X, y, task, _, _ = spirals()
    model = TransferForestClassifier(5, bootstrap=True, random_state=0).fit(X, y, task)
    assert all(tree.counts[0].sum() == 16 and tree.n_rows[0] == 416 for tree in model.trees_)
    assert len({tuple(tree.counts[0]) for tree in model.trees_}) > 1


def test_ties_constant_columns_and_one_row():
    X = np.column_stack([np.ones(20), np.arange(20.0)])
    y = (np.arange(20) > 9).astype(int)
    for split in ("axis", "oblique"):
        assert TransferForestClassifier(10, split=split, random_state=0).fit(X, y).score(X, y) == 1.0
    same = TransferForestClassifier(3, random_state=0).fit(np.ones((6, 2)), [0, 0, 0, 0, 1, 1])
    np.testing.assert_allclose(same.predict_proba([[1.0, 1.0]]), [[2 / 3, 1 / 3]])
    assert TransferForestClassifier(2, random_state=0).fit([[1.0]], ["a"]).predict([[5.0]]) == "a"
    wide = RNG.normal(size=(10, 400))
    assert TransferForestClassifier(20, random_state=0).fit(wide, np.arange(10) % 2).score(wide, np.arange(10) % 2) == 1


def test_gamma_is_chosen_by_held_out_rows_of_the_target():
    X, y, task, _, _ = spirals(40)
    forest = TransferForestClassifier(15, propagate="none", n_candidates=20, random_state=0)
    found = select_gamma(forest, X, y, task, gammas=(0.0, 0.5), cv=4)
    assert found.gamma == 0.5 and found.errors[1] < found.errors[0] and found.standard_errors[0] > 0
    noisy = np.where(task == 1, np.random.default_rng(0).integers(2, size=len(y)), y)
    far = (np.arange(60) % 2, np.column_stack([np.arange(60) % 2 * 4.0, np.zeros(60)]) + 0.1)
    clean = np.vstack([far[1], X[task == 1]]), np.concatenate([far[0], noisy[task == 1]])
    which = np.concatenate([np.zeros(60, int), np.ones(400, int)])
    assert select_gamma(forest, *clean, which, gammas=(0.0, 1.0)).gamma == 0.0
    assert forest.gamma == 0.25
    with pytest.raises(ValueError, match="cv is 30"):
        select_gamma(forest, X, y, task, cv=30)
    with pytest.raises(ValueError, match="gammas"):
        select_gamma(forest, X, y, task, gammas=())


def test_wide_leaves_by_factor_are_the_solution_of_the_equations():
    """From 32 features on, leaves with more rows than features go through a Cholesky factor."""
    rng = np.random.default_rng(0)
    place = np.repeat([0, 1, 2, 3], [60, 90, 41, 20])
    X = rng.normal(size=(len(place), 40)) @ rng.normal(size=(40, 40)) + rng.normal(size=(4, 40))[place]
    room = 1e-3 * X.var()
    empty = np.array([True, False, False, True])
    got = leaves_module.edges(X, place, "mahalanobis", room, empty)
    mean = np.array([X[place == i].mean(axis=0) for i in range(4)])
    inverse = [np.linalg.inv(np.cov(X[place == i].T, bias=True) + room * np.eye(40)) for i in range(4)]
    for i in range(4):
        for j in range(4):
            d = mean[i] - mean[j]
            if empty[i] or empty[j]:
                assert got[i, j] == pytest.approx(0.5 * d @ (inverse[i] + inverse[j]) @ d, rel=1e-8)
            else:
                assert got[i, j] == 0
    z = X[place == 1] - mean[1]
    assert leaves_module._by_factor(z, mean[1] - mean, room) == pytest.approx(
        [(mean[1] - m) @ inverse[1] @ (mean[1] - m) for m in mean], rel=1e-8
    )


def test_a_matrix_that_has_no_factor_still_gives_lengths():
    """A shrinkage below rounding can leave a matrix indefinite; here it is made so. No length is negative."""
    z = np.zeros((50, 40))
    z[:, 0] = z[:, 1] = np.linspace(-1, 1, 50)
    d = np.zeros((2, 40))
    d[0, :2] = d[1, 5] = 1.0
    lengths = leaves_module._by_factor(z, d, -1e-3)
    assert lengths.tolist() == pytest.approx([2 / (2 * z[:, 0].var() - 1e-3), 0.0])
