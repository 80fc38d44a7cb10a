"""Claims of Yu and Liu 2004, checked against brute force, scipy and scikit-learn."""

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ttest_rel
from sklearn.naive_bayes import CategoricalNB

from learnable.chapters.fcbf_feature_selection.blankets import (
    is_markov_blanket,
    markov_blanket_filtering,
    partition_features,
    relevance_category,
)
from learnable.chapters.fcbf_feature_selection.theory import (
    approximate_blankets,
    fold_scores,
    make_balanced_corral,
    paired_comparison,
)
from learnable.datasets import load
from learnable.features import (
    FCBF,
    conditional_mutual_information,
    predominant_features,
    su_matrix,
)
from learnable.features import symmetrical_uncertainty as su

SEEDS = st.integers(0, 10**6)


def table(seed, n=60, d=12, levels=2):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, levels, (n, d))
    y = (X[:, 0] + X[:, 1] + rng.integers(0, 2, n)) % 3 % 2
    X[:, d // 2] = X[:, 0] ^ (rng.random(n) < 0.1)
    return X, y


def example_one(g):
    """Joint of F1..F5 and C = g(F1, F2) with F3 = not F2 and F5 = not F4: eight equally probable instances."""
    joint = np.zeros((2,) * 6)
    for f1, f2, f4 in np.ndindex(2, 2, 2):
        joint[f1, f2, 1 - f2, f4, 1 - f4, g(f1, f2)] = 1 / 8
    return joint


GATES = {"and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b}


def sparse_joint(seed, features=5):
    """A random joint with zeros, copies and independent parts, so that all categories occur."""
    rng = np.random.default_rng(seed)
    joint = rng.dirichlet(np.ones(8)).reshape(2, 2, 2)  # F0, F1 and the class
    if rng.random() < 0.5:
        joint = np.zeros((2, 2, 2))
        for a, b in np.ndindex(2, 2):
            joint[a, b, [a & b, a ^ b, a][rng.integers(3)]] = 0.25
    while joint.ndim < features + 1:
        kind, p = rng.integers(3), rng.random()
        grown = np.zeros((*joint.shape[:-1], 2, 2))
        source = rng.integers(joint.ndim - 1)
        for cell in np.ndindex(joint.shape):
            value = cell[source]
            chances = [(1 - value, value), (p, 1 - p), (0.8 - 0.6 * value, 0.2 + 0.6 * value)][kind]
            for v in range(2):
                grown[(*cell[:-1], v, cell[-1])] += joint[cell] * chances[v]
        joint = grown
    return joint


def test_su_is_one_for_a_bijection_and_for_nothing_else():
    x = np.array([0, 0, 1, 1, 2])
    assert su(x, np.array(["c", "c", "a", "a", "b"])) == 1.0
    assert su(x, x > 0) < 1
    assert su(x, np.zeros(5)) == su(np.zeros(5), np.zeros(5)) == 0


@pytest.mark.parametrize("levels", [2, 4])
def test_survivors_have_no_blanket_and_deleted_columns_have_one(levels):
    X, y = table(3, n=200, d=40, levels=levels)
    fcbf = FCBF().fit(X, y)
    blankets = approximate_blankets(fcbf.relevance_, su_matrix(X))
    kept = fcbf.support_
    assert not blankets[np.ix_(kept, kept)].any()
    gone = np.flatnonzero(fcbf.relevant_ & ~kept)
    assert len(gone) and kept[fcbf.dominated_by_[gone]].all()
    assert blankets[fcbf.dominated_by_[gone], gone].all()
    assert (fcbf.dominated_by_[kept] == -1).all()


def test_predominant_columns_keep_their_blankets_and_plain_elimination_does_not():
    # F1 is the only blanket of F2, F0 one of F1: deleting F1 first leaves F2 without any.
    relevance = np.array([0.9, 0.8, 0.5])
    similarity = np.array([[1, 0.85, 0.3], [0.85, 1, 0.6], [0.3, 0.6, 1]])
    blankets = approximate_blankets(relevance, similarity)
    assert blankets[0, 1] and blankets[1, 2] and not blankets[0, 2]
    walk = predominant_features(relevance, similarity)
    assert walk.selected.tolist() == [0, 2] and walk.dominated_by.tolist() == [-1, 0, -1]


@settings(max_examples=60, deadline=None)
@given(SEEDS)
def test_any_matrix_survivors_are_predominant(seed):
    rng = np.random.default_rng(seed)
    relevance = rng.random(15)
    similarity = rng.random((15, 15))
    similarity = (similarity + similarity.T) / 2
    walk = predominant_features(relevance, similarity)
    blankets = approximate_blankets(relevance, similarity)
    assert not blankets[np.ix_(walk.selected, walk.selected)].any()
    deleted = np.flatnonzero(walk.dominated_by >= 0)
    assert blankets[walk.dominated_by[deleted], deleted].all()
    assert len(deleted) + len(walk.selected) == 15


def test_walk_refuses_bad_similarities():
    with pytest.raises(ValueError, match="similarity"):
        predominant_features([0.1, 0.2], np.eye(3))
    with pytest.raises(ValueError, match="relevance"):
        approximate_blankets([-0.1, 0.2], np.eye(2))
    with pytest.raises(ValueError, match="similarity"):
        approximate_blankets([0.1, 0.2], [[1, -0.5], [-0.5, 1]])


def test_synthetic_sets_as_printed():
    optimal = {"A0", "A1", "B0", "B1"}
    for with_r in (True, False):
        made = make_balanced_corral(2, with_r=with_r, random_state=0)
        assert made.data.shape == (512, 47 if with_r else 46)
        for delta in (0.0, "log"):
            kept = {made.feature_names[j] for j in FCBF(delta).fit(made.data, made.target).selected_}
            assert kept == (optimal | {"R"} if with_r else optimal)
        # Each of the irrelevant bits says nothing about the class, whatever else is known.
        first = 5 if with_r else 4
        for j in (first, first + 1):
            others = [k for k in range(first + 2) if k != j]
            rest = made.data[:, others] @ (1 << np.arange(len(others)))
            assert conditional_mutual_information(made.data[:, j], made.target, rest) == 0
            assert conditional_mutual_information(made.data[:, j], made.target, made.data[:, first - 1]) == 0
    flipped = make_balanced_corral(random_state=1)
    a0 = flipped.data[:, 0:1] != flipped.data[:, 19:26]
    assert a0.sum(axis=0).tolist() == [0, 16, 32, 48, 64, 80, 96]


@pytest.mark.parametrize("gate", GATES)
def test_example_of_five_features(gate):
    joint = example_one(GATES[gate])
    assert [relevance_category(joint, j) for j in range(5)] == [
        "strongly relevant",
        "weakly relevant",
        "weakly relevant",
        "irrelevant",
        "irrelevant",
    ]
    assert markov_blanket_filtering(joint) == (0, 1)
    assert markov_blanket_filtering(joint, order=[0, 1, 2, 3, 4]) == (0, 2)
    parts = partition_features(joint, order=[0, 1, 2, 3, 4])
    assert (parts.irrelevant, parts.redundant, parts.weak, parts.strong) == ((3, 4), (1,), (2,), (0,))
    assert parts.optimal == (0, 2)


def test_filtering_alone_keeps_one_of_two_irrelevant_copies():
    joint = example_one(GATES["and"])
    assert markov_blanket_filtering(joint, drop_irrelevant=False) == (0, 1, 3)


@pytest.mark.parametrize("start", [0, 100])
def test_a_removed_feature_keeps_a_blanket_and_strong_ones_have_none(start):
    kinds = set()
    for seed in range(start, start + 100):
        joint = sparse_joint(seed, 4)
        kinds |= {relevance_category(joint, j) for j in range(4)}
        order = np.random.default_rng(seed).permutation(4).tolist()
        left = markov_blanket_filtering(joint, order=order, drop_irrelevant=False)
        for j in range(4):
            inside = [i for i in left if i != j]
            assert is_markov_blanket(joint, inside, j) == (j not in left)
            if relevance_category(joint, j) == "strongly relevant":
                assert j in left
                assert not any(
                    is_markov_blanket(joint, m, j) for k in range(4) for m in combinations(set(range(4)) - {j}, k)
                )
    assert len(kinds) == 3


def test_filtering_keeps_the_class_distribution():
    for seed in range(60):
        joint = sparse_joint(seed, 5)
        left = markov_blanket_filtering(joint)
        gone = tuple(j for j in range(5) if j not in left)
        with np.errstate(invalid="ignore"):
            full = joint / joint.sum(axis=-1, keepdims=True)
            less = joint.sum(axis=gone, keepdims=True)
            less = np.broadcast_to(less / less.sum(axis=-1, keepdims=True), joint.shape)
        seen = joint.sum(axis=-1) > 1e-12
        np.testing.assert_allclose(full[seen], less[seen], atol=1e-9)


def test_larger_sets_are_blankets_too():
    for seed in range(40):
        joint = sparse_joint(seed, 4)
        others = [1, 2, 3]
        some = any(is_markov_blanket(joint, m, 0) for k in range(4) for m in combinations(others, k))
        assert some == is_markov_blanket(joint, others, 0)


def test_dependence_by_the_definition():
    # P(rest, C | F0, F1) against P(rest, C | F1), divided out cell by cell.
    for seed in range(20):
        joint = sparse_joint(seed, 3)
        p = joint.transpose(1, 0, 2, 3).reshape(2, 2, 4)
        same = all(
            np.allclose(p[m, f] / p[m, f].sum(), p[m].sum(axis=0) / p[m].sum(), atol=1e-9)
            for m in range(2)
            for f in range(2)
            if p[m, f].sum() > 1e-12
        )
        assert is_markov_blanket(joint, [1], 0) == same


def test_renaming_axes_renames_the_answer():
    joint = example_one(GATES["or"])
    for order in list(permutations(range(5)))[::17]:
        turned = joint.transpose(*order, 5)
        assert [relevance_category(turned, j) for j in range(5)] == [relevance_category(joint, j) for j in order]


def test_joint_tables_are_checked():
    with pytest.raises(ValueError, match="joint"):
        relevance_category(np.full((2, 2), 0.3), 0)
    with pytest.raises(ValueError, match="joint"):
        markov_blanket_filtering([0.5, 0.5])
    with pytest.raises(ValueError, match="feature"):
        relevance_category(example_one(GATES["and"]), 5)


def test_folds_of_naive_bayes_equal_scikit_learn():
    from sklearn.model_selection import StratifiedKFold

    X, y = load("promoters", return_X_y=True)
    X = X.astype(int)
    scores = fold_scores(FCBF(), X, y, selection="inside", random_state=3)
    expected, counts = [], []
    for train, test in StratifiedKFold(10, shuffle=True, random_state=3).split(X, y):
        columns = FCBF().fit(X[train], y[train]).get_support()
        counts.append(columns.sum())
        bayes = CategoricalNB(min_categories=4).fit(X[train][:, columns], y[train])
        expected.append(bayes.score(X[test][:, columns], y[test]))
    np.testing.assert_allclose(scores.accuracy, expected)
    again = fold_scores(FCBF(), X, y, cv=StratifiedKFold(10, shuffle=True, random_state=3))
    np.testing.assert_array_equal(again.accuracy, scores.accuracy)
    assert scores.n_selected.tolist() == counts


def test_selecting_before_the_folds_is_optimistic_on_noise():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (100, 2000)), np.arange(100) % 2
    before = fold_scores(FCBF(), X, y, selection="before", random_state=0).accuracy.mean()
    inside = fold_scores(FCBF(), X, y, selection="inside", random_state=0).accuracy.mean()
    assert before > 0.8 > 0.65 > inside


def test_fold_scores_of_nothing_and_of_everything():
    X, y = table(0, n=60)
    nothing = fold_scores(FCBF(1.0), X, y, cv=3, random_state=0)
    assert (nothing.n_selected == 0).all() and nothing.accuracy.mean() == pytest.approx(np.bincount(y).max() / 60)
    assert (fold_scores(None, X, y, learner="tree", cv=3, random_state=0).n_selected == 12).all()
    assert fold_scores(None, X, X[:, 0], learner="tree", cv=3, random_state=0).accuracy.tolist() == [1, 1, 1]


def test_paired_comparison_is_the_paired_t_test():
    rng = np.random.default_rng(0)
    a, b = rng.random(10), rng.random(10)
    found = paired_comparison(a, b)
    assert found.p_value == pytest.approx(ttest_rel(a, b).pvalue) and found.difference == pytest.approx((a - b).mean())
    assert paired_comparison(a, a).p_value == 1 and paired_comparison(a, a).verdict == "tie"
    assert paired_comparison(a + 1, a).verdict == "win" and paired_comparison(a, a + 1).verdict == "loss"
    p = found.p_value
    assert paired_comparison(a, b, level=p * 0.9).verdict == "tie" != paired_comparison(a, b, level=p * 1.1).verdict


def test_of_two_copies_each_is_weakly_relevant_by_the_empty_set_alone():
    """Given the other copy a feature says nothing, and there is no third feature: only the empty set shows it."""
    joint = np.zeros((2, 2, 2))
    joint[0, 0, 0] = joint[1, 1, 1] = 0.5
    assert [relevance_category(joint, j) for j in (0, 1)] == ["weakly relevant"] * 2
    assert partition_features(joint).irrelevant == ()
