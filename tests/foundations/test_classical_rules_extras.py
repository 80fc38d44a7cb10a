"""Classical rules: categorical splits, condensed and edited neighbours, and histograms in two dimensions."""

import itertools

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.utils.estimator_checks import parametrize_with_checks

from learnable.foundations.classical_rules import (
    KNN,
    CARTClassifier,
    CARTRegressor,
    HistogramRule,
    Regressogram,
    condense,
    edit,
)
from learnable.trees import grow


@parametrize_with_checks([Regressogram(h=1.0), KNN(reduce="condensed"), KNN(k=3, reduce="edited")])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def brute_categorical(column, y, cost):
    """Least cost over all splits of the categories into two sets."""
    present = np.unique(column)
    best = np.inf
    for size in range(1, len(present)):
        for chosen in itertools.combinations(present, size):
            left = np.isin(column, chosen)
            best = min(best, cost(y[left]) + cost(y[~left]))
    return best


def gini(y):
    share = np.bincount(y) / len(y)
    return len(y) * (share * (1 - share)).sum()


def entropy(y):
    share = np.bincount(y) / len(y)
    return -len(y) * (share[share > 0] * np.log(share[share > 0])).sum()


def squares(y):
    return ((y - y.mean()) ** 2).sum()


@pytest.mark.parametrize("seed", range(6))
def test_categorical_splits_are_the_best_of_all_subsets(seed):
    """Breiman's theorem: for two classes and squared error the order by mean response holds the best subset."""
    rng = np.random.default_rng(seed)
    column = rng.integers(0, 7, 60).astype(float)
    y = (rng.random(60) < np.array([0.2, 0.9, 0.5, 0.1, 0.7, 0.4, 0.6])[column.astype(int)]).astype(int)
    z = y + rng.normal(size=60)
    X = np.column_stack([rng.normal(size=60), column])[:, 1:]
    for criterion, target, cost in (("gini", y, gini), ("entropy", y, entropy), ("squared", z, squares)):
        tree = grow(X, target, criterion, max_depth=1, categorical_features=[0])
        assert tree.cost[1] + tree.cost[2] == pytest.approx(brute_categorical(column, target, cost), rel=1e-9)
        # what the tree does is what it costs
        leaf = tree.apply(X)
        assert cost(target[leaf == 1]) + cost(target[leaf == 2]) == pytest.approx(tree.cost[1] + tree.cost[2])


def test_categorical_splits_below_the_root_and_beside_ordered_columns():
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.normal(size=300), rng.integers(0, 5, 300), rng.normal(size=300)])
    y = np.where(X[:, 0] > 0, np.isin(X[:, 1], (1, 4)), np.isin(X[:, 1], (0, 2, 3))).astype(int)
    rule = CARTClassifier(min_samples_split=2, categorical_features=[1]).fit(X, y)
    assert rule.score(X, y) == 1.0
    plain = CARTClassifier(min_samples_split=2).fit(X, y)
    assert plain.score(X, y) == 1.0 and rule.get_n_leaves() < plain.get_n_leaves()
    leaf = rule.full_tree_.apply(X)
    for node in np.unique(leaf):
        inside = np.bincount(y[leaf == node], minlength=2)
        np.testing.assert_array_equal(rule.full_tree_.value[node], inside)
    # Pruning carries the sets of categories along.
    assert rule.prune(100.0).get_n_leaves() < 4
    assert rule.score(X, y) > 0.5


def test_categories_in_another_coding_give_the_same_tree():
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 8, 200)
    y = (rng.random(200) < 0.2 + 0.6 * (codes % 3 == 1)).astype(int)
    z = codes % 3 + 0.1 * rng.normal(size=200)
    other = rng.permutation(8)[codes]
    for model, target in (
        (CARTClassifier(max_depth=3, categorical_features=[0]), y),
        (CARTRegressor(max_depth=3, categorical_features=[0]), z),
    ):
        said = model.fit(codes[:, None], target).predict(codes[:, None])
        np.testing.assert_allclose(model.fit(other[:, None], target).predict(other[:, None]), said)
    assert CARTRegressor(categorical_features=[0]).fit(codes[:, None], z).score(codes[:, None], z) > 0.96


