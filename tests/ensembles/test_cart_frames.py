"""Trees on tables with names, categories and gaps; weights; what the tree says of itself."""

import re

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from learnable.ensembles import CARTClassifier, CARTRegressor, draw_tree


# Limits on the number of rows tell copies from weights, and a grown tree has leaves for classes of hardly any weight.
@parametrize_with_checks([CARTClassifier(min_samples_split=2, alpha=0.5), CARTRegressor(min_samples_split=2)])
def test_sklearn_conventions(estimator, check):
    check(estimator)


def table(n, seed, *, gaps=True):
    """People with a town, an age and an income; who buys depends on town and age."""
    rng = np.random.default_rng(seed)
    town = rng.choice(["Ulm", "Bonn", "Kiel", "Jena", "Trier"], n).astype(object)
    age, income = rng.integers(18, 80, n).astype(float), rng.normal(3000, 800, n)
    p = np.where(np.isin(town, ["Ulm", "Jena"]), 0.75, 0.25) + 0.2 * (age > 40)
    buys = np.where(rng.random(n) < p, "yes", "no")
    if gaps:
        town[rng.random(n) < 0.1] = None
        age[rng.random(n) < 0.15] = np.nan
    return pd.DataFrame({"age": age, "town": town, "income": income}), buys


def test_a_frame_gives_the_tree_of_its_codes():
    X, y = table(400, 0, gaps=False)
    names = sorted(X["town"].unique())
    coded = X.assign(town=[names.index(town) for town in X["town"]]).to_numpy(dtype=float)
    by_name = CARTClassifier().fit(X, y)
    by_code = CARTClassifier(categorical_features=[1]).fit(coded, y)
    np.testing.assert_array_equal(by_name.full_tree_.feature, by_code.full_tree_.feature)
    np.testing.assert_array_equal(by_name.predict_proba(X), by_code.predict_proba(coded))
    np.testing.assert_array_equal(by_name.apply(X.astype({"town": "category"})), by_code.apply(coded))
    assert CARTClassifier(categorical_features=["town"]).fit(X, y).get_n_leaves() == by_name.get_n_leaves()


def test_new_and_missing_categories_find_their_way():
    X = pd.DataFrame({"c": ["a"] * 6 + ["b"] * 4 + [None] * 3})
    y = [0] * 6 + [1] * 4 + [1] * 3
    tree = CARTClassifier(min_samples_split=2).fit(X, y)
    # "b" and the missing are one child of weight 7, "a" the other of weight 6: what is new goes to the heavier.
    asked = pd.DataFrame({"c": ["a", "b", None, "z"]})
    assert tree.predict(asked).tolist() == [0, 1, 1, 1]
    whole = CARTClassifier(min_samples_split=2).fit(X[:10], y[:10])
    assert whole.predict(asked).tolist() == [0, 1, 0, 0]  # nothing was missing: as new


def follow(text, row):
    """What the words of a tree say of a row: the answer at the end, read without the tree."""
    lines = text.splitlines()
    at = 0
    while lines[at].endswith("?"):
        depth = len(lines[at]) - len(lines[at].lstrip())
        question = re.sub(r"^(yes|no): ", "", lines[at].strip())[:-1]
        if match := re.fullmatch(r"(\w+) <= (\S+)( or missing)?", question):
            value = row[match[1]]
            says = bool(match[3]) if value != value else value <= float(match[2].replace(",", ""))
        else:
            name, _, words = question.partition(" is ")
            value = "missing" if row[name] is None or row[name] != row[name] else row[name]
            says = value in words.split(" or ")
        want = "yes: " if says else "no: "
        at += 1
        while not (len(lines[at]) - len(lines[at].lstrip()) == depth + 2 and lines[at].strip().startswith(want)):
            at += 1
    return re.sub(r"^(yes|no): ", "", lines[at].strip()).partition(" (")[0]


