"""The shared checks: what passes comes back in the promised form, what does not is named."""

from dataclasses import FrozenInstanceError, dataclass
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from learnable.problems.tables import check_loss_matrix, check_posteriors, coerce_posteriors
from learnable.validation import (
    Result,
    check_choice,
    check_finite_array,
    check_magnitude,
    check_probabilities,
    check_probability_vector,
    check_real_array,
    check_rng,
    check_row_values,
    check_scalar,
    check_seed,
    check_sentinel,
    check_symmetric,
    check_weights,
    decode_labels,
    encode_labels,
    probability_tolerance,
    signed_labels,
    warn_not_converged,
)

quick = settings(max_examples=80, deadline=None, derandomize=True)


@pytest.mark.parametrize(
    ("closed", "legal", "illegal"),
    [
        ("both", [0, 0.5, 1], [-1e-9, 1.1]),
        ("left", [0, 0.5], [1, -1]),
        ("right", [0.5, 1], [0, 2]),
        ("neither", [1e-300, 0.5], [0, 1]),
    ],
)
def test_scalar_ranges(closed, legal, illegal):
    for value in legal:
        assert check_scalar(value, "q", low=0, high=1, closed=closed) == value
    for value in illegal:
        with pytest.raises(ValueError, match=r"^q must be a number in [\[(]0, 1[\])]"):
            check_scalar(value, "q", low=0, high=1, closed=closed)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, None, "1", True, 1j, np.array([1.0]), np.bool_(True)])
def test_scalar_refuses_what_is_no_number(value):
    with pytest.raises(ValueError, match="q must be a number"):
        check_scalar(value, "q")


def test_scalar_integers():
    assert check_scalar(np.int32(3), "n", low=1, integer=True) == 3
    assert isinstance(check_scalar(np.array(3), "n", integer=True), int)
    for value in (2.0, 2.5, 0):
        with pytest.raises(ValueError, match=r"n must be an integer in \[1, inf\)"):
            check_scalar(value, "n", low=1, integer=True)
    with pytest.raises(ValueError, match="closed must be"):
        check_scalar(1, "n", closed="open")


def test_scalar_too_large_for_a_float_or_for_printing():
    """10**400 passes every comparison with infinity; Python refuses to print more than 4300 digits."""
    for value in (10**400, -(10**400), Fraction(10**400, 3), 10**5000):
        with pytest.raises(ValueError, match=r"q must be a number in \(-inf, inf\), got"):
            check_scalar(value, "q")
    with pytest.raises(ValueError, match=r"n must be an integer.* got a number of 16610 bits"):
        check_scalar(10**5000, "n", high=10, integer=True)
    for value in (2**63, 10**400):
        with pytest.raises(ValueError, match="n must be an integer"):
            check_scalar(value, "n", integer=True)
    assert check_scalar(2**63 - 1, "n", integer=True) == 2**63 - 1
    with pytest.raises(ValueError, match="x must be an array of real numbers"):
        check_finite_array([10**400], "x")


def test_magnitude():
    for fine in ([0.0], [], [1e150, 0.0], [-1e-150]):
        np.testing.assert_array_equal(check_magnitude(np.array(fine), "X"), fine)
    for bad in ([1e151], [-1e151, 1.0], [1e-151, 0.0]):
        with pytest.raises(
            ValueError, match=r"X must have a largest absolute value in \[1e-150, 1e\+150\].*change its unit"
        ):
            check_magnitude(np.array(bad), "X")


def test_finite_array():
    assert check_finite_array([1, 2], "x").dtype == np.float64
    for bad, message in (
        ([1, np.nan], r"x must be finite, got nan at \[1\]"),
        ([[1.0]], "1 dimension"),
        (["a"], "real"),
    ):
        with pytest.raises(ValueError, match=message):
            check_finite_array(bad, "x", ndim=1)
    with pytest.raises(ValueError, match="real"):
        check_finite_array([1j], "x")


def test_real_array_keeps_what_is_missing_or_infinite():
    np.testing.assert_array_equal(check_real_array([1, np.inf, np.nan], "x"), [1.0, np.inf, np.nan])
    for bad in ([1j], ["a"], [10**400], [[1.0], [1.0, 2.0]], {"a": 1}):
        with pytest.raises(ValueError, match=r"^x must be an array of real numbers"):
            check_real_array(bad, "x")


