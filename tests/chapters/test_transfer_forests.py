"""Transfer-learning decision forests: the claims of the source, checked."""

import itertools

import numpy as np
import pytest
from scipy import stats
from scipy.spatial.distance import mahalanobis

from learnable.chapters.transfer_forests.theory import (
    classify_video,
    leaf_graph,
    levenshtein,
    motion_features,
    motion_history_image,
    plugin_entropy_bounds,
    sequence_error,
    task_information,
    video_scores,
)
from learnable.datasets.shapes import make_spirals
from learnable.ensembles import TransferForestClassifier, mixed_information_gain
from learnable.ensembles.transfer_forests import information_gain, propagate_leaves
from learnable.trees.multitask import encode_tasks, grow_multitask


def spirals(n_target=16, n_source=400, n_test=1500, seed=0):
    X, y = make_spirals(n_target + n_source + n_test, random_state=seed, return_X_y=True)
    n = n_target + n_source
    return X[:n], y[:n], (np.arange(n) >= n_target).astype(int), X[n:], y[n:]


def random_counts(rng, n_tasks):
    sizes = rng.integers(2, 5, size=n_tasks)
    return ([rng.integers(0, 9, size=k) for k in sizes] for _ in range(2))


def test_concatenating_labels_adds_the_information_about_the_task():
    rng = np.random.default_rng(1)
    for _ in range(50):
        left, right = random_counts(rng, 4)
        total = mixed_information_gain(left, right, 1.0, source="concatenated")
        assert total == pytest.approx(
            mixed_information_gain(left, right, 1.0) + task_information(left, right), abs=1e-12
        )
    # Two sources with labels 2/2, and a split that does nothing but tell them apart.
    left, right = [[1, 1], [2, 2], [0, 0]], [[1, 1], [0, 0], [2, 2]]
    assert mixed_information_gain(left, right, 1.0, source="concatenated") == pytest.approx(np.log(2))
    assert mixed_information_gain(left, right, 1.0) == 0.0
    # Equal for one source, and for a split that is independent of the task.
    one = mixed_information_gain([[1, 1], [4, 1]], [[1, 1], [0, 3]], 1.0, source="concatenated")
    assert one == pytest.approx(mixed_information_gain([[1, 1], [4, 1]], [[1, 1], [0, 3]], 1.0))
    assert task_information([[0, 0], [4, 1], [0, 5]], [[9, 9], [0, 5], [5, 0]]) == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize(
    ("p", "size", "printed"),
    [([0.5, 0.5], 10, (0.6401, 0.6931, 0.7354)), ([0.2, 0.3, 0.5], 5, (0.7869, 1.0297, 1.1105))],
)
def test_theorem_1_holds_with_the_inequalities_turned_round(p, size, printed):
    found = plugin_entropy_bounds(p, size)
    assert (found.expected, found.entropy, found.expected + found.gap) == pytest.approx(printed, abs=5e-5)
    assert not found.expected + found.gap <= found.entropy  # as it is printed


def test_theorem_1_bounds_hold_for_random_laws_and_the_mean_is_exact():
    rng = np.random.default_rng(2)
    for _ in range(30):
        p, size = rng.dirichlet(np.ones(rng.integers(1, 6))), int(rng.integers(1, 40))
        found = plugin_entropy_bounds(p, size)
        assert found.expected <= found.entropy + 1e-12 <= found.expected + found.gap + 2e-12
    p = np.array([0.2, 0.3, 0.5])
    every = np.array(list(itertools.product(range(3), repeat=4)))
    mean = sum(p[s].prod() * stats.entropy(np.bincount(s, minlength=3)) for s in every)
    assert plugin_entropy_bounds(p, 4).expected == pytest.approx(mean)
    assert plugin_entropy_bounds(p, 1).expected == 0.0
    assert plugin_entropy_bounds([1.0, 0.0], 3).gap == 0.0


