"""Prunings of a given tree, their penalties and certificates: the claims of the source, checked by enumeration."""

import itertools
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from learnable.chapters.rademacher_tree_pruning.experiments import led_node_errors, load_table
from learnable.chapters.rademacher_tree_pruning.theory import interval_penalty, relabelled_penalty, sup_deviation
from learnable.datasets import load
from learnable.datasets.rules import make_led
from learnable.ensembles import (
    CertifiedTree,
    bound_curve,
    certify,
    grow_prunable,
    grow_prune_test_split,
    rademacher_penalty,
)
from learnable.ensembles.certified_trees import (
    averaged_bound,
    binomial_bound,
    confidence_term,
    occam_bound,
    rademacher_bound,
)
from learnable.trees.reduced_error import (
    GivenTree,
    InfeasibleBudget,
    k_rep,
    largest_sums,
    log_n_prunings,
    node_errors,
    reduced_error_pruning,
)


def random_tree(rng, n_inner, widths=(2,), n_classes=3, most=6):
    """A random shape with random examples at its leaves: the tree, its leaves, and counts of classes by node."""
    parent, leaves = [-1], [0]
    for _ in range(n_inner):
        node = leaves.pop(rng.integers(len(leaves)))
        for _ in range(rng.choice(widths)):
            leaves.append(len(parent))
            parent.append(node)
    m = len(parent)
    counts = np.zeros((m, n_classes), int)
    for leaf in leaves:
        counts[leaf] = rng.integers(0, most, n_classes)
    for node in range(m - 1, 0, -1):
        counts[parent[node]] += counts[node]
    return GivenTree(parent, counts.argmax(axis=1), counts.sum(axis=1) - counts.max(axis=1)), np.array(sorted(leaves))


def enumerate_prunings(tree):
    """All prunings as tuples of leaves, by recursion."""
    children = [np.flatnonzero(tree.parent == node) for node in range(tree.n_nodes)]

    def below(node):
        found = [(node,)]
        if len(children[node]):
            for parts in itertools.product(*(below(child) for child in children[node])):
                found.append(tuple(itertools.chain(*parts)))
        return found

    return below(0)


def size_of(tree, leaves):
    alive = set()
    for node in leaves:
        while node >= 0:
            alive.add(int(node))
            node = tree.parent[node]
    return len(alive)


def cases(n_cases, seed=0, widths=(2,), most_prunings=2000):
    rng = np.random.default_rng(seed)
    for _ in range(n_cases):
        tree, leaves = random_tree(rng, rng.integers(0, 8 if max(widths) == 2 else 4), widths)
        prunings = enumerate_prunings(tree)
        assert len(prunings) <= most_prunings
        leaf = rng.choice(leaves, size=rng.integers(1, 30))
        codes = rng.integers(0, 4, size=len(leaf))  # class 3 is unknown to the tree
        codes[codes == 3] = -1
        yield rng, tree, prunings, leaf, codes


def made(name="page_blocks", random_state=0):
    X, y = load_table(name)
    return grow_prunable(X, y, grow_prune_test_split(len(y), random_state=random_state), random_state=0)


@pytest.fixture(scope="module")
def pages():
    return made()


@pytest.mark.parametrize("widths", [(2,), (2, 3, 4)])
def test_claim_01_rep_is_the_smallest_of_the_most_accurate_prunings(widths):
    for _, tree, prunings, leaf, codes in cases(200 if widths == (2,) else 60, widths=widths):
        errors = node_errors(tree, leaf, codes)
        found = reduced_error_pruning(tree, errors)
        best = min((errors[list(p)].sum(), size_of(tree, p)) for p in prunings)
        assert (found.error, found.size) == best
        assert tuple(found.leaves) in {tuple(sorted(p)) for p in prunings}


