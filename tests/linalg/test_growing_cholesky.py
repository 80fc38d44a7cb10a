"""A Cholesky factor that grows and shrinks, against factorisations from scratch."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learnable.linalg.growing_cholesky import append, backward, delete, extend, grow, shrink, solve


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 40))
def test_any_sequence_of_changes_leaves_the_factor_of_the_rows_that_are_there(seed, changes):
    rng = np.random.default_rng(seed)
    B = rng.standard_normal((12, 15))
    A, right = B @ B.T, rng.standard_normal((2, 12))
    factor, Z, rows = np.full((12, 12), np.nan), np.full((2, 12), np.nan), []
    for _ in range(changes):
        m, rest = len(rows), sorted(set(range(12)) - set(rows))
        if rows and (not rest or rng.random() < 0.4):
            p = int(rng.integers(m))
            delete(factor, m, p, Z)
            rows.pop(p)
        else:
            j = int(rng.choice(rest))
            assert append(factor, m, A[j, rows], A[j, j], 1e-12)
            for z, r in zip(Z, right, strict=True):
                extend(factor, m, z, r[j])
            rows.append(j)
        m = len(rows)
        L = np.tril(factor[:m, :m])
        np.testing.assert_allclose(L @ L.T, A[np.ix_(rows, rows)], atol=1e-9)
        for z, r in zip(Z, right, strict=True):
            x = z[:m].copy()
            backward(factor, m, x)
            np.testing.assert_allclose(A[np.ix_(rows, rows)] @ x, r[rows], atol=1e-8)
            np.testing.assert_allclose(solve(factor, m, r[rows]), x, atol=1e-8)


@pytest.mark.parametrize("unit", [1e-8, 1.0, 1e8])
def test_a_row_that_depends_on_the_others_is_refused_and_changes_nothing(unit):
    B = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 1.0], [1.0, 4.0, 2.0]])  # the last is the first plus twice the second
    A, factor = unit * B @ B.T, np.zeros((3, 3))
    assert grow(factor, 0, np.empty(0), A[0, 0], 1e-10) and grow(factor, 1, A[1, :1].copy(), A[1, 1], 1e-10)
    before = solve(factor, 2, np.array([1.0, 2.0]))
    assert not grow(factor, 2, A[2, :2].copy(), A[2, 2], 1e-10)
    np.testing.assert_array_equal(solve(factor, 2, np.array([1.0, 2.0])), before)
    shrink(factor, 2, 0)
    assert factor[0, 0] ** 2 == pytest.approx(A[1, 1], rel=1e-12)
    assert grow(factor, 1, A[2, 1:2].copy(), A[2, 2], 1e-10)
