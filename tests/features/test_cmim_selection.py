"""Claims of the source, checked: cmim_feature_selection."""

import itertools
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline

from learnable.features import CMIMSelector, ThresholdFeatures, cmim, edge_features
from learnable.features.information import code_columns

METHODS = ("naive", "scan", "heap")


def plug_in(x, y, z=None, w=None):
    """I(x; y | z) by the definition: the sum of p log ratio over the cells."""
    z = np.zeros(len(x), dtype=int) if z is None else z
    w = np.ones(len(x)) / len(x) if w is None else w / w.sum()
    total = 0.0
    for a, b, c in itertools.product(set(x.tolist()), set(y.tolist()), set(z.tolist())):
        cell = w[(x == a) & (y == b) & (z == c)].sum()
        if cell > 0:
            ratio = cell * w[z == c].sum() / (w[(x == a) & (z == c)].sum() * w[(y == b) & (z == c)].sum())
            total += cell * np.log(ratio)
    return total


def by_definition(X, y, k, *, marginal=True, w=None):
    """CMIM in floating point, every score anew at every step."""
    order, scores = [], []
    while len(order) < k:
        best, top = -1, 1e-12
        for n in range(X.shape[1]):
            terms = [plug_in(X[:, n], y, X[:, m], w) for m in order]
            if marginal or not order:
                terms.append(plug_in(X[:, n], y, w=w))
            if n not in order and min(terms) > top + 1e-12:
                best, top = n, min(terms)
        if best < 0:
            break
        order.append(best)
        scores.append(top)
    return order, scores


def draw(rng, n=40, d=9, classes=2, values=2):
    X = rng.integers(0, values, (n, d))
    X[:, -1] = X[:, 0]
    y = (X[:, 0] + X[:, 1] + rng.integers(0, 2, n)) % classes
    y[:classes] = np.arange(classes)
    return X, y


def test_c1_scores_equal_a_direct_plug_in_computation():
    rng = np.random.default_rng(0)
    for classes, values in ((2, 2), (3, 2), (2, 3), (4, 4)):
        X, y = draw(rng, classes=classes, values=values)
        expected, scores = by_definition(X, y, 5)
        for method in METHODS:
            found = cmim(X, y, 5, method=method)
            assert found.order.tolist() == expected
            np.testing.assert_allclose(found.scores, scores, rtol=0, atol=1e-12)


def test_c1_no_information_given_a_copy_all_of_it_given_a_constant():
    rng = np.random.default_rng(1)
    X, y = draw(rng)
    copies = np.column_stack([X[:, 0], X[:, 0], 1 - X[:, 0]])
    assert cmim(copies, y, 3).order.tolist() == [0]
    # A constant column can be chosen by nobody, and conditioning on it changes nothing.
    with_constant = np.column_stack([np.ones(len(X), dtype=int), X])
    assert (cmim(with_constant, y, 5).order - 1).tolist() == cmim(X, y, 5).order.tolist()


@pytest.mark.parametrize("marginal", [True, False])
def test_c2_lazy_is_simple_whatever_the_ties(marginal):
    rng = np.random.default_rng(2)
    for trial in range(200):
        n, d = int(rng.integers(2, 70)), int(rng.integers(1, 14))
        values = 2 if trial % 3 else 3
        X = rng.integers(0, values, (n, d))
        X = X[:, rng.integers(0, d, d)]  # copies: exact ties
        X[:, ::3] = values - 1 - X[:, ::3]  # and complements
        y = rng.integers(0, 2 + trial % 2, n)
        weight = None if trial % 4 else rng.random(n) + 0.1
        runs = [
            cmim(X, y, d, method=method, include_marginal=marginal, sample_weight=weight) for method in METHODS
        ]  # fmt: skip
        for other in runs[1:]:
            assert other.order.tolist() == runs[0].order.tolist()
            assert other.scores.tolist() == runs[0].scores.tolist()
            assert other.n_calls <= runs[0].n_calls


def test_c2_ties_go_to_the_lowest_index():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 101)
    noisy = y ^ (rng.random(101) < 0.2)
    X = np.column_stack([rng.integers(0, 2, 101), 1 - noisy, noisy, noisy])
    for method in METHODS:
        assert cmim(X, y, 1, method=method).order.tolist() == [1]
    # The weighted scores are whole numbers too, so that a complement ties exactly.
    assert cmim(X, y, 1, sample_weight=rng.random(101)).order.tolist() == [1]