@pytest.mark.parametrize("widths", [(2,), (2, 3, 4)])  # folding children one by one equals enumeration of partitions
def test_claim_02_k_rep_is_the_best_pruning_within_every_budget(widths):
    for _, tree, prunings, leaf, codes in cases(60, seed=1, widths=widths):
        errors = node_errors(tree, leaf, codes)
        table = [(tree.grow_errors[list(p)].sum(), errors[list(p)].sum(), size_of(tree, p)) for p in prunings]
        root = int(tree.grow_errors[0])
        for k in range(tree.errors, root + 2):
            found = k_rep(tree, errors, k)
            assert (found.error, found.size) == min((e, s) for g, e, s in table if g <= k)
            assert found.grow_errors == tree.grow_errors[found.leaves].sum() <= k
            assert found.error == errors[found.leaves].sum()
        if tree.errors > 0:
            with pytest.raises(InfeasibleBudget, match="k must be at least"):
                k_rep(tree, errors, tree.errors - 1)
        rep, free = reduced_error_pruning(tree, errors), k_rep(tree, errors, root)
        assert (rep.error, rep.size) == (free.error, free.size)
        assert min(g for g, _, _ in table) == tree.errors


def test_claim_03_errors_fall_as_the_budget_grows_and_c_1_allows_no_extra_errors(pages):
    ks = range(pages.tree.errors, pages.tree.grow_errors[0], 3)
    errors = [pages.prune(k).error for k in ks]
    assert (np.diff(errors) <= 0).all() and errors[0] > errors[-1] == pages.prune().error
    assert pages.prune(pages.budget(1)).grow_errors == pages.tree.errors


@pytest.mark.parametrize("name", ["page_blocks", "magic"])
def test_claim_04_both_roads_to_the_penalty_agree(name):
    grown = made(name)
    rng = np.random.default_rng(0)
    for k in (None, grown.tree.errors, grown.budget(1.1)):
        for _ in range(3):
            signs = rng.choice([-1, 1], size=grown.n_prune)
            assert relabelled_penalty(grown, signs, k) == rademacher_penalty(grown, k, signs=signs)


def test_claim_05_complement_labels_of_two_classes_are_flipped_labels():
    grown = made("magic")
    assert len(grown.classes) == 2
    signs = np.random.default_rng(1).choice([-1, 1], size=grown.n_prune)
    found = []
    for s in (signs, -signs):
        flipped = np.where(s > 0, 1 - grown.prune_codes, grown.prune_codes)
        best = reduced_error_pruning(grown.tree, node_errors(grown.tree, grown.prune_leaf, flipped))
        found.append((s > 0).sum() - best.error)
    assert max(found) / grown.n_prune == rademacher_penalty(grown, signs=signs)


def test_claim_06_the_penalty_is_the_maximum_over_all_prunings():
    for rng, tree, prunings, leaf, codes in cases(60, seed=2):
        signs = rng.choice([-1.0, 1.0], size=(len(leaf), 3))
        scores = node_errors(tree, leaf, codes, signs)
        sums = np.array([scores[list(p)].sum(axis=0) for p in prunings])
        np.testing.assert_array_equal(largest_sums(tree, scores), sums.max(axis=0))
        k = int(rng.integers(tree.errors, tree.grow_errors[0] + 1))
        allowed = [tree.grow_errors[list(p)].sum() <= k for p in prunings]
        np.testing.assert_array_equal(largest_sums(tree, scores, k), sums[allowed].max(axis=0))
        by_hand = [sum(signs[i] * (codes[i] != tree.label[node]) for i in reach(tree, leaf, node)) for node in (0,)]
        np.testing.assert_array_equal(scores[0], by_hand[0])


def reach(tree, leaf, node):
    """Numbers of the examples below a node."""
    found = []
    for i, at in enumerate(leaf):
        while at >= 0:
            if at == node:
                found.append(i)
            at = tree.parent[at]
    return found