def test_row_values_are_contiguous_numbers_one_a_row():
    strided = np.arange(6)[::2]
    got = check_row_values(strided, 3, "target")
    assert got.dtype == np.float64 and got.flags.c_contiguous and got.tolist() == [0.0, 2.0, 4.0]
    own = np.ones(3)
    assert check_row_values(own, 3, "target") is own
    for bad in ([1.0, 2.0], [[1.0, 2.0, 3.0]], 1.0):
        with pytest.raises(ValueError, match=r"^target must hold one number for each of the 3 rows"):
            check_row_values(bad, 3, "target")
    with pytest.raises(ValueError, match=r"^target must be an array of real numbers"):
        check_row_values(["a", "b", "c"], 3, "target")


def test_probability_vector():
    assert check_probability_vector(np.array([0.1] * 10, dtype=np.float32), "p").dtype == np.float64
    for bad, message in (
        ([0.5, 0.4], "sum to 1"),
        ([1.5, -0.5], "non-negative, got -0.5 at 1"),
        ([np.nan, 1], "finite"),
        ([], "at least one"),
        ([[1.0]], "dimension"),
    ):
        with pytest.raises(ValueError, match=f"^priors must.*{message}"):
            check_probability_vector(bad, "priors")
    with pytest.raises(ValueError, match="priors must have 3 entries"):
        check_probability_vector([0.5, 0.5], "priors", size=3)


def test_probabilities_and_weights():
    assert check_probabilities(0.5, "p1").shape == ()
    with pytest.raises(ValueError, match=r"p1 must lie in \[0, 1\], got 1.5"):
        check_probabilities([[0.5, 1.5]], "p1")
    assert check_weights(None, 3) is None
    for bad in ([1, 2], [1, -1, 1], [0, 0, 0], [1, np.inf, 1], [[1, 1, 1]]):
        with pytest.raises(ValueError, match=r"^w must"):
            check_weights(bad, 3, "w")


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_posteriors_are_held_to_the_precision_of_their_dtype(dtype):
    post = np.random.default_rng(0).dirichlet(np.ones(5), size=100).astype(dtype)
    assert check_posteriors(post).dtype == np.float64
    np.testing.assert_array_equal(check_posteriors(post), post.astype(np.float64))
    off = post.astype(np.float64)
    off[7, 0] += 3 * probability_tolerance(dtype)
    with pytest.raises(ValueError, match=r"sum of .* in row 7"):
        check_posteriors(off if dtype == np.float64 else off.astype(dtype))


def test_posteriors_in_any_layout_and_kind():
    post = np.random.default_rng(0).dirichlet(np.ones(3), size=8)
    for same in (np.asfortranarray(post), np.repeat(post, 2, axis=0)[::2], post.tolist(), post[::-1][::-1]):
        result = check_posteriors(same)
        assert result.flags.c_contiguous
        np.testing.assert_array_equal(result, post)
    assert check_posteriors(np.eye(3, dtype=int)).dtype == np.float64
    assert check_posteriors(np.empty((0, 3))).shape == (0, 3)
    table, tolerance = coerce_posteriors(post.astype(np.float32))
    assert tolerance == probability_tolerance(np.float32) and table.dtype == np.float64


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([[0.5, np.nan]], "NaN, got one in row 0"),
        ([[0.5, 0.5], [1.2, -0.2]], "non-negative, got -0.2 in row 1"),
        ([[0.5, 0.4]], "sum to 1"),
        ([[np.inf, 0.0]], "sum to 1"),
        ([0.5, 0.5], "column_stack"),
        ([["a", "b"]], "real numbers"),
        ([[1j, 1]], "real numbers"),
        (np.empty((3, 0)), "shape"),
    ],
)
def test_bad_posteriors_are_named(bad, message):
    with pytest.raises(ValueError, match=f"^eta must.*{message}"):
        check_posteriors(bad, "eta")


def test_posteriors_with_a_given_number_of_classes():
    with pytest.raises(ValueError, match="eta must have 3 columns"):
        check_posteriors([[0.5, 0.5]], "eta", n_classes=3)


