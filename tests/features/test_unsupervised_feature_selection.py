"""Claims of the source, checked: unsupervised_feature_selection."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from learnable.features.unsupervised_feature_selection import running_mean, settle, standard_error
from learnable.features.unsupervised_feature_selection.experiments import scatter

X = np.random.default_rng(0).normal(size=50)


def test_claim_01_running_mean_is_the_mean_of_each_prefix():
    np.testing.assert_allclose(running_mean(X), [X[: i + 1].mean() for i in range(50)], rtol=1e-12)


def test_claim_02_standard_error_falls_with_the_root_of_n():
    # Four copies have the same spread; only the divisor n - 1 keeps the ratio from being exactly one half.
    assert standard_error(np.tile(X, 4)) / standard_error(X) == pytest.approx(0.5, rel=0.01)


def test_claim_03_settles_where_all_later_means_are_near():
    found = settle(X, 0.0, tol=0.2)
    assert found.settled and (np.abs(found.means[found.index :]) <= 0.2).all()
    assert abs(found.means[found.index - 1]) > 0.2
    assert not settle([0.0, 4.0], 0.0, tol=0.5).settled


def test_claim_04_means_scatter_by_the_root_of_n():
    result = scatter.at("paper")
    for n in (10, 40, 160):
        # The study's own seeds are fixed, so this cannot flicker; four standard errors would catch a factor of two.
        assert abs(result.mean("square", n=n) - 1 / n) < 4 * result.se("square", n=n)


def test_the_same_seed_gives_the_same_answer():
    assert scatter.cell({"n": 10}, 0) == scatter.cell({"n": 10}, 0) != scatter.cell({"n": 10}, 1)


def test_results_are_frozen_and_inputs_stay():
    x = [4.0, 0.0, 2.0]
    found = settle(x, 2.0)
    with pytest.raises(FrozenInstanceError):
        found.index = 0
    assert x == [4.0, 0.0, 2.0]


@pytest.mark.parametrize("bad", [[], [[1.0]], [np.nan]])
def test_bad_input_is_refused(bad):
    with pytest.raises(ValueError, match="x must"):
        running_mean(bad)


def test_bad_settings_are_refused():
    with pytest.raises(ValueError, match="two values"):
        standard_error([1.0])
    with pytest.raises(ValueError, match="tol"):
        settle(X, 0.0, tol=-1.0)
