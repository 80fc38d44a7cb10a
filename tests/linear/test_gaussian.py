"""Linear discrimination against brute force, mixed-integer programmes, scikit-learn and closed forms."""

import math

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis

from learnable.linear import (
    FisherLDA,
    GaussianBayes,
    LeastSquaresClassifier,
    LogisticDiscriminant,
)


def test_plug_in_rules_match_scikit_learn():
    X, y = load_wine(return_X_y=True)
    ours = GaussianBayes(equal_cov=True).fit(X, y)
    peer = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), atol=1e-6)
    assert (ours.predict(X) == peer.predict(X)).all()
    tilted = GaussianBayes(equal_cov=True, priors=[0.2, 0.3, 0.5]).fit(X, y)
    odds = ours.predict_proba(X) / ours.priors_ * [0.2, 0.3, 0.5]
    np.testing.assert_allclose(tilted.predict_proba(X), odds / odds.sum(axis=1, keepdims=True), atol=1e-9)
    ours = GaussianBayes().fit(X, y)
    peer = QuadraticDiscriminantAnalysis(store_covariance=True).fit(X, y)
    np.testing.assert_allclose(ours.covariances_, peer.covariance_, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), atol=1e-8)
    for x in X[::10]:
        direct = [
            math.log(ours.priors_[i]) + stats.multivariate_normal(ours.means_[i], ours.covariances_[i]).logpdf(x)
            for i in range(3)
        ]
        np.testing.assert_allclose(np.diff(ours.decision_function(x[None])[0]), np.diff(direct), rtol=1e-6, atol=1e-6)


def test_fisher_with_a_counted_threshold_may_be_constant_or_reversed():
    x = np.array([0.0, 1.0, 2.0, 3.0, 4.0])[:, None]
    rule = FisherLDA(final="erm").fit(x, [1, 1, 0, 1, 1])
    assert rule.predict([[-9.0], [9.0]]).tolist() == [1, 1] and not rule.coef_.any()
    # Far points pull the mean of class 1 below that of class 0, while a cut from below serves most of both.
    x = np.array([-100.0, 1.0, 1.1, 1.2, -1.0, -1.1, -1.2])[:, None]
    y = np.array([1, 1, 1, 1, 0, 0, 0])
    rule = FisherLDA(final="erm").fit(x, y)
    assert np.sum(rule.predict(x) != y) == 1 and rule.coef_.item() > 0


def test_least_squares_keeps_weak_directions_and_drops_rounding():
    rng = np.random.default_rng(29)
    x, y = rng.normal(size=200), np.arange(200) % 2
    # All the information is in a difference a thousand times smaller than the columns.
    X = np.column_stack([x, x + 1e-3 * (y + 0.1 * rng.normal(size=200))])
    for rule in (LeastSquaresClassifier(), FisherLDA(), LogisticDiscriminant(alpha=1e-9)):
        assert np.mean(rule.fit(X, y).predict(X) != y) < 0.01
    # A column that is constant up to rounding carries nothing.
    flat = np.column_stack([x + y, np.full(200, 0.1) * 3e8 + np.spacing(3e7) * rng.integers(-1, 2, 200) * (x > 0)])
    plain = LeastSquaresClassifier().fit(flat[:, :1], y)
    rule = LeastSquaresClassifier().fit(flat, y)
    np.testing.assert_allclose(rule.decision_function(flat), plain.decision_function(flat[:, :1]), atol=1e-6)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int64, np.uint64])
def test_labels_of_any_integer_type(kind):
    # The range of short labels, 200 here, does not fit into their own type.
    low = 2**64 - 201 if kind is np.uint64 else 0 if kind is np.uint8 else -100
    y = np.array([low, low + 200] * 60, dtype=kind)
    X = np.random.default_rng(0).normal(size=(120, 2)) + 3 * np.arange(120)[:, None] % 2
    model = GaussianBayes().fit(X, y)
    assert model.classes_.tolist() == [low, low + 200] and model.classes_.dtype == kind
    assert model.score(X, y) > 0.5


@pytest.mark.parametrize("equal_cov", [True, False])
def test_shrinkage_goes_towards_a_ball_of_the_same_total_variance(equal_cov):
    X, y = load_wine(return_X_y=True)
    pooled = GaussianBayes(equal_cov=True).fit(X, y).covariances_[0]
    own = GaussianBayes(equal_cov=equal_cov).fit(X, y).covariances_
    ball = np.trace(pooled) / X.shape[1] * np.eye(X.shape[1])
    for s in (0.3, 1.0):
        target = (1 - s) * pooled + s * ball
        found = GaussianBayes(equal_cov=equal_cov, shrinkage=s).fit(X, y).covariances_
        np.testing.assert_allclose(found, [target] * 3 if equal_cov else (1 - s) * own + s * target, rtol=1e-9)
        if equal_cov:
            np.testing.assert_allclose(np.trace(found, axis1=1, axis2=2), np.trace(pooled))
