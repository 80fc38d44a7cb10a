"""The counting engine of feature selection: values by direct sums, exact ties, every kind of column."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score

from learnable.features.information import (
    code_columns,
    conditional_entropy,
    conditional_mutual_information,
    entropy,
    mutual_information,
    symmetrical_uncertainty,
    whole_xlogx,
)


def by_hand(x, y, z):
    """I(X; Y | Z) = sum p(xyz) log [p(z) p(xyz) / (p(xz) p(yz))], cell by cell."""
    x, y, z = (np.unique(v, return_inverse=True)[1] for v in (x, y, z))
    joint = np.zeros((x.max() + 1, y.max() + 1, z.max() + 1))
    np.add.at(joint, (x, y, z), 1 / len(x))
    total = 0.0
    for a, b, c in itertools.product(*map(range, joint.shape)):
        if joint[a, b, c] > 0:
            ratio = joint[:, :, c].sum() * joint[a, b, c] / (joint[a, :, c].sum() * joint[:, b, c].sum())
            total += joint[a, b, c] * np.log(ratio)
    return total


@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 200, 1000])
@pytest.mark.parametrize("states", [(2, 2, 2), (2, 3, 2), (5, 4, 3), (2, 1, 7)])
def test_information_equals_the_direct_sum(n, states):
    rng = np.random.default_rng(n)
    X = np.stack([rng.integers(0, r, n) for r in states], axis=1)
    columns = code_columns(X)
    x, y, z = X.T
    conditional = columns.conditional_information(columns.column(1), columns.column(2), [0])[0]
    assert conditional == pytest.approx(by_hand(x, y, z), abs=1e-12)
    assert columns.mutual_information(columns.column(1), [0])[0] == pytest.approx(mutual_info_score(x, y), abs=1e-12)
    p = np.unique(x, return_counts=True)[1] / n
    assert columns.entropies()[0] == pytest.approx(-(p * np.log(p)).sum(), abs=1e-12)


def test_packed_columns_agree_with_coded_ones():
    """The same binary columns beside one with three values are counted cell by cell, not by bits."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (333, 40))
    y = rng.integers(0, 4, 333)
    bits, coded = code_columns(X), code_columns(np.column_stack([X, np.arange(333) % 3]))
    assert bits.words is not None
    assert coded.words is None
    ours, theirs = bits.mutual_information(bits.reference(y)), coded.mutual_information(coded.reference(y))[:40]
    np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(bits.codes, coded.codes[:40])


