"""Trees and stumps from histograms beside the exact search and brute force; bins; best-first trees."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learnable.chapters.boosting_l1_path.theory import BestFirstTrees
from learnable.ensembles import AdaBoost, GradientBoostedTrees, L2Boost
from learnable.ensembles.gradient import GradientBoost
from learnable.ensembles.weak_learners import RegressionTree, SortedFeatures, StumpERM, TreeERM
from learnable.trees import grow
from learnable.trees.best_first import NumberedFeatures, grow_best_first
from learnable.trees.binning import BinnedFeatures, bins_wanted
from learnable.trees.histogram import best_binned_cut, grow_binned


def whole_numbers(seed, n=300, d=4, values=12):
    """Few values and targets whose sums are exact, so that ties are ties however they are summed."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, values, size=(n, d)).astype(float), rng.integers(-8, 9, size=n).astype(float), rng


@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 9), st.integers(1, 40))
@settings(max_examples=60, deadline=None)
def test_few_values_give_the_trees_of_the_exact_search(seed, depth, least, values):
    X, target, _ = whole_numbers(seed, values=values)
    exact = RegressionTree(depth, least, max_bins=None).prepare(X)
    binned = RegressionTree(depth, least, max_bins=256).prepare(X)
    for mine, theirs in zip(binned.split(target), exact.split(target), strict=True):
        np.testing.assert_array_equal(mine, theirs)


@given(st.integers(0, 10**6), st.integers(1, 40))
@settings(max_examples=60, deadline=None)
def test_few_values_give_the_stumps_of_the_exact_search(seed, values):
    X, target, rng = whole_numbers(seed, values=values)
    y = np.where(target >= 0, 1.0, -1.0)
    D = rng.integers(0, 64, size=len(y)) / 1024.0
    exact = StumpERM(max_bins=None).prepare(X).fit(D, y)
    binned = StumpERM(max_bins=256).prepare(X).fit(D, y)
    assert (binned.feature, binned.threshold, binned.sign) == (exact.feature, exact.threshold, exact.sign)
    np.testing.assert_array_equal(binned.outputs, exact.outputs)
    np.testing.assert_array_equal(binned.predict(X), binned.outputs)


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_weighted_trees_are_those_of_the_exact_search(depth):
    for seed in range(8):
        X, target, rng = whole_numbers(seed)
        y, D = np.where(target >= 0, 1.0, -1.0), rng.exponential(size=len(target))
        exact, binned = (TreeERM(depth, max_bins=bins).prepare(X).fit(D, y) for bins in (None, 64))
        np.testing.assert_array_equal(binned.outputs, exact.outputs)
        np.testing.assert_array_equal(binned.predict(X), exact.outputs)
        np.testing.assert_array_equal(np.sort(binned.tree.threshold), np.sort(exact.tree.threshold))
        leaves = [rule.tree.cost[rule.tree.is_leaf].sum() for rule in (exact, binned)]
        assert leaves[0] == pytest.approx(leaves[1])


def test_whole_runs_agree_where_values_are_few():
    X, target, _ = whole_numbers(3, n=600)
    y = (X[:, 0] * X[:, 1] + target > 30).astype(int)
    for model in (
        AdaBoost(n_rounds=20),
        GradientBoost(n_rounds=20),
        GradientBoostedTrees(n_rounds=20),
        AdaBoost(2, 20),
    ):
        exact, binned = (type(model)(**{**model.get_params(), "max_bins": bins}).fit(X, y) for bins in (None, 256))
        np.testing.assert_allclose(binned.decision_function(X), exact.decision_function(X), rtol=1e-9, atol=1e-12)
    exact, binned = (L2Boost(3, 20, 0.5, max_bins=bins).fit(X, target) for bins in (None, 32))
    np.testing.assert_allclose(binned.predict(X), exact.predict(X), rtol=1e-9, atol=1e-12)


def test_many_values_lose_little():
    """256 bins of 3,000 different values: the loss of boosting is about that of the exact search, or less."""
    rng = np.random.default_rng(0)
    X = np.exp(2.0 * rng.normal(size=(3000, 6)))
    y = (np.log(X[:, 0]) + np.log(X[:, 1]) * np.log(X[:, 2]) + rng.normal(size=3000) > 0).astype(int)
    exact, binned = (GradientBoostedTrees(60, max_bins=bins).fit(X, y) for bins in (None, 256))
    assert 0.9 * exact.losses_[-1] < binned.losses_[-1] < 1.03 * exact.losses_[-1]
    edges = BinnedFeatures(X, 256).bins.upper
    used = binned.thresholds_[binned.features_ >= 0], binned.features_[binned.features_ >= 0]
    middles = [np.concatenate([row, 0.5 * (row[:, None] + row).ravel()]) for row in edges]
    assert all(np.isclose(middles[j], cut, rtol=1e-12).any() for cut, j in zip(*used, strict=True))


