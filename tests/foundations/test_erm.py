"""Empirical risk minimisation and VC theory: the claims of the source, against enumeration and simulation."""

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from learnable.foundations.erm import interval_path


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 1)), min_size=1, max_size=11), st.integers(1, 4))
def test_k_interval_erm_is_exact_with_ties(rows, k):
    x = np.array([r[0] for r in rows], float)
    y = np.array([r[1] for r in rows])
    values = np.unique(x)
    path = interval_path(x, y, k)
    for limit in range(k + 1):
        best = len(y)
        for pattern in itertools.product((0, 1), repeat=len(values)):
            runs = sum(1 for i, p in enumerate(pattern) if p and (i == 0 or not pattern[i - 1]))
            if runs <= limit:
                best = min(best, int(np.sum(np.array(pattern)[np.searchsorted(values, x)] != y)))
        assert path.errors[limit] == best
        intervals = path.intervals(limit)
        inside = np.zeros(len(x), bool)
        for a, b in intervals:
            inside |= (x >= a) & (x <= b)
        assert len(intervals) <= limit and np.sum(inside != y) == best
