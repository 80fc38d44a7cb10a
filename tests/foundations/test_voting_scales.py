"""Classical rules: units, sizes and priors, and what is refused before it reaches compiled code."""

import numpy as np
import pytest

from learnable.foundations import HistogramRule, Regressogram


def sample(seed=0, n=80, d=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X[:, 0] + 0.5 * rng.normal(size=n) > 0).astype(int)
    return X, y, rng.normal(size=(60, d))


"""Rules whose decisions may depend neither on the unit of X nor on its origin."""


@pytest.mark.parametrize("unit", [1e-100, 1e-8, 1e8, 1e100])
def test_histograms_scale_with_their_width(unit):
    X, y, Q = sample(6)
    expected = HistogramRule(h=0.5).fit(X, y).predict(Q).tolist()
    assert HistogramRule(h=0.5 * unit).fit(unit * X, y).predict(unit * Q).tolist() == expected
    means = Regressogram(h=0.5).fit(X, X[:, 1]).predict(Q)
    scaled = Regressogram(h=0.5 * unit).fit(unit * X, unit * X[:, 1]).predict(unit * Q)
    np.testing.assert_allclose(scaled, unit * means, rtol=1e-12)


def test_far_cells_are_cells_and_too_far_ones_are_refused():
    rule = HistogramRule(h=1.0).fit([[1e150], [-1e150], [0.5]], [1, 0, 1])
    assert rule.predict([[1e150], [-1e150], [0.2], [-0.2]]).tolist() == [1, 0, 1, 0]
    with pytest.raises(ValueError, match="X must be less than"):
        HistogramRule(h=1e-200).fit([[1e150], [2e150]], [0, 1])


def test_minus_zero_lies_in_the_cube_of_zero():
    rule = HistogramRule(1.0).fit([[-0.0], [-0.5], [-0.3]], [1, 0, 0])
    assert rule.predict([[0.5], [0.0], [-0.0], [-0.2]]).tolist() == [1, 1, 1, 0]
