"""Claims of Yu and Liu 2004, checked against brute force, scipy and scikit-learn."""

from itertools import combinations, pairwise, permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ttest_rel
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from learnable.datasets import load
from learnable.datasets.rules import make_corral
from learnable.datasets.wide import make_redundant_bits
from learnable.features import (
    MDLDiscretizer,
    conditional_entropy,
    conditional_mutual_information,
    entropy,
    mdl_cuts,
    mutual_information,
)
from learnable.features import symmetrical_uncertainty as su
from learnable.features.fcbf_feature_selection import (
    CFS,
    FCBF,
    FOCUS,
    ReliefF,
    approximate_blankets,
    fold_scores,
    inconsistency,
    is_markov_blanket,
    joint_redundancy,
    make_balanced_corral,
    markov_blanket_filtering,
    paired_comparison,
    partition_features,
    predominant_features,
    relevance_category,
    su_matrix,
)

SEEDS = st.integers(0, 10**6)
CORRAL = make_corral()


def plain_su(x, y):
    """Symmetrical uncertainty in bits, by the definition."""

    def h(columns):
        p = np.unique(np.column_stack(columns), axis=0, return_counts=True)[1] / len(x)
        return -(p * np.log2(p)).sum()

    both = h([x]) + h([y])
    return 2 * (both - h([x, y])) / both if both > 0 else 0.0


def plain_fcbf(X, y, delta=0.0):
    """The listing of the source (Fig. 4), with a margin for rounding."""
    relevance = np.array([plain_su(x, y) for x in X.T])
    listed = [i for i in np.argsort(-relevance.round(12), kind="stable") if relevance[i] > max(delta, 1e-12)]
    kept, evaluations = [], X.shape[1]
    while listed:
        j = listed.pop(0)
        kept.append(int(j))
        evaluations += len(listed)
        listed = [i for i in listed if plain_su(X[:, i], X[:, j]) < relevance[i] - 1e-12]
    return kept, evaluations


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


# Symmetrical uncertainty


@settings(max_examples=25, deadline=None)
@given(SEEDS)
def test_su_is_symmetric_in_the_unit_interval_and_blind_to_labels(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 4, 40), rng.integers(0, 3, 40)
    names = np.array(["d", "b", "z", "a"])
    assert su(x, y) == su(y, x) == su(names[x], 5 - y) == su_matrix(np.column_stack([x, y]))[0, 1]
    assert 0 <= su(x, y) <= 1
    assert su(x, y) == pytest.approx(plain_su(x, y), abs=1e-12)
    assert mutual_information(x, y) == mutual_information(y, x)
    assert entropy(x, base=2) - conditional_entropy(x, y, base=2) == pytest.approx(
        mutual_information(x, y, base=2), abs=1e-12
    )


def test_su_is_one_for_a_bijection_and_for_nothing_else():
    x = np.array([0, 0, 1, 1, 2])
    assert su(x, np.array(["c", "c", "a", "a", "b"])) == 1.0
    assert su(x, x > 0) < 1
    assert su(x, np.zeros(5)) == su(np.zeros(5), np.zeros(5)) == 0


def test_matrix_of_su():
    X, _ = table(0, levels=3)
    found = su_matrix(X)
    assert (found == found.T).all() and (np.diag(found) == 1).all()
    np.testing.assert_allclose(found[2], [plain_su(x, X[:, 2]) for x in X.T], atol=1e-12)
    np.testing.assert_array_equal(su_matrix(X, [3, 1]), found[np.ix_([3, 1], [3, 1])])


# The walk