@pytest.mark.parametrize("seed", range(5))
def test_the_words_say_what_the_tree_does(seed):
    X, y = table(300, seed)
    tree = CARTClassifier(max_depth=5, min_samples_leaf=4).fit(X, y)
    text = tree.export_text(digits=17)
    said = [follow(text, row) for _, row in X.iterrows()]
    assert said == tree.predict(X).tolist()
    assert len(text.splitlines()) == tree.tree_.n_nodes
    # Shares and weights of the leaves: those of the rows that reach them.
    leaves = tree.apply(X)
    first = int(leaves[0])
    inside = y[leaves == first]
    share = max(np.mean(inside == "yes"), np.mean(inside == "no"))
    assert f"({share:.0%} of {len(inside)})" in text


def test_words_for_gaps_and_numbers():
    X = pd.DataFrame({"a": [1.0, 2.0, np.nan, np.nan]})
    assert CARTClassifier(min_samples_split=2).fit(X, [0, 0, 1, 1]).export_text().splitlines() == [
        "a is missing?",
        "  yes: 1 (100% of 2)",
        "  no: 0 (100% of 2)",
    ]
    lines = CARTRegressor(min_samples_split=2).fit([[1000.0], [98765.4]], [1.0, 12345.678]).export_text().splitlines()
    assert lines == ["x0 <= 49,880?", "  yes: 1 (mean of 1)", "  no: 12,350 (mean of 1)"]
    assert CARTClassifier().fit([[1.0], [1.0]], ["u", "v"]).export_text() == "u (50% of 2)"


def test_a_drawing_has_every_question_and_answer_in_order():
    X, y = table(300, 1)
    tree = CARTClassifier(max_depth=3).fit(X, y)
    ax = Figure().add_subplot()
    places = draw_tree(tree, ax)
    leaf = tree.tree_.is_leaf
    assert sorted(places[leaf, 0]) == list(range(tree.get_n_leaves()))
    for node in np.flatnonzero(~leaf):
        left, right = tree.tree_.left[node], tree.tree_.right[node]
        assert places[left, 0] < places[node, 0] < places[right, 0]
        assert places[left, 1] == places[right, 1] == places[node, 1] - 1
    texts = [text.get_text() for text in ax.texts]
    assert sum(text.strip() in ("yes", "no") for text in texts) == 2 * np.count_nonzero(~leaf)
    assert sum("% of" in text for text in texts) == tree.get_n_leaves()
    with pytest.raises((TypeError, ValueError), match="ax"):
        draw_tree(tree, None)


@pytest.mark.parametrize("model", [CARTClassifier(min_samples_split=2), CARTRegressor(min_samples_split=2)])
def test_a_weight_counts_like_copies_of_the_row(model):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(80, 3)), rng.integers(0, 2, 80)
    copies = rng.integers(0, 4, 80)
    weighted = model.fit(X, y, sample_weight=copies)
    penalty, said = weighted.path().penalty, weighted.predict(X[copies > 0])
    # In the repeated table a node with copies of one row is split no further, as with its weight.
    repeated = model.fit(np.repeat(X, copies, axis=0), np.repeat(y, copies))
    np.testing.assert_allclose(repeated.path().penalty, penalty, atol=1e-9)
    np.testing.assert_allclose(repeated.predict(X[copies > 0]).astype(float), said.astype(float))


def test_class_weights_and_importances_are_those_of_scikit_learn():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 4))
    y = (X[:, 0] + 0.5 * X[:, 2] + 0.4 * rng.normal(size=300) > 1.0).astype(int)
    theirs = DecisionTreeClassifier(class_weight="balanced", max_depth=4, random_state=0).fit(X, y)
    ours = CARTClassifier(class_weight="balanced", max_depth=4, min_samples_split=2, prune_impurity="gini").fit(X, y)
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, atol=1e-9)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9)
    levels = np.unique(np.round(theirs.cost_complexity_pruning_path(X, y).ccp_alphas * 300, 7))
    np.testing.assert_allclose(ours.path().penalty, levels, atol=2e-7)
    z = X[:, 1] ** 2 + 0.1 * rng.normal(size=300)
    theirs = DecisionTreeRegressor(max_depth=3, min_samples_leaf=7, random_state=0).fit(X, z)
    ours = CARTRegressor(max_depth=3, min_samples_leaf=7).fit(X, z)
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, atol=1e-9)
    assert CARTRegressor().fit(np.ones((5, 2)), np.arange(5.0)).feature_importances_.tolist() == [0.0, 0.0]