def test_claim_07_fewer_prunings_have_a_smaller_penalty(pages):
    signs = np.random.default_rng(0).choice([-1, 1], size=(20, pages.n_prune))
    every = rademacher_penalty(pages, signs=signs)
    some = rademacher_penalty(pages, pages.budget(1.1), signs=signs)
    one = rademacher_penalty(pages, pages.tree.errors, signs=signs)
    assert (0 <= one).all() and (one <= some).all() and (some <= every).all() and (every <= 1).all()
    assert one.mean() < some.mean() < every.mean()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_claim_08_one_example_moves_the_penalty_by_two_over_n_and_by_one_if_its_sign_stays(seed):
    rng = np.random.default_rng(seed)
    tree, leaves = random_tree(rng, 5)
    n = 12
    leaf, codes, signs = rng.choice(leaves, n), rng.integers(0, 3, n), rng.choice([-1.0, 1.0], n)

    def penalty(leaf, codes, signs):
        scores = node_errors(tree, leaf, codes, signs)
        return max(largest_sums(tree, scores), largest_sums(tree, -scores)) / n

    before = penalty(leaf, codes, signs)
    leaf[0], codes[0] = rng.choice(leaves), rng.integers(0, 3)
    after = penalty(leaf, codes, signs)
    assert abs(after - before) <= 1 / n + 1e-12
    signs[0] *= -1
    assert abs(penalty(leaf, codes, signs) - before) <= 2 / n + 1e-12


def test_claim_09_theorem_1_deviation_is_at_most_twice_the_penalty_on_average():
    X, y = make_led(1500, random_state=0, return_X_y=True)
    split = grow_prune_test_split(1500, test=0.0, random_state=0)
    grown = grow_prunable(X, y, split, random_state=0)
    truth = led_node_errors(grown)
    deviations, penalties = [], []
    for seed in range(60):
        fresh_X, fresh_y = make_led(500, random_state=1000 + seed, return_X_y=True)
        X[split.prune], y[split.prune] = fresh_X, fresh_y
        again = grow_prunable(X, y, split, random_state=0)  # the same growing data, hence the same tree
        assert again.tree.n_nodes == grown.tree.n_nodes
        deviations.append(sup_deviation(again, truth))
        penalties.append(rademacher_penalty(again, random_state=seed)[0])
    ratio = np.mean(deviations) / (2 * np.mean(penalties))
    assert 0.2 < ratio < 0.7  # by 60 draws: 0.46 ± 0.01


def test_claim_10_exact_led_errors_are_those_of_fresh_examples():
    X, y = make_led(1500, random_state=1, return_X_y=True)
    grown = grow_prunable(X, y, grow_prune_test_split(1500, test=0.0, random_state=0), random_state=0)
    truth = led_node_errors(grown)
    X, y = make_led(100_000, random_state=2, return_X_y=True)
    counted = node_errors(grown.tree, grown.apply(X), y) / len(y)
    assert np.abs(counted - truth).max() < 5 * np.sqrt(0.25 / len(y))
    assert truth[0] == pytest.approx(0.9)


