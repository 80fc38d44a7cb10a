"""Holm's rule against its definition, which steps down test by test."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnable.selection.multiple_tests import holm_pvalues

PVALUES = st.lists(st.floats(0, 1), min_size=1, max_size=8)


def rejected(pvalues, level):
    """Holm's rule as it is stated: the i-th smallest p-value is tested at level / (k - i), until one fails."""
    left = set()
    for i, j in enumerate(sorted(range(len(pvalues)), key=lambda j: pvalues[j])):
        if pvalues[j] * (len(pvalues) - i) > level:
            break
        left.add(j)
    return left


@given(PVALUES, st.floats(0.001, 0.999))
def test_an_adjusted_value_at_most_the_level_is_a_rejection(pvalues, level):
    assert set(np.flatnonzero(holm_pvalues(pvalues) <= level)) == rejected(pvalues, level)


@given(PVALUES)
def test_between_the_bare_value_and_bonferroni_s_in_the_same_order(pvalues):
    adjusted, p = holm_pvalues(pvalues), np.array(pvalues)
    assert (p <= adjusted).all() and (adjusted <= np.minimum(1, len(p) * p)).all()
    assert (np.diff(adjusted[np.argsort(p, kind="stable")]) >= 0).all()


def test_a_worked_case():
    assert holm_pvalues([0.04, 0.01, 0.03, 0.9]) == pytest.approx([0.09, 0.04, 0.09, 0.9])


@pytest.mark.parametrize("bad", [[0.5, 1.5], [-0.1], [np.nan], [[0.1, 0.2]]])
def test_no_probabilities(bad):
    with pytest.raises(ValueError, match="pvalues"):
        holm_pvalues(bad)