def test_loss_matrix():
    np.testing.assert_array_equal(check_loss_matrix(None, 3), 1 - np.eye(3))
    assert check_loss_matrix(np.ones((2, 3), order="F"), 2).flags.c_contiguous
    for bad, message in (
        ([[0, 1], [np.nan, 0]], "finite"),
        ([[0, -1], [1, 0]], "non-negative"),
        ([[0, 1, 1], [1, 0, 1], [1, 1, 0]], r"shape \(2, number of decisions\)"),
        ([0, 1], "shape"),
        (np.empty((2, 0)), "shape"),
        ("zero-one", "real"),
    ):
        with pytest.raises(ValueError, match=f"^loss must.*{message}"):
            check_loss_matrix(bad, 2, "loss")
    with pytest.raises(ValueError, match=r"L must have shape \(2, 2\)"):
        check_loss_matrix(np.ones((2, 3)), 2, n_decisions=2)


labels = st.one_of(
    st.lists(st.integers(-5, 5), min_size=1, max_size=30),
    st.lists(st.sampled_from(["a", "ab", "", "é", "b"]), min_size=1, max_size=30),
    st.lists(st.booleans(), min_size=1, max_size=30),
    st.lists(st.sampled_from([-1.5, 0.0, 2.25]), min_size=1, max_size=30),
)


@quick
@given(labels)
def test_labels_round_trip(y):
    classes, codes = encode_labels(y)
    assert codes.dtype == np.int64
    assert decode_labels(codes, classes).tolist() == y
    assert classes.tolist() == sorted(set(y))
    for given_classes in (classes, classes[::-1], np.asarray(classes, dtype=object)):
        again, other = encode_labels(y, given_classes)
        assert decode_labels(other, again).tolist() == y
        np.testing.assert_array_equal(np.asarray(again), given_classes)
    as_objects = np.array(y, dtype=object)
    assert decode_labels(encode_labels(as_objects)[1], classes).tolist() == y


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        ([3], [0, 1, 2]),
        ([-1], [0, 1, 2]),
        ([0.5], [0, 1]),
        (["c"], ["a", "b"]),
        ([1], ["1", "2"]),
        (["1"], [1, 2]),
        ([2, 5], [7, 2]),
    ],
)
def test_unknown_label_is_named(y, classes):
    with pytest.raises(ValueError, match=r"^truth contains .*not among the classes"):
        encode_labels(y, classes, "truth")


@pytest.mark.parametrize("y", [[1.0, np.nan], [None, "a"], [1, "a", None], [[1, 2]], [1 + 1j], [np.inf, 1.0]])
def test_labels_that_have_no_order_are_refused(y):
    with pytest.raises(ValueError, match=r"^y must"):
        encode_labels(np.array(y, dtype=object) if None in np.ravel(np.array(y, dtype=object)) else y)


def test_mixed_objects_are_refused():
    for y in (np.array([1, "a"], dtype=object), [1, "a"], ("a", 2.5)):
        with pytest.raises(ValueError, match="one kind"):
            encode_labels(y)
    with pytest.raises(ValueError, match="distinct"):
        encode_labels([1], [1, 1])


def test_empty_labels():
    assert encode_labels([], ["a", "b"])[1].shape == (0,)
    assert decode_labels(np.empty(0, dtype=int), np.array(["a"])).shape == (0,)


@pytest.mark.parametrize(
    ("classes", "sentinel", "expected"),
    [
        ([0, 1], -1, [-1, 1]),
        ([0, 1], 0.5, [0.5, 1.0]),
        ([True, False], -1, [-1, 0]),
        (["a", "b"], "reject", ["reject", "b"]),
        (["a", "b"], None, [None, "b"]),
        ([1.5, 2.5], -1, [-1.0, 2.5]),
    ],
)
def test_sentinel_stands_for_code_minus_one(classes, sentinel, expected):
    assert decode_labels([-1, 1], np.array(classes), sentinel=sentinel).tolist() == expected


def test_sentinel_with_objects():
    classes = np.array(["a", "b"], dtype=object)
    assert check_sentinel("r", classes) == np.dtype(object)
    assert decode_labels([0, -1], classes, sentinel=-1).tolist() == ["a", -1]


@pytest.mark.parametrize(
    ("classes", "sentinel", "message"),
    [
        ([-1, 1], -1, "is one of the classes"),
        ([-1.0, 1.0], -1, "is one of the classes"),
        ([0, 1], True, "is one of the classes"),
        (["a", "reject"], "reject", "is one of the classes"),
        (["a", "b"], -1, "strings; pass a string"),
        ([0, 1], "reject", "numbers; pass a number"),
        ([0, 1], np.nan, "must be a number"),
        ([0, 1], [1], "must be a number"),
    ],
)
def test_sentinel_that_does_not_fit(classes, sentinel, message):
    with pytest.raises(ValueError, match=f"^reject_label.*{message}"):
        check_sentinel(sentinel, np.array(classes))


