"""The shared tree builder: exact splits, optimal subtrees for every penalty, agreement with scikit-learn."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from learnable.trees import CRITERIA, grow, weakest_links
from learnable.trees.pruning import best_subtree


def impurity(y, w, criterion):
    """weight × impurity, written from the definitions."""
    total = w.sum()
    if total == 0:
        return 0.0
    if criterion == "squared":
        mean = (w * y).sum() / total
        return (w * (y - mean) ** 2).sum()
    p = np.array([w[y == c].sum() for c in np.unique(y)]) / total
    p = p[p > 0]
    return total * {"gini": 1 - (p**2).sum(), "entropy": -(p * np.log(p)).sum(), "error": 1 - p.max()}[criterion]


def best_first_split(X, y, w, criterion):
    best = np.inf
    for j in range(X.shape[1]):
        values = np.unique(X[:, j])
        for cut in (values[1:] + values[:-1]) / 2:
            low = X[:, j] <= cut
            best = min(best, impurity(y[low], w[low], criterion) + impurity(y[~low], w[~low], criterion))
    return best


@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("seed", range(6))
def test_weights_of_very_different_size_keep_their_digits(seed, classes):
    """Boosting makes such weights: the best cut must not be lost in sums dominated by a few large ones."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(400, 3))
    y = np.where(
        rng.random(400) < 0.2, rng.integers(0, classes, 400), np.digitize(X[:, 0], [0.3, 0.6, 0.9, 1.2][: classes - 1])
    )
    w = np.exp(rng.uniform(-60.0, 0.0, 400))
    tree = grow(X, y, sample_weight=w, criterion="gini", max_depth=1)
    low = X[:, tree.feature[0]] <= tree.threshold[0]
    reached = impurity(y[low], w[low], "gini") + impurity(y[~low], w[~low], "gini")
    assert reached <= best_first_split(X, y, w, "gini") + 1e-12 * w.sum()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(CRITERIA), st.booleans())
def test_first_split_is_the_best_one(seed, criterion, weighted):
    rng = np.random.default_rng(seed)
    n, d = rng.integers(2, 25), rng.integers(1, 4)
    X = rng.integers(0, 6, (n, d)).astype(float)
    y = rng.normal(size=n) if criterion == "squared" else rng.integers(0, 3, n)
    w = rng.integers(1, 4, n).astype(float) if weighted else np.ones(n)
    tree = grow(X, y, criterion, sample_weight=w, max_depth=1)
    assert tree.cost[0] == pytest.approx(impurity(y, w, criterion), abs=1e-9)
    if tree.n_leaves == 2:
        assert tree.cost[1] + tree.cost[2] == pytest.approx(best_first_split(X, y, w, criterion), abs=1e-9)
        sides = tree.apply(X)
        assert tree.weight[1] == w[sides == 1].sum() and tree.weight[2] == w[sides == 2].sum()
    else:
        assert tree.cost[0] <= 1e-9 or (np.ptp(X, axis=0) == 0).all()


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("depth", [3, 8, None])
def test_same_training_error_as_scikit_learn(criterion, depth):
    X, y = load_digits(return_X_y=True)
    ours = grow(X, y, criterion, max_depth=depth)
    theirs = DecisionTreeClassifier(criterion=criterion, max_depth=depth, random_state=0).fit(X, y)
    error = np.mean(ours.value[ours.apply(X)].argmax(axis=1) != y)
    assert error == pytest.approx(np.mean(theirs.predict(X) != y), abs=0.004)
    if depth == 3:
        assert error == pytest.approx(np.mean(theirs.predict(X) != y), abs=1e-12)


def test_regression_agrees_with_scikit_learn():
    X, y = load_diabetes(return_X_y=True)
    ours = grow(X, y, "squared", max_depth=4, min_samples_leaf=5)
    theirs = DecisionTreeRegressor(max_depth=4, min_samples_leaf=5, random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.value[ours.apply(X), 0], theirs.predict(X), rtol=1e-9)
    huge = grow(X, y + 1e9, "squared", max_depth=4, min_samples_leaf=5)
    np.testing.assert_allclose(huge.value[huge.apply(X), 0] - 1e9, theirs.predict(X), rtol=1e-6)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["gini", "entropy", "error", "squared"]))