def test_corral_numbers():
    fcbf = FCBF().fit(CORRAL.data, CORRAL.target)
    np.testing.assert_allclose(fcbf.relevance_, [0.10644479] * 4 + [0, 0.18722410], atol=5e-9)
    assert fcbf.relevance_[4] == 0  # not 2e-16
    assert su(CORRAL.data[:, 0], CORRAL.data[:, 5]) == pytest.approx(0.02564985, abs=5e-9)
    assert fcbf.selected_.tolist() == [5, 0, 1, 2, 3] and not fcbf.relevant_[4]
    assert FCBF(delta="log").fit(CORRAL.data, CORRAL.target).selected_.tolist() == [5, 0]


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.sampled_from([2, 3, 7]), st.sampled_from([0.0, 0.02]))
def test_walk_equals_the_listing_of_the_source(seed, levels, delta):
    X, y = table(seed, levels=levels)
    fcbf = FCBF(delta).fit(X, y)
    kept, evaluations = plain_fcbf(X, y, delta)
    assert fcbf.selected_.tolist() == kept and fcbf.n_evaluations_ == evaluations
    walk = predominant_features(fcbf.relevance_, su_matrix(X), delta=delta)
    assert walk.selected.tolist() == kept and walk.n_evaluations == evaluations
    assert (walk.dominated_by == fcbf.dominated_by_).all()


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


def test_number_of_evaluations_between_n_and_n_squared():
    X, y = table(1, n=300, d=30)
    fcbf = FCBF().fit(X, y)
    rounds = sum(
        (fcbf.relevant_ & ~fcbf.support_ & np.isin(fcbf.dominated_by_, fcbf.selected_[k:])).sum()
        + len(fcbf.selected_)
        - k
        - 1
        for k in range(len(fcbf.selected_))
    )
    assert fcbf.n_evaluations_ == 30 + rounds <= 30 + 30 * 29 // 2
    copies = np.repeat(y[:, None], 9, axis=1)
    assert FCBF().fit(copies, y).n_evaluations_ == 9 + 8  # best case: one round


def test_order_of_columns_does_not_matter_without_ties():
    X, y = load("splice", return_X_y=True)
    base = set(FCBF().fit(X, y).selected_)
    turn = np.random.default_rng(0).permutation(60)
    assert {turn[j] for j in FCBF().fit(X[:, turn], y).selected_} == base


def test_rows_labels_dtype_and_layout_do_not_matter():
    X, y = table(5, n=100, d=20)
    base = FCBF().fit(X, y).selected_.tolist()
    rows = np.random.default_rng(0).permutation(100)
    named = pd.DataFrame(np.where(X == 1, "yes", "no"))
    for other, labels in (
        (X[rows], y[rows]),
        (np.asfortranarray(X.astype(float)), y),
        (X.astype(bool), np.array(["b", "a"])[y]),
        (X * 1e8 - 3, y),
        (named, y),
        (np.repeat(X, 2, axis=1)[:, ::2], y),
    ):
        assert FCBF().fit(other, labels).selected_.tolist() == base


def test_packed_and_counted_columns_agree():
    X, y = table(8, n=130, d=25)
    three = np.column_stack([X, np.arange(130) % 3])  # a column of three values forbids packing
    packed, counted = FCBF().fit(X, y), FCBF(delta=0.0).fit(three, y)
    np.testing.assert_array_equal(packed.relevance_, counted.relevance_[:-1])
    np.testing.assert_array_equal(su_matrix(X), su_matrix(three)[:-1, :-1])


def test_duplicates_constants_and_complements_go():
    X, y = table(2, n=200, d=8)
    wide = np.column_stack([X, X, 1 - X, np.ones((200, 2))])
    fcbf, base = FCBF().fit(wide, y), FCBF().fit(X, y)
    assert fcbf.selected_.tolist() == base.selected_.tolist()
    twins = base.selected_ + 8
    assert (fcbf.dominated_by_[twins] == base.selected_).all()
    assert (fcbf.dominated_by_[twins + 8] == base.selected_).all()
    assert not fcbf.relevant_[-2:].any()


def test_many_values_are_sorted_not_tabulated():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = np.column_stack([rng.permutation(300), rng.integers(0, 290, 300), y ^ (rng.random(300) < 0.2)])
    assert FCBF().fit(X, y).selected_.tolist() == plain_fcbf(X, y)[0]


def test_missing_values_are_a_level():
    X, y = table(4, n=80, d=6)
    gaps = X.astype(float)
    gaps[::7, 0] = np.nan
    coded = X.copy()
    coded[::7, 0] = 9
    assert FCBF().fit(gaps, y).selected_.tolist() == FCBF().fit(coded, y).selected_.tolist()


