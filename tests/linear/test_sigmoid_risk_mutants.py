"""Linear rules: what the planted errors got past: each labeling of fingering, the continuation of the sigmoid."""

import numpy as np

from learnable.linear import SigmoidRiskClassifier
from learnable.linear import sigmoid_risk as surrogate


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
