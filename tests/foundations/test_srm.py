"""Empirical risk minimisation and VC theory: the claims of the source, against enumeration and simulation."""

import math

import numpy as np
import pytest

from learnable.foundations.srm import penalty


def test_erratum_srm_penalty_needs_the_bracket():
    """With √((32 V ln n + 1)/n) the union bound gives Σ n^{-V}-like terms without the factor e^{-V}."""
    V, n = np.arange(1, 6), 1000
    right = penalty("dgl", V, n)
    np.testing.assert_allclose(n * right**2 / 32, V * (np.log(n) + 1))
    printed = np.sqrt((32 * V * np.log(n) + 1) / n)
    left_over = np.exp(-(n * right**2 / 32) + V * np.log(n))
    np.testing.assert_allclose(left_over, np.exp(-V))
    assert (np.exp(-(n * printed**2 / 32) + V * np.log(n)) > 0.9).all()


def test_erratum_bounded_dimensions_do_not_make_the_sum_finite():
    """The union bound over classes, at the penalty as radius: n^V e^{-n pen²/32} is e^{-V}, for one class of many."""
    n = 1000

    def union_bound(V):
        return float(np.exp(V * np.log(n) - n * penalty("dgl", V, n) ** 2 / 32).sum())

    bounded = [union_bound(np.full(K, 3)) for K in (10, 100, 1000)]
    assert bounded[2] > 40 and bounded[2] / bounded[1] == pytest.approx(10)
    growing = [union_bound(np.arange(1, K + 1)) for K in (10, 100, 1000)]
    assert growing[2] == pytest.approx(growing[1]) == pytest.approx(1 / (math.e - 1))