def test_c3_conditional_information_is_a_difference_of_joint_ones():
    # The second score of a table of two columns is min(I(Y;X), I(Y;X,Z) - I(Y;Z)).
    rng = np.random.default_rng(4)
    for _ in range(20):
        X, y = draw(rng, d=3)
        X = X[:, :2]
        first = int(np.argmax([plug_in(X[:, j], y) for j in (0, 1)]))
        other = 1 - first
        both = plug_in(2 * X[:, 0] + X[:, 1], y)
        expected = min(plug_in(X[:, other], y), both - plug_in(X[:, first], y))
        found = cmim(X, y, 2)
        assert found.scores[1] == pytest.approx(expected, abs=1e-12)


def test_c4_a_copy_or_complement_is_never_chosen_while_anything_is_left():
    rng = np.random.default_rng(5)
    for classes in (2, 3):
        X = rng.integers(0, 2, (200, 6))
        y = (X[:, 0] + X[:, 1] + X[:, 2] + (rng.random(200) < 0.1)) % classes
        twice = np.column_stack([X, X, 1 - X])
        found = cmim(twice, y, 18)
        assert len(found.order) == len(set(found.order % 6)) <= 6
        assert (found.scores > 0).all() and (found.order < 6).all()


def test_c6_scores_never_increase():
    rng = np.random.default_rng(6)
    for classes, values in ((2, 2), (3, 5)):
        X, y = draw(rng, n=150, d=20, classes=classes, values=values)
        assert (np.diff(cmim(X, y, 20).scores) <= 0).all()


@pytest.mark.parametrize("n", [2, 63, 64, 65, 127, 200])
def test_c7_packed_counts_equal_boolean_counts(n):
    rng = np.random.default_rng(n)
    X, y = rng.integers(0, 2, (n, 6)), np.arange(n) % 2
    X[-1] = 1  # the last row is the one beside the padding
    expected, scores = by_definition(X, y, 4)
    found = cmim(X, y, 4)
    assert found.order.tolist() == expected
    np.testing.assert_allclose(found.scores, scores, atol=1e-12)


def test_c10_only_the_equation_sees_a_column_that_is_informative_in_company():
    a, b = (np.array(v).repeat(25) for v in ([0, 0, 1, 1], [0, 1, 0, 1]))
    b[:5] = 1  # b is unequal, so that a is a little informative by itself
    y = a ^ b
    noise = np.random.default_rng(0).integers(0, 2, 100)
    X = np.column_stack([noise, a, b])
    assert plug_in(a, y, b) == pytest.approx(plug_in(a, y) + plug_in(a, b, y) - plug_in(a, b), abs=1e-12)
    with_marginal = cmim(X, y, 3)
    equation = cmim(X, y, 3, include_marginal=False)
    assert with_marginal.order[0] == equation.order[0]
    assert with_marginal.scores[1] < 0.05 and equation.scores[1] > 0.5
    assert equation.order[1] in (1, 2) and equation.scores[1] > equation.scores[0]
    expected, scores = by_definition(X, y, 3, marginal=False)
    assert equation.order.tolist() == expected[: len(equation.order)]
    np.testing.assert_allclose(equation.scores, scores, atol=1e-12)


def test_c10_pure_exclusive_or():
    a, b = np.array([0, 0, 1, 1] * 5), np.array([0, 1, 0, 1] * 5)
    X = np.column_stack([a, b])
    assert len(cmim(X, a ^ b, 2).order) == 0
    for method in METHODS:
        found = cmim(X, a ^ b, 2, method=method, include_marginal=False)
        assert found.order.tolist() == [0, 1]
        np.testing.assert_allclose(found.scores, [0.0, np.log(2)], atol=1e-12)


def test_weighted_rows_equal_the_definition_and_repeated_rows():
    rng = np.random.default_rng(7)
    for values in (2, 3):
        X, y = draw(rng, n=60, d=7, values=values)
        w = rng.integers(0, 4, 60).astype(float)
        expected, scores = by_definition(X, y, 4, w=w)
        for method in METHODS:
            found = cmim(X, y, 4, method=method, sample_weight=w)
            assert found.order.tolist() == expected
            np.testing.assert_allclose(found.scores, scores, atol=1e-9)
        repeated = cmim(np.repeat(X, w.astype(int), axis=0), np.repeat(y, w.astype(int)), 4)
        assert repeated.order.tolist() == expected
        np.testing.assert_allclose(repeated.scores, scores, atol=1e-12)


