"""Linear rules: units and origins, and what the kernels of neighbouring chapters refuse."""

import numpy as np
import pytest

from learnable.chapters.linear_discrimination.theory import best_halfplane
from learnable.latent import HMMTensor
from learnable.latent.tensors import WordMoments, spherical_moments
from learnable.linear import FisherLDA, GaussianBayes


def sample():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    return X, (X[:, 0] + X[:, 1] + 0.7 * rng.normal(size=40) > 0).astype(int)


@pytest.mark.parametrize("unit", [(1e-100, 1e-100), (1e8, 1e-8), (1e-8, 1e8), (1e100, 1e100)])
def test_the_best_halfplane_has_no_units(unit):
    X, y = sample()
    expected = best_halfplane(X, y)[2]
    w, w0, error = best_halfplane(X * unit, y)
    assert error == expected == np.sum(((X * unit) @ w + w0 >= 0) != y)


@pytest.mark.parametrize("seed", [6, 53, 61, 63])
def test_the_best_halfplane_has_no_origin(seed):
    """Whole numbers far away lose no digit, and directions are compared as if the points lay around the origin."""
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-8, 9, (20, 2)).astype(float), rng.integers(0, 2, 20)
    assert best_halfplane(X + 2.0**46, y)[2] == best_halfplane(X, y)[2]


@pytest.mark.parametrize("equal_cov", [True, False])
@pytest.mark.parametrize("unit", [(1e8, 1.0), (1e-8, 1e8)])
def test_gaussian_rules_have_no_units(unit, equal_cov):
    X, y = sample()
    rules = (GaussianBayes(equal_cov=equal_cov), FisherLDA())
    for rule in rules:
        expected = rule.fit(X, y).predict(X).tolist()
        assert rule.fit(X * unit, y).predict(X * unit).tolist() == expected
    with pytest.raises(ValueError, match="singular"):
        GaussianBayes(equal_cov=equal_cov).fit(np.column_stack([X[:, 0], X[:, 0]]) * unit, y)


@pytest.mark.parametrize(
    "rule", [GaussianBayes(equal_cov=True), GaussianBayes(), *(FisherLDA(f) for f in ("gaussian", "erm", "midpoint"))]
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_gaussian_rules_have_no_origin(rule, n_classes):
    """Multiples of 2^-20 lose no digit at 2^27; the mean there is right to a unit in the last place, 1.5e-8."""
    if n_classes == 3 and rule.get_params().get("final") == "erm":
        pytest.skip("a counted threshold splits two classes")
    rng = np.random.default_rng(1)
    X = np.round(rng.normal(size=(400, 2)) * 2**20) / 2**20
    y = np.digitize(X[:, 0] + X[:, 1] + 0.7 * rng.normal(size=400), [-0.5, 0.5][: n_classes - 1])
    near = rule.fit(X, y).decision_function(X)
    far = rule.fit(X + 2.0**27, y).decision_function(X + 2.0**27)
    np.testing.assert_allclose(far, near, atol=1e-6)


def test_tables_over_words_are_checked_before_the_passes():
    moments = WordMoments([[2, 1, 0], [0, 3, 1]])
    for call in (moments.multiply, moments.whitened_third):
        for bad in (np.eye(3)[:2], np.zeros((4, 1)), np.zeros(3), np.full((3, 1), np.nan)):
            with pytest.raises(ValueError, match="must"):
                call(bad)


@pytest.mark.parametrize("symbol", [10**5, 10**9])
def test_symbols_with_gaps_are_refused_by_a_rule(symbol):
    with pytest.raises(ValueError, match="numbered anew"):
        HMMTensor(2).fit([[0, 1, symbol, 1, 0]])
    with pytest.raises(ValueError, match="not fitted"):
        HMMTensor(2).to_hmm()


def test_the_variance_is_the_mean_of_the_smallest_eigenvalues():
    X = np.random.default_rng(1).normal(size=(300, 5)) * [1.0, 2.0, 3.0, 4.0, 5.0]
    values = np.linalg.eigvalsh(np.cov(X.T, ddof=0))
    for k in (1, 2, 4):
        assert spherical_moments(X, k)[0] == pytest.approx(values[: 5 - k + 1].mean(), rel=1e-10)