def test_with_gamma_one_the_labels_of_the_target_do_not_shape_the_trees():
    X, y, task, _, _ = spirals(60)
    other = y.copy()
    other[task == 0] = np.random.default_rng(0).permutation(y[task == 0])
    for gamma, same in ((1.0, True), (0.5, False)):
        grown = [
            grow_multitask(X, encode_tasks(labels, task), gamma=gamma, seeds=[1, 2], split="oblique")
            for labels in (y, other)
        ]
        leaves = [[tree.apply(X) for tree in trees] for trees in grown]
        assert np.array_equal(*leaves) if same else not np.array_equal(*leaves)


def test_a_node_stops_when_all_tasks_are_pure():
    x = np.arange(12.0)[:, None]
    task = np.repeat([0, 1], 6)
    pure = np.zeros(12, int)
    assert len(grow_multitask(x, encode_tasks(pure, task))[0].left) == 1
    one_source_is_not = pure.copy()
    one_source_is_not[9:] = 1
    (tree,) = grow_multitask(x, encode_tasks(one_source_is_not, task), gamma=0.0)
    assert len(tree.left) > 1 and (tree.counts[tree.leaves].sum(axis=1) == 0).any()
    (tree,) = grow_multitask(x, encode_tasks(np.arange(12) % 3, task), min_samples_split=6)
    assert tree.n_rows[tree.left >= 0].min() >= 6 and tree.depth.max() <= 8
    assert grow_multitask(x, encode_tasks(np.arange(12) % 3), max_depth=None)[0].counts.max() == 4


def test_related_source_steadies_the_chosen_threshold():
    # Two hundred source rows fix where the label changes; the issue is the same for four target rows.
    rng = np.random.default_rng(4)
    found = {0.0: [], 0.5: []}
    for repetition in range(120):
        x = rng.random((204, 1))
        task = (np.arange(204) >= 4).astype(int)
        labels = encode_tasks((x[:, 0] > 0.5).astype(int), task)
        for gamma, cuts in found.items():
            (tree,) = grow_multitask(x, labels, gamma=gamma, max_depth=1, seeds=[repetition])
            cuts.append(tree.threshold[0])
    assert np.std(found[0.0]) > 3 * np.std(found[0.5])


def leaf_data(d, k=6, n=90, seed=5):
    rng = np.random.default_rng(seed)
    leaves = np.concatenate([np.arange(k), rng.integers(k, size=n - k)])
    return rng.normal(size=(n, d)) * np.linspace(0.5, 3, d) + 2 * rng.normal(size=(k, d))[leaves], leaves


@pytest.mark.parametrize("d", [2, 40])  # 40 features: leaves have fewer rows, and no matrix of 40 by 40 is formed
def test_edges_are_symmetric_mahalanobis_distances(d):
    X, leaves = leaf_data(d)
    graph = leaf_graph(X, leaves)
    room = 1e-3 * np.diag(X.var(axis=0))
    for i, j in itertools.combinations(range(6), 2):
        a, b = X[leaves == i], X[leaves == j]
        inverse = [np.linalg.inv(np.cov(part.T, bias=True) + room) for part in (a, b)]
        lengths = [mahalanobis(a.mean(axis=0), b.mean(axis=0), precision) ** 2 for precision in inverse]
        assert graph[i, j] == graph[j, i] == pytest.approx(np.mean(lengths), rel=1e-6)
    assert (np.diag(graph) == 0).all()


def test_the_printed_covariance_is_zero_and_the_printed_weight_is_no_mahalanobis_distance():
    X, leaves = leaf_data(3)
    centred = X[leaves == 0] - X[leaves == 0].mean(axis=0)
    np.testing.assert_allclose(sum(np.outer(a, b) for a in centred for b in centred), 0, atol=1e-9)
    # Both leaves have the covariance diag(9, 0.01), and their means differ by one along the first axis.
    cloud = np.array([[3, 0.1], [3, -0.1], [-3, 0.1], [-3, -0.1]])
    X, leaves = np.vstack([cloud, cloud + [1, 0]]), np.repeat([0, 1], 4)
    assert leaf_graph(X, leaves, metric="printed")[0, 1] == pytest.approx(9)
    assert leaf_graph(X, leaves, shrinkage=1e-9)[0, 1] == pytest.approx(1 / 9, rel=1e-6)
    assert leaf_graph(X, leaves, metric="euclidean")[0, 1] == pytest.approx(1)


