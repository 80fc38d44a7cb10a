"""Linear structural equation models: the algebra of the source, and samples that follow it."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from learnable.graphs.linear_sem import ERROR_LAWS, LinearSEM, random_linear_sem


def random_model(p, seed, **kwargs):
    rng = np.random.default_rng(seed)
    kwargs = {"n_neighbors": min(3.0, p - 1), "signed": True, "noise_variance": rng.uniform(0.4, 1.6, p)} | kwargs
    return random_linear_sem(p, random_state=rng, **kwargs)


@pytest.mark.parametrize("seed", range(5))
def test_covariance_and_precision_are_those_of_the_equations(seed):
    model = random_model(8, seed)
    inverse = np.linalg.inv(np.eye(8) - model.weights)
    np.testing.assert_allclose(model.covariance, inverse.T @ np.diag(model.noise_variance) @ inverse, atol=1e-12)
    np.testing.assert_allclose(model.precision @ model.covariance, np.eye(8), atol=1e-10)


def test_entries_of_the_precision_matrix():
    """Loh and Bühlmann 2014, (5) and (6), in the order in which the model is triangular."""
    model = random_model(6, 3)
    order = model.dag.topological_order
    B, s = model.weights[np.ix_(order, order)], model.noise_variance[order]
    theta = model.precision[np.ix_(order, order)]
    for j in range(6):
        assert theta[j, j] == pytest.approx(1 / s[j] + sum(B[j, m] ** 2 / s[m] for m in range(j + 1, 6)))
        for k in range(j + 1, 6):
            entry = -B[j, k] / s[k] + sum(B[j, m] * B[k, m] / s[m] for m in range(k + 1, 6))
            assert theta[j, k] == pytest.approx(entry, abs=1e-12)


@pytest.mark.parametrize("error", [*ERROR_LAWS, "mixed"])
def test_samples_have_the_covariance_of_the_model(error):
    model = random_model(5, 1)
    x = model.sample(200_000, error, random_state=0)
    assert np.abs(x.mean(axis=0)).max() < 0.03
    # Ten standard errors of a second moment with kurtosis up to 9.
    np.testing.assert_allclose(x.T @ x / len(x), model.covariance, atol=0.08)


def test_samples_solve_the_equations_with_independent_errors():
    model = random_model(6, 2)
    x = model.sample(50_000, "laplace", random_state=4)
    noise = x @ (np.eye(6) - model.weights)
    np.testing.assert_allclose(noise.T @ noise / len(x), np.diag(model.noise_variance), atol=0.05)
    kurtosis = (noise**4).mean(axis=0) / (noise**2).mean(axis=0) ** 2
    assert ((kurtosis > 5) & (kurtosis < 7.5)).all()  # a Laplace law has 6


def test_each_node_may_have_a_law_of_its_own():
    x = LinearSEM(np.zeros((2, 2)), [4.0, 1.0]).sample(2000, ["uniform", "gaussian"], random_state=0)
    assert 3.4 < np.abs(x[:, 0]).max() <= 2 * np.sqrt(3) < 4 * np.abs(x[:, 1]).max()


def test_renaming_the_variables_renames_the_moments():
    model, place = random_model(7, 5), np.random.default_rng(0).permutation(7)
    again = LinearSEM(model.weights[np.ix_(place, place)], model.noise_variance[place])
    np.testing.assert_allclose(again.covariance, model.covariance[np.ix_(place, place)], rtol=1e-12, atol=1e-12)


def test_standardized_has_the_correlations_as_covariance():
    model = random_model(7, 6)
    scale = np.sqrt(np.diagonal(model.covariance))
    np.testing.assert_allclose(model.standardized().covariance, model.covariance / np.outer(scale, scale), atol=1e-12)
    assert (model.standardized().adjacency == model.adjacency).all()


def test_random_models_draw_what_was_asked():
    model = random_linear_sem(200, n_neighbors=4, weights=(0.5, 0.7), random_state=0)
    used = model.weights[model.adjacency]
    assert used.min() >= 0.5 and used.max() <= 0.7
    # 19,900 pairs with probability 4/199: 400 edges, standard deviation 20.
    assert abs(model.adjacency.sum() - 400) < 80
    signs = np.sign(random_linear_sem(100, signed=True, random_state=0).weights)
    assert (signs == 1).any() and (signs == -1).any()
    same = [random_linear_sem(9, random_state=3).weights for _ in range(2)]
    assert (same[0] == same[1]).all()
    graph = np.triu(np.ones((4, 4)), 1)
    assert (random_linear_sem(graph, random_state=0).adjacency == graph).all()


def test_models_are_frozen_and_keep_their_input():
    weights = np.array([[0.0, 1.0], [0.0, 0.0]])
    model = LinearSEM(weights)
    weights[0, 1] = 7.0
    assert model.weights[0, 1] == 1.0
    with pytest.raises(FrozenInstanceError):
        model.weights = weights
    with pytest.raises(ValueError, match="read-only"):
        model.weights[0, 1] = 2.0


@pytest.mark.parametrize(
    ("weights", "variance", "match"),
    [
        ([[0, 1], [1, 0]], 1.0, "cycles"),
        ([[1.0]], 1.0, "diagonal"),
        ([[0, 1]], 1.0, "square"),
        (np.zeros((0, 0)), 1.0, "square"),
        ([[0, np.nan], [0, 0]], 1.0, "weights must be finite"),
        ([[0, 1], [0, 0]], 0.0, "noise_variance"),
        ([[0, 1], [0, 0]], [1.0, -1.0], "noise_variance"),
        ([[0, 1], [0, 0]], [1.0, 1.0, 1.0], "noise_variance"),
    ],
)
def test_bad_models_are_refused(weights, variance, match):
    with pytest.raises(ValueError, match=match):
        LinearSEM(weights, variance)


def test_bad_draws_are_refused():
    model = LinearSEM([[0, 1], [0, 0]])
    for bad in (0, 2.5, None):
        with pytest.raises(ValueError, match="n_samples"):
            model.sample(bad)
    for bad in ("cauchy", ["gaussian"], 3, ["gaussian", "cauchy"]):
        with pytest.raises(ValueError, match="error"):
            model.sample(5, bad)
    for bad in ((1.0, 0.5), (-1, 1), (0.5,)):
        with pytest.raises(ValueError, match="weights"):
            random_linear_sem(3, weights=bad)
    for bad in (0, [[0, 2], [0, 0]], [[0, 1]]):
        with pytest.raises(ValueError, match="dag"):
            random_linear_sem(bad)
    with pytest.raises(ValueError, match="n_neighbors"):
        random_linear_sem(3, n_neighbors=5)
    with pytest.raises(ValueError, match="signed"):
        random_linear_sem(3, signed="yes")


def test_one_variable_and_large_units():
    assert LinearSEM([[0.0]], 4.0).covariance.tolist() == [[4.0]]
    model = random_model(5, 0)
    units = 10.0 ** np.array([8, -8, 0, 4, -4])
    scaled = LinearSEM(model.weights * np.divide.outer(1 / units, 1 / units), model.noise_variance * units**2)
    np.testing.assert_allclose(scaled.covariance, model.covariance * np.outer(units, units), rtol=1e-9)
