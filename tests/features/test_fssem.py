"""FSSEM and what it is made of: every claim of the chapter, against references of other kinds."""

import numpy as np
import pytest

from learnable.features import FSSEM, trace_criterion
from learnable.features.fssem import normalized_values
from learnable.latent.mixture import em


def soft(rng, n, k):
    return rng.dirichlet(np.ones(k), size=n)


def hard(rng, n, k):
    return np.eye(k)[np.r_[np.arange(k), rng.integers(k, size=n - k)]]


def moments_by_hand(X, Z):
    weights = Z.mean(axis=0)
    means = [np.average(X, axis=0, weights=z) for z in Z.T]
    covariances = [np.cov(X.T, aweights=z, ddof=0).reshape(X.shape[1], -1) for z in Z.T]
    return weights, np.array(means), np.array(covariances)


def trace_by_hand(X, Z):
    w, m, c = moments_by_hand(X, Z)
    within, dx = np.tensordot(w, c, axes=1), m - w @ m
    return np.trace(np.linalg.inv(within) @ (dx.T * w @ dx))


def test_trace_of_four_points_and_of_one_cluster():
    X = np.array([[0.0], [2.0], [10.0], [12.0]])
    assert trace_criterion(X, np.eye(2)[[0, 0, 1, 1]]) == 25.0
    assert trace_criterion(X, np.ones((4, 1))) == 0.0


def test_trace_against_the_definition_and_invariant_under_linear_maps():
    rng = np.random.default_rng(0)
    for _ in range(30):
        X, Z = rng.normal(size=(40, 3)), soft(rng, 40, 3)
        value = trace_criterion(X, Z)
        assert value == pytest.approx(trace_by_hand(X, Z), rel=1e-9)
        A = rng.normal(size=(3, 3))
        assert trace_criterion(X @ A + rng.normal(size=3), Z) == pytest.approx(value, rel=1e-8)
        assert trace_criterion(X * [1e-8, 1, 1e8], Z) == pytest.approx(value, rel=1e-8)


def test_trace_never_decreases_when_a_feature_is_added():
    rng = np.random.default_rng(1)
    for i in range(1000):
        X = rng.normal(size=(20, 4)) @ rng.normal(size=(4, 4))
        Z = soft(rng, 20, 3) if i % 2 else hard(rng, 20, 3)
        values = [trace_criterion(X[:, : d + 1], Z) for d in range(4)]
        assert np.diff(values).min() >= -1e-9 * values[-1]


def test_the_increment_of_the_trace():
    """(4) of the source, summed over the clusters' centred means, gives the increment of `trace_criterion`."""
    rng = np.random.default_rng(2)
    X, Z = rng.normal(size=(50, 3)), soft(rng, 50, 3)
    w, m, c = moments_by_hand(X, Z)
    inverse = np.linalg.inv(np.tensordot(w, c, axes=1))
    C, b = inverse[:2, 2], inverse[2, 2]
    increment = sum(w[j] * (np.r_[C, b] @ (m[j] - w @ m)) ** 2 / b for j in range(3))
    assert trace_criterion(X, Z) - trace_criterion(X[:, :2], Z) == pytest.approx(increment, rel=1e-8)


def test_trace_of_degenerate_tables():
    Z = np.eye(2)[[0, 0, 0, 1, 1, 1]]
    x = np.array([0.0, 1, 2, 5, 6, 7])
    once = trace_criterion(x[:, None], Z)
    assert trace_criterion(np.c_[x, x], Z) == pytest.approx(once)
    assert trace_criterion(np.c_[x, np.full(6, 3.0)], Z) == pytest.approx(once)
    assert trace_criterion(np.c_[x, Z[:, 0]], Z) == np.inf
    assert trace_criterion(np.ones((6, 1)), Z) == 0.0


def test_figure_7_the_second_subset_wins_under_both_criteria():
    trace = normalized_values([[6.094, 7.358], [6.853, 9.390]])
    np.testing.assert_allclose(trace, [41.76, 69.09], atol=0.005)
    logs = normalized_values([[-146.7, -146.6], [-337.2, -279.4]], "ml")
    np.testing.assert_allclose(logs, [-483.9, -426.0])
    assert trace[1] > trace[0] and logs[1] > logs[0]


def test_erratum_the_log_likelihood_of_figure_7b_belongs_to_the_second_subset():
    """ML(S2, C2) is printed as 4.5e-122, whose log is -279.4; the caption calls that log ML(S1, C2)."""
    assert np.log(4.5e-122) == pytest.approx(-279.4, abs=0.05)
    assert np.log(2.1e-64) == pytest.approx(-146.6, abs=0.1)
    wrong = normalized_values([[-146.7, -279.4], [-337.2, -146.6]], "ml")
    np.testing.assert_allclose(wrong, normalized_values([[-146.7, -146.6], [-337.2, -279.4]], "ml"))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_more_features_than_observations_and_singular_covariances():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 20))
    model = FSSEM(2, random_state=0, max_features=3).fit(X)
    assert np.isfinite(model.fit_.log_likelihood) and model.predict(X).shape == (12,)
    fit = em(np.c_[X[:, :2], X[:, 0]], 2, random_state=0)
    assert np.isfinite(fit.log_likelihood)
    line = np.arange(10.0)[:, None]
    assert np.isfinite(em(np.c_[line, 2 * line], 1).log_likelihood)


def test_two_observations_and_one():
    assert FSSEM(random_state=0).fit([[0.0], [1.0]]).n_components_ == 1
    with pytest.raises(ValueError, match="minimum of 2"):
        FSSEM().fit([[0.0]])


@pytest.mark.parametrize("values", [2, 3])
def test_a_feature_with_as_many_values_as_clusters_is_left_out(values):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=60), np.arange(60) % values, np.arange(60) % 4])
    with pytest.warns(UserWarning, match=r"features \[1\] have too few"):
        model = FSSEM(3, find_k=False, random_state=0).fit(X)
    assert model.rejected_.tolist() == [False, True, False]


def test_if_no_feature_has_more_values_than_clusters_fewer_are_sought():
    X = np.column_stack([np.arange(60) % 3, np.arange(60) // 30])
    with pytest.warns(UserWarning, match="at most 2 clusters"):
        model = FSSEM(3, find_k=False, random_state=0).fit(X)
    assert model.rejected_.tolist() == [False, True] and model.n_components_ <= 2


def test_an_empty_cluster_changes_nothing():
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(30, 2)), soft(rng, 30, 2)
    wide = np.column_stack([Z, np.zeros(30)])
    assert trace_criterion(X, wide) == pytest.approx(trace_criterion(X, Z), rel=1e-12)