def complete(height):
    return GivenTree(
        [-1] + [(i - 1) // 2 for i in range(1, 2 ** (height + 1) - 1)], *np.zeros((2, 2 ** (height + 1) - 1))
    )


def caterpillar(n_inner):
    parent = [-1]
    for i in range(n_inner):
        parent += [max(0, 2 * i - 1)] * 2
    return GivenTree(parent, *np.zeros((2, len(parent))))


def test_claim_11_complete_trees_have_1_plus_the_square_and_caterpillars_one_more_than_inner_nodes():
    count = 1
    for height in range(6):
        assert np.exp(log_n_prunings(complete(height))) == pytest.approx(count, rel=1e-12)
        count = 1 + count**2
    for n_inner in (0, 1, 7, 500):
        assert np.exp(log_n_prunings(caterpillar(n_inner))) == pytest.approx(n_inner + 1, rel=1e-10)
    # So d/4 bits are too few for the first and far too many for the second.
    deep = complete(14)
    assert log_n_prunings(deep) / np.log(2) / deep.n_nodes == pytest.approx(0.294, abs=5e-4)
    assert log_n_prunings(caterpillar(500)) / np.log(2) / 1001 < 0.01


@pytest.mark.parametrize("widths", [(2,), (2, 3, 4)])
def test_claim_12_counts_are_those_of_the_enumeration(widths):
    for _, tree, prunings, _, _ in cases(40, seed=3, widths=widths):
        assert np.exp(log_n_prunings(tree)) == pytest.approx(len(prunings), rel=1e-10)
        grow = np.array([tree.grow_errors[list(p)].sum() for p in prunings])
        for k in range(tree.errors, tree.grow_errors[0] + 1):
            assert np.exp(log_n_prunings(tree, k)) == pytest.approx((grow <= k).sum(), rel=1e-10)


def test_claim_13_grown_trees_have_about_a_quarter_of_a_bit_for_each_node():
    for name in ("nursery", "page_blocks", "penbased"):
        tree = made(name).tree
        assert 0.2 < log_n_prunings(tree) / np.log(2) / tree.n_nodes < 0.3


def test_claim_14_lemma_3_holds_in_every_repetition():
    failed = 0
    for seed in range(12):
        X, y = make_led(900, random_state=seed, return_X_y=True)
        grown = grow_prunable(X, y, grow_prune_test_split(900, test=0.0, random_state=seed), random_state=0)
        truth = led_node_errors(grown)
        for kind in ("rademacher", "averaged", "occam", "binomial"):
            for k in (None, grown.budget(1.1)):
                pruning = grown.prune(k)
                found = certify(grown, pruning, kind, k=k, delta=0.01, n_draws=10, random_state=seed)
                failed += truth[pruning.leaves].sum() > found.bound
    assert failed == 0


def test_claim_15_sizes_of_table_1_are_met_on_three_sets():
    printed = {"letter": (2543.8, 1907.0, 1292.4), "nursery": (392.0, 349.4, 306.8), "penbased": (411.0, 324.0, 245.8)}
    for name, sizes in printed.items():
        ours = np.array(
            [(g.tree.n_nodes, g.prune(g.budget(1.1)).size, g.prune().size) for g in map(made, [name] * 2, [0, 1])]
        )
        np.testing.assert_allclose(ours.mean(axis=0), sizes, rtol=0.15)


def test_erratum_the_size_condition_must_keep_the_budget():
    tree = GivenTree([-1, 0, 0, 1, 1, 2, 2], label=[0] * 7, grow_errors=[8, 3, 4, 1, 0, 1, 1])
    errors = np.array([7, 2, 3, 1, 2, 2, 1])
    found = k_rep(tree, errors, 5)
    assert (found.error, found.size, found.grow_errors) == (5, 5, 5)
    # As printed, the size must be the smallest of all prunings with five errors: three nodes, beyond the budget.
    printed = min(size_of(tree, p) for p in enumerate_prunings(tree) if errors[list(p)].sum() == found.error)
    assert printed == 3 < found.size and reduced_error_pruning(tree, errors).grow_errors == 7 > 5


def test_erratum_wide_splits_take_linear_time_in_their_width():
    rng = np.random.default_rng(0)
    width = 400  # partitions of a budget of 60 into 400 addends cannot be tried one by one
    parent = np.concatenate([[-1], np.zeros(width), np.repeat(np.arange(1, width + 1), 2)])
    grow = np.concatenate([[3 * width], rng.integers(1, 4, width), np.zeros(2 * width)])
    errors = rng.integers(0, 9, len(parent))
    errors[0] = 10**6
    tree = GivenTree(parent, np.zeros(len(parent)), grow)
    found = k_rep(tree, errors, 60)
    gain = errors[width + 1 :].reshape(width, 2).sum(axis=1) - errors[1 : width + 1]  # a knapsack over the children
    best = np.zeros(61)
    for g, cost in zip(gain, grow[1 : width + 1].astype(int), strict=True):
        best[cost:] = np.maximum(best[cost:], best[:-cost] + g)
    assert found.error == errors[width + 1 :].sum() - best[60]


def test_erratum_a_quarter_of_the_nodes_is_no_code_length():
    balanced, thin = complete(9), caterpillar(511)
    d = balanced.n_nodes
    assert d == thin.n_nodes
    assert log_n_prunings(balanced) > np.log(2) * d / 4 > 20 * log_n_prunings(thin)


def test_the_mean_of_many_draws_gives_a_tighter_bound(pages):
    pruning = pages.prune()
    one = certify(pages, pruning, "rademacher", random_state=0)
    mean = certify(pages, pruning, "averaged", n_draws=100, random_state=0)
    assert mean.bound < one.bound and mean.error == one.error == pruning.error / pages.n_prune


def test_bound_curve_shares_delta_and_finds_the_smallest(pages):
    curve = bound_curve(pages, [1, 1.1, np.inf], delta=0.03, random_state=3)
    signs = 2.0 * np.random.default_rng(3).integers(0, 2, size=pages.n_prune) - 1
    k = pages.budget(1.1)
    alone = rademacher_bound(
        pages.prune(k).error / pages.n_prune, rademacher_penalty(pages, k, signs=signs), pages.n_prune, 0.01
    )
    assert curve.bound[1] == pytest.approx(alone.bound) and curve.best == curve.bound.argmin()
    assert curve.size[2] == pages.prune().size and (np.diff(curve.size) < 0).all()


def test_interval_penalty_is_the_maximum_over_intervals():
    rng = np.random.default_rng(0)
    for _ in range(50):
        n = rng.integers(1, 9)
        x, y, signs = rng.integers(0, 5, n), rng.integers(0, 2, n), rng.choice([-1, 1], n)
        rules = [np.zeros(n)] + [(x >= a) & (x <= b) for a in range(5) for b in range(a, 5)]
        best = max(abs((signs * (rule != y)).sum()) for rule in rules) / n
        assert interval_penalty(x, y, signs) == pytest.approx(best)


def test_scikit_learn_counts_again_and_numbers_agree():
    X, y = load("nursery", return_X_y=True)
    clf = DecisionTreeClassifier(random_state=0, max_leaf_nodes=40).fit(X, y)
    tree = GivenTree.from_sklearn(clf, X, y)
    path = clf.decision_path(X).toarray().astype(bool)
    for node in range(tree.n_nodes):
        assert tree.grow_errors[node] == (y[path[:, node]] != tree.label[node]).sum()
    assert tree.errors == (clf.predict(X) != y).sum()
    np.testing.assert_array_equal(node_errors(tree, clf.apply(X), y), tree.grow_errors)


def test_a_single_leaf_and_a_pure_tree():
    stump = GivenTree([-1], [0], [3])
    assert k_rep(stump, [2], 3).size == reduced_error_pruning(stump, [2]).size == 1
    assert log_n_prunings(stump) == log_n_prunings(stump, 3) == 0.0 and largest_sums(stump, [2.0], 3) == 2.0
    pure = made("mushroom")
    assert pure.tree.errors == 0 and pure.budget(1.1) == 0
    assert pure.prune(0).grow_errors == 0
    assert certify(pure, pure.prune(0), "rademacher", k=0, random_state=0).penalty >= 0.0


def test_long_thin_trees_are_swept_without_recursion():
    tree = caterpillar(3000)
    rng = np.random.default_rng(0)
    codes, leaf = rng.integers(0, 2, 400), rng.choice(np.flatnonzero(tree.is_leaf), 400)
    errors = node_errors(tree, leaf, codes)
    assert reduced_error_pruning(tree, errors).error == errors[0]  # all labels agree: the root is as good as any
    assert k_rep(tree, errors, 0).size == 1


def test_results_are_frozen(pages):
    with pytest.raises(FrozenInstanceError):
        pages.prune().size = 3
    with pytest.raises(ValueError, match="read-only"):
        pages.tree.parent[0] = 3


GOOD = {"parent": [-1, 0, 0], "label": [0, 0, 1], "grow_errors": [1, 0, 0]}


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"parent": [0, 0, 0]}, "parent"),
        ({"parent": [-1, 2, 0]}, "parent"),
        ({"parent": [-1, 0, 1]}, "parent"),
        ({"parent": []}, "parent"),
        ({"label": [0, 1]}, "label"),
        ({"grow_errors": [1, 2, 0]}, "grow_errors"),
        ({"grow_errors": [1, 0.5, 0]}, "grow_errors"),
        ({"grow_errors": [np.nan, 0, 0]}, "grow_errors"),
    ],
)
def test_trees_that_are_none_are_refused(change, match):
    with pytest.raises(ValueError, match=match):
        GivenTree(**GOOD | change)