def test_many_states_are_sorted_and_give_the_same():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 400, (500, 2))
    columns = code_columns(X)
    value = columns.mutual_information(columns.column(1), [0])[0]
    assert value == pytest.approx(mutual_info_score(*X.T), abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_relabelling_and_order_of_rows_change_nothing_at_all(data):
    n = data.draw(st.integers(2, 90))
    x = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    y = np.array(data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    other = np.array(data.draw(st.permutations([10, -3, 7, 2])))[x]
    rows = np.random.default_rng(n).permutation(n)
    assert mutual_information(x, y) == mutual_information(other[rows], y[rows]) == mutual_information(y, x)
    assert symmetrical_uncertainty(x, y) == symmetrical_uncertainty(y, other)
    assert conditional_mutual_information(y, x, other) == 0.0
    assert 0 <= symmetrical_uncertainty(x, y) <= 1
    chain = mutual_information(x, [f"{a}{b}" for a, b in zip(y, rows % 2, strict=True)])
    step = conditional_mutual_information(x, y, rows % 2)
    assert chain == pytest.approx(mutual_information(x, rows % 2) + step, abs=1e-12)


def test_uncertainty_is_one_for_relabellings_only():
    x = np.array([0, 0, 1, 1, 2, 2])
    assert symmetrical_uncertainty(x, np.array(["c", "c", "a", "a", "b", "b"])) == 1.0
    assert symmetrical_uncertainty(x, [0, 0, 1, 1, 1, 1]) < 1.0
    assert symmetrical_uncertainty([3, 3], [1, 1]) == 0.0
    assert symmetrical_uncertainty(x, [9] * 6) == 0.0


def test_independent_counts_carry_exactly_nothing():
    x, y = np.divmod(np.arange(3 * 7 * 11), 7)
    assert mutual_information(x % 3, y) == 0.0
    assert conditional_mutual_information(x % 3, y, x // 3) == 0.0


def test_exclusive_or_needs_both():
    a, b = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    assert mutual_information(a, a ^ b) == 0.0
    assert conditional_mutual_information(a, a ^ b, b, base=2) == pytest.approx(1.0)
    assert conditional_entropy(a ^ b, a, base=2) == pytest.approx(1.0)
    assert conditional_entropy(a, a) == 0.0


@pytest.mark.parametrize(
    "column",
    [
        np.array([True, False, True, True]),
        np.array([5, -2, 5, 5], dtype=np.int8),
        np.array([1e300, -1e300, 1e300, 1e300]),
        np.array([2**63, 0, 2**63, 2**63], dtype=np.uint64),
        np.array([-(2**62), 2**62, -(2**62), -(2**62)]),
        np.array(["b", "a", "b", "b"]),
        np.array([None, "x", None, None], dtype=object),
        np.array([np.nan, 1.0, np.nan, np.nan]),
        np.array([np.nan, "x", np.nan, np.nan], dtype=object),
        pd.Series([pd.NA, 4, pd.NA, pd.NA], dtype="Int64"),
        pd.Series(["u", "v", "u", "u"], dtype="category"),
    ],
    ids=lambda column: str(column.dtype),
)
def test_every_kind_of_value_is_a_level(column):
    assert entropy(column) == entropy([1, 0, 1, 1])
    frame = pd.DataFrame({"a": column, "b": [1, 2, 3, 4]})
    assert code_columns(frame).n_states.tolist() == [2, 4]


def test_a_table_does_not_depend_on_layout_and_stays_as_it_is():
    X = np.random.default_rng(2).integers(0, 2, (70, 9)).astype(float)
    before = X.copy()
    for form in (X, np.asfortranarray(X), X[::-1][::-1], pd.DataFrame(X), X.astype(np.float32), X == 1):
        np.testing.assert_array_equal(code_columns(form).words, code_columns(X).words)
    np.testing.assert_array_equal(X, before)


def test_constant_columns_and_one_row():
    columns = code_columns(np.array([[1, 0], [1, 1], [1, 1]]))
    assert columns.entropies()[0] == 0.0
    assert columns.mutual_information(columns.column(0)).tolist() == [0.0, 0.0]
    assert code_columns([[3, 4]]).entropies().tolist() == [0.0, 0.0]


def test_table_is_whole_and_exact_to_its_unit():
    for n in (0, 1, 2, 10, 100_000):
        table, unit = whole_xlogx(n)
        c = np.arange(1, n + 1)
        np.testing.assert_allclose(table[1:] * unit, c * np.log(c), rtol=0, atol=unit)
        assert table[-1] <= 2**52


def test_bad_input_is_refused():
    columns = code_columns([[0, 1], [1, 1]])
    for bad in ([2], [-1], [0.5], [[0]]):
        with pytest.raises(ValueError, match="columns"):
            columns.joint_terms(columns.column(0), bad)
    with pytest.raises(ValueError, match="y: 3"):
        columns.reference([0, 1, 1])
    with pytest.raises(ValueError, match="rows and columns"):
        code_columns(np.empty((0, 3)))
    with pytest.raises(ValueError, match="rows and columns"):
        code_columns([1, 2, 3])
    with pytest.raises(ValueError, match=r"y: 2 values"):
        mutual_information([1, 2, 3], [1, 2])
    with pytest.raises(ValueError, match="base"):
        entropy([1, 2], base=1)
    with pytest.raises(ValueError, match="x:"):
        entropy([])
    with pytest.raises(ValueError, match="index"):
        columns.column(2)