def test_edges_of_the_walk():
    assert FCBF().fit([[0], [1]], [0, 1]).selected_.tolist() == [0]
    assert FCBF("log").fit([[0], [1]], [0, 1]).selected_.tolist() == [0]
    nothing = FCBF().fit(np.zeros((4, 3)), [0, 1, 0, 1])
    assert not nothing.support_.any() and nothing.n_evaluations_ == 3
    assert not FCBF(1.0).fit([[0], [1]], [0, 1]).support_.any()
    with pytest.raises(ValueError, match="delta"):
        FCBF("ln").fit([[0], [1]], [0, 1])
    with pytest.raises(ValueError, match="delta"):
        FCBF(-0.1).fit([[0], [1]], [0, 1])


def test_log_threshold_keeps_the_first_n_over_log_n():
    X, y = table(6, n=500, d=47)
    fcbf = FCBF("log").fit(X, y)
    assert fcbf.relevant_.sum() == 8  # 47 / log2(47) = 8.46
    assert set(np.flatnonzero(fcbf.relevant_)) == set(np.argsort(-fcbf.relevance_, kind="stable")[:8])


def test_xor_is_invisible_to_pairs():
    X = np.array(list(np.ndindex(2, 2, 2)))
    y = X[:, 0] ^ X[:, 1]
    assert not FCBF().fit(X, y).support_.any()
    assert FOCUS().fit(X, y).selected_.tolist() == [0, 1]


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


def test_a_second_look_removes_r_and_only_r():
    kept = FCBF().fit(CORRAL.data, CORRAL.target).selected_
    assert joint_redundancy(CORRAL.data, CORRAL.target, kept).tolist() == [0, 1, 2, 3]
    # Blankets of three do not determine the class: with enough rows to see it, R stays.
    rows, labels = np.tile(CORRAL.data, (8, 1)), np.tile(CORRAL.target, 8)
    assert joint_redundancy(rows, labels, kept, n_given=3).tolist() == [5, 0, 1, 2, 3]
    assert joint_redundancy(rows, labels, kept, n_given=4).tolist() == [0, 1, 2, 3]
    assert joint_redundancy(CORRAL.data, CORRAL.target, [0]).tolist() == [0]
    with pytest.raises(ValueError, match="selected"):
        joint_redundancy(CORRAL.data, CORRAL.target, [0, 0])
    with pytest.raises(ValueError, match="level"):
        joint_redundancy(CORRAL.data, CORRAL.target, [0, 1], level=0)


def test_a_second_look_keeps_its_level():
    # A column of noise beside a good one: it stays with probability `level` about.
    rng = np.random.default_rng(0)
    stayed = 0
    for _ in range(200):
        y = rng.integers(0, 2, 200)
        X = np.column_stack([y ^ (rng.random(200) < 0.2), rng.integers(0, 2, 200)])
        stayed += 1 in joint_redundancy(X, y, [1, 0], level=0.1)
    assert 5 < stayed < 40  # 20 expected, standard deviation 4.2


def test_wide_bits_find_every_group():
    made = make_redundant_bits(800, d=20_000, random_state=0)
    fcbf = FCBF().fit(made.data, made.target)
    found = made.groups[np.isin(made.relevant, fcbf.selected_)]
    assert set(found) == set(range(10)) and len(fcbf.selected_) < 200


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
    with pytest.raises(ValueError, match="ratios"):
        make_balanced_corral(ratios=[1.5])


@pytest.mark.parametrize(("name", "counts"), [("splice", (9, 22, 6, 10)), ("promoters", (6, 6, 4, 4))])
def test_counts_of_the_source(name, counts):
    X, y = load(name, return_X_y=True)
    found = [int(s.fit(X, y).get_support().sum()) for s in (FCBF("log"), FCBF(), CFS(), FOCUS())]
    assert tuple(found) == counts


# Exact notions


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
    with pytest.raises(ValueError, match="blanket"):
        is_markov_blanket(example_one(GATES["and"]), [0, 1], 0)
    with pytest.raises(ValueError, match="order"):
        markov_blanket_filtering(example_one(GATES["and"]), order=[0, 1, 2, 3, 3])


# Discretisation