def test_bad_arguments_are_refused(pages):
    tree = GivenTree(**GOOD)
    bad = [
        (lambda: node_errors(tree, [0], [0]), "leaf"),
        (lambda: node_errors(tree, [3], [0]), "leaf"),
        (lambda: node_errors(tree, [1], [0, 1]), "codes"),
        (lambda: node_errors(tree, [1], [0], [[1.0], [2.0]]), "weights"),
        (lambda: reduced_error_pruning(tree, [1, 2]), "errors"),
        (lambda: reduced_error_pruning(tree, [1, -2, 0]), "errors"),
        (lambda: reduced_error_pruning(tree, [2**52, 0, 0]), "errors"),
        (lambda: k_rep(tree, [1, 1, 1], 0.5), "k"),
        (lambda: k_rep(tree, [1, 1, 1], None), "k must"),
        (lambda: largest_sums(tree, [1.0]), "scores"),
        (lambda: rademacher_penalty(pages, signs=[1, -1]), "signs"),
        (lambda: rademacher_penalty(pages, signs=np.zeros(pages.n_prune)), "signs"),
        (lambda: rademacher_penalty(pages, n_draws=0), "n_draws"),
        (lambda: rademacher_bound(1.5, 0.1, 10), "error"),
        (lambda: rademacher_bound(0.5, -0.1, 10), "complexity"),
        (lambda: occam_bound(0.5, -1.0, 10), "log_n"),
        (lambda: binomial_bound(11, 10), "n_errors"),
        (lambda: confidence_term(0), "n must"),
        (lambda: confidence_term(10, 1.0), "delta"),
        (lambda: averaged_bound(0.1, [], 10), "complexities"),
        (lambda: bound_curve(pages, [0.9]), "c must"),
        (lambda: certify(pages, pages.prune(), "vc"), "kind"),
        (lambda: certify(pages, pages.prune(), k=pages.tree.errors), "k must"),
        (lambda: pages.budget(0.5), "c must"),
        (lambda: grow_prune_test_split(1), "n_samples"),
        (lambda: grow_prune_test_split(10, prune=1.0), "prune"),
        (lambda: grow_prunable([1.0], [1], grow_prune_test_split(2)), "X must"),
        (lambda: grow_prunable([[1.0], [2.0]], [1], grow_prune_test_split(2)), "y must"),
        (lambda: grow_prunable([[1e301], [2.0]], [1, 2], grow_prune_test_split(2)), "X must"),
        (lambda: CertifiedTree(0.9).fit([[1.0], [2.0]], [0, 1]), "c must"),
        (lambda: CertifiedTree(certificate="vc").fit([[1.0], [2.0]], [0, 1]), "certificate"),
    ]
    for call, match in bad:
        with pytest.raises(ValueError, match=match):
            call()
