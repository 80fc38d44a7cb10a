"""Linear rules: what the planted errors got past: each labeling of fingering, the continuation of the sigmoid."""

import numpy as np
import pytest

from learnable.linear import FingeringClassifier, exact


@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("positive", [True, False])
def test_each_labeling_of_a_hyperplane_is_tried(monkeypatch, closed, positive):
    """Only the hyperplane through 0 is left: its point belongs to its right or to its left, which is 1 or 0."""
    x = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
    right = (x >= 0) if closed else (x > 0)
    y = (right if positive else ~right).astype(int)
    monkeypatch.setattr(exact, "_all_subsets", lambda n, size, batch: iter([np.array([[2]])]))
    rule = FingeringClassifier().fit(x[:, None], y)
    assert rule.n_hyperplanes_ == 1 and rule.train_error_ == 0.0
    np.testing.assert_array_equal(rule.predict(x[:, None]), y)
