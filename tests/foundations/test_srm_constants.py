"""VC theory: each bound against the formula that the source prints, and families that have neither origin nor unit."""

import numpy as np
import pytest

from learnable.foundations.srm import penalty


def test_constants_of_the_penalties():
    V, n, k = 4.0, 500, 3
    assert float(penalty("generic", V, n, a=1.5, b=7.0)) == pytest.approx(1.5 * np.sqrt((V * np.log(n) + 7) / n))
    expected = 2 * np.sqrt((V * np.log(n + 1) + np.log(2)) / n) + np.sqrt(np.log(k) / n)
    assert float(penalty("lugosi", V, n, k)) == pytest.approx(expected)
    assert float(penalty("dgl", V, n)) == pytest.approx(np.sqrt(32 * V * (np.log(n) + 1) / n))
