"""Decision trees: the claims of the source, and what the chapter says of its studies."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from learnable.chapters.decision_trees import experiments
from learnable.chapters.decision_trees.theory import MedianTree, checkerboard, ten_customers
from learnable.ensembles import CARTClassifier, CARTRegressor
from learnable.trees import grow, weakest_links
from learnable.trees.growing import Tree
from learnable.trees.pruning import best_subtree as best_subtree_bruteforce


def best_split(X, y, impurity):
    """Feature, threshold and cost of the first split of the engine."""
    tree = grow(X, y, impurity, max_depth=1)
    return tree.feature[0], tree.threshold[0], tree.cost[1] + tree.cost[2]


def test_claim_14_splits_and_gains():
    rng = np.random.default_rng(14)
    for impurity in ("gini", "entropy", "error", "squared"):
        X = rng.integers(0, 6, (30, 3)).astype(float)
        y = rng.normal(size=30) if impurity == "squared" else rng.integers(0, 3, 30)
        feature, cut, cost = best_split(X, y, impurity)
        low = X[:, feature] <= cut
        if impurity == "squared":
            parts = [y[low], y[~low]]
            sse = sum(((p - p.mean()) ** 2).sum() for p in parts)
            assert cost == pytest.approx(sse)
            assert cost == pytest.approx((y**2).sum() - sum(len(p) * p.mean() ** 2 for p in parts))
        model = (CARTRegressor if impurity == "squared" else CARTClassifier)(min_samples_split=2).fit(X, y)
        for costs in (
            [model.full_tree_.cost]
            if impurity == "squared"
            else [model.full_tree_.node_costs(c) for c in ("gini", "entropy", "error")]
        ):
            tree = model.full_tree_
            inside = ~tree.is_leaf
            gain = costs[inside] - costs[tree.left[inside]] - costs[tree.right[inside]]
            assert gain.min() >= -1e-9


def test_claim_15_pruning_is_optimal_and_nested():
    rng = np.random.default_rng(15)
    for seed in range(100):
        X, y = rng.integers(0, 5, (30, 2)).astype(float), rng.integers(0, 2, 30)
        model = CARTClassifier(impurity="gini", prune_impurity="error", min_samples_split=2, max_depth=4).fit(X, y)
        tree, path = model.full_tree_, model.path()
        costs = tree.node_costs("error")
        assert (np.diff(path.penalty) > 0).all()
        for index in range(1, len(path.penalty)):
            assert not (path.keep(index) & ~path.keep(index - 1)).any()
        for penalty in (0.0, 0.25, *path.penalty, path.penalty[-1] + 1):
            _, value, leaves = best_subtree_bruteforce(tree, penalty, costs)
            model.prune(float(penalty))
            mine = model.tree_.node_costs("error")[model.tree_.is_leaf].sum() + penalty * model.get_n_leaves()
            assert mine == pytest.approx(value, abs=1e-9) and model.get_n_leaves() == leaves, seed


def test_claim_15_path_of_scikit_learn():
    rng = np.random.default_rng(16)
    X = rng.normal(size=(300, 3))
    y = (X[:, 0] + 0.7 * rng.normal(size=300) > 0).astype(int)
    theirs = DecisionTreeClassifier(random_state=0, max_depth=5).fit(X, y).cost_complexity_pruning_path(X, y)
    model = CARTClassifier(prune_impurity="gini", min_samples_split=2, max_depth=5).fit(X, y)
    levels = np.unique(np.round(theirs.ccp_alphas * 300, 7))
    np.testing.assert_allclose(model.path().penalty, levels, atol=2e-7)


def test_headline_path_on_breast_cancer():
    X, y = load_breast_cancer(return_X_y=True)
    X_fit, X_test, y_fit, y_test = train_test_split(X, y, test_size=189, random_state=0)
    model = CARTClassifier(prune_impurity="gini", min_samples_split=2).fit(X_fit, y_fit)
    path = model.path()
    assert path.leaves[-1] == 1 and path.penalty[-1] > 80
    errors = model._path_errors(X_test, y_test)
    assert errors[-1] > 0.3 > 0.15 > errors.min()
    model.prune_by_validation(X_test, y_test)
    assert 2 <= model.get_n_leaves() <= path.leaves[0]
    model.prune_by_cross_validation(X_fit, y_fit, cv=5, random_state=0)
    assert 2 <= model.get_n_leaves() < path.leaves[0]


def test_claim_16_impurity_matters():
    def two_column(left, right):
        y = np.repeat([0, 1, 0, 1], [*left, *right])
        return np.repeat([0.0, 1.0], [sum(left), sum(right)])[:, None], y

    costs = {}
    for name, (left, right) in {"A": ((300, 100), (100, 300)), "B": ((200, 400), (200, 0))}.items():
        X, y = two_column(left, right)
        costs[name] = [best_split(X, y, impurity)[2] for impurity in ("error", "gini", "entropy")]
    np.testing.assert_allclose(costs["A"], [200, 300, 449.8681], atol=1e-3)
    np.testing.assert_allclose(costs["B"], [200, 800 / 3, 381.9085], atol=1e-3)


def test_erratum_second_gini_value():
    """600 points, 200 of them of class 1: the impurity of the node is 800/3, not 400/3."""
    y = np.repeat([1, 0], [200, 400])
    node = grow(np.arange(600.0)[:, None], y, n_classes=2, criterion="gini")
    assert node.cost[0] == pytest.approx(800 / 3) != pytest.approx(400 / 3)


def test_greedy_splits_fail_on_a_checkerboard_where_median_cells_do_not():
    rng = np.random.default_rng(18)
    X = rng.uniform(0, 1, (4000, 2))
    y = ((X[:, 0] > 0.5) ^ (X[:, 1] > 0.5)).astype(int)
    _, _, cost = best_split(X, y, "gini")
    assert cost > 0.99 * 2000  # no single cut gains anything worth having
    assert np.mean(MedianTree(max_depth=6).fit(X, y).predict(X) != y) < 0.08


def test_the_default_depth_of_a_median_tree_is_half_the_logarithm():
    for n, levels in ((16, 2), (63, 2), (64, 3), (1000, 4)):
        node = MedianTree().fit(np.random.default_rng(n).normal(size=(n, 1)), np.arange(n) % 2)._root
        for _ in range(levels):
            node = node[2]
        assert not isinstance(node, tuple)


def test_ten_customers_gains_by_hand_and_the_whole_tree():
    table = ten_customers()
    X = np.column_stack([table["car"], table["age"]]).astype(float)
    y = (np.array(table["bought"]) == "yes").astype(int)
    tree = grow(X, y, "gini")
    assert tree.cost[0] == pytest.approx(4.8)
    assert tree.cost[0] - tree.cost[1] - tree.cost[2] == pytest.approx(3.2) and tree.feature[0] == 0
    young = grow((X[:, [1]] <= 31).astype(float), y, "gini")
    assert young.cost[0] - young.cost[1] - young.cost[2] == pytest.approx(1.371, abs=5e-4)
    ulm = grow((np.array(table["town"]) == "Ulm")[:, None].astype(float), y, "gini", max_depth=1)
    assert ulm.cost[0] - ulm.cost[1] - ulm.cost[2] == pytest.approx(0.1333, abs=5e-4)
    assert tree.n_leaves == 3 and tree.threshold[tree.feature == 1].tolist() == [29.5]


def test_five_leaves_by_hand():
    """The tree of the lecture: A (40) over B (12: 5, 3) and C (20), which is over D (9: 2, 1) and a leaf of 4."""
    left, right = [1, 3, 5, -1, -1, 7, -1, -1, -1], [2, 4, 6, -1, -1, 8, -1, -1, -1]
    errors = np.array([40.0, 12, 20, 5, 3, 9, 4, 2, 1])
    nothing = np.zeros(9)
    feature = np.where(np.array(left) >= 0, 0, -1)
    depth = np.zeros(9, int)
    tree = Tree(feature, nothing, np.array(left), np.array(right), nothing, nothing[:, None], errors, depth)
    path = weakest_links(tree, errors)
    assert path.penalty.tolist() == [0, 4, 6, 7, 8]
    assert path.leaves.tolist() == [5, 4, 3, 2, 1] and path.cost.tolist() == [15, 19, 25, 32, 40]
    assert best_subtree_bruteforce(tree, 6.5, errors)[1:] == (44.5, 3)


def test_a_tree_that_is_only_a_root_has_a_path_of_one():
    path = weakest_links(grow([[0.0], [1.0]], [1, 1], "gini"))
    assert (path.penalty.tolist(), path.leaves.tolist(), path.cost.tolist()) == ([0.0], [1], [0.0])


def test_the_checkerboard_depends_on_its_outer_columns_alone():
    X, y = checkerboard(400, 3, np.random.default_rng(0))
    assert X.shape == (400, 5)
    np.testing.assert_array_equal(y, (X[:, 0] > 0.5) != (X[:, 4] > 0.5))


def mean(study, repetitions, figure="error", **setting):
    return np.mean([study.cell(setting, r)[figure] for r in range(repetitions)])


def test_pruning_makes_trees_smaller_and_errors_grow_them_too_large():
    of = {
        (how, prune): experiments.pruning.cell({"grow": how, "prune": prune}, 0)
        for how, prune in (("gini", "never"), ("gini", "validation"), ("gini", "cross-validation"), ("error", "never"))
    }
    assert of["gini", "never"] == experiments.pruning.cell({"grow": "gini", "prune": "never"}, 0)
    for prune in ("validation", "cross-validation"):
        assert of["gini", prune]["leaves"] < of["gini", "never"]["leaves"]
    assert of["error", "never"]["leaves"] > 5 * of["gini", "never"]["leaves"]


def test_a_grown_regression_tree_repeats_the_noise():
    grown, pruned, boxes = (
        mean(experiments.waves, 2, n=1000, method=method) for method in ("grown", "pruned", "regressogram")
    )
    # One sample of 1,000: 0.19, 0.025 and 0.019, each with a standard deviation below 0.01.
    assert grown > 4 * pruned and boxes < 0.03


def test_on_incomes_the_grown_tree_overfits_and_boosting_is_better_than_one_tree():
    stored = experiments.incomes.stored
    error = {rule: stored.mean("error", rule=rule) for rule in ("grown", "pruned, least error", "forest", "boosting")}
    assert error["grown"] - 0.03 > error["pruned, least error"] > error["boosting"] + 0.005
    cell = experiments.incomes.cell({"rule": "pruned, one standard error"}, 0)
    grown = experiments.incomes.cell({"rule": "grown"}, 0)
    # Errors on 10,000 people have a standard deviation of 0.004.
    assert cell["leaves"] < 40 < 400 < grown["leaves"] and cell["error"] + 0.02 < grown["error"]
    assert experiments.incomes.cell({"rule": "majority"}, 0)["error"] == pytest.approx(0.24, abs=0.02)


def test_the_tree_of_scikit_learn_is_chosen_by_one_standard_error():
    adult = experiments.load("adult", as_frame=True)
    X, y = adult.frame.drop(columns="target").iloc[:400], np.asarray(adult.target)[:400]
    model, leaves = experiments._one_standard_error(X, y, 0)
    assert 1 <= leaves < model.set_params(decisiontreeclassifier__ccp_alpha=0.0).fit(X, y)[-1].get_n_leaves()


def test_boosting_reads_the_same_table():
    figures = experiments.incomes.cell({"rule": "boosting"}, 0)
    assert figures["error"] < 0.16 and "leaves" not in figures


def test_two_samples_give_two_trees_and_forests_agree_more():
    tree, forest = (mean(experiments.resampled, 1, "differ", rule=rule) for rule in ("tree of 8 leaves", "forest"))
    assert forest < tree
    assert experiments.resampled.stored.mean("same first question", rule="tree of 8 leaves") < 0.5


def test_impurity_prefers_columns_with_many_values():
    def cell(column):
        found = [experiments.importances.cell({"column": column}, r) for r in range(3)]
        return [np.mean([f[how] for f in found]) for how in ("by impurity", "by permutation")]

    two, many, true = cell("two values"), cell("all different"), cell("informative")
    assert two[0] < 0.1 < 0.3 < many[0]
    # Errors on 300 rows have a standard deviation of about 0.02.
    assert max(two[1], many[1]) < 0.04 < 0.1 < true[1]


def test_four_greedy_leaves_do_not_see_the_board():
    setting = {"n": 1000, "noise": 0}
    few, grown, cells = (
        mean(experiments.board, 4, rule=rule, **setting) for rule in ("CART, 4 leaves", "CART", "median cells")
    )
    assert grown < 0.03 and cells < 0.1 < 0.2 < few
    assert mean(experiments.board, 2, rule="median cells", n=1000, noise=10) > 0.45


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: CARTClassifier(impurity="brier").fit([[1.0], [2.0]], [0, 1]), "impurity"),
        (lambda: CARTClassifier().fit([[1.0], [2.0]], [0, 1]).prune(-1.0), "alpha"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
