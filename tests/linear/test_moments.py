"""Linear discrimination against brute force, mixed-integer programmes, scikit-learn and closed forms."""

import math

import numpy as np
import pytest

from learnable.linear import (
    MomentBoundClassifier,
)
from learnable.linear.moments import Split, halfspace_bounds, max_J, moment_split, separation_J


def test_claim_03_chebyshev_cantelli():
    """At the split of the moments each class errs with probability at most 1/(1 + J²), whatever its law."""
    rng = np.random.default_rng(4)
    for _ in range(200):
        x, p = rng.normal(size=(2, 5)) * 3, rng.dirichlet(np.ones(5), size=2)
        m0, m1 = sorted((p * x).sum(axis=1))
        low, high = np.argsort((p * x).sum(axis=1))
        s0, s1 = (np.sqrt(p[k] @ (x[k] - p[k] @ x[k]) ** 2) for k in (low, high))
        threshold = moment_split(m0, m1, s0, s1).threshold
        bound = 1 / (1 + ((m1 - m0) / (s0 + s1)) ** 2) + 1e-12
        assert p[low][x[low] > threshold + 1e-9].sum() <= bound
        assert p[high][x[high] < threshold - 1e-9].sum() <= bound
    # Two points attain it, so that the constant cannot be improved: 1/5 of the mass at distance 2 of the mean.
    x, p = np.array([-0.5, 2.0]), np.array([0.8, 0.2])
    assert p @ x == pytest.approx(0) and p @ x**2 == pytest.approx(1)
    assert moment_split(0.0, 4.0, 1.0, 1.0).threshold == 2.0
    assert p[x >= 2.0].sum() == pytest.approx(1 / (1 + separation_J([1.0], 0.0, 4.0, 1.0, 1.0) ** 2))


def test_max_J_degenerate_cases():
    assert max_J([1.0, 2.0], [1.0, 2.0], np.eye(2), np.eye(2))[1] == 0
    w, J = max_J([0.0, 0.0], [1.0, 1.0], np.diag([1.0, 0.0]), np.diag([2.0, 0.0]))
    assert J == np.inf and abs(w[0]) < 1e-12
    # One class is a point: J only feels the other.
    w, J = max_J([0.0, 0.0], [3.0, 4.0], np.zeros((2, 2)), np.diag([1.0, 4.0]))
    assert J == pytest.approx(math.sqrt(9 + 4), rel=1e-6)


def test_halfspace_bounds():
    n, d, delta = 5000, 3, 0.05
    bounds = halfspace_bounds(n, d, delta)
    V = d + 1
    assert bounds.radius == pytest.approx(2 * math.sqrt(8 * (V * math.log(n + 1) - math.log(delta) + math.log(8)) / n))
    assert bounds.mean_excess == pytest.approx(4 * math.sqrt((V * math.log(n + 1) + math.log(2)) / n))
    raw = math.log(8) + V * math.log(n + 1) - n * 1.5**2 / 128
    assert bounds.tail(1.5) == pytest.approx(math.exp(raw))


def test_moment_bound_rule_is_within_its_bound():
    rng = np.random.default_rng(24)
    for _ in range(20):
        X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
        X[y == 1] += rng.normal(size=2) * 2
        rule = MomentBoundClassifier().fit(X, y)
        assert np.mean(rule.predict(X) != y) <= rule.risk_bound_ + 1e-12


def test_moment_rules_in_their_limiting_cases():
    assert moment_split(3.0, 0.0, 1.0, 2.0) == Split(2.0, 1)
    rule = MomentBoundClassifier().fit([[0.0], [2.0], [0.0], [2.0], [1.0]], [0, 0, 1, 1, 1])
    assert rule.J_ == 0 and rule.risk_bound_ == 1 and rule.predict([[-9.0], [9.0]]).tolist() == [1, 1]
    rng = np.random.default_rng(26)
    X, y = rng.normal(size=(40, 2)) + [[0.0, 0.0]], np.arange(40) % 2
    X[:, 0] += 5 * y
    rule = MomentBoundClassifier().fit(X, y)
    assert rule.risk_bound_ == pytest.approx(1 / (1 + rule.J_**2)) and rule.J_ > 1.5
    # Neither class varies in the second feature: cut half-way between its two values.
    X = np.column_stack([rng.normal(size=40) * 1e3, 0.1 * y + 0.3])
    rule = MomentBoundClassifier().fit(X, y)
    assert rule.J_ == np.inf and rule.risk_bound_ == 0
    edge = -rule.intercept_[0] / rule.coef_[0, 1]
    assert edge == pytest.approx(0.35, abs=1e-6)


def test_moment_rule_does_not_mistake_rounding_for_spread():
    rng = np.random.default_rng(3)
    for n in (12, 20, 30):
        y = np.arange(2 * n) % 2
        # The mean of equal values 0.1 is off by rounding, that of 0.5 is not.
        X = np.column_stack([1e3 * rng.normal(size=2 * n), np.where(y == 1, 0.5, 0.1)])
        rule = MomentBoundClassifier().fit(X, y)
        assert -rule.intercept_[0] / rule.coef_[0, 1] == pytest.approx(0.3)