def test_many_values_are_sorted_instead_of_tabled():
    rng = np.random.default_rng(8)
    X = np.column_stack([rng.integers(0, 40, 60), rng.integers(0, 3, 60), np.arange(60)])
    y = (X[:, 1] + (rng.random(60) < 0.2)) % 3
    expected, scores = by_definition(X, y, 3)
    for weight in (None, np.ones(60)):
        found = cmim(X.astype(str), y, 3, sample_weight=weight)  # as names: numbers so many would be cut
        assert found.order.tolist() == expected
        np.testing.assert_allclose(found.scores, scores, atol=1e-9)


def test_row_order_names_of_values_and_layout_do_not_matter():
    rng = np.random.default_rng(9)
    X, y = draw(rng, n=130, d=12)
    expected = cmim(X, y, 6)
    mixed = rng.permutation(130)
    for other, labels in (
        (X[mixed], y[mixed]),
        (np.asfortranarray(X), y),
        (X.astype(float) * 1e8 - 3, y),
        (np.where(X, "b", "a"), np.where(y, "yes", "no")),
        (X.astype(bool), y),
        (code_columns(X), y),
    ):
        found = cmim(other, labels, 6)
        assert found.order.tolist() == expected.order.tolist()
        assert found.scores.tolist() == expected.scores.tolist()


def test_a_missing_value_is_a_value():
    y = np.array([0, 0, 1, 1] * 5)
    X = np.column_stack([np.where(y, np.nan, 1.0), np.arange(20) % 2])
    assert cmim(X, y, 1).scores[0] == pytest.approx(np.log(2))


def test_nothing_informative_means_nothing_chosen():
    constant = np.ones((10, 3))
    assert len(cmim(constant, np.arange(10) % 2, 2).order) == 0
    assert len(cmim(np.eye(4), np.zeros(4), 2).order) == 0
    assert cmim(np.eye(4), [0, 1, 0, 1], 9).share_of_calls <= 1.0


def test_results_are_frozen_and_inputs_stay():
    X, y = draw(np.random.default_rng(10))
    before = X.copy(), y.copy()
    found = cmim(X, y, 3)
    with pytest.raises(FrozenInstanceError):
        found.n_calls = 0
    assert (X == before[0]).all() and (y == before[1]).all()


def test_the_selector_in_a_pipeline():
    rng = np.random.default_rng(11)
    X = rng.normal(size=(300, 8))
    y = np.where(X[:, 2] + 0.5 * X[:, 5] > 0, "high", "low")
    model = make_pipeline(ThresholdFeatures(n_thresholds=3), CMIMSelector(k=4), BernoulliNB()).fit(X, y)
    names = model[:-1].get_feature_names_out()
    assert len(names) == 4 and {name.partition(">")[0] for name in names} >= {"x2", "x5"}
    assert model.score(X, y) > 0.8
    selector = model[1]
    assert set(np.flatnonzero(selector.support_)) == set(selector.order_)
    assert selector.n_cmi_calls_ == cmim(model[0].transform(X), y, 4).n_calls


def test_edges_do_not_depend_on_brightness_and_contrast():
    rng = np.random.default_rng(20)
    images = rng.integers(0, 64, (3, 9, 9)).astype(float)
    assert (edge_features(images) == edge_features(2 * images + 31)).all()
    negative = edge_features(-images).reshape(3, 7, 4, 2, 81)
    assert (negative[:, :, :, ::-1] == edge_features(images).reshape(3, 7, 4, 2, 81)).all()


def test_thresholds_are_quantiles_of_the_training_rows():
    X = np.arange(8.0)[:, None] * [1.0, 1e-8]
    model = ThresholdFeatures(n_thresholds=3).fit(X)
    assert (model.transform(X)[:, :3].sum(axis=0) == model.transform(X)[:, 3:].sum(axis=0)).all()
    assert model.transform(X)[:, 0].mean() == pytest.approx(0.75, abs=0.13)
    assert model.get_feature_names_out()[0].startswith("x0>=")
    assert ThresholdFeatures().fit_transform(np.ones((5, 2))).shape == (5, 1)


def test_erratum_equation_and_algorithm_differ():
    test_c10_pure_exclusive_or()