def test_edges_do_not_depend_on_the_unit_the_origin_or_a_leaf_of_one_row():
    X, leaves = leaf_data(4)
    graph = leaf_graph(X, leaves)
    np.testing.assert_allclose(leaf_graph(1e8 * X, leaves), graph, rtol=1e-8)
    np.testing.assert_allclose(leaf_graph(1e-8 * X + 3e-8, leaves), graph, rtol=1e-6)
    np.testing.assert_allclose(leaf_graph(X * [1e8, 1.0, 1e-8, 3.0], leaves), graph, rtol=1e-8)
    np.testing.assert_allclose(leaf_graph(np.asfortranarray(X), leaves), graph)
    lonely = np.vstack([X, X[:1] + 1])
    assert np.isfinite(leaf_graph(lonely, np.append(leaves, 6))).all()
    assert np.isfinite(leaf_graph(np.ones((4, 2)), [0, 0, 1, 1])).all()


def test_propagated_leaves_are_those_of_the_graph_of_all_edges():
    X, y, task, _, _ = spirals()
    for metric in ("mahalanobis", "printed", "euclidean"):
        model = TransferForestClassifier(3, propagate=metric, gamma=0.5, random_state=0).fit(X, y, task)
        for tree, values in zip(model.trees_, model.values_, strict=True):
            place = np.searchsorted(tree.leaves, tree.apply(X))
            expected = propagate_leaves(leaf_graph(X, place, metric=metric), tree.counts[tree.leaves]).proba
            np.testing.assert_allclose(values[tree.leaves], expected)


def test_motion_history_counts_the_frames_since_a_pixel_moved():
    rng = np.random.default_rng(7)
    video = rng.integers(0, 60, size=(30, 4, 5)).astype(np.uint8)
    found = motion_history_image(video, tau=6, xi=40)
    moved = np.abs(np.diff(video.astype(int), axis=0)) >= 40
    for t, i, j in itertools.product(range(30), range(4), range(5)):
        when = np.flatnonzero(moved[:t, i, j])
        expected = max(0, 6 - (t - 1 - when[-1])) if len(when) else 0
        assert found[t, i, j] == expected
    assert (motion_history_image(video[:1]) == 0).all()


def test_features_are_means_over_the_cells_of_a_grid():
    video = np.random.default_rng(8).integers(0, 256, size=(5, 48, 64)).astype(np.uint8)
    history = motion_history_image(video)
    blocks = history.reshape(5, 12, 4, 16, 4).mean(axis=(2, 4)).reshape(5, 192)
    np.testing.assert_allclose(motion_features(video), blocks)
    uneven = motion_features(video[:, :7, :9], shape=(3, 4)).mean(axis=1)
    np.testing.assert_allclose(uneven, history[:, :7, :9].mean(axis=(1, 2)))


def test_votes_of_frames_are_floored_and_do_not_underflow():
    proba = np.array([[0.0, 1.0], [0.8, 0.2], [0.8, 0.2], [0.8, 0.2], [0.9, 0.1], [0.9, 0.1], [0.9, 0.1]])
    expected = [np.log(0.0005) + 3 * np.log(0.8) + 3 * np.log(0.9), 3 * np.log(0.2) + 3 * np.log(0.1)]
    np.testing.assert_allclose(video_scores(proba), expected)
    assert (
        video_scores(proba)[0] > video_scores(proba)[1] and np.isfinite(video_scores(np.tile(proba, (9999, 1)))).all()
    )
    dull = np.vstack([proba, np.full((50, 2), 0.5)])
    assert np.diff(video_scores(dull)) == pytest.approx(np.diff(video_scores(proba)))

    class Fixed:
        classes_ = np.array(["nod", "wave"])

        def predict_proba(self, frames):
            return proba

    assert classify_video(Fixed(), None) == "nod"


