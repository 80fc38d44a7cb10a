"""Units and origins: what the estimators of the part must do when their data are multiplied or shifted."""

import numpy as np
import pytest

from learnable.chapters.debiased_lasso.baselines import multi_split, ridge_projection
from learnable.highdim import QUIC, DebiasedLasso, GraphicalLassoQUIC, GraphicalLassoQUICCV, scaled_lasso
from learnable.highdim.debiased_lasso import decorrelate


def regression(n=60, p=20, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    return X, X[:, 0] - X[:, 1] + rng.standard_normal(n)


def chain(n=80, p=8, seed=0):
    return np.random.default_rng(seed).standard_normal((n, p)) @ (np.eye(p) + 0.5 * np.eye(p, k=1))


@pytest.mark.parametrize(("unit", "scale", "shift"), [(1e-8, 1.0, 0.0), (1e8, 1.0, 0.0), (1.0, 1e-8, 0.0),
                                                      (1.0, 1e8, 0.0), (1.0, 1.0, 1e4)])  # fmt: skip
@pytest.mark.parametrize("options", [{}, {"unit_diagonal": True}, {"sigma": "robust"}])
def test_intervals_have_the_unit_of_response_over_column(unit, scale, shift, options):
    X, y = regression()
    units = unit * np.geomspace(1.0, 1e3, X.shape[1])
    here = DebiasedLasso(**options).fit(X, y)
    there = DebiasedLasso(**options).fit(X * units + shift, scale * y + shift)
    np.testing.assert_allclose(there.coef_ * units, scale * here.coef_, rtol=1e-5, atol=1e-6 * scale)
    np.testing.assert_allclose(there.stderr_ * units, scale * here.stderr_, rtol=1e-5)
    np.testing.assert_allclose(there.pvalues_, here.pvalues_, rtol=1e-3, atol=1e-12)
    assert there.sigma_ == pytest.approx(scale * here.sigma_, rel=1e-5)


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_competitors_and_scaled_lasso_follow_the_unit_of_the_response(scale):
    X, y = regression()
    here, there = scaled_lasso(X, y), scaled_lasso(X, scale * y)
    assert there.sigma == pytest.approx(scale * here.sigma, rel=1e-5)
    np.testing.assert_allclose(there.coef, scale * here.coef, rtol=1e-4, atol=1e-6 * scale)
    np.testing.assert_allclose(
        multi_split(X, scale * y, n_splits=5, random_state=0), multi_split(X, y, n_splits=5, random_state=0), rtol=1e-5
    )
    np.testing.assert_allclose(ridge_projection(X, scale * y).stderr, scale * ridge_projection(X, y).stderr, rtol=1e-4)


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_rows_of_m_have_the_unit_of_the_precision(scale):
    X, _ = regression()
    S = X.T @ X / len(X)
    np.testing.assert_allclose(scale * decorrelate(scale * S, 0.1).M, decorrelate(S, 0.1).M, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("change", [1e-8, 1e8, "shift"])
def test_precision_has_the_unit_of_one_over_variance(change):
    X = chain()
    s = 1.0 if change == "shift" else change
    moved = X + 1e4 if change == "shift" else s * X
    here, there = GraphicalLassoQUIC(alpha=0.2).fit(X), GraphicalLassoQUIC(alpha=0.2 * s**2).fit(moved)
    np.testing.assert_allclose(there.precision_ * s**2, here.precision_, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(there.precision_ != 0, here.precision_ != 0)
    here, there = GraphicalLassoQUICCV().fit(X), GraphicalLassoQUICCV().fit(moved)
    assert there.alpha_ == pytest.approx(s**2 * here.alpha_, rel=1e-6)
    np.testing.assert_allclose(there.precision_ * s**2, here.precision_, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_quic_follows_the_unit(scale):
    S = np.cov(chain().T)
    X, W, history = QUIC(scale * S, scale * 0.1)
    plain, inverse, _ = QUIC(S, 0.1)
    assert history.converged
    np.testing.assert_allclose(scale * X, plain, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(W / scale, inverse, rtol=1e-5, atol=1e-7)
