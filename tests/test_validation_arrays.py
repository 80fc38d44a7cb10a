"""Checks of tables, matrices, codes and words: what is accepted, in which form it comes back, what is refused."""

import numpy as np
import pytest

from learnable.validation import (
    check_adjacency,
    check_bool,
    check_callable,
    check_codes,
    check_covariance,
    check_design,
    check_instance,
    check_number_or_word,
    check_permutation,
    check_probability_rows,
    check_table,
    check_zero_one,
)


def test_tables_have_rows_and_columns():
    X = check_table(np.arange(6, dtype=np.int8).reshape(2, 3), "X", rows=2, columns=3)
    assert X.dtype == np.float64 and X.shape == (2, 3)
    for bad, message in [
        (np.zeros((0, 3)), "at least 1 row and 1 column"),
        (np.zeros((3, 0)), r"got shape \(3, 0\)"),
        (np.zeros(3), "2 dimension"),
        ([[1.0, np.nan]], "finite, got nan"),
        ([["a"]], "real numbers"),
    ]:
        with pytest.raises(ValueError, match=f"table must .*{message}"):
            check_table(bad, "table")
    with pytest.raises(ValueError, match="at least 4 rows and 2 columns"):
        check_table(np.zeros((3, 2)), rows=4, columns=2)


def test_designs_have_a_target_for_each_row():
    X, y = check_design([[1, 2], [3, 4]], [1, 0], rows=2)
    assert X.shape == (2, 2) and y.tolist() == [1.0, 0.0]
    with pytest.raises(ValueError, match="one row for each of the 3 entries of y"):
        check_design([[1, 2], [3, 4]], [1, 0, 1])
    with pytest.raises(ValueError, match="X must have at least 2 rows"):
        check_design([[1, 2]], [1], rows=2)
    with pytest.raises(ValueError, match="y must have 1 dimension"):
        check_design([[1, 2]], [[1]])
    with pytest.raises(ValueError, match="X must have at least 1 row and 1 column"):
        check_design(np.zeros((2, 0)), [1, 2])


@pytest.mark.parametrize("kind", [bool, np.int8, np.float32, object])
def test_zeros_and_ones_of_any_kind(kind):
    Y = np.asfortranarray(np.array([[0, 1, 1], [1, 0, 1]]).astype(kind))
    made = check_zero_one(Y, "Y")
    assert made.dtype == bool and made.flags.c_contiguous and made.astype(int).tolist() == [[0, 1, 1], [1, 0, 1]]


def test_other_numbers_than_zero_and_one_are_refused():
    for bad, message in [
        ([[0, 0.5]], "got 0.5"),
        ([[-1]], "got -1"),
        (np.zeros((0, 2)), "at least one"),
        ([1], "2 dim"),
    ]:
        with pytest.raises(ValueError, match=message):
            check_zero_one(bad, "Y")
    assert check_zero_one([1, 0], "Y", ndim=1).tolist() == [True, False]


def test_covariances_are_symmetric_and_semidefinite():
    A = np.random.default_rng(0).normal(size=(5, 3))
    singular = A @ A.T  # rank three: two eigenvalues are zero to rounding
    for scale in (1e-200, 1.0, 1e200):
        np.testing.assert_allclose(check_covariance(scale * singular, size=5), scale * singular)
    assert check_covariance(np.zeros((2, 2))).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    with pytest.raises(ValueError, match=r"S must be a covariance matrix, .* -0\.5"):
        check_covariance(np.diag([1.0, -0.5]), "S")
    with pytest.raises(ValueError, match=r"S must have shape \(4, 4\)"):
        check_covariance(singular, "S", size=4)
    with pytest.raises(ValueError, match="S must be symmetric"):
        check_covariance([[1, 0.5], [0.4, 1]], "S")


def test_adjacencies_come_back_as_a_copy():
    G = np.array([[False, True], [True, False]])
    made = check_adjacency(G)
    made[0, 1] = False
    assert G[0, 1] and check_adjacency(np.zeros((0, 0))).shape == (0, 0)
    np.testing.assert_array_equal(check_adjacency(G.astype(float).tolist(), size=2), G)
    for bad in ([[0, 1], [0, 0]], [[1, 0], [0, 0]], [[0, 2], [2, 0]]):
        with pytest.raises(
            ValueError, match="graph must be a symmetric matrix of zeros and ones with an empty diagonal"
        ):
            check_adjacency(bad, "graph")
    with pytest.raises(ValueError, match=r"shape \(3, 3\), got \(2, 2\)"):
        check_adjacency(G, size=3)
    with pytest.raises(ValueError, match=r"shape \(1, 1\), got \(1, 2\)"):
        check_adjacency([[0, 1]])


