"""Linear rules: what the planted errors got past: each labeling of fingering, the continuation of the sigmoid."""

import numpy as np
import pytest

from learnable.linear.linear_discrimination import FingeringClassifier, SigmoidRiskClassifier, exact, surrogate


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


def test_the_sigmoid_goes_on_from_scale_to_scale(monkeypatch):
    """From each start the flattest sigmoid comes first, and each minimum is the start at the next scale."""
    starts, ends = [], []
    original = surrogate.optimize.minimize

    def watch(fun, theta, *args, **options):
        starts.append(theta)
        answer = original(fun, theta, *args, **options)
        ends.append(answer.x)
        return answer

    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 2))
    y = (X[:, 0] + rng.normal(size=40) > 0).astype(int)
    monkeypatch.setattr(surrogate.optimize, "minimize", watch)
    SigmoidRiskClassifier(n_restarts=1).fit(X, y)
    lengths = [float(np.linalg.norm(theta[:-1])) for theta in starts]
    np.testing.assert_allclose(lengths, [2.0, 8.0, 32.0] * 3)
    for before, after in zip(ends[:2], starts[1:3], strict=True):
        np.testing.assert_allclose(after / np.linalg.norm(after[:-1]), before / np.linalg.norm(before[:-1]))