def plain_mdl(x, y):
    """Fayyad and Irani by trying every midpoint."""

    def h(v):
        p = np.unique(v, return_counts=True)[1] / len(v)
        return -(p * np.log2(p)).sum()

    values = np.unique(x)
    best = None
    for low, high in pairwise(values):
        left = x <= low
        mixed = (left.sum() * h(y[left]) + (~left).sum() * h(y[~left])) / len(x)
        if best is None or mixed < best[0] - 1e-12:
            best = mixed, (low + high) / 2, left
    if best is None:
        return []
    mixed, cut, left = best
    k, k1, k2 = (len(np.unique(v)) for v in (y, y[left], y[~left]))
    price = np.log2(len(x) - 1) + np.log2(3.0**k - 2) - (k * h(y) - k1 * h(y[left]) - k2 * h(y[~left]))
    if (h(y) - mixed) * len(x) <= price:
        return []
    return plain_mdl(x[left], y[left]) + [cut] + plain_mdl(x[~left], y[~left])


def test_cuts_equal_brute_force():
    rng = np.random.default_rng(0)
    found = 0
    for classes in (2, 3, 5):
        for _ in range(5):
            x = rng.integers(0, 40, 150) / 4
            y = (x * classes / 10).astype(int).clip(0, classes - 1)
            y = np.where(rng.random(150) < 0.2, rng.integers(0, classes, 150), y)
            np.testing.assert_allclose(mdl_cuts(x, y), plain_mdl(x, y))
            found += len(mdl_cuts(x, y))
    assert found > 15
    pipe = make_pipeline(MDLDiscretizer(), FCBF()).fit(x[:, None], y)
    assert pipe[-1].selected_.tolist() == [0]


# Rivals


def plain_cfs(X, y):
    r, s = np.array([plain_su(x, y) for x in X.T]), su_matrix(X)

    def merit(subset):
        k, pairs = len(subset), list(combinations(subset, 2))
        mean = np.mean([s[p] for p in pairs]) if pairs else 0.0
        return k * r[list(subset)].mean() / np.sqrt(k + k * (k - 1) * mean)

    kept, best = [], 0.0
    while len(kept) < X.shape[1]:
        j = max((i for i in range(X.shape[1]) if i not in kept), key=lambda i: round(merit([*kept, i]), 12))
        if merit([*kept, j]) <= best + 1e-12:
            return kept, best
        best = merit([*kept, j])
        kept.append(j)
    return kept, best


@pytest.mark.parametrize("seed", range(4))
def test_cfs_equals_brute_force(seed):
    X, y = table(seed, n=150, d=10, levels=3)
    cfs = CFS().fit(X, y)
    kept, best = plain_cfs(X, y)
    assert cfs.selected_.tolist() == kept and cfs.merits_[-1] == pytest.approx(best)
    assert CFS(max_features=2).fit(X, y).selected_.tolist() == kept[:2]
    assert cfs.merits_[0] == pytest.approx(max(plain_su(x, y) for x in X.T))  # k = 1: the relevance


def test_inconsistency_counts_what_majorities_get_wrong():
    X, y = table(0, n=50, d=3)
    groups = {}
    for row, label in zip(map(tuple, X), y, strict=True):
        groups.setdefault(row, []).append(label)
    assert inconsistency(X, y) == sum(len(g) - max(g.count(0), g.count(1)) for g in groups.values()) > 0
    assert inconsistency(np.arange(50)[:, None], y) == 0
    assert inconsistency(np.zeros((50, 1)), y) == min(y.sum(), 50 - y.sum())


@pytest.mark.parametrize("seed", range(3))
def test_focus_equals_brute_force(seed):
    X, y = table(seed, n=80, d=9, levels=3)
    y = (y + X[:, 3]) % 3
    kept = []
    while inconsistency(X[:, kept], y) > inconsistency(X, y) if kept else True:
        left = [i for i in range(9) if i not in kept]
        kept.append(min(left, key=lambda i: inconsistency(X[:, [*kept, i]], y)))
    focus = FOCUS().fit(X, y)
    assert focus.selected_.tolist() == kept
    assert focus.inconsistencies_[-1] == inconsistency(X, y)
    assert focus.inconsistencies_.tolist()[1:] == [inconsistency(X[:, kept[: k + 1]], y) for k in range(len(kept))]


