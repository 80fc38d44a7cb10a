"""Cuts by minimum description length, beside a plain recursion over all midpoints."""

import itertools
import math

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from learnable.features.discretization import MDLDiscretizer


def mdl_cuts(x, y):
    return MDLDiscretizer().fit(np.reshape(x, (-1, 1)), y).cuts_[0]


@parametrize_with_checks([MDLDiscretizer()])
def test_scikit_learn_protocol(estimator, check):
    check(estimator)


def entropy_bits(y):
    p = np.unique(y, return_counts=True)[1] / len(y)
    return float(-(p * np.log2(p)).sum())


def plain_cuts(x, y):
    """The printed criterion, every midpoint tried, in the words of the formula."""
    values = np.unique(x)
    n, whole, best, at = len(y), entropy_bits(y), math.inf, None
    for a, b in itertools.pairwise(values):
        left, right = y[x <= a], y[x >= b]
        mixed = (len(left) * entropy_bits(left) + len(right) * entropy_bits(right)) / n
        if mixed < best - 1e-12:
            best, at = mixed, (a, b)
    if at is None:
        return []
    left, right = x <= at[0], x >= at[1]
    k, k1, k2 = (len(np.unique(part)) for part in (y, y[left], y[right]))
    delta = math.log2(3**k - 2) - (k * whole - k1 * entropy_bits(y[left]) - k2 * entropy_bits(y[right]))
    if whole - best <= (math.log2(n - 1) + delta) / n:
        return []
    return [*plain_cuts(x[left], y[left]), (at[0] + at[1]) / 2, *plain_cuts(x[right], y[right])]


@pytest.mark.parametrize("seed", range(40))
def test_cuts_equal_the_plain_recursion(seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(2, 120)), int(rng.integers(1, 5))
    y = rng.integers(0, k, n)
    x = np.round(rng.normal(size=n) + rng.uniform(0, 3) * y, int(rng.integers(0, 3)))
    np.testing.assert_allclose(mdl_cuts(x, y), plain_cuts(x, y), rtol=1e-12)


def test_cuts_move_with_the_unit_and_not_with_rows_or_names():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 500)
    x = y + rng.normal(size=500) / 3
    cuts, rows = mdl_cuts(x, y), rng.permutation(500)
    assert len(cuts) >= 2
    np.testing.assert_array_equal(mdl_cuts(x[rows], y[rows]), cuts)
    np.testing.assert_array_equal(mdl_cuts(x, np.array(["q", "a", "z"])[y]), cuts)
    for scale in (2.0**-40, 2.0**40):
        np.testing.assert_array_equal(mdl_cuts(scale * x, y), scale * cuts)


def test_edges():
    assert mdl_cuts([1.0], ["a"]).size == 0
    assert mdl_cuts([2.0] * 6, [0, 1] * 3).size == 0
    assert mdl_cuts(np.arange(9.0), [1] * 9).size == 0
    huge = mdl_cuts([-1.7e308] * 5 + [1.7e308] * 5, [0] * 5 + [1] * 5)
    assert huge.tolist() == [0.0]
    near = np.array([1.0, np.nextafter(1.0, 2)])
    cut = mdl_cuts(np.repeat(near, 8), np.repeat([0, 1], 8))
    assert near[0] < cut[0] <= near[1]
    many = np.repeat(np.arange(900), 3)
    assert np.isfinite(mdl_cuts(many, many)).all()


def test_transform_puts_training_rows_on_their_side_and_says_what_is_constant():
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], 40)
    X = np.column_stack([y * 10 + rng.normal(size=80), rng.normal(size=80)])
    codes = MDLDiscretizer().fit_transform(X, y)
    np.testing.assert_array_equal(codes[:, 0], y)
    assert not codes[:, 1].any()


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        mdl_cuts([1.0, 2.0, 3.0], [0, 1])
    with pytest.raises(ValueError, match="NaN"):
        mdl_cuts([1.0, np.nan], [0, 1])