def test_more_classes_are_split_by_the_share_of_one_class():
    column = np.repeat(np.arange(6.0), 10)
    y = np.repeat([0, 1, 2, 0, 1, 2], 10)
    tree = grow(column[:, None], y, "gini", categorical_features=[0])
    assert tree.n_leaves == 3 and (tree.value.max(axis=1) == tree.value.sum(axis=1))[tree.is_leaf].all()


def test_unseen_categories_go_to_the_heavier_child():
    column = np.array([0.0] * 10 + [1.0] * 4)
    rule = CARTClassifier(min_samples_split=2, categorical_features=[0]).fit(column[:, None], [0] * 10 + [1] * 4)
    assert rule.predict([[0], [1], [2], [900]]).tolist() == [0, 1, 0, 0]
    # A category that the sample has, but not this node.
    X = np.array([[0, 0], [0, 1], [0, 1], [0, 1], [1, 2], [1, 2]], float)
    tree = grow(X, np.array([0, 1, 1, 1, 2, 2]), "gini", categorical_features=[1])
    assert tree.value[tree.apply([[0.0, 5.0]])[0]].argmax() in (0, 1, 2)


@pytest.mark.parametrize("bad", [[[0.5], [1.0]], [[-1.0], [1.0]], [[0.0], [5000.0]]])
def test_what_is_no_category_is_refused(bad):
    with pytest.raises(ValueError, match="categories coded 0"):
        CARTClassifier(categorical_features=[0]).fit(bad, [0, 1])
    with pytest.raises(ValueError, match="categorical_features must be an integer"):
        CARTClassifier(categorical_features=[1]).fit(np.abs(np.round(bad)), [0, 1])


def test_best_first_growing_takes_the_largest_gains():
    """The same tree as scikit-learn's best-first builder, and as growing by hand."""
    from sklearn.tree import DecisionTreeRegressor

    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    z = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * rng.normal(size=150)
    for leaves in (1, 2, 5, 12):
        tree = grow(X, z, "squared", max_leaf_nodes=leaves)
        assert tree.n_leaves == leaves
        if leaves > 1:
            other = DecisionTreeRegressor(max_leaf_nodes=leaves, random_state=0).fit(X, z)
            np.testing.assert_allclose(tree.value[tree.apply(X), 0], other.predict(X))
    assert grow(X, z, "squared", max_leaf_nodes=10**6).n_leaves == grow(X, z, "squared").n_leaves


# --- condensed and edited neighbours ---------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_a_condensed_sample_repeats_all_labels(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    kept = condense(X, y)
    assert 2 <= len(kept) < 80 and (np.diff(kept) > 0).all()
    assert (KNN(1).fit(X[kept], y[kept]).predict(X) == y).all()
    rule = KNN(1, reduce="condensed").fit(X, y)
    np.testing.assert_array_equal(rule.kept_, kept)
    assert (rule.predict(X) == y).all()


def hart(X, y):
    """Hart's algorithm as it is written: runs over the sample, a distance to every point of the store."""
    store, changed = [0], True
    while changed:
        changed = False
        for i in range(len(X)):
            gaps = [((X[i] - X[s]) ** 2).sum() for s in store]
            nearest = min(range(len(store)), key=lambda p: (gaps[p], store[p]))
            if i not in store and y[store[nearest]] != y[i]:
                store.append(i)
                changed = True
    return sorted(store)


def test_condensing_is_harts_algorithm():
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(0, 6, (40, 2)).astype(float), rng.integers(0, 3, 40)
        assert condense(X, y).tolist() == hart(X, y)


def test_condensing_keeps_few_of_the_digits():
    X, y = load_digits(return_X_y=True)
    kept = condense(X[:800], y[:800])
    assert len(kept) < 150
    assert np.mean(KNN(1).fit(X[kept], y[kept]).predict(X[800:]) != y[800:]) < 0.12