def test_path_is_optimal_and_smallest_for_every_penalty(seed, criterion):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, (40, 3)).astype(float)
    y = rng.normal(size=40) if criterion == "squared" else rng.integers(0, 3, 40)
    tree = grow(X, y, criterion, max_depth=4)
    path = weakest_links(tree)
    assert (np.diff(path.penalty) > 0).all() and (np.diff(path.leaves) < 0).all()
    assert path.leaves[-1] == 1 and path.cost[-1] == pytest.approx(tree.cost[0])
    middles = (path.penalty[1:] + path.penalty[:-1]) / 2
    for penalty in np.concatenate([path.penalty, middles, [path.penalty[-1] + 1]]):
        _, value, leaves = best_subtree(tree, penalty)
        index = path.index_for(penalty)
        assert path.cost[index] + penalty * path.leaves[index] == pytest.approx(value, rel=1e-9, abs=0.0)
        assert path.leaves[index] == leaves
        pruned = tree.subtree(path.keep(index))
        assert pruned.n_leaves == leaves
        assert pruned.cost[pruned.is_leaf].sum() == pytest.approx(path.cost[index], rel=1e-9, abs=1e-14 * tree.cost[0])


def all_subtrees(tree, node=0):
    """Every pruned version below a node as (cost, leaves)."""
    yield tree.cost[node], 1
    if tree.left[node] >= 0:
        for (a, m), (b, n) in itertools.product(
            list(all_subtrees(tree, tree.left[node])), list(all_subtrees(tree, tree.right[node]))
        ):
            yield a + b, m + n


def exact_costs(tree, X, y):
    """Squared error of every node in rational arithmetic, from the rows that reach it: an oracle without any slack."""
    rows = {0: np.arange(len(X))}
    for node in np.flatnonzero(~tree.is_leaf):
        low = X[rows[node], tree.feature[node]] <= tree.threshold[node]
        rows[tree.left[node]], rows[tree.right[node]] = rows[node][low], rows[node][~low]
    costs = []
    for node in range(tree.n_nodes):
        values = [Fraction(float(v)) for v in y[rows[node]]]
        mean = sum(values) / len(values)
        costs.append(sum((v - mean) ** 2 for v in values))
    return costs


def smallest_optimal(tree, costs, penalty):
    """(value, leaves) of the smallest optimal subtree, exactly."""
    value, leaves = [c + penalty for c in costs], [1] * tree.n_nodes
    for node in range(tree.n_nodes - 1, -1, -1):
        if tree.left[node] >= 0:
            split = value[tree.left[node]] + value[tree.right[node]]
            if split < value[node]:
                value[node] = split
                leaves[node] = leaves[tree.left[node]] + leaves[tree.right[node]]
    return value[0], leaves[0]