def test_gaps_count_for_the_column_that_has_them():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(200, 2))
    y = (X[:, 1] > 0).astype(int)
    X[:40, 1], y[:40] = np.nan, 1
    assert CARTClassifier().fit(X, y).feature_importances_.tolist() == [0.0, 1.0]


def test_errors_of_the_path_are_those_of_the_folds():
    X, y = table(240, 8)
    tree = CARTClassifier(min_samples_leaf=5).fit(X, y)
    tree.prune_by_cross_validation(X, y, cv=4, random_state=1)
    found = tree.path_errors_
    numbers, edges = tree._table(X), tree.path().penalty
    seed = np.random.default_rng(1)
    errors = []
    from learnable.validation import check_seed

    for train, test in StratifiedKFold(4, shuffle=True, random_state=check_seed(1)).split(numbers, y):
        member = CARTClassifier(min_samples_leaf=5).fit(X.iloc[train], y[train])
        row = []
        for i in range(len(edges)):
            if i + 1 < len(edges):
                member.prune(np.sqrt(edges[i] * edges[i + 1]) * len(train) / len(X))
            else:
                member.prune(1e12)
            row.append(np.mean(member.predict(X.iloc[test]) != y[test]))
        errors.append(row)
    np.testing.assert_allclose(found.error, np.mean(errors, axis=0))
    np.testing.assert_allclose(found.se, np.std(errors, axis=0, ddof=1) / 2)
    assert found.error[found.best] == found.error.min() and found.chosen >= found.best
    limit = found.error[found.best] + found.se[found.best]
    assert found.error[found.chosen] <= limit and (found.error[found.chosen + 1 :] > limit).all()
    assert tree.get_n_leaves() == found.leaves[found.chosen]
    lines = found.summary().splitlines()
    assert len(lines) == len(edges) + 1 and lines[1 + found.chosen].endswith("chosen") and seed
    ax = Figure().add_subplot()
    found.plot(ax)
    np.testing.assert_allclose(ax.lines[-1].get_xdata(), found.leaves[found.chosen])


def test_weighted_rows_are_weighted_in_the_folds_too():
    """Rows of weight zero have no say in the choice of the penalty."""
    rng = np.random.default_rng(9)
    X, y = rng.normal(size=(120, 2)), rng.integers(0, 2, 120)
    weight = np.repeat([1.0, 0.0], 60)
    flipped = np.where(weight > 0, y, 1 - y)
    a = CARTClassifier().fit(X, y, weight).prune_by_cross_validation(X, y, weight, cv=3, random_state=0)
    # Other labels of rows without weight; folds are stratified by label, so keep the strata by the same labels.
    held = CARTClassifier().fit(X, y, weight)
    np.testing.assert_allclose(a._path_errors(X, y, weight), held._path_errors(X, flipped, weight))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: CARTClassifier(categorical_features="auto").fit([[1.0], [2.0]], [0, 1]), "categorical_features"),
        (lambda: CARTClassifier(categorical_features=["town"]).fit([[1.0], [2.0]], [0, 1]), "town"),
        (lambda: CARTClassifier(categorical_features=[2]).fit([[1.0], [2.0]], [0, 1]), "categorical_features"),
        (lambda: CARTClassifier(min_samples_leaf=0).fit([[1.0], [2.0]], [0, 1]), "min_samples_leaf"),
        (lambda: CARTClassifier().fit([[1.0], [2.0]], [0, 1], [1.0, -1.0]), "sample_weight"),
        (lambda: CARTClassifier().fit(*table(20, 0)).predict([[30.0, 1.0, 2000.0]]), "frame"),
        (lambda: CARTClassifier().fit([[1.0], [2.0]], [0, 1]).export_text(digits=0), "digits"),
        (lambda: CARTClassifier().fit([[1.0], [2.0]], [0, 1]).prune_by_validation([[1.0]], [0, 1]), "y"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
