"""Claims of Yu and Liu 2004, checked against brute force, scipy and scikit-learn."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline

from learnable.datasets import load
from learnable.datasets.rules import make_corral
from learnable.datasets.wide import make_redundant_bits
from learnable.features import (
    FCBF,
    FOCUS,
    MDLDiscretizer,
    conditional_entropy,
    entropy,
    joint_redundancy,
    mutual_information,
    predominant_features,
    su_matrix,
)
from learnable.features import symmetrical_uncertainty as su

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


def test_matrix_of_su():
    X, _ = table(0, levels=3)
    found = su_matrix(X)
    assert (found == found.T).all() and (np.diag(found) == 1).all()
    np.testing.assert_allclose(found[2], [plain_su(x, X[:, 2]) for x in X.T], atol=1e-12)
    np.testing.assert_array_equal(su_matrix(X, [3, 1]), found[np.ix_([3, 1], [3, 1])])


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
    assert FCBF().fit(X.astype(str), y).selected_.tolist() == plain_fcbf(X, y)[0]  # as names: numbers would be cut


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
            cuts = MDLDiscretizer().fit(x[:, None], y).cuts_[0]
            np.testing.assert_allclose(cuts, plain_mdl(x, y))
            found += len(cuts)
    assert found > 15
    pipe = make_pipeline(MDLDiscretizer(), FCBF()).fit(x[:, None], y)
    assert pipe[-1].selected_.tolist() == [0]