@pytest.mark.parametrize("codes", [[2], [-1], [0.5]])
def test_codes_out_of_range(codes):
    with pytest.raises(ValueError, match="codes must be integers"):
        decode_labels(codes, np.array(["a", "b"]))
    with pytest.raises(ValueError, match="codes must be integers"):
        decode_labels([-2], np.array(["a", "b"]), sentinel=None)


# --- words, randomness, signs, symmetry, results ---------------------------------------------------------------------


def test_choices():
    assert check_choice("log", "method", ("scaled", "log")) == "log"
    assert check_choice(np.float64(2), "power", (1, 2)) == 2
    assert check_choice(None, "covariance", (None, "precomputed")) is None
    for bad in ("lgo", 1, None, True, np.array(["log"]), ["log"], np.nan):
        with pytest.raises(ValueError, match="method must be 'scaled', 'log' or a callable, got"):
            check_choice(bad, "method", ("scaled", "log"), also="a callable")
    with pytest.raises(ValueError, match="power must be 1, got True"):
        check_choice(True, "power", (1,))


def test_randomness_is_none_an_int_or_a_generator():
    rng = np.random.default_rng(3)
    assert check_rng(rng) is rng
    assert check_rng(5).random() == check_rng(np.int64(5)).random() == np.random.default_rng(5).random()
    assert check_rng(None).random() != check_rng(None).random()
    for bad in (-1, 0.5, True, "seed", [1], np.nan):
        with pytest.raises(ValueError, match="start must be None, a non-negative integer or a numpy"):
            check_rng(bad, "start")
    with pytest.raises(TypeError, match="in place of RandomState"):
        check_rng(np.random.RandomState(0))


def test_signed_labels():
    classes, signs = signed_labels(["no", "yes", "no"])
    assert classes.tolist() == ["no", "yes"] and signs.tolist() == [-1.0, 1.0, -1.0]
    assert signed_labels([7, 3], classes=[3, 7])[1].tolist() == [1.0, -1.0]
    with pytest.raises(ValueError, match="labels contains 4"):
        signed_labels([4], classes=[3, 7], name="labels")
    with pytest.raises(ValueError, match="two classes"):
        signed_labels([1, 1])


def test_symmetric_matrices():
    exact = np.array([[2.0, 1.0], [1.0, 3.0]])
    assert check_symmetric(exact) is exact
    rounded = exact + [[0, 1e-12], [0, 0]]
    found = check_symmetric(rounded)
    assert (found == found.T).all() and rounded[0, 1] != rounded[1, 0]
    assert check_symmetric(np.empty((0, 0)), allow_empty=True).shape == (0, 0)
    with pytest.raises(ValueError, match="K must be a square matrix with at least one row"):
        check_symmetric(np.empty((0, 0)), "K")
    with pytest.raises(ValueError, match=r"K must be symmetric, but K\[0, 1\] = 1 and K\[1, 0\] = 1.1"):
        check_symmetric([[0, 1], [1.1, 0]], "K")


def test_results_are_frozen_and_print_on_one_line():
    @dataclass(frozen=True, eq=False)
    class Root(Result):
        x: np.ndarray
        gap: float
        converged: bool

    root = Root(np.zeros((2, 3)), np.float64(0.5), True)
    assert repr(root) == "Root(x=<2 x 3>, gap=0.5, converged=True)"
    with pytest.raises(FrozenInstanceError):
        root.gap = 0.0
    assert root != Root(np.zeros((2, 3)), 0.5, True)


def test_an_iteration_that_ends_early_says_what_to_change():
    with pytest.warns(ConvergenceWarning, match=r"lasso did not converge in 3 iterations \(0.5 > tol = 0.01\): raise"):
        warn_not_converged("lasso", 3, 0.5, 0.01)


def test_a_seed_for_libraries_without_generators():
    assert check_seed(None) is None and check_seed(np.int64(4)) == 4
    rng = np.random.default_rng(1)
    first, second = check_seed(rng), check_seed(rng)
    assert first != second and first == check_seed(np.random.default_rng(1))
    with pytest.raises(ValueError, match="random_state must be"):
        check_seed("now")
