"""Claims of the chapter on moments and cones, against cvxpy with Clarabel, brute force, scipy and scikit-learn."""

import numpy as np
import pytest

from learnable.chapters.socp_feature_selection.theory import cantelli_worst_case
from learnable.features import (
    cantelli_bound,
)


def test_c1_two_points_attain_the_bound():
    rng = np.random.default_rng(2)
    for _ in range(200):
        A = rng.normal(size=(4, 4))
        mu, covariance, w = rng.normal(size=4), A @ A.T, rng.normal(size=4)
        b = mu @ w + rng.uniform(-2, 4)
        law = cantelli_worst_case(mu, covariance, w, b)
        values = law.points @ w
        assert law.weights.sum() == pytest.approx(1, abs=1e-14)
        assert law.weights @ law.points == pytest.approx(mu, abs=1e-10)
        assert law.weights @ (values - mu @ w) ** 2 == pytest.approx(w @ covariance @ w, rel=1e-10)
        assert law.inside == pytest.approx(cantelli_bound(mu, covariance, w, b), abs=1e-12)
        assert (values >= b - 1e-9)[0] and (values[1] < b - 1e-9) == (b > mu @ w)


def test_cantelli_edge_cases():
    assert cantelli_bound([0.0], [[1.0]], [1.0], -1.0) == 0.0  # the mean is outside
    assert cantelli_bound([0.0], [[0.0]], [1.0], 1.0) == 1.0  # no variance, mean inside
    assert cantelli_bound([0.0], [[0.0]], [1.0], -1.0) == 0.0
    assert cantelli_bound([0.0], [[1e-16]], [1.0], 2e-8) == pytest.approx(0.8)
    assert cantelli_worst_case([0.0], [[0.0]], [1.0], 1.0).inside == 1.0
    on_the_plane = cantelli_worst_case([0.0], [[4.0]], [1.0], 0.0)
    assert on_the_plane.inside < 1e-12 and on_the_plane.weights @ on_the_plane.points.ravel() == pytest.approx(0)