@given(st.integers(0, 10**6), st.integers(2, 256), st.sampled_from(["normal", "heavy", "few", "constant", "sparse"]))
@settings(max_examples=60, deadline=None)
def test_bins_are_ordered_and_none_is_empty(seed, most, kind):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 700))
    column = {
        "normal": rng.normal(size=n),
        "heavy": rng.normal(size=n) ** 9 * 1e8,
        "few": rng.integers(0, 5, size=n) * 1e-8,
        "constant": np.full(n, -3.5),
        "sparse": np.where(rng.random(n) < 0.8, 0.0, rng.exponential(size=n)),
    }[kind]
    features = BinnedFeatures(column[:, None], most)
    codes, size = features.column(0).astype(int), int(features.bins.size[0])
    assert size <= most and np.array_equal(np.unique(codes), np.arange(size))
    order = np.argsort(column, kind="stable")
    assert (np.diff(codes[order]) >= 0).all()
    different = len(np.unique(column))
    assert features.exact[0] == (different <= most)
    if features.exact[0]:
        assert size == different
        np.testing.assert_array_equal(features.bins.lower[0, codes], column)
    else:
        assert size > most / 3
        assert (column <= features.bins.upper[0, codes]).all() and (column >= features.bins.lower[0, codes]).all()
    assert features.bins.counts[0, :size].sum() == n


def test_a_frequent_value_leaves_the_bins_to_the_others():
    rng = np.random.default_rng(0)
    column = np.where(rng.random(20_000) < 0.9, 0.0, rng.exponential(size=20_000))
    features = BinnedFeatures(column[:, None], 256)
    counts = features.bins.counts[0, : features.bins.size[0]]
    assert features.bins.size[0] > 200 and np.sort(counts)[-2] < 40


def test_rare_values_outside_the_sample_keep_their_bins():
    """Quantiles come from 50,000 rows; a value of few rows among 60,000 must not vanish."""
    column = np.zeros(60_000)
    column[::2] = 1.0
    column[12_345], column[54_321] = 7.0, -2.0
    features = BinnedFeatures(column[:, None])
    assert features.exact[0] and features.bins.size[0] == 4
    y = np.where(column > 5.0, 1.0, -1.0)
    rule = StumpERM().prepare(column[:, None]).fit(np.where(y > 0, 0.5, 1e-6), y)
    assert (rule.feature, rule.threshold, rule.sign) == (0, 4.0, 1)