def test_greedy_consistency_stops_at_r():
    stopped = FOCUS("no gain").fit(CORRAL.data, CORRAL.target)
    assert stopped.selected_.tolist() == [5] and stopped.inconsistencies_.tolist() == [56, 32]
    assert FOCUS().fit(CORRAL.data, CORRAL.target).selected_.tolist() == [5, 0, 1, 2, 3]
    with pytest.raises(ValueError, match="stop"):
        FOCUS("never").fit(CORRAL.data, CORRAL.target)


def plain_relief(X, y, rows, k, nominal):
    spread = np.ptp(X, axis=0)
    diff = (lambda a, b: (a != b) * 1.0) if nominal else (lambda a, b: np.abs(a - b) / np.where(spread > 0, spread, 1))
    weights = np.zeros(X.shape[1])
    for i in rows:
        distance = np.array([diff(X[i], x).sum() for x in X])
        for c in np.unique(y):
            near = [r for r in np.argsort(distance, kind="stable") if r != i and y[r] == c][:k]
            mean = np.mean([diff(X[i], X[r]) for r in near], axis=0) / len(rows)
            weights += -mean if c == y[i] else np.mean(y == c) / (1 - np.mean(y == y[i])) * mean
    return weights


@pytest.mark.parametrize("nominal", [True, False])
def test_relief_equals_brute_force(nominal):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (60, 7)).astype(float) if nominal else rng.normal(size=(60, 7))
    y = np.where(X[:, 0] > 1, 0, np.where(X[:, 1] > 0, 1, 2))
    relief = ReliefF(n_instances=60, nominal=nominal, random_state=0).fit(X, y)
    np.testing.assert_allclose(relief.weights_, plain_relief(X, y, range(60), 5, nominal), atol=1e-12)
    assert (relief.support_ == (relief.weights_ > 0)).all()
    top = ReliefF(n_features_to_select=2, n_instances=60, nominal=nominal).fit(X, y)
    assert set(np.flatnonzero(top.support_)) == set(np.argsort(-relief.weights_)[:2])


def test_relief_weights_copies_alike_and_has_no_units():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 4))
    X[:, 3] = X[:, 0]
    y = X[:, 0] > 0
    base = ReliefF(nominal=False, random_state=0).fit(X, y).weights_
    assert base[0] == base[3] > max(base[1], base[2])
    np.testing.assert_allclose(ReliefF(nominal=False, random_state=0).fit(X * 1e8 - 5, y).weights_, base, atol=1e-6)
    with pytest.raises(ValueError, match="n_features_to_select"):
        ReliefF(n_features_to_select=5).fit(X, y)
    with pytest.raises(ValueError, match="n_neighbors"):
        ReliefF(n_neighbors=0).fit(X, y)


# Protocols


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
    for bad in ({"learner": "forest"}, {"selection": "after"}, {"cv": 1}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            fold_scores(FCBF(), X, y, **bad)
    with pytest.raises(ValueError, match="y"):
        fold_scores(FCBF(), X, np.zeros(60))
    with pytest.raises(TypeError, match="cv"):
        fold_scores(FCBF(), X, y, cv="ten")
    with pytest.raises(TypeError, match="selector"):
        fold_scores("fcbf", X, y)


def test_paired_comparison_is_the_paired_t_test():
    rng = np.random.default_rng(0)
    a, b = rng.random(10), rng.random(10)
    found = paired_comparison(a, b)
    assert found.p_value == pytest.approx(ttest_rel(a, b).pvalue) and found.difference == pytest.approx((a - b).mean())
    assert paired_comparison(a, a).p_value == 1 and paired_comparison(a, a).verdict == "tie"
    assert paired_comparison(a + 1, a).verdict == "win" and paired_comparison(a, a + 1).verdict == "loss"
    p = found.p_value
    assert paired_comparison(a, b, level=p * 0.9).verdict == "tie" != paired_comparison(a, b, level=p * 1.1).verdict
    with pytest.raises(ValueError, match="second"):
        paired_comparison(a, b[:5])


@parametrize_with_checks(
    [FCBF(), FCBF(delta="log"), CFS(), FOCUS(), ReliefF(), ReliefF(nominal=False), MDLDiscretizer()]
)
def test_scikit_learn_protocol(estimator, check):
    check(estimator)
