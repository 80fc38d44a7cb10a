"""Linear discrimination against brute force, mixed-integer programmes, scikit-learn and closed forms."""

import numpy as np
import pytest

from learnable.linear import (
    LeastSquaresClassifier,
    LogisticDiscriminant,
    SplitERM,
)


def test_claim_07_regression_identities():
    rng = np.random.default_rng(7)
    for _ in range(20):
        p_xy = rng.dirichlet(np.ones(10)).reshape(5, 2)
        f, p_x = rng.normal(size=5), p_xy.sum(axis=1)
        eta = p_xy[:, 1] / p_x

        def square(g, p_xy=p_xy):
            return (p_xy[:, 1] * (1 - g) ** 2 + p_xy[:, 0] * g**2).sum()

        assert square(f) == pytest.approx(square(eta) + p_x @ (eta - f) ** 2, rel=1e-12)
    X, y = rng.normal(size=(80, 4)), rng.integers(0, 2, 80)
    gamma, beta = -2.5, 0.7
    design = np.column_stack([X, np.ones(80)])
    base, moved = (np.linalg.lstsq(design, t, rcond=None)[0] for t in (y, gamma * y + beta))
    np.testing.assert_allclose(moved[:-1], gamma * base[:-1], atol=1e-12)
    assert moved[-1] == pytest.approx(gamma * base[-1] + beta)
    rule = LeastSquaresClassifier().fit(X, y)
    np.testing.assert_allclose(rule.w_[1], base[:-1], atol=1e-12)
    assert rule.a_[1] == pytest.approx(base[-1])
    swapped = LeastSquaresClassifier().fit(X, 1 - y)
    points = rng.normal(size=(500, 4))
    assert (swapped.predict(points) == 1 - rule.predict(points)).all()
    for k in (3, 5):
        many = LeastSquaresClassifier().fit(X, np.arange(80) % k)
        assert np.abs(many.w_.sum(axis=0)).max() < 1e-10
        assert abs(many.a_.sum() - 1) < 1e-10


def test_least_squares_singular_and_ridge():
    rng = np.random.default_rng(9)
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 2
    twice = np.column_stack([X, X[:, 0], np.full(40, 7.0)])
    np.testing.assert_allclose(
        LeastSquaresClassifier().fit(twice, y).decision_function(twice),
        LeastSquaresClassifier().fit(X, y).decision_function(X),
        atol=1e-10,
    )
    rule = LeastSquaresClassifier(alpha=5.0).fit(X, y)
    centred = X - X.mean(axis=0)
    np.testing.assert_allclose(
        rule.w_[1], np.linalg.solve(centred.T @ centred + 5 * np.eye(3), centred.T @ y), rtol=1e-9
    )


def test_rows_without_weight_do_not_exist():
    rule = SplitERM().fit([[0.0], [1.0], [2.0]], ["a", "b", "c"], [1.0, 1.0, 0.0])
    assert rule.classes_.tolist() == ["a", "b"] and rule.train_error_ == 0
    with pytest.raises(ValueError, match="one class"):
        LeastSquaresClassifier().fit([[0.0], [1.0]], [0, 1], [1.0, 0.0])


def test_least_squares_with_weights_equals_repetitions():
    rng = np.random.default_rng(28)
    X, y, times = rng.normal(size=(30, 2)), np.arange(30) % 3, rng.integers(0, 4, 30)
    for rule in (LeastSquaresClassifier(), LeastSquaresClassifier(alpha=2.0), LogisticDiscriminant(alpha=2.0)):
        a = rule.fit(X, y, times)
        coef, intercept = a.coef_.copy(), a.intercept_.copy()
        b = rule.fit(np.repeat(X, times, axis=0), np.repeat(y, times))
        np.testing.assert_allclose(coef, b.coef_, atol=1e-7)
        np.testing.assert_allclose(intercept, b.intercept_, atol=1e-7)
