"""Cuts by minimum description length, beside a plain recursion over all midpoints."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.utils.estimator_checks import parametrize_with_checks

from learnable.features import (
    CFS,
    FCBF,
    FOCUS,
    CMIMSelector,
    NaiveBayesSubsets,
    ReliefF,
    RVErS,
    cmim,
    gain_ratio,
    joint_redundancy,
)
from learnable.features.discretization import MDLDiscretizer, code_for_classes


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


SELECTORS = [CMIMSelector(2), FCBF(), CFS(), FOCUS(), ReliefF(2, random_state=0), RVErS(random_state=0)]


@pytest.mark.parametrize("selector", SELECTORS, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.float16, np.longdouble, np.int64, "frame", "gaps"])
def test_selectors_cut_continuous_columns(selector, kind):
    # As levels every column of distinct values explains any labels, and the first column won.
    X = np.random.default_rng(0).normal(size=(300, 8))
    y = X[:, 3] > 0
    if kind == "gaps":
        X[::50, 2] = np.nan
    elif kind == "frame":
        X = pd.DataFrame(X, columns=[f"x{j}" for j in range(8)]).assign(text=list("abc") * 100)
    else:
        X = (X * (1000 if kind is np.int64 else 1)).astype(kind)
        y = X[:, 3] > 0
    found = clone(selector).fit(X, y)
    assert found.get_support()[3]
    assert found.get_support().sum() <= 2
    assert len(found.get_support()) == X.shape[1]


def test_continuous_columns_are_cut_as_the_discretizer_cuts_them():
    X, y = load_breast_cancer(return_X_y=True)
    cut = MDLDiscretizer().fit_transform(X, y)
    assert CMIMSelector().fit(X, y).order_.tolist() == CMIMSelector().fit(cut, y).order_.tolist()
    assert cmim(X, y, 10).order.tolist() == cmim(cut, y, 10).order.tolist()
    kept = FCBF().fit(X, y).selected_
    assert kept.tolist() == FCBF().fit(cut, y).selected_.tolist()
    assert joint_redundancy(X, y, kept).tolist() == joint_redundancy(cut, y, kept).tolist()
    np.testing.assert_array_equal(gain_ratio(X, y), gain_ratio(cut, y))
    subsets = [[0, 3], [7], list(range(30))]
    mine, other = NaiveBayesSubsets(X, y), NaiveBayesSubsets(cut, y)
    assert [mine.error(s) for s in subsets] == [other.error(s) for s in subsets]


def test_few_levels_stay_levels_and_missing_values_too():
    x = np.arange(200) % 40
    odd = x % 2 == 1
    assert code_for_classes(x[:, None], odd).n_states.tolist() == [40]  # five rows for each level
    assert code_for_classes(x[:190, None], odd[:190]).n_states.tolist() == [1]  # no cut tells odd from even
    assert code_for_classes(np.arange(10.0)[:, None], odd[:10]).n_states.tolist() == [10]
    names = np.array([[str(i)] for i in range(100)])
    assert code_for_classes(names, odd[:100]).n_states.tolist() == [100]
    gaps = np.arange(100.0)
    gaps[40:60] = np.nan
    codes = code_for_classes(gaps[:, None], np.arange(100) > 50).codes[0]
    assert codes.tolist() == [0] * 40 + [2] * 20 + [1] * 40
    with pytest.raises(ValueError, match="y: 99 labels for 100 rows"):
        code_for_classes(np.arange(100.0)[:, None], odd[:99])