@pytest.mark.parametrize("unit", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("shift", [0.0, 1e8])
def test_units_and_origins_of_the_target_do_not_matter(unit, shift):
    X, target, _ = whole_numbers(5)
    plain = grow_binned(BinnedFeatures(X), target, max_depth=4)
    other = grow_binned(BinnedFeatures(unit * X), unit * (target + shift), max_depth=4)
    np.testing.assert_array_equal(other.feature, plain.feature)
    np.testing.assert_array_equal(other.leaf, plain.leaf)
    np.testing.assert_allclose(other.mean / unit - shift, plain.mean, atol=1e-6)


def test_edges_of_the_problem():
    one = grow_binned(BinnedFeatures([[2.0, 3.0]]), [5.0], max_depth=3)
    assert one.feature.tolist() == [-1] and one.mean.tolist() == [5.0] and one.leaf.tolist() == [0]
    flat = grow_binned(BinnedFeatures([[1.0], [1.0], [1.0]]), [1.0, 2.0, 6.0])
    assert flat.feature.tolist() == [-1] and flat.mean[0] == pytest.approx(3.0)
    pure = grow_binned(BinnedFeatures(np.arange(9.0)[:, None]), np.full(9, 0.1), max_depth=5)
    assert pure.feature.tolist() == [-1]
    # No first cut of an exclusive or gains anything, yet it is made.
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    xor = RegressionTree(2, max_bins=2).prepare(X).fit(np.array([1.0, -1.0, -1.0, 1.0]))
    assert xor.outputs.tolist() == [1.0, -1.0, -1.0, 1.0]
    constant = StumpERM(max_bins=4).prepare(np.ones((4, 2))).fit(np.full(4, 0.25), np.array([1.0, 1.0, 1.0, -1.0]))
    assert (constant.feature, constant.sign) == (-1, 1)
    close = np.array([[1.0], [np.nextafter(1.0, 2.0)]])
    rule = StumpERM(max_bins=2).prepare(close).fit(np.full(2, 0.5), np.array([-1.0, 1.0]))
    assert rule.predict(close).tolist() == [-1.0, 1.0]


def test_a_weight_of_zero_has_no_say():
    X, target, rng = whole_numbers(9)
    keep = rng.random(len(target)) < 0.6
    some = grow_binned(BinnedFeatures(X), target, keep.astype(float), max_depth=3)
    alone = grow_binned(BinnedFeatures(X[keep]), target[keep], np.ones(keep.sum()), max_depth=3)
    np.testing.assert_array_equal(some.leaf[keep], alone.leaf)


def test_auto_is_exact_below_twenty_five_hundred_rows():
    assert bins_wanted("auto", 2_499) is None and bins_wanted("auto", 2_500) == 256
    X = np.random.default_rng(0).normal(size=(2_500, 2))
    assert isinstance(RegressionTree(3).prepare(X).features, BinnedFeatures)
    assert isinstance(RegressionTree(9).prepare(X).features, SortedFeatures)
    assert isinstance(RegressionTree(3, max_bins=None).prepare(X).features, SortedFeatures)
    assert isinstance(StumpERM().prepare(X[:2_499]).features, SortedFeatures)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: BinnedFeatures([[np.nan]]), "X"),
        (lambda: BinnedFeatures(np.zeros((0, 2))), "at least one row"),
        (lambda: BinnedFeatures([[1.0]], 300), "max_bins"),
        (lambda: BinnedFeatures([[1.0]], 1), "max_bins"),
        (lambda: AdaBoost(max_bins="many").fit([[0.0], [1.0]], [0, 1]), "max_bins must be 'auto'"),
        (lambda: GradientBoostedTrees(max_bins=1.5).fit([[0.0], [1.0]], [0, 1]), "max_bins"),
        (lambda: GradientBoostedTrees(max_bins=8).fit([[0.0], [np.inf]], [0, 1]), "infinity"),
        (lambda: AdaBoost(max_bins=8).fit([[0.0], [np.nan]], [0, 1]), "NaN"),
        (lambda: grow_binned(BinnedFeatures([[1.0]]), [1.0, 2.0]), "target must hold"),
        (lambda: grow_binned(BinnedFeatures([[1.0]]), [1.0], [-1.0]), "sample_weight"),
        (lambda: grow_binned(BinnedFeatures([[1.0]]), [1.0], [1.0], min_samples_leaf=2), "min_samples_leaf must be 1"),
        (lambda: grow_binned(BinnedFeatures([[1.0]]), [1.0], max_depth=0), "max_depth"),
        (lambda: NumberedFeatures(np.zeros((0, 1))), "at least one row"),
        (lambda: grow_best_first(NumberedFeatures([[1.0]]), [1.0], [0.0], 2), "weights not negative"),
    ],
)
def test_bad_input_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_other_features_are_a_type_error():
    for call in (lambda: grow_binned([[1.0]], [1.0]), lambda: best_binned_cut([[1.0]], [1.0])):
        with pytest.raises(TypeError, match="BinnedFeatures"):
            call()


def shape(tree, node=0):
    """Cuts from the root down, whatever the numbers of the nodes."""
    if tree.feature[node] < 0:
        return round(float(tree.value[node, 0]), 9)
    below = (shape(tree, tree.left[node]), shape(tree, tree.right[node]))
    return int(tree.feature[node]), float(tree.threshold[node]), *below


@given(st.integers(0, 10**6), st.integers(1, 20), st.sampled_from([None, 1, 3]), st.booleans())
@settings(max_examples=60, deadline=None)
def test_best_first_trees_are_full_trees_pruned(seed, leaves, depth, weighted):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 3)).round(1)
    X[rng.random(X.shape) < 0.5] = 0.0
    target = rng.normal(size=80)
    weight = rng.exponential(size=80) if weighted else None
    grown = grow(X, target, "squared", sample_weight=weight, max_leaf_nodes=leaves, max_depth=depth)
    pruned = grow(X, target, "squared", sample_weight=weight, max_depth=depth).best_first(leaves)
    assert shape(grown) == shape(pruned)
    assert grown.cost.sum() == pytest.approx(pruned.cost.sum())
    assert sorted(grown.depth) == sorted(pruned.depth)


def test_both_learners_of_bounded_trees_are_one_engine():
    """They differ only where no cut gains anything."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 4))
    y, D = np.where(X[:, 0] * X[:, 1] > 0.1, 1.0, -1.0), rng.exponential(size=200)
    one, other = (learner.prepare(X).fit(D, y) for learner in (BestFirstTrees(7), TreeERM(None, 7)))
    assert shape(one.tree) == shape(other.tree) and one.n_leaves == other.n_leaves == 7
    pure = np.full(2, 0.5), np.array([1.0, 1.0])
    assert (
        BestFirstTrees(7).prepare(X[:2]).fit(*pure).n_leaves == TreeERM(None, 7).prepare(X[:2]).fit(*pure).n_leaves == 1
    )
    corners = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    signs = np.array([1.0, -1.0, -1.0, 1.0])
    assert TreeERM(None, 4).prepare(corners).fit(np.full(4, 0.25), signs).n_leaves == 4
    assert BestFirstTrees(4).prepare(corners).fit(np.full(4, 0.25), signs).n_leaves == 1
