"""Small loops that compiled code shares: exact where floats allow it, called from Python as they stand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from learnable._inner import assign, cut_between, dot


@njit
def compiled(a, b, m):
    return dot(a, b, m), cut_between(a[0], b[0])


@pytest.mark.parametrize("m", [0, 1, 3, 4, 5, 8, 11])
def test_dot_takes_the_first_entries_only(m):
    rng = np.random.default_rng(m)
    a, b = rng.integers(-50, 50, 12).astype(float), rng.integers(-50, 50, 12).astype(float)
    assert dot(a, b, m) == a[:m] @ b[:m]  # whole numbers: no rounding
    assert compiled(a, b, m)[0] == a[:m] @ b[:m]


@given(st.floats(-1e307, 1e307), st.floats(-1e307, 1e307))
def test_a_cut_parts_two_numbers_however_close(a, b):
    low, high = min(a, b), max(a, b)
    if low < high:
        assert low <= cut_between(low, high) < high


def test_a_cut_is_the_middle_and_between_neighbours_the_lower():
    assert cut_between(1.0, 2.0) == 1.5
    one, two = np.nextafter(1.0, 0.0), 1.0  # their middle rounds to the even one, the upper
    assert 0.5 * (one + two) == two and cut_between(one, two) == one
    assert compiled(np.array([one]), np.array([two]), 1)[1] == one


def test_copy_to():
    out = np.zeros(3)
    assign(out, np.array([1.0, 2.0, 3.0]))
    assert out.tolist() == [1.0, 2.0, 3.0]