def test_editing_removes_what_the_neighbours_get_wrong():
    rng = np.random.default_rng(1)
    X = rng.random((300, 1))
    clean = (X[:, 0] > 0.5).astype(int)
    y = np.where(rng.random(300) < 0.15, 1 - clean, clean)
    kept = edit(X, y, 3)
    by_hand = []
    for i in range(300):
        gaps = np.abs(X[:, 0] - X[i, 0])
        gaps[i] = np.inf
        by_hand.append(np.bincount(y[np.argsort(gaps, kind="stable")[:3]], minlength=2).argmax() == y[i])
    np.testing.assert_array_equal(kept, np.flatnonzero(by_hand))
    points = rng.random((500, 1))
    truth = (points[:, 0] > 0.5).astype(int)
    plain = np.mean(KNN(1).fit(X, y).predict(points) != truth)
    edited = np.mean(KNN(1).fit(X[kept], y[kept]).predict(points) != truth)
    assert edited < 0.5 * plain
    np.testing.assert_array_equal((rule := KNN(3, reduce="edited").fit(X, y)).kept_, kept)
    assert rule.k_ == 1 and np.mean(rule.predict(points) != truth) == edited


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: condense([[1.0], [2.0]], [1]), "y must hold one label"),
        (lambda: condense([[1e200], [2.0]], [0, 1]), "X must have a largest"),
        (lambda: edit([[1.0], [2.0]], [0, 1], k=2), "k must be an integer"),
        (lambda: KNN(3, reduce="condensed").fit([[1.0], [2.0], [3.0]], [0, 1, 1]), "k must be 1"),
        (lambda: KNN(1, reduce="edited").fit([[1.0], [2.0]], [0, 1]), "no point is left"),
        (lambda: KNN(1, weights=[1.0], reduce="edited").fit([[1.0], [2.0]], [0, 0]), "weights and reduce"),
        (lambda: KNN(reduce="both").fit([[1.0], [2.0]], [0, 1]), "reduce must be"),
    ],
)
def test_bad_prototypes_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# --- claim 4 in two dimensions ---------------------------------------------------------------------------------------

SQUARES, NOISE = 4, 0.1  # a board of 4 × 4 squares, whose colour is seen wrongly with probability 0.1


def board(X):
    return (np.floor(SQUARES * X).astype(int).sum(axis=1) % 2).astype(int)


def board_risk(rule):
    """Exact risk of a histogram rule: both the rule and the colour are constant between these lines."""
    lines = np.unique(np.concatenate([np.arange(SQUARES + 1) / SQUARES, np.arange(0, 1, rule.h_), [1.0]]))
    lines = lines[(lines >= 0) & (lines <= 1)]
    middle, length = 0.5 * (lines[1:] + lines[:-1]), np.diff(lines)
    X = np.array([(a, b) for a in middle for b in middle])
    wrong = rule.predict(X) != board(X)
    return NOISE + (1 - 2 * NOISE) * float(np.outer(length, length).ravel()[wrong].sum())


def mean_board_risk(n, h, reps, rng):
    risks = []
    for _ in range(reps):
        X = rng.random((n, 2))
        y = board(X) ^ (rng.random(n) < NOISE)
        risks.append(board_risk(HistogramRule(h=h).fit(X, y)))
    return np.mean(risks)


def test_claim_04_histograms_on_a_checkerboard():
    rng = np.random.default_rng(0)
    good = [mean_board_risk(n, 0.35 * n ** (-1 / 4), 4, rng) for n in (200, 2000, 50000)]
    assert good[0] > good[1] > good[2] and good[2] - NOISE < 0.05
    # Cells that do not shrink see as much black as white, cells that do not fill see nothing.
    assert mean_board_risk(20000, 0.5, 2, rng) - NOISE > 0.3
    assert mean_board_risk(2000, 1 / 45, 3, rng) - NOISE > 3 * (good[1] - NOISE) / 2