@pytest.mark.parametrize("unit", [1.0, 2.0**-30, 2.0**30, 2.0**-200])
@pytest.mark.parametrize("seed", range(3))
def test_pruning_is_exact_in_every_unit_of_the_target(seed, unit):
    """Against rational arithmetic; a power of two as unit changes no digit, so the same subtrees must come out."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 8, (30, 2)).astype(float)
    y = rng.integers(-20, 20, 30) + 2.0**-10 * rng.integers(0, 40, 30)  # differences of two very different sizes
    tree = grow(X, unit * y, "squared")
    path = weakest_links(tree)
    reference = weakest_links(grow(X, y, "squared"))
    assert path.leaves.tolist() == reference.leaves.tolist()
    np.testing.assert_array_equal(path.penalty, reference.penalty * unit**2)
    costs = exact_costs(tree, X, unit * y)
    middles = np.append(path.penalty[1:] + path.penalty[:-1], 4 * path.penalty[-1]) / 2
    for penalty in middles:
        value, leaves = smallest_optimal(tree, costs, Fraction(float(penalty)))
        assert path.leaves[path.index_for(penalty)] == leaves == best_subtree(tree, penalty)[2]
        assert best_subtree(tree, penalty)[1] == pytest.approx(float(value), rel=1e-12, abs=0.0)


@pytest.mark.parametrize("unit", [1e-100, 1e-6, 1.0, 1e6, 1e100])
def test_a_step_is_found_whatever_its_unit(unit):
    X = np.linspace(-1.0, 1.0, 40)[:, None]
    y = unit * (X[:, 0] > 0)
    tree = grow(np.column_stack([np.arange(40) % 7, X]), y, "squared")
    assert tree.n_leaves == 2 and tree.feature[0] == 1
    assert weakest_links(tree).leaves.tolist() == [2, 1]


def test_no_penalty_prunes_nothing_that_earns_something():
    """y = x: every split gains, if little beside the cost of the root."""
    x = np.arange(2**13) / 2.0**13
    tree = grow(x[:, None], x, "squared")
    path = weakest_links(tree)
    assert tree.n_leaves == path.leaves[0] == best_subtree(tree, 0.0)[2] == len(x)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "error"])
@pytest.mark.parametrize("unit", [2.0**-60, 2.0**60])
def test_the_unit_of_the_weights_changes_no_tree(criterion, unit):
    rng = np.random.default_rng(7)
    X, y, w = rng.normal(size=(80, 3)), rng.integers(0, 3, 80), rng.integers(1, 5, 80) / 4.0
    plain, scaled = (grow(X, y, criterion, sample_weight=v) for v in (w, unit * w))
    np.testing.assert_array_equal(plain.threshold, scaled.threshold)
    assert weakest_links(plain).leaves.tolist() == weakest_links(scaled).leaves.tolist()


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_the_cost_of_an_almost_pure_node_keeps_its_digits(criterion):
    """A share of 10⁻¹⁰ of the other class: 1 − Σp² would leave six digits."""
    tree = grow(np.zeros((2, 1)), [0, 1], criterion, sample_weight=[1.0, 1e10])
    small = Fraction(1, 10**10 + 1)
    exact = {
        "gini": float(2 * 10**10 * small),
        "entropy": float(np.log1p(1e10) + 1e10 * np.log1p(1e-10)),
    }[criterion]
    assert tree.cost[0] == pytest.approx(exact, rel=1e-12)
    assert tree.node_costs(criterion)[0] == pytest.approx(exact, rel=1e-12)


def test_a_table_without_the_columns_of_the_tree_is_refused():
    X = np.column_stack([np.zeros(10), np.zeros(10), np.arange(10)])
    tree = grow(X, (np.arange(10) > 4).astype(int))
    assert tree.apply(X).tolist() == [1] * 5 + [2] * 5
    for bad in (X[:, :2], X[0], X * np.nan):
        with pytest.raises(ValueError, match="X must"):
            tree.apply(bad)


def test_dynamic_programme_against_all_subtrees():
    rng = np.random.default_rng(0)
    for _ in range(20):
        tree = grow(rng.integers(0, 4, (25, 2)).astype(float), rng.integers(0, 2, 25), max_depth=3)
        every = list(all_subtrees(tree))
        for penalty in (0.0, 0.3, 1.0, 2.7):
            assert best_subtree(tree, penalty)[1] == pytest.approx(min(c + penalty * m for c, m in every), abs=1e-9)


def test_path_equals_scikit_learns():
    X, y = load_breast_cancer(return_X_y=True)
    theirs = DecisionTreeClassifier(random_state=0).fit(X, y).cost_complexity_pruning_path(X, y)
    path = weakest_links(grow(X, y))
    # scikit-learn repeats a level when several links are equally weak; both express the same sequence.
    levels = np.unique(np.round(theirs.ccp_alphas * len(y), 8))
    np.testing.assert_allclose(path.penalty[-6:], levels[-6:], rtol=1e-8)


def test_presorted_and_edge_cases():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(50, 4)), rng.integers(0, 2, 50)
    order = np.argsort(X.T, axis=1, kind="stable")
    assert np.array_equal(grow(X, y, presorted=order).threshold, grow(X, y).threshold, equal_nan=True)
    assert np.array_equal(order, np.argsort(X.T, axis=1, kind="stable"))
    assert grow(np.ones((5, 2)), [0, 1, 0, 1, 1]).n_nodes == 1
    assert grow([[1.0]], [3]).value.tolist() == [[0, 0, 0, 1]]
    assert grow([[0.0], [1.0]], [2.5, 2.5], "squared").n_nodes == 1
    close = np.nextafter(1.0, 2.0)
    tree = grow([[1.0], [close]], [0, 1])
    assert tree.apply([[1.0], [close]]).tolist() == [1, 2]
    xor = grow([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 1, 1, 0])
    assert xor.n_leaves == 4


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([[np.nan]], [0]), {}, "X"),
        (([[1.0], [2.0]], [0]), {}, "y must hold"),
        (([[1.0], [2.0]], [0, -1]), {}, "y must hold"),
        (([[1.0], [2.0]], [0.5, 1.0]), {}, "y must hold"),
        (([[1.0], [2.0]], [0, 1], "brier"), {}, "criterion"),
        (([[1.0], [2.0]], [0, 1]), {"sample_weight": [-1.0, 1.0]}, "sample_weight"),
        (([[1.0], [2.0]], [0, 1]), {"sample_weight": [0.0, 0.0]}, "sample_weight"),
        (([[1.0], [2.0]], [0, 1]), {"min_samples_leaf": 0}, "min_samples_leaf"),
        (([[1.0], [2.0]], [0, 1]), {"n_classes": 1}, "n_classes"),
        (([[1.0], [2.0]], [0, 1]), {"presorted": [[0]]}, "presorted"),
        (([[1.0], [2.0]], [0, 1]), {"presorted": [[0, 7]]}, "presorted"),
        (([[1.0], [2.0]], [0, 2**30]), {}, "class codes"),
        (([[1.0], [2.0]], [0.0, 1e200], "squared"), {}, "y must vary"),
        (([[1.0], [2.0]], [0.0, 1e-200], "squared"), {}, "y must vary"),
    ],
)
def test_bad_input_is_refused(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        grow(*arguments, **options)
    tree = grow([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="costs"):
        weakest_links(tree, [0.0])
    with pytest.raises(ValueError, match="concave"):
        weakest_links(tree, [0.0, 1.0, 1.0])