def test_rows_of_probabilities():
    P = np.array([[0.25, 0.75], [1.0, 0.0]])
    made = check_probability_rows(np.asfortranarray(P), "transmat", rows=2, columns=2)
    assert made.flags.c_contiguous and np.array_equal(made, P)
    check_probability_rows(np.array([[0.1, 0.9]], dtype=np.float32), "transmat")
    check_probability_rows([[0.5, 0.5000004]], "shares", tol=1e-6)
    for bad, message in [
        ([[0.5, 0.5000004]], "sum to 1, got a sum of 1.0000004 in row 0"),
        ([[1, 0], [1.5, -0.5]], "non-negative, got -0.5 in row 1"),
        (np.zeros((0, 2)), "at least one row"),
        ([0.5, 0.5], "2 dim"),
    ]:
        with pytest.raises(ValueError, match=f"transmat must .*{message}"):
            check_probability_rows(bad, "transmat")
    with pytest.raises(ValueError, match=r"shape \(any, 3\), got \(2, 2\)"):
        check_probability_rows(P, "transmat", columns=3)


@pytest.mark.parametrize("codes", [[2, 0, 1], (2.0, 0.0, 1.0), np.array([2, 0, 1], dtype=np.uint8)])
def test_codes_are_whole_numbers_below_a_size(codes):
    made = check_codes(codes, "columns", size=3, distinct=True)
    assert made.dtype == np.int64 and made.tolist() == [2, 0, 1]


def test_other_codes_are_refused():
    assert check_codes([True, False], "columns").tolist() == [1, 0] and check_codes([], "columns", size=0).size == 0
    assert check_codes([[0, 5]], "pairs", ndim=2).tolist() == [[0, 5]]
    for bad, message in [
        ([0, 3], "whole numbers from 0 to 2, got 3"),
        ([-1], "got -1"),
        ([0.5], "got 0.5"),
        ([np.nan], "finite"),
        (["a"], "real numbers"),
        ([[1]], "1 dimension"),
        ([1, 2, 1], "different numbers, got 1 twice"),
    ]:
        with pytest.raises(ValueError, match=f"columns must .*{message}"):
            check_codes(bad, "columns", size=3, distinct=True)
    for bad in (np.array([2**63], dtype=np.uint64), [2.0**63], [1e300]):
        with pytest.raises(ValueError, match=r"whole numbers 0, 1, \.\.\."):
            check_codes(bad, "codes")


def test_strict_codes_are_integers():
    assert check_codes([2, 0], "rows", size=3, strict=True).tolist() == [2, 0]
    assert check_codes([], "rows", strict=True).dtype == np.int64
    for bad in ([True, False], [0.0, 1.0], ["0"], [None]):
        with pytest.raises(ValueError, match="rows must hold integers"):
            check_codes(bad, "rows", strict=True)


def test_permutations():
    assert check_permutation(np.array([1, 0], dtype=np.uint8), "order", 2).dtype == np.int64
    for bad in ([0, 0], [1, 2], [0], [0.0, 1.0], [[0, 1]], [False, True], "ab"):
        with pytest.raises(ValueError, match=r"order must be a permutation of 0, \.\.\., 1"):
            check_permutation(bad, "order", 2)


def test_numbers_or_words():
    assert check_number_or_word(1, "sweeps", ["adaptive"], low=1, integer=True) == 1
    assert check_number_or_word(None, "mu", ["paper", None], low=0) is None
    for bad in ("best", None, 0, 1.5, True, float("nan"), [1]):
        with pytest.raises(ValueError, match=r"sweeps must be 'adaptive' or an integer in \[1, inf\), got "):
            check_number_or_word(bad, "sweeps", ["adaptive"], low=1, integer=True)


def test_flags_classes_and_functions():
    assert check_bool(np.False_, "flag") is False
    for bad in (0, 1.0, "yes", None, np.array(True)):
        with pytest.raises(ValueError, match="flag must be True or False"):
            check_bool(bad, "flag")
    assert check_instance({}, "table", dict) == {} and check_callable(len, "metric") is len
    with pytest.raises(TypeError, match="table must be of type dict, got list"):
        check_instance([], "table", dict)
    with pytest.raises(TypeError, match="metric must be callable, got str"):
        check_callable("l1", "metric")