def test_edit_distance_is_that_of_the_recursion():
    def brute(a, b):
        if not a or not b:
            return len(a) + len(b)
        return min(brute(a[1:], b[1:]) + (a[0] != b[0]), brute(a[1:], b) + 1, brute(a, b[1:]) + 1)

    rng = np.random.default_rng(9)
    for _ in range(25):
        a, b = (rng.integers(0, 3, size=rng.integers(0, 5)).tolist() for _ in range(2))
        assert levenshtein(a, b) == brute(a, b)
    assert levenshtein(["x", "y"], ["y"]) == 1
    assert sequence_error([["a", "b"], ["c"]], [["a"], ["c", "c"]]) == pytest.approx(2 / 3)


X0, Y0 = np.arange(12.0).reshape(6, 2), [0, 1, 0, 1, 0, 1]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: information_gain([-1, 2], [1, 1]), "left must"),
        (lambda: information_gain([1, 2], [1]), "right must"),
        (lambda: mixed_information_gain([[1, 2]], [[1, 2], [1, 0]], 0.5), "right must"),
        (lambda: mixed_information_gain([[1, 2]], [[1, 2]], 1.5), "gamma"),
        (lambda: mixed_information_gain([[1, 2]], [[1, 2]], 0.5, source="all"), "source"),
        (lambda: propagate_leaves(-np.ones((2, 2)), [[1, 0], [0, 1]]), "graph must"),
        (lambda: propagate_leaves(np.ones((3, 3)), [[1, 0], [0, 1]]), "graph must"),
        (lambda: encode_tasks(Y0, [0, 0, 1]), "task must"),
        (lambda: encode_tasks(Y0, [1] * 6, target=0), "target"),
        (lambda: grow_multitask(X0, encode_tasks([0, 1])), "labels"),
        (lambda: grow_multitask(X0, encode_tasks(Y0), rows=[[7]]), "rows"),
        (lambda: grow_multitask(X0, encode_tasks(Y0), rows=[[1], [2]]), "rows"),
        (lambda: grow_multitask(X0, encode_tasks(Y0), split="both"), "split"),
        (lambda: grow_multitask(X0, encode_tasks(Y0), split="oblique", n_active=3), "n_active"),
        (lambda: grow_multitask(X0, encode_tasks(Y0), task_weight=[1, 1]), "task_weight"),
        (lambda: TransferForestClassifier(0).fit(X0, Y0), "n_estimators"),
        (lambda: TransferForestClassifier(gamma=-1).fit(X0, Y0), "gamma"),
        (lambda: TransferForestClassifier(propagate="far").fit(X0, Y0), "propagate"),
        (lambda: TransferForestClassifier(source="far").fit(X0, Y0), "source"),
        (lambda: TransferForestClassifier(max_depth=-1).fit(X0, Y0), "max_depth"),
        (lambda: TransferForestClassifier(n_candidates=0).fit(X0, Y0), "n_candidates"),
        (lambda: TransferForestClassifier(min_samples_split=1).fit(X0, Y0), "min_samples_split"),
        (lambda: TransferForestClassifier().fit(X0 * 1e200, Y0), "X must"),
    ],
)
def test_bad_input_is_refused_by_name(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_inputs_stay():
    X, y, task, _, _ = spirals()
    kept = [part.copy() for part in (X, y, task)]
    TransferForestClassifier(2, bootstrap=True, random_state=0).fit(X, y, task)
    for part, before in zip((X, y, task), kept, strict=True):
        np.testing.assert_array_equal(part, before)
